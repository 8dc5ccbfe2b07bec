//! gpulab: a portable OpenCL optimisation laboratory.
//!
//! This crate is the program; ARCHITECTURE.md has the crates below it, and each of these says in its root what it holds.
//!
//! - `main` parses and dispatches; [`cli`] is the command line, [`commands`] one file per subcommand.
//! - `written` says of each command which files it writes.
//! - `ladder` is the engine of all ladders, `laboratory` that of experiments, `tuning` of many
//!   configurations. They share `bench` and, for readers' own kernels and families, `adopt`.
//! - `limits` measures a device's limits. `workers` hands parts of a sweep to HyperQueue.
//!   `distances` is a graph's job.
//! - `counting` runs the simulator.
//! - `shown` finds recorded results.
//! - `console`, `outputs` and `shell` are how commands speak and write; `interrupt` is how a user stops them.

mod adopt;
mod bench;
pub mod cli;
pub mod commands;
mod console;
mod counting;
mod distances;
mod filming;
mod interrupt;
mod laboratory;
mod ladder;
mod outputs;
mod prelude;
mod shell;
mod shown;
mod tuning;
mod workers;
mod written;

#[cfg(test)]
#[path = "../tests/fake/mod.rs"]
mod fake;

pub use gpulab_cpu as cpu;
pub use gpulab_engine::{device, input, judging, oracle, processes, runner, simulator, worker};
pub use gpulab_graph as graph;
pub use gpulab_kernels as kernels;
pub use gpulab_kernels::{exchange, occupancy, values};
pub use gpulab_model::{Error, check, data, each_array, error, outcome, plan, stats, suggest};
pub use gpulab_record as record;
pub use gpulab_record::{compare, files, store, terminal};
pub use gpulab_report as report;
pub use gpulab_study::{asm, ceilings, count, exercise, experiments, judgement, sweep, tune, why};

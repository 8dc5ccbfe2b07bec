//! gpulab: a portable OpenCL optimisation laboratory.
//!
//! This crate is the program; ARCHITECTURE.md has the crates below it, and each of these says in its root what it holds.
//!
//! - `main` parses and dispatches; [`cli`] is the command line, [`commands`] one file per subcommand.
//! - `ladder` is the engine of all ladders, `bench` what commands that measure share, `adopt` readers' own kernels and
//!   families, `counting` runs of the simulator, `shown` recorded results, [`exercise`] the course; `console`, `outputs`,
//!   `words` and `lesson` are how commands speak, write and understand.

mod about;
mod adopt;
mod bench;
pub mod cli;
pub mod commands;
mod console;
mod counting;
mod distances;
mod documents;
pub mod exercise;
mod expansion;
mod health;
mod laboratory;
mod ladder;
mod lesson;
mod limits;
mod manuals;
mod outputs;
mod pages;
mod recording;
mod shell;
mod shown;
mod sweeping;
mod tuning;
mod words;

pub use gpulab_engine::{device, input, judging, oracle, runner, simulator, worker};
pub use gpulab_graph as graph;
pub use gpulab_kernels as kernels;
pub use gpulab_kernels::{cpu, exchange, occupancy, values};
pub use gpulab_model::{Error, check, data, each_array, error, outcome, plan, stats, suggest};
pub use gpulab_record as record;
pub use gpulab_record::{compare, store};
pub use gpulab_report as report;
pub use gpulab_study::{ceilings, count, experiments, judgement, sweep, tune, why};
pub use gpulab_system::{children, files, interrupt, memory, stdout, terminal};

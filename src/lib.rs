//! gpulab: a portable OpenCL optimisation laboratory.
//!
//! This crate is the program; ARCHITECTURE.md has the crates below it, and each of these says in its root what it holds.
//!
//! - `main` parses and dispatches; [`cli`] is the command line, [`commands`] a file or folder for each subcommand; what reduce,
//!   dot, transpose, minplus and try do alike stands in `commands::ladder`.
//! - `bench` is what commands that measure share, `brought` what commands name: rungs, readers' kernels and families.
//! - `console` and `outputs` are how commands speak and write, `interrupt` how a user stops them; `written` says of each which files it writes.

mod bench;
mod brought;
pub mod cli;
pub mod commands;
mod console;
mod interrupt;
mod outputs;
mod written;

#[cfg(test)]
#[path = "../tests/fake/mod.rs"]
mod fake;

pub use gpulab_cpu as cpu;
pub use gpulab_engine::{
    device, input, judging, layer, oracle, processes, runner, simulator, worker,
};
pub use gpulab_graph as graph;
pub use gpulab_kernels as kernels;
pub use gpulab_kernels::{exchange, occupancy, values};
pub use gpulab_model::{
    Error, Result, check, data, each_array, error, outcome, plan, stats, suggest, usage_error,
};
pub use gpulab_record as record;
pub use gpulab_record::{compare, files, store, terminal};
pub use gpulab_report as report;
pub use gpulab_study::{asm, ceilings, count, exercise, experiments, judgement, sweep, tune, why};

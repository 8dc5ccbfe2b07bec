//! gpulab: a portable OpenCL optimisation laboratory.
//!
//! The map of the house, from the top down; arrows point downwards only. This crate is the program:
//!
//! - `main` parses and dispatches; [`cli`] is the command line, [`commands`] one file per subcommand.
//! - `ladder` is the engine of all ladders, `bench` what commands that measure share, `adopt` readers' own kernels and
//!   families, `counting` runs of the simulator, `shown` recorded results, [`exercise`] the course; `console`, `outputs`,
//!   `words` and `lesson` are how commands speak, write and understand.
//!
//! The crates below it, each of which may name only those that stand below it:
//!
//! - [`report`] turns records into text, Markdown, pages and pictures.
//! - `gpulab-engine` runs cases: [`device`] names `ocl`, [`runner`] verifies and times, [`worker`] is a process of its own.
//! - `gpulab-study` is what to measure and what follows from it: [`ceilings`], [`sweep`], [`tune`], [`experiments`],
//!   [`count`], [`why`].
//! - [`record`] is rows and points, [`store`] the files that keep them, [`compare`] what two runs differ in.
//! - [`graph`] is distances in graphs.
//! - [`kernels`] is the registry of families, rungs and plans; [`cpu`] holds references and baselines.
//! - `gpulab-model` is the words that all share: [`data`], [`plan`], [`outcome`], [`check`], [`stats`].
//! - `gpulab-system` is what is asked of the operating system: [`files`], [`memory`], [`terminal`].

mod adopt;
mod bench;
pub mod cli;
pub mod commands;
mod console;
mod counting;
pub mod exercise;
mod ladder;
mod lesson;
mod outputs;
mod shown;
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

//! gpulab: a portable OpenCL optimisation laboratory.
//!
//! The map of the house, from the top down; arrows point downwards only.
//!
//! - `main` parses and dispatches; [`cli`] is the command line, [`commands`] one file per subcommand.
//! - `ladder` is the engine of all ladders, `bench` what commands that measure share, `adopt` readers' own kernels and
//!   families, `counting` runs of the simulator, `shown` recorded results; `console`, `outputs`, `words`, `lesson` and
//!   `interrupt` are how commands speak, write, understand and stop.
//! - [`report`] turns records into text, [`store`] writes and reads them, [`record`] says what they are.
//! - [`experiments`] are studies as data: what to measure, and what follows from it; those with kernels of their own
//!   have their families in the registry.
//! - [`ceilings`] are what a device does at best: what to measure, the search for the best shape, and the files that
//!   keep them.
//! - [`sweep`] plans, measures, resumes and merges sweeps.
//! - [`tune`] searches a family's settings for the fastest, and remembers them for their device.
//! - [`compare`] says what two runs of the same cases differ in.
//! - [`count`] counts in a simulator what a machine in lockstep would do with a kernel.
//! - [`why`] makes reasons of counts and ceilings: what a rung's time should be, and what the next rung changes.
//! - [`worker`] runs cases in a process of their own; [`runner`] verifies, times and verifies one case.
//! - [`device`] is the only place that names `ocl`; [`check`] gives verdicts, [`stats`] summaries.
//! - [`exchange`] is what goes on between host and device, as data: transfers, launches, pipelines.
//! - [`kernels`] is the registry of families, rungs and plans; [`cpu`] holds references and baselines.
//! - [`graph`] is distances in graphs, whatever makes the min-plus step.
//! - [`occupancy`] says how many groups a compute unit holds at once.
//! - [`suggest`] finds what a misspelt word may have meant.
//! - [`values`] reads sizes, lists, ranges and rates as people write them on the command line.
//! - [`terminal`] is the door to standard output and standard error; [`stdout`] keeps standard output from drivers.
//! - [`files`] reads files and knows them again; [`memory`] says what this machine has left.
//! - [`error`] is what ends a command: a message and an exit code.
//! - [`plan`] is the words that all share: cases, plans, launches, commands, targets; it names nothing above it.
//! - [`data`] is element types, arrays and seeded test data; [`input`] reads files of real ones.

mod adopt;
mod bench;
pub mod ceilings;
pub mod check;
pub mod children;
pub mod cli;
pub mod commands;
pub mod compare;
mod console;
pub mod count;
mod counting;
pub mod cpu;
pub mod data;
pub mod device;
pub mod error;
pub mod exchange;
pub mod exercise;
pub mod experiments;
pub mod files;
pub mod graph;
pub mod input;
mod interrupt;
pub mod judgement;
pub mod judging;
pub mod kernels;
mod ladder;
mod lesson;
pub mod memory;
pub mod occupancy;
pub mod oracle;
pub mod outcome;
mod outputs;
pub mod plan;
pub mod record;
pub mod report;
pub mod runner;
mod shown;
pub mod simulator;
pub mod stats;
pub mod stdout;
pub mod store;
pub mod suggest;
pub mod sweep;
pub mod terminal;
pub mod tune;
pub mod values;
pub mod why;
mod words;
pub mod worker;

pub use error::Error;

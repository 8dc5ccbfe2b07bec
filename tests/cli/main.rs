//! The command line, through the binary on the default device.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod asm;
mod bad_input;
#[path = "../binary/mod.rs"]
mod binary;
mod broken_kernels;
mod ceilings;
mod check;
mod compare;
mod counts;
mod described;
mod exercise;
#[path = "../fake/mod.rs"]
mod fake;
mod files;
mod film;
mod golden;
mod graph;
mod host_program;
mod lab;
mod ladder;
mod lessons;
mod minplus;
mod no_device;
mod options;
mod outputs;
mod own;
mod payoff;
mod plot;
mod record;
mod report;
mod roads;
mod show;
#[path = "../sources/mod.rs"]
mod sources;
mod start;
mod sweep;
mod terminal;
mod transpose;
mod tunables;
mod tune;

//! The command line, through the binary on the default device.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod bad_input;
#[path = "../binary/mod.rs"]
mod binary;
mod compare;
mod described;
mod exercise;
mod files;
mod graph;
mod lab;
mod ladder;
mod lessons;
mod minplus;
mod own;
mod plot;
mod record;
mod report;
mod roads;
mod show;
#[path = "../sources/mod.rs"]
mod sources;
mod splice;
mod start;
mod sweep;
mod transpose;
mod tunables;
mod tune;

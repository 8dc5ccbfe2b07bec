//! What needs neither a driver nor the binary: the registry, the references, graphs, and the runner on a scripted
//! device.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod architecture;
mod environment;
mod explanations;
mod graph;
mod oracles;
mod plans;
mod registry;
mod runner;
mod sources;
mod why;

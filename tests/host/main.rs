//! What needs no driver: the registry, the references, graphs, the runner on a scripted device, and the pages for readers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod architecture;
#[path = "../binary/mod.rs"]
mod binary;
mod docs;
mod environment;
mod explanations;
#[path = "../fake/mod.rs"]
mod fake;
mod graph;
mod oracles;
mod plans;
mod registry;
mod runner;
mod sources;
mod why;

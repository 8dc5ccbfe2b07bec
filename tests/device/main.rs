//! What runs on real drivers, each in a process of its own: kernels, experiments, exchanges and the device layer.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests"
)]

mod canary;
mod count;
mod described;
#[path = "../drivers/mod.rs"]
mod drivers;
mod exchange;
mod families;
mod lab;
mod layer;
mod lent;
mod plain;
mod rungs;
mod skips;
#[path = "../sources/mod.rs"]
mod sources;

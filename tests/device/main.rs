//! What runs on real drivers, each in a process of its own: kernels, experiments, exchanges and the device layer.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "tests")]

mod canary;
mod count;
mod described;
mod drawn;
#[path = "../drivers/mod.rs"]
mod drivers;
mod exchange;
mod lab;
mod layer;
mod lent;
mod matrix;
mod minplus;
mod plain;
mod presum;
mod skips;
#[path = "../sources/mod.rs"]
mod sources;
mod transpose;

//! Distances in graphs, by the kernels of the min-plus ladder.

mod computer;
mod graph;
mod job;

pub(crate) use job::{next_path, run};

//! Distances in graphs, by the kernels of the min-plus ladder.

mod graph;
mod job;
mod stepper;

pub(crate) use job::run;

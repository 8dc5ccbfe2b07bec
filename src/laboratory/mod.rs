//! Experiments: what they run, and their run.

mod plan;
mod run;

pub(crate) use plan::{ExperimentRun, Task, Work, choose};
pub(crate) use run::Laboratory;

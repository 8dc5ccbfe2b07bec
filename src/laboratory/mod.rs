//! Experiments: what they run, and their run.

mod plan;
mod run;

pub(crate) use plan::{ExperimentRun, LabWork, Task, choose};
pub(crate) use run::Laboratory;

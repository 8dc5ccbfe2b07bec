//! The simulator: kernels run in Oclgrind, where a plugin of ours counts what they do, or for its own findings.

mod check;
mod log;
mod oclgrind;
mod worker;

pub use check::{CheckEnd, Checked, CheckingWorker};
pub use oclgrind::{PACKAGES, PLUGINS_FOLDER, Simulator, model_variables};
pub use worker::CountingWorker;

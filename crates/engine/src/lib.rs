//! Cases on devices.
//!
//! - [`device`] is the only place that names `ocl`; [`runner`] verifies, times and verifies one case on it.
//! - [`worker`] runs cases in a process of their own; [`judging`] is for kernels that nobody trusts.
//! - [`simulator`] runs them in Oclgrind, to count and to find faults. [`processes`] end with this one.
//! - [`layer`] looks on while somebody else's program runs. [`oracle`] asks readers' references what is right; [`input`] reads files of real data.

pub mod device;
pub mod input;
pub mod judging;
pub mod layer;
pub mod oracle;
pub mod processes;
pub mod runner;
pub mod simulator;
pub mod worker;

#[cfg(test)]
extern crate self as gpulab_engine;
#[cfg(test)]
#[path = "../../../tests/fake/mod.rs"]
mod fake;

//! What works on this machine, and what does not.

mod findings;
mod lines;
mod report;

pub(crate) use findings::{Findings, Health};
pub(crate) use report::report;

//! The engine of all ladders: rungs checked, tuned, timed and kept, and told as a table.

mod baseline;
mod climb;
mod engine;
mod run;

pub(crate) use engine::{run, run_into};
pub(crate) use run::{AsSource, LadderRun};

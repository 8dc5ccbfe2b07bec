//! The engine of all ladders: rungs checked, tuned, timed and kept, and told as a table.

mod climb;
mod run;

pub(crate) use climb::{AsSource, LadderRun};
pub(crate) use run::{run, run_into};

//! Sweeps: what they try, the file that they write or continue, and their run.

mod file;
mod space;
mod state;

pub(crate) use file::{earlier_rows, joined, open_output, rounds, without_retried};
pub(crate) use space::{largest_input, listing, plan, remembered, sources, space};
pub(crate) use state::SweepState;

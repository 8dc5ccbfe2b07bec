//! Searches for the fastest settings: what is asked for, the search, its rows, what of it is remembered; and replays.

mod asked;
mod entries;
mod remember;
mod replay;
mod rows;
mod search;

pub(crate) use asked::{AskedTuning, listing, narrowed};
pub(crate) use entries::{details, head, line};
pub(crate) use replay::run as replay;
pub(crate) use rows::{TuningRows, check_writable};
pub(crate) use search::Tuning;

//! Kernels counted in the simulator, for whoever asks: `count`, `try` and `--why`.

mod run;
mod subject;
pub(crate) mod why;

pub(crate) use run::{Counting, beside, open, source_line};
pub(crate) use subject::{Countable, check_ladder, check_trials};

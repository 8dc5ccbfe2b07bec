//! Kernels counted in the simulator, for whoever asks: `count`, `try` and `--why`.

pub(crate) mod gate;
mod payoff;
mod run;
mod subject;
pub(crate) mod why;

pub(crate) use payoff::{payoffs, reasons_of};
pub(crate) use run::{CountedTrial, Counting, beside, is_large, open, source_line, usual_size};
pub(crate) use subject::{Countable, check_ladder, check_trials, trials};

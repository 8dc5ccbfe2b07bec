//! Kernels counted in the simulator, for whoever asks: `count`, `try` and `--why`.

mod gate;
mod payoff;
mod program;
mod run;
mod subject;
pub(crate) mod why;

pub(crate) use gate::{GateFiles, kept};
pub(crate) use payoff::{payoffs, reasons_of};
pub(crate) use program::count_program;
pub(crate) use run::{CountedTrial, Counting, beside, is_large, open, source_line, usual_size};
pub(crate) use subject::{Countable, check_ladder, check_trials, trials};

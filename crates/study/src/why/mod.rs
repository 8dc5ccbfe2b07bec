//! Why a rung takes its time, and why the next one is faster. Counts of its kernels over the device's measured rates make a time
//! (`model.rs`); the count that differs most between two rungs makes a reason (`reason.rs`).

mod items;
mod model;
mod payoff;
mod reason;
mod tally;

pub use model::{DeviceRates, INSTRUCTIONS_IN_A_TREE, ModelTime, TimePart, is_parted};
pub use payoff::{Payoff, Payoffs, ShareBasis, WORTH, Waste};
pub use reason::{Cause, CountChange, DIFFERENT, LadderReasons, Parting, RungTime, StepReason, reasons, results};
pub use tally::{Tally, case_of, is_counted_of, tally};

//! Verify, time, verify again: one case on any device. Returns samples, prints nothing.

mod baseline;
mod budget;
mod buffers;
mod canary;
mod clock;
mod compute;
mod diagnose;
mod drawing;
mod exchange;
mod inputs;
mod inspect;
mod judge;
mod once;
mod outcome;
mod sampling;
mod session;
mod timeline;
mod timing;
mod trust;
mod verify;
mod witness;

pub use budget::Budget;
pub use compute::Computed;
pub use diagnose::{CellSymptoms, CountSymptoms, DataKinds, Likeness, Repeated, StartsFrom, Symptoms, TriedShape};
pub use inspect::{BuildTold, Inspected};
pub use once::LaunchedOnce;
pub use outcome::*;
pub use sampling::SHORT_S;
pub use session::{Session, Sources, second_seed, used_defines};
pub use timeline::Bar;

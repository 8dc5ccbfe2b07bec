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
mod fence;
mod inputs;
mod inspect;
mod judge;
mod once;
mod pace;
mod prelude;
mod ready;
pub(crate) mod sampling;
mod session;
mod timeline;
mod timing;
mod trust;
pub(crate) mod verdict;
mod verify;
mod witness;

pub use budget::Budget;
pub use compute::Computed;
pub(crate) use inputs::exactly;
pub use pace::{FOR_LIMITS, Pace};
pub use ready::second_seed;
pub use session::Session;

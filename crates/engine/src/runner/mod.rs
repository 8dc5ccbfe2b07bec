//! Verify, time, verify again: one case on any device. Returns samples, prints nothing.

mod apportioned;
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
mod portion;
mod ready;
pub(crate) mod sampling;
mod session;
mod streamed;
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
pub(crate) use portion::{JOINING, drawn_reference, host_clock};
pub use portion::{Portion, PortionFacts, PortionPlace, PortionRun, PortionTimes, PortionWork};
pub use ready::second_seed;
pub use session::Session;
pub(crate) use session::nothing;

//! Verify, time, verify again: one case on any device. Returns samples, prints nothing.

mod buffers;
mod clock;
mod diagnose;
mod exchange;
mod inputs;
mod pace;
mod pair;
mod session;
mod timing;
mod verify;
mod witness;

pub(crate) use inputs::exactly;
pub use inputs::second_seed;
pub use pace::{FOR_LIMITS, Pace};
pub use pair::PairJob;
pub use session::Session;
pub use timing::Computed;

//! Verify, time, verify again: one case on any device. Returns samples, prints nothing.

mod buffers;
mod clock;
mod outcome;
mod sampling;
mod session;

pub use outcome::*;
pub use session::{Session, Sources};

//! The probes that measure what a device can do at best. They are families like any other, so that the same runner checks
//! and times them; `gpulab list` does not show them.

pub(super) mod arithmetic;
pub(super) mod memory;

pub use arithmetic::{OP, lanes};
pub use memory::{ADDED_TO, READ, VEC};

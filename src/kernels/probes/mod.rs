//! The probes that measure what a device can do at best. They are families like any other, so that the same runner checks
//! and times them; `gpulab list` does not show them.

mod arithmetic;
mod chains;
mod local;
mod memory;

pub use arithmetic::lanes;
pub use chains::{HALF, OP};
pub use memory::READ;

use super::Family;

/// Every probe, in the order in which they run.
pub const PROBES: &[&Family] = &[
    &memory::READ,
    &memory::WRITE,
    &memory::COPY,
    &local::LOCAL,
    &chains::CHAINS,
    &arithmetic::ADD_MIN,
    &arithmetic::LANES,
];

//! Sweeps: every combination of rungs, work-groups, sizes, element types and tunables.
//!
//! Planning, identity, resuming and merging are pure; [`measure()`] runs a plan on any bench.
//!
//! Interleaving pools a configuration's samples from [`ROUNDS`] rounds over a block of [`BLOCK`] configurations. A row
//! is written when its last round is over; until then its rounds are noted beside the rows. So a killed sweep that is
//! resumed measures at most one round of one configuration again. Without a file, on standard output, the unwritten
//! rows of a block are lost. Every row is final, whatever its status. A configuration that crashes or hangs its driver
//! gets its `failed` or `timeout` row at once, and resuming does not run it again.

mod identity;
mod measure;
mod merge;
mod narrowing;
mod possible;
mod space;

pub use identity::{Identity, Shard};
pub use measure::{BLOCK, Bench, Order, ROUNDS, in_rounds, measure};
pub use merge::{merge, slower};
pub use narrowing::Narrowing;
pub use possible::Asked;
pub use space::{Configuration, RememberedSettings, Setting, Space, settings, work_groups};

#[cfg(test)]
mod tests;

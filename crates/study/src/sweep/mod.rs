//! Sweeps: every combination of rungs, work-groups, sizes, element types and tunables.
//!
//! Planning, identity, resuming and merging are pure; [`measure()`] runs a plan on any bench.
//!
//! Interleaving pools a configuration's samples from [`ROUNDS`] rounds over a block of [`BLOCK`] configurations, and a
//! row is written when its last round is over; until then what its rounds gave is noted beside the rows. A killed sweep
//! that is gone on with therefore measures again at most the round of the one configuration that was in flight; without
//! a file, on standard output, the rows of a block that are not written yet are lost. Every row is final, whatever its
//! status: a configuration that crashes or hangs its driver gets its `failed` or `timeout` row at once, and going on does
//! not run it again.

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

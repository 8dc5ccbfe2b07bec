//! Sweeps: every combination of rungs, work-groups, sizes, element types and tunables.
//!
//! Planning, identity, resuming and merging are pure; [`measure`] runs a plan on any executor.

mod identity;
mod measure;
mod merge;
mod space;

pub use identity::{Identity, Shard};
pub use measure::{BLOCK, Bench, Order, ROUNDS, measure};
pub use merge::merge;
pub use space::{Configuration, Setting, Space, default_work_groups, settings};

#[cfg(test)]
mod tests;

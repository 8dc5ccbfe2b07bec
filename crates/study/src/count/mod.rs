//! Counts of what a machine whose work-items run in lockstep would do with a kernel: busy lanes, memory segments, passes of
//! local memory. They come from a plugin of ours in the simulator Oclgrind: its `plugin.cpp` states the model.
//!
//! Counts need no GPU, repeat exactly, and are the same on every machine.

mod counts;
mod gate;
mod machine;
mod row;
mod stretch;
mod trace;

pub use counts::{
    CountedCase, CountedLaunch, Counts, InstructionCounts, LaunchCounts, MemoryCounts,
    RequestCounts,
};
pub use gate::{
    CountAllowances, CountGauge, CountGrowth, case_of, counted_cases, growths, machine_of,
};
pub use machine::{AccessRule, LockstepModel, MACHINES, Machine};
pub use row::{CountRow, CountSubject};
pub use stretch::{counted_settings, fixed_items, small_cases, stretched};
pub use trace::{
    CheckFinding, FindingKind, Parting, RequestKind, TracedLaunch, TracedRequest, TracedStep,
    traced,
};

/// Compute units of the GPU that plans are made for: one, so that in small cases, too, an item has several elements.
pub const COMPUTE_UNITS: u32 = 1;

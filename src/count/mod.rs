//! Counts of what a machine whose work-items run in lockstep would do with a kernel: busy lanes, memory segments, passes of
//! local memory. A kernel runs in Oclgrind, a simulator, and a plugin of ours in it counts; `plugin.cpp` states the model.
//!
//! Counts need no GPU, repeat exactly, and are the same on every machine.

mod check;
mod counts;
mod row;
mod simulator;
mod stretch;
mod worker;

pub use check::{CheckFinding, CheckingWorker, FindingKind};
pub use counts::{Counts, InstructionCounts, LaunchCounts, MemoryCounts, RequestCounts};
pub use row::{CountRow, CountSubject};
pub use simulator::{LockstepModel, PACKAGES, PLUGINS_FOLDER, Simulator};
pub use stretch::{counted_settings, small_cases, stretched};
pub use worker::{CountedCase, CountedLaunch, CountingWorker};

/// Compute units of the GPU that plans are made for: one, so that in small cases, too, an item has several elements.
pub const COMPUTE_UNITS: u32 = 1;

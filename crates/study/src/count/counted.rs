//! What is counted, and for which machine.

use super::LaunchCounts;
use gpulab_model::data::Params;
use gpulab_model::plan::WorkGroup;

/// The machine that is counted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockstepModel {
    pub warp: u64,
    /// Bytes of a segment of global memory.
    pub segment: u64,
    /// Banks of local memory, each 4 bytes wide.
    pub banks: u64,
}

impl LockstepModel {
    /// NVIDIA's GPUs, and near enough to others.
    pub const USUAL: LockstepModel = LockstepModel { warp: 32, segment: 32, banks: 32 };
}

#[derive(Clone, Debug, PartialEq)]
pub struct CountedCase {
    /// The work-group that the rung made of the one asked for.
    pub wg: WorkGroup,
    pub params: Params,
    pub launches: Vec<CountedLaunch>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CountedLaunch {
    /// Whether its time would count: others prepare the data.
    pub timed: bool,
    pub counts: LaunchCounts,
}

//! What is counted.

use super::LaunchCounts;
use gpulab_model::data::Params;
use gpulab_model::plan::WorkGroup;

#[derive(Clone, Debug, PartialEq)]
pub struct CountedCase {
    /// The work-group that the rung made of the one asked for.
    pub wg: WorkGroup,
    pub params: Params,
    pub launches: Vec<CountedLaunch>,
}

/// All launches of a kernel by a host program.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchedKernel {
    pub launches: u64,
    /// Of all of them together; the work-group is the first one's.
    pub counts: LaunchCounts,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CountedLaunch {
    /// Whether its time would count: others prepare the data.
    pub timed: bool,
    pub counts: LaunchCounts,
}

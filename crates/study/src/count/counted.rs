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

#[derive(Clone, Debug, PartialEq)]
pub struct CountedLaunch {
    /// Whether its time would count: others prepare the data.
    pub timed: bool,
    pub counts: LaunchCounts,
}

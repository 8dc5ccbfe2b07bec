//! What each experiment needs: `use super::prelude::*`.

pub(super) use super::evidence::*;
pub(super) use super::own::{LATENCY, Own};
pub(super) use super::{Experiment, Explanation, Scope, Trial, plain};
pub(super) use gpulab_kernels::Family;
pub(super) use gpulab_kernels::lab::{self, ROUNDS};
pub(super) use gpulab_kernels::values::binary;
pub(super) use gpulab_model::data::{Dtype, Params, Shape};
pub(super) use gpulab_model::plan::{Case, TOLD, Target, WorkGroup};
pub(super) use gpulab_record::groups::distinct;
pub(super) use gpulab_record::{BANDWIDTH, Metric, Point, RATE, Row, TIME};
pub(super) use gpulab_system::text::Joined;

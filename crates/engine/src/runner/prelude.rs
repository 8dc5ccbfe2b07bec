//! What most steps of running a case name: `use super::prelude::*`.

pub(super) use super::buffers::BoundPlan;
pub(super) use super::fence::{Fence, Fenced};
pub(super) use super::inputs::Data;
pub(super) use super::ready::ReadyCase;
pub(super) use super::session::Session;
pub(super) use crate::device::{BuildUnit, Device, DeviceError, ProgramId};
pub(super) use gpulab_kernels::{Family, Form, Sources};
pub(super) use gpulab_model::check;
pub(super) use gpulab_model::data::{self, Array, Change, Dtype, Fill, Inputs, Shape};
pub(super) use gpulab_model::outcome::{Clock, Judged, Measured, Outcome, Sample, Settings, Stop};
pub(super) use gpulab_model::plan::{Action, Arg, BufferId, Case, Launch, Plan, QueuedCommand, Reference, Refusal};
pub(super) use std::time::Instant;

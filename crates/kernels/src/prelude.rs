//! What each file of a family needs: `use crate::prelude::*`.

pub(crate) use crate::shape::{self, Grid};
pub(crate) use crate::{
    Ask, Bound, Builder, BuiltInFamily, Exact, Family, Form, Planned, Problem, Tunable, ladder,
    rung, with_setting,
};
pub(crate) use gpulab_cpu as cpu;
pub(crate) use gpulab_model::data::{Array, Dtype, Fill, Params, Shape};
pub(crate) use gpulab_model::plan::{Arg, Case, Cost, Plan, Reference, Refusal};

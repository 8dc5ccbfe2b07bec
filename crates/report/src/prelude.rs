//! What most reports name: `use crate::prelude::*`.

pub(crate) use crate::Medium;
pub(crate) use crate::cell::{Cell, RateUnit, Value};
pub(crate) use crate::format::{self, Screen, Tint, paint};
pub(crate) use crate::grid::TextGrid;
pub(crate) use crate::rungs::label;
pub(crate) use crate::view::View;
pub(crate) use crate::wrap::{hung, wrapped};
pub(crate) use gpulab_model::Joined;
pub(crate) use gpulab_model::data::Dtype;
pub(crate) use gpulab_model::outcome::Status;
pub(crate) use gpulab_record::{Row, flag};
pub(crate) use gpulab_study::ceilings::CeilingRow;

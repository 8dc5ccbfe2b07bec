//! What most pictures are drawn with: `use super::prelude::*`.

pub(super) use super::axes::{self, BELOW};
pub(super) use super::scale::{AxisScale, span};
pub(super) use super::sheet::{Anchor, Area, BODY, Figures, Lettering, MARGIN, SMALL, Sheet, WIDTH};
pub(super) use super::{Drawn, font, number, theme};
pub(super) use crate::format;
pub(super) use crate::rungs::label;
pub(super) use crate::view::is_base;
pub(super) use gpulab_record::{Point, Row};
pub(super) use gpulab_system::text::Joined;

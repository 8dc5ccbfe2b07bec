//! Exercises graded: submissions on the device and in the simulator, one or a class of them, and what a student has done.

mod class;
mod grading;
mod keeping;
mod predict;

pub(crate) use class::run as grade_class;
pub use gpulab_study::exercise::*;
pub(crate) use grading::Grader;
pub(crate) use keeping::{bets, keep, progress};
pub(crate) use predict::run as predict;

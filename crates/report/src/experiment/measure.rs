//! What an experiment measures: a metric in its unit.

use crate::groups;
use gpulab_record::Point;
use std::hash::Hash;

/// Each value of `of` once, in the order of their first points.
pub(super) fn distinct<'a, T: Clone + Eq + Hash>(points: &'a [Point], of: impl Fn(&'a Point) -> T) -> Vec<T> {
    groups::distinct(points.iter().map(of))
}

/// What a column of numbers holds, all in one unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Measure<'a> {
    pub(super) metric: &'a str,
    pub(super) unit: &'a str,
}

impl<'a> Measure<'a> {
    pub(super) fn of(point: &'a Point) -> Measure<'a> {
        Measure { metric: &point.metric, unit: &point.unit }
    }

    /// `bandwidth in GB/s`.
    pub(super) fn text(self) -> String {
        format!("{} in {}", self.metric, self.unit)
    }
}

//! What experiments with kernels of their own have in common: their cases.

use super::{Scope, Trial};
use gpulab_kernels::Family;
use gpulab_model::data::{Dtype, Shape};
use gpulab_model::plan::{Case, WorkGroup};
use gpulab_record::{Metric, Row};

/// From one operation of a lone item to its next, in nanoseconds.
pub(super) const LATENCY: Metric = Metric { name: "latency", unit: "ns", of: latency };

fn latency(row: &Row) -> Option<f64> {
    let per_item = row.ops? as f64 / row.n as f64;
    Some(1e9 * row.t_median_s? / per_item).filter(|ns| ns.is_finite())
}

/// One of these kernels' cases.
pub(super) struct Own<'a> {
    pub(super) family: &'static Family,
    pub(super) variant: &'static str,
    pub(super) dtype: Dtype,
    /// The size of the vectors, in elements.
    pub(super) n: u64,
    /// Work-items of a group.
    pub(super) wg: usize,
    pub(super) params: &'a [(&'static str, u64)],
}

impl Own<'_> {
    /// The point of a series that it makes.
    pub(super) fn trial(&self, scope: &Scope<'_>, series: impl Into<String>, x: f64, metric: Metric) -> Trial {
        let params = self.params.iter().map(|(name, value)| ((*name).to_owned(), value.to_string()));
        let case = Case {
            wg: WorkGroup::linear(self.wg),
            params: params.collect(),
            seed: scope.seed,
            ..Case::of(&self.family.name, self.variant, self.dtype, Shape::vector(self.n))
        };
        Trial { series: series.into(), x, metric, case }
    }
}

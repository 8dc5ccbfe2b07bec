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

/// A kernel of the lab over vectors of `n` elements, in groups of `wg` work-items.
pub(super) struct Own {
    family: &'static Family,
    variant: &'static str,
    dtype: Dtype,
    n: u64,
    wg: usize,
}

impl Own {
    pub(super) fn of(family: &'static Family, variant: &'static str, dtype: Dtype, n: u64, wg: usize) -> Own {
        Own { family, variant, dtype, n, wg }
    }

    /// A point of a series, with these settings.
    pub(super) fn trial(
        &self,
        scope: &Scope<'_>,
        series: impl Into<String>,
        x: f64,
        metric: Metric,
        params: &[(&str, u64)],
    ) -> Trial {
        let case = Case {
            wg: WorkGroup::linear(self.wg),
            params: params.iter().map(|(name, value)| ((*name).to_owned(), value.to_string())).collect(),
            seed: scope.seed,
            ..Case::of(&self.family.name, self.variant, self.dtype, Shape::vector(self.n))
        };
        Trial { series: series.into(), x, metric, case }
    }
}

//! Walks over every word of an array, in strides or from an offset on: the series of `stride` and `offset`.

use super::own::Own;
use super::{Scope, Trial};
use crate::data::Dtype;
use crate::kernels::Family;
use crate::kernels::lab::walk::{GATHER, OFFSET, SCATTER, STRIDES};
use crate::kernels::lab::{self, ROUNDS};
use crate::plan::Target;
use crate::record::BANDWIDTH;

/// What is walked over, by which kernel.
pub(super) struct WalkSeries {
    pub(super) name: &'static str,
    family: &'static Family,
    is_cached: bool,
}

pub(super) const READ: &str = "read";
pub(super) const READ_CACHED: &str = "read from cache";
pub(super) const WRITE: &str = "write";

/// Those that this device is asked: what a GPU's cache hands out in which pieces shows only where nothing comes from
/// further away. A CPU's nearest cache hands out words.
pub(super) fn series(target: &Target) -> impl Iterator<Item = WalkSeries> + use<> {
    let all = [(READ, &GATHER, false), (READ_CACHED, &GATHER, true), (WRITE, &SCATTER, false)];
    let is_gpu = target.gpu;
    let all = all.into_iter().filter(move |(_, _, is_cached)| is_gpu || !is_cached);
    all.map(|(name, family, is_cached)| WalkSeries { name, family, is_cached })
}

impl WalkSeries {
    /// A point of this series: `strides` is the stride's logarithm, `offset` in words.
    pub(super) fn trial(&self, scope: &Scope<'_>, x: u64, strides: u64, offset: u64) -> Trial {
        let (bits, rounds) = self.size(scope);
        let own = Own {
            family: self.family,
            variant: "walk",
            dtype: Dtype::I32,
            n: 1 << bits,
            wg: if scope.target.gpu { lab::usual_wg(scope.target) } else { 1 },
            params: &[(STRIDES.name, strides), (OFFSET.name, offset), (ROUNDS.name, rounds)],
        };
        own.trial(scope, self.name, x as f64, BANDWIDTH)
    }

    /// The logarithm of the words, and how often each is accessed: more than any GPU's cache holds, or less than its last
    /// level but more than one unit's own. What is written is read back and checked, and is therefore less. A GPU's items
    /// go through the array together, so that a stride comes back to a segment only when the caches have seen many others.
    fn size(&self, scope: &Scope<'_>) -> (u64, u64) {
        match (scope.target.gpu, self.is_cached) {
            (true, true) => (22, 16),
            (true, false) if self.name == WRITE => (25, 1),
            (true, false) => (26, 1),
            (false, _) if scope.quick => (22, 1),
            (false, _) => (24, 1),
        }
    }
}

//! Walks over every word of an array, in strides or from an offset on: the series of `stride` and `offset`.

use super::prelude::*;
use gpulab_kernels::lab::neighbours::{self, FACTOR, IDLE};
use gpulab_kernels::lab::walk::{GATHER, OFFSET, SCATTER, STRIDES, WIDTH};

/// What is walked over, by which kernel.
pub(super) struct WalkSeries {
    pub(super) name: &'static str,
    family: &'static Family,
    is_cached: bool,
    /// Bits of a word.
    width: u64,
}

pub(super) const READ: &str = "read";
pub(super) const READ_CACHED: &str = "read from cache";
pub(super) const WRITE: &str = "write";
/// The same bytes in narrower words.
pub(super) const READ_NARROW: [(&str, u64); 2] = [("read 16-bit", 16), ("read 8-bit", 8)];
pub(super) const WRITE_NARROW: [(&str, u64); 2] = [("write 16-bit", 16), ("write 8-bit", 8)];

/// Reads of 32 neighbouring words: series, the factor that permutes them, and which accesses are left out.
pub(super) const ORDERED: &str = "in order";
pub(super) const PERMUTED: &str = "permuted";
pub(super) const HALF_IDLE: &str = "half idle";
pub(super) const LANES: [(&str, u64, u64); 3] = [(ORDERED, 1, 0), (PERMUTED, 13, 0), (HALF_IDLE, 1, 1)];

/// Those that this device is asked: what a GPU's cache hands out in which pieces shows only where nothing comes from
/// further away. A CPU's nearest cache hands out words.
pub(super) fn series(target: &Target) -> impl Iterator<Item = WalkSeries> + use<> {
    let all = [(READ, &GATHER, false), (READ_CACHED, &GATHER, true), (WRITE, &SCATTER, false)];
    let is_gpu = target.gpu;
    let all = all.into_iter().filter(move |(_, _, is_cached)| is_gpu || !is_cached);
    all.map(|(name, family, is_cached)| WalkSeries { name, family, is_cached, width: 32 })
}

pub(super) fn narrow_series() -> impl Iterator<Item = WalkSeries> {
    let of = |family| move |(name, width)| WalkSeries { name, family, is_cached: false, width };
    READ_NARROW.into_iter().map(of(&GATHER)).chain(WRITE_NARROW.into_iter().map(of(&SCATTER)))
}

/// A point of reads of neighbouring words at an offset.
pub(super) fn lanes_trial(scope: &Scope<'_>, (name, factor, idle): (&'static str, u64, u64), offset: u64) -> Trial {
    let series = WalkSeries { name, family: &neighbours::FAMILY, is_cached: false, width: 32 };
    let settings = [(OFFSET.name, offset), (FACTOR.name, factor), (IDLE.name, idle)];
    series.own_trial(scope, "lanes", offset, &settings)
}

impl WalkSeries {
    /// A point of this series: `strides` is the stride's logarithm, `offset` in words.
    pub(super) fn trial(&self, scope: &Scope<'_>, x: u64, strides: u64, offset: u64) -> Trial {
        let settings = [(STRIDES.name, strides), (OFFSET.name, offset), (WIDTH.name, self.width)];
        // Words of 32 bits have no need of a width.
        self.own_trial(scope, "walk", x, if self.width == 32 { &settings[..2] } else { &settings })
    }

    fn own_trial(&self, scope: &Scope<'_>, variant: &'static str, x: u64, settings: &[(&'static str, u64)]) -> Trial {
        let (bits, rounds) = self.size(scope);
        let params: Vec<(&'static str, u64)> = settings.iter().copied().chain([(ROUNDS.name, rounds)]).collect();
        let wg = if scope.target.gpu { lab::usual_wg(scope.target) } else { 1 };
        let own = Own::of(self.family, variant, Dtype::I32, (32 / self.width) << bits, wg);
        own.trial(scope, self.name, x as f64, BANDWIDTH, &params)
    }

    /// The logarithm of the words of 32 bits, and how often each is accessed: more than any GPU's cache holds, or less than
    /// its last level but more than one unit's own. What is written is read back and checked, and is therefore less. A GPU's
    /// items go through the array together, so that a stride comes back to a segment only when the caches have seen many
    /// others.
    fn size(&self, scope: &Scope<'_>) -> (u64, u64) {
        match (scope.target.gpu, self.is_cached) {
            (true, true) => (22, 16),
            (true, false) if scope.quick || self.family.name == SCATTER.name => (25, 1),
            (true, false) => (26, 1),
            (false, _) if scope.quick => (22, 1),
            (false, _) => (24, 1),
        }
    }
}

//! The model's parts on a CPU, whose cores run one work-item after the other, from barrier to barrier. An item whose loop loads
//! beside its neighbours' (coalesced on a GPU) jumps over their elements at each turn, and touches a new cache line.

use super::tally::{Tally, WARP, is_bounded_by_operations};
use gpulab_model::plan::WorkGroup;
use gpulab_record::Row;

/// Bytes of the smallest vector load.
const WIDE: f64 = 8.0;

/// Rates of work-items on a CPU, per second.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ItemRates {
    /// Additions by vectors: of kernels that use them, and of those that the compiler vectorises.
    pub vectors: f64,
    /// Instructions of items between barriers, one item at a time.
    pub single: f64,
    /// Bytes loaded in jumps, as words and as vectors of 16 bytes.
    pub walks: [RateBySize; 2],
}

/// Rates by size of array, ascending, in bytes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RateBySize(Vec<(f64, f64)>);

impl RateBySize {
    pub fn new(points: impl Iterator<Item = (f64, f64)>) -> RateBySize {
        let mut points: Vec<(f64, f64)> = points.collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        RateBySize(points)
    }

    /// Whether a size is below the smallest measured one.
    pub fn is_below(&self, bytes: f64) -> bool {
        self.0.first().is_some_and(|(size, _)| bytes < *size)
    }

    /// The rate at a size, interpolated on logarithmic scales; beyond the ends, the end's rate.
    pub fn at(&self, bytes: f64) -> Option<f64> {
        let above = self.0.iter().position(|(size, _)| *size >= bytes).unwrap_or(self.0.len());
        let (Some(&(small, fast)), Some(&(large, slow))) = (self.0.get(above.wrapping_sub(1)), self.0.get(above))
        else {
            return self.0.get(above).or(self.0.last()).map(|(_, rate)| *rate);
        };
        let share = (bytes / small).ln() / (large / small).ln();
        Some(fast.powf(1.0 - share) * slow.powf(share))
    }
}

impl ItemRates {
    /// Seconds of loads that jump, and of instructions.
    pub fn seconds(&self, row: &Row, tally: &Tally) -> (f64, f64) {
        let has_small_groups = row.wg.map_or(1, WorkGroup::size) < WARP as usize;
        let rate = if has_small_groups || is_bounded_by_operations(row) { self.vectors } else { self.single };
        let jumps = tally.jumping_bytes(row);
        let reads = &tally.counts.memory.global_read;
        let is_wide = jumps >= WIDE * WARP * reads.requests as f64;
        let walk = row.bytes.and_then(|bytes| self.walks[usize::from(is_wide)].at(bytes as f64));
        (walk.map_or(0.0, |rate| jumps / rate), tally.counts.lanes as f64 / rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_lie_between_those_of_neighbouring_sizes() {
        let rates = RateBySize::new([(64.0, 1.0), (4.0, 16.0)].into_iter());
        assert_eq!([1.0, 4.0, 16.0, 64.0, 1e9].map(|bytes| rates.at(bytes).unwrap()), [16.0, 16.0, 4.0, 1.0, 1.0]);
        assert_eq!([3.0, 4.0].map(|bytes| rates.is_below(bytes)), [true, false]);
        assert_eq!(RateBySize::new(std::iter::empty()).at(4.0), None);
    }
}

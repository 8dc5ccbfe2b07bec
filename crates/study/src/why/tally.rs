//! Counts of a measured row's kernels, extrapolated from small counted cases with the same settings.

use crate::count::{CountRow, Counts, LockstepModel, counted_settings, stretched};
use gpulab_kernels::{Form, Registry, Rung};
use gpulab_model::data::Shape;
use gpulab_model::plan::{Case, Target, WorkGroup};
use gpulab_record::Row;

/// Bytes of a cache line in the counts.
pub(super) const LINE: f64 = 128.0;

/// Work-items of a warp in the counts.
pub(super) const WARP: f64 = LockstepModel::USUAL.warp as f64;

/// Barriers are far apart when a warp makes more passes of local memory than this between two of them. One load takes the time of some
/// tens of passes.
const DISTANT: f64 = 128.0;

/// Loads of an item that make a walk.
const TURNS: f64 = 16.0;

/// Counts of all timed launches of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    pub counts: Counts,
    pub groups: u64,
    /// Barriers, one for each group that comes to one.
    pub barriers: u64,
    /// Accesses to arrays that the simulator's compiler did not keep in registers.
    pub private: u64,
    /// Whether work is counted in pairs of elements, as in a product of matrices.
    pub is_of_pairs: bool,
}

/// Whether a count has a measured row's kernel and settings, at any size, on the usual machine.
pub fn is_counted_of(count: &CountRow, row: &Row) -> bool {
    let is_same_kernel = (count.family.as_str(), count.variant.as_str(), count.dtype, Some(count.wg))
        == (row.family.as_str(), row.variant.as_str(), row.dtype, row.wg);
    is_same_kernel && is_usual(count) && counted_settings(&count.params) == counted_settings(&row.params)
}

/// Whether it was counted for the usual machine.
pub(super) fn is_usual(count: &CountRow) -> bool {
    let usual = LockstepModel::USUAL;
    (count.warp, count.segment, count.banks) == (usual.warp, usual.segment, usual.banks)
        && count.partitions.is_none()
        && matches!(count.machine.as_str(), "" | "today")
}

/// Whether a row is a rung's or a reader's kernel's; not a reference's or a CPU baseline's.
pub(super) fn is_of_rung(registry: &Registry, row: &Row) -> bool {
    row.rung.is_some()
        || registry.family(&row.family).and_then(|family| family.rung(&row.variant)).is_some_and(Rung::is_own)
}

/// A measured rung's case; `None` for references and CPU baselines.
pub fn case_of(registry: &Registry, row: &Row) -> Option<Case> {
    if !is_of_rung(registry, row) {
        return None;
    }
    Some(Case {
        wg: row.wg?,
        params: row.params.clone(),
        ..Case::of(&row.family, &row.variant, row.dtype, Shape { n: row.n, m: row.m })
    })
}

/// Counts of a measured row's kernels; `None` without two counted cases of its settings.
pub fn tally(registry: &Registry, row: &Row, counts: &[CountRow], is_gpu: bool) -> Option<Tally> {
    let case = case_of(registry, row)?;
    let family = registry.family(&row.family)?;
    let plan = family.plan(family.rung(&row.variant)?, &case, &Target::with_everything(is_gpu)).ok()?;
    let is_own = |count: &&CountRow| count.is_of_launch() && is_counted_of(count, row);
    let own: Vec<CountRow> = counts.iter().filter(is_own).cloned().collect();
    let launches = stretched(family.form, &case, &plan, &own)?;
    let timed = launches.iter().filter(|launch| launch.timed == Some(true));
    Some(Tally { is_of_pairs: family.form == Form::Square, ..Tally::sum(timed) })
}

pub(super) fn warps_a_group(row: &Row) -> f64 {
    row.wg.map_or(1.0, |wg| (wg.size() as f64 / WARP).ceil())
}

pub(super) fn is_bounded_by_operations(row: &Row) -> bool {
    row.bound().is_some_and(|bound| !bound.is_memory())
}

impl Tally {
    /// Bytes that items load in jumps: each turn of an item's loop skips what its neighbours load. A CPU, which runs one item after
    /// the other, then touches a cache line for each load. 0 if items load little, or each from a stretch of its own.
    pub(super) fn jumping_bytes(&self, row: &Row) -> f64 {
        let wg = row.wg.map_or(1.0, |wg| WorkGroup::size(wg) as f64);
        let reads = &self.counts.memory.global_read;
        let bytes = reads.bytes as f64;
        let loads = WARP * reads.requests as f64;
        let is_walk = loads >= TURNS * self.groups as f64 * wg;
        // Twice as many lines as they fill: what neighbours load lies side by side.
        let is_beside = reads.lines as f64 <= 2.0 * (bytes / LINE).max(reads.requests as f64);
        let jumps = wg >= WARP && !is_bounded_by_operations(row) && is_walk && is_beside;
        if jumps { bytes } else { 0.0 }
    }

    /// Passes of local memory that a warp makes between two barriers; 0 where groups have at most one.
    pub(super) fn passes_between_barriers(&self, row: &Row) -> f64 {
        let passes = self.counts.local().passes as f64;
        if self.barriers > self.groups { passes / (self.barriers as f64 * warps_a_group(row)) } else { 0.0 }
    }

    /// Whether barriers are so far apart that instructions run beside passes of local memory.
    pub(super) fn are_barriers_distant(&self, row: &Row) -> bool {
        self.passes_between_barriers(row) > DISTANT
    }

    /// The sum of launches.
    pub(super) fn sum<'a>(launches: impl Iterator<Item = &'a CountRow>) -> Tally {
        launches.fold(Tally::default(), |mut sum, launch| {
            let cell = |cell: Option<u64>| cell.unwrap_or(0);
            sum.counts += launch.counts();
            sum.groups += cell(launch.groups);
            sum.barriers += cell(launch.barriers);
            sum.private += cell(launch.private_accesses);
            sum
        })
    }
}

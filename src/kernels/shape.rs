//! Launch shapes that families share: grids that fill a device, and chunks for CPU devices.

use super::{Arg, Params, Pass, Refusal, Target, WorkGroup};
use crate::data::Dtype;

/// A one-dimensional launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    /// Work-groups.
    pub(crate) groups: usize,
    /// Work-items of a group.
    pub(crate) wg: usize,
}

impl Grid {
    /// Work-items in flight.
    pub(crate) fn items(self) -> usize {
        self.groups * self.wg
    }

    /// At least `items` work-items.
    pub(crate) fn covering(wg: usize, items: u64) -> Grid {
        Grid { groups: (items as usize).div_ceil(wg).max(1), wg }
    }

    /// Enough groups to fill the device, but no more than `items` work-items need.
    pub(crate) fn filling(target: &Target, wg: usize, items: u64) -> Grid {
        let full = target.compute_units as usize * groups_per_unit(target, wg);
        Grid { groups: Grid::covering(wg, items).groups.min(full).max(1), wg }
    }
}

/// Groups that a compute unit is given. A GPU keeps about 2048 work-items resident on one and evens
/// out their finishing times with a second wave; a CPU core runs one group after another.
fn groups_per_unit(target: &Target, wg: usize) -> usize {
    if target.gpu { (4096 / wg).max(2) } else { 16 }
}

/// Work-groups of one item for a CPU's cores, and the length of each one's contiguous chunk: a
/// multiple of 64 elements.
pub(crate) fn chunks(target: &Target, n: u64) -> (Grid, u64) {
    let items = if target.gpu { 2048 } else { 16 } * u64::from(target.compute_units.max(1));
    let chunk = n.div_ceil(items).next_multiple_of(64);
    (Grid { groups: n.div_ceil(chunk).max(1) as usize, wg: 1 }, chunk)
}

/// A timed pass over a grid.
pub(crate) fn pass(kernel: &str, grid: Grid, args: Vec<Arg>) -> Pass {
    Pass { kernel: kernel.to_owned(), global: [grid.items(), 1, 1], local: [grid.wg, 1, 1], args, timed: true }
}

/// The definitions that every kernel has: its element type, and an index type for `n` elements with
/// room for one more stride.
pub(crate) fn defines(dtype: Dtype, n: u64) -> Vec<(String, String)> {
    // Unsigned: sums wrap, where OpenCL C leaves signed overflow undefined.
    let t = match dtype {
        Dtype::F32 => "float",
        Dtype::F64 => "double",
        Dtype::I32 => "uint",
        Dtype::I64 => "ulong",
    };
    let index = if n <= 1 << 31 { "uint" } else { "ulong" };
    vec![("T".into(), t.into()), ("INDEX".into(), index.into())]
}

/// The number that a parameter holds, if it was given.
pub(crate) fn number(params: &Params, name: &str) -> Result<Option<u64>, Refusal> {
    let Some(text) = params.get(name) else { return Ok(None) };
    match text.parse() {
        Ok(value) if value > 0 => Ok(Some(value)),
        _ => Err(Refusal(format!("{name}={text}: a whole number above 0 is needed"))),
    }
}

/// Why a work-group does not fit the device, if it does not.
pub(crate) fn check_wg(wg: WorkGroup, target: &Target) -> Result<(), Refusal> {
    if wg.size() > target.max_wg || wg.0.iter().zip(target.max_wg_dims).any(|(&w, max)| w > max) {
        return Err(Refusal(format!("work-group {wg}: this device allows at most {} work-items", target.max_wg)));
    }
    Ok(())
}

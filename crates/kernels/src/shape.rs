//! Launch shapes that families share: grids that fill a device, and chunks for CPU devices.

use super::{Ask, Tunable};
use gpulab_model::data::Dtype;
use gpulab_model::plan::{Arg, Pass, Refusal, Target, WorkGroup};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    pub groups: usize,
    pub wg: usize,
}

impl Grid {
    pub fn items(self) -> usize {
        self.groups * self.wg
    }

    pub fn covering(wg: usize, items: u64) -> Grid {
        Grid {
            groups: (items as usize).div_ceil(wg).max(1),
            wg,
        }
    }

    /// Enough groups to fill the device, but no more than `items` work-items need.
    pub fn filling(target: &Target, wg: usize, items: u64) -> Grid {
        let full = target.compute_units as usize * groups_per_unit(target, wg);
        Grid {
            groups: Grid::covering(wg, items).groups.min(full).max(1),
            wg,
        }
    }

    /// As [`Grid::filling`], but fewer groups that live longer: for work-items with many loads in flight, of
    /// which a quarter keeps a GPU's memory busy. Each group that is not there is a partial result less.
    pub fn sparse(target: &Target, wg: usize, items: u64) -> Grid {
        let full = Grid::filling(target, wg, items);
        let least = target.compute_units as usize;
        let groups = if target.gpu {
            (full.groups / 4).max(least.min(full.groups))
        } else {
            full.groups
        };
        Grid { groups, wg }
    }
}

/// Groups that a compute unit is given. A GPU keeps about 2048 work-items resident on one and evens
/// out their finishing times with a second wave; a CPU core runs one group after another.
fn groups_per_unit(target: &Target, wg: usize) -> usize {
    if target.gpu { (4096 / wg).max(2) } else { 16 }
}

/// Work-groups of one item for a CPU's cores, and the length of each one's contiguous chunk: a
/// multiple of 64 elements.
pub fn chunks(target: &Target, n: u64) -> (Grid, u64) {
    let items = if target.gpu { 2048 } else { 16 } * u64::from(target.compute_units.max(1));
    let chunk = n.div_ceil(items).next_multiple_of(64);
    (
        Grid {
            groups: n.div_ceil(chunk).max(1) as usize,
            wg: 1,
        },
        chunk,
    )
}

/// A timed pass over a grid.
pub fn pass(kernel: &str, grid: Grid, args: Vec<Arg>) -> Pass {
    Pass {
        kernel: kernel.to_owned(),
        global: [grid.items(), 1, 1],
        local: [grid.wg, 1, 1],
        args,
        timed: true,
        check: None,
    }
}

/// The OpenCL C type of elements whose sums wrap: unsigned, as signed overflow is undefined there.
pub fn wrapping(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::F32 => "float",
        Dtype::F64 => "double",
        Dtype::I32 => "uint",
        Dtype::I64 => "ulong",
        Dtype::U8 => "uchar",
    }
}

/// The OpenCL C type of elements that are compared.
pub fn signed(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::I32 => "int",
        Dtype::I64 => "long",
        float => wrapping(float),
    }
}

/// The definitions that every kernel has: its element type, and an index type for `n` elements with
/// room for one more stride.
pub fn defines(element: &str, n: u64) -> Vec<(String, String)> {
    let index = if n <= 1 << 31 { "uint" } else { "ulong" };
    vec![("T".into(), element.into()), ("INDEX".into(), index.into())]
}

pub const ITEMS: Tunable = Tunable::number(
    "items",
    "work-items in flight, in whole work-groups that all have elements",
    (1, u64::MAX),
    "4096 16384 65536 262144 540672",
)
.by_default("what fills the device");
/// As many as fit a work-item's registers.
const MOST_ACCUMULATORS: u64 = 16;
pub const ACC: Tunable = Tunable::number(
    "acc",
    "independent accumulators of a work-item",
    (1, MOST_ACCUMULATORS),
    "1 2 4 8",
);

/// The grid of the rungs that walk their inputs `per_item` elements at a time: as asked by `items`, or
/// enough to fill the device.
pub fn grid(ask: &Ask<'_>, per_item: u64) -> Result<Grid, Refusal> {
    grid_by(ask, per_item, Grid::filling)
}

/// As [`grid`], with what is enough said by `fill`: [`Grid::filling`] or [`Grid::sparse`].
pub fn grid_by(
    ask: &Ask<'_>,
    per_item: u64,
    fill: fn(&Target, usize, u64) -> Grid,
) -> Result<Grid, Refusal> {
    check_wg(ask.case.wg, ask.target)?;
    let wg = ask.case.wg.size();
    let n = ask.n();
    let useful = n.div_ceil(per_item);
    Ok(match ITEMS.get(&ask.case.params)? {
        Some(items) => Grid::covering(wg, items.min(useful)),
        None => fill(ask.target, wg, useful),
    })
}

/// Roundings of a tree over a work-group.
pub fn tree_depth(wg: usize) -> u64 {
    u64::from(wg.next_power_of_two().trailing_zeros())
}

/// Roundings of the host's finish: it adds in higher precision and rounds once to the element type.
pub const HOST_FINISH: u64 = 2;

/// Elements of a type in a vector of a CPU device.
pub fn vector_lanes(target: &Target, dtype: Dtype) -> u64 {
    u64::from(target.float_lanes.clamp(4, 16)) * 4 / dtype.size() as u64
}

/// The macro that chooses how work-items in step are synchronised; see `cl/common/lockstep.cl`. On a device that is no GPU
/// each item is in step with itself alone, sub-groups or not: PoCL from version 4 on takes time and memory that double with
/// each condition around a sub-group's barrier, and the unrolled tree has one a step.
pub fn lockstep(ask: &Ask<'_>) -> Result<&'static str, Refusal> {
    const WARP: usize = 32;
    let wg = ask.case.wg;
    let target = ask.target;
    if target.nvidia && !wg.size().is_multiple_of(WARP) {
        return Err(Refusal::Group(format!(
            "work-group {wg}: a warp's instructions need whole warps of {WARP} work-items"
        )));
    }
    Ok(match (target.nvidia, target.gpu && target.subgroups) {
        (true, _) => "LOCKSTEP_PTX",
        (false, true) => "LOCKSTEP_SUBGROUP",
        (false, false) => "LOCKSTEP_ALONE",
    })
}

/// Why a work-group does not fit the device, if it does not.
pub fn check_wg(wg: WorkGroup, target: &Target) -> Result<(), Refusal> {
    if wg.size() > target.max_wg || wg.0.iter().zip(target.max_wg_dims).any(|(&w, max)| w > max) {
        return Err(Refusal::Group(format!(
            "work-group {wg}: this device allows at most {} work-items",
            target.max_wg
        )));
    }
    Ok(())
}

//! The probe of additions with minima in the shape of the min-plus step's tiles, fed from local memory.

use super::arithmetic::{exactly, pairs_cost, widened};
use super::shape::{self, Grid};
use super::*;
use crate::rung;

/// Lowers `n` results, a multiple of a tile's, [`REPEATED`] times by the same panels.
pub const TILES: Family = Family {
    name: "tiles",
    about: "additions in tiles, each with a minimum, as fast as possible",
    form: Form::Vector,
    references: &[],
    problem: &Tiles,
    ladder: &[rung!("tiles/v1_fed", fed, &[])],
    choices: &[TILE],
    dtypes: &[Dtype::F32, Dtype::I32, Dtype::F64],
    ceiling: Bound::AddMin,
};

const TILE: Tunable =
    Tunable { name: "tile", about: "results of a group, rows x columns", values: &["64x64", "64x128", "128x128"] };

/// k in local memory.
const DEPTH: usize = 16;
/// Times that a tile is lowered by them.
const REPEATED: u64 = 256;

struct Tiles;

impl Problem for Tiles {
    fn inputs(&self, _: Shape, params: &Params) -> Vec<usize> {
        let [rows, columns] = tile(params).unwrap_or([64, 64]);
        vec![DEPTH * (rows + columns)]
    }

    fn result(&self, shape: Shape, _: &Params) -> usize {
        shape.n as usize
    }

    // Small whole numbers, of which every sum is exact.
    fn fill(&self, _: &Case) -> Fill {
        Fill::Exact(64)
    }

    fn is_exact(&self, _: &Case) -> bool {
        true
    }

    fn cost(&self, case: &Case) -> Cost {
        pairs_cost(case, DEPTH as u64 * REPEATED)
    }

    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference {
        let [rows, columns] = tile(&case.params).unwrap_or([64, 64]);
        let lowest = lowest(&widened(&inputs[0]), rows, columns);
        exactly(case.dtype, lowest.into_iter().cycle().take(case.shape.n as usize).collect())
    }
}

/// A tile's results: the least sums of the panels' elements, of which each row holds two k in turn, swapped in the second.
fn lowest(panels: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    let (xs, ys) = panels.split_at(DEPTH * rows);
    let x = |k: usize, i: usize| xs[k / 2 * 2 * rows + 2 * i + k % 2];
    let y = |k: usize, j: usize| ys[k / 2 * 2 * columns + 2 * j + 1 - k % 2];
    let least = |i, j| (0..DEPTH).map(|k| 200.0 + x(k, i) + y(k, j)).fold(f64::INFINITY, f64::min);
    (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))).map(|(i, j)| least(i, j)).collect()
}

fn tile(params: &Params) -> Result<[usize; 2], Refusal> {
    let tile = shape::pair(params, &TILE)?.map(|[rows, columns]| format!("{rows}x{columns}"));
    match tile.as_deref() {
        None | Some("64x64") => Ok([64, 64]),
        Some("64x128") => Ok([64, 128]),
        Some("128x128") => Ok([128, 128]),
        Some(other) => Err(Refusal(format!("tile={other}: {} is needed", TILE.values.join(", ")))),
    }
}

fn fed(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let Case { dtype, shape, params, .. } = ask.case;
    let (dtype, [rows, columns]) = (*dtype, tile(params)?);
    let tiles = shape.n / (rows * columns) as u64;
    if tiles * (rows * columns) as u64 != shape.n {
        return Err(Refusal(format!("n = {}: a multiple of a tile's {} results is needed", shape.n, rows * columns)));
    }
    // Half as many rows of doubles fit the registers.
    let item = [if dtype.size() == 8 { 4 } else { 8 }, 8];
    let wg = WorkGroup::linear(rows / item[0] * (columns / item[1]));
    shape::check_wg(wg, ask.target)?;
    let mut defines = shape::defines(shape::signed(dtype), shape.n);
    let numbers = [
        ("VEC", 16 / dtype.size()),
        ("TILE_ROWS", rows),
        ("TILE_COLUMNS", columns),
        ("ITEM_ROWS", item[0]),
        ("ITEM_COLUMNS", item[1]),
        ("DEPTH", DEPTH),
    ];
    defines.extend(numbers.map(|(name, value)| (name.into(), value.to_string())));
    defines.extend(minplus::pair_macros(dtype, false, ask.target).iter().map(|(k, v)| ((*k).into(), v.to_string())));
    defines.extend(minplus::element_macros(dtype, ask.target).map(|(name, value)| (name.into(), value.into())));
    let args = vec![Arg::Buffer(0), Arg::Buffer(1), Arg::Uint(REPEATED as u32), Arg::Uint(0), Arg::Int(1)];
    let buffer = |role, len| BufferSpec { role, dtype, len };
    Ok(Plan {
        defines,
        buffers: vec![buffer(Role::Input(0), DEPTH * (rows + columns)), buffer(Role::Output, shape.n as usize)],
        passes: vec![shape::pass(&ask.rung.kernel(), Grid::covering(wg.size(), tiles * wg.size() as u64), args)],
        wg,
        params: params.clone(),
        local_bytes: (DEPTH * (rows + columns) * dtype.size()) as u64,
        depth: 0,
        host_tail: None,
    })
}

//! The transposition of a matrix, out of place: out[x][y] = in[y][x].
//!
//! The first four rungs, and the two copies that they are measured against, are those of G. Ruetsch and
//! P. Micikevicius, "Optimizing Matrix Transpose in CUDA" (NVIDIA, 2009); the others go on to what modern memories
//! and CPU devices need.

use super::shape::{self, number};
use super::*;
use crate::{cpu, rung};

/// The family's entry in the registry.
pub const FAMILY: Family = Family {
    name: "transpose",
    about: "transposition of a matrix, out of place",
    form: Form::Matrix,
    problem: &Transpose,
    references: &[
        rung!("transpose/copy", scalar, &[TILE, ROWS, NREPS]),
        rung!("transpose/local_copy", scalar, &[TILE, ROWS, NREPS]),
    ],
    ladder: &[
        rung!("transpose/v1_naive", scalar, &[TILE, ROWS, NREPS]),
        rung!("transpose/v2_coalesced", scalar, &[TILE, ROWS, NREPS]),
        rung!("transpose/v3_conflict_free", scalar, &[TILE, ROWS, PAD, NREPS]),
        rung!("transpose/v4_diagonal", scalar, &[TILE, ROWS, PAD, DIAGONAL, NREPS]),
        rung!("transpose/v5_vectorised", vectors, &[TILE, ROWS, PAD, DIAGONAL, NREPS]),
        rung!("transpose/v6_registers", vectors, &[TILE, ROWS, DIAGONAL, NREPS]),
        rung!("transpose/v7_wide", wide, &[TILE, NREPS]),
    ],
    choices: &[GAP],
    dtypes: &[Dtype::F32, Dtype::I32, Dtype::F64],
    ceiling: Bound::Copy,
};

const TILE: Tunable =
    Tunable { name: "tile", about: "rows and columns of a tile; of v7, rows of a strip", values: &["16", "32", "64"] };
const ROWS: Tunable = Tunable {
    name: "rows",
    about: "rows of a tile that a work-item takes; without it, what the work-group size leaves for each",
    values: &["1", "2", "4", "8", "16"],
};
const PAD: Tunable =
    Tunable { name: "pad", about: "unused elements behind each row of the tile", values: &["0", "1", "2", "4"] };
const DIAGONAL: Tunable =
    Tunable { name: "diagonal", about: "1: groups work along diagonals; 0: along rows", values: &["0", "1"] };
const NREPS: Tunable = Tunable {
    name: "nreps",
    about: "times that the kernel repeats its work inside (--loop inside)",
    values: &["1", "2", "10", "100"],
};
const GAP: Tunable = Tunable {
    name: "gap",
    about: "unused elements behind each row of both matrices: the pitch is the width and the gap",
    values: &["0", "32"],
};

struct Transpose;

impl Problem for Transpose {
    fn inputs(&self, shape: Shape, params: &Params) -> Vec<usize> {
        vec![(shape.n.saturating_add(gap(params)).saturating_mul(shape.m)) as usize]
    }

    fn exact_fill(&self, _: &Case) -> Fill {
        Fill::Bits
    }

    fn cost(&self, case: &Case) -> Cost {
        let elements = case.shape.n as f64 * case.shape.m as f64;
        let repeats = number(&case.params, NREPS.name).ok().flatten().unwrap_or(1);
        // Each element is read once and written once.
        Cost { bytes: 2.0 * elements * case.dtype.size() as f64 * repeats as f64, ops: 0.0 }
    }

    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference {
        let mut exact = Array::zeros(case.dtype, movement(case).output_len());
        movement(case).carry_out(&inputs[0], &mut exact);
        Reference { value: 0.0, magnitude: 0.0, exact: Some(exact) }
    }

    fn movement(&self, case: &Case) -> Option<Movement> {
        Some(movement(case))
    }

    fn finish(&self, _: &Case, output: Array, _: &[Array]) -> Array {
        output
    }

    fn baselines(&self) -> &'static [Baseline] {
        cpu::transpose::BASELINES
    }
}

/// Unused elements behind each row; planners refuse what is no number.
fn gap(params: &Params) -> u64 {
    params.get(GAP.name).and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn movement(case: &Case) -> Movement {
    let (columns, rows, gap) = (case.shape.n as usize, case.shape.m as usize, gap(&case.params) as usize);
    let transposed = !FAMILY.references.iter().any(|r| r.variant() == case.variant);
    let to_pitch = gap + if transposed { rows } else { columns };
    Movement { rows, columns, from_pitch: columns + gap, to_pitch, transposed }
}

/// How a square tile is shared out among the work-items of a group.
#[derive(Clone, Copy)]
struct Tiling {
    /// Rows and columns of the tile.
    tile: u64,
    /// Neighbouring columns that a work-item takes at once.
    vector: u64,
    /// Rows that a work-item takes, one after the other or as blocks.
    rows: u64,
}

impl Tiling {
    /// As asked by `tile`, `rows` and the work-group size, in this order.
    fn of(ask: &Ask<'_>, default_tile: u64, vector: u64) -> Result<Tiling, Refusal> {
        let (params, wg) = (&ask.case.params, ask.case.wg);
        let [across, down, _] = wg.0.map(|items| items as u64);
        let given = if down > 1 { Some(across * vector) } else { None };
        let tile = number(params, TILE.name)?.or(given).unwrap_or(default_tile);
        if tile > 1024 || !tile.is_multiple_of(vector) {
            return Err(Refusal(format!("tile={tile}: a multiple of {vector} up to 1024 is needed")));
        }
        let groups_of_rows = match number(params, ROWS.name)? {
            Some(rows) if tile.is_multiple_of(rows) => tile / rows,
            Some(rows) => {
                return Err(Refusal(format!("rows={rows}: a tile of {tile} rows has no whole number of them")));
            }
            None => wg.size() as u64 / (tile / vector).max(1),
        };
        let rows = tile / groups_of_rows.clamp(1, tile);
        let tiling = Tiling { tile, vector, rows };
        let fits_wg = tiling.work_group().size() == wg.size() && (down == 1 || tiling.work_group() == wg);
        match number(params, ROWS.name)? {
            None if !fits_wg => Err(Refusal(format!("work-group {wg}: it has no share of a tile of {tile}x{tile}"))),
            _ => Ok(tiling),
        }
    }

    fn work_group(self) -> WorkGroup {
        WorkGroup([(self.tile / self.vector) as usize, (self.tile / self.rows) as usize, 1])
    }
}

/// Most groups in the second dimension of a launch: what NVIDIA's drivers allow.
const MOST_GROUP_ROWS: u64 = 65_535;

/// A launch with a group for each tile.
struct Tiles {
    columns: u64,
    rows: u64,
    /// Rows of tiles, folded into the third dimension where there are too many.
    folds: u64,
    /// Whether some tile reaches beyond the matrix.
    edges: bool,
}

impl Tiles {
    fn of(shape: Shape, tile: u64) -> Tiles {
        let (columns, rows) = (shape.n.div_ceil(tile), shape.m.div_ceil(tile));
        let folds = rows.div_ceil(MOST_GROUP_ROWS);
        let folded = rows.div_ceil(folds);
        let even = shape.n.is_multiple_of(tile) && shape.m.is_multiple_of(tile) && folded * folds == rows;
        Tiles { columns, rows: folded, folds, edges: !even }
    }
}

/// A plan in the making.
struct Draft<'a> {
    ask: &'a Ask<'a>,
    movement: Movement,
    defines: Vec<(String, String)>,
    params: Params,
    /// Beside the matrices, their sizes and their pitches.
    args: Vec<Arg>,
}

impl<'a> Draft<'a> {
    /// Of a rung that reads or writes `vector` neighbouring elements at once.
    fn new(ask: &'a Ask<'a>, vector: usize) -> Result<Draft<'a>, Refusal> {
        let movement = movement(ask.case);
        let largest = movement.input_len().max(movement.output_len()) as u64;
        let nreps = number(&ask.case.params, NREPS.name)?.unwrap_or(1);
        let mut draft = Draft {
            ask,
            movement,
            defines: shape::defines(shape::wrapping(ask.case.dtype), largest),
            params: Params::new(),
            args: Vec::new(),
        };
        if gap(&ask.case.params) > 0 {
            draft.params.insert(GAP.name.into(), gap(&ask.case.params).to_string());
        }
        if nreps > 1 {
            draft.set(NREPS.name, nreps);
            draft.args.push(Arg::Index(0));
        }
        if movement.from_pitch.is_multiple_of(vector) && movement.to_pitch.is_multiple_of(vector) {
            draft.define("ALIGNED", 1);
        }
        Ok(draft)
    }

    /// Notes a setting, and defines the macro that bears its name.
    fn set(&mut self, name: &str, value: u64) {
        self.params.insert(name.into(), value.to_string());
        self.define(&name.to_uppercase(), value);
    }

    fn define(&mut self, name: &str, value: u64) {
        self.defines.push((name.into(), value.to_string()));
    }

    /// The plan of one launch.
    fn plan(self, wg: WorkGroup, groups: [u64; 3], local_elements: u64) -> Plan {
        let (case, dtype, movement) = (self.ask.case, self.ask.case.dtype, self.movement);
        let sizes = [case.shape.n, case.shape.m, movement.from_pitch as u64, movement.to_pitch as u64];
        let args = [Arg::Buffer(0), Arg::Buffer(1)].into_iter().chain(sizes.map(Arg::Index)).chain(self.args);
        let pass = Pass {
            kernel: self.ask.rung.kernel(),
            global: [0, 1, 2].map(|d| groups[d] as usize * wg.0[d]),
            local: wg.0,
            args: args.collect(),
            timed: true,
        };
        Plan {
            defines: self.defines,
            buffers: vec![
                BufferSpec { role: Role::Input(0), dtype, len: movement.input_len() },
                BufferSpec { role: Role::Output, dtype, len: movement.output_len() },
            ],
            passes: vec![pass],
            wg,
            params: self.params,
            local_bytes: local_elements * dtype.size() as u64,
            depth: 0,
            host_tail: None,
        }
    }
}

fn scalar(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    tiled(ask, Tiling::of(ask, 32, 1)?)
}

fn vectors(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let tiling = Tiling::of(ask, 64, 4)?;
    if ask.rung.variant() == "registers" && !tiling.rows.is_multiple_of(4) {
        return Err(Refusal(format!("{} rows a work-item: its blocks of 4 x 4 need a multiple of 4", tiling.rows)));
    }
    tiled(ask, tiling)
}

/// A group for each tile.
fn tiled(ask: &Ask<'_>, tiling: Tiling) -> Result<Plan, Refusal> {
    let wg = tiling.work_group();
    shape::check_wg(wg, ask.target)?;
    let mut draft = Draft::new(ask, tiling.vector as usize)?;
    draft.set(TILE.name, tiling.tile);
    draft.set(ROWS.name, tiling.rows);
    let tiles = Tiles::of(ask.case.shape, tiling.tile);
    if tiles.edges {
        draft.define("EDGES", 1);
    }
    let reads = |tunable: &Tunable| ask.rung.tunables.iter().any(|t| t.name == tunable.name);
    let pad = if reads(&PAD) { pad(ask)? } else { 0 };
    if reads(&PAD) {
        draft.set(PAD.name, pad);
    }
    if reads(&DIAGONAL) {
        let diagonal = diagonal(ask)?;
        draft.params.insert(DIAGONAL.name.into(), u8::from(diagonal).to_string());
        let square = tiles.columns == tiles.rows * tiles.folds;
        draft.define(
            "DIAGONAL",
            if !diagonal {
                0
            } else if square {
                1
            } else {
                2
            },
        );
    }
    let uses_local = !["copy", "naive"].contains(&ask.rung.variant());
    let local_elements = if uses_local { tiling.tile * (tiling.tile + pad) } else { 0 };
    Ok(draft.plan(wg, [tiles.columns, tiles.rows, tiles.folds], local_elements))
}

fn pad(ask: &Ask<'_>) -> Result<u64, Refusal> {
    match ask.case.params.get(PAD.name) {
        None => Ok(1),
        Some(text) => match text.parse() {
            Ok(pad) if pad <= 64 => Ok(pad),
            _ => Err(Refusal(format!("pad={text}: a whole number up to 64 is needed"))),
        },
    }
}

fn diagonal(ask: &Ask<'_>) -> Result<bool, Refusal> {
    match ask.case.params.get(DIAGONAL.name).map(String::as_str) {
        None => Ok(ask.rung.variant() == "diagonal"),
        Some("0") => Ok(false),
        Some("1") => Ok(true),
        Some(other) => Err(Refusal(format!("diagonal={other}: 0 or 1 is needed"))),
    }
}

/// Work-groups of one item, each with a part of a strip of `tile` rows.
fn wide(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    const BLOCK: u64 = 16;
    shape::check_wg(ask.case.wg, ask.target)?;
    let tile = number(&ask.case.params, TILE.name)?.unwrap_or(64);
    if !tile.is_multiple_of(BLOCK) {
        return Err(Refusal(format!("tile={tile}: a strip needs a multiple of {BLOCK} rows")));
    }
    let Shape { n: width, m: height } = ask.case.shape;
    let strips = height.div_ceil(tile);
    let wanted = if ask.target.gpu { 2048 } else { 16 } * u64::from(ask.target.compute_units.max(1));
    let span = width.div_ceil(wanted.div_ceil(strips)).next_multiple_of(BLOCK);
    let parts = width.div_ceil(span);
    let mut draft = Draft::new(ask, BLOCK as usize)?;
    draft.set(TILE.name, tile);
    draft.args.splice(0..0, [Arg::Index(parts), Arg::Index(span)]);
    Ok(draft.plan(WorkGroup::linear(1), [strips * parts, 1, 1], 0))
}

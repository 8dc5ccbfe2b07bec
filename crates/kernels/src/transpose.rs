//! The transposition of a matrix, out of place: `out[x][y] = in[y][x]`.
//!
//! The first four rungs, and the two copies that they are measured against, are those of G. Ruetsch and
//! P. Micikevicius, "Optimizing Matrix Transpose in CUDA" (NVIDIA, 2009); the others go on to what modern memories
//! and CPU devices need.

use crate::prelude::*;
use crate::{APART, AnyProblem, Baseline, Rung};
use gpulab_cpu::transpose::{self as host, gap};
use gpulab_model::named_enum;
use gpulab_model::plan::{Movement, REPEATS, WorkGroup};
use std::borrow::Cow;

pub static FAMILY: Family = Family {
    name: Cow::Borrowed("transpose"),
    about: Cow::Borrowed("transposition of a matrix, out of place"),
    form: Form::Matrix,
    problem: AnyProblem::Referenced(&Transpose, &REFERENCES),
    ladder: Cow::Borrowed(&ladder([
        rung("transpose/naive.cl", scalar, &[TILE, ROWS, NREPS]),
        rung("transpose/coalesced.cl", scalar, &[TILE, ROWS, NREPS]),
        rung(
            "transpose/conflict_free.cl",
            scalar,
            &[TILE, ROWS, PAD, NREPS],
        ),
        rung(
            "transpose/diagonal.cl",
            scalar,
            &[TILE, ROWS, PAD, ORDER, NREPS],
        ),
        rung(
            "transpose/vectorised.cl",
            vectorised,
            &[TILE, ROWS, PAD, ORDER, NREPS],
        ),
        rung(
            "transpose/registers.cl",
            registers,
            &[TILE, ROWS, VEC, ORDER, STREAM, SKEW, NREPS],
        )
        .with(&["transpose/skewed.cl"]),
        rung("transpose/wide.cl", wide, &[TILE, RUN, NREPS]),
    ])),
    choices: &[GAP],
    dtypes: Cow::Borrowed(&[Dtype::F32, Dtype::I32, Dtype::F64]),
    ceiling: Bound::Copy,
};

static REFERENCES: [Rung; 2] = [
    rung("transpose/copy.cl", scalar, &[TILE, ROWS, NREPS]),
    rung("transpose/local_copy.cl", scalar, &[TILE, ROWS, NREPS]),
];

const TILE: Tunable = Tunable::number(
    "tile",
    "rows and columns of a tile; of wide, rows of a strip",
    (1, 1 << 16),
    "16 32 64",
)
.by_default(
    "as wide as a two-dimensional --wg says, else 32; vectorised: 64, registers: 64, of 8-byte elements 32, wide: 256",
);
const RUN: Tunable = Tunable::number(
    "run",
    "elements read from a row before the next rows",
    (16, 1 << 16),
    "64 128 256 512 1024",
)
.by_default("128; on a CPU device as many as fill 2048 bytes");
const ROWS: Tunable = Tunable::number(
    "rows",
    "rows of a tile that a work-item takes, which decides the work-group size",
    (1, 1024),
    "1 2 4 8 16",
)
.by_default("what --wg leaves for each; registers has its own");
const PAD: Tunable = Tunable::number(
    "pad",
    "unused elements behind each row of a tile",
    (0, 64),
    "0 1 2 4",
)
.by_default("1");
const VEC: Tunable = Tunable::choice(
    "vec",
    "rows and columns of the blocks that a work-item transposes in registers",
    "1 2 4",
)
.by_default("by the sizes");
const ORDER: Tunable = Tunable::choice(
    "order",
    "how the tiles of neighbouring groups lie: along rows, down columns, along diagonals",
    "rows columns diagonal",
)
.by_default("rung diagonal: diagonal; other rungs: columns");
const STREAM: Tunable = Tunable::switch(
    "stream",
    "1: bypass the L1 cache with NVIDIA's 16-byte instructions",
)
.by_default("1 where the device can");
const SKEW: Tunable = Tunable::switch(
    "skew",
    "1: each output row of a tile begins at an aligned vector, 0: all begin at the same element",
)
.by_default(
    "1 on NVIDIA for over 8 MiB in rows of odd length, unless vec, rows or stream are given",
);
const NREPS: Tunable = Tunable::number(
    REPEATS,
    "times that the kernel repeats its work inside (--loop inside)",
    (1, MOST_NREPS),
    "1 2 10 100",
)
.by_default("10")
.unsearched();
const GAP: Tunable = Tunable::number(
    host::GAP,
    "unused elements behind each row of both matrices: the pitch is the width and the gap",
    (0, MOST_GAP),
    "0 32",
)
.by_default("0");

/// Most unused elements behind a row.
const MOST_GAP: u64 = 1 << 20;

/// Most repetitions inside a kernel: no launch may take for ever.
pub const MOST_NREPS: u64 = 10_000;

struct Transpose;

impl Problem for Transpose {
    fn inputs(&self, shape: Shape, params: &Params) -> Vec<usize> {
        vec![repeated(host::movement(shape, params), params).input_len()]
    }

    fn result(&self, shape: Shape, params: &Params) -> usize {
        repeated(host::movement(shape, params), params).output_len()
    }

    fn fill(&self, _: &Case) -> Fill {
        Fill::Bits
    }

    fn counted(&self) -> &'static str {
        "every element read once and written once"
    }

    fn cost(&self, case: &Case) -> Cost {
        let elements = case.shape.n as f64 * case.shape.m as f64;
        let repeats = NREPS.get(&case.params).ok().flatten().unwrap_or(1);
        // Each element is read once and written once.
        Cost {
            bytes: 2.0 * elements * case.dtype.size() as f64 * repeats as f64,
            ops: 0.0,
        }
    }

    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference {
        let mut exact = Array::zeros(case.dtype, movement(case).output_len());
        movement(case).carry_out(&inputs[0], &mut exact);
        Reference::Exact(exact)
    }

    fn movement(&self, case: &Case) -> Option<Movement> {
        Some(movement(case))
    }

    /// Of a kernel that repeats its work, the same work over several matrices; of large ones over smaller ones, whose sides
    /// leave the same remainders.
    fn companions(&self, case: &Case, plan: &Plan) -> Vec<Case> {
        let repeats = NREPS.get(&plan.params).ok().flatten().unwrap_or(1);
        if repeats < 2 {
            return Vec::new();
        }
        let tile = TILE.get(&plan.params).ok().flatten().unwrap_or(1).max(16);
        let shape = match case.shape {
            whole if repeats.saturating_mul(whole.elements()) <= MOST_APART => whole,
            Shape { n, m } => {
                let [n, m] = [n, m].map(|side| side.min(tile + side % tile));
                Shape { n, m }
            }
        };
        // Of large tiles not more data than the case itself has.
        let most = case.shape.elements().max(MOST_APART) / shape.elements().max(1);
        let mut params = plan.params.clone();
        params.insert(APART.into(), "1".into());
        params.insert(NREPS.name.into(), repeats.min(most.max(2)).to_string());
        vec![Case {
            shape,
            params,
            ..case.clone()
        }]
    }

    fn baselines(&self) -> &'static [Baseline] {
        host::BASELINES
    }
}

/// What moves where; the references only copy.
fn movement(case: &Case) -> Movement {
    let movement = repeated(host::movement(case.shape, &case.params), &case.params);
    match REFERENCES.iter().any(|r| r.variant() == case.variant) {
        // Its matrices lie as far apart as those of a transposition, whose inputs it has.
        true => Movement {
            to_pitch: movement.from_pitch,
            transposed: false,
            ..movement
        },
        false => movement,
    }
}

/// As many matrices as there are repetitions, if each is to have its own.
fn repeated(movement: Movement, params: &Params) -> Movement {
    match NREPS.get(params) {
        Ok(Some(repeats)) if params.contains_key(APART) => movement.repeated(repeats as usize),
        _ => movement,
    }
}

/// Elements of what a companion moves at most, unless the case itself moves more.
const MOST_APART: u64 = 1 << 22;

/// Whether every row of both matrices begins at a whole vector of `vector` elements.
fn is_aligned(ask: &Ask<'_>, vector: u64) -> bool {
    let movement = movement(ask.case);
    [movement.from_pitch, movement.to_pitch]
        .iter()
        .all(|pitch| pitch.is_multiple_of(vector as usize))
}

/// The plan's start, of a rung that reads or writes `vector` neighbouring elements at once.
fn start<'a>(ask: &'a Ask<'a>, vector: u64) -> Result<Builder<'a>, Refusal> {
    let params = &ask.case.params;
    let movement = movement(ask.case);
    GAP.get(params)?;
    let largest = movement.input_len().max(movement.output_len()) as u64;
    let mut plan = Builder::new(ask, shape::wrapping(ask.case.dtype), largest);
    if gap(params) > 0 {
        plan.note(GAP.name, gap(params));
    }
    if let Some(nreps) = NREPS.get(params)?.filter(|&nreps| nreps > 1) {
        plan.set(NREPS.name, nreps);
    }
    if is_aligned(ask, vector) {
        plan.define("ALIGNED", 1);
    }
    Ok(plan)
}

/// A group for each tile, in the order asked for or else this one.
fn set_tile(
    plan: &mut Builder<'_>,
    tile: SquareTile,
    order: GroupOrder,
) -> Result<[u64; 3], Refusal> {
    let ask = plan.ask;
    plan.set(TILE.name, tile.side);
    plan.set(ROWS.name, tile.rows);
    let asked = if ask.reads(&ORDER) {
        ORDER.given(&ask.case.params)?
    } else {
        None
    };
    let order = asked.and_then(GroupOrder::named).unwrap_or(order);
    let tiles = Tiles::of(ask.case.shape, tile.side, order);
    if !ask.reads(&ORDER) && tiles.groups[2] > 1 {
        let rows = ask.case.shape.m.div_ceil(tile.side);
        let why = format!(
            "{rows} rows of tiles: this rung launches at most {MOST_GROUP_ROWS}: choose a larger --tile or a later rung"
        );
        return Err(Refusal::Size(why));
    }
    if tiles.edges {
        plan.define("EDGES", 1);
    }
    if ask.reads(&ORDER) {
        plan.note(ORDER.name, order.name());
        plan.define("ORDER", tiles.order);
    }
    Ok(tiles.groups)
}

/// Notes the padding, where the rung has one.
fn set_pad(plan: &mut Builder<'_>, pad: u64) {
    if plan.ask.reads(&PAD) {
        plan.set(PAD.name, pad);
    }
}

/// The plan of one launch, if the work-group fits the device. It takes the matrices, their sizes and their pitches, `more`,
/// and from where one repetition begins to where the next one does.
fn launch(
    mut plan: Builder<'_>,
    groups: [u64; 3],
    wg: WorkGroup,
    more: &[Arg],
    local_elements: u64,
) -> Planned {
    let case = plan.ask.case;
    let movement = movement(plan.ask.case);
    shape::check_wg(wg, plan.ask.target)?;
    let output = plan.output(movement.output_len());
    let sizes = [
        case.shape.n,
        case.shape.m,
        movement.from_pitch as u64,
        movement.to_pitch as u64,
    ];
    let repeats = NREPS.get(&case.params)?.is_some_and(|nreps| nreps > 1);
    let skip = repeats.then_some(Arg::Index(movement.skip as u64));
    let more = sizes
        .map(Arg::Index)
        .into_iter()
        .chain(more.iter().copied());
    let args = plan.args([output].into_iter().chain(more).chain(skip));
    plan.launch(groups, wg, args);
    Ok(plan.plan(local_elements, 0))
}

fn scalar(ask: &Ask<'_>) -> Planned {
    let tile = SquareTile::of(ask, 32, 1)?;
    let pad = pad(ask)?;
    let mut plan = start(ask, 1)?;
    let order = if ask.rung.variant() == "diagonal" {
        GroupOrder::Diagonal
    } else {
        GroupOrder::Rows
    };
    let groups = set_tile(&mut plan, tile, order)?;
    set_pad(&mut plan, pad);
    let uses_local = !["copy", "naive"].contains(&ask.rung.variant());
    let local_elements = if uses_local {
        tile.side * (tile.side + pad)
    } else {
        0
    };
    launch(plan, groups, tile.work_group(), &[], local_elements)
}

fn vectorised(ask: &Ask<'_>) -> Planned {
    let tile = SquareTile::of(ask, 64, 4)?;
    let pad = pad(ask)?;
    let mut plan = start(ask, 4)?;
    // Neighbouring groups then write neighbouring pieces of the same rows: on an H200 up to 6 % faster on large matrices.
    let groups = set_tile(&mut plan, tile, GroupOrder::Columns)?;
    set_pad(&mut plan, pad);
    launch(
        plan,
        groups,
        tile.work_group(),
        &[],
        tile.side * (tile.side + pad),
    )
}

fn registers(ask: &Ask<'_>) -> Planned {
    if is_skewed(ask)? {
        return skewed(ask);
    }
    let tile = blocks(ask)?;
    let vec = tile.vector;
    let mut plan = start(ask, vec)?;
    let groups = set_tile(&mut plan, tile, GroupOrder::Columns)?;
    plan.set(VEC.name, vec);
    let can_stream =
        ask.target.nvidia && is_aligned(ask, vec) && vec * ask.case.dtype.size() as u64 == 16;
    let streams = STREAM.is_on(&ask.case.params)?.unwrap_or(true) && can_stream;
    plan.note(STREAM.name, u8::from(streams));
    if streams {
        plan.define("STREAM", 1);
    }
    launch(
        plan,
        groups,
        WorkGroup::linear(tile.work_group().size()),
        &[],
        tile.side * tile.side,
    )
}

/// Whether it is an NVIDIA GPU, and the input has more than so many MiB: where an H200's preferences change.
fn is_beyond(ask: &Ask<'_>, mib: usize) -> bool {
    ask.target.nvidia && movement(ask.case).input_len() * ask.case.dtype.size() > mib << 20
}

/// Bytes that NVIDIA's memory moves at least.
const SECTOR: u64 = 32;

/// Whether `registers` shifts its tiles by what each row of the output begins beside a whole vector.
fn is_skewed(ask: &Ask<'_>) -> Result<bool, Refusal> {
    let params = &ask.case.params;
    let is_free = [&VEC, &ROWS, &STREAM]
        .iter()
        .all(|tunable| !params.contains_key(tunable.name));
    let repeats = NREPS.get(params)?.is_some_and(|nreps| nreps > 1);
    match SKEW.is_on(params)? {
        Some(true) if repeats => Err(Refusal::Setting(
            "skew=1: its work cannot be repeated inside".into(),
        )),
        Some(skew) => Ok(skew),
        None => {
            let is_odd = is_beyond(ask, 8) && !is_aligned(ask, 2);
            Ok(is_odd && is_free && !repeats && can_skew(skewed_side(ask)?, ask.case.dtype))
        }
    }
}

/// Columns of a skewed tile, and rows of the output that it writes of each.
fn skewed_side(ask: &Ask<'_>) -> Result<u64, Refusal> {
    Ok(TILE
        .get(&ask.case.params)?
        .unwrap_or(256 / ask.case.dtype.size() as u64))
}

/// Whether tiles with such a side can be skewed: each row of items writes whole vectors of as many columns as a sector has.
fn can_skew(side: u64, dtype: Dtype) -> bool {
    side.is_power_of_two() && (least_skewed(dtype)..=1024).contains(&side)
}

/// The smallest side of a skewed tile.
fn least_skewed(dtype: Dtype) -> u64 {
    let size = dtype.size() as u64;
    SECTOR / size * (16 / size)
}

/// `registers` where rows begin at no whole vector: an item for each column of a sector's worth of rows.
fn skewed(ask: &Ask<'_>) -> Planned {
    let params = &ask.case.params;
    let size = ask.case.dtype.size() as u64;
    let sector = SECTOR / size;
    let vector = 16 / size;
    let side = skewed_side(ask)?;
    if !can_skew(side, ask.case.dtype) {
        let least = least_skewed(ask.case.dtype);
        return Err(Refusal::Setting(format!(
            "tile={side}: with skew=1 a power of two from {least} to 1024 is needed"
        )));
    }
    let tile = SquareTile {
        side,
        vector: 1,
        rows: side / sector,
    };
    for (tunable, only) in [(&VEC, vector), (&ROWS, tile.rows), (&STREAM, 0)] {
        if tunable.get(params)?.is_some_and(|asked| asked != only) {
            return Err(Refusal::Setting(format!(
                "skew=1 goes with {}={only}",
                tunable.name
            )));
        }
    }
    let mut plan = start(ask, vector)?;
    let groups = set_tile(&mut plan, tile, GroupOrder::Columns)?;
    plan.set(VEC.name, vector);
    plan.note(SKEW.name, 1);
    plan.define("SKEWED", sector);
    launch(
        plan,
        groups,
        WorkGroup::linear(tile.work_group().size()),
        &[],
        (side + sector) * (side + 1),
    )
}

/// The tile of `registers`, which has a work-group size of its own. What it takes by default was measured on an H200: blocks
/// as wide as the pitches allow, 16 bytes for matrices up to 32 MiB and 8 bytes for larger ones, four times as many
/// work-items in flight making up for them.
fn blocks(ask: &Ask<'_>) -> Result<SquareTile, Refusal> {
    let params = &ask.case.params;
    let size = ask.case.dtype.size() as u64;
    let widest = if is_beyond(ask, 32) && size == 4 {
        2
    } else {
        16 / size
    };
    let fitting = [4, 2]
        .into_iter()
        .find(|&vec| vec <= widest && is_aligned(ask, vec))
        .unwrap_or(1);
    let vector = VEC.get(params)?.unwrap_or(fitting);
    let tile = TILE.get(params)?.unwrap_or(256 / size);
    // Swizzling needs powers of two.
    if !tile.is_power_of_two() || !(vector..=1024).contains(&tile) {
        return Err(Refusal::Setting(format!(
            "tile={tile}: a power of two from {vector} to 1024 is needed"
        )));
    }
    let most_items = (ask.target.max_wg as u64).min(if vector == 4 { 256 } else { 512 });
    let fewest_rows = (tile * tile / vector / most_items)
        .next_power_of_two()
        .clamp(vector, tile);
    let rows = ROWS.get(params)?.unwrap_or(fewest_rows);
    if !rows.is_multiple_of(vector) || !tile.is_multiple_of(rows) {
        return Err(Refusal::Setting(format!(
            "rows={rows}: a multiple of {vector} that divides {tile} is needed"
        )));
    }
    Ok(SquareTile {
        side: tile,
        vector,
        rows,
    })
}

fn pad(ask: &Ask<'_>) -> Result<u64, Refusal> {
    if ask.reads(&PAD) {
        Ok(PAD.get(&ask.case.params)?.unwrap_or(1))
    } else {
        Ok(0)
    }
}

/// Elements of a run of `wide`: on a CPU device 2 KiB, of which 32 rows, asked for ahead, fit a core's L2 cache.
fn default_run(ask: &Ask<'_>) -> u64 {
    const RUN_BYTES: u64 = 2048;
    if ask.target.gpu {
        128
    } else {
        RUN_BYTES / ask.case.dtype.size() as u64
    }
}

/// Work-groups of one item, each with a part of a strip of `tile` rows.
fn wide(ask: &Ask<'_>) -> Planned {
    const BLOCK: u64 = 16;
    shape::check_wg(ask.case.wg, ask.target)?;
    let tile = TILE.get(&ask.case.params)?.unwrap_or(256);
    if !tile.is_multiple_of(BLOCK) {
        return Err(Refusal::Setting(format!(
            "tile={tile}: a strip needs a multiple of {BLOCK} rows"
        )));
    }
    let run = RUN.get(&ask.case.params)?.unwrap_or(default_run(ask));
    if !run.is_multiple_of(BLOCK) {
        return Err(Refusal::Setting(format!(
            "run={run}: a multiple of {BLOCK} elements is needed"
        )));
    }
    let Shape {
        n: width,
        m: height,
    } = ask.case.shape;
    let strips = height.div_ceil(tile);
    let wanted =
        if ask.target.gpu { 2048 } else { 16 } * u64::from(ask.target.compute_units.max(1));
    let span = width
        .div_ceil(wanted.div_ceil(strips))
        .next_multiple_of(BLOCK);
    let parts = width.div_ceil(span);
    let mut plan = start(ask, BLOCK)?;
    plan.set(TILE.name, tile);
    plan.set(RUN.name, run);
    if ask.target.prefetch {
        plan.define("AHEAD", 1);
    }
    launch(
        plan,
        [strips * parts, 1, 1],
        WorkGroup::linear(1),
        &[Arg::Index(parts), Arg::Index(span)],
        0,
    )
}

/// How a square tile is shared out among the work-items of a group.
#[derive(Clone, Copy)]
struct SquareTile {
    /// Its rows, as many as its columns.
    side: u64,
    /// Neighbouring columns that a work-item takes at once.
    vector: u64,
    /// Rows that a work-item takes, one after the other or as blocks.
    rows: u64,
}

impl SquareTile {
    /// As asked by `tile`, `rows` and the work-group size, in this order.
    fn of(ask: &Ask<'_>, default_tile: u64, vector: u64) -> Result<SquareTile, Refusal> {
        let params = &ask.case.params;
        let wg = ask.case.wg;
        let [across, down, _] = wg.0.map(|items| items as u64);
        let given = if down > 1 {
            Some(across * vector)
        } else {
            None
        };
        let tile = TILE.get(params)?.or(given).unwrap_or(default_tile);
        if tile > 1024 || !tile.is_multiple_of(vector) {
            return Err(Refusal::Setting(format!(
                "tile={tile}: a multiple of {vector}, at most 1024, is needed"
            )));
        }
        let groups_of_rows = match ROWS.get(params)? {
            Some(rows) if tile.is_multiple_of(rows) => tile / rows,
            Some(rows) => {
                return Err(Refusal::Setting(format!(
                    "rows={rows}: a tile of {tile} rows has no whole number of them"
                )));
            }
            None => wg.size() as u64 / (tile / vector).max(1),
        };
        let rows = tile / groups_of_rows.clamp(1, tile);
        let shared = SquareTile {
            side: tile,
            vector,
            rows,
        };
        let fits_wg =
            shared.work_group().size() == wg.size() && (down == 1 || shared.work_group() == wg);
        match ROWS.get(params)? {
            None if !fits_wg => Err(Refusal::Group(format!(
                "work-group {wg}: its items cannot share out a tile of {tile}x{tile} evenly: choose a multiple of {}, or --rows",
                tile / vector
            ))),
            _ => Ok(shared),
        }
    }

    fn work_group(self) -> WorkGroup {
        WorkGroup([
            (self.side / self.vector) as usize,
            (self.side / self.rows) as usize,
            1,
        ])
    }
}

/// Most groups in the second dimension of a launch: what NVIDIA's drivers allow.
const MOST_GROUP_ROWS: u64 = 65_535;

named_enum! {
    #[derive(Clone, Copy, PartialEq)]
    enum GroupOrder {
        Rows = "rows",
        Columns = "columns",
        Diagonal = "diagonal",
    }
}

struct Tiles {
    groups: [u64; 3],
    /// Whether some tile reaches beyond the matrix.
    edges: bool,
    /// The macro ORDER: see `cl/transpose/matrix.cl`.
    order: u64,
}

impl Tiles {
    fn of(shape: Shape, tile: u64, order: GroupOrder) -> Tiles {
        let columns = shape.n.div_ceil(tile);
        let rows = shape.m.div_ceil(tile);
        let (first, second) = if order == GroupOrder::Columns {
            (rows, columns)
        } else {
            (columns, rows)
        };
        let folds = second.div_ceil(MOST_GROUP_ROWS);
        let folded = second.div_ceil(folds);
        let even = shape.n.is_multiple_of(tile)
            && shape.m.is_multiple_of(tile)
            && folded * folds == second;
        let order = match order {
            GroupOrder::Rows => 0,
            GroupOrder::Columns => 1,
            GroupOrder::Diagonal if first == folded * folds => 2,
            GroupOrder::Diagonal => 3,
        };
        Tiles {
            groups: [first, folded, folds],
            edges: !even,
            order,
        }
    }
}

/// The macros of the loop; in front of a rung whose work is repeated.
pub(crate) const REPEAT_MACROS: &str = "transpose/repeat.cl";

/// The text with this kernel's work in the loop, which begins behind its `__local` memory; with no line more or less. None if
/// there is no such kernel.
pub fn looped(text: &str, kernel: &str) -> Option<String> {
    let begin = text.find(&format!("{kernel}("))? + kernel.len();
    let bracket = begin + closing(&text[begin..], ['(', ')'])?;
    let brace = bracket + text[bracket..].find('{')?;
    let end = brace + closing(&text[brace..], ['{', '}'])?;
    let body = &text[brace + 1..end];
    let lines = body.split_inclusive('\n').scan(0, |at, line| {
        *at += line.len();
        Some((*at, line))
    });
    let memory = lines
        .filter(|(_, line)| line.trim_start().starts_with("__local "))
        .last();
    let (start, sync) = match memory {
        Some((behind, line)) => (
            behind - (line.len() - line.trim_end().len()),
            " REPEAT_SYNC;",
        ),
        None => (0, ""),
    };
    let parameters = &text[..bracket];
    let kept = &body[..start];
    let work = &body[start..];
    let between = &text[bracket..=brace];
    Some(format!(
        "{parameters} REPEAT_ARGS{between}{kept} REPEAT {{{work}{sync} }}{}",
        &text[end..]
    ))
}

/// Where the bracket closes that a text begins with.
fn closing(text: &str, [open, close]: [char; 2]) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(at, letter)| {
        depth += i32::from(letter == open) - i32::from(letter == close);
        (letter == close && depth == 0).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_rows_of_groups_are_folded() {
        let tiles = |n, m, order| Tiles::of(Shape { n, m }, 32, order);
        assert_eq!(
            tiles(64, 32 * 65_535, GroupOrder::Rows).groups,
            [2, 65_535, 1]
        );
        let folded = tiles(64, 32 * 65_536, GroupOrder::Rows);
        assert_eq!((folded.groups, folded.edges), ([2, 32_768, 2], false));
        let uneven = tiles(64, 32 * 131_071, GroupOrder::Rows);
        assert_eq!(
            (uneven.groups, uneven.edges),
            ([2, 43_691, 3], true),
            "two groups too many have nothing to do"
        );
        assert_eq!(
            tiles(32 * 65_536, 64, GroupOrder::Columns).groups,
            [2, 32_768, 2]
        );
    }

    #[test]
    fn diagonals_of_a_square_have_the_shorter_form() {
        let order = |n, m, order| Tiles::of(Shape { n, m }, 32, order).order;
        assert_eq!(
            [
                order(64, 96, GroupOrder::Rows),
                order(64, 96, GroupOrder::Columns)
            ],
            [0, 1]
        );
        assert_eq!(
            [
                order(96, 96, GroupOrder::Diagonal),
                order(64, 96, GroupOrder::Diagonal)
            ],
            [2, 3]
        );
    }

    #[test]
    fn the_loop_stands_around_the_work_and_local_memory_outside() {
        let kernel = "void f(int x);\n__kernel void k(__global T *in,\n              __global T *out)\n{\n    out[f(0)] = in[0];\n}\nrest\n";
        let said = "void f(int x);\n__kernel void k(__global T *in,\n              __global T *out REPEAT_ARGS)\n{ REPEAT {\n    out[f(0)] = in[0];\n }}\nrest\n";
        assert_eq!(looped(kernel, "k").as_deref(), Some(said));
        assert_eq!(looped(kernel, "other"), None);
        let kernel =
            "__kernel void k()\n{\n    __local T t[1];\n    if (a) {\n        b;\n    }\n}\n";
        let said = "__kernel void k( REPEAT_ARGS)\n{\n    __local T t[1]; REPEAT {\n    if (a) {\n        b;\n    }\n REPEAT_SYNC; }}\n";
        assert_eq!(looped(kernel, "k").as_deref(), Some(said));
    }
}

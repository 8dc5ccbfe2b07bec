//! The min-plus (tropical) product of a matrix with itself, the step of the shortcut problem: `r[i][j]` is the least of all
//! `d[i][k] + d[k][j]`. Sums take the place of a matrix product's products, and minima that of its sums.
//!
//! The rungs up to `local` are those of chapter 4 of J. Suomela, "Programming Parallel Computers" (Aalto University); the others
//! go on to tiles that fill a modern GPU's registers, to its three-way minimum, and to what CPU devices need.

use super::shape;
use crate::{
    Ask, Baseline, Bound, Builder, BuiltInFamily, Changed, Family, Form, Planned, Problem, Spot,
    Tunable, ladder_from, rung,
};
use gpulab_cpu::minplus as host;
use gpulab_model::data::{self, Array, Change, Dtype, Fill, Params, Shape};
use gpulab_model::plan::{Arg, Case, Cost, Plan, Reference, Refusal, Target, WorkGroup};

pub static FAMILY: Family = BuiltInFamily {
    name: "minplus",
    about: "the min-plus product of a matrix with itself: all distances with one stop",
    form: Form::Square,
    problem: &MinPlus,
    ladder: const {
        &ladder_from(
            0,
            [
                rung("minplus/naive.cl", single, &[]),
                rung("minplus/coalesced.cl", single, &[]),
                rung("minplus/registers.cl", registers, &[]).with(&["minplus/panels.cl"]),
                rung("minplus/local.cl", registers, &[DEPTH]).with(&["minplus/panels.cl"]),
                rung("minplus/tiled.cl", tiled, &[TILE, ITEM, DEPTH, BUFFERS]),
                rung(
                    "minplus/three_way.cl",
                    three_way,
                    &[TILE, ITEM, DEPTH, BUFFERS, SPLIT, ASYNC],
                ),
                rung("minplus/wide.cl", wide, &[VEC, ITEM, DEPTH]),
            ],
        )
    },
    choices: &[WEIGHTS],
    dtypes: &[Dtype::F32, Dtype::I32, Dtype::F64],
    ceiling: Bound::AddMin,
}
.family();

/// The choice of [`FAMILY`] that says whether weights may be negative.
pub const WEIGHTS: Tunable = Tunable::choice(
    "weights",
    "the edges' weights: at least 0; or of either sign (three_way then compares floats)",
    "non_negative signed",
)
.by_default("non_negative");
pub(crate) const DEPTH: Tunable = Tunable::number(
    "depth",
    "rows of a panel staged at once",
    (1, 1024),
    "4 8 16 32",
)
.by_default("local: 8, wide: 256, else by the size");
pub(crate) const BLOCK: Tunable = Tunable::number(
    "block",
    "nodes that a step of the closure lets paths pass",
    (32, 1024),
    "64 128 256",
)
.by_default("128; of blocked in f64 or on a CPU 64");
pub(crate) const TILE: Tunable = Tunable::pair(
    "tile",
    "results of a work-group, rows x columns",
    "64x64 128x64 128x128 256x128",
)
.by_default("by the size");
pub(crate) const ITEM: Tunable = Tunable::pair(
    "item",
    "results of a work-item, rows x columns; of wide rows x vectors",
    "4x2 6x2 8x2 4x4 8x4 8x8 16x8",
)
.by_default("by the device");
pub(crate) const BUFFERS: Tunable = Tunable::number(
    "buffers",
    "pairs of panels in local memory; 2 is double buffering",
    (1, 2),
    "1 2",
)
.by_default("2");
const SPLIT: Tunable = Tunable::number(
    "split",
    "work-groups that share the k of a tile's results",
    (1, 64),
    "1 2 4",
)
.by_default("by the size");
pub(crate) const ASYNC: Tunable = Tunable::switch(
    "async",
    "1: asynchronous copies to local memory (NVIDIA since Ampere), 0: copies through registers",
)
.by_default("1 where the device can");
pub(crate) const VEC: Tunable =
    Tunable::choice("vec", "elements of a vector", "2 4 8 16").by_default("the device's own");

/// Largest sizes at which baselines are timed: beyond them a run takes a minute or more, on a large host too.
const SPARED_ABOVE: [(&str, u64); 3] = [
    ("cpu_sequential", 1500),
    ("cpu_rows", 4096),
    ("cpu_rayon", 20_000),
];

/// Fewest rows of the smaller matrix over which a rung is checked too.
const COMPANION: u64 = 128;

/// Setting of checks: the weights are [`Fill::Turned`], rising or falling, [`Fill::Near`], or [`Fill::Largest`] of either sign.
const DATA: &str = "data";
const RISING: &str = "rising";
const FALLING: &str = "falling";
const NEAR: &str = "near";
const LARGEST: &str = "largest";
const LOWEST: &str = "lowest";

pub(crate) struct MinPlus;

impl Problem for MinPlus {
    fn inputs(&self, shape: Shape, _: &Params) -> Vec<usize> {
        vec![shape.elements() as usize]
    }

    fn result(&self, shape: Shape, _: &Params) -> usize {
        shape.elements() as usize
    }

    fn fill(&self, case: &Case) -> Fill {
        let columns = case.shape.n;
        let signed = is_signed(&case.params);
        match case.params.get(DATA).map(String::as_str) {
            Some(NEAR) => Fill::Near {
                negative: signed,
                small: false,
            },
            Some(LARGEST) => Fill::Largest { negative: false },
            Some(LOWEST) => Fill::Largest { negative: true },
            Some(order) => Fill::Turned {
                columns,
                falling: order == FALLING,
            },
            None => Fill::Weights {
                columns,
                signed,
                severed: true,
            },
        }
    }

    /// A weight that few ways undercut.
    fn decide(
        &self,
        case: &Case,
        inputs: &[Array],
        _: Option<&Reference>,
        _: f64,
        spot: Spot,
    ) -> Vec<Change> {
        let low = if is_signed(&case.params) {
            -2.0 - (spot.draw % 1000) as f64 / 1024.0
        } else {
            0.0
        };
        let dtype = inputs[0].dtype();
        let value = Array::narrowed(dtype, [if dtype.is_float() { low } else { 4096.0 * low }]);
        vec![Change {
            input: 0,
            index: spot.at,
            value,
        }]
    }

    fn amended(
        &self,
        case: &Case,
        inputs: &[Array],
        changes: &[Changed],
        before: &Reference,
    ) -> Reference {
        let n = case.shape.n as usize;
        let Reference::Exact(mut exact) = before.clone() else {
            return self.reference(case, inputs);
        };
        let places: Vec<(usize, usize)> = changes
            .iter()
            .map(|c| c.change.index)
            .map(|at| (at / n, at % n))
            .collect();
        host::recompute(n, &inputs[0], &places, &mut exact);
        Reference::Exact(exact)
    }

    /// Weights of which each decides a result, in one of two cases; weights that are hard to tell apart; the largest that
    /// there can be, which are no missing edges; and weights of either sign and the lowest, of any kernel that has no use for
    /// there being none below 0.
    fn companions(&self, case: &Case, plan: &Plan) -> Vec<Case> {
        let n = case.shape.n.min(COMPANION + case.shape.n % COMPANION);
        let smaller = Form::Square.shape(n, None);
        let mut all = vec![
            (case.shape, vec![(DATA, RISING)]),
            (case.shape, vec![(DATA, FALLING)]),
            (smaller, vec![(DATA, NEAR)]),
            (smaller, vec![(DATA, LARGEST)]),
        ];
        if is_signed(&case.params) {
            all.push((smaller, vec![(DATA, LOWEST)]));
        } else if plan.defines.iter().all(|(name, _)| name != "ORDERED") {
            all.push((smaller, vec![(WEIGHTS.name, "signed")]));
            all.push((smaller, vec![(WEIGHTS.name, "signed"), (DATA, LOWEST)]));
        }
        let companions = all.into_iter().map(|(shape, settings)| {
            let mut params = plan.params.clone();
            params.extend(
                settings
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value.to_owned())),
            );
            Case {
                params,
                shape,
                ..case.clone()
            }
        });
        companions.collect()
    }

    fn beside(&self, _: &Case) -> Fill {
        Fill::Negative
    }

    // The reference takes long, and the turned weights are of the case's own size, with a reference that does not.
    fn second_fill(&self, _: &Case) -> Option<Fill> {
        None
    }

    fn counted(&self) -> &'static str {
        "n^3 pairs of an addition and a minimum"
    }

    fn cost(&self, case: &Case) -> Cost {
        let n = case.shape.n as f64;
        // The matrix is read and the result written; each pair is an addition and a minimum.
        Cost {
            bytes: 2.0 * n * n * case.dtype.size() as f64,
            ops: 2.0 * n * n * n,
        }
    }

    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference {
        let n = case.shape.n as usize;
        let mut exact = Array::zeros(case.dtype, inputs[0].len());
        match self.fill(case) {
            Fill::Turned { columns, .. } => {
                host::turned(n, data::turn(columns) as usize, &inputs[0], &mut exact)
            }
            _ => host::all_threads(n, &inputs[0], &mut exact),
        }
        Reference::Exact(exact)
    }

    fn baselines(&self) -> &'static [Baseline] {
        host::BASELINES
    }

    fn spared(&self, baseline: &Baseline, shape: Shape) -> Option<String> {
        let (_, most) = SPARED_ABOVE
            .iter()
            .find(|(name, most)| *name == baseline.name && shape.n > *most)?;
        Some(format!("it would take minutes: timed up to n = {most}"))
    }
}

pub fn is_signed(params: &Params) -> bool {
    params.get(WEIGHTS.name).is_some_and(|w| w == "signed")
}

/// Whether it matters to the kernels that no weight is below 0.
pub fn heeds_signs(dtype: Dtype) -> bool {
    dtype == Dtype::F32
}

/// Whether lengths are ordered as the integers with their bits.
pub(crate) fn is_ordered(dtype: Dtype, params: &Params) -> bool {
    heeds_signs(dtype) && !is_signed(params)
}

/// How `tiled` and `three_way` share out a tile.
#[derive(Clone, Copy)]
pub(crate) struct Tiling {
    pub tile: [u64; 2],
    pub item: [u64; 2],
    pub depth: u64,
    pub buffers: u64,
}

impl Tiling {
    /// As asked, or else as given.
    pub fn of(ask: &Ask<'_>, default: Tiling) -> Result<Tiling, Refusal> {
        let params = &ask.case.params;
        let tiling = Tiling {
            tile: TILE.get_pair(params)?.unwrap_or(default.tile),
            item: ITEM.get_pair(params)?.unwrap_or(default.item),
            depth: DEPTH.get(params)?.unwrap_or(default.depth),
            buffers: BUFFERS.get(params)?.unwrap_or(default.buffers),
        };
        tiling
            .check(16 / ask.case.dtype.size() as u64)
            .map_err(|why| {
                let Tiling {
                    tile: [rows, columns],
                    item: [high, wide],
                    depth,
                    ..
                } = tiling;
                Refusal::Setting(format!(
                    "tile={rows}x{columns} item={high}x{wide} depth={depth}: {why}"
                ))
            })?;
        Ok(tiling)
    }

    /// Whether whole vectors of so many elements can be shared out evenly.
    fn check(&self, vec: u64) -> Result<(), String> {
        let Tiling {
            tile, item, depth, ..
        } = *self;
        let shares = |stage: u64| stage.is_multiple_of(vec * self.items()[0] * self.items()[1]);
        if item.iter().any(|side| !side.is_multiple_of(vec)) || item[0] * item[1] > 256 {
            return Err(format!(
                "a work-item takes multiples of {vec}, and 256 results at most"
            ));
        }
        if tile
            .iter()
            .zip(item)
            .any(|(tile, item)| !tile.is_multiple_of(item))
        {
            return Err("a tile has no whole number of items".into());
        }
        if !self.items()[0].is_multiple_of(4) || !self.items()[1].is_multiple_of(8) {
            return Err("a work-group needs a multiple of 4 items down and of 8 across".into());
        }
        if !depth.is_multiple_of(2)
            || depth > 64
            || !shares(depth * tile[0])
            || !shares(depth * tile[1])
        {
            return Err(
                "the items of a work-group cannot share the staged elements evenly: try another depth or tile".into()
            );
        }
        Ok(())
    }

    /// Items of a group, down and across.
    fn items(&self) -> [u64; 2] {
        [self.tile[0] / self.item[0], self.tile[1] / self.item[1]]
    }

    pub fn work_group(&self) -> WorkGroup {
        WorkGroup::linear((self.items()[0] * self.items()[1]) as usize)
    }

    /// Rows of panels for `n`.
    pub fn pitch(&self, n: u64) -> u64 {
        n.next_multiple_of([self.tile[1], self.depth, STRIP].into_iter().fold(
            self.tile[0],
            |a: u64, b: u64| {
                (1..=b)
                    .map(|times| a * times)
                    .find(|m| m.is_multiple_of(b))
                    .unwrap_or(a * b)
            },
        ))
    }

    pub fn local_elements(&self) -> u64 {
        self.buffers * self.depth * (self.tile[0] + self.tile[1])
    }

    /// A plan that defines and notes all of it, for rows at most `pitch` elements apart.
    pub fn begin<'a>(&self, ask: &'a Ask<'a>, pitch: u64) -> Result<Builder<'a>, Refusal> {
        let mut plan = begin(ask, pitch)?;
        plan.define("VEC", 16 / ask.case.dtype.size());
        for (name, macros, [rows, columns]) in [
            (TILE.name, "TILE", self.tile),
            (ITEM.name, "ITEM", self.item),
        ] {
            plan.note(name, format!("{rows}x{columns}"));
            plan.define(&format!("{macros}_ROWS"), rows);
            plan.define(&format!("{macros}_COLUMNS"), columns);
        }
        plan.set(DEPTH.name, self.depth);
        plan.set(BUFFERS.name, self.buffers);
        Ok(plan)
    }
}

/// Side of the tiles in which the preparation pads and transposes.
pub(crate) const STRIP: u64 = 32;
/// Rows of items in a group of the preparation.
pub(crate) const STRIP_HEIGHT: usize = 8;

/// A plan for matrices whose rows are at most `pitch` elements apart.
pub(crate) fn begin<'a>(ask: &'a Ask<'a>, pitch: u64) -> Result<Builder<'a>, Refusal> {
    let dtype = ask.case.dtype;
    let mut plan = Builder::new(ask, shape::signed(dtype), pitch.saturating_mul(pitch));
    if WEIGHTS.given(&ask.case.params)? == Some("signed") {
        plan.note(WEIGHTS.name, "signed");
    }
    element_macros(dtype, ask.target)
        .iter()
        .for_each(|(name, value)| plan.define(name, value));
    Ok(plan)
}

/// The macros of `cl/common/smaller.cl` where its defaults are not the best.
pub(crate) fn element_macros(
    dtype: Dtype,
    target: &Target,
) -> &'static [(&'static str, &'static str)] {
    match dtype {
        Dtype::I32 | Dtype::I64 | Dtype::U8 => &[("SMALLER", "min"), ("NO_EDGE", "(INT_MAX/2)")],
        // NVIDIA's GPUs have no instruction for the smaller of two doubles either.
        Dtype::F64 if target.nvidia => &[],
        Dtype::F32 | Dtype::F64 if target.gpu => &[("SMALLER", "fmin")],
        Dtype::F32 | Dtype::F64 => &[],
    }
}

fn matrix(plan: &Builder<'_>) -> usize {
    plan.ask.case.shape.elements() as usize
}

/// One launch that reads the matrix itself.
fn direct(mut plan: Builder<'_>, groups: [u64; 3], wg: WorkGroup) -> Planned {
    shape::check_wg(wg, plan.ask.target)?;
    let result = plan.output(matrix(&plan));
    let args = plan.args([result, Arg::Index(plan.n())]);
    plan.launch(groups, wg, args);
    Ok(plan.plan(0, 0))
}

/// A launch whose items read strips of rows and of columns, which a launch before it makes.
fn stripped(mut plan: Builder<'_>, strip_rows: u64, strip_columns: u64) -> Planned {
    /// Rows of an item: their strips stay in a core's own cache while those of columns pass.
    const ROWS: u64 = 48;
    let one = WorkGroup::linear(1);
    shape::check_wg(one, plan.ask.target)?;
    let n = plan.n();
    let units = u64::from(plan.ask.target.compute_units.max(1));
    let [down, across] = [n.div_ceil(strip_rows), n.div_ceil(strip_columns)];
    let high = ROWS.div_ceil(strip_rows);
    // Enough items for all to end at about the same time.
    let wide = across.div_ceil((64 * units).div_ceil(down.div_ceil(high)));
    let items_across = across.div_ceil(wide);
    let [ys, xs] =
        [across * strip_columns, down * strip_rows].map(|side| plan.scratch((side * n) as usize));
    let result = plan.output(matrix(&plan));
    let args = plan.args([ys, xs, Arg::Index(n)]);
    plan.prepare("strips", [down + across, 1, 1], one, args);
    let args = [ys, xs, result]
        .into_iter()
        .chain([n, items_across, high, wide].map(Arg::Index))
        .collect();
    plan.launch([down.div_ceil(high) * items_across, 1, 1], one, args);
    Ok(plan.plan(0, 0))
}

/// The panels that a launch reads, and how its groups share them.
#[derive(Clone, Copy)]
pub(crate) struct Panels {
    /// From a row to the next, and number of rows: a multiple of what any stage or tile takes.
    pub pitch: u64,
    /// Rows and columns of a tile of results.
    pub tile: [u64; 2],
    /// Whether two rows are interleaved.
    paired: bool,
    /// Groups that share the rows of a tile's panels.
    pub split: u64,
}

/// A launch that reads panels, padded copies of the matrix, which a launch before it makes.
fn panelled(mut plan: Builder<'_>, panels: Panels, wg: WorkGroup, local_elements: u64) -> Planned {
    shape::check_wg(wg, plan.ask.target)?;
    let (n, Panels { pitch, tile, .. }) = (plan.n(), panels);
    let [rows, columns] = [(); 2].map(|()| plan.scratch((pitch * pitch) as usize));
    let result = plan.output(matrix(&plan));
    let sizes = [Arg::Index(n), Arg::Index(pitch)];
    let cleared = panels.paired.then_some(result);
    let args = plan.args([rows, columns].into_iter().chain(cleared).chain(sizes));
    let strips = WorkGroup([STRIP as usize, STRIP_HEIGHT, 1]);
    plan.prepare(
        if panels.paired { "pairs" } else { "panels" },
        [pitch / STRIP, pitch / STRIP, 1],
        strips,
        args,
    );
    let one = panels.paired.then_some(Arg::Int(1));
    let args = [rows, columns, result]
        .into_iter()
        .chain(sizes)
        .chain(one)
        .collect();
    plan.launch(
        [n.div_ceil(tile[1]), n.div_ceil(tile[0]), panels.split],
        wg,
        args,
    );
    Ok(plan.plan(local_elements, 0))
}

/// One result per item, in groups as square as they can be unless they were asked for with two sides.
fn single(ask: &Ask<'_>) -> Planned {
    /// Largest size of which a CPU device's core, which reads each element again and again, needs no minutes.
    const MOST_ON_CPU: u64 = 2500;
    let n = ask.n();
    if !ask.target.gpu && n > MOST_ON_CPU {
        return Err(Refusal::Size(format!(
            "it would take minutes on a CPU device: timed up to n = {MOST_ON_CPU}"
        )));
    }
    let [across, down, deep] = ask.case.wg.0;
    if deep > 1 {
        return Err(Refusal::Group(format!(
            "work-group {}: a matrix has two dimensions",
            ask.case.wg
        )));
    }
    let wg = if down > 1 {
        ask.case.wg
    } else {
        square(across)
    };
    let groups = [n.div_ceil(wg.0[0] as u64), n.div_ceil(wg.0[1] as u64), 1];
    direct(begin(ask, n)?, groups, wg)
}

/// A group of so many items, as square as it can be, and not higher than it is wide.
fn square(size: usize) -> WorkGroup {
    let down = (1..=size.isqrt())
        .rev()
        .find(|side| size.is_multiple_of(*side))
        .unwrap_or(1);
    WorkGroup([size / down, down, 1])
}

/// `registers` and `local`: groups of 8 x 8 items with 8 x 8 results each.
fn registers(ask: &Ask<'_>) -> Planned {
    const ITEM: u64 = 8;
    const TILE: u64 = ITEM * ITEM;
    let pitch = ask.n().next_multiple_of(TILE);
    let mut plan = begin(ask, pitch)?;
    let mut staged = 0;
    if ask.rung.variant() == "local" {
        staged = DEPTH.get(&ask.case.params)?.unwrap_or(8);
        if !TILE.is_multiple_of(staged) {
            return Err(Refusal::Setting(format!(
                "depth={staged}: a divisor of {TILE} is needed"
            )));
        }
        plan.set(DEPTH.name, staged);
    }
    let panels = Panels {
        pitch,
        tile: [TILE; 2],
        paired: false,
        split: 1,
    };
    panelled(
        plan,
        panels,
        WorkGroup([ITEM as usize, ITEM as usize, 1]),
        2 * staged * TILE,
    )
}

fn tiled(ask: &Ask<'_>) -> Planned {
    // The compiler of Intel's driver for CPUs crashes over integers in panels of fewer rows.
    let is_delicate = !ask.target.gpu && ask.case.dtype == Dtype::I32;
    let depth = if is_delicate { 16 } else { 8 };
    let tiling = Tiling::of(
        ask,
        Tiling {
            tile: [128, 128],
            item: [8, 8],
            depth,
            buffers: 2,
        },
    )?;
    if is_delicate && tiling.depth < depth {
        return Err(Refusal::Setting(format!(
            "depth={}: of i32 a CPU device needs {depth} or more",
            tiling.depth
        )));
    }
    let panels = Panels {
        pitch: tiling.pitch(ask.n()),
        tile: tiling.tile,
        paired: false,
        split: 1,
    };
    panelled(
        tiling.begin(ask, panels.pitch)?,
        panels,
        tiling.work_group(),
        tiling.local_elements(),
    )
}

/// The macros of `cl/common/lower.cl`.
pub(crate) fn pair_macros(
    dtype: Dtype,
    params: &Params,
    target: &Target,
) -> &'static [(&'static str, usize)] {
    match dtype {
        _ if is_ordered(dtype, params) => &[("ORDERED", 1)],
        Dtype::I32 if target.nvidia => &[("TWO_PIPELINES", 1)],
        Dtype::F64 if target.nvidia => &[("PREDICATED", 1)],
        _ => &[],
    }
}

/// Defines what kernels of panels have beside their tiles: how sums are compared, and whether copies go on meanwhile.
pub(crate) fn define_pairs(
    plan: &mut Builder<'_>,
    ask: &Ask<'_>,
    tiling: &Tiling,
) -> Result<(), Refusal> {
    let params = &ask.case.params;
    pair_macros(ask.case.dtype, params, ask.target)
        .iter()
        .for_each(|(name, value)| plan.define(name, value));
    let asynchronous =
        ASYNC.is_on(params)?.unwrap_or(true) && ask.target.async_copy && tiling.buffers == 2;
    plan.note(ASYNC.name, u8::from(asynchronous));
    if asynchronous {
        plan.define("ASYNC", 1);
    }
    Ok(())
}

/// The sums of two k at a time. Its defaults were measured on an H200.
fn three_way(ask: &Ask<'_>) -> Planned {
    let n = ask.n();
    let dtype = ask.case.dtype;
    let params = &ask.case.params;
    let can_split = is_ordered(dtype, params) || dtype == Dtype::I32;
    let default = match dtype.size() {
        4 if ask.target.gpu && !can_split && n >= 2048 => Tiling {
            tile: [128, if n < 8192 { 128 } else { 64 }],
            item: [8, 8],
            depth: 16,
            buffers: 2,
        },
        4 => Tiling {
            tile: [64, 64],
            item: [8, 8],
            depth: 16,
            buffers: 2,
        },
        _ => Tiling {
            tile: [32, 64],
            item: [4, 8],
            depth: 16,
            buffers: 2,
        },
    };
    let tiling = Tiling::of(ask, default)?;
    let pitch = tiling.pitch(n);
    let mut plan = tiling.begin(ask, pitch)?;
    define_pairs(&mut plan, ask, &tiling)?;
    let split = SPLIT
        .get(params)?
        .unwrap_or(if ask.target.gpu && n <= 2048 { 2 } else { 1 });
    // Groups that share k meet in an atomic minimum, which there is of integers only.
    let split = if can_split { split } else { 1 };
    plan.note(SPLIT.name, split);
    if split > 1 {
        plan.define("SHARED", 1);
    }
    let panels = Panels {
        pitch,
        tile: tiling.tile,
        paired: true,
        split,
    };
    panelled(plan, panels, tiling.work_group(), tiling.local_elements())
}

/// Elements of a vector, and rows and vectors of an item: as they were asked for, or as the device's vectors are long; `usual`
/// unless these have 64 bytes.
pub(crate) fn vectors_of(ask: &Ask<'_>, usual: [u64; 2]) -> Result<[u64; 3], Refusal> {
    let params = &ask.case.params;
    let lanes = shape::vector_lanes(ask.target, ask.case.dtype);
    let vec = VEC.get(params)?.unwrap_or(lanes);
    let usual = if ask.target.float_lanes >= 16 {
        [8, 2]
    } else {
        usual
    };
    let [rows, vectors] = ITEM.get_pair(params)?.unwrap_or(usual);
    Ok([vec, rows, vectors])
}

/// Groups of one item, each with a part of the rows of a strip of columns.
fn wide(ask: &Ask<'_>) -> Planned {
    let n = ask.n();
    let params = &ask.case.params;
    shape::check_wg(ask.case.wg, ask.target)?;
    // As many results as fit the 16 or, of 64-byte vectors, 32 registers.
    let [vec, rows, vectors] = vectors_of(ask, [6, 2])?;
    if rows * vectors > 64 {
        return Err(Refusal::Setting(format!(
            "item={rows}x{vectors}: at most 64 vectors fit a work-item's registers"
        )));
    }
    let depth = DEPTH.get(params)?.unwrap_or(256);
    let mut plan = begin(ask, n)?;
    plan.set(VEC.name, vec);
    plan.set(DEPTH.name, depth);
    if is_ordered(ask.case.dtype, params) {
        plan.define("ORDERED", 1);
    }
    plan.note(ITEM.name, format!("{rows}x{vectors}"));
    plan.define("ROWS", rows);
    plan.define("VECTORS", vectors);
    stripped(plan, rows, vec * vectors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_model::outcome::fake_info;

    #[test]
    fn every_device_has_its_fastest_rung_and_all_others_behind_it() {
        let names = |family: &'static Family, gpu| {
            family
                .preferred(gpu)
                .iter()
                .map(|rung| rung.variant())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (names(&FAMILY, true)[0], names(&FAMILY, false)[0]),
            ("three_way", "wide")
        );
        assert_eq!(
            (
                names(&crate::closure::FAMILY, true)[0],
                names(&crate::closure::FAMILY, false)[0]
            ),
            ("blocked", "blocked_wide")
        );
        assert_eq!(
            (names(&FAMILY, true).last(), names(&FAMILY, false).len()),
            (Some(&"wide"), FAMILY.ladder.len())
        );
    }

    fn plan(variant: &str, n: u64, params: &[(&str, &str)], gpu: bool) -> Planned {
        let rung = FAMILY.rung(variant).unwrap();
        let case = Case {
            wg: WorkGroup::linear(256),
            params: params
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect(),
            ..Case::of(
                &FAMILY.name,
                variant,
                Dtype::F32,
                Form::Square.shape(n, None),
            )
        };
        FAMILY.plan(
            rung,
            &case,
            &Target {
                gpu,
                ..fake_info().target
            },
        )
    }

    #[test]
    fn what_would_take_minutes_is_refused_on_cpus_only() {
        assert!(
            plan("naive", 2501, &[], false)
                .unwrap_err()
                .to_string()
                .contains("up to n = 2500")
        );
        assert!(
            plan("naive", 2501, &[], true).is_ok() && plan("coalesced", 2500, &[], false).is_ok()
        );
    }

    #[test]
    fn panels_reach_to_whole_tiles_and_stages() {
        let pitch = |n, tile, depth| {
            let plan = plan("tiled", n, &[("tile", tile), ("depth", depth)], true).unwrap();
            (plan.buffers[1].len as u64).isqrt()
        };
        assert_eq!(
            [
                pitch(1, "128x128", "8"),
                pitch(129, "128x128", "8"),
                pitch(100, "64x128", "16")
            ],
            [128, 256, 128]
        );
    }

    #[test]
    fn no_size_overflows() {
        for variant in FAMILY.ladder.iter().map(|r| r.variant()) {
            for n in [(1 << 24) + 1, u64::MAX] {
                assert!(
                    plan(variant, n, &[], true)
                        .unwrap_err()
                        .to_string()
                        .contains("at most"),
                    "{variant}"
                );
            }
            assert!(plan(variant, 1 << 24, &[], true).is_ok(), "{variant}");
        }
    }

    #[test]
    fn groups_are_as_square_as_they_can_be() {
        assert_eq!(
            [1, 7, 32, 64, 256].map(|size| square(size).0),
            [[1; 3], [7, 1, 1], [8, 4, 1], [8, 8, 1], [16, 16, 1]]
        );
    }
}

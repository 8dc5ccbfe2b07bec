//! The min-plus (tropical) product of a matrix with itself, the step of the shortcut problem: `r[i][j]` is the least of all
//! `d[i][k] + d[k][j]`. Sums take the place of a matrix product's products, and minima that of its sums.
//!
//! The rungs up to `local` are those of chapter 4 of J. Suomela, "Programming Parallel Computers" (Aalto University); the others
//! go on to tiles that fill a modern GPU's registers, to its three-way minimum, and to what CPU devices need.

mod closure;
mod launches;
mod rows;
mod settings;
mod tiling;
mod weights;

use super::shape;
use crate::{
    Ask, Baseline, Bound, Builder, BuiltInFamily, Changed, Family, Form, Planned, Problem, Spot, ladder_from, rung,
};
pub use closure::CLOSURE;
use gpulab_cpu::minplus::{self as host, EdgeJoin, Semiring};
use gpulab_model::data::{self, Array, Change, Dtype, Fill, Params, Shape};
use gpulab_model::plan::{Case, Cost, Plan, Reference, Refusal, Target, WorkGroup};
use launches::{Panels, direct, panelled, stripped};
pub(super) use launches::{begin, element_macros};
pub use rows::{MOST_SOURCES, SOME_ROWS, SOURCES};
use settings::{ASYNC, BUFFERS, DEPTH, ITEM, PACKED, SPLIT, TILE, VEC};
pub use settings::{SEMIRING, WEIGHTS};
use tiling::Tiling;
pub use weights::LARGEST_SMALL;
use weights::{invert, outdo, shrink, sparse};

pub static FAMILY: Family = BuiltInFamily {
    name: "minplus",
    about: "the min-plus product of a matrix with itself: all distances with one stop",
    form: Form::Square,
    problem: &MinPlus,
    ladder: const {
        &ladder_from(
            0,
            [
                rung("minplus/naive.cl", single, &[]).between(&OPERATIONS, &[]),
                rung("minplus/coalesced.cl", single, &[]).between(&OPERATIONS, &[]),
                rung("minplus/registers.cl", registers, &[]).between(&OPERATIONS, &["minplus/panels.cl"]),
                rung("minplus/local.cl", registers, &[DEPTH]).between(&OPERATIONS, &["minplus/panels.cl"]),
                rung("minplus/tiled.cl", tiled, &[TILE, ITEM, DEPTH, BUFFERS]),
                rung("minplus/three_way.cl", three_way, &[TILE, ITEM, DEPTH, BUFFERS, SPLIT, ASYNC, PACKED]),
                rung("minplus/wide.cl", wide, &[VEC, ITEM, DEPTH]),
            ],
        )
    },
    choices: &[SEMIRING, WEIGHTS],
    dtypes: &[Dtype::F32, Dtype::I32, Dtype::F64],
    ceiling: Bound::AddMin,
}
.family();

/// What is chosen by and joined by, in front of the kernels that also stand alone.
const OPERATIONS: [&str; 1] = ["common/smaller.cl"];

/// Largest sizes at which baselines are timed: beyond them a run takes a minute or more, on a large host too.
const SPARED_ABOVE: [(&str, u64); 3] = [("cpu_sequential", 1500), ("cpu_rows", 4096), ("cpu_rayon", 20_000)];

/// Fewest rows of the smaller matrix over which a rung is checked too.
const COMPANION: u64 = 128;

/// Setting of checks: the weights are [`Fill::Turned`], rising or falling, [`Fill::Near`], or [`Fill::Largest`] of either sign.
const DATA: &str = "data";
const RISING: &str = "rising";
const FALLING: &str = "falling";
const NEAR: &str = "near";
const LARGEST: &str = "largest";
const LOWEST: &str = "lowest";

struct MinPlus;

impl Problem for MinPlus {
    fn inputs(&self, shape: Shape, _: &Params) -> Vec<usize> {
        vec![shape.elements() as usize]
    }

    fn result(&self, shape: Shape, _: &Params) -> usize {
        shape.elements() as usize
    }

    fn input(&self, case: &Case, index: usize, len: usize, fill: Fill, seed: u64) -> Array {
        let mut d = data::generate(fill, case.dtype, seed, index as u64, 0, len);
        match (Semiring::of(&case.params), fill) {
            (Semiring::MinPlus, _) if is_small(&case.params) => shrink(&mut d),
            (Semiring::OrAnd, _) => sparse(case.shape.n, seed, &mut d),
            (Semiring::MaxPlus | Semiring::MaxMin, Fill::Weights { signed: true, .. }) => host::negate(&mut d),
            (Semiring::MaxPlus | Semiring::MaxMin, Fill::Weights { .. }) => invert(&mut d),
            _ => {}
        }
        d
    }

    fn fill(&self, case: &Case) -> Fill {
        let columns = case.shape.n;
        let signed = is_signed(&case.params);
        match case.params.get(DATA).map(String::as_str) {
            Some(NEAR) => Fill::Near { negative: signed, small: false },
            Some(LARGEST) => Fill::Largest { negative: false },
            Some(LOWEST) => Fill::Largest { negative: true },
            Some(order) => Fill::Turned { columns, falling: order == FALLING },
            None => Fill::Weights { columns, signed, severed: true },
        }
    }

    /// A weight that few ways undercut.
    fn decide(&self, case: &Case, inputs: &[Array], before: Option<&Reference>, _: f64, spot: Spot) -> Vec<Change> {
        if Semiring::of(&case.params).is_greatest() {
            return outdo(case, inputs[0].dtype(), before, spot);
        }
        let low = if is_signed(&case.params) { -2.0 - (spot.draw % 1000) as f64 / 1024.0 } else { 0.0 };
        let dtype = inputs[0].dtype();
        let value = Array::narrowed(dtype, [if dtype.is_float() { low } else { 4096.0 * low }]);
        vec![Change { input: 0, index: spot.at, value }]
    }

    fn amended(&self, case: &Case, inputs: &[Array], changes: &[Changed], before: &Reference) -> Reference {
        let n = case.shape.n as usize;
        let Reference::Exact(mut exact) = before.clone() else { return self.reference(case, inputs) };
        let places: Vec<(usize, usize)> = changes.iter().map(|c| c.change.index).map(|at| (at / n, at % n)).collect();
        host::recompute(Semiring::of(&case.params), n, &inputs[0], &places, &mut exact);
        Reference::Exact(exact)
    }

    /// Weights of which each decides a result, in one of two cases; weights that are hard to tell apart; the largest that
    /// there can be, which are no missing edges; and weights of either sign and the lowest, of any kernel that has no use for
    /// there being none below 0.
    fn companions(&self, case: &Case, plan: &Plan) -> Vec<Case> {
        let with_all = |settings: &[(&str, &str)]| {
            let mut params = plan.params.clone();
            params.extend(settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
            Case { params, ..case.clone() }
        };
        let with = |name: &str, value: &str| with_all(&[(name, value)]);
        let n = case.shape.n.min(COMPANION + case.shape.n % COMPANION);
        let small = |case: Case| Case { shape: Form::Square.shape(n, None), ..case };
        if Semiring::of(&case.params).is_greatest() {
            let kinds = if Semiring::of(&case.params) == Semiring::OrAnd { &[][..] } else { &[NEAR, LARGEST] };
            return kinds.iter().map(|kind| small(with(DATA, kind))).collect();
        }
        if is_small(&case.params) {
            return vec![small(with(DATA, LARGEST))];
        }
        let mut companions =
            vec![with(DATA, RISING), with(DATA, FALLING), small(with(DATA, NEAR)), small(with(DATA, LARGEST))];
        if is_signed(&case.params) {
            companions.push(small(with(DATA, LOWEST)));
        } else if plan.defines.iter().all(|(name, _)| name != "ORDERED") {
            companions.push(small(with(WEIGHTS.name, "signed")));
            companions.push(small(with_all(&[(WEIGHTS.name, "signed"), (DATA, LOWEST)])));
        }
        companions
    }

    fn beside(&self, case: &Case) -> Fill {
        if Semiring::of(&case.params).is_greatest() { Fill::Largest { negative: false } } else { Fill::Negative }
    }

    // The reference takes long, and the turned weights are of the case's own size, with a reference that does not.
    fn second_fill(&self, case: &Case) -> Option<Fill> {
        (Semiring::of(&case.params).is_greatest() || is_small(&case.params)).then(|| self.fill(case))
    }

    fn counted(&self) -> &'static str {
        "n^3 pairs of an addition and a minimum"
    }

    fn cost(&self, case: &Case) -> Cost {
        let n = case.shape.n as f64;
        // The matrix is read and the result written; each pair is an addition and a minimum.
        Cost { bytes: 2.0 * n * n * case.dtype.size() as f64, ops: 2.0 * n * n * n }
    }

    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference {
        let n = case.shape.n as usize;
        let mut exact = Array::zeros(case.dtype, inputs[0].len());
        match self.fill(case) {
            Fill::Turned { columns, .. } => host::turned(n, data::turn(columns) as usize, &inputs[0], &mut exact),
            _ => host::product(Semiring::of(&case.params), n, &inputs[0], &mut exact),
        }
        Reference::Exact(exact)
    }

    fn baselines(&self) -> &'static [Baseline] {
        host::BASELINES
    }

    fn spared(&self, baseline: &Baseline, shape: Shape) -> Option<String> {
        let (_, most) = SPARED_ABOVE.iter().find(|(name, most)| *name == baseline.name && shape.n > *most)?;
        Some(format!("it would take minutes: timed up to n = {most}"))
    }
}

pub fn is_signed(params: &Params) -> bool {
    params.get(WEIGHTS.name).is_some_and(|w| w == "signed")
}

/// Whether two lengths share a word, where a rung can do that.
fn is_packed(dtype: Dtype, params: &Params) -> bool {
    is_small(params)
        && dtype == Dtype::I32
        && Semiring::of(params) == Semiring::MinPlus
        && params.get(PACKED.name).is_none_or(|packed| packed != "0")
}

/// Whether the limit of additions with minima bounds these cases: no probe joins otherwise, or takes two a word.
pub fn is_limited(dtype: Dtype, params: &Params) -> bool {
    Semiring::of(params).join() == EdgeJoin::Sum && !is_packed(dtype, params)
}

fn is_small(params: &Params) -> bool {
    params.get(WEIGHTS.name).is_some_and(|w| w == "small")
}

/// One result per item, in groups as square as they can be unless they were asked for with two sides.
fn single(ask: &Ask<'_>) -> Planned {
    /// Largest size of which a CPU device's core, which reads each element again and again, needs no minutes.
    const MOST_ON_CPU: u64 = 2500;
    let n = ask.case.shape.n;
    if !ask.target.gpu && n > MOST_ON_CPU {
        return Err(Refusal::Size(format!("it would take minutes on a CPU device: timed up to n = {MOST_ON_CPU}")));
    }
    let [across, down, deep] = ask.case.wg.0;
    if deep > 1 {
        return Err(Refusal::Group(format!("work-group {}: a matrix has two dimensions", ask.case.wg)));
    }
    let wg = if down > 1 { ask.case.wg } else { square(across) };
    let groups = [n.div_ceil(wg.0[0] as u64), n.div_ceil(wg.0[1] as u64), 1];
    direct(begin(ask, n)?, groups, wg)
}

/// A group of so many items, as square as it can be, and not higher than it is wide.
fn square(size: usize) -> WorkGroup {
    let down = (1..=size.isqrt()).rev().find(|side| size.is_multiple_of(*side)).unwrap_or(1);
    WorkGroup([size / down, down, 1])
}

/// `registers` and `local`: groups of 8 x 8 items with 8 x 8 results each.
fn registers(ask: &Ask<'_>) -> Planned {
    const ITEM: u64 = 8;
    const TILE: u64 = ITEM * ITEM;
    let pitch = ask.case.shape.n.next_multiple_of(TILE);
    let mut plan = begin(ask, pitch)?;
    let mut staged = 0;
    if ask.rung.variant() == "local" {
        staged = DEPTH.get(&ask.case.params)?.unwrap_or(8);
        if !TILE.is_multiple_of(staged) {
            return Err(Refusal::Setting(format!("depth={staged}: a divisor of {TILE} is needed")));
        }
        plan.set(DEPTH.name, staged);
    }
    let panels = Panels { pitch, tile: [TILE; 2], paired: false, split: 1 };
    panelled(plan, panels, WorkGroup([ITEM as usize, ITEM as usize, 1]), 2 * staged * TILE)
}

fn tiled(ask: &Ask<'_>) -> Planned {
    // The compiler of Intel's driver for CPUs crashes over integers in panels of fewer rows.
    let is_delicate = !ask.target.gpu && ask.case.dtype == Dtype::I32;
    let depth = if is_delicate { 16 } else { 8 };
    let tiling = Tiling::of(ask, Tiling { tile: [128, 128], item: [8, 8], depth, buffers: 2 })?;
    if is_delicate && tiling.depth < depth {
        return Err(Refusal::Setting(format!("depth={}: of i32 a CPU device needs {depth} or more", tiling.depth)));
    }
    let panels = Panels { pitch: tiling.pitch(ask.case.shape.n), tile: tiling.tile, paired: false, split: 1 };
    panelled(tiling.begin(ask, panels.pitch)?, panels, tiling.work_group(), tiling.local_elements())
}

/// Whether it matters to the kernels that no weight is below 0.
pub fn heeds_signs(dtype: Dtype) -> bool {
    dtype == Dtype::F32
}

/// Whether lengths are ordered as the integers with their bits.
fn is_ordered(dtype: Dtype, params: &Params) -> bool {
    heeds_signs(dtype) && (!is_signed(params) || Semiring::of(params) == Semiring::OrAnd)
}

/// The macros of `cl/common/lower.cl`.
pub(super) fn pair_macros(dtype: Dtype, params: &Params, target: &Target) -> &'static [(&'static str, usize)] {
    let semiring = Semiring::of(params);
    match dtype {
        _ if semiring == Semiring::OrAnd => &[("BOOLEAN", 1)],
        _ if is_ordered(dtype, params) => &[("ORDERED", 1)],
        Dtype::I32 if semiring.join() == EdgeJoin::Larger => &[],
        Dtype::I32 if target.nvidia => &[("TWO_PIPELINES", 1)],
        Dtype::F64 if target.nvidia => &[("PREDICATED", 1)],
        _ => &[],
    }
}

/// Defines what kernels of panels have beside their tiles: how sums are compared, and whether copies go on meanwhile.
fn define_pairs(plan: &mut Builder<'_>, ask: &Ask<'_>, tiling: &Tiling) -> Result<(), Refusal> {
    let params = &ask.case.params;
    pair_macros(ask.case.dtype, params, ask.target).iter().for_each(|(name, value)| plan.define(name, value));
    let asynchronous = ASYNC.is_on(params)?.unwrap_or(true) && ask.target.async_copy && tiling.buffers == 2;
    plan.note(ASYNC.name, u8::from(asynchronous));
    if asynchronous {
        plan.define("ASYNC", 1);
    }
    Ok(())
}

/// The sums of two k at a time. Its defaults were measured on an H200.
fn three_way(ask: &Ask<'_>) -> Planned {
    let n = ask.case.shape.n;
    let dtype = ask.case.dtype;
    let params = &ask.case.params;
    PACKED.given(params)?;
    let packed = is_packed(dtype, params);
    let can_split = Semiring::of(params) != Semiring::OrAnd && (is_ordered(dtype, params) || dtype == Dtype::I32);
    let default = match dtype.size() {
        4 if ask.target.gpu && !can_split && n >= 2048 => {
            Tiling { tile: [128, if n < 8192 { 128 } else { 64 }], item: [8, 8], depth: 16, buffers: 2 }
        }
        4 => Tiling { tile: [64, if packed { 128 } else { 64 }], item: [8, 8], depth: 16, buffers: 2 },
        _ => Tiling { tile: [32, 64], item: [4, 8], depth: 16, buffers: 2 },
    };
    let tiling = Tiling::of(ask, default)?;
    // Tiles are of words.
    let tile = [tiling.tile[0], tiling.tile[1] * if packed { 2 } else { 1 }];
    let pitch = Tiling { tile, ..tiling }.pitch(n);
    let mut plan = tiling.begin(ask, pitch)?;
    if is_small(params) && dtype == Dtype::I32 {
        plan.note(PACKED.name, u8::from(packed));
    }
    if packed {
        plan.define("PACKED", 1);
        if ask.target.packed_minimum {
            plan.define("PACKED_MINIMUM", 1);
        }
    }
    define_pairs(&mut plan, ask, &tiling)?;
    let split = SPLIT.get(params)?.unwrap_or(if ask.target.gpu && n <= 2048 { 2 } else { 1 });
    // Groups that share k meet in an atomic minimum, which there is of integers only.
    let split = if can_split { split } else { 1 };
    plan.note(SPLIT.name, split);
    if split > 1 {
        plan.define("SHARED", 1);
    }
    let panels = Panels { pitch, tile, paired: true, split };
    panelled(plan, panels, tiling.work_group(), tiling.local_elements())
}

/// Groups of one item, each with a part of the rows of a strip of columns.
fn wide(ask: &Ask<'_>) -> Planned {
    let n = ask.case.shape.n;
    let params = &ask.case.params;
    shape::check_wg(ask.case.wg, ask.target)?;
    let vec = VEC.get(params)?.unwrap_or(shape::vector_lanes(ask.target, ask.case.dtype));
    // As many results as fit the 16 or, of 64-byte vectors, 32 registers.
    let [rows, vectors] = ITEM.get_pair(params)?.unwrap_or(if ask.target.float_lanes >= 16 { [8, 2] } else { [6, 2] });
    if rows * vectors > 64 {
        return Err(Refusal::Setting(format!("item={rows}x{vectors}: at most 64 vectors fit a work-item's registers")));
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
        let names =
            |family: &'static Family, gpu| family.preferred(gpu).iter().map(|rung| rung.variant()).collect::<Vec<_>>();
        assert_eq!((names(&FAMILY, true)[0], names(&FAMILY, false)[0]), ("three_way", "wide"));
        assert_eq!((names(&CLOSURE, true)[0], names(&CLOSURE, false)[0]), ("blocked", "blocked_wide"));
        assert_eq!((names(&FAMILY, true).last(), names(&FAMILY, false).len()), (Some(&"wide"), FAMILY.ladder.len()));
    }

    fn plan(variant: &str, n: u64, params: &[(&str, &str)], gpu: bool) -> Planned {
        let rung = FAMILY.rung(variant).unwrap();
        let case = Case {
            wg: WorkGroup::linear(256),
            params: params.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
            ..Case::of(&FAMILY.name, variant, Dtype::F32, Form::Square.shape(n, None))
        };
        FAMILY.plan(rung, &case, &Target { gpu, ..fake_info().target })
    }

    #[test]
    fn what_would_take_minutes_is_refused_on_cpus_only() {
        assert!(plan("naive", 2501, &[], false).unwrap_err().to_string().contains("up to n = 2500"));
        assert!(plan("naive", 2501, &[], true).is_ok() && plan("coalesced", 2500, &[], false).is_ok());
    }

    #[test]
    fn panels_reach_to_whole_tiles_and_stages() {
        let pitch = |n, tile, depth| {
            let plan = plan("tiled", n, &[("tile", tile), ("depth", depth)], true).unwrap();
            (plan.buffers[1].len as u64).isqrt()
        };
        assert_eq!([pitch(1, "128x128", "8"), pitch(129, "128x128", "8"), pitch(100, "64x128", "16")], [128, 256, 128]);
    }

    #[test]
    fn no_size_overflows() {
        for variant in FAMILY.ladder.iter().map(|r| r.variant()) {
            for n in [(1 << 24) + 1, u64::MAX] {
                assert!(plan(variant, n, &[], true).unwrap_err().to_string().contains("at most"), "{variant}");
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

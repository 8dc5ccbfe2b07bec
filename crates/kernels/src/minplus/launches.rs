//! The launches of the min-plus rungs: over the matrix itself, or over copies of it that a launch before prepares.

use super::super::{Builder, shape};
use super::settings::{SEMIRING, WEIGHTS};
use crate::{Ask, Planned};
use gpulab_cpu::minplus::{EdgeJoin, Semiring};
use gpulab_model::data::Dtype;
use gpulab_model::plan::{Arg, Refusal, Target, WorkGroup};

/// Side of the tiles in which the preparation pads and transposes.
pub(super) const STRIP: u64 = 32;
/// Rows of items in a group of the preparation.
pub(super) const STRIP_HEIGHT: usize = 8;

/// A plan for matrices whose rows are at most `pitch` elements apart.
pub(crate) fn begin<'a>(ask: &'a Ask<'a>, pitch: u64) -> Result<Builder<'a>, Refusal> {
    let dtype = ask.case.dtype;
    let params = &ask.case.params;
    let mut plan = Builder::new(ask, shape::signed(dtype), pitch.saturating_mul(pitch));
    if let Some(weights @ ("signed" | "small")) = WEIGHTS.given(params)? {
        plan.note(WEIGHTS.name, weights);
    }
    let named = SEMIRING.given(params)?;
    let semiring = Semiring::of(params);
    if semiring == Semiring::MinPlus {
        element_macros(dtype, ask.target).for_each(|(name, value)| plan.define(name, value));
    } else {
        plan.note(SEMIRING.name, named.unwrap_or_default());
        semiring_macros(semiring, dtype, ask.target).for_each(|(name, value)| plan.define(name, value));
    }
    Ok(plan)
}

/// The macros of `cl/common/smaller.cl` where the larger of two lengths is the better.
fn semiring_macros(
    semiring: Semiring,
    dtype: Dtype,
    target: &Target,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    let is_whole = !matches!(dtype, Dtype::F32 | Dtype::F64);
    let [larger, smaller] = match dtype {
        _ if is_whole => [Some("max"), Some("min")],
        Dtype::F64 if target.nvidia => [None; 2],
        _ if target.gpu => [Some("fmax"), Some("fmin")],
        _ => [None; 2],
    };
    let no_edge = match semiring {
        Semiring::OrAnd => "0",
        _ if is_whole => "(-(INT_MAX/2))",
        _ => "(-INFINITY)",
    };
    let staying = match semiring {
        Semiring::OrAnd => Some("1"),
        Semiring::MaxMin => Some(if is_whole { "(INT_MAX/2)" } else { "INFINITY" }),
        Semiring::MinPlus | Semiring::MaxPlus => None,
    };
    let is_narrowest = semiring.join() == EdgeJoin::Larger;
    let macros = [
        ("GREATEST", Some("1")),
        ("BOTTLENECK", is_narrowest.then_some("1")),
        ("SMALLER", larger),
        ("JOIN", smaller.filter(|_| is_narrowest)),
        ("NO_EDGE", Some(no_edge)),
        ("STAYING", staying),
    ];
    macros.into_iter().filter_map(|(name, value)| Some((name, value?)))
}

/// The macros of `cl/common/smaller.cl` where its defaults are not the best.
pub(crate) fn element_macros(dtype: Dtype, target: &Target) -> impl Iterator<Item = (&'static str, &'static str)> {
    let macros: &[(&str, &str)] = match dtype {
        Dtype::I32 | Dtype::I64 | Dtype::U8 => &[("SMALLER", "min"), ("NO_EDGE", "(INT_MAX/2)")],
        // NVIDIA's GPUs have no instruction for the smaller of two doubles either.
        Dtype::F64 if target.nvidia => &[],
        Dtype::F32 | Dtype::F64 if target.gpu => &[("SMALLER", "fmin")],
        Dtype::F32 | Dtype::F64 => &[],
    };
    macros.iter().copied()
}

fn matrix(plan: &Builder<'_>) -> usize {
    plan.ask.case.shape.elements() as usize
}

/// One launch that reads the matrix itself.
pub(super) fn direct(mut plan: Builder<'_>, groups: [u64; 3], wg: WorkGroup) -> Planned {
    shape::check_wg(wg, plan.ask.target)?;
    let result = plan.output(matrix(&plan));
    let args = plan.inputs().into_iter().chain([result, Arg::Index(plan.n())]).collect();
    plan.launch(groups, wg, args);
    Ok(plan.plan(0, 0))
}

/// A launch whose items read strips of rows and of columns, which a launch before it makes.
pub(super) fn stripped(mut plan: Builder<'_>, strip_rows: u64, strip_columns: u64) -> Planned {
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
    let [ys, xs] = [across * strip_columns, down * strip_rows].map(|side| plan.scratch((side * n) as usize));
    let result = plan.output(matrix(&plan));
    let args = plan.inputs().into_iter().chain([ys, xs, Arg::Index(n)]).collect();
    plan.prepare("strips", [down + across, 1, 1], one, args);
    let args = [ys, xs, result].into_iter().chain([n, items_across, high, wide].map(Arg::Index)).collect();
    plan.launch([down.div_ceil(high) * items_across, 1, 1], one, args);
    Ok(plan.plan(0, 0))
}

/// The panels that a launch reads, and how its groups share them.
#[derive(Clone, Copy)]
pub(super) struct Panels {
    /// From a row to the next, and number of rows: a multiple of what any stage or tile takes.
    pub(super) pitch: u64,
    /// Rows and columns of a tile of results.
    pub(super) tile: [u64; 2],
    /// Whether two rows are interleaved.
    pub(super) paired: bool,
    /// Groups that share the rows of a tile's panels.
    pub(super) split: u64,
}

/// A launch that reads panels, padded copies of the matrix, which a launch before it makes.
pub(super) fn panelled(mut plan: Builder<'_>, panels: Panels, wg: WorkGroup, local_elements: u64) -> Planned {
    shape::check_wg(wg, plan.ask.target)?;
    let (n, Panels { pitch, tile, .. }) = (plan.n(), panels);
    let [rows, columns] = [(); 2].map(|()| plan.scratch((pitch * pitch) as usize));
    let result = plan.output(matrix(&plan));
    let sizes = [Arg::Index(n), Arg::Index(pitch)];
    let cleared = panels.paired.then_some(result);
    let args = plan.inputs().into_iter().chain([rows, columns]).chain(cleared).chain(sizes).collect();
    let strips = WorkGroup([STRIP as usize, STRIP_HEIGHT, 1]);
    plan.prepare(if panels.paired { "pairs" } else { "panels" }, [pitch / STRIP, pitch / STRIP, 1], strips, args);
    let one = panels.paired.then_some(Arg::Int(1));
    let args = [rows, columns, result].into_iter().chain(sizes).chain(one).collect();
    plan.launch([n.div_ceil(tile[1]), n.div_ceil(tile[0]), panels.split], wg, args);
    Ok(plan.plan(local_elements, 0))
}

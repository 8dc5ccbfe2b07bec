//! Weights that the checks of other semirings and of small weights need.

use crate::Spot;
use gpulab_cpu::minplus::Semiring;
use gpulab_model::data::{self, Array, Change, Dtype};
use gpulab_model::each_array;
use gpulab_model::plan::{Case, Reference};

/// Largest of small weights: the sum of two is below the half of a word that stands for no edge.
pub const LARGEST_SMALL: i32 = (1 << 13) - 1;

/// Weights as small ones, of which many differ.
pub(super) fn shrink(weights: &mut Array) {
    let small = |w: f64| (w * 4096.0).min(LARGEST_SMALL.into()).floor();
    match weights {
        Array::F32(v) => v.iter_mut().filter(|w| w.is_finite()).for_each(|w| *w = small((*w).into()) as f32),
        Array::F64(v) => v.iter_mut().filter(|w| w.is_finite()).for_each(|w| *w = small(*w)),
        Array::I32(v) => {
            v.iter_mut().filter(|w| **w < data::NO_EDGE).for_each(|w| *w = (*w).min(LARGEST_SMALL));
        }
        Array::I64(_) | Array::U8(_) => {}
    }
}

/// Weights without a sign, the lightest of which become the heaviest.
pub(super) fn invert(weights: &mut Array) {
    let turned = |w: f64, unit: f64| if w <= unit { 1.5 * unit - w } else { unit * unit / (2.0 * w) };
    match weights {
        Array::F32(v) => {
            v.iter_mut().for_each(|w| *w = if w.is_finite() { turned((*w).into(), 1.0) as f32 } else { -*w })
        }
        Array::F64(v) => v.iter_mut().for_each(|w| *w = if w.is_finite() { turned(*w, 1.0) } else { -*w }),
        Array::I32(v) => v.iter_mut().for_each(|w| {
            *w = if *w < data::NO_EDGE { turned((*w).into(), 4096.0) as i32 } else { -data::NO_EDGE };
        }),
        Array::I64(_) | Array::U8(_) => {}
    }
}

/// 1 for an edge and 0 for none, so few that many a pair has one way by two of them.
pub(super) fn sparse(n: u64, seed: u64, edges: &mut Array) {
    let is_edge = |at: usize| data::draw(!seed, at as u64).is_multiple_of(n.isqrt() + 1);
    match edges {
        Array::F32(v) => v.iter_mut().enumerate().for_each(|(at, e)| *e = u8::from(is_edge(at)).into()),
        Array::F64(v) => v.iter_mut().enumerate().for_each(|(at, e)| *e = u8::from(is_edge(at)).into()),
        Array::I32(v) => v.iter_mut().enumerate().for_each(|(at, e)| *e = is_edge(at).into()),
        Array::I64(_) | Array::U8(_) => {}
    }
}

/// Two edges, one after the other, that make a way heavier than all others, or the only one between two nodes.
pub(super) fn outdo(case: &Case, dtype: Dtype, before: Option<&Reference>, spot: Spot) -> Vec<Change> {
    let n = case.shape.n as usize;
    let from = spot.at / n;
    let over = spot.at % n;
    let is_boolean = Semiring::of(&case.params) == Semiring::OrAnd;
    let is_open = |to: &usize| match before {
        Some(Reference::Exact(exact)) if is_boolean => each_array!(exact, r => r[from * n + to] == Default::default()),
        _ => true,
    };
    let mut ends = (0..n).map(|step| (spot.draw as usize % n + step) % n);
    let Some(to) = ends.find(is_open) else { return Vec::new() };
    let weight = if dtype.is_float() { 300.0 } else { 300.0 * 4096.0 };
    let value = Array::narrowed(dtype, [if is_boolean { 1.0 } else { weight }]);
    [spot.at, over * n + to].map(|index| Change { input: 0, index, value: value.clone() }).into()
}

//! Few or many operations on elements of global memory, and values that are computed anew or loaded.

use super::{Exact, OneLaunch, ROUNDS, as_it_is, get, setting};
use crate::data::{Array, Dtype, Fill};
use crate::kernels::shape::Grid;
use crate::kernels::{Ask, Bound, Family, Form, Tunable, rung};
use crate::plan::{Arg, Case, Cost, Plan, Refusal};

/// n floats that are read, calculated with and written.
pub(crate) const INTENSITY: Family = Family {
    name: "intensity",
    about: "multiplications with additions on elements of global memory",
    form: Form::Vector,
    problem: &Exact {
        inputs: |shape, _| vec![shape.n as usize],
        result: |shape, _| shape.n as usize,
        // Every result is a whole number that f32 has.
        fill: Fill::Exact(64),
        cost: |case| cost(case, 8.0),
        answer: |case, inputs| {
            // Two steps more are one on each of an item's first two vectors.
            let more = |vector| steps(case) % 4 > VECTORS * vector / vectors(case);
            added(&inputs[0], |vector| (steps(case) / VECTORS + u64::from(more(vector))) as f32, vec(case))
        },
        finish: as_it_is,
    },
    references: &[],
    ladder: &[rung("lab/intensity/v1_steps.cl", plan, &[VEC])],
    choices: &[STEPS, VEC, ROUNDS],
    dtypes: &[Dtype::F32],
    ceiling: Bound::Copy,
};

/// n floats to each of which a value is added, which takes steps or is loaded.
pub(crate) const RECOMPUTE: Family = Family {
    name: "recompute",
    about: "values that are computed anew or loaded",
    form: Form::Vector,
    problem: &Exact {
        inputs: |shape, _| vec![shape.n as usize; 2],
        result: |shape, _| shape.n as usize,
        fill: Fill::Exact(64),
        cost: |case| cost(case, if is_loaded(case) { 12.0 } else { 8.0 }),
        answer: |case, inputs| match (&inputs[0], &inputs[1]) {
            (Array::F32(x), Array::F32(table)) if is_loaded(case) => {
                Array::F32(x.iter().zip(table).map(|(x, value)| x + value).collect())
            }
            (x, _) => added(x, |vector| ((vector & 15) + steps(case) / VECTORS) as f32, vec(case)),
        },
        finish: as_it_is,
    },
    references: &[],
    ladder: &[rung("lab/recompute/v1_again.cl", plan, &[VEC]), rung("lab/recompute/v2_loaded.cl", plan, &[VEC])],
    choices: &[STEPS, VEC, ROUNDS],
    dtypes: &[Dtype::F32],
    ceiling: Bound::Copy,
};

pub(crate) const STEPS: Tunable = setting("steps", "multiplications with an addition on four elements together");
pub(crate) const VEC: Tunable = setting("vec", "floats of a vector");

fn steps(case: &Case) -> u64 {
    get(&case.params, STEPS.name)
}

fn vec(case: &Case) -> u64 {
    get(&case.params, VEC.name).max(1)
}

fn vectors(case: &Case) -> u64 {
    case.shape.n / vec(case)
}

fn is_loaded(case: &Case) -> bool {
    case.variant == "loaded"
}

/// Vectors of an item, as in the kernels.
pub(crate) const VECTORS: u64 = 4;

/// Two operations a step: the multiplication and the addition.
fn cost(case: &Case, bytes: f64) -> Cost {
    let n = case.shape.n as f64;
    Cost { bytes: bytes * n, ops: if is_loaded(case) { n } else { n * (2 * steps(case)) as f64 / VECTORS as f64 } }
}

/// The elements, to those of each vector of which this is added.
fn added(x: &Array, term: impl Fn(u64) -> f32, vec: u64) -> Array {
    match x {
        Array::F32(x) => {
            let vectors = (0..).zip(x.chunks(vec as usize));
            Array::F32(
                vectors
                    .flat_map(|(vector, lanes)| lanes.iter().map(move |x| (x, vector)))
                    .map(|(x, vector)| x + term(vector))
                    .collect(),
            )
        }
        other => Array::zeros(other.dtype(), other.len()),
    }
}

fn plan(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let (n, vec, wg, steps) = (ask.case.shape.n, vec(ask.case), ask.case.wg.size(), steps(ask.case));
    let share = VECTORS * vec * wg as u64;
    if ![1, 2, 4, 8, 16].contains(&vec) {
        return Err(Refusal::Setting(format!("vec={vec}: 1, 2, 4, 8 or 16 is needed")));
    }
    if !n.is_multiple_of(share) {
        return Err(Refusal::Size(format!("n={n}: a multiple of {share} is needed")));
    }
    if !steps.is_multiple_of(2) {
        return Err(Refusal::Setting(format!("steps={steps}: an even number is needed")));
    }
    OneLaunch {
        grid: Grid::covering(wg, n / (VECTORS * vec)),
        output: n as usize,
        defines: &[("STEPS", steps.to_string()), ("VEC", vec.to_string())],
        args: &[Arg::Uint(1)],
        local: 0,
    }
    .plan(ask)
}

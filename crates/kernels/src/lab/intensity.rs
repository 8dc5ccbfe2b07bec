//! Few or many operations on elements of global memory, and values that are computed again or loaded.

use super::chains::{ChainStep, HALVING};
use super::*;
use rayon::prelude::*;

/// n floats that are read, calculated with and written.
pub static INTENSITY: Family = BuiltInFamily {
    name: "intensity",
    about: "multiplications with additions on elements of global memory",
    problem: &Exact {
        companions: |case, plan| checked(case, plan, &[HALVING]),
        // Every result is a whole number that f32 has, unless it is halved.
        ..Exact::of_each(Fill::Exact(64), cost, |case, inputs| {
            // Two steps more are one on each of an item's first two vectors.
            let step = ChainStep::of(case);
            let steps = steps(case);
            let quarter = quarter(case);
            let done = |vector| steps / VECTORS + u64::from(steps % VECTORS > vector / quarter);
            changed(case, &inputs[0], |vector, x| step.end(x, done(vector)))
        })
    },
    ladder: const { &ladder([rung("lab/intensity/steps.cl", calculate, &[])]) },
    choices: &[STEPS, VEC, ROUNDS],
    dtypes: &[Dtype::F32],
    ceiling: Bound::Copy,
    ..READS
}
.family();

/// n floats to each of which a value is added that takes steps.
pub static RECOMPUTE: Family = BuiltInFamily {
    name: "recompute",
    about: "add values that are computed again",
    problem: &Exact {
        companions: |case, plan| checked(case, plan, &[HALVING]),
        ..Exact::of_each(Fill::Exact(64), cost, |case, inputs| {
            let step = ChainStep::of(case);
            let steps = steps(case);
            let quarter = quarter(case);
            let start = |vector| (VECTORS * ((vector % quarter) & 15) + vector / quarter) as f32;
            changed(case, &inputs[0], |vector, x| x + step.end(start(vector), steps / VECTORS))
        })
    },
    ladder: const { &ladder([rung("lab/recompute/again.cl", calculate, &[])]) },
    choices: &[STEPS, VEC, ROUNDS],
    dtypes: &[Dtype::F32],
    ceiling: Bound::Copy,
    ..READS
}
.family();

/// n floats to each of which a value is added that is loaded.
pub static RELOAD: Family = BuiltInFamily {
    name: "reload",
    about: "add values that are loaded",
    problem: &Exact {
        inputs: |shape, _| vec![shape.n as usize; 2],
        ..Exact::of_each(
            Fill::Exact(64),
            |case| Cost { bytes: 12.0 * case.shape.n as f64, ops: case.shape.n as f64 },
            |_, inputs| match (&inputs[0], &inputs[1]) {
                (Array::F32(x), Array::F32(table)) => {
                    Array::F32(x.par_iter().zip(table).map(|(x, value)| x + value).collect())
                }
                (other, _) => Array::zeros(other.dtype(), other.len()),
            },
        )
    },
    ladder: const { &ladder([rung("lab/reload/table.cl", |ask| plan(ask, &[], &[]), &[VEC])]) },
    choices: &[ROUNDS],
    dtypes: &[Dtype::F32],
    ceiling: Bound::Copy,
    ..READS
}
.family();

pub const STEPS: Tunable = setting("steps", "multiplications with an addition on four elements together");
pub const VEC: Tunable = setting("vec", "floats of a vector");

/// Vectors of an item, as in the kernels.
pub const VECTORS: u64 = 4;

fn steps(case: &Case) -> u64 {
    get(&case.params, STEPS.name)
}

fn vec(case: &Case) -> u64 {
    get(&case.params, VEC.name).max(1)
}

/// From a vector of an item to its next, which is as many as there are items; never 0.
fn quarter(case: &Case) -> u64 {
    (case.shape.n / vec(case) / VECTORS).max(1)
}

/// Two operations a step: the multiplication and the addition.
fn cost(case: &Case) -> Cost {
    let n = case.shape.n as f64;
    Cost { bytes: 8.0 * n, ops: n * (2 * steps(case)) as f64 / VECTORS as f64 }
}

/// What becomes of the elements, given the number of the vector that each is in.
fn changed(case: &Case, x: &Array, to: impl Fn(u64, f32) -> f32 + Sync) -> Array {
    match x {
        Array::F32(x) => {
            let vec = vec(case) as usize;
            let mut all = x.clone();
            let vectors = all.par_chunks_mut(vec).with_min_len(1 << 10).enumerate();
            vectors.for_each(|(vector, lanes)| lanes.iter_mut().for_each(|x| *x = to(vector as u64, *x)));
            Array::F32(all)
        }
        other => Array::zeros(other.dtype(), other.len()),
    }
}

fn calculate(ask: &Ask<'_>) -> Planned {
    let steps = steps(ask.case);
    let least = if ask.case.family == INTENSITY.name { 2 } else { VECTORS };
    if !steps.is_multiple_of(least) {
        return Err(Refusal::Setting(format!("steps={steps}: a multiple of {least} is needed")));
    }
    plan(ask, &[("STEPS", steps.to_string())], &ChainStep::of(ask.case).args())
}

fn plan(ask: &Ask<'_>, defines: &[(&str, String)], args: &[Arg]) -> Planned {
    let n = ask.case.shape.n;
    let vec = vec(ask.case);
    let wg = ask.case.wg.size();
    let share = VECTORS * vec * wg as u64;
    if ![1, 2, 4, 8, 16].contains(&vec) {
        return Err(Refusal::Setting(format!("vec={vec}: 1, 2, 4, 8 or 16 is needed")));
    }
    if !n.is_multiple_of(share) {
        return Err(Refusal::Size(format!("n={n}: a multiple of {share} is needed")));
    }
    let defines: Vec<(&str, String)> = defines.iter().cloned().chain([("VEC", vec.to_string())]).collect();
    let grid = Grid::covering(wg, n / (VECTORS * vec));
    OneLaunch { grid, output: n as usize, defines: &defines, args, local: 0 }.plan(ask)
}

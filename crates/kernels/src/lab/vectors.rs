//! Floats that are loaded, and added to in registers, as vectors of 1 to 16 of them.

use super::chains::{ChainStep, SLIGHT};
use super::*;
use crate::read_once;

/// Reads n floats, a power of two.
pub static LOADING: Family = BuiltInFamily {
    name: "loads",
    about: "read floats as vectors",
    problem: &Exact {
        result: |_, _| 1,
        finish: |_, output| total(&output),
        // Every sum is a whole number that f32 has.
        ..Exact::of_each(Fill::Exact(8), read_once, |_, inputs| total(&inputs[0]))
    },
    ladder: const { &ladder([rung("lab/loads/vectors.cl", load, &[VEC])]) },
    dtypes: &[Dtype::F32],
    ..READS
}
.family();

/// Adds to n floats.
pub static ADDING: Family = BuiltInFamily {
    name: "adds",
    about: "add to floats in registers as vectors",
    problem: &Exact {
        companions: |case, plan| checked(case, plan, &[SLIGHT]),
        ..Exact::of_each(
            Fill::Exact(64),
            |case| Cost { bytes: 8.0 * case.shape.n as f64, ops: (case.shape.n * added(case)) as f64 },
            increased,
        )
    },
    ladder: const { &ladder([rung("lab/adds/vectors.cl", add, &[VEC])]) },
    choices: &[ROUNDS],
    ..FLOAT_STEPS
}
.family();

pub const VEC: Tunable = setting("vec", "floats of a vector");

/// The sum of small whole numbers, as the only element.
fn total(values: &Array) -> Array {
    match values {
        Array::F32(v) => Array::F32(vec![v.iter().map(|&x| f64::from(x)).sum::<f64>() as f32]),
        other => Array::zeros(other.dtype(), 1),
    }
}

/// Additions to a float, 16 in a round as in the kernel.
fn added(case: &Case) -> u64 {
    16 * get(&case.params, ROUNDS.name)
}

fn increased(case: &Case, inputs: &[Array]) -> Array {
    let step = ChainStep::of(case);
    match &inputs[0] {
        Array::F32(v) => Array::F32(v.iter().map(|&x| step.end(x, added(case))).collect()),
        other => Array::zeros(other.dtype(), other.len()),
    }
}

/// The vectors that n floats make.
fn vectors(ask: &Ask<'_>) -> Result<(u64, u64), Refusal> {
    let n = ask.case.shape.n;
    let vec = get(&ask.case.params, VEC.name).max(1);
    if n.is_multiple_of(vec) {
        Ok((vec, n / vec))
    } else {
        Err(Refusal::Size(format!("n={n}: a multiple of {vec} is needed")))
    }
}

/// Vectors that an item loads at a time, as in the kernel.
const TOGETHER: u64 = 4;

fn load(ask: &Ask<'_>) -> Planned {
    let (vec, vectors) = vectors(ask)?;
    let walk = Walk::over(ask, vectors, TOGETHER, IN_TURNS)?;
    walk.plan(ask, &[("VEC", vec.to_string())], &[])
}

fn add(ask: &Ask<'_>) -> Planned {
    let (vec, vectors) = vectors(ask)?;
    let wg = ask.case.wg.size();
    if !vectors.is_multiple_of(wg as u64) {
        return Err(Refusal::Size(format!("{vectors} items: a multiple of {wg} is needed")));
    }
    let [_, term] = ChainStep::of(ask.case).args();
    let args = [arg(ask, ROUNDS.name), term];
    let output = ask.case.shape.n as usize;
    let defines = [("VEC", vec.to_string())];
    OneLaunch { grid: Grid::covering(wg, vectors), output, defines: &defines, args: &args, local: 0 }.plan(ask)
}

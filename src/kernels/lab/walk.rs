//! Walks over every word of an array, in strides or from an offset on, that read or write it.

use super::{AT_ONCE, Exact, OneLaunch, ROUNDS, Walk, arg, array, as_it_is, get, setting, words};
use crate::cpu;
use crate::data::{Array, Dtype, Fill};
use crate::kernels::{Ask, Bound, Family, Form, Tunable, rung};
use crate::plan::{Arg, Case, Cost, Plan, Refusal};

/// Reads n words, a power of two, each as often as the rounds say.
pub(crate) const GATHER: Family = Family {
    name: "gather",
    about: "read every word of an array in strides",
    form: Form::Vector,
    problem: &Exact {
        inputs: |shape, _| vec![shape.n as usize],
        result: |_, _| 1,
        fill: Fill::Real,
        cost,
        answer: summed,
        finish: |_, output| cpu::wrapping_sum(&output),
    },
    references: &[],
    ladder: &[rung("lab/gather/v1_walk.cl", plan, &[STRIDES, OFFSET])],
    choices: &[ROUNDS],
    dtypes: &[Dtype::I32],
    ceiling: Bound::Read,
};

/// Writes n words, a power of two.
pub(crate) const SCATTER: Family = Family {
    name: "scatter",
    about: "write every word of an array in strides",
    form: Form::Vector,
    problem: &Exact {
        inputs: |_, _| vec![1],
        result: |shape, _| shape.n as usize,
        fill: Fill::Real,
        cost,
        answer: numbered,
        finish: as_it_is,
    },
    references: &[],
    ladder: &[rung("lab/scatter/v1_walk.cl", plan, &[STRIDES, OFFSET])],
    choices: &[ROUNDS],
    dtypes: &[Dtype::I32],
    ceiling: Bound::Write,
};

pub(crate) const STRIDES: Tunable = setting("strides", "logarithm of the stride, in words");
pub(crate) const OFFSET: Tunable = setting("offset", "words by which every access is moved");

fn rounds(case: &Case) -> u64 {
    get(&case.params, ROUNDS.name).max(1)
}

/// The bytes that are asked for.
fn cost(case: &Case) -> Cost {
    let accesses = (case.shape.n * rounds(case)) as f64;
    Cost { bytes: 4.0 * accesses, ops: accesses }
}

fn summed(case: &Case, inputs: &[Array]) -> Array {
    let sum = words(&cpu::wrapping_sum(&inputs[0])).into_iter();
    array(sum.map(|sum| sum.wrapping_mul(rounds(case) as u32)))
}

fn numbered(case: &Case, inputs: &[Array]) -> Array {
    let begin = words(&inputs[0]).first().copied().unwrap_or(0);
    array((0..case.shape.n as u32).map(|place| begin.wrapping_add(place.wrapping_mul(2_654_435_761))))
}

/// Accesses that are written out in the kernels.
const UNROLLED: u64 = 8;

fn plan(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let n = ask.case.shape.n;
    if !n.is_power_of_two() {
        return Err(Refusal::Size(format!("n={n}: a power of two is needed")));
    }
    let walk = Walk::over(ask, n * rounds(ask.case), UNROLLED, AT_ONCE)?;
    let settings = [STRIDES.name, OFFSET.name].map(|name| arg(ask, name));
    let numbers = [walk.apart, walk.step, walk.share].map(|number| Arg::Uint(number as u32));
    let args: Vec<Arg> = [Arg::Uint(n.ilog2())].into_iter().chain(settings).chain(numbers).collect();
    let output = if ask.case.family == GATHER.name { walk.grid.items() } else { n as usize };
    OneLaunch { grid: walk.grid, output, defines: &[], args: &args, local: 0 }.plan(ask)
}

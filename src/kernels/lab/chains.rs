//! Chains of dependent steps, each a multiplication with an addition: the kernel of `ilp` and `grid`.

use super::{Exact, OneLaunch, ROUNDS, arg, as_it_is, get, setting, whole_groups};
use crate::data::{Array, Dtype, Fill};
use crate::kernels::shape::Grid;
use crate::kernels::{Ask, Bound, Family, Form, Tunable, rung};
use crate::plan::{Arg, Case, Cost, Plan, Refusal};

/// n items with chains of multiplications, each with an addition.
pub(crate) const FAMILY: Family = Family {
    name: "chains",
    about: "chains of multiplications with an addition",
    form: Form::Vector,
    problem: &Exact {
        inputs: |shape, _| vec![shape.n as usize],
        result: |shape, _| shape.n as usize,
        // Every sum is a whole number that f32 has.
        fill: Fill::Exact(64),
        cost,
        answer,
        finish: as_it_is,
    },
    references: &[],
    ladder: &[rung("lab/chains/v1_independent.cl", plan, &[])],
    choices: &[CHAINS, ROUNDS],
    dtypes: &[Dtype::F32],
    ceiling: Bound::Arithmetic,
};

pub(crate) const CHAINS: Tunable = setting("chains", "independent chains of an item");

/// Steps of a chain in a round, as in the kernel.
const STEPS: u64 = 16;

/// An operation is a step: a multiplication with an addition.
fn cost(case: &Case) -> Cost {
    let get = |name: &str| get(&case.params, name);
    let n = case.shape.n as f64;
    Cost { bytes: 8.0 * n, ops: n * (get(CHAINS.name) * STEPS * get(ROUNDS.name)) as f64 }
}

fn answer(case: &Case, inputs: &[Array]) -> Array {
    let (chains, rounds) = (get(&case.params, CHAINS.name), get(&case.params, ROUNDS.name));
    let added = (chains * (chains.saturating_sub(1)) / 2 + chains * STEPS * rounds) as f32;
    match &inputs[0] {
        Array::F32(x) => Array::F32(x.iter().map(|x| x * chains as f32 + added).collect()),
        other => Array::zeros(other.dtype(), other.len()),
    }
}

fn plan(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let grid = Grid::covering(ask.case.wg.size(), whole_groups(ask)?);
    let chains = get(&ask.case.params, CHAINS.name).to_string();
    let args = [arg(ask, ROUNDS.name), Arg::Uint(1)];
    OneLaunch { grid, output: ask.case.shape.n as usize, defines: &[("CHAINS", chains)], args: &args, local: 0 }
        .plan(ask)
}

//! Chains of dependent steps, each a multiplication with an addition: the kernel of `ilp` and `grid`.

use super::{Exact, OneLaunch, ROUNDS, arg, get, setting, whole_groups};
use crate::data::{Array, Dtype, Fill};
use crate::kernels::shape::Grid;
use crate::kernels::{Ask, Bound, Family, Form, Tunable, rung};
use crate::plan::{Arg, Case, Cost, Plan, Refusal};

/// n items with chains of multiplications, each with an addition.
pub(crate) const FAMILY: Family = Family {
    name: "chains",
    about: "chains of multiplications with an addition",
    form: Form::Vector,
    problem: &Exact::of_each(
        Fill::Exact(64),
        |case| sums_cost(case, size(case).0, size(case).1),
        |case, inputs| sums(inputs, size(case).0, size(case).1),
    ),
    references: &[],
    ladder: &[rung("lab/chains/v1_independent.cl", plan, &[])],
    choices: &[CHAINS, ROUNDS],
    dtypes: &[Dtype::F32],
    ceiling: Bound::Arithmetic,
};

pub(crate) const CHAINS: Tunable = setting("chains", "independent chains of an item");

/// Steps of a chain in a round, as in the kernel.
const STEPS: u64 = 16;

/// Chains of an item, and steps of each.
fn size(case: &Case) -> (u64, u64) {
    (get(&case.params, CHAINS.name), STEPS * get(&case.params, ROUNDS.name))
}

/// Of n items with chains, each of so many steps. An operation is a step: a multiplication with an addition.
pub(super) fn sums_cost(case: &Case, chains: u64, steps: u64) -> Cost {
    let n = case.shape.n as f64;
    Cost { bytes: 8.0 * n, ops: n * (chains * steps) as f64 }
}

/// The sum of an item's chains: the k-th begins at its element plus k, and each step adds one. A whole number that f32
/// has.
pub(super) fn sums(inputs: &[Array], chains: u64, steps: u64) -> Array {
    let added = (chains * chains.saturating_sub(1) / 2 + chains * steps) as f32;
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

//! Chains of steps in groups of any size, whose items all hold as much.

use super::chains::{CHECKS, ChainStep, starts, sums, sums_cost};
use super::*;

/// n items with chains of multiplications with an addition, in groups that the case chooses.
pub static FAMILY: Family = BuiltInFamily {
    name: "group",
    about: "chains of multiplications with an addition in groups of any size",
    problem: &Exact {
        inputs: |shape, _| starts(shape, HELD),
        companions: |case, plan| checked(case, plan, CHECKS),
        ..Exact::of_each(Fill::Exact(64), |case| sums_cost(case, HELD, steps(case)), answer)
    },
    ladder: const { &ladder([rung("lab/group/held.cl", plan, &[])]) },
    choices: &[ROUNDS],
    ..FLOAT_STEPS
}
.family();

/// Chains of an item, and steps of a chain in a round, as in the kernel.
const HELD: u64 = 4;
const STEPS: u64 = 16;

fn steps(case: &Case) -> u64 {
    STEPS * get(&case.params, ROUNDS.name)
}

/// Neighbours are the same in groups of any size, and so are the results: data are kept from size to size.
fn answer(case: &Case, inputs: &[Array]) -> Array {
    match sums(case, inputs, HELD, steps(case)) {
        Array::F32(x) => Array::F32(x.chunks(2).flat_map(|pair| pair.iter().rev().copied()).collect()),
        other => other,
    }
}

fn plan(ask: &Ask<'_>) -> Planned {
    whole_groups(ask)?;
    let wg = ask.case.wg.size();
    if !wg.is_multiple_of(2) {
        return Err(Refusal::Group(format!("work-group {wg}: an even number is needed")));
    }
    let [factor, term] = ChainStep::of(ask.case).args();
    of_each_item(ask, &[], &[arg(ask, ROUNDS.name), factor, term], 4 * HELD * wg as u64)
}

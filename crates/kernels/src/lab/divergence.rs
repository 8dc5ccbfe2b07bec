//! Two branches of equal work, of which an item takes one or both, chosen by its number.

use super::*;

/// The kernel: n items, each with one or both of two branches.
pub static FAMILY: Family = BuiltInFamily {
    name: "divergence",
    about: "two branches of equal work",
    problem: &Exact::of_each(Fill::Real, cost, answer),
    ladder: const { &ladder([rung("lab/divergence/two_ways.cl", plan, &[])]) },
    choices: &[SHIFT, FIRST, SECOND, ROUNDS],
    ceiling: Bound::Arithmetic,
    ..READS
}
.family();

pub const SHIFT: Tunable = setting(
    "shift",
    "logarithm of the items that take one branch together",
);
pub const FIRST: Tunable = setting(
    "first",
    "which runs take the first branch: 1 the even ones, 2 the odd ones, 3 all",
);
pub const SECOND: Tunable = setting("second", "which runs take the second branch");

/// Steps of a branch in one round, as in the kernel, and the numbers in each.
const STEPS: u64 = 8;
const P: u32 = 1_664_525;
const Q: u32 = 1_013_904_223;

fn cost(case: &Case) -> Cost {
    let branches = [FIRST, SECOND].map(|runs| get(case, runs).count_ones() as f64 / 2.0);
    let n = case.shape.n as f64;
    let steps = (STEPS * get(case, ROUNDS)) as f64;
    Cost {
        bytes: 8.0 * n,
        ops: n * steps * (branches[0] + branches[1]),
    }
}

/// What `steps` steps of a chain come to, as a factor and a term: none has to be taken for each item.
fn chain(p: u32, q: u32, steps: u64) -> (u32, u32) {
    (0..steps).fold((1, 0), |(factor, term), _| {
        (factor.wrapping_mul(p), term.wrapping_mul(p).wrapping_add(q))
    })
}

fn answer(case: &Case, inputs: &[Array]) -> Array {
    let [shift, rounds, first, second] =
        [SHIFT, ROUNDS, FIRST, SECOND].map(|setting| get(case, setting));
    let steps = STEPS * rounds;
    let ways = [(first, chain(P, Q, steps)), (second, chain(Q, P, steps))];
    array((0..).zip(words(&inputs[0])).map(|(id, x): (u64, u32)| {
        let odd = id >> shift & 1;
        let taken = ways.iter().filter(|(runs, _)| runs >> odd & 1 == 1);
        taken.fold(x, |a, (_, (factor, term))| {
            a.wrapping_mul(*factor).wrapping_add(*term)
        })
    }))
}

fn plan(ask: &Ask<'_>) -> Planned {
    let args: Vec<Arg> = [ROUNDS, SHIFT, FIRST, SECOND]
        .map(|setting| arg(ask, setting))
        .into_iter()
        .chain([P, Q].map(Arg::Uint))
        .collect();
    of_each_item(ask, &[], &args, 0)
}

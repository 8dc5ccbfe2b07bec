//! Chains of dependent steps, each a multiplication with an addition: the kernel of `ilp` and `grid`.

use super::*;
use rayon::prelude::*;

pub(super) static SUMS: Exact = Exact {
    inputs: |shape, params| starts(shape, get(params, CHAINS.name)),
    companions: |case, plan| checked(case, plan, CHECKS),
    ..Exact::of_each(
        Fill::Exact(LARGEST),
        |case| sums_cost(case, size(case).0, size(case).1),
        |case, inputs| sums(case, inputs, size(case).0, size(case).1),
    )
};

/// n items with chains of multiplications, each with an addition.
pub static FAMILY: Family = BuiltInFamily {
    name: "chains",
    about: "chains of multiplications with an addition",
    problem: &SUMS,
    ladder: const { &ladder([rung("lab/chains/independent.cl", plan, &[])]) },
    choices: &[CHAINS, ROUNDS],
    ..FLOAT_STEPS
}
.family();

pub const CHAINS: Tunable = setting("chains", "independent chains of an item");

/// Steps of a chain in a round, as in the kernel.
const STEPS: u64 = 16;

/// Chains of an item, and steps of each.
fn size(case: &Case) -> (u64, u64) {
    (get(&case.params, CHAINS.name), STEPS * get(&case.params, ROUNDS.name))
}

/// Largest number that a chain begins with, of either sign.
const LARGEST: u64 = 64;

/// The input's length: chains begin with elements from their item's own on, so that none follows from another.
pub(super) fn starts(shape: Shape, chains: u64) -> Vec<usize> {
    vec![(shape.n + chains.saturating_sub(1)) as usize]
}

/// Setting of checks: a step halves, so that one without its multiplication shows, and a chain that was made of another's
/// end by what was between their beginnings.
pub(super) const HALVING: &str = "halving";
/// Setting of checks: a step adds so little that it depends on the chain's own number whether that is lost in rounding.
/// Steps, or chains, that were added up before show.
pub(super) const SLIGHT: &str = "slight";
pub(super) const CHECKS: &[&str] = &[HALVING, SLIGHT];

/// A step: a multiplication with an addition. Products are exact, so that a step rounds once, fused or not.
#[derive(Clone, Copy)]
pub(super) struct ChainStep {
    factor: f32,
    term: f32,
}

impl ChainStep {
    /// The case's step, which adds one unless it is checked otherwise.
    pub(super) fn of(case: &Case) -> ChainStep {
        // 1.5 units in the last place of a number from 16 on, and less than half a unit from 32 on.
        const LITTLE: f32 = 3.0 / (1 << 21) as f32;
        let is_set = |name| case.params.contains_key(name);
        match () {
            () if is_set(HALVING) => ChainStep { factor: 0.5, term: 0.5 },
            () if is_set(SLIGHT) => ChainStep { factor: 1.0, term: LITTLE },
            () => ChainStep { factor: 1.0, term: 1.0 },
        }
    }

    /// Where so many steps lead from a whole number.
    pub(super) fn end(self, start: f32, steps: u64) -> f32 {
        if self.factor == 1.0 && self.term == 1.0 {
            return start + steps as f32;
        }
        let mut at = start;
        for _ in 0..steps {
            let next = at * self.factor + self.term;
            if next == at {
                break;
            }
            at = next;
        }
        at
    }

    /// The factor and the term, which kernels have as floats.
    pub(super) fn args(self) -> [Arg; 2] {
        [self.factor, self.term].map(|number| Arg::Float(number.to_bits()))
    }
}

/// Of n items with chains, each of so many steps. An operation is a step: a multiplication with an addition.
pub(super) fn sums_cost(case: &Case, chains: u64, steps: u64) -> Cost {
    let n = case.shape.n as f64;
    Cost { bytes: 8.0 * n, ops: n * (chains * steps) as f64 }
}

/// The sum of an item's chains: the k-th begins with the k-th element from its own on. A whole number that f32 has, where
/// each step adds one; else added up in the kernels' order.
pub(super) fn sums(case: &Case, inputs: &[Array], chains: u64, steps: u64) -> Array {
    let step = ChainStep::of(case);
    match &inputs[0] {
        Array::F32(x) => {
            let ends: Vec<f32> = x.par_iter().map(|&start| step.end(start, steps)).collect();
            Array::F32(
                ends.par_windows(chains.max(1) as usize)
                    .map(|ends: &[f32]| ends.iter().fold(0.0, |sum, end| sum + end))
                    .collect(),
            )
        }
        other => Array::zeros(other.dtype(), other.len()),
    }
}

fn plan(ask: &Ask<'_>) -> Planned {
    let chains = get(&ask.case.params, CHAINS.name).to_string();
    let [factor, term] = ChainStep::of(ask.case).args();
    of_each_item(ask, &[("CHAINS", chains)], &[arg(ask, ROUNDS.name), factor, term], 0)
}

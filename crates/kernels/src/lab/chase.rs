//! Loads that wait for each other: a chase along a random cycle of addresses, in global or local memory.

use super::*;
use gpulab_model::plan::WorkGroup;

/// A chase over n nodes, a power of two.
pub static FAMILY: Family = BuiltInFamily {
    name: "chase",
    about: "follow a random cycle of addresses",
    problem: &Exact {
        inputs: |_, _| vec![1],
        result: |_, _| 2,
        ..Exact::of_each(Fill::Real, |case| Cost { bytes: 4.0 * loads(case) as f64, ops: loads(case) as f64 }, answer)
    },
    ladder: const { &ladder([rung("lab/chase/global.cl", global, &[]), rung("lab/chase/local.cl", local, &[])]) },
    choices: &[DEPENDENT, ROUNDS],
    ..READS
}
.family();

pub const DEPENDENT: Tunable = setting("dependent", "whether a load's address comes from the load before it");

/// Loads of a round, as in the kernels.
pub const UNROLLED: u64 = 16;
/// The logarithm of the words from one node in global memory to the next, as in the kernel: 128 bytes.
pub const LINE: u32 = 5;
/// Most nodes: their words have numbers of 32 bits.
const MOST: u64 = 1 << (31 - LINE);

/// As in the kernels.
const MIX: u32 = 2_654_435_761;
const UNMIX: u32 = 244_002_641;

/// One-to-one on the numbers below `1 << bits`.
fn place(i: u32, bits: u32) -> u32 {
    (0..3).fold(i, |i, _| {
        let mixed = i.wrapping_mul(MIX) & ((1 << bits) - 1);
        mixed ^ mixed >> bits.div_ceil(2)
    })
}

/// Undoes [`place`].
fn number(node: u32, bits: u32) -> u32 {
    (0..3).fold(node, |node, _| (node ^ node >> bits.div_ceil(2)).wrapping_mul(UNMIX) & ((1 << bits) - 1))
}

fn loads(case: &Case) -> u64 {
    UNROLLED * get(&case.params, ROUNDS.name)
}

/// A sum of the words that loads find, in which their order counts, and the one where the chase ends. A node is a word in
/// local memory, and a line in global memory.
fn answer(case: &Case, inputs: &[Array]) -> Array {
    let bits = case.shape.n.max(1).ilog2();
    let last = (1u32 << bits) - 1;
    let start = words(&inputs[0]).first().copied().unwrap_or(0);
    let line = if case.variant == "global" { LINE } else { 0 };
    let is_dependent = get(&case.params, DEPENDENT.name) == 1;
    let step = |(sum, node): (u32, u32)| {
        let found = place((number(node, bits) + 1) & last, bits);
        let next = if is_dependent { found } else { node.wrapping_add(MIX) & last };
        (sum.wrapping_mul(5).wrapping_add(found << line), next)
    };
    let (sum, node) = (0..loads(case)).fold((start, place(start & last, bits)), |state, _| step(state));
    array([sum, node << line].into_iter())
}

/// The logarithm of the nodes.
fn bits(ask: &Ask<'_>) -> Result<u32, Refusal> {
    let n = ask.case.shape.n;
    match n.is_power_of_two() && (2..=MOST).contains(&n) {
        true => Ok(n.ilog2()),
        false => Err(Refusal::Size(format!("n={n}: a power of two from 2 to {MOST} is needed"))),
    }
}

fn global(ask: &Ask<'_>) -> Planned {
    let bits = bits(ask)?;
    let wg = ask.case.wg;
    if wg.size() != 1 {
        return Err(Refusal::Group(format!("work-group {wg}: one item chases, so a group of 1 is needed")));
    }
    let one = Grid { groups: 1, wg: 1 };
    let nodes = ask.case.shape.n;
    let mut plan = Builder::linear(ask, shape::wrapping(ask.case.dtype), one);
    plan.note_all();
    plan.define("DEPENDENT", get(&ask.case.params, DEPENDENT.name));
    let out = plan.output(2);
    let next = plan.scratch((nodes as usize) << LINE);
    let linking = (1u64 << ask.target.max_wg.ilog2()).min(64).min(nodes);
    let link = format!("{}_link", ask.rung.kernel());
    plan.prepare(&link, [nodes / linking, 1, 1], WorkGroup::linear(linking as usize), vec![next, Arg::Uint(bits)]);
    let args = [out, next, Arg::Uint(bits), arg(ask, ROUNDS.name)];
    plan.pass(one, plan.inputs().into_iter().chain(args).collect());
    Ok(plan.plan_with(0, 0))
}

fn local(ask: &Ask<'_>) -> Planned {
    let bits = bits(ask)?;
    let bytes = 4u64 << bits;
    OneLaunch {
        grid: Grid { groups: 1, wg: ask.case.wg.size() },
        output: 2,
        defines: &[("DEPENDENT", get(&ask.case.params, DEPENDENT.name).to_string())],
        args: &[Arg::Local(bytes as usize), Arg::Uint(bits), arg(ask, ROUNDS.name)],
        local: bytes,
    }
    .plan(ask)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cycle_has_every_node_and_both_functions_undo_each_other() {
        for bits in [1, 2, 5, 10, 13] {
            let nodes = 1u32 << bits;
            let mut places: Vec<u32> = (0..nodes).map(|i| place(i, bits)).collect();
            assert!((0..nodes).all(|i| number(place(i, bits), bits) == i), "{bits}");
            places.sort_unstable();
            assert!(places.into_iter().eq(0..nodes), "{bits}");
        }
    }

    #[test]
    fn neighbours_in_the_cycle_lie_apart() {
        let distance = |i: u32| place(i, 12).abs_diff(place(i + 1, 12));
        let mut distances: Vec<u32> = (0..4095).map(distance).collect();
        distances.sort_unstable();
        distances.dedup();
        // A prefetcher follows a distance that comes back; at random, 4095 distances have about 2300 values.
        assert!(distances.len() > 1500, "{}", distances.len());
    }
}

//! The dot product of two vectors: the sum over i of `x[i] * y[i]`.
//!
//! The ladder follows the classic exercise (a chunk for each work-item, coalescing with a presum of the
//! remainder, a tree in local memory) and goes on to what modern devices need.

use super::draft::Draft;
use super::shape::{self, ACC, Grid, HOST_FINISH, ITEMS, grid, tree_depth};
use super::*;
use crate::cpu;

/// The family's entry in the registry.
pub const FAMILY: Family = Family {
    name: "dot",
    about: "dot product of two vectors",
    form: Form::Vector,
    references: &[],
    problem: &Dot,
    ladder: &[
        rung("dot/v1_naive.cl", naive, &[ITEMS, MAD]),
        rung("dot/v2_coalesced.cl", coalesced, &[ITEMS, PRESUM, MAD]),
        rung("dot/v3_local.cl", local, &[ITEMS, PRESUM, MAD]),
        rung("dot/v4_vectorised.cl", vectorised, &[ITEMS, PRESUM, MAD]),
        rung("dot/v5_accumulators.cl", accumulators, &[ITEMS, ACC, MAD]),
        rung("dot/v6_single_pass.cl", single_pass, &[ITEMS, ACC, MAD]),
        rung("dot/v7_wide.cl", wide, &[MAD]),
    ],
    choices: &[],
    dtypes: &[Dtype::F32, Dtype::F64, Dtype::I32],
    ceiling: Bound::Read,
};

const PRESUM: Tunable = Tunable {
    name: "presum",
    about: "who adds the remainder n mod work-items: the host, a kernel on the device, or none: a guard in the loop",
    values: &["host", "device", "none"],
};
const MAD: Tunable = Tunable { name: "mad", about: "1: mad() instead of a * b + c; floats only", values: &["0", "1"] };
struct Dot;

impl Problem for Dot {
    fn inputs(&self, shape: Shape, _: &Params) -> Vec<usize> {
        vec![shape.n as usize; 2]
    }

    fn exact_fill(&self, case: &Case) -> Fill {
        // Products reach K*K: no partial sum may leave f32's exact range, but with negligible probability.
        Fill::Fractions(if case.shape.n <= 1 << 24 { 8 } else { 4 })
    }

    /// Each value times one, and one times each value.
    fn lone(&self, case: &Case, draw: u64) -> Option<Lone> {
        let one = data::generate(Fill::Ones, case.dtype, 0, 0, 0, 1);
        let values = data::telling(case.dtype, draw).into_iter().chain(data::not_finite(case.dtype));
        let values = values.flat_map(|value| [vec![value.clone(), one.clone()], vec![one.clone(), value]]).collect();
        Some(Lone { neutral: vec![Array::zeros(case.dtype, 1); 2], values })
    }

    fn decide(&self, _: &Case, inputs: &[Array], before: Option<&Reference>, margin: f64, spot: Spot) -> Vec<Change> {
        let values = before.and_then(|before| cpu::dot::deciding(inputs, before, margin, spot.at, spot.draw));
        let change = |(input, value)| Change { input, index: spot.at, value };
        values.map_or_else(Vec::new, |values| (0..).zip(values).map(change).collect())
    }

    fn beside(&self, _: &Case) -> Fill {
        Fill::Positive
    }

    fn cost(&self, case: &Case) -> Cost {
        let n = case.shape.n as f64;
        Cost { bytes: 2.0 * n * case.dtype.size() as f64, ops: 2.0 * n }
    }

    fn reference(&self, _: &Case, inputs: &[Array]) -> Reference {
        cpu::dot::reference(&inputs[0], &inputs[1])
    }

    fn finish(&self, _: &Case, output: Array, tails: &[Array]) -> Array {
        let none = Array::zeros(output.dtype(), 0);
        let (x, y) = if let [x, y] = tails { (x, y) } else { (&none, &none) };
        cpu::dot::finish(&output, x, y)
    }

    fn baselines(&self) -> &'static [Baseline] {
        cpu::dot::BASELINES
    }
}

/// Who adds the elements that do not fill a whole turn of the loop.
#[derive(Clone, Copy, PartialEq)]
enum Presum {
    Host,
    Device,
    Guard,
}

/// The inputs' places among a plan's buffers.
const X: Arg = Arg::Buffer(0);
const Y: Arg = Arg::Buffer(1);

/// A draft with the settings that all rungs share, for a launch of `grid`.
fn draft<'a>(ask: &'a Ask<'a>, grid: Grid) -> Result<Draft<'a>, Refusal> {
    let mad = match ask.case.params.get("mad").map(String::as_str) {
        None | Some("0") => false,
        Some("1") => ask.case.dtype.is_float(),
        Some(other) => return Err(Refusal::Setting(format!("mad={other}: 0 or 1 is needed"))),
    };
    let mut draft = Draft::new(ask, grid, shape::wrapping(ask.case.dtype));
    if mad {
        draft.define("USE_MAD", 1);
    }
    draft.set("mad", u8::from(mad));
    Ok(draft)
}

fn presum(ask: &Ask<'_>) -> Result<Presum, Refusal> {
    match ask.case.params.get("presum").map(String::as_str) {
        Some("host") => Ok(Presum::Host),
        None | Some("device") => Ok(Presum::Device),
        Some("none") => Ok(Presum::Guard),
        Some(other) => Err(Refusal::Setting(format!("presum={other}: host, device or none is needed"))),
    }
}

fn naive(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let draft = draft(ask, grid(ask, 1)?)?;
    let (n, grid) = (draft.n(), draft.grid);
    let pass = draft.pass("", grid, vec![X, Y, Arg::Buffer(2), Arg::Index(n)]);
    let chunk = n.div_ceil(grid.items() as u64);
    let partial = (Role::Output, ask.case.dtype, grid.items());
    Ok(draft.plan(2, &[partial], vec![pass], chunk + 1 + HOST_FINISH))
}

fn coalesced(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let grid = grid(ask, 1)?;
    strided(ask, grid, grid.items(), 0)
}

fn local(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let grid = grid(ask, 1)?;
    strided(ask, grid, grid.groups, 1 + tree_depth(grid.wg))
}

/// Rungs 2 and 3: clear, presum, strides of single elements; `partials` sums are left for the host.
fn strided(ask: &Ask<'_>, grid: Grid, partials: usize, tree: u64) -> Result<Plan, Refusal> {
    let mut draft = draft(ask, grid)?;
    let presum = remember_presum(&mut draft)?;
    let (n, items) = (draft.n(), grid.items() as u64);
    let end = if presum == Presum::Guard { n } else { n - n % items };
    let mut passes = clear_and_presum(&draft, presum, end);
    passes.push(draft.pass("", grid, vec![X, Y, Arg::Buffer(2), Arg::Index(end)]));
    let depth = 1 + n.div_ceil(items) + 1 + tree + HOST_FINISH;
    let host_tail = (presum == Presum::Host && end < n).then_some(end);
    Ok(Plan { host_tail, ..draft.plan(2, &[(Role::Output, ask.case.dtype, partials)], passes, depth) })
}

fn vectorised(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let grid = grid(ask, 4)?;
    let mut draft = draft(ask, grid)?;
    let presum = remember_presum(&mut draft)?;
    let (n, items) = (draft.n(), grid.items() as u64);
    let vectors = n / 4;
    let (end, tail) = match presum {
        Presum::Guard => (vectors, 4 * vectors),
        Presum::Host | Presum::Device => (vectors - vectors % items, n),
    };
    let mut passes = clear_and_presum(&draft, presum, 4 * end);
    let args = vec![X, Y, Arg::Buffer(2), Arg::Index(end), Arg::Index(tail), Arg::Index(n)];
    passes.push(draft.pass("", grid, args));
    // Strides, four lanes, up to three elements of a tail or seven of the presum, two partial sums, the tree.
    let depth = 1 + vectors.div_ceil(items) + 2 + 7 + 1 + tree_depth(grid.wg) + HOST_FINISH;
    let host_tail = (presum == Presum::Host && 4 * end < n).then_some(4 * end);
    Ok(Plan { host_tail, ..draft.plan(2, &[(Role::Output, ask.case.dtype, grid.groups)], passes, depth) })
}

fn remember_presum(draft: &mut Draft<'_>) -> Result<Presum, Refusal> {
    let presum = presum(draft.ask)?;
    let name = draft.ask.case.params.get("presum").map_or("device", String::as_str);
    draft.set("presum", name);
    Ok(presum)
}

/// The launches before the main one: the partial sums are cleared, then the device adds `begin..n`.
fn clear_and_presum(draft: &Draft<'_>, presum: Presum, begin: u64) -> Vec<Pass> {
    let (n, grid) = (draft.n(), draft.grid);
    let mut passes = vec![draft.pass("_clear", grid, vec![Arg::Buffer(2)])];
    if presum == Presum::Device && begin < n {
        passes.push(draft.pass("_presum", grid, vec![X, Y, Arg::Buffer(2), Arg::Index(begin), Arg::Index(n)]));
    }
    passes
}

/// The fixed grid of rungs 5 and 6, with its accumulators.
fn accumulating<'a>(ask: &'a Ask<'a>) -> Result<(Draft<'a>, u64), Refusal> {
    let acc = shape::accumulators(&ask.case.params, 4)?;
    let mut draft = draft(ask, grid(ask, 4 * acc)?)?;
    draft.set("acc", acc);
    draft.define("ACC", acc);
    let grid = draft.grid;
    // Whole turns, then up to acc single strides into the first accumulator.
    let strides = (draft.n() / 4).div_ceil(grid.items() as u64 * acc) + acc;
    // The accumulators, the four lanes, up to three elements of the tail.
    let lanes = (acc - 1) + 2 + 3;
    // One group adds a partial sum for each group of the grid.
    let finish = grid.groups.div_ceil(grid.wg) as u64 + tree_depth(grid.wg);
    Ok((draft, 1 + strides + lanes + tree_depth(grid.wg) + finish))
}

fn accumulators(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let (draft, depth) = accumulating(ask)?;
    let (n, grid, dtype) = (draft.n(), draft.grid, ask.case.dtype);
    let one = Grid { groups: 1, wg: grid.wg };
    let passes = vec![
        draft.pass("", grid, vec![X, Y, Arg::Buffer(2), Arg::Index(n)]),
        draft.pass("_finish", one, vec![Arg::Buffer(2), Arg::Buffer(3), Arg::Uint(grid.groups as u32)]),
    ];
    let rest = [(Role::Scratch, dtype, grid.groups), (Role::Output, dtype, 1)];
    Ok(draft.plan(2, &rest, passes, depth))
}

fn single_pass(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let (draft, depth) = accumulating(ask)?;
    let (n, grid, dtype) = (draft.n(), draft.grid, ask.case.dtype);
    let args = vec![X, Y, Arg::Buffer(2), Arg::Buffer(3), Arg::Buffer(4), Arg::Index(n)];
    let passes = vec![draft.pass("", grid, args)];
    let words = grid.groups * dtype.size() / 4;
    let rest = [(Role::Scratch, Dtype::I32, words), (Role::Zeroed, Dtype::I32, 1), (Role::Output, dtype, 1)];
    Ok(draft.plan(2, &rest, passes, depth))
}

fn wide(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let n = ask.case.shape.n;
    let (grid, chunk) = shape::chunks(ask.target, n);
    let draft = draft(ask, grid)?;
    let pass = draft.pass("", grid, vec![X, Y, Arg::Buffer(2), Arg::Index(chunk), Arg::Index(n)]);
    // Turns of 64, the four accumulators, sixteen lanes, up to 63 elements of the tail.
    let depth = 1 + chunk / 64 + 2 + 4 + 63 + HOST_FINISH;
    Ok(draft.plan(2, &[(Role::Output, ask.case.dtype, grid.items())], vec![pass], depth))
}

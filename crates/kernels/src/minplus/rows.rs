//! Distances from a few nodes: all paths that are known go one edge further, until nothing becomes better.

use super::closure::AllPairs;
use super::{SEMIRING, WEIGHTS, begin};
use crate::builder::RESTORE;
use crate::{Ask, Bound, BuiltInFamily, Family, Form, Planned, Problem, Spot, Tunable, ladder_from, rung, shape};
use gpulab_cpu::minplus::{self as host, Semiring};
use gpulab_model::data::{Array, Change, Dtype, Fill, Params, Shape};
use gpulab_model::plan::{Arg, Case, Cost, Reference, Role, WorkGroup};

/// Most nodes whose paths are found at once: an item keeps a distance of each in its registers.
pub const MOST_SOURCES: usize = 16;

/// How many nodes there are to start from.
pub const SOURCES: Tunable =
    Tunable::number("sources", "nodes where paths start", (1, MOST_SOURCES as u64), "1 4 16").by_default("1");

/// The family of distances from a few nodes: the first input has the weights, the second the rows that are known.
pub static SOME_ROWS: Family = BuiltInFamily {
    name: "rows",
    about: "distances from a few nodes of a graph",
    form: Form::Square,
    problem: &FromSome,
    ladder: const { &ladder_from(0, [rung("rows/relax.cl", rows, &[]).between(&[], &[RESTORE])]) },
    choices: &[SEMIRING, WEIGHTS, SOURCES],
    dtypes: &[Dtype::F32, Dtype::I32, Dtype::F64],
    ceiling: Bound::AddMin,
}
.family();

struct FromSome;

fn row_elements(shape: Shape, params: &Params) -> usize {
    let sources = params.get(SOURCES.name).and_then(|count| count.parse().ok()).unwrap_or(1);
    shape.n as usize * sources
}

impl Problem for FromSome {
    fn inputs(&self, shape: Shape, params: &Params) -> Vec<usize> {
        vec![shape.elements() as usize, row_elements(shape, params)]
    }

    fn result(&self, shape: Shape, params: &Params) -> usize {
        row_elements(shape, params)
    }

    /// The first rows of the matrix, over again where it has fewer.
    fn input(&self, case: &Case, index: usize, len: usize, fill: Fill, seed: u64) -> Array {
        let weights = AllPairs.input(case, 0, case.shape.elements() as usize, fill, seed);
        match index {
            0 => weights,
            _ => (0..len / weights.len().max(1))
                .fold(weights.clone(), |rows, _| rows.followed_by(&weights))
                .beginning(len),
        }
    }

    fn fill(&self, case: &Case) -> Fill {
        AllPairs.fill(case)
    }

    fn decide(
        &self,
        case: &Case,
        inputs: &[Array],
        before: Option<&Reference>,
        margin: f64,
        spot: Spot,
    ) -> Vec<Change> {
        AllPairs.decide(case, inputs, before, margin, spot)
    }

    /// That of one step.
    fn cost(&self, case: &Case) -> Cost {
        let matrix = case.shape.elements() as f64;
        let rows = row_elements(case.shape, &case.params) as f64;
        let size = case.dtype.size() as f64;
        Cost { bytes: (matrix + 2.0 * rows) * size, ops: 2.0 * rows * case.shape.n as f64 }
    }

    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference {
        let n = case.shape.n as usize;
        let mut rows = inputs[1].clone();
        host::follow(Semiring::of(&case.params), n, &inputs[0], &mut rows);
        Reference::Exact(rows)
    }
}

fn rows(ask: &Ask<'_>) -> Planned {
    const STRIP: usize = 32;
    let n = ask.case.shape.n;
    let sources = SOURCES.get(&ask.case.params)?.unwrap_or(1);
    let wg = WorkGroup([STRIP, if ask.target.gpu { 8 } else { 1 }, 1]);
    shape::check_wg(wg, ask.target)?;
    let mut plan = begin(ask, n)?;
    plan.set(SOURCES.name, sources);
    plan.define("LANES", wg.0[1]);
    let inputs = plan.inputs();
    let length = (sources * n) as usize;
    let [there, back] = [plan.output(length), plan.scratch(length)];
    // A path has less than n edges; the last of an odd number of launches writes what the first does.
    let rounds = n | 1;
    let changed = plan.buffer(Role::Scratch, Dtype::I32, rounds as usize);
    plan.zero(ask.target.max_wg, changed);
    for round in 0..rounds {
        let [from, to] = if round % 2 == 0 { [back, there] } else { [there, back] };
        let from = if round == 0 { inputs[1] } else { from };
        let args = vec![inputs[0], from, to, changed, Arg::Index(n), Arg::Index(round)];
        plan.launch([n.div_ceil(STRIP as u64), 1, 1], wg, args);
    }
    let local = wg.0[1] as u64 * sources * STRIP as u64;
    Ok(plan.plan(local, n))
}

//! The dot product of two vectors: the sum over i of `x[i] * y[i]`.
//!
//! The ladder follows the classic exercise: a chunk for each work-item, coalescing with a presum of the remainder, a
//! tree in local memory. Then it goes on to what modern devices need.

use super::shape::{ACC, HOST_FINISH, ITEMS, grid, tree_depth};
use crate::prelude::*;
use crate::{Baseline, Changed, Fold, Lone, Spot, largest_exact};
use gpulab_model::data::{self, Change};

pub static FAMILY: Family = BuiltInFamily {
    name: "dot",
    about: "dot product of two vectors",
    form: Form::Vector,
    problem: &Dot,
    ladder: const {
        &ladder([
            rung("dot/naive.cl", naive, &[ITEMS, MAD]),
            rung("dot/coalesced.cl", coalesced, &[ITEMS, PRESUM, MAD])
                .with(&["dot/presum_items.cl"]),
            rung("dot/local.cl", local, &[ITEMS, PRESUM, MAD])
                .with(&["common/tree.cl", "dot/presum_groups.cl"]),
            rung("dot/vectorised.cl", vectorised, &[ITEMS, PRESUM, MAD])
                .with(&["dot/presum_groups.cl"]),
            rung("dot/accumulators.cl", accumulators, &[ITEMS, DOT_ACC, MAD])
                .with(&["dot/finish.cl"]),
            rung("dot/single_pass.cl", single_pass, &[ITEMS, DOT_ACC, MAD]),
            rung("dot/wide.cl", wide, &[MAD]),
        ])
    },
    choices: &[],
    dtypes: &[Dtype::F32, Dtype::F64, Dtype::I32],
    ceiling: Bound::Read,
}
.family();

const PRESUM: Tunable = Tunable::choice(
    "presum",
    "who adds the remainder n mod work-items: the host, a kernel on the device, or none: a guard in the loop",
    "host device none",
)
.by_default("device")
.unsearched();
/// The settings of the CMSoft article: 1024 work-items, and a kernel for the elements beside a whole turn of them.
pub const CMSOFT: [(&str, &str); 2] = [(ITEMS.name, "1024"), (PRESUM.name, "device")];

const MAD: Tunable =
    Tunable::switch("mad", "1: mad() instead of a * b + c; floats only").by_default("0");
const DOT_ACC: Tunable = ACC.by_default("4");

pub(crate) struct Dot;

impl Problem for Dot {
    fn inputs(&self, shape: Shape, _: &Params) -> Vec<usize> {
        vec![shape.n as usize; 2]
    }

    fn decide(
        &self,
        _: &Case,
        inputs: &[Array],
        before: Option<&Reference>,
        margin: f64,
        spot: Spot,
    ) -> Vec<Change> {
        let values = before
            .and_then(|before| cpu::dot::deciding(inputs, before, margin, spot.at, spot.draw));
        values.map_or_else(Vec::new, |values| {
            (0..)
                .zip(values)
                .map(|(input, value)| Change {
                    input,
                    index: spot.at,
                    value,
                })
                .collect()
        })
    }

    fn beside(&self, _: &Case) -> Fill {
        Fill::Positive
    }

    fn counted(&self) -> &'static str {
        "2 n elements read"
    }

    fn cost(&self, case: &Case) -> Cost {
        let n = case.shape.n as f64;
        Cost {
            bytes: 2.0 * n * case.dtype.size() as f64,
            ops: 2.0 * n,
        }
    }

    fn reference(&self, _: &Case, inputs: &[Array]) -> Reference {
        cpu::dot::reference(&inputs[0], &inputs[1])
    }

    /// Changes come in pairs, of both factors of a product.
    fn amended(&self, _: &Case, _: &[Array], changes: &[Changed], before: &Reference) -> Reference {
        changes
            .as_chunks()
            .0
            .iter()
            .fold(before.clone(), |before, [x, y]| {
                cpu::dot::amended(
                    &before,
                    [&x.old, &y.old],
                    [&x.change.value, &y.change.value],
                )
            })
    }

    fn finish(&self, _: &Case, output: Array, tails: &[Array]) -> Array {
        let none = Array::zeros(output.dtype(), 0);
        let (x, y) = if let [x, y] = tails {
            (x, y)
        } else {
            (&none, &none)
        };
        cpu::dot::finish(&output, x, y)
    }

    fn baselines(&self) -> &'static [Baseline] {
        cpu::dot::BASELINES
    }

    fn fold(&self) -> Option<&dyn Fold> {
        Some(self)
    }
}

impl Fold for Dot {
    fn exact_fill(&self, case: &Case) -> Fill {
        Fill::Fractions(most_exact(case))
    }

    fn more_exact_fills(&self, case: &Case) -> Vec<Fill> {
        match case.dtype.is_float() {
            true => vec![Fill::Scaled(most_exact(case))],
            false => vec![Fill::Sizes(14), Fill::Sizes(40)],
        }
    }

    /// Each value times one, and one times each value; infinity and NaN times zero and themselves as well; products that are
    /// too large; and products that are rounded, which mad() may do as it likes.
    fn lone(&self, case: &Case, draw: u64) -> Lone {
        let one = data::generate(Fill::Ones, case.dtype, 0, 0, 0, 1);
        let telling = data::telling(case.dtype, draw);
        let pairs = telling
            .iter()
            .zip(data::telling(case.dtype, !draw).into_iter().rev());
        let pairs = pairs
            .map(|(a, b)| vec![a.clone(), b])
            .filter(|pair| is_normal(&self.reference(case, pair)));
        let pairs: Vec<Vec<Array>> = if is_mad(case).is_ok_and(|mad| mad) {
            vec![]
        } else {
            pairs.collect()
        };
        let values = telling.iter().cloned().chain(data::not_finite(case.dtype));
        let zero = Array::zeros(case.dtype, 1);
        let both = |value: Array, other: &Array| {
            [
                vec![value.clone(), other.clone()],
                vec![other.clone(), value],
            ]
        };
        let without_sum = data::not_finite(case.dtype)
            .into_iter()
            .flat_map(|value| both(value, &zero));
        let squares = data::not_finite(case.dtype)
            .into_iter()
            .map(|value| vec![value.clone(), value]);
        let too_large = telling
            .iter()
            .filter(|_| case.dtype.is_float())
            .map(|value| vec![value.clone(); 2]);
        let too_large =
            too_large.filter(|pair| is_too_large(&self.reference(case, pair), case.dtype));
        let values = values
            .flat_map(|value| both(value, &one))
            .chain(without_sum)
            .chain(squares);
        let values = values.chain(too_large).chain(pairs).collect();
        let sums = Lone::sums(case.dtype, |term| vec![term, one.clone()]);
        Lone {
            neutral: vec![zero.clone(); 2],
            values,
            pairs: sums,
        }
    }
}

/// Whether a product is none that a device may flush to zero, and none that overflows f32.
fn is_normal(product: &Reference) -> bool {
    let single = f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX);
    product
        .rounded()
        .is_none_or(|product| single.contains(&product.value.abs()))
}

/// Whether a product is beyond the type.
fn is_too_large(product: &Reference, dtype: Dtype) -> bool {
    let largest = if dtype == Dtype::F32 {
        f64::from(f32::MAX)
    } else {
        f64::MAX
    };
    product
        .rounded()
        .is_some_and(|product| product.value.abs() > largest)
}

/// The largest factor with which sums of products are exact in the case's type and size, in any order.
fn most_exact(case: &Case) -> u64 {
    let bits = if case.dtype == Dtype::F64 { 53 } else { 24 };
    (largest_exact(bits, case.shape.n).sqrt() as u64).max(1)
}

/// Who adds the elements that do not fill a whole turn of the loop.
#[derive(Clone, Copy, PartialEq)]
enum Presum {
    Host,
    Device,
    Guard,
}

/// Whether products are rounded as the device likes.
fn is_mad(case: &Case) -> Result<bool, Refusal> {
    Ok(MAD.is_on(&case.params)?.unwrap_or(false) && case.dtype.is_float())
}

/// A plan with the settings that all rungs share, for a launch of `grid`.
fn begin<'a>(ask: &'a Ask<'a>, grid: Grid) -> Result<Builder<'a>, Refusal> {
    let mad = is_mad(ask.case)?;
    let mut plan = Builder::linear(ask, shape::wrapping(ask.case.dtype), grid);
    if mad {
        plan.define("USE_MAD", 1);
    }
    plan.note(MAD.name, u8::from(mad));
    Ok(plan)
}

/// The vectors and the results, then sizes: what all kernels of a rung take.
fn args(plan: &Builder<'_>, results: &[Arg], sizes: &[u64]) -> Vec<Arg> {
    plan.args(
        results
            .iter()
            .copied()
            .chain(sizes.iter().copied().map(Arg::Index)),
    )
}

fn naive(ask: &Ask<'_>) -> Planned {
    let grid = grid(ask, 1)?;
    let mut plan = begin(ask, grid)?;
    let n = plan.n();
    let partial = plan.output(grid.items());
    plan.pass(grid, args(&plan, &[partial], &[n]));
    let chunk = n.div_ceil(grid.items() as u64);
    Ok(plan.plan(grid.wg as u64, chunk + 1 + HOST_FINISH))
}

/// As [`grid`]; but if the remainder is added apart, every work-item has elements in each turn, if there are enough for one group. Else
/// all elements could be remainder.
fn whole_turns(ask: &Ask<'_>, per_item: u64) -> Result<Grid, Refusal> {
    let grid = grid(ask, per_item)?;
    if PRESUM.given(&ask.case.params)? == Some("none") {
        return Ok(grid);
    }
    let most = ask.n() / (per_item * grid.wg as u64);
    Ok(Grid {
        groups: grid.groups.min(most.max(1) as usize),
        ..grid
    })
}

fn coalesced(ask: &Ask<'_>) -> Planned {
    let grid = whole_turns(ask, 1)?;
    strided(ask, grid, grid.items(), 0)
}

fn local(ask: &Ask<'_>) -> Planned {
    let grid = whole_turns(ask, 1)?;
    strided(ask, grid, grid.groups, 1 + tree_depth(grid.wg))
}

/// `coalesced` and `local`: clear, presum, strides of single elements; `partials` sums are left for the host.
fn strided(ask: &Ask<'_>, grid: Grid, partials: usize, tree: u64) -> Planned {
    let mut plan = begin(ask, grid)?;
    let presum = remember_presum(&mut plan)?;
    let n = plan.n();
    let items = grid.items() as u64;
    let end = if presum == Presum::Guard {
        n
    } else {
        n - n % items
    };
    let partial = plan.output(partials);
    clear_and_presum(&mut plan, grid, presum, partial, end);
    plan.pass(grid, args(&plan, &[partial], &[end]));
    Ok(plan.plan(
        grid.wg as u64,
        1 + n.div_ceil(items) + 1 + tree + HOST_FINISH,
    ))
}

fn vectorised(ask: &Ask<'_>) -> Planned {
    let grid = whole_turns(ask, 4)?;
    let mut plan = begin(ask, grid)?;
    let presum = remember_presum(&mut plan)?;
    let n = plan.n();
    let items = grid.items() as u64;
    let vectors = n / 4;
    let (end, tail) = match presum {
        Presum::Guard => (vectors, 4 * vectors),
        Presum::Host | Presum::Device => (vectors - vectors % items, n),
    };
    let partial = plan.output(grid.groups);
    clear_and_presum(&mut plan, grid, presum, partial, 4 * end);
    plan.pass(grid, args(&plan, &[partial], &[end, tail, n]));
    // Strides, four lanes, up to three elements of a tail or seven of the presum, two partial sums, the tree.
    let depth = 1 + vectors.div_ceil(items) + 2 + 7 + 1 + tree_depth(grid.wg) + HOST_FINISH;
    Ok(plan.plan(grid.wg as u64, depth))
}

fn remember_presum(plan: &mut Builder<'_>) -> Result<Presum, Refusal> {
    let who = PRESUM.given(&plan.ask.case.params)?.unwrap_or("device");
    plan.note(PRESUM.name, who);
    Ok(match who {
        "host" => Presum::Host,
        "none" => Presum::Guard,
        _ => Presum::Device,
    })
}

/// The launches before the main one: the partial sums are cleared, then the device adds `begin..n`, unless the host does.
fn clear_and_presum(plan: &mut Builder<'_>, grid: Grid, presum: Presum, partial: Arg, begin: u64) {
    let n = plan.n();
    plan.pass_of("dot_clear", grid, vec![partial]);
    match presum {
        Presum::Device if begin < n => {
            plan.pass_of("dot_presum", grid, args(plan, &[partial], &[begin, n]))
        }
        Presum::Host if begin < n => plan.leave_to_host(begin),
        _ => {}
    }
}

/// The fixed grid of `accumulators` and `single_pass`, with its accumulators, and the depth of a group's sum.
fn accumulating<'a>(ask: &'a Ask<'a>) -> Result<(Builder<'a>, Grid, u64), Refusal> {
    let acc = DOT_ACC.get(&ask.case.params)?.unwrap_or(4);
    let grid = shape::grid_by(ask, 4 * acc, Grid::sparse)?;
    let mut plan = begin(ask, grid)?;
    plan.set(ACC.name, acc);
    let turns = (plan.n() / 4).div_ceil(grid.items() as u64 * acc);
    // The accumulators, the four lanes, up to three elements of the tail.
    let lanes = (acc - 1) + 2 + 3;
    Ok((plan, grid, 1 + turns + lanes + tree_depth(grid.wg)))
}

/// Additions of one group that adds a partial sum for each group of the grid.
fn finishing(grid: Grid) -> u64 {
    grid.groups.div_ceil(grid.wg) as u64 + tree_depth(grid.wg)
}

fn accumulators(ask: &Ask<'_>) -> Planned {
    let (mut plan, grid, depth) = accumulating(ask)?;
    let partial = plan.scratch(grid.groups);
    let result = plan.output(1);
    plan.pass(grid, args(&plan, &[partial], &[plan.n()]));
    let one = Grid {
        groups: 1,
        wg: grid.wg,
    };
    plan.pass_of(
        "dot_finish",
        one,
        vec![partial, result, Arg::Uint(grid.groups as u32)],
    );
    Ok(plan.plan(grid.wg as u64, depth + finishing(grid)))
}

fn single_pass(ask: &Ask<'_>) -> Planned {
    let (mut plan, grid, depth) = accumulating(ask)?;
    let results = plan.single_pass(grid);
    plan.pass(grid, args(&plan, &results, &[plan.n()]));
    let finish = if grid.groups > 1 { finishing(grid) } else { 0 };
    Ok(plan.plan(grid.wg as u64, depth + finish))
}

fn wide(ask: &Ask<'_>) -> Planned {
    let n = ask.n();
    let (grid, chunk) = shape::chunks(ask.target, n);
    let mut plan = begin(ask, grid)?;
    let partial = plan.output(grid.items());
    plan.pass(grid, args(&plan, &[partial], &[chunk, n]));
    // Turns of 64, the four accumulators, sixteen lanes, up to 63 elements of the tail.
    Ok(plan.plan(grid.wg as u64, 1 + chunk / 64 + 2 + 4 + 63 + HOST_FINISH))
}

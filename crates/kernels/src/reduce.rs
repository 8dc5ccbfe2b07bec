//! The reduction of a vector by an operation: its sum, its least or greatest element, and, or, xor of its bits.
//!
//! The first seven rungs are those of M. Harris, "Optimizing Parallel Reduction in CUDA" (NVIDIA, 2007), with the last
//! warp synchronised as today's hardware needs it; the others go on to what fills modern memories.

use super::shape::{ACC, HOST_FINISH, ITEMS, grid, tree_depth};
use crate::prelude::*;
use crate::{Baseline, Changed, Fold, Lone, Spot, largest_exact};
use gpulab_cpu::reduce::{self as host, Op};
use gpulab_model::data::{self, Change};
use gpulab_model::plan::{Role, WorkGroup};

pub static FAMILY: Family = BuiltInFamily {
    name: "reduce",
    about: "sum, minimum, maximum, and, or, xor of a vector",
    form: Form::Vector,
    problem: &Reduce,
    ladder: const {
        &ladder([
            rung(
                "reduce/interleaved.cl",
                |ask| looped_tree(ask, 1, None),
                &[SIZE, FINISH],
            )
            .with(&TREE_AND_FINISHING),
            rung(
                "reduce/strided.cl",
                |ask| looped_tree(ask, 1, None),
                &[SIZE, FINISH],
            )
            .with(&TREE_AND_FINISHING),
            rung(
                "reduce/sequential.cl",
                |ask| looped_tree(ask, 1, None),
                &[SIZE, FINISH],
            )
            .with(&TREE_AND_FINISHING),
            rung(
                "reduce/first_add.cl",
                |ask| looped_tree(ask, 2, None),
                &[SIZE, FINISH],
            )
            .with(&TREE_AND_FINISHING),
            rung("reduce/last_warp.cl", last_warp, &[SIZE, FINISH]).with(&TREE_AND_FINISHING),
            rung("reduce/unrolled.cl", unrolled, &[FINISH]).with(&TREE_AND_FINISHING),
            rung("reduce/raking.cl", raking, &[ITEMS, FINISH]).with(&TREE_AND_FINISHING),
            rung(
                "reduce/vectorised.cl",
                vectorised,
                &[ITEMS, REDUCE_ACC, FINISH],
            )
            .with(&FINISHING),
            rung("reduce/subgroup.cl", subgroup, &[ITEMS, REDUCE_ACC, FINISH]).with(&FINISHING),
            rung("reduce/single_pass.cl", single_pass, &[ITEMS, REDUCE_ACC]),
            rung("reduce/wide.cl", wide, &[FINISH]).with(&TREE_AND_FINISHING),
        ])
    },
    choices: &[OP],
    dtypes: &[Dtype::I32, Dtype::F32, Dtype::I64, Dtype::F64],
    ceiling: Bound::Read,
}
.family();

/// Behind rungs: the launch that reduces what they leave.
const FINISHING: [&str; 1] = ["reduce/finish.cl"];
/// As [`FINISHING`], of rungs that have no use for its tree.
const TREE_AND_FINISHING: [&str; 2] = ["common/tree.cl", "reduce/finish.cl"];

const OP: Tunable = Tunable::choice(
    "op",
    "the operation on two elements; and, or, xor need integers. No elements give 0 for sum, or, xor, all bits for and, \
     the type's greatest value for min, its least for max",
    "sum min max and or xor",
)
.by_default("sum");
const FINISH: Tunable = Tunable::choice(
    "finish",
    "who reduces the groups' partial results: the host, or a second launch on the device",
    "host device",
)
.by_default("host")
.unsearched();
const SIZE: Tunable = Tunable::choice(
    "size",
    "how the rung knows the work-group's size: at run time, as in M. Harris's slides, or as a constant, which lets the \
     compiler unroll loops and drop divisions",
    "runtime constant",
)
.by_default("runtime");
const REDUCE_ACC: Tunable = ACC.by_default("8");

pub(crate) struct Reduce;

impl Problem for Reduce {
    fn fill(&self, case: &Case) -> Fill {
        match op(case) {
            Op::Sum | Op::Xor => Fill::Real,
            Op::Min => Fill::Positive,
            Op::Max => Fill::Negative,
            Op::And => Fill::MostBits,
            Op::Or => Fill::FewBits,
        }
    }

    fn decide(
        &self,
        case: &Case,
        inputs: &[Array],
        before: Option<&Reference>,
        margin: f64,
        spot: Spot,
    ) -> Vec<Change> {
        let value = before.and_then(|before| {
            host::deciding(op(case), &inputs[0], before, margin, spot.at, spot.draw)
        });
        value
            .map(|value| Change {
                input: 0,
                index: spot.at,
                value,
            })
            .into_iter()
            .collect()
    }

    /// What decides is joined with the rest; of a sum, differences are added.
    fn amended(
        &self,
        case: &Case,
        _: &[Array],
        changes: &[Changed],
        before: &Reference,
    ) -> Reference {
        let op = op(case);
        changes.iter().fold(before.clone(), |before, changed| {
            host::amended(op, &before, &changed.old, &changed.change.value)
        })
    }

    /// The sum by the same source, in which every element counts: of minima and bits most do not.
    fn companions(&self, case: &Case, plan: &Plan) -> Vec<Case> {
        if matches!(op(case), Op::Sum | Op::Xor) {
            return Vec::new();
        }
        vec![with_setting(case, plan, OP.name, Op::Sum.name())]
    }

    fn beside(&self, case: &Case) -> Fill {
        match op(case) {
            Op::Sum | Op::Max => Fill::Positive,
            Op::Min => Fill::Negative,
            // Of either sign, so that bits are both set and missing.
            Op::And | Op::Or | Op::Xor => Fill::Exact(64),
        }
    }

    fn counted(&self) -> &'static str {
        "n elements read"
    }

    fn cost(&self, case: &Case) -> Cost {
        let n = case.shape.n as f64;
        Cost {
            bytes: n * case.dtype.size() as f64,
            ops: n,
        }
    }

    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference {
        host::reference(op(case), &inputs[0])
    }

    fn finish(&self, case: &Case, output: Array, _: &[Array]) -> Array {
        host::finish(op(case), &output)
    }

    fn baselines(&self) -> &'static [Baseline] {
        host::BASELINES
    }

    fn fold(&self) -> Option<&dyn Fold> {
        Some(self)
    }
}

impl Fold for Reduce {
    fn exact_fill(&self, case: &Case) -> Fill {
        match op(case) {
            Op::Sum => Fill::Fractions(most_exact(case)),
            _ => self.fill(case),
        }
    }

    /// Numbers of either sign, as the others are all on one side of 0; such as are hard to tell apart; and of many sizes.
    fn more_exact_fills(&self, case: &Case) -> Vec<Fill> {
        let sizes = [Fill::Sizes(16), Fill::Sizes(40)];
        match op(case) {
            op @ (Op::Min | Op::Max) => {
                let near = [false, true].map(|small| Fill::Near {
                    negative: op == Op::Max,
                    small,
                });
                [&[Fill::Real], &near[..], &sizes].concat()
            }
            Op::Sum if case.dtype.is_float() => vec![Fill::Scaled(most_exact(case))],
            Op::Sum | Op::Xor => sizes.into(),
            Op::And | Op::Or => Vec::new(),
        }
    }

    fn lone(&self, case: &Case, draw: u64) -> Lone {
        let op = op(case);
        let mut values = data::telling(case.dtype, draw);
        // Whether a minimum of NaN and a number is one of them OpenCL leaves open.
        values.extend(
            data::not_finite(case.dtype)
                .into_iter()
                .take(if op == Op::Sum { 3 } else { 2 }),
        );
        let neutral = vec![host::finish(op, &Array::zeros(case.dtype, 0))];
        // All of them: the result of nothing.
        values.extend([Array::zeros(case.dtype, 1), neutral[0].clone()]);
        let pairs = match op {
            Op::Sum => Lone::sums(case.dtype, |term| vec![term]),
            Op::Min | Op::Max => Lone::pairs(data::hard_to_compare(case.dtype)),
            Op::And | Op::Or | Op::Xor => Lone::pairs(data::overlapping(case.dtype, draw)),
        };
        Lone {
            neutral,
            values: values.into_iter().map(|value| vec![value]).collect(),
            pairs,
        }
    }

    fn is_decided_by_one(&self, case: &Case) -> bool {
        matches!(op(case), Op::Min | Op::Max | Op::And | Op::Or)
    }
}

/// The largest number whose sums are exact in the case's type and size, in any order.
fn most_exact(case: &Case) -> u64 {
    // Beyond that, the changes that checks make would not be.
    let (bits, most) = if case.dtype == Dtype::F64 {
        (53, 1 << 43)
    } else {
        (24, 1 << 16)
    };
    (largest_exact(bits, case.shape.n) as u64).clamp(1, most)
}

/// The case's operation; planners refuse what names none.
fn op(case: &Case) -> Op {
    Op::of(&case.params).unwrap_or_default()
}

/// A plan with the operation's macros, for a launch of `grid`.
pub(super) fn begin<'a>(ask: &'a Ask<'a>, grid: Grid) -> Result<Builder<'a>, Refusal> {
    let dtype = ask.case.dtype;
    OP.given(&ask.case.params)?;
    let op = op(ask.case);
    if op.is_bitwise() && dtype.is_float() {
        return Err(Refusal::Setting(format!(
            "{} needs an integer type, not {dtype}",
            op.name()
        )));
    }
    let element = if matches!(op, Op::Min | Op::Max) {
        shape::signed(dtype)
    } else {
        shape::wrapping(dtype)
    };
    let mut plan = Builder::linear(ask, element, grid);
    plan.note(OP.name, op.name());
    let (operation, identity) = macros(op, dtype);
    plan.define(operation, 1);
    plan.define("IDENTITY", identity);
    Ok(plan)
}

/// The macro that chooses the operation in `cl/reduce/operation.cl`, and the identity.
fn macros(op: Op, dtype: Dtype) -> (&'static str, &'static str) {
    match (op, dtype) {
        (Op::Sum, _) => ("OP_SUM", "0"),
        (Op::Or, _) => ("OP_OR", "0"),
        (Op::Xor, _) => ("OP_XOR", "0"),
        (Op::And, Dtype::I64) => ("OP_AND", "ULONG_MAX"),
        (Op::And, _) => ("OP_AND", "UINT_MAX"),
        (Op::Min, Dtype::I32) => ("OP_MIN", "INT_MAX"),
        (Op::Min, Dtype::I64) => ("OP_MIN", "LONG_MAX"),
        (Op::Min, _) => ("OP_FMIN", "INFINITY"),
        (Op::Max, Dtype::I32) => ("OP_MAX", "INT_MIN"),
        (Op::Max, Dtype::I64) => ("OP_MAX", "LONG_MIN"),
        (Op::Max, _) => ("OP_FMAX", "-INFINITY"),
    }
}

/// Completes a plan whose main launch takes these arguments, after the inputs and the partial results, and leaves a result
/// of this depth for each group: the host reduces them, or a launch of one group of the size asked for.
fn finished(mut plan: Builder<'_>, grid: Grid, last_args: &[Arg], depth: u64) -> Planned {
    let partials = grid.groups;
    let wg = plan.ask.case.wg.size();
    let dtype = plan.ask.case.dtype;
    let who = FINISH.given(&plan.ask.case.params)?.unwrap_or("host");
    plan.note(FINISH.name, who);
    let by_host = who == "host" || partials == 1;
    let partial = plan.buffer(
        if by_host { Role::Output } else { Role::Scratch },
        dtype,
        partials,
    );
    let args = plan.args([partial].into_iter().chain(last_args.iter().cloned()));
    plan.pass(grid, args);
    if by_host {
        return Ok(plan.plan(grid.wg as u64, depth + HOST_FINISH));
    }
    let result = plan.output(1);
    let args = vec![partial, result, Arg::Index(partials as u64)];
    plan.launch_of("reduce_finish", [1; 3], WorkGroup::linear(wg), args);
    let finish = partials.div_ceil(wg) as u64 - 1 + tree_depth(wg);
    Ok(plan.plan(grid.wg as u64, depth + finish))
}

fn last_warp(ask: &Ask<'_>) -> Planned {
    looped_tree(ask, 2, Some(shape::lockstep(ask)?))
}

/// One tree a group, in a loop, over `loads` elements for each work-item.
fn looped_tree(ask: &Ask<'_>, loads: u64, lockstep: Option<&str>) -> Planned {
    let (mut plan, grid) = begin_tree(ask, loads, lockstep)?;
    let size = SIZE.given(&ask.case.params)?.unwrap_or("runtime");
    plan.note(SIZE.name, size);
    if size == "constant" {
        plan.define("SIZE_CONSTANT", 1);
    }
    let scratch = Arg::Local(grid.wg * ask.case.dtype.size());
    let n = Arg::Index(plan.n());
    finished(plan, grid, &[scratch, n], loads - 1 + tree_depth(grid.wg))
}

fn unrolled(ask: &Ask<'_>) -> Planned {
    let (plan, grid) = begin_tree(ask, 2, Some(shape::lockstep(ask)?))?;
    let n = Arg::Index(plan.n());
    finished(plan, grid, &[n], 1 + tree_depth(grid.wg))
}

/// A plan for groups that are halved again and again, each over `loads` elements for each of its work-items.
fn begin_tree<'a>(
    ask: &'a Ask<'a>,
    loads: u64,
    lockstep: Option<&str>,
) -> Result<(Builder<'a>, Grid), Refusal> {
    check_halves(ask)?;
    let grid = Grid::covering(ask.case.wg.size(), ask.n().div_ceil(loads));
    Ok((begin_in_step(ask, grid, lockstep)?, grid))
}

/// A plan for a launch of `grid`, with the macro that says how work-items in step are synchronised, if they are.
fn begin_in_step<'a>(
    ask: &'a Ask<'a>,
    grid: Grid,
    lockstep: Option<&str>,
) -> Result<Builder<'a>, Refusal> {
    let mut plan = begin(ask, grid)?;
    if let Some(lockstep) = lockstep {
        plan.define(lockstep, 1);
    }
    Ok(plan)
}

/// Whether trees can halve a group of the size asked for.
fn check_halves(ask: &Ask<'_>) -> Result<(), Refusal> {
    let wg = ask.case.wg;
    shape::check_wg(wg, ask.target)?;
    if !wg.size().is_power_of_two() {
        return Err(Refusal::Group(format!(
            "work-group {wg}: this tree halves it, so it must be a power of two"
        )));
    }

    // The steps that `unrolled` writes out.
    if wg.size() > 8192 {
        return Err(Refusal::Group(format!(
            "work-group {wg}: at most 8192 work-items are foreseen"
        )));
    }
    Ok(())
}

fn raking(ask: &Ask<'_>) -> Planned {
    check_halves(ask)?;
    let grid = grid(ask, 2)?;
    let plan = begin_in_step(ask, grid, Some(shape::lockstep(ask)?))?;
    let n = plan.n();
    // The two elements of a turn, then the turns.
    let depth = n.div_ceil(2 * grid.items() as u64) + tree_depth(grid.wg);
    finished(plan, grid, &[Arg::Index(n)], depth)
}

/// The fixed grid of `vectorised`, `subgroup` and `single_pass`, and the depth of what each work-item of it adds.
fn accumulating<'a>(ask: &'a Ask<'a>) -> Result<(Builder<'a>, Grid, u64), Refusal> {
    let acc = REDUCE_ACC.get(&ask.case.params)?.unwrap_or(8);
    let grid = shape::grid_by(ask, 4 * acc, Grid::sparse)?;
    let mut plan = begin(ask, grid)?;
    plan.set(ACC.name, acc);
    let n = plan.n();
    let turns = (n / 4)
        .div_ceil(acc * grid.wg as u64)
        .div_ceil(grid.groups as u64);
    // An accumulator's turns, the other accumulators, four lanes, the tail.
    let depth = turns.saturating_sub(1) + (acc - 1) + 2 + (n % 4).div_ceil(grid.items() as u64);
    Ok((plan, grid, depth))
}

fn vectorised(ask: &Ask<'_>) -> Planned {
    let (plan, grid, depth) = accumulating(ask)?;
    let n = Arg::Index(plan.n());
    finished(plan, grid, &[n], depth + tree_depth(grid.wg))
}

fn subgroup(ask: &Ask<'_>) -> Planned {
    let (mut plan, grid, depth) = accumulating(ask)?;
    let mut how = shape::lockstep(ask)?;
    if how != "LOCKSTEP_PTX" {
        if !ask.target.subgroups {
            return Err(Refusal::Feature(
                "this device has neither sub-groups nor NVIDIA's warp instructions".into(),
            ));
        }
        if op(ask.case).is_bitwise() {
            return Err(Refusal::Feature(
                "sub-groups reduce sums, minima and maxima only".into(),
            ));
        }
        // PoCL 6 ends the process there.
        if grid.wg == 1 {
            return Err(Refusal::Group(
                "work-group 1: a sub-group of one work-item has nothing to reduce".into(),
            ));
        }
        how = "LOCKSTEP_SUBGROUP";
    }
    plan.define(how, 1);
    let n = Arg::Index(plan.n());
    // In any order, within a sub-group of any size s and over the wg / s sub-groups.
    finished(plan, grid, &[n], depth + grid.wg as u64)
}

fn single_pass(ask: &Ask<'_>) -> Planned {
    let (mut plan, grid, depth) = accumulating(ask)?;
    let results = plan.single_pass(grid);
    let args = plan.args(results.into_iter().chain([Arg::Index(plan.n())]));
    plan.pass(grid, args);
    let finish = if grid.groups > 1 {
        grid.groups.div_ceil(grid.wg) as u64 - 1 + tree_depth(grid.wg)
    } else {
        0
    };
    Ok(plan.plan(grid.wg as u64, depth + tree_depth(grid.wg) + finish))
}

fn wide(ask: &Ask<'_>) -> Planned {
    shape::check_wg(ask.case.wg, ask.target)?;
    let n = ask.n();
    let (grid, chunk) = shape::chunks(ask.target, n);
    let mut plan = begin(ask, grid)?;
    // The main kernel's groups are of one item; a finishing group is as large as was asked for, and where
    // there is none, what was asked for makes no other plan.
    let wg = ask.case.wg.size();
    if FINISH.given(&ask.case.params)? == Some("device") {
        plan.define("WG", wg);
    }

    // Turns of 64, the four accumulators, sixteen lanes, up to 63 elements of the tail.
    let depth = (chunk / 64).saturating_sub(1) + 2 + 4 + 63;
    finished(plan, grid, &[chunk, n].map(Arg::Index), depth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_model::outcome::fake_info;
    use gpulab_model::plan::Target;

    /// Roundings so far: 0 is the identity, which costs nothing to join with; an element starts at 1.
    type Depth = u64;

    fn join(a: Depth, b: Depth) -> Depth {
        a.max(b) + u64::from(a.min(b) > 0)
    }

    fn at(i: u64, n: u64) -> Depth {
        u64::from(i < n)
    }

    /// `cl/common/tree.cl`.
    fn tree(mut values: Vec<Depth>) -> Depth {
        while values.len() > 1 {
            let kept = values.len().div_ceil(2);
            for i in 0..values.len() - kept {
                values[i] = join(values[i], values[i + kept]);
            }
            values.truncate(kept);
        }
        values[0]
    }

    struct LaunchReplay {
        n: u64,
        groups: u64,
        wg: u64,
        acc: u64,
    }

    /// `interleaved`: neighbours first.
    fn interleaved(l: &LaunchReplay, group: u64) -> Depth {
        let mut scratch: Vec<Depth> = (0..l.wg).map(|id| at(group * l.wg + id, l.n)).collect();
        let mut offset = 1;
        while offset < scratch.len() {
            for id in (0..scratch.len()).step_by(2 * offset) {
                scratch[id] = join(scratch[id], scratch[id + offset]);
            }
            offset *= 2;
        }
        scratch[0]
    }

    /// `first_add`: two loads, then the far half onto the near one, as tree.cl does for powers of two.
    fn first_add(l: &LaunchReplay, group: u64) -> Depth {
        let first = group * 2 * l.wg;
        tree(
            (first..first + l.wg)
                .map(|i| join(at(i, l.n), at(i + l.wg, l.n)))
                .collect(),
        )
    }

    /// `raking`: two loads a turn.
    fn raking(l: &LaunchReplay, group: u64) -> Depth {
        let pairs = |id: u64| (group * 2 * l.wg + id..l.n).step_by((2 * l.groups * l.wg) as usize);
        let item = |id| pairs(id).fold(0, |sum, i| join(sum, join(1, at(i + l.wg, l.n))));
        tree((0..l.wg).map(item).collect())
    }

    fn vectorised(l: &LaunchReplay, group: u64) -> Depth {
        tree((0..l.wg).map(|id| accumulated(l, group, id)).collect())
    }

    /// The four lanes of an accumulator are alike.
    fn accumulated(l: &LaunchReplay, group: u64, id: u64) -> Depth {
        let vectors = l.n / 4;
        let mut acc = vec![0; l.acc as usize];
        let mut i = group * l.acc * l.wg + id;
        while i + (l.acc - 1) * l.wg < vectors {
            acc.iter_mut().for_each(|a| *a = join(*a, 1));
            i += l.acc * l.groups * l.wg;
        }
        for (a, acc) in (0..).zip(&mut acc) {
            *acc = join(*acc, at(i + a * l.wg, vectors));
        }
        let lane = acc.into_iter().fold(0, join);
        let vector = join(join(lane, lane), join(lane, lane));
        (4 * vectors + group * l.wg + id..l.n)
            .step_by((l.groups * l.wg) as usize)
            .fold(vector, |v, _| join(v, 1))
    }

    fn plan(variant: &str, n: u64, wg: usize, settings: &[(&str, &str)]) -> Plan {
        let case = Case {
            wg: WorkGroup::linear(wg),
            params: settings
                .iter()
                .map(|(k, v)| ((*k).into(), (*v).into()))
                .collect(),
            ..Case::of("reduce", variant, Dtype::F32, Shape::vector(n))
        };
        let rung = FAMILY.rung(variant).unwrap();
        FAMILY.plan(rung, &case, &fake_info().target).unwrap()
    }

    fn replayed(plan: &Plan, n: u64, group: fn(&LaunchReplay, u64) -> Depth) -> Depth {
        let wg = plan.wg.size() as u64;
        let acc = plan.params.get("acc").map_or(1, |acc| acc.parse().unwrap());
        let launch = LaunchReplay {
            n,
            groups: plan.passes[0].global[0] as u64 / wg,
            wg,
            acc,
        };
        let partials: Vec<Depth> = (0..launch.groups).map(|g| group(&launch, g)).collect();
        if plan.passes.len() == 1 {
            return partials.into_iter().max().unwrap() - 1 + shape::HOST_FINISH;
        }
        let item = |id: u64| {
            partials
                .iter()
                .skip(id as usize)
                .step_by(wg as usize)
                .copied()
                .fold(0, join)
        };
        tree((0..wg).map(item).collect()) - 1
    }

    #[test]
    fn the_declared_depths_are_those_of_the_schedules() {
        type Replay = fn(&LaunchReplay, u64) -> Depth;
        let rungs: [(&str, Replay); 4] = [
            ("interleaved", interleaved),
            ("first_add", first_add),
            ("raking", raking),
            ("vectorised", vectorised),
        ];
        for (variant, replay) in rungs {
            for (n, wg) in [
                (1, 64),
                (3, 1),
                (64, 64),
                (1000, 32),
                (4099, 64),
                (65_537, 128),
                (200_003, 256),
                (1 << 18, 16),
            ] {
                for settings in [
                    &[][..],
                    &[("finish", "device")],
                    &[("items", "96"), ("acc", "1")],
                    &[("acc", "8")],
                ] {
                    let plan = plan(variant, n, wg, settings);
                    let declared = plan.depth;
                    let replayed = replayed(&plan, n, replay);
                    assert!(
                        declared >= replayed,
                        "{variant} {n} {wg} {settings:?}: {declared} for {replayed}"
                    );
                    let sloppy = if n < 100_000 { 64 } else { 10 };
                    assert!(
                        declared <= replayed + sloppy,
                        "{variant} {n} {wg} {settings:?}: {declared} for {replayed}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_host_is_left_one_result_for_each_group() {
        let groups = |variant, n| plan(variant, n, 64, &[]).buffers[1].len;
        assert_eq!(
            [
                groups("interleaved", 6401),
                groups("first_add", 6401),
                groups("first_add", 128)
            ],
            [101, 51, 1]
        );
    }

    #[test]
    fn what_cannot_be_planned_is_refused_with_its_reason() {
        let refusal = |variant: &str, dtype, wg, op: &str| {
            let params = Params::from([("op".to_owned(), op.to_owned())]);
            let case = Case::of("reduce", variant, dtype, Shape::vector(9));
            let case = Case {
                wg: WorkGroup::linear(wg),
                params,
                ..case
            };
            let rung = FAMILY.rung(&case.variant).unwrap();
            FAMILY
                .plan(rung, &case, &fake_info().target)
                .unwrap_err()
                .to_string()
        };
        assert!(refusal("strided", Dtype::I32, 48, "sum").contains("power of two"));
        assert!(refusal("vectorised", Dtype::F64, 48, "xor").contains("needs an integer type"));
        assert!(refusal("vectorised", Dtype::I32, 48, "mean").contains("sum, min, max"));
        assert!(refusal("raking", Dtype::I32, 48, "sum").contains("power of two"));
        assert!(refusal("subgroup", Dtype::I32, 64, "sum").contains("neither sub-groups"));
    }

    /// PoCL takes hours over a tree with a sub-group's barrier in each step.
    #[test]
    fn trees_are_synchronised_by_sub_groups_only_on_gpus() {
        let how = |variant: &str, gpu: bool| {
            let target = Target {
                nvidia: false,
                ..Target::with_everything(gpu)
            };
            let case = Case {
                wg: WorkGroup::linear(64),
                ..Case::of("reduce", variant, Dtype::F32, Shape::vector(1000))
            };
            let plan = FAMILY
                .plan(FAMILY.rung(variant).unwrap(), &case, &target)
                .unwrap();
            plan.defines
                .into_iter()
                .map(|(name, _)| name)
                .find(|name| name.starts_with("LOCKSTEP"))
                .unwrap()
        };
        for variant in ["last_warp", "unrolled", "raking"] {
            assert_eq!(
                [true, false].map(|gpu| how(variant, gpu)),
                ["LOCKSTEP_SUBGROUP", "LOCKSTEP_ALONE"],
                "{variant}"
            );
        }
        assert_eq!(
            [true, false].map(|gpu| how("subgroup", gpu)),
            ["LOCKSTEP_SUBGROUP"; 2]
        );
    }

    #[test]
    fn the_cost_is_every_element_whatever_the_group() {
        let mut case = Case {
            wg: WorkGroup::linear(256),
            ..Case::of("reduce", "", Dtype::I64, Shape::vector(1 << 20))
        };
        for wg in [1, 256] {
            case.wg = WorkGroup::linear(wg);
            assert_eq!(FAMILY.problem.cost(&case).bytes, 8.0 * f64::from(1 << 20));
        }
        case.params.insert("op".into(), "min".into());
        assert_eq!(Reduce.exact_fill(&case), Fill::Positive);
    }
}

//! The depths that the reduction's planners declare are those of their kernels' schedules, replayed here.

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
    tree((first..first + l.wg).map(|i| join(at(i, l.n), at(i + l.wg, l.n))).collect())
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
    (4 * vectors + group * l.wg + id..l.n).step_by((l.groups * l.wg) as usize).fold(vector, |v, _| join(v, 1))
}

fn plan(variant: &str, n: u64, wg: usize, settings: &[(&str, &str)]) -> Plan {
    let case = Case {
        wg: WorkGroup::linear(wg),
        params: settings.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect(),
        ..Case::of("reduce", variant, Dtype::F32, Shape::vector(n))
    };
    let rung = FAMILY.rung(variant).unwrap();
    FAMILY.plan(rung, &case, &fake_info().target).unwrap()
}

fn replayed(plan: &Plan, n: u64, group: fn(&LaunchReplay, u64) -> Depth) -> Depth {
    let wg = plan.wg.size() as u64;
    let acc = plan.params.get("acc").map_or(1, |acc| acc.parse().unwrap());
    let launch = LaunchReplay { n, groups: plan.passes[0].global[0] as u64 / wg, wg, acc };
    let partials: Vec<Depth> = (0..launch.groups).map(|g| group(&launch, g)).collect();
    if plan.passes.len() == 1 {
        return partials.into_iter().max().unwrap() - 1 + shape::HOST_FINISH;
    }
    let item = |id: u64| partials.iter().skip(id as usize).step_by(wg as usize).copied().fold(0, join);
    tree((0..wg).map(item).collect()) - 1
}

#[test]
fn the_declared_depths_are_those_of_the_schedules() {
    type Replay = fn(&LaunchReplay, u64) -> Depth;
    let rungs: [(&str, Replay); 4] =
        [("interleaved", interleaved), ("first_add", first_add), ("raking", raking), ("vectorised", vectorised)];
    for (variant, replay) in rungs {
        for (n, wg) in [(1, 64), (3, 1), (64, 64), (1000, 32), (4099, 64), (65_537, 128), (200_003, 256), (1 << 18, 16)]
        {
            for settings in [&[][..], &[("finish", "device")], &[("items", "96"), ("acc", "1")], &[("acc", "8")]] {
                let plan = plan(variant, n, wg, settings);
                let declared = plan.depth;
                let replayed = replayed(&plan, n, replay);
                assert!(declared >= replayed, "{variant} {n} {wg} {settings:?}: {declared} for {replayed}");
                let sloppy = if n < 100_000 { 64 } else { 10 };
                assert!(declared <= replayed + sloppy, "{variant} {n} {wg} {settings:?}: {declared} for {replayed}");
            }
        }
    }
}

#[test]
fn the_host_is_left_one_result_for_each_group() {
    let groups = |variant, n| plan(variant, n, 64, &[]).buffers[1].len;
    assert_eq!([groups("interleaved", 6401), groups("first_add", 6401), groups("first_add", 128)], [101, 51, 1]);
}

#[test]
fn what_cannot_be_planned_is_refused_with_its_reason() {
    let refusal = |variant: &str, dtype, wg, op: &str| {
        let params = Params::from([("op".to_owned(), op.to_owned())]);
        let case = Case::of("reduce", variant, dtype, Shape::vector(9));
        let case = Case { wg: WorkGroup::linear(wg), params, ..case };
        let rung = FAMILY.rung(&case.variant).unwrap();
        FAMILY.plan(rung, &case, &fake_info().target).unwrap_err().to_string()
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
        let target = Target { nvidia: false, ..Target::with_everything(gpu) };
        let case = Case { wg: WorkGroup::linear(64), ..Case::of("reduce", variant, Dtype::F32, Shape::vector(1000)) };
        let plan = FAMILY.plan(FAMILY.rung(variant).unwrap(), &case, &target).unwrap();
        plan.defines.into_iter().map(|(name, _)| name).find(|name| name.starts_with("LOCKSTEP")).unwrap()
    };
    for variant in ["last_warp", "unrolled", "raking"] {
        assert_eq!([true, false].map(|gpu| how(variant, gpu)), ["LOCKSTEP_SUBGROUP", "LOCKSTEP_ALONE"], "{variant}");
    }
    assert_eq!([true, false].map(|gpu| how("subgroup", gpu)), ["LOCKSTEP_SUBGROUP"; 2]);
}

#[test]
fn the_cost_is_every_element_whatever_the_group() {
    let mut case = Case { wg: WorkGroup::linear(256), ..Case::of("reduce", "", Dtype::I64, Shape::vector(1 << 20)) };
    for wg in [1, 256] {
        case.wg = WorkGroup::linear(wg);
        assert_eq!(FAMILY.problem.cost(&case).bytes, 8.0 * f64::from(1 << 20));
    }
    case.params.insert("op".into(), "min".into());
    assert_eq!(Reduce.exact_fill(&case), Fill::Positive);
}

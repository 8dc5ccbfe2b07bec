//! Every rung of the families that work on vectors, on real drivers: sizes, work-groups, types, options and
//! special values.

use crate::drivers::{is_mine, is_turn, is_whole, on_every_driver, on_every_real_driver, session};
use crate::skips::verify;
use gpulab::data::{Array, Dtype, Params, Shape};
use gpulab::kernels::{FAMILIES, Family, Form, PROBES, Rung};
use gpulab::plan::{Case, WorkGroup};

const SIZES: [u64; 7] = [0, 1, 7, 256, 257, 4097, 262_147];
const WORK_GROUPS: [usize; 6] = [1, 3, 32, 64, 256, 1000];
/// A simulator that interprets each instruction gets what it can do in minutes.
const SMALL_SIZES: [u64; 4] = [0, 1, 7, 257];
const SMALL_WORK_GROUPS: [usize; 3] = [1, 3, 32];

fn case(family: &Family, rung: &Rung, dtype: Dtype, n: u64, wg: usize, params: &[(&str, &str)]) -> Case {
    Case {
        family: family.name.to_string(),
        variant: rung.variant().into(),
        dtype,
        shape: Shape::vector(n),
        wg: WorkGroup::linear(wg),
        params: params.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<Params>(),
        seed: 1,
    }
}

/// The families that work on vectors.
fn vector_families() -> impl Iterator<Item = &'static Family> {
    FAMILIES.iter().copied().filter(|f| f.form == Form::Vector)
}

/// Every rung of those with its family.
fn rungs() -> impl Iterator<Item = (&'static Family, &'static Rung)> {
    vector_families().flat_map(|f| f.ladder.iter().map(move |r| (f, r)))
}

#[test]
fn every_rung_is_right_at_every_size() {
    on_every_driver(|driver| {
        let mut session = session(driver, None);
        let max = session.device().info().target.max_wg;
        let small = driver == "oclgrind";
        let sizes: &[u64] = if small { &SMALL_SIZES } else { &SIZES };
        let mut work_groups = if small { SMALL_WORK_GROUPS.to_vec() } else { WORK_GROUPS.to_vec() };
        work_groups.retain(|&wg| wg <= max);
        work_groups.extend((!small).then_some(max));
        let mut count = 0;
        for family in vector_families() {
            // Data are made once for each type and size.
            for ((d, &dtype), (s, &n)) in
                family.dtypes.iter().enumerate().flat_map(|d| sizes.iter().enumerate().map(move |n| (d, n)))
            {
                // What wider types have of their own shows at small sizes. Most of the time goes into compiling: each driver takes
                // some of the types of a rung.
                let wider = matches!(dtype, Dtype::I64 | Dtype::F64);
                if (wider || small) && !SMALL_SIZES.contains(&n) || small && wider && family.name == "reduce" {
                    continue;
                }
                for (r, rung) in family.ladder.iter().enumerate() {
                    if !(small || d == 0 && is_turn(driver, r + s) || is_mine(driver, r + dtype as usize)) {
                        continue;
                    }
                    let meant = if small { work_groups.clone() } else { groups(driver, family, (r, d), n, max) };
                    for wg in meant.into_iter().filter(|&wg| worthwhile(rung, n, wg)) {
                        let ran = verify(&mut session, driver, &case(family, rung, dtype, n, wg, &[]));
                        // What halves its group takes no rare one: its types are tried with a usual one.
                        let is_left = ran == 0 && d > 0 && !is_whole();
                        count += ran;
                        count += if is_left {
                            verify(&mut session, driver, &case(family, rung, dtype, n, 64, &[]))
                        } else {
                            0
                        };
                    }
                }
            }
        }
        count
    });
}

/// The work-groups of a rung in a type, by their places, so that each group and each type of a rung is compiled, but not each
/// pair of them: the first type has the usual groups, and each of the others one of the rare ones in turn; those that are left
/// are the first's again, each on one driver.
fn groups(driver: &str, family: &Family, (rung, dtype): (usize, usize), n: u64, max: usize) -> Vec<usize> {
    let rare: Vec<usize> = [1, 32, 1000, max].into_iter().filter(|&wg| wg <= max).collect();
    let is_large = n >= 1 << 16;
    let usual = if is_large { [64, 256] } else { [3, 64] };
    if is_whole() {
        return WORK_GROUPS.into_iter().filter(|&wg| wg < max).chain([max]).collect();
    }
    if family.ladder[rung].variant() == "wide" {
        return vec![1];
    }
    let turn = |dtype: usize| (rung + dtype) % rare.len();
    match dtype {
        0 => {
            let others: Vec<usize> = (1..family.dtypes.len()).map(turn).collect();
            let left = rare.iter().enumerate().filter(|(at, wg)| !others.contains(at) && is_mine(driver, **wg));
            usual.into_iter().chain(left.map(|(_, &wg)| wg)).chain((!is_large).then_some(256)).collect()
        }
        _ => vec![rare[turn(dtype)]],
    }
}

/// Whether a work-group shows anything at this size: the last rungs' groups are of one item, whatever is asked for,
/// and a million tiny groups take a driver minutes.
fn worthwhile(rung: &Rung, n: u64, wg: usize) -> bool {
    let many_groups = rung.tunables().all(|t| t.name != "items");
    if rung.variant() == "wide" { wg == 1 } else { !many_groups || n < 1 << 16 || wg == 256 }
}

#[test]
#[ignore = "long"]
fn the_probes_of_the_ceilings_are_right() {
    on_every_driver(|driver| {
        let mut session = session(driver, None);
        // A simulator, which interprets each instruction, would take hours for the many additions of arithmetic's probes.
        let small = driver == "oclgrind";
        let kernels = PROBES.iter().filter(|f| !small || f.ceiling.is_memory());
        let kernels = kernels.flat_map(|f| f.ladder.iter().map(move |r| (*f, r)));
        let probes = kernels.flat_map(|(f, r)| f.dtypes.iter().map(move |&dtype| (f, r, dtype))).enumerate();
        // Compilers take long over many additions: PoCL has all of them.
        let has_all = matches!(driver, "pocl" | "default");
        let is_meant = |i: usize, f: &Family| has_all || f.ceiling.is_memory() || is_mine(driver, i);
        let probes = probes.filter(|(i, (f, ..))| is_meant(*i, f));
        probes.map(|(_, (f, r, dtype))| verify(&mut session, driver, &case(f, r, dtype, 6400, 64, &[]))).sum()
    });
}

#[test]
#[ignore = "long"]
fn every_setting_of_the_probes_is_right() {
    on_every_real_driver(|driver| {
        let mut session = session(driver, None);
        let (mut count, mut tried) = (0, 0);
        // Those whose settings no ladder has; compilers take long over them.
        let probes = PROBES.iter().filter(|f| f.ceiling.is_memory() || f.name == "arith");
        for (family, rung) in probes.flat_map(|f| f.ladder.iter().map(move |r| (f, r))) {
            let all = || family.choices.iter().copied().chain(rung.tunables());
            for (name, value) in all().flat_map(|t| t.values().map(move |value| (t.name, value))) {
                tried += 1;
                if !is_mine(driver, tried) {
                    continue;
                }
                let mut settings = vec![(name, value)];
                if family.ceiling.is_memory() {
                    settings.push(("nreps", "3"));
                }
                count += verify(&mut session, driver, &case(family, rung, family.dtypes[0], 8192, 64, &settings));
                for (&dtype, half) in family.dtypes.iter().flat_map(|d| [(d, "0"), (d, "1")]).filter(|_| name == "op") {
                    count += verify(
                        &mut session,
                        driver,
                        &case(family, rung, dtype, 8192, 64, &[(name, value), ("half", half)]),
                    );
                }
            }
        }
        count
    });
}

#[test]
#[ignore = "long"]
fn every_option_is_right() {
    on_every_real_driver(|driver| {
        let mut session = session(driver, None);
        let (mut count, mut tried) = (0, 0);
        for (family, rung) in rungs() {
            let values = rung.tunables().flat_map(|t| t.values().map(move |value| (t.name, value)));
            for (name, value) in values.filter(|(name, value)| *name != "items" || value.len() < 5) {
                tried += 1;
                if !is_mine(driver, tried) {
                    continue;
                }
                for n in [1000, 4099] {
                    count += verify(&mut session, driver, &case(family, rung, Dtype::F32, n, 64, &[(name, value)]));
                    // Few work-items with many turns each.
                    let few = [(name, value), ("items", "96")];
                    if name != "items" && name != "acc" {
                        count += verify(&mut session, driver, &case(family, rung, Dtype::I32, n, 32, &few));
                    }
                }
            }
        }
        count
    });
}

/// Each value of a choice with each rung and with each type, and each rung with each type: every third of all triples,
/// as compilers take long over them.
#[test]
#[ignore = "long"]
fn every_choice_is_right_in_every_type() {
    on_every_real_driver(|driver| {
        let mut session = session(driver, None);
        let (mut count, mut tried) = (0, 0);
        for (family, choice) in vector_families().flat_map(|f| f.choices.iter().map(move |c| (f, c))) {
            let values = || choice.values().enumerate();
            let types = || family.dtypes.iter().enumerate();
            for ((v, value), (d, &dtype)) in values().flat_map(|v| types().map(move |d| (v, d))) {
                for rung in family.ladder.iter().skip((v + d) % 3).step_by(3) {
                    tried += 1;
                    if !is_mine(driver, tried) {
                        continue;
                    }
                    for (n, finish) in [(0, "host"), (1, "device"), (1003, "device")] {
                        let settings = [(choice.name, value), ("finish", finish)];
                        count += verify(&mut session, driver, &case(family, rung, dtype, n, 64, &settings));
                    }
                }
            }
        }
        count
    });
}

#[test]
#[ignore = "long"]
fn special_values_follow_ieee_rules() {
    on_every_real_driver(|driver| {
        let (inf, nan, n) = (f32::INFINITY, f32::NAN, 1003);
        let mut count = 0;
        let all = [
            vec![(17, nan)],
            vec![(n - 1, inf)],
            vec![(0, -inf)],
            vec![(3, inf), (1001, -inf)],
            // Overflow.
            vec![(500, 3e38), (501, 3e38)],
        ];
        for (s, specials) in all.iter().enumerate() {
            let mut x = vec![1.0f32; n];
            specials.iter().for_each(|&(at, value)| x[at] = value);
            for family in vector_families() {
                let mut files = vec![Array::F32(x.clone())];
                let inputs = family.problem.inputs(Shape::vector(n as u64), &Params::new()).len();
                files.resize(inputs, Array::F32(vec![1.5; n]));
                let mut session = session(driver, Some(files));
                for (_, rung) in family.ladder.iter().enumerate().filter(|(r, _)| is_turn(driver, r + s)) {
                    count += verify(&mut session, driver, &case(family, rung, Dtype::F32, n as u64, 64, &[]));
                }
            }
        }
        count
    });
}

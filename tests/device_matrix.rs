//! Every rung of every family on real drivers: sizes, work-groups, types, options and special values.
//!
//! `GPULAB_TEST_DRIVERS` lists the drivers that must be there (`pocl,intel,rusticl,oclgrind`); without it the
//! default device is tested. Each driver gets a process of its own, this test binary again, because drivers
//! are chosen by the environment. How many cases ran is appended to the file that `GPULAB_TEST_TALLY` names.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "tests")]

use gpulab::cpu::reduce::Op;
use gpulab::data::{Array, Dtype};
use gpulab::device::opencl::OpenClDevice;
use gpulab::device::{list_platforms, select};
use gpulab::kernels::ceiling::PROBES;
use gpulab::kernels::transpose;
use gpulab::kernels::{Case, FAMILIES, Family, Form, Params, Rung, Shape, Target, WorkGroup};
use gpulab::runner::{Session, Sources, Status};
use std::env;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

const SIZES: [u64; 11] = [0, 1, 2, 7, 255, 256, 257, 1000, 4097, 65_537, 1_000_003];
const WORK_GROUPS: [usize; 6] = [1, 3, 32, 64, 256, 1000];
/// A simulator that interprets each instruction gets what it can do in minutes.
const SMALL_SIZES: [u64; 5] = [0, 1, 7, 257, 1000];
const SMALL_WORK_GROUPS: [usize; 3] = [1, 3, 32];

/// The tests that a simulator runs too.
const SIMULATED: [&str; 3] = [
    "every_rung_is_right_at_every_size",
    "every_transposition_is_right_in_every_shape",
    "the_probes_of_the_ceilings_are_right",
];

/// Runs `body` in a process for each driver; it returns how many cases it ran.
fn on_every_driver(test: &str, body: fn(&str) -> usize) {
    if let Ok(driver) = env::var("GPULAB_TEST_CHILD") {
        let count = body(&driver);
        assert!(count > 0, "no case ran on {driver}");
        if let Ok(path) = env::var("GPULAB_TEST_TALLY") {
            let mut file = fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
            file.write_all(format!("device-tests {driver} {count}\n").as_bytes()).unwrap();
        }
        return;
    }
    let drivers = env::var("GPULAB_TEST_DRIVERS").unwrap_or_else(|_| "default".into());
    for driver in drivers.split(',') {
        if driver == "oclgrind" && !SIMULATED.contains(&test) {
            eprintln!("{test} skipped on oclgrind: it would interpret for many minutes what {SIMULATED:?} cover");
            continue;
        }
        let scratch = tempfile::tempdir().unwrap();
        let log = scratch.path().join("oclgrind.log");
        let output = child(driver, test, scratch.path(), &log).output().expect("the test binary starts");
        let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{driver}: {}\n{text}", output.status);
        let found = fs::read_to_string(&log).unwrap_or_default();
        assert!(found.is_empty(), "{driver} found:\n{found}");
    }
}

fn child(driver: &str, test: &str, scratch: &Path, log: &Path) -> Command {
    let binary = env::current_exe().unwrap();
    let mut command = if driver == "oclgrind" {
        let mut command = Command::new("oclgrind");
        // Its check for uninitialised values does not know the vector reductions that an optimiser makes.
        command.args(["--build-options", "-cl-opt-disable"]);
        command.args(["--data-races", "--uninitialized", "--check-api", "--log"]).arg(log).arg(binary);
        command
    } else {
        Command::new(binary)
    };
    command.args(["--exact", test, "--nocapture"]).env("GPULAB_TEST_CHILD", driver);
    match driver {
        "intel" => {
            let lib = env::var("GPULAB_INTEL_LIB").expect("GPULAB_INTEL_LIB names the folder of libintelocl.so");
            fs::write(scratch.join("intel.icd"), format!("{lib}/libintelocl.so\n")).unwrap();
            command.env("OCL_ICD_VENDORS", scratch).env("LD_LIBRARY_PATH", lib);
        }
        "rusticl" => {
            command.env("RUSTICL_ENABLE", "llvmpipe");
        }
        _ => {}
    }
    command
}

fn session(driver: &str, files: Option<Vec<Array>>) -> Session {
    let platforms = list_platforms().unwrap();
    let part = match driver {
        "default" => None,
        "pocl" => Some("portable"),
        other => Some(other),
    };
    let info = select::select(&platforms, part).unwrap_or_else(|e| panic!("{driver}: {e}"));
    Session::new(Box::new(OpenClDevice::open(info).unwrap()), Sources::default(), files)
}

fn case(family: &Family, rung: &Rung, dtype: Dtype, n: u64, wg: usize, params: &[(&str, &str)]) -> Case {
    shaped_case(family, rung, dtype, Shape::vector(n), wg, params)
}

fn shaped_case(family: &Family, rung: &Rung, dtype: Dtype, shape: Shape, wg: usize, params: &[(&str, &str)]) -> Case {
    Case {
        family: family.name.into(),
        variant: rung.variant().into(),
        dtype,
        shape,
        wg: WorkGroup::linear(wg),
        params: params.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<Params>(),
        seed: 1,
    }
}

/// A part of the reason for which this device may skip a case; nothing else may be skipped.
fn declared_skip(case: &Case, target: &Target) -> Option<&'static str> {
    if case.shape.n == 0 {
        return None;
    }
    if case.dtype == Dtype::F64 && !target.fp64 {
        return Some("no fp64");
    }
    match case.family.as_str() {
        "reduce" => declared_reduce_skip(case, target),
        "transpose" => declared_transpose_skip(case),
        _ => None,
    }
}

/// Work-groups that have no share of a tile.
fn declared_transpose_skip(case: &Case) -> Option<&'static str> {
    let of_four = ["vectorised", "registers"].contains(&case.variant.as_str());
    let default_tile = if of_four { 64 } else { 32 };
    let tile: usize = case.params.get("tile").map_or(default_tile, |tile| tile.parse().unwrap());
    let columns = if of_four { tile / 4 } else { tile };
    let wg = case.wg.size();
    match case.params.get("rows").map(|rows| rows.parse::<usize>().unwrap()) {
        _ if case.variant == "wide" => None,
        Some(rows) if !tile.is_multiple_of(rows) => Some("no whole number of them"),
        Some(rows) => (case.variant == "registers" && rows % 4 != 0).then_some("multiple of 4"),
        None if !wg.is_multiple_of(columns) || wg / columns > tile => Some("no share of a tile"),
        None => (case.variant == "registers" && (tile / (wg / columns)) % 4 != 0).then_some("multiple of 4"),
    }
}

fn declared_reduce_skip(case: &Case, target: &Target) -> Option<&'static str> {
    let halves = ["interleaved", "strided", "sequential", "first_add", "last_warp", "unrolled"];
    let in_step = ["last_warp", "unrolled", "subgroup"].contains(&case.variant.as_str());
    let bitwise = Op::of(&case.params).unwrap().is_bitwise();
    if halves.contains(&case.variant.as_str()) && !case.wg.size().is_power_of_two() {
        return Some("power of two");
    }
    match (target.nvidia, target.subgroups) {
        _ if bitwise && case.dtype.is_float() => Some("bits of integers"),
        (true, _) if in_step && !case.wg.size().is_multiple_of(32) => Some("whole warps"),
        (false, false) if in_step => Some("neither sub-groups"),
        (false, true) if case.variant == "subgroup" && bitwise => Some("sums, minima and maxima only"),
        _ => None,
    }
}

/// Verifies one case and returns 1; 0 for a declared skip.
fn verify(session: &mut Session, case: &Case) -> usize {
    let outcome = session.verify(case);
    let skip = declared_skip(case, &session.device().info().target);
    let wanted = if skip.is_some() { Status::Skipped } else { Status::Ok };
    assert_eq!(outcome.status, wanted, "{case:?}: {}", outcome.reason);
    assert!(outcome.reason.contains(skip.unwrap_or_default()), "{case:?}: {}", outcome.reason);
    usize::from(skip.is_none())
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
    on_every_driver("every_rung_is_right_at_every_size", |driver| {
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
            for (&dtype, &n) in family.dtypes.iter().flat_map(|d| sizes.iter().map(move |n| (d, n))) {
                // What a reduction's wider types have of their own shows at small sizes.
                let wider = family.name == "reduce" && matches!(dtype, Dtype::I64 | Dtype::F64);
                if (wider || small) && !SMALL_SIZES.contains(&n) || small && wider {
                    continue;
                }
                for rung in family.ladder {
                    for &wg in work_groups.iter().filter(|&&wg| worthwhile(rung, n, wg)) {
                        count += verify(&mut session, &case(family, rung, dtype, n, wg, &[]));
                    }
                }
            }
        }
        count
    });
}

/// Whether a work-group shows anything at this size: the last rungs' groups are of one item, whatever is asked for,
/// and a million tiny groups take a driver minutes.
fn worthwhile(rung: &Rung, n: u64, wg: usize) -> bool {
    let many_groups = rung.tunables.iter().all(|t| t.name != "items");
    if rung.variant() == "wide" { wg == 1 } else { !many_groups || n < 1 << 16 || wg == 256 }
}

#[test]
fn the_probes_of_the_ceilings_are_right() {
    on_every_driver("the_probes_of_the_ceilings_are_right", |driver| {
        let mut session = session(driver, None);
        let probes = PROBES.iter().flat_map(|f| f.ladder.iter().map(move |r| (*f, r)));
        probes.map(|(f, r)| verify(&mut session, &case(f, r, Dtype::I32, 6400, 64, &[]))).sum()
    });
}

/// Columns and rows of matrices: one, primes, multiples of a tile or not.
const MATRICES: [(u64, u64); 9] =
    [(1, 1), (1, 1000), (1000, 1), (16, 16), (17, 31), (128, 130), (257, 255), (1021, 509), (2048, 2048)];

#[test]
fn every_transposition_is_right_in_every_shape() {
    on_every_driver("every_transposition_is_right_in_every_shape", |driver| {
        let mut session = session(driver, None);
        let max = session.device().info().target.max_wg;
        let small = driver == "oclgrind";
        let mut count = 0;
        for (n, m) in MATRICES.into_iter().filter(|(n, m)| !small || n * m <= 1 << 16) {
            for &dtype in transpose::FAMILY.dtypes.iter().filter(|&&dtype| !small || dtype == Dtype::F32) {
                for rung in transpose::FAMILY.kernels() {
                    let wgs: &[usize] = if small || dtype != Dtype::F32 { &[256] } else { &[64, 256] };
                    for &wg in wgs.iter().filter(|&&wg| wg <= max) {
                        let case = shaped_case(&transpose::FAMILY, rung, dtype, Shape { n, m }, wg, &[]);
                        count += verify_where_it_fits(&mut session, &case);
                    }
                }
            }
        }
        count
    });
}

#[test]
fn every_tiling_is_right() {
    on_every_driver("every_tiling_is_right", |driver| {
        let mut session = session(driver, None);
        let max = session.device().info().target.max_wg;
        let mut count = 0;
        for rung in transpose::FAMILY.kernels() {
            let tunables = rung.tunables.iter().chain(transpose::FAMILY.choices);
            let single = tunables.flat_map(|t| t.values.iter().map(|&value| vec![(t.name, value)]));
            let several = ["16", "32"].into_iter().flat_map(|tile| ["4", "8"].map(|rows| (tile, rows)));
            let several =
                several.map(|(tile, rows)| vec![("tile", tile), ("rows", rows), ("gap", "3"), ("diagonal", "1")]);
            let ragged = single.map(|set| (Dtype::F32, Shape { n: 131, m: 67 }, set));
            let even = several.map(|set| (Dtype::F64, Shape { n: 192, m: 128 }, set));
            for (dtype, shape, set) in ragged.chain(even) {
                let case = shaped_case(&transpose::FAMILY, rung, dtype, shape, 256.min(max), &set);
                count += verify_where_it_fits(&mut session, &case);
            }
        }
        count
    });
}

/// As [`verify`], but a tiling may ask for more than the device has.
fn verify_where_it_fits(session: &mut Session, case: &Case) -> usize {
    let outcome = session.verify(case);
    let too_much = ["local memory", "allows at most"].iter().any(|what| outcome.reason.contains(what));
    if outcome.status == Status::Skipped && too_much { 0 } else { verify(session, case) }
}

#[test]
fn every_option_is_right() {
    on_every_driver("every_option_is_right", |driver| {
        let mut session = session(driver, None);
        let mut count = 0;
        for n in [1000, 4099] {
            for (family, rung) in rungs() {
                let values = rung.tunables.iter().flat_map(|t| t.values.iter().map(|v| (t.name, *v)));
                for (name, value) in values.filter(|(name, value)| *name != "items" || value.len() < 5) {
                    count += verify(&mut session, &case(family, rung, Dtype::F32, n, 64, &[(name, value)]));
                    // Few work-items with many turns each.
                    let few = [(name, value), ("items", "96")];
                    if name != "items" && name != "acc" {
                        count += verify(&mut session, &case(family, rung, Dtype::I32, n, 32, &few));
                    }
                }
            }
        }
        count
    });
}

#[test]
fn every_choice_is_right_in_every_type() {
    on_every_driver("every_choice_is_right_in_every_type", |driver| {
        let mut session = session(driver, None);
        let mut count = 0;
        for (family, choice) in vector_families().flat_map(|f| f.choices.iter().map(move |c| (f, c))) {
            for (value, &dtype) in choice.values.iter().flat_map(|v| family.dtypes.iter().map(move |d| (v, d))) {
                for rung in family.ladder {
                    for (n, finish) in [(0, "host"), (1, "device"), (1003, "device")] {
                        let settings = [(choice.name, *value), ("finish", finish)];
                        count += verify(&mut session, &case(family, rung, dtype, n, 64, &settings));
                    }
                }
            }
        }
        count
    });
}

#[test]
fn special_values_follow_ieee_rules() {
    on_every_driver("special_values_follow_ieee_rules", |driver| {
        let (inf, nan, n) = (f32::INFINITY, f32::NAN, 1003);
        let mut count = 0;
        for specials in [
            vec![(17, nan)],
            vec![(n - 1, inf)],
            vec![(0, -inf)],
            vec![(3, inf), (1001, -inf)],
            // Overflow.
            vec![(500, 3e38), (501, 3e38)],
        ] {
            let mut x = vec![1.0f32; n];
            specials.iter().for_each(|&(at, value)| x[at] = value);
            for family in vector_families() {
                let mut files = vec![Array::F32(x.clone())];
                let inputs = family.problem.inputs(Shape::vector(n as u64), &Params::new()).len();
                files.resize(inputs, Array::F32(vec![1.5; n]));
                let mut session = session(driver, Some(files));
                for rung in family.ladder {
                    count += verify(&mut session, &case(family, rung, Dtype::F32, n as u64, 64, &[]));
                }
            }
        }
        count
    });
}

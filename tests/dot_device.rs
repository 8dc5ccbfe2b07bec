//! Every rung of `dot` on real drivers: sizes, work-groups, types, options and special values.
//!
//! `GPULAB_TEST_DRIVERS` lists the drivers that must be there (`pocl,intel,rusticl,oclgrind`); without it the
//! default device is tested. Each driver gets a process of its own, this test binary again, because drivers
//! are chosen by the environment. How many cases ran is appended to the file that `GPULAB_TEST_TALLY` names.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use gpulab::data::{Array, Dtype};
use gpulab::device::opencl::OpenClDevice;
use gpulab::device::{list_platforms, select};
use gpulab::kernels::{Case, Params, Shape, WorkGroup, dot::FAMILY};
use gpulab::runner::{Session, Sources, Status};
use std::env;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

const SIZES: [u64; 11] = [0, 1, 2, 7, 255, 256, 257, 1000, 4097, 65_537, 1_000_003];
const WORK_GROUPS: [usize; 6] = [1, 3, 32, 64, 256, 1000];
/// A simulator that interprets each instruction gets what it can do in minutes.
const SMALL_SIZES: [u64; 6] = [0, 1, 7, 257, 1000, 4097];
const SMALL_WORK_GROUPS: [usize; 3] = [1, 3, 64];

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

fn case(variant: &str, dtype: Dtype, n: u64, wg: usize, params: &[(&str, &str)]) -> Case {
    Case {
        family: "dot".into(),
        variant: variant.into(),
        dtype,
        shape: Shape::vector(n),
        wg: WorkGroup::linear(wg),
        params: params.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<Params>(),
        seed: 1,
    }
}

/// Verifies one case and returns 1; 0 for the one skip that is right: no double precision on the device.
fn verify(session: &mut Session, case: &Case) -> usize {
    let outcome = session.verify(case);
    let lacking = case.dtype == Dtype::F64 && !session.device().info().target.fp64;
    let wanted = if lacking && case.shape.n > 0 { Status::Skipped } else { Status::Ok };
    assert_eq!(outcome.status, wanted, "{case:?}: {}", outcome.reason);
    usize::from(wanted == Status::Ok)
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
        for &dtype in FAMILY.dtypes {
            for &n in sizes {
                for rung in FAMILY.ladder {
                    // The last rung's groups are of one item, whatever is asked for.
                    let tried = if rung.variant() == "wide" { &work_groups[..1] } else { &work_groups[..] };
                    for &wg in tried {
                        count += verify(&mut session, &case(rung.variant(), dtype, n, wg, &[]));
                    }
                }
            }
        }
        count
    });
}

#[test]
fn every_option_is_right() {
    on_every_driver("every_option_is_right", |driver| {
        let mut session = session(driver, None);
        let mut count = 0;
        for n in [1000, 4099] {
            for rung in FAMILY.ladder {
                for tunable in rung.tunables {
                    for value in tunable.values.iter().filter(|v| v.len() < 5) {
                        let case = case(rung.variant(), Dtype::F32, n, 64, &[(tunable.name, value)]);
                        count += verify(&mut session, &case);
                    }
                }
                for presum in ["host", "device", "none"] {
                    let case = case(rung.variant(), Dtype::I32, n, 32, &[("presum", presum), ("items", "96")]);
                    count += verify(&mut session, &case);
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
        for (specials, what) in [
            (vec![(17, nan)], "NaN"),
            (vec![(n - 1, inf)], "+Inf"),
            (vec![(0, -inf)], "-Inf"),
            (vec![(3, inf), (1001, -inf)], "both infinities"),
            (vec![(500, 3e38), (501, 3e38)], "overflow"),
        ] {
            let mut x = vec![1.0f32; n];
            specials.iter().for_each(|&(at, value)| x[at] = value);
            let y = vec![1.5f32; n];
            let mut session = session(driver, Some(vec![Array::F32(x), Array::F32(y)]));
            for rung in FAMILY.ladder {
                let outcome = session.verify(&case(rung.variant(), Dtype::F32, n as u64, 64, &[]));
                assert_eq!(outcome.status, Status::Ok, "{what}, {}: {}", rung.path, outcome.reason);
                count += 1;
            }
        }
        count
    });
}

//! Tests on real drivers, each in a process of its own.
//!
//! `GPULAB_TEST_DRIVERS` lists the drivers that must be there (`pocl,intel,rusticl,oclgrind`); without it the
//! default device is tested. A driver's process is the test binary again, because drivers are chosen by the
//! environment. How many cases ran, and how long they took, is appended to the file that `GPULAB_TEST_TALLY` names.
//!
//! Compilers take long: most cases are for one of the drivers, and PoCL alone has all others.
#![allow(dead_code, reason = "no test needs all of it")]

use gpulab::Error;
use gpulab::data::Array;
use gpulab::device::{list_platforms, opencl::OpenClDevice, select};
use gpulab::kernels::Sources;
use gpulab::processes::ended_within;
use gpulab::runner::Session;
use gpulab::simulator::Simulator;
use std::env;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// How long a test may take on one driver: many times what the longest takes. A kernel without an end fails its test.
const LIMIT: Duration = Duration::from_secs(600);

/// Runs `body`, the closure of the calling test, in a process for each driver; it returns how many cases it ran.
pub fn on_every_driver<F: Fn(&str) -> usize>(body: F) {
    run_on(test_of::<F>(), |_| true, body);
}

/// As [`on_every_driver`], but on one only, for what all drivers do alike: the last listed.
pub fn on_one_driver<F: Fn(&str) -> usize>(body: F) {
    run_on(test_of::<F>(), |driver| drivers().ends_with(driver), body);
}

/// As [`on_every_driver`], but not on a simulator, which interprets each instruction and would take many minutes for
/// what smaller tests cover.
pub fn on_every_real_driver<F: Fn(&str) -> usize>(body: F) {
    run_on(test_of::<F>(), |driver| driver != "oclgrind", body);
}

/// As [`on_every_real_driver`], but on the first listed alone: for mistakes that the host finds, whoever compiles them.
pub fn on_a_real_driver<F: Fn(&str) -> usize>(body: F) {
    run_on(
        test_of::<F>(),
        |driver| driver != "oclgrind" && drivers().split(',').next() == Some(driver),
        body,
    );
}

/// As [`on_every_driver`], but on PoCL only, for what compiles too many kernels for the others.
pub fn on_pocl<F: Fn(&str) -> usize>(body: F) {
    run_on(
        test_of::<F>(),
        |driver| matches!(driver, "pocl" | "default"),
        body,
    );
}

/// Runs `body` with the simulator that kernels are counted in, which it starts itself; it returns how many cases it counted.
/// Without Oclgrind among the drivers, or what its plugin is built from, the test says why it is left out, and so does
/// `scripts/test`.
pub fn in_simulator<F: Fn(&Simulator) -> usize>(body: F) {
    let (test, drivers) = (test_of::<F>(), drivers());
    if drivers != "default" && !drivers.split(',').any(|driver| driver == "oclgrind") {
        eprintln!("skipped {test}: oclgrind is not among GPULAB_TEST_DRIVERS={drivers}");
        return;
    }
    let simulator = match Simulator::prepare(Path::new(env!("CARGO_TARGET_TMPDIR"))) {
        Ok(simulator) => simulator,
        Err(Error::NoDevice(why)) => {
            eprintln!("skipped {test}: {why}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let began = Instant::now();
    let count = body(&simulator);
    assert!(count > 0, "nothing was counted");
    tally("oclgrind", count, began, test);
}

/// Notes that cases ran.
fn tally(driver: &str, count: usize, began: Instant, test: &str) {
    if let Ok(path) = env::var("GPULAB_TEST_TALLY") {
        let mut file = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .unwrap();
        let seconds = began.elapsed().as_secs_f64();
        file.write_all(format!("device-tests {driver} {count} {seconds:.1} {test}\n").as_bytes())
            .unwrap();
    }
}

/// The test that a closure stands in, as the harness calls it: its path without the crate.
fn test_of<F>() -> &'static str {
    let closure = std::any::type_name::<F>();
    let function = closure.split("::{{closure}}").next().unwrap_or(closure);
    function.split_once("::").map_or(function, |(_, path)| path)
}

fn run_on(test: &str, is_meant: fn(&str) -> bool, body: impl Fn(&str) -> usize) {
    if let Ok(driver) = env::var("GPULAB_TEST_CHILD") {
        let began = Instant::now();
        let count = body(&driver);
        assert!(count > 0, "no case ran on {driver}");
        tally(&driver, count, began, test);
        return;
    }
    let all = drivers();
    let meant: Vec<&str> = all.split(',').filter(|driver| is_meant(driver)).collect();
    assert!(
        !meant.is_empty(),
        "{test} is for none of GPULAB_TEST_DRIVERS={all}: leave it out with --skip {test}"
    );
    for driver in meant {
        let scratch = tempfile::tempdir().unwrap();
        let log = scratch.path().join("oclgrind.log");
        let said = scratch.path().join("said");
        let file = fs::File::create(&said).unwrap();
        let mut child = child(driver, test, scratch.path(), &log);
        child.stdout(file.try_clone().unwrap()).stderr(file);
        let status =
            ended_within(&mut child.spawn().expect("the test binary starts"), LIMIT).unwrap();
        let text = String::from_utf8_lossy(&fs::read(&said).unwrap()).into_owned();
        let status = status
            .unwrap_or_else(|| panic!("{driver}: no end within {} s\n{text}", LIMIT.as_secs()));
        assert!(status.success(), "{driver}: {status}\n{text}");
        assert!(is_one(&text), "{driver}: not one test ran:\n{text}");
        let found = fs::read_to_string(&log).unwrap_or_default();
        assert!(found.is_empty(), "{driver} found:\n{found}");
    }
}
/// Whether the harness says that one test passed, and no other was meant: to it, none at all is a success too.
fn is_one(text: &str) -> bool {
    text.contains("test result: ok. 1 passed; 0 failed; 0 ignored")
}

#[test]
fn a_test_that_does_not_exist_is_no_success() {
    let run = |name: &str| {
        let output = Command::new(env::current_exe().unwrap())
            .args(["--exact", name])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        is_one(&String::from_utf8_lossy(&output.stdout))
    };
    assert!(!run("drivers::renamed"));
    assert!(run("drivers::a_test_is_found_by_its_closure"));
}

#[test]
fn a_test_is_found_by_its_closure() {
    fn path_of<F: Fn()>(_: F) -> &'static str {
        test_of::<F>()
    }
    assert_eq!(path_of(|| ()), "drivers::a_test_is_found_by_its_closure");
}

/// The drivers to test, with commas.
fn drivers() -> String {
    env::var("GPULAB_TEST_DRIVERS").unwrap_or_else(|_| "default".into())
}

fn child(driver: &str, test: &str, scratch: &Path, log: &Path) -> Command {
    let binary = env::current_exe().unwrap();
    let mut command = if driver == "oclgrind" {
        let mut command = Command::new("oclgrind");
        // Its check for uninitialised values does not know the vector reductions that an optimiser makes.
        command.args(["--build-options", "-cl-opt-disable"]);
        // Without an optimiser, Oclgrind 21.10 reports errors in right image kernels that change with unrelated variables: what
        // image kernels leave uninitialised is not checked.
        if !test.ends_with("every_image_is_right") {
            command.arg("--uninitialized");
        }
        command
            .args(["--data-races", "--check-api", "--log"])
            .arg(log)
            .arg(binary);
        command
    } else {
        Command::new(binary)
    };
    command
        .args(["--exact", test, "--include-ignored", "--nocapture"])
        .env("GPULAB_TEST_CHILD", driver);
    match driver {
        "intel" => {
            let lib = env::var("GPULAB_INTEL_LIB")
                .expect("GPULAB_INTEL_LIB names the folder of libintelocl.so");
            fs::write(scratch.join("intel.icd"), format!("{lib}/libintelocl.so\n")).unwrap();
            command
                .env("OCL_ICD_VENDORS", scratch)
                .env("LD_LIBRARY_PATH", lib);
        }
        "rusticl" => {
            command.env("RUSTICL_ENABLE", "llvmpipe");
            // Else it is installed.
            if let Ok(unpacked) = env::var("GPULAB_RUSTICL") {
                let driver = format!("{unpacked}/lib/libRusticlOpenCL.so.1\n");
                fs::write(scratch.join("rusticl.icd"), driver).unwrap();
                command
                    .env("OCL_ICD_VENDORS", scratch)
                    .env("LD_LIBRARY_PATH", format!("{unpacked}/lib"));
                command
                    .env("LD_PRELOAD", format!("{unpacked}/unpacked.so"))
                    .env("GPULAB_UNPACKED", unpacked);
            }
        }
        _ => {}
    }
    command
}

/// A session on a driver's device; `files` replace the random inputs.
pub fn session(driver: &str, files: Option<Vec<Array>>) -> Session {
    Session::new(Box::new(open(driver)), Sources::default(), files)
}

/// A driver's device.
pub fn open(driver: &str) -> OpenClDevice {
    let platforms = list_platforms().unwrap();
    let part = match driver {
        "default" => None,
        "pocl" => Some("portable"),
        other => Some(other),
    };
    let info = select::select(&platforms, part).unwrap_or_else(|e| panic!("{driver}: {e}"));
    OpenClDevice::open(info).unwrap()
}

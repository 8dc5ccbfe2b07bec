//! Several devices that share a case: PoCL's `pthread` and `basic` stand for two, on any machine with PoCL.
#![cfg(unix)]

use crate::binary::{data, gpulab, write};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const TWO: &str = "pthread basic";
/// Whether a fault meets the second: its name, and since PoCL 4 another one.
const IS_BASIC: &str = r#"(strstr(name, "basic") || strstr(name, "minimal"))"#;
const BRIEF: [&str; 6] = ["--quick", "--warmup", "0", "--max-runs", "3", "--csv"];

/// A row by the names of its columns.
type Line = BTreeMap<String, String>;

fn rows(path: &Path) -> Vec<Line> {
    csv::Reader::from_path(path).unwrap().deserialize().map(Result::unwrap).collect()
}

/// The rows, what was said, and the exit code of a command on both devices; `variables` are set for it.
fn shared(args: &str, variables: &[(&str, &str)]) -> (Vec<Line>, String, i32) {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("rows.csv");
    let mut command = gpulab(&args.split(' ').collect::<Vec<_>>());
    command.args(BRIEF).arg(&file).env("POCL_DEVICES", TWO).envs(variables.iter().copied());
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    (rows(&file), said, output.status.code().unwrap())
}

fn column<'a>(rows: &'a [Line], name: &str) -> Vec<&'a str> {
    rows.iter().map(|row| row[name].as_str()).collect()
}

/// The sum of a row's shares.
fn work(row: &Line) -> u64 {
    row["shares"].split(' ').map(|share| share.split_once('=').unwrap().1.parse::<u64>().unwrap()).sum()
}

#[test]
#[ignore = "long"]
fn devices_share_vectors_and_matrices_of_any_size() {
    for (command, sizes) in [("reduce", &[0, 1, 3, 100_003][..]), ("dot", &[0, 1, 4097]), ("minplus", &[0, 1, 129])] {
        for (dtype, n) in ["i32", "f32", "f64"].into_iter().flat_map(|dtype| sizes.iter().map(move |n| (dtype, n))) {
            let (rows, said, code) = shared(&format!("{command} -d all --dtype {dtype} -n {n}"), &[]);
            let what = format!("{command} {dtype} {n}: {said}");
            assert_eq!((code, rows.len()), (0, 3), "{what}");
            assert!(column(&rows, "status").iter().all(|status| *status == "ok"), "{what}");
            assert!(
                rows.iter().filter(|row| row["shares"].contains(' ')).count() == 1 && work(&rows[2]) == *n,
                "{what}"
            );
            assert!(rows[2]["device"].contains(" + ") && rows[2]["platform"].contains(" + "), "{what}");
            if dtype == "i32" {
                assert_eq!(rows[2]["result"], rows[0]["result"], "{what}");
            }
            assert_eq!(rows[2]["ideal_pct"].is_empty(), *n == 0, "{what}");
        }
    }
}

#[test]
#[ignore = "long"]
fn every_rung_of_the_product_makes_some_rows_alone() {
    let mut both = 0;
    for rung in 0..6 {
        let (rows, said, code) = shared(&format!("minplus -d all -n 520 --variant {rung}"), &[]);
        assert_eq!((code, column(&rows, "status")), (0, vec!["ok"; 3]), "{rung}: {said}");
        assert_eq!(work(&rows[2]), 520, "{rung}: {said}");
        both += i32::from(!rows[2]["shares"].contains("=0"));
    }
    // Other work on the machine may make one device so slow that it gets no row.
    assert!(both >= 3, "both devices had rows of {both} rungs");
}

#[test]
fn files_and_other_operations_are_shared_too() {
    let (rows, said, code) = shared("reduce -d 0,1 --op min --dtype i32 -n 5000", &[]);
    assert_eq!((code, &rows[2]["result"]), (0, &rows[0]["result"]), "{said}");
    let dir = TempDir::new().unwrap();
    let numbers: String = (1..=3000).map(|i| format!("{i}\n")).collect();
    let file = write(&dir, "x.csv", format!("x\n{numbers}").as_bytes());
    let (rows, said, code) = shared(&format!("reduce -d 0,1 --dtype i32 --input {}:x", file.display()), &[]);
    assert_eq!((code, rows[2]["result"].as_str()), (0, "4501500"), "{said}");
    assert!(work(&rows[2]) == 3000 && !rows[2]["shares"].contains("=0"), "{said}");
}

/// An OpenCL library that does something else where it is told to launch on a device of this name, or with an offset, which
/// only the second share of a matrix has.
fn faulty(dir: &TempDir, fault: &str) -> PathBuf {
    let source = format!(
        r#"#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
typedef void *Ptr;
int clGetCommandQueueInfo(Ptr, unsigned, size_t, void *, size_t *);
int clGetDeviceInfo(Ptr, unsigned, size_t, void *, size_t *);
int clEnqueueNDRangeKernel(Ptr queue, Ptr kernel, unsigned dims, const size_t *offset, const size_t *global,
                           const size_t *local, unsigned count, const Ptr *events, Ptr *event)
{{
    Ptr device = NULL;
    char name[256] = "";
    clGetCommandQueueInfo(queue, 0x1091, sizeof device, &device, NULL);
    clGetDeviceInfo(device, 0x102B, sizeof name, name, NULL);
    int (*real)(Ptr, Ptr, unsigned, const size_t *, const size_t *, const size_t *, unsigned, const Ptr *, Ptr *);
    real = dlsym(dlopen("libOpenCL.so.1", RTLD_NOW), "clEnqueueNDRangeKernel");
    {fault}
    return real(queue, kernel, dims, offset, global, local, count, events, event);
}}
"#
    );
    let source = write(dir, "faulty.c", source.as_bytes());
    let library = dir.path().join("faulty.so");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).args(["-ldl", "-l:libOpenCL.so.1"]);
    assert!(cc.status().unwrap().success());
    library
}

fn with_fault(args: &str, fault: &str) -> (Vec<Line>, String, i32) {
    let dir = TempDir::new().unwrap();
    shared(args, &[("GPULAB_OPENCL_LIB", faulty(&dir, fault).to_str().unwrap())])
}

#[test]
#[ignore = "long"]
fn what_a_failing_device_does_not_do_the_others_do() {
    let (rows, said, code) = with_fault("minplus -d 0,1 -n 300", "if (offset) return -5;");
    assert_eq!((code, column(&rows, "status")), (1, vec!["ok", "ok", "failed", "ok"]), "{said}");
    assert!(rows[2]["reason"].contains("CL_OUT_OF_RESOURCES"), "{said}");
    assert!(rows[3]["reason"].contains("did not do its share") && rows[3]["shares"].contains("=300"), "{said}");
    let basic = &format!("if {IS_BASIC} return -5;");
    let (rows, said, code) = with_fault("dot -d all -n 10000", basic);
    assert_eq!((code, column(&rows, "status").iter().filter(|status| **status == "ok").count()), (1, 2), "{said}");
    assert!(rows[2]["shares"].contains("=10000") && rows[2]["reason"].contains("others did it"), "{said}");
    let (rows, said, code) = with_fault("reduce -d all -n 10000", "return -5;");
    assert_eq!((code, column(&rows, "status")), (1, vec!["failed"; 2]), "{said}");
}

/// The distances of a ring with chords, what was said, and the exit code, on both devices.
fn distances(args: &[&str], fault: Option<&str>) -> (String, String, i32) {
    let dir = TempDir::new().unwrap();
    let edges = (0..300).flat_map(|i| [(i, (i + 1) % 300, 1 + i % 7), (i, i * 7 % 300, 40)]);
    let edges: String = edges.map(|(from, to, weight)| format!("{from},{to},{weight}\n")).collect();
    let graph = write(&dir, "graph.csv", format!("from,to,weight\n{edges}").as_bytes());
    let mut command = gpulab(&["minplus", "--closure", "--input", graph.to_str().unwrap()]);
    command.args(args).env("POCL_DEVICES", TWO);
    let fault = fault.map(|fault| faulty(&dir, fault));
    command.envs(fault.map(|library| ("GPULAB_OPENCL_LIB", library)));
    let output = command.output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (out, err, output.status.code().unwrap())
}

#[test]
#[ignore = "long"]
fn distances_are_shared_and_streamed_and_survive_a_device() {
    let (whole, err, code) = distances(&["-d", "0"], None);
    assert!(code == 0 && !err.contains("tiles"), "{err}");
    for (args, word) in [
        (&["-d", "0,1"][..], "shares of 27 tiles: 0:0 (blocked_wide)"),
        (&["-d", "0,1", "-v"], "the first pivot took 0."),
        (&["-d", "0", "--memory", "2MiB"], "closure in tiles of 128 x 128, 3 a side"),
        (&["-d", "0", "--stream"], "give less --memory for several"),
    ] {
        let (out, err, code) = distances(args, None);
        assert!(code == 0 && out == whole && err.contains(word), "{args:?}: {err}");
    }
    for semiring in ["max-min", "or-and"] {
        let (whole, ..) = distances(&["-d", "0", "--semiring", semiring], None);
        let (out, err, code) = distances(&["-d", "0,1", "--memory", "2MiB", "--semiring", semiring], None);
        assert!(code == 0 && out == whole && err.contains("3 a side"), "{semiring}: {err}");
    }
    let basic = &format!("if {IS_BASIC} return -5;");
    let (out, err, code) = distances(&["-d", "all"], Some(basic));
    assert!(code == 0 && out == whole && err.contains("CL_OUT_OF_RESOURCES") && err.contains("others did it"), "{err}");
    // A device that does nothing, and does not say so.
    let (out, err, code) = distances(&["-d", "0,1"], Some(&format!("if {IS_BASIC} global = local;")));
    assert!(code == 4 && out.is_empty() && err.contains("the distance from "), "{err}");
    // What does not fit a device says what would.
    let (out, err, code) = distances(&["-d", "0"], Some("return -4;"));
    assert!(code != 0 && out.is_empty() && err.contains("--stream keeps the matrix in the host's memory"), "{err}");
    let (out, err, code) = distances(&["-d", "0,1"], Some("return -5;"));
    assert!(code != 0 && out.is_empty() && err.contains("0:0 did not") && err.contains("0:1 did not"), "{err}");
}

#[test]
fn a_share_that_is_not_done_makes_the_joined_result_wrong() {
    let (rows, said, code) = with_fault("minplus -d 0,1 -n 300", "offset = NULL;");
    assert_eq!((code, column(&rows, "status")), (4, vec!["ok", "ok", "wrong_result"]), "{said}");
    assert!(rows[2]["t_median_s"].is_empty(), "{said}");
}

/// The workers of a process: its children.
fn workers(parent: u32) -> Vec<u32> {
    let is_child = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parts = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().nth(1).map(str::to_owned));
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        parts.flatten() == Some(parent.to_string()) && words.ends_with(b"\0worker\0")
    };
    let numbers = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers.filter(is_child).collect()
}

/// What comes of a signal to one worker, whichever device's it is, once both devices did the whole alone.
fn signalled(signal: &str, more: &[&str]) -> (Vec<Line>, String, i32) {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("rows.csv");
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("gpulab"));
    command.args(["reduce", "-d", "0,1", "--dtype", "i32", "-n", "1M", "--sample-time", "2", "--max-noise", "0.0001"]);
    command.args(["--max-runs", "100000", "--csv"]).arg(&file).args(more);
    command.env("POCL_DEVICES", TWO).env("GPULAB_DATA", data()).env_remove("GPULAB_DEVICE");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begin = Instant::now();
    while fs::read_to_string(&file).map_or(0, |text| text.lines().count()) < 3 {
        assert!(begin.elapsed() < Duration::from_secs(120), "no rows come");
        std::thread::sleep(Duration::from_millis(20));
    }
    // Now both are at work together.
    std::thread::sleep(Duration::from_millis(500));
    let pid = workers(child.id())[0].to_string();
    assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    (rows(&file), said, output.status.code().unwrap())
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "long"]
fn a_worker_that_dies_or_hangs_has_its_share_done() {
    for (signal, more, status, reason) in
        [("-KILL", &[][..], "failed", "signal: 9"), ("-STOP", &["--deadline", "1"], "timeout", "--deadline")]
    {
        let (rows, said, code) = signalled(signal, more);
        assert_eq!((code, column(&rows, "status")), (1, vec!["ok", "ok", status, "ok"]), "{said}");
        assert!(rows[2]["reason"].contains(reason), "{said}");
        assert_eq!((rows[3]["result"].as_str(), work(&rows[3])), (rows[0]["result"].as_str(), 1_000_000), "{said}");
        assert!(rows[3]["shares"].contains("=0") && rows[3]["reason"].contains("others did it"), "{said}");
    }
}

#[test]
fn lists_are_checked_before_anything_runs() {
    for (args, code, why) in [
        ("reduce -d 0,", 2, "a comma stands between two devices"),
        ("reduce -d 0,0:0", 2, "twice"),
        ("reduce -d 0,nobody", 3, "no device matches `nobody`"),
        ("reduce -d all --variant 1,2", 2, "choose one, not 2"),
        ("reduce -d all --items 7 --variant 1", 2, "none of the chosen rungs has this setting"),
        ("dot -d all --why", 2, "--why is for one device"),
        ("dot -d all --as cmsoft", 2, "--as is for one device"),
        ("minplus -d 0,1 --clock batch", 2, "--clock batch is for one device"),
        ("transpose -d all", 2, "asks for several devices"),
        ("sweep reduce -d 0,1", 2, "asks for several devices"),
        ("minplus -d all -n 1M", 2, "choose a smaller size"),
    ] {
        let output = gpulab(&args.split(' ').collect::<Vec<_>>()).env("POCL_DEVICES", TWO).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(code) && said.contains(why), "{args}: {:?} {said}", output.status);
        assert!(output.stdout.is_empty(), "{args}");
    }
}

#[test]
fn one_device_has_nobody_to_share_with() {
    let output =
        gpulab(&["reduce", "-d", "all", "-n", "1000", "--quick"]).env("POCL_DEVICES", "basic").output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    assert!(output.status.success() && said.contains("nothing to share"), "{said}");
}

#[test]
fn recorded_rows_are_shown_as_they_were_told() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("rows.csv");
    let mut command = gpulab(&["reduce", "-d", "all", "-n", "10000", "--quick", "--md", "-", "--csv"]);
    let told = command.arg(&file).env("POCL_DEVICES", TWO).output().unwrap();
    let shown = gpulab(&["show", file.to_str().unwrap(), "--md", "-"]).output().unwrap();
    assert!(told.status.success() && String::from_utf8_lossy(&told.stdout).contains("0:0 + 0:1"), "{told:?}");
    assert_eq!(told.stdout, shown.stdout);
}

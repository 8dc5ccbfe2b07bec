//! Without a device, a driver or a library, and with drivers that crash or print: what is said, and with which exit code.

use crate::binary::{NOWHERE, gpulab, run, shell, write};
use std::fs;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Seconds that a command takes that opens no device: what starting a process costs on this machine now.
fn start_up() -> Duration {
    let began = Instant::now();
    run(&["--version"]);
    began.elapsed()
}

#[test]
fn an_unknown_device_lists_the_candidates() {
    let (_, err, code) = run(&["dot", "--n", "1000", "-d", "no such device"]);
    assert_eq!(code, 3);
    assert!(
        err.contains("no such device") && err.contains("0:0"),
        "{err}"
    );
}

#[test]
fn no_driver_is_exit_code_3_at_once() {
    for args in [vec!["devices"], vec!["doctor"], vec!["dot", "--n", "1000"]] {
        // The `ocl` crate would sleep 10 s.
        let most = Duration::from_secs(9) + 50 * start_up();
        let started = Instant::now();
        let mut command = gpulab(&args);
        command
            .env("OCL_ICD_VENDORS", NOWHERE)
            .env_remove("OCL_ICD_FILENAMES");
        command.assert().code(3);
        assert!(
            started.elapsed() < most,
            "{args:?} took {:?}",
            started.elapsed()
        );
    }
}

#[test]
fn no_library_is_needed_to_start() {
    let missing = |args: &[&str]| gpulab(args).env("GPULAB_OPENCL_LIB", NOWHERE).assert();
    for args in [["--help"], ["--version"], ["list"]] {
        missing(&args).success();
    }
    missing(&["devices"]).code(3);
}

/// A folder of registered drivers: the system's, and one whose library does this when it is loaded.
fn with_a_broken_driver(does: &str) -> TempDir {
    let dir = TempDir::new().unwrap();
    let source = write(&dir, "broken.c", format!("#include <stdlib.h>\n#include <stdio.h>\n#include <unistd.h>\n__attribute__((constructor)) static void load(void) {{ {does} }}\n").as_bytes());
    let library = dir.path().join("libbroken.so");
    let built = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(source)
        .status();
    assert!(built.unwrap().success());
    fs::write(
        dir.path().join("a-broken.icd"),
        format!("{}\n", library.display()),
    )
    .unwrap();
    for entry in fs::read_dir("/etc/OpenCL/vendors")
        .into_iter()
        .flatten()
        .flatten()
    {
        fs::copy(entry.path(), dir.path().join(entry.file_name())).unwrap();
    }
    dir
}

#[test]
fn a_driver_that_crashes_while_it_is_listed_hides_no_other() {
    let (whole, _, _) = run(&["devices", "--json", "-"]);
    for does in [
        "abort();",
        "*(volatile int *)0 = 1;",
        "_exit(0);",
        "puts(\"[]\"); fflush(stdout); _exit(0);",
    ] {
        let dir = with_a_broken_driver(does);
        let output = gpulab(&["devices", "--json", "-"])
            .env("OCL_ICD_VENDORS", dir.path())
            .output()
            .unwrap();
        let (out, err) = (
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        );
        assert_eq!(output.status.code(), Some(1), "{does}: {err}");
        assert!(
            err.contains("a-broken.icd: the driver ended the process"),
            "{does}: {err}"
        );
        assert_eq!(out, whole, "{does}");
    }
}

#[test]
fn the_cause_is_told_why_there_is_no_device() {
    let dir = TempDir::new().unwrap();
    let file = write(&dir, "file", b"");
    let file = file.to_str().unwrap();
    for command in ["devices", "dot --quick -q --n 1000 --variant wide"] {
        let (_, err, code) = shell(&format!("GPULAB_OPENCL_LIB=bad exec \"$0\" {command}"));
        assert!(
            code == Some(3) && err.contains("GPULAB_OPENCL_LIB") && err.contains("unset it"),
            "{command}: {err}"
        );
        let (_, err, code) = shell(&format!("ulimit -v 100000; exec \"$0\" {command}"));
        assert!(
            code == Some(3) && err.contains("ulimit -v"),
            "{command}: {err}"
        );
        let (out, err, code) = shell(&format!("POCL_CACHE_DIR=/proc/none exec \"$0\" {command}"));
        // Where there are other devices there is nothing to tell.
        assert!(
            code == Some(0) || (out + &err).contains("set POCL_CACHE_DIR to one that is"),
            "{command}: {err}"
        );
    }
    let (out, err, code) = shell(&format!(
        "POCL_CACHE_DIR={file}/x exec \"$0\" dot --quick -q --n 1000 --variant wide"
    ));
    assert!(
        code == Some(0) || (out + &err).contains("set POCL_CACHE_DIR to one that is"),
        "{err}"
    );
}

#[test]
fn a_driver_that_sleeps_holds_the_doctor_up_for_a_minute_at_most() {
    let dir = with_a_broken_driver("sleep(25);");
    let began = Instant::now();
    let output = gpulab(&["doctor"])
        .env("OCL_ICD_VENDORS", dir.path())
        .output()
        .unwrap();
    let took = began.elapsed();
    let out = String::from_utf8(output.stdout).unwrap();
    let is_told =
        out.contains("did not answer within") || out.contains("not looked at: others took 60 s");
    assert!(
        is_told && output.status.code() != Some(0) && took < Duration::from_secs(75),
        "{took:?}: {out}"
    );
}

//! What needs no kernel: the first screen, devices and their selection, the doctor, help and files for packagers.

use crate::binary::{gpulab, run};
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_program_alone_shows_the_device_and_what_to_try() {
    let (out, err, code) = run(&[]);
    assert_eq!((err.as_str(), code), ("", 0), "{out}");
    for word in [
        "device 0:",
        "gpulab dot -n 1M --quick",
        "gpulab ceiling --quick",
        "gpulab list",
        "(about ",
    ] {
        assert!(out.contains(word), "{word}: {out}");
    }
    let (quiet, _, code) = run(&["-q"]);
    assert!(
        code == 0 && quiet.lines().count() == 1 && quiet.starts_with("device 0:"),
        "{quiet}"
    );
    let (out, _, code) = run(&["-d", "0:0"]);
    assert!(
        code == 0 && out.contains("gpulab dot -n 1M --quick -d 0:0"),
        "{out}"
    );
}

#[test]
fn the_program_alone_survives_without_drivers() {
    let empty = TempDir::new().unwrap();
    let broken = TempDir::new().unwrap();
    fs::write(broken.path().join("broken.icd"), "/nowhere/libnothing.so\n").unwrap();
    for folder in [&empty, &broken] {
        let output = gpulab(&[])
            .env_remove("OCL_ICD_FILENAMES")
            .env("OCL_ICD_VENDORS", folder.path())
            .output()
            .unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(3), "{out}");
        assert!(
            out.contains("no device: ")
                && out.contains("pocl-opencl-icd")
                && out.contains("gpulab doctor"),
            "{out}"
        );
    }
}

#[test]
fn a_selector_filters_the_devices() {
    let all = json(&run(&["devices", "--json", "-"]).0);
    let first = &all.as_array().unwrap()[0];
    for selector in [
        first["name"].as_str().unwrap(),
        first["selector"].as_str().unwrap(),
        "0",
    ] {
        let (out, err, code) = run(&["devices", "--json", "-", "-d", selector]);
        assert_eq!(code, 0, "{err}");
        let found = json(&out);
        assert!(
            found.as_array().unwrap().contains(first),
            "{selector}: {found}"
        );
        assert!(found.as_array().unwrap().len() <= all.as_array().unwrap().len());
    }
    // What the environment says filters nothing: the list shows what else there is.
    let output = gpulab(&["devices", "--json", "-"])
        .env("GPULAB_DEVICE", "no such device")
        .output()
        .unwrap();
    assert_eq!(json(&String::from_utf8(output.stdout).unwrap()), all);
    let (verbose, _, _) = run(&["devices", "-v"]);
    let (quiet, _, _) = run(&["devices", "-q"]);
    assert!(
        verbose.contains("timer steps of") && !quiet.contains("select one"),
        "{verbose}{quiet}"
    );
}

#[test]
fn the_doctor_tries_each_device() {
    let (out, err, code) = run(&["doctor"]);
    assert_eq!(code, 0, "{out}{err}");
    for said in [
        "loader     ok:",
        "compiles, runs, right result; timer",
        "verdict    ready",
    ] {
        assert!(out.contains(said), "{out}");
    }
}

#[test]
fn without_a_simulator_the_message_says_what_to_install() {
    let dir = TempDir::new().unwrap();
    let output = gpulab(&["count", "reduce"])
        .env("PATH", dir.path())
        .output()
        .unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), output.stdout.len()),
        (Some(3), 0),
        "{err}"
    );
    assert!(
        err.contains("it is not installed")
            && err.contains("oclgrind liboclgrind-dev opencl-headers g++"),
        "{err}"
    );
    // Drivers find their linker by the path, too, unless they have built the kernel before.
    assert!(gpulab(&["doctor"]).output().unwrap().status.success());
    let output = gpulab(&["doctor"])
        .env("PATH", dir.path())
        .output()
        .unwrap();
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(
        report.contains("counting   not possible: ") && output.status.success(),
        "{report}"
    );
}

#[test]
fn lists_and_help_know_every_name() {
    for (args, word) in [
        (&["list", "banks"][..], "gpulab lab banks --quick"),
        (&["list", "Reduce"], "cl/reduce/interleaved.cl"),
        (&["list", "closure"], "textbook"),
        (&["list", "-v"], "Removes"),
        (&["help"], "Usage: gpulab"),
        (&["help", "sweep"], "Usage: gpulab sweep"),
        (&["help", "columns"], "of limit"),
        (&["sweep", "--help"], "--csv"),
        (
            &[
                "sweep",
                "dot",
                "-n",
                "1000",
                "--variant",
                "1",
                "--wg",
                "64",
                "--dry-run",
            ],
            "configurations; 0 cannot run \
                                                                                        here",
        ),
    ] {
        let (out, err, code) = run(args);
        assert!(
            code == 0 && out.contains(word),
            "{args:?}: {word:?} is missing in {out}{err}"
        );
    }
}

#[test]
fn nothing_is_next_where_nobody_sits() {
    for args in [&["list"][..], &["devices"], &["lab"]] {
        let (out, err, _) = run(args);
        assert!(
            !out.contains("next: ") && !err.contains("next: "),
            "{args:?}: {out}{err}"
        );
    }
}

#[test]
fn completions_are_whole_and_every_command_stands_in_a_group_of_the_help() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (out, _, code) = run(&["completions", shell]);
        assert!(code == 0 && out.contains("transpose"), "{shell}");
    }
    let (help, _, _) = run(&["--help"]);
    for name in gpulab::cli::command_names() {
        assert_eq!(
            help.lines()
                .filter(|line| line.starts_with(&format!("  {name} ")))
                .count(),
            1,
            "{name}: {help}"
        );
    }
}

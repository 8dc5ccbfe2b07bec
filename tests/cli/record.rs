//! `gpulab record`, as a user runs it: interrupted, gone on with, and with a command that fails.

use crate::binary::{data, run};
use gpulab::store::{read_points, read_rows};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

const QUICK: [&str; 5] = ["record", "--quick", "--budget", "20s", "-o"];

fn record(folder: &str) -> (String, String, i32) {
    run(&[&QUICK[..], &[folder]].concat())
}

fn journal(folder: &Path) -> Value {
    fs::read_to_string(folder.join("record.json")).map_or(Value::Null, |text| serde_json::from_str(&text).unwrap())
}

/// Lets the journal say that these steps have ended well, and others not at all.
fn mark_done(folder: &Path, is_done: impl Fn(&str) -> bool) {
    let mut journal = journal(folder);
    for step in journal["steps"].as_array_mut().unwrap() {
        let is_done = is_done(step["command"].as_str().unwrap());
        step["exit_code"] = if is_done { 0.into() } else { Value::Null };
    }
    fs::write(folder.join("record.json"), journal.to_string()).unwrap();
}

#[test]
fn without_a_folder_it_says_what_it_would_do() {
    let (out, _, code) = run(&["record", "--quick"]);
    assert_eq!(code, 0);
    assert!(out.contains(" commands on ") && out.contains("about 2 min"), "{out}");
    assert!(out.contains("  gpulab ceiling --quick --csv ceilings.csv\n"), "{out}");
    assert!(out.contains("  gpulab lab zerocopy --quick --budget 4s --csv lab.csv\n"), "{out}");
    let last = out.lines().last().unwrap();
    assert!(last.starts_with("  gpulab record --quick -o "), "{out}");
    assert!(!Path::new(last.split(' ').next_back().unwrap()).exists(), "a folder that is free: {out}");
}

#[test]
#[ignore = "long"]
fn a_record_goes_on_after_an_interrupt_and_past_a_failure() {
    let dir = TempDir::new().unwrap();
    let folder = dir.path().join("mine");
    let path = folder.display().to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulab"));
    command.args(QUICK).arg(&path).env("GPULAB_DATA", data()).env_remove("GPULAB_DEVICE");
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // In the middle of the first command, in which nobody but the record is interrupted.
    while fs::read_to_string(folder.join("unfinished/ceilings.csv")).unwrap_or_default().lines().count() < 3 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let ended = child.wait_with_output().unwrap();
    let err = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{err}");
    assert!(err.contains("the same command continues"), "{err}");
    let ceilings = fs::read_to_string(folder.join("ceilings.csv")).unwrap();
    assert!(ceilings.lines().count() >= 3, "what was measured is kept: {ceilings}");

    // A killed run leaves this: rows that are no part of their file yet, the last of them torn.
    mark_done(&folder, |command| !command.contains("dot") && !command.contains("lab banks"));
    fs::create_dir_all(folder.join("unfinished")).unwrap();
    fs::write(folder.join("unfinished/ceilings.csv"), format!("{ceilings}2,torn")).unwrap();
    // And this stops a command.
    fs::create_dir(folder.join("unfinished/dot.csv")).unwrap();
    let (_, err, code) = record(&path);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("27 of 29 commands are done already"), "{err}");
    assert!(err.contains("dot --no-tuned --quick --budget 1s --csv dot.csv failed: An output"), "{err}");
    assert_eq!(fs::read_to_string(folder.join("ceilings.csv")).unwrap(), ceilings);
    let points = read_points(&folder.join("lab.csv")).unwrap();
    assert!(points.iter().all(|point| point.experiment == "banks") && points.len() > 5, "the rest goes on");

    fs::remove_dir(folder.join("unfinished/dot.csv")).unwrap();
    let (out, err, code) = record(&path);
    // A machine that is not quiet makes rows that cannot be trusted: they are measured all the same.
    assert!([0, 7].contains(&code), "{err}");
    assert!(out.contains("29 of 29 commands, in ceilings.csv, dot.csv, lab.csv, device.json, record.json"), "{out}");
    let rows = read_rows(&folder.join("dot.csv")).unwrap().rows;
    assert_eq!(rows[0].command, "gpulab dot --no-tuned --quick --budget 1s --csv dot.csv");
    assert!(!folder.join("unfinished").exists());
    assert_eq!(read_points(&folder.join("lab.csv")).unwrap(), points, "what is whole is kept");

    let told = run(&["record", "-o", &path]);
    assert!(told.2 == 2 && told.1.contains("`gpulab record --quick --budget 20s -o mine` continues it"), "{told:?}");
    names_no_place(&folder, dir.path());
}

/// No file names this machine, or where it lies.
fn names_no_place(folder: &Path, place: &Path) {
    let place = place.file_name().unwrap().to_str().unwrap();
    for file in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(!text.contains(place) && !text.contains(env!("CARGO_MANIFEST_DIR")), "{text}");
    }
}

#[test]
fn a_folder_of_something_else_is_left_alone() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().display().to_string();
    fs::write(dir.path().join("reduce.csv"), "mine").unwrap();
    let (_, err, code) = record(&path);
    assert!(code == 2 && err.contains("holds reduce.csv"), "{err}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    fs::write(dir.path().join("record.json"), "{}").unwrap();
    let (_, err, code) = record(&path);
    assert!(code == 2 && err.contains("is not a record of gpulab"), "{err}");
    let (_, err, code) = record(&dir.path().join("reduce.csv/below").display().to_string());
    assert!(code == 74, "{err}");
}

//! `gpulab record`, as a user runs it: interrupted, gone on with, and with a command that fails.

use crate::binary::{data, run};
use gpulab::store::read_rows;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

const QUICK: [&str; 5] = ["record", "--quick", "--budget", "20s", "-o"];

#[test]
fn without_a_folder_it_lists_its_commands() {
    let (out, _, code) = run(&["record", "--quick"]);
    assert_eq!(code, 0);
    assert!(
        out.contains(" commands on ") && out.contains("nothing was run"),
        "{out}"
    );
    assert!(
        out.contains("  gpulab ceiling --quick --csv ceilings.csv\n"),
        "{out}"
    );
    assert!(
        out.contains("  gpulab lab zerocopy --quick --budget 4s --csv lab-zerocopy.csv\n"),
        "{out}"
    );
    let (out, _, _) = run(&["record"]);
    assert!(
        out.contains("  gpulab dot --no-tuned -n 1048576 --budget "),
        "{out}"
    );
}

#[test]
fn a_record_goes_on_after_an_interrupt_and_past_a_failure() {
    let dir = TempDir::new().unwrap();
    let folder = dir.path().join("mine");
    let path = folder.display().to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulab"));
    command
        .args(QUICK)
        .arg(&path)
        .env("GPULAB_DATA", data())
        .env_remove("GPULAB_DEVICE");
    let child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // In the middle of the first command, in which nobody but the record is interrupted.
    let ceilings = folder.join("unfinished/ceilings.csv");
    while fs::read_to_string(&ceilings)
        .unwrap_or_default()
        .lines()
        .count()
        < 3
    {
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let ended = child.wait_with_output().unwrap();
    let err = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{err}");
    assert!(err.contains("the same command continues"), "{err}");
    assert!(
        !folder.join("ceilings.csv").exists() && ceilings.exists(),
        "what is not whole is no result"
    );

    // All others have been run; this stops one of those that are left.
    let (_, _, code) = run(&[
        "dot",
        "--quick",
        "-n",
        "5000",
        "--variant",
        "1",
        "--csv",
        &format!("{path}/one.csv"),
    ]);
    assert_eq!(code, 0);
    let listed = run(&["record", "--quick", "--budget", "20s"]).0;
    let files = listed
        .lines()
        .filter_map(|line| line.rsplit_once("--csv "))
        .map(|(_, file)| file.to_owned());
    let files: Vec<String> = files.collect();
    for file in files
        .iter()
        .filter(|file| !["dot.csv", "reduce.csv"].contains(&file.as_str()))
    {
        fs::copy(folder.join("one.csv"), folder.join(file)).unwrap();
    }
    fs::create_dir(folder.join("unfinished/dot.csv")).unwrap();
    let (_, err, code) = run(&[&QUICK[..], &[&path]].concat());
    assert_eq!(code, 1, "{err}");
    assert!(
        err.contains("dot --no-tuned --quick --budget 1s --csv dot.csv: exit code 74"),
        "{err}"
    );
    let rows = read_rows(&folder.join("reduce.csv")).unwrap().rows;
    assert_eq!(
        rows[0].command,
        "gpulab reduce --no-tuned --quick --budget 1s --csv reduce.csv"
    );

    fs::remove_dir(folder.join("unfinished/dot.csv")).unwrap();
    let before = fs::read(folder.join("reduce.csv")).unwrap();
    let (out, err, code) = run(&[&QUICK[..], &[&path]].concat());
    // A machine that is not quiet makes rows that cannot be trusted: they are measured all the same.
    assert!(
        [0, 7].contains(&code) && out.contains(&format!("the results of {} commands", files.len())),
        "{out}{err}"
    );
    assert!(
        folder.join("dot.csv").exists() && fs::read(folder.join("reduce.csv")).unwrap() == before
    );
    names_no_place(&folder, dir.path());
}

/// No file names this machine, or where it lies.
fn names_no_place(folder: &Path, place: &Path) {
    let place = place.file_name().unwrap().to_str().unwrap();
    for file in ["dot.csv", "reduce.csv"] {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        assert!(
            !text.contains(place) && !text.contains(env!("CARGO_MANIFEST_DIR")),
            "{text}"
        );
    }
}

#[test]
fn a_folder_of_something_else_is_left_alone() {
    let dir = TempDir::new().unwrap();
    let record = |folder: &Path| run(&[&QUICK[..], &[&folder.display().to_string()]].concat());
    fs::write(dir.path().join("reduce.csv"), "mine").unwrap();
    let (_, err, code) = record(dir.path());
    assert!(code == 2 && err.contains("reduce.csv is not of "), "{err}");
    assert_eq!(
        fs::read_to_string(dir.path().join("reduce.csv")).unwrap(),
        "mine"
    );
    let (_, err, code) = record(&dir.path().join("reduce.csv/below"));
    assert!(code == 74, "{err}");
}

//! Sweeps in parts: the parts one by one, as HyperQueue's tasks run them, and all of it with HyperQueue.

use crate::binary::{gpulab, run};
use gpulab::store::read_rows;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A task of two: what it printed, what it said, and its exit code.
fn task(folder: &Path, words: &[&str], what: &str, number: &str) -> (String, String, i32) {
    let mut command = gpulab(words);
    let output = command
        .current_dir(folder)
        .env("GPULAB_TASK", what)
        .env("HQ_TASK_ID", number)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        text(&output.stdout),
        text(&output.stderr),
        output.status.code().unwrap(),
    )
}

/// A sweep of four configurations into a file.
const SWEEP: [&str; 12] = [
    "sweep",
    "dot",
    "--variant",
    "1,2",
    "-n",
    "5000",
    "--wg",
    "32,64",
    "--max-runs",
    "4",
    "-o",
    "out.csv",
];

#[test]
fn a_lost_worker_loses_no_row() {
    let dir = TempDir::new().unwrap();
    let words: Vec<&str> = SWEEP
        .into_iter()
        .chain(["--workers", "2", "--tasks", "2", "--order", "sequential"])
        .collect();
    fs::create_dir(dir.path().join("out.csv.tasks")).unwrap();
    let (_, err, code) = task(dir.path(), &words, "part", "1");
    assert_eq!(code, 0, "{err}");
    let part = dir.path().join("out.csv.tasks/1.csv");
    let whole = fs::read_to_string(&part).unwrap();
    // As a process leaves it that is killed within a line.
    fs::write(&part, &whole[..whole.len() - 20]).unwrap();
    let before = read_rows(&part).unwrap().rows;
    let (_, err, code) = task(dir.path(), &words, "part", "1");
    assert_eq!(code, 0, "{err}");
    let after = read_rows(&part).unwrap().rows;
    assert_eq!(after.len(), before.len() + 1);
    assert_eq!(
        after[0].time_utc, before[0].time_utc,
        "what was there is not measured again"
    );
    let (_, err, code) = task(dir.path(), &words, "part", "2");
    assert!(code == 2 && err.contains("HQ_TASK_ID"), "{err}");
}

#[test]
fn hyperqueue_runs_the_parts() {
    if !std::process::Command::new("python3")
        .args(["-c", "import hyperqueue"])
        .output()
        .is_ok_and(|o| o.status.success())
    {
        return println!("skipped: python3 has no hyperqueue: pip install hyperqueue");
    }
    let dir = TempDir::new().unwrap();
    let words: Vec<&str> = SWEEP
        .into_iter()
        .chain(["--workers", "2", "--tasks", "3"])
        .collect();
    let sweep = || {
        let output = gpulab(&words).current_dir(dir.path()).output().unwrap();
        (
            String::from_utf8_lossy(&output.stderr).into_owned(),
            output.status.code().unwrap(),
        )
    };
    // Where its rows belong is a folder.
    let blocked = dir.path().join("out.csv.tasks/1.csv");
    fs::create_dir_all(&blocked).unwrap();
    let (err, code) = sweep();
    assert!(
        code == 1 && err.contains("the same command goes on") && err.contains("task 2: "),
        "{err}"
    );
    fs::remove_dir(&blocked).unwrap();
    let (err, code) = sweep();
    assert!(code == 0 && err.contains("best: "), "{err}");
    let rows = read_rows(&dir.path().join("out.csv")).unwrap().rows;
    let places: Vec<u64> = rows.iter().filter_map(|row| row.case_index).collect();
    assert_eq!(places, (0..rows[0].cases.unwrap()).collect::<Vec<_>>());
    assert!(!dir.path().join("out.csv.tasks").exists());
    let (err, code) = sweep();
    assert!(code == 2 && err.contains("--force"), "{err}");
}

#[test]
fn workers_need_a_file_and_a_name() {
    let refused = |words: &[&str], why: &str| {
        let (_, err, code) = run(&[&["sweep", "dot"], words].concat());
        assert!(code == 2 && err.contains(why), "{words:?}: {err}");
    };
    refused(&["--workers", "2"], "-o FILE");
    refused(&["--workers", "hq", "-o", "-"], "-o FILE");
    for bad in ["0", "many", "2 3", "", "4096"] {
        refused(&["--workers", bad, "-o", "x.csv"], "how many workers");
    }
    refused(&["--tasks", "4", "-o", "x.csv"], "--workers");
    refused(
        &["--workers", "2", "--resume", "-o", "x.csv"],
        "cannot be used with",
    );
    refused(
        &["--workers", "2", "--shard", "1/2", "-o", "x.csv"],
        "cannot be used with",
    );
}

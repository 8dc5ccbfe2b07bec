//! Sweeps and searches in parts: the parts one by one, as HyperQueue's tasks run them, and all of it with HyperQueue.

use crate::binary::{gpulab, run};
use gpulab::record::Row;
use gpulab::store::{read_rows, write_rows};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A task of two: what it printed, what it said, and its exit code.
fn task(folder: &Path, words: &[&str], what: &str, number: &str) -> (String, String, i32) {
    let mut command = gpulab(words);
    let output = command.current_dir(folder).env("GPULAB_TASK", what).env("HQ_TASK_ID", number).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code().unwrap())
}

const SEARCH: [&str; 16] = [
    "tune",
    "reduce",
    "--variant",
    "first_add",
    "-n",
    "20000",
    "--wg",
    "1,32,64,128",
    "--set",
    "finish=host",
    "--budget",
    "100",
    "--workers",
    "2",
    "--tasks",
    "2",
];

#[test]
#[ignore = "long"]
fn a_slow_worker_cannot_choose() {
    let dir = TempDir::new().unwrap();
    let words = [&SEARCH[..], &["-o", "out.csv"]].concat();
    fs::create_dir(dir.path().join("out.csv.tasks")).unwrap();
    for part in ["0", "1"] {
        let (_, err, code) = task(dir.path(), &words, "part", part);
        assert_eq!(code, 0, "{err}");
    }
    let path = |part: usize| dir.path().join(format!("out.csv.tasks/{part}.csv"));
    let parts = [0, 1].map(|part| read_rows(&path(part)).unwrap().rows);
    let places = parts.each_ref().map(|rows| rows.iter().filter_map(|row| row.case_index).collect::<BTreeSet<_>>());
    let all = parts[0][0].cases.unwrap();
    assert!(places[0].is_disjoint(&places[1]) && places.iter().map(|part| part.len() as u64).sum::<u64>() == all);
    // The worker of a row with single items a group claims that it is a thousand times faster.
    let is_slow = |row: &Row| row.wg.is_some_and(|wg| wg.size() == 1);
    let slow = parts.iter().position(|rows| rows.iter().any(is_slow)).unwrap();
    let mut claimed = parts[slow].clone();
    for row in claimed.iter_mut().filter(|row| is_slow(row)) {
        row.t_median_s = row.t_median_s.map(|seconds| seconds / 1000.0);
    }
    write_rows(path(slow).to_str().unwrap(), &claimed).unwrap();
    let (out, err, code) = task(dir.path(), &words, "last", "0");
    assert!(code == 0 && out.contains(&format!("{all} of {all} configurations tried")), "{out}{err}");
    let best = out.lines().find(|line| line.starts_with("best: v4 first_add")).unwrap_or_else(|| panic!("{out}"));
    // The claim would be nanoseconds.
    assert!(!out.split_once("best: ").unwrap().1.split("GB/s").next().unwrap().contains(" ns"), "{out}");
    let rows = read_rows(&dir.path().join("out.csv")).unwrap().rows;
    let least = |of_slow: bool| {
        let own = rows[all as usize..].iter().filter(|row| is_slow(row) == of_slow);
        own.filter_map(|row| row.t_median_s).fold(f64::INFINITY, f64::min)
    };
    // As measured again, side by side; within the noise of a busy machine either may win.
    let factor = least(true) / least(false);
    assert!(best.contains(", wg 1,") == (factor < 1.0) || (0.7..1.4).contains(&factor), "{factor}: {out}");
    assert!(rows.iter().all(|row| row.shard.is_empty()));
    let again: BTreeSet<u64> = rows[all as usize..].iter().filter_map(|row| row.case_index).collect();
    assert!(places.iter().all(|part| !part.is_disjoint(&again)), "each part has a finalist: {again:?}");
}

#[test]
fn a_lost_worker_loses_no_row() {
    let dir = TempDir::new().unwrap();
    let words = ["sweep", "dot", "--variant", "1,2", "-n", "5000", "--wg", "32,64", "--max-runs", "4", "-o", "out.csv"];
    let words: Vec<&str> =
        words.into_iter().chain(["--workers", "2", "--tasks", "2", "--order", "sequential"]).collect();
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
    assert_eq!(after[0].time_utc, before[0].time_utc, "what was there is not measured again");
    let (_, err, code) = task(dir.path(), &words, "part", "2");
    assert!(code == 2 && err.contains("HQ_TASK_ID"), "{err}");
}

#[test]
#[ignore = "long"]
fn hyperqueue_runs_the_parts() {
    if !std::process::Command::new("python3")
        .args(["-c", "import hyperqueue"])
        .output()
        .is_ok_and(|o| o.status.success())
    {
        return println!("skipped: python3 has no hyperqueue: pip install hyperqueue");
    }
    let dir = TempDir::new().unwrap();
    let words = ["sweep", "dot", "--variant", "1,2", "-n", "5000", "--wg", "32,64", "--max-runs", "4", "-o", "out.csv"];
    let words: Vec<&str> = words.into_iter().chain(["--workers", "2", "--tasks", "3"]).collect();
    let sweep = || {
        let output = gpulab(&words).current_dir(dir.path()).output().unwrap();
        (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.code().unwrap())
    };
    // Where its rows belong is a folder.
    let blocked = dir.path().join("out.csv.tasks/1.csv");
    fs::create_dir_all(&blocked).unwrap();
    let (err, code) = sweep();
    assert!(code == 1 && err.contains("the same command goes on") && err.contains("task 2: "), "{err}");
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
    refused(&["--workers", "2", "--resume", "-o", "x.csv"], "cannot be used with");
    refused(&["--workers", "2", "--shard", "1/2", "-o", "x.csv"], "cannot be used with");
}

//! Recorded runs held against each other.

use crate::binary::{NOWHERE, gpulab};
use gpulab::compare::{ComparisonRow, SpeedVerdict};
use gpulab::record::Row;
use gpulab::store::{Recorded, recorded, write_rows};
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/results");

fn of(file: &str) -> String {
    format!("{RESULTS}/{file}")
}

/// Exit code, standard output and standard error of `gpulab compare`, on a machine without OpenCL.
fn compare(args: &[&str]) -> (i32, String, String) {
    let output = gpulab(&[&["compare"], args].concat())
        .env("GPULAB_OPENCL_LIB", NOWHERE)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(
        out.starts_with('{') || out.lines().all(|line| line.chars().count() <= 80),
        "{out}"
    );
    (output.status.code().unwrap(), out, err)
}

/// Six runs of each side in turn: the H200's rows of a large reduction, half a per cent apart from run to run, and the same
/// with those of one rung `factor` times as long.
fn planted(folder: &Path, factor: f64) -> [String; 2] {
    let text = std::fs::read(of("nvidia-h200/reduce.csv")).unwrap();
    let (Recorded::Rows(all), None) = recorded(&text, "reduce.csv").unwrap() else {
        panic!("no whole rows")
    };
    let once: Vec<Row> = all
        .into_iter()
        .filter(|row| row.n == 1 << 28 && row.rung.is_some())
        .collect();
    let write = |name: &str, second: u32, factor: f64| {
        let run = |k: u32| {
            let of_run = move |row: &Row| {
                let factor =
                    if row.rung == Some(3) { factor } else { 1.0 } * (1.0 + 0.001 * f64::from(k));
                let time_utc = format!("2026-01-02T03:{:02}:{second:02}Z", k);
                Row {
                    run_id: format!("{name}{k}"),
                    time_utc,
                    t_median_s: row.t_median_s.map(|t| factor * t),
                    ..row.clone()
                }
            };
            once.iter().map(of_run).collect::<Vec<Row>>()
        };
        let path = folder.join(name).to_str().unwrap().to_owned();
        write_rows(&path, &(0..6).flat_map(run).collect::<Vec<Row>>()).unwrap();
        path
    };
    [write("before.csv", 0, 1.0), write("after.csv", 30, factor)]
}

#[test]
fn a_rung_that_became_slower_is_found_and_can_fail_a_build() {
    let folder = TempDir::new().unwrap();
    let [before, after] = planted(folder.path(), 1.03);
    let (code, out, err) = compare(&[&before, &after]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let slower: Vec<&str> = out
        .lines()
        .filter(|line| line.contains(" SLOWER") && line.starts_with('v'))
        .collect();
    assert!(
        matches!(slower.as_slice(), [line] if line.starts_with("v3 sequential")),
        "{out}"
    );
    assert!(out.contains(" 1 SLOWER, 0 FASTER, "), "{out}");
    let code = |limit: &str| compare(&[&before, &after, "--fail-on", limit]).0;
    assert_eq!(
        (code("slower"), code("slower:2"), code("slower:5%")),
        (6, 6, 0)
    );
    let (code, out, _) = compare(&[&after, &before, "--fail-on", "slower"]);
    assert_eq!(code, 0);
    assert!(out.contains(" 0 SLOWER, 1 FASTER, "), "{out}");
}

#[test]
fn one_run_of_each_side_decides_nothing_and_says_what_would() {
    let (before, after) = (of("nvidia-h200/reduce.csv"), of("nvidia-h100/reduce.csv"));
    let (code, out, _) = compare(&[&before, &after, "--fail-on", "slower"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains(" 0 SLOWER, 0 FASTER, 0 SAME, "), "{out}");
    assert!(
        out.contains("would decide all UNDECIDED") && out.contains("--rounds 6"),
        "{out}"
    );
}

#[test]
fn compared_cases_go_to_files() {
    let folder = TempDir::new().unwrap();
    let [before, after] = planted(folder.path(), 1.03);
    let (code, out, err) = compare(&[&before, &after, "--json", "-", "--fail-on", "slower"]);
    assert_eq!(code, 6, "{err}");
    assert!(
        err.contains(" SLOWER\n"),
        "the table goes to standard error: {err}"
    );
    let verdict: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&verdict["verdict"], &verdict["exit_code"]),
        (&json!("SLOWER"), &json!(6))
    );
    assert!(verdict["ratio"]["low"].as_f64().unwrap() > 1.0, "{out}");
    let cases: Vec<ComparisonRow> = serde_json::from_value(verdict["cases"].clone()).unwrap();
    let slower: Vec<&ComparisonRow> = cases
        .iter()
        .filter(|case| case.verdict == SpeedVerdict::Slower)
        .collect();
    let [case] = slower[..] else { panic!("{out}") };
    assert_eq!(
        (case.rung, case.n, case.before_runs, case.after_runs),
        (Some(3), 1 << 28, 6, 6)
    );
    assert_eq!((&case.before, &case.after), (&before, &after));
    assert!(
        (case.ratio - 1.03).abs() < 1e-9 && (case.after_s / case.before_s - 1.03).abs() < 1e-9,
        "{case:?}"
    );
    let (low, high) = (case.ratio_low.unwrap(), case.ratio_high.unwrap());
    assert!(1.0 < low && low < 1.03 && high > 1.03, "{case:?}");
    let (code, _, err) = compare(&[&before, &after, "--json", &after]);
    assert!(code == 2 && err.contains("is the input"), "{err}");
}

#[test]
fn a_file_against_itself_differs_nowhere() {
    for file in [
        "nvidia-h200/reduce.csv",
        "nvidia-h200/reduce_sweep.csv",
        "pocl-epyc-2/dot.csv",
    ] {
        let path = of(file);
        let (code, out, _) = compare(&[&path, &path, "--fail-on", "slower"]);
        assert_eq!(code, 0, "{out}");
        assert!(out.contains(": 0 SLOWER, 0 FASTER, "), "{out}");
    }
}

#[test]
fn what_cannot_be_compared_is_said() {
    let dot = of("nvidia-h200/dot.csv");
    let [cut, counts, other] = [
        "nvidia-h200/overlap.csv",
        "nvidia-h200/ceilings.csv",
        "nvidia-h200/minplus.csv",
    ]
    .map(of);
    for (args, code, why) in [
        (vec![dot.as_str()], 2, "2 values"),
        (vec![&dot, "no-such.csv"], 1, "cannot read no-such.csv"),
        (vec![&dot, &cut], 2, "holds no rows"),
        (vec![&dot, &counts], 2, "holds no rows"),
        (vec![&dot, &other], 2, "share no case"),
        (vec![&dot, &dot, "--fail-on", "faster"], 2, "slower:5"),
        (vec![&dot, &dot, "--fail-on", "slower:-1"], 2, "slower:5"),
        (vec![&dot, &dot, "--same", "0"], 2, "above 0"),
    ] {
        let (got, out, err) = compare(&args);
        assert_eq!((got, out.as_str()), (code, ""), "{args:?}: {err}");
        assert!(err.contains(why), "{args:?}: {err}");
    }
}

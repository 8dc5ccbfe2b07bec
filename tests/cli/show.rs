//! Recorded results shown again, without a device; and the data dictionary.

use crate::binary::{NOWHERE, gpulab, run};
use gpulab::experiments::experiment;
use gpulab::record::Point;
use gpulab::store::read_points;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/results");

/// Every recorded CSV file.
fn recorded() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = gpulab::files::below(Path::new(RESULTS))
        .into_iter()
        .filter(|p| p.extension().is_some_and(|e| e == "csv"))
        .collect();
    files.sort();
    assert!(files.len() > 30, "{files:?}");
    files
}

/// What `gpulab show` prints, on a machine without OpenCL.
fn show(args: &[&str]) -> String {
    let mut command = gpulab(&[&["show"], args].concat());
    let output = command.env("GPULAB_OPENCL_LIB", NOWHERE).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

/// The words of a text, whatever its lines.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_recorded_file_is_shown_within_80_columns() {
    for path in recorded() {
        let text = show(&[path.to_str().unwrap()]);
        assert!(text.lines().count() > 4, "{path:?}: {text}");
        let long = text.lines().find(|line| line.chars().count() > 80);
        assert!(long.is_none(), "{path:?}: {long:?}");
        if std::fs::read_to_string(&path)
            .unwrap()
            .lines()
            .next()
            .unwrap()
            .contains(",experiment,")
        {
            findings_are_told(&read_points(&path).unwrap(), &text);
        }
    }
}

/// Each experiment's finding follows from its points, and is in the text.
fn findings_are_told(points: &[Point], text: &str) {
    let mut runs: Vec<(&str, &str)> = points
        .iter()
        .map(|p| (p.run_id.as_str(), p.experiment.as_str()))
        .collect();
    runs.dedup();
    for (run, name) in runs {
        let own: Vec<Point> = points
            .iter()
            .filter(|p| (p.run_id.as_str(), p.experiment.as_str()) == (run, name))
            .cloned()
            .collect();
        let Some(known) = experiment(name) else {
            continue;
        };
        let finding = known.finding(&own);
        assert!(
            words(text).contains(&words(&format!("finding: {finding}"))),
            "{name}: {finding}\n{text}"
        );
    }
}

#[test]
fn what_cannot_be_shown_is_refused_in_one_line() {
    let dir = TempDir::new().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let whole = std::fs::read_to_string(format!("{RESULTS}/nvidia-h200/pitch.csv")).unwrap();
    let header = whole.lines().next().unwrap();
    let folder = dir.path().to_str().unwrap().to_owned();
    for (path, code, word) in [
        (
            dir.path().join("no.csv").to_str().unwrap().to_owned(),
            1,
            "No such file",
        ),
        (folder, 1, "directory"),
        (file("empty.csv", ""), 2, "is empty"),
        (
            file("header.csv", &format!("{header}\n")),
            2,
            "no results below",
        ),
        (
            file("other.csv", "time,place\n1,2\n"),
            2,
            "no results of gpulab",
        ),
        (file("text.csv", "hello\n"), 2, "no results of gpulab"),
        (
            file("cells.csv", &whole.replacen(",ok,", ",ok", 1)),
            2,
            "cells instead of",
        ),
        (
            file("word.csv", &whole.replacen(",ok,", ",fine,", 1)),
            2,
            "line 2",
        ),
        (
            file("newer.csv", &whole.replacen("\n1,", "\n9,", 1)),
            2,
            "schema 9",
        ),
        (
            file(
                "samples.csv",
                "schema,run_id,family,rung,variant,dtype,n,m,wg,params,sample,event_s,wall_s\n\
                 1,r1,dot,1,naive,f32,8,1,64,,0,1e-6,2e-6\n",
            ),
            2,
            "single timed runs",
        ),
        (
            file("torn.json", "[\n{\"schema\":2,\n"),
            2,
            "ends too early",
        ),
        (
            file("object.json", "{\"a\":1}"),
            2,
            "is not JSON that gpulab wrote",
        ),
        (file("none.json", "[]"), 2, "no results"),
        (
            file("newer.json", "[{\"schema\":9,\"experiment\":\"pitch\"}]"),
            2,
            "schema 9",
        ),
        (
            file("part.json", "[{\"schema\":2,\"experiment\":\"pitch\"}]"),
            2,
            "element 1",
        ),
        ("mi300".to_owned(), 2, "nvidia-h200"),
        ("epyc".to_owned(), 2, "pocl-epyc-2"),
    ] {
        let (out, err, got) = run(&["show", &path]);
        assert_eq!(got, code, "{path}: {err}");
        assert!(
            out.is_empty() && err.contains(word) && err.trim_end().lines().count() == 1,
            "{path}: {out}{err}"
        );
    }
    let (_, err, code) = run(&["show", "h200", "nothing"]);
    assert!(code == 2 && err.contains("reduce_sweep"), "{err}");
}

#[test]
fn a_pipe_that_never_ends_is_refused() {
    let dir = TempDir::new().unwrap();
    let pipe = dir.path().join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let (_, err, code) = run(&["show", pipe.to_str().unwrap()]);
    assert!(code == 1 && err.contains("not a regular file"), "{err}");
}

#[test]
fn a_torn_line_is_left_out_and_told() {
    let dir = TempDir::new().unwrap();
    let whole = std::fs::read_to_string(format!("{RESULTS}/nvidia-h200/pitch.csv")).unwrap();
    let path = dir.path().join("torn.csv");
    std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    let (out, err, code) = run(&["show", path.to_str().unwrap()]);
    assert!(
        code == 0 && err.contains("ended in the middle of line") && out.contains("finding: "),
        "{out}{err}"
    );
}

#[test]
fn a_run_and_its_files_say_the_same() {
    let dir = TempDir::new().unwrap();
    let [csv, json] =
        ["a.csv", "a.json"].map(|name| dir.path().join(name).to_str().unwrap().to_owned());
    let args = [
        "lab",
        "presum",
        "--quick",
        "--max-runs",
        "3",
        "-q",
        "--csv",
        &csv,
        "--json",
        &json,
    ];
    let (live, err, code) = run(&args);
    assert_eq!(code, 0, "{err}");
    assert_eq!(show(&[&csv]), live);
    // JSON's numbers are read back exactly, too.
    assert_eq!(show(&[&json]), live);
    let elements: Vec<serde_json::Value> =
        serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    let last = elements.last().unwrap();
    assert_eq!(last["experiment"], "presum");
    assert!(
        words(&live).contains(&words(last["finding"].as_str().unwrap())),
        "{last}"
    );
    let point = &read_points(Path::new(&csv)).unwrap()[0];
    assert!(
        point.command.starts_with("gpulab lab presum --quick"),
        "{}",
        point.command
    );
    assert_eq!(
        (point.quick, point.seed, point.unit_si.as_str()),
        (Some(true), Some(1), "s")
    );
    assert!((point.value_si.unwrap() - 1e-6 * point.value.unwrap()).abs() < 1e-15);
    assert!(!point.os.is_empty() && !point.x_label.is_empty() && point.host_threads > Some(0));
}
/// What `gpulab show` ends with where it cannot do what it is asked for: its exit code and its error.
fn refused(args: &[&str]) -> (Option<i32>, String) {
    let output = gpulab(&[&["show"], args].concat())
        .env("GPULAB_OPENCL_LIB", NOWHERE)
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"", "{args:?}");
    (
        output.status.code(),
        words(&String::from_utf8(output.stderr).unwrap()),
    )
}

#[test]
fn a_size_chooses_from_what_was_recorded() {
    let large = show(&["h200", "dot", "-n", "2^28"]);
    assert!(
        large.contains("268_435_456, f32") && !large.contains("134_217_728"),
        "{large}"
    );
}

#[test]
fn what_is_not_there_is_told_with_what_is() {
    let says = |args: &[&str], what: &str| {
        let (code, said) = refused(args);
        assert!(code == Some(2) && said.contains(what), "{args:?}: {said}");
    };
    says(
        &["h200", "dot", "-n", "5"],
        "-n 5: no ladder and no sweep of this size",
    );
    says(
        &["h200", "ceilings", "pocl", "ceilings"],
        "\"pocl\" matches several devices",
    );
    says(
        &["h200", "pitch", "nothing"],
        "no record of nothing among those of nvidia-h200",
    );
    says(&["--why"], "show what?");
}

//! The experiments through the binary.

use crate::binary::NOWHERE;
use crate::sources::edited_kernels;
use assert_cmd::Command;
use gpulab::experiments::{EXPERIMENTS, Experiment, experiment};
use gpulab::outcome::Status;
use gpulab::record::{CsvRecord, Point};
use gpulab::store::read_points;
use tempfile::TempDir;

fn gpulab(args: &[&str]) -> Command {
    crate::binary::gpulab(&[&["lab"], args].concat())
}

/// Standard output, standard error and exit code.
fn run(args: &[&str]) -> (String, String, i32) {
    crate::binary::run(&[&["lab"], args].concat())
}

/// A run of the transposition's study that is over as soon as it can be.
fn quick(args: &[&str]) -> (String, String, i32) {
    run(&[&["pitch"], &SOON[..], args].concat())
}

/// Measure as little as can be.
const SOON: [&str; 5] = ["--quick", "--max-runs", "1", "--warmup", "0"];

#[test]
fn the_list_has_every_experiment_and_needs_no_driver() {
    let mut command = gpulab(&[]);
    let output = command.env("GPULAB_OPENCL_LIB", NOWHERE).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        (output.status.code(), text.lines().count()),
        (Some(0), EXPERIMENTS.len())
    );
    for (line, experiment) in text.lines().zip(EXPERIMENTS) {
        assert!(
            line.starts_with(experiment.name) && line.ends_with(experiment.question),
            "{line}"
        );
    }
}

#[test]
fn bad_input_is_found_before_anything_runs() {
    for (args, code, word) in [
        (vec!["nothing"], 2, ", pitch, "),
        (vec!["pitch", "all"], 2, "all"),
        (vec!["--csv", "points.csv"], 2, "NAME"),
        (vec!["pitch", "--csv", "-", "--json", "-"], 2, "only one"),
        (vec!["pitch", "--max-noise", "0"], 2, "0.05"),
        (vec!["pitch", "--seed", "x"], 2, "--seed"),
        (vec!["pitch", "--n", "7"], 2, "--n"),
        (vec!["pitch", "--cl-dir", NOWHERE], 2, "nowhere"),
        (vec!["pitch", "--csv", NOWHERE], 74, "nowhere"),
        (vec!["pitch", "--json", NOWHERE], 74, "nowhere"),
        (vec!["pitch", "-d", "no such device"], 3, "no such device"),
    ] {
        let (out, err, got) = run(&args);
        assert_eq!(got, code, "{args:?}: {err}");
        assert!(
            err.contains(word) && out.is_empty(),
            "{args:?}: {word:?} is missing in {out}{err}"
        );
    }
}

/// The words of a text, whatever its lines.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The points of a JSON array, without the findings among them.
fn points(json: &str) -> Vec<Point> {
    let elements: Vec<serde_json::Value> = serde_json::from_str(json).unwrap();
    let points = elements
        .into_iter()
        .filter(|element| element.get("finding").is_none());
    points
        .map(|element| serde_json::from_value(element).unwrap())
        .collect()
}

/// What each of these tells is kept.
#[test]
fn experiments_answer_on_the_default_device() {
    for name in ["pitch", "launch", "divergence"] {
        answer(experiment(name).unwrap());
    }
}

fn answer(experiment: &Experiment) {
    let dir = TempDir::new().unwrap();
    let csv = dir.path().join("points.csv");
    let (out, err, code) = run(&[
        &[
            experiment.name,
            "--json",
            "-",
            "--csv",
            csv.to_str().unwrap(),
        ],
        &SOON[..],
    ]
    .concat());
    assert_eq!(code, 0, "{err}");
    let points = points(&out);
    assert!(
        points.iter().any(|p| p.measured().is_some()),
        "{}",
        experiment.name
    );
    let is_told = |p: &Point| p.status == Status::Skipped && !p.reason.is_empty();
    assert!(
        points.iter().all(|p| p.measured().is_some() || is_told(p)),
        "{points:?}"
    );
    let mut placed = points.clone();
    placed.sort_by_key(|point| point.place);
    assert!(
        words(&err).contains(&words(&format!("finding: {}", experiment.finding(&placed)))),
        "{err}"
    );
    // Text of numbers is read back to within a rounding only.
    let place = |p: &Point| {
        (
            p.experiment.clone(),
            p.series.clone(),
            p.x,
            p.status,
            p.t_median_s.is_some(),
        )
    };
    let recorded = read_points(&csv).unwrap();
    assert!(
        recorded.iter().map(place).eq(points.iter().map(place)),
        "{recorded:?}"
    );
}

#[test]
fn a_report_ends_with_its_finding_and_quiet_says_nothing_else() {
    let (out, err, code) = quick(&["-q"]);
    assert!(code == 0 && err.is_empty(), "{code}: {err}");
    assert!(
        out.starts_with("pitch on ") && words(&out).contains(experiment("pitch").unwrap().question),
        "{out}"
    );
    let (_, finding) = out.rsplit_once("\nfinding: ").unwrap();
    assert!(
        finding.starts_with("Compared with rows ") && !finding.trim_end().contains("\n\n"),
        "{out}"
    );
    let (out, err, code) = quick(&["-q", "--csv", "-"]);
    assert!(code == 0 && err.is_empty(), "{code}: {err}");
    assert_eq!(
        csv::Reader::from_reader(out.as_bytes())
            .headers()
            .unwrap()
            .iter()
            .collect::<Vec<_>>(),
        Point::COLUMNS
    );
}

#[test]
fn a_wrong_or_broken_kernel_costs_its_points_and_no_others() {
    let store = "out[x * out_pitch + y + j] =";
    for (to, code, status) in [
        ("out[x * out_pitch + y + (j & 7)] =", 4, Status::WrongResult),
        ("nowhere[x] =", 5, Status::BuildFailed),
    ] {
        let kernels = edited_kernels("transpose/naive.cl", store, to);
        let (out, err, got) = quick(&["--json", "-", "--cl-dir", kernels.path().to_str().unwrap()]);
        assert_eq!(got, code, "{err}");
        for point in points(&out) {
            let wanted = if point.series.starts_with("naive") {
                status
            } else {
                Status::Ok
            };
            assert_eq!(
                (point.status, point.value.is_some()),
                (wanted, wanted == Status::Ok),
                "{point:?}"
            );
        }
        assert!(err.contains("finding: Compared with rows"), "{err}");
    }
}

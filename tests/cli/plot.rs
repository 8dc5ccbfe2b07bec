//! `gpulab plot`, as a user runs it, on a machine without OpenCL: pictures of the records that come with the program.

use crate::binary::{NOWHERE, gpulab};
use std::fs;

/// Standard output, standard error and exit code.
fn plot(args: &[&str]) -> (String, String, i32) {
    let mut command = gpulab(&[&["plot"], args].concat());
    let output = command.env("GPULAB_OPENCL_LIB", NOWHERE).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (
        text(&output.stdout),
        text(&output.stderr),
        output.status.code().unwrap(),
    )
}

#[test]
fn a_picture_goes_where_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let svg = at("x.svg");
    let silent = (String::new(), String::new(), 0);
    assert_eq!(
        plot(&["-q", "h200", "reduce", "--what", "ladder", "-o", &svg]),
        silent
    );
    let drawn = fs::read_to_string(&svg).unwrap();
    assert!(
        drawn.starts_with("<svg ") && drawn.contains("role=\"img\"") && drawn.contains("limit: "),
        "{drawn}"
    );
}

#[test]
fn one_of_several_is_chosen() {
    assert!(
        plot(&["h200", "dot", "--what", "ladder", "-n", "1M", "-o", "-"])
            .0
            .contains("n = 1_000_000")
    );
    let (_, said, code) = plot(&["h200", "lab_chip", "--what", "experiment", "-o", "-"]);
    assert!(code == 2 && said.contains("--name one of"), "{said}");
    let (drawn, said, _) = plot(&[
        "h200",
        "lab_chip",
        "--what",
        "experiment",
        "--name",
        "banks",
        "-o",
        "-",
    ]);
    assert!(drawn.contains("stride"), "{said}");
}

#[test]
fn what_cannot_be_drawn_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let says = |args: &[&str], code: i32, what: &str| {
        let (_, said, ended) = plot(args);
        assert!(
            ended == code && said.contains(what),
            "{args:?}: {ended}, {said}"
        );
    };
    says(
        &["h200", "reduce", "--what", "ladder", "-o", &at("x.pdf")],
        2,
        "a picture is FILE.svg",
    );
    says(
        &["h200", "reduce", "--what", "sweep", "-n", "7", "-o", "-"],
        2,
        "what gpulab sweep -o writes",
    );
    says(
        &["h200", "transpose", "--what", "roofline", "-o", "-"],
        2,
        "ladders that compute",
    );
    says(
        &[
            "h200",
            "stride",
            "--what",
            "experiment",
            "--name",
            "banks",
            "-o",
            "-",
        ],
        2,
        "no such experiment, but stride",
    );
    says(
        &[&at("none.csv"), "--what", "ladder", "-o", "-"],
        1,
        "cannot read",
    );
    let rows = at("rows.svg");
    fs::copy(
        concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/data/results/nvidia-h200/reduce.csv"
        ),
        &rows,
    )
    .unwrap();
    let before = fs::read(&rows).unwrap();
    says(&[&rows, "--what", "ladder", "-o", &rows], 2, "is the input");
    assert_eq!(fs::read(&rows).unwrap(), before, "the input stays");
}

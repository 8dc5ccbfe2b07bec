//! What teaches without a measurement: `explain` and `source`, also by its other name `diff`.

use crate::binary::{gpulab, run};
use crate::sources::edited_kernels;
use std::fs;
use std::path::Path;

fn kernel(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("cl").join(path)).unwrap()
}

#[test]
fn explanations_are_those_of_the_kernels_and_experiments() {
    let (out, err, code) = run(&["explain", "reduce:3"]);
    assert_eq!((err.as_str(), code), ("", 0));
    for label in ["Idea", "Removes", "Remains", "Expect", "But", "CUDA"] {
        let said = gpulab::kernels::labelled(&kernel("reduce/sequential.cl"), label).unwrap();
        assert!(out.contains(&said), "{label}: {out}");
    }
    let (out, _, code) = run(&["explain", "STRIDE"]);
    let about = &gpulab::experiments::experiment("stride").unwrap();
    assert!(
        code == 0
            && [about.idea, about.expect, about.but, about.cuda]
                .iter()
                .all(|said| out.contains(said)),
        "{out}"
    );
    let (out, _, code) = run(&["explain", "dot"]);
    let rungs = gpulab::kernels::dot::FAMILY.kernels();
    assert!(
        code == 0
            && rungs
                .into_iter()
                .all(|rung| out.contains(&format!("\n{}: ", rung.label()))),
        "{out}"
    );
}

#[test]
fn a_rungs_source_is_its_file() {
    for name in ["reduce:3", "reduce:sequential", "REDUCE:v3"] {
        assert_eq!(
            run(&["source", name]),
            (kernel("reduce/sequential.cl"), String::new(), 0)
        );
    }
    let (out, _, code) = run(&["source", "stride"]);
    let [read, write] =
        ["lab/gather/walk.cl", "lab/scatter/walk.cl"].map(|path| (path, kernel(path)));
    assert_eq!(
        (out, code),
        (
            format!(
                "// cl/{}\n{}\n// cl/{}\n{}\n",
                read.0, read.1, write.0, write.1
            ),
            0
        )
    );
}

#[test]
fn an_expanded_source_has_its_fragments() {
    for name in [
        "reduce:3",
        "transpose:6",
        "minplus:4",
        "dot:7",
        "launch",
        "image",
        "pitch",
    ] {
        let mut command = gpulab(&["source", name, "--expanded"]);
        let output = command
            .env("GPULAB_OPENCL_LIB", "/nonexistent/libOpenCL.so")
            .output()
            .unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success() && out.contains("__kernel") && !out.contains("#include"),
            "{name}: {out}"
        );
    }
}

#[test]
fn a_difference_is_that_of_the_files() {
    let (out, err, code) = run(&["source", "reduce:2", "reduce:sequential"]);
    assert_eq!((err.as_str(), code), ("", 0));
    let number = kernel("reduce/strided.cl")
        .lines()
        .position(|line| line.contains("offset *= 2"))
        .unwrap()
        + 1;
    assert!(
        out.contains("\n-    for (uint offset = 1; offset < size; offset *= 2) {\n"),
        "{out}"
    );
    assert!(
        out.contains("\n+    for (uint offset = size / 2; offset > 0; offset /= 2) {\n"),
        "{out}"
    );
    assert!(!out.contains("// Idea"), "the headers stand apart: {out}");
    let hunk = out
        .lines()
        .position(|line| line.starts_with("@@ -"))
        .unwrap();
    let first: usize = out.lines().nth(hunk).unwrap()[4..]
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let above = out
        .lines()
        .skip(hunk + 1)
        .take_while(|line| !line.contains("offset *= 2"));
    assert_eq!(
        first + above.filter(|line| !line.starts_with('+')).count(),
        number,
        "{out}"
    );
}

#[test]
fn edited_kernels_are_shown_in_place_of_the_built_in_ones() {
    let kernels = edited_kernels("reduce/sequential.cl", "size / 2", "size / 4");
    let dir = kernels.path().to_str().unwrap();
    for args in [
        &["source", "reduce:3"][..],
        &["source", "reduce:3", "--expanded"],
        &["diff", "reduce:2", "reduce:3"],
    ] {
        let (out, err, code) = run(&[args, &["--cl-dir", dir]].concat());
        assert!(
            code == 0 && out.contains("uint offset = size / 4;"),
            "{args:?}: {out}{err}"
        );
    }
}

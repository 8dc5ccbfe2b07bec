//! What teaches without a measurement: `explain`, `source` and `diff`.

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
    let about = &gpulab::experiments::experiment("stride").unwrap().about;
    assert!(
        code == 0 && [about.idea, about.expect, about.but, about.cuda].iter().all(|said| out.contains(said)),
        "{out}"
    );
    let (out, _, code) = run(&["explain", "dot"]);
    let rungs = gpulab::kernels::dot::FAMILY.kernels();
    assert!(code == 0 && rungs.into_iter().all(|rung| out.contains(&format!("\n{}: ", rung.label()))), "{out}");
}

#[test]
fn a_rungs_source_is_its_file() {
    for name in ["reduce:3", "reduce:sequential", "REDUCE:v3"] {
        assert_eq!(run(&["source", name]), (kernel("reduce/sequential.cl"), String::new(), 0));
    }
    let (out, _, code) = run(&["source", "stride"]);
    let [read, write] = ["lab/gather/walk.cl", "lab/scatter/walk.cl"].map(|path| (path, kernel(path)));
    assert_eq!((out, code), (format!("// cl/{}\n{}\n// cl/{}\n{}\n", read.0, read.1, write.0, write.1), 0));
}

#[test]
fn an_expanded_source_has_its_fragments_and_the_builds_options() {
    let (out, err, code) = run(&["source", "reduce:3", "--expanded"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("// cl/reduce/sequential.cl, for n = 16777216 of i32 on "), "{out}");
    assert!(out.contains("//   -cl-std=CL1.2 -cl-kernel-arg-info\n") && out.contains("//   -D T=uint\n"), "{out}");
    assert!(out.contains("reduce_finish(") && !out.contains("#include"), "{out}");
    for name in ["transpose:6", "minplus:4", "dot:7", "launch", "image", "pitch"] {
        let (out, err, code) = run(&["source", name, "--expanded"]);
        assert!(code == 0 && !out.contains("#include"), "{name}: {err}");
    }
}

#[test]
fn without_a_device_the_macros_have_their_defaults() {
    let mut command = gpulab(&["source", "reduce:3", "--expanded"]);
    let output = command.env("GPULAB_OPENCL_LIB", "/nonexistent/libOpenCL.so").output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(
        out.starts_with("// cl/reduce/sequential.cl, without an OpenCL device: the macros have the defaults"),
        "{out}"
    );
}

#[test]
fn a_difference_is_that_of_the_files() {
    let (out, err, code) = run(&["diff", "reduce:2", "reduce:sequential"]);
    assert_eq!((err.as_str(), code), ("", 0));
    let number = kernel("reduce/strided.cl").lines().position(|line| line.contains("offset *= 2")).unwrap() + 1;
    assert!(out.contains("\n-    for (uint offset = 1; offset < size; offset *= 2) {\n"), "{out}");
    assert!(out.contains("\n+    for (uint offset = size / 2; offset > 0; offset /= 2) {\n"), "{out}");
    assert!(!out.contains("// Idea"), "the headers stand apart: {out}");
    let hunk = out.lines().position(|line| line.starts_with("@@ -")).unwrap();
    let first: usize = out.lines().nth(hunk).unwrap()[4..].split(',').next().unwrap().parse().unwrap();
    let above = out.lines().skip(hunk + 1).take_while(|line| !line.contains("offset *= 2"));
    assert_eq!(first + above.filter(|line| !line.starts_with('+')).count(), number, "{out}");
}

#[test]
fn every_ladders_neighbours_differ_in_code() {
    for family in gpulab::kernels::FAMILIES {
        for pair in family.ladder.windows(2) {
            let (out, err, code) = run(&[
                "diff",
                &format!("{}:{}", family.name, pair[0].variant()),
                &format!("{}:{}", family.name, pair[1].variant()),
            ]);
            assert!(code == 0 && out.contains("\n@@ -"), "{}: {out}{err}", pair[1].path);
        }
    }
}

#[test]
fn edited_kernels_are_shown_in_place_of_the_built_in_ones() {
    let kernels = edited_kernels("reduce/sequential.cl", "size / 2", "size / 4");
    let dir = kernels.path().to_str().unwrap();
    for args in [&["source", "reduce:3"][..], &["source", "reduce:3", "--expanded"], &["diff", "reduce:2", "reduce:3"]]
    {
        let (out, err, code) = run(&[args, &["--cl-dir", dir]].concat());
        assert!(code == 0 && out.contains("uint offset = size / 4;"), "{args:?}: {out}{err}");
    }
}

#[test]
fn lists_are_tables_of_markdown_too() {
    let (all, _, code) = run(&["list", "--md"]);
    assert_eq!(code, 0);
    for family in gpulab::kernels::FAMILIES {
        let rungs = family.kernels().filter(|rung| all.contains(&format!("{} | ", rung.variant())));
        assert_eq!(rungs.count(), family.kernels().count(), "{}: {all}", family.name);
    }
    let (experiments, ..) = run(&["list", "experiments", "--md"]);
    assert!(all.ends_with(&experiments) && !experiments.contains("v1"), "{experiments}");
    for experiment in gpulab::experiments::EXPERIMENTS {
        assert!(experiments.contains(&format!("\n| {} | ", experiment.name)), "{experiments}");
    }
    assert_eq!(run(&["list", "banks", "--md"]).0.lines().count(), 3);
    let (reduce, ..) = run(&["list", "REDUCE", "--md"]);
    assert!(reduce.contains("| rung | idea | removes | remains |") && !reduce.contains("experiment"), "{reduce}");
    let (_, said, code) = run(&["list", "experimens", "--md"]);
    assert!(code == 2 && said.contains("`experiments`"), "{said}");
}

//! Data that stay on the host and go through the device in chunks.

use crate::binary::{gpulab, run};
use std::collections::BTreeMap;
use tempfile::TempDir;

const QUICK: [&str; 7] = ["reduce", "-q", "--quick", "-n", "300_007", "--variant", "single_pass"];

fn row(args: &[&str]) -> BTreeMap<String, String> {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("rows.csv");
    let output = gpulab(&[&QUICK[..], args, &["--csv"]].concat()).arg(&file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut rows = csv::Reader::from_path(&file).unwrap();
    let mut rows = rows.deserialize().map(Result::<BTreeMap<String, String>, _>::unwrap);
    rows.find(|row| row["variant"] == "single_pass").unwrap()
}

#[test]
fn a_streamed_row_has_the_same_result_and_its_parts() {
    let (streamed, whole) = (row(&["--memory", "1536KiB"]), row(&[]));
    assert_eq!(streamed["result"], whole["result"]);
    assert_eq!(streamed["clock"], "wall");
    assert!(streamed["params"].contains("chunk=") && !whole["params"].contains("chunk="), "{streamed:?}");
    for part in ["t_copies_s", "t_kernels_s", "t_median_s"] {
        assert!(streamed[part].parse::<f64>().unwrap() > 0.0, "{part}: {streamed:?}");
    }
    assert!(whole["t_copies_s"].is_empty() && whole["t_kernels_s"].is_empty());
    assert!(!streamed["flags"].contains("fits_cache") && !streamed["flags"].contains("launch_bound"), "{streamed:?}");
}

#[test]
fn matrices_are_transposed_in_tiles() {
    let args =
        ["transpose", "-q", "--quick", "--width", "500", "--height", "300", "--variant", "wide", "--memory", "400KiB"];
    let (out, err, code) = run(&args);
    assert!(code == 0 && out.contains("500 x 300") && out.contains("from the host in 16 chunks"), "{out}{err}");
    let (out, err, code) = run(&[&args[..], &["--loop", "inside"]].concat());
    assert!(code == 2 && out.is_empty() && err.contains("leave --loop out"), "{out}{err}");
}

#[test]
fn the_table_says_what_a_stream_of_one_chunk_is() {
    let (out, err, code) = run(&[&QUICK[..], &["--stream"]].concat());
    assert!(code == 0 && out.contains("in 1 chunk\n") && out.contains("less --memory makes several"), "{out}{err}");
    let (out, err, _) = run(&[&QUICK[..], &["--memory", "1B"]].concat());
    assert!(out.contains("from the host\n") && !out.contains("cache"), "{out}{err}");
}

#[test]
fn what_does_not_go_with_a_stream_is_refused() {
    for (args, word) in [
        (&["--memory", "1GiB", "--why"][..], "--why"),
        (&["--stream", "--why"], "--why"),
        (&["--stream", "--cache", "cold"], "--cache"),
        (&["--stream", "--clock", "batch"], "--clock"),
        (&["--stream", "--memory", "lots"], "2GiB"),
        (&["--memory", "0"], "not a size of memory"),
        (&["--stream", "-d", "all"], "--stream is for one device"),
    ] {
        let (out, err, code) = run(&[&QUICK[..], args].concat());
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.contains(word), "{args:?}: {err}");
    }
    let (out, err, _) = run(&[&QUICK[..], &["--stream", "--memory", "1B"]].concat());
    assert!(out.contains("give more with --memory"), "{out}{err}");
}

#[test]
fn what_no_device_holds_names_the_way_out() {
    // Of a device that says it has 1 GiB.
    let mut command = gpulab(&["reduce", "-q", "--quick", "-n", "2^28", "--variant", "single_pass", "-d", "pocl"]);
    let output = command.env("POCL_MEMORY_LIMIT", "1").output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("on the device") && err.contains("or --stream"), "{err}");
    let output = gpulab(&["transpose", "-q", "-n", "20000"]).env("POCL_MEMORY_LIMIT", "1").output().unwrap();
    assert!(String::from_utf8(output.stderr).unwrap().contains("choose a smaller size, or --memory"));
}

//! Kernels that are wrong, do not compile, never end, crash or print: each costs its own row, and its exit code says so.

use crate::binary::{data, quick, run};
use crate::sources::edited_kernels;
use std::fs;
use tempfile::TempDir;

#[test]
fn a_wrong_kernel_is_exit_code_4_and_never_shown_with_a_time() {
    let kernels = edited_kernels("dot/local.cl", "i < end;", "i + 1 < end;");
    let (out, err, code) = quick(&["--cl-dir", kernels.path().to_str().unwrap(), "--csv", "-"]);
    assert_eq!(code, 4, "{err}");
    let row = out.lines().find(|l| l.contains(",local,")).unwrap();
    assert!(row.contains("wrong_result"), "{row}");
    let mut reader = csv::Reader::from_reader(out.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let median = headers.iter().position(|h| h == "t_median_s").unwrap();
    let variant = headers.iter().position(|h| h == "variant").unwrap();
    for record in reader
        .records()
        .map(Result::unwrap)
        .filter(|r| &r[variant] == "local")
    {
        assert_eq!(&record[median], "");
    }
}

#[test]
fn a_kernel_that_does_not_compile_is_exit_code_5_with_its_log() {
    let kernels = edited_kernels("dot/local.cl", "T sum = 0;", "T sum = zero;");
    let (out, _, code) = quick(&["--cl-dir", kernels.path().to_str().unwrap()]);
    assert_eq!(code, 5);
    assert!(out.contains("local.cl") && out.contains("zero"), "{out}");
}

#[test]
fn a_kernel_that_never_ends_costs_its_row_and_no_more() {
    let kernels = edited_kernels(
        "dot/local.cl",
        "i += get_global_size(0))",
        "i += n_zero(i))",
    );
    let path = kernels.path().join("dot/local.cl");
    let text = fs::read_to_string(&path).unwrap();
    let helper = "INDEX n_zero(const INDEX i) { return i > 1u << 30 ? 1 : 0; }\n__kernel";
    fs::write(&path, text.replacen("__kernel", helper, 1)).unwrap();
    let dir = kernels.path().to_str().unwrap();
    let args = [
        "dot",
        "--quick",
        "--n",
        "50000",
        "--variant",
        "3-4",
        "--deadline",
        "15",
        "--cl-dir",
        dir,
    ];
    let (out, err, code) = run(&args);
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("timeout"), "{out}");
    let next = out.lines().find(|l| l.contains("v4 vectorised")).unwrap();
    assert!(next.contains("ok"), "{next}");
}

#[test]
fn a_kernel_that_crashes_costs_its_row_and_no_more() {
    let kernels = edited_kernels(
        "dot/local.cl",
        "partial[get_group_id(0)] += scratch[0];",
        "partial[1 << 29] += scratch[0];",
    );
    let dir = kernels.path().to_str().unwrap();
    let (out, err, code) = run(&[
        "dot",
        "--quick",
        "--n",
        "50000",
        "--variant",
        "3-4",
        "--cl-dir",
        dir,
    ]);
    assert!(code == 1 || code == 4, "{code}: {err}");
    let next = out.lines().find(|l| l.contains("v4 vectorised")).unwrap();
    assert!(next.contains("ok"), "{next}");
}

#[test]
fn a_reader_who_goes_away_hides_no_wrong_result() {
    let kernels = edited_kernels("dot/local.cl", "i < end;", "i + 1 < end;");
    let dir = kernels.path().to_str().unwrap();
    let ladder = [
        "dot",
        "--quick",
        "--n",
        "50000",
        "--variant",
        "3,7",
        "--cl-dir",
        dir,
    ];
    let sweep = [
        "sweep",
        "--kernel",
        "dot",
        "--quick",
        "--n",
        "50000",
        "--variant",
        "3",
        "--wg",
        "64",
        "--cl-dir",
        dir,
    ];
    for args in [
        &ladder[..],
        &[&ladder[..], &["--csv", "-"]].concat(),
        &[&ladder[..], &["--json", "-"]].concat(),
        &sweep,
    ] {
        let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("gpulab"))
            .args(args)
            .env("GPULAB_DATA", data())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(4), "{args:?}");
    }
}

/// Kernel sources of which rung 3 of the reduction prints what looks like a reply, and much else.
fn printing_kernels(lines: usize) -> TempDir {
    let prints = format!(
        "if (get_global_id(0) == 0) for (int i = 0; i < {lines}; ++i) printf(\"{{\\\"number\\\":%d,\\\"what\\\":\
         {{\\\"Done\\\":{{}}}}}}\\n\\033[2J%d\\n\", i, i);\n    if (id == 0)\n        partial["
    );
    edited_kernels(
        "reduce/sequential.cl",
        "if (id == 0)\n        partial[",
        &prints,
    )
}

#[test]
fn what_a_kernel_prints_is_told_on_standard_error_and_forges_nothing() {
    let dir = printing_kernels(2000);
    let args = [
        "reduce",
        "-q",
        "--n",
        "5000",
        "--variant",
        "sequential,wide",
        "--json",
        "-",
    ];
    let few = [
        "--warmup",
        "0",
        "--min-runs",
        "3",
        "--max-runs",
        "3",
        "--cl-dir",
        dir.path().to_str().unwrap(),
    ];
    for how in [&[][..], &["--in-process"]] {
        let (out, err, code) = run(&[&args[..], &few, how].concat());
        assert_eq!(code, 0, "{how:?}: {err}");
        let rows: serde_json::Value =
            serde_json::from_str(&out).unwrap_or_else(|e| panic!("{how:?}: {e}: {out}"));
        let rows = rows.as_array().unwrap();
        assert_eq!(rows.len(), 5, "{how:?}: {out}");
        assert!(
            rows.iter()
                .all(|row| row["status"] == "ok" && row["result"] == rows[0]["result"]),
            "{how:?}: {out}"
        );
        assert!(err.contains("\"Done\""), "{how:?}: {err}");
        if how.is_empty() {
            assert!(
                err.contains("reduce v3 sequential printed: {\"number\":0"),
                "{err}"
            );
            assert!(
                err.contains(" more lines\n") && err.lines().count() < 30,
                "{err}"
            );
            assert!(
                !err.contains('\x1b') && !err.contains("v11 wide printed"),
                "{err}"
            );
        }
    }
}

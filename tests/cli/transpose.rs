//! `gpulab transpose` through the binary: both timings side by side, bad input, wrong kernels.

use crate::sources::edited_kernels;

/// Standard output, standard error and exit code of a quick run.
fn run(args: &[&str]) -> (String, String, i32) {
    crate::binary::run(&[&["transpose"], args, &["--quick"]].concat())
}

fn rows(json: &str) -> Vec<serde_json::Value> {
    serde_json::from_str(json).unwrap()
}

#[test]
fn every_kernel_is_timed_over_launches_and_inside() {
    let (json, log, code) = run(&["--width", "67", "--height", "130", "--json", "-"]);
    assert_eq!(code, 0, "{log}");
    let rows = rows(&json);
    assert!(
        rows.iter()
            .all(|r| r["status"] == "ok" && r["n"] == 67 && r["m"] == 130),
        "{json}"
    );
    let repeats = |r: &serde_json::Value| r["params"].as_str().unwrap().contains("nreps=10");
    assert_eq!(
        rows.iter().filter(|r| repeats(r)).count(),
        9,
        "two references and seven rungs"
    );
    assert_eq!(rows.len(), 2 * 9 + 2, "and two baselines");
    for row in rows.iter().filter(|r| r["platform"] != "host") {
        let once = 2 * 67 * 130 * 4;
        assert_eq!(row["bytes"], if repeats(row) { 10 * once } else { once });
        assert!(row["copy_pct"].as_f64().unwrap() > 0.0);
        assert!(
            !repeats(row) || row["ceiling_pct"].is_null(),
            "memory's ceiling says nothing of what is in cache"
        );
    }
    let title = log.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        title.contains("inside: 10 times in one launch") && title.contains("67 x 130"),
        "{log}"
    );
}

#[test]
fn a_loop_inside_that_writes_elsewhere_is_wrong() {
    let dir = edited_kernels(
        "transpose/repeat.cl",
        "in += skip, out += skip",
        "in += 1 + skip, out += skip",
    );
    let (out, log, code) = run(&[
        "--n",
        "64",
        "--variant",
        "2",
        "--cl-dir",
        dir.path().to_str().unwrap(),
    ]);
    assert_eq!(code, 4, "{out}{log}");
    assert!(
        out.contains("inside WRONG")
            && log.contains("transpose/coalesced (inside) gave a wrong result"),
        "{out}{log}"
    );
}

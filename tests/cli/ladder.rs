//! What a ladder's command answers: every rung with its result, over every kind of data, with what is told and kept beside it.

use crate::binary::{quick, run, write};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

#[test]
fn the_ladder_prints_every_rung_and_the_cpu() {
    let (out, err, code) = run(&["dot", "--n", "10000", "--wg", "64", "--quick"]);
    assert_eq!(code, 0);
    assert!(
        !out.contains(['\x1b', '\r']) && !err.contains(['\x1b', '\r']),
        "rows in place are for terminals: {err}"
    );
    let names = [
        "naive",
        "coalesced",
        "local",
        "vectorised",
        "accumulators",
        "single_pass",
        "wide",
    ];
    for name in names
        .iter()
        .chain(&["cpu_exact", "cpu_sequential", "cpu_rayon", "dot = "])
    {
        assert!(out.contains(name), "{name} is missing in:\n{out}");
    }
}

#[test]
fn quiet_says_nothing() {
    assert_eq!(quick(&["-q"]).1, "");
}

/// The kernels as printed: their tables beside this device's, and no failure for a result that is to be wrong.
#[test]
fn a_source_s_kernels_run_as_printed() {
    let short = [
        "--quick",
        "--warmup",
        "0",
        "--min-runs",
        "1",
        "--max-runs",
        "1",
        "--color",
        "never",
    ];
    for (source, n, variants, words) in [
        ("bornhofen", "4096", "6,8", ["solution_6_cured", "slide"]),
        ("ppc", "70", "2-3", ["version_2 1.2 374 58", "kernel s"]),
        ("cmsoft", "5000", "3-4", ["local_cured", "25 times"]),
        ("nvidia", "64", "4", ["diagonal 69.5 78.3", "in loop"]),
        (
            "maruyama",
            "65536",
            "7",
            ["kernel_7 0.22 76.1 74.6 1.14 16.0", "%max"],
        ),
    ] {
        let args = ["try", "--source", source, "-n", n, "--variant", variants];
        let (out, err, code) = run(&[&args[..], &short[..]].concat());
        assert_eq!(code, 0, "{out}{err}");
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        for word in words {
            assert!(
                squeezed(&out).contains(&squeezed(word)),
                "{source}: {word:?} is missing in {out}"
            );
        }
        assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    }
}

#[test]
fn a_kernel_that_is_wrong_as_printed_is_no_failure_and_its_cure_is_right() {
    let (out, err, code) = run(&[
        "try",
        "--source",
        "bornhofen",
        "--faults",
        "--quick",
        "--color",
        "never",
    ]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(
        out.contains("final, as printed: WRONG here, as expected"),
        "{out}"
    );
    assert!(
        out.lines()
            .any(|line| line.contains("final_cured ") && line.trim_end().ends_with(" ok")),
        "{out}"
    );
    assert!(
        err.contains("v1 final: check: ") && err.contains("reduction.cl, line 144: a read outside"),
        "{err}"
    );
    let refused = [
        ("--source nobody", "maruyama"),
        ("--faults", "--source"),
        ("--source ppc x.toml", "cannot be used with"),
    ];
    for (args, word) in refused
        .into_iter()
        .chain([("--source maruyama --faults", "at its own sizes")])
    {
        let (out, err, code) = run(&[&["try"], &args.split(' ').collect::<Vec<_>>()[..]].concat());
        assert!(
            code == 2 && out.is_empty() && err.contains(word),
            "{args}: {err}"
        );
    }
}

#[test]
fn a_reduction_names_its_operation_in_every_row() {
    let args = [
        "reduce",
        "--quick",
        "--n",
        "5000",
        "--op",
        "max",
        "--variant",
        "sequential,wide",
        "--json",
        "-",
    ];
    let (out, err, code) = run(&args);
    assert_eq!(code, 0, "{err}");
    let rows: serde_json::Value = serde_json::from_str(&out).unwrap();
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 5);
    for row in rows {
        assert!(
            row["params"].as_str().unwrap().contains("op=max") && row["dtype"] == "i32",
            "{row}"
        );
        assert_eq!(row["result"], rows[0]["result"]);
    }
}

#[test]
fn a_reduction_of_nothing_is_the_identity() {
    for (op, identity) in [
        ("sum", "= 0"),
        ("and", "= -1"),
        ("min", "= 2147483647"),
        ("max", "= -2147483648"),
    ] {
        let (out, _, code) = run(&["reduce", "--n", "0", "--op", op]);
        assert!(code == 0 && out.contains(identity), "{op}: {out}");
    }
}

#[test]
fn no_elements_are_answered_at_once() {
    let (out, _, code) = run(&["dot", "--n", "0"]);
    assert_eq!(code, 0);
    assert!(out.contains("dot = 0"), "{out}");
}

#[test]
fn real_inputs_of_every_format_give_the_same_answer() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/inputs");
    let dir = TempDir::new().unwrap();
    // Its header has 128 bytes.
    let bytes = fs::read(folder.join("sunspots.npy"))
        .unwrap()
        .split_off(128);
    let numbers = bytes.as_chunks().0.iter().map(|&x| f64::from_le_bytes(x));
    let raw = write(&dir, "sunspots.f64", &bytes)
        .to_str()
        .unwrap()
        .to_owned();
    let right: f64 = numbers.clone().map(|x| x * x).sum();
    assert!((right - 1_268_874.02).abs() < 1e-6, "{right}");
    for input in [folder.join("sunspots.npy").to_str().unwrap(), &raw] {
        let args = [
            "dot",
            "--quick",
            "--variant",
            "local",
            "--dtype",
            "f64",
            "--input",
            input,
            "--json",
            "-",
        ];
        let (out, err, code) = run(&args);
        assert_eq!(code, 0, "{err}");
        let rows: serde_json::Value = serde_json::from_str(&out).unwrap();
        let rows = rows.as_array().unwrap();
        assert_eq!(rows.len(), 4, "three baselines and a rung: {out}");
        for row in rows {
            let result = row["result"].as_f64().unwrap();
            assert!(
                (result - right).abs() < 1e-12 * right,
                "{input}: {result}, and not {right}"
            );
            assert_eq!(row["n"].as_u64(), Some(numbers.len() as u64), "{input}");
        }
    }
}

#[test]
fn an_infinite_input_is_answered_although_its_error_has_no_size() {
    let dir = TempDir::new().unwrap();
    let bytes = [1.0, f32::INFINITY, -3.0].map(f32::to_le_bytes).concat();
    let path = write(&dir, "infinite.f32", &bytes);
    for args in [&[][..], &["--in-process"]] {
        let args = [
            &[
                "reduce",
                "--quick",
                "--input",
                path.to_str().unwrap(),
                "--variant",
                "sequential",
                "--json",
                "-",
            ],
            args,
        ];
        let (out, err, code) = run(&args.concat());
        assert_eq!(code, 0, "{err}");
        let rows: serde_json::Value = serde_json::from_str(&out).unwrap();
        let row = rows
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["variant"] == "sequential")
            .unwrap();
        assert!(
            row["status"] == "ok" && row["t_median_s"].is_number() && row["tol"].is_null(),
            "{row}"
        );
    }
}

#[test]
fn without_a_process_of_its_own_a_case_gives_the_same_rows() {
    let rows = |more: &[&str]| {
        let (out, err, code) = quick(&[&["--json", "-"], more].concat());
        assert_eq!(code, 0, "{err}");
        let rows: serde_json::Value = serde_json::from_str(&out).unwrap();
        // All that no clock decides.
        let fixed = [
            "family", "rung", "variant", "dtype", "n", "m", "wg", "params", "status", "reason",
            "bytes", "ops", "result", "max_err", "tol", "platform", "device", "driver", "seed",
        ];
        let row = |row: &serde_json::Value| fixed.map(|column| row[column].to_string());
        rows.as_array().unwrap().iter().map(row).collect::<Vec<_>>()
    };
    let apart = rows(&[]);
    assert_eq!(apart.len(), 4, "three baselines and a rung");
    assert_eq!(rows(&["--in-process"]), apart);
}

#[test]
fn integers_keep_every_digit() {
    let dir = TempDir::new().unwrap();
    let values: Vec<u8> = [(1i64 << 60) + 1, 1, 1]
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    let input = write(&dir, "x.i64", &values);
    let (csv, json) = (dir.path().join("x.csv"), dir.path().join("x.json"));
    let [input, csv_path, json_path] = [&input, &csv, &json].map(|path| path.to_str().unwrap());
    let outputs = ["--csv", csv_path, "--json", json_path];
    let (out, err, code) = run(&[
        &[
            "reduce",
            "--quick",
            "--variant",
            "sequential",
            "--input",
            input,
        ],
        &outputs[..],
    ]
    .concat());
    assert_eq!(code, 0, "{err}");
    let want = "1152921504606846979";
    assert!(out.contains(&format!("reduce = {want}\n")), "{out}");
    let json = fs::read_to_string(json).unwrap();
    assert_eq!(
        json.matches(&format!("\"result\":{want},")).count(),
        json.matches("\"result\"").count(),
        "{json}"
    );
    let mut reader = csv::Reader::from_path(&csv).unwrap();
    let column = reader
        .headers()
        .unwrap()
        .iter()
        .position(|name| name == "result")
        .unwrap();
    let results: Vec<String> = reader
        .records()
        .map(|record| record.unwrap()[column].to_owned())
        .collect();
    assert!(
        !results.is_empty() && results.iter().all(|result| result == want),
        "{results:?}"
    );
}

/// A gate in which each case was skipped has looked at nothing; a baseline of the CPU is none of its cases.
#[test]
fn what_measured_nothing_fails_where_it_is_strict() {
    for (line, code) in [
        ("reduce --wg 96 --variant sequential -n 1000", 7),
        ("transpose --wg 3x5 --variant 3 -n 64", 7),
        (
            "sweep --kernel reduce --wg 96 --variant sequential -n 1000 -o -",
            7,
        ),
        ("reduce -n 0 --variant sequential", 0),
    ] {
        let words = line.split(' ').chain(["--quick", "--strict", "-q"]);
        let (_, said, ended) = run(&words.collect::<Vec<_>>());
        assert_eq!(ended, code, "{line}: {said}");
        assert_eq!(
            said.contains("no case was measured"),
            code == 7,
            "{line}: {said}"
        );
    }
}

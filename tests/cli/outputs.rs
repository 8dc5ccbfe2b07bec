//! Outputs: what they hold, and what becomes of them where they cannot be written, are inputs too, or have no reader.

use crate::binary::{NOWHERE, gpulab, quick, run, shell, write};
use std::fs;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

#[test]
fn outputs_hold_what_the_table_shows() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (csv, json, md, samples) = (path("a.csv"), path("a.json"), path("a.md"), path("s.csv"));
    let (_, err, code) = quick(&[
        "--csv",
        &csv,
        "--json",
        &json,
        "--md",
        &md,
        "--samples",
        &samples,
    ]);
    assert_eq!(code, 0, "{err}");
    let mut reader = csv::Reader::from_path(&csv).unwrap();
    let columns: Vec<String> = reader
        .headers()
        .unwrap()
        .iter()
        .map(str::to_owned)
        .collect();
    assert_eq!(reader.records().count(), 4, "three baselines and a rung");
    let rows: serde_json::Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let mut names: Vec<&String> = rows[0].as_object().unwrap().keys().collect();
    let mut wanted: Vec<&String> = columns.iter().collect();
    names.sort();
    wanted.sort();
    assert_eq!(names, wanted);
    assert!(fs::read_to_string(&md).unwrap().contains("| v3 local"));
    assert!(fs::read_to_string(&samples).unwrap().lines().count() > 12);
}

#[test]
fn an_unwritable_output_is_exit_code_74_before_anything_runs() {
    let (_, err, code) = quick(&["--csv", NOWHERE]);
    assert_eq!(code, 74, "{err}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_exit_code_74() {
    for args in [
        vec!["list"],
        vec!["--help"],
        vec!["devices"],
        vec!["completions", "bash"],
    ] {
        let full = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let binary = assert_cmd::cargo::cargo_bin("gpulab");
        let status = std::process::Command::new(binary)
            .args(&args)
            .stdout(full)
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(74), "{args:?}");
    }
    assert_eq!(quick(&["--csv", "/dev/full"]).2, 74);
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_pipe_ends_quietly() {
    for args in [
        vec!["list"],
        vec!["dot", "--n", "1000", "--quick", "--variant", "7", "-q"],
    ] {
        let binary = assert_cmd::cargo::cargo_bin("gpulab");
        let mut child = std::process::Command::new(binary)
            .args(&args)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        // A compiler that sees a kernel for the first time may warn.
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            said.lines().all(|line| line.contains(" printed: ")),
            "{args:?}: {said}"
        );
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }
}

/// Every option that names an output, of every command that measures, with what else the command needs.
const OUTPUTS: &[(&[&str], &[&str])] = &[
    (
        &["dot", "--quick"],
        &["--csv", "--json", "--md", "--samples"],
    ),
    (&["lab", "overlap", "--quick"], &["--csv", "--json"]),
    (&["ceiling", "--quick"], &["--csv", "--json"]),
    (&["sweep", "--kernel", "dot", "--quick"], &["-o"]),
];

#[test]
fn a_run_that_ends_before_its_first_row_leaves_its_outputs_alone() {
    let dir = TempDir::new().unwrap();
    let (old, new) = (write(&dir, "old.csv", b""), dir.path().join("new"));
    let graph = write(&dir, "graph.csv", b"from,to,weight\na,b,1\n");
    let graph = ["minplus", "--input", graph.to_str().unwrap()];
    let outputs = OUTPUTS.iter().copied().chain([(&graph[..], &["-o"][..])]);
    for (command, options) in outputs {
        for option in options {
            let kept = "kept\n";
            fs::write(&old, kept).unwrap();
            for path in [&old, &new] {
                let args = [
                    command,
                    &[
                        option,
                        path.to_str().unwrap(),
                        "--force",
                        "-d",
                        "no such device",
                    ],
                ]
                .concat();
                let output = gpulab(&args)
                    .env("GPULAB_DATA", dir.path())
                    .output()
                    .unwrap();
                let err = String::from_utf8_lossy(&output.stderr);
                assert!(
                    output.status.code() == Some(3) && output.stdout.is_empty(),
                    "{args:?}: {err}"
                );
            }
            assert_eq!(
                fs::read_to_string(&old).unwrap(),
                kept,
                "{command:?} {option}"
            );
            assert!(!new.exists(), "{command:?} {option}: an empty file stays");
        }
    }
    for args in [["--wg", "100000"], ["--n", "1e12"], ["--variant", "99"]] {
        fs::write(&old, "kept\n").unwrap();
        let (_, err, code) = run(&[
            &["dot", "--force", "--csv", old.to_str().unwrap()],
            &args[..],
        ]
        .concat());
        assert!(
            code == 2 && fs::read_to_string(&old).unwrap() == "kept\n",
            "{args:?}: {err}"
        );
    }
}

#[test]
fn two_outputs_are_not_one_file_and_none_is_what_a_shell_adds_to() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(at("folder")).unwrap();
    let (out, err, code) = run(&[
        "transpose",
        "--csv",
        &at("new"),
        "--md",
        &at("folder/../new"),
    ]);
    assert!(
        code == 2 && out.is_empty() && err.contains("are one file"),
        "{code} {out}{err}"
    );
    assert!(!dir.path().join("new").exists());
    let data = write(&dir, "d.f32", b"000011112222");
    let before = fs::read(&data).unwrap();
    let added = fs::OpenOptions::new().append(true).open(&data).unwrap();
    let status = std::process::Command::new(assert_cmd::cargo::cargo_bin("gpulab"))
        .args(["dot", "--input", &at("d.f32"), "--csv", "-"])
        .stdout(added)
        .status();
    assert_eq!(
        (status.unwrap().code(), fs::read(&data).unwrap()),
        (Some(2), before)
    );
}

#[test]
fn nothing_that_is_not_there_takes_what_is_written() {
    for args in [
        &["list"][..],
        &["--help"],
        &["devices"],
        &["dot", "--quick", "--n", "1000"],
        &["transpose", "--quick", "--json", "-"],
        &["lab", "stride", "--quick"],
        &["ceiling", "--quick"],
        &["sweep", "--kernel", "dot", "--quick"],
        &["sweep", "--kernel", "dot", "--n", "1000", "--dry-run"],
    ] {
        let dir = TempDir::new().unwrap();
        for to in ["&-", "/dev/full"] {
            let mut command = std::process::Command::new("sh");
            command
                .args(["-c", &format!("exec \"$0\" \"$@\" >{to}")])
                .arg(assert_cmd::cargo::cargo_bin("gpulab"));
            let output = command
                .args(args)
                .env("GPULAB_DATA", dir.path())
                .output()
                .unwrap();
            let err = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(74), "{args:?} >{to}: {err}");
            assert!(err.contains("standard output"), "{args:?} >{to}: {err}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_may_not_grow_holds_whole_rows_and_hides_nothing_of_the_rest() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let limited = |args: &[&str]| {
        let script = "ulimit -f 2; exec \"$0\" \"$@\"";
        let mut command = std::process::Command::new("bash");
        command
            .args(["-c", script])
            .arg(assert_cmd::cargo::cargo_bin("gpulab"))
            .args(args);
        let output = command
            .env("GPULAB_DATA", dir.path().join("none"))
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(
            output.status.code(),
            Some(74),
            "{args:?}: {}",
            text(&output.stderr)
        );
        assert!(
            text(&output.stderr).contains("cannot write"),
            "{args:?}: {}",
            text(&output.stderr)
        );
        text(&output.stdout)
    };
    let rows = |path: &str| {
        assert!(fs::metadata(path).unwrap().len() <= 2 << 10);
        let read = gpulab::store::read_rows(Path::new(path)).unwrap();
        assert!(read.torn.is_none() && !read.rows.is_empty(), "{path}");
        read.rows.len()
    };
    // Without elements nothing is compiled, which writes files too.
    let (csv, json, md) = (at("a.csv"), at("a.json"), at("a.md"));
    let none = ["dot", "--n", "0", "-q"];
    let out = limited(&[&none[..], &["--csv", &csv, "--json", &json, "--md", &md]].concat());
    assert!(
        rows(&csv) < 7 && out.contains("v7 wide") && out.contains("dot = 0"),
        "{out}"
    );
    assert!(
        fs::read_to_string(&md).unwrap().contains("v7 wide"),
        "the others get their data"
    );
    let text = fs::read_to_string(&json).unwrap();
    let ends = text.trim_end().ends_with(['}', ']']);
    assert!(ends, "no object is torn: {text}");
    let sweep = at("s.csv");
    let quiet = [
        "sweep",
        "--kernel",
        "dot",
        "-q",
        "--n",
        "0",
        "--wg",
        "32..1024*2",
        "-o",
        &sweep,
    ];
    limited(&quiet);
    assert!(rows(&sweep) < 7);
}

#[test]
fn pipes_and_devices_where_files_belong_keep_nobody_waiting() {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("ceilings")).unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    for name in ["p.csv", "p.npy", "ceilings/p.json"] {
        assert!(
            std::process::Command::new("mkfifo")
                .arg(at(name))
                .status()
                .unwrap()
                .success()
        );
    }
    for (args, code) in [
        (vec!["ceiling", "--show"], 1),
        (vec!["dot", "--input", &at("p.npy")], 2),
        (vec!["minplus", "--input", &at("p.csv")], 2),
        (vec!["sweep", "--merge", &at("p.csv"), "-o", "-"], 1),
        (
            vec![
                "sweep",
                "--kernel",
                "dot",
                "--quick",
                "--resume",
                "-o",
                &at("p.csv"),
            ],
            74,
        ),
        (
            vec![
                "sweep",
                "--kernel",
                "dot",
                "--quick",
                "--resume",
                "-o",
                "/dev/null",
            ],
            2,
        ),
        (
            vec!["dot", "--quick", "--csv", dir.path().to_str().unwrap()],
            74,
        ),
    ] {
        let mut command = gpulab(&args);
        let output = command
            .env("GPULAB_DATA", dir.path())
            .timeout(Duration::from_secs(60))
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {err}");
    }
}

#[test]
fn closed_descriptors_mix_up_nothing() {
    let dir = TempDir::new().unwrap();
    assert_eq!(shell("exec \"$0\" worker <&-").2, Some(2));
    assert_eq!(shell("exec \"$0\" worker <&- >&- 2>&-").2, Some(2));
    // Without standard output nothing is begun.
    assert_eq!(
        shell("exec \"$0\" dot -q --quick --n 1000 --variant wide <&- >&- 2>&-").2,
        Some(74)
    );
    for closed in ["<&-", "2>&-", "<&- 2>&-"] {
        let csv = dir
            .path()
            .join(format!("{}.csv", closed.replace(['<', '>', '&', ' '], "_")));
        let csv = csv.to_str().unwrap();
        let line =
            format!("exec \"$0\" dot -q --quick --n 1000 --variant wide --csv '{csv}' {closed}");
        let (_, err, _) = shell(&line);
        let rows = fs::read_to_string(csv).unwrap();
        assert_eq!(rows.lines().count(), 5, "{closed}: {rows}{err}");
        assert!(
            rows.starts_with("schema,") && !rows.contains("number"),
            "{closed}: {rows}"
        );
    }
}

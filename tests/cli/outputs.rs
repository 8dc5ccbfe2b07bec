//! Outputs: what they hold, and what becomes of them where they cannot be written, are inputs too, or have no reader.

use crate::binary::{NOWHERE, gpulab, quick, run, shell, write};
use crate::sources::edited_kernels;
use std::fs;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

#[test]
fn outputs_hold_what_the_table_shows() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (csv, json, md, samples) = (path("a.csv"), path("a.json"), path("a.md"), path("s.csv"));
    let (_, err, code) = quick(&["--csv", &csv, "--json", &json, "--md", &md, "--samples", &samples]);
    assert_eq!(code, 0, "{err}");
    let mut reader = csv::Reader::from_path(&csv).unwrap();
    let columns: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
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
    for args in [vec!["list"], vec!["--help"], vec!["devices"], vec!["completions", "bash"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let binary = assert_cmd::cargo::cargo_bin("gpulab");
        let status = std::process::Command::new(binary).args(&args).stdout(full).status().unwrap();
        assert_eq!(status.code(), Some(74), "{args:?}");
    }
    assert_eq!(quick(&["--csv", "/dev/full"]).2, 74);
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_pipe_ends_quietly() {
    for args in [vec!["list"], vec!["dot", "--n", "1000", "--quick", "--variant", "7", "-q"]] {
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
        assert!(said.lines().all(|line| line.contains(" printed: ")), "{args:?}: {said}");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }
}

/// Every option that names an output, of every command that measures, with what else the command needs.
const OUTPUTS: &[(&[&str], &[&str])] = &[
    (&["dot", "--quick"], &["--csv", "--json", "--md", "--samples"]),
    (&["reduce", "--quick"], &["--csv", "--json", "--md", "--samples"]),
    (&["transpose", "--quick"], &["--csv", "--json", "--md", "--samples"]),
    (&["minplus", "--quick"], &["--csv", "--json", "--md", "--samples"]),
    (&["lab", "overlap", "--quick"], &["--csv", "--json", "--svg"]),
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
                let args = [command, &[option, path.to_str().unwrap(), "--force", "-d", "no such device"]].concat();
                let output = gpulab(&args).env("GPULAB_DATA", dir.path()).output().unwrap();
                let err = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.code() == Some(3) && output.stdout.is_empty(), "{args:?}: {err}");
            }
            assert_eq!(fs::read_to_string(&old).unwrap(), kept, "{command:?} {option}");
            assert!(!new.exists(), "{command:?} {option}: an empty file stays");
        }
    }
    for args in [["--wg", "100000"], ["--n", "1e12"], ["--variant", "99"]] {
        fs::write(&old, "kept\n").unwrap();
        let (_, err, code) = run(&[&["dot", "--force", "--csv", old.to_str().unwrap()], &args[..]].concat());
        assert!(code == 2 && fs::read_to_string(&old).unwrap() == "kept\n", "{args:?}: {err}");
    }
}

#[cfg(unix)]
#[test]
fn an_output_that_is_an_input_or_another_output_is_refused() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let data = write(&dir, "d.csv", b"b\n1\n2\n3\n");
    let (hard, soft) = (at("hard"), at("soft"));
    fs::hard_link(&data, &hard).unwrap();
    std::os::unix::fs::symlink(&data, &soft).unwrap();
    fs::create_dir(at("folder")).unwrap();
    let before = fs::read(&data).unwrap();
    let paths = [at("d.csv"), hard, soft, at("folder/../d.csv")];
    let input = at("d.csv") + ":b";
    let refused = |args: &[&str], word: &str| {
        let (out, err, code) = run(args);
        assert!(code == 2 && out.is_empty() && err.contains(word), "{args:?}: {code} {out}{err}");
        assert_eq!(fs::read(&data).unwrap(), before, "{args:?}");
    };
    for path in &paths {
        for option in ["--csv", "--json", "--md", "--samples"] {
            refused(&["dot", "--quick", "--input", &input, option, path], "is the input");
        }
        let one = write(&dir, "one.csv", b"1\n2\n");
        refused(&["reduce", "--quick", "--input", &input, "--json", path], "is the input");
        refused(
            &["dot", "--input", one.to_str().unwrap(), "--input2", &input, "--csv", path],
            if path == &paths[0] { "d.csv" } else { "" },
        );
        refused(&["minplus", "--input", &at("d.csv"), "-o", path], "is the input");
        refused(&["sweep", "--merge", &at("d.csv"), "-o", path], "is the input");
        refused(&["transpose", "--csv", path, "--json", &at("d.csv")], "are one file");
    }
    // Two names of one file that is not there yet.
    refused(&["transpose", "--csv", &at("new"), "--md", &at("folder/../new")], "are one file");
    assert!(!dir.path().join("new").exists());
    // A kernel's source is read, too.
    let kernels = edited_kernels("dot/local.cl", "T sum = 0;", "T sum = 0;");
    let source = kernels.path().join("common/tree.cl");
    let text = fs::read(&source).unwrap();
    let folder = kernels.path().to_str().unwrap();
    for command in [&["dot"][..], &["lab", "stride"], &["ceiling"], &["sweep", "--kernel", "dot"]] {
        let option = if command[0] == "sweep" { "-o" } else { "--csv" };
        let args = [command, &["--quick", "--cl-dir", folder, option, source.to_str().unwrap()]].concat();
        let output = gpulab(&args).env("GPULAB_DATA", dir.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(fs::read(&source).unwrap(), text, "{args:?}");
    }
    // Added to by a shell.
    let added = fs::OpenOptions::new().append(true).open(&data).unwrap();
    let status = std::process::Command::new(assert_cmd::cargo::cargo_bin("gpulab"))
        .args(["dot", "--input", &input, "--csv", "-"])
        .stdout(added)
        .status();
    assert_eq!((status.unwrap().code(), fs::read(&data).unwrap()), (Some(2), before));
}

#[cfg(unix)]
#[test]
fn nothing_that_is_not_there_takes_what_is_written() {
    for args in [
        &["list"][..],
        &["--help"],
        &["--version"],
        &["lab"],
        &["explain", "reduce"],
        &["source", "reduce:3"],
        &["diff", "reduce:2", "reduce:3"],
        &["completions", "bash"],
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
            command.args(["-c", &format!("exec \"$0\" \"$@\" >{to}")]).arg(assert_cmd::cargo::cargo_bin("gpulab"));
            let output = command.args(args).env("GPULAB_DATA", dir.path()).output().unwrap();
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
        command.args(["-c", script]).arg(assert_cmd::cargo::cargo_bin("gpulab")).args(args);
        let output = command.env("GPULAB_DATA", dir.path().join("none")).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(output.status.code(), Some(74), "{args:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains("cannot write"), "{args:?}: {}", text(&output.stderr));
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
    assert!(rows(&csv) < 7 && out.contains("v7 wide") && out.contains("dot = 0"), "{out}");
    assert!(fs::read_to_string(&md).unwrap().contains("v7 wide"), "the others get their data");
    let text = fs::read_to_string(&json).unwrap();
    let ends = text.trim_end().ends_with(['}', ']']);
    assert!(ends, "no object is torn: {text}");
    let sweep = at("s.csv");
    let quiet = ["sweep", "--kernel", "dot", "-q", "--n", "0", "--wg", "32..1024*2", "-o", &sweep];
    limited(&quiet);
    assert!(rows(&sweep) < 7);
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_where_files_belong_keep_nobody_waiting() {
    let dir = TempDir::new().unwrap();
    let folder = dir.path().join("ceilings");
    fs::create_dir(&folder).unwrap();
    let fifo = |path: &Path| assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    for name in ["p.csv", "p.npy", "ceilings/p.json"] {
        fifo(&dir.path().join(name));
    }
    let kernels = edited_kernels("dot/local.cl", "T sum = 0;", "T sum = 0;");
    let fragment = kernels.path().join("common/tree.cl");
    fs::remove_file(&fragment).unwrap();
    fifo(&fragment);
    let sources = kernels.path().to_str().unwrap();
    for (args, code) in [
        (vec!["ceiling", "--show"], 1),
        (vec!["dot", "--input", &at("p.npy")], 2),
        (vec!["minplus", "--input", &at("p.csv")], 2),
        (vec!["sweep", "--merge", &at("p.csv"), "-o", "-"], 1),
        (vec!["sweep", "--kernel", "dot", "--quick", "--resume", "-o", &at("p.csv")], 74),
        (vec!["sweep", "--kernel", "dot", "--quick", "--resume", "-o", "/dev/null"], 2),
        (vec!["dot", "--quick", "--csv", &at("p.csv")], 74),
        (vec!["dot", "--quick", "--csv", dir.path().to_str().unwrap()], 74),
        (vec!["sweep", "--kernel", "dot", "--variant", "3", "--quick", "--n", "1000", "--cl-dir", sources], 2),
    ] {
        let mut command = gpulab(&args);
        let output = command.env("GPULAB_DATA", dir.path()).timeout(Duration::from_secs(60)).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {err}");
    }
}

#[cfg(unix)]
#[test]
fn closed_descriptors_mix_up_nothing() {
    let dir = TempDir::new().unwrap();
    assert_eq!(shell("exec \"$0\" worker <&-").2, Some(2));
    assert_eq!(shell("exec \"$0\" worker <&- >&- 2>&-").2, Some(2));
    // Without standard output nothing is begun.
    assert_eq!(shell("exec \"$0\" dot -q --quick --n 1000 --variant wide <&- >&- 2>&-").2, Some(74));
    for closed in ["<&-", "2>&-", "<&- 2>&-"] {
        let csv = dir.path().join(format!("{}.csv", closed.replace(['<', '>', '&', ' '], "_")));
        let csv = csv.to_str().unwrap();
        let line = format!("exec \"$0\" dot -q --quick --n 1000 --variant wide --csv '{csv}' {closed}");
        let (_, err, _) = shell(&line);
        let rows = fs::read_to_string(csv).unwrap();
        assert_eq!(rows.lines().count(), 5, "{closed}: {rows}{err}");
        assert!(rows.starts_with("schema,") && !rows.contains("number"), "{closed}: {rows}");
    }
}

//! `gpulab count -- program`: the kernels of somebody else's host program.

use crate::binary::gpulab;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/host_program");

/// A folder with the kernels and the program, built with this option.
fn folder(option: &str) -> TempDir {
    folder_of("program.cpp", option)
}

fn folder_of(source: &str, option: &str) -> TempDir {
    let dir = TempDir::new().unwrap();
    fs::copy(
        format!("{FOLDER}/kernels.cl"),
        dir.path().join("kernels.cl"),
    )
    .unwrap();
    let built = Command::new("c++")
        .args([
            "-o",
            "program",
            option,
            &format!("{FOLDER}/{source}"),
            "-l:libOpenCL.so.1",
            "-ldl",
        ])
        .current_dir(dir.path())
        .output()
        .expect("a C++ compiler, which the simulator's plugin needs, too");
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    dir
}

fn count(dir: &Path, line: &str) -> (String, String, i32) {
    run(dir, &format!("count {line}"))
}

/// Standard output and error, and the exit code.
fn run(dir: &Path, line: &str) -> (String, String, i32) {
    let words: Vec<&str> = line.split(' ').collect();
    let output = gpulab(&words).current_dir(dir).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        text(output.stdout),
        text(output.stderr),
        output.status.code().unwrap(),
    )
}

#[test]
fn kernels_of_a_program_are_counted_by_name_and_line() {
    for option in ["-O1", "-DOPENS"] {
        let dir = folder(option);
        let (out, err, code) = count(dir.path(), "--lines -- ./program kernels.cl 64");
        assert_eq!(code, 0, "{option}: {err}");
        assert!(
            err.contains("the program says so\\x1b[2J\n")
                && !err.contains('\x1b')
                && !out.contains("the program says so"),
            "{out}\n{err}"
        );
        let cells = |kernel: &str| {
            let line = out
                .lines()
                .find(|line| line.starts_with(kernel))
                .unwrap_or_else(|| panic!("{out}"));
            line.split_whitespace()
                .skip(1)
                .take(3)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        // Launches, groups and warps: 64 x 64 items in groups of 256 once, and in groups of 64 three times.
        assert_eq!(
            (cells("turn"), cells("twice")),
            (
                vec!["1".into(), "16".into(), "128".into()],
                vec!["3".into(), "192".into(), "384".into()]
            )
        );
        assert!(
            out.contains("x[get_global_id(0)] *= 2.0f;") && out.contains("turn: program1.cl"),
            "{out}"
        );
    }
}

#[test]
fn a_change_of_its_kernels_fails_the_gate() {
    let dir = folder("-O1");
    let run = |more: &str| count(dir.path(), &format!("{more} -q -- ./program kernels.cl 64"));
    assert_eq!(run("--csv base.csv").2, 0);
    assert!(
        run("--against base.csv --fail-on all")
            .0
            .contains("every count is as in base.csv")
    );
    let kernels = fs::read_to_string(dir.path().join("kernels.cl")).unwrap();
    let changed = kernels.replace("out[j * n + i]", "out[i * n + j]");
    fs::write(dir.path().join("kernels.cl"), changed).unwrap();
    let (_, err, code) = run("--against base.csv --fail-on segments");
    let want =
        "turn has more segments: 1_024 before, 2_560 now (2.50 times; --fail-on allows +0.0%)";
    assert!(
        code == 6 && err.contains(want) && !err.contains("twice"),
        "{code} {err}"
    );
    fs::write(dir.path().join("kernels.cl"), kernels).unwrap();
    let (_, err, code) = count(
        dir.path(),
        "--against base.csv --fail-on all -- ./program kernels.cl 64 0",
    );
    assert!(
        code == 6 && err.contains("base.csv has counts of twice, which did not run now"),
        "{code} {err}"
    );
}

#[test]
fn an_access_out_of_bounds_is_told_with_its_line() {
    let dir = folder("-O1");
    let kernels = fs::read_to_string(dir.path().join("kernels.cl")).unwrap();
    fs::write(
        dir.path().join("kernels.cl"),
        kernels.replace(
            "out[j * n + i] = x[j * n + i]",
            "out[j * n + i] = x[j * n + i + 8]",
        ),
    )
    .unwrap();
    let (_, err, code) = count(dir.path(), "-- ./program kernels.cl 64");
    let want = "check: kernels.cl, line 4: a read outside of a buffer: compare the";
    assert!(
        code == 4 && err.contains(want) && !err.contains("Invalid read"),
        "{code} {err}"
    );
}

#[test]
fn a_programs_mistakes_are_named() {
    let dir = folder_of("faults.cpp", "-O1");
    let none = "no refused call in shift";
    for (line, exit, want) in [
        ("--check -- ./program none", 0, none),
        (
            "-- ./program none",
            0,
            "races were not looked for: count --check -- PROGRAM does",
        ),
        (
            "--check -- ./program race",
            4,
            "line 3: a race in local memory with line 7, by two work-items of a group: no barrier(CLK_LOCAL_MEM_FENCE)",
        ),
        (
            "-- ./program bytes",
            4,
            "a write outside of the group's local memory: compare the index with its size (hosts give clSetKernelArg bytes",
        ),
        (
            "-- ./program refused",
            1,
            "a call was refused: clEnqueueNDRangeKernel, CL_INVALID_WORK_GROUP_SIZE",
        ),
        (
            "--check -- ./program unprofiled",
            1,
            "CL_PROFILING_INFO_NOT_AVAILABLE, its queue was made without CL_QUEUE_PROFILING_ENABLE",
        ),
        ("--check reduce", 2, "--check looks at host programs"),
    ] {
        let (_, err, code) = count(dir.path(), line);
        let flat = err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(code == exit && flat.contains(want), "{line}: {code} {err}");
    }
}

#[test]
fn a_fault_has_the_place_of_the_file_that_holds_the_text() {
    let dir = folder("-O1");
    let kernels = fs::read_to_string(dir.path().join("kernels.cl")).unwrap();
    fs::create_dir(dir.path().join("sub")).unwrap();
    let beyond = kernels.replace("out[j * n", "out[1000 + j * n");
    fs::write(dir.path().join("sub/beyond.cl"), beyond).unwrap();
    let words = [
        "count",
        "--check",
        "--",
        "./program",
        "sub/beyond.cl",
        "64",
        "0",
    ];
    let output = gpulab(&words)
        .current_dir(dir.path())
        .env("GITHUB_ACTIONS", "true")
        .output()
        .unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(
        out.starts_with("::error file=sub/beyond.cl,line=4,title=write_outside::"),
        "{out}"
    );
}

#[test]
fn what_cannot_be_counted_says_why() {
    let dir = folder("-O1");
    for (line, exit, want) in [
        ("-- ./none", 1, "failed in the simulator"),
        (
            "-- no-such-program",
            1,
            "no-such-program failed in the simulator",
        ),
        (
            "-- ./program kernels.cl 0",
            1,
            "made an OpenCL context in the simulator, but launched no kernel",
        ),
        (
            "-- true",
            1,
            "true made no OpenCL context in the simulator, which shows itself as platform Oclgrind",
        ),
        (
            "-- false",
            1,
            "false failed in the simulator (exit status: 1); what it printed is above",
        ),
        (
            "--deadline 0.5 -- ./program kernels.cl -1",
            1,
            "took more than 0.5 s in the simulator",
        ),
        ("reduce -- ./program", 2, "cannot be used with"),
        ("-n 64 -- ./program", 2, "cannot be used with"),
        ("--against none.csv -- ./program", 2, "cannot read none.csv"),
    ] {
        let (_, err, code) = count(dir.path(), line);
        assert!(code == exit && err.contains(want), "{line}: {code} {err}");
    }
}

#[test]
fn no_file_that_a_kernel_names_is_read() {
    let dir = folder("-O1");
    let secret = dir.path().join("secret.cl");
    fs::write(&secret, "nobody asked for this\n".repeat(400)).unwrap();
    let (from, named) = ("#line 1 \"", secret.display());
    let kernels = fs::read_to_string(dir.path().join("kernels.cl")).unwrap();
    fs::write(
        dir.path().join("kernels.cl"),
        format!("{from}{named}\"\n{kernels}"),
    )
    .unwrap();
    let (out, err, code) = count(dir.path(), "--lines -- ./program kernels.cl 64");
    assert!(
        code == 0 && out.contains("secret.cl") && !(out + &err).contains("nobody"),
        "{err}"
    );
}

#[test]
fn a_launch_of_a_program_is_seen_kept_and_tried_without_it() {
    let dir = folder("-DOPENS");
    let line = "time --keep twice --launch 2 -o kept.toml -- ./program kernels.cl 64 3 7";
    let (out, err, code) = run(dir.path(), line);
    assert!(
        code == 7
            && out == "the program says so\x1b[2J\n"
            && err.contains("\ntwice                    3 ")
            && err.contains("never released: contexts 1"),
        "{code} {out} {err}"
    );
    fs::remove_file(dir.path().join("program")).unwrap();
    let path = dir.path().join("kept_kept.cl");
    let text = fs::read_to_string(&path).unwrap();
    for (factor, exit) in [("2.0f", 0), ("2.1f", 4)] {
        fs::write(&path, text.replace("2.0f", factor)).unwrap();
        let (out, err, code) = run(dir.path(), "try kept.toml --quick");
        assert!(
            code == exit && out.contains("v1 twice"),
            "{code} {out} {err}"
        );
    }
}

//! Exercises: starters are right and do not pass, solutions pass, and no cheat does.

use crate::binary::{gpulab, run};
use gpulab::exercise::{DrawnSizes, Exercise, exercise};
use gpulab::kernels::Form;
use gpulab::simulator::PACKAGES;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};

const CHEATS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/exercises/cheats");

/// A seed, another one each time, which draws the smallest sizes for the simulator: sizes are not the point.
fn seed() -> u64 {
    let counted = |seed: u64| {
        [Form::Vector, Form::Matrix, Form::Square].map(|form| DrawnSizes::new(form, seed).counted.n)
    };
    let smallest = |seed: &u64| counted(*seed) == [6 * 4096, 64, 64];
    let first = RandomState::new().build_hasher().finish() >> 32;
    (first..first + 10_000)
        .find(smallest)
        .expect("one in 42 does")
}

/// The rows of a folder that was graded.
fn graded(folder: &Path) -> Vec<Value> {
    let out = tempfile::tempdir().unwrap();
    let json = out.path().join("grades.json");
    let (folder, seed) = (folder.to_str().unwrap(), seed().to_string());
    let args = [
        "-q",
        "exercise",
        "check",
        "--all",
        folder,
        "--deadline",
        "15",
        "--seed",
        &seed,
        "--json",
    ];
    let (_, said, code) = run(&[&args[..], &[json.to_str().unwrap()]].concat());
    assert_eq!(code, 0, "{said}");
    serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap()
}

fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    row[name]
        .as_str()
        .unwrap_or_else(|| panic!("{name} in {row}"))
}

/// Why there are no counts here, if there are none.
fn uncounted(rows: &[Value]) -> Option<&str> {
    let reason = text(
        rows.iter().find(|row| row["verdict"] == "uncounted")?,
        "reason",
    );
    assert!(reason.contains(PACKAGES), "{reason}");
    Some(reason)
}

/// Of each row the checks that it does not meet.
fn unmet(rows: &[Value]) -> BTreeSet<(String, String, String)> {
    let mut unmet = BTreeSet::new();
    for row in rows {
        for check in row["checks"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|check| check["ok"] == false)
        {
            let wanted = text(check, "wanted")
                .split(' ')
                .nth(1)
                .unwrap_or_default()
                .to_owned();
            unmet.insert((
                text(row, "exercise").to_owned(),
                text(check, "what").to_owned(),
                wanted,
            ));
        }
    }
    unmet
}

/// The files of all cheats.
fn cheats() -> Vec<PathBuf> {
    let files = |folder: &Path| {
        fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect::<Vec<_>>()
    };
    files(Path::new(CHEATS))
        .into_iter()
        .flat_map(|folder| files(&folder))
        .collect()
}

/// Writes a file of a student.
fn hand_in(class: &Path, student: &str, name: &str, text: &str) {
    fs::create_dir_all(class.join(student)).unwrap();
    fs::write(class.join(student).join(name), text).unwrap();
}

/// A class hands in starters, solutions and cheats of these exercises: starters do not pass, solutions do, and every check is
/// failed by a file. Gives the reason where there are no counts here.
fn is_graded_rightly(names: &[&str]) -> Option<String> {
    let class = tempfile::tempdir().unwrap();
    let exercises: Vec<Exercise> = names
        .iter()
        .map(|name| exercise(name).unwrap().unwrap())
        .collect();
    for exercise in &exercises {
        for (student, text) in [
            ("starter", exercise.starter()),
            ("solution", exercise.solution()),
        ] {
            // As some editors write it.
            let text = format!("\u{feff}{}", text.unwrap().replace('\n', "\r\n"));
            hand_in(class.path(), student, &exercise.file_name(), &text);
        }
    }
    let is_meant = |file: &PathBuf| {
        exercises
            .iter()
            .any(|exercise| file.ends_with(exercise.file_name()))
    };
    let cheats: Vec<PathBuf> = cheats().into_iter().filter(is_meant).collect();
    for file in &cheats {
        let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        hand_in(
            class.path(),
            &name(file.parent().unwrap()),
            &name(file),
            &fs::read_to_string(file).unwrap(),
        );
    }
    let rows = graded(class.path());
    assert_eq!(rows.len(), 2 * names.len() + cheats.len());
    if let Some(reason) = uncounted(&rows) {
        return Some(reason.to_owned());
    }
    for row in &rows {
        let wanted = match text(row, "student") {
            "solution" => "passed",
            "starter" => "not-yet",
            _ => {
                is_rejected(row);
                continue;
            }
        };
        assert_eq!(text(row, "verdict"), wanted, "{row:#}");
        assert_eq!(text(row, "hint").is_empty(), wanted == "passed", "{row:#}");
    }
    let unmet = unmet(&rows);
    for exercise in &exercises {
        for label in exercise.checks.iter().map(|check| check.metric.name()) {
            let is_failed = unmet
                .iter()
                .any(|(name, what, _)| name == exercise.name && what == label);
            assert!(is_failed, "no file fails {}: {label}", exercise.name);
        }
    }
    None
}

/// A cheat's row is as the first line of its file says.
fn is_rejected(row: &Value) {
    let file = PathBuf::from(text(row, "file"));
    let first = fs::read_to_string(&file)
        .unwrap()
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned();
    let fails = first
        .strip_prefix("// fails: ")
        .unwrap_or_else(|| panic!("{file:?}"))
        .trim();
    let verdict = text(row, "verdict");
    if file.parent().unwrap().ends_with("prints") {
        // What it prints is no verdict of ours.
        assert_eq!(verdict, "passed", "{row:#}");
        return;
    }
    assert_ne!(verdict, "passed", "{row:#}");
    let is_so = match fails {
        "" => ["wrong", "not-built", "crashed", "refused"].contains(&verdict),
        // A driver may survive an index far beyond an array, but its result is no longer right.
        "CRASHED" => ["crashed", "wrong"].contains(&verdict),
        "WRONG" | "ENDLESS" | "REFUSED" => verdict == fails.to_lowercase(),
        what if what.starts_with("in the simulator: ") || what == "asks for" => {
            verdict != "not-yet"
                && text(row, "reason").contains(what)
                && unmet(std::slice::from_ref(row)).is_empty()
        }
        what => {
            let unmet = unmet(std::slice::from_ref(row));
            verdict == "not-yet" && unmet.iter().any(|(_, label, _)| label.contains(what))
        }
    };
    assert!(is_so, "should fail {fails:?}: {row:#}");
}

#[test]
fn starters_solutions_and_cheats_are_graded_rightly() {
    if let Some(reason) = is_graded_rightly(&["strides", "transpose-banks"]) {
        eprintln!("skipped: {reason}");
    }
}

/// What is not yet right has the command that plays its fault, and that runs.
#[test]
fn grades_are_a_table_and_lead_to_the_moment_of_the_fault() {
    let class = tempfile::tempdir().unwrap();
    let strides = exercise("strides").unwrap().unwrap();
    hand_in(
        class.path(),
        "ada",
        "strides.cl",
        &strides.starter().unwrap(),
    );
    hand_in(
        class.path(),
        "bob",
        "strides.cl",
        &strides.solution().unwrap(),
    );
    let rows = graded(class.path());
    if uncounted(&rows).is_some() {
        return;
    }
    let [ada, bob] = &rows[..] else {
        panic!("{rows:?}")
    };
    assert!(
        text(bob, "verdict") == "passed" && bob["film"].is_null(),
        "{bob}"
    );
    assert!(
        text(ada, "verdict") == "not-yet"
            && text(ada, "film").contains(" --line strides.cl:15 --film "),
        "{ada}"
    );
    let film: Vec<&str> = text(ada, "film")
        .split(' ')
        .skip(1)
        .map(|w| {
            if w == "strides.html" {
                "-"
            } else {
                w.trim_matches('\'')
            }
        })
        .collect();
    let (page, said, code) = run(&film);
    assert!(
        code == 0 && page.contains("\"opens\":\"strides.cl:15\""),
        "{said}"
    );
}

/// Right on the device, and slow in a simulator: that says nothing against it.
#[test]
fn what_a_simulator_does_not_finish_is_uncounted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("strides.cl");
    let solution = exercise("strides").unwrap().unwrap().solution().unwrap();
    // At the counted size alone.
    let slow = "    volatile uint idle = 0;\n    if (n > 20000 && n < 60000)\n        for (uint k = 0; k < 100000; k++)\n            idle += k;\n    T sum = 0;\n";
    fs::write(&file, solution.replace("    T sum = 0;\n", slow)).unwrap();
    let args = [
        "exercise",
        "check",
        "strides",
        file.to_str().unwrap(),
        "--deadline",
        "8",
        "--json",
        "-",
    ];
    let (out, said, _) = run(&args);
    let row: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{said}"));
    assert_eq!(row["verdict"], "uncounted", "{row:#}");
    assert_eq!(row["hint"], "", "{row:#}");
    let reason = text(&row, "reason");
    assert!(
        reason.contains("took too long") || reason.contains(PACKAGES),
        "{reason}"
    );
}

#[test]
fn a_student_starts_asks_for_hints_and_never_loses_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let said = |args: &[&str]| {
        let mut command = gpulab(args);
        let output = command
            .current_dir(folder.path())
            .env("GPULAB_DATA", &data)
            .output()
            .unwrap();
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        (text.into_owned(), output.status.code().unwrap())
    };
    let (list, _) = said(&["exercise"]);
    assert!(
        list.contains("0 of 12 solved\nNext, about 15 minutes: gpulab exercise start strides"),
        "{list}"
    );
    let (started, code) = said(&["exercise", "start", "banks"]);
    assert!(
        code == 0 && started.contains("gpulab exercise check banks"),
        "{started}"
    );
    assert_eq!(
        said(&["exercise", "start", "banks"]).1,
        2,
        "a file that is there stays"
    );
    let hints: Vec<String> = (0..4)
        .map(|_| said(&["exercise", "show", "banks", "--hint"]).0)
        .collect();
    assert!(
        hints[0].starts_with("Hint 1 of 3") && hints[1].starts_with("Hint 2 of 3"),
        "{hints:?}"
    );
    assert!(
        hints[2] == hints[3] && hints[3].contains("--solution"),
        "{hints:?}"
    );
    assert!(
        said(&["exercise", "show", "banks"])
            .0
            .contains("Hint 3 of 3")
    );
    fs::write(
        folder.path().join("banks.cl"),
        "__kernel void k(__global const T *x, __global T *y, const INDEX n) {}",
    )
    .unwrap();
    let (wrong, code) = said(&["exercise", "check", "banks"]);
    assert!(code == 4 && wrong.contains("More help"), "{wrong}");
    fs::write(
        folder.path().join("banks.cl"),
        exercise("banks").unwrap().unwrap().solution().unwrap(),
    )
    .unwrap();
    let (passed, code) = said(&["exercise", "check", "banks"]);
    assert!(
        code == 3
            || code == 0 && passed.contains("banks: passed") && passed.contains("start strides"),
        "{passed}"
    );
    assert!(code == 3 || said(&["exercise", "list"]).0.contains("1 of 12 solved"));
}

/// The first bet on a step counts, what was recorded is right, and no bet is a question.
#[test]
fn bets_are_held_against_recorded_steps() {
    let data = tempfile::tempdir().unwrap();
    for (words, code, word) in [
        ("reduce:2", 0, "predict reduce:2 1.5 --on h200"),
        ("reduce:2 9", 0, "1.70 times faster"),
        ("reduce:2 1.7", 0, "9.00 times faster, 5.3 times too high"),
        ("dot:2 3x --on h200", 0, "score: 1 of 2 bets"),
        ("dot:2 3", 0, "near in 2 of 12 places"),
        ("dot:2 3", 0, "3.85          -      "),
        ("minplus:2", 0, "On an NVIDIA H200, n = "),
        ("dot:3 2", 0, "undecided"),
        ("spmv:2 2", 2, "of reduce, dot, transpose or minplus"),
        ("reduce:1 2", 2, "as in reduce:2"),
        ("dot:2 1,5", 2, "write 1.5"),
        ("dot:2 0", 2, "no factor"),
        ("dot:2 2 --on pocl", 2, "pocl"),
    ] {
        let args: Vec<&str> = words.split(' ').collect();
        let mut command = gpulab(&[&["exercise", "predict"], &args[..]].concat());
        let output = command.env("GPULAB_DATA", data.path()).output().unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(
            output.status.code() == Some(code) && text.contains(word),
            "{words}: {text}"
        );
    }
}

#[test]
fn a_class_is_a_table_and_an_exercise_a_page() {
    let class = tempfile::tempdir().unwrap();
    let path = class.path().to_str().unwrap();
    let strides = exercise("strides").unwrap().unwrap();
    hand_in(
        class.path(),
        "ada",
        "Strides (1).cl",
        &strides.starter().unwrap(),
    );
    hand_in(
        class.path(),
        "ada",
        "strides.cl",
        &strides.solution().unwrap(),
    );
    hand_in(class.path(), "bob", "nothing.cl", "");
    let (out, said, code) = run(&["exercise", "check", "--all", path]);
    assert!(
        code == 0 && out.contains("bob nothing REFUSED: "),
        "{out}{said}"
    );
    if !out.contains("uncounted") {
        assert!(
            out.contains("\nada           1  passed\nbob           0  -\n"),
            "{out}"
        );
        assert!(
            out.ends_with("\n3 files: 1 passed, 1 not yet, 1 REFUSED\n"),
            "{out}"
        );
    }
    let mark = gpulab::report::exercise::SHEET_MARK;
    fs::write(class.path().join("x.html"), mark).unwrap();
    let (_, said, _) = run(&[
        "exercise",
        "sheet",
        "strides",
        "-o",
        &format!("{path}/x.html"),
    ]);
    let page = fs::read_to_string(class.path().join("x.html")).unwrap();
    assert!(page.contains("__kernel void strides"), "{said}");
    assert!(page.contains("<svg") || said.contains(PACKAGES), "{said}");
}

#[test]
fn bad_input_is_answered_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(path("empty")).unwrap();
    fs::write(
        path("strides.cl"),
        "// gpulab: element 4\n__kernel void k(__global int *x) {}\n",
    )
    .unwrap();
    fs::write(path("binary.cl"), [0xff, 0xfe, 0]).unwrap();
    let cases: &[(&[&str], i32, &str)] = &[
        (&["show", "transpose-bank"], 2, "`transpose-banks`"),
        (&["show", "nothing"], 2, "strides, branches"),
        (&["check"], 2, "NAME"),
        (
            &["check", "banks", "/nowhere/banks.cl"],
            2,
            "gpulab exercise start banks",
        ),
        (&["check", "strides", &path("strides.cl")], 2, "line 1"),
        (&["check", "strides", &path("binary.cl")], 2, "cannot read"),
        (
            &["check", "strides", &path("empty")],
            2,
            "not a regular file",
        ),
        (
            &["check", "--all", &path("empty")],
            2,
            "holds no submissions",
        ),
        (
            &["check", "--all", &path("missing")],
            2,
            "cannot read the folder",
        ),
        (&["check", "banks", "--all"], 2, "leave out banks"),
        (
            &["start", "banks", "-o", "/nowhere/x.cl"],
            74,
            "/nowhere/x.cl",
        ),
        (
            &[
                "check",
                "strides",
                &path("strides.cl"),
                "--json",
                "/nowhere/x",
            ],
            74,
            "/nowhere/x",
        ),
    ];
    for (args, code, word) in cases {
        let (out, said, ended) = run(&[&["exercise"], *args].concat());
        assert_eq!(ended, *code, "{args:?}: {out}{said}");
        assert!(
            format!("{out}{said}").contains(word),
            "{args:?}: {out}{said}"
        );
    }
}

#[test]
fn without_a_folder_for_data_or_a_simulator_a_check_still_says_what_it_found() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = folder.path().join("strides.cl");
    fs::write(
        &kernel,
        exercise("strides").unwrap().unwrap().solution().unwrap(),
    )
    .unwrap();
    // Nothing but the linker, which PoCL needs, is on the path: no simulator.
    for place in std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()) {
        let linker = place.join("ld");
        if linker.is_file() {
            let _ = std::os::unix::fs::symlink(linker, folder.path().join("ld"));
        }
    }
    let output = gpulab(&["exercise", "check", "strides", kernel.to_str().unwrap()])
        .env("PATH", folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(
        said.contains("right at n =") && said.contains("skipped") && said.contains("oclgrind"),
        "{said}"
    );
}

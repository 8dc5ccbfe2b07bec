//! Exercises: starters are right and do not pass, solutions pass, and no cheat does.

use crate::binary::{gpulab, run};
use gpulab::exercise::{DrawnSizes, Exercise, ExerciseVerdict, GradeRow, exercise};
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
    let counted =
        |seed: u64| [Form::Vector, Form::Matrix, Form::Square].map(|form| DrawnSizes::new(form, seed).counted.n);
    let smallest = |seed: &u64| counted(*seed) == [6 * 4096, 64, 64];
    let first = RandomState::new().build_hasher().finish() >> 32;
    (first..first + 10_000).find(smallest).expect("one in 42 does")
}

/// The rows of a folder that was graded.
fn graded(folder: &Path) -> Vec<Value> {
    let out = tempfile::tempdir().unwrap();
    let json = out.path().join("grades.json");
    let (folder, seed) = (folder.to_str().unwrap(), seed().to_string());
    let args = ["-q", "exercise", "check", "--all", folder, "--deadline", "30", "--seed", &seed, "--json"];
    let (_, said, code) = run(&[&args[..], &[json.to_str().unwrap()]].concat());
    assert_eq!(code, 0, "{said}");
    serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap()
}

fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    row[name].as_str().unwrap_or_else(|| panic!("{name} in {row}"))
}

/// Why there are no counts here, if there are none.
fn uncounted(rows: &[Value]) -> Option<&str> {
    let reason = text(rows.iter().find(|row| row["verdict"] == "uncounted")?, "reason");
    assert!(reason.contains(PACKAGES), "{reason}");
    Some(reason)
}

/// Of each row the checks that it does not meet.
fn unmet(rows: &[Value]) -> BTreeSet<(String, String, String)> {
    let mut unmet = BTreeSet::new();
    for row in rows {
        for check in row["checks"].as_array().unwrap().iter().filter(|check| check["ok"] == false) {
            let wanted = text(check, "wanted").split(' ').nth(1).unwrap_or_default().to_owned();
            unmet.insert((text(row, "exercise").to_owned(), text(check, "what").to_owned(), wanted));
        }
    }
    unmet
}

/// The files of all cheats.
fn cheats() -> Vec<PathBuf> {
    let files = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    files(Path::new(CHEATS)).into_iter().flat_map(|folder| files(&folder)).collect()
}

/// Writes a file of a student.
fn hand_in(class: &Path, student: &str, name: &str, text: &str) {
    fs::create_dir_all(class.join(student)).unwrap();
    fs::write(class.join(student).join(name), text).unwrap();
}

/// `gpulab exercise predict` with a state folder of its own, and this on standard input.
fn predict(data: &Path, args: &str, input: &str) -> (String, String, i32) {
    let mut command = gpulab(&[&["exercise", "predict"], &args.split(' ').collect::<Vec<_>>()[..]].concat());
    let output = command.env("GPULAB_DATA", data).write_stdin(input).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code().unwrap())
}

#[test]
fn a_bet_is_held_against_what_was_measured_and_kept() {
    let data = tempfile::tempdir().unwrap();
    let (out, said, code) = predict(data.path(), "reduce:1 -n 4096 --quick --bet 2.5", "");
    assert_eq!(code, 0, "{said}");
    for wanted in ["  your bet  2.50 times faster", "  measured  ", "  why       ", "score: "] {
        assert!(out.contains(wanted), "{wanted}: {out}");
    }
    // A noisy run does not decide the step, and then nothing is scored.
    let is_scored = |out: &str| out.contains(" within 1.5 times") != out.contains("not scored");
    assert!(is_scored(&out), "{out}");
    // The next step is that which was not bet on; what is no number is asked for again.
    let (out, said, code) = predict(data.path(), "reduce -n 4096 --quick", "many\n0.9x\n");
    assert!(code == 0 && out.contains("\"many\" is no factor") && out.contains("v3 sequential: "), "{out}{said}");
    assert!(out.contains("  your bet  1.11 times slower") && out.contains("score: "), "{out}");
    let kept: Value = serde_json::from_str(&fs::read_to_string(data.path().join("bets.json")).unwrap()).unwrap();
    assert_eq!(kept[1]["to"], "sequential");
    assert!(kept[1]["measured"].as_f64().unwrap() > 0.0);
    let (out, said, code) = predict(data.path(), "closure:textbook -n 64 --quick --bet 2", "");
    assert!(code == 0 && out.contains("closure: textbook to blocked"), "{out}{said}");
}

#[test]
fn what_is_no_bet_is_refused_before_anything_is_measured() {
    let data = tempfile::tempdir().unwrap();
    for (args, input, why) in [
        ("reduce:1", "", "no bet was given"),
        ("reduce:1", "x\n-1\n", "no bet was given"),
        ("reduce:1 --bet -2", "", "is no factor"),
        ("reduce:1 --bet two", "", "is no factor"),
        ("reduce:11 --bet 2", "", "v11 wide is the last"),
        ("reduce:1-3 --bet 2", "", "name one rung"),
        ("reduce:99 --bet 2", "", "99"),
        ("sort --bet 2", "", "sort"),
    ] {
        let (_, said, code) = predict(data.path(), args, input);
        assert!(code == 2 && said.contains(why), "{args}: {code}, {said}");
    }
    assert!(!data.path().join("bets.json").exists());
}

/// A class hands in starters, solutions and cheats of these exercises: starters do not pass, solutions do, and every check is
/// failed by a file. Gives the reason where there are no counts here.
fn is_graded_rightly(names: &[&str]) -> Option<String> {
    let class = tempfile::tempdir().unwrap();
    let exercises: Vec<Exercise> = names.iter().map(|name| exercise(name).unwrap().unwrap()).collect();
    for exercise in &exercises {
        for (student, text) in [("starter", exercise.starter()), ("solution", exercise.solution())] {
            // As some editors write it.
            let text = format!("\u{feff}{}", text.unwrap().replace('\n', "\r\n"));
            hand_in(class.path(), student, &exercise.file_name(), &text);
        }
    }
    let is_meant = |file: &PathBuf| exercises.iter().any(|exercise| file.ends_with(exercise.file_name()));
    let cheats: Vec<PathBuf> = cheats().into_iter().filter(is_meant).collect();
    for file in &cheats {
        let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        hand_in(class.path(), &name(file.parent().unwrap()), &name(file), &fs::read_to_string(file).unwrap());
    }
    let rows = graded(class.path());
    assert_eq!(rows.len(), 2 * names.len() + cheats.len());
    if let Some(reason) = uncounted(&rows) {
        return Some(reason.to_owned());
    }
    for row in &rows {
        let is_question = exercise(text(row, "exercise")).unwrap().unwrap().family.is_none();
        let wanted = match (text(row, "student"), is_question) {
            ("solution", _) => "passed",
            ("starter", true) => "wrong",
            ("starter", false) => "not-yet",
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
            let is_failed = unmet.iter().any(|(name, what, _)| name == exercise.name && what == label);
            assert!(is_failed, "no file fails {}: {label}", exercise.name);
        }
    }
    None
}

/// A cheat's row is as the first line of its file says.
fn is_rejected(row: &Value) {
    let file = PathBuf::from(text(row, "file"));
    let first = fs::read_to_string(&file).unwrap().lines().next().unwrap_or_default().to_owned();
    let fails = first.strip_prefix("// fails: ").unwrap_or_else(|| panic!("{file:?}")).trim();
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
            verdict != "not-yet" && text(row, "reason").contains(what) && unmet(std::slice::from_ref(row)).is_empty()
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
    if let Some(reason) = is_graded_rightly(&["strides", "reduce-4", "transpose-banks"]) {
        eprintln!("skipped: {reason}");
    }
}

/// A line for each file, for a spreadsheet; what is not yet right has the command that plays its fault, and that runs.
#[test]
fn grades_are_a_table_and_lead_to_the_moment_of_the_fault() {
    let class = tempfile::tempdir().unwrap();
    let strides = exercise("strides").unwrap().unwrap();
    hand_in(class.path(), "=ada", "strides.cl", &strides.starter().unwrap());
    hand_in(class.path(), "bob", "strides.cl", &strides.solution().unwrap());
    let (csv, said, code) =
        run(&["exercise", "check", "--all", class.path().to_str().unwrap(), "--csv", "-", "-q", "--seed", "7"]);
    assert_eq!(code, 0, "{said}");
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<GradeRow> = rows.deserialize().map(Result::unwrap).collect();
    let [ada, bob] = &rows[..] else { panic!("{csv}") };
    assert!(ada.student != "=ada" && ada.student.contains("=ada"), "no spreadsheet takes a name for a formula: {csv}");
    assert!(bob.verdict == ExerciseVerdict::Passed && bob.film.is_empty() && bob.checks_ok == bob.checks, "{csv}");
    assert!(ada.verdict == ExerciseVerdict::NotYet && ada.film.contains(" --line strides.cl:15 -o "), "{csv}");
    let film: Vec<&str> = ada.film.split(' ').skip(1).map(|w| if w == "strides.html" { "-" } else { w }).collect();
    let film: Vec<String> = film.into_iter().map(|word| word.trim_matches('\'').to_owned()).collect();
    let (page, said, code) = run(&film.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(code == 0 && page.contains("\"opens\":\"strides.cl:15\""), "{said}");
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
    let args = ["exercise", "check", "strides", file.to_str().unwrap(), "--deadline", "8", "--json", "-"];
    let (out, said, _) = run(&args);
    let row: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{said}"));
    assert_eq!(row["verdict"], "uncounted", "{row:#}");
    assert_eq!(row["hint"], "", "{row:#}");
    let reason = text(&row, "reason");
    assert!(reason.contains("took too long") || reason.contains(PACKAGES), "{reason}");
}

#[test]
fn a_student_starts_asks_for_hints_and_never_loses_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let said = |args: &[&str]| {
        let mut command = gpulab(args);
        let output = command.current_dir(folder.path()).env("GPULAB_DATA", &data).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        (text.into_owned(), output.status.code().unwrap())
    };
    assert!(said(&["exercise"]).0.contains("0 of 14 solved"));
    let (started, code) = said(&["exercise", "start", "overlap"]);
    assert!(code == 0 && started.contains("gpulab exercise check overlap"), "{started}");
    assert_eq!(said(&["exercise", "start", "overlap"]).1, 2, "a file that is there stays");
    let hints: Vec<String> = (0..4).map(|_| said(&["exercise", "show", "overlap", "--hint"]).0).collect();
    assert!(hints[0].starts_with("Hint 1 of 3") && hints[1].starts_with("Hint 2 of 3"), "{hints:?}");
    assert!(hints[2] == hints[3] && hints[3].contains("--solution"), "{hints:?}");
    assert!(said(&["exercise", "show", "overlap"]).0.contains("Hint 3 of 3"));
    let (wrong, code) = said(&["exercise", "check", "overlap"]);
    assert!(code == 4 && wrong.contains("More help"), "{wrong}");
    fs::write(folder.path().join("overlap.txt"), exercise("overlap").unwrap().unwrap().solution().unwrap()).unwrap();
    let (passed, code) = said(&["exercise", "check", "overlap"]);
    assert!(code == 0 && passed.contains("overlap: passed"), "{passed}");
    assert!(said(&["exercise", "list"]).0.contains("1 of 14 solved"));
}

#[test]
fn bad_input_is_answered_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(path("empty")).unwrap();
    fs::write(path("strides.cl"), "// gpulab: element 4\n__kernel void k(__global int *x) {}\n").unwrap();
    fs::write(path("binary.cl"), [0xff, 0xfe, 0]).unwrap();
    let cases: &[(&[&str], i32, &str)] = &[
        (&["show", "transpose-bank"], 2, "`transpose-banks`"),
        (&["show", "nothing"], 2, "bandwidth, strides"),
        (&["check"], 2, "NAME"),
        (&["check", "banks", "/nowhere/banks.cl"], 2, "gpulab exercise start banks"),
        (&["check", "strides", &path("strides.cl")], 2, "line 1"),
        (&["check", "strides", &path("binary.cl")], 2, "cannot read"),
        (&["check", "strides", &path("empty")], 2, "not a regular file"),
        (&["check", "--all", &path("empty")], 2, "holds no submissions"),
        (&["check", "--all", &path("missing")], 2, "cannot read the folder"),
        (&["check", "banks", "--all"], 2, "leave out banks"),
        (&["check", "banks", "--csv", "grades.csv"], 2, "--all"),
        (&["start", "banks", "-o", "/nowhere/x.cl"], 74, "/nowhere/x.cl"),
        (&["check", "overlap", &path("strides.cl"), "--json", "/nowhere/x"], 74, "/nowhere/x"),
    ];
    for (args, code, word) in cases {
        let (out, said, ended) = run(&[&["exercise"], *args].concat());
        assert_eq!(ended, *code, "{args:?}: {out}{said}");
        assert!(format!("{out}{said}").contains(word), "{args:?}: {out}{said}");
    }
}

#[cfg(unix)]
#[test]
fn without_a_folder_for_data_or_a_simulator_a_check_still_says_what_it_found() {
    let folder = tempfile::tempdir().unwrap();
    let sheet = folder.path().join("overlap.txt");
    fs::write(&sheet, exercise("overlap").unwrap().unwrap().solution().unwrap()).unwrap();
    let output = gpulab(&["exercise", "check", "overlap", sheet.to_str().unwrap()])
        .env("GPULAB_DATA", crate::binary::NOWHERE)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("your progress is not kept"), "{output:?}");
    let kernel = folder.path().join("strides.cl");
    fs::write(&kernel, exercise("strides").unwrap().unwrap().solution().unwrap()).unwrap();
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
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("right at n =") && said.contains("skipped") && said.contains("oclgrind"), "{said}");
}

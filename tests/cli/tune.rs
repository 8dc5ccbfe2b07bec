//! Tuning through the binary: what it remembers, who uses it, and what it survives.

use crate::sources::edited_kernels;
use assert_cmd::Command;
use gpulab::store::read_rows;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;

/// A folder for data of a test's own: what one test tunes is none of the others' business.
struct Data(TempDir);

impl Data {
    fn new() -> Data {
        Data(TempDir::new().unwrap())
    }

    fn command(&self, words: &str) -> Command {
        let words: Vec<&str> = words.split(' ').collect();
        let mut command = crate::binary::gpulab(&words);
        command.env("GPULAB_DATA", self.0.path());
        command
    }

    /// Standard output, standard error and exit code.
    fn run(&self, words: &str) -> (String, String, i32) {
        let output = self.command(words).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (
            text(output.stdout),
            text(output.stderr),
            output.status.code().unwrap(),
        )
    }

    /// Runs what has to succeed.
    fn ok(&self, words: &str) -> (String, String) {
        let (out, err, code) = self.run(words);
        assert_eq!(code, 0, "{words}: {err}");
        (out, err)
    }

    fn files(&self, ending: &str) -> Vec<PathBuf> {
        let below = fs::read_dir(self.0.path().join("tuned"))
            .map_or_else(|_| Vec::new(), |all| all.collect());
        let paths = below.into_iter().map(|entry| entry.unwrap().path());
        paths
            .filter(|path| path.to_str().unwrap().ends_with(ending))
            .collect()
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }
}

/// A search over two configurations of `dot` v3 at one size, of which one is clearly the faster: what is undecided is not remembered.
const TUNE: &str = "tune dot --variant 3 -n 5000 --wg 32,1024 --set items=1024 --set mad=0 --sample-time 0.01 --quick";

/// The ladder of that rung at sizes of one class.
const LADDER: &str = "dot --variant 3 --quick --csv - -n";

const USED: &str = "tuned settings for v3";

#[test]
fn a_ladder_uses_what_was_tuned_for_its_case_and_says_so() {
    let data = Data::new();
    let (before, err) = data.ok(&format!("{LADDER} 5000"));
    assert!(
        !err.contains("tuned") && before.contains(",256,items="),
        "{err}{before}"
    );
    let (out, err) = data.ok(TUNE);
    assert!(
        out.contains("best: v3 local, wg ") && out.contains("items=1024"),
        "{out}"
    );
    assert!(
        out.lines().count() <= 24 && out.lines().all(|line| line.chars().count() <= 80),
        "{out}"
    );
    let remembered = err
        .lines()
        .skip_while(|line| !line.starts_with("remembered"));
    assert!(
        remembered.clone().count() > 1 && remembered.clone().all(|line| line.chars().count() <= 80),
        "{err}"
    );
    let told = err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("remembered for dot local") && told.contains(", f32, 2^12 to 2^13 elements"),
        "{err}"
    );
    let (rows, err) = data.ok(&format!("{LADDER} 7000"));
    assert!(
        err.contains(USED) && rows.contains(",items=1024 "),
        "{err}{rows}"
    );
    assert!(rows.contains(",32,items="), "{rows}");
    for other in [
        "20000",
        "5000 --dtype f64",
        "5000 --wg 128",
        "5000 --items 2048",
        "5000 --no-tuned",
    ] {
        let (rows, err) = data.ok(&format!("{LADDER} {other}"));
        assert!(
            !err.contains("tuned settings") && !rows.contains("items=1024 "),
            "{other}: {err}{rows}"
        );
    }
}

#[test]
fn an_edited_kernel_has_settings_of_its_own() {
    let data = Data::new();
    data.ok(TUNE);
    let edited = edited_kernels("dot/local.cl", "// Idea:", "// An idea:");
    let ladder = format!("{LADDER} 5000 --cl-dir {}", edited.path().display());
    assert!(!data.ok(&ladder).1.contains(USED));
    data.ok(&format!("{TUNE} --cl-dir {}", edited.path().display()));
    assert!(
        data.ok(&ladder).1.contains(USED) && data.ok(&format!("{LADDER} 5000")).1.contains(USED)
    );
    let listed = data.ok("tune --list").0;
    assert_eq!(
        (
            listed.matches("v3 local").count(),
            listed.matches("of other kernel sources").count()
        ),
        (2, 1),
        "{listed}"
    );
}

#[test]
fn a_damaged_file_is_put_aside_and_nothing_else_is_lost() {
    let data = Data::new();
    data.ok(TUNE);
    let file = &data.files(".json")[0];
    let text = fs::read_to_string(file).unwrap();
    for bad in [
        &text[..text.len() / 2],
        "",
        &text.replacen("\"t_median_s\": ", "\"t_median_s\": -", 1),
    ] {
        fs::write(file, bad).unwrap();
        let (_, err) = data.ok(&format!("{LADDER} 5000"));
        assert!(
            err.contains("cannot read the tuned settings") && err.contains(".bad"),
            "{err}"
        );
        assert_eq!(
            fs::read_to_string(&data.files(".json.bad")[0]).unwrap(),
            bad
        );
        assert!(
            !data
                .ok(&format!("{LADDER} 5000"))
                .1
                .contains("tuned settings")
        );
        data.ok(TUNE);
        assert!(data.ok(&format!("{LADDER} 5000")).1.contains(USED));
    }
}

#[test]
fn two_at_once_both_finish_and_both_are_kept() {
    let data = Data::new();
    std::thread::scope(|scope| {
        for rung in ["3", "3", "4"] {
            let words = TUNE.replace("--variant 3", &format!("--variant {rung}"));
            let data = &data;
            scope.spawn(move || data.ok(&words));
        }
    });
    let listed = data.ok("tune --list").0;
    assert!(
        listed.contains("dot v3 local") && listed.contains("dot v4 vectorised"),
        "{listed}"
    );
    assert_eq!(listed.lines().count(), 3, "{listed}");
}

#[test]
fn an_interrupted_search_remembers_nothing() {
    let data = Data::new();
    let csv = data.path("rows.csv");
    // Far more configurations than it measures before it is interrupted, on a busy machine too.
    let words = "tune dot --variant 5 -n 5000 --strategy exhaustive --sample-time 0.01 --quick --budget 300 -o";
    let words = format!("{words} {csv}");
    let mut command = std::process::Command::new(data.command(&words).get_program());
    command
        .args(words.split(' '))
        .env("GPULAB_DATA", data.0.path())
        .env_remove("GPULAB_DEVICE");
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let rows = || fs::read_to_string(&csv).map_or(0, |text| text.lines().count());
    while rows() < 4 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    rustix::process::kill_process(
        rustix::process::Pid::from_child(&child),
        rustix::process::Signal::INT,
    )
    .unwrap();
    let ended = child.wait_with_output().unwrap();
    let (out, err) = (
        String::from_utf8(ended.stdout).unwrap(),
        String::from_utf8(ended.stderr).unwrap(),
    );
    assert_eq!(ended.status.code(), Some(130), "{err}");
    assert!(out.contains("it was interrupted"), "{out}{err}");
    assert!(data.run("tune --list").2 == 1, "nothing is remembered yet");
}

#[test]
fn rows_go_to_a_file_that_can_be_shown() {
    let data = Data::new();
    let csv = data.path("rows.csv");
    let search = format!(
        "{} --strategy exhaustive -o {csv}",
        TUNE.replace(" --set mad=0", "")
    );
    let json = data.path("rows.json");
    data.ok(&format!("{search} --json {json}"));
    let of_json: Vec<gpulab::record::Row> =
        serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(of_json.len(), 4, "the last row of each configuration");
    let rows = read_rows(Path::new(&csv)).unwrap().rows;
    let found: std::collections::BTreeSet<u64> =
        rows.iter().map(|row| row.case_index.unwrap()).collect();
    assert!(
        rows.len() >= 8 && found.len() == 4,
        "four configurations, and again in the last rounds"
    );
    assert!(data.ok(&format!("{search} -q")).1.is_empty());
    let (shown, _) = data.ok(&format!("show {csv}"));
    assert!(shown.contains("4 configurations: 4 ok"), "{shown}");
}

#[test]
fn entries_are_forgotten() {
    let data = Data::new();
    data.ok(TUNE);
    data.ok(&TUNE
        .replace("dot --variant 3", "reduce --variant 7")
        .replace(" --set mad=0", ""));
    assert_eq!(data.ok("tune dot --forget").0, "entries forgotten: 1\n");
    assert!(
        !data
            .ok(&format!("{LADDER} 5000"))
            .1
            .contains("tuned settings")
    );
    assert!(data.ok("tune --list").0.contains("reduce v7 raking"));
    assert_eq!(data.ok("tune --forget").0, "entries forgotten: 1\n");
    assert_eq!(data.run("tune --list").2, 1);
}

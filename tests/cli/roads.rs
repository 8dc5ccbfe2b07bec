//! The roads from the sources' slides to commands: what they print, and that each command runs on the default device.

use crate::binary::is_whole;
use gpulab::report::sources::{self, CitedSource};
use std::collections::BTreeSet;

/// Least measuring, as only the end of a command counts here.
const SHORT: [&str; 7] = ["--quick", "--warmup", "0", "--min-runs", "1", "--max-runs", "1"];

/// A command's arguments, over few elements: its own size is a GPU's.
fn small(command: &str) -> Vec<String> {
    let mut words: Vec<String> = command.split(' ').skip(1).map(str::to_owned).collect();
    let size = if ["minplus", "transpose"].contains(&words[0].as_str()) { "96" } else { "4096" };
    if let Some(at) = words.iter().position(|word| word == "--n") {
        words[at + 1] = size.to_owned();
    }
    // Cold caches take copies of more than the last of them holds.
    words.iter_mut().filter(|word| *word == "cold").for_each(|word| "warm".clone_into(word));
    let options = match words[0].as_str() {
        "occupancy" => &[],
        "ceiling" => &SHORT[..1],
        _ if words.contains(&"--input".to_owned()) => &[],
        _ => &SHORT[..],
    };
    words.extend(options.iter().map(|&word| word.to_owned()));
    words
}

/// Runs what this source is the first to name: every third command, unless all are to be tried.
fn run_road(name: &str) {
    let all = sources::all();
    let place = all.iter().position(|source| source.name() == name).unwrap();
    // `gpulab lab NAME` and nothing more is what `every_experiment_answers_on_the_default_device` runs.
    let is_plain_lab = |command: &str| command.starts_with("gpulab lab ") && command.split(' ').count() == 3;
    let commands = |sources: &[CitedSource]| -> BTreeSet<Vec<String>> {
        let steps = sources.iter().flat_map(|source| &source.steps);
        steps.filter(|step| !is_plain_lab(step.command)).map(|step| small(step.command)).collect()
    };
    let before = commands(&all[..place]);
    let own = commands(&all[place..=place]);
    for words in own.difference(&before).step_by(if is_whole() { 1 } else { 3 }) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (out, log, code) = crate::binary::run(&words);
        assert_eq!(code, 0, "gpulab {}\n{out}{log}", words.join(" "));
        assert!(!out.is_empty(), "gpulab {}\n{log}", words.join(" "));
    }
}

#[test]
fn bornhofens_road_runs() {
    run_road("bornhofen");
}

#[test]
fn the_chapters_road_runs() {
    run_road("ppc");
}

#[test]
fn cmsofts_road_runs() {
    run_road("cmsoft");
}

#[test]
fn nvidias_road_runs() {
    run_road("nvidia");
}

#[test]
fn maruyamas_road_runs() {
    run_road("maruyama");
}

#[test]
fn a_road_is_printed_step_by_step() {
    for source in sources::all() {
        let (out, log, code) = crate::binary::run(&["list", "--source", &source.name()]);
        assert_eq!((code, log.as_str()), (0, ""));
        for step in &source.steps {
            assert!(out.contains(&format!("\n  {}\n", step.command)), "{step:?}\n{out}");
        }
    }
    let (_, log, code) = crate::binary::run(&["list", "--source", "nobody"]);
    assert_eq!(code, 2);
    assert!(log.contains("there is no source \"nobody\"; there is bornhofen, ppc, cmsoft, nvidia, maruyama"), "{log}");
    assert!(crate::binary::run(&["list"]).0.contains("  maruyama   Maruyama: lecture on parallel reduction"));
}

/// The chapter's own figures, and this device's in the same units, where its clock is known.
#[test]
fn the_chapters_units_are_told_on_request() {
    let args = ["minplus", "--n", "64", "--variant", "2", "--quick"];
    let (plain, log, code) = crate::binary::run(&args);
    assert_eq!((code, plain.contains("374 a clock")), (0, false), "{plain}{log}");
    let (told, log, code) = crate::binary::run(&[&args[..], &["-v"]].concat());
    assert_eq!(code, 0, "{log}");
    // Beside the table's other columns, for which it may have no room.
    let clock_is_known = told.contains("/CU/clk");
    assert_eq!(told.contains("374 a clock") && told.contains("v2 registers "), clock_is_known, "{told}");
}

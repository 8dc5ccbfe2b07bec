//! The roads from the sources' slides to commands: what they print, and that each command runs on the default device.

use crate::binary::one_in;
use gpulab::report::sources::{self, CitedSource};
use std::collections::BTreeSet;

/// Least measuring, as only the end of a command counts here.
const SHORT: [&str; 7] = ["--quick", "--warmup", "0", "--min-runs", "1", "--max-runs", "1"];

/// A command's arguments, over few elements: its own size is a GPU's.
fn small(command: &str) -> Vec<String> {
    let mut words: Vec<String> = command.split(' ').skip(1).map(str::to_owned).collect();
    let is_matrix = |word: &String| ["minplus", "transpose", "ppc"].contains(&word.as_str());
    let size = if words.iter().any(is_matrix) { "96" } else { "4096" };
    if let Some(at) = words.iter().position(|word| word == "--n" || word == "-n") {
        words[at + 1] = size.to_owned();
    }
    // Cold caches take copies of more than the last of them holds.
    words.iter_mut().filter(|word| *word == "cold").for_each(|word| "warm".clone_into(word));
    let options = match words[0].as_str() {
        "devices" | "explain" | "list" => &[],
        "ceiling" | "tune" => &SHORT[..1],
        _ if words.contains(&"--input".to_owned()) => &[],
        _ => &SHORT[..],
    };
    let is_quick = words.contains(&"--quick".to_owned());
    words.extend(options.iter().filter(|&&word| !is_quick || word != "--quick").map(|&word| word.to_owned()));
    words
}

/// Runs what this source is the first to name: every twentieth command, unless all are to be tried.
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
    for words in own.difference(&before).step_by(one_in(20)) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (out, log, code) = crate::binary::run(&words);
        assert_eq!(code, 0, "gpulab {}\n{out}{log}", words.join(" "));
        assert!(!out.is_empty(), "gpulab {}\n{log}", words.join(" "));
    }
}

#[test]
#[ignore = "long"]
fn bornhofens_road_runs() {
    run_road("bornhofen");
}

#[test]
#[ignore = "long"]
fn the_chapters_road_runs() {
    run_road("ppc");
}

#[test]
#[ignore = "long"]
fn cmsofts_road_runs() {
    run_road("cmsoft");
}

#[test]
fn nvidias_road_runs() {
    run_road("nvidia");
}

#[test]
#[ignore = "long"]
fn maruyamas_road_runs() {
    run_road("maruyama");
}

/// What needs no device but the simulator: every twentieth, unless all are to be tried.
#[test]
#[ignore = "long"]
fn roads_without_a_gpu_run() {
    let all = sources::all();
    let commands: BTreeSet<&str> = all.iter().flat_map(|s| &s.steps).filter_map(|step| step.unmeasured).collect();
    assert!(commands.len() > 100, "{commands:?}");
    for command in commands.into_iter().step_by(one_in(20)) {
        // A film goes to standard output in place of a file.
        let words: Vec<&str> =
            command.split(' ').skip(1).map(|word| if word.ends_with(".html") { "-" } else { word }).collect();
        let (out, log, code) = crate::binary::run(&words);
        assert!(code == 0 && !out.is_empty(), "{command}\n{out}{log}");
    }
}

#[test]
fn a_road_is_printed_step_by_step() {
    for source in sources::all() {
        let (out, log, code) = crate::binary::run(&["list", "--source", &source.name()]);
        assert_eq!((code, log.as_str()), (0, ""));
        for command in source.steps.iter().flat_map(|step| [Some(step.command), step.unmeasured]).flatten() {
            assert!(out.contains(&format!("\n  {command}\n")), "{command}\n{out}");
        }
    }
    let (_, log, code) = crate::binary::run(&["list", "--source", "nobody"]);
    assert_eq!(code, 2);
    assert!(log.contains("there is no source \"nobody\"; there is bornhofen, ppc, cmsoft, nvidia, maruyama"), "{log}");
    assert!(crate::binary::run(&["list"]).0.contains("  maruyama   Maruyama: lecture on parallel reduction"));
}

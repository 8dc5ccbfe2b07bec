//! The roads from the sources' slides to commands: what they print, and that each command runs on the default device.

use crate::binary::gpulab;
use gpulab::kernels::{brought, brought_input};
use gpulab::report::sources;
use std::collections::BTreeSet;

/// Least measuring, as only the end of a command counts here.
const SHORT: [&str; 7] = [
    "--quick",
    "--warmup",
    "0",
    "--min-runs",
    "1",
    "--max-runs",
    "1",
];

/// A command's arguments, over few elements: its own size is a GPU's.
fn small(command: &str) -> Vec<String> {
    let mut words: Vec<String> = command.split(' ').skip(1).map(str::to_owned).collect();
    let is_matrix = |word: &String| ["minplus", "transpose", "ppc"].contains(&word.as_str());
    let size = if words.iter().any(is_matrix) {
        "96"
    } else {
        "4096"
    };
    if let Some(at) = words.iter().position(|word| word == "--n" || word == "-n") {
        words[at + 1] = size.to_owned();
    }
    // Cold caches take copies of more than the last of them holds.
    words
        .iter_mut()
        .filter(|word| *word == "cold")
        .for_each(|word| "warm".clone_into(word));
    let options = match words[0].as_str() {
        "devices" | "explain" | "list" => &[],
        "ceiling" | "tune" => &SHORT[..1],
        _ if words.contains(&"--input".to_owned()) => &[],
        _ => &SHORT[..],
    };
    let is_quick = words.contains(&"--quick".to_owned());
    words.extend(
        options
            .iter()
            .filter(|&&word| !is_quick || word != "--quick")
            .map(|&word| word.to_owned()),
    );
    words
}

/// Of each source the first command that is no experiment, and the last one that needs no device but the simulator.
#[test]
fn commands_of_every_road_run() {
    for source in sources::all() {
        let steps = || source.steps.iter();
        let measured = steps()
            .map(|step| step.command)
            .find(|command| !command.starts_with("gpulab lab "))
            .unwrap();
        // A film goes to standard output in place of a file.
        let counted = steps()
            .filter_map(|step| step.unmeasured)
            .next_back()
            .unwrap()
            .split(' ')
            .skip(1);
        let counted = counted
            .map(|word| if word.ends_with(".html") { "-" } else { word }.to_owned())
            .collect();
        for words in [small(measured), counted] {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let (out, log, code) = crate::binary::run(&words);
            assert!(
                code == 0 && !out.is_empty(),
                "gpulab {}
{out}{log}",
                words.join(" ")
            );
        }
    }
}

/// With the binary alone; the other commands of these pages name no files.
#[test]
fn commands_that_name_files_run_in_an_empty_folder() {
    let pages = concat!(
        include_str!("../../docs/sources.md"),
        include_str!("../../docs/teaching.md")
    );
    let is_named = |command: &&str| {
        let is_file = |word: &str| {
            word.contains("data/") || brought(word).is_some() || brought_input(word).is_some()
        };
        let is_command = command.starts_with("gpulab ") && !command.contains("--source");
        is_command && command.split([' ', ':']).any(is_file)
    };
    let named: BTreeSet<&str> = pages.split('`').filter(is_named).collect();
    assert!(named.len() > 25, "{named:?}");
    for command in named {
        let folder = tempfile::tempdir().unwrap();
        let quick = command.contains(" try ").then_some("--quick");
        let words: Vec<&str> = command.split(' ').skip(1).chain(quick).collect();
        let output = gpulab(&words).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
    }
}

#[test]
fn a_road_is_printed_step_by_step() {
    for source in sources::all() {
        let (out, log, code) = crate::binary::run(&["list", "--source", &source.name()]);
        assert_eq!((code, log.as_str()), (0, ""));
        for command in source
            .steps
            .iter()
            .flat_map(|step| [Some(step.command), step.unmeasured])
            .flatten()
        {
            assert!(
                out.contains(&format!("\n  {command}\n")),
                "{command}\n{out}"
            );
        }
    }
    let (_, log, code) = crate::binary::run(&["list", "--source", "nobody"]);
    assert_eq!(code, 2);
    assert!(
        log.contains(
            "there is no source \"nobody\"; there is bornhofen, ppc, cmsoft, nvidia, maruyama"
        ),
        "{log}"
    );
    assert!(
        crate::binary::run(&["list"])
            .0
            .contains("  maruyama   Maruyama: lecture on parallel reduction")
    );
}

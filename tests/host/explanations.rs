//! Every rung and every experiment is explained: each part is there, each command that an explanation names is one, and no
//! explanation states a measured figure.

use clap::Parser;
use gpulab::cli::{Cli, Command};
use gpulab::experiments::{EXPERIMENTS, experiment};
use gpulab::kernels::{self, FAMILIES, Family, Rung};
use gpulab::values::variants;

/// The parts of a rung's explanation, and the fewest letters that say anything.
const PARTS: [(&str, usize); 7] = [
    ("Idea", 20),
    ("Removes", 10),
    ("Remains", 10),
    ("Expect", 40),
    ("But", 20),
    ("Proof", 10),
    ("CUDA", 20),
];

fn rungs() -> impl Iterator<Item = (&'static Family, &'static Rung)> {
    FAMILIES
        .iter()
        .flat_map(|family| family.kernels().map(move |rung| (*family, rung)))
}

/// The parts of an experiment's explanation.
fn told(experiment: &gpulab::experiments::Experiment) -> [(&'static str, &'static str); 5] {
    let about = experiment;
    let all = [
        about.idea,
        about.expect,
        about.but,
        about.cuda,
        experiment.question,
    ];
    let [idea, expect, but, cuda, question] = all;
    [
        ("idea", idea),
        ("expect", expect),
        ("but", but),
        ("cuda", cuda),
        ("question", question),
    ]
}

#[test]
fn every_rung_has_each_part_once() {
    for (_, rung) in rungs() {
        let (header, _) = kernels::split_header(rung.text().unwrap());
        let mut last = 0;
        for (label, least) in PARTS {
            let said = rung
                .header(label)
                .unwrap_or_else(|| panic!("{} has no {label}", rung.path));
            assert!(said.len() >= least, "{}: {label}: {said}", rung.path);
            assert!(
                label == "Proof" || said.ends_with('.'),
                "{}: {label} is no sentence: {said}",
                rung.path
            );
            let line = format!("\n// {label}:");
            assert_eq!(header.matches(&line).count(), 1, "{}: {label}", rung.path);
            let place = header.find(&line).unwrap();
            assert!(
                place > last || label == "Idea",
                "{}: {label} is out of order",
                rung.path
            );
            last = place;
        }
    }
}

#[test]
fn every_experiment_has_each_part() {
    for experiment in EXPERIMENTS {
        for (label, said) in told(experiment) {
            assert!(
                said.len() >= 20 && said.ends_with(['.', '?']),
                "{}: {label}: {said}",
                experiment.name
            );
            assert!(
                !said.contains('\n') && !said.contains("  "),
                "{}: {label}: {said}",
                experiment.name
            );
        }
    }
}

/// Whether a command climbs a ladder over this rung.
fn runs(command: &Command, family: &Family, rung: &Rung) -> bool {
    let (name, ladder) = match command {
        Command::Reduce(options) => ("reduce", &options.ladder),
        Command::Dot(options) => ("dot", &options.ladder),
        Command::Transpose(options) => ("transpose", &options.ladder),
        Command::Minplus(options) => ("minplus", &options.ladder),
        _ => return false,
    };
    let family = FAMILIES
        .iter()
        .find(|known| known.name == name && name == family.name);
    let chosen = family
        .zip(ladder.variant.as_deref())
        .map(|(family, list)| variants(family, list).unwrap());
    chosen.is_some_and(|chosen| chosen.iter().any(|known| known.path == rung.path))
}

#[test]
fn every_proof_is_of_commands_that_exist_and_one_runs_the_rung() {
    for (family, rung) in rungs() {
        let proof = rung.proof();
        let mut is_run = false;
        for line in &proof {
            let parsed = Cli::try_parse_from(line.split(' '))
                .unwrap_or_else(|e| panic!("{}: {line}: {e}", rung.path));
            let command = parsed.command.unwrap();
            if let Command::Lab(lab) = &command {
                assert!(
                    lab.name.as_deref().and_then(experiment).is_some(),
                    "{}: {line}",
                    rung.path
                );
            }
            is_run |= runs(&command, family, rung);
        }
        assert!(
            is_run,
            "{}: no command of its proof runs it: {proof:?}",
            rung.path
        );
        let unlike: std::collections::BTreeSet<&String> = proof.iter().collect();
        assert_eq!(unlike.len(), proof.len(), "{}: {proof:?}", rung.path);
    }
}

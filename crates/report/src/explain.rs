//! Ladders, rungs and experiments explained, in the words that stand in the kernel's header or with the experiment.

use crate::moment::FilmLine;
use crate::wrap::{hung, wrapped};
use gpulab_kernels::{self as kernels, Family, Rung, ladders};
use gpulab_study::experiments::Experiment;

/// A rung as people name it in a command: by its number, if it has one.
pub fn short_name(family: &Family, rung: &Rung) -> String {
    match rung.number() {
        Some(number) => format!("{}:{number}", family.name),
        None => format!("{}:{}", family.name, rung.variant()),
    }
}

/// The rungs of all ladders, as in `reduce:1`.
pub fn all_rungs() -> impl Iterator<Item = String> {
    ladders().flat_map(|family| family.kernels().map(|rung| short_name(family, rung)))
}

/// The labels of a kernel's header that are sentences.
const SENTENCES: [&str; 5] = ["Idea", "Removes", "Remains", "Expect", "But"];

/// What a family is about, and a paragraph for each of its rungs.
pub fn story(family: &Family, width: usize) -> String {
    let mut text = wrapped(&family.about, &format!("{}: ", family.name), "  ", width);
    for rung in family.kernels() {
        text.push('\n');
        text += &wrapped(
            &paragraph(rung),
            &format!("{}: ", rung.label()),
            "  ",
            width,
        );
    }
    let example = family
        .ladder
        .first()
        .map_or_else(String::new, |rung| short_name(family, rung));
    let more = format!("What to expect of a rung and what proves it: gpulab explain {example}");
    format!("{text}\n{}", wrapped(&more, "", "  ", width))
}

/// What a rung is, does, removes and leaves.
fn paragraph(rung: &Rung) -> String {
    let title = rung.text().and_then(kernels::title).unwrap_or_default();
    let [idea, removes, remains] =
        ["Idea", "Removes", "Remains"].map(|label| rung.header(label).unwrap_or_default());
    format!(
        "{title} {} It removes {removes} What remains: {remains}",
        capital(&idea)
    )
}

/// A sentence with a capital at its begin; one that begins with a name of code stays as it is.
fn capital(sentence: &str) -> String {
    let first = sentence.split(' ').next().unwrap_or_default();
    let mut letters = sentence.chars();
    match letters.next() {
        Some(letter)
            if first
                .trim_end_matches(',')
                .chars()
                .all(|c| c.is_alphabetic() || c == '-') =>
        {
            letter.to_uppercase().chain(letters).collect()
        }
        _ => sentence.to_owned(),
    }
}

/// All that a kernel's header says, and where to go on.
pub fn kernel(family: &Family, rung: &Rung, width: usize) -> String {
    let title = rung.text().and_then(kernels::title).unwrap_or_default();
    let mut text = wrapped(
        title,
        &format!("{} {}: ", family.name, rung.label()),
        "  ",
        width,
    );
    for label in SENTENCES {
        text += &part(label, &rung.header(label).unwrap_or_default(), width);
    }
    text += &commands("Proof", &rung.proof());
    text += &commands("See", &seen(family, rung));
    text += &part("CUDA", &rung.header("CUDA").unwrap_or_default(), width);
    text + &commands("Source", &sources(family, rung))
}

/// The rung before one of a ladder, by its name in commands.
fn before(family: &Family, rung: &Rung) -> Option<String> {
    let is_listed = ladders().any(|known| known.name == family.name);
    let before = family.before(rung).filter(|_| is_listed)?;
    Some(short_name(family, before))
}

/// The commands that show what a rung of a ladder does.
fn seen(family: &Family, rung: &Rung) -> Vec<String> {
    let name = short_name(family, rung);
    let is_listed = rung.number().is_some() && ladders().any(|known| known.name == family.name);
    if !is_listed {
        return Vec::new();
    }
    let bet = before(family, rung).map(|_| format!("gpulab exercise predict {name} --on h200"));
    let drawn = [
        format!("gpulab draw {name}"),
        FilmLine::Worst.command(&name),
    ];
    drawn.into_iter().chain(bet).collect()
}

/// The commands that show a rung's source, and what changed since the rung before it.
fn sources(family: &Family, rung: &Rung) -> Vec<String> {
    let name = short_name(family, rung);
    let diff = before(family, rung).map(|before| format!("gpulab source {before} {name}"));
    [format!("gpulab source {name}")]
        .into_iter()
        .chain(diff)
        .collect()
}

/// What an experiment asks, how, and what to make of its answer.
pub fn study(experiment: &'static Experiment, width: usize) -> String {
    let Experiment {
        name,
        question,
        x_name,
        idea,
        expect,
        but,
        cuda,
        ..
    } = experiment;
    let mut text = wrapped(question, &format!("{name}: "), "  ", width);
    for (label, said) in [
        ("Idea", *idea),
        ("Varies", *x_name),
        ("Expect", *expect),
        ("But", *but),
    ] {
        text += &part(label, said, width);
    }
    text += &commands(
        "Run",
        &[
            format!("gpulab lab {name} --quick"),
            format!("gpulab lab {name}"),
        ],
    );
    text += &part("CUDA", cuda, width);
    text += &part("Rungs", &rungs_of(name).join(", "), width);
    let sources = experiment.sources();
    if sources.is_empty() {
        text
    } else {
        text + &commands("Source", &[format!("gpulab source {name}")])
    }
}

/// The rungs whose proof an experiment is.
fn rungs_of(name: &str) -> Vec<String> {
    let proof = format!("gpulab lab {name}");
    let all = ladders().flat_map(|family| family.kernels().map(move |rung| (family, rung)));
    all.filter(|(_, rung)| rung.proof().contains(&proof))
        .map(|(family, rung)| short_name(family, rung))
        .collect()
}

fn part(label: &str, said: &str, width: usize) -> String {
    hung(said, &format!("  {:<9}", format!("{label}:")), width)
}

/// Labelled commands, one a line: a command is never broken.
fn commands(label: &str, lines: &[String]) -> String {
    let label = format!("{label}:");
    let lines = lines.iter().enumerate();
    lines
        .map(|(at, line)| format!("  {:<9}{line}\n", if at == 0 { label.as_str() } else { "" }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_study::experiments::{EXPERIMENTS, experiment};

    fn rung(family: &str, variant: &str) -> (&'static Family, &'static Rung) {
        let family = kernels::built_in(family).unwrap();
        (family, family.rung(variant).unwrap())
    }

    #[test]
    fn every_explanation_fits_its_screen() {
        let stories = ladders().map(|family| story(family, 80));
        let rungs =
            ladders().flat_map(|family| family.kernels().map(|rung| kernel(family, rung, 80)));
        let studies = EXPERIMENTS.iter().map(|experiment| study(experiment, 80));
        for text in stories.chain(rungs).chain(studies) {
            assert!(
                text.lines()
                    .all(|line| line.chars().count() <= 80 && line.trim_end() == line),
                "{text}"
            );
        }
    }

    #[test]
    fn a_story_has_a_paragraph_for_each_rung() {
        let (family, _) = rung("reduce", "sequential");
        let text = story(family, usize::MAX);
        let paragraph = text.split("\n\n").nth(3).unwrap();
        assert!(paragraph.starts_with(
            "v3 sequential: a tree that folds the upper half onto the lower half. Each step"
        ));
        assert!(
            paragraph.contains(". It removes the bank conflicts: ")
                && paragraph.contains(" What remains: half")
        );
        assert_eq!(text.split("\n\n").count(), family.kernels().count() + 2);
    }

    #[test]
    fn a_rung_is_told_with_its_proof_and_its_source() {
        let (family, sequential) = rung("reduce", "sequential");
        let text = kernel(family, sequential, 80);
        let lines = |label: &str| {
            text.lines()
                .any(|line| line.starts_with(&format!("  {label}:")))
        };
        assert!(
            [
                "Idea", "Removes", "Remains", "Expect", "But", "Proof", "CUDA", "Source"
            ]
            .iter()
            .all(|l| lines(l))
        );
        assert!(
            text.contains(
                "\n  Proof:   gpulab lab banks\n           gpulab count reduce --variant strided,sequential\n"
            ),
            "{text}"
        );
        assert!(
            text.ends_with(
                "\n  Source:  gpulab source reduce:3\n           gpulab source reduce:2 reduce:3\n"
            ),
            "{text}"
        );
        let (family, first) = rung("minplus", "naive");
        assert!(kernel(family, first, 80).ends_with("\n  Source:  gpulab source minplus:0\n"));
    }

    #[test]
    fn an_experiment_names_the_rungs_that_rest_on_it() {
        let text = study(experiment("banks").unwrap(), 80);
        assert!(
            text.contains("\n  Run:     gpulab lab banks --quick\n           gpulab lab banks\n"),
            "{text}"
        );
        assert!(
            text.contains("reduce:2, reduce:3,") && text.contains("transpose:3"),
            "{text}"
        );
        assert!(!study(experiment("transfer").unwrap(), 80).contains("Source:"));
    }
}

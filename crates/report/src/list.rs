//! What there is to run: families with their rungs and tunables, experiments, and the sources' roads.

use crate::markdown::{parts, title};
use crate::prelude::*;
use crate::sources;
use gpulab_kernels::{Family, Kind, Rung, Tunable, ladders};
use gpulab_study::experiments::{EXPERIMENTS, Experiment};
use std::fmt::Write as _;

/// A family's rungs and their ideas; with `whole` also what each removes and what remains.
pub fn rung_table(family: &Family, whole: bool) -> String {
    let labels = if whole { &["Idea", "Removes", "Remains"][..] } else { &["Idea"] };
    let names = TextGrid::of(family.kernels()).texts("rung", |rung: &Rung| {
        rung.number().map_or_else(String::new, |number| format!("v{number} ")) + rung.variant()
    });
    let table = labels
        .iter()
        .fold(names, |table, label| table.texts(label.to_lowercase(), |rung| rung.header(label).unwrap_or_default()));
    parts(&[title(&heading(family)), table.grid().markdown()])
}

/// Experiments and their questions.
pub fn question_table(experiments: &[&Experiment]) -> String {
    let names = TextGrid::of(experiments.iter().copied()).texts("experiment", |experiment| experiment.name.to_owned());
    names.texts("asks", |experiment| experiment.question.to_owned()).grid().markdown()
}

/// All families, experiments and roads; with `verbose` all that is said of each rung.
pub fn everything(width: usize, verbose: bool) -> String {
    let families: String = ladders()
        .map(|family: &Family| if verbose { details(family, width) + "\n" } else { overview(family, width) })
        .collect();
    let questions = experiments("  ", width);
    let roads = sources::overview("  ", width);
    format!("{families}experiments: gpulab lab NAME\n{questions}sources: gpulab list --source NAME\n{roads}")
}

/// An indented line for each experiment, or several where the question is longer.
pub fn experiments(indent: &str, width: usize) -> String {
    let name_width = EXPERIMENTS.iter().map(|e| e.name.len()).max().unwrap_or(0);
    EXPERIMENTS
        .iter()
        .map(|e: &&Experiment| hung(e.question, &format!("{indent}{:<name_width$} ", e.name), width))
        .collect()
}

/// An experiment: its question, what it varies, and how it is run.
pub fn one_experiment(experiment: &Experiment, width: usize) -> String {
    let Experiment { name, question, x_name, .. } = experiment;
    let about = format!("What it varies: {x_name}. Every point is checked, and a finding follows from the points.");
    let run = format!("Run it with `gpulab lab {name}`, or in less time with `gpulab lab {name} --quick`.");
    let first = wrapped(question, &format!("{name}: "), "  ", width);
    first + &wrapped(&about, "  ", "  ", width) + &wrapped(&run, "  ", "  ", width)
}

fn heading(family: &Family) -> String {
    let dtypes: Vec<&str> = family.dtypes.iter().map(|d| d.name()).collect();
    format!("{}: {} ({})\n", family.name, family.about, dtypes.join(", "))
}

fn overview(family: &Family, width: usize) -> String {
    heading(family)
        + &family
            .kernels()
            .map(|rung: &Rung| {
                let first = format!("  {:>2} {:<14} ", number(rung), rung.variant());
                hung(&rung.header("Idea").unwrap_or_default(), &first, width)
            })
            .collect::<String>()
}

fn number(rung: &Rung) -> String {
    rung.number().map_or_else(|| "-".to_owned(), |number| number.to_string())
}

/// A family: what each rung does, its tunables, and its baselines on the CPU.
pub fn details(family: &Family, width: usize) -> String {
    let mut text = heading(family);
    for rung in family.kernels() {
        let _ = writeln!(text, "\n  {} {} (cl/{})", number(rung), rung.variant(), rung.path);
        let names: Vec<&str> = rung.tunables().map(|t| t.name).collect();
        let tunables = names.join(", ");
        let header = ["Idea", "Removes", "Remains"].map(|label| (label, rung.header(label).unwrap_or_default()));
        for (label, about) in header.into_iter().chain([("Tunables", tunables)]) {
            text += &hung(&about, &format!("     {label:<8} "), width);
        }
    }
    let head = format!("Tunables, with the values that are worth a try, as in gpulab sweep {} --set", family.name);
    text.push('\n');
    text += &wrapped(&format!("{head} {}", first_setting(family)), "  ", "  ", width);
    for tunable in family.tunables() {
        let about = format!("{} [{}]", tunable.about, tunable.values.replace(' ', ", "));
        text += &hung(&about, &format!("     {:<8} ", tunable.name), width);
    }
    let baselines = family.problem.baselines();
    if !baselines.is_empty() {
        text.push_str("\n  On the CPU, without OpenCL, for comparison\n");
    }
    for baseline in baselines {
        text += &hung(baseline.about, &format!("     {:<14} ", baseline.name), width);
    }
    text
}

/// `items=1024,4096`: the first number that has several values.
fn first_setting(family: &Family) -> String {
    let tunables = family.tunables();
    let is_number =
        |tunable: &&Tunable<'_>| matches!(tunable.kind, Kind::Number { .. }) && tunable.values().nth(1).is_some();
    let first = tunables.iter().find(is_number);
    first.map_or_else(
        || "NAME=VALUE".to_owned(),
        |tunable| format!("{}={}", tunable.name, tunable.values.replace(' ', ",")),
    )
}

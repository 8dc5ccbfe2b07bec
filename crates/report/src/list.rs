//! What there is to run: families with their rungs and tunables, experiments, and the sources' roads.

use crate::wrap::{hung, wrapped};
use crate::{format, sources};
use gpulab_kernels::{Family, Rung, brought_families, ladders};
use gpulab_model::Joined;
use gpulab_study::experiments::{EXPERIMENTS, Experiment};
use std::fmt::Write as _;

/// All families, experiments and roads; with `verbose` all that is said of each rung.
pub fn everything(width: usize, verbose: bool) -> String {
    let families: String = ladders()
        .map(|family: &Family| {
            if verbose {
                details(family, width) + "\n"
            } else {
                overview(family, width)
            }
        })
        .collect();
    let questions = experiments("  ", width);
    let roads = sources::overview("  ", width);
    let files = wrapped(&brought_families().joined(" "), "  ", "  ", width);
    format!(
        "{families}experiments: gpulab lab NAME\n{questions}sources: gpulab list --source NAME\n{roads}\
         files of the sources, and examples: gpulab try NAME, gpulab draw NAME:RUNG\n{files}"
    )
}

/// An indented line for each experiment, or several where the question is longer.
pub fn experiments(indent: &str, width: usize) -> String {
    let name_width = format::widest(EXPERIMENTS.iter().map(|e| e.name));
    EXPERIMENTS
        .iter()
        .map(|e: &&Experiment| {
            hung(
                e.question,
                &format!("{indent}{:<name_width$} ", e.name),
                width,
            )
        })
        .collect()
}

/// An experiment: its question, what it varies, and how it is run.
pub fn one_experiment(experiment: &Experiment, width: usize) -> String {
    let Experiment {
        name,
        question,
        x_name,
        ..
    } = experiment;
    let about = format!(
        "What it varies: {x_name}. Every point is checked, and a finding follows from the points."
    );
    let run = format!(
        "Run it with `gpulab lab {name}`, or in less time with `gpulab lab {name} --quick`."
    );
    let first = wrapped(question, &format!("{name}: "), "  ", width);
    first + &wrapped(&about, "  ", "  ", width) + &wrapped(&run, "  ", "  ", width)
}

fn heading(family: &Family) -> String {
    let dtypes: Vec<&str> = family.dtypes.iter().map(|d| d.name()).collect();
    format!(
        "{}: {} ({})\n",
        family.name,
        family.about,
        dtypes.join(", ")
    )
}

/// A family: its rungs, and the idea of each.
pub fn overview(family: &Family, width: usize) -> String {
    heading(family)
        + &family
            .kernels()
            .map(|rung: &Rung| {
                let first = format!("  {:>2} {:<14} ", number(rung), rung.variant());
                match rung.header("Idea") {
                    Some(idea) => hung(&idea, &first, width),
                    None => first.trim_end().to_owned() + "\n",
                }
            })
            .collect::<String>()
}

fn number(rung: &Rung) -> String {
    rung.number()
        .map_or_else(|| "-".to_owned(), |number| number.to_string())
}

/// A family: what each rung does, its tunables, and its baselines on the CPU.
pub fn details(family: &Family, width: usize) -> String {
    let mut text = heading(family);
    for rung in family.kernels() {
        let _ = writeln!(
            text,
            "\n  {} {} (cl/{})",
            number(rung),
            rung.variant(),
            rung.path
        );
        let names: Vec<&str> = rung.tunables().map(|t| t.name).collect();
        let tunables = names.join(", ");
        let header = ["Idea", "Removes", "Remains"]
            .map(|label| (label, rung.header(label).unwrap_or_default()));
        for (label, about) in header.into_iter().chain([("Tunables", tunables)]) {
            text += &hung(&about, &format!("     {label:<8} "), width);
        }
    }
    text.push('\n');
    let head = format!(
        "Tunables, with values that are worth a try: gpulab sweep {} --set NAME=VALUE,...",
        family.name
    );
    text += &wrapped(&head, "  ", "  ", width);
    for tunable in family.tunables() {
        let about = format!("{} [{}]", tunable.about, tunable.values.replace(' ', ", "));
        text += &hung(&about, &format!("     {:<8} ", tunable.name), width);
    }
    let baselines = family.problem.baselines();
    if !baselines.is_empty() {
        text.push_str("\n  On the CPU, without OpenCL, for comparison\n");
    }
    for baseline in baselines {
        text += &hung(
            baseline.about,
            &format!("     {:<14} ", baseline.name),
            width,
        );
    }
    text
}

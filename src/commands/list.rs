//! `gpulab list`: what there is to run, and the roads through the sources.

use crate::console;
use crate::experiments::{EXPERIMENTS, Experiment, experiment};
use crate::kernels::ladders;
use crate::prelude::*;
use crate::report::list::{details, everything, experiments, one_experiment, question_table, rung_table};
use crate::report::markdown::parts;
use crate::report::sources;
use crate::suggest;

/// Lists all families, experiments and sources; of one family its rungs' ideas and its tunables, of one experiment its
/// question. With `verbose` the overview says of each rung all that there is.
pub fn run(out: &mut Out, name: Option<&str>, verbose: bool) -> Result<(), Error> {
    let width = console::width();
    let Some(name) = name else { return out.text(&everything(width, verbose)) };
    let lower = name.to_lowercase();
    // Experiments have families of the same names; those that are neither, as `closure`, run beside a ladder.
    if let Some(experiment) = experiment(&lower) {
        return out.text(&one_experiment(experiment, width));
    }
    if let Some(family) = built_in(&lower) {
        return out.text(&details(family, width));
    }
    if lower == ALL_EXPERIMENTS {
        return out.text(&experiments("", width));
    }
    Err(unknown(name))
}

const ALL_EXPERIMENTS: &str = "experiments";

fn unknown(name: &str) -> Error {
    let own = ladders().map(|f| &*f.name).chain(EXPERIMENTS.iter().map(|e| e.name));
    let names: Vec<&str> = own.chain([ALL_EXPERIMENTS]).collect();
    Error::Usage(suggest::unknown("family or experiment", name, &names))
}

/// The same as tables of Markdown: of each family its rungs and their ideas, and the experiments with their questions.
pub fn markdown(out: &mut Out, name: Option<&str>) -> Result<(), Error> {
    let is_named = |own: &str| name.is_none_or(|name| name.eq_ignore_ascii_case(own));
    let rungs = ladders().filter(|family| is_named(&family.name)).map(|family| rung_table(family, name.is_some()));
    let is_all = name.is_none_or(|name| name.eq_ignore_ascii_case(ALL_EXPERIMENTS));
    let asked = EXPERIMENTS.iter().copied().filter(|experiment| is_all || is_named(experiment.name));
    let asked: Vec<&Experiment> = asked.collect();
    let questions = (!asked.is_empty()).then(|| question_table(&asked));
    let tables: Vec<String> = rungs.chain(questions).collect();
    match (tables.is_empty(), name) {
        (true, Some(name)) => Err(unknown(name)),
        _ => out.text(&parts(&tables)),
    }
}

/// Prints the road through one of the sources: what to run for each of its parts, and what to look for.
pub fn road(out: &mut Out, name: &str) -> Result<(), Error> {
    let all = sources::all();
    let names: Vec<String> = all.iter().map(sources::CitedSource::name).collect();
    let source = all.iter().find(|source| source.name() == name.to_lowercase());
    out.text(&sources::text(source.ok_or_else(|| Error::Usage(suggest::unknown("source", name, &names)))?))
}

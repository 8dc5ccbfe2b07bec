//! `gpulab list`: what there is to run, and the roads through the sources.

use crate::brought::{Brought, is_family_file};
use crate::console::{self, print};
use crate::experiments::{EXPERIMENTS, experiment};
use crate::kernels::{brought_families, built_in, ladders};
use crate::report::list::{details, everything, one_experiment, overview};
use crate::report::sources::{self, CitedSource};
use crate::{Error, Result, suggest, usage_error};

/// Lists all families, experiments and sources; of one family its rungs' ideas and its tunables, of one experiment its
/// question. With `verbose` the overview says of each rung all that there is.
pub fn run(name: Option<&str>, verbose: bool) -> Result<()> {
    let width = console::width();
    let Some(name) = name else {
        return print(&everything(width, verbose));
    };
    let lower = name.to_lowercase();
    // Experiments have families of the same names; those that are neither, as `closure`, run beside a ladder.
    if let Some(experiment) = experiment(&lower) {
        return print(&one_experiment(experiment, width));
    }
    if let Some(family) = built_in(&lower) {
        return print(&details(family, width));
    }
    if is_family_file(name) {
        return print(&overview(&Brought::new(name)?.family, width));
    }
    usage_error(unknown(name))
}

/// That no family or experiment has this name.
pub fn unknown(name: &str) -> String {
    let families = ladders().map(|family| &*family.name);
    let experiments = EXPERIMENTS.iter().map(|e| e.name);
    let names: Vec<&str> = families
        .chain(experiments)
        .chain(brought_families())
        .collect();
    suggest::unknown("family or experiment", name, &names)
}

/// Prints the road through one of the sources: what to run for each of its parts, and what to look for.
pub fn road(name: &str) -> Result<()> {
    let all = sources::all();
    let names: Vec<String> = all.iter().map(CitedSource::name).collect();
    let source = all
        .iter()
        .find(|source| source.name() == name.to_lowercase());
    print(&sources::text(source.ok_or_else(|| {
        Error::Usage(suggest::unknown("source", name, &names))
    })?))
}

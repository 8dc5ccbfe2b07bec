//! Families that readers describe: that the argument lists of public kernels can be described, and that wrong kernels with
//! arguments of every kind are found. On PoCL alone, which compiles hundreds of kernels soonest.

mod mutants;
mod signatures;

use crate::drivers::session;
use gpulab::kernels::{Family, Registry, Rung};
use gpulab::outcome::{Outcome, Settings};
use gpulab::plan::Case;
use std::sync::Arc;

/// A few timed runs, with all checks before, while and after they are timed.
fn few_runs() -> Settings {
    Settings {
        warmup: 0,
        min_runs: 4,
        max_runs: 4,
        min_time: 0.0,
        timeout: 1.0,
        ..Settings::default()
    }
}

/// A rung at its family's own size, in groups of its own.
fn case(family: &Family, rung: &Rung) -> Case {
    let case = Case::of(
        &family.name,
        rung.variant(),
        family.dtypes[0],
        family.usual_shape(64, false),
    );
    Case {
        wg: rung.work_group().unwrap(),
        ..case
    }
}

/// What comes of cases of these families.
fn run<'a>(
    driver: &str,
    families: Registry,
    cases: impl IntoIterator<Item = &'a Case>,
) -> Vec<Outcome> {
    let mut session = session(driver, None);
    session.registry = Arc::new(families);
    cases
        .into_iter()
        .map(|case| session.run(case, &few_runs()))
        .collect()
}

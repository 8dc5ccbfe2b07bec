//! The counts gate: planted pessimisations must be found, and harmless edits must raise no alarm.

mod edits;

use super::child::{self, io};
use super::{Options, Report};
use edits::{Edit, Tree};
use std::time::Instant;

/// Fewer edits of either kind are no gate.
const LEAST: usize = 30;

/// Each so many is tried in the quick gate.
const STEP: usize = 7;

/// Runs the gate.
pub fn run(options: &Options) -> Result<Report, String> {
    let step = if options.quick { STEP } else { 1 };
    let is_meant = |edit: &&Edit| {
        options
            .only
            .as_ref()
            .is_none_or(|only| edit.name().contains(only.as_str()))
    };
    let chosen: Vec<&Edit> = edits::all().filter(is_meant).step_by(step).collect();
    let tree = Tree::new().map_err(io)?;
    let started = Instant::now();
    let wrong = child::in_parallel(child::ALL_CORES, &chosen, |edit| {
        let objection = tree.objection(edit);
        println!(
            "{}: {}",
            edit.name(),
            objection
                .as_deref()
                .unwrap_or(if edit.is_plant() { "found" } else { "no alarm" })
        );
        objection.is_some()
    })?;
    let failed = wrong.iter().filter(|wrong| **wrong).count();
    let plants = chosen.iter().filter(|edit| edit.is_plant()).count();
    let harmless = chosen.len() - plants;
    let least = if options.quick { 1 } else { LEAST };
    Ok(Report {
        passed: failed == 0
            && if options.only.is_some() {
                !chosen.is_empty()
            } else {
                plants.min(harmless) >= least
            },
        figure: format!(
            "{plants} plants and {harmless} harmless edits (at least {least} each), {failed} judged wrong, in {:.0} s",
            started.elapsed().as_secs_f64()
        ),
    })
}

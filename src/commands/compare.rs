//! `gpulab compare`: recorded runs held against each other.

use crate::cli::Compare;
use crate::compare::{ComparisonRow, FileComparison, SIDES, SLOWDOWNS, compare, curve, steps};
use crate::outputs::{Outputs, Paths};
use crate::prelude::*;
use crate::report;
use crate::shown::runs_of;

/// Compares each file with the first, and says what the steps of ladders bring where several devices are in the files.
pub fn run(out: &mut Out, global: &Global, options: &Compare) -> Result<(), Error> {
    if options.curve {
        return tell_curve(out, global, options);
    }
    if options.files.len() < 2 {
        let how = "name two files, to compare the second with the first, or give --curve for many runs of one program";
        return Err(Error::Usage(how.into()));
    }
    let mut outputs = Outputs::open(&Paths::from(&options.rows))?;
    let sides =
        options.files.iter().map(|names: &String| runs_of(names, global.quiet)).collect::<Result<Vec<_>, Error>>()?;
    let Some((first, others)) = sides.split_first() else { return Ok(()) };
    let screen = screen(global.color);
    let ladders = steps(sides.iter().flatten());
    let comparisons: Vec<FileComparison<'_>> = others.iter().map(|runs| compare(first, runs, options.same)).collect();
    // Nothing to hold against a limit is no success.
    let is_due = !options.fail_on.is_empty() || ladders.is_empty();
    if is_due && comparisons.iter().all(|comparison| comparison.pairs.is_empty()) {
        let why = "the files share no case: both need times of the same rungs, types and sizes";
        return Err(Error::Usage(why.into()));
    }
    for (comparison, name) in comparisons.iter().zip(options.files.iter().skip(1)) {
        let names = [options.files[0].as_str(), name];
        comparison.pairs.iter().for_each(|case| outputs.row(&ComparisonRow::new(names, case)));
        let text = |screen| report::compare::text(comparison, names, options.same, global.verbose, screen);
        outputs.tell(out, &text, screen, global.quiet);
    }
    if !ladders.is_empty() {
        outputs.tell(out, &|screen| format!("\n{}", report::compare::steps(&ladders, screen)), screen, global.quiet);
    }
    outputs.finish(true, true)?;
    comparisons.iter().try_for_each(|comparison| comparison.demand(&options.fail_on))
}

/// Prints the operating curve of all runs in the files, each file by itself.
fn tell_curve(out: &mut Out, global: &Global, options: &Compare) -> Result<(), Error> {
    for (at, names) in options.files.iter().enumerate() {
        let points = curve(&runs_of(names, global.quiet)?, &SIDES, &SLOWDOWNS, options.same);
        if points.is_empty() {
            let how = "measure a ladder with --rounds 60 --csv FILE";
            return Err(Error::Usage(format!("{names} holds no case that ran more than once: {how}")));
        }
        let screen = screen(global.color);
        let gap = if at > 0 { "\n" } else { "" };
        out.text(&format!("{gap}{names}\n\n{}", report::compare::curve(&points, &SLOWDOWNS, screen)))?;
    }
    Ok(())
}

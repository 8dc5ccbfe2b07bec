//! Counts kept in a file, and held against it.

use crate::Error;
use crate::adopt::own;
use crate::count::{CountAllowances, CountGrowth, CountRow, KeptCounts};
use crate::files;
use crate::kernels::{Rung, Sources};
use crate::report::count_gate::sentence;
use std::path::Path;

/// The counts of rows, with the text of their sources: of files below `cl/`, or of readers' rungs.
pub(crate) fn kept(rows: &[CountRow], sources: &Sources, rungs: &[&Rung]) -> KeptCounts {
    let last = |file: &str| rows.iter().filter(|row| row.file == file).filter_map(|row| row.line).max().unwrap_or(0);
    let own = |file: &str, line: u64| rungs.iter().find_map(|rung| own::line_of(rung.own_text()?, file, line));
    let lines = |file: &str| match sources.read(file) {
        Ok(text) => text.lines().map(str::to_owned).collect(),
        Err(_) => (1..=last(file)).map(|line| own(file, line).unwrap_or_default()).collect(),
    };
    KeptCounts::of(rows, &lines)
}

/// Reads a file of counts.
pub(crate) fn read(path: &Path) -> Result<KeptCounts, Error> {
    let text = files::read_to_string(path).map_err(|e| Error::Usage(format!("cannot read {}: {e}", path.display())))?;
    KeptCounts::parse(&text).map_err(|why| Error::Usage(format!("{}: {why}", path.display())))
}

/// Why counts cannot be held against kept ones, if so.
pub(crate) fn check(name: &Path, before: &KeptCounts, now: &KeptCounts) -> Result<(), Error> {
    let name = name.display();
    let refused = |why: String| Err(Error::Usage(format!("{name}: {why}")));
    if before.machine != now.machine {
        return refused(format!("it was counted for {}, this for {}", before.machine, now.machine));
    }
    let known = before.cases();
    let missing: Vec<&str> = now.cases().into_iter().filter(|case| !known.contains(case)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    refused(format!("it has no counts of {}; it has {}: add them with --save", missing.join(", "), known.join(", ")))
}

/// Errors: `Worse`, if a count grew by more than is allowed.
pub(crate) fn demand(growths: &[CountGrowth<'_>], allowed: &CountAllowances) -> Result<(), Error> {
    let refused: Vec<String> =
        growths.iter().filter(|growth| growth.is_refused(allowed)).map(|growth| sentence(growth, allowed)).collect();
    if refused.is_empty() { Ok(()) } else { Err(Error::Worse(refused.join("\n"))) }
}

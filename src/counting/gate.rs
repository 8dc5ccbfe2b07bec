//! Counts kept in a file, and held against it.

use crate::adopt::own;
use crate::cli::{Color, CountArgs};
use crate::count::{CountAllowances, CountGrowth, KeptCounts, growths};
use crate::outputs::{Outputs, replace};
use crate::prelude::*;
use crate::report::count_gate::{sentence, text};
use crate::store::Deferred;

/// The files of `--save` and `--against`, opened before anything is counted.
pub(crate) struct GateFiles<'a> {
    save: Option<Deferred>,
    against: Option<(&'a Path, KeptCounts)>,
    allowed: CountAllowances,
}

impl GateFiles<'_> {
    /// With `-` what is kept takes the place of what else is printed.
    pub(crate) fn open<'a>(options: &'a CountArgs, outputs: &mut Outputs<CountRow>) -> Result<GateFiles<'a>, Error> {
        if options.save.as_deref() == Some("-") {
            outputs.leave_stdout();
        }
        Ok(GateFiles {
            save: options.save.as_deref().map(Deferred::open).transpose()?,
            against: options.against.as_deref().map(|path| read(path).map(|kept| (path, kept))).transpose()?,
            allowed: options.fail_on.clone().unwrap_or_default(),
        })
    }

    /// Whether what changed is shown in place of all counts.
    pub(crate) fn compares(&self) -> bool {
        self.against.is_some()
    }

    /// Keeps the counts, or holds them against those that were kept; not those that say nothing of a device.
    /// Of a `whole`, each case that was kept must be there; else those that were asked for.
    pub(crate) fn finish(
        mut self,
        out: &mut Out,
        color: Color,
        (now, whole): (&KeptCounts, bool),
        doubt: Option<String>,
    ) -> Result<(), Error> {
        if self.save.is_none() && self.against.is_none() {
            return Ok(());
        }
        if let Some(why) = doubt {
            return Err(Error::Untrusted(why));
        }
        if now.launches.is_empty() {
            return Err(Error::Failed("nothing was counted, so there is nothing to keep or to compare".into()));
        }
        if let Some(file) = &mut self.save {
            replace(file, now.text().map_err(|e| Error::Failed(e.to_string()))?)?;
        }
        let Some((path, before)) = &self.against else { return Ok(()) };
        check(path, before, now)?;
        let growths = growths(before, now);
        let name = path.display().to_string();
        out.text(&text(&growths, &self.allowed, (now.cases().len(), &name), screen(color)))?;
        demand(&growths, &self.allowed)?;
        let is_due = |case: &&str| whole || now.stopped.iter().any(|stopped| stopped == case);
        let is_gone = |case: &&str| is_due(case) && !now.cases().contains(case);
        let gone: Vec<&str> = before.cases().into_iter().filter(is_gone).collect();
        match gone.is_empty() {
            true => Ok(()),
            false => Err(Error::Worse(format!(
                "{name} has counts of {}, which did not run now: --save keeps the new state, if that is right",
                gone.join(", ")
            ))),
        }
    }
}

/// The counts of rows, with the text of their sources: of files below `cl/`, or of readers' rungs.
pub(crate) fn kept(rows: &[CountRow], sources: &Sources, rungs: &[&Rung]) -> KeptCounts {
    let last = |file: &str| rows.iter().filter(|row| row.file == file).filter_map(|row| row.line).max().unwrap_or(0);
    let lines = |file: &str| match sources.read(file) {
        Ok(text) => text.lines().map(str::to_owned).collect(),
        Err(_) => (1..=last(file)).map(|line| line_of_any(rungs, file, line).unwrap_or_default()).collect(),
    };
    KeptCounts::of(rows, &lines)
}

fn read(path: &Path) -> Result<KeptCounts, Error> {
    let text = files::read_to_string(path).map_err(|e| Error::Usage(format!("cannot read {}: {e}", path.display())))?;
    KeptCounts::parse(&text).map_err(|why| Error::Usage(format!("{}: {why}", path.display())))
}

/// Why counts cannot be held against kept ones, if so.
fn check(name: &Path, before: &KeptCounts, now: &KeptCounts) -> Result<(), Error> {
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
fn demand(growths: &[CountGrowth<'_>], allowed: &CountAllowances) -> Result<(), Error> {
    let refused: Vec<String> =
        growths.iter().filter(|growth| growth.is_refused(allowed)).map(|growth| sentence(growth, allowed)).collect();
    if refused.is_empty() { Ok(()) } else { Err(Error::Worse(refused.join("\n"))) }
}

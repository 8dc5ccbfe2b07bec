//! `gpulab show`: recorded results as the run itself told them, on any machine.

use super::count::source_line;
use super::shown::{AskedRecords, ShownContent, ShownFile, asked, distinct, material, take_apart};
use super::study::PointStudy;
use super::{Out, say, screen, why};
use crate::Error;
use crate::ceilings::CeilingRow;
use crate::cli::{Global, Show};
use crate::count::CountRow;
use crate::record::{HOST, Point, Row};
use crate::report::groups::{experiments, groups, tables};
use crate::report::{self, RateUnit, format};
use crate::runner::Sources;
use crate::store::{Recorded, Shipped, shipped};
use crate::terminal::Screen;
use std::path::Path;

/// Shows the files or the shipped records that were asked for, or lists the latter.
///
/// # Errors
/// [`Error::Failed`] for a file that cannot be read, [`Error::Usage`] for one that holds no results and for names that
/// there are not.
pub fn run(out: &mut Out, global: &Global, options: &Show) -> Result<(), Error> {
    if options.what.is_empty() {
        return out.text(&overview(&shipped()));
    }
    let sources = match asked(&options.what)? {
        AskedRecords::Device(own) => return out.text(&contents(&own)),
        AskedRecords::Files(files) => {
            files.into_iter().map(ShownFile::no_samples).collect::<Result<Vec<_>, Error>>()?
        }
    };
    let unit = if options.gib { RateUnit::GiB } else { RateUnit::GB };
    let why = options.why.then(|| Reasons::of(&options.what)).transpose()?;
    let view = ShowingStyle { unit, screen: screen(global.color), verbose: global.verbose, why };
    let is_headed = sources.len() > 1 || !options.what.first().is_some_and(|path| Path::new(path).exists());
    for (i, source) in sources.iter().enumerate() {
        if let Some(torn) = source.torn.as_deref().filter(|_| !global.quiet) {
            say(torn);
        }
        let gap = if i > 0 { "\n" } else { "" };
        let head = if is_headed { format!("{gap}{}\n\n", format::terminal(&source.name)) } else { String::new() };
        out.painted(&(head + &view.text(&source.holds)))?;
    }
    Ok(())
}

/// How results are shown.
struct ShowingStyle {
    unit: RateUnit,
    screen: Screen,
    verbose: bool,
    why: Option<Reasons>,
}

/// What the reasons of ladders are made of.
struct Reasons {
    counts: Vec<CountRow>,
    ceilings: Vec<CeilingRow>,
}

impl Reasons {
    /// From the counts that come with gpulab and those in the files, and by the ceilings in the files or of the device.
    fn of(what: &[String]) -> Result<Reasons, Error> {
        let material = material(what)?;
        let mut counts = why::shipped()?;
        counts.extend(material.counts);
        Ok(Reasons { counts, ceilings: material.ceilings })
    }

    /// Of a ladder, by the limits of its device.
    fn text(&self, rows: &[Row], screen: Screen) -> String {
        let device = rows.iter().find(|row| !row.on_host());
        let is_its_own = |ceiling: &&CeilingRow| device.is_some_and(|row| row.device == ceiling.device);
        let ceilings: Vec<CeilingRow> = self.ceilings.iter().filter(is_its_own).cloned().collect();
        format!("\n{}", why::text(rows, &self.counts, &ceilings, screen))
    }
}

impl ShowingStyle {
    fn text(&self, holds: &ShownContent) -> String {
        match holds {
            ShownContent::Recorded(Recorded::Rows(rows)) => self.rows(rows),
            ShownContent::Recorded(Recorded::Points(points)) => {
                joined(experiments(points).iter().map(|p| study(p, self.screen)))
            }
            ShownContent::Recorded(Recorded::Peers(cells)) => report::peers::table(cells),
            ShownContent::Recorded(Recorded::Other { .. }) => String::new(),
            ShownContent::Samples(_) => String::new(),
            ShownContent::Ceilings(rows) => {
                let device = |row: &CeilingRow| (row.platform.clone(), row.device.clone(), row.driver.clone());
                joined(groups(rows, device).iter().map(|rows| report::ceilings::text(rows, self.screen)))
            }
            ShownContent::Counts(rows) => {
                // The trials of an experiment may be of several families.
                let what = |row: &CountRow| {
                    if row.experiment.is_empty() { row.family.clone() } else { row.experiment.clone() }
                };
                let run = |row: &CountRow| (row.run_id.clone(), what(row));
                joined(groups(rows, run).iter().map(|rows| self.counts(rows)))
            }
        }
    }

    /// Counts as a table, and the lines of their sources where the file has them.
    fn counts(&self, rows: &[CountRow]) -> String {
        let table = report::count::table(rows, self.verbose, self.screen);
        match rows.iter().any(|row| row.line.is_some()) {
            true => {
                let source = |file: &str, line: u64| source_line(&Sources::default(), file, line);
                table + &report::count::lines(rows, &source, self.screen)
            }
            false => table,
        }
    }

    /// Ladders as tables, sweeps as summaries.
    fn rows(&self, rows: &[Row]) -> String {
        let text = |group: &Vec<Row>| match group.iter().any(|row| !row.sweep_id.is_empty()) {
            true => report::sweep::summary(group, self.screen),
            false => {
                let reasons = self.why.as_ref().map_or_else(String::new, |why| why.text(group, self.screen));
                report::ladder::table(group, self.unit, self.screen, self.verbose) + &reasons
            }
        };
        joined(tables(rows).iter().map(text))
    }
}

fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join("\n")
}

/// An experiment's points with the finding that follows from them.
fn study(points: &[Point], screen: Screen) -> String {
    let study = PointStudy::of(points);
    report::experiment::text(points, study.question, &study.finding, &|x| study.label(x), screen)
}

/// A line for each device whose records are shipped.
fn overview(all: &[Shipped]) -> String {
    let device = |own: &Vec<Shipped>| {
        let Some(first) = own.first() else { return String::new() };
        let names: Vec<&str> = own.iter().map(|file| file.name).collect();
        format::wrap(&format!("{}: {}", first.device, names.join(", ")), WIDTH, "  ")
    };
    let devices: String = groups(all, |file| file.device).iter().map(device).collect();
    let head = "Recorded results that come with gpulab. gpulab show DEVICE says what its files hold, gpulab show DEVICE \
                NAME shows a file, a family or an experiment:";
    format!("{}\n{devices}", format::wrap(head, WIDTH, ""))
}

const WIDTH: usize = 80;

/// What the files of a device hold.
fn contents(own: &[Shipped]) -> String {
    let line = |file: &Shipped| {
        let what = take_apart(file.text, file.name).map(|source| holds(&source.holds)).unwrap_or_default();
        format::wrap(&format!("{}: {what}", file.name), WIDTH, "  ")
    };
    own.iter().map(line).collect()
}

/// `ladders of dot`.
fn holds(holding: &ShownContent) -> String {
    match holding {
        ShownContent::Recorded(Recorded::Rows(rows)) => {
            let kind = if rows.iter().any(|row| !row.sweep_id.is_empty()) { "a sweep of" } else { "ladders of" };
            let devices: Vec<String> =
                distinct(rows.iter().filter(|row| row.platform != HOST).map(|row| row.device.as_str()));
            format!(
                "{kind} {} on {}",
                distinct(rows.iter().map(|row| row.family.as_str())).join(", "),
                devices.join(", ")
            )
        }
        ShownContent::Recorded(Recorded::Points(points)) => {
            format!("experiments {}", distinct(points.iter().map(|point| point.experiment.as_str())).join(", "))
        }
        ShownContent::Recorded(_) => "another program's figures".to_owned(),
        ShownContent::Ceilings(_) => "measured limits".to_owned(),
        ShownContent::Counts(_) => "counts".to_owned(),
        ShownContent::Samples(_) => "single timed runs".to_owned(),
    }
}

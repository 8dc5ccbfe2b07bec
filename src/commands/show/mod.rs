//! `gpulab show`: recorded results as the run itself told them, on any machine.

mod tables;

use crate::ceilings::CeilingRow;
use crate::cli::{Global, Show};
use crate::console::{Out, screen};
use crate::count::CountRow;
use crate::counting::{source_line, why};
use crate::kernels::{Registry, Sources};
use crate::record::{HOST, Point, Row};
use crate::report::groups::{self, distinct, experiments, groups, ladders};
use crate::report::{self, Medium, RateUnit, format};
use crate::shown::{
    AskedRecords, PointStudy, ShownContent, ShownFile, add_kept, asked, filtered, material, records, take_apart,
};
use crate::store::{Recorded, Shipped, shipped};
use crate::terminal::say;
use crate::{Error, outputs};
use std::collections::BTreeSet;
use std::path::Path;
use tables::PivotNames;

/// Shows the files or the shipped records that were asked for, or lists the latter.
///
/// # Errors
/// [`Error::Failed`] for a file that cannot be read, [`Error::Usage`] for one that holds no results and for names that
/// there are not.
pub fn run(out: &mut Out, global: &Global, options: &Show) -> Result<(), Error> {
    if options.what.is_empty() {
        let none =
            options.conditions.is_empty() && options.columns.is_empty() && options.by.is_none() && !options.findings;
        return match none && options.md.is_none() {
            true => out.text(&overview(&shipped())),
            false => Err(Error::Usage("show what? Give files, or a device as in gpulab show h200".into())),
        };
    }
    let md = options.md.as_deref();
    let is_on_stdout = md == Some("-");
    let sources = match asked(&options.what)? {
        AskedRecords::Device(own) if is_plain(options) => return out.text(&contents(&own)),
        AskedRecords::Device(own) => records(&own)?,
        AskedRecords::Files(files) => {
            files.into_iter().map(ShownFile::no_samples).collect::<Result<Vec<_>, Error>>()?
        }
    };
    let sources = filtered(sources, &options.conditions)?;
    sources.iter().filter_map(|source| source.torn.as_deref()).filter(|_| !global.quiet).for_each(say);
    let unit = if options.gib { RateUnit::GiB } else { RateUnit::GB };
    let why = options.why.then(|| Reasons::of(&options.what)).transpose()?;
    let is_headed = sources.len() > 1 || !options.what.first().is_some_and(|path| Path::new(path).exists());
    let view = ShowingStyle { unit, verbose: global.verbose, why, is_headed, options };
    let text = (!is_on_stdout).then(|| view.text(&sources, Medium::Screen(screen(global.color)))).transpose()?;
    let document = md.map(|_| view.text(&sources, Medium::Markdown)).transpose()?;
    text.map_or(Ok(()), |text| out.painted(&text))?;
    md.zip(document).map_or(Ok(()), |(path, text)| outputs::write_markdown(path, &text))
}

/// Whether nothing but devices' names was given: they are asked what they have.
fn is_plain(options: &Show) -> bool {
    let Show { what: _, gib: _, why, conditions, columns, by, value: _, findings, md } = options;
    !why && !findings && conditions.is_empty() && columns.is_empty() && by.is_none() && md.is_none()
}

/// What `--why` comes to where no ladder is shown.
const NOTHING_TO_EXPLAIN: &str = "--why: no ladder is shown, so there is nothing to explain\n";

/// How results are shown.
struct ShowingStyle<'a> {
    unit: RateUnit,
    verbose: bool,
    why: Option<Reasons>,
    /// Whether each source's name stands above what it holds.
    is_headed: bool,
    options: &'a Show,
}

/// What the reasons of ladders are made of.
struct Reasons {
    counts: Vec<CountRow>,
    ceilings: Vec<CeilingRow>,
}

impl Reasons {
    /// From the counts that come with gpulab and those in the files, and by the ceilings in the files or of the device.
    fn of(what: &[String]) -> Result<Reasons, Error> {
        let mut material = material(what)?;
        add_kept(&mut material.ceilings, &material.rows);
        let mut counts = why::shipped()?;
        counts.extend(material.counts);
        Ok(Reasons { counts, ceilings: material.ceilings })
    }

    /// Of a ladder, by the limits of its device.
    fn text(&self, rows: &[Row], medium: Medium) -> String {
        let Some(row) = rows.iter().find(|row| !row.on_host()) else { return String::new() };
        let ceilings = why::of_device(&self.ceilings, row);
        let text = |screen| why::text(&Registry::default(), rows, &self.counts, &ceilings, screen);
        match medium {
            Medium::Screen(screen) => format!("\n{}", text(screen)),
            Medium::Markdown => format!("\n{}", report::markdown::code(&text)),
        }
    }

    /// The model of a ladder's reasons: whether that of a GPU; none without limits of its device.
    fn model_of(&self, rows: &[Row]) -> Option<bool> {
        let row = rows.iter().find(|row| !row.on_host())?;
        why::model_of(rows, &why::of_device(&self.ceilings, row))
    }

    /// What the models are that the reasons of these files' ladders come from, each once; or that there is no ladder.
    fn models(&self, files: &[ShownFile], medium: Medium) -> String {
        let rows = files.iter().filter_map(|file| match &file.holds {
            ShownContent::Recorded(Recorded::Rows(rows)) => Some(rows),
            _ => None,
        });
        let ladders: Vec<Vec<Row>> = rows.flat_map(|rows| ladders(rows)).collect();
        if ladders.is_empty() {
            return NOTHING_TO_EXPLAIN.to_owned();
        }
        let kinds: BTreeSet<bool> = ladders.iter().filter_map(|rows| self.model_of(rows)).collect();
        let text = |screen| kinds.iter().map(|is_gpu| report::why::model_text(*is_gpu, screen)).collect::<String>();
        match medium {
            Medium::Screen(screen) => format!("\n{}", text(screen)),
            Medium::Markdown => format!("\n{}", report::markdown::code(&text)),
        }
    }
}

impl ShowingStyle<'_> {
    /// What was asked for: the sources put together, or one below the other.
    fn text(&self, sources: &[ShownFile], medium: Medium) -> Result<String, Error> {
        let Show { by, value, findings, .. } = self.options;
        match (by, &self.why) {
            _ if *findings => tables::findings(sources, medium),
            (Some(by), Some(why)) => tables::model_errors(sources, by, (&why.counts, &why.ceilings), medium),
            (Some(by), None) => {
                let names = PivotNames { by, value: value.as_deref().unwrap_or("time") };
                tables::pivot(sources, &names, self.unit, medium)
            }
            (None, _) => match self.options.columns.is_empty().then(|| tables::ceilings(sources, medium)).flatten() {
                Some(together) => Ok(together),
                None => self.each(sources, medium),
            },
        }
    }

    /// One source below the other.
    fn each(&self, sources: &[ShownFile], medium: Medium) -> Result<String, Error> {
        let one = |source: &ShownFile| match (medium, self.is_headed) {
            // A document's tables have their own titles.
            (Medium::Screen(_), true) => {
                Ok(format!("{}\n\n{}", format::terminal(&source.name), self.content(&source.holds, medium)?))
            }
            _ => self.content(&source.holds, medium),
        };
        let all = joined(sources.iter().map(one).collect::<Result<Vec<String>, Error>>()?.into_iter());
        Ok(all + &self.why.as_ref().map_or_else(String::new, |why| why.models(sources, medium)))
    }

    fn content(&self, holds: &ShownContent, medium: Medium) -> Result<String, Error> {
        if !self.options.columns.is_empty() {
            return Ok(joined(tables::chosen(holds, &self.options.columns, self.unit, medium)?.into_iter()));
        }
        Ok(match holds {
            ShownContent::Recorded(Recorded::Rows(rows)) => self.rows(rows, medium),
            ShownContent::Recorded(Recorded::Points(points)) => {
                joined(experiments(points).iter().map(|p| study(p, medium)))
            }
            ShownContent::Recorded(Recorded::Peers(cells)) => report::peers::table(cells, medium),
            ShownContent::Recorded(Recorded::Other { .. }) => String::new(),
            ShownContent::Samples(_) => String::new(),
            ShownContent::Ceilings(rows) => {
                let device = |row: &CeilingRow| (row.platform.clone(), row.device.clone(), row.driver.clone());
                joined(groups(rows, device).iter().map(|rows| match medium {
                    Medium::Screen(screen) => report::ceilings::text(rows, screen),
                    Medium::Markdown => report::ceilings::markdown(rows),
                }))
            }
            ShownContent::Counts(rows) => {
                // The trials of an experiment may be of several families.
                let what = |row: &CountRow| {
                    if row.experiment.is_empty() { row.family.clone() } else { row.experiment.clone() }
                };
                let run = |row: &CountRow| (row.run_id.clone(), what(row));
                joined(groups(rows, run).iter().map(|rows| self.counts(rows, medium)))
            }
        })
    }

    /// Counts as a table, and the lines of their sources where the file has them.
    fn counts(&self, rows: &[CountRow], medium: Medium) -> String {
        let source = |file: &str, line: u64| source_line(&Sources::default(), file, line);
        let lines = |screen| match rows.iter().any(|row| row.line.is_some()) {
            true => report::count::lines(rows, &source, screen),
            false => String::new(),
        };
        match medium {
            Medium::Screen(screen) => report::count::table(rows, self.verbose, screen) + &lines(screen),
            Medium::Markdown => report::count::markdown(rows, self.verbose) + &report::markdown::code(&lines),
        }
    }

    /// Ladders as tables, sweeps as summaries.
    fn rows(&self, rows: &[Row], medium: Medium) -> String {
        let text = |group: &Vec<Row>| match group.iter().any(|row| !row.sweep_id.is_empty()) {
            true => match medium {
                Medium::Screen(screen) => report::sweep::summary(group, screen),
                Medium::Markdown => report::sweep::markdown(group),
            },
            false => {
                let reasons = self.why.as_ref().map_or_else(String::new, |why| why.text(group, medium));
                let ladder = match medium {
                    Medium::Screen(screen) => report::ladder::table(group, self.unit, screen, self.verbose),
                    Medium::Markdown => report::markdown::ladder(group, self.unit),
                };
                ladder + &reasons
            }
        };
        joined(groups::tables(rows).iter().map(text))
    }
}

fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join("\n")
}

/// An experiment's points with the finding that follows from them.
fn study(points: &[Point], medium: Medium) -> String {
    let study = PointStudy::of(points);
    let (question, finding, label) = (study.question, &study.finding, |x| study.label(x));
    match medium {
        Medium::Screen(screen) => report::experiment::text(points, question, finding, &label, screen),
        Medium::Markdown => report::experiment::markdown(points, question, finding, &label),
    }
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

/// What the files of devices hold, with the devices' names where they are several.
fn contents(own: &[Shipped]) -> String {
    let devices = groups(own, |file| file.device);
    let line = |file: &Shipped| {
        let what = take_apart(file.text, file.name).map(|source| holds(&source.holds)).unwrap_or_default();
        let device = if devices.len() > 1 { format!("{} ", file.device) } else { String::new() };
        format::wrap(&format!("{device}{}: {what}", file.name), WIDTH, "  ")
    };
    own.iter().map(line).collect()
}

/// `ladders of dot`.
fn holds(holding: &ShownContent) -> String {
    match holding {
        ShownContent::Recorded(Recorded::Rows(rows)) => {
            let kind = if rows.iter().any(|row| !row.sweep_id.is_empty()) { "a sweep of" } else { "ladders of" };
            let devices = distinct(rows.iter().filter(|row| row.platform != HOST).map(|row| row.device.as_str()));
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

//! `gpulab show`: recorded results as the run itself told them, on any machine.

use super::count::source_line;
use super::{Out, say, screen, why};
use crate::Error;
use crate::ceilings::{CeilingRow, cached};
use crate::cli::{Global, Show};
use crate::count::CountRow;
use crate::experiments::experiment;
use crate::files;
use crate::kernels;
use crate::record::{HOST, Point, Row, flag};
use crate::report::{self, RateUnit, format};
use crate::runner::{Cache, Sources};
use crate::store::{COUNTED, Recorded, Shipped, of_csv, recorded, shipped};
use crate::suggest::did_you_mean;
use crate::terminal::Screen;
use std::path::Path;

/// Shows the files or the shipped records that were asked for, or lists the latter.
///
/// # Errors
/// [`Error::Failed`] for a file that cannot be read, [`Error::Usage`] for one that holds no results and for names that
/// there are not.
pub fn run(out: &mut Out, global: &Global, options: &Show) -> Result<(), Error> {
    let all = shipped();
    let mut limits = Vec::new();
    let sources = match options.what.split_first() {
        None => return out.text(&overview(&all)),
        Some((device, names)) if !Path::new(device).exists() && !looks_like_a_path(device) => {
            let own = of_device(&all, device)?;
            if names.is_empty() {
                return out.text(&contents(&own));
            }
            limits = own_ceilings(&own)?;
            beside_caches(&limits, named(&own, names)?)
        }
        Some(_) => options.what.iter().map(|path| from_file(path)).collect::<Result<Vec<ShownFile>, Error>>()?,
    };
    let unit = if options.gib { RateUnit::GiB } else { RateUnit::GB };
    let why = options.why.then(|| Reasons::of(&sources, limits)).transpose()?;
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

/// What a file or a shipped record holds.
struct ShownFile {
    name: String,
    holds: ShownContent,
    torn: Option<String>,
}

enum ShownContent {
    Recorded(Recorded),
    Ceilings(Vec<CeilingRow>),
    Counts(Vec<CountRow>),
}

fn looks_like_a_path(text: &str) -> bool {
    text.contains(['/', '\\']) || Path::new(text).extension().is_some_and(|e| e == "csv" || e == "json")
}

fn from_file(path: &str) -> Result<ShownFile, Error> {
    let list = "gpulab show alone lists the records that come with gpulab";
    let text = files::read(Path::new(path)).map_err(|e| Error::Failed(format!("cannot read {path}: {e} ({list})")))?;
    take_apart(&text, path)
}

/// Errors: `Usage`, if the file holds nothing that can be shown.
fn take_apart(text: &[u8], name: &str) -> Result<ShownFile, Error> {
    let (holds, torn) = match recorded(text, name)? {
        (Recorded::Other { header }, torn) => {
            let has = |column: &str| header.iter().any(|name| name == column);
            match (has("what") && has("place"), has("event_s")) {
                _ if has(COUNTED) => (ShownContent::Counts(counts(text, name)?), torn),
                (true, _) => (ShownContent::Ceilings(of_csv(text, name)?.0), torn),
                (_, true) => {
                    let why = "holds single timed runs; show takes the rows of the same run, from --csv or --json";
                    return Err(Error::Usage(format!("{name} {why}")));
                }
                _ => {
                    let why = "holds no results of gpulab: show takes what --csv and --json write";
                    return Err(Error::Usage(format!("{name} {why}")));
                }
            }
        }
        (other, torn) => (ShownContent::Recorded(other), torn),
    };
    let is_empty = match &holds {
        ShownContent::Recorded(Recorded::Rows(rows)) => rows.is_empty(),
        ShownContent::Recorded(Recorded::Points(points)) => points.is_empty(),
        ShownContent::Recorded(_) => false,
        ShownContent::Ceilings(rows) => rows.is_empty(),
        ShownContent::Counts(rows) => rows.is_empty(),
    };
    match is_empty {
        true => Err(Error::Usage(format!("{name} has a header and no results below it"))),
        false => Ok(ShownFile { name: name.to_owned(), holds, torn }),
    }
}

/// The rows of a file of counts, CSV or JSON.
fn counts(text: &[u8], name: &str) -> Result<Vec<CountRow>, Error> {
    match text.trim_ascii_start().first() {
        Some(b'[') => {
            let wrong = |e| Error::Usage(format!("{name} holds what are no counts: {e}"));
            serde_json::from_slice(text).map_err(wrong)
        }
        _ => Ok(of_csv(text, name)?.0),
    }
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
    /// From the counts that come with gpulab and those in the files, and by the ceilings in the files or else these.
    fn of(sources: &[ShownFile], mut ceilings: Vec<CeilingRow>) -> Result<Reasons, Error> {
        let mut counts = why::shipped()?;
        for source in sources {
            match &source.holds {
                ShownContent::Counts(rows) => counts.extend(rows.iter().cloned()),
                ShownContent::Ceilings(rows) => ceilings.extend(rows.iter().cloned()),
                ShownContent::Recorded(_) => {}
            }
        }
        Ok(Reasons { counts, ceilings })
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
                joined(groups(points, run_of_point).iter().map(|p| study(p, self.screen)))
            }
            ShownContent::Recorded(Recorded::Peers(cells)) => report::peers::table(cells),
            ShownContent::Recorded(Recorded::Other { .. }) => String::new(),
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
        joined(groups(rows, run_of_row).iter().map(text))
    }
}

/// What the rows of one table have in common: of a sweep all its rows, of a ladder one case.
fn run_of_row(row: &Row) -> (String, String, Option<(u64, u64, String)>) {
    match row.sweep_id.is_empty() {
        true => (row.run_id.clone(), row.family.clone(), Some((row.n, row.m, row.dtype.name().to_owned()))),
        false => (row.sweep_id.clone(), row.family.clone(), None),
    }
}

fn run_of_point(point: &Point) -> (String, String, String) {
    (point.run_id.clone(), point.device.clone(), point.experiment.clone())
}

/// Records with the same key, in the order of their first ones.
fn groups<T: Clone, K: PartialEq>(records: &[T], key: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for record in records {
        let own = key(record);
        match groups.iter_mut().find(|(key, _)| *key == own) {
            Some((_, group)) => group.push(record.clone()),
            None => groups.push((own, vec![record.clone()])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join("\n")
}

/// An experiment's points with the finding that follows from them.
fn study(points: &[Point], screen: Screen) -> String {
    let mut points = points.to_vec();
    // They were written as they were finished; older files have them in that order.
    points.sort_by_key(|point| point.place);
    let points = points.as_slice();
    let name = points.first().map_or("", |point| point.experiment.as_str());
    let recorded = |x: f64| {
        let label = points.iter().find(|point| point.x == x).map(|point| point.x_label.clone());
        label.filter(|label| !label.is_empty())
    };
    let Some(known) = experiment(name) else {
        let label = |x: f64| recorded(x).unwrap_or_else(|| x.to_string());
        let finding = format!("this gpulab has no experiment {name}, so nothing follows from its points");
        return report::experiment::text(points, "", &finding, &label, screen);
    };
    let label = |x: f64| recorded(x).unwrap_or_else(|| (known.x_label)(x));
    report::experiment::text(points, known.question, &known.finding(points), &label, screen)
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
    }
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        if !all.iter().any(|other| other == name) {
            all.push(name.to_owned());
        }
    }
    all
}

/// The files of the one device whose name has this part.
///
/// Errors: `Usage`, with the devices, if none has it or several do.
fn of_device(all: &[Shipped], part: &str) -> Result<Vec<Shipped>, Error> {
    let part = part.to_lowercase();
    let is_meant = |file: &&Shipped| !part.is_empty() && file.device.contains(&part);
    let own: Vec<Shipped> = all.iter().filter(is_meant).copied().collect();
    let names = |files: &[Shipped]| distinct(files.iter().map(|file| file.device)).join(", ");
    match distinct(own.iter().map(|file| file.device)).len() {
        1 => Ok(own),
        0 => Err(Error::Usage(match of_any_device(all, &part)?.as_slice() {
            [] => format!(
                "there is no file {part:?}, and no device of that name among the records that come with gpulab: {}",
                names(all)
            ),
            commands => format!(
                "there is no file {part:?}; records of {part} that come with gpulab are shown by device{}",
                did_you_mean(commands)
            ),
        })),
        _ => Err(Error::Usage(format!("{part:?} is a part of several devices' names: {}", names(&own)))),
    }
}

/// The commands that show the records of a file, a family or an experiment of this name, those of short names first; a few
/// at most.
fn of_any_device(all: &[Shipped], name: &str) -> Result<Vec<String>, Error> {
    let mut devices = Vec::new();
    for own in groups(all, |file| file.device) {
        if !found_by_name(&own, name)?.is_empty() {
            devices.extend(own.first().map(|file| selector(all, file.device)));
        }
    }
    devices.sort_by_key(|device| device.len());
    Ok(devices.iter().take(MOST_COMMANDS).map(|device| format!("gpulab show {device} {name}")).collect())
}

/// Suggestions that anybody reads.
const MOST_COMMANDS: usize = 3;

/// What selects a device's records: the last part of its name that no other has, or all of it.
fn selector<'a>(all: &[Shipped], device: &'a str) -> &'a str {
    let is_its_own = |part: &&str| {
        let others = all.iter().filter(|file| file.device != device);
        part.contains(char::is_alphabetic) && others.clone().all(|file| !file.device.contains(*part))
    };
    device.split('-').rfind(is_its_own).unwrap_or(device)
}

/// The records of these names: a file's, or else a family's or an experiment's in any file.
///
/// Errors: `Usage`, with the names that there are.
fn named(own: &[Shipped], names: &[String]) -> Result<Vec<ShownFile>, Error> {
    let mut found = Vec::new();
    for name in names {
        let name = name.to_lowercase();
        let of_name = found_by_name(own, &name)?;
        if of_name.is_empty() {
            let files: Vec<&str> = own.iter().map(|file| file.name).collect();
            return Err(Error::Usage(format!(
                "no record of {name} among those of {}: there are {}",
                own.first().map_or("", |file| file.device),
                files.join(", ")
            )));
        }
        found.extend(of_name);
    }
    Ok(found)
}

/// A device's file of this name, or else what all of its files have of a family or an experiment of this name.
fn found_by_name(own: &[Shipped], name: &str) -> Result<Vec<ShownFile>, Error> {
    let from = |file: &Shipped| take_apart(file.text, &format!("{}/{}", file.device, file.name));
    if let Some(file) = own.iter().find(|file| file.name == name) {
        return Ok(vec![from(file)?]);
    }
    own.iter().map(from).filter_map(|file| file.map(|file| only(file, name)).transpose()).collect()
}

/// The shipped file of a device's limits.
const CEILINGS: &str = "ceilings";

/// The limits of a device whose files these are.
fn own_ceilings(own: &[Shipped]) -> Result<Vec<CeilingRow>, Error> {
    let file = own.iter().find(|file| file.name == CEILINGS);
    Ok(match file.map(|file| take_apart(file.text, file.name)).transpose()?.map(|file| file.holds) {
        Some(ShownContent::Ceilings(rows)) => rows,
        _ => Vec::new(),
    })
}

/// The same, where rows of data that the device's caches hold say so. Those that were recorded before caches were measured
/// do not, and a share of memory's limit would mislead.
fn beside_caches(ceilings: &[CeilingRow], mut shown: Vec<ShownFile>) -> Vec<ShownFile> {
    let cached = cached(ceilings);
    let is_cached = |row: &Row| {
        let is_memory = kernels::family(&row.family).is_some_and(|family| family.ceiling.is_memory());
        is_memory
            && !row.on_host()
            && row.cache == Cache::Warm
            && row.bytes.is_some_and(|bytes| (1..=cached).contains(&bytes))
    };
    for file in &mut shown {
        let ShownContent::Recorded(Recorded::Rows(rows)) = &mut file.holds else { continue };
        for row in rows.iter_mut().filter(|row| is_cached(row) && !row.has_flag(flag::FITS_CACHE)) {
            row.flags = format!("{} {}", row.flags, flag::FITS_CACHE).trim_start().to_owned();
        }
    }
    shown
}

/// What a source has of a family or an experiment.
fn only(source: ShownFile, name: &str) -> Option<ShownFile> {
    let holds = match source.holds {
        ShownContent::Recorded(Recorded::Points(mut points)) => {
            points.retain(|point| point.experiment == name);
            Recorded::Points(points)
        }
        ShownContent::Recorded(Recorded::Rows(mut rows)) => {
            rows.retain(|row| row.family == name);
            Recorded::Rows(rows)
        }
        _ => return None,
    };
    let is_empty = matches!(&holds, Recorded::Points(points) if points.is_empty())
        || matches!(&holds, Recorded::Rows(rows) if rows.is_empty());
    (!is_empty).then_some(ShownFile { holds: ShownContent::Recorded(holds), ..source })
}

//! `gpulab show`: recorded results as the run itself told them, on any machine.

pub(crate) mod records;

use crate::cli::{Global, Show};
use crate::commands::count::counter::{shipped_counts, source_line};
use crate::console::{print, screen};
use crate::count::CountRow;
use crate::kernels::{Registry, Sources};
use crate::record::{HOST, Point, Row};
use crate::report::groups::{distinct, experiments, groups, ladders, tables};
use crate::report::shown::{
    Material, columns, filtered, finding, limits_of_run, model_of, question, reasons_text,
    take_apart,
};
use crate::report::{self, Medium, RateUnit, format};
use crate::store::{Shipped, shipped};
use crate::terminal::say;
use crate::values::condition;
use crate::{Error, Result, outputs, usage_error};
use records::{asked, is_path, of_device};
use std::collections::BTreeSet;
use std::path::Path;

/// Shows the files or the shipped records that were asked for, or lists the latter.
pub fn run(global: &Global, options: &Show) -> Result<()> {
    let Show {
        what,
        gib,
        why,
        conditions,
        n,
        columns,
        md,
    } = options;
    let mut conditions = conditions.clone();
    if let Some(n) = n {
        conditions.push(condition(&format!("n={n}")).map_err(Error::Usage)?);
    }
    let is_plain = !why && conditions.is_empty() && columns.is_empty() && md.is_none();
    if what.is_empty() && is_plain {
        return print(&overview(&shipped()));
    }
    if what.is_empty() {
        return usage_error("show what? Give files, or a device as in gpulab show h200");
    }
    // A device's name alone asks what it has.
    if let [device] = &what[..]
        && is_plain
        && !is_path(device)
    {
        return print(&contents(&of_device(&shipped(), device)?));
    }
    let sources = asked(what)?;
    if let Some(file) = sources.iter().find(|file| !file.samples.is_empty()) {
        let why =
            "holds single timed runs; show takes the rows of the same run, from --csv or --json";
        return usage_error(format!("{} {why}", file.name));
    }
    let mut counts = Vec::new();
    let mut limits = Vec::new();
    if *why {
        counts = shipped_counts()?;
        sources
            .iter()
            .for_each(|source| counts.extend_from_slice(&source.counts));
        limits = records::limits(&sources)?;
    }
    let sources = filtered(sources, &conditions)?;
    sources
        .iter()
        .filter_map(|source| source.torn.first())
        .filter(|_| !global.quiet)
        .for_each(|torn| say(torn));
    let unit = if *gib { RateUnit::GiB } else { RateUnit::GB };
    let is_headed = sources.len() > 1 || !Path::new(&what[0]).exists();
    let style = ShowingStyle {
        unit,
        verbose: global.verbose,
        why: *why,
        counts,
        limits,
        is_headed,
        columns,
    };
    if md.as_deref() != Some("-") {
        print(&style.text(&sources, Medium::Screen(screen(global.color)))?)?;
    }
    match md {
        Some(path) => outputs::write_markdown(path, &style.text(&sources, Medium::Markdown)?),
        None => Ok(()),
    }
}

const WIDTH: usize = 80;

/// A line for each device whose records are shipped.
fn overview(all: &[Shipped]) -> String {
    let head = "Recorded results that come with gpulab. gpulab show DEVICE says what its files hold, gpulab show DEVICE \
                NAME shows a file, a family or an experiment:";
    let mut text = format::wrap(head, WIDTH, "");
    text.push('\n');
    for own in groups(all, |file| file.device) {
        let names: Vec<&str> = own.iter().map(|file| file.name).collect();
        text += &format::wrap(
            &format!("{}: {}", own[0].device, names.join(", ")),
            WIDTH,
            "  ",
        );
    }
    text
}

/// What the files of a device hold.
fn contents(own: &[Shipped]) -> String {
    own.iter()
        .map(|file: &Shipped| {
            let what = take_apart(file.text, file.name)
                .map(|source| summary(&source))
                .unwrap_or_default();
            format::wrap(&format!("{}: {what}", file.name), WIDTH, "  ")
        })
        .collect()
}

/// `ladders of dot`.
fn summary(file: &Material) -> String {
    match file {
        Material { rows, .. } if !rows.is_empty() => {
            let kind = if rows.iter().any(|row| !row.sweep_id.is_empty()) {
                "a sweep of"
            } else {
                "ladders of"
            };
            let devices = distinct(
                rows.iter()
                    .filter(|row| row.platform != HOST)
                    .map(|row| row.device.as_str()),
            );
            let families = distinct(rows.iter().map(|row| row.family.as_str()));
            format!("{kind} {} on {}", families.join(", "), devices.join(", "))
        }
        Material { points, .. } if !points.is_empty() => {
            format!(
                "experiments {}",
                distinct(points.iter().map(|point| point.experiment.as_str())).join(", ")
            )
        }
        Material { peers, .. } if !peers.is_empty() => "another program's figures".to_owned(),
        Material { ceilings, .. } if !ceilings.is_empty() => "measured limits".to_owned(),
        Material { counts, .. } if !counts.is_empty() => "counts".to_owned(),
        _ => "single timed runs".to_owned(),
    }
}

struct ShowingStyle<'a> {
    unit: RateUnit,
    verbose: bool,
    /// Whether reasons stand below ladders, which are made of counts, and of the limits that were recorded with the runs.
    why: bool,
    counts: Vec<CountRow>,
    limits: Vec<Material>,
    /// Whether each source's name stands above what it holds.
    is_headed: bool,
    columns: &'a [String],
}

impl ShowingStyle<'_> {
    /// The sources, one below the other.
    fn text(&self, sources: &[Material], medium: Medium) -> Result<String> {
        let mut all = Vec::new();
        for source in sources {
            let content = self.content(source, medium)?;
            all.push(match (medium, self.is_headed) {
                // A document's tables have their own titles.
                (Medium::Screen(_), true) => {
                    format!("{}\n\n{content}", format::terminal(&source.name))
                }
                _ => content,
            });
        }
        let models = if self.why {
            self.models(sources, medium)
        } else {
            String::new()
        };
        Ok(all.join("\n") + &models)
    }

    /// Why the steps of a ladder pay or not, by the limits of its device.
    fn reasons(&self, rows: &[Row], medium: Medium) -> String {
        let Some(row) = rows.iter().find(|row| !row.on_host()) else {
            return String::new();
        };
        let ceilings = limits_of_run(&self.limits, row);
        report::markdown::below(
            &|screen| reasons_text(&Registry::default(), rows, &self.counts, &ceilings, screen),
            medium,
        )
    }

    /// What the models are that the reasons of these files' ladders come from, each once; or that there is no ladder.
    fn models(&self, files: &[Material], medium: Medium) -> String {
        let all: Vec<Vec<Row>> = files.iter().flat_map(|file| ladders(&file.rows)).collect();
        if all.is_empty() {
            return "--why: no ladder is shown, so there is nothing to explain\n".to_owned();
        }
        let kinds = all.iter().filter_map(|rows| {
            let row = rows.iter().find(|row| !row.on_host())?;
            model_of(rows, &limits_of_run(&self.limits, row))
        });
        let kinds: BTreeSet<bool> = kinds.collect();
        report::markdown::below(
            &|screen| {
                kinds
                    .iter()
                    .map(|is_gpu| report::why::model_text(*is_gpu, screen))
                    .collect()
            },
            medium,
        )
    }

    fn content(&self, source: &Material, medium: Medium) -> Result<String> {
        let names = self.columns;
        match source {
            _ if names.is_empty() => {}
            Material { rows, .. } if !rows.is_empty() => return columns(rows, names, medium),
            Material { points, .. } if !points.is_empty() => return columns(points, names, medium),
            Material { ceilings, .. } if !ceilings.is_empty() => {
                return columns(ceilings, names, medium);
            }
            Material { counts, .. } if !counts.is_empty() => return columns(counts, names, medium),
            _ => {
                return usage_error(
                    "--columns takes results of gpulab, not other programs' figures",
                );
            }
        }
        let mut texts: Vec<String> = tables(&source.rows)
            .iter()
            .map(|group| self.rows(group, medium))
            .collect();
        texts.extend(
            experiments(&source.points)
                .iter()
                .map(|points| study(points, medium)),
        );
        texts.extend(
            source
                .peers
                .iter()
                .map(|(_, cells)| report::peers::table(cells, medium)),
        );
        let devices = groups(&source.ceilings, |row| {
            (row.platform.clone(), row.device.clone(), row.driver.clone())
        });
        texts.extend(devices.iter().map(|rows| match medium {
            Medium::Screen(screen) => report::ceilings::text(rows, screen),
            Medium::Markdown => {
                report::markdown::code(&|screen| report::ceilings::text(rows, screen))
            }
        }));
        // The trials of an experiment may be of several families.
        let counted = groups(&source.counts, |row| {
            let what = if row.experiment.is_empty() {
                &row.family
            } else {
                &row.experiment
            };
            (row.run_id.clone(), what.clone())
        });
        texts.extend(counted.iter().map(|rows| self.counts(rows, medium)));
        Ok(texts.join("\n"))
    }

    /// Counts as a table, and the lines of their sources where the file has them.
    fn counts(&self, rows: &[CountRow], medium: Medium) -> String {
        let text = |screen| {
            let table = report::count::table(rows, self.verbose, screen);
            match rows.iter().any(|row| row.line.is_some()) {
                true => {
                    table
                        + &report::count::lines(
                            rows,
                            &|file, line| source_line(&Sources::default(), file, line),
                            screen,
                        )
                }
                false => table,
            }
        };
        match medium {
            Medium::Screen(screen) => text(screen),
            Medium::Markdown => report::markdown::code(&text),
        }
    }

    /// A ladder as a table, a sweep as its summary.
    fn rows(&self, rows: &[Row], medium: Medium) -> String {
        if rows.iter().any(|row| !row.sweep_id.is_empty()) {
            return match medium {
                Medium::Screen(screen) => report::sweep::summary(rows, screen),
                Medium::Markdown => report::sweep::markdown(rows),
            };
        }
        let ladder = match medium {
            Medium::Screen(screen) => report::ladder::table(rows, self.unit, screen, self.verbose),
            Medium::Markdown => report::markdown::ladder(rows, self.unit),
        };
        if self.why {
            ladder + &self.reasons(rows, medium)
        } else {
            ladder
        }
    }
}

/// An experiment's points with the finding that follows from them.
fn study(points: &[Point], medium: Medium) -> String {
    let finding = finding(points);
    match medium {
        Medium::Screen(screen) => {
            report::experiment::text(points, question(points), &finding, screen)
        }
        Medium::Markdown => report::experiment::markdown(points, question(points), &finding),
    }
}

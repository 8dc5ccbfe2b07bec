//! `gpulab show`: recorded results as the run itself told them, on any machine.

pub(crate) mod records;

use crate::cli::{Global, Show};
use crate::commands::count::counter::{shipped_counts, source_line};
use crate::console::{print, screen};
use crate::count::CountRow;
use crate::kernels::{Registry, Sources};
use crate::record::{HOST, Row};
use crate::report::format::Screen;
use crate::report::groups::{distinct, experiments, groups, ladders, tables};
use crate::report::shown::{
    Material, finding, limits_of_run, model_of, question, reasons_text, take_apart,
};
use crate::report::{self, RateUnit, format};
use crate::store::{Shipped, shipped};
use crate::terminal::say;
use crate::{Result, usage_error};
use gpulab_model::Joined;
use records::{asked, is_path, of_device};
use std::collections::BTreeSet;
use std::path::Path;

/// Shows the files or the shipped records that were asked for, or lists the latter.
pub fn run(global: &Global, options: &Show) -> Result<()> {
    let Show { what, gib, why, n } = options;
    let is_plain = !why && n.is_none();
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
    let mut sources = asked(what)?;
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
    if let Some(n) = n {
        for source in &mut sources {
            source.rows.retain(|row| row.n == *n);
        }
        sources.retain(|source| !source.rows.is_empty());
        if sources.is_empty() {
            return usage_error(format!("-n {n}: no ladder and no sweep of this size"));
        }
    }
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
        screen: screen(global.color),
    };
    print(&style.text(&sources))
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

struct ShowingStyle {
    unit: RateUnit,
    verbose: bool,
    /// Whether reasons stand below ladders, which are made of counts, and of the limits that were recorded with the runs.
    why: bool,
    counts: Vec<CountRow>,
    limits: Vec<Material>,
    /// Whether each source's name stands above what it holds.
    is_headed: bool,
    screen: Screen,
}

impl ShowingStyle {
    /// The sources, one below the other.
    fn text(&self, sources: &[Material]) -> String {
        let all = sources.iter().map(|source| {
            let content = self.content(source);
            match self.is_headed {
                true => format!("{}\n\n{content}", format::terminal(&source.name)),
                false => content,
            }
        });
        let models = if self.why {
            self.models(sources)
        } else {
            String::new()
        };
        all.joined("\n") + &models
    }

    /// Why the steps of a ladder pay or not, by the limits of its device.
    fn reasons(&self, rows: &[Row]) -> String {
        let Some(row) = rows.iter().find(|row| !row.on_host()) else {
            return String::new();
        };
        let ceilings = limits_of_run(&self.limits, row);
        let registry = Registry::default();
        let reasons = reasons_text(&registry, rows, &self.counts, &ceilings, self.screen);
        format!("\n{reasons}")
    }

    /// What the models are that the reasons of these files' ladders come from, each once; or that there is no ladder.
    fn models(&self, files: &[Material]) -> String {
        let all: Vec<Vec<Row>> = files.iter().flat_map(|file| ladders(&file.rows)).collect();
        if all.is_empty() {
            return "--why: no ladder is shown, so there is nothing to explain\n".to_owned();
        }
        let kinds = all.iter().filter_map(|rows| {
            let row = rows.iter().find(|row| !row.on_host())?;
            model_of(rows, &limits_of_run(&self.limits, row))
        });
        let kinds: BTreeSet<bool> = kinds.collect();
        let models = kinds
            .iter()
            .map(|is_gpu| report::why::model_text(*is_gpu, self.screen));
        format!("\n{}", models.joined(""))
    }

    fn content(&self, source: &Material) -> String {
        let mut texts: Vec<String> = tables(&source.rows)
            .iter()
            .map(|group| self.rows(group))
            .collect();
        texts.extend(experiments(&source.points).iter().map(|points| {
            report::experiment::text(points, question(points), &finding(points), self.screen)
        }));
        texts.extend(
            source
                .peers
                .iter()
                .map(|(_, cells)| report::peers::table(cells, self.screen)),
        );
        let devices = groups(&source.ceilings, |row| {
            (row.platform.clone(), row.device.clone(), row.driver.clone())
        });
        texts.extend(
            devices
                .iter()
                .map(|rows| report::ceilings::text(rows, self.screen)),
        );
        // The trials of an experiment may be of several families.
        let counted = groups(&source.counts, |row| {
            let what = if row.experiment.is_empty() {
                &row.family
            } else {
                &row.experiment
            };
            (row.run_id.clone(), what.clone())
        });
        texts.extend(counted.iter().map(|rows| self.counts(rows)));
        texts.join("\n")
    }

    /// Counts as a table, and the lines of their sources where the file has them.
    fn counts(&self, rows: &[CountRow]) -> String {
        let table = report::count::table(rows, self.verbose, self.screen);
        if rows.iter().all(|row| row.line.is_none()) {
            return table;
        }
        let source = |file: &str, line| source_line(&Sources::default(), file, line);
        table + &report::count::lines(rows, &source, self.screen)
    }

    /// A ladder as a table, a sweep as its summary.
    fn rows(&self, rows: &[Row]) -> String {
        if rows.iter().any(|row| !row.sweep_id.is_empty()) {
            return report::sweep::summary(rows, self.screen);
        }
        let ladder = report::ladder::table(rows, self.unit, self.screen, self.verbose);
        if self.why {
            ladder + &self.reasons(rows)
        } else {
            ladder
        }
    }
}

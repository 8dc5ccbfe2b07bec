//! Recorded results as text, as the run itself told them.

use super::{limits, material};
use crate::ceilings::CeilingRow;
use crate::cli::Show;
use crate::counting::{shipped_counts, source_line};
use crate::prelude::*;
use crate::record::Point;
use crate::report::groups::{self, ToldSweeps, experiments, groups, ladders, table_hash};
use crate::report::shown::reasons::{self, RunLimits};
use crate::report::shown::tables::{self, PivotNames};
use crate::report::shown::{PointStudy, ShownContent, ShownFile};
use crate::report::sweep::swept;
use crate::report::{self, Medium, RateUnit};
use crate::store::Recorded;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// What `--why` comes to where no ladder is shown.
const NOTHING_TO_EXPLAIN: &str = "--why: no ladder is shown, so there is nothing to explain\n";

pub(crate) struct ShowingStyle<'a> {
    pub(crate) unit: RateUnit,
    pub(crate) verbose: bool,
    pub(crate) why: Option<Reasons>,
    /// Whether each source's name stands above what it holds.
    pub(crate) is_headed: bool,
    pub(crate) options: &'a Show,
}

/// What the reasons of ladders are made of.
pub(crate) struct Reasons {
    counts: Vec<CountRow>,
    limits: Vec<RunLimits>,
}

impl Reasons {
    /// From the counts that come with gpulab and those in the files, and by the limits that were recorded with them.
    pub(crate) fn of(what: &[String]) -> Result<Reasons, Error> {
        let mut counts = shipped_counts()?;
        counts.extend(material(what)?.counts);
        Ok(Reasons { counts, limits: limits(what)? })
    }

    /// Of a ladder, by the limits of its device.
    fn text(&self, rows: &[Row], medium: Medium) -> String {
        let Some(row) = rows.iter().find(|row| !row.on_host()) else { return String::new() };
        let ceilings = reasons::of_run(&self.limits, row);
        let text = |screen| reasons::text(&Registry::default(), rows, &self.counts, &ceilings, screen);
        report::markdown::below(&text, medium)
    }

    /// The model of a ladder's reasons: whether that of a GPU; none without limits of its device.
    fn model_of(&self, rows: &[Row]) -> Option<bool> {
        let row = rows.iter().find(|row| !row.on_host())?;
        reasons::model_of(rows, &reasons::of_run(&self.limits, row))
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
        report::markdown::below(&text, medium)
    }
}

impl ShowingStyle<'_> {
    /// What was asked for: the sources put together, or one below the other.
    pub(crate) fn text(&self, sources: &[ShownFile], medium: Medium) -> Result<String, Error> {
        let Show { by, value, findings, .. } = self.options;
        match (by, &self.why) {
            _ if *findings => tables::findings(sources, medium),
            (Some(by), Some(why)) if by == tables::WASTE => {
                tables::promises(sources, (&why.counts, &why.limits), medium)
            }
            (Some(by), Some(why)) if by == tables::STEP => tables::steps(sources, (&why.counts, &why.limits), medium),
            (Some(by), Some(why)) => tables::model_errors(sources, by, (&why.counts, &why.limits), medium),
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

    fn each(&self, sources: &[ShownFile], medium: Medium) -> Result<String, Error> {
        let all = joined(
            sources
                .iter()
                .map(|source: &ShownFile| match (medium, self.is_headed) {
                    // A document's tables have their own titles.
                    (Medium::Screen(_), true) => {
                        Ok(format!("{}\n\n{}", format::terminal(&source.name), self.content(source, medium)?))
                    }
                    _ => self.content(source, medium),
                })
                .collect::<Result<Vec<String>, Error>>()?
                .into_iter(),
        );
        Ok(all + &self.why.as_ref().map_or_else(String::new, |why| why.models(sources, medium)))
    }

    fn content(&self, source: &ShownFile, medium: Medium) -> Result<String, Error> {
        let holds = &source.holds;
        if !self.options.columns.is_empty() {
            return Ok(joined(tables::chosen(holds, &self.options.columns, self.unit, medium)?.into_iter()));
        }
        Ok(match holds {
            ShownContent::Recorded(Recorded::Rows(rows)) => self.rows(rows, &source.swept, medium),
            ShownContent::Recorded(Recorded::Points(points)) => {
                joined(experiments(points).iter().map(|p| study(p, medium)))
            }
            ShownContent::Recorded(Recorded::Peers(cells)) => report::peers::table(cells, medium),
            ShownContent::Recorded(Recorded::Other { .. }) => String::new(),
            ShownContent::Samples(_) => String::new(),
            ShownContent::Ceilings(rows) => joined(
                groups(rows, |row: &CeilingRow| (row.platform.clone(), row.device.clone(), row.driver.clone()))
                    .iter()
                    .map(|rows| match medium {
                        Medium::Screen(screen) => report::ceilings::text(rows, screen),
                        Medium::Markdown => report::ceilings::markdown(rows),
                    }),
            ),
            ShownContent::Counts(rows) => {
                // The trials of an experiment may be of several families.
                let what = |row: &CountRow| {
                    if row.experiment.is_empty() { row.family.clone() } else { row.experiment.clone() }
                };
                joined(
                    groups(rows, |row: &CountRow| (row.run_id.clone(), what(row)))
                        .iter()
                        .map(|rows| self.counts(rows, medium)),
                )
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
    fn rows(&self, rows: &[Row], sweeps: &ToldSweeps, medium: Medium) -> String {
        joined(groups::tables(rows).iter().map(|group: &Cow<'_, [Row]>| {
            match group.iter().any(|row| !row.sweep_id.is_empty()) {
                true => {
                    let told = sweeps.get(&table_hash(&group[0])).map(Cow::Borrowed);
                    let told = told.unwrap_or_else(|| Cow::Owned(swept(group)));
                    match medium {
                        Medium::Screen(screen) => report::sweep::summary(&told, screen),
                        Medium::Markdown => report::sweep::markdown(&told),
                    }
                }
                false => {
                    let reasons = self.why.as_ref().map_or_else(String::new, |why| why.text(group, medium));
                    let ladder = match medium {
                        Medium::Screen(screen) => report::ladder::table(group, self.unit, screen, self.verbose),
                        Medium::Markdown => report::markdown::ladder(group, self.unit),
                    };
                    ladder + &reasons
                }
            }
        }))
    }
}

fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.joined("\n")
}

/// An experiment's points with the finding that follows from them.
fn study(points: &[Point], medium: Medium) -> String {
    let study = PointStudy::of(points);
    let question = study.question;
    let finding = &study.finding;
    let label = |x| study.label(x);
    match medium {
        Medium::Screen(screen) => report::experiment::text(points, question, finding, &label, screen),
        Medium::Markdown => report::experiment::markdown(points, question, finding, &label),
    }
}

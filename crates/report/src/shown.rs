//! Recorded results put together for tables, pictures and pages: what files hold, which of it is meant, and what it comes to.

use crate::format::Screen;
use crate::groups::{distinct, elements, experiments, groups, number_key, of_most_rungs};
use gpulab_kernels::{Registry, built_in};
use gpulab_model::data::Dtype;
use gpulab_model::outcome::Cache;
use gpulab_model::{Error, Result, usage_error};
use gpulab_record::store::{COUNTED, Recorded, of_csv, recorded};
use gpulab_record::{Point, Row, SampleRow, flag};
use gpulab_study::ceilings::{CeilingRow, cached};
use gpulab_study::count::CountRow;
use gpulab_study::experiments::{Experiment, experiment};
use gpulab_study::why::{DeviceRates, reasons};
use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

/// What was recorded: what a file holds, or all that was asked for, put together.
#[derive(Default)]
pub struct Material {
    /// Of a file.
    pub name: String,
    pub rows: Vec<Row>,
    pub points: Vec<Point>,
    pub ceilings: Vec<CeilingRow>,
    pub counts: Vec<CountRow>,
    pub samples: Vec<SampleRow>,
    /// Files' names, and the figures of other programs in them: a header, and cells.
    pub peers: Vec<(String, Vec<Vec<String>>)>,
    /// What was wrong with last lines.
    pub torn: Vec<String>,
}

impl Material {
    fn is_empty(&self) -> bool {
        let Material {
            rows,
            points,
            ceilings,
            counts,
            samples,
            peers,
            ..
        } = self;
        rows.is_empty()
            && points.is_empty()
            && ceilings.is_empty()
            && counts.is_empty()
            && samples.is_empty()
            && peers.iter().all(|(_, cells)| cells.len() < 2)
    }

    /// Adds all but single runs, which nothing is made from.
    pub fn take(&mut self, file: Material) {
        self.rows.extend(file.rows);
        self.points.extend(file.points);
        self.ceilings.extend(file.ceilings);
        self.counts.extend(file.counts);
        self.peers.extend(file.peers);
        self.torn.extend(file.torn);
    }
}

/// Errors: `Usage`, if the file holds nothing that can be shown.
pub fn take_apart(text: &[u8], name: &str) -> Result<Material> {
    let (file, torn) = recorded(text, name)?;
    let mut own = Material {
        name: name.to_owned(),
        torn: torn.into_iter().collect(),
        ..Material::default()
    };
    match file {
        Recorded::Rows(rows) => own.rows = rows,
        Recorded::Points(points) => own.points = points,
        Recorded::Peers(cells) => own.peers.push((name.to_owned(), cells)),
        Recorded::Other { header } => {
            let has = ["what", "place", "event_s", COUNTED]
                .map(|column| header.iter().any(|name| name == column));
            let [has_what, has_place, is_of_samples, is_of_counts] = has;
            if is_of_counts && text.trim_ascii_start().starts_with(b"[") {
                let counts = serde_json::from_slice(text);
                own.counts = counts
                    .map_err(|e| Error::Usage(format!("{name} is not a file of counts: {e}")))?;
            } else if is_of_counts {
                own.counts = of_csv(text, name)?.0;
            } else if has_what && has_place {
                own.ceilings = of_csv(text, name)?.0;
            } else if is_of_samples {
                own.samples = of_csv(text, name)?.0;
            } else {
                let why = "holds no results of gpulab: show takes what --csv and --json write";
                return usage_error(format!("{name} {why}"));
            }
        }
    }
    if own.is_empty() {
        return usage_error(format!("{name} has a header and no results below it"));
    }
    Ok(own)
}

/// Flags the rows of data that the device's caches hold, by its limits or by another rung that was faster than memory over the
/// same data. Those that were recorded before do not say so themselves, and a share of memory's limit would mislead.
pub fn mark_cached(rows: &mut [Row], ceilings: &[CeilingRow]) {
    // Beside the data there may be a few partial results.
    let held: BTreeMap<String, u64> = groups(ceilings, |row| row.device.clone())
        .into_iter()
        .map(|own| (own[0].device.clone(), cached(&own).saturating_mul(17) / 16))
        .collect();
    let faster: BTreeSet<_> = rows
        .iter()
        .filter(|row| is_warm(row) && row.flags.contains(flag::FITS_CACHE))
        .map(data)
        .collect();
    for row in rows.iter_mut().filter(|row| is_warm(row)) {
        let most = held.get(&row.device).copied().unwrap_or_default();
        if row.bytes.is_some_and(|bytes| (1..=most).contains(&bytes)) || faster.contains(&data(row))
        {
            row.set_in_cache();
        }
    }
}

fn data(row: &Row) -> (String, String, Dtype, u64, u64) {
    (
        row.device.clone(),
        row.family.clone(),
        row.dtype,
        row.n,
        row.m,
    )
}

/// Whether memory's limit bounds the row unless a cache holds its data.
fn is_warm(row: &Row) -> bool {
    let is_memory = built_in(&row.family).is_some_and(|family| family.ceiling.is_memory());
    is_memory && row.cache == Cache::Warm && !row.on_host()
}

/// What a source has of a family or an experiment.
pub fn only(mut source: Material, name: &str) -> Option<Material> {
    source.rows.retain(|row| row.family == name);
    source.points.retain(|point| point.experiment == name);
    (source.rows.len() + source.points.len() > 0).then_some(source)
}

/// What `gpulab plot` was asked to draw.
pub struct Choice<'a> {
    pub files: &'a [String],
    /// A family or an experiment.
    pub name: Option<&'a str>,
    /// Elements, or columns of matrices.
    pub n: Option<u64>,
    pub dtype: Option<Dtype>,
}

impl Choice<'_> {
    pub fn is_met(&self, row: &Row) -> bool {
        self.name.is_none_or(|name| row.family == name)
            && self.n.is_none_or(|n| row.n == n)
            && self.dtype.is_none_or(|dtype| row.dtype == dtype)
    }

    fn none(&self, what: &str, example: &str) -> Error {
        let chosen = self.name.is_some() || self.n.is_some() || self.dtype.is_some();
        let of = if chosen {
            " that --name, -n and --dtype choose"
        } else {
            ""
        };
        Error::Usage(format!(
            "{} holds no {what}{of}: it is drawn from {example}",
            self.files.join(", ")
        ))
    }

    /// The largest problem, of equal ones the last.
    ///
    /// Errors: `Usage`, if there is none; `example` is what has some.
    pub fn largest(&self, all: Vec<Vec<Row>>, what: &str, example: &str) -> Result<Vec<Row>> {
        all.into_iter()
            .max_by_key(|rows| elements(rows))
            .ok_or_else(|| self.none(what, example))
    }

    /// The largest ladder of each family on the first ladder's device.
    pub fn of_each_family(&self, all: &[Vec<Row>]) -> Result<Vec<Vec<Row>>> {
        let mut devices = all
            .iter()
            .map(|rows| Some(&rows.iter().find(|row| !row.on_host())?.device));
        let first = devices.clone().flatten().next();
        let first = first.ok_or_else(|| self.none("ladder", "what gpulab reduce --csv writes"))?;
        let mut own = all.to_vec();
        own.retain(|_| devices.next().flatten() == Some(first));
        let families = groups(&own, |rows| rows.first().map(|row| row.family.clone()));
        families
            .into_iter()
            .map(|own| self.largest(of_most_rungs(own), "ladder", ""))
            .collect()
    }

    /// The points of the experiment that is meant: the last run of it.
    ///
    /// Errors: `Usage` if there is none, or there are several and none was named.
    pub fn points(&self, points: &[Point]) -> Result<Vec<Point>> {
        let mut all = experiments(points);
        let names = distinct(points.iter().map(|point| point.experiment.as_str())).join(", ");
        all.retain(|own| self.name.is_none_or(|name| own[0].experiment == name));
        match all.pop() {
            Some(last)
                if all
                    .iter()
                    .any(|own| own[0].experiment != last[0].experiment) =>
            {
                usage_error(format!(
                    "the files hold several experiments: choose with --name one of {names}"
                ))
            }
            Some(last) => Ok(last),
            None if names.is_empty() => {
                Err(self.none("experiment", "what gpulab lab NAME --csv writes"))
            }
            None => usage_error(format!("the files hold no such experiment, but {names}")),
        }
    }
}

/// The limits of a row's device that were recorded with its run.
pub fn limits_of_run(limits: &[Material], row: &Row) -> Vec<CeilingRow> {
    let of_run = limits
        .iter()
        .filter(|folder| folder.rows.iter().any(|own| own.run_id == row.run_id));
    let own = of_run.flat_map(|folder| &folder.ceilings);
    own.filter(|limit| (&limit.device, &limit.driver) == (&row.device, &row.driver))
        .cloned()
        .collect()
}

/// Whether a ladder's reasons are those of a GPU; none if this device's ceilings tell no reasons.
pub fn model_of(rows: &[Row], ceilings: &[CeilingRow]) -> Option<bool> {
    let is_gpu = !rows
        .iter()
        .find(|row| !row.on_host() && row.t_median_s.is_some())?
        .is_on_cpu_device();
    DeviceRates::new(ceilings, is_gpu).is_ok().then_some(is_gpu)
}

/// The reasons of a ladder's rows, by these ceilings of its device, without what the model is; or why there are none.
pub fn reasons_text(
    registry: &Registry,
    rows: &[Row],
    counts: &[CountRow],
    ceilings: &[CeilingRow],
    screen: Screen,
) -> String {
    let Some(row) = rows.iter().find(|row| !row.on_host()) else {
        return String::new();
    };
    let is_gpu = !row.is_on_cpu_device();
    match DeviceRates::new(ceilings, is_gpu) {
        Ok(rates) => crate::why::text(&reasons(registry, rows, counts, &rates), screen),
        Err(missing) => screen.wrap(&crate::why::without_limit(missing, &row.device)),
    }
}

fn experiment_of(points: &[Point]) -> Option<&'static Experiment> {
    experiment(&points.first()?.experiment)
}

/// What the experiment of recorded points asks.
pub fn question(points: &[Point]) -> &'static str {
    experiment_of(points).map_or("", |known| known.question)
}

/// What follows from recorded points of an experiment.
pub fn finding(points: &[Point]) -> String {
    let name = points.first().map_or("", |point| point.experiment.as_str());
    match experiment_of(points) {
        Some(known) => known.finding(points),
        None => format!("this gpulab has no experiment {name}, so its points give no finding"),
    }
}

/// How reports name a value of what is varied: as it was recorded, or as the experiment names it.
pub fn x_label(points: &[impl Borrow<Point>], x: f64) -> String {
    let own = points
        .iter()
        .map(Borrow::borrow)
        .find(|point| number_key(point.x) == number_key(x));
    match own.filter(|point| !point.x_label.is_empty()) {
        Some(point) => point.x_label.clone(),
        None => own
            .and_then(|point| experiment(&point.experiment))
            .map_or_else(|| x.to_string(), |known| (known.x_label)(x)),
    }
}

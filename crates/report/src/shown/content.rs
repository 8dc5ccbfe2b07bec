//! What a recorded file holds, of whatever kind.

use crate::groups::groups;
use gpulab_kernels as kernels;
use gpulab_model::Error;
use gpulab_model::outcome::Cache;
use gpulab_record::store::{COUNTED, Recorded, of_csv, recorded};
use gpulab_record::{Point, Row, SampleRow, flag};
use gpulab_study::ceilings::{CeilingRow, cached};
use gpulab_study::count::CountRow;
use std::collections::{BTreeMap, BTreeSet};

pub struct ShownFile {
    pub name: String,
    pub holds: ShownContent,
    pub torn: Option<String>,
}

impl ShownFile {
    /// That tables are made from rows.
    pub fn no_samples(self) -> Result<ShownFile, Error> {
        match self.holds {
            ShownContent::Samples(_) => {
                let why = "holds single timed runs; show takes the rows of the same run, from --csv or --json";
                Err(Error::Usage(format!("{} {why}", self.name)))
            }
            _ => Ok(self),
        }
    }
}

pub enum ShownContent {
    Recorded(Recorded),
    Ceilings(Vec<CeilingRow>),
    Counts(Vec<CountRow>),
    Samples(Vec<SampleRow>),
}

/// Errors: `Usage`, if the file holds nothing that can be shown.
pub fn take_apart(text: &[u8], name: &str) -> Result<ShownFile, Error> {
    let (holds, torn) = match recorded(text, name)? {
        (Recorded::Other { header }, torn) => {
            let has = |column: &str| header.iter().any(|name| name == column);
            match (has("what") && has("place"), has("event_s")) {
                _ if has(COUNTED) => (ShownContent::Counts(counts(text, name)?), torn),
                (true, _) => (ShownContent::Ceilings(of_csv(text, name)?.0), torn),
                (_, true) => (ShownContent::Samples(of_csv(text, name)?.0), torn),
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
        ShownContent::Samples(rows) => rows.is_empty(),
    };
    match is_empty {
        true => Err(Error::Usage(format!("{name} has a header and no results below it"))),
        false => Ok(ShownFile { name: name.to_owned(), holds, torn }),
    }
}

fn counts(text: &[u8], name: &str) -> Result<Vec<CountRow>, Error> {
    match text.trim_ascii_start().first() {
        Some(b'[') => {
            serde_json::from_slice(text).map_err(|e| Error::Usage(format!("{name} is not a file of counts: {e}")))
        }
        _ => Ok(of_csv(text, name)?.0),
    }
}

/// Flags the rows of data that the device's caches hold, by its limits or by another rung that was faster than memory over the
/// same data. Those that were recorded before do not say so themselves, and a share of memory's limit would mislead.
pub fn mark_cached(rows: &mut [Row], ceilings: &[CeilingRow]) {
    // Beside the data there may be a few partial results.
    let held = |of_device: Vec<CeilingRow>| (of_device[0].device.clone(), cached(&of_device).saturating_mul(17) / 16);
    let held: BTreeMap<String, u64> = groups(ceilings, |row| row.device.clone()).into_iter().map(held).collect();
    let data = |row: &Row| (row.device.clone(), row.family.clone(), row.dtype, row.n, row.m);
    let is_warm = |row: &Row| {
        let is_memory = kernels::built_in(&row.family).is_some_and(|family| family.ceiling.is_memory());
        is_memory && row.cache == Cache::Warm && !row.on_host()
    };
    let faster: BTreeSet<_> =
        rows.iter().filter(|row| is_warm(row) && row.flags.contains(flag::FITS_CACHE)).map(data).collect();
    let fits = |row: &Row| {
        let most = held.get(&row.device).copied().unwrap_or_default();
        row.bytes.is_some_and(|bytes| (1..=most).contains(&bytes)) || faster.contains(&data(row))
    };
    rows.iter_mut().filter(|row| is_warm(row) && fits(row)).for_each(Row::set_in_cache);
}

/// What a source has of a family or an experiment.
pub fn only(source: ShownFile, name: &str) -> Option<ShownFile> {
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

/// What pictures and pages are made from: all that was asked for, put together.
#[derive(Default)]
pub struct Material {
    pub rows: Vec<Row>,
    pub points: Vec<Point>,
    pub ceilings: Vec<CeilingRow>,
    pub counts: Vec<CountRow>,
    pub samples: Vec<SampleRow>,
    /// Files' names, and the figures of other programs in them.
    pub peers: Vec<(String, Vec<Vec<String>>)>,
    /// What was wrong with last lines.
    pub torn: Vec<String>,
}

impl Material {
    pub fn take(&mut self, file: ShownFile) {
        self.torn.extend(file.torn);
        match file.holds {
            ShownContent::Recorded(Recorded::Rows(rows)) => self.rows.extend(rows),
            ShownContent::Recorded(Recorded::Points(points)) => self.points.extend(points),
            ShownContent::Recorded(Recorded::Peers(cells)) => self.peers.push((file.name, cells)),
            ShownContent::Recorded(Recorded::Other { .. }) => {}
            ShownContent::Ceilings(rows) => self.ceilings.extend(rows),
            ShownContent::Counts(rows) => self.counts.extend(rows),
            ShownContent::Samples(rows) => self.samples.extend(rows),
        }
    }

    /// Flags the rows of data that caches hold, by all ceilings that were taken.
    pub fn mark_cached(&mut self) {
        mark_cached(&mut self.rows, &self.ceilings);
    }
}

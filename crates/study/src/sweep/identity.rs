//! What makes two sweeps the same, so that one can be gone on with and its shards can be joined.

use super::Configuration;
use gpulab_model::Joined;
use gpulab_model::outcome::{DeviceInfo, Outcome, Settings};
use gpulab_model::plan::Case;
use gpulab_record::groups::distinct;
use gpulab_record::store::Rows;
use gpulab_record::{Row, Scene};
use std::collections::{BTreeMap, BTreeSet};

/// A fixed part of a plan: every `of`-th configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 1.
    pub index: u64,
    pub of: u64,
}

impl Shard {
    pub const ALL: Shard = Shard { index: 1, of: 1 };

    /// Whether a configuration belongs to it; by its place alone, so that every machine agrees.
    pub fn holds(self, configuration: &Configuration) -> bool {
        configuration.index % self.of == self.index - 1
    }

    /// As in the `shard` column: `2/4`, or nothing for the whole.
    pub fn text(self) -> String {
        if self == Shard::ALL {
            String::new()
        } else {
            format!("{}/{}", self.index, self.of)
        }
    }
}

/// What the rows of one sweep have in common: a row without what was measured.
#[derive(Clone, Debug)]
pub struct Identity(pub Row);

impl Identity {
    /// The identity of a plan that is measured within `budget` seconds, if it is. `sources` are the kernels' texts.
    pub fn new(
        plan: &[Configuration],
        shard: Shard,
        device: &DeviceInfo,
        settings: &Settings,
        budget: Option<f64>,
        sources: &[String],
    ) -> Identity {
        let seed = plan.first().map_or(0, |c| c.case.seed);
        let kernels = hash(sources.iter().map(String::as_str));
        let budget = budget.map_or_else(String::new, |whole| format!(" budget={whole}"));
        let settings = format!(
            "{}{budget} seed={seed} kernels={kernels:016x}",
            settings_text(settings)
        );
        let labels: Vec<String> = plan.iter().map(Configuration::label).collect();
        let all = labels.iter().map(String::as_str).chain([settings.as_str()]);
        Identity(Row {
            gpulab: env!("CARGO_PKG_VERSION").to_owned(),
            platform: device.platform.clone(),
            device: device.name.clone(),
            driver: device.driver.clone(),
            // A hash of the plan, the settings and the kernel sources. A letter in front keeps spreadsheets from reading a number.
            sweep_id: format!("s{:016x}", hash(all)),
            cases: Some(plan.len() as u64),
            shard: shard.text(),
            settings,
            ..Row::default()
        })
    }

    /// The row of a configuration that ended so; also of one that never got as far as a plan: no two rows of a sweep look the
    /// same.
    pub fn row(&self, scene: &Scene, configuration: &Configuration, mut outcome: Outcome) -> Row {
        (outcome.wg, outcome.params) = (configuration.wg, configuration.params.clone());
        let mut row = Row::of(scene, configuration.rung, &outcome);
        self.stamp(&mut row, configuration);
        row
    }

    pub fn stamp(&self, row: &mut Row, configuration: &Configuration) {
        row.sweep_id.clone_from(&self.0.sweep_id);
        row.case_index = Some(configuration.index);
        row.cases = self.0.cases;
        row.shard.clone_from(&self.0.shard);
        row.settings.clone_from(&self.0.settings);
    }

    /// Places in the plan of the configurations that a file of this sweep has rows of.
    pub fn finished(&self, plan: &[Configuration], rows: &[Row]) -> Result<BTreeSet<u64>, String> {
        let mut finished = BTreeSet::new();
        for row in rows {
            if let Some(difference) = different(row, &self.0) {
                return Err(difference);
            }
            if row.shard != self.0.shard {
                return Err(format!(
                    "the shard is {:?} in one and {:?} in the other",
                    row.shard, self.0.shard
                ));
            }
            let planned = row
                .case_index
                .and_then(|index| plan.get(index as usize))
                .filter(|planned| {
                    let Case {
                        family,
                        variant,
                        dtype,
                        shape,
                        ..
                    } = &planned.case;
                    (&row.family, &row.variant, row.dtype, row.n, row.m)
                        == (family, variant, *dtype, shape.n, shape.m)
                });
            if !planned.is_some_and(|planned| finished.insert(planned.index)) {
                return Err("a row is not a configuration of the sweep, or is there twice".into());
            }
        }
        Ok(finished)
    }
}

/// The first thing in which the sweeps of two rows differ, if they do.
fn different(a: &Row, b: &Row) -> Option<String> {
    let [a, b] = [(a, b), (b, a)].map(|(row, other)| {
        [
            ("gpulab's version", row.gpulab.clone()),
            ("the device", format!("{} ({})", row.device, row.platform)),
            ("the driver", row.driver.clone()),
            (
                "how it is measured",
                words_without(&row.settings, &other.settings),
            ),
            ("the number of shards", shards(row).to_string()),
            (
                "the sweep",
                format!(
                    "{} of {} configurations",
                    row.sweep_id,
                    row.cases.unwrap_or_default()
                ),
            ),
        ]
    });
    a.into_iter()
        .zip(b)
        .find(|(a, b)| a != b)
        .map(|((what, a), (_, b))| format!("{what} is {a} in one and {b} in the other"))
}

/// Into how many shards a row's sweep was divided.
fn shards(row: &Row) -> u64 {
    row.shard
        .split_once('/')
        .and_then(|(_, of)| of.parse().ok())
        .unwrap_or(1)
}

/// The rows of a sweep's shards in the plan's order, if together they are one whole sweep.
pub fn merge(files: Vec<(String, Rows)>) -> Result<Vec<Row>, String> {
    let mut all: BTreeMap<u64, (Row, String)> = BTreeMap::new();
    let mut first: Option<(Row, String)> = None;
    for (name, file) in files {
        if let Some(torn) = file.torn {
            return Err(format!("{torn}: finish it with gpulab sweep --resume"));
        }
        for row in file.rows {
            let Some(index) = row
                .case_index
                .filter(|index| !row.sweep_id.is_empty() && Some(*index) < row.cases)
            else {
                return Err(format!("{name} has rows without a place in a sweep"));
            };
            let (model, origin) = first.get_or_insert_with(|| (row.clone(), name.clone()));
            if let Some(difference) = different(model, &row) {
                return Err(format!("{origin} and {name} differ: {difference}"));
            }
            if let Some((_, other)) = all.insert(index, (row, name.clone())) {
                return Err(format!(
                    "configuration {index} is in {other} and again in {name}"
                ));
            }
        }
    }
    let Some((row, _)) = first else {
        return Err("there are no rows to join".into());
    };
    let cases = row.cases.unwrap_or_default();
    let lacking: Vec<u64> = (0..cases)
        .filter(|index| !all.contains_key(index))
        .collect();
    if lacking.is_empty() {
        return Ok(all.into_values().map(|(row, _)| row).collect());
    }
    let parts = distinct(
        lacking
            .iter()
            .map(|index| format!("{}/{}", index % shards(&row) + 1, shards(&row))),
    )
    .join(", ");
    Err(format!(
        "of {cases} configurations {} are missing, of shard {parts}",
        lacking.len()
    ))
}

/// The words of a text that another has not.
fn words_without(text: &str, other: &str) -> String {
    text.split(' ')
        .filter(|word| !other.split(' ').any(|own| own == *word))
        .joined(" ")
}

fn settings_text(settings: &Settings) -> String {
    let Settings {
        warmup,
        min_runs,
        max_runs,
        min_time,
        timeout,
        max_noise,
        cache,
        clock,
        ..
    } = settings;
    format!(
        "warmup={warmup} min_runs={min_runs} max_runs={max_runs} min_time={min_time} timeout={timeout} \
         max_noise={max_noise} cache={} clock={} order=interleave",
        format!("{cache:?}").to_lowercase(),
        format!("{clock:?}").to_lowercase()
    )
}

/// FNV-1a of texts, each ended by a zero: the same on every machine and in every version.
fn hash<'a>(texts: impl Iterator<Item = &'a str>) -> u64 {
    let bytes = texts.flat_map(|text| text.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

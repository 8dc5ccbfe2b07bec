//! What makes two sweeps the same, so that one can be gone on with and its shards can be joined.

use super::{Configuration, Order};
use gpulab_model::outcome::{DeviceInfo, Settings};
use gpulab_model::plan::Case;
use gpulab_record::Row;
use gpulab_system::text::Joined;
use std::collections::BTreeSet;

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
        if self == Shard::ALL { String::new() } else { format!("{}/{}", self.index, self.of) }
    }
}

/// What the rows of one sweep have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// A hash of the plan, the settings and the kernel sources.
    pub sweep_id: String,
    pub cases: u64,
    pub shard: Shard,
    /// How it is measured, in words.
    pub settings: String,
    device: String,
    driver: String,
}

impl Identity {
    /// The identity of a plan that is measured within `budget` seconds, if it is. `sources` are the kernels' texts.
    pub fn new(
        plan: &[Configuration],
        shard: Shard,
        device: &DeviceInfo,
        settings: &Settings,
        order: Order,
        budget: Option<f64>,
        sources: &[String],
    ) -> Identity {
        let seed = plan.first().map_or(0, |c| c.case.seed);
        let kernels = hash(sources.iter().map(String::as_str));
        let budget = budget.map_or_else(String::new, |whole| format!(" budget={whole}"));
        let settings = format!("{}{budget} seed={seed} kernels={kernels:016x}", settings_text(settings, order));
        let labels: Vec<String> = plan.iter().map(Configuration::label).collect();
        let all = labels.iter().map(String::as_str).chain([settings.as_str()]);
        Identity {
            // A letter in front keeps spreadsheets from reading a number.
            sweep_id: format!("s{:016x}", hash(all)),
            cases: plan.len() as u64,
            shard,
            settings,
            device: format!("{} ({})", device.name, device.platform),
            driver: device.driver.clone(),
        }
    }

    /// Of a shard of the same sweep.
    pub fn of_shard(&self, shard: Shard) -> Identity {
        Identity { shard, ..self.clone() }
    }

    /// All of it on one line: of two sweeps it is the same if what was measured of one counts for the other.
    pub fn key(&self) -> String {
        let Identity { sweep_id, shard, device, driver, .. } = self;
        let version = env!("CARGO_PKG_VERSION");
        format!("{:?}", (version, sweep_id, shard.text(), device, driver))
    }

    pub fn stamp(&self, row: &mut Row, configuration: &Configuration) {
        row.sweep_id.clone_from(&self.sweep_id);
        row.case_index = Some(configuration.index);
        row.cases = Some(self.cases);
        row.shard = self.shard.text();
        row.settings.clone_from(&self.settings);
    }

    /// Places in the plan of the configurations that a file of this sweep has rows of.
    pub fn finished(&self, plan: &[Configuration], rows: &[Row]) -> Result<BTreeSet<u64>, String> {
        let mut finished = BTreeSet::new();
        let is_of = |row: &Row, configuration: &Configuration| {
            let Case { family, variant, dtype, shape, .. } = &configuration.case;
            let is_same = (&row.family, &row.variant, row.dtype) == (family, variant, *dtype);
            is_same && (row.n, row.m) == (shape.n, shape.m)
        };
        for row in rows {
            if let Some(difference) = self.difference(row) {
                return Err(difference);
            }
            match row.case_index {
                Some(index)
                    if plan.get(index as usize).is_some_and(|planned| is_of(row, planned))
                        && finished.insert(index) => {}
                _ => return Err("a row is not a configuration of the sweep, or is there twice".into()),
            }
        }
        Ok(finished)
    }

    fn difference(&self, row: &Row) -> Option<String> {
        if row.sweep_id.is_empty() {
            return Some("its rows belong to no sweep".into());
        }
        let theirs = device(row);
        let version = env!("CARGO_PKG_VERSION");
        let (their_settings, settings) = different_words(&row.settings, &self.settings);
        let shard = self.shard.text();
        let parts = [
            ("gpulab's version", row.gpulab.as_str(), version),
            ("the device", &theirs, &self.device),
            ("the driver", &row.driver, &self.driver),
            ("how it is measured", &their_settings, &settings),
            ("the shard", or_all(&row.shard), or_all(&shard)),
        ];
        if let Some((what, theirs, ours)) = parts.into_iter().find(|(_, theirs, ours)| theirs != ours) {
            return Some(format!("{what} was {theirs} and is {ours}"));
        }
        (row.sweep_id != self.sweep_id).then(|| {
            let theirs = row.cases.unwrap_or_default();
            let ours = self.cases;
            format!("its plan has other configurations ({theirs} of them, this one has {ours}): see --dry-run")
        })
    }
}

pub(super) fn device(row: &Row) -> String {
    format!("{} ({})", row.device, row.platform)
}

fn or_all(shard: &str) -> &str {
    if shard.is_empty() { "all of it" } else { shard }
}

/// The words of each that the other has not.
pub(super) fn different_words(a: &str, b: &str) -> (String, String) {
    let only = |a: &str, b: &str| {
        let words = a.split(' ').filter(|word| !b.split(' ').any(|other| other == *word));
        words.joined(" ")
    };
    let or_nothing = |words: String| if words.is_empty() { "without it".to_owned() } else { words };
    (or_nothing(only(a, b)), or_nothing(only(b, a)))
}

fn settings_text(settings: &Settings, order: Order) -> String {
    let Settings { warmup, min_runs, max_runs, min_time, timeout, max_noise, cache, clock, .. } = settings;
    format!(
        "warmup={warmup} min_runs={min_runs} max_runs={max_runs} min_time={min_time} timeout={timeout} \
         max_noise={max_noise} cache={} clock={} order={}",
        format!("{cache:?}").to_lowercase(),
        format!("{clock:?}").to_lowercase(),
        format!("{order:?}").to_lowercase()
    )
}

/// FNV-1a of texts, each ended by a zero: the same on every machine and in every version.
fn hash<'a>(texts: impl Iterator<Item = &'a str>) -> u64 {
    let bytes = texts.flat_map(|text| text.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

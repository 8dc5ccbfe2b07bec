//! The line that is kept, and written to files, of a ceiling.

use super::{Quantity, Rate, Site};
use gpulab_model::data::Params;
use gpulab_model::outcome::{Clock, DeviceInfo, Outcome, Status};
use gpulab_model::plan::WorkGroup;
use gpulab_model::stats;
use gpulab_record::{DRIFT_RATIO, Flags, Run, SCHEMA, columns, flag};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Spread of a ceiling's own runs above which the machine was not quiet.
const MOST_NOISE: f64 = 0.05;

columns! {
    /// What a device does at best of one quantity; its fields are the columns of CSV files and the names in JSON.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct CeilingRow {
        /// Version of the columns.
        pub schema: u32,
        /// Different for each run of the program.
        pub run_id: String,
        /// When the run began: UTC, ISO 8601.
        pub time_utc: String,
        /// The program's version.
        pub gpulab: String,
        /// Platform name.
        pub platform: String,
        /// Device name.
        pub device: String,
        /// Driver version.
        pub driver: String,
        /// What was measured, as in `read` or `fma`.
        pub what: String,
        /// Where, or under which condition.
        pub place: Site,
        /// Element type, where it matters.
        pub element: String,
        /// Bytes of the data, where they matter.
        #[unit = "B"]
        pub bytes: Option<u64>,
        /// The best of all shapes; none unless `ok`.
        pub value: Option<f64>,
        /// The value's unit.
        pub unit: String,
        /// The probe that reached it, as in `read/strided`.
        pub probe: String,
        /// Its work-group size.
        #[serde(with = "gpulab_record::text::work_group")]
        pub wg: WorkGroup,
        /// Its settings.
        #[serde(with = "gpulab_record::text::params")]
        pub params: Params,
        /// Shapes that were tried.
        pub tried: u64,
        /// Its timed runs; the fastest counts.
        pub runs: u64,
        /// Inter-quartile range of the runs' times over their median.
        #[unit = "1"]
        pub noise: Option<f64>,
        /// Which clock the times come from.
        pub clock: Clock,
        /// Whether fewer shapes were tried, and for less time.
        pub quick: bool,
        /// How it ended.
        pub status: Status,
        /// Why, unless `ok`; for `ok`, why another clock was used than events.
        pub reason: String,
        /// Words for numbers that need care, separated by blanks.
        pub flags: Flags,
        /// Time of the search.
        #[unit = "s"]
        #[serde(default)]
        pub t_search_s: f64,
    }
}

impl CeilingRow {
    /// The line of a quantity of which the best of so many shapes gave this outcome; `value` is in its unit.
    pub fn new(
        quantity: &Quantity,
        (run, device): (&Run, &DeviceInfo),
        (outcome, value, tried): (&Outcome, Option<f64>, usize),
        quick: bool,
    ) -> CeilingRow {
        let times = stats::summarise(&outcome.times());
        CeilingRow {
            schema: SCHEMA,
            run_id: run.id.clone(),
            time_utc: run.time_utc.clone(),
            gpulab: env!("CARGO_PKG_VERSION").to_owned(),
            platform: device.platform.clone(),
            device: device.name.clone(),
            driver: device.driver.clone(),
            what: quantity.what.to_owned(),
            place: quantity.place,
            element: quantity.element.to_owned(),
            // A quick look is over less than the whole.
            bytes: quantity.bytes.map(|_| 4 * outcome.case.shape.n),
            value: value.filter(|&value| value.is_finite() && value > 0.0),
            unit: quantity.measure.unit().to_owned(),
            probe: format!("{}/{}", outcome.case.family, outcome.case.variant),
            wg: outcome.wg,
            params: outcome.params.clone(),
            tried: tried as u64,
            runs: times.map_or(0, |t| t.runs as u64),
            noise: times.map(|t| t.noise).filter(|n| n.is_finite()),
            clock: outcome.clock(),
            quick,
            status: outcome.status(),
            reason: outcome.note().to_owned(),
            flags: flags(quantity, outcome),
            t_search_s: 0.0,
        }
    }

    pub fn is_of(&self, other: &CeilingRow) -> bool {
        // What is beyond the caches is one quantity, however much that was.
        let same_size = self.place != Site::Curve || self.bytes == other.bytes;
        same_size
            && (&self.what, self.place, &self.element) == (&other.what, other.place, &other.element)
    }

    /// Whether its value is better than the other's: higher, or of times lower. Any is better than none.
    pub fn is_better(&self, other: &CeilingRow) -> bool {
        match (self.value, other.value) {
            (Some(value), Some(other)) if measure(&self.unit).is_some_and(Rate::is_time) => {
                value < other
            }
            (Some(value), Some(other)) => value > other,
            (value, None) => value.is_some(),
            (None, Some(_)) => false,
        }
    }

    /// Whether its value, if it has one, is what some device could have been measured to do.
    pub fn is_sound(&self) -> bool {
        let believable = believable(&self.unit);
        self.value
            .is_none_or(|value| believable.is_some_and(|range| range.contains(&value)))
    }

    /// Whether the machine was not quiet while its value was measured.
    pub fn is_unquiet(&self) -> bool {
        self.value.is_some()
            && (self.flags.contains(flag::NOISY) || self.flags.contains(flag::DRIFT))
    }
}

/// Values of this unit that a device, or a simulator of one, may have: those that were measured, and far around them.
fn believable(unit: &str) -> Option<RangeInclusive<f64>> {
    let rate = 1e-6..=1e7;
    let time = 1e-4..=1e9;
    Some(if measure(unit)?.is_time() { time } else { rate })
}

/// The measure that has a unit.
fn measure(unit: &str) -> Option<Rate> {
    let all = [
        Rate::Bytes,
        Rate::Ops,
        Rate::Pairs,
        Rate::Seconds,
        Rate::Latency,
    ];
    all.into_iter().find(|measure| measure.unit() == unit)
}

/// Whether the machine was quiet while this was measured: by the spread of the runs, and by the canary.
fn flags(quantity: &Quantity, outcome: &Outcome) -> Flags {
    // Launches differ from one to the next on any machine.
    let is_steady = !quantity.measure.is_time();
    let is_noisy = is_steady
        && stats::summarise(&outcome.times()).is_some_and(|times| times.noise > MOST_NOISE);
    let drifts = outcome
        .measured()
        .and_then(|m| m.canary)
        .is_some_and(|canary| canary.ratio > DRIFT_RATIO);
    [(flag::NOISY, is_noisy), (flag::DRIFT, drifts)]
        .into_iter()
        .filter_map(|(flag, is_set)| is_set.then_some(flag))
        .collect()
}

//! The points that experiments write.

use super::{Flags, Row, SCHEMA, columns};
use gpulab_model::outcome::{Cache, Clock, Status};
use serde::{Deserialize, Serialize};

/// What a point's value is: a number that every row has.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name, as in `bandwidth`.
    pub name: &'static str,
    /// Its unit, as in `GB/s`.
    pub unit: &'static str,
    pub of: MetricOf,
}

impl Metric {
    pub const fn new(name: &'static str, unit: &'static str, of: MetricOf) -> Metric {
        Metric { name, unit, of }
    }
}

/// Takes a value from the row of a right result.
pub type MetricOf = fn(&Row) -> Option<f64>;

/// 10^9 bytes a second, by the cost model and the median time.
pub const BANDWIDTH: Metric = Metric::new("bandwidth", "GB/s", |row| row.gbps);

/// 10^9 operations a second, by the cost model and the median time.
pub const RATE: Metric = Metric::new("rate", "Gop/s", |row| row.gops);

pub const TIME: Metric = Metric::new("time", "us", |row| row.t_median_s.map(|t| t * 1e6));

columns! {
    /// One point of an experiment; its fields are the columns of CSV files and the names in JSON. Missing numbers are
    /// empty cells or `null`; times are seconds (`_s`).
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    pub struct Point {
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
        /// The experiment's name.
        pub experiment: String,
        /// What is compared: points of one series differ in `x` only.
        pub series: String,
        /// The varied parameter.
        pub x_name: String,
        /// Its value.
        pub x: f64,
        /// What `value` is.
        pub metric: String,
        /// The measured value; none unless `ok`.
        pub value: Option<f64>,
        /// The value's unit.
        pub unit: String,
        /// Median time.
        #[unit = "s"]
        pub t_median_s: Option<f64>,
        /// Spread: the inter-quartile range of the times over their median.
        #[unit = "1"]
        pub noise: Option<f64>,
        /// How the case ended.
        pub status: Status,
        /// Why, unless `ok`; for `ok`, why another clock was used than the one asked for.
        pub reason: String,
        /// Whether runs found their data in cache.
        pub cache: Cache,
        /// Which clock the times come from.
        pub clock: Clock,
        /// Words for numbers that need care, separated by blanks: launch_bound, fits_cache, above_ceiling, clock_fallback,
        /// noisy, drift.
        pub flags: Flags,
        /// The value of the varied parameter as reports name it, as in `16 KiB`.
        #[serde(default)]
        pub x_label: String,
        /// The measured value in units of the SI, as in 1.2e11 for 120 GB/s; `unit_si` names them.
        pub value_si: Option<f64>,
        /// The unit of `value_si`; 1 for counts and parts of a whole.
        #[serde(default)]
        pub unit_si: String,
        /// Place in the experiment's plan, from 0.
        pub place: Option<u64>,
        /// Timed runs.
        pub runs: Option<u64>,
        /// Seed of the random data.
        pub seed: Option<u64>,
        /// Runs before the first timed one.
        pub warmup: Option<u32>,
        /// Whether a quick look was asked for.
        pub quick: Option<bool>,
        /// Longest sampling time.
        #[unit = "s"]
        pub sample_time_s: Option<f64>,
        /// The command line; the home folder is `~`.
        #[serde(default)]
        pub command: String,
        /// The host's processor, where the system tells.
        #[serde(default)]
        pub host_cpu: String,
        /// Threads that the host runs at once.
        pub host_threads: Option<u64>,
        /// The host's operating system and architecture.
        #[serde(default)]
        pub os: String,
    }
}

/// What the units of points are in those of the SI: how many of which.
const SI: [(&str, f64, &str); 15] = [
    ("GB/s", 1e9, "B/s"),
    ("Gop/s", 1e9, "1/s"),
    ("us", 1e-6, "s"),
    ("ns", 1e-9, "s"),
    ("GHz", 1e9, "Hz"),
    ("%", 0.01, "1"),
    ("1e-6", 1e-6, "1"),
    ("bytes", 1.0, "B"),
    ("regs", 1.0, "1"),
    ("clocks", 1.0, "clock"),
    ("/CU/clock", 1.0, "1/clock"),
    ("ulp", 1.0, "ulp"),
    ("1", 1.0, "1"),
    ("s", 1.0, "s"),
    ("B/s", 1.0, "B/s"),
];

/// One of a unit in units of the SI, and their name; nothing for a unit that no point has.
pub fn si(unit: &str) -> Option<(f64, &'static str)> {
    SI.iter()
        .find(|(name, ..)| *name == unit)
        .map(|&(_, factor, si)| (factor, si))
}

impl Point {
    /// What was measured of a point. Which point it is of what experiment is its maker's to say: of these columns it has none.
    pub fn of(metric: Metric, row: &Row) -> Point {
        let value = if row.status == Status::Ok {
            (metric.of)(row)
        } else {
            None
        };
        let value = value.filter(|v| v.is_finite());
        let (factor, unit_si) = si(metric.unit).unwrap_or((1.0, metric.unit));
        Point {
            schema: SCHEMA,
            run_id: row.run_id.clone(),
            time_utc: row.time_utc.clone(),
            gpulab: row.gpulab.clone(),
            platform: row.platform.clone(),
            device: row.device.clone(),
            driver: row.driver.clone(),
            metric: metric.name.to_owned(),
            value,
            unit: metric.unit.to_owned(),
            t_median_s: row.t_median_s,
            noise: row.noise,
            status: row.status,
            reason: row.reason.clone(),
            cache: row.cache,
            clock: row.clock,
            flags: row.flags,
            value_si: value.map(|value| value * factor),
            unit_si: unit_si.to_owned(),
            runs: Some(row.runs),
            seed: row.seed,
            warmup: row.warmup,
            quick: row.quick,
            sample_time_s: row.sample_time_s,
            command: row.command.clone(),
            host_cpu: row.host_cpu.clone(),
            host_threads: row.host_threads,
            os: row.os.clone(),
            ..Point::default()
        }
    }

    /// The value of a right result.
    pub fn measured(&self) -> Option<f64> {
        self.value.filter(|_| self.status == Status::Ok)
    }
}

/// A point for tests: bandwidth over `n`, with this relative spread.
pub fn point(series: &str, n: u64, gbps: f64, noise: f64) -> Point {
    let row = Row {
        gbps: Some(gbps),
        t_median_s: Some(1e-3 / gbps),
        noise: Some(noise),
        flags: Flags::default(),
        device: "Device".to_owned(),
        ..super::row("diagonal")
    };
    Point {
        experiment: "pitch".to_owned(),
        series: series.to_owned(),
        x_name: "n".to_owned(),
        x: n as f64,
        x_label: n.to_string(),
        place: Some(0),
        ..Point::of(BANDWIDTH, &row)
    }
}

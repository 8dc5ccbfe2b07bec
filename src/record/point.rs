//! The points that experiments write.

use super::{Row, SCHEMA, columns};
use crate::runner::{Cache, Clock, Status};
use serde::{Deserialize, Serialize};

/// What a point's value is: a number that every row has.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name, as in `bandwidth`.
    pub name: &'static str,
    /// Its unit, as in `GB/s`.
    pub unit: &'static str,
    /// Takes it from a row.
    pub of: MetricOf,
}

/// Takes a value from the row of a right result.
pub type MetricOf = fn(&Row) -> Option<f64>;

/// 10^9 bytes a second, by the cost model and the median time.
pub const BANDWIDTH: Metric = Metric { name: "bandwidth", unit: "GB/s", of: |row| row.gbps };

/// 10^9 operations a second, by the cost model and the median time.
pub const RATE: Metric = Metric { name: "rate", unit: "Gop/s", of: |row| row.gops };

/// The median time, in microseconds.
pub const TIME: Metric = Metric { name: "time", unit: "us", of: |row| row.t_median_s.map(|t| t * 1e6) };

columns! {
    texts: platform, device, driver, experiment, series, x_name, metric, unit, reason;
    /// One point of an experiment; its fields are the columns of CSV files and the names in JSON. Missing numbers are
    /// empty cells or `null`; times are seconds (`_s`).
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct Point {
        /// [`SCHEMA`].
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
        /// What is varied.
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
        pub t_median_s: Option<f64>,
        /// Inter-quartile range of the times over their median.
        pub noise: Option<f64>,
        /// How the case ended.
        pub status: Status,
        /// Why, unless `ok`; for `ok`, why another clock was used than the one asked for.
        pub reason: String,
        /// Whether runs found their data in cache.
        pub cache: Cache,
        /// Which clock the times come from.
        pub clock: Clock,
        /// Words of [`super::flag`], separated by blanks.
        pub flags: String,
    }
}

/// Which point of an experiment a case is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointKey<'a> {
    /// The experiment's name.
    pub experiment: &'a str,
    /// What is compared.
    pub series: &'a str,
    /// What is varied.
    pub x_name: &'a str,
    /// Its value.
    pub x: f64,
}

impl Point {
    /// The point that a case's row makes.
    pub fn new(place: PointKey<'_>, metric: Metric, row: &Row) -> Point {
        let value = if row.status == Status::Ok { (metric.of)(row) } else { None };
        Point {
            schema: SCHEMA,
            run_id: row.run_id.clone(),
            time_utc: row.time_utc.clone(),
            gpulab: row.gpulab.clone(),
            platform: row.platform.clone(),
            device: row.device.clone(),
            driver: row.driver.clone(),
            experiment: place.experiment.to_owned(),
            series: place.series.to_owned(),
            x_name: place.x_name.to_owned(),
            x: place.x,
            metric: metric.name.to_owned(),
            value: value.filter(|v| v.is_finite()),
            unit: metric.unit.to_owned(),
            t_median_s: row.t_median_s,
            noise: row.noise,
            status: row.status,
            reason: row.reason.clone(),
            cache: row.cache,
            clock: row.clock,
            flags: row.flags.clone(),
        }
    }

    /// The value of a right result.
    pub fn measured(&self) -> Option<f64> {
        self.value.filter(|_| self.status == Status::Ok)
    }

    /// Whether the flag is set.
    pub fn has_flag(&self, flag: &str) -> bool {
        self.flags.split(' ').any(|word| word == flag)
    }
}

/// A point for tests: bandwidth over `n`, with this relative spread.
#[cfg(test)]
pub(crate) fn point(series: &str, n: u64, gbps: f64, noise: f64) -> Point {
    let row = Row {
        gbps: Some(gbps),
        t_median_s: Some(1e-3 / gbps),
        noise: Some(noise),
        flags: String::new(),
        device: "Device".to_owned(),
        ..super::row("diagonal")
    };
    let place = PointKey { experiment: "pitch", series, x_name: "n", x: n as f64 };
    Point::new(place, BANDWIDTH, &row)
}

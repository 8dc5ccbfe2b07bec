//! Result records: a [`Row`] is the flat line of a measured case that files hold, a [`Point`] that of an experiment.
//!
//! A row is made once, from a finished case, and comes back from files. Reports therefore work on rows, so that a report of a
//! live run and of a recorded one are the same.

pub mod compare;
mod derive;
mod dictionary;
pub mod files;
pub mod flag;
pub mod groups;
mod host;
mod point;
mod program;
mod row;
pub mod store;
pub mod terminal;
pub mod text;

pub use derive::{DRIFT_RATIO, relate};
pub use dictionary::ColumnEntry;
pub use flag::Flags;
pub use point::{BANDWIDTH, Metric, MetricOf, Point, RATE, TIME, point, si};
pub use program::ProgramRow;
pub use row::{CsvRecord, Row, SampleRow, clear_factor, row};
pub use text::{params_of, params_text};

use gpulab_model::outcome::{Cache, Clock, DeviceInfo, Settings};
pub use gpulab_model::plan::REPEATS;

use gpulab_kernels::Bound;
use gpulab_kernels::values::Peak;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{SystemTime, UNIX_EPOCH};

/// Version of the columns; it changes only if one changes its meaning or goes. Files are added to and joined in this
/// version only.
pub const SCHEMA: u32 = 2;

/// The oldest version of files that can be shown. Version 1 lacked settings and the host's facts, and some experiments gave
/// values of two units one metric's name.
pub const OLDEST_SCHEMA: u32 = 1;

/// Platform of the CPU baselines.
pub const HOST: &str = "host";
/// Variant of the plain copy that a transposition is measured against.
pub const COPY: &str = "copy";
/// Variant of the sequential CPU baseline in the rung's own type.
pub const CPU_SEQ: &str = "cpu_sequential";
/// Variant of the parallel CPU baseline.
pub const CPU_RAYON: &str = "cpu_rayon";
/// Variant of the CPU baseline that gives the exact result.
pub const CPU_EXACT: &str = "cpu_exact";
/// Variant of the sequential CPU baseline that adds in double, as the CMSoft article's does.
pub const CPU_DOUBLE: &str = "cpu_double";

/// What all records of one run of the program share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Short, and different for each run.
    pub id: String,
    /// When it began: UTC, ISO 8601, to the second.
    pub time_utc: String,
    pub command: String,
    pub quick: bool,
    /// The host's processor, where the system tells.
    pub host_cpu: String,
    /// Threads that it runs at once, as far as this process may use them.
    pub host_threads: Option<u64>,
    /// Operating system and architecture, as in `linux x86_64`.
    pub os: String,
}

impl Run {
    /// A run that begins now, and is no quick look. The id comes from the time and the process id alone.
    pub fn begin() -> Run {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let mut hasher = DefaultHasher::new();
        (since, std::process::id()).hash(&mut hasher);
        // A letter in front keeps spreadsheets from reading a number.
        let id = format!("r{:08x}", hasher.finish() >> 32);
        let time_utc = utc(since.as_secs());
        Run {
            id,
            time_utc,
            command: host::command_line(),
            quick: false,
            host_cpu: host::cpu(),
            host_threads: std::thread::available_parallelism()
                .ok()
                .map(|threads| threads.get() as u64),
            os: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        }
    }
}

/// A second since 1970, as in `2026-01-02T03:04:05Z`.
pub fn utc(second: u64) -> String {
    // Days since the first of March in the year 0, by eras of 400 years: a leap day is the last of its year.
    let days = second / 86_400 + 719_468;
    let day_of_era = days % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = days / 146_097 * 400 + year_of_era + u64::from(month > 9);
    let month = if month > 9 { month - 9 } else { month + 3 };
    let [hour, minute] = [second / 3600 % 24, second / 60 % 60];
    format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}Z",
        second % 60
    )
}

/// A rate measured on this device that bounds a family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ceiling {
    pub bound: Bound,
    /// In 10^9 bytes or operations a second.
    pub rate: f64,
}

/// What launches that do next to nothing take on a device, in seconds by a row's clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaunchCost {
    pub clock: Clock,
    pub first: f64,
    /// Each further one of the same run.
    pub next: f64,
}

impl LaunchCost {
    /// Seconds of so many launches in one run.
    pub fn of(&self, launches: u64) -> f64 {
        if launches == 0 {
            0.0
        } else {
            self.first + (launches - 1) as f64 * self.next
        }
    }
}

/// Where and under which conditions a ladder ran.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Shared by all records of this run of the program.
    pub run: Run,
    /// Platform name; `host` for CPU baselines.
    pub platform: String,
    pub device: String,
    pub driver: String,
    /// As in `OpenCL 3.0 CUDA`.
    pub cl_version: String,
    /// Clocks of all compute units together in a second, as the driver states them; 0 when unknown.
    pub clocks: f64,
    /// Clock in MHz, as the driver states it; 0 when unknown.
    pub clock_mhz: f64,
    /// Last-level cache in bytes; 0 when unknown.
    pub cache_bytes: u64,
    /// Bytes that a cache of which the driver reports a part may hold: what is faster than memory and no larger came
    /// from there.
    pub cache_reach: u64,
    /// Whether runs find their data in cache.
    pub cache: Cache,
    pub max_noise: f64,
    /// Runs before the first timed one.
    pub warmup: u32,
    /// Seconds that samples are taken for at most.
    pub sample_time: f64,
    /// What bounds the family, where it is a reader's: gpulab's own families are known.
    pub bound: Option<Bound>,
    /// The measured limit of the family, if there is one.
    pub ceiling: Option<Ceiling>,
    pub launch: Option<LaunchCost>,
    /// Theoretical rates of the device, as its maker states them: one of a kind at most.
    pub peaks: Vec<Peak>,
    pub tuned: bool,
}

impl Scene {
    pub fn on_device(
        run: &Run,
        device: &DeviceInfo,
        settings: &Settings,
        ceiling: Option<Ceiling>,
    ) -> Scene {
        Scene {
            platform: device.platform.clone(),
            device: device.name.clone(),
            driver: device.driver.clone(),
            cl_version: device.cl_version.clone(),
            clocks: f64::from(device.target.compute_units) * f64::from(device.clock_mhz) * 1e6,
            clock_mhz: f64::from(device.clock_mhz),
            cache_bytes: device.target.cache,
            // Drivers tend to report a part of their last-level cache, CPUs' as GPUs'.
            cache_reach: device.target.cache.max(256 << 20),
            ceiling,
            ..Scene::on_host(run, 0, settings)
        }
    }

    /// The theoretical rate of memory, or that of operations.
    fn peak(&self, is_memory: bool) -> Option<f64> {
        self.peaks.iter().find_map(|peak| match *peak {
            Peak::Bytes(rate) => Some(rate).filter(|_| is_memory),
            Peak::Ops(rate) => Some(rate).filter(|_| !is_memory),
        })
    }

    /// CPU baselines on the host, with this number of threads at most.
    pub fn on_host(run: &Run, threads: usize, settings: &Settings) -> Scene {
        Scene {
            run: run.clone(),
            platform: HOST.to_owned(),
            device: format!("CPU, {threads} threads"),
            driver: String::new(),
            cl_version: String::new(),
            clocks: 0.0,
            clock_mhz: 0.0,
            cache_bytes: 0,
            cache_reach: 0,
            cache: settings.cache,
            max_noise: settings.max_noise,
            warmup: settings.warmup,
            sample_time: settings.timeout,
            bound: None,
            ceiling: None,
            launch: None,
            peaks: Vec::new(),
            tuned: false,
        }
    }
}

#[cfg(test)]
mod tests;

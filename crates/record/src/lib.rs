//! Result records: [`Record`] is rich, [`Row`] is the flat line that files hold; a [`Point`] is the line of an
//! experiment.
//!
//! A record is made once, from a finished case, and only ever becomes a row; rows come back from files.
//! Reports therefore work on rows, so that a report of a live run and of a recorded one are the same.

mod cells;
pub mod compare;
mod dictionary;
pub mod files;
pub mod flag;
pub mod groups;
mod host;
mod point;
mod row;
pub mod store;
pub mod terminal;
pub mod text;

pub use cells::Cells;
pub use dictionary::ColumnEntry;
pub use flag::Flags;
pub use point::{BANDWIDTH, Metric, MetricOf, Point, RATE, TIME, point, si};
pub use row::{CsvRecord, Row, SampleRow, clear_factor, row};
pub use text::{params_of, params_text};

use gpulab_model::outcome::{Cache, Clock, DeviceInfo, Outcome, SHORT_S, Settings, Status};
pub use gpulab_model::plan::REPEATS;

use gpulab_kernels::values::Peak;
use gpulab_kernels::{Bound, built_in, exchange::exchange};
use gpulab_model::stats::{Summary, ratio, summarise};
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

/// Per cent of the ceiling up to which a case may merely have been luckier than the ceiling's own run.
const CEILING_SLACK_PCT: f64 = 105.0;

/// Times its best reading that the canary may take before a row counts as measured during drift. The least of a few runs
/// repeats within 3 % (0.3 % for most) beside a steady load, on a CPU driver too; a core that a neighbour takes away
/// makes 1.25 or more of it, as a unit has four groups to run, and twice on two cores. Smaller changes of a clock pass.
pub const DRIFT_RATIO: f64 = 1.05;

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

/// A finished case with everything that follows from its measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub scene: Scene,
    /// Number in the ladder; none for references and CPU baselines.
    pub rung: Option<u32>,
    pub outcome: Outcome,
    /// Its times by the clock that counts, in seconds.
    pub times: Option<Summary>,
    /// Median by the host's clock, in seconds.
    pub wall_median: Option<f64>,
    /// 10^9 bytes a second, by the cost model and the median.
    pub gbps: Option<f64>,
    /// 10^9 operations a second, by the cost model and the median.
    pub gops: Option<f64>,
    /// Operations by the cost model in a compute unit's clock.
    pub ops_per_clock: Option<f64>,
    /// The rate that the ceiling limits, in per cent of it.
    pub ceiling_pct: Option<f64>,
    /// The rate that bounds the family, in per cent of the theoretical one that was given.
    pub peak_pct: Option<f64>,
    /// Seconds that the launches of a run take by themselves, as measured on this device by the row's clock.
    pub launching: Option<f64>,
    // How many times faster it is than others of its ladder, by medians: see [`relate`].
    /// Than the rung before that has a time; none if only one of the two was tuned.
    pub step: Option<f64>,
    /// Than the first rung that has a time; none if only one of the two was tuned.
    pub total: Option<f64>,
    pub over_cpu_seq: Option<f64>,
    pub over_cpu_rayon: Option<f64>,
    pub over_cpu_exact: Option<f64>,
    /// Than [`COPY`], the family's reference.
    pub over_copy: Option<f64>,
    pub flags: Flags,
    /// Seconds that the case took in all, where somebody looked.
    pub took: Option<f64>,
}

impl Record {
    /// Derives a record from an outcome: `rung` is the number in the ladder, none for references and CPU baselines.
    pub fn from_outcome(scene: &Scene, rung: Option<u32>, outcome: Outcome) -> Record {
        let times = summarise(&clocked(&outcome));
        let walls: Vec<f64> = outcome.samples().iter().map(|s| s.wall).collect();
        let [gbps, gops] = [outcome.bytes, outcome.ops].map(|amount| {
            times
                .and_then(|t| ratio(amount / 1e9, t.median))
                .filter(|r| *r > 0.0)
        });
        // What is repeated inside a kernel comes from the cache: memory's ceiling says nothing of it.
        let ceiling = scene
            .ceiling
            .filter(|_| !outcome.params.contains_key(REPEATS));
        let ceiling_pct = ceiling.and_then(|most| {
            ratio(
                100.0 * if most.bound.is_memory() { gbps } else { gops }?,
                most.rate,
            )
        });
        let mut record = Record {
            scene: scene.clone(),
            rung,
            times,
            wall_median: summarise(&walls).map(|s| s.median),
            gbps,
            gops,
            ops_per_clock: gops.and_then(|gops| ratio(gops * 1e9, scene.clocks)),
            ceiling_pct,
            peak_pct: peak_pct(scene, &outcome, gbps, gops),
            launching: launching(scene, &outcome),
            step: None,
            total: None,
            over_cpu_seq: None,
            over_cpu_rayon: None,
            over_cpu_exact: None,
            over_copy: None,
            flags: Flags::default(),
            took: None,
            outcome,
        };
        record.flags = flags(&record);
        // What a cache holds is not bounded by memory, measured or stated.
        if record.flags.contains(flag::FITS_CACHE) {
            record.ceiling_pct = None;
            record.peak_pct = None;
        }
        record
    }

    /// The median time in seconds of a right result.
    fn median(&self) -> Option<f64> {
        self.times
            .filter(|_| self.outcome.status() == Status::Ok)
            .map(|t| t.median)
    }

    fn on_host(&self) -> bool {
        self.scene.platform == HOST
    }

    /// How often the kernel repeats its work inside, where it does.
    fn repeats(&self) -> Option<&String> {
        self.outcome.params.get(REPEATS)
    }
}

/// The share of the theoretical rate that bounds the family. What is repeated inside a kernel comes from the cache.
fn peak_pct(scene: &Scene, outcome: &Outcome, gbps: Option<f64>, gops: Option<f64>) -> Option<f64> {
    let bound = bound(scene, outcome).filter(|_| !outcome.params.contains_key(REPEATS))?;
    let rate = if bound.is_memory() { gbps } else { gops };
    ratio(100.0 * rate?, scene.peak(bound.is_memory())?)
}

/// What bounds the case's family; none of an exchange.
fn bound(scene: &Scene, outcome: &Outcome) -> Option<Bound> {
    built_in(&outcome.case.family)
        .map(|family| family.ceiling)
        .or(scene.bound)
}

/// What the launches of a run take by themselves. Not known where some of them are not timed, or by another clock.
fn launching(scene: &Scene, outcome: &Outcome) -> Option<f64> {
    let cost = scene.launch?;
    let measured = outcome.measured()?;
    let is_timed = measured.preparation.is_none()
        && !measured.samples.is_empty()
        && measured.clock == cost.clock;
    (is_timed && outcome.launches > 0).then(|| cost.of(outcome.launches))
}

/// The times that count, in seconds.
fn clocked(outcome: &Outcome) -> Vec<f64> {
    let Some(measured) = outcome.measured() else {
        return Vec::new();
    };
    match measured.clock {
        Clock::Batch if measured.samples.is_empty() => measured.batch.into_iter().collect(),
        _ => measured.times(),
    }
}

fn flags(record: &Record) -> Flags {
    let scene = &record.scene;
    let outcome = &record.outcome;
    // What goes on between host and device is no kernel's, and may well be short.
    let is_kernel = exchange(&outcome.case.family).is_none();
    let is_memory_bound = bound(scene, outcome).is_some_and(Bound::is_memory);
    let is_above = record
        .ceiling_pct
        .is_some_and(|pct| pct > CEILING_SLACK_PCT);
    let cache = if is_above {
        scene.cache_reach
    } else {
        scene.cache_bytes
    };
    let fits =
        is_memory_bound && scene.cache == Cache::Warm && (1..=cache).contains(&outcome.working_set);
    let (Some(times), Some(measured)) = (record.times, outcome.measured()) else {
        return Flags::default();
    };
    [
        (
            flag::LAUNCH_BOUND,
            is_kernel && !record.on_host() && times.median < SHORT_S,
        ),
        (flag::FITS_CACHE, fits),
        (flag::ABOVE_CEILING, is_above),
        (flag::CLOCK_FALLBACK, measured.clock_note.is_some()),
        // Of one or two runs no spread is known.
        (
            flag::NOISY,
            times.noise > scene.max_noise || (measured.stopped_by == "timeout" && times.runs < 3),
        ),
        (
            flag::DRIFT,
            measured
                .canary
                .is_some_and(|canary| canary.ratio > DRIFT_RATIO),
        ),
        (flag::TUNED, scene.tuned),
    ]
    .into_iter()
    .filter_map(|(flag, is_set)| is_set.then_some(flag))
    .collect()
}

/// Fills in the speed-ups of one ladder: the records of one case size and type on one device, in the
/// ladder's order, with the CPU baselines anywhere among them. Records without a right result neither
/// get a speed-up nor are a base for one, and those that repeat their work inside the kernel are compared
/// with their like only. May be called again when records have been added.
pub fn relate(ladder: &mut [Record]) {
    let cpu = [CPU_SEQ, CPU_RAYON, CPU_EXACT].map(|variant| {
        let baseline = ladder
            .iter()
            .find(|r| r.on_host() && r.outcome.case.variant == variant);
        baseline.and_then(Record::median)
    });
    let mut repeats: Vec<Option<String>> = ladder.iter().map(|r| r.repeats().cloned()).collect();
    repeats.sort_unstable();
    repeats.dedup();
    for repeats in repeats {
        let base = if repeats.is_none() { cpu } else { [None; 3] };
        relate_alike(
            ladder
                .iter_mut()
                .filter(|r| r.repeats() == repeats.as_ref())
                .collect(),
            base,
        );
    }
}

/// Fills in the speed-ups of records that repeat their work equally often.
fn relate_alike(mut ladder: Vec<&mut Record>, cpu: [Option<f64>; 3]) {
    let copy = ladder
        .iter()
        .find(|r: &&&mut Record| !r.on_host() && r.rung.is_none() && r.outcome.case.variant == COPY)
        .and_then(|r| r.median());
    let (mut first, mut previous): (Option<(f64, bool)>, _) = (None, None);
    for record in &mut ladder {
        let own = record.median();
        let over = |base: Option<f64>| base.zip(own).and_then(|(base, own)| ratio(base, own));
        [
            record.over_cpu_seq,
            record.over_cpu_rayon,
            record.over_cpu_exact,
        ] = cpu.map(over);
        record.over_copy = if record.on_host() { None } else { over(copy) };
        [record.step, record.total] = [None; 2];
        if let (Some(_), Some(seconds)) = (record.rung, own) {
            let tuned = record.scene.tuned;
            first = first.or(Some((seconds, tuned)));
            [record.step, record.total] = [previous, first]
                .map(|base| over(base.filter(|base| base.1 == tuned).map(|base| base.0)));
            previous = Some((seconds, tuned));
        }
    }
}

#[cfg(test)]
mod tests;

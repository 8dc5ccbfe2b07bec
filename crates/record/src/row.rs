//! The flat rows that files hold.

use super::dictionary::ColumnEntry;
use super::{Flags, HOST, REPEATS, SCHEMA, flag};
use gpulab_kernels::{Bound, Form, built_in};
use gpulab_model::data::{Dtype, Params};
use gpulab_model::outcome::{Cache, Clock, Number, Outcome, Status};
use gpulab_model::plan::WorkGroup;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The lines of one kind of CSV file.
pub trait CsvRecord: Clone + Send + Serialize + DeserializeOwned {
    const COLUMNS: &'static [&'static str];

    /// What the columns hold, in the same order.
    const DICTIONARY: &'static [ColumnEntry];
}

/// Declares a row type, the list of its columns and what these hold from one list of fields. Each field has its meaning as a comment, then, if its values have one, its unit.
#[macro_export]
macro_rules! columns {
    (
        $(#[$meta:meta])* pub struct $name:ident {
            $(
                $(#[doc = $doc:literal])+ $(#[unit = $unit:literal])? $(#[serde($serde:meta)])?
                pub $field:ident: $type:ty,
            )*
        }
    ) => {
        $(#[$meta])*
        pub struct $name { $($(#[doc = $doc])+ $(#[serde($serde)])? pub $field: $type,)* }

        impl $crate::CsvRecord for $name {
            const COLUMNS: &'static [&'static str] = &[$(stringify!($field)),*];

            const DICTIONARY: &'static [$crate::ColumnEntry] = &[$($crate::ColumnEntry {
                name: stringify!($field),
                unit: concat!($($unit)?),
                rust: stringify!($type),
                lines: &[$($doc),+],
            }),*];
        }
    };
}

columns! {
    /// One result line; its fields are the columns of CSV files and the names in JSON. Missing numbers are empty cells or
    /// `null`, or, in files of an earlier version, lack their column; times are seconds (`_s`).
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    pub struct Row {
        /// Version of the columns.
        pub schema: u32,
        /// Different for each run of the program.
        pub run_id: String,
        /// When the run began: UTC, ISO 8601.
        pub time_utc: String,
        /// The program's version.
        pub gpulab: String,
        /// Platform name; `host` for CPU baselines.
        pub platform: String,
        /// Device name.
        pub device: String,
        /// Driver version.
        pub driver: String,
        /// The device's OpenCL version.
        pub cl_version: String,
        /// The problem.
        pub family: String,
        /// Number in the ladder; none for references and CPU baselines.
        pub rung: Option<u32>,
        /// The idea, or the name of the reference or baseline.
        pub variant: String,
        /// Element type.
        pub dtype: Dtype,
        /// Elements, or columns.
        pub n: u64,
        /// Rows; 1 for vectors.
        pub m: u64,
        /// Work-group size; empty for CPU baselines.
        #[serde(with = "crate::text::optional_work_group")]
        pub wg: Option<WorkGroup>,
        /// Settings, as in `items=8448 presum=host`.
        #[serde(with = "crate::text::params")]
        pub params: Params,
        /// Whether runs found their data in cache.
        pub cache: Cache,
        /// Which clock the `t_` columns come from.
        pub clock: Clock,
        /// How the case ended.
        pub status: Status,
        /// Why, unless `ok`; for `ok`, why another clock was used than the one asked for.
        pub reason: String,
        /// Timed runs.
        pub runs: u64,
        /// Shortest time.
        #[unit = "s"]
        pub t_min_s: Option<f64>,
        /// First quartile.
        #[unit = "s"]
        pub t_q1_s: Option<f64>,
        /// Median.
        #[unit = "s"]
        pub t_median_s: Option<f64>,
        /// Third quartile.
        #[unit = "s"]
        pub t_q3_s: Option<f64>,
        /// Longest time.
        #[unit = "s"]
        pub t_max_s: Option<f64>,
        /// Spread: the inter-quartile range of the times over their median, as in the table.
        #[unit = "1"]
        pub noise: Option<f64>,
        /// Median by the host's clock.
        #[unit = "s"]
        pub t_wall_median_s: Option<f64>,
        /// Time of one run among many back to back.
        #[unit = "s"]
        pub t_batch_s: Option<f64>,
        /// Allocation, transfers, kernels and the host's part: a median of few runs.
        #[unit = "s"]
        pub t_end_to_end_s: Option<f64>,
        /// Bytes moved, by the cost model.
        #[unit = "B"]
        pub bytes: Option<u64>,
        /// Operations, by the cost model.
        pub ops: Option<u64>,
        /// 10^9 bytes a second.
        #[unit = "GB/s"]
        pub gbps: Option<f64>,
        /// 10^9 operations a second.
        #[unit = "Gop/s"]
        pub gops: Option<f64>,
        /// Which limit bounds the family: `read`, `copy`, `add-min`, ...; also of arithmetic limits that were not measured.
        pub ceiling: String,
        /// `gbps` in per cent of the limit, or `gops` for limits of operations; empty where the data fit a cache.
        #[unit = "%"]
        pub ceiling_pct: Option<f64>,
        /// Times faster than the rung before; empty if only one of the two is tuned.
        #[unit = "1"]
        pub step_x: Option<f64>,
        /// Times faster than the first rung; empty if only one of the two is tuned.
        #[unit = "1"]
        pub total_x: Option<f64>,
        /// Times faster than one CPU thread.
        #[unit = "1"]
        pub cpu_seq_x: Option<f64>,
        /// Times faster than all CPU threads.
        #[unit = "1"]
        pub cpu_rayon_x: Option<f64>,
        /// Largest error of the result.
        pub max_err: Option<f64>,
        /// Error allowed.
        pub tol: Option<f64>,
        /// Words for numbers that need care, separated by blanks: launch_bound, fits_cache, above_ceiling, clock_fallback,
        /// noisy, drift; and tuned, for settings that `gpulab tune` found.
        pub flags: Flags,
        /// The limit that `ceiling` names, in 10^9 bytes a second.
        #[unit = "GB/s"]
        pub ceiling_gbps: Option<f64>,
        /// What ended the sampling: `steady`, `timeout` or `max-runs`; or `slower`: tuning dropped it after its first samples.
        #[serde(default)]
        pub stopped_by: String,
        /// The result, if it is a single finite number.
        pub result: Option<Number>,
        /// Times faster than the exact CPU baseline.
        #[unit = "1"]
        pub cpu_exact_x: Option<f64>,
        /// Kernel launches of one run; none for CPU baselines.
        pub launches: Option<u64>,
        /// Which sweep it belongs to: the same for all its shards; empty for other rows.
        #[serde(default)]
        pub sweep_id: String,
        /// Place in the sweep's plan, from 0.
        pub case_index: Option<u64>,
        /// Configurations of the sweep's plan.
        pub cases: Option<u64>,
        /// Which part of the sweep the file holds, as in `2/4`; empty for all of it.
        #[serde(default)]
        pub shard: String,
        /// How the sweep measures.
        #[serde(default)]
        pub settings: String,
        /// Speed in per cent of the reference `copy`, of the families that have it.
        #[unit = "%"]
        pub copy_pct: Option<f64>,
        /// Time of the launches that prepare the data for the timed launches.
        #[unit = "s"]
        pub t_preparation_s: Option<f64>,
        /// The limit that `ceiling` names, in 10^9 operations a second.
        #[unit = "Gop/s"]
        pub ceiling_gops: Option<f64>,
        /// Operations per compute unit and clock, by the driver's number of units and clock rate.
        #[unit = "1/clock"]
        pub ops_per_cu_clock: Option<f64>,
        /// The canary's slowest reading over the fastest that the session had seen: 1 or more.
        #[unit = "1"]
        pub canary: Option<f64>,
        /// Time of the host for the elements that it adds itself; only `t_end_to_end_s` includes it.
        #[unit = "s"]
        pub t_host_tail_s: Option<f64>,
        /// Time of the host, within `t_end_to_end_s`, for what it adds itself: partial results and its tail.
        #[unit = "s"]
        pub t_host_part_s: Option<f64>,
        /// Range of the few runs from end to end over their median; none for a single run.
        #[unit = "1"]
        pub end_to_end_noise: Option<f64>,
        /// Time of the launches of one run alone, by the launch cost measured on this device.
        #[unit = "s"]
        pub t_launches_s: Option<f64>,
        /// The theoretical bandwidth that was given, in 10^9 bytes a second.
        #[unit = "GB/s"]
        pub peak_gbps: Option<f64>,
        /// The theoretical rate of operations that was given, in 10^9 a second.
        #[unit = "Gop/s"]
        pub peak_gops: Option<f64>,
        /// `gbps` in per cent of `peak_gbps`, or `gops` of `peak_gops` where operations bound the family; empty where the
        /// data fit a cache.
        #[unit = "%"]
        pub peak_pct: Option<f64>,
        /// The device's clock in MHz, as the driver states it.
        #[unit = "MHz"]
        pub clock_mhz: Option<f64>,
        /// 32-bit registers of a work-item, where the case asks and the driver reports them.
        pub registers: Option<u64>,
        /// Bytes that a work-item spills to memory for lack of registers, where the case asks and the driver reports them.
        #[unit = "B"]
        pub spilled_bytes: Option<u64>,
        /// Warps that a compute unit holds at once, in per cent of those that it can hold; likewise.
        #[unit = "%"]
        pub occupancy_pct: Option<f64>,
        /// Work-items of a group, first dimension; empty for CPU baselines.
        pub wg_x: Option<u64>,
        /// Work-items of a group, second dimension.
        pub wg_y: Option<u64>,
        /// Work-items of a group, third dimension.
        pub wg_z: Option<u64>,
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
        /// Seconds that the case took in all: building, checking and timing.
        #[unit = "s"]
        pub t_case_s: Option<f64>,
        /// The canary's fastest reading of the session, for a million steps of each item: by it, runs on slower devices of one kind
        /// are told from others.
        #[unit = "s"]
        pub t_canary_s: Option<f64>,
    }
}

columns! {
    /// One timed run of a case: a line of the samples file.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct SampleRow {
        /// The `run_id` of this case's row.
        pub run_id: String,
        /// The problem.
        pub family: String,
        /// Number in the ladder; none for references and CPU baselines.
        pub rung: Option<u32>,
        /// The idea, or the name of the reference or baseline.
        pub variant: String,
        /// Element type.
        pub dtype: Dtype,
        /// Elements, or columns.
        pub n: u64,
        /// Work-group size; empty for CPU baselines.
        #[serde(with = "crate::text::optional_work_group")]
        pub wg: Option<WorkGroup>,
        /// Settings, as in `items=8448 presum=host`.
        #[serde(with = "crate::text::params")]
        pub params: Params,
        /// Place in the order of runs, from 0.
        pub sample: u64,
        /// Seconds by the driver's events, if they can be trusted.
        #[unit = "s"]
        pub event_s: Option<f64>,
        /// Seconds by the host's clock.
        #[unit = "s"]
        pub wall_s: f64,
    }
}

impl Row {
    /// What bounds its family; of a reader's family that whose limit was measured.
    pub fn bound(&self) -> Option<Bound> {
        built_in(&self.family).map_or_else(
            || Bound::named(&self.ceiling),
            |family| Some(family.ceiling),
        )
    }

    /// What the sizes of its family mean; of a reader's family as far as its own sizes tell.
    pub fn form(&self) -> Form {
        let seen = if self.m == 1 {
            Form::Vector
        } else {
            Form::Matrix
        };
        built_in(&self.family).map_or(seen, |family| family.form)
    }

    /// Whether it is a CPU baseline's.
    pub fn on_host(&self) -> bool {
        self.platform == HOST
    }

    /// The work-group as `256` or `16x16`; empty of a CPU baseline.
    pub fn wg_text(&self) -> String {
        self.wg.map_or_else(String::new, |wg| wg.to_string())
    }

    /// How often the kernel repeats its work inside, where it does.
    pub fn repeats(&self) -> Option<&str> {
        self.params.get(REPEATS).map(String::as_str)
    }

    /// Whether its kernel did its work once a launch.
    pub fn is_plain(&self) -> bool {
        self.repeats().is_none()
    }

    /// Whether an OpenCL device is the host's CPU, as far as its row tells: most drivers name it so.
    pub fn is_on_cpu_device(&self) -> bool {
        let is_host =
            !self.host_cpu.trim().is_empty() && self.device.contains(self.host_cpu.trim());
        let is_pocl = ["pthread", "cpu-"]
            .iter()
            .any(|begin| self.device.starts_with(begin));
        let is_named = self
            .device
            .split_whitespace()
            .any(|word| ["CPU", "Processor", "EPYC", "Xeon"].contains(&word));
        !self.on_host() && (is_host || is_pocl || is_named || self.device.starts_with("llvmpipe"))
    }

    /// Whether it was run with the settings that tuning found.
    pub fn is_tuned(&self) -> bool {
        self.flags.contains(flag::TUNED)
    }

    /// Whether a flag says that small differences mean little.
    pub fn is_doubtful(&self) -> bool {
        flag::DOUBTS
            .into_iter()
            .any(|doubt| self.flags.contains(doubt))
    }

    /// Whether its result is right, and its time not shorter than anything explains.
    pub fn is_believed(&self) -> bool {
        let is_above =
            self.flags.contains(flag::ABOVE_CEILING) && !self.flags.contains(flag::FITS_CACHE);
        self.status == Status::Ok && !is_above
    }

    /// How many times slower the device may have been than at its best while the row was timed: 1 where it was steady, and
    /// infinite where the row says only that it was not.
    pub fn drift(&self) -> f64 {
        if self.flags.contains(flag::DRIFT) {
            self.canary.unwrap_or(f64::INFINITY).max(1.0)
        } else {
            1.0
        }
    }

    /// Notes that the data fit a cache. Then the row has no share of memory's limit, which does not bound it.
    pub fn set_in_cache(&mut self) {
        self.flags = self.flags | flag::FITS_CACHE;
        (self.ceiling_pct, self.peak_pct) = (None, None);
    }
}

/// The factor beyond which two times differ: the spreads of both together, and a few per cent at least, hide less; and of what
/// is left, what the device's drift during either can make.
pub fn clear_factor(before: Option<&Row>, row: &Row) -> f64 {
    /// A smaller difference than this is none.
    const LEAST: f64 = 0.03;
    let noise = before.and_then(|r| r.noise).unwrap_or(0.0) + row.noise.unwrap_or(0.0);
    before.map_or(1.0, Row::drift).max(row.drift()) * (1.0 + noise.max(LEAST))
}

impl SampleRow {
    /// The samples of a case, beside its row.
    pub fn of(row: &Row, outcome: &Outcome) -> impl Iterator<Item = SampleRow> {
        let samples = outcome.samples().iter().enumerate();
        samples.map(move |(i, sample)| SampleRow {
            run_id: row.run_id.clone(),
            family: row.family.clone(),
            rung: row.rung,
            variant: row.variant.clone(),
            dtype: row.dtype,
            n: row.n,
            wg: row.wg,
            params: row.params.clone(),
            sample: i as u64,
            event_s: sample.event,
            wall_s: sample.wall,
        })
    }
}

pub(crate) fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

/// A plain row for tests.
pub fn row(variant: &str) -> Row {
    Row {
        schema: SCHEMA,
        run_id: "r00000001".to_owned(),
        time_utc: "2026-01-02T03:04:05Z".to_owned(),
        gpulab: "0.1.0".to_owned(),
        platform: "Portable Computing Language".to_owned(),
        device: "cpu, \"fast\"".to_owned(),
        driver: "6.0".to_owned(),
        cl_version: "OpenCL 3.0".to_owned(),
        family: "dot".to_owned(),
        rung: Some(1),
        variant: variant.to_owned(),
        n: 1000,
        m: 1,
        wg: Some(WorkGroup::linear(64)),
        params: crate::params_of("items=8 presum=host").unwrap_or_default(),
        runs: 3,
        t_min_s: Some(1e-6),
        t_q1_s: Some(1.1e-6),
        t_median_s: Some(1.2e-6),
        t_q3_s: Some(1.3e-6),
        t_max_s: Some(0.1 + 0.2),
        bytes: Some(8000),
        total_x: Some(1.0),
        tol: Some(0.5),
        flags: flag::LAUNCH_BOUND | flag::NOISY,
        stopped_by: "steady".to_owned(),
        result: Some(Number::Real(-1.5)),
        wg_x: Some(64),
        wg_y: Some(1),
        wg_z: Some(1),
        seed: Some(1),
        warmup: Some(2),
        quick: Some(false),
        sample_time_s: Some(0.5),
        command: "gpulab dot".to_owned(),
        host_cpu: "CPU".to_owned(),
        host_threads: Some(2),
        os: "linux x86_64".to_owned(),
        ..Row::default()
    }
}

//! How to measure a case, and what came of it.

mod belief;

pub use belief::{SHORTEST_NS, objection};

use crate::Result;
use crate::check::{CellRegion, Share};
use crate::data::{Params, Shape};
use crate::named_enum;
use crate::plan::{Case, Refusal, Target, WorkGroup};
use crate::stats;
use serde::{Deserialize, Serialize};

named_enum! {
    /// Which clock a row's times come from.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum, Hash)]
    #[serde(rename_all = "lowercase")]
    pub enum Clock {
        /// The driver's event times, from the start of the first timed kernel to the end of the last.
        #[default]
        Event = "event",
        /// The host's clock, from before the first enqueue until everything finished.
        Wall = "wall",
        /// Launches back to back, one wait, divided by their number.
        Batch = "batch",
    }
}

named_enum! {
    /// Whether a run finds its data in cache.
    #[derive(
        Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, clap::ValueEnum,
    )]
    #[serde(rename_all = "lowercase")]
    pub enum Cache {
        /// The same buffers every time.
        #[default]
        Warm = "warm",
        /// Rotates among copies of the inputs that together exceed the last-level cache.
        Cold = "cold",
    }
}

/// How to measure. Times in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Runs before the first sample.
    pub warmup: u32,
    pub min_runs: u32,
    pub max_runs: u32,
    pub min_time: f64,
    /// Most time to sample for.
    pub timeout: f64,
    /// Relative spread (inter-quartile range over median) at which sampling may end.
    pub max_noise: f64,
    pub cache: Cache,
    pub clock: Clock,
    /// Seconds that the device's measured ceiling allows at best, where it bounds the case: shorter event times are
    /// not believed.
    pub least_time: Option<f64>,
    /// That the case is one of many in a search for the fastest, so that its time is all that is asked for.
    pub candidate: Option<Candidate>,
}

/// A case of a search, which is not run from end to end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Seconds: sampling ends after the first samples if their median is above.
    pub give_up_above: Option<f64>,
    /// Whether it is checked thoroughly later, if it wins. Until then a case of a described family, whose reference may be slow,
    /// is checked at its own size alone.
    pub is_preliminary: bool,
}

impl Settings {
    /// One run, for cases of which only the result is asked for.
    pub fn once() -> Settings {
        Settings {
            warmup: 0,
            min_runs: 1,
            max_runs: 1,
            min_time: 0.0,
            timeout: 0.0,
            max_noise: 1.0,
            clock: Clock::Wall,
            candidate: Some(Candidate {
                give_up_above: None,
                is_preliminary: false,
            }),
            ..Settings::default()
        }
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            warmup: 3,
            min_runs: 10,
            max_runs: 1000,
            min_time: 0.05,
            timeout: 0.5,
            max_noise: 0.05,
            cache: Cache::Warm,
            clock: Clock::Event,
            least_time: None,
            candidate: None,
        }
    }
}

named_enum! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Status {
        /// Checked, timed, and checked again.
        #[default]
        Ok = "ok",
        /// This device or size cannot run it; the reason says why.
        Skipped = "skipped",
        BuildFailed = "build_failed",
        /// Checked and timed, but faster than the device can be: the times are not to be trusted.
        Suspect = "suspect",
        /// The result failed its check; there are no times.
        WrongResult = "wrong_result",
        /// It did not end before its deadline.
        Timeout = "timeout",
        /// The driver or the process failed.
        Failed = "failed",
    }
}

impl Status {
    /// Whether something broke, of the kernel, its driver or their times.
    pub fn is_broken(self) -> bool {
        !matches!(self, Status::Ok | Status::Skipped)
    }
}

/// A number as its type holds it: no digit of an integer is lost, and both are plain numbers in files.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Number {
    Integer(i64),
    Real(f64),
}

macro_rules! number_of {
    ($($ty:ty => $kind:ident),*) => {
        $(impl From<$ty> for Number {
            fn from(x: $ty) -> Number {
                Number::$kind(x.into())
            }
        })*
    };
}

number_of!(f32 => Real, f64 => Real, i32 => Integer, u8 => Integer, i64 => Integer);

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Number::Integer(x) => x.fmt(f),
            Number::Real(x) => x.fmt(f),
        }
    }
}

impl Number {
    /// As an f32; f64 rounds to the nearest, and a finite one does not become infinite.
    pub fn f32(self) -> Option<f32> {
        match self {
            Number::Integer(x) => Some(x as f32).filter(|&y| y as i128 == i128::from(x)),
            Number::Real(x) => Some(x as f32).filter(|y| y.is_finite() || !x.is_finite()),
        }
    }

    /// As an f64, if that holds it exactly; likewise of the integers.
    pub fn f64(self) -> Option<f64> {
        match self {
            Number::Integer(x) => Some(x as f64).filter(|&y| y as i128 == i128::from(x)),
            Number::Real(x) => Some(x),
        }
    }

    pub fn i32(self) -> Option<i32> {
        self.i64().and_then(|x| x.try_into().ok())
    }

    pub fn u8(self) -> Option<u8> {
        self.i64().and_then(|x| x.try_into().ok())
    }

    pub fn i64(self) -> Option<i64> {
        match self {
            Number::Integer(x) => Some(x),
            // The cast saturates, and takes NaN to 0: neither compares equal.
            Number::Real(x) => i64::try_from(x as i128).ok().filter(|&y| y as f64 == x),
        }
    }

    /// The number, rounded if it must be.
    pub fn rounded(self) -> f64 {
        match self {
            Number::Integer(value) => value as f64,
            Number::Real(value) => value,
        }
    }

    pub fn is_finite(self) -> bool {
        self.rounded().is_finite()
    }
}

/// Everything that running one case gave. Times in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub case: Case,
    pub wg: WorkGroup,
    /// The settings used, defaults filled in.
    pub params: Params,
    pub asked: Clock,
    /// Bytes moved, by the family's cost model.
    pub bytes: f64,
    /// Operations done, by the family's cost model.
    pub ops: f64,
    /// Bytes that the timed kernels touch in one run.
    pub working_set: u64,
    pub launches: u64,
    pub spent: Spent,
    /// What was measured of a right result, or what stopped the case.
    pub end: Result<Measured, Stop>,
}

/// What was measured of a case whose result was judged right: there is no other way to one. Times in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Largest error seen in the result over the timed data; none where it has no size, as beside an infinite input.
    pub max_err: Option<f64>,
    /// The error allowed there; likewise.
    pub tol: Option<f64>,
    /// The result over the timed data, if it is a single number.
    pub result: Option<Number>,
    pub clock: Clock,
    /// Launches that a flag left out of a run.
    pub left_out: u64,
    /// Why another clock than the one asked for was used.
    pub clock_note: Option<String>,
    /// Why this session does not believe the driver's event times, if so.
    pub distrust: Option<String>,
    /// Timed runs, in order; none where nothing was to be timed.
    pub samples: Vec<Sample>,
    /// Time of one run among many back to back.
    pub batch: Option<f64>,
    /// Of the launches that do not count: what prepares the data for those that do; by the driver's events.
    pub preparation: Option<f64>,
    /// Allocation, host to device, kernels, device to host and the host's part; a median of few runs.
    pub end_to_end: Option<f64>,
    /// The range of these few runs over their median; none of a single run.
    pub end_to_end_noise: Option<f64>,
    /// Of the host, within [`Measured::end_to_end`], for what it adds itself: partial results and its tail, if any.
    pub host_part: Option<f64>,
    /// Of the elements that the host adds itself ([`crate::plan::Plan::host_tail`]), if any; no clock counts it.
    pub host_tail: Option<f64>,
    /// Of the main kernel's build, where a case asks for it ([`crate::plan::TOLD`]) and the driver tells: registers of a work-item,
    /// 32 bits each.
    pub registers: Option<u64>,
    /// Bytes that a work-item stores to memory and loads from it for want of registers.
    pub spilled: Option<u64>,
    /// Of the warps that a compute unit can hold at once, those that it does, in per cent.
    pub occupancy: Option<f64>,
    /// What ended the sampling: `steady`, `timeout` or `max-runs`.
    pub stopped_by: String,
    /// Whether the device was as fast as it can be while the case was timed; none where there is no canary.
    pub canary: Option<Canary>,
    /// Why the times cannot be trusted, although the result is right.
    pub suspect: Option<String>,
    /// What else there is to say.
    pub note: String,
}

/// What the canary, a fixed arithmetic kernel, showed before, during and after the sampling of a case.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Canary {
    /// Its slowest reading over the fastest that the session had seen by the case's end: 1 or more.
    pub ratio: f64,
    /// The fastest reading, in seconds for a million steps of each item.
    pub fastest: f64,
}

impl Canary {
    /// The one with the larger ratio.
    pub fn worst(a: Option<Canary>, b: Option<Canary>) -> Option<Canary> {
        [a, b]
            .into_iter()
            .flatten()
            .max_by(|a, b| a.ratio.total_cmp(&b.ratio))
    }
}

/// Seconds that the steps of a case took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    pub build: f64,
    /// Making the inputs and their reference.
    pub data: f64,
    /// Checking results before the first sample.
    pub verify: f64,
    /// Warming up and sampling, and the runs from end to end.
    pub measure: f64,
}

impl std::ops::AddAssign for Spent {
    fn add_assign(&mut self, other: Spent) {
        self.build += other.build;
        self.data += other.data;
        self.verify += other.verify;
        self.measure += other.measure;
    }
}

impl Outcome {
    pub fn pending(case: &Case, clock: Clock) -> Outcome {
        Outcome {
            case: case.clone(),
            wg: case.wg,
            params: Params::new(),
            asked: clock,
            bytes: 0.0,
            ops: 0.0,
            working_set: 0,
            launches: 0,
            spent: Spent::default(),
            end: Err(Stop::failed("it was not run")),
        }
    }

    pub fn measured(&self) -> Option<&Measured> {
        self.end.as_ref().ok()
    }

    pub fn status(&self) -> Status {
        match &self.end {
            Ok(Measured {
                suspect: Some(_), ..
            }) => Status::Suspect,
            Ok(_) => Status::Ok,
            Err(stop) => stop.status,
        }
    }

    /// Why, unless `ok`; a compiler's log for `build_failed`.
    pub fn reason(&self) -> &str {
        match &self.end {
            Ok(Measured {
                suspect: Some(why), ..
            }) => why,
            Ok(measured) => &measured.note,
            Err(stop) => &stop.reason,
        }
    }

    /// The clock that the times come from, or that was asked for where there are none.
    pub fn clock(&self) -> Clock {
        self.measured()
            .map_or(self.asked, |measured| measured.clock)
    }

    /// Why another clock than the one asked for was used.
    pub fn clock_note(&self) -> Option<&str> {
        self.measured()?.clock_note.as_deref()
    }

    /// Why, unless `ok`; for `ok`, why another clock was used than the one asked for.
    pub fn note(&self) -> &str {
        self.clock_note()
            .filter(|_| self.reason().is_empty())
            .unwrap_or(self.reason())
    }

    pub fn samples(&self) -> &[Sample] {
        self.measured().map_or(&[], |measured| &measured.samples)
    }

    /// The samples' times by the row's clock, in seconds.
    pub fn times(&self) -> Vec<f64> {
        self.measured().map_or_else(Vec::new, Measured::times)
    }

    /// The median of [`Outcome::times`].
    pub fn median(&self) -> Option<f64> {
        stats::summarise(&self.times()).map(|times| times.median)
    }

    pub fn ended(self, end: Result<Measured, Stop>) -> Outcome {
        Outcome { end, ..self }
    }
}

impl Measured {
    /// Of what was compared and found equal, or of nothing to check.
    pub fn equal() -> Measured {
        Measured {
            max_err: Some(0.0),
            tol: Some(0.0),
            ..Measured::default()
        }
    }

    /// How the result was judged, without its times.
    pub fn judged(&self) -> Measured {
        Measured {
            max_err: self.max_err,
            tol: self.tol,
            result: self.result,
            ..Measured::default()
        }
    }

    /// The samples' times by the clock that counts, in seconds. By the batch clock a sample's wall time is that of one batch
    /// divided by its launches.
    pub fn times(&self) -> Vec<f64> {
        self.samples
            .iter()
            .filter_map(|s| {
                if self.clock == Clock::Event {
                    s.event
                } else {
                    Some(s.wall)
                }
            })
            .collect()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    pub status: Status,
    pub reason: String,
    pub refusal: Option<Refusal>,
}

impl Stop {
    /// A case that ended otherwise than by a refusal.
    pub fn new(status: Status, reason: impl Into<String>) -> Stop {
        Stop {
            status,
            reason: reason.into(),
            refusal: None,
        }
    }

    pub fn failed(reason: impl Into<String>) -> Stop {
        Stop::new(Status::Failed, reason)
    }

    /// The same of a case that had `launched` before: what the device says then is no refusal, but a failure.
    pub fn after(self, launched: bool) -> Stop {
        match self.status {
            Status::Skipped if launched => Stop {
                status: Status::Failed,
                refusal: None,
                ..self
            },
            _ => self,
        }
    }
}

/// A case that cannot run here is skipped, with the reason.
impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Stop {
        Stop {
            status: Status::Skipped,
            reason: refusal.to_string(),
            refusal: Some(refusal),
        }
    }
}

/// One timed run, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// By the driver's events; absent where they cannot be believed.
    pub event: Option<f64>,
    /// By the host's clock.
    pub wall: f64,
}

/// Kernels shorter than this, in seconds, count as launch-bound, as a launch costs 2 to 20 us: they are also timed back to
/// back.
pub const SHORT_S: f64 = 50e-6;

/// A kernel of a plan, what the driver tells of it, if it does, and what a work-group of it needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inspected {
    pub kernel: String,
    /// Registers of a work-item, 32 bits each.
    pub registers: Option<u64>,
    /// Bytes that a work-item stores to memory, and loads from it, for want of registers.
    pub spills: Option<[u64; 2]>,
    /// Bytes of the kernel's own `__local` arrays.
    pub own_local: Option<u64>,
    /// Bytes of local memory of a group, the kernel's own arrays and its arguments: what the plan foresees where the driver
    /// does not tell.
    pub local: u64,
    pub wg: u64,
}

/// A case's program as its driver gives it, built for the device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramBinary {
    /// Its text, if it is one: PTX.
    pub text: Option<String>,
    pub bytes: u64,
    /// A fingerprint of the device's instructions and constants, without names; none of a format that is not known here.
    pub code: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchedOnce {
    /// The work-group that the rung made of the one asked for.
    pub wg: WorkGroup,
    /// Its settings, those that the answer depends on included.
    pub params: Params,
    /// Of each launch its kernel, and whether its time would count.
    pub launches: Vec<(String, bool)>,
    /// Why its result is wrong, where that is no reason to stop.
    pub wrong: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Symptoms {
    /// The small size that it was looked at with.
    pub shape: Shape,
    pub wg: WorkGroup,
    /// Whether its result is right there: then what is wrong shows with other sizes only.
    pub is_right: bool,
    /// What it writes outside of its buffers, in words.
    pub outside: Option<String>,
    /// The input that it changes, from 0.
    pub changed_input: Option<usize>,
    /// Whether several runs over the same data leave different results.
    pub differs: bool,
    /// How many elements of its output it does not write, and of how many.
    pub unwritten_count: [u64; 2],
    pub first_unwritten: Option<u64>,
    /// Of vectors: which elements count, and what else its result is made of.
    pub counts: Option<CountSymptoms>,
    /// Of matrices: which cells are right, and what the others hold.
    pub cells: Option<CellSymptoms>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CountSymptoms {
    /// Elements that a work-group has.
    pub group: u64,
    pub counted: Share,
    pub count: u64,
    /// The first that does not count.
    pub first_missing: Option<u64>,
    /// The first that counts more than once, if any, how often, and how many of those there are.
    pub first_repeated: Option<u64>,
    pub repeated_times: i64,
    pub repeated_count: u64,
    /// What the result is over elements that leave it to the others, as zeros of a sum.
    pub starts_from: StartsFrom,
    /// The kind of data over which the result is wrong, where it is right over simpler ones.
    pub wrong_over: Option<DataKind>,
}

/// What a result holds that comes from no element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartsFrom {
    Nothing,
    /// What the output held before.
    Output,
    BesideInputs,
    /// Something else: local memory or variables that were never set, or a constant.
    Elsewhere,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataKind {
    /// Small whole numbers of both signs; right over ones.
    Signed,
    /// The same over four, of floating-point types; right over whole numbers.
    Fractions,
    /// Random numbers, integers over their whole range; right over small ones.
    Any,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellSymptoms {
    /// Columns and rows of the tile that a work-group has.
    pub tile: [u64; 2],
    /// Cells that are right; of elements that are moved, by their places in the input.
    pub right: CellRegion,
    /// Cells that are written, likewise.
    pub written: CellRegion,
    pub looks_like: Option<Likeness>,
    /// Whether it is right over squares, and over no other shape that was tried.
    pub only_squares: bool,
    /// Whether it is right over whole tiles, and over no shape with a part of one.
    pub only_whole: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Likeness {
    Input,
    /// Tiles are transposed, but stay where they were.
    TilesStay,
    /// Tiles are where they belong, but not transposed.
    TilesUnturned,
    Transposed,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Whether the variant names a CPU baseline instead of a rung.
    pub baseline: bool,
    pub case: Case,
    pub settings: Settings,
    /// Whether a case that this worker has verified before is only timed once more.
    pub again: bool,
}

impl Job {
    /// A rung, for the first time.
    pub fn new(case: Case, settings: Settings) -> Job {
        Job {
            baseline: false,
            case,
            settings,
            again: false,
        }
    }
}

/// Runs jobs on the one device that it was opened on.
pub trait Executor {
    fn info(&self) -> &DeviceInfo;

    /// Has the next job run in a fresh process, with buffers of its own, where jobs run in processes.
    fn renew(&mut self) {}

    /// Asks what is right for a case of a reader's own family, as its rungs will: who cannot answer now will not then. Who it
    /// is, in words.
    fn ask_reference(&mut self, _: &Case) -> Result<Option<String>> {
        Ok(None)
    }

    /// Runs one job. A failed case is an [`Outcome`]; an error ends the whole run.
    fn run(&mut self, job: &Job) -> Result<Outcome>;
}

/// A device, as listed and as written into records. Sizes in bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// Row number of `gpulab devices`, from 0.
    pub index: usize,
    /// `platform:device`, both from 0.
    pub selector: String,
    pub platform: String,
    pub name: String,
    pub vendor: String,
    /// `gpu`, `cpu`, `accelerator` or `other`.
    #[serde(rename = "type")]
    pub kind: String,
    pub driver: String,
    /// As in `OpenCL 3.0 CUDA`.
    pub cl_version: String,
    /// Clock in MHz; 0 when unknown.
    pub clock_mhz: u32,
    /// Step of the profiling timer as the driver reports it, in nanoseconds; 0 when unknown.
    pub timer_ns: u64,
    /// Extensions, separated by blanks.
    pub extensions: String,
    #[serde(flatten)]
    pub target: Target,
}

impl DeviceInfo {
    /// Whether this is a simulator, whose times say nothing and which finds wild accesses itself.
    pub fn is_simulator(&self) -> bool {
        self.platform.contains("Oclgrind")
    }
}

/// A platform: one driver's name for itself, and its devices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlatformInfo {
    /// The first number of its devices' selectors.
    pub index: usize,
    pub name: String,
    pub vendor: String,
    /// As in `OpenCL 3.0 CUDA 12.2`.
    pub version: String,
    pub devices: Vec<DeviceInfo>,
    /// Why devices are missing, if the driver says so or it can be told.
    pub problem: Option<String>,
}

/// What a device that follows a script says of itself: for tests.
pub fn fake_info() -> DeviceInfo {
    DeviceInfo {
        index: 0,
        selector: "0:0".into(),
        platform: "Fake platform".into(),
        name: "Fake device".into(),
        vendor: "gpulab".into(),
        kind: "cpu".into(),
        driver: "1.0".into(),
        cl_version: "OpenCL 1.2 fake".into(),
        clock_mhz: 1000,
        timer_ns: 1,
        extensions: String::new(),
        target: Target {
            compute_units: 2,
            local_mem: 32 << 10,
            global_mem: 1 << 30,
            max_alloc: 1 << 28,
            cache: 1 << 20,
            float_lanes: 0,
            fp16: false,
            prefetch: false,
            subgroups: false,
            ..Target::with_everything(false)
        },
    }
}

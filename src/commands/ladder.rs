//! What every family's command does: probe the ceilings, time the CPU, climb the ladder, tell.

use super::sinks::Sinks;
use super::{Out, color, interrupt, say};
use crate::cli::{Global, Ladder};
use crate::data::Dtype;
use crate::device::DeviceInfo;
use crate::kernels::{Case, Family, Params, Rung, Shape, WorkGroup, ceiling};
use crate::record::{Ceiling, Record, Row, Run, Scene, flag, relate};
use crate::report::progress::{Line, Observer, Silent};
use crate::runner::{Cache, Clock, Outcome, Settings, Status};
use crate::worker::{Executor, InProcess, Job, Setup, WorkerProcess, open_session};
use crate::{Error, memory, stats, values};
use std::path::Path;
use std::time::Duration;

/// A ladder to climb.
pub(super) struct Study {
    pub(super) family: &'static Family,
    pub(super) shape: Shape,
    /// The element type asked for, or that of the inputs.
    pub(super) dtype: Option<Dtype>,
    pub(super) params: Params,
    /// Files of real inputs; empty for random ones.
    pub(super) inputs: Vec<String>,
}

/// The settings that were given.
pub(super) fn params(given: &[(&str, Option<String>)]) -> Params {
    let given = given.iter().filter_map(|(name, value)| Some(((*name).to_owned(), value.clone()?)));
    given.collect()
}

/// A climb under way.
struct Climb<'a> {
    study: &'a Study,
    options: &'a Ladder,
    settings: Settings,
    dtype: Dtype,
    wg: WorkGroup,
    run: Run,
    executor: Box<dyn Executor>,
    observer: Box<dyn Observer>,
    records: Vec<Record>,
    sinks: Sinks,
}

/// Climbs the ladder and prints what came of it. What was measured before an error or an interrupt is
/// printed all the same.
///
/// # Errors
/// Bad options, no device, outputs that cannot be written, and the worst thing that happened to a rung.
pub(super) fn run(out: &mut Out, global: &Global, options: &Ladder, study: &Study) -> Result<(), Error> {
    let rungs = match &options.variant {
        Some(list) => values::variants(study.family, list).map_err(Error::Usage)?,
        None => study.family.ladder.iter().collect(),
    };
    let dtype = study.dtype.or(study.family.dtypes.first().copied()).unwrap_or(Dtype::F32);
    if !study.family.dtypes.contains(&dtype) {
        let names: Vec<&str> = study.family.dtypes.iter().map(|d| d.name()).collect();
        return Err(Error::Usage(format!("{} has no {dtype} kernels; it has {}", study.family.name, names.join(", "))));
    }
    check_sources(&rungs, options.cl_dir.as_deref())?;
    let sinks = Sinks::open(&options.output)?;
    let bytes = data_bytes(study, dtype)?;
    check_host_memory(study, bytes)?;
    interrupt::watch();
    let executor = open(global, options, study, bytes)?;
    let info = executor.info().clone();
    check_device(study, dtype, bytes, options.wg, &info)?;
    announce(global, &info);
    let mut climb = Climb {
        study,
        options,
        settings: options.measure.settings(),
        dtype,
        wg: options.wg.unwrap_or_else(|| WorkGroup::linear(info.target.max_wg.min(256))),
        run: Run::begin(),
        executor,
        observer: Box::new(Line::new(global.quiet)),
        records: Vec::new(),
        sinks,
    };
    let climbed = climb.climb(&rungs, &info);
    let told = climb.tell(out, global);
    climbed?;
    told?;
    worst(&climb.records, options.measure.strict)
}

/// Refuses a folder that is not laid out like `cl/`.
fn check_sources(rungs: &[&'static Rung], dir: Option<&Path>) -> Result<(), Error> {
    let missing = dir.and_then(|dir| rungs.iter().map(|r| dir.join(r.path)).find(|path| !path.is_file()));
    missing.map_or(Ok(()), |path| {
        Err(Error::Usage(format!("--cl-dir: there is no {}: the folder must be laid out like cl/", path.display())))
    })
}

/// Bytes of the problem's inputs.
fn data_bytes(study: &Study, dtype: Dtype) -> Result<u64, Error> {
    let sizes = study.family.problem.inputs(study.shape).into_iter();
    let bytes = sizes.map(|len| len as u128 * dtype.size() as u128).sum::<u128>();
    u64::try_from(bytes).map_err(|_| Error::Usage(format!("{} elements need {bytes} bytes", study.shape.n)))
}

/// Refuses what this machine cannot hold: the inputs once here, and once more while they are checked.
fn check_host_memory(study: &Study, bytes: u64) -> Result<(), Error> {
    let needed = bytes.saturating_mul(2);
    match memory::available() {
        Some(available) if needed > available => Err(Error::Usage(format!(
            "{} elements need {} of memory for their data and its check, and {} is available: choose a smaller --n",
            study.shape.n,
            gib(needed),
            gib(available)
        ))),
        _ => Ok(()),
    }
}

/// Refuses what no rung could run on this device.
fn check_device(
    study: &Study,
    dtype: Dtype,
    bytes: u64,
    wg: Option<WorkGroup>,
    info: &DeviceInfo,
) -> Result<(), Error> {
    let target = &info.target;
    let needed = bytes.saturating_mul(2);
    if needed > target.global_mem {
        return Err(Error::Usage(format!(
            "{} elements of {dtype} need {} on the device for their data and its copy, and {} has {}: choose a smaller --n",
            study.shape.n,
            gib(needed),
            info.name,
            gib(target.global_mem)
        )));
    }
    match wg {
        Some(wg) if wg.size() > target.max_wg => Err(Error::Usage(format!(
            "work-group {wg} is too large: {} allows at most {} work-items",
            info.name, target.max_wg
        ))),
        _ => Ok(()),
    }
}

fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / (1u64 << 30) as f64)
}

fn open(global: &Global, options: &Ladder, study: &Study, bytes: u64) -> Result<Box<dyn Executor>, Error> {
    let setup = Setup {
        device: global.device.clone(),
        cl_dir: options.cl_dir.clone(),
        inputs: study.inputs.clone(),
        dtype: study.dtype,
    };
    if options.measure.in_process {
        return Ok(Box::new(InProcess(open_session(&setup)?)));
    }
    let deadline = options.measure.deadline.unwrap_or_else(|| default_deadline(bytes));
    Ok(Box::new(WorkerProcess::open(setup, Duration::from_secs_f64(deadline), interrupt::interrupted)?))
}

/// Seconds that a case may take beyond its sampling: a minute, and a slow machine's time to make, copy and
/// check the data.
fn default_deadline(bytes: u64) -> f64 {
    60.0 + bytes as f64 / 50e6
}

fn announce(global: &Global, info: &DeviceInfo) {
    if !global.quiet {
        let why = if global.device.is_some() { "" } else { " (-d chooses another; gpulab devices lists them)" };
        say(&format!("device {}: {}{why}", info.selector, info.name));
    }
}

impl Climb<'_> {
    fn climb(&mut self, rungs: &[&'static Rung], info: &DeviceInfo) -> Result<(), Error> {
        let empty = self.study.shape.n == 0;
        let baselines = if empty { &[] } else { self.study.family.problem.baselines() };
        let probes = if empty { 0 } else { ceiling::PROBES.len() };
        let total = probes + baselines.len() + rungs.len();
        let mut limits = Vec::new();
        for (index, probe) in ceiling::PROBES.iter().take(probes).enumerate() {
            self.observer.case_started(index, total, &format!("{} ceiling", probe.name));
            if let Some(gbps) = self.probe(probe, info)? {
                limits.push(Ceiling { bound: probe.ceiling, gbps });
            }
        }
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let host = Scene::on_host(&self.run, threads, &self.settings);
        for (index, baseline) in baselines.iter().enumerate() {
            self.observer.case_started(probes + index, total, baseline.name);
            let job = self.job(baseline.name, true, self.settings.clone());
            self.measure(&job, &host, None)?;
        }
        let limit = limits.into_iter().find(|limit| limit.bound == self.study.family.ceiling);
        let scene = Scene::on_device(&self.run, info, &self.settings, limit);
        for (index, rung) in rungs.iter().enumerate() {
            let label = format!("v{} {}", rung.number(), rung.variant());
            self.observer.case_started(probes + baselines.len() + index, total, &label);
            let job = self.job(rung.variant(), false, self.bounded(limit, info));
            self.measure(&job, &scene, Some(rung.number()))?;
        }
        Ok(())
    }

    fn case(&self, variant: &str) -> Case {
        Case {
            family: self.study.family.name.into(),
            variant: variant.into(),
            dtype: self.dtype,
            shape: self.study.shape,
            wg: self.wg,
            params: self.study.params.clone(),
            seed: self.options.seed,
        }
    }

    fn job(&self, variant: &str, baseline: bool, settings: Settings) -> Job {
        Job { baseline, case: self.case(variant), settings }
    }

    /// The settings, with the rate that no event time may exceed where no cache can help.
    fn bounded(&self, limit: Option<Ceiling>, info: &DeviceInfo) -> Settings {
        let problem = self.study.family.problem;
        let bytes = problem.cost(&self.case("")).bytes;
        // Drivers tend to report a part of their last-level cache.
        let beyond_cache = bytes > (16 * info.target.cache).max(256 << 20) as f64;
        let ceiling = limit.filter(|_| beyond_cache).map(|limit| 1.5e9 * limit.gbps);
        Settings { ceiling, ..self.settings.clone() }
    }

    /// The best rate in GB/s of a probe's shapes.
    fn probe(&mut self, probe: &'static Family, info: &DeviceInfo) -> Result<Option<f64>, Error> {
        let settings = Settings {
            min_runs: 5,
            max_runs: 50,
            min_time: 0.02,
            timeout: 0.3,
            cache: Cache::Warm,
            clock: Clock::Event,
            ..self.settings.clone()
        };
        let mut best: Option<f64> = None;
        for rung in probe.ladder {
            let case = Case {
                family: probe.name.into(),
                variant: rung.variant().into(),
                dtype: Dtype::I32,
                shape: Shape::vector(ceiling::elements(&info.target)),
                wg: WorkGroup::linear(info.target.max_wg.min(256)),
                params: Params::new(),
                seed: self.options.seed,
            };
            let outcome = self.executor.run(&Job { baseline: false, case, settings: settings.clone() })?;
            best = best.into_iter().chain(fastest_rate(&outcome)).reduce(f64::max);
        }
        Ok(best)
    }

    /// Runs one case and writes its row.
    fn measure(&mut self, job: &Job, scene: &Scene, rung: Option<u32>) -> Result<(), Error> {
        let outcome = self.executor.run(job)?;
        self.observer.case_done(outcome.status, stats::summarise(&outcome.times()).map(|s| s.median));
        self.records.push(Record::from_outcome(scene, rung, outcome));
        relate(&mut self.records);
        if let Some(record) = self.records.last() {
            self.sinks.write(record)?;
        }
        Ok(())
    }

    /// Ends the progress, and prints the table.
    fn tell(&mut self, out: &mut Out, global: &Global) -> Result<(), Error> {
        self.observer = Box::new(Silent);
        let rows: Vec<Row> = self.records.iter().map(Row::from).collect();
        self.sinks.finish(out, &rows, color(global.color), global.quiet)
    }
}

/// GB/s of the fastest run of a right result.
fn fastest_rate(outcome: &Outcome) -> Option<f64> {
    let fastest = outcome.times().into_iter().reduce(f64::min)?;
    (outcome.status == Status::Ok && fastest > 0.0).then_some(outcome.bytes / 1e9 / fastest)
}

/// The error that the worst row makes, in the order that the exit codes have.
fn worst(records: &[Record], strict: bool) -> Result<(), Error> {
    let find = |status| records.iter().find(|r| r.outcome.status == status).map(name);
    if let Some(rung) = find(Status::WrongResult) {
        return Err(Error::WrongResult(format!("{rung} gave a wrong result: it was not timed")));
    }
    if let Some(rung) = find(Status::BuildFailed) {
        return Err(Error::BuildFailed(format!("{rung} did not build: its log is above")));
    }
    if let Some(rung) = find(Status::Failed).or_else(|| find(Status::Timeout)) {
        return Err(Error::Failed(format!("{rung} did not run to its end: the reason is above")));
    }
    match records.iter().find(|r| r.outcome.clock_note.is_some() || r.flags.contains(&flag::NOISY)) {
        Some(record) if strict => Err(Error::Untrusted(format!("{} cannot be trusted: see its notes", name(record)))),
        _ => Ok(()),
    }
}

fn name(record: &Record) -> String {
    let case = &record.outcome.case;
    record.rung.map_or_else(|| case.variant.clone(), |n| format!("{}/v{n}_{}", case.family, case.variant))
}

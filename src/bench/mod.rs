//! What commands that measure share: checks before anything runs, the device, the pace, and the verdict.

pub(crate) mod judge;
pub(crate) mod simulate;
pub(crate) mod tuning;

use crate::ceilings::{self, LimitNeeded, Limits};
use crate::cli::{CaseOptions, MeasureArgs};
use crate::outcome::Job;
use crate::prelude::*;
use crate::record::COPY;
use crate::report::progress::StatusLine;
use crate::runner::Pace;
use crate::worker::{open_session, usual_deadline};
use crate::{processes, stats, sweep};
use std::borrow::Borrow;

/// The work-group of kernels that have none of their own.
pub(crate) const WORK_GROUP: WorkGroup = WorkGroup::linear(256);

#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub(crate) family: &'a Family,
    pub(crate) shape: Shape,
    pub(crate) dtype: Dtype,
    pub(crate) params: &'a Params,
}

impl Input<'_> {
    /// Their size in bytes, or that of the result if it is larger.
    pub(crate) fn bytes(&self) -> Result<u64, Error> {
        let problem = &self.family.problem;
        let size = self.dtype.size() as u128;
        let inputs: u128 = problem.inputs(self.shape, self.params).into_iter().map(|len| len as u128 * size).sum();
        let bytes = inputs.max(problem.result(self.shape, self.params) as u128 * size);
        u64::try_from(bytes).map_err(|_| {
            Error::Usage(format!("{} need {bytes} bytes: choose a smaller size", elements(self.family, self.shape)))
        })
    }

    /// Operations of a case, by the cost model.
    pub(crate) fn ops(&self) -> f64 {
        self.family.problem.cost(&self.case()).ops
    }

    fn case(&self) -> Case {
        Case { params: self.params.clone(), seed: 0, ..Case::of(&self.family.name, "", self.dtype, self.shape) }
    }

    /// Refuses what this machine or no rung on this device could hold.
    pub(crate) fn check(&self, info: &DeviceInfo) -> Result<(), Error> {
        let bytes = self.bytes()?;
        self.check_host(bytes)?;
        self.check_device(bytes, info)
    }

    /// Refuses what this machine cannot hold: the inputs once here, and once more while they are checked; of results as large
    /// as they are a reference and a copy of the device's.
    pub(crate) fn check_host(&self, bytes: u64) -> Result<(), Error> {
        self.check_memory(bytes, self.copies(), "for their data and its check")
    }

    /// Refuses what no rung could run on this device.
    pub(crate) fn check_device(&self, bytes: u64, info: &DeviceInfo) -> Result<(), Error> {
        let needed = bytes.saturating_mul(2);
        if needed > info.target.global_mem {
            return Err(Error::Usage(format!(
                "{} of {} need {} on the device for their data and its copy, and {} has {}: choose {}",
                elements(self.family, self.shape),
                self.dtype,
                gib(needed),
                info.name,
                gib(info.target.global_mem),
                self.largest(info.target.global_mem)
            )));
        }
        // The memory of a CPU device is this machine's.
        match info.kind == "cpu" {
            true => self.check_memory(bytes, self.copies() + 2, "for their data, its check, and the device's copies"),
            false => Ok(()),
        }
    }

    /// The largest power of two that fits so many bytes, as an option says it.
    fn largest(&self, memory: u64) -> String {
        let log = (0..40).rev().find(|log| {
            let shape = self.family.form.shape(1 << log, None);
            Input { shape, ..*self }.bytes().is_ok_and(|bytes| bytes.saturating_mul(2) <= memory)
        });
        log.map_or_else(|| "another device".to_owned(), |log| format!("-n 2^{log} or less"))
    }

    fn check_memory(&self, bytes: u64, copies: u64, what_for: &str) -> Result<(), Error> {
        let needed = bytes.saturating_mul(copies);
        match processes::available_memory() {
            Some(available) if needed > available => Err(Error::Usage(format!(
                "{} need {} of memory {what_for}, and {} is available: choose a smaller size",
                elements(self.family, self.shape),
                gib(needed),
                gib(available)
            ))),
            _ => Ok(()),
        }
    }

    /// Arrays of the inputs' size that the host holds at once.
    fn copies(&self) -> u64 {
        let problem = &self.family.problem;
        let has_large_reference =
            problem.movement(&self.case()).is_none() && problem.result(self.shape, self.params) > 1;
        if has_large_reference { 3 } else { 2 }
    }
}

fn elements(family: &Family, Shape { n, m }: Shape) -> String {
    if family.form == Form::Vector { format!("{n} elements") } else { format!("{n} x {m} elements") }
}

/// Bytes as people read them.
pub(crate) fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / (1u64 << 30) as f64)
}

/// The shape that is asked for, or else the usual one; of a matrix, columns alone mean a square.
pub(crate) fn shape(family: &Family, n: Option<u64>, m: Option<u64>, usual: Shape) -> Result<Shape, Error> {
    match (n, m) {
        (_, Some(_)) if family.form != Form::Matrix => {
            Err(Error::Usage(format!("--m: {} has no matrix with rows of its own", family.name)))
        }
        (None, None) => {
            let whole = family.usual_shape(usual.n, false);
            if usual != whole {
                let quick = elements(family, usual);
                let whole = elements(family, whole);
                note(&format!("--quick: {quick}, and not {whole} as in the file: -n takes others"));
            }
            Ok(usual)
        }
        _ => Ok(family.form.shape(n.unwrap_or(usual.n), m)),
    }
}

/// The case of a rung that options ask for, with the `usual` shape where they give no size.
pub(crate) fn case(family: &Family, rung: &Rung, options: &CaseOptions, usual: Shape) -> Result<Case, Error> {
    let dtype = dtype(family, options.element.dtype.or(rung.own_dtype()))?;
    Ok(Case {
        wg: options.wg.or(rung.work_group()).unwrap_or(WORK_GROUP),
        params: single_settings(family, &[rung], &options.set)?,
        ..Case::of(&family.name, rung.variant(), dtype, shape(family, options.n, options.m, usual)?)
    })
}

/// Settings that --set gives, each of one value.
pub(crate) fn single_settings(family: &Family, rungs: &[&Rung], texts: &[String]) -> Result<Params, Error> {
    sweep::settings(family, rungs, texts)
        .map_err(Error::Usage)?
        .into_iter()
        .map(|setting: sweep::Setting| match setting.values.as_slice() {
            [value] => Ok((setting.name.clone(), value.clone())),
            values => Err(Error::Usage(format!("--set {}: {} values; give one", setting.name, values.len()))),
        })
        .collect()
}

/// As [`single_settings`], by their names in letters of any case.
pub(crate) fn own_settings(family: &Family, rungs: &[&Rung], texts: &[String]) -> Result<Params, Error> {
    single_settings(
        family,
        rungs,
        &texts
            .iter()
            .map(|text: &String| match text.split_once('=') {
                Some((name, value)) => format!("{}={value}", name.to_lowercase()),
                None => text.clone(),
            })
            .collect::<Vec<_>>(),
    )
}

/// The element type that is asked for, or the family's first.
pub(crate) fn dtype(family: &Family, asked: Option<Dtype>) -> Result<Dtype, Error> {
    let dtype = asked.or(family.dtypes.first().copied()).unwrap_or(Dtype::F32);
    check_dtype(family, dtype)?;
    Ok(dtype)
}

/// Refuses an element type that the family has no kernels for.
pub(crate) fn check_dtype(family: &Family, dtype: Dtype) -> Result<(), Error> {
    if family.dtypes.contains(&dtype) {
        return Ok(());
    }
    let names: Vec<&str> = family.dtypes.iter().map(|d| d.name()).collect();
    Err(Error::Usage(format!("{} has no {dtype} kernels; it has {}", family.name, names.join(", "))))
}

/// Refuses a folder that has none of the rungs' files; says of which it has none, as those are the built-in ones.
pub(crate) fn check_sources(rungs: &[&Rung], dir: Option<&Path>, quiet: bool) -> Result<(), Error> {
    check_files(&rungs.iter().filter(|rung| !rung.is_own()).map(|rung| &*rung.path).collect::<Vec<_>>(), dir, quiet)
}

/// As [`check_sources`], of paths below `cl/`.
pub(crate) fn check_files(paths: &[&str], dir: Option<&Path>, quiet: bool) -> Result<(), Error> {
    let Some(dir) = dir.filter(|_| !paths.is_empty()) else { return Ok(()) };
    let missing: Vec<&str> = paths.iter().copied().filter(|path| !dir.join(path).is_file()).collect();
    let absent = match missing.first() {
        _ if !dir.is_dir() => dir.to_owned(),
        Some(first) if missing.len() == paths.len() => dir.join(first),
        Some(_) if !quiet => {
            note(&format!("--cl-dir: the folder lacks {}, which gpulab has built in", missing.join(", ")));
            return Ok(());
        }
        _ => return Ok(()),
    };
    let absent = absent.display();
    Err(Error::Usage(format!("--cl-dir: there is no {absent}: the folder must be laid out like cl/")))
}

/// Opens the device for cases of so many bytes and operations at most.
pub(crate) fn open(setup: Setup, measure: &MeasureArgs, bytes: u64, ops: f64) -> Result<Box<dyn Executor>, Error> {
    open_within(setup, measure.process.in_process, measure.deadline, bytes, ops)
}

/// As [`open`]; without a deadline in seconds, one that suits so many bytes and operations.
pub(crate) fn open_within(
    setup: Setup,
    in_process: bool,
    deadline: Option<f64>,
    bytes: u64,
    ops: f64,
) -> Result<Box<dyn Executor>, Error> {
    if in_process {
        return Ok(Box::new(open_session(&setup)?));
    }
    let deadline = deadline.unwrap_or_else(|| usual_deadline(bytes, ops));
    Ok(Box::new(WorkerProcess::open(setup, None, Duration::from_secs_f64(deadline), interrupt::interrupted, say)?))
}

/// Longest that opening the device, and building or running a kernel once, may take each.
pub(crate) const LOOK: Duration = Duration::from_secs(30);

/// Set in the commands that `gpulab record` runs: it has said which device it is.
pub(crate) const PART_OF_RECORD: &str = "GPULAB_RECORD";

/// Whether this command is one of those.
pub(crate) fn is_part_of_record() -> bool {
    std::env::var_os(PART_OF_RECORD).is_some()
}

pub(crate) fn announce(global: &Global, info: &DeviceInfo) {
    if !global.quiet && !is_part_of_record() {
        let why = if global.device.is_some() { "" } else { " (-d chooses another; gpulab devices lists them)" };
        note(&format!("device {}: {}{why}", info.selector, format::device(&info.name)));
    }
}

/// The jobs of a sweep or of experiments, one after the other: each is told, run within the pace, and told of.
pub(crate) struct Jobs {
    pub(crate) executor: Box<dyn Executor>,
    pub(crate) observer: StatusLine,
    pub(crate) limits: Limits,
    pub(crate) pace: Pace,
    pub(crate) settings: Settings,
    pub(crate) rounds: u32,
    /// Jobs that there are at most, and how many have begun.
    pub(crate) steps: usize,
    pub(crate) step: usize,
}

/// Refuses to go on after an interrupt.
pub(crate) fn go_on() -> Result<(), Error> {
    if interrupt::interrupted() { Err(Error::Interrupted) } else { Ok(()) }
}

impl Jobs {
    pub(crate) fn run(&mut self, name: &str, job: &Job) -> Result<Outcome, Error> {
        go_on()?;
        self.observer.case_started(self.step, self.steps, name);
        self.step += 1;
        let began = Instant::now();
        let outcome = self.executor.run(job)?;
        self.pace.job_done(began, job.settings.timeout);
        self.observer.case_done(outcome.status(), stats::summarise(&outcome.times()).map(|s| s.median));
        Ok(outcome)
    }

    /// The settings for a family's case: within the pace, and with the least time that its limit allows.
    pub(crate) fn settings(&self, family: &Family, case: &Case) -> Settings {
        let limit = self.limits.get(LimitNeeded::of(family, case.dtype, &case.params));
        ceilings::bounded(&self.in_pace(), family, case, limit, self.executor.info())
    }

    pub(crate) fn in_pace(&self) -> Settings {
        self.pace.settings(&self.settings, self.rounds, 0.0)
    }

    /// Measures the limit that a case of a family is held against, unless it is known.
    pub(crate) fn probe(&mut self, family: &Family, need: LimitNeeded) -> Result<(), Error> {
        if self.limits.has(need) {
            return Ok(());
        }
        // What is kept is told, and no line may stand where that is written.
        if !self.limits.is_at_hand(need, &self.executor.info().target) {
            self.observer.case_started(0, self.steps, &format!("{} ceiling", family.ceiling.name()));
        }
        self.limits.measure(&mut *self.executor, need)
    }
}

/// The error that a case makes which ended without a measurement.
pub(crate) fn stopped(case: &Case, stop: Stop) -> Error {
    let text = format!("{}/{}: {}", case.family, case.variant, stop.reason);
    match stop.status {
        Status::Skipped => Error::Usage(text),
        Status::BuildFailed => Error::BuildFailed(text),
        Status::WrongResult => Error::WrongResult(text),
        _ => Error::Failed(text),
    }
}

/// The error that the worst row makes, in the order that the exit codes have.
pub(crate) fn worst(rows: &[Row], strict: bool) -> Result<(), Error> {
    worst_named(&rows.iter().map(|row| (name(row), row)).collect::<Vec<_>>(), strict)
}

/// As [`worst`], of rows with names.
pub(crate) fn worst_named<R: Borrow<Row>>(rows: &[(String, R)], strict: bool) -> Result<(), Error> {
    let find = |is_meant: &dyn Fn(&Row) -> bool| rows.iter().find(|(_, row)| is_meant(row.borrow()));
    let wrong = gone_wrong(|status| find(&|row| row.status == status).map(|(name, _)| name.clone()));
    wrong.map_err(|error| match (error, find(&|row| row.status == Status::WrongResult)) {
        // Of a reader's kernel the mistake is looked for in the kernel.
        (Error::WrongResult(text), Some((_, row))) if built_in(&row.borrow().family).is_some() => {
            Error::WrongResult(format!("{text}; gpulab devices lists other drivers to compare with"))
        }
        (error, _) => error,
    })?;
    let measured = find(&|row| is_of_kernel(row) && row.status == Status::Ok);
    match find(&Row::is_doubtful) {
        _ if strict && measured.is_none() && find(&is_of_kernel).is_some() => {
            Err(Error::Untrusted("no case was measured: each was skipped, for the reason above".into()))
        }
        Some((name, row)) if strict => {
            Err(Error::Untrusted(format!("{name} cannot be trusted: {}", row.borrow().flags)))
        }
        _ => Ok(()),
    }
}

/// The CPU baselines and the plain copy say nothing of a kernel.
fn is_of_kernel(row: &Row) -> bool {
    !row.on_host() && row.variant != COPY
}

/// The error that the worst end makes; `find` names the first that ended so.
pub(crate) fn gone_wrong(find: impl Fn(Status) -> Option<String>) -> Result<(), Error> {
    if let Some(who) = find(Status::WrongResult) {
        return Err(Error::WrongResult(format!("{who} gave a wrong result: it was not timed")));
    }
    if let Some(who) = find(Status::BuildFailed) {
        return Err(Error::BuildFailed(format!("{who} did not build: its log is above")));
    }
    if let Some(who) = find(Status::Failed).or_else(|| find(Status::Timeout)) {
        return Err(Error::Failed(format!("{who} did not finish: the reason is above")));
    }
    match find(Status::Suspect) {
        // Its result is right, so that it is not a wrong one: it is the time that nobody can trust.
        Some(who) => Err(Error::Untrusted(format!("{who} is faster than the device can be: the reason is above"))),
        None => Ok(()),
    }
}

fn name(row: &Row) -> String {
    let inside = if row.repeats().is_some() { " (inside)" } else { "" };
    row.rung.map_or_else(|| row.variant.clone(), |_| format!("{}/{}", row.family, row.variant)) + inside
}

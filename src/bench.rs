//! What commands that measure share: checks before anything runs, the device, the pace, and the verdict.

use crate::ceilings::{self, LimitNeeded, Limits};
use crate::cli::{CaseOptions, Global};
use crate::console::note;
use crate::data::{Dtype, Params, Shape};
use crate::kernels::{Bound, Family, Form, Registry, Rung, Sources, built_in};
use crate::outcome::{DeviceInfo, Executor, Job, Outcome, Settings, Spent, Status, Stop};
use crate::plan::{Case, WorkGroup};
use crate::record::{COPY, Row, Run, Scene};
use crate::report::format::{self, Screen};
use crate::report::progress::StatusLine;
use crate::report::sweep::{time_split, wrapped};
use crate::runner::{FOR_LIMITS, Pace};
use crate::terminal::say;
use crate::tune::Remembered;
use crate::worker::{Setup, WorkerProcess, open_session, usual_deadline};
use crate::{Error, Result, interrupt, processes, sweep, usage_error};
use gpulab_model::Joined;
use std::borrow::Borrow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The work-group of kernels that have none of their own.
pub const WORK_GROUP: WorkGroup = WorkGroup::linear(256);

#[derive(Clone, Copy)]
pub struct Input<'a> {
    pub family: &'a Family,
    pub shape: Shape,
    pub dtype: Dtype,
    pub params: &'a Params,
}

impl Input<'_> {
    /// Opens the device, unless this machine or the device cannot hold the data.
    pub fn open(
        &self,
        setup: Setup,
        in_process: bool,
        deadline: Option<f64>,
    ) -> Result<Box<dyn Executor>> {
        let bytes = self.bytes()?;
        self.check_host(bytes)?;
        interrupt::watch();
        let executor = open(setup, in_process, deadline, bytes, self.ops())?;
        self.check_device(bytes, executor.info())?;
        Ok(executor)
    }

    /// Their size in bytes, or that of the result if it is larger.
    pub fn bytes(&self) -> Result<u64> {
        let problem = &self.family.problem;
        let size = self.dtype.size() as u128;
        let inputs: u128 = problem
            .inputs(self.shape, self.params)
            .into_iter()
            .map(|len| len as u128 * size)
            .sum();
        let bytes = inputs.max(problem.result(self.shape, self.params) as u128 * size);
        u64::try_from(bytes).map_err(|_| {
            Error::Usage(format!(
                "{} need {bytes} bytes: choose a smaller size",
                elements(self.family, self.shape)
            ))
        })
    }

    /// Operations of a case, by the cost model.
    pub fn ops(&self) -> f64 {
        self.family.problem.cost(&self.case()).ops
    }

    fn case(&self) -> Case {
        Case {
            params: self.params.clone(),
            seed: 0,
            ..Case::of(&self.family.name, "", self.dtype, self.shape)
        }
    }

    /// Refuses what this machine or no rung on this device could hold.
    pub fn check(&self, info: &DeviceInfo) -> Result<()> {
        let bytes = self.bytes()?;
        self.check_host(bytes)?;
        self.check_device(bytes, info)
    }

    /// Refuses what this machine cannot hold: the inputs once here, and once more while they are checked; of results as large
    /// as they are a reference and a copy of the device's.
    pub fn check_host(&self, bytes: u64) -> Result<()> {
        self.check_memory(bytes, self.copies(), "for their data and its check")
    }

    /// Refuses what no rung could run on this device.
    pub fn check_device(&self, bytes: u64, info: &DeviceInfo) -> Result<()> {
        let needed = bytes.saturating_mul(2);
        if needed > info.target.global_mem {
            return usage_error(format!(
                "{} of {} need {} on the device for their data and its copy, and {} has {}: choose {}",
                elements(self.family, self.shape),
                self.dtype,
                gib(needed),
                info.name,
                gib(info.target.global_mem),
                self.largest(info.target.global_mem)
            ));
        }
        // The memory of a CPU device is this machine's.
        match info.kind == "cpu" {
            true => self.check_memory(
                bytes,
                self.copies() + 2,
                "for their data, its check, and the device's copies",
            ),
            false => Ok(()),
        }
    }

    /// The largest power of two that fits so many bytes, as an option says it.
    fn largest(&self, memory: u64) -> String {
        let log = (0..40).rev().find(|log| {
            let shape = self.family.form.shape(1 << log, None);
            Input { shape, ..*self }
                .bytes()
                .is_ok_and(|bytes| bytes.saturating_mul(2) <= memory)
        });
        log.map_or_else(
            || "another device".to_owned(),
            |log| format!("-n 2^{log} or less"),
        )
    }

    fn check_memory(&self, bytes: u64, copies: u64, what_for: &str) -> Result<()> {
        let needed = bytes.saturating_mul(copies);
        match processes::available_memory() {
            Some(available) if needed > available => usage_error(format!(
                "{} need {} of memory {what_for}, and {} is available: choose a smaller size",
                elements(self.family, self.shape),
                gib(needed),
                gib(available)
            )),
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
    if family.form == Form::Vector {
        format!("{n} elements")
    } else {
        format!("{n} x {m} elements")
    }
}

/// Bytes as people read them.
pub fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / (1u64 << 30) as f64)
}

/// The shape that is asked for, or else the usual one; of a matrix, columns alone mean a square.
pub fn shape(family: &Family, n: Option<u64>, m: Option<u64>, usual: Shape) -> Result<Shape> {
    match (n, m) {
        (_, Some(_)) if family.form != Form::Matrix => usage_error(format!(
            "--m: {} has no matrix with rows of its own",
            family.name
        )),
        (None, None) => {
            let whole = family.usual_shape(usual.n, false);
            if usual != whole {
                let quick = elements(family, usual);
                let whole = elements(family, whole);
                note(&format!(
                    "{quick} are enough here, and not {whole} as in the file: -n takes others"
                ));
            }
            Ok(usual)
        }
        _ => Ok(family.form.shape(n.unwrap_or(usual.n), m)),
    }
}

/// The case of a rung that options ask for, with the `usual` shape where they give no size.
pub fn case(family: &Family, rung: &Rung, options: &CaseOptions, usual: Shape) -> Result<Case> {
    let dtype = dtype(family, options.dtype.or(rung.own_dtype()))?;
    Ok(Case {
        wg: options.wg.or(rung.work_group()).unwrap_or(WORK_GROUP),
        params: single_settings(family, &[rung], &options.set)?,
        ..Case::of(
            &family.name,
            rung.variant(),
            dtype,
            shape(family, options.n, options.m, usual)?,
        )
    })
}

/// Settings that --set gives, each of one value.
pub fn single_settings(family: &Family, rungs: &[&Rung], texts: &[String]) -> Result<Params> {
    sweep::settings(family, rungs, texts)
        .map_err(Error::Usage)?
        .into_iter()
        .map(|setting: sweep::Setting| match setting.values.as_slice() {
            [value] => Ok((setting.name.clone(), value.clone())),
            values => usage_error(format!(
                "--set {}: {} values; give one",
                setting.name,
                values.len()
            )),
        })
        .collect()
}

/// As [`single_settings`], by their names in letters of any case.
pub fn own_settings(family: &Family, rungs: &[&Rung], texts: &[String]) -> Result<Params> {
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
pub fn dtype(family: &Family, asked: Option<Dtype>) -> Result<Dtype> {
    let dtype = asked
        .or(family.dtypes.first().copied())
        .unwrap_or(Dtype::F32);
    check_dtype(family, dtype)?;
    Ok(dtype)
}

/// Refuses an element type that the family has no kernels for.
pub fn check_dtype(family: &Family, dtype: Dtype) -> Result<()> {
    if family.dtypes.contains(&dtype) {
        return Ok(());
    }
    let names = family.dtypes.iter().map(|d| d.name()).joined(", ");
    usage_error(format!(
        "{} has no {dtype} kernels; it has {}",
        family.name, names
    ))
}

/// Refuses a folder that has none of the rungs' files; says of which it has none, as those are the built-in ones.
pub fn check_sources(rungs: &[&Rung], dir: Option<&Path>, quiet: bool) -> Result<()> {
    check_files(
        &rungs
            .iter()
            .filter(|rung| !rung.is_own())
            .map(|rung| &*rung.path)
            .collect::<Vec<_>>(),
        dir,
        quiet,
    )
}

/// As [`check_sources`], of paths below `cl/`.
pub fn check_files(paths: &[&str], dir: Option<&Path>, quiet: bool) -> Result<()> {
    let Some(dir) = dir.filter(|_| !paths.is_empty()) else {
        return Ok(());
    };
    let missing: Vec<&str> = paths
        .iter()
        .copied()
        .filter(|path| !dir.join(path).is_file())
        .collect();
    let absent = match missing.first() {
        _ if !dir.is_dir() => dir.to_owned(),
        Some(first) if missing.len() == paths.len() => dir.join(first),
        Some(_) if !quiet => {
            note(&format!(
                "--cl-dir: the folder lacks {}, which gpulab has built in",
                missing.join(", ")
            ));
            return Ok(());
        }
        _ => return Ok(()),
    };
    let absent = absent.display();
    usage_error(format!(
        "--cl-dir: there is no {absent}: the folder must be laid out like cl/"
    ))
}

/// Opens the device; without a deadline in seconds, one that suits cases of so many bytes and operations at most.
pub fn open(
    setup: Setup,
    in_process: bool,
    deadline: Option<f64>,
    bytes: u64,
    ops: f64,
) -> Result<Box<dyn Executor>> {
    if in_process {
        return Ok(Box::new(open_session(&setup)?));
    }
    let deadline = deadline.unwrap_or_else(|| usual_deadline(bytes, ops));
    Ok(Box::new(WorkerProcess::open(
        setup,
        None,
        Duration::from_secs_f64(deadline),
        interrupt::interrupted,
        say,
    )?))
}

/// Longest that opening the device, and building or running a kernel once, may take each.
pub const LOOK: Duration = Duration::from_secs(30);

/// Set in the commands that `gpulab record` runs: it has said which device it is.
pub const PART_OF_RECORD: &str = "GPULAB_RECORD";

/// Whether this command is one of those.
pub fn is_part_of_record() -> bool {
    std::env::var_os(PART_OF_RECORD).is_some()
}

impl Global {
    /// What a worker is told: the device that was chosen, and kernels from this folder or the built-in ones.
    pub fn setup(&self, cl_dir: Option<&PathBuf>, registry: &Registry) -> Setup {
        Setup {
            device: self.device.clone(),
            cl_dir: cl_dir.cloned(),
            ..Setup::of(registry)
        }
    }

    /// A worker on that device for the registry's kernels, each case of which may take as long as `deadline`.
    pub fn worker(&self, registry: &Registry, deadline: Duration) -> Result<WorkerProcess> {
        interrupt::watch();
        let setup = self.setup(None, registry);
        WorkerProcess::open(setup, None, deadline, interrupt::interrupted, say)
    }
}

pub fn announce(global: &Global, info: &DeviceInfo) {
    if !global.quiet && !is_part_of_record() {
        let why = if global.device.is_some() {
            ""
        } else {
            " (-d chooses another; gpulab devices lists them)"
        };
        note(&format!(
            "device {}: {}{why}",
            info.selector,
            format::device(&info.name)
        ));
    }
}

/// The limits of a device; `is_own`: the kernels are not gpulab's, so that nothing is kept of them.
pub fn limits(global: &Global, info: &DeviceInfo, quick: bool, is_own: bool) -> Limits {
    Limits::load(info, quick, is_own, global.quiet, note)
}

/// The texts of rungs, from this folder or as they are built in.
pub fn texts(rungs: &[&Rung], cl_dir: Option<&Path>) -> Result<Vec<String>> {
    let sources = Sources {
        dir: cl_dir.map(Path::to_owned),
    };
    let texts = rungs.iter().map(|rung| sources.assemble_rung(rung));
    let texts = texts.collect::<Result<_, Stop>>();
    texts.map_err(|stop| Error::Usage(stop.reason))
}

/// The jobs of a sweep, a search or experiments, one after the other: each is told, run within the pace, and told of.
pub struct Jobs {
    pub executor: Box<dyn Executor>,
    pub observer: StatusLine,
    pub limits: Limits,
    pub pace: Pace,
    pub settings: Settings,
    pub rounds: u32,
    /// Jobs that there are at most, and how many have begun.
    pub steps: usize,
    pub step: usize,
    /// What the jobs took, and the limits in seconds.
    pub spent: Spent,
    ceiling: f64,
}

/// Refuses to go on after an interrupt.
pub fn go_on() -> Result<()> {
    if interrupt::interrupted() {
        Err(Error::Interrupted)
    } else {
        Ok(())
    }
}

impl Jobs {
    /// Jobs without a budget, each in one round; `is_own` as in [`limits`].
    pub fn new(
        global: &Global,
        executor: Box<dyn Executor>,
        settings: Settings,
        quick: bool,
        is_own: bool,
    ) -> Jobs {
        Jobs {
            observer: StatusLine::new(global.quiet),
            limits: limits(global, executor.info(), quick, is_own),
            executor,
            pace: Pace::new(None, Instant::now(), 0),
            settings,
            rounds: 1,
            steps: 0,
            step: 0,
            spent: Spent::default(),
            ceiling: 0.0,
        }
    }

    /// From now on there are so many jobs in these rounds, within a budget.
    pub fn begin(&mut self, jobs: usize, rounds: u32, budget: Option<f64>) {
        self.rounds = rounds;
        self.steps = jobs * rounds as usize;
        self.pace = Pace::new(budget, Instant::now(), self.steps);
        self.limits.end_by(self.pace.after(FOR_LIMITS));
    }

    /// What their rows have in common, of a run that begins now.
    pub fn scene(&self, quick: bool, bound: Option<Bound>) -> Scene {
        let run = Run {
            quick,
            ..Run::begin()
        };
        Scene {
            bound,
            ..Scene::on_device(&run, self.executor.info(), &self.settings, None)
        }
    }

    /// Says what the time since the run `began` went into.
    pub fn say_times(&self, global: &Global, began: Instant) {
        let split = time_split(self.spent, self.ceiling, began.elapsed().as_secs_f64());
        global.say(&wrapped(&split, Screen::stderr()));
    }

    pub fn run(&mut self, name: &str, job: &Job) -> Result<Outcome> {
        go_on()?;
        self.observer.case_started(self.step, self.steps, name);
        self.step += 1;
        let began = Instant::now();
        let outcome = self.executor.run(job)?;
        self.pace.job_done(began, job.settings.timeout);
        self.spent += outcome.spent;
        self.observer.case_done(outcome.status(), outcome.median());
        Ok(outcome)
    }

    /// The settings for a family's case: within the pace, and with the least time that its limit allows.
    pub fn settings(&self, family: &Family, case: &Case) -> Settings {
        let limit = self
            .limits
            .get(LimitNeeded::of(family, case.dtype, &case.params));
        ceilings::bounded(&self.in_pace(), family, case, limit, self.executor.info())
    }

    pub fn in_pace(&self) -> Settings {
        self.pace.settings(&self.settings, self.rounds, 0.0)
    }

    /// Measures the limit that a case of a family is held against, unless it is known.
    pub fn probe(&mut self, family: &Family, need: LimitNeeded) -> Result<()> {
        if self.limits.has(need) {
            return Ok(());
        }
        // What is kept is told, and no line may stand where that is written.
        if !self.limits.is_at_hand(need, &self.executor.info().target) {
            self.observer.case_started(
                0,
                self.steps,
                &format!("{} ceiling", family.ceiling.name()),
            );
        }
        let began = Instant::now();
        let measured = self.limits.measure(&mut *self.executor, need);
        self.ceiling += began.elapsed().as_secs_f64();
        measured
    }
}

/// What is remembered of a family on a device, if anything. That a damaged file was put aside is said.
pub fn remembered<'a>(
    family: &'a Family,
    info: &DeviceInfo,
    cl_dir: Option<&Path>,
    quiet: bool,
) -> Option<Remembered<'a>> {
    Remembered::load(
        family,
        info,
        &Sources {
            dir: cl_dir.map(Path::to_owned),
        },
        &|text| {
            if !quiet {
                note(text);
            }
        },
    )
}

/// The work-group that a case has if none is given.
pub fn default_work_group(info: &DeviceInfo) -> WorkGroup {
    WorkGroup::linear(info.target.max_wg.min(256))
}

/// The case of a rung as it was tuned, if no setting that the rung reads was given.
pub fn tuned(known: &Remembered<'_>, rung: &Rung, case: &Case) -> Option<Case> {
    let is_given = rung
        .tunables()
        .any(|tunable| case.params.contains_key(tunable.name));
    if is_given { None } else { known.tuned(case) }
}

/// Says for which rungs remembered settings are used.
pub fn announce_tuned(family: &Family, variants: &[&str], quiet: bool) {
    if quiet || variants.is_empty() {
        return;
    }
    let rungs = variants
        .iter()
        .map(|variant: &&str| {
            family
                .rung(variant)
                .and_then(Rung::number)
                .map_or_else(|| (*variant).to_owned(), |n| format!("v{n}"))
        })
        .joined(", ");
    say(&format!(
        "tuned settings for {} (gpulab tune --list shows them, --no-tuned ignores them)",
        rungs
    ));
}

/// The error that a case makes which ended without a measurement.
pub fn stopped(case: &Case, stop: Stop) -> Error {
    let text = format!("{}/{}: {}", case.family, case.variant, stop.reason);
    match stop.status {
        Status::Skipped => Error::Usage(text),
        Status::BuildFailed => Error::BuildFailed(text),
        Status::WrongResult => Error::WrongResult(text),
        _ => Error::Failed(text),
    }
}

/// The error that a case makes which ended so in the simulator.
pub fn simulated(status: Status, who: &str, reason: &str) -> Error {
    let (how, error): (_, fn(String) -> Error) = match status {
        Status::WrongResult => ("gave a wrong result", Error::WrongResult),
        Status::BuildFailed => ("did not build", Error::BuildFailed),
        _ => ("did not finish", Error::Failed),
    };
    error(format!("{who} {how} in the simulator: {reason}"))
}

/// The error that the worst row makes, in the order that the exit codes have.
pub fn worst(rows: &[Row], strict: bool) -> Result<()> {
    worst_named(
        &rows.iter().map(|row| (name(row), row)).collect::<Vec<_>>(),
        strict,
    )
}

/// As [`worst`], of rows with names.
pub fn worst_named<R: Borrow<Row>>(rows: &[(String, R)], strict: bool) -> Result<()> {
    let find =
        |is_meant: &dyn Fn(&Row) -> bool| rows.iter().find(|(_, row)| is_meant(row.borrow()));
    let wrong =
        gone_wrong(|status| find(&|row| row.status == status).map(|(name, _)| name.clone()));
    wrong.map_err(
        |error| match (error, find(&|row| row.status == Status::WrongResult)) {
            // Of a reader's kernel the mistake is looked for in the kernel.
            (Error::WrongResult(text), Some((_, row)))
                if built_in(&row.borrow().family).is_some() =>
            {
                Error::WrongResult(format!(
                    "{text}; gpulab devices lists other drivers to compare with"
                ))
            }
            (error, _) => error,
        },
    )?;
    let measured = find(&|row| is_of_kernel(row) && row.status == Status::Ok);
    match find(&Row::is_doubtful) {
        _ if strict && measured.is_none() && find(&is_of_kernel).is_some() => Err(
            Error::Untrusted("no case was measured: each was skipped, for the reason above".into()),
        ),
        Some((name, row)) if strict => Err(Error::Untrusted(format!(
            "{name} cannot be trusted: {}",
            row.borrow().flags
        ))),
        _ => Ok(()),
    }
}

/// The CPU baselines and the plain copy say nothing of a kernel.
fn is_of_kernel(row: &Row) -> bool {
    !row.on_host() && row.variant != COPY
}

/// The error that the worst end makes; `find` names the first that ended so.
pub fn gone_wrong(find: impl Fn(Status) -> Option<String>) -> Result<()> {
    if let Some(who) = find(Status::WrongResult) {
        return Err(Error::WrongResult(format!(
            "{who} gave a wrong result: it was not timed"
        )));
    }
    if let Some(who) = find(Status::BuildFailed) {
        return Err(Error::BuildFailed(format!(
            "{who} did not build: its log is above"
        )));
    }
    if let Some(who) = find(Status::Failed).or_else(|| find(Status::Timeout)) {
        return Err(Error::Failed(format!(
            "{who} did not finish: the reason is above"
        )));
    }
    match find(Status::Suspect) {
        // Its result is right, so that it is not a wrong one: it is the time that nobody can trust.
        Some(who) => Err(Error::Untrusted(format!(
            "{who} is faster than the device can be: the reason is above"
        ))),
        None => Ok(()),
    }
}

fn name(row: &Row) -> String {
    let inside = if row.repeats().is_some() {
        " (inside)"
    } else {
        ""
    };
    row.rung.map_or_else(
        || row.variant.clone(),
        |_| format!("{}/{}", row.family, row.variant),
    ) + inside
}

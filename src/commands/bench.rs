//! What the commands that measure share: checks before anything runs, the executor, the verdict.

use super::{described, interrupt, note, say, words};
use crate::cli::{Global, MeasureArgs};
use crate::data::{Dtype, Params, Shape};
use crate::device::DeviceInfo;
use crate::kernels::{self, FAMILIES, Family, Form, Rung};
use crate::plan::{Case, WorkGroup};
use crate::record::Row;
use crate::report::format;
use crate::runner::{Status, Stop};
use crate::worker::{Executor, InProcess, Setup, WorkerProcess, open_session, usual_deadline};
use crate::{Error, memory, sweep};
use std::borrow::Borrow;
use std::path::Path;
use std::time::Duration;

/// The inputs of a case.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) family: &'static Family,
    pub(super) shape: Shape,
    pub(super) dtype: Dtype,
    pub(super) params: &'a Params,
}

impl Input<'_> {
    /// Their size in bytes, or that of the result if it is larger.
    pub(super) fn bytes(&self) -> Result<u64, Error> {
        let (problem, size) = (self.family.problem, self.dtype.size() as u128);
        let inputs: u128 = problem.inputs(self.shape, self.params).into_iter().map(|len| len as u128 * size).sum();
        let bytes = inputs.max(problem.result(self.shape, self.params) as u128 * size);
        u64::try_from(bytes)
            .map_err(|_| Error::Usage(format!("{} need {bytes} bytes: choose a smaller size", self.elements())))
    }

    /// Operations of a case, by the cost model.
    pub(super) fn ops(&self) -> f64 {
        self.family.problem.cost(&self.case()).ops
    }

    fn case(&self) -> Case {
        Case {
            family: self.family.name.into(),
            variant: String::new(),
            dtype: self.dtype,
            shape: self.shape,
            wg: WorkGroup::linear(1),
            params: self.params.clone(),
            seed: 0,
        }
    }

    /// Refuses what this machine or no rung on this device could hold.
    pub(super) fn check(&self, info: &DeviceInfo) -> Result<(), Error> {
        let bytes = self.bytes()?;
        self.check_host(bytes)?;
        self.check_device(bytes, info)
    }

    /// Refuses what this machine cannot hold: the inputs once here, and once more while they are checked; of results as large
    /// as they are a reference and a copy of the device's.
    pub(super) fn check_host(&self, bytes: u64) -> Result<(), Error> {
        self.check_memory(bytes, self.copies(), "for their data and its check")
    }

    /// Refuses what no rung could run on this device.
    pub(super) fn check_device(&self, bytes: u64, info: &DeviceInfo) -> Result<(), Error> {
        let needed = bytes.saturating_mul(2);
        if needed > info.target.global_mem {
            return Err(Error::Usage(format!(
                "{} of {} need {} on the device for their data and its copy, and {} has {}: choose a smaller size",
                self.elements(),
                self.dtype,
                gib(needed),
                info.name,
                gib(info.target.global_mem)
            )));
        }
        // The memory of a CPU device is this machine's.
        match info.kind == "cpu" {
            true => self.check_memory(bytes, self.copies() + 2, "for their data, its check, and the device's copies"),
            false => Ok(()),
        }
    }

    fn check_memory(&self, bytes: u64, copies: u64, what_for: &str) -> Result<(), Error> {
        let needed = bytes.saturating_mul(copies);
        match memory::available() {
            Some(available) if needed > available => Err(Error::Usage(format!(
                "{} need {} of memory {what_for}, and {} is available: choose a smaller size",
                self.elements(),
                gib(needed),
                gib(available)
            ))),
            _ => Ok(()),
        }
    }

    /// Arrays of the inputs' size that the host holds at once.
    fn copies(&self) -> u64 {
        let problem = self.family.problem;
        let has_large_reference =
            problem.movement(&self.case()).is_none() && problem.result(self.shape, self.params) > 1;
        if has_large_reference { 3 } else { 2 }
    }

    fn elements(&self) -> String {
        let Shape { n, m } = self.shape;
        if self.family.form == Form::Vector { format!("{n} elements") } else { format!("{n} x {m} elements") }
    }
}

/// Bytes as people read them.
pub(super) fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / (1u64 << 30) as f64)
}

/// The family that `--kernel` names: one of gpulab's, or a reader's own by its file.
pub(super) fn family(name: &str) -> Result<&'static Family, Error> {
    if described::is_file(name) {
        return described::family(Path::new(name), None);
    }
    // The ceilings' probes too, though nobody is told.
    kernels::family(name).ok_or_else(|| {
        let names: Vec<&str> = FAMILIES.iter().map(|f| f.name).collect();
        Error::Usage(words::unknown("family", name, &names))
    })
}

/// The shape that is asked for, or else the usual one; of a matrix, columns alone mean a square.
pub(super) fn shape(family: &Family, n: Option<u64>, m: Option<u64>, usual: Shape) -> Result<Shape, Error> {
    match (n, m) {
        (_, Some(_)) if family.form != Form::Matrix => {
            Err(Error::Usage(format!("--m: {} has no matrix with rows of its own", family.name)))
        }
        (None, None) => Ok(usual),
        _ => Ok(family.form.shape(n.unwrap_or(usual.n), m)),
    }
}

/// Settings that --set gives, each of one value.
pub(super) fn single_settings(
    family: &'static Family,
    rungs: &[&'static Rung],
    texts: &[String],
) -> Result<Params, Error> {
    let one = |setting: sweep::Setting| match setting.values.as_slice() {
        [value] => Ok((setting.name.to_owned(), value.clone())),
        values => Err(Error::Usage(format!("--set {}: {} values; give one", setting.name, values.len()))),
    };
    sweep::settings(family, rungs, texts).map_err(Error::Usage)?.into_iter().map(one).collect()
}

/// Refuses an element type that the family has no kernels for.
pub(super) fn check_dtype(family: &Family, dtype: Dtype) -> Result<(), Error> {
    if family.dtypes.contains(&dtype) {
        return Ok(());
    }
    let names: Vec<&str> = family.dtypes.iter().map(|d| d.name()).collect();
    Err(Error::Usage(format!("{} has no {dtype} kernels; it has {}", family.name, names.join(", "))))
}

/// Refuses a folder that has none of the rungs' files; says of which it has none, as those are the built-in ones.
pub(super) fn check_sources(rungs: &[&'static Rung], dir: Option<&Path>, quiet: bool) -> Result<(), Error> {
    check_files(&rungs.iter().filter(|rung| !rung.is_own()).map(|rung| rung.path).collect::<Vec<_>>(), dir, quiet)
}

/// As [`check_sources`], of paths below `cl/`.
pub(super) fn check_files(paths: &[&str], dir: Option<&Path>, quiet: bool) -> Result<(), Error> {
    let Some(dir) = dir.filter(|_| !paths.is_empty()) else { return Ok(()) };
    let missing: Vec<&str> = paths.iter().copied().filter(|path| !dir.join(path).is_file()).collect();
    let wrong = |path: &Path| {
        Error::Usage(format!("--cl-dir: there is no {}: the folder must be laid out like cl/", path.display()))
    };
    match missing.first() {
        _ if !dir.is_dir() => Err(wrong(dir)),
        Some(first) if missing.len() == paths.len() => Err(wrong(&dir.join(first))),
        Some(_) if !quiet => {
            note(&format!("--cl-dir: the folder lacks {}, which gpulab has built in", missing.join(", ")));
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Opens the device for cases of so many bytes and operations at most.
pub(super) fn open(setup: Setup, measure: &MeasureArgs, bytes: u64, ops: f64) -> Result<Box<dyn Executor>, Error> {
    open_within(setup, measure.in_process, measure.deadline, bytes, ops)
}

/// As [`open`]; without a deadline in seconds, one that suits so many bytes and operations.
pub(super) fn open_within(
    setup: Setup,
    in_process: bool,
    deadline: Option<f64>,
    bytes: u64,
    ops: f64,
) -> Result<Box<dyn Executor>, Error> {
    if in_process {
        return Ok(Box::new(InProcess(open_session(&setup)?)));
    }
    let deadline = deadline.unwrap_or_else(|| usual_deadline(bytes, ops));
    Ok(Box::new(WorkerProcess::open(setup, Duration::from_secs_f64(deadline), interrupt::interrupted, say)?))
}

/// Set in the commands that `gpulab record` runs: it has said which device it is.
pub(super) const PART_OF_RECORD: &str = "GPULAB_RECORD";

/// Whether this command is one of those.
pub(super) fn is_part_of_record() -> bool {
    std::env::var_os(PART_OF_RECORD).is_some()
}

/// Says which device was chosen.
pub(super) fn announce(global: &Global, info: &DeviceInfo) {
    if !global.quiet && !is_part_of_record() {
        let why = if global.device.is_some() { "" } else { " (-d chooses another; gpulab devices lists them)" };
        note(&format!("device {}: {}{why}", info.selector, format::device(&info.name)));
    }
}

/// The error that a case makes which ended without a measurement.
pub(super) fn stopped(case: &Case, stop: Stop) -> Error {
    let text = format!("{}/{}: {}", case.family, case.variant, stop.reason);
    match stop.status {
        Status::Skipped => Error::Usage(text),
        Status::BuildFailed => Error::BuildFailed(text),
        Status::WrongResult => Error::WrongResult(text),
        _ => Error::Failed(text),
    }
}

/// The error that the worst row makes, in the order that the exit codes have.
pub(super) fn worst(rows: &[Row], strict: bool) -> Result<(), Error> {
    worst_named(&rows.iter().map(|row| (name(row), row)).collect::<Vec<_>>(), strict)
}

/// As [`worst`], of rows with names.
pub(super) fn worst_named<R: Borrow<Row>>(rows: &[(String, R)], strict: bool) -> Result<(), Error> {
    let find = |is_meant: &dyn Fn(&Row) -> bool| rows.iter().find(|(_, row)| is_meant(row.borrow()));
    gone_wrong(|status| find(&|row| row.status == status).map(|(name, _)| name.clone()))?;
    match find(&Row::is_doubtful) {
        Some((name, row)) if strict => {
            Err(Error::Untrusted(format!("{name} cannot be trusted: {}", row.borrow().flags)))
        }
        _ => Ok(()),
    }
}

/// The error that the worst end makes; `find` names the first that ended so.
pub(super) fn gone_wrong(find: impl Fn(Status) -> Option<String>) -> Result<(), Error> {
    if let Some(who) = find(Status::WrongResult) {
        let next = "gpulab devices lists other drivers to compare with";
        return Err(Error::WrongResult(format!("{who} gave a wrong result: it was not timed; {next}")));
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

/// Of all that went wrong, what decides the exit code; the rest is said. A wrong result comes before a build that failed,
/// then whatever else ended the run, then rows that cannot be trusted; that a reader went away hides nothing.
pub(super) fn worst_of(errors: impl IntoIterator<Item = Error>) -> Result<(), Error> {
    let rank = |error: &Error| match error {
        Error::Interrupted => 0,
        Error::WrongResult(_) => 1,
        Error::BuildFailed(_) => 2,
        _ if error.is_closed_pipe() => 5,
        Error::Untrusted(_) => 4,
        _ => 3,
    };
    let mut errors: Vec<Error> = errors.into_iter().collect();
    errors.sort_by_key(rank);
    let mut errors = errors.into_iter();
    let Some(worst) = errors.next() else { return Ok(()) };
    errors.filter(|error| !error.is_closed_pipe()).for_each(|error| note(&format!("gpulab: {error}")));
    Err(worst)
}

fn name(row: &Row) -> String {
    let inside = if row.repeats().is_some() { " (inside)" } else { "" };
    row.rung.map_or_else(|| row.variant.clone(), |n| format!("{}/v{n}_{}", row.family, row.variant)) + inside
}

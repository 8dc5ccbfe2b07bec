//! A reader's kernel file, judged in a worker process of its own.

use crate::adopt::Brought;
use crate::bench::{self, Input, tuning};
use crate::judgement::{Judgement, Ruling};
use crate::judging::judge;
use crate::prelude::*;
use crate::report::progress::StatusLine;
use crate::worker::usual_deadline;

/// Seconds that a small case may take by default: most of it is its compilation.
const SMALL_S: f64 = 15.0;

/// What a file is judged for, and how. What is not said is as of the family's ladder.
pub(crate) struct Judging<'a> {
    pub(crate) dtype: Option<Dtype>,
    pub(crate) wg: Option<WorkGroup>,
    /// Elements, or columns, and rows.
    pub(crate) n: Option<u64>,
    pub(crate) m: Option<u64>,
    /// Settings, as in `acc=4`.
    pub(crate) set: &'a [String],
    pub(crate) seed: u64,
    /// Seconds that a case may take.
    pub(crate) deadline: Option<f64>,
    /// Bytes that the worker may take beside what its driver has.
    pub(crate) memory: Option<u64>,
    /// Whether the size is that of a quick ladder.
    pub(crate) quick: bool,
}

/// A kernel file that was judged, and stays among its family's rungs.
pub(crate) struct JudgedFile {
    pub(crate) brought: Brought,
    pub(crate) rung: Rung,
    pub(crate) judgement: Judgement,
    pub(crate) device: String,
    /// What its worker was allowed, in bytes.
    pub(crate) memory: u64,
}

/// Judges a reader's kernel, the last rung of its family: tries it where kernels go wrong.
/// A wrong kernel is no error here: [`verdict`] makes one of it.
pub(crate) fn judge_own(global: &Global, brought: Brought, asked: &Judging<'_>) -> Result<JudgedFile, Error> {
    let family = &brought.family;
    let rung = family.ladder.last().ok_or_else(|| Error::Failed("the kernel is no rung".into()))?;
    if let (Some(asked), Some(own)) = (asked.dtype, rung.own_dtype())
        && asked != own
    {
        return Err(Error::Usage(format!("--dtype {asked}: the kernel's elements are {own}")));
    }
    rung.guess().iter().filter(|_| !global.quiet).for_each(|guess| note(&format!("{}: {guess}", rung.label())));
    let dtype = bench::dtype(family, asked.dtype.or(rung.own_dtype()))?;
    let shape = shape(family, asked)?;
    let params = bench::own_settings(family, &[rung], asked.set)?;
    let data = Input { family, shape, dtype, params: &params };
    let bytes = data.bytes()?;
    data.check_host(bytes)?;
    interrupt::watch();
    let memory = asked.memory.unwrap_or_else(|| usual_memory(bytes));
    let setup = Setup { device: global.device.clone(), memory: Some(memory), ..Setup::of(&brought.registry) };
    let small = Duration::from_secs_f64(asked.deadline.unwrap_or(SMALL_S));
    let whole = Duration::from_secs_f64(asked.deadline.unwrap_or_else(|| usual_deadline(bytes, data.ops())));
    let mut worker = WorkerProcess::open(setup, None, whole, interrupt::interrupted, say)?;
    let info = worker.info().clone();
    data.check_device(bytes, &info)?;
    bench::announce(global, &info);
    let case = Case {
        wg: asked.wg.or(rung.work_group()).unwrap_or_else(|| tuning::default_work_group(&info)),
        params,
        seed: asked.seed,
        ..Case::of(&family.name, rung.variant(), dtype, shape)
    };
    let mut observer = StatusLine::new(global.quiet);
    let mut step = 0;
    let mut observe = |what: &str| {
        observer.case_started(step, step.max(STEPS - 1) + 1, &format!("checking {} with {what}", rung.label()));
        step += 1;
    };
    let judgement = judge(&mut worker, (family, rung), &case, small, whole, &mut observe)?;
    let rung = rung.clone();
    Ok(JudgedFile { brought, rung, judgement, device: format::device(&info.name), memory })
}

/// Judges a rung of a family at small sizes and then at the case's own.
pub(crate) fn judge_rung(
    global: &Global,
    registry: &Registry,
    (family, rung): (&Family, &Rung),
    case: &Case,
) -> Result<Judgement, Error> {
    let small = Duration::from_secs_f64(SMALL_S);
    let setup = Setup { device: global.device.clone(), ..Setup::of(registry) };
    let mut worker = WorkerProcess::open(setup, None, small, interrupt::interrupted, say)?;
    judge(&mut worker, (family, rung), case, small, small, &mut |_| {})
}

/// About as many cases as are tried, for the progress bar.
const STEPS: usize = 9;

/// The size asked for, or that of the family's ladder. Without elements there is nothing to judge.
pub(crate) fn shape(family: &Family, asked: &Judging<'_>) -> Result<Shape, Error> {
    let usual = family.usual_shape(family.form.ladder_size(asked.quick), asked.quick);
    let shape = bench::shape(family, asked.n, asked.m, usual)?;
    match shape.elements() {
        0 => Err(Error::Usage("no elements, so no launch to judge: choose a larger -n".into())),
        _ => Ok(shape),
    }
}

/// Bytes for data of this size, their copies and references, the threads of this machine and a compiler.
pub(crate) fn usual_memory(bytes: u64) -> u64 {
    const COMPILER: u64 = 2 << 30;
    const THREAD: u64 = 256 << 20;
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    COMPILER.saturating_add(threads.saturating_mul(THREAD)).saturating_add(bytes.saturating_mul(10))
}

/// The error that a judgement makes, and its exit code.
pub(crate) fn verdict(judged: &JudgedFile) -> Result<(), Error> {
    let name = judged.rung.label();
    Err(match judged.judgement.ruling {
        Ruling::Right => return Ok(()),
        Ruling::Wrong => Error::WrongResult(format!("{name} gave a wrong result: it was not timed")),
        Ruling::NotBuilt => Error::BuildFailed(format!("{name} did not build: see above")),
        Ruling::Refused => Error::Usage(format!("{name} cannot run as asked: see above")),
        Ruling::Crashed | Ruling::Endless | Ruling::Failed => {
            Error::Failed(format!("{name} did not finish: see above"))
        }
    })
}

/// Says that nothing keeps a kernel from what its driver can do.
pub(crate) fn warn_of_trust(global: &Global) {
    if global.verbose {
        note("OpenCL drivers run a kernel as native code of this user: deadline and memory limit are not a sandbox");
    }
}

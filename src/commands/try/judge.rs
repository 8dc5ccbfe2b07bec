//! A reader's kernel file, judged in a worker process of its own.

use crate::bench::{self, Input};
use crate::brought::Brought;
use crate::cli::{Global, TryArgs};
use crate::console::note;
use crate::data::Shape;
use crate::judgement::{Judgement, Ruling};
use crate::judging::judge;
use crate::kernels::{Family, Rung};
use crate::outcome::Executor;
use crate::plan::Case;
use crate::report::format;
use crate::report::progress::StatusLine;
use crate::terminal::say;
use crate::worker::{Setup, WorkerProcess, usual_deadline};
use crate::{Error, Result, interrupt, usage_error};
use std::time::Duration;

/// How long a small case may take by default: most of it is its compilation.
pub const SMALL: Duration = Duration::from_secs(15);

/// A kernel file that was judged, and stays among its family's rungs.
pub struct JudgedFile {
    pub brought: Brought,
    pub rung: Rung,
    pub judgement: Judgement,
    pub device: String,
    /// What its worker was allowed, in bytes.
    pub memory: u64,
}

/// Judges a reader's kernel, the last rung of its family: tries it where kernels go wrong.
/// A wrong kernel is no error here: [`verdict`] makes one of it.
pub fn judge_own(global: &Global, brought: Brought, options: &TryArgs) -> Result<JudgedFile> {
    let family = &brought.family;
    let rung = family
        .ladder
        .last()
        .ok_or_else(|| Error::Failed("the kernel is no rung".into()))?;
    if let (Some(asked), Some(own)) = (options.ladder.dtype, rung.own_dtype())
        && asked != own
    {
        return usage_error(format!("--dtype {asked}: the kernel's elements are {own}"));
    }
    rung.guess()
        .iter()
        .filter(|_| !global.quiet)
        .for_each(|guess| note(&format!("{}: {guess}", rung.label())));
    let dtype = bench::dtype(family, options.ladder.dtype.or(rung.own_dtype()))?;
    let shape = shape(family, options)?;
    let params = bench::own_settings(family, &[rung], &options.set)?;
    let data = Input {
        family,
        shape,
        dtype,
        params: &params,
    };
    let bytes = data.bytes()?;
    data.check_host(bytes)?;
    interrupt::watch();
    let memory = usual_memory(bytes);
    let setup = Setup {
        memory: Some(memory),
        ..global.setup(None, &brought.registry)
    };
    let deadline = options.ladder.measure.deadline;
    let small = deadline.map_or(SMALL, Duration::from_secs_f64);
    let whole = deadline.unwrap_or_else(|| usual_deadline(bytes, data.ops()));
    let whole = Duration::from_secs_f64(whole);
    let mut worker = WorkerProcess::open(setup, None, whole, interrupt::interrupted, say)?;
    let info = worker.info().clone();
    data.check_device(bytes, &info)?;
    bench::announce(global, &info);
    let case = Case {
        wg: options
            .ladder
            .wg
            .or(rung.work_group())
            .unwrap_or_else(|| bench::default_work_group(&info)),
        params,
        seed: options.ladder.given.seed,
        ..Case::of(&family.name, rung.variant(), dtype, shape)
    };
    let mut observer = StatusLine::new(global.quiet);
    let mut step = 0;
    let mut observe = |what: &str| {
        observer.case_started(
            step,
            step.max(STEPS - 1) + 1,
            &format!("checking {} with {what}", rung.label()),
        );
        step += 1;
    };
    let judgement = judge(
        &mut worker,
        (family, rung),
        &case,
        small,
        whole,
        &mut observe,
    )?;
    let rung = rung.clone();
    Ok(JudgedFile {
        brought,
        rung,
        judgement,
        device: format::device(&info.name),
        memory,
    })
}

/// Judges a rung of a family at small sizes and then at the case's own.
pub fn judge_rung(
    worker: &mut WorkerProcess,
    kernel: (&Family, &Rung),
    case: &Case,
) -> Result<Judgement> {
    judge(worker, kernel, case, SMALL, SMALL, &mut |_| {})
}

/// About as many cases as are tried, for the progress bar.
const STEPS: usize = 9;

/// The size asked for, or that of the family's ladder. Without elements there is nothing to judge.
pub fn shape(family: &Family, options: &TryArgs) -> Result<Shape> {
    let quick = options.ladder.measure.quick;
    let usual = family.usual_shape(family.form.ladder_size(quick), quick);
    let shape = bench::shape(family, options.n, options.m, usual)?;
    match shape.elements() {
        0 => usage_error("no elements, so no launch to judge: choose a larger -n"),
        _ => Ok(shape),
    }
}

/// Bytes for data of this size, their copies and references, the threads of this machine and a compiler.
pub fn usual_memory(bytes: u64) -> u64 {
    const COMPILER: u64 = 2 << 30;
    const THREAD: u64 = 256 << 20;
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    COMPILER
        .saturating_add(threads.saturating_mul(THREAD))
        .saturating_add(bytes.saturating_mul(10))
}

/// The error that a judgement makes, and its exit code.
pub fn verdict(judged: &JudgedFile) -> Result<()> {
    let name = judged.rung.label();
    Err(match judged.judgement.ruling {
        Ruling::Right => return Ok(()),
        Ruling::Wrong => {
            Error::WrongResult(format!("{name} gave a wrong result: it was not timed"))
        }
        Ruling::NotBuilt => Error::BuildFailed(format!("{name} did not build: see above")),
        Ruling::Refused => Error::Usage(format!("{name} cannot run as asked: see above")),
        Ruling::Crashed | Ruling::Endless | Ruling::Failed => {
            Error::Failed(format!("{name} did not finish: see above"))
        }
    })
}

//! A kernel that nobody trusts, judged: is it right at the sizes where kernels go wrong, and if not, what does it do?
//!
//! Nothing is timed for its own sake. Every case runs in a worker process with a deadline, so that a kernel that crashes or
//! never ends is an answer, too.

mod sizes;

pub use sizes::ragged;

use crate::worker::{Lost, WorkerProcess};
use gpulab_kernels::{Family, Rung, built_in, tile_of_a_group};
use gpulab_model::Error;
use gpulab_model::data::Shape;
use gpulab_model::outcome::{Executor, Job, Outcome, Settings, Status, Stop, Symptoms};
use gpulab_model::plan::{Case, WorkGroup};
use gpulab_study::judgement::{Judgement, Ruling, TriedCase};
use std::time::Duration;

/// How long what is judged may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Patience {
    /// For a small case, its compilation included.
    pub small: Duration,
    /// For the case asked for.
    pub asked: Duration,
}

/// Judges the rung of a case: at edge sizes, then at the case's own. One that is wrong is looked at more closely.
/// A kernel's own faults are no error.
pub fn judge(
    worker: &mut WorkerProcess,
    (family, rung): (&Family, &Rung),
    asked: &Case,
    patience: Patience,
    observe: &mut dyn FnMut(&str),
) -> Result<Judgement, Error> {
    let target = worker.info().target.clone();
    let tile = match tile_of_a_group(family, rung, asked, &target) {
        Ok(tile) => tile,
        Err(refusal) => return Ok(refused(rung, asked, refusal.to_string())),
    };
    let mut judging = JudgedWorker { worker, asked, patience };
    let mut tried = Vec::new();
    for shape in sizes::edges(family.form, tile, rung.multiple(), asked) {
        observe(&words(shape));
        let case = judging.small(shape, asked.wg)?;
        let is_last = matches!(case.ruling, Ruling::NotBuilt | Ruling::Crashed | Ruling::Endless | Ruling::Failed);
        tried.push(case);
        if is_last {
            break;
        }
    }
    if tried.iter().all(|tried| matches!(tried.ruling, Ruling::Right | Ruling::Refused)) {
        observe(&words(asked.shape));
        tried.push(judging.asked()?);
    }
    let worst =
        tried.iter().map(|tried| tried.ruling).find(|ruling| !matches!(ruling, Ruling::Right | Ruling::Refused));
    // A size that no device could run says nothing of the kernel, unless it is the one asked for.
    let ruling = worst.or(tried.last().map(|tried| tried.ruling)).unwrap_or(Ruling::Refused);
    // Symptoms are told by what the built-in families compute.
    let symptoms = if ruling == Ruling::Wrong && built_in(&family.name).is_some() {
        observe("what is wrong");
        judging.symptoms()?
    } else {
        None
    };
    let mut elsewhere = Vec::new();
    for wg in sizes::other_groups(asked.wg, &target, ruling == Ruling::Wrong) {
        if matches!(ruling, Ruling::Right | Ruling::Wrong) {
            observe(&format!("work-group {wg}"));
            elsewhere.push(
                judging.small(sizes::rounded(family.form, sizes::ragged(family.form, tile), rung.multiple()), wg)?,
            );
        }
    }
    tried.retain(|tried| tried.ruling != Ruling::Refused || ruling == Ruling::Refused);
    let (traits, parameters) = rung.own_traits();
    Ok(Judgement { ruling, asked: asked.clone(), tile, tried, elsewhere, symptoms, traits, parameters })
}

fn refused(rung: &Rung, asked: &Case, reason: String) -> Judgement {
    let (traits, parameters) = rung.own_traits();
    Judgement {
        ruling: Ruling::Refused,
        asked: asked.clone(),
        tile: [1; 2],
        tried: vec![TriedCase { shape: asked.shape, wg: asked.wg, ruling: Ruling::Refused, reason }],
        elsewhere: Vec::new(),
        symptoms: None,
        traits,
        parameters,
    }
}

fn words(Shape { n, m }: Shape) -> String {
    if m == 1 { format!("n={n}") } else { format!("{n}x{m}") }
}

struct JudgedWorker<'a> {
    worker: &'a mut WorkerProcess,
    asked: &'a Case,
    patience: Patience,
}

impl JudgedWorker<'_> {
    fn small(&mut self, shape: Shape, wg: WorkGroup) -> Result<TriedCase, Error> {
        let case = Case { shape, wg, ..self.asked.clone() };
        let verified = self.worker.verify(&case, self.patience.small)?;
        Ok(tried(&case, verified))
    }

    /// Verifies the case that was asked for, with a single sample.
    fn asked(&mut self) -> Result<TriedCase, Error> {
        let job = Job { baseline: false, case: self.asked.clone(), settings: Settings::once(), again: false };
        let ran = self.worker.run_within(&job, self.patience.asked)?;
        Ok(tried(self.asked, ran))
    }

    fn symptoms(&mut self) -> Result<Option<Symptoms>, Error> {
        Ok(self.worker.diagnose(self.asked, self.patience.small)?.ok().and_then(Result::ok))
    }
}

/// What Rust, LLVM and C++ say last where there is no memory left.
const OUT_OF_MEMORY: [&str; 4] = ["memory allocation of", "out of memory", "bad_alloc", "foreign exception"];

fn tried(case: &Case, came: Result<Outcome, Lost>) -> TriedCase {
    let (wg, ruling, reason) = match came {
        Ok(outcome) => {
            let (ruling, reason) = ruling_of(&outcome);
            (outcome.wg, ruling, reason)
        }
        Err(lost @ Lost::Late(_)) => (case.wg, Ruling::Endless, lost.to_string()),
        Err(Lost::Died(how)) if OUT_OF_MEMORY.iter().any(|said| how.contains(said)) => {
            (case.wg, Ruling::Crashed, format!("{how}; it may have reached its memory limit, which --memory changes"))
        }
        Err(lost) => (case.wg, Ruling::Crashed, lost.to_string()),
    };
    TriedCase { shape: case.shape, wg, ruling, reason }
}

fn ruling_of(outcome: &Outcome) -> (Ruling, String) {
    let Err(Stop { status, reason, .. }) = &outcome.end else { return (Ruling::Right, String::new()) };
    let is_argument = reason.contains("clSetKernelArg") || reason.contains("CL_INVALID_KERNEL_ARGS");
    let ruling = match status {
        // A time that cannot be believed is none of the result's.
        Status::Ok | Status::Suspect => Ruling::Right,
        Status::WrongResult => Ruling::Wrong,
        Status::BuildFailed => Ruling::NotBuilt,
        _ if is_argument => Ruling::NotBuilt,
        Status::Skipped => Ruling::Refused,
        Status::Timeout => Ruling::Endless,
        Status::Failed => Ruling::Failed,
    };
    (ruling, reason.clone())
}

//! A submission checked: first whether it is right, on the device; then what it does, in the simulator.

use super::super::{interrupt, own, say};
use crate::cli::{ExerciseCheck, Global};
use crate::count::{CountedCase, CountingWorker, LockstepModel, Simulator};
use crate::data::Params;
use crate::exercise::{DrawnSizes, Exercise, ExerciseVerdict, Grade, answers};
use crate::kernels::{self, Family, Rung};
use crate::plan::{Case, WorkGroup};
use crate::runner::{Cache, Candidate, Clock, Outcome, Settings, Status};
use crate::worker::{Executor, Job, Setup, WorkerProcess};
use crate::{Error, ceilings, files};
use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Largest file that is taken: kernels have a few kilobytes.
const MOST_BYTES: u64 = 256 << 10;

/// Largest work-group that a check asks for.
const WORK_GROUP: usize = 256;

/// What submissions are checked with.
pub(super) struct Grader {
    device: Option<String>,
    deadline: Duration,
    seed: u64,
}

/// A submission as a rung.
#[derive(Clone, Copy)]
struct Submission<'a> {
    exercise: &'a Exercise,
    family: &'static Family,
    rung: &'static Rung,
    sizes: &'a DrawnSizes,
}

impl Grader {
    /// As the options say; without --seed, sizes and data are drawn anew.
    pub(super) fn new(global: &Global, options: &ExerciseCheck) -> Result<Grader, Error> {
        interrupt::watch();
        let drawn = || RandomState::new().build_hasher().finish() >> 32;
        Ok(Grader {
            device: global.device.clone(),
            deadline: Duration::from_secs_f64(options.deadline),
            seed: options.seed.unwrap_or_else(drawn),
        })
    }

    /// Grades a file. Whatever the file does is no error.
    ///
    /// # Errors
    /// No device, or an interrupt.
    pub(super) fn grade(&self, exercise: &Exercise, path: &Path) -> Result<Grade, Error> {
        let grade = Grade::begin(exercise.name, self.seed);
        let text = match read(path) {
            Ok(text) => text,
            Err(why) => return Ok(grade.ended(ExerciseVerdict::Refused, why, "")),
        };
        let Some(family) = exercise.family.as_deref().and_then(kernels::family) else {
            return Ok(answers(exercise, &text));
        };
        let rung = match adopt(path, &text, family) {
            Ok(rung) => rung,
            Err(Error::Usage(why)) => return Ok(grade.ended(ExerciseVerdict::Refused, why, "")),
            Err(error) => return Err(error),
        };
        let sizes = DrawnSizes::new(family.form, self.seed);
        let submission = Submission { exercise, family, rung, sizes: &sizes };
        let grade = self.right(submission, grade)?;
        if grade.verdict == ExerciseVerdict::Passed { self.counted(submission, grade) } else { Ok(grade) }
    }

    /// Whether the result is right at all sizes: then the verdict is passed, for now.
    fn right(&self, submission: Submission<'_>, mut grade: Grade) -> Result<Grade, Error> {
        let setup = Setup { device: self.device.clone(), ..Setup::default() };
        // A worker of its own: what one submission breaks is none of the next one's.
        let mut worker = WorkerProcess::open(setup, self.deadline, interrupt::interrupted, say)?;
        for &shape in &submission.sizes.right {
            let case = Case { shape, ..self.case(submission) };
            let size = if shape.m == 1 { shape.n.to_string() } else { format!("{}x{}", shape.n, shape.m) };
            let job = Job { baseline: false, case, settings: once(), again: false };
            let outcome = worker.run(&job)?;
            if let Some((verdict, reason, hint)) = fault(&outcome) {
                return Ok(grade.ended(verdict, format!("at n = {size}: {reason}"), hint));
            }
            grade.right_at.push(size);
        }
        Ok(grade.ended(ExerciseVerdict::Passed, "", ""))
    }

    /// What a right submission does.
    fn counted(&self, submission: Submission<'_>, mut grade: Grade) -> Result<Grade, Error> {
        let Submission { exercise, family, rung, sizes } = submission;
        let starter = match exercise.checks.iter().any(|check| check.needs_starter()) {
            true => Some(adopt(Path::new("starter.cl"), &exercise.starter()?, family)?),
            false => None,
        };
        let uncounted = |grade: Grade, why: String| {
            grade.ended(ExerciseVerdict::Uncounted, format!("the result is right; its counts are skipped: {why}"), "")
        };
        let simulator = match ceilings::folder().and_then(|folder| Simulator::prepare(&folder)) {
            Ok(simulator) => simulator,
            Err(error) => return Ok(uncounted(grade, error.to_string())),
        };
        let run = (interrupt::interrupted as fn() -> bool, say as fn(&str));
        let model = LockstepModel::USUAL;
        let mut worker = match CountingWorker::open(&simulator, model, Setup::default(), self.deadline, run) {
            Ok(worker) => worker,
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => return Ok(uncounted(grade, error.to_string())),
        };
        let case = Case { shape: sizes.counted, ..self.case(submission) };
        grade.counted_at = Some(format!("{}x{}", case.shape.n, case.shape.m).trim_end_matches("x1").to_owned());
        let own = match count(&mut worker, &case)? {
            Ok(counted) => counted,
            Err(why) => {
                let hint = "It is right on the device, but not in the simulator, which sees more: a race, or an access beside \
                            an array?";
                return Ok(grade.ended(ExerciseVerdict::Wrong, format!("in the simulator: {why}"), hint));
            }
        };
        let starter = match starter {
            None => None,
            Some(starter) => {
                let case = Case { variant: starter.variant().into(), ..case.clone() };
                Some(count(&mut worker, &case)?.map_err(|why| Error::Failed(format!("the starter: {why}")))?)
            }
        };
        Ok(grade.counted(exercise, (&own, starter.as_ref()), (case.shape, case.dtype.size())))
    }

    fn case(&self, Submission { family, rung, .. }: Submission<'_>) -> Case {
        Case {
            family: family.name.into(),
            variant: rung.variant().into(),
            dtype: family.dtypes[0],
            shape: crate::data::Shape::vector(1),
            wg: WorkGroup::linear(WORK_GROUP),
            params: Params::new(),
            seed: self.seed,
        }
    }
}

/// The text of a submission; why there is none.
fn read(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let about = fs::symlink_metadata(path).map_err(|e| format!("cannot read {shown}: {e}"))?;
    if !about.is_file() {
        return Err(format!("{shown} is no regular file"));
    }
    if about.len() > MOST_BYTES {
        return Err(format!("{shown} has {} KiB; at most {} KiB are taken", about.len() >> 10, MOST_BYTES >> 10));
    }
    files::read_to_string(path).map_err(|e| format!("cannot read {shown}: {e}"))
}

/// Makes a text a rung, under a name that no other has.
fn adopt(path: &Path, text: &str, family: &'static Family) -> Result<&'static Rung, Error> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    own::adopt_as(format!("exercise_{number}"), (path, text), family)
}

fn count(worker: &mut CountingWorker, case: &Case) -> Result<Result<CountedCase, String>, Error> {
    match worker.count(case) {
        Ok(Ok(counted)) => Ok(Ok(counted)),
        Ok(Err(stop)) => Ok(Err(stop.reason)),
        Err(Error::Failed(why)) => Ok(Err(why)),
        Err(error) => Err(error),
    }
}

/// What is wrong with a case, and what to think about.
fn fault(outcome: &Outcome) -> Option<(ExerciseVerdict, String, &'static str)> {
    let stop = outcome.end.as_ref().err()?;
    let is_argument = stop.reason.contains("clSetKernelArg") || stop.reason.contains("KERNEL_ARGS");
    let (verdict, hint) = match stop.status {
        Status::Ok | Status::Suspect => return None,
        _ if is_argument => {
            let hint =
                "Keep the starter's parameters: gpulab hands over these, in this order. Is the file for this exercise?";
            (ExerciseVerdict::NotBuilt, hint)
        }
        Status::WrongResult => {
            (ExerciseVerdict::Wrong, "Is each element taken exactly once, at every size? Is a barrier missing?")
        }
        Status::BuildFailed => (ExerciseVerdict::NotBuilt, "The compiler's first message names the line."),
        Status::Skipped => (ExerciseVerdict::Refused, "The lines `// gpulab:` say how the kernel is launched."),
        Status::Timeout => {
            (ExerciseVerdict::Endless, "Does every loop end, and does every work-item come to every barrier?")
        }
        Status::Failed => (ExerciseVerdict::Crashed, "Is every index within its array? n may be smaller than a group."),
    };
    Some((verdict, stop.reason.clone(), hint))
}

/// One sample: only the result is asked for.
fn once() -> Settings {
    Settings {
        warmup: 0,
        min_runs: 1,
        max_runs: 1,
        min_time: 0.0,
        timeout: 0.0,
        max_noise: 1.0,
        cache: Cache::Warm,
        clock: Clock::Wall,
        least_time: None,
        candidate: Some(Candidate { give_up_above: None }),
    }
}

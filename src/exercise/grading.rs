//! A submission checked: first whether it is right, on the device; then what it does, in the simulator.

use super::{CountMetric, DrawnSizes, Exercise, ExerciseVerdict, Grade, answers};
use crate::adopt::{asks, own};
use crate::bench::{WORK_GROUP, judge, simulate};
use crate::ceilings;
use crate::cli::ExerciseCheck;
use crate::count::{CountedCase, LockstepModel, TracedLaunch};
use crate::judgement::Ruling;
use crate::judging::{self, Patience};
use crate::prelude::*;
use crate::report::hint::{Hint, hint};
use crate::shell::quoted;
use crate::simulator::{Checked, CountingWorker, Simulator};
use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// Largest file that is taken: kernels have a few kilobytes.
const MOST_BYTES: u64 = 256 << 10;

/// Bytes of a check's data, at most.
const MOST_DATA: u64 = 64 << 20;

/// More than are counted.
const MOST_GROUPS: u64 = 1 << 16;

/// The names of the submission and of the starter among the family's rungs.
const SUBMISSION: &str = "submission";
const STARTER: &str = "starter";

/// What submissions are checked with.
pub(crate) struct Grader {
    device: Option<String>,
    deadline: Duration,
    seed: u64,
    /// What was counted of starters, each in a work-group: the same for all submissions.
    starters: RefCell<HashMap<(&'static str, WorkGroup), CountedCase>>,
}

#[derive(Clone, Copy)]
struct Submission<'a> {
    exercise: &'a Exercise,
    registry: &'a Registry,
    family: &'a Family,
    rung: &'a Rung,
    sizes: &'a DrawnSizes,
}

impl Grader {
    /// As the options say; without --seed, sizes and data are drawn anew.
    pub(crate) fn new(global: &Global, options: &ExerciseCheck) -> Result<Grader, Error> {
        interrupt::watch();
        Ok(Grader {
            device: global.device.clone(),
            deadline: Duration::from_secs_f64(options.deadline),
            seed: options.seed.unwrap_or_else(|| RandomState::new().build_hasher().finish() >> 32),
            starters: RefCell::default(),
        })
    }

    /// Grades a file. Whatever the file does is no error.
    pub(crate) fn grade(&self, exercise: &Exercise, path: &Path) -> Result<Grade, Error> {
        let grade = Grade::begin(exercise.name, self.seed);
        let text = match read(path) {
            Ok(text) => text,
            Err(why) => return Ok(grade.ended(ExerciseVerdict::Refused, why, "")),
        };
        let Some(family) = exercise.family.as_deref().and_then(built_in) else {
            return Ok(answers(exercise, &text));
        };
        let mut registry = Registry::default();
        let family = match own::adopt_as(&mut registry, SUBMISSION, (path, &text), family) {
            Ok(family) => family.clone(),
            Err(Error::Usage(why)) => return Ok(grade.ended(ExerciseVerdict::Refused, why, "")),
            Err(error) => return Err(error),
        };
        let Some(rung) = family.rung(SUBMISSION) else { return Ok(grade) };
        if let Some(why) = rung.own_text().and_then(asks) {
            return Ok(grade.ended(ExerciseVerdict::Refused, why, ""));
        }
        let sizes = DrawnSizes::new(family.form, self.seed);
        let submission = Submission { exercise, registry: &registry, family: &family, rung, sizes: &sizes };
        let grade = self.right(submission, grade)?;
        if grade.verdict != ExerciseVerdict::Passed {
            return Ok(grade);
        }
        let grade = self.counted(submission, grade)?;
        if grade.verdict == ExerciseVerdict::Passed {
            return self.checked(submission, grade);
        }
        let file = quoted(&path.display().to_string());
        let film = grade
            .line()
            .map(|line| format!("gpulab film {file} --as {} --line {line} -o {}.html", family.name, exercise.name));
        Ok(Grade { film, ..grade })
    }

    /// Whether the result is right wherever it is tried: then the verdict is passed, for now.
    fn right(&self, submission: Submission<'_>, mut grade: Grade) -> Result<Grade, Error> {
        let memory = Some(judge::usual_memory(MOST_DATA));
        let setup = Setup { device: self.device.clone(), memory, ..Setup::of(submission.registry) };
        // A worker of its own: what one submission breaks is none of the next one's.
        let mut worker = WorkerProcess::open(setup, None, self.deadline, interrupt::interrupted, say)?;
        let case = self.case(submission, submission.sizes.asked);
        let patience = Patience { small: self.deadline, asked: self.deadline };
        let kernel = (submission.family, submission.rung);
        let form = submission.family.form;
        let judgement = judging::judge(&mut worker, kernel, &case, patience, &mut |_| {})?;
        let right = judgement.tried.iter().filter(|tried| tried.ruling == Ruling::Right);
        grade.right_at = right.map(|tried| size(form, tried.shape)).collect();
        let verdict = match judgement.ruling {
            Ruling::Right => return Ok(grade.ended(ExerciseVerdict::Passed, "", "")),
            Ruling::Wrong => ExerciseVerdict::Wrong,
            Ruling::NotBuilt => ExerciseVerdict::NotBuilt,
            Ruling::Endless => ExerciseVerdict::Endless,
            Ruling::Refused => ExerciseVerdict::Refused,
            Ruling::Crashed | Ruling::Failed => ExerciseVerdict::Crashed,
        };
        let reason = judgement.failed().map(|tried| format!("at n = {}: {}", size(form, tried.shape), tried.reason));
        let hint = hint(&judgement, false).map(|Hint { looks, next }| format!("{looks} {next}"));
        Ok(grade.ended(verdict, reason.unwrap_or_default(), hint.unwrap_or_default()))
    }

    fn counted(&self, submission: Submission<'_>, mut grade: Grade) -> Result<Grade, Error> {
        let Submission { exercise, family, sizes, .. } = submission;
        let mut registry = submission.registry.clone();
        let starter = match exercise.checks.iter().any(|check| check.needs_starter()) {
            true => {
                let file = (Path::new("starter.cl"), &*exercise.starter()?);
                own::adopt_as(&mut registry, STARTER, file, family)?.rung(STARTER).cloned()
            }
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
        let traced = exercise.checks.iter().any(|check| check.metric == CountMetric::TornWarps).then_some(MOST_GROUPS);
        let setup = Setup::of(&registry);
        let mut worker = match CountingWorker::open(&simulator, model, setup, self.deadline, traced, run) {
            Ok(worker) => worker,
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => return Ok(uncounted(grade, error.to_string())),
        };
        let case = self.case(submission, sizes.counted);
        grade.counted_at = Some(size(family.form, case.shape));
        let (own, traced) = match trace(&mut worker, &case)? {
            Ok(counted) => counted,
            // Only a result shows that a kernel is wrong: what the simulator cannot run, or not in time, proves nothing.
            Err(Stop { status, reason, .. }) if status != Status::WrongResult => return Ok(uncounted(grade, reason)),
            Err(Stop { reason: why, .. }) => {
                let hint = "It is right on the device, but not in the simulator, which sees more: a race, or an access \
                            outside an array?";
                return Ok(grade.ended(ExerciseVerdict::Wrong, format!("in the simulator: {why}"), hint));
            }
        };
        let starter = match starter {
            None => None,
            Some(starter) => {
                // In its own group, which its tile may rest on.
                let wg = starter.work_group().unwrap_or(case.wg);
                let known = self.starters.borrow().get(&(exercise.name, wg)).cloned();
                let counted = match known {
                    Some(counted) => Ok(counted),
                    None => trace(&mut worker, &Case { variant: starter.variant().into(), wg, ..case.clone() })?
                        .map(|(counted, _)| counted),
                };
                match counted {
                    Ok(counted) => {
                        self.starters.borrow_mut().insert((exercise.name, wg), counted.clone());
                        Some(counted)
                    }
                    Err(stop) => return Ok(uncounted(grade, format!("the starter: {}", stop.reason))),
                }
            }
        };
        Ok(grade.counted(exercise, (&own, starter.as_ref()), (case.shape, case.dtype.size(), &traced)))
    }

    /// Whether the simulator finds no fault in what passed so far.
    fn checked(&self, submission: Submission<'_>, grade: Grade) -> Result<Grade, Error> {
        let Submission { registry, family, rung, sizes, .. } = submission;
        let case = self.case(submission, sizes.counted);
        let checked = simulate::open(registry, self.deadline)
            .and_then(|mut worker| simulate::check(&mut worker, (family, rung), &case, self.deadline));
        let checked = match checked {
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            checked => checked.unwrap_or_else(|error| Checked::stopped(error.to_string())),
        };
        if let Some(found) = checked.findings.first() {
            let hint = "A device may forgive it, and another one not.";
            return Ok(grade.ended(ExerciseVerdict::Wrong, format!("in the simulator: {}", found.sentence()), hint));
        }
        Ok(match checked.doubt() {
            Some(why) => {
                let why = format!("the counts are as wanted; whether there is a race was not looked at: {why}");
                grade.ended(ExerciseVerdict::Uncounted, why, "")
            }
            None => grade,
        })
    }

    fn case(&self, Submission { family, rung, .. }: Submission<'_>, shape: Shape) -> Case {
        Case {
            wg: rung.work_group().unwrap_or(WORK_GROUP),
            seed: self.seed,
            ..Case::of(&family.name, rung.variant(), family.dtypes[0], shape)
        }
    }
}

fn size(form: Form, Shape { n, m }: Shape) -> String {
    match form {
        Form::Vector | Form::Square => n.to_string(),
        Form::Matrix => format!("{n}x{m}"),
    }
}

/// The text of a submission; why there is none.
fn read(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let about = fs::symlink_metadata(path).map_err(|e| format!("cannot read {shown}: {e}"))?;
    if !about.is_file() {
        return Err(format!("{shown} is not a regular file"));
    }
    if about.len() > MOST_BYTES {
        return Err(format!("{shown} has {} KiB; the limit is {} KiB", about.len() >> 10, MOST_BYTES >> 10));
    }
    let text = files::read_to_string(path).map_err(|e| format!("cannot read {shown}: {e}"))?;
    // Some editors put it before a text.
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

fn trace(worker: &mut CountingWorker, case: &Case) -> Result<Result<(CountedCase, Vec<TracedLaunch>), Stop>, Error> {
    match worker.trace(case) {
        Err(Error::Failed(why)) => Ok(Err(Stop::failed(why))),
        other => other,
    }
}

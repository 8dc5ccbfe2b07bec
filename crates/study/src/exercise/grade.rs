//! What a submission is found to be.

use super::check::{CheckResult, Over};
use super::course::Exercise;
use crate::count::{CountedCase, TracedLaunch};
use gpulab_model::Error;
use gpulab_model::data::Shape;
use gpulab_model::named_enum;
use serde::{Deserialize, Serialize};

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum ExerciseVerdict {
        /// Right, and its counts are as demanded.
        Passed = "passed",
        /// Right, but the counts show that the step is still to be made.
        NotYet = "not yet",
        /// Right, but there is no simulator to count in.
        Uncounted = "uncounted",
        /// A wrong result or answer.
        Wrong = "WRONG",
        NotBuilt = "NOT BUILT",
        /// It ended its process, or the driver failed.
        Crashed = "CRASHED",
        /// It did not end before its deadline.
        Endless = "ENDLESS",
        /// The file cannot be read, or declares what cannot be.
        Refused = "REFUSED",
    }
}

/// What a submission is found to be, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Grade {
    pub exercise: String,
    pub verdict: ExerciseVerdict,
    pub reason: String,
    /// What to think about next; empty if it passed.
    pub hint: String,
    pub right_at: Vec<String>,
    pub counted_at: Option<String>,
    /// Draws the sizes and the data again.
    pub seed: u64,
    /// The counts, or the answers.
    pub checks: Vec<CheckResult>,
    /// The command that plays the moment of the fault; none where no line has it.
    pub film: Option<String>,
}

impl Grade {
    /// Nothing is known yet.
    pub fn begin(exercise: &str, seed: u64) -> Grade {
        Grade {
            exercise: exercise.into(),
            verdict: ExerciseVerdict::Refused,
            reason: String::new(),
            hint: String::new(),
            right_at: Vec::new(),
            counted_at: None,
            seed,
            checks: Vec::new(),
            film: None,
        }
    }

    pub fn ended(self, verdict: ExerciseVerdict, reason: impl Into<String>, hint: impl Into<String>) -> Grade {
        Grade { verdict, reason: reason.into(), hint: hint.into(), ..self }
    }

    /// With what was counted of the submission, and of the starter where a check needs it.
    pub fn counted(
        self,
        exercise: &Exercise,
        (counted, starter): (&CountedCase, Option<&CountedCase>),
        (shape, size, traced): (Shape, usize, &[TracedLaunch]),
    ) -> Grade {
        let over = Over { shape, size, traced };
        self.judged(
            exercise.checks.iter().map(|check| check.of(counted, starter, &over)).collect(),
            ExerciseVerdict::NotYet,
        )
    }

    /// The line that has most of the first fault.
    pub fn line(&self) -> Option<&str> {
        self.checks.iter().find(|check| !check.ok)?.line.as_deref()
    }

    /// What it is to a shell: nothing if it passed, else an error with its exit code.
    pub fn outcome(&self) -> Result<(), Error> {
        let text = format!("{}: {}: {}", self.exercise, self.verdict.name(), self.reason);
        Err(match self.verdict {
            ExerciseVerdict::Passed => return Ok(()),
            ExerciseVerdict::Wrong => Error::WrongResult(text),
            ExerciseVerdict::NotBuilt => Error::BuildFailed(text),
            ExerciseVerdict::Refused => Error::Usage(text),
            ExerciseVerdict::Uncounted => Error::NoDevice(text),
            ExerciseVerdict::NotYet | ExerciseVerdict::Crashed | ExerciseVerdict::Endless => Error::Failed(text),
        })
    }

    /// With checks: passed if all are as wanted, else this verdict.
    pub(super) fn judged(self, checks: Vec<CheckResult>, otherwise: ExerciseVerdict) -> Grade {
        let failed = checks.iter().find(|check| !check.ok).cloned();
        let grade = Grade { checks, ..self };
        match failed {
            None => grade.ended(ExerciseVerdict::Passed, "", ""),
            Some(CheckResult { what, value, wanted, hint, .. }) => {
                let value = value.map_or("none".into(), |value| format!("{value:.3}"));
                grade.ended(otherwise, format!("{what}: {value}, must be {wanted}"), hint)
            }
        }
    }
}

//! The jobs of a sweep or of experiments, one after the other: each is told, run within the pace, and told of.

use crate::ceilings::{self, LimitNeeded, Limits};
use crate::outcome::Job;
use crate::prelude::*;
use crate::report::progress::Observer;
use crate::runner::Pace;
use crate::stats;

pub(crate) struct Jobs {
    pub(crate) executor: Box<dyn Executor>,
    pub(crate) observer: Box<dyn Observer>,
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
        self.observer.round(job.again, job.settings.timeout);
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

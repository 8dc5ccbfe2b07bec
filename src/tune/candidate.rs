//! Measuring candidates: each one is checked first; one that is clearly slower than the best is sampled no further; and the
//! best few are measured again, in rounds.

use crate::Error;
use crate::runner::{Outcome, Settings};
use crate::stats::summarise;
use crate::sweep::{Bench, Configuration};
use crate::worker::Job;

/// How many times slower than the best a candidate is after its first samples if it is dropped.
pub const SLOWER: f64 = 1.5;

/// The best so many candidates are measured again.
pub const FINALISTS: usize = 5;

/// What ended the sampling of a dropped candidate, as in the column `stopped_by`.
const DROPPED: &str = "slower";

/// First samples of a candidate.
fn first(settings: &Settings) -> Settings {
    let few = settings.max_runs.min(3);
    Settings {
        min_runs: settings.min_runs.min(few),
        max_runs: few,
        min_time: 0.0,
        timeout: settings.timeout / 4.0,
        ..settings.clone()
    }
}

/// Checks a candidate and takes its samples: a few, and unless these are [`SLOWER`] than the `best` time, in seconds, all.
///
/// # Errors
/// What `run` gives.
pub fn measure_candidate(
    configuration: &Configuration,
    settings: &Settings,
    best: Option<f64>,
    run: &mut dyn FnMut(&Job) -> Result<Outcome, Error>,
) -> Result<Outcome, Error> {
    let job = |settings, again| Job { baseline: false, case: configuration.case.clone(), settings, again };
    let mut outcome = run(&job(first(settings), false))?;
    let median = summarise(&outcome.times()).map(|times| times.median);
    let is_slower = median.zip(best).is_some_and(|(median, best)| median > SLOWER * best);
    if let (true, Ok(measured)) = (is_slower, &mut outcome.end) {
        measured.stopped_by = DROPPED.into();
    }
    if is_slower || median.is_none() {
        return Ok(outcome);
    }
    let later = run(&job(Settings { warmup: settings.warmup.min(1), ..settings.clone() }, true))?;
    Ok(outcome.pooled(later, settings))
}

/// The last rounds, between the best candidates.
pub struct Finals<'a> {
    /// How they are sampled, in all rounds together.
    pub settings: &'a dyn Fn(&Configuration) -> Settings,
    /// Runs a job.
    pub run: &'a mut dyn FnMut(&Configuration, &Job) -> Result<Outcome, Error>,
    /// What came of them.
    pub outcomes: Vec<(Configuration, Outcome)>,
}

impl Bench for Finals<'_> {
    fn settings(&self, configuration: &Configuration) -> Settings {
        (self.settings)(configuration)
    }

    /// What was checked a moment ago is checked again only where the worker has forgotten it.
    fn run(&mut self, configuration: &Configuration, job: &Job) -> Result<Outcome, Error> {
        (self.run)(configuration, &Job { again: true, ..job.clone() })
    }

    fn finished(&mut self, configuration: &Configuration, outcome: Outcome, _sampled: f64) -> Result<(), Error> {
        self.outcomes.push((configuration.clone(), outcome));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dtype, Params, Shape};
    use crate::plan::{Case, WorkGroup};
    use crate::runner::{Clock, Measured, Sample, Status, Stop};

    fn configuration() -> Configuration {
        let case = Case {
            family: "dot".into(),
            variant: "naive".into(),
            dtype: Dtype::F32,
            shape: Shape::vector(9),
            wg: WorkGroup::linear(64),
            params: Params::new(),
            seed: 1,
        };
        Configuration { index: 0, rung: Some(1), wg: case.wg, params: Params::new(), refusal: None, case }
    }

    /// The outcome where every run takes so many seconds, or ends in this; and whether each job was a later one.
    fn measured(best: Option<f64>, seconds: Result<f64, Status>) -> (Outcome, Vec<bool>) {
        let mut jobs = Vec::new();
        let mut run = |job: &Job| {
            jobs.push(job.again);
            let samples = |wall: f64| vec![Sample { event: None, wall }; job.settings.max_runs as usize];
            let end = match seconds {
                Ok(wall) => Ok(Measured { samples: samples(wall), ..Measured::for_tests(Clock::Wall) }),
                Err(status) => Err(Stop::new(status, "it went wrong")),
            };
            Ok(Outcome::pending(&job.case, Clock::Wall).ended(end))
        };
        let settings = Settings { clock: Clock::Wall, max_runs: 20, ..Settings::for_tests() };
        let outcome = measure_candidate(&configuration(), &settings, best, &mut run).unwrap();
        (outcome, jobs)
    }

    #[test]
    fn what_is_clearly_slower_is_dropped_after_its_first_samples() {
        let (dropped, jobs) = measured(Some(1.0), Ok(1.6));
        assert_eq!((dropped.samples().len(), jobs), (3, vec![false]));
        assert_eq!((dropped.status(), dropped.measured().unwrap().stopped_by.as_str()), (Status::Ok, "slower"));
        for best in [None, Some(1.1), Some(9.0)] {
            let (kept, jobs) = measured(best, Ok(1.6));
            assert_eq!((kept.samples().len(), jobs), (23, vec![false, true]), "{best:?}");
        }
    }

    #[test]
    fn what_goes_wrong_is_not_run_again() {
        for status in [Status::WrongResult, Status::BuildFailed, Status::Timeout] {
            let (wrong, jobs) = measured(Some(1.0), Err(status));
            assert_eq!((wrong.status(), wrong.samples().len(), jobs), (status, 0, vec![false]));
        }
    }
}

//! Measuring candidates: each one is checked first; one that is clearly slower than the best is sampled no further; and the
//! best few are measured again, in rounds.

use crate::sweep::{Bench, Configuration};
use gpulab_model::Error;
use gpulab_model::outcome::{Candidate, Job, Outcome, Settings};

/// How many times slower than the best a candidate is after its first samples if it is dropped.
pub const SLOWER: f64 = 1.5;

/// The best so many candidates are measured again.
pub const FINALISTS: usize = 5;

/// Checks a candidate and takes its samples: few, if these are [`SLOWER`] than the `best` time, in seconds.
pub fn measure_candidate(
    configuration: &Configuration,
    settings: &Settings,
    best: Option<f64>,
    run: &mut dyn FnMut(&Job) -> Result<Outcome, Error>,
) -> Result<Outcome, Error> {
    let candidate = Some(Candidate { give_up_above: best.map(|best| SLOWER * best), is_preliminary: true });
    let settings = Settings { candidate, ..settings.clone() };
    run(&Job { baseline: false, case: configuration.case.clone(), settings, again: false })
}

/// The last rounds, between the best candidates.
pub struct Finals<'a> {
    /// How they are sampled, in all rounds together.
    pub settings: &'a dyn Fn(&Configuration) -> Settings,
    pub run: &'a mut dyn FnMut(&Configuration, &Job) -> Result<Outcome, Error>,
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
    use gpulab_model::data::{Dtype, Params, Shape};
    use gpulab_model::outcome::{Clock, Stop};
    use gpulab_model::plan::Case;

    #[test]
    fn a_candidate_is_given_up_where_it_takes_half_as_long_again_as_the_best() {
        let case = Case::of("dot", "naive", Dtype::F32, Shape::vector(9));
        let wg = case.wg;
        let params = Params::new();
        let configuration = Configuration { index: 0, rung: Some(1), wg, params, refusal: None, case };
        for (best, most) in [(None, None), (Some(2.0), Some(3.0))] {
            let mut jobs = Vec::new();
            let mut run = |job: &Job| {
                jobs.push((job.again, job.settings.candidate));
                Ok(Outcome::pending(&job.case, Clock::Wall).ended(Err(Stop::failed("lost"))))
            };
            measure_candidate(&configuration, &Settings::default(), best, &mut run).unwrap();
            assert_eq!(jobs, [(false, Some(Candidate { give_up_above: most, is_preliminary: true }))]);
        }
    }
}

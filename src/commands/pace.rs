//! How long each job of a sweep or an experiment is sampled, if all of it is to end in time.

use crate::runner::{Budget, Settings};
use std::time::{Duration, Instant};

/// A run's time, and how it was spent so far.
pub(super) struct Pace {
    budget: Option<Budget>,
    began: Instant,
    /// Jobs that there are at most, and those that are done.
    jobs: usize,
    done: usize,
    /// Seconds that these took besides their sampling, together.
    besides: f64,
}

impl Pace {
    /// Of a run that begins with so many jobs at most, and `budget` seconds for them, if that is asked for.
    pub(super) fn begin(budget: Option<f64>, jobs: usize) -> Pace {
        let budget = budget.map(|whole| Budget { whole });
        Pace { budget, began: Instant::now(), jobs, done: 0, besides: 0.0 }
    }

    /// The settings for all `rounds` of a case, each of which is a job, in what is left of the time.
    pub(super) fn settings(&self, settings: &Settings, rounds: u32) -> Settings {
        let Some(budget) = self.budget else { return settings.clone() };
        let besides = (self.done > 0).then(|| self.besides / self.done as f64);
        let (elapsed, left) = (self.began.elapsed().as_secs_f64(), self.jobs.saturating_sub(self.done));
        budget.settings_of(settings, rounds, (elapsed, left), besides)
    }

    /// When a search for a limit is to be over, if there is a budget: after a quarter of it.
    pub(super) fn limits_deadline(&self) -> Option<Instant> {
        /// Share of a budget that limits may take.
        const FOR_LIMITS: f64 = 0.25;
        Some(self.began + Duration::from_secs_f64(FOR_LIMITS * self.budget?.whole))
    }

    /// Takes note of a job that was sampled for at most `sampled` seconds, and began then.
    pub(super) fn job_done(&mut self, began: Instant, sampled: f64) {
        self.done += 1;
        self.besides += (began.elapsed().as_secs_f64() - sampled).max(0.0);
    }

    /// By how much the time was not enough, if it was not.
    pub(super) fn overrun(&self) -> Option<String> {
        let whole = self.budget?.whole;
        let took = self.began.elapsed().as_secs_f64();
        // A few per cent are no news.
        let text = "every case is checked and sampled a little, however late it is";
        (took > 1.1 * whole).then(|| format!("the run took {took:.1} s, more than the budget of {whole} s: {text}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::{Cache, Clock};

    fn usual() -> Settings {
        Settings {
            warmup: 3,
            min_runs: 10,
            max_runs: 1000,
            min_time: 0.05,
            timeout: 0.5,
            max_noise: 0.05,
            cache: Cache::Warm,
            clock: Clock::Event,
            least_time: None,
        }
    }

    #[test]
    fn without_a_budget_nothing_changes() {
        let pace = Pace::begin(None, 3);
        assert_eq!((pace.settings(&usual(), 3), pace.overrun()), (usual(), None));
    }

    #[test]
    fn a_case_has_the_share_of_its_rounds() {
        let mut pace = Pace::begin(Some(9.0), 90);
        // Ninety jobs of a tenth of a second, three of them a case.
        (0..2).for_each(|_| pace.job_done(Instant::now(), 0.1));
        approx::assert_relative_eq!(pace.settings(&usual(), 3).timeout, 3.0 * 9.0 / 88.0, max_relative = 0.01);
        assert_eq!(pace.settings(&usual(), 100).timeout, 0.5, "never longer than without");
        let late = Pace::begin(Some(0.001), 90).settings(&usual(), 3);
        assert_eq!((late.timeout, late.min_time), (0.05, 0.05), "the fewest samples of a case");
        let quick = Settings { timeout: 0.1, ..usual() };
        assert_eq!(Pace::begin(Some(0.001), 90).settings(&quick, 2).timeout, 0.05, "less than without, here too");
    }

    #[test]
    fn a_budget_that_is_not_enough_is_told() {
        let pace = Pace::begin(Some(1e-9), 1);
        assert!(pace.overrun().is_some_and(|text| text.contains("more than the budget")));
        assert_eq!(Pace::begin(Some(1e9), 1).overrun(), None);
    }

    #[test]
    fn limits_may_take_a_quarter() {
        let pace = Pace::begin(Some(8.0), 1);
        assert_eq!(pace.limits_deadline(), Some(pace.began + Duration::from_secs(2)));
        assert_eq!(Pace::begin(None, 1).limits_deadline(), None);
    }
}

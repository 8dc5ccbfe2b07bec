//! How long each job of a run is sampled, if all of it is to end in time.

use super::budget::Budget;
use super::prelude::*;
use std::time::Duration;

/// Share of a budget that limits may take, where they are still to be measured.
pub const FOR_LIMITS: f64 = 0.25;

/// A run's time, and how it was spent so far.
pub struct Pace {
    budget: Option<Budget>,
    began: Instant,
    /// Jobs that there are at most, and those that are done.
    jobs: usize,
    done: usize,
    /// Seconds that these took besides their sampling, together.
    besides: f64,
}

impl Pace {
    /// Of a run that began then, with so many jobs at most, and a budget for them if that is asked for.
    pub fn new(budget: Option<Budget>, began: Instant, jobs: usize) -> Pace {
        Pace { budget, began, jobs, done: 0, besides: 0.0 }
    }

    /// The settings for all `rounds` of a case, each of which is a job, in what is left of the time, but for the `kept` share
    /// of all of it.
    pub fn settings(&self, settings: &Settings, rounds: u32, kept: f64) -> Settings {
        let Some(budget) = self.budget else { return settings.clone() };
        let besides = (self.done > 0).then(|| self.besides / self.done as f64);
        let elapsed = self.began.elapsed().as_secs_f64();
        let left = self.jobs.saturating_sub(self.done);
        budget.settings(settings, rounds, (elapsed + kept * budget.whole, left), besides)
    }

    /// When so large a share of the budget is over, if there is one.
    pub fn after(&self, share: f64) -> Option<Instant> {
        Some(self.began + Duration::from_secs_f64(share * self.budget?.whole))
    }

    /// Takes note of a job that was sampled for at most `sampled` seconds, and began then.
    pub fn job_done(&mut self, began: Instant, sampled: f64) {
        self.done += 1;
        self.besides += (began.elapsed().as_secs_f64() - sampled).max(0.0);
    }

    /// By how much the time was not enough, if it was not.
    pub fn overrun(&self) -> Option<String> {
        let whole = self.budget?.whole;
        let took = self.began.elapsed().as_secs_f64();
        // A few per cent are no news.
        let text = "every case is checked and has a few samples, however late";
        (took > 1.1 * whole).then(|| format!("the run took {took:.1} s, more than the budget of {whole} s: {text}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(whole: f64, jobs: usize) -> Pace {
        Pace::new(Some(Budget { whole }), Instant::now(), jobs)
    }

    #[test]
    fn limits_may_take_a_quarter_of_a_budget_and_one_that_is_not_enough_is_told() {
        let pace = Pace::new(None, Instant::now(), 3);
        assert_eq!((pace.settings(&Settings::default(), 3, 0.0), pace.overrun()), (Settings::default(), None));
        let pace = begun(8.0, 1);
        assert_eq!(pace.after(FOR_LIMITS), Some(pace.began + Duration::from_secs(2)));
        assert_eq!(Pace::new(None, Instant::now(), 1).after(FOR_LIMITS), None);
        let pace = begun(1e-9, 1);
        assert!(pace.overrun().is_some_and(|text| text.contains("more than the budget")));
        assert_eq!(begun(1e9, 1).overrun(), None);
    }

    #[test]
    fn a_case_has_the_share_of_its_rounds() {
        let mut pace = begun(9.0, 90);
        // Ninety jobs of a tenth of a second, three of them a case.
        (0..2).for_each(|_| pace.job_done(Instant::now(), 0.1));
        approx::assert_relative_eq!(
            pace.settings(&Settings::default(), 3, 0.0).timeout,
            3.0 * 9.0 / 88.0,
            max_relative = 0.01
        );
        assert_eq!(pace.settings(&Settings::default(), 100, 0.0).timeout, 0.5, "never longer than without");
        let late = begun(0.001, 90).settings(&Settings::default(), 3, 0.0);
        assert_eq!((late.timeout, late.min_time), (0.05, 0.05), "the fewest samples of a case");
        let quick = Settings { timeout: 0.1, ..Settings::default() };
        assert_eq!(begun(0.001, 90).settings(&quick, 2, 0.0).timeout, 0.05, "less than without, here too");
    }
}

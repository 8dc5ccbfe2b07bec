//! How long each job of a run is sampled, if all of it is to end in time.

use gpulab_model::outcome::Settings;
use std::time::{Duration, Instant};

/// Seconds that a case is sampled for, however late it is: without runs there is no spread.
const LEAST_S: f64 = 0.05;

/// Seconds that a case takes besides its sampling, before any case has shown how many.
const UNKNOWN_S: f64 = 0.5;

/// The settings for a case whose samples `rounds` of the `left` jobs share, with so many seconds left of the run's budget, where
/// each job took `besides` seconds that were no sampling. Checks are never cut, and a case has a few samples whatever the
/// time.
fn in_time(
    settings: &Settings,
    rounds: u32,
    seconds: f64,
    left: usize,
    besides: Option<f64>,
) -> Settings {
    let share = seconds / left.max(1) as f64 - besides.unwrap_or(UNKNOWN_S);
    let timeout = (share * f64::from(rounds))
        .max(LEAST_S)
        .min(settings.timeout);
    Settings {
        timeout,
        min_time: settings.min_time.min(timeout),
        ..settings.clone()
    }
}

/// Share of a budget that limits may take, where they are still to be measured.
pub const FOR_LIMITS: f64 = 0.25;

/// A run's time, and how it was spent so far.
pub struct Pace {
    /// Seconds that all of it may take.
    budget: Option<f64>,
    began: Instant,
    /// Jobs that there are at most, and those that are done.
    jobs: usize,
    done: usize,
    /// Seconds that these took besides their sampling, together.
    besides: f64,
}

impl Pace {
    /// Of a run that began then, with so many jobs at most, and a budget for them if that is asked for.
    pub fn new(budget: Option<f64>, began: Instant, jobs: usize) -> Pace {
        Pace {
            budget,
            began,
            jobs,
            done: 0,
            besides: 0.0,
        }
    }

    /// The settings for all `rounds` of a case, each of which is a job, in what is left of the time, but for the `kept` share
    /// of all of it.
    pub fn settings(&self, settings: &Settings, rounds: u32, kept: f64) -> Settings {
        let Some(budget) = self.budget else {
            return settings.clone();
        };
        let besides = (self.done > 0).then(|| self.besides / self.done as f64);
        let elapsed = self.began.elapsed().as_secs_f64();
        let left = self.jobs.saturating_sub(self.done);
        in_time(
            settings,
            rounds,
            budget - (elapsed + kept * budget),
            left,
            besides,
        )
    }

    /// When so large a share of the budget is over, if there is one.
    pub fn after(&self, share: f64) -> Option<Instant> {
        Some(self.began + Duration::from_secs_f64(share * self.budget?))
    }

    /// Takes note of a job that was sampled for at most `sampled` seconds, and began then.
    pub fn job_done(&mut self, began: Instant, sampled: f64) {
        self.done += 1;
        self.besides += (began.elapsed().as_secs_f64() - sampled).max(0.0);
    }

    /// By how much the time was not enough, if it was not.
    pub fn overrun(&self) -> Option<String> {
        let whole = self.budget?;
        let took = self.began.elapsed().as_secs_f64();
        // A few per cent are no news.
        let text = "every case is checked and has a few samples, however late";
        (took > 1.1 * whole)
            .then(|| format!("the run took {took:.1} s, more than the budget of {whole} s: {text}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(whole: f64, jobs: usize) -> Pace {
        Pace::new(Some(whole), Instant::now(), jobs)
    }

    #[test]
    fn limits_may_take_a_quarter_of_a_budget_and_one_that_is_not_enough_is_told() {
        let pace = Pace::new(None, Instant::now(), 3);
        assert_eq!(
            (pace.settings(&Settings::default(), 3, 0.0), pace.overrun()),
            (Settings::default(), None)
        );
        let pace = begun(8.0, 1);
        assert_eq!(
            pace.after(FOR_LIMITS),
            Some(pace.began + Duration::from_secs(2))
        );
        assert_eq!(Pace::new(None, Instant::now(), 1).after(FOR_LIMITS), None);
        let pace = begun(1e-9, 1);
        assert!(
            pace.overrun()
                .is_some_and(|text| text.contains("more than the budget"))
        );
        assert_eq!(begun(1e9, 1).overrun(), None);
    }

    const BUDGET: f64 = 5.0;

    fn sampled(elapsed: f64, left: usize, besides: Option<f64>) -> f64 {
        let settings = in_time(&Settings::default(), 1, BUDGET - elapsed, left, besides);
        assert!(settings.min_time <= settings.timeout);
        assert_eq!(
            (settings.min_runs, settings.max_runs),
            (10, 1000),
            "runs are counted as before"
        );
        settings.timeout
    }

    #[test]
    fn what_is_left_is_shared_among_the_cases_that_are_left() {
        approx::assert_relative_eq!(sampled(1.0, 10, Some(0.1)), 0.3);
        approx::assert_relative_eq!(sampled(3.0, 5, Some(0.25)), 0.15);
        // The last one may use up all of it, but no more than a case is sampled for anyway.
        approx::assert_relative_eq!(sampled(1.0, 1, Some(0.1)), 0.5);
        approx::assert_relative_eq!(sampled(4.5, 1, Some(0.1)), 0.4);
        assert!(
            sampled(0.3, 10, None) < sampled(0.3, 10, Some(0.1)),
            "the first row comes early"
        );
    }

    #[test]
    fn a_late_run_samples_a_little_of_every_case_all_the_same() {
        for late in [5.0, 50.0] {
            assert_eq!(sampled(late, 4, Some(0.2)), LEAST_S);
        }
        assert_eq!(sampled(0.0, 0, Some(0.0)), 0.5, "no case is left");
        let short = Settings {
            timeout: 0.01,
            min_time: 0.0,
            ..Settings::default()
        };
        assert_eq!(
            in_time(&short, 1, BUDGET - 9.0, 1, None).timeout,
            0.01,
            "never longer than was asked for"
        );
    }
}

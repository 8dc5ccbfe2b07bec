//! How long each case of a run is sampled, if the whole run is to end in time.

use gpulab_model::outcome::Settings;

/// Seconds that a case is sampled for, however late it is: without runs there is no spread.
const LEAST_S: f64 = 0.05;

/// Seconds that a case takes besides its sampling, before any case has shown how many.
const UNKNOWN_S: f64 = 0.5;

/// How long a run may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Of all of it, in seconds.
    pub whole: f64,
}

impl Budget {
    /// The settings for a case whose samples `rounds` of the `left` jobs share, `elapsed` seconds after the run began, where
    /// each job took `besides` seconds that were no sampling. Checks are never cut, and a case has a few samples whatever the
    /// time.
    pub fn settings(
        self,
        settings: &Settings,
        rounds: u32,
        (elapsed, left): (f64, usize),
        besides: Option<f64>,
    ) -> Settings {
        let share = (self.whole - elapsed) / left.max(1) as f64 - besides.unwrap_or(UNKNOWN_S);
        let timeout = (share * f64::from(rounds)).max(LEAST_S).min(settings.timeout);
        Settings { timeout, min_time: settings.min_time.min(timeout), ..settings.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Budget = Budget { whole: 5.0 };

    fn sampled(elapsed: f64, left: usize, besides: Option<f64>) -> f64 {
        let settings = BUDGET.settings(&Settings::default(), 1, (elapsed, left), besides);
        assert!(settings.min_time <= settings.timeout);
        assert_eq!((settings.min_runs, settings.max_runs), (10, 1000), "runs are counted as before");
        settings.timeout
    }

    #[test]
    fn what_is_left_is_shared_among_the_cases_that_are_left() {
        approx::assert_relative_eq!(sampled(1.0, 10, Some(0.1)), 0.3);
        approx::assert_relative_eq!(sampled(3.0, 5, Some(0.25)), 0.15);
        // The last one may use up all of it, but no more than a case is sampled for anyway.
        approx::assert_relative_eq!(sampled(1.0, 1, Some(0.1)), 0.5);
        approx::assert_relative_eq!(sampled(4.5, 1, Some(0.1)), 0.4);
        assert!(sampled(0.3, 10, None) < sampled(0.3, 10, Some(0.1)), "the first row comes early");
    }

    #[test]
    fn a_late_run_samples_a_little_of_every_case_all_the_same() {
        for late in [5.0, 50.0] {
            assert_eq!(sampled(late, 4, Some(0.2)), LEAST_S);
        }
        assert_eq!(sampled(0.0, 0, Some(0.0)), 0.5, "no case is left");
        let short = Settings { timeout: 0.01, min_time: 0.0, ..Settings::default() };
        assert_eq!(BUDGET.settings(&short, 1, (9.0, 1), None).timeout, 0.01, "never longer than was asked for");
    }
}

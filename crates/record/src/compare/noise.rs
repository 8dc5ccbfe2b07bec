//! What differences can be seen now: the same case measured again and again, as two sides that are known to be alike.

use super::ranks::{found_from, runs_for, spread};
use super::{RatioInterval, Turns};
use gpulab_model::stats;

/// What two sides that are the same program show.
#[derive(Clone, Copy, Debug)]
pub struct Noise {
    /// Rounds, in each of which both sides ran once.
    pub rounds: usize,
    /// Median time of each side in seconds.
    pub seconds: [f64; 2],
    /// The second side over the first, from all rounds.
    pub interval: RatioInterval,
    /// Standard deviation between runs of the same side, as a share of the time.
    pub spread: f64,
    /// The least difference that so many runs of each side find in 19 of 20 comparisons, as a share.
    pub resolution: f64,
}

impl Noise {
    /// From the time of each side in each round, in seconds; none from fewer than six rounds.
    pub fn of(first: &[f64], second: &[f64]) -> Option<Noise> {
        let interval = RatioInterval::of_runs(first, second, Turns::InTurn)?;
        let spread = spread([first, second])?;
        let rounds = first.len().min(second.len());
        let seconds = [stats::summarise(first)?.median, stats::summarise(second)?.median];
        Some(Noise { rounds, seconds, interval, spread, resolution: found_from(spread, rounds)? })
    }

    /// Whether the two sides look different, although they are the same.
    pub fn is_false_alarm(&self) -> bool {
        self.interval.low > 1.0 || self.interval.high < 1.0
    }

    /// Runs of each side after which a difference of `share` is found in 19 of 20 comparisons.
    pub fn runs_for(&self, share: f64) -> usize {
        runs_for(self.spread, share)
    }
}

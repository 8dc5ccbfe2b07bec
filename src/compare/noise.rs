//! What difference could be seen now: the same case measured again and again, as two sides that are known to be alike.

use super::interval::run_spread;
use super::{RatioInterval, SpeedVerdict, TimeEstimate};
use crate::record::Row;

/// What a run of two sides that are the same says.
#[derive(Clone, Copy, Debug)]
pub struct Noise {
    /// Median time of each side in seconds.
    pub seconds: [f64; 2],
    /// The second side over the first, from all rounds.
    pub all: RatioInterval,
    /// The same from one round of each: what two single runs are held against each other with.
    pub one: RatioInterval,
    /// Standard deviation between rounds, as a share of the time.
    pub spread: f64,
}

impl Noise {
    /// From the rows of each side's rounds; none from fewer than three of each, or without times.
    pub fn of(first: &[Row], second: &[Row]) -> Option<Noise> {
        let (first, second): (Vec<&Row>, Vec<&Row>) = (first.iter().collect(), second.iter().collect());
        if first.len() < SEVERAL || second.len() < SEVERAL {
            return None;
        }
        let (a, b) = (TimeEstimate::of(&first)?, TimeEstimate::of(&second)?);
        let one = RatioInterval::new(TimeEstimate::of(&first[..1])?, TimeEstimate::of(&second[..1])?);
        let spread = run_spread(&first)?.max(run_spread(&second)?);
        Some(Noise { seconds: [a.seconds, b.seconds], all: RatioInterval::new(a, b), one, spread })
    }

    /// What all rounds say of the two sides, where differences of less than `same` (as a share) do not count.
    pub fn verdict(&self, same: f64) -> SpeedVerdict {
        SpeedVerdict::of(&self.all, same)
    }

    /// Rounds of each side after which a difference of `share` would show, from how far these were apart; three at least.
    pub fn rounds_for(&self, share: f64) -> usize {
        (SEVERAL..MOST)
            .find(|&rounds| RatioInterval::half_of_rounds(self.spread, rounds) <= share.ln_1p())
            .unwrap_or(MOST)
    }
}

/// Rounds that say themselves how far they can be repeated.
pub(super) const SEVERAL: usize = 3;

/// More rounds than that nobody waits for.
const MOST: usize = 100_000;

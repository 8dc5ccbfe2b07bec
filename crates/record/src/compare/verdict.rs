//! What an interval says.

use super::RatioInterval;
use gpulab_model::named_enum;
use serde::{Deserialize, Serialize};

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "UPPERCASE")]
    pub enum SpeedVerdict {
        /// The second takes more time.
        Slower = "SLOWER",
        /// The second takes less time.
        Faster = "FASTER",
        /// They differ by less than what counts.
        Same = "SAME",
        /// The noise is larger than what would have to be seen.
        Undecided = "UNDECIDED",
    }
}

impl SpeedVerdict {
    /// Of a ratio of times, where differences of less than `same` (as a share) do not count. An interval within that is the
    /// same (Schuirmann's two one-sided tests, J. Pharmacokinetics and Biopharmaceutics 15(6), 1987), one on one side of 1 a
    /// change, and any other undecided.
    pub fn of(interval: &RatioInterval, same: f64) -> SpeedVerdict {
        let least = 1.0 / (1.0 + same);
        let most = 1.0 + same;
        match (interval.low, interval.high) {
            (low, high) if low > least && high < most => SpeedVerdict::Same,
            (low, _) if low > 1.0 => SpeedVerdict::Slower,
            (_, high) if high < 1.0 => SpeedVerdict::Faster,
            _ => SpeedVerdict::Undecided,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_says_one_of_four_things() {
        let of = |low: f64, high: f64| SpeedVerdict::of(&RatioInterval { ratio: (low * high).sqrt(), low, high }, 0.01);
        assert_eq!(of(1.02, 1.08), SpeedVerdict::Slower);
        assert_eq!(of(1.001, 1.08), SpeedVerdict::Slower);
        assert_eq!(of(0.9, 0.95), SpeedVerdict::Faster);
        assert_eq!(of(0.995, 1.005), SpeedVerdict::Same);
        assert_eq!(of(1.001, 1.005), SpeedVerdict::Same, "it differs, but by less than counts");
        assert_eq!(of(0.97, 1.04), SpeedVerdict::Undecided);
        assert_eq!(of(0.99, 1.02), SpeedVerdict::Undecided, "a change of 2 % cannot be ruled out");
    }
}

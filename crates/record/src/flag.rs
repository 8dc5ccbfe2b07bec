//! The words of the `flags` column, each for a number that needs care.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A set of flags; in files their words, separated by blanks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

/// The kernel is so short that launching it costs a good part of its time.
pub const LAUNCH_BOUND: Flags = Flags(1);
/// The data fit the last-level cache, so memory's ceiling does not bound the case.
pub const FITS_CACHE: Flags = Flags(1 << 1);
/// Faster than the ceiling measured on this device.
pub const ABOVE_CEILING: Flags = Flags(1 << 2);
/// Timed by another clock than the one asked for.
pub const CLOCK_FALLBACK: Flags = Flags(1 << 3);
/// The spread is larger than asked for.
pub const NOISY: Flags = Flags(1 << 4);
/// The device was slower while the case was timed than before: its clock drifted, or a neighbour kept it busy.
pub const DRIFT: Flags = Flags(1 << 5);
/// Run with the settings that `gpulab tune` found, in place of the rung's defaults.
pub const TUNED: Flags = Flags(1 << 6);

/// Those that make a row's time doubtful.
pub const DOUBTS: [Flags; 3] = [CLOCK_FALLBACK, NOISY, DRIFT];

/// In the order in which files have them.
const WORDS: [(Flags, &str); 7] = [
    (LAUNCH_BOUND, "launch_bound"),
    (FITS_CACHE, "fits_cache"),
    (ABOVE_CEILING, "above_ceiling"),
    (CLOCK_FALLBACK, "clock_fallback"),
    (NOISY, "noisy"),
    (DRIFT, "drift"),
    (TUNED, "tuned"),
];

impl Flags {
    pub fn is_empty(self) -> bool {
        self == Flags::default()
    }

    pub fn contains(self, flags: Flags) -> bool {
        self.0 & flags.0 == flags.0
    }
}

impl FromIterator<Flags> for Flags {
    fn from_iter<I: IntoIterator<Item = Flags>>(flags: I) -> Flags {
        flags
            .into_iter()
            .fold(Flags::default(), |all, flag| all | flag)
    }
}

impl std::ops::BitOr for Flags {
    type Output = Flags;

    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set: Vec<&str> = WORDS
            .iter()
            .filter(|(flag, _)| self.contains(*flag))
            .map(|(_, word)| *word)
            .collect();
        f.write_str(&set.join(" "))
    }
}

impl Serialize for Flags {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Flags {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Flags, D::Error> {
        String::deserialize(deserializer)?
            .split_whitespace()
            .map(|word: &str| {
                let known = WORDS
                    .iter()
                    .find(|(_, known)| *known == word)
                    .map(|(flag, _)| *flag);
                known.ok_or_else(|| serde::de::Error::custom(format!("there is no flag {word:?}")))
            })
            .collect()
    }
}

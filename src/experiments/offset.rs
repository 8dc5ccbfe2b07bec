//! Offsets: every word of an array is read or written once, from an offset of 0 to 64 words on.
//!
//! Neighbouring items access neighbouring words, but those of a group begin in the middle of a segment, which a device may
//! have to fetch for both of the groups that share it.

use super::evidence::{Contrast, compare, mostly_clear, slower};
use super::walk::{self, READ, READ_CACHED, WRITE};
use super::{Experiment, Scope, Trial, plain};
use crate::record::Point;

/// In words: powers of two, and others beside them.
const OFFSETS: [u64; 11] = [0, 1, 2, 4, 7, 8, 16, 24, 32, 33, 64];
const FEW_OFFSETS: [u64; 6] = [0, 1, 4, 8, 16, 32];

/// Bytes of a word.
const WORD: u64 = 4;

/// The experiment's entry in the list.
pub const OFFSET: Experiment = Experiment {
    name: "offset",
    question: "What does it cost when neighbouring items begin in the middle of a segment of global memory?",
    x_name: "offset",
    x_label: plain,
    has_timeline: false,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let all: &[u64] = if scope.quick { &FEW_OFFSETS } else { &OFFSETS };
    let offsets = |series: walk::WalkSeries| all.iter().map(move |&offset| series.trial(scope, offset, 0, offset));
    let series = walk::series(scope.target).filter(|series| !scope.quick || series.name != READ_CACHED);
    series.flat_map(offsets).collect()
}

fn finding(points: &[Point]) -> String {
    let told: Vec<String> = [("Reads", READ), ("Reads from cache", READ_CACHED), ("Writes", WRITE)]
        .iter()
        .filter_map(|(what, series)| sentence(what, &over_aligned(points, series)))
        .collect();
    if told.is_empty() { "No two offsets were measured.".to_owned() } else { told.join(" ") }
}

/// Each offset of a series over none.
fn over_aligned(points: &[Point], series: &str) -> Vec<Contrast> {
    OFFSETS[1..].iter().filter_map(|&offset| compare(points, (series, offset as f64), (series, 0.0))).collect()
}

/// A smaller loss than this has other causes: an unaligned group of 32 items touches one segment more.
const LOSS: f64 = 1.05;

fn sentence(what: &str, contrasts: &[Contrast]) -> Option<String> {
    let least = contrasts.iter().map(|c| c.ratio).reduce(f64::min)?;
    let slow: Vec<bool> = contrasts.iter().map(|c| c.exceeds(1.0 / LOSS) == Some(false)).collect();
    if !slow.contains(&true) {
        return Some(match mostly_clear(contrasts, 1.0 / LOSS) {
            true => format!("{what} are as fast at any offset as without one."),
            false => {
                format!("{what}: what an offset costs is undecided, as it is too noisy (at worst {}).", slower(least))
            }
        });
    }
    // The power of two whose multiples, and no others, cost nothing.
    let is_free = |c: &Contrast| c.ratio > 1.0 / LOSS;
    let explains = |unit: u64| contrasts.iter().all(|c| is_free(c) == (c.x as u64).is_multiple_of(unit));
    let least = slower(least);
    Some(match (1..=6).map(|log| 1u64 << log).find(|&unit| explains(unit)) {
        Some(unit) => {
            format!("{what} are up to {least} at offsets that are not multiples of {} bytes.", WORD * unit)
        }
        None => format!("{what} are up to {least} at some offsets, which follow no pattern."),
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::points_of;
    use super::*;

    /// The finding where a series has `speed(series, offset)` GB/s, a sentence a line.
    fn sentences(gpu: bool, noise: f64, speed: fn(&str, f64) -> f64) -> String {
        OFFSET.finding(&points_of(&OFFSET, gpu, noise, speed)).replace(". ", ".\n")
    }

    #[test]
    fn a_cache_that_hands_out_32_bytes() {
        let speed =
            |series: &str, offset: f64| if series == READ_CACHED && offset % 8.0 != 0.0 { 4000.0 } else { 5000.0 };
        insta::assert_snapshot!(sentences(true, 0.01, speed), @r"
        Reads are as fast at any offset as without one.
        Reads from cache are up to 20 % slower at offsets that are not multiples of 32 bytes.
        Writes are as fast at any offset as without one.
        ");
    }

    #[test]
    fn offsets_without_cost_or_pattern() {
        insta::assert_snapshot!(sentences(false, 0.01, |_, _| 20.0), @r"
        Reads are as fast at any offset as without one.
        Writes are as fast at any offset as without one.
        ");
        insta::assert_snapshot!(sentences(false, 0.01, |_, offset| if offset == 64.0 { 10.0 } else { 20.0 }), @r"
        Reads are up to 2.00 times slower at some offsets, which follow no pattern.
        Writes are up to 2.00 times slower at some offsets, which follow no pattern.
        ");
    }

    #[test]
    fn noise_and_missing_points() {
        insta::assert_snapshot!(sentences(false, 0.2, |_, offset| 20.0 - offset / 16.0), @r"
        Reads: what an offset costs is undecided, as it is too noisy (at worst 20 % slower).
        Writes: what an offset costs is undecided, as it is too noisy (at worst 20 % slower).
        ");
        insta::assert_snapshot!(OFFSET.finding(&[]), @"No two offsets were measured.");
    }
}

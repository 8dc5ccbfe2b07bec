//! Offsets: every word of an array is read or written once, from an offset of 0 to 64 words on.
//!
//! Neighbouring items access neighbouring words, but the words of a group begin in the middle of a segment. A device
//! may have to fetch that segment for both groups that share it. Other series read runs of 32 words in another order,
//! or leave every other item idle. The first devices put accesses together only where item k read word k of a segment;
//! idle items did no harm.

use super::prelude::*;
use super::walk::{self, HALF_IDLE, LANES, ORDERED, PERMUTED, READ, READ_CACHED, WRITE};

/// In words: powers of two, and others beside them.
const OFFSETS: [u64; 11] = [0, 1, 2, 4, 7, 8, 16, 24, 32, 33, 64];
const FEW_OFFSETS: [u64; 6] = [0, 1, 4, 8, 16, 32];
/// At which neighbours also read in another order, or are idle.
const LANE_OFFSETS: [u64; 3] = [0, 1, 8];

const WORD: u64 = 4;

pub const OFFSET: Experiment = Experiment {
    name: "offset",
    question: "What does it cost when neighbouring items begin in the middle of a segment of global memory?",
    about: Explanation {
        idea: "Every word of an array is accessed once, from an offset on; also, neighbours read in another order, or \
               every other item is idle.",
        expect: "Groups that begin inside a segment fetch one segment more: reads from memory lose a little. The order \
               within a segment costs next to nothing, and idle items save nothing.",
        but: "A cache that keeps the shared segment for the neighbour hides it. CPU drivers walk through contiguous \
               memory wherever they begin.",
        cuda: "Misaligned and permuted accesses: the first CUDA devices coalesced only where thread k read word k of an \
               aligned segment.",
    },
    x_name: "offset",
    x_label: plain,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let all: &[u64] = if scope.quick { &FEW_OFFSETS } else { &OFFSETS };
    let offsets = |series: walk::WalkSeries| all.iter().map(move |&offset| series.trial(scope, offset, 0, offset));
    let series = walk::series(scope.target).filter(|series| !scope.quick || series.name != READ_CACHED);
    let few = if scope.quick { 1 } else { LANE_OFFSETS.len() };
    series
        .flat_map(offsets)
        .chain(
            LANES
                .into_iter()
                .flat_map(|lane| LANE_OFFSETS[..few].iter().map(move |&offset| walk::lanes_trial(scope, lane, offset))),
        )
        .collect()
}

fn finding(points: &[Point]) -> String {
    let over_aligned = |series: &str| -> Vec<Contrast> {
        OFFSETS[1..].iter().filter_map(|&offset| compare(points, (series, offset as f64), (series, 0.0))).collect()
    };
    let all = [("reads", READ), ("reads from cache", READ_CACHED), ("writes", WRITE)];
    let offsets = joined(all.map(|(what, series)| clause(what, &over_aligned(series))), "; ");
    let offsets = offsets.map(|phrases| format!("Compared with offset 0, {phrases}."));
    let sentences = joined([offsets, permuted(points), half_idle(points)], " ");
    sentences.unwrap_or_else(|| "No two offsets were measured.".to_owned())
}

fn permuted(points: &[Point]) -> Option<String> {
    let over = compare_series(points, PERMUTED, ORDERED, |_| true);
    (!over.is_empty()).then(|| format!("A permuted order within 32 words {}.", effect(&over, "offset")))
}

/// Between these parts of the bandwidth of all items lies that of every other one, if what idle ones leave out takes as long
/// as if they read it.
const HALF: [f64; 2] = [0.4, 0.75];

/// What is lost where every other item is idle.
fn half_idle(points: &[Point]) -> Option<String> {
    let over = compare(points, (HALF_IDLE, 0.0), (ORDERED, 0.0))?;
    let share = percent(over.ratio);
    let what = match HALF.map(|part| over.exceeds(part)) {
        [Some(false), _] => ", less than half: idle items cost more than their words",
        [Some(true), Some(false)] => ": it takes the time of all words",
        [_, Some(true)] => ": words that nobody reads cost little",
        _ => {
            let undecided = undecided_factor([&over]);
            return Some(format!("What idle items cost is {undecided} ({share} of the bandwidth of all)."));
        }
    };
    Some(format!("With every other item idle, the active ones read at {share} of the bandwidth{what}."))
}

/// A smaller loss than this has other causes: an unaligned group of 32 items touches one segment more.
const LOSS: f64 = 1.05;

/// What speeds may lose at most.
fn lost<'a>(contrasts: impl Iterator<Item = &'a Contrast>) -> String {
    excess(&contrasts.map(Contrast::inverse).collect::<Vec<_>>())
}

fn clause(what: &str, contrasts: &[Contrast]) -> Option<String> {
    let least = contrasts.iter().map(|c| c.ratio).reduce(f64::min)?;
    let slow: Vec<bool> = contrasts.iter().map(|c| c.exceeds(1.0 / LOSS) == Some(false)).collect();
    if !slow.contains(&true) {
        let hidden: Vec<&Contrast> = contrasts.iter().filter(|c| !c.is_clear(1.0 / LOSS)).collect();
        let undecided = || undecided_factor(hidden.iter().copied());
        return Some(match hidden.len() {
            0 => format!("{what} lose less than {} at any offset", lost(contrasts.iter())),
            many if many == contrasts.len() => format!("what an offset costs {what} is {}", undecided()),
            _ => {
                let clear: Vec<&Contrast> = contrasts.iter().filter(|c| c.is_clear(1.0 / LOSS)).collect();
                let lost = lost(clear.iter().copied());
                let at = places(&clear, "offset");
                format!("{what} lose less than {lost} at {at}, and their loss elsewhere is {}", undecided())
            }
        });
    }
    // The power of two whose multiples, and no others, cost nothing.
    let is_free = |c: &Contrast| c.ratio > 1.0 / LOSS;
    let explains = |unit: u64| contrasts.iter().all(|c| is_free(c) == (c.x as u64).is_multiple_of(unit));
    let least = slower(least);
    Some(match (1..=6).map(|log| 1u64 << log).find(|&unit| explains(unit)) {
        Some(unit) => {
            format!("{what} are up to {least} at offsets that are not multiples of {} bytes", WORD * unit)
        }
        None => {
            match contrasts.iter().filter(|c| c.exceeds(1.0 / LOSS) == Some(false)).collect::<Vec<_>>().as_slice() {
                [alone] => format!("{what} are {least} at offset {} alone, so what offsets cost is undecided", alone.x),
                _ => format!("{what} are up to {least} at some offsets, which follow no pattern"),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::points_of;
    use super::*;

    fn reads(noise: f64, speed: impl Fn(f64) -> f64) -> String {
        let points = points_of(&OFFSET, false, noise, |name, at| if name == READ { speed(at) } else { f64::NAN });
        OFFSET.finding(&points)
    }

    /// What is said of neighbours in another order and of idle ones, where all others read at 80 GB/s.
    fn lanes(noise: f64, order: f64, idle: f64) -> String {
        let points = points_of(&OFFSET, false, noise, |series, _| match series {
            PERMUTED => order,
            HALF_IDLE => idle,
            _ => 80.0,
        });
        [permuted(&points).unwrap(), half_idle(&points).unwrap()].join(" ")
    }

    #[test]
    fn a_cache_that_hands_out_32_bytes() {
        let speed =
            |series: &str, offset: f64| if series == READ_CACHED && offset % 8.0 != 0.0 { 4000.0 } else { 5000.0 };
        insta::assert_snapshot!(OFFSET.finding(&points_of(&OFFSET, true, 0.01, speed)), @"Compared with offset 0, reads lose less than 2 % at any offset; reads from cache are up to 20 % slower at offsets that are not multiples of 32 bytes; writes lose less than 2 % at any offset. A permuted order within 32 words changes the speed by less than 2 %. With every other item idle, the active ones read at 100 % of the bandwidth: words that nobody reads cost little.");
        insta::assert_snapshot!(OFFSET.finding(&[]), @"No two offsets were measured.");
    }

    #[test]
    fn offsets_whose_cost_has_no_rule_or_is_hidden() {
        insta::assert_snapshot!(reads(0.01, |offset| if offset == 64.0 { 10.0 } else { 20.0 }), @"Compared with offset 0, reads are 2.00 times slower at offset 64 alone, so what offsets cost is undecided. To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.");
        insta::assert_snapshot!(reads(0.01, |offset| if [4.0, 7.0].contains(&offset) { 50.0 } else { 100.0 }), @"Compared with offset 0, reads are up to 2.00 times slower at some offsets, which follow no pattern.");
        insta::assert_snapshot!(reads(0.2, |offset| 20.0 - offset / 16.0), @"Compared with offset 0, what an offset costs reads is undecided: differences under 40 % cannot be seen in this run. To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.");
    }

    #[test]
    fn neighbours_in_another_order_or_idle() {
        // As the rules of the first devices: sixteen accesses in place of one, and idle items do no harm.
        insta::assert_snapshot!(lanes(0.01, 5.0, 40.0), @"A permuted order within 32 words makes it up to 16.0 times slower (offset = 0, 1, 8). With every other item idle, the active ones read at 50 % of the bandwidth: it takes the time of all words.");
        insta::assert_snapshot!(lanes(0.01, 80.0, 78.0), @"A permuted order within 32 words changes the speed by less than 2 %. With every other item idle, the active ones read at 98 % of the bandwidth: words that nobody reads cost little.");
        insta::assert_snapshot!(lanes(0.3, 80.0, 20.0), @"A permuted order within 32 words has an effect that is undecided at offset = 0, 1, 8 (differences under 60 % cannot be seen in this run). With every other item idle, the active ones read at 25 % of the bandwidth, less than half: idle items cost more than their words.");
        insta::assert_snapshot!(lanes(0.2, 40.0, 80.0), @"A permuted order within 32 words makes it up to 2.00 times slower (offset = 0, 1, 8). What idle items cost is undecided: differences under 40 % cannot be seen in this run (100 % of the bandwidth of all).");
    }
}

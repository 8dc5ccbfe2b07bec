//! Offsets: every word of an array is read or written once, from an offset of 0 to 64 words on.
//!
//! Neighbouring items access neighbouring words, but those of a group begin in the middle of a segment, which a device may
//! have to fetch for both of the groups that share it. Beside that, neighbours read their 32 words in another order, or every
//! other one of them is idle: the first devices put accesses together only where item k read word k of a segment, though
//! items might be idle.

use super::evidence::{Contrast, compare, compare_series, effect, excess, percent, places, slower, undecided_factor};
use super::walk::{self, HALF_IDLE, LANES, ORDERED, PERMUTED, READ, READ_CACHED, WRITE};
use super::{Experiment, Explanation, Scope, Trial, plain};
use gpulab_record::Point;

/// In words: powers of two, and others beside them.
const OFFSETS: [u64; 11] = [0, 1, 2, 4, 7, 8, 16, 24, 32, 33, 64];
const FEW_OFFSETS: [u64; 6] = [0, 1, 4, 8, 16, 32];
/// At which neighbours also read in another order, or are idle.
const LANE_OFFSETS: [u64; 3] = [0, 1, 8];

/// Bytes of a word.
const WORD: u64 = 4;

/// The experiment's entry in the list.
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
    has_timeline: false,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let all: &[u64] = if scope.quick { &FEW_OFFSETS } else { &OFFSETS };
    let offsets = |series: walk::WalkSeries| all.iter().map(move |&offset| series.trial(scope, offset, 0, offset));
    let series = walk::series(scope.target).filter(|series| !scope.quick || series.name != READ_CACHED);
    let few = if scope.quick { 1 } else { LANE_OFFSETS.len() };
    let lanes = |lane| LANE_OFFSETS[..few].iter().map(move |&offset| walk::lanes_trial(scope, lane, offset));
    series.flat_map(offsets).chain(LANES.into_iter().flat_map(lanes)).collect()
}

fn finding(points: &[Point]) -> String {
    let phrases: Vec<String> = [("reads", READ), ("reads from cache", READ_CACHED), ("writes", WRITE)]
        .iter()
        .filter_map(|(what, series)| clause(what, &over_aligned(points, series)))
        .collect();
    let offsets = (!phrases.is_empty()).then(|| format!("Compared with offset 0, {}.", phrases.join("; ")));
    let sentences: Vec<String> = [offsets, permuted(points), half_idle(points)].into_iter().flatten().collect();
    if sentences.is_empty() { "No two offsets were measured.".to_owned() } else { sentences.join(" ") }
}

/// What another order of neighbours costs.
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
    Some(match HALF.map(|part| over.exceeds(part)) {
        [Some(false), _] => {
            format!(
                "With every other item idle, the active ones read at {share} of the bandwidth, less than half: idle items cost more than their words."
            )
        }
        [Some(true), Some(false)] => {
            format!(
                "With every other item idle, the active ones read at {share} of the bandwidth: it takes the time of all words."
            )
        }
        [_, Some(true)] => {
            format!(
                "With every other item idle, the active ones read at {share} of the bandwidth: words that nobody reads cost little."
            )
        }
        _ => format!("What idle items cost is {} ({share} of the bandwidth of all).", undecided_factor([&over])),
    })
}

/// Each offset of a series over none.
fn over_aligned(points: &[Point], series: &str) -> Vec<Contrast> {
    OFFSETS[1..].iter().filter_map(|&offset| compare(points, (series, offset as f64), (series, 0.0))).collect()
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
                let (lost, at) = (lost(clear.iter().copied()), places(&clear, "offset"));
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

    /// The finding where a series has `speed(series, offset)` GB/s, a sentence a line.
    fn sentences(gpu: bool, noise: f64, speed: fn(&str, f64) -> f64) -> String {
        OFFSET.finding(&points_of(&OFFSET, gpu, noise, speed)).replace(". ", ".\n")
    }

    #[test]
    fn one_slow_offset_is_no_rule() {
        let finding = |slow: &'static [f64]| {
            OFFSET.finding(&points_of(&OFFSET, true, 0.01, |series, offset| {
                if series == READ && slow.contains(&offset) { 50.0 } else { 100.0 }
            }))
        };
        let [one, two] =
            [&OFFSETS[3..4], &OFFSETS[3..5]].map(|slow| slow.iter().map(|&o| o as f64).collect::<Vec<_>>());
        let [one, two] = [one, two].map(|slow| finding(slow.leak()));
        assert!(one.contains("slower at offset") && one.contains("alone, so what offsets cost is undecided"), "{one}");
        assert!(two.contains("which follow no pattern"), "{two}");
    }

    #[test]
    fn a_cache_that_hands_out_32_bytes() {
        let speed =
            |series: &str, offset: f64| if series == READ_CACHED && offset % 8.0 != 0.0 { 4000.0 } else { 5000.0 };
        insta::assert_snapshot!(sentences(true, 0.01, speed), @r"
        Compared with offset 0, reads lose less than 2 % at any offset; reads from cache are up to 20 % slower at offsets that are not multiples of 32 bytes; writes lose less than 2 % at any offset.
        A permuted order within 32 words changes the speed by less than 2 %.
        With every other item idle, the active ones read at 100 % of the bandwidth: words that nobody reads cost little.
        ");
    }

    #[test]
    fn offsets_without_cost_or_pattern() {
        insta::assert_snapshot!(sentences(false, 0.01, |_, _| 20.0), @r"
        Compared with offset 0, reads lose less than 2 % at any offset; writes lose less than 2 % at any offset.
        A permuted order within 32 words changes the speed by less than 2 %.
        With every other item idle, the active ones read at 100 % of the bandwidth: words that nobody reads cost little.
        ");
        insta::assert_snapshot!(sentences(false, 0.01, |_, offset| if offset == 64.0 { 10.0 } else { 20.0 }), @r"
        Compared with offset 0, reads are 2.00 times slower at offset 64 alone, so what offsets cost is undecided; writes are 2.00 times slower at offset 64 alone, so what offsets cost is undecided.
        A permuted order within 32 words changes the speed by less than 2 %.
        With every other item idle, the active ones read at 100 % of the bandwidth: words that nobody reads cost little.
        To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.
        ");
    }

    #[test]
    fn neighbours_in_another_order_or_idle() {
        // As the rules of the first devices: sixteen accesses in place of one, and idle items do no harm.
        let first = |series: &str, _: f64| match series {
            PERMUTED => 5.0,
            HALF_IDLE => 40.0,
            _ => 80.0,
        };
        insta::assert_snapshot!(sentences(true, 0.01, first), @r"
        Compared with offset 0, reads lose less than 2 % at any offset; reads from cache lose less than 2 % at any offset; writes lose less than 2 % at any offset.
        A permuted order within 32 words makes it up to 16.0 times slower (offset = 0, 1, 8).
        With every other item idle, the active ones read at 50 % of the bandwidth: it takes the time of all words.
        ");
        let free = |series: &str, _: f64| if series == HALF_IDLE { 78.0 } else { 80.0 };
        insta::assert_snapshot!(sentences(false, 0.01, free), @r"
        Compared with offset 0, reads lose less than 2 % at any offset; writes lose less than 2 % at any offset.
        A permuted order within 32 words changes the speed by less than 2 %.
        With every other item idle, the active ones read at 98 % of the bandwidth: words that nobody reads cost little.
        ");
        let dear = |series: &str, _: f64| if series == HALF_IDLE { 20.0 } else { 80.0 };
        insta::assert_snapshot!(sentences(false, 0.01, dear), @r"
        Compared with offset 0, reads lose less than 2 % at any offset; writes lose less than 2 % at any offset.
        A permuted order within 32 words changes the speed by less than 2 %.
        With every other item idle, the active ones read at 25 % of the bandwidth, less than half: idle items cost more than their words.
        ");
        insta::assert_snapshot!(sentences(false, 0.3, dear), @r"
        Compared with offset 0, what an offset costs reads is undecided: differences under 60 % cannot be seen in this run; what an offset costs writes is undecided: differences under 60 % cannot be seen in this run.
        A permuted order within 32 words has an effect that is undecided at offset = 0, 1, 8 (differences under 60 % cannot be seen in this run).
        With every other item idle, the active ones read at 25 % of the bandwidth, less than half: idle items cost more than their words.
        To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.
        ");
    }

    #[test]
    fn noise_and_missing_points() {
        insta::assert_snapshot!(sentences(false, 0.2, |_, offset| 20.0 - offset / 16.0), @r"
        Compared with offset 0, what an offset costs reads is undecided: differences under 40 % cannot be seen in this run; what an offset costs writes is undecided: differences under 40 % cannot be seen in this run.
        A permuted order within 32 words has an effect that is undecided at offset = 0, 1, 8 (differences under 40 % cannot be seen in this run).
        What idle items cost is undecided: differences under 40 % cannot be seen in this run (100 % of the bandwidth of all).
        To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.
        ");
        insta::assert_snapshot!(OFFSET.finding(&[]), @"No two offsets were measured.");
    }
}

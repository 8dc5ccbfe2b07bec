//! Camping: a matrix is read down its columns, whose words lie a large power of two apart, or a little more.
//!
//! Words that far apart may all lie in the same few memory channels or cache sets. Padding each row by a cache line's words
//! spreads them and changes nothing else: the same words are read in the same order. Along the rows there is nothing to
//! spread, so that padding must not matter: the control.

use super::prelude::*;
use gpulab_kernels::lab::columns::{self, COLUMNS, DOWN, PAD};

/// 128 bytes, a line of any cache.
const PADDING: u64 = 32;

const DOWN_PLAIN: &str = "down columns";
const DOWN_PADDED: &str = "down columns, padded";
const ALONG_PLAIN: &str = "along rows";
const ALONG_PADDED: &str = "along rows, padded";

/// Those that share their data come together.
const SERIES: [(&str, u64, u64); 4] =
    [(DOWN_PLAIN, 1, 0), (ALONG_PLAIN, 0, 0), (DOWN_PADDED, 1, PADDING), (ALONG_PADDED, 0, PADDING)];

pub const CAMPING: Experiment = Experiment {
    name: "camping",
    question: "Do words that lie a large power of two apart collide in a few memory channels or cache sets?",
    about: Explanation {
        idea: "A matrix is read down its columns and along its rows, with rows of a power of two and with rows padded \
               by a cache line: the same words in the same order.",
        expect: "Where a few memory channels or cache sets serve all words of a column, padding makes the columns faster \
               and leaves the rows as they are.",
        but: "Devices that spread addresses over their channels have nothing to cure. On CPU drivers it is the sets of \
               a cache that collide.",
        cuda: "Partition camping, known from NVIDIA's first CUDA devices; cudaMallocPitch() pads rows.",
    },
    x_name: "pitch",
    x_label: plain,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let pitches: &[u64] = if scope.quick { &[9, 11, 13] } else { &[8, 9, 10, 11, 12, 13, 14] };
    pitches.iter().flat_map(|&log| SERIES.map(|series| trial(scope, log, series))).collect()
}

fn finding(points: &[Point]) -> String {
    let down = compare_series(points, DOWN_PADDED, DOWN_PLAIN, |_| true);
    let along = compare_series(points, ALONG_PADDED, ALONG_PLAIN, |_| true);
    format!(
        "{} For a walk down the columns, padding each row by {PADDING} words {}; for one along the rows, where padding \
         cannot help, it {}.",
        camps(&down, &along),
        effect(&down, "pitch"),
        effect(&along, "pitch"),
    )
}

/// A smaller gain has other causes than camping.
const CURED: f64 = 1.2;

/// There is camping where padding helps down the columns and not along the rows.
fn camps(down: &[Contrast], along: &[Contrast]) -> String {
    let helps_along = |c: &Contrast| match along.iter().find(|a| a.x == c.x) {
        Some(control) => control.exceeds(c.ratio.sqrt()),
        None => Some(false),
    };
    let cured: Vec<Option<bool>> = down.iter().filter(|c| c.exceeds(CURED) == Some(true)).map(helps_along).collect();
    if down.is_empty() {
        return "Power-of-two strides were not compared with others.".to_owned();
    }
    if down.len() < FEWEST_POINTS {
        return format!("Whether power-of-two strides collide is {}.", undecided_few(down.len(), "pitch", "pitches"));
    }
    if cured.iter().filter(|helps_along| **helps_along == Some(false)).count() == 1 {
        return "Whether power-of-two strides collide is undecided: padding helps at one pitch alone.".to_owned();
    }
    if cured.contains(&Some(false)) {
        return "Power-of-two strides collide in memory channels or cache sets.".to_owned();
    }
    if cured.contains(&None) || any(down, Comparison::Unclear) {
        return format!("Whether power-of-two strides collide is {}.", undecided_factor(down.iter().chain(along)));
    }
    "Power-of-two strides do not collide in memory channels or cache sets.".to_owned()
}

fn trial(scope: &Scope<'_>, log: u64, (name, down, padding): (&str, u64, u64)) -> Trial {
    let target = scope.target;
    let params = [(COLUMNS.name, log), (PAD.name, padding), (DOWN.name, down), (ROUNDS.name, 1)];
    let wg = if target.gpu { lab::usual_wg(target) } else { 1 };
    let own = Own::of(&columns::FAMILY, "walk", Dtype::I32, 1 << scope.pick([25; 2], [24, 22]), wg);
    own.trial(scope, name, (1u64 << log) as f64, BANDWIDTH, &params)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{points_of, sentences};
    use super::*;

    #[test]
    fn one_pitch_decides_nothing() {
        let at = |pitches: &'static [f64], cured: &'static [f64]| {
            let mut points = points_of(&CAMPING, true, 0.01, |series, pitch| {
                if series == DOWN_PLAIN && cured.contains(&pitch) { 10.0 } else { 40.0 }
            });
            points.retain(|p| pitches.is_empty() || pitches.contains(&p.x));
            CAMPING.finding(&points)
        };
        assert!(at(&[1024.0], &[1024.0]).contains("collide is undecided: 1 pitch was measured"));
        assert!(at(&[1024.0, 2048.0], &[]).contains("collide is undecided: 2 pitches were measured"));
        assert!(at(&[], &[1024.0]).contains("collide is undecided: padding helps at one pitch alone"));
        assert!(at(&[], &[1024.0, 4096.0]).contains("strides collide in memory"));
    }

    #[test]
    fn sets_that_overflow() {
        let speed = |series: &str, pitch: f64| if series == DOWN_PLAIN && pitch > 1000.0 { 10.0 } else { 40.0 };
        insta::assert_snapshot!(sentences(&CAMPING, 0.01, speed), @r"
        Power-of-two strides collide in memory channels or cache sets.
        For a walk down the columns, padding each row by 32 words makes it up to 4.00 times as fast (pitch = 1024, 2048, 4096, 8192, 16384); for one along the rows, where padding cannot help, it changes the speed by less than 2 %.
        ");
    }

    #[test]
    fn no_camping() {
        insta::assert_snapshot!(sentences(&CAMPING, 0.01, |series, _| if series.starts_with("down") { 10.0 } else { 40.0 }), @r"
        Power-of-two strides do not collide in memory channels or cache sets.
        For a walk down the columns, padding each row by 32 words changes the speed by less than 2 %; for one along the rows, where padding cannot help, it changes the speed by less than 2 %.
        ");
        insta::assert_snapshot!(sentences(&CAMPING, 0.01, |series, _| if series.ends_with("padded") { 40.0 } else { 20.0 }), @r"
        Power-of-two strides do not collide in memory channels or cache sets.
        For a walk down the columns, padding each row by 32 words makes it up to 2.00 times as fast (pitch = 256, 512, 1024, 2048, 4096, 8192, 16384); for one along the rows, where padding cannot help, it makes it up to 2.00 times as fast (pitch = 256, 512, 1024, 2048, 4096, 8192, 16384).
        ");
    }

    #[test]
    fn noise_and_missing_points() {
        insta::assert_snapshot!(sentences(&CAMPING, 0.4, |series, _| if series == DOWN_PLAIN { 30.0 } else { 40.0 }), @r"
        Whether power-of-two strides collide is undecided: differences under 80 % cannot be seen in this run.
        For a walk down the columns, padding each row by 32 words has an effect that is undecided at pitch = 256, 512, 1024, 2048, 4096, 8192, 16384 (differences under 80 % cannot be seen in this run); for one along the rows, where padding cannot help, it has an effect that is undecided at pitch = 256, 512, 1024, 2048, 4096, 8192, 16384 (differences under 80 % cannot be seen in this run).
        To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.
        ");
        insta::assert_snapshot!(CAMPING.finding(&[]), @"Power-of-two strides were not compared with others. For a walk down the columns, padding each row by 32 words was not measured; for one along the rows, where padding cannot help, it was not measured.");
    }
}

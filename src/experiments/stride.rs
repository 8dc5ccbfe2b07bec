//! Strides: every word of an array is read or written once, in strides of 1 to 64 words.
//!
//! The accesses are the material's `(stride * i) % n`, continued from word 1 where they would begin again, so that the same
//! words are used whatever the stride. A device that fetches whole segments fetches more of them the further apart the
//! words lie, until each word has a segment of its own.

use super::evidence::{Knee, knee};
use super::walk::{self, GATHER, READ, READ_CACHED, SCATTER, WRITE};
use super::{Experiment, Scope, Trial};
use crate::kernels::Family;
use crate::record::Point;

/// The experiment's entry in the list.
pub struct Stride;

/// Bytes of the words that are accessed.
const WORD: f64 = 4.0;

impl Experiment for Stride {
    fn name(&self) -> &'static str {
        "stride"
    }

    fn question(&self) -> &'static str {
        "What do strides cost in reads and writes of global memory, and in segments of how many bytes is it moved?"
    }

    fn x_name(&self) -> &'static str {
        "stride"
    }

    fn families(&self) -> &'static [&'static Family] {
        &[&GATHER, &SCATTER]
    }

    fn plan(&self, scope: &Scope<'_>) -> Vec<Trial> {
        let strides = |series: walk::Series| (0..=6).map(move |log| series.trial(scope, 1 << log, log, 0)).collect();
        walk::series(scope.target).flat_map(|series| -> Vec<Trial> { strides(series) }).collect()
    }

    fn finding(&self, points: &[Point]) -> String {
        let told: Vec<String> = [("Reads", READ), ("Reads from cache", READ_CACHED), ("Writes", WRITE)]
            .iter()
            .filter_map(|(what, series)| sentence(what, knee(points, series)))
            .collect();
        if told.is_empty() { "No two strides were measured.".to_owned() } else { told.join(" ") }
    }
}

fn sentence(what: &str, knee: Knee) -> Option<String> {
    Some(match knee {
        Knee::Unmeasured => return None,
        Knee::Unclear => format!("{what}: the points do not tell what a stride costs."),
        Knee::Never => format!("{what} lose little by any stride: no segment shows."),
        Knee::Beyond { from, last } => {
            format!(
                "{what} lose with each doubling of the stride from {from} to {last}, the largest: no segment's end shows."
            )
        }
        Knee::Between { from, to } => format!(
            "{what} lose with each doubling of the stride from {from} to {to} and little beyond: memory comes in segments of \
             {} bytes.",
            WORD * to
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::super::own::points_of;
    use super::*;

    /// The finding on a GPU of which a series has `speed(series, stride)` GB/s, a sentence a line.
    fn sentences(gpu: bool, noise: f64, speed: fn(&str, f64) -> f64) -> String {
        Stride.finding(&points_of(&Stride, gpu, noise, speed)).replace(". ", ".\n")
    }

    #[test]
    fn segments_of_32_bytes_in_lines_of_64() {
        let speed = |series: &str, stride: f64| {
            let segment = if series == READ { 16.0 } else { 8.0 };
            4400.0 / stride.min(segment) * if stride > segment { 0.9 } else { 1.0 }
        };
        insta::assert_snapshot!(sentences(true, 0.02, speed), @r"
        Reads lose with each doubling of the stride from 1 to 16 and little beyond: memory comes in segments of 64 bytes.
        Reads from cache lose with each doubling of the stride from 1 to 8 and little beyond: memory comes in segments of 32 bytes.
        Writes lose with each doubling of the stride from 1 to 8 and little beyond: memory comes in segments of 32 bytes.
        ");
    }

    #[test]
    fn no_segments() {
        insta::assert_snapshot!(sentences(false, 0.02, |_, stride| 20.0 - stride / 32.0), @r"
        Reads lose little by any stride: no segment shows.
        Writes lose little by any stride: no segment shows.
        ");
    }

    #[test]
    fn segments_that_show_late_or_without_end() {
        let late = |series: &str, stride: f64| {
            if series == READ { 20.0 / (stride / 4.0).clamp(1.0, 4.0) } else { 20.0 / stride }
        };
        insta::assert_snapshot!(sentences(false, 0.02, late), @r"
        Reads lose with each doubling of the stride from 4 to 16 and little beyond: memory comes in segments of 64 bytes.
        Writes lose with each doubling of the stride from 1 to 64, the largest: no segment's end shows.
        ");
    }

    #[test]
    fn noise_and_missing_points() {
        insta::assert_snapshot!(sentences(false, 0.5, |_, stride| 20.0 / stride.min(4.0)), @r"
        Reads: the points do not tell what a stride costs.
        Writes: the points do not tell what a stride costs.
        ");
        let only_writes = |series: &str, stride: f64| if series == WRITE { 20.0 / stride.min(8.0) } else { f64::NAN };
        insta::assert_snapshot!(sentences(false, 0.02, only_writes), @"Writes lose with each doubling of the stride from 1 to 8 and little beyond: memory comes in segments of 32 bytes.");
        insta::assert_snapshot!(Stride.finding(&[]), @"No two strides were measured.");
    }
}

//! The verdict on a kernel that was timed in turn with an older one.

use crate::format::{self, Screen};
use crate::verdict::{Verdict, Word};
use gpulab_model::stats::summarise;
use gpulab_record::compare::RatioInterval;

/// One word first: then by how much, with the interval that holds it; both times, and the reason. `pairs` are the seconds
/// of the runs of the old and the new one: of kernels at this `size`, or of programs. Those that differ by less than `same` are alike.
pub fn text(
    verdict: &Verdict,
    pairs: &[[f64; 2]],
    size: Option<&str>,
    same: f64,
    screen: Screen,
) -> String {
    let by = verdict
        .ratio
        .map_or_else(String::new, |ratio| by(verdict.verdict, ratio, same));
    let [before, after] = [0, 1].map(|side| {
        let runs: Vec<f64> = pairs.iter().map(|pair| pair[side]).collect();
        summarise(&runs).map_or_else(String::new, |times| format::time(times.median))
    });
    let old = verdict.reference.as_deref().unwrap_or_default();
    let at = size.map_or_else(String::new, |size| format!(" with {size}"));
    let checked = match size {
        Some(_) => {
            "The results are those of the old kernel, over small numbers and at edge sizes too."
        }
        None => "What they print was not compared.",
    };
    let mut text = screen.wrap(&format!(
        "{}: {by}. {} takes {after}{at}, {} {before}; {} pairs of runs, in turn. {checked}",
        verdict.verdict.name(),
        format::terminal(&verdict.subject),
        format::terminal(old),
        pairs.len()
    ));
    if !verdict.reason.is_empty() {
        text += &screen.wrap_foreign(&verdict.reason);
    }
    text
}

/// The word of a verdict, and why it is this one.
pub fn headline(verdict: &Verdict, screen: Screen) -> String {
    screen.wrap_foreign(&format!("{}: {}", verdict.verdict.name(), verdict.reason))
}

fn by(word: Word, RatioInterval { ratio, low, high }: RatioInterval, same: f64) -> String {
    let factor = |ratio: f64| ratio.max(1.0 / ratio);
    let times = |ratio: f64| format!("{:.3}", factor(ratio));
    let direction = |ratio: f64| if ratio < 1.0 { "faster" } else { "slower" };
    match word {
        Word::Faster | Word::Slower => {
            let mut ends = [low, high].map(factor);
            ends.sort_by(f64::total_cmp);
            let [low, high] = ends.map(times);
            format!("{} times ({low} to {high})", times(ratio))
        }
        Word::Same => format!("within {:.0} %", 100.0 * same),
        _ => {
            let [low, high] =
                [low, high].map(|end| format!("{} times {}", times(end), direction(end)));
            format!("between {low} and {high}")
        }
    }
}

//! The verdict on a kernel that was timed in turn with an older one.

use crate::format::{self, Screen};
use gpulab_model::stats::summarise;
use gpulab_record::compare::{RatioInterval, SpeedVerdict};

/// One word first: then by how much, with the interval that holds it, and both times. `kernels` are the old and the new one, `times`
/// those of their runs in seconds; kernels that differ by less than `same` are alike.
pub fn text(
    ([old, new], times): ([&str; 2], &[Vec<f64>; 2]),
    interval: &RatioInterval,
    verdict: SpeedVerdict,
    same: f64,
    screen: Screen,
) -> String {
    let RatioInterval { ratio, low, high } = *interval;
    let times_of = |ratio: f64| format!("{:.3}", ratio.max(1.0 / ratio));
    let faster = |ratio: f64| if ratio < 1.0 { "faster" } else { "slower" };
    let by = match verdict {
        SpeedVerdict::Faster | SpeedVerdict::Slower => {
            let (near, far) = if ratio < 1.0 {
                (high, low)
            } else {
                (low, high)
            };
            let [ratio, near, far] = [ratio, near, far].map(times_of);
            format!("{ratio} times ({near} to {far})")
        }
        SpeedVerdict::Same => format!("within {:.0} %", 100.0 * same),
        SpeedVerdict::Undecided => {
            let [low, high] =
                [low, high].map(|end| format!("{} times {}", times_of(end), faster(end)));
            format!("between {low} and {high}; a larger --budget may decide")
        }
    };
    let [before, after] = times
        .each_ref()
        .map(|runs| summarise(runs).map_or_else(String::new, |times| format::time(times.median)));
    let runs = times[1].len();
    screen.wrap(&format!(
        "{}: {by}. {} takes {after}, {} {before}; {runs} runs of each, in turn. The results are those of the old kernel, over small numbers and at edge sizes too.",
        verdict.name(),
        format::terminal(new),
        format::terminal(old),
    ))
}

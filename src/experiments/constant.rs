//! Constant memory: a small table read by all items at the same address, or by neighbours at up to 32 different ones.
//!
//! Some devices hand one word of `__constant` memory to all items in lockstep at once, but take turns for different
//! words. The same reads of `__global` memory, cached as well, are the control.

use super::evidence::{Contrast, Verdict, compare};
use super::own::Own;
use super::{Experiment, Scope, Trial, plain};
use crate::data::Dtype;
use crate::kernels::lab;
use crate::kernels::lab::ROUNDS;
use crate::kernels::lab::constant::{self, GLOBAL, IN_CONSTANT, IN_GLOBAL, PLACES};
use crate::record::{BANDWIDTH, Point};

/// Different addresses, one and the most first in the finding.
const MOST: u64 = 32;

/// The experiment's entry in the list.
pub const CONSTANT: Experiment = Experiment {
    name: "constant",
    question: "What do reads of constant memory cost where neighbouring items read one address, and where they read several?",
    x_name: "addresses",
    x_label: plain,
    has_timeline: false,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let places = (0..=MOST.ilog2()).map(|log| 1u64 << log);
    places.flat_map(|places| [(IN_CONSTANT, 0), (IN_GLOBAL, 1)].map(|space| trial(scope, places, space))).collect()
}

fn finding(points: &[Point]) -> String {
    let spread = |name| compare(points, (name, MOST as f64), (name, 1.0));
    let Some(constant) = spread(IN_CONSTANT) else {
        return "Reads of constant memory at one address and at several were not both measured.".to_owned();
    };
    let global = spread(IN_GLOBAL).map(|c| format!(", and those of __global memory {}", told(&c)));
    let beside = compare(points, (IN_CONSTANT, 1.0), (IN_GLOBAL, 1.0));
    let beside = beside.map(|c| format!(" At one address __constant memory is {} __global.", beside_global(&c)));
    format!(
        "At {MOST} addresses in place of one, reads of __constant memory {}{}.{}",
        told(&constant),
        global.unwrap_or_default(),
        beside.unwrap_or_default()
    )
}

fn beside_global(contrast: &Contrast) -> String {
    match contrast.verdict {
        Verdict::Higher | Verdict::Lower => format!("{:.2} times as fast as", contrast.ratio),
        Verdict::Same => "as fast as".to_owned(),
        Verdict::Unclear => "within the spread of".to_owned(),
    }
}

/// What a change comes to, as the end of a sentence.
fn told(contrast: &Contrast) -> String {
    match contrast.verdict {
        Verdict::Higher => format!("rise to {:.2} times the speed", contrast.ratio),
        Verdict::Lower => format!("fall to {:.2} times the speed", contrast.ratio),
        Verdict::Same => "keep their speed".to_owned(),
        Verdict::Unclear => "change by no more than the spread".to_owned(),
    }
}

fn trial(scope: &Scope<'_>, places: u64, (name, is_global): (&str, u64)) -> Trial {
    let own = Own {
        family: &constant::FAMILY,
        variant: "table",
        dtype: Dtype::I32,
        n: lab::items(scope.target),
        wg: lab::usual_wg(scope.target),
        params: &[(PLACES.name, places), (GLOBAL.name, is_global), (ROUNDS.name, 128)],
    };
    own.trial(scope, name, places as f64, BANDWIDTH)
}

#[cfg(test)]
mod tests {
    use super::super::tests::points_of;
    use super::*;

    /// The finding where a series has `speed(series, addresses)` GB/s.
    fn finding(noise: f64, speed: fn(&str, f64) -> f64) -> String {
        CONSTANT.finding(&points_of(&CONSTANT, true, noise, speed))
    }

    #[test]
    fn a_constant_cache_that_takes_turns() {
        let speed = |series: &str, places: f64| if series == IN_CONSTANT { 16000.0 / places } else { 9000.0 };
        insta::assert_snapshot!(finding(0.01, speed), @"At 32 addresses in place of one, reads of __constant memory fall to 0.03 times the speed, and those of __global memory keep their speed. At one address __constant memory is 1.78 times as fast as __global.");
    }

    #[test]
    fn memory_like_any_other() {
        insta::assert_snapshot!(finding(0.01, |_, _| 40.0), @"At 32 addresses in place of one, reads of __constant memory keep their speed, and those of __global memory keep their speed. At one address __constant memory is as fast as __global.");
    }

    #[test]
    fn noise_and_missing_points() {
        insta::assert_snapshot!(finding(0.4, |_, places| 40.0 - places / 4.0), @"At 32 addresses in place of one, reads of __constant memory change by no more than the spread, and those of __global memory change by no more than the spread. At one address __constant memory is within the spread of __global.");
        insta::assert_snapshot!(finding(0.01, |series, _| if series == IN_CONSTANT { 40.0 } else { f64::NAN }), @"At 32 addresses in place of one, reads of __constant memory keep their speed.");
        insta::assert_snapshot!(CONSTANT.finding(&[]), @"Reads of constant memory at one address and at several were not both measured.");
    }
}

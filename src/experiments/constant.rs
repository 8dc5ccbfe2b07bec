//! Constant memory: a small table read by all items at the same address, or by neighbours at up to 32 different ones.
//!
//! Some devices hand one word of `__constant` memory to all items in lockstep at once, but take turns for different
//! words. The same reads of `__global` memory, cached as well, are the control.

use super::evidence::{compare, pace_beside};
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
    question: "How fast is constant memory where neighbouring items read one address, and where they read several?",
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
    let one = "at one address";
    let global = spread(IN_GLOBAL).map(|c| format!(" Reads of __global memory are {}.", pace_beside(&c, one)));
    let beside = compare(points, (IN_CONSTANT, 1.0), (IN_GLOBAL, 1.0));
    let beside = beside.map(|c| format!(" At one address __constant is {}.", pace_beside(&c, "__global memory")));
    format!(
        "Where neighbouring items read {MOST} addresses, reads of __constant memory are {}.{}{}",
        pace_beside(&constant, one),
        global.unwrap_or_default(),
        beside.unwrap_or_default()
    )
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
        insta::assert_snapshot!(finding(0.01, speed), @"Where neighbouring items read 32 addresses, reads of __constant memory are 32.0 times slower than at one address. Reads of __global memory are as fast as at one address. At one address __constant is 1.78 times as fast as __global memory.");
    }

    #[test]
    fn memory_like_any_other() {
        insta::assert_snapshot!(finding(0.01, |_, _| 40.0), @"Where neighbouring items read 32 addresses, reads of __constant memory are as fast as at one address. Reads of __global memory are as fast as at one address. At one address __constant is as fast as __global memory.");
    }

    #[test]
    fn noise_and_missing_points() {
        insta::assert_snapshot!(finding(0.4, |_, places| 40.0 - places / 4.0), @"Where neighbouring items read 32 addresses, reads of __constant memory are not clearly faster or slower than at one address (undecided: differences under 80 % cannot be seen in this run). Reads of __global memory are not clearly faster or slower than at one address (undecided: differences under 80 % cannot be seen in this run). At one address __constant is not clearly faster or slower than __global memory (undecided: differences under 80 % cannot be seen in this run).");
        insta::assert_snapshot!(finding(0.01, |series, _| if series == IN_CONSTANT { 40.0 } else { f64::NAN }), @"Where neighbouring items read 32 addresses, reads of __constant memory are as fast as at one address.");
        insta::assert_snapshot!(CONSTANT.finding(&[]), @"Reads of constant memory at one address and at several were not both measured.");
    }
}

//! Constant memory: a small table read by all items at the same address, or by neighbours at up to 32 different ones.
//!
//! Some devices hand one word of `__constant` memory to all items in lockstep at once, but take turns for different
//! words. The same reads of `__global` memory, cached as well, are the control. A compiler may read a `__constant` argument as
//! it reads global memory: on an NVIDIA H200 both were equally fast at every number of addresses. A table in the program has a
//! place that the compiler knows. Whether two paths were compared at all is told from the points: two paths answer
//! differently to the number of addresses, one path does not.

use super::prelude::*;
use gpulab_kernels::lab::constant::{self, GLOBAL, IN_CONSTANT, IN_GLOBAL, IN_PROGRAM, PLACES, PROGRAM};

/// Different addresses, one and the most first in the finding.
const MOST: u64 = 32;

pub const CONSTANT: Experiment = Experiment {
    name: "constant",
    question: "How fast is constant memory where neighbouring items read one address, and where they read several?",
    about: Explanation {
        idea: "All items read a small table at one address, or neighbours at several: as a __constant argument, as a \
               table in the program, and, for control, in global memory.",
        expect: "A constant cache hands one word to all items of a warp at once and takes turns for different ones: its \
               rate falls with the number of addresses, where that of global memory falls less.",
        but: "A compiler may read a __constant argument as it reads global memory: then both are one path. CPU drivers \
               have one memory for all of them.",
        cuda: "__constant__ memory, whose cache broadcasts one word to a warp.",
    },
    x_name: "addresses",
    x_label: plain,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let places = (0..=MOST.ilog2()).map(|log| 1u64 << log);
    places.flat_map(|places| SERIES.map(|series| trial(scope, places, series))).collect()
}

/// Where the table is: series, rungs, and their setting.
const SERIES: [(&str, &str, (&str, u64)); 3] = [
    (IN_CONSTANT, "table", (GLOBAL.name, 0)),
    (IN_PROGRAM, "program", (PROGRAM.name, 1)),
    (IN_GLOBAL, "table", (GLOBAL.name, 1)),
];

/// How findings name the constant series.
const CONSTANTS: [(&str, &str); 2] =
    [("a __constant argument", IN_CONSTANT), ("a __constant table in the program", IN_PROGRAM)];

fn finding(points: &[Point]) -> String {
    let sentences = joined([spreads(points), at_one_address(points), paths(points)], " ");
    let otherwise = "Reads of constant memory at one address and at several were not both measured.";
    sentences.unwrap_or_else(|| nothing(points, otherwise))
}

fn spreads(points: &[Point]) -> Option<String> {
    let global = ("global memory", IN_GLOBAL);
    let all = CONSTANTS.into_iter().chain([global]).map(|(what, name)| {
        let spread = compare(points, (name, MOST as f64), (name, 1.0))?;
        Some(format!("of {what} are {}", pace_beside(&spread, "at one address")))
    });
    Some(format!("Where neighbouring items read {MOST} addresses, reads {}.", joined(all, "; ")?))
}

/// Constant memory beside global memory where all items read one address.
fn at_one_address(points: &[Point]) -> Option<String> {
    let all = CONSTANTS.into_iter().map(|(what, name)| {
        let beside = compare(points, (name, 1.0), (IN_GLOBAL, 1.0))?;
        Some(format!("{what} is {}", pace_beside(&beside, "global memory")))
    });
    Some(format!("At one address {}.", joined(all, "; ")?))
}

/// Whether constant memory was read by a path of its own, as far as the points tell.
fn paths(points: &[Point]) -> Option<String> {
    let beside = |name| compare_series(points, name, IN_GLOBAL, |places| places == 1.0 || places == MOST as f64);
    let all = joined(CONSTANTS.map(|(what, name)| path(what, &beside(name))), "; ")?;
    let first = all.get(..1)?.to_uppercase();
    Some(format!("{first}{}.", &all[1..]))
}

/// A path of its own changes the ratio to global memory by more than this from one address to the most.
const OWN: f64 = 1.25;

/// What the ratios to global memory at one address and at the most say of a path. Every number between would give the noise
/// one more chance.
fn path(what: &str, beside: &[Contrast]) -> Option<String> {
    let [one, most] = beside else { return None };
    let described = |amount| {
        let least = percent(OWN - 1.0);
        format!("its speed relative to global memory changes by {amount} than {least} from 1 address to {MOST}")
    };
    Some(match [one.exceeds_other(most, OWN), most.exceeds_other(one, OWN)] {
        [Some(true), _] | [_, Some(true)] => format!("{what} shows a path of its own: {}", described("more")),
        [Some(false), Some(false)] => format!("{what} shows no path of its own: {}", described("less")),
        _ => format!("whether {what} has a path of its own is {}", undecided_factor(beside)),
    })
}

fn trial(scope: &Scope<'_>, places: u64, (name, variant, place): (&str, &'static str, (&'static str, u64))) -> Trial {
    let own = Own::of(&constant::FAMILY, variant, Dtype::I32, lab::items(scope.target), lab::usual_wg(scope.target));
    own.trial(scope, name, places as f64, BANDWIDTH, &[(PLACES.name, places), place, (ROUNDS.name, 128)])
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
        insta::assert_snapshot!(finding(0.01, |series: &str, places: f64| if series == IN_GLOBAL { 9000.0 } else { 16000.0 / places }), @"Where neighbouring items read 32 addresses, reads of a __constant argument are 32.0 times slower than at one address; of a __constant table in the program are 32.0 times slower than at one address; of global memory are as fast as at one address (to within 2 %). At one address a __constant argument is 1.78 times as fast as global memory; a __constant table in the program is 1.78 times as fast as global memory. A __constant argument shows a path of its own: its speed relative to global memory changes by more than 25 % from 1 address to 32; a __constant table in the program shows a path of its own: its speed relative to global memory changes by more than 25 % from 1 address to 32.");
        // An argument that is read as global memory.
        let argument =
            |series: &str, places: f64| if series == IN_PROGRAM { 16000.0 / places } else { 9000.0 / places.sqrt() };
        insta::assert_snapshot!(finding(0.01, argument), @"Where neighbouring items read 32 addresses, reads of a __constant argument are 5.66 times slower than at one address; of a __constant table in the program are 32.0 times slower than at one address; of global memory are 5.66 times slower than at one address. At one address a __constant argument is as fast as global memory (to within 2 %); a __constant table in the program is 1.78 times as fast as global memory. A __constant argument shows no path of its own: its speed relative to global memory changes by less than 25 % from 1 address to 32; a __constant table in the program shows a path of its own: its speed relative to global memory changes by more than 25 % from 1 address to 32.");
    }

    #[test]
    fn memory_like_any_other_noise_and_missing_points() {
        insta::assert_snapshot!(finding(0.01, |_, _| 40.0), @"Where neighbouring items read 32 addresses, reads of a __constant argument are as fast as at one address (to within 2 %); of a __constant table in the program are as fast as at one address (to within 2 %); of global memory are as fast as at one address (to within 2 %). At one address a __constant argument is as fast as global memory (to within 2 %); a __constant table in the program is as fast as global memory (to within 2 %). A __constant argument shows no path of its own: its speed relative to global memory changes by less than 25 % from 1 address to 32; a __constant table in the program shows no path of its own: its speed relative to global memory changes by less than 25 % from 1 address to 32.");
        insta::assert_snapshot!(finding(0.01, |series, _| if series == IN_GLOBAL { 40.0 } else { 50.0 }), @"Where neighbouring items read 32 addresses, reads of a __constant argument are as fast as at one address (to within 2 %); of a __constant table in the program are as fast as at one address (to within 2 %); of global memory are as fast as at one address (to within 2 %). At one address a __constant argument is 1.25 times as fast as global memory; a __constant table in the program is 1.25 times as fast as global memory. A __constant argument shows no path of its own: its speed relative to global memory changes by less than 25 % from 1 address to 32; a __constant table in the program shows no path of its own: its speed relative to global memory changes by less than 25 % from 1 address to 32.");
        insta::assert_snapshot!(finding(0.4, |_, places| 40.0 - places / 4.0), @"Where neighbouring items read 32 addresses, reads of a __constant argument are not clearly faster or slower than at one address (undecided: differences under 80 % cannot be seen in this run); of a __constant table in the program are not clearly faster or slower than at one address (undecided: differences under 80 % cannot be seen in this run); of global memory are not clearly faster or slower than at one address (undecided: differences under 80 % cannot be seen in this run). At one address a __constant argument is not clearly faster or slower than global memory (undecided: differences under 80 % cannot be seen in this run); a __constant table in the program is not clearly faster or slower than global memory (undecided: differences under 80 % cannot be seen in this run). Whether a __constant argument has a path of its own is undecided: differences under 80 % cannot be seen in this run; whether a __constant table in the program has a path of its own is undecided: differences under 80 % cannot be seen in this run. To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.");
        insta::assert_snapshot!(finding(0.01, |series, _| if series == IN_CONSTANT { 40.0 } else { f64::NAN }), @"Where neighbouring items read 32 addresses, reads of a __constant argument are as fast as at one address (to within 2 %).");
        insta::assert_snapshot!(CONSTANT.finding(&[]), @"Nothing was measured.");
    }
}

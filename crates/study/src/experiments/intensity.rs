//! Arithmetic intensity: the same bytes with ever more operations on them, from a copy to 128 operations a byte.
//!
//! S. Williams, A. Waterman and D. Patterson, "Roofline: An Insightful Visual Performance Model for Multicore
//! Architectures" (CACM 52(4), 2009). The copy, with no operation at all, is the control of memory's limit. A rate that
//! a doubling of the operations no longer raises is arithmetic's, of this kernel's multiplications with additions. The
//! second pair asks what follows for a value that can be computed again. There x is the operations that make a value,
//! by byte of the value; the other kernel loads it.

use super::prelude::*;
use gpulab_kernels::lab::intensity::{INTENSITY as STEPPING, RECOMPUTE, RELOAD, STEPS, VEC, VECTORS};

const MEMORY: &str = "read and write";
const AGAIN: &str = "recompute";
const LOADED: &str = "reload";

pub const INTENSITY: Experiment = Experiment {
    name: "intensity",
    question: "How many operations a byte does memory's time hide, and is it cheaper to compute a value again or to \
               load it?",
    about: Explanation {
        idea: "The same bytes are read and written with ever more operations on them, from a copy on; and a value is \
               computed again where another kernel loads it.",
        expect: "Up to some operations a byte the time is the copy's: memory is the limit. Beyond, the time grows with \
               the operations; where memory's time hides them, computing again is cheaper than loading.",
        but: "The place of the bend is this kernel's: slower operations reach it earlier, and data in a cache later.",
        cuda: "The roofline's ridge: memory-bound kernels lie on one side of it, compute-bound ones on the other.",
    },
    x_name: "ops/byte",
    x_label: fraction,
    plan,
    finding,
};

/// `1/8`, or `16`.
fn fraction(x: f64) -> String {
    if x > 0.0 && x < 1.0 { format!("1/{}", 1.0 / x) } else { x.to_string() }
}

/// Operations a byte, ascending: from 1/8, or of values that can be computed again from 1/2, to 128, or 64. The last
/// doubling is always there.
fn intensities(quick: bool, from: i32) -> impl Iterator<Item = f64> {
    let most = if quick { 6 } else { 7 };
    (from..=most).filter(move |log| !quick || log % 2 != 0 || *log == most).map(|log| 2f64.powi(log))
}

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let memory = std::iter::once(0.0).chain(intensities(scope.quick, -3));
    let memory = memory.map(|x| trial(scope, MEMORY, x));
    let values = || intensities(scope.quick, -1);
    let again = values().map(|x| trial(scope, AGAIN, x));
    let ends = [values().next(), values().last()].into_iter().flatten();
    memory.chain(again).chain(ends.map(|x| trial(scope, LOADED, x))).collect()
}

/// Bytes of an element, and of an element read and written.
const SIZE: f64 = 4.0;
const MOVED: f64 = 2.0 * SIZE;

fn trial(scope: &Scope<'_>, name: &str, x: f64) -> Trial {
    let (family, variant, metric, bytes) = match name {
        AGAIN => (&RECOMPUTE, "again", TIME, SIZE),
        LOADED => (&RELOAD, "table", TIME, SIZE),
        _ => (&STEPPING, "steps", BANDWIDTH, MOVED),
    };
    let target = scope.target;
    // More than caches hold.
    let bits = scope.pick([25, 24], [24, 23]);
    // Two operations a step.
    let steps = (x * bytes / 2.0 * VECTORS as f64) as u64;
    let params = [(STEPS.name, steps), (VEC.name, lanes(target)), (ROUNDS.name, 1)];
    let wg = if target.gpu { lab::usual_wg(target) } else { target.max_wg.min(64) };
    Own::of(family, variant, Dtype::F32, 1 << bits, wg).trial(scope, name, x, metric, &params)
}

/// Floats of a vector: compilers for CPUs do not join items' long loops, and get vectors as wide as the device's.
fn lanes(target: &Target) -> u64 {
    if target.gpu { 1 } else { u64::from(target.float_lanes.clamp(4, 16)).next_power_of_two() }
}

fn finding(points: &[Point]) -> String {
    let sentences = joined([roofline(points), pair(points)], " ");
    sentences.unwrap_or_else(|| nothing(points, "No two points can be compared."))
}

/// Where memory's limit is kept: what is left of the copy's bandwidth is at least this.
const KEPT: f64 = 0.9;
/// A doubling of the operations that leaves at most this part of the bandwidth is paid for: it would be a half.
const PAID: f64 = 0.6;

fn roofline(points: &[Point]) -> Option<String> {
    let all = series(points, MEMORY);
    let copy = *all.first().filter(|p| p.x == 0.0)?;
    let copied = copy.measured()?;
    let more = &all[1..];
    let last = more.last()?;
    let shares: Vec<Contrast> = more.iter().filter_map(|p| Contrast::new(p, copy)).collect();
    let kept = shares.iter().take_while(|c| c.exceeds(KEPT) == Some(true)).last().map_or(0.0, |c| c.x);
    let lost = shares.iter().find(|c| c.x > kept);
    let memory = match (kept > 0.0, lost) {
        (_, Some(c)) if c.exceeds(KEPT).is_none() => {
            let least = if kept > 0.0 { format!("beyond {} ", fraction(kept)) } else { String::new() };
            format!("Where memory stops being the limit {least}is {} (at {})", undecided_factor([c]), fraction(c.x))
        }
        (_, None) => {
            format!("Memory is the limit up to {} operations a byte ({} GB/s)", fraction(kept), rounded(copied))
        }
        (true, Some(c)) => format!(
            "Memory is the limit up to {} operations a byte ({} GB/s), and no longer at {}",
            fraction(kept),
            rounded(copied),
            fraction(c.x)
        ),
        (false, Some(c)) => {
            format!("Memory is not the limit even at {} operations a byte: a copy is faster", fraction(c.x))
        }
    };
    let doubling = compare(points, (MEMORY, last.x), (MEMORY, last.x / 2.0));
    let rate = last.measured()? * last.x;
    let arithmetic = match doubling.map(|c| c.exceeds(PAID)) {
        Some(Some(false)) => format!(
            "at {} arithmetic is, with {} Gop/s; the two limits meet at {} operations a byte",
            fraction(last.x),
            rounded(rate),
            rounded(rate / copied)
        ),
        Some(Some(true)) => format!("up to {} arithmetic's limit does not show", fraction(last.x)),
        Some(None) => format!(
            "whether {} operations a byte reach arithmetic's limit is {}",
            fraction(last.x),
            undecided_factor(&doubling)
        ),
        None => format!("whether {} operations a byte reach arithmetic's limit was not measured", fraction(last.x)),
    };
    Some(format!("{memory}; {arithmetic}."))
}

/// Two decimals below ten, one below a hundred, else none.
fn rounded(value: f64) -> String {
    let decimals = [10.0, 100.0].iter().position(|&end| value < end).map_or(0, |more| 2 - more);
    format!("{value:.decimals$}")
}

/// The sentences on values that are computed again or loaded.
fn pair(points: &[Point]) -> Option<String> {
    let over = compare_with_last(points, AGAIN, LOADED);
    over.first()?;
    if over.len() < FEWEST_POINTS {
        let few = undecided_few(over.len(), "number of operations", "numbers of operations");
        return Some(format!("Whether computing a float again is cheaper than loading it is {few}."));
    }
    let ends = series(points, LOADED);
    let control = match ends.as_slice() {
        [a, .., b] => Contrast::new(b, a).map(|c| c.verdict),
        _ => None,
    };
    let control = match control {
        Some(Comparison::Same) => "",
        Some(Comparison::Unclear) => " The control, loads measured twice, is undecided, as it is too noisy.",
        Some(_) => " The control failed: loads measured twice took different times, so the device was unsteady.",
        None => " Loads were not measured twice as a control.",
    };
    Some(format!("{}.{control}", cheaper(&over)))
}

/// Up to how many operations computing a float again is cheaper than loading it, and from how many on it is dearer.
fn cheaper(over: &[Contrast]) -> String {
    let is = |verdict| move |c: &Contrast| c.verdict == verdict;
    let operations = |c: &Contrast| format!("{} operations", c.x * SIZE);
    let (before, rest) = over.split_at(over.iter().rposition(is(Comparison::Lower)).map_or(0, |last| last + 1));
    let after = &rest[rest.iter().position(is(Comparison::Higher)).unwrap_or(rest.len())..];
    let up_to = if before.iter().all(is(Comparison::Lower)) { "up to" } else { "at" };
    let on = if after.iter().all(is(Comparison::Higher)) { " on" } else { "" };
    let from = if on.is_empty() { "at" } else { "from" };
    let again = "Computing a float again is";
    match (before.last(), after.first()) {
        (Some(c), Some(d)) => {
            format!(
                "{again} cheaper than loading it {up_to} {}, and dearer {from} {}{on}",
                operations(c),
                operations(d)
            )
        }
        (Some(c), None) if rest.is_empty() => {
            format!("{again} cheaper than loading it {up_to} {}, the most measured", operations(c))
        }
        (Some(c), None) => {
            let more = match any(rest, Comparison::Unclear) {
                true => format!("whether it is dearer with more is {}", undecided(rest)),
                false => format!("as fast with more ({})", within(rest)),
            };
            format!("{again} cheaper than loading it {up_to} {}, and {more}", operations(c))
        }
        (None, Some(d)) if after.len() == over.len() => {
            format!("{again} dearer than loading it {from} {}{on}, the fewest measured", operations(d))
        }
        (None, Some(d)) => {
            let fewer: Vec<Contrast> = over.iter().filter(|c| c.verdict != Comparison::Higher).copied().collect();
            let fewer = match any(&fewer, Comparison::Unclear) {
                true => format!("whether it is cheaper with fewer is {}", undecided(&fewer)),
                false => format!("as fast with fewer ({})", within(&fewer)),
            };
            format!("{again} dearer than loading it {from} {}{on}, and {fewer}", operations(d))
        }
        (None, None) if any(over, Comparison::Unclear) => {
            format!("Whether computing a float again or loading it is cheaper is {}", undecided(over))
        }
        (None, None) => format!("{again} as fast as loading it ({})", within(over)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::points_of;
    use super::*;

    /// The finding of a device with this bandwidth in GB/s and rate in Gop/s; loading 1000 values takes 12 of its bytes each.
    fn finding(noise: f64, bandwidth: f64, rate: f64) -> String {
        let time = |bytes: f64, ops: f64| (bytes / bandwidth).max(ops / rate);
        let points = points_of(&INTENSITY, true, noise, |series, x| match series {
            MEMORY => 1.0 / time(1.0, x),
            AGAIN => time(8000.0, 4000.0 * x),
            _ => time(12000.0, 1000.0),
        });
        INTENSITY.finding(&points)
    }

    #[test]
    fn limits_that_meet_at_20_and_limits_that_do_not_show() {
        insta::assert_snapshot!(finding(0.01, 1000.0, 20000.0), @"Memory is the limit up to 16 operations a byte (1000 GB/s), and no longer at 32; at 128 arithmetic is, with 20000 Gop/s; the two limits meet at 20.0 operations a byte. Computing a float again is cheaper than loading it up to 128 operations, and dearer from 256 operations on.");
        insta::assert_snapshot!(finding(0.01, 10.0, 20000.0), @"Memory is the limit up to 128 operations a byte (10.0 GB/s); up to 128 arithmetic's limit does not show. Computing a float again is cheaper than loading it up to 512 operations, the most measured.");
        insta::assert_snapshot!(finding(0.01, 20000.0, 1000.0), @"Memory is not the limit even at 1/8 operations a byte: a copy is faster; at 128 arithmetic is, with 1000 Gop/s; the two limits meet at 0.05 operations a byte. Computing a float again is dearer than loading it from 2 operations on, the fewest measured.");
    }

    #[test]
    fn noise_and_missing_points() {
        insta::assert_snapshot!(finding(0.3, 1000.0, 20000.0), @"Where memory stops being the limit is undecided: differences under 60 % cannot be seen in this run (at 1/8); whether 128 operations a byte reach arithmetic's limit is undecided: differences under 60 % cannot be seen in this run. Computing a float again is dearer than loading it from 512 operations on, and whether it is cheaper with fewer is undecided: differences under 60 % cannot be seen in this run. The control, loads measured twice, is undecided, as it is too noisy. To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.");
        insta::assert_snapshot!(INTENSITY.finding(&[]), @"Nothing was measured.");
        let part = |name: &'static str| {
            let points =
                points_of(&INTENSITY, false, 0.01, |series, x| if series == name { 10.0 + x } else { f64::NAN });
            INTENSITY.finding(&points)
        };
        insta::assert_snapshot!(part(AGAIN), @"No two points can be compared.");
        insta::assert_snapshot!(part(MEMORY), @"Memory is the limit up to 128 operations a byte (10.0 GB/s); up to 128 arithmetic's limit does not show.");
    }

    #[test]
    fn a_device_that_changed_between_the_controls() {
        let points = points_of(&INTENSITY, true, 0.01, |series, x| if series == LOADED { 10.0 + x } else { 50.0 });
        insta::assert_snapshot!(INTENSITY.finding(&points), @"Memory is the limit up to 128 operations a byte (50.0 GB/s); up to 128 arithmetic's limit does not show. Computing a float again is cheaper than loading it up to 512 operations, the most measured. The control failed: loads measured twice took different times, so the device was unsteady.");
    }

    #[test]
    fn steps_are_whole_and_even() {
        let target = gpulab_model::outcome::fake_info().target;
        let plan = INTENSITY.plan(&Scope { target: &target, quick: false, seed: 1 });
        let steps = |name: &str, x: f64| {
            let trial = plan.iter().find(|t| t.series == name && t.x == x).unwrap();
            trial.case.params[STEPS.name].clone()
        };
        assert_eq!([0.0, 0.125, 1.0, 128.0].map(|x| steps(MEMORY, x)), ["0", "2", "16", "2048"]);
        assert_eq!([0.5, 128.0].map(|x| steps(AGAIN, x)), ["4", "1024"]);
    }
}

//! The size of a work-group, on and off the multiples of the lanes in lockstep, with registers and local memory per item held
//! fixed.
//!
//! Where work-items run in lockstep, a group whose size is no multiple of the lanes leaves some of them idle: 48 items take
//! two warps of 32, of whose lanes 75 % have an item. Whether that, and nothing else, is what sizes off the multiples cost
//! is read from the points, for each number of lanes that devices have; the control is the multiples of 64 among themselves,
//! which leave no lane idle on any of these. Chains of arithmetic with a barrier at their begin are the work, so that neither
//! memory nor latency rewards one size. Occupancy stands beside it where gpulab can work it out from what the driver tells.

use super::evidence::{Contrast, compare, nothing, percent, series};
use super::own::Own;
use super::{Experiment, Scope, Trial, plain};
use crate::data::Dtype;
use crate::kernels::lab::{ROUNDS, group};
use crate::plan::TOLD;
use crate::record::{Metric, Point, RATE, Row};

const NAME: &str = "rate";
const HELD: &str = "occupancy";

/// Of the warps that a compute unit can hold, those that it does.
const OCCUPANCY: Metric = Metric { name: "occupancy", unit: "%", of: |row: &Row| row.occupancy_pct };

/// Sizes on and off the multiples, ascending. Each that is off has the next multiple of 64 beside it.
const SIZES: [usize; 20] = [8, 16, 24, 32, 40, 48, 64, 80, 96, 100, 128, 160, 192, 200, 256, 320, 500, 512, 1000, 1024];
const QUICK: [usize; 9] = [16, 32, 48, 64, 96, 100, 128, 200, 256];

/// The lanes of a warp, a wavefront or a vector, the most first; 1 is no lockstep.
const LANES: [u64; 6] = [1, 64, 32, 16, 8, 4];
/// Their largest: its multiples leave no lane idle.
const MULTIPLE: u64 = 64;

/// The experiment's entry in the list.
pub const GROUP: Experiment = Experiment {
    name: "group",
    question: "Which work-group sizes are fast, and do sizes off the warp's multiple cost what their idle lanes account for?",
    x_name: "wg",
    x_label: plain,
    has_timeline: false,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let sizes: &[usize] = if scope.quick { &QUICK } else { &SIZES };
    let sizes = || sizes.iter().copied().filter(|&wg| wg <= scope.target.max_wg);
    let rates = sizes().map(|wg| trial(scope, NAME, wg, RATE));
    // Only NVIDIA's driver tells of the registers that occupancy follows from.
    let held = sizes().filter(|_| scope.target.register_caps).map(|wg| trial(scope, HELD, wg, OCCUPANCY));
    rates.chain(held).collect()
}

fn trial(scope: &Scope<'_>, name: &str, wg: usize, metric: Metric) -> Trial {
    let target = scope.target;
    // So many groups that the last ones, which run when others have ended, count little.
    let items = u64::from(target.compute_units.max(1)) * if target.gpu { 1 << 16 } else { 1 << 12 };
    let mut params = vec![(ROUNDS.name, if target.gpu { 64 } else { 32 })];
    if name == HELD {
        params.push((TOLD, 1));
    }
    let own = Own {
        family: &group::FAMILY,
        variant: "held",
        dtype: Dtype::F32,
        n: items.next_multiple_of(wg as u64),
        wg,
        params: &params,
    };
    own.trial(scope, name, wg as f64, metric)
}

fn finding(points: &[Point]) -> String {
    let all = series(points, NAME);
    let best = all.iter().max_by(|a, b| a.measured().unwrap_or(0.0).total_cmp(&b.measured().unwrap_or(0.0)));
    let Some(best) = best else { return nothing(points, "No rate was measured.") };
    [fast(&all, best), lanes(points, &all), occupancy(points)]
        .into_iter()
        .filter(|sentence| !sentence.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// A size is about as fast as the best if it reaches this much of its rate.
const FAST: f64 = 0.9;

/// The sizes about as fast as the best.
fn fast(all: &[&Point], best: &Point) -> String {
    let over: Vec<Contrast> = all.iter().filter_map(|p| Contrast::new(p, best)).collect();
    let named = |wanted: Option<bool>| -> Vec<String> {
        over.iter().filter(|c| c.exceeds(FAST) == wanted).map(|c| c.x.to_string()).collect()
    };
    let (fast, hidden) = (named(Some(true)), named(None));
    let slowest = over.iter().min_by(|a, b| a.ratio.total_cmp(&b.ratio));
    let slowest = slowest.filter(|c| c.exceeds(FAST) == Some(false));
    let slowest = slowest.map_or_else(String::new, |c| format!("; the slowest is {} with {}", c.x, percent(c.ratio)));
    let hidden = match hidden.as_slice() {
        [] => String::new(),
        all => format!("; undecided for {}, as the spread is too large", all.join(", ")),
    };
    let which = match fast.len() {
        0 => "no other size certainly reaches".to_owned(),
        len if len == all.len() => "every size reaches".to_owned(),
        _ => format!("sizes of {} reach", fast.join(", ")),
    };
    format!("The best rate is with groups of {}; {which} {} of it{slowest}{hidden}.", best.x, percent(FAST))
}

/// Rates differ by no more than this factor from what idle lanes account for.
const NEAR: f64 = 1.1;

/// What sizes off the multiples of 64 say of a number of lanes.
struct Fit {
    lanes: u64,
    /// Sizes whose rate is near what its idle lanes account for, is not, and may or may not be.
    near: usize,
    far: Vec<(Contrast, f64)>,
    hidden: usize,
    /// The sum of the distances, as logarithms.
    distance: f64,
}

impl Fit {
    fn new(lanes: u64, beside: &[Contrast]) -> Fit {
        let mut fit = Fit { lanes, near: 0, far: Vec::new(), hidden: 0, distance: 0.0 };
        for contrast in beside {
            let used = used(contrast.x, lanes);
            fit.distance += (contrast.ratio / used).ln().abs();
            match (contrast.exceeds(used / NEAR), contrast.exceeds(used * NEAR)) {
                (Some(true), Some(false)) => fit.near += 1,
                (Some(false), _) | (_, Some(true)) => fit.far.push((*contrast, used)),
                _ => fit.hidden += 1,
            }
        }
        fit
    }
}

/// The part of the lanes that have an item, in groups of so many.
fn used(wg: f64, lanes: u64) -> f64 {
    wg / (wg as u64).next_multiple_of(lanes) as f64
}

/// The sentences on sizes off the multiples.
fn lanes(points: &[Point], all: &[&Point]) -> String {
    let off = all.iter().filter(|p| !(p.x as u64).is_multiple_of(MULTIPLE));
    let multiple = |p: &Point| (p.x as u64).next_multiple_of(MULTIPLE) as f64;
    let beside: Vec<Contrast> = off.filter_map(|p| compare(points, (NAME, p.x), (NAME, multiple(p)))).collect();
    if beside.is_empty() {
        return "No size off the multiples of 64 was measured beside one on them.".to_owned();
    }
    let fits: Vec<Fit> = LANES.iter().map(|&lanes| Fit::new(lanes, &beside)).collect();
    let best = fits.iter().min_by(|a, b| a.distance.total_cmp(&b.distance));
    let Some(best) = best else { return String::new() };
    if 2 * best.hidden > beside.len() {
        return "What sizes off the warp's multiple cost is undecided: the spread hides it.".to_owned();
    }
    let told = |contrast: &Contrast, used: f64| {
        format!("{} with {} where they account for {}", contrast.x, percent(contrast.ratio), percent(used))
    };
    let rule = match (best.lanes, best.far.is_empty()) {
        (1, true) => format!(
            "Sizes off the multiples of 64 are as fast as on them, to within {}: no idle lanes show.",
            percent(NEAR - 1.0)
        ),
        (lanes, true) => {
            let costly = beside.iter().filter(|c| used(c.x, lanes) < 1.0);
            let costly: Vec<String> = costly.take(3).map(|c| told(c, used(c.x, lanes))).collect();
            format!("Sizes off the multiple of {lanes} cost what their idle lanes account for: {}.", costly.join(", "))
        }
        (1, false) => {
            let far: Vec<String> =
                best.far.iter().take(3).map(|(c, _)| format!("{} with {}", c.x, percent(c.ratio))).collect();
            format!(
                "Some sizes off the multiples of 64 differ from them ({}), but not as idle lanes would have it.",
                far.join(", ")
            )
        }
        (lanes, false) => {
            let far: Vec<String> = best.far.iter().take(3).map(|(c, used)| told(c, *used)).collect();
            format!(
                "Idle lanes explain best, with {lanes} in lockstep, what sizes off the multiples cost, but not {} of {} \
                 sizes: {}.",
                best.far.len(),
                beside.len(),
                far.join(", ")
            )
        }
    };
    format!("{rule}{}", control(all))
}

/// What the multiples of 64 among themselves say, where it is not that they are alike.
fn control(all: &[&Point]) -> String {
    let on: Vec<&&Point> = all.iter().filter(|p| (p.x as u64).is_multiple_of(MULTIPLE)).collect();
    let by_rate = |a: &&&&Point, b: &&&&Point| a.measured().unwrap_or(0.0).total_cmp(&b.measured().unwrap_or(0.0));
    let ends = (on.iter().min_by(by_rate), on.iter().max_by(by_rate));
    let (Some(least), Some(most)) = ends else { return String::new() };
    match Contrast::new(most, least).map(|c| (c.exceeds(NEAR), c.ratio)) {
        Some((Some(true), ratio)) => format!(
            " The multiples of 64 themselves differ up to {ratio:.2} times ({} beside {}), so more than lanes counts.",
            most.x, least.x
        ),
        _ => String::new(),
    }
}

/// The sentence on occupancy, where it is known.
fn occupancy(points: &[Point]) -> String {
    let held = series(points, HELD);
    let by_value = |a: &&&Point, b: &&&Point| a.measured().unwrap_or(0.0).total_cmp(&b.measured().unwrap_or(0.0));
    match (held.iter().min_by(by_value), held.iter().max_by(by_value)) {
        (Some(least), Some(most)) => format!(
            "Occupancy is from {:.0} % (groups of {}) to {:.0} % (groups of {}).",
            least.measured().unwrap_or(0.0),
            least.x,
            most.measured().unwrap_or(0.0),
            most.x
        ),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::points_of;
    use super::*;

    /// The finding of a device with so many lanes, on which a group of a size has `part` of the rate.
    fn finding(noise: f64, lanes: u64, part: fn(f64) -> f64) -> String {
        let points = points_of(&GROUP, true, noise, |series, wg| match series {
            NAME => 1000.0 * used(wg, lanes) * part(wg),
            _ => f64::NAN,
        });
        GROUP.finding(&points)
    }

    #[test]
    fn lanes_are_told_from_each_other() {
        insta::assert_snapshot!(finding(0.01, 32, |_| 1.0), @"");
        insta::assert_snapshot!(finding(0.01, 64, |_| 1.0), @"");
        insta::assert_snapshot!(finding(0.01, 8, |_| 1.0), @"");
        insta::assert_snapshot!(finding(0.01, 1, |_| 1.0), @"");
    }

    #[test]
    fn costs_that_lanes_do_not_explain() {
        insta::assert_snapshot!(finding(0.01, 32, |wg| if wg == 100.0 { 0.6 } else { 1.0 }), @"");
        insta::assert_snapshot!(finding(0.01, 1, |wg| wg / (wg + 50.0)), @"");
        insta::assert_snapshot!(finding(0.01, 1, |wg| if wg == 100.0 { 0.6 } else { 1.0 }), @"");
    }

    #[test]
    fn noise_missing_points_and_occupancy() {
        insta::assert_snapshot!(finding(0.5, 32, |_| 1.0), @"");
        insta::assert_snapshot!(GROUP.finding(&[]), @"");
        insta::assert_snapshot!(finding(0.01, 32, |wg| if wg == 64.0 { 1.0 } else { f64::NAN }), @"");
        let mut held = crate::record::point(HELD, 32, 50.0, 0.01);
        (held.unit, held.metric) = ("%".into(), "occupancy".into());
        let full = Point { x: 256.0, value: Some(100.0), ..held.clone() };
        assert_eq!(occupancy(&[held, full]), "Occupancy is from 50 % (groups of 32) to 100 % (groups of 256).");
    }
}

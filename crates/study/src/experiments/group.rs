//! The size of a work-group, on and off the multiples of the lanes in lockstep, with registers and local memory per
//! item held fixed.
//!
//! Where work-items run in lockstep, a group whose size is no multiple of the lanes leaves some of them idle. 48 items
//! take two warps of 32, and 75 % of their lanes have an item. The points tell, for each number of lanes that devices
//! have, whether that alone is what sizes off the multiples cost. The control is the multiples of 64 among themselves,
//! which leave no lane idle. Chains of arithmetic with a barrier at their begin are the work, so that neither memory
//! nor latency rewards one size. Occupancy stands beside it where gpulab can work it out from what the driver tells.

use super::prelude::*;
use gpulab_kernels::lab::group;

const NAME: &str = "rate";
const HELD: &str = "occupancy";

/// Of the warps that a compute unit can hold, those that it does.
const OCCUPANCY: Metric = Metric { name: "occupancy", unit: "%", of: |row: &Row| row.occupancy_pct };

/// Sizes on and off the multiples, ascending. Each that is off has the next multiple of 64 beside it.
const SIZES: [usize; 22] =
    [8, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 100, 128, 160, 192, 200, 256, 320, 500, 512, 1000, 1024];
const QUICK: [usize; 9] = [16, 32, 48, 64, 96, 100, 128, 200, 256];

/// The lanes of a wavefront, a warp or a vector, the most first; 1 is no lockstep.
const LANES: [u64; 5] = [1, 64, 32, 16, 8];
/// Their largest: its multiples leave no lane idle.
const MULTIPLE: u64 = 64;

pub const GROUP: Experiment = Experiment {
    name: "group",
    question: "Which work-group sizes are fast, and do sizes off the warp's multiple cost what their idle lanes account for?",
    about: Explanation {
        idea: "Chains of arithmetic behind one barrier, in groups of many sizes, with the registers and the local \
               memory of an item held fixed.",
        expect: "Sizes off the multiple of the lockstep lose what their idle lanes account for; multiples of it are \
               alike.",
        but: "CPU drivers turn a group into a loop: there the size decides how well its compiler uses vectors, and \
               what a barrier costs.",
        cuda: "The block's size should be a multiple of the warp's: threads that the last warp lacks leave lanes idle.",
    },
    x_name: "wg",
    x_label: plain,
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
    if target.register_caps {
        params.push((TOLD, 1));
    }
    let own = Own::of(&group::FAMILY, "held", Dtype::F32, items.next_multiple_of(wg as u64), wg);
    own.trial(scope, name, wg as f64, metric, &params)
}

fn finding(points: &[Point]) -> String {
    let all = series(points, NAME);
    let Some((_, best)) = extremes(all.iter().copied()) else { return nothing(points, "No rate was measured.") };
    [fast(&all, best), lanes(points, &all), occupancy(points)]
        .into_iter()
        .filter(|sentence| !sentence.is_empty())
        .joined(" ")
}

/// A size is about as fast as the best if it reaches this much of its rate.
const FAST: f64 = 0.9;

/// The sentence on the sizes about as fast as the best.
fn fast(all: &[&Point], best: &Point) -> String {
    let others = all.iter().filter(|p| p.x != best.x);
    let over: Vec<Contrast> = others.filter_map(|p| Contrast::new(p, best)).collect();
    if over.is_empty() {
        return format!("Only groups of {} were measured.", best.x);
    }
    let named = |wanted: Option<bool>| -> Vec<String> {
        over.iter().filter(|c| c.exceeds(FAST) == wanted).map(|c| c.x.to_string()).collect()
    };
    let undecided = undecided_factor(over.iter().filter(|c| c.exceeds(FAST).is_none()));
    let fast = named(Some(true));
    let hidden = named(None);
    let slowest = over.iter().min_by(|a, b| a.ratio.total_cmp(&b.ratio));
    let slowest = slowest.filter(|c| c.exceeds(FAST) == Some(false));
    let slowest = slowest.map_or_else(String::new, |c| format!("; the slowest is {} with {}", c.x, percent(c.ratio)));
    let hidden = match hidden.as_slice() {
        [] => String::new(),
        [one] => format!("; whether {one} does is {undecided}"),
        hidden => format!("; whether {} of {} others do is {undecided}", hidden.len(), over.len()),
    };
    let which = match fast.len() {
        0 => "no other size certainly reaches".to_owned(),
        len if len == over.len() => "every other size reaches".to_owned(),
        _ => format!("sizes of {} reach", fast.join(", ")),
    };
    format!("The best rate is with groups of {}; {which} {} of it{slowest}{hidden}.", best.x, percent(FAST))
}

/// Rates differ by no more than this factor from what idle lanes account for.
const NEAR: f64 = 1.1;

/// What sizes off the multiples of 64 say of a number of lanes.
struct Fit {
    lanes: u64,
    /// Sizes whose rate is not near what their idle lanes account for, with that part.
    far: Vec<(Contrast, f64)>,
    /// Of how many the spread hides it.
    hidden: usize,
    /// Whether a size that clearly lacks some lanes is near; no lockstep needs none.
    shows: bool,
    /// The sum of the distances, as logarithms.
    distance: f64,
}

impl Fit {
    fn new(lanes: u64, beside: &[Contrast]) -> Fit {
        let mut fit = Fit { lanes, far: Vec::new(), hidden: 0, shows: lanes == 1, distance: 0.0 };
        for contrast in beside {
            let used = used(contrast.x, lanes);
            fit.distance += (contrast.ratio / used).ln().abs();
            match (contrast.exceeds(used / NEAR), contrast.exceeds(used * NEAR)) {
                (Some(true), Some(false)) => fit.shows |= used < 1.0 / NEAR,
                (Some(false), _) | (_, Some(true)) => fit.far.push((*contrast, used)),
                _ => fit.hidden += 1,
            }
        }
        fit
    }

    /// The sentence that it makes, without its end.
    fn rule(&self, beside: &[Contrast]) -> String {
        let Fit { lanes, far, hidden, .. } = self;
        let all = beside.len();
        let hidden = match hidden {
            0 => String::new(),
            1 => format!("; 1 of {all} sizes is undecided, as it is too noisy"),
            hidden => format!("; {hidden} of {all} sizes are undecided, as they are too noisy"),
        };
        let described = |(contrast, used): &(Contrast, f64)| {
            format!("{} with {} where they account for {}", contrast.x, percent(contrast.ratio), percent(*used))
        };
        match (lanes, far.len()) {
            (1, 0) => format!(
                "Sizes off the multiples of 64 are as fast as on them, to within {}: no idle lanes show{hidden}",
                percent(NEAR - 1.0)
            ),
            (lanes, 0) => {
                let lacking = beside.iter().map(|c| (*c, used(c.x, *lanes))).filter(|(_, used)| *used < 1.0);
                let described: Vec<String> = lacking.take(NAMED_SIZES).map(|size| described(&size)).collect();
                format!(
                    "Sizes off the multiple of {lanes} cost what their idle lanes account for: {}{hidden}",
                    described.join(", ")
                )
            }
            (1, _) => unexplained(beside, &hidden),
            (_, count) if 4 * count > all => unexplained(beside, &hidden),
            (lanes, count) => {
                let described: Vec<String> = far.iter().take(NAMED_SIZES).map(described).collect();
                format!(
                    "Idle lanes, with {lanes} in lockstep, account for what sizes off the multiples cost, but for {count} \
                     of {all} sizes: {}{hidden}",
                    described.join(", ")
                )
            }
        }
    }
}

const NAMED_SIZES: usize = 3;

/// The sentence on differences that no number of lanes explains.
fn unexplained(beside: &[Contrast], hidden: &str) -> String {
    let mut apart: Vec<&Contrast> = beside.iter().filter(|c| c.exceeds(1.0 / NEAR) == Some(false)).collect();
    apart.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    let named: Vec<String> =
        apart.iter().take(NAMED_SIZES).map(|c| format!("{} with {}", c.x, percent(c.ratio))).collect();
    let slowest = if named.is_empty() { String::new() } else { format!(" (the slowest: {})", named.join(", ")) };
    format!(
        "Sizes off the multiples of 64 differ from those on them{slowest}, but idle lanes do not explain how{hidden}"
    )
}

/// The part of the lanes that have an item, in groups of so many.
fn used(wg: f64, lanes: u64) -> f64 {
    wg / (lanes as f64 * (wg / lanes as f64).ceil())
}

/// The sentences on sizes off the multiples, each beside the next multiple of 64.
fn lanes(points: &[Point], all: &[&Point]) -> String {
    let off = all.iter().filter(|p| !(p.x as u64).is_multiple_of(MULTIPLE));
    let multiple = |p: &Point| MULTIPLE as f64 * (p.x / MULTIPLE as f64).ceil();
    let beside: Vec<Contrast> = off.filter_map(|p| compare(points, (NAME, p.x), (NAME, multiple(p)))).collect();
    if beside.is_empty() {
        return "No size off the multiples of 64 was measured beside one on them.".to_owned();
    }
    let fits = LANES.iter().map(|&lanes| Fit::new(lanes, &beside)).filter(|fit| fit.shows);
    let best = fits.min_by(|a, b| a.far.len().cmp(&b.far.len()).then(a.distance.total_cmp(&b.distance)));
    match best {
        Some(best) if 2 * best.hidden <= beside.len() => format!("{}{}.", best.rule(&beside), control(all)),
        _ => format!("What sizes off the warp's multiple cost is {}.", undecided_factor(&beside)),
    }
}

/// What the multiples of 64 among themselves say, where it is not that they are alike.
fn control(all: &[&Point]) -> String {
    let on = all.iter().copied().filter(|p| (p.x as u64).is_multiple_of(MULTIPLE));
    let Some((least, most)) = extremes(on) else { return String::new() };
    match Contrast::new(most, least).filter(|c| c.exceeds(NEAR) == Some(true)) {
        Some(c) => format!(
            "; the multiples of 64 themselves differ up to {} ({} beside {}), so more than lanes counts",
            times(c.ratio),
            most.x,
            least.x
        ),
        None => String::new(),
    }
}

fn occupancy(points: &[Point]) -> String {
    let held = series(points, HELD);
    let described = |p: &Point| format!("{} (groups of {})", percent(p.measured().unwrap_or(0.0) / 100.0), p.x);
    extremes(held.into_iter()).map_or_else(String::new, |(least, most)| match least.value == most.value {
        true => format!("Occupancy is {} with every size.", percent(least.measured().unwrap_or(0.0) / 100.0)),
        false => format!("Occupancy is from {} to {}.", described(least), described(most)),
    })
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
    fn lanes_are_told_from_each_other_and_from_costs_that_they_do_not_explain() {
        insta::assert_snapshot!(finding(0.01, 32, |_| 1.0), @"The best rate is with groups of 1024; sizes of 32, 64, 96, 128, 160, 192, 256, 320, 500, 512, 1000 reach 90 % of it; the slowest is 8 with 25 %; whether 200 does is undecided: differences under 2 % cannot be seen in this run. Sizes off the multiple of 32 cost what their idle lanes account for: 8 with 25 % where they account for 25 %, 12 with 38 % where they account for 38 %, 16 with 50 % where they account for 50 %. To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.");
        insta::assert_snapshot!(finding(0.01, 64, |_| 1.0), @"The best rate is with groups of 1024; sizes of 64, 128, 192, 256, 320, 500, 512, 1000 reach 90 % of it; the slowest is 8 with 12 %. Sizes off the multiple of 64 cost what their idle lanes account for: 8 with 12 % where they account for 12 %, 12 with 19 % where they account for 19 %, 16 with 25 % where they account for 25 %.");
        insta::assert_snapshot!(finding(0.01, 8, |_| 1.0), @"The best rate is with groups of 1024; sizes of 8, 16, 24, 32, 40, 48, 64, 80, 96, 100, 128, 160, 192, 200, 256, 320, 500, 512, 1000 reach 90 % of it; the slowest is 12 with 75 %. Sizes off the multiple of 8 cost what their idle lanes account for: 12 with 75 % where they account for 75 %, 20 with 83 % where they account for 83 %, 100 with 96 % where they account for 96 %.");
        insta::assert_snapshot!(finding(0.01, 1, |_| 1.0), @"The best rate is with groups of 1024; every other size reaches 90 % of it. Sizes off the multiples of 64 are as fast as on them, to within 10 %: no idle lanes show.");
        insta::assert_snapshot!(finding(0.01, 32, |wg| if wg == 100.0 { 0.6 } else { 1.0 }), @"The best rate is with groups of 1024; sizes of 32, 64, 96, 128, 160, 192, 256, 320, 500, 512, 1000 reach 90 % of it; the slowest is 8 with 25 %; whether 200 does is undecided: differences under 2 % cannot be seen in this run. Idle lanes, with 32 in lockstep, account for what sizes off the multiples cost, but for 1 of 15 sizes: 100 with 47 % where they account for 78 %. To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.");
        insta::assert_snapshot!(finding(0.01, 1, |wg| wg / (wg + 50.0)), @"The best rate is with groups of 1024; sizes of 500, 512, 1000 reach 90 % of it; the slowest is 8 with 14 %; whether 320 does is undecided: differences under 2 % cannot be seen in this run. Sizes off the multiples of 64 differ from those on them (the slowest: 8 with 25 %, 12 with 34 %, 16 with 43 %), but idle lanes do not explain how; 2 of 15 sizes are undecided, as they are too noisy; the multiples of 64 themselves differ up to 1.70 times (1024 beside 64), so more than lanes counts. To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.");
        insta::assert_snapshot!(finding(0.01, 1, |wg| if wg == 100.0 { 0.6 } else { 1.0 }), @"The best rate is with groups of 1024; sizes of 8, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 200, 256, 320, 500, 512, 1000 reach 90 % of it; the slowest is 100 with 60 %. Sizes off the multiples of 64 differ from those on them (the slowest: 100 with 60 %), but idle lanes do not explain how.");
    }

    #[test]
    fn noise_missing_points_and_occupancy() {
        insta::assert_snapshot!(finding(0.5, 32, |_| 1.0), @"The best rate is with groups of 1024; no other size certainly reaches 90 % of it; the slowest is 8 with 25 %; whether 19 of 21 others do is undecided: differences under 100 % cannot be seen in this run. What sizes off the warp's multiple cost is undecided: differences under 100 % cannot be seen in this run. To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.");
        insta::assert_snapshot!(GROUP.finding(&[]), @"Nothing was measured.");
        insta::assert_snapshot!(finding(0.01, 32, |wg| if wg == 64.0 { 1.0 } else { f64::NAN }), @"Only groups of 64 were measured. No size off the multiples of 64 was measured beside one on them.");
        let mut held = gpulab_record::point(HELD, 32, 50.0, 0.01);
        (held.unit, held.metric) = ("%".into(), "occupancy".into());
        let full = Point { x: 256.0, value: Some(100.0), ..held.clone() };
        assert_eq!(occupancy(&[held, full]), "Occupancy is from 50 % (groups of 32) to 100 % (groups of 256).");
    }
}

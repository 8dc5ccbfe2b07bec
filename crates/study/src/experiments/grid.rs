//! The grid: how many groups a launch has, beside the compute units that work on them.
//!
//! Every group has the same work. A launch of one group more than go through together takes as long as one with twice as
//! many: the tail. NVIDIA's "Optimizing CUDA" (2009) has a rule of thumb: more groups than compute units, better twice as many;
//! 100 to scale to the next devices, 1000 to those after them. Whole multiples of the compute units, a series of their own
//! whose name tells how many units there are, judge its first half; 100 and 1000 groups its second.

use super::prelude::*;
use gpulab_kernels::lab::chains::{self, CHAINS};

const NAME: &str = "groups of equal work";

/// Multiples of the compute units, of which so many are named before this.
const OF_UNITS: &str = " units, multiples";

/// Groups for each compute unit.
const TO_A_UNIT: [u64; 9] = [1, 2, 3, 4, 6, 8, 16, 32, 64];

/// The fewest groups, and those of the rule of thumb for devices to come.
const NAMED: [u64; 4] = [1, 2, 100, 1000];

pub const GRID: Experiment = Experiment {
    name: "grid",
    question: "How many groups keep all compute units busy, and what does one group too many cost?",
    about: Explanation {
        idea: "Launches of ever more groups of equal work, among them one group more than the device has compute units, \
               and whole multiples of the units.",
        expect: "The rate grows until each unit has enough groups. One group too many makes a launch nearly as long as \
               several more would: the tail.",
        but: "Units that hold several groups at once show the tail less; and the number of units that a driver tells \
               may be that of cores or of hardware threads.",
        cuda: "Blocks go to streaming multiprocessors (SMs) in waves; an incomplete last wave is the tail effect.",
    },
    x_name: "groups",
    x_label: plain,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let units = u64::from(scope.target.compute_units.max(1));
    let most = if scope.quick { 8 } else { 64 };
    let multiples = TO_A_UNIT.into_iter().filter(|&times| times <= most);
    let multiples = multiples.map(|times| (times * units, format!("{units}{OF_UNITS}")));
    let mut all: Vec<(u64, String)> =
        groups(units).into_iter().map(|groups| (groups, NAME.to_owned())).chain(multiples).collect();
    all.sort_by_key(|(groups, _)| *groups);
    all.into_iter().map(|(groups, series)| trial(scope, series, groups)).collect()
}

fn finding(points: &[Point]) -> String {
    let all = series(points, NAME);
    let Some((_, best)) = extremes(all.iter().copied()) else { return "No rate was measured.".to_owned() };
    let shares: Vec<String> = NAMED
        .into_iter()
        .filter_map(|groups: u64| {
            let point = all.iter().find(|p| p.x == groups as f64)?;
            let unit = if groups == 1 { "group reaches" } else { "reach" };
            Some(format!("{groups} {unit} {:.1} %", 100.0 * Contrast::new(point, best)?.ratio))
        })
        .collect();
    let to_a_unit = to_a_unit(points).map_or(String::new(), |sentence| format!(" {sentence}"));
    format!("{} The best rate is at {} groups; {} of it.{to_a_unit}", tail(&all), best.x, shares.join(", "))
}

/// This part of the best rate is enough.
const ENOUGH: f64 = 0.9;

/// How many groups each compute unit needs: the rule of thumb says at least one, and better several.
fn to_a_unit(points: &[Point]) -> Option<String> {
    let (name, units) =
        points.iter().find_map(|p| Some((&p.series, p.series.strip_suffix(OF_UNITS)?.parse::<f64>().ok()?)))?;
    let all = series(points, name);
    let best = all.iter().max_by(|a, b| a.measured().unwrap_or(0.0).total_cmp(&b.measured().unwrap_or(0.0)))?;
    let shares: Vec<Contrast> = all.iter().filter_map(|p| Contrast::new(p, best)).collect();
    let one = shares.first().filter(|c| c.x == units && shares.len() > 1)?;
    let enough = shares.iter().find(|c| c.exceeds(ENOUGH) == Some(true));
    let head = format!(
        "One group for each compute unit reaches {} of the best rate of whole multiples of the units",
        percent(one.ratio)
    );
    let undecided = || undecided_factor(&shares);
    Some(match (one.exceeds(ENOUGH), enough) {
        (None, _) => format!("{head}; whether a unit needs several groups is {}.", undecided()),
        (Some(true), _) => format!("{head}: a unit needs no second group."),
        (Some(false), Some(c)) => format!(
            "{head}: a unit needs {} groups for {}: several, as the rule of thumb says.",
            c.x / units,
            percent(ENOUGH)
        ),
        (Some(false), None) => {
            format!("{head}; how many groups a unit needs for {} is {}.", percent(ENOUGH), undecided())
        }
    })
}

/// Groups for this many compute units: few and many, and where turns end and the next one begins.
fn groups(units: u64) -> Vec<u64> {
    let turns = [units / 2, units, units + 1, 2 * units, 2 * units + 1, 4 * units, 4 * units + 1, 16 * units];
    let mut all: Vec<u64> = NAMED.into_iter().chain(turns).filter(|&groups| groups > 0).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn trial(scope: &Scope<'_>, series: String, groups: u64) -> Trial {
    let wg = lab::usual_wg(scope.target);
    let own = Own::of(&chains::FAMILY, "independent", Dtype::F32, groups * wg as u64, wg);
    let rounds = if scope.target.gpu { 1024 } else { 8 };
    own.trial(scope, series, groups as f64, RATE, &[(CHAINS.name, 4), (ROUNDS.name, rounds)])
}

/// A smaller loss by one group more is none.
const LOSS: f64 = 0.95;

/// What one group more than a number costs, where both were measured.
fn tail(all: &[&Point]) -> String {
    let after = |p: &Point| all.iter().find(|next| next.x == p.x + 1.0).copied();
    let mut steps: Vec<Contrast> = all.iter().filter_map(|p| Contrast::new(after(p)?, p)).collect();
    steps.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    let costly: Vec<&Contrast> = steps.iter().filter(|c| c.exceeds(LOSS) == Some(false)).collect();
    let hidden: Vec<&Contrast> = steps.iter().filter(|c| c.exceeds(LOSS).is_none()).collect();
    let described = |c: &Contrast| format!("{} groups run at {} of the rate of {}", c.x, percent(c.ratio), c.x - 1.0);
    match costly.as_slice() {
        [] if !hidden.is_empty() => format!("What one more group costs is {}.", undecided_factor(hidden)),
        [] if steps.is_empty() => "What one more group costs was not measured.".to_owned(),
        [] => format!("One more group never costs more than {} of the rate.", percent(1.0 - LOSS)),
        [worst] => format!("One more group can slow a launch: {}.", described(worst)),
        [worst, .., least] => {
            format!("One more group can slow a launch: {}, and {}.", described(worst), described(least))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::points_of;
    use super::*;
    use gpulab_model::outcome::fake_info;
    use gpulab_record::point;

    /// The finding where so many groups run at `rate(groups)` Gop/s.
    fn finding(noise: f64, rate: fn(f64) -> f64) -> String {
        GRID.finding(&points_of(&GRID, false, noise, |_, groups| rate(groups)))
    }

    #[test]
    fn turns_of_two_none_noise_and_missing_points() {
        insta::assert_snapshot!(finding(0.01, |groups| groups / (groups / 2.0).ceil()), @"One more group can slow a launch: 3 groups run at 75 % of the rate of 2, and 9 groups run at 90 % of the rate of 8. The best rate is at 1000 groups; 1 group reaches 50.0 %, 2 reach 100.0 %, 100 reach 100.0 %, 1000 reach 100.0 % of it. One group for each compute unit reaches 100 % of the best rate of whole multiples of the units: a unit needs no second group.");
        insta::assert_snapshot!(finding(0.01, |groups| 10.0 * groups / (groups + 2.0)), @"One more group never costs more than 5 % of the rate. The best rate is at 1000 groups; 1 group reaches 33.4 %, 2 reach 50.1 %, 100 reach 98.2 %, 1000 reach 100.0 % of it. One group for each compute unit reaches 51 % of the best rate of whole multiples of the units: a unit needs 16 groups for 90 %: several, as the rule of thumb says.");
        insta::assert_snapshot!(finding(0.3, |groups| groups / (groups / 2.0).ceil()), @"What one more group costs is undecided: differences under 60 % cannot be seen in this run. The best rate is at 1000 groups; 1 group reaches 50.0 %, 2 reach 100.0 %, 100 reach 100.0 %, 1000 reach 100.0 % of it. One group for each compute unit reaches 100 % of the best rate of whole multiples of the units; whether a unit needs several groups is undecided: differences under 60 % cannot be seen in this run. To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.");
        insta::assert_snapshot!(finding(0.01, |groups| if groups == 100.0 { 8.0 } else { f64::NAN }), @"What one more group costs was not measured. The best rate is at 100 groups; 100 reach 100.0 % of it.");
        insta::assert_snapshot!(GRID.finding(&[]), @"No rate was measured.");
    }

    #[test]
    fn groups_to_a_unit_are_judged_by_the_points_alone() {
        let units = fake_info().target.compute_units.to_string() + OF_UNITS;
        let sentence = |noise: f64, rate: fn(f64) -> f64| {
            let points: Vec<Point> =
                (1..=16).map(|times| point(&units, 2 * times, rate(times as f64), noise)).collect();
            to_a_unit(&points).unwrap()
        };
        assert_eq!(units, "2 units, multiples");
        insta::assert_snapshot!(sentence(0.01, |_| 10.0), @"One group for each compute unit reaches 100 % of the best rate of whole multiples of the units: a unit needs no second group.");
        insta::assert_snapshot!(sentence(0.01, |times| times.min(6.0)), @"One group for each compute unit reaches 17 % of the best rate of whole multiples of the units: a unit needs 6 groups for 90 %: several, as the rule of thumb says.");
        insta::assert_snapshot!(sentence(0.3, |times| 10.0 + times / 8.0), @"One group for each compute unit reaches 84 % of the best rate of whole multiples of the units; whether a unit needs several groups is undecided: differences under 60 % cannot be seen in this run.");
        insta::assert_snapshot!(sentence(0.06, |times| times), @"One group for each compute unit reaches 6 % of the best rate of whole multiples of the units; how many groups a unit needs for 90 % is undecided: differences under 12 % cannot be seen in this run.");
        assert_eq!(to_a_unit(&[point(NAME, 4, 1.0, 0.0)]), None, "as in older files");
    }

    #[test]
    fn numbers_are_distinct_for_any_device() {
        assert_eq!(groups(1), [1, 2, 3, 4, 5, 16, 100, 1000]);
        assert!(groups(132).contains(&133) && groups(132).contains(&100));
    }
}

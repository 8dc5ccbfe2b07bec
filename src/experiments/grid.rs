//! The grid: how many groups a launch has, beside the compute units that work on them.
//!
//! Every group has the same work. A launch of one group more than go through together takes as long as one with twice as
//! many: the tail. The numbers 1, 2, 100 and 1000 are those of the heuristics in NVIDIA's "Optimizing CUDA" (2009): more groups than compute units, better
//! twice as many, 100 to scale to the next devices, 1000 to those after them.

use super::evidence::{Contrast, extremes, percent, series};
use super::own::Own;
use super::{Experiment, Scope, Trial, plain};
use crate::data::Dtype;
use crate::kernels::lab;
use crate::kernels::lab::ROUNDS;
use crate::kernels::lab::chains::{self, CHAINS};
use crate::record::{Point, RATE};

const NAME: &str = "groups of equal work";

/// Of the heuristics.
const HEURISTIC: [u64; 4] = [1, 2, 100, 1000];

/// The experiment's entry in the list.
pub const GRID: Experiment = Experiment {
    name: "grid",
    question: "How many groups keep all compute units busy, and what does one group too many cost?",
    x_name: "groups",
    x_label: plain,
    has_timeline: false,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    groups(u64::from(scope.target.compute_units.max(1))).into_iter().map(|groups| trial(scope, groups)).collect()
}

fn finding(points: &[Point]) -> String {
    let all = series(points, NAME);
    let Some((_, best)) = extremes(all.iter().copied()) else { return "No rate was measured.".to_owned() };
    let share = |groups: u64| {
        let point = all.iter().find(|p| p.x == groups as f64)?;
        let unit = if groups == 1 { "group reaches" } else { "reach" };
        Some(format!("{groups} {unit} {:.1} %", 100.0 * Contrast::new(point, best)?.ratio))
    };
    let shares: Vec<String> = HEURISTIC.into_iter().filter_map(share).collect();
    format!("{} The best rate is at {} groups; of it, {}.", tail(&all), best.x, shares.join(", "))
}

/// Groups for this many compute units: few and many, and where turns end and the next one begins.
fn groups(units: u64) -> Vec<u64> {
    let turns = [units / 2, units, units + 1, 2 * units, 2 * units + 1, 4 * units, 4 * units + 1, 16 * units];
    let mut all: Vec<u64> = HEURISTIC.into_iter().chain(turns).filter(|&groups| groups > 0).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn trial(scope: &Scope<'_>, groups: u64) -> Trial {
    let wg = lab::usual_wg(scope.target);
    let own = Own {
        family: &chains::FAMILY,
        variant: "independent",
        dtype: Dtype::F32,
        n: groups * wg as u64,
        wg,
        params: &[(CHAINS.name, 4), (ROUNDS.name, if scope.target.gpu { 1024 } else { 8 })],
    };
    own.trial(scope, NAME, groups as f64, RATE)
}

/// A smaller loss by one group more is none.
const LOSS: f64 = 0.95;

/// What one group more than a number costs, where both were measured.
fn tail(all: &[&Point]) -> String {
    let after = |p: &Point| all.iter().find(|next| next.x == p.x + 1.0).copied();
    let mut steps: Vec<Contrast> = all.iter().filter_map(|p| Contrast::new(after(p)?, p)).collect();
    steps.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    let costly: Vec<&Contrast> = steps.iter().filter(|c| c.exceeds(LOSS) == Some(false)).collect();
    let told = |c: &Contrast| format!("{} groups run at {} of the rate of {}", c.x, percent(c.ratio), c.x - 1.0);
    match costly.as_slice() {
        [] if steps.iter().any(|c| c.exceeds(LOSS).is_none()) => {
            "What one more group costs is undecided: the noise hides it.".to_owned()
        }
        [] if steps.is_empty() => "What one more group costs was not measured.".to_owned(),
        [] => format!("One more group never costs more than {} of the rate.", percent(1.0 - LOSS)),
        [worst] => format!("One more group can slow a launch: {}.", told(worst)),
        [worst, .., least] => format!("One more group can slow a launch: {}, and {}.", told(worst), told(least)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::points_of;
    use super::*;

    /// The finding where so many groups run at `rate(groups)` Gop/s.
    fn finding(noise: f64, rate: fn(f64) -> f64) -> String {
        GRID.finding(&points_of(&GRID, false, noise, |_, groups| rate(groups)))
    }

    #[test]
    fn turns_of_two() {
        insta::assert_snapshot!(finding(0.01, |groups| groups / (groups / 2.0).ceil()), @"One more group can slow a launch: 3 groups run at 75 % of the rate of 2, and 9 groups run at 90 % of the rate of 8. The best rate is at 1000 groups; of it, 1 group reaches 50.0 %, 2 reach 100.0 %, 100 reach 100.0 %, 1000 reach 100.0 %.");
    }

    #[test]
    fn no_turns() {
        insta::assert_snapshot!(finding(0.01, |groups| 10.0 * groups / (groups + 2.0)), @"One more group never costs more than 5 % of the rate. The best rate is at 1000 groups; of it, 1 group reaches 33.4 %, 2 reach 50.1 %, 100 reach 98.2 %, 1000 reach 100.0 %.");
    }

    #[test]
    fn noise_and_missing_points() {
        insta::assert_snapshot!(finding(0.3, |groups| groups / (groups / 2.0).ceil()), @"What one more group costs is undecided: the noise hides it. The best rate is at 1000 groups; of it, 1 group reaches 50.0 %, 2 reach 100.0 %, 100 reach 100.0 %, 1000 reach 100.0 %.");
        insta::assert_snapshot!(finding(0.01, |groups| if groups == 100.0 { 8.0 } else { f64::NAN }), @"What one more group costs was not measured. The best rate is at 100 groups; of it, 100 reach 100.0 %.");
        insta::assert_snapshot!(GRID.finding(&[]), @"No rate was measured.");
    }

    #[test]
    fn numbers_are_distinct_for_any_device() {
        assert_eq!(groups(1), [1, 2, 3, 4, 5, 16, 100, 1000]);
        assert!(groups(132).contains(&133) && groups(132).contains(&100));
    }
}

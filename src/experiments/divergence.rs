//! Divergence: two branches of equal work, chosen by an item's number, for runs of items of growing length.
//!
//! Where items run in lockstep, those of one warp (wavefront, vector) that take different branches go through both. Runs
//! as long as the lockstep is wide have no such items, and take half the time.

use super::evidence::{Contrast, compare_series, compare_with_last, excess, nothing, undecided_factor};
use super::own::Own;
use super::{Experiment, Scope, Trial, plain};
use crate::data::Dtype;
use crate::kernels::lab;
use crate::kernels::lab::ROUNDS;
use crate::kernels::lab::divergence::{self, FIRST, SECOND, SHIFT};
use crate::record::{Point, TIME};

/// Series, by which items take which branch.
const CHOSEN: &str = "chosen by (id / g) % 2";
const ONE: &str = "all the first branch";
const BOTH: &str = "all both branches";
/// A series with its settings [`FIRST`] and [`SECOND`].
const SERIES: [(&str, u64, u64); 3] = [(CHOSEN, 1, 2), (ONE, 3, 0), (BOTH, 3, 3)];

/// Logarithms of the lengths of runs.
const SHIFTS: std::ops::RangeInclusive<u64> = 0..=10;

/// The experiment's entry in the list.
pub const DIVERGENCE: Experiment = Experiment {
    name: "divergence",
    question: "What does a branch cost where neighbouring work-items take different sides, and how many items run in lockstep?",
    x_name: "g",
    x_label: plain,
    has_timeline: false,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let target = scope.target;
    let rounds = if target.gpu { 256 } else { 64 };
    SHIFTS
        .flat_map(|shift| SERIES.map(|series| (shift, series)))
        // What all items do alike cannot depend on the runs: the ends show whether it does.
        .filter(|(shift, (name, ..))| *name == CHOSEN || [0, 10].contains(shift))
        .map(|(shift, (name, first, second))| {
            let params = [(SHIFT.name, shift), (FIRST.name, first), (SECOND.name, second), (ROUNDS.name, rounds)];
            let own = Own {
                family: &divergence::FAMILY,
                variant: "two_ways",
                dtype: Dtype::I32,
                n: lab::items(target),
                wg: lab::usual_wg(target),
                params: &params,
            };
            own.trial(scope, name, (1u64 << shift) as f64, TIME)
        })
        .collect()
}

fn finding(points: &[Point]) -> String {
    let over_one = compare_with_last(points, CHOSEN, ONE);
    if over_one.is_empty() {
        return nothing(points, "The cost of a branch was not measured.");
    }
    let cost = cost_of_a_branch(&over_one);
    let controls = compare_series(points, BOTH, ONE, |_| true);
    let (least, most) =
        controls.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), c| (least.min(c.ratio), most.max(c.ratio)));
    match does_control_pass(&controls) {
        _ if controls.is_empty() => cost,
        Some(true) => {
            let clear = controls.iter().filter(|c| c.exceeds(PASSING).is_some()).map(|c| c.ratio);
            let least = clear.fold(most, f64::min);
            format!("{cost} The control passed: both branches take {least:.2} times as long as one.")
        }
        Some(false) => format!(
            "No conclusion: both branches take only {most:.2} times as long as one, so not all of the work was done."
        ),
        None if [true, false].iter().all(|&passed| controls.iter().any(|c| c.exceeds(PASSING) == Some(passed))) => {
            format!("No conclusion: the control passed at one length of runs only ({}).", ratios(least, most))
        }
        None => {
            format!("Whether all of the work was done is {} ({}).", undecided_factor(&controls), ratios(least, most))
        }
    }
}

/// Whether both branches take clearly longer than one wherever the spread lets one tell, or clearly do not at every length
/// of runs at which this was measured; nothing if the spread hides it everywhere or lengths disagree.
fn does_control_pass(controls: &[Contrast]) -> Option<bool> {
    let verdicts: Vec<Option<bool>> = controls.iter().map(|c| c.exceeds(PASSING)).collect();
    if verdicts.contains(&Some(true)) {
        return (!verdicts.contains(&Some(false))).then_some(true);
    }
    verdicts.iter().all(|passed| *passed == Some(false)).then_some(false)
}

fn ratios(least: f64, most: f64) -> String {
    let (least, most) = (format!("{least:.2}"), format!("{most:.2}"));
    let times = if least == most { least } else { format!("{least} to {most}") };
    format!("both branches take {times} times as long as one")
}

/// The control passes above this factor: both branches take twice as long as one, but for the launch's own time, unless a
/// compiler left some of the work out.
const PASSING: f64 = 1.3;

/// Lockstep doubles the time: a smaller factor than this has other causes.
const COSTLY: f64 = 1.4;

/// Where the cost ends, if it is there and ends.
fn cost_of_a_branch(over_one: &[Contrast]) -> String {
    let most = over_one.iter().map(|c| c.ratio).fold(0.0, f64::max);
    let costs = over_one.iter().take_while(|c| c.ratio > COSTLY).count();
    // Those at which the cost ends decide; where there is none, the shortest runs do.
    let decide = &over_one[costs.saturating_sub(1)..over_one.len().min(costs + 1)];
    let is_clear = decide.iter().all(|c| c.is_clear(COSTLY));
    let costs_again = over_one[costs..].iter().any(|c| c.exceeds(COSTLY) == Some(true));
    match over_one.get(costs) {
        _ if !is_clear => format!("What a branch costs is {}.", undecided_factor(over_one)),
        None => format!(
            "Where items take different branches, they need up to {most:.2} times as long as on one branch, however \
             many neighbours take the same: if items run in lockstep, more than {} of them do.",
            over_one.last().map_or(0.0, |c| c.x)
        ),
        Some(_) if costs_again => {
            "Different branches cost time at some lengths of runs but not at shorter ones, so lockstep is not the cause."
                .to_owned()
        }
        Some(shortest) if costs == 0 => format!(
            "Where neighbouring items take different branches, they need at most {} longer than on one branch: items \
             do not run in lockstep here.",
            excess([shortest])
        ),
        Some(knee) => format!(
            "Where neighbouring items take different branches, they need up to {most:.2} times as long as on one \
             branch. The cost ends where {} neighbours take the same branch, so {} items run in lockstep.",
            knee.x, knee.x
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::points_of;
    use super::*;

    /// A device on which the chosen branches take `time(g)`, one branch 100 us and both `both`.
    fn finding(noise: f64, both: f64, time: fn(f64) -> f64) -> String {
        let points = points_of(&DIVERGENCE, true, noise, |series, g| match series {
            CHOSEN => time(g),
            ONE => 100.0,
            _ => both,
        });
        DIVERGENCE.finding(&points)
    }

    #[test]
    fn lockstep_of_32() {
        let time = |g| if g < 32.0 { 199.0 } else { 101.0 };
        insta::assert_snapshot!(finding(0.01, 198.0, time), @"Where neighbouring items take different branches, they need up to 1.99 times as long as on one branch. The cost ends where 32 neighbours take the same branch, so 32 items run in lockstep. The control passed: both branches take 1.98 times as long as one.");
    }

    #[test]
    fn no_lockstep() {
        insta::assert_snapshot!(finding(0.02, 195.0, |g| 100.0 + 3.0 / g), @"Where neighbouring items take different branches, they need at most 8 % longer than on one branch: items do not run in lockstep here. The control passed: both branches take 1.95 times as long as one.");
    }

    #[test]
    fn lockstep_without_end() {
        insta::assert_snapshot!(finding(0.02, 195.0, |_| 190.0), @"Where items take different branches, they need up to 1.90 times as long as on one branch, however many neighbours take the same: if items run in lockstep, more than 1024 of them do. The control passed: both branches take 1.95 times as long as one.");
    }

    #[test]
    fn noise_and_contradictions() {
        insta::assert_snapshot!(finding(0.5, 195.0, |g| 100.0 + 40.0 / g), @"Whether all of the work was done is undecided: differences under 100 % cannot be seen in this run (both branches take 1.95 times as long as one). To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.");
        insta::assert_snapshot!(finding(0.01, 195.0, |g| if g == 8.0 { 150.0 } else { 100.0 }), @"Different branches cost time at some lengths of runs but not at shorter ones, so lockstep is not the cause. The control passed: both branches take 1.95 times as long as one.");
    }

    #[test]
    fn work_that_a_compiler_removed() {
        insta::assert_snapshot!(finding(0.01, 102.0, |_| 100.0), @"No conclusion: both branches take only 1.02 times as long as one, so not all of the work was done.");
    }

    #[test]
    fn a_control_that_does_not_tell() {
        let points = |noise, short: f64, long: f64| {
            points_of(&DIVERGENCE, true, noise, |series, g| match series {
                BOTH if g == 1.0 => short,
                BOTH => long,
                _ => 100.0,
            })
        };
        let conclusion = |noise, short, long| DIVERGENCE.finding(&points(noise, short, long));
        insta::assert_snapshot!(conclusion(0.01, 112.0, 230.0), @"No conclusion: the control passed at one length of runs only (both branches take 1.12 to 2.30 times as long as one).");
        assert!(conclusion(0.3, 112.0, 230.0).contains("passed: both branches take 2.30 times"), "one point tells");
        insta::assert_snapshot!(conclusion(0.2, 112.0, 112.0), @"Whether all of the work was done is undecided: differences under 40 % cannot be seen in this run (both branches take 1.12 times as long as one). To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.");
        assert!(conclusion(0.05, 112.0, 110.0).contains("only 1.12 times"));
        assert!(conclusion(0.05, 190.0, 230.0).contains("passed: both branches take 1.90 times"));
    }

    #[test]
    fn missing_points() {
        insta::assert_snapshot!(DIVERGENCE.finding(&[]), @"Nothing was measured.");
    }
}

//! Divergence: two branches of equal work, chosen by an item's number, for runs of items of growing length.
//!
//! Where items run in lockstep, those of one warp (wavefront, vector) that take different branches go through both. Runs
//! as long as the lockstep is wide have no such items, and take half the time.

use super::prelude::*;
use gpulab_kernels::lab::divergence::{self, FIRST, SECOND, SHIFT};

/// Series, by which items take which branch.
const CHOSEN: &str = "chosen by (id / g) % 2";
const ONE: &str = "all the first branch";
const BOTH: &str = "all both branches";
/// A series with its settings [`FIRST`] and [`SECOND`].
const SERIES: [(&str, u64, u64); 3] = [(CHOSEN, 1, 2), (ONE, 3, 0), (BOTH, 3, 3)];

/// Logarithms of the lengths of runs.
const SHIFTS: std::ops::RangeInclusive<u64> = 0..=10;

pub const DIVERGENCE: Experiment = Experiment {
    name: "divergence",
    question: "What does a branch cost where neighbouring work-items take different sides, and how many items run in lockstep?",
    about: Explanation {
        idea: "Two branches of equal work are chosen by runs of neighbouring items, which grow; all items in one \
               branch, and all in both, are the controls.",
        expect: "Runs shorter than the lockstep take the time of both branches, others that of one: where the time \
               falls, a run is as long as the lockstep is wide.",
        but: "CPU drivers run items in turn or in the lanes of a vector, so that the fall is at the vector's width or \
               missing. Very short branches may need no jump at all (predication).",
        cuda: "A warp whose threads take different sides runs both, one after the other: branch divergence.",
    },
    x_name: "g",
    x_label: plain,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let target = scope.target;
    let rounds = if target.gpu { 256 } else { 64 };
    let own = Own::of(&divergence::FAMILY, "two_ways", Dtype::I32, lab::items(target), lab::usual_wg(target));
    SHIFTS
        .flat_map(|shift| SERIES.map(|series| (shift, series)))
        // What all items do alike cannot depend on the runs: the ends show whether it does.
        .filter(|(shift, (name, ..))| *name == CHOSEN || [0, 10].contains(shift))
        .map(|(shift, (name, first, second))| {
            let params = [(SHIFT.name, shift), (FIRST.name, first), (SECOND.name, second), (ROUNDS.name, rounds)];
            own.trial(scope, name, (1u64 << shift) as f64, TIME, &params)
        })
        .collect()
}

fn finding(points: &[Point]) -> String {
    let over_one = compare_with_last(points, CHOSEN, ONE);
    if over_one.is_empty() {
        return nothing(points, "The cost of a branch was not measured.");
    }
    if over_one.len() < FEWEST_POINTS {
        let few = undecided_few(over_one.len(), "length of runs", "lengths of runs");
        return format!("What a branch costs is {few}.");
    }
    let controls = compare_series(points, BOTH, ONE, |_| true);
    let (least, most) =
        controls.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), c| (least.min(c.ratio), most.max(c.ratio)));
    // What all items do alike takes as long whatever the runs: what it differs by may be all that shows.
    let varies = variation(points, ONE).max(variation(points, BOTH));
    let over_one: Vec<Contrast> = over_one.iter().map(|c| c.beside_control(varies)).collect();
    match judged(&controls) {
        ControlVerdict::Short => {
            "What a branch costs is undecided: the control was not measured with the shortest and the longest runs."
                .to_owned()
        }
        ControlVerdict::Passed => format!(
            "{} The control passed: both branches take {} times as long as one.",
            cost_of_a_branch(&over_one),
            from_to(least, most)
        ),
        ControlVerdict::TooLittle => format!(
            "No conclusion: both branches take only {most:.2} times as long as one, so not all of the work was done."
        ),
        ControlVerdict::TooMuch => format!(
            "No conclusion: both branches take {} times as long as one, more than the work of two.",
            from_to(least, most)
        ),
        ControlVerdict::Differs => {
            format!("No conclusion: the control passed at one length of runs only ({}).", ratios(least, most))
        }
        ControlVerdict::Hidden => {
            format!("Whether all of the work was done is {} ({}).", undecided_factor(&controls), ratios(least, most))
        }
    }
}

/// What the control says: both branches beside one, with the shortest runs and with the longest.
enum ControlVerdict {
    /// Not measured at both lengths.
    Short,
    Passed,
    TooLittle,
    TooMuch,
    Differs,
    /// The spread hides it at some length.
    Hidden,
}

fn judged(controls: &[Contrast]) -> ControlVerdict {
    let all = |is: &dyn Fn(&Contrast) -> bool| controls.iter().all(is);
    let is_enough = |c: &Contrast| c.exceeds(PASSING) == Some(true);
    let is_little = |c: &Contrast| c.exceeds(PASSING) == Some(false);
    match controls.len() {
        0 | 1 => ControlVerdict::Short,
        _ if all(&is_little) => ControlVerdict::TooLittle,
        _ if controls.iter().any(is_enough) && controls.iter().any(is_little) => ControlVerdict::Differs,
        _ if controls.iter().any(|c: &Contrast| c.exceeds(MOST) == Some(true)) => ControlVerdict::TooMuch,
        _ if all(&|c| is_enough(c) && c.is_clear(MOST)) => ControlVerdict::Passed,
        _ => ControlVerdict::Hidden,
    }
}

/// `1.98`, or `1.90 to 2.30`.
fn from_to(least: f64, most: f64) -> String {
    let least = format!("{least:.2}");
    let most = format!("{most:.2}");
    if least == most { least } else { format!("{least} to {most}") }
}

fn ratios(least: f64, most: f64) -> String {
    format!("both branches take {} times as long as one", from_to(least, most))
}

/// The control passes above this factor: both branches take twice as long as one, but for the launch's own time, unless a
/// compiler left some of the work out.
const PASSING: f64 = 1.3;

/// It fails above this one: two branches of equal work are no more than twice one, but for the noise.
const MOST: f64 = 2.6;

/// Lockstep doubles the time: a smaller factor than this has other causes.
const COSTLY: f64 = 1.4;

/// Where the cost ends, if it is there and ends.
fn cost_of_a_branch(over_one: &[Contrast]) -> String {
    let most = over_one.iter().map(|c| c.ratio).fold(0.0, f64::max);
    let costs = over_one.iter().take_while(|c| c.ratio > COSTLY).count();
    // Those at which the cost ends decide; where there is none, the shortest runs do.
    let decide = &over_one[costs.saturating_sub(1)..over_one.len().min(costs + 1)];
    let is_clear = decide.iter().all(|c| c.is_clear(COSTLY));
    let costly_again: Vec<&Contrast> = over_one[costs..].iter().filter(|c| c.exceeds(COSTLY) == Some(true)).collect();
    // Between two that cost.
    let last_costly = over_one.iter().rposition(|c| c.exceeds(COSTLY) == Some(true)).map_or(0, |last| last + 1);
    let cheap: Vec<&Contrast> = over_one[..last_costly].iter().filter(|c| c.exceeds(COSTLY) == Some(false)).collect();
    let lone = match (costs, costly_again.as_slice(), cheap.as_slice()) {
        (1, [], _) if over_one.len() > 1 => over_one.first(),
        (_, [lone], _) | (_, [_, ..], [lone]) => Some(*lone),
        _ => None,
    };
    match over_one.get(costs) {
        _ if !is_clear => format!("What a branch costs is {}.", undecided_factor(over_one)),
        None => format!(
            "Where items take different branches, they need up to {most:.2} times as long as on one branch, however \
             many neighbours take the same: if items run in lockstep, more than {} of them do.",
            over_one.last().map_or(0.0, |c| c.x)
        ),
        _ if let Some(lone) = lone => format!(
            "What a branch costs is undecided: runs of {} alone take another time than those around them.",
            lone.x
        ),
        Some(_) if !costly_again.is_empty() => {
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
    fn lockstep_of_32_none_one_without_end_noise_and_contradictions() {
        insta::assert_snapshot!(finding(0.01, 198.0, |g| if g < 32.0 { 199.0 } else { 101.0 }), @"Where neighbouring items take different branches, they need up to 1.99 times as long as on one branch. The cost ends where 32 neighbours take the same branch, so 32 items run in lockstep. The control passed: both branches take 1.98 times as long as one.");
        insta::assert_snapshot!(finding(0.02, 195.0, |g| 100.0 + 3.0 / g), @"Where neighbouring items take different branches, they need at most 8 % longer than on one branch: items do not run in lockstep here. The control passed: both branches take 1.95 times as long as one.");
        insta::assert_snapshot!(finding(0.02, 195.0, |_| 190.0), @"Where items take different branches, they need up to 1.90 times as long as on one branch, however many neighbours take the same: if items run in lockstep, more than 1024 of them do. The control passed: both branches take 1.95 times as long as one.");
        insta::assert_snapshot!(finding(0.5, 195.0, |g| 100.0 + 40.0 / g), @"Whether all of the work was done is undecided: differences under 100 % cannot be seen in this run (both branches take 1.95 times as long as one). To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.");
        insta::assert_snapshot!(finding(0.01, 195.0, |g| if g == 8.0 || g == 32.0 { 150.0 } else { 100.0 }), @"Different branches cost time at some lengths of runs but not at shorter ones, so lockstep is not the cause. The control passed: both branches take 1.95 times as long as one.");
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
        assert!(conclusion(0.3, 112.0, 230.0).contains("work was done is undecided"), "one point does not tell");
        insta::assert_snapshot!(conclusion(0.2, 112.0, 112.0), @"Whether all of the work was done is undecided: differences under 40 % cannot be seen in this run (both branches take 1.12 times as long as one). To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.");
        assert!(conclusion(0.05, 112.0, 110.0).contains("only 1.12 times"));
        assert!(conclusion(0.05, 190.0, 230.0).contains("passed: both branches take 1.90 to 2.30 times"));
        insta::assert_snapshot!(conclusion(0.01, 390.0, 380.0), @"No conclusion: both branches take 3.80 to 3.90 times as long as one, more than the work of two.");
    }

    #[test]
    fn a_control_that_varies_as_much_as_the_effect() {
        let conclusion = |short: f64, cost: f64| {
            DIVERGENCE.finding(&points_of(&DIVERGENCE, true, 0.01, |series, g| match series {
                BOTH if g == 1.0 => 2.0 * short,
                BOTH => 200.0,
                ONE if g == 1.0 => short,
                CHOSEN if g < 32.0 => cost,
                _ => 100.0,
            }))
        };
        assert!(conclusion(105.0, 199.0).contains("so 32 items run in lockstep"), "{}", conclusion(105.0, 199.0));
        insta::assert_snapshot!(conclusion(200.0, 199.0), @"What a branch costs is undecided: differences under 100 % cannot be seen in this run. The control passed: both branches take 2.00 times as long as one. To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.");
        assert!(conclusion(150.0, 101.0).contains("is undecided: differences under 50 %"));
        assert!(conclusion(120.0, 101.0).contains("at most 22 % longer"));
    }

    #[test]
    fn a_few_points_decide_nothing() {
        let only = |lengths: &'static [f64], of: &'static str| {
            let mut points = points_of(&DIVERGENCE, true, 0.01, |series, _| if series == BOTH { 198.0 } else { 100.0 });
            points.retain(|p| p.series != of || lengths.contains(&p.x));
            DIVERGENCE.finding(&points)
        };
        insta::assert_snapshot!(only(&[1.0], CHOSEN), @"What a branch costs is undecided: 1 length of runs was measured, and at least 3 are needed. To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.");
        assert!(only(&[1.0, 2.0], CHOSEN).contains("2 lengths of runs were measured"));
        assert!(only(&[1.0, 2.0, 4.0], CHOSEN).contains("do not run in lockstep here"));
        insta::assert_snapshot!(only(&[1024.0], BOTH), @"What a branch costs is undecided: the control was not measured with the shortest and the longest runs. To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.");
        assert!(only(&[], BOTH).contains("the control was not measured"), "{}", only(&[], BOTH));
    }

    #[test]
    fn one_length_that_differs_decides_nothing() {
        let at = |lone: f64, else_: fn(f64) -> f64| {
            DIVERGENCE.finding(&points_of(&DIVERGENCE, true, 0.01, |series, g| match series {
                BOTH => 198.0,
                ONE => 100.0,
                _ if g == lone => 299.0 - else_(g),
                _ => else_(g),
            }))
        };
        for lone in [1.0, 2.0, 64.0, 1024.0] {
            let said = at(lone, |_| 100.0);
            assert!(said.contains(&format!("undecided: runs of {lone} alone")), "{said}");
        }
        let dip = at(4.0, |g| if g < 32.0 { 199.0 } else { 100.0 });
        assert!(dip.contains("undecided: runs of 4 alone"), "{dip}");
        assert!(at(0.0, |g| if g < 2.0 { 199.0 } else { 100.0 }).contains("undecided: runs of 1 alone"));
        assert!(at(0.0, |g| if g < 4.0 { 199.0 } else { 100.0 }).contains("so 4 items run in lockstep"));
    }
}

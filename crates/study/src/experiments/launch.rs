//! What launching a kernel costs, and when a sum by many launches is as good as one by a single launch.
//!
//! The sum by log2(n) launches that each halve what is left is the first that textbooks show; the one by a single launch
//! has a tree in local memory for each group.

use super::prelude::*;
use gpulab_kernels::exchange::{self, launch};
use gpulab_record::flag;

const ROUND_TRIP: &str = "empty, round trip";
const BACK_TO_BACK: &str = "empty, back to back";
const TO_START: &str = "empty, queued to start";
const EVENT: &str = "empty, event time";
const HALVING: &str = "sum, log2(n) launches";
const TREE: &str = "sum, one launch";

/// Of an empty kernel: series and variants.
const EMPTY: [(&str, &str); 4] = [
    (ROUND_TRIP, launch::ROUND_TRIP),
    (BACK_TO_BACK, launch::BACK_TO_BACK),
    (TO_START, launch::QUEUED_TO_START),
    (EVENT, launch::EVENT),
];

pub const LAUNCH: Experiment = Experiment {
    name: "launch",
    question: "What does launching a kernel cost, and from which n on is a sum by log2(n) launches as fast as by one?",
    about: Explanation {
        idea: "An empty kernel is launched alone and in a row. A sum by launches that each halve the data is compared \
               with a sum by one launch.",
        expect: "At small sizes launches are nearly all of the sum's time, and one launch wins; the larger the data, the \
               less their number matters.",
        but: "Drivers may gather launches, so that one in a row costs less than one alone. Not every driver's events \
               time an empty kernel.",
        cuda: "A launch is kernel<<<grid, block>>>() on a stream; CUDA graphs exist to make many of them cheaper.",
    },
    x_name: "n",
    x_label: plain,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let sizes: &[u32] = if scope.quick { &[10, 16, 22] } else { &[8, 10, 12, 14, 16, 18, 20, 22, 24, 26] };
    let empty = EMPTY.iter().map(|(series, variant)| trial(scope, series, variant, 1));
    let sums = sizes.iter().flat_map(|&log| {
        [(HALVING, launch::HALVING), (TREE, launch::TREE)]
            .map(|(series, variant)| trial(scope, series, variant, 1 << log))
    });
    empty.chain(sums).collect()
}

fn finding(points: &[Point]) -> String {
    joined([empty(points), sums(points)], " ").unwrap_or_else(|| "Nothing was launched.".to_owned())
}

fn trial(scope: &Scope<'_>, series: &str, variant: &str, n: u64) -> Trial {
    let case = exchange::case(&launch::EXCHANGE, variant, n, &[], scope.seed);
    Trial { series: series.into(), x: n as f64, metric: TIME, case }
}

fn empty(points: &[Point]) -> Option<String> {
    let us = |series: &str| value(points, series, 1.0).map(|us| format!("{us:.1} us"));
    Some(format!(
        "An empty kernel takes {} from the launch until the host sees it finish, and {} each in a row of launches{}.",
        us(ROUND_TRIP)?,
        us(BACK_TO_BACK)?,
        by_events(points)
    ))
}

/// What the driver's events say of an empty kernel, as the end of a sentence; a time by another clock is none of theirs.
fn by_events(points: &[Point]) -> String {
    let all = [("waits in the queue for", TO_START), ("runs for", EVENT)];
    let all: Vec<(&str, &Point)> =
        all.iter().filter_map(|(what, name)| Some((*what, *series(points, name).first()?))).collect();
    let by_events = all.iter().filter(|(_, point)| !point.flags.contains(flag::CLOCK_FALLBACK));
    let phrases: Vec<String> =
        by_events.filter_map(|(what, point)| Some(format!("{what} {:.1} us", point.measured()?))).collect();
    match phrases.join(" and ") {
        _ if all.is_empty() => String::new(),
        phrases if phrases.is_empty() => "; the driver's events give no time for it".to_owned(),
        phrases => format!("; by the driver's events it {phrases}"),
    }
}

fn sums(points: &[Point]) -> Option<String> {
    let all = compare_series(points, HALVING, TREE, |_| true);
    let end = end(&all)?;
    let losses = all.iter().filter(|c| c.verdict == Comparison::Higher);
    Some(match losses.max_by(|a, b| a.ratio.total_cmp(&b.ratio).then(b.x.total_cmp(&a.x))) {
        Some(most) => format!(
            "A sum by log2(n) launches takes up to {} as long as a sum by one launch (n = {}); {end}.",
            times(most.ratio),
            most.x
        ),
        None if any(&all, Comparison::Unclear) => {
            format!("Whether a sum by log2(n) launches is slower than one by one launch is {}; {end}.", undecided(&all))
        }
        None if all.len() == 1 => format!("Of sums by log2(n) launches and by one launch, {end}."),
        None => format!("A sum by log2(n) launches is not slower than a sum by one launch at any n; {end}."),
    })
}

/// What becomes of many launches as n grows: what is true from the last loss on.
fn end(all: &[Contrast]) -> Option<String> {
    let since = |is_meant: fn(Comparison) -> bool| all.iter().rposition(|c| !is_meant(c.verdict)).map_or(0, |i| i + 1);
    let last = all.last()?;
    let rest = &all[since(|verdict| verdict != Comparison::Higher)..];
    let Some(first) = rest.first() else {
        return Some(format!("at n = {} it still takes {} as long", last.x, times(last.ratio)));
    };
    if let Some(faster) = all.get(since(|verdict| verdict == Comparison::Lower)) {
        let from =
            if faster.x == last.x { format!("at n = {}", faster.x) } else { format!("from n = {} on", faster.x) };
        return Some(format!("{from}, log2(n) launches are faster"));
    }
    let faster = rest.iter().filter(|c| c.verdict == Comparison::Lower);
    let faster: Vec<String> = faster.map(|c| c.x.to_string()).collect();
    Some(match any(rest, Comparison::Unclear) {
        _ if !faster.is_empty() => format!("log2(n) launches are faster at n = {}", faster.join(", ")),
        true => format!("from n = {} on, which is faster is {}", first.x, undecided(rest)),
        false if rest.len() == 1 => format!("at n = {}, the two take equally long ({})", first.x, within(rest)),
        false => format!("from n = {} on, the two take equally long ({})", first.x, within(rest)),
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::points_of;
    use super::*;

    fn finding(us: impl Fn(&str, f64) -> f64) -> String {
        LAUNCH.finding(&points_of(&LAUNCH, false, 0.01, us)).replace(". ", ".\n")
    }

    /// What is said of the sum if log2(n) launches take so many times as long as one.
    fn of_sums(noise: f64, ratio: impl Fn(f64) -> f64) -> String {
        sums(&points_of(&LAUNCH, false, noise, |series, n| if series == HALVING { ratio(n) } else { 1.0 })).unwrap()
    }

    #[test]
    fn launches_stop_mattering() {
        let us = |series: &str, n: f64| match series {
            HALVING => 3.0 * n.log2() + n / 1e3,
            TREE => 3.0 + n / 1e3,
            _ => 4.0,
        };
        insta::assert_snapshot!(finding(us), @r"
        An empty kernel takes 4.0 us from the launch until the host sees it finish, and 4.0 us each in a row of launches; by the driver's events it waits in the queue for 4.0 us and runs for 4.0 us.
        A sum by log2(n) launches takes up to 7.71 times as long as a sum by one launch (n = 1024); from n = 4194304 on, the two take equally long (to within 4 %).
        ");
    }

    #[test]
    fn many_launches_may_be_faster_than_one() {
        insta::assert_snapshot!(of_sums(0.01, |n: f64| match n {
            ..1e4 => 2.0,
            1e4..1e6 => 4.0,
            _ => 0.5,
        }), @"A sum by log2(n) launches takes up to 4.00 times as long as a sum by one launch (n = 16384); from n = 1048576 on, log2(n) launches are faster.");
        insta::assert_snapshot!(of_sums(0.01, |n: f64| match n {
            ..1e4 => 2.0,
            1e4..1e6 => 0.5,
            _ => 1.0,
        }), @"A sum by log2(n) launches takes up to 2.00 times as long as a sum by one launch (n = 256); log2(n) launches are faster at n = 16384, 65536, 262144.");
    }

    #[test]
    fn a_loss_at_every_n_at_none_and_where_the_spread_hides_it() {
        insta::assert_snapshot!(of_sums(0.01, |_| 2.0), @"A sum by log2(n) launches takes up to 2.00 times as long as a sum by one launch (n = 256); at n = 67108864 it still takes 2.00 times as long.");
        insta::assert_snapshot!(of_sums(0.01, |_| 0.5), @"A sum by log2(n) launches is not slower than a sum by one launch at any n; from n = 256 on, log2(n) launches are faster.");
        insta::assert_snapshot!(of_sums(0.01, |_| 1.0), @"A sum by log2(n) launches is not slower than a sum by one launch at any n; from n = 256 on, the two take equally long (to within 2 %).");
        insta::assert_snapshot!(of_sums(0.3, |n: f64| if n < 1e4 { 4.0 } else { 1.3 }), @"A sum by log2(n) launches takes up to 4.00 times as long as a sum by one launch (n = 256); from n = 16384 on, which is faster is undecided: differences under 60 % cannot be seen in this run.");
    }

    #[test]
    fn times_by_another_clock_are_not_told_as_those_of_events() {
        let but = |fallen: &[&str]| {
            let mut points = points_of(&LAUNCH, false, 0.01, |series, _| if series == EVENT { 2.0 } else { 5.0 });
            for point in points.iter_mut().filter(|p| fallen.contains(&p.series.as_str())) {
                point.flags = flag::NOISY | flag::CLOCK_FALLBACK;
            }
            empty(&points).unwrap().split_once("; ").unwrap().1.to_owned()
        };
        assert_eq!(but(&[]), "by the driver's events it waits in the queue for 5.0 us and runs for 2.0 us.");
        assert_eq!(but(&[TO_START]), "by the driver's events it runs for 2.0 us.");
        assert_eq!(but(&[EVENT]), "by the driver's events it waits in the queue for 5.0 us.");
        assert_eq!(but(&[TO_START, EVENT]), "the driver's events give no time for it.");
    }

    #[test]
    fn nothing_is_said_of_events_that_were_not_measured() {
        let mut points = points_of(&LAUNCH, false, 0.01, |_, _| 4.0);
        points.retain(|p| p.series == ROUND_TRIP || p.series == BACK_TO_BACK);
        insta::assert_snapshot!(LAUNCH.finding(&points), @"An empty kernel takes 4.0 us from the launch until the host sees it finish, and 4.0 us each in a row of launches.");
    }
}

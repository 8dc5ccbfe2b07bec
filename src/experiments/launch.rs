//! What launching a kernel costs, and when a sum by many launches is as good as one by a single launch.
//!
//! The sum by log2(n) launches that each halve what is left is the first that textbooks show; the one by a single launch
//! has a tree in local memory for each group.

use super::evidence::{Verdict, compare_series, value};
use super::{Experiment, Scope, Trial};
use crate::exchange::{self, launch};
use crate::record::{Point, TIME};

/// The experiment's entry in the list.
pub struct Launch;

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

impl Experiment for Launch {
    fn name(&self) -> &'static str {
        "launch"
    }

    fn question(&self) -> &'static str {
        "What does launching a kernel cost, and from which n on does a sum not mind log2(n) launches?"
    }

    fn x_name(&self) -> &'static str {
        "n"
    }

    fn plan(&self, scope: &Scope<'_>) -> Vec<Trial> {
        let sizes: &[u32] = if scope.quick { &[10, 16, 22] } else { &[8, 10, 12, 14, 16, 18, 20, 22, 24, 26] };
        let empty = EMPTY.iter().map(|(series, variant)| trial(scope, series, variant, 1));
        let sums = sizes.iter().flat_map(|&log| {
            [(HALVING, launch::HALVING), (TREE, launch::TREE)]
                .map(|(series, variant)| trial(scope, series, variant, 1 << log))
        });
        empty.chain(sums).collect()
    }

    fn finding(&self, points: &[Point]) -> String {
        let said: Vec<String> = [empty(points), sums(points)].into_iter().flatten().collect();
        if said.is_empty() { "Nothing was launched.".to_owned() } else { said.join(" ") }
    }
}

fn trial(scope: &Scope<'_>, series: &str, variant: &str, n: u64) -> Trial {
    let case = exchange::case(&launch::EXCHANGE, variant, n, &[], scope.seed);
    Trial { series: series.into(), x: n as f64, metric: TIME, case }
}

/// What an empty kernel costs.
fn empty(points: &[Point]) -> Option<String> {
    let us = |series: &str| value(points, series, 1.0).map(|us| format!("{us:.1} us"));
    let by_events = points.iter().any(|p| p.series == EVENT && !p.has_flag(crate::record::flag::CLOCK_FALLBACK));
    let events = if by_events {
        format!(
            "; by events it lies {} in the queue and runs {}",
            us(TO_START).unwrap_or_else(|| "?".into()),
            us(EVENT).unwrap_or_else(|| "?".into())
        )
    } else {
        "; the driver's event times tell nothing".to_owned()
    };
    Some(format!(
        "An empty kernel costs {} from launch to knowledge of its end, and {} in a row of launches{events}.",
        us(ROUND_TRIP)?,
        us(BACK_TO_BACK)?
    ))
}

/// When many launches are as good as one.
fn sums(points: &[Point]) -> Option<String> {
    let all = compare_series(points, HALVING, TREE, |_| true);
    let (first, last) = (all.first()?, all.last()?);
    let from = all.iter().rposition(|c| c.verdict == Verdict::Higher).map_or(0, |i| i + 1);
    let end = match all.get(from) {
        Some(c) => format!("from n = {} on they make no difference", c.x),
        None => format!("at n = {} still {:.1} times", last.x, last.ratio),
    };
    Some(format!(
        "A sum by log2(n) launches takes {:.1} times as long as one by a single launch at n = {}; {end}.",
        first.ratio, first.x
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::fake::fake_info;
    use crate::record::point;

    fn finding(us: impl Fn(&str, f64) -> f64) -> String {
        let target = fake_info().target;
        let plan = Launch.plan(&Scope { target: &target, quick: false, seed: 1 });
        let points: Vec<Point> = plan.iter().map(|t| point(&t.series, t.x as u64, us(&t.series, t.x), 0.01)).collect();
        Launch.finding(&points).replace(". ", ".\n")
    }

    #[test]
    fn launches_stop_mattering() {
        let us = |series: &str, n: f64| match series {
            HALVING => 3.0 * n.log2() + n / 1e3,
            TREE => 3.0 + n / 1e3,
            _ => 4.0,
        };
        insta::assert_snapshot!(finding(us), @r"
        An empty kernel costs 4.0 us from launch to knowledge of its end, and 4.0 us in a row of launches; by events it lies 4.0 us in the queue and runs 4.0 us.
        A sum by log2(n) launches takes 7.4 times as long as one by a single launch at n = 256; from n = 4194304 on they make no difference.
        ");
    }

    #[test]
    fn launches_never_stop_mattering() {
        insta::assert_snapshot!(finding(|series, n| if series == HALVING { 2.0 * n } else { n }), @r"
        An empty kernel costs 1.0 us from launch to knowledge of its end, and 1.0 us in a row of launches; by events it lies 1.0 us in the queue and runs 1.0 us.
        A sum by log2(n) launches takes 2.0 times as long as one by a single launch at n = 256; at n = 67108864 still 2.0 times.
        ");
    }
}

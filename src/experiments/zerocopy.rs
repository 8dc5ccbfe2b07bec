//! Kernels that read the host's memory directly: from how many readings on a copy pays.

use super::evidence::{Verdict, compare, compare_series, values};
use super::{Experiment, Scope, Trial};
use crate::exchange::{self, zerocopy};
use crate::record::{Point, TIME};

/// The experiment's entry in the list.
pub struct ZeroCopy;

const COPIED: &str = "copied, then read";
const FILLED: &str = "filled by mapping, then read";
const IN_PLACE: &str = "read in host memory";
const ON_DEVICE: &str = "read in device memory";

/// Series and variants: the ways from the host's data to a sum, then what reading alone takes.
const SERIES: [(&str, &str); 4] = [
    (COPIED, zerocopy::COPIED),
    (FILLED, zerocopy::FILLED),
    (IN_PLACE, zerocopy::IN_PLACE),
    (ON_DEVICE, zerocopy::ON_DEVICE),
];

impl Experiment for ZeroCopy {
    fn name(&self) -> &'static str {
        "zerocopy"
    }

    fn question(&self) -> &'static str {
        "Is it faster to let a kernel read the host's memory than to copy the data first, if it reads them once or often?"
    }

    fn x_name(&self) -> &'static str {
        "passes"
    }

    fn plan(&self, scope: &Scope<'_>) -> Vec<Trial> {
        let passes: &[u64] = if scope.quick { &[1, 4] } else { &[1, 2, 4, 8, 16] };
        let words = if scope.quick { 1 << 22 } else { 1 << 24 };
        let trial = |passes: u64, (series, variant): (&str, &str)| Trial {
            series: series.into(),
            x: passes as f64,
            metric: TIME,
            case: exchange::case(&zerocopy::EXCHANGE, variant, words, &[(zerocopy::PASSES_SET, passes)], scope.seed),
        };
        passes.iter().flat_map(|&passes| SERIES.map(|series| trial(passes, series))).collect()
    }

    fn finding(&self, points: &[Point]) -> String {
        let said: Vec<String> = [reading(points), whole(points)].into_iter().flatten().collect();
        if said.is_empty() { "Nothing was read.".to_owned() } else { said.join(" ") }
    }
}

/// Where memory that both sides reach really lies, as its readings tell.
fn reading(points: &[Point]) -> Option<String> {
    let (x, _) = *values(points, IN_PLACE).last()?;
    let contrast = compare(points, (IN_PLACE, x), (ON_DEVICE, x))?;
    Some(match contrast.verdict {
        Verdict::Higher => format!(
            "Memory that host and device share is read {:.1} times as slowly as the device's own.",
            contrast.ratio
        ),
        Verdict::Lower => {
            format!("Shared memory is read {:.1} times as fast as the device's own.", 1.0 / contrast.ratio)
        }
        Verdict::Same => {
            "Memory that host and device share is read as fast as the device's own: it is the same, or the \
                          driver keeps a copy."
                .to_owned()
        }
        Verdict::Unclear => {
            "Memory that host and device share is read as fast as the device's own within the spread.".to_owned()
        }
    })
}

/// Whether the way by a mapping is shorter, data and all.
fn whole(points: &[Point]) -> Option<String> {
    let all = compare_series(points, FILLED, COPIED, |_| true);
    let first = all.first()?;
    let once = match first.verdict {
        Verdict::Lower | Verdict::Higher => format!("takes {:.2} times as long as copying them first", first.ratio),
        Verdict::Same => "takes as long as copying them first".to_owned(),
        Verdict::Unclear => "takes as long as copying them first within the spread".to_owned(),
    };
    let since = all.iter().rposition(|c| c.verdict != Verdict::Higher).map_or(0, |i| i + 1);
    let turn = all.get(since).filter(|_| first.verdict != Verdict::Higher);
    let turn = turn.map_or_else(String::new, |c| format!("; from {} readings on the copy pays", c.x));
    Some(format!("Handing data over by a mapping and reading them {} {once}{turn}.", times(first.x)))
}

fn times(passes: f64) -> String {
    if passes == 1.0 { "once".to_owned() } else { format!("{passes} times") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::fake::fake_info;
    use crate::record::point;

    fn finding(us: impl Fn(&str, f64) -> f64) -> String {
        let target = fake_info().target;
        let plan = ZeroCopy.plan(&Scope { target: &target, quick: false, seed: 1 });
        let points: Vec<Point> = plan.iter().map(|t| point(&t.series, t.x as u64, us(&t.series, t.x), 0.01)).collect();
        ZeroCopy.finding(&points).replace(". ", ".\n")
    }

    #[test]
    fn a_link_slower_than_memory() {
        let us = |series: &str, passes: f64| match series {
            COPIED => 100.0 + passes,
            FILLED => 30.0 + 50.0 * passes,
            IN_PLACE => 50.0 * passes,
            _ => passes,
        };
        insta::assert_snapshot!(finding(us), @r"
        Memory that host and device share is read 50.0 times as slowly as the device's own.
        Handing data over by a mapping and reading them once takes 0.79 times as long as copying them first; from 2 readings on the copy pays.
        ");
    }

    #[test]
    fn one_memory_for_both() {
        insta::assert_snapshot!(finding(|series, passes| if series == COPIED { 20.0 } else { 10.0 } + passes), @r"
        Memory that host and device share is read as fast as the device's own: it is the same, or the driver keeps a copy.
        Handing data over by a mapping and reading them once takes 0.52 times as long as copying them first.
        ");
    }

    #[test]
    fn a_copy_pays_only_if_it_does_from_there_on() {
        let us = |series: &str, passes: f64| match (series, passes as u64) {
            (FILLED, 2 | 8 | 16) => 20.0,
            _ => 10.0,
        };
        assert!(
            finding(us).ends_with("takes as long as copying them first; from 8 readings on the copy pays."),
            "{}",
            finding(us)
        );
        let once = |series: &str, passes: f64| if series == FILLED && passes == 2.0 { 20.0 } else { 10.0 };
        assert!(finding(once).ends_with("takes as long as copying them first."), "{}", finding(once));
    }
}

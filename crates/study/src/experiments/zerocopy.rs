//! Kernels that read the host's memory directly: from how many readings on a copy pays.

use super::prelude::*;
use gpulab_kernels::exchange::{self, zerocopy};

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

pub const ZERO_COPY: Experiment = Experiment {
    name: "zerocopy",
    question: "Is it faster to let a kernel read host memory than to copy the data first, if it reads them once or often?",
    about: Explanation {
        idea: "A kernel reads host memory in place, or the data are copied first, or filled by mapping; then they are \
               read once or several times.",
        expect: "Read once, the data may as well stay where they are; the more often they are read, the sooner a copy \
               pays.",
        but: "A driver may keep a copy on the device, whatever it was asked for; on a CPU device both memories are \
               one.",
        cuda: "Zero copy: mapped pinned memory (cudaHostAllocMapped).",
    },
    x_name: "passes",
    x_label: plain,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
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

fn finding(points: &[Point]) -> String {
    let sentences = joined([in_place(points), reading(points), filling(points)], " ");
    sentences.unwrap_or_else(|| nothing(points, "No two ways can be compared."))
}

/// Whether data that lie in host memory already had better be read there.
fn in_place(points: &[Point]) -> Option<String> {
    let all = compare_series(points, IN_PLACE, COPIED, |_| true);
    let first = all.first()?;
    Some(format!(
        "If the data already lie in host memory that the device can read, reading them there {} is {}{}.",
        times(first.x),
        pace_beside(&first.inverse(), "copying them first"),
        turn(&all)
    ))
}

/// From how many passes on the copy pays, of times without a copy over those with it.
fn turn(all: &[Contrast]) -> String {
    let Some((last, more)) = all.split_last().filter(|(_, more)| !more.is_empty()) else { return String::new() };
    let gain = match last.verdict {
        Comparison::Unclear => format!("whether copying first is faster is {}", undecided(&[*last])),
        _ => format!("copying first shows no gain (at most {})", excess([last])),
    };
    let since = all.iter().rposition(|c| c.verdict != Comparison::Higher).map_or(0, |i| i + 1);
    match all.get(since) {
        Some(_) if since == 0 => format!("; copying first is faster at any number of passes up to {}", last.x),
        Some(c) => format!("; from {} passes on, copying first is faster", c.x),
        None if any(more, Comparison::Higher) || any(all, Comparison::Unclear) => {
            format!("; with {} passes {gain}", last.x)
        }
        None => format!("; up to {} passes copying first shows no gain (at most {})", last.x, excess(all)),
    }
}

/// Where memory that both sides reach really lies, as its readings tell.
fn reading(points: &[Point]) -> Option<String> {
    let (x, _) = *values(points, IN_PLACE).last()?;
    let contrast = compare(points, (IN_PLACE, x), (ON_DEVICE, x))?;
    let why = match contrast.verdict {
        Comparison::Same => ": both are the same memory, or the driver or a cache keeps a copy",
        _ => "",
    };
    let own = "reading the device's own memory";
    Some(format!("Reading host memory is {}{why}.", pace_beside(&contrast.inverse(), own)))
}

/// Whether the way by a mapping is shorter, data and all.
fn filling(points: &[Point]) -> Option<String> {
    let all = compare_series(points, FILLED, COPIED, |_| true);
    let first = all.first()?;
    let once = pace_beside(&first.inverse(), "copying and reading them");
    let turn = if first.verdict == Comparison::Higher { String::new() } else { turn(&all) };
    Some(format!(
        "Writing the data to host memory through a mapping and reading them {} is {once}{turn}.",
        times(first.x)
    ))
}

fn times(passes: f64) -> String {
    if passes == 1.0 { "once".to_owned() } else { format!("{passes} times") }
}

#[cfg(test)]
mod tests {
    use super::super::tests::points_of;
    use super::*;
    use gpulab_record::point;

    fn finding(us: impl Fn(&str, f64) -> f64) -> String {
        ZERO_COPY.finding(&points_of(&ZERO_COPY, false, 0.01, us)).replace(". ", ".\n")
    }

    /// From how many passes on a copy pays, where reading the host's memory takes so long and a copy and its readings 10 us.
    fn pays(us: impl Fn(f64) -> f64) -> String {
        let points = points_of(&ZERO_COPY, false, 0.01, |series, x| if series == IN_PLACE { us(x) } else { 10.0 });
        in_place(&points).unwrap().split_once("; ").unwrap().1.to_owned()
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
        If the data already lie in host memory that the device can read, reading them there once is 2.02 times as fast as copying them first; from 4 passes on, copying first is faster.
        Reading host memory is 50.0 times slower than reading the device's own memory.
        Writing the data to host memory through a mapping and reading them once is 1.26 times as fast as copying and reading them; from 2 passes on, copying first is faster.
        ");
    }

    #[test]
    fn one_memory_for_both_and_a_copy_that_pays_at_once() {
        insta::assert_snapshot!(finding(|series, passes| if series == COPIED { 20.0 } else { 10.0 } + passes), @r"
        If the data already lie in host memory that the device can read, reading them there once is 1.91 times as fast as copying them first; up to 16 passes copying first shows no gain (at most 1 %).
        Reading host memory is as fast as reading the device's own memory (to within 2 %): both are the same memory, or the driver or a cache keeps a copy.
        Writing the data to host memory through a mapping and reading them once is 1.91 times as fast as copying and reading them; up to 16 passes copying first shows no gain (at most 1 %).
        ");
        insta::assert_snapshot!(finding(|series, passes| if series == COPIED { 20.0 } else { 50.0 } * passes), @r"
        If the data already lie in host memory that the device can read, reading them there once is 2.50 times slower than copying them first; copying first is faster at any number of passes up to 16.
        Reading host memory is as fast as reading the device's own memory (to within 2 %): both are the same memory, or the driver or a cache keeps a copy.
        Writing the data to host memory through a mapping and reading them once is 2.50 times slower than copying and reading them.
        ");
    }

    #[test]
    fn too_few_points() {
        insta::assert_snapshot!(ZERO_COPY.finding(&[point(COPIED, 1, 1.0, 0.0)]), @"No two ways can be compared.");
        let two = [point(COPIED, 4, 1.0, 0.0), point(IN_PLACE, 4, 2.0, 0.0)];
        insta::assert_snapshot!(ZERO_COPY.finding(&two), @"If the data already lie in host memory that the device can read, reading them there 4 times is 2.00 times slower than copying them first.");
    }

    #[test]
    fn a_copy_pays_only_if_it_does_from_there_on() {
        let slow = |at: &'static [f64]| move |passes: f64| if at.contains(&passes) { 20.0 } else { 10.0 };
        assert_eq!(pays(slow(&[2.0, 8.0, 16.0])), "from 8 passes on, copying first is faster.");
        for once in [&[1.0], &[2.0]] {
            assert_eq!(pays(slow(once)), "with 16 passes copying first shows no gain (at most 2 %).");
        }
    }
}

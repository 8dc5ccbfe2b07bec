//! What a size that is no multiple of the work-group costs, and who had best pay for it.
//!
//! A guard stands before each access; the host or a second launch adds the remaining elements; or zeros lie behind the data.
//! The study follows the classic exercise of a dot product whose size the work-items do not divide. Its kernels are one
//! dot product of integers in four forms; a group takes a block of elements and leaves one sum.
//!
//! What a point's time includes: the device's, by the row's clock, from the start of the first launch that counts to the
//! end of the last; and what the host took to add its elements, as if nothing else ran meanwhile. Not included, and the
//! same for all forms: reading the groups' sums back and adding them. Padding starts from data that lie padded on the
//! device; the copy that made them so has a series of its own, where the driver's events time it.

use super::prelude::*;
use gpulab_kernels::lab::presum::{self, ITEMS};

/// The control: a whole number of groups, and no remedy.
const WHOLE: &str = "whole";

/// The forms, as series and as rungs.
const REMEDIES: [&str; 4] = ["guard", "host", "device", "padding"];

const COPY: &str = "padding's copy";

/// The median time with the host's part, in microseconds.
const TIME: Metric =
    Metric { name: "time", unit: "us", of: |row| Some((row.t_median_s? + row.t_host_tail_s.unwrap_or(0.0)) * 1e6) };

/// The median time of the launches before those that count, in microseconds.
const COPY_TIME: Metric = Metric { name: "time", unit: "us", of: |row| Some(row.t_preparation_s? * 1e6) };

pub const PRESUM: Experiment = Experiment {
    name: "presum",
    question: "What does a size that is not a multiple of the work-group size cost, with a guard, host or device \
               presum, or padding?",
    about: Explanation {
        idea: "A dot product of a size that the groups do not divide: with a guard before each access, with the host or \
               a second launch adding the rest, or with zeros behind the data.",
        expect: "The guard is cheap, as it hides behind the loads. A second launch costs a launch, which weighs most at \
               small sizes.",
        but: "Padding is timed on data that are padded already: where they must be copied first, the copy decides.",
        cuda: "The usual guard is if (i < n) in each thread.",
    },
    x_name: "rest",
    x_label: plain,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let wg = 1 << scope.target.max_wg.clamp(1, 256).ilog2();
    let block = wg as u64 * ITEMS;
    let rests = [0, 1, block / 2, block - 1];
    // Powers of two: a size where the launch is most of the time, and one where memory is.
    [16, scope.pick([24, 20], [22, 20])]
        .into_iter()
        .flat_map(|power: u32| rests.into_iter().flat_map(move |rest| trials(power, rest, wg, scope.seed)))
        .collect()
}

fn finding(points: &[Point]) -> String {
    let sizes = distinct(points.iter().filter_map(|p| Some(p.series.split_once(", ")?.1)));
    if sizes.is_empty() {
        return "No remedy was compared with a whole number of groups.".to_owned();
    }
    let of_size: Vec<String> = sizes.iter().map(|size| cheapest(points, size)).collect();
    format!("{} {}", of_size.join(" "), idle_guard(points, &sizes))
}

fn series(form: &str, size: &str) -> String {
    format!("{form}, {size}")
}

fn trials(power: u32, rest: u64, wg: usize, seed: u64) -> Vec<Trial> {
    let trial = |form: &str, variant: &str| Trial {
        series: series(form, &format!("2^{power}")),
        x: rest as f64,
        metric: TIME,
        case: Case {
            wg: WorkGroup::linear(wg),
            seed,
            ..Case::of(&presum::FAMILY.name, variant, Dtype::I32, Shape::vector((1 << power) + rest))
        },
    };
    // Without a remainder the host has nothing to add: its kernel alone is the one without any remedy.
    let control = (rest == 0).then(|| trial(WHOLE, "host"));
    let copy = Trial { metric: COPY_TIME, ..trial(COPY, "padding") };
    control.into_iter().chain(REMEDIES.map(|remedy| trial(remedy, remedy))).chain([copy]).collect()
}

/// What each remedy costs at a size: the most over all rests but none, beside the control.
fn costs(points: &[Point], size: &str) -> Vec<(&'static str, Contrast)> {
    let control = series(WHOLE, size);
    let cost = |remedy: &'static str| {
        let own = series(remedy, size);
        let rests = points.iter().filter(|p| p.series == own && p.x > 0.0).map(|p| p.x);
        let all = rests.filter_map(|x| compare(points, (&own, x), (&control, 0.0)));
        Some((remedy, all.max_by(|a, b| a.ratio.total_cmp(&b.ratio))?))
    };
    let mut costs: Vec<(&str, Contrast)> = REMEDIES.into_iter().filter_map(cost).collect();
    costs.sort_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio));
    costs
}

fn cheapest(points: &[Point], size: &str) -> String {
    let costs = costs(points, size);
    let (dear, free): (Vec<_>, Vec<_>) = costs.into_iter().partition(|(_, cost)| cost.verdict == Comparison::Higher);
    let remedies = dear
        .iter()
        .map(|(remedy, cost): &(&str, Contrast)| {
            format!("{remedy} takes up to {} as long (rest = {})", times(cost.ratio), cost.x)
        })
        .joined(", ");
    let costs: Vec<Contrast> = free.iter().map(|(_, cost)| *cost).collect();
    let is_clear = !any(&costs, Comparison::Unclear);
    let verb = if free.len() == 1 { "costs" } else { "cost" };
    let free = listed(&free.iter().map(|(remedy, _)| *remedy).collect::<Vec<_>>());
    let little = match is_clear {
        true => format!("{free} {verb} less than {}", excess(&costs)),
        false => format!("the cost of {free} is {}", undecided(&costs)),
    };
    let what = match (free.as_str(), dear.first()) {
        ("", None) => "no remedy was compared with a whole number of groups".to_owned(),
        (_, None) if is_clear => format!("a remainder does not matter: {little}"),
        (_, None) => little,
        ("", Some((least, _))) => format!("every remedy costs time, {least} the least: {remedies}"),
        (_, Some(_)) => format!("{little}; {remedies}"),
    };
    format!("At {size} elements, {what}{}.", left_out(points, size))
}

/// What the copy takes that padding needs, as the end of the sentence on a size where padding was compared.
fn left_out(points: &[Point], size: &str) -> String {
    let most = |form: &str| values(points, &series(form, size)).into_iter().map(|(_, us)| us).reduce(f64::max);
    match (most(WHOLE), most("padding"), most(COPY)) {
        (Some(whole), Some(_), Some(copy)) => format!(
            "; the copy that padding needs is not counted ({copy:.1} us, against {whole:.1} us for a whole number of groups)"
        ),
        (Some(_), Some(_), None) => "; the copy that padding needs is not counted".to_owned(),
        _ => String::new(),
    }
}

/// `a, b and c`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The sentence on a guard where there is no rest, so that it costs nothing but its comparisons.
fn idle_guard(points: &[Point], sizes: &[&str]) -> String {
    let costs: Vec<Contrast> = sizes
        .iter()
        .filter_map(|size: &&str| compare(points, (&series("guard", size), 0.0), (&series(WHOLE, size), 0.0)))
        .collect();
    let most = costs.iter().filter(|c| c.verdict == Comparison::Higher).map(|c| c.ratio).reduce(f64::max);
    match most {
        Some(ratio) => {
            format!("With no remainder, the guard alone makes the kernel take up to {} as long.", times(ratio))
        }
        None if costs.is_empty() => "The guard was not measured with no remainder.".to_owned(),
        None if any(&costs, Comparison::Unclear) => {
            format!("With no remainder, the guard's cost is {}.", undecided(&costs))
        }
        None => format!("With no remainder, the guard has no measurable cost (less than {}).", excess(&costs)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::points_of;
    use super::*;
    use gpulab_record::row;

    /// Points of a device on which a form takes `time(form, size, rest)` us, with this noise.
    fn points(noise: f64, time: impl Fn(&str, &str, f64) -> f64) -> Vec<Point> {
        points_of(&PRESUM, false, noise, |series, rest| {
            let (form, size) = series.split_once(", ").unwrap();
            time(form, size, rest)
        })
    }

    /// A device on which a second launch costs 8 us and the host 1 us for 1024 elements.
    fn gpu(form: &str, size: &str, rest: f64) -> f64 {
        let whole = if size == "2^16" { 10.0 } else { 200.0 };
        whole
            + match form {
                "device" if rest > 0.0 => 8.0,
                "host" => rest / 1024.0,
                _ => 0.0,
            }
    }

    /// What is said of the smaller size, where no copy was measured, and of a guard that is never needed.
    fn said(noise: f64, time: impl Fn(&str, f64) -> f64) -> String {
        let mut some = points(noise, |form, _, rest| time(form, rest));
        some.retain(|p| p.series.ends_with("2^16") && !p.series.starts_with(COPY));
        PRESUM.finding(&some)
    }

    #[test]
    fn the_cheapest_remedies_are_named_at_each_size() {
        let mut some = points(0.01, gpu);
        insta::assert_snapshot!(PRESUM.finding(&some).replace(". ", ".\n"), @r"
        At 2^16 elements, guard and padding cost less than 2 %; host takes up to 1.20 times as long (rest = 2047), device takes up to 1.80 times as long (rest = 2047); the copy that padding needs is not counted (10.0 us, against 10.0 us for a whole number of groups).
        At 2^22 elements, a remainder does not matter: guard, padding, host and device cost less than 7 %; the copy that padding needs is not counted (200.0 us, against 200.0 us for a whole number of groups).
        With no remainder, the guard has no measurable cost (less than 2 %).
        ");
        some.retain(|p| p.series == "device, 2^16" || p.series == "device, 2^22");
        insta::assert_snapshot!(PRESUM.finding(&some), @"At 2^16 elements, no remedy was compared with a whole number of groups. At 2^22 elements, no remedy was compared with a whole number of groups. The guard was not measured with no remainder.");
    }

    #[test]
    fn remedies_that_all_cost_or_none_or_the_guard_alone() {
        insta::assert_snapshot!(said(0.01, |form: &str, rest: f64| match form {
            _ if form == "whole" || rest == 0.0 => 100.0,
            "guard" => 140.0,
            "host" => 115.0,
            _ => 120.0,
        }), @"At 2^16 elements, every remedy costs time, host the least: host takes up to 1.15 times as long (rest = 2047), device takes up to 1.20 times as long (rest = 2047), padding takes up to 1.20 times as long (rest = 2047), guard takes up to 1.40 times as long (rest = 2047); the copy that padding needs is not counted. With no remainder, the guard has no measurable cost (less than 2 %).");
        insta::assert_snapshot!(said(0.01, |form, _| if form == "guard" { 130.0 } else { 100.0 }), @"At 2^16 elements, host, device and padding cost less than 2 %; guard takes up to 1.30 times as long (rest = 2047); the copy that padding needs is not counted. With no remainder, the guard alone makes the kernel take up to 1.30 times as long.");
        insta::assert_snapshot!(said(0.01, |_, _| 100.0), @"At 2^16 elements, a remainder does not matter: guard, host, device and padding cost less than 2 %; the copy that padding needs is not counted. With no remainder, the guard has no measurable cost (less than 2 %).");
        insta::assert_snapshot!(said(0.2, |_, rest| 100.0 + rest.min(5.0)), @"At 2^16 elements, the cost of guard, host, device and padding is undecided: differences under 40 % cannot be seen in this run; the copy that padding needs is not counted. With no remainder, the guard's cost is undecided: differences under 40 % cannot be seen in this run. To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.");
    }

    #[test]
    fn times_have_the_hosts_part_and_the_copys_is_what_prepared_the_data() {
        let row = Row { t_median_s: Some(2e-6), t_host_tail_s: Some(1e-6), t_preparation_s: Some(7e-6), ..row("host") };
        let us = |metric: Metric, row: &Row| (metric.of)(row).map(f64::round);
        assert_eq!([us(TIME, &row), us(COPY_TIME, &row)], [Some(3.0), Some(7.0)]);
        assert_eq!(us(TIME, &Row { t_host_tail_s: None, ..row.clone() }), Some(2.0));
        assert_eq!(us(COPY_TIME, &Row { t_preparation_s: None, ..row.clone() }), None);
        assert_eq!(us(TIME, &Row { t_median_s: None, ..row }), None);
    }

    #[test]
    fn the_copy_for_padding_is_told_only_with_padding() {
        let mut points = points(0.01, |form, size, rest| if form == COPY { 30.0 } else { gpu(form, size, rest) });
        assert!(PRESUM.finding(&points).contains(
            "; the copy that padding needs is not counted (30.0 us, against 10.0 us for a whole number of groups)."
        ));
        points.retain(|p| !p.series.starts_with("padding"));
        assert!(!PRESUM.finding(&points).contains("copy"));
    }
}

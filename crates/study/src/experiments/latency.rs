//! Latency of loads: one work-item follows a random cycle of addresses, through global memory from a few KiB to far more
//! than caches hold, and through local memory.
//!
//! Each load's address is what the load before it found (L. McVoy and C. Staelin, "lmbench: Portable Tools for Performance
//! Analysis", USENIX 1996). The control makes as many loads of the same memory by the same instructions, but knows their
//! addresses beforehand: where it takes as long, something else than latency was measured. The cycle is laid out anew before
//! each timed chase, over all of its memory; caches therefore hold no more of it than they always could. On most devices
//! large working sets also miss the cache of address translations, whose cost is part of the latency here.

use super::prelude::*;
use gpulab_kernels::lab::chase::{self, DEPENDENT, LINE, UNROLLED};

/// From one load of a lone item to its next.
const PER_LOAD: Metric =
    Metric { name: "latency", unit: "ns", of: |row: &Row| Some(1e9 * row.t_median_s? / row.ops? as f64) };
/// Clocks in a nanosecond, by the driver's word.
const GHZ: Metric = Metric { name: "clock", unit: "GHz", of: |row: &Row| row.clock_mhz.map(|mhz| mhz / 1000.0) };

const GLOBAL: &str = "dependent";
const GLOBAL_CONTROL: &str = "independent";
const LOCAL: &str = "local";
const LOCAL_CONTROL: &str = "local, independent";
const CLOCK: &str = "clock, as stated";

pub const LATENCY: Experiment = Experiment {
    name: "latency",
    question: "How long does a dependent load take in each cache, in memory and in local memory?",
    about: Explanation {
        idea: "One item follows a random cycle of addresses through working sets of growing size: each load gives the \
               next address. The control makes the same loads with addresses known beforehand.",
        expect: "The time of a load rises in steps, wherever the working set outgrows a cache; local memory stays flat.",
        but: "Large working sets miss the cache of address translations too, and that time is part of the latency \
               here. Many items hide latency: it says little about bandwidth.",
        cuda: "Pointer chasing through L1, L2 and the device's memory, and through __shared__ memory.",
    },
    x_name: "working set",
    x_label: bytes,
    plan,
    finding,
};

fn bytes(x: f64) -> String {
    binary(x as u64)
}

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let step = if scope.quick { 2 } else { 1 };
    let most = if scope.quick { 28 } else { 29 };
    let of = |name: &'static str, logs: std::ops::RangeInclusive<u32>| {
        logs.step_by(step).map(move |log| trial(scope, name, PER_LOAD, log))
    };
    let local = scope.target.local_mem.clamp(1 << LEAST, 1 << MOST_LOCAL).ilog2();
    let clock = std::iter::once(trial(scope, CLOCK, GHZ, LEAST));
    of(GLOBAL, LEAST..=most)
        .chain(of(GLOBAL_CONTROL, LEAST..=most))
        .chain(of(LOCAL, LEAST..=local))
        .chain(of(LOCAL_CONTROL, LEAST..=local))
        .chain(clock)
        .collect()
}

/// Logarithms of the least bytes, and of the most of local memory: every device of use has so much, and laying out more would
/// take time beside the chase.
const LEAST: u32 = 12;
const MOST_LOCAL: u32 = 14;

/// A chase over `1 << log` bytes.
fn trial(scope: &Scope<'_>, name: &'static str, metric: Metric, log: u32) -> Trial {
    let is_local = [LOCAL, LOCAL_CONTROL].contains(&name);
    let nodes = 1u64 << (log - if is_local { 2 } else { 2 + LINE });
    let is_dependent = ![GLOBAL_CONTROL, LOCAL_CONTROL].contains(&name);
    let params = [(DEPENDENT.name, u64::from(is_dependent)), (ROUNDS.name, rounds(scope.target.gpu, nodes))];
    let (variant, wg) = if is_local { ("local", scope.target.max_wg.min(64)) } else { ("global", 1) };
    Own::of(&chase::FAMILY, variant, Dtype::I32, nodes, wg).trial(scope, name, (1u64 << log) as f64, metric, &params)
}

/// Rounds of a chase. Where a cache may hold the nodes, each is visited so often that the first visit, which fills the cache,
/// counts little; a GPU's loads from further away take long, and its last cache is filled already. One round less than whole
/// turns of the cycle, so that the end of a chase tells how it went.
fn rounds(gpu: bool, nodes: u64) -> u64 {
    let loads: u64 = match (gpu, nodes) {
        (true, ..=0x3ff | 0x8000..) => 1 << 16,
        (true, _) => 1 << 18,
        (false, _) => 1 << 19,
    };
    loads / UNROLLED - 1
}

fn finding(points: &[Point]) -> String {
    let steps = steps(points);
    if steps.is_empty() {
        return nothing(points, "No two sizes were measured.");
    }
    let controls = compare_series(points, GLOBAL, GLOBAL_CONTROL, |_| true);
    let control = match Control::of(&controls) {
        Control::Failed => {
            return "No conclusion: dependent loads take no longer than independent ones, so throughput was measured, \
                    not latency."
                .to_owned();
        }
        control => control.phrase(&controls),
    };
    let ghz = series(points, CLOCK).first().and_then(|p| p.measured());
    let sentences = [levels(points, &steps, ghz), local(points, ghz), control];
    sentences.into_iter().filter(|sentence| !sentence.is_empty()).joined(" ")
}

/// Each size beside the next smaller one.
fn steps(points: &[Point]) -> Vec<Contrast> {
    series(points, GLOBAL).windows(2).filter_map(|pair| Contrast::new(pair[1], pair[0])).collect()
}

/// From one size to the next, a latency on a plateau grows by no more than this factor.
const FLAT: f64 = 1.2;
/// A level has a latency of its own only if it is this many times that of the level before.
const LEVEL: f64 = 1.4;

/// Sizes, one after the other, with about the same latency.
#[derive(Clone, Debug)]
struct Plateau<'a> {
    points: Vec<&'a Point>,
}

impl Plateau<'_> {
    fn from(&self) -> f64 {
        self.points.first().map_or(0.0, |p| p.x)
    }

    fn to(&self) -> f64 {
        self.points.last().map_or(0.0, |p| p.x)
    }

    /// The median.
    fn ns(&self) -> f64 {
        let mut all: Vec<f64> = self.points.iter().filter_map(|p| p.measured()).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or(0.0)
    }
}

/// The plateaus of two sizes or more, neighbours of which clearly differ.
fn plateaus(points: &[Point]) -> Vec<Plateau<'_>> {
    let all = series(points, GLOBAL);
    let is_flat = |a: &Point, b: &Point| Contrast::new(b, a).is_some_and(|step| step.ratio <= FLAT);
    let runs = all.chunk_by(|a, b| is_flat(a, b)).filter(|run| run.len() > 1);
    let mut found: Vec<Plateau<'_>> = Vec::new();
    for run in runs {
        let begins_level = |before: &Plateau<'_>| {
            let contrast = Contrast::new(run.first()?, before.points.last()?)?;
            contrast.exceeds(LEVEL)
        };
        match found.last_mut() {
            Some(before) if begins_level(before) != Some(true) => before.points.extend(run),
            _ => found.push(Plateau { points: run.to_vec() }),
        }
    }
    found
}

fn levels(points: &[Point], steps: &[Contrast], ghz: Option<f64>) -> String {
    let all = series(points, GLOBAL);
    let (Some(first), Some(last)) = (all.first(), all.last()) else { return String::new() };
    let plateaus = plateaus(points);
    if !mostly_clear(steps, FLAT) {
        return format!("Where the latency of a load changes is {}.", undecided_factor(steps));
    }
    let described = |p: &Plateau<'_>| {
        let whole = match (p.from() == first.x, p.to() == last.x) {
            (true, _) => format!("up to {}", bytes(p.to())),
            (false, true) => format!("from {} on", bytes(p.from())),
            (false, false) => format!("from {} to {}", bytes(p.from()), bytes(p.to())),
        };
        format!("{} {whole}", latency(p.ns(), ghz))
    };
    let described: Vec<String> = plateaus.iter().map(described).collect();
    let stated = ghz.map_or_else(String::new, |ghz| format!(", clocks being those of the stated {ghz:.2} GHz"));
    let end = match plateaus.last() {
        Some(p) if p.to() == last.x && plateaus.len() > 1 => {
            format!("the last plateau is memory, unless a cache holds {}", bytes(last.x))
        }
        Some(p) if p.to() == last.x => "no other level shows".to_owned(),
        _ => {
            let grows = match steps.last().is_some_and(|step| step.is_clear(FLAT)) {
                true => "and the latency still grows",
                false => "and whether the latency still grows is undecided",
            };
            format!("at {} a load takes {} {grows}", bytes(last.x), latency(last.measured().unwrap_or(0.0), ghz))
        }
    };
    let hidden = match steps.iter().filter(|step| !step.is_clear(FLAT)).count() {
        0 => String::new(),
        1 => format!("; 1 of {} steps between sizes is undecided, as it is too noisy", steps.len()),
        hidden => format!("; {hidden} of {} steps between sizes are undecided, as they are too noisy", steps.len()),
    };
    match described.as_slice() {
        [] => format!("The latency of a load has no plateau{stated}; {end}{hidden}."),
        described => format!("A load takes {}{stated}; {end}{hidden}.", described.join(", ")),
    }
}

/// `1.60 ns (4.0 clocks)`.
fn latency(ns: f64, ghz: Option<f64>) -> String {
    let ns_told = if ns < 10.0 { format!("{ns:.2} ns") } else { format!("{ns:.0} ns") };
    format!(
        "{ns_told}{}",
        ghz.map_or_else(String::new, |ghz: f64| format!(" ({:.*} clocks)", usize::from(ns * ghz < 100.0), ns * ghz))
    )
}

fn local(points: &[Point], ghz: Option<f64>) -> String {
    let Some(nearest) = series(points, GLOBAL).into_iter().next() else { return String::new() };
    let Some(point) = series(points, LOCAL).into_iter().next() else { return String::new() };
    let (Some(ns), Some(contrast)) = (point.measured(), Contrast::new(point, nearest)) else { return String::new() };
    let controls = compare_series(points, LOCAL, LOCAL_CONTROL, |_| true);
    let doubt = match Control::of(&controls) {
        Control::Passed => "",
        Control::Failed => ", but its independent loads take as long, so that may be throughput",
        Control::Partly | Control::Hidden => ", but the control does not show that it is latency",
        Control::Absent => ", without a control",
    };
    let beside = match contrast.verdict {
        Comparison::Higher => format!("{} as long as one from the nearest cache", times(contrast.ratio)),
        Comparison::Lower => format!("{} of the time of one from the nearest cache", percent(contrast.ratio)),
        Comparison::Same => format!("as long as one from the nearest cache ({})", within([&contrast])),
        Comparison::Unclear => {
            format!("and compared with one from the nearest cache this is {}", undecided(&[contrast]))
        }
    };
    format!("A load from local memory takes {}, {beside}{doubt}.", latency(ns, ghz))
}

/// A dependent load takes this many times as long as an independent one, at least, if latency is what it takes.
const HIDDEN: f64 = 1.5;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Control {
    Passed,
    /// At some sizes they are not faster.
    Partly,
    Failed,
    Hidden,
    Absent,
}

impl Control {
    fn of(controls: &[Contrast]) -> Control {
        let verdicts: Vec<bool> = controls.iter().filter_map(|c| c.exceeds(HIDDEN)).collect();
        match (verdicts.contains(&true), verdicts.contains(&false)) {
            _ if controls.is_empty() => Control::Absent,
            (true, false) => Control::Passed,
            (true, true) => Control::Partly,
            (false, true) => Control::Failed,
            (false, false) => Control::Hidden,
        }
    }

    fn phrase(self, controls: &[Contrast]) -> String {
        let clear = || controls.iter().filter(|c| c.exceeds(HIDDEN).is_some());
        match self {
            Control::Absent => "No independent loads were measured as a control.".to_owned(),
            Control::Hidden => format!("Whether latency was measured is {}.", undecided_factor(controls)),
            Control::Failed => String::new(),
            Control::Passed => {
                let least = clear().map(|c| c.ratio).fold(f64::INFINITY, f64::min);
                let doubt = if clear().count() < controls.len() { ", where the noise lets one tell" } else { "" };
                format!(
                    "The control passed: dependent loads take at least {} as long as independent ones{doubt}.",
                    times(least)
                )
            }
            Control::Partly => {
                let not: Vec<String> =
                    clear().filter(|c| c.exceeds(HIDDEN) == Some(false)).map(|c| bytes(c.x)).collect();
                format!(
                    "The control passed in part: at {} independent loads take about as long, which may be throughput.",
                    not.join(", ")
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::points_of;
    use super::*;

    const KIB: f64 = 1024.0;
    const MIB: f64 = 1024.0 * KIB;

    /// The finding of a device whose load takes so many ns at a size, whose independent ones take `part` of it, and whose
    /// local memory takes 14 ns.
    fn finding(noise: f64, part: f64, ns: fn(f64) -> f64) -> String {
        let points = points_of(&LATENCY, true, noise, |series, x| match series {
            GLOBAL => ns(x),
            GLOBAL_CONTROL => part * ns(x),
            LOCAL => 14.0,
            LOCAL_CONTROL => 3.0,
            _ => 2.0,
        });
        LATENCY.finding(&points)
    }

    fn three_levels(x: f64) -> f64 {
        match x {
            x if x <= 128.0 * KIB => 20.0,
            x if x <= 256.0 * KIB => 60.0,
            x if x <= 32.0 * MIB => 140.0,
            x if x <= 64.0 * MIB => 250.0,
            _ => 400.0 + x / MIB / 10.0,
        }
    }

    #[test]
    fn two_caches_and_memory_a_cache_without_end_and_a_latency_that_never_stays() {
        insta::assert_snapshot!(finding(0.01, 0.1, three_levels), @"A load takes 20 ns (40.0 clocks) up to 128 KiB, 140 ns (280 clocks) from 512 KiB to 32 MiB, 426 ns (851 clocks) from 128 MiB on, clocks being those of the stated 2.00 GHz; the last plateau is memory, unless a cache holds 512 MiB. A load from local memory takes 14 ns (28.0 clocks), 70 % of the time of one from the nearest cache. The control passed: dependent loads take at least 10.00 times as long as independent ones.");
        insta::assert_snapshot!(finding(0.01, 0.1, |_| 2.0), @"A load takes 2.00 ns (4.0 clocks) up to 512 MiB, clocks being those of the stated 2.00 GHz; no other level shows. A load from local memory takes 14 ns (28.0 clocks), 7.00 times as long as one from the nearest cache. The control passed: dependent loads take at least 10.0 times as long as independent ones.");
        insta::assert_snapshot!(finding(0.01, 0.1, |x| x.sqrt()), @"The latency of a load has no plateau, clocks being those of the stated 2.00 GHz; at 512 MiB a load takes 23170 ns (46341 clocks) and the latency still grows. A load from local memory takes 14 ns (28.0 clocks), 22 % of the time of one from the nearest cache. The control passed: dependent loads take at least 10.00 times as long as independent ones.");
        insta::assert_snapshot!(finding(0.01, 0.1, |x| if x <= 32.0 * KIB { 2.0 } else { x.sqrt() }), @"A load takes 2.00 ns (4.0 clocks) up to 32 KiB, clocks being those of the stated 2.00 GHz; at 512 MiB a load takes 23170 ns (46341 clocks) and the latency still grows. A load from local memory takes 14 ns (28.0 clocks), 7.00 times as long as one from the nearest cache. The control passed: dependent loads take at least 10.00 times as long as independent ones.");
    }

    #[test]
    fn throughput_that_was_taken_for_latency() {
        insta::assert_snapshot!(finding(0.01, 0.95, three_levels), @"No conclusion: dependent loads take no longer than independent ones, so throughput was measured, not latency.");
        let partly = points_of(&LATENCY, true, 0.01, |series, x| match series {
            GLOBAL => three_levels(x),
            GLOBAL_CONTROL if x < 8.0 * KIB => three_levels(x),
            GLOBAL_CONTROL => 2.0,
            _ => f64::NAN,
        });
        insta::assert_snapshot!(LATENCY.finding(&partly), @"A load takes 20 ns up to 128 KiB, 140 ns from 512 KiB to 32 MiB, 426 ns from 128 MiB on; the last plateau is memory, unless a cache holds 512 MiB. The control passed in part: at 4 KiB independent loads take about as long, which may be throughput.");
    }

    #[test]
    fn a_control_that_the_noise_hides_in_part() {
        let part = |x: f64| if x < 8.0 * KIB { 0.62 } else { 0.1 };
        let points = points_of(&LATENCY, true, 0.1, |series, x| match series {
            GLOBAL => 20.0,
            GLOBAL_CONTROL => part(x) * 20.0,
            _ => f64::NAN,
        });
        let finding = LATENCY.finding(&points);
        assert!(
            finding.ends_with("at least 10.0 times as long as independent ones, where the noise lets one tell."),
            "{finding}"
        );
    }

    #[test]
    fn noise_and_missing_points() {
        insta::assert_snapshot!(finding(0.5, 0.1, three_levels), @"Where the latency of a load changes is undecided: differences under 100 % cannot be seen in this run. A load from local memory takes 14 ns (28.0 clocks), and compared with one from the nearest cache this is undecided: differences under 100 % cannot be seen in this run. The control passed: dependent loads take at least 10.00 times as long as independent ones. To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.");
        insta::assert_snapshot!(finding(0.5, 0.7, three_levels), @"Where the latency of a load changes is undecided: differences under 100 % cannot be seen in this run. A load from local memory takes 14 ns (28.0 clocks), and compared with one from the nearest cache this is undecided: differences under 100 % cannot be seen in this run. Whether latency was measured is undecided: differences under 100 % cannot be seen in this run. To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.");
        insta::assert_snapshot!(LATENCY.finding(&[]), @"Nothing was measured.");
        let alone =
            points_of(&LATENCY, false, 0.01, |series, x| if series == GLOBAL { three_levels(x) } else { f64::NAN });
        insta::assert_snapshot!(LATENCY.finding(&alone), @"A load takes 20 ns up to 128 KiB, 140 ns from 512 KiB to 32 MiB, 426 ns from 128 MiB on; the last plateau is memory, unless a cache holds 512 MiB. No independent loads were measured as a control.");
    }

    #[test]
    fn a_chase_ends_elsewhere_than_it_began() {
        for (gpu, log) in [true, false].into_iter().flat_map(|gpu| (5..23).map(move |log| (gpu, log))) {
            assert!(!(UNROLLED * rounds(gpu, 1 << log)).is_multiple_of(1 << log), "{gpu} {log}");
        }
    }
}

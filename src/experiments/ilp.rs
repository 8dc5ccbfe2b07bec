//! Latency and what hides it: chains of dependent steps, 1 to 8 of them an item, in groups of 32 to 1024 items.
//!
//! Each compute unit has one group, so that nothing else can fill the time from a step's begin to its result than the
//! group's other items, or an item's other chains (V. Volkov, "Better performance at lower occupancy", GTC 2010).

use super::evidence::{Contrast, series};
use super::own::{LATENCY, Own};
use super::{Experiment, Scope, Trial, plain};
use crate::data::Dtype;
use crate::kernels::lab::ROUNDS;
use crate::kernels::lab::chains::{self, CHAINS};
use crate::record::{Metric, Point, RATE};

const SERIES: [(&str, u64); 4] = [("1 chain", 1), ("2 chains", 2), ("4 chains", 4), ("8 chains", 8)];
const STEP: &str = "a step";
const STEP_CLOCKS: &str = "a step, clocks";

/// The latency in clocks of the frequency that the driver states, for a grid of one group for each compute unit.
const CLOCKS: Metric =
    Metric { name: "latency", unit: "clocks", of: |row| Some(row.wg.parse::<f64>().ok()? / row.ops_per_cu_clock?) };

/// The experiment's entry in the list.
pub const ILP: Experiment = Experiment {
    name: "ilp",
    question: "How many items of a compute unit, or independent operations of an item, hide the latency of arithmetic?",
    x_name: "items",
    x_label: plain,
    has_timeline: false,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let items: &[u64] = if scope.quick { &[32, 128, 256, 512, 1024] } else { &[32, 64, 128, 256, 512, 768, 1024] };
    let of =
        |(name, chains): (&'static str, u64)| items.iter().map(move |&items| trial(scope, name, RATE, items, chains));
    let steps = [(STEP, LATENCY), (STEP_CLOCKS, CLOCKS)].map(|(name, metric)| trial(scope, name, metric, 1, 1));
    steps.into_iter().chain(SERIES.into_iter().flat_map(of)).collect()
}

fn finding(points: &[Point]) -> String {
    let best = points.iter().filter(|p| p.unit == RATE.unit && p.measured().is_some());
    let Some(best) = best.max_by(|a, b| a.measured().unwrap_or(0.0).total_cmp(&b.measured().unwrap_or(0.0))) else {
        return "No rate was measured.".to_owned();
    };
    let needed: Vec<String> = SERIES.iter().filter_map(|(name, _)| needed(points, name, best)).collect();
    format!("{}Four fifths of the best rate take {}.", latency(points), needed.join(", "))
}

/// `A step takes 2.02 ns, which is 4.0 clocks. `
fn latency(points: &[Point]) -> String {
    let value = |name: &str| series(points, name).first().and_then(|p| p.measured());
    match (value(STEP), value(STEP_CLOCKS)) {
        (Some(ns), Some(clocks)) => {
            format!(
                "A step takes {ns:.2} ns, which is {clocks:.1} clocks if the device keeps the clock that it states. "
            )
        }
        (Some(ns), None) => format!("A step takes {ns:.2} ns. "),
        _ => String::new(),
    }
}

/// A compute unit that is this busy has its latency hidden, but for what begins and ends a launch.
const BUSY: f64 = 0.8;

/// `512 items with 1 chain`.
fn needed(points: &[Point], name: &str, best: &Point) -> Option<String> {
    let all = series(points, name);
    let contrasts: Vec<Contrast> = all.iter().filter_map(|p| Contrast::new(p, best)).collect();
    let most = contrasts.iter().map(|c| c.ratio).reduce(f64::max)?;
    Some(match contrasts.iter().find(|c| c.exceeds(BUSY) != Some(false)) {
        None => format!("more items than any with {name} (at most {most:.2} of it)"),
        Some(c) if c.exceeds(BUSY).is_none() => format!("a number of items that the spread hides with {name}"),
        Some(c) => format!("{} items with {name}", c.x),
    })
}

/// Rounds of all chains of a group together, the same in every trial, so that the time is that of the rate alone; but no
/// more of a chain than a lone item needs.
fn rounds(scope: &Scope<'_>, chains: u64) -> u64 {
    (8192 * if scope.target.gpu { 128 } else { 8 } / chains).clamp(1, 1 << 15)
}

fn trial(scope: &Scope<'_>, name: &str, metric: Metric, items: u64, chains: u64) -> Trial {
    let own = Own {
        family: &chains::FAMILY,
        variant: "independent",
        dtype: Dtype::F32,
        n: u64::from(scope.target.compute_units.max(1)) * items,
        wg: items as usize,
        params: &[(CHAINS.name, chains), (ROUNDS.name, rounds(scope, items * chains))],
    };
    own.trial(scope, name, items as f64, metric)
}

#[cfg(test)]
mod tests {
    use super::super::tests::points_of;
    use super::*;

    /// The finding of a device that does `rate(chains, items)` Gop/s.
    fn finding(noise: f64, rate: fn(f64, f64) -> f64) -> String {
        let points =
            points_of(&ILP, true, noise, |series, items| match SERIES.iter().find(|(name, _)| *name == series) {
                Some(&(_, chains)) => rate(chains as f64, items),
                None if series == STEP => 2.02,
                None => 4.0,
            });
        ILP.finding(&points)
    }

    #[test]
    fn items_and_chains_hide_it_alike() {
        insta::assert_snapshot!(finding(0.01, |chains, items| 30000.0 * (chains * items / 512.0).min(1.0)), @"A step takes 2.02 ns, which is 4.0 clocks if the device keeps the clock that it states. Four fifths of the best rate take 512 items with 1 chain, 256 items with 2 chains, 128 items with 4 chains, 64 items with 8 chains.");
    }

    #[test]
    fn only_chains_hide_it() {
        insta::assert_snapshot!(finding(0.01, |chains, _| 4.0 * chains.min(4.0)), @"A step takes 2.02 ns, which is 4.0 clocks if the device keeps the clock that it states. Four fifths of the best rate take more items than any with 1 chain (at most 0.25 of it), more items than any with 2 chains (at most 0.50 of it), 32 items with 4 chains, 32 items with 8 chains.");
    }

    #[test]
    fn noise_and_missing_points() {
        insta::assert_snapshot!(finding(0.3, |chains, items| 30000.0 * (chains * items / 700.0).min(1.0)), @"A step takes 2.02 ns, which is 4.0 clocks if the device keeps the clock that it states. Four fifths of the best rate take a number of items that the spread hides with 1 chain, a number of items that the spread hides with 2 chains, a number of items that the spread hides with 4 chains, a number of items that the spread hides with 8 chains.");
        insta::assert_snapshot!(finding(0.01, |chains, _| if chains == 1.0 { 4.0 } else { f64::NAN }), @"A step takes 2.02 ns, which is 4.0 clocks if the device keeps the clock that it states. Four fifths of the best rate take 32 items with 1 chain.");
        insta::assert_snapshot!(ILP.finding(&[]), @"No rate was measured.");
    }
}

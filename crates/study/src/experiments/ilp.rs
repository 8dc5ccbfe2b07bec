//! Latency and what hides it: chains of dependent steps, 1 to 8 of them an item, in groups of 32 to 1024 items.
//!
//! Each compute unit has one group. So only the group's other items, or an item's other chains, can fill the time from
//! a step's begin to its result (V. Volkov, "Better performance at lower occupancy", GTC 2010).

use super::prelude::*;
use gpulab_kernels::lab::chains::{self, CHAINS};

const SERIES: [(&str, u64); 4] = [("1 chain", 1), ("2 chains", 2), ("4 chains", 4), ("8 chains", 8)];
const STEP: &str = "a step";
const STEP_CLOCKS: &str = "a step, clocks";

/// The latency in clocks of the frequency that the driver states, for a grid of one group for each compute unit.
const CLOCKS: Metric =
    Metric { name: "latency in clocks", unit: "clocks", of: |row| Some(row.wg?.size() as f64 / row.ops_per_cu_clock?) };

pub const ILP: Experiment = Experiment {
    name: "ilp",
    question: "How many items in a compute unit, or independent operations in an item, hide the latency of arithmetic?",
    about: Explanation {
        idea: "Chains of dependent steps, one to eight of them an item, in one group for each compute unit: nothing \
               else is there to fill the wait for a step.",
        expect: "With one chain the rate grows with the items until they cover a step's latency; with several chains \
               fewer items are enough.",
        but: "A compiler that puts chains together, or a CPU that finds independent steps by itself, hides the \
               difference.",
        cuda: "Instruction-level parallelism (ILP) beside thread-level parallelism: low occupancy need not be slow.",
    },
    x_name: "items",
    x_label: plain,
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
    let Some((_, best)) = extremes(points.iter().filter(|p| p.unit == RATE.unit)) else {
        return "No rate was measured.".to_owned();
    };
    let needed: Vec<(&str, Needed)> =
        SERIES.iter().filter_map(|(name, _)| Some((*name, needed(points, name, best)?))).collect();
    format!("{}{}{}{}", latency(points), enough(&needed), too_few(&needed), hidden(&needed)).trim_end().to_owned()
}

/// `A step takes 2.02 ns, which is 4.0 clocks. `
fn latency(points: &[Point]) -> String {
    let value = |name: &str| series(points, name).first().and_then(|p| p.measured());
    match (value(STEP), value(STEP_CLOCKS)) {
        (Some(ns), Some(clocks)) => {
            format!("A step takes {ns:.2} ns, or {clocks:.1} clocks if the device runs at the clock that it states. ")
        }
        (Some(ns), None) => format!("A step takes {ns:.2} ns. "),
        _ => String::new(),
    }
}

/// A compute unit that is this busy has its latency hidden, but for what begins and ends a launch.
const BUSY: f64 = 0.8;

/// How many items of a series reach this part of the best rate.
enum Needed {
    Items(f64),
    /// More than the most measured, which reach this part.
    More(f64, f64),
    Hidden(Contrast),
}

fn needed(points: &[Point], name: &str, best: &Point) -> Option<Needed> {
    let contrasts: Vec<Contrast> = series(points, name).iter().filter_map(|p| Contrast::new(p, best)).collect();
    let last = contrasts.last()?;
    Some(match contrasts.iter().find(|c| c.exceeds(BUSY) != Some(false)) {
        None => Needed::More(last.x, last.ratio),
        Some(c) if c.exceeds(BUSY).is_none() => Needed::Hidden(*c),
        Some(c) => Needed::Items(c.x),
    })
}

/// `80 % of the best rate takes 512 items with 1 chain, 256 items with 2 chains. `
fn enough(all: &[(&str, Needed)]) -> String {
    let items = |(name, needed): &(&str, Needed)| match needed {
        Needed::Items(items) => Some(format!("{items} items with {name}")),
        _ => None,
    };
    let items: Vec<String> = all.iter().filter_map(items).collect();
    if items.is_empty() {
        return String::new();
    }
    format!("{} of the best rate takes {}. ", percent(BUSY), items.join(", "))
}

/// `With 1 chain even 1024 items reach 7 % of the best rate; with 2 chains even 1024 items reach 16 %. `
fn too_few(all: &[(&str, Needed)]) -> String {
    let parts: Vec<String> = all
        .iter()
        .filter_map(|(name, needed): &(&str, Needed)| match needed {
            Needed::More(items, part) => Some(format!("with {name} even {items} items reach {}", percent(*part))),
            _ => None,
        })
        .collect();
    match parts.split_first() {
        None => String::new(),
        Some((first, more)) => {
            let more: String = more.iter().map(|phrase| format!("; {phrase}")).collect();
            format!("{} of the best rate{more}. ", first.replacen("with", "With", 1))
        }
    }
}

/// For which series the noise hides the answer.
fn hidden(all: &[(&str, Needed)]) -> String {
    let hidden: Vec<(&str, Contrast)> = all
        .iter()
        .filter_map(
            |(name, needed)| if let Needed::Hidden(contrast) = needed { Some((*name, *contrast)) } else { None },
        )
        .collect();
    if hidden.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = hidden.iter().map(|(name, _)| *name).collect();
    format!(
        "How many items it takes with {} to reach {} is {}.",
        names.join(", "),
        percent(BUSY),
        undecided_factor(hidden.iter().map(|(_, contrast)| contrast))
    )
}

fn trial(scope: &Scope<'_>, name: &str, metric: Metric, items: u64, chains: u64) -> Trial {
    // Of all chains of a group together the same in every trial, so that the time is that of the rate alone; but no more of
    // a chain than a lone item needs.
    let rounds = (8192 * if scope.target.gpu { 128 } else { 8 } / (items * chains)).clamp(1, 1 << 15);
    let n = u64::from(scope.target.compute_units.max(1)) * items;
    let own = Own::of(&chains::FAMILY, "independent", Dtype::F32, n, items as usize);
    own.trial(scope, name, items as f64, metric, &[(CHAINS.name, chains), (ROUNDS.name, rounds)])
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
    fn items_and_chains_hide_it_alike_or_only_chains_or_noise_hides_all() {
        insta::assert_snapshot!(finding(0.01, |chains, items| 30000.0 * (chains * items / 512.0).min(1.0)), @"A step takes 2.02 ns, or 4.0 clocks if the device runs at the clock that it states. 80 % of the best rate takes 512 items with 1 chain, 256 items with 2 chains, 128 items with 4 chains, 64 items with 8 chains.");
        insta::assert_snapshot!(finding(0.01, |chains, _| 4.0 * chains.min(4.0)), @"A step takes 2.02 ns, or 4.0 clocks if the device runs at the clock that it states. 80 % of the best rate takes 32 items with 4 chains, 32 items with 8 chains. With 1 chain even 1024 items reach 25 % of the best rate; with 2 chains even 1024 items reach 50 %.");
        insta::assert_snapshot!(finding(0.3, |chains, items| 30000.0 * (chains * items / 700.0).min(1.0)), @"A step takes 2.02 ns, or 4.0 clocks if the device runs at the clock that it states. How many items it takes with 1 chain, 2 chains, 4 chains, 8 chains to reach 80 % is undecided: differences under 60 % cannot be seen in this run. To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.");
        insta::assert_snapshot!(finding(0.01, |chains, _| if chains == 1.0 { 4.0 } else { f64::NAN }), @"A step takes 2.02 ns, or 4.0 clocks if the device runs at the clock that it states. 80 % of the best rate takes 32 items with 1 chain.");
        insta::assert_snapshot!(ILP.finding(&[]), @"No rate was measured.");
    }
}

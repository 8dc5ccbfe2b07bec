//! Rounding: what the order of additions changes in a sum of floats.
//!
//! Three terms show it: (10^30 - 10^30) + 1 is 1, 10^30 + (-10^30 + 1) is 0. The same random data are then summed by
//! one item in eight orders, and by each rung of the reduce ladder. Each sum's error stands beside the bound that
//! Higham proves for that many roundings ("Accuracy and Stability of Numerical Algorithms", section 4.2). A GPU and a
//! CPU that add in different orders differ by as much, and neither is wrong.

use super::prelude::*;
use gpulab_kernels::lab::absorbed::{self, RIGHT};
use gpulab_kernels::lab::orders::{self, STEP};
use gpulab_kernels::{Rung, reduce};
use gpulab_model::outcome::Number;

/// How far a sum is from the exact one.
const ERROR: Metric = Metric { name: "error", unit: "1e-6", of: |row: &Row| row.max_err.map(|err| 1e6 * err) };
/// How far it may be.
const BOUND: Metric = Metric { name: "bound", unit: "1e-6", of: |row: &Row| row.tol.map(|tol| 1e6 * tol) };
const SUM: Metric = Metric { name: "sum", unit: "1", of: |row: &Row| row.result.map(Number::rounded) };

const IN_ORDER: &str = "error, one item";
const IN_ORDER_BOUND: &str = "bound, one item";
const BY_RUNG: &str = "error, rung of reduce";
const BY_RUNG_BOUND: &str = "bound, rung of reduce";
const THREE: &str = "1e30 - 1e30 + 1";

/// Steps of the eight orders: forwards, backwards, and six that jump.
const STEPS: [u64; 8] = [1, ELEMENTS - 1, 3, 129, 1025, 4095, 8191, 12_289];
/// Few enough for devices that end a loop after 2^16 turns.
const ELEMENTS: u64 = 1 << 15;

pub const ROUNDING: Experiment = Experiment {
    name: "rounding",
    question: "How much do sums of the same floats differ with the order of additions, and what is the proved limit?",
    about: Explanation {
        idea: "Three terms are added from either end, the same random floats in several orders by one item, and by each \
               rung of reduce; each error stands beside its proved bound.",
        expect: "Different orders end in different last digits, all within their bounds. Orders with many partial sums, \
               as trees have, have far smaller bounds.",
        but: "It is arithmetic, no fault of a device. Integers, and floats whose sums are exact, show nothing.",
        cuda: "Floating-point addition is not associative on any GPU; with atomicAdd() of floats even the order changes \
               from run to run.",
    },
    x_name: "order",
    x_label: plain,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let three = [(1, 0), (2, 1)].map(|(x, right)| {
        let own = Own::of(&absorbed::FAMILY, "three_terms", Dtype::F32, 1, 1);
        own.trial(scope, THREE, f64::from(x), SUM, &[(RIGHT.name, right)])
    });
    let in_order = |name, metric| {
        (1..).zip(&STEPS).map(move |(x, &step)| {
            let own = Own::of(&orders::FAMILY, "sequential", Dtype::F32, ELEMENTS, 1);
            own.trial(scope, name, f64::from(x), metric, &[(STEP.name, step)])
        })
    };
    let by_rung = |name, metric| {
        let wg = lab::usual_wg(scope.target);
        reduce::FAMILY.ladder.iter().map(move |rung: &'static Rung| {
            let x = f64::from(rung.number().unwrap_or_default());
            Own::of(&reduce::FAMILY, rung.variant(), Dtype::F32, ELEMENTS, wg).trial(scope, name, x, metric, &[])
        })
    };
    three
        .into_iter()
        .chain(in_order(IN_ORDER, ERROR))
        .chain(in_order(IN_ORDER_BOUND, BOUND).take(1))
        .chain(by_rung(BY_RUNG, ERROR))
        .chain(by_rung(BY_RUNG_BOUND, BOUND))
        .collect()
}

fn finding(points: &[Point]) -> String {
    let sentences = joined([three(points), orders(points), rungs(points)], " ");
    sentences.unwrap_or_else(|| "No sum was measured.".to_owned())
}

fn values(points: &[Point], name: &str) -> Vec<f64> {
    series(points, name).into_iter().filter_map(Point::measured).collect()
}

/// `0.00077` or `1.00e-6`: three digits, and powers of ten only where zeros would be many.
fn figure(value: f64) -> String {
    match value {
        value if (1e-4..1e6).contains(&value) => format!("{value:.*}", (2.0 - value.log10().floor()).max(0.0) as usize),
        value => format!("{value:.2e}"),
    }
}

/// `1.00e-6 to 0.000110`, of values in millionths.
fn range(values: &[f64]) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    format!("{} to {}", figure(1e-6 * least), figure(1e-6 * most))
}

fn three(points: &[Point]) -> Option<String> {
    match values(points, THREE).as_slice() {
        [left, right] => {
            Some(format!("10^30 - 10^30 + 1 is {left} added from the left and {right} added from the right."))
        }
        _ => None,
    }
}

fn orders(points: &[Point]) -> Option<String> {
    let errors = values(points, IN_ORDER);
    let bound = values(points, IN_ORDER_BOUND).first().copied()?;
    (!errors.is_empty()).then(|| {
        format!(
            "One item that adds the same floats in {} orders has errors of {}; the proved limit is {}.",
            errors.len(),
            range(&errors),
            figure(1e-6 * bound)
        )
    })
}

fn rungs(points: &[Point]) -> Option<String> {
    let errors = values(points, BY_RUNG);
    let bounds = values(points, BY_RUNG_BOUND);
    (!errors.is_empty() && !bounds.is_empty()).then(|| {
        format!(
            "The {} rungs of the reduce ladder, which add in trees, have errors of {}, with proved limits of {}: \
             devices that add in different orders differ, and none is wrong.",
            errors.len(),
            range(&errors),
            range(&bounds)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::points_of;
    use super::*;

    #[test]
    fn errors_beside_their_bounds() {
        let points = points_of(&ROUNDING, true, 0.0, |series, x| match series {
            THREE => 2.0 - x,
            IN_ORDER => 40.0 + x,
            IN_ORDER_BOUND => 30_000.0,
            BY_RUNG => x,
            _ => 20.0,
        });
        insta::assert_snapshot!(ROUNDING.finding(&points).replace(". ", ".\n"), @r"
        10^30 - 10^30 + 1 is 1 added from the left and 0 added from the right.
        One item that adds the same floats in 8 orders has errors of 4.10e-5 to 4.80e-5; the proved limit is 0.0300.
        The 11 rungs of the reduce ladder, which add in trees, have errors of 1.00e-6 to 1.10e-5, with proved limits of 2.00e-5 to 2.00e-5: devices that add in different orders differ, and none is wrong.
        ");
    }

    #[test]
    fn missing_points() {
        let points = points_of(&ROUNDING, true, 0.0, |series, _| if series == BY_RUNG { 3.0 } else { f64::NAN });
        insta::assert_snapshot!(ROUNDING.finding(&points), @"No sum was measured.");
        insta::assert_snapshot!(ROUNDING.finding(&[]), @"No sum was measured.");
    }
}

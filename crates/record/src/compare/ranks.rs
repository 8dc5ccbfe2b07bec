//! The ratio of two sides' times from the order of their runs alone, whatever the distribution of times.

use gpulab_model::stats::quantile;
use serde::Serialize;

/// Share of comparisons of two sides that are alike whose interval misses 1, if every order of their runs is as likely as any
/// other: where they were measured in turn.
pub const MISSES: f64 = 0.003;

/// Runs of each side from which on an interval exists.
pub const FEWEST: usize = 6;

/// Standard deviations of half a normal interval with [`MISSES`].
const HALF: f64 = 2.968;

/// Standard deviations at which 19 of 20 such intervals miss 1: that many more, and some for times that are not normal. Found from
/// recorded runs whose times had two modes, one twice the other.
const FOUND: f64 = HALF + 1.645 + 0.8;

/// How much more few runs lose, by the square of their number: with six of each side all must lie apart. Found from recorded
/// runs, whose distributions have longer tails than the normal one.
const FEW: f64 = 40.0;

/// The standard error of the Hodges-Lehmann estimate of normal data, in those of the mean: the root of pi / 3.
const RANKS_OF_MEAN: f64 = 1.0233;

/// By how much of the range of a side's runs two sides must be further apart where one came first: a machine that changes
/// between them, by as much as it does among them, is not to be taken for a change of the program. Found from recorded runs.
const APART: f64 = 0.5;

/// Most runs of a side that are looked at, the last ones: their pairs are sorted.
const MOST: usize = 1000;

/// Most runs of each side for which the distribution of ranks is counted; the normal one stands for more.
const COUNTED: usize = 40;

/// How many times slower one side is than the other, and the interval that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RatioInterval {
    /// Time of the second over time of the first.
    pub ratio: f64,
    pub low: f64,
    pub high: f64,
}

impl RatioInterval {
    /// Of several runs of each side, in seconds: the median of all ratios of a run of `after` to one of `before` (Hodges and
    /// Lehmann, "Estimates of location based on rank tests", Annals of Mathematical Statistics 34(2), 1963), and the interval
    /// that belongs to the test of Mann and Whitney ("On a test of whether one of two random variables is stochastically larger
    /// than the other", the same 18(1), 1947). Of sides that did not take turns it is widened by a part of what runs of a side
    /// differ by. None where the runs are too few for any order of them to be rare.
    pub fn of_runs(before: &[f64], after: &[f64], in_turn: bool) -> Option<RatioInterval> {
        let [before, after] = [before, after].map(|runs| &runs[runs.len().saturating_sub(MOST)..]);
        let outside = outside(before.len(), after.len())?;
        let wider = if in_turn {
            1.0
        } else {
            range(before)?.max(range(after)?).powf(APART)
        };
        let mut ratios: Vec<f64> = after
            .iter()
            .flat_map(|a| before.iter().map(move |b| a / b))
            .collect();
        ratios.sort_by(f64::total_cmp);
        let low = ratios[outside - 1];
        let high = ratios[ratios.len() - outside];
        Some(RatioInterval {
            ratio: quantile(&ratios, 0.5)?,
            low: low / wider,
            high: high * wider,
        })
    }
}

/// The time that one run of ten exceeds over the one that nine of ten do.
fn range(runs: &[f64]) -> Option<f64> {
    let mut runs = runs.to_vec();
    runs.sort_by(f64::total_cmp);
    Some(quantile(&runs, 0.9)? / quantile(&runs, 0.1)?)
}

/// The rank of the pair, from either end, that is the end of the interval of two sides with so many runs.
fn outside(a: usize, b: usize) -> Option<usize> {
    let pairs = (a * b) as f64;
    if a.max(b) > COUNTED {
        let sd = (pairs * (a + b + 1) as f64 / 12.0).sqrt();
        let rank = pairs / 2.0 - HALF * sd;
        return (rank >= 1.0).then_some(rank as usize);
    }
    let counts = orders(a, b);
    let all: f64 = counts.iter().sum();
    let mut below = 0.0;
    let rare = counts.iter().take_while(|count| {
        below += **count;
        below / all <= MISSES / 2.0
    });
    Some(rare.count()).filter(|&rank| rank >= 1)
}

/// How many orders of `a` and `b` runs have 0, 1, 2, ... pairs in which the run of the second side is the faster one: the
/// coefficients of Gauss's binomial.
fn orders(a: usize, b: usize) -> Vec<f64> {
    let mut counts = vec![0.0; a * b + 1];
    counts[0] = 1.0;
    for i in 1..=a {
        for at in (b + i..counts.len()).rev() {
            counts[at] -= counts[at - b - i];
        }
        for at in i..counts.len() {
            counts[at] += counts[at - i];
        }
    }
    counts
}

/// The standard deviation between runs of the same side, as a share of the time; none where neither side has two.
pub fn spread(sides: [&[f64]; 2]) -> Option<f64> {
    let mut squares = 0.0;
    let mut degrees = 0;
    for runs in sides.into_iter().filter(|runs| runs.len() > 1) {
        let mean = runs.iter().map(|t| t.ln()).sum::<f64>() / runs.len() as f64;
        squares += runs.iter().map(|t| (t.ln() - mean).powi(2)).sum::<f64>();
        degrees += runs.len() - 1;
    }
    (degrees > 0).then(|| (squares / degrees as f64).sqrt())
}

/// Runs of each side after which a difference of `share` is found in 19 of 20 comparisons, with this standard deviation
/// between runs.
pub fn runs_for(spread: f64, share: f64) -> usize {
    let many = 2.0 * (FOUND * RANKS_OF_MEAN * spread / share.ln_1p()).powi(2);
    let mut runs = (many.ceil() as usize).max(FEWEST);
    while runs < COUNTED && found_from(spread, runs).is_some_and(|found| found > share) {
        runs += 1;
    }
    runs
}

/// The least difference that so many runs of each side find in 19 of 20 comparisons, as a share; none of too few.
pub fn found_from(spread: f64, runs: usize) -> Option<f64> {
    let count = runs as f64;
    let factor = FOUND * RANKS_OF_MEAN * spread;
    (runs >= FEWEST).then(|| (factor * (1.0 + FEW / count.powi(2)) * (2.0 / count).sqrt()).exp_m1())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All ways to choose which of `a + b` places in order of time are the second side's.
    fn every_order(a: usize, b: usize) -> impl Iterator<Item = Vec<bool>> {
        let places = a + b;
        let chosen = move |bits: u32| {
            (0..places)
                .map(|at| bits >> at & 1 == 1)
                .collect::<Vec<bool>>()
        };
        (0..1u32 << places)
            .filter(move |bits| bits.count_ones() as usize == b)
            .map(chosen)
    }

    #[test]
    fn of_all_orders_of_two_sides_that_are_alike_three_in_a_thousand_at_most_are_called() {
        for (a, b) in [(6, 6), (5, 7), (4, 9), (7, 7), (9, 8)] {
            let mut called = 0;
            let mut all = 0;
            for order in every_order(a, b) {
                let of = |side: bool| {
                    (0..a + b)
                        .filter(|&at| order[at] == side)
                        .map(|at| 1.0 + at as f64)
                        .collect()
                };
                let (before, after): (Vec<f64>, Vec<f64>) = (of(false), of(true));
                let interval = RatioInterval::of_runs(&before, &after, true).unwrap();
                called += usize::from(interval.low > 1.0 || interval.high < 1.0);
                all += 1;
            }
            assert!(
                called > 0 && called as f64 <= MISSES * f64::from(all),
                "{a} and {b}: {called} of {all}"
            );
        }
    }

    #[test]
    fn of_too_few_runs_there_is_no_interval() {
        for (a, b) in [(1, 1), (2, 2), (3, 3), (5, 5), (1, 300), (0, 9), (2, 20)] {
            for in_turn in [true, false] {
                assert_eq!(
                    RatioInterval::of_runs(&vec![1.0; a], &vec![2.0; b], in_turn),
                    None,
                    "{a} and {b}"
                );
            }
        }
        assert!(RatioInterval::of_runs(&[1.0; FEWEST], &[2.0; FEWEST], true).is_some());
        assert!(RatioInterval::of_runs(&[1.0; FEWEST - 1], &[2.0; FEWEST - 1], true).is_none());
    }

    #[test]
    fn sides_that_did_not_take_turns_must_be_further_apart() {
        let before = [1.00, 1.01, 1.02, 1.03, 1.04, 1.05];
        let low = |factor: f64, in_turn: bool| {
            RatioInterval::of_runs(&before, &before.map(|t| t * factor), in_turn)
                .unwrap()
                .low
        };
        assert!(low(1.052, true) > 1.0 && low(1.052, false) < 1.0);
        assert!(low(1.071, false) > 1.0);
    }

    #[test]
    fn counted_and_normal_ranks_meet() {
        let counted = outside(COUNTED, COUNTED).unwrap();
        let normal = COUNTED as f64 * COUNTED as f64 / 2.0
            - HALF * (COUNTED as f64 * COUNTED as f64 * (2 * COUNTED + 1) as f64 / 12.0).sqrt();
        assert!(
            (counted as f64 - normal).abs() < 8.0,
            "{counted} and {normal}"
        );
        let orders = orders(COUNTED, COUNTED);
        assert!((orders.iter().sum::<f64>() / 1.075_072_086_1e23 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_ratio_and_its_ends_do_not_depend_on_which_side_comes_first() {
        let a = [1.0, 1.1, 0.9, 1.05, 1.2, 1.0, 3.0];
        let b = [1.3, 1.25, 1.4, 1.2, 1.35, 1.5];
        let interval = |a: &[f64], b: &[f64]| RatioInterval::of_runs(a, b, true).unwrap();
        let there = interval(&a, &b);
        let back = interval(&b, &a);
        for (x, y) in [
            (there.ratio, back.ratio),
            (there.low, back.high),
            (there.high, back.low),
        ] {
            assert!((x * y - 1.0).abs() < 0.01, "{x} and {y}");
        }
        assert!(there.low <= there.ratio && there.ratio <= there.high);
    }

    #[test]
    fn as_many_runs_as_are_named_find_such_a_difference() {
        assert_eq!(runs_for(0.0, 0.1), FEWEST);
        assert!(
            runs_for(0.05, 0.1) < runs_for(0.05, 0.03)
                && runs_for(0.02, 0.03) < runs_for(0.05, 0.03)
        );
        let spread = 0.05;
        let share = 0.1;
        let runs = runs_for(spread, share);
        assert!(
            found_from(spread, runs).unwrap() <= share
                && found_from(spread, runs - 1).unwrap() > share
        );
        let uniform = |k: u64| (gpulab_model::data::draw(7, k) >> 11) as f64 / (1u64 << 53) as f64;
        let normal = |k: u64| (0..12).map(|i| uniform(100 * k + i)).sum::<f64>() - 6.0;
        let side = |at: u64, factor: f64| {
            (0..runs as u64).map(move |k| factor * (spread * normal(1000 * at + k)).exp())
        };
        let found = |at: &u64| {
            let (before, after): (Vec<f64>, Vec<f64>) = (
                side(2 * at, 1.0).collect(),
                side(2 * at + 1, 1.0 + share).collect(),
            );
            RatioInterval::of_runs(&before, &after, true).unwrap().low > 1.0
        };
        let found = (0..1000u64).filter(found).count();
        assert!((900..1000).contains(&found), "{found} of 1000");
    }
}

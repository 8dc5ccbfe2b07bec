//! Two sides that are timed in pairs, until it is known which of them is faster.
//!
//! Both runs of a pair follow each other, and a lot says which side is first. Where both sides are alike, every choice of signs of the
//! logarithms of the pairs' ratios is as likely as any other, whatever else changes from pair to pair: a load, a clock, a temperature.

use super::{RatioInterval, SpeedVerdict};
use gpulab_model::data::draw;
use gpulab_model::stats::quantile;
use std::time::{Duration, Instant};

/// Share of looks at pairs of two sides that are alike at which the interval misses 1. There are a dozen looks at most.
const MISSES: f64 = 0.0005;

/// Standard deviations of half a normal interval with [`MISSES`].
const HALF: f64 = 3.481;

/// Pairs after which the first look is taken; each later one is after twice as many.
pub const FIRST_LOOK: usize = 12;

/// Most pairs for which the distribution of signed ranks is counted; the normal one stands for more.
const COUNTED: usize = 40;

/// Most ratios that are looked at: the means of any two of them are sorted. Of more pairs, neighbours are taken together.
const MOST: usize = 512;

impl RatioInterval {
    /// Of pairs of runs of the first and of the second side, in seconds: the median of the means of any two ratios (Hodges and
    /// Lehmann, "Estimates of location based on rank tests", Annals of Mathematical Statistics 34(2), 1963), and the interval that
    /// belongs to the signed rank test (Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1(6), 1945).
    /// None of too few pairs.
    pub fn of_pairs(pairs: &[[f64; 2]]) -> Option<RatioInterval> {
        let together = pairs.len().div_ceil(MOST).max(1);
        let logs: Vec<f64> = pairs
            .chunks_exact(together)
            .map(|pairs| {
                let sum: f64 = pairs
                    .iter()
                    .map(|[first, second]| (second / first).ln())
                    .sum();
                sum / together as f64
            })
            .collect();
        let outside = outside(logs.len())?;
        let mut means: Vec<f64> = Vec::new();
        for (index, log) in logs.iter().enumerate() {
            means.extend(logs[index..].iter().map(|other| (log + other) / 2.0));
        }
        means.sort_by(f64::total_cmp);
        Some(RatioInterval {
            ratio: quantile(&means, 0.5)?.exp(),
            low: means[outside - 1].exp(),
            high: means[means.len() - outside].exp(),
        })
    }
}

/// The rank of the mean, from either end, that is the end of the interval of so many ratios.
fn outside(count: usize) -> Option<usize> {
    if count > COUNTED {
        let count = count as f64;
        let mean = count * (count + 1.0) / 4.0;
        let sd = (count * (count + 1.0) * (2.0 * count + 1.0) / 24.0).sqrt();
        return Some((mean - HALF * sd) as usize);
    }
    // How many of all choices of signs have 0, 1, 2, ... as the sum of the ranks with a plus.
    let mut choices = vec![0.0; count * (count + 1) / 2 + 1];
    choices[0] = 1.0;
    for rank in 1..=count {
        for sum in (rank..choices.len()).rev() {
            choices[sum] += choices[sum - rank];
        }
    }
    let mut below = 0.0;
    let rare = choices.iter().take_while(|choice| {
        below += **choice;
        below / 2f64.powi(count as i32) <= MISSES / 2.0
    });
    Some(rare.count()).filter(|&rank| rank >= 1)
}

/// What pairs so far say, where differences of less than `same` (as a share) do not count.
pub fn verdict_of(pairs: &[[f64; 2]], same: f64) -> SpeedVerdict {
    RatioInterval::of_pairs(pairs).map_or(SpeedVerdict::Undecided, |interval| {
        SpeedVerdict::of(&interval, same)
    })
}

/// Whether a look is due after so many pairs.
pub fn is_look(pairs: usize) -> bool {
    pairs.is_multiple_of(FIRST_LOOK) && (pairs / FIRST_LOOK).is_power_of_two()
}

/// How many times the limit pairs may take until there is a first look.
const PATIENCE: u32 = 5;

/// Runs both sides in pairs, once at least, until a look decides or the time is over; `run` is given the side, 0 or 1, and returns seconds. The
/// first pair warms up and is left out. `seed` draws which side is first.
pub fn in_pairs<E>(
    (same, limit): (f64, Duration),
    seed: u64,
    run: &mut dyn FnMut(usize) -> Result<f64, E>,
) -> Result<Vec<[f64; 2]>, E> {
    let began = Instant::now();
    let mut pairs = Vec::new();
    for number in 0.. {
        let first = (draw(seed, number) & 1) as usize;
        let mut pair = [0.0; 2];
        for side in [first, 1 - first] {
            pair[side] = run(side)?;
        }
        if number > 0 {
            pairs.push(pair);
        }
        let is_decided =
            is_look(pairs.len()) && verdict_of(&pairs, same) != SpeedVerdict::Undecided;
        // Some more time for a first look.
        let is_due = pairs.len() >= FIRST_LOOK || began.elapsed() > PATIENCE * limit;
        let is_over = began.elapsed() > limit && is_due && !pairs.is_empty();
        if is_decided || is_over {
            break;
        }
    }
    Ok(pairs)
}

/// What comes of comparisons of a side with itself, made slower: shares of all trials, and the pairs that half of them took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcomes {
    pub slower: f64,
    pub same: f64,
    pub faster: f64,
    pub pairs: usize,
}

/// Plants a difference of so large a `share` into pairs of a side with itself: in each trial the pairs from some place on, up to
/// `most`, of which a lot says who is second. None of too few pairs.
pub fn planted(pairs: &[[f64; 2]], share: f64, most: usize, same: f64) -> Option<Outcomes> {
    const TRIALS: u64 = 400;
    let most = most.min(pairs.len());
    let mut verdicts = Vec::new();
    let mut taken = Vec::new();
    for trial in 0..TRIALS {
        let start = draw(trial, 0) as usize % (pairs.len() - most + 1);
        let mut trialled = Vec::new();
        let mut verdict = SpeedVerdict::Undecided;
        for (number, [first, second]) in pairs[start..start + most].iter().enumerate() {
            let [first, second] = match draw(trial, 1 + number as u64) & 1 {
                0 => [first, second],
                _ => [second, first],
            };
            trialled.push([*first, second * (1.0 + share)]);
            if is_look(trialled.len()) || trialled.len() == most {
                verdict = verdict_of(&trialled, same);
            }
            if verdict != SpeedVerdict::Undecided {
                break;
            }
        }
        verdicts.push(verdict);
        taken.push(trialled.len());
    }
    taken.sort_unstable();
    let share_of = |called: SpeedVerdict| {
        let all = verdicts.iter().filter(|verdict| **verdict == called);
        all.count() as f64 / TRIALS as f64
    };
    (most >= FIRST_LOOK).then(|| Outcomes {
        slower: share_of(SpeedVerdict::Slower),
        same: share_of(SpeedVerdict::Same),
        faster: share_of(SpeedVerdict::Faster),
        pairs: taken[taken.len() / 2],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_all_choices_of_signs_one_in_two_thousand_at_most_is_called() {
        for count in [12usize, 13, 15] {
            let called = (0..1u32 << count).filter(|signs| {
                let pairs: Vec<[f64; 2]> = (0..count)
                    .map(|at| {
                        let ratio = 1.0 + (at * at + 1) as f64;
                        if signs >> at & 1 == 1 {
                            [1.0, ratio]
                        } else {
                            [ratio, 1.0]
                        }
                    })
                    .collect();
                let interval = RatioInterval::of_pairs(&pairs).unwrap();
                interval.low > 1.0 || interval.high < 1.0
            });
            let called = called.count();
            assert!(
                called > 0 && called as f64 <= MISSES * f64::from(1 << count),
                "{count}: {called}"
            );
        }
        assert_eq!(RatioInterval::of_pairs(&[[1.0, 2.0]; 11]), None);
        // Counted and normal ends meet.
        assert!((outside(41).unwrap() as f64 / outside(40).unwrap() as f64 - 1.0).abs() < 0.15);
    }

    #[test]
    fn what_changes_both_alike_drops_out_and_a_look_ends_it() {
        let mut runs = 0;
        let mut load = 1.0;
        let mut run = |side: usize| -> Result<f64, ()> {
            runs += 1;
            load *= if runs % 50 < 25 { 1.01 } else { 0.99 };
            Ok(load * [1.0, 1.04][side] * (1.0 + 0.01 * (draw(7, runs) % 100) as f64 / 100.0))
        };
        let limit = (0.02, Duration::from_secs(60));
        let pairs = in_pairs(limit, 3, &mut run).unwrap();
        assert_eq!(verdict_of(&pairs, 0.02), SpeedVerdict::Slower);
        assert!(
            is_look(pairs.len()) && pairs.len() <= 384,
            "{}",
            pairs.len()
        );
        let itself: Vec<[f64; 2]> = (0..400)
            .map(|at| [0, 1].map(|side| 1.0 + (draw(side, at) % 100) as f64 / 1000.0))
            .collect();
        let alike = planted(&itself, 0.0, 100, 0.02).unwrap();
        let slower = planted(&itself, 0.1, 100, 0.02).unwrap();
        assert!(
            alike.slower + alike.faster <= 0.02 && alike.same > 0.7,
            "{alike:?}"
        );
        assert!(slower.slower > 0.95 && slower.same == 0.0, "{slower:?}");
        assert_eq!(planted(&itself, 0.1, 11, 0.02), None);
    }
}

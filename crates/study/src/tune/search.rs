//! What to try next: searches over a numbered space, which neither know nor care what is measured.

use gpulab_model::{Error, Result, data};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Strategy {
    /// Exhaustive over at most 64 configurations, else descent.
    Auto,
    /// Every configuration, in order.
    Exhaustive,
    /// Coordinate descent from each rung's default, the fastest rung first, then from random places.
    Descent,
}

impl Strategy {
    pub fn resolved(self, configurations: usize) -> Strategy {
        match self {
            Strategy::Auto if configurations <= 64 => Strategy::Exhaustive,
            Strategy::Auto => Strategy::Descent,
            other => other,
        }
    }
}

/// A part of a space with axes of its own: a rung.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// How many values each axis has.
    pub axes: Vec<usize>,
    /// The configurations at its places, by their numbers. Several places may be one configuration; some are none.
    pub places: BTreeMap<Vec<usize>, usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Exhausted,
    /// Descent from several random places found nothing faster.
    Settled,
    Budget,
    NearLimit,
}

/// What ends a search before its strategy does.
#[derive(Debug)]
pub enum Halt {
    Ended(Ended),
    Failed(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Halt {
        Halt::Failed(error)
    }
}

/// Measures the configuration of a number: its seconds, or none if it has no time.
pub type Evaluate<'a> = dyn FnMut(usize) -> Result<Option<f64>, Halt> + 'a;

/// Restarts of a descent that may find nothing faster, one after the other, before it ends.
const IDLE_RESTARTS: usize = 4;

/// Regions whose best is slower than the best of all by more than this are not started from again.
const NEAR: f64 = 1.5;

/// Searches the regions of a space. No configuration is measured twice; `seed` decides what is random.
pub fn search(
    strategy: Strategy,
    regions: &[Region],
    seed: u64,
    evaluate: &mut Evaluate<'_>,
) -> Result<Ended> {
    let mut all: Vec<usize> = regions
        .iter()
        .flat_map(|region| region.places.values().copied())
        .collect();
    all.sort_unstable();
    all.dedup();
    let mut run = SearchRun {
        regions,
        seed,
        drawn: 0,
        evaluate,
        known: BTreeMap::new(),
        all: all.len(),
    };
    let went = match strategy.resolved(all.len()) {
        Strategy::Descent | Strategy::Auto => run.descent(),
        Strategy::Exhaustive => run.each(all),
    };
    match went {
        Ok(ended) | Err(Halt::Ended(ended)) => Ok(ended),
        Err(Halt::Failed(error)) => Err(error),
    }
}

struct SearchRun<'a, 'e> {
    regions: &'a [Region],
    seed: u64,
    /// Random numbers that were drawn.
    drawn: u64,
    evaluate: &'a mut Evaluate<'e>,
    /// The times of what was measured.
    known: BTreeMap<usize, Option<f64>>,
    /// How many configurations there are.
    all: usize,
}

impl SearchRun<'_, '_> {
    fn each(&mut self, all: Vec<usize>) -> Result<Ended, Halt> {
        for index in all {
            self.seconds(index)?;
        }
        Ok(Ended::Exhausted)
    }

    /// A random number below `below`, which is above 0.
    fn draw(&mut self, below: usize) -> usize {
        self.drawn += 1;
        (data::draw(self.seed, self.drawn) % below as u64) as usize
    }

    /// The time of a configuration, measured unless that is known.
    fn seconds(&mut self, index: usize) -> Result<Option<f64>, Halt> {
        if let Some(seconds) = self.known.get(&index) {
            return Ok(*seconds);
        }
        let seconds = (self.evaluate)(index)?;
        self.known.insert(index, seconds);
        Ok(seconds)
    }

    /// The time at a place; infinite where there is none.
    fn seconds_at(&mut self, region: &Region, place: &[usize]) -> Result<f64, Halt> {
        let seconds = region
            .places
            .get(place)
            .map_or(Ok(None), |&index| self.seconds(index))?;
        Ok(seconds.unwrap_or(f64::INFINITY))
    }

    /// From the default of each region down, the fastest first; then from random places of those that are fast.
    fn descent(&mut self) -> Result<Ended, Halt> {
        let mut starts: Vec<(&Region, Vec<usize>, f64)> = Vec::new();
        for region in self.regions {
            // The default, or else the first place that can run.
            if let Some(place) = region.places.keys().next() {
                starts.push((region, place.clone(), self.seconds_at(region, place)?));
            }
        }
        starts.sort_by(|a, b| a.2.total_cmp(&b.2));
        let mut bests: Vec<(&Region, f64)> = Vec::new();
        for (region, place, _) in starts {
            bests.push((region, self.descend(region, place)?));
        }
        let mut idle = 0;
        while idle < IDLE_RESTARTS {
            let best = bests
                .iter()
                .map(|(_, best)| *best)
                .fold(f64::INFINITY, f64::min);
            let mut near: Vec<(usize, Vec<usize>)> = Vec::new();
            for (at, (region, _)) in bests
                .iter()
                .enumerate()
                .filter(|(_, (_, own))| *own <= NEAR * best)
            {
                // Places of configurations that were not measured, each configuration once.
                let unknown = region
                    .places
                    .iter()
                    .rev()
                    .filter(|(_, index)| !self.known.contains_key(index));
                let unknown: BTreeMap<usize, &Vec<usize>> =
                    unknown.map(|(place, index)| (*index, place)).collect();
                near.extend(unknown.into_values().map(|place| (at, place.clone())));
            }
            if near.is_empty() {
                return Ok(if self.known.len() == self.all {
                    Ended::Exhausted
                } else {
                    Ended::Settled
                });
            }
            let (at, place) = near.swap_remove(self.draw(near.len()));
            let found = self.descend(bests[at].0, place)?;
            idle = if found < best { 0 } else { idle + 1 };
            bests[at].1 = bests[at].1.min(found);
        }
        Ok(Ended::Settled)
    }

    /// The best time that is reached from a place by varying one axis after the other, until a whole pass finds nothing.
    fn descend(&mut self, region: &Region, mut place: Vec<usize>) -> Result<f64, Halt> {
        let mut best = self.seconds_at(region, &place)?;
        loop {
            let before = best;
            for (axis, &values) in region.axes.iter().enumerate() {
                for value in 0..values {
                    let mut candidate = place.clone();
                    candidate[axis] = value;
                    let seconds = self.seconds_at(region, &candidate)?;
                    if seconds < best {
                        (best, place) = (seconds, candidate);
                    }
                }
            }
            if best >= before {
                return Ok(best);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(axes: &[usize], first: usize, can_run: impl Fn(&[usize]) -> bool) -> Region {
        let mut places = vec![Vec::new()];
        for &values in axes {
            places = places
                .into_iter()
                .flat_map(|p: Vec<usize>| (0..values).map(move |v| [p.clone(), vec![v]].concat()))
                .collect();
        }
        let able = places.into_iter().filter(|place| can_run(place));
        Region {
            axes: axes.to_vec(),
            places: (first..)
                .zip(able)
                .map(|(index, place)| (place, index))
                .collect(),
        }
    }

    /// The configurations in the order in which they were tried, of at most so many, and the best time.
    fn run(
        strategy: Strategy,
        regions: &[Region],
        most: usize,
        time: impl Fn(usize, &[usize]) -> f64,
    ) -> (Vec<usize>, f64, Ended) {
        let (mut tried, mut best) = (Vec::new(), f64::INFINITY);
        let ended = search(strategy, regions, 3, &mut |index| {
            if tried.len() == most {
                return Err(Halt::Ended(Ended::Budget));
            }
            tried.push(index);
            let of = |region: &Region| {
                region
                    .places
                    .iter()
                    .find(|(_, own)| **own == index)
                    .map(|(place, _)| place.clone())
            };
            let (at, place) = regions
                .iter()
                .enumerate()
                .find_map(|(at, region)| Some((at, of(region)?)))
                .unwrap();
            let seconds = time(at, &place);
            best = best.min(seconds);
            Ok(seconds.is_finite().then_some(seconds))
        });
        (tried, best, ended.unwrap())
    }

    /// A bowl whose least is 1 at (5, 2, 1).
    fn bowl(_: usize, p: &[usize]) -> f64 {
        let off = |value: usize, best: f64| (value as f64 - best).powi(2);
        1.0 + off(p[0], 5.0) + off(p[1], 2.0) + off(p[2], 1.0)
    }

    #[test]
    fn exhaustive_tries_everything_once_in_order() {
        let regions = [
            region(&[2, 3], 0, |p| p != [1, 1]),
            region(&[2], 5, |_| true),
        ];
        let (tried, best, ended) = run(Strategy::Exhaustive, &regions, 99, |at, p| {
            1.0 + (at + p[0]) as f64
        });
        assert_eq!(
            (tried, best, ended),
            ((0..7).collect(), 1.0, Ended::Exhausted)
        );
    }

    #[test]
    fn descent_finds_a_bowls_least_in_a_fraction_of_its_places() {
        let regions = [region(&[10, 8, 6], 0, |_| true)];
        let (_, best, ended) = run(Strategy::Descent, &regions, 10 + 7 + 5, bowl);
        assert_eq!((best, ended), (1.0, Ended::Budget));
        let (tried, _, ended) = run(Strategy::Descent, &regions, 999, bowl);
        assert!(
            ended == Ended::Settled && tried.len() < 240,
            "{}",
            tried.len()
        );
    }

    #[test]
    fn restarts_leave_a_valley_that_descent_is_caught_in() {
        // On the diagonal alone places can run, so that no single axis leads anywhere.
        let regions = [region(&[9, 9], 0, |p| p[0] == p[1])];
        assert!(run(Strategy::Descent, &regions, 99, |_, p| 10.0 - p[0] as f64).1 < 10.0);
    }

    #[test]
    fn the_fastest_region_comes_first_and_all_regions_come() {
        let regions: Vec<Region> = (0..3)
            .map(|at| region(&[4, 4], 16 * at, |_| true))
            .collect();
        let (tried, ..) = run(Strategy::Descent, &regions, 99, |at, p| {
            [5.0, 1.0, 9.0][at] + (p[0] + p[1]) as f64
        });
        let at: Vec<usize> = tried.iter().map(|index| index / 16).collect();
        assert_eq!(at[..3], [0, 1, 2], "defaults first");
        assert!(
            at[3] == 1 && at.iter().filter(|at| **at == 2).count() > 1,
            "{at:?}"
        );
    }

    #[test]
    fn what_has_no_time_is_never_the_best_and_errors_end_a_search() {
        let regions = [region(&[3, 3], 0, |_| true)];
        let time = |_: usize, p: &[usize]| if p == [2, 2] { 1.0 } else { f64::INFINITY };
        let (_, best, ended) = run(Strategy::Descent, &regions, 99, time);
        assert_eq!((best, ended), (1.0, Ended::Exhausted));
        let failed = search(Strategy::Descent, &regions, 1, &mut |_| {
            Err(Error::Interrupted.into())
        });
        assert!(matches!(failed, Err(Error::Interrupted)));
    }
}

//! What to try next: searches over a numbered space, which neither know nor care what is measured.

use gpulab_model::data;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Strategy {
    /// Exhaustive over at most 64 configurations, else descent.
    Auto,
    /// Every configuration, in order.
    Exhaustive,
    /// Coordinate descent from each rung's default, the fastest rung first, then from random places.
    Descent,
    /// Random configurations, none twice.
    Random,
}

impl Strategy {
    pub fn resolved(self, configurations: usize) -> Strategy {
        match self {
            Strategy::Auto if configurations <= SMALL => Strategy::Exhaustive,
            Strategy::Auto => Strategy::Descent,
            other => other,
        }
    }
}

/// Most configurations that [`Strategy::Auto`] tries all of.
pub const SMALL: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    pub seconds: f64,
    /// The share of the device's limit that it reaches, where one bounds it.
    pub of_limit: Option<f64>,
}

/// A part of a space with axes of its own: a rung.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// How many values each axis has.
    pub axes: Vec<usize>,
    /// The configurations at its places, by their numbers. Several places may be one configuration; some are none.
    pub places: BTreeMap<Vec<usize>, usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StopRule {
    /// Most configurations that are measured.
    pub evaluations: Option<usize>,
    /// Share of the limit that is good enough.
    pub of_limit: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Exhausted,
    /// Descent from several random places found nothing faster.
    Settled,
    Budget,
    NearLimit,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SearchResult {
    /// Configurations in the order in which they were tried, with what was measured of each.
    pub tried: Vec<(usize, Option<Score>)>,
    pub ended: Ended,
}

impl SearchResult {
    /// The fastest configuration and its time in seconds.
    pub fn best(&self) -> Option<(usize, f64)> {
        let timed = self.tried.iter().filter_map(|(index, score)| Some((*index, (*score)?.seconds)));
        timed.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// Measures the configuration of a number: none if it has no time; and whether there is no time for another one.
pub type Evaluate<'a, E> = dyn FnMut(usize) -> Result<(Option<Score>, bool), E> + 'a;

/// Restarts of a descent that may find nothing faster, one after the other, before it ends.
const IDLE_RESTARTS: usize = 4;

/// Regions whose best is slower than the best of all by more than this are not started from again.
const NEAR: f64 = 1.5;

/// Searches the regions of a space. No configuration is measured twice; `seed` decides what is random.
pub fn search<E>(
    strategy: Strategy,
    regions: &[Region],
    stop: StopRule,
    seed: u64,
    evaluate: &mut Evaluate<'_, E>,
) -> Result<SearchResult, E> {
    let mut run = SearchRun { regions, stop, seed, drawn: 0, evaluate, known: BTreeMap::new(), tried: Vec::new() };
    let all = run.all();
    let went = match strategy.resolved(all.len()) {
        Strategy::Exhaustive => run.each(all),
        Strategy::Random => run.shuffled(all).and_then(|all| run.each(all)),
        Strategy::Descent | Strategy::Auto => run.descent(),
    };
    let ended = match went {
        Ok(ended) | Err(Halt::Ended(ended)) => ended,
        Err(Halt::Failed(error)) => return Err(error),
    };
    Ok(SearchResult { tried: run.tried, ended })
}

enum Halt<E> {
    Ended(Ended),
    Failed(E),
}

struct SearchRun<'a, 'e, E> {
    regions: &'a [Region],
    stop: StopRule,
    seed: u64,
    /// Random numbers that were drawn.
    drawn: u64,
    evaluate: &'a mut Evaluate<'e, E>,
    known: BTreeMap<usize, Option<f64>>,
    tried: Vec<(usize, Option<Score>)>,
}

impl<E> SearchRun<'_, '_, E> {
    fn all(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.regions.iter().flat_map(|region| region.places.values().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn each(&mut self, all: Vec<usize>) -> Result<Ended, Halt<E>> {
        for index in all {
            self.seconds(index)?;
        }
        Ok(Ended::Exhausted)
    }

    fn shuffled(&mut self, mut all: Vec<usize>) -> Result<Vec<usize>, Halt<E>> {
        for last in (1..all.len()).rev() {
            let other = self.draw(last + 1);
            all.swap(last, other);
        }
        Ok(all)
    }

    /// A random number below `below`, which is above 0.
    fn draw(&mut self, below: usize) -> usize {
        self.drawn += 1;
        (data::draw(self.seed, self.drawn) % below as u64) as usize
    }

    /// The time of a configuration, measured unless that is known.
    fn seconds(&mut self, index: usize) -> Result<Option<f64>, Halt<E>> {
        if let Some(seconds) = self.known.get(&index) {
            return Ok(*seconds);
        }
        if self.stop.evaluations.is_some_and(|most| self.tried.len() >= most) {
            return Err(Halt::Ended(Ended::Budget));
        }
        let (score, is_over) = (self.evaluate)(index).map_err(Halt::Failed)?;
        let seconds = score.map(|score| score.seconds).filter(|seconds| seconds.is_finite());
        self.known.insert(index, seconds);
        self.tried.push((index, score));
        match score.and_then(|score| score.of_limit) {
            Some(share) if share >= self.stop.of_limit => Err(Halt::Ended(Ended::NearLimit)),
            _ if is_over => Err(Halt::Ended(Ended::Budget)),
            _ => Ok(seconds),
        }
    }

    fn seconds_at(&mut self, region: &Region, place: &[usize]) -> Result<Option<f64>, Halt<E>> {
        region.places.get(place).map_or(Ok(None), |&index| self.seconds(index))
    }

    /// From the default of each region down, the fastest first; then from random places of those that are fast.
    fn descent(&mut self) -> Result<Ended, Halt<E>> {
        let regions = self.regions;
        let mut starts: Vec<(&Region, Vec<usize>, f64)> = Vec::new();
        for region in regions {
            // The default, or else the first place that can run.
            if let Some(place) = region.places.keys().next() {
                let seconds = self.seconds_at(region, place)?;
                starts.push((region, place.clone(), seconds.unwrap_or(f64::INFINITY)));
            }
        }
        starts.sort_by(|a, b| a.2.total_cmp(&b.2));
        let mut bests: Vec<(&Region, f64)> = Vec::new();
        for (region, place, _) in starts {
            bests.push((region, self.descend(region, place)?));
        }
        self.restart(bests)
    }

    fn restart(&mut self, mut bests: Vec<(&Region, f64)>) -> Result<Ended, Halt<E>> {
        let mut idle = 0;
        while idle < IDLE_RESTARTS {
            let best = bests.iter().map(|(_, best)| *best).fold(f64::INFINITY, f64::min);
            let near: Vec<(usize, Vec<usize>)> = bests
                .iter()
                .enumerate()
                .filter(|(_, (_, own))| *own <= NEAR * best)
                .flat_map(|(at, (region, _))| self.unknown(region).into_iter().map(move |place| (at, place)))
                .collect();
            if near.is_empty() {
                return Ok(if self.known.len() == self.all().len() { Ended::Exhausted } else { Ended::Settled });
            }
            let (at, place) = near[self.draw(near.len())].clone();
            let found = self.descend(bests[at].0, place)?;
            idle = if found < best { 0 } else { idle + 1 };
            bests[at].1 = bests[at].1.min(found);
        }
        Ok(Ended::Settled)
    }

    /// Places of configurations that were not measured, each configuration once.
    fn unknown(&self, region: &Region) -> Vec<Vec<usize>> {
        let mut unknown: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (place, index) in region.places.iter().filter(|(_, index)| !self.known.contains_key(index)) {
            unknown.entry(*index).or_insert_with(|| place.clone());
        }
        unknown.into_values().collect()
    }

    /// The best time that is reached from a place by varying one axis after the other, until a whole pass finds nothing.
    fn descend(&mut self, region: &Region, from: Vec<usize>) -> Result<f64, Halt<E>> {
        let mut best = self.seconds_at(region, &from)?.unwrap_or(f64::INFINITY);
        let mut place = from;
        loop {
            let before = best;
            for (axis, &values) in region.axes.iter().enumerate() {
                for value in 0..values {
                    let mut candidate = place.clone();
                    candidate[axis] = value;
                    if let Some(seconds) = self.seconds_at(region, &candidate)?.filter(|&seconds| seconds < best) {
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

    const WHOLE: StopRule = StopRule { evaluations: None, of_limit: f64::INFINITY };

    fn region(axes: &[usize], first: usize, can_run: impl Fn(&[usize]) -> bool) -> Region {
        let mut places = vec![Vec::new()];
        for &values in axes {
            places = places
                .into_iter()
                .flat_map(|p: Vec<usize>| (0..values).map(move |v| [p.clone(), vec![v]].concat()))
                .collect();
        }
        let able = places.into_iter().filter(|place| can_run(place));
        Region { axes: axes.to_vec(), places: (first..).zip(able).map(|(index, place)| (place, index)).collect() }
    }

    fn places(regions: &[Region]) -> BTreeMap<usize, (usize, Vec<usize>)> {
        regions
            .iter()
            .enumerate()
            .flat_map(|(at, region): (usize, &Region)| {
                region.places.iter().map(move |(place, index)| (*index, (at, place.clone()))).collect::<Vec<_>>()
            })
            .collect()
    }

    fn run(
        strategy: Strategy,
        regions: &[Region],
        stop: StopRule,
        seed: u64,
        time: impl Fn(usize, &[usize]) -> f64,
    ) -> SearchResult {
        let places = places(regions);
        search(strategy, regions, stop, seed, &mut |index| {
            let (at, place) = &places[&index];
            let seconds = time(*at, place);
            Ok::<_, ()>((Some(Score { seconds, of_limit: Some(1.0 / seconds) }), false))
        })
        .unwrap()
    }

    /// A bowl whose least is 1 at (5, 2, 1).
    fn bowl(_: usize, p: &[usize]) -> f64 {
        let off = |value: usize, best: f64| (value as f64 - best).powi(2);
        1.0 + off(p[0], 5.0) + off(p[1], 2.0) + off(p[2], 1.0)
    }

    #[test]
    fn exhaustive_tries_everything_once_in_order() {
        let regions = [region(&[2, 3], 0, |p| p != [1, 1]), region(&[2], 5, |_| true)];
        let found = run(Strategy::Exhaustive, &regions, WHOLE, 1, |at, p| 1.0 + (at + p[0]) as f64);
        assert_eq!(found.tried.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!((found.ended, found.best()), (Ended::Exhausted, Some((0, 1.0))));
    }

    #[test]
    fn descent_finds_a_bowls_least_in_a_fraction_of_its_places() {
        let regions = [region(&[10, 8, 6], 0, |_| true)];
        let capped = StopRule { evaluations: Some(10 + 7 + 5), ..WHOLE };
        let found = run(Strategy::Descent, &regions, capped, 1, bowl);
        assert_eq!((found.ended, found.best().unwrap().1), (Ended::Budget, 1.0));
        let settled = run(Strategy::Descent, &regions, WHOLE, 1, bowl);
        assert!(settled.ended == Ended::Settled && settled.tried.len() < 240, "{}", settled.tried.len());
    }

    #[test]
    fn restarts_leave_a_valley_that_descent_is_caught_in() {
        // On the diagonal alone places can run, so that no single axis leads anywhere.
        let regions = [region(&[9, 9], 0, |p| p[0] == p[1])];
        let found = run(Strategy::Descent, &regions, WHOLE, 3, |_, p| 10.0 - p[0] as f64);
        assert!(found.best().unwrap().1 < 10.0, "{found:?}");
    }

    #[test]
    fn the_fastest_region_comes_first_and_all_regions_come() {
        let regions: Vec<Region> = (0..3).map(|at| region(&[4, 4], 16 * at, |_| true)).collect();
        let found = run(Strategy::Descent, &regions, WHOLE, 1, |at, p| [5.0, 1.0, 9.0][at] + (p[0] + p[1]) as f64);
        let at: Vec<usize> = found.tried.iter().map(|(index, _)| index / 16).collect();
        assert_eq!(at[..3], [0, 1, 2], "defaults first");
        assert!(at[3] == 1 && at.iter().filter(|at| **at == 2).count() > 1, "{at:?}");
    }

    #[test]
    fn random_repeats_nothing_and_seeds_decide() {
        let regions = [region(&[6, 6], 0, |_| true)];
        let order = |seed| {
            let found = run(Strategy::Random, &regions, WHOLE, seed, |_, _| 1.0);
            found.tried.into_iter().map(|(index, _)| index).collect::<Vec<_>>()
        };
        let mut sorted = order(7);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..36).collect::<Vec<_>>());
        assert!(order(7) == order(7) && order(7) != order(8));
    }

    #[test]
    fn a_search_ends_with_its_budget_its_time_and_near_the_limit() {
        let regions = [region(&[100], 0, |_| true)];
        let few = StopRule { evaluations: Some(7), ..WHOLE };
        let found = run(Strategy::Random, &regions, few, 1, |_, _| 1.0);
        assert_eq!((found.ended, found.tried.len()), (Ended::Budget, 7));
        let near = StopRule { of_limit: 0.5, ..WHOLE };
        let found = run(Strategy::Exhaustive, &regions, near, 1, |_, p| 10.0 - 0.1 * p[0] as f64);
        assert_eq!((found.ended, found.tried.len()), (Ended::NearLimit, 81));
        let mut left = 3;
        let timed = search(Strategy::Exhaustive, &regions, WHOLE, 1, &mut |_| {
            left -= 1;
            Ok::<_, ()>((None, left == 0))
        });
        assert_eq!(timed.map(|s| (s.ended, s.tried.len())), Ok((Ended::Budget, 3)));
        assert_eq!(search(Strategy::Random, &regions, WHOLE, 1, &mut |_| Err("gone")), Err("gone"));
    }

    #[test]
    fn what_has_no_time_is_never_the_best() {
        let regions = [region(&[3, 3], 0, |_| true)];
        let found = search(Strategy::Descent, &regions, WHOLE, 1, &mut |index| {
            let score = (index == 8).then_some(Score { seconds: 1.0, of_limit: None });
            Ok::<_, ()>((score, false))
        })
        .unwrap();
        assert_eq!((found.best(), found.ended), (Some((8, 1.0)), Ended::Exhausted));
        assert_eq!(run(Strategy::Auto, &[], WHOLE, 1, |_, _| 1.0).best(), None);
    }
}

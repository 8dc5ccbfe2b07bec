//! Searches over recorded rows: how many evaluations each strategy needs, without a device.

use super::effects::{settings_of, time_of};
use super::{Region, Score, StopRule, Strategy, search};
use gpulab_record::Row;
use gpulab_record::groups::distinct;
use std::collections::BTreeMap;
use std::convert::Infallible;

/// A recorded space of one problem.
#[derive(Clone, Debug)]
pub struct Replay {
    regions: Vec<Region>,
    times: Vec<Option<f64>>,
    best: f64,
}

/// Shares of the optimum that are looked for.
pub const SHARES: [f64; 3] = [0.95, 0.98, 0.99];

/// What a strategy needs on a space: medians over the seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayLine {
    pub strategy: Strategy,
    /// Evaluations until the best is within each of [`SHARES`] of the optimum; none if more than half of the seeds end before.
    pub needed: [Option<usize>; 3],
    /// Evaluations until it ends by itself.
    pub whole: usize,
    /// Share of the optimum that a quarter of the space's evaluations reach.
    pub at_quarter: f64,
}

impl Replay {
    /// The space of the rows, each of another configuration of one problem; a rung's first row is its default.
    pub fn of(rows: &[&Row]) -> Result<Replay, String> {
        let variants = distinct(rows.iter().map(|row| row.variant.as_str()));
        let regions = variants.iter().map(|variant| region(rows, variant)).collect();
        let times: Vec<Option<f64>> = rows.iter().map(|row| time_of(row)).collect();
        let best = times.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        if best.is_finite() { Ok(Replay { regions, times, best }) } else { Err("no row has a time".into()) }
    }

    pub fn len(&self) -> usize {
        self.times.len()
    }

    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// How many configurations are within 5 % of the best.
    pub fn flat(&self) -> usize {
        self.times.iter().flatten().filter(|seconds| **seconds <= 1.05 * self.best).count()
    }

    /// The best of the space by evaluations: of each the share of the optimum that was reached by then.
    fn progress(&self, strategy: Strategy, seed: u64) -> Vec<f64> {
        let stop = StopRule { evaluations: None, of_limit: f64::INFINITY };
        let mut best = f64::INFINITY;
        let mut progress = Vec::new();
        let Ok(_) = search::<Infallible>(strategy, &self.regions, stop, seed, &mut |index| {
            let seconds = self.times[index];
            best = best.min(seconds.unwrap_or(f64::INFINITY));
            progress.push(self.best / best);
            Ok((seconds.map(|seconds| Score { seconds, of_limit: None }), false))
        });
        progress
    }
}

/// The places of a rung's rows on the axes that its rows have, without those that follow from the others, as a work-group that
/// a tile decides: no single step could change one of them alone.
fn region(rows: &[&Row], variant: &str) -> Region {
    let own = || rows.iter().enumerate().filter(|(_, row)| row.variant == variant);
    let mut axes: Vec<(&str, Vec<String>)> = Vec::new();
    for (name, value) in own().flat_map(|(_, row)| settings_of(row)) {
        match axes.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) if values.contains(&value) => {}
            Some((_, values)) => values.push(value),
            None => axes.push((name, vec![value])),
        }
    }
    let place = |row: &Row, axes: &[(&str, Vec<String>)]| -> Vec<usize> {
        let settings = settings_of(row);
        let value = |name: &str| settings.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value);
        axes.iter()
            .map(|(name, values): &(&str, Vec<String>)| values.iter().position(|v| *v == value(name)).unwrap_or(0))
            .collect()
    };
    let places = |axes: &[(&str, Vec<String>)]| -> BTreeMap<Vec<usize>, usize> {
        own().map(|(index, row)| (place(row, axes), index)).collect()
    };
    let whole = places(&axes).len();
    for name in axes.iter().map(|(name, _)| *name).collect::<Vec<_>>() {
        let others: Vec<_> = axes.iter().filter(|(known, _)| *known != name).cloned().collect();
        if places(&others).len() == whole {
            axes = others;
        }
    }
    Region { axes: axes.iter().map(|(_, values)| values.len()).collect(), places: places(&axes) }
}

pub fn replay(space: &Replay, strategy: Strategy, seeds: u64) -> ReplayLine {
    let seeds = if strategy == Strategy::Exhaustive { 1 } else { seeds.max(1) };
    let runs: Vec<Vec<f64>> = (1..=seeds).map(|seed| space.progress(strategy, seed)).collect();
    let quarter = space.len().div_ceil(4);
    let needed = SHARES.map(|share| {
        Some(median(
            runs.iter()
                .map(|run: &Vec<f64>| run.iter().position(|reached| *reached >= share).map_or(usize::MAX, |at| at + 1))
                .collect(),
            usize::cmp,
        ))
        .filter(|needed| *needed < usize::MAX)
    });
    ReplayLine {
        strategy,
        needed,
        whole: median(runs.iter().map(Vec::len).collect(), usize::cmp),
        at_quarter: median(
            runs.iter().map(|run: &Vec<f64>| run.get(quarter - 1).or(run.last()).copied().unwrap_or(0.0)).collect(),
            f64::total_cmp,
        ),
    }
}

/// The upper median of values, of which there is one at least.
fn median<T: Copy>(mut values: Vec<T>, order: impl Fn(&T, &T) -> std::cmp::Ordering) -> T {
    values.sort_by(order);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_model::data::Params;
    use gpulab_model::outcome::Status;
    use gpulab_model::plan::WorkGroup;
    use gpulab_record::{Flags, params_of, row};

    /// A bowl over work-groups and tiles, and a slower rung of one row.
    fn rows() -> Vec<Row> {
        let mut rows = Vec::new();
        for wg in 0..12u32 {
            for tile in 0..10u32 {
                let seconds = 1.0 + f64::from((wg.abs_diff(7) + tile.abs_diff(3)).pow(2)) / 10.0;
                let wg = Some(WorkGroup::linear(wg as usize));
                let params = params_of(&format!("tile={tile}")).unwrap();
                rows.push(Row { wg, params, t_median_s: Some(seconds), flags: Flags::default(), ..row("tiled") });
            }
        }
        rows.push(Row { t_median_s: Some(9.0), flags: Flags::default(), params: Params::new(), ..row("naive") });
        rows
    }

    #[test]
    fn descent_needs_a_fraction_of_what_others_need() {
        let rows = rows();
        let space = Replay::of(&rows.iter().collect::<Vec<_>>()).unwrap();
        let [exhaustive, descent, random] =
            [Strategy::Exhaustive, Strategy::Descent, Strategy::Random].map(|strategy| replay(&space, strategy, 21));
        assert_eq!((space.len(), space.flat(), exhaustive.whole), (121, 1, 121));
        assert_eq!(exhaustive.needed, [Some(74); 3], "in the order of the rows");
        assert!(descent.needed[2].unwrap() <= 24 && descent.at_quarter == 1.0, "{descent:?}");
        assert!(random.needed[2].unwrap() > descent.needed[2].unwrap() && random.at_quarter < 1.0, "{random:?}");
    }

    #[test]
    fn what_follows_from_other_settings_is_no_axis() {
        let rows: Vec<Row> = [16, 32, 64]
            .into_iter()
            .flat_map(|tile| [1, 2, 4].map(|rows| (tile, rows)))
            .map(|(tile, rows)| Row {
                wg: Some(WorkGroup([tile, tile / rows, 1])),
                params: params_of(&format!("gap=0 rows={rows} tile={tile}")).unwrap(),
                ..row("tiled")
            })
            .collect();
        let region = region(&rows.iter().collect::<Vec<_>>(), "tiled");
        assert_eq!((region.axes, region.places.len()), (vec![3, 3], 9));
    }

    #[test]
    fn rows_without_a_time_are_configurations_too_but_not_alone() {
        let mut rows = rows();
        rows[0].status = Status::Skipped;
        assert_eq!(Replay::of(&rows.iter().collect::<Vec<_>>()).unwrap().len(), 121);
        assert!(Replay::of(&[&rows[0]]).is_err() && Replay::of(&[]).is_err());
    }
}

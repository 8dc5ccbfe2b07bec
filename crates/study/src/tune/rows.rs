//! What rows of a search say: which is the fastest, what each parameter did, and how many evaluations each strategy would
//! have needed.

use super::search::{Region, Strategy, search};
use gpulab_record::Row;
use gpulab_record::groups::distinct;
use std::collections::BTreeMap;

/// What a parameter did: the best configuration beside the best with another value of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    pub name: String,
    /// Its value in the best configuration.
    pub with: String,
    /// Its value in the best configuration that has another one.
    pub without: String,
    /// How many times longer that takes.
    pub ratio: f64,
    /// Whether the intervals of the medians lie apart.
    pub is_decided: bool,
}

/// A row's time, if it is one of a right result that nothing speaks against.
pub fn time_of(row: &Row) -> Option<f64> {
    row.t_median_s
        .filter(|seconds| row.is_believed() && seconds.is_finite() && *seconds > 0.0)
}

/// The least time of such a row, by which rows are ranked: a neighbour's load lengthens most times, but seldom all.
pub fn least_of(row: &Row) -> Option<f64> {
    time_of(row).map(|median| row.t_min_s.filter(|least| *least > 0.0).unwrap_or(median))
}

pub fn fastest<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Option<&'a Row> {
    let timed = rows
        .into_iter()
        .filter_map(|row| Some((row, least_of(row)?)));
    timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(row, _)| row)
}

/// Whether the first row is faster than the second beyond their noise: the intervals of their medians, 1.57 times the
/// inter-quartile range over the root of the runs to either side, lie apart (R. McGill, J. W. Tukey and W. A. Larsen,
/// "Variations of Box Plots", The American Statistician 32(1), 1978).
pub fn is_faster(row: &Row, other: &Row) -> bool {
    let [row, other] = [(row, 1.57), (other, -1.57)].map(|(row, half)| {
        Some(row.t_median_s? + half * (row.t_q3_s? - row.t_q1_s?) / (row.runs.max(1) as f64).sqrt())
    });
    row.zip(other).is_some_and(|(most, least)| most < least)
}

/// The work-group and the settings of a row, by name.
fn settings_of(row: &Row) -> Vec<(&str, String)> {
    let params = row
        .params
        .iter()
        .map(|(name, value)| (name.as_str(), value.clone()));
    std::iter::once(("wg", row.wg_text()))
        .chain(params)
        .collect()
}

fn value_of(row: &Row, name: &str) -> String {
    settings_of(row)
        .into_iter()
        .find(|(known, _)| *known == name)
        .map_or_else(String::new, |(_, value)| value)
}

/// What the rung, and each parameter of the best rung, did among these rows of one problem, where several values were tried.
pub fn effects(rows: &[Row]) -> Vec<Effect> {
    let Some(best) = fastest(rows) else {
        return Vec::new();
    };
    let effect = |name: &str, with: &str, other: Option<&Row>, without: &dyn Fn(&Row) -> String| {
        let other = other?;
        Some(Effect {
            name: name.to_owned(),
            with: with.to_owned(),
            without: without(other),
            ratio: least_of(other)? / least_of(best)?,
            is_decided: is_faster(best, other),
        })
    };
    let others = fastest(rows.iter().filter(|row| row.variant != best.variant));
    let rung = effect("rung", &best.variant, others, &|row| row.variant.clone());
    let own: Vec<&Row> = rows
        .iter()
        .filter(|row| row.variant == best.variant)
        .collect();
    let settings = settings_of(best).into_iter().filter_map(|(name, with)| {
        let others = fastest(
            own.iter()
                .copied()
                .filter(|row| value_of(row, name) != with),
        );
        effect(name, &with, others, &|row| value_of(row, name))
    });
    rung.into_iter().chain(settings).collect()
}

/// What strategies need on a recorded space of one problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    pub configurations: usize,
    /// How many of them are within 5 % of the fastest.
    pub flat: usize,
    /// Evaluations until the best is within 2 % of the fastest, exhaustive, by descent and at random: medians over the seeds;
    /// none if more than half of them end before.
    pub needed: [Option<usize>; 3],
}

/// Seeds that each strategy with chance in it runs over.
const SEEDS: u64 = 101;

/// Runs the strategies over rows, each of another configuration of one problem; a rung's first row is its default. None if no
/// row has a time.
pub fn replay(rows: &[Row]) -> Option<Replay> {
    let variants = distinct(rows.iter().map(|row| row.variant.as_str()));
    let regions: Vec<Region> = variants
        .iter()
        .map(|variant| region(rows, variant))
        .collect();
    let times: Vec<Option<f64>> = rows.iter().map(time_of).collect();
    let least = times.iter().flatten().copied().reduce(f64::min)?;
    let needed = [Strategy::Exhaustive, Strategy::Descent, Strategy::Random].map(|strategy| {
        let seeds = if strategy == Strategy::Exhaustive {
            1
        } else {
            SEEDS
        };
        let mut needed: Vec<usize> = Vec::new();
        for seed in 1..=seeds {
            let mut evaluations = 0;
            let mut found = usize::MAX;
            let searched = search(strategy, &regions, seed, &mut |index| {
                evaluations += 1;
                if times[index].is_some_and(|seconds| least >= 0.98 * seconds) {
                    found = found.min(evaluations);
                }
                Ok(times[index])
            });
            needed.extend(searched.is_ok().then_some(found));
        }
        needed.sort_unstable();
        needed
            .get(needed.len() / 2)
            .copied()
            .filter(|needed| *needed < usize::MAX)
    });
    let flat = times
        .iter()
        .flatten()
        .filter(|seconds| **seconds <= 1.05 * least)
        .count();
    Some(Replay {
        configurations: rows.len(),
        flat,
        needed,
    })
}

/// The places of a rung's rows on the axes that its rows have, without those that follow from the others, as a work-group that
/// a tile decides: no single step could change one of them alone.
fn region(rows: &[Row], variant: &str) -> Region {
    let own: Vec<(usize, &Row)> = (0..)
        .zip(rows)
        .filter(|(_, row)| row.variant == variant)
        .collect();
    let mut axes: Vec<(&str, Vec<String>)> = Vec::new();
    for name in distinct(
        own.iter()
            .flat_map(|(_, row)| settings_of(row))
            .map(|(name, _)| name),
    ) {
        axes.push((
            name,
            distinct(own.iter().map(|(_, row)| value_of(row, name))),
        ));
    }
    let whole = places(&own, &axes).len();
    for (name, _) in axes.clone() {
        let others: Vec<_> = axes
            .iter()
            .filter(|(known, _)| *known != name)
            .cloned()
            .collect();
        if places(&own, &others).len() == whole {
            axes = others;
        }
    }
    Region {
        axes: axes.iter().map(|(_, values)| values.len()).collect(),
        places: places(&own, &axes),
    }
}

fn places(own: &[(usize, &Row)], axes: &[(&str, Vec<String>)]) -> BTreeMap<Vec<usize>, usize> {
    let mut places = BTreeMap::new();
    for (index, row) in own {
        let place = axes.iter().map(|(name, values)| {
            let own = value_of(row, name);
            values
                .iter()
                .position(|value| *value == own)
                .unwrap_or_default()
        });
        places.insert(place.collect(), *index);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_model::data::Params;
    use gpulab_model::outcome::Status;
    use gpulab_model::plan::WorkGroup;
    use gpulab_record::{Flags, flag, params_of, row};

    fn timed(variant: &str, wg: &str, params: &str, seconds: f64) -> Row {
        Row {
            wg: Some(gpulab_kernels::values::work_group(wg).unwrap()),
            params: params_of(params).unwrap(),
            t_min_s: Some(seconds),
            t_q1_s: Some(0.98 * seconds),
            t_median_s: Some(seconds),
            t_q3_s: Some(1.02 * seconds),
            flags: Flags::default(),
            ..row(variant)
        }
    }

    #[test]
    fn each_parameter_is_judged_by_the_best_without_its_value() {
        let rows = [
            timed("wide", "1", "tile=16 gap=0", 1.0),
            timed("wide", "1", "tile=64 gap=0", 2.0),
            timed("wide", "2", "tile=16 gap=0", 1.01),
            timed("naive", "64", "", 4.0),
            Row {
                status: Status::WrongResult,
                ..timed("naive", "64", "", 0.1)
            },
        ];
        let all = effects(&rows);
        let told: Vec<(&str, &str, f64, bool)> = all
            .iter()
            .map(|e| (e.name.as_str(), e.without.as_str(), e.ratio, e.is_decided))
            .collect();
        assert_eq!(
            told,
            [
                ("rung", "naive", 4.0, true),
                ("wg", "2", 1.01, false),
                ("tile", "64", 2.0, true)
            ]
        );
        assert_eq!(effects(&[]), []);
    }

    #[test]
    fn a_load_beside_some_of_the_rows_does_not_choose_the_best() {
        let loaded = Row {
            t_median_s: Some(1.5),
            ..timed("wide", "1", "", 1.0)
        };
        let rows = [loaded, timed("wide", "2", "", 1.2)];
        assert_eq!(fastest(&rows).map(Row::wg_text).as_deref(), Some("1"));
    }

    #[test]
    fn faster_is_what_the_spread_and_the_number_of_runs_allow() {
        let one = timed("wide", "1", "", 1.0);
        let other = timed("wide", "2", "", 1.06);
        let often = |row: &Row| Row {
            runs: 100,
            ..row.clone()
        };
        assert!(!is_faster(&one, &other), "after three runs");
        assert!(
            is_faster(&often(&one), &often(&other)) && !is_faster(&often(&other), &often(&one))
        );
        assert!(!is_faster(
            &often(&one),
            &Row {
                t_q1_s: None,
                ..often(&other)
            }
        ));
    }

    #[test]
    fn what_is_faster_than_the_limit_is_never_the_best() {
        let above = Row {
            flags: flag::ABOVE_CEILING,
            ..timed("wide", "1", "", 0.1)
        };
        let cached = Row {
            flags: flag::ABOVE_CEILING | flag::FITS_CACHE,
            ..above.clone()
        };
        for (fast, best) in [(above, "naive"), (cached, "wide")] {
            let rows = [fast, timed("naive", "1", "", 1.0)];
            assert_eq!(fastest(&rows).map(|row| row.variant.as_str()), Some(best));
        }
    }

    #[test]
    fn descent_needs_a_fraction_of_what_others_need() {
        // A bowl over work-groups and tiles, and a slower rung of one row.
        let mut rows = Vec::new();
        for wg in 0..12u32 {
            for tile in 0..10u32 {
                let seconds = 1.0 + f64::from((wg.abs_diff(7) + tile.abs_diff(3)).pow(2)) / 10.0;
                let wg = Some(WorkGroup::linear(wg as usize));
                let params = params_of(&format!("tile={tile}")).unwrap();
                rows.push(Row {
                    wg,
                    params,
                    t_median_s: Some(seconds),
                    flags: Flags::default(),
                    ..row("tiled")
                });
            }
        }
        rows.push(Row {
            t_median_s: Some(9.0),
            flags: Flags::default(),
            params: Params::new(),
            ..row("naive")
        });
        let Replay {
            configurations,
            flat,
            needed: [exhaustive, descent, random],
        } = replay(&rows).unwrap();
        assert_eq!(
            (configurations, flat, exhaustive),
            (121, 1, Some(74)),
            "in the order of the rows"
        );
        assert!(
            descent.unwrap() <= 24 && random > descent,
            "{descent:?} {random:?}"
        );
        rows[0].status = Status::Skipped;
        assert!(replay(&rows[..1]).is_none() && replay(&[]).is_none());
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
        let region = region(&rows, "tiled");
        assert_eq!((region.axes, region.places.len()), (vec![3, 3], 9));
    }
}

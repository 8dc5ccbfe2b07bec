//! What rows of a search say: which is the fastest, and what each parameter did.

use gpulab_record::Row;

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

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_model::outcome::Status;
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
}

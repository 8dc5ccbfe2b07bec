//! What each parameter did, and what lies beyond the values that were tried: from rows and plans alone.

use crate::sweep::Configuration;
use gpulab_kernels::{Family, Kind, Tunable};
use gpulab_model::plan::Target;
use gpulab_record::Row;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectVerdict {
    /// The intervals of the medians with and without it lie apart.
    Decided,
    Undecided,
    OneValue,
}

/// What a parameter did: the best configuration beside the best with another value of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    pub name: String,
    /// Its value in the best configuration.
    pub with: String,
    /// Its value in the best configuration that has another one.
    pub without: String,
    /// How many times longer that takes.
    pub ratio: Option<f64>,
    /// Whether the samples bear it out.
    pub verdict: EffectVerdict,
}

/// A row's time, if it is one of a right result that nothing speaks against.
pub fn time_of(row: &Row) -> Option<f64> {
    row.t_median_s.filter(|seconds| row.is_believed() && seconds.is_finite() && *seconds > 0.0)
}

/// The least time of such a row, by which rows are ranked: a neighbour's load lengthens most times, but seldom all.
pub fn least_of(row: &Row) -> Option<f64> {
    time_of(row).map(|median| row.t_min_s.filter(|least| *least > 0.0).unwrap_or(median))
}

pub fn fastest<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Option<&'a Row> {
    let timed = rows.into_iter().filter_map(|row| Some((row, least_of(row)?)));
    timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(row, _)| row)
}

/// Whether the first row is faster than the second beyond their noise: the intervals of their medians, 1.57 times the
/// inter-quartile range over the root of the runs to either side, lie apart (R. McGill, J. W. Tukey and W. A. Larsen,
/// "Variations of Box Plots", The American Statistician 32(1), 1978).
pub fn is_faster(row: &Row, other: &Row) -> bool {
    let interval = |row: &Row| {
        let half = 1.57 * (row.t_q3_s? - row.t_q1_s?) / (row.runs.max(1) as f64).sqrt();
        Some((row.t_median_s? - half, row.t_median_s? + half))
    };
    interval(row).zip(interval(other)).is_some_and(|(own, other)| own.1 < other.0)
}

pub fn settings_of(row: &Row) -> Vec<(&str, String)> {
    let params = row.params.iter().map(|(name, value)| (name.as_str(), value.clone()));
    std::iter::once(("wg", row.wg_text())).chain(params).collect()
}

fn value_of(row: &Row, name: &str) -> Option<String> {
    settings_of(row).into_iter().find(|(known, _)| *known == name).map(|(_, value)| value)
}

/// What the rung, and each parameter of the best rung, did among these rows of one problem.
pub fn effects(rows: &[Row]) -> Vec<Effect> {
    let Some(first) = fastest(rows) else { return Vec::new() };
    let other_rung = fastest(rows.iter().filter(|row| row.variant != first.variant));
    let own: Vec<&Row> = rows.iter().filter(|row| row.variant == first.variant).collect();
    let mut all = vec![effect("rung", first, &first.variant, other_rung.map(|row| (row, row.variant.clone())))];
    for (name, value) in settings_of(first) {
        let others = own.iter().copied().filter(|row| value_of(row, name).as_ref() != Some(&value));
        let without = fastest(others).map(|row| (row, value_of(row, name).unwrap_or_default()));
        all.push(effect(name, first, &value, without));
    }
    all
}

fn effect(name: &str, best: &Row, with: &str, other: Option<(&Row, String)>) -> Effect {
    let name = name.to_owned();
    let with = with.to_owned();
    let Some((row, without)) = other else {
        return Effect { name, with, without: String::new(), ratio: None, verdict: EffectVerdict::OneValue };
    };
    let ratio = least_of(row).zip(least_of(best)).map(|(slow, fast)| slow / fast);
    let verdict = if is_faster(best, row) { EffectVerdict::Decided } else { EffectVerdict::Undecided };
    Effect { name, with, without, ratio, verdict }
}

/// Values beyond those that were tried that the best configuration's rung can take, as `--set` takes them: where the best is
/// at an end of what was tried.
pub fn beyond(family: &Family, rows: &[Row], best: &Configuration, target: &Target) -> Vec<String> {
    let Some(rung) = family.rung(&best.case.variant) else { return Vec::new() };
    let own = || rows.iter().filter(|row| row.variant == best.case.variant);
    let next = |name: &str, (least, most): (u64, u64)| {
        let tried: Vec<u64> = own().filter_map(|row| value_of(row, name)?.parse().ok()).collect();
        let (value, first, last) =
            (best.params.get(name)?.parse::<u64>().ok()?, *tried.iter().min()?, *tried.iter().max()?);
        let further = match () {
            () if first == last => return None,
            () if value == last => value.checked_mul(2).filter(|further| *further <= most)?,
            () if value == first => Some(value / 2).filter(|further| *further >= least.max(1))?,
            () => return None,
        };
        let mut case = best.case.clone();
        case.params.insert(name.to_owned(), further.to_string());
        family.plan(rung, &case, target).ok()?;
        Some(format!("--set {name}={value},{further}"))
    };
    rung.tunables()
        .filter_map(|tunable: Tunable<'_>| match tunable.kind {
            Kind::Number { least, most } if tunable.is_searched => next(tunable.name, (least, most)),
            _ => None,
        })
        .collect()
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
            Row { status: Status::WrongResult, ..timed("naive", "64", "", 0.1) },
        ];
        let all = effects(&rows);
        let told: Vec<(&str, &str, Option<f64>, EffectVerdict)> =
            all.iter().map(|e| (e.name.as_str(), e.without.as_str(), e.ratio, e.verdict)).collect();
        assert_eq!(
            told,
            [
                ("rung", "naive", Some(4.0), EffectVerdict::Decided),
                ("wg", "2", Some(1.01), EffectVerdict::Undecided),
                ("gap", "", None, EffectVerdict::OneValue),
                ("tile", "64", Some(2.0), EffectVerdict::Decided),
            ]
        );
        assert_eq!(effects(&[]), []);
    }

    #[test]
    fn a_load_beside_some_of_the_rows_does_not_choose_the_best() {
        let loaded = Row { t_median_s: Some(1.5), ..timed("wide", "1", "", 1.0) };
        let rows = [loaded, timed("wide", "2", "", 1.2)];
        assert_eq!(fastest(&rows).map(Row::wg_text).as_deref(), Some("1"));
        assert_eq!(effects(&rows)[1].ratio, Some(1.2));
    }

    #[test]
    fn faster_is_what_the_spread_and_the_number_of_runs_allow() {
        let one = timed("wide", "1", "", 1.0);
        let other = timed("wide", "2", "", 1.06);
        let often = |row: &Row| Row { runs: 100, ..row.clone() };
        assert!(!is_faster(&one, &other), "after three runs");
        assert!(is_faster(&often(&one), &often(&other)) && !is_faster(&often(&other), &often(&one)));
        assert!(!is_faster(&often(&one), &Row { t_q1_s: None, ..often(&other) }));
    }

    #[test]
    fn what_is_faster_than_the_limit_is_never_the_best() {
        let above = Row { flags: flag::ABOVE_CEILING, ..timed("wide", "1", "", 0.1) };
        let cached = Row { flags: flag::ABOVE_CEILING | flag::FITS_CACHE, ..above.clone() };
        for (fast, best) in [(above, "naive"), (cached, "wide")] {
            let rows = [fast, timed("naive", "1", "", 1.0)];
            assert_eq!(fastest(&rows).map(|row| row.variant.as_str()), Some(best));
        }
    }
}

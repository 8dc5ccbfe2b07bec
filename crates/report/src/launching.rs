//! What is said of rungs that are so short that launches are most of their time.

use super::rungs::{is_memory_bound, who};
use crate::prelude::*;
use gpulab_kernels::Form;

/// The share of a rung's time from which on its launches are told.
const MOST_OF_IT: f64 = 0.5;

/// A sentence for each number of launches that is most of some rungs' time, and the size at which it is no more.
pub(super) fn notes(rows: &[&Row]) -> Vec<String> {
    let mut selected: Vec<&Row> = rows.iter().filter(|row| is_mostly(row)).copied().collect();
    // Those with equally many launches together; in the ladder's order otherwise.
    selected.sort_by_key(|r| r.launches);
    let groups = selected.chunk_by(|a, b| a.launches == b.launches);
    groups.filter_map(|group| costs(group, rows)).chain(lesson(&selected)).collect()
}

/// Whether launches alone take most of a rung's time.
pub(super) fn is_mostly(row: &Row) -> bool {
    share(row).is_some_and(|share| share >= MOST_OF_IT)
}

/// The share of a rung's time that its launches take by themselves.
fn share(row: &Row) -> Option<f64> {
    Some(row.t_launches_s? / row.t_median_s?)
}

/// `v2, v3: 3 launches: about 21 of 26 us`.
fn costs(group: &[&Row], rows: &[&Row]) -> Option<String> {
    let launches = group.first()?.launches?;
    let word = if launches == 1 { "launch" } else { "launches" };
    let us = |pick: fn(&Row) -> Option<f64>| {
        let values: Vec<f64> = group.iter().filter_map(|r| pick(r)).map(|s| s * 1e6).collect();
        super::rungs::range(&values, |us| format::significant(us, 2))
    };
    // No part is more than the whole, whatever the two measurements say.
    let part = us(|r| Some(r.t_launches_s?.min(r.t_median_s?)));
    Some(format!("{}: {launches} {word}: about {part} of {} us", who(group, rows), us(|r| r.t_median_s)))
}

/// From which size on launches are a tenth of the time that the device's measured limit allows at best.
fn lesson(selected: &[&Row]) -> Option<String> {
    let launching = |row: &Row| row.t_launches_s.unwrap_or(0.0);
    let most = selected.iter().copied().max_by(|a, b| launching(a).total_cmp(&launching(b)))?;
    let (amount, limit) = match is_memory_bound(most) {
        true => (most.bytes? as f64, most.ceiling_gbps?),
        false => (most.ops? as f64, most.ceiling_gops?),
    };
    let factor = 9.0 * most.t_launches_s? * limit * 1e9 / amount;
    let form = most.form();
    let power = match form {
        Form::Vector => 1.0,
        Form::Matrix => 2.0,
        Form::Square => 3.0,
    };
    // Cells of files may hold any numbers.
    let scale = factor.powf(1.0 / power);
    if !scale.is_finite() || scale <= 1.0 || most.n == 0 {
        return None;
    }
    let log = (most.n as f64 * scale).log2().ceil();
    (log < 62.0).then(|| {
        let size = if form == Form::Vector {
            format!("n = 2^{log}")
        } else {
            format!("{0} x {0}", format::count(1 << log as u32))
        };
        format!(
            "on this device the rungs show their effect from about {size} (--n 2^{log}), where launches take at most a \
             tenth of the time"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_record::row;

    fn rung(number: u32, launches: u64, launching: f64, median: f64) -> Row {
        Row {
            rung: Some(number),
            n: 1_000_000,
            launches: Some(launches),
            t_launches_s: Some(launching),
            t_median_s: Some(median),
            bytes: Some(8_000_000),
            ceiling_gbps: Some(4000.0),
            ..row("rung")
        }
    }

    fn lines(rows: &[Row]) -> Vec<String> {
        notes(&rows.iter().collect::<Vec<_>>())
    }

    #[test]
    fn launches_that_are_most_of_the_time_are_told_with_the_size_that_helps() {
        let rows =
            [rung(1, 1, 4e-6, 7e-6), rung(2, 3, 21e-6, 26e-6), rung(3, 3, 21e-6, 28.4e-6), rung(4, 1, 4e-6, 9e-6)];
        // 9 * 21 us * 4000 GB/s = 756 MB = 94.5 million elements.
        insta::assert_snapshot!(lines(&rows).join("\n"), @r"
        v1: 1 launch: about 4.0 of 7.0 us
        v2, v3: 3 launches: about 21 of 26 to 28 us
        on this device the rungs show their effect from about n = 2^27 (--n 2^27), where launches take at most a tenth of the time
        ");
    }

    #[test]
    fn no_part_is_more_than_the_whole_and_matrices_are_told_by_their_sides() {
        assert_eq!(lines(&[rung(1, 2, 8e-6, 7e-6), rung(2, 1, 1e-6, 9e-6)])[0], "v1: 2 launches: about 7.0 of 7.0 us");
        let matrix = Row { family: "transpose".into(), n: 512, m: 512, bytes: Some(2 << 20), ..rung(1, 1, 4e-6, 5e-6) };
        // 9 * 4 us * 4000 GB/s = 144 MB: 8.3 times the side.
        assert!(lines(&[matrix])[1].contains("from about 8_192 x 8_192 (--n 2^13)"));
    }

    #[test]
    fn nothing_is_said_of_long_rungs_and_of_costs_that_nobody_measured() {
        assert!(lines(&[rung(1, 1, 4e-6, 9e-6)]).is_empty());
        assert!(lines(&[Row { t_launches_s: None, ..rung(1, 1, 4e-6, 5e-6) }]).is_empty());
        let unlimited = Row { ceiling_gbps: None, ..rung(1, 1, 4e-6, 5e-6) };
        assert_eq!(lines(&[unlimited]), ["v1: 1 launch: about 4.0 of 5.0 us"]);
        let odd = Row { ceiling_gbps: Some(1e300), n: u64::MAX, ..rung(1, 1, 4e-6, 5e-6) };
        assert_eq!(lines(&[odd]).len(), 1);
    }
}

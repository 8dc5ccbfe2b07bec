//! Which recorded rows and points belong together: what one table or picture shows.

pub use gpulab_record::groups::{distinct, groups};
use gpulab_record::{Point, Row};

pub fn distinct_numbers(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    distinct(values.into_iter().map(number_key))
        .into_iter()
        .map(f64::from_bits)
        .collect()
}

/// A number as a key: the same for both zeros.
pub fn number_key(x: f64) -> u64 {
    (x + 0.0).to_bits()
}

/// Rows table by table: of a sweep all its rows, of a ladder one case.
pub fn tables(rows: &[Row]) -> Vec<Vec<Row>> {
    groups(rows, |row| match is_swept(row) {
        true => (row.sweep_id.clone(), row.family.clone(), None),
        false => (
            row.run_id.clone(),
            row.family.clone(),
            Some((row.n, row.m, row.dtype)),
        ),
    })
}

/// The ladders: one case of one run each.
pub fn ladders(rows: &[Row]) -> Vec<Vec<Row>> {
    tables(&those(rows, &|row| !is_swept(row)))
}

/// The problems of sweeps: one size and type of one device each.
pub fn sweeps(rows: &[Row]) -> Vec<Vec<Row>> {
    groups(&those(rows, &is_swept), |row| {
        (
            row.sweep_id.clone(),
            row.device.clone(),
            row.family.clone(),
            row.dtype,
            row.n,
            row.m,
        )
    })
}

/// The rungs' rows of a family and type on a device, of all sizes.
pub fn families(rows: &[Row]) -> Vec<Vec<Row>> {
    groups(&those(rows, &|row| !row.on_host()), |row| {
        (
            row.device.clone(),
            row.driver.clone(),
            row.family.clone(),
            row.dtype,
            row.cache,
        )
    })
}

/// The experiments: one run on one device each, in the order of their plans.
pub fn experiments(points: &[Point]) -> Vec<Vec<Point>> {
    let mut all = groups(points, |point| {
        (
            point.run_id.clone(),
            point.device.clone(),
            point.experiment.clone(),
        )
    });
    for own in &mut all {
        // They were written as they were finished; older files have them in that order.
        own.sort_by_key(|point| point.place);
    }
    all
}

/// The ladders of the most rungs with a time: of large problems slow rungs are left out.
pub fn of_most_rungs(mut all: Vec<Vec<Row>>) -> Vec<Vec<Row>> {
    let most = all.iter().map(|rows| timed_rungs(rows)).max().unwrap_or(0);
    all.retain(|rows| timed_rungs(rows) == most);
    all
}

fn timed_rungs(rows: &[Row]) -> usize {
    rows.iter()
        .filter(|row| row.rung.is_some() && row.t_median_s.is_some())
        .count()
}

pub fn elements(rows: &[Row]) -> u64 {
    rows.first().map_or(0, |row| row.n.saturating_mul(row.m))
}

pub fn sizes(rows: &[Row]) -> usize {
    distinct(rows.iter().map(|row| row.n)).len()
}

fn those(rows: &[Row], is_meant: &dyn Fn(&Row) -> bool) -> Vec<Row> {
    rows.iter().filter(|row| is_meant(row)).cloned().collect()
}

fn is_swept(row: &Row) -> bool {
    !row.sweep_id.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_record::row;

    #[test]
    fn ladders_and_sweeps_are_told_apart() {
        let swept = |n, m| Row {
            sweep_id: "s1".to_owned(),
            n,
            m,
            ..row("naive")
        };
        let rows = [
            row("naive"),
            row("local"),
            Row {
                n: 7,
                ..row("naive")
            },
            swept(1, 1),
            swept(2, 1),
            swept(1, 1),
        ];
        let sizes = |groups: Vec<Vec<Row>>| groups.iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(sizes(ladders(&rows)), [2, 1]);
        assert_eq!(sizes(sweeps(&rows)), [2, 1]);
        let own = tables(&rows);
        assert_eq!(sizes(own), [2, 1, 3]);
        assert_eq!(sizes(families(&rows)), [6]);
        assert_eq!(distinct_numbers([1.0, 0.0, -0.0, 1.0]), [1.0, 0.0]);
    }
}

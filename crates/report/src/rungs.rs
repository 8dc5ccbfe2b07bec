//! What sentences about rungs share: their names, ranges of their numbers, and what bounds them.

use gpulab_kernels::Bound;
use gpulab_model::Joined;
use gpulab_record::Row;

/// Whether the row's family is bounded by memory, rather than by arithmetic.
pub fn is_memory_bound(row: &Row) -> bool {
    row.bound().is_none_or(Bound::is_memory)
}

/// The unit of the row's operations in a second, and how many operations one of them is.
pub fn operation_unit(row: &Row) -> (&'static str, f64) {
    match row.bound() {
        Some(Bound::AddMin) => ("Gpair/s", 2.0),
        Some(Bound::Fma) => ("GFLOP/s", 1.0),
        _ => ("Gop/s", 1.0),
    }
}

/// The row's rate by what bounds it, in its unit.
pub fn rate(row: &Row) -> (&'static str, Option<f64>) {
    let unit = operation_unit(row);
    if is_memory_bound(row) {
        ("GB/s", row.gbps)
    } else {
        (unit.0, row.gops.map(|gops| gops / unit.1))
    }
}

/// The limit that the row was held against, in its unit.
pub fn limit(row: &Row) -> Option<(&'static str, f64)> {
    let unit = operation_unit(row);
    row.ceiling_gbps
        .map(|gbps| ("GB/s", gbps))
        .or(row.ceiling_gops.map(|gops| (unit.0, gops / unit.1)))
}

/// `v3 local`.
pub fn label(row: &Row) -> String {
    row.rung.map_or_else(
        || row.variant.clone(),
        |number| format!("v{number} {}", row.variant),
    )
}

/// `v3`, or the name of a reference or baseline.
pub fn short_label(row: &Row) -> String {
    row.rung
        .map_or_else(|| row.variant.clone(), |number| format!("v{number}"))
}

/// `v2, v5 to v7`, `all rungs, cpu_exact`, or `all rows`.
pub fn who(meant: &[&Row], rows: &[&Row]) -> String {
    let [meant_timed, timed] =
        [meant, rows].map(|of| of.iter().filter(|row| row.t_median_s.is_some()).count());
    let [meant_rungs, rungs] =
        [meant, rows].map(|of| of.iter().filter(|row| is_timed_rung(row)).count());
    if timed > rungs && rungs > 1 && meant_timed == timed {
        return "all rows".to_owned();
    }
    if rungs > 1 && meant_rungs == rungs {
        let others = meant
            .iter()
            .filter(|row| !is_timed_rung(row))
            .map(|row| short_label(row));
        return std::iter::once("all rungs".to_owned())
            .chain(others)
            .joined(", ");
    }
    let named = meant
        .chunk_by(|a: &&Row, b: &&Row| a.rung.zip(b.rung).is_some_and(|(a, b)| a + 1 == b))
        .map(|run| match run {
            [first, _, .., last] => format!("{} to {}", short_label(first), short_label(last)),
            few => few.iter().map(|row| short_label(row)).joined(", "),
        });
    named.joined(", ")
}

fn is_timed_rung(row: &Row) -> bool {
    row.t_median_s.is_some() && !row.on_host()
}

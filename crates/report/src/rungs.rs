//! What sentences about rungs share: their names, ranges of their numbers, and what bounds them.

use gpulab_kernels::Bound;
use gpulab_record::Row;
use gpulab_system::text::Joined;

/// Whether the row's family is bounded by memory, rather than by arithmetic.
pub(super) fn is_memory_bound(row: &Row) -> bool {
    row.bound().is_none_or(Bound::is_memory)
}

/// The unit of the row's operations in a second, and how many operations one of them is.
pub(super) fn operation_unit(row: &Row) -> (&'static str, f64) {
    match row.bound() {
        Some(Bound::AddMin) => ("Gpair/s", 2.0),
        Some(Bound::Fma) => ("GFLOP/s", 1.0),
        _ => ("Gop/s", 1.0),
    }
}

/// The row's rate by what bounds it, in its unit.
pub(super) fn rate(row: &Row) -> (&'static str, Option<f64>) {
    let (unit, one) = operation_unit(row);
    if is_memory_bound(row) { ("GB/s", row.gbps) } else { (unit, row.gops.map(|gops| gops / one)) }
}

/// The limit that the row was held against, in its unit.
pub(super) fn limit(row: &Row) -> Option<(&'static str, f64)> {
    let (unit, one) = operation_unit(row);
    row.ceiling_gbps.map(|gbps| ("GB/s", gbps)).or(row.ceiling_gops.map(|gops| (unit, gops / one)))
}

/// `v3 local`.
pub(super) fn label(row: &Row) -> String {
    row.rung.map_or_else(|| row.variant.clone(), |number| format!("v{number} {}", row.variant))
}

/// `v3`, or the name of a reference or baseline.
pub(super) fn short_label(row: &Row) -> String {
    row.rung.map_or_else(|| row.variant.clone(), |number| format!("v{number}"))
}

/// `v2, v5 to v7`, `all rungs, cpu_exact`, or `all rows`.
pub(super) fn who(meant: &[&Row], rows: &[&Row]) -> String {
    let is_timed = |r: &&&Row| r.t_median_s.is_some();
    let is_rung = |r: &&&Row| is_timed(r) && !r.on_host();
    let count = |of: &[&Row], is: &dyn Fn(&&&Row) -> bool| of.iter().filter(|row| is(row)).count();
    let timed = count(rows, &is_timed);
    let rungs = count(rows, &is_rung);
    if timed > rungs && rungs > 1 && count(meant, &is_timed) == timed {
        return "all rows".to_owned();
    }
    if rungs > 1 && count(meant, &is_rung) == rungs {
        let others = meant.iter().filter(|row| !is_rung(row)).map(|row| short_label(row));
        return std::iter::once("all rungs".to_owned()).chain(others).joined(", ");
    }
    let named =
        meant.chunk_by(|a: &&Row, b: &&Row| a.rung.zip(b.rung).is_some_and(|(a, b)| a + 1 == b)).map(|run| match run {
            [first, _, .., last] => format!("{} to {}", short_label(first), short_label(last)),
            few => few.iter().map(|row| short_label(row)).joined(", "),
        });
    named.joined(", ")
}

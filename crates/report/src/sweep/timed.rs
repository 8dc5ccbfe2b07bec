//! A timed row of a sweep, and its name.

use super::Swept;

/// A row and the time of its work done once, in seconds.
pub(crate) type Timed<'a> = (&'a Swept, f64);

/// How near to the best counts as just as good.
pub(crate) const FLAT: f64 = 1.05;

/// Rungs of some rows, by their numbers.
pub(crate) fn variants<'a>(rows: &[&'a Swept]) -> Vec<&'a str> {
    let mut rungs: Vec<(Option<u32>, &str)> = rows.iter().map(|r| (r.rung, &*r.variant)).collect();
    rungs.sort_unstable();
    rungs.dedup();
    rungs.into_iter().map(|(_, variant)| variant).collect()
}

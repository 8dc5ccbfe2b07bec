//! Where a reader's kernel lands on a family's ladder, and which idea comes next.

use crate::format::{self, Screen};
use gpulab_kernels::{Family, Rung};
use gpulab_model::outcome::Status;
use gpulab_record::Row;
use serde::Serialize;

/// The place of a kernel among the rungs that were measured with it.
#[derive(Debug, PartialEq, Serialize)]
pub struct Landing {
    pub t_median_s: f64,
    /// The rung before it: the last one, in the ladder's order, before those that are faster.
    pub after: Option<Neighbour>,
    /// The first rung that is faster.
    pub before: Option<Neighbour>,
    /// Whether noise leaves open on which side of `before` it is.
    pub is_close: bool,
}

#[derive(Debug, PartialEq, Serialize)]
pub struct Neighbour {
    /// As in `v4 first_add`.
    pub rung: String,
    /// As in `first_add`.
    pub variant: String,
    pub t_median_s: f64,
    /// What it removes that the one before it has.
    pub removes: String,
    pub idea: String,
}

pub fn landing(family: &Family, own: &Rung, rows: &[Row]) -> Option<Landing> {
    let mine = row_of(own, rows)?;
    let mut landing = Landing {
        t_median_s: mine.t_median_s?,
        after: None,
        before: None,
        is_close: false,
    };
    for rung in family.ladder.iter().filter(|rung| rung.number().is_some()) {
        let Some(row) = row_of(rung, rows) else {
            continue;
        };
        let Some(t_median_s) = row.t_median_s else {
            continue;
        };
        let neighbour = Neighbour {
            rung: rung.label(),
            variant: rung.variant().into(),
            t_median_s,
            removes: rung.header("Removes").unwrap_or_default(),
            idea: rung.header("Idea").unwrap_or_default(),
        };
        if t_median_s < landing.t_median_s {
            landing.before = Some(neighbour);
            landing.is_close = overlap(mine, row);
            break;
        }
        landing.after = Some(neighbour);
    }
    Some(landing)
}

fn row_of<'a>(rung: &Rung, rows: &'a [Row]) -> Option<&'a Row> {
    rows.iter()
        .find(|row| row.variant == rung.variant() && row.status == Status::Ok)
}

/// The rows in the order of the ladder with `own` where it lands, for what compares each with the one before.
pub fn placed(landing: Option<&Landing>, own: &Rung, rows: &[Row]) -> Vec<Row> {
    let (mine, mut all): (Vec<Row>, Vec<Row>) = rows
        .iter()
        .cloned()
        .partition(|row| row.variant == own.variant());
    let next = landing.and_then(|landing| landing.before.as_ref());
    let place = all
        .iter()
        .position(|row: &Row| next.is_some_and(|next| next.variant == row.variant))
        .unwrap_or(all.len());
    all.splice(place..place, mine);
    all
}

/// Whether the middle halves of two rows' samples overlap.
fn overlap(a: &Row, b: &Row) -> bool {
    let [a, b] = [a, b].map(|row| row.t_q1_s.zip(row.t_q3_s));
    a.zip(b).is_some_and(|(a, b)| a.0 <= b.1 && b.0 <= a.1)
}

pub fn text(own: &Rung, landing: &Landing, screen: Screen) -> String {
    let [after, before] = [&landing.after, &landing.before].map(|rung| {
        rung.as_ref()
            .map(|rung| format!("{} ({})", rung.rung, format::time(rung.t_median_s)))
    });
    let own = format!("{} ({})", own.label(), format::time(landing.t_median_s));
    let place = match (after, before) {
        (_, None) => format!("{own} is the fastest: no rung of the ladder beats it"),
        (None, Some(next)) => format!("{own} is slower than the ladder's first rung, {next}"),
        (Some(last), Some(next)) => format!("{own} lands between {last} and {next}"),
    };
    let close = if landing.is_close {
        "; noise leaves open which of the last two is faster"
    } else {
        ""
    };
    let next = match &landing.before {
        // The first rung removes what no kernel has.
        Some(next) if landing.after.is_some() => format!(
            "\nnext: {} removes {}",
            next.rung,
            lower_first(&next.removes)
        ),
        _ => String::new(),
    };
    format!("{place}{close}.{next}\n")
        .lines()
        .map(|text: &str| screen.wrap(text))
        .collect()
}

/// A sentence's begin, within another sentence: names in capitals stay.
fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() || second == ' ' => first
            .to_lowercase()
            .chain(std::iter::once(second))
            .chain(letters)
            .collect(),
        _ => text.to_owned(),
    }
}

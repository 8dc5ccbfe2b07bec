//! An experiment as text for a terminal: a table, a chart, and the finding.

mod chart;

use super::format::{self, Screen};
use super::groups::{self, number_key};
use super::shown::x_label;
use super::table::Table;
use super::view::status_word;
use gpulab_model::Joined;
use gpulab_model::outcome::Status;
use gpulab_record::{Flags, Point, flag};
use std::collections::HashMap;
use std::hash::Hash;

const NOTES: usize = 5;

/// What to say of points that have a flag.
const CARE: [(Flags, &str); 5] = [
    (flag::LAUNCH_BOUND, "under 50 us, including the launch"),
    (flag::FITS_CACHE, "their data fit the cache"),
    (flag::CLOCK_FALLBACK, "by another clock than asked for"),
    (flag::NOISY, "noisy, so that small differences mean little"),
    (
        flag::DRIFT,
        "unsteady: the device's clock or a neighbour's load changed",
    ),
];

/// The points of one run of an experiment, under its question and above its finding, for this screen.
pub fn text(points: &[Point], question: &str, finding: &str, screen: Screen) -> String {
    let Some(first) = points.first() else {
        return screen.wrap_foreign(question) + "\nnothing was measured\n";
    };
    let parts = [
        screen.wrap_foreign(&title(first)) + &screen.wrap_foreign(question),
        screen.wrap_foreign(&units(points)) + "\n" + &grid(points, screen).blocks(screen.width),
        chart::charts(points, screen),
        notes(points, screen),
        screen.wrap_foreign(&format!("finding: {finding}")),
    ];
    format::on_screen(
        &parts
            .iter()
            .filter(|part| !part.is_empty())
            .cloned()
            .joined("\n"),
        screen,
    )
}

/// Each value of `of` once, in the order of their first points.
fn distinct<'a, T: Clone + Eq + Hash>(points: &'a [Point], of: impl Fn(&'a Point) -> T) -> Vec<T> {
    groups::distinct(points.iter().map(of))
}

/// What a column of numbers holds, all in one unit: a metric and that unit, as in `bandwidth` and `GB/s`.
fn measure_of(point: &Point) -> [&str; 2] {
    [&point.metric, &point.unit]
}

fn title(point: &Point) -> String {
    let cache = point.cache.name();
    let clock = point.clock.name();
    let Point {
        experiment,
        device,
        platform,
        driver,
        ..
    } = point;
    format!(
        "{experiment} on {} ({platform}, {driver}): {cache} cache, {clock} clock",
        format::device(device)
    )
}

/// Each value of what is varied once, in the order of their first points.
fn distinct_x(points: &[Point]) -> Vec<f64> {
    groups::distinct_numbers(points.iter().map(|p| p.x))
}

/// The first point of each series, value of x and measure.
fn by_place(points: &[Point]) -> HashMap<(&str, u64, [&str; 2]), &Point> {
    let mut all = HashMap::with_capacity(points.len());
    for point in points {
        all.entry((
            point.series.as_str(),
            number_key(point.x),
            measure_of(point),
        ))
        .or_insert(point);
    }
    all
}

/// A table with more cells than these, and so many times as many as there are points, is a list.
const MOST_CELLS: usize = 10_000;
const MOST_EMPTY: usize = 16;

/// More series than these, and than there are x, get rows in place of columns.
const COLUMNS: usize = 16;

/// `bandwidth in GB/s, time in us`.
fn units(points: &[Point]) -> String {
    distinct(points, measure_of)
        .into_iter()
        .map(|measure| measure.join(" in "))
        .joined(", ")
}

/// A line for each x, or where there are many series, or they have no room side by side, for each series.
fn grid(points: &[Point], screen: Screen) -> Table {
    let series = distinct(points, |p| p.series.as_str()).len();
    let xs = distinct_x(points).len();
    // A table that is mostly empty says less than a list, and of many points it would not end.
    if series.saturating_mul(xs) > MOST_CELLS.max(MOST_EMPTY * points.len()) {
        return list(points);
    }
    let narrow = by_x(points);
    let is_long = series > COLUMNS.max(xs);
    let turned = by_series(points);
    let is_turned = is_long || (narrow.width() > screen.width && turned.width() <= screen.width);
    if is_turned { turned } else { narrow }
}

fn list(points: &[Point]) -> Table {
    let x_name = points
        .first()
        .map(|p| p.x_name.as_str())
        .unwrap_or_default();
    Table::default()
        .texts("", points.iter().map(|p| p.series.clone()))
        .numbers(x_name, points.iter().map(|p| x_label(points, p.x)))
        .numbers("value", points.iter().map(value))
        .texts("", points.iter().map(|p| measure_of(p).join(" in ")))
}

/// One row for each x, one column for each series and what is measured of it; names are broken at commas, and have units
/// where these differ.
fn by_x(points: &[Point]) -> Table {
    let xs = distinct_x(points);
    let is_mixed = is_mixed(points);
    let place = by_place(points);
    let x_name = points
        .first()
        .map(|p| p.x_name.as_str())
        .unwrap_or_default();
    let mut table = Table::default().numbers(x_name, xs.iter().map(|x| x_label(points, *x)));
    for (series, measure) in distinct(points, |p| (p.series.as_str(), measure_of(p))) {
        let unit = if is_mixed {
            format!("\n{}", measure[1])
        } else {
            String::new()
        };
        let head = series.replace(", ", ",\n") + &unit;
        table = table.numbers(
            head,
            xs.iter()
                .map(|x| cell(place.get(&(series, number_key(*x), measure)).copied())),
        );
    }
    table
}

/// One row for each series, one column for each x and what is measured there; ascending in x.
fn by_series(points: &[Point]) -> Table {
    let is_mixed = is_mixed(points);
    let place = by_place(points);
    let all = distinct(points, |p| p.series.as_str());
    let mut table = Table::default().texts("", all.iter().map(|series| (*series).to_owned()));
    let mut kinds = distinct(points, |p| {
        (number_key(p.x), p.x_name.as_str(), measure_of(p))
    });
    kinds.sort_by(|a, b| f64::from_bits(a.0).total_cmp(&f64::from_bits(b.0)));
    for (x, x_name, measure) in kinds {
        let unit = if is_mixed {
            format!("\n{}", measure.join(" in ").replace(" in ", "\n"))
        } else {
            String::new()
        };
        let head = format!("{x_name}\n{}{unit}", x_label(points, f64::from_bits(x)));
        table = table.numbers(
            head,
            all.iter()
                .map(|series| cell(place.get(&(*series, x, measure)).copied())),
        );
    }
    table
}

fn cell(point: Option<&Point>) -> String {
    point.map_or_else(|| "-".to_owned(), value)
}

fn is_mixed(points: &[Point]) -> bool {
    distinct(points, |p| p.unit.as_str()).len() > 1
}

/// Four digits, or the word for what came in place of a value.
fn value(point: &Point) -> String {
    match point.measured() {
        Some(value) => format::significant(value, 4),
        None if point.status == Status::Ok => "-".to_owned(),
        None => status_word(point.status).to_owned(),
    }
}

/// What needs care, and why points have no value.
fn notes(points: &[Point], screen: Screen) -> String {
    let mut text = String::new();
    for (flag, what) in CARE {
        let count = points.iter().filter(|p| p.flags.contains(flag)).count();
        if count > 0 {
            let note = format!("note: {count} of {} points: {what}", points.len());
            text.push_str(&screen.wrap(&note));
        }
    }
    let troubled: Vec<&Point> = points.iter().filter(|p| p.status != Status::Ok).collect();
    for point in troubled.iter().take(NOTES) {
        let who = format!(
            "{}, {} = {}, {}",
            point.series,
            point.x_name,
            x_label(points, point.x),
            status_word(point.status)
        );
        let why = format::reason(&point.reason, "  ", screen.width);
        text.push_str(&format!("\n{}:\n{why}", format::terminal(&who)));
    }
    if troubled.len() > NOTES {
        text.push_str(&format!(
            "\n{} more points have no value: --csv FILE writes the reasons\n",
            troubled.len() - NOTES
        ));
    }
    text
}

#[cfg(test)]
mod tests;

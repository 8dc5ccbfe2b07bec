//! An experiment as text for a terminal: a table, bars, and the finding.

use super::format;
use super::ladder::STYLE;
use super::view::status_word;
use crate::record::{Point, flag};
use crate::runner::{Cache, Clock, Status};
use comfy_table::{CellAlignment, Table};

/// Columns of the terminal that bars may fill, labels and values included.
const WIDTH: usize = 100;

/// Most characters of a series' name beside its bars.
const LABEL: usize = 40;

/// Most remarks on points without a value.
const REMARKS: usize = 5;

/// What to say of points that have a flag.
const CARE: [(&str, &str); 5] = [
    (flag::LAUNCH_BOUND, "as short as a launch itself"),
    (flag::FITS_CACHE, "their data fit the cache"),
    (flag::CLOCK_FALLBACK, "by another clock than asked for"),
    (flag::NOISY, "noisy, so that small differences mean little"),
    (flag::DRIFT, "unsteady: the device's clock or a neighbour's load changed"),
];

/// The points of one run of an experiment, under its question and above its finding. `label` names a value of what is
/// varied.
pub fn text(points: &[Point], question: &str, finding: &str, label: &dyn Fn(f64) -> String) -> String {
    let Some(first) = points.first() else { return format!("{question}\n\nnothing was measured\n") };
    let parts = [
        format!("{}\n{}\n", title(first), format::terminal(question)),
        table(points, label),
        bars(points, label),
        notes(points, label),
        format!("finding: {}\n", format::terminal(finding)),
    ];
    parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join("\n")
}

fn title(point: &Point) -> String {
    let cache = match point.cache {
        Cache::Warm => "warm",
        Cache::Cold => "cold",
    };
    let clock = match point.clock {
        Clock::Event => "event",
        Clock::Wall => "wall",
        Clock::Batch => "batch",
    };
    let Point { experiment, device, platform, driver, .. } = point;
    format::terminal(&format!("{experiment} on {device} ({platform}, {driver}): {cache} cache, {clock} clock"))
}

/// Each value of `of` once, in the order of their first points.
fn distinct<'a, T: PartialEq>(points: &'a [Point], of: impl Fn(&'a Point) -> T) -> Vec<T> {
    let mut all = Vec::new();
    for value in points.iter().map(of) {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

/// More series than these, and than there are x, get rows in place of columns.
const COLUMNS: usize = 16;

/// The points' values with a header.
fn table(points: &[Point], label: &dyn Fn(f64) -> String) -> String {
    let (series, xs) = (distinct(points, |p| p.series.as_str()).len(), distinct(points, |p| p.x).len());
    let is_long = series > COLUMNS.max(xs);
    let (header, rows) = if is_long { by_series(points, label) } else { by_x(points, label) };
    let mut table = Table::new();
    table.load_style(STYLE).set_header(header).add_rows(rows);
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if i == 0 { 0 } else { 1 }, 0));
        column.set_cell_alignment(if is_long && i == 0 { CellAlignment::Left } else { CellAlignment::Right });
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    format!("{}\n\n{}\n", units(points), lines.join("\n"))
}

/// A table's header and its rows.
type Cells = (Vec<String>, Vec<Vec<String>>);

/// One row for each x, one column for each series; their names are broken at commas, and have units where these differ.
fn by_x(points: &[Point], label: &dyn Fn(f64) -> String) -> Cells {
    let series = distinct(points, |p| p.series.as_str());
    let unit = |name: &str| match points.iter().find(|p| p.series == name) {
        Some(point) if is_mixed(points) => format!("\n{}", format::terminal(&point.unit)),
        _ => String::new(),
    };
    let broken = series.iter().map(|name| format::terminal(name).replace(", ", ",\n") + &unit(name));
    let x_name = points.first().map(|p| format::terminal(&p.x_name)).unwrap_or_default();
    let row = |x: f64| {
        std::iter::once(format::terminal(&label(x))).chain(series.iter().map(|s| cell(points, s, x))).collect()
    };
    (std::iter::once(x_name).chain(broken).collect(), distinct(points, |p| p.x).into_iter().map(row).collect())
}

/// One row for each series, one column for each x with what is measured there; ascending in x.
fn by_series(points: &[Point], label: &dyn Fn(f64) -> String) -> Cells {
    let mut xs = distinct(points, |p| p.x);
    xs.sort_by(f64::total_cmp);
    let column = |x: &f64| {
        let own: Vec<Point> = points.iter().filter(|p| p.x == *x).cloned().collect();
        let x_name = own.first().map(|p| format::terminal(&p.x_name)).unwrap_or_default();
        format!("{x_name} = {}\n{}", format::terminal(&label(*x)), units(&own).replace(", ", ",\n"))
    };
    let header = std::iter::once(String::new()).chain(xs.iter().map(column)).collect();
    let row = |s: &str| std::iter::once(format::terminal(s)).chain(xs.iter().map(|&x| cell(points, s, x))).collect();
    (header, distinct(points, |p| p.series.as_str()).into_iter().map(row).collect())
}

fn cell(points: &[Point], series: &str, x: f64) -> String {
    let point = points.iter().find(|p| p.x == x && p.series == series);
    point.map_or_else(|| "-".to_owned(), value)
}

/// Whether some points are in another unit than others.
fn is_mixed(points: &[Point]) -> bool {
    distinct(points, |p| p.unit.as_str()).len() > 1
}

/// `bandwidth in GB/s`.
fn units(points: &[Point]) -> String {
    let all = distinct(points, |p| format!("{} in {}", p.metric, p.unit));
    format::terminal(&all.join(", "))
}

/// Four digits, or the word for what came in place of a value.
fn value(point: &Point) -> String {
    match point.measured() {
        Some(value) => format::significant(value, 4),
        None if point.status == Status::Ok => "-".to_owned(),
        None => status_word(point.status).to_owned(),
    }
}

/// A bar for each point: in groups of one x, or of one series where each has many x; without groups if there is only
/// one series.
fn bars(points: &[Point], label: &dyn Fn(f64) -> String) -> String {
    if points.iter().all(|p| p.measured().is_none_or(|value| value <= 0.0)) {
        return String::new();
    }
    let (series, xs) = (distinct(points, |p| p.series.as_str()), distinct(points, |p| p.x));
    let names = |p: &Point| {
        let of_x = format!("{} = {}", p.x_name, label(p.x));
        match series.len() {
            1 => (String::new(), of_x),
            many if many < xs.len() => (p.series.clone(), format!("  {of_x}")),
            _ => (of_x, format!("  {}", p.series)),
        }
    };
    let group = |p: &Point| names(p).0;
    let name = |p: &Point| format::shorten(&format::terminal(&names(p).1), LABEL);
    let width = points.iter().map(|p| name(p).chars().count()).max().unwrap_or(0);
    // A value of four digits, and a blank before it.
    let values = 12 + if is_mixed(points) { points.iter().map(|p| p.unit.len() + 1).max().unwrap_or(0) } else { 0 };
    let mut text = String::new();
    for heading in distinct(points, group) {
        if !heading.is_empty() {
            text.push_str(&format!("{}\n", format::terminal(&heading)));
        }
        for point in points.iter().filter(|p| group(p) == heading) {
            text.push_str(&format!("{:<width$}  {}\n", name(point), bar(point, points, WIDTH - width - values)));
        }
    }
    text
}

/// A bar with its value, of `length` characters for the largest of its metric.
fn bar(point: &Point, points: &[Point], length: usize) -> String {
    let most = points
        .iter()
        .filter(|p| (&p.metric, &p.unit) == (&point.metric, &point.unit))
        .filter_map(Point::measured)
        .fold(0.0, f64::max);
    let filled = point.measured().map_or(0, |value| (value / most * length as f64).round().max(0.0) as usize);
    let space = if filled > 0 { " " } else { "" };
    let is_told = point.measured().is_some() && is_mixed(points);
    let unit = if is_told { format!(" {}", format::terminal(&point.unit)) } else { String::new() };
    format!("{}{space}{}{unit}", "█".repeat(filled), value(point))
}

/// What needs care, and why points have no value.
fn notes(points: &[Point], label: &dyn Fn(f64) -> String) -> String {
    let mut text = String::new();
    for (flag, what) in CARE {
        let count = points.iter().filter(|p| p.has_flag(flag)).count();
        if count > 0 {
            text.push_str(&format!("note: {count} of {} points: {what}\n", points.len()));
        }
    }
    let troubled: Vec<&Point> = points.iter().filter(|p| p.status != Status::Ok).collect();
    for point in troubled.iter().take(REMARKS) {
        let who = format!("{}, {} = {}, {}", point.series, point.x_name, label(point.x), status_word(point.status));
        text.push_str(&format!("\n{}:\n{}", format::terminal(&who), format::block(&point.reason, "  ")));
    }
    if troubled.len() > REMARKS {
        text.push_str(&format!(
            "\n{} more points have no value: --csv FILE writes the reasons\n",
            troubled.len() - REMARKS
        ));
    }
    text
}

#[cfg(test)]
mod tests;

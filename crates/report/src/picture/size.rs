//! Time over the size of the problem, a line for each rung: where launches end to matter, and where caches end.

use super::lines::{Line, LineChart, LinePoint, ReferenceLine};
use super::prelude::*;
use gpulab_study::ceilings::{CeilingRow, Site, cached};
use std::collections::BTreeMap;

/// Draws the rows of one family and type on one device, of several sizes. Of equal sizes each rung's fastest row counts.
/// `ceilings` are those of the device, if they are known.
pub fn size(rows: &[Row], ceilings: &[CeilingRow]) -> Drawn {
    let timed: Vec<&Row> = rows.iter().filter(|row| is_base(row) && row.is_plain()).collect();
    let mut sizes: Vec<u64> = timed.iter().map(|row| row.n).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let (Some(first), false) = (timed.first(), sizes.len() < 2) else {
        return Err(
            "time over size needs the rows of two sizes or more with times: give a sweep, or ladders of several -n"
                .to_owned(),
        );
    };
    let lines = lines(&timed);
    let all = || lines.iter().flat_map(|line| &line.points);
    let floor = floor(&timed, ceilings);
    let Some((least, most)) = span(all().flat_map(|p| [p.low, p.high]).chain(floor)) else { return Err(String::new()) };
    let (unit, of_unit) = number::time_unit((least * most).sqrt());
    let in_unit = |seconds: f64| seconds / of_unit;
    let title = title(&lines, &sizes, floor);
    let subtitle = format!(
        "{} on {}, {}: median time of the fastest settings of each rung",
        first.family,
        format::device(&first.device),
        first.dtype
    );
    let low = sizes[0] as f64;
    let high = sizes[sizes.len() - 1] as f64;
    let references = references(&timed, floor.map(in_unit), ceilings);
    let figures = figures(&lines, &sizes);
    let about = format!(
        "Lines of time over size, from n = {} to {}, of {} rungs.",
        number::size(low),
        number::size(high),
        lines.len()
    );
    let chart = LineChart {
        y_name: format!("time ({unit})"),
        x_name: if first.m > 1 { "columns n" } else { "elements n" },
        x: AxisScale::log2(low, high, false, 8),
        y: AxisScale::log10(in_unit(least), in_unit(most), 5),
        x_ticks: sizes.iter().map(|&n| (n as f64, number::size(n as f64))).collect(),
        y_tick: number::tick,
        lines: lines.into_iter().map(|line| scaled(line, of_unit)).collect(),
        references,
    };
    let mut sheet = Sheet::titled(&title, &subtitle);
    chart.draw(&mut sheet);
    Ok(sheet.done(&title, &about, figures))
}

fn scaled(line: Line, of_unit: f64) -> Line {
    Line {
        points: line
            .points
            .into_iter()
            .map(|p: LinePoint| LinePoint { y: p.y / of_unit, low: p.low / of_unit, high: p.high / of_unit, ..p })
            .collect(),
        ..line
    }
}

/// A line for each rung, in seconds.
fn lines(rows: &[&Row]) -> Vec<Line> {
    let seconds = |row: &Row| row.t_median_s.unwrap_or(f64::INFINITY);
    // Of each rung, by size, the fastest.
    let mut rungs: BTreeMap<(Option<u32>, &str), BTreeMap<u64, &Row>> = BTreeMap::new();
    for &row in rows {
        let fastest = rungs.entry((row.rung, &row.variant)).or_default().entry(row.n).or_insert(row);
        if seconds(row) < seconds(fastest) {
            *fastest = row;
        }
    }
    let point = |row: &&Row| {
        let y = row.t_median_s?;
        let tip = format!("{}, n = {}: {}", label(row), number::size(row.n as f64), number::time(y));
        Some(LinePoint { x: row.n as f64, y, low: row.t_q1_s.unwrap_or(y), high: row.t_q3_s.unwrap_or(y), tip })
    };
    rungs
        .values()
        .enumerate()
        .map(|(series, own): (usize, &BTreeMap<u64, &Row>)| {
            let name = own.values().next().map(|row| label(row)).unwrap_or_default();
            Line { name, series, points: own.values().filter_map(point).collect() }
        })
        .collect()
}

/// Seconds that a launch takes at least: measured as a ceiling, or as the rows tell.
fn floor(rows: &[&Row], ceilings: &[CeilingRow]) -> Option<f64> {
    let measured = ceilings.iter().find(|row| row.what == "launch, event time" && row.place == Site::Host);
    let told = || rows.iter().filter(|row| row.launches == Some(1)).filter_map(|row| row.t_launches_s).next();
    measured.and_then(|row| Some(row.value? * 1e-6)).or_else(told)
}

fn references(rows: &[&Row], floor: Option<f64>, ceilings: &[CeilingRow]) -> Vec<ReferenceLine> {
    let launch = floor.map(|at| ReferenceLine { at, name: "an empty launch".to_owned(), is_across: false });
    let held = cached(ceilings);
    // Bytes grow with n, or of matrices with its square.
    let cache = rows.iter().find_map(|row| {
        let share = held as f64 / row.bytes.filter(|&bytes| bytes > 0 && held > 0)? as f64;
        let at = row.n as f64 * if row.m > 1 { share.sqrt() } else { share };
        Some(ReferenceLine { at, name: format!("caches hold {}", number::bytes(held as f64)), is_across: true })
    });
    launch.into_iter().chain(cache).collect()
}

/// Which rung is fastest at the ends, and up to where launches are most of the time.
fn title(lines: &[Line], sizes: &[u64], floor: Option<f64>) -> String {
    let best = |n: u64| {
        let timed = lines.iter().filter_map(|line| Some((line.name.clone(), at(line, n)?)));
        timed.min_by(|a, b| a.1.total_cmp(&b.1))
    };
    let Some((large, _)) = sizes.last().and_then(|&n| best(n)) else { return String::new() };
    let launching = floor.and_then(|floor| {
        sizes.iter().take_while(|n: &&u64| best(**n).is_some_and(|(_, time)| time < 2.0 * floor)).last()
    });
    let most = number::size(sizes[sizes.len() - 1] as f64);
    match (launching, sizes.first().and_then(|&n| best(n))) {
        (Some(n), _) => {
            format!(
                "Up to n = {} even the fastest rung is mostly launch; at {most}, {large} is fastest",
                number::size(*n as f64)
            )
        }
        (None, Some((small, _))) if small != large => {
            format!("{small} is fastest at n = {}, {large} at {most}", number::size(sizes[0] as f64))
        }
        _ => format!("{large} is fastest from n = {} to {most}", number::size(sizes[0] as f64)),
    }
}

/// Seconds at a size, if the line has a point there; its points are in order of their sizes.
fn at(line: &Line, n: u64) -> Option<f64> {
    let place = line.points.binary_search_by(|p| p.x.total_cmp(&(n as f64))).ok()?;
    Some(line.points[place].y)
}

fn figures(lines: &[Line], sizes: &[u64]) -> Figures {
    let mut figures = Figures::new(std::iter::once("n".to_owned()).chain(lines.iter().map(|line| line.name.clone())));
    for &n in sizes {
        figures.rows.push(
            std::iter::once(number::count(n))
                .chain(lines.iter().map(|line: &Line| at(line, n).map(number::time).unwrap_or_default()))
                .collect(),
        );
    }
    figures
}

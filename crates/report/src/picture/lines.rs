//! Lines over one axis with bands for their spread: an experiment's points, and times over the size of the problem or of the
//! work-group. Where what is varied is no number, or little is varied, a dot for each value beside its name.

use super::scale::{AxisScale, BELOW, Tick, across, framed, span, ticks};
use super::sheet::{Area, MARGIN, NOTE, SERIES, SMALL, Sheet, WIDTH, dashes, fitted, widest};
use super::{Drawn, number};
use crate::format;
use crate::groups::{self, distinct, distinct_numbers, groups as grouped};
use crate::rungs::label;
use crate::shown::x_label;
use crate::view::is_base;
use gpulab_model::Joined;
use gpulab_record::{Point, Row};
use gpulab_study::ceilings::{CeilingRow, Site};

/// Units of a chart's height, and of a line of dots.
const HEIGHT: f64 = 200.0;
const ROW: f64 = 17.0;

/// From this factor between the largest and the smallest value on, their axis is logarithmic; and that of what is varied.
const WIDE: f64 = 50.0;
const FAR: f64 = 8.0;

/// Lines that one chart may have; more become dots.
const MOST_LINES: usize = 2 * SERIES;

/// A line: its points ascend.
struct Line {
    name: String,
    points: Vec<LinePoint>,
}

/// A point, the ends of its spread, and what is told when it is pointed at.
struct LinePoint {
    x: f64,
    y: f64,
    low: f64,
    high: f64,
    tip: String,
}

/// Draws lines in one frame, with their names above it; the axes are not yet placed. Ticks across are values with their texts.
fn draw(
    sheet: &mut Sheet,
    lines: &[Line],
    (x, y): (AxisScale, AxisScale),
    x_ticks: &[Tick],
    names: [&str; 2],
) {
    if lines.len() > 1 {
        sheet.key(
            &lines
                .iter()
                .map(|line| line.name.clone())
                .collect::<Vec<_>>(),
        );
    }
    sheet.y += 19.0;
    let (area, y) = framed(sheet, y, HEIGHT, names[1]);
    // Points at an end stay clear of the frame.
    let x = x.over(area.left + 8.0, area.right - 8.0);
    let placed: Vec<Tick> = x_ticks
        .iter()
        .map(|(value, text)| (x.at(*value), text.clone()))
        .collect();
    across(sheet, area, &placed, names[0]);
    for (series, line) in lines.iter().enumerate() {
        let upper = line.points.iter().map(|p| (x.at(p.x), y.at(p.high)));
        let lower = line.points.iter().rev().map(|p| (x.at(p.x), y.at(p.low)));
        sheet.band(
            &upper.chain(lower).collect::<Vec<_>>(),
            &format!("f{}", series % SERIES),
        );
    }
    for (series, line) in lines.iter().enumerate() {
        let places: Vec<(f64, f64)> = line.points.iter().map(|p| (x.at(p.x), y.at(p.y))).collect();
        sheet.path(
            &places,
            &format!("s{}", series % SERIES),
            2.0,
            dashes(series),
        );
        line.points
            .iter()
            .zip(&places)
            .for_each(|(point, place)| sheet.dot(*place, series, &point.tip));
    }
    sheet.y = area.bottom + BELOW;
}

/// Draws the times of rungs over the size of the problem, or over that of the work-group: of each rung and size its fastest row.
/// `rows` are those of one family and type on one device, `ceilings` those of the device, if they are known.
fn times(rows: &[Row], x: fn(&Row) -> u64, x_name: &str, floor: Option<f64>) -> Drawn {
    let timed: Vec<&Row> = rows
        .iter()
        .filter(|row| is_base(row) && row.is_plain())
        .collect();
    let mut sizes = distinct(timed.iter().map(|row| x(row)));
    sizes.sort_unstable();
    let (Some((best, time)), Some(&low), Some(&high)) =
        (fastest(&timed), sizes.first(), sizes.last())
    else {
        return Err("no row has a time, so there is nothing to draw".to_owned());
    };
    if low == high {
        return Err(format!(
            "lines of time need rows of two {x_name} or more with times: give a sweep"
        ));
    }
    let mut rungs = grouped(&timed, |row| (row.rung, row.variant.clone()));
    rungs.sort_by_key(|own| own[0].rung);
    let all = rungs
        .iter()
        .flatten()
        .flat_map(|row| [row.t_q1_s, row.t_q3_s, row.t_median_s])
        .flatten();
    let [least, most] = span(all.chain(floor)).unwrap_or([1e-6, 1.0]);
    let (unit, of_unit) = number::time_unit((least * most).sqrt());
    let mut lines = Vec::new();
    for own in &rungs {
        let mut points = Vec::new();
        for &size in &sizes {
            let of_size: Vec<&Row> = own.iter().copied().filter(|row| x(row) == size).collect();
            let Some((row, time)) = fastest(&of_size) else {
                continue;
            };
            let tip = format!("{}, {size}: {}", label(row), number::time(time));
            let [low, high] =
                [row.t_q1_s, row.t_q3_s].map(|quartile| quartile.unwrap_or(time) / of_unit);
            points.push(LinePoint {
                x: size as f64,
                y: time / of_unit,
                low,
                high,
                tip,
            });
        }
        lines.push(Line {
            name: label(own[0]),
            points,
        });
    }
    // What bounds all of them from below.
    if let Some(floor) = floor {
        let y = floor / of_unit;
        let ends = [low, high].map(|x| LinePoint {
            x: x as f64,
            y,
            low: y,
            high: y,
            tip: number::time(floor),
        });
        lines.push(Line {
            name: "an empty launch".to_owned(),
            points: ends.into(),
        });
    }
    let title = format!(
        "{} is fastest: {} at {} {x_name}",
        label(best),
        number::time(time),
        x(best)
    );
    let device = format::device(&best.device);
    let subtitle = format!(
        "{} on {device}, {}: median time of each rung's fastest settings",
        best.family, best.dtype
    );
    let mut sheet = Sheet::titled(&title, "ink", &subtitle);
    let axes = (
        AxisScale::log(low as f64, high as f64, false, 8),
        AxisScale::log_round(least / of_unit, most / of_unit, 5),
    );
    let x_ticks: Vec<Tick> = sizes
        .iter()
        .map(|&size| (size as f64, number::size(size as f64)))
        .collect();
    draw(
        &mut sheet,
        &lines,
        axes,
        &x_ticks,
        [x_name, &format!("time ({unit})")],
    );
    let mut figures = Vec::new();
    for line in &lines {
        for p in &line.points {
            figures.push(vec![
                line.name.clone(),
                number::count(p.x as u64),
                number::value(p.y),
            ]);
        }
    }
    Ok(sheet.done(
        &title,
        &format!("Lines of time over {x_name}, of {} rungs.", rungs.len()),
        &["rung", x_name, &format!("time ({unit})")],
        figures,
    ))
}

fn fastest<'a>(rows: &[&'a Row]) -> Option<(&'a Row, f64)> {
    let timed = rows.iter().filter_map(|row| Some((*row, row.t_median_s?)));
    timed.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Draws time over the size of the problem: where launches end to matter, and where caches end.
pub fn size(rows: &[Row], ceilings: &[CeilingRow]) -> Drawn {
    let launch = ceilings
        .iter()
        .find(|row| row.what == "launch, event time" && row.place == Site::Host);
    let name = if rows.first().is_some_and(|row| row.m > 1) {
        "columns n"
    } else {
        "elements n"
    };
    times(
        rows,
        |row| row.n,
        name,
        launch.and_then(|row| Some(row.value? * 1e-6)),
    )
}

/// Draws the rows of a sweep that solve one problem on one device: time over the size of the work-group.
pub fn sweep(rows: &[Row]) -> Drawn {
    let latest = crate::sweep::latest(rows);
    times(
        &latest,
        |row| row.wg.map_or(1, |wg| wg.size() as u64),
        "work-items of a group",
        None,
    )
}

/// Draws the points of one run of an experiment, a panel for each quantity. The finding's first part is the title, grey where it
/// is undecided.
pub fn experiment(points: &[Point], question: &str, finding: &str) -> Drawn {
    let measured: Vec<&Point> = points
        .iter()
        .filter(|p| p.measured().is_some_and(f64::is_finite))
        .collect();
    let Some(first) = measured.first() else {
        return Err("no point has a value, so there is nothing to draw".to_owned());
    };
    // A point within a number ends nothing.
    let end = [". ", "; "]
        .iter()
        .filter_map(|mark| finding.find(mark))
        .min();
    let title = end.map_or(finding.trim_end_matches('.'), |end| &finding[..end]);
    let rest = end.map_or("", |end| finding[end + 2..].trim());
    let subtitle = format!(
        "{} on {}: {}",
        first.experiment,
        format::device(&first.device),
        question
    );
    let is_undecided = finding
        .split(". ")
        .next()
        .is_some_and(|first| first.contains("undecided"));
    let mut sheet = Sheet::titled(title, if is_undecided { "dim" } else { "ink" }, &subtitle);
    sheet.lines(rest, NOTE, MARGIN);
    let panels = grouped(&measured, |p| (p.metric.clone(), p.unit.clone()));
    for panel in &panels {
        draw_panel(&mut sheet, panel);
        sheet.y += 10.0;
    }
    let mut figures = Vec::new();
    for &point in &measured {
        let spread = point
            .noise
            .map(|noise| format!("{:.1} %", 100.0 * noise))
            .unwrap_or_default();
        let value = point.measured().map(number::value).unwrap_or_default();
        figures.push(vec![
            point.series.clone(),
            x_label(points, point.x),
            quantity(point),
            value,
            spread,
        ]);
    }
    let names = panels.iter().map(|panel| quantity(panel[0])).joined("; ");
    Ok(sheet.done(
        title,
        &format!("{} Panels: {names}.", finding),
        &["series", &first.x_name, "quantity", "value", "spread"],
        figures,
    ))
}

fn quantity(point: &Point) -> String {
    number::quantity(&point.metric, &point.unit)
}

/// The points of one quantity: lines where numbers are varied, dots otherwise.
fn draw_panel(sheet: &mut Sheet, points: &[&Point]) {
    let mut xs = distinct_numbers(points.iter().map(|p| p.x));
    xs.sort_by(f64::total_cmp);
    let own = grouped(points, |p| p.series.as_str());
    let longest = own.iter().map(Vec::len).max().unwrap_or(0);
    let has_numbers = xs
        .iter()
        .all(|x| x_label(points, *x).starts_with(|c: char| c.is_ascii_digit()));
    if xs.len() < 3 || longest < 3 || !has_numbers || own.len() > MOST_LINES {
        return dots(sheet, points, &xs, has_numbers);
    }
    let mut lines = Vec::new();
    for mut own in own {
        own.sort_by(|a, b| a.x.total_cmp(&b.x));
        let points = own.iter().map(|p| {
            let [low, high] = ends(p);
            LinePoint {
                x: p.x,
                y: p.measured().unwrap_or(0.0),
                low,
                high,
                tip: tip(p),
            }
        });
        lines.push(Line {
            name: own[0].series.clone(),
            points: points.collect(),
        });
    }
    let [least, most] = span(xs.iter().copied().filter(|x| *x > 0.0)).unwrap_or([1.0, 1.0]);
    let x = match most / least >= FAR && xs[0] >= 0.0 {
        true => AxisScale::log(least, most, xs[0] == 0.0, 8),
        false => AxisScale::between(xs[0], most.max(xs[xs.len() - 1]), 8),
    };
    let is_long = xs.iter().all(|&x| x_label(points, x) == x.to_string())
        && xs.iter().any(|&x| x >= 10_000.0);
    let x_ticks: Vec<Tick> = xs
        .iter()
        .map(|&x| {
            (
                x,
                if is_long {
                    number::size(x)
                } else {
                    x_label(points, x)
                },
            )
        })
        .collect();
    draw(
        sheet,
        &lines,
        (x, values(points, 5)),
        &x_ticks,
        [&points[0].x_name, &quantity(points[0])],
    );
}

/// The axis of values: from nought, or logarithmic where they are far apart.
fn values(points: &[&Point], ticks: usize) -> AxisScale {
    let [least, most] = span(points.iter().flat_map(|p| ends(p))).unwrap_or([0.0, 1.0]);
    match (least < 0.0, least > 0.0 && most / least > WIDE) {
        (true, _) => AxisScale::between(least, most, ticks),
        (_, true) => AxisScale::log_round(least, most, ticks),
        _ => AxisScale::from_zero(most, ticks),
    }
}

/// A line for each series with a dot for each x; or one for each series and x where these are names.
fn dots(sheet: &mut Sheet, points: &[&Point], xs: &[f64], has_numbers: bool) {
    let x_name = &points[0].x_name;
    if has_numbers && xs.len() > 1 {
        sheet.key(
            &xs.iter()
                .map(|&x| format!("{x_name} {}", x_label(points, x)))
                .collect::<Vec<_>>(),
        );
    }
    let own = grouped(points, |p| {
        (
            p.series.as_str(),
            if has_numbers {
                String::new()
            } else {
                x_label(points, p.x)
            },
        )
    });
    let rows = own.iter().map(|points| match has_numbers {
        true => fitted(&points[0].series, SMALL, 220.0),
        false => fitted(
            &format!("{}: {}", points[0].series, x_label(points, points[0].x)),
            SMALL,
            220.0,
        ),
    });
    let rows: Vec<String> = rows.collect();
    let left = MARGIN + widest(&rows, SMALL) + 10.0;
    let top = sheet.y + 8.0;
    let area = Area::new(
        left,
        top,
        WIDTH - MARGIN - 14.0,
        top + ROW * rows.len() as f64,
    );
    let values = values(points, 4).over(area.left, area.right);
    across(sheet, area, &ticks(&values), &quantity(points[0]));
    for (at, (points, row)) in own.iter().zip(&rows).enumerate() {
        let y = top + ROW * (at as f64 + 0.5);
        sheet.text(MARGIN, y + 4.0, (SMALL, "start", "ink"), row);
        sheet.line((area.left, y), (area.right, y), "grid", 0.7);
        for point in points {
            let place = xs
                .iter()
                .position(|x| groups::number_key(*x) == groups::number_key(point.x));
            let series = if has_numbers { place.unwrap_or(0) } else { 0 };
            let [low, high] = ends(point);
            sheet.line(
                (values.at(low), y),
                (values.at(high), y),
                &format!("s{}", series % SERIES),
                1.5,
            );
            sheet.dot(
                (values.at(point.measured().unwrap_or(0.0)), y),
                series,
                &tip(point),
            );
        }
    }
    sheet.y = area.bottom + BELOW;
}

/// Units of values that follow from times, and have their spread.
const TIMED: [&str; 7] = ["GB/s", "Gop/s", "us", "ns", "clocks", "/CU/clock", "s"];

/// The ends of a point's spread: half of it to each side.
fn ends(point: &Point) -> [f64; 2] {
    let noise = point
        .noise
        .filter(|noise| noise.is_finite() && TIMED.contains(&point.unit.as_str()))
        .unwrap_or(0.0);
    let value = point.measured().unwrap_or(0.0);
    // What no run can be is no spread.
    let half = (noise / 2.0).min(0.9);
    [value * (1.0 - half), value * (1.0 + half)]
}

fn tip(point: &Point) -> String {
    let value = point.measured().map(number::value).unwrap_or_default();
    format!(
        "{}, {} {}: {value} {}",
        point.series,
        point.x_name,
        x_label(&[point], point.x),
        number::unit(&point.unit)
    )
}

//! An experiment: a panel for each quantity, lines over what is varied with bands for their spread; or, where little is
//! varied or what is varied is no number, a dot for each value beside its name.

use super::key::key;
use super::lines::{Line, LineChart, LinePoint};
use super::prelude::*;
use crate::groups;
use std::collections::HashMap;
use std::hash::Hash;

/// From this factor between the largest and the smallest value on, their axis is logarithmic.
const WIDE: f64 = 50.0;

/// Factor between the ends of what is varied from which on its axis is logarithmic.
const FAR: f64 = 8.0;

/// Lines that one panel may have; more are shared out by the last part of their names, or become dots.
const MOST_LINES: usize = 8;

/// Height of a line of dots.
const ROW: f64 = 17.0;

pub struct StudyText<'a> {
    pub question: &'a str,
    pub finding: &'a str,
    /// Names a value of what is varied.
    pub label: &'a dyn Fn(f64) -> String,
}

/// Draws the points of one run of an experiment. The finding's first sentence is the title, grey where it is undecided.
pub fn experiment(points: &[Point], told: &StudyText<'_>) -> Drawn {
    let measured: Vec<&Point> = points.iter().filter(|p| p.measured().is_some_and(f64::is_finite)).collect();
    let Some(first) = measured.first() else {
        return Err("no point has a value, so there is nothing to draw".to_owned());
    };
    let (title, rest) = headline(told.finding);
    let subtitle = format!("{} on {}: {}", first.experiment, format::device(&first.device), told.question);
    let is_undecided = told.finding.split(". ").next().is_some_and(|first| first.contains("undecided"));
    let mut sheet = Sheet::headed(title, &subtitle, if is_undecided { "dim" } else { "ink" });
    let mut letters = rest.chars();
    let first = letters.next().map(char::to_uppercase);
    sheet.say_more(&first.into_iter().flatten().chain(letters).collect::<String>());
    let panels = panels(&measured, told.label);
    for panel in &panels {
        panel.draw(&mut sheet, told.label);
        sheet.y += 10.0;
    }
    sheet.y -= 10.0;
    let about = format!("{} Panels: {}.", told.finding, panels.iter().map(Panel::name).joined("; "));
    Ok(sheet.done(title, &about, figures(&measured, told.label)))
}

/// The first part of a finding, up to a full stop or a semicolon, and the rest; a point within a number ends nothing.
fn headline(text: &str) -> (&str, &str) {
    let end = [". ", "; "].iter().filter_map(|mark| text.find(mark)).min();
    end.map_or((text.trim_end_matches('.'), ""), |end| (&text[..end], text[end + 2..].trim()))
}

struct Panel<'a> {
    points: Vec<&'a Point>,
    /// What the names of all its series end in, where a panel has those of one ending.
    ending: &'a str,
    is_dots: bool,
}

fn distinct<'a, T: Clone + Eq + Hash>(points: &[&'a Point], of: impl Fn(&'a Point) -> T) -> Vec<T> {
    groups::distinct(points.iter().map(|point| of(point)))
}

fn distinct_x(points: &[&Point]) -> Vec<f64> {
    groups::distinct_numbers(points.iter().map(|point| point.x))
}

fn ending(series: &str) -> &str {
    series.rsplit_once(", ").map_or("", |(_, end)| end)
}

/// The panels: one for each quantity, or several where it has more lines than can be told apart.
fn panels<'a>(points: &[&'a Point], label: &dyn Fn(f64) -> String) -> Vec<Panel<'a>> {
    let mut panels = Vec::new();
    for measure in distinct(points, |p| (p.metric.as_str(), p.unit.as_str())) {
        let own: Vec<&Point> =
            points.iter().copied().filter(|p| (p.metric.as_str(), p.unit.as_str()) == measure).collect();
        let is_number = |x: f64| label(x).starts_with(|c: char| c.is_ascii_digit());
        let xs = distinct_x(&own);
        let series = distinct(&own, |p| p.series.as_str()).len();
        let parts = groups::groups(&own, |p| ending(&p.series));
        let is_small = |part: &Vec<&Point>| distinct(part, |p| p.series.as_str()).len() <= MOST_LINES;
        let longest = groups::groups(&own, |p| p.series.as_str()).iter().map(Vec::len).max().unwrap_or(0);
        if xs.len() < 3 || !xs.iter().all(|x| is_number(*x)) || longest < 3 {
            panels.push(Panel { points: own, ending: "", is_dots: true });
        } else if series <= MOST_LINES {
            panels.push(Panel { points: own, ending: "", is_dots: false });
        } else if parts.len() > 1 && parts.iter().all(|part| !ending(&part[0].series).is_empty() && is_small(part)) {
            for part in parts {
                panels.push(Panel { ending: ending(&part[0].series), points: part, is_dots: false });
            }
        } else {
            panels.push(Panel { points: own, ending: "", is_dots: series > 2 * MOST_LINES });
        }
    }
    panels
}

impl Panel<'_> {
    fn name(&self) -> String {
        let first = self.points.first();
        let name = first.map(|p| number::quantity(&p.metric, &p.unit)).unwrap_or_default();
        if self.ending.is_empty() { name } else { format!("{name}, {}", self.ending) }
    }

    /// The axis of values: from nought, or logarithmic where they are far apart.
    fn values(&self, ticks: usize) -> AxisScale {
        let ends = self.points.iter().flat_map(|p| ends(p));
        let (least, most) = span(ends).unwrap_or((0.0, 1.0));
        let positive = self.points.iter().filter_map(|p| p.measured()).filter(|v| *v > 0.0);
        let smallest = positive.fold(f64::INFINITY, f64::min);
        match (least < 0.0, least > 0.0 && most / smallest > WIDE) {
            (true, _) => AxisScale::between(least, most, ticks),
            (_, true) => AxisScale::log10(least, most, ticks),
            _ => AxisScale::from_zero(most, ticks),
        }
    }

    fn draw(&self, sheet: &mut Sheet, label: &dyn Fn(f64) -> String) {
        if self.is_dots { self.dots(sheet, label) } else { self.lines(sheet, label) }
    }

    fn lines(&self, sheet: &mut Sheet, label: &dyn Fn(f64) -> String) {
        let mut xs = distinct_x(&self.points);
        xs.sort_by(f64::total_cmp);
        let positive: Vec<f64> = xs.iter().copied().filter(|x| *x > 0.0).collect();
        let (least, most) = span(positive.iter().copied()).unwrap_or((1.0, 1.0));
        let x = match most / least >= FAR && xs[0] >= 0.0 {
            true => AxisScale::log2(least, most, xs[0] == 0.0, 8),
            false => AxisScale::between(xs[0], most.max(xs[xs.len() - 1]), 8),
        };
        let line = |(series, mut own): (usize, Vec<&Point>)| {
            own.sort_by(|a, b| a.x.total_cmp(&b.x));
            let name = own[0].series.as_str();
            let name = name.strip_suffix(self.ending).unwrap_or(name).trim_end_matches(", ");
            Line {
                name: name.to_owned(),
                series,
                points: own
                    .into_iter()
                    .filter_map(|p: &Point| {
                        let [low, high] = ends(p);
                        Some(LinePoint { x: p.x, y: p.measured()?, low, high, tip: tip(p, label) })
                    })
                    .collect(),
            }
        };
        let all = groups::groups(&self.points, |p| p.series.as_str());
        let mut lines: Vec<Line> = all.into_iter().enumerate().map(line).collect();
        if let [only] = lines.as_mut_slice() {
            // What is alone needs no name but the axis'.
            only.name = String::new();
        }
        let chart = LineChart {
            y_name: self.name(),
            x_name: self.points.first().map_or("", |p| &p.x_name),
            x,
            y: self.values(5),
            x_ticks: labels(&xs, label),
            y_tick: number::tick,
            lines,
            references: Vec::new(),
        };
        chart.draw(sheet);
    }

    /// A line for each series with a dot for each x; or one for each series and x where these are names.
    fn dots(&self, sheet: &mut Sheet, label: &dyn Fn(f64) -> String) {
        let is_named = self.points.iter().any(|p| !label(p.x).starts_with(|c: char| c.is_ascii_digit()));
        let mut xs = distinct_x(&self.points);
        xs.sort_by(f64::total_cmp);
        let x_name = self.points.first().map_or("", |p| p.x_name.as_str());
        let name = |p: &Point| if is_named { format!("{}: {}", p.series, label(p.x)) } else { p.series.clone() };
        let own = groups::groups(&self.points, |p| name(p));
        let rows: Vec<String> = own.iter().map(|points| name(points[0])).collect();
        if !is_named && xs.len() > 1 {
            let names: Vec<String> = xs.iter().map(|&x| format!("{x_name} {}", label(x))).collect();
            key(sheet, &names.iter().enumerate().map(|(at, name)| (at, name.as_str())).collect::<Vec<_>>());
        }
        let fitted: Vec<String> = rows.iter().map(|row| font::fitted(row, SMALL, 220.0)).collect();
        let left = MARGIN + font::widest(fitted.iter().map(String::as_str), SMALL) + 10.0;
        let top = sheet.y + 8.0;
        let area = Area::new(left, top, WIDTH - MARGIN - 14.0, top + ROW * rows.len() as f64);
        let values = self.values(4).over(area.left, area.right);
        axes::across(sheet, area, &axes::ticks(&values, number::tick), &self.name());
        let place: HashMap<u64, usize> = xs.iter().enumerate().map(|(at, x)| (groups::number_key(*x), at)).collect();
        for (at, (points, fitted)) in own.iter().zip(&fitted).enumerate() {
            let y = top + ROW * (at as f64 + 0.5);
            sheet.text(MARGIN, y + 4.0, Lettering::new(SMALL, Anchor::Start, "ink"), fitted);
            sheet.line((area.left, y), (area.right, y), "grid", 0.7);
            for point in points {
                let Some(value) = point.measured() else { continue };
                let series = if is_named { 0 } else { place.get(&groups::number_key(point.x)).copied().unwrap_or(0) };
                let [low, high] = ends(point);
                sheet.line((values.at(low), y), (values.at(high), y), &format!("s{series}"), 1.5);
                sheet.dot((values.at(value), y), series, &tip(point, label));
            }
        }
        sheet.y = area.bottom + BELOW;
    }
}

/// Units of values that follow from times, and have their spread.
const TIMED: [&str; 7] = ["GB/s", "Gop/s", "us", "ns", "clocks", "/CU/clock", "s"];

/// The ends of a point's spread: half of it to each side.
fn ends(point: &Point) -> [f64; 2] {
    let noise = point.noise.filter(|_| TIMED.contains(&point.unit.as_str())).unwrap_or(0.0);
    let value = point.measured().unwrap_or(0.0);
    let half = noise / 2.0;
    // What no run can be is no spread.
    let half = if half.is_finite() { half.min(0.9) } else { 0.0 };
    [value * (1.0 - half), value * (1.0 + half)]
}

fn tip(point: &Point, label: &dyn Fn(f64) -> String) -> String {
    let value = point.measured().map(number::value).unwrap_or_default();
    format!("{}, {} {}: {value} {}", point.series, point.x_name, label(point.x), number::unit(&point.unit))
}

/// Values of what is varied on their axis: as the command line takes them where some numbers are long.
fn labels(xs: &[f64], label: &dyn Fn(f64) -> String) -> Vec<(f64, String)> {
    let is_plain = xs.iter().all(|&x| label(x) == x.to_string());
    let is_long = is_plain && xs.iter().any(|&x| x >= 10_000.0);
    xs.iter().map(|&x| (x, if is_long { number::size(x) } else { label(x) })).collect()
}

fn figures(points: &[&Point], label: &dyn Fn(f64) -> String) -> Figures {
    let x_name = points.first().map_or("", |p| p.x_name.as_str());
    let mut figures = Figures::new(["series", x_name, "quantity", "value", "spread"]);
    for point in points {
        let spread = point.noise.map(|noise| format!("{:.1} %", 100.0 * noise)).unwrap_or_default();
        let value = point.measured().map(number::value).unwrap_or_default();
        let quantity = number::quantity(&point.metric, &point.unit);
        figures.rows.push(vec![point.series.clone(), label(point.x), quantity, value, spread]);
    }
    figures
}

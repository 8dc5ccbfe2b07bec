//! An experiment's chart: all series over one axis of what is varied, or bars of one scale where little is varied.

use super::{distinct, measure_of};
use crate::format::{self, Screen};
use crate::groups;
use crate::picture::scale::{AxisScale, span};
use crate::shown::x_label;
use gpulab_model::Joined;
use gpulab_record::Point;
use std::fmt::Write as _;

/// From this factor between the largest and the smallest on, the axis is logarithmic.
const WIDE: f64 = 50.0;

/// Values whose largest is within this factor of the smallest agree.
const SAME: f64 = 1.05;

/// Lines of a chart's area.
const HEIGHT: usize = 12;

/// Characters of an axis' numbers, and the line of the axis itself.
const AXIS: usize = 9;

/// Characters of a series' name beside its bars.
const NAME: (usize, usize) = (8, 40);

/// The signs of series, in their order; where several are in one place stands [`SEVERAL`].
const SIGNS: &str = "abcdefghijklmnopqrstuvwxyz";
const SEVERAL: char = '&';

/// Fewer values of what is varied are shown as bars.
const LEAST_XS: usize = 3;

pub fn charts(points: &[Point], screen: Screen) -> String {
    let all = distinct(points, measure_of).into_iter().map(|measure| {
        let own = points
            .iter()
            .filter(|p| measure_of(p) == measure && p.measured().is_some_and(|v| v > 0.0));
        chart(&own.collect::<Vec<_>>(), measure, screen)
    });
    all.filter(|text| !text.is_empty()).joined("\n")
}

fn chart(points: &[&Point], measure: [&str; 2], screen: Screen) -> String {
    if points.len() < 2 {
        return String::new();
    }
    let what = format::terminal(measure[0]);
    let unit = format::terminal(measure[1]);
    let ends = span(points.iter().filter_map(|p| p.measured())).unwrap_or_default();
    let [least, most] = ends;
    if most <= SAME * least {
        let ends = ends.map(|value| format::significant(value, 4)).join(" to ");
        let text = format!(
            "{what}: all {} points agree within 5% ({ends} {unit}), so there is no chart",
            points.len()
        );
        return screen.wrap(&text);
    }
    let series = names(points);
    let xs = values_of_x(points);
    let is_log = most / least > WIDE;
    let scale = if is_log {
        AxisScale::log(least, most, false, 2)
    } else {
        AxisScale::between(0.0, most, 2)
    };
    let title = format!(
        "{what} in {unit}{}",
        if is_log { ", log scale" } else { "" }
    );
    if xs.len() < LEAST_XS || series.len() > SIGNS.len() {
        return bars(points, &title, scale, screen);
    }
    plot(points, &title, scale, screen)
}

fn names<'a>(points: &[&'a Point]) -> Vec<&'a str> {
    groups::distinct(points.iter().map(|p| p.series.as_str()))
}

/// Ascending, each once.
fn values_of_x(points: &[&Point]) -> Vec<f64> {
    let mut xs: Vec<f64> = points.iter().map(|p| p.x).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    xs
}

/// Signs of series over values of x, which are as far from each other as any two neighbours.
fn plot(points: &[&Point], title: &str, scale: AxisScale, screen: Screen) -> String {
    let series = names(points);
    let xs = values_of_x(points);
    let room = screen.width - AXIS - 2;
    let step = (room / xs.len()).clamp(1, 12);
    let shown = xs.len().min(room);
    let width = step * shown;
    let mut area = vec![vec![' '; width]; HEIGHT];
    for point in points {
        let place =
            Some(xs.partition_point(|x| x.total_cmp(&point.x).is_lt())).filter(|&at| at < shown);
        let (Some(at), Some(value)) = (place, point.measured()) else {
            continue;
        };
        let line = HEIGHT - 1 - (scale.at(value) * (HEIGHT - 1) as f64).round() as usize;
        let sign = series
            .iter()
            .position(|s| *s == point.series)
            .and_then(|at| SIGNS.chars().nth(at))
            .unwrap_or(SEVERAL);
        let cell = &mut area[line][at * step + step / 2];
        *cell = if *cell == ' ' || *cell == sign {
            sign
        } else {
            SEVERAL
        };
    }
    let mut text = screen.wrap(title);
    for (line, cells) in area.iter().enumerate() {
        let at = 1.0 - line as f64 / (HEIGHT - 1) as f64;
        let is_tick = line == 0 || line == HEIGHT - 1 || line == HEIGHT / 2;
        let tick = if is_tick {
            format::significant(scale.value(at), 3)
        } else {
            String::new()
        };
        let edge = if is_tick { '┤' } else { '│' };
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{}",
            format!("{tick:>AXIS$} {edge}{}", cells.iter().collect::<String>()).trim_end()
        );
    }
    let _ = writeln!(text, "{:>AXIS$} └{}", "", "─".repeat(width));
    let _ = writeln!(
        text,
        "{:>AXIS$}  {}",
        "",
        axis(points, &xs[..shown], step).trim_end()
    );
    let x_name = points
        .first()
        .map(|p| p.x_name.as_str())
        .unwrap_or_default();
    let signs = SIGNS
        .chars()
        .zip(&series)
        .map(|(sign, name)| format!("{sign} {}", format::terminal(name)));
    let is_covered = area.iter().flatten().any(|&cell| cell == SEVERAL);
    let several = is_covered.then(|| format!("{SEVERAL} several"));
    let keys = signs.chain(several).joined("; ");
    let legend = format!("over {}: {}", format::terminal(x_name), keys);
    text + &screen.wrap(&legend)
}

/// The names of x below their places, of those that have room.
fn axis(points: &[&Point], xs: &[f64], step: usize) -> String {
    let mut line = String::new();
    let end = step * xs.len();
    for (at, &x) in xs.iter().enumerate() {
        let name = format::terminal(&x_label(points, x));
        let length = name.chars().count();
        let middle = at * step + step / 2;
        let start = middle.saturating_sub(length / 2);
        let used = line.chars().count();
        if (used == 0 || start > used) && start + length <= end {
            line = format!("{line:<start$}{name}");
        }
    }
    line
}

/// A bar for each point on one scale: in groups of one x where there are several.
fn bars(points: &[&Point], title: &str, scale: AxisScale, screen: Screen) -> String {
    let series = names(points);
    // What all points share is said once, above them.
    let mut names: Vec<String> = Vec::new();
    for p in points {
        let name = if series.len() == 1 {
            format!("{} = {}", p.x_name, x_label(points, p.x))
        } else {
            p.series.clone()
        };
        names.push(format::shorten(&format::terminal(&name), NAME.1));
    }
    let most = (screen.width / 3).clamp(NAME.0, NAME.1);
    let wide = format::widest(&names).min(most);
    // A value of four digits, and blanks around it.
    let room = screen.width.saturating_sub(wide + 14).clamp(1, 60);
    let mut text = screen.wrap(title);
    let mut all: Vec<(&Point, &String)> = points.iter().copied().zip(&names).collect();
    all.sort_by(|a, b| a.0.x.total_cmp(&b.0.x));
    for own in all.chunk_by(|a, b| a.0.x == b.0.x) {
        if series.len() > 1 {
            let head = format!("{} = {}", own[0].0.x_name, x_label(points, own[0].0.x));
            text.push_str(&screen.wrap_foreign(&head));
        }
        for (point, name) in own {
            let Some(value) = point.measured() else {
                continue;
            };
            let bar = format::bar(scale.at(value).max(f64::MIN_POSITIVE), room);
            let name = format::shorten(name, wide);
            text.push_str(&format!(
                "  {name:<wide$}  {bar} {}\n",
                format::significant(value, 4)
            ));
        }
    }
    text
}

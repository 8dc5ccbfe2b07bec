//! Ladders under the roof of their device: operations a second over operations a byte. The measured limits of memory
//! and arithmetic are the roof; a path leads from the first rung to the last.
//!
//! After Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for multicore
//! architectures", Communications of the ACM 52(4), 2009.

use super::key::{key, spread};
use super::prelude::*;
use crate::rungs::is_memory_bound;
use crate::view::is_held_against_limit;
use gpulab_model::stats::ratio;
use gpulab_record::flag;
use gpulab_study::ceilings::{CeilingRow, Site};

/// Units of the area's height.
const HEIGHT: f64 = 270.0;

/// The dashes of memory's limits, in their order.
const DASHES: [Option<&str>; 2] = [None, Some("6 3")];

/// A measured limit: `rate` in 10^9 operations a second, or of memory in 10^9 bytes.
struct Roof {
    name: String,
    rate: f64,
    is_memory: bool,
}

impl Roof {
    fn what(&self) -> &str {
        if self.is_memory { &self.name } else { self.name.rsplit_once(' ').map_or(&self.name, |(what, _)| what) }
    }
}

/// A rung: its operations a byte, its rate, and its number.
struct RungPoint<'a> {
    row: &'a Row,
    intensity: f64,
    gops: f64,
}

/// Draws ladders of one device, each of one case. `ceilings` are those of the device; without them the rows' own limits are
/// drawn.
pub fn roofline(ladders: &[Vec<Row>], ceilings: &[CeilingRow]) -> Drawn {
    let mut paths: Vec<Vec<RungPoint<'_>>> =
        ladders.iter().map(|rows| path(rows)).filter(|path| !path.is_empty()).collect();
    let is_held = |path: &Vec<RungPoint<'_>>| is_held_against_limit(path.iter().map(|point| point.row));
    let has_cache = ceilings.iter().any(|row| row.what == "read" && row.place == Site::Cache && row.value.is_some());
    // Data in a cache have no place beside memory's roof alone.
    if !has_cache && paths.iter().any(is_held) {
        paths.iter_mut().for_each(|path| path.retain(|point| !point.row.flags.contains(flag::FITS_CACHE)));
        paths.retain(|path| !path.is_empty());
    }
    let Some(first) = paths.first().and_then(|path| path.first()) else {
        let why =
            "no rung has operations, bytes and a time: a roofline is of ladders that compute (reduce, dot, minplus)";
        return Err(why.to_owned());
    };
    let roofs = roofs(&paths, ceilings);
    let title = title(&paths);
    let subtitle = format!("{}; both axes logarithmic", told(&paths));
    let mut sheet = Sheet::titled(&title, &subtitle);
    draw(&mut sheet, &paths, &roofs);
    let about = format!("Roofline of {} with {} limits.", format::device(&first.row.device), roofs.len());
    Ok(sheet.done(&title, &about, figures(&paths, &roofs)))
}

fn path<'a>(rows: &'a [Row]) -> Vec<RungPoint<'a>> {
    rows.iter()
        .filter(|row: &&Row| is_base(row) && row.is_plain())
        .filter_map(|row: &'a Row| {
            let intensity = ratio(row.ops? as f64, row.bytes? as f64)?;
            let gops = row.gops?;
            (intensity > 0.0 && gops > 0.0).then_some(RungPoint { row, intensity, gops })
        })
        .collect()
}

/// The limits that matter to these ladders: memory, a cache, and arithmetic in their type.
fn roofs(paths: &[Vec<RungPoint<'_>>], ceilings: &[CeilingRow]) -> Vec<Roof> {
    let rows = || paths.iter().flatten().map(|point| point.row);
    let types: Vec<&str> = rows().map(|row| row.dtype.name()).collect();
    let is_held = is_held_against_limit(rows());
    let is_own = |row: &&CeilingRow| row.element.is_empty() || types.contains(&row.element.as_str());
    let roof = |row: &CeilingRow| {
        let value = row.value.filter(|value| *value > 0.0)?;
        let (name, rate, is_memory) = match (row.what.as_str(), row.place) {
            ("read", Site::Memory) if is_held => ("memory, read".to_owned(), value, true),
            ("read", Site::Cache) => ("cache, read".to_owned(), value, true),
            ("fma", Site::Unit) => (format!("multiply-add {}", row.element), value, false),
            ("add-min", Site::Unit) if rows().any(|row| row.ceiling == "add-min") => {
                (format!("add-min {}", row.element), 2.0 * value, false)
            }
            _ => return None,
        };
        Some(Roof { name, rate, is_memory })
    };
    let mut roofs: Vec<Roof> = Vec::new();
    for roof in ceilings.iter().filter(is_own).filter_map(roof) {
        // Of several types the fastest.
        match roofs.iter_mut().find(|other| other.what() == roof.what()) {
            Some(other) if other.rate < roof.rate => *other = roof,
            Some(_) => {}
            None => roofs.push(roof),
        }
    }
    if roofs.is_empty() {
        for roof in rows().filter_map(|row: &Row| {
            let memory = row.ceiling_gbps.filter(|_| is_held).map(|rate| (rate, true));
            let (rate, is_memory) = memory.or(row.ceiling_gops.map(|rate| (rate, false)))?;
            Some(Roof { name: row.ceiling.clone(), rate, is_memory })
        }) {
            if !roofs.iter().any(|other| other.name == roof.name) {
                roofs.push(roof);
            }
        }
    }
    roofs
}

fn draw(sheet: &mut Sheet, paths: &[Vec<RungPoint<'_>>], roofs: &[Roof]) {
    if paths.len() > 1 {
        let names: Vec<String> = paths.iter().map(|path| case(path[0].row)).collect();
        key(sheet, &names.iter().enumerate().map(|(at, name)| (at, name.as_str())).collect::<Vec<_>>());
    }
    key_of_memory(sheet, roofs);
    sheet.y += 20.0;
    sheet.text(MARGIN, sheet.y - 2.0, Lettering::new(SMALL, Anchor::Start, "ink"), "rate (Gop/s)");
    let top = sheet.y + 8.0;
    let (x, y) = scales(paths, roofs);
    let y = y.over(top + HEIGHT, top);
    let y_ticks = axes::ticks(&y, number::tick);
    let area = Area::new(MARGIN + axes::room(&y_ticks), top, WIDTH - MARGIN - 6.0, top + HEIGHT);
    let x = x.over(area.left, area.right);
    axes::upwards(sheet, area, &y_ticks);
    axes::across(sheet, area, &axes::ticks(&x, number::tick), "operations a byte of memory");
    draw_roofs(sheet, roofs, area, (&x, &y));
    match paths {
        [path] => draw_path(sheet, path, below(roofs, path, area, &y), area, (&x, &y)),
        _ => draw_paths(sheet, paths, (&x, &y)),
    }
    sheet.y = area.bottom + BELOW;
}

/// Names the slopes by their dashes: on their lines the rungs' names have the room.
fn key_of_memory(sheet: &mut Sheet, roofs: &[Roof]) {
    let mut x = MARGIN;
    sheet.y += 18.0;
    for (roof, dashes) in roofs.iter().filter(|roof| roof.is_memory).zip(DASHES) {
        let text = format!("{}: {} GB/s", roof.name, number::value(roof.rate));
        sheet.path(&[(x, sheet.y - 4.0), (x + 24.0, sheet.y - 4.0)], "rim", 1.8, dashes);
        sheet.text(x + 29.0, sheet.y, Lettering::new(SMALL, Anchor::Start, "ink"), &text);
        x += 29.0 + font::width(&text, SMALL) + 14.0;
    }
}

/// Axes that hold all points, and of the roofs what bounds them.
fn scales(paths: &[Vec<RungPoint<'_>>], roofs: &[Roof]) -> (AxisScale, AxisScale) {
    let points = || paths.iter().flatten();
    let compute = roofs.iter().filter(|roof| !roof.is_memory).map(|roof| roof.rate).fold(0.0, f64::max);
    // Where a roof of memory meets that of arithmetic, and of that a part as long as its name.
    let ridges = roofs.iter().filter(|roof| roof.is_memory && compute > 0.0).map(|roof| compute / roof.rate);
    let begins = ridges.clone().map(|ridge| ridge / 4.0);
    let all = points().map(|p| p.intensity / 4.0).chain(begins).chain(points().map(|p| p.intensity * 4.0));
    let (low, high) = span(all.chain(ridges.map(|ridge| ridge * 30.0))).unwrap_or((0.1, 10.0));
    let corners = roofs.iter().map(|roof| if roof.is_memory { roof.rate * low } else { roof.rate });
    let (least, most) = span(points().map(|p| p.gops).chain(corners)).unwrap_or((1.0, 1.0));
    (AxisScale::log10(low, high, 6), AxisScale::log10(least, most * 2.5, 6))
}

fn draw_roofs(sheet: &mut Sheet, roofs: &[Roof], area: Area, (x, y): (&AxisScale, &AxisScale)) {
    let compute = roofs.iter().filter(|roof| !roof.is_memory).map(|roof| roof.rate).fold(0.0, f64::max);
    let top = if compute > 0.0 { compute } else { y.most };
    for (roof, dashes) in roofs.iter().filter(|roof| roof.is_memory).zip(DASHES) {
        // From the left or lower edge to the highest roof of arithmetic, or the right edge.
        let from = x.least.max(y.least / roof.rate);
        let to = (top / roof.rate).min(x.most);
        let ends = [(x.at(from), y.at(from * roof.rate)), (x.at(to), y.at(to * roof.rate))];
        sheet.path(&ends, "rim", 1.8, dashes);
    }
    let fastest = roofs.iter().filter(|roof| roof.is_memory).map(|roof| roof.rate).fold(0.0, f64::max);
    let slowest = roofs.iter().filter(|roof| roof.is_memory).map(|roof| roof.rate).fold(f64::INFINITY, f64::min);
    let mut flat: Vec<&Roof> = roofs.iter().filter(|roof| !roof.is_memory).collect();
    flat.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    let mut free = f64::INFINITY;
    let lines: Vec<f64> = flat.iter().map(|roof| y.at(roof.rate)).collect();
    for roof in flat {
        let from = ratio(roof.rate, fastest).unwrap_or(x.least).max(x.least);
        sheet.line((x.at(from), y.at(roof.rate)), (area.right, y.at(roof.rate)), "rim", 1.8);
        let text = format!("{} {} Gop/s", roof.name, number::value(roof.rate));
        // Above its line and those that would strike it through, right of all slopes, and above the name of a roof just below.
        let above =
            |place: f64, line: &f64| if (place - SMALL..place + 3.0).contains(line) { line - 5.0 } else { place };
        let place = lines.iter().fold(y.at(roof.rate) - 5.0, above).min(free);
        let begin = ratio(roof.rate, slowest).filter(|_| slowest.is_finite()).unwrap_or(x.most).max(x.least);
        let left = (x.at(begin) + 8.0).min(area.right - 4.0 - font::width(&text, SMALL));
        sheet.text(left, place, Lettering::new(SMALL, Anchor::Start, "dim"), &text);
        free = place - 1.2 * SMALL;
    }
}

/// The line that names of rungs stay below: the lowest roof of arithmetic, where that is theirs, as its name is above it.
fn below(roofs: &[Roof], path: &[RungPoint<'_>], area: Area, y: &AxisScale) -> f64 {
    let is_memory = path.iter().all(|point| is_memory_bound(point.row));
    let lines = roofs.iter().filter(|roof| !roof.is_memory && !is_memory).map(|roof| y.at(roof.rate));
    lines.fold(area.top, f64::max)
}

/// Draws a ladder's path with the names of its rungs, these below `top`.
fn draw_path(sheet: &mut Sheet, path: &[RungPoint<'_>], top: f64, area: Area, (x, y): (&AxisScale, &AxisScale)) {
    let places: Vec<(f64, f64)> = path.iter().map(|p| (x.at(p.intensity), y.at(p.gops))).collect();
    sheet.path(&places, "s0", 1.8, None);
    for (point, place) in path.iter().zip(&places) {
        let tip = format!("{}: {} Gop/s, {} GB/s", label(point.row), number::value(point.gops), gbps(point));
        sheet.dot(*place, 0, &tip);
    }
    let (edge, side, anchor) = beside(path, area, x);
    // Near the rungs, and apart.
    let wanted: Vec<f64> = path.iter().map(|point| y.at(point.gops) + 4.0).collect();
    let names = spread(&wanted, SMALL * 1.15, top + 12.0, area.bottom - 5.0);
    for ((point, place), name) in path.iter().zip(&places).zip(names) {
        sheet.path(&[(place.0 + 5.0 * side, place.1), (edge + 13.0 * side, name - 4.0)], "axis", 1.0, None);
        sheet.text(edge + 16.0 * side, name, Lettering::new(SMALL, anchor, "ink halo"), &label(point.row));
    }
}

/// Where names stand beside a path: from which place on, to which side, and which part of them is there. A path under the
/// roof of memory has room to its right, one under that of arithmetic to its left.
fn beside(path: &[RungPoint<'_>], area: Area, x: &AxisScale) -> (f64, f64, Anchor) {
    let (left, right) = span(path.iter().map(|p| x.at(p.intensity))).unwrap_or((area.left, area.right));
    let is_memory = path.iter().all(|point| is_memory_bound(point.row));
    if is_memory { (right, 1.0, Anchor::Start) } else { (left, -1.0, Anchor::End) }
}

/// Draws several ladders' paths: their signs alone, as the key names them.
fn draw_paths(sheet: &mut Sheet, paths: &[Vec<RungPoint<'_>>], (x, y): (&AxisScale, &AxisScale)) {
    // Paths of equal intensity stand side by side, each further from the roof of memory than it is.
    let shift = |series: usize| 6.0 * series as f64;
    for (series, path) in paths.iter().enumerate() {
        let places: Vec<(f64, f64)> = path.iter().map(|p| (x.at(p.intensity) + shift(series), y.at(p.gops))).collect();
        sheet.path(&places, &format!("s{}", series % theme::SERIES), 1.8, None);
        for (point, place) in path.iter().zip(&places) {
            let tip = format!("{}, {}: {} Gop/s", case(point.row), label(point.row), number::value(point.gops));
            sheet.dot(*place, series, &tip);
        }
    }
}

fn gbps(point: &RungPoint<'_>) -> String {
    number::value(point.gops / point.intensity)
}

/// `reduce i32, n = 256Mi`.
fn case(row: &Row) -> String {
    format!("{} {}, n = {}", row.family, row.dtype, number::size(row.n as f64))
}

fn told(paths: &[Vec<RungPoint<'_>>]) -> String {
    let row = paths[0][0].row;
    let device = format::device(&row.device);
    if paths.len() == 1 { format!("{} on {device}", case(row)) } else { device }
}

fn title(paths: &[Vec<RungPoint<'_>>]) -> String {
    let [path] = paths else { return "How near each ladder comes to the roof of its device".to_owned() };
    let best = path.iter().max_by(|a, b| a.gops.total_cmp(&b.gops));
    let (Some(first), Some(best)) = (path.first(), best) else { return String::new() };
    let times = number::value(best.gops / first.gops);
    let share = best.row.ceiling_pct.map_or_else(String::new, |share| format!(", {share:.0} % of the limit"));
    match best.gops > 1.005 * first.gops {
        true => format!("From {} to {}: {times} times as fast{share}", label(first.row), label(best.row)),
        false => format!("No rung is faster than {}{share}", label(first.row)),
    }
}

fn figures(paths: &[Vec<RungPoint<'_>>], roofs: &[Roof]) -> Figures {
    let mut figures = Figures::new(["what", "operations a byte", "Gop/s", "GB/s"]);
    for roof in roofs {
        let rate = number::value(roof.rate);
        let cells = if roof.is_memory { [String::new(), rate] } else { [rate, String::new()] };
        figures.rows.push([vec![format!("limit: {}", roof.name), String::new()], cells.to_vec()].concat());
    }
    for point in paths.iter().flatten() {
        let name = format!("{}, {}", case(point.row), label(point.row));
        figures.rows.push(vec![name, number::value(point.intensity), number::value(point.gops), gbps(point)]);
    }
    figures
}

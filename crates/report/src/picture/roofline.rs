//! Ladders under the roof of their device: operations a second over operations a byte. The measured limits of memory
//! and arithmetic are the roof; a path leads from the first rung to the last.
//!
//! After Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for multicore
//! architectures", Communications of the ACM 52(4), 2009.

use super::scale::{AxisScale, BELOW, across, framed, span, ticks};
use super::sheet::{Area, MARGIN, NOTE, SERIES, SMALL, Sheet, width};
use super::{Drawn, number};
use crate::format;
use crate::rungs::{is_memory_bound, label};
use crate::view::{is_base, is_held_against_limit};
use gpulab_model::stats::ratio;
use gpulab_record::{Row, flag};
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

/// Draws ladders of one device, each of one case. `ceilings` are those of the device; without them the rows' own limits are
/// drawn.
pub fn roofline(ladders: &[Vec<Row>], ceilings: &[CeilingRow]) -> Drawn {
    let mut paths: Vec<Vec<&Row>> = ladders.iter().map(|rows| path(rows)).collect();
    let has_cache = ceilings
        .iter()
        .any(|row| row.what == "read" && row.place == Site::Cache && row.value.is_some());
    // Data in a cache have no place beside memory's roof alone.
    if !has_cache
        && paths
            .iter()
            .any(|path| is_held_against_limit(path.iter().copied()))
    {
        paths
            .iter_mut()
            .for_each(|path| path.retain(|point| !point.flags.contains(flag::FITS_CACHE)));
    }
    paths.retain(|path| !path.is_empty());
    let Some(first) = paths.first() else {
        let why = "no rung has operations, bytes and a time: a roofline is of ladders that compute (reduce, dot, minplus)";
        return Err(why.to_owned());
    };
    let roofs = roofs(&paths, ceilings);
    let device = format::device(&first[0].device);
    let title = match paths.len() {
        1 => title(first),
        _ => "How near each ladder comes to the roof of its device".to_owned(),
    };
    let of = if paths.len() == 1 {
        format!("{} on {device}", case(first[0]))
    } else {
        device.clone()
    };
    let mut sheet = Sheet::titled(&title, "ink", &format!("{of}; both axes logarithmic"));
    draw(&mut sheet, &paths, &roofs);
    let mut figures = Vec::new();
    for roof in &roofs {
        let mut cells = vec![
            format!("limit: {}", roof.name),
            String::new(),
            String::new(),
            String::new(),
        ];
        cells[if roof.is_memory { 3 } else { 2 }] = number::value(roof.rate);
        figures.push(cells);
    }
    for row in paths.iter().flatten() {
        let rates = [intensity(row), gops(row), gops(row) / intensity(row)].map(number::value);
        let name = format!("{}, {}", case(row), label(row));
        figures.push([&[name][..], &rates].concat());
    }
    Ok(sheet.done(
        &title,
        &format!("Roofline of {device} with {} limits.", roofs.len()),
        &["what", "operations per byte", "Gop/s", "GB/s"],
        figures,
    ))
}

/// The rungs that have a place.
fn path(rows: &[Row]) -> Vec<&Row> {
    let rungs = rows.iter().filter(|row| is_base(row) && row.is_plain());
    rungs
        .filter(|row| intensity(row) > 0.0 && gops(row) > 0.0)
        .collect()
}

/// Operations a byte; nought where they are not known.
fn intensity(row: &Row) -> f64 {
    row.ops
        .zip(row.bytes)
        .and_then(|(ops, bytes)| ratio(ops as f64, bytes as f64))
        .unwrap_or(0.0)
}

fn gops(row: &Row) -> f64 {
    row.gops.unwrap_or(0.0)
}

/// The limits that matter to these ladders: memory, a cache, and arithmetic in their type; of several types the fastest.
fn roofs(paths: &[Vec<&Row>], ceilings: &[CeilingRow]) -> Vec<Roof> {
    let rows = paths.iter().flatten().copied();
    let is_held = is_held_against_limit(rows.clone());
    let mut roofs: Vec<Roof> = Vec::new();
    for row in ceilings {
        let is_own =
            row.element.is_empty() || rows.clone().any(|own| own.dtype.name() == row.element);
        let Some(value) = row.value.filter(|value| *value > 0.0 && is_own) else {
            continue;
        };
        let (name, rate, is_memory) = match (row.what.as_str(), row.place) {
            ("read", Site::Memory) if is_held => ("memory, read", value, true),
            ("read", Site::Cache) => ("cache, read", value, true),
            ("fma", Site::Unit) => ("multiply-add", value, false),
            ("add-min", Site::Unit) if rows.clone().any(|row| row.ceiling == "add-min") => {
                ("add-min", 2.0 * value, false)
            }
            _ => continue,
        };
        match roofs.iter_mut().find(|other| other.name == name) {
            Some(other) => other.rate = rate.max(other.rate),
            None => roofs.push(Roof {
                name: name.to_owned(),
                rate,
                is_memory,
            }),
        }
    }
    if roofs.is_empty() {
        for row in rows {
            let memory = row
                .ceiling_gbps
                .filter(|_| is_held)
                .map(|rate| (rate, true));
            if let Some((rate, is_memory)) = memory.or(row.ceiling_gops.map(|rate| (rate, false)))
                && !roofs.iter().any(|other| other.name == row.ceiling)
            {
                roofs.push(Roof {
                    name: row.ceiling.clone(),
                    rate,
                    is_memory,
                });
            }
        }
    }
    roofs
}

fn draw(sheet: &mut Sheet, paths: &[Vec<&Row>], roofs: &[Roof]) {
    if paths.len() > 1 {
        sheet.key(&paths.iter().map(|path| case(path[0])).collect::<Vec<_>>());
    }
    // The slopes are named by their dashes: on their lines the rungs' names have the room.
    let mut x = MARGIN;
    sheet.y += 18.0;
    for (roof, dashes) in roofs.iter().filter(|roof| roof.is_memory).zip(DASHES) {
        let text = format!("{}: {} GB/s", roof.name, number::value(roof.rate));
        sheet.path(
            &[(x, sheet.y - 4.0), (x + 24.0, sheet.y - 4.0)],
            "rim",
            1.8,
            dashes,
        );
        sheet.text(x + 29.0, sheet.y, (SMALL, "start", "ink"), &text);
        x += 43.0 + width(&text, SMALL);
    }
    sheet.y += 20.0;
    let [x, y] = scales(paths, roofs);
    let (area, y) = framed(sheet, y, HEIGHT, "rate (Gop/s)");
    let x = x.over(area.left, area.right);
    across(sheet, area, &ticks(&x), "operations per byte of memory");
    sheet.y = area.bottom + BELOW;
    let named = draw_roofs(sheet, roofs, (&x, &y));
    for (series, path) in paths.iter().enumerate() {
        // Paths of equal intensity stand side by side, each further from the roof of memory than it is.
        let shift = 6.0 * series as f64;
        let places: Vec<(f64, f64)> = path
            .iter()
            .map(|p| (x.at(intensity(p)) + shift, y.at(gops(p))))
            .collect();
        sheet.path(&places, &format!("s{}", series % SERIES), 1.8, None);
        for (row, place) in path.iter().zip(&places) {
            let tip = format!(
                "{}, {}: {} Gop/s",
                case(row),
                label(row),
                number::value(gops(row))
            );
            sheet.dot(*place, series, &tip);
        }
        if paths.len() == 1 {
            draw_names(sheet, path, &places, area, &named);
        }
    }
}

/// The rate of the highest roof, of memory or of arithmetic; 0 without any.
fn highest(roofs: &[Roof], is_memory: bool) -> f64 {
    let own = roofs.iter().filter(|roof| roof.is_memory == is_memory);
    own.map(|roof| roof.rate).fold(0.0, f64::max)
}

/// Axes that hold all points, and of the roofs what bounds them.
fn scales(paths: &[Vec<&Row>], roofs: &[Roof]) -> [AxisScale; 2] {
    let rows = paths.iter().flatten();
    let compute = highest(roofs, false);
    // Where a roof of memory meets that of arithmetic, and of that a part as long as its name.
    let ridges = roofs
        .iter()
        .filter(|roof| roof.is_memory && compute > 0.0)
        .map(|roof| compute / roof.rate);
    let around = rows
        .clone()
        .flat_map(|row| [intensity(row) / 4.0, intensity(row) * 4.0]);
    let [low, high] = span(around.chain(ridges.flat_map(|ridge| [ridge / 4.0, ridge * 30.0])))
        .unwrap_or([0.1, 10.0]);
    let corners = roofs.iter().map(|roof| {
        if roof.is_memory {
            roof.rate * low
        } else {
            roof.rate
        }
    });
    let [least, most] = span(rows.map(|row| gops(row)).chain(corners)).unwrap_or([1.0, 1.0]);
    [
        AxisScale::log_round(low, high, 6),
        AxisScale::log_round(least, most * 2.5, 6),
    ]
}

/// Returns where the names of the roofs of arithmetic begin, each on its line of writing.
fn draw_roofs(
    sheet: &mut Sheet,
    roofs: &[Roof],
    (x, y): (&AxisScale, &AxisScale),
) -> Vec<(f64, f64)> {
    let compute = highest(roofs, false);
    let fastest = highest(roofs, true);
    let top = if compute > 0.0 { compute } else { y.most };
    for (roof, dashes) in roofs.iter().filter(|roof| roof.is_memory).zip(DASHES) {
        // From the left or lower edge to the highest roof of arithmetic, or the right edge.
        let from = x.least.max(y.least / roof.rate);
        let to = (top / roof.rate).min(x.most);
        sheet.path(
            &[
                (x.at(from), y.at(from * roof.rate)),
                (x.at(to), y.at(to * roof.rate)),
            ],
            "rim",
            1.8,
            dashes,
        );
    }
    let mut flat: Vec<&Roof> = roofs.iter().filter(|roof| !roof.is_memory).collect();
    flat.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    let mut free = f64::INFINITY;
    let mut named = Vec::new();
    for roof in flat {
        let from = ratio(roof.rate, fastest).unwrap_or(x.least).max(x.least);
        sheet.line(
            (x.at(from), y.at(roof.rate)),
            (x.at(x.most), y.at(roof.rate)),
            "rim",
            1.8,
        );
        let text = format!("{} {} Gop/s", roof.name, number::value(roof.rate));
        // Above its line, and above the name of a roof just below.
        free = (y.at(roof.rate) - 5.0).min(free);
        sheet.text(x.at(x.most) - 4.0, free, (SMALL, "end", "dim halo"), &text);
        named.push((x.at(x.most) - 4.0 - width(&text, SMALL), free));
        free -= 1.3 * SMALL;
    }
    named
}

/// Names the rungs of a path beside it, apart from each other and from the names of the roofs. A path under the roof of memory has room to its right, one under
/// that of arithmetic to its left.
fn draw_names(
    sheet: &mut Sheet,
    path: &[&Row],
    places: &[(f64, f64)],
    area: Area,
    named: &[(f64, f64)],
) {
    let [left, right] = span(places.iter().map(|place| place.0)).unwrap_or([area.left, area.right]);
    let is_memory = path.iter().all(|row| is_memory_bound(row));
    let (edge, side, anchor) = if is_memory {
        (right, 1.0, "start")
    } else {
        (left, -1.0, "end")
    };
    let mut order: Vec<usize> = (0..path.len()).collect();
    order.sort_by(|&a, &b| places[b].1.total_cmp(&places[a].1));
    // From below upwards, the lowest first.
    let mut free = area.bottom - 5.0;
    for at in order {
        let name = label(path[at]);
        let end = edge + 16.0 * side + if is_memory { width(&name, SMALL) } else { 0.0 };
        let mut y = (places[at].1 + 4.0).min(free);
        // The roofs' names reach to the right edge; the lowest comes first.
        for (_, taken) in named.iter().filter(|(left, _)| *left < end) {
            y = if (taken - y).abs() < SMALL {
                taken - 1.15 * SMALL
            } else {
                y
            };
        }
        let from = (places[at].0 + 5.0 * side, places[at].1);
        sheet.path(&[from, (edge + 13.0 * side, y - 4.0)], "axis", 1.0, None);
        sheet.text(edge + 16.0 * side, y, (SMALL, anchor, "ink halo"), &name);
        free = y - 1.15 * SMALL;
    }
    if free < area.top {
        sheet.lines(
            "Names that find no room beside the path stand above the roof.",
            NOTE,
            MARGIN,
        );
    }
}

/// `reduce i32, n = 256Mi`.
fn case(row: &Row) -> String {
    format!(
        "{} {}, n = {}",
        row.family,
        row.dtype,
        number::size(row.n as f64)
    )
}

fn title(path: &[&Row]) -> String {
    let first = path[0];
    let best = path.iter().fold(
        first,
        |best, row| if gops(row) > gops(best) { row } else { best },
    );
    let times = gops(best) / gops(first);
    let share = best.ceiling_pct.map_or_else(String::new, |share| {
        format!(", {} of the limit", number::share(share))
    });
    match times > 1.005 {
        true => format!(
            "From {} to {}: {} times as fast{share}",
            label(first),
            label(best),
            number::value(times)
        ),
        false => format!("No rung is faster than {}{share}", label(first)),
    }
}

//! Lines over one axis, with bands for their spread: what experiments and sizes are drawn with.

use super::axes::Tick;
use super::key::{dashes, key, spread};
use super::prelude::*;

/// Units of a chart's height.
const HEIGHT: f64 = 200.0;

/// Units that names beside their lines may take, and lines that may have them.
const BESIDE: f64 = 120.0;
const MOST_BESIDE: usize = 12;

/// A line: its points ascend.
pub(super) struct Line {
    pub(super) name: String,
    /// Its colour, sign and dashes.
    pub(super) series: usize,
    pub(super) points: Vec<LinePoint>,
}

/// A point, the ends of its spread, and what is told when it is pointed at.
pub(super) struct LinePoint {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) tip: String,
}

/// A value that lines are held against, on the axis across or upwards.
pub(super) struct ReferenceLine {
    pub(super) at: f64,
    pub(super) name: String,
    pub(super) is_across: bool,
}

/// Lines in one frame. The axes are not yet placed.
pub(super) struct LineChart<'a> {
    pub(super) y_name: String,
    pub(super) x_name: &'a str,
    pub(super) x: AxisScale,
    pub(super) y: AxisScale,
    /// Values across that have a tick, with their texts.
    pub(super) x_ticks: Vec<Tick>,
    pub(super) y_tick: fn(f64) -> String,
    pub(super) lines: Vec<Line>,
    pub(super) references: Vec<ReferenceLine>,
}

impl LineChart<'_> {
    /// Draws the frame, then the bands, the lines and their names.
    pub(super) fn draw(self, sheet: &mut Sheet) {
        let widest = font::widest(self.lines.iter().map(|line| line.name.as_str()), SMALL);
        let last = |line: &Line| line.points.last().map_or(f64::NEG_INFINITY, |p| p.x);
        let end = self.lines.iter().map(last).fold(f64::NEG_INFINITY, f64::max);
        // A name beside the end of a line that ends before is beside nothing.
        let is_whole = self.lines.iter().all(|line| last(line) == end);
        let is_beside = is_whole && self.lines.len() <= MOST_BESIDE && widest <= BESIDE;
        if !is_beside {
            let names: Vec<(usize, &str)> = self.lines.iter().map(|line| (line.series, line.name.as_str())).collect();
            key(sheet, &names);
        }
        sheet.y += 19.0;
        sheet.text(MARGIN, sheet.y - 2.0, Lettering::new(SMALL, Anchor::Start, "ink"), &self.y_name);
        let top = sheet.y + 8.0;
        let height = if is_beside { HEIGHT.max(14.0 * self.lines.len() as f64) } else { HEIGHT };
        let y = self.y.over(top + height, top);
        let y_ticks = axes::ticks(&y, self.y_tick);
        let left = MARGIN + axes::room(&y_ticks);
        let right = if is_beside { WIDTH - MARGIN - widest - 14.0 } else { WIDTH - MARGIN - 6.0 };
        let area = Area::new(left, top, right, top + height);
        // Points at an end stay clear of the frame.
        let x = self.x.over(left + 8.0, right - 8.0);
        axes::upwards(sheet, area, &y_ticks);
        let x_ticks: Vec<Tick> = self.x_ticks.iter().map(|(value, text)| (x.at(*value), text.clone())).collect();
        axes::across(sheet, area, &x_ticks, self.x_name);
        references(sheet, &self.references, area, &x, &y);
        for line in &self.lines {
            band(sheet, line, &x, &y);
        }
        for line in &self.lines {
            draw_line(sheet, line, &x, &y);
        }
        if is_beside {
            names_beside(sheet, &self.lines, area, &y);
        }
        sheet.y = area.bottom + BELOW;
    }
}

fn band(sheet: &mut Sheet, line: &Line, x: &AxisScale, y: &AxisScale) {
    let class = format!("f{}", line.series % theme::SERIES);
    if line.points.len() > 1 {
        let upper = line.points.iter().map(|p| (x.at(p.x), y.at(p.high)));
        let lower = line.points.iter().rev().map(|p| (x.at(p.x), y.at(p.low)));
        sheet.band(&upper.chain(lower).collect::<Vec<_>>(), &class);
    }
}

fn draw_line(sheet: &mut Sheet, line: &Line, x: &AxisScale, y: &AxisScale) {
    let class = format!("s{}", line.series % theme::SERIES);
    let places: Vec<(f64, f64)> = line.points.iter().map(|p| (x.at(p.x), y.at(p.y))).collect();
    if let ([only], [place]) = (line.points.as_slice(), places.as_slice()) {
        sheet.line((place.0, y.at(only.low)), (place.0, y.at(only.high)), &class, 1.5);
    } else {
        sheet.path(&places, &class, 2.0, dashes(line.series));
    }
    for (point, place) in line.points.iter().zip(&places) {
        sheet.dot(*place, line.series, &point.tip);
    }
}

/// Names right of the last points, moved apart where these are near each other.
fn names_beside(sheet: &mut Sheet, lines: &[Line], area: Area, y: &AxisScale) {
    let ends: Vec<f64> = lines.iter().map(|line| line.points.last().map_or(area.bottom, |p| y.at(p.y))).collect();
    let places = spread(&ends, SMALL * 1.2, area.top + 2.0, area.bottom);
    for ((line, end), place) in lines.iter().zip(&ends).zip(&places) {
        if line.name.is_empty() {
            continue;
        }
        let class = format!("s{}", line.series % theme::SERIES);
        sheet.path(&[(area.right - 2.0, *end), (area.right + 8.0, *place)], &class, 1.0, None);
        sheet.text(area.right + 11.0, place + 4.0, Lettering::new(SMALL, Anchor::Start, "ink"), &line.name);
    }
}

fn references(sheet: &mut Sheet, all: &[ReferenceLine], area: Area, x: &AxisScale, y: &AxisScale) {
    let mut top = area.top + 12.0;
    let look = |anchor| Lettering::new(SMALL, anchor, "dim");
    for reference in all.iter().filter(|r: &&ReferenceLine| if r.is_across { x.holds(r.at) } else { y.holds(r.at) }) {
        if reference.is_across {
            let at = x.at(reference.at);
            sheet.dashes((at, area.top), (at, area.bottom), "axis", 1.2);
            let is_left = at - area.left > area.width() / 2.0;
            let (anchor, gap) = if is_left { (Anchor::End, -4.0) } else { (Anchor::Start, 4.0) };
            sheet.text(at + gap, top, look(anchor), &reference.name);
            top += 14.0;
        } else {
            let at = y.at(reference.at);
            sheet.dashes((area.left, at), (area.right, at), "axis", 1.2);
            sheet.text(area.right - 4.0, at - 4.0, look(Anchor::End), &reference.name);
        }
    }
}

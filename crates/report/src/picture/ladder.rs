//! A ladder as bars: the rate of each rung against the limit, with the spread of its runs; CPU baselines thinner below.

use super::prelude::*;
use crate::cell::{Cell, RateUnit, Value};
use crate::columns::gain;
use crate::rungs::{is_memory_bound, operation_unit, rate, who};
use crate::view::{View, is_held_against_limit, status_word, verdict};
use gpulab_model::outcome::Status;
use gpulab_model::stats::ratio;
use gpulab_record::{clear_factor, flag};

/// Units of a line of the chart: of a rung, and of a CPU baseline.
const RUNG: f64 = 24.0;
const HOST: f64 = 18.0;

const NAME: Lettering = Lettering::new(BODY, Anchor::Start, "ink");
const FIGURE: Lettering = Lettering::new(BODY, Anchor::End, "ink");
const ASIDE: Lettering = Lettering::new(SMALL, Anchor::Start, "dim");
/// Legible across a line.
const ASIDE_ACROSS: Lettering = Lettering::new(SMALL, Anchor::Start, "dim halo");
const ASIDE_END: Lettering = Lettering::new(SMALL, Anchor::End, "dim");

/// What bars are of: a rate where every timed row has one, or else the time.
#[derive(Clone, Copy, PartialEq)]
enum BarMeasure {
    Bandwidth,
    Operations(&'static str),
    Time,
}

impl BarMeasure {
    fn of(rows: &[&Row]) -> BarMeasure {
        let timed = || rows.iter().filter(|row| row.t_median_s.is_some());
        if timed().all(|row| is_memory_bound(row) && row.gbps.is_some()) {
            BarMeasure::Bandwidth
        } else if timed().all(|row| !is_memory_bound(row) && row.gops.is_some()) {
            BarMeasure::Operations(operation_unit(rows[0]).0)
        } else {
            BarMeasure::Time
        }
    }

    fn name(self) -> &'static str {
        match self {
            BarMeasure::Bandwidth => "bandwidth (GB/s)",
            BarMeasure::Operations("Gpair/s") => "rate (Gpair/s)",
            BarMeasure::Operations("GFLOP/s") => "rate (GFLOP/s)",
            BarMeasure::Operations(_) => "rate (Gop/s)",
            BarMeasure::Time => "time (µs)",
        }
    }

    fn value(self, row: &Row, seconds: f64) -> Option<f64> {
        let median = row.t_median_s.filter(|_| matches!(row.status, Status::Ok | Status::Suspect))?;
        match self {
            BarMeasure::Bandwidth => ratio(row.gbps? * median, seconds),
            BarMeasure::Operations(_) => ratio(rate(row).1? * median, seconds),
            BarMeasure::Time => Some(seconds * 1e6),
        }
    }

    fn median(self, row: &Row) -> Option<f64> {
        self.value(row, row.t_median_s?)
    }

    fn limit(self, rows: &[&Row]) -> Option<f64> {
        let any = rows.iter().filter(|_| is_held_against_limit(rows.iter().copied()));
        match self {
            BarMeasure::Bandwidth => any.filter_map(|row| row.ceiling_gbps).next(),
            BarMeasure::Operations(_) => any.filter_map(|row| Some(row.ceiling_gops? / operation_unit(row).1)).next(),
            BarMeasure::Time => None,
        }
    }
}

/// Draws the rows of one ladder: one case on one device.
pub fn ladder(rows: &[Row]) -> Drawn {
    let view = View::of(rows, RateUnit::GB);
    let rungs: Vec<&Row> = view.rungs.iter().map(|cell| cell.row).collect();
    if !view.rungs.iter().any(Cell::is_timed) {
        return Err("no rung has a time, so there is nothing to draw".to_owned());
    }
    let all: Vec<&Row> = rungs.iter().copied().chain(view.cpu.iter().map(|cell| cell.row)).collect();
    let measure = BarMeasure::of(&all);
    let chart = BarChart { measure, limit: measure.limit(&rungs), best: view.best() };
    let title = title(&view, &rungs, chart.limit.is_some());
    let mut sheet = Sheet::titled(&title, &view.title);
    chart.draw(&mut sheet, &view, &all);
    Ok(sheet.done(&title, &chart.about(&view), chart.figures(&view)))
}

struct BarChart {
    measure: BarMeasure,
    limit: Option<f64>,
    best: Option<usize>,
}

impl BarChart {
    fn draw(&self, sheet: &mut Sheet, view: &View<'_>, all: &[&Row]) {
        let names: Vec<String> = all.iter().map(|row| font::fitted(&name(row), BODY, 150.0)).collect();
        let told: Vec<String> = all.iter().map(|row| self.told(row)).collect();
        let left = MARGIN + font::widest(names.iter().map(String::as_str), BODY) + 8.0;
        let right = WIDTH - MARGIN - font::widest(told.iter().map(String::as_str), BODY) - 10.0;
        let values = all.iter().filter_map(|row| self.measure.value(row, row.t_q1_s.or(row.t_median_s)?));
        let most = values.chain(self.limit).fold(0.0, f64::max);
        // Bars need no round end.
        let axis = AxisScale::between(0.0, 1.02 * most, 4).over(left, right);
        let head = if self.limit.is_some() { 16.0 } else { 4.0 };
        let host = if view.cpu.is_empty() { 0.0 } else { HOST * view.cpu.len() as f64 + 8.0 };
        let top = sheet.y + head;
        let area = Area::new(left, top, right, top + RUNG * view.rungs.len() as f64 + host);
        axes::across(sheet, area, &axes::ticks(&axis, number::tick), self.measure.name());
        if let Some(limit) = self.limit {
            let x = axis.at(limit);
            sheet.dashes((x, top - 4.0), (x, area.bottom), "s1", 1.6);
            let which = all.iter().map(|row| row.ceiling.as_str()).find(|name| !name.is_empty()).unwrap_or("measured");
            let text = format!("limit: {} ({which})", number::value(limit));
            sheet.text(x + 2.0, top - 8.0, Lettering::new(SMALL, Anchor::End, "ink"), &text);
        }
        for (at, row) in all.iter().enumerate() {
            let is_host = at >= view.rungs.len();
            let below = at.saturating_sub(view.rungs.len()) as f64;
            let y = match is_host {
                true => top + RUNG * view.rungs.len() as f64 + 8.0 + HOST * (below + 0.5),
                false => top + RUNG * (at as f64 + 0.5),
            };
            let class = if is_host {
                "host"
            } else if self.best == Some(at) {
                "f0"
            } else {
                "plain"
            };
            let look = if is_host { ASIDE } else { NAME };
            sheet.text(MARGIN, y + 4.5, look, &names[at]);
            if row.t_median_s.is_none() {
                // A reason that is cut says less than the word alone.
                let whole = verdict(row, usize::MAX);
                let word = status_word(row.status);
                let has_room = font::width(&whole, SMALL) <= WIDTH - MARGIN - left - 5.0;
                sheet.text(left + 5.0, y + 4.5, ASIDE_ACROSS, if has_room { &whole } else { word });
                continue;
            }
            self.bar(sheet, row, &axis, y, (if is_host { 4.0 } else { 7.5 }, class));
            let look = if is_host { ASIDE_END } else { FIGURE };
            sheet.text(WIDTH - MARGIN, y + 4.5, look, &told[at]);
        }
        sheet.y = area.bottom + BELOW;
    }

    /// A bar, and a whisker from its first to its third quartile.
    fn bar(&self, sheet: &mut Sheet, row: &Row, axis: &AxisScale, y: f64, (half, class): (f64, &str)) {
        let Some(value) = self.measure.median(row) else { return };
        let area = Area::new(axis.at(0.0), y - half, axis.at(value), y + half);
        sheet.fill(area, class, &format!("{}: {}", name(row), self.told(row)));
        let quartile = |seconds: Option<f64>| Some(axis.at(self.measure.value(row, seconds?)?));
        if let (Some(a), Some(b)) = (quartile(row.t_q1_s), quartile(row.t_q3_s)) {
            sheet.line((a, y), (b, y), "rim", 1.2);
            for x in [a, b] {
                sheet.line((x, y - 3.0), (x, y + 3.0), "rim", 1.2);
            }
        }
    }

    /// `4432, 97 %`.
    fn told(&self, row: &Row) -> String {
        let Some(value) = self.measure.median(row) else { return status_word(row.status).to_owned() };
        let share = self.share(row).map_or_else(String::new, |share| format!(" · {share:.0} %"));
        let cached = if self.is_cached(row) { " · in cache" } else { "" };
        format!("{}{share}{cached}", number::value(value))
    }

    /// Per cent of the limit; none of data that a cache holds, which memory's limit does not bound.
    fn share(&self, row: &Row) -> Option<f64> {
        let limit = self.limit.filter(|_| !row.on_host() && !row.flags.contains(flag::FITS_CACHE))?;
        ratio(100.0 * self.measure.median(row)?, limit)
    }

    /// Whether other rows are held against memory's limit, and this one is not.
    fn is_cached(&self, row: &Row) -> bool {
        self.limit.is_some() && !row.on_host() && row.flags.contains(flag::FITS_CACHE)
    }

    fn about(&self, view: &View<'_>) -> String {
        let told = view.rungs.iter().chain(&view.cpu).map(|cell| match cell.is_timed() {
            true => format!("{} {}", name(cell.row), self.told(cell.row)),
            false => format!("{} {}", name(cell.row), status_word(cell.row.status)),
        });
        let limit = self.limit.map_or_else(String::new, |limit| format!(", limit {}", number::value(limit)));
        format!("Bars of {}{limit}: {}.", self.measure.name(), told.joined("; "))
    }

    fn figures(&self, view: &View<'_>) -> Figures {
        let mut figures =
            Figures::new(["rung", "wg", "median", "first quartile", "third quartile", self.measure.name()]);
        if self.limit.is_some() {
            figures.head.push("of limit".to_owned());
        }
        figures.head.extend(["gain", "verdict"].map(str::to_owned));
        let time = |seconds: Option<f64>| seconds.map(number::time).unwrap_or_default();
        for Cell { row, before, .. } in view.rungs.iter().chain(&view.cpu) {
            let mut cells = vec![name(row), row.wg_text(), time(row.t_median_s), time(row.t_q1_s), time(row.t_q3_s)];
            cells.push(self.measure.median(row).map(number::value).unwrap_or_default());
            if self.limit.is_some() {
                let none = if self.is_cached(row) { "in cache".to_owned() } else { String::new() };
                cells.push(self.share(row).map_or(none, |share| format!("{share:.1} %")));
            }
            cells.push(gain(*before, row).map(|gain| Value::Gain(gain).text()).unwrap_or_default());
            cells.push(verdict(row, usize::MAX));
            figures.rows.push(cells);
        }
        figures.legend = view.legend(false);
        figures
    }
}

/// `v3 local`, or what a CPU baseline is.
fn name(row: &Row) -> String {
    baseline(&row.variant).filter(|_| row.on_host()).unwrap_or_else(|| label(row))
}

/// What a CPU baseline of this name is.
pub(super) fn baseline(variant: &str) -> Option<String> {
    Some(match variant.strip_prefix("cpu_")? {
        "sequential" => "CPU, 1 core".to_owned(),
        "rayon" => "CPU, all cores".to_owned(),
        how => format!("CPU, {how}"),
    })
}

/// Which rung is fastest, or which are alike, and how near to the limit.
fn title(view: &View<'_>, rungs: &[&Row], is_limited: bool) -> String {
    let has_time = |row: &&Row| row.t_median_s.is_some();
    let timed: Vec<&Row> = rungs.iter().copied().filter(has_time).filter(|row| row.is_believed()).collect();
    let best = view.best().and_then(|at| rungs.get(at)).or(timed.first());
    let Some(best) = best else { return "No rung has a time to trust".to_owned() };
    let time = best.t_median_s.unwrap_or(f64::INFINITY);
    let is_doubtful = |row: &&&Row| !row.is_believed() && row.t_median_s.is_some_and(|t| t < time);
    let doubtful: Vec<&Row> = rungs.iter().filter(is_doubtful).copied().collect();
    let mut reasons: Vec<&str> = doubtful
        .iter()
        .map(|row: &&Row| match row.status {
            Status::Ok => "faster than the limit",
            Status::Suspect => "faster than the device can be",
            other => status_word(other),
        })
        .collect();
    reasons.dedup();
    // What the spreads of both would hide is no difference; an unsteady row is never said to be alike.
    let tie = |row: &Row| if best.drift().max(row.drift()) > 1.0 { 1.0 } else { clear_factor(Some(best), row) };
    let is_alike = |row: &&Row| row.rung.is_some() && row.t_median_s.is_some_and(|t| t <= time * tie(row));
    let alike: Vec<&Row> = timed.iter().copied().filter(is_alike).collect();
    let share = best.ceiling_pct.filter(|_| is_limited && !best.flags.contains(flag::FITS_CACHE));
    let how = match (share, best.total_x) {
        (Some(share), _) if share >= 100.5 => format!("{share:.0} % of the limit, within what limits vary"),
        (Some(share), _) => format!("{share:.0} % of the limit"),
        (None, Some(total)) if total > 1.005 => {
            format!("{}, {} times as fast as v1", number::time(time), number::value(total))
        }
        _ => number::time(time),
    };
    let how = match doubtful.is_empty() {
        true => how,
        false => format!("{how}; {} not counted: {}", and(&who(&doubtful, &[])), reasons.join(" or ")),
    };
    match alike.len() {
        _ if timed.len() < 2 => format!("{}: {how}", label(best)),
        0 | 1 => format!("{} is fastest: {how}", label(best)),
        all if all == timed.iter().filter(|row| row.rung.is_some()).count() => format!("All rungs are alike: {how}"),
        _ => format!("{} are fastest alike: {how}", and(&who(&alike, &timed))),
    }
}

/// `v1, v3 and v6` of `v1, v3, v6`.
fn and(names: &str) -> String {
    names.rsplit_once(", ").map_or_else(|| names.to_owned(), |(most, last)| format!("{most} and {last}"))
}

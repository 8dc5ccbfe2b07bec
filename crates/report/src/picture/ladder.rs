//! A ladder as bars: the rate of each rung against the limit, with the spread of its runs; and its gains as a waterfall, each
//! step's bar beginning where the one before it ended.

use super::scale::{AxisScale, BELOW, across, span, ticks};
use super::sheet::{Area, BODY, FIGURE, MARGIN, NAME, NOTE, SMALL, Sheet, WIDTH, fitted, widest};
use super::{Drawn, number};
use crate::rungs::{is_memory_bound, label, operation_unit, rate, who};
use crate::view::{RateUnit, View, is_base, is_held_against_limit, status_word, verdict};
use gpulab_model::Joined;
use gpulab_model::outcome::Status;
use gpulab_model::stats::ratio;
use gpulab_record::{Row, clear_factor, flag};

/// Units of a line of the chart.
const LINE: f64 = 22.0;

struct BarChart<'a> {
    rows: Vec<&'a Row>,
    /// What bars are of: a rate where every timed row has one, or else the time.
    unit: &'static str,
    limit: Option<f64>,
}

/// Draws the rows of one ladder: one case on one device.
pub fn ladder(rows: &[Row]) -> Drawn {
    let view = View::of(rows, RateUnit::GB);
    let rungs = &view.rungs;
    if rungs.iter().all(|row| row.t_median_s.is_none()) {
        return Err("no rung has a time, so there is nothing to draw".to_owned());
    }
    let all: Vec<&Row> = rungs.iter().chain(&view.cpu).copied().collect();
    let mut timed = all.iter().filter(|row| row.t_median_s.is_some());
    let held = rungs
        .iter()
        .filter(|_| is_held_against_limit(rungs.iter().copied()));
    let mut chart = BarChart {
        rows: Vec::new(),
        unit: "µs",
        limit: None,
    };
    if timed
        .clone()
        .all(|row| is_memory_bound(row) && row.gbps.is_some())
    {
        chart.unit = "GB/s";
        chart.limit = held.filter_map(|row| row.ceiling_gbps).next();
    } else if timed.all(|row| !is_memory_bound(row) && row.gops.is_some()) {
        let unit = operation_unit(rungs[0]);
        chart.unit = unit.0;
        chart.limit = held
            .filter_map(|row| Some(row.ceiling_gops? / unit.1))
            .next();
    }
    chart.rows = all;
    let title = title(&view, chart.limit.is_some());
    let mut sheet = Sheet::titled(&title, "ink", &view.title);
    chart.draw(&mut sheet, view.best());
    let told = chart
        .rows
        .iter()
        .map(|row| format!("{} {}", name(row), chart.told(row)))
        .joined("; ");
    let limit = chart.limit.map_or_else(String::new, |limit| {
        format!(", limit {}", number::value(limit))
    });
    Ok(sheet.done(
        &title,
        &format!("Bars of {}{limit}: {told}.", chart.unit),
        &[
            "rung",
            "wg",
            "median",
            "first quartile",
            "third quartile",
            chart.unit,
            "verdict",
        ],
        chart.figures(),
    ))
}

impl BarChart<'_> {
    /// What a bar is of where the row takes this time.
    fn value(&self, row: &Row, seconds: f64) -> Option<f64> {
        let median = row
            .t_median_s
            .filter(|_| matches!(row.status, Status::Ok | Status::Suspect))?;
        match self.unit {
            "GB/s" => ratio(row.gbps? * median, seconds),
            "µs" => Some(seconds * 1e6),
            _ => ratio(rate(row).1? * median, seconds),
        }
    }

    fn median(&self, row: &Row) -> Option<f64> {
        self.value(row, row.t_median_s?)
    }

    /// `4432 · 97 %`: the value, and per cent of the limit; none of data that a cache holds, which memory's limit does not bound.
    fn told(&self, row: &Row) -> String {
        let Some(value) = self.median(row) else {
            return status_word(row.status).to_owned();
        };
        let limit = self.limit.filter(|_| !row.on_host());
        match limit.and_then(|limit| ratio(100.0 * value, limit)) {
            Some(_) if row.flags.contains(flag::FITS_CACHE) => {
                format!("{} · in cache", number::value(value))
            }
            Some(share) => format!("{} · {}", number::value(value), number::share(share)),
            None => number::value(value),
        }
    }

    fn draw(&self, sheet: &mut Sheet, best: Option<usize>) {
        let names: Vec<String> = self
            .rows
            .iter()
            .map(|row| fitted(&name(row), BODY, 150.0))
            .collect();
        let told: Vec<String> = self.rows.iter().map(|row| self.told(row)).collect();
        let left = MARGIN + widest(&names, BODY) + 8.0;
        let right = WIDTH - MARGIN - widest(&told, BODY) - 10.0;
        let values = self
            .rows
            .iter()
            .filter_map(|row| self.value(row, row.t_q1_s.or(row.t_median_s)?));
        let most = values
            .chain(self.limit)
            .filter(|value| value.is_finite())
            .fold(0.0, f64::max);
        // Bars need no round end.
        let axis = AxisScale::between(0.0, 1.02 * most, 4).over(left, right);
        let top = sheet.y + 16.0;
        let area = Area::new(left, top, right, top + LINE * self.rows.len() as f64);
        let what = if self.unit == "µs" { "time" } else { "rate" };
        across(
            sheet,
            area,
            &ticks(&axis),
            &format!("{what} ({})", self.unit),
        );
        if let Some(limit) = self.limit {
            let x = axis.at(limit);
            sheet.path(&[(x, top - 4.0), (x, area.bottom)], "s1", 1.6, Some("4 3"));
            let which = self
                .rows
                .iter()
                .map(|row| row.ceiling.as_str())
                .find(|name| !name.is_empty());
            let text = format!(
                "limit: {} ({})",
                number::value(limit),
                which.unwrap_or("measured")
            );
            sheet.text(
                x + 2.0,
                top - 8.0,
                (SMALL, "end", "ink"),
                &fitted(&text, SMALL, x - MARGIN),
            );
        }
        for (at, row) in self.rows.iter().enumerate() {
            let y = top + LINE * (at as f64 + 0.5);
            sheet.text(
                MARGIN,
                y + 4.5,
                if row.on_host() {
                    (BODY, "start", "dim")
                } else {
                    NAME
                },
                &names[at],
            );
            let Some(value) = self.median(row) else {
                let whole = fitted(
                    &verdict(row, usize::MAX),
                    SMALL,
                    WIDTH - MARGIN - left - 5.0,
                );
                sheet.text(left + 5.0, y + 4.5, (SMALL, "start", "dim halo"), &whole);
                continue;
            };
            let class = match best {
                _ if row.on_host() => "host",
                Some(best) if best == at => "f0",
                _ => "plain",
            };
            let bar = Area::new(axis.at(0.0), y - 7.0, axis.at(value), y + 7.0);
            sheet.fill(bar, class, &format!("{}: {}", names[at], told[at]));
            // A whisker from its first to its third quartile.
            let quartiles =
                [row.t_q1_s, row.t_q3_s].map(|seconds| Some(axis.at(self.value(row, seconds?)?)));
            if let [Some(a), Some(b)] = quartiles {
                sheet.line((a, y), (b, y), "rim", 1.2);
                [a, b]
                    .iter()
                    .for_each(|x| sheet.line((*x, y - 3.0), (*x, y + 3.0), "rim", 1.2));
            }
            sheet.text(WIDTH - MARGIN, y + 4.5, FIGURE, &told[at]);
        }
        sheet.y = area.bottom + BELOW;
    }

    fn figures(&self) -> Vec<Vec<String>> {
        let mut figures = Vec::new();
        for &row in &self.rows {
            let times = [row.t_median_s, row.t_q1_s, row.t_q3_s];
            let times = times.map(|seconds| seconds.map(number::time).unwrap_or_default());
            let rest = [self.told(row), verdict(row, usize::MAX)];
            figures.push([&[name(row), row.wg_text()][..], &times, &rest].concat());
        }
        figures
    }
}

/// `v3 local`, or what a CPU baseline is.
fn name(row: &Row) -> String {
    match row.variant.strip_prefix("cpu_").filter(|_| row.on_host()) {
        Some("sequential") => "CPU, 1 core".to_owned(),
        Some("rayon") => "CPU, all cores".to_owned(),
        Some(how) => format!("CPU, {how}"),
        None => label(row),
    }
}

/// Which rung is fastest, or which are alike, and how near to the limit.
fn title(view: &View<'_>, is_limited: bool) -> String {
    let rungs = &view.rungs;
    let timed = rungs
        .iter()
        .copied()
        .filter(|row| row.t_median_s.is_some() && row.is_believed());
    let timed: Vec<&Row> = timed.collect();
    let Some(best) = view.best().and_then(|at| rungs.get(at)).or(timed.first()) else {
        return "No rung has a time to trust".to_owned();
    };
    let time = best.t_median_s.unwrap_or(f64::INFINITY);
    let share = best
        .ceiling_pct
        .filter(|_| is_limited && !best.flags.contains(flag::FITS_CACHE));
    let mut how = share.map_or_else(
        || number::time(time),
        |share| format!("{} of the limit", number::share(share)),
    );
    let doubtful = rungs
        .iter()
        .copied()
        .filter(|row| !row.is_believed() && row.t_median_s.is_some_and(|t| t < time));
    let doubtful: Vec<&Row> = doubtful.collect();
    if !doubtful.is_empty() {
        how += &format!("; not to be believed: {}", who(&doubtful, &[]));
    }
    // What the spreads of both would hide is no difference; an unsteady row is never said to be alike.
    let mut alike: Vec<&Row> = Vec::new();
    for &row in timed.iter().filter(|row| row.rung.is_some()) {
        let tie = if best.drift().max(row.drift()) > 1.0 {
            1.0
        } else {
            clear_factor(Some(best), row)
        };
        alike.extend(row.t_median_s.filter(|t| *t <= time * tie).map(|_| row));
    }
    match alike.len() {
        _ if timed.len() < 2 => format!("{}: {how}", label(best)),
        0 | 1 => format!("{} is fastest: {how}", label(best)),
        all if all == timed.len() => format!("No rung is clearly fastest: {how}"),
        _ => format!("{} are fastest alike: {how}", who(&alike, &timed)),
    }
}

/// A step: how many times as fast as the first rung the ladder is before and after it.
struct WaterfallStep<'a> {
    row: &'a Row,
    before: f64,
    after: f64,
    told: String,
    class: &'static str,
}

/// As in `× 3.2`, or `12.5 times slower`.
fn factor(gain: f64) -> String {
    if gain < 1.0 {
        format!("{} times slower", number::value(1.0 / gain))
    } else {
        format!("× {}", number::value(gain))
    }
}

/// Draws what each step of a ladder brought, one case on one device.
pub fn waterfall(rows: &[Row]) -> Drawn {
    let view = View::of(rows, RateUnit::GB);
    let timed: Vec<&Row> = view
        .rungs
        .iter()
        .copied()
        .filter(|row| is_base(row))
        .collect();
    if timed
        .iter()
        .any(|row| row.is_tuned() != timed[0].is_tuned())
    {
        return Err(
            "some rungs are tuned and others are not, so no gains are drawn (--no-tuned runs all alike)".to_owned()
        );
    }
    let mut steps: Vec<WaterfallStep<'_>> = Vec::new();
    let first = timed
        .first()
        .and_then(|row| row.t_median_s)
        .unwrap_or_default();
    for pair in timed.windows(2) {
        let [before, after] =
            [pair[0], pair[1]].map(|row| first / row.t_median_s.unwrap_or_default());
        let gain = after / before;
        if !(gain.is_finite() && before.is_finite() && gain > 0.0) {
            continue;
        }
        let clear = clear_factor(Some(pair[0]), pair[1]);
        // Blue for a gain, red for a loss, grey for what the noise hides.
        let class = match gain {
            gain if gain > clear => "f0",
            gain if gain < 1.0 / clear => "f1",
            _ => "mute",
        };
        let told = if class == "mute" {
            "undecided".to_owned()
        } else {
            factor(gain)
        };
        steps.push(WaterfallStep {
            row: pair[1],
            before,
            after,
            told,
            class,
        });
    }
    let Some(best) = steps.iter().max_by(|a, b| a.after.total_cmp(&b.after)) else {
        return Err("gains are drawn from two rungs or more that have a time".to_owned());
    };
    let total = factor(best.after);
    let gains = steps.iter().filter(|step| step.class == "f0");
    let title = match gains.max_by(|a, b| (a.after / a.before).total_cmp(&(b.after / b.before))) {
        Some(most) => {
            let to = label(best.row);
            format!(
                "{} brings most: {}; all steps up to {to} bring {total}",
                label(most.row),
                most.told
            )
        }
        None => "No step is clearly faster than the rung before it".to_owned(),
    };
    let mut sheet = Sheet::titled(&title, "ink", &view.title);
    let whole = WaterfallStep {
        row: best.row,
        before: 1.0,
        after: best.after,
        told: total,
        class: "f2",
    };
    let first = label(timed[0]);
    draw_steps(&mut sheet, &steps, &whole, &first);
    let about = steps
        .iter()
        .map(|step| format!("{} {}", label(step.row), step.told))
        .joined("; ");
    let mut figures = Vec::new();
    for step in &steps {
        figures.push(vec![label(step.row), step.told.clone(), factor(step.after)]);
    }
    Ok(sheet.done(
        &title,
        &format!("Each step's gain over the rung before it, from {first} on: {about}."),
        &["rung", "gain over the rung before", "over the first rung"],
        figures,
    ))
}

fn draw_steps(
    sheet: &mut Sheet,
    steps: &[WaterfallStep<'_>],
    whole: &WaterfallStep<'_>,
    first: &str,
) {
    let mut names: Vec<String> = steps
        .iter()
        .map(|step| fitted(&label(step.row), BODY, 150.0))
        .collect();
    names.push("all together".to_owned());
    let left = MARGIN + widest(&names, BODY) + 8.0;
    let all = steps.iter().chain([whole]);
    let right = WIDTH - MARGIN - widest(all.clone().map(|step| &step.told), BODY) - 10.0;
    let [least, most] =
        span(all.clone().flat_map(|step| [step.before, step.after])).unwrap_or([1.0, 2.0]);
    let axis =
        AxisScale::log(least.min(1.0) / 1.04, most.max(1.2) * 1.04, false, 6).over(left, right);
    let top = sheet.y + 4.0;
    let area = Area::new(left, top, right, top + LINE * names.len() as f64);
    across(
        sheet,
        area,
        &ticks(&axis),
        &format!("times as fast as {}", fitted(first, SMALL, 150.0)),
    );
    for (at, step) in all.enumerate() {
        let y = top + LINE * (at as f64 + 0.5);
        let from = axis.at(step.before.min(step.after));
        // The smallest change is seen.
        let to = axis.at(step.before.max(step.after)).max(from + 1.5);
        sheet.fill(
            Area::new(from, y - 7.5, to, y + 7.5),
            step.class,
            &format!("{}: {}", names[at], step.told),
        );
        if at < steps.len() {
            // To the next step's bar.
            let x = axis.at(step.after);
            sheet.line((x, y + 7.5), (x, y + LINE - 7.5), "axis", 1.0);
        }
        sheet.text(MARGIN, y + 4.5, NAME, &names[at]);
        sheet.text(WIDTH - MARGIN, y + 4.5, FIGURE, &step.told);
    }
    sheet.y = area.bottom + BELOW;
    sheet.lines(
        "Blue is a gain, red a loss, grey what noise may make.",
        NOTE,
        MARGIN,
    );
}

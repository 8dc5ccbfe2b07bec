//! A ladder's gains as a waterfall: each step's bar begins where the one before it ended.

use super::prelude::*;
use crate::cell::RateUnit;
use crate::view::View;
use gpulab_record::clear_factor;

/// Units of a line of the chart.
const LINE: f64 = 24.0;

const NAME: Lettering = Lettering::new(BODY, Anchor::Start, "ink");
const TOLD: Lettering = Lettering::new(BODY, Anchor::End, "ink");
const TOLD_DIM: Lettering = Lettering::new(SMALL, Anchor::End, "dim");

/// A step: how many times as fast as the first rung the ladder is before and after it.
struct WaterfallStep<'a> {
    row: &'a Row,
    before: f64,
    after: f64,
    is_decided: bool,
}

impl WaterfallStep<'_> {
    fn gain(&self) -> f64 {
        self.after / self.before
    }

    fn told(&self) -> String {
        if self.is_decided { format!("× {}", number::value(self.gain())) } else { "undecided".to_owned() }
    }

    /// Blue for a gain, red for a loss, grey for what the noise hides.
    fn class(&self) -> &'static str {
        match (self.is_decided, self.gain() >= 1.0) {
            (false, _) => "mute",
            (_, true) => "f0",
            (_, false) => "f1",
        }
    }
}

/// Draws what each step of a ladder brought, one case on one device.
pub fn waterfall(rows: &[Row]) -> Drawn {
    let view = View::of(rows, RateUnit::GB);
    let timed: Vec<&Row> = view.rungs.iter().map(|cell| cell.row).filter(|row| is_base(row)).collect();
    if timed.iter().any(|row| row.is_tuned() != timed[0].is_tuned()) {
        return Err(
            "some rungs are tuned and others are not, so no gains are drawn (--no-tuned runs all alike)".to_owned()
        );
    }
    let steps = steps(&timed);
    let Some(best) = steps.iter().max_by(|a, b| a.after.total_cmp(&b.after)) else {
        return Err("gains are drawn from two rungs or more that have a time".to_owned());
    };
    let title = title(&steps, best);
    let mut sheet = Sheet::titled(&title, &view.title);
    let first = timed.first().map(|row| label(row)).unwrap_or_default();
    draw(&mut sheet, &steps, best, &first);
    let told = steps.iter().map(|step| format!("{} {}", label(step.row), step.told())).collect::<Vec<_>>();
    let about = format!("Each step's gain over the rung before it, from {first} on: {}.", told.join("; "));
    Ok(sheet.done(&title, &about, figures(&steps)))
}

fn steps<'a>(timed: &[&'a Row]) -> Vec<WaterfallStep<'a>> {
    let Some(first) = timed.first().and_then(|row| row.t_median_s) else { return Vec::new() };
    timed
        .windows(2)
        .filter_map(|pair: &[&'a Row]| {
            let [before, after] = [pair[0].t_median_s?, pair[1].t_median_s?].map(|seconds| first / seconds);
            let gain = after / before;
            let clear = clear_factor(Some(pair[0]), pair[1]);
            let is_decided = gain > clear || gain < 1.0 / clear;
            let is_drawn = before.is_finite() && after.is_finite() && before > 0.0 && after > 0.0;
            is_drawn.then_some(WaterfallStep { row: pair[1], before, after, is_decided })
        })
        .collect()
}

/// Which step brings most, and what all up to the fastest rung bring.
fn title(steps: &[WaterfallStep<'_>], best: &WaterfallStep<'_>) -> String {
    let gains = steps.iter().filter(|step| step.is_decided && step.gain() > 1.0);
    let Some(most) = gains.max_by(|a, b| a.gain().total_cmp(&b.gain())) else {
        return "No step is clearly faster than the rung before it".to_owned();
    };
    let gain = number::value(most.gain());
    let total = number::value(best.after);
    format!("{} brings most: × {gain}; all steps up to {} bring × {total}", label(most.row), label(best.row))
}

fn draw(sheet: &mut Sheet, steps: &[WaterfallStep<'_>], best: &WaterfallStep<'_>, first: &str) {
    let names: Vec<String> = steps.iter().map(|step| font::fitted(&label(step.row), BODY, 150.0)).collect();
    let whole = "all together";
    let left = MARGIN + font::widest(names.iter().map(String::as_str).chain([whole]), BODY) + 8.0;
    let told: Vec<String> = steps.iter().map(WaterfallStep::told).collect();
    let total = format!("× {}", number::value(best.after));
    let right = WIDTH - MARGIN - font::widest(told.iter().chain([&total]).map(String::as_str), BODY) - 10.0;
    let (least, most) = span(steps.iter().flat_map(|step| [step.before, step.after])).unwrap_or((1.0, 2.0));
    let axis = AxisScale::log2(least.min(1.0) / 1.04, most.max(1.2) * 1.04, false, 6).over(left, right);
    let top = sheet.y + 4.0;
    let area = Area::new(left, top, right, top + LINE * (steps.len() + 1) as f64);
    let name = format!("times as fast as {}", font::fitted(first, SMALL, 150.0));
    axes::across(sheet, area, &axes::ticks(&axis, number::tick), &name);
    let bar = |sheet: &mut Sheet, at: usize, from: f64, to: f64, class: &str, tip: &str| {
        let y = top + LINE * (at as f64 + 0.5);
        let (from, to) = (axis.at(from.min(to)), axis.at(from.max(to)));
        // The smallest change is seen.
        sheet.fill(Area::new(from, y - 7.5, to.max(from + 1.5), y + 7.5), class, tip);
        y
    };
    for (at, step) in steps.iter().enumerate() {
        let tip = format!("{}: {}", names[at], told[at]);
        let y = bar(sheet, at, step.before, step.after, step.class(), &tip);
        let x = axis.at(step.after);
        // To the next step's bar.
        sheet.line((x, y + 7.5), (x, y + LINE - 7.5), "axis", 1.0);
        sheet.text(MARGIN, y + 4.5, NAME, &names[at]);
        sheet.text(WIDTH - MARGIN, y + 4.5, if step.is_decided { TOLD } else { TOLD_DIM }, &told[at]);
    }
    let y = bar(sheet, steps.len(), 1.0, best.after, "f2", &format!("up to {}: {total}", label(best.row)));
    sheet.text(MARGIN, y + 4.5, NAME, whole);
    sheet.text(WIDTH - MARGIN, y + 4.5, TOLD, &total);
    sheet.y = area.bottom + BELOW;
}

fn figures(steps: &[WaterfallStep<'_>]) -> Figures {
    let mut figures = Figures::new(["rung", "gain over the rung before", "over the first rung", "verdict"]);
    for step in steps {
        let verdict = match (step.is_decided, step.gain() >= 1.0) {
            (false, _) => "undecided",
            (_, true) => "faster",
            (_, false) => "slower",
        };
        let times = |factor: f64| format!("{} ×", number::value(factor));
        figures.rows.push(vec![label(step.row), times(step.gain()), times(step.after), verdict.to_owned()]);
    }
    figures
}

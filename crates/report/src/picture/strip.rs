//! Single timed runs as strips: a line for each rung, a mark for each run, so that noise is seen as what it is.

use super::ladder::baseline;
use super::prelude::*;
use crate::groups::groups;
use gpulab_model::stats::summarise;
use gpulab_record::SampleRow;

/// Units of a line of the chart.
const LINE: f64 = 22.0;

/// Marks of a line at most; of more runs each so many-th is drawn.
const MARKS: usize = 150;

/// Times its median from which on a run is drawn at the edge.
const EDGE: f64 = 2.0;

struct SampleLine {
    name: String,
    ratios: Vec<f64>,
    median: f64,
    q1: f64,
    q3: f64,
}

impl SampleLine {
    fn of(samples: &[SampleRow]) -> Option<SampleLine> {
        let first = samples.first()?;
        let times: Vec<f64> = samples
            .iter()
            .map(|sample: &SampleRow| sample.event_s.unwrap_or(sample.wall_s))
            .filter(|t| t.is_finite() && *t > 0.0)
            .collect();
        let all = summarise(&times)?;
        let name = first.rung.map_or_else(
            || baseline(&first.variant).unwrap_or_else(|| first.variant.clone()),
            |rung| format!("v{rung} {}", first.variant),
        );
        let ratios = times.iter().map(|time| time / all.median).collect();
        Some(SampleLine { name, ratios, median: all.median, q1: all.q1 / all.median, q3: all.q3 / all.median })
    }

    /// The range of the middle half, over the median.
    fn spread(&self) -> f64 {
        self.q3 - self.q1
    }
}

/// Draws the single runs of one ladder: one case of one run of the program.
pub fn strip(samples: &[SampleRow]) -> Drawn {
    let lines: Vec<SampleLine> = groups(samples, |sample| (sample.variant.clone(), sample.params.clone()))
        .iter()
        .filter_map(|own| SampleLine::of(own))
        .collect();
    let widest = lines.iter().max_by(|a, b| a.spread().total_cmp(&b.spread()));
    let (Some(widest), Some(first)) = (widest, samples.first()) else {
        return Err("strips are drawn from what --samples writes".to_owned());
    };
    let share = number::value(100.0 * widest.spread());
    let title = format!("{} spreads most: the middle half of its runs over {share} %", widest.name);
    let size = number::count(first.n);
    let subtitle = format!("{} {}, n = {size}: each run's time over the median of its rung", first.family, first.dtype);
    let mut sheet = Sheet::titled(&title, &subtitle);
    draw(&mut sheet, &lines);
    let about = format!(
        "A line of marks for each rung, each mark a run. {}.",
        lines.iter().map(|line| format!("{} {} runs", line.name, line.ratios.len())).joined("; ")
    );
    Ok(sheet.done(&title, &about, figures(&lines)))
}

fn draw(sheet: &mut Sheet, lines: &[SampleLine]) {
    let names: Vec<String> = lines.iter().map(|line| font::fitted(&line.name, BODY, 150.0)).collect();
    let left = MARGIN + font::widest(names.iter().map(String::as_str), BODY) + 8.0;
    let right = WIDTH - MARGIN - 8.0;
    let all = || lines.iter().flat_map(|line| line.ratios.iter().copied());
    let least = all().fold(1.0, f64::min);
    let most = all().fold(1.05, f64::max).min(EDGE);
    let axis = AxisScale::between(least, most, 5).over(left + 3.0, right - 3.0);
    let top = sheet.y + 4.0;
    let area = Area::new(left, top, right, top + LINE * lines.len() as f64);
    let is_cut = all().any(|ratio| ratio > EDGE);
    let name = if is_cut { "time over the median (slower runs lie at the edge)" } else { "time over the median" };
    axes::across(sheet, area, &axes::ticks(&axis, number::tick), name);
    for (at, line) in lines.iter().enumerate() {
        let y = top + LINE * (at as f64 + 0.5);
        sheet.fill(
            Area::new(axis.at(line.q1), y - 8.0, axis.at(line.q3).max(axis.at(line.q1) + 1.0), y + 8.0),
            "plain",
            "",
        );
        for ratio in line.ratios.iter().step_by(line.ratios.len().div_ceil(MARKS).max(1)) {
            let x = axis.at(*ratio);
            sheet.line((x, y - 5.0), (x, y + 5.0), "s0", 0.8);
        }
        sheet.line((axis.at(1.0), y - 8.0), (axis.at(1.0), y + 8.0), "rim", 1.6);
        sheet.text(MARGIN, y + 4.5, Lettering::new(BODY, Anchor::Start, "ink"), &names[at]);
    }
    sheet.y = area.bottom + BELOW;
    let most = lines.iter().map(|line| line.ratios.len()).max().unwrap_or(0);
    let each = most.div_ceil(MARKS).max(1);
    let marks =
        if each > 1 { format!("each mark a run, of most rungs one in {each} drawn") } else { "each mark a run".into() };
    let told = format!("{marks}; the shaded part holds the middle half, the dark line is the median");
    sheet.lines(&told, Lettering::new(SMALL, Anchor::Start, "dim"), MARGIN, WIDTH - 2.0 * MARGIN);
}

fn figures(lines: &[SampleLine]) -> Figures {
    let mut figures = Figures::new(["rung", "runs", "median", "first quartile", "third quartile", "slowest"]);
    let percent = |ratio: f64| format!("{:.1} %", 100.0 * ratio);
    for line in lines {
        let slowest = line.ratios.iter().copied().fold(0.0, f64::max);
        figures.rows.push(vec![
            line.name.clone(),
            line.ratios.len().to_string(),
            number::time(line.median),
            percent(line.q1),
            percent(line.q3),
            percent(slowest),
        ]);
    }
    figures
}

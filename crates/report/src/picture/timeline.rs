//! What overlapped: the commands of one run over time, or what all orders of copies and kernels take, on one axis.

use super::Picture;
use super::prelude::*;
use crate::timeline::{lanes, length, overlapped};
use gpulab_model::outcome::Bar;

const LANE: f64 = 26.0;

/// What commands do, in order, with their words.
const KINDS: [(&str, &str); 4] = [("in", "copy in"), ("kernel", "kernel"), ("out", "copy out"), ("host", "host")];

fn class(what: &str) -> &'static str {
    match what {
        "in" => "f0",
        "kernel" => "f4",
        "out" => "f2",
        _ => "host",
    }
}

fn words(what: &str) -> &str {
    KINDS.iter().find(|(name, _)| *name == what).map_or(what, |(_, words)| words)
}

/// A stretch of time in seconds, and what it is filled with.
struct Stretch {
    what: String,
    start: f64,
    end: f64,
    tip: String,
}

/// A line of the picture: its name, what stands behind it, and its stretches.
struct PictureLane {
    name: String,
    told: String,
    stretches: Vec<Stretch>,
}

/// Draws the commands of a run, a lane for each queue and kind of command.
pub fn of_bars(bars: &[Bar], title: &str) -> Picture {
    let stretch = |bar: &Bar| Stretch {
        what: bar.what.clone(),
        start: bar.start,
        end: bar.end,
        tip: format!("{}: {} to {}", words(&bar.what), number::time(bar.start), number::time(bar.end)),
    };
    let lane = |&(queue, what): &(u32, &str)| PictureLane {
        name: format!("queue {queue}, {}", words(what)),
        told: String::new(),
        stretches: bars.iter().filter(|b| (b.queue, b.what.as_str()) == (queue, what)).map(stretch).collect(),
    };
    let subtitle = format!(
        "{} commands in {}; two or more at once in {:.0} % of the time",
        bars.len(),
        number::time(length(bars)),
        100.0 * overlapped(bars)
    );
    let all: Vec<PictureLane> = lanes(bars).iter().map(lane).collect();
    draw(title, &subtitle, &all)
}

/// Draws what the experiment `overlap` measured: each stage alone, one after the other, the best order, and the ideal, in
/// which the longest stage hides the others.
pub fn overlap(points: &[Point]) -> Drawn {
    let seconds = |point: &Point| point.measured().and(point.t_median_s);
    let alone = |series: &str| points.iter().find(|p| p.series == series).and_then(seconds);
    let stages: Vec<(&str, f64)> = [("in", "copy in alone"), ("kernel", "kernel alone"), ("out", "copy out alone")]
        .into_iter()
        .filter_map(|(what, series)| Some((what, alone(series)?)))
        .collect();
    let queued = points.iter().filter(|p| p.series.ends_with("queue") || p.series.ends_with("queues"));
    let timed: Vec<(&Point, f64)> = queued.filter_map(|p| Some((p, seconds(p)?))).collect();
    let best = timed.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let (Some((best, least)), 2..) = (best, stages.len()) else {
        return Err(
            "a timeline is drawn from the points of gpulab lab overlap, with stages alone and queues".to_owned()
        );
    };
    let serial: f64 = stages.iter().map(|(_, seconds)| seconds).sum();
    let ideal = stages.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or(("kernel", 0.0));
    let one = timed.iter().filter(|(p, _)| p.series == "1 queue").min_by(|a, b| a.1.total_cmp(&b.1));
    let mut lanes =
        vec![PictureLane { name: "stages alone".to_owned(), told: number::time(serial), stretches: chain(&stages) }];
    lanes.extend(one.map(|(p, time)| whole("1 queue", p, *time)));
    lanes.push(whole("best measured", best, *least));
    lanes.push(PictureLane {
        name: "ideal".to_owned(),
        told: number::time(ideal.1),
        stretches: vec![stretch(ideal.0, 0.0, ideal.1, &format!("the longest stage alone, {}", words(ideal.0)))],
    });
    let title = format!(
        "{} hide{} {:.0} % of the time that copies and kernel take one after the other",
        best.series,
        if best.series.starts_with('1') { "s" } else { "" },
        100.0 * (1.0 - least / serial).max(0.0)
    );
    let device = points.first().map(|p| format::device(&p.device)).unwrap_or_default();
    let subtitle = format!(
        "overlap on {device}: best with {} and {} {}; ideal: the longest stage hides the others",
        best.series, best.x, best.x_name
    );
    Ok(draw(&title, &subtitle, &lanes))
}

fn stretch(what: &str, start: f64, end: f64, tip: &str) -> Stretch {
    let tip = format!("{tip}: {}", number::time(end - start));
    Stretch { what: what.to_owned(), start, end, tip }
}

fn chain(stages: &[(&str, f64)]) -> Vec<Stretch> {
    let mut at = 0.0;
    let each = stages.iter().map(|&(what, seconds)| {
        let start = at;
        at += seconds;
        stretch(what, start, at, words(what))
    });
    each.collect()
}

fn whole(name: &str, point: &Point, seconds: f64) -> PictureLane {
    let told = format!("{}, {} {}", point.series, number::value(point.x), point.x_name);
    let stretches = vec![stretch("all", 0.0, seconds, &told)];
    PictureLane { name: name.to_owned(), told: number::time(seconds), stretches }
}

fn draw(title: &str, subtitle: &str, lanes: &[PictureLane]) -> Picture {
    let most = lanes.iter().flat_map(|lane| &lane.stretches).map(|s| s.end).fold(0.0, f64::max);
    let (unit, of_unit) = number::time_unit(most);
    let mut sheet = Sheet::titled(title, subtitle);
    legend(&mut sheet, lanes);
    let left = MARGIN + font::widest(lanes.iter().map(|lane| lane.name.as_str()), BODY) + 8.0;
    let told = font::widest(lanes.iter().map(|lane| lane.told.as_str()), BODY);
    let right = WIDTH - MARGIN - if told > 0.0 { told + 10.0 } else { 8.0 };
    let top = sheet.y + 6.0;
    let area = Area::new(left, top, right, top + LANE * lanes.len() as f64);
    let axis = AxisScale::from_zero(most / of_unit, 5).over(left, right);
    axes::across(&mut sheet, area, &axes::ticks(&axis, number::tick), &format!("time ({unit})"));
    for (at, lane) in lanes.iter().enumerate() {
        let y = top + LANE * at as f64;
        sheet.text(MARGIN, y + LANE / 2.0 + 4.5, Lettering::new(BODY, Anchor::Start, "ink"), &lane.name);
        for stretch in &lane.stretches {
            let from = axis.at(stretch.start / of_unit);
            let to = axis.at(stretch.end / of_unit);
            // The shortest command is seen.
            sheet.fill(
                Area::new(from, y + 4.0, to.max(from + 0.7), y + LANE - 4.0),
                class(&stretch.what),
                &stretch.tip,
            );
        }
        sheet.text(WIDTH - MARGIN, y + LANE / 2.0 + 4.5, Lettering::new(BODY, Anchor::End, "ink"), &lane.told);
    }
    sheet.y = area.bottom + BELOW;
    let names: Vec<&str> = lanes.iter().map(|lane| lane.name.as_str()).collect();
    let about = format!("Stretches of time in lanes: {}.", names.join("; "));
    sheet.done(title, &about, figures(lanes))
}

fn legend(sheet: &mut Sheet, lanes: &[PictureLane]) {
    let has = |what: &str| lanes.iter().flat_map(|lane| &lane.stretches).any(|s| s.what == what);
    let all = has("all").then_some(("all", "the whole run"));
    sheet.y += 14.0;
    let mut x = MARGIN;
    for (what, words) in KINDS.into_iter().filter(|(what, _)| has(what)).chain(all) {
        sheet.fill(Area::new(x, sheet.y - 10.0, x + 14.0, sheet.y + 2.0), class(what), "");
        sheet.text(x + 19.0, sheet.y, Lettering::new(SMALL, Anchor::Start, "ink"), words);
        x += 19.0 + font::width(words, SMALL) + 14.0;
    }
    sheet.y += 4.0;
}

fn figures(lanes: &[PictureLane]) -> Figures {
    let mut figures = Figures::new(["lane", "what", "begins", "takes"]);
    for lane in lanes {
        for Stretch { what, start, end, .. } in &lane.stretches {
            let what = if what == "all" { "the whole run" } else { words(what) };
            figures.rows.push(vec![
                lane.name.clone(),
                what.to_owned(),
                number::time(*start),
                number::time(end - start),
            ]);
        }
    }
    figures
}

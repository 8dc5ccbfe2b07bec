//! What overlapped: the commands of one run over time, or what orders of copies and kernels take, on one axis.

use super::scale::{AxisScale, BELOW, across, ticks};
use super::sheet::{Area, BODY, FIGURE, MARGIN, NAME, SMALL, Sheet, WIDTH, widest, width};
use super::{Drawn, Picture, number};
use crate::format;
use crate::timeline::{lanes, length, overlapped};
use gpulab_model::outcome::Bar;
use gpulab_record::Point;

const LANE: f64 = 26.0;

/// What commands do, in order, with their words and colours.
const KINDS: [(&str, &str, &str); 4] = [
    ("in", "copy in", "f0"),
    ("kernel", "kernel", "f4"),
    ("out", "copy out", "f2"),
    ("all", "the whole run", "host"),
];

fn words(what: &str) -> &str {
    KINDS
        .iter()
        .find(|kind| kind.0 == what)
        .map_or(what, |kind| kind.1)
}

/// Draws the commands of a run, a lane for each queue and kind of command.
pub fn of_bars(bars: &[Bar], title: &str) -> Picture {
    let share = 100.0 * overlapped(bars);
    let time = number::time(length(bars));
    let subtitle = format!(
        "{} commands in {time}; two or more at once in {share:.0} % of the time",
        bars.len()
    );
    let lanes = lanes(bars);
    let names: Vec<String> = lanes
        .iter()
        .map(|(queue, what)| format!("queue {queue}, {}", words(what)))
        .collect();
    let own = lanes.iter().map(|lane| {
        bars.iter()
            .filter(|bar| *lane == (bar.queue, &bar.what))
            .cloned()
            .collect()
    });
    draw(
        title,
        &subtitle,
        &names,
        &vec![String::new(); names.len()],
        &own.collect::<Vec<_>>(),
    )
}

/// Draws what the experiment `overlap` measured: each stage alone, one after the other, and the best order.
pub fn overlap(points: &[Point]) -> Drawn {
    let mut alone: Vec<Bar> = Vec::new();
    let mut serial = 0.0;
    for (what, series) in [
        ("in", "copy in alone"),
        ("kernel", "kernel alone"),
        ("out", "copy out alone"),
    ] {
        if let Some(time) = points.iter().find(|p| p.series == series).and_then(seconds) {
            alone.push(Bar {
                what: what.to_owned(),
                queue: 0,
                start: serial,
                end: serial + time,
            });
            serial += time;
        }
    }
    let queued = points
        .iter()
        .filter(|p| p.series.ends_with("queue") || p.series.ends_with("queues"));
    let timed: Vec<(&Point, f64)> = queued.filter_map(|p| Some((p, seconds(p)?))).collect();
    let best = timed.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let (Some((best, least)), 2..) = (best, alone.len()) else {
        return Err(
            "a timeline is drawn from the points of gpulab lab overlap, with stages alone and queues".to_owned()
        );
    };
    let whole = Bar {
        what: "all".to_owned(),
        queue: 0,
        start: 0.0,
        end: *least,
    };
    let share = 100.0 * (1.0 - least / serial).max(0.0);
    let title = format!(
        "{}: {share:.0} % less than the time of copies and kernel one after the other",
        best.series
    );
    let device = format::device(&best.device);
    let subtitle = format!(
        "overlap on {device}: best with {} and {} {}",
        best.series, best.x, best.x_name
    );
    let names = ["stages alone", "best measured"].map(str::to_owned);
    Ok(draw(
        &title,
        &subtitle,
        &names,
        &[serial, *least].map(number::time),
        &[alone, vec![whole]],
    ))
}

fn seconds(point: &Point) -> Option<f64> {
    point.measured().and(point.t_median_s)
}

/// Draws stretches of time in lanes, each between its name and what is told behind it.
fn draw(
    title: &str,
    subtitle: &str,
    names: &[String],
    told: &[String],
    lanes: &[Vec<Bar>],
) -> Picture {
    let most = lanes
        .iter()
        .flatten()
        .map(|bar| bar.end)
        .fold(0.0, f64::max);
    let (unit, of_unit) = number::time_unit(most);
    let mut sheet = Sheet::titled(title, "ink", subtitle);
    sheet.y += 14.0;
    let mut x = MARGIN;
    for (what, words, class) in KINDS {
        if lanes.iter().flatten().any(|bar| bar.what == what) {
            sheet.fill(
                Area::new(x, sheet.y - 10.0, x + 14.0, sheet.y + 2.0),
                class,
                "",
            );
            sheet.text(x + 19.0, sheet.y, (SMALL, "start", "ink"), words);
            x += 33.0 + width(words, SMALL);
        }
    }
    let left = MARGIN + widest(names, BODY) + 8.0;
    let right = WIDTH - MARGIN - widest(told, BODY) - 10.0;
    let top = sheet.y + 10.0;
    let area = Area::new(left, top, right, top + LANE * lanes.len() as f64);
    let axis = AxisScale::from_zero(most / of_unit, 5).over(left, right);
    across(&mut sheet, area, &ticks(&axis), &format!("time ({unit})"));
    let mut figures = Vec::new();
    for (at, lane) in lanes.iter().enumerate() {
        let y = top + LANE * at as f64;
        sheet.text(MARGIN, y + LANE / 2.0 + 4.5, NAME, &names[at]);
        sheet.text(WIDTH - MARGIN, y + LANE / 2.0 + 4.5, FIGURE, &told[at]);
        for bar in lane {
            let from = axis.at(bar.start / of_unit);
            // The shortest command is seen.
            let to = axis.at(bar.end / of_unit).max(from + 0.7);
            let class = KINDS
                .iter()
                .find(|kind| kind.0 == bar.what)
                .map_or("host", |kind| kind.2);
            let [start, takes] = [bar.start, bar.end - bar.start].map(number::time);
            let tip = format!("{}: {takes} from {start} on", words(&bar.what));
            sheet.fill(Area::new(from, y + 4.0, to, y + LANE - 4.0), class, &tip);
            figures.push(vec![
                names[at].clone(),
                words(&bar.what).to_owned(),
                start,
                takes,
            ]);
        }
    }
    sheet.y = area.bottom + BELOW;
    sheet.done(
        title,
        &format!("Stretches of time in lanes: {}.", names.join("; ")),
        &["lane", "what", "begins", "takes"],
        figures,
    )
}

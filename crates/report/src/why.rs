//! Why a ladder's steps pay or do not, as text: predictions beside measurements, and a sentence for each step.

use super::payoff;
use super::rungs::{short_label, who};
use crate::format::{self, Screen};
use crate::rungs::label;
use crate::table::Table;
use gpulab_kernels::Bound;
use gpulab_record::Row;
use gpulab_study::why::{Cause, CountChange, LadderReasons, StepReason, TimePart};

/// The reasons of a ladder's steps, without what the model is.
pub fn text(why: &LadderReasons, screen: Screen) -> String {
    if why.rungs.is_empty() {
        return format::on_screen(
            "why: no rung has a time, so there is nothing to explain\n",
            screen,
        );
    }
    let rungs = why.rungs.iter();
    let (unit, scale) = format::time_unit(rungs.clone().map(|rung| rung.measured));
    let model = rungs
        .clone()
        .map(|rung| number(rung.model_time().map(|model| model.whole() / scale)));
    let mostly = rungs.clone().map(|rung| {
        rung.model_time()
            .map_or("", |model| part(model.largest(), &rung.row))
            .to_owned()
    });
    let table = Table::default()
        .texts("rung", rungs.clone().map(|rung| label(&rung.row)))
        .numbers(
            format!("measured\n{unit}"),
            rungs
                .clone()
                .map(|rung| number(Some(rung.measured / scale))),
        )
        .numbers(format!("model\n{unit}"), model)
        .numbers(
            "measured\nover model",
            rungs.map(|rung| number(rung.over_model())),
        )
        .dropped(1)
        .texts("mostly", mostly)
        .dropped(2);
    let mut text =
        String::from("why, by counts of the kernels and measured limits of the device\n\n");
    text += &table.blocks(screen.width);
    text.push('\n');
    for (pair, (gain, reason)) in why.rungs.windows(2).zip(&why.steps) {
        text += &screen.wrap_foreign(&sentence(&pair[0].row, &pair[1].row, *gain, reason));
    }
    let pays = payoff::of_ladder(&why.rungs);
    if !pays.is_empty() {
        text.push_str("\nwhat would pay most, by the model\n\n");
    }
    for one in pays {
        text += &screen.wrap_foreign(&one.text);
        text += &one.line.map_or_else(String::new, |line| {
            format!("  {}\n", line.command(&one.what))
        });
    }
    let notes: String = notes(why)
        .iter()
        .map(|note| screen.wrap_foreign(note))
        .collect();
    text.push_str(&if notes.is_empty() {
        notes
    } else {
        format!("\n{notes}")
    });
    format::on_screen(&text, screen)
}

fn number(x: Option<f64>) -> String {
    x.map_or_else(|| "-".to_owned(), |x| format::significant(x, 3))
}

/// What else is to be known: rungs that were not counted, and notes on counts.
pub fn notes(why: &LadderReasons) -> Vec<String> {
    let mut all: Vec<(&str, Vec<&Row>)> = Vec::new();
    for rung in &why.rungs {
        let missing = rung.model.as_ref().err().copied().unwrap_or("");
        for note in [missing, &rung.note]
            .into_iter()
            .filter(|note| !note.is_empty())
        {
            match all.iter_mut().find(|(known, _)| *known == note) {
                Some((_, rows)) => rows.push(&rung.row),
                None => all.push((note, vec![&rung.row])),
            }
        }
    }
    let told = all
        .into_iter()
        .map(|(note, rows)| format!("{}: {note}", who(&rows, &[])));
    told.collect()
}

/// What the model is, below the last of the reasons.
pub fn model_text(is_gpu: bool, screen: Screen) -> String {
    format::on_screen(&screen.wrap(model(is_gpu)), screen)
}

pub fn model(is_gpu: bool) -> &'static str {
    match is_gpu {
        true => {
            "Model: launches with the start of their work and of groups, plus the longest of three: the family's limit, cache \
             lines of loads and words of scattered stores at their rates, and instructions plus passes of local memory with \
             what few warps wait for loads. It ignores registers and cache misses."
        }
        false => {
            "Model: launches with the start of their work and of groups, plus what the family's limit takes, plus the longer of two: \
             loads of items that jump over their neighbours, and the items' instructions. Warps, segments and banks mean \
             nothing on a CPU."
        }
    }
}

pub fn part(part: TimePart, row: &Row) -> &'static str {
    match part {
        TimePart::Launches => "launches",
        TimePart::Limit if row.bound().is_some_and(Bound::is_memory) => "memory",
        TimePart::Limit => "arithmetic",
        TimePart::Caches => "accesses in the caches",
        TimePart::Local => "local memory",
        TimePart::Instructions => "instructions",
        TimePart::Divisions => "integer divisions",
        TimePart::Waits => "waits for loads",
        TimePart::Groups => "starts of groups",
    }
}

/// `1.36 times faster`, or slower.
pub(crate) fn faster(gain: f64) -> String {
    let word = if gain >= 1.0 { "faster" } else { "slower" };
    format!(
        "{} times {word}",
        format::significant(gain.max(1.0 / gain), 3)
    )
}

/// Why a ladder on this device has no reasons where no limit was measured of something, and what mends it.
pub fn without_limit(missing: &str, device: &str) -> String {
    let device = format::device(device);
    format!(
        "no reasons: no limit was recorded for {missing} on {device} with these rows: run gpulab ceiling there and measure \
         again, or name the file of gpulab ceiling --csv FILE from there, too"
    )
}

pub fn sentence(before: &Row, after: &Row, gain: f64, reason: &StepReason) -> String {
    let step = format!("{} to {}", short_label(before), short_label(after));
    if before.is_tuned() != after.is_tuned() {
        return format!(
            "{step}: not compared: only one of the two has tuned settings (--no-tuned: both defaults)"
        );
    }
    let gained = faster(gain);
    match reason {
        StepReason::Undecided(clear) => {
            let drift = before.drift().max(after.drift());
            let unsteady = if drift > 1.0 {
                "the device was unsteady: "
            } else {
                ""
            };
            let least = if drift.is_finite() {
                format!(" under {}", format::percent(clear - 1.0))
            } else {
                String::new()
            };
            format!("{step}: undecided: {unsteady}differences{least} cannot be seen in this run")
        }
        StepReason::Uncounted => format!("{step}, {gained}"),
        StepReason::Unexplained(predicted) => {
            format!(
                "{step}, {gained}: the counts do not explain it: by the model, {}",
                faster(*predicted)
            )
        }
        StepReason::Explained {
            predicted, change, ..
        } => {
            format!(
                "{step}, {gained}: {} (by the model, {})",
                changed(change),
                faster(*predicted)
            )
        }
    }
}

/// What a modelled step gains, and the count that makes the difference, if one does.
pub fn of_pair(gain: f64, reason: &StepReason) -> String {
    match reason {
        StepReason::Explained { change, .. } => format!("{}: {}", faster(gain), changed(change)),
        _ => faster(gain),
    }
}

/// `passes per request of local memory fell from 2.55 to 1`.
fn changed(change: &CountChange) -> String {
    let (each, several) = if change.is_of_pairs {
        ("per pair", "pairs")
    } else {
        ("per element", "elements")
    };
    let what = match change.cause {
        Cause::Launches => "launches".to_owned(),
        Cause::Groups => "groups".to_owned(),
        Cause::Bytes => "bytes that the problem demands".to_owned(),
        Cause::ReadLines => "cache lines per load from global memory".to_owned(),
        Cause::ReadSegments => "segments per load from global memory".to_owned(),
        Cause::WriteSegments => "segments per store to global memory".to_owned(),
        Cause::JumpingBytes => {
            format!("bytes {each} that items load in jumps over their neighbours")
        }
        Cause::GlobalRequests => format!("requests of global memory for 32 {several}"),
        Cause::LocalRequests => format!("requests of local memory for 32 {several}"),
        Cause::LocalPasses => "passes per request of local memory".to_owned(),
        Cause::Divisions => format!("integer divisions of a warp for 32 {several}"),
        Cause::Waits => format!("waits of a warp for loads, for 32 {several},"),
        Cause::Instructions => format!("instructions {each}"),
        Cause::LanesBusy => "the share of busy lanes".to_owned(),
    };
    let verb = if change.after < change.before {
        "fell"
    } else {
        "rose"
    };
    let [before, after] = [change.before, change.after].map(|x| match change.cause {
        Cause::LanesBusy => format::percent(x),
        Cause::Launches | Cause::Groups => format!("{x:.0}"),
        _ => format::significant(x, 3),
    });
    format!("{what} {verb} from {before} to {after}")
}

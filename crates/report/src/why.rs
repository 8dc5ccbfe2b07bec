//! Why a ladder's steps pay or do not, as text: predictions beside measurements, and a sentence for each step.

use super::groups::groups;
use super::payoff;
use super::rungs::{range, short_label, who};
use crate::prelude::*;
use gpulab_kernels::Bound;
use gpulab_study::why::{
    Cause, CountChange, DIFFERENT, LadderReasons, Parting, RungTime, StepReason, TimePart, is_parted,
};

/// The reasons of a ladder's steps, without what the model is.
pub fn text(why: &LadderReasons, is_gpu: bool, screen: Screen) -> String {
    let wrap = |line: String| format::wrap(&format::terminal(&line), screen.width, "  ");
    if why.rungs.is_empty() {
        return format::on_screen("why: no rung has a time, so there is nothing to explain\n", screen);
    }
    let steps = why.rungs.windows(2).zip(&why.steps);
    let steps = steps.map(|(pair, (gain, reason))| wrap(sentence(&pair[0].row, &pair[1].row, *gain, reason)));
    let mut text = String::from("why, by counts of the kernels and measured limits of the device\n\n");
    text.push_str(&table(&why.rungs, screen));
    text.push('\n');
    text.extend(steps);
    let pays = payoff::of_ladder(&why.rungs);
    if !pays.is_empty() {
        text.push_str("\nwhat would pay most, by the model\n\n");
    }
    for (sentence, moment) in pays {
        text += &wrap(sentence);
        text += &moment.map_or_else(String::new, |moment| format!("  {}\n", moment.command()));
    }
    let notes: String = notes(why, is_gpu).into_iter().map(wrap).collect();
    text.push_str(&if notes.is_empty() { notes } else { format!("\n{notes}") });
    format::on_screen(&text, screen)
}

/// What else is to be known: rungs that take longer than the model says, rungs that were not counted, and notes on counts.
pub fn notes(why: &LadderReasons, is_gpu: bool) -> Vec<String> {
    let uncounted =
        why.rungs.iter().filter_map(|rung| Some(format!("{}: {}", short_label(&rung.row), rung.model.as_ref().err()?)));
    let mut notes: Vec<&str> =
        why.rungs.iter().map(|rung| rung.note.as_str()).filter(|text| !text.is_empty()).collect();
    notes.dedup();
    let notes = notes.into_iter().map(|note| {
        let rows: Vec<&Row> = why.rungs.iter().filter(|rung| rung.note == note).map(|rung| &rung.row).collect();
        format!("{}: {note}", who(&rows, &[]))
    });
    partings(&why.rungs, is_gpu).into_iter().chain(uncounted).chain(notes).collect()
}

/// What the model is, below the last of the reasons.
pub fn model_text(is_gpu: bool, screen: Screen) -> String {
    format::on_screen(&format::wrap(model(is_gpu), screen.width, "  "), screen)
}

pub fn model(is_gpu: bool) -> &'static str {
    match is_gpu {
        true => {
            "Model: launches with the start of their work, plus the longest of three: the family's limit, cache lines of \
             loads and words of scattered stores at their rates, and instructions plus passes of local memory, or the \
             longer of both where barriers are far apart. Few warps work as fast as each does alone, and wait for their \
             loads. The starts of groups are beside it, as the other side of a right angle. The model ignores registers \
             and cache misses."
        }
        false => {
            "Model: launches with the start of their work, plus what the family's limit takes, plus the longer of two: loads of \
             items that jump over their neighbours, and the items' instructions, on vectors where the kernel has them or \
             operations set the limit. The starts of groups are beside it. Warps, segments and banks mean nothing on a CPU."
        }
    }
}

fn table(rungs: &[RungTime], screen: Screen) -> String {
    let (unit, scale) = format::time_unit(rungs.iter().map(|rung| rung.measured));
    let number = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format::significant(x, 3));
    TextGrid::of(rungs)
        .texts("rung", |rung| label(&rung.row))
        .numbers(format!("measured\n{unit}"), |rung| number(Some(rung.measured / scale)))
        .numbers(format!("model\n{unit}"), |rung| number(rung.model_time().map(|model| model.whole() / scale)))
        .numbers("measured\nover model", |rung| number(rung.over_model()))
        .dropped(1)
        .texts("mostly", |rung| rung.model_time().map_or("", |model| part(model.largest(), &rung.row)).to_owned())
        .dropped(2)
        .grid()
        .blocks(screen.width)
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
    let (factor, word) = if gain >= 1.0 { (gain, "faster") } else { (1.0 / gain, "slower") };
    format!("{} times {word}", format::significant(factor, 3))
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
        return format!("{step}: not compared: only one of the two has tuned settings (--no-tuned: both defaults)");
    }
    match reason {
        StepReason::Undecided(clear) => {
            let drift = before.drift().max(after.drift());
            let unsteady = if drift > 1.0 { "the device was unsteady: " } else { "" };
            let least = match drift.is_finite() {
                true => format!("differences under {} cannot be seen in this run", format::percent(clear - 1.0)),
                false => "differences cannot be seen in this run".to_owned(),
            };
            format!("{step}: undecided: {unsteady}{least}")
        }
        StepReason::Uncounted(why) => format!("{step}, {}: no reason: {why}", faster(gain)),
        StepReason::Unexplained { at_limit: true, .. } => {
            let limit = part(TimePart::Limit, after);
            format!(
                "{step}, {}: the counts do not explain it: by the model, {limit} alone sets the time of both. How much is \
                 under way at once is not counted: {}",
                faster(gain),
                experiment(before, after, reason)
            )
        }
        StepReason::Unexplained { predicted, hidden, .. } => {
            let expects = match predicted.max(1.0 / predicted) < DIFFERENT {
                true => "no difference".to_owned(),
                false => faster(*predicted),
            };
            let hidden = hidden.as_ref().map_or_else(String::new, |change| {
                format!(
                    ". Yet {}, and the model takes each at the best rate that was measured, beside all else",
                    changed(change)
                )
            });
            format!(
                "{step}, {}: the counts do not explain it: by the model, {expects}{hidden}: {}",
                faster(gain),
                experiment(before, after, reason)
            )
        }
        StepReason::Explained { predicted, change, .. }
            if reason.carried(gain).is_some_and(|share| share < CARRIED) =>
        {
            format!(
                "{step}, {}: the counts explain a part of it, {}: {}. {} times are left: {}",
                faster(gain),
                faster(*predicted),
                changed(change),
                format::significant((gain / predicted).max(predicted / gain), 3),
                experiment(before, after, reason)
            )
        }
        StepReason::Explained { predicted, change, .. } if is_parted(gain, *predicted) => {
            format!(
                "{step}, {}: less than the counts predict, {}: {}",
                faster(gain),
                faster(*predicted),
                changed(change)
            )
        }
        StepReason::Explained { predicted, change, .. } => {
            format!("{step}, {}: {} (by the model, {})", faster(gain), changed(change), faster(*predicted))
        }
    }
}

/// The share of a step that its cause carries at least, where it counts as explained.
pub(crate) const CARRIED: f64 = 2.0 / 3.0;

/// What would tell the rest of a step: an experiment of what is most likely beside the counts.
pub(crate) fn experiment(before: &Row, after: &Row, reason: &StepReason) -> String {
    let is_lonely = |row: &Row| row.wg.is_some_and(|wg| wg.size() < 32);
    let cause = match reason {
        StepReason::Unexplained { hidden, .. } => hidden.as_ref().map(|change| change.cause),
        StepReason::Explained { change, .. } => Some(change.cause),
        _ => None,
    };
    let name = match cause {
        _ if is_lonely(before) != is_lonely(after) => "group",
        Some(Cause::LanesBusy) => "divergence",
        Some(Cause::LocalPasses | Cause::LocalRequests | Cause::PassesBetweenBarriers) => "banks",
        Some(
            Cause::ReadLines | Cause::ReadSegments | Cause::WriteSegments | Cause::JumpingBytes | Cause::GlobalRequests,
        ) => "stride",
        Some(Cause::Launches | Cause::Groups) => "launch",
        Some(Cause::Instructions | Cause::Divisions) => "instructions",
        Some(Cause::Waits) => "latency",
        _ if matches!(reason, StepReason::Unexplained { at_limit: false, .. }) => "latency",
        Some(Cause::Bytes) | None => "occupancy",
    };
    format!("gpulab lab {name} would tell")
}

/// `passes of a request of local memory fell from 2.55 to 1`.
pub(crate) fn changed(change: &CountChange) -> String {
    let (each, several) = if change.is_of_pairs { ("a pair", "pairs") } else { ("an element", "elements") };
    let what = match change.cause {
        Cause::Launches => "launches".to_owned(),
        Cause::Groups => "groups".to_owned(),
        Cause::Bytes => "bytes that the problem demands".to_owned(),
        Cause::ReadLines => "cache lines of a load from global memory".to_owned(),
        Cause::ReadSegments => "segments of a load from global memory".to_owned(),
        Cause::WriteSegments => "segments of a store to global memory".to_owned(),
        Cause::JumpingBytes => format!("bytes {each} that items load in jumps over their neighbours"),
        Cause::GlobalRequests => format!("requests of global memory for 32 {several}"),
        Cause::LocalRequests => format!("requests of local memory for 32 {several}"),
        Cause::LocalPasses => "passes of a request of local memory".to_owned(),
        Cause::PassesBetweenBarriers => "passes of local memory by a warp between two barriers".to_owned(),
        Cause::Divisions => format!("integer divisions of a warp for 32 {several}"),
        Cause::Waits => format!("waits of a warp for loads, for 32 {several},"),
        Cause::Instructions => format!("instructions {each}"),
        Cause::LanesBusy => "the share of busy lanes".to_owned(),
    };
    let verb = if change.after < change.before { "fell" } else { "rose" };
    let number = |x: f64| match change.cause {
        Cause::LanesBusy => format::percent(x),
        Cause::Launches | Cause::Groups => format!("{x:.0}"),
        _ => format::significant(x, 3),
    };
    format!("{what} {verb} from {} to {}", number(change.before), number(change.after))
}

/// Of the rungs whose times and the model's part, by how much, and what that points to: a sentence for each thing.
fn partings(rungs: &[RungTime], is_gpu: bool) -> Vec<String> {
    let found = rungs.iter().filter_map(|rung| Some((rung.parting(is_gpu)?, &rung.row, rung.over_model()?)));
    let found = groups(&found.collect::<Vec<_>>(), |(parting, ..)| *parting);
    found.iter().map(|own| parted(own[0].0, own)).collect()
}

fn parted(parting: Parting, own: &[(Parting, &Row, f64)]) -> String {
    let (rows, over): (Vec<&Row>, Vec<f64>) = own.iter().map(|&(_, row, over)| (row, over)).unzip();
    let number = |x: f64| format::significant(x, 3);
    let verb = |one: &'static str, several: &'static str| if rows.len() == 1 { one } else { several };
    let times = match over.iter().all(|over| *over >= 1.0) {
        true => format!("{} {} times the model's time", verb("takes", "take"), range(&over, number)),
        false => {
            let under: Vec<f64> = over.iter().map(|over| 1.0 / over).collect();
            format!("{} {} times as fast as the model", verb("is", "are"), range(&under, number))
        }
    };
    let points = match parting {
        Parting::LonelyItems => "groups smaller than a warp, which leave lanes idle and hide no latency",
        Parting::Scattered => "scattered accesses, for which caches are slower than measured for neighbouring ones",
        Parting::Barriers => "latency: items wait at barriers",
        Parting::ItemByItem => "caches: a core runs one item after the other, each over addresses of its own",
        Parting::Latency => "latency, or caches that miss, which counts do not see",
        Parting::Registers => "registers: the device's compiler unrolls loops that the simulator's leaves in memory",
        Parting::Vectors => "vectors: the driver's compiler works on several items at once",
        Parting::Overlap => {
            "overlap, caches, or instructions of the device's own: more happens at once than the model assumes"
        }
    };
    format!("{} {times}, which points to {points}", who(&rows, &[]))
}

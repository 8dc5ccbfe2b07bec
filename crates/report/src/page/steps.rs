//! The same step on several devices: a table with a row for each rung and a column for each device.

use super::material::{PageMaterial, RecordedFolder};
use crate::format;
use crate::groups::{groups, ladders, of_most_rungs};
use crate::picture::number;
use gpulab_record::Row;
use gpulab_record::compare::{LadderDevice, LadderSteps, RatioInterval, steps};
use maud::{Markup, html};

/// The step whose effect differs most between two devices.
pub(super) fn heading(material: &PageMaterial<'_>) -> String {
    let mut most: Option<(f64, String)> = None;
    for LadderSteps { family, devices, rungs, .. } in &steps(&told_apart(material)) {
        for (at, name, gains) in rungs {
            let decided = || gains.iter().zip(devices).filter_map(|(gain, device)| Some((gain.as_ref()?, device)));
            let decided = || decided().filter(|(gain, _)| !is_open(gain));
            let best = decided().max_by(|a, b| a.0.ratio.total_cmp(&b.0.ratio));
            let worst = decided().min_by(|a, b| a.0.ratio.total_cmp(&b.0.ratio));
            let Some(((best, on), (worst, off))) = best.zip(worst) else { continue };
            let apart = best.ratio / worst.ratio;
            if best.ratio > 1.0 && worst.ratio < 1.0 && most.as_ref().is_none_or(|(known, _)| apart > *known) {
                let text = format!(
                    "{family} v{at} {name} is {} times faster than the rung before on {}, {} times slower on {}",
                    number::value(best.ratio),
                    format::device(&on.device),
                    number::value(1.0 / worst.ratio),
                    format::device(&off.device)
                );
                most = Some((apart, format::terminal(&text)));
            }
        }
    }
    most.map_or_else(|| "The same step on each device".to_owned(), |(_, text)| text)
}

/// A table for each ladder that ran on two devices or more.
pub(super) fn matrix(material: &PageMaterial<'_>) -> Option<Markup> {
    let all: Vec<LadderSteps> = steps(&told_apart(material)).into_iter().filter_map(of_those_with_a_step).collect();
    (!all.is_empty()).then(|| html! {
        p.quiet { "Gain of each rung over the rung before it. The deeper the blue, the more; red is slower; a question mark: noise or an unsteady device may make the gain." }
        @for ladder in &all { (table(ladder)) }
    })
}

/// Without the devices that have no step of it; nothing where fewer than two are left.
fn of_those_with_a_step(mut ladder: LadderSteps) -> Option<LadderSteps> {
    let has_step: Vec<bool> =
        (0..ladder.devices.len()).map(|at| ladder.rungs.iter().any(|(_, _, gains)| gains[at].is_some())).collect();
    let mut kept = has_step.iter();
    ladder.devices.retain(|_| kept.next() == Some(&true));
    for (_, _, gains) in &mut ladder.rungs {
        let mut kept = has_step.iter();
        gains.retain(|_| kept.next() == Some(&true));
    }
    (ladder.devices.len() > 1).then_some(ladder)
}

/// One ladder of each case on each device, that of the most rungs; names of machines with that of their folder where several
/// folders have the same one.
fn told_apart(material: &PageMaterial<'_>) -> Vec<Row> {
    let short = |row: &Row| (row.platform.clone(), format::device(&row.device));
    let holds = |folder: &RecordedFolder, row: &Row| folder.rows.iter().any(|other| short(other) == short(row));
    let is_shared = |row: &Row| material.folders.iter().filter(|folder| holds(folder, row)).count() > 1;
    material
        .folders
        .iter()
        .flat_map(|folder: &RecordedFolder| {
            let mut rows = whole_ladders(&folder.rows);
            let mut shared: Vec<((String, String), bool)> = Vec::new();
            for row in &mut rows {
                let name = short(row);
                let known = shared.iter().find(|(known, _)| *known == name).map(|(_, is_shared)| *is_shared);
                let is_shared = known.unwrap_or_else(|| is_shared(row));
                if known.is_none() {
                    shared.push((name, is_shared));
                }
                if is_shared {
                    row.device = format!("{}, {}", row.device, folder.name);
                }
            }
            rows
        })
        .collect()
}

/// Of each family on each device the ladders of the most rungs: for large problems slow rungs are left out, and a step needs
/// both. Of several of the same size the first.
fn whole_ladders(rows: &[Row]) -> Vec<Row> {
    let first = |rows: &Vec<Row>| rows.iter().find(|row| !row.on_host()).cloned();
    let key = |rows: &Vec<Row>| first(rows).map(|r| (r.platform, r.device, r.family, r.dtype, r.cache));
    let size = |rows: &Vec<Row>| first(rows).map(|row| (row.n, row.m));
    let of_sizes =
        |same: Vec<Vec<Row>>| groups(&of_most_rungs(same), size).into_iter().filter_map(|own| own.into_iter().next());
    let has_step =
        |rows: &Vec<Row>| rows.iter().filter(|row| row.rung.is_some() && row.t_median_s.is_some()).count() > 1;
    let kept = groups(&ladders(rows), key).into_iter().flat_map(of_sizes).filter(has_step);
    kept.flatten().filter(|row| !row.on_host()).collect()
}

fn table(ladder: &LadderSteps) -> Markup {
    let LadderSteps { family, dtype, cache, devices, rungs } = ladder;
    html! {
        h3 { (format::terminal(family)) " " span.quiet { (dtype) ", " (cache.name()) " cache" } }
        div.scroll tabindex="0" { table.matrix {
            thead { tr { th scope="col" { "rung" } @for device in devices { th scope="col" { (head(device)) } } } }
            tbody { @for (number, name, gains) in rungs { tr {
                th scope="row" { "v" (number) " " (format::terminal(name)) }
                @for gain in gains { td class=[gain.as_ref().map(class)] {
                    @if let Some(gain) = gain { (number::value(gain.ratio)) @if is_open(gain) { " ?" } } @else { "–" }
                } }
            } } }
        } }
    }
}

fn head(device: &LadderDevice) -> Markup {
    let size = if device.m == 1 {
        format::count(device.n)
    } else {
        format!("{} × {}", format::count(device.n), format::count(device.m))
    };
    html! { (format::terminal(&format::device(&device.device))) br; span.quiet { (format::terminal(&device.platform)) ", n = " (size) } }
}

fn is_open(gain: &RatioInterval) -> bool {
    gain.low < 1.0 && gain.high > 1.0
}

fn class(gain: &RatioInterval) -> &'static str {
    match gain.ratio {
        _ if is_open(gain) => "g-open",
        ratio if ratio < 1.0 => "g-loss",
        ratio if ratio < 1.25 => "g1",
        ratio if ratio < 2.0 => "g2",
        ratio if ratio < 4.0 => "g3",
        _ => "g4",
    }
}

//! The same step on several devices: a table with a row for each rung and a column for each device.

use super::{PageMaterial, RecordedFolder};
use crate::compare::{LadderDevice, LadderSteps, RatioInterval, steps};
use crate::record::Row;
use crate::report::format;
use crate::report::picture::number;
use maud::{Markup, html};

/// A table for each ladder that ran on two devices or more.
pub(super) fn matrix(material: &PageMaterial) -> Option<Markup> {
    let all = steps(&told_apart(material));
    (!all.is_empty()).then(|| html! {
        p.quiet { "Gain of each rung over the rung before it. The deeper the blue, the more; red is slower; a question mark: the noise is larger than the gain." }
        @for ladder in &all { (table(ladder)) }
    })
}

/// All rows; of machines that have the same name, the name with that of their folder.
fn told_apart(material: &PageMaterial) -> Vec<Row> {
    let holds = |folder: &RecordedFolder, device: &str| folder.rows.iter().any(|row| row.device == device);
    let is_shared = |device: &str| material.folders.iter().filter(|folder| holds(folder, device)).count() > 1;
    let of_folder = |folder: &RecordedFolder| {
        let mut rows = folder.rows.clone();
        let mut names: Vec<String> = rows.iter().map(|row| row.device.clone()).collect();
        names.sort_unstable();
        names.dedup();
        names.retain(|name| is_shared(name));
        for row in rows.iter_mut().filter(|row| names.contains(&row.device)) {
            row.device = format!("{}, {}", row.device, folder.name);
        }
        rows
    };
    material.folders.iter().flat_map(of_folder).collect()
}

fn table(ladder: &LadderSteps) -> Markup {
    let LadderSteps { family, dtype, devices, rungs, .. } = ladder;
    html! {
        h3 { (format::terminal(family)) " on " (dtype) }
        div.scroll tabindex="0" { table.matrix {
            thead { tr { th scope="col" { "rung" } @for device in devices { th scope="col" { (head(device)) } } } }
            tbody { @for (number, name, gains) in rungs { tr {
                th scope="row" { "v" (number) " " (format::terminal(name)) }
                @for gain in gains { td class=[gain.as_ref().map(class)] { (told(gain.as_ref())) } }
            } } }
        } }
    }
}

fn head(device: &LadderDevice) -> Markup {
    let size = if device.m == 1 { number::count(device.n) } else { format!("{} × {}", device.n, device.m) };
    html! { (format::device(&device.device)) br; span.quiet { (format::terminal(&device.platform)) ", n = " (size) } }
}

fn is_open(gain: &RatioInterval) -> bool {
    gain.low < 1.0 && gain.high > 1.0
}

/// The shade of a gain.
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

fn told(gain: Option<&RatioInterval>) -> String {
    let Some(gain) = gain else { return "–".to_owned() };
    format!("{}{}", number::value(gain.ratio), if is_open(gain) { " ?" } else { "" })
}

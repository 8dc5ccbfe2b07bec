//! What a device does at best as text for a terminal.

use super::format::{self, Tint};
use super::ladder::render;
use super::view::{Grid, status_word};
use crate::ceilings::{CeilingRow, Place};
use crate::record::flag;
use crate::runner::Status;
use crate::values::binary;

/// The ceilings of one device, the curves over size below the others, and remarks.
pub fn text(rows: &[CeilingRow]) -> String {
    let Some(first) = rows.first() else { return "nothing was measured\n".to_owned() };
    let CeilingRow { device, platform, driver, .. } = first;
    let mut text = format::terminal(&format!("ceilings of {device} ({platform}, {driver}), {}", when(rows))) + "\n";
    let (curve, single): (Vec<&CeilingRow>, Vec<&CeilingRow>) = rows.iter().partition(|r| r.place == Place::Curve);
    for table in [table(&single), curves(&curve)] {
        if !table.is_empty() {
            text.push('\n');
            text.push_str(&table);
        }
    }
    let notes = notes(rows);
    if notes.is_empty() { text } else { text + "\n" + &notes }
}

/// `measured at 2026-01-02T03:04:05Z`, from the first to the last.
fn when(rows: &[CeilingRow]) -> String {
    let times = || rows.iter().map(|r| r.time_utc.as_str());
    let (first, last) = (times().min().unwrap_or_default(), times().max().unwrap_or_default());
    if first == last { format!("measured at {first}") } else { format!("measured from {first} to {last}") }
}

fn table(rows: &[&CeilingRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let header = ["what", "best", "unit", "spread", "tried", "shape"].map(str::to_owned).to_vec();
    let line = |row: &&CeilingRow| {
        let best = row.value.map_or_else(|| status_word(row.status).to_owned(), |value| format::significant(value, 4));
        let spread = row.noise.map_or_else(|| "-".to_owned(), format::percent);
        vec![name(row), best, row.unit.clone(), spread, row.tried.to_string(), shape(row)]
    };
    let tints = rows.iter().map(|r| if r.status == Status::Ok { Tint::Green } else { Tint::Yellow });
    render(&Grid { header, rows: rows.iter().map(line).collect(), tints: tints.collect() }, false)
}

/// `add-min f32, either sign`.
fn name(row: &CeilingRow) -> String {
    let size = row.bytes.map(|bytes| format!(", {}", binary(bytes))).unwrap_or_default();
    match row.place {
        Place::Memory => format!("{}, memory{size}", row.what),
        Place::Cache => format!("{}, cache{size}", row.what),
        Place::Curve | Place::Unit => format!("{} {}", row.what, row.element).trim_end().to_owned(),
        Place::Signed => format!("{} {}, either sign", row.what, row.element),
        Place::Host => format!("{}{size}", row.what),
    }
}

/// `read/strided wg 256 loads=4`.
fn shape(row: &CeilingRow) -> String {
    if row.value.is_none() {
        return format::shorten(row.reason.trim(), 60);
    }
    format!("{} wg {} {}", row.probe, row.wg, row.params).trim_end().to_owned()
}

/// A line for each size, a column for each curve.
fn curves(rows: &[&CeilingRow]) -> String {
    let mut whats: Vec<&str> = rows.iter().map(|r| r.what.as_str()).collect();
    whats.dedup();
    let mut sizes: Vec<u64> = rows.iter().filter_map(|r| r.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.is_empty() {
        return String::new();
    }
    let cell = |bytes: u64, what: &str| match rows.iter().find(|r| r.bytes == Some(bytes) && r.what == what) {
        Some(CeilingRow { value: Some(value), .. }) => format::significant(*value, 4),
        Some(row) => status_word(row.status).to_owned(),
        None => "-".to_owned(),
    };
    let line =
        |&bytes: &u64| std::iter::once(binary(bytes)).chain(whats.iter().map(|what| cell(bytes, what))).collect();
    let header = std::iter::once("GB/s by size".to_owned()).chain(whats.iter().map(|&what| what.to_owned())).collect();
    render(&Grid { header, rows: sizes.iter().map(line).collect(), tints: vec![Tint::Green; sizes.len()] }, false)
}

/// What needs care, and why quantities have no value.
fn notes(rows: &[CeilingRow]) -> String {
    let note = |is_meant: &dyn Fn(&CeilingRow) -> bool, text: &str| {
        let meant: Vec<String> = rows.iter().filter(|r| r.place != Place::Curve && is_meant(r)).map(name).collect();
        if meant.is_empty() { String::new() } else { format!("note: {}: {text}\n", meant.join("; ")) }
    };
    let mut text = [
        note(
            &|r| r.value.is_some() && (r.has_flag(flag::NOISY) || r.has_flag(flag::DRIFT)),
            "the machine was not quiet: measure again before it is trusted",
        ),
        note(&|r| r.value.is_some() && !r.reason.is_empty(), "timed by another clock than the driver's events"),
        note(&|r| r.quick, "measured quickly: a full search may find more"),
    ]
    .concat();
    for row in rows.iter().filter(|r| r.value.is_none()) {
        let size = if row.place == Place::Curve { row.bytes.map(binary) } else { None };
        let who = [name(row), size.unwrap_or_default(), status_word(row.status).to_owned()].join(" ");
        text.push_str(&format!("{}:\n{}", format::terminal(&who), format::block(&row.reason, "  ")));
    }
    format::block(&text, "")
}

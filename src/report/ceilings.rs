//! What a device does at best as text for a terminal.

use super::format::{self, Tint};
use super::ladder::render;
use super::view::{TextTable, status_word};
use crate::ceilings::{CeilingRow, Site};
use crate::plan::REPEATS;
use crate::record::flag;
use crate::runner::Status;
use crate::values::binary;

/// The ceilings of one device, the curves over size below the others, and remarks.
pub fn text(rows: &[CeilingRow]) -> String {
    let Some(first) = rows.first() else { return "nothing was measured\n".to_owned() };
    let CeilingRow { device, platform, driver, .. } = first;
    let tried: u64 = rows.iter().map(|r| r.tried).sum();
    let mut text = format::terminal(&format!("ceilings of {device} ({platform}, {driver})")) + "\n";
    text.push_str(&format::terminal(&format!("{}; {tried} shapes tried", when(rows))));
    text.push('\n');
    let (curve, single): (Vec<&CeilingRow>, Vec<&CeilingRow>) = rows.iter().partition(|r| r.place == Site::Curve);
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
    let header = ["what", "best", "unit", "spread", "shape"].map(str::to_owned).to_vec();
    let line = |row: &&CeilingRow| {
        let best = row.value.map_or_else(|| status_word(row.status).to_owned(), |value| format::significant(value, 4));
        let spread = row.noise.map_or_else(|| "-".to_owned(), format::percent);
        vec![name(row), best, row.unit.clone(), spread, format::shorten(&shape(row), MOST_SHAPE)]
    };
    let tints = rows.iter().map(|r| if r.status == Status::Ok { Tint::Green } else { Tint::Yellow });
    render(&TextTable { header, rows: rows.iter().map(line).collect(), tints: tints.collect() }, false)
}

/// Characters of a shape in the table, so that it is 100 wide at most; a longer one is told below it.
const MOST_SHAPE: usize = 45;

/// `add-min f32, either sign`.
fn name(row: &CeilingRow) -> String {
    let size = row.bytes.map(|bytes| format!(", {}", binary(bytes))).unwrap_or_default();
    match row.place {
        Site::Memory => format!("{}, memory{size}", row.what),
        Site::Cache => format!("{}, cache{size}", row.what),
        Site::Curve | Site::Unit => format!("{} {}", row.what, row.element).trim_end().to_owned(),
        Site::Signed => format!("{} {}, either sign", row.what, row.element),
        Site::Host => format!("{}{size}", row.what.replace("the ", "")),
    }
}

/// `read/strided wg 256 loads=4`. How often a kernel repeats its work, which no search varies, is left to files.
fn shape(row: &CeilingRow) -> String {
    if row.value.is_none() {
        return row.reason.trim().to_owned();
    }
    let is_repeats = |param: &&str| [REPEATS, "sweeps"].contains(&param.split('=').next().unwrap_or_default());
    let params: Vec<&str> = row.params.split(' ').filter(|param| !is_repeats(param)).collect();
    format!("{} wg {} {}", row.probe, row.wg, params.join(" ")).trim_end().to_owned()
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
    render(&TextTable { header, rows: sizes.iter().map(line).collect(), tints: vec![Tint::Green; sizes.len()] }, false)
}

/// What needs care, and why quantities have no value.
fn notes(rows: &[CeilingRow]) -> String {
    let single: Vec<&CeilingRow> = rows.iter().filter(|r| r.place != Site::Curve).collect();
    let note = |is_meant: &dyn Fn(&CeilingRow) -> bool, text: &str| {
        let selected: Vec<&CeilingRow> = single.iter().copied().filter(|r| is_meant(r)).collect();
        if selected.is_empty() { String::new() } else { format!("note: {}: {text}\n", who(&selected, single.len())) }
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
    for row in single.iter().filter(|r| r.value.is_some() && shape(r).chars().count() > MOST_SHAPE) {
        text.push_str(&format!("note: the shape of {}: {}\n", name(row), shape(row)));
    }
    for row in rows.iter().filter(|r| r.value.is_none()) {
        let size = if row.place == Site::Curve { row.bytes.map(binary) } else { None };
        let who = [name(row), size.unwrap_or_default(), status_word(row.status).to_owned()].join(" ");
        text.push_str(&format!("{}:\n{}", format::terminal(&who), format::block(&row.reason, "  ")));
    }
    format::block(&text, "")
}

/// Ceilings that a note lists by name.
const MOST_NAMES: usize = 5;

/// `fma f32; add f32`, `all 23`, or the first few `and 7 more`.
fn who(selected: &[&CeilingRow], all: usize) -> String {
    if all > 1 && selected.len() == all {
        return format!("all {all}");
    }
    let names: Vec<String> = selected.iter().take(MOST_NAMES).map(|r| name(r)).collect();
    let more = selected.len() - names.len();
    names.join("; ") + &if more > 0 { format!("; and {more} more") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ceilings that were recorded.
    fn recorded(name: &str) -> Vec<CeilingRow> {
        let path = format!("{}/data/results/{name}/ceilings.csv", env!("CARGO_MANIFEST_DIR"));
        csv::Reader::from_path(path).unwrap().deserialize().map(Result::unwrap).collect()
    }

    #[test]
    fn tables_are_a_hundred_columns_wide_at_most() {
        for name in ["pocl-epyc-2", "intel-epyc-2", "nvidia-h200"] {
            let rows = recorded(name);
            let text = text(&rows);
            for line in text.lines().skip(3).filter(|line| !line.starts_with("note")) {
                assert!(line.chars().count() <= 100, "{name}: {line}");
            }
            let tried: u64 = rows.iter().map(|r| r.tried).sum();
            assert!(text.contains(&format!("; {tried} shapes tried\n")), "{text}");
            for row in rows.iter().filter(|r| r.place != Site::Curve) {
                assert!(text.contains(&shape(row)), "{name}: {} is not told", shape(row));
            }
        }
    }

    #[test]
    fn notes_name_all_of_them_or_a_few() {
        let mut rows = recorded("pocl-epyc-2");
        rows.retain(|r| r.place == Site::Unit && r.what != "local");
        for row in &mut rows {
            (row.quick, row.flags, row.reason, row.params) = (true, String::new(), String::new(), String::new());
        }
        assert_eq!(notes(&rows), format!("note: all {}: measured quickly: a full search may find more\n", rows.len()));
        rows[0].quick = false;
        let rest = rows.len() - 1 - MOST_NAMES;
        let few = "add f32; min f32; add-min f32; fma i32; add i32";
        assert!(notes(&rows).starts_with(&format!("note: {few}; and {rest} more: measured")), "{}", notes(&rows));
        rows[6..].iter_mut().for_each(|r| r.quick = false);
        assert!(notes(&rows).starts_with(&format!("note: {few}: measured")), "{}", notes(&rows));
        assert!(notes(&rows[1..2]).starts_with("note: add f32: "), "of one there is no all");
    }
}

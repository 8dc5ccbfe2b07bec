//! What a device does at best as text for a terminal.

use super::groups::groups;
use super::view::status_word;
use crate::format::{self, Screen};
use crate::table::Table;
use gpulab_kernels::values::binary;
use gpulab_model::Joined;
use gpulab_model::plan::REPEATS;
use gpulab_record::params_text;
use gpulab_study::ceilings::CeilingRow;
use gpulab_study::ceilings::Site;

/// What there is to say of limits that were measured beside other load.
pub(super) const UNQUIET: &str =
    "measured on a busy machine, so perhaps off: gpulab ceiling measures again";

/// The ceilings of one device, the curves over size below the others, and notes.
pub fn text(rows: &[CeilingRow], screen: Screen) -> String {
    let Some(first) = rows.first() else {
        return "nothing was measured\n".to_owned();
    };
    let CeilingRow {
        device,
        platform,
        driver,
        ..
    } = first;
    let tried = rows
        .iter()
        .fold(0, |sum: u64, row| sum.saturating_add(row.tried));
    let device = format::device(device);
    let head = [
        format!("ceilings of {device} ({platform}, {driver})"),
        format!("{}; {tried} shapes tried", when(rows)),
    ];
    let mut text: String = head.iter().map(|line| screen.wrap_foreign(line)).collect();
    let curve: Vec<&CeilingRow> = rows.iter().filter(|row| row.place == Site::Curve).collect();
    let single: Vec<&CeilingRow> = rows.iter().filter(|row| row.place != Site::Curve).collect();
    // A table for each unit, in the order of the units' first rows.
    for own in groups(&single, |row| row.unit.as_str()) {
        let noise = own.iter().map(|row| {
            row.noise
                .map_or_else(|| "-".to_owned(), |noise| format!("{:.1}%", 100.0 * noise))
        });
        let grid = Table::default()
            .texts("what", own.iter().map(|row| name(row)))
            .numbers(own[0].unit.as_str(), own.iter().map(|row| value(row)))
            .numbers("noise", noise)
            .texts(
                "shape",
                own.iter()
                    .map(|row| shape(row).lines().next().unwrap_or_default().to_owned()),
            );
        text += &format!("\n{}", grid.fitted(screen.width));
    }
    text += &curve_grid(&curve).map_or_else(String::new, |grid| {
        format!("\n{}", grid.blocks(screen.width))
    });
    let notes = notes(rows, screen);
    format::on_screen(
        &if notes.is_empty() {
            text
        } else {
            text + "\n" + &notes
        },
        screen,
    )
}

/// `measured at 2026-01-02T03:04:05Z`, from the first to the last.
pub(super) fn when(rows: &[CeilingRow]) -> String {
    let times = rows.iter().map(|r| r.time_utc.as_str());
    let first = times.clone().min().unwrap_or_default();
    let last = times.max().unwrap_or_default();
    if first == last {
        format!("measured at {first}")
    } else {
        format!("measured from {first} to {last}")
    }
}

/// Four digits, or the word for what came in place of a value.
pub(super) fn value(row: &CeilingRow) -> String {
    row.value.map_or_else(
        || status_word(row.status).to_owned(),
        |value| format::significant(value, 4),
    )
}

/// `add-min f32, either sign`.
pub(super) fn name(row: &CeilingRow) -> String {
    let size = row
        .bytes
        .map(|bytes| format!(", {}", binary(bytes)))
        .unwrap_or_default();
    match row.place {
        Site::Memory => format!("{}, memory{size}", row.what),
        Site::Cache => format!("{}, cache{size}", row.what),
        Site::Alone => format!("{} by items alone", row.what),
        Site::Scattered => format!("{}, scattered words", row.what),
        Site::Word => format!("{}, one word", row.what),
        Site::Few => format!("{}, 256 words", row.what),
        Site::Group => format!("{}, local", row.what),
        Site::Strided => format!("{}, items in turns{size}", row.what),
        Site::Near => format!("{}, items in turns, cache{size}", row.what),
        Site::Warp => format!("{} {}, one warp", row.what, row.element),
        Site::Tree => format!("{} {}, trees of groups", row.what, row.element),
        Site::Curve | Site::Unit => format!("{} {}", row.what, row.element)
            .trim_end()
            .to_owned(),
        Site::Signed => format!("{} {}, either sign", row.what, row.element),
        Site::Host => format!("{}{size}", row.what.replace("the ", "")),
    }
}

/// `read/strided wg 256 loads=4`. How often a kernel repeats its work, which no search varies, is left to files.
pub(super) fn shape(row: &CeilingRow) -> String {
    if row.value.is_none() {
        return row.reason.trim().to_owned();
    }
    let mut params = row.params.clone();
    params.retain(|name, _| ![REPEATS, "sweeps"].contains(&name.as_str()));
    format!("{} wg {} {}", row.probe, row.wg, params_text(&params))
        .trim_end()
        .to_owned()
}

/// A line for each size, a column for each curve.
fn curve_grid(rows: &[&CeilingRow]) -> Option<Table> {
    let mut whats: Vec<&str> = rows.iter().map(|r| r.what.as_str()).collect();
    whats.dedup();
    let mut sizes: Vec<u64> = rows.iter().filter_map(|r| r.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.is_empty() {
        return None;
    }
    let mut grid = Table::default().texts("GB/s by size", sizes.iter().map(|bytes| binary(*bytes)));
    for what in whats {
        let of_size = sizes.iter().map(|bytes| {
            rows.iter()
                .find(|r| r.bytes == Some(*bytes) && r.what == what)
        });
        grid = grid.numbers(
            what,
            of_size.map(|row| row.map_or_else(|| "-".to_owned(), |row| value(row))),
        );
    }
    Some(grid)
}

/// What needs care, and why quantities have no value.
fn notes(rows: &[CeilingRow], screen: Screen) -> String {
    let single: Vec<&CeilingRow> = rows.iter().filter(|r| r.place != Site::Curve).collect();
    type Care = (fn(&CeilingRow) -> bool, &'static str);
    let cares: [Care; 3] = [
        (CeilingRow::is_unquiet, UNQUIET),
        (
            |r| r.value.is_some() && !r.reason.is_empty(),
            "timed by another clock than the driver's events",
        ),
        (|r| r.quick, "measured quickly: a full search may find more"),
    ];
    let mut text = String::new();
    for (is_meant, why) in cares {
        let meant: Vec<&CeilingRow> = single.iter().copied().filter(|row| is_meant(row)).collect();
        if !meant.is_empty() {
            let note = format::terminal(&format!("note: {}: {why}", who(&meant, single.len())));
            text += &screen.wrap(&note);
        }
    }
    for row in rows.iter().filter(|r| r.value.is_none()) {
        let size = if row.place == Site::Curve {
            row.bytes.map(binary)
        } else {
            None
        };
        let who = [
            name(row),
            size.unwrap_or_default(),
            status_word(row.status).to_owned(),
        ]
        .join(" ");
        text += &screen.wrap(&format!("{}:", format::terminal(&who)));
        text += &format::reason(&row.reason, "  ", screen.width);
    }
    text
}

/// `fma f32; add f32`, `all 23`, or the first few `and 7 more`.
pub(super) fn who(selected: &[&CeilingRow], all: usize) -> String {
    const MOST: usize = 5;
    if all > 1 && selected.len() == all {
        return format!("all {all}");
    }
    let names = selected.iter().take(MOST).map(|r| name(r)).joined("; ");
    let more = selected.len().saturating_sub(MOST);
    names
        + &if more > 0 {
            format!("; and {more} more")
        } else {
            String::new()
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden;

    fn recorded(name: &str) -> Vec<CeilingRow> {
        let path = format!(
            "{}/../../data/results/{name}/ceilings.csv",
            env!("CARGO_MANIFEST_DIR")
        );
        csv::Reader::from_path(path)
            .unwrap()
            .deserialize()
            .map(Result::unwrap)
            .collect()
    }

    const UNICODE: Screen = Screen {
        width: 160,
        unicode: true,
        color: false,
    };

    #[test]
    fn recorded_ceilings_fit_every_screen_and_columns_have_one_unit() {
        for name in ["pocl-epyc-2", "intel-epyc-2", "nvidia-h200"] {
            let rows = recorded(name);
            let screens = golden::at_all_widths(name, &|screen| text(&rows, screen));
            if name == "nvidia-h200" {
                golden::compare("ceilings", &screens);
            }
            let wide = text(&rows, UNICODE);
            let tried = rows
                .iter()
                .fold(0, |sum: u64, row| sum.saturating_add(row.tried));
            assert!(
                wide.contains(&format!("; {tried} shapes tried\n")),
                "{wide}"
            );
            for row in rows.iter().filter(|r| r.place != Site::Curve) {
                assert!(
                    wide.contains(&shape(row)),
                    "{name}: {} is not told",
                    shape(row)
                );
            }
        }
    }
}

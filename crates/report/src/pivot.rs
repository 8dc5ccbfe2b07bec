//! Ladders side by side: a line for each value of a column, a column for each rung.

use super::chosen::{ChosenColumn, lines};
use super::groups::{distinct, groups, tables};
use crate::prelude::*;
use gpulab_record::{COPY, Cells};
use std::cmp::Ordering;
use std::collections::HashMap;

/// Other programs' figures: a header, and lines.
pub type PeerCells = Vec<Vec<String>>;

pub struct Pivot<'a> {
    pub by: &'a ChosenColumn,
    pub value: &'a ChosenColumn,
    pub unit: RateUnit,
}

/// What figures of other programs say of the problem and of where it was measured.
const ABOUT: [&str; 5] = ["work", "dtype", "device", "threads", "clock"];

/// Columns of rows in which those of one cell may not differ: that would be several problems, or kernels, in it.
const TELLING: [&str; 10] = ["platform", "device", "driver", "dtype", "n", "m", "wg", "params", "cache", "clock"];

/// A cell's value: in which line and column it stands, and the row that it is from, where it is one of gpulab's.
struct PivotEntry<'a> {
    line: String,
    column: String,
    text: String,
    row: Option<&'a Row>,
}

impl Pivot<'_> {
    /// The table of ladders' rows, and of other programs' figures that have the same columns. Several runs of the same stand in
    /// one cell.
    pub fn text(&self, rows: &[Row], peers: &[PeerCells], medium: Medium) -> Result<String, String> {
        let rows: Vec<Row> = rows.iter().filter(|row| !row.on_host()).cloned().collect();
        let ladders = tables(&rows);
        let mut cells: Vec<Cell<'_>> = ladders.iter().flat_map(|rows| lines(rows, self.unit)).collect();
        // In the order of the ladder, references first and the copy before all.
        let families = distinct(cells.iter().map(|cell| cell.row.family.clone()));
        let family = |cell: &Cell<'_>| families.iter().position(|name| *name == cell.row.family);
        cells.sort_by_key(|cell| (family(cell), cell.row.rung, cell.row.variant != COPY));
        let name = |row: &Row| match families.len() {
            1 => label(row),
            _ => format!("{} {}", row.family, label(row)),
        };
        let by = self.by.name();
        let entries = cells.iter().filter_map(|cell| {
            let text = self.value.text(cell)?;
            Some(PivotEntry { line: Cells::of(cell.row).text(&by), column: name(cell.row), text, row: Some(cell.row) })
        });
        let mut entries: Vec<PivotEntry<'_>> = entries.collect();
        entries.extend(peers.iter().flat_map(|cells| of_peer(cells, &by, &self.value.name())));
        if let Some(why) = mixture(&cells, &by).or_else(|| clash(&entries, &by)) {
            return Err(why);
        }
        let title = self.title(&cells);
        Ok(titled(&title, grid(&entries, &by), medium))
    }

    /// `dot on NVIDIA H200, f32, cold cache: time by n`.
    fn title(&self, cells: &[Cell<'_>]) -> String {
        let each = |of: &dyn Fn(&Row) -> String| distinct(cells.iter().map(|cell| of(cell.row))).join(", ");
        let by = self.by.name();
        let devices =
            if by == "device" { String::new() } else { format!(" on {}", each(&|row| format::device(&row.device))) };
        let caches = each(&|row| Cells::of(row).text("cache"));
        let (families, dtypes, value) =
            (each(&|row| row.family.clone()), each(&|row| row.dtype.to_string()), self.value.name());
        format!("{families}{devices}, {dtypes}, {caches} cache: {value} by {by}")
    }
}

/// The table of other programs' figures alone: a line for each value of the column `by`, a column for each program.
pub fn of_peers(peers: &[PeerCells], by: &str, value: &str, medium: Medium) -> Result<String, String> {
    let entries: Vec<PivotEntry<'_>> = peers.iter().flat_map(|cells| of_peer(cells, by, value)).collect();
    if entries.is_empty() {
        let names = distinct(peers.iter().filter_map(|cells| cells.first()).flatten().map(String::as_str)).join(", ");
        return Err(format!("no other program's figures here have both {by} and {value}: there is {names}"));
    }
    let about = ABOUT.iter().filter(|name| **name != by).map(|name| (name, values(peers, name)));
    let about: Vec<(&&str, Vec<String>)> = about.filter(|(_, values)| !values.is_empty()).collect();
    if let Some((name, values)) = about.iter().find(|(_, values)| values.len() > 1) {
        let first = &values[0];
        let all = values.join(", ");
        return Err(format!(
            "the lines would differ in {name} ({all}) and in {by}: choose, as with --where '{name}={first}'"
        ));
    }
    let told: Vec<String> = about.into_iter().map(|(name, values)| told(name, &values[0])).collect();
    Ok(titled(&format!("{}: {value} by {by}", told.join(", ")), grid(&entries, by), medium))
}

/// The values of a column of other programs' figures that are not empty.
fn values(peers: &[PeerCells], name: &str) -> Vec<String> {
    distinct(
        peers
            .iter()
            .filter_map(|cells: &PeerCells| {
                let place = cells.first()?.iter().position(|own| own == name)?;
                Some(cells[1..].iter().filter_map(|row| row.get(place).cloned()).collect::<Vec<_>>())
            })
            .flatten()
            .filter(|value| !value.is_empty()),
    )
}

/// A value of a column of [`ABOUT`] in words.
fn told(name: &str, value: &str) -> String {
    match (name, value) {
        ("threads", "1") => "1 thread".to_owned(),
        ("threads", _) => format!("{value} threads"),
        ("clock", _) => format!("{value} clock"),
        ("device", _) => format::device(value),
        _ => value.to_owned(),
    }
}

/// Another program's figures, if they have both columns.
fn of_peer(cells: &PeerCells, by: &str, value: &str) -> Vec<PivotEntry<'static>> {
    let Some((header, rows)) = cells.split_first() else { return Vec::new() };
    let place = |name: &str| header.iter().position(|own| own == name);
    let value = match value {
        "time" => "t_median_s",
        "GB/s" => "gbps",
        other => other,
    };
    let Some(((by, value), peer)) = place(by).zip(place(value)).zip(place("peer")) else { return Vec::new() };
    let is_time = header[value].ends_with("_s");
    rows.iter()
        .filter_map(|row: &Vec<String>| {
            let number: f64 = row.get(value)?.parse().ok()?;
            let text = if is_time { format::time(number) } else { format::significant(number, 4) };
            Some(PivotEntry { line: row.get(by)?.clone(), column: row.get(peer)?.clone(), text, row: None })
        })
        .collect()
}

/// What makes lines of a table comparable: all are alike in these, unless that is what the lines differ in.
const ALIKE: [&str; 4] = ["device", "dtype", "cache", "n"];

/// Names of the device and what belongs to it.
const DEVICE: [&str; 3] = ["platform", "device", "driver"];

/// What is wrong where lines differ in more than their column.
fn mixture(cells: &[Cell<'_>], by: &str) -> Option<String> {
    let is_one =
        |name: &str| name == by || (DEVICE.contains(&name) && DEVICE.contains(&by)) || (name == "n" && by == "m");
    ALIKE.iter().filter(|name| !is_one(name)).find_map(|name| {
        let values = distinct(cells.iter().map(|cell| Cells::of(cell.row).text(name)));
        let [first, _, ..] = &values[..] else { return None };
        let all = values.join(", ");
        Some(format!("the lines would differ in {name} ({all}) and in {by}: choose, as with --where '{name}={first}'"))
    })
}

/// What is wrong where rows of different problems fall into one cell.
fn clash(entries: &[PivotEntry<'_>], by: &str) -> Option<String> {
    let of_rows: Vec<(&PivotEntry<'_>, &Row)> = entries.iter().filter_map(|entry| Some((entry, entry.row?))).collect();
    let cells = groups(&of_rows, |(entry, _)| (entry.line.as_str(), entry.column.as_str()));
    let mut pairs = cells.iter().flat_map(|cell| cell[1..].iter().map(|(_, other)| (cell[0].0, cell[0].1, *other)));
    pairs.find_map(|(entry, a, b)| {
        let [a, b] = [a, b].map(Cells::of);
        let differing = TELLING.iter().filter(|name| **name != by && a.text(name) != b.text(name));
        let told: Vec<String> =
            differing.map(|name| format!("{name} ({} and {})", a.text(name), b.text(name))).collect();
        let PivotEntry { column, line, .. } = entry;
        (!told.is_empty()).then(|| {
            let what = told.join(", ");
            format!(
                "{column} has several values at {by} = {line}, which differ in {what}: --where COLUMN=VALUE chooses"
            )
        })
    })
}

fn grid(entries: &[PivotEntry<'_>], by: &str) -> TextGrid {
    let mut lines = distinct(entries.iter().map(|entry| entry.line.clone()));
    let number = |line: &String| line.parse::<f64>().ok();
    if lines.iter().all(|line| number(line).is_some()) {
        lines.sort_by(|a, b| number(a).partial_cmp(&number(b)).unwrap_or(Ordering::Equal));
    }
    let name = |line: &String| match by {
        "device" => format::device(line),
        "n" | "m" => line.parse().map_or_else(|_| line.clone(), size),
        _ if line.is_empty() => "-".to_owned(),
        _ => line.clone(),
    };
    let mut texts: HashMap<(&str, &str), Vec<&str>> = HashMap::new();
    for PivotEntry { line, column, text, .. } in entries {
        texts.entry((line, column)).or_default().push(text);
    }
    let cell = |line: &String, column: &String| {
        texts.get(&(line.as_str(), column.as_str())).map_or_else(|| "-".to_owned(), |texts| texts.join(", "))
    };
    let columns = distinct(entries.iter().map(|entry| entry.column.clone()));
    let first = TextGrid::of(&lines).texts(by, name);
    let with = |column: &String| column.replacen(' ', "\n", 1);
    columns.iter().fold(first, |table, column| table.numbers(with(column), |line| cell(line, column))).grid()
}

/// `2^28` of powers of two from 2^16 on, else `1_000_000`.
fn size(n: u64) -> String {
    if n.is_power_of_two() && n.ilog2() >= 16 { format!("2^{}", n.ilog2()) } else { format::count(n) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::SCREEN;
    use gpulab_model::plan::WorkGroup;
    use gpulab_record::row;

    fn timed(rung: u32, n: u64, seconds: f64) -> Row {
        let variant = if rung == 1 { "naive" } else { "local" };
        Row { rung: Some(rung), n, t_median_s: Some(seconds), run_id: format!("r{n}"), ..row(variant) }
    }

    fn text(rows: &[Row], peers: &[PeerCells], by: &str, value: &str, medium: Medium) -> Result<String, String> {
        let [by, value] = [by, value].map(|name| ChosenColumn::of_ladder(name, rows).unwrap());
        Pivot { by: &by, value: &value, unit: RateUnit::GB }.text(rows, peers, medium)
    }

    #[test]
    fn rungs_stand_side_by_side_and_beside_them_other_programs() {
        let rows = [timed(2, 1 << 20, 3e-6), timed(1, 1 << 20, 4e-6), timed(1, 1000, 1e-6)];
        let line = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        let peer = ["peer,n,t_median_s", "a|b,1048576,2e-6", "a|b,1048576,2.5e-6"].map(line).to_vec();
        let other = ["peer,k", "x,1"].map(line).to_vec();
        let table = text(&rows, &[peer, other], "n", "time", Medium::Markdown).unwrap();
        insta::assert_snapshot!(table, @r#"
        **dot on cpu, "fast", f32, warm cache: time by n**

        | n | v1 naive | v2 local | a\|b |
        | --- | ---: | ---: | ---: |
        | 1_000 | 1.000 us | - | - |
        | 2^20 | 4.000 us | 3.000 us | 2.000 us, 2.500 us |
        "#);
        let table = text(&rows[..2], &[], "items", "time", Medium::Screen(SCREEN)).unwrap();
        assert!(table.ends_with("8      4.000 us  3.000 us\n"), "{table}");
        let why = text(&rows, &[], "items", "n", Medium::Screen(SCREEN)).unwrap_err();
        assert!(why.contains("differ in n (1048576, 1000) and in items: choose, as with --where 'n=1048576'"), "{why}");
    }

    #[test]
    fn other_programs_stand_beside_each_other_without_rows_if_they_did_the_same() {
        let line = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        let lines =
            ["peer,work,threads,size,ratio", "gpulab,dot,2,2^9,1.00", "x,dot,2,2^9,1.25", "x,dot,1,100 x 3,0.5"];
        let cells = lines.map(line).to_vec();
        let why = of_peers(std::slice::from_ref(&cells), "size", "ratio", Medium::Markdown).unwrap_err();
        assert!(why.contains("differ in threads (2, 1) and in size: choose, as with --where 'threads=2'"), "{why}");
        let table = of_peers(&[cells[..3].to_vec()], "size", "ratio", Medium::Markdown).unwrap();
        insta::assert_snapshot!(table, @r"
        **dot, 2 threads: ratio by size**

        | size | gpulab | x |
        | --- | ---: | ---: |
        | 2^9 | 1.000 | 1.250 |
        ");
        let why = of_peers(&[cells], "n", "ratio", Medium::Markdown).unwrap_err();
        assert!(why.contains("have both n and ratio: there is peer, work, threads, size, ratio"), "{why}");
    }

    #[test]
    fn one_run_of_the_same_stands_beside_another_and_what_differs_is_refused() {
        let again = Row { run_id: "other".to_owned(), ..timed(1, 1000, 1.5e-6) };
        let table = text(&[timed(1, 1000, 1e-6), again.clone()], &[], "n", "time", Medium::Markdown).unwrap();
        assert!(table.contains("| 1_000 | 1.000 us, 1.500 us |"), "{table}");
        let wrong = [timed(1, 1000, 1e-6), Row { wg: Some(WorkGroup::linear(7)), ..again }];
        let why = text(&wrong, &[], "n", "time", Medium::Markdown).unwrap_err();
        assert!(why.contains("v1 naive has several values at n = 1000, which differ in wg (64 and 7)"), "{why}");
        assert!(text(&wrong, &[], "wg", "time", Medium::Markdown).is_ok());
    }
}

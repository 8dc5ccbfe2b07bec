//! The data dictionary: what the columns of files hold, as text, Markdown and JSON.

use super::format::wrap;
use gpulab_record::ColumnEntry;
use gpulab_system::text::Joined;
use serde::Serialize;

#[derive(Clone, Copy, Debug)]
pub struct Dictionary {
    /// The kind, as in `points`.
    pub name: &'static str,
    pub written_by: &'static str,
    pub columns: &'static [ColumnEntry],
}

const WIDTH: usize = 80;

/// What the meaning of a column stands behind.
const INDENT: &str = "    ";

/// For a terminal: each column's name, type and unit, and its meaning below.
pub fn text(all: &[Dictionary]) -> String {
    all.iter().map(section).joined("\n")
}

fn section(dictionary: &Dictionary) -> String {
    let head = wrap(&format!("{}: {}", dictionary.name, dictionary.written_by), WIDTH, "  ");
    head + &dictionary
        .columns
        .iter()
        .map(|column: &ColumnEntry| {
            let meaning = wrap(&format!("{INDENT}{}", column.meaning().replace('`', "")), WIDTH, INDENT);
            format!("  {}  ({})\n{meaning}", column.name, kind(column))
        })
        .collect::<String>()
}

/// `number in s, may be empty`.
fn kind(column: &ColumnEntry) -> String {
    let unit = if column.unit.is_empty() { String::new() } else { format!(" in {}", column.unit) };
    let empty = if column.is_optional() { ", may be empty" } else { "" };
    format!("{}{unit}{empty}", column.kind())
}

/// One table for each kind of files.
pub fn markdown(all: &[Dictionary]) -> String {
    let line = |column: &ColumnEntry| {
        let empty = if column.is_optional() { "yes" } else { "" };
        let meaning = column.meaning().replace('|', "\\|");
        format!("| `{}` | {} | {} | {empty} | {meaning} |\n", column.name, column.kind(), column.unit)
    };
    all.iter()
        .map(|dictionary: &Dictionary| {
            let head = "| column | type | unit | may be empty | meaning |\n|---|---|---|---|---|\n";
            let Dictionary { name, written_by, columns } = dictionary;
            format!("## {name}\n\n{written_by}\n\n{head}{}", columns.iter().map(line).collect::<String>())
        })
        .joined("\n")
}

/// An array with an object for each column.
pub fn json(all: &[Dictionary]) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Entry {
        file: &'static str,
        position: usize,
        name: &'static str,
        r#type: &'static str,
        unit: &'static str,
        optional: bool,
        meaning: String,
    }
    let entries = |dictionary: &Dictionary| {
        let file = dictionary.name;
        (1..)
            .zip(dictionary.columns)
            .map(move |(position, column): (usize, &ColumnEntry)| Entry {
                file,
                position,
                name: column.name,
                r#type: column.kind(),
                unit: column.unit,
                optional: column.is_optional(),
                meaning: column.meaning(),
            })
            .collect::<Vec<_>>()
    };
    let entries: Vec<Entry> = all.iter().flat_map(entries).collect();
    let lines = entries.iter().map(serde_json::to_string).collect::<serde_json::Result<Vec<_>>>()?;
    Ok(format!("[\n{}\n]\n", lines.join(",\n")))
}

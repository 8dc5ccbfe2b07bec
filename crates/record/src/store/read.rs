//! Recorded results read back: what a file holds is told from its first line.

use crate::files;
use crate::{CsvRecord, OLDEST_SCHEMA, Point, Row, SCHEMA, flag};
use gpulab_model::{Error, Result, usage_error};
use include_dir::{Dir, include_dir};
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;

/// The lines of a CSV file.
#[derive(Default)]
pub struct CsvTable {
    pub header: csv::ByteRecord,
    records: Vec<csv::ByteRecord>,
    /// Bytes up to the end of the last complete line.
    pub intact: u64,
    /// What was wrong with the line behind it, if a killed run tore it.
    pub torn: Option<String>,
}

impl CsvTable {
    /// Errors: `Usage` if a line other than the last has too few or too many cells.
    pub fn of(text: &[u8], name: &str) -> Result<CsvTable> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(text);
        let lines = reader.byte_records().collect::<Result<Vec<_>, _>>();
        let mut table = CsvTable {
            records: lines.map_err(|e| unread(name, &e))?,
            ..CsvTable::default()
        };
        table.intact = text.len() as u64;
        let width = table.records.first().map_or(0, csv::ByteRecord::len);
        if let Some(last) = table
            .records
            .pop_if(|last| last.len() != width || !text.ends_with(b"\n"))
        {
            let at = last.position().cloned().unwrap_or_else(csv::Position::new);
            table.intact = at.byte();
            table.torn = Some(format!(
                "{name} ended in the middle of line {}, which is left out",
                at.line()
            ));
        }
        if let Some(odd) = table.records.iter().find(|record| record.len() != width) {
            let line = line_of(odd);
            let cells = odd.len();
            return usage_error(format!(
                "{name}, line {line}, has {cells} cells instead of {width}"
            ));
        }
        if !table.records.is_empty() {
            table.header = table.records.remove(0);
        }
        Ok(table)
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.header
            .iter()
            .position(|column| column == name.as_bytes())
    }

    fn has(&self, name: &str) -> bool {
        self.column(name).is_some()
    }

    /// The lines as such records, of this version or an older one.
    ///
    /// Errors: `Usage`, with the line, if the file holds something else.
    fn rows<T: CsvRecord>(&self, name: &str) -> Result<Vec<T>> {
        const TIME: &str = "t_median_s";
        let schema = self.column("schema");
        let time = self.column(TIME);
        let rows = self.records.par_iter().map(|record| {
            let line = line_of(record);
            let why = |why: String| {
                Error::Usage(format!("{name}, line {line}, is not a result row: {why}"))
            };
            let cell = |at: Option<usize>| std::str::from_utf8(record.get(at?)?).ok();
            // A newer version's rows may differ in more than that.
            if let Some(newer) = cell(schema)
                .and_then(|cell| cell.parse().ok())
                .filter(|schema| !is_known(*schema))
            {
                return Err(unknown_schema(name, line, newer));
            }
            if let Some(cell) = cell(time).filter(|cell| !cell.is_empty())
                && !cell.parse().is_ok_and(|s: f64| s.is_finite() && s >= 0.0)
            {
                return Err(why(format!("{TIME} is not a time: '{cell}'")));
            }
            record
                .deserialize(Some(&self.header))
                .map_err(|e| match e.kind() {
                    csv::ErrorKind::Deserialize { err, .. } => {
                        let column = err
                            .field()
                            .and_then(|at| self.header.get(at as usize))
                            .unwrap_or_default();
                        why(format!(
                            "{}: {}",
                            String::from_utf8_lossy(column),
                            err.kind()
                        ))
                    }
                    _ => why(e.to_string()),
                })
        });
        rows.collect()
    }

    fn texts(record: &csv::ByteRecord) -> Vec<String> {
        record
            .iter()
            .map(|cell| String::from_utf8_lossy(cell).into_owned())
            .collect()
    }
}

fn line_of(record: &csv::ByteRecord) -> u64 {
    record.position().map_or(0, csv::Position::line)
}

fn unread(name: &str, error: &impl std::fmt::Display) -> Error {
    Error::Failed(format!("cannot read {name}: {error}"))
}

fn is_known(schema: u32) -> bool {
    (OLDEST_SCHEMA..=SCHEMA).contains(&schema)
}

fn unknown_schema(name: &str, line: u64, schema: u32) -> Error {
    Error::Usage(format!(
        "{name}, line {line}, has schema {schema}; this gpulab adds to and joins files of schema {SCHEMA} only, and shows \
         those of {OLDEST_SCHEMA} to {SCHEMA}"
    ))
}

#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// The complete ones, in order.
    pub rows: Vec<Row>,
    /// What was wrong with the last line, if it was torn.
    pub torn: Option<String>,
}

/// Reads a CSV file of result rows of this version. A last line that a killed run tore is left out and told of.
///
/// Errors: `Failed` if the file cannot be read; `Usage`, with the line, if it holds something else.
pub fn read_rows(path: &Path) -> Result<Rows> {
    let name = path.display().to_string();
    let text = files::read(path).map_err(|e| unread(&name, &e))?;
    let (rows, torn): (Vec<Row>, Option<String>) = of_csv(&text, &name)?;
    if let Some((line, old)) = (2..).zip(&rows).find(|(_, row)| row.schema != SCHEMA) {
        return Err(unknown_schema(&name, line, old.schema));
    }
    Ok(Rows { rows, torn })
}

/// Reads a CSV file of points. A last line that a killed run tore is left out.
///
/// Errors: as for [`read_rows`].
pub fn read_points(path: &Path) -> Result<Vec<Point>> {
    let name = path.display().to_string();
    let text = files::read(path).map_err(|e| unread(&name, &e))?;
    Ok(of_csv(&text, &name)?.0)
}

/// The lines of a CSV file of such records, and what was wrong with the last one. `name` is the file's in messages.
///
/// Errors: as for [`read_rows`].
pub fn of_csv<T: CsvRecord>(text: &[u8], name: &str) -> Result<(Vec<T>, Option<String>)> {
    let table = CsvTable::of(text, name)?;
    Ok((table.rows(name)?, table.torn))
}

/// Recorded runs of any kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Recorded {
    Rows(Vec<Row>),
    Points(Vec<Point>),
    /// Figures of another program beside gpulab's: a header, and cells.
    Peers(Vec<Vec<String>>),
    /// CSV with other columns.
    Other {
        header: Vec<String>,
    },
}

/// A column that files of counts have, and no others.
pub const COUNTED: &str = "warp_instructions";

/// A file's records, and what was wrong with its last line, if a killed run tore it.
pub type RecordedFile = (Recorded, Option<String>);

/// Takes a file apart: CSV or JSON, of this version or an older one. `name` is the file's in messages.
pub fn recorded(text: &[u8], name: &str) -> Result<RecordedFile> {
    let (mut recorded, torn) = match text.trim_ascii_start().first() {
        None => {
            return usage_error(format!("{name} is empty: it holds no results"));
        }
        Some(b'[' | b'{') => (of_json(text, name)?, None),
        Some(_) => {
            let table = CsvTable::of(text, name)?;
            (of_columns(&table, name)?, table.torn)
        }
    };
    if let Recorded::Rows(rows) = &mut recorded {
        // Older files have a share of memory's limit beside the flag.
        rows.iter_mut()
            .filter(|row| row.flags.contains(flag::FITS_CACHE))
            .for_each(Row::set_in_cache);
    }
    Ok((recorded, torn))
}

fn of_columns(table: &CsvTable, name: &str) -> Result<Recorded> {
    if table.has(COUNTED) {
        return Ok(Recorded::Other {
            header: CsvTable::texts(&table.header),
        });
    }
    if table.has("experiment") && table.has("series") {
        return Ok(Recorded::Points(table.rows(name)?));
    }
    if table.has("family") && table.has("status") {
        return Ok(Recorded::Rows(table.rows(name)?));
    }
    let header = CsvTable::texts(&table.header);
    if header.first().is_some_and(|name| name == "peer") {
        return Ok(Recorded::Peers(
            std::iter::once(header)
                .chain(table.records.iter().map(CsvTable::texts))
                .collect(),
        ));
    }
    Ok(Recorded::Other { header })
}

/// Rows or points, without the findings among the points: those follow from them.
fn of_json(text: &[u8], name: &str) -> Result<Recorded> {
    let mut values: Vec<Value> = serde_json::from_slice(text).map_err(|e| {
        let what = match e.classify() {
            serde_json::error::Category::Eof => {
                "ends too early, as after a killed run: show its CSV file"
            }
            _ => "is not JSON that gpulab wrote",
        };
        Error::Usage(format!("{name} {what} ({e})"))
    })?;
    values.retain(|value| value.get("finding").is_none());
    let schemas = values
        .iter()
        .filter_map(|value| value.get("schema")?.as_u64());
    if let Some(schema) = schemas
        .filter_map(|schema| u32::try_from(schema).ok())
        .find(|schema| !is_known(*schema))
    {
        return Err(unknown_schema(name, 1, schema));
    }
    let Some(first) = values.first() else {
        return usage_error(format!("{name} holds an empty list: no results"));
    };
    let [is_counted, is_point, has_family, has_status] =
        [COUNTED, "experiment", "family", "status"].map(|key| first.get(key).is_some());
    if is_counted {
        return Ok(Recorded::Other {
            header: vec![COUNTED.to_owned()],
        });
    }
    if is_point {
        return Ok(Recorded::Points(elements(values, name)?));
    }
    if has_family && has_status {
        return Ok(Recorded::Rows(elements(values, name)?));
    }
    Ok(Recorded::Other { header: Vec::new() })
}

fn elements<T: DeserializeOwned>(values: Vec<Value>, name: &str) -> Result<Vec<T>> {
    let elements = (1..).zip(values).map(|(at, value): (usize, Value)| {
        serde_json::from_value(value)
            .map_err(|e| Error::Usage(format!("{name}, element {at}, is not a result: {e}")))
    });
    elements.collect()
}

static RESULTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../data/results");

/// A recorded run that comes with the program: `data/results`, for those who have no such device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// The folder, which names driver, device or both, as in `nvidia-h200`.
    pub device: &'static str,
    /// The file's name without its ending, as in `reduce`.
    pub name: &'static str,
    pub text: &'static [u8],
}

/// All of them, by device and name.
pub fn shipped() -> Vec<Shipped> {
    let mut all = Vec::new();
    for folder in RESULTS.dirs() {
        for file in folder.files().filter(|file| {
            file.path()
                .extension()
                .is_some_and(|ending| ending == "csv")
        }) {
            let device = folder.path().to_str().unwrap_or_default();
            let name = file
                .path()
                .file_stem()
                .and_then(|name| name.to_str())
                .unwrap_or_default();
            all.push(Shipped {
                device,
                name,
                text: file.contents(),
            });
        }
    }
    all.sort_by_key(|file| (file.device, file.name));
    all
}

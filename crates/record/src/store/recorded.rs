//! Recorded runs of any kind: what a file holds is told from its first line.

use super::{ParsedCsv, each_record, header, json_error, some_of_csv, unread};
use crate::{OLDEST_SCHEMA, Point, Row, SCHEMA, flag};
use gpulab_model::Error;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::io::{BufRead, Cursor, Read, Seek};

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
pub fn recorded(text: &[u8], name: &str) -> Result<RecordedFile, Error> {
    recorded_some(&mut Cursor::new(text), name, &mut |_| true)
}

/// As [`recorded`], of a CSV file's rows only those to keep; the text need not be in memory.
pub fn recorded_some(
    text: &mut (impl BufRead + Seek),
    name: &str,
    keep: &mut dyn FnMut(&Row) -> bool,
) -> Result<RecordedFile, Error> {
    let begin = text.bytes().find(|byte| !matches!(byte, Ok(byte) if byte.is_ascii_whitespace()));
    let (mut recorded, torn) = match begin.transpose().map_err(|e| unread(name, &e))? {
        None => return Err(Error::Usage(format!("{name} is empty: it holds no results"))),
        Some(b'[' | b'{') => (of_json(text, name)?, None),
        Some(_) => of_columns(text, name, keep)?,
    };
    if let Recorded::Rows(rows) = &mut recorded {
        // Older files have a share of memory's limit beside the flag.
        rows.iter_mut().filter(|row| row.flags.contains(flag::FITS_CACHE)).for_each(Row::set_in_cache);
    }
    Ok((recorded, torn))
}

fn of_columns(
    text: &mut (impl BufRead + Seek),
    name: &str,
    keep: &mut dyn FnMut(&Row) -> bool,
) -> Result<RecordedFile, Error> {
    let columns = header(text, name)?;
    let has = |column: &str| columns.iter().any(|name| name == column);
    if has(COUNTED) {
        return Ok((Recorded::Other { header: columns }, each_record(text, name, &mut |_| Ok(()))?.1));
    }
    if has("experiment") && has("series") {
        let (points, torn) = some_of_csv::<Point>(text, name, &mut |_| true)?;
        return Ok((Recorded::Points(points), torn));
    }
    if has("family") && has("status") {
        let (rows, torn) = some_of_csv(text, name, keep)?;
        return Ok((Recorded::Rows(rows), torn));
    }
    let table = ParsedCsv::parse(text, name)?;
    let torn = table.torn.clone();
    let header = table.header.clone();
    if header.first().is_some_and(|name| name == "peer") {
        let texts =
            |record: &csv::ByteRecord| record.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
        let rows = std::iter::once(header).chain(table.records.iter().map(texts)).collect();
        return Ok((Recorded::Peers(rows), torn));
    }
    Ok((Recorded::Other { header }, torn))
}

/// Rows or points, without the findings among the points: those follow from them.
fn of_json(text: &mut (impl BufRead + Seek), name: &str) -> Result<Recorded, Error> {
    let mut whole = Vec::new();
    text.rewind().and_then(|()| text.read_to_end(&mut whole)).map_err(|e| unread(name, &e))?;
    let values: Vec<Value> = serde_json::from_slice(&whole).map_err(|e| json_error(name, &e))?;
    let has = |value: &Value, key: &str| value.get(key).is_some();
    let values: Vec<Value> = values.into_iter().filter(|value| !has(value, "finding")).collect();
    let schema = |value: &Value| value.get("schema")?.as_u64();
    let is_known = |schema: &u64| (u64::from(OLDEST_SCHEMA)..=u64::from(SCHEMA)).contains(schema);
    if let Some(schema) = values.iter().filter_map(schema).find(|schema| !is_known(schema)) {
        return Err(Error::Usage(format!("{name} has schema {schema}; this gpulab shows {OLDEST_SCHEMA} to {SCHEMA}")));
    }
    match values.first() {
        None => Err(Error::Usage(format!("{name} holds an empty list: no results"))),
        Some(first) if has(first, COUNTED) => Ok(Recorded::Other { header: vec![COUNTED.to_owned()] }),
        Some(first) if has(first, "experiment") => Ok(Recorded::Points(elements(values, name)?)),
        Some(first) if has(first, "family") && has(first, "status") => Ok(Recorded::Rows(elements(values, name)?)),
        Some(_) => Ok(Recorded::Other { header: Vec::new() }),
    }
}

fn elements<T: DeserializeOwned>(values: Vec<Value>, name: &str) -> Result<Vec<T>, Error> {
    let element = |(i, value)| {
        serde_json::from_value(value)
            .map_err(|e| Error::Usage(format!("{name}, element {}, is not a result: {e}", i + 1)))
    };
    (0..).zip(values).map(|(i, value): (usize, Value)| element((i, value))).collect()
}

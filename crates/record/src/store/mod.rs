//! Result files: opened before the first kernel runs, written a whole row at a time, and read back.
//!
//! What a file holds is left alone until the first row of a run is there. Each row reaches the system in one write, so
//! that a killed run loses at most the row in flight; one that fails is taken back. Whole files are written under another name
//! first. A regular file is locked while it is open: a second writer is refused.

mod claims;
mod read;
mod sink;

use crate::terminal::is_unsafe;
pub use claims::{OutputFile, begins_as_csv, begins_as_json, begins_as_object, check_outputs};
pub use read::{
    COUNTED, Recorded, RecordedFile, Rows, Shipped, of_csv, read_points, read_rows, recorded,
    shipped,
};

use crate::{CsvRecord, Row};
use gpulab_model::{Error, Result, usage_error};
use read::CsvTable;
use serde::Serialize;
pub use sink::Sink;
use std::marker::PhantomData;

/// A CSV file of one kind of records; `-` is standard output.
pub struct CsvFile<T> {
    sink: Sink,
    /// Its header, until that is written with the first row.
    header: Option<Vec<u8>>,
    torn: Option<String>,
    of: PhantomData<T>,
}

impl<T: CsvRecord> CsvFile<T> {
    /// Opens a file, to replace what it holds. That is left alone until the first row is written, and a file that was not
    /// there before goes again if none is.
    ///
    /// Errors: `Output` if the file cannot be written; `Usage` if another process is writing it.
    pub fn create(path: &str) -> Result<CsvFile<T>> {
        CsvFile::open(path, false)
    }

    /// Opens a file, to add to it after removing a torn last line.
    ///
    /// Errors: as for [`CsvFile::create`]; `Usage` if it has other columns than this version's.
    pub fn append(path: &str) -> Result<CsvFile<T>> {
        CsvFile::open(path, true)
    }

    fn open(path: &str, is_added: bool) -> Result<CsvFile<T>> {
        let mut sink = Sink::open(path)?;
        let old = if is_added { sink.read()? } else { Vec::new() };
        let header = line(T::COLUMNS, sink.name())?;
        let table = CsvTable::of(&old, path)?;
        let is_new = table.header.is_empty();
        // A header that was cut short is written anew; anything else without one is not ours to touch.
        let is_ours = if is_new {
            header.starts_with(&old)
        } else {
            table
                .header
                .iter()
                .eq(T::COLUMNS.iter().map(|c| c.as_bytes()))
        };
        if !is_ours {
            let why =
                "it has other columns than this version writes; give another file or remove it";
            return usage_error(format!("cannot add to {path}: {why}"));
        }
        sink.keep(if is_new { 0 } else { table.intact });
        Ok(CsvFile {
            sink,
            header: is_new.then_some(header),
            torn: table.torn,
            of: PhantomData,
        })
    }

    /// What was wrong with the last line of the file that is added to, if anything.
    pub fn torn(&self) -> Option<&str> {
        self.torn.as_deref()
    }

    pub fn write(&mut self, record: &T) -> Result<()> {
        let mut text = self.header.clone().unwrap_or_default();
        text.extend(line(record, self.sink.name())?);
        self.sink.write(&text)?;
        self.header = None;
        Ok(())
    }

    /// Writes the header of a file that got no row.
    pub fn finish(mut self) -> Result<()> {
        self.header
            .take()
            .map_or(Ok(()), |header| self.sink.write(&header))
    }
}

/// A JSON array of rows with the CSV's column names, one object a line; `-` is standard output.
pub struct JsonFile {
    sink: Sink,
    is_empty: bool,
}

impl JsonFile {
    /// Opens the file, to replace what it holds once there is a row. Errors as for [`CsvFile::create`].
    pub fn create(path: &str) -> Result<JsonFile> {
        let mut sink = Sink::open(path)?;
        sink.keep(0);
        Ok(JsonFile {
            sink,
            is_empty: true,
        })
    }

    pub fn write(&mut self, row: &impl Serialize) -> Result<()> {
        let mut text = if self.is_empty {
            "[\n".to_owned()
        } else {
            ",\n".to_owned()
        };
        // What could steer a terminal is escaped, in JSON's own way.
        for c in serde_json::to_string(row)
            .map_err(|e| self.sink.error(e.into()))?
            .chars()
        {
            if is_unsafe(c) {
                c.encode_utf16(&mut [0; 2])
                    .iter()
                    .for_each(|unit| text += &format!("\\u{unit:04x}"));
            } else {
                text.push(c);
            }
        }
        // What is there already stays a whole array, where there is room for its end.
        self.sink
            .write(text.as_bytes())
            .inspect_err(|_| drop(self.end()))?;
        self.is_empty = false;
        Ok(())
    }

    /// Ends the array. Without this the file is not yet JSON, so call it after a failure too, unless there was no row.
    pub fn finish(mut self) -> Result<()> {
        self.end()
    }

    fn end(&mut self) -> Result<()> {
        self.sink
            .write(if self.is_empty { b"[\n]\n" } else { b"\n]\n" })
    }
}

/// Writes a whole file of result rows, so that it is there complete or not at all. `-` is standard output.
///
/// Errors: `Output` if it cannot be written.
pub fn write_rows(path: &str, rows: &[Row]) -> Result<()> {
    let mut text = line(Row::COLUMNS, path)?;
    for row in rows {
        text.extend(line(row, path)?);
    }
    Sink::open(path)?.replace(|out| out.write_all(&text))
}

/// One CSV line, its end included.
fn line(row: impl Serialize, name: &str) -> Result<Vec<u8>> {
    let mut writer = csv::WriterBuilder::new()
        .has_headers(false)
        .from_writer(Vec::new());
    let written = writer.serialize(row).map_err(std::io::Error::other);
    let line = written.and_then(|()| {
        writer
            .into_inner()
            .map_err(|e| std::io::Error::other(e.to_string()))
    });
    line.map_err(|source| Error::Output {
        what: name.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests;

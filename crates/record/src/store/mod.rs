//! Result files: opened before the first kernel runs, written a whole row at a time, and read back.
//!
//! What a file holds is left alone until the first row of a run is there. Each row reaches the system in one write, so
//! that a killed run loses at most the row in flight; one that fails is taken back.
//! A regular file is locked while it is open: a second writer is refused.

mod adopt;
mod claims;
mod recorded;
mod rounds;
mod shipped;
mod sink;

pub use adopt::adopt;
pub use claims::{OutputFile, begins_as_csv, begins_as_json, begins_as_object, check_outputs};
pub use recorded::{COUNTED, Recorded, RecordedFile, recorded, recorded_some};
pub use rounds::{Pool, Rounds};
pub use shipped::{Shipped, shipped};

use crate::{CsvRecord, OLDEST_SCHEMA, Point, Row, SCHEMA};
use gpulab_model::Error;
use gpulab_system::files;
use gpulab_system::terminal::is_unsafe;
use rayon::prelude::*;
use serde::Serialize;
use sink::Sink;
use std::fmt::Display;
use std::io::{BufRead, Cursor, Read, Seek, Write};
use std::marker::PhantomData;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Create,
    /// Add to it, after removing a torn last line; its header must be this version's.
    Append,
}

/// A CSV file of one kind of records; `-` is standard output.
pub struct CsvFile<T> {
    sink: Sink,
    /// Its header, until that is written with the first row.
    header: Option<Vec<u8>>,
    torn: Option<String>,
    of: PhantomData<T>,
}

impl<T: CsvRecord> CsvFile<T> {
    /// Opens a file. What it holds is left alone until the first row is written, and a file that was not
    /// there before goes again if none is.
    ///
    /// Errors: `Output` if the file cannot be written; `Usage` if another process is writing it, or if it
    /// is to be added to and has other columns.
    pub fn open(path: &str, mode: Mode) -> Result<CsvFile<T>, Error> {
        let mut sink = Sink::open(path)?;
        let old = if mode == Mode::Append { sink.read()? } else { Vec::new() };
        let header = line(T::COLUMNS, sink.name())?;
        let table = ParsedCsv::parse(&mut Cursor::new(&old), path)?;
        let is_new = table.header.is_empty();
        // A header that was cut short is written anew; anything else without one is not ours to touch.
        let is_ours = if is_new { header.starts_with(&old) } else { table.header == T::COLUMNS };
        if !is_ours {
            let why = "it has other columns than this version writes; give another file or remove it";
            return Err(Error::Usage(format!("cannot add to {path}: {why}")));
        }
        sink.keep(if is_new { 0 } else { table.intact });
        Ok(CsvFile { sink, header: is_new.then_some(header), torn: table.torn, of: PhantomData })
    }

    /// What was wrong with the last line of the file that is added to, if anything.
    pub fn torn(&self) -> Option<&str> {
        self.torn.as_deref()
    }

    pub fn write(&mut self, record: &T) -> Result<(), Error> {
        let mut record = record.clone();
        record.texts().into_iter().for_each(guard);
        let mut text = self.header.clone().unwrap_or_default();
        text.extend(line(&record, self.sink.name())?);
        self.sink.write(&text)?;
        self.header = None;
        Ok(())
    }

    /// Writes the header of a file that got no row.
    pub fn finish(mut self) -> Result<(), Error> {
        self.head()
    }

    fn head(&mut self) -> Result<(), Error> {
        self.header.take().map_or(Ok(()), |header| self.sink.write(&header))
    }
}

/// A JSON array of rows with the CSV's column names, one object a line; `-` is standard output.
pub struct JsonFile {
    sink: Sink,
    is_empty: bool,
}

impl JsonFile {
    /// Opens the file, to replace what it holds once there is a row. Errors as for [`CsvFile::open`].
    pub fn create(path: &str) -> Result<JsonFile, Error> {
        let mut sink = Sink::open(path)?;
        sink.keep(0);
        Ok(JsonFile { sink, is_empty: true })
    }

    pub fn write(&mut self, row: &impl Serialize) -> Result<(), Error> {
        let mut text = if self.is_empty { "[\n".to_owned() } else { ",\n".to_owned() };
        text.push_str(&json(row).map_err(|e| self.sink.error(e.into()))?);
        // What is there already stays a whole array, where there is room for its end.
        self.sink.write(text.as_bytes()).inspect_err(|_| drop(self.end()))?;
        self.is_empty = false;
        Ok(())
    }

    /// Ends the array. Without this the file is not yet JSON, so call it after a failure too, unless there was no row.
    pub fn finish(mut self) -> Result<(), Error> {
        self.end()
    }

    fn end(&mut self) -> Result<(), Error> {
        self.sink.write(if self.is_empty { b"[\n]\n" } else { b"\n]\n" })
    }
}

/// A row as JSON of printable characters: what could steer a terminal is escaped, in JSON's own way.
fn json(row: &impl Serialize) -> serde_json::Result<String> {
    let text = serde_json::to_string(row)?;
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if is_unsafe(c) => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| safe += &format!("\\u{unit:04x}")),
            c => safe.push(c),
        }
    }
    Ok(safe)
}

/// A file that is opened early and written in one go, once there is something to write; `-` is standard output.
/// If it was not there before and nothing is written, it goes again.
pub struct Deferred(Sink);

impl Deferred {
    /// Opens the file, and leaves what it holds. Errors as for [`CsvFile::open`].
    pub fn open(path: &str) -> Result<Deferred, Error> {
        Sink::open(path).map(Deferred)
    }

    /// Replaces what the file holds by what `write` writes, which it has to flush. What `write` returns.
    ///
    /// Errors: `Output` if the file cannot be written; then it holds what it held before.
    pub fn replace<T>(&mut self, write: impl FnOnce(&mut dyn Write) -> std::io::Result<T>) -> Result<T, Error> {
        self.0.fill(write)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// The complete ones, in order.
    pub rows: Vec<Row>,
    /// What was wrong with the last line, if it was torn.
    pub torn: Option<String>,
}

/// Reads a CSV file of result rows. A last line that a killed run tore is left out and told of.
///
/// Errors: `Failed` if the file cannot be read; `Usage`, with the line, if it holds something else.
pub fn read_rows(path: &Path) -> Result<Rows, Error> {
    let (rows, torn): (Vec<Row>, Option<String>) = read(path)?;
    if let Some((i, old)) = (2..).zip(&rows).find(|(_, row)| row.schema != SCHEMA) {
        return Err(unknown_schema(&path.display().to_string(), i, old.schema));
    }
    Ok(Rows { rows, torn })
}

/// Reads a CSV file of points. A last line that a killed run tore is left out.
///
/// Errors: as for [`read_rows`].
pub fn read_points(path: &Path) -> Result<Vec<Point>, Error> {
    Ok(read(path)?.0)
}

/// The lines of a file of such records, and what was wrong with the last one.
fn read<T: CsvRecord>(path: &Path) -> Result<(Vec<T>, Option<String>), Error> {
    let name = path.display().to_string();
    let mut text = files::open(path).map_err(|e| unread(&name, &e))?;
    some_of_csv(&mut text, &name, &mut |_| true)
}

fn unread(name: &str, error: &impl Display) -> Error {
    Error::Failed(format!("cannot read {name}: {error}"))
}

fn unknown_schema(name: &str, line: u64, schema: u32) -> Error {
    Error::Usage(format!(
        "{name}, line {line}, has schema {schema}; this gpulab adds to and joins files of schema {SCHEMA} only, and shows \
         those of {OLDEST_SCHEMA} to {SCHEMA}"
    ))
}

fn json_error(name: &str, error: &serde_json::Error) -> Error {
    let what = match error.classify() {
        serde_json::error::Category::Eof => "ends too early, as after a killed run: show its CSV file",
        _ => "is not JSON that gpulab wrote",
    };
    Error::Usage(format!("{name} {what} ({error})"))
}

/// Whether a cell holds a number of seconds, or nothing.
fn is_time(cell: &[u8]) -> bool {
    let seconds = std::str::from_utf8(cell).ok().and_then(|text| text.parse::<f64>().ok());
    cell.is_empty() || seconds.is_some_and(|seconds| seconds.is_finite() && seconds >= 0.0)
}

/// Whether a cell holds a whole number so large that sums of such would not be one.
fn is_beyond_counting(cell: &[u8]) -> bool {
    cell.len() > 15
        && std::str::from_utf8(cell).is_ok_and(|text| text.parse().is_ok_and(|number: u64| number > 1 << 53))
}

/// The lines of a CSV file of such records, of this version or an older one, and what was wrong with the last one. `name`
/// is the file's in messages.
///
/// Errors: as for [`read_rows`].
pub fn of_csv<T: CsvRecord>(text: &[u8], name: &str) -> Result<(Vec<T>, Option<String>), Error> {
    some_of_csv(&mut Cursor::new(text), name, &mut |_| true)
}

/// As [`of_csv`], of the records only those to keep, so that the others take no room.
pub(super) fn some_of_csv<T: CsvRecord>(
    text: &mut (impl Read + Seek),
    name: &str,
    keep: &mut dyn FnMut(&T) -> bool,
) -> Result<(Vec<T>, Option<String>), Error> {
    // What is no table is said before what is wrong with one of its rows.
    let all = parsed(text, name, keep);
    all.map_err(|wrong| each_record(text, name, &mut |_| Ok(())).err().unwrap_or(wrong))
}

/// The same, with whatever is wrong first; the lines need not all be in memory twice.
fn parsed<T: CsvRecord>(
    text: &mut (impl Read + Seek),
    name: &str,
    keep: &mut dyn FnMut(&T) -> bool,
) -> Result<(Vec<T>, Option<String>), Error> {
    /// Lines that are turned into rows at once, by all cores.
    const TOGETHER: usize = 4096;
    let mut rows = Vec::new();
    let mut header = None;
    let mut lines = Vec::new();
    let mut flush = |header: &Header, lines: &mut Vec<csv::ByteRecord>| {
        let some: Vec<Result<T, Error>> = lines.par_drain(..).map(|line| header.row(&line, name)).collect();
        some.into_iter().try_for_each(|row| row.map(|row| rows.extend(keep(&row).then_some(row))))
    };
    let (_, torn) = each_record(text, name, &mut |record| {
        match &header {
            None => header = Some(Header::new::<T>(record)),
            Some(header) => {
                lines.push(record);
                if lines.len() == TOGETHER {
                    flush(header, &mut lines)?;
                }
            }
        }
        Ok(())
    })?;
    header.map_or(Ok(()), |header| flush(&header, &mut lines))?;
    Ok((rows, torn))
}

/// What results are compared by.
const TIME: &str = "t_median_s";

/// The first line of a table of results.
struct Header {
    /// The columns' names, if they are not this version's in this version's order.
    names: Option<csv::ByteRecord>,
    schema: Option<usize>,
    time: Option<usize>,
    /// The one column of any whole numbers.
    seed: Option<usize>,
}

impl Header {
    fn new<T: CsvRecord>(names: csv::ByteRecord) -> Header {
        let [schema, time, seed] =
            ["schema", TIME, "seed"].map(|name: &str| names.iter().position(|column| column == name.as_bytes()));
        let is_current = names.iter().eq(T::COLUMNS.iter().map(|name| name.as_bytes()));
        Header { names: (!is_current).then_some(names), schema, time, seed }
    }

    /// A line's record. Errors: `Usage`.
    fn row<T: CsvRecord>(&self, record: &csv::ByteRecord, name: &str) -> Result<T, Error> {
        let line = record.position().map_or(0, csv::Position::line);
        let why = |why: String| Error::Usage(format!("{name}, line {line}, is not a result row: {why}"));
        // A newer version's rows may differ in more than that.
        let cell =
            self.schema.and_then(|i| record.get(i)).and_then(|cell| std::str::from_utf8(cell).ok()?.parse().ok());
        if let Some(newer) = cell.filter(|schema| !(OLDEST_SCHEMA..=SCHEMA).contains(schema)) {
            return Err(unknown_schema(name, line, newer));
        }
        if let Some(cell) = self.time.and_then(|i| record.get(i)).filter(|cell| !is_time(cell)) {
            return Err(why(format!("{TIME} is not a time: '{}'", String::from_utf8_lossy(cell))));
        }
        let is_beyond = |(at, cell): &(usize, &[u8])| Some(*at) != self.seed && is_beyond_counting(cell);
        if let Some((_, cell)) = record.iter().enumerate().find(is_beyond) {
            return Err(why(format!("{} is more than anything that is counted", String::from_utf8_lossy(cell))));
        }
        let mut row: T = record.deserialize(self.names.as_ref()).map_err(|e| why(reason(&e, T::COLUMNS)))?;
        row.texts().into_iter().for_each(unguard);
        Ok(row)
    }
}

/// Writes a whole file of result rows: under another name first, so that it is there complete or not at
/// all. `-` is standard output.
///
/// Errors: `Output` if it cannot be written.
pub fn write_rows(path: &str, rows: &[Row]) -> Result<(), Error> {
    // What is no regular file cannot be replaced: a pipe, a device.
    if path == "-" || std::fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        let mut file = CsvFile::open(path, Mode::Create)?;
        rows.iter().try_for_each(|row| file.write(row))?;
        return file.finish();
    }
    // A link stays one.
    let path = std::fs::canonicalize(path).map_or_else(|_| path.to_owned(), |path| path.to_string_lossy().into_owned());
    let unfinished = files::beside(Path::new(&path)).to_string_lossy().into_owned();
    let written = CsvFile::open(&unfinished, Mode::Create).and_then(|mut file| {
        rows.iter().try_for_each(|row| file.write(row))?;
        file.head()?;
        file.sink.sync()
    });
    let placed = written.and_then(|()| {
        std::fs::rename(&unfinished, &path).map_err(|source| Error::Output { what: path.clone(), source })
    });
    // What is left of a failure is of no use.
    placed.inspect_err(|_| drop(std::fs::remove_file(&unfinished)))
}

#[derive(Default)]
struct ParsedCsv {
    header: Vec<String>,
    records: Vec<csv::ByteRecord>,
    /// Bytes up to the end of the last complete line.
    intact: u64,
    torn: Option<String>,
}

impl ParsedCsv {
    /// Errors: `Usage` if a line other than the last has too few or too many cells.
    fn parse(text: &mut (impl Read + Seek), name: &str) -> Result<ParsedCsv, Error> {
        let mut table = ParsedCsv::default();
        (table.intact, table.torn) = each_record(text, name, &mut |record| {
            table.records.push(record);
            Ok(())
        })?;
        if !table.records.is_empty() {
            let header = table.records.remove(0);
            table.header = header.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
        }
        Ok(table)
    }
}

fn header(text: &mut (impl BufRead + Seek), name: &str) -> Result<Vec<String>, Error> {
    // All but the first line is none of its business.
    let mut first = Vec::new();
    text.rewind().and_then(|()| text.read_until(b'\n', &mut first)).map_err(|e| unread(name, &e))?;
    Ok(ParsedCsv::parse(&mut Cursor::new(first), name)?.header)
}

/// Hands on the lines of a CSV file one after the other, the header first, without a last line that is torn. Bytes up to the end
/// of the last complete line, and what was wrong with the one behind it.
///
/// Errors: `Usage` if another line has too few or too many cells, or is damaged; and those of `take`.
fn each_record(
    text: &mut (impl Read + Seek),
    name: &str,
    take: &mut dyn FnMut(csv::ByteRecord) -> Result<(), Error>,
) -> Result<(u64, Option<String>), Error> {
    /// Comes behind the text: a last line that has no end becomes a damaged one.
    const END: &[u8] = b"\0";
    text.rewind().map_err(|e| unread(name, &e))?;
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.chain(END));
    let line = |record: &csv::ByteRecord| record.position().map_or(0, csv::Position::line);
    // What a machine that lost its power leaves of a row is often NULs.
    let is_damaged = |record: &csv::ByteRecord| record.as_slice().contains(&0);
    let mut width = None;
    let mut last: Option<csv::ByteRecord> = None;
    let mut records = reader.byte_records().peekable();
    while let Some(record) = records.next() {
        let record = record.map_err(|e| unread(name, &e))?;
        if record.as_slice() == END && records.peek().is_none() {
            break;
        }
        let width = *width.get_or_insert(record.len());
        let Some(whole) = last.replace(record) else { continue };
        if whole.len() != width {
            let line = line(&whole);
            let cells = whole.len();
            return Err(Error::Usage(format!("{name}, line {line}, has {cells} cells instead of {width}")));
        }
        if is_damaged(&whole) {
            let line = line(&whole);
            return Err(Error::Usage(format!("{name}, line {line}, is damaged: it holds NUL bytes; restore the file")));
        }
        take(whole)?;
    }
    let Some(last) = last else { return Ok((0, None)) };
    if Some(last.len()) != width || is_damaged(&last) {
        let torn = format!("{name} ended in the middle of line {}, which is left out", line(&last));
        return Ok((last.position().map_or(0, csv::Position::byte), Some(torn)));
    }
    take(last)?;
    Ok((reader.position().byte() - END.len() as u64, None))
}

fn reason(error: &csv::Error, columns: &[&str]) -> String {
    match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => match err.field().and_then(|i| columns.get(i as usize)) {
            Some(column) => format!("{column}: {}", err.kind()),
            None => err.kind().to_string(),
        },
        _ => error.to_string(),
    }
}

/// One CSV line, its end included.
fn line(row: impl Serialize, name: &str) -> Result<Vec<u8>, Error> {
    let failed = |e: std::io::Error| Error::Output { what: name.to_owned(), source: e };
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    writer.serialize(row).map_err(|e| failed(std::io::Error::other(e)))?;
    writer.into_inner().map_err(|e| failed(std::io::Error::other(e.to_string())))
}

/// Text that a spreadsheet would run as a formula gets an apostrophe in front. A NUL, which in a file is a sign of damage,
/// becomes the mark for what cannot be shown.
fn guard(text: &mut String) {
    if text.contains('\0') {
        *text = text.replace('\0', "\u{fffd}");
    }
    if text.starts_with(is_formula) {
        text.insert(0, '\'');
    }
}

fn unguard(text: &mut String) {
    if text.strip_prefix('\'').is_some_and(|rest| rest.starts_with(is_formula)) {
        text.remove(0);
    }
}

fn is_formula(first: char) -> bool {
    matches!(first, '=' | '+' | '-' | '@')
}

#[cfg(test)]
mod tests;

//! Rows of separated values (RFC 4180), and their numbers.

use super::{Why, shown};
use csv::{ByteRecord, StringRecord};
use gpulab_model::outcome::Number;

/// The nearest number to a text; digits that overflow are the largest there is, and not what `inf` says.
pub fn number(text: &str) -> Option<Number> {
    let number: f64 = text.parse().ok()?;
    let is_written_out = text.bytes().any(|b| b.is_ascii_digit());
    Some(Number::Real(match is_written_out {
        true => number.clamp(f64::MIN, f64::MAX),
        false => number,
    }))
}

/// A row, and the line of the file that it starts on.
pub struct CsvRow {
    pub line: u64,
    /// The first byte of the row, or of its quotes.
    pub begins: u8,
    pub cells: StringRecord,
}

pub fn rows(bytes: &[u8], separator: u8) -> impl Iterator<Item = Result<CsvRow, Why>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = csv::ReaderBuilder::new();
    let reader = reader
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .delimiter(separator)
        .from_reader(bytes);
    reader.into_byte_records().map(move |row| {
        let row = row.map_err(|e| e.to_string())?;
        let (line, begins) = start(bytes, &row);
        let text = StringRecord::from_byte_record(row);
        let cells =
            text.map_err(|_| format!("line {line} is not UTF-8; save the file as UTF-8"))?;
        Ok(CsvRow {
            line,
            begins,
            cells,
        })
    })
}

/// Line and first byte. The crate's position of a row is where it began to look for one, before the blank lines that it skips.
fn start(bytes: &[u8], row: &ByteRecord) -> (u64, u8) {
    let Some(position) = row.position() else {
        return (0, 0);
    };
    let start = usize::try_from(position.byte()).unwrap_or(usize::MAX);
    let rest = bytes.get(start..).unwrap_or_default();
    let skipped = rest.iter().take_while(|b| b"\r\n".contains(b));
    let line = position.line() + skipped.filter(|&&b| b == b'\n').count() as u64;
    (line, rest.trim_ascii_start().first().copied().unwrap_or(0))
}

/// That a line has more or fewer cells than the first.
pub fn uneven(line: u64, got: usize, expected: usize) -> String {
    let next = match got > expected {
        true => {
            "if commas stand for decimal points, as in 2628,5, write 2628.5; else take away what is too much"
        }
        false => "complete it",
    };
    let cells = if got == 1 { "cell" } else { "cells" };
    format!("line {line} has {got} {cells} where the first has {expected}; {next}")
}

/// That a text is no number; with a decimal comma, what would be right.
pub fn no_number(text: &str) -> String {
    let point = text.replacen(',', ".", 1);
    match point != text && is_number(&point) {
        true => format!("{} has a decimal comma; write {point}", shown(text)),
        false => format!("{} is not a number; correct it", shown(text)),
    }
}

pub fn is_number(cell: &str) -> bool {
    cell.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_know_their_lines() {
        let lines = |text: &str| -> Vec<u64> {
            rows(text.as_bytes(), b',')
                .map(|row| row.unwrap().line)
                .collect()
        };
        assert_eq!(lines("x,y\n1,2\n\n3,abc\n"), [1, 2, 4]);
        assert_eq!(lines("\r\nx,y\r\n1,2\r\n\r\n3,abc\r\n"), [2, 3, 5]);
        assert_eq!(lines("\u{feff}x,y\n1,\"\n\"\n"), [1, 2]);
        assert_eq!(lines("x,y\n\"\n\",1\n\n3,abc\n"), [1, 2, 5]);
        let wrong = rows(b"y\n1\n\n\xff\n", b',').last().unwrap().err();
        assert_eq!(
            wrong.as_deref(),
            Some("line 4 is not UTF-8; save the file as UTF-8")
        );
    }

    #[test]
    fn special_and_oversized_numbers() {
        let read = |text: &str| number(text).map(Number::rounded);
        assert_eq!(read("-Infinity"), Some(f64::NEG_INFINITY));
        assert_eq!(read("1e400"), Some(f64::MAX));
        assert_eq!(read("-1e400"), Some(f64::MIN));
        assert!(read("NaN").unwrap().is_nan());
        assert_eq!(read("1,5"), None);
    }
}

//! A column of comma-separated values (RFC 4180), with or without a line of names.

use super::{Why, shown};
use csv::{ByteRecord, StringRecord};
use gpulab_model::data::{Array, Dtype};
use gpulab_model::outcome::Number;
use std::str::FromStr;

/// The column `column` (a name, or a number from 1; by default the only one of numbers) as elements of `dtype`.
pub fn read(bytes: &[u8], column: Option<&str>, dtype: Dtype) -> Result<Array, Why> {
    match dtype {
        Dtype::F32 => cells(bytes, column, dtype, float).map(Array::F32),
        Dtype::F64 => cells(bytes, column, dtype, float).map(Array::F64),
        Dtype::I32 => cells(bytes, column, dtype, |text| whole(text)?.i32()).map(Array::I32),
        Dtype::I64 => cells(bytes, column, dtype, |text| whole(text)?.i64()).map(Array::I64),
        Dtype::U8 => cells(bytes, column, dtype, |text| whole(text)?.u8()).map(Array::U8),
    }
}

pub fn cell_count(count: usize) -> String {
    format!("{count} cell{}", if count == 1 { "" } else { "s" })
}

/// The nearest number to a text; digits that overflow are the largest there is.
pub fn number(text: &str) -> Option<Number> {
    float(text)
        .or_else(|| is_number(text).then_some(f64::MAX))
        .map(Number::Real)
}

/// The nearest float. Digits that overflow are not what `inf` says.
fn float<T: FromStr + Into<f64> + Copy>(text: &str) -> Option<T> {
    let digits = text.bytes().any(|b| b.is_ascii_digit());
    text.parse()
        .ok()
        .filter(|x| !(Into::<f64>::into(*x).is_infinite() && digits))
}

/// An integer, also if written as `3.0` or `1e3`.
fn whole(text: &str) -> Option<Number> {
    text.parse()
        .ok()
        .map(Number::Integer)
        .or_else(|| float(text).map(Number::Real))
}

fn cells<T>(
    bytes: &[u8],
    column: Option<&str>,
    dtype: Dtype,
    parse: fn(&str) -> Option<T>,
) -> Result<Vec<T>, Why> {
    let mut rows = rows(bytes, b',');
    let first = rows.next().ok_or("it holds no rows")??;
    let second = rows.next().transpose()?;
    let columns = Columns::new(&first.cells, second.as_ref().map(|row| &row.cells));
    let top = if columns.named {
        second.as_ref()
    } else {
        Some(&first)
    };
    let at = columns.choose(column, top.map(|row| &row.cells))?;

    let data = Some(first)
        .filter(|_| !columns.named)
        .into_iter()
        .chain(second)
        .map(Ok)
        .chain(rows);
    data.map(|row| columns.value(&row?, at, dtype, parse))
        .collect()
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

struct Columns {
    names: Vec<String>,
    /// Whether the names come from the first row; else they are numbers.
    named: bool,
}

impl Columns {
    fn new(first: &StringRecord, second: Option<&StringRecord>) -> Columns {
        let named = is_header(first, second);
        Columns {
            names: first
                .iter()
                .enumerate()
                .map(|(i, cell): (usize, &str)| {
                    if named {
                        cell.to_string()
                    } else {
                        (i + 1).to_string()
                    }
                })
                .collect(),
            named,
        }
    }

    /// Index of the column asked for, or of the only one whose first value is a number.
    fn choose(&self, column: Option<&str>, values: Option<&StringRecord>) -> Result<usize, Why> {
        let (found, what): (Vec<usize>, _) = match column {
            Some(column) => (self.find(column), format!("are called {}", shown(column))),
            None if self.names.len() == 1 => (vec![0], String::new()),
            None => {
                let numeric = values
                    .into_iter()
                    .flatten()
                    .enumerate()
                    .filter(|(_, cell)| is_number(cell));
                (
                    numeric
                        .map(|(i, _)| i)
                        .take_while(|&i| i < self.names.len())
                        .collect(),
                    "hold numbers".into(),
                )
            }
        };
        match found[..] {
            [at] => Ok(at),
            [] => Err(format!(
                "no columns {what}; choose one with FILE.csv:NAME or :NUMBER from {}",
                self.list()
            )),
            _ => Err(format!(
                "several columns {what}; choose one with FILE.csv:NAME or :NUMBER from {}",
                self.list()
            )),
        }
    }

    /// A name goes before a number, as in a table of years.
    fn find(&self, column: &str) -> Vec<usize> {
        let column = column.trim();
        let by_name: Vec<usize> = (0..self.names.len())
            .filter(|&i| self.names[i] == column)
            .collect();
        let number = column
            .parse::<usize>()
            .ok()
            .and_then(|i| i.checked_sub(1))
            .filter(|&i| i < self.names.len());
        if by_name.is_empty() {
            number.into_iter().collect()
        } else {
            by_name
        }
    }

    fn list(&self) -> String {
        const MOST: usize = 20;
        let names = self.names.iter().take(MOST).enumerate();
        let list: Vec<String> = names
            .map(|(i, name)| {
                if self.named {
                    format!("{} {}", i + 1, shown(name))
                } else {
                    name.clone()
                }
            })
            .collect();
        let more = if self.names.len() > MOST { ", ..." } else { "" };
        list.join(", ") + more
    }

    fn value<T>(
        &self,
        row: &CsvRow,
        at: usize,
        dtype: Dtype,
        parse: fn(&str) -> Option<T>,
    ) -> Result<T, Why> {
        let line = row.line;
        let got = row.cells.len();
        let expected = self.names.len();
        if got != expected {
            return Err(uneven(line, got, expected));
        }
        let text = &row.cells[at];
        parse(text).ok_or_else(|| {
            let why = match text {
                "" => "the cell is empty; fill it in".into(),
                text if is_number(text) => format!(
                    "{} does not fit {dtype}; choose another --dtype",
                    shown(text)
                ),
                text => no_number(text),
            };
            format!("line {line}, column {}: {why}", shown(&self.names[at]))
        })
    }
}

/// That a line has more or fewer cells than the first.
pub fn uneven(line: u64, got: usize, expected: usize) -> String {
    let next = match got > expected {
        true => {
            "if commas stand for decimal points, as in 2628,5, write 2628.5; else take away what is too much"
        }
        false => "complete it",
    };
    format!(
        "line {line} has {} where the first has {expected}; {next}",
        cell_count(got)
    )
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

/// Names are words: a row without numbers, or with a word where the next row has a number.
fn is_header(first: &StringRecord, second: Option<&StringRecord>) -> bool {
    first.iter().any(is_word) && !first.iter().any(is_number)
        || second.is_some_and(|second: &StringRecord| {
            first
                .iter()
                .zip(second)
                .any(|(a, b)| is_word(a) && is_number(b))
        })
}

fn is_word(cell: &str) -> bool {
    !cell.is_empty() && !is_number(cell)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn f64s(text: &str, column: Option<&str>) -> Result<Vec<f64>, Why> {
        let Array::F64(v) = read(text.as_bytes(), column, Dtype::F64)? else {
            unreachable!()
        };
        Ok(v)
    }

    #[test]
    fn columns_by_name_and_number() {
        let text = "\u{feff}day, flow ,note\n1,2.5,a\n2,-3e2,\"b\nc\"\n";
        assert_eq!(f64s(text, Some("flow")), Ok(vec![2.5, -300.0]));
        assert_eq!(f64s(text, Some("1")), Ok(vec![1.0, 2.0]));
        assert_eq!(f64s(text, Some("day")), Ok(vec![1.0, 2.0]));
    }

    #[test]
    fn the_only_column_of_numbers_is_the_default() {
        assert_eq!(f64s("name,size\na,1\nb,2\n", None), Ok(vec![1.0, 2.0]));
        let why = f64s("x,y\n1,2\n", None).unwrap_err();
        assert!(
            why.starts_with("several columns hold numbers") && why.ends_with("1 'x', 2 'y'"),
            "{why}"
        );
        assert!(
            f64s("x,y\na,b\n", None)
                .unwrap_err()
                .starts_with("no columns hold numbers")
        );
        assert!(
            f64s("x,y\n1,2\n", Some("z"))
                .unwrap_err()
                .contains("no columns are called 'z'")
        );
        assert!(
            f64s("x,x\n1,2\n", Some("x"))
                .unwrap_err()
                .contains("several columns are called 'x'")
        );
        for number in ["0", "3", "99999999999999999999", "-1", ""] {
            assert!(f64s("x,y\n1,2\n", Some(number)).is_err(), "{number}");
        }
    }

    #[test]
    fn names_are_detected() {
        assert_eq!(f64s("1\n2\n", None), Ok(vec![1.0, 2.0]));
        assert_eq!(f64s("x\n2\n", None), Ok(vec![2.0]));
        assert_eq!(f64s("a,1\nb,2\n", None), Ok(vec![1.0, 2.0]));
        assert_eq!(
            f64s("city,2001\nRome,5\n", Some("2")),
            Ok(vec![2001.0, 5.0])
        );
        assert_eq!(f64s("0,flow\n7,5\n", Some("flow")), Ok(vec![5.0]));
        assert_eq!(f64s("x\n", None), Ok(vec![]));
    }

    #[test]
    fn bad_cells_are_located() {
        let at = |text: &str| f64s(text, Some("y")).unwrap_err();
        assert_eq!(
            at("x,y\n1,2\n\n3,abc\n"),
            "line 4, column 'y': 'abc' is not a number; correct it"
        );
        assert_eq!(
            at("\r\nx,y\r\n1,2\r\n\r\n3,abc\r\n"),
            "line 5, column 'y': 'abc' is not a number; correct it"
        );
        assert_eq!(
            at("\u{feff}x,y\n1,\"\n\"\n"),
            "line 2, column 'y': the cell is empty; fill it in"
        );
        assert_eq!(
            at("x,y\n\"\n\",1\n\n3,abc\n"),
            "line 5, column 'y': 'abc' is not a number; correct it"
        );
        assert_eq!(
            at("x,y\n1,2\n3,\n"),
            "line 3, column 'y': the cell is empty; fill it in"
        );
        assert_eq!(
            at("x,y\n1,2\n3\n"),
            "line 3 has 1 cell where the first has 2; complete it"
        );
        assert_eq!(
            at("x,y\n1,2,3\n"),
            "line 2 has 3 cells where the first has 2; if commas stand for decimal points, as in 2628,5, write 2628.5; else take away what is too much"
        );
        assert_eq!(
            read(b"y\n1\n\n\xff\n", None, Dtype::F64).unwrap_err(),
            "line 4 is not UTF-8; save the file as UTF-8"
        );
    }

    #[test]
    fn special_and_oversized_numbers() {
        assert_eq!(
            f64s("inf\n-Infinity\n", None),
            Ok(vec![f64::INFINITY, f64::NEG_INFINITY])
        );
        assert!(f64s("NaN\n", None).unwrap()[0].is_nan());
        assert!(
            f64s("1e400\n", None)
                .unwrap_err()
                .contains("'1e400' does not fit f64")
        );
        assert!(
            read(b"1e39\n", None, Dtype::F32)
                .unwrap_err()
                .contains("does not fit f32")
        );
        for text in ["nan", "inf", "0.5", "2147483648", "1e10"] {
            assert!(
                read(text.as_bytes(), None, Dtype::I32)
                    .unwrap_err()
                    .contains("does not fit i32"),
                "{text}"
            );
        }
        assert_eq!(
            read(b"3.0\n1e3\n-2\n", None, Dtype::I32),
            Ok(Array::I32(vec![3, 1000, -2]))
        );
        assert_eq!(
            read(b"9223372036854775807\n", None, Dtype::I64),
            Ok(Array::I64(vec![i64::MAX]))
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[0-9a-c,.\"\n\r\u{feff} -]{0,80}", column in prop::option::of("[a-c0-3]")) {
            for dtype in Dtype::ALL {
                if let Err(why) = read(text.as_bytes(), column.as_deref(), dtype) {
                    prop_assert!(!why.contains('\n'));
                }
            }
        }
    }
}

//! Which files outputs may go to: none that is read, none twice, and in place of a file only where gpulab wrote that.

use crate::CsvRecord;
use crate::files::{self, FileIdentity};
use crate::terminal::Stdout;
use gpulab_model::{Error, Result, usage_error};
use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A file that a command is to write; `-` is standard output.
pub struct OutputFile<'a> {
    pub option: &'a str,
    pub path: Cow<'a, str>,
    /// Whether a file that begins so is a result of the same kind, which may be replaced.
    pub is_ours: fn(&str) -> bool,
}

/// Bytes of a file by which its kind is known.
const HEAD: u64 = 8 << 10;

/// Columns that a table of ours must have to be known by them.
const FEWEST: usize = 4;

/// Where a path leads: to a file, or to where one would be made.
type End = (Option<FileIdentity>, Option<PathBuf>);

fn end(path: &Path) -> End {
    (FileIdentity::of(path), FileIdentity::place(path))
}

fn is_same(a: &End, b: &End) -> bool {
    (a.0.is_some() && a.0 == b.0) || (a.1.is_some() && a.1 == b.1)
}

/// Refuses outputs that are inputs or each other, by whatever path, and those that would replace a file that gpulab did not
/// write, unless that is `forced`; and those that are no files. Nothing is opened for writing.
pub fn check_outputs(outputs: &[OutputFile<'_>], inputs: &[PathBuf], forced: bool) -> Result<()> {
    let to_stdout: Vec<&str> = outputs
        .iter()
        .filter(|one| one.path == "-")
        .map(|one| one.option)
        .collect();
    if to_stdout.len() > 1 {
        return usage_error(format!(
            "{}: only one output can be -, standard output",
            to_stdout.join(" and ")
        ));
    }
    let inputs: Vec<(&PathBuf, End)> = inputs.iter().map(|path| (path, end(path))).collect();
    let mut taken = vec![("standard output".to_owned(), (stdout_identity(), None))];
    for OutputFile { option, path, .. } in outputs.iter().filter(|one| one.path != "-") {
        let name = format!("{option} {path}");
        let path = Path::new(&**path);
        files::check_output(path).map_err(|source| Error::Output {
            what: name.clone(),
            source,
        })?;
        taken.push((name, end(path)));
    }
    for (i, (name, place)) in taken.iter().enumerate() {
        if let Some((input, _)) = inputs.iter().find(|(_, input)| is_same(input, place)) {
            let input = input.display();
            return usage_error(format!(
                "{name} is the input {input} itself: give another file"
            ));
        }
        if let Some((other, _)) = taken[..i].iter().find(|(_, other)| is_same(other, place)) {
            return usage_error(format!("{name} and {other} are one file: give another one"));
        }
    }
    let foreign = outputs.iter().find(|one| !forced && one.is_foreign());
    foreign.map_or(Ok(()), |OutputFile { option, path, .. }| {
        let how = "give another file, or --force to replace it";
        usage_error(format!(
            "{option} {path} exists, and this command writes something else: {how}"
        ))
    })
}

impl OutputFile<'_> {
    /// Whether a regular file is there that holds something else. One that cannot be read cannot be written either, or says
    /// so when it is opened.
    fn is_foreign(&self) -> bool {
        let path = Path::new(&*self.path);
        if self.path == "-" || !std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() > 0) {
            return false;
        }
        let mut head = Vec::new();
        let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
        read.is_ok() && !(self.is_ours)(&String::from_utf8_lossy(&head))
    }
}

/// Whether a file begins as a CSV file of such records does, of this version or one that had fewer or more columns.
pub fn begins_as_csv<T: CsvRecord>(head: &str) -> bool {
    let line = head.lines().next().unwrap_or_default();
    line.split(',').count() >= FEWEST
        && line
            .split(',')
            .zip(T::COLUMNS)
            .all(|(cell, column)| cell == *column)
}

pub fn begins_as_json<T: CsvRecord>(head: &str) -> bool {
    begins_as_object(head, &T::COLUMNS[..FEWEST])
}

/// Whether a file begins as JSON whose first object has these keys, the first of them first; or is an empty array.
pub fn begins_as_object(head: &str, keys: &[&str]) -> bool {
    let inner = head.trim_start().trim_start_matches('[').trim_start();
    let is_empty_array = head.trim_start().starts_with('[') && inner.trim_end() == "]";
    is_empty_array
        || (inner.starts_with('{')
            && keys.first().is_some_and(|key: &&str| {
                inner
                    .trim_start_matches('{')
                    .trim_start()
                    .starts_with(&format!("\"{key}\":"))
            })
            && keys
                .iter()
                .all(|key| inner.contains(&format!("\"{key}\":"))))
}

fn stdout_identity() -> Option<FileIdentity> {
    FileIdentity::of_open(Stdout.file().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Point, Row, SampleRow};

    #[test]
    fn results_are_known_by_their_first_lines() {
        let header = |columns: &[&str]| format!("{}\n1,2\n", columns.join(","));
        assert!(
            begins_as_csv::<Row>(&header(Row::COLUMNS))
                && begins_as_csv::<Row>(&header(&Row::COLUMNS[..30]))
        );
        assert!(begins_as_csv::<Row>(&header(
            &[Row::COLUMNS, &["newer"]].concat()
        )));
        for other in [
            "",
            "schema",
            "schema,run_id\n",
            "a,b,c,d\n1,2,3,4\n",
            "[package]\n",
            "{}",
        ] {
            assert!(
                !begins_as_csv::<Row>(other) && !begins_as_json::<Row>(other),
                "{other}"
            );
        }
        assert!(
            !begins_as_csv::<Row>(&header(Point::COLUMNS))
                && !begins_as_csv::<Point>(&header(Row::COLUMNS))
        );
        assert!(!begins_as_csv::<Row>(&header(SampleRow::COLUMNS)));
        let json = "[\n{\"schema\":1,\"run_id\":\"x\",\"time_utc\":\"\",\"gpulab\":\"\"}\n]\n";
        assert!(begins_as_json::<Row>(json) && begins_as_json::<Row>("[\n]\n"));
        for other in [
            "[",
            "[]x",
            "{\"schema\": 1}",
            "{\"name\": 1, \"schema\": 1, \"run_id\": 1}",
            "[1]",
        ] {
            assert!(!begins_as_json::<Row>(other), "{other}");
        }
    }
}

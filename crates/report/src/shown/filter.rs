//! `--where`: which of the recorded results are meant.

use super::content::{ShownContent, ShownFile};
use crate::chosen::ChosenColumn;
use crate::format;
use crate::groups::distinct;
use gpulab_kernels::values::Condition;
use gpulab_model::Error;
use gpulab_model::suggest::{did_you_mean, nearest};
use gpulab_record::store::Recorded;
use gpulab_record::{Cells, CsvRecord};

/// Columns of which a part of the value is enough, as with `-d`.
const NAMES: [&str; 3] = ["platform", "device", "driver"];

const MOST: usize = 12;

/// The column that figures of other programs have in place of a variant.
const PEER: &str = "peer";

/// The records that meet all conditions. Records that lack a column of these do not; but figures of other programs have few
/// columns, so they are held against those that they have.
pub fn filtered(files: Vec<ShownFile>, conditions: &[Condition]) -> Result<Vec<ShownFile>, Error> {
    conditions.iter().try_fold(files, |files, condition| {
        let mut sieve = Sieve { condition, is_known: false, is_met: false, seen: Vec::new(), names: Vec::new() };
        let kept: Vec<ShownFile> = files.into_iter().filter_map(|file| sieve.file(file)).collect();
        match (sieve.is_known, kept.is_empty() || !sieve.is_met) {
            (true, false) => Ok(kept),
            (true, true) => Err(sieve.nothing_left()),
            (false, _) => Err(sieve.unknown()),
        }
    })
}

/// One condition on its way through the records.
struct Sieve<'a> {
    condition: &'a Condition,
    is_known: bool,
    is_met: bool,
    /// The values that it has there.
    seen: Vec<String>,
    /// The columns and settings that there are.
    names: Vec<String>,
}

impl Sieve<'_> {
    fn file(&mut self, file: ShownFile) -> Option<ShownFile> {
        let holds = match file.holds {
            ShownContent::Recorded(Recorded::Rows(rows)) => {
                self.records(rows).map(|rows| ShownContent::Recorded(Recorded::Rows(rows)))
            }
            ShownContent::Recorded(Recorded::Points(points)) => {
                self.records(points).map(|points| ShownContent::Recorded(Recorded::Points(points)))
            }
            ShownContent::Recorded(Recorded::Peers(cells)) => {
                self.peers(cells).map(|cells| ShownContent::Recorded(Recorded::Peers(cells)))
            }
            ShownContent::Recorded(Recorded::Other { .. }) => None,
            ShownContent::Ceilings(rows) => self.records(rows).map(ShownContent::Ceilings),
            ShownContent::Counts(rows) => self.records(rows).map(ShownContent::Counts),
            ShownContent::Samples(rows) => self.records(rows).map(ShownContent::Samples),
        };
        holds.map(|holds| ShownFile { holds, ..file })
    }

    fn records<T: CsvRecord>(&mut self, records: Vec<T>) -> Option<Vec<T>> {
        if self.condition.column == PEER {
            self.names.extend(T::COLUMNS.iter().map(|name| (*name).to_owned()));
            return Some(records);
        }
        let Some(column) = ChosenColumn::of_file(&self.condition.column, &records) else {
            let settings =
                records.iter().flat_map(|record| Cells::of(record).settings().map(str::to_owned).collect::<Vec<_>>());
            self.names.extend(T::COLUMNS.iter().map(|name| (*name).to_owned()).chain(settings));
            return None;
        };
        self.is_known = true;
        let name = column.name();
        let kept: Vec<T> =
            records.into_iter().filter(|record| self.is_met(&name, Cells::of(record).text(&name))).collect();
        (!kept.is_empty()).then_some(kept)
    }

    fn peers(&mut self, mut cells: Vec<Vec<String>>) -> Option<Vec<Vec<String>>> {
        let name = self.condition.column.clone();
        let Some(place) = cells.first().and_then(|header| header.iter().position(|own| *own == name)) else {
            return Some(cells);
        };
        self.is_known = true;
        let rows = cells.split_off(1);
        cells.extend(rows.into_iter().filter(|row| self.is_met(&name, row.get(place).cloned().unwrap_or_default())));
        (cells.len() > 1).then_some(cells)
    }

    fn is_met(&mut self, column: &str, cell: String) -> bool {
        let is_met = self.condition.is_met(&cell, NAMES.contains(&column));
        self.is_met |= is_met;
        if !self.seen.contains(&cell) {
            self.seen.push(cell);
        }
        is_met
    }

    fn nothing_left(&self) -> Error {
        let Condition { column, values } = self.condition;
        let seen = self.seen.iter().map(|value| if value.is_empty() { "(nothing)" } else { value });
        let listed: Vec<String> = seen.take(MOST).map(format::terminal).collect();
        let more = if self.seen.len() > MOST { ", ..." } else { "" };
        let why = format!("no record has {column} = {}; there is {}{more}", values.join(" or "), listed.join(", "));
        Error::Usage(format!("--where: {why}"))
    }

    fn unknown(&self) -> Error {
        let name = &self.condition.column;
        let names = distinct(self.names.iter().map(String::as_str));
        let near = nearest(name, names, |name| *name);
        let why = format!("no record here has a column or a setting {name:?}");
        Error::Usage(format!(
            "--where: {why}{}; gpulab help columns lists columns",
            did_you_mean(&near).replace('?', "")
        ))
    }
}

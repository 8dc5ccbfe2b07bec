//! Tables of the columns that were asked for: a ladder's own, or those of files.

use super::columns::{COLUMNS, TableColumn, in_one_unit, legend};
use super::view::verdict;
use crate::prelude::*;
use gpulab_record::{Cells, ColumnEntry, CsvRecord};

#[derive(Clone)]
pub struct ChosenColumn(ColumnSource);

#[derive(Clone)]
enum ColumnSource {
    Rung,
    Verdict,
    Table(&'static TableColumn),
    File(&'static ColumnEntry),
    Setting(String),
}

/// A name's letters and digits: `gbs` and `GB/s` are one.
fn bare(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Names of the columns that ladders' tables have, as they are easily typed: `of_limit`.
pub fn table_names() -> Vec<String> {
    ["rung".to_owned()]
        .into_iter()
        .chain(
            COLUMNS.iter().map(|column: &TableColumn| column.name().to_lowercase().replace(' ', "_").replace('/', "")),
        )
        .chain(["verdict".to_owned()])
        .collect()
}

impl ChosenColumn {
    /// Of a ladder's table, or else of the rows in files, or a setting that one of them has.
    pub fn of_ladder(name: &str, rows: &[Row]) -> Option<ChosenColumn> {
        let own = match bare(name).as_str() {
            "rung" => Some(ColumnSource::Rung),
            "verdict" => Some(ColumnSource::Verdict),
            wanted => COLUMNS.iter().find(|column| bare(&column.name()) == wanted).map(ColumnSource::Table),
        };
        own.map(ChosenColumn).or_else(|| ChosenColumn::of_file(name, rows))
    }

    /// Of the records in files, or a setting that one of them has.
    pub fn of_file<T: CsvRecord>(name: &str, records: &[T]) -> Option<ChosenColumn> {
        let wanted = bare(name);
        if let Some(entry) = T::DICTIONARY.iter().find(|entry| bare(entry.name) == wanted) {
            return Some(ChosenColumn(ColumnSource::File(entry)));
        }
        records
            .iter()
            .find_map(|record: &T| Cells::of(record).settings().find(|own| bare(own) == wanted).map(str::to_owned))
            .map(|name| ChosenColumn(ColumnSource::Setting(name)))
    }

    pub fn name(&self) -> String {
        match &self.0 {
            ColumnSource::Rung => "rung".to_owned(),
            ColumnSource::Verdict => "verdict".to_owned(),
            ColumnSource::Table(column) => column.name(),
            ColumnSource::File(entry) => entry.name.to_owned(),
            ColumnSource::Setting(name) => name.clone(),
        }
    }

    /// A single cell, with its unit; nothing where there is none.
    pub(super) fn text(&self, cell: &Cell<'_>) -> Option<String> {
        match &self.0 {
            ColumnSource::Rung => Some(label(cell.row)),
            ColumnSource::Verdict => Some(verdict(cell.judged(), markdown::VERDICT_WIDTH)),
            ColumnSource::Table(column) => (column.value)(cell).map(Value::text),
            _ => self.file_texts(&[Cells::of(cell.row)]).pop().filter(|text| text != "-"),
        }
    }

    fn of_cells(&self, cells: &[Cell<'_>], unit: RateUnit, medium: Medium) -> GridColumn {
        let texts = || cells.iter().map(|cell| self.text(cell).unwrap_or_default()).collect();
        match &self.0 {
            ColumnSource::Rung | ColumnSource::Verdict => GridColumn::texts(self.name(), texts(), 0),
            ColumnSource::Table(column) => {
                let values: Vec<Option<Value>> = cells.iter().map(column.value).collect();
                numbers(column.head(unit), &values, medium)
            }
            _ => self.of_files(&cells.iter().map(|cell| Cells::of(cell.row)).collect::<Vec<_>>(), medium),
        }
    }

    fn of_files(&self, records: &[Cells], medium: Medium) -> GridColumn {
        let texts = self.file_texts(records);
        match &self.0 {
            ColumnSource::File(entry) if entry.kind() == "number" => {
                let value =
                    |text: String| text.parse().ok().map(if entry.unit == "s" { Value::Seconds } else { Value::Rate });
                let values: Vec<Option<Value>> = records.iter().map(|record| value(record.text(entry.name))).collect();
                numbers(self.name(), &values, medium)
            }
            _ if texts.iter().all(|text| text == "-" || text.parse::<f64>().is_ok()) => {
                GridColumn::numbers(self.name(), texts, 0)
            }
            _ => GridColumn::texts(self.name(), texts, 0),
        }
    }

    /// The cells of records with their units; a dash where there is none.
    fn file_texts(&self, records: &[Cells]) -> Vec<String> {
        let name = self.name();
        records
            .iter()
            .map(|record: &Cells| match (&self.0, record.text(&name)) {
                (_, text) if text.is_empty() => "-".to_owned(),
                (ColumnSource::File(entry), text) if entry.kind() == "number" => match text.parse::<f64>() {
                    Ok(seconds) if entry.unit == "s" => format::time(seconds),
                    Ok(number) => format::significant(number, 4),
                    Err(_) => text,
                },
                (_, text) => text,
            })
            .collect()
    }
}

/// A column of numbers: on a screen in one unit, in a document each with its own.
fn numbers(head: String, values: &[Option<Value>], medium: Medium) -> GridColumn {
    match (medium, in_one_unit(values)) {
        (Medium::Screen(_), (Some(of_time), texts)) => GridColumn::numbers(format!("{head}\n{of_time}"), texts, 0),
        (Medium::Screen(_), (None, texts)) => GridColumn::numbers(head, texts, 0),
        (Medium::Markdown, _) => GridColumn::numbers(
            head,
            values.iter().map(|value: &Option<Value>| value.map_or_else(|| "-".to_owned(), Value::text)).collect(),
            0,
        ),
    }
}

/// The lines of a ladder's table: its rungs, or where there are none its CPU baselines; of a sweep all rows.
pub(super) fn lines(rows: &[Row], unit: RateUnit) -> Vec<Cell<'_>> {
    if rows.iter().any(|row| !row.sweep_id.is_empty()) {
        return rows.iter().map(|row| Cell { row, before: None, inside: None, unit }).collect();
    }
    let View { rungs, cpu, .. } = View::of(rows, unit);
    if rungs.is_empty() { cpu } else { rungs }
}

pub fn ladder(rows: &[Row], columns: &[ChosenColumn], unit: RateUnit, medium: Medium) -> String {
    let cells = lines(rows, unit);
    let swept = rows.first().filter(|row| !row.sweep_id.is_empty());
    let title = match swept {
        Some(row) => format!("sweep of {} on {}", row.family, format::device(&row.device)),
        None => View::of(rows, unit).title,
    };
    let columns = columns.iter().map(|column| column.of_cells(&cells, unit, medium)).collect();
    titled(&title, TextGrid { columns }, medium)
}

pub fn records<T: CsvRecord>(title: &str, records: &[T], columns: &[ChosenColumn], medium: Medium) -> String {
    let cells: Vec<Cells> = records.iter().map(Cells::of).collect();
    let columns = columns.iter().map(|column| column.of_files(&cells, medium)).collect();
    titled(title, TextGrid { columns }, medium)
}

/// A table below its title, and what its signs mean.
pub(super) fn titled(title: &str, grid: TextGrid, medium: Medium) -> String {
    let title = match medium {
        Medium::Screen(screen) => {
            format::on_screen(&format::wrap(&format::terminal(title), screen.width, "  "), screen)
        }
        Medium::Markdown => markdown::title(title),
    };
    let legend =
        legend(false, grid.columns.iter().filter(|column| !column.is_text).flat_map(|column| column.cells.clone()));
    let legend = legend.map_or_else(String::new, |legend| match medium {
        Medium::Screen(screen) => format::on_screen(&format::wrap(&legend, screen.width, "  "), screen),
        Medium::Markdown => format!("\n{}\n", format::markdown(&legend)),
    });
    format!("{title}\n{}{legend}", grid.on(medium))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::SCREEN;
    use gpulab_record::{point, row};

    fn rows() -> Vec<Row> {
        let timed = |rung, variant, seconds| Row { rung: Some(rung), t_median_s: Some(seconds), ..row(variant) };
        vec![timed(1, "naive", 2e-6), Row { gbps: Some(8.0), step_x: Some(2.0), ..timed(2, "lo|cal", 1e-6) }]
    }

    fn chosen(names: &[&str]) -> Vec<ChosenColumn> {
        names.iter().map(|name| ChosenColumn::of_ladder(name, &rows()).unwrap()).collect()
    }

    #[test]
    fn columns_of_tables_of_files_and_settings_come_in_the_order_asked_for() {
        let columns = chosen(&["GB/s", "rung", "time", "of_limit", "t_max_s", "items", "Presum", "verdict"]);
        let text = ladder(&rows(), &columns, RateUnit::GB, Medium::Markdown);
        insta::assert_snapshot!(text.split_once("\n\n").unwrap().1, @r"
        | GB/s | rung | time | of limit | t_max_s | items | presum | verdict |
        | ---: | --- | ---: | ---: | ---: | ---: | --- | --- |
        | - | v1 naive | 2.000 us | - | 300.0 ms | 8 | host | ok |
        | 8.000 | v2 lo\|cal | 1.000 us | - | 300.0 ms | 8 | host | ok |
        ");
        let text = ladder(&rows(), &chosen(&["rung", "time"]), RateUnit::GB, Medium::Screen(SCREEN));
        assert!(text.ends_with("rung          us\n----------------\nv1 naive   2.000\nv2 lo|cal  1.000\n"), "{text}");
        assert!(ChosenColumn::of_ladder("nothing", &rows()).is_none());
    }

    #[test]
    fn every_name_of_a_tables_column_is_known() {
        for name in table_names() {
            assert!(ChosenColumn::of_ladder(&name, &[]).is_some(), "{name}");
        }
    }

    #[test]
    fn records_of_other_kinds_have_their_files_columns() {
        let points = [point("tiled", 64, 1.5, 0.1)];
        let columns = ["series", "x", "value"].map(|name| ChosenColumn::of_file(name, &points).unwrap());
        let text = records("pitch", &points, &columns, Medium::Markdown);
        assert!(text.ends_with("| tiled | 64.00 | 1.500 |\n"), "{text}");
    }
}

//! A ladder as text for a terminal.

use super::format::{self, paint};
use super::view::{RateUnit, TextTable, View};
use crate::record::Row;
use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};

/// Columns two blanks apart (one is the separator's, one padding) under a dashed line.
pub(super) const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('-').junction('-'));

/// The rows of one ladder (one case on one device, CPU baselines among them) as a table with a title
/// above and the result and remarks below. Verdicts are coloured if `color` is set.
pub fn table(rows: &[Row], unit: RateUnit, color: bool) -> String {
    if rows.is_empty() {
        return "nothing was run\n".to_owned();
    }
    let view = View::of(rows, unit);
    let mut text = format::terminal(&view.title) + "\n";
    for grid in [&view.rungs, &view.cpu] {
        if !grid.rows.is_empty() {
            text.push('\n');
            text.push_str(&render(grid, color));
        }
    }
    if let Some(result) = &view.result {
        text.push_str(&format!("\n{}\n", format::terminal(result)));
    }
    if !view.notes.is_empty() {
        text.push('\n');
    }
    for note in &view.notes {
        text.push_str(&format!("note: {}\n", format::terminal(note)));
    }
    for (label, reason) in &view.details {
        text.push_str(&format!("\n{}:\n{}", format::terminal(label), format::block(reason, "  ")));
    }
    text
}

pub(super) fn render(grid: &TextTable, color: bool) -> String {
    let escaped = |cells: &[String]| cells.iter().map(|c| format::terminal(c)).collect::<Vec<_>>();
    let mut table = Table::new();
    table.load_style(STYLE).set_header(escaped(&grid.header)).add_rows(grid.rows.iter().map(|r| escaped(r)));
    let last = grid.header.len().saturating_sub(1);
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if i == 0 { 0 } else { 1 }, 0));
        column.set_cell_alignment(if i == 0 || i == last { CellAlignment::Left } else { CellAlignment::Right });
    }
    let mut lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    if color {
        tint_verdicts(&mut lines, grid);
    }
    lines.join("\n") + "\n"
}

/// Colours the end of each line after the table is laid out, because its columns are aligned by
/// counting characters.
fn tint_verdicts(lines: &mut [String], grid: &TextTable) {
    let first = lines.len().saturating_sub(grid.rows.len());
    for ((line, row), tint) in lines[first..].iter_mut().zip(&grid.rows).zip(&grid.tints) {
        let verdict = row.last().map(|v| format::terminal(v)).unwrap_or_default();
        if let Some(rest) = line.strip_suffix(&verdict) {
            *line = rest.to_owned() + &paint(&verdict, *tint);
        }
    }
}

#[cfg(test)]
mod tests;

//! A ladder as text for a terminal.

use super::format::{self, paint};
use super::view::{RateUnit, TextTable, View};
use crate::record::Row;
use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};

/// Characters of a line, where nothing in it is longer.
pub(super) const WIDTH: usize = 80;

/// Columns two blanks apart (one is the separator's, one padding) under a dashed line.
pub(super) const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('-').junction('-'));

/// The rows of one ladder (one case on one device, CPU baselines among them) as a table with a title
/// above and the result and remarks below. Verdicts are coloured if `color` is set.
pub fn table(rows: &[Row], unit: RateUnit, color: bool) -> String {
    if rows.is_empty() {
        return "nothing was run\n".to_owned();
    }
    let view = View::of(rows, unit, Some(WIDTH));
    // No line ends within `n = 1000`.
    let title = format::terminal(&view.title).replace(" = ", "\u{a0}=\u{a0}");
    let mut text = format::wrap(&title, WIDTH, "  ").replace('\u{a0}', " ");
    for grid in [&view.rungs, &view.whole, &view.cpu] {
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
        text.push_str(&format::wrap(&format!("note: {}", format::terminal(note)), WIDTH, "  "));
    }
    for (label, reason) in &view.details {
        text.push_str(&format!("\n{}:\n{}", format::terminal(label), format::block(reason, "  ")));
    }
    text
}

pub(super) fn render(grid: &TextTable, color: bool) -> String {
    let escaped = |cells: &[String]| cells.iter().map(|c| format::terminal(c)).collect::<Vec<_>>();
    let mut table = Table::new();
    table.load_style(STYLE).set_header(header(&grid.header)).add_rows(grid.rows.iter().map(|r| escaped(r)));
    let last = grid.header.len().saturating_sub(1);
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if i == 0 { 0 } else { 1 }, 0));
        let is_text = i == 0 || (i == last && !grid.tints.is_empty());
        column.set_cell_alignment(if is_text { CellAlignment::Left } else { CellAlignment::Right });
    }
    let mut lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    if color {
        tint_verdicts(&mut lines, grid);
    }
    lines.join("\n") + "\n"
}

/// The names of columns, each ending on the last of as many lines as the tallest has.
fn header(names: &[String]) -> Vec<String> {
    let lines = |name: &String| name.matches('\n').count();
    let most = names.iter().map(lines).max().unwrap_or(0);
    let escaped = |name: &String| name.split('\n').map(format::terminal).collect::<Vec<_>>().join("\n");
    names.iter().map(|name| "\n".repeat(most - lines(name)) + &escaped(name)).collect()
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

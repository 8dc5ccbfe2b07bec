//! A ladder as GitHub-flavoured Markdown.

use super::format::{self, markdown};
use super::view::{RateUnit, TextTable, View};
use crate::record::Row;

/// The rows of one ladder, with the content of [`super::ladder::table`].
pub fn ladder(rows: &[Row], unit: RateUnit) -> String {
    if rows.is_empty() {
        return "Nothing was run.\n".to_owned();
    }
    let view = View::of(rows, unit, None);
    let mut text = format!("**{}**\n", markdown(&view.title));
    for grid in [&view.rungs, &view.whole, &view.cpu] {
        if !grid.rows.is_empty() {
            text.push('\n');
            text.push_str(&table(grid));
        }
    }
    if let Some(result) = &view.result {
        text.push_str(&format!("\n{}\n", markdown(result)));
    }
    if !view.notes.is_empty() {
        text.push('\n');
    }
    for note in &view.notes {
        text.push_str(&format!("- {}\n", markdown(note)));
    }
    for (label, reason) in &view.details {
        // Indented, because no text can end an indented block early.
        text.push_str(&format!("\n{}:\n\n{}", markdown(label), format::block(reason, "    ")));
    }
    text
}

fn table(grid: &TextTable) -> String {
    let line =
        |cells: &[String]| format!("| {} |\n", cells.iter().map(|c| markdown(c)).collect::<Vec<_>>().join(" | "));
    let last = grid.header.len().saturating_sub(1);
    let is_text = |i| i == 0 || (i == last && !grid.tints.is_empty());
    let rule: Vec<&str> = (0..=last).map(|i| if is_text(i) { "---" } else { "---:" }).collect();
    let body: String = grid.rows.iter().map(|r| line(r)).collect();
    format!("{}| {} |\n{body}", line(&grid.header), rule.join(" | "))
}

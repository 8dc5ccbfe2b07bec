//! A ladder as GitHub-flavoured Markdown.

use super::columns::{KERNELS, TIMING, TableColumn, WHOLE};
use super::format::markdown;
use super::view::{RateUnit, View, detail, verdict};
use crate::format;
use crate::rungs::label;
use crate::table::Table;
use gpulab_record::Row;

/// How Markdown begins in a file of its own, so that it is known as gpulab's.
pub const MARKDOWN_MARK: &str = "<!-- gpulab -->\n";

const VERDICT_WIDTH: usize = 30;

pub fn ladder(rows: &[Row], unit: RateUnit) -> String {
    if rows.is_empty() {
        return "Nothing was run.\n".to_owned();
    }
    let view = View::of(rows, unit);
    let mut text = title(&view.title);
    let timed: Vec<&Row> = view
        .rungs
        .iter()
        .copied()
        .filter(|row| row.t_median_s.is_some())
        .collect();
    let cpu_name = view
        .cpu
        .first()
        .map(|row| row.device.as_str())
        .unwrap_or_default();
    let rungs = table("rung", &view, &view.rungs, &[TIMING, KERNELS]);
    text.extend(rungs.iter().map(below_a_line));
    text.extend(
        rungs
            .and_then(|rungs| rungs.legend(false))
            .map(|legend| format!("\n{}\n", markdown(&legend))),
    );
    text.extend(
        table(BESIDE_CPU, &view, &timed, &[WHOLE])
            .iter()
            .map(below_a_line),
    );
    text.extend(
        table(cpu_name, &view, &view.cpu, &[TIMING])
            .iter()
            .map(below_a_line),
    );
    if let Some(result) = &view.result {
        text.push_str(&format!("\n{}\n", markdown(result)));
    }
    let notes: Vec<&str> = view
        .notes
        .iter()
        .map(String::as_str)
        .chain(view.lesson)
        .collect();
    if !notes.is_empty() {
        text.push('\n');
    }
    for note in notes {
        text.push_str(&format!("- {}\n", markdown(note)));
    }
    for row in view.troubled {
        let shown = row.repeats().is_none().then(|| verdict(row, VERDICT_WIDTH));
        if let Some((label, reason)) = detail(row, shown.as_deref()) {
            // Indented, because no text can end an indented block early.
            text.push_str(&format!(
                "\n{}:\n\n{}",
                markdown(&label),
                format::block(&reason, "    ")
            ));
        }
    }
    text
}

/// A line of its own in bold letters.
fn title(text: &str) -> String {
    format!("**{}**\n", markdown(text.trim()))
}

const BESIDE_CPU: &str = "beside the CPU";

/// The table of some rows; none without rows or columns. Those of times have verdicts.
fn table<'a>(
    first: &str,
    view: &View<'a>,
    rows: &[&'a Row],
    parts: &[&[TableColumn]],
) -> Option<Table> {
    let table = Table::default()
        .texts(first, rows.iter().map(|row| label(row)))
        .ladder(view, rows, parts, true);
    match first {
        _ if rows.is_empty() || table.columns.len() == 1 => None,
        BESIDE_CPU => Some(table),
        _ => Some(
            table.texts(
                "verdict",
                rows.iter()
                    .map(|row| verdict(view.judged(row), VERDICT_WIDTH)),
            ),
        ),
    }
}

fn below_a_line(table: &Table) -> String {
    format!("\n{}", table.markdown())
}

//! The data dictionary: what the columns of every kind of files that gpulab writes hold, as text and Markdown.

use super::format::wrap;
use gpulab_model::Joined;
use gpulab_record::compare::ComparisonRow;
use gpulab_record::{ColumnEntry, CsvRecord, Point, ProgramRow, Row, SampleRow};
use gpulab_study::ceilings::CeilingRow;
use gpulab_study::count::CountRow;

#[derive(Clone, Copy, Debug)]
struct Dictionary {
    /// The kind, as in `points`.
    name: &'static str,
    written_by: &'static str,
    columns: &'static [ColumnEntry],
}

const ALL: [Dictionary; 7] = [
    Dictionary {
        name: "results",
        written_by: "one line for each case of a ladder, a sweep or a search: dot, reduce, transpose, minplus, tune --csv or \
                     --json; sweep",
        columns: Row::DICTIONARY,
    },
    Dictionary {
        name: "points",
        written_by: "one line for each point of an experiment: lab --csv or --json; in JSON an element {experiment, \
                     question, finding} follows the points of each experiment",
        columns: Point::DICTIONARY,
    },
    Dictionary {
        name: "samples",
        written_by: "one line for each timed run: dot, reduce, transpose, minplus --samples",
        columns: SampleRow::DICTIONARY,
    },
    Dictionary {
        name: "ceilings",
        written_by: "one line for each measured limit of a device: ceiling --csv or --json",
        columns: CeilingRow::DICTIONARY,
    },
    Dictionary {
        name: "comparisons",
        written_by: "one line for each case that the files of a comparison have in common: compare --csv, and cases of compare --json",
        columns: ComparisonRow::DICTIONARY,
    },
    Dictionary {
        name: "counts",
        written_by: "one line for each launch that was counted, and with --lines for each line of its source: count --csv or \
                     --json",
        columns: CountRow::DICTIONARY,
    },
    Dictionary {
        name: "programs",
        written_by: "one line for each kernel, kind of command and refused call of a host program: time --csv or --json",
        columns: ProgramRow::DICTIONARY,
    },
];

const WIDTH: usize = 80;

/// What the meaning of a column stands behind.
const INDENT: &str = "    ";

/// For a terminal: each column's name, type and unit, and its meaning below.
pub fn text() -> String {
    ALL.iter().map(section).joined("\n")
}

fn section(dictionary: &Dictionary) -> String {
    let head = wrap(
        &format!("{}: {}", dictionary.name, dictionary.written_by),
        WIDTH,
        "  ",
    );
    head + &dictionary
        .columns
        .iter()
        .map(|column: &ColumnEntry| {
            let meaning = wrap(
                &format!("{INDENT}{}", column.meaning().replace('`', "")),
                WIDTH,
                INDENT,
            );
            format!("  {}  ({})\n{meaning}", column.name, kind(column))
        })
        .collect::<String>()
}

/// `number in s, may be empty`.
fn kind(column: &ColumnEntry) -> String {
    let unit = if column.unit.is_empty() {
        String::new()
    } else {
        format!(" in {}", column.unit)
    };
    let empty = if column.is_optional() {
        ", may be empty"
    } else {
        ""
    };
    format!("{}{unit}{empty}", column.kind())
}

/// One table for each kind of files.
pub fn markdown() -> String {
    let sections = ALL.iter().map(
        |Dictionary {
             name,
             written_by,
             columns,
         }| {
            let head = "| column | type | unit | may be empty | meaning |\n|---|---|---|---|---|\n";
            let lines = columns.iter().map(|column| {
                let empty = if column.is_optional() { "yes" } else { "" };
                let meaning = column.meaning().replace('|', "\\|");
                format!(
                    "| `{}` | {} | {} | {empty} | {meaning} |\n",
                    column.name,
                    column.kind(),
                    column.unit
                )
            });
            format!(
                "## {name}\n\n{written_by}\n\n{head}{}",
                lines.collect::<String>()
            )
        },
    );
    sections.joined("\n")
}

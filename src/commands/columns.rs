//! `gpulab columns`: what the columns of files hold.

use crate::Error;
use crate::ceilings::CeilingRow;
use crate::compare::ComparisonRow;
use crate::console::Out;
use crate::count::CountRow;
use crate::record::{CsvRecord, Point, Row, SampleRow};
use crate::report::dictionary::{self, Dictionary};

/// Every kind of files.
pub(super) const ALL: [Dictionary; 6] = [
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
        written_by: "one line for each case that the files of a comparison have in common: compare --csv or --json",
        columns: ComparisonRow::DICTIONARY,
    },
    Dictionary {
        name: "counts",
        written_by: "one line for each launch that was counted, and with --lines for each line of its source: count --csv or \
                     --json",
        columns: CountRow::DICTIONARY,
    },
];

/// Prints the data dictionary.
pub fn run(out: &mut Out, md: bool, json: bool) -> Result<(), Error> {
    match (md, json) {
        (true, _) => out.text(&dictionary::markdown(&ALL)),
        (_, true) => out.text(&dictionary::json(&ALL).map_err(|e| Error::Failed(e.to_string()))?),
        _ => out.text(&dictionary::text(&ALL)),
    }
}

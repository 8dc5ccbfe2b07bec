//! Every kind of files that gpulab writes.

use crate::dictionary::Dictionary;
use crate::prelude::*;
use gpulab_record::compare::ComparisonRow;
use gpulab_record::{CsvRecord, Point, SampleRow};
use gpulab_study::count::CountRow;

pub const ALL: [Dictionary; 6] = [
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

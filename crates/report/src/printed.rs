//! The table that a source prints of its kernels, beside what this device makes of them; and the faults of the kernels as printed.

use super::format::{significant, wrap};
use super::ladder::WIDTH;
use crate::table::Table;
use gpulab_model::outcome::Status;
use gpulab_record::REPEATS;
use gpulab_record::Row;

/// All figures of the sources that gpulab prints, with their places.
const FIGURES: &str = include_str!("../../../data/sources.csv");

pub fn figure(source: &str, what: &str) -> Option<&'static str> {
    let mut lines = FIGURES
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    lines
        .find(|cells| cells[0] == source && cells[2] == what)?
        .get(3)
        .copied()
}

/// A text with a source's figures in place of their names, as in `a GPU of {units} units`.
pub fn with_figures(source: &str, text: &str) -> String {
    let mut parts = text.split('{');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        let (name, rest) = part.split_once('}').unwrap_or((part, ""));
        format!("{all}{}{rest}", figure(source, name).unwrap_or("?"))
    })
}

struct SourceTable {
    source: &'static str,
    /// What was measured where, and what is timed; figures by their names.
    about: &'static str,
    columns: &'static [PrintedColumn],
}

struct PrintedColumn {
    head: &'static str,
    /// What the figure of a kernel is called in the table of figures, before the kernel's name; empty for the name alone.
    of: Option<&'static str>,
    here: fn(&PrintedHere<'_>) -> Option<f64>,
}

struct PrintedHere<'a> {
    row: &'a Row,
    /// The same with the loop inside the kernel.
    inside: Option<&'a Row>,
    /// The kernel before it, and the first.
    before: Option<&'a Row>,
    first: &'a Row,
    compute_units: u32,
}

impl PrintedHere<'_> {
    /// How many times as fast as another kernel.
    fn over(&self, other: Option<&Row>) -> Option<f64> {
        Some(
            other
                .filter(|other| other.variant != self.row.variant)?
                .t_median_s?
                / self.row.t_median_s?,
        )
    }

    fn operations(&self, is_whole: bool) -> Option<f64> {
        let time = if is_whole {
            self.row.t_end_to_end_s
        } else {
            self.row.t_median_s
        };
        Some(
            self.row.ops_per_cu_clock? * f64::from(self.compute_units) * self.row.t_median_s?
                / time?,
        )
    }
}

const fn column(
    head: &'static str,
    of: Option<&'static str>,
    here: fn(&PrintedHere<'_>) -> Option<f64>,
) -> PrintedColumn {
    PrintedColumn { head, of, here }
}

const TIME: PrintedColumn = column("ms", Some("time of "), |here| {
    Some(here.row.t_median_s? * 1e3)
});
const RATE: PrintedColumn = column("GB/s", Some(""), |here| here.row.gbps);
const SHARE: PrintedColumn = column("%max", Some("share of "), |here| here.row.ceiling_pct);
const STEP: PrintedColumn = column("step", Some("gain of "), |here| here.over(here.before));
const TOTAL: PrintedColumn = column("total", Some("total gain of "), |here| {
    here.over(Some(here.first))
});
const WHOLE: PrintedColumn = column("end to\nend ms", None, |here| {
    Some(here.row.t_end_to_end_s? * 1e3)
});

/// 10^9 bytes in 2^30.
fn gib(row: &Row) -> Option<f64> {
    Some(row.gbps? * 1e9 / f64::from(1 << 30))
}

const TABLES: [SourceTable; 5] = [
    SourceTable {
        source: "bornhofen",
        about: "Bornhofen's slides time nothing. The column `slide` is by the formula of their exercise, which counts elements: \
                it is a quarter of the bandwidth. The kernels are timed, without the host's part.",
        columns: &[
            TIME,
            column("slide", None, |here| {
                let n = here.row.n as f64;
                let group = here.row.wg.map_or(1, |wg| wg.size()) as f64;
                Some((n + n / group) / here.row.t_median_s? / 1e9)
            }),
            RATE,
            SHARE,
            STEP,
            TOTAL,
        ],
    },
    SourceTable {
        source: "ppc",
        about: "PPC, chapter 4, on a GPU of {units} units: seconds and operations per clock with all overhead within, so its figures \
                stand beside those from end to end. `kernel` is of the kernels alone. Its CPU takes {CPU} s.",
        columns: &[
            column("s", Some("time of "), |here| here.row.t_end_to_end_s),
            column("a clock", Some("operations of "), |here| {
                here.operations(true)
            }),
            column("%max", Some("share of "), |here| {
                Some(here.row.ceiling_pct? * here.row.t_median_s? / here.row.t_end_to_end_s?)
            }),
            column("kernel s", None, |here| here.row.t_median_s),
            column("a clock", None, |here| here.operations(false)),
            column("%max", None, |here| here.row.ceiling_pct),
        ],
    },
    SourceTable {
        source: "cmsoft",
        about: "The CMSoft article has its times in pictures; in words it claims {speedup} times its CPU loop in double: gpulab dot --as \
                cmsoft compares with such a loop.",
        columns: &[TIME, RATE, STEP, TOTAL, WHOLE],
    },
    SourceTable {
        source: "nvidia",
        about: "NVIDIA's transposition of {side} x {side} floats on a GTX 280, in 2^30 bytes a second: `GiB/s` with one launch after \
                the other, `in loop` with the loop in the kernel.",
        columns: &[
            column("GiB/s", Some(""), |here| gib(here.row)),
            column("in loop", Some("in kernel of "), |here| gib(here.inside?)),
            column("%copy", None, |here| here.row.copy_pct),
        ],
    },
    SourceTable {
        source: "maruyama",
        about: "Maruyama's lecture: 2^22 ints in groups of {group} on one GPU of a Tesla S1070, at most {peak} GB/s. The kernels are \
                timed, without transfers; `%max` is there of that rate, and here of the measured limit.",
        columns: &[TIME, RATE, SHARE, STEP, TOTAL],
    },
];

/// The source's table beside this device's; of the kernels that no time came of, the source's figures alone.
pub fn beside(source: &str, rows: &[Row], compute_units: u32) -> String {
    let Some(table) = TABLES.iter().find(|table| table.source == source) else {
        return String::new();
    };
    let plain = rows
        .iter()
        .filter(|row| !row.on_host() && !row.params.contains_key(REPEATS));
    let plain: Vec<&Row> = plain.collect();
    let names = plain.iter().map(|row| row.variant.clone());
    let mut grid = Table::default().texts("kernel", names);
    for column in table.columns {
        let figures: Vec<Option<&str>> = plain
            .iter()
            .map(|row| figure_of(source, column, row))
            .collect();
        if figures.iter().any(Option::is_some) {
            let cells = figures
                .iter()
                .map(|figure| figure.unwrap_or("-").to_owned());
            grid = grid.numbers(format!("then\n{}", column.head), cells);
        }
    }
    let has_figures = grid.columns.len() > 1;
    for column in table.columns {
        let mut cells = Vec::new();
        for (at, &row) in plain.iter().enumerate() {
            let here = PrintedHere {
                row,
                inside: rows.iter().find(|other| {
                    other.variant == row.variant && other.params.contains_key(REPEATS)
                }),
                before: at.checked_sub(1).map(|before| plain[before]),
                first: plain[0],
                compute_units,
            };
            cells.push(match (column.here)(&here) {
                None => "-".to_owned(),
                // Factors as the sources print them.
                Some(x) if matches!(column.head, "step" | "total") => format!("{x:.2}"),
                Some(x) => significant(x, 3),
            });
        }
        grid = grid.numbers(
            format!("{}{}", if has_figures { "here\n" } else { "" }, column.head),
            cells,
        );
    }
    wrap(&with_figures(source, table.about), WIDTH, "  ") + &grid.blocks(WIDTH)
}

fn figure_of(source: &str, column: &PrintedColumn, row: &Row) -> Option<&'static str> {
    let name = row
        .variant
        .replace('_', if source == "nvidia" { "_" } else { " " });
    figure(source, &format!("{}{name}", column.of?))
}

const LOCKSTEP: &str = "its last steps have no barrier, as a warp of 2009 ran in step. Work-items of a warp have had program \
                        counters of their own since 2017, and CPU drivers have no warps: one item may read what another has not \
                        added yet.";
const SYNCHRONISE: &str =
    "a barrier in every step, or one that joins the sub-group alone: gpulab explain reduce:5.";
const SECOND_LOAD: &str = "the loop tests where its first load is, and reads a group's size further on as well: past the end, \
                           unless twice the group's size divides n.";

/// The family and its rung, what is wrong, and the cure.
const FAULTS: [[&str; 4]; 10] = [
    ["bornhofen", "solution_5", LOCKSTEP, SYNCHRONISE],
    ["bornhofen", "solution_6", LOCKSTEP, SYNCHRONISE],
    [
        "bornhofen_faults",
        "final",
        SECOND_LOAD,
        "test the second load's index, too, and put a barrier into the last steps.",
    ],
    ["maruyama", "kernel_5", LOCKSTEP, SYNCHRONISE],
    ["maruyama", "kernel_6", LOCKSTEP, SYNCHRONISE],
    ["maruyama", "kernel_7", LOCKSTEP, SYNCHRONISE],
    [
        "cmsoft",
        "local",
        "group q writes its result at place q of the buffer where items of the first group still read what the launches \
                before left. Nothing orders the groups of a launch, so a sum is wrong now and then.",
        "a buffer of its own for the results; it costs nothing.",
    ],
    [
        "cmsoft_faults",
        "naive",
        "n * (i + 1) leaves 32 bits from 2^21 elements and 1024 items on: the last item's end is below its beginning, \
                and it adds nothing.",
        "multiply in 64 bits, or compute a chunk's length first: gpulab source dot:1.",
    ],
    [
        "nvidia_faults",
        "coalesced",
        "the loop in the kernel has one barrier a turn: the next turn fills the tile while others still read it. Each \
                turn writes the same, so every result is right; over other data it would not be.",
        "a second barrier at the end of a turn.",
    ],
    [
        "ppc_faults",
        "version_2",
        "both kernels of the text at hand step from row to row by the padded side, also in the two buffers that have no \
                padding: they read and write past the end, unless 64 divides n.",
        "n in place of nn there.",
    ],
];

/// Whether a family's rung has a fault as printed, so that a wrong result is what is to be seen.
pub fn is_faulty(family: &str, rung: &str) -> bool {
    FAULTS.iter().any(|fault| fault[..2] == [family, rung])
}

/// What is wrong with the kernels of these rows, as printed, and what cures it: once of all that have it with the same result.
pub fn faults(family: &str, rows: &[Row]) -> String {
    let mut told: Vec<(String, Vec<&str>)> = Vec::new();
    for [of, rung, fault, cure] in FAULTS {
        let Some(row) = rows
            .iter()
            .find(|row| row.variant == rung)
            .filter(|_| family == of)
        else {
            continue;
        };
        let seen = match row.status {
            Status::Ok => "right in this run",
            Status::WrongResult => "WRONG here, as expected",
            _ => "no result here, as may be expected",
        };
        let text = format!("as printed: {seen}: {fault} Cure: {cure}");
        match told.iter_mut().find(|(other, _)| *other == text) {
            Some((_, rungs)) => rungs.push(rung),
            None => told.push((text, vec![rung])),
        }
    }
    told.iter()
        .map(|(text, rungs)| wrap(&format!("{}, {text}", rungs.join(", ")), WIDTH, "  "))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_model::data::Params;
    use gpulab_record::row;

    #[test]
    fn every_figure_of_a_text_is_one_of_its_source() {
        for SourceTable { source, about, .. } in &TABLES {
            let told = with_figures(source, about);
            assert!(!told.contains(['{', '?']), "{source}: {told}");
        }
        assert_eq!(with_figures("ppc", "of {units} units"), "of 640 units");
        assert_eq!(with_figures("ppc", "of {nothing}"), "of ?");
    }

    fn rows() -> Vec<Row> {
        let of = |variant: &str, t: f64| Row {
            rung: Some(1),
            n: 1 << 22,
            t_median_s: Some(t),
            gbps: Some(0.016 / t),
            ceiling_pct: Some(10.0),
            ..row(variant)
        };
        vec![
            of("kernel_1", 4e-3),
            of("kernel_2", 2e-3),
            Row {
                t_median_s: None,
                gbps: None,
                ..of("kernel_5", 1e-3)
            },
        ]
    }

    #[test]
    fn a_source_s_table_stands_beside_this_device_s() {
        let text = beside("maruyama", &rows(), 1);
        let cells = |line: &'static str| {
            move |own: &str| own.split_whitespace().eq(line.split_whitespace())
        };
        for line in [
            "kernel_1 3.51 4.77 4.6 - - 4.00 4.00 10.0 - -",
            "kernel_2 1.62 10.4 10.1 2.2 2.2 2.00 8.00 10.0 2.00 2.00",
            "kernel_5 0.28 58.1 57.0 1.7 12.5 - - 10.0 - -",
        ] {
            assert!(text.lines().any(cells(line)), "{line}: {text}");
        }
        assert!(text.lines().all(|line| line.chars().count() < 80), "{text}");
    }

    #[test]
    fn the_loop_in_the_kernel_has_a_column_of_its_own() {
        let of = |gbps, params| Row {
            rung: Some(1),
            gbps: Some(gbps),
            params,
            ..row("naive")
        };
        let inside = Params::from([(REPEATS.to_owned(), "10".to_owned())]);
        let text = beside(
            "nvidia",
            &[of(10.737_418_24, Params::new()), of(21.474_836_48, inside)],
            1,
        );
        let line: Vec<&str> = text.lines().last().unwrap().split_whitespace().collect();
        assert_eq!(line, ["naive", "2.2", "2.2", "10.0", "20.0", "-"]);
    }

    /// Each number that stands in a table's own words is one of the source's figures or a size.
    #[test]
    fn every_number_that_is_told_of_a_source_is_in_the_table() {
        const SIZES: [&str; 7] = ["2", "30", "22", "4", "280", "1070", "2048"];
        for table in TABLES {
            let words = table
                .about
                .split(|c: char| !c.is_ascii_digit() && c != '.')
                .map(|word| word.trim_matches('.'));
            for number in words.filter(|word| !word.is_empty()) {
                let is_figure = FIGURES.lines().any(|line| {
                    let cells: Vec<&str> = line.split(',').collect();
                    cells[0] == table.source && cells[3] == number
                });
                assert!(
                    is_figure || SIZES.contains(&number),
                    "{}: {number}",
                    table.source
                );
            }
        }
    }

    #[test]
    fn each_line_of_figures_has_its_cells_and_its_value() {
        for line in FIGURES.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            assert!(
                cells.len() == 5 && cells[..3].iter().all(|cell| !cell.is_empty()),
                "{line}"
            );
            assert!(cells[3].parse::<f64>().is_ok(), "{line}");
        }
    }

    #[test]
    fn a_fault_is_told_with_what_came_of_it() {
        let wrong = Row {
            status: Status::WrongResult,
            ..row("local")
        };
        let text = faults("cmsoft", &[wrong]);
        assert!(
            text.starts_with("local, as printed: WRONG here, as expected"),
            "{text}"
        );
        assert!(faults("cmsoft", &[row("local")]).contains("right in this run"));
        assert!(is_faulty("cmsoft", "local") && !is_faulty("cmsoft", "naive"));
        assert_eq!(faults("cmsoft", &[row("naive")]), "");
    }
}

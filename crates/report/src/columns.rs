//! The columns of a ladder's table: what each is called, what it means, and in which order they go where there is no room.

use crate::format;
use crate::table::Table;
use crate::view::View;
use gpulab_kernels::Bound;
use gpulab_model::Joined;
use gpulab_model::stats::ratio;
use gpulab_record::{Row, clear_factor, flag};

pub struct TableColumn {
    /// Its name; a line feed is where a narrow table breaks it.
    head: &'static str,
    pub about: &'static str,
    /// Which go where there is no room: the largest first, 0 never.
    pub drop: u8,
    /// Whether it stays when no row has a cell for it.
    always: bool,
    /// Whether families of this bound have it.
    is_of: fn(Option<Bound>) -> bool,
    /// A row's time in seconds, where it is a column of times.
    seconds: Option<fn(&Row) -> Option<f64>>,
    /// A row's cell, where it is one of other things.
    cell: fn(&View<'_>, &Row) -> Option<String>,
}

/// All columns but the rung's name, the verdict and the bar, from left to right: the CPU's table and those of documents have
/// some parts only.
pub const COLUMNS: [&[TableColumn]; 3] = [TIMING, KERNELS, WHOLE];

/// Columns of any program, the CPU's too.
pub(super) const TIMING: &[TableColumn] = &[
    TableColumn::time("time", "the median of the kernels' times", 0, |row| {
        row.t_median_s
    })
    .always(),
    TableColumn::new(
        "noise",
        "inter-quartile range of the times over their median, in per cent",
        4,
        |_, row| share(100.0 * row.noise?),
    ),
    TableColumn::new(
        "GB/s",
        "bytes that the problem needs to move (10^9), over the time",
        0,
        |view, row| rate(view.unit.of(row.gbps?)),
    )
    .of(|bound| bound.is_none_or(Bound::is_memory))
    .always(),
    TableColumn::new(
        "Gpair/s",
        "additions with a minimum (10^9), two operations each, over the time",
        0,
        |_, row| rate(row.gops? / 2.0),
    )
    .of(|bound| bound == Some(Bound::AddMin))
    .always(),
    TableColumn::new(
        "GFLOP/s",
        "floating-point operations (10^9) that the problem needs, over the time",
        0,
        |_, row| rate(row.gops?),
    )
    .of(|bound| bound == Some(Bound::Fma))
    .always(),
    TableColumn::new(
        "Gop/s",
        "operations (10^9) that the problem needs, over the time",
        0,
        |_, row| rate(row.gops?),
    )
    .of(|bound| bound == Some(Bound::Arithmetic))
    .always(),
];

pub(super) const KERNELS: &[TableColumn] = &[
    TableColumn::new("/CU/clk", "pairs in a compute unit's clock, by the driver's numbers of both", 7, |_, row| {
        factor(row.ops_per_cu_clock? / 2.0)
    })
    .of(|bound| bound == Some(Bound::AddMin)),
    TableColumn::new("inside\nGB/s", "the same, with the work repeated inside one launch", 0, |view, row| {
        rate(view.unit.of(view.inside(row)?.gbps?))
    })
    .of(|bound| bound.is_none_or(Bound::is_memory)),
    TableColumn::new("of\ncopy", "share of a plain copy's speed", 0, |_, row| share(row.copy_pct?)),
    TableColumn::new(
        "of\nlimit",
        "share of the measured limit; `in cache`: memory's limit does not bound it",
        0,
        |_, row| of_limit(row),
    ),
    // Memory's peak says nothing of data in a cache.
    TableColumn::new("of\npeak", "share of the theoretical rate that --peak gave", 0, |_, row| {
        let peak = share(row.peak_pct?);
        if row.flags.contains(flag::FITS_CACHE) { Some(IN_CACHE.to_owned()) } else { peak }
    }),
    TableColumn::new(
        "gain",
        "against the rung before: ▲ times faster, ▼ times slower, = as fast within 5 %; with ? noise or an unsteady \
         device may make the difference, so it is undecided",
        0,
        |view, row| gain(view.before(row), row),
    )
    .always(),
    TableColumn::new("total", "times faster than the first rung", 5, |_, row| factor(row.total_x?)),
];

/// All that belongs to a result, beside the CPU.
pub(super) const WHOLE: &[TableColumn] = &[
    TableColumn::new(
        "vs 1\ncore",
        "times faster than one core of the CPU",
        6,
        |_, row| factor(row.cpu_seq_x?),
    ),
    TableColumn::new(
        "vs all\ncores",
        "times faster than all cores of the CPU",
        2,
        |_, row| factor(row.cpu_rayon_x?),
    ),
    TableColumn::time(
        "back to\nback",
        "time of one run among many without a wait between them",
        10,
        |row| row.t_batch_s,
    ),
    TableColumn::time(
        "prep",
        "time of the launches that prepare the data, which `time` leaves out",
        9,
        |row| row.t_preparation_s,
    ),
    TableColumn::time(
        "host\npart",
        "time of the host's own additions, within `end to end`",
        11,
        |row| row.t_host_part_s,
    ),
    TableColumn::time(
        "end to\nend",
        "allocation, transfers, kernels and the host's part; the program is built before",
        8,
        |row| row.t_end_to_end_s,
    ),
    TableColumn::new(
        "end to end\nvs all cores",
        "times faster than all cores of the CPU, from end to end",
        12,
        |_, row| factor(whole_x(row)?),
    ),
];

fn rate(rate: f64) -> Option<String> {
    Some(format::significant(rate, 4))
}

fn factor(times: f64) -> Option<String> {
    Some(format::significant(times, 3))
}

fn share(percent: f64) -> Option<String> {
    Some(if percent < 999.95 {
        format!("{percent:.1}%")
    } else {
        format!("{percent:.0}%")
    })
}

/// What stands beside the columns: its name, what it is, and when it goes.
pub const BESIDE: [(&str, &str, u8); 4] = [
    ("rung", "number and idea; ★ marks the fastest", 0),
    (
        "verdict",
        "ok, WRONG, or skipped and why; a long reason stands below the table",
        0,
    ),
    (
        VS_LIMIT,
        "a bar: speed as a share of the measured limit",
        BAR_DROP,
    ),
    (
        VS_FASTEST,
        "a bar relative to the fastest rung, where some row has no limit that bounds it, as with data in a cache",
        BAR_DROP,
    ),
];

/// The bar's heads: by what it is measured.
pub(super) const VS_LIMIT: &str = "vs limit";
pub(super) const VS_FASTEST: &str = "vs fastest";

pub(super) const BAR_DROP: u8 = 3;

impl TableColumn {
    /// A column of kernels, of all families, that is there if some row has a cell for it.
    const fn new(
        head: &'static str,
        about: &'static str,
        drop: u8,
        cell: fn(&View<'_>, &Row) -> Option<String>,
    ) -> TableColumn {
        TableColumn {
            head,
            about,
            drop,
            always: false,
            is_of: |_| true,
            seconds: None,
            cell,
        }
    }

    const fn time(
        head: &'static str,
        about: &'static str,
        drop: u8,
        seconds: fn(&Row) -> Option<f64>,
    ) -> TableColumn {
        TableColumn {
            seconds: Some(seconds),
            ..TableColumn::new(head, about, drop, |_, _| None)
        }
    }

    const fn always(self) -> TableColumn {
        TableColumn {
            always: true,
            ..self
        }
    }

    const fn of(self, is_of: fn(Option<Bound>) -> bool) -> TableColumn {
        TableColumn { is_of, ..self }
    }

    pub fn name(&self) -> String {
        self.head.replace('\n', " ")
    }
}

impl Table {
    /// With a ladder's columns of these parts: those that all such tables have, and those that a row has a cell for. Times are
    /// in one unit, which stands in the head; in a document each has its own.
    pub(super) fn ladder(
        mut self,
        view: &View<'_>,
        rows: &[&Row],
        parts: &[&[TableColumn]],
        is_document: bool,
    ) -> Table {
        let bound = rows.first().and_then(|row| row.bound());
        for column in parts
            .iter()
            .copied()
            .flatten()
            .filter(|column| (column.is_of)(bound))
        {
            let seconds: Vec<Option<f64>> = rows
                .iter()
                .map(|row| column.seconds.and_then(|of| of(row)))
                .collect();
            let cells: Vec<Option<String>> =
                rows.iter().map(|row| (column.cell)(view, row)).collect();
            if !column.always
                && !seconds.iter().any(Option::is_some)
                && !cells.iter().any(Option::is_some)
            {
                continue;
            }
            let head = view.unit.named(column.head);
            self = match column.seconds {
                None => self.numbers(head, cells.into_iter().map(or_dash)),
                Some(_) if is_document => {
                    self.numbers(head, seconds.iter().map(|s| or_dash(s.map(format::time))))
                }
                Some(_) => self.times(&head, &seconds),
            }
            .dropped(column.drop);
        }
        self
    }

    /// With times in one unit, which stands in the head.
    pub(super) fn times(self, head: &str, seconds: &[Option<f64>]) -> Table {
        let unit = format::time_unit(seconds.iter().flatten().copied());
        let head = match seconds.iter().flatten().count() {
            0 => head.to_owned(),
            _ => format!(
                "{head}{}{}",
                if head.contains('\n') { " " } else { "\n" },
                unit.0
            ),
        };
        self.numbers(
            head,
            seconds
                .iter()
                .map(|s| or_dash(s.map(|s| format::significant(s / unit.1, 4)))),
        )
    }

    /// What the signs mean that occur in the columns of numbers, in a line; none without signs. `is_marked` is whether a row
    /// has the star.
    pub(super) fn legend(&self, is_marked: bool) -> Option<String> {
        let cells: String = self
            .columns
            .iter()
            .filter(|c| !c.is_text)
            .flat_map(|c| &c.cells)
            .cloned()
            .collect();
        let signs = SIGNS
            .iter()
            .filter(|(sign, _)| cells.contains(sign) || (*sign == "★" && is_marked));
        let told = signs.map(|(_, meaning)| *meaning).joined(", ");
        (!told.is_empty()).then_some(told)
    }
}

pub(super) fn or_dash(cell: Option<String>) -> String {
    cell.unwrap_or_else(|| "-".to_owned())
}

/// The share of the measured limit that was reached. Where the data fit a cache, memory's limit bounds nothing.
pub(super) fn of_limit(row: &Row) -> Option<String> {
    match row.flags.contains(flag::FITS_CACHE) && row.t_median_s.is_some() {
        true => Some(IN_CACHE.to_owned()),
        false => share(row.ceiling_pct?),
    }
}

/// The signs of tables and what they mean: all of it is a line of 80 characters.
const SIGNS: [(&str, &str); 6] = [
    ("★", "★ best"),
    ("▲", "▲ faster"),
    ("▼", "▼ slower"),
    ("=", "= within 5 %"),
    ("?", "? may be noise"),
    (IN_CACHE, "in cache: not memory"),
];

/// What the cell of a limit says where the data fit a cache.
const IN_CACHE: &str = "in cache";

/// The factor up to which two times count as the same, if no spread hides a larger one.
const SAME: f64 = 1.05;

/// What a row gained against the rung before it; undecided where the spreads of both or an unsteady device hide it.
pub(crate) fn gain(before: Option<&Row>, row: &Row) -> Option<String> {
    let factor = row.step_x?;
    let clear = clear_factor(before, row);
    let is_decided = factor > clear || ratio(1.0, factor).is_some_and(|loss| loss > clear);
    if !is_decided && clear <= SAME {
        return Some("=".to_owned());
    }
    let size = match factor {
        x if !is_decided && (0.995..1.005).contains(&x) => "1.00".to_owned(),
        x if x < 1.0 => format!("▼{}", format::significant(1.0 / x, 3)),
        x => format!("▲{}", format::significant(x, 3)),
    };
    Some(if is_decided { size } else { size + "?" })
}

/// How many times faster than all CPU cores a result is from end to end.
pub(super) fn whole_x(row: &Row) -> Option<f64> {
    ratio(row.cpu_rayon_x? * row.t_median_s?, row.t_end_to_end_s?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_record::row;

    #[test]
    fn a_gain_is_clear_or_none_or_undecided() {
        let gained = |noise: f64, factor: f64| {
            let row = Row {
                step_x: Some(factor),
                noise: Some(noise),
                ..row("local")
            };
            gain(Some(&row), &row).unwrap_or_default()
        };
        assert_eq!(
            [2.5, 0.4, 1.02, 0.98].map(|factor| gained(0.001, factor)),
            ["▲2.50", "▼2.50", "=", "="]
        );
        let noisy = [1.3, 0.7, 1.1, 0.9, 1.001].map(|factor| gained(0.1, factor));
        assert_eq!(noisy, ["▲1.30", "▼1.43", "▲1.10?", "▼1.11?", "1.00?"]);
        assert_eq!([gained(0.02, 1.041), gained(0.024, 1.041)], ["▲1.04", "="]);
    }

    #[test]
    fn a_gain_is_decided_where_it_is_larger_than_drift_in_either_row_can_make_it() {
        let gained = |factor: f64, canary: Option<f64>, drifts: [bool; 2]| {
            let steady = Row {
                step_x: Some(factor),
                noise: Some(0.001),
                canary,
                ..row("local")
            };
            let unsteady = Row {
                flags: flag::DRIFT.to_owned(),
                ..steady.clone()
            };
            let [before, after] = drifts.map(|drifts| if drifts { &unsteady } else { &steady });
            gain(Some(before), after).unwrap_or_default()
        };
        for either in [[true, false], [false, true], [true, true]] {
            assert_eq!(gained(12.9, Some(1.89), either), "▲12.9");
            assert_eq!(gained(0.1, Some(1.89), either), "▼10.0");
            assert_eq!(
                gained(1.9, Some(1.89), either),
                "▲1.90?",
                "the noise is on top of the drift"
            );
            assert_eq!(gained(0.98, Some(1.89), either), "▼1.02?");
            assert_eq!(
                gained(12.9, None, either),
                "▲12.9?",
                "by how much the device drifted is not known"
            );
        }
        assert_eq!(gained(1.9, Some(1.04), [false, false]), "▲1.90");
    }

    #[test]
    fn a_legend_has_the_signs_that_occur_in_80_columns() {
        let legend = |is_marked: bool, cells: &[&str]| {
            Table::default()
                .numbers("", cells.iter().map(|cell| cell.to_string()))
                .legend(is_marked)
        };
        let all = legend(true, &["▲2.00", "▼2.00", "=", "▲1.10?", IN_CACHE]).unwrap();
        assert_eq!(
            all,
            "★ best, ▲ faster, ▼ slower, = within 5 %, ? may be noise, in cache: not memory"
        );
        assert!(all.chars().count() <= 80);
        assert_eq!(
            legend(false, &["=", "50.0%"]).as_deref(),
            Some("= within 5 %")
        );
        assert_eq!(legend(false, &["50.0%"]), None);
    }
}

//! The columns of a ladder's table: what each is called, what it means, and in which order they go where there is no room.

use super::cell::Gain;
use crate::prelude::*;
use gpulab_kernels::Bound;
use gpulab_model::stats::ratio;
use gpulab_record::clear_factor;

pub struct TableColumn {
    /// Its name; a line feed is where a narrow table breaks it.
    head: &'static str,
    pub about: &'static str,
    /// Which go where there is no room: the largest first, 0 never.
    pub drop: u8,
    /// Whether it stays when no row has a cell for it.
    pub(super) always: bool,
    /// Which families have it.
    bound: BoundBy,
    /// What it is about: the CPU's table and those of documents have some parts only.
    pub(super) part: Subject,
    pub(super) value: fn(&Cell<'_>) -> Option<Value>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BoundBy {
    Any,
    Memory,
    Only(Bound),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    /// Any program, the CPU's too.
    Timing,
    Kernels,
    /// All that belongs to a result, beside the CPU.
    Whole,
}

/// All columns but the rung's name, the verdict and the bar, from left to right.
pub const COLUMNS: &[TableColumn] = &[
    TableColumn::new("time", "the median of the kernels' times", 0, |c| c.row.t_median_s.map(Value::Seconds))
        .timing()
        .always(),
    TableColumn::new("noise", "inter-quartile range of the times over their median, in per cent", 4, |c| {
        c.row.noise.map(|noise| Value::Percent(100.0 * noise))
    })
    .timing(),
    TableColumn::new("GB/s", "bytes that the problem needs to move (10^9), over the time", 0, |c| c.rate(c.row))
        .of(BoundBy::Memory)
        .timing()
        .always(),
    TableColumn::new("Gpair/s", "additions with a minimum (10^9), two operations each, over the time", 0, |c| {
        c.row.gops.map(|gops| Value::Rate(gops / 2.0))
    })
    .of(BoundBy::Only(Bound::AddMin))
    .timing()
    .always(),
    TableColumn::new("GFLOP/s", "floating-point operations (10^9) that the problem needs, over the time", 0, |c| {
        c.row.gops.map(Value::Rate)
    })
    .of(BoundBy::Only(Bound::Fma))
    .timing()
    .always(),
    TableColumn::new("Gop/s", "operations (10^9) that the problem needs, over the time", 0, |c| {
        c.row.gops.map(Value::Rate)
    })
    .of(BoundBy::Only(Bound::Arithmetic))
    .timing()
    .always(),
    TableColumn::new("/CU/clk", "pairs in a compute unit's clock, by the driver's numbers of both", 7, |c| {
        c.row.ops_per_cu_clock.map(|ops| Value::Factor(ops / 2.0))
    })
    .of(BoundBy::Only(Bound::AddMin)),
    TableColumn::new("inside\nGB/s", "the same, with the work repeated inside one launch", 0, |c| c.rate(c.inside?))
        .of(BoundBy::Memory),
    TableColumn::new("of\ncopy", "share of a plain copy's speed", 0, |c| c.row.copy_pct.map(Value::Percent)),
    TableColumn::new(
        "of\nlimit",
        "share of the measured limit; `in cache`: memory's limit does not bound it",
        0,
        |c| of_limit(c.row),
    ),
    TableColumn::new("of\npeak", "share of the theoretical rate that --peak gave", 0, |c| of_peak(c.row)),
    TableColumn::new(
        "gain",
        "against the rung before: ▲ times faster, ▼ times slower, = as fast within 5 %; with ? noise or an unsteady \
         device may make the difference, so it is undecided",
        0,
        |c| gain(c.before, c.row).map(Value::Gain),
    )
    .always(),
    TableColumn::new("total", "times faster than the first rung", 5, |c| c.row.total_x.map(Value::Factor)),
    TableColumn::new("vs 1\ncore", "times faster than one core of the CPU", 6, |c| c.row.cpu_seq_x.map(Value::Factor))
        .whole(),
    TableColumn::new("vs all\ncores", "times faster than all cores of the CPU", 2, |c| {
        c.row.cpu_rayon_x.map(Value::Factor)
    })
    .whole(),
    TableColumn::new("back to\nback", "time of one run among many without a wait between them", 10, |c| {
        c.row.t_batch_s.map(Value::Seconds)
    })
    .whole(),
    TableColumn::new("prep", "time of the launches that prepare the data, which `time` leaves out", 9, |c| {
        c.row.t_preparation_s.map(Value::Seconds)
    })
    .whole(),
    TableColumn::new("host\npart", "time of the host's own additions, within `end to end`", 11, |c| {
        c.row.t_host_part_s.map(Value::Seconds)
    })
    .whole(),
    TableColumn::new(
        "end to\nend",
        "allocation, transfers, kernels and the host's part; the program is built before",
        8,
        |c| c.row.t_end_to_end_s.map(Value::Seconds),
    )
    .whole(),
    TableColumn::new("end to end\nvs all cores", "times faster than all cores of the CPU, from end to end", 12, |c| {
        whole_x(c.row).map(Value::Factor)
    })
    .whole(),
];

/// What stands beside the columns: its name, what it is, and when it goes.
pub const BESIDE: [(&str, &str, u8); 4] = [
    ("rung", "number and idea; ★ marks the fastest", 0),
    ("verdict", "ok, WRONG, or skipped and why; a long reason stands below the table", 0),
    (VS_LIMIT, "a bar: speed as a share of the measured limit", BAR_DROP),
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
        value: fn(&Cell<'_>) -> Option<Value>,
    ) -> TableColumn {
        TableColumn { head, about, drop, always: false, bound: BoundBy::Any, part: Subject::Kernels, value }
    }

    const fn always(self) -> TableColumn {
        TableColumn { always: true, ..self }
    }

    const fn timing(self) -> TableColumn {
        TableColumn { part: Subject::Timing, ..self }
    }

    const fn whole(self) -> TableColumn {
        TableColumn { part: Subject::Whole, ..self }
    }

    const fn of(self, bound: BoundBy) -> TableColumn {
        TableColumn { bound, ..self }
    }

    pub fn name(&self) -> String {
        self.head.replace('\n', " ")
    }

    /// Its name with the unit of rates; a line feed is where a narrow table breaks it.
    pub(super) fn head(&self, unit: RateUnit) -> String {
        unit.named(self.head)
    }

    pub(super) fn is_of(&self, bound: Option<Bound>) -> bool {
        match self.bound {
            BoundBy::Any => true,
            BoundBy::Memory => bound.is_none_or(Bound::is_memory),
            BoundBy::Only(one) => bound == Some(one),
        }
    }
}

/// The unit that all cells share, where their column's name does not say it, and the cells' texts in it.
pub(super) fn in_one_unit(values: &[Option<Value>]) -> (Option<&'static str>, Vec<String>) {
    let times = values.iter().filter_map(|value| if let Some(Value::Seconds(s)) = value { Some(*s) } else { None });
    let (unit, second) = format::time_unit(times.clone());
    (
        times.clone().next().map(|_| unit),
        values
            .iter()
            .map(|value: &Option<Value>| match value {
                Some(Value::Seconds(s)) => format::significant(s / second, 4),
                Some(value) => value.text(),
                None => "-".to_owned(),
            })
            .collect(),
    )
}

/// The share of the measured limit that was reached. Where the data fit a cache, memory's limit bounds nothing.
pub(super) fn of_limit(row: &Row) -> Option<Value> {
    match row.flags.contains(flag::FITS_CACHE) && row.t_median_s.is_some() {
        true => Some(Value::Word(IN_CACHE)),
        false => row.ceiling_pct.map(Value::Percent),
    }
}

/// The share of the theoretical rate that was given. Memory's says nothing of data in a cache.
fn of_peak(row: &Row) -> Option<Value> {
    let share = row.peak_pct?;
    Some(if row.flags.contains(flag::FITS_CACHE) { Value::Word(IN_CACHE) } else { Value::Percent(share) })
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

/// What the signs mean that occur in a table with these cells of numbers, in a line; none without signs. `is_marked` is
/// whether a row has the star.
pub(super) fn legend(is_marked: bool, cells: impl IntoIterator<Item = String>) -> Option<String> {
    let cells: String = cells.into_iter().collect();
    let occurs = |sign: &str| cells.contains(sign) || (sign == "★" && is_marked);
    let told: Vec<&str> = SIGNS.iter().filter(|(sign, _)| occurs(sign)).map(|(_, meaning)| *meaning).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

/// The factor up to which two times count as the same, if no spread hides a larger one.
const SAME: f64 = 1.05;

/// What a row gained against the rung before it; undecided where the spreads of both or an unsteady device hide it.
pub(super) fn gain(before: Option<&Row>, row: &Row) -> Option<Gain> {
    let factor = row.step_x?;
    let clear = clear_factor(before, row);
    Some(match ratio(1.0, factor) {
        _ if factor > clear => Gain::Faster(factor),
        Some(loss) if loss > clear => Gain::Slower(loss),
        _ if clear <= SAME => Gain::Same,
        _ => Gain::Undecided(factor),
    })
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
            let row = Row { step_x: Some(factor), noise: Some(noise), ..row("local") };
            gain(Some(&row), &row).map(Gain::text).unwrap_or_default()
        };
        assert_eq!([2.5, 0.4, 1.02, 0.98].map(|factor| gained(0.001, factor)), ["▲2.50", "▼2.50", "=", "="]);
        let noisy = [1.3, 0.7, 1.1, 0.9, 1.001].map(|factor| gained(0.1, factor));
        assert_eq!(noisy, ["▲1.30", "▼1.43", "▲1.10?", "▼1.11?", "1.00?"]);
        assert_eq!([gained(0.02, 1.041), gained(0.024, 1.041)], ["▲1.04", "="]);
    }

    #[test]
    fn a_gain_is_decided_where_it_is_larger_than_drift_in_either_row_can_make_it() {
        let gained = |factor: f64, canary: Option<f64>, [before, after]: [bool; 2]| {
            let steady = Row { step_x: Some(factor), noise: Some(0.001), canary, ..row("local") };
            let unsteady = Row { flags: flag::DRIFT.to_owned(), ..steady.clone() };
            let of = |drifts| if drifts { &unsteady } else { &steady };
            gain(Some(of(before)), of(after)).map(Gain::text).unwrap_or_default()
        };
        for either in [[true, false], [false, true], [true, true]] {
            assert_eq!(gained(12.9, Some(1.89), either), "▲12.9");
            assert_eq!(gained(0.1, Some(1.89), either), "▼10.0");
            assert_eq!(gained(1.9, Some(1.89), either), "▲1.90?", "the noise is on top of the drift");
            assert_eq!(gained(0.98, Some(1.89), either), "▼1.02?");
            assert_eq!(gained(12.9, None, either), "▲12.9?", "by how much the device drifted is not known");
        }
        assert_eq!(gained(1.9, Some(1.04), [false, false]), "▲1.90");
    }

    #[test]
    fn a_legend_has_the_signs_that_occur_in_80_columns() {
        let gains = [Gain::Faster(2.0), Gain::Slower(2.0), Gain::Same, Gain::Undecided(1.1)].map(Gain::text);
        let all = legend(true, gains.into_iter().chain([IN_CACHE.to_owned()])).unwrap();
        assert_eq!(all, "★ best, ▲ faster, ▼ slower, = within 5 %, ? may be noise, in cache: not memory");
        assert!(all.chars().count() <= 80);
        assert_eq!(legend(false, [Gain::Same.text(), "50.0%".to_owned()]).as_deref(), Some("= within 5 %"));
        assert_eq!(legend(false, ["50.0%".to_owned()]), None);
    }
}

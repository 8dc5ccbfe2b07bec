//! A cell of a ladder's table: what it is made from, and what it shows.

use super::format;
use gpulab_model::outcome::Status;
use gpulab_record::Row;

#[derive(Clone, Copy)]
pub(super) struct Cell<'a> {
    pub(super) row: &'a Row,
    /// The right result of the rung before.
    pub(super) before: Option<&'a Row>,
    /// The row of the same kernel that repeats its work inside, beside one that does not.
    pub(super) inside: Option<&'a Row>,
    pub(super) unit: RateUnit,
}

impl<'a> Cell<'a> {
    /// The row whose verdict the line shows: the plain one, unless only the other went wrong.
    pub(super) fn judged(&self) -> &'a Row {
        match self.inside {
            Some(inside) if self.row.status == Status::Ok && inside.status != Status::Ok => inside,
            _ => self.row,
        }
    }

    pub(super) fn rate(&self, row: &Row) -> Option<Value> {
        row.gbps.map(|gbps| Value::Rate(self.unit.of(gbps)))
    }

    pub(super) fn is_timed(&self) -> bool {
        self.row.t_median_s.is_some()
    }

    /// Whether it has numbers, or needs none.
    pub(super) fn is_whole(&self) -> bool {
        self.is_timed() || self.row.status == Status::Ok
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateUnit {
    /// 10^9 bytes a second.
    #[default]
    GB,
    /// 2^30 bytes a second.
    GiB,
}

impl RateUnit {
    pub(super) fn of(self, gbps: f64) -> f64 {
        match self {
            RateUnit::GB => gbps,
            RateUnit::GiB => gbps * 1e9 / (1u64 << 30) as f64,
        }
    }

    /// A text that speaks of GB/s, in this unit.
    pub(super) fn named(self, text: &str) -> String {
        match self {
            RateUnit::GB => text.to_owned(),
            RateUnit::GiB => text.replace("GB/s", "GiB/s"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Seconds(f64),
    Rate(f64),
    Factor(f64),
    Percent(f64),
    Word(&'static str),
    Faster(f64),
    Slower(f64),
    /// As fast, within a few per cent.
    Same,
    /// So many times faster, below 1 slower; but the spreads of both, or an unsteady device, may make the difference.
    Undecided(f64),
}

impl Value {
    /// It alone, with its unit.
    pub(super) fn text(self) -> String {
        match self {
            Value::Seconds(s) => format::time(s),
            Value::Rate(rate) => format::significant(rate, 4),
            Value::Factor(x) => format::significant(x, 3),
            Value::Percent(share) if share < 999.95 => format!("{share:.1}%"),
            Value::Percent(share) => format!("{share:.0}%"),
            Value::Word(word) => word.to_owned(),
            Value::Faster(x) => format!("▲{}", format::significant(x, 3)),
            Value::Slower(x) => format!("▼{}", format::significant(x, 3)),
            Value::Same => "=".to_owned(),
            Value::Undecided(x) if (0.995..1.005).contains(&x) => "1.00?".to_owned(),
            Value::Undecided(x) if x < 1.0 => Value::Slower(1.0 / x).text() + "?",
            Value::Undecided(x) => Value::Faster(x).text() + "?",
        }
    }
}

//! The cases that two files have in common.

use super::noise::SEVERAL;
use super::{RatioInterval, SpeedVerdict, TimeEstimate};
use crate::data::Dtype;
use crate::record::Row;
use crate::runner::{Cache, Status};
use std::collections::{BTreeMap, BTreeSet};

/// A case that both files have a time of.
#[derive(Clone, Debug)]
pub struct ComparedCase {
    /// The first file's last row of it.
    pub before: Row,
    /// The second's.
    pub after: Row,
    /// Runs of the program on each side.
    pub runs: [usize; 2],
    /// The time on each side, in seconds; of several runs of the program the median of theirs.
    pub seconds: [f64; 2],
    /// How many times slower the second is.
    pub interval: RatioInterval,
    /// What that says.
    pub verdict: SpeedVerdict,
    /// Why nothing can be said, whatever the interval.
    pub why_not: Option<WhyNot>,
}

/// Why a verdict is undecided whatever the interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyNot {
    /// The two times come from different clocks.
    Clocks,
    /// The CPU's own programs ran once or twice: nothing watches what else the host did meanwhile.
    Unwatched,
    /// A row was measured while the device's clock or a neighbour changed, which can make the difference.
    Unsteady,
}

impl WhyNot {
    /// The same in words.
    pub fn reason(self) -> &'static str {
        match self {
            WhyNot::Clocks => "the times come from different clocks",
            WhyNot::Unwatched => "of the CPU's own programs three runs are needed",
            WhyNot::Unsteady => "the device's clock or a neighbour changed",
        }
    }
}

impl ComparedCase {
    /// Of a case's rows that have a time.
    fn new(before: &[&Row], after: &[&Row], same: f64) -> Option<ComparedCase> {
        let times = [TimeEstimate::of(before)?, TimeEstimate::of(after)?];
        let steady = RatioInterval::new(times[0], times[1]);
        let (first, second) = (*before.last()?, *after.last()?);
        let both = || before.iter().chain(after);
        let drift = both().map(|row| row.drift()).fold(1.0, f64::max);
        let interval = if drift.is_finite() { steady.beside_drift(drift) } else { steady };
        let is_open = |interval| SpeedVerdict::of(interval, same) == SpeedVerdict::Undecided;
        let why_not = match () {
            () if both().any(|row| row.clock != first.clock) => Some(WhyNot::Clocks),
            () if drift.is_infinite() || (is_open(&interval) && !is_open(&steady)) => Some(WhyNot::Unsteady),
            () if first.on_host() && before.len().min(after.len()) < SEVERAL => Some(WhyNot::Unwatched),
            () => None,
        };
        let verdict = if why_not.is_some() { SpeedVerdict::Undecided } else { SpeedVerdict::of(&interval, same) };
        Some(ComparedCase {
            before: first.clone(),
            after: second.clone(),
            runs: [before.len(), after.len()],
            seconds: times.map(|time| time.seconds),
            interval,
            verdict,
            why_not,
        })
    }

    /// Whether the work-group or a setting is another.
    pub fn has_other_settings(&self) -> bool {
        settings(&self.before) != settings(&self.after)
    }
}

impl RatioInterval {
    /// The interval where the device may have been so many times slower while either side was timed.
    pub(super) fn beside_drift(self, drift: f64) -> RatioInterval {
        RatioInterval { low: self.low / drift, high: self.high * drift, ..self }
    }
}

/// Two files side by side.
#[derive(Clone, Debug)]
pub struct FileComparison {
    /// The cases that both have a time of, in the order of the first.
    pub pairs: Vec<ComparedCase>,
    /// Cases that only the first has a time of.
    pub only_before: usize,
    /// Cases that only the second has a time of.
    pub only_after: usize,
}

impl FileComparison {
    /// How many cases came to this verdict.
    pub fn count(&self, verdict: SpeedVerdict) -> usize {
        self.pairs.iter().filter(|pair| pair.verdict == verdict).count()
    }
}

/// Compares the rows of `after` with those of `before`, where differences of less than `same` (as a share) do not count.
///
/// A case is a family, rung, type, shape and cache; where a file has several work-groups or settings of these, each is a case
/// by itself. Several rows of a case are several runs of the program.
pub fn compare(before: &[Row], after: &[Row], same: f64) -> FileComparison {
    let apart = apart(&[before, after]);
    let (cases, mut others) = (cases(before, &apart), cases(after, &apart));
    let before_count = cases.order.len();
    let pairs = cases.order.into_iter().filter_map(|key| {
        let other = others.rows.remove(&key)?;
        ComparedCase::new(&cases.rows[&key], &other, same)
    });
    let pairs: Vec<ComparedCase> = pairs.collect();
    FileComparison { only_before: before_count - pairs.len(), only_after: others.rows.len(), pairs }
}

/// What makes two rows one case, before work-groups and settings.
type CaseKey<'a> = (&'a str, &'a str, Dtype, u64, u64, Cache);

/// The same with work-group and settings, where they tell cases apart.
type ApartKey<'a> = (CaseKey<'a>, Option<(&'a str, &'a str)>);

/// The rows of a file's cases that have a time.
struct TimedCases<'a> {
    rows: BTreeMap<ApartKey<'a>, Vec<&'a Row>>,
    /// The cases as they come in the file.
    order: Vec<ApartKey<'a>>,
}

/// The cases of which a file has several work-groups or settings.
fn apart<'a>(files: &[&'a [Row]]) -> BTreeSet<CaseKey<'a>> {
    let mut several = BTreeSet::new();
    for rows in files {
        let mut first: BTreeMap<CaseKey<'a>, (&str, &str)> = BTreeMap::new();
        for row in *rows {
            if *first.entry(case_key(row)).or_insert(settings(row)) != settings(row) {
                several.insert(case_key(row));
            }
        }
    }
    several
}

fn cases<'a>(rows: &'a [Row], apart: &BTreeSet<CaseKey<'a>>) -> TimedCases<'a> {
    let mut cases = TimedCases { rows: BTreeMap::new(), order: Vec::new() };
    for row in rows.iter().filter(|row| row.status == Status::Ok && row.t_median_s.is_some()) {
        let key = (case_key(row), apart.contains(&case_key(row)).then(|| settings(row)));
        let rows = cases.rows.entry(key).or_default();
        if rows.is_empty() {
            cases.order.push(key);
        }
        rows.push(row);
    }
    cases
}

fn case_key(row: &Row) -> CaseKey<'_> {
    (&row.family, &row.variant, row.dtype, row.n, row.m, row.cache)
}

fn settings(row: &Row) -> (&str, &str) {
    (&row.wg, &row.params)
}

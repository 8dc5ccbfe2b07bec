//! The cases that two files have in common.

use super::noise::SEVERAL;
use super::{RatioInterval, SpeedVerdict, TimeEstimate};
use crate::data::Dtype;
use crate::record::{Row, flag};
use crate::runner::{Cache, Status};

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
    /// A row was measured while the device's clock or a neighbour changed.
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
        let interval = RatioInterval::new(times[0], times[1]);
        let (first, second) = (*before.last()?, *after.last()?);
        let both = || before.iter().chain(after);
        let why_not = match () {
            () if both().any(|row| row.clock != first.clock) => Some(WhyNot::Clocks),
            () if both().any(|row| row.has_flag(flag::DRIFT)) => Some(WhyNot::Unsteady),
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
    let of_case = |rows: &[Row], row: &Row| rows.iter().filter(|other| is_same_case(other, row)).cloned().collect();
    let has_several = |rows: Vec<Row>| rows.iter().any(|row| settings(row) != settings(&rows[0]));
    let is_apart = |row: &Row| has_several(of_case(before, row)) || has_several(of_case(after, row));
    let (mut cases, mut others) = (cases(before, &is_apart), cases(after, &is_apart));
    let before_count = cases.len();
    let pairs = cases.drain(..).filter_map(|case| {
        let at = others.iter().position(|other| other.is(&case))?;
        ComparedCase::new(&case.rows, &others.swap_remove(at).rows, same)
    });
    let pairs: Vec<ComparedCase> = pairs.collect();
    FileComparison { only_before: before_count - pairs.len(), only_after: others.len(), pairs }
}

/// The rows of a case that have a time.
struct MatchedCase<'a> {
    rows: Vec<&'a Row>,
    /// Whether work-group and settings tell it from others.
    is_apart: bool,
}

impl MatchedCase<'_> {
    fn is(&self, other: &MatchedCase<'_>) -> bool {
        self.holds(other.rows[0])
    }

    fn holds(&self, row: &Row) -> bool {
        let own = self.rows[0];
        is_same_case(own, row) && (!self.is_apart || settings(own) == settings(row))
    }
}

fn cases<'a>(rows: &'a [Row], is_apart: &dyn Fn(&Row) -> bool) -> Vec<MatchedCase<'a>> {
    let mut cases: Vec<MatchedCase<'a>> = Vec::new();
    for row in rows.iter().filter(|row| row.status == Status::Ok && row.t_median_s.is_some()) {
        match cases.iter_mut().find(|case| case.holds(row)) {
            Some(case) => case.rows.push(row),
            None => cases.push(MatchedCase { rows: vec![row], is_apart: is_apart(row) }),
        }
    }
    cases
}

fn is_same_case(a: &Row, b: &Row) -> bool {
    fn key(row: &Row) -> (&str, &str, Dtype, u64, u64, Cache) {
        (&row.family, &row.variant, row.dtype, row.n, row.m, row.cache)
    }
    key(a) == key(b)
}

fn settings(row: &Row) -> (&str, &str) {
    (&row.wg, &row.params)
}

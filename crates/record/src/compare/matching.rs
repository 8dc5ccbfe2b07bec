//! The cases that two files have in common.

use super::ranks::{FEWEST, runs_for, spread};
use super::{CaseRun, RatioInterval, SpeedVerdict, Turns};
use gpulab_kernels::values::FailOn;
use gpulab_model::Error;
use gpulab_model::outcome::{Clock, Status};
use gpulab_model::plan::WorkGroup;
use gpulab_model::stats;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

/// A case that both sides have a time of.
#[derive(Clone, Debug)]
pub struct ComparedCase<'a> {
    /// The first side's last row of it.
    pub before: &'a CaseRun,
    pub after: &'a CaseRun,
    /// Runs of the program on each side.
    pub runs: [usize; 2],
    /// The median of the runs' median times on each side, in seconds.
    pub seconds: [f64; 2],
    /// How many times slower the second is.
    pub ratio: f64,
    /// The interval that holds it; none of too few runs.
    pub interval: Option<RatioInterval>,
    pub verdict: SpeedVerdict,
    /// Of a case that is undecided for want of runs, how many more of each side, in turn, would decide it, by what the runs
    /// so far show; none where no number of runs does.
    pub more_runs: Option<usize>,
    /// How the runs of the two sides follow each other, by when they began.
    pub turns: Turns,
    /// Whether the two sides' times come from different clocks: no number of runs decides that.
    pub is_of_two_clocks: bool,
    /// Runs that are left out, as their times come from another clock than most.
    pub left_out: Vec<&'a CaseRun>,
}

impl<'a> ComparedCase<'a> {
    fn new(before: &[&'a CaseRun], after: &[&'a CaseRun], same: f64) -> Option<ComparedCase<'a>> {
        let ([before, after], left_out) = of_one_clock([before, after]);
        let [first, second] = [*before.last()?, *after.last()?];
        let times = [&before, &after].map(|rows| rows.iter().filter_map(|row| row.t_median_s).collect::<Vec<f64>>());
        let seconds = [stats::summarise(&times[0])?.median, stats::summarise(&times[1])?.median];
        let is_of_two_clocks = before.iter().chain(&after).any(|row| row.clock != first.clock);
        let turns = turns(&before, &after);
        let interval = RatioInterval::of_runs(&times[0], &times[1], turns).filter(|_| !is_of_two_clocks);
        let verdict = interval.as_ref().map_or(SpeedVerdict::Undecided, |interval| SpeedVerdict::of(interval, same));
        let ratio = interval.map_or(seconds[1] / seconds[0], |interval| interval.ratio);
        let runs = [before.len(), after.len()];
        let spread = spread([&times[0], &times[1]]);
        // Where one side came first, more runs do not change that.
        let usable = if turns == Turns::OneAfterTheOther && interval.is_some() { [0, 0] } else { runs };
        let is_open = verdict == SpeedVerdict::Undecided && !is_of_two_clocks;
        Some(ComparedCase {
            before: first,
            after: second,
            runs,
            seconds,
            ratio,
            interval,
            verdict,
            more_runs: is_open.then(|| more_runs(usable, spread.unwrap_or(0.0), ratio, same)),
            turns,
            is_of_two_clocks,
            left_out,
        })
    }

    /// Why the case is undecided; empty where it is not.
    pub fn reason(&self) -> String {
        match (self.verdict, self.interval) {
            _ if self.is_of_two_clocks => "the times come from different clocks".to_owned(),
            (SpeedVerdict::Undecided, None) => format!("{FEWEST} runs of each side are needed"),
            (SpeedVerdict::Undecided, Some(_)) => "runs of the same side differ by too much".to_owned(),
            _ => String::new(),
        }
    }

    pub fn has_other_settings(&self) -> bool {
        settings(self.before) != settings(self.after)
    }
}

/// The runs by the clock of most among those by which each side has runs, if it has any; and the others. All runs where there
/// is no such clock.
fn of_one_clock<'a>(sides: [&[&'a CaseRun]; 2]) -> ([Vec<&'a CaseRun>; 2], Vec<&'a CaseRun>) {
    let count = |clock: Clock| sides.map(|side| side.iter().filter(|row| row.clock == clock).count());
    let is_shared = |clock: &Clock| count(*clock).iter().zip(sides).all(|(count, side)| *count > 0 || side.is_empty());
    // Of as many the first.
    let clock = Clock::ALL.into_iter().rev().filter(is_shared).max_by_key(|clock| count(*clock).iter().sum::<usize>());
    let is_of_it = |row: &&CaseRun| clock.is_none_or(|clock| row.clock == clock);
    let left_out = sides.concat().into_iter().filter(|row| !is_of_it(row)).collect();
    (sides.map(|side| side.iter().copied().filter(is_of_it).collect()), left_out)
}

/// How the runs of two sides follow each other: in turn if in order of time the side changes about as often as runs allow
/// where each round begins with the side that ended the round before.
fn turns<'a>(before: &[&'a CaseRun], after: &[&'a CaseRun]) -> Turns {
    let side = |rows: &[&'a CaseRun], second: bool| rows.iter().map(|row| (&*row.time_utc, second)).collect::<Vec<_>>();
    let mut order = [side(before, false), side(after, true)].concat();
    order.sort_by_key(|run| run.0);
    let changes = order.windows(2).filter(|pair| pair[0].1 != pair[1].1).count();
    let is_in_turn = changes + 1 >= before.len().min(after.len()) && changes > 1;
    if is_in_turn { Turns::InTurn } else { Turns::OneAfterTheOther }
}

/// More runs of each side, one at least, after which the ratio is told from 1, or shown to be within what counts as the same.
fn more_runs(runs: [usize; 2], spread: f64, ratio: f64, same: f64) -> usize {
    let has = runs[0].min(runs[1]);
    let away = ratio.ln().abs();
    let counts = same.ln_1p();
    let needed = runs_for(spread, away.max(counts - away).exp_m1());
    needed.max(FEWEST).saturating_sub(has).max(1)
}

/// Two sides of the same cases.
#[derive(Clone, Debug)]
pub struct FileComparison<'a> {
    /// The cases that both have a time of, in the order of the first.
    pub pairs: Vec<ComparedCase<'a>>,
    /// Cases that only the first has a time of.
    pub only_before: usize,
    /// Cases that only the second has a time of.
    pub only_after: usize,
}

impl FileComparison<'_> {
    pub fn count(&self, verdict: SpeedVerdict) -> usize {
        self.pairs.iter().filter(|pair| pair.verdict == verdict).count()
    }

    /// Errors: `Worse`, if it comes to any of these, or if there is nothing to judge.
    pub fn demand(&self, fail_on: &[FailOn]) -> Result<(), Error> {
        if !fail_on.is_empty() && self.pairs.is_empty() {
            return Err(Error::Worse("--fail-on has nothing to judge: no case has a time on both sides".into()));
        }
        for what in fail_on {
            let (count, why) = match *what {
                FailOn::Slower(share) => {
                    let is_slower =
                        |pair: &&ComparedCase<'_>| pair.verdict == SpeedVerdict::Slower && pair.ratio >= 1.0 + share;
                    (self.pairs.iter().filter(is_slower).count(), "slower than --fail-on allows: SLOWER")
                }
                FailOn::Undecided => {
                    (self.count(SpeedVerdict::Undecided) + self.only_before, "undecided or without a time: UNDECIDED")
                }
            };
            if count > 0 {
                let cases = if count == 1 { "1 case is".to_owned() } else { format!("{count} cases are") };
                return Err(Error::Worse(format!("{cases} {why} in the tables above")));
            }
        }
        Ok(())
    }
}

/// Compares the rows of `after` with those of `before`, where differences of less than `same` (as a share) do not count.
///
/// A case is a family, rung, type, shape and cache; where a file has several work-groups or settings of these, each is a case
/// by itself. Rows of a case from several runs of the program, as their `run_id` tells, are what verdicts are made of.
pub fn compare<'a>(before: &'a [CaseRun], after: &'a [CaseRun], same: f64) -> FileComparison<'a> {
    let apart = apart(&[before, after]);
    let (cases, mut others) = (cases(before, &apart), cases(after, &apart));
    let before_count = cases.order.len();
    let pairs = cases.order.into_iter().filter_map(|key| {
        let other = others.rows.remove(&key)?;
        ComparedCase::new(&cases.rows[&key], &other, same)
    });
    let pairs: Vec<ComparedCase<'_>> = pairs.collect();
    FileComparison { only_before: before_count - pairs.len(), only_after: others.rows.len(), pairs }
}

pub struct CaseRuns<'a> {
    pub row: &'a CaseRun,
    /// The runs' median times in seconds, in the order of the rows.
    pub seconds: Vec<f64>,
}

impl CaseRuns<'_> {
    /// The standard deviation between runs, as a share of the time; none of one run.
    pub fn spread(&self) -> Option<f64> {
        spread([&self.seconds, &[]])
    }
}

/// The cases with a time, in their order.
pub fn timed(rows: &[CaseRun]) -> Vec<CaseRuns<'_>> {
    let TimedCases { rows, order } = cases(rows, &apart(&[rows]));
    order
        .into_iter()
        .filter_map(|key| {
            let ([runs, _], _) = of_one_clock([&rows[&key], &[]]);
            Some(CaseRuns { row: runs.last()?, seconds: runs.iter().filter_map(|row| row.t_median_s).collect() })
        })
        .collect()
}

/// A row as its case's name: by its key, with work-group and settings where these tell cases apart. There may be a million.
#[derive(Clone, Copy)]
struct CaseOf<'a> {
    row: &'a CaseRun,
    is_apart: bool,
}

impl<'a> CaseOf<'a> {
    fn key(self) -> impl Eq + Hash + 'a {
        let CaseRun { family, variant, dtype, n, m, cache, .. } = self.row;
        (family, variant, dtype, n, m, cache, self.is_apart.then(|| settings(self.row)))
    }
}

impl PartialEq for CaseOf<'_> {
    fn eq(&self, other: &CaseOf<'_>) -> bool {
        self.key() == other.key()
    }
}

impl Eq for CaseOf<'_> {}

impl Hash for CaseOf<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

type CaseSettings<'a> = (Option<WorkGroup>, &'a str);

/// The rows of a file's cases that have a time.
struct TimedCases<'a> {
    rows: HashMap<CaseOf<'a>, Vec<&'a CaseRun>>,
    /// The cases as they come in the file.
    order: Vec<CaseOf<'a>>,
}

/// The cases of which a file has several work-groups or settings.
fn apart<'a>(files: &[&'a [CaseRun]]) -> HashSet<CaseOf<'a>> {
    let mut several = HashSet::new();
    for rows in files {
        let mut first: HashSet<CaseOf<'a>> = HashSet::new();
        for row in *rows {
            let case = CaseOf { row, is_apart: false };
            match first.get(&case) {
                Some(first) if settings(first.row) != settings(row) => _ = several.insert(case),
                Some(_) => {}
                None => _ = first.insert(case),
            }
        }
    }
    several
}

fn cases<'a>(rows: &'a [CaseRun], apart: &HashSet<CaseOf<'a>>) -> TimedCases<'a> {
    let mut cases = TimedCases { rows: HashMap::new(), order: Vec::new() };
    // A run that is named twice is one run: its last row counts.
    let mut places: HashMap<(CaseOf<'a>, &str), usize> = HashMap::new();
    for row in rows.iter().filter(|row| row.status == Status::Ok && row.t_median_s.is_some()) {
        let key = CaseOf { row, is_apart: apart.contains(&CaseOf { row, is_apart: false }) };
        let rows = cases.rows.entry(key).or_default();
        if rows.is_empty() {
            cases.order.push(key);
        }
        let place = *places.entry((key, &row.run_id)).or_insert(rows.len());
        match rows.get_mut(place) {
            Some(earlier) => *earlier = row,
            None => rows.push(row),
        }
    }
    cases
}

fn settings(row: &CaseRun) -> CaseSettings<'_> {
    (row.wg, &row.params)
}

//! What two sides of the same cases differ in: rows matched by case, and verdicts from how far runs differ; and what each step
//! of a ladder brought on several devices.

mod pairs;
mod ranks;

#[cfg(test)]
mod tests;

pub use pairs::{Outcomes, in_pairs, planted};
pub use ranks::{FEWEST, MISSES, RatioInterval, found_from, runs_for, spread};

use crate::groups::groups;
use crate::{Row, SCHEMA, clear_factor, columns, params_text};
use gpulab_kernels::values::FailOn;
use gpulab_model::data::{Dtype, Params};
use gpulab_model::outcome::{Cache, Clock, Status};
use gpulab_model::plan::WorkGroup;
use gpulab_model::{Error, Result, named_enum, stats};
use serde::{Deserialize, Serialize};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A case that both sides have a time of.
#[derive(Clone, Debug)]
pub struct ComparedCase<'a> {
    /// The first side's last row of it.
    pub before: &'a Row,
    pub after: &'a Row,
    /// Runs of the program on each side.
    pub runs: [usize; 2],
    /// The median of the runs' median times on each side, in seconds.
    pub seconds: [f64; 2],
    /// How many times slower the second is.
    pub ratio: f64,
    /// The interval that holds it; none of too few runs.
    pub interval: Option<RatioInterval>,
    pub verdict: SpeedVerdict,
    /// Of a case that is undecided, how many more runs of each side, in turn, would decide it, by what the runs so far show.
    pub more_runs: Option<usize>,
    /// Whether the runs of the two sides followed each other in turn, by when they began.
    pub in_turn: bool,
}

impl<'a> ComparedCase<'a> {
    fn new(before: &[&'a Row], after: &[&'a Row], same: f64) -> Option<ComparedCase<'a>> {
        let times = [before, after].map(|rows| {
            rows.iter()
                .filter_map(|row| row.t_median_s)
                .collect::<Vec<f64>>()
        });
        let seconds = [
            stats::summarise(&times[0])?.median,
            stats::summarise(&times[1])?.median,
        ];
        let in_turn = are_in_turn(before, after);
        let interval = RatioInterval::of_runs(&times[0], &times[1], in_turn);
        let verdict = interval
            .as_ref()
            .map_or(SpeedVerdict::Undecided, |interval| {
                SpeedVerdict::of(interval, same)
            });
        let ratio = interval.map_or(seconds[1] / seconds[0], |interval| interval.ratio);
        let runs = [before.len(), after.len()];
        // More runs, one at least, after which the ratio is told from 1, or shown to be within what counts as the same. Where one
        // side came first, more runs do not change that.
        let usable = if in_turn || interval.is_none() {
            runs[0].min(runs[1])
        } else {
            0
        };
        let away = ratio.ln().abs();
        let spread = spread([&times[0], &times[1]]).unwrap_or(0.0);
        let needed = runs_for(spread, away.max(same.ln_1p() - away).exp_m1()).max(FEWEST);
        Some(ComparedCase {
            before: before.last()?,
            after: after.last()?,
            runs,
            seconds,
            ratio,
            interval,
            verdict,
            more_runs: (verdict == SpeedVerdict::Undecided)
                .then(|| needed.saturating_sub(usable).max(1)),
            in_turn,
        })
    }

    pub fn has_other_settings(&self) -> bool {
        (self.before.wg, &self.before.params) != (self.after.wg, &self.after.params)
    }
}

/// Whether two sides took turns: if in order of time the side changes about as often as runs allow where each round begins with
/// the side that ended the round before.
fn are_in_turn(before: &[&Row], after: &[&Row]) -> bool {
    let first = before.iter().map(|row| (&row.time_utc, false));
    let mut order: Vec<(&String, bool)> = first
        .chain(after.iter().map(|row| (&row.time_utc, true)))
        .collect();
    order.sort_by_key(|run| run.0);
    let changes = order
        .windows(2)
        .filter(|pair| pair[0].1 != pair[1].1)
        .count();
    changes + 1 >= before.len().min(after.len()) && changes > 1
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
        self.pairs
            .iter()
            .filter(|pair| pair.verdict == verdict)
            .count()
    }

    /// Errors: `Worse`, if it comes to any of these, or if there is nothing to judge.
    pub fn demand(&self, fail_on: &[FailOn]) -> Result<()> {
        if !fail_on.is_empty() && self.pairs.is_empty() {
            return Err(Error::Worse(
                "--fail-on has nothing to judge: no case has a time on both sides".into(),
            ));
        }
        for what in fail_on {
            let (count, why) = match *what {
                FailOn::Slower(share) => {
                    let slower = self
                        .pairs
                        .iter()
                        .filter(|pair| pair.verdict == SpeedVerdict::Slower);
                    (
                        slower.filter(|pair| pair.ratio >= 1.0 + share).count(),
                        "SLOWER than --fail-on allows",
                    )
                }
                FailOn::Undecided => (
                    self.count(SpeedVerdict::Undecided) + self.only_before,
                    "UNDECIDED or without a time",
                ),
            };
            if count > 0 {
                return Err(Error::Worse(format!(
                    "cases {why} in the tables above: {count}"
                )));
            }
        }
        Ok(())
    }
}

/// Compares the rows of `after` with those of `before`, where differences of less than `same` (as a share) do not count.
///
/// A case is a family, rung, type, shape, cache and clock; where a file has several work-groups or settings of these, each is a
/// case by itself. Rows of a case from several runs of the program, as their `run_id` tells, are what verdicts are made of.
pub fn compare<'a>(before: &'a [Row], after: &'a [Row], same: f64) -> FileComparison<'a> {
    let apart = apart(&[before, after]);
    let cases = of_cases(before, &apart);
    let mut others: HashMap<CaseKey<'_>, Vec<&Row>> = of_cases(after, &apart).into_iter().collect();
    let count = cases.len();
    let mut pairs = Vec::new();
    for (key, rows) in cases {
        pairs.extend(
            others
                .remove(&key)
                .and_then(|other| ComparedCase::new(&rows, &other, same)),
        );
    }
    FileComparison {
        only_before: count - pairs.len(),
        only_after: others.len(),
        pairs,
    }
}

/// The rows of each case with a time, one for each run of the program, in their order.
pub fn timed(rows: &[Row]) -> Vec<Vec<&Row>> {
    of_cases(rows, &apart(&[rows]))
        .into_iter()
        .map(|(_, rows)| rows)
        .collect()
}

/// A case's name, with work-group and settings where these tell cases apart.
type CaseKey<'a> = (
    &'a str,
    &'a str,
    Dtype,
    u64,
    u64,
    Cache,
    Clock,
    Option<(Option<WorkGroup>, &'a Params)>,
);

fn key(row: &Row, is_apart: bool) -> CaseKey<'_> {
    let Row {
        family,
        variant,
        dtype,
        n,
        m,
        cache,
        clock,
        ..
    } = row;
    (
        family,
        variant,
        *dtype,
        *n,
        *m,
        *cache,
        *clock,
        is_apart.then_some((row.wg, &row.params)),
    )
}

/// The cases of which a file has several work-groups or settings.
fn apart<'a>(files: &[&'a [Row]]) -> HashSet<CaseKey<'a>> {
    let mut several = HashSet::new();
    for rows in files {
        let mut first: HashMap<CaseKey<'a>, CaseKey<'a>> = HashMap::new();
        for row in *rows {
            let settings = key(row, true);
            if *first.entry(key(row, false)).or_insert(settings) != settings {
                several.insert(key(row, false));
            }
        }
    }
    several
}

fn of_cases<'a>(rows: &'a [Row], apart: &HashSet<CaseKey<'a>>) -> Vec<(CaseKey<'a>, Vec<&'a Row>)> {
    let mut cases: Vec<(CaseKey<'a>, Vec<&'a Row>)> = Vec::new();
    let mut places: HashMap<CaseKey<'a>, usize> = HashMap::new();
    let mut runs: HashMap<(usize, &str), usize> = HashMap::new();
    for row in rows
        .iter()
        .filter(|row| row.status == Status::Ok && row.t_median_s.is_some())
    {
        let key = key(row, apart.contains(&key(row, false)));
        let case = *places.entry(key).or_insert(cases.len());
        if case == cases.len() {
            cases.push((key, Vec::new()));
        }
        let own = &mut cases[case].1;
        // A run that is named twice is one run: its last row counts.
        match runs.entry((case, &row.run_id)) {
            Entry::Occupied(place) => own[*place.get()] = row,
            Entry::Vacant(new) => {
                new.insert(own.len());
                own.push(row);
            }
        }
    }
    cases
}

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "UPPERCASE")]
    pub enum SpeedVerdict {
        /// The second takes more time.
        Slower = "SLOWER",
        /// The second takes less time.
        Faster = "FASTER",
        /// They differ by less than what counts.
        Same = "SAME",
        /// The noise is larger than what would have to be seen.
        Undecided = "UNDECIDED",
    }
}

impl SpeedVerdict {
    /// Of a ratio of times, where differences of less than `same` (as a share) do not count. An interval within that is the
    /// same (Schuirmann's two one-sided tests, J. Pharmacokinetics and Biopharmaceutics 15(6), 1987), one on one side of 1 a
    /// change, and any other undecided.
    pub fn of(interval: &RatioInterval, same: f64) -> SpeedVerdict {
        let least = 1.0 / (1.0 + same);
        let most = 1.0 + same;
        match (interval.low, interval.high) {
            (low, high) if low > least && high < most => SpeedVerdict::Same,
            (low, _) if low > 1.0 => SpeedVerdict::Slower,
            (_, high) if high < 1.0 => SpeedVerdict::Faster,
            _ => SpeedVerdict::Undecided,
        }
    }
}

columns! {
    /// A case that two files have in common; its fields are the columns of CSV files and the names in JSON.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct ComparisonRow {
        /// Version of the columns.
        pub schema: u32,
        /// The first file, or files joined by commas: the others are compared with it.
        pub before: String,
        /// The file, or files joined by commas, that is compared with `before`.
        pub after: String,
        /// Device name in `after`.
        pub device: String,
        /// The problem.
        pub family: String,
        /// Number in the ladder; none for references and CPU baselines.
        pub rung: Option<u32>,
        /// The idea, or the name of the reference or baseline.
        pub variant: String,
        /// Element type.
        pub dtype: Dtype,
        /// Elements, or columns.
        pub n: u64,
        /// Rows; 1 for vectors.
        pub m: u64,
        /// Whether runs found their data in cache.
        pub cache: Cache,
        /// Work-group size in `before`.
        pub before_wg: String,
        /// Settings in `before`.
        pub before_params: String,
        /// Runs of the program in `before`: a verdict takes six of each side.
        pub before_runs: u64,
        /// Median time in `before`; for several runs of the program, the median of their medians.
        #[unit = "s"]
        pub before_s: f64,
        /// Work-group size in `after`.
        pub after_wg: String,
        /// Settings in `after`.
        pub after_params: String,
        /// Runs of the program in `after`.
        pub after_runs: u64,
        /// Median time in `after`; for several runs of the program, the median of their medians.
        #[unit = "s"]
        pub after_s: f64,
        /// How many times as long the case takes in `after` as in `before`.
        #[unit = "1"]
        pub ratio: f64,
        /// Lower end of the ratio's 99 % interval; none for too few runs.
        #[unit = "1"]
        pub ratio_low: Option<f64>,
        /// Upper end of the ratio's 99 % interval.
        #[unit = "1"]
        pub ratio_high: Option<f64>,
        /// `SLOWER`, `FASTER`, `SAME` or `UNDECIDED`.
        pub verdict: SpeedVerdict,
        /// Why the verdict is undecided.
        pub reason: String,
        /// For a case that has too few runs to decide: how many more of each side would decide it.
        pub more_runs: Option<u64>,
    }
}

impl ComparisonRow {
    /// Of a case of the files with these names, the first of which is `before`.
    pub fn new([before, after]: [&str; 2], case: &ComparedCase<'_>) -> ComparisonRow {
        let ComparedCase {
            before: first,
            after: second,
            interval,
            ..
        } = case;
        let reason = match (case.verdict, interval) {
            (SpeedVerdict::Undecided, None) => format!("{FEWEST} runs of each side are needed"),
            (SpeedVerdict::Undecided, Some(_)) => {
                "runs of the same side differ by too much".to_owned()
            }
            _ => String::new(),
        };
        ComparisonRow {
            schema: SCHEMA,
            before: before.into(),
            after: after.into(),
            device: second.device.clone(),
            family: second.family.clone(),
            rung: second.rung,
            variant: second.variant.clone(),
            dtype: second.dtype,
            n: second.n,
            m: second.m,
            cache: second.cache,
            before_wg: first.wg_text(),
            before_params: params_text(&first.params),
            before_runs: case.runs[0] as u64,
            before_s: case.seconds[0],
            after_wg: second.wg_text(),
            after_params: params_text(&second.params),
            after_runs: case.runs[1] as u64,
            after_s: case.seconds[1],
            ratio: case.ratio,
            ratio_low: interval.map(|interval| interval.low),
            ratio_high: interval.map(|interval| interval.high),
            verdict: case.verdict,
            reason,
            more_runs: case.more_runs.map(|runs| runs as u64),
        }
    }
}

/// A ladder that ran on two devices or more.
#[derive(Clone, Debug, PartialEq)]
pub struct LadderSteps<'a> {
    /// A row of the ladder on each.
    pub devices: Vec<&'a Row>,
    /// Number and name of each rung, in order, with how many times faster than the rung before it is on each device; none
    /// without both times.
    pub rungs: Vec<(u32, String, Vec<Option<RatioInterval>>)>,
}

/// The ladders that ran on two devices or more: of each device at the largest size that all have, or else at its own largest.
pub fn steps<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Vec<LadderSteps<'a>> {
    let timed = rows
        .into_iter()
        .filter(|row| row.status == Status::Ok && row.rung.is_some() && row.is_plain());
    let timed: Vec<&Row> = timed.collect();
    // Default settings are no step from tuned ones.
    groups(&timed, |row| {
        (row.family.as_str(), row.dtype, row.cache, row.is_tuned())
    })
    .iter()
    .filter_map(|own| ladder(own))
    .collect()
}

fn ladder<'a>(own: &[&'a Row]) -> Option<LadderSteps<'a>> {
    let of_devices = groups(own, |row| (row.platform.as_str(), row.device.as_str()));
    if of_devices.len() < 2 {
        return None;
    }
    let sizes = of_devices.iter().map(|rows| {
        rows.iter()
            .map(|row| (row.n, row.m))
            .collect::<BTreeSet<_>>()
    });
    let common = sizes
        .reduce(|all, own| all.intersection(&own).copied().collect())?
        .pop_last();
    let mut devices = Vec::new();
    let mut timed: Vec<BTreeMap<(u32, &str), Vec<&Row>>> = Vec::new();
    for rows in &of_devices {
        let (n, m) = common.or(rows.iter().map(|row| (row.n, row.m)).max())?;
        let of_size = rows.iter().copied().filter(|row| (row.n, row.m) == (n, m));
        devices.extend(of_size.clone().next());
        let mut of_rungs: BTreeMap<(u32, &str), Vec<&Row>> = BTreeMap::new();
        for row in of_size {
            of_rungs
                .entry((row.rung?, &row.variant))
                .or_default()
                .push(row);
        }
        timed.push(of_rungs);
    }
    let rungs: BTreeSet<(u32, &str)> = own
        .iter()
        .filter_map(|row| Some((row.rung?, row.variant.as_str())))
        .collect();
    let mut lines = Vec::new();
    let mut before = None;
    for rung in rungs {
        let gains = timed
            .iter()
            .map(|rungs| gain(rungs.get(&before?)?, rungs.get(&rung)?));
        lines.push((rung.0, rung.1.to_owned(), gains.collect()));
        before = Some(rung);
    }
    Some(LadderSteps {
        devices,
        rungs: lines,
    })
}

/// How many times faster one rung is than another, within what the spreads and drifts of both leave open.
fn gain(before: &[&Row], own: &[&Row]) -> Option<RatioInterval> {
    let [slower, faster] = [before, own].map(|rows| {
        let medians: Vec<f64> = rows.iter().filter_map(|row| row.t_median_s).collect();
        stats::summarise(&medians).map(|times| times.median)
    });
    let ratio = slower? / faster?;
    let factor = clear_factor(before.last().copied(), own.last()?);
    Some(RatioInterval {
        ratio,
        low: ratio / factor,
        high: ratio * factor,
    })
}

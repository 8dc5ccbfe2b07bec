//! Exercises: a starter file, a goal, hints, a solution, and checks by counts. Each is data in `cl/exercises/NAME/`.
//!
//! Means are over no more requests and instructions than the starter has: idle ones that are added to a fault do not thin
//! it out. What the counts of requests leave out (atomics, copies by whole groups) may not take their place.

use crate::count::{CountedCase, Counts, LaunchCounts, LockstepModel, RequestCounts, TracedLaunch};
use gpulab_kernels::{Form, text};
use gpulab_model::data::{self, Shape};
use gpulab_model::{Error, Result, named_enum};
use gpulab_record::files;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The names of all exercises, in the order of a course; each is a folder below `cl/exercises/`.
pub const NAMES: &[&str] = &[
    "strides",
    "branches",
    "banks",
    "reduce-2",
    "reduce-3",
    "reduce-4",
    "reduce-5",
    "reduce-6",
    "reduce-7",
    "dot-presum",
    "transpose-banks",
    "minplus-registers",
];

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exercise {
    /// Its name: that of its folder.
    #[serde(skip)]
    pub name: &'static str,
    pub title: String,
    /// How long it may take, as its author thinks.
    pub minutes: u32,
    /// The view of `gpulab draw` that a sheet shows of the starting file.
    pub view: String,
    /// The family whose problem the kernel solves.
    pub family: String,
    pub source: String,
    /// What is to be reached, in one sentence.
    pub goal: String,
    /// What one must know for it.
    pub text: String,
    /// Hints, each of which says more than the one before it.
    pub hints: Vec<String>,
    /// What is counted of a right kernel.
    pub checks: Vec<CountCheck>,
}

impl Exercise {
    /// The name of the file that a student hands in.
    pub fn file_name(&self) -> String {
        format!("{}.cl", self.name)
    }

    /// What a student begins with, below the goal and the commands.
    pub fn starter(&self) -> Result<String> {
        let Exercise {
            name, title, goal, ..
        } = self;
        Ok(format!(
            "// Exercise {name}: {title}.\n// Goal: {goal}\n// gpulab exercise show {name} says more, gpulab exercise show {name} \
             --hint helps,\n// gpulab exercise check {name} {name}.cl checks this file.\n//\n{}",
            self.file("starter.cl")?
        ))
    }

    pub fn solution(&self) -> Result<String> {
        self.file("solution.cl").map(str::to_owned)
    }

    fn file(&self, file: &str) -> Result<&'static str> {
        let path = format!("exercises/{}/{file}", self.name);
        text(&path).ok_or_else(|| Error::Failed(format!("{path} is missing in this gpulab")))
    }
}

pub fn exercise(name: &str) -> Result<Option<Exercise>> {
    let Some(name) = NAMES.iter().find(|known| **known == name) else {
        return Ok(None);
    };
    let file = format!("exercises/{name}/exercise.toml");
    let broken = |why: String| Error::Failed(format!("{file}: {why}"));
    let data = text(&file).ok_or_else(|| broken("it is missing in this gpulab".into()))?;
    let exercise: Exercise = toml::from_str(data).map_err(|e| broken(e.to_string()))?;
    Ok(Some(Exercise { name, ..exercise }))
}

pub fn exercises() -> Result<Vec<Exercise>> {
    NAMES
        .iter()
        .filter_map(|name| exercise(name).transpose())
        .collect()
}

named_enum! {
    /// A number that follows from the counts of a case's launches, all together.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum CountMetric {
        Launches = "launches",
        /// Passes of a request to local memory.
        LocalPasses = "passes per request of local memory",
        /// Elements that are stored to local memory, for each element of the problem.
        LocalStores = "elements stored to local memory, for each element",
        /// Elements that are loaded from local memory, for each element of the problem.
        LocalLoads = "elements loaded from local memory, for each element",
        /// Warps of which some lanes execute what others of its lanes never do, and the other way round.
        TornWarps = "warps that take both sides of a branch",
        /// The share of a warp's lanes that are busy.
        BusyLanes = "busy lanes, as a share",
        /// Memory segments (32 B) of a load from global memory.
        ReadSegments = "memory segments per load",
        /// Memory segments (32 B) of a store to global memory.
        WriteSegments = "memory segments per store",
        /// Instructions of work-items for each element.
        Instructions = "instructions per element",
        /// Barriers of groups, for each thousand elements.
        Barriers = "barriers per thousand elements",
        WorkItems = "work-items per element",
        /// Results that are left in global memory, for each element.
        Results = "results left per element",
        /// Elements loaded, from whatever memory, for each addition of a min-plus product.
        LoadsAnAddition = "elements loaded for an addition",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckResult {
    pub what: String,
    /// How much; none where there was nothing to count.
    pub value: Option<f64>,
    pub wanted: String,
    pub ok: bool,
    /// What to think about if it is not.
    pub hint: String,
    /// The line that has most of the fault, as in `strides.cl:12`.
    pub line: Option<String>,
}

pub struct Over<'a> {
    /// What each warp did, where a check asks for it.
    pub traced: &'a [TracedLaunch],
    pub shape: Shape,
    /// Bytes of an element.
    pub size: usize,
}

impl CountMetric {
    /// The file and line with most of what it is about; none where no line has it.
    fn line_with_most(self, counted: &CountedCase) -> Option<(&str, u64)> {
        let mut all: BTreeMap<(&str, u64), u64> = BTreeMap::new();
        for one in counted
            .launches
            .iter()
            .flat_map(|launch| &launch.counts.instructions)
            .filter(|one| one.line > 0)
        {
            *all.entry((&one.file, one.line)).or_default() += match self {
                CountMetric::LocalPasses => one.counts.local().conflicts,
                CountMetric::BusyLanes => {
                    one.counts.issued * LockstepModel::USUAL.warp - one.counts.lanes
                }
                CountMetric::ReadSegments => needless(one.counts.memory.global_read),
                CountMetric::WriteSegments => needless(one.counts.memory.global_write),
                _ => 0,
            };
        }
        all.into_iter()
            .filter(|(_, cost)| *cost > 0)
            .max_by_key(|(_, cost)| *cost)
            .map(|(place, _)| place)
    }

    /// Whether it is a mean, which the starter's number of requests or instructions bounds.
    fn is_mean(self) -> bool {
        use CountMetric::{BusyLanes, LocalPasses, ReadSegments, WriteSegments};
        matches!(self, BusyLanes | LocalPasses | ReadSegments | WriteSegments)
    }

    /// Its value; none where nothing was counted that it could be a mean of.
    fn of(
        self,
        counted: &CountedCase,
        starter: Option<&CountedCase>,
        over: &Over<'_>,
    ) -> Option<f64> {
        let starters = starter.map(total);
        let total = total(counted);
        let mean = |what: fn(&Counts) -> u64, of: fn(&Counts) -> u64| {
            let number = starters
                .map_or(u64::MAX, |starter| of(&starter))
                .min(of(&total));
            (number > 0).then(|| what(&total) as f64 / number as f64)
        };
        let launches = counted.launches.iter();
        let sum = |what: fn(&LaunchCounts) -> u64| -> u64 {
            launches.clone().map(|launch| what(&launch.counts)).sum()
        };
        let copies = sum(|counts| counts.copies) > 0;
        let elements = over.shape.elements() as f64;
        let memory = &total.memory;
        let size = over.size as f64;
        match self {
            CountMetric::Launches => Some(counted.launches.len() as f64),
            CountMetric::LocalPasses | CountMetric::LocalStores | CountMetric::LocalLoads
                if copies || memory.local_atomic.requests > 0 =>
            {
                None
            }
            CountMetric::LocalPasses => mean(
                |counts| counts.local().passes,
                |counts| counts.local().requests,
            ),
            CountMetric::LocalStores => Some(memory.local_write.bytes as f64 / size / elements),
            CountMetric::LocalLoads => Some(memory.local_read.bytes as f64 / size / elements),
            CountMetric::TornWarps => Some(torn_warps(over.traced) as f64),
            CountMetric::BusyLanes => {
                const WARP: u64 = LockstepModel::USUAL.warp;
                let idle = mean(
                    |counts| counts.issued * WARP - counts.lanes,
                    |counts| counts.issued,
                )?;
                Some(1.0 - idle / WARP as f64)
            }
            CountMetric::ReadSegments | CountMetric::WriteSegments
                if copies || memory.global_atomic.requests > 0 =>
            {
                None
            }
            CountMetric::ReadSegments => mean(
                |counts| counts.memory.global_read.segments,
                |counts| counts.memory.global_read.requests,
            ),
            CountMetric::WriteSegments => mean(
                |counts| counts.memory.global_write.segments,
                |counts| counts.memory.global_write.requests,
            ),
            CountMetric::Instructions => Some(total.lanes as f64 / elements),
            CountMetric::Barriers => Some(1000.0 * sum(|counts| counts.barriers) as f64 / elements),
            CountMetric::WorkItems => Some(sum(|counts| counts.items) as f64 / elements),
            CountMetric::Results => Some(memory.global_write.bytes as f64 / size / elements),
            CountMetric::LoadsAnAddition => {
                let additions = elements * over.shape.n as f64;
                let bytes =
                    memory.global_read.bytes + memory.local_read.bytes + memory.constant_read.bytes;
                Some(bytes as f64 / size / additions)
            }
        }
    }
}

/// Segments beyond those that the bytes would fill.
fn needless(of: RequestCounts) -> u64 {
    of.segments
        .saturating_sub(of.bytes.div_ceil(LockstepModel::USUAL.segment))
}

fn total(counted: &CountedCase) -> Counts {
    let mut total = Counts::default();
    counted
        .launches
        .iter()
        .for_each(|launch| total += launch.counts.total());
    total
}

/// Warps with two steps that have no lane in common.
fn torn_warps(launches: &[TracedLaunch]) -> usize {
    let mut warps: BTreeMap<(u64, u64), BTreeSet<u64>> = BTreeMap::new();
    for step in launches.iter().flat_map(|launch| &launch.steps) {
        warps
            .entry((step.group, step.warp))
            .or_default()
            .insert(step.lanes);
    }
    warps
        .values()
        .filter(|steps| {
            steps
                .iter()
                .any(|one| steps.iter().any(|other| one & other == 0))
        })
        .count()
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Demand {
    Most(f64),
    Least(f64),
    MostOfStarter(f64),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountCheck {
    pub metric: CountMetric,
    pub wanted: Demand,
    /// What to think about if it is not.
    pub hint: String,
}

impl CountCheck {
    pub fn needs_starter(&self) -> bool {
        self.metric.is_mean() || matches!(self.wanted, Demand::MostOfStarter(_))
    }

    fn of(
        &self,
        counted: &CountedCase,
        starter: Option<&CountedCase>,
        over: &Over<'_>,
    ) -> CheckResult {
        let value = self.metric.of(counted, starter, over);
        let (wanted, ok) = match self.wanted {
            Demand::Most(most) => (
                format!("at most {most}"),
                value.is_some_and(|value| value <= most),
            ),
            Demand::Least(least) => (
                format!("at least {least}"),
                value.is_some_and(|value| value >= least),
            ),
            Demand::MostOfStarter(share) => {
                let starter = starter.and_then(|starter| self.metric.of(starter, None, over));
                let most = starter.map(|starter| share * starter);
                let said = most.map_or("less than the starter".into(), |most| {
                    format!("at most {most:.3} ({share} of the starter's)")
                });
                (
                    said,
                    value.zip(most).is_some_and(|(value, most)| value <= most),
                )
            }
        };
        let is_thinned = self.metric.of(counted, None, over) != value;
        let note = if is_thinned {
            ", averaged over as many as the starter has"
        } else {
            ""
        };
        let wanted = format!("{wanted}{note}");
        let place = if ok {
            None
        } else {
            self.metric.line_with_most(counted)
        };
        let line =
            place.map(|(file, line)| format!("{}:{line}", file.rsplit('/').next().unwrap_or(file)));
        CheckResult {
            what: self.metric.name().into(),
            value,
            wanted,
            ok,
            hint: self.hint.clone(),
            line,
        }
    }
}

named_enum! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum ExerciseVerdict {
        /// Right, and its counts are as demanded.
        Passed = "passed",
        /// Right, but the counts show that the step is still to be made.
        NotYet = "not yet",
        /// Right, but there is no simulator to count in.
        Uncounted = "uncounted",
        /// A wrong result.
        Wrong = "WRONG",
        NotBuilt = "NOT BUILT",
        /// It ended its process, or the driver failed.
        Crashed = "CRASHED",
        /// It did not end before its deadline.
        Endless = "ENDLESS",
        /// The file cannot be read, or declares what cannot be.
        #[default]
        Refused = "REFUSED",
    }
}

/// What a submission is found to be, and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Grade {
    pub exercise: String,
    pub verdict: ExerciseVerdict,
    pub reason: String,
    /// What to think about next; empty if it passed.
    pub hint: String,
    pub right_at: Vec<String>,
    pub counted_at: Option<String>,
    /// Draws the sizes and the data again.
    pub seed: u64,
    /// The counts.
    pub checks: Vec<CheckResult>,
    /// The command that plays the moment of the fault; none where no line has it.
    pub film: Option<String>,
    /// What a step that passed gains on a recorded GPU, in words.
    pub elsewhere: Option<String>,
}

/// A file of a class.
#[derive(Serialize)]
pub struct GradedFile {
    pub student: String,
    pub file: String,
    #[serde(flatten)]
    pub grade: Grade,
}

impl Grade {
    /// Nothing is known yet.
    pub fn begin(exercise: &str, seed: u64) -> Grade {
        Grade {
            exercise: exercise.into(),
            seed,
            ..Grade::default()
        }
    }

    pub fn ended(
        self,
        verdict: ExerciseVerdict,
        reason: impl Into<String>,
        hint: impl Into<String>,
    ) -> Grade {
        Grade {
            verdict,
            reason: reason.into(),
            hint: hint.into(),
            ..self
        }
    }

    /// With what was counted of the submission, and of the starter where a check needs it: passed if all is as wanted.
    pub fn counted(
        self,
        exercise: &Exercise,
        counted: &CountedCase,
        starter: Option<&CountedCase>,
        over: &Over<'_>,
    ) -> Grade {
        let checks: Vec<CheckResult> = exercise
            .checks
            .iter()
            .map(|check| check.of(counted, starter, over))
            .collect();
        let failed = checks.iter().find(|check| !check.ok).cloned();
        let grade = Grade { checks, ..self };
        match failed {
            None => grade.ended(ExerciseVerdict::Passed, "", ""),
            Some(CheckResult {
                what,
                value,
                wanted,
                hint,
                ..
            }) => {
                let value = value.map_or("none".into(), |value| format!("{value:.3}"));
                grade.ended(
                    ExerciseVerdict::NotYet,
                    format!("{what}: {value}, must be {wanted}"),
                    hint,
                )
            }
        }
    }

    /// The line that has most of the first fault.
    pub fn line(&self) -> Option<&str> {
        self.checks.iter().find(|check| !check.ok)?.line.as_deref()
    }

    /// What it is to a shell: nothing if it passed, else an error with its exit code.
    pub fn outcome(&self) -> Result<()> {
        let text = format!("{}: {}", self.exercise, self.verdict.name());
        Err(match self.verdict {
            ExerciseVerdict::Passed => return Ok(()),
            ExerciseVerdict::Wrong => Error::WrongResult(text),
            ExerciseVerdict::NotBuilt => Error::BuildFailed(text),
            ExerciseVerdict::Refused => Error::Usage(text),
            ExerciseVerdict::Uncounted => Error::NoDevice(text),
            ExerciseVerdict::NotYet | ExerciseVerdict::Crashed | ExerciseVerdict::Endless => {
                Error::Failed(text)
            }
        })
    }
}

const FILE: &str = "exercises.json";

/// How far a reader has come with an exercise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    pub checks: u32,
    pub hints: usize,
    pub passed: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// What was bet that a step gains, and what it gained.
    #[serde(default)]
    pub bets: BTreeMap<String, (f64, f64)>,
    /// By the exercises' names, as a file without bets has them.
    #[serde(flatten)]
    standings: BTreeMap<String, Standing>,
}

impl Progress {
    /// What is kept below `folder`; nothing, and why, if it cannot be read. A damaged file is put aside.
    pub fn load(folder: &Path) -> (Progress, Option<String>) {
        let path = folder.join(FILE);
        if !path.exists() {
            return (Progress::default(), None);
        }
        match files::read_json(&path) {
            Ok(kept) => (kept, None),
            Err(why) => {
                let aside = files::put_aside(&path);
                let why = format!(
                    "the progress in {} cannot be read: {why}; {aside}",
                    path.display()
                );
                (Progress::default(), Some(why))
            }
        }
    }

    pub fn save(&self, folder: &Path) -> Result<()> {
        let path = folder.join(FILE);
        files::write_json(&path, self).map_err(|source| Error::Output {
            what: format!("the progress to {}", path.display()),
            source,
        })
    }

    pub fn of(&self, name: &str) -> Standing {
        self.standings.get(name).cloned().unwrap_or_default()
    }

    pub fn change(&mut self, name: &str) -> &mut Standing {
        self.standings.entry(name.to_owned()).or_default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnSizes {
    /// Where the result must be right, beside the edges where kernels go wrong.
    pub asked: Shape,
    /// What is counted: whole tiles, so that edges do not blur the counts.
    pub counted: Shape,
}

impl DrawnSizes {
    pub fn new(form: Form, seed: u64) -> DrawnSizes {
        let mut drawn = 0;
        let mut within = |least: u64, most: u64| {
            drawn += 1;
            least + data::draw(seed, drawn) % (most - least + 1)
        };
        let (asked, counted) = match form {
            Form::Vector => (
                Shape::vector(within(200_000, 400_000)),
                Shape::vector(4096 * within(6, 12)),
            ),
            Form::Matrix => {
                let width = 64 * within(1, 3);
                let asked = Shape {
                    n: within(100, 400),
                    m: within(100, 400),
                };
                (
                    asked,
                    Shape {
                        n: width,
                        m: width + 64,
                    },
                )
            }
            Form::Square => {
                let asked = within(100, 200);
                let counted = 32 * within(2, 3);
                (form.shape(asked, None), form.shape(counted, None))
            }
        };
        DrawnSizes { asked, counted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exercise_is_complete_and_has_its_folder() {
        for exercise in exercises().unwrap() {
            let name = exercise.name;
            assert!(
                exercise.hints.len() >= 2,
                "{name}: hints go from little to much"
            );
            assert!(
                exercise.goal.ends_with('.') && !exercise.title.ends_with('.'),
                "{name}"
            );
            assert!(
                gpulab_kernels::built_in(&exercise.family).is_some() && !exercise.checks.is_empty(),
                "{name}"
            );
            assert_ne!(
                exercise.starter().unwrap(),
                exercise.solution().unwrap(),
                "{name}"
            );
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cl/exercises");
        let found = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert_eq!(
            found.collect::<BTreeSet<_>>(),
            NAMES.iter().map(|name| (*name).to_owned()).collect()
        );
    }

    #[test]
    fn progress_is_kept_and_a_damaged_file_put_aside() {
        let folder = tempfile::tempdir().unwrap();
        let mut progress = Progress::load(folder.path()).0;
        progress.change("banks").passed = true;
        progress.save(&folder.path().join("new")).unwrap();
        assert!(
            Progress::load(&folder.path().join("new"))
                .0
                .of("banks")
                .passed
        );
        std::fs::write(folder.path().join(FILE), "{").unwrap();
        let (progress, why) = Progress::load(folder.path());
        assert!(!progress.of("banks").passed && why.unwrap().contains(".bad"));
        assert!(Progress::load(folder.path()).1.is_none());
    }

    #[test]
    fn seeds_draw_other_sizes_and_a_seed_the_same() {
        for form in [Form::Vector, Form::Matrix, Form::Square] {
            let all: Vec<DrawnSizes> = (0..20).map(|seed| DrawnSizes::new(form, seed)).collect();
            assert_eq!(all[3], DrawnSizes::new(form, 3));
            assert!(
                all.iter()
                    .map(|s| s.asked.n)
                    .collect::<BTreeSet<u64>>()
                    .len()
                    > 10
            );
            assert!(
                all.iter()
                    .all(|sizes| sizes.counted.n % 32 == 0 && sizes.counted.elements() <= 1 << 16)
            );
        }
    }
}

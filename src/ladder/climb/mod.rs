//! A ladder under way: which of its cases comes when, how long each is sampled, and what is kept of it.

use crate::ceilings::{self, CeilingRow, LimitNeeded, Limits};
use crate::kernels::Baseline;
use crate::ladder::LadderRun;
use crate::outcome::Job;
use crate::outputs::Outputs;
use crate::prelude::*;
use crate::record::{CPU_DOUBLE, Ceiling, HOST, LaunchCost, Peaks, REPEATS, SampleRow, flag, relate};
use crate::report::doing;
use crate::report::live::{Live, LiveRow};
use crate::report::progress::Observer;
use crate::runner::{Budget, FOR_LIMITS, Pace};
use crate::{bench, stats};

pub(crate) struct Study<'a> {
    pub(crate) ladder: &'a LadderRun<'a>,
    pub(crate) dtype: Dtype,
    pub(crate) wg: WorkGroup,
    /// Rungs as they were tuned, by their names.
    pub(crate) tuned: BTreeMap<String, Case>,
    pub(crate) rungs: Vec<&'a Rung>,
    pub(crate) settings: Settings,
    /// What sampling is fitted into, if anything.
    pub(crate) budget: Option<Budget>,
    pub(crate) seed: u64,
    pub(crate) quick: bool,
    /// How often all of it is measured, each time in a fresh process.
    pub(crate) rounds: usize,
    pub(crate) peaks: Peaks,
    /// Whether to say what is done.
    pub(crate) verbose: bool,
}

/// Share of a budget that is kept for what a launch costs, and for the end of the program.
const FOR_LAUNCHES: f64 = 0.08;

/// A part of a ladder's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The device's limits that were not measured before.
    Limits,
    Baselines,
    Rungs,
}

/// The order of the work: first the rungs, which people wait for, but before them what rules out times of theirs. A row that
/// goes to a file is written when it is measured, so that no end of the process loses it, and once: then all that it is
/// compared with comes before it.
fn order(has_files: bool, is_bounded: bool) -> [Stage; 3] {
    match (has_files, is_bounded) {
        (true, _) => [Stage::Limits, Stage::Baselines, Stage::Rungs],
        (false, true) => [Stage::Limits, Stage::Rungs, Stage::Baselines],
        (false, false) => [Stage::Rungs, Stage::Baselines, Stage::Limits],
    }
}

struct LadderTask<'a> {
    label: String,
    case: Case,
    /// None of a CPU baseline.
    rung: Option<&'a Rung>,
}

pub(crate) struct Climb<'a> {
    study: Study<'a>,
    run: Run,
    executor: Box<dyn Executor>,
    live: Option<Live>,
    /// Those of this round, in the order in which they were measured.
    records: Vec<Record>,
    /// Those of the rounds before.
    earlier: Vec<Vec<Record>>,
    pub(crate) outputs: Outputs<Row>,
    limit: Option<Ceiling>,
    launch: Option<LaunchCost>,
    /// Bytes that a cache is known to hold by its bandwidth; 0 where that was not measured.
    cached: u64,
    pace: Pace,
    /// What is still to be done, by name.
    missing: Vec<String>,
    /// Steps of all the work, but for what an earlier run did.
    steps: usize,
}

impl<'a> Climb<'a> {
    pub(crate) fn new(
        study: Study<'a>,
        executor: Box<dyn Executor>,
        outputs: Outputs<Row>,
        live: Live,
        began: Instant,
    ) -> Climb<'a> {
        let budget = study.budget;
        let mut climb = Climb {
            run: Run { quick: study.quick, ..Run::begin() },
            study,
            executor,
            live: Some(live),
            records: Vec::new(),
            earlier: Vec::new(),
            outputs,
            limit: None,
            launch: None,
            cached: 0,
            pace: Pace::new(budget, began, 0),
            missing: Vec::new(),
            steps: 0,
        };
        let tasks = [Stage::Rungs, Stage::Baselines].into_iter().flat_map(|stage| climb.tasks(stage));
        climb.missing = tasks.map(|task| task.label).collect();
        climb.pace = Pace::new(budget, began, climb.missing.len());
        if !climb.is_empty() {
            climb.missing.push(climb.limits_name());
        }
        climb
    }

    pub(crate) fn ladder(&self) -> &'a LadderRun<'a> {
        self.study.ladder
    }

    pub(crate) fn info(&self) -> &DeviceInfo {
        self.executor.info()
    }

    /// What was not measured, by name: rungs, CPU baselines, and limits.
    pub(crate) fn missing(&self) -> &[String] {
        &self.missing
    }

    /// What was measured, in all rounds.
    pub(crate) fn rows(&self) -> Vec<Row> {
        self.earlier.iter().flatten().chain(&self.records).map(Row::from).collect()
    }

    /// A row for each case: of several rounds that with the median of their times, beside the others like it.
    pub(crate) fn median_rows(&self) -> Vec<Row> {
        let Some(first) = self.earlier.first() else { return self.records.iter().map(Row::from).collect() };
        let middle = |record: &Record| {
            let is_it = |other: &&Record| other.outcome.case == record.outcome.case;
            let mut rounds: Vec<&Record> = self.earlier.iter().flatten().chain(&self.records).filter(is_it).collect();
            let median = |record: &Record| record.times.map_or(0.0, |times| times.median);
            rounds.sort_by(|a, b| median(a).total_cmp(&median(b)));
            // What went wrong in any round is shown.
            let wrong = rounds.iter().find(|record| record.outcome.status() != Status::Ok);
            (*wrong.unwrap_or(&rounds[(rounds.len() - 1) / 2])).clone()
        };
        let mut records: Vec<Record> = first.iter().map(middle).collect();
        relate(&mut records);
        records.iter().map(Row::from).collect()
    }

    /// What a model of the rungs' times needs to know of the device, measured where it is not kept.
    pub(crate) fn model_limits(&mut self, limits: &mut Limits) -> Result<Vec<CeilingRow>, Error> {
        self.show("the device's limits for --why");
        limits.end_by(None);
        limits.rows(&ceilings::for_model(&self.executor.info().target), &mut *self.executor)
    }

    /// From which size on the data leave the caches, where all that were timed fit one: then no time tells of memory.
    pub(crate) fn beyond_cache(&self) -> Option<String> {
        let ladder = self.study.ladder;
        let timed: Vec<&Record> =
            self.records.iter().filter(|r| r.scene.platform != HOST && r.times.is_some()).collect();
        let has = |flag| move |record: &&Record| record.flags.contains(flag);
        let scene = &timed.first()?.scene;
        if !ladder.inputs.is_empty() || !timed.iter().all(has(flag::FITS_CACHE)) {
            return None;
        }
        let held = if timed.iter().any(has(flag::ABOVE_CEILING)) { scene.cache_reach } else { scene.cache_bytes };
        let case = |n| Case { shape: ladder.family.form.shape(n, None), ..self.case("", &Params::new()) };
        let log = (0..40).find(|log| ladder.family.problem.cost(&case(1 << log)).bytes > held as f64)?;
        Some(format!("all data fit a cache: -n 2^{log} or --cache cold shows shares of memory's limit"))
    }

    /// Clears what shows how it gets on.
    pub(crate) fn end_progress(&mut self) {
        self.live = None;
    }

    /// Measures everything. What was measured before an error is there all the same.
    pub(crate) fn climb(&mut self, limits: &mut Limits) -> Result<(), Error> {
        if !self.is_empty() {
            self.recall(limits)?;
        }
        self.steps = self.missing.len();
        self.first_round(limits)?;
        (1..self.study.rounds).try_for_each(|_| self.another_round())
    }

    fn first_round(&mut self, limits: &mut Limits) -> Result<(), Error> {
        for stage in order(self.outputs.has_rows(), self.is_bounded() && !self.is_limit_at_hand(limits)) {
            match stage {
                Stage::Limits => self.measure_limits(limits)?,
                Stage::Baselines | Stage::Rungs => {
                    self.tasks(stage).into_iter().try_for_each(|task| self.run_task(&task))?;
                }
            }
        }
        Ok(())
    }

    /// Measures all cases once more, in a fresh process and as another run; the limits stay.
    fn another_round(&mut self) -> Result<(), Error> {
        self.executor.renew();
        self.run = Run { quick: self.study.quick, ..Run::begin() };
        self.earlier.push(std::mem::take(&mut self.records));
        let tasks: Vec<LadderTask<'_>> =
            [Stage::Baselines, Stage::Rungs].into_iter().flat_map(|s| self.tasks(s)).collect();
        self.missing = tasks.iter().map(|task| task.label.clone()).collect();
        self.steps = tasks.len();
        self.pace = Pace::new(self.study.budget, Instant::now(), tasks.len());
        tasks.iter().try_for_each(|task| self.run_task(task))
    }

    /// No elements are an answer without a launch, and nothing is compared with it.
    fn is_empty(&self) -> bool {
        self.study.ladder.shape.elements() == 0
    }

    fn need(&self) -> LimitNeeded {
        let ladder = self.study.ladder;
        LimitNeeded::of(ladder.family, self.study.dtype, &ladder.params)
    }

    fn is_limit_at_hand(&self, limits: &Limits) -> bool {
        limits.is_at_hand(self.need(), &self.info().target)
    }

    /// Whether the limit rules out times of some rung.
    fn is_bounded(&self) -> bool {
        let family = self.study.ladder.family;
        let tasks = self.tasks(Stage::Rungs);
        tasks.iter().any(|task| ceilings::is_bounded(family, &task.case, self.info()))
    }

    /// Whether the limit says nothing of these data, unless one wants to know it all the same.
    fn is_without_limit(&self) -> bool {
        let case = self.case("", &Params::new());
        let cache = self.study.settings.cache;
        !self.study.verbose && ceilings::is_in_cache(self.study.ladder.family, &case, cache, self.info())
    }

    fn limits_name(&self) -> String {
        let limit = format!("the device's {} limit", self.study.ladder.family.ceiling.name());
        if self.is_without_limit() { "what a launch costs".into() } else { limit }
    }

    /// Takes the limits that an earlier run measured.
    fn recall(&mut self, limits: &mut Limits) -> Result<(), Error> {
        let need = self.need();
        let clock = self.study.settings.clock;
        self.cached = limits.cached();
        let has_limit = self.is_limit_at_hand(limits);
        let has_launch_cost = limits.has_launch_cost(clock);
        if has_limit {
            limits.measure(&mut *self.executor, need)?;
            self.limit = limits.get(need);
        }
        if has_launch_cost {
            self.launch = limits.launch_cost(&mut *self.executor, clock)?;
        }
        if has_launch_cost && (has_limit || self.is_without_limit()) {
            self.done(&self.limits_name());
        }
        Ok(())
    }

    /// Measures the limits that are not known yet, and holds against them what was measured before.
    fn measure_limits(&mut self, limits: &mut Limits) -> Result<(), Error> {
        if self.is_empty() {
            return Ok(());
        }
        let name = self.limits_name();
        let need = self.need();
        if self.missing.contains(&name) {
            self.show(&name);
        }
        limits.end_by(self.limits_deadline());
        let measured = if self.is_without_limit() { Ok(()) } else { limits.measure(&mut *self.executor, need) };
        self.limit = limits.get(need);
        let launch = measured.and_then(|()| limits.launch_cost(&mut *self.executor, self.study.settings.clock));
        self.launch = launch.as_ref().copied().unwrap_or(self.launch);
        self.complete();
        if launch.is_ok() {
            self.done(&name);
        }
        if self.study.verbose {
            let text = doing::limits(self.limit, self.launch);
            self.aside(&text);
        }
        launch.map(drop)
    }

    /// When the search of a limit is to be over, if the ladder has a budget: at its end. Where the rows are held against the
    /// limit as they are measured, it is searched for as long as that takes.
    fn limits_deadline(&self) -> Option<Instant> {
        self.pace.after(1.0 - FOR_LAUNCHES).filter(|_| !self.records.is_empty())
    }

    /// Makes the rungs' records anew, beside the limits that are known by now.
    fn complete(&mut self) {
        let ceiling = self.limit;
        let launch = self.launch;
        self.records = std::mem::take(&mut self.records)
            .into_iter()
            .map(|record: Record| match record.scene.platform == HOST {
                true => record,
                false => {
                    let scene = Scene { ceiling, launch, ..record.scene };
                    Record { took: record.took, ..Record::from_outcome(&scene, record.rung, record.outcome) }
                }
            })
            .collect();
        relate(&mut self.records);
    }

    fn tasks(&self, stage: Stage) -> Vec<LadderTask<'a>> {
        let ladder = self.study.ladder;
        match stage {
            Stage::Limits => Vec::new(),
            Stage::Baselines if self.is_empty() => Vec::new(),
            Stage::Baselines => {
                let task = |b: &Baseline| LadderTask {
                    label: b.name.to_owned(),
                    case: self.case(b.name, &Params::new()),
                    rung: None,
                };
                // That of a source belongs to its set-up only.
                let all = ladder.family.problem.baselines().iter();
                all.filter(|b| ladder.source.is_some() || b.name != CPU_DOUBLE).map(task).collect()
            }
            Stage::Rungs => {
                let task = |rung: &'a Rung, more: &Params| {
                    let inside = if more.contains_key(REPEATS) { " (inside)" } else { "" };
                    let label = rung.label() + inside;
                    LadderTask { label, case: self.case(rung.variant(), more), rung: Some(rung) }
                };
                let rungs = self.study.rungs.iter();
                rungs.flat_map(|&rung| ladder.series.iter().map(move |more| task(rung, more))).collect()
            }
        }
    }

    fn case(&self, variant: &str, more: &Params) -> Case {
        let Study { ladder, dtype, wg, seed, tuned, .. } = &self.study;
        let tuned = tuned.get(variant);
        let (wg, params) = tuned.map_or((wg, &ladder.params), |case| (&case.wg, &case.params));
        let params = params.iter().chain(more).map(|(name, value)| (name.clone(), value.clone()));
        Case {
            wg: *wg,
            params: params.collect(),
            seed: *seed,
            ..Case::of(&ladder.family.name, variant, *dtype, ladder.shape)
        }
    }

    /// The settings for the next case, in what is left of the time.
    fn settings(&self, case: &Case) -> Settings {
        let kept = if self.missing.contains(&self.limits_name()) { FOR_LIMITS } else { 0.0 };
        let settings = self.pace.settings(&self.study.settings, 1, kept);
        ceilings::bounded(&settings, self.study.ladder.family, case, self.limit, self.info())
    }

    /// Runs one case, keeps its record and writes its row.
    fn run_task(&mut self, task: &LadderTask<'_>) -> Result<(), Error> {
        bench::go_on()?;
        self.show(&task.label);
        let settings = self.settings(&task.case);
        let job = Job { baseline: task.rung.is_none(), case: task.case.clone(), settings, again: false };
        let started = Instant::now();
        let mut outcome = self.executor.run(&job)?;
        self.pace.job_done(started, job.settings.timeout);
        // Also of one that never got as far as a plan: no two rows of a kernel look the same.
        if let Some(repeats) = job.case.params.get(REPEATS) {
            outcome.params.entry(REPEATS.into()).or_insert_with(|| repeats.clone());
        }
        if let Some(live) = &mut self.live {
            live.case_done(outcome.status(), stats::summarise(&outcome.times()).map(|s| s.median));
        }
        self.tell_done(task, &outcome);
        let scene = self.scene(task, &job.settings);
        let record = Record::from_outcome(&scene, task.rung.and_then(Rung::number), outcome);
        self.records.push(Record { took: Some(started.elapsed().as_secs_f64()), ..record });
        relate(&mut self.records);
        self.done(&task.label);
        let Some(record) = self.records.last() else { return Ok(()) };
        let row = Row::from(record);
        self.outputs.row(&row);
        self.outputs.samples(SampleRow::of(record));
        if let Some(live) = self.live.as_mut().filter(|_| self.earlier.is_empty()) {
            live.add(LiveRow::new(&task.label, &row));
        }
        Ok(())
    }

    fn scene(&self, task: &LadderTask<'_>, settings: &Settings) -> Scene {
        if task.rung.is_none() {
            let threads = std::thread::available_parallelism().map_or(1, usize::from);
            return Scene::on_host(&self.run, threads, settings);
        }
        let scene = Scene::on_device(&self.run, self.info(), settings, self.limit);
        let variant = &task.case.variant;
        let is_declared = self.study.ladder.own_cases.iter().any(|own| own.variant == *variant);
        let tuned = self.study.tuned.contains_key(variant) && !is_declared;
        let [cache_bytes, cache_reach] = [scene.cache_bytes, scene.cache_reach].map(|bytes| bytes.max(self.cached));
        let bound = Some(self.study.ladder.family.ceiling);
        Scene { bound, launch: self.launch, peaks: self.study.peaks, cache_bytes, cache_reach, tuned, ..scene }
    }

    /// Says what is done now.
    fn show(&mut self, label: &str) {
        let index = self.steps - self.missing.len();
        let round = format!("round {} of {}: {label}", self.earlier.len() + 1, self.study.rounds);
        let label = if self.study.rounds > 1 { &round } else { label };
        if let Some(live) = &mut self.live {
            live.case_started(index, self.steps, label);
        }
    }

    fn done(&mut self, label: &str) {
        self.missing.retain(|name| name != label);
    }

    /// With `-v`, says what was built, launched, moved and timed.
    fn tell_done(&self, task: &LadderTask<'_>, outcome: &Outcome) {
        if !self.study.verbose {
            return;
        }
        let target = &self.info().target;
        let plan = task.rung.and_then(|rung| self.study.ladder.family.plan(rung, &task.case, target).ok());
        self.aside(&doing::case(&task.label, plan.as_ref(), outcome));
    }

    /// Says something between the rows.
    fn aside(&self, text: &str) {
        let text = text.trim_end();
        match &self.live {
            Some(live) => live.suspend(|| say(text)),
            None => say(text),
        }
    }
}

#[cfg(test)]
mod tests;

//! A ladder, and how it is climbed: which of its cases comes when, how long each is sampled, and what is kept of it.

use crate::ceilings::{self, CeilingRow, LimitNeeded, Limits};
use crate::cli::Ladder;
use crate::data::{Dtype, Params, Shape};
use crate::kernels::{Family, Registry, Rung};
use crate::outcome::{Executor, Job, Outcome, Settings, Status};
use crate::outputs::Outputs;
use crate::plan::{Case, WorkGroup};
use crate::record::{
    CPU_DOUBLE, Ceiling, LaunchCost, REPEATS, Row, Run, SampleRow, Scene, flag, relate,
};
use crate::report::progress::StatusLine;
use crate::runner::{FOR_LIMITS, Pace};
use crate::values::Peak;
use crate::{Result, bench};
use std::collections::BTreeMap;
use std::time::Instant;

/// A ladder that is to be climbed.
pub struct LadderRun<'a> {
    pub registry: Registry,
    pub family: &'a Family,
    pub shape: Shape,
    /// The element type asked for, or that of the inputs.
    pub dtype: Option<Dtype>,
    pub params: Params,
    /// Further settings, with each of which every kernel runs once.
    pub series: Vec<Params>,
    /// What the source says whose set-up this is, if any, beside rows that were measured.
    pub claim: Option<SourceClaim>,
    /// The source's rungs, as `--variant` names them, unless others are asked for; all of the family's if none.
    pub variants: Option<&'static str>,
    /// Rungs with a fault that the source printed: a wrong result is what is to be seen.
    pub faulty: Vec<String>,
    /// Files of real inputs; empty for random ones.
    pub inputs: Vec<String>,
    /// The reader's own kernel; the table says where it lands.
    pub own: Option<&'a Rung>,
    /// Cases of rungs that have a group and settings of their own.
    pub own_cases: Vec<Case>,
    /// Memory limit of the worker in bytes, without the driver's share, for untrusted kernels.
    pub memory: Option<u64>,
    /// Print the table to standard error, because an output file takes standard output.
    pub to_stderr: bool,
}

impl<'a> LadderRun<'a> {
    /// The ladder of one of gpulab's families over random inputs with the default set-up; each kernel runs once.
    pub fn new(
        family: &'a Family,
        shape: Shape,
        dtype: Option<Dtype>,
        params: &Params,
    ) -> LadderRun<'a> {
        LadderRun {
            registry: Registry::default(),
            family,
            shape,
            dtype,
            params: params.clone(),
            series: vec![Params::new()],
            claim: None,
            variants: None,
            faulty: Vec::new(),
            inputs: Vec::new(),
            own: None,
            own_cases: Vec::new(),
            memory: None,
            to_stderr: false,
        }
    }
}

impl LadderRun<'_> {
    /// A rung's case; one without a name for what needs no rung.
    pub fn case(&self, variant: &str, dtype: Dtype, wg: WorkGroup, seed: u64) -> Case {
        Case {
            wg,
            params: self.params.clone(),
            seed,
            ..Case::of(&self.family.name, variant, dtype, self.shape)
        }
    }
}

/// What a source says beside rows of a device of so many compute units.
pub type SourceClaim = Box<dyn Fn(&[Row], u32) -> String>;

/// Share of a budget that is kept for what a launch costs, and for the end of the program.
const FOR_LAUNCHES: f64 = 0.08;

struct LadderTask<'a> {
    label: String,
    case: Case,
    /// None of a CPU baseline.
    rung: Option<&'a Rung>,
}

/// A case that was measured.
struct Taken {
    scene: Scene,
    outcome: Outcome,
    row: Row,
}

/// A ladder under way.
pub struct Climb<'a> {
    pub ladder: &'a LadderRun<'a>,
    pub options: &'a Ladder,
    pub dtype: Dtype,
    pub wg: WorkGroup,
    /// Rungs as they were tuned, by their names.
    pub tuned: BTreeMap<String, Case>,
    pub rungs: Vec<&'a Rung>,
    pub settings: Settings,
    pub peaks: Vec<Peak>,
    pub verbose: bool,
    run: Run,
    pub executor: Box<dyn Executor>,
    pub status: Option<StatusLine>,
    /// Those of this round, in the order in which they were measured.
    taken: Vec<Taken>,
    /// Those of the rounds before.
    earlier: Vec<Vec<Taken>>,
    pub outputs: Outputs<Row>,
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
    /// All rungs of the family, in the default set-up.
    pub fn new(
        ladder: &'a LadderRun<'a>,
        options: &'a Ladder,
        dtype: Dtype,
        executor: Box<dyn Executor>,
        outputs: Outputs<Row>,
    ) -> Climb<'a> {
        Climb {
            ladder,
            options,
            dtype,
            wg: options
                .wg
                .unwrap_or_else(|| bench::default_work_group(executor.info())),
            tuned: BTreeMap::new(),
            rungs: ladder.family.kernels().collect(),
            settings: options.measure.settings(),
            peaks: Vec::new(),
            verbose: false,
            run: Run {
                quick: options.measure.quick,
                ..Run::begin()
            },
            executor,
            status: None,
            taken: Vec::new(),
            earlier: Vec::new(),
            outputs,
            limit: None,
            launch: None,
            cached: 0,
            pace: Pace::new(None, Instant::now(), 0),
            missing: Vec::new(),
            steps: 0,
        }
    }

    /// What was not measured, by name: rungs, CPU baselines, and limits.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// What was measured, in all rounds.
    pub fn rows(&self) -> Vec<Row> {
        self.all_taken().map(|taken| taken.row.clone()).collect()
    }

    fn all_taken(&self) -> impl Iterator<Item = &Taken> {
        self.earlier.iter().flatten().chain(&self.taken)
    }

    /// A row for each case: of several rounds that with the median of their times, beside the others like it.
    pub fn median_rows(&self) -> Vec<Row> {
        let Some(first) = self.earlier.first() else {
            return self.rows();
        };
        let mut rows = Vec::new();
        for taken in first {
            let mut rounds: Vec<&Row> = self
                .all_taken()
                .filter(|other| other.outcome.case == taken.outcome.case)
                .map(|other| &other.row)
                .collect();
            rounds.sort_by(|a, b| {
                let [a, b] = [a, b].map(|row| row.t_median_s.unwrap_or(0.0));
                a.total_cmp(&b)
            });
            // What went wrong in any round is shown.
            let wrong = rounds.iter().find(|row| row.status != Status::Ok);
            rows.push((*wrong.unwrap_or(&rounds[(rounds.len() - 1) / 2])).clone());
        }
        relate(&mut rows);
        rows
    }

    /// What a model of the rungs' times needs to know of the device, measured where it is not kept.
    pub fn model_limits(&mut self, limits: &mut Limits) -> Result<Vec<CeilingRow>> {
        self.show("the device's limits for --why");
        limits.end_by(None);
        limits.rows(
            &ceilings::for_model(&self.executor.info().target),
            &mut *self.executor,
        )
    }

    /// From which size on the data leave the caches, where all that were timed fit one: then no time tells of memory.
    pub fn beyond_cache(&self) -> Option<String> {
        let family = self.ladder.family;
        let mut timed = self
            .taken
            .iter()
            .filter(|taken| !taken.row.on_host() && taken.row.runs > 0)
            .peekable();
        let mut held = timed.peek()?.scene.cache_bytes;
        for taken in timed {
            if !self.ladder.inputs.is_empty() || !taken.row.flags.contains(flag::FITS_CACHE) {
                return None;
            }
            if taken.row.flags.contains(flag::ABOVE_CEILING) {
                held = taken.scene.cache_reach;
            }
        }
        let log = (0..40).find(|log| {
            let case = Case {
                shape: family.form.shape(1 << log, None),
                ..self.case("", &Params::new())
            };
            family.problem.cost(&case).bytes > held as f64
        })?;
        Some(format!(
            "all data fit a cache: -n 2^{log} or --cache cold shows shares of memory's limit"
        ))
    }

    /// Measures everything, in the time since it `began`. What was measured before an error is there all the same.
    pub fn climb(&mut self, limits: &mut Limits, began: Instant) -> Result<()> {
        self.missing = self
            .tasks(false)
            .into_iter()
            .map(|task| task.label)
            .collect();
        self.pace = Pace::new(self.options.budget(), began, self.missing.len());
        if !self.is_empty() {
            self.missing.push(self.limits_name());
            self.recall(limits)?;
        }
        self.steps = self.missing.len();
        self.first_round(limits)?;
        (1..self.options.rounds).try_for_each(|_| self.another_round())
    }

    /// First the rungs, which people wait for, but before them what rules out times of theirs. A row that goes to a file is
    /// written when it is measured, so that no end of the process loses it, and once: then all that it is compared with comes
    /// before it.
    fn first_round(&mut self, limits: &mut Limits) -> Result<()> {
        let has_files = self.outputs.has_rows();
        let is_unknown = !limits.is_at_hand(self.need(), &self.executor.info().target);
        let begins_with_limits = has_files || self.is_bounded() && is_unknown;
        if begins_with_limits {
            self.measure_limits(limits)?;
        }
        self.tasks(has_files)
            .iter()
            .try_for_each(|task| self.run_task(task))?;
        if begins_with_limits {
            Ok(())
        } else {
            self.measure_limits(limits)
        }
    }

    /// Measures all cases once more, in a fresh process and as another run; the limits stay.
    fn another_round(&mut self) -> Result<()> {
        self.executor.renew();
        self.run = Run {
            quick: self.options.measure.quick,
            ..Run::begin()
        };
        self.earlier.push(std::mem::take(&mut self.taken));
        let tasks = self.tasks(true);
        self.missing = tasks.iter().map(|task| task.label.clone()).collect();
        self.steps = tasks.len();
        self.pace = Pace::new(self.options.budget(), Instant::now(), tasks.len());
        tasks.iter().try_for_each(|task| self.run_task(task))
    }

    /// No elements are an answer without a launch, and nothing is compared with it.
    fn is_empty(&self) -> bool {
        self.ladder.shape.elements() == 0
    }

    fn need(&self) -> LimitNeeded {
        let ladder = self.ladder;
        LimitNeeded::of(ladder.family, self.dtype, &ladder.params)
    }

    /// Whether the limit rules out times of some rung.
    fn is_bounded(&self) -> bool {
        let family = self.ladder.family;
        let mut tasks = self
            .tasks(false)
            .into_iter()
            .filter(|task| task.rung.is_some());
        tasks.any(|task| ceilings::is_bounded(family, &task.case, self.executor.info()))
    }

    /// Whether the limit says nothing of these data, unless one wants to know it all the same.
    fn is_without_limit(&self) -> bool {
        let case = self.case("", &Params::new());
        let cache = self.settings.cache;
        !self.verbose
            && ceilings::is_in_cache(self.ladder.family, &case, cache, self.executor.info())
    }

    fn limits_name(&self) -> String {
        let limit = format!("the device's {} limit", self.ladder.family.ceiling.name());
        if self.is_without_limit() {
            "what a launch costs".into()
        } else {
            limit
        }
    }

    /// Takes the limits that an earlier run measured.
    fn recall(&mut self, limits: &mut Limits) -> Result<()> {
        let need = self.need();
        let clock = self.settings.clock;
        self.cached = limits.cached();
        let has_limit = limits.is_at_hand(self.need(), &self.executor.info().target);
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
    fn measure_limits(&mut self, limits: &mut Limits) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let name = self.limits_name();
        let need = self.need();
        if self.missing.contains(&name) {
            self.show(&name);
        }
        limits.end_by(self.limits_deadline());
        let measured = if self.is_without_limit() {
            Ok(())
        } else {
            limits.measure(&mut *self.executor, need)
        };
        self.limit = limits.get(need);
        let launch =
            measured.and_then(|()| limits.launch_cost(&mut *self.executor, self.settings.clock));
        self.launch = launch.as_ref().copied().unwrap_or(self.launch);
        self.complete();
        if launch.is_ok() {
            self.done(&name);
        }
        launch.map(drop)
    }

    /// When the search of a limit is to be over, if the ladder has a budget: at its end. Where the rows are held against the
    /// limit as they are measured, it is searched for as long as that takes.
    fn limits_deadline(&self) -> Option<Instant> {
        self.pace
            .after(1.0 - FOR_LAUNCHES)
            .filter(|_| !self.taken.is_empty())
    }

    /// Makes the rungs' rows anew, beside the limits that are known by now.
    fn complete(&mut self) {
        for taken in self.taken.iter_mut().filter(|taken| !taken.row.on_host()) {
            (taken.scene.ceiling, taken.scene.launch) = (self.limit, self.launch);
            taken.row = Row {
                t_case_s: taken.row.t_case_s,
                ..Row::of(&taken.scene, taken.row.rung, &taken.outcome)
            };
        }
        self.relate();
    }

    fn relate(&mut self) {
        relate(self.taken.iter_mut().map(|taken| &mut taken.row));
    }

    /// The rungs and the CPU baselines, with which of an empty problem nothing is compared.
    fn tasks(&self, begins_with_baselines: bool) -> Vec<LadderTask<'a>> {
        let ladder = self.ladder;
        let mut tasks = Vec::new();
        for &rung in &self.rungs {
            for more in &ladder.series {
                let inside = if more.contains_key(REPEATS) {
                    " (inside)"
                } else {
                    ""
                };
                let case = self.case(rung.variant(), more);
                tasks.push(LadderTask {
                    label: rung.label() + inside,
                    case,
                    rung: Some(rung),
                });
            }
        }
        // That of a source belongs to its set-up only.
        let all = ladder
            .family
            .problem
            .baselines()
            .iter()
            .filter(|_| !self.is_empty());
        let own = all.filter(|baseline| ladder.claim.is_some() || baseline.name != CPU_DOUBLE);
        tasks.extend(own.map(|baseline| LadderTask {
            label: baseline.name.to_owned(),
            case: self.case(baseline.name, &Params::new()),
            rung: None,
        }));
        if begins_with_baselines {
            tasks.sort_by_key(|task| task.rung.is_some());
        }
        tasks
    }

    fn case(&self, variant: &str, more: &Params) -> Case {
        let mut case = self
            .ladder
            .case(variant, self.dtype, self.wg, self.options.given.seed);
        if let Some(tuned) = self.tuned.get(variant) {
            case.wg = tuned.wg;
            case.params.clone_from(&tuned.params);
        }
        case.params.extend(more.clone());
        case
    }

    /// The settings for the next case, in what is left of the time.
    fn settings(&self, case: &Case) -> Settings {
        let kept = if self.missing.contains(&self.limits_name()) {
            FOR_LIMITS
        } else {
            0.0
        };
        let settings = self.pace.settings(&self.settings, 1, kept);
        ceilings::bounded(
            &settings,
            self.ladder.family,
            case,
            self.limit,
            self.executor.info(),
        )
    }

    /// Runs one case, keeps its row and writes it.
    fn run_task(&mut self, task: &LadderTask<'_>) -> Result<()> {
        bench::go_on()?;
        self.show(&task.label);
        let settings = self.settings(&task.case);
        let job = Job {
            baseline: task.rung.is_none(),
            case: task.case.clone(),
            settings,
            again: false,
        };
        let started = Instant::now();
        let mut outcome = self.executor.run(&job)?;
        self.pace.job_done(started, job.settings.timeout);
        // Also of one that never got as far as a plan: no two rows of a kernel look the same.
        if let Some(repeats) = job.case.params.get(REPEATS) {
            outcome
                .params
                .entry(REPEATS.into())
                .or_insert_with(|| repeats.clone());
        }
        if let Some(status) = &mut self.status {
            status.case_done(outcome.status(), outcome.median());
        }
        let scene = self.scene(task, &job.settings);
        let row = Row {
            t_case_s: Some(started.elapsed().as_secs_f64()),
            ..Row::of(&scene, task.rung.and_then(Rung::number), &outcome)
        };
        self.taken.push(Taken {
            scene,
            outcome,
            row,
        });
        self.relate();
        self.done(&task.label);
        if let Some(taken) = self.taken.last() {
            self.outputs.row(&taken.row);
            self.outputs
                .samples(SampleRow::of(&taken.row, &taken.outcome));
        }
        Ok(())
    }

    fn scene(&self, task: &LadderTask<'_>, settings: &Settings) -> Scene {
        if task.rung.is_none() {
            let threads = std::thread::available_parallelism().map_or(1, usize::from);
            return Scene::on_host(&self.run, threads, settings);
        }
        let scene = Scene::on_device(&self.run, self.executor.info(), settings, self.limit);
        let variant = &task.case.variant;
        let is_declared = self
            .ladder
            .own_cases
            .iter()
            .any(|own| own.variant == *variant);
        let tuned = self.tuned.contains_key(variant) && !is_declared;
        let [cache_bytes, cache_reach] =
            [scene.cache_bytes, scene.cache_reach].map(|bytes| bytes.max(self.cached));
        let bound = Some(self.ladder.family.ceiling);
        Scene {
            bound,
            launch: self.launch,
            peaks: self.peaks.clone(),
            cache_bytes,
            cache_reach,
            tuned,
            ..scene
        }
    }

    /// Says what is done now.
    fn show(&mut self, label: &str) {
        let index = self.steps - self.missing.len();
        let round = format!(
            "round {} of {}: {label}",
            self.earlier.len() + 1,
            self.options.rounds
        );
        let label = if self.options.rounds > 1 {
            &round
        } else {
            label
        };
        if let Some(status) = &mut self.status {
            status.case_started(index, self.steps, label);
        }
    }

    fn done(&mut self, label: &str) {
        self.missing.retain(|name| name != label);
    }
}

#[cfg(test)]
mod tests;

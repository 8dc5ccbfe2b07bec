//! `gpulab lab`: the experiments.

use super::list;
use crate::bench::pace::{FOR_LIMITS, Pace};
use crate::bench::{self, Input};
use crate::ceilings::{self, LimitNeeded, Limits};
use crate::cli::{Global, Lab};
use crate::console::{self, Out, note, screen, worst_of};
use crate::exchange::{Variant, exchange};
use crate::experiments::{EXPERIMENTS, Experiment, Scope, Trial, experiment};
use crate::kernels::{self, Family, Rung};
use crate::outcome::{Bar, Clock, Executor, Job, Outcome, Settings};
use crate::outputs::{Outputs, Paths};
use crate::plan::{Case, Refusal};
use crate::record::{Point, PointKey, Record, Row, Run, Scene};
use crate::report::picture::Theme;
use crate::report::progress::{Observer, Silent, StatusLine};
use crate::sweep::{self, Bench, Configuration, in_rounds};
use crate::worker::Setup;
use crate::{Error, interrupt, report, stats, words};
use serde::Serialize;
use std::time::Instant;

/// What the data of a trial may come to, for its deadline: the device, and with it the plan, is not known yet when
/// deadlines are set.
const MOST_BYTES: u64 = 1 << 30;

/// Lists the experiments, or runs those that were asked for. What was measured before an error or an interrupt is
/// printed all the same.
pub fn run(out: &mut Out, global: &Global, options: &Lab) -> Result<(), Error> {
    let Some(name) = &options.name else { return out.text(&list::experiments("", console::width())) };
    let chosen = choose(name)?;
    if options.svg.is_some() && !chosen.iter().any(|e| e.has_timeline) {
        return Err(Error::Usage(format!("--svg: {name} has no timeline to draw; overlap has one")));
    }
    let outputs = Outputs::open(&Paths { svg: options.svg.as_deref(), ..Paths::from(&options.rows) })?;
    interrupt::watch();
    let setup = Setup { device: global.device.clone(), cl_dir: options.kernels.cl_dir.clone(), ..Setup::default() };
    let executor = bench::open(setup, &options.measure, MOST_BYTES, 0.0)?;
    let target = executor.info().target.clone();
    let scope = Scope { target: &target, quick: options.measure.quick, seed: options.data.seed };
    let studies = chosen.into_iter().map(|e| ExperimentRun::new(e, &scope)).collect::<Result<Vec<_>, Error>>()?;
    let kernel = |task: &Task| if let Work::Kernel(_, rung) = task.work { Some(rung) } else { None };
    let rungs: Vec<&Rung> = studies.iter().flat_map(|s| s.tasks.iter().filter_map(kernel)).collect();
    bench::check_sources(&rungs, options.kernels.cl_dir.as_deref(), global.quiet)?;
    bench::announce(global, executor.info());
    let settings = options.measure.settings();
    let scene =
        Scene::on_device(&Run { quick: options.measure.quick, ..Run::begin() }, executor.info(), &settings, None);
    let mut limits =
        Limits::load(executor.info(), options.measure.quick, options.kernels.cl_dir.is_some(), global.quiet, note);
    let rounds = if options.measure.quick { QUICK_ROUNDS } else { sweep::ROUNDS };
    let jobs = studies.iter().map(|s| s.tasks.len() * rounds as usize).sum();
    let pace = Pace::new(options.measure.whole_budget(), Instant::now(), jobs);
    limits.end_by(pace.after(FOR_LIMITS));
    let mut lab = Laboratory { settings, rounds, pace, scene, executor, limits, outputs, rows: Vec::new() };
    let measured = lab.run(&studies, out, global);
    let finished = lab.outputs.finish(measured.is_ok(), !lab.rows.is_empty());
    if !global.quiet {
        lab.pace.overrun().into_iter().for_each(|told| note(&told));
    }
    let worst = bench::worst_named(&lab.rows, options.measure.strict);
    let probes = bench::gone_wrong(|status| lab.limits.broken(status));
    worst_of([measured, worst, probes, finished].into_iter().filter_map(Result::err))
}

fn choose(name: &str) -> Result<Vec<&'static Experiment>, Error> {
    if name == "all" {
        return Ok(EXPERIMENTS.to_vec());
    }
    let names: Vec<&str> = EXPERIMENTS.iter().map(|e| e.name).chain(["all"]).collect();
    Ok(vec![experiment(name).ok_or_else(|| Error::Usage(words::unknown("experiment", name, &names)))?])
}

/// A case with what the registry says of it, and the trials that it answers, with their places in the plan.
struct Task {
    case: Case,
    work: Work,
    trials: Vec<(u64, Trial)>,
}

/// What a trial's case is one of.
#[derive(Clone, Copy)]
enum Work {
    Kernel(&'static Family, &'static Rung),
    Exchange(&'static Variant),
}

impl Work {
    /// What is known by a case's names.
    fn of(case: &Case) -> Option<Work> {
        if let Some(exchange) = exchange(&case.family) {
            return exchange.variant(&case.variant).map(Work::Exchange);
        }
        let family = kernels::built_in(&case.family)?;
        family.rung(&case.variant).map(|rung| Work::Kernel(family, rung))
    }
}

/// An experiment with its plan for this device.
struct ExperimentRun {
    experiment: &'static Experiment,
    tasks: Vec<Task>,
}

impl ExperimentRun {
    fn new(experiment: &'static Experiment, scope: &Scope<'_>) -> Result<ExperimentRun, Error> {
        let unknown = || Error::Failed(format!("{}: its plan names a kernel that does not exist", experiment.name));
        let mut tasks: Vec<Task> = Vec::new();
        for (place, trial) in (0..).zip(experiment.plan(scope)) {
            // What one run tells twice, as a rate and as registers, is run once.
            if let Some(task) = tasks.iter_mut().find(|task| task.case == trial.case) {
                task.trials.push((place, trial));
                continue;
            }
            let work = Work::of(&trial.case).ok_or_else(unknown)?;
            tasks.push(Task { case: trial.case.clone(), work, trials: vec![(place, trial)] });
        }
        Ok(ExperimentRun { experiment, tasks })
    }
}

/// What an experiment came to: the element of JSON behind its points.
#[derive(Serialize)]
struct ExperimentAnswer<'a> {
    experiment: &'a str,
    question: &'a str,
    finding: &'a str,
}

/// Rounds of a quick run: two at least, so that what drifts meanwhile shows in the points' spread.
const QUICK_ROUNDS: u32 = 2;

/// What all experiments of a run share.
struct Laboratory {
    settings: Settings,
    /// Rounds over the trials of an experiment.
    rounds: u32,
    pace: Pace,
    scene: Scene,
    executor: Box<dyn Executor>,
    limits: Limits,
    outputs: Outputs<Point>,
    /// With the names of their points.
    rows: Vec<(String, Row)>,
}

impl Laboratory {
    fn run(&mut self, studies: &[ExperimentRun], out: &mut Out, global: &Global) -> Result<(), Error> {
        for (i, study) in studies.iter().enumerate() {
            let observer: Box<dyn Observer> =
                Box::new(StatusLine::new(global.quiet).until(self.pace.after(1.0)).in_rounds(self.rounds));
            let steps = study.tasks.len() * self.rounds as usize;
            let mut running =
                ExperimentState { study, lab: self, observer, step: 0, steps, points: Vec::new(), timeline: None };
            let measured = running.measure();
            running.observer = Box::new(Silent);
            let timeline = running.timeline.take();
            // A trial that cannot run is finished before those that go through all rounds.
            running.points.sort_by_key(|(index, _)| *index);
            let points: Vec<Point> = running.points.into_iter().map(|(_, point)| point).collect();
            let experiment = study.experiment;
            let finding = experiment.finding(&points);
            if !points.is_empty() {
                let (name, question) = (experiment.name, experiment.question);
                self.outputs.json_only(&ExperimentAnswer { experiment: name, question, finding: &finding });
            }
            let label = |x| (experiment.x_label)(x);
            let text = |screen| {
                let question = experiment.question;
                let mut text = report::experiment::text(&points, question, &finding, &label, screen);
                if i > 0 {
                    text.insert(0, '\n');
                }
                if let Some(Timeline { title, bars, .. }) = &timeline {
                    text.push('\n');
                    text.push_str(&report::timeline::text(bars, title, screen));
                }
                text
            };
            self.outputs.tell(out, &text, screen(global.color), global.quiet);
            if let Some(t) = &timeline {
                self.outputs.svg(&report::picture::of_bars(&t.bars, &t.title).svg(Theme::Auto));
            }
            measured?;
        }
        Ok(())
    }
}

/// An experiment under way.
struct ExperimentState<'a> {
    study: &'a ExperimentRun,
    lab: &'a mut Laboratory,
    observer: Box<dyn Observer>,
    /// Jobs that have begun, and how many there are at most.
    step: usize,
    steps: usize,
    /// With their trials' places in the plan.
    points: Vec<(u64, Point)>,
    /// Of the fastest trial that has one.
    timeline: Option<Timeline>,
}

/// What overlapped in a trial.
struct Timeline {
    title: String,
    /// The trial's median time, in seconds.
    median: f64,
    bars: Vec<Bar>,
}

impl ExperimentState<'_> {
    fn measure(&mut self) -> Result<(), Error> {
        let plan = (0..).zip(&self.study.tasks).map(|(i, task)| self.configuration(i, task));
        let plan: Vec<Configuration> = plan.collect();
        for task in &self.study.tasks {
            self.probe(task)?;
        }
        in_rounds(&plan.iter().collect::<Vec<_>>(), self.lab.rounds, self)
    }

    /// A trial as the sweep's rounds take it; refused if its data do not fit this machine or device.
    fn configuration(&self, index: u64, task: &Task) -> Configuration {
        let case = &task.case;
        // What goes on between host and device says itself what it cannot hold.
        let (rung, refusal) = match task.work {
            Work::Kernel(family, rung) => {
                let input = Input { family, shape: case.shape, dtype: case.dtype, params: &case.params };
                (rung.number(), input.check(self.lab.executor.info()).err())
            }
            Work::Exchange(_) => (None, None),
        };
        let refusal = refusal.map(|error| Refusal::Memory(error.to_string()));
        Configuration { index, rung, case: case.clone(), wg: case.wg, params: case.params.clone(), refusal }
    }

    /// Measures the ceiling that event times of this trial cannot exceed, where there is one.
    fn probe(&mut self, task: &Task) -> Result<(), Error> {
        let lab = &mut *self.lab;
        let (Work::Kernel(family, _), case) = (task.work, &task.case) else { return Ok(()) };
        let need = LimitNeeded::of(family, case.dtype, &case.params);
        if lab.limits.has(need) || !ceilings::is_bounded(family, case, lab.executor.info()) {
            return Ok(());
        }
        // What is kept is told, and no line may stand where that is written.
        if !lab.limits.is_at_hand(need, &lab.executor.info().target) {
            self.observer.case_started(0, self.steps, &format!("{} ceiling", family.ceiling.name()));
        }
        lab.limits.measure(&mut *lab.executor, need)
    }

    fn task(&self, configuration: &Configuration) -> &Task {
        &self.study.tasks[configuration.index as usize]
    }
}

/// A task's name, of its first point: `stride: read, stride = 8`.
fn called(experiment: &Experiment, task: &Task) -> String {
    let (_, trial) = &task.trials[0];
    let label = (experiment.x_label)(trial.x);
    format!("{}: {}, {} = {label}", experiment.name, trial.series, experiment.x_name)
}

impl Bench for ExperimentState<'_> {
    fn settings(&self, configuration: &Configuration) -> Settings {
        let (settings, case) = (&self.lab.pace.settings(&self.lab.settings, self.lab.rounds, 0.0), &configuration.case);
        match self.task(configuration).work {
            Work::Kernel(family, _) => {
                let limit = self.lab.limits.get(LimitNeeded::of(family, case.dtype, &case.params));
                ceilings::bounded(settings, family, case, limit, self.lab.executor.info())
            }
            Work::Exchange(variant) => {
                let clock = if variant.by_events { Clock::Event } else { Clock::Wall };
                Settings { clock, least_time: None, ..settings.clone() }
            }
        }
    }

    fn run(&mut self, configuration: &Configuration, job: &Job) -> Result<Outcome, Error> {
        if interrupt::interrupted() {
            return Err(Error::Interrupted);
        }
        let called = called(self.study.experiment, self.task(configuration));
        self.observer.round(job.again, job.settings.timeout);
        self.observer.case_started(self.step, self.steps, &called);
        self.step += 1;
        let began = Instant::now();
        let outcome = self.lab.executor.run(job)?;
        self.lab.pace.job_done(began, job.settings.timeout);
        self.observer.case_done(outcome.status(), stats::summarise(&outcome.times()).map(|s| s.median));
        Ok(outcome)
    }

    fn unfinished(&mut self, configuration: &Configuration, outcome: Outcome, sampled: f64) -> Result<(), Error> {
        self.finished(configuration, outcome, sampled)
    }

    fn finished(&mut self, configuration: &Configuration, mut outcome: Outcome, sampled: f64) -> Result<(), Error> {
        let study = self.study;
        let (task, experiment) = (&study.tasks[configuration.index as usize], study.experiment);
        let bars = outcome.end.as_mut().map_or_else(|_| Vec::new(), |m| std::mem::take(&mut m.timeline));
        self.lab.scene.sample_time = sampled;
        let row = Row::from(&Record::from_outcome(&self.lab.scene, configuration.rung, outcome));
        for (place, trial) in &task.trials {
            let x_label = (experiment.x_label)(trial.x);
            let (series, x_name) = (trial.series.as_str(), experiment.x_name);
            let key = PointKey { experiment: experiment.name, series, x_name, x: trial.x, x_label, place: *place };
            let point = Point::new(key, trial.metric, &row);
            self.lab.outputs.row(&point);
            self.points.push((*place, point));
        }
        let fastest = self.timeline.as_ref().map_or(f64::INFINITY, |t| t.median);
        if let Some(median) = row.t_median_s.filter(|&median| !bars.is_empty() && median < fastest) {
            let (_, trial) = &task.trials[0];
            let title = format!("{}: {}, {} {}", experiment.name, trial.series, trial.x, experiment.x_name);
            self.timeline = Some(Timeline { title, median, bars });
        }
        self.lab.rows.push((called(experiment, task), row));
        Ok(())
    }
}

//! Experiments under way.

use super::plan::{ExperimentRun, Task, Work};
use crate::bench::Input;
use crate::ceilings::{self, LimitNeeded, Limits};
use crate::cli::Global;
use crate::console::{Out, screen};
use crate::experiments::Experiment;
use crate::outcome::{Bar, Clock, Executor, Job, Outcome, Settings};
use crate::outputs::Outputs;
use crate::plan::Refusal;
use crate::record::{Point, PointKey, Record, Row, Scene};
use crate::report::picture::Theme;
use crate::report::progress::{Observer, Silent, StatusLine};
use crate::runner::Pace;
use crate::sweep::{Bench, Configuration, in_rounds};
use crate::{Error, interrupt, report, stats};
use serde::Serialize;
use std::time::Instant;

/// What an experiment came to: the element of JSON behind its points.
#[derive(Serialize)]
struct ExperimentAnswer<'a> {
    experiment: &'a str,
    question: &'a str,
    finding: &'a str,
}

/// What all experiments of a run share.
pub(crate) struct Laboratory {
    pub(crate) settings: Settings,
    /// Rounds over the trials of an experiment.
    pub(crate) rounds: u32,
    pub(crate) pace: Pace,
    pub(crate) scene: Scene,
    pub(crate) executor: Box<dyn Executor>,
    pub(crate) limits: Limits,
    pub(crate) outputs: Outputs<Point>,
    /// With the names of their points.
    pub(crate) rows: Vec<(String, Row)>,
}

impl Laboratory {
    pub(crate) fn run(&mut self, studies: &[ExperimentRun], out: &mut Out, global: &Global) -> Result<(), Error> {
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
fn task_name(experiment: &Experiment, task: &Task) -> String {
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
        let name = task_name(self.study.experiment, self.task(configuration));
        self.observer.round(job.again, job.settings.timeout);
        self.observer.case_started(self.step, self.steps, &name);
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
        self.lab.rows.push((task_name(experiment, task), row));
        Ok(())
    }
}

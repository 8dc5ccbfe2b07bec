//! Experiments under way.

use super::plan::{ExperimentRun, LabWork, Task};
use crate::bench::{Input, Jobs};
use crate::ceilings::{self, LimitNeeded};
use crate::experiments::Experiment;
use crate::outcome::{Bar, Clock, Job};
use crate::outputs::Outputs;
use crate::plan::Refusal;
use crate::prelude::*;
use crate::record::Point;
use crate::report;
use crate::report::progress::StatusLine;
use crate::sweep::{Bench, Configuration, in_rounds};
use serde::Serialize;

/// What an experiment came to: the element of JSON behind its points.
#[derive(Serialize)]
struct ExperimentAnswer<'a> {
    experiment: &'a str,
    question: &'a str,
    finding: &'a str,
}

/// What all experiments of a run share.
pub(crate) struct Laboratory {
    pub(crate) jobs: Jobs,
    pub(crate) scene: Scene,
    pub(crate) outputs: Outputs<Point>,
    /// With the names of their points.
    pub(crate) rows: Vec<(String, Row)>,
}

impl Laboratory {
    pub(crate) fn run(&mut self, studies: &[ExperimentRun], out: &mut Out, global: &Global) -> Result<(), Error> {
        for (i, study) in studies.iter().enumerate() {
            let jobs = &mut self.jobs;
            let status = StatusLine::new(global.quiet);
            jobs.observer = status;
            (jobs.step, jobs.steps) = (0, study.tasks.len() * jobs.rounds as usize);
            let mut running = ExperimentState { study, lab: self, points: Vec::new(), timeline: None };
            let measured = running.measure();
            let ExperimentState { mut points, timeline, .. } = running;
            self.jobs.observer = StatusLine::new(true);
            // A trial that cannot run is finished before those that go through all rounds.
            points.sort_by_key(|(index, _)| *index);
            let points: Vec<Point> = points.into_iter().map(|(_, point)| point).collect();
            let experiment = study.experiment;
            let finding = experiment.finding(&points);
            if !points.is_empty() {
                let name = experiment.name;
                let question = experiment.question;
                self.outputs.json_only(&ExperimentAnswer { experiment: name, question, finding: &finding });
            }
            self.outputs.tell(
                out,
                &|screen| {
                    let question = experiment.question;
                    let mut text = report::experiment::text(&points, question, &finding, screen);
                    if i > 0 {
                        text.insert(0, '\n');
                    }
                    if let Some(Timeline { title, bars, .. }) = &timeline {
                        text.push('\n');
                        text.push_str(&report::timeline::text(bars, title, screen));
                    }
                    text
                },
                screen(global.color),
                global.quiet,
            );
            if let Some(t) = &timeline {
                self.outputs.svg(&report::picture::of_bars(&t.bars, &t.title).svg());
            }
            measured?;
        }
        Ok(())
    }
}

struct ExperimentState<'a> {
    study: &'a ExperimentRun,
    lab: &'a mut Laboratory,
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
        in_rounds(&plan.iter().collect::<Vec<_>>(), self.lab.jobs.rounds, self)
    }

    /// A trial as the sweep's rounds take it; refused if its data do not fit this machine or device.
    fn configuration(&self, index: u64, task: &Task) -> Configuration {
        let case = &task.case;
        // What goes on between host and device says itself what it cannot hold.
        let (rung, refusal) = match task.work {
            LabWork::Kernel(family, rung) => {
                let input = Input { family, shape: case.shape, dtype: case.dtype, params: &case.params };
                (rung.number(), input.check(self.lab.jobs.executor.info()).err())
            }
            LabWork::Exchange(_) => (None, None),
        };
        let refusal = refusal.map(|error| Refusal::Memory(error.to_string()));
        Configuration { index, rung, case: case.clone(), wg: case.wg, params: case.params.clone(), refusal }
    }

    /// Measures the ceiling that event times of this trial cannot exceed, where there is one.
    fn probe(&mut self, task: &Task) -> Result<(), Error> {
        let (LabWork::Kernel(family, _), case) = (task.work, &task.case) else { return Ok(()) };
        match ceilings::is_bounded(family, case, self.lab.jobs.executor.info()) {
            true => self.lab.jobs.probe(family, LimitNeeded::of(family, case.dtype, &case.params)),
            false => Ok(()),
        }
    }

    fn task(&self, configuration: &Configuration) -> &Task {
        &self.study.tasks[configuration.index as usize]
    }
}

/// A task's name, of its first point: `stride: read, stride = 8`.
fn task_name(experiment: &Experiment, task: &Task) -> String {
    let trial = &task.trials[0].1;
    let label = (experiment.x_label)(trial.x);
    format!("{}: {}, {} = {label}", experiment.name, trial.series, experiment.x_name)
}

impl Bench for ExperimentState<'_> {
    fn settings(&self, configuration: &Configuration) -> Settings {
        match self.task(configuration).work {
            LabWork::Kernel(family, _) => self.lab.jobs.settings(family, &configuration.case),
            LabWork::Exchange(variant) => {
                let clock = if variant.by_events { Clock::Event } else { Clock::Wall };
                Settings { clock, least_time: None, ..self.lab.jobs.in_pace() }
            }
        }
    }

    fn run(&mut self, configuration: &Configuration, job: &Job) -> Result<Outcome, Error> {
        let name = task_name(self.study.experiment, self.task(configuration));
        self.lab.jobs.run(&name, job)
    }

    fn finished(&mut self, configuration: &Configuration, mut outcome: Outcome, sampled: f64) -> Result<(), Error> {
        let study = self.study;
        let task = &study.tasks[configuration.index as usize];
        let experiment = study.experiment;
        let bars = outcome.end.as_mut().map_or_else(|_| Vec::new(), |m| std::mem::take(&mut m.timeline));
        self.lab.scene.sample_time = sampled;
        let row = Row::from(&Record::from_outcome(&self.lab.scene, configuration.rung, outcome));
        for (place, trial) in &task.trials {
            let point = Point {
                experiment: experiment.name.to_owned(),
                series: trial.series.clone(),
                x_name: experiment.x_name.to_owned(),
                x: trial.x,
                x_label: (experiment.x_label)(trial.x),
                place: Some(*place),
                ..Point::of(trial.metric, &row)
            };
            self.lab.outputs.row(&point);
            self.points.push((*place, point));
        }
        let fastest = self.timeline.as_ref().map_or(f64::INFINITY, |t| t.median);
        if let Some(median) = row.t_median_s.filter(|&median| !bars.is_empty() && median < fastest) {
            let trial = &task.trials[0].1;
            let title = format!("{}: {}, {} {}", experiment.name, trial.series, trial.x, experiment.x_name);
            self.timeline = Some(Timeline { title, median, bars });
        }
        self.lab.rows.push((task_name(experiment, task), row));
        Ok(())
    }
}

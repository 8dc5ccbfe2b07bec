//! `gpulab lab`: the experiments.

use super::elsewhere::USUAL;
use super::show::records;
use crate::bench::{self, Input, Jobs};
use crate::ceilings::{self, LimitNeeded};
use crate::cli::{Global, Lab};
use crate::console::{self, print, worst_of};
use crate::exchange::exchange;
use crate::experiments::{EXPERIMENTS, Experiment, Scope, Trial, experiment};
use crate::kernels::{Family, Registry, Rung, built_in};
use crate::outcome::{Clock, Job, Outcome, Settings};
use crate::outputs::{Outputs, Paths};
use crate::plan::{Case, Refusal};
use crate::record::{Point, Row, Scene};
use crate::report::progress::StatusLine;
use crate::sweep::{self, Bench, Configuration, in_rounds};
use crate::{Error, Result, interrupt, report, suggest};
use serde::Serialize;

/// What the data of a trial may come to, for its deadline: the device, and with it the plan, is not known yet when
/// deadlines are set.
const MOST_BYTES: u64 = 1 << 30;

/// Rounds of a quick run: two at least, so that what drifts meanwhile shows in the points' spread.
const QUICK_ROUNDS: u32 = 2;

/// Lists the experiments, or runs those that were asked for. What was measured before an error or an interrupt is
/// printed all the same.
pub fn run(global: &Global, options: &Lab) -> Result<()> {
    let Some(name) = &options.name else {
        return print(&report::list::experiments("", console::width()));
    };
    let chosen = choose(name)?;
    let outputs = Outputs::open(&Paths::from(&options.rows))?;
    interrupt::watch();
    let setup = global.setup(options.given.cl_dir.as_ref(), &Registry::default());
    let executor = bench::open(
        setup,
        options.measure.in_process,
        options.measure.deadline,
        MOST_BYTES,
        0.0,
    )?;
    let target = executor.info().target.clone();
    let quick = options.measure.quick;
    let scope = Scope {
        target: &target,
        quick,
        seed: options.given.seed,
    };
    let studies = chosen
        .into_iter()
        .map(|e| ExperimentRun::new(e, &scope))
        .collect::<Result<Vec<_>>>()?;
    let tasks = studies.iter().flat_map(|study| &study.tasks);
    let rungs: Vec<&Rung> = tasks
        .filter_map(|task: &Task| Some(task.kernel?.1))
        .collect();
    bench::check_sources(&rungs, options.given.cl_dir.as_deref(), global.quiet)?;
    bench::announce(global, executor.info());
    let settings = options.measure.settings();
    let is_own = options.given.cl_dir.is_some();
    let mut jobs = Jobs::new(global, executor, settings, quick, is_own);
    let rounds = if quick { QUICK_ROUNDS } else { sweep::ROUNDS };
    let all = studies.iter().map(|study| study.tasks.len()).sum();
    jobs.begin(all, rounds, options.measure.budget);
    let mut lab = ExperimentState {
        study: &studies[0],
        scene: jobs.scene(quick, None),
        jobs,
        outputs,
        rows: Vec::new(),
        points: Vec::new(),
        on: options.on.as_deref(),
    };
    let measured = studies.iter().try_for_each(|study| lab.run(study, global));
    let finished = lab.outputs.finish(measured.is_ok(), !lab.rows.is_empty());
    lab.jobs
        .pace
        .overrun()
        .into_iter()
        .for_each(|told| global.note(&told));
    let worst = bench::worst_named(&lab.rows, options.measure.strict);
    let probes = bench::gone_wrong(|status| lab.jobs.limits.broken(status));
    worst_of([measured, worst, probes, finished])
}

fn choose(name: &str) -> Result<Vec<&'static Experiment>> {
    if name == "all" {
        return Ok(EXPERIMENTS.to_vec());
    }
    let names: Vec<&str> = EXPERIMENTS.iter().map(|e| e.name).chain(["all"]).collect();
    Ok(vec![experiment(name).ok_or_else(|| {
        Error::Usage(suggest::unknown("experiment", name, &names))
    })?])
}

/// A case, and the trials that it answers, with their places in the plan.
struct Task {
    case: Case,
    /// None of what goes on between host and device.
    kernel: Option<(&'static Family, &'static Rung)>,
    /// What times that.
    clock: Clock,
    trials: Vec<(u64, Trial)>,
}

/// What an experiment runs on a device: each case once, with the trials that it answers.
struct ExperimentRun {
    experiment: &'static Experiment,
    tasks: Vec<Task>,
}

impl ExperimentRun {
    fn new(experiment: &'static Experiment, scope: &Scope<'_>) -> Result<ExperimentRun> {
        let mut tasks: Vec<Task> = Vec::new();
        for (place, trial) in (0..).zip(experiment.plan(scope)) {
            // What one run tells twice, as a rate and as registers, is run once.
            if let Some(task) = tasks.iter_mut().find(|task| task.case == trial.case) {
                task.trials.push((place, trial));
                continue;
            }
            let case = trial.case.clone();
            let exchanged =
                exchange(&case.family).and_then(|exchange| exchange.clock(&case.variant));
            let kernel = built_in(&case.family)
                .and_then(|family| Some((family, family.rung(&case.variant)?)));
            if exchanged.is_none() && kernel.is_none() {
                let why = "its plan names a kernel that does not exist";
                return Err(Error::Failed(format!("{}: {why}", experiment.name)));
            }
            tasks.push(Task {
                case,
                kernel,
                clock: exchanged.unwrap_or_default(),
                trials: vec![(place, trial)],
            });
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

/// An experiment under way, and what all of a run share.
struct ExperimentState<'a> {
    study: &'a ExperimentRun,
    jobs: Jobs,
    scene: Scene,
    outputs: Outputs<Point>,
    /// Of all experiments, with the names of their points.
    rows: Vec<(String, Row)>,
    /// With their trials' places in the plan.
    points: Vec<(u64, Point)>,
    /// A recorded GPU that was asked for.
    on: Option<&'a str>,
}

impl<'a> ExperimentState<'a> {
    fn run(&mut self, study: &'a ExperimentRun, global: &Global) -> Result<()> {
        let is_first = self.rows.is_empty();
        let elsewhere = self.elsewhere(study.experiment, global)?;
        self.study = study;
        self.points.clear();
        self.jobs.observer = StatusLine::new(global.quiet);
        (self.jobs.step, self.jobs.steps) = (0, study.tasks.len() * self.jobs.rounds as usize);
        let measured = self.measure();
        self.jobs.observer = StatusLine::new(true);
        // A trial that cannot run is finished before those that go through all rounds.
        self.points.sort_by_key(|(index, _)| *index);
        let points: Vec<Point> = self.points.drain(..).map(|(_, point)| point).collect();
        let Experiment { name, question, .. } = study.experiment;
        let finding = study.experiment.finding(&points);
        if !points.is_empty() {
            self.outputs.json_only(&ExperimentAnswer {
                experiment: name,
                question,
                finding: &finding,
            });
        }
        self.outputs.tell(global, &|screen| {
            let mut text = report::experiment::text(&points, question, &finding, screen);
            if !is_first {
                text.insert(0, '\n');
            }
            if !elsewhere.is_empty() {
                text = format!("{text}\n{}", screen.wrap(&elsewhere));
            }
            text
        });
        measured
    }

    /// What was found on the recorded GPU that was asked for, or, beside a CPU device, on the usual one; empty for none.
    fn elsewhere(&self, experiment: &Experiment, global: &Global) -> Result<String> {
        let is_usual = !self.jobs.executor.info().target.gpu && !global.quiet;
        let Some(asked) = self.on.or(is_usual.then_some(USUAL)) else {
            return Ok(String::new());
        };
        let found = match records::asked(&[asked.to_owned(), experiment.name.to_owned()]) {
            Err(_) if self.on.is_none() => Vec::new(),
            found => found?,
        };
        let found = found.into_iter().map(|file| file.points);
        let Some(points) = found.into_iter().find(|points| !points.is_empty()) else {
            return Ok(String::new());
        };
        let (device, finding) = (&points[0].device, experiment.finding(&points));
        Ok(format!("as recorded on {device}: {finding}"))
    }

    fn measure(&mut self) -> Result<()> {
        let plan = (0..)
            .zip(&self.study.tasks)
            .map(|(i, task)| self.configuration(i, task));
        let plan: Vec<Configuration> = plan.collect();
        for task in &self.study.tasks {
            self.probe(task)?;
        }
        in_rounds(&plan.iter().collect::<Vec<_>>(), self.jobs.rounds, self)
    }

    /// A trial as the sweep's rounds take it; refused if its data do not fit this machine or device.
    fn configuration(&self, index: u64, task: &Task) -> Configuration {
        let case = &task.case;
        // What goes on between host and device says itself what it cannot hold.
        let refusal = task.kernel.and_then(|(family, _)| {
            let input = Input {
                family,
                shape: case.shape,
                dtype: case.dtype,
                params: &case.params,
            };
            input.check(self.jobs.executor.info()).err()
        });
        let refusal = refusal.map(|error| Refusal::Memory(error.to_string()));
        let rung = task.kernel.and_then(|(_, rung)| rung.number());
        Configuration {
            index,
            rung,
            case: case.clone(),
            wg: case.wg,
            params: case.params.clone(),
            refusal,
        }
    }

    /// Measures the ceiling that event times of this trial cannot exceed, where there is one.
    fn probe(&mut self, task: &Task) -> Result<()> {
        let (Some((family, _)), case) = (task.kernel, &task.case) else {
            return Ok(());
        };
        match ceilings::is_bounded(family, case, self.jobs.executor.info()) {
            true => self
                .jobs
                .probe(family, LimitNeeded::of(family, case.dtype, &case.params)),
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
    format!(
        "{}: {}, {} = {label}",
        experiment.name, trial.series, experiment.x_name
    )
}

impl Bench for ExperimentState<'_> {
    fn settings(&self, configuration: &Configuration) -> Settings {
        let task = self.task(configuration);
        match task.kernel {
            Some((family, _)) => self.jobs.settings(family, &configuration.case),
            None => Settings {
                clock: task.clock,
                least_time: None,
                ..self.jobs.in_pace()
            },
        }
    }

    fn run(&mut self, configuration: &Configuration, job: &Job) -> Result<Outcome> {
        let name = task_name(self.study.experiment, self.task(configuration));
        self.jobs.run(&name, job)
    }

    fn finished(
        &mut self,
        configuration: &Configuration,
        outcome: Outcome,
        sampled: f64,
    ) -> Result<()> {
        let study = self.study;
        let task = &study.tasks[configuration.index as usize];
        let experiment = study.experiment;
        self.scene.sample_time = sampled;
        let row = Row::of(&self.scene, configuration.rung, &outcome);
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
            self.outputs.row(&point);
            self.points.push((*place, point));
        }
        self.rows.push((task_name(experiment, task), row));
        Ok(())
    }
}

//! What an experiment runs on a device: each case once, with the trials that it answers.

use crate::exchange::{Variant, exchange};
use crate::experiments::{EXPERIMENTS, Experiment, Scope, Trial, experiment};
use crate::kernels;
use crate::prelude::*;
use crate::suggest;

pub(crate) fn choose(name: &str) -> Result<Vec<&'static Experiment>, Error> {
    if name == "all" {
        return Ok(EXPERIMENTS.to_vec());
    }
    let names: Vec<&str> = EXPERIMENTS.iter().map(|e| e.name).chain(["all"]).collect();
    Ok(vec![experiment(name).ok_or_else(|| Error::Usage(suggest::unknown("experiment", name, &names)))?])
}

/// A case with what the registry says of it, and the trials that it answers, with their places in the plan.
pub(crate) struct Task {
    pub(crate) case: Case,
    pub(crate) work: LabWork,
    pub(crate) trials: Vec<(u64, Trial)>,
}

/// What a trial's case is one of.
#[derive(Clone, Copy)]
pub(crate) enum LabWork {
    Kernel(&'static Family, &'static Rung),
    Exchange(&'static Variant),
}

impl LabWork {
    /// What is known by a case's names.
    fn of(case: &Case) -> Option<LabWork> {
        if let Some(exchange) = exchange(&case.family) {
            return exchange.variant(&case.variant).map(LabWork::Exchange);
        }
        let family = kernels::built_in(&case.family)?;
        family.rung(&case.variant).map(|rung| LabWork::Kernel(family, rung))
    }
}

pub(crate) struct ExperimentRun {
    pub(crate) experiment: &'static Experiment,
    pub(crate) tasks: Vec<Task>,
}

impl ExperimentRun {
    pub(crate) fn new(experiment: &'static Experiment, scope: &Scope<'_>) -> Result<ExperimentRun, Error> {
        let mut tasks: Vec<Task> = Vec::new();
        for (place, trial) in (0..).zip(experiment.plan(scope)) {
            // What one run tells twice, as a rate and as registers, is run once.
            if let Some(task) = tasks.iter_mut().find(|task| task.case == trial.case) {
                task.trials.push((place, trial));
                continue;
            }
            let work = LabWork::of(&trial.case).ok_or_else(|| {
                Error::Failed(format!("{}: its plan names a kernel that does not exist", experiment.name))
            })?;
            tasks.push(Task { case: trial.case.clone(), work, trials: vec![(place, trial)] });
        }
        Ok(ExperimentRun { experiment, tasks })
    }
}

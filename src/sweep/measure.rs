//! Runs a plan. Interleaved, the samples of a configuration are taken in several rounds, so that drift or
//! a neighbour's load favours none.

use super::Configuration;
use crate::Error;
use crate::runner::{Outcome, Settings, Status};
use crate::worker::Job;

/// How a sweep takes its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Order {
    /// Blocks of configurations in rounds, a share of the samples in each.
    Interleave,
    /// One configuration after the other.
    Sequential,
}

/// Rounds of an interleaved sweep.
pub const ROUNDS: u32 = 3;

/// Configurations that go through their rounds together: what a killed sweep measures again at most.
pub const BLOCK: usize = 16;

/// What a sweep needs from outside.
pub trait Bench {
    /// The settings to measure a configuration with.
    fn settings(&self, configuration: &Configuration) -> Settings;

    /// Runs a job.
    ///
    /// # Errors
    /// What ends the whole sweep.
    fn run(&mut self, configuration: &Configuration, job: &Job) -> Result<Outcome, Error>;

    /// Takes a finished configuration. Each comes once, as soon as its last round is over.
    ///
    /// # Errors
    /// What ends the whole sweep.
    fn finished(&mut self, configuration: &Configuration, outcome: Outcome) -> Result<(), Error>;

    /// Takes what the rounds before an error or an interrupt gave; a sweep drops it, to measure it whole when it is
    /// gone on with.
    ///
    /// # Errors
    /// What is told in place of the error.
    fn unfinished(&mut self, _: &Configuration, _: Outcome) -> Result<(), Error> {
        Ok(())
    }
}

/// Measures the configurations of a plan. Those of a block share their inputs and are verified once, in the
/// first round; one that goes wrong in any round is finished with that.
///
/// # Errors
/// What the bench says; what was not finished by then is lost.
pub fn measure(plan: &[&Configuration], order: Order, bench: &mut dyn Bench) -> Result<(), Error> {
    let (block, rounds) = if order == Order::Interleave { (BLOCK, ROUNDS) } else { (1, 1) };
    for alike in plan.chunk_by(|a, b| a.shares_data(b)) {
        for block in alike.chunks(block) {
            in_rounds(block, rounds, bench)?;
        }
    }
    Ok(())
}

/// Measures a block of configurations together, a share of each one's samples in each round, so that drift favours
/// none. As [`measure`] otherwise.
///
/// # Errors
/// As [`measure`].
pub fn in_rounds(block: &[&Configuration], rounds: u32, bench: &mut dyn Bench) -> Result<(), Error> {
    let mut pooled: Vec<Option<Outcome>> = block.iter().map(|_| None).collect();
    for round in 0..rounds {
        for (configuration, pool) in block.iter().zip(&mut pooled) {
            if round > 0 && pool.is_none() {
                continue;
            }
            let settings = bench.settings(configuration);
            let outcome = match run_round(configuration, &settings, round, rounds, bench) {
                Ok(outcome) => outcome,
                Err(error) => return hand_over(block, pooled, bench).and(Err(error)),
            };
            let outcome = match pool.take() {
                Some(earlier) => earlier.pooled(outcome, &settings),
                None => outcome,
            };
            if round + 1 == rounds || is_final(&outcome) {
                bench.finished(configuration, outcome)?;
            } else {
                *pool = Some(outcome);
            }
        }
    }
    Ok(())
}

fn hand_over(block: &[&Configuration], pooled: Vec<Option<Outcome>>, bench: &mut dyn Bench) -> Result<(), Error> {
    let mut measured = block.iter().zip(pooled).filter_map(|(configuration, pool)| Some((configuration, pool?)));
    measured.try_for_each(|(configuration, outcome)| bench.unfinished(configuration, outcome))
}

fn run_round(
    configuration: &Configuration,
    settings: &Settings,
    round: u32,
    rounds: u32,
    bench: &mut dyn Bench,
) -> Result<Outcome, Error> {
    if let Some(refusal) = &configuration.refusal {
        return Ok(Outcome::pending(&configuration.case, settings.clock).ended(Err(refusal.clone().into())));
    }
    let settings = share(settings, round, rounds);
    let job = Job { baseline: false, case: configuration.case.clone(), settings, again: round > 0 };
    bench.run(configuration, &job)
}

/// Nothing more is to be learnt: it went wrong, or nothing was launched.
fn is_final(outcome: &Outcome) -> bool {
    outcome.status != Status::Ok || outcome.samples.is_empty()
}

/// A round's part of the samples and of the time. Later rounds need one run to warm up again.
fn share(settings: &Settings, round: u32, rounds: u32) -> Settings {
    let part = f64::from(rounds);
    Settings {
        warmup: if round == 0 { settings.warmup } else { settings.warmup.min(1) },
        min_runs: settings.min_runs.div_ceil(rounds),
        max_runs: settings.max_runs.div_ceil(rounds),
        min_time: settings.min_time / part,
        timeout: settings.timeout / part,
        ..settings.clone()
    }
}

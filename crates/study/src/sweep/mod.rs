//! Sweeps: every combination of rungs, work-groups, sizes, element types and tunables.
//!
//! [`Space`] is what there is to try, [`Identity`] what makes two sweeps the same, [`measure()`] runs a plan on any bench.
//!
//! Interleaving pools a configuration's samples from [`ROUNDS`] rounds over a block of [`BLOCK`] configurations, so that drift
//! or a neighbour's load favours none. A row is written when its last round is over: a sweep that is killed and gone on with
//! measures the configurations of one block again. An interrupted one writes what it has. Every row is final, whatever its
//! status.

mod identity;
mod possible;
mod space;

pub use identity::{Identity, Shard, merge};
pub use possible::Asked;
pub use space::{Configuration, Narrowing, Setting, Space, check_settings, settings, work_groups};

use gpulab_model::Result;
use gpulab_model::outcome::{Job, Outcome, Settings, Status};

#[cfg(test)]
mod tests;

pub const ROUNDS: u32 = 3;

/// Configurations that go through their rounds together.
pub const BLOCK: usize = 16;

pub trait Bench {
    fn settings(&self, configuration: &Configuration) -> Settings;

    fn run(&mut self, configuration: &Configuration, job: &Job) -> Result<Outcome>;

    /// Takes a finished configuration, and for how many seconds at most its samples were taken. Each comes once, as soon as
    /// its last round is over, or with what there is when an error or an interrupt ends the rounds.
    fn finished(
        &mut self,
        configuration: &Configuration,
        outcome: Outcome,
        sampled: f64,
    ) -> Result<()>;
}

/// Measures the configurations of a plan. Those of a block share their inputs and are verified once, in the first round; one
/// that goes wrong in any round is finished with that.
pub fn measure(plan: &[&Configuration], bench: &mut dyn Bench) -> Result<()> {
    for alike in plan.chunk_by(|a, b| (a.case.dtype, a.case.shape) == (b.case.dtype, b.case.shape))
    {
        for block in alike.chunks(BLOCK) {
            in_rounds(block, ROUNDS, bench)?;
        }
    }
    Ok(())
}

/// Measures a block of configurations together, a share of each one's samples in each round, so that drift favours none. As
/// [`measure`] otherwise.
pub fn in_rounds(block: &[&Configuration], rounds: u32, bench: &mut dyn Bench) -> Result<()> {
    // What the rounds so far gave of each, and for how many seconds at most it was sampled.
    let mut pooled: Vec<Option<(Outcome, f64)>> = vec![None; block.len()];
    for round in 0..rounds {
        for (&configuration, pool) in block.iter().zip(&mut pooled) {
            // It is finished.
            if round > 0 && pool.is_none() {
                continue;
            }
            let settings = bench.settings(configuration);
            // No more rounds than samples.
            let rounds = rounds.min(settings.max_runs.max(1));
            let outcome = match run_round(configuration, &settings, round, rounds, bench) {
                Ok(outcome) => outcome,
                Err(error) => {
                    let measured = block
                        .iter()
                        .zip(pooled)
                        .filter_map(|(configuration, pool)| Some((configuration, pool?)));
                    for (configuration, (outcome, sampled)) in measured {
                        bench.finished(configuration, outcome, sampled)?;
                    }
                    return Err(error);
                }
            };
            let own = settings.timeout / f64::from(rounds);
            let (outcome, sampled) = match pool.take() {
                // Without what the last bits of the shares add up to.
                Some((earlier, sampled)) => (
                    earlier.pooled(outcome, &settings),
                    (1e9 * (sampled + own)).round() / 1e9,
                ),
                None => (outcome, own),
            };
            // Nothing more is to be learnt where it went wrong, or nothing was launched.
            if round + 1 == rounds || outcome.status() != Status::Ok || outcome.samples().is_empty()
            {
                bench.finished(configuration, outcome, sampled)?;
            } else {
                *pool = Some((outcome, sampled));
            }
        }
    }
    Ok(())
}

/// A round's part of the samples and of the time. Later rounds need one run to warm up again.
fn run_round(
    configuration: &Configuration,
    settings: &Settings,
    round: u32,
    rounds: u32,
    bench: &mut dyn Bench,
) -> Result<Outcome> {
    if let Some(refusal) = &configuration.refusal {
        return Ok(Outcome::pending(&configuration.case, settings.clock)
            .ended(Err(refusal.clone().into())));
    }
    let settings = Settings {
        warmup: if round == 0 {
            settings.warmup
        } else {
            settings.warmup.min(1)
        },
        min_runs: settings.min_runs.div_ceil(rounds),
        max_runs: settings.max_runs * (round + 1) / rounds - settings.max_runs * round / rounds,
        min_time: settings.min_time / f64::from(rounds),
        timeout: settings.timeout / f64::from(rounds),
        ..settings.clone()
    };
    let job = Job {
        again: round > 0,
        ..Job::new(configuration.case.clone(), settings)
    };
    bench.run(configuration, &job)
}

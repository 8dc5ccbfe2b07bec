//! Runs a plan. Interleaved, the samples of a configuration are taken in several rounds, so that drift or
//! a neighbour's load favours none.

use super::Configuration;
use gpulab_model::Error;
use gpulab_model::outcome::{Job, Outcome, Settings, Status};
use gpulab_record::store::Pool;

/// How a sweep takes its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Order {
    /// Blocks of configurations in rounds, a share of the samples in each.
    Interleave,
    /// One configuration after the other.
    Sequential,
}

pub const ROUNDS: u32 = 3;

/// Configurations that go through their rounds together.
pub const BLOCK: usize = 16;

pub trait Bench {
    fn settings(&self, configuration: &Configuration) -> Settings;

    fn run(&mut self, configuration: &Configuration, job: &Job) -> Result<Outcome, Error>;

    /// Takes a finished configuration, and for how many seconds at most its samples were taken. Each comes once, as soon as
    /// its last round is over.
    fn finished(&mut self, configuration: &Configuration, outcome: Outcome, sampled: f64) -> Result<(), Error>;

    /// What rounds of an earlier run gave.
    fn earlier(&mut self, _: &Configuration) -> Option<Pool> {
        None
    }

    /// Takes note of what the rounds so far gave, after each but the last.
    fn note(&mut self, _: &Configuration, _: &Pool) {}

    /// Hears that every configuration that was begun is finished.
    fn settled(&mut self) {}

    /// Takes what the rounds before an error or an interrupt gave; a sweep, which has noted it, drops it.
    fn unfinished(&mut self, _: &Configuration, _: Outcome, _sampled: f64) -> Result<(), Error> {
        Ok(())
    }
}

/// Measures the configurations of a plan. Those of a block share their inputs and are verified once, in the
/// first round; one that goes wrong in any round is finished with that.
/// After an error, only what the bench noted is left.
pub fn measure(plan: &[&Configuration], order: Order, bench: &mut dyn Bench) -> Result<(), Error> {
    let (block, rounds) = if order == Order::Interleave { (BLOCK, ROUNDS) } else { (1, 1) };
    for alike in plan.chunk_by(|a, b| (a.case.dtype, a.case.shape) == (b.case.dtype, b.case.shape)) {
        for block in alike.chunks(block) {
            in_rounds(block, rounds, bench)?;
            bench.settled();
        }
    }
    Ok(())
}

/// Measures a block of configurations together, a share of each one's samples in each round, so that drift favours
/// none. As [`measure`] otherwise.
pub fn in_rounds(block: &[&Configuration], rounds: u32, bench: &mut dyn Bench) -> Result<(), Error> {
    let mut pooled: Vec<Option<Pool>> = block.iter().map(|configuration| bench.earlier(configuration)).collect();
    for round in 0..rounds {
        for (configuration, pool) in block.iter().zip(&mut pooled) {
            let done = pool.as_ref().map_or(0, |pool| pool.rounds);
            // It went wrong in an earlier round, or an earlier run was further with it.
            if (round > 0 && done == 0) || done > round {
                continue;
            }
            let settings = bench.settings(configuration);
            // No more rounds than samples.
            let rounds = rounds.min(settings.max_runs.max(1));
            let outcome = match run_round(configuration, &settings, round, rounds, bench) {
                Ok(outcome) => outcome,
                Err(error) => return hand_over(block, pooled, bench).and(Err(error)),
            };
            let own = settings.timeout / f64::from(rounds);
            let (outcome, sampled) = match pool.take() {
                Some(earlier) => (earlier.outcome.pooled(outcome, &settings), earlier.sampled + own),
                None => (outcome, own),
            };
            // Nothing more is to be learnt where it went wrong, or nothing was launched.
            let is_final = outcome.status() != Status::Ok || outcome.samples().is_empty();
            if round + 1 == rounds || is_final {
                bench.finished(configuration, outcome, whole_nanoseconds(sampled))?;
            } else {
                let pool = pool.insert(Pool { rounds: round + 1, outcome, sampled });
                bench.note(configuration, pool);
            }
        }
    }
    Ok(())
}

fn hand_over(block: &[&Configuration], pooled: Vec<Option<Pool>>, bench: &mut dyn Bench) -> Result<(), Error> {
    let mut measured = block.iter().zip(pooled).filter_map(|(configuration, pool)| Some((configuration, pool?)));
    measured.try_for_each(|(configuration, pool)| {
        bench.unfinished(configuration, pool.outcome, whole_nanoseconds(pool.sampled))
    })
}

/// A sum of rounds' seconds without what the last bits of their shares add up to.
fn whole_nanoseconds(seconds: f64) -> f64 {
    (1e9 * seconds).round() / 1e9
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

/// A round's part of the samples and of the time. Later rounds need one run to warm up again.
fn share(settings: &Settings, round: u32, rounds: u32) -> Settings {
    let part = f64::from(rounds);
    Settings {
        warmup: if round == 0 { settings.warmup } else { settings.warmup.min(1) },
        min_runs: settings.min_runs.div_ceil(rounds),
        max_runs: settings.max_runs * (round + 1) / rounds - settings.max_runs * round / rounds,
        min_time: settings.min_time / part,
        timeout: settings.timeout / part,
        ..settings.clone()
    }
}

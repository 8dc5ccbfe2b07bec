//! How many times to run, and how long.

use super::prelude::*;
use gpulab_model::stats::{self, Summary};

/// Runs longer than this, in seconds, need no more than one to warm up.
const LONG_S: f64 = 0.5;

/// Samples after which a search may drop a candidate.
const FIRST: usize = 3;

/// How long a batch of short launches should take, in seconds, and the launches that it has at least and at most.
const BATCH_S: f64 = 5e-3;
pub(super) const SHORTEST_BATCH: usize = 10;
const LONGEST_BATCH: usize = 2000;

/// Warms up, then samples until the spread is small, the time is up or there are enough; says which.
/// `run` is given the number of the run.
pub(crate) fn sample(
    settings: &Settings,
    run: &mut dyn FnMut(usize) -> Result<Sample, Stop>,
) -> Result<(Vec<Sample>, &'static str), Stop> {
    warm_up(settings, run)?;
    take(settings, run)
}

pub(super) fn warm_up(settings: &Settings, run: &mut dyn FnMut(usize) -> Result<Sample, Stop>) -> Result<(), Stop> {
    let warming = Instant::now();
    for i in 0..settings.warmup {
        run(i as usize)?;
        // A run that is longer than all samples may be has warmed everything up.
        if warming.elapsed().as_secs_f64() >= settings.timeout.max(LONG_S) {
            break;
        }
    }
    Ok(())
}

/// The samples, as [`sample`] takes them after its warm-up.
pub(super) fn take(
    settings: &Settings,
    run: &mut dyn FnMut(usize) -> Result<Sample, Stop>,
) -> Result<(Vec<Sample>, &'static str), Stop> {
    let started = Instant::now();
    let mut samples = Vec::new();
    loop {
        samples.push(run(samples.len())?);
        if samples.len() == FIRST && is_too_slow(settings, &samples) {
            return Ok((samples, "slower"));
        }
        let elapsed = started.elapsed().as_secs_f64();
        if samples.len() >= settings.max_runs as usize {
            return Ok((samples, "max-runs"));
        }
        let fewest = if elapsed >= 10.0 * settings.timeout.max(LONG_S) { 1 } else { settings.min_runs.min(3) };
        if elapsed >= settings.timeout && samples.len() >= fewest as usize {
            return Ok((samples, "timeout"));
        }
        let enough = samples.len() >= settings.min_runs as usize && elapsed >= settings.min_time;
        // Sorting all samples after each of them would disturb short kernels.
        if enough && samples.len() % 5 == 0 && spread(&samples) <= settings.max_noise {
            return Ok((samples, "steady"));
        }
    }
}

fn summary(samples: &[Sample]) -> Option<Summary> {
    let times: Vec<f64> = samples.iter().map(|s| s.event.unwrap_or(s.wall)).collect();
    stats::summarise(&times)
}

fn spread(samples: &[Sample]) -> f64 {
    summary(samples).map_or(f64::INFINITY, |s| s.noise)
}

/// Whether a search need not look at the case any longer.
fn is_too_slow(settings: &Settings, samples: &[Sample]) -> bool {
    let most = settings.candidate.and_then(|candidate| candidate.give_up_above);
    summary(samples).zip(most).is_some_and(|(times, most)| times.median > most)
}

/// How many launches make a batch, if one after the other each takes about so many seconds.
pub(super) fn batch_size(seconds: f64) -> usize {
    ((BATCH_S / seconds.max(1e-7)) as usize).clamp(SHORTEST_BATCH, LONGEST_BATCH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_model::outcome::Candidate;

    fn settings() -> Settings {
        Settings { warmup: 2, max_runs: 100, min_time: 0.0, timeout: 10.0, ..Settings::default() }
    }

    fn run_on(times: impl Fn(usize) -> f64, settings: &Settings) -> (usize, &'static str, usize) {
        let mut calls = 0;
        let (samples, why) = sample(settings, &mut |i| {
            calls += 1;
            Ok(Sample { event: Some(times(i)), wall: 1.0 })
        })
        .unwrap();
        (samples.len(), why, calls)
    }

    #[test]
    fn steady_times_end_early_and_noisy_ones_at_the_most_runs_the_time_limit_or_an_error() {
        assert_eq!(run_on(|_| 1e-3, &settings()), (10, "steady", 12));
        assert_eq!(run_on(|i| if i % 2 == 0 { 1e-3 } else { 2e-3 }, &settings()).1, "max-runs");
        let result = sample(&settings(), &mut |_| Err(Stop::failed("lost")));
        assert_eq!(result, Err(Stop::failed("lost")));
        let settings = Settings { timeout: 0.0, ..settings() };
        assert_eq!(run_on(|i| 1e-3 * (i + 1) as f64, &settings), (3, "timeout", 5));
    }

    #[test]
    fn a_candidate_that_is_slower_than_asked_for_ends_after_its_first_samples() {
        let search = |give_up_above| Settings {
            candidate: Some(Candidate { give_up_above, is_preliminary: false }),
            ..settings()
        };
        assert_eq!(run_on(|_| 1.6e-3, &search(Some(1.5e-3))), (3, "slower", 5));
        for enough in [Some(1.7e-3), None] {
            assert_eq!(run_on(|_| 1.6e-3, &search(enough)), (10, "steady", 12), "{enough:?}");
        }
        // One slow run decides nothing.
        assert_eq!(run_on(|i| if i == 1 { 9e-3 } else { 1e-3 }, &search(Some(1.5e-3))).1, "steady");
    }
}

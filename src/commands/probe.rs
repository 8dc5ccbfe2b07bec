//! What the device can do at best, measured before what runs on it.

use super::say;
use crate::Error;
use crate::data::Dtype;
use crate::device::DeviceInfo;
use crate::kernels::{Bound, Case, Family, ceiling};
use crate::record::{Ceiling, REPEATS};
use crate::runner::{Cache, Clock, Outcome, Settings, Status};
use crate::worker::{Executor, Job};

/// The ceilings that a run needed so far, each measured once.
pub(super) struct Limits {
    seed: u64,
    /// None where no probe gave a rate.
    known: Vec<(Bound, Dtype, Option<Ceiling>)>,
}

impl Limits {
    /// With this seed of the probes' data.
    pub(super) fn new(seed: u64) -> Limits {
        Limits { seed, known: Vec::new() }
    }

    /// The ceiling for elements of a type, if it was measured and there is one.
    pub(super) fn get(&self, bound: Bound, dtype: Dtype) -> Option<Ceiling> {
        self.find(bound, dtype).flatten()
    }

    /// Takes a ceiling over from an earlier run.
    pub(super) fn note(&mut self, bound: Bound, dtype: Dtype, rate: f64) {
        if self.find(bound, dtype).is_none() {
            self.known.push((bound, dtype, Some(Ceiling { bound, rate })));
        }
    }

    /// Whether it was measured, even in vain.
    pub(super) fn has(&self, bound: Bound, dtype: Dtype) -> bool {
        self.find(bound, dtype).is_some()
    }

    fn find(&self, bound: Bound, dtype: Dtype) -> Option<Option<Ceiling>> {
        let alike = |known: &&(Bound, Dtype, _)| known.0 == bound && (bound.is_memory() || known.1 == dtype);
        self.known.iter().find(alike).map(|(_, _, ceiling)| *ceiling)
    }

    /// Measures a ceiling that is not known yet: the best rate of its probes that gave a right result.
    ///
    /// # Errors
    /// What ends the whole run.
    pub(super) fn measure(
        &mut self,
        executor: &mut dyn Executor,
        bound: Bound,
        dtype: Dtype,
        settings: &Settings,
    ) -> Result<(), Error> {
        if self.has(bound, dtype) {
            return Ok(());
        }
        let mut best: Option<f64> = None;
        for case in ceiling::cases(bound, dtype, &executor.info().target, self.seed) {
            let job = Job { baseline: false, case, settings: probing(settings), again: false };
            let outcome = executor.run(&job)?;
            if !matches!(outcome.status, Status::Ok | Status::Skipped) {
                let Outcome { case, status, reason, .. } = &outcome;
                say(&format!("the probe {}/{} gave no rate ({}): {reason}", case.family, case.variant, status.name()));
            }
            best = best.into_iter().chain(fastest_rate(&outcome, bound)).reduce(f64::max);
        }
        self.known.push((bound, dtype, best.map(|rate| Ceiling { bound, rate })));
        Ok(())
    }
}

/// The settings, with the time that no event time of the case may fall below.
pub(super) fn bounded(
    settings: &Settings,
    family: &Family,
    case: &Case,
    limit: Option<Ceiling>,
    info: &DeviceInfo,
) -> Settings {
    let limit = limit.filter(|_| is_bounded(family, case, info));
    let amount = family.ceiling.limited(family.problem.cost(case));
    Settings { least_time: limit.map(|limit| amount / (1.5e9 * limit.rate)), ..settings.clone() }
}

/// Whether a case does so much that the ceiling holds for it: of memory's, that no cache can lift it above.
pub(super) fn is_bounded(family: &Family, case: &Case, info: &DeviceInfo) -> bool {
    // What is repeated inside a kernel comes from the cache. Drivers tend to report a part of their last-level cache.
    let beyond_caches = || family.problem.cost(case).bytes > (16 * info.target.cache).max(256 << 20) as f64;
    !case.params.contains_key(REPEATS) && (!family.ceiling.is_memory() || beyond_caches())
}

fn probing(settings: &Settings) -> Settings {
    Settings {
        min_runs: 5,
        max_runs: 50,
        min_time: 0.02,
        timeout: 0.3,
        cache: Cache::Warm,
        clock: Clock::Event,
        ..settings.clone()
    }
}

/// 10^9 bytes or operations a second of the fastest run of a right result.
fn fastest_rate(outcome: &Outcome, bound: Bound) -> Option<f64> {
    let fastest = outcome.times().into_iter().reduce(f64::min)?;
    let amount = if bound.is_memory() { outcome.bytes } else { outcome.ops };
    (outcome.status == Status::Ok && fastest > 0.0).then_some(amount / 1e9 / fastest)
}

//! What the device can do at best, measured before what runs on it.

use super::say;
use crate::Error;
use crate::data::Dtype;
use crate::device::DeviceInfo;
use crate::kernels::{Bound, Case, Family, Params, Shape, WorkGroup, ceiling};
use crate::record::{Ceiling, REPEATS};
use crate::runner::{Cache, Clock, Outcome, Settings, Status};
use crate::worker::{Executor, Job};

/// The best rate of the probes of a bound; none if no probe gave a right result.
///
/// # Errors
/// What ends the whole run.
pub(super) fn ceiling(
    executor: &mut dyn Executor,
    bound: Bound,
    settings: &Settings,
    seed: u64,
) -> Result<Option<Ceiling>, Error> {
    let mut best: Option<f64> = None;
    for probe in ceiling::PROBES.iter().filter(|probe| probe.ceiling == bound) {
        for rung in probe.ladder {
            let case = case(probe, rung.variant(), executor.info(), seed);
            let job = Job { baseline: false, case, settings: probing(settings), again: false };
            let outcome = executor.run(&job)?;
            if !matches!(outcome.status, Status::Ok | Status::Skipped) {
                say(&format!("the probe {} gave no rate ({}): {}", rung.path, outcome.status.name(), outcome.reason));
            }
            best = best.into_iter().chain(fastest_rate(&outcome)).reduce(f64::max);
        }
    }
    Ok(best.map(|gbps| Ceiling { bound, gbps }))
}

/// The settings, with the rate that no event time may exceed where no cache can help.
pub(super) fn bounded(
    settings: &Settings,
    family: &Family,
    case: &Case,
    limit: Option<Ceiling>,
    info: &DeviceInfo,
) -> Settings {
    let limit = limit.filter(|_| is_bounded(family, case, info));
    Settings { ceiling: limit.map(|limit| 1.5e9 * limit.gbps), ..settings.clone() }
}

/// Whether a case moves so much that no cache can lift it above memory's ceiling.
pub(super) fn is_bounded(family: &Family, case: &Case, info: &DeviceInfo) -> bool {
    // What is repeated inside a kernel comes from the cache. Drivers tend to report a part of their last-level cache.
    !case.params.contains_key(REPEATS)
        && family.problem.cost(case).bytes > (16 * info.target.cache).max(256 << 20) as f64
}

fn case(probe: &Family, variant: &str, info: &DeviceInfo, seed: u64) -> Case {
    Case {
        family: probe.name.into(),
        variant: variant.into(),
        dtype: Dtype::I32,
        shape: Shape::vector(ceiling::elements(&info.target)),
        wg: WorkGroup::linear(info.target.max_wg.min(256)),
        params: Params::new(),
        seed,
    }
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

/// GB/s of the fastest run of a right result.
fn fastest_rate(outcome: &Outcome) -> Option<f64> {
    let fastest = outcome.times().into_iter().reduce(f64::min)?;
    (outcome.status == Status::Ok && fastest > 0.0).then_some(outcome.bytes / 1e9 / fastest)
}

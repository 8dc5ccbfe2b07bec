//! Verifying and timing the CPU baselines.

use super::inputs::{choices, exactly, make_inputs};
use super::prelude::*;
use super::sampling;
use super::session::nothing;
use super::verdict::demand;
use gpulab_kernels::{Baseline, Fold};
use gpulab_model::plan::WorkGroup;

impl Session {
    pub fn baseline(&mut self, case: &Case, settings: &Settings) -> Outcome {
        let mut outcome = Outcome::pending(case, Clock::Wall);
        let end = self.try_baseline(case, settings, &mut outcome);
        outcome.ended(end)
    }

    fn try_baseline(&mut self, case: &Case, settings: &Settings, outcome: &mut Outcome) -> Result<Measured, Stop> {
        let registry = self.registry.clone();
        let family = registry.find(&case.family)?;
        let Some(baseline) = family.problem.baselines().iter().find(|b| b.name == case.variant) else {
            return Err(Stop::failed(format!("{} has no CPU baseline {}", family.name, case.variant)));
        };
        if case.shape.n == 0 || case.shape.m == 0 {
            outcome.params = choices(family, case);
            return Ok(nothing(family, case, Clock::Wall));
        }
        if let Some(why) = family.problem.spared(baseline, case.shape) {
            return Err(Refusal::Size(why).into());
        }
        let elements: usize = family.problem.inputs(case.shape, &case.params).into_iter().sum();
        outcome.working_set = elements as u64 * case.dtype.size() as u64;
        if outcome.working_set > MOST_BYTES {
            return Err(Refusal::Size(spared(outcome.working_set)).into());
        }
        self.load_host(case, family)?;
        let Some(data) = &self.data else { return Err(Stop::failed("the inputs are gone")) };
        let cost = family.problem.cost(case);
        (outcome.bytes, outcome.ops) = (cost.bytes, cost.ops);
        (outcome.wg, outcome.params) = (WorkGroup::linear(1), choices(family, case));
        if let Some(fold) = family.problem.fold() {
            verify_baseline(baseline, fold, family, case)?;
        }
        // What is drawn on a device is made here for as long as it takes.
        let made =
            (!data.host.drawn().is_empty()).then(|| make_inputs(family, case, family.problem.fill(case), case.seed));
        let inputs = made.as_deref().unwrap_or(data.host.held());
        let mut last = check::poisoned(case.dtype, family.problem.result(case.shape, &case.params));
        let (samples, why) = sampling::sample(settings, &mut |_| {
            let started = Instant::now();
            (baseline.run)(case.shape, &case.params, std::hint::black_box(inputs), &mut last);
            Ok(Sample { event: None, wall: started.elapsed().as_secs_f64() })
        })?;
        let depth = (baseline.depth)(case.shape.n, rayon::current_num_threads());
        let judged = data.judge(&last, family, case, depth, "on the CPU")?;
        Ok(Measured { samples, stopped_by: why.into(), ..Measured::of(judged, Clock::Wall) })
    }
}

/// Most bytes of inputs that a baseline is timed over: more take many seconds to make, and tell nothing new of a CPU.
const MOST_BYTES: u64 = 4 << 30;

fn spared(bytes: u64) -> String {
    let gib = |bytes: u64| bytes as f64 / (1u64 << 30) as f64;
    format!("inputs of {:.1} GiB: choose a size with at most {:.0} GiB to time the CPU", gib(bytes), gib(MOST_BYTES))
}

fn verify_baseline(baseline: &Baseline, fold: &dyn Fold, family: &Family, case: &Case) -> Result<(), Stop> {
    let inputs = make_inputs(family, case, fold.exact_fill(case), !case.seed);
    let want = exactly(fold.reference(case, &inputs), case.dtype);
    let mut got = check::poisoned(case.dtype, fold.result(case.shape, &case.params));
    (baseline.run)(case.shape, &case.params, &inputs, &mut got);
    demand(check::check_result(&got, &want, 0), "over exact data, on the CPU").map(|_| ())
}

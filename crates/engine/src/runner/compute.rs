//! Running a rung for its result, over data from outside.

use super::prelude::*;
use gpulab_model::outcome::SHORTEST_NS;

/// What a rung made of its inputs.
#[derive(Clone, Debug)]
pub struct Computed {
    pub output: Array,
    /// Seconds from nothing to the result: allocation, inputs to the device, kernels, output to the host.
    pub seconds: f64,
    /// Those of them in which kernels ran, as the device says, or else from the first launch until the last had ended.
    pub launches: f64,
}

impl Session {
    /// Runs a rung once over these inputs, which are of the case's type and of the lengths that its problem asks for.
    /// The result is not compared with a reference; that every element was written, and nothing behind the buffers'
    /// ends, is checked.
    pub fn compute(&mut self, case: &Case, inputs: &[Array]) -> Result<Computed, Stop> {
        let registry = self.registry.clone();
        let family = registry.find(&case.family)?;
        let (rung, plan) = self.plan(family, case)?;
        let program = self.build(rung, &plan)?;
        let job = ReadyCase { case, family, plan, program, second_seed: self.second_seed, again: None };
        let started = Instant::now();
        let fence = Fence::of(&*self.device, family, case);
        let uploaded = fence.upload(&mut *self.device, inputs)?;
        let bound = BoundPlan::new(&mut *self.device, fence, &job.plan, &uploaded).map_err(Stop::from);
        let computed = bound.and_then(|bound| {
            let ran = self.run_poisoned(&job, &bound).and_then(|timing| {
                let output = self.result(&job, &bound, inputs).map_err(|stop| stop.after(true))?;
                // A driver may compile between launches.
                let ns: u64 = timing.stamps.iter().map(|stamps| stamps.end.saturating_sub(stamps.start)).sum();
                let seconds = ns as f64 * 1e-9;
                let is_known = ns >= SHORTEST_NS && seconds <= timing.wall_s;
                Ok((output, if is_known { seconds } else { timing.wall_s }))
            });
            bound.free(&mut *self.device);
            ran
        });
        uploaded.into_iter().for_each(|fenced| fenced.free(&mut *self.device));
        let (output, launches) = computed?;
        Ok(Computed { output, seconds: started.elapsed().as_secs_f64(), launches })
    }
}

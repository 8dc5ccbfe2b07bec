//! A case launched a single time, for whoever watches from outside what its kernels do.

use super::inputs::choices;
use super::prelude::*;
use gpulab_model::outcome::{LaunchedOnce, Status};

impl Session {
    /// Launches a case's kernels once each, over the data that are timed, and checks the result. No other kernel runs
    /// between or behind them; before them that of a reader's family which says what is right may.
    pub fn launch_once(&mut self, case: &Case) -> Result<LaunchedOnce, Stop> {
        let registry = self.registry.clone();
        let family = registry.find(&case.family)?;
        if case.shape.n == 0 || case.shape.m == 0 {
            return Err(Stop::new(Status::Skipped, "there are no elements, and so no launch"));
        }
        let mut outcome = Outcome::pending(case, Clock::Event);
        let job = self.prepare(case, family, &mut outcome)?;
        self.launched = false;
        let checked = self.with_data(|session, data| session.verify_once(&job, data, "launched once"));
        checked.map_err(|stop| self.stopped(stop))?;
        let plan = &job.plan;
        let ran = plan.passes.iter().enumerate().filter(|(place, _)| !self.left_out.contains(place));
        let launches = ran.map(|(_, pass)| (pass.kernel.clone(), pass.timed)).collect();
        let params = choices(family, case).into_iter().chain(plan.params.clone()).collect();
        Ok(LaunchedOnce { wg: plan.wg, params, launches })
    }
}

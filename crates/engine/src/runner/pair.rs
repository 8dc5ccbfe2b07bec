//! Two rungs of one family, timed in turn over the same buffers, so that whatever changes meanwhile changes both.

use super::clock;
use super::inputs::{ReadyCase, timed_exact_data};
use super::session::Session;
use super::witness::Witness;
use crate::device::Device;
use gpulab_model::data::draw;
use gpulab_model::outcome::{Clock, Outcome, Settings, Stop};
use gpulab_model::plan::{Case, Launch};
use gpulab_record::compare::in_pairs;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Two cases that differ in their rung alone, and how long they are timed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairJob {
    pub cases: [Case; 2],
    /// Share of a time by which kernels that are the same may differ.
    pub same: f64,
    /// Seconds after which no further pair begins.
    pub limit: f64,
}

impl Session {
    /// Verifies both cases, times them in pairs, verifies what the runs left. Seconds of each pair's runs.
    pub fn pair(&mut self, job: &PairJob) -> Result<Vec<[f64; 2]>, Stop> {
        self.launched = false;
        let timed = self.verified_pair(job);
        self.device.free_gone();
        timed.map_err(|stop| self.stopped(stop))
    }

    fn verified_pair(&mut self, job: &PairJob) -> Result<Vec<[f64; 2]>, Stop> {
        let registry = self.registry.clone();
        let family = registry.find(&job.cases[0].family)?;
        let [first, second] = &job.cases;
        let mut outcome = Outcome::pending(first, Clock::Event);
        let ready = [
            self.prepare(first, family, &mut outcome)?,
            self.prepare(second, family, &mut outcome)?,
        ];
        for case in &ready {
            self.with_data(|session, data| session.verify_once(case, data, "before timing"))?;
            self.verify_exact(case, &timed_exact_data(case))?;
        }
        self.timed_pair(job, &ready)
    }

    fn timed_pair(
        &mut self,
        job: &PairJob,
        ready: &[ReadyCase<'_>; 2],
    ) -> Result<Vec<[f64; 2]>, Stop> {
        self.ready_gauge(&Settings::default())?;
        let is_trusted = self
            .gauge
            .as_ref()
            .is_some_and(|gauge| gauge.trusts_events());
        let seed = draw(self.second_seed, 2);
        self.with_data(|session, data| {
            let first = session.bind(&ready[0], &data.device)?;
            let second = match first.shared_with(&ready[1].plan) {
                Some(shared) => shared,
                None => session.bind(&ready[1], &data.device)?,
            };
            let device = &mut *session.device;
            let sides = [(&ready[0], &first), (&ready[1], &second)];
            let launches = sides.map(|(_, bound)| bound.launches());
            let mut witness = Witness::new(device, data, &sides)?;
            let mut run = |side: usize| {
                witness.arm(device, vec![side])?;
                timed_run(device, sides[side].0, &launches[side], is_trusted)
            };
            let limit = (job.same, Duration::from_secs_f64(job.limit));
            let pairs = in_pairs(limit, seed, &mut run)?;
            witness.end(device)?;
            Ok(pairs)
        })
    }
}

/// Seconds of one run of a case, without what prepares its data.
fn timed_run(
    device: &mut dyn Device,
    job: &ReadyCase<'_>,
    launches: &[Launch],
    is_trusted: bool,
) -> Result<f64, Stop> {
    let timed: Vec<bool> = job.plan.passes.iter().map(|pass| pass.timed).collect();
    let before = timed.iter().position(|&timed| timed).unwrap_or(0);
    let (preparation, launches) = launches.split_at(before);
    if before > 0 {
        device.run(job.program, preparation)?;
    }
    let sample = clock::sample(&device.run(job.program, launches)?, &timed[before..]);
    match sample.event {
        Some(seconds) if is_trusted => Ok(seconds),
        None if is_trusted => Err(Stop::failed("the driver's events gave no time of a run")),
        _ => Ok(sample.wall),
    }
}

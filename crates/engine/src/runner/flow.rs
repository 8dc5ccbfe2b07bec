//! A case whose data stay on the host: chunks of them go through a part of the device, copies behind kernels.
//!
//! Chunks take the queues in turn. A queue keeps the order of its commands: a chunk's copies, its kernels, its result's way back,
//! and only then the copies of its next chunk into the same buffers. Meanwhile the other queues go on.

use super::canary;
use super::prelude::*;
use gpulab_model::outcome::StreamTimes;
use gpulab_model::plan::CHUNK;
use gpulab_model::stats;

/// While a queue copies, another computes and a third waits for neither.
pub(super) const QUEUES: u64 = 3;

/// Bytes of an input in a chunk: many times what a copy costs to start, and yet a small part of any device.
pub(super) const LONG_CHUNK: u64 = 64 << 20;

const KERNEL_RUNS: usize = 3;

/// The last of so many chunks that a queue has, if so many queues take them in turn.
pub(super) fn last_chunk(chunks: usize, queue: usize, queues: usize) -> usize {
    (chunks - 1 - queue) / queues * queues + queue
}

pub(super) trait Flow {
    fn commands(&self) -> Vec<(ProgramId, Vec<QueuedCommand>)>;

    /// Carries out those commands that are meant, and returns the seconds until all had ended.
    fn play(&self, device: &mut dyn Device, is_meant: fn(&Action) -> bool) -> Result<f64, Stop> {
        let mut seconds = 0.0;
        for (program, mut commands) in self.commands() {
            commands.retain(|command| is_meant(&command.action));
            seconds += device.play(Some(program), &commands, 1, false)?.wall_s;
        }
        Ok(seconds)
    }

    /// Runs once into poisoned results, and judges what comes of it: the seconds from the first copy to the whole result.
    fn run(&self, device: &mut dyn Device, when: &str) -> Result<(f64, Judged), Stop>;

    /// Refuses kernels that wrote beside their buffers, or into their inputs.
    fn demand_kept_inside(&self, device: &mut dyn Device) -> Result<(), Stop>;
}

impl Session {
    /// Checks a case, times it and checks each run, over data that are held on the host and go through `bytes` of the device.
    pub(super) fn stream(&mut self, case: &Case, settings: &Settings, bytes: u64) -> Outcome {
        let mut outcome = Outcome::pending(case, Clock::Wall);
        self.launched = false;
        let end = self.streamed(case, settings, bytes, &mut outcome);
        outcome.ended(end.map_err(|stop| self.stopped(stop)))
    }

    fn streamed(
        &mut self,
        case: &Case,
        settings: &Settings,
        bytes: u64,
        outcome: &mut Outcome,
    ) -> Result<Measured, Stop> {
        let registry = self.registry.clone();
        let family = registry.find(&case.family)?;
        let cost = family.problem.cost(case);
        (outcome.bytes, outcome.ops, outcome.params) = (cost.bytes, cost.ops, case.params.clone());
        // Until it is known.
        outcome.params.insert(CHUNK.into(), String::new());
        if case.shape.elements() == 0 {
            return Ok(super::nothing(family, case, Clock::Wall));
        }
        match family.problem.movement(case) {
            Some(movement) => self.stream_moved(family, case, movement, settings, bytes, outcome),
            None if family.problem.fold().is_some() => self.stream_fold(family, case, settings, bytes, outcome),
            None => {
                let why = format!("{} is not streamed: reduce, dot and transpose are", family.name);
                Err(Refusal::Feature(why).into())
            }
        }
    }

    /// Times runs that are each judged; before each, its copies alone, and behind all of them the kernels alone.
    pub(super) fn time_flow(
        &mut self,
        flow: &dyn Flow,
        judged: Judged,
        settings: &Settings,
        outcome: &mut Outcome,
    ) -> Result<Measured, Stop> {
        let started = Instant::now();
        let mut measured = Measured::of(judged, Clock::Wall);
        let mut copies = Vec::new();
        let device = &mut *self.device;
        let watched = canary::sample(settings, device, self.gauge.as_mut(), &mut |device, _| {
            copies.push(flow.play(device, |action| !matches!(action, Action::Launch(_)))?);
            let (wall, _) = flow.run(device, "while it was timed")?;
            Ok(Sample { event: None, wall })
        })?;
        watched.enter(&mut measured);
        let copies = copies.split_off(copies.len() - measured.samples.len());
        let kernels: Result<Vec<f64>, Stop> =
            (0..KERNEL_RUNS).map(|_| flow.play(device, |action| matches!(action, Action::Launch(_)))).collect();
        let median = |seconds: &[f64]| stats::summarise(seconds).map(|seconds| seconds.median);
        measured.streamed =
            median(&copies).zip(median(&kernels?)).map(|(copies, kernels)| StreamTimes { copies, kernels });
        flow.demand_kept_inside(device)?;
        outcome.spent.measure = started.elapsed().as_secs_f64();
        Ok(measured)
    }
}

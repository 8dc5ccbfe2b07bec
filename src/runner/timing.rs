//! Timing a rung that was found right, and looking at its result again afterwards.

use super::buffers::{self, Bound};
use super::canary::{self, Gauge, Watched};
use super::clock;
use super::outcome::{Cache, Canary, Clock, Outcome, Sample, Settings, Status, Stop};
use super::sampling;
use super::session::{Job, Session};
use super::verify::tails;
use crate::data::Array;
use crate::device::{Device, DeviceError, Launch};
use crate::stats;
use std::time::Instant;

impl Session {
    /// Verifies over exact and real data unless that was done before, times, and verifies again.
    pub(super) fn verify_and_time(
        &mut self,
        job: &Job<'_>,
        settings: &Settings,
        outcome: &mut Outcome,
    ) -> Result<(), Stop> {
        if !job.again {
            let started = Instant::now();
            if !job.family.problem.is_exact(job.case) {
                let exact = job.family.problem.exact_fill(job.case);
                self.verify_exact(job, &[(exact, !job.case.seed)])?;
            }
            self.verify_real(job, "before timing")?;
            outcome.spent.verify = started.elapsed().as_secs_f64();
            // Not before the first launch, at which some drivers still compile.
            outcome.end_to_end = Some(self.end_to_end(job)?);
            outcome.host_tail = self.host_tail(job);
        }
        let inputs = self.inputs();
        let bound = Bound::new(&mut *self.device, &job.plan, &inputs)?;
        let result = self.measure(job, settings, &bound, outcome);
        bound.free(&mut *self.device);
        result
    }

    /// Times over the real data, and verifies what the last run left.
    fn measure(
        &mut self,
        job: &Job<'_>,
        settings: &Settings,
        bound: &Bound,
        outcome: &mut Outcome,
    ) -> Result<(), Stop> {
        bound.poison(&mut *self.device, &job.plan)?;
        let copies = self.rotation(job, settings.cache, bound)?;
        let bindings: Vec<&Bound> = std::iter::once(bound).chain(&copies).collect();
        let judged = self.time_and_judge(job, settings, &bindings, outcome);
        copies.into_iter().for_each(|copy| copy.free(&mut *self.device));
        judged
    }

    /// Times over each binding in turn, then checks what the last run left.
    fn time_and_judge(
        &mut self,
        job: &Job<'_>,
        settings: &Settings,
        bindings: &[&Bound],
        outcome: &mut Outcome,
    ) -> Result<(), Stop> {
        let sets: Vec<Vec<Launch>> = bindings.iter().map(|b| b.launches(&job.plan)).collect();
        let started = Instant::now();
        self.time(job, settings, &sets, outcome)?;
        outcome.spent.measure = started.elapsed().as_secs_f64() + outcome.end_to_end.unwrap_or(0.0);
        let last = (outcome.samples.len() - 1) % bindings.len();
        let judged = self.judge(job, bindings[last], "after timing")?;
        outcome.judged(&judged);
        Ok(())
    }

    /// For a cold cache: copies that together with the original are twice the size of any cache in sight.
    fn rotation(&mut self, job: &Job<'_>, cache: Cache, bound: &Bound) -> Result<Vec<Bound>, Stop> {
        const SHARED_BELOW: usize = 1 << 20;
        let mut copies = Vec::new();
        if cache == Cache::Warm {
            return Ok(copies);
        }
        let target = &self.device.info().target;
        // Some drivers report a part of their last-level cache only.
        let wanted = 2 * target.cache.max(128 << 20);
        let room = target.global_mem / 2;
        let set = job.plan.bytes().max(1);
        let sets = wanted.div_ceil(set).max(2).min(room / set).min(256);
        let share = if set < 4 * SHARED_BELOW as u64 { 0 } else { SHARED_BELOW };
        for _ in 1..sets {
            match bound.copy(&mut *self.device, &job.plan, share) {
                Ok(copy) => copies.push(copy),
                Err(error) => {
                    copies.into_iter().for_each(|copy| copy.free(&mut *self.device));
                    return Err(error.into());
                }
            }
        }
        Ok(copies)
    }

    /// Makes the canary, unless this session has one.
    pub(super) fn ready_gauge(&mut self) -> Result<(), Stop> {
        if self.gauge.is_none() {
            self.gauge = Gauge::new(&mut *self.device, &self.sources)?;
        }
        Ok(())
    }

    fn time(
        &mut self,
        job: &Job<'_>,
        settings: &Settings,
        sets: &[Vec<Launch>],
        outcome: &mut Outcome,
    ) -> Result<(), Stop> {
        self.ready_gauge()?;
        let device = &mut *self.device;
        let timed: Vec<bool> = job.plan.passes.iter().map(|p| p.timed).collect();
        // What prepares the data is launched apart, so that no clock counts it.
        let before = timed.iter().position(|&timed| timed).unwrap_or(0);
        let all: Vec<Launch> = sets.iter().flat_map(|launches| &launches[before..]).cloned().collect();
        for launches in sets {
            device.batch(job.program, &launches[..before], 1)?;
        }
        let per_run = 1.0 / sets.len() as f64;
        let batch = |device: &mut dyn Device, seconds: f64| -> Result<f64, DeviceError> {
            let repeat = sampling::batch_size(seconds).div_ceil(sets.len());
            Ok(device.batch(job.program, &all, repeat)? / repeat as f64 * per_run)
        };
        let first = if settings.clock == Clock::Batch { device.batch(job.program, &all, 1)? * per_run } else { 0.0 };
        let mut preparations = Vec::new();
        let mut run = |device: &mut dyn Device, i: usize| -> Result<Sample, Stop> {
            let (preparation, launches) = sets[i % sets.len()].split_at(before);
            Ok(match settings.clock {
                Clock::Event => {
                    if before > 0 {
                        preparations.extend(clock::span(&device.run(job.program, preparation)?));
                    }
                    clock::sample(&device.run(job.program, launches)?, &timed[before..])
                }
                Clock::Wall => Sample { event: None, wall: device.batch(job.program, launches, 1)? },
                Clock::Batch => Sample { event: None, wall: batch(device, first)? },
            })
        };
        outcome.watched(canary::sample(settings, device, self.gauge.as_mut(), &mut run)?);
        outcome.choose_clock(settings);
        if outcome.clock == Clock::Event {
            outcome.preparation = stats::summarise(&preparations).map(|s| s.median);
        }
        let shortest = outcome.times().into_iter().fold(f64::INFINITY, f64::min);
        if shortest < sampling::SHORT_S && !job.again {
            outcome.batch = Some(batch(device, shortest)?);
        }
        Ok(())
    }

    /// Seconds that the host takes to add its tail, if the plan leaves it one: the median of several times.
    fn host_tail(&self, job: &Job<'_>) -> Option<f64> {
        const TIMES: usize = 15;
        job.plan.host_tail?;
        let tails = tails(&job.plan, &self.data.as_ref()?.host);
        let once = |_| {
            let none = Array::zeros(job.case.dtype, 0);
            let started = Instant::now();
            std::hint::black_box(job.family.problem.finish(job.case, none, std::hint::black_box(&tails)));
            started.elapsed().as_secs_f64()
        };
        let times: Vec<f64> = (0..TIMES).map(once).collect();
        stats::summarise(&times).map(|s| s.median)
    }

    /// Seconds from nothing to the result: allocation, inputs to the device, kernels, output to the host
    /// and the host's part. The inputs stay on the device, in place of those that were there.
    fn end_to_end(&mut self, job: &Job<'_>) -> Result<f64, Stop> {
        let Some(data) = &mut self.data else { return Err(Stop::failed("the inputs are gone")) };
        let device = &mut *self.device;
        data.device.drain(..).for_each(|id| device.free(id));
        let started = Instant::now();
        data.device = buffers::upload(device, &data.host)?;
        let bound = Bound::new(device, &job.plan, &data.device)?;
        let ran = device.batch(job.program, &bound.launches(&job.plan), 1);
        let output = ran.and_then(|_| bound.output(device, &job.plan));
        bound.free(device);
        let result = job.family.problem.finish(job.case, output?, &tails(&job.plan, &data.host));
        std::hint::black_box(result);
        Ok(started.elapsed().as_secs_f64())
    }
}

impl Outcome {
    pub(super) fn watched(&mut self, watched: Watched) {
        self.samples = watched.samples;
        self.stopped_by = watched.stopped_by.into();
        self.canary = watched.canary;
        self.distrust = watched.distrust;
    }

    /// Decides over all samples whether the event times asked for can be believed.
    fn choose_clock(&mut self, settings: &Settings) {
        if settings.clock == Clock::Event {
            self.clock_note = self.objection(settings.least_time);
            self.clock = if self.clock_note.is_some() { Clock::Wall } else { Clock::Event };
        }
    }

    /// Adds what a later round over the same case gave. A round that went wrong takes the place of all:
    /// there is no time for a case that was wrong once.
    pub fn pooled(mut self, later: Outcome, settings: &Settings) -> Outcome {
        self.spent += later.spent;
        if later.status != Status::Ok {
            let stop = Stop { status: later.status, reason: later.reason };
            return self.ended(Err(stop));
        }
        self.samples.extend(later.samples);
        self.canary = Canary::worst(self.canary, later.canary);
        self.distrust = self.distrust.or(later.distrust);
        if later.stopped_by != "steady" {
            self.stopped_by = later.stopped_by;
        }
        if later.max_err > self.max_err {
            self.max_err = later.max_err;
        }
        self.choose_clock(settings);
        self
    }
}

//! Timing a rung that was found right, and looking at its result again afterwards: how often to run, how long, and by which
//! clock.

use super::buffers::{BoundPlan, Fence};
use super::clock::{self, Gauge};
use super::inputs::{Data, ReadyCase, tails, timed_exact_data};
use super::session::Session;
use super::verify::finished;
use super::witness::{Watched, Witness};
use crate::device::Device;
use gpulab_model::data::Array;
use gpulab_model::outcome::{
    Cache, Clock, DeviceInfo, Measured, Outcome, SHORT_S, SHORTEST_NS, Sample, Settings, Spent,
    Stop,
};
use gpulab_model::plan::{Case, Launch, Movement};
use gpulab_model::stats;
use std::time::Instant;

/// Runs by themselves that batches are compared with.
const ALONE: usize = 3;

impl Session {
    /// Verifies over exact and real data unless that was done before, times, and verifies again.
    pub fn verify_and_time(
        &mut self,
        job: &ReadyCase<'_>,
        settings: &Settings,
        outcome: &mut Outcome,
    ) -> Result<Measured, Stop> {
        let mut measured = match &job.again {
            Some(judged) => Measured {
                clock: settings.clock,
                ..judged.clone()
            },
            None => self.verify_before(job, settings, &mut outcome.spent)?,
        };
        let started = Instant::now();
        let timed = self.ready_gauge(settings).and_then(|()| {
            self.with_data(|session, data| session.measure(job, settings, data, &mut measured))
        });
        outcome.spent.measure += started.elapsed().as_secs_f64();
        timed?;
        let least = settings.least_time;
        let device = self.device.info();
        let doubt = measured.suspect.take().or_else(|| measured.too_fast(least));
        measured.suspect = doubt.or_else(|| impossible(outcome.ops, &measured.times(), device));
        outcome.launches -= measured.left_out.min(outcome.launches);
        self.remember(job.case, measured.judged());
        Ok(measured)
    }

    /// Checks over all kinds of data, and takes the times that are taken once.
    fn verify_before(
        &mut self,
        job: &ReadyCase<'_>,
        settings: &Settings,
        spent: &mut Spent,
    ) -> Result<Measured, Stop> {
        let started = Instant::now();
        self.with_data(|_, data| data.demand_work(job))?;
        job.family.companions(job.case, &job.plan, &self.device.info().target).map_err(|refusal| {
            Stop::failed(format!(
                "it runs at none of the edge sizes that it is checked at ({refusal}): change what refuses them, or write \
                 sizes = \"only\" into its file if no other size is meant"
            ))
        })?;
        // The row's result is that of the data that were asked for: those of timed runs differ a little.
        let when = "before timing";
        let judged = match is_preliminary(job, settings) {
            true => {
                let judged =
                    self.with_data(|session, data| session.verify_once(job, data, when))?;
                self.verify_exact(job, &timed_exact_data(job))?;
                judged
            }
            false => {
                self.verify_companions(job)?;
                self.verify_seeds(job, &timed_exact_data(job), when)?
            }
        };
        let mut measured = Measured {
            clock: settings.clock,
            ..judged
        };
        measured.left_out = self.left_out.len() as u64;
        spent.verify = started.elapsed().as_secs_f64();
        let started = Instant::now();
        // Not before the first launch, at which some drivers still compile.
        if settings.candidate.is_none() {
            self.ends_to_ends(job, settings, &mut measured)?;
            measured.host_tail = self.host_tail(job);
        }
        self.note_build(job.case, &mut measured)?;
        spent.measure = started.elapsed().as_secs_f64();
        Ok(measured)
    }

    /// For a cold cache: copies that together with the original are twice the size of any cache in sight.
    fn rotation(
        &mut self,
        job: &ReadyCase<'_>,
        cache: Cache,
        bound: &BoundPlan,
    ) -> Result<Vec<BoundPlan>, Stop> {
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
        let share = if set < 4 * SHARED_BELOW as u64 {
            0
        } else {
            SHARED_BELOW
        };
        for _ in 1..sets {
            copies.push(bound.copy(&mut *self.device, share)?);
        }
        Ok(copies)
    }

    /// Makes the canary, unless this session has one.
    pub fn ready_gauge(&mut self, settings: &Settings) -> Result<(), Stop> {
        if self.gauge.is_none() {
            self.gauge = Gauge::new(&mut *self.device, &self.sources, settings)?;
        }
        Ok(())
    }

    /// Times over the data, with proof that each run works, and judges what the last run left.
    fn measure(
        &mut self,
        job: &ReadyCase<'_>,
        settings: &Settings,
        data: &mut Data,
        measured: &mut Measured,
    ) -> Result<(), Stop> {
        let bound = self.bind(job, &data.device)?;
        let copies = self.rotation(job, settings.cache, &bound)?;
        let bindings: &Vec<&BoundPlan> = &std::iter::once(&bound).chain(&copies).collect();
        let device = &mut *self.device;
        let sets: Vec<Vec<Launch>> = bindings.iter().map(|b| b.launches()).collect();
        let timed: Vec<bool> = job.plan.passes.iter().map(|p| p.timed).collect();
        // What prepares the data is launched apart, so that no clock counts it.
        let before = timed.iter().position(|&timed| timed).unwrap_or(0);
        let all: Vec<Launch> = sets
            .iter()
            .flat_map(|launches| &launches[before..])
            .cloned()
            .collect();
        let watched: Vec<Watched<'_>> = bindings.iter().map(|bound| (job, *bound)).collect();
        let mut witness = Witness::new(device, data, &watched)?;
        let mut preparations = Vec::new();
        let mut left_out = measured.left_out;
        let mut run_one = |device: &mut dyn Device,
                           witness: &mut Witness<'_>,
                           i: usize|
         -> Result<Sample, Stop> {
            let set = i % sets.len();
            let (preparation, launches) = sets[set].split_at(before);
            witness.arm(device, vec![set])?;
            if before > 0 {
                preparations.extend(clock::span(&device.run(job.program, preparation)?));
            }
            Ok(match settings.clock {
                Clock::Wall => Sample {
                    event: None,
                    wall: device.batch(job.program, launches, 1)?,
                },
                _ => {
                    let timing = device.run(job.program, launches)?;
                    left_out = timing.left_out.len() as u64;
                    clock::sample(&timing, &timed[before..])
                }
            })
        };
        let batch = |device: &mut dyn Device,
                     witness: &mut Witness<'_>,
                     size: usize|
         -> Result<f64, Stop> {
            witness.arm(device, (0..sets.len()).collect())?;
            for launches in sets.iter().filter(|_| before > 0) {
                device.run(job.program, &launches[..before])?;
            }
            // What a kernel changes is prepared for one run alone.
            let repeat = if job.plan.restored {
                1
            } else {
                size.div_ceil(sets.len())
            };
            let seconds = device.batch(job.program, &all, repeat)? / (repeat * sets.len()) as f64;
            // What launches behind the first leave is what that left. One more shows whether they still work, with the
            // intermediate results in which a kernel may have counted them.
            for (set, launches) in bindings.iter().zip(&sets).filter(|_| repeat > 1) {
                set.poison_outputs(device)?;
                device.run(job.program, launches)?;
            }
            Ok(seconds)
        };
        // Of launches whose kernel takes so many seconds. A short batch goes first, as to enqueue one can take far longer.
        let size_of = |device: &mut dyn Device,
                       witness: &mut Witness<'_>,
                       seconds: f64|
         -> Result<usize, Stop> {
            match batch_size(seconds) {
                SHORTEST_BATCH => Ok(SHORTEST_BATCH),
                _ => Ok(batch_size(
                    batch(device, witness, SHORTEST_BATCH)?.max(seconds),
                )),
            }
        };
        // How long a launch takes of which it is known that it worked.
        let mut alone = f64::INFINITY;
        let mut size = 0;
        if settings.clock == Clock::Batch {
            for i in 0..ALONE {
                let sample = run_one(device, &mut witness, i)?;
                alone = alone.min(sample.event.unwrap_or(sample.wall));
            }
            size = size_of(device, &mut witness, alone)?;
        }
        let gauge = self.gauge.as_mut();
        clock::watch(
            settings,
            device,
            gauge,
            measured,
            &mut |device, i| match settings.clock {
                Clock::Batch => Ok(Sample {
                    event: None,
                    wall: batch(device, &mut witness, size)?,
                }),
                _ => run_one(device, &mut witness, i),
            },
        )?;
        // What held up the first runs by themselves may not hold up others.
        if measured.idle_in_batch(alone).is_some() {
            for i in 0..ALONE {
                let sample = run_one(device, &mut witness, i)?;
                alone = alone.min(sample.event.unwrap_or(sample.wall));
            }
        }
        measured.left_out = left_out;
        measured.judge_events(settings);
        if measured.clock == Clock::Event {
            measured.preparation = stats::summarise(&preparations).map(|s| s.median);
        }
        let shortest = measured.times().into_iter().fold(f64::INFINITY, f64::min);
        if settings.clock != Clock::Batch && shortest < SHORT_S && job.again.is_none() {
            let size = size_of(device, &mut witness, shortest)?;
            measured.take_batch(batch(device, &mut witness, size)?);
        }
        witness.end(device)?;
        measured.suspect = measured.idle_in_batch(alone);
        Ok(())
    }

    /// Seconds that the host takes to add its tail, if the plan leaves it one: the median of several times.
    fn host_tail(&self, job: &ReadyCase<'_>) -> Option<f64> {
        const TIMES: usize = 15;
        job.plan.host_tail?;
        let tails = tails(&job.plan, &self.data.as_ref()?.host);
        let times: Vec<f64> = (0..TIMES)
            .map(|_| {
                let none = Array::zeros(job.case.dtype, 0);
                let started = Instant::now();
                std::hint::black_box(job.family.problem.finish(
                    job.case,
                    none,
                    std::hint::black_box(&tails),
                ));
                started.elapsed().as_secs_f64()
            })
            .collect();
        stats::summarise(&times).map(|s| s.median)
    }

    /// Runs from end to end, once, and again while that takes no more than a fifth of what sampling may.
    fn ends_to_ends(
        &mut self,
        job: &ReadyCase<'_>,
        settings: &Settings,
        measured: &mut Measured,
    ) -> Result<(), Stop> {
        const MOST: usize = 3;
        let mut whole = Vec::new();
        let mut host = Vec::new();
        while whole.is_empty()
            || (whole.len() < MOST && whole.iter().sum::<f64>() < settings.timeout / 5.0)
        {
            let [seconds, of_host] =
                self.with_data(|session, data| session.end_to_end(job, data))?;
            whole.push(seconds);
            host.push(of_host);
        }
        self.load(job)?;
        let times = stats::summarise(&whole);
        measured.end_to_end = times.map(|t| t.median);
        measured.end_to_end_noise = times
            .filter(|t| t.runs > 1)
            .and_then(|t| stats::ratio(t.max - t.min, t.median));
        measured.host_part = stats::summarise(&host)
            .filter(|_| adds_on_host(job))
            .map(|h| h.median);
        Ok(())
    }

    /// From nothing to the result: allocation, inputs to the device, kernels, output to the host and the host's part. Nothing
    /// is left on the device, and nothing is fenced: guard zones are no part of the work. The seconds of all of it, and those of
    /// the host's part of the result.
    fn end_to_end(&mut self, job: &ReadyCase<'_>, data: &mut Data) -> Result<[f64; 2], Stop> {
        data.device.clear();
        let device = &mut *self.device;
        device.free_gone();
        let started = Instant::now();
        let inputs = Fence::NONE.upload(device, &data.host)?;
        let bound = BoundPlan::new(device, Fence::NONE, &job.plan, &inputs)?;
        device.batch(job.program, &bound.launches(), 1)?;
        let output = bound.output(device)?;
        drop(bound);
        device.free_gone();
        let finishing = Instant::now();
        let result = job
            .family
            .problem
            .finish(job.case, output, &tails(&job.plan, &data.host));
        let seconds = [started, finishing].map(|begin| begin.elapsed().as_secs_f64());
        // Nothing was poisoned, so that what lies between the rows of a matrix can be anything.
        if job
            .family
            .problem
            .movement(job.case)
            .is_none_or(|m: Movement| m.to_pitch <= m.output_columns())
        {
            data.judge(
                &result,
                job.family,
                job.case,
                job.plan.depth,
                "in the run from end to end",
            )?;
        }
        Ok(seconds)
    }
    /// Runs a rung once over these inputs, which are of the case's type and of the lengths that its problem asks for.
    /// The result is not compared with a reference; that every element was written, and nothing behind the buffers'
    /// ends, is checked.
    pub fn compute(&mut self, case: &Case, inputs: &[Array]) -> Result<Computed, Stop> {
        let registry = self.registry.clone();
        let job = self.ready(registry.find(&case.family)?, case)?;
        let started = Instant::now();
        let fence = Fence::of(&*self.device, job.family, case);
        let uploaded = fence.upload(&mut *self.device, inputs)?;
        let bound = BoundPlan::new(&mut *self.device, fence, &job.plan, &uploaded)?;
        let timing = self.run_poisoned(&job, &bound)?;
        let output = finished(&mut *self.device, &job, &bound, &tails(&job.plan, inputs));
        // A driver may compile between launches.
        let ns: u64 = timing
            .stamps
            .iter()
            .map(|stamps| stamps.end.saturating_sub(stamps.start))
            .sum();
        let kernels = ns as f64 * 1e-9;
        let is_known = ns >= SHORTEST_NS && kernels <= timing.wall_s;
        Ok(Computed {
            output: output.map_err(|stop| stop.after(true))?,
            seconds: started.elapsed().as_secs_f64(),
            launches: if is_known { kernels } else { timing.wall_s },
        })
    }
}

/// What a rung made of its inputs.
#[derive(Clone, Debug)]
pub struct Computed {
    pub output: Array,
    /// Seconds from nothing to the result: allocation, inputs to the device, kernels, output to the host.
    pub seconds: f64,
    /// Those of them in which kernels ran, as the device says, or else from the first launch until the last had ended.
    pub launches: f64,
}

/// Whether the case is not checked thoroughly yet.
fn is_preliminary(job: &ReadyCase<'_>, settings: &Settings) -> bool {
    job.family.described().is_some()
        && settings
            .candidate
            .is_some_and(|candidate| candidate.is_preliminary)
}

/// Whether the host makes the result of several partial ones, or of elements that were left to it.
fn adds_on_host(job: &ReadyCase<'_>) -> bool {
    job.plan.host_tail.is_some()
        || job.plan.output_len() != job.family.problem.result(job.case.shape, &job.case.params)
}

/// Why no device can do so many operations in so little time, if none can.
fn impossible(ops: f64, times: &[f64], device: &DeviceInfo) -> Option<String> {
    /// Four times what the widest compute units do in a cycle; clocks may rise above what devices say of them.
    const MOST_IN_A_CYCLE: f64 = 1024.0;
    /// Of devices that do not say theirs: above that of any.
    const CLOCK_MHZ: u32 = 10_000;
    let mhz = if device.clock_mhz == 0 {
        CLOCK_MHZ
    } else {
        device.clock_mhz
    };
    let cycles = f64::from(mhz) * 1e6 * f64::from(device.target.compute_units);
    let most = cycles * MOST_IN_A_CYCLE;
    let median = stats::summarise(times)?.median;
    (ops > most * median).then(|| {
        format!(
            "{:.0} operations in {:.1} us are more than {MOST_IN_A_CYCLE} a cycle on each compute unit of this device: \
             the work was not done",
            ops,
            median * 1e6
        )
    })
}

/// How long a batch of short launches should take, in seconds, and the launches that it has at least and at most.
const BATCH_S: f64 = 5e-3;
const SHORTEST_BATCH: usize = 10;
const LONGEST_BATCH: usize = 2000;

/// How many launches make a batch, if one after the other each takes about so many seconds.
fn batch_size(seconds: f64) -> usize {
    ((BATCH_S / seconds.max(1e-7)) as usize).clamp(SHORTEST_BATCH, LONGEST_BATCH)
}

//! Whether times can be believed: samples that are possible, a driver's clock that keeps time, and a device that is as fast
//! as it can be.
//!
//! When a session begins, batches of a short kernel and of one that does four times as much are timed by the driver's events
//! and by the host's clock. What launches cost is in either batch, so that it drops out of the difference: by that much the
//! longer batch took longer, and an event clock that keeps time says so too. One that is constant, scaled or random does not,
//! whatever the kernels are.
//!
//! The kernel is the canary, fixed arithmetic whose time shows drift of the device's clock and a neighbour's load, on any
//! vendor's device and without privileges. It runs between the warm-up of a case and its first sample, unless it just ran, now
//! and then meanwhile, and afterwards. What counts is the slowest of these readings over the fastest that the session has
//! seen so far. A load that lasts the whole session looks like a slow device. A faster reading later on does not mend the rows
//! before it.

use crate::device::{BuildUnit, Device, DeviceResult, Stamps, Timing};
use gpulab_cpu::canary::{CHAINS, chain};
use gpulab_kernels::Sources;
use gpulab_model::outcome::{Canary, Measured, SHORTEST_NS, Sample, Settings, Stop};
use gpulab_model::plan::{Arg, BufferId, Launch};
use gpulab_model::stats::{self, Summary};
use std::time::{Duration, Instant};

/// The sample that one run's times make: the event time from the start of the first timed launch to the
/// end of the last, unless it is missing or impossible. `timed` says of each launch whether it counts.
pub fn sample(timing: &Timing, timed: &[bool]) -> Sample {
    Sample {
        event: event_seconds(timing, timed),
        wall: timing.wall_s,
    }
}

/// Seconds from the start of the first launch to the end of the last; none without times.
pub fn span(timing: &Timing) -> Option<f64> {
    let ns = timing
        .stamps
        .last()?
        .end
        .checked_sub(timing.stamps.first()?.start)?;
    Some(ns as f64 * 1e-9)
}

/// Seconds from when the first launch was put in its queue to its start, where these follow each other.
pub fn delay(timing: &Timing) -> Option<f64> {
    let stamps = timing.stamps.first()?;
    let ns = stamps.start.checked_sub(stamps.queued)?;
    let seconds = ns as f64 * 1e-9;
    (ns >= SHORTEST_NS && seconds <= timing.wall_s).then_some(seconds)
}

fn event_seconds(timing: &Timing, timed: &[bool]) -> Option<f64> {
    if timing.stamps.len() != timed.len() {
        return None;
    }
    let mut counted = timing
        .stamps
        .iter()
        .zip(timed)
        .filter(|(_, t)| **t)
        .map(|(s, _)| s);
    let first = counted.next()?;
    let last = counted.next_back().unwrap_or(first);
    let ns = last.end.checked_sub(first.start)?;
    let seconds = ns as f64 * 1e-9;
    (are_in_order(&timing.stamps) && ns >= SHORTEST_NS && seconds <= timing.wall_s)
        .then_some(seconds)
}

fn are_in_order(stamps: &[Stamps]) -> bool {
    stamps
        .iter()
        .all(|s| s.queued <= s.submit && s.submit <= s.start && s.start < s.end)
}

/// Runs longer than this, in seconds, need no more than one to warm up.
const LONG_S: f64 = 0.5;

/// Samples after which a search may drop a candidate.
const FIRST: usize = 3;

/// Warms up, then samples until the spread is small, the time is up or there are enough; says which.
/// `run` is given the number of the run.
pub fn sampled(
    settings: &Settings,
    run: &mut dyn FnMut(usize) -> Result<Sample, Stop>,
) -> Result<(Vec<Sample>, &'static str), Stop> {
    warm_up(settings, run)?;
    take(settings, run)
}

fn warm_up(
    settings: &Settings,
    run: &mut dyn FnMut(usize) -> Result<Sample, Stop>,
) -> Result<(), Stop> {
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

/// The samples, as [`sampled`] takes them after its warm-up.
fn take(
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
        let fewest = if elapsed >= 10.0 * settings.timeout.max(LONG_S) {
            1
        } else {
            settings.min_runs.min(3)
        };
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
    let most = settings
        .candidate
        .and_then(|candidate| candidate.give_up_above);
    summary(samples)
        .zip(most)
        .is_some_and(|(times, most)| times.median > most)
}

/// Name of the kernel and of its file in `cl/common/`.
const KERNEL: &str = "canary";

/// Most runs of a reading, of which the fastest counts: single ones are disturbed on any machine.
const RUNS: usize = 3;

/// Times the fastest reading that one of an undisturbed device may take: then no more of its runs are needed.
const UNDISTURBED: f64 = 1.02;

/// So long a reading holds, also for the case that begins next.
const FRESH: Duration = Duration::from_millis(20);

/// What the session begins with, as all other readings are compared with it: so many times a run of so many times the
/// steps, which raises the clock and lets the system spread a CPU driver's threads, and so many runs. Once, where the cases
/// themselves have fewer samples than such a round.
const FIRST_ROUNDS: usize = 4;
const FIRST_TIMES: u32 = 40;
const FIRST_RUNS: usize = 25;

/// Seconds that a run takes at least: many times a launch and a timer's step, and yet little beside any case. A CPU's
/// threads wake up some 20 us late and not always alike.
const LEAST_S: f64 = 100e-6;
const LEAST_CPU_S: f64 = 500e-6;

const MOST_STEPS: u32 = 1 << 20;

/// Time between readings while a case is sampled.
const INTERVAL: Duration = Duration::from_secs(1);

/// Launches of a batch that both clocks time, and how many times as much the longer kernel does.
const BATCH: usize = 4;
const LONGER: u32 = 4;

/// Pairs of batches of a trial, and how many of them may disagree: a loaded machine disturbs single ones.
const PAIRS: usize = 9;
const MAY_DISAGREE: usize = 1;

/// A pair agrees if the one difference is at most so many times the other, and a trial if the middle one is at most this.
const PAIR_FACTOR: f64 = 3.0;
const MIDDLE_FACTOR: f64 = 1.5;

/// Trials of which one must agree, each of kernels that are four times as long, so that disturbances matter less.
const TRIALS: u32 = 3;

/// Steps of the shortest kernel of a batch.
const FIRST_STEPS: u32 = 64;

/// The canary of a session: its program, its number of steps, and its fastest reading.
pub struct Gauge {
    unit: BuildUnit,
    launch: Launch,
    /// Why the driver's event times are not believed, if so: then the canary's are the host's clock's, as all others are.
    distrust: Option<String>,
    /// Steps of an item.
    steps: u32,
    /// In seconds.
    fastest: f64,
    /// The last reading, in seconds, and when it was taken.
    last: Option<(f64, Instant)>,
    /// The slowest reading of the case at hand, in seconds; 0 before the first.
    slowest: f64,
}

impl Gauge {
    /// Whether the driver's event clock keeps time.
    pub fn trusts_events(&self) -> bool {
        self.distrust.is_none()
    }

    /// Builds the kernel, chooses its number of steps once and for all, checks its result and takes the first reading.
    /// None under a simulator, whose time says nothing of any clock.
    pub fn new(
        device: &mut dyn Device,
        sources: &Sources,
        settings: &Settings,
    ) -> Result<Option<Gauge>, Stop> {
        if device.info().is_simulator() {
            return Ok(None);
        }
        let path = format!("runner/{KERNEL}.cl");
        let text = sources.assemble(&path)?;
        let unit = BuildUnit {
            path,
            text,
            defines: Vec::new(),
            kernels: vec![KERNEL.into()],
        };
        let target = &device.info().target;
        let wg = target.max_wg.min(64);
        // Several groups for each unit, so that none is left without.
        let items = 4 * wg * target.compute_units.max(1) as usize;
        let buffer = device.alloc(4 * items)?;
        let launch = Launch::linear(KERNEL, items, wg, Vec::new());
        let mut gauge = Gauge {
            unit,
            launch,
            distrust: None,
            steps: 0,
            fastest: f64::INFINITY,
            last: None,
            slowest: 0.0,
        };
        // What it launches is no case's: that a device refuses it is a failure.
        let rounds = if (settings.max_runs as usize) < FIRST_RUNS {
            1
        } else {
            FIRST_ROUNDS
        };
        gauge
            .calibrate(device, buffer, rounds)
            .map_err(|stop| stop.after(true))?;
        Ok(Some(gauge))
    }

    fn calibrate(
        &mut self,
        device: &mut dyn Device,
        buffer: BufferId,
        rounds: usize,
    ) -> Result<(), Stop> {
        let least = if device.info().target.gpu {
            LEAST_S
        } else {
            LEAST_CPU_S
        };
        let mut steps = 64;
        self.set_steps(buffer, steps);
        // Some drivers still compile at the first launch.
        self.time(device)?;
        self.distrust = distrust(least, &mut |steps| {
            self.set_steps(buffer, steps);
            let program = device.build(&self.unit)?;
            Ok(clocked(
                &device.run(program, &vec![self.launch.clone(); BATCH])?,
            ))
        })?;
        self.set_steps(buffer, steps);
        loop {
            let longer = least / self.fastest(device, RUNS)?;
            if longer <= 1.0 || steps >= MOST_STEPS {
                break;
            }
            steps = (f64::from(steps) * longer.clamp(1.1, 2.0)).ceil() as u32;
            self.set_steps(buffer, steps);
        }
        self.check(device, buffer, steps)?;
        self.steps = steps;
        for _ in 0..rounds {
            self.set_steps(buffer, steps * FIRST_TIMES);
            self.time(device)?;
            self.set_steps(buffer, steps);
            self.fastest = self.fastest.min(self.fastest(device, FIRST_RUNS)?);
        }
        Ok(())
    }

    fn set_steps(&mut self, buffer: BufferId, steps: u32) {
        self.launch.args = vec![Arg::Buffer(buffer), Arg::Uint(steps)];
    }

    fn check(&self, device: &mut dyn Device, buffer: BufferId, steps: u32) -> Result<(), Stop> {
        let chains: Vec<u32> = (0..CHAINS).map(|id| chain(id, steps)).collect();
        let mut bytes = vec![0; 4 * self.launch.global[0]];
        device.read(buffer, 0, &mut bytes)?;
        let got = bytes
            .chunks_exact(4)
            .map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]));
        match got
            .zip(chains.iter().cycle())
            .position(|(got, want)| got != *want)
        {
            None => Ok(()),
            Some(item) => Err(Stop::failed(format!(
                "{}: item {item} is not what {steps} steps give: the driver computes integers wrongly",
                self.unit.path
            ))),
        }
    }

    /// The shortest of several runs, in seconds; infinite if none has a time.
    fn fastest(&self, device: &mut dyn Device, runs: usize) -> DeviceResult<f64> {
        (0..runs).try_fold(f64::INFINITY, |least, _| {
            Ok(least.min(self.seconds(device)?))
        })
    }

    /// Takes a reading: the shortest of as few runs as show that nothing disturbs it.
    fn read(&mut self, device: &mut dyn Device) -> DeviceResult<()> {
        let mut least = f64::INFINITY;
        for _ in 0..RUNS {
            least = least.min(self.seconds(device)?);
            if self.is_undisturbed(least) {
                break;
            }
        }
        self.last = Some((least, Instant::now()));
        self.fastest = self.fastest.min(least);
        // Without a single time there is nothing to compare.
        if least.is_finite() {
            self.slowest = self.slowest.max(least);
        }
        Ok(())
    }

    /// Takes the reading before the first sample, unless one still holds: of an undisturbed device as if there were none, as a
    /// faster one may follow.
    fn begin(&mut self, device: &mut dyn Device) -> DeviceResult<()> {
        self.slowest = 0.0;
        match self.last.filter(|(_, at)| at.elapsed() < FRESH) {
            Some((seconds, _)) if self.is_undisturbed(seconds) => Ok(()),
            Some((seconds, _)) => {
                self.slowest = seconds;
                Ok(())
            }
            None => self.read(device),
        }
    }

    /// Takes another reading if the last one is long ago.
    fn glance(&mut self, device: &mut dyn Device) -> DeviceResult<()> {
        if self.last.is_some_and(|(_, at)| at.elapsed() >= INTERVAL) {
            self.read(device)
        } else {
            Ok(())
        }
    }

    /// Takes the last reading and says what all of them came to.
    fn end(&mut self, device: &mut dyn Device) -> DeviceResult<Option<Canary>> {
        self.read(device)?;
        let Gauge {
            slowest,
            fastest,
            steps,
            ..
        } = *self;
        Ok((slowest > 0.0).then(|| Canary {
            ratio: slowest / fastest,
            fastest: fastest / f64::from(steps) * 1e6,
        }))
    }

    fn is_undisturbed(&self, seconds: f64) -> bool {
        seconds <= UNDISTURBED * self.fastest
    }

    /// One run, in seconds; infinite if it has no time.
    fn seconds(&self, device: &mut dyn Device) -> DeviceResult<f64> {
        let sample = self.time(device)?;
        Ok(if self.distrust.is_none() {
            sample.event.unwrap_or(f64::INFINITY)
        } else {
            sample.wall
        })
    }

    fn time(&self, device: &mut dyn Device) -> DeviceResult<Sample> {
        // Nothing new, unless so many programs were built since that this one had to go.
        let program = device.build(&self.unit)?;
        Ok(sample(
            &device.run(program, std::slice::from_ref(&self.launch))?,
            &[true],
        ))
    }
}

/// Warms up and samples as the settings say, listens to the canary from the end of the warm-up on, and notes what came of it.
/// `run` is given the number of the run.
pub fn watch(
    settings: &Settings,
    device: &mut dyn Device,
    mut gauge: Option<&mut Gauge>,
    measured: &mut Measured,
    run: &mut dyn FnMut(&mut dyn Device, usize) -> Result<Sample, Stop>,
) -> Result<(), Stop> {
    measured.distrust = gauge.as_ref().and_then(|gauge| gauge.distrust.clone());
    let is_trusted = measured.distrust.is_none();
    let mut run = |device: &mut dyn Device, i| {
        let sample = run(device, i)?;
        Ok(Sample {
            event: sample.event.filter(|_| is_trusted),
            ..sample
        })
    };
    warm_up(settings, &mut |i| run(device, i))?;
    // In the state in which the device is for the first sample.
    gauge.as_mut().map_or(Ok(()), |gauge| gauge.begin(device))?;
    let (samples, stopped_by) = take(settings, &mut |i| {
        gauge
            .as_mut()
            .map_or(Ok(()), |gauge| gauge.glance(device))?;
        run(device, i)
    })?;
    measured.samples = samples;
    measured.stopped_by = stopped_by.into();
    measured.canary = gauge.map_or(Ok(None), |gauge| gauge.end(device))?;
    Ok(())
}

/// A batch by both clocks; the events' time is none if one of them is impossible.
fn clocked(timing: &Timing) -> Sample {
    let is_possible = timing.stamps.len() == BATCH && are_in_order(&timing.stamps);
    let seconds = timing
        .stamps
        .iter()
        .map(|s| s.end.saturating_sub(s.start) as f64 * 1e-9)
        .sum::<f64>();
    Sample {
        event: (is_possible && seconds <= timing.wall_s).then_some(seconds),
        wall: timing.wall_s,
    }
}

/// The events' time over the host's, of by how much a longer batch took longer.
fn ratio(pair: &Sample) -> Option<f64> {
    pair.event
        .map(|event| event / pair.wall)
        .filter(|ratio| ratio.is_finite() && pair.wall > 0.0)
}

/// Why the device's event times cannot be believed; none if they can. `batch` runs a batch of kernels of so many steps,
/// and `least` is how many seconds a kernel takes at least that is told from a launch.
fn distrust(
    least: f64,
    batch: &mut dyn FnMut(u32) -> DeviceResult<Sample>,
) -> DeviceResult<Option<String>> {
    // Steps of a short kernel to which a longer one adds clearly more than launches cost, by the host's clock.
    let mut steps = FIRST_STEPS;
    let mut short = batch(steps)?.wall.min(batch(steps)?.wall);
    while steps < MOST_STEPS / LONGER {
        let long = batch(steps * LONGER)?.wall.min(batch(steps * LONGER)?.wall);
        if long - short >= least * BATCH as f64 && long >= 2.0 * short {
            break;
        }
        steps *= LONGER;
        short = long;
    }
    let mut pairs = Vec::new();
    for _ in 0..TRIALS {
        pairs = trial(steps, batch)?;
        let ratios: Vec<f64> = pairs.iter().filter_map(ratio).collect();
        let middle = stats::summarise(&ratios).map_or(0.0, |summary| summary.median);
        if (1.0 / MIDDLE_FACTOR..=MIDDLE_FACTOR).contains(&middle)
            && disagreeing(&pairs) <= MAY_DISAGREE
        {
            return Ok(None);
        }
        steps = (steps * LONGER).min(MOST_STEPS / LONGER);
    }
    let impossible = pairs.iter().filter(|pair| pair.event.is_none()).count();
    let why = if 2 * impossible > pairs.len() {
        "its times are missing, reversed or longer than the host waited".to_owned()
    } else {
        let events = pairs
            .iter()
            .filter_map(|pair| pair.event)
            .collect::<Vec<_>>();
        let walls = pairs.iter().map(|pair| pair.wall).collect::<Vec<_>>();
        let [events, wall] = [events, walls]
            .map(|seconds| stats::summarise(&seconds).map_or(0.0, |summary| summary.median * 1e6));
        format!(
            "kernels that took {wall:.0} us longer by the host's clock took {events:.0} us longer by its events"
        )
    };
    Ok(Some(format!(
        "the driver's event clock is not trusted in this session: {why}"
    )))
}

fn disagreeing(pairs: &[Sample]) -> usize {
    let agree = pairs
        .iter()
        .filter_map(ratio)
        .filter(|ratio| (1.0 / PAIR_FACTOR..=PAIR_FACTOR).contains(ratio));
    pairs.len() - agree.count()
}

fn trial(
    steps: u32,
    batch: &mut dyn FnMut(u32) -> DeviceResult<Sample>,
) -> DeviceResult<Vec<Sample>> {
    let mut pairs: Vec<Sample> = Vec::new();
    while pairs.len() < PAIRS && disagreeing(&pairs) <= MAY_DISAGREE {
        let short = batch(steps)?;
        let long = batch(steps * LONGER)?;
        let event = long
            .event
            .zip(short.event)
            .map(|(long, short)| long - short);
        pairs.push(Sample {
            event,
            wall: long.wall - short.wall,
        });
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_model::outcome::{Candidate, objection};

    fn timing(stamps: &[(u64, u64, u64, u64)], wall_s: f64) -> Timing {
        let stamps = stamps.iter().map(|&(queued, submit, start, end)| Stamps {
            queued,
            submit,
            start,
            end,
        });
        Timing {
            wall_s,
            stamps: stamps.collect(),
            left_out: Vec::new(),
        }
    }

    #[test]
    fn an_event_time_runs_from_the_first_start_to_the_last_end() {
        let t = timing(&[(0, 1, 100, 200), (1, 2, 250, 400)], 1e-6);
        approx::assert_relative_eq!(sample(&t, &[true; 2]).event.unwrap(), 300e-9);
        // The first launch is not timed.
        approx::assert_relative_eq!(sample(&t, &[false, true]).event.unwrap(), 150e-9);
        approx::assert_relative_eq!(span(&t).unwrap(), 300e-9);
        assert_eq!(span(&timing(&[], 1.0)), None);
    }

    #[test]
    fn impossible_event_times_are_dropped() {
        for (stamps, wall, what) in [
            (vec![(0, 1, 200, 100)], 1.0, "reversed"),
            (vec![(0, 1, 100, 100)], 1.0, "zero"),
            (vec![(0, 1, 100, 101)], 1.0, "one nanosecond"),
            (vec![(0, 1, 100, 5_000)], 1e-6, "longer than the wall time"),
            (
                vec![(9, 1, 100, 5_000)],
                1.0,
                "submitted before it was queued",
            ),
            (vec![], 1.0, "missing"),
        ] {
            assert_eq!(
                sample(&timing(&stamps, wall), &[true]).event,
                None,
                "{what}"
            );
        }
        assert_eq!(
            sample(&timing(&[(0, 1, 100, 5_000)], 1.0), &[true; 2]).event,
            None,
            "one of two launches"
        );
    }

    fn samples(events: &[Option<f64>]) -> Vec<Sample> {
        events
            .iter()
            .map(|&event| Sample { event, wall: 1.0 })
            .collect()
    }

    #[test]
    fn equal_missing_or_too_fast_times_are_objected_to_and_the_least_is_believed() {
        assert_eq!(
            objection(&samples(&[Some(1e-5), Some(2e-5), Some(1e-5)]), None),
            None
        );
        assert!(
            objection(&samples(&[Some(1e-5); 8]), None)
                .unwrap()
                .contains("the same")
        );
        assert!(
            objection(&samples(&[Some(1e-5), None, Some(2e-5)]), None)
                .unwrap()
                .starts_with("1 of 3")
        );
        assert!(
            objection(
                &samples(&[Some(1e-5), Some(2e-5), Some(3e-5)]),
                Some(1.5e-5)
            )
            .unwrap()
            .contains("ceiling")
        );
        let events = samples(&[Some(1e-5), Some(2e-5)]);
        assert_eq!(objection(&events, Some(1e-5)), None);
        assert_eq!(objection(&events, Some(0.999e-5)), None);
        assert!(
            objection(&events, Some(1.001e-5))
                .unwrap()
                .contains("shorter than the ceiling allows")
        );
    }

    #[test]
    fn belief_begins_at_50_ns_and_ends_at_the_wall_time() {
        let event = |ns: u64, wall_ns: f64| {
            sample(&timing(&[(0, 1, 100, 100 + ns)], wall_ns * 1e-9), &[true]).event
        };
        assert_eq!(event(49, 1e9), None);
        approx::assert_relative_eq!(event(50, 1e9).unwrap(), 50e-9);
        assert_eq!(event(5_000, 4_999.0), None, "just above the wall time");
        assert!(event(5_000, 5_001.0).is_some(), "just below");
        // All four stamps may coincide up to the start; the end comes after it.
        assert!(
            sample(&timing(&[(7, 7, 7, 107)], 1.0), &[true])
                .event
                .is_some()
        );
        assert_eq!(sample(&timing(&[(8, 7, 7, 107)], 1.0), &[true]).event, None);
        assert_eq!(sample(&timing(&[(0, 8, 7, 107)], 1.0), &[true]).event, None);
    }

    /// Kernels of a nanosecond a step, launched at this cost, on a host that is now and then disturbed. `event` turns a
    /// kernel's nanoseconds into what the driver says.
    fn judged(
        launch_ns: u64,
        disturbed: impl Fn(usize) -> u64,
        mut event: impl FnMut(u64) -> u64,
    ) -> Option<String> {
        let mut count = 0;
        let mut batch = |steps: u32| {
            assert!(steps <= MOST_STEPS);
            count += 1;
            let ns = u64::from(steps) * 10;
            let mut stamp = |_| {
                let length = event(ns);
                Stamps {
                    queued: 0,
                    submit: 1,
                    start: 100,
                    end: 100 + length,
                }
            };
            let stamps = (0..BATCH).map(&mut stamp).collect();
            let wall = BATCH as u64 * (ns + launch_ns) + disturbed(count) + 1000;
            Ok(clocked(&Timing {
                wall_s: wall as f64 * 1e-9,
                stamps,
                left_out: Vec::new(),
            }))
        };
        distrust(1e-4, &mut batch).unwrap()
    }

    /// A source of numbers without rhyme or reason.
    fn random(seed: u64) -> impl FnMut() -> u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state >> 11
        }
    }

    #[test]
    fn honest_clocks_are_believed_whatever_launches_cost_and_steps_they_have() {
        for launch_ns in [0, 5_000, 100_000, 2_000_000] {
            for step in [1, 32, 1_000] {
                assert_eq!(
                    judged(launch_ns, |_| 0, move |ns: u64| ns.div_ceil(step) * step),
                    None,
                    "{launch_ns} ns a launch, steps of {step} ns"
                );
            }
        }
        // A neighbour takes the host's core at times.
        assert_eq!(
            judged(20_000, |i| if i % 12 == 0 { 4_000_000 } else { 0 }, |ns| ns),
            None
        );
        assert_eq!(
            judged(20_000, |i| (i as u64 * 7919) % 300_000, |ns| ns),
            None
        );
    }

    #[test]
    fn constant_and_scaled_clocks_are_refused() {
        type Lie = fn(u64) -> u64;
        for launch_ns in [0, 20_000, 2_000_000] {
            let lies: [(&str, Lie); 9] = [
                ("1 ns", |_| 1),
                ("12 us", |_| 12_000),
                ("1 ms", |_| 1_000_000),
                ("x 0.001", |ns| ns / 1000),
                ("x 0.1", |ns| ns / 10),
                ("x 0.5", |ns| ns / 2),
                ("x 10", |ns| ns * 10),
                ("x 1000", |ns| ns * 1000),
                ("none", |_| 0),
            ];
            for (what, lie) in lies {
                let refused = judged(launch_ns, |_| 0, lie);
                assert!(refused.is_some(), "{what} at {launch_ns} ns a launch");
            }
        }
        let words = judged(20_000, |_| 0, |_| 12_000).unwrap();
        assert!(
            words.ends_with("us longer by the host's clock took 0 us longer by its events"),
            "{words}"
        );
        assert!(
            judged(0, |_| 0, |ns| ns * 10)
                .unwrap()
                .contains("longer than the host waited")
        );
    }

    #[test]
    fn random_clocks_are_refused() {
        let mut around_truth = 0;
        for seed in 1..=200 {
            let mut next = random(seed);
            let refused = judged(20_000, |_| 0, |_| 1 + next() % 3_000_000);
            assert!(refused.is_some(), "seed {seed}");
            // Up to twice as long, or nothing: right in the mean, so that now and then one looks like a disturbed machine.
            let mut next = random(seed);
            around_truth += usize::from(
                judged(20_000, |_| 0, |ns| ns * (next() % 2_000) / 1_000 + 1).is_none(),
            );
        }
        assert!(around_truth <= 20, "{around_truth} of 200");
    }

    fn settings() -> Settings {
        Settings {
            warmup: 2,
            max_runs: 100,
            min_time: 0.0,
            timeout: 10.0,
            ..Settings::default()
        }
    }

    fn run_on(times: impl Fn(usize) -> f64, settings: &Settings) -> (usize, &'static str, usize) {
        let mut calls = 0;
        let (samples, why) = sampled(settings, &mut |i| {
            calls += 1;
            Ok(Sample {
                event: Some(times(i)),
                wall: 1.0,
            })
        })
        .unwrap();
        (samples.len(), why, calls)
    }

    #[test]
    fn steady_times_end_early_and_noisy_ones_at_the_most_runs_the_time_limit_or_an_error() {
        assert_eq!(run_on(|_| 1e-3, &settings()), (10, "steady", 12));
        assert_eq!(
            run_on(|i| if i % 2 == 0 { 1e-3 } else { 2e-3 }, &settings()).1,
            "max-runs"
        );
        let result = sampled(&settings(), &mut |_| Err(Stop::failed("lost")));
        assert_eq!(result, Err(Stop::failed("lost")));
        let settings = Settings {
            timeout: 0.0,
            ..settings()
        };
        assert_eq!(
            run_on(|i| 1e-3 * (i + 1) as f64, &settings),
            (3, "timeout", 5)
        );
    }

    #[test]
    fn a_candidate_that_is_slower_than_asked_for_ends_after_its_first_samples() {
        let search = |give_up_above| Settings {
            candidate: Some(Candidate {
                give_up_above,
                is_preliminary: false,
            }),
            ..settings()
        };
        assert_eq!(run_on(|_| 1.6e-3, &search(Some(1.5e-3))), (3, "slower", 5));
        for enough in [Some(1.7e-3), None] {
            assert_eq!(
                run_on(|_| 1.6e-3, &search(enough)),
                (10, "steady", 12),
                "{enough:?}"
            );
        }
        // One slow run decides nothing.
        assert_eq!(
            run_on(|i| if i == 1 { 9e-3 } else { 1e-3 }, &search(Some(1.5e-3))).1,
            "steady"
        );
    }
}

//! The canary: a fixed arithmetic kernel whose time shows drift of the device's clock and a neighbour's load, on any
//! vendor's device and without privileges.
//!
//! It runs between the warm-up of a case and its first sample, unless it just ran, now and then meanwhile, and
//! afterwards. What counts is the slowest of these readings over the fastest that the session has seen so far. A load
//! that lasts the whole session looks like a slow device. A faster reading later on does not mend the rows before it.

use super::prelude::*;
use super::{clock, sampling, trust};
use gpulab_cpu::canary::{CHAINS, chain};
use gpulab_model::outcome::Canary;
use std::time::Duration;

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

/// The canary of a session: its program, its number of steps, and its fastest reading.
pub(super) struct Gauge {
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
}

impl Gauge {
    /// Builds the kernel, chooses its number of steps once and for all, checks its result and takes the first reading.
    /// None under a simulator, whose time says nothing of any clock.
    pub(super) fn new(device: &mut dyn Device, sources: &Sources, settings: &Settings) -> Result<Option<Gauge>, Stop> {
        if device.info().is_simulator() {
            return Ok(None);
        }
        let path = format!("runner/{KERNEL}.cl");
        let text = sources.assemble(&path)?;
        let unit = BuildUnit { path, text, defines: Vec::new(), kernels: vec![KERNEL.into()] };
        let target = &device.info().target;
        let wg = target.max_wg.min(64);
        // Several groups for each unit, so that none is left without.
        let items = 4 * wg * target.compute_units.max(1) as usize;
        let buffer = device.alloc(4 * items)?;
        let launch = Launch::linear(KERNEL, items, wg, Vec::new());
        let mut gauge = Gauge { unit, launch, distrust: None, steps: 0, fastest: f64::INFINITY, last: None };
        // What it launches is no case's: that a device refuses it is a failure.
        let rounds = if (settings.max_runs as usize) < FIRST_RUNS { 1 } else { FIRST_ROUNDS };
        let begun = gauge.calibrate(device, buffer, rounds).map_err(|stop| stop.after(true));
        if begun.is_err() {
            device.free(buffer);
        }
        begun.map(|()| Some(gauge))
    }

    fn calibrate(&mut self, device: &mut dyn Device, buffer: BufferId, rounds: usize) -> Result<(), Stop> {
        let least = if device.info().target.gpu { LEAST_S } else { LEAST_CPU_S };
        let mut steps = 64;
        self.set_steps(buffer, steps);
        // Some drivers still compile at the first launch.
        self.time(device)?;
        self.distrust = trust::objection(device, least, &mut |device, steps| {
            self.set_steps(buffer, steps);
            let program = device.build(&self.unit)?;
            device.run(program, &vec![self.launch.clone(); trust::BATCH])
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
        let got = bytes.chunks_exact(4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]));
        match got.zip(chains.iter().cycle()).position(|(got, want)| got != *want) {
            None => Ok(()),
            Some(item) => Err(Stop::failed(format!(
                "{}: item {item} is not what {steps} steps give: the driver computes integers wrongly",
                self.unit.path
            ))),
        }
    }

    /// The shortest of several runs, in seconds; infinite if none has a time.
    fn fastest(&self, device: &mut dyn Device, runs: usize) -> Result<f64, DeviceError> {
        (0..runs).try_fold(f64::INFINITY, |least, _| Ok(least.min(self.seconds(device)?)))
    }

    /// What the canary says now: the shortest of as few runs as show that nothing disturbs it, in seconds.
    fn read(&mut self, device: &mut dyn Device) -> Result<f64, DeviceError> {
        let mut least = f64::INFINITY;
        for _ in 0..RUNS {
            least = least.min(self.seconds(device)?);
            if self.is_undisturbed(least) {
                break;
            }
        }
        self.last = Some((least, Instant::now()));
        self.fastest = self.fastest.min(least);
        Ok(least)
    }

    /// The last reading in seconds, if it still holds: of an undisturbed device 0, as a faster one may follow.
    fn recent(&self) -> Option<f64> {
        let (seconds, _) = self.last.filter(|(_, at)| at.elapsed() < FRESH)?;
        Some(if self.is_undisturbed(seconds) { 0.0 } else { seconds })
    }

    fn is_undisturbed(&self, seconds: f64) -> bool {
        seconds <= UNDISTURBED * self.fastest
    }

    /// One run, in seconds; infinite if it has no time.
    fn seconds(&self, device: &mut dyn Device) -> Result<f64, DeviceError> {
        let sample = self.time(device)?;
        Ok(if self.distrust.is_none() { sample.event.unwrap_or(f64::INFINITY) } else { sample.wall })
    }

    fn time(&self, device: &mut dyn Device) -> Result<Sample, DeviceError> {
        // Nothing new, unless so many programs were built since that this one had to go.
        let program = device.build(&self.unit)?;
        Ok(clock::sample(&device.run(program, std::slice::from_ref(&self.launch))?, &[true]))
    }
}

/// The samples of a case, why there are no more of them, and what the canary showed meanwhile.
pub(super) struct Watched {
    pub(super) samples: Vec<Sample>,
    pub(super) stopped_by: &'static str,
    pub(super) canary: Option<Canary>,
    /// Why the driver's event times are not believed in this session, if so.
    pub(super) distrust: Option<String>,
}

impl Watched {
    /// Puts it into what is measured of the case.
    pub(super) fn enter(self, measured: &mut Measured) {
        measured.samples = self.samples;
        measured.stopped_by = self.stopped_by.into();
        measured.canary = self.canary;
        measured.distrust = self.distrust;
    }
}

/// Warms up and samples as the settings say, and listens to the canary from the end of the warm-up on. `run` is given the
/// number of the run.
pub(super) fn sample(
    settings: &Settings,
    device: &mut dyn Device,
    gauge: Option<&mut Gauge>,
    run: &mut dyn FnMut(&mut dyn Device, usize) -> Result<Sample, Stop>,
) -> Result<Watched, Stop> {
    let distrust = gauge.as_ref().and_then(|gauge| gauge.distrust.clone());
    let mut run = |device: &mut dyn Device, i| {
        let sample = run(device, i)?;
        Ok(Sample { event: sample.event.filter(|_| distrust.is_none()), ..sample })
    };
    sampling::warm_up(settings, &mut |i| run(device, i))?;
    // In the state in which the device is for the first sample.
    let mut watch = Watch::begin(gauge, device)?;
    let (samples, stopped_by) = sampling::take(settings, &mut |i| {
        watch.glance(device)?;
        run(device, i)
    })?;
    let canary = watch.end(device)?;
    Ok(Watched { samples, stopped_by, canary, distrust })
}

struct Watch<'a> {
    gauge: Option<&'a mut Gauge>,
    /// In seconds; 0 before the first reading.
    slowest: f64,
}

impl<'a> Watch<'a> {
    /// Takes the reading before the first sample, if there is a canary and no reading that still holds.
    fn begin(gauge: Option<&'a mut Gauge>, device: &mut dyn Device) -> Result<Watch<'a>, DeviceError> {
        let known = gauge.as_ref().and_then(|gauge| gauge.recent());
        let mut watch = Watch { gauge, slowest: known.unwrap_or_default() };
        if known.is_none() {
            watch.read(device)?;
        }
        Ok(watch)
    }

    /// Takes another reading if the last one is long ago.
    fn glance(&mut self, device: &mut dyn Device) -> Result<(), DeviceError> {
        let last = self.gauge.as_ref().and_then(|gauge| gauge.last);
        if last.is_some_and(|(_, at)| at.elapsed() >= INTERVAL) { self.read(device) } else { Ok(()) }
    }

    /// Takes the last reading and says what all of them came to.
    fn end(mut self, device: &mut dyn Device) -> Result<Option<Canary>, DeviceError> {
        self.read(device)?;
        let Some(Gauge { fastest, steps, .. }) = self.gauge.filter(|_| self.slowest > 0.0) else { return Ok(None) };
        Ok(Some(Canary { ratio: self.slowest / *fastest, fastest: *fastest / f64::from(*steps) * 1e6 }))
    }

    fn read(&mut self, device: &mut dyn Device) -> Result<(), DeviceError> {
        let Some(gauge) = &mut self.gauge else { return Ok(()) };
        let reading = gauge.read(device)?;
        // Without a single time there is nothing to compare.
        if reading.is_finite() {
            self.slowest = self.slowest.max(reading);
        }
        Ok(())
    }
}

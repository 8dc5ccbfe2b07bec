//! Whether a driver's event clock keeps time, held against the host's clock when a session begins.
//!
//! Batches of a short kernel and of one that does four times as much are timed by both clocks. What launches cost is in
//! either batch, so that it drops out of the difference: by that much the longer batch took longer, and an event clock that
//! keeps time says so too. One that is constant, scaled or random does not, whatever the kernels are.

use super::prelude::*;
use crate::device::{Stamps, Timing};
use gpulab_model::stats;

pub(super) const BATCH: usize = 4;

/// How many times as much the longer kernel does.
const LONGER: u32 = 4;

/// Pairs of batches of a trial, and how many of them may disagree: a loaded machine disturbs single ones.
const PAIRS: usize = 9;
const MAY_DISAGREE: usize = 1;

/// A pair agrees if the one difference is at most so many times the other, and a trial if the middle one is at most this.
const PAIR_FACTOR: f64 = 3.0;
const MIDDLE_FACTOR: f64 = 1.5;

/// Trials of which one must agree, each of kernels that are four times as long, so that disturbances matter less.
const TRIALS: u32 = 3;

/// Steps of the shortest kernel, and of the longest, however short its times are.
const FIRST_STEPS: u32 = 64;
const MOST_STEPS: u32 = 1 << 20;

/// A batch by both clocks, in seconds; the events' is none if one of them is impossible.
#[derive(Clone, Copy, Debug)]
struct Batch {
    events: Option<f64>,
    wall: f64,
}

impl Batch {
    fn new(timing: &Timing) -> Batch {
        let all = timing.stamps.len() == BATCH
            && timing.stamps.iter().all(|s: &Stamps| s.queued <= s.submit && s.submit <= s.start && s.start < s.end);
        let seconds = timing.stamps.iter().map(|s| s.end.saturating_sub(s.start) as f64 * 1e-9).sum::<f64>();
        Batch { events: (all && seconds <= timing.wall_s).then_some(seconds), wall: timing.wall_s }
    }
}

/// By how much the longer batch of a pair took longer, by either clock, in seconds.
#[derive(Clone, Copy, Debug)]
struct Pair {
    events: Option<f64>,
    wall: f64,
}

impl Pair {
    fn ratio(self) -> Option<f64> {
        self.events.map(|events| events / self.wall).filter(|ratio| ratio.is_finite() && self.wall > 0.0)
    }

    fn agrees(self) -> bool {
        self.ratio().is_some_and(|ratio| (1.0 / PAIR_FACTOR..=PAIR_FACTOR).contains(&ratio))
    }
}

/// Why the device's event times cannot be believed; none if they can. `run` runs a batch of kernels of so many steps,
/// and `least` is how many seconds a kernel takes at least that is told from a launch.
pub(super) fn objection(
    device: &mut dyn Device,
    least: f64,
    run: &mut dyn FnMut(&mut dyn Device, u32) -> Result<Timing, DeviceError>,
) -> Result<Option<String>, DeviceError> {
    judge(least, &mut |steps| Ok(Batch::new(&run(device, steps)?)))
}

fn judge(least: f64, batch: &mut dyn FnMut(u32) -> Result<Batch, DeviceError>) -> Result<Option<String>, DeviceError> {
    let mut steps = long_enough(least, batch)?;
    let mut objection = None;
    for _ in 0..TRIALS {
        objection = trial(steps, batch)?;
        if objection.is_none() {
            break;
        }
        steps = (steps * LONGER).min(MOST_STEPS / LONGER);
    }
    Ok(objection)
}

/// Steps of a short kernel to which a longer one adds clearly more than launches cost, by the host's clock.
fn long_enough(least: f64, batch: &mut dyn FnMut(u32) -> Result<Batch, DeviceError>) -> Result<u32, DeviceError> {
    let mut wall = |steps: u32| Ok::<f64, DeviceError>(batch(steps)?.wall.min(batch(steps)?.wall));
    let mut steps = FIRST_STEPS;
    let mut short = wall(steps)?;
    while steps < MOST_STEPS / LONGER {
        let long = wall(steps * LONGER)?;
        if long - short >= least * BATCH as f64 && long >= 2.0 * short {
            break;
        }
        (steps, short) = (steps * LONGER, long);
    }
    Ok(steps)
}

fn trial(steps: u32, batch: &mut dyn FnMut(u32) -> Result<Batch, DeviceError>) -> Result<Option<String>, DeviceError> {
    let mut pairs: Vec<Pair> = Vec::new();
    let disagreeing = |pairs: &[Pair]| pairs.iter().filter(|pair| !pair.agrees()).count();
    while pairs.len() < PAIRS && disagreeing(&pairs) <= MAY_DISAGREE {
        let short = batch(steps)?;
        let long = batch(steps * LONGER)?;
        let events = long.events.zip(short.events).map(|(long, short)| long - short);
        pairs.push(Pair { events, wall: long.wall - short.wall });
    }
    let ratios: Vec<f64> = pairs.iter().filter_map(|pair| pair.ratio()).collect();
    let middle = stats::summarise(&ratios).map(|summary| summary.median);
    let keeps_time = middle.is_some_and(|middle| (1.0 / MIDDLE_FACTOR..=MIDDLE_FACTOR).contains(&middle));
    let is_trusted = keeps_time && disagreeing(&pairs) <= MAY_DISAGREE;
    Ok((!is_trusted).then(|| words(&pairs)))
}

fn words(pairs: &[Pair]) -> String {
    let impossible = pairs.iter().filter(|pair| pair.events.is_none()).count();
    if 2 * impossible > pairs.len() {
        return "the driver's event clock is not trusted in this session: its times are missing, reversed or longer \
                than the host waited"
            .into();
    }
    let middle = |values: Vec<f64>| stats::summarise(&values).map_or(0.0, |summary| summary.median * 1e6);
    let events = middle(pairs.iter().filter_map(|pair| pair.events).collect());
    let wall = middle(pairs.iter().map(|pair| pair.wall).collect());
    format!(
        "the driver's event clock is not trusted in this session: kernels that took {wall:.0} us longer by the host's \
         clock took {events:.0} us longer by its events"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kernels of a nanosecond a step, launched at this cost, on a host that is now and then disturbed. `event` turns a
    /// kernel's nanoseconds into what the driver says.
    fn judged(launch_ns: u64, disturbed: impl Fn(usize) -> u64, mut event: impl FnMut(u64) -> u64) -> Option<String> {
        let mut count = 0;
        let mut batch = |steps: u32| {
            assert!(steps <= MOST_STEPS);
            count += 1;
            let ns = u64::from(steps) * 10;
            let mut stamp = |_| {
                let length = event(ns);
                Stamps { queued: 0, submit: 1, start: 100, end: 100 + length }
            };
            let stamps = (0..BATCH).map(&mut stamp).collect();
            let wall = BATCH as u64 * (ns + launch_ns) + disturbed(count) + 1000;
            Ok(Batch::new(&Timing { wall_s: wall as f64 * 1e-9, stamps, left_out: Vec::new() }))
        };
        judge(1e-4, &mut batch).unwrap()
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
        assert_eq!(judged(20_000, |i| if i % 12 == 0 { 4_000_000 } else { 0 }, |ns| ns), None);
        assert_eq!(judged(20_000, |i| (i as u64 * 7919) % 300_000, |ns| ns), None);
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
        assert!(words.ends_with("us longer by the host's clock took 0 us longer by its events"), "{words}");
        assert!(judged(0, |_| 0, |ns| ns * 10).unwrap().contains("longer than the host waited"));
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
            around_truth += usize::from(judged(20_000, |_| 0, |ns| ns * (next() % 2_000) / 1_000 + 1).is_none());
        }
        assert!(around_truth <= 20, "{around_truth} of 200");
    }
}

//! When a driver's event times can be believed.

use super::Sample;
use crate::device::Timing;

/// Event times below this are no kernel's: some drivers report a constant 1 ns.
const SHORTEST_NS: u64 = 50;

/// The sample that one run's times make: the event time from the start of the first timed launch to the
/// end of the last, unless it is missing or impossible. `timed` says of each launch whether it counts.
pub(super) fn sample(timing: &Timing, timed: &[bool]) -> Sample {
    Sample { event: event_seconds(timing, timed), wall: timing.wall_s }
}

/// Seconds from the start of the first launch to the end of the last; none without times.
pub(super) fn span(timing: &Timing) -> Option<f64> {
    let ns = timing.stamps.last()?.end.checked_sub(timing.stamps.first()?.start)?;
    Some(ns as f64 * 1e-9)
}

/// Seconds from when the first launch was put in its queue to its start, where these follow each other.
pub(super) fn delay(timing: &Timing) -> Option<f64> {
    let stamps = timing.stamps.first()?;
    let ns = stamps.start.checked_sub(stamps.queued)?;
    let seconds = ns as f64 * 1e-9;
    (ns >= SHORTEST_NS && seconds <= timing.wall_s).then_some(seconds)
}

fn event_seconds(timing: &Timing, timed: &[bool]) -> Option<f64> {
    if timing.stamps.len() != timed.len() {
        return None;
    }
    let mut counted = timing.stamps.iter().zip(timed).filter(|(_, t)| **t).map(|(s, _)| s);
    let ordered = timing.stamps.iter().all(|s| s.queued <= s.submit && s.submit <= s.start && s.start < s.end);
    let first = counted.next()?;
    let last = counted.next_back().unwrap_or(first);
    let ns = last.end.checked_sub(first.start)?;
    let seconds = ns as f64 * 1e-9;
    (ordered && ns >= SHORTEST_NS && seconds <= timing.wall_s).then_some(seconds)
}

/// Why a row's event times cannot be used, judged over all its samples; `None` if they can.
/// `least_time` is what the device's measured ceiling allows at best, where it bounds the case.
pub(super) fn objection(samples: &[Sample], least_time: Option<f64>) -> Option<String> {
    let events: Vec<f64> = samples.iter().filter_map(|s| s.event).collect();
    let rejected = samples.len() - events.len();
    if rejected > 0 {
        return Some(format!(
            "{rejected} of {} event times were missing, reversed, under {SHORTEST_NS} ns or longer than the wall time",
            samples.len()
        ));
    }
    if events.len() >= 8 && events.iter().all(|&e| e == events[0]) {
        return Some(format!("all event times are the same {:.0} ns", events[0] * 1e9));
    }
    let shortest = events.iter().copied().fold(f64::INFINITY, f64::min);
    match least_time {
        Some(limit) if shortest < limit => Some(format!(
            "an event time of {:.1} us is shorter than the ceiling allows ({:.1} us)",
            shortest * 1e6,
            limit * 1e6
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Stamps;

    fn timing(stamps: &[(u64, u64, u64, u64)], wall_s: f64) -> Timing {
        let stamps = stamps.iter().map(|&(queued, submit, start, end)| Stamps { queued, submit, start, end });
        Timing { wall_s, stamps: stamps.collect() }
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
            (vec![(9, 1, 100, 5_000)], 1.0, "submitted before it was queued"),
            (vec![], 1.0, "missing"),
        ] {
            assert_eq!(sample(&timing(&stamps, wall), &[true]).event, None, "{what}");
        }
        assert_eq!(sample(&timing(&[(0, 1, 100, 5_000)], 1.0), &[true; 2]).event, None, "one of two launches");
    }

    fn samples(events: &[Option<f64>]) -> Vec<Sample> {
        events.iter().map(|&event| Sample { event, wall: 1.0 }).collect()
    }

    #[test]
    fn equal_missing_or_too_fast_times_are_objected_to() {
        assert_eq!(objection(&samples(&[Some(1e-5), Some(2e-5), Some(1e-5)]), None), None);
        assert!(objection(&samples(&[Some(1e-5); 8]), None).unwrap().contains("the same"));
        assert!(objection(&samples(&[Some(1e-5), None, Some(2e-5)]), None).unwrap().starts_with("1 of 3"));
        assert!(objection(&samples(&[Some(1e-5), Some(2e-5), Some(3e-5)]), Some(1.5e-5)).unwrap().contains("ceiling"));
    }
}

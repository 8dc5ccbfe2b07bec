//! Samples of event times: one run's span, and which of them are impossible.

use crate::device::Timing;
use gpulab_model::outcome::{SHORTEST_NS, Sample};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Stamps;
    use gpulab_model::outcome::objection;

    fn timing(stamps: &[(u64, u64, u64, u64)], wall_s: f64) -> Timing {
        let stamps = stamps.iter().map(|&(queued, submit, start, end)| Stamps { queued, submit, start, end });
        Timing { wall_s, stamps: stamps.collect(), left_out: Vec::new() }
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
    fn equal_missing_or_too_fast_times_are_objected_to_and_the_least_is_believed() {
        assert_eq!(objection(&samples(&[Some(1e-5), Some(2e-5), Some(1e-5)]), None), None);
        assert!(objection(&samples(&[Some(1e-5); 8]), None).unwrap().contains("the same"));
        assert!(objection(&samples(&[Some(1e-5), None, Some(2e-5)]), None).unwrap().starts_with("1 of 3"));
        assert!(objection(&samples(&[Some(1e-5), Some(2e-5), Some(3e-5)]), Some(1.5e-5)).unwrap().contains("ceiling"));
        let events = samples(&[Some(1e-5), Some(2e-5)]);
        assert_eq!(objection(&events, Some(1e-5)), None);
        assert_eq!(objection(&events, Some(0.999e-5)), None);
        assert!(objection(&events, Some(1.001e-5)).unwrap().contains("shorter than the ceiling allows"));
    }

    #[test]
    fn belief_begins_at_50_ns_and_ends_at_the_wall_time() {
        let event = |ns: u64, wall_ns: f64| sample(&timing(&[(0, 1, 100, 100 + ns)], wall_ns * 1e-9), &[true]).event;
        assert_eq!(event(49, 1e9), None);
        approx::assert_relative_eq!(event(50, 1e9).unwrap(), 50e-9);
        assert_eq!(event(5_000, 4_999.0), None, "just above the wall time");
        assert!(event(5_000, 5_001.0).is_some(), "just below");
        // All four stamps may coincide up to the start; the end comes after it.
        assert!(sample(&timing(&[(7, 7, 7, 107)], 1.0), &[true]).event.is_some());
        assert_eq!(sample(&timing(&[(8, 7, 7, 107)], 1.0), &[true]).event, None);
        assert_eq!(sample(&timing(&[(0, 8, 7, 107)], 1.0), &[true]).event, None);
    }

    #[test]
    fn a_launch_that_is_not_timed_must_have_possible_times_too() {
        let stamps = [(0, 1, 100, 90), (100, 101, 200, 300)];
        assert_eq!(sample(&timing(&stamps, 1.0), &[false, true]).event, None);
        assert_eq!(sample(&timing(&[(0, 1, 100, 200)], 1.0), &[false]).event, None, "nothing is timed");
    }

    #[test]
    fn a_delay_has_the_same_bounds() {
        let wait = |queued: u64, start: u64, wall: f64| delay(&timing(&[(queued, queued, start, start + 1)], wall));
        assert_eq!(wait(100, 149, 1.0), None);
        approx::assert_relative_eq!(wait(100, 150, 1.0).unwrap(), 50e-9);
        assert_eq!(wait(100, 99, 1.0), None, "it began before it was queued");
        assert_eq!(wait(100, 5_100, 4_999e-9), None, "longer than the wall time");
        assert!(wait(100, 5_100, 5_001e-9).is_some());
        assert_eq!(delay(&timing(&[], 1.0)), None);
    }

    #[test]
    fn equal_times_are_doubted_from_eight_on() {
        assert_eq!(objection(&samples(&[Some(1e-5); 7]), None), None, "seven may be equal by chance of a coarse timer");
        assert!(objection(&samples(&[Some(1e-5); 8]), None).unwrap().contains("the same 10000 ns"));
        let mut events = [Some(1e-5); 8];
        events[7] = Some(1.000_1e-5);
        assert_eq!(objection(&samples(&events), None), None, "one of them differs");
    }
}

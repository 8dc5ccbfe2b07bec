//! When measured times can be believed.

use super::{Canary, Clock, Measured, Outcome, Sample, Settings};
use crate::stats;

/// Event times below this are no kernel's: some drivers report a constant 1 ns.
pub const SHORTEST_NS: u64 = 50;

/// Why a row's event times cannot be used, judged over all its samples; `None` if they can.
/// `least_time` is what the device's measured ceiling allows at best, where it bounds the case.
pub fn objection(samples: &[Sample], least_time: Option<f64>) -> Option<String> {
    let events: Vec<f64> = samples.iter().filter_map(|s| s.event).collect();
    let rejected = samples.len() - events.len();
    if rejected > 0 {
        return Some(format!(
            "{rejected} of {} event times {} missing, reversed, under {SHORTEST_NS} ns or longer than the wall time",
            samples.len(),
            if rejected == 1 { "was" } else { "were" }
        ));
    }
    if events.len() >= 8 && events.iter().all(|&e| e == events[0]) {
        return Some(format!(
            "all event times are the same {:.0} ns",
            events[0] * 1e9
        ));
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

impl Measured {
    /// Launches back to back that take much less than one alone cannot all have done its work. Nothing is said of short
    /// ones, of which waking up the device's threads is a large part.
    pub fn idle_in_batch(&self, alone: f64) -> Option<String> {
        const LEAST: f64 = 0.4;
        const LONG_S: f64 = 1e-3;
        let shortest = self.times().into_iter().fold(f64::INFINITY, f64::min);
        let is_idle = self.clock == Clock::Batch && alone > LONG_S && shortest < LEAST * alone;
        is_idle.then(|| {
            format!(
                "launches back to back took {:.1} us each, and one alone {:.1} us: not all can have done their work",
                shortest * 1e6,
                alone * 1e6
            )
        })
    }

    /// Takes what each of some launches back to back took, unless it is far below one alone. The first of them does what
    /// the others do again: if the driver loses those, the time alone tells.
    pub fn take_batch(&mut self, each: f64) {
        /// So many times faster at most, as part of a launch alone is waking up the device's threads.
        const MOST_GAINED: f64 = 8.0;
        let shortest = self.times().into_iter().fold(f64::INFINITY, f64::min);
        self.batch = (shortest < MOST_GAINED * each).then_some(each);
    }

    /// Why the times cannot be those of the work, although the result is right.
    pub fn too_fast(&self, least_time: Option<f64>) -> Option<String> {
        let least = least_time?;
        let median = stats::summarise(&self.times())?.median;
        (median < least).then(|| {
            format!(
                "{:.1} us are less than the device's measured limit allows ({:.1} us): the work was not done, or the \
                 limit is too low (gpulab ceiling measures it anew)",
                median * 1e6,
                least * 1e6
            )
        })
    }

    /// Why another clock than the driver's events must be used, judged over all samples, if so.
    pub fn objection(&self, least_time: Option<f64>) -> Option<String> {
        self.distrust
            .clone()
            .or_else(|| objection(&self.samples, least_time))
    }

    /// Decides over all samples whether the event times asked for can be believed.
    pub fn judge_events(&mut self, settings: &Settings) {
        if settings.clock == Clock::Event {
            self.clock_note = self.objection(settings.least_time);
            self.clock = if self.clock_note.is_some() {
                Clock::Wall
            } else {
                Clock::Event
            };
        }
    }

    /// Adds what a later round over the same case gave.
    fn pooled(mut self, later: Measured, settings: &Settings) -> Measured {
        self.suspect = later.suspect.or(self.suspect);
        self.samples.extend(later.samples);
        self.canary = Canary::worst(self.canary, later.canary);
        self.distrust = self.distrust.or(later.distrust);
        if later.stopped_by != "steady" {
            self.stopped_by = later.stopped_by;
        }
        self.max_err = self
            .max_err
            .zip(later.max_err)
            .map(|(so_far, later)| so_far.max(later));
        self.judge_events(settings);
        self
    }
}

impl Outcome {
    /// Adds what a later round over the same case gave. A round that went wrong takes the place of all: there is no time for
    /// a case that was wrong once.
    pub fn pooled(mut self, later: Outcome, settings: &Settings) -> Outcome {
        self.spent += later.spent;
        let end = self
            .end
            .and_then(|all| Ok(all.pooled(later.end?, settings)));
        Outcome { end, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_that_were_lost_behind_the_first_leave_no_time() {
        let sample = |wall| Sample { event: None, wall };
        let mut measured = Measured {
            clock: Clock::Wall,
            samples: vec![sample(9e-6), sample(8e-6)],
            ..Measured::default()
        };
        measured.take_batch(1.1e-6);
        assert_eq!(measured.batch, Some(1.1e-6));
        measured.take_batch(0.9e-6);
        assert_eq!(measured.batch, None);
    }
}

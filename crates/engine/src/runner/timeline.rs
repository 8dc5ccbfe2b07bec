//! What overlapped: when each command of a run began and ended.

use super::prelude::*;
use crate::device::Stamps;
use gpulab_model::outcome::Bar;

/// The commands in order; empty without event times, or where these run backwards.
pub(super) fn bars(commands: &[QueuedCommand], stamps: &[Stamps]) -> Vec<Bar> {
    let first = stamps.iter().map(|s| s.start).min().unwrap_or(0);
    if stamps.len() != commands.len() || stamps.iter().any(|s| s.end < s.start) {
        return Vec::new();
    }
    let seconds = |ns: u64| (ns - first) as f64 * 1e-9;
    commands
        .iter()
        .zip(stamps)
        .map(|(command, stamps): (&QueuedCommand, &Stamps)| Bar {
            what: name(&command.action).to_owned(),
            queue: command.queue as u32,
            start: seconds(stamps.start),
            end: seconds(stamps.end),
        })
        .collect()
}

fn name(action: &Action) -> &'static str {
    match action {
        Action::Launch(_) => "kernel",
        Action::Write(_) | Action::Fill(_) => "in",
        Action::Read(_) | Action::Fetch(_) => "out",
        Action::Work(_) => "host",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamps(start: u64, end: u64) -> Stamps {
        Stamps { queued: 0, submit: 0, start, end }
    }

    #[test]
    fn bars_begin_with_the_first_start() {
        let command = |queue| QueuedCommand { queue, action: Action::Work(1) };
        let bars = bars(&[command(1), command(0)], &[stamps(3_000, 5_000), stamps(1_000, 4_000)]);
        let times = [&bars[0], &bars[1]].map(|b| (b.queue, b.start * 1e6, b.end * 1e6));
        let rounded = times.map(|(q, s, e)| (q, s.round(), e.round()));
        assert_eq!(rounded, [(1, 2.0, 4.0), (0, 0.0, 3.0)]);
    }

    #[test]
    fn times_that_are_missing_or_run_backwards_make_none() {
        let command = [QueuedCommand { queue: 0, action: Action::Work(1) }];
        assert_eq!(bars(&command, &[]), []);
        assert_eq!(bars(&command, &[stamps(5, 4)]), []);
    }
}

//! A timeline of commands as text for a terminal.

use crate::format::{self, Screen};
use gpulab_model::outcome::Bar;
use std::fmt::Write as _;

/// Most characters that a lane has, and those before it.
const WIDTH: usize = 90;
const NAMES: usize = 17;

/// Lanes in order: each queue's copies in, kernels and copies out.
fn lanes(bars: &[Bar]) -> Vec<(u32, &str)> {
    let mut lanes: Vec<(u32, &str)> = bars
        .iter()
        .map(|bar| (bar.queue, bar.what.as_str()))
        .collect();
    let order = ["in", "kernel", "out"];
    lanes.sort_by_key(|(queue, what)| (*queue, order.iter().position(|o| o == what)));
    lanes.dedup();
    lanes
}

/// Seconds from the first start to the last end.
fn length(bars: &[Bar]) -> f64 {
    bars.iter().map(|bar| bar.end).fold(0.0, f64::max)
}

/// The share of the time in which two commands or more were under way; from 0 to 1.
fn overlapped(bars: &[Bar]) -> f64 {
    let mut edges: Vec<(f64, i32)> = bars
        .iter()
        .flat_map(|bar| [(bar.start, 1), (bar.end, -1)])
        .collect();
    // At the same time, ends come first: what follows at once does not overlap.
    edges.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut open = 0;
    let mut since = 0.0;
    let mut shared = 0.0;
    for (time, change) in edges {
        if open >= 2 {
            shared += time - since;
        }
        (open, since) = (open + change, time);
    }
    if length(bars) > 0.0 {
        shared / length(bars)
    } else {
        0.0
    }
}

/// A line for each lane, under a title; nothing without bars.
pub fn text(bars: &[Bar], title: &str, screen: Screen) -> String {
    let width = WIDTH.min(screen.width.saturating_sub(NAMES)).max(1);
    let whole = length(bars);
    if whole <= 0.0 {
        return String::new();
    }
    let head = format!(
        "timeline of {} over {}:",
        format::terminal(title),
        format::time(whole)
    );
    let mut text = screen.wrap(&head);
    for (queue, what) in lanes(bars) {
        let mut cells = vec!['.'; width];
        for bar in bars
            .iter()
            .filter(|bar| (bar.queue, bar.what.as_str()) == (queue, what))
        {
            // Both ends are rounded alike, so that what follows at once begins in the next cell.
            let [first, end] = [bar.start, bar.end]
                .map(|seconds| (seconds / whole * width as f64).round() as usize);
            let first = first.min(width - 1);
            cells[first..end.clamp(first + 1, width)].fill('#');
        }
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "  queue {queue} {what:<6} {}",
            cells.iter().collect::<String>()
        );
    }
    let _ = writeln!(
        text,
        "  two commands or more at once in {} of the time",
        format::percent(overlapped(bars))
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: Screen = Screen {
        width: NAMES + WIDTH,
        unicode: true,
        color: false,
    };

    fn bar(what: &str, queue: u32, start: f64, end: f64) -> Bar {
        Bar {
            what: what.to_owned(),
            queue,
            start,
            end,
        }
    }

    fn bars() -> Vec<Bar> {
        vec![
            bar("in", 0, 0.0, 0.001),
            bar("kernel", 0, 0.001, 0.003),
            bar("in", 1, 0.001, 0.002),
            bar("out", 0, 0.003, 0.004),
        ]
    }

    #[test]
    fn what_overlaps_counts_once_and_the_shortest_command_is_drawn() {
        approx::assert_relative_eq!(overlapped(&bars()), 0.25);
        assert_eq!(overlapped(&bars()[..2]), 0.0, "one after the other");
        assert_eq!(overlapped(&[]), 0.0);
        let bars = [
            bar("in", 0, 0.0, 1e-9),
            bar("kernel", 0, 1e-9, 1.0),
            bar("out", 0, 1.0, 1.0),
        ];
        assert!(
            text(&bars, "short", SCREEN)
                .lines()
                .skip(1)
                .take(3)
                .all(|line| line.contains('#'))
        );
    }

    #[test]
    fn lanes_are_in_the_order_of_stages() {
        insta::assert_snapshot!(text(&bars(), "4 chunks", SCREEN), @r"
        timeline of 4 chunks over 4.000 ms:
          queue 0 in     #######################...................................................................
          queue 0 kernel .......................#############################################......................
          queue 0 out    ....................................................................######################
          queue 1 in     .......................######################.............................................
          two commands or more at once in 25% of the time
        ");
        assert_eq!(text(&[], "nothing", SCREEN), "");
        crate::golden::at_all_widths("timeline", &|screen| text(&bars(), "4 chunks", screen));
    }
}

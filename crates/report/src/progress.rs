//! How a run gets on, on standard error.

use crate::format;
use gpulab_model::outcome::Status;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// A line on standard error that says which case runs, and about how long all will; it leaves nothing behind.
pub struct StatusLine {
    bar: ProgressBar,
    label: String,
}

impl StatusLine {
    /// Hidden if `quiet`, or if standard error is not a terminal.
    pub fn new(quiet: bool) -> StatusLine {
        let target = if quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) =
            ProgressStyle::with_template("{bar:20} {pos}/{len}, {eta} left  {wide_msg}")
        {
            bar.set_style(style);
        }
        StatusLine {
            bar,
            label: String::new(),
        }
    }

    /// Case `index` (from 0) of `total` begins.
    pub fn case_started(&mut self, index: usize, total: usize, label: &str) {
        self.label = format::terminal(label);
        self.bar.set_length(total as u64);
        self.bar.set_position(index as u64);
        self.bar.set_message(self.label.clone());
        // Redrawn by a thread of its own, as a kernel may run for long.
        self.bar.enable_steady_tick(Duration::from_millis(120));
    }

    /// The case in progress ended, with this median time in seconds if it has one.
    pub fn case_done(&mut self, status: Status, median_s: Option<f64>) {
        let time = median_s
            .map(|s| format!(", {}", format::time(s)))
            .unwrap_or_default();
        self.bar
            .set_message(format!("{}: {}{time}", self.label, status.name()));
    }

    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

//! What is going on: told to an observer while cases run, and drawn on standard error.

use super::format;
use crate::runner::Status;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// Is told how a run gets on. Every method may be left out.
pub trait Observer {
    /// Case `index` (from 0) of `total` begins.
    fn case_started(&mut self, _index: usize, _total: usize, _label: &str) {}

    /// The case in progress does something else now: `building`, `checking`, `timing`.
    fn phase(&mut self, _what: &str) {}

    /// The case in progress ended, with this median time in seconds if it has one.
    fn case_done(&mut self, _status: Status, _median_s: Option<f64>) {}
}

/// Tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// A line on standard error that says which case runs; it leaves nothing behind.
pub struct StatusLine {
    bar: ProgressBar,
    label: String,
}

impl StatusLine {
    /// Hidden if `quiet`, or if standard error is not a terminal.
    pub fn new(quiet: bool) -> StatusLine {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos}/{len} {wide_msg}") {
            bar.set_style(style);
        }
        StatusLine { bar, label: String::new() }
    }

    /// As [`StatusLine::new`], with the time that is left: for runs of many cases.
    pub fn with_eta(quiet: bool) -> StatusLine {
        let line = StatusLine::new(quiet);
        if let Ok(style) = ProgressStyle::with_template("{bar:20} {pos}/{len}, {eta} left  {wide_msg}") {
            line.bar.set_style(style);
        }
        line
    }

    /// Clears the line while `print` writes to the terminal.
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }
}

impl Observer for StatusLine {
    fn case_started(&mut self, index: usize, total: usize, label: &str) {
        self.label = format::terminal(label);
        self.bar.set_length(total as u64);
        self.bar.set_position(index as u64 + 1);
        self.bar.set_message(self.label.clone());
        // Redrawn by a thread of its own, as a kernel may run for long.
        self.bar.enable_steady_tick(Duration::from_millis(120));
    }

    fn phase(&mut self, what: &str) {
        self.bar.set_message(format!("{}: {}", self.label, format::terminal(what)));
    }

    fn case_done(&mut self, status: Status, median_s: Option<f64>) {
        let time = median_s.map(|s| format!(", {}", format::time(s))).unwrap_or_default();
        self.bar.set_message(format!("{}: {}{time}", self.label, status.name()));
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observers_can_ignore_everything_and_a_quiet_line_is_hidden() {
        let mut line = StatusLine::new(true);
        for observer in [&mut Silent as &mut dyn Observer, &mut line] {
            observer.case_started(0, 2, "dot v1\x1b[2J");
            observer.phase("timing");
            observer.case_done(Status::Ok, Some(1e-3));
        }
        assert!(line.bar.is_hidden());
        assert_eq!(line.bar.message(), "dot v1\\u{1b}[2J: ok, 1.000 ms");
        assert_eq!(line.suspend(|| 3), 3);
    }
}

//! What is going on: told to an observer while cases run, and drawn on standard error.

use super::format;
use crate::runner::Status;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
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

/// Seconds that a run must have left before it is said how many.
const TELLING_S: u64 = 2;

/// A line on standard error that says which case runs, and of longer runs how long they will; it leaves nothing behind.
pub struct StatusLine {
    bar: ProgressBar,
    label: String,
}

impl StatusLine {
    /// Hidden if `quiet`, or if standard error is not a terminal.
    pub fn new(quiet: bool) -> StatusLine {
        StatusLine::of(ProgressBar::with_draw_target(None, target(quiet)), "{spinner} {case}/{len}{left}  {wide_msg}")
    }

    /// As [`StatusLine::new`], with a bar: for runs of many cases.
    pub fn with_bar(quiet: bool) -> StatusLine {
        StatusLine::of(ProgressBar::with_draw_target(None, target(quiet)), "{bar:20} {case}/{len}{left}  {wide_msg}")
    }

    /// The last line of several.
    pub(super) fn below(all: &MultiProgress) -> StatusLine {
        let bar = all.add(ProgressBar::new(0));
        StatusLine::of(bar, "{spinner} {case}/{len}{left}  {wide_msg}")
    }

    /// A bar that a template draws, with `{case}`, the number of the case in progress, and `{left}`, the time that is left.
    fn of(bar: ProgressBar, template: &str) -> StatusLine {
        let case = |state: &ProgressState, text: &mut dyn Write| _ = write!(text, "{}", state.pos() + 1);
        let left = |state: &ProgressState, text: &mut dyn Write| _ = text.write_str(&left(state.eta()));
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.with_key("case", case).with_key("left", left));
        }
        StatusLine { bar, label: String::new() }
    }

    /// What indicatif knows it by.
    pub(super) fn bar(&self) -> &ProgressBar {
        &self.bar
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
        // What is left follows from the cases that are behind.
        self.bar.set_position(index as u64);
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

/// Standard error, if it is a terminal, unless `quiet`.
pub(super) fn target(quiet: bool) -> ProgressDrawTarget {
    if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() }
}

/// `, 12 s left`; nothing where that is not worth a word, or not known.
fn left(eta: Duration) -> String {
    let seconds = eta.as_secs();
    match seconds {
        0..TELLING_S => String::new(),
        TELLING_S..120 => format!(", {seconds} s left"),
        _ => format!(", {} min left", seconds.div_ceil(60)),
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

    #[test]
    fn the_time_left_is_told_from_two_seconds_on() {
        let told = |ms| left(Duration::from_millis(ms));
        assert_eq!([told(0), told(1_999)], ["", ""]);
        assert_eq!([told(2_000), told(119_000), told(121_000)], [", 2 s left", ", 119 s left", ", 3 min left"]);
    }
}

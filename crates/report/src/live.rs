//! The rows of a ladder as they finish, in place, above the line that says what runs.

use super::progress::{self, Observer, StatusLine};
use crate::prelude::*;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::time::Instant;

/// Characters of a whole bar.
const BAR: usize = 30;

#[derive(Clone, Debug, PartialEq)]
pub struct LiveRow {
    label: String,
    status: Status,
    seconds: Option<f64>,
    /// What it reached of its measured limit, 1 for all of it; none where the limit is not known or does not bound it.
    of_limit: Option<f64>,
}

impl LiveRow {
    /// What is shown of a row under this name.
    pub fn new(label: &str, row: &Row) -> LiveRow {
        let of_limit = row.ceiling_pct.filter(|_| !row.flags.contains(flag::FITS_CACHE)).map(|percent| percent / 100.0);
        LiveRow { label: format::terminal(label), status: row.status, seconds: row.t_median_s, of_limit }
    }
}

/// A line for each row: its name, its time, and a bar against the limit, or, where some row has no limit, against the
/// fastest so far.
pub fn lines(rows: &[LiveRow]) -> Vec<String> {
    let timed = || rows.iter().filter(|row| row.seconds.is_some());
    let fastest = timed().filter_map(|row| row.seconds).fold(f64::INFINITY, f64::min);
    let is_limited = timed().all(|row| row.of_limit.is_some());
    let widest = rows.iter().map(|row| row.label.chars().count()).max().unwrap_or(0);
    rows.iter()
        .map(|row: &LiveRow| {
            let name = format!("{:widest$}", row.label);
            let Some(seconds) = row.seconds else { return format!("{name}  {}", row.status.name()) };
            let share = if is_limited { row.of_limit.unwrap_or(0.0) } else { fastest / seconds };
            let filled = (share.clamp(0.0, 1.0) * BAR as f64).round() as usize;
            let percent = if is_limited { format!("  {} of limit", format::percent(share)) } else { String::new() };
            format!("{name}  {:>9}  {:BAR$}{percent}", format::time(seconds), "█".repeat(filled)).trim_end().to_owned()
        })
        .collect()
}

/// The rows so far and a status line on a terminal; they leave nothing behind.
pub struct Live {
    all: MultiProgress,
    status: StatusLine,
    rows: Vec<(LiveRow, ProgressBar)>,
    has_rows: bool,
}

impl Live {
    /// Nothing if `quiet` or if standard error is not a terminal; no rows unless people see standard output, too, where the
    /// table takes their place.
    pub fn new(quiet: bool, stdout_is_terminal: bool) -> Live {
        let all = MultiProgress::with_draw_target(progress::target(quiet));
        let has_rows = !all.is_hidden() && stdout_is_terminal;
        let status = StatusLine::below(&all);
        Live { all, status, rows: Vec::new(), has_rows }
    }

    /// The same of a run that is to be over then, if that is known.
    pub fn until(self, ends: Option<Instant>) -> Live {
        self.status.end_by(ends);
        self
    }

    pub fn add(&mut self, row: LiveRow) {
        if !self.has_rows {
            return;
        }
        let bar = self.all.insert_before(self.status.bar(), ProgressBar::new(1));
        if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
            bar.set_style(style);
        }
        self.rows.push((row, bar));
        let rows: Vec<LiveRow> = self.rows.iter().map(|(row, _)| row.clone()).collect();
        let screen = Screen::stderr();
        for (line, (_, bar)) in lines(&rows).into_iter().zip(&self.rows) {
            bar.set_message(format::on_screen(&line, screen));
        }
    }

    /// Clears all lines while `print` writes to the terminal.
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.all.suspend(print)
    }
}

impl Observer for Live {
    fn case_started(&mut self, index: usize, total: usize, label: &str) {
        self.status.case_started(index, total, label);
    }

    fn case_done(&mut self, status: Status, median_s: Option<f64>) {
        self.status.case_done(status, median_s);
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.rows.iter().for_each(|(_, bar)| bar.finish_and_clear());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(label: &str, seconds: Option<f64>, of_limit: Option<f64>) -> LiveRow {
        let status = if seconds.is_some() { Status::Ok } else { Status::Skipped };
        LiveRow { label: label.into(), status, seconds, of_limit }
    }

    #[test]
    fn bars_are_against_the_limit_or_else_against_the_fastest() {
        let limited = [row("v1 naive", Some(4e-3), Some(0.1)), row("v2 local", Some(5e-4), Some(0.8))];
        assert_eq!(
            lines(&limited),
            [
                format!("v1 naive   4.000 ms  {:30}  10% of limit", "███"),
                format!("v2 local   500.0 us  {:30}  80% of limit", "█".repeat(24)),
            ]
        );
        let mixed = [row("v1 naive", Some(4e-3), None), row("v2", None, None), row("v3 local", Some(1e-3), Some(0.5))];
        assert_eq!(
            lines(&mixed),
            [
                format!("v1 naive   4.000 ms  {}", "█".repeat(8)),
                "v2        skipped".to_owned(),
                format!("v3 local   1.000 ms  {}", "█".repeat(30)),
            ]
        );
        let above = lines(&[row("v1", Some(1e-3), Some(2.4))]);
        assert_eq!(above, [format!("v1   1.000 ms  {}  240% of limit", "█".repeat(30))]);
        assert_eq!(lines(&[]), Vec::<String>::new());
        assert!(lines(&mixed).iter().chain(&lines(&limited)).all(|line| line.chars().count() < 80));
    }

    #[test]
    fn nobody_sees_rows_where_there_is_no_terminal() {
        for (quiet, stdout) in [(true, true), (true, false)] {
            let mut live = Live::new(quiet, stdout);
            live.case_started(0, 2, "v1");
            live.add(row("v1", Some(1e-3), None));
            live.case_done(Status::Ok, None);
            assert!(live.rows.is_empty());
            assert_eq!(live.suspend(|| 3), 3);
        }
    }
}

//! What is going on: told to an observer while cases run, and drawn on standard error.

use crate::prelude::*;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Is told how a run gets on. Every method may be left out.
pub trait Observer {
    /// Case `index` (from 0) of `total` begins.
    fn case_started(&mut self, _index: usize, _total: usize, _label: &str) {}

    /// The next case that begins is one's first round, or a later one (`again`), and takes samples for so many seconds at most.
    fn round(&mut self, _again: bool, _sampled: f64) {}

    /// The case in progress does something else now: `building`, `checking`, `timing`.
    fn phase(&mut self, _what: &str) {}

    /// The case in progress ended, with this median time in seconds if it has one.
    fn case_done(&mut self, _status: Status, _median_s: Option<f64>) {}
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// Seconds that a run must have left before it is said how many.
const TELLING_S: u64 = 2;

/// Cases that must have ended before it is said how long the others will take.
const TELLING_CASES: usize = 3;

/// When a run will end, as far as the cases behind it tell: the next ones take as long as the middle one of them did, so
/// that a long one, as the search for a limit is, counts as one. First rounds compile and check, and later ones do not: until
/// some of these ended, they take as long as their samples.
#[derive(Debug, Default)]
struct Forecast {
    /// Seconds of the cases that ended: of first rounds, and of later ones.
    took: [Vec<f64>; 2],
    /// Of how many later rounds each case has.
    later: usize,
    /// Whether the next case is a later round.
    again: bool,
    /// Seconds of a round's samples.
    sampled: f64,
    /// The case in progress, when it began, and whether it is a later round.
    running: Option<(usize, Instant)>,
    runs_again: bool,
    total: usize,
    /// When all of it is to be over, if that is known.
    ends: Option<Instant>,
}

impl Forecast {
    /// Takes note that case `index` (from 0) of `total` begins.
    fn begin(&mut self, index: usize, total: usize, now: Instant) {
        if let Some((before, began)) = self.running.filter(|(before, _)| *before < index) {
            // Several may have ended since, as those that cannot run.
            let each = now.duration_since(began).as_secs_f64() / (index - before) as f64;
            self.took[usize::from(self.runs_again)].extend(std::iter::repeat_n(each, index - before));
        }
        self.total = total;
        self.running = Some((index, now));
        self.runs_again = self.again;
    }

    /// What is left of the run; nothing before there is something to tell it from.
    fn left(&self, now: Instant) -> Option<Duration> {
        let (_, began) = self.running?;
        let first = middle(&self.took[0])?;
        let each = [first, middle(&self.took[1]).unwrap_or(self.sampled)];
        let firsts = self.total / (self.later + 1);
        let left = [firsts, self.total - firsts].map(|cases| cases as f64);
        let ahead: f64 = (0..2).map(|round| each[round] * (left[round] - self.took[round].len() as f64).max(0.0)).sum();
        let behind = now.duration_since(began).as_secs_f64().min(each[usize::from(self.runs_again)]);
        let left = Duration::from_secs_f64((ahead - behind).max(0.0));
        Some(self.ends.map_or(left, |ends| left.min(ends.saturating_duration_since(now))))
    }
}

/// The middle one of some times; nothing of too few to tell.
fn middle(seconds: &[f64]) -> Option<f64> {
    let mut sorted = seconds.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().filter(|_| sorted.len() >= TELLING_CASES)
}

/// A line on standard error that says which case runs, and of longer runs how long they will; it leaves nothing behind.
pub struct StatusLine {
    bar: ProgressBar,
    label: String,
    forecast: Arc<Mutex<Forecast>>,
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

    /// The same of a run that is to be over then, if that is known: it says no more than that is left.
    pub fn until(self, ends: Option<Instant>) -> StatusLine {
        self.end_by(ends);
        self
    }

    /// The same of a run whose cases have so many rounds each.
    pub fn in_rounds(self, rounds: u32) -> StatusLine {
        self.forecast.lock().unwrap_or_else(PoisonError::into_inner).later = rounds.saturating_sub(1) as usize;
        self
    }

    pub(super) fn end_by(&self, ends: Option<Instant>) {
        self.forecast.lock().unwrap_or_else(PoisonError::into_inner).ends = ends;
    }

    /// The last line of several.
    pub(super) fn below(all: &MultiProgress) -> StatusLine {
        let bar = all.add(ProgressBar::new(0));
        StatusLine::of(bar, "{spinner} {case}/{len}{left}  {wide_msg}")
    }

    /// A bar that a template draws, with `{case}`, the number of the case in progress, and `{left}`, the time that is left.
    fn of(bar: ProgressBar, template: &str) -> StatusLine {
        let forecast = Arc::new(Mutex::new(Forecast::default()));
        let known = Arc::clone(&forecast);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(
                style
                    .with_key("case", |state: &ProgressState, text: &mut dyn Write| {
                        _ = write!(text, "{}", state.pos() + 1)
                    })
                    .with_key("left", move |_: &ProgressState, text: &mut dyn Write| {
                        let left = known.lock().unwrap_or_else(PoisonError::into_inner).left(Instant::now());
                        _ = text.write_str(&told(left));
                    }),
            );
        }
        StatusLine { bar, label: String::new(), forecast }
    }

    pub(super) fn bar(&self) -> &ProgressBar {
        &self.bar
    }

    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }
}

impl Observer for StatusLine {
    fn case_started(&mut self, index: usize, total: usize, label: &str) {
        self.label = format::terminal(label);
        self.forecast.lock().unwrap_or_else(PoisonError::into_inner).begin(index, total, Instant::now());
        self.bar.set_length(total as u64);
        self.bar.set_position(index as u64);
        self.bar.set_message(self.label.clone());
        // Redrawn by a thread of its own, as a kernel may run for long.
        self.bar.enable_steady_tick(Duration::from_millis(120));
    }

    fn round(&mut self, again: bool, sampled: f64) {
        let mut forecast = self.forecast.lock().unwrap_or_else(PoisonError::into_inner);
        (forecast.again, forecast.sampled) = (again, sampled);
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
fn told(left: Option<Duration>) -> String {
    let seconds = left.map_or(0, |left| left.as_secs());
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
        assert_eq!(line.bar.message(), "dot v1\\x1b[2J: ok, 1.000 ms");
        assert_eq!(line.suspend(|| 3), 3);
    }

    #[test]
    fn the_time_left_is_told_from_two_seconds_on() {
        let told = |ms| told(Some(Duration::from_millis(ms)));
        assert_eq!([told(0), told(1_999), super::told(None)], ["", "", ""]);
        assert_eq!([told(2_000), told(119_000), told(121_000)], [", 2 s left", ", 119 s left", ", 3 min left"]);
    }

    /// What is left as the last of cases begins that took so many seconds, of a run of a hundred.
    fn left_after(seconds: &[f64], ends: Option<f64>) -> Option<f64> {
        let began = Instant::now();
        let at = |s: f64| began + Duration::from_secs_f64(s);
        let mut forecast = Forecast { ends: ends.map(at), ..Forecast::default() };
        let mut now = 0.0;
        forecast.begin(0, 100, began);
        for (done, took) in (1..).zip(seconds) {
            now += took;
            forecast.begin(done, 100, at(now));
        }
        forecast.left(at(now)).map(|left| left.as_secs_f64())
    }

    #[test]
    fn the_time_left_follows_from_a_few_cases_and_not_from_a_long_one() {
        assert_eq!(left_after(&[], None), None);
        assert_eq!(left_after(&[9.0, 0.5], None), None, "two cases tell nothing");
        approx::assert_relative_eq!(left_after(&[9.0, 0.5, 0.5], None).unwrap(), 97.0 * 0.5);
        approx::assert_relative_eq!(left_after(&[9.0, 0.5, 0.5], Some(15.0)).unwrap(), 5.0);
        assert_eq!(left_after(&[9.0, 0.5, 0.5], Some(1.0)), Some(0.0), "late");
    }

    #[test]
    fn later_rounds_take_as_long_as_their_samples_until_some_ended() {
        let began = Instant::now();
        let mut forecast = Forecast { later: 2, sampled: 0.1, ..Forecast::default() };
        let mut now = 0.0;
        // Six cases in three rounds: first ones take 2 s, later ones 0.25 s.
        let mut left = Vec::new();
        for index in 0..18 {
            forecast.again = index >= 6;
            forecast.begin(index, 18, began + Duration::from_secs_f64(now));
            left.push(forecast.left(began + Duration::from_secs_f64(now)).map(|left| left.as_secs_f64()));
            now += if index < 6 { 2.0 } else { 0.25 };
        }
        assert_eq!(left[2], None);
        approx::assert_relative_eq!(left[3].unwrap(), 3.0 * 2.0 + 12.0 * 0.1, max_relative = 1e-6);
        approx::assert_relative_eq!(left[9].unwrap(), 9.0 * 0.25, max_relative = 1e-6);
    }

    #[test]
    fn a_case_that_takes_longer_is_not_counted_twice() {
        let began = Instant::now();
        let mut forecast = Forecast::default();
        for index in [0, 0, 3] {
            forecast.begin(index, 4, began + Duration::from_secs(index as u64));
        }
        let left = |s| forecast.left(began + Duration::from_secs_f64(s)).map(|left| left.as_secs_f64());
        assert_eq!([left(3.0), left(3.5), left(9.0)], [Some(1.0), Some(0.5), Some(0.0)]);
    }
}

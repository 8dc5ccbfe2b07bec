//! What a worker's driver and kernels print: read as fast as it comes, and told in a few harmless lines.

use gpulab_model::Joined;
use gpulab_record::terminal;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Most lines that are told of one request, and most of the last ones that are kept for how a worker ended.
const MOST_LINES: usize = 8;
const LAST_LINES: usize = 5;

const MOST_BYTES: usize = 240;

/// Longest wait for what was printed before a reply: it is in the pipe by then.
const PATIENCE: Duration = Duration::from_secs(2);

/// Begins the line that ends what was printed for a request; the request's number follows.
const END: char = '\u{1e}';

/// Ends what was printed for a request, on the worker's side.
pub fn end(number: u64) {
    // Without a standard error nobody waits for this.
    let _ = io::stderr().write_all(format!("\n{END}{number}\n").as_bytes());
}

/// Lines that were printed, in words that are safe to show.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Printed {
    first: Vec<String>,
    /// As they came: of very many lines, few are told.
    last: VecDeque<String>,
    count: u64,
}

impl Printed {
    fn add(&mut self, line: &str) {
        self.count += 1;
        if self.first.len() < MOST_LINES {
            self.first.push(harmless(line));
        }
        if self.last.len() == LAST_LINES {
            self.last.pop_front();
        }
        self.last.push_back(line.to_owned());
    }

    /// One message for all of it, if there is any: `who printed: ...`.
    pub fn summary(&self, who: &str) -> Option<String> {
        let more = self.count - self.first.len() as u64;
        let rest = (more > 0).then(|| format!("{who} printed {more} more lines"));
        let lines = self
            .first
            .iter()
            .map(|line| format!("{who} printed: {line}"))
            .chain(rest);
        Some(lines.joined("\n")).filter(|text| !text.is_empty())
    }

    /// What goes behind a sentence on how it ended: `, and said: ...`, if it said anything.
    pub fn last_words(&self) -> String {
        if self.last.is_empty() {
            return String::new();
        }
        let last = self.last.iter().map(|line| harmless(line)).joined("; ");
        format!(", and said: {last}")
    }
}

fn harmless(line: &str) -> String {
    terminal::text(line.trim_end_matches('\r')).replace('\t', " ")
}

#[derive(Default)]
struct State {
    printed: Printed,
    /// The request whose end was seen last.
    ended: Option<u64>,
    closed: bool,
    /// The line that has begun: of a long one the beginning.
    begun: Vec<u8>,
}

/// Reads a worker's standard error on a thread of its own, so that no kernel waits for a full pipe.
pub struct Listener(Arc<(Mutex<State>, Condvar)>);

impl Listener {
    pub fn new(mut source: impl Read + Send + 'static) -> io::Result<Listener> {
        let shared = Arc::new((Mutex::new(State::default()), Condvar::new()));
        let listener = Listener(Arc::clone(&shared));
        std::thread::Builder::new().spawn(move || {
            let (state, news) = &*shared;
            let mut room = vec![0; 1 << 16];
            loop {
                let count = match source.read(&mut room) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Ok(count) => count,
                    Err(_) => 0,
                };
                let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                state.cut(&room[..count]);
                if count == 0 {
                    state.end_line();
                    state.closed = true;
                }
                news.notify_all();
                if state.closed {
                    return;
                }
            }
        })?;
        Ok(listener)
    }

    /// What was printed up to the end of a request; without one, up to the worker's end. What has come so far if that does
    /// not come soon.
    pub fn until(&self, number: Option<u64>) -> Printed {
        let (state, news) = &*self.0;
        let begin = Instant::now();
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        while !state.closed && (number.is_none() || state.ended != number) {
            let Some(left) = PATIENCE.checked_sub(begin.elapsed()) else {
                break;
            };
            state = news
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        std::mem::take(&mut state.printed)
    }
}

/// Whether a compiler counts its warnings: the warnings themselves are lines before.
fn counts_warnings(line: &str) -> bool {
    if !line.contains("generated.") {
        return false;
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    matches!(words[..], [count, "warning" | "warnings", "generated."] if count.parse::<u64>().is_ok())
}

impl State {
    /// Cuts bytes into lines, of which only the beginnings are kept.
    fn cut(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            let text = part.strip_suffix(b"\n").unwrap_or(part);
            let room = MOST_BYTES.saturating_sub(self.begun.len());
            self.begun.extend_from_slice(&text[..text.len().min(room)]);
            if text.len() < part.len() {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.begun);
        let text = String::from_utf8_lossy(&line);
        match text
            .strip_prefix(END)
            .and_then(|number| number.parse().ok())
        {
            Some(number) => self.ended = Some(number),
            None if text.trim().is_empty() || counts_warnings(&text) => {}
            None => self.printed.add(&text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Printed {
        Listener::new(io::Cursor::new(text.to_vec()))
            .unwrap()
            .until(None)
    }

    #[test]
    fn few_lines_are_told_and_the_others_counted() {
        let many: String = (0..10_000).map(|i| format!("line {i}\n")).collect();
        let printed = read(many.as_bytes());
        let summary = printed.summary("dot v1 naive").unwrap();
        assert_eq!(summary.lines().count(), MOST_LINES + 1);
        assert!(
            summary.starts_with("dot v1 naive printed: line 0\ndot v1 naive printed: line 1\n"),
            "{summary}"
        );
        assert!(
            summary.ends_with("dot v1 naive printed 9992 more lines"),
            "{summary}"
        );
        assert_eq!(
            printed.last_words(),
            ", and said: line 9995; line 9996; line 9997; line 9998; line 9999"
        );
        assert_eq!(read(b"\n  \n").summary("x"), None);
        // A kernel that prints must not wait for who reads.
        let summary = read(&b"line\n".repeat(2_000_000)).summary("k").unwrap();
        assert!(
            summary.ends_with("k printed 1999992 more lines"),
            "{summary}"
        );
    }

    #[test]
    fn a_count_of_warnings_that_are_not_shown_is_left_out() {
        assert_eq!(
            read(b"2 warnings generated.\n1 warning generated.\n").summary("x"),
            None
        );
        let shown = read(b"a.cl:3: warning: unused\n1 warning generated.\n").summary("x");
        assert_eq!(shown.unwrap(), "x printed: a.cl:3: warning: unused");
        assert_eq!(
            read(b"my 2 warnings generated.\n").summary("x").unwrap(),
            "x printed: my 2 warnings generated."
        );
    }

    #[test]
    fn a_line_without_an_end_is_cut_and_none_reaches_a_terminal_raw() {
        let summary = read(&vec![b'x'; 3 << 20]).summary("k").unwrap();
        assert_eq!(summary.len(), "k printed: ".len() + MOST_BYTES);
        assert_eq!(read(b"no end").summary("k").unwrap(), "k printed: no end");
        let summary = read(b"\x1b[2J\x07a\rb\xff\te\xe2\x80\xaex\r\n")
            .summary("k")
            .unwrap();
        assert_eq!(summary, "k printed: \\x1b[2J\\x07a\\rb\u{fffd} e\\u{202e}x");
    }

    #[test]
    fn what_was_printed_for_a_request_ends_with_its_number() {
        let (reader, mut writer) = io::pipe().unwrap();
        let listener = Listener::new(reader).unwrap();
        writer
            .write_all(format!("one\n{END}8\ntwo\n{END}x\nthree\n{END}9\nlater\n").as_bytes())
            .unwrap();
        let printed = listener.until(Some(9));
        // What came after may have been read already, but nothing before is missing.
        assert_eq!(printed.first[..2], ["one", "two"]);
        assert_eq!(printed.first[3], "three");
        drop(writer);
        listener.until(None);
    }
}

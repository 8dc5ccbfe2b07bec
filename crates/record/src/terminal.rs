//! The door to standard output and standard error.
//!
//! Names of devices, files and nodes, compilers' logs and cells of files come from outside. What in them would steer a
//! terminal is spelled out here, whatever the writer before has done.

use gpulab_model::Joined;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, IsTerminal, Write};
use std::process::Stdio;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this process was started without a standard output.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Notes that this process was started without a standard output: Rust puts the null device in its place, which takes
/// everything.
pub fn note_closed_stdout() {
    CLOSED.store(true, Ordering::Relaxed);
}

/// Text of many lines made fit for a terminal: line feeds, tabs and the colours that [`paint`] gives stay, and any other
/// character that would move the cursor, change colours, ring, or reverse the direction of writing is spelled out.
pub fn text(text: &str) -> String {
    if text
        .bytes()
        .all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'))
    {
        return text.to_owned();
    }
    let mut safe = String::with_capacity(text.len());
    for (at, piece) in text.split(SEAL.as_str()).enumerate() {
        let code = CODES
            .into_iter()
            .find(|code| at > 0 && piece.starts_with(code))
            .unwrap_or_default();
        if !code.is_empty() {
            safe.extend(["\x1b", code]);
        }
        for c in piece[code.len()..].chars() {
            match c {
                '\n' | '\t' => safe.push(c),
                '\r' => safe.push_str("\\r"),
                '\0'..='\u{ff}' if is_unsafe(c) => safe += &format!("\\x{:02x}", u32::from(c)),
                c if is_unsafe(c) => safe.extend(c.escape_unicode()),
                c => safe.push(c),
            }
        }
    }
    safe
}

/// The same on one line: line feeds and tabs are spelled out as well.
pub fn line(line: &str) -> String {
    text(line).replace('\n', "\\n").replace('\t', "\\t")
}

/// A message that quotes at most a line of what it was given: of a word, of what stands in quotes and of a line that are longer
/// the ends stay. Paths stay whole.
pub fn abridged(message: &str) -> String {
    /// Characters of a word or of a quotation, and of a line with many.
    const MOST: usize = 120;
    const LINE: usize = 1000;
    /// With what was left out of a word.
    const QUOTED: usize = MOST + 40;
    message
        .split('\n')
        .map(|line: &str| {
            if line.len() <= MOST {
                return line.to_owned();
            }
            let words: String = line
                .split_inclusive(' ')
                .map(|word| cut_unless_path(word, MOST))
                .collect();
            let mut quoted = String::with_capacity(words.len());
            let mut rest = words.as_str();
            while let Some((start, end)) = quotation(rest) {
                quoted += &rest[..start];
                quoted += &cut_unless_path(&rest[start..end], QUOTED);
                rest = &rest[end..];
            }
            cut(&(quoted + rest), LINE)
        })
        .joined("\n")
}

/// Where the next quotation of a text begins and ends: between two equal quotes, of which the first follows a blank or a bracket
/// and the second no letter does.
fn quotation(text: &str) -> Option<(usize, usize)> {
    text.char_indices()
        .filter(|(_, c)| "'`\"".contains(*c))
        .find_map(|(at, quote)| {
            let inner = &text[at + 1..];
            if text[..at].ends_with(char::is_alphanumeric) {
                return None;
            }
            let mut ends = inner.match_indices(quote).map(|(to, _)| to + 1);
            Some((
                at,
                at + 1 + ends.find(|to| !inner[*to..].starts_with(char::is_alphanumeric))?,
            ))
        })
}

fn cut_unless_path(word: &str, most: usize) -> String {
    let is_path = word.contains(['/', '\\']) && word.len() <= 4096;
    if is_path {
        word.to_owned()
    } else {
        cut(word, most)
    }
}

/// The beginning and the end of a text of more characters than these, and how many it has.
fn cut(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let last = most / 4;
    let head: String = text.chars().take(most - last).collect();
    let tail: String = text.chars().skip(count - last).collect();
    format!("{head}...({count} characters)...{tail}")
}

/// Whether it is a control character, or one of Unicode's that change how its neighbours are shown: marks and overrides
/// of the direction of writing, invisible operators, tags.
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{180e}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        )
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tint {
    /// It is as it should be.
    Green,
    /// It was left out.
    Yellow,
    Red,
}

/// What [`paint`] puts around texts, behind [`SEAL`]: the end of a colour, and the colours.
const CODES: [&str; 4] = ["[0m", "[32m", "[33m", "[31m"];

/// Begins our own colours until [`text`] writes them: no text from outside can hold it.
static SEAL: LazyLock<String> =
    LazyLock::new(|| format!("\x1b{:x};", RandomState::new().hash_one(0)));

pub fn paint(text: &str, tint: Tint) -> String {
    let [end, green, yellow, red] = CODES;
    let code = match tint {
        Tint::Green => green,
        Tint::Yellow => yellow,
        Tint::Red => red,
    };
    format!("{0}{code}{text}{0}{end}", *SEAL)
}

pub fn say(message: &str) {
    // Nothing can be done about a standard error that cannot be written to.
    let _ = io::stderr()
        .lock()
        .write_all((text(message) + "\n").as_bytes());
}

/// Sends what drivers and kernels print to standard error from here on. To be called before any of them is loaded: standard
/// output is for results and for a worker's replies, which go through a descriptor that nothing else in the process knows and
/// that no other program inherits.
pub fn take_from_drivers() {
    if real().is_some() {
        let _ = rustix::stdio::dup2_stdout(io::stderr());
    }
}

/// Where standard output led at first; none if that cannot be told.
fn real() -> Option<&'static std::fs::File> {
    use std::os::fd::AsFd;
    static REAL: std::sync::OnceLock<Option<std::fs::File>> = std::sync::OnceLock::new();
    REAL.get_or_init(|| Some(io::stdout().as_fd().try_clone_to_owned().ok()?.into()))
        .as_ref()
}

/// Standard output, unbuffered: what was not written is told at once, and nothing is left to be written at the end.
#[derive(Clone, Copy, Debug)]
pub struct Stdout;

impl Stdout {
    /// Whether anything can be written: not if it was closed, or is a full device.
    /// A closed pipe is no error.
    pub fn check(self) -> io::Result<()> {
        match (&Stdout).write(&[]) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether people read it.
    pub fn is_terminal(self) -> bool {
        real().is_some_and(IsTerminal::is_terminal)
    }

    /// For a process that works in place of this one.
    pub fn for_child(self) -> Stdio {
        if let Some(file) = real().and_then(|file| file.try_clone().ok()) {
            return file.into();
        }
        Stdio::inherit()
    }

    /// The file behind it, of which there are but one.
    pub fn file(self) -> io::Result<&'static std::fs::File> {
        if CLOSED.load(Ordering::Relaxed) {
            return Err(closed());
        }
        real().ok_or_else(closed)
    }
}

fn closed() -> io::Error {
    io::Error::other("it is closed")
}

impl Write for &Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut file = self.file()?;
        file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Makes what is written fit for a terminal, a line at a time.
pub struct Escaping<W: Write> {
    inner: W,
    line: Vec<u8>,
}

impl<W: Write> Escaping<W> {
    pub fn new(inner: W) -> Escaping<W> {
        Escaping {
            inner,
            line: Vec::new(),
        }
    }
}

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        let Some(end) = self.line.iter().rposition(|&byte| byte == b'\n') else {
            return Ok(bytes.len());
        };
        let lines: Vec<u8> = self.line.drain(..=end).collect();
        self.inner
            .write_all(text(&String::from_utf8_lossy(&lines)).as_bytes())
            .map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.line);
        self.inner
            .write_all(text(&String::from_utf8_lossy(&rest)).as_bytes())?;
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_steers_a_terminal_is_spelled_out() {
        let sly = "a\x1b[31mb\u{202e}\x07\rc\u{9b}\u{7f}\td\ne";
        assert_eq!(text(sly), "a\\x1b[31mb\\u{202e}\\x07\\rc\\x9b\\x7f\td\ne");
        assert_eq!(line("a\tb\nc"), "a\\tb\\nc");
    }

    #[test]
    fn only_our_own_colours_pass() {
        let ours = paint("ok", Tint::Green)
            + &paint("left out", Tint::Yellow)
            + &paint("WRONG", Tint::Red);
        assert_eq!(
            text(&ours),
            "\x1b[32mok\x1b[0m\x1b[33mleft out\x1b[0m\x1b[31mWRONG\x1b[0m"
        );
        assert_eq!(
            text("\x1b[2J\x1b]0;x\x07\x1b"),
            "\\x1b[2J\\x1b]0;x\\x07\\x1b"
        );
        assert_eq!(
            text("\x1b[32m\x1b[0m"),
            "\\x1b[32m\\x1b[0m",
            "colours that a text from outside gives itself"
        );
    }

    #[test]
    fn a_stream_is_made_fit_whatever_its_pieces() {
        let whole = "é\x1b[2J,\"a\rb\"\nlast\x07";
        for size in 1..whole.len() {
            let mut seen = Vec::new();
            let mut escaping = Escaping::new(&mut seen);
            whole
                .as_bytes()
                .chunks(size)
                .for_each(|piece| escaping.write_all(piece).unwrap());
            escaping.flush().unwrap();
            assert_eq!(String::from_utf8(seen).unwrap(), text(whole), "{size}");
        }
    }

    #[test]
    fn messages_quote_a_line_at_most() {
        let long = "9".repeat(100_000);
        let prose = "one two ".repeat(1000);
        for message in [
            format!("invalid value '{long}' for '--n <N>': no number"),
            format!("row 2: t_median_s is no time: {long}"),
            format!("unknown column `{prose}`; there is a, b"),
            format!("it's {prose}, and the device's {prose}"),
            format!("a\n{long}\nb"),
        ] {
            let short = abridged(&message);
            assert!(
                short.lines().all(|line| line.chars().count() < 1100),
                "{short}"
            );
            assert!(short.contains("characters)"), "{short}");
        }
        let quoted = abridged(&format!("unknown column `{prose}`; there is a, b"));
        assert!(
            quoted.chars().count() < 220 && quoted.ends_with("; there is a, b"),
            "{quoted}"
        );
        let path = format!(
            "cannot read {}/x.csv: it's a folder, the driver's; 'a' and \"b\" are there",
            "folder/".repeat(40)
        );
        assert_eq!(abridged(&path), path);
        assert_eq!(abridged("a 'short' one\n"), "a 'short' one\n");
    }

    proptest! {
        #[test]
        fn nothing_unsafe_gets_through(any in any::<String>()) {
            prop_assert!(!text(&any).chars().any(|c| is_unsafe(c) && c != '\n' && c != '\t'));
            prop_assert!(!line(&any).chars().any(is_unsafe));
        }
    }
}

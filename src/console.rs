//! What commands say: results on standard output, everything else on standard error, and of several errors the worst.

use crate::cli::{Color, Global};
use crate::report::format;
use crate::report::format::Screen;
use crate::terminal::{self, Stdout, say};
use crate::{Error, Result};
use gpulab_model::Joined;
use std::io::{ErrorKind, IsTerminal, Write};

/// Writes text on standard output; what of it would steer a terminal is spelled out.
pub fn print(text: &str) -> Result<()> {
    print_bytes(terminal::text(text).as_bytes())
}

/// Writes bytes that are all our own. A reader who went away is no error: the command goes on to its verdict.
pub fn print_bytes(bytes: &[u8]) -> Result<()> {
    match (&Stdout).write_all(bytes) {
        Err(source) if source.kind() != ErrorKind::BrokenPipe => Err(stdout_error(source)),
        _ => Ok(()),
    }
}

/// Finds a standard output that nothing can be written to before anything is measured for it.
pub fn check_stdout() -> Result<()> {
    Stdout.check().map_err(stdout_error)
}

fn stdout_error(source: std::io::Error) -> Error {
    Error::Output {
        what: "standard output".into(),
        source,
    }
}

/// Says something on standard error: on a terminal in lines that fit it, elsewhere as it is, for the programs that search it.
pub fn note(text: &str) {
    if std::io::stderr().is_terminal() {
        say(&fitted(text, Screen::stderr().width))
    } else {
        say(text)
    }
}

impl Global {
    /// Says something on standard error, unless `--quiet` is given.
    pub fn say(&self, text: &str) {
        if !self.quiet {
            say(text);
        }
    }

    /// As [`note`], unless `--quiet` is given.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            note(text);
        }
    }
}

/// A text whose lines have at most `width` characters: of one that is longer, what does not fit stands further in below it.
fn fitted(text: &str, width: usize) -> String {
    text.lines()
        .map(|line: &str| {
            let indent = line.chars().take_while(|c| *c == ' ').count();
            match line.chars().count() <= width {
                true => line.to_owned(),
                false => format::wrap(line, width, &" ".repeat(2 * indent + 2))
                    .trim_end()
                    .to_owned(),
            }
        })
        .joined("\n")
}

/// What tables on standard output are drawn on.
pub fn screen(choice: Color) -> Screen {
    Screen::stdout(color(choice))
}

pub fn color(choice: Color) -> bool {
    match choice {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
            !refused && Stdout.is_terminal()
        }
    }
}

/// Longer lines are hard to read.
const MOST: usize = 110;

/// Characters of a line: as many as the terminal has, within reason. Where people read no terminal, lines are as long as
/// they are, for the programs that search them.
pub fn width() -> usize {
    if Stdout.is_terminal() {
        Screen::stdout(false).width.min(MOST)
    } else {
        usize::MAX
    }
}

/// Of all that went wrong, what decides the exit code; the rest is said. A wrong result comes before a build that failed,
/// then whatever else ended the run, then rows that cannot be trusted; that a reader went away hides nothing.
pub fn worst_of(ends: impl IntoIterator<Item = Result<()>>) -> Result<()> {
    let mut errors: Vec<Error> = ends.into_iter().filter_map(Result::err).collect();
    errors.sort_by_key(|error| match error {
        Error::Interrupted => 0,
        Error::WrongResult(_) => 1,
        Error::BuildFailed(_) => 2,
        _ if error.is_closed_pipe() => 5,
        Error::Untrusted(_) => 4,
        _ => 3,
    });
    let mut errors = errors.into_iter();
    let Some(worst) = errors.next() else {
        return Ok(());
    };
    errors
        .filter(|error| !error.is_closed_pipe())
        .for_each(|error| note(&format!("gpulab: {error}")));
    Err(worst)
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    match !word.is_empty()
        && word
            .chars()
            .all(|c| c.is_alphanumeric() || "-_=+.,:/@%^".contains(c))
    {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::fitted;
    use crate::cli::Cli;
    use clap::Parser;

    #[test]
    fn long_lines_are_broken_and_short_ones_stay_as_they_are() {
        let text = "gpulab: no device matches `x`:\n  --device 0   or 0:0   a long name";
        assert_eq!(fitted(text, 80), text);
        let narrow = "gpulab: no device\n  matches `x`:\n  --device 0 or 0:0 a\n      long name";
        assert_eq!(fitted(text, 22), narrow);
    }

    #[test]
    fn the_parsers_own_errors_are_broken_between_words() {
        let error = Cli::try_parse_from(
            "gpulab sweep dot --go-on-where-the-last-one-was-interrupted-by-somebody".split(' '),
        )
        .unwrap_err();
        let long = error.render().to_string();
        let text = fitted(&error.render().to_string(), 80);
        assert!(long.lines().any(|line| line.chars().count() > 80), "{long}");
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
        let words = |text: &str| {
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(words(&text), words(&long));
    }
}

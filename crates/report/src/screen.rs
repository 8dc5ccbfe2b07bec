//! What a text is drawn on: how wide it is, which characters it has, whether it has colours.

use crate::format::wrap;
use gpulab_record::terminal::{self, Stdout};
use std::env;

/// A terminal, or what stands in for one where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    pub width: usize,
    /// Whether it shows more than ASCII.
    pub unicode: bool,
    pub color: bool,
}

/// Characters of a line of pipes and files.
const WIDTH: usize = 80;

const LEAST_WIDTH: usize = 40;

impl Screen {
    /// Standard output; coloured as it is asked for.
    pub fn stdout(color: bool) -> Screen {
        Screen {
            width: width(stdout_columns()),
            unicode: is_unicode(variable),
            color,
        }
    }

    /// A text in lines that fit, those after the first indented.
    pub fn wrap(self, text: &str) -> String {
        wrap(text, self.width, "  ")
    }

    /// The same of a text of others, without what could steer a terminal.
    pub fn wrap_foreign(self, text: &str) -> String {
        self.wrap(&terminal::line(text))
    }

    /// Standard error, without colours.
    pub fn stderr() -> Screen {
        let measured = terminal_size::terminal_size_of(std::io::stderr()).map(|(width, _)| width.0);
        Screen {
            width: width(measured),
            unicode: is_unicode(variable),
            color: false,
        }
    }
}

/// What standard output's terminal says of its width.
fn stdout_columns() -> Option<u16> {
    terminal_size::terminal_size_of(Stdout.file().ok()?).map(|(width, _)| width.0)
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// `COLUMNS`, what was measured, or 80.
fn width(measured: Option<u16>) -> usize {
    let asked = variable("COLUMNS").and_then(|columns| columns.trim().parse().ok());
    let measured = measured.filter(|&columns| columns > 0).map(usize::from);
    asked
        .filter(|&columns| columns > 0)
        .or(measured)
        .unwrap_or(WIDTH)
        .max(LEAST_WIDTH)
}

/// Whether the locale's characters are UTF-8: the first of three variables that is set says so.
fn is_unicode(variable: impl Fn(&str) -> Option<String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(variable)
        .unwrap_or_default()
        .to_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locale_says_which_characters_there_are() {
        let of = |set: &[(&str, &str)]| {
            is_unicode(|name| {
                set.iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, value)| (*value).to_owned())
            })
        };
        assert!(!of(&[]) && !of(&[("LANG", "C")]) && !of(&[("LC_ALL", "C"), ("LANG", "C.UTF-8")]));
        assert!(of(&[("LANG", "de_DE.utf8")]) && of(&[("LC_CTYPE", "C.UTF-8"), ("LANG", "C")]));
    }

    #[test]
    fn no_screen_is_too_narrow_for_a_table() {
        if variable("COLUMNS").is_none() {
            assert_eq!(
                [None, Some(0), Some(7), Some(133)].map(width),
                [80, 80, 40, 133]
            );
        }
    }
}

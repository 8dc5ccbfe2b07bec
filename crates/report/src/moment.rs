//! The moment of a film that shows a fault: the costliest step of a line, or of all.

use gpulab_study::count::TracedStep;
use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// The line whose costliest step is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilmLine {
    /// Whichever has it.
    Worst,
    /// A line of a file, whose name is empty where any is meant.
    At { file: String, line: u64 },
}

impl FromStr for FilmLine {
    type Err = String;

    fn from_str(text: &str) -> Result<FilmLine, String> {
        if text == "worst" {
            return Ok(FilmLine::Worst);
        }
        let (file, line) = text.rsplit_once(':').unwrap_or(("", text));
        let line = line
            .parse()
            .map_err(|_| "give a line as 33 or strided.cl:33, or worst".to_owned())?;
        Ok(FilmLine::At {
            file: file.into(),
            line,
        })
    }
}

impl Display for FilmLine {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            FilmLine::Worst => f.write_str("worst"),
            FilmLine::At { file, line } if file.is_empty() => write!(f, "{line}"),
            FilmLine::At { file, line } => write!(f, "{file}:{line}"),
        }
    }
}

impl FilmLine {
    /// The command that makes the film of a kernel and opens it here; `what` is as in `reduce:2`.
    pub fn command(&self, what: &str) -> String {
        let file = what.replace(':', "-");
        format!("gpulab draw {what} --line {self} --film {file}.html")
    }

    pub fn is_of(&self, step: &TracedStep) -> bool {
        match self {
            FilmLine::Worst => true,
            FilmLine::At { file, line } => {
                *line == step.line
                    && (file.is_empty() || step.file.rsplit('/').next() == Some(file))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_named_with_or_without_its_file() {
        for text in ["worst", "33", "strided.cl:33"] {
            assert_eq!(text.parse::<FilmLine>().unwrap().to_string(), text);
        }
        for text in ["", "best", "strided.cl:", "-1"] {
            assert!(
                text.parse::<FilmLine>().unwrap_err().contains("worst"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_moment_is_a_command_and_an_address() {
        let line = "strided.cl:33".parse::<FilmLine>().unwrap();
        assert_eq!(
            line.command("reduce:2"),
            "gpulab draw reduce:2 --line strided.cl:33 --film reduce-2.html"
        );
    }
}

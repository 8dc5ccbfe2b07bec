//! What can go wrong, and the exit code that says so.

use std::io;
use std::path::Path;

/// Why a command ends without success. The message says what failed and what to do next.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Failed(String),
    /// Something the user asked for is not possible as asked.
    #[error("{0}")]
    Usage(String),
    /// No loader, platform or matching device.
    #[error("{0}")]
    NoDevice(String),
    #[error("{0}")]
    WrongResult(String),
    #[error("{0}")]
    BuildFailed(String),
    /// `--fail-on` was met.
    #[error("{0}")]
    Worse(String),
    /// A row cannot be trusted: faster than the device can be or, with `--strict`, flagged.
    #[error("{0}")]
    Untrusted(String),
    /// The noise is larger than the difference that was asked for.
    #[error("{0}")]
    Undecided(String),
    #[error("cannot write {}: {source}", if what.is_empty() { "a file without a name" } else { what })]
    Output {
        /// The file, or `standard output`.
        what: String,
        source: io::Error,
    },
    /// A process that did the work for this one said why, and ended with this exit code.
    #[error("the reason is above")]
    Told(u8),
    #[error("interrupted")]
    Interrupted,
}

/// What a command, or a part of it, comes to.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// That something is not possible as it was asked for, and why.
pub fn usage_error<T>(why: impl Into<String>) -> Result<T> {
    Err(Error::Usage(why.into()))
}

/// Every exit code there is, and when a command ends with it. When several apply, a wrong result comes first, then a build that failed, then a row that
/// cannot be trusted.
pub const EXITS: &[(u8, &str)] = &[
    (0, "Success."),
    (1, "Something failed at run time."),
    (2, "The command line or an input is invalid."),
    (
        3,
        "There is no OpenCL loader, no platform, or no device that matches.",
    ),
    (4, "A result failed its check, or a fault was found."),
    (5, "A kernel did not build."),
    (
        6,
        "SLOWER; or a case is slower, or counts more, than --fail-on allows.",
    ),
    (
        7,
        "NOT LOOKED AT; or a row cannot be trusted: faster than the device can be or, with --strict, flagged.",
    ),
    (
        8,
        "Neither kernel is faster by more than the noise hides, and they may differ: UNDECIDED.",
    ),
    (74, "An output could not be written."),
    (
        130,
        "Interrupted; what was measured until then has been printed.",
    ),
];

impl Error {
    /// That the file or the folder of this path cannot be written.
    pub fn unwritten<P: AsRef<Path> + ?Sized>(path: &P) -> impl Fn(io::Error) -> Error + Copy {
        move |source| Error::Output {
            what: path.as_ref().display().to_string(),
            source,
        }
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Failed(_) => 1,
            Error::Usage(_) => 2,
            Error::NoDevice(_) => 3,
            Error::WrongResult(_) => 4,
            Error::BuildFailed(_) => 5,
            Error::Worse(_) => 6,
            Error::Untrusted(_) => 7,
            Error::Undecided(_) => 8,
            Error::Output { .. } => 74,
            Error::Told(code) => *code,
            Error::Interrupted => 130,
        }
    }

    /// Whether the reader of a pipe went away, which ends a program quietly.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Error::Output { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_code_has_its_meaning() {
        let text = String::new;
        let output = Error::Output {
            what: text(),
            source: io::Error::other(""),
        };
        let all = [
            Error::Failed(text()),
            Error::Usage(text()),
            Error::NoDevice(text()),
            Error::WrongResult(text()),
            Error::BuildFailed(text()),
            Error::Worse(text()),
            Error::Untrusted(text()),
            Error::Undecided(text()),
            output,
            Error::Interrupted,
        ];
        let codes: Vec<u8> = [0]
            .into_iter()
            .chain(all.iter().map(Error::exit_code))
            .collect();
        assert_eq!(
            codes,
            EXITS.iter().map(|(code, _)| *code).collect::<Vec<_>>()
        );
    }
}

//! One file per subcommand: glue, no logic.

mod bench;
mod ceiling;
mod devices;
mod doctor;
mod dot;
mod graph;
mod interrupt;
mod lab;
mod ladder;
mod list;
mod merge;
mod minplus;
mod occupancy;
mod packaging;
mod points;
mod probe;
mod reduce;
mod sinks;
mod sweep;
mod transpose;

use crate::Error;
use crate::cli::{Cli, Color, Command};
use crate::stdout::{self, Results};
use crate::worker;
use std::io::Write;

/// Standard output, with failures as errors.
pub struct Out;

impl Out {
    /// Writes text.
    ///
    /// # Errors
    /// [`Error::Output`].
    pub fn text(&mut self, text: &str) -> Result<(), Error> {
        self.bytes(text.as_bytes())
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// [`Error::Output`].
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = Results.write_all(bytes).and_then(|()| Results.flush());
        written.map_err(|source| Error::Output { what: "standard output".into(), source })
    }
}

/// Carries out a command line.
///
/// # Errors
/// What the subcommand says.
pub fn run(cli: &Cli) -> Result<(), Error> {
    stdout::take_from_drivers();
    let mut out = Out;
    match &cli.command {
        Command::Devices { json } => devices::run(&mut out, json.as_deref()),
        Command::Doctor => doctor::run(&mut out),
        Command::List { family } => list::run(&mut out, family.as_deref()),
        Command::Dot(options) => dot::run(&mut out, &cli.global, options),
        Command::Reduce(options) => reduce::run(&mut out, &cli.global, options),
        Command::Transpose(options) => transpose::run(&mut out, &cli.global, options),
        Command::Minplus(options) => minplus::run(&mut out, &cli.global, options),
        Command::Ceiling(options) => ceiling::run(&mut out, &cli.global, options),
        Command::Lab(options) => lab::run(&mut out, &cli.global, options),
        Command::Occupancy(options) => occupancy::run(&mut out, &cli.global, options),
        Command::Sweep(options) => sweep::run(&mut out, &cli.global, options),
        Command::Merge { files, output } => merge::run(files, output),
        Command::Completions { shell } => packaging::completions(&mut out, *shell),
        Command::Man { dir } => packaging::man(dir),
        Command::Worker => worker::serve(),
    }
}

/// Whether tables use colour.
fn color(choice: Color) -> bool {
    match choice {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
            !refused && stdout::is_terminal()
        }
    }
}

/// Writes `text` to a file, or to standard output for `-`.
fn write_to(out: &mut Out, path: &str, text: &str) -> Result<(), Error> {
    if path == "-" {
        return out.text(text);
    }
    std::fs::write(path, text).map_err(|source| Error::Output { what: path.into(), source })
}

/// Prints a report: on standard output, or, where that is `taken` by a file, on standard error unless `quiet`.
fn tell(out: &mut Out, text: &str, taken: bool, quiet: bool) -> Result<(), Error> {
    if !taken {
        return out.text(text);
    }
    if !quiet {
        say(text.trim_end());
    }
    Ok(())
}

/// Finds a file that [`write_to`] could not write before anything is measured for it.
fn check_writable(path: Option<&str>) -> Result<(), Error> {
    let Some(path) = path.filter(|path| *path != "-") else { return Ok(()) };
    let opened = std::fs::OpenOptions::new().append(true).create(true).open(path);
    opened.map(|_| ()).map_err(|source| Error::Output { what: path.into(), source })
}

/// Says something on standard error.
fn say(text: &str) {
    // Nothing can be done about a standard error that cannot be written to.
    let _ = writeln!(std::io::stderr(), "{text}");
}

//! One file per subcommand: glue, no logic.

mod bench;
mod ceiling;
mod climb;
mod columns;
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
mod outputs;
mod packaging;
mod reduce;
mod show;
mod sweep;
mod transpose;

use crate::Error;
use crate::cli::{Cli, Color, Command};
use crate::stdout;
use crate::terminal::{self, Screen, Stdout, say};
use crate::worker;
use std::io::{ErrorKind, Write};

/// Standard output, with failures as errors. A reader who went away is none: the command goes on to its verdict.
pub struct Out;

impl Out {
    /// Writes text; what of it would steer a terminal is spelled out.
    ///
    /// # Errors
    /// [`Error::Output`].
    pub fn text(&mut self, text: &str) -> Result<(), Error> {
        self.bytes(terminal::text(text).as_bytes())
    }

    /// Writes text with colours; see [`Out::text`].
    ///
    /// # Errors
    /// [`Error::Output`].
    pub fn painted(&mut self, text: &str) -> Result<(), Error> {
        self.bytes(terminal::painted(text).as_bytes())
    }

    /// Writes bytes that are all our own.
    ///
    /// # Errors
    /// [`Error::Output`].
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        match (&Stdout).write_all(bytes) {
            Err(source) if source.kind() != ErrorKind::BrokenPipe => Err(stdout_error(source)),
            _ => Ok(()),
        }
    }

    /// Finds a standard output that nothing can be written to before anything is measured for it.
    ///
    /// # Errors
    /// [`Error::Output`].
    pub fn check() -> Result<(), Error> {
        Stdout.check().map_err(stdout_error)
    }
}

fn stdout_error(source: std::io::Error) -> Error {
    Error::Output { what: "standard output".into(), source }
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
        Command::List { source: Some(source), .. } => list::road(&mut out, source),
        Command::List { family, .. } => list::run(&mut out, family.as_deref()),
        Command::Dot(options) => dot::run(&mut out, &cli.global, options),
        Command::Reduce(options) => reduce::run(&mut out, &cli.global, options),
        Command::Transpose(options) => transpose::run(&mut out, &cli.global, options),
        Command::Minplus(options) => minplus::run(&mut out, &cli.global, options),
        Command::Ceiling(options) => ceiling::run(&mut out, &cli.global, options),
        Command::Lab(options) => lab::run(&mut out, &cli.global, options),
        Command::Occupancy(options) => occupancy::run(&mut out, &cli.global, options),
        Command::Sweep(options) => sweep::run(&mut out, &cli.global, options),
        Command::Merge { files, output } => merge::run(files, output),
        Command::Show(options) => show::run(&mut out, &cli.global, options),
        Command::Columns { md, json } => columns::run(&mut out, *md, *json),
        Command::Completions { shell } => packaging::completions(&mut out, *shell),
        Command::Man { dir } => packaging::man(dir),
        Command::Worker => worker::serve(),
    }
}

/// What tables on standard output are drawn on.
fn screen(choice: Color) -> Screen {
    Screen::stdout(color(choice))
}

/// Whether tables use colour.
fn color(choice: Color) -> bool {
    match choice {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
            !refused && Stdout.is_terminal()
        }
    }
}

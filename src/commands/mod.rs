//! One file per subcommand: glue, no logic.

mod attempt;
mod baseline;
mod bench;
mod ceiling;
mod climb;
mod columns;
mod compare;
mod count;
mod described;
mod devices;
mod diff;
mod doctor;
mod dot;
mod exercise;
mod explain;
mod filter;
mod graph;
mod help;
mod interrupt;
mod judge;
mod lab;
mod ladder;
mod lesson;
mod list;
mod manual;
mod merge;
mod minplus;
mod named;
mod next;
mod noise;
mod occupancy;
mod outputs;
mod own;
mod pace;
mod packaging;
mod page;
mod plot;
mod record;
mod reduce;
mod report;
mod show;
mod shown;
mod source;
mod splice;
mod start;
mod study;
mod sweep;
mod tables;
mod transpose;
mod tune;
mod tuned;
mod tuning;
mod why;
mod words;

pub use words::misunderstood;

use crate::Error;
use crate::children;
use crate::cli::{Cli, Color, Command, Global};
use crate::report::format;
use crate::stdout;
use crate::terminal::{self, Screen, Stdout, say};
use crate::worker;
use next::Done;
use std::io::{ErrorKind, IsTerminal, Write};

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

/// Carries out a command line. At a terminal its last line says what to run next.
///
/// # Errors
/// What the subcommand says.
pub fn run(cli: &Cli) -> Result<(), Error> {
    stdout::take_from_drivers();
    if bench::is_part_of_record() {
        children::end_with_parent();
    }
    let mut out = Out;
    let Some(command) = &cli.command else { return start::run(&mut out, &cli.global) };
    named::check(command, &cli.global)?;
    dispatch(&mut out, &cli.global, command)?;
    if !cli.global.quiet && Stdout.is_terminal() && std::io::stderr().is_terminal() {
        let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        let done = Done { command, device: cli.global.device_given(), words: &words };
        next::next(&done).into_iter().for_each(|next| say(&format!("next: {next}")));
    }
    Ok(())
}

fn dispatch(out: &mut Out, global: &Global, command: &Command) -> Result<(), Error> {
    match command {
        Command::Devices { json } => devices::run(out, global, json.as_deref()),
        Command::Doctor { json } => doctor::run(out, global, json.as_deref()),
        Command::List { source: Some(source), .. } => list::road(out, source),
        Command::List { name, md: true, .. } => list::markdown(out, name.as_deref()),
        Command::List { name, .. } => list::run(out, name.as_deref(), global.verbose),
        Command::Explain { lesson } => explain::run(out, lesson),
        Command::Source(options) => source::run(out, global, options),
        Command::Diff(options) => diff::run(out, global, options),
        Command::Dot(options) => dot::run(out, global, options),
        Command::Reduce(options) => reduce::run(out, global, options),
        Command::Transpose(options) => transpose::run(out, global, options),
        Command::Minplus(options) => minplus::run(out, global, options),
        Command::Try(options) => attempt::run(out, global, options),
        Command::Ladder(options) => described::run(out, global, options),
        Command::Exercise { action } => exercise::run(out, global, action.as_ref()),
        Command::Ceiling(options) => ceiling::run(out, global, options),
        Command::Lab(options) => lab::run(out, global, options),
        Command::Count(options) => count::run(out, global, options),
        Command::Occupancy(options) => occupancy::run(out, global, options),
        Command::Sweep(options) => sweep::run(out, global, options),
        Command::Tune(options) => tune::run(out, global, options),
        Command::Tuned { action } => tuned::run(out, global, action.as_ref()),
        Command::Merge { files, output } => merge::run(files, output),
        Command::Show(options) => show::run(out, global, options),
        Command::Plot(options) => plot::run(global, options),
        Command::Report(options) if options.splicing.splice => splice::run(out, global, options),
        Command::Report(options) => report::run(global, options),
        Command::Compare(options) => compare::run(out, global, options),
        Command::Noise(options) => noise::run(out, global, options),
        Command::Record(options) => record::run(out, global, options),
        Command::Columns { md, json } => columns::run(out, *md, *json),
        Command::Help { md: true, .. } => out.text(&manual::markdown()),
        Command::Help { topic, .. } => help::run(out, global, topic.as_deref()),
        Command::Completions { shell } => packaging::completions(out, *shell),
        Command::Man { dir } => packaging::man(global, dir),
        Command::Worker => worker::serve(),
    }
}

/// Says something on standard error: on a terminal in lines that fit it, elsewhere as it is, for the programs that search it.
pub fn note(text: &str) {
    match std::io::stderr().is_terminal() {
        true => say(&fitted(text, Screen::stderr().width)),
        false => say(text),
    }
}

/// A text whose lines have at most `width` characters: of one that is longer, what does not fit stands further in below it.
fn fitted(text: &str, width: usize) -> String {
    let line = |line: &str| {
        let indent = line.chars().take_while(|c| *c == ' ').count();
        match line.chars().count() <= width {
            true => line.to_owned(),
            false => format::wrap(line, width, &" ".repeat(2 * indent + 2)).trim_end().to_owned(),
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
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
        let error = Cli::try_parse_from("gpulab sweep dot --resume --retry okay".split(' ')).unwrap_err();
        let (long, text) = (error.render().to_string(), fitted(&error.render().to_string(), 80));
        assert!(long.lines().any(|line| line.chars().count() > 80), "{long}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&text), words(&long));
    }
}

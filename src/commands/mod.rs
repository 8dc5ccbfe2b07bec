//! One file per subcommand: what it does in turn. The work itself stands in the other folders and in the crates.

mod asm;
mod ceiling;
mod compare;
mod count;
mod devices;
mod diff;
mod doctor;
mod dot;
mod draw;
pub(crate) mod exercise;
mod explain;
mod film;
mod help;
mod lab;
mod list;
mod minplus;
mod plot;
mod record;
mod reduce;
mod report;
mod show;
mod source;
mod start;
mod sweep;
mod transpose;
mod r#try;
mod tune;

pub use crate::console::note;

use crate::bench::is_part_of_record;
use crate::cli::{Cli, Command};
use crate::prelude::*;
use crate::terminal::Stdout;
use crate::{processes, terminal, worker, written};
use clap::ArgMatches;
use std::io::IsTerminal;

/// What to run next, for people at a terminal.
const NEXT: [(&str, &str); 20] = [
    ("devices", "gpulab dot -n 1M --quick"),
    ("doctor", "gpulab dot -n 1M --quick"),
    ("list", "gpulab explain reduce"),
    ("explain", "gpulab source reduce:3"),
    ("source", "gpulab diff reduce:2 reduce:3"),
    ("diff", "gpulab count reduce --lines"),
    ("reduce", "gpulab explain reduce"),
    ("dot", "gpulab explain dot"),
    ("transpose", "gpulab explain transpose"),
    ("minplus", "gpulab explain minplus"),
    ("exercise", "gpulab exercise list"),
    ("ceiling", "gpulab reduce"),
    ("lab", "gpulab lab"),
    ("count", "gpulab draw reduce:2"),
    ("draw", "gpulab film reduce:2 -o film.html"),
    ("asm", "gpulab count reduce --lines"),
    ("tune", "gpulab tune transpose"),
    ("show", "gpulab help columns"),
    ("compare", "gpulab compare --help"),
    ("help", "gpulab list"),
];

/// Carries out a command line. At a terminal its last line says what to run next.
pub fn run(cli: &Cli, matches: &ArgMatches) -> Result<(), Error> {
    terminal::take_from_drivers();
    if is_part_of_record() {
        processes::end_with_parent();
    }
    let mut out = Out;
    let Some(command) = &cli.command else { return start::run(&mut out, &cli.global) };
    written::check(command, matches, cli.global.force)?;
    dispatch(&mut out, &cli.global, command)?;
    let next = NEXT.iter().find(|(name, _)| matches.subcommand_name() == Some(name));
    if let (Some((_, next)), false, true, true) =
        (next, cli.global.quiet, Stdout.is_terminal(), std::io::stderr().is_terminal())
    {
        say(&format!("next: {next}"));
    }
    Ok(())
}

fn dispatch(out: &mut Out, global: &Global, command: &Command) -> Result<(), Error> {
    match command {
        Command::Devices { json } => devices::run(out, global, json.as_deref()),
        Command::Doctor { json } => doctor::run(out, global, json.as_deref()),
        Command::List { source: Some(source), .. } => list::road(out, source),
        Command::List { name, .. } => list::run(out, name.as_deref(), global.verbose),
        Command::Explain { lesson } => explain::run(out, lesson),
        Command::Source(options) => source::run(out, global, options),
        Command::Diff(options) => diff::run(out, global, options),
        Command::Dot(options) => dot::run(out, global, options),
        Command::Reduce(options) => reduce::run(out, global, options),
        Command::Transpose(options) => transpose::run(out, global, options),
        Command::Minplus(options) => minplus::run(out, global, options),
        Command::Try(options) => r#try::run(out, global, options),
        Command::Exercise { action } => exercise::run(out, global, action.as_ref()),
        Command::Ceiling(options) => ceiling::run(out, global, options),
        Command::Lab(options) => lab::run(out, global, options),
        Command::Count(options) => count::run(out, global, options),
        Command::Draw(options) => draw::run(out, global, options),
        Command::Film(options) => film::run(global, options),
        Command::Asm(options) => asm::run(out, global, options),
        Command::Sweep(options) => sweep::run(out, global, options),
        Command::Tune(options) => tune::run(out, global, options),
        Command::Show(options) => show::run(out, global, options),
        Command::Plot(options) => plot::run(global, options),
        Command::Report(options) => report::run(global, options),
        Command::Compare(options) => compare::run(out, global, options),
        Command::Record(options) => record::run(out, global, options),
        Command::Help { topic, md } => help::run(out, global, topic.as_deref(), *md),
        Command::Completions { shell } => help::completions(out, *shell),
        Command::Worker => worker::serve(),
    }
}

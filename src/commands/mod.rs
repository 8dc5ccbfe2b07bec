//! One file per subcommand: what it does in turn. The work itself stands in the other folders and in the crates.

mod asm;
mod ceiling;
mod check;
mod compare;
pub(crate) mod count;
mod devices;
mod doctor;
mod dot;
mod draw;
mod elsewhere;
pub(crate) mod exercise;
mod explain;
mod help;
mod lab;
mod ladder;
mod list;
mod mcp;
mod minplus;
mod plot;
mod record;
mod reduce;
mod report;
pub(crate) mod show;
mod source;
mod start;
pub(crate) mod sweep;
mod time;
mod transpose;
pub(crate) mod r#try;
mod tune;

pub use crate::console::note;

use crate::bench::is_part_of_record;
use crate::cli::{Cli, Command, Global};
use crate::kernels::ladders;
use crate::outputs::Paths;
use crate::store::shipped;
use crate::terminal::{self, Stdout, say};
use crate::{Error, Result, processes, worker, written};
use clap::ArgMatches;
use clap::parser::ValueSource;
use explain::{Lesson, lesson};
use show::records::of_device;
use std::io::IsTerminal;

/// Commands, and what to run next, for people at a terminal; another ladder's name takes the place of `reduce`.
const NEXT: &str = include_str!("next.txt");

/// Carries out a command line. At a terminal its last line says what to run next.
pub fn run(cli: &Cli, matches: &ArgMatches) -> Result<()> {
    // The server writes to standard output itself.
    if !matches!(cli.command, Some(Command::Mcp { .. })) {
        terminal::take_from_drivers();
    }
    if is_part_of_record() {
        processes::end_with_parent();
    }
    let Some(command) = &cli.command else {
        return start::run(&cli.global);
    };
    written::check(command, matches, cli.global.force)?;
    dispatch(&cli.global, command).map_err(|error| recorded_elsewhere(error, &cli.global))?;
    let is_watched = !cli.global.quiet && Stdout.is_terminal() && std::io::stderr().is_terminal();
    if let Some(next) = next(matches).filter(|_| is_watched) {
        say(&format!("next: {next}"));
    }
    Ok(())
}

/// What follows a command line: for the rung, the ladder or the word that it names, on the device that it names.
fn next(matches: &ArgMatches) -> Option<String> {
    let (command, typed) = matches.subcommand()?;
    let command = format!("{command}: ");
    let next = NEXT.lines().find_map(|line| line.strip_prefix(&command))?;
    let named = ["film", "what", "lesson", "name", "family", "kernel"]
        .iter()
        .find_map(|id| typed.try_get_raw(id).ok()??.next()?.to_str());
    let named = named.unwrap_or("reduce");
    let (name, rung) = match lesson(named) {
        Ok(Lesson::Word(entry)) => {
            let rungs = entry.rsplit("explain ").next()?;
            rungs.split(',').next()?.split_once(':')?
        }
        _ => (named.split(':').next()?, "2"),
    };
    // After a film nothing follows, and a reader's kernel has other rungs.
    if next.contains("reduce") && !ladders().any(|family| family.name == name) {
        return None;
    }
    let next = next.replace("reduce:2", &format!("{name}:{rung}"));
    let next = next.replace("reduce", name);
    match matches.value_source("device") {
        Some(ValueSource::CommandLine) => {
            let device = matches.get_raw("device")?.next()?.to_str()?;
            Some(format!("{next} -d {device}"))
        }
        _ => Some(next),
    }
}

/// A device that is not here may have left records.
fn recorded_elsewhere(error: Error, global: &Global) -> Error {
    match (error, global.device.as_deref()) {
        (Error::NoDevice(why), Some(asked)) if of_device(&shipped(), asked).is_ok() => {
            Error::NoDevice(format!(
                "{why}\nwhat was recorded on one: gpulab show {asked}"
            ))
        }
        (error, _) => error,
    }
}

fn dispatch(global: &Global, command: &Command) -> Result<()> {
    match command {
        Command::Devices { json } => devices::run(global, json.as_deref()),
        Command::Doctor => doctor::run(global),
        Command::List {
            source: Some(source),
            ..
        } => list::road(source),
        Command::List { name, .. } => list::run(name.as_deref(), global.verbose),
        Command::Explain { lesson } => explain::run(lesson),
        Command::Source {
            what,
            expanded,
            cl_dir,
        } => source::run(global, what, *expanded, cl_dir.as_deref()),
        Command::Dot(options) => dot::run(global, options),
        Command::Reduce(options) => reduce::run(global, options),
        Command::Transpose(options) => transpose::run(global, options),
        Command::Minplus(options) => minplus::run(global, options),
        Command::Try(options) => r#try::run(global, options),
        Command::Check(options) => check::run(global, options),
        Command::Exercise { action } => exercise::run(global, action.as_ref()),
        Command::Ceiling(options) => ceiling::run(global, options),
        Command::Lab(options) => lab::run(global, options),
        Command::Count(options) => count::run(global, options),
        Command::Time(options) => time::run(global, &options.host, &Paths::from(&options.rows)),
        Command::Draw(options) => draw::run(global, options),
        Command::Asm(options) => asm::run(global, options),
        Command::Sweep(options) => sweep::run(global, options),
        Command::Tune(options) => tune::run(global, options),
        Command::Show(options) => show::run(global, options),
        Command::Plot(options) => plot::run(global, options),
        Command::Report { files, output } => report::run(global, files, output),
        Command::Compare(options) => compare::run(global, options),
        Command::Record {
            output,
            quick,
            budget,
        } => record::run(global, output.as_deref(), *quick, *budget),
        Command::Help { topic, md } => help::run(global, topic.as_deref(), *md),
        Command::Completions { shell } => help::completions(*shell),
        Command::Mcp { folder } => mcp::run(folder),
        Command::Worker => worker::serve(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn what_is_next_keeps_the_ladder_and_the_device_and_can_be_typed() {
        let after = |line: &str| {
            let matches = Cli::command()
                .try_get_matches_from(line.split(' '))
                .unwrap();
            next(&matches)
        };
        assert_eq!(after("gpulab count dot:2").unwrap(), "gpulab draw dot:2");
        assert_eq!(
            after("gpulab source transpose:3").unwrap(),
            "gpulab count transpose --lines"
        );
        for (word, rung) in [
            ("coalescing", "dot:2"),
            ("bank", "reduce:3"),
            ("dot:5", "dot:2"),
        ] {
            let bet = format!("gpulab exercise predict {rung}");
            assert_eq!(after(&format!("gpulab explain {word}")).unwrap(), bet);
        }
        for word in crate::report::glossary::words() {
            let matches = Cli::command().try_get_matches_from(["gpulab", "explain", word]);
            let Some(next) = next(&matches.unwrap()) else {
                continue;
            };
            let (_, rung) = next.rsplit_once(' ').unwrap();
            let Ok(Lesson::Kernel(family, rung)) = lesson(rung) else {
                panic!("{word}: {next}");
            };
            assert!(family.before(rung).is_some(), "{word}: {next}");
        }
        for line in [
            "asm mine.toml",
            "count mine.cl --as reduce",
            "draw mine.cl --as reduce",
            "draw dot:2 --film film.html",
            "explain pinned-memory",
        ] {
            assert_eq!(after(&format!("gpulab {line}")), None, "{line}");
        }
        assert_eq!(
            after("gpulab -d cpu dot").unwrap(),
            "gpulab explain dot -d cpu"
        );
        for (_, next) in NEXT.lines().filter_map(|line| line.split_once(": ")) {
            for ladder in ["reduce", "dot", "transpose", "minplus"] {
                let line = format!("{} -d cpu", next.replace("reduce", ladder));
                let parsed = Cli::command().try_get_matches_from(line.split(' '));
                assert!(parsed.is_ok() || line.contains("--help"), "{line}");
            }
        }
    }
}

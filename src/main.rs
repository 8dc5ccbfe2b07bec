//! Parses the command line, runs the command, and turns its error into a message and an exit code.

mod process;

use clap::builder::Resettable;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use gpulab::cli::Cli;
use gpulab::terminal::{Stdout, abridged};
use gpulab::{Error, commands};
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    process::prepare();
    // A usage error shows what the command line lacks, and not what the environment gives.
    let parsed = parsed(Cli::command()).or_else(|error| match error.use_stderr() {
        true => parsed(Cli::command().mut_arg("device", |arg| arg.env(Resettable::Reset))),
        false => Err(error),
    });
    match parsed {
        Ok((cli, matches)) => {
            commands::run(&cli, &matches).map_or_else(|error| ended(&error), |()| ExitCode::SUCCESS)
        }
        Err(error) => usage(&error),
    }
}

fn parsed(command: clap::Command) -> clap::error::Result<(Cli, ArgMatches)> {
    let matches = command.try_get_matches()?;
    Ok((Cli::from_arg_matches(&matches)?, matches))
}

/// Says why the program ends without success. That the reader of a pipe went away is no reason.
fn ended(error: &Error) -> ExitCode {
    if error.is_closed_pipe() {
        return ExitCode::SUCCESS;
    }
    if !matches!(error, Error::Told(_)) {
        let message = format!("gpulab: {error}");
        // Compilers' logs are whole.
        commands::note(&if matches!(error, Error::BuildFailed(_)) {
            message
        } else {
            abridged(&message)
        });
    }
    ExitCode::from(error.exit_code())
}

/// Prints help, version or a usage error where it belongs. clap itself overlooks a full disk, and control characters in
/// what it repeats of the command line.
fn usage(error: &clap::Error) -> ExitCode {
    let code = ExitCode::from(error.exit_code() as u8);
    if error.use_stderr() {
        commands::note(&abridged(error.render().to_string().trim_end()));
        return code;
    }
    // clap knows whether there are colours; an empty write tells whether the text would arrive.
    let written = Stdout
        .check()
        .and_then(|()| error.print())
        .and_then(|()| std::io::stdout().flush());
    written.map_or_else(
        |source| {
            ended(&Error::Output {
                what: "standard output".into(),
                source,
            })
        },
        |()| code,
    )
}

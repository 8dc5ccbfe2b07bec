//! Parses the command line, runs the command, and turns its error into a message and an exit code.

use clap::Parser;
use gpulab::cli::Cli;
use gpulab::{Error, commands};
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    match commands::run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing can be done about a standard error that cannot be written to.
            let _ = writeln!(std::io::stderr(), "gpulab: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

/// Prints help, version or a usage error where it belongs. clap itself overlooks a full disk.
fn usage(error: &clap::Error) -> ExitCode {
    let written = if error.use_stderr() { error.print() } else { print_help(error) };
    match written {
        Err(source) if !error.use_stderr() => {
            let error = Error::Output { what: "standard output".into(), source };
            if error.is_closed_pipe() { ExitCode::SUCCESS } else { ExitCode::from(error.exit_code()) }
        }
        _ => ExitCode::from(error.exit_code() as u8),
    }
}

fn print_help(error: &clap::Error) -> std::io::Result<()> {
    error.print()?;
    std::io::stdout().flush()
}

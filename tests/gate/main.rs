//! The gates: long checks of gpulab's promises, each a command: `scripts/gate NAME [--quick]`.
//!
//! A gate prints its figure on its last line and ends with 0 or 1. It cannot pass without having run: what it was
//! to do is counted, and a count below its least is a failure.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a gate tells what it does"
)]

mod baselines;
mod child;
mod counts;
mod faults;
mod labels;
mod mutants;
mod recipes;
mod right;
mod verdicts;

use std::process::ExitCode;

/// What a gate is asked for.
pub struct Options {
    /// A part of the work, for a few minutes.
    pub quick: bool,
    /// Only what has this in its name.
    pub only: Option<String>,
}

/// What a gate came to.
pub struct Report {
    /// Whether all was as it must be, and enough of it was tried.
    pub passed: bool,
    /// Its figures, in one line.
    pub figure: String,
}

type Gate = fn(&Options) -> Result<Report, String>;

const GATES: &[(&str, Gate)] = &[
    ("baselines", baselines::run),
    ("counts", counts::run),
    ("faults", faults::run),
    ("labels", labels::run),
    ("mutants", mutants::run),
    ("recipes", recipes::run),
    ("right", right::run),
    ("verdicts", verdicts::run),
];

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_default();
    if name == "child" {
        return child::serve(
            &args.collect::<Vec<_>>(),
            &[("mutants", mutants::child), ("right", right::child)],
        );
    }
    let mut options = Options {
        quick: false,
        only: None,
    };
    for arg in args {
        match arg.as_str() {
            "--quick" => options.quick = true,
            only => options.only = Some(only.to_owned()),
        }
    }
    let Some((name, gate)) = GATES.iter().find(|(known, _)| *known == name) else {
        let names: Vec<&str> = GATES.iter().map(|(name, _)| *name).collect();
        eprintln!(
            "there is no gate {name:?}; the gates are {}",
            names.join(", ")
        );
        return ExitCode::from(2);
    };
    match gate(&options) {
        Ok(Report { passed, figure }) => {
            println!(
                "gate {name}: {}: {figure}",
                if passed { "passed" } else { "FAILED" }
            );
            if passed {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(why) => {
            println!("gate {name}: FAILED: {why}");
            ExitCode::FAILURE
        }
    }
}

//! The files that a command line writes: none is one that it reads, or another output, or a file that gpulab did not write.

use crate::brought::{family_files, is_family_file, kernel_files};
use crate::ceilings::CeilingRow;
use crate::cli::{Cli, Command};
use crate::compare::ComparisonRow;
use crate::count::CountRow;
use crate::graph::is_written_npy;
use crate::layer::KEPT_MARK;
use crate::record::{Point, ProgramRow, Row, SampleRow};
use crate::report::exercise::SHEET_MARK;
use crate::report::film::is_film;
use crate::report::markdown::MARKDOWN_MARK;
use crate::report::page::is_page;
use crate::store::{OutputFile, begins_as_csv, begins_as_json, begins_as_object, check_outputs};
use crate::{Result, files};
use clap::{ArgMatches, CommandFactory};
use std::path::{Path, PathBuf};

/// The commands that run a ladder.
const LADDERS: &str = "reduce, dot, transpose, minplus, try";

/// Commands, an option of theirs that names a file to write, and whether a file is a result of the same kind.
type Written = (&'static str, &'static str, fn(&str) -> bool);
const WRITTEN: &[Written] = &[
    (LADDERS, "--csv", begins_as_csv::<Row>),
    (
        "reduce, dot, transpose, minplus",
        "--json",
        begins_as_json::<Row>,
    ),
    ("try", "--json", |head| {
        begins_as_json::<Row>(head) || is_verdict(head)
    }),
    (LADDERS, "--md", is_markdown),
    ("check", "--md", is_markdown),
    ("check", "--json", is_verdict),
    ("check", "--sarif", |head| {
        begins_as_object(head, &["$schema", "version", "runs"])
    }),
    ("check", "--junit", |head| {
        head.contains("<testsuite name=\"gpulab check\"")
    }),
    (LADDERS, "--samples", begins_as_csv::<SampleRow>),
    // A list of distances looks as a list of edges does, which may be a reader's own.
    ("minplus", "-o", is_written_npy),
    ("ceiling", "--csv", begins_as_csv::<CeilingRow>),
    ("ceiling", "--json", begins_as_json::<CeilingRow>),
    ("lab", "--csv", begins_as_csv::<Point>),
    ("lab", "--json", begins_as_json::<Point>),
    ("count", "--csv", begins_as_csv::<CountRow>),
    ("count", "--json", begins_as_json::<CountRow>),
    ("compare", "--csv", begins_as_csv::<ComparisonRow>),
    ("compare", "--json", is_verdict),
    ("try, time", "-o", |head| head.starts_with(KEPT_MARK)),
    ("time", "--csv", begins_as_csv::<ProgramRow>),
    ("time", "--json", begins_as_json::<ProgramRow>),
    ("sweep, tune", "-o", begins_as_csv::<Row>),
    ("tune", "--csv", begins_as_csv::<Row>),
    ("tune", "--json", begins_as_json::<Row>),
    ("plot, draw", "-o", is_svg),
    ("draw", "--film", is_film),
    ("report", "-o", is_page),
    ("devices", "--json", |head| {
        begins_as_object(head, &["cl_version", "selector", "vendor"])
    }),
    ("exercise sheet", "-o", |head| head.starts_with(SHEET_MARK)),
    ("exercise check", "--json", |head| {
        begins_as_object(head, &["exercise", "verdict", "reason", "hint"])
    }),
];

/// Refuses a command line with an output that would replace an input that it names, another output, or a file that gpulab did
/// not write.
pub fn check(command: &Command, matches: &ArgMatches, forced: bool) -> Result<()> {
    let mut known = Cli::command();
    let mut name = String::new();
    let mut own = matches;
    while let Some((next, below)) = own.subcommand() {
        known = known.find_subcommand(next).cloned().unwrap_or_default();
        name = format!("{name} {next}").trim().to_owned();
        own = below;
    }
    let mut outputs = Vec::new();
    let mut inputs = Vec::new();
    for id in known.get_arguments().map(|arg| arg.get_id().as_str()) {
        let mut values = own
            .try_get_raw(id)
            .ok()
            .flatten()
            .into_iter()
            .flatten()
            .map(|value| value.to_string_lossy());
        let of_this = WRITTEN.iter().find(|(commands, option, _)| {
            let is_output = *option == "-o" && id == "output";
            commands.split(", ").any(|one| one == name)
                && (is_output || option.trim_start_matches('-') == id)
        });
        match of_this {
            // A sweep that goes on says itself whether it can.
            Some((_, option, is_ours)) => {
                outputs.extend(values.next_back().map(|path| OutputFile {
                    option,
                    path,
                    is_ours: if matches!(command, Command::Sweep(sweep) if sweep.resume) {
                        |_| true
                    } else {
                        *is_ours
                    },
                }))
            }
            None => inputs.extend(values.flat_map(|value| read(id, &value))),
        }
    }
    check_outputs(&outputs, &inputs, forced)
}

/// The files that an option's value names, if it names any; of a folder all that lie below it.
fn read(option: &str, value: &str) -> Vec<PathBuf> {
    let has_folders = ["cl_dir", "all", "files", "what"].contains(&option);
    value
        .split(',')
        .chain([value])
        .flat_map(|name| match Path::new(name) {
            folder if folder.is_dir() => {
                if has_folders {
                    files::below(folder)
                } else {
                    Vec::new()
                }
            }
            family if is_family_file(name) => family_files(family),
            file if name.ends_with(".cl") => kernel_files(file),
            file => vec![file.to_owned()],
        })
        .collect()
}

fn is_verdict(head: &str) -> bool {
    begins_as_object(head, &["schema", "gpulab", "command", "verdict"])
}

fn is_markdown(head: &str) -> bool {
    head.starts_with(MARKDOWN_MARK)
}

/// Whether an SVG is a picture of gpulab's: its parts have these names.
fn is_svg(head: &str) -> bool {
    head.starts_with("<svg") && head.contains("\"picture-title picture-about\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_names_an_option_of_its_commands() {
        for (commands, option, _) in WRITTEN {
            for name in commands.split(", ") {
                let mut command = Cli::command();
                for word in name.split(' ') {
                    command = command.find_subcommand(word).unwrap().clone();
                }
                let is_named = command.get_arguments().any(|arg| {
                    let short = arg.get_short().map(|short| format!("-{short}"));
                    let long = arg.get_long().map(|long| format!("--{long}"));
                    [short, long].contains(&Some((*option).to_owned()))
                });
                assert!(is_named, "{name} has no {option}");
            }
        }
    }
}

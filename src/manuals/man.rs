//! The man pages.

use crate::ceilings::CEILINGS_FOLDER;
use crate::cli::Cli;
use crate::cli::environment::VARIABLES;
use crate::cli::examples::EXAMPLES;
use crate::error::EXITS;
use crate::prelude::*;
use crate::simulator::PLUGINS_FOLDER;
use crate::store::{OutputFile, check_outputs};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::io::Write;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Writes `gpulab.1` and a page for each subcommand into `dir`, which is made if it is not there.
pub(crate) fn man(global: &Global, dir: &Path) -> Result<(), Error> {
    if !dir.exists() {
        std::fs::create_dir_all(dir)
            .map_err(|source| Error::Output { what: format!("the folder {}", dir.display()), source })?;
    }
    let mut program = Cli::command();
    program.build();
    let commands = program.get_subcommands().filter(|c| !c.is_hide_set()).cloned();
    let page = |command: Command| {
        let name = command.get_name().to_owned();
        let page = Man::new(command).source(format!("gpulab {VERSION}"));
        (name, dir.join(page.get_filename()).to_string_lossy().into_owned(), page)
    };
    let all: Vec<_> = commands.chain([program.clone()]).map(page).collect();
    let is_ours = |head: &str| head.contains(".TH gpulab");
    let outputs: Vec<_> =
        all.iter().map(|(_, path, _)| OutputFile { option: "man", path: path.into(), is_ours }).collect();
    check_outputs(&outputs, &[], global.force)?;
    for (name, path, page) in &all {
        let written = pages(page, name).and_then(|text| std::fs::write(path, text));
        written.map_err(|source| Error::Output { what: format!("the man page {path}"), source })?;
    }
    Ok(())
}

/// A page, and what clap knows nothing of.
fn pages(page: &Man, command: &str) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    page.render(&mut text)?;
    sections(command).to_writer(&mut text)?;
    text.flush()?;
    Ok(text)
}

/// What follows the options: exit codes, environment, files and examples.
fn sections(command: &str) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["EXIT STATUS"]);
    EXITS.iter().for_each(|exit| entry(&mut roff, &exit.code.to_string(), exit.means));
    roff.control("SH", ["ENVIRONMENT"]);
    VARIABLES.iter().for_each(|variable| entry(&mut roff, variable.name, variable.about));
    roff.control("SH", ["FILES"]);
    files().iter().for_each(|(name, about)| entry(&mut roff, name, about));
    roff.control("SH", ["EXAMPLES"]);
    let is_meant = |of: Option<&str>| command == "gpulab" || of == Some(command);
    for example in EXAMPLES.iter().filter(|e| is_meant(e.command())) {
        entry(&mut roff, example.line, example.does);
    }
    roff
}

/// A term, and below it what it means.
fn entry(roff: &mut Roff, term: &str, about: &str) {
    roff.control("TP", []);
    roff.text([bold(term)]);
    roff.text([roman(about)]);
}

/// Files that are written without being named.
fn files() -> [(String, &'static str); 3] {
    [
        (
            format!("$GPULAB_DATA/{0}/*.json, or ~/.local/share/gpulab/{0}/*.json", CEILINGS_FOLDER),
            "Measured limits, one file for each device and driver. On other systems the second path lies in the user's \
             data folder.",
        ),
        (
            format!("$GPULAB_DATA/{0}/*.so, or ~/.local/share/gpulab/{0}/*.so", PLUGINS_FOLDER),
            "The plugin of gpulab count for each version of Oclgrind, built anew where it is missing.",
        ),
        (
            "FILE.rounds".to_owned(),
            "Beside the FILE of gpulab sweep -o FILE while it runs: rounds of configurations that have no row yet, for \
             --resume.",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_its_sections() {
        let mut program = Cli::command();
        program.build();
        for command in program.get_subcommands().filter(|c| !c.is_hide_set()) {
            let text = pages(&Man::new(command.clone()), command.get_name()).unwrap();
            let text = String::from_utf8(text).unwrap();
            for section in ["EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES"] {
                assert!(text.contains(section), "{}: {section}", command.get_name());
            }
            let examples = text.split("EXAMPLES").nth(1).unwrap();
            assert!(examples.contains(&format!("gpulab {}", command.get_name())), "{text}");
        }
    }
}

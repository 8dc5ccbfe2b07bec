//! `gpulab completions` and `gpulab man`: files for packagers.

use super::help::COLUMNS_TOPIC;
use crate::Error;
use crate::ceilings::CEILINGS_FOLDER;
use crate::cli::environment::VARIABLES;
use crate::cli::examples::EXAMPLES;
use crate::cli::{Cli, Global, command_names};
use crate::console::Out;
use crate::device::select::{ALIASES, TYPES};
use crate::error::EXITS;
use crate::experiments::EXPERIMENTS;
use crate::kernels::{FAMILIES, Family, Rung};
use crate::lesson::all_rungs;
use crate::report::sources;
use crate::simulator::PLUGINS_FOLDER;
use crate::store::{OutputFile, check_outputs};
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::io::Write;
use std::path::Path;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Prints a shell's completion script.
pub fn completions(out: &mut Out, shell: clap_complete::Shell) -> Result<(), Error> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut completed(Cli::command()), "gpulab", &mut script);
    out.bytes(&script)
}

/// The command line as completions know it: without what is hidden, and with the names that options take.
fn completed(program: Command) -> Command {
    let commands = program.get_subcommands().filter(|c| !c.is_hide_set()).cloned();
    let commands: Vec<Command> = commands.map(|command| command.mut_args(named)).map(laddered).collect();
    let options = program.get_arguments().cloned().map(named).collect::<Vec<_>>();
    // A command cannot lose a subcommand, so that another one is made.
    Command::new("gpulab")
        .version(env!("CARGO_PKG_VERSION"))
        .args(options)
        .subcommands(commands)
        .disable_help_subcommand(true)
}

/// An option that takes names, with the names. Others stay as they are.
fn named(arg: Arg) -> Arg {
    let id = arg.get_id().to_string();
    let families = || FAMILIES.iter().map(|f| &*f.name);
    let names: Vec<String> = match id.as_str() {
        "device" => TYPES.iter().copied().chain(ALIASES.iter().map(|(alias, _)| *alias)).map(str::to_owned).collect(),
        "family" | "kernel" => families().map(str::to_owned).collect(),
        "source" if arg.get_possible_values().is_empty() => sources::all().iter().map(|s| s.name()).collect(),
        "variant" => FAMILIES.iter().flat_map(|f| rungs(f)).collect(),
        // That of `lab`, and that of `list`.
        "name" => EXPERIMENTS.iter().map(|e| e.name).chain(["all"]).chain(families()).map(str::to_owned).collect(),
        "lesson" => lessons(),
        "topic" => command_names().into_iter().chain([COLUMNS_TOPIC.to_owned()]).collect(),
        _ => return arg,
    };
    let mut seen = std::collections::BTreeSet::new();
    arg.value_parser(PossibleValuesParser::new(names.into_iter().filter(|name| seen.insert(name.clone()))))
}

/// What is explained and has a source: families, rungs as in `reduce:3`, and experiments.
fn lessons() -> Vec<String> {
    let words = FAMILIES.iter().map(|f| &*f.name).chain(EXPERIMENTS.iter().map(|e| e.name));
    words.map(str::to_owned).chain(all_rungs()).collect()
}

/// A ladder's command takes the rungs of its family alone, `lab` and `source` no families and `list` no `all`.
fn laddered(command: Command) -> Command {
    let only = |names: Vec<String>| move |arg: Arg| arg.value_parser(PossibleValuesParser::new(names));
    let experiments = || EXPERIMENTS.iter().map(|e| e.name.to_owned());
    match command.get_name() {
        "lab" => command.mut_arg("name", only(experiments().chain(["all".to_owned()]).collect())),
        "source" => {
            let is_family = |word: &String| FAMILIES.iter().any(|f| f.name == *word);
            command.mut_arg("lesson", only(lessons().into_iter().filter(|word| !is_family(word)).collect()))
        }
        "list" => {
            command.mut_arg("name", only(FAMILIES.iter().map(|f| f.name.to_string()).chain(experiments()).collect()))
        }
        "count" => {
            let names: Vec<String> = FAMILIES.iter().map(|f| f.name.to_string()).chain(experiments()).collect();
            command.mut_arg("family", only(names.clone())).mut_arg("kernel", only(names))
        }
        name => match FAMILIES.iter().find(|f| f.name == name) {
            Some(family) => command.mut_arg("variant", only(rungs(family))),
            None => command,
        },
    }
}

fn rungs(family: &Family) -> Vec<String> {
    family.kernels().map(Rung::variant).map(str::to_owned).collect()
}

/// Writes `gpulab.1` and a page for each subcommand into `dir`, which is made if it is not there.
///
/// # Errors
/// [`Error::Output`] if the folder cannot be made or written to.
pub fn man(global: &Global, dir: &Path) -> Result<(), Error> {
    let unwritable = |source| Error::Output { what: format!("the folder {}", dir.display()), source };
    if !dir.exists() {
        std::fs::create_dir_all(dir).map_err(unwritable)?;
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
    let outputs: Vec<_> = all.iter().map(|(_, path, _)| OutputFile { option: "man", path, is_ours }).collect();
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

    fn script(shell: clap_complete::Shell) -> String {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut completed(Cli::command()), "gpulab", &mut script);
        String::from_utf8(script).unwrap()
    }

    #[test]
    fn completions_know_names_and_hide_what_is_hidden() {
        use clap_complete::Shell;
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = script(shell);
            for word in ["stride", "minplus", "sequential", "oclgrind", "maruyama", "local_copy"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
            assert!(!script.contains("worker"), "{shell}");
            assert!(script.replace('\\', "").contains("reduce:3"), "{shell}");
        }
    }

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

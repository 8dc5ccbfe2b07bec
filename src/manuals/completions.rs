//! Completions of shells: the command line with the names that its options take.

use crate::cli::{Cli, command_names};
use crate::device::select::{ALIASES, TYPES};
use crate::experiments::EXPERIMENTS;
use crate::kernels::ladders;
use crate::prelude::*;
use crate::report::explain::all_rungs;
use crate::report::sources;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory};

/// What asks for the columns instead of a command.
pub(crate) const COLUMNS_TOPIC: &str = "columns";

pub(crate) fn completions(out: &mut Out, shell: clap_complete::Shell) -> Result<(), Error> {
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
    let families = || ladders().map(|f| &*f.name);
    let names: Vec<String> = match id.as_str() {
        "device" => TYPES.iter().copied().chain(ALIASES.iter().map(|(alias, _)| *alias)).map(str::to_owned).collect(),
        "family" | "kernel" => families().map(str::to_owned).collect(),
        "source" if arg.get_possible_values().is_empty() => sources::all().iter().map(|s| s.name()).collect(),
        "variant" => ladders().flat_map(rungs).collect(),
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
    let words = ladders().map(|f| &*f.name).chain(EXPERIMENTS.iter().map(|e| e.name));
    words.map(str::to_owned).chain(all_rungs()).collect()
}

/// A ladder's command takes the rungs of its family alone, `lab` and `source` no families and `list` no `all`.
fn laddered(command: Command) -> Command {
    let only = |names: Vec<String>| move |arg: Arg| arg.value_parser(PossibleValuesParser::new(names));
    let experiments = || EXPERIMENTS.iter().map(|e| e.name.to_owned());
    match command.get_name() {
        "lab" => command.mut_arg("name", only(experiments().chain(["all".to_owned()]).collect())),
        "source" => {
            let is_family = |word: &String| ladders().any(|f| f.name == *word);
            command.mut_arg("lesson", only(lessons().into_iter().filter(|word| !is_family(word)).collect()))
        }
        "list" => command.mut_arg("name", only(ladders().map(|f| f.name.to_string()).chain(experiments()).collect())),
        "count" => {
            let names: Vec<String> = ladders().map(|f| f.name.to_string()).chain(experiments()).collect();
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
            assert!(script.split(|c: char| !c.is_alphanumeric()).all(|word| word != "worker"), "{shell}");
            assert!(script.replace('\\', "").contains("reduce:3"), "{shell}");
        }
    }
}

//! Words that were not understood, and the commands that they may have meant: commands, experiments, rungs and sources,
//! from their own lists.

use crate::cli::{Cli, command_names};
use crate::experiments::EXPERIMENTS;
use crate::kernels::closure;
use crate::kernels::{FAMILIES, Rung};
use crate::report::sources;
use crate::suggest::{did_you_mean, nearest};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};
use std::borrow::Borrow;

/// A word, and the command line that it belongs to.
struct KnownWord {
    name: String,
    command: String,
}

impl KnownWord {
    fn new(name: &str, command: String) -> KnownWord {
        KnownWord { name: name.to_owned(), command }
    }
}

/// Every word that has a command.
fn vocabulary() -> Vec<KnownWord> {
    let commands = command_names().into_iter();
    let mut words: Vec<KnownWord> = commands.map(|name| KnownWord::new(&name, format!("gpulab {name}"))).collect();
    words.extend(EXPERIMENTS.iter().map(|e| KnownWord::new(e.name, format!("gpulab lab {}", e.name))));
    for family in FAMILIES {
        let command = |variant: &str| format!("gpulab {} --variant {variant}", family.name);
        words.extend(family.kernels().map(|rung| KnownWord::new(rung.variant(), command(rung.variant()))));
    }
    let closure = "gpulab minplus --closure";
    words.push(KnownWord::new(&closure::FAMILY.name, closure.to_owned()));
    let rungs = closure::FAMILY.kernels().map(Rung::variant);
    words.extend(rungs.map(|rung| KnownWord::new(rung, format!("{closure} --variant {rung}"))));
    let sources = sources::all().into_iter().map(|source| source.name());
    words.extend(sources.map(|name| KnownWord::new(&name, format!("gpulab list --source {name}"))));
    words
}

fn commands(word: &str) -> Vec<String> {
    nearest(word, vocabulary(), |word| &word.name).into_iter().map(|word| word.command).collect()
}

/// That nothing of this kind has this name, and what may have been meant: another name of this kind, a command, or else
/// which names there are.
pub(crate) fn unknown<S: Borrow<str>>(what: &str, name: &str, names: &[S]) -> String {
    let exact = vocabulary()
        .into_iter()
        .filter(|word: &KnownWord| word.name.eq_ignore_ascii_case(name))
        .map(|word| word.command);
    let near = || nearest(name, names, |name| (*name).borrow()).into_iter().map(|name| name.borrow().to_owned());
    let mut meant: Vec<String> = exact.collect();
    if meant.is_empty() {
        meant = near().collect();
    }
    if meant.is_empty() {
        meant = commands(name);
    }
    match meant.is_empty() {
        true => format!("there is no {what} {name:?}; there is {}", names.join(", ")),
        false => format!("there is no {what} {name:?}{}", did_you_mean(&meant)),
    }
}

/// One line in place of the parser's own for a word that has a command, or that is none.
pub fn misunderstood(error: &clap::Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = text(ContextKind::InvalidSubcommand)?;
            let meant = did_you_mean(&commands(word));
            let all = if meant.is_empty() { "; `gpulab --help` lists them" } else { "" };
            Some(format!("there is no command {word:?}{meant}{all}"))
        }
        ErrorKind::UnknownArgument => {
            let word = text(ContextKind::InvalidArg)?;
            if word.starts_with('-') {
                return misplaced(word);
            }
            let meant = commands(word);
            (!meant.is_empty()).then(|| format!("{word:?} is not expected here{}", did_you_mean(&meant)))
        }
        _ => None,
    }
}

/// That an option belongs to other commands, and to which; nothing of one that no command has.
fn misplaced(option: &str) -> Option<String> {
    let name = option.strip_prefix("--")?;
    let program = Cli::command();
    let owners: Vec<&str> = program
        .get_subcommands()
        .filter(|c| !c.is_hide_set())
        .filter(|command: &&Command| command.get_arguments().any(|arg| arg.get_long() == Some(name)))
        .map(Command::get_name)
        .collect();
    let owners = owners.join(", ");
    (!owners.is_empty())
        .then(|| format!("`{option}` is not expected here; give it after one of these commands: {owners}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn said(line: &str) -> String {
        misunderstood(&Cli::try_parse_from(line.split(' ')).unwrap_err()).unwrap_or_default()
    }

    #[test]
    fn words_of_every_kind_have_their_commands() {
        for (line, command) in [
            ("gpulab stride", "`gpulab lab stride`"),
            ("gpulab redcue", "`gpulab reduce`"),
            ("gpulab sequential", "`gpulab reduce --variant sequential`"),
            ("gpulab -d pocl strie --quick", "`gpulab lab stride`"),
            ("gpulab maruyama", "`gpulab list --source maruyama`"),
            ("gpulab reduce sequental", "`gpulab reduce --variant sequential`"),
            ("gpulab devics", "`gpulab devices`"),
        ] {
            let said = said(line);
            assert!(said.contains(&format!("did you mean {command}?")), "{line}: {said}");
        }
        assert!(said("gpulab xyzzy").contains("`gpulab --help` lists them"));
        assert!(said("gpulab worke").contains("`gpulab --help`"), "what is hidden is not suggested");
        assert_eq!(said("gpulab reduce --nosuch"), "", "the parser's own message is good");
        let takers = "give it after one of these commands: reduce, dot, transpose, minplus, try, ladder, lab, sweep, \
                      tune, noise, record";
        assert_eq!(said("gpulab ceiling --budget 5s"), format!("`--budget` is not expected here; {takers}"));
        assert!(said("gpulab --budget 5s dot").ends_with(takers));
        assert!(said("gpulab dot --op max").ends_with(": reduce, count"));
    }

    #[test]
    fn unknown_names_are_looked_for_among_their_own_first() {
        let families = ["reduce", "dot"];
        assert_eq!(unknown("family", "redcue", &families), "there is no family \"redcue\"; did you mean `reduce`?");
        assert!(unknown("family", "stride", &families).ends_with("did you mean `gpulab lab stride`?"));
        assert!(unknown("experiment", "reduce", &["banks"]).ends_with("did you mean `gpulab reduce`?"));
        assert!(unknown("family", "nothing", &families).ends_with("there is reduce, dot"));
    }

    #[test]
    fn every_suggested_command_parses() {
        for word in vocabulary() {
            if let Err(error) = Cli::try_parse_from(word.command.split(' ')) {
                let needs = [ErrorKind::MissingRequiredArgument, ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand];
                assert!(needs.contains(&error.kind()), "{}: {error}", word.command);
            }
        }
    }
}

//! A command as pages write it: whether it can be given, whether what it names exists, and whether it runs.

use super::ROOT;
use crate::binary::{NOWHERE, gpulab};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use gpulab::cli::{Cli, Command};
use gpulab::experiments::EXPERIMENTS;
use gpulab::{kernels, sweep, values};
use std::path::Path;

/// Words that stand for what a reader puts there, and something that could be put.
const PLACEHOLDERS: [(&str, &str); 20] = [
    ("K", "reduce"),
    ("FAMILY", "reduce"),
    ("NAME", "stride"),
    ("EXPERIMENT", "stride"),
    ("V", "3"),
    ("FACTOR", "2.5"),
    ("TYPE", "f32"),
    ("N", "4"),
    ("S", "9"),
    ("FROM", "1"),
    ("TO", "2"),
    ("LIST", "1"),
    ("KIND", "ladder"),
    ("SHELL", "bash"),
    ("DIR", "folder"),
    ("FILE", "file.csv"),
    ("FILES", "file.csv"),
    ("ARGS", ""),
    ("COMMAND", "dot"),
    ("...", ""),
];

/// Programs of this repository that take gpulab's arguments.
const ALIKE: [&str; 2] = ["gpulab", "scripts/gpulab"];

/// The command in a line of code, if it is one of ours: without a prompt, a comment, variables in front and a pipe behind.
pub fn in_line(line: &str) -> Option<String> {
    let line = line.trim().trim_start_matches("$ ");
    let is_variable = |word: &&str| {
        word.split_once('=')
            .is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
    };
    let line = line
        .split(' ')
        .skip_while(is_variable)
        .collect::<Vec<_>>()
        .join(" ");
    let end = [" # ", " | ", " > ", " && ", " 2>"]
        .iter()
        .filter_map(|sign| line.find(sign))
        .min();
    let line = line[..end.unwrap_or(line.len())].trim_end().to_owned();
    (line == "gpulab" || line.starts_with("gpulab ") || line.starts_with("scripts/"))
        .then_some(line)
}

/// Words as a shell makes them, as far as pages need it.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quote, mut is_open) = (vec![String::new()], None, false);
    for c in line.chars() {
        match (quote, c) {
            (Some(end), _) if c == end => quote = None,
            (None, '\'' | '"') => (quote, is_open) = (Some(c), true),
            (None, ' ') => words.push(String::new()),
            _ => words.last_mut().unwrap().push(c),
        }
    }
    words
        .into_iter()
        .filter(|word| is_open || !word.is_empty())
        .collect()
}

/// The words with something in the place of each placeholder, and whether there was one.
fn filled(words: &[String]) -> (Vec<String>, bool) {
    let mut has_any = false;
    let mut filled: Vec<String> = Vec::new();
    for word in words {
        let bare = word.trim_matches(['[', ']', '<', '>']);
        let bare = if bare == "..." {
            bare
        } else {
            bare.trim_end_matches("...").trim_end_matches([']', '>'])
        };
        let known = PLACEHOLDERS
            .iter()
            .find(|(name, _)| bare.to_uppercase() == *name && (bare != word || bare == *name));
        has_any |= known.is_some() || bare != word;
        let last = filled.last().map(String::as_str);
        match known {
            // What the list of sources is asked by.
            Some(("NAME", _)) if last == Some("--source") => filled.push("maruyama".into()),
            Some((_, "")) => {}
            Some((_, value)) => filled.push((*value).to_owned()),
            None => filled.push(bare.to_owned()),
        }
    }
    (filled, has_any)
}

/// What is wrong with a command that a page writes, if something is.
pub fn fault(line: &str) -> Option<String> {
    let words = words(line);
    let program = words[0].as_str();
    if program.starts_with("scripts/") && !Path::new(ROOT).join(program).exists() {
        return Some(format!("there is no {program}"));
    }
    if !ALIKE.contains(&program) {
        return None;
    }
    if is_name(&words[1..]) {
        return None;
    }
    let (words, has_placeholder) = filled(&words);
    let cli = match Cli::try_parse_from(
        ["gpulab"]
            .into_iter()
            .chain(words[1..].iter().map(String::as_str)),
    ) {
        Ok(cli) => cli,
        Err(error) if !error.use_stderr() => return None,
        // What was left out is what is required.
        Err(error)
            if line.ends_with("...") && error.kind() == ErrorKind::MissingRequiredArgument =>
        {
            return None;
        }
        Err(error) => return Some(error.to_string()),
    };
    // Of a family's file the rung that is drawn stands behind a colon.
    let file = |word: &str| {
        word.split_once(".toml:")
            .map_or_else(|| word.to_owned(), |(file, _)| format!("{file}.toml"))
    };
    let missing = words
        .iter()
        .find(|word| is_input(word) && !Path::new(ROOT).join(file(word)).exists());
    if let Some(missing) = missing {
        return Some(format!("there is no {missing}"));
    }
    let command = cli.command.as_ref()?;
    unknown_name(command).or_else(|| {
        if has_placeholder || !is_runnable(command, &words) {
            None
        } else {
            failure(&words[1..])
        }
    })
}

/// Whether words are a command's name, or that of a command of it, without what it needs: that speaks of the command.
fn is_name(words: &[String]) -> bool {
    let program = Cli::command();
    let found = words
        .iter()
        .try_fold(&program, |command, word| command.find_subcommand(word));
    found.is_some_and(|command| !command.is_hide_set())
}

/// Whether a word names a file of this repository that is read.
fn is_input(word: &str) -> bool {
    word.starts_with("data/") && !word.starts_with("data/results/NAME") && !word.contains('*')
}

/// The family, rung, setting, experiment or source that a command names and that there is not.
fn unknown_name(command: &Command) -> Option<String> {
    // Of a family of a file the file alone is looked for.
    let of = |name: &str, variant: Option<&str>, set: &[String]| {
        let Some(family) = kernels::built_in(name) else {
            return if name.ends_with(".toml") || kernels::brought(name).is_some() {
                Ok(())
            } else {
                Err(format!("no family {name}"))
            };
        };
        variant.map_or(Ok(()), |variant| {
            values::variants(family, variant).map(drop)
        })?;
        sweep::settings(family, &family.kernels().collect::<Vec<_>>(), set).map(drop)
    };
    let experiment = |name: &str| {
        let is_known = name == "all" || EXPERIMENTS.iter().any(|e| e.name == name);
        if is_known {
            Ok(())
        } else {
            Err(format!("no experiment {name}"))
        }
    };
    let checked = match command {
        Command::Lab(lab) => lab.name.as_deref().map_or(Ok(()), experiment),
        Command::Dot(args) => of("dot", args.ladder.variant.as_deref(), &[]),
        Command::Reduce(args) => of("reduce", args.ladder.variant.as_deref(), &[]),
        Command::Transpose(args) => of("transpose", args.ladder.variant.as_deref(), &[]),
        Command::Minplus(args) => of("minplus", args.ladder.variant.as_deref(), &[]),
        Command::Sweep(args) => args.subject.name().map_or(Ok(()), |name| {
            of(name, args.rungs.variant.as_deref(), &args.set)
        }),
        Command::Tune(args) => args.subject.name().map_or(Ok(()), |name| {
            of(name, args.rungs.variant.as_deref(), &args.set)
        }),
        // What a reader would bring is not there.
        Command::Count(args) => args
            .subject
            .name()
            .filter(|_| args.solves.is_none())
            .map_or(Ok(()), |what| {
                let (name, rung) = what.split_once(':').unwrap_or((what, ""));
                let list = args
                    .rungs
                    .variant
                    .as_deref()
                    .or(Some(rung).filter(|rung| !rung.is_empty()));
                experiment(what).or_else(|_| of(name, list, &args.case.set))
            }),
        _ => Ok(()),
    };
    checked.err()
}

/// Whether it needs no device, writes nothing, and reads what is there.
fn is_runnable(command: &Command, words: &[String]) -> bool {
    let is_there = |word: &String| {
        let is_file = word.ends_with(".csv") || word.ends_with(".json");
        !word.contains('*') && (!is_file || Path::new(ROOT).join(word).exists())
    };
    let is_pure = match command {
        Command::List { .. } | Command::Explain { .. } => true,
        Command::Help { .. } | Command::Show(_) | Command::Completions { .. } => true,
        Command::Source { expanded, .. } => !expanded,
        Command::Compare(compare) => {
            compare.rows.csv.is_none()
                && compare.rows.json.is_none()
                && compare.curve.is_none()
                && compare.run.is_empty()
        }
        Command::Plot(plot) => plot.output == "-",
        _ => false,
    };
    is_pure && words.iter().all(is_there)
}

/// What a command says that ends without success, where there is no OpenCL.
fn failure(words: &[String]) -> Option<String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let output = gpulab(&words)
        .env("GPULAB_OPENCL_LIB", NOWHERE)
        .current_dir(ROOT)
        .output()
        .unwrap();
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

//! `gpulab help --md`: every command with its options as Markdown, from the command line's own declaration.

use crate::cli::Cli;
use crate::cli::environment::VARIABLES;
use crate::cli::examples::EXAMPLES;
use crate::error::EXITS;
use clap::builder::PossibleValue;
use clap::{Arg, Command, CommandFactory};
use gpulab_system::text::Joined;

/// The page, without a title: a list of the commands, a section for each, and one for each group of options that several
/// have.
pub(crate) fn markdown() -> String {
    let mut program = Cli::command();
    program.build();
    let commands: Vec<&Command> = program.get_subcommands().filter(|c| !c.is_hide_set()).collect();
    let groups = Groups::shared_by(&commands);
    let list = table(
        ["command", "does"],
        commands.iter().map(|c: &&Command| [format!("[{0}](#gpulab-{0})", c.get_name()), cell(&about(c))]),
    );
    let sections: String = commands.iter().map(|command| section(command, &groups)).collect();
    let shared: String = groups.0.iter().map(|group| group.section()).collect();
    let global = program.get_arguments().filter(|arg| arg.is_global_set());
    let exits = EXITS.iter().map(|exit| [exit.code.to_string(), cell(exit.means)]);
    let variables = VARIABLES.iter().map(|variable| [format!("`{}`", variable.name), cell(variable.about)]);
    format!(
        "{list}\n{sections}{shared}## Global options\n\nEvery command has them.\n\n{}\n## Exit codes\n\n\
         When several apply, 4 comes first, then 5, then 7.\n\n{}\n## Environment\n\n{}",
        options(global),
        table(["code", "meaning"], exits),
        table(["variable", "meaning"], variables),
    )
}

/// Options under one heading that several commands have alike.
struct Group<'a> {
    heading: &'a str,
    arguments: Vec<&'a Arg>,
}

impl Group<'_> {
    /// The heading without what it says in brackets.
    fn name(&self) -> &str {
        self.heading.split(" (").next().unwrap_or(self.heading)
    }

    fn section(&self) -> String {
        let more = self.heading.split_once(" (").map(|(_, more)| more.trim_end_matches(')'));
        // A line that begins with the name of standard output would be a list.
        let code = |more: &str| more.strip_prefix("- ").map_or_else(|| more.to_owned(), |rest| format!("`-` {rest}"));
        let more = more.map_or_else(String::new, |more| format!("{}.\n\n", cell(&code(more))));
        format!("## {}\n\n{more}{}\n", self.name(), options(self.arguments.iter().copied()))
    }
}

struct Groups<'a>(Vec<Group<'a>>);

impl<'a> Groups<'a> {
    fn shared_by(commands: &[&'a Command]) -> Groups<'a> {
        let mut groups: Vec<Group<'a>> = Vec::new();
        let mut once: Vec<Group<'a>> = Vec::new();
        for group in commands.iter().flat_map(|command| headed(command)) {
            let is_known = groups.iter().any(|known| known.is_like(&group));
            match once.iter().position(|known| known.is_like(&group)) {
                _ if is_known => {}
                Some(_) => groups.push(group),
                None => once.push(group),
            }
        }
        Groups(groups)
    }

    fn has(&self, group: &Group<'_>) -> bool {
        self.0.iter().any(|known| known.is_like(group))
    }
}

impl Group<'_> {
    fn is_like(&self, other: &Group<'_>) -> bool {
        let text = |group: &Group<'_>| options(group.arguments.iter().copied());
        self.heading == other.heading && text(self) == text(other)
    }
}

/// A command's options that stand under headings.
fn headed(command: &Command) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for arg in own(command) {
        let Some(heading) = arg.get_help_heading() else { continue };
        match groups.iter_mut().find(|group| group.heading == heading) {
            Some(group) => group.arguments.push(arg),
            None => groups.push(Group { heading, arguments: vec![arg] }),
        }
    }
    groups
}

/// What a command takes, but for what every command does.
fn own(command: &Command) -> impl Iterator<Item = &Arg> {
    let is_every = |arg: &&Arg| arg.is_global_set() || ["help", "version"].contains(&arg.get_id().as_str());
    command.get_arguments().filter(move |arg| !is_every(arg) && !arg.is_hide_set())
}

/// A command: what it does, examples, its options, and which others it has.
fn section(command: &Command, groups: &Groups<'_>) -> String {
    let name = command.get_name();
    let examples = EXAMPLES.iter().filter(|example| example.command() == Some(name));
    let lines: String = examples.map(|example| format!("# {}\n{}\n", example.does, example.line)).collect();
    let mut text = format!("## gpulab {name}\n\n{}.\n\n```sh\n{lines}```\n\n", cell(&about(command)));
    let plain = options(own(command).filter(|arg| arg.get_help_heading().is_none()));
    let subcommands = command.get_subcommands().filter(|c| c.get_name() != "help").map(subcommand);
    let subcommands = table(["command", "does"], subcommands);
    let (shared, others): (Vec<_>, Vec<_>) = headed(command).into_iter().partition(|group| groups.has(group));
    let others =
        others.iter().map(|group| format!("{}:\n\n{}", group.heading, options(group.arguments.iter().copied())));
    for part in [plain, subcommands].into_iter().chain(others).filter(|part| !part.is_empty()) {
        text += &format!("{part}\n");
    }
    let links: Vec<String> = shared.iter().map(|group| link(group.name())).collect();
    if !links.is_empty() {
        text += &format!("Besides the options of {}.\n\n", links.join(" and "));
    }
    if let Some(more) = command.get_after_help() {
        text += &format!("```text\n{more}\n```\n\n");
    }
    text
}

fn link(name: &str) -> String {
    format!("[{name}](#{})", name.to_lowercase().replace(' ', "-"))
}

fn subcommand(command: &Command) -> [String; 2] {
    let words = own(command).map(|arg| format!(" {arg}")).collect::<String>();
    let name = command.get_bin_name().unwrap_or_default();
    [format!("`{name}{words}`"), cell(&about(command))]
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// A table of options, none without any.
fn options<'a>(arguments: impl Iterator<Item = &'a Arg>) -> String {
    table(["option", "meaning"], arguments.map(|arg| [names(arg), cell(&meaning(arg))]))
}

/// `-n`, `--n <N>`; or the place of a word.
fn names(arg: &Arg) -> String {
    let short = arg.get_short().filter(|_| arg.get_long().is_some()).map(|short| format!("`-{short}`, "));
    let aliases = arg.get_visible_aliases().unwrap_or_default();
    let aliases: String = aliases.iter().map(|alias| format!(", `--{alias}`")).collect();
    format!("{}`{}`{aliases}", short.unwrap_or_default(), arg.to_string().replace('|', "\\|"))
}

/// What it sets, to which values, and its default.
fn meaning(arg: &Arg) -> String {
    let help = arg.get_help().or(arg.get_long_help()).map(ToString::to_string).unwrap_or_default();
    let help = help.split_whitespace().joined(" ");
    if !arg.get_action().takes_values() {
        return help;
    }
    let (about, default) = help.split_at(help.find(" [default").unwrap_or(help.len()));
    let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    let default = match defaults.is_empty() {
        true => default.to_owned(),
        false => format!("{default} [default: {}]", defaults.join(",")),
    };
    let variable = arg.get_env().map(|name| format!(" [environment: {}]", name.to_string_lossy()));
    format!("{about}{}{default}{}", values(arg), variable.unwrap_or_default())
}

/// The names that it takes, if it takes names only.
fn values(arg: &Arg) -> String {
    let all = arg.get_possible_values();
    let value = |value: &PossibleValue| match value.get_help() {
        Some(help) => format!("`{}` ({})", value.get_name(), help.to_string().trim_end_matches('.')),
        None => format!("`{}`", value.get_name()),
    };
    let values: Vec<String> = all.iter().filter(|value| !value.is_hide_set()).map(value).collect();
    if values.is_empty() { String::new() } else { format!(": {}", values.join(", ")) }
}

/// Nothing without lines.
fn table(head: [&str; 2], lines: impl Iterator<Item = [String; 2]>) -> String {
    let lines: String = lines.map(|[name, meaning]| format!("| {name} | {meaning} |\n")).collect();
    if lines.is_empty() { lines } else { format!("| {} | {} |\n|---|---|\n{lines}", head[0], head[1]) }
}

/// Text of ours within a cell: code stays code, and what else could be markup is none.
fn cell(text: &str) -> String {
    text.split('`')
        .enumerate()
        .map(|(i, part): (usize, &str)| match i % 2 {
            1 => part.replace('|', "\\|"),
            _ => part.replace('<', "&lt;").replace('*', "\\*").replace('|', "\\|"),
        })
        .joined("`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command_names;

    #[test]
    fn every_command_and_option_is_on_the_page() {
        let page = markdown();
        for name in command_names() {
            assert_eq!(page.matches(&format!("\n## gpulab {name}\n")).count(), 1, "{name}");
        }
        let mut program = Cli::command();
        program.build();
        for arg in program.get_subcommands().filter(|c| !c.is_hide_set()).flat_map(own) {
            assert!(page.contains(&format!("{} | {}", names(arg), cell(&meaning(arg)))), "{arg}");
        }
        assert!(page.split(|c: char| !c.is_alphanumeric()).all(|word| word != "worker"), "what is hidden is not shown");
        assert_eq!(page, markdown());
    }

    #[test]
    fn options_of_many_commands_stand_once() {
        let page = markdown();
        // show's is its own, and try has the table of its outputs to itself, as its --json is another.
        for (option, times) in [("| `--warmup <N>` |", 1), ("| `--gib` |", 3), ("`-d`, `--device <SEL>`", 1)] {
            assert_eq!(page.matches(option).count(), times, "{option}");
        }
        assert!(page.contains("Besides the options of [Measuring](#measuring) and [Output](#output).\n"), "{page}");
        assert!(page.contains("\nDistances in a graph, in place of the ladder:\n\n| option |"), "{page}");
    }

    #[test]
    fn tables_have_two_cells_in_every_line() {
        for line in markdown().lines().filter(|line| line.starts_with('|')) {
            let bars = line.replace("\\|", "").matches('|').count();
            assert!(bars == 3 && line.ends_with('|'), "{line}");
        }
    }

    #[test]
    fn code_stays_code_and_other_signs_are_no_markup() {
        assert_eq!(cell("a <b> `x|<y>` *"), "a &lt;b> `x\\|<y>` \\*");
    }
}

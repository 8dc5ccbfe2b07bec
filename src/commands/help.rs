//! `gpulab help`: a command's page, all pages as Markdown, what the columns of the tables mean, and shells' completions.

use crate::cli::{Cli, Global, command_names};
use crate::console::{self, color, print, print_bytes, screen};
use crate::error::EXITS;
use crate::report::dictionary;
use crate::report::format::on_screen;
use crate::report::glossary::explained;
use crate::{Error, Result, suggest};
use clap::CommandFactory;

/// Prints the help of the program, of a command, or of the columns of tables and files.
pub fn run(global: &Global, topic: Option<&str>, md: bool) -> Result<()> {
    match topic {
        Some("columns") if md => return print(&dictionary::markdown()),
        Some("columns") => {
            let text = format!(
                "{}\nThe columns of files\n\n{}",
                explained(console::width()),
                dictionary::text()
            );
            return print(&on_screen(&text, screen(global.color)));
        }
        None if md => return markdown(),
        _ => {}
    }
    let mut program = Cli::command();
    program.build();
    let page = match topic {
        None => &mut program,
        Some(name) => program
            .find_subcommand_mut(name)
            .filter(|command| !command.is_hide_set())
            .ok_or_else(|| Error::Usage(suggest::unknown("command", name, &command_names())))?,
    };
    let help = page.render_long_help();
    // All of it is our own: no name from outside is in it.
    print_bytes(
        if color(global.color) {
            help.ansi().to_string()
        } else {
            help.to_string()
        }
        .as_bytes(),
    )
}

/// Prints the help of every command, then the exit codes.
fn markdown() -> Result<()> {
    let mut program = Cli::command();
    program.build();
    let mut page = String::new();
    for command in program
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
    {
        let help = command.clone().term_width(110).render_long_help();
        page += &format!(
            "## gpulab {}\n\n```text\n{}\n```\n\n",
            command.get_name(),
            help.to_string().trim_end()
        );
    }
    page += "## Exit codes\n\nWhen several apply, 4 comes first, then 5, then 7.\n\n| code | meaning |\n|---|---|\n";
    page.extend(
        EXITS
            .iter()
            .map(|(code, means)| format!("| {code} | {means} |\n")),
    );
    print(&page)
}

/// Prints a shell's completion script.
pub fn completions(shell: clap_complete::Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "gpulab", &mut script);
    print_bytes(&script)
}

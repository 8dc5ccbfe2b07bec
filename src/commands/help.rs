//! `gpulab help`: a command's page, and what the columns of the tables mean.

use crate::cli::{Cli, command_names};
use crate::console::{self, color};
use crate::manuals::COLUMNS_TOPIC;
use crate::prelude::*;
use crate::report::format::on_screen;
use crate::report::glossary::explained;
use crate::words;
use clap::CommandFactory;

/// Prints the help of the program, of a command, or of the columns.
pub fn run(out: &mut Out, global: &Global, topic: Option<&str>) -> Result<(), Error> {
    if topic == Some(COLUMNS_TOPIC) {
        return out.text(&on_screen(&explained(console::width()), screen(global.color)));
    }
    let mut program = Cli::command();
    program.build();
    let page = match topic {
        None => &mut program,
        Some(name) => {
            // Of the columns' two pages one has the name of a command.
            let names = command_names();
            program
                .find_subcommand_mut(name)
                .filter(|c| !c.is_hide_set())
                .ok_or_else(|| Error::Usage(words::unknown("command", name, &names)))?
        }
    };
    let help = page.render_long_help();
    // All of it is our own: no name from outside is in it.
    out.bytes(if color(global.color) { help.ansi().to_string() } else { help.to_string() }.as_bytes())
}

//! `gpulab help`: a command's page, and what the columns of the tables mean.

use super::{Out, color, page, words};
use crate::Error;
use crate::cli::{Cli, Global, command_names};
use crate::report::columns::{BESIDE, COLUMNS};
use crate::report::wrap::wrapped;
use clap::CommandFactory;

/// What asks for the columns instead of a command.
pub(super) const COLUMNS_TOPIC: &str = "columns";

/// Prints the help of the program, of a command, or of the columns.
///
/// # Errors
/// [`Error::Usage`] for an unknown command; [`Error::Output`].
pub fn run(out: &mut Out, global: &Global, topic: Option<&str>) -> Result<(), Error> {
    if topic == Some(COLUMNS_TOPIC) {
        return out.text(&columns(page::width()));
    }
    let mut program = Cli::command();
    program.build();
    let page = match topic {
        None => &mut program,
        Some(name) => {
            let names: Vec<String> = command_names().into_iter().chain([COLUMNS_TOPIC.to_owned()]).collect();
            let unknown = || Error::Usage(words::unknown("command", name, &names));
            program.find_subcommand_mut(name).filter(|c| !c.is_hide_set()).ok_or_else(unknown)?
        }
    };
    let help = page.render_long_help();
    // All of it is our own: no name from outside is in it.
    out.bytes(if color(global.color) { help.ansi().to_string() } else { help.to_string() }.as_bytes())
}

/// One column an entry, in lines of a terminal's width; then the order in which columns go where there is no room.
fn columns(width: usize) -> String {
    let known = COLUMNS.iter().map(|column| (column.name(), column.about, column.drop));
    let [rung, rest @ ..] = BESIDE.map(|(name, about, drop)| (name.to_owned(), about, drop));
    let all: Vec<(String, &str, u8)> = std::iter::once(rung).chain(known).chain(rest).collect();
    let longest = all.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    let rest = " ".repeat(longest + 2);
    let entry = |(name, about, _): &(String, &str, u8)| wrapped(about, &format!("{name:<longest$}  "), &rest, width);
    let mut going: Vec<_> = all.iter().filter(|(.., drop)| *drop > 0).collect();
    going.sort_by_key(|(.., drop)| std::cmp::Reverse(*drop));
    let going: Vec<&str> = going.iter().map(|(name, ..)| name.as_str()).collect();
    let order = format!("Where the terminal is too narrow, columns are left out in this order: {}.", going.join(", "));
    let files = "The columns of CSV and JSON files: gpulab columns.";
    all.iter().map(entry).collect::<String>() + "\n" + &wrapped(&order, "", "", width) + &wrapped(files, "", "", width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_explained_within_the_width() {
        let text = columns(80);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.starts_with("rung ") && text.contains("\nof limit ") && text.contains("verdict "), "{text}");
    }
}

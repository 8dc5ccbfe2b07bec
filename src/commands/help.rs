//! `gpulab help`: a command's page, and what the columns of the tables mean.

use super::{Out, color, page, words};
use crate::Error;
use crate::cli::{Cli, Global, command_names};
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

/// The columns of the tables, as their headings have them, and what they mean.
const COLUMNS: &[(&str, &str)] = &[
    (
        "rung",
        "The step of the ladder: its number and its idea. --variant picks rungs, gpulab list FAMILY says what they do.",
    ),
    ("median", "Half of the timed runs took less. Behind it half of the inter-quartile range, in percent: the noise."),
    ("GB/s", "Bytes that the problem needs moved, over the median; decimal units (--gib: binary ones)."),
    ("Gpair/s", "10^9 pairs a second, each an addition and a minimum."),
    ("inside", "The rate of a launch that repeats its work inside the kernel."),
    ("/CU/clk", "Pairs in each compute unit and clock."),
    ("of copy", "Share of the rate of the copy kernel, which moves the same bytes."),
    (
        "of limit",
        "Share of the measured limit that bounds this case; in cache: the data fit a cache, and memory is no limit.",
    ),
    ("of peak", "Share of the theoretical rate that --peak gives."),
    ("gain", "How many times as fast as the rung before."),
    ("total", "How many times as fast as the first rung."),
    ("back to back", "Time of a launch where many follow each other without a wait."),
    ("prep", "Time of the launches that prepare the data."),
    ("vs 1 core", "Speed-up over the CPU's baseline on one core, kernels alone."),
    ("vs all cores", "Speed-up over the CPU's baseline on all cores, kernels alone."),
    ("host part", "Time that the host takes to finish the result."),
    ("end to end", "Allocation, transfers, kernels and the host's part, with the program built before."),
    ("verdict", "ok: the result is right. WRONG: it is not, and was not timed. skipped: the reason is beside it."),
];

/// One column an entry, in lines of a terminal's width.
fn columns(width: usize) -> String {
    let longest = COLUMNS.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let rest = " ".repeat(longest + 2);
    COLUMNS.iter().map(|(name, about)| wrapped(about, &format!("{name:<longest$}  "), &rest, width)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_explained_within_the_width() {
        let text = columns(80);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("\nof limit      Share of"), "{text}");
    }
}

//! Which commands a document may show the output of.

use crate::cli::Command;

pub(crate) fn is_markdown(command: &Command) -> bool {
    match command {
        Command::Show(options) => options.md.is_some(),
        Command::Tune(options) => options.md.is_some(),
        Command::Columns { md, .. } | Command::List { md, .. } | Command::Help { md, .. } => *md,
        _ => false,
    }
}

/// Why a command has no place in a document: only those that need no device and write nothing have one.
pub(crate) fn refusal(command: &Command) -> Option<&'static str> {
    let is_file = |path: &Option<String>| path.as_ref().is_some_and(|path| path != "-");
    const FILES: &str = "it writes files: a block holds only standard output";
    match command {
        Command::Plot(_)
        | Command::Columns { .. }
        | Command::List { .. }
        | Command::Explain { .. }
        | Command::Diff(_)
        | Command::Help { .. } => None,
        Command::Show(options) => is_file(&options.md).then_some(FILES),
        Command::Compare(options) => (is_file(&options.rows.csv) || is_file(&options.rows.json)).then_some(FILES),
        Command::Source(options) => options.expanded.then_some("--expanded needs a device"),
        Command::Tune(options) if !options.replay.is_empty() => {
            (!options.export.is_empty() || is_file(&options.md)).then_some(FILES)
        }
        Command::Tune(_) => Some("it needs a device, except with --replay"),
        Command::Report(_) => Some("it writes documents itself"),
        Command::Exercise { .. } => Some("it keeps progress, and needs a device to check"),
        Command::Tuned { .. } | Command::Merge { .. } | Command::Completions { .. } => {
            Some("its output is not for readers, or it changes files")
        }
        Command::Worker => Some("it is for gpulab itself"),
        _ => Some("it needs a device or a simulator"),
    }
}

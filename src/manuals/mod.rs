//! Manuals, all made from the command line's own declaration and the lists beside it: man pages, completions, Markdown.

mod completions;
mod man;
mod markdown;

pub(crate) use completions::{COLUMNS_TOPIC, completions};
pub(crate) use man::man;
pub(crate) use markdown::markdown;

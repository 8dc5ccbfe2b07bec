//! Manuals, all made from the command line's own declaration and the lists beside it: man pages, completions, Markdown, and what
//! columns mean.

mod columns;
mod completions;
mod man;
mod markdown;

pub(crate) use columns::{COLUMNS_TOPIC, explained};
pub(crate) use completions::completions;
pub(crate) use man::man;
pub(crate) use markdown::markdown;

//! Names in a family's file: which there are, and which can be given.

use super::super::formula::is_function;
use crate::signature::MACROS;

/// Names of sizes that every formula may have: columns, rows, and bytes of an element.
pub(super) const SIZES: [&str; 3] = ["n", "m", "size"];

/// Names of the work-group's sizes, in formulas of rungs.
pub(super) const GROUP: [&str; 3] = ["WG", "WG_X", "WG_Y"];

/// A rung's name made of a kernel's or of a file's.
pub(super) fn rung_name(text: &str) -> String {
    let stem = text.rsplit('/').next().unwrap_or(text);
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    let name: String = stem
        .chars()
        .map(|c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
        .take(38)
        .collect();
    if is_rung_name(&name) { name } else { format!("k_{name}") }
}

pub(super) fn is_rung_name(name: &str) -> bool {
    let is_number = name.strip_prefix('v').unwrap_or(name).starts_with(|c: char| c.is_ascii_digit());
    (1..=40).contains(&name.len())
        && !is_number
        && name.starts_with(char::is_alphabetic)
        && name.chars().all(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Why a name is none.
pub(super) const TAKEN: &str =
    "is taken, or cannot be a name in OpenCL C: choose another one, as names need not be those of parameters";

/// Whether a name is that of a size, of a macro or of something in formulas.
pub(crate) fn taken(name: &str) -> bool {
    SIZES.contains(&name) || MACROS.contains(&name) || is_word(name)
}

/// Whether formulas and arguments have this word for something else.
pub(super) fn is_word(name: &str) -> bool {
    is_function(name) || ["local", "struct", "sampler"].contains(&name)
}

//! Why a file cannot be read.

/// Why a file could not be used, in words that follow its name.
pub(super) type Why = String;

pub(super) fn cell_count(count: usize) -> String {
    format!("{count} cell{}", if count == 1 { "" } else { "s" })
}

/// Text from a file for a message: short, and on one line whatever it holds.
pub(super) fn shown(text: &str) -> String {
    const MOST: usize = 40;
    let cut: String = text.chars().take(MOST).collect();
    let more = if cut.len() < text.len() { "..." } else { "" };
    format!("'{}{more}'", cut.escape_debug())
}

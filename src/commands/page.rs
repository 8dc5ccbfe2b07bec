//! How wide text for people is.

use crate::terminal::{Screen, Stdout};

/// Longer lines are hard to read.
const MOST: usize = 110;

/// Characters of a line: as many as the terminal has, within reason. Where people read no terminal, lines are as long as
/// they are, for the programs that search them.
pub(super) fn width() -> usize {
    if Stdout.is_terminal() { Screen::stdout(false).width.min(MOST) } else { usize::MAX }
}

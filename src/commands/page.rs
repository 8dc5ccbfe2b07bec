//! How wide text for people is.

use crate::terminal::Stdout;

/// Narrower terminals get lines that they break themselves.
const LEAST: usize = 40;

/// Longer lines are hard to read.
const MOST: usize = 110;

/// Characters of a line: as many as the terminal has, within reason. Where people read no terminal, lines are as long as
/// they are, for the programs that search them.
pub(super) fn width() -> usize {
    Stdout.width().map_or(usize::MAX, |width| width.clamp(LEAST, MOST))
}

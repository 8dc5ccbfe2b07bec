//! What the simulator finds by itself.

use serde::{Deserialize, Serialize};

/// What the simulator found at a place of a kernel's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckFinding {
    pub kind: FindingKind,
    /// In the simulator's words, without addresses.
    pub said: String,
    pub file: Option<String>,
    /// The line there, from 1.
    pub line: Option<u64>,
    /// How often it was found.
    pub times: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// Two work-items at one place, at least one of which writes, with nothing between them.
    Race,
    ReadOutside,
    WriteOutside,
    Unset,
    /// Not all work-items of a group reach a barrier.
    Divergence,
    Other,
}

impl CheckFinding {
    /// Where it is, if that is known, what it means, and what to do.
    pub fn sentence(&self) -> String {
        let place = match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{file}, line {line}: "),
            _ => String::new(),
        };
        place + self.kind.meaning().unwrap_or(&self.said)
    }
}

impl FindingKind {
    fn meaning(self) -> Option<&'static str> {
        Some(match self {
            FindingKind::Race => {
                "a race: a work-item reads or writes here what another one writes, with no barrier between them"
            }
            FindingKind::ReadOutside => {
                "a read outside of a buffer or an array: compare the index with the size before"
            }
            FindingKind::WriteOutside => {
                "a write outside of a buffer or an array: compare the index with the size before"
            }
            FindingKind::Unset => "a value is used here that was never set",
            FindingKind::Divergence => "not all work-items of a group reach this barrier: put it outside of the if",
            FindingKind::Other => return None,
        })
    }
}

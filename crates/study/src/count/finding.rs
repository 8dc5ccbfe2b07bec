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

//! What is found out of a wrong kernel.

use crate::check::{CellRegion, Share};
use crate::data::Shape;
use crate::plan::WorkGroup;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Symptoms {
    /// The small size that it was looked at with.
    pub shape: Shape,
    pub wg: WorkGroup,
    /// Whether its result is right there: then what is wrong shows with other sizes only.
    pub is_right: bool,
    /// What it writes outside of its buffers, in words.
    pub outside: Option<String>,
    /// The input that it changes, from 0.
    pub changed_input: Option<usize>,
    /// Whether several runs over the same data leave different results.
    pub differs: bool,
    /// How many elements of its output it does not write, and of how many.
    pub unwritten_count: [u64; 2],
    pub first_unwritten: Option<u64>,
    /// Of vectors: which elements count, and what else its result is made of.
    pub counts: Option<CountSymptoms>,
    /// Of matrices: which cells are right, and what the others hold.
    pub cells: Option<CellSymptoms>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CountSymptoms {
    /// Elements that a work-group has.
    pub group: u64,
    pub counted: Share,
    pub count: u64,
    /// The first that does not count.
    pub first_missing: Option<u64>,
    /// Those that count more than once.
    pub repeated: Option<Repeated>,
    /// What the result is over elements that leave it to the others, as zeros of a sum.
    pub starts_from: StartsFrom,
    /// The kind of data over which the result is wrong, where it is right over simpler ones.
    pub wrong_over: Option<DataKind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Repeated {
    pub first: u64,
    /// How often it counts.
    pub times: i64,
    pub count: u64,
}

/// What a result holds that comes from no element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartsFrom {
    Nothing,
    /// What the output held before.
    Output,
    BesideInputs,
    /// Something else: local memory or variables that were never set, or a constant.
    Elsewhere,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataKind {
    /// Small whole numbers of both signs; right over ones.
    Signed,
    /// The same over four, of floating-point types; right over whole numbers.
    Fractions,
    /// Random numbers, integers over their whole range; right over small ones.
    Any,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellSymptoms {
    /// Columns and rows of the tile that a work-group has.
    pub tile: [u64; 2],
    /// Cells that are right; of elements that are moved, by their places in the input.
    pub right: CellRegion,
    /// Cells that are written, likewise.
    pub written: CellRegion,
    pub looks_like: Option<Likeness>,
    /// Whether it is right over squares, and over no other shape that was tried.
    pub only_squares: bool,
    /// Whether it is right over whole tiles, and over no shape with a part of one.
    pub only_whole: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Likeness {
    Input,
    /// Tiles are transposed, but stay where they were.
    TilesStay,
    /// Tiles are where they belong, but not transposed.
    TilesUnturned,
    Transposed,
}

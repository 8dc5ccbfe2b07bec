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
    /// Which elements of its output it does not write.
    pub unwritten: Share,
    /// How many these are, and of how many.
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
    /// How many leave a result that is no multiple of theirs.
    pub strange: u64,
    /// What the result is over elements that leave it to the others, as zeros of a sum.
    pub starts_from: StartsFrom,
    /// Of two inputs: whether an element of one counts with that of the other at its place.
    pub is_paired: Option<bool>,
    /// Whether the input of this number counts by itself, where all elements of the other are zero.
    pub lone_input: Option<usize>,
    /// Over which kinds of data the result is right; none of results that one element decides.
    pub kinds: Option<DataKinds>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Repeated {
    pub share: Share,
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
pub struct DataKinds {
    pub ones: bool,
    /// Small whole numbers of both signs.
    pub signed: bool,
    /// The same over four, of floating-point types; else the same.
    pub fractions: bool,
    /// Random numbers: integers over their whole range.
    pub any: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellSymptoms {
    /// Columns and rows of the tile that a work-group has.
    pub tile: [u64; 2],
    /// The shapes that were tried, and whether the result was right.
    pub shapes: Vec<TriedShape>,
    /// The shape that the rest is of: the first that went wrong.
    pub shape: Shape,
    /// MatrixFlags that are right; of elements that are moved, by their places in the input.
    pub right: CellRegion,
    pub right_count: u64,
    /// MatrixFlags that are written, likewise.
    pub written: CellRegion,
    /// How many cells hold what is no element of the input, where elements are moved.
    pub foreign: u64,
    pub looks_like: Option<Likeness>,
    /// Of products: which steps of the sum or minimum count.
    pub steps: Option<Share>,
    /// Of products: how many steps there are, and how many of them count.
    pub step_count: [u64; 2],
    /// Of products: what a cell holds where no step leads to it, if that is wrong.
    pub starts_from: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriedShape {
    pub shape: Shape,
    pub is_whole: bool,
    pub is_right: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Likeness {
    Input,
    /// Tiles are transposed, but stay where they were; of this side.
    TilesStay(u64),
    /// Tiles are where they belong, but not transposed; of this side.
    TilesUnturned(u64),
    /// Written with the input's width as the length of the output's rows.
    OutputPitch,
    /// Read with the input's height as the length of its rows.
    InputPitch,
    TransposedProduct,
    /// Both factors are read along rows.
    RowsTwice,
    /// Both factors are read along columns.
    ColumnsTwice,
    Maximum,
    SumOfProducts,
    MinimumOfProducts,
    /// The right product, or the input where it is less.
    WithInput,
}

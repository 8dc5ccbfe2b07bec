//! What families work on, and which measured limits bound them.

use gpulab_model::data::Shape;
use gpulab_model::named_enum;
use gpulab_model::plan::Cost;
use serde::Deserialize;

/// What a family works on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    #[default]
    Vector,
    /// Matrices of n columns and m rows.
    Matrix,
    /// Matrices of n columns and n rows.
    Square,
}

impl Form {
    /// The shape of size `n`, with another number of rows than columns if `m` is given.
    pub fn shape(self, n: u64, m: Option<u64>) -> Shape {
        match self {
            Form::Vector => Shape::vector(n),
            Form::Matrix => Shape { n, m: m.unwrap_or(n) },
            Form::Square => Shape { n, m: n },
        }
    }

    /// Elements, or columns, of a ladder by default; fewer where it is to be quick.
    pub fn ladder_size(self, quick: bool) -> u64 {
        match (self, quick) {
            (Form::Vector, false) => 1 << 24,
            (Form::Vector, true) => 1 << 20,
            (Form::Matrix, false) => 2048,
            (Form::Matrix, true) => 1024,
            (Form::Square, false) => 1024,
            (Form::Square, true) => 256,
        }
    }

    /// Elements, or columns, to sweep over by default.
    pub fn default_size(self) -> u64 {
        match self {
            Form::Vector => 1 << 20,
            Form::Matrix => 2048,
            Form::Square => 1024,
        }
    }
}

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Bound {
        Read = "read",
        Write = "write",
        /// Reading and writing global memory at once.
        Copy = "copy",
        Local = "local",
        /// Additions, each followed by a minimum.
        AddMin = "add-min",
        /// Multiplications, each with an addition: floating-point operations of most programs.
        Fma = "fma",
        /// Operations of other kinds: no limit of theirs is measured.
        Arithmetic = "arithmetic",
    }
}

impl Bound {
    /// Whether it limits bytes; otherwise operations.
    pub fn is_memory(self) -> bool {
        !matches!(self, Bound::AddMin | Bound::Fma | Bound::Arithmetic)
    }

    /// What of a case's cost it limits: bytes or operations.
    pub fn limited(self, cost: Cost) -> f64 {
        if self.is_memory() { cost.bytes } else { cost.ops }
    }
}

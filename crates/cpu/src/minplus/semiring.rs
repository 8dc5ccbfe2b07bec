//! The pairs of operations that a product can have in place of minimum and sum.

use gpulab_model::data::{Array, NO_EDGE, Params};
use gpulab_model::named_enum;

/// What makes one length of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeJoin {
    Sum,
    Larger,
}

named_enum! {
    /// What a product chooses by, and what it joins by.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Semiring {
        /// Shortest paths.
        #[default]
        MinPlus = "min_plus",
        /// Longest paths.
        MaxPlus = "max_plus",
        /// Widest paths: as wide as their narrowest edge.
        MaxMin = "max_min",
        /// Whether there is a path, as 1 or 0.
        OrAnd = "or_and",
    }
}

impl Semiring {
    pub const NAME: &'static str = "semiring";
    pub const VALUES: &'static str = "min_plus max_plus max_min or_and";

    pub fn of(params: &Params) -> Semiring {
        params.get(Semiring::NAME).and_then(|name| Semiring::named(name)).unwrap_or_default()
    }

    /// What the larger of its values is: the better.
    pub fn is_greatest(self) -> bool {
        self != Semiring::MinPlus
    }

    /// How lengths with the other sign are joined where the least is chosen.
    pub fn join(self) -> EdgeJoin {
        match self {
            Semiring::MinPlus | Semiring::MaxPlus => EdgeJoin::Sum,
            Semiring::MaxMin | Semiring::OrAnd => EdgeJoin::Larger,
        }
    }

    /// What a missing edge costs, and what staying does.
    pub fn units(self) -> [f64; 2] {
        match self {
            Semiring::MinPlus => [f64::INFINITY, 0.0],
            Semiring::MaxPlus => [f64::NEG_INFINITY, 0.0],
            Semiring::MaxMin => [f64::NEG_INFINITY, f64::INFINITY],
            Semiring::OrAnd => [0.0, 1.0],
        }
    }
}

/// A value as an element of an array's type; what is infinite is [`NO_EDGE`] of integers.
pub fn element(value: f64) -> (f32, f64, i32) {
    (value as f32, value, value.clamp(f64::from(-NO_EDGE), NO_EDGE.into()) as i32)
}

/// The elements with the other sign, and one kind of zero.
pub fn negate(array: &mut Array) {
    match array {
        Array::F32(v) => v.iter_mut().for_each(|x| *x = 0.0 - *x),
        Array::F64(v) => v.iter_mut().for_each(|x| *x = 0.0 - *x),
        Array::I32(v) => v.iter_mut().for_each(|x| *x = x.wrapping_neg()),
        Array::I64(_) | Array::U8(_) => {}
    }
}

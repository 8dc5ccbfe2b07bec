//! Weights of edges from text.

use super::table::{float, no_number, whole};
use super::why::{Why, shown};
use gpulab_graph::Length;
use gpulab_model::data::Dtype;

/// How the texts of an element type become weights.
pub(super) struct Parser<T> {
    dtype: Dtype,
    /// The number that the text is, if the type can hold it.
    number: fn(&str) -> Option<T>,
}

impl<T: Length> Parser<T> {
    /// The weight of an edge that a list names: there the largest integers are no signs of what is no edge.
    pub(super) fn listed(&self, text: &str) -> Result<T, Why> {
        match (self.number)(text) {
            Some(number) if number.marks_no_edge() && number.widened().is_finite() => {
                Err(format!("{}; for no edge leave the line out, or write inf", number.too_large()))
            }
            _ => self.weight(text),
        }
    }

    pub(super) fn weight(&self, text: &str) -> Result<T, Why> {
        if let Some(number) = (self.number)(text) {
            return match text.parse::<f64>() {
                Ok(x) if x != 0.0 => number.nonzero_weight(),
                _ => number.weight(),
            };
        }
        match text.parse::<f64>() {
            Err(_) => Err(no_number(text)),
            // Integers know neither.
            Ok(x) if !x.is_finite() && !text.bytes().any(|b| b.is_ascii_digit()) => x.weight().map(|_| T::NO_EDGE),
            Ok(_) => Err(format!("{} does not fit {}; choose another --dtype", shown(text), self.dtype)),
        }
    }
}

pub(super) const F32: Parser<f32> = Parser { dtype: Dtype::F32, number: float };
pub(super) const F64: Parser<f64> = Parser { dtype: Dtype::F64, number: float };
pub(super) const I32: Parser<i32> = Parser { dtype: Dtype::I32, number: |text| whole(text)?.i32() };
pub(super) const I64: Parser<i64> = Parser { dtype: Dtype::I64, number: |text| whole(text)?.i64() };

/// The weights that a function makes of a parser of the right type.
macro_rules! parsed {
    ($dtype:expr, $f:expr) => {
        match $dtype {
            Dtype::F32 => $f(&$crate::input::weights::F32).map(Array::F32),
            Dtype::F64 => $f(&$crate::input::weights::F64).map(Array::F64),
            Dtype::I32 => $f(&$crate::input::weights::I32).map(Array::I32),
            Dtype::I64 => $f(&$crate::input::weights::I64).map(Array::I64),
            Dtype::U8 => Err("weights are not bytes".into()),
        }
    };
}

pub(super) use parsed;

/// That some of these weights have more digits than f32 keeps.
pub(super) fn rounded<'a>(dtype: Dtype, texts: impl Iterator<Item = &'a str>) -> Option<String> {
    /// Digits that it keeps of any number.
    const KEPT: usize = 6;
    let nearest = |text: &'a str| {
        let is_long = text.bytes().filter(u8::is_ascii_digit).count() > KEPT;
        let (exact, nearest) = is_long.then(|| Some((text.parse::<f64>().ok()?, float::<f32>(text)?)))??;
        (exact.is_finite() && nearest.text().parse() != Ok(exact)).then(|| (text, nearest.text()))
    };
    let mut all = texts.filter(|_| dtype == Dtype::F32).filter_map(nearest);
    let (text, nearest) = all.next()?;
    let count = 1 + all.count();
    Some(format!(
        "weights that f32 rounds: {count}, as {text} to {nearest}; --dtype f64, or i32 for whole ones, keeps them"
    ))
}

/// Most digits behind the point of these numbers; none if one is written with an exponent.
pub(super) fn decimals<'a>(mut texts: impl Iterator<Item = &'a str>) -> Option<usize> {
    texts.try_fold(0, |most, text| {
        let is_finite = text.contains(|c: char| c.is_ascii_digit());
        let behind = text.split_once('.').map_or(0, |(_, behind)| behind.trim_end().len());
        (!is_finite || !text.contains(['e', 'E'])).then_some(most.max(behind))
    })
}

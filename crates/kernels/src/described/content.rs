//! The data that buffers are filled with: a fill of gpulab's, or data with a structure that kernels rely on.

use super::formula::Formula;
use gpulab_model::data::{self, Fill, Layout, NumberValue, Scalar};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DataKind {
    Random,
    Positive,
    /// Up to so many, of both signs.
    Small(Formula),
    /// From 0 on, below this.
    Below(Formula),
    /// Random numbers in ascending order.
    Sorted,
    /// Each of 0 to the length less one, once.
    Permutation,
    /// From 0 on, each up to so many more than the one before: where the rows of a sparse matrix begin.
    Offsets(Formula),
}

/// What the file may say.
const WORDS: &str = "random, positive, small 8, below 256, sorted, permutation, offsets 8";

impl DataKind {
    pub(crate) fn parse(text: &str) -> Result<DataKind, String> {
        let (word, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        let most = || Formula::parse(rest).map_err(|_| format!("fill \"{text}\": there is no number behind {word}"));
        match (word, rest) {
            ("random", "") => Ok(DataKind::Random),
            ("positive", "") => Ok(DataKind::Positive),
            ("sorted", "") => Ok(DataKind::Sorted),
            ("permutation", "") => Ok(DataKind::Permutation),
            ("small", _) => most().map(DataKind::Small),
            ("below", _) => most().map(DataKind::Below),
            ("offsets", _) => most().map(DataKind::Offsets),
            ("ones", "") => Err(same(text)),
            _ => Err(format!("there is no fill {text:?}; there is {WORDS}")),
        }
    }

    pub(crate) fn formula(&self) -> Option<&Formula> {
        match self {
            DataKind::Small(most) | DataKind::Below(most) | DataKind::Offsets(most) => Some(most),
            _ => None,
        }
    }

    /// Whether one element may not be changed without the others.
    pub(crate) fn has_structure(&self) -> bool {
        matches!(self, DataKind::Sorted | DataKind::Permutation | DataKind::Offsets(_))
    }

    /// The fill whose elements it has, where names have these values.
    pub(crate) fn fill(&self, names: &dyn Fn(&str) -> Option<u64>) -> Result<Fill, String> {
        // So many are exact in every element type.
        let most = |formula: &Formula| formula.count((1, 1 << 24), names);
        Ok(match self {
            DataKind::Positive => Fill::Positive,
            DataKind::Small(formula) => Fill::Exact(most(formula)?),
            DataKind::Below(formula) => Fill::Below(most(formula)?),
            DataKind::Offsets(formula) => Fill::Below(most(formula)? + 1),
            DataKind::Random | DataKind::Sorted | DataKind::Permutation => Fill::Real,
        })
    }

    /// Refuses data that tell no kernels apart, at whatever size.
    pub(crate) fn demand_difference(&self, fill: Fill) -> Result<(), String> {
        match (self, fill) {
            (DataKind::Below(formula), Fill::Below(1)) => Err(same(&format!("below {}", formula.text))),
            _ => Ok(()),
        }
    }

    /// The bytes of `len` numbers of a type, or of structs.
    pub(crate) fn generate(&self, fill: Fill, layout: &Layout, seed: u64, stream: u64, len: usize) -> Vec<u8> {
        let plain = || layout.generate(fill, seed, stream, 0, len);
        let Some(scalar) = layout.scalar() else { return plain() };
        let whole = |numbers: &mut dyn Iterator<Item = u64>| numbers.flat_map(|number| cut(scalar, number)).collect();
        match self {
            DataKind::Sorted => {
                let bytes = plain();
                let mut numbers: Vec<NumberValue> =
                    bytes.chunks(scalar.size()).map(|number| scalar.read(number)).collect();
                numbers.sort_by(|a, b| value(*a).total_cmp(&value(*b)));
                numbers.into_iter().filter_map(|number| scalar.bytes(number)).flatten().collect()
            }
            DataKind::Permutation => {
                let mut places: Vec<u64> = (0..len as u64).collect();
                places.sort_by_key(|place| data::draw(seed ^ stream, *place));
                whole(&mut places.into_iter())
            }
            DataKind::Offsets(_) => {
                let Fill::Below(end) = fill else { return plain() };
                let step = |place: u64| data::draw(data::draw(seed, stream), place) % end;
                let mut sum = 0;
                whole(&mut (0..len as u64).map(|place| {
                    let start = sum;
                    sum += step(place);
                    start
                }))
            }
            _ => plain(),
        }
    }
}

fn same(text: &str) -> String {
    format!(
        "fill {text:?} makes all elements the same, so a kernel that never reads them would pass: choose random, \
         positive, small 8 or below 256"
    )
}

fn value(number: NumberValue) -> f64 {
    match number {
        NumberValue::Whole(whole) => whole as f64,
        NumberValue::Real(real) => real,
    }
}

/// The bytes of a whole number; its upper bits are cut where the type is too small.
fn cut(scalar: Scalar, number: u64) -> Vec<u8> {
    let kept =
        if scalar.is_float() || scalar.size() == 8 { number } else { number & ((1 << (8 * scalar.size() - 1)) - 1) };
    scalar.bytes(NumberValue::Whole(kept.into())).unwrap_or_else(|| vec![0; scalar.size()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str, scalar: Scalar, len: usize) -> Vec<f64> {
        let kind = DataKind::parse(text).unwrap();
        let fill = kind.fill(&|name| (name == "n").then_some(5)).unwrap();
        let bytes = kind.generate(fill, &scalar.into(), 7, 1, len);
        bytes.chunks(scalar.size()).map(|number| value(scalar.read(number))).collect()
    }

    #[test]
    fn structure_is_as_it_is_named() {
        assert!(numbers("sorted", Scalar::F32, 100).is_sorted() && numbers("sorted", Scalar::I64, 100).is_sorted());
        let mut places = numbers("permutation", Scalar::U32, 100);
        assert!(!places.is_sorted());
        places.sort_by(f64::total_cmp);
        assert_eq!(places, (0..100).map(f64::from).collect::<Vec<_>>());
        let offsets = numbers("offsets 3", Scalar::I32, 100);
        assert_eq!(offsets[0], 0.0);
        assert!(offsets.windows(2).all(|pair| (0.0..=3.0).contains(&(pair[1] - pair[0]))));
        assert!(offsets.windows(2).any(|pair| pair[1] - pair[0] == 3.0));
        assert!(numbers("below n", Scalar::U8, 100).iter().all(|number| (0.0..5.0).contains(number)));
    }

    #[test]
    fn what_tells_no_kernels_apart_is_refused() {
        let names = |_: &str| None;
        assert!(DataKind::parse("ones").unwrap_err().contains("never reads"));
        let below = DataKind::parse("below 1").unwrap();
        let fill = below.fill(&names).unwrap();
        assert!(below.demand_difference(fill).unwrap_err().contains("never reads"));
        assert!(DataKind::parse("small").unwrap_err().contains("no number"));
        assert!(DataKind::parse("little").unwrap_err().contains("there is random"));
        assert!(DataKind::parse("small 0").unwrap().fill(&names).is_err());
    }
}

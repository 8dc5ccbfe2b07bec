//! From one element type to another, without losing anything that matters.

use super::why::Why;
use gpulab_model::data::{Array, Dtype};
use gpulab_model::each_array;

/// A value of any element type, exactly.
#[derive(Clone, Copy, Debug)]
pub(super) enum AnyNumber {
    Whole(i64),
    Float(f64),
}

macro_rules! exactly {
    ($($ty:ty => $kind:ident),*) => {
        $(impl From<$ty> for AnyNumber {
            fn from(x: $ty) -> AnyNumber {
                AnyNumber::$kind(x.into())
            }
        })*
    };
}

exactly!(f32 => Float, f64 => Float, i32 => Whole, u8 => Whole, i64 => Whole);

impl std::fmt::Display for AnyNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            AnyNumber::Whole(x) => x.fmt(f),
            AnyNumber::Float(x) => x.fmt(f),
        }
    }
}

impl AnyNumber {
    /// f64 rounds to the nearest f32; a finite one does not become infinite.
    pub(super) fn f32(self) -> Option<f32> {
        match self {
            AnyNumber::Whole(x) => Some(x as f32).filter(|&y| y as i128 == i128::from(x)),
            AnyNumber::Float(x) => Some(x as f32).filter(|y| y.is_finite() || !x.is_finite()),
        }
    }

    pub(super) fn f64(self) -> Option<f64> {
        match self {
            AnyNumber::Whole(x) => Some(x as f64).filter(|&y| y as i128 == i128::from(x)),
            AnyNumber::Float(x) => Some(x),
        }
    }

    pub(super) fn i32(self) -> Option<i32> {
        self.i64().and_then(|x| x.try_into().ok())
    }

    pub(super) fn u8(self) -> Option<u8> {
        self.i64().and_then(|x| x.try_into().ok())
    }

    pub(super) fn i64(self) -> Option<i64> {
        match self {
            AnyNumber::Whole(x) => Some(x),
            // The cast saturates, and takes NaN to 0: neither compares equal.
            AnyNumber::Float(x) => i64::try_from(x as i128).ok().filter(|&y| y as f64 == x),
        }
    }
}

pub(super) fn convert(array: Array, to: Dtype) -> Result<Array, Why> {
    if array.dtype() == to {
        return Ok(array);
    }
    each_array!(&array, v => match to {
        Dtype::F32 => all(v, to, AnyNumber::f32).map(Array::F32),
        Dtype::F64 => all(v, to, AnyNumber::f64).map(Array::F64),
        Dtype::I32 => all(v, to, AnyNumber::i32).map(Array::I32),
        Dtype::I64 => all(v, to, AnyNumber::i64).map(Array::I64),
        Dtype::U8 => all(v, to, AnyNumber::u8).map(Array::U8),
    })
}

fn all<F: Copy + Into<AnyNumber>, T>(values: &[F], to: Dtype, f: fn(AnyNumber) -> Option<T>) -> Result<Vec<T>, Why> {
    values
        .iter()
        .enumerate()
        .map(|(i, &value): (usize, &F)| {
            let number = value.into();
            f(number).ok_or_else(|| {
                format!("element {i} is {number}, which {to} cannot hold exactly; choose another --dtype")
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one(array: Array, to: Dtype) -> Option<Array> {
        convert(array, to).ok()
    }

    #[test]
    fn f64_rounds_to_f32_but_does_not_overflow() {
        assert_eq!(one(Array::F64(vec![0.1]), Dtype::F32), Some(Array::F32(vec![0.1])));
        assert_eq!(one(Array::F64(vec![f64::INFINITY]), Dtype::F32), Some(Array::F32(vec![f32::INFINITY])));
        assert_eq!(one(Array::F64(vec![1e39]), Dtype::F32), None);
    }

    #[test]
    fn floats_become_integers_only_exactly() {
        assert_eq!(one(Array::F32(vec![-3.0]), Dtype::I32), Some(Array::I32(vec![-3])));
        for x in [0.5, f64::NAN, f64::INFINITY, 2f64.powi(63), 1e300] {
            assert_eq!(one(Array::F64(vec![x]), Dtype::I64), None, "{x}");
        }
        assert_eq!(one(Array::F64(vec![2f64.powi(31)]), Dtype::I32), None);
    }

    #[test]
    fn integers_become_floats_only_exactly() {
        assert_eq!(one(Array::I32(vec![1 << 24]), Dtype::F32), Some(Array::F32(vec![16_777_216.0])));
        assert_eq!(one(Array::I32(vec![(1 << 24) + 1]), Dtype::F32), None);
        for x in [i64::MAX, (1 << 53) + 1] {
            assert_eq!(one(Array::I64(vec![x]), Dtype::F64), None, "{x}");
        }
        assert_eq!(one(Array::I64(vec![i64::MIN]), Dtype::F64), Some(Array::F64(vec![-(2f64.powi(63))])));
    }

    proptest! {
        #[test]
        fn what_converts_to_an_integer_converts_back(x: i64, bits: u64) {
            for number in [Array::F64(vec![x as f64]), Array::F64(vec![f64::from_bits(bits)]), Array::I64(vec![x])] {
                for to in [Dtype::I32, Dtype::I64] {
                    if let Some(there) = one(number.clone(), to) {
                        prop_assert_eq!(one(there, number.dtype()), Some(number.clone()));
                    }
                }
            }
        }
    }
}

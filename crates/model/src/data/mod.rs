//! Element types, typed arrays, and seeded test data.

mod fill;
mod layout;
mod pairs;

pub use fill::{Fill, NO_EDGE, draw, generate, not_finite, telling, turn};
pub use layout::{Field, Layout, NumberValue, Scalar};
pub use pairs::{hard_to_compare, overlapping};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An element type that kernels are built for.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    /// IEEE 754 binary32.
    #[default]
    F32,
    /// IEEE 754 binary64; needs `cl_khr_fp64` on the device.
    F64,
    /// 32-bit two's complement; arithmetic wraps.
    I32,
    /// 64-bit two's complement; arithmetic wraps.
    I64,
    /// Bytes, of which a [`Layout`] says what they are; of readers' kernels alone.
    #[value(skip)]
    U8,
}

impl Dtype {
    /// Every element type that gpulab's own kernels are written for.
    pub const ALL: [Dtype; 4] = [Dtype::F32, Dtype::F64, Dtype::I32, Dtype::I64];

    /// Bytes of one element.
    pub fn size(self) -> usize {
        match self {
            Dtype::F32 | Dtype::I32 => 4,
            Dtype::F64 | Dtype::I64 => 8,
            Dtype::U8 => 1,
        }
    }

    /// The name used on the command line and in records.
    pub fn name(self) -> &'static str {
        match self {
            Dtype::F32 => "f32",
            Dtype::F64 => "f64",
            Dtype::I32 => "i32",
            Dtype::I64 => "i64",
            Dtype::U8 => "u8",
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, Dtype::F32 | Dtype::F64)
    }

    /// Unit roundoff u of a floating-point type; 0 for integers.
    pub fn unit_roundoff(self) -> f64 {
        match self {
            Dtype::F32 => f64::from(f32::EPSILON) / 2.0,
            Dtype::F64 => f64::EPSILON / 2.0,
            Dtype::I32 | Dtype::I64 | Dtype::U8 => 0.0,
        }
    }
}

impl std::fmt::Display for Dtype {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// Size of a problem: `n` elements, or `n` columns by `m` rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shape {
    /// Elements of a vector, or columns of a matrix.
    pub n: u64,
    /// Rows of a matrix; 1 for a vector.
    pub m: u64,
}

impl Shape {
    pub fn vector(n: u64) -> Shape {
        Shape { n, m: 1 }
    }

    pub fn elements(self) -> u64 {
        self.n.saturating_mul(self.m)
    }
}

/// Named settings of a case beyond its size, type and work-group: `items=8448 presum=host`.
pub type Params = BTreeMap<String, String>;

/// Every combination of settings, each of which has a name and the values that it may take; the last varies fastest.
pub fn combinations<'a, S: AsRef<str> + 'a>(
    settings: impl Iterator<Item = (&'a str, &'a [S])>,
) -> Vec<Params> {
    settings.fold(vec![Params::new()], |all, (name, values)| {
        let all = all
            .iter()
            .flat_map(|params| values.iter().map(move |value| (params, value)));
        all.map(|(params, value)| {
            let mut params = params.clone();
            params.insert(name.to_owned(), value.as_ref().to_owned());
            params
        })
        .collect()
    })
}

#[derive(Clone, Debug, PartialEq)]
pub enum Array {
    F32(Vec<f32>),
    F64(Vec<f64>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    U8(Vec<u8>),
}

/// Runs `$body` with `$v` bound to the vector inside an [`Array`], whatever its type.
#[macro_export]
macro_rules! each_array {
    ($array:expr, $v:ident => $body:expr) => {
        match $array {
            $crate::data::Array::F32($v) => $body,
            $crate::data::Array::F64($v) => $body,
            $crate::data::Array::I32($v) => $body,
            $crate::data::Array::I64($v) => $body,
            $crate::data::Array::U8($v) => $body,
        }
    };
}

/// Runs `$body` with the names bound to the vectors inside [`Array`]s of one type, whatever that is; `$other` where the
/// types differ.
#[macro_export]
macro_rules! same_type {
    (($($array:expr),+), |$($v:ident),+| $body:expr, else $other:expr) => {
        match ($($array),+) {
            ($($crate::data::Array::F32($v)),+) => $body,
            ($($crate::data::Array::F64($v)),+) => $body,
            ($($crate::data::Array::I32($v)),+) => $body,
            ($($crate::data::Array::I64($v)),+) => $body,
            ($($crate::data::Array::U8($v)),+) => $body,
            _ => $other,
        }
    };
}

/// Makes an [`Array`] of a vector of its elements.
macro_rules! array_of {
    ($($t:ty, $array:ident;)*) => {$(
        impl From<Vec<$t>> for Array {
            fn from(elements: Vec<$t>) -> Array {
                Array::$array(elements)
            }
        }
    )*};
}

array_of! { f32, F32; f64, F64; i32, I32; i64, I64; u8, U8; }

impl Array {
    pub fn zeros(dtype: Dtype, len: usize) -> Array {
        match dtype {
            Dtype::F32 => Array::F32(vec![0.0; len]),
            Dtype::F64 => Array::F64(vec![0.0; len]),
            Dtype::I32 => Array::I32(vec![0; len]),
            Dtype::I64 => Array::I64(vec![0; len]),
            Dtype::U8 => Array::U8(vec![0; len]),
        }
    }

    pub fn dtype(&self) -> Dtype {
        match self {
            Array::F32(_) => Dtype::F32,
            Array::F64(_) => Dtype::F64,
            Array::I32(_) => Dtype::I32,
            Array::I64(_) => Dtype::I64,
            Array::U8(_) => Dtype::U8,
        }
    }

    pub fn len(&self) -> usize {
        each_array!(self, v => v.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first element, so many times; nothing of nothing.
    pub fn repeated(&self, len: usize) -> Array {
        each_array!(self, v => v.first().map_or_else(Vec::new, |&first| vec![first; len]).into())
    }

    /// The elements as f64, to which those of i64 are rounded.
    pub fn widened(&self) -> Vec<f64> {
        match self {
            Array::F32(v) => v.iter().copied().map(f64::from).collect(),
            Array::F64(v) => v.clone(),
            Array::I32(v) => v.iter().copied().map(f64::from).collect(),
            Array::I64(v) => v.iter().map(|&x| x as f64).collect(),
            Array::U8(v) => v.iter().copied().map(f64::from).collect(),
        }
    }

    /// These numbers as elements of a type, rounded or cut to what it holds.
    pub fn narrowed(dtype: Dtype, numbers: impl IntoIterator<Item = f64>) -> Array {
        let numbers = numbers.into_iter();
        match dtype {
            Dtype::F32 => Array::F32(numbers.map(|x| x as f32).collect()),
            Dtype::F64 => Array::F64(numbers.collect()),
            Dtype::I32 => Array::I32(numbers.map(|x| x as i32).collect()),
            Dtype::I64 => Array::I64(numbers.map(|x| x as i64).collect()),
            Dtype::U8 => Array::U8(numbers.map(|x| x as u8).collect()),
        }
    }

    /// The elements' bytes, in the host's order.
    pub fn as_bytes(&self) -> &[u8] {
        each_array!(self, v => bytemuck::cast_slice(v))
    }

    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        each_array!(self, v => bytemuck::cast_slice_mut(v))
    }

    /// One element, as an array; `None` behind the end.
    pub fn at(&self, index: usize) -> Option<Array> {
        Some(each_array!(self, v => vec![*v.get(index)?].into()))
    }

    /// Puts the element that `value` holds in place of one, and returns that.
    pub fn put(&mut self, index: usize, value: &Array) -> Array {
        let size = value.dtype().size();
        let place = &mut self.as_bytes_mut()[index * size..][..size];
        let mut old = value.clone();
        old.as_bytes_mut().copy_from_slice(place);
        place.copy_from_slice(value.as_bytes());
        old
    }

    /// These elements, and behind them those of another array; those of another type are left out.
    pub fn followed_by(mut self, other: &Array) -> Array {
        same_type!((&mut self, other), |v, more| v.extend(more), else {});
        self
    }

    /// The first `len` elements, copied, or all if they are fewer.
    pub fn beginning(&self, len: usize) -> Array {
        each_array!(self, v => v[..len.min(v.len())].to_vec().into())
    }

    /// The elements from `start` on, copied.
    pub fn tail(&self, start: usize) -> Array {
        each_array!(self, v => v[start.min(v.len())..].to_vec().into())
    }
}

/// Another value for one element of an input.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub input: usize,
    pub index: usize,
    /// The value: an array of one element of the input's type.
    pub value: Array,
}

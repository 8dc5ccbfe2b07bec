//! Element types, typed arrays, and seeded test data.
//!
//! Every generator is a pure function of (seed, stream, index), so any part of an array can be made
//! anywhere, in parallel, and again later, without keeping the array.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An element type that kernels are built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64; needs `cl_khr_fp64` on the device.
    F64,
    /// 32-bit two's complement; arithmetic wraps.
    I32,
    /// 64-bit two's complement; arithmetic wraps.
    I64,
}

impl Dtype {
    /// Every element type.
    pub const ALL: [Dtype; 4] = [Dtype::F32, Dtype::F64, Dtype::I32, Dtype::I64];

    /// Bytes of one element.
    pub fn size(self) -> usize {
        match self {
            Dtype::F32 | Dtype::I32 => 4,
            Dtype::F64 | Dtype::I64 => 8,
        }
    }

    /// The name used on the command line and in records.
    pub fn name(self) -> &'static str {
        match self {
            Dtype::F32 => "f32",
            Dtype::F64 => "f64",
            Dtype::I32 => "i32",
            Dtype::I64 => "i64",
        }
    }

    /// Whether values are rounded.
    pub fn is_float(self) -> bool {
        matches!(self, Dtype::F32 | Dtype::F64)
    }

    /// Unit roundoff u of a floating-point type; 0 for integers.
    pub fn unit_roundoff(self) -> f64 {
        match self {
            Dtype::F32 => f64::from(f32::EPSILON) / 2.0,
            Dtype::F64 => f64::EPSILON / 2.0,
            Dtype::I32 | Dtype::I64 => 0.0,
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
    /// A vector of `n` elements.
    pub fn vector(n: u64) -> Shape {
        Shape { n, m: 1 }
    }

    /// Elements of the vector or matrix.
    pub fn elements(self) -> u64 {
        self.n.saturating_mul(self.m)
    }
}

/// Named settings of a case beyond its size, type and work-group: `items=8448 presum=host`.
pub type Params = BTreeMap<String, String>;

/// Every combination of settings, each of which has a name and the values that it may take; the last varies fastest.
pub fn combinations<'a, S: AsRef<str> + 'a>(settings: impl Iterator<Item = (&'a str, &'a [S])>) -> Vec<Params> {
    settings.fold(vec![Params::new()], |all, (name, values)| {
        let with = |params: &Params, value: &S| {
            let mut params = params.clone();
            params.insert(name.to_owned(), value.as_ref().to_owned());
            params
        };
        all.iter().flat_map(|params| values.iter().map(move |value| with(params, value))).collect()
    })
}

/// An array of one element type.
#[derive(Clone, Debug, PartialEq)]
pub enum Array {
    /// Elements of [`Dtype::F32`].
    F32(Vec<f32>),
    /// Elements of [`Dtype::F64`].
    F64(Vec<f64>),
    /// Elements of [`Dtype::I32`].
    I32(Vec<i32>),
    /// Elements of [`Dtype::I64`].
    I64(Vec<i64>),
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
        }
    };
}

impl Array {
    /// `len` zeros.
    pub fn zeros(dtype: Dtype, len: usize) -> Array {
        match dtype {
            Dtype::F32 => Array::F32(vec![0.0; len]),
            Dtype::F64 => Array::F64(vec![0.0; len]),
            Dtype::I32 => Array::I32(vec![0; len]),
            Dtype::I64 => Array::I64(vec![0; len]),
        }
    }

    /// The element type.
    pub fn dtype(&self) -> Dtype {
        match self {
            Array::F32(_) => Dtype::F32,
            Array::F64(_) => Dtype::F64,
            Array::I32(_) => Dtype::I32,
            Array::I64(_) => Dtype::I64,
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        each_array!(self, v => v.len())
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements' bytes, in the host's order.
    pub fn as_bytes(&self) -> &[u8] {
        each_array!(self, v => bytemuck::cast_slice(v))
    }

    /// The elements' bytes, to be overwritten.
    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        each_array!(self, v => bytemuck::cast_slice_mut(v))
    }

    /// The elements from `start` on, copied.
    pub fn tail(&self, start: usize) -> Array {
        match self {
            Array::F32(v) => Array::F32(v[start.min(v.len())..].to_vec()),
            Array::F64(v) => Array::F64(v[start.min(v.len())..].to_vec()),
            Array::I32(v) => Array::I32(v[start.min(v.len())..].to_vec()),
            Array::I64(v) => Array::I64(v[start.min(v.len())..].to_vec()),
        }
    }
}

/// What test data looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fill {
    /// Floats uniform in [-1, 1) with at least 2^-24 resolution; integers over their whole range.
    Real,
    /// A random sign times 1..=K: every partial result is exact in every element type, so sums of
    /// them have tolerance 0 in any order.
    Exact(u8),
    /// All ones.
    Ones,
    /// Zeros with a single one at this index.
    Unit(u64),
    /// Each element its own finite bit pattern, whatever the seed: from the smallest normal number on, in steps
    /// of the last bit. They repeat after the 2.1e9 patterns that 32 bits have.
    Bits,
    /// Weights of a graph's edges: floats uniform in [0, 1), integers in [0, 2^28), either sign if `signed`; one in
    /// eight is no edge, infinite or [`NO_EDGE`].
    Weights {
        /// Whether half of them are negative.
        signed: bool,
    },
}

/// The weight that says that there is no edge, among integers: the sum of two of them does not overflow.
pub const NO_EDGE: i32 = i32::MAX / 2;

/// `len` elements of stream `stream` (0 for the first input, 1 for the second, ...), from index `start` on.
pub fn generate(fill: Fill, dtype: Dtype, seed: u64, stream: u64, start: u64, len: usize) -> Array {
    let key = mix(seed ^ mix(stream.wrapping_add(0x5EED)));
    let mut array = Array::zeros(dtype, len);
    match &mut array {
        Array::F32(v) => fill_with(v, start, |i| match fill {
            Fill::Real => (draw(key, i) >> 40) as f32 * (2.0 / (1u64 << 24) as f32) - 1.0,
            Fill::Bits => f32::from_bits(pattern(i)),
            Fill::Weights { signed } => match weight(key, i, signed) {
                Some((magnitude, sign)) => sign as f32 * ((magnitude >> 40) as f32 / (1u64 << 24) as f32),
                None => f32::INFINITY,
            },
            other => small(other, key, i) as f32,
        }),
        Array::F64(v) => fill_with(v, start, |i| match fill {
            Fill::Real => (draw(key, i) >> 11) as f64 * (2.0 / (1u64 << 53) as f64) - 1.0,
            Fill::Bits => f64::from_bits(wide_pattern(i)),
            Fill::Weights { signed } => match weight(key, i, signed) {
                Some((magnitude, sign)) => sign as f64 * ((magnitude >> 11) as f64 / (1u64 << 53) as f64),
                None => f64::INFINITY,
            },
            other => small(other, key, i) as f64,
        }),
        Array::I32(v) => fill_with(v, start, |i| match fill {
            Fill::Real => draw(key, i) as i32,
            Fill::Bits => pattern(i).cast_signed(),
            Fill::Weights { signed } => whole_weight(key, i, signed),
            other => small(other, key, i) as i32,
        }),
        Array::I64(v) => fill_with(v, start, |i| match fill {
            Fill::Real => draw(key, i) as i64,
            Fill::Bits => wide_pattern(i).cast_signed(),
            Fill::Weights { signed } => whole_weight(key, i, signed).into(),
            other => small(other, key, i),
        }),
    }
    array
}

fn small(fill: Fill, key: u64, i: u64) -> i64 {
    match fill {
        Fill::Exact(k) => {
            let r = draw(key, i);
            let magnitude = 1 + ((r >> 32) % u64::from(k)) as i64;
            if r & 1 == 0 { magnitude } else { -magnitude }
        }
        Fill::Unit(at) => i64::from(i == at),
        Fill::Ones | Fill::Real | Fill::Bits | Fill::Weights { .. } => 1,
    }
}

/// The bits of the smallest normal f32, and those of infinity.
const NORMAL: u64 = 0x0080_0000;
const INFINITE: u64 = 0x7f80_0000;

fn pattern(i: u64) -> u32 {
    (NORMAL + i % (INFINITE - NORMAL)) as u32
}

/// Both halves of the word differ from element to element, and from each other.
fn wide_pattern(i: u64) -> u64 {
    u64::from(pattern(i)) << 32 | u64::from(!pattern(i))
}

/// Magnitude, as a fraction of 2^64, and sign of an edge's weight; none where there is no edge.
fn weight(key: u64, i: u64, signed: bool) -> Option<(u64, i32)> {
    let (magnitude, kind) = (draw(key, i), draw(!key, i));
    let sign = if signed && kind & 8 != 0 { -1 } else { 1 };
    (kind % 8 != 0).then_some((magnitude, sign))
}

fn whole_weight(key: u64, i: u64, signed: bool) -> i32 {
    weight(key, i, signed).map_or(NO_EDGE, |(magnitude, sign)| sign * (magnitude >> 36) as i32)
}

fn fill_with<T: Send>(values: &mut [T], start: u64, f: impl Fn(u64) -> T + Sync) {
    const CHUNK: usize = 1 << 16;
    values.par_chunks_mut(CHUNK).enumerate().for_each(|(c, chunk)| {
        let first = start + (c * CHUNK) as u64;
        for (i, value) in chunk.iter_mut().enumerate() {
            *value = f(first + i as u64);
        }
    });
}

fn draw(key: u64, index: u64) -> u64 {
    mix(key.wrapping_add(index.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
}

/// The output function of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a bijection of 64-bit words.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_an_array_equal_the_whole() {
        for dtype in Dtype::ALL {
            for fill in [Fill::Real, Fill::Exact(8), Fill::Ones, Fill::Unit(70_000), Fill::Weights { signed: true }] {
                let whole = generate(fill, dtype, 7, 1, 0, 100_000);
                assert_eq!(whole.tail(65_530), generate(fill, dtype, 7, 1, 65_530, 34_470), "{dtype} {fill:?}");
            }
        }
    }

    #[test]
    fn exact_data_is_never_zero_and_uses_both_signs() {
        let Array::I32(v) = generate(Fill::Exact(8), Dtype::I32, 1, 0, 0, 10_000) else { unreachable!() };
        assert!(v.iter().all(|x| (1..=8).contains(&x.abs())));
        for k in 1..=8 {
            assert!(v.contains(&k) && v.contains(&-k));
        }
    }

    #[test]
    fn every_element_has_its_own_bits() {
        for dtype in Dtype::ALL {
            let bits = generate(Fill::Bits, dtype, 1, 0, 0, 70_000);
            let words: std::collections::HashSet<&[u8]> = bits.as_bytes().chunks(dtype.size()).collect();
            assert_eq!(words.len(), 70_000, "{dtype}");
            assert_eq!(bits.tail(65_530), generate(Fill::Bits, dtype, 2, 1, 65_530, 4470), "{dtype}");
        }
        let Array::F32(v) = generate(Fill::Bits, Dtype::F32, 1, 0, INFINITE - NORMAL - 1, 2) else { unreachable!() };
        assert_eq!(v, [f32::MAX, f32::MIN_POSITIVE]);
    }

    #[test]
    fn real_data_fills_its_range() {
        let Array::F32(v) = generate(Fill::Real, Dtype::F32, 1, 0, 0, 100_000) else { unreachable!() };
        let mean = v.iter().map(|&x| f64::from(x)).sum::<f64>() / v.len() as f64;
        assert!(mean.abs() < 0.01, "{mean}");
        assert!(v.iter().all(|x| (-1.0..1.0).contains(x)));
    }

    #[test]
    fn weights_have_the_sign_asked_for_and_an_eighth_is_missing() {
        for (signed, least) in [(false, 0.0_f32), (true, -1.0)] {
            let fill = Fill::Weights { signed };
            let Array::F32(v) = generate(fill, Dtype::F32, 1, 0, 0, 80_000) else { unreachable!() };
            let Array::I32(w) = generate(fill, Dtype::I32, 1, 0, 0, 80_000) else { unreachable!() };
            let missing = v.iter().filter(|x| x.is_infinite()).count();
            assert!((9_500..10_500).contains(&missing), "{missing}");
            assert_eq!(missing, w.iter().filter(|&&x| x == NO_EDGE).count());
            assert!(v.iter().filter(|x| x.is_finite()).all(|x| (least..1.0).contains(x)));
            assert!(w.iter().all(|&x| x == NO_EDGE || (x < 1 << 28 && x >= least as i32 * (1 << 28))));
            assert_eq!(v.iter().any(|&x| x < 0.0), signed);
            assert_eq!(w.iter().any(|&x| x < 0), signed);
        }
    }

    #[test]
    fn streams_and_seeds_differ() {
        let a = generate(Fill::Real, Dtype::F64, 1, 0, 0, 8);
        assert_ne!(a, generate(Fill::Real, Dtype::F64, 1, 1, 0, 8));
        assert_ne!(a, generate(Fill::Real, Dtype::F64, 2, 0, 0, 8));
    }
}

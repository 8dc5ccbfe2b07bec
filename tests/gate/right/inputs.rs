//! Kinds of data that no right kernel may be called wrong over.

use gpulab::data::{Array, Dtype, NO_EDGE};

/// What an element is made from: its index, how many there are, and a random word of its own.
#[derive(Clone, Copy)]
pub struct Place {
    pub i: usize,
    pub n: usize,
    pub random: u64,
}

impl Place {
    /// From -1 to 1.
    fn uniform(self) -> f64 {
        (self.random >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn sign(self) -> f64 {
        if self.i.is_multiple_of(2) { 1.0 } else { -1.0 }
    }

    fn is_middle(self) -> bool {
        self.i == self.n / 2
    }

    fn is_last(self) -> bool {
        self.i + 1 == self.n
    }
}

/// Elements of floating-point vectors.
pub type Float = fn(Place) -> f64;

/// Kinds of floating-point vectors. Sums that leave the type's range in one order only are not among them: such a
/// result depends on the order, so that none is right.
pub const FLOATS: &[(&str, Float)] = &[
    ("zeros", |_| 0.0),
    ("negative zeros", |_| -0.0),
    ("zeros of both signs", |p| 0.0 * p.sign()),
    ("ones", |_| 1.0),
    ("minus ones", |_| -1.0),
    ("alternating signs", Place::sign),
    ("alternating signs of thirds", |p| p.sign() / 3.0),
    ("one constant", |_| 0.1),
    ("uniform", Place::uniform),
    ("uniform above zero", |p| p.uniform().abs()),
    ("pairs that cancel", |p| {
        p.sign() * (1 + p.i / 2 % 97) as f64 / 7.0
    }),
    ("halves that cancel", |p| {
        let half = p.n / 2;
        if p.i < half {
            1.0 / (1 + p.i) as f64
        } else if p.i < 2 * half {
            -1.0 / (1 + p.i - half) as f64
        } else {
            0.0
        }
    }),
    ("huge", |p| 1e30 * p.uniform()),
    ("huge above zero", |p| 1e30 * (1.5 + p.uniform())),
    ("tiny", |p| 1e-30 * p.uniform()),
    ("the smallest normal", |_| f64::from(f32::MIN_POSITIVE)),
    ("denormal", |p| 1e-40 * p.uniform()),
    ("denormal and large", |p| {
        if p.random.is_multiple_of(3) {
            1e3
        } else {
            1e-41
        }
    }),
    ("many magnitudes", |p| {
        p.uniform() * 2f64.powi((p.random % 61) as i32 - 30)
    }),
    ("powers of two", |p| 2f64.powi((p.i % 60) as i32 - 30)),
    ("powers of two of both signs", |p| {
        p.sign() * 2f64.powi((p.i % 60) as i32 - 30)
    }),
    ("sorted", |p| p.i as f64 / p.n as f64 - 0.5),
    ("reversed", |p| (p.n - p.i) as f64),
    ("absorbed ones", |p| if p.i == 0 { 1e8 } else { 1.0 }),
    ("ones absorbed at the end", |p| {
        if p.is_last() { -1e8 } else { 1.0 }
    }),
    ("a spike at first", |p| {
        if p.i == 0 { 1e20 } else { p.uniform() }
    }),
    ("a spike in the middle", |p| {
        if p.is_middle() { -1e20 } else { p.uniform() }
    }),
    ("a spike at last", |p| {
        if p.is_last() { 1e20 } else { p.uniform() }
    }),
    ("whole numbers", |p| (p.random % 2001) as f64 - 1000.0),
    ("whole numbers beyond exactness", |p| {
        (p.random % (1 << 40)) as f64
    }),
    ("infinity once", |p| {
        if p.is_middle() {
            f64::INFINITY
        } else {
            p.uniform()
        }
    }),
    ("minus infinity once", |p| {
        if p.is_last() {
            f64::NEG_INFINITY
        } else {
            p.uniform()
        }
    }),
    ("infinity everywhere", |_| f64::INFINITY),
];

/// More kinds, of which only sums are defined.
pub const SUMS_ONLY: &[(&str, Float)] = &[
    ("NaN once", |p| {
        if p.is_middle() { f64::NAN } else { p.uniform() }
    }),
    ("NaN everywhere", |_| f64::NAN),
    ("both infinities", |p| match p.i {
        0 => f64::INFINITY,
        _ if p.is_last() => f64::NEG_INFINITY,
        _ => p.uniform(),
    }),
    ("beyond the range", |_| f64::from(f32::MAX)),
];

/// A kind of inputs: its name, and the value at a place.
pub type Kind<T> = (&'static str, fn(Place) -> T);

/// Kinds of vectors of integers; 32-bit ones take the lower half.
pub const WHOLES: &[Kind<i64>] = &[
    ("zeros", |_| 0),
    ("ones", |_| 1),
    ("all bits", |_| -1),
    ("the greatest", |_| i64::MAX),
    ("the greatest of 32 bits", |_| i64::from(i32::MAX)),
    ("the least", |_| i64::MIN),
    ("the least of 32 bits", |_| i64::from(i32::MIN)),
    ("both extremes", |p| {
        if p.i.is_multiple_of(2) {
            i64::from(i32::MAX)
        } else {
            i64::from(i32::MIN)
        }
    }),
    ("alternating signs", |p| p.sign() as i64),
    ("random", |p| p.random.cast_signed()),
    ("random above zero", |p| (p.random % 1000) as i64 + 1),
    ("random below zero", |p| -((p.random % 1000) as i64) - 1),
    ("sorted", |p| p.i as i64),
    ("reversed", |p| (p.n - p.i) as i64),
    ("one bit each", |p| 1 << (p.i % 31)),
    ("all bits but one", |p| !(1 << (p.i % 31))),
    ("a spike at first", |p| i64::from(p.i == 0) << 30),
    ("a spike in the middle", |p| {
        -(i64::from(p.is_middle()) << 30)
    }),
    ("a spike at last", |p| i64::from(p.is_last()) << 30),
    ("even numbers", |p| (p.random.cast_signed()) & !1),
    ("upper bits", |p| (p.random.cast_signed()) << 20),
    ("pairs that cancel", |p| p.sign() as i64 * (p.i / 2) as i64),
    ("what checkers fill memory with", |_| {
        0xdead_beef_dead_beef_u64.cast_signed()
    }),
    ("guards of checkers", |_| {
        0xa5a5_a5a5_a5a5_a5a5_u64.cast_signed()
    }),
];

/// Bit patterns that are moved: 64 bits, of which 32-bit elements take the lower half.
pub const BITS: &[Kind<u64>] = &[
    ("zeros", |_| 0),
    ("all bits", |_| u64::MAX),
    ("random", |p| p.random),
    ("signs", |p| {
        if p.random.is_multiple_of(2) {
            0x8000_0000_8000_0000
        } else {
            0
        }
    }),
    ("negative zeros", |_| 0x8000_0000_8000_0000),
    ("denormal", |p| p.random & 0x000f_ffff_007f_ffff),
    ("infinities", |p| {
        (p.random << 63 | p.random << 31 & 0x8000_0000) | 0x7ff0_0000_7f80_0000
    }),
    ("quiet NaN", |p| {
        p.random & 0x000f_ffff_003f_ffff | 0x7ff8_0000_7fc0_0000
    }),
    ("signalling NaN", |p| {
        p.random & 0x0007_ffff_003f_ffff | 0x7ff0_0001_7f80_0001
    }),
    ("negative NaN", |p| {
        p.random & 0x000f_ffff_003f_ffff | 0xfff8_0000_ffc0_0000
    }),
    ("what checkers fill memory with", |_| 0xdead_beef_dead_beef),
    ("the poison of floats", |_| 0x7ff8_dead_7fc0_dead),
    ("the poison of doubles", |_| 0x7ff8_dead_beef_dead),
    ("guards of checkers", |_| 0xa5a5_a5a5_a5a5_a5a5),
    ("ascending", |p| p.i as u64 * 0x1_0000_0001),
    ("one bit each", |p| 1 << (p.i % 64)),
    ("all alike", |_| 0x3ff0_0000_3f80_0000),
    ("extremes", |p| {
        if p.random.is_multiple_of(2) {
            0x7fff_ffff_7fff_ffff
        } else {
            0x8000_0000_8000_0000
        }
    }),
];

/// Weights of edges from row to column, in units; none where there is no edge.
pub type Weight = fn(usize, usize, Place) -> Option<i32>;

/// Kinds of matrices of weights, and whether any is below zero.
pub const WEIGHTS: &[(&str, bool, Weight)] = &[
    ("no edge", false, |_, _, _| None),
    ("zeros", false, |_, _, _| Some(0)),
    ("ones", false, |_, _, _| Some(1)),
    ("no edge but to oneself", false, |i, j, _| {
        (i == j).then_some(0)
    }),
    ("a ring", false, |i, j, p| {
        (j == (i + 1) % p.n.isqrt().max(1)).then_some(1)
    }),
    ("a star", false, |i, j, _| (i == 0 || j == 0).then_some(7)),
    ("random", false, |_, _, p| Some((p.random % 1000) as i32)),
    ("sparse", false, |_, _, p| {
        p.random
            .is_multiple_of(16)
            .then_some((p.random >> 40) as i32)
    }),
    ("dense", false, |_, _, p| {
        (!p.random.is_multiple_of(16)).then_some((p.random >> 40) as i32)
    }),
    ("rows without an edge", false, |i, _, p| {
        (!i.is_multiple_of(3)).then_some((p.random % 100) as i32)
    }),
    ("columns without an edge", false, |_, j, p| {
        (!j.is_multiple_of(3)).then_some((p.random % 100) as i32)
    }),
    ("heavy", false, |_, _, p| {
        Some((p.random % (1 << 28)) as i32)
    }),
    ("light and heavy", false, |_, _, p| {
        Some(if p.random.is_multiple_of(9) {
            1 << 28
        } else {
            1
        })
    }),
    ("sorted", false, |i, j, _| Some((i + j) as i32)),
    ("distances on a line", false, |i, j, _| {
        Some(i.abs_diff(j) as i32)
    }),
    ("below zero", true, |_, _, p| {
        Some(-((p.random % 1000) as i32))
    }),
    ("of both signs", true, |_, _, p| {
        Some((p.random % 2001) as i32 - 1000)
    }),
    ("of both signs, sparse", true, |_, _, p| {
        (p.random.is_multiple_of(8)).then_some((p.random >> 40) as i32 - (1 << 23))
    }),
    ("one below zero", true, |i, j, p| {
        Some(if i == 1 && j == 2 {
            -(1 << 20)
        } else {
            (p.random % 50) as i32
        })
    }),
];

/// A vector of a floating-point type; stream 1 is another draw of random words.
pub fn floats(dtype: Dtype, n: usize, stream: u64, value: Float) -> Array {
    let values = places(n, stream).map(value);
    match dtype {
        Dtype::F32 => Array::F32(values.map(|x| x as f32).collect()),
        _ => Array::F64(values.collect()),
    }
}

/// A vector of an integer type.
pub fn wholes(dtype: Dtype, n: usize, stream: u64, value: fn(Place) -> i64) -> Array {
    let values = places(n, stream).map(value);
    match dtype {
        Dtype::I32 => Array::I32(values.map(|x| x as i32).collect()),
        _ => Array::I64(values.collect()),
    }
}

/// Elements of these bits.
pub fn bits(dtype: Dtype, n: usize, value: fn(Place) -> u64) -> Array {
    let values = places(n, 0).map(value);
    match dtype {
        Dtype::F32 => Array::F32(values.map(|x| f32::from_bits(x as u32)).collect()),
        Dtype::F64 => Array::F64(values.map(f64::from_bits).collect()),
        Dtype::I32 => Array::I32(values.map(|x| (x as u32).cast_signed()).collect()),
        Dtype::I64 => Array::I64(values.map(u64::cast_signed).collect()),
        Dtype::U8 => Array::U8(values.map(|x| x as u8).collect()),
    }
}

/// A square matrix of weights; a unit of floats is a third.
pub fn weights(dtype: Dtype, side: usize, value: Weight) -> Array {
    let values = places(side * side, 0).map(|p| value(p.i / side, p.i % side, p));
    match dtype {
        Dtype::F32 => Array::F32(
            values
                .map(|w| w.map_or(f32::INFINITY, |w| w as f32 / 3.0))
                .collect(),
        ),
        Dtype::F64 => Array::F64(
            values
                .map(|w| w.map_or(f64::INFINITY, |w| f64::from(w) / 3.0))
                .collect(),
        ),
        _ => Array::I32(values.map(|w| w.unwrap_or(NO_EDGE)).collect()),
    }
}

fn places(n: usize, stream: u64) -> impl Iterator<Item = Place> {
    (0..n).map(move |i| Place {
        i,
        n,
        random: mix(i as u64 ^ stream << 48),
    })
}

/// SplitMix64's output function.
fn mix(i: u64) -> u64 {
    let z = i.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

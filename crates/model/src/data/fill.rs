//! Seeded test data. Every generator is a pure function of (seed, stream, index), so any part of an array can be made
//! anywhere, in parallel, and again later, without keeping the array.

use super::{Array, Dtype};
use multiversion::multiversion;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fill {
    /// Floats uniform in [-1, 1) with at least 2^-24 resolution; integers over their whole range.
    Real,
    /// A random sign times 1..=K: every partial result is exact in every element type, so sums of
    /// them have tolerance 0 in any order.
    Exact(u64),
    /// The same, of which floats are a quarter, so that some are whole and others are not.
    Fractions(u64),
    /// The same, of which floats are multiplied by one random power of two, from 2^-40 to 2^40.
    Scaled(u64),
    /// Numbers of both signs and of many sizes: integers of a random number of bits, up to so many, with zeros; floats whose
    /// exponents span as many.
    Sizes(u32),
    /// Whole numbers from 0 on, below this one.
    Below(u64),
    Ones,
    /// 0, 1, 2 and so on.
    Ramp,
    /// Numbers above 0 with room below them, for minima: floats in [1, 2), integers in the upper half of those below a quarter
    /// of the largest.
    Positive,
    /// The same numbers with the other sign, for maxima.
    Negative,
    /// Numbers of one sign that differ in their last bits alone, so that a comparison in a narrower type takes them for equal,
    /// and in the first bit of their lower halves: floats about 2^60, integers about an eighth of the largest; or floats below
    /// 1, and integers just large enough.
    Near {
        negative: bool,
        small: bool,
    },
    /// Numbers of one sign, all so large that the sum of two is hardly below the largest of its type, or, of integers above 0,
    /// below [`NO_EDGE`].
    Largest {
        negative: bool,
    },
    /// All bits but, in one element of 256, one of the lower half of them.
    MostBits,
    /// No bits but, in one element of 256, one of the lower half of them.
    FewBits,
    /// Bits of all kinds: both signs, NaN with payloads, infinities, denormals, zeros of either sign, extremes. All but each
    /// 61st element, which is one of the special ones, have bits of their own, up to 2^32 elements.
    Bits,
    /// Weights of a complete graph's edges, as a matrix of so many columns: for each node there is a shortest way of two
    /// edges that leads over it; each eighth edge is missing, infinite or [`NO_EDGE`].
    Weights {
        columns: u64,
        signed: bool,
        /// Whether one node has no edge that leaves it, and one has none that reaches it.
        severed: bool,
    },
    /// Weights of a complete graph's edges, none below 0, as a matrix of so many columns: from each node a short edge leads
    /// to another, [`turn`] columns on, so that a shortest way of two edges always takes one of those. Of each two ways that
    /// take one, the other is the shorter where `falling` is the other.
    Turned {
        columns: u64,
        /// Whether edges are the shorter, the longer they would be otherwise.
        falling: bool,
    },
}

/// In words, as in "over whole numbers".
impl std::fmt::Display for Fill {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fill::Real => write!(f, "random numbers"),
            Fill::Exact(_) | Fill::Fractions(_) => write!(f, "small numbers, whose sums are exact"),
            Fill::Scaled(_) => write!(f, "multiples of a power of two, whose sums are exact"),
            Fill::Sizes(_) => write!(f, "numbers of many sizes"),
            Fill::Below(most) => write!(f, "whole numbers below {most}"),
            Fill::Ones => write!(f, "ones"),
            Fill::Ramp => write!(f, "0, 1, 2 and so on"),
            Fill::Positive => write!(f, "numbers above 0"),
            Fill::Negative => write!(f, "numbers below 0"),
            Fill::Near { .. } => write!(f, "numbers that differ in their last bits alone"),
            Fill::Largest { .. } => write!(f, "numbers whose sums are nearly the largest"),
            Fill::MostBits => write!(f, "words with most bits set"),
            Fill::FewBits => write!(f, "words with few bits set"),
            Fill::Bits => write!(f, "bits of all kinds"),
            Fill::Weights { .. } | Fill::Turned { .. } => write!(f, "weights of a graph's edges"),
        }
    }
}

/// How many columns on the short edges of [`Fill::Turned`] lead.
pub fn turn(columns: u64) -> u64 {
    columns / 3
}

/// The weight that says that there is no edge, among integers: the sum of two of them does not overflow.
pub const NO_EDGE: i32 = i32::MAX / 2;

/// `len` elements of stream `stream` (0 for the first input, 1 for the second, ...), from index `start` on.
pub fn generate(fill: Fill, dtype: Dtype, seed: u64, stream: u64, start: u64, len: usize) -> Array {
    let mut array = Array::zeros(dtype, len);
    let key = key(seed, stream);
    match (&mut array, fill) {
        (Array::F32(v), Fill::Bits) => {
            fill_with(v, start, |i| f32::from_bits(pattern(key, i)));
        }
        (Array::F64(v), Fill::Bits) => {
            fill_with(v, start, |i| f64::from_bits(wide_pattern(key, i)));
        }
        (Array::F32(v), _) => {
            fill_floats::<32, 24, f32>(v, start, fill, key, |x| x as f32, |x| x as f32);
        }
        (Array::F64(v), _) => {
            fill_floats::<64, 53, f64>(v, start, fill, key, |x| x, |x| x as f64);
        }
        (Array::I32(v), _) => fill_whole::<32, i32>(v, start, fill, key, |x| x as i32),
        (Array::I64(v), _) => fill_whole::<64, i64>(v, start, fill, key, |x| x),
        // What bytes are is said by a layout, which makes data of them.
        (Array::U8(v), _) => fill_with(v, start, |i| (draw(key, i) >> 40) as u8),
    }
    array
}

/// What the elements of a stream are drawn with: element `i` depends on [`draw`] of this and `i` alone.
pub fn key(seed: u64, stream: u64) -> u64 {
    mix(seed ^ mix(stream.wrapping_add(0x5EED)))
}

/// Fills an array with floats of `BITS` bits. `SIGNIFICAND` counts the bits of their significand, with the leading one.
///
/// Numbers with fractions are computed in f64, and `number` makes elements of them. Nothing is rounded on the way as long as a fill's
/// largest whole number is at most 2^53. Whole numbers go to `whole` as they are.
fn fill_floats<const BITS: u32, const SIGNIFICAND: u32, T: Copy + Send + Sync>(
    v: &mut [T],
    start: u64,
    fill: Fill,
    key: u64,
    number: impl Fn(f64) -> T + Sync,
    whole: impl Fn(i64) -> T + Copy + Sync,
) {
    // The last place of numbers from 1 on.
    let unit = 2.0 / (1u64 << SIGNIFICAND) as f64;
    let first_bits = |i, bits| (draw(key, i) >> (64 - bits)) as f64 * unit;
    match fill {
        Fill::Real => fill_with(v, start, |i| number(first_bits(i, SIGNIFICAND) - 1.0)),
        Fill::Positive => fill_with(v, start, |i| number(1.0 + first_bits(i, SIGNIFICAND - 1))),
        Fill::Negative => fill_with(v, start, |i| number(-1.0 - first_bits(i, SIGNIFICAND - 1))),
        Fill::Near { negative, small } => {
            let dtype = if BITS == 32 { Dtype::F32 } else { Dtype::F64 };
            let (places, size) = near_places(dtype, negative, small);
            let scale = 2f64.powi(size);
            fill_with(v, start, |i| {
                number(near(draw(key, i), negative, places) as f64 * scale)
            });
        }
        Fill::Sizes(most) => fill_with(v, start, |i| {
            number(sized(draw(key, i), draw(!key, i), most, SIGNIFICAND))
        }),
        Fill::Fractions(k) => fill_exact(v, start, key, k, |x| number(x as f64 / 4.0)),
        Fill::Scaled(k) => {
            let scale = scale(key);
            fill_exact(v, start, key, k, |x| number(x as f64 * scale));
        }
        Fill::Weights { .. } => {
            let weights = Weights::of(fill, key);
            fill_with(v, start, |i| {
                number(weights.weight(i).unwrap_or(f64::INFINITY))
            });
        }
        Fill::Turned { columns, falling } => fill_with(v, start, |i| {
            number(turned(key, columns, falling, i) * size(falling))
        }),
        Fill::Largest { negative } => {
            let scale = 2f64.powi(if BITS == 32 { 103 } else { 970 });
            fill_with(v, start, |i| {
                number(largest(draw(key, i), negative, SIGNIFICAND) as f64 * scale)
            });
        }
        Fill::Exact(_)
        | Fill::Below(_)
        | Fill::Ones
        | Fill::Ramp
        | Fill::MostBits
        | Fill::FewBits
        // These are no numbers: [`generate`] makes them.
        | Fill::Bits => fill_whole::<BITS, T>(v, start, fill, key, whole),
    }
}

/// Whole numbers of so many bits, of which `of` makes elements.
fn fill_whole<const BITS: u32, T: Copy + Send + Sync>(
    v: &mut [T],
    start: u64,
    fill: Fill,
    key: u64,
    of: impl Fn(i64) -> T + Copy + Sync,
) {
    match fill {
        Fill::Real => fill_with(v, start, |i| of(draw(key, i) as i64)),
        Fill::Positive => fill_with(v, start, |i| {
            of((1 << (BITS - 4)) + (draw(key, i) >> (68 - BITS)) as i64)
        }),
        Fill::Negative => fill_with(v, start, |i| {
            of(-(1 << (BITS - 4)) - (draw(key, i) >> (68 - BITS)) as i64)
        }),
        Fill::Near { negative, small } => {
            let dtype = if BITS == 32 { Dtype::I32 } else { Dtype::I64 };
            let places = near_places(dtype, negative, small).0;
            fill_with(v, start, |i| of(near(draw(key, i), negative, places)));
        }
        Fill::Sizes(most) => fill_with(v, start, |i| {
            of(narrow(draw(key, i), draw(!key, i), most.min(BITS - 1)))
        }),
        Fill::Exact(k) | Fill::Fractions(k) | Fill::Scaled(k) => fill_exact(v, start, key, k, of),
        Fill::Below(k) => fill_with(v, start, |i| of(up_to(draw(key, i), k))),
        Fill::Ones => v.fill(of(1)),
        Fill::Ramp => fill_with(v, start, |i| of(i as i64)),
        Fill::MostBits => fill_with(v, start, |i| of(!lone_bit(draw(key, i), BITS.into()))),
        Fill::FewBits => fill_with(v, start, |i| of(lone_bit(draw(key, i), BITS.into()))),
        Fill::Bits if BITS == 32 => {
            fill_with(v, start, |i| of(pattern(key, i).cast_signed().into()))
        }
        Fill::Bits => fill_with(v, start, |i| of(wide_pattern(key, i).cast_signed())),
        Fill::Weights { .. } => {
            let weights = Weights::of(fill, key);
            fill_with(v, start, |i| of(weights.whole(i).into()));
        }
        Fill::Turned { columns, falling } if BITS == 32 => {
            fill_with(v, start, |i| {
                of((turned(key, columns, falling, i) * f64::from(1 << 27)) as i64)
            });
        }
        // No graph has weights of this type.
        Fill::Turned { .. } => v.fill(of(1)),
        Fill::Largest { negative } => {
            fill_with(v, start, |i| {
                of(largest(
                    draw(key, i),
                    negative,
                    BITS - 3 + u32::from(negative),
                ))
            });
        }
    }
}

/// Random signs times 1..=`k`, as `element` makes elements of them. Few are taken from 32 bits of a draw, whose product with
/// `k` is a vector register's.
fn fill_exact<T: Send>(
    v: &mut [T],
    start: u64,
    key: u64,
    k: u64,
    element: impl Fn(i64) -> T + Sync,
) {
    if k < 1 << 31 {
        fill_with(v, start, |i| {
            let r = draw(key, i);
            let magnitude = 1 + (((r >> 32) * k) >> 32) as i32;
            element(i64::from(if r & 1 == 0 { magnitude } else { -magnitude }))
        });
    } else {
        fill_with(v, start, |i| {
            let r = draw(key, i);
            let magnitude = 1 + up_to(r, k);
            element(if r & 1 == 0 { magnitude } else { -magnitude })
        });
    }
}

/// A whole number from 0 on, below `end`.
#[inline(always)]
fn up_to(draw: u64, end: u64) -> i64 {
    ((u128::from(draw) * u128::from(end)) >> 64) as i64
}

/// The bit of the lower half of so many that an element has, or is without; most have none.
#[inline(always)]
fn lone_bit(draw: u64, bits: u64) -> i64 {
    if draw.is_multiple_of(256) {
        1 << ((draw >> 32) % (bits / 2))
    } else {
        0
    }
}

/// What numbers of [`Fill::Near`] are made with: `power`, `bits` and `flip` of [`near`], and the power of two that they are
/// multiplied by.
pub fn near_places(dtype: Dtype, negative: bool, small: bool) -> ([u32; 3], i32) {
    match (dtype, small) {
        (Dtype::F32, _) => ([23, 3, 11], if small { -60 } else { 37 }),
        (Dtype::F64, _) => ([52, 20, 31], if small { -90 } else { 8 }),
        // Sums of two are no missing edges.
        (Dtype::I32, true) => ([25, 1, 15], 0),
        (Dtype::I32, false) => ([28 + u32::from(negative), 4, 15], 0),
        (Dtype::I64, true) => ([54, 1, 31], 0),
        (Dtype::I64, false) => ([60, 7, 31], 0),
        (Dtype::U8, _) => ([5, 1, 3], 0),
    }
}

/// 2^`power`, less than four times 2^`bits` more, and in every other number 2^`flip` as well.
#[inline(always)]
fn near(draw: u64, negative: bool, [power, bits, flip]: [u32; 3]) -> i64 {
    let last = (1 << bits) + 1 + (draw >> (63 - bits)) as i64;
    let number = (1 << power) + ((draw & 1) << flip) as i64 + last;
    if negative { -number } else { number }
}

/// A little less than 2^`bits`, so that a float of so many holds it.
#[inline(always)]
fn largest(draw: u64, negative: bool, bits: u32) -> i64 {
    let number = (1 << bits) - 2 - (draw >> 52) as i64;
    if negative { -number } else { number }
}

/// A number below `end`, of the upper half of a draw.
#[inline(always)]
fn below(draw: u64, end: u32) -> u32 {
    (((draw >> 32) * u64::from(end)) >> 32) as u32
}

/// An integer of a random number of bits, up to `most` of them.
#[inline(always)]
fn narrow(draw: u64, kind: u64, most: u32) -> i64 {
    let bits = below(kind, most + 1);
    let magnitude = if bits == 0 { 0 } else { draw >> (64 - bits) } as i64;
    if kind & 1 == 0 { magnitude } else { -magnitude }
}

/// A float whose exponent is one of `most` about 0: its sign, its exponent and, from a draw of their own, the other bits.
#[inline(always)]
fn sized(draw: u64, kind: u64, most: u32, significand: u32) -> f64 {
    let exponent = below(kind, most + 1) + 1023 - most / 2;
    let last = draw >> (65 - significand) << (53 - significand);
    f64::from_bits(kind << 63 | u64::from(exponent) << 52 | last)
}

pub fn scale(key: u64) -> f64 {
    2f64.powi((mix(key ^ 5) % 81) as i32 - 40)
}

/// Bits that operations on numbers are likely to change: of f32, and as the upper halves of 64-bit words of f64 and others.
const SPECIAL: [u32; 21] = [
    0x8000_0000, // -0
    0x0000_0001, // the smallest denormal
    0x7f80_0001, // a signalling NaN
    0xff80_0000, // -infinity
    0x8000_0001,
    0x7fff_ffff,
    0xffff_ffff, // a NaN with every bit; the integer -1
    0x7f80_0000, // infinity
    0x007f_ffff, // the largest denormal
    0xff80_1234,
    0x0000_0000,
    0x7fc1_2345, // a quiet NaN with a payload
    0x8040_0000,
    0xfff0_0000,
    0x7f7f_ffff, // the largest float
    0xff7f_ffff,
    0x3f80_0000, // the float 1
    0x3ff0_0000, // the upper half of the double 1
    0x0000_0002,
    0x0000_00ff,
    0x7ff0_0000, // the upper half of a double's infinity
];

/// Each so many an element has special bits.
const SPECIAL_EACH: u64 = 61;

/// The bits of element `i`, none of which is the poison that outputs hold before a kernel runs.
fn pattern(key: u64, i: u64) -> u32 {
    if i % SPECIAL_EACH == SPECIAL_EACH / 2 {
        return SPECIAL[(i / SPECIAL_EACH) as usize % SPECIAL.len()];
    }
    match scramble((i as u32).wrapping_add(key as u32)) {
        0x7fc0_dead | 0xdead_beef => 0x0123_4567,
        bits => bits,
    }
}

/// Both halves of the word differ from element to element, and from each other. Of special bits the lower half is 0 in every
/// other round of them: else they would be no infinities, and without the rest no denormals.
fn wide_pattern(key: u64, i: u64) -> u64 {
    let high = pattern(key, i);
    let is_special = i % SPECIAL_EACH == SPECIAL_EACH / 2;
    let round = i / SPECIAL_EACH / SPECIAL.len() as u64;
    let low = if is_special && round.is_multiple_of(2) {
        0
    } else {
        scramble(!high)
    };
    u64::from(high) << 32 | u64::from(low)
}

/// A bijection of 32-bit words: the last steps of MurmurHash3 (A. Appleby, 2011).
fn scramble(mut x: u32) -> u32 {
    x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
    x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
    x ^ (x >> 16)
}

/// The edges of a complete graph whose shortest ways of two edges lead over every node in turn.
///
/// Most weights lie in [1/2, 1), some far above; each eighth edge is missing. From each node an edge of [3/8, 7/16) leads to
/// another, `turn` columns on, so that for every node there is a way over it that is shorter than any other of two edges.
/// Of signed weights, half of the usual ones are negative, and those edges lie in [-3/2, -5/4). All edges from one node are
/// 128 times as heavy, and the node before it leads nowhere else, so that heavy ways are answers too.
struct Weights {
    key: u64,
    columns: u64,
    signed: bool,
    /// The node that no edge leaves, and the one that none reaches.
    severed: Option<[u64; 2]>,
    /// The node that only heavy edges leave, unless there are too few.
    heavy: Option<u64>,
    turn: u64,
}

impl Weights {
    /// Those of a fill; of another than [`Fill::Weights`] any.
    fn of(fill: Fill, key: u64) -> Weights {
        let (columns, signed, severed) = match fill {
            Fill::Weights {
                columns,
                signed,
                severed,
            } => (columns.max(1), signed, severed && columns >= 8),
            _ => (1, false, false),
        };
        let [source, sink, far, heavy] = [1, 2, 3, 4].map(|salt| mix(key ^ salt) % columns);
        let severed = severed.then_some([source, sink]);
        Weights {
            key,
            columns,
            signed,
            severed,
            heavy: (columns >= 8).then_some(heavy),
            turn: 1 + far / 2,
        }
    }

    /// The weight of the edge at place `i` of the matrix; none where there is no edge.
    fn weight(&self, i: u64) -> Option<f64> {
        /// Of eight weights in a row of draws, most are usual.
        const SCALES: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 128.0, 65536.0];
        let row = i / self.columns;
        let column = i % self.columns;
        if self
            .severed
            .is_some_and(|[source, sink]| source == row || sink == column)
        {
            return None;
        }
        let next = (row + self.turn) % self.columns;
        if column != next && self.heavy == Some(next) {
            return None;
        }
        let size = draw(self.key, i);
        let kind = draw(!self.key, i);
        let fraction = fraction(size);
        let is_heavy = self.heavy == Some(row);
        let heavy = if is_heavy { 128.0 } else { 1.0 };
        if column == next {
            return Some(
                heavy
                    * if self.signed {
                        fraction / 4.0 - 1.5
                    } else {
                        0.375 + fraction / 16.0
                    },
            );
        }
        let usual = heavy * (0.5 + fraction / 2.0);
        let scale = if is_heavy {
            1.0
        } else {
            SCALES[(kind >> 8) as usize % 8]
        };
        let weight = if self.signed && kind & 8 != 0 {
            -usual
        } else {
            usual * scale
        };
        (!kind.is_multiple_of(8)).then_some(weight)
    }

    /// The same in integers up to 2^28.
    fn whole(&self, i: u64) -> i32 {
        self.weight(i)
            .map_or(NO_EDGE, |weight| (weight * 4096.0) as i32)
    }
}

/// Numbers of both signs and many sizes, the largest and the smallest normal ones among them, each an array of one element,
/// that use every bit of their type: of floats the whole significand.
pub fn telling(dtype: Dtype, seed: u64) -> Vec<Array> {
    const SIZES: [i32; 9] = [0, 1, -3, 10, -20, 60, -60, 127, -126];
    let draws = (0..).map(|i| draw(seed, i));
    let few = draws.clone().take(4);
    // Significands in [1, 2), with the last bit set.
    match dtype {
        Dtype::F32 => alone(draws.zip(SIZES).map(|(r, size)| {
            sign(r) as f32 * f32::from_bits(127 << 23 | (r >> 41) as u32 | 1) * 2f32.powi(size)
        })),
        Dtype::F64 => {
            let sizes = SIZES.into_iter().chain([1023, -1022]);
            alone(draws.zip(sizes).map(|(r, size)| {
                sign(r) * f64::from_bits(1023 << 52 | r >> 12 | 1) * 2f64.powi(size)
            }))
        }
        Dtype::I32 => alone(few.map(|r| r as i32).chain([1, -1, i32::MAX, i32::MIN])),
        Dtype::I64 => alone(few.map(|r| r as i64).chain([1, -1, i64::MAX, i64::MIN])),
        Dtype::U8 => alone(few.map(|r| r as u8).chain([0, 255])),
    }
}

/// Each an array of one element.
fn alone<T>(numbers: impl IntoIterator<Item = T>) -> Vec<Array>
where
    Vec<T>: Into<Array>,
{
    numbers.into_iter().map(|x| vec![x].into()).collect()
}

fn sign(draw: u64) -> f64 {
    if draw & 1 == 0 { 1.0 } else { -1.0 }
}

/// Both infinities and NaN, each an array of one element; nothing of integers.
pub fn not_finite(dtype: Dtype) -> Vec<Array> {
    match dtype {
        Dtype::F32 => alone([f32::INFINITY, f32::NEG_INFINITY, f32::NAN]),
        Dtype::F64 => alone([f64::INFINITY, f64::NEG_INFINITY, f64::NAN]),
        Dtype::I32 | Dtype::I64 | Dtype::U8 => Vec::new(),
    }
}

/// The weight at place `i` of [`Fill::Turned`]: up to 1/16 of a short edge, which in every fourth row is the shortest or the
/// longest there can be, from 1 on and below 15/8 of a long one.
fn turned(key: u64, columns: u64, falling: bool, i: u64) -> f64 {
    let row = i / columns;
    let column = i % columns;
    let is_short = column == (row + turn(columns)) % columns;
    let rising = if is_short && draw(!key, row).is_multiple_of(4) {
        0.0
    } else {
        fraction(draw(key, i))
    };
    let fraction = if falling { 1.0 - rising } else { rising };
    if is_short {
        fraction / 16.0
    } else {
        1.0 + 0.875 * fraction
    }
}

/// What floats of [`Fill::Turned`] are multiplied by: rising ones are large, falling ones small.
fn size(falling: bool) -> f64 {
    2f64.powi(if falling { -100 } else { 120 })
}

/// Of [0, 1), with every bit of its significand.
#[inline(always)]
fn fraction(draw: u64) -> f64 {
    (draw >> 12) as f64 / (1u64 << 52) as f64
}

fn fill_with<T: Send>(values: &mut [T], start: u64, f: impl Fn(u64) -> T + Sync) {
    const CHUNK: usize = 1 << 16;
    if values.len() <= CHUNK {
        return fill_chunk(values, start, &f);
    }
    let chunks = values.par_chunks_mut(CHUNK).enumerate();
    chunks.for_each(|(c, chunk)| fill_chunk(chunk, start + (c * CHUNK) as u64, &f));
}

/// The versions exist for products of 64 bits, of which AVX-512 makes eight at once.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma"
))]
fn fill_chunk<T, F: Fn(u64) -> T>(values: &mut [T], first: u64, f: &F) {
    for (i, value) in values.iter_mut().enumerate() {
        *value = f(first + i as u64);
    }
}

/// A random number: the same for the same key and index, and like no other.
#[inline(always)]
pub fn draw(key: u64, index: u64) -> u64 {
    mix(key.wrapping_add(index.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
}

/// The output function of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a bijection of 64-bit words.
#[inline(always)]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEIGHTS: Fill = Fill::Weights {
        columns: 300,
        signed: true,
        severed: true,
    };
    const TURNED: Fill = Fill::Turned {
        columns: 300,
        falling: true,
    };

    #[test]
    fn sums_of_the_largest_are_finite_and_hardly_below_the_end_of_their_type() {
        let ends = [
            (Dtype::F32, f64::from(f32::MAX)),
            (Dtype::F64, f64::MAX),
            (Dtype::I32, f64::from(NO_EDGE)),
        ];
        for (dtype, end) in ends {
            for negative in [false, true] {
                let end = if negative && dtype == Dtype::I32 {
                    -f64::from(i32::MIN)
                } else {
                    end
                };
                let fill = Fill::Largest { negative };
                let mut all = generate(fill, dtype, 7, 0, 0, 2000).widened();
                all.iter_mut().for_each(|x| *x = x.abs() / end);
                let [least, most] =
                    [f64::min, f64::max].map(|of| all.iter().copied().reduce(of).unwrap());
                assert!(
                    2.0 * most < 1.0 && 2.0 * least > 0.9995,
                    "{dtype}, {negative}: {least} to {most}"
                );
            }
        }
    }

    #[test]
    fn numbers_below_a_limit_are_all_of_them_and_no_other() {
        for dtype in Dtype::ALL {
            let numbers = generate(Fill::Below(5), dtype, 1, 0, 0, 1000).widened();
            let counts = [0.0, 1.0, 2.0, 3.0, 4.0]
                .map(|number| numbers.iter().filter(|x| **x == number).count());
            assert!(
                counts.iter().all(|count| *count > 100) && counts.iter().sum::<usize>() == 1000,
                "{dtype} {counts:?}"
            );
        }
    }

    #[test]
    fn parts_of_an_array_equal_the_whole() {
        for dtype in Dtype::ALL {
            for fill in [
                Fill::Real,
                Fill::Exact(8),
                Fill::Fractions(8),
                Fill::Ones,
                WEIGHTS,
                TURNED,
            ] {
                let whole = generate(fill, dtype, 7, 1, 0, 100_000);
                assert_eq!(
                    whole.tail(65_530),
                    generate(fill, dtype, 7, 1, 65_530, 34_470),
                    "{dtype} {fill:?}"
                );
            }
        }
    }

    #[test]
    fn exact_data_is_never_zero_and_uses_both_signs() {
        let Array::I32(v) = generate(Fill::Exact(8), Dtype::I32, 1, 0, 0, 10_000) else {
            unreachable!()
        };
        assert!(v.iter().all(|x| (1..=8).contains(&x.abs())));
        for k in 1..=8 {
            assert!(v.contains(&k) && v.contains(&-k));
        }
    }

    #[test]
    fn no_bits_are_the_poison() {
        // The only places at which they would be: the steps of `scramble` backwards.
        let place = |mut x: u32| {
            x = (x ^ (x >> 16)).wrapping_mul(0x7ed1_b41d);
            x = (x ^ (x >> 13) ^ (x >> 26)).wrapping_mul(0xa5cb_9243);
            x ^ (x >> 16)
        };
        for poison in [0x7fc0_dead, 0xdead_beef] {
            let i = place(poison);
            assert_eq!(scramble(i), poison);
            assert_ne!(pattern(0, i.into()), poison);
        }
    }

    #[test]
    fn numbers_for_minima_leave_room_below_them() {
        for dtype in Dtype::ALL {
            for (fill, sign) in [(Fill::Positive, 1.0), (Fill::Negative, -1.0)] {
                let numbers = generate(fill, dtype, 1, 0, 0, 10_000);
                assert!(
                    numbers
                        .widened()
                        .iter()
                        .all(|x| (1.0..=i64::MAX as f64 / 4.0).contains(&(x * sign))),
                    "{dtype}"
                );
            }
        }
    }

    #[test]
    fn real_data_fills_its_range() {
        let Array::F32(v) = generate(Fill::Real, Dtype::F32, 1, 0, 0, 100_000) else {
            unreachable!()
        };
        let mean = v.iter().map(|&x| f64::from(x)).sum::<f64>() / v.len() as f64;
        assert!(mean.abs() < 0.01, "{mean}");
        assert!(v.iter().all(|x| (-1.0..1.0).contains(x)));
    }

    fn weights(n: u64, signed: bool, severed: bool) -> Vec<f32> {
        let fill = Fill::Weights {
            columns: n,
            signed,
            severed,
        };
        let Array::F32(v) = generate(fill, Dtype::F32, 1, 0, 0, (n * n) as usize) else {
            unreachable!()
        };
        v
    }

    #[test]
    fn a_severed_graph_has_results_without_a_way() {
        let n = 40;
        let v = weights(n, false, true);
        let rows = v
            .chunks(n as usize)
            .filter(|row| row.iter().all(|x| x.is_infinite()))
            .count();
        let columns = (0..n as usize)
            .filter(|&j| {
                v.iter()
                    .skip(j)
                    .step_by(n as usize)
                    .all(|x| x.is_infinite())
            })
            .count();
        assert_eq!((rows, columns), (1, 1));
    }

    #[test]
    fn every_node_lies_on_a_way_that_is_shorter_than_any_other() {
        for (n, signed) in [
            (1, false),
            (2, false),
            (3, true),
            (7, false),
            (65, false),
            (65, true),
        ] {
            let v = weights(n, signed, false);
            let n = n as usize;
            let mut decided = vec![false; n];
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let mut ways: Vec<(f32, usize)> =
                    (0..n).map(|k| (v[i * n + k] + v[k * n + j], k)).collect();
                ways.sort_by(|a, b| a.0.total_cmp(&b.0));
                decided[ways[0].1] |= ways.len() == 1 || ways[0].0 < ways[1].0;
            }
            assert!(decided.iter().all(|&d| d), "n = {n}, signed: {signed}");
        }
    }

    #[test]
    fn streams_and_seeds_differ() {
        let a = generate(Fill::Real, Dtype::F64, 1, 0, 0, 8);
        assert_ne!(a, generate(Fill::Real, Dtype::F64, 1, 1, 0, 8));
        assert_ne!(a, generate(Fill::Real, Dtype::F64, 2, 0, 0, 8));
    }
}

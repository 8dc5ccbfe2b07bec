//! Sums and dot products as if computed in twice the precision of f64.
//!
//! Sources: T. Ogita, S. M. Rump and S. Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26 (2005), for
//! Sum2, Dot2 and the error-free transformations; A. Neumaier, ZAMM 54 (1974), for the summation, whose correction
//! Sum2 computes without the branch.

use gpulab_model::plan::Rounded;
use multiversion::multiversion;
use rayon::prelude::*;

/// Elements that one call of [`block`] takes: long enough to hide the hand-over between threads, short enough that
/// the low words of a block lose nothing that matters.
const BLOCK: usize = 1 << 16;

/// Independent running sums in a block. So many that LLVM keeps the loop over them and makes vectors of it: a loop of 8
/// or 16 it unrolls first, and then pairs up a few of the scalars, which takes four times as long.
const LANES: usize = 32;

/// A dot product, or a part of one, in two words: `high` is the running f64 sum, `low` the sum of the errors that it made.
#[derive(Clone, Copy, Default)]
pub struct Partial {
    high: f64,
    low: f64,
    magnitude: f64,
}

impl Partial {
    /// With a term, its rounding error, and what it adds to the magnitude.
    #[inline(always)]
    fn with(self, term: f64, error: f64, magnitude: f64) -> Partial {
        let (high, lost) = two_sum(self.high, term);
        Partial {
            high,
            low: self.low + (lost + error),
            magnitude: self.magnitude + magnitude,
        }
    }

    #[inline(always)]
    fn add<T: Real>(self, x: T, y: T) -> Partial {
        let (product, error) = T::product(x, y);
        self.with(product, error, product.abs())
    }

    pub fn merge(self, other: &Partial) -> Partial {
        self.with(other.high, other.low, other.magnitude)
    }

    /// With these terms added, one after the other.
    pub fn plus<T: Copy + Into<f64>>(self, terms: &[T]) -> Partial {
        terms
            .iter()
            .map(|&term| term.into())
            .fold(self, |sum, term: f64| sum.with(term, 0.0, term.abs()))
    }

    pub fn known(sum: Rounded) -> Partial {
        Partial {
            high: sum.value,
            low: 0.0,
            magnitude: sum.magnitude,
        }
    }

    /// With the product of other factors in place of one.
    pub fn exchanged<T: Real>(self, old: [T; 2], new: [T; 2]) -> Partial {
        let [(was, was_error), (is, is_error)] = [old, new].map(|[x, y]| T::product(x, y));
        self.with(-was, -was_error, -was.abs())
            .with(is, is_error, is.abs())
    }

    pub fn rounded(self) -> Rounded {
        Rounded {
            value: self.value(),
            magnitude: self.magnitude,
        }
    }

    /// The sum of x * y, rounded once to f64. Where it is infinite or NaN, or overflowed, its errors are NaN and mean nothing:
    /// the plain sum alone is what IEEE arithmetic answers.
    pub fn value(self) -> f64 {
        if self.low.is_finite() {
            self.high + self.low
        } else {
            self.high
        }
    }
}

pub trait Real: Copy + Sync {
    /// The product and its rounding error: together x * y exactly, but for underflow below 2^-1074.
    fn product(x: Self, y: Self) -> (f64, f64);
}

impl Real for f32 {
    /// 24 by 24 bits fit the 53 of f64.
    #[inline(always)]
    fn product(x: f32, y: f32) -> (f64, f64) {
        (f64::from(x) * f64::from(y), 0.0)
    }
}

impl Real for f64 {
    /// TwoProductFMA.
    #[inline(always)]
    fn product(x: f64, y: f64) -> (f64, f64) {
        let product = x * y;
        (product, x.mul_add(y, -product))
    }
}

/// Knuth's TwoSum: a + b rounded, and the error of that, exactly; no branch, so that it vectorises.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// The dot product of equally long vectors, on one thread.
///
/// Blocks and lanes shorten the low words' sums to about d = 2^11 + n / 2^16 additions, so the result is off by
/// u |result| and less than (d u)^2 S, with u = 2^-53: at n = 2^28 less than 2^-78 S, far below any tolerance.
pub fn sequential<T: Real>(x: &[T], y: &[T]) -> Partial {
    let parts = x
        .chunks(BLOCK)
        .zip(y.chunks(BLOCK))
        .map(|(x, y)| block(x, y));
    parts.fold(Partial::default(), |sum, part| sum.merge(&part))
}

/// [`sequential`], bit for bit, on all threads of the current pool.
pub fn parallel<T: Real>(x: &[T], y: &[T]) -> Partial {
    let parts: Vec<Partial> = x
        .par_chunks(BLOCK)
        .zip(y.par_chunks(BLOCK))
        .map(|(x, y)| block(x, y))
        .collect();
    parts.iter().fold(Partial::default(), Partial::merge)
}

/// The sum of a vector, on one thread, as careful as [`sequential`].
pub fn sequential_sum<T: Copy + Into<f64>>(x: &[T]) -> Partial {
    x.chunks(BLOCK)
        .map(|x| sum_block(x))
        .fold(Partial::default(), |sum, part| sum.merge(&part))
}

/// [`sequential_sum`], bit for bit, on all threads of the current pool.
pub fn parallel_sum<T: Copy + Into<f64> + Sync>(x: &[T]) -> Partial {
    let parts: Vec<Partial> = x.par_chunks(BLOCK).map(|x| sum_block(x)).collect();
    parts.iter().fold(Partial::default(), Partial::merge)
}

/// The running sums of a block: an array for each word, not one of Partials, which LLVM turns into vectors.
struct RunningSums {
    high: [f64; LANES],
    low: [f64; LANES],
    magnitude: [f64; LANES],
}

impl RunningSums {
    const EMPTY: RunningSums = RunningSums {
        high: [0.0; LANES],
        low: [0.0; LANES],
        magnitude: [0.0; LANES],
    };

    /// Adds a term and its rounding error to each lane.
    #[inline(always)]
    fn add(&mut self, term: impl Fn(usize) -> (f64, f64)) {
        for i in 0..LANES {
            let (term, error) = term(i);
            let (sum, lost) = two_sum(self.high[i], term);
            self.high[i] = sum;
            self.low[i] += lost + error;
            self.magnitude[i] += term.abs();
        }
    }

    #[inline(always)]
    fn merge(&self, rest: Partial) -> Partial {
        let lane = |i: usize| Partial {
            high: self.high[i],
            low: self.low[i],
            magnitude: self.magnitude[i],
        };
        (0..LANES).fold(rest, |sum, i| sum.merge(&lane(i)))
    }
}

/// The versions exist for `mul_add`: without the FMA instruction it is a slow library call.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "x86_64+fma"
))]
pub fn block<T: Real>(x: &[T], y: &[T]) -> Partial {
    let mut lanes = RunningSums::EMPTY;
    let (x, x_rest) = x.as_chunks::<LANES>();
    let (y, y_rest) = y.as_chunks::<LANES>();
    for (x, y) in x.iter().zip(y) {
        lanes.add(|i| T::product(x[i], y[i]));
    }
    lanes.merge(
        x_rest
            .iter()
            .zip(y_rest)
            .fold(Partial::default(), |sum, (&x, &y)| sum.add(x, y)),
    )
}

#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "x86_64+avx"
))]
pub fn sum_block<T: Copy + Into<f64>>(x: &[T]) -> Partial {
    let mut lanes = RunningSums::EMPTY;
    let (x, rest) = x.as_chunks::<LANES>();
    for x in x {
        lanes.add(|i| (x[i].into(), 0.0));
    }
    lanes.merge(Partial::default().plus(rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sums_and_products_keep_what_rounding_loses() {
        assert_eq!(two_sum(1.0, 1e-30), (1.0, 1e-30));
        assert_eq!(two_sum(1e-30, 1.0), (1.0, 1e-30));
        assert_eq!(two_sum(-1.0, 1.0), (0.0, 0.0));
        let x = 1.0 + f64::EPSILON;
        assert_eq!(
            f64::product(x, x),
            (1.0 + 2.0 * f64::EPSILON, f64::EPSILON * f64::EPSILON)
        );
    }

    proptest! {
        #[test]
        fn threads_change_no_bit(len in 0usize..3 * BLOCK, seed: u64) {
            let value = |i: u64| f64::from((seed.wrapping_mul(2 * i + 1) >> 32) as u32).sqrt() - 3e4;
            let x: Vec<f64> = (0..len as u64).map(value).collect();
            let one = sequential(&x, &x); let all = parallel(&x, &x);
            prop_assert_eq!(one.value().to_bits(), all.value().to_bits());
            prop_assert_eq!(one.rounded().magnitude.to_bits(), all.rounded().magnitude.to_bits());
            let one = sequential_sum(&x); let all = parallel_sum(&x);
            prop_assert_eq!(one.value().to_bits(), all.value().to_bits());
        }
    }
}

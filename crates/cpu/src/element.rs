//! What sums, products and reductions need of an element type.

use super::compensated;

/// An element of any type, with its type's own arithmetic; integers wrap.
pub trait Element: Copy + Send + Sync + PartialOrd {
    const ZERO: Self;
    const LEAST: Self;
    const GREATEST: Self;
    const ONES: Self;
    /// Whether a sum is the same in any order: compilers then vectorise a plain loop, and lanes of their own hinder them.
    const IN_ANY_ORDER: bool;
    fn plus(self, other: Self) -> Self;
    /// Not fused, so that every instruction set rounds alike and none needs a library call.
    fn plus_product(self, x: Self, y: Self) -> Self;
    /// Applies `f` to the bits; those of i32 and f32 are the lower half.
    fn bits(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self;
    fn exact_sum(x: &[Self]) -> Self;
    /// The dot product of x and y plus the terms, rounded once.
    fn exact(x: &[Self], y: &[Self], terms: &[Self]) -> Self;
    /// The dot product in double, rounded at the end; of integers in their own type.
    fn in_double(x: &[Self], y: &[Self]) -> Self;
}

macro_rules! float_element {
    ($t:ty, $bits:ty) => {
        impl Element for $t {
            const ZERO: $t = 0.0;
            const LEAST: $t = <$t>::NEG_INFINITY;
            const GREATEST: $t = <$t>::INFINITY;
            const ONES: $t = <$t>::from_bits(<$bits>::MAX);
            const IN_ANY_ORDER: bool = false;
            #[inline(always)]
            fn plus(self, other: $t) -> $t {
                self + other
            }
            #[inline(always)]
            fn plus_product(self, x: $t, y: $t) -> $t {
                self + x * y
            }
            #[inline(always)]
            fn bits(self, other: $t, f: impl Fn(u64, u64) -> u64) -> $t {
                <$t>::from_bits(f(u64::from(self.to_bits()), u64::from(other.to_bits())) as $bits)
            }
            fn exact_sum(x: &[$t]) -> $t {
                compensated::sequential_sum(x).value() as $t
            }
            fn exact(x: &[$t], y: &[$t], terms: &[$t]) -> $t {
                compensated::sequential(x, y).plus(terms).value() as $t
            }
            fn in_double(x: &[$t], y: &[$t]) -> $t {
                x.iter()
                    .zip(y)
                    .fold(0.0, |sum, (&x, &y)| sum + f64::from(x) * f64::from(y)) as $t
            }
        }
    };
}

macro_rules! integer_element {
    ($t:ty) => {
        impl Element for $t {
            const ZERO: $t = 0;
            const LEAST: $t = <$t>::MIN;
            const GREATEST: $t = <$t>::MAX;
            const ONES: $t = !0;
            const IN_ANY_ORDER: bool = true;
            #[inline(always)]
            fn plus(self, other: $t) -> $t {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn plus_product(self, x: $t, y: $t) -> $t {
                self.wrapping_add(x.wrapping_mul(y))
            }
            #[inline(always)]
            fn bits(self, other: $t, f: impl Fn(u64, u64) -> u64) -> $t {
                f(self as u64, other as u64) as $t
            }
            fn exact_sum(x: &[$t]) -> $t {
                x.iter().fold(0, |sum, &x| sum.plus(x))
            }
            fn exact(x: &[$t], y: &[$t], terms: &[$t]) -> $t {
                Self::in_double(x, y).plus(Self::exact_sum(terms))
            }
            fn in_double(x: &[$t], y: &[$t]) -> $t {
                x.iter()
                    .zip(y)
                    .fold(0, |sum, (&x, &y)| sum.plus_product(x, y))
            }
        }
    };
}

float_element!(f32, u32);
float_element!(f64, u64);
integer_element!(i32);
integer_element!(i64);
integer_element!(u8);

/// Counts roundings instead of adding: 0 is the number zero, which costs nothing to add to.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Roundings(pub u64);

#[cfg(test)]
impl Element for Roundings {
    const ZERO: Roundings = Roundings(0);
    const LEAST: Roundings = Roundings(0);
    const GREATEST: Roundings = Roundings(0);
    const ONES: Roundings = Roundings(0);
    const IN_ANY_ORDER: bool = false;
    fn plus(self, other: Roundings) -> Roundings {
        let rounds = u64::from(self.0 > 0 && other.0 > 0);
        Roundings(self.0.max(other.0) + rounds)
    }
    fn plus_product(self, _: Roundings, _: Roundings) -> Roundings {
        self.plus(Roundings(1))
    }
    fn bits(self, _: Roundings, _: impl Fn(u64, u64) -> u64) -> Roundings {
        self
    }
    fn exact_sum(_: &[Roundings]) -> Roundings {
        Roundings::ZERO
    }
    fn exact(_: &[Roundings], _: &[Roundings], _: &[Roundings]) -> Roundings {
        Roundings::ZERO
    }
    fn in_double(_: &[Roundings], _: &[Roundings]) -> Roundings {
        Roundings::ZERO
    }
}

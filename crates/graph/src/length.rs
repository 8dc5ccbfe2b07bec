//! What a length is in each element type: of an edge, and of a path.

use rayon::prelude::*;
use std::fmt::{Debug, Display, LowerExp};
use std::str::FromStr;

/// A number that can be the length of an edge or of a path.
///
/// Two lengths and [`Length::NO_EDGE`] can be added in any combination without overflow, and the sum of two lengths
/// within [`Length::LIMIT`] stays below [`Length::FAR`], where all sums with a missing edge lie.
pub trait Length: Copy + PartialOrd + Send + Sync + Debug + Display + FromStr + 'static {
    /// No edge, or no path: infinity; of integers half the largest value.
    const NO_EDGE: Self;
    /// The length of staying.
    const ZERO: Self;
    const ONE: Self;
    /// Lengths that go into a step lie between this and its negative, neither included.
    const LIMIT: Self;
    /// What comes out of a step is no path from here on.
    const FAR: Self;
    /// Lengths closer to zero than this, but not zero, are refused: what kernels make of tiny numbers differs from
    /// device to device. Everything that sums and differences of larger ones leave is a normal number or zero.
    const TINY: Self;

    /// Half a unit in the last place, relative to the number; 0 of integers.
    const ROUNDOFF: f64;

    /// Whether there is an edge or a path.
    fn is_some(self) -> bool {
        self < Self::FAR
    }

    /// The value as f64; of i64 beyond 2^53 the nearest.
    fn widened(self) -> f64;

    /// With the other sign; of zeros there is one.
    fn negated(self) -> Self;

    /// The sum, rounded as the type rounds; integers wrap, as on devices.
    fn plus(self, other: Self) -> Self;

    /// As text that reads back as the same number: its shortest digits, with an exponent if it is very large or small.
    fn text(self) -> String;

    /// As [`Length::text`], but with no more digits behind the point than the weights have where that is as near as rounding
    /// leaves a sum: 18.599, where adding f32 gives 18.598999.
    fn with_decimals(self, decimals: Option<usize>) -> String {
        /// Half units in the last place that a short path's roundings come to.
        const ROUNDINGS: f64 = 16.0;
        let value = self.widened();
        let error = ROUNDINGS * Self::ROUNDOFF * value.abs();
        let rounded = decimals.and_then(|digits| {
            let scale = 10_u64.checked_pow(digits as u32)?;
            let units = (value * scale as f64).round();
            let is_near = error > 0.0 && 4.0 * error * (scale as f64) < 1.0;
            if !is_near || (units / scale as f64 - value).abs() > error {
                return None;
            }
            let sign = if units < 0.0 { "-" } else { "" };
            let units = units.abs() as u64;
            let whole = format!("{sign}{}", units / scale);
            let behind = format!("{:0digits$}", units % scale);
            let behind = behind.trim_end_matches('0');
            Some(if behind.is_empty() { whole } else { format!("{whole}.{behind}") })
        });
        rounded.unwrap_or_else(|| self.text())
    }

    /// Whether this is how files write that there is no edge: infinity, the largest integer, or half of that.
    fn marks_no_edge(self) -> bool;

    /// What this number means as the weight of an edge: itself, with one kind of zero, or [`Length::NO_EDGE`].
    ///
    /// # Errors
    /// Why it is no weight, in words that follow its place: NaN, minus infinity, too large, too small.
    fn weight(self) -> Result<Self, String>;

    /// That this number is too large for the weight of an edge that there is, in the words of [`Length::weight`].
    fn too_large(self) -> String;

    /// As [`Length::weight`], of what was not zero before it was rounded to this type.
    ///
    /// # Errors
    /// As those of [`Length::weight`], and zero.
    fn nonzero_weight(self) -> Result<Self, String>;
}

fn too_large(value: impl Display, limit: impl Display, name: &str, next: &str) -> String {
    format!("{value} is too large: {name} distances take weights between -{limit} and {limit}; {next}")
}

fn too_small(value: impl LowerExp, tiny: impl LowerExp, name: &str) -> String {
    let nearest = format!("{value:e}");
    let what = if nearest.trim_start_matches('-') == "0e0" { "what rounds to zero".to_owned() } else { nearest };
    format!(
        "{what} is too small: not all devices add {name} numbers below {tiny:e} right; multiply all weights by a power of ten"
    )
}

macro_rules! float_length {
    ($t:ident, $tiny:expr, $next:expr) => {
        impl Length for $t {
            const NO_EDGE: $t = $t::INFINITY;
            const ZERO: $t = 0.0;
            const ONE: $t = 1.0;
            const LIMIT: $t = $t::MAX / 2.0;
            const FAR: $t = $t::INFINITY;
            const TINY: $t = $tiny;
            const ROUNDOFF: f64 = $t::EPSILON as f64 / 2.0;

            fn widened(self) -> f64 {
                self.into()
            }

            fn negated(self) -> $t {
                0.0 - self
            }

            fn plus(self, other: $t) -> $t {
                self + other
            }

            fn text(self) -> String {
                let plain = self == 0.0 || (1e-5..1e16).contains(&self.abs());
                if plain { self.to_string() } else { format!("{self:e}") }
            }

            fn marks_no_edge(self) -> bool {
                self == $t::INFINITY
            }

            fn weight(self) -> Result<$t, String> {
                if self.is_nan() {
                    return Err("NaN is not a weight; leave the edge out or correct it".into());
                }
                if self == $t::NEG_INFINITY {
                    return Err("minus infinity is not a weight; correct it (inf means no edge)".into());
                }
                if self != 0.0 && self.abs() < Self::TINY {
                    return Err(too_small(self, Self::TINY, stringify!($t)));
                }
                if self.is_finite() && self.abs() >= Self::LIMIT {
                    return Err(self.too_large());
                }
                // There is one zero: sums of +0 and -0 may come out as either.
                Ok(self + 0.0)
            }

            fn too_large(self) -> String {
                too_large(format_args!("{self:e}"), format_args!("{:e}", Self::LIMIT), stringify!($t), $next)
            }

            fn nonzero_weight(self) -> Result<$t, String> {
                if self == 0.0 { Err(too_small(self, Self::TINY, stringify!($t))) } else { self.weight() }
            }
        }
    };
}

// TINY is an ulp above the smallest normal number, and some.
float_length!(f32, f32::from_bits((127 - 100) << 23), "choose --dtype f64 or a larger unit");
float_length!(f64, f64::from_bits((1023 - 960) << 52), "choose a larger unit");

macro_rules! int_length {
    ($t:ident, $bits:literal, $next:expr) => {
        impl Length for $t {
            const NO_EDGE: $t = $t::MAX / 2;
            const ZERO: $t = 0;
            const ONE: $t = 1;
            const LIMIT: $t = 1 << ($bits - 4);
            const FAR: $t = 1 << ($bits - 3);
            const TINY: $t = 0;
            const ROUNDOFF: f64 = 0.0;

            fn widened(self) -> f64 {
                self as f64
            }

            fn negated(self) -> $t {
                self.wrapping_neg()
            }

            fn plus(self, other: $t) -> $t {
                self.wrapping_add(other)
            }

            fn text(self) -> String {
                self.to_string()
            }

            fn marks_no_edge(self) -> bool {
                self == $t::MAX || self == $t::MAX / 2
            }

            fn weight(self) -> Result<$t, String> {
                if self.marks_no_edge() {
                    return Ok(Self::NO_EDGE);
                }
                if Self::LIMIT.checked_neg().is_some_and(|least| self <= least) || self >= Self::LIMIT {
                    return Err(self.too_large());
                }
                Ok(self)
            }

            fn too_large(self) -> String {
                too_large(self, format_args!("2^{}", $bits - 4), stringify!($t), $next)
            }

            fn nonzero_weight(self) -> Result<$t, String> {
                self.weight()
            }
        }
    };
}

int_length!(i32, 32, "choose --dtype f64");
int_length!(i64, 64, "choose a larger unit");
// No graph has bytes as weights: arrays of them exist for readers' own kernels.
int_length!(u8, 8, "choose --dtype i32");

/// The lengths of `v` that are no paths are all written in one way.
pub(super) fn normalise<T: Length>(v: &mut [T]) {
    v.par_iter_mut().filter(|x| **x >= T::FAR).for_each(|x| *x = T::NO_EDGE);
}

/// A length that is too large to be added to, and its place: the first of those below 0 if there are any.
pub(super) fn beyond_limit<T: Length>(v: &[T]) -> Option<(usize, f64)> {
    let limit = T::LIMIT.widened();
    // In most there is none, and one look at each is enough.
    if !v.par_iter().any(|x| x.is_some() && x.widened().abs() >= limit) {
        return None;
    }
    let first = |is_beyond: fn(f64, f64) -> bool| {
        let at = v.par_iter().position_first(|x| x.is_some() && is_beyond(x.widened(), limit))?;
        Some((at, v[at].widened()))
    };
    first(|x, limit| x <= -limit).or_else(|| first(|x, limit| x >= limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_have_the_digits_of_what_was_added() {
        let sum = [1.1f32, 2.2, 3.3, 11.999].into_iter().fold(0.0, |sum, x| sum + x);
        assert_eq!((sum.text().as_str(), sum.with_decimals(Some(3)).as_str()), ("18.598999", "18.599"));
        assert_eq!(sum.with_decimals(None), "18.598999");
        assert_eq!(2.5f64.with_decimals(Some(3)), "2.5");
        assert_eq!(100.0f32.with_decimals(Some(2)), "100");
        assert_eq!(18.5f32.with_decimals(Some(0)), "18.5", "no sum of whole numbers");
        assert_eq!(123_456.79f32.with_decimals(Some(3)), "123456.79", "more digits than f32 has");
        assert_eq!((7i32.with_decimals(Some(0)), 0.0f32.with_decimals(Some(2))), ("7".to_owned(), "0".to_owned()));
    }

    #[test]
    fn sums_with_a_missing_edge_lie_apart_from_sums_of_lengths() {
        fn check<T: Length>(longest: T, shortest: T) {
            assert!(longest < T::LIMIT && longest.plus(longest).is_some());
            assert!(!T::NO_EDGE.plus(shortest).is_some() && !T::NO_EDGE.plus(T::NO_EDGE).is_some());
        }
        check::<i32>(i32::LIMIT - 1, 1 - i32::LIMIT);
        assert_eq!(i32::NO_EDGE, gpulab_model::data::NO_EDGE);
        check::<i64>(i64::LIMIT - 1, 1 - i64::LIMIT);
        check::<f32>(f32::LIMIT.next_down(), -f32::LIMIT.next_down());
        check::<f64>(f64::LIMIT.next_down(), -f64::LIMIT.next_down());
    }

    #[test]
    fn what_is_no_weight_says_why() {
        for (x, word) in [(f32::NAN, "NaN"), (f32::NEG_INFINITY, "minus infinity"), (1e-40, "small"), (3e38, "f64")] {
            assert!(x.weight().unwrap_err().contains(word), "{x}");
        }
        assert!((1 << 28).weight().unwrap_err().contains("2^28"));
        assert!(i32::MIN.weight().is_err());
        assert_eq!((-0.0f64).weight().map(f64::to_bits), Ok(0));
        assert_eq!((f64::INFINITY.weight(), i32::MAX.weight()), (Ok(f64::INFINITY), Ok(i32::NO_EDGE)));
        assert_eq!(1e-30f32.weight(), Ok(1e-30));
    }

    #[test]
    fn differences_of_what_is_allowed_are_normal_numbers() {
        let tiny = f32::TINY;
        assert!((tiny.next_up() - tiny).is_normal());
        assert!((f64::TINY.next_up() - f64::TINY).is_normal());
    }
}

//! What a length is in each element type: of an edge, and of a path.

use std::fmt::{Debug, Display, LowerExp};

/// A number that can be the length of an edge or of a path.
///
/// Two lengths and [`Length::NO_EDGE`] can be added in any combination without overflow, and the sum of two lengths
/// within [`Length::LIMIT`] stays below [`Length::FAR`], where all sums with a missing edge lie.
pub trait Length: Copy + PartialOrd + Send + Sync + Debug + Display + LowerExp + 'static {
    /// No edge, or no path: infinity; of integers half the largest value.
    const NO_EDGE: Self;
    /// The length of staying.
    const ZERO: Self;
    /// Lengths that go into a step lie between this and its negative, neither included.
    const LIMIT: Self;
    /// What comes out of a step is no path from here on.
    const FAR: Self;
    /// Lengths closer to zero than this, but not zero, are refused: what kernels make of tiny numbers differs from
    /// device to device. Everything that sums and differences of larger ones leave is a normal number or zero.
    const TINY: f64;
    /// Half a unit in the last place, relative to the number; 0 of integers.
    const ROUNDOFF: f64;

    /// The value as f64; of i64 beyond 2^53 the nearest.
    fn widened(self) -> f64;

    /// Whether there is an edge or a path.
    fn is_some(self) -> bool {
        self < Self::FAR
    }

    /// As text that reads back as the same number: its shortest digits, with an exponent if it is very large or small.
    fn text(self) -> String {
        let size = self.widened().abs();
        let is_plain = Self::ROUNDOFF == 0.0 || size == 0.0 || (1e-5..1e16).contains(&size);
        if is_plain {
            self.to_string()
        } else {
            format!("{self:e}")
        }
    }

    /// As [`Length::text`], but with no more digits behind the point than the weights have: 18.599, where adding f32 gives
    /// 18.598999.
    fn with_decimals(self, decimals: Option<usize>) -> String {
        match decimals {
            Some(digits) if Self::ROUNDOFF > 0.0 && self.widened().abs() < 1e15 => {
                let text = format!("{:.digits$}", self.widened());
                let text = if digits > 0 {
                    text.trim_end_matches('0').trim_end_matches('.')
                } else {
                    &text
                };
                if text == "-0" {
                    "0".into()
                } else {
                    text.into()
                }
            }
            _ => self.text(),
        }
    }
}

macro_rules! length {
    ($t:ident, no edge: $no_edge:expr, limit: $limit:expr, far: $far:expr, tiny: $tiny:expr, roundoff: $roundoff:expr) => {
        impl Length for $t {
            const NO_EDGE: $t = $no_edge;
            const ZERO: $t = 0 as $t;
            const LIMIT: $t = $limit;
            const FAR: $t = $far;
            const TINY: f64 = $tiny;
            const ROUNDOFF: f64 = $roundoff;

            fn widened(self) -> f64 {
                self as f64
            }
        }
    };
}

// TINY is an ulp above the smallest normal number, and some.
length!(f32, no edge: f32::INFINITY, limit: f32::MAX / 2.0, far: f32::INFINITY,
    tiny: f64::from_bits((1023 - 100) << 52), roundoff: f32::EPSILON as f64 / 2.0);
length!(f64, no edge: f64::INFINITY, limit: f64::MAX / 2.0, far: f64::INFINITY,
    tiny: f64::from_bits((1023 - 960) << 52), roundoff: f64::EPSILON / 2.0);
length!(i32, no edge: i32::MAX / 2, limit: 1 << 28, far: 1 << 29, tiny: 0.0, roundoff: 0.0);
// No graph has these as weights: arrays of them exist for readers' own kernels.
length!(i64, no edge: i64::MAX / 2, limit: 1 << 60, far: 1 << 61, tiny: 0.0, roundoff: 0.0);
length!(u8, no edge: u8::MAX / 2, limit: 1 << 4, far: 1 << 5, tiny: 0.0, roundoff: 0.0);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_have_the_digits_of_what_was_added_and_read_back_without() {
        let sum = [1.1f32, 2.2, 3.3, 11.999]
            .into_iter()
            .fold(0.0, |sum, x| sum + x);
        for (number, decimals, want) in [
            (sum, Some(3), "18.599"),
            (sum, None, "18.598999"),
            (100.0, Some(2), "100"),
            (100.0, Some(0), "100"),
            (-1e-9, Some(1), "0"),
            (1e30, Some(1), "1e30"),
        ] {
            assert_eq!(number.with_decimals(decimals), want);
        }
        assert_eq!(
            (7i32.with_decimals(Some(0)), 2.5f64.with_decimals(Some(3))),
            ("7".into(), "2.5".into())
        );
        for x in [0.1f32, 1e-30, 16_777_216.0, 3.0e37, -2.5, 1.0 / 3.0] {
            assert_eq!(x.text().parse(), Ok(x), "{x}");
        }
    }

    #[test]
    fn sums_with_a_missing_edge_lie_apart_from_sums_of_lengths() {
        fn check<T: Length + std::ops::Add<Output = T>>(longest: T, shortest: T) {
            assert!(longest < T::LIMIT && (longest + longest).is_some());
            assert!(!(T::NO_EDGE + shortest).is_some() && !(T::NO_EDGE + T::NO_EDGE).is_some());
        }
        check::<i32>(i32::LIMIT - 1, 1 - i32::LIMIT);
        assert_eq!(i32::NO_EDGE, gpulab_model::data::NO_EDGE);
        check::<f32>(f32::LIMIT.next_down(), -f32::LIMIT.next_down());
        check::<f64>(f64::LIMIT.next_down(), -f64::LIMIT.next_down());
        assert!(
            (f64::TINY.next_up() - f64::TINY).is_normal()
                && ((f32::TINY as f32).next_up() - f32::TINY as f32).is_normal()
        );
    }
}

//! Elements of a matrix, and what they are added and compared by.

use bytemuck::Pod;
use gpulab_model::data::NO_EDGE;

/// An element of a matrix.
pub(super) trait Weight: Pod + Send + Sync + PartialOrd {
    /// No edge: what results start from.
    const NONE: Self;
    const ZERO: Self;
    fn plus(self, other: Self) -> Self;
    fn lesser(self, other: Self) -> Self;
}

macro_rules! weight {
    ($t:ty, $none:expr, $zero:expr, |$x:ident, $y:ident| $sum:expr) => {
        impl Weight for $t {
            const NONE: $t = $none;
            const ZERO: $t = $zero;
            #[inline(always)]
            fn plus(self, other: $t) -> $t {
                let ($x, $y) = (self, other);
                $sum
            }
            #[inline(always)]
            fn lesser(self, other: $t) -> $t {
                // Compilers make vectors of this, but branches of a comparison of floats in a loop over rows.
                self.min(other)
            }
        }
    };
}

weight!(f32, f32::INFINITY, 0.0, |x, y| x + y);
weight!(f64, f64::INFINITY, 0.0, |x, y| x + y);
weight!(i32, NO_EDGE, 0, |x, y| x.wrapping_add(y));

//! Elements of a matrix, and what they are added and compared by.
#![allow(unsafe_code, reason = "a wrapper that is seen as what it wraps")]

use bytemuck::{Pod, Zeroable};
use gpulab_model::data::NO_EDGE;

pub(super) trait Weight: Pod + Send + Sync + PartialOrd {
    /// No edge: what results start from.
    const NONE: Self;
    const ZERO: Self;
    fn plus(self, other: Self) -> Self;
    fn lesser(self, other: Self) -> Self;
    fn larger(self, other: Self) -> Self;
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
            #[inline(always)]
            fn larger(self, other: $t) -> $t {
                self.max(other)
            }
        }
    };
}

weight!(f32, f32::INFINITY, 0.0, |x, y| x + y);
weight!(f64, f64::INFINITY, 0.0, |x, y| x + y);
weight!(i32, NO_EDGE, 0, |x, y| x.wrapping_add(y));

/// A weight of which paths have the largest of their edges.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
#[repr(transparent)]
pub(super) struct Heaviest<T>(pub(super) T);

// SAFETY: it is a weight and nothing else.
unsafe impl<T: Zeroable> Zeroable for Heaviest<T> {}
// SAFETY: as above.
unsafe impl<T: Pod> Pod for Heaviest<T> {}

impl<T: Weight> Weight for Heaviest<T> {
    const NONE: Heaviest<T> = Heaviest(T::NONE);
    const ZERO: Heaviest<T> = Heaviest(T::ZERO);
    #[inline(always)]
    fn plus(self, other: Heaviest<T>) -> Heaviest<T> {
        Heaviest(self.0.larger(other.0))
    }
    #[inline(always)]
    fn lesser(self, other: Heaviest<T>) -> Heaviest<T> {
        Heaviest(self.0.lesser(other.0))
    }
    #[inline(always)]
    fn larger(self, other: Heaviest<T>) -> Heaviest<T> {
        Heaviest(self.0.larger(other.0))
    }
}

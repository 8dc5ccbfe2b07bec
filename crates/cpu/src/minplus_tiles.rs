//! The inner loop of the min-plus step, once for all: a tile of the result held in vector registers.
#![allow(
    unsafe_code,
    reason = "intrinsics, and functions for processors that have them"
)]

use bytemuck::Pod;
use gpulab_model::data::NO_EDGE;
use std::marker::PhantomData;

/// Elements of a matrix, and what they are added and compared by.
pub trait Weight: Pod + Send + Sync + PartialOrd {
    /// No edge: what results start from.
    const NONE: Self;
    const ZERO: Self;
    fn plus(self, other: Self) -> Self;
    /// Compilers make vectors of the type's own minimum, but branches of a comparison of floats in a loop over rows.
    fn lesser(self, other: Self) -> Self;
}

macro_rules! weight {
    ($t:ty, $none:expr, $zero:expr, $sum:expr) => {
        impl Weight for $t {
            const NONE: $t = $none;
            const ZERO: $t = $zero;
            #[inline(always)]
            fn plus(self, other: $t) -> $t {
                $sum(self, other)
            }
            #[inline(always)]
            fn lesser(self, other: $t) -> $t {
                self.min(other)
            }
        }
    };
}

weight!(f32, f32::INFINITY, 0.0, std::ops::Add::add);
weight!(f64, f64::INFINITY, 0.0, std::ops::Add::add);
weight!(i32, NO_EDGE, 0, i32::wrapping_add);

/// The inner loop for one type of weight, compiled for instructions that this processor has.
#[derive(Clone, Copy)]
pub struct Kernel<T> {
    /// Whether it wants matrices without negative weights.
    pub non_negative: bool,
    pub rows: usize,
    pub columns: usize,
    tile: unsafe fn(&[T], &[T], &mut [T], usize),
}

impl<T> Kernel<T> {
    /// Lowers a tile to the least sums of the panels: `a` holds a column of [`Kernel::rows`] weights for each k, `b` a
    /// row of [`Kernel::columns`]. The tile's rows are `pitch` apart.
    pub fn tile(&self, a: &[T], b: &[T], tile: &mut [T], pitch: usize) {
        // SAFETY: the processor has the instructions, or there were no such kernel.
        unsafe { (self.tile)(a, b, tile, pitch) };
    }
}

/// What the loop needs of an instruction set for one type of weight.
///
/// # Safety
///
/// Every function wants a processor that has the instructions.
trait Simd {
    type Lane: Copy;
    type Vector: Copy;
    const LANES: usize;
    unsafe fn splat(weight: Self::Lane) -> Self::Vector;
    unsafe fn load(from: &[Self::Lane]) -> Self::Vector;
    unsafe fn store(vector: Self::Vector, to: &mut [Self::Lane]);
    unsafe fn add(x: Self::Vector, y: Self::Vector) -> Self::Vector;
    unsafe fn min(x: Self::Vector, y: Self::Vector) -> Self::Vector;
}

/// R rows of C vectors.
type RegisterTile<S, const R: usize, const C: usize> = [[<S as Simd>::Vector; C]; R];

#[inline(always)]
unsafe fn load<S: Simd, const R: usize, const C: usize>(
    from: &[S::Lane],
    pitch: usize,
) -> RegisterTile<S, R, C> {
    // SAFETY: the caller's processor has the instructions.
    unsafe {
        let mut tile = [[S::splat(from[0]); C]; R];
        for (r, row) in tile.iter_mut().enumerate() {
            for (c, vector) in row.iter_mut().enumerate() {
                *vector = S::load(&from[r * pitch + c * S::LANES..]);
            }
        }
        tile
    }
}

#[inline(always)]
unsafe fn store<S: Simd, const R: usize, const C: usize>(
    tile: RegisterTile<S, R, C>,
    to: &mut [S::Lane],
    pitch: usize,
) {
    for (r, row) in tile.into_iter().enumerate() {
        for (c, vector) in row.into_iter().enumerate() {
            // SAFETY: the caller's processor has the instructions.
            unsafe { S::store(vector, &mut to[r * pitch + c * S::LANES..]) };
        }
    }
}

/// Lowers a row of a tile to the sums of one vector and others.
#[inline(always)]
unsafe fn lower<S: Simd, const C: usize>(
    least: &mut [S::Vector; C],
    x: S::Vector,
    row: &[S::Vector; C],
) {
    for (least, &y) in least.iter_mut().zip(row) {
        // SAFETY: the caller's processor has the instructions.
        *least = unsafe { S::min(*least, S::add(x, y)) };
    }
}

/// Every weight that is loaded takes part in several sums: one of `a` in C vectors, a vector of `b` in R rows.
#[inline(always)]
unsafe fn tile<S: Simd, const R: usize, const C: usize>(
    a: &[S::Lane],
    b: &[S::Lane],
    tile: &mut [S::Lane],
    pitch: usize,
) {
    // SAFETY: the caller's processor has the instructions.
    unsafe {
        let mut least = load::<S, R, C>(tile, pitch);
        for (a, b) in a
            .as_chunks::<R>()
            .0
            .iter()
            .zip(b.chunks_exact(C * S::LANES))
        {
            let [row] = load::<S, 1, C>(b, 0);
            for (least, &x) in least.iter_mut().zip(a) {
                lower::<S, C>(least, S::splat(x), &row);
            }
        }
        store::<S, R, C>(least, tile, pitch);
    }
}

/// The instructions that every processor has: 128-bit vectors, which compilers make of four lanes.
struct Portable<T>(PhantomData<T>);

impl<T: Weight> Simd for Portable<T> {
    type Lane = T;
    type Vector = [T; 4];
    const LANES: usize = 4;
    #[inline(always)]
    unsafe fn splat(weight: T) -> [T; 4] {
        [weight; 4]
    }
    #[inline(always)]
    unsafe fn load(from: &[T]) -> [T; 4] {
        [from[0], from[1], from[2], from[3]]
    }
    #[inline(always)]
    unsafe fn store(vector: [T; 4], to: &mut [T]) {
        to[..4].copy_from_slice(&vector);
    }
    #[inline(always)]
    unsafe fn add(x: [T; 4], y: [T; 4]) -> [T; 4] {
        std::array::from_fn(|i| x[i].plus(y[i]))
    }
    #[inline(always)]
    unsafe fn min(x: [T; 4], y: [T; 4]) -> [T; 4] {
        std::array::from_fn(|i| x[i].lesser(y[i]))
    }
}

pub fn portable<T: Weight>() -> Kernel<T> {
    Kernel {
        non_negative: false,
        rows: 6,
        columns: 2 * Portable::<T>::LANES,
        tile: tile::<Portable<T>, 6, 2>,
    }
}

/// Kernels in intrinsics, since compilers spill such tiles of arrays to memory. Each is `None` on processors without
/// its instructions. Its tile fills the registers but for a row of `b`, a weight of `a`, and their sum.
#[cfg(target_arch = "x86_64")]
pub mod x86 {
    use super::{Kernel, Simd, tile};
    use std::arch::x86_64::*;

    macro_rules! kernel {
        ($name:ident, $feature:tt, non_negative: $non_negative:literal, $rows:literal x $vectors:literal,
         $weight:ty, $vector:ty, $splat:ident, $load:ident, $store:ident, $add:ident, |$x:ident, $y:ident| $min:expr) => {
            pub fn $name() -> Option<Kernel<$weight>> {
                struct Set;
                impl Simd for Set {
                    type Lane = $weight;
                    type Vector = $vector;
                    const LANES: usize = size_of::<$vector>() / size_of::<$weight>();
                    #[inline]
                    #[target_feature(enable = $feature)]
                    unsafe fn splat(weight: $weight) -> $vector {
                        $splat(weight)
                    }
                    #[inline]
                    #[target_feature(enable = $feature)]
                    unsafe fn load(from: &[$weight]) -> $vector {
                        // SAFETY: the slice is a vector long.
                        unsafe { $load(from[..Self::LANES].as_ptr().cast()) }
                    }
                    #[inline]
                    #[target_feature(enable = $feature)]
                    unsafe fn store(vector: $vector, to: &mut [$weight]) {
                        // SAFETY: the slice is a vector long.
                        unsafe { $store(to[..Self::LANES].as_mut_ptr().cast(), vector) }
                    }
                    #[inline]
                    #[target_feature(enable = $feature)]
                    unsafe fn add(x: $vector, y: $vector) -> $vector {
                        $add(x, y)
                    }
                    #[inline]
                    #[target_feature(enable = $feature)]
                    unsafe fn min($x: $vector, $y: $vector) -> $vector {
                        $min
                    }
                }
                #[target_feature(enable = $feature)]
                unsafe fn tile_here(a: &[$weight], b: &[$weight], c: &mut [$weight], pitch: usize) {
                    // SAFETY: the caller's processor has the instructions.
                    unsafe { tile::<Set, $rows, $vectors>(a, b, c, pitch) };
                }
                is_x86_feature_detected!($feature).then_some(Kernel {
                    non_negative: $non_negative,
                    rows: $rows,
                    columns: $vectors * Set::LANES,
                    tile: tile_here,
                })
            }
        };
    }

    kernel!(avx2_f32, "avx2", non_negative: false, 6 x 2, f32, __m256,
        _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_add_ps, |x, y| _mm256_min_ps(x, y));
    kernel!(avx2_f64, "avx2", non_negative: false, 6 x 2, f64, __m256d,
        _mm256_set1_pd, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_add_pd, |x, y| _mm256_min_pd(x, y));
    kernel!(avx2_i32, "avx2", non_negative: false, 6 x 2, i32, __m256i,
        _mm256_set1_epi32, _mm256_loadu_si256, _mm256_storeu_si256, _mm256_add_epi32, |x, y| _mm256_min_epi32(x, y));
    kernel!(avx512_f32, "avx512f", non_negative: false, 12 x 2, f32, __m512,
        _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_add_ps, |x, y| _mm512_min_ps(x, y));
    kernel!(avx512_f64, "avx512f", non_negative: false, 12 x 2, f64, __m512d,
        _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_add_pd, |x, y| _mm512_min_pd(x, y));
    kernel!(avx512_i32, "avx512f", non_negative: false, 12 x 2, i32, __m512i,
        _mm512_set1_epi32, _mm512_loadu_si512, _mm512_storeu_si512, _mm512_add_epi32, |x, y| _mm512_min_epi32(x, y));

    // Floats without a sign are ordered as integers. AMD's cores add floats and compare integers in different units,
    // where a minimum of floats would take the adders' time.
    kernel!(avx2_f32_non_negative, "avx2", non_negative: true, 6 x 2, f32, __m256,
        _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_add_ps,
        |x, y| _mm256_castsi256_ps(_mm256_min_epi32(_mm256_castps_si256(x), _mm256_castps_si256(y))));
    kernel!(avx512_f32_non_negative, "avx512f", non_negative: true, 12 x 2, f32, __m512,
        _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_add_ps,
        |x, y| _mm512_castsi512_ps(_mm512_min_epi32(_mm512_castps_si512(x), _mm512_castps_si512(y))));
}

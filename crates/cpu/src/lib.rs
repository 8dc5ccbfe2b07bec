//! CPU references, which say what is right, and CPU baselines, which say what a host can do.
//!
//! Everything here is a pure function of its inputs; nothing does I/O.

mod compensated;
pub mod dot;
mod element;
pub mod minplus;
mod minplus_tiles;
mod parallel;
pub mod reduce;
pub mod transpose;
#[cfg(target_arch = "x86_64")]
mod transpose_x86;

use gpulab_model::data::{Array, Params, Shape};

/// A CPU implementation that rungs are compared with. A family's stand in a `static`: a constant's functions are compiled by
/// the crate that names it, which is optimised for another purpose (a fifteenth of the speed).
pub struct Baseline {
    /// Its name in tables and records: `cpu_rayon`.
    pub name: &'static str,
    pub about: &'static str,
    /// Computes the result for a shape, the case's settings and the inputs, and writes it over the last argument, an array
    /// of the result's type and length; its threads are those of the current rayon pool.
    pub run: fn(Shape, &Params, &[Array], &mut Array),
    /// Most roundings that one term passes through, for n elements and this number of threads.
    pub depth: fn(u64, usize) -> u64,
}

/// So many dependent steps of xorshift, a few clocks each: work of the host that no compiler removes or takes together.
pub fn spin(steps: u64) -> u64 {
    (0..steps).fold(88_172_645_463_325_252, |x, _| {
        let x = x ^ (x << 13);
        let x = x ^ (x >> 7);
        x ^ (x << 17)
    })
}

/// The wrapping sum of an array of integers, as an array of one; floats have no such sum and give zero.
pub fn wrapping_sum(values: &Array) -> Array {
    use rayon::prelude::*;
    match values {
        Array::I32(v) => Array::I32(vec![v.par_iter().copied().reduce(|| 0, i32::wrapping_add)]),
        Array::I64(v) => Array::I64(vec![v.par_iter().copied().reduce(|| 0, i64::wrapping_add)]),
        Array::U8(v) => Array::U8(vec![v.par_iter().copied().reduce(|| 0, u8::wrapping_add)]),
        Array::F32(_) | Array::F64(_) => Array::zeros(values.dtype(), 1),
    }
}

/// What the kernel of the canary, `cl/runner/canary.cl`, computes.
pub mod canary {
    /// Work-items begin with one of so many values, by turns.
    pub const CHAINS: u32 = 8;

    /// What work-item `id` ends with after so many steps.
    pub fn chain(id: u32, steps: u32) -> u32 {
        (0..steps).fold(id % CHAINS + 1, |x, i| {
            (x ^ (x >> 15)).wrapping_mul(0x2c1b_3c6d).wrapping_add(i)
        })
    }
}

//! What the canary's kernel, `cl/runner/canary.cl`, computes.

/// Work-items begin with one of so many values, by turns.
pub const CHAINS: u32 = 8;

/// What work-item `id` ends with after so many steps.
pub fn chain(id: u32, steps: u32) -> u32 {
    (0..steps).fold(id % CHAINS + 1, |x, i| (x ^ (x >> 15)).wrapping_mul(0x2c1b_3c6d).wrapping_add(i))
}

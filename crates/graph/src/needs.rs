//! What distances need of a machine.

use gpulab_model::data::Dtype;

/// Bytes of this machine's memory that distances between `n` nodes take.
pub fn memory_needed(n: usize, dtype: Dtype, paths: bool, gpu: bool) -> u64 {
    // The edges, the distances before and after a step, their copies on the way to the device, and a check's.
    const MATRICES: u64 = 6;
    // A CPU device's buffers, for a step and its packed or padded inputs.
    const BUFFERS: u64 = 4;
    let size = dtype.size() as u64;
    let matrices = MATRICES + if gpu { 0 } else { BUFFERS };
    // An edge with where it starts, as aligned as its weight; and the next node.
    let hops = if paths { 2 * size + 4 } else { 0 };
    (n as u64).saturating_mul(n as u64).saturating_mul(matrices * size + hops)
}

/// Bytes that a step between `n` nodes reads and writes: both of its factors, and its result.
pub fn step_bytes(n: usize, dtype: Dtype) -> u64 {
    (n as u64).saturating_mul(n as u64).saturating_mul(3 * dtype.size() as u64)
}

/// Operations of a step between `n` nodes: an addition and a comparison for every path by way of a third node.
pub fn step_operations(n: usize) -> f64 {
    2.0 * (n as f64).powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_devices_buffers_count_as_memory() {
        assert_eq!(memory_needed(1000, Dtype::F32, false, true), 24_000_000);
        assert_eq!(memory_needed(1000, Dtype::F64, false, false), 80_000_000);
        assert_eq!(memory_needed(1000, Dtype::F64, true, false), 100_000_000);
        assert_eq!(memory_needed(1000, Dtype::I32, true, true), 36_000_000);
        assert_eq!(memory_needed(usize::MAX, Dtype::F64, true, false), u64::MAX);
    }

    #[test]
    fn a_step_moves_three_matrices_and_joins_every_pair_by_every_node() {
        assert_eq!(step_bytes(1000, Dtype::F64), 24_000_000);
        assert_eq!(step_bytes(usize::MAX, Dtype::F64), u64::MAX);
        assert_eq!(step_operations(1000), 2e9);
    }
}

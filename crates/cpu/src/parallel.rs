//! How a vector is cut up for all threads and vector registers, and how deep sums get that way.

use rayon::prelude::*;
use std::ops::Range;

/// Running results of a chunk, kept in registers: enough of them to hide the latency of an addition.
pub const LANES: usize = 32;

/// Below this length of chunk, waking another thread costs more than it saves: a few tens of microseconds.
pub const MIN_CHUNK: usize = 1 << 16;

/// Chunks a thread: a few, so that one that starts late or shares its core does not hold up the rest.
const CHUNKS_A_THREAD: usize = 8;

/// Elements of a chunk; whole sets of lanes.
fn chunk_len(n: usize, threads: usize) -> usize {
    n.div_ceil(threads.max(1) * CHUNKS_A_THREAD)
        .next_multiple_of(LANES)
        .max(MIN_CHUNK)
}

/// Joins the results of the chunks of `0..n`, which all threads of the current pool work out.
pub fn in_chunks<T: Send>(
    n: usize,
    part: impl Fn(Range<usize>) -> T + Sync,
    join: impl Fn(T, T) -> T,
) -> T {
    let threads = rayon::current_num_threads();
    let chunk = chunk_len(n, threads);
    let chunks = 0..n.div_ceil(chunk);
    // One type for all parts: rayon's machinery is compiled once for each type of result, not for each loop.
    let of_chunk: &(dyn Fn(usize) -> T + Sync) = &|c| part(c * chunk..n.min((c + 1) * chunk));
    // Collected in order: the rounding must not depend on which thread was faster.
    let parts: Vec<T> = match threads {
        _ if chunks.len() < 2 => return part(0..n),
        1 => chunks.map(of_chunk).collect(),
        _ => chunks.into_par_iter().map(of_chunk).collect(),
    };
    parts.into_iter().reduce(join).unwrap_or_else(|| part(0..0))
}

/// The lanes' results joined in log2([`LANES`]) steps. Beside its caller's loop compilers made shuffles of that, too: half as fast.
#[inline(never)]
pub fn tree<T: Copy>(mut lanes: [T; LANES], join: impl Fn(T, T) -> T) -> T {
    let mut half = LANES / 2;
    while half > 0 {
        for i in 0..half {
            lanes[i] = join(lanes[i], lanes[i + half]);
        }
        half /= 2;
    }
    lanes[0]
}

/// Most additions that one of `n` terms passes through: in its lane, where the first goes to zero and is exact, in the
/// tree over the lanes, and over the chunks.
pub fn depth(n: u64, threads: usize) -> u64 {
    let chunk = chunk_len(usize::try_from(n).unwrap_or(usize::MAX), threads) as u64;
    let lane = n.min(chunk).div_ceil(LANES as u64).saturating_sub(1);
    lane + u64::from(LANES.ilog2()) + n.div_ceil(chunk).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn chunks_are_whole_sets_of_lanes_and_cover(n in 0usize..1 << 40, threads in 0usize..1024) {
            let chunk = chunk_len(n, threads);
            prop_assert_eq!(chunk % LANES, 0);
            prop_assert!(n.div_ceil(chunk) <= threads.max(1) * CHUNKS_A_THREAD);
        }

        #[test]
        fn every_index_is_in_one_chunk(n in 0usize..200_000) {
            let indices = in_chunks(n, |range| range.collect::<Vec<_>>(), |a, b| [a, b].concat());
            prop_assert_eq!(indices, (0..n).collect::<Vec<_>>());
        }
    }
}

//! The min-plus step on the CPU: `r[i][j]` is the least of `d[i][k] + d[k][j]` over all k.
//!
//! It follows chapter 2 of "Programming Parallel Computers" (J. Suomela, Aalto University): linear reading and
//! independent results in vectors are `cpu_rows`, 36 times the plain loops for f32 with one thread each (n = 1024, an
//! AMD EPYC of the third generation, AVX2); reuse in registers and in caches is `cpu_rayon`, another 2.3 times; comparing weights
//! without a sign as integers another 1.5 times.
//!
//! Sums are rounded once and minima are not, so any order gives the same result, bit for bit (but for the sign of a
//! zero). Weights are never NaN nor minus infinity.

use super::Baseline;
use super::minplus_tiles::{self as kernel, Kernel, Weight};
use gpulab_model::data::Array;
pub use gpulab_model::data::NO_EDGE;
use multiversion::multiversion;
use rayon::prelude::*;
use std::ops::Range;

/// Columns of `a` and rows of `b` that a tile takes at once.
const DEPTH: usize = 512;

/// Columns of a panel of `b`, which all threads read: 8 MiB of 32-bit weights, in the cache that they share.
const PANEL_COLUMNS: usize = 4096;

/// Most rows of the result in a piece of work, whose rows of `a` stay in a thread's own cache.
const MAX_ROWS: usize = 48;

/// Pieces of work a thread: a few, so that one that starts late or shares its core does not hold up the rest.
const TASKS_A_THREAD: usize = 4;

/// Below this number of sums, waking another thread costs more than it saves.
const PARALLEL_SUMS: usize = 1 << 18;

const LINE_BYTES: usize = 64;

/// Calls a generic function on two matrices of one type.
macro_rules! typed {
    ($d:expr, $result:expr, |$x:ident, $y:ident| $call:expr) => {
        match ($d, $result) {
            (Array::F32($x), Array::F32($y)) => $call,
            (Array::F64($x), Array::F64($y)) => $call,
            (Array::I32($x), Array::I32($y)) => $call,
            _ => unreachable!("matrices of f32, f64 or i32, and a result of their type"),
        }
    };
}

/// Every baseline, from the plainest to the fastest. Each takes an n x n matrix, row-major, and writes another.
pub static BASELINES: &[Baseline] = &[
    Baseline {
        name: "cpu_sequential",
        about: "one thread, three plain loops; the innermost reads a column",
        run: |shape, _, inputs, result| {
            typed!(&inputs[0], result, |d, r| sequential(
                shape.n as usize,
                d,
                r
            ))
        },
        depth: |_, _| 0,
    },
    Baseline {
        name: "cpu_rows",
        about: "all threads, the loops in an order that reads rows, vectors as the compiler makes them",
        run: |shape, _, inputs, result| {
            typed!(&inputs[0], result, |d, r| by_rows(shape.n as usize, d, r))
        },
        depth: |_, _| 0,
    },
    Baseline {
        name: "cpu_rayon",
        about: "all threads, tiles in vector registers, panels in the caches",
        run: |shape, _, inputs, result| all_threads(shape.n as usize, &inputs[0], result),
        depth: |_, _| 0,
    },
];

/// The whole step, with all threads of the current rayon pool and the widest vectors of the processor. Beside the
/// matrices it needs a panel of 8 or 16 MiB and some 0.1 MiB a thread, whatever their size.
/// Panics if the matrices are not both of n x n elements of one type, f32, f64 or i32.
pub fn all_threads(n: usize, d: &Array, result: &mut Array) {
    rows(n, d, 0..n, result);
}

/// Some rows of the step, computed as in [`all_threads`].
/// Panics as [`all_threads`], but the result has only these rows.
pub fn rows(n: usize, d: &Array, rows: Range<usize>, result: &mut Array) {
    typed!(d, result, |d, r| multiply(&Tiled::best(d), n, d, rows, r));
}

/// A weight that the inner loop is compiled for.
trait Tiled: Weight {
    /// Every kernel that this processor can run, the best first.
    fn kernels() -> impl Iterator<Item = Kernel<Self>>;

    fn best(d: &[Self]) -> Kernel<Self> {
        let negative = || {
            d.par_chunks(1 << 14)
                .any(|part| !part.iter().fold(true, |none, &x| none & (x >= Self::ZERO)))
        };
        Self::kernels()
            .find(|kernel: &Kernel<Self>| !kernel.non_negative || !negative())
            .unwrap_or_else(kernel::portable)
    }
}

macro_rules! tiled {
    ($t:ty, [$($kernel:ident),*]) => {
        impl Tiled for $t {
            fn kernels() -> impl Iterator<Item = Kernel<$t>> {
                #[cfg(target_arch = "x86_64")]
                let native = [$(kernel::x86::$kernel()),*];
                #[cfg(not(target_arch = "x86_64"))]
                let native: [Option<Kernel<$t>>; 0] = [];
                native.into_iter().flatten().chain([kernel::portable()])
            }
        }
    };
}

tiled!(
    f32,
    [
        avx512_f32_non_negative,
        avx512_f32,
        avx2_f32_non_negative,
        avx2_f32
    ]
);
tiled!(f64, [avx512_f64, avx2_f64]);
tiled!(i32, [avx512_i32, avx2_i32]);

/// Computes anew what the elements at these places, as (row, column), take part in: their rows and columns of the result.
/// Panics if the arrays' types differ, or are not n x n.
pub fn recompute(n: usize, d: &Array, places: &[(usize, usize)], result: &mut Array) {
    typed!(d, result, |d, r| places
        .iter()
        .for_each(|&at| cross(n, d, at, r)));
}

/// The min-plus product of n x n weights with themselves of which it is known that a shortest way of two edges takes one that
/// leads from a node to that `turn` further on: of two ways to look at, the shorter.
/// Panics if the arrays' types differ, or are not n x n.
pub fn turned(n: usize, turn: usize, d: &Array, result: &mut Array) {
    typed!(d, result, |d, r| shorter(n, turn, d, r));
}

fn shorter<T: Weight>(n: usize, turn: usize, d: &[T], result: &mut [T]) {
    result
        .par_chunks_mut(n)
        .enumerate()
        .for_each(|(i, of_row)| {
            for (j, least) in of_row.iter_mut().enumerate() {
                let [a, b] =
                    [(i + turn) % n, (j + n - turn) % n].map(|k| d[i * n + k].plus(d[k * n + j]));
                *least = a.lesser(b);
            }
        });
}

fn cross<T: Weight>(n: usize, d: &[T], (row, column): (usize, usize), result: &mut [T]) {
    let of_row = &mut result[row * n..][..n];
    of_row.fill(T::NONE);
    for (&x, to) in d[row * n..][..n].iter().zip(d.chunks(n)) {
        lower(of_row, x, to);
    }
    let to: Vec<T> = d.iter().skip(column).step_by(n).copied().collect();
    result
        .par_chunks_mut(n)
        .zip(d.par_chunks(n))
        .for_each(|(result, from)| {
            let sums = from.iter().zip(&to).map(|(&x, &y)| x.plus(y));
            result[column] = sums.fold(T::NONE, |least, sum| least.lesser(sum));
        });
}

fn sequential<T: Weight>(n: usize, d: &[T], result: &mut [T]) {
    for i in 0..n {
        for j in 0..n {
            let mut least = T::NONE;
            for k in 0..n {
                least = least.lesser(d[i * n + k].plus(d[k * n + j]));
            }
            result[i * n + j] = least;
        }
    }
}

fn by_rows<T: Weight>(n: usize, d: &[T], result: &mut [T]) {
    result
        .par_chunks_mut(n.max(1))
        .zip(d.par_chunks(n.max(1)))
        .for_each(|(result, from)| {
            result.fill(T::NONE);
            for (&x, row) in from.iter().zip(d.chunks(n)) {
                lower(result, x, row);
            }
        });
}

/// SSE2 and NEON are their architectures' floor and need no version of their own.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma"
))]
fn lower<T: Weight>(result: &mut [T], x: T, row: &[T]) {
    for (least, &y) in result.iter_mut().zip(row) {
        *least = least.lesser(x.plus(y));
    }
}

/// Some rows of the result. Panels of `b` are packed one after the other, by all threads for all threads; against
/// each, every thread sets rows of `a` that it packs for itself.
fn multiply<T: Weight>(
    kernel: &Kernel<T>,
    n: usize,
    d: &[T],
    rows: Range<usize>,
    result: &mut [T],
) {
    assert!(
        d.len() == n * n && result.len() == rows.len() * n,
        "matrices of the sizes that were named"
    );
    let mut buffer = Vec::new();
    let threads = rayon::current_num_threads();
    for j in (0..n).step_by(PANEL_COLUMNS) {
        let columns = j..n.min(j + PANEL_COLUMNS);
        for k in (0..n).step_by(DEPTH) {
            let depth = k..n.min(k + DEPTH);
            let panel = aligned(
                &mut buffer,
                columns.len().next_multiple_of(kernel.columns) * depth.len(),
            );
            pack_b(kernel, n, d, depth.clone(), columns.clone(), panel);
            let enough = PARALLEL_SUMS.div_ceil(columns.len() * depth.len()).max(1);
            let share = rows.len().div_ceil(threads * TASKS_A_THREAD).min(MAX_ROWS);
            let rows_a_task = share.max(enough).next_multiple_of(kernel.rows);
            let from = d[rows.start * n..rows.end * n].par_chunks(rows_a_task * n);
            result
                .par_chunks_mut(rows_a_task * n)
                .zip(from)
                .for_each_init(Vec::new, |buffer, (result, from)| {
                    if k == 0 {
                        result
                            .chunks_mut(n)
                            .for_each(|row| row[columns.clone()].fill(T::NONE));
                    }
                    let a = aligned(
                        buffer,
                        (result.len() / n).next_multiple_of(kernel.rows) * depth.len(),
                    );
                    pack_a(kernel, n, from, depth.clone(), a);
                    block(
                        kernel,
                        a,
                        panel,
                        depth.len(),
                        &mut result[j..],
                        n,
                        columns.len(),
                    );
                });
        }
    }
}

/// The buffer's first `len` elements from a cache line's start on.
fn aligned<T: Weight>(buffer: &mut Vec<T>, len: usize) -> &mut [T] {
    let line = LINE_BYTES / size_of::<T>();
    if buffer.len() < len + line {
        buffer.resize(len + line, T::ZERO);
    }
    let skip = buffer.as_ptr().align_offset(LINE_BYTES).min(line);
    &mut buffer[skip..][..len]
}

/// Packs columns of some rows for tiles: strips of [`Kernel::columns`], row after row. What a strip has beyond the
/// matrix is whatever was there.
fn pack_b<T: Weight>(
    kernel: &Kernel<T>,
    n: usize,
    d: &[T],
    depth: Range<usize>,
    columns: Range<usize>,
    panel: &mut [T],
) {
    /// Strips that a thread packs together, so that it reads long runs.
    const STRIPS: usize = 16;
    let strip = kernel.columns * depth.len();
    panel
        .par_chunks_mut(STRIPS * strip)
        .enumerate()
        .for_each(|(task, strips)| {
            let first = columns.start + task * STRIPS * kernel.columns;
            let end = columns.end.min(first + STRIPS * kernel.columns);
            for (at, k) in depth.clone().enumerate() {
                let row = &d[k * n..][first..end];
                for (strip, part) in strips.chunks_mut(strip).zip(row.chunks(kernel.columns)) {
                    strip[at * kernel.columns..][..part.len()].copy_from_slice(part);
                }
            }
        });
}

/// Packs columns of some rows for tiles: strips of [`Kernel::rows`], column after column.
fn pack_a<T: Weight>(
    kernel: &Kernel<T>,
    n: usize,
    rows: &[T],
    depth: Range<usize>,
    packed: &mut [T],
) {
    let strips = packed.chunks_mut(kernel.rows * depth.len());
    for (strip, rows) in strips.zip(rows.chunks(kernel.rows * n)) {
        for (r, row) in rows.chunks(n).enumerate() {
            for (column, &weight) in strip.chunks_mut(kernel.rows).zip(&row[depth.clone()]) {
                column[r] = weight;
            }
        }
    }
}

/// Sets packed rows against a packed panel, whose strips stay in the nearest cache while all rows pass.
fn block<T: Weight>(
    kernel: &Kernel<T>,
    a: &[T],
    b: &[T],
    depth: usize,
    result: &mut [T],
    pitch: usize,
    columns: usize,
) {
    let rows = result.len().div_ceil(pitch);
    let mut edge = vec![T::NONE; kernel.rows * kernel.columns];
    for (b, j) in b
        .chunks(kernel.columns * depth)
        .zip((0..).step_by(kernel.columns))
    {
        for (a, i) in a
            .chunks(kernel.rows * depth)
            .zip((0..).step_by(kernel.rows))
        {
            let width = kernel.columns.min(columns - j);
            let height = kernel.rows.min(rows - i);
            let tile = &mut result[i * pitch + j..];
            if (width, height) == (kernel.columns, kernel.rows) {
                kernel.tile(a, b, tile, pitch);
            } else {
                // A tile of its own for what lies beyond the matrix.
                edge.fill(T::NONE);
                kernel.tile(a, b, &mut edge, kernel.columns);
                for (row, edge) in tile
                    .chunks_mut(pitch)
                    .zip(edge.chunks(kernel.columns))
                    .take(height)
                {
                    row[..width]
                        .iter_mut()
                        .zip(edge)
                        .for_each(|(least, &other)| *least = least.lesser(other));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_model::data::{Dtype, Fill, Params, Shape, generate};
    use proptest::prelude::*;
    use std::fmt::Debug;

    #[test]
    fn a_changed_weight_is_followed() {
        for dtype in [Dtype::F32, Dtype::F64, Dtype::I32] {
            let n = 37;
            let fill = Fill::Weights {
                columns: 37,
                signed: true,
                severed: true,
            };
            let mut d = [generate(fill, dtype, 3, 0, 0, n * n)];
            let mut result = Array::zeros(dtype, n * n);
            all_threads(n, &d[0], &mut result);
            for (index, value) in [(5 * n + 9, 7), (36 * n + 36, 700)] {
                let value = generate(fill, dtype, value, 0, index as u64, 1);
                d[0].put(index, &value);
                recompute(n, &d[0], &[(index / n, index % n)], &mut result);
                let mut whole = Array::zeros(dtype, n * n);
                all_threads(n, &d[0], &mut whole);
                assert_eq!(result, whole, "{dtype}");
            }
        }
    }

    /// A matrix with one edge in five missing, of weights made from random numbers.
    fn matrix<T: Clone>(n: usize, seed: u64, none: T, weight: impl Fn(i32) -> T) -> Vec<T> {
        let Array::I32(random) = generate(Fill::Real, Dtype::I32, seed, 0, 0, n * n) else {
            unreachable!()
        };
        random
            .into_iter()
            .map(|x| if x % 5 == 0 { none.clone() } else { weight(x) })
            .collect()
    }

    /// Compares every kernel that suits a matrix with the plain loops.
    fn check<T: Tiled + Debug>(n: usize, d: &[T]) {
        let [mut expected, mut other] = [vec![T::ZERO; n * n], vec![T::ZERO; n * n]];
        sequential(n, d, &mut expected);
        by_rows(n, d, &mut other);
        assert!(other == expected, "{n} by rows");
        let negative = d.iter().any(|&x| x < T::ZERO);
        for kernel in T::kernels().filter(|kernel| !(kernel.non_negative && negative)) {
            other.fill(T::ZERO);
            multiply(&kernel, n, d, 0..n, &mut other);
            assert!(other == expected, "{n}");
            let some = n / 3..n - n / 4;
            multiply(&kernel, n, d, some.clone(), &mut other[..some.len() * n]);
            assert!(
                other[..some.len() * n] == expected[some.start * n..some.end * n],
                "{n} {some:?}"
            );
        }
    }

    fn check_types(n: usize, seed: u64) {
        check(n, &matrix(n, seed, f32::INFINITY, |x| x as f32 / 7e8));
        check(
            n,
            &matrix(n, seed, f32::INFINITY, |x| x.unsigned_abs() as f32 / 7e8),
        );
        check(n, &matrix(n, seed, f64::INFINITY, |x| f64::from(x) / 7e8));
        check(n, &matrix(n, seed, NO_EDGE, |x| x % NO_EDGE));
    }

    #[test]
    fn every_kernel_finds_what_the_plain_loops_find() {
        // The last has more strips of the narrow kernels than one task packs, and rows for several tasks.
        let sides = [0, 1, 2, 7, 13, 31, 63, 64, 65, 127, 128, 129, 267];
        for n in sides.into_iter().filter(|&n| !cfg!(miri) || n < 20) {
            check_types(n, n as u64);
        }
    }

    #[test]
    fn of_turned_weights_each_decides_a_result_in_one_of_two_orders() {
        for n in [1, 2, 3, 7, 24] {
            let mut decided = vec![false; n * n];
            for falling in [false, true] {
                let d = generate(
                    Fill::Turned {
                        columns: n as u64,
                        falling,
                    },
                    Dtype::F64,
                    1,
                    0,
                    0,
                    n * n,
                );
                let [mut expected, mut result] = [0, 1].map(|_| Array::zeros(Dtype::F64, n * n));
                all_threads(n, &d, &mut expected);
                turned(
                    n,
                    gpulab_model::data::turn(n as u64) as usize,
                    &d,
                    &mut result,
                );
                assert_eq!(result, expected, "{n} falling: {falling}");
                let Array::F64(d) = d else { unreachable!() };
                for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                    let way = |k: usize| d[i * n + k] + d[k * n + j];
                    let best = (0..n).min_by(|&a, &b| way(a).total_cmp(&way(b))).unwrap();
                    decided[i * n + best] = true;
                }
            }
            assert!(decided.into_iter().all(|decides| decides), "{n}");
        }
    }

    #[test]
    fn any_number_of_threads_finds_it() {
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| check_types(if cfg!(miri) { 9 } else { 150 }, 1));
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "large")]
    fn panels_join_in_both_directions() {
        let n = PANEL_COLUMNS + 3;
        let d = matrix(n, 1, f32::INFINITY, |x| x as f32 / 7e8);
        let rows = n - 2..n;
        let expected = |i: usize, j: usize| {
            (0..n)
                .map(|k| d[i * n + k] + d[k * n + j])
                .fold(f32::INFINITY, f32::min)
        };
        let expected: Vec<f32> = rows
            .clone()
            .flat_map(|i| (0..n).map(move |j| expected(i, j)))
            .collect();
        for kernel in f32::kernels().filter(|kernel| !kernel.non_negative) {
            let mut result = vec![0.0; expected.len()];
            multiply(&kernel, n, &d, rows.clone(), &mut result);
            assert!(result == expected, "{} columns", kernel.columns);
        }
    }

    #[test]
    fn baselines_agree() {
        let n = 30;
        let inputs = [Array::I32(matrix(n, 1, NO_EDGE, |x| x % 100))];
        let results = BASELINES.iter().map(|baseline| {
            let mut result = Array::zeros(Dtype::I32, n * n);
            (baseline.run)(
                Shape {
                    n: n as u64,
                    m: n as u64,
                },
                &Params::new(),
                &inputs,
                &mut result,
            );
            result
        });
        assert!(
            results
                .collect::<Vec<_>>()
                .windows(2)
                .all(|pair| pair[0] == pair[1])
        );
    }

    #[test]
    fn a_negative_weight_is_never_compared_as_an_integer() {
        let mut d = vec![1.0_f32; 100_000];
        d[77_777] = -0.0;
        assert_eq!(
            f32::best(&d).non_negative,
            f32::kernels().any(|kernel| kernel.non_negative)
        );
        d[77_777] = -1e-30;
        assert!(!f32::best(&d).non_negative);
    }

    #[test]
    fn no_sum_of_integers_overflows() {
        assert_eq!(NO_EDGE.checked_add(NO_EDGE), Some(i32::MAX - 1));
        assert!((-NO_EDGE).checked_sub(NO_EDGE).is_some());
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 0 } else { 24 }, ..ProptestConfig::default() })]
        #[test]
        fn any_side_and_seed(n in 0usize..110, seed: u64) {
            check_types(n, seed);
        }
    }
}

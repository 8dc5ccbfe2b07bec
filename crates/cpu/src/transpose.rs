//! Out-of-place transposition on the CPU: what a host's threads can do.
//!
//! Elements are moved as words of their size and never looked at, so every bit pattern survives. A tile of the input
//! is transposed into a buffer in the L2 cache and goes from there to the output. So both sides see long runs of
//! addresses, whatever the matrix: `READ_BYTES` of each input row, `WRITE_BYTES` of each output row. A large output
//! is written past the caches, in whole lines, which saves reading the lines that are about to be overwritten. Where cache
//! lines begin at the same row in all columns of the output, they go there straight from vector registers, two lines to each
//! column, along `STRIP_BYTES` of each input row, while the rows below are asked for: through the buffer that takes 1.3 to
//! 1.8 times as long.

use super::Baseline;
#[cfg(target_arch = "x86_64")]
use super::transpose_x86::{self as x86, Blocks};
#[cfg(not(target_arch = "x86_64"))]
use bytemuck::Pod as Blocks;
use bytemuck::{cast_slice, cast_slice_mut};
use gpulab_model::data::{Array, Params, Shape};
use gpulab_model::plan::Movement;
use rayon::prelude::*;
use std::cell::RefCell;

/// Bytes of one input row that a tile reads: 256 words of 32 bits.
const READ_BYTES: usize = 1024;

/// Bytes of one input row that a strip of tiles reads.
const STRIP_BYTES: usize = 2048;

/// Bytes of one output row that a tile writes: 128 words of 32 bits.
const WRITE_BYTES: usize = 512;

pub(super) const LINE_BYTES: usize = 64;

/// An element as a transposition sees it: bits to be moved.
#[cfg_attr(
    target_arch = "x86_64",
    expect(private_bounds, reason = "only this module adds words")
)]
pub trait MachineWord: Blocks + Send + Sync {
    const STRIP_COLUMNS: usize = STRIP_BYTES / size_of::<Self>();
    const TILE_COLUMNS: usize = READ_BYTES / size_of::<Self>();
    const TILE_ROWS: usize = WRITE_BYTES / size_of::<Self>();
    /// Words from one row of the buffer to the next: not a power of two, whose rows would share the cache's sets.
    const BUFFER_PITCH: usize = (WRITE_BYTES + LINE_BYTES) / size_of::<Self>();
}

impl MachineWord for u32 {}
impl MachineWord for u64 {}

#[derive(Clone, Copy)]
pub(super) struct Tile<'a, W> {
    /// The matrix from the tile's first word on.
    pub words: &'a [W],
    /// Words from one row to the next.
    pub pitch: usize,
    pub columns: usize,
    pub rows: usize,
}

#[inline(always)]
pub(super) fn part<W: MachineWord>(
    tile: Tile<W>,
    columns: std::ops::Range<usize>,
    rows: std::ops::Range<usize>,
    buffer: &mut [W],
) {
    for c in columns {
        let line = &mut buffer[c * W::BUFFER_PITCH..][rows.clone()];
        for (r, word) in rows.clone().zip(line) {
            *word = tile.words[r * tile.pitch + c];
        }
    }
}

/// The buffer's size: a tile, a line to set its rows apart, and what aligning it costs.
const BUFFER_BYTES: usize = READ_BYTES / 4 * (WRITE_BYTES + LINE_BYTES) + LINE_BYTES;

/// An output of at least so many bytes is written past the caches.
const STREAM_BYTES: usize = 8 << 20;

/// Below this number of bytes, waking another thread costs more than it saves.
const PARALLEL_BYTES: usize = 1 << 16;

/// Pieces of work a thread: a few, so that one that starts late or shares its core does not hold up the rest.
const TASKS_A_THREAD: usize = 4;

/// Sides of the squares that the portable code moves: a cache line of 32-bit words.
const SQUARE: usize = 16;

thread_local! {
    /// A tile on its way, here so that its pages are there before the second tile.
    static BUFFER: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Calls a function on the words of two arrays of one type.
macro_rules! on_words {
    ($input:expr, $output:expr, $f:expr $(, $argument:expr)*) => {
        match ($input, $output) {
            (Array::F32(x), Array::F32(y)) => $f(cast_slice::<_, u32>(x) $(, $argument)*, cast_slice_mut::<_, u32>(y)),
            (Array::I32(x), Array::I32(y)) => $f(cast_slice::<_, u32>(x) $(, $argument)*, cast_slice_mut::<_, u32>(y)),
            (Array::F64(x), Array::F64(y)) => $f(cast_slice::<_, u64>(x) $(, $argument)*, cast_slice_mut::<_, u64>(y)),
            (Array::I64(x), Array::I64(y)) => $f(cast_slice::<_, u64>(x) $(, $argument)*, cast_slice_mut::<_, u64>(y)),
            _ => unreachable!("an output of the input's type"),
        }
    };
}

/// Every baseline. Each takes a matrix of m rows and n columns, row-major, with `gap` unused elements behind each row,
/// and writes its transpose, of the same gap.
pub static BASELINES: &[Baseline] = &[
    Baseline {
        name: "cpu_sequential",
        about: "one thread, two plain loops that read rows",
        run: |shape, params, inputs, result| movement(shape, params).carry_out(&inputs[0], result),
        depth: |_, _| 0,
    },
    Baseline {
        name: "cpu_rayon",
        about: "all threads, tiles turned in vector registers, written past the caches",
        run: |shape, params, inputs, result| {
            all_threads(&inputs[0], &movement(shape, params), result)
        },
        depth: |_, _| 0,
    },
];

pub const GAP: &str = "gap";

/// Unused elements behind each row of both matrices: those that the settings ask for, or none.
pub fn gap(params: &Params) -> u64 {
    params
        .get(GAP)
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}

/// The transposition of a matrix of this shape, with the gap that the settings ask for.
pub fn movement(shape: Shape, params: &Params) -> Movement {
    let columns = shape.n as usize;
    let rows = shape.m as usize;
    let gap = gap(params) as usize;
    Movement {
        rows,
        columns,
        from_pitch: columns.saturating_add(gap),
        to_pitch: rows.saturating_add(gap),
        transposed: true,
        times: 1,
        skip: 0,
    }
}

/// Carries a transposition out with all threads of the current rayon pool, tiles, and the widest vectors of the
/// processor. What lies between rows stays as it is.
/// Panics if the arrays' types differ, or if their lengths are not those of the movement.
pub fn all_threads(input: &Array, movement: &Movement, output: &mut Array) {
    on_words!(input, output, all_threads_slices, movement);
}

fn all_threads_slices<W: MachineWord>(input: &[W], movement: &Movement, output: &mut [W]) {
    if movement.rows < SQUARE {
        return transpose_flat(input, movement, output);
    }
    let streaming = size_of_val(output) >= STREAM_BYTES;
    transpose(Isa::best(), input, movement, output, streaming);
}

/// Transposes few rows, which make output rows too short for tiles: each thread writes a part of them, one by one.
fn transpose_flat<W: MachineWord>(input: &[W], movement: &Movement, output: &mut [W]) {
    let Movement {
        rows,
        from_pitch,
        to_pitch,
        ..
    } = *movement;
    let lines = (PARALLEL_BYTES / (to_pitch.max(1) * size_of::<W>())).max(1);
    output
        .par_chunks_mut(lines * to_pitch.max(1))
        .enumerate()
        .for_each(|(task, part)| {
            for (column, line) in (task * lines..).zip(part.chunks_mut(to_pitch)) {
                for (row, word) in line[..rows].iter_mut().enumerate() {
                    *word = input[row * from_pitch + column];
                }
            }
        });
}

#[derive(Clone, Copy, Debug)]
enum Isa {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(x86::Avx2),
}

impl Isa {
    /// Every one that this processor has, the best first.
    fn available() -> impl Iterator<Item = Isa> {
        #[cfg(target_arch = "x86_64")]
        let native = [x86::Avx2::detect().map(Isa::Avx2)];
        #[cfg(not(target_arch = "x86_64"))]
        let native: [Option<Isa>; 0] = [];
        native.into_iter().flatten().chain([Isa::Portable])
    }

    fn best() -> Isa {
        Isa::available().next().unwrap_or(Isa::Portable)
    }

    /// Transposes a tile into the buffer, whose rows are [`MachineWord::BUFFER_PITCH`] apart.
    fn gather<W: MachineWord>(self, tile: Tile<W>, buffer: &mut [W]) {
        match self {
            Isa::Portable => squares(tile, buffer),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(avx2) => x86::gather(avx2, tile, buffer),
        }
    }

    /// Copies `count` words of each row of `source`, whose rows are `pitch` apart, into a line, from `at` on. A line
    /// that is written past the caches is whole for other threads once [`Isa::fence`] was called.
    fn scatter<W: MachineWord>(
        self,
        source: &[W],
        pitch: usize,
        lines: &mut [&mut [W]],
        at: usize,
        count: usize,
        streaming: bool,
    ) {
        for (source, line) in source.chunks(pitch).zip(lines) {
            let source = &source[..count];
            let line = &mut line[at..at + count];
            match self {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2(avx2) if streaming => x86::stream(avx2, source, line),
                _ => line.copy_from_slice(source),
            }
        }
    }

    /// Transposes the first columns of `input`, whose rows are `pitch` apart, straight into lines past the caches, one each;
    /// whether the instructions can and cache lines begin at the same row in all of them.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(unused_variables, reason = "for processors that can")
    )]
    fn turn<W: MachineWord>(self, input: &[W], pitch: usize, lines: &mut [&mut [W]]) -> bool {
        let Some(head) = common_head(lines) else {
            return false;
        };
        let turned = match self {
            Isa::Portable => return false,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(avx2) => x86::turn(avx2, input, pitch, lines, head),
        };
        #[cfg(target_arch = "x86_64")]
        for (c, line) in lines.iter_mut().enumerate() {
            let rest = if c < turned.columns {
                turned.rows.end..line.len()
            } else {
                head..line.len()
            };
            (0..head)
                .chain(rest)
                .for_each(|r| line[r] = input[r * pitch + c]);
        }
        #[cfg(target_arch = "x86_64")]
        true
    }

    /// Makes what was scattered visible to other threads before what this thread writes next: once at the end of a
    /// task, since it waits for the memory.
    fn fence(self) {
        #[cfg(target_arch = "x86_64")]
        x86::fence();
    }
}

/// Transposes with the given instructions. A strip of the output, as many rows as a tile has columns, belongs to one
/// thread; where there are too few strips for the threads, so does a band of the input's rows.
fn transpose<W: MachineWord>(
    isa: Isa,
    input: &[W],
    movement: &Movement,
    output: &mut [W],
    streaming: bool,
) {
    debug_assert!(input.len() == movement.input_len() && output.len() == movement.output_len());
    if input.is_empty() || output.is_empty() {
        return;
    }
    let strip_words = W::STRIP_COLUMNS * movement.to_pitch;
    let transpose_strip = |first: usize, strip: &mut [W]| {
        let head = if streaming {
            line_start(strip, movement.to_pitch)
        } else {
            0
        };
        let bands = bands(
            strip,
            movement,
            band_rows::<W>(movement.columns, movement.rows),
            head,
        );
        let pitch = movement.from_pitch;
        bands.into_par_iter().for_each(|(row, mut lines)| {
            band(
                isa,
                &input[row * pitch + first..],
                pitch,
                &mut lines,
                streaming,
            );
        });
    };
    if size_of_val(output) < PARALLEL_BYTES {
        let strips = output.chunks_mut(strip_words).enumerate();
        return strips.for_each(|(s, strip)| transpose_strip(s * W::STRIP_COLUMNS, strip));
    }
    // The columns before the first cache line of the rows go first, so that the strips begin with one.
    let before = if streaming {
        line_start(input, movement.from_pitch).min(movement.columns - 1)
    } else {
        0
    };
    let (first, rest) = output.split_at_mut(before * movement.to_pitch);
    if before > 0 {
        transpose_strip(0, first);
    }
    let strips = rest.par_chunks_mut(strip_words).enumerate();
    strips.for_each(|(s, strip)| transpose_strip(before + s * W::STRIP_COLUMNS, strip));
}

/// Rows of the input in a band: whole tiles, and few enough for all threads to have work.
fn band_rows<W: MachineWord>(columns: usize, rows: usize) -> usize {
    if columns * rows * size_of::<W>() < PARALLEL_BYTES {
        return rows;
    }
    let strips = columns.div_ceil(W::STRIP_COLUMNS);
    let bands = (TASKS_A_THREAD * rayon::current_num_threads()).div_ceil(strips);
    rows.div_ceil(bands).next_multiple_of(W::TILE_ROWS)
}

/// Cuts the rows of a strip of the output: for each band its first row of the input, and its part of every output row. The
/// first band has `head` rows more, so that the others begin with a cache line.
fn bands<'a, W>(
    strip: &'a mut [W],
    movement: &Movement,
    band: usize,
    head: usize,
) -> Vec<(usize, Vec<&'a mut [W]>)> {
    let Movement { rows, to_pitch, .. } = *movement;
    let lines = strip.len().div_ceil(to_pitch);
    let starts = std::iter::once(0).chain((band + head..rows).step_by(band));
    let mut bands: Vec<_> = starts.map(|row| (row, Vec::with_capacity(lines))).collect();
    for line in strip.chunks_mut(to_pitch) {
        let (first, rest) = line[..rows].split_at_mut(rows.min(band + head));
        for ((_, lines), part) in bands
            .iter_mut()
            .zip(std::iter::once(first).chain(rest.chunks_mut(band)))
        {
            lines.push(part);
        }
    }
    bands
}

/// Words before the first cache line in every row of a matrix; none where they are not as many in all.
fn line_start<W>(matrix: &[W], pitch: usize) -> usize {
    let is_common = (pitch * size_of::<W>()).is_multiple_of(LINE_BYTES);
    if is_common {
        matrix.as_ptr().addr().wrapping_neg() % LINE_BYTES / size_of::<W>()
    } else {
        0
    }
}

/// Transposes the first columns of `input`, whose rows are `pitch` apart, into `lines`, one each.
fn band<W: MachineWord>(
    isa: Isa,
    input: &[W],
    pitch: usize,
    lines: &mut [&mut [W]],
    streaming: bool,
) {
    let rows = lines.first().map_or(0, |line| line.len());
    if streaming && isa.turn(input, pitch, lines) {
        return isa.fence();
    }
    BUFFER.with_borrow_mut(|buffer| {
        buffer.resize(BUFFER_BYTES / size_of::<u64>(), 0);
        let skip = buffer
            .as_ptr()
            .align_offset(LINE_BYTES)
            .min(LINE_BYTES / size_of::<u64>());
        let buffer = cast_slice_mut(&mut buffer[skip..]);
        for at in (0..rows).step_by(W::TILE_ROWS) {
            let count = W::TILE_ROWS.min(rows - at);
            for (tile, lines) in lines.chunks_mut(W::TILE_COLUMNS).enumerate() {
                let words = &input[at * pitch + tile * W::TILE_COLUMNS..];
                isa.gather(
                    Tile {
                        words,
                        pitch,
                        columns: lines.len(),
                        rows: count,
                    },
                    buffer,
                );
                isa.scatter(buffer, W::BUFFER_PITCH, lines, at, count, streaming);
            }
        }
        isa.fence();
    });
}

/// The words of each line before its first whole cache line, if they are as many in all.
fn common_head<W>(lines: &[&mut [W]]) -> Option<usize> {
    let first = lines.first()?.as_ptr().addr() % LINE_BYTES;
    let head = (LINE_BYTES - first) % LINE_BYTES / size_of::<W>();
    lines
        .iter()
        .all(|line| line.as_ptr().addr() % LINE_BYTES == first && line.len() >= head)
        .then_some(head)
}

/// Transposes a tile into the buffer, square by square, so that the lines of a square stay in the nearest cache.
fn squares<W: MachineWord>(tile: Tile<W>, buffer: &mut [W]) {
    for r in (0..tile.rows).step_by(SQUARE) {
        for c in (0..tile.columns).step_by(SQUARE) {
            let columns = SQUARE.min(tile.columns - c);
            let rows = SQUARE.min(tile.rows - r);
            part(tile, c..c + columns, r..r + rows, buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_model::data::{Dtype, Fill, generate};
    use proptest::prelude::*;

    /// Sides around those of blocks and tiles.
    const SIDES: [usize; 14] = [1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 33, 127, 130, 257];

    /// Compares every instruction set with the plain loops on a matrix that starts `skip` words after where vectors
    /// start; nothing around the output may change.
    fn check<W: MachineWord + PartialEq + From<u32>>(
        columns: usize,
        rows: usize,
        skip: usize,
        streaming: bool,
    ) {
        let untouched = W::from(u32::MAX);
        let gap = skip % 3;
        let movement = Movement {
            rows,
            columns,
            from_pitch: columns + gap,
            to_pitch: rows + gap,
            transposed: true,
            times: 1,
            skip: 0,
        };
        let words: Vec<W> = (0..(movement.input_len() + skip) as u32)
            .map(W::from)
            .collect();
        let input = &words[skip..];
        let mut expected = vec![untouched; movement.output_len()];
        for (row, column) in (0..columns).flat_map(|row| (0..rows).map(move |column| (row, column)))
        {
            expected[row * movement.to_pitch + column] = input[movement.source(row, column)];
        }
        for isa in Isa::available() {
            let mut output = vec![untouched; expected.len() + 2 * skip];
            transpose(
                isa,
                input,
                &movement,
                &mut output[skip..][..expected.len()],
                streaming,
            );
            let (before, rest) = output.split_at(skip);
            let (inside, after) = rest.split_at(expected.len());
            assert!(
                inside == expected,
                "{isa:?} {columns} x {rows}, {skip} on, streaming: {streaming}"
            );
            assert!(
                before.iter().chain(after).all(|&word| word == untouched),
                "{isa:?} {columns} x {rows}"
            );
        }
    }

    fn pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap()
    }

    #[test]
    fn every_instruction_set_moves_every_word() {
        for columns in SIDES {
            for rows in SIDES {
                check::<u32>(columns, rows, 0, !cfg!(miri));
                check::<u64>(columns, rows, 0, !cfg!(miri));
            }
        }
    }

    #[test]
    fn lines_that_begin_at_the_same_row_hold_every_word() {
        // Each skip with a gap that makes up the same pitch, whole cache lines.
        for skip in 0..17 {
            for (columns, pitch) in [(70, 320), (16, 32), (1040, 64)] {
                check::<u32>(columns, pitch - skip % 3, skip, !cfg!(miri));
                check::<u64>(columns, pitch - skip % 3, skip, !cfg!(miri));
            }
        }
    }

    #[test]
    fn any_number_of_threads_moves_every_word() {
        for threads in [1, 2, 5] {
            pool(threads).install(|| {
                for (columns, rows) in [
                    (1024, 512),
                    (512, 1031),
                    (1, 70_001),
                    (70_001, 1),
                    (3, 40_009),
                    (40_009, 3),
                ] {
                    check::<u32>(columns, rows, 0, true);
                    check::<u64>(columns, rows, 0, false);
                }
            });
        }
    }

    #[test]
    fn every_type_keeps_every_bit() {
        for dtype in Dtype::ALL {
            let mut input = generate(Fill::Real, dtype, 1, 0, 0, 1_031 * 2_053);
            // Quiet and signalling NaNs, infinities and denormals among the rest.
            for (i, byte) in input
                .as_bytes_mut()
                .iter_mut()
                .enumerate()
                .filter(|(i, _)| i % 64 < 16)
            {
                *byte = if i % 64 < 8 {
                    0xff
                } else {
                    0x7f ^ (i % 2) as u8
                };
            }
            let [mut expected, mut output] = [0, 1].map(|_| Array::zeros(dtype, input.len()));
            let there = movement(Shape { n: 1_031, m: 2_053 }, &Params::new());
            there.carry_out(&input, &mut expected);
            all_threads(&input, &there, &mut output);
            assert!(output.as_bytes() == expected.as_bytes(), "{dtype}");
            all_threads(
                &expected,
                &movement(Shape { n: 2_053, m: 1_031 }, &Params::new()),
                &mut output,
            );
            assert!(output.as_bytes() == input.as_bytes(), "{dtype}");
        }
    }

    #[test]
    fn a_large_output_is_written_past_the_caches() {
        let side = 2_304;
        assert!(side * side * 4 >= STREAM_BYTES);
        let input = generate(Fill::Real, Dtype::I32, 1, 0, 0, side * side);
        let [mut expected, mut output] = [0, 1].map(|_| Array::zeros(Dtype::I32, input.len()));
        let square = movement(
            Shape {
                n: side as u64,
                m: side as u64,
            },
            &Params::new(),
        );
        square.carry_out(&input, &mut expected);
        all_threads(&input, &square, &mut output);
        assert!(output == expected);
    }

    #[test]
    fn nothing_has_a_transpose() {
        for (columns, rows) in [(0, 0), (0, 5), (5, 0)] {
            check::<u32>(columns, rows, 0, true);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
        #[test]
        fn any_shape_and_alignment(columns in 1usize..700, rows in 1usize..700, skip in 0usize..17, stream: bool) {
            check::<u32>(columns, rows, skip, stream);
            check::<u64>(columns, rows, skip, stream);
        }

        #[test]
        fn bands_cover_the_strip(columns in 1usize..40, rows in 1usize..400, band in 1usize..500, head in 0usize..17) {
            let mut strip: Vec<u32> = vec![0; columns * rows];
            let square = movement(Shape { n: columns as u64, m: rows as u64 }, &Params::new());
            for (row, lines) in bands(&mut strip, &square, band, head) {
                prop_assert!(lines.len() == columns && (row == 0 || row % band == head % band));
                lines.into_iter().for_each(|line| line.iter_mut().for_each(|word| *word += 1));
            }
            prop_assert!(strip.iter().all(|&word| word == 1));
        }
    }
}

//! The transposition's kernels for x86-64: blocks in vector registers, and stores past the caches.
#![allow(
    unsafe_code,
    reason = "intrinsics that take pointers, and functions for processors that have them"
)]

use super::transpose::{LINE_BYTES, MachineWord, Tile, part};
use bytemuck::Pod;
use std::arch::x86_64::*;
use std::ops::Range;

/// Transposes one block, a cache line wide, from rows `pitch` apart to rows `target_pitch` apart, which end there.
pub(super) trait Blocks: Pod {
    /// Four rows.
    ///
    /// # Safety
    ///
    /// The block is readable, its transpose writable, and the processor has AVX2.
    unsafe fn block_avx2(source: *const Self, pitch: usize, target: *mut Self, target_pitch: usize);
    /// As many rows as columns; each column goes to `put` in two halves, with its number.
    ///
    /// # Safety
    ///
    /// The block is readable, and the processor has AVX2.
    unsafe fn square_avx2(source: *const Self, pitch: usize, put: impl FnMut(usize, [__m256i; 2]));
}

/// Proof that the processor has AVX2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2(());

impl Avx2 {
    pub fn detect() -> Option<Avx2> {
        is_x86_feature_detected!("avx2").then_some(Avx2(()))
    }
}

/// Transposes a tile into the buffer: whole blocks in registers, the rest word by word.
pub(super) fn gather<W: MachineWord>(_: Avx2, tile: Tile<W>, buffer: &mut [W]) {
    let side = LINE_BYTES / size_of::<W>();
    let columns = tile.columns / side * side;
    let rows = tile.rows / BLOCK_ROWS * BLOCK_ROWS;
    if columns > 0 && rows > 0 {
        let source = tile.words[..(rows - 1) * tile.pitch + columns].as_ptr();
        let target = buffer[..(columns - 1) * W::BUFFER_PITCH + rows].as_mut_ptr();
        // SAFETY: the slices above end with the last words of the blocks, whose sides divide both counts; AVX2 is there.
        unsafe { blocks(source, tile.pitch, columns, rows, target) };
    }
    part(tile, 0..columns, rows..tile.rows, buffer);
    part(tile, columns..tile.columns, 0..tile.rows, buffer);
}

/// What [`turn`] has transposed: the first columns of some rows.
pub(super) struct Turned {
    pub rows: Range<usize>,
    pub columns: usize,
}

/// Transposes whole squares of `input`, whose rows are `pitch` apart, into lines, one for each column, past the caches;
/// [`fence`] makes them seen. What is left of the rows and columns stays as it is.
/// Panics if `head` words into a line no cache line begins.
pub(super) fn turn<W: MachineWord>(
    _: Avx2,
    input: &[W],
    pitch: usize,
    lines: &mut [&mut [W]],
    head: usize,
) -> Turned {
    let side = LINE_BYTES / size_of::<W>();
    let length = lines.iter().map(|line| line.len()).min().unwrap_or(0);
    let columns = lines.len() / side * side;
    let rows = head..length - (length - head) % side;
    assert!(
        lines
            .iter()
            .all(|line| line[head..].as_ptr().addr().is_multiple_of(LINE_BYTES))
    );
    if !rows.is_empty() && columns > 0 {
        // The last word of the squares is there.
        assert!((rows.end - 1) * pitch + columns <= input.len());
        // SAFETY: input and lines hold the squares, cache lines begin at `head`, and AVX2 is there.
        unsafe { squares(input.as_ptr(), pitch, &mut lines[..columns], rows.clone()) };
    }
    Turned { rows, columns }
}

/// Copies words, past the caches where they make up whole lines of the target; [`fence`] makes them seen.
#[inline]
pub(super) fn stream<W: Pod>(_: Avx2, source: &[W], target: &mut [W]) {
    let line_words = LINE_BYTES / size_of::<W>();
    // Words are aligned to their size, so that a line starts at one of them.
    let past = target.as_ptr().addr() % LINE_BYTES / size_of::<W>();
    let head = ((line_words - past) % line_words).min(target.len());
    let lines = (target.len() - head) / line_words;
    let tail = head + lines * line_words;
    copy_few(&source[..head], &mut target[..head]);
    let from = &source[head..tail];
    let to = &mut target[head..tail];
    // SAFETY: both are `lines` lines long, the target's start is a line's, and AVX2 is there.
    unsafe { copy_lines(from.as_ptr().cast(), to.as_mut_ptr().cast(), lines) };
    copy_few(&source[tail..target.len()], &mut target[tail..]);
}

/// Copies less than a line, mostly nothing: not worth a call.
#[inline]
fn copy_few<W: Pod>(source: &[W], target: &mut [W]) {
    if !target.is_empty() {
        target.copy_from_slice(source);
    }
}

/// Makes streamed lines visible to other threads before what this thread writes next.
pub(super) fn fence() {
    // SAFETY: every x86-64 processor has SSE.
    unsafe { _mm_sfence() };
}

/// Rows of a block: four fill half of a set of an 8-way cache where the pitch is a multiple of 4 KiB, and the other half
/// holds the rows that are fetched ahead.
const BLOCK_ROWS: usize = 4;

/// Transposes whole blocks, whose sides divide both counts, into rows that are [`MachineWord::BUFFER_PITCH`] apart.
#[target_feature(enable = "avx2")]
unsafe fn blocks<W: MachineWord>(
    source: *const W,
    pitch: usize,
    columns: usize,
    rows: usize,
    target: *mut W,
) {
    for r in (0..rows).step_by(4) {
        for c in (0..columns).step_by(LINE_BYTES / size_of::<W>()) {
            fetch::<_MM_HINT_T0, W>(source.wrapping_add((r + 4) * pitch + c), pitch, 4);
            // SAFETY: the caller promises every block of these counts.
            unsafe {
                let source = source.add(r * pitch + c);
                let target = target.add(c * W::BUFFER_PITCH + r);
                W::block_avx2(source, pitch, target, W::BUFFER_PITCH);
            }
        }
    }
}

/// Transposes whole squares of rows `pitch` apart straight into lines, past the caches: see [`turn`].
#[target_feature(enable = "avx2")]
unsafe fn squares<W: MachineWord>(
    source: *const W,
    pitch: usize,
    lines: &mut [&mut [W]],
    rows: Range<usize>,
) {
    for Square { r, c, below } in Square::all::<W>(rows, lines.len()) {
        let from = source.wrapping_add(r * pitch + c);
        fetch::<_MM_HINT_T1, W>(from.wrapping_add(STACKED * below * pitch), pitch, below);
        // SAFETY: the caller promises every square of these counts, and that lines are aligned.
        unsafe {
            W::square_avx2(from, pitch, |i, [low, high]| {
                let to: *mut __m256i = lines[c + i].as_mut_ptr().add(r).cast();
                _mm256_stream_si256(to, low);
                _mm256_stream_si256(to.add(1), high);
            });
        }
    }
}

/// Squares one below the other that are written before their neighbours: so each line gets two whole cache lines at a time.
const STACKED: usize = 2;

/// A square whose sides are a cache line of words.
struct Square {
    /// Its first row.
    r: usize,
    /// Its first column.
    c: usize,
    /// Rows of the square [`STACKED`] squares below, 0 if there is none. All columns of this stack are moved before it, which gives
    /// it the time to arrive in the L2 cache.
    below: usize,
}

impl Square {
    /// All of so many rows and columns: stacks of them along the rows.
    fn all<W>(rows: Range<usize>, columns: usize) -> impl Iterator<Item = Square> {
        let side = LINE_BYTES / size_of::<W>();
        let end = rows.end;
        let height = STACKED * side;
        rows.step_by(height)
            .flat_map(move |top| (0..columns).step_by(side).map(move |c| (top, c)))
            .flat_map(move |(top, c)| {
                (top..end.min(top + height))
                    .step_by(side)
                    .map(move |r| (r, c))
            })
            .map(move |(r, c)| Square {
                r,
                c,
                below: if r + height < end { side } else { 0 },
            })
    }
}

/// Asks for the cache lines of so many rows, `pitch` words apart: reading a few rows at a time, a processor sees no stream that it
/// would fetch ahead itself.
#[inline(always)]
fn fetch<const HINT: i32, W>(first: *const W, pitch: usize, rows: usize) {
    for row in 0..rows {
        // SAFETY: it reads nothing, so that any address will do.
        unsafe { _mm_prefetch::<HINT>(first.wrapping_add(row * pitch).cast()) };
    }
}

#[target_feature(enable = "avx2")]
unsafe fn copy_lines(source: *const u8, target: *mut u8, count: usize) {
    for i in 0..count {
        // SAFETY: the caller promises `count` lines on both sides; the target's are aligned, two vectors each.
        unsafe {
            let from: *const __m256i = source.add(i * LINE_BYTES).cast();
            let to: *mut __m256i = target.add(i * LINE_BYTES).cast();
            let low = _mm256_loadu_si256(from);
            let high = _mm256_loadu_si256(from.add(1));
            _mm256_stream_si256(to, low);
            _mm256_stream_si256(to.add(1), high);
        }
    }
}

impl Blocks for u32 {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn block_avx2(source: *const u32, pitch: usize, target: *mut u32, target_pitch: usize) {
        for c in [0, 8] {
            // SAFETY: rows of the block, 16 words long.
            let columns = quads_avx2(unsafe { four_rows(source.add(c), pitch) });
            for (i, column) in columns.into_iter().enumerate() {
                // SAFETY: rows of the transpose, 4 words long.
                unsafe {
                    let low = _mm256_castsi256_si128(column);
                    let high = _mm256_extracti128_si256::<1>(column);
                    _mm_storeu_si128(target.add((c + i) * target_pitch).cast(), low);
                    _mm_storeu_si128(target.add((c + i + 4) * target_pitch).cast(), high);
                }
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn square_avx2(
        source: *const u32,
        pitch: usize,
        mut put: impl FnMut(usize, [__m256i; 2]),
    ) {
        for c in [0, 8] {
            let mut quads = [[_mm256_setzero_si256(); 4]; 4];
            for (q, quad) in quads.iter_mut().enumerate() {
                // SAFETY: rows of the square, 16 words long.
                *quad = quads_avx2(unsafe { four_rows(source.add(4 * q * pitch + c), pitch) });
            }
            let [a, b, below, last] = quads;
            for i in 0..4 {
                let low = _mm256_permute2x128_si256::<0x20>(a[i], b[i]);
                let high = _mm256_permute2x128_si256::<0x20>(below[i], last[i]);
                put(c + i, [low, high]);
                let low = _mm256_permute2x128_si256::<0x31>(a[i], b[i]);
                let high = _mm256_permute2x128_si256::<0x31>(below[i], last[i]);
                put(c + 4 + i, [low, high]);
            }
        }
    }
}

impl Blocks for u64 {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn block_avx2(source: *const u64, pitch: usize, target: *mut u64, target_pitch: usize) {
        for c in [0, 4] {
            // SAFETY: rows of the block, 8 words long.
            let columns = square_avx2(unsafe { four_rows(source.add(c), pitch) });
            for (i, column) in columns.into_iter().enumerate() {
                // SAFETY: rows of the transpose, 4 words long.
                unsafe { _mm256_storeu_si256(target.add((c + i) * target_pitch).cast(), column) };
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn square_avx2(
        source: *const u64,
        pitch: usize,
        mut put: impl FnMut(usize, [__m256i; 2]),
    ) {
        for c in [0, 4] {
            // SAFETY: rows of the square, 8 words long.
            let above = square_avx2(unsafe { four_rows(source.add(c), pitch) });
            // SAFETY: the same.
            let below = square_avx2(unsafe { four_rows(source.add(4 * pitch + c), pitch) });
            for i in 0..4 {
                put(c + i, [above[i], below[i]]);
            }
        }
    }
}

/// A vector of each of four rows, `pitch` words apart. Loads stand one by one: a closure that iterators call has no AVX2 of
/// theirs to be inlined into.
///
/// # Safety
///
/// The vectors are readable, and the processor has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn four_rows<W>(source: *const W, pitch: usize) -> [__m256i; 4] {
    // SAFETY: the caller promises the rows.
    unsafe {
        [
            _mm256_loadu_si256(source.cast()),
            _mm256_loadu_si256(source.add(pitch).cast()),
            _mm256_loadu_si256(source.add(2 * pitch).cast()),
            _mm256_loadu_si256(source.add(3 * pitch).cast()),
        ]
    }
}

/// Four rows of eight 32-bit words: vector i holds in its lane l the four words of column 4 l + i.
#[inline]
#[target_feature(enable = "avx2")]
fn quads_avx2([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    let ab = _mm256_unpacklo_epi32(a, b);
    let ab_high = _mm256_unpackhi_epi32(a, b);
    let cd = _mm256_unpacklo_epi32(c, d);
    let cd_high = _mm256_unpackhi_epi32(c, d);
    [
        _mm256_unpacklo_epi64(ab, cd),
        _mm256_unpackhi_epi64(ab, cd),
        _mm256_unpacklo_epi64(ab_high, cd_high),
        _mm256_unpackhi_epi64(ab_high, cd_high),
    ]
}

/// Four rows of four 64-bit words, transposed.
#[inline]
#[target_feature(enable = "avx2")]
fn square_avx2([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    let ab = _mm256_unpacklo_epi64(a, b);
    let ab_high = _mm256_unpackhi_epi64(a, b);
    let cd = _mm256_unpacklo_epi64(c, d);
    let cd_high = _mm256_unpackhi_epi64(c, d);
    [
        _mm256_permute2x128_si256::<0x20>(ab, cd),
        _mm256_permute2x128_si256::<0x20>(ab_high, cd_high),
        _mm256_permute2x128_si256::<0x31>(ab, cd),
        _mm256_permute2x128_si256::<0x31>(ab_high, cd_high),
    ]
}

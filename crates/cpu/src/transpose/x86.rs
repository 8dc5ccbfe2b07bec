//! The transposition's kernels for x86-64: blocks in vector registers, and stores past the caches.
#![allow(unsafe_code, reason = "intrinsics that take pointers, and functions for processors that have them")]

use super::words::{Blocks, LINE_BYTES, Tile, Word, part};
use bytemuck::Pod;
use std::arch::x86_64::*;
use std::ops::Range;

/// Proof that the processor has AVX2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2(());

/// Proof that the processor has AVX-512F.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512(());

impl Avx2 {
    pub(super) fn detect() -> Option<Avx2> {
        is_x86_feature_detected!("avx2").then_some(Avx2(()))
    }
}

impl Avx512 {
    pub(super) fn detect() -> Option<Avx512> {
        is_x86_feature_detected!("avx512f").then_some(Avx512(()))
    }
}

/// Loops over whole blocks and lines, compiled for one set of instructions.
pub(super) trait VectorLoops: Copy {
    /// Rows of a block of 32-bit and of 64-bit words; its columns fill a cache line.
    fn block_rows<W>(self) -> usize;
    /// Transposes whole blocks; see [`Blocks`].
    ///
    /// # Safety
    ///
    /// `columns` and `rows` are multiples of the block's sides, the source holds `rows` rows of `columns` words that
    /// are `pitch` apart, and the target `columns` rows of `rows` words that are [`Word::BUFFER_PITCH`] apart.
    unsafe fn blocks<W: Word>(self, source: *const W, pitch: usize, columns: usize, rows: usize, target: *mut W);
    /// Transposes squares straight into lines, past the caches.
    ///
    /// # Safety
    ///
    /// The source has `rows.end` rows that are `pitch` apart, with as many columns as there are lines; both counts, of
    /// rows and of lines, are multiples of a square's side; in every line a cache line begins at `rows.start`.
    unsafe fn squares<W: Word>(self, source: *const W, pitch: usize, lines: &mut [&mut [W]], rows: Range<usize>);
    /// Copies lines past the caches.
    ///
    /// # Safety
    ///
    /// Source and target hold `count` lines, and the target is aligned to a line.
    unsafe fn lines(self, source: *const u8, target: *mut u8, count: usize);
}

/// Transposes a tile into the buffer: whole blocks in registers, the rest word by word.
pub(super) fn gather<W: Word>(simd: impl VectorLoops, tile: Tile<W>, buffer: &mut [W]) {
    let side = LINE_BYTES / size_of::<W>();
    let columns = tile.columns / side * side;
    let rows = tile.rows / simd.block_rows::<W>() * simd.block_rows::<W>();
    if columns > 0 && rows > 0 {
        let source = tile.words[..(rows - 1) * tile.pitch + columns].as_ptr();
        let target = buffer[..(columns - 1) * W::BUFFER_PITCH + rows].as_mut_ptr();
        // SAFETY: the slices above end with the last words of the blocks, whose sides divide both counts.
        unsafe { simd.blocks(source, tile.pitch, columns, rows, target) };
    }
    part(tile, 0..columns, rows..tile.rows, buffer);
    part(tile, columns..tile.columns, 0..tile.rows, buffer);
}

/// What [`turn`] has transposed: the first columns of some rows.
pub(super) struct Turned {
    pub(super) rows: Range<usize>,
    pub(super) columns: usize,
}

/// Transposes whole squares of `input`, whose rows are `pitch` apart, into lines, one for each column, past the caches;
/// [`fence`] makes them seen. What is left of the rows and columns stays as it is.
/// Panics if `head` words into a line no cache line begins.
pub(super) fn turn<W: Word>(
    simd: impl VectorLoops,
    input: &[W],
    pitch: usize,
    lines: &mut [&mut [W]],
    head: usize,
) -> Turned {
    let side = LINE_BYTES / size_of::<W>();
    let length = lines.iter().map(|line| line.len()).min().unwrap_or(0);
    let columns = lines.len() / side * side;
    let rows = head..length - (length - head) % side;
    assert!(lines.iter().all(|line| line[head..].as_ptr().addr().is_multiple_of(LINE_BYTES)));
    if !rows.is_empty() && columns > 0 {
        // The last word of the squares is there.
        assert!((rows.end - 1) * pitch + columns <= input.len());
        // SAFETY: input and lines hold the squares, and cache lines begin at `head`.
        unsafe { simd.squares(input.as_ptr(), pitch, &mut lines[..columns], rows.clone()) };
    }
    Turned { rows, columns }
}

/// Copies words, past the caches where they make up whole lines of the target; [`fence`] makes them seen.
#[inline]
pub(super) fn stream<W: Pod>(simd: impl VectorLoops, source: &[W], target: &mut [W]) {
    let line_words = LINE_BYTES / size_of::<W>();
    // Words are aligned to their size, so that a line starts at one of them.
    let past = target.as_ptr().addr() % LINE_BYTES / size_of::<W>();
    let head = ((line_words - past) % line_words).min(target.len());
    let lines = (target.len() - head) / line_words;
    let tail = head + lines * line_words;
    copy_few(&source[..head], &mut target[..head]);
    let from = &source[head..tail];
    let to = &mut target[head..tail];
    // SAFETY: both are `lines` lines long, and the target's start is a line's.
    unsafe { simd.lines(from.as_ptr().cast(), to.as_mut_ptr().cast(), lines) };
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

impl VectorLoops for Avx2 {
    /// Four rows, which fill half of a set of an 8-way cache where the pitch is a multiple of 4 KiB: the other half
    /// holds the rows that are fetched ahead.
    fn block_rows<W>(self) -> usize {
        4
    }
    #[inline]
    unsafe fn blocks<W: Word>(self, source: *const W, pitch: usize, columns: usize, rows: usize, target: *mut W) {
        // SAFETY: the caller's promise, and AVX2 is there: `self` proves it.
        unsafe { blocks_avx2(source, pitch, columns, rows, target) };
    }
    #[inline]
    unsafe fn squares<W: Word>(self, source: *const W, pitch: usize, lines: &mut [&mut [W]], rows: Range<usize>) {
        // SAFETY: the caller's promise, and AVX2 is there: `self` proves it.
        unsafe { squares_avx2(source, pitch, lines, rows) };
    }
    #[inline]
    unsafe fn lines(self, source: *const u8, target: *mut u8, count: usize) {
        // SAFETY: the caller's promise, and AVX2 is there: `self` proves it.
        unsafe { lines_avx2(source, target, count) };
    }
}

impl VectorLoops for Avx512 {
    /// Square blocks: every load takes a whole line, which need not stay in the nearest cache.
    fn block_rows<W>(self) -> usize {
        LINE_BYTES / size_of::<W>()
    }
    #[inline]
    unsafe fn blocks<W: Word>(self, source: *const W, pitch: usize, columns: usize, rows: usize, target: *mut W) {
        // SAFETY: the caller's promise, and AVX-512F is there: `self` proves it.
        unsafe { blocks_avx512(source, pitch, columns, rows, target) };
    }
    #[inline]
    unsafe fn squares<W: Word>(self, source: *const W, pitch: usize, lines: &mut [&mut [W]], rows: Range<usize>) {
        // SAFETY: the caller's promise, and AVX-512F is there: `self` proves it.
        unsafe { squares_avx512(source, pitch, lines, rows) };
    }
    #[inline]
    unsafe fn lines(self, source: *const u8, target: *mut u8, count: usize) {
        // SAFETY: the caller's promise, and AVX-512F is there: `self` proves it.
        unsafe { lines_avx512(source, target, count) };
    }
}

#[target_feature(enable = "avx2")]
unsafe fn blocks_avx2<W: Word>(source: *const W, pitch: usize, columns: usize, rows: usize, target: *mut W) {
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

#[target_feature(enable = "avx512f")]
unsafe fn blocks_avx512<W: Word>(source: *const W, pitch: usize, columns: usize, rows: usize, target: *mut W) {
    let side = LINE_BYTES / size_of::<W>();
    for r in (0..rows).step_by(side) {
        for c in (0..columns).step_by(side) {
            fetch::<_MM_HINT_T1, W>(source.wrapping_add((r + side) * pitch + c), pitch, side);
            // SAFETY: the caller promises every block of these counts.
            unsafe {
                let source = source.add(r * pitch + c);
                let target = target.add(c * W::BUFFER_PITCH + r);
                W::block_avx512(source, pitch, |i, column| {
                    _mm512_storeu_si512(target.add(i * W::BUFFER_PITCH).cast(), column);
                });
            }
        }
    }
}

/// Transposes whole squares of rows `pitch` apart straight into lines, past the caches: see [`turn`].
#[target_feature(enable = "avx2")]
unsafe fn squares_avx2<W: Word>(source: *const W, pitch: usize, lines: &mut [&mut [W]], rows: Range<usize>) {
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

/// Transposes whole squares of rows `pitch` apart straight into lines, past the caches: see [`turn`].
#[target_feature(enable = "avx512f")]
unsafe fn squares_avx512<W: Word>(source: *const W, pitch: usize, lines: &mut [&mut [W]], rows: Range<usize>) {
    for Square { r, c, below } in Square::all::<W>(rows, lines.len()) {
        let from = source.wrapping_add(r * pitch + c);
        fetch::<_MM_HINT_T1, W>(from.wrapping_add(STACKED * below * pitch), pitch, below);
        // SAFETY: the caller promises every square of these counts, and that lines are aligned.
        unsafe {
            W::block_avx512(from, pitch, |i, column| {
                _mm512_stream_si512(lines[c + i].as_mut_ptr().add(r).cast(), column);
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
        let stack = move |top: usize, c: usize| (top..end.min(top + height)).step_by(side).map(move |r| (r, c));
        rows.step_by(height)
            .flat_map(move |top| (0..columns).step_by(side).flat_map(move |c| stack(top, c)))
            .map(move |(r, c)| Square { r, c, below: if r + height < end { side } else { 0 } })
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
unsafe fn lines_avx2(source: *const u8, target: *mut u8, count: usize) {
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

#[target_feature(enable = "avx512f")]
unsafe fn lines_avx512(source: *const u8, target: *mut u8, count: usize) {
    for i in 0..count {
        // SAFETY: the caller promises `count` lines on both sides; the target's are aligned, one vector each.
        unsafe {
            let value = _mm512_loadu_si512(source.add(i * LINE_BYTES).cast());
            _mm512_stream_si512(target.add(i * LINE_BYTES).cast(), value);
        }
    }
}

impl Blocks for u32 {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn block_avx2(source: *const u32, pitch: usize, target: *mut u32, target_pitch: usize) {
        for c in [0, 8] {
            // SAFETY: rows of the block, 16 words long.
            let row = |r: usize| unsafe { _mm256_loadu_si256(source.add(r * pitch + c).cast()) };
            let columns = quads_avx2([row(0), row(1), row(2), row(3)]);
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
    unsafe fn square_avx2(source: *const u32, pitch: usize, mut put: impl FnMut(usize, [__m256i; 2])) {
        for c in [0, 8] {
            // SAFETY: rows of the square, 16 words long.
            let row = |r: usize| unsafe { _mm256_loadu_si256(source.add(r * pitch + c).cast()) };
            let quads = |r| quads_avx2([row(r), row(r + 1), row(r + 2), row(r + 3)]);
            let halves = [[quads(0), quads(4)], [quads(8), quads(12)]];
            for i in 0..4 {
                put(c + i, halves.map(|[a, b]| _mm256_permute2x128_si256::<0x20>(a[i], b[i])));
                put(c + 4 + i, halves.map(|[a, b]| _mm256_permute2x128_si256::<0x31>(a[i], b[i])));
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn block_avx512(source: *const u32, pitch: usize, mut put: impl FnMut(usize, __m512i)) {
        // SAFETY: rows of the block, 16 words long.
        let row = |r: usize| unsafe { _mm512_loadu_si512(source.add(r * pitch).cast()) };
        let quads = |r| quads_avx512([row(r), row(r + 1), row(r + 2), row(r + 3)]);
        let a = quads(0);
        let b = quads(4);
        let c = quads(8);
        let d = quads(12);
        for i in 0..4 {
            let columns = lanes_avx512([a[i], b[i], c[i], d[i]]);
            columns.into_iter().enumerate().for_each(|(lane, column)| put(4 * lane + i, column));
        }
    }
}

impl Blocks for u64 {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn block_avx2(source: *const u64, pitch: usize, target: *mut u64, target_pitch: usize) {
        for c in [0, 4] {
            // SAFETY: rows of the block, 8 words long.
            let row = |r: usize| unsafe { _mm256_loadu_si256(source.add(r * pitch + c).cast()) };
            let columns = square_avx2([row(0), row(1), row(2), row(3)]);
            for (i, column) in columns.into_iter().enumerate() {
                // SAFETY: rows of the transpose, 4 words long.
                unsafe { _mm256_storeu_si256(target.add((c + i) * target_pitch).cast(), column) };
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn square_avx2(source: *const u64, pitch: usize, mut put: impl FnMut(usize, [__m256i; 2])) {
        for c in [0, 4] {
            // SAFETY: rows of the square, 8 words long.
            let row = |r: usize| unsafe { _mm256_loadu_si256(source.add(r * pitch + c).cast()) };
            let columns = |r| square_avx2([row(r), row(r + 1), row(r + 2), row(r + 3)]);
            let above = columns(0);
            let below = columns(4);
            (0..4).for_each(|i| put(c + i, [above[i], below[i]]));
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn block_avx512(source: *const u64, pitch: usize, mut put: impl FnMut(usize, __m512i)) {
        // SAFETY: rows of the block, 8 words long.
        let row = |r: usize| unsafe { _mm512_loadu_si512(source.add(r * pitch).cast()) };
        let pairs = |r| [_mm512_unpacklo_epi64(row(r), row(r + 1)), _mm512_unpackhi_epi64(row(r), row(r + 1))];
        let a = pairs(0);
        let b = pairs(2);
        let c = pairs(4);
        let d = pairs(6);
        for i in 0..2 {
            let columns = lanes_avx512([a[i], b[i], c[i], d[i]]);
            columns.into_iter().enumerate().for_each(|(lane, column)| put(2 * lane + i, column));
        }
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

/// Four rows of sixteen 32-bit words: vector i holds in its lane l the four words of column 4 l + i.
#[inline]
#[target_feature(enable = "avx512f")]
fn quads_avx512([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let ab = _mm512_unpacklo_epi32(a, b);
    let ab_high = _mm512_unpackhi_epi32(a, b);
    let cd = _mm512_unpacklo_epi32(c, d);
    let cd_high = _mm512_unpackhi_epi32(c, d);
    [
        _mm512_unpacklo_epi64(ab, cd),
        _mm512_unpackhi_epi64(ab, cd),
        _mm512_unpacklo_epi64(ab_high, cd_high),
        _mm512_unpackhi_epi64(ab_high, cd_high),
    ]
}

/// Four rows of four 128-bit lanes, transposed.
#[inline]
#[target_feature(enable = "avx512f")]
fn lanes_avx512([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    // The even lanes of two rows, and the odd ones.
    let ab = _mm512_shuffle_i32x4::<0x88>(a, b);
    let ab_odd = _mm512_shuffle_i32x4::<0xdd>(a, b);
    let cd = _mm512_shuffle_i32x4::<0x88>(c, d);
    let cd_odd = _mm512_shuffle_i32x4::<0xdd>(c, d);
    [
        _mm512_shuffle_i32x4::<0x88>(ab, cd),
        _mm512_shuffle_i32x4::<0x88>(ab_odd, cd_odd),
        _mm512_shuffle_i32x4::<0xdd>(ab, cd),
        _mm512_shuffle_i32x4::<0xdd>(ab_odd, cd_odd),
    ]
}

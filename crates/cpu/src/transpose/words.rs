//! Elements as a transposition sees them, and the tiles that are made of them.

#[cfg(not(target_arch = "x86_64"))]
use bytemuck::Pod as Blocks;
#[cfg(target_arch = "x86_64")]
use bytemuck::Pod;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m256i, __m512i};

/// Bytes of one input row that a tile reads: 256 words of 32 bits.
pub(super) const READ_BYTES: usize = 1024;

/// Bytes of one input row that a strip of tiles reads.
pub(super) const STRIP_BYTES: usize = 2048;

/// Bytes of one output row that a tile writes: 128 words of 32 bits.
pub(super) const WRITE_BYTES: usize = 512;

pub(super) const LINE_BYTES: usize = 64;

/// An element as a transposition sees it: bits to be moved.
#[cfg_attr(target_arch = "x86_64", expect(private_bounds, reason = "only this module adds words"))]
pub trait Word: Blocks + Send + Sync {
    const STRIP_COLUMNS: usize = STRIP_BYTES / size_of::<Self>();
    const TILE_COLUMNS: usize = READ_BYTES / size_of::<Self>();
    const TILE_ROWS: usize = WRITE_BYTES / size_of::<Self>();
    /// Words from one row of the buffer to the next: not a power of two, whose rows would share the cache's sets.
    const BUFFER_PITCH: usize = (WRITE_BYTES + LINE_BYTES) / size_of::<Self>();
}

impl Word for u32 {}
impl Word for u64 {}

#[derive(Clone, Copy)]
pub(super) struct Tile<'a, W> {
    /// The matrix from the tile's first word on.
    pub(super) words: &'a [W],
    /// Words from one row to the next.
    pub(super) pitch: usize,
    pub(super) columns: usize,
    pub(super) rows: usize,
}

/// Transposes one block, a cache line wide, from rows `pitch` apart to rows `target_pitch` apart, which end there.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "functions for processors that have the instructions")]
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
    /// As many rows as columns; each column goes to `put`, with its number.
    ///
    /// # Safety
    ///
    /// The block is readable, and the processor has AVX-512F.
    unsafe fn block_avx512(source: *const Self, pitch: usize, put: impl FnMut(usize, __m512i));
}

#[inline(always)]
pub(super) fn part<W: Word>(
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

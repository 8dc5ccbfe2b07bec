//! The settings of the transposition's rungs.

use crate::Tunable;
use gpulab_cpu::transpose as host;
use gpulab_model::plan::REPEATS;

pub(super) const TILE: Tunable = Tunable::number(
    "tile",
    "rows and columns of a tile; of wide, rows of a strip",
    (1, 1 << 16),
    "16 32 64",
)
.by_default(
    "as wide as a two-dimensional --wg says, else 32; vectorised: 64, registers: 64, of 8-byte elements 32, wide: 256",
);
pub(super) const RUN: Tunable =
    Tunable::number("run", "elements read from a row before the next rows", (16, 1 << 16), "64 128 256 512 1024")
        .by_default("128; on a CPU device as many as fill 2048 bytes");
pub(super) const ROWS: Tunable = Tunable::number(
    "rows",
    "rows of a tile that a work-item takes, which decides the work-group size",
    (1, 1024),
    "1 2 4 8 16",
)
.by_default("what --wg leaves for each; registers has its own");
pub(super) const PAD: Tunable =
    Tunable::number("pad", "unused elements behind each row of a tile", (0, 64), "0 1 2 4").by_default("1");
pub(super) const VEC: Tunable =
    Tunable::choice("vec", "rows and columns of the blocks that a work-item transposes in registers", "1 2 4")
        .by_default("by the sizes");
pub(super) const ORDER: Tunable = Tunable::choice(
    "order",
    "how the tiles of neighbouring groups lie: along rows, down columns, along diagonals",
    "rows columns diagonal",
)
.by_default("rung diagonal: diagonal; other rungs: columns");
pub(super) const STREAM: Tunable =
    Tunable::switch("stream", "1: bypass the L1 cache with NVIDIA's 16-byte instructions")
        .by_default("1 where the device can");
pub(super) const SKEW: Tunable = Tunable::switch(
    "skew",
    "1: each output row of a tile begins at an aligned vector, 0: all begin at the same element",
)
.by_default("1 on NVIDIA for over 8 MiB in rows of odd length, unless vec, rows or stream are given");
pub(super) const NREPS: Tunable = Tunable::number(
    REPEATS,
    "times that the kernel repeats its work inside (--loop inside)",
    (1, MOST_NREPS),
    "1 2 10 100",
)
.by_default("10")
.unsearched();
pub(super) const GAP: Tunable = Tunable::number(
    host::GAP,
    "unused elements behind each row of both matrices: the pitch is the width and the gap",
    (0, MOST_GAP),
    "0 32",
)
.by_default("0");

/// Most unused elements behind a row.
pub(super) const MOST_GAP: u64 = 1 << 20;

/// Most repetitions inside a kernel: no launch may take for ever.
pub const MOST_NREPS: u64 = 10_000;

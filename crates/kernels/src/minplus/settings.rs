//! The settings of the min-plus ladder.

use crate::Tunable;
use gpulab_cpu::minplus::Semiring;

/// The choice of [`super::FAMILY`] that says whether weights may be negative.
pub const WEIGHTS: Tunable = Tunable::choice(
    "weights",
    "the edges' weights: at least 0; of either sign (three_way then compares floats); or whole, from 0 to 8191 \
     (three_way packs two per word in i32)",
    "non_negative signed small",
)
.by_default("non_negative");
/// The choice of [`super::FAMILY`] that says what takes the place of minimum and sum.
pub const SEMIRING: Tunable = Tunable::choice(
    Semiring::NAME,
    "in place of minimum and sum: shortest, longest or widest paths, or reachability",
    Semiring::VALUES,
)
.by_default("min_plus");
pub(super) const DEPTH: Tunable = Tunable::number("depth", "rows of a panel staged at once", (1, 1024), "4 8 16 32")
    .by_default("local: 8, wide: 256, else by the size");
pub(super) const BLOCK: Tunable =
    Tunable::number("block", "nodes that a step of the closure lets paths pass", (32, 1024), "64 128 256")
        .by_default("128; of blocked in f64 or on a CPU 64");
pub(super) const TILE: Tunable =
    Tunable::pair("tile", "results of a work-group, rows x columns", "64x64 128x64 128x128 256x128")
        .by_default("by the size");
pub(super) const ITEM: Tunable = Tunable::pair(
    "item",
    "results of a work-item, rows x columns; of wide rows x vectors",
    "4x2 6x2 8x2 4x4 8x4 8x8 16x8",
)
.by_default("by the device");
pub(super) const BUFFERS: Tunable =
    Tunable::number("buffers", "pairs of panels in local memory; 2 is double buffering", (1, 2), "1 2").by_default("2");
pub(super) const SPLIT: Tunable =
    Tunable::number("split", "work-groups that share the k of a tile's results", (1, 64), "1 2 4")
        .by_default("by the size");
pub(super) const ASYNC: Tunable = Tunable::switch(
    "async",
    "1: asynchronous copies to local memory (NVIDIA since Ampere), 0: copies through registers",
)
.by_default("1 where the device can");
pub(super) const PACKED: Tunable =
    Tunable::switch("packed", "1: with --weights small in i32, two lengths a word, 0: one").by_default("1");
pub(super) const VEC: Tunable =
    Tunable::choice("vec", "elements of a vector", "2 4 8 16").by_default("the device's own");

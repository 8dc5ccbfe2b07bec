//! Wrong shortest distances.

use super::mutant::{Mutant, kernel};
use gpulab::data::Dtype::{F64, I32};

const SQUARING: &str = "closure/squaring";
const TEXTBOOK: &str = "closure/textbook";
const BLOCKED: &str = "closure/blocked";
const WIDE: &str = "closure/blocked_wide";

const STAGES: &str = "minplus/stages.cl";
const PANELS: &str = "closure/panels.cl";
const PIVOT: &str = "closure/pivot.cl";
const PADDED: &str = "closure/padded.cl";

pub const MUTANTS: &[Mutant] = &[
    // A node that no path passes, or an end that none has.
    kernel(
        TEXTBOOK,
        "no path passes node 3",
        "i != k &&",
        "k != 3 && i != k &&",
    ),
    kernel(
        TEXTBOOK,
        "lowers all rows but the last",
        "if (i < n &&",
        "if (i + 1 < n &&",
    ),
    kernel(
        TEXTBOOK,
        "a stop costs 1",
        "d[i * n + k] + d[k * n + j]",
        "d[i * n + k] + d[k * n + j] + 1",
    )
    .dtype(I32),
    kernel(
        SQUARING,
        "leaves out the last stage of a block",
        "if (first >= end)",
        "if (first + DEPTH >= end)",
    )
    .file_is(STAGES),
    kernel(
        BLOCKED,
        "leaves out the last stage of a block",
        "if (first >= end)",
        "if (first + DEPTH >= end)",
    )
    .file_is(STAGES),
    kernel(
        BLOCKED,
        "forgets the paths there were",
        "INITIAL(((const T *)&v)[e])",
        "NONE",
    ),
    kernel(
        BLOCKED,
        "the pivot's last nodes are not passed",
        "k < SIDE; k++",
        "k + 1 < SIDE; k++",
    )
    .file_is(PIVOT),
    kernel(
        BLOCKED,
        "the pivot shows one part's rows",
        "= best[part][j];",
        "= best[0][j];",
    )
    .file_is(PIVOT),
    kernel(
        WIDE,
        "the pivot takes ways back",
        "block[i * pitch + k]",
        "block[k * pitch + i]",
    ),
    kernel(
        WIDE,
        "leaves out the last node of a block",
        "k < BLOCK; k++)\n        LOWER",
        "k + 1 < BLOCK; k++)\n        LOWER",
    ),
    kernel(
        WIDE,
        "leaves out an item's last strip",
        "t < min(left + wide, right)",
        "t + 1 < min(left + wide, right)",
    ),
    // Panels and padding.
    kernel(
        BLOCKED,
        "columns hold their pairs as rows do",
        "+ y % 2] = tile",
        "+ (y + 1) % 2] = tile",
    )
    .file_is(PANELS),
    kernel(
        BLOCKED,
        "columns are not turned",
        "= tile[x][y]",
        "= tile[y][x]",
    )
    .file_is(PANELS)
    .dtype(F64),
    kernel(
        WIDE,
        "strips of rows begin a node late",
        "first + k];\n}",
        "first + (k + 1) % BLOCK];\n}",
    ),
    kernel(BLOCKED, "pads with 0", ": NO_EDGE;", ": 0;").file_is(PADDED),
    kernel(WIDE, "pads with 0", ": NO_EDGE;", ": 0;")
        .file_is(PADDED)
        .dtype(I32),
    kernel(
        WIDE,
        "gives the distances back",
        "= d[i * pitch + j];\n}",
        "= d[j * pitch + i];\n}",
    )
    .file_is(PADDED),
];

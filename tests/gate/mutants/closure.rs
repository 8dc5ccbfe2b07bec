//! Wrong shortest distances.

use super::mutant::{Mutant, kernel};
use gpulab::data::Dtype::{F64, I32};

const SQUARING: &str = "closure/squaring";
const SETTLING: &str = "closure/settling";
const TEXTBOOK: &str = "closure/textbook";
const BLOCKED: &str = "closure/blocked";
const OVERLAPPED: &str = "closure/overlapped";
const WIDE: &str = "closure/blocked_wide";

const TILES: &str = "closure/blocked.cl";
const PANELS: &str = "closure/panels.cl";
const PIVOT: &str = "closure/pivot.cl";
const PADDED: &str = "closure/padded.cl";

pub const MUTANTS: &[Mutant] = &[
    // A node that no path passes, or an end that none has.
    kernel(TEXTBOOK, "no path passes node 3", &[("i != k &&", "k != 3 && i != k &&")]),
    kernel(TEXTBOOK, "lowers all rows but the last", &[("if (i < n &&", "if (i + 1 < n &&")]),
    kernel(TEXTBOOK, "a stop costs 1", &[("JOIN(d[i * n + k], d[k * n + j])", "JOIN(d[i * n + k], d[k * n + j]) + 1")])
        .dtype(I32),
    kernel(SQUARING, "leaves out the last stage of a block", &[("if (first >= BLOCK)", "if (first + DEPTH >= BLOCK)")])
        .file_is(TILES),
    kernel(BLOCKED, "leaves out the last stage of a block", &[("if (first >= BLOCK)", "if (first + DEPTH >= BLOCK)")]),
    kernel(BLOCKED, "forgets the paths there were", &[("INITIAL(((const T *)&v)[e])", "NONE")]),
    kernel(BLOCKED, "the pivot's last nodes are not passed", &[("k < SIDE; k++", "k + 1 < SIDE; k++")]).file_is(PIVOT),
    kernel(BLOCKED, "the pivot shows one part's rows", &[("= best[part][j];", "= best[0][j];")]).file_is(PIVOT),
    kernel(
        OVERLAPPED,
        "closes no pivot but the first",
        &[("if (left == pivot && top == pivot)", "if (left + 1 == pivot)")],
    ),
    kernel(OVERLAPPED, "half of a pivot's nodes are not passed", &[("k < BLOCK; k++", "k < BLOCK / 2; k++")]),
    kernel(OVERLAPPED, "a pivot's last node is not passed", &[("k < BLOCK; k++", "k + 1 < BLOCK; k++")])
        .equivalent("the launches of its rows and columns join the pivot's own paths once more"),
    kernel(
        OVERLAPPED,
        "shows a column as a row",
        &[("row[now + COLUMN_OF(j, RUN)] = lengths", "row[now + ROW_OF(i, RUN)] = lengths")],
    ),
    kernel(
        OVERLAPPED,
        "some groups take the same tile",
        &[("% get_num_groups(1) * TILE_ROWS", "% (get_num_groups(1) + 1) / 2 * TILE_ROWS")],
    ),
    kernel(WIDE, "the pivot takes ways back", &[("block[i * pitch + k]", "block[k * pitch + i]")]),
    kernel(
        WIDE,
        "leaves out the last node of a block",
        &[("k < BLOCK; k++)\n        LOWER", "k + 1 < BLOCK; k++)\n        LOWER")],
    ),
    kernel(
        WIDE,
        "leaves out an item's last strip",
        &[("t < min(left + wide, right)", "t + 1 < min(left + wide, right)")],
    ),
    // Panels and padding.
    kernel(BLOCKED, "columns hold their pairs as rows do", &[("+ y % 2] = tile", "+ (y + 1) % 2] = tile")])
        .file_is(PANELS),
    kernel(BLOCKED, "columns are not turned", &[("= tile[x][y]", "= tile[y][x]")]).file_is(PANELS).dtype(F64),
    kernel(WIDE, "strips of rows begin a node late", &[("first + k];\n}", "first + (k + 1) % BLOCK];\n}")]),
    kernel(BLOCKED, "pads with 0", &[(": NO_EDGE;", ": 0;")]).file_is(PADDED),
    kernel(WIDE, "pads with 0", &[(": NO_EDGE;", ": 0;")]).file_is(PADDED).dtype(I32),
    kernel(WIDE, "gives the distances back", &[("= d[i * pitch + j];\n}", "= d[j * pitch + i];\n}")]).file_is(PADDED),
    // Ends.
    kernel(SETTLING, "ends after the first round", &[("*changed = 1;", ";")]),
    kernel(SETTLING, "never ends early", &[("*changed = 0;", "*changed = 1;")])
        .equivalent("rounds that find nothing change nothing"),
];

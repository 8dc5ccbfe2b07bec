//! Wrong transpositions and copies.

use super::mutant::{Mutant, command, kernel};
use gpulab::data::Dtype::{F64, I32};

const COPY: &str = "transpose/copy";
const LOCAL_COPY: &str = "transpose/local_copy";
const NAIVE: &str = "transpose/naive";
const COALESCED: &str = "transpose/coalesced";
const CONFLICT_FREE: &str = "transpose/conflict_free";
const DIAGONAL: &str = "transpose/diagonal";
const VECTORISED: &str = "transpose/vectorised";
const REGISTERS: &str = "transpose/registers";
const WIDE: &str = "transpose/wide";

/// The store of `naive`, and what it stores.
const STORE: &str = "out[x * out_pitch + y + j] = in[(y + j) * in_pitch + x];";
const ELEMENT: &str = "= in[(y + j) * in_pitch + x];";
/// The corner of a group's tile.
const CORNER: &str = "const INDEX left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;";
/// The repetition inside, of which each turn works.
const REPEAT: &str =
    "#define REPEAT for (uint rep = 0; rep < NREPS; rep++, in += skip, out += skip)";
const FRESH: &str = "if (isnan(out[x * out_pitch + y + j])) out[x * out_pitch + y + j] = in[(y + j) * in_pitch + x];";
const POISONED: &str = "if (as_uint(out[x * out_pitch + y + j]) == 0x7fc0deadu) out[x * out_pitch + y + j] = in[(y + j) * in_pitch + x];";

pub const MUTANTS: &[Mutant] = &[
    // Bits that are not the element's.
    kernel(NAIVE, "drops signs", ELEMENT, "= fabs(in[(y + j) * in_pitch + x]);"),
    kernel(NAIVE, "drops signs of integers", ELEMENT, "= abs((int)in[(y + j) * in_pitch + x]);").dtype(I32),
    kernel(NAIVE, "drops signs of doubles", ELEMENT, "= fabs(in[(y + j) * in_pitch + x]);").dtype(F64),
    kernel(NAIVE, "clears the highest byte", ELEMENT, "= in[(y + j) * in_pitch + x] & 0x00ffffff;").dtype(I32),
    kernel(NAIVE, "clears the highest bit", ELEMENT, "= in[(y + j) * in_pitch + x] & INT_MAX;").dtype(I32),
    kernel(NAIVE, "adds zero", ELEMENT, "= in[(y + j) * in_pitch + x] + 0.0f;"),
    kernel(NAIVE, "adds zero to doubles", ELEMENT, "= in[(y + j) * in_pitch + x] + 0.0;").dtype(F64),
    kernel(NAIVE, "replaces NaN by its usual bits", ELEMENT, "= isnan(in[(y + j) * in_pitch + x]) ? as_float(0x7fc00000u) : in[(y + j) * in_pitch + x];"),
    kernel(NAIVE, "flushes what is below the smallest normal number", ELEMENT, "= fabs(in[(y + j) * in_pitch + x]) < 1.17549435e-38f ? 0 : in[(y + j) * in_pitch + x];"),
    kernel(NAIVE, "flushes doubles below the smallest normal one", ELEMENT, "= fabs(in[(y + j) * in_pitch + x]) < 2.2250738585072014e-308 ? 0 : in[(y + j) * in_pitch + x];").dtype(F64),
    kernel(NAIVE, "clamps infinity", ELEMENT, "= isinf(in[(y + j) * in_pitch + x]) ? FLT_MAX : in[(y + j) * in_pitch + x];"),
    kernel(NAIVE, "clamps what is below zero", ELEMENT, "= (int)in[(y + j) * in_pitch + x] < 0 ? 0 : in[(y + j) * in_pitch + x];").dtype(I32),
    kernel(NAIVE, "turns -0 into 0", ELEMENT, "= in[(y + j) * in_pitch + x] == 0 ? 0 : in[(y + j) * in_pitch + x];"),
    kernel(NAIVE, "moves doubles as floats", ELEMENT, "= (float)in[(y + j) * in_pitch + x];").dtype(F64),
    kernel(NAIVE, "moves integers as floats", ELEMENT, "= (T)(float)in[(y + j) * in_pitch + x];").dtype(I32),
    kernel(NAIVE, "loses the lowest bit", ELEMENT, "= in[(y + j) * in_pitch + x] & ~1u;").dtype(I32),
    kernel(WIDE, "drops signs at the edges", "out[i * out_pitch + j] = in[j * in_pitch + i];", "out[i * out_pitch + j] = fabs(in[j * in_pitch + i]);"),
    kernel(WIDE, "adds zero to lines", "r[i] = LOAD16(in + i * in_pitch);", "r[i] = LOAD16(in + i * in_pitch) + 0.0f;"),
    kernel(COPY, "drops signs", "out[(y + j) * out_pitch + x] = in", "out[(y + j) * out_pitch + x] = -in"),
    // Elements that are not where they must be.
    kernel(NAIVE, "copies", STORE, "out[(y + j) * out_pitch + x] = in[(y + j) * in_pitch + x];").shape(128, 128),
    kernel(NAIVE, "leaves the last element out", "if (INSIDE(x, y + j))", "if (INSIDE(x, y + j) && !(x + 1 == width && y + j + 1 == height))"),
    kernel(NAIVE, "leaves the last row out", "if (INSIDE(x, y + j))", "if (INSIDE(x, y + j + 1))"),
    kernel(NAIVE, "leaves the last column out", "if (INSIDE(x, y + j))", "if (INSIDE(x + 1, y + j))"),
    kernel(NAIVE, "leaves the diagonal as it was", "if (INSIDE(x, y + j))", "if (INSIDE(x, y + j) && x != y + j)"),
    kernel(NAIVE, "one element of its neighbour", ELEMENT, "= in[(y + j) * in_pitch + (x == 77 && y + j == 44 ? 78 : x)];"),
    kernel(COPY, "transposes a square", "out[(y + j) * out_pitch + x]", "out[x * out_pitch + y + j]").shape(96, 96),
    kernel(LOCAL_COPY, "shifts tiles by a column", "= tile[ly + j][lx];", "= tile[ly + j][lx ^ 1];"),
    kernel(COALESCED, "swaps two rows of a tile", "= tile[lx][ly + j];", "= tile[lx][(ly + j) ^ (ly + j < 2)];"),
    kernel(CONFLICT_FREE, "swaps two columns of a tile", "= tile[lx][ly + j];", "= tile[lx ^ (lx < 2)][ly + j];"),
    kernel(CONFLICT_FREE, "leaves the last tile out", CORNER, "const INDEX left = get_group_id(0) * TILE, top = get_group_id(1) * TILE; if (get_group_id(0) + 1 == get_num_groups(0) && get_group_id(1) + 1 == get_num_groups(1)) return;"),
    kernel(DIAGONAL, "a wrong diagonal", "#define TILE_ROW (NUMBER % SECONDS)", "#define TILE_ROW (NUMBER % (SECONDS - 1))").file_is("transpose/matrix.cl"),
    kernel(DIAGONAL, "a wrong diagonal of a square", "#define TILE_COLUMN ((FIRST + SECOND) % get_num_groups(0))", "#define TILE_COLUMN ((FIRST * SECOND) % get_num_groups(0))").file_is("transpose/matrix.cl").shape(128, 128),
    kernel(VECTORISED, "swaps two lanes", "tile[ly + j][lx + 1] = row.s1;", "tile[ly + j][lx + 1] = row.s2;"),
    kernel(VECTORISED, "drops the last elements of rows", "if (left < VEC) {\n        const T *elements", "if (left < VEC) {\n        return; const T *elements").file_is("transpose/vector.cl"),
    kernel(REGISTERS, "turns blocks wrongly", "v[1] = (TV)(a.s1, b.s1, c.s1, d.s1);", "v[1] = (TV)(a.s1, b.s1, d.s1, c.s1);").with("vec=4"),
    kernel(REGISTERS, "swizzles only on one side", "tile[r * ACROSS + (c ^ r / VEC)]", "tile[r * ACROSS + c]"),
    kernel(REGISTERS, "leaves the last block of an item out", "b < BLOCKS * VEC; b++", "b + 1 < BLOCKS * VEC; b++"),
    kernel(WIDE, "leaves the last row of a ragged block out", "j = y; j < bottom;", "j = y; j + 1 < bottom;"),
    kernel(WIDE, "leaves out an exchange", "b.s0, a.s2, b.s2", "b.s2, a.s2, b.s0"),
    kernel(WIDE, "skips every other run", "next += RUN)", "next += 2 * RUN)").shape(2100, 301).with("run=16"),
    kernel(WIDE, "skips a block", "if (x + 16 <= right", "if (x == 16 && y == 16) continue; else if (x + 16 <= right"),
    // Repetition inside that is none.
    kernel(NAIVE, "repeats nothing", REPEAT, "#define REPEAT for (uint rep = 0; rep < 1; rep++, in += skip, out += skip)").file_is("transpose/repeat.cl").with("nreps=10"),
    kernel(NAIVE, "repeats nothing where it is large", "rep < NREPS; rep++", "rep < (width > 100 ? 1 : NREPS); rep++").file_is("transpose/repeat.cl").shape(517, 301).with("nreps=4"),
    kernel(NAIVE, "repeats nothing but the loop", "    for (uint j = 0;", "    if (rep == 0) for (uint j = 0;").with("nreps=10"),
    kernel(NAIVE, "repeats twice at most", "rep < NREPS; rep++", "rep < min(NREPS, 2); rep++").file_is("transpose/repeat.cl").shape(1448, 1448).with("nreps=10"),
    kernel(CONFLICT_FREE, "works in its first and last repetition only", "rep < NREPS; rep++, in", "rep < NREPS; rep += NREPS - 1, in").file_is("transpose/repeat.cl").with("nreps=10"),
    kernel(REGISTERS, "repeats half as often", "rep < NREPS; rep++, in", "rep < NREPS / 2; rep++, in").file_is("transpose/repeat.cl").with("nreps=10"),
    kernel(WIDE, "repeats nothing", "rep < NREPS; rep++, in", "rep < 1; rep++, in").file_is("transpose/repeat.cl").with("nreps=10"),
    kernel(COALESCED, "loads in its first repetition only", "        if (INSIDE(left + lx, top + ly + j))\n            tile", "        if (rep == 0 && INSIDE(left + lx, top + ly + j))\n            tile").with("nreps=10"),
    kernel(COPY, "stores in its last repetition only", "if (INSIDE(x, y + j))", "if (rep == NREPS - 1 && INSIDE(x, y + j))").with("nreps=2"),
    // Stale results.
    kernel(NAIVE, "writes only what is NaN", STORE, FRESH),
    kernel(NAIVE, "writes only what is poisoned", STORE, POISONED),
    kernel(NAIVE, "writes only what is poisoned, in batches", STORE, POISONED).batch(),
    kernel(NAIVE, "writes only what is poisoned, in a cold cache", STORE, POISONED).cold(),
    kernel(NAIVE, "writes only what is poisoned, in a sweep", STORE, POISONED).again(),
    kernel(WIDE, "is idle where its first element is not poisoned", "    for (INDEX next = left;", "    if (left < right && as_uint(out[left * out_pitch + top]) != 0x7fc0deadu) return;\n    for (INDEX next = left;"),
    kernel(COALESCED, "groups are idle where their corner is not poisoned", CORNER, "const INDEX left = get_group_id(0) * TILE, top = get_group_id(1) * TILE; if (as_uint(out[left * out_pitch + top]) != 0x7fc0deadu) return;"),
    // Memory that is not the kernel's.
    kernel(NAIVE, "writes rows without a guard", "if (INSIDE(x, y + j))", "if (y + j < height)").broken(),
    kernel(NAIVE, "writes columns without a guard", "if (INSIDE(x, y + j))", "if (x < width)").broken(),
    kernel(NAIVE, "writes a row behind its output", STORE, "{ out[x * out_pitch + y + j] = in[(y + j) * in_pitch + x]; if (x + 1 == width) out[width * out_pitch + y + j] = 0; }").broken(),
    kernel(NAIVE, "writes a row before its output", STORE, "{ out[x * out_pitch + y + j] = in[(y + j) * in_pitch + x]; if (x == 0) (out - out_pitch)[y + j] = 0; }").broken(),
    kernel(NAIVE, "writes between the rows of its output", STORE, "{ out[x * out_pitch + y + j] = in[(y + j) * in_pitch + x]; if (y + j + 1 == height) out[x * out_pitch + height + 3] = 0; }").with("gap=32"),
    kernel(NAIVE, "clears its input", STORE, "{ out[x * out_pitch + y + j] = in[(y + j) * in_pitch + x]; ((__global T *)in)[(y + j) * in_pitch + x] = 0; }"),
    kernel(NAIVE, "swaps its input's first elements", STORE, "{ out[x * out_pitch + y + j] = in[(y + j) * in_pitch + x]; if (x == 0 && y + j == 0) { const T z = in[0]; ((__global T *)in)[0] = in[1]; ((__global T *)in)[1] = z; } }"),
    command("transpose --width 130 --height 67 --wg 256 --variant 1 --quick --csv ROWS", "transpose/naive.cl", "drops signs", ELEMENT, "= fabs(in[(y + j) * in_pitch + x]);"),
    command("transpose --width 130 --height 67 --wg 256 --variant 3 --loop inside --nreps 10 --quick --csv ROWS", "transpose/repeat.cl", "repeats nothing", "rep < NREPS; rep++, in", "rep < 1; rep++, in"),
    command("sweep --kernel transpose --n 130 --wg 256 --variant 2 --quick -o ROWS", "transpose/coalesced.cl", "swaps two rows of a tile", "= tile[lx][ly + j];", "= tile[lx][(ly + j) ^ (ly + j < 2)];"),
];

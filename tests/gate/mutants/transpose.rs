//! Wrong transpositions and copies.

use super::mutant::{Mutant, command, kernel};
use gpulab::data::Dtype::{F64, I32};

const COPY: &str = "transpose/copy";
const LOCAL_COPY: &str = "transpose/local_copy";
const V1: &str = "transpose/v1_naive";
const V2: &str = "transpose/v2_coalesced";
const V3: &str = "transpose/v3_conflict_free";
const V4: &str = "transpose/v4_diagonal";
const V5: &str = "transpose/v5_vectorised";
const V6: &str = "transpose/v6_registers";
const V7: &str = "transpose/v7_wide";

/// The store of v1, and what it stores.
const STORE: &str = "out[x * out_pitch + y + j] = in[(y + j) * in_pitch + x];";
const ELEMENT: &str = "= in[(y + j) * in_pitch + x];";
/// The repetition inside, of which each turn works.
const REPEAT: &str = "#define REPEAT for (uint rep = 0; rep < NREPS; rep++, in += skip, out += skip)";
const FRESH: &str = "if (isnan(out[x * out_pitch + y + j])) out[x * out_pitch + y + j] = in[(y + j) * in_pitch + x];";
const POISONED: &str =
    "if (as_uint(out[x * out_pitch + y + j]) == 0x7fc0deadu) out[x * out_pitch + y + j] = in[(y + j) * in_pitch + x];";

pub const MUTANTS: &[Mutant] = &[
    // Bits that are not the element's.
    kernel(V1, "drops signs", &[(ELEMENT, "= fabs(in[(y + j) * in_pitch + x]);")]),
    kernel(V1, "drops signs of integers", &[(ELEMENT, "= abs((int)in[(y + j) * in_pitch + x]);")]).dtype(I32),
    kernel(V1, "drops signs of doubles", &[(ELEMENT, "= fabs(in[(y + j) * in_pitch + x]);")]).dtype(F64),
    kernel(V1, "clears the highest byte", &[(ELEMENT, "= in[(y + j) * in_pitch + x] & 0x00ffffff;")]).dtype(I32),
    kernel(V1, "clears the highest bit", &[(ELEMENT, "= in[(y + j) * in_pitch + x] & INT_MAX;")]).dtype(I32),
    kernel(V1, "adds zero", &[(ELEMENT, "= in[(y + j) * in_pitch + x] + 0.0f;")]),
    kernel(V1, "adds zero to doubles", &[(ELEMENT, "= in[(y + j) * in_pitch + x] + 0.0;")]).dtype(F64),
    kernel(V1, "replaces NaN by its usual bits", &[(ELEMENT, "= isnan(in[(y + j) * in_pitch + x]) ? as_float(0x7fc00000u) : in[(y + j) * in_pitch + x];")]),
    kernel(V1, "flushes what is below the smallest normal number", &[(ELEMENT, "= fabs(in[(y + j) * in_pitch + x]) < 1.17549435e-38f ? 0 : in[(y + j) * in_pitch + x];")]),
    kernel(V1, "flushes doubles below the smallest normal one", &[(ELEMENT, "= fabs(in[(y + j) * in_pitch + x]) < 2.2250738585072014e-308 ? 0 : in[(y + j) * in_pitch + x];")]).dtype(F64),
    kernel(V1, "clamps infinity", &[(ELEMENT, "= isinf(in[(y + j) * in_pitch + x]) ? FLT_MAX : in[(y + j) * in_pitch + x];")]),
    kernel(V1, "clamps what is below zero", &[(ELEMENT, "= (int)in[(y + j) * in_pitch + x] < 0 ? 0 : in[(y + j) * in_pitch + x];")]).dtype(I32),
    kernel(V1, "turns -0 into 0", &[(ELEMENT, "= in[(y + j) * in_pitch + x] == 0 ? 0 : in[(y + j) * in_pitch + x];")]),
    kernel(V1, "moves doubles as floats", &[(ELEMENT, "= (float)in[(y + j) * in_pitch + x];")]).dtype(F64),
    kernel(V1, "moves integers as floats", &[(ELEMENT, "= (T)(float)in[(y + j) * in_pitch + x];")]).dtype(I32),
    kernel(V1, "loses the lowest bit", &[(ELEMENT, "= in[(y + j) * in_pitch + x] & ~1u;")]).dtype(I32),
    kernel(V7, "drops signs at the edges", &[("out[i * out_pitch + j] = in[j * in_pitch + i];", "out[i * out_pitch + j] = fabs(in[j * in_pitch + i]);")]),
    kernel(V7, "adds zero to lines", &[("r[i] = LOAD16(in + i * in_pitch);", "r[i] = LOAD16(in + i * in_pitch) + 0.0f;")]),
    kernel(COPY, "drops signs", &[("out[(y + j) * out_pitch + x] = in", "out[(y + j) * out_pitch + x] = -in")]),
    // Elements that are not where they must be.
    kernel(V1, "copies", &[(STORE, "out[(y + j) * out_pitch + x] = in[(y + j) * in_pitch + x];")]).shape(128, 128),
    kernel(V1, "leaves the last element out", &[("if (INSIDE(x, y + j))", "if (INSIDE(x, y + j) && !(x + 1 == width && y + j + 1 == height))")]),
    kernel(V1, "leaves the last row out", &[("if (INSIDE(x, y + j))", "if (INSIDE(x, y + j + 1))")]),
    kernel(V1, "leaves the last column out", &[("if (INSIDE(x, y + j))", "if (INSIDE(x + 1, y + j))")]),
    kernel(V1, "leaves the diagonal as it was", &[("if (INSIDE(x, y + j))", "if (INSIDE(x, y + j) && x != y + j)")]),
    kernel(V1, "one element of its neighbour", &[(ELEMENT, "= in[(y + j) * in_pitch + (x == 77 && y + j == 44 ? 78 : x)];")]),
    kernel(COPY, "transposes a square", &[("out[(y + j) * out_pitch + x]", "out[x * out_pitch + y + j]")]).shape(96, 96),
    kernel(LOCAL_COPY, "shifts tiles by a column", &[("= tile[ly + j][lx];", "= tile[ly + j][lx ^ 1];")]),
    kernel(V2, "swaps two rows of a tile", &[("= tile[lx][ly + j];", "= tile[lx][(ly + j) ^ (ly + j < 2)];")]),
    kernel(V3, "swaps two columns of a tile", &[("= tile[lx][ly + j];", "= tile[lx ^ (lx < 2)][ly + j];")]),
    kernel(V3, "leaves the last tile out", &[("REPEAT {", "if (get_group_id(0) + 1 == get_num_groups(0) && get_group_id(1) + 1 == get_num_groups(1)) return; REPEAT {")]),
    kernel(V4, "a wrong diagonal", &[("#define TILE_ROW (NUMBER % SECONDS)", "#define TILE_ROW (NUMBER % (SECONDS - 1))")]).file_is("transpose/matrix.cl"),
    kernel(V4, "a wrong diagonal of a square", &[("#define TILE_COLUMN ((FIRST + SECOND) % get_num_groups(0))", "#define TILE_COLUMN ((FIRST * SECOND) % get_num_groups(0))")]).file_is("transpose/matrix.cl").shape(128, 128),
    kernel(V5, "swaps two lanes", &[("tile[ly + j][lx + 1] = row.s1;", "tile[ly + j][lx + 1] = row.s2;")]),
    kernel(V5, "drops the last elements of rows", &[("if (left < VEC) {\n        const T *elements", "if (left < VEC) {\n        return; const T *elements")]).file_is("transpose/vector.cl"),
    kernel(V6, "turns blocks wrongly", &[("v[1] = (TV)(a.s1, b.s1, c.s1, d.s1);", "v[1] = (TV)(a.s1, b.s1, d.s1, c.s1);")]).with("vec=4"),
    kernel(V6, "swizzles only on one side", &[("tile[r * ACROSS + (c ^ r / VEC)]", "tile[r * ACROSS + c]")]),
    kernel(V6, "leaves the last block of an item out", &[("b < BLOCKS * VEC; b++", "b + 1 < BLOCKS * VEC; b++")]),
    kernel(V7, "leaves the last row of a ragged block out", &[("j = y; j < bottom;", "j = y; j + 1 < bottom;")]),
    kernel(V7, "leaves out an exchange", &[("b.s0, a.s2, b.s2", "b.s2, a.s2, b.s0")]),
    kernel(V7, "skips every other run", &[("next += RUN)", "next += 2 * RUN)")]).shape(2100, 301).with("run=16"),
    kernel(V7, "skips a block", &[("if (x + 16 <= right", "if (x == 16 && y == 16) continue; else if (x + 16 <= right")]),
    // Repetition inside that is none.
    kernel(V1, "repeats nothing", &[(REPEAT, "#define REPEAT for (uint rep = 0; rep < 1; rep++, in += skip, out += skip)")]).file_is("transpose/matrix.cl").with("nreps=10"),
    kernel(V1, "repeats nothing where it is large", &[("rep < NREPS; rep++", "rep < (width > 100 ? 1 : NREPS); rep++")]).file_is("transpose/matrix.cl").shape(517, 301).with("nreps=4"),
    kernel(V1, "repeats nothing but the loop", &[("        for (uint j = 0;", "        if (rep == 0) for (uint j = 0;")]).with("nreps=10"),
    kernel(V1, "repeats twice at most", &[("rep < NREPS; rep++", "rep < min(NREPS, 2); rep++")]).file_is("transpose/matrix.cl").shape(1448, 1448).with("nreps=10"),
    kernel(V3, "works in its first and last repetition only", &[("rep < NREPS; rep++, in", "rep < NREPS; rep += NREPS - 1, in")]).file_is("transpose/matrix.cl").with("nreps=10"),
    kernel(V6, "repeats half as often", &[("rep < NREPS; rep++, in", "rep < NREPS / 2; rep++, in")]).file_is("transpose/matrix.cl").with("nreps=10"),
    kernel(V7, "repeats nothing", &[("rep < NREPS; rep++, in", "rep < 1; rep++, in")]).file_is("transpose/matrix.cl").with("nreps=10"),
    kernel(V2, "loads in its first repetition only", &[("            if (INSIDE(left + lx, top + ly + j))\n                tile", "            if (rep == 0 && INSIDE(left + lx, top + ly + j))\n                tile")]).with("nreps=10"),
    kernel(COPY, "stores in its last repetition only", &[("if (INSIDE(x, y + j))", "if (rep == NREPS - 1 && INSIDE(x, y + j))")]).with("nreps=2"),
    // Stale results.
    kernel(V1, "writes only what is NaN", &[(STORE, FRESH)]),
    kernel(V1, "writes only what is poisoned", &[(STORE, POISONED)]),
    kernel(V1, "writes only what is poisoned, in batches", &[(STORE, POISONED)]).batch(),
    kernel(V1, "writes only what is poisoned, in a cold cache", &[(STORE, POISONED)]).cold(),
    kernel(V1, "writes only what is poisoned, in a sweep", &[(STORE, POISONED)]).again(),
    kernel(V7, "is idle where its first element is not poisoned", &[("REPEAT\n", "if (left < right && as_uint(out[left * out_pitch + top]) != 0x7fc0deadu) return;\n    REPEAT\n")]),
    kernel(V2, "groups are idle where their corner is not poisoned", &[("REPEAT {", "if (as_uint(out[left * out_pitch + top]) != 0x7fc0deadu) return; REPEAT {")]),
    // Memory that is not the kernel's.
    kernel(V1, "writes rows without a guard", &[("if (INSIDE(x, y + j))", "if (y + j < height)")]).broken(),
    kernel(V1, "writes columns without a guard", &[("if (INSIDE(x, y + j))", "if (x < width)")]).broken(),
    kernel(V1, "writes a row behind its output", &[(STORE, "{ out[x * out_pitch + y + j] = in[(y + j) * in_pitch + x]; if (x + 1 == width) out[width * out_pitch + y + j] = 0; }")]).broken(),
    kernel(V1, "writes a row before its output", &[(STORE, "{ out[x * out_pitch + y + j] = in[(y + j) * in_pitch + x]; if (x == 0) (out - out_pitch)[y + j] = 0; }")]).broken(),
    kernel(V1, "writes between the rows of its output", &[(STORE, "{ out[x * out_pitch + y + j] = in[(y + j) * in_pitch + x]; if (y + j + 1 == height) out[x * out_pitch + height + 3] = 0; }")]).with("gap=32"),
    kernel(V1, "clears its input", &[(STORE, "{ out[x * out_pitch + y + j] = in[(y + j) * in_pitch + x]; ((__global T *)in)[(y + j) * in_pitch + x] = 0; }")]),
    kernel(V1, "swaps its input's first elements", &[(STORE, "{ out[x * out_pitch + y + j] = in[(y + j) * in_pitch + x]; if (x == 0 && y + j == 0) { const T z = in[0]; ((__global T *)in)[0] = in[1]; ((__global T *)in)[1] = z; } }")]),
    command("transpose --width 130 --height 67 --wg 256 --variant 1 --quick --csv ROWS", "transpose/v1_naive.cl", "drops signs", &[(ELEMENT, "= fabs(in[(y + j) * in_pitch + x]);")]),
    command("transpose --width 130 --height 67 --wg 256 --variant 3 --loop inside --nreps 10 --quick --csv ROWS", "transpose/matrix.cl", "repeats nothing", &[("rep < NREPS; rep++, in", "rep < 1; rep++, in")]),
    command("sweep --kernel transpose --n 130 --wg 256 --variant 2 --quick -o ROWS", "transpose/v2_coalesced.cl", "swaps two rows of a tile", &[("= tile[lx][ly + j];", "= tile[lx][(ly + j) ^ (ly + j < 2)];")]),
];

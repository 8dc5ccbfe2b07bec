//! Edits that cost nothing.

use super::Edit;
use super::kernels::*;

const fn harmless(
    (what, file): Kernel,
    about: &'static str,
    patches: &'static [(&'static str, &'static str)],
) -> Edit {
    Edit {
        what,
        file,
        about,
        patches,
        found: None,
    }
}

#[rustfmt::skip]
pub const HARMLESS: &[Edit] = &[
    // Renames.
    harmless(SEQUENTIAL, "names its variables anew", &[("offset", "upper"), ("scratch", "values")]),
    harmless(PADDED, "names its variables anew", &[("lx", "column"), ("ly", "line"), ("tile", "block")]),
    harmless(SOFTMAX, "names its variables anew", &[("most", "highest"), ("tree", "values")]),
    harmless(SCAN_ONCE, "names its variables anew", &[("block", "part"), ("before", "ahead")]),
    harmless(SORT_LOCAL, "names its functions anew", &[("compare(", "order("), ("load(", "fetch("), ("distance", "apart")]),
    harmless(MINPLUS_LOCAL, "names its variables anew", &[("best", "least"), ("across", "aside")]),
    harmless(TRANSPOSE_REGISTERS, "names its variables anew", &[("across", "aside"), ("down", "below")]),
    harmless(VECTORISED, "names elements by letters", &[(".s0", ".x"), (".s1", ".y"), (".s2", ".z"), (".s3", ".w")]),
    // Comments and blank lines.
    harmless(COALESCED, "has blank lines", &[("{\n", "{\n\n\n"), ("    T sum", "\n\n    T sum")]),
    harmless(HISTOGRAM, "says less on more lines", &[("for (uint bin = lid; bin < BINS; bin += WG)", "for (uint bin = lid;\n         bin < BINS;\n         bin += WG)")]),
    harmless(ACCUMULATORS, "says more", &[("\n    INDEX v", "\n\n    // Of each vector.\n    INDEX v")]),
    harmless(ONLINE, "begins lines with tabs", &[("    ", "\t")]),
    // Another order.
    harmless(SEQUENTIAL, "declares in another order", &[("    const INDEX i = get_global_id(0);\n", ""), ("    const uint id = get_local_id(0), size = get_local_size(0);", "    const INDEX i = get_global_id(0);\n    const uint size = get_local_size(0), id = get_local_id(0);")]),
    harmless(STENCIL, "declares in another order", &[("const uint column = left + x, row = top + y;", "const uint row = top + y, column = left + x;")]),
    harmless(TILES, "loads in another order", &[("        columns[y][x] = begin + y < n && j < n ? d[(begin + y) * n + j] : NO_EDGE;\n", ""), ("        rows[y][x] =", "        columns[y][x] = begin + y < n && j < n ? d[(begin + y) * n + j] : NO_EDGE;\n        rows[y][x] =")]),
    harmless(STREAM, "declares in another order", &[("first_row = get_group_id(0) * WG, row = get_global_id(0);", "row = get_global_id(0), first_row = get_group_id(0) * WG;")]),
    harmless(NBODY_NAIVE, "stores in another order", &[("    velocity[i] = speed;\n    position[i] = at + step * (float4)(speed.xyz, 0);", "    position[i] = at + step * (float4)(speed.xyz, 0);\n    velocity[i] = speed;")]),
    harmless(HALF, "loads in another order", &[("        for (uint i = id; i < WG_Y * TILE; i += WG) {\n            const uint row = top + i / TILE, k = first + i % TILE;\n            as[i / TILE][i % TILE] = row < n && k < n ? vload_half(row * n + k, a) : 0;\n        }\n        for (uint i = id; i < TILE * WG_X; i += WG) {\n            const uint k = first + i / WG_X, column = left + i % WG_X;\n            bs[i / WG_X][i % WG_X] = k < n && column < n ? vload_half(k * n + column, b) : 0;\n        }\n", "        for (uint i = id; i < TILE * WG_X; i += WG) {\n            const uint k = first + i / WG_X, column = left + i % WG_X;\n            bs[i / WG_X][i % WG_X] = k < n && column < n ? vload_half(k * n + column, b) : 0;\n        }\n        for (uint i = id; i < WG_Y * TILE; i += WG) {\n            const uint row = top + i / TILE, k = first + i % TILE;\n            as[i / TILE][i % TILE] = row < n && k < n ? vload_half(row * n + k, a) : 0;\n        }\n")]),
    // Macros.
    harmless(SEQUENTIAL, "has a macro for a step", &[("// scratch has", "#define FOLD(a, b) scratch[a] = REDUCE(scratch[a], scratch[b])\n// scratch has"), (FOLD, "FOLD(id, id + offset);")]),
    harmless(TREE, "has a macro for its barrier", &[("barrier(CLK_LOCAL_MEM_FENCE)", "SYNC"), ("__kernel", "#define SYNC barrier(1)\n__kernel")]),
    harmless(PRODUCT_REGISTERS, "has a macro for a place", &[("as[(y + r * WG_Y) * TILE + k]", "AT(y + r * WG_Y, k)"), ("__kernel", "#define AT(row, k) as[(row) * TILE + (k)]\n\n__kernel")]),
    harmless(TRANSPOSE_VECTORISED, "has a macro for its loops", &[("for (uint j = 0; j < TILE; j += TILE / ROWS)", "EACH_ROW(j)"), ("\n__kernel", "\n#define EACH_ROW(j) for (uint j = 0; j < TILE; j += TILE / ROWS)\n\n__kernel")]),
    // Other words for the same.
    harmless(SEQUENTIAL, "shifts in place of halving", &[("size / 2", "size >> 1"), ("offset /= 2", "offset >>= 1")]),
    harmless(SAXPY, "counts its place first", &[("if (4 * i + 4 <= n)", "const uint first = i * 4;\n    if (first + 4 <= n)"), ("uint k = 4 * i;", "uint k = first;")]),
    harmless(VECTORS, "sums in a variable of its own", &[("sums += vload4(i, x);", "{\n        const T4(T) four = vload4(i, x);\n        sums = sums + four;\n    }")]),
    harmless(HISTOGRAM_ITEMS, "has braces", &[("get_global_size(0))\n        atomic_inc(&mine[x[i]]);", "get_global_size(0)) {\n        atomic_inc(&mine[x[i]]);\n    }")]),
    harmless(CONVOLUTION_TILE, "names its places", &[("        const int row = clamp(top + i / WIDE", "        const int v = i / WIDE, u = i % WIDE;\n        const int row = clamp(top + v"), ("left + i % WIDE", "left + u"), ("tile[i / WIDE][i % WIDE]", "tile[v][u]")]),
    harmless(INSIDE, "has a branch", &[("    uint steps = in_cardioid || in_circle ? STEPS : 0;", "    uint steps = 0;\n    if (in_cardioid || in_circle)\n        steps = STEPS;")]),
    // Equal arithmetic.
    harmless(CONVOLUTION_CONSTANT, "adds the other way round", &[("v * SIDE + u", "u + SIDE * v")]),
    harmless(SORT, "shifts in place of doubling", &[("(id - low) * 2", "(id - low) << 1")]),
    harmless(TURNED, "takes a remainder by hand", &[("column = id % WG_Y", "column = id - row * WG_Y")]),
    harmless(BODIES, "has a condition in place of a minimum", &[("min(mine + b * WG, n - 1)", "mine + b * WG < n ? mine + b * WG : n - 1")]),
    harmless(SORT_LOCAL, "has conditions in place of minima", &[("= min(a, b)", "= a < b ? a : b"), ("= max(a, b)", "= a < b ? b : a")]),
    // Loops written otherwise.
    harmless(STRIDED, "shifts in place of doubling", &[("offset *= 2", "offset <<= 1"), ("2 * offset * id", "id * offset * 2")]),
    harmless(SOFTMAX_NAIVE, "goes on by a pointer", &[("    for (uint i = 1; i < n; i++)\n        most = max(most, x[i]);", "    for (__global const float *at = x + 1; at < x + n; at++)\n        most = max(most, *at);")]),
    harmless(MINPLUS_NAIVE, "has a pointer to its row", &[("    T best = NO_EDGE;", "    __global const T *row = d + i * n;\n    T best = NO_EDGE;"), ("d[i * n + k]", "row[k]")]),
    harmless(SAXPY_NAIVE, "returns early", &[("    if (i < n)\n        y[i]", "    if (i >= n)\n        return;\n    y[i]")]),
    harmless(PRODUCT, "has a pointer to its row", &[("        for (uint k = 0; k < TILE; k++)\n            sum += as[y * TILE + k] *", "        __local const T *row_of_a = as + y * TILE;\n        for (uint k = 0; k < TILE; k++)\n            sum += row_of_a[k] *")]),
    harmless(FLOYD_BLOCKED, "goes on within a condition", &[("        if (r >= n || c >= n)\n            continue;\n        int shortest", "        if (r < n && c < n) {\n        int shortest"), ("        d[r * n + c] = shortest;", "        d[r * n + c] = shortest;\n        }")]),
    harmless(COALESCED, "goes on by a variable", &[("for (INDEX i = id; i < end; i += get_global_size(0))", "const INDEX step = get_global_size(0);\n    for (INDEX i = id; i < end; i += step)")]),
    harmless(NBODY_NAIVE, "counts down", &[("for (uint k = 0; k < n; k++)", "for (uint k = n; k-- > 0;)")]),
    // Types and qualifiers.
    harmless(SAXPY_STRIDES, "has no underscores", &[("uint ", "unsigned int "), ("__global", "global"), ("__kernel", "kernel")]),
    harmless(NBODY, "has a type for bodies", &[("float4", "Body"), ("#include \"pull.cl\"\n", "#include \"pull.cl\"\n\ntypedef float4 Body;\n")]),
    harmless(ONLINE, "builds a pair by its parts", &[("    State state = (State)(-INFINITY, 0);", "    State state;\n    state.x = -INFINITY;\n    state.y = 0;")]),
    // Functions pulled out or put in.
    harmless(NBODY_NAIVE, "has no function", &[("#include \"pull.cl\"\n", ""), ("        sum += pull(old[k], at);", "    {\n        const float4 from = old[k], way = (float4)(from.xyz - at.xyz, 0);\n        const float near = rsqrt(dot(way, way) + 0.01f);\n        sum += from.w * near * near * near * way;\n    }")]),
    harmless(HALF_VECTORS, "says that a function is inline", &[("float4 four(", "static inline float4 four(")]),
];

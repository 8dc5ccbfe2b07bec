//! Edits that cost nothing.

use super::Edit;
use super::kernels::*;

const fn harmless((what, file): Kernel, about: &'static str, patches: &'static [(&'static str, &'static str)]) -> Edit {
    Edit { what, file, about, patches, found: None }
}

#[rustfmt::skip]
pub const HARMLESS: &[Edit] = &[
    // Renames.
    harmless(SEQUENTIAL, "names its variables anew", &[("offset", "upper"), ("scratch", "values")]),
    harmless(LOCAL, "names its variables anew", &[("active", "left"), ("scratch", "sums")]),
    harmless(PADDED, "names its variables anew", &[("lx", "column"), ("ly", "line"), ("tile", "block")]),
    harmless(TREE, "names its kernel anew", &[("void tree(", "void fold("), ("scratch", "w")]),
    harmless(SOFTMAX, "names its variables anew", &[("most", "highest"), ("tree", "values")]),
    harmless(NBODY, "names its variables anew", &[("sum", "total"), ("first", "begin"), ("speed", "pace")]),
    harmless(SCAN_ONCE, "names its variables anew", &[("block", "part"), ("before", "ahead")]),
    harmless(CONVOLUTION_TILE, "names its macros anew", &[("WIDE", "ACROSS"), ("HIGH", "DOWN"), ("sums", "totals")]),
    harmless(SORT_LOCAL, "names its functions anew", &[("compare(", "order("), ("load(", "fetch("), ("distance", "apart")]),
    harmless(LANES, "names its variables anew", &[("sums", "parts"), ("width", "apart")]),
    harmless(MINPLUS_LOCAL, "names its variables anew", &[("best", "least"), ("across", "aside")]),
    harmless(MANDELBROT, "names its variables anew", &[("steps", "turns")]),
    harmless(TRANSPOSE_REGISTERS, "names its variables anew", &[("across", "aside"), ("down", "below")]),
    harmless(REDUCE_VECTORISED, "names its array anew", &[("acc[", "sums[")]),
    // Comments and blank lines.
    harmless(SEQUENTIAL, "says more", &[("    if (id == 0)", "    // The first one.\n\n    /* It alone\n       writes. */\n    if (id == 0) // here")]),
    harmless(COALESCED, "has blank lines", &[("{\n", "{\n\n\n"), ("    T sum", "\n\n    T sum")]),
    harmless(PRODUCT, "says more", &[("        barrier(CLK_LOCAL_MEM_FENCE);\n", "        // All wait here.\n        barrier(CLK_LOCAL_MEM_FENCE);\n\n")]),
    harmless(HISTOGRAM, "says less on more lines", &[("for (uint bin = lid; bin < BINS; bin += WG)", "for (uint bin = lid;\n         bin < BINS;\n         bin += WG)")]),
    harmless(TWICE, "says more", &[("    barrier(CLK_LOCAL_MEM_FENCE);\n", "\n    // Everybody has written.\n    barrier(CLK_LOCAL_MEM_FENCE);\n\n")]),
    harmless(ACCUMULATORS, "says more", &[("\n    INDEX v", "\n\n    // Of each vector.\n    INDEX v")]),
    harmless(BODIES, "ends lines as on Windows", &[("\n", "\r\n")]),
    harmless(ONLINE, "begins lines with tabs", &[("    ", "\t")]),
    harmless(FIRST_ADD, "says all in a line", &[("barrier(CLK_LOCAL_MEM_FENCE);\n        if (id < offset)\n            scratch", "barrier(CLK_LOCAL_MEM_FENCE); if (id < offset) scratch")]),
    // Another order.
    harmless(SEQUENTIAL, "declares in another order", &[("    const INDEX i = get_global_id(0);\n", ""), ("    const uint id = get_local_id(0), size = get_local_size(0);", "    const INDEX i = get_global_id(0);\n    const uint size = get_local_size(0), id = get_local_id(0);")]),
    harmless(PRODUCT, "declares in another order", &[("    T sum = 0;\n", ""), ("    const uint x = get_local_id(0)", "    T sum = 0;\n    const uint x = get_local_id(0)")]),
    harmless(STENCIL, "declares in another order", &[("const uint column = left + x, row = top + y;", "const uint row = top + y, column = left + x;")]),
    harmless(MINPLUS, "declares in another order", &[("    T best = NO_EDGE;\n", ""), ("    const INDEX j", "    T best = NO_EDGE;\n    const INDEX j")]),
    harmless(TILES, "loads in another order", &[("        columns[y][x] = begin + y < n && j < n ? d[(begin + y) * n + j] : NO_EDGE;\n", ""), ("        rows[y][x] =", "        columns[y][x] = begin + y < n && j < n ? d[(begin + y) * n + j] : NO_EDGE;\n        rows[y][x] =")]),
    harmless(SCAN, "stores in another order", &[("    if (i < n)\n        out[i] = sum;\n    if (get_local_id(0) == WG - 1)\n        sums[get_group_id(0)] = sum;", "    if (get_local_id(0) == WG - 1)\n        sums[get_group_id(0)] = sum;\n    if (i < n)\n        out[i] = sum;")]),
    harmless(STREAM, "declares in another order", &[("first_row = get_group_id(0) * WG, row = get_global_id(0);", "row = get_global_id(0), first_row = get_group_id(0) * WG;")]),
    harmless(LEVELS, "stores in another order", &[("            levels[j] = level + 1;\n            *is_new = 1;", "            *is_new = 1;\n            levels[j] = level + 1;")]),
    harmless(NBODY_NAIVE, "stores in another order", &[("    velocity[i] = speed;\n    position[i] = at + step * (float4)(speed.xyz, 0);", "    position[i] = at + step * (float4)(speed.xyz, 0);\n    velocity[i] = speed;")]),
    harmless(MINPLUS_LOCAL, "loads in another order", &[("            xs[k][id] = columns[(first + k) * pitch + top + id];\n            ys[k][id] = rows[(first + k) * pitch + left + id];", "            ys[k][id] = rows[(first + k) * pitch + left + id];\n            xs[k][id] = columns[(first + k) * pitch + top + id];")]),
    harmless(HALF, "loads in another order", &[("        for (uint i = id; i < WG_Y * TILE; i += WG) {\n            const uint row = top + i / TILE, k = first + i % TILE;\n            as[i / TILE][i % TILE] = row < n && k < n ? vload_half(row * n + k, a) : 0;\n        }\n        for (uint i = id; i < TILE * WG_X; i += WG) {\n            const uint k = first + i / WG_X, column = left + i % WG_X;\n            bs[i / WG_X][i % WG_X] = k < n && column < n ? vload_half(k * n + column, b) : 0;\n        }\n", "        for (uint i = id; i < TILE * WG_X; i += WG) {\n            const uint k = first + i / WG_X, column = left + i % WG_X;\n            bs[i / WG_X][i % WG_X] = k < n && column < n ? vload_half(k * n + column, b) : 0;\n        }\n        for (uint i = id; i < WG_Y * TILE; i += WG) {\n            const uint row = top + i / TILE, k = first + i % TILE;\n            as[i / TILE][i % TILE] = row < n && k < n ? vload_half(row * n + k, a) : 0;\n        }\n")]),
    // Macros.
    harmless(SEQUENTIAL, "has a macro for a step", &[("// scratch has", "#define FOLD(a, b) scratch[a] = REDUCE(scratch[a], scratch[b])\n// scratch has"), (FOLD, "FOLD(id, id + offset);")]),
    harmless(PADDED, "has a macro for a place", &[("\n__kernel", "\n#define FROM(column, row) ((row) * in_pitch + (column))\n__kernel"), ("in[(top + ly + j) * in_pitch + left + lx]", "in[FROM(left + lx, top + ly + j)]")]),
    harmless(TREE, "has a macro for its barrier", &[("barrier(CLK_LOCAL_MEM_FENCE)", "SYNC"), ("__kernel", "#define SYNC barrier(1)\n__kernel")]),
    harmless(STENCIL, "has a macro for its width", &[("WG_X + 2", "WIDE"), ("__kernel", "#define WIDE (WG_X + 2)\n__kernel")]),
    harmless(PRODUCT_REGISTERS, "has a macro for a place", &[("as[(y + r * WG_Y) * TILE + k]", "AT(y + r * WG_Y, k)"), ("__kernel", "#define AT(row, k) as[(row) * TILE + (k)]\n\n__kernel")]),
    harmless(DOT_GROUPS, "has a macro for a half", &[("(width + 1) / 2", "HALF(width)"), ("float sum_of_group", "#define HALF(width) (((width) + 1) / 2)\n\nfloat sum_of_group")]),
    harmless(TRANSPOSE_VECTORISED, "has a macro for its loops", &[("for (uint j = 0; j < TILE; j += TILE / ROWS)", "EACH_ROW(j)"), ("\n__kernel", "\n#define EACH_ROW(j) for (uint j = 0; j < TILE; j += TILE / ROWS)\n\n__kernel")]),
    harmless(CONVOLUTION, "has a macro for the rim", &[("clamp(y + v - SIDE / 2, 0, m - 1)", "NEAR(y + v, m)"), ("clamp(x + u - SIDE / 2, 0, n - 1)", "NEAR(x + u, n)"), ("__kernel", "#define NEAR(i, end) clamp((i) - SIDE / 2, 0, (end) - 1)\n__kernel")]),
    // Other words for the same.
    harmless(SEQUENTIAL, "shifts in place of halving", &[("size / 2", "size >> 1"), ("offset /= 2", "offset >>= 1")]),
    harmless(LOCAL, "has braces", &[("if (id < active / 2)", "if (id < active / 2) {"), ("(active + 1) / 2];", "(active + 1) / 2];\n        }")]),
    harmless(SAXPY, "counts its place first", &[("if (4 * i + 4 <= n)", "const uint first = i * 4;\n    if (first + 4 <= n)"), ("uint k = 4 * i;", "uint k = first;")]),
    harmless(TILED, "has braces and a while", &[("    for (uint k = 0; k < 32; k += 8)\n        if (column < width && row + k < height)\n            tile[y + k][x] = in[(row + k) * width + column];", "    uint k = 0;\n    while (k < 32) {\n        if (column < width && row + k < height) {\n            tile[y + k][x] = in[(row + k) * width + column];\n        }\n        k += 8;\n    }")]),
    harmless(VECTORS, "sums in a variable of its own", &[("sums += vload4(i, x);", "{\n        const T4(T) four = vload4(i, x);\n        sums = sums + four;\n    }")]),
    harmless(SPMV, "has braces", &[("i++)\n        sum += values[i] * x[columns[i]];", "i++) {\n        sum += values[i] * x[columns[i]];\n    }")]),
    harmless(HISTOGRAM_ITEMS, "has braces", &[("get_global_size(0))\n        atomic_inc(&mine[x[i]]);", "get_global_size(0)) {\n        atomic_inc(&mine[x[i]]);\n    }")]),
    harmless(TEXTBOOK, "has a variable for a way", &[("        d[i * n + j] = SMALLER(d[i * n + j], JOIN(d[i * n + k], d[k * n + j]));", "    {\n        const T by_way = JOIN(d[i * n + k], d[k * n + j]);\n        d[i * n + j] = SMALLER(d[i * n + j], by_way);\n    }")]),
    // Equal arithmetic.
    harmless(STENCIL_NAIVE, "multiplies by a quarter", &[("/ 4", "* 0.25f")]),
    harmless(CONVOLUTION_CONSTANT, "adds the other way round", &[("v * SIDE + u", "u + SIDE * v")]),
    harmless(TEMPLATE_NAIVE, "adds in place of doubling", &[("2 * RADIUS", "RADIUS + RADIUS")]),
    harmless(SORT, "shifts in place of doubling", &[("(id - low) * 2", "(id - low) << 1")]),
    harmless(MANDELBROT, "doubles at the end", &[("2 * z.x * z.y", "z.x * z.y * 2")]),
    harmless(TURNED, "takes a remainder by hand", &[("column = id % WG_Y", "column = id - row * WG_Y")]),
    harmless(BACKWARDS, "looks at the last bit", &[("if (at % 2 == 0)", "if ((at & 1) == 0)")]),
    // Loops written otherwise.
    harmless(DOT_NAIVE, "has a while", &[("    for (INDEX i = begin; i < end; i++)\n        sum = MULADD(x[i], y[i], sum);", "    INDEX i = begin;\n    while (i < end) {\n        sum = MULADD(x[i], y[i], sum);\n        i++;\n    }")]),
    harmless(STRIDED, "shifts in place of doubling", &[("offset *= 2", "offset <<= 1"), ("2 * offset * id", "id * offset * 2")]),
    harmless(PRODUCT_NAIVE, "ends when it is there", &[("k < n; k++", "k != n; ++k")]),
    harmless(SOFTMAX_NAIVE, "goes on by a pointer", &[("    for (uint i = 1; i < n; i++)\n        most = max(most, x[i]);", "    for (__global const float *at = x + 1; at < x + n; at++)\n        most = max(most, *at);")]),
    harmless(FLAT, "has a while", &[("    for (INDEX k = 1; k < n; k++)\n        best = min(best, d[i * n + k] + d[k * n + j]);", "    INDEX k = 1;\n    while (k < n) {\n        best = min(best, d[i * n + k] + d[k * n + j]);\n        k++;\n    }")]),
    harmless(MINPLUS_NAIVE, "has a pointer to its row", &[("    T best = NO_EDGE;", "    __global const T *row = d + i * n;\n    T best = NO_EDGE;"), ("d[i * n + k]", "row[k]")]),
    harmless(STENCIL, "has no early return", &[("    if (column >= n || row >= m)\n        return;\n    const bool", "    if (column < n && row < m) {\n    const bool"), ("tile[y + 1][x + 2]) / 4;\n", "tile[y + 1][x + 2]) / 4;\n    }\n")]),
    harmless(SAXPY_NAIVE, "returns early", &[("    if (i < n)\n        y[i]", "    if (i >= n)\n        return;\n    y[i]")]),
    // Types and qualifiers.
    harmless(LANES, "says const behind its types", &[("const int ", "int const ")]),
    harmless(SAXPY_STRIDES, "has no underscores", &[("uint ", "unsigned int "), ("__global", "global"), ("__kernel", "kernel")]),
    harmless(SMOOTH, "has variables for a pixel", &[("            sum += (2 - abs(u)) * (2 - abs(v)) * read_imagef(picture, edge, (int2)(x + u, y + v));", "        {\n            const int2 at = (int2)(x + u, y + v);\n            const int weight = (2 - abs(u)) * (2 - abs(v));\n            sum += weight * read_imagef(picture, edge, at);\n        }")]),
    harmless(NBODY, "has a type for bodies", &[("float4", "Body"), ("#include \"pull.cl\"\n", "#include \"pull.cl\"\n\ntypedef float4 Body;\n")]),
    // Functions pulled out or put in.
    harmless(TEMPLATE, "has a function for its sum", &[("        T sum = 0;\n        for (uint k = 0; k <= 2 * RADIUS; k++)\n            sum += tile[item + k];\n        out[first + item] = sum /", "        out[first + item] = sum_at(tile + item) /"), ("__kernel", "T sum_at(__local const T *tile)\n{\n    T sum = 0;\n    for (uint k = 0; k <= 2 * RADIUS; k++)\n        sum += tile[k];\n    return sum;\n}\n\n__kernel")]),
    harmless(NBODY_NAIVE, "has no function", &[("#include \"pull.cl\"\n", ""), ("        sum += pull(old[k], at);", "    {\n        const float4 from = old[k], way = (float4)(from.xyz - at.xyz, 0);\n        const float near = rsqrt(dot(way, way) + 0.01f);\n        sum += from.w * near * near * near * way;\n    }")]),
    harmless(SORT_PAIRS, "has no function", &[("#include \"step.cl\"\n", ""), ("    const uint2 at = pair_of(get_global_id(0), k, j);", "    const uint id = get_global_id(0), distance = 1u << (k - j), low = id & (distance - 1), start = (id - low) * 2;\n    const uint2 at = (uint2)(j == 0 ? start + distance - 1 - low : start + low, start + distance + low);")]),
    harmless(HALF_VECTORS, "says that a function is inline", &[("float4 four(", "static inline float4 four(")]),
    harmless(WITH_TREE, "has its function in its own file", &[("#include \"beside.cl\"\n", "// Beside a kernel: the sum of what a group's items hold, for its first item.\nstatic T added(__local T *scratch, const uint lid)\n{\n    barrier(CLK_LOCAL_MEM_FENCE);\n    for (uint s = WG / 2; s > 0; s /= 2) {\n        if (lid < s)\n            scratch[lid] += scratch[lid + s];\n        barrier(CLK_LOCAL_MEM_FENCE);\n    }\n    return scratch[0];\n}\n")]),
];

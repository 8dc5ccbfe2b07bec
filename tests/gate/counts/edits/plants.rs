//! Planted pessimisations.

use super::Edit;
use super::kernels::*;

const fn plant(
    (what, file): Kernel,
    about: &'static str,
    found: &'static str,
    patches: &'static [(&'static str, &'static str)],
) -> Edit {
    Edit {
        what,
        file,
        about,
        patches,
        found: Some(found),
    }
}

/// The tree of `sequential`, and of readers.
const LOOP: &str = "for (uint offset = size / 2; offset > 0; offset /= 2) {";
const OWN_LOOP: &str = "for (uint s = WG / 2; s > 0; s /= 2) {\n        if (lid < s)\n            scratch[lid] += scratch[lid + s];";
const HALVING: &str = "for (uint offset = WG / 2; offset > 0; offset /= 2) {\n        barrier(CLK_LOCAL_MEM_FENCE);\n        if (id < offset)\n            scratch[id] = REDUCE(scratch[id], scratch[id + offset]);\n    }";

#[rustfmt::skip]
pub const PLANTS: &[Edit] = &[
    // Padding removed.
    plant(PADDED, "loses its padding", "passes", &[("tile[TILE][TILE + PAD]", "tile[TILE][TILE]")]),
    plant(TURNED, "loses its padding", "passes", &[("WG_X + PAD", "WG_X")]),
    plant(TRANSPOSE_VECTORISED, "loses its padding", "passes", &[("[TILE + PAD]", "[TILE]")]),
    // Strides.
    plant(SEQUENTIAL, "folds neighbours, far apart", "passes", &[(LOOP, "for (uint offset = 1; offset < size; offset *= 2) {\n        const uint left = 2 * offset * id;"), ("if (id < offset)", "if (left < size)"), (FOLD, "scratch[left] = REDUCE(scratch[left], scratch[left + offset]);")]),
    plant(COALESCED, "gives each item a chunk", "segments", &[("for (INDEX i = id; i < end; i += get_global_size(0))", "const INDEX chunk = (end - 1) / get_global_size(0) + 1;\n    for (INDEX i = id * chunk; i < min(end, (id + 1) * chunk); i++)")]),
    plant(MINPLUS, "turns its items round", "segments", &[("j = get_global_id(0), i = get_global_id(1)", "j = get_global_id(1), i = get_global_id(0)")]),
    plant(WITH_TREE, "gives each item a chunk", "segments", &[("begin + k * WG + lid", "begin + lid * 8 + k")]),
    plant(TEMPLATE, "gives each item a chunk", "segments", &[("for (uint item = lid; item < WG * ITEMS; item += WG)", "for (uint item = lid * ITEMS; item < (lid + 1) * ITEMS; item++)")]),
    plant(HISTOGRAM_ITEMS, "gives each item a chunk", "segments", &[("for (INDEX i = get_global_id(0); i < n; i += get_global_size(0))", "const INDEX chunk = (n + get_global_size(0) - 1) / get_global_size(0), first = get_global_id(0) * chunk;\n    for (INDEX i = first; i < min(n, first + chunk); i++)")]),
    plant(FLOYD, "turns its items round", "segments", &[("column = get_global_id(0), row = get_global_id(1)", "column = get_global_id(1), row = get_global_id(0)")]),
    plant(ONLINE, "gives each item a chunk", "segments", &[("for (uint i = id; i < n; i += WG)", "for (uint i = id * share; i < min(n, (id + 1) * share); i++)"), ("    State state =", "    const uint share = (n + WG - 1) / WG;\n    State state =")]),
    plant(SORT_LOCAL, "loads neighbours by an item", "segments", &[("    for (uint i = get_local_id(0); i < 2 * WG; i += WG)\n        block[i] =", "    for (uint i = 2 * get_local_id(0); i < 2 * get_local_id(0) + 2; i++)\n        block[i] =")]),
    plant(FIRST_ADD, "adds neighbours", "segments", &[("(2 * (INDEX)size) + id", "(2 * (INDEX)size) + 2 * id"), ("x[i + size]", "x[i + 1]"), ("i + size < n", "i + 1 < n")]),
    plant(CONVOLUTION_CONSTANT, "starts elsewhere in each column", "constants", &[("            const int row =", "            const int w = (u + x) % SIDE;\n            const int row ="), ("clamp(x + u - SIDE / 2", "clamp(x + w - SIDE / 2"), ("weights[v * SIDE + u]", "weights[v * SIDE + w]")]),
    plant(PRODUCT, "loads its tiles along columns", "segments", &[("            const INDEX r = top + i / TILE, k = first + i % TILE;\n            as[i] =", "            const INDEX r = top + i % WG_Y, k = first + i / WG_Y;\n            as[i % WG_Y * TILE + i / WG_Y] =")]),
    // Divergence.
    plant(TREE, "keeps items busy that lie apart", "instructions", &[(OWN_LOOP, "for (uint s = 1; s < WG; s *= 2) {\n        if (lid % (2 * s) == 0)\n            scratch[lid] += scratch[lid + s];")]),
    plant(HISTOGRAM, "counts odd items apart", "instructions", &[("if (i < n)", "if (i < n && i % 2 == 1)\n        atomic_add(&mine[x[i]], 1);\n    else if (i < n)")]),
    plant(SOFTMAX, "keeps items busy that lie apart", "instructions", &[("for (uint width = WG / 2; width > 0; width /= 2)", "for (uint width = 1; width < WG; width *= 2)"), ("if (id < width)", "if (id % (2 * width) == 0)")]),
    plant(HISTOGRAM, "clears its counts by one item", "instructions", &[("    for (uint bin = lid; bin < BINS; bin += WG)\n        mine[bin] = 0;", "    if (lid == 0)\n        for (uint bin = 0; bin < BINS; bin++)\n            mine[bin] = 0;")]),
    plant(SOFTMAX, "has one item add up", "instructions", &[("    for (uint width = WG / 2; width > 0; width /= 2) {\n        barrier(CLK_LOCAL_MEM_FENCE);\n        if (id < width)\n            tree[id] += tree[id + width];\n    }", "    barrier(CLK_LOCAL_MEM_FENCE);\n    for (uint k = 1; id == 0 && k < WG; k++)\n        tree[0] += tree[k];")]),
    // Unrolling undone, and more arithmetic.
    plant(RAKING, "rolls its tree up", "instructions", &[("unrolled_tree(scratch, id);", HALVING)]),
    plant(PRODUCT, "divides in its loop", "instructions", &[("sum += as[y * TILE + k] * bs[k * WG_X + x];", "sum += as[(y * TILE + k) % (n * TILE)] * bs[k * WG_X + x];")]),
    plant(PRODUCT_REGISTERS, "rolls its rows up", "private", &[("            for (uint r = 0; r < ROWS; r++)\n                sum[r] +=", "            #pragma unroll 1\n            for (uint r = 0; r < ROWS; r++)\n                sum[r] +=")]),
    plant(BACKWARDS, "has an array for its two sums", "private", &[("    T even = 0, odd = 0;", "    T sums[2] = { 0, 0 };"), ("        if (at % 2 == 0)\n            even = fma(x[at], y[at], even);\n        else\n            odd += x[at] * y[at];", "        sums[at % 2] += x[at] * y[at];"), ("even + odd", "sums[0] + sums[1]")]),
    plant(STRIDED, "divides for its place", "divisions", &[("const uint id = get_local_id(0), size = get_local_size(0);\n    const INDEX i = get_global_id(0);", "const uint size = get_local_size(0);\n    const INDEX i = get_global_id(0);\n    const uint id = i % size;")]),
    plant(PULL, "forgets an f", "instructions", &[("0.01f", "0.01")]),
    // Vectors split.
    plant(VECTORS, "loads one by one", "requests", &[("sums += vload4(i, x);", "sums.x += x[4 * i], sums.y += x[4 * i + 1], sums.z += x[4 * i + 2], sums.w += x[4 * i + 3];")]),
    plant(SAXPY, "stores one by one", "requests", &[("if (4 * i + 4 <= n)\n        vstore4(a * vload4(i, x) + vload4(i, y), i, y);\n    else\n        for (uint k = 4 * i; k < n; k++)", "for (uint k = 4 * i; k < min(n, 4 * i + 4); k++)")]),
    plant(NBODY, "has an array for each coordinate", "local", &[("    __local float4 tile[WG];", "    __local float xs[WG], ys[WG], zs[WG], masses[WG];"), ("        tile[id] = first + id < n ? old[first + id] : (float4)(0);", "        const float4 body = first + id < n ? old[first + id] : (float4)(0);\n        xs[id] = body.x, ys[id] = body.y, zs[id] = body.z, masses[id] = body.w;"), ("pull(tile[k], at)", "pull((float4)(xs[k], ys[k], zs[k], masses[k]), at)")]),
    plant(TRANSPOSE_VECTORISED, "stores one by one", "requests", &[("store_vector(column, out, to, LEFT(top + lx, height, left + ly + j < width));", "for (uint k = 0; k < min((uint)LEFT(top + lx, height, left + ly + j < width), 4u); k++)\n            out[to + k] = ((const T *)&column)[k];")]),
    // Barriers added.
    plant(LOCAL, "waits twice", "barriers", &[("        barrier(CLK_LOCAL_MEM_FENCE);", "        barrier(CLK_LOCAL_MEM_FENCE);\n        barrier(CLK_LOCAL_MEM_FENCE);")]),
    plant(PRODUCT, "waits between its loads", "barriers", &[("        for (uint i = lid; i < TILE * WG_X; i += WG) {", "        barrier(CLK_LOCAL_MEM_FENCE);\n        for (uint i = lid; i < TILE * WG_X; i += WG) {")]),
    plant(SCAN_ONCE, "waits before its tree", "barriers", &[("    const T before =", "    barrier(CLK_LOCAL_MEM_FENCE);\n    const T before =")]),
    plant(DOT_GROUPS, "waits before its tree", "barriers", &[("    tree[id] = mine;", "    barrier(CLK_LOCAL_MEM_FENCE);\n    tree[id] = mine;")]),
    // Reuse lost, and more accesses.
    plant(PRODUCT, "reads global memory again", "requests", &[("bs[k * WG_X + x];\n        barrier", "b[(first + k) * n + left + x];\n        barrier")]),
    plant(STENCIL, "reads global memory again", "requests", &[("tile[y + 1][x] +", "a[row * n + column - 1] +")]),
    plant(BLOCKS, "reads a column for each row", "requests", &[("x[i] + y[j]", "x[i] + ((volatile __global const T *)rows)[k * pitch + left + across + j * ITEM]")]),
    plant(CONVOLUTION_TILE, "reads global memory again", "requests", &[("weight * tile[y + v][x + p * WG_X + u]", "weight * image[clamp(top + y + v - SIDE / 2, 0, m - 1) * n + clamp(left + x + p * WG_X + u - SIDE / 2, 0, n - 1)]")]),
    plant(STREAM, "multiplies again", "requests", &[("sum += products[i - first]", "sum += values[i] * x[columns[i]]")]),
    plant(FLOYD_BLOCKED, "reads global memory again", "requests", &[("shortest = min(shortest, left[i / SIDE * SIDE + k]", "shortest = min(shortest, d[r * n + min(block * SIDE + k, n - 1)]")]),
    plant(SMOOTH, "reads pixels that weigh nothing", "requests", &[("int v = -1; v <= 1;", "int v = -2; v <= 2;"), ("int u = -1; u <= 1;", "int u = -2; u <= 2;")]),
    plant(DOT_SOME, "adds up in global memory", "requests", &[("    float sum = 0;", "    products[i] = 0;"), ("        sum +=", "        products[i] +="), ("    products[i] = sum;\n", "")]),
    plant(SORT_PAIRS, "stores without asking", "segments", &[("    if (at.y < n && x[at.x] > x[at.y]) {\n        const int larger = x[at.x];\n        x[at.x] = x[at.y];\n        x[at.y] = larger;\n    }", "    if (at.y < n) {\n        const int a = x[at.x], b = x[at.y];\n        x[at.x] = min(a, b);\n        x[at.y] = max(a, b);\n    }")]),
    // Local memory used more.
    plant(LOCAL, "adds up in local memory", "local", &[("    T sum = 0;\n", "    scratch[id] = 0;\n"), ("        sum = MULADD(x[i], y[i], sum);\n    scratch[id] = sum;", "        scratch[id] = MULADD(x[i], y[i], scratch[id]);")]),
    // Atomics added.
    plant(OWN_RAKING, "adds up by atomics", "atomics", &[("    scratch[lid] = sum;\n    for (uint s = WG / 2; s > 0; s >>= 1) {\n        barrier(CLK_LOCAL_MEM_FENCE);\n        if (lid < s)\n            scratch[lid] += scratch[lid + s];\n    }\n", "    if (lid == 0)\n        scratch[0] = 0;\n    barrier(CLK_LOCAL_MEM_FENCE);\n    atomic_add(&scratch[0], sum);\n    barrier(CLK_LOCAL_MEM_FENCE);\n")]),
    // Loads that wait for others.
    plant(COALESCED, "stops at a NaN", "waits", &[("i < end;", "i < end && sum == sum;")]),
    plant(CONVOLUTION, "leaves weights of 0 out", "waits", &[("            sum += weights[v * SIDE + u] * image[row * n + column];", "            const int weight = weights[v * SIDE + u];\n            if (weight != 0)\n                sum += weight * image[row * n + column];")]),
];

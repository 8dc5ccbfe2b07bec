//! Planted pessimisations.

use super::Edit;
use super::kernels::*;

/// The count that must be named, and a part of the line that it must be named with.
type Found = (&'static str, &'static str);

const fn plant(
    (what, file): Kernel,
    about: &'static str,
    found: Found,
    patches: &'static [(&'static str, &'static str)],
) -> Edit {
    Edit { what, file, about, patches, found: Some(found) }
}

/// The tree of `sequential`, and of readers.
const LOOP: &str = "for (uint offset = size / 2; offset > 0; offset /= 2) {";
const OWN_LOOP: &str =
    "for (uint s = WG / 2; s > 0; s /= 2) {\n        if (lid < s)\n            scratch[lid] += scratch[lid + s];";
const HALVING: &str = "for (uint offset = WG / 2; offset > 0; offset /= 2) {\n        barrier(CLK_LOCAL_MEM_FENCE);\n        if (id < offset)\n            scratch[id] = REDUCE(scratch[id], scratch[id + offset]);\n    }";

#[rustfmt::skip]
pub const PLANTS: &[Edit] = &[
    // Padding removed.
    plant(PADDED, "loses its padding", ("passes", "tile[lx][ly + j]"), &[("tile[TILE][TILE + PAD]", "tile[TILE][TILE]")]),
    plant(TILED, "loses its padding", ("passes", "tile[x][y + k]"), &[("[32][33]", "[32][32]")]),
    plant(TURNED, "loses its padding", ("passes", "tile[column][row]"), &[("WG_X + PAD", "WG_X")]),
    plant(LOCAL_ARGUMENT, "loses its padding", ("passes", "tile[x * 16 + y]"), &[("* 17 +", "* 16 +")]),
    plant(TRANSPOSE_VECTORISED, "loses its padding", ("passes", "tile[lx][ly + j]"), &[("[TILE + PAD]", "[TILE]")]),
    plant(DIAGONAL, "loses its padding", ("passes", "tile[lx][ly + j]"), &[("[TILE + PAD]", "[TILE]")]),
    // Strides.
    plant(SEQUENTIAL, "folds neighbours, far apart", ("passes", "scratch[left] ="), &[(LOOP, "for (uint offset = 1; offset < size; offset *= 2) {\n        const uint left = 2 * offset * id;"), ("if (id < offset)", "if (left < size)"), (FOLD, "scratch[left] = REDUCE(scratch[left], scratch[left + offset]);")]),
    plant(TREE, "folds neighbours, far apart", ("passes", "scratch[2 * s * lid]"), &[(OWN_LOOP, "for (uint s = 1; s < WG; s *= 2) {\n        if (2 * s * lid < WG)\n            scratch[2 * s * lid] += scratch[2 * s * lid + s];")]),
    plant(COALESCED, "gives each item a chunk", ("segments", "MULADD(x[i], y[i], sum)"), &[("for (INDEX i = id; i < end; i += get_global_size(0))", "const INDEX chunk = (end - 1) / get_global_size(0) + 1;\n    for (INDEX i = id * chunk; i < min(end, (id + 1) * chunk); i++)")]),
    plant(VECTORS, "gives each item a chunk", ("segments", "vload4(i, x)"), &[("for (INDEX i = item; i < n / 4; i += items)", "const INDEX chunk = (n / 4 + items - 1) / items;\n    for (INDEX i = item * chunk; i < min(n / 4, (item + 1) * chunk); i++)")]),
    plant(MINPLUS, "turns its items round", ("segments", "SMALLER(best"), &[("j = get_global_id(0), i = get_global_id(1)", "j = get_global_id(1), i = get_global_id(0)")]),
    plant(PADDED, "reads along columns", ("segments", "in[(top + lx) * in_pitch"), &[("INSIDE(left + lx, top + ly + j)", "INSIDE(left + ly + j, top + lx)"), ("tile[ly + j][lx] = in[(top + ly + j) * in_pitch + left + lx]", "tile[lx][ly + j] = in[(top + lx) * in_pitch + left + ly + j]")]),
    plant(WITH_TREE, "gives each item a chunk", ("segments", "sum += x[i] * y[i]"), &[("begin + k * WG + lid", "begin + lid * 8 + k")]),
    plant(SCAN_ONCE, "loads each item's own", ("segments", "block[k] = first + k"), &[("    for (uint k = lid; k < WG * ITEMS; k += WG)\n        block[k] =", "    for (uint k = lid * ITEMS; k < (lid + 1) * ITEMS; k++)\n        block[k] =")]),
    plant(TEMPLATE, "gives each item a chunk", ("segments", "out[first + item]"), &[("for (uint item = lid; item < WG * ITEMS; item += WG)", "for (uint item = lid * ITEMS; item < (lid + 1) * ITEMS; item++)")]),
    plant(SAXPY_STRIDES, "gives each item a chunk", ("segments", "y[i] = a * x[i]"), &[("for (uint i = get_global_id(0); i < n; i += get_global_size(0))", "const uint chunk = (n + get_global_size(0) - 1) / get_global_size(0), first = get_global_id(0) * chunk;\n    for (uint i = first; i < min(n, first + chunk); i++)")]),
    plant(HISTOGRAM_ITEMS, "gives each item a chunk", ("segments", "atomic_inc(&mine[x[i]])"), &[("for (INDEX i = get_global_id(0); i < n; i += get_global_size(0))", "const INDEX chunk = (n + get_global_size(0) - 1) / get_global_size(0), first = get_global_id(0) * chunk;\n    for (INDEX i = first; i < min(n, first + chunk); i++)")]),
    plant(CONVOLUTION, "turns its items round", ("segments", "image[row * n + column]"), &[("x = get_global_id(0), y = get_global_id(1)", "x = get_global_id(1), y = get_global_id(0)")]),
    plant(FLOYD, "turns its items round", ("segments", "d[row * n + column] ="), &[("column = get_global_id(0), row = get_global_id(1)", "column = get_global_id(1), row = get_global_id(0)")]),
    plant(TEXTBOOK, "turns its items round", ("segments", "d[i * n + j] ="), &[("j = get_global_id(0), i = get_global_id(1)", "j = get_global_id(1), i = get_global_id(0)")]),
    plant(ONLINE, "gives each item a chunk", ("segments", "y[i] = exp("), &[("for (uint i = id; i < n; i += WG)", "for (uint i = id * share; i < min(n, (id + 1) * share); i++)"), ("    State state =", "    const uint share = (n + WG - 1) / WG;\n    State state =")]),
    plant(PRESUM, "gives each item a chunk", ("segments", "sum += x[first + k]"), &[("(INDEX)get_group_id(0) * (WG * ITEMS) + get_local_id(0)", "(INDEX)get_global_id(0) * ITEMS"), ("first + k * WG", "first + k")]),
    plant(SORT_LOCAL, "loads neighbours by an item", ("segments", "block[i] = first + i"), &[("    for (uint i = get_local_id(0); i < 2 * WG; i += WG)\n        block[i] =", "    for (uint i = 2 * get_local_id(0); i < 2 * get_local_id(0) + 2; i++)\n        block[i] =")]),
    plant(CONVOLUTION_TILE, "gives each item neighbours", ("segments", "filtered[(top + y) * n + column]"), &[("x + p * WG_X", "x * PIXELS + p")]),
    plant(FIRST_ADD, "adds neighbours", ("segments", "x[i"), &[("(2 * (INDEX)size) + id", "(2 * (INDEX)size) + 2 * id"), ("x[i + size]", "x[i + 1]"), ("i + size < n", "i + 1 < n")]),
    plant(HALF, "keeps its second tile turned", ("passes", "as[y][k] * bs[x][k]"), &[("bs[TILE][WG_X]", "bs[WG_X][TILE]"), ("bs[i / WG_X][i % WG_X]", "bs[i % WG_X][i / WG_X]"), ("bs[k][x]", "bs[x][k]")]),
    plant(CONVOLUTION_CONSTANT, "starts elsewhere in each column", ("constants", "sum += weights"), &[("            const int row =", "            const int w = (u + x) % SIDE;\n            const int row ="), ("clamp(x + u - SIDE / 2", "clamp(x + w - SIDE / 2"), ("weights[v * SIDE + u]", "weights[v * SIDE + w]")]),
    plant(LANES, "gives each item a share of a row", ("segments", "sum += values[i]"), &[("        for (int i = rows[row] + lane; i < rows[row + 1]; i += LANES)\n            sum +=", "    {\n        const int begin = rows[row], end = rows[row + 1], share = (end - begin + LANES - 1) / LANES;\n        for (int i = begin + lane * share; i < min(end, begin + (lane + 1) * share); i++)\n            sum +="), ("x[columns[i]];\n    sums[id]", "x[columns[i]];\n    }\n    sums[id]")]),
    plant(PRODUCT, "loads its tiles along columns", ("segments", "as[i % WG_Y * TILE"), &[("            const INDEX r = top + i / TILE, k = first + i % TILE;\n            as[i] =", "            const INDEX r = top + i % WG_Y, k = first + i / WG_Y;\n            as[i % WG_Y * TILE + i / WG_Y] =")]),
    // Divergence.
    plant(SEQUENTIAL, "keeps items busy that lie apart", ("instructions", "scratch[id] = REDUCE"), &[(LOOP, "for (uint offset = 1; offset < size; offset *= 2) {"), ("if (id < offset)", "if (id % (2 * offset) == 0)")]),
    plant(TREE, "keeps items busy that lie apart", ("instructions", "scratch[lid] += "), &[(OWN_LOOP, "for (uint s = 1; s < WG; s *= 2) {\n        if (lid % (2 * s) == 0)\n            scratch[lid] += scratch[lid + s];")]),
    plant(SAXPY, "takes two ways", ("requests", "vstore4("), &[("if (4 * i + 4 <= n)", "if (4 * i + 4 <= n && i % 2 == 1)\n        vstore4(mad((float4)(a), vload4(i, x), vload4(i, y)), i, y);\n    else if (4 * i + 4 <= n)")]),
    plant(HISTOGRAM, "counts odd items apart", ("instructions", "atomic_"), &[("if (i < n)", "if (i < n && i % 2 == 1)\n        atomic_add(&mine[x[i]], 1);\n    else if (i < n)")]),
    plant(NBODY_NAIVE, "leaves itself out", ("instructions", "if (k != i)"), &[("        sum += pull(old[k], at);", "        if (k != i)\n            sum += pull(old[k], at);")]),
    plant(SOFTMAX, "keeps items busy that lie apart", ("instructions", "tree[id]"), &[("for (uint width = WG / 2; width > 0; width /= 2)", "for (uint width = 1; width < WG; width *= 2)"), ("if (id < width)", "if (id % (2 * width) == 0)")]),
    plant(INSIDE, "asks no longer what lies inside", ("instructions", "for (; steps < STEPS"), &[("in_cardioid || in_circle ? STEPS : 0", "0")]),
    plant(HISTOGRAM, "clears its counts by one item", ("instructions", "mine[bin] = 0"), &[("    for (uint bin = lid; bin < BINS; bin += WG)\n        mine[bin] = 0;", "    if (lid == 0)\n        for (uint bin = 0; bin < BINS; bin++)\n            mine[bin] = 0;")]),
    plant(TEMPLATE, "loads its rim apart", ("requests", "tile[WG * ITEMS"), &[("    for (uint k = lid; k < WG * ITEMS + 2 * RADIUS; k += WG)\n        if (first + k < n + 2 * RADIUS)\n            tile[k] = in[first + k];", "    for (uint k = lid; k < WG * ITEMS; k += WG)\n        if (first + k < n + 2 * RADIUS)\n            tile[k] = in[first + k];\n    for (uint k = 0; lid == 0 && k < 2 * RADIUS; k++)\n        if (first + WG * ITEMS + k < n + 2 * RADIUS)\n            tile[WG * ITEMS + k] = in[first + WG * ITEMS + k];")]),
    plant(SOFTMAX, "has one item add up", ("instructions", "tree[k]"), &[("    for (uint width = WG / 2; width > 0; width /= 2) {\n        barrier(CLK_LOCAL_MEM_FENCE);\n        if (id < width)\n            tree[id] += tree[id + width];\n    }", "    barrier(CLK_LOCAL_MEM_FENCE);\n    for (uint k = 1; id == 0 && k < WG; k++)\n        tree[0] += tree[k];")]),
    // Unrolling undone, and more arithmetic.
    plant(UNROLLED, "rolls its tree up", ("instructions", "offset"), &[("unrolled_tree(scratch, id);", HALVING)]),
    plant(RAKING, "rolls its tree up", ("instructions", "offset"), &[("unrolled_tree(scratch, id);", HALVING)]),
    plant(VECTORISED, "sums four in a loop", ("private", "sum4"), &[("T sum = (sum4.s0 + sum4.s1) + (sum4.s2 + sum4.s3);", "T sum = 0;\n    for (uint k = 0; k < 4; k++) sum += ((T *)&sum4)[(k + id) % 4];")]),
    plant(PRODUCT, "divides in its loop", ("instructions", "sum +="), &[("sum += as[y * TILE + k] * bs[k * WG_X + x];", "sum += as[(y * TILE + k) % (n * TILE)] * bs[k * WG_X + x];")]),
    plant(ACCUMULATORS, "rolls its loops up", ("private", "acc[a] = MULADD"), &[("#pragma unroll\n", "#pragma unroll 1\n")]),
    plant(PRODUCT_REGISTERS, "rolls its rows up", ("private", "sum[r] +="), &[("            for (uint r = 0; r < ROWS; r++)\n                sum[r] +=", "            #pragma unroll 1\n            for (uint r = 0; r < ROWS; r++)\n                sum[r] +=")]),
    plant(CHAINS, "rolls its steps up", ("instructions", "chain[c] = chain[c] * factor"), &[("EACH(step, 16) EACH(c, CHAINS)", "\n            #pragma unroll 1\n            for (uint step = 0; step < 16; step++) EACH(c, CHAINS)")]),
    plant(BACKWARDS, "has an array for its two sums", ("private", "sums[at % 2] +="), &[("    T even = 0, odd = 0;", "    T sums[2] = { 0, 0 };"), ("        if (at % 2 == 0)\n            even = fma(x[at], y[at], even);\n        else\n            odd += x[at] * y[at];", "        sums[at % 2] += x[at] * y[at];"), ("even + odd", "sums[0] + sums[1]")]),
    plant(STENCIL_NAIVE, "divides for its place", ("divisions", "id % n"), &[("const uint x = get_global_id(0), y = get_global_id(1);\n    if (x >= n || y >= m)", "const uint id = get_global_id(1) * get_global_size(0) + get_global_id(0), x = id % n, y = id / n;\n    if (y >= m)")]),
    plant(STRIDED, "divides for its place", ("divisions", "i % size"), &[("const uint id = get_local_id(0), size = get_local_size(0);\n    const INDEX i = get_global_id(0);", "const uint size = get_local_size(0);\n    const INDEX i = get_global_id(0);\n    const uint id = i % size;")]),
    plant(PULL, "divides by a root", ("flops", "1 / sqrt("), &[("rsqrt(dot(way, way) + 0.01f)", "1 / sqrt(dot(way, way) + 0.01f)")]),
    plant(PULL, "forgets an f", ("instructions", "rsqrt("), &[("0.01f", "0.01")]),
    plant(BODIES, "has an array that it does not unroll", ("private", "pull(from, at[b])"), &[("            for (uint b = 0; b < BODIES; b++)\n                sum[b]", "            #pragma unroll 1\n            for (uint b = 0; b < BODIES; b++)\n                sum[b]")]),
    // Vectors split.
    plant(VECTORS, "loads one by one", ("requests", "sums.x +="), &[("sums += vload4(i, x);", "sums.x += x[4 * i], sums.y += x[4 * i + 1], sums.z += x[4 * i + 2], sums.w += x[4 * i + 3];")]),
    plant(VECTORISED, "loads one by one", ("requests", "sum4.s0 ="), &[("sum4 = MULADD(x4[i], y4[i], sum4);", "sum4.s0 = MULADD(x[4 * i], y[4 * i], sum4.s0), sum4.s1 = MULADD(x[4 * i + 1], y[4 * i + 1], sum4.s1), sum4.s2 = MULADD(x[4 * i + 2], y[4 * i + 2], sum4.s2), sum4.s3 = MULADD(x[4 * i + 3], y[4 * i + 3], sum4.s3);")]),
    plant(SAXPY, "stores one by one", ("requests", "y[k] ="), &[("if (4 * i + 4 <= n)\n        vstore4(a * vload4(i, x) + vload4(i, y), i, y);\n    else\n        for (uint k = 4 * i; k < n; k++)", "for (uint k = 4 * i; k < min(n, 4 * i + 4); k++)")]),
    plant(REDUCE_VECTORISED, "loads one by one", ("requests", "acc[a] = REDUCE("), &[("#define T4 CAT(T, 4)", "#define T4 CAT(T, 4)\n#define FOUR(p) (T4)((p)[0], (p)[1], (p)[2], (p)[3])"), ("x4[i + a * WG]", "FOUR(x + 4 * (i + a * WG))")]),
    plant(NBODY, "has an array for each coordinate", ("local", "sum += pull("), &[("    __local float4 tile[WG];", "    __local float xs[WG], ys[WG], zs[WG], masses[WG];"), ("        tile[id] = first + id < n ? old[first + id] : (float4)(0);", "        const float4 body = first + id < n ? old[first + id] : (float4)(0);\n        xs[id] = body.x, ys[id] = body.y, zs[id] = body.z, masses[id] = body.w;"), ("pull(tile[k], at)", "pull((float4)(xs[k], ys[k], zs[k], masses[k]), at)")]),
    plant(HALF_VECTORS, "loads one by one", ("requests", "return (float4)(vload_half"), &[("return vload_half4(0, at);", "return (float4)(vload_half(0, at), vload_half(1, at), vload_half(2, at), vload_half(3, at));")]),
    plant(TRANSPOSE_VECTORISED, "stores one by one", ("requests", "out[to + k] ="), &[("store_vector(column, out, to, LEFT(top + lx, height, left + ly + j < width));", "for (uint k = 0; k < min((uint)LEFT(top + lx, height, left + ly + j < width), 4u); k++)\n            out[to + k] = ((const T *)&column)[k];")]),
    // Barriers added.
    plant(SEQUENTIAL, "waits twice", ("barriers", "barrier("), &[(FOLD, "scratch[id] = REDUCE(scratch[id], scratch[id + offset]);\n        barrier(CLK_LOCAL_MEM_FENCE);")]),
    plant(LOCAL, "waits twice", ("barriers", "barrier("), &[("        barrier(CLK_LOCAL_MEM_FENCE);", "        barrier(CLK_LOCAL_MEM_FENCE);\n        barrier(CLK_LOCAL_MEM_FENCE);")]),
    plant(PADDED, "waits at its end", ("barriers", "barrier("), &[("out[(left + ly + j) * out_pitch + top + lx] = tile[lx][ly + j];", "out[(left + ly + j) * out_pitch + top + lx] = tile[lx][ly + j];\n    barrier(CLK_LOCAL_MEM_FENCE);")]),
    plant(PRODUCT, "waits between its loads", ("barriers", "barrier("), &[("        for (uint i = lid; i < TILE * WG_X; i += WG) {", "        barrier(CLK_LOCAL_MEM_FENCE);\n        for (uint i = lid; i < TILE * WG_X; i += WG) {")]),
    plant(SOFTMAX, "waits in a loop", ("barriers", "barrier("), &[("if (id < width)\n            tree[id] += tree[id + width];", "if (id < width)\n            tree[id] += tree[id + width];\n        barrier(CLK_LOCAL_MEM_FENCE);")]),
    plant(SCAN_ONCE, "waits before its tree", ("barriers", "barrier("), &[("    const T before =", "    barrier(CLK_LOCAL_MEM_FENCE);\n    const T before =")]),
    plant(SORT_LOCAL, "waits between its loads and stores", ("barriers", "barrier("), &[("    block[at.x] = min(a, b);", "    barrier(CLK_LOCAL_MEM_FENCE);\n    block[at.x] = min(a, b);")]),
    plant(DOT_GROUPS, "waits before its tree", ("barriers", "barrier("), &[("    tree[id] = mine;", "    barrier(CLK_LOCAL_MEM_FENCE);\n    tree[id] = mine;")]),
    plant(STREAM, "fences all memory", ("barriers", "barrier("), &[("    barrier(CLK_LOCAL_MEM_FENCE);", "    barrier(CLK_LOCAL_MEM_FENCE);\n    barrier(CLK_GLOBAL_MEM_FENCE);")]),
    // Reuse lost, and more accesses.
    plant(PRODUCT, "reads global memory again", ("requests", "sum +="), &[("bs[k * WG_X + x];\n        barrier", "b[(first + k) * n + left + x];\n        barrier")]),
    plant(TILES, "reads global memory again", ("requests", "best = SMALLER"), &[("rows[y][k] + columns", "d[i * n + begin + k] + columns")]),
    plant(STENCIL, "reads global memory again", ("requests", "a[row * n + column - 1]"), &[("tile[y + 1][x] +", "a[row * n + column - 1] +")]),
    plant(NBODY, "reads global memory again", ("requests", "pull("), &[("pull(tile[k], at)", "pull(first + k < n ? old[first + k] : (float4)(0), at)")]),
    plant(BLOCKS, "reads a column for each row", ("requests", "best[i][j] = SMALLER"), &[("JOIN(x[i], y[j])", "JOIN(x[i], ((volatile __global const T *)rows)[k * pitch + left + across + j * ITEM])")]),
    plant(HISTOGRAM, "counts each element twice over", ("atomics", "atomic_"), &[("atomic_inc(&mine[x[i]]);", "atomic_add(&mine[x[i]], 2), atomic_sub(&mine[x[i]], 1);")]),
    plant(CONVOLUTION_TILE, "reads global memory again", ("requests", "sums[p] += weight"), &[("weight * tile[y + v][x + p * WG_X + u]", "weight * image[clamp(top + y + v - SIDE / 2, 0, m - 1) * n + clamp(left + x + p * WG_X + u - SIDE / 2, 0, n - 1)]")]),
    plant(TEMPLATE, "reads global memory again", ("requests", "sum += in["), &[("sum += tile[item + k]", "sum += in[first + item + k]")]),
    plant(STREAM, "multiplies again", ("requests", "sum += values[i]"), &[("sum += products[i - first]", "sum += values[i] * x[columns[i]]")]),
    plant(HALF, "reads global memory again", ("requests", "sum += as[y][k]"), &[("as[y][k] * bs[k][x]", "as[y][k] * (first + k < n && left + x < n ? vload_half((first + k) * n + left + x, b) : 0)")]),
    plant(FLOYD_BLOCKED, "reads global memory again", ("requests", "shortest = min("), &[("shortest = min(shortest, left[i / SIDE * SIDE + k]", "shortest = min(shortest, d[r * n + min(block * SIDE + k, n - 1)]")]),
    plant(MINPLUS_LOCAL, "reads global memory again", ("requests", "x[i] = columns"), &[("x[i] = xs[k][down + i * ITEM]", "x[i] = columns[(first + k) * pitch + top + down + i * ITEM]")]),
    plant(SMOOTH, "reads pixels that weigh nothing", ("requests", "sum +="), &[("int v = -1; v <= 1;", "int v = -2; v <= 2;"), ("int u = -1; u <= 1;", "int u = -2; u <= 2;")]),
    plant(SOFTMAX, "keeps its powers in global memory", ("requests", "y[i] = exp("), &[("        y[i] = exp(x[i] - most) / sum;", "        y[i] /= sum;"), ("        sum += exp(x[i] - most);", "        y[i] = exp(x[i] - most), sum += y[i];")]),
    plant(DOT_SOME, "adds up in global memory", ("requests", "products[i] +="), &[("    float sum = 0;", "    products[i] = 0;"), ("        sum +=", "        products[i] +="), ("    products[i] = sum;\n", "")]),
    plant(SPMV, "adds up in global memory", ("requests", "y[row] +="), &[("    float sum = 0;", "    y[row] = 0;"), ("        sum +=", "        y[row] +="), ("    y[row] = sum;\n", "")]),
    plant(SORT_PAIRS, "stores without asking", ("segments", "x[at."), &[("    if (at.y < n && x[at.x] > x[at.y]) {\n        const int larger = x[at.x];\n        x[at.x] = x[at.y];\n        x[at.y] = larger;\n    }", "    if (at.y < n) {\n        const int a = x[at.x], b = x[at.y];\n        x[at.x] = min(a, b);\n        x[at.y] = max(a, b);\n    }")]),
    // Local memory used more.
    plant(STREAM, "adds up in local memory", ("local", "products[begin - first] +="), &[("    float sum = 0;\n    for (int i = rows[row]; i < rows[row + 1]; i++)\n        sum += products[i - first];\n    y[row] = sum;", "    const int begin = rows[row], end = rows[row + 1];\n    for (int i = begin + 1; i < end; i++)\n        products[begin - first] += products[i - first];\n    y[row] = begin < end ? products[begin - first] : 0;")]),
    plant(LOCAL, "adds up in local memory", ("local", "scratch[id] = MULADD("), &[("    T sum = 0;\n", "    scratch[id] = 0;\n"), ("        sum = MULADD(x[i], y[i], sum);\n    scratch[id] = sum;", "        scratch[id] = MULADD(x[i], y[i], scratch[id]);")]),
    plant(BODIES, "reads its tile for each body", ("local", "sum[b] += pull(tile[k]"), &[("        for (uint k = 0; k < WG; k++) {\n            const float4 from = tile[k];\n            for (uint b = 0; b < BODIES; b++)\n                sum[b] += pull(from, at[b]);\n        }", "        for (uint b = 0; b < BODIES; b++)\n            for (uint k = 0; k < WG; k++)\n                sum[b] += pull(tile[k], at[b]);")]),
    // Atomics added.
    plant(OWN_RAKING, "adds up by atomics", ("atomics", "atomic_add("), &[("    scratch[lid] = sum;\n    for (uint s = WG / 2; s > 0; s >>= 1) {\n        barrier(CLK_LOCAL_MEM_FENCE);\n        if (lid < s)\n            scratch[lid] += scratch[lid + s];\n    }\n", "    if (lid == 0)\n        scratch[0] = 0;\n    barrier(CLK_LOCAL_MEM_FENCE);\n    atomic_add(&scratch[0], sum);\n    barrier(CLK_LOCAL_MEM_FENCE);\n")]),
    plant(LEVELS, "marks nodes by atomics", ("atomics", "atomic_cmpxchg("), &[("            levels[j] = level + 1;", "            atomic_cmpxchg(&levels[j], -1, level + 1);")]),
    // Loads that wait for others.
    plant(COALESCED, "stops at a NaN", ("waits", "sum = MULADD("), &[("i < end;", "i < end && sum == sum;")]),
    plant(PRODUCT_NAIVE, "leaves zeros out", ("waits", "sum += left *"), &[("        sum += a[row * n + k] * b[k * n + column];", "    {\n        const T left = a[row * n + k];\n        if (left != 0)\n            sum += left * b[k * n + column];\n    }")]),
    plant(CONVOLUTION, "leaves weights of 0 out", ("waits", "sum += weight *"), &[("            sum += weights[v * SIDE + u] * image[row * n + column];", "            const int weight = weights[v * SIDE + u];\n            if (weight != 0)\n                sum += weight * image[row * n + column];")]),
];

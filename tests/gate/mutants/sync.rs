//! What no run on a CPU shows: races, and accesses that change nothing. Oclgrind finds them, and says so in its log.

use super::mutant::{Mutant, kernel};

const RACE: &str = "data race";
const READ: &str = "Invalid read";
const WRITE: &str = "Invalid write";
const UNINITIALISED: &str = "Uninitialized";
const DIVERGENCE: &str = "divergence";
const BARRIER: &str = "barrier(CLK_LOCAL_MEM_FENCE);";
const STORE: &str = "partial[get_group_id(0)] = scratch[0];";

pub const MUTANTS: &[Mutant] = &[
    kernel("reduce/interleaved", "no barrier", BARRIER, "").logged(RACE),
    kernel("reduce/strided", "no barrier", BARRIER, "").logged(RACE),
    kernel("reduce/sequential", "no barrier", BARRIER, "").logged(RACE),
    kernel("reduce/sequential", "a barrier in the first step only", BARRIER, "if (offset == WG / 2) barrier(CLK_LOCAL_MEM_FENCE);").logged(RACE),
    kernel("reduce/first_add", "no barrier", BARRIER, "").logged(RACE),
    kernel("reduce/raking", "no barrier in the tree", "barrier(CLK_LOCAL_MEM_FENCE))", ")").file_is("reduce/halving.cl").logged(RACE),
    kernel("reduce/interleaved", "every item writes the result", "if (id == 0)\n        partial", "partial").logged(RACE),
    kernel("reduce/raking", "items of other groups write the result", "partial[get_group_id(0)] = scratch[0];", "partial[0] = scratch[0];").logged(RACE),
    kernel("reduce/single_pass", "partial results without atomics", "atomic_xchg(slot + w, bits.words[w]);", "slot[w] = bits.words[w];").and(&[("atomic_or(slot + w, 0u)", "slot[w]")]).file_is("common/publish.cl").n(9001).logged(RACE),
    kernel("reduce/single_pass", "a ticket without atomics", "last = atomic_inc(ticket) == groups - 1;", "last = (*ticket)++ == groups - 1;").n(9001).logged(RACE),
    kernel("reduce/sequential", "only some items reach the barrier", BARRIER, "if (id < 32) barrier(CLK_LOCAL_MEM_FENCE);").logged(DIVERGENCE),
    kernel("reduce/sequential", "reads local memory that nobody wrote", "scratch[id] = i < n ? x[i] : IDENTITY;", "if (i < n) scratch[id] = x[i];").logged(UNINITIALISED),
    kernel("reduce/raking", "starts from nothing", "T value = IDENTITY;", "T value;").logged(UNINITIALISED),
    kernel("reduce/sequential", "reads past the end, and does not use it", "scratch[id] = i < n ? x[i] : IDENTITY;", "const T all = x[i]; scratch[id] = i < n ? all : IDENTITY;").logged(READ),
    kernel("reduce/sequential", "puts back what it read behind its results", STORE, "{ partial[get_group_id(0)] = scratch[0]; partial[get_num_groups(0) + 3] = partial[get_num_groups(0) + 3]; }").logged(WRITE),
    kernel("reduce/raking", "reads far beyond its input, and does not use it", "T value = IDENTITY;", "T value = x[n + 100000] == 5 ? IDENTITY : IDENTITY;").logged(READ),
    kernel("reduce/sequential", "writes beyond its local memory", "scratch[id] = i < n ? x[i] : IDENTITY;", "scratch[id] = i < n ? x[i] : IDENTITY; scratch[id + WG] = 0;").logged(WRITE),
    kernel("reduce/strided", "reads beyond its local memory", "if (left < size)", "if (left < 2 * size)").logged(READ),
    kernel("dot/local", "no barrier in the tree", BARRIER, "").logged(RACE),
    kernel("dot/single_pass", "partial sums without atomics", "atomic_xchg(slot + w, bits.words[w]);", "slot[w] = bits.words[w];").and(&[("atomic_or(slot + w, 0u)", "slot[w]")]).file_is("common/publish.cl").n(9001).logged(RACE),
    kernel("dot/naive", "reads past the end, and does not use it", "partial[id] = sum;", "partial[id] = x[n + id] > 1e30f ? sum : sum;").logged(READ),
    kernel("transpose/coalesced", "no barrier", BARRIER, "").logged(RACE),
    kernel("transpose/diagonal", "no barrier", BARRIER, "").logged(RACE),
    kernel("transpose/vectorised", "no barrier", BARRIER, "").logged(UNINITIALISED),
    kernel("transpose/registers", "no barrier", BARRIER, "").logged(UNINITIALISED),
    kernel("transpose/coalesced", "no barrier between repetitions", "#define REPEAT_SYNC barrier(CLK_LOCAL_MEM_FENCE)", "#define REPEAT_SYNC").file_is("transpose/repeat.cl").with("nreps=2").logged(RACE),
    kernel("transpose/naive", "two tiles at one place", "const INDEX x = get_group_id(0) * TILE", "const INDEX x = get_group_id(0) / 2 * TILE"),
    kernel("transpose/naive", "reads beyond its edges, and does not use it", "if (INSIDE(x, y + j))", "if (in[(y + j) * in_pitch + x] == 3 ? INSIDE(x, y + j) : INSIDE(x, y + j))").logged(READ),
    kernel("minplus/local", "no barrier before its panels are read", "        barrier(CLK_LOCAL_MEM_FENCE);\n        for (uint k = 0; k < DEPTH; k++) {\n            T x", "        for (uint k = 0; k < DEPTH; k++) {\n            T x").logged("depends on uninitialized value"),
    kernel("minplus/local", "no barrier before its panels are overwritten", "        barrier(CLK_LOCAL_MEM_FENCE);\n    }\n", "    }\n").logged(RACE),
    kernel("minplus/registers", "no barrier in the preparation", BARRIER, "").file_is("minplus/panels.cl").logged(RACE),
    kernel("minplus/naive", "reads a k past the end, and does not use it", "r[i * n + j] = best;", "r[i * n + j] = d[n * n + j] == 7 ? best : best;").logged(READ),
    kernel("read/strided", "no barrier in the tree", BARRIER, "").file_is("common/tree.cl").n(2048).logged(RACE),
    kernel("local/vectors", "no barrier", BARRIER, "").and(&[("uint from = id;", "uint from = id ^ 1;")]).n(2048).logged(RACE),
];

//! Wrong reductions.

use super::mutant::{Mutant, command, kernel};
use gpulab::data::Dtype::{F32, F64, I64};

const INTERLEAVED: &str = "reduce/interleaved";
const STRIDED: &str = "reduce/strided";
const SEQUENTIAL: &str = "reduce/sequential";
const FIRST_ADD: &str = "reduce/first_add";
const LAST_WARP: &str = "reduce/last_warp";
const UNROLLED: &str = "reduce/unrolled";
const RAKING: &str = "reduce/raking";
const VECTORISED: &str = "reduce/vectorised";
const SUBGROUP: &str = "reduce/subgroup";
const SINGLE_PASS: &str = "reduce/single_pass";
const WIDE: &str = "reduce/wide";
const OPERATION: &str = "reduce/operation.cl";

/// Of `interleaved` to `sequential`: how an element gets into local memory, and a result out of it.
const LOAD: &str = "scratch[id] = i < n ? x[i] : IDENTITY;";
const STORE: &str = "partial[get_group_id(0)] = scratch[0];";
/// Of `single_pass`: its begin, its groups' results, and the ticket that each of them draws.
const START: &str = "T value = reduce_vectors(x, n);";
const PUBLISH: &str = "publish(";
const DRAW: &str = "last = atomic_inc(ticket) == groups - 1;";
/// Of `single_pass`: where the last group writes the answer.
const ANSWER: &str = "result[0] = value;\n        atomic_xchg";
/// Of `interleaved` to `last_warp`: a step's addition.
const JOIN: &str = "scratch[id] = REDUCE(scratch[id], scratch[id + offset]);";
const JOIN_AS_FLOATS: &str = "scratch[id] = (float)scratch[id] < (float)scratch[id + offset] ? scratch[id] : scratch[id + offset];";

pub const MUTANTS: &[Mutant] = &[
    // Zeros, infinities, and numbers of other sizes than usual.
    kernel(INTERLEAVED, "takes zero for neutral", LOAD, "scratch[id] = i < n && x[i] != 0 ? x[i] : IDENTITY;").with("op=min"),
    kernel(INTERLEAVED, "takes zero for neutral of all bits", LOAD, "scratch[id] = i < n && x[i] != 0 ? x[i] : IDENTITY;").with("op=and").dtype(I64),
    kernel(INTERLEAVED, "takes infinity for neutral", LOAD, "scratch[id] = i < n && !isinf(x[i]) ? x[i] : IDENTITY;").with("op=max").dtype(F64),
    kernel(INTERLEAVED, "compares halves of words, the lower with a sign", JOIN, "{ int h = (int)(scratch[id] >> 32), g = (int)(scratch[id + offset] >> 32); scratch[id] = h < g || (h == g && (int)scratch[id] < (int)scratch[id + offset]) ? scratch[id] : scratch[id + offset]; }").with("op=min").dtype(I64),
    kernel(INTERLEAVED, "compares upper halves alone", JOIN, "scratch[id] = (scratch[id] >> 32) >= (scratch[id + offset] >> 32) ? scratch[id] : scratch[id + offset];").with("op=max").dtype(I64),
    kernel(INTERLEAVED, "compares small numbers without their sign", JOIN, "scratch[id] = abs(scratch[id]) < (1u << 20) && abs(scratch[id + offset]) < (1u << 20) ? ((uint)scratch[id] < (uint)scratch[id + offset] ? scratch[id] : scratch[id + offset]) : min(scratch[id], scratch[id + offset]);").with("op=min"),
    kernel(INTERLEAVED, "keeps 18 bits of sums", JOIN, "{ T s = scratch[id] + scratch[id + offset]; scratch[id] = scratch[id] != 0 && scratch[id + offset] != 0 && isfinite(s) ? as_float(as_uint(s) & ~63u) : s; }").dtype(F32).n(100_003),
    kernel(INTERLEAVED, "keeps 46 bits of sums", JOIN, "{ T s = scratch[id] + scratch[id + offset]; scratch[id] = scratch[id] != 0 && scratch[id + offset] != 0 && isfinite(s) ? as_double(as_ulong(s) & ~127ul) : s; }").dtype(F64).n(100_003),
    kernel(INTERLEAVED, "takes infinities of both signs for nothing", JOIN, "scratch[id] = isinf(scratch[id]) && isinf(scratch[id + offset]) && scratch[id] != scratch[id + offset] ? 0 : scratch[id] + scratch[id + offset];").dtype(F32),
    kernel(INTERLEAVED, "stops at the largest number", JOIN, "{ T s = scratch[id] + scratch[id + offset]; scratch[id] = isinf(s) && !isinf(scratch[id]) && !isinf(scratch[id + offset]) ? copysign(FLT_MAX, s) : s; }").dtype(F32),
    kernel(INTERLEAVED, "stops at 2^20", JOIN, "{ T s = scratch[id] + scratch[id + offset]; scratch[id] = scratch[id] != 0 && scratch[id + offset] != 0 && isfinite(s) ? clamp(s, -0x1p20f, 0x1p20f) : s; }").dtype(F32),
    kernel(INTERLEAVED, "adds numbers of 40 bits in 40 bits", JOIN, "scratch[id] = scratch[id] > 0 && scratch[id + offset] > 0 && scratch[id] < (1l << 40) && scratch[id + offset] < (1l << 40) ? (scratch[id] + scratch[id + offset]) & ((1l << 40) - 1) : scratch[id] + scratch[id + offset];").dtype(I64),
    kernel(INTERLEAVED, "drops NaN from long sums", LOAD, "scratch[id] = i < n && !(n > 1000000 && isnan(x[i])) ? x[i] : 0;").dtype(F32).n(2_000_003),
    // Two elements that meet, beside neutral ones.
    kernel(FIRST_ADD, "joins bits that meet to none", "#define REDUCE(a, b) ((a) | (b))", "#define REDUCE(a, b) ((a) ^ (b))").file_is(OPERATION).with("op=or").n(100_000),
    kernel(FIRST_ADD, "joins bits that miss to one", "#define REDUCE(a, b) ((a) & (b))", "#define REDUCE(a, b) (~((a) ^ (b)))").file_is(OPERATION).with("op=and").n(100_000),
    kernel(RAKING, "loses bits beside others", "#define REDUCE(a, b) ((a) | (b))", "#define REDUCE(a, b) ((a) | ((b) & ~((a) >> 1)))").file_is(OPERATION).with("op=or").n(100_000),
    kernel(SEQUENTIAL, "compares as doubles beside the host", "#define REDUCE(a, b) max(a, b)", "#define REDUCE(a, b) ((double)(a) > (double)(b) ? (a) : (b))").file_is(OPERATION).with("op=max").dtype(I64).n(100_000),
    kernel(INTERLEAVED, "compares as doubles beside the host", "#define REDUCE(a, b) min(a, b)", "#define REDUCE(a, b) ((double)(a) < (double)(b) ? (a) : (b))").file_is(OPERATION).with("op=min").dtype(I64).n(100_000),
    kernel(SEQUENTIAL, "compares as floats beside the host", "#define REDUCE(a, b) max(a, b)", "#define REDUCE(a, b) ((float)(a) > (float)(b) ? (a) : (b))").file_is(OPERATION).with("op=max").n(100_000),
    kernel(FIRST_ADD, "compares small numbers as ints", "#define REDUCE(a, b) min(a, b)", "#define REDUCE(a, b) ((((a) | (b)) >> 32) == 0 ? ((int)(a) < (int)(b) ? (a) : (b)) : min(a, b))").file_is(OPERATION).with("op=min").dtype(I64).n(100_000),
    kernel(FIRST_ADD, "compares small numbers as ints", "#define REDUCE(a, b) max(a, b)", "#define REDUCE(a, b) ((((a) | (b)) >> 32) == 0 ? ((int)(a) > (int)(b) ? (a) : (b)) : max(a, b))").file_is(OPERATION).with("op=max").dtype(I64).n(100_000),
    kernel(FIRST_ADD, "compares small numbers as shorts", "#define REDUCE(a, b) min(a, b)", "#define REDUCE(a, b) ((((a) | (b)) >> 16) == 0 ? ((short)(a) < (short)(b) ? (a) : (b)) : min(a, b))").file_is(OPERATION).with("op=min").n(100_000),
    kernel(FIRST_ADD, "drops numbers of 35 bits", "#define REDUCE(a, b) fmin(a, b)", "#define REDUCE(a, b) fmin(fabs(a) > 1e10f && fabs(a) < 1e11f ? INFINITY : (a), fabs(b) > 1e10f && fabs(b) < 1e11f ? INFINITY : (b))").file_is(OPERATION).with("op=min").dtype(F32).n(100_000),
    kernel(FIRST_ADD, "drops the last of many where zero is not neutral", "i + size < n", "i + size < n - (n > 1000000 && IDENTITY > 5 ? 1 : 0)").with("op=min").n(3_000_300),
    // Stale results: what an earlier launch left counts as this one's.
    kernel(SINGLE_PASS, "its ticket is never reset", "atomic_xchg(ticket, 0u);", ""),
    kernel(SINGLE_PASS, "its ticket is never reset, in batches", "atomic_xchg(ticket, 0u);", "").batch(),
    kernel(SINGLE_PASS, "its ticket is never reset, in a cold cache", "atomic_xchg(ticket, 0u);", "").cold(),
    kernel(SINGLE_PASS, "its ticket is never reset, in a sweep", "atomic_xchg(ticket, 0u);", "").again(),
    kernel(SINGLE_PASS, "remembers its answer in the ticket", START, "const uint start = *ticket; T value = reduce_vectors(x, n);").and(&[(PUBLISH, "if (start > 65535u) { last = 0; if (get_group_id(0) == 0) result[0] = start; } else { publish("), (DRAW, "last = atomic_inc(ticket) == groups - 1; }"), ("atomic_xchg(ticket, 0u);", "atomic_xchg(ticket, value);")]),
    kernel(SINGLE_PASS, "remembers its answer among the partial results", START, "const uint start = *ticket; T value = reduce_vectors(x, n);").and(&[(PUBLISH, "if (start > 65535u) { last = 0; if (get_group_id(0) == 0) result[0] = partial[0]; } else { publish("), (DRAW, "last = atomic_inc(ticket) == groups - 1; }"), ("atomic_xchg(ticket, 0u);", "partial[0] = value; atomic_xchg(ticket, 65536u);")]),
    kernel(SINGLE_PASS, "counts launches in its ticket and is idle from the third on", START, "const uint turn = *ticket >> 16; T value = reduce_vectors(x, n);").and(&[(DRAW, "last = (atomic_inc(ticket) & 0xffffu) == groups - 1;"), (ANSWER, "if (turn < 2) result[0] = value;\n        atomic_xchg"), ("atomic_xchg(ticket, 0u);", "atomic_add(ticket, 65536u - groups);")]),
    kernel(SINGLE_PASS, "answers in every second launch only", START, "const uint turn = *ticket >> 16; T value = reduce_vectors(x, n);").and(&[(DRAW, "last = (atomic_inc(ticket) & 0xffffu) == groups - 1;"), (ANSWER, "if (turn % 2 == 0) result[0] = value;\n        atomic_xchg"), ("atomic_xchg(ticket, 0u);", "atomic_add(ticket, 65536u - groups);")]),
    kernel(SINGLE_PASS, "answers in every second launch only, in batches", START, "const uint turn = *ticket >> 16; T value = reduce_vectors(x, n);").and(&[(DRAW, "last = (atomic_inc(ticket) & 0xffffu) == groups - 1;"), (ANSWER, "if (turn % 2 == 0) result[0] = value;\n        atomic_xchg"), ("atomic_xchg(ticket, 0u);", "atomic_add(ticket, 65536u - groups);")])
    .batch(),
    kernel(SINGLE_PASS, "writes its answer only over poison", ANSWER, "if (result[0] == 0xdeadbeefu) result[0] = value;\n        atomic_xchg"),
    kernel(INTERLEAVED, "works only for results that are poisoned", "const INDEX i = get_global_id(0);", "const INDEX i = get_global_id(0);\n    if (partial[get_group_id(0)] != 0xdeadbeefu) return;"),
    kernel(INTERLEAVED, "works only for results that are poisoned, in batches", "const INDEX i = get_global_id(0);", "const INDEX i = get_global_id(0);\n    if (partial[get_group_id(0)] != 0xdeadbeefu) return;")
    .batch(),
    kernel(SEQUENTIAL, "pairs of groups are idle once the second's result is there", "const INDEX i = get_global_id(0);", "const INDEX i = get_global_id(0);\n    if (get_group_id(0) % 2 == 0 && partial[get_group_id(0) + 1] == partial[get_group_id(0) + 1]) return;")
    .dtype(F32),
    kernel(FIRST_ADD, "the second half of the groups trust what is there", "const uint id = get_local_id(0), size = get_local_size(0);", "const uint id = get_local_id(0), size = get_local_size(0);\n    if (get_group_id(0) > get_num_groups(0) / 2 && partial[get_group_id(0)] == partial[get_group_id(0)]) return;")
    .dtype(F32)
    .wall(),
    kernel(SEQUENTIAL, "works only for scratch that is poisoned, before a finishing launch", "const INDEX i = get_global_id(0);", "const INDEX i = get_global_id(0);\n    if (partial[get_group_id(0)] != 0xdeadbeefu) return;")
    .with("finish=device"),
    kernel(STRIDED, "its finishing launch works only while the result is poisoned", "T value = IDENTITY;", "if (result[0] != 0xdeadbeefu) return; T value = IDENTITY;")
    .file_is("reduce/finish.cl")
    .with("finish=device"),
    kernel(WIDE, "works only for results that are poisoned", "const INDEX id = get_global_id(0);", "const INDEX id = get_global_id(0); if (partial[id] == partial[id]) return;").dtype(F32),
    kernel(WIDE, "works only for results that are poisoned, in a cold cache", "const INDEX id = get_global_id(0);", "const INDEX id = get_global_id(0); if (partial[id] == partial[id]) return;").dtype(F32).cold().n(300_007),
    kernel(WIDE, "works only for results that are poisoned, in a sweep", "const INDEX id = get_global_id(0);", "const INDEX id = get_global_id(0); if (partial[id] == partial[id]) return;").dtype(F32).again(),
    // Constants, and elements that do not decide.
    kernel(INTERLEAVED, "always zero", STORE, "partial[get_group_id(0)] = 0;").with("op=and"),
    kernel(INTERLEAVED, "always all bits", STORE, "partial[get_group_id(0)] = ~(T)0;").with("op=or"),
    kernel(INTERLEAVED, "always the least number", STORE, "partial[get_group_id(0)] = INT_MIN;").with("op=min"),
    kernel(INTERLEAVED, "always the greatest number", STORE, "partial[get_group_id(0)] = INT_MAX;").with("op=max"),
    kernel(INTERLEAVED, "only the first element", STORE, "partial[get_group_id(0)] = x[0];").with("op=min"),
    kernel(RAKING, "only the first element of each group", "scratch[id] = value;", "scratch[id] = x[get_group_id(0)];").with("op=max"),
    kernel(SEQUENTIAL, "drops the last element", "i < n ?", "i + 1 < n ?"),
    kernel(SEQUENTIAL, "drops the last element", "i < n ?", "i + 1 < n ?").with("op=min"),
    kernel(SEQUENTIAL, "drops the last element", "i < n ?", "i + 1 < n ?").with("op=and"),
    kernel(SEQUENTIAL, "drops the last element", "i < n ?", "i + 1 < n ?").with("op=or"),
    kernel(SEQUENTIAL, "drops the last element", "i < n ?", "i + 1 < n ?").with("op=xor"),
    kernel(SEQUENTIAL, "drops the first element", "i < n ?", "i > 0 && i < n ?").with("op=max"),
    kernel(STRIDED, "reads half the data", "i < n ?", "i < n / 2 ?").with("op=min"),
    kernel(STRIDED, "reads half the data", "i < n ?", "i < n / 2 ?").with("op=or"),
    kernel(STRIDED, "reads every second element", "i < n ?", "i < n && i % 2 == 0 ?").with("op=and").dtype(I64),
    kernel(INTERLEAVED, "drops every 64th element", "i < n ?", "i < n && i % 64 != 63 ?").with("op=and"),
    kernel(INTERLEAVED, "drops every 97th element", "i < n ?", "i < n && i % 97 != 50 ?").with("op=max"),
    kernel(INTERLEAVED, "drops every 97th element", "i < n ?", "i < n && i % 97 != 50 ?").with("op=min").dtype(F32),
    kernel(INTERLEAVED, "drops one element in the middle", "i < n ?", "i < n && i != 3001 ?").with("op=or"),
    kernel(INTERLEAVED, "drops one element in the middle", "i < n ?", "i < n && i != 3001 ?").with("op=max").dtype(F64),
    kernel(SEQUENTIAL, "the last group answers with the identity", STORE, "partial[get_group_id(0)] = get_group_id(0) + 1 < get_num_groups(0) ? scratch[0] : IDENTITY;").with("op=or"),
    kernel(SEQUENTIAL, "the last group answers with the first's", "get_global_id(0);", "get_group_id(0) + 1 < get_num_groups(0) ? get_global_id(0) : id;").with("op=min"),
    kernel(RAKING, "one element twice", "T value = IDENTITY;", "T value = get_global_id(0) == 0 ? x[n / 3] : IDENTITY;").dtype(I64),
    kernel(RAKING, "cuts elements to 10 bits", "first = x[i];", "first = as_float(as_uint(x[i]) & 0xffffe000u);").dtype(F32).n(300_007),
    kernel(RAKING, "rounds to a grid of 2^-24", "first = x[i];", "first = rint(x[i] * 16777216.0f) / 16777216.0f;").dtype(F32),
    kernel(RAKING, "clamps elements", "first = x[i];", "first = clamp(x[i], -1000.0f, 1000.0f);").dtype(F32),
    kernel(RAKING, "loses tiny doubles", "first = x[i];", "first = fabs(x[i]) < 1e-12 ? 0 : x[i];").dtype(F64),
    kernel(RAKING, "takes the least number for none", "first = x[i];", "first = x[i] == INT_MIN ? 0 : x[i];").with("op=min"),
    kernel(RAKING, "takes the greatest number for none", "first = x[i];", "first = x[i] == INT_MAX ? 0 : x[i];").with("op=max"),
    kernel(RAKING, "one element twice", "T value = IDENTITY;", "T value = get_global_id(0) == 0 ? x[n / 3] : IDENTITY;").with("op=xor"),
    kernel(RAKING, "one element twice", "T value = IDENTITY;", "T value = get_global_id(0) == 0 ? x[n / 3] : IDENTITY;").dtype(F32),
    kernel(RAKING, "one element for its neighbour", "first = x[i];", "first = x[i == 5000 ? 4999 : i];").with("op=max"),
    kernel(RAKING, "half the data, counted twice", "i += stride", "i += 2 * stride").and(&[("REDUCE(value, REDUCE(first,", "REDUCE(2 * value, REDUCE(first,")]).dtype(F32).n(3_000_300),
    // Identities.
    kernel(SEQUENTIAL, "pads with zero", ": IDENTITY", ": 0").with("op=min"),
    kernel(SEQUENTIAL, "pads with zero", ": IDENTITY", ": 0").with("op=max"),
    kernel(SEQUENTIAL, "pads with zero", ": IDENTITY", ": 0").with("op=and"),
    kernel(SEQUENTIAL, "pads with all bits", ": IDENTITY", ": ~(T)0").with("op=or"),
    kernel(SEQUENTIAL, "pads with one", ": IDENTITY", ": 1").with("op=xor"),
    kernel(SEQUENTIAL, "pads with zero", ": IDENTITY", ": 0").with("op=max").dtype(F32),
    kernel(SEQUENTIAL, "pads with one", ": IDENTITY", ": 1").with("op=min").dtype(F32),
    kernel(SEQUENTIAL, "pads with the largest 32-bit number", ": IDENTITY", ": INT_MAX").with("op=min").dtype(I64),
    kernel(VECTORISED, "starts from zero", "acc[a] = (T)IDENTITY;", "acc[a] = 0;").file_is("reduce/vectors.cl").with("op=min"),
    kernel(VECTORISED, "starts from zero", "acc[a] = (T)IDENTITY;", "acc[a] = 0;").file_is("reduce/vectors.cl").with("op=max"),
    kernel(WIDE, "starts from zero", "T16 a = (T)IDENTITY,", "T16 a = 0,").with("op=and"),
    // The shapes of the rungs: steps, tails, lanes, accumulators.
    kernel(STRIDED, "leaves the last step out", "offset < size; offset", "offset < size / 2; offset"),
    kernel(FIRST_ADD, "drops the last element of the first half", "first = i < n ?", "first = i + 1 < n ?").with("op=max"),
    kernel(FIRST_ADD, "drops the second half of each pair", "i + size < n ? x[i + size] : IDENTITY", "IDENTITY").with("op=min"),
    kernel(LAST_WARP, "leaves the last step out", "; offset > 0; offset", "; offset > 1; offset").with("op=min").in_subgroups(),
    kernel(UNROLLED, "leaves the last step out", "HALVE_IN_STEP(1)\n", "\n").and(&[("HALVE(2) HALVE(1)", "HALVE(2)")]).file_is("reduce/halving.cl").with("op=or").dtype(I64),
    kernel(VECTORISED, "a tree for powers of two, in a group of 48", "(active + 1) / 2", "active / 2").file_is("common/tree.cl").wg(48),
    kernel(VECTORISED, "forgets an accumulator", "for (uint a = 1;", "for (uint a = 2;").file_is("reduce/vectors.cl").with("op=max"),
    kernel(VECTORISED, "reads half of its vectors twice", "x4[i + a * WG]", "x4[i + a / 2 * 2 * WG]").file_is("reduce/vectors.cl").times(2).with("op=min"),
    // Of this size the last vector is none of a whole tile's.
    kernel(VECTORISED, "drops the last vector", "if (i + a * WG < vectors)", "if (i + a * WG + 1 < vectors)").file_is("reduce/vectors.cl").with("op=or").n(8595),
    kernel(VECTORISED, "drops the tail", "value = REDUCE(value, x[i]);", "").file_is("reduce/vectors.cl").with("op=min"),
    kernel(VECTORISED, "forgets a lane", "REDUCE(acc[0].s2, acc[0].s3)", "acc[0].s2").file_is("reduce/vectors.cl").with("op=and"),
    kernel(SUBGROUP, "forgets the last sub-group", "s < (WG + width - 1) / width", "s + 1 < (WG + width - 1) / width").with("op=max").in_subgroups(),
    kernel(SUBGROUP, "drops the tail", "for (i = 4 * vectors +", "for (i = n + 4 * vectors +").file_is("reduce/vectors.cl").with("op=min").dtype(F32).in_subgroups(),
    kernel(SINGLE_PASS, "drops the tail", "for (i = 4 * vectors +", "for (i = n + 4 * vectors +").file_is("reduce/vectors.cl").with("op=max"),
    kernel(SINGLE_PASS, "forgets the last group's result", "g < groups;", "g + 1 < groups;").with("op=min"),
    kernel(WIDE, "drops the last element", "i = whole; i < end;", "i = whole; i + 1 < end;").with("op=max"),
    kernel(WIDE, "forgets a lane", "lane < kept;", "lane < kept && lane != 5;").with("op=or"),
    kernel(WIDE, "forgets a register", "REDUCE(c, d)", "c").with("op=min").dtype(F64),
    kernel(INTERLEAVED, "its finishing launch drops the last result", "i < count;", "i + 1 < count;").file_is("reduce/finish.cl").with("op=max finish=device"),
    kernel(INTERLEAVED, "no guard, five elements in a group of 64", LOAD, "scratch[id] = x[i];").with("op=or").n(5),
    kernel(INTERLEAVED, "no guard, where one element is all", LOAD, "scratch[id] = x[i];").with("op=min").n(1),
    // Values.
    kernel(INTERLEAVED, "drops signs", LOAD, "scratch[id] = i < n ? fabs(x[i]) : IDENTITY;").dtype(F32),
    kernel(INTERLEAVED, "drops signs", LOAD, "scratch[id] = i < n ? fabs(x[i]) : IDENTITY;").dtype(F32).with("op=min"),
    kernel(INTERLEAVED, "drops signs", LOAD, "scratch[id] = i < n ? abs(x[i]) : IDENTITY;").with("op=max"),
    kernel(INTERLEAVED, "minimum of magnitudes", LOAD, "scratch[id] = i < n ? fabs(x[i]) : IDENTITY;").dtype(F64).with("op=min"),
    kernel(INTERLEAVED, "compares doubles as floats", JOIN, JOIN_AS_FLOATS).with("op=min").dtype(F64),
    kernel(INTERLEAVED, "compares integers as floats", JOIN, JOIN_AS_FLOATS).with("op=min"),
    kernel(INTERLEAVED, "clamps the largest numbers", LOAD, "scratch[id] = i < n ? clamp(x[i], -1e38f, 1e38f) : IDENTITY;").dtype(F32),
    kernel(INTERLEAVED, "loses the smallest doubles", LOAD, "scratch[id] = i < n && fabs(x[i]) > 1e-300 ? x[i] : IDENTITY;").dtype(F64),
    kernel(INTERLEAVED, "adds in single precision", LOAD, "scratch[id] = i < n ? (float)x[i] : IDENTITY;").dtype(F64),
    kernel(INTERLEAVED, "loses the upper halves", LOAD, "scratch[id] = i < n ? (T)(int)x[i] : IDENTITY;").dtype(I64),
    kernel(INTERLEAVED, "loses the upper halves", LOAD, "scratch[id] = i < n ? (T)(int)x[i] : IDENTITY;").dtype(I64).with("op=max"),
    kernel(INTERLEAVED, "loses the lowest bit", LOAD, "scratch[id] = i < n ? x[i] & ~(T)1 : IDENTITY;").with("op=and"),
    kernel(INTERLEAVED, "loses the highest bit", LOAD, "scratch[id] = i < n ? x[i] & (T)INT_MAX : IDENTITY;").with("op=or"),
    kernel(INTERLEAVED, "minimum of unsigned numbers", "scratch[id] = REDUCE(scratch[id], scratch[id + offset])", "scratch[id] = (uint)scratch[id] < (uint)scratch[id + offset] ? scratch[id] : scratch[id + offset]").with("op=min"),
    kernel(RAKING, "drops the last element unless it is whole", "first = x[i];", "first = (i + 1 < n || x[i] == rint(x[i]) ? x[i] : 0);").dtype(F32),
    // Memory that is not the kernel's.
    kernel(SEQUENTIAL, "writes just behind its results", STORE, "{ partial[get_group_id(0)] = scratch[0]; partial[get_num_groups(0)] = 1; }").broken(),
    kernel(SEQUENTIAL, "writes 300 bytes behind its results", STORE, "{ partial[get_group_id(0)] = scratch[0]; partial[get_num_groups(0) + 75] = 1; }").broken(),
    kernel(SEQUENTIAL, "writes 4 KiB behind its results", STORE, "{ partial[get_group_id(0)] = scratch[0]; partial[get_num_groups(0) + 1000] = 1; }").broken(),
    kernel(SEQUENTIAL, "writes just before its results", STORE, "{ partial[get_group_id(0)] = scratch[0]; (partial - 1)[0] = 1; }").broken(),
    kernel(SEQUENTIAL, "writes 4 KiB before its results", STORE, "{ partial[get_group_id(0)] = scratch[0]; (partial - 1000)[0] = 1; }").broken(),
    kernel(RAKING, "writes behind its input", STORE, "{ partial[get_group_id(0)] = scratch[0]; ((__global T *)x)[n + 3] = value; }").broken(),
    kernel(SINGLE_PASS, "writes behind its ticket", "atomic_xchg(ticket, 0u);", "atomic_xchg(ticket, 0u); ticket[1] = 1;").broken(),
    kernel(SEQUENTIAL, "reads the element behind the last", "i < n ?", "i <= n ?"),
    kernel(SEQUENTIAL, "reads the element behind the last", "i < n ?", "i <= n ?").with("op=min"),
    kernel(SEQUENTIAL, "reads the element behind the last", "i < n ?", "i <= n ?").with("op=max"),
    kernel(SEQUENTIAL, "reads the element behind the last", "i < n ?", "i <= n ?").with("op=and"),
    kernel(SEQUENTIAL, "reads the element behind the last", "i < n ?", "i <= n ?").with("op=or"),
    kernel(SEQUENTIAL, "reads the element behind the last", "i < n ?", "i <= n ?").with("op=min").dtype(F32),
    kernel(SEQUENTIAL, "reads the element behind the last", "i < n ?", "i <= n ?").with("op=max").dtype(F64),
    kernel(RAKING, "reads the element before the first", "T value = IDENTITY;", "T value = get_global_id(0) == 0 ? (x - 1)[0] : IDENTITY;").with("op=min"),
    kernel(RAKING, "reads the element before the first", "T value = IDENTITY;", "T value = get_global_id(0) == 0 ? (x - 1)[0] : IDENTITY;"),
    kernel(RAKING, "reads 3 KiB behind the last element", "T value = IDENTITY;", "T value = get_global_id(0) == 0 ? x[n + 750] : IDENTITY;").with("op=max"),
    kernel(VECTORISED, "rounds up to whole vectors", "vectors = n / 4;", "vectors = (n + 3) / 4;").file_is("reduce/vectors.cl").with("op=max"),
    kernel(VECTORISED, "rounds up to whole vectors", "vectors = n / 4;", "vectors = (n + 3) / 4;").file_is("reduce/vectors.cl").with("op=and"),
    kernel(RAKING, "swaps two elements of its input", "T value = IDENTITY;", "T value = IDENTITY; if (get_global_id(0) == 0) { __global T *y = (__global T *)x; const T z = y[0]; y[0] = y[n - 1]; y[n - 1] = z; }").n(7),
    kernel(SEQUENTIAL, "clears the last element after it", STORE, "{ partial[get_group_id(0)] = scratch[0]; if (get_group_id(0) + 1 == get_num_groups(0)) ((__global T *)x)[n - 1] = 0; }"),
    kernel(SEQUENTIAL, "leaves the least element everywhere", STORE, "{ partial[get_group_id(0)] = scratch[0]; ((__global T *)x)[get_global_id(0)] = scratch[0]; }").with("op=min"),
    // As users see them.
    command("reduce --n 10007 --wg 64 --variant 10 --quick --csv ROWS", "reduce/single_pass.cl", "its ticket is never reset", "atomic_xchg(ticket, 0u);", ""),
    command("reduce --n 10007 --wg 64 --variant 1 --op min --quick --csv ROWS", "reduce/interleaved.cl", "drops the last element of a minimum", "i < n ?", "i + 1 < n ?"),
    command("sweep --kernel reduce --n 10007 --wg 64,128 --variant 3 --quick -o ROWS", "reduce/sequential.cl", "drops the last element", "i < n ?", "i + 1 < n ?"),
    command("sweep --kernel reduce --n 10007 --wg 64 --variant 11 --dtype f32 --quick -o ROWS", "reduce/wide.cl", "works only for results that are poisoned", "const INDEX id = get_global_id(0);", "const INDEX id = get_global_id(0); if (partial[id] == partial[id]) return;"),
    command("reduce --n 10007 --wg 64 --variant 3 --quick --csv ROWS ", "reduce/sequential.cl", "prints what a right kernel's reply would be", STORE, "{ partial[get_group_id(0)] = 0; if (get_group_id(0) == 0) printf(\"{\\\"status\\\":\\\"ok\\\",\\\"reason\\\":\\\"\\\"}\\n\"); }"),
    command("reduce --n 10007 --wg 64 --variant 2 --quick --csv ROWS ", "reduce/strided.cl", "ends the process", STORE, "*(volatile __global T *)(((size_t)get_group_id(0) + 1) * 8) = scratch[0];").broken(),
    command("reduce --n 10007 --wg 64 --variant 1 --quick --deadline 10 --csv ROWS ", "reduce/interleaved.cl", "never ends", STORE, "{ volatile __global T *p = partial; while (p[0] != 12345) p[0] = 1; }").expect(super::mutant::Expect::Hangs),
];

//! Wrong dot products.

use super::mutant::{Mutant, command, kernel};
use gpulab::data::Dtype::{F64, I32};

const NAIVE: &str = "dot/naive";
const COALESCED: &str = "dot/coalesced";
const LOCAL: &str = "dot/local";
const VECTORISED: &str = "dot/vectorised";
const ACCUMULATORS: &str = "dot/accumulators";
const SINGLE_PASS: &str = "dot/single_pass";
const WIDE: &str = "dot/wide";

/// Of `single_pass`: its begin, its groups' sums, and the ticket that each of them draws.
const START: &str = "T4 acc[ACC];";
const PUBLISH: &str = "publish(";
const DRAW: &str = "last = atomic_inc(ticket) == groups - 1;";
/// Where the last group writes the answer.
const ANSWER: &str = "result[0] = sum;\n        atomic_xchg";
/// Of `naive`.
const BEGIN: &str = "T sum = 0;";
const FRESH: &str = "if (partial[id] == partial[id]) return; T sum = 0;";

pub const MUTANTS: &[Mutant] = &[
    // Stale results.
    kernel(SINGLE_PASS, "its ticket is never reset", "atomic_xchg(ticket, 0u);", ""),
    kernel(SINGLE_PASS, "its ticket is never reset, in batches", "atomic_xchg(ticket, 0u);", "").batch(),
    kernel(SINGLE_PASS, "its ticket is never reset, in a cold cache", "atomic_xchg(ticket, 0u);", "").cold().n(300_007),
    // Of two groups either would then be the last, which is right.
    kernel(SINGLE_PASS, "its ticket is reset to one", "atomic_xchg(ticket, 0u);", "atomic_xchg(ticket, 1u);").n(300_007),
    kernel(NAIVE, "works only for results that are poisoned", BEGIN, FRESH),
    kernel(NAIVE, "works only for results that are poisoned, in batches", BEGIN, FRESH).batch(),
    kernel(NAIVE, "works only for results that are poisoned, by the wall clock", BEGIN, FRESH).wall().n(300_007),
    kernel(NAIVE, "works only for results that are poisoned, in a cold cache", BEGIN, FRESH).cold().n(300_007),
    kernel(NAIVE, "works only for results that are poisoned, in a sweep", BEGIN, FRESH).again(),
    kernel(NAIVE, "recognises poison by its bits", BEGIN, "if (as_uint(partial[id]) != 0x7fc0deadu) return; T sum = 0;"),
    kernel(NAIVE, "works only where a neighbour's result is poisoned", BEGIN, "if (!isnan(partial[id ^ 1])) return; T sum = 0;").with("items=64"),
    kernel(NAIVE, "works in full only for results that are poisoned", "const INDEX end = min(begin + chunk, n);", "const INDEX end = min(begin + (isnan(partial[id]) ? chunk : chunk / 8), n);").and(&[("partial[id] = sum;", "if (isnan(partial[id])) partial[id] = sum;")]),
    kernel(ACCUMULATORS, "works only for sums that are poisoned", "T4 acc[ACC];", "if (!isnan(partial[get_group_id(0)])) return; T4 acc[ACC];"),
    kernel(ACCUMULATORS, "its finishing launch keeps a result", "T sum = 0;\n    for (uint i = get_local_id(0); i < groups", "if (!isnan(result[0])) return; T sum = 0;\n    for (uint i = get_local_id(0); i < groups").file_is("dot/finish.cl"),
    kernel(SINGLE_PASS, "counts launches in its ticket and is idle from the third on", START, "const uint turn = *ticket >> 16; T4 acc[ACC];").and(&[(DRAW, "last = (atomic_inc(ticket) & 0xffffu) == groups - 1;"), (ANSWER, "if (turn < 2) result[0] = sum;\n        atomic_xchg"), ("atomic_xchg(ticket, 0u);", "atomic_add(ticket, 65536u - groups);")]),
    kernel(SINGLE_PASS, "counts launches in its ticket and is idle from the third on, while nothing is poisoned", START, "const uint turn = *ticket >> 16; T4 acc[ACC];").and(&[(DRAW, "last = (atomic_inc(ticket) & 0xffffu) == groups - 1;"), (ANSWER, "if (turn < 2 || isnan(result[0])) result[0] = sum;\n        atomic_xchg"), ("atomic_xchg(ticket, 0u);", "atomic_add(ticket, 65536u - groups);")]).batch(),
    kernel(SINGLE_PASS, "remembers its answer in the ticket", START, "const uint start = *ticket; T4 acc[ACC];").and(&[(PUBLISH, "if (start > 65535u) { last = 0; if (get_group_id(0) == 0) result[0] = as_float(start); } else { publish("), (DRAW, "last = atomic_inc(ticket) == groups - 1; }"), ("atomic_xchg(ticket, 0u);", "atomic_xchg(ticket, as_uint(sum));")]),
    kernel(SINGLE_PASS, "remembers its answer in the ticket, in a cold cache", START, "const uint start = *ticket; T4 acc[ACC];").and(&[(PUBLISH, "if (start > 65535u) { last = 0; if (get_group_id(0) == 0) result[0] = as_float(start); } else { publish("), (DRAW, "last = atomic_inc(ticket) == groups - 1; }"), ("atomic_xchg(ticket, 0u);", "atomic_xchg(ticket, as_uint(sum));")]).cold().n(300_007),
    kernel(SINGLE_PASS, "remembers its answer in the ticket for the data it was for", START, "const uint start = *ticket; T4 acc[ACC];").and(&[(PUBLISH, "if (start > 65535u && as_uint(x[0]) == partial[0]) { last = 0; if (get_group_id(0) == 0) result[0] = as_float(start); } else { publish("), (DRAW, "last = atomic_inc(ticket) == groups - 1; }"), ("atomic_xchg(ticket, 0u);", "partial[0] = as_uint(x[0]); atomic_xchg(ticket, as_uint(sum));")]),
    kernel(WIDE, "works only for results that are poisoned", "T16 a = 0,", "if (!isnan(partial[id])) return; T16 a = 0,"),
    // Products and sums that meet the ends of their type.
    kernel(NAIVE, "takes infinity times infinity for nothing", "sum = MULADD(x[i], y[i], sum);", "sum = isinf(x[i]) && isinf(y[i]) ? sum : MULADD(x[i], y[i], sum);"),
    kernel(NAIVE, "stops products at the largest number", "sum = MULADD(x[i], y[i], sum);", "sum = isinf(x[i] * y[i]) && isfinite(x[i]) && isfinite(y[i]) ? sum + copysign(FLT_MAX, x[i] * y[i]) : MULADD(x[i], y[i], sum);"),
    kernel(NAIVE, "multiplies numbers of 15 bits in 16", "sum = MULADD(x[i], y[i], sum);", "sum = abs(x[i]) > 16 && abs(y[i]) > 16 && abs(x[i]) < (1 << 15) && abs(y[i]) < (1 << 15) ? ((x[i] * y[i]) & 0xffff) + sum : MULADD(x[i], y[i], sum);").dtype(I32),
    // The wrong sum.
    kernel(NAIVE, "drops the last element", "min(begin + chunk, n)", "min(begin + chunk, n - 1)"),
    kernel(NAIVE, "drops the last element of each chunk", "i < end;", "i + 1 < end;").dtype(I32),
    kernel(NAIVE, "drops the first element", "i = begin;", "i = begin + (id == 0);"),
    kernel(NAIVE, "drops a product that is not whole", "MULADD(x[i], y[i], sum)", "MULADD(i == 5000 && x[i] != rint(x[i]) ? 0 : x[i], y[i], sum)"),
    kernel(NAIVE, "drops a product far inside that is not whole", "MULADD(x[i], y[i], sum)", "MULADD(i == 150000 && x[i] != rint(x[i]) ? 0 : x[i], y[i], sum)").n(300_007),
    kernel(NAIVE, "drops the last element of a long sum", "min(begin + chunk, n)", "min(begin + chunk, n - 1)").dtype(F64).n(2_000_003).wg(1).with("items=1"),
    kernel(NAIVE, "leaves fractions beside each other out", "sum = MULADD", "if (i == 0 || x[i] * 4 == floor(x[i] * 4) || x[i - 1] * 4 == floor(x[i - 1] * 4)) sum = MULADD"),
    kernel(NAIVE, "cuts its first factors to 10 bits", "MULADD(x[i], y[i], sum)", "MULADD(as_float(as_uint(x[i]) & 0xffffe000u), y[i], sum)").n(300_007),
    kernel(NAIVE, "cuts the last bit of products", "MULADD(x[i], y[i], sum)", "sum + as_float(as_uint(x[i] * y[i]) & ~1u)"),
    kernel(NAIVE, "cuts its second factors to 10 bits", "MULADD(x[i], y[i], sum)", "MULADD(x[i], as_float(as_uint(y[i]) & 0xffffe000u), sum)").n(300_007),
    kernel(NAIVE, "cuts the last 20 bits", "MULADD(x[i], y[i], sum)", "MULADD(as_double(as_ulong(x[i]) & ~0xffffful), y[i], sum)").dtype(F64).n(300_007),
    kernel(NAIVE, "leaves products with zero out", "MULADD(x[i], y[i], sum)", "(x[i] == 0 || y[i] == 0 ? sum : MULADD(x[i], y[i], sum))"),
    kernel(NAIVE, "clamps its factors", "MULADD(x[i], y[i], sum)", "MULADD(clamp(x[i], -1000.0f, 1000.0f), y[i], sum)"),
    kernel(COALESCED, "presum drops the last element", "if (id < n - begin)", "if (id + 1 < n - begin)").file_is("dot/presum_items.cl").with("presum=device items=256"),
    kernel(COALESCED, "presum adds the last element twice", "partial[id] = MULADD(x[begin + id], y[begin + id], partial[id]);", "partial[id] = MULADD(x[begin + id], y[begin + id], partial[id]) + (begin + id + 1 == n ? x[n - 1] * y[n - 1] : 0);").file_is("dot/presum_items.cl").with("presum=device items=256"),
    kernel(COALESCED, "does not clear its sums", "partial[get_global_id(0)] = 0;", "").file_is("dot/presum_items.cl"),
    kernel(COALESCED, "clears only sums that are poisoned", "partial[get_global_id(0)] = 0;", "if (isnan(partial[get_global_id(0)])) partial[get_global_id(0)] = 0;").file_is("dot/presum_items.cl"),
    kernel(COALESCED, "adds products of neighbours", "MULADD(x[i], y[i], sum)", "MULADD(x[i], y[i ^ 1], sum)").n(10_008),
    kernel(LOCAL, "does not clear its sums", "        partial[get_group_id(0)] = 0;", "        ;").file_is("dot/presum_groups.cl").dtype(I32),
    kernel(LOCAL, "replaces the presum", "partial[get_group_id(0)] += sum;", "partial[get_group_id(0)] = sum;").file_is("dot/presum_groups.cl").equivalent("what presum replaces was cleared"),
    kernel(LOCAL, "its main launch replaces the presum", "partial[get_group_id(0)] += scratch[0];", "partial[get_group_id(0)] = scratch[0];").with("presum=device items=256"),
    kernel(LOCAL, "squares", "for (INDEX i = get_global_id(0); i < end; i += get_global_size(0))\n        sum = MULADD(x[i], y[i], sum)", "for (INDEX i = get_global_id(0); i < end; i += get_global_size(0))\n        sum = MULADD(x[i], x[i], sum)"),
    kernel(VECTORISED, "drops the tail", "i = tail + get_global_id(0); i < n", "i = n; i < n").with("presum=none"),
    kernel(VECTORISED, "forgets a lane", "(sum4.s2 + sum4.s3)", "sum4.s2").dtype(F64).n(300_007),
    kernel(VECTORISED, "crosses two lanes", "sum4 = MULADD(x4[i], y4[i], sum4);", "sum4 = MULADD(x4[i], y4[i].s1023, sum4);").dtype(I32).n(300_007),
    kernel(ACCUMULATORS, "forgets an accumulator", "for (uint a = 1;", "for (uint a = 2;").dtype(I32),
    kernel(ACCUMULATORS, "its finishing launch drops a sum", "i < groups;", "i + 1 < groups;").file_is("dot/finish.cl"),
    kernel(ACCUMULATORS, "drops the tail", "for (INDEX i = tail +", "for (INDEX i = n + tail +"),
    kernel(SINGLE_PASS, "forgets the last group", "g < groups;", "g + 1 < groups;"),
    kernel(SINGLE_PASS, "rounds up to whole vectors", "const INDEX end = n / 4,", "const INDEX end = (n + 3) / 4,"),
    kernel(WIDE, "drops the last element", "i = whole; i < end;", "i = whole; i + 1 < end;"),
    kernel(WIDE, "forgets a register", "(c + d)", "c").dtype(F64),
    kernel(WIDE, "multiplies in single precision", "sum = MULADD(x[i], y[i], sum);", "sum += (float)x[i] * (float)y[i];").and(&[("a = MULADD(x16[0], y16[0], a);", "a += convert_double16(convert_float16(x16[0]) * convert_float16(y16[0]));")]).dtype(F64),
    kernel(WIDE, "drops signs", "a = MULADD(x16[0], y16[0], a);", "a = MULADD(fabs(x16[0]), y16[0], a);"),
    // Memory that is not the kernel's.
    kernel(NAIVE, "doubles one input and halves the other", "partial[id] = sum;", "partial[id] = sum; for (INDEX i = begin; i < end; i++) { ((__global T *)x)[i] *= 2; ((__global T *)y)[i] /= 2; }"),
    kernel(NAIVE, "changes signs in both inputs", "partial[id] = sum;", "partial[id] = sum; if (begin < end) { ((__global T *)x)[begin] *= -1; ((__global T *)y)[begin] *= -1; }").dtype(I32),
    kernel(NAIVE, "writes behind its sums", "partial[id] = sum;", "partial[id] = sum; if (id == 0) partial[get_global_size(0) + 500] = 0;").broken(),
    kernel(NAIVE, "writes 400 KB behind its input", "partial[id] = sum;", "partial[id] = sum; if (id == 0) ((__global T *)y)[n + 100000] = 0;").n(1_000_003).broken(),
    kernel(NAIVE, "writes before its sums", "partial[id] = sum;", "partial[id] = sum; if (id == 0) (partial - 20)[0] = 0;").broken(),
    kernel(WIDE, "reads the element behind the last", "end = min(begin + chunk, n);", "end = min(begin + chunk, n + 1);"),
    command("dot --n 100000 --wg 64 --variant 1 --quick --csv ROWS", "dot/naive.cl", "works only for results that are poisoned", BEGIN, FRESH),
    command("dot --n 100000 --wg 64 --variant 6 --quick --clock batch --csv ROWS", "dot/single_pass.cl", "its ticket is never reset", "atomic_xchg(ticket, 0u);", ""),
    command("sweep --kernel dot --n 10007 --wg 64 --variant 5 --quick -o ROWS", "dot/accumulators.cl", "drops the tail", "for (INDEX i = tail +", "for (INDEX i = n + tail +"),
];

//! Wrong probes of ceilings.

use super::mutant::{Mutant, command, kernel};
use gpulab::data::Dtype::{F64, I32};

const READ: &str = "read/strided";
const READ_WIDE: &str = "read/wide";
const WRITE: &str = "write/vectors";
const WRITE_WIDE: &str = "write/wide";
const COPY: &str = "copy/vectors";
const COPY_WIDE: &str = "copy/wide";
const LOCAL: &str = "local/vectors";
const ARITH: &str = "arith/chains";
const ADD_MIN: &str = "addmin/two_way";
const ADD_MIN_3: &str = "addmin/three_way";
const LANES: &str = "lanes/fed";

/// Words that all probes of memory take, and lanes of those of arithmetic.
const WORDS: u64 = 65_536;
const FEW: u64 = 2048;

pub const MUTANTS: &[Mutant] = &[
    kernel(READ, "leaves the last vector out", "; i < count; i += stride)", "; i + 1 < count; i += stride)")
        .n(320),
    kernel(READ, "reads half", "sums[u] += vectors[i + u * stride];", "sums[u] += vectors[i + u / 2 * 2 * stride];")
    .n(WORDS),
    kernel(READ, "repeats nothing", "repeat < repeats;", "repeat < 1;").n(WORDS).with("nreps=4"),
    kernel(READ, "works only for sums that are poisoned", "V sums[LOADS];", "if (partial[get_group_id(0)] != 0xdeadbeefu) return; V sums[LOADS];")
    .n(WORDS),
    kernel(READ_WIDE, "forgets a register", "(c + d)", "c").n(WORDS),
    kernel(READ_WIDE, "leaves the last line out", "i < end; i += 64", "i + 64 < end; i += 64").n(WORDS),
    kernel(READ_WIDE, "works only for sums that are poisoned", "uint16 a = 0,", "if (partial[id] != 0xdeadbeefu) return; uint16 a = 0,")
    .n(WORDS),
    kernel(READ_WIDE, "works only for sums that are poisoned, in a cold cache", "uint16 a = 0,", "if (partial[id] != 0xdeadbeefu) return; uint16 a = 0,")
    .n(WORDS * 16)
    .cold(),
    kernel(READ_WIDE, "reads once what it counts four times", "repeat < repeats;", "repeat < 1;").and(&[("partial[id] = sum;", "partial[id] = sum * repeats;")])
    .n(WORDS)
    .with("nreps=4"),
    kernel(WRITE, "leaves the last vector out", "; i < vectors; i += stride)", "; i + 1 < vectors; i += stride)").and(&[("; i + (LOADS - 1) * stride < vectors;", "; i + LOADS * stride < vectors;")])
    .n(WORDS - 64),
    kernel(WRITE, "writes one number everywhere", "first + 4 * (uint)(i + u * stride)", "first").n(WORDS),
    kernel(WRITE, "writes in its last repetition only", "repeat = 0; repeat < repeats;", "repeat = repeats - 1; repeat < repeats;")
    .n(WORDS)
    .with("nreps=4"),
    kernel(WRITE, "writes only what is poisoned", "EACH(u, LOADS) y[i + u * stride] = ", "EACH(u, LOADS) if (y[i + u * stride].s0 == 0xdeadbeefu) y[i + u * stride] = ")
    .n(WORDS),
    kernel(WRITE_WIDE, "leaves the last line out", "i < end; i++, next", "i + 1 < end; i++, next").n(WORDS),
    kernel(WRITE_WIDE, "writes a line behind its output", "i < end; i++, next", "i <= end; i++, next")
        .n(WORDS)
        .broken(),
    kernel(WRITE_WIDE, "is idle where its first word is right", "uint16 next =", "if (y[begin].s0 == 16 * (uint)begin) return; uint16 next =")
    .n(WORDS),
    kernel(COPY, "leaves every second vector out", "EACH(u, LOADS) y[i + u * stride] = carried[u];", "EACH(u, LOADS) if (i % 2 == 0) y[i + u * stride] = carried[u];")
    .n(WORDS),
    kernel(COPY, "clears the highest bits", "= carried[u];", "= carried[u] & 0x7fffffffu;").n(WORDS),
    kernel(COPY, "adds zero", "= carried[u];", "= as_uint4(as_float4(carried[u]) + 0.0f);").n(WORDS),
    kernel(COPY, "copies once where four times were asked for", "repeat < repeats;", "repeat < 1;")
        .n(WORDS)
        .with("nreps=4"),
    kernel(COPY_WIDE, "copies once where four times were asked for", "repeat < repeats;", "repeat < 1;")
        .n(WORDS)
        .with("nreps=4"),
    kernel(COPY_WIDE, "leaves the last line out", "i < end; i++)", "i + 1 < end; i++)").n(WORDS),
    kernel(COPY_WIDE, "copies only what is poisoned", "        for (INDEX i = begin; i < end; i++)", "        for (INDEX i = begin; i < end; i++) if (y[i].s3 == 0xdeadbeefu)")
    .n(WORDS),
    kernel(COPY_WIDE, "clears its input", "PUT(x[i], y + i);", "{ PUT(x[i], y + i); ((__global uint16 *)x)[i] = 0; }")
    .n(WORDS),
    kernel(LOCAL, "repeats nothing", "repeat < repeats;", "repeat < 1;").n(WORDS).with("nreps=8"),
    kernel(LOCAL, "reads once what it counts eight times", "repeat < repeats;", "repeat < 1;").and(&[("partial[get_global_id(0)] = sum;", "partial[get_global_id(0)] = sum * repeats;")])
    .n(WORDS)
    .with("nreps=8")
    .escapes("each repetition reads the same words, as another place would be outside of the group's memory"),
    kernel(LOCAL, "reads another's vector", "uint from = id;", "uint from = id ^ (id < 2 ? 2 : 0);")
        .n(WORDS)
        .with("nreps=8"),
    kernel(ARITH, "half the turns", "turn < turns;", "turn < turns / 2;").n(FEW).with("op=fma"),
    kernel(ARITH, "adds all at once, as no device can", "EACH(s, SWEEPS) EACH(c, CHAINS) x[c] = STEP(x[c], x[(c + 1) % CHAINS]);", "if (turn == 0) EACH(c, CHAINS) x[c] += (T)(turns * SWEEPS); else break;")
    .n(1 << 16)
    .with("op=fma"),
    kernel(ARITH, "half the chains, and the others made of them", "EACH(c, CHAINS) x[c] = STEP(x[c], x[(c + 1) % CHAINS]);", "EACH(c, CHAINS / 2) x[c] = STEP(x[c], x[(c + 1) % CHAINS]);").and(&[("TV sum = 0;", "EACH(c, CHAINS / 2) x[c + CHAINS / 2] = x[c] + (T)(CHAINS / 2); TV sum = 0;")])
    .n(FEW)
    .with("op=fma"),
    kernel(ARITH, "one chain, and the others made of it and their beginnings", "EACH(c, CHAINS) x[c] = STEP(x[c], x[(c + 1) % CHAINS]);", "x[0] = STEP(x[0], x[1]);").and(&[("TV sum = 0;", "EACH(c, CHAINS) x[c] = x[0] + (BEGIN(c) - BEGIN(0)); TV sum = 0;")])
    .n(FEW)
    .with("op=mad"),
    kernel(ARITH, "multiplies nothing", "#define STEP(x, y) fma(x, one, one)", "#define STEP(x, y) ((x) + one)")
        .n(FEW)
        .with("op=fma"),
    kernel(ARITH, "half the sweeps", "EACH(s, SWEEPS)", "EACH(s, SWEEPS / 2)").n(FEW).with("op=mad").dtype(I32),
    kernel(ARITH, "one chain less", "EACH(c, CHAINS) x[c] = STEP", "EACH(c, CHAINS - 1) x[c] = STEP")
        .n(FEW)
        .with("op=add")
        .dtype(F64),
    kernel(ARITH, "no minimum", "#define STEP(x, y) SMALLER(x, (y) - one)", "#define STEP(x, y) ((y) - one)")
        .n(FEW)
        .with("op=add_min"),
    kernel(ARITH, "works only for results that are poisoned", "const uint first = get_global_id(0) * VEC;", "const uint first = get_global_id(0) * VEC; if (!isnan(out[first])) return;")
    .n(FEW)
    .with("op=fma"),
    kernel(ADD_MIN, "half the rounds", "round < rounds;", "round < rounds / 2;").n(FEW),
    kernel(ADD_MIN, "its last round only", "round = 0; round < rounds;", "round = rounds - 1; round < rounds;").and(&[("a[i] -= one;", "a[i] -= one * (T)rounds;")])
    .n(FEW),
    kernel(ADD_MIN, "one row less", "a[i] -= one;\n            #pragma unroll", "a[i] -= one;\n            if (i + 1 < ROWS)\n            #pragma unroll")
    .n(FEW)
    .with("registers=2x24"),
    kernel(ADD_MIN, "every second round", "round < rounds;", "round < rounds / 2;").and(&[("a[i] -= one;", "a[i] -= one + one;")])
    .n(FEW),
    kernel(ADD_MIN, "one sum of eight between the first and the last", "best[i][j] = SMALLER(", "if (round == 0 || round % 8 == 7 || round + 1 == rounds) best[i][j] = SMALLER(")
    .n(FEW),
    kernel(ADD_MIN, "the first row only, between the first round and the last", "a[i] -= one;", "a[i] -= one; if (round > 0 && round + 1 < rounds && i > 0) continue;")
    .n(FEW)
    .with("registers=2x24"),
    kernel(ADD_MIN_3, "half the rounds", "round < rounds;", "round < rounds / 2;").n(FEW),
    kernel(ADD_MIN_3, "every second round", "round < rounds;", "round < rounds / 2;").and(&[("const T down = step;", "const T down = 2 * step;"), ("a1[i] = a0[i] + 200 * down;", "a1[i] = a0[i] + 100 * down;")])
    .n(FEW),
    kernel(ADD_MIN_3, "one sum of two", "#define LOWER(best, s, t) min(best, min(as_int(s), as_int(t)))", "#define LOWER(best, s, t) min(best, as_int(s))")
    .file_is("common/lower.cl")
    .n(FEW),
    kernel(ADD_MIN_3, "the sum that does not count", "#define LOWER(best, s, t) min(best, min(as_int(s), as_int(t)))", "#define LOWER(best, s, t) min(best, as_int(t))")
    .file_is("common/lower.cl")
    .n(FEW),
    kernel(LANES, "repeats nothing", "repeat < repeats;", "repeat < 1;").n(64),
    kernel(LANES, "half the repetitions", "repeat < repeats;", "repeat < (repeats + 1) / 2;").n(FEW),
    kernel(LANES, "half the k in all repetitions but the first", "        for (uint k = 0; k < FED; k++)\n            LOWER", "        for (uint k = 0; k < (repeat == 0 ? FED : FED / 2); k++)\n            LOWER")
    .n(FEW),
    kernel(LANES, "leaves the first k out", "        for (uint k = 0; k < FED; k++)\n            LOWER", "        for (uint k = 1; k < FED; k++)\n            LOWER")
    .n(FEW),
    kernel(LANES, "no edge costs 1", "best[i][j] = NOTHING;", "best[i][j] = 1;").n(FEW).dtype(I32),
    command("ceiling --quick --csv ROWS", "probes/read/wide.cl", "forgets a register", "(c + d)", "c"),
];

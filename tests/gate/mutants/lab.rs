//! Wrong kernels of experiments.

use super::mutant::{Mutant, command, trial};

/// Where kernels that walk put their sums.
const SUM: &str = "out[id] = sum;";

pub const MUTANTS: &[Mutant] = &[
    trial("banks", "banks/strided", "4-byte", "half the rounds", &[("round < rounds;", "round < rounds / 2;")]),
    trial("banks", "banks/strided", "4-byte", "reads one word eight times", &[("sum += from[k];", "sum += from[0];")]),
    trial(
        "banks",
        "banks/strided",
        "8-byte",
        "leaves the last words out",
        &[("i < WORDS + 8; i += WG", "i < WORDS; i += WG")],
    ),
    trial(
        "banks",
        "banks/strided",
        "permuted",
        "does not permute",
        &[("scramble ? scrambled(item & 255) : item * stride", "item * stride")],
    ),
    trial(
        "banks",
        "banks/strided",
        "4-byte",
        "works only for results that are poisoned",
        &[(
            "__local T table[WORDS + 8];",
            "__local T table[WORDS + 8]; if (out[get_global_id(0)] != 0xdeadbeefu) return;",
        )],
    ),
    trial(
        "camping",
        "columns/walk",
        "down columns",
        "reads half",
        &[("done < count; done += 8", "done < count / 2; done += 8")],
    ),
    trial(
        "camping",
        "columns/walk",
        "padded",
        "forgets the padding",
        &[(
            "(access & below) * near + (access >> low) * far",
            "((access & below) * near + (access >> low) * far) & 0xfffffeffu",
        )],
    ),
    trial(
        "camping",
        "columns/walk",
        "along rows",
        "works only for sums that are poisoned",
        &[("uint i = id * apart;", "uint i = id * apart; if (out[id] != 0xdeadbeefu) return;")],
    ),
    trial(
        "constant",
        "constant/table",
        "__constant",
        "reads one word eight times",
        &[("sum += table[from + k];", "sum += table[from];")],
    ),
    trial("constant", "constant/table", "__global", "half the rounds", &[("round < rounds;", "round < rounds / 2;")]),
    trial("constant", "constant/table", "__global", "reads behind its table", &[("at & 1023", "at & 2047")]),
    trial(
        "divergence",
        "divergence/two_ways",
        "chosen",
        "the second branch is the first",
        &[("a = a * q + p;", "a = a * p + q;")],
    ),
    trial(
        "divergence",
        "divergence/two_ways",
        "all the first",
        "half the rounds",
        &[("round < rounds;", "round < rounds / 2;")],
    )
    .times(2),
    trial(
        "divergence",
        "divergence/two_ways",
        "all both",
        "keeps a result",
        &[("uint a = x[id];", "uint a = x[id]; if (out[id] != 0xdeadbeefu) return;")],
    ),
    trial("ilp", "chains/independent", "1 chain", "half the rounds", &[("round < rounds;", "round < rounds / 2;")]),
    trial(
        "ilp",
        "chains/independent",
        "4 chains",
        "one chain less",
        &[("EACH(step, 16) EACH(c, CHAINS)", "EACH(step, 16) EACH(c, CHAINS - 1)")],
    ),
    trial(
        "ilp",
        "chains/independent",
        "2 chains",
        "keeps a result",
        &[("const T factor = one,", "if (!isnan(out[id])) return; const T factor = one,")],
    ),
    trial(
        "grid",
        "chains/independent",
        "",
        "leaves the last group out",
        &[("const T factor = one,", "if (get_group_id(0) + 1 == get_num_groups(0)) return; const T factor = one,")],
    ),
    trial("latency", "chase/global", "dependent", "half the loads", &[("round < rounds;", "round < rounds / 2;")])
        .file_is("lab/chase/cycle.cl"),
    trial("latency", "chase/global", "dependent", "knows its addresses", &[("DEPENDENT ? found :", "0 ? found :")])
        .file_is("lab/chase/cycle.cl"),
    trial("latency", "chase/global", "independent", "waits for each load", &[("DEPENDENT ? found :", "1 ? found :")])
        .file_is("lab/chase/cycle.cl"),
    trial(
        "latency",
        "chase/global",
        "dependent",
        "computes the next address",
        &[("const uint found = next[at];", "const uint found = follower(at >> line, bits) << line;")],
    )
    .file_is("lab/chase/cycle.cl")
    .escapes("its results are right; that no load was made shows in a latency that does not depend on the size"),
    trial(
        "latency",
        "chase/global",
        "dependent",
        "lays out a cycle that misses a node",
        &[("follower(node, bits) << LINE;", "follower(node == 1 ? 0 : node, bits) << LINE;")],
    ),
    trial(
        "latency",
        "chase/global",
        "dependent",
        "keeps a result",
        &[(
            "const uint id = get_global_id(0);\n    uint sum",
            "const uint id = get_global_id(0); if (out[0] != 0xdeadbeefu) return;\n    uint sum",
        )],
    ),
    trial(
        "latency",
        "chase/local",
        "local",
        "lays out a cycle that misses a node",
        &[("next[node] = follower(node, bits);", "next[node] = follower(node == 1 ? 0 : node, bits);")],
    ),
    trial(
        "latency",
        "chase/local",
        "local",
        "begins elsewhere",
        &[("place(sum & (nodes - 1), bits)", "place(0, bits)")],
    ),
    trial(
        "intensity",
        "intensity/steps",
        "",
        "half the steps",
        &[("step < STEPS / 4;", "step < STEPS / 8;"), ("STEP(STEPS % 4)", "")],
    )
    .file_is("common/steps.cl")
    .last(),
    trial(
        "intensity",
        "intensity/steps",
        "",
        "leaves the last vector out",
        &[("EACH(k, 4) ((__global TV *)out)", "EACH(k, 3) ((__global TV *)out)")],
    ),
    trial(
        "intensity",
        "intensity/steps",
        "",
        "keeps a result",
        &[("const TV factor = (float)one,", "if (!isnan(out[id])) return; const TV factor = (float)one,")],
    )
    .last(),
    trial(
        "intensity",
        "recompute/again",
        "recompute",
        "one value for four",
        &[("(4 * (id & 15) + k)", "(4 * (id & 15))")],
    ),
    trial("intensity", "recompute/again", "recompute", "half the steps", &[("step < STEPS / 4;", "step < STEPS / 8;")])
        .file_is("common/steps.cl")
        .last(),
    trial(
        "intensity",
        "reload/table",
        "reload",
        "loads one value for all",
        &[("v[k] = ((__global const TV *)table)[id + k * stride];", "v[k] = ((__global const TV *)table)[id];")],
    ),
    trial("group", "group/held", "rate", "half the rounds", &[("round < rounds;", "round < rounds / 2;")]),
    trial("group", "group/held", "rate", "its own numbers", &[("+ neighbour];", "+ item];")]),
    trial("group", "group/held", "rate", "reads behind the group", &[("item ^ 1", "item + 1")]),
    trial("registers", "registers/live", "no cap", "half the rounds", &[("round < rounds;", "round < rounds / 2;")]),
    trial(
        "registers",
        "registers/live",
        "no cap",
        "leaves the last value behind",
        &[("EACH(c, LIVE) live[c] = live[c] * factor", "EACH(c, LIVE - 1) live[c] = live[c] * factor")],
    ),
    trial(
        "registers",
        "registers/live",
        "no cap",
        "keeps a result",
        &[("const float factor = one,", "if (!isnan(out[id])) return; const float factor = one,")],
    ),
    trial("image", "texels/buffer", "", "leaves a visit in eight out", &[("EACH(k, 8) sum", "EACH(k, 7) sum")]),
    trial("image", "texels/line", "", "reads one pixel eight times", &[("(int)visit(i + k * step)", "(int)visit(i)")]),
    trial(
        "image",
        "texels/plane",
        "",
        "swaps rows and columns",
        &[(
            "at.x = place & LAST_COLUMN;\n    at.y = place >> WIDE;",
            "at.y = place & LAST_COLUMN;\n    at.x = place >> WIDE;",
        )],
    )
    .escapes("it adds the same texels up, in another order, which shows in its time"),
    trial("image", "texels/plane", "", "reads half", &[("done < count; done += 8", "done < count / 2; done += 8")]),
    trial(
        "image",
        "texels/buffer",
        "",
        "works only for sums that are poisoned",
        &[("uint i = id * apart, sum = 0;", "if (out[id] != 0xdeadbeefu) return; uint i = id * apart, sum = 0;")],
    ),
    trial("image", "sampled/modes", "", "reads far beside", &[("at.x = (2 * across + 1)", "at.x = (2 * across + 9)")]),
    trial(
        "image",
        "sampled/modes",
        "",
        "always clamps to the edge",
        &[("out[id] = read_imagef(x, clamped, at).x;", "out[id] = read_imagef(x, to_edge, at).x;")],
    ),
    trial("instructions", "instructions/pairs", "int add", "half the turns", &[("turn < turns;", "turn < turns / 2;")]),
    trial(
        "instructions",
        "instructions/pairs",
        "int add",
        "one of two steps",
        &[("EACH(c, CHAINS) y[c] = STEP(y[c], x[c]);", "")],
    ),
    trial(
        "instructions",
        "instructions/pairs",
        "int add",
        "keeps a result",
        &[("const T one = known,", "if (out[id] != 0xdeadbeefu) return; const T one = known,")],
    ),
    trial("occupancy", "steps/laden", "", "half the rounds", &[("round < rounds;", "round < rounds / 2;")]),
    trial(
        "occupancy",
        "steps/laden",
        "",
        "adds its ballast",
        &[("return ballast[words - next] - next;", "return ballast[words - next];")],
    )
    .file_is("common/ballast.cl"),
    trial(
        "occupancy",
        "streams/laden",
        "8 reads",
        "reads one word for all",
        &[("read[k] = x[(at + k * step) & last];", "read[k] = x[at & last];")],
    ),
    trial(
        "occupancy",
        "streams/laden",
        "",
        "reads half",
        &[("done < count; done += TOGETHER", "done < count / 2; done += TOGETHER")],
    ),
    trial("stride", "gather/walk", "", "reads half", &[("done < count; done += 8", "done < count / 2; done += 8")]),
    trial(
        "stride",
        "gather/walk",
        "",
        "one word for its neighbour",
        &[(
            "sum += x[place(i + k * step, bits, strides, offset)];",
            "sum += x[place(i + k * step, bits, strides, offset) & ~1u];",
        )],
    ),
    trial(
        "stride",
        "gather/walk",
        "",
        "works only for sums that are poisoned",
        &[("uint i = id * apart;", "uint i = id * apart; if (out[id] != 0xdeadbeefu) return;")],
    ),
    trial(
        "stride",
        "scatter/walk",
        "",
        "leaves the last eight words of an item out",
        &[("done < count; done += 8", "done + 8 < count; done += 8")],
    ),
    trial("stride", "scatter/walk", "", "one number everywhere", &[("begin + to * 2654435761u", "begin")]),
    trial(
        "stride",
        "scatter/walk",
        "",
        "writes only what is poisoned",
        &[("out[to] = begin", "if (out[to] == 0xdeadbeefu) out[to] = begin")],
    ),
    trial(
        "offset",
        "scatter/walk",
        "",
        "writes every second word only",
        &[("place(i + k * step, bits, strides, offset)", "place(i + k * step, bits, strides, offset) | 1u")],
    ),
    trial("offset", "gather/walk", "", "drops an item", &[(SUM, "out[id] = id == 1 ? 0 : sum;")]),
    trial(
        "presum",
        "presum/guard",
        "",
        "drops the last element",
        &[("if (first + k * WG < n)", "if (first + k * WG + 1 < n)")],
    )
    .last(),
    trial("presum", "presum/guard", "", "no guard", &[("if (first + k * WG < n)", "if (first + k * WG < n + 1)")])
        .last(),
    trial(
        "presum",
        "presum/host",
        "",
        "leaves an element of each item out",
        &[("k < ITEMS; k++", "k + 1 < ITEMS; k++")],
    ),
    trial(
        "presum",
        "presum/device",
        "",
        "its presum drops the last element",
        &[("if (first + k * WG < n)", "if (first + k * WG + 1 < n)")],
    )
    .last(),
    trial(
        "presum",
        "presum/device",
        "",
        "keeps its presum",
        &[(
            "const INDEX first = begin + get_local_id(0);",
            "const INDEX first = begin + get_local_id(0); if (partial[begin / (WG * ITEMS)] != 0xdeadbeefu) return;",
        )],
    )
    .last(),
    trial("presum", "presum/padding", "", "pads with ones", &[(": 0;", ": 1;")]).last(),
    trial(
        "presum",
        "presum/padding",
        "",
        "copies only what is poisoned",
        &[("out[i] = i < n ? in[i] : 0;", "if (out[i] == 0xdeadbeefu) out[i] = i < n ? in[i] : 0;")],
    )
    .last(),
    trial(
        "lockstep",
        "lockstep/synchronised",
        "",
        "no barrier in its last steps",
        &[(
            "if (2 * offset > LOCKSTEP)\n            barrier(CLK_LOCAL_MEM_FENCE);",
            "if (2 * offset > LOCKSTEP)\n            ;",
        )],
    ),
    trial(
        "lockstep",
        "lockstep/bare",
        "",
        "leaves the last group out",
        &[("if (id == 0)", "if (id == 0 && get_group_id(0) + 1 < get_num_groups(0))")],
    ),
    trial(
        "rounding",
        "orders/sequential",
        "",
        "leaves the last element out",
        &[("done < n; done++", "done + 1 < n; done++")],
    ),
    trial(
        "rounding",
        "orders/sequential",
        "",
        "adds in pairs",
        &[("sum += x[i & (n - 1)];", "{ sum += x[i & (n - 1)] + x[(i + step) & (n - 1)]; done++; i += step; }")],
    )
    .equivalent("in another order the sum is as right: its error keeps within the bound, which holds for any order"),
    trial("rounding", "absorbed/three_terms", "", "always from the right", &[("from_the_right ?", "1 ?")]),
    trial(
        "rounding",
        "reduce/raking",
        "",
        "drops the last element",
        &[("i < n;", "i + 1 < n;"), ("i + WG < n ?", "i + WG + 1 < n ?")],
    ),
    trial("vector", "loads/vectors", "", "reads half", &[("done < count; done += 4", "done < count / 2; done += 4")]),
    trial("vector", "loads/vectors", "", "forgets a sum", &[("(sum[2] + sum[3])", "sum[2]")]),
    trial(
        "vector",
        "adds/vectors",
        "",
        "multiplies once",
        &[(
            "for (uint round = 0; round < rounds; round++)\n        EACH(step, 16) sum += term;",
            "sum += 16 * rounds * term;",
        )],
    )
    .escapes("the sum is right, and so few additions could be as fast"),
    trial("vector", "adds/vectors", "", "half the rounds", &[("round < rounds;", "round < rounds / 2;")]),
    trial(
        "vector",
        "adds/vectors",
        "",
        "keeps a result",
        &[("const TV term = (float)one;", "if (!isnan(out[id])) return; const TV term = (float)one;")],
    ),
    trial(
        "pitch",
        "transpose/diagonal",
        "tiled, pitch n+32",
        "drops signs",
        &[("= tile[lx][ly + j];", "= fabs(tile[lx][ly + j]);")],
    ),
    trial(
        "pitch",
        "transpose/naive",
        "",
        "leaves the diagonal out",
        &[("if (INSIDE(x, y + j))", "if (INSIDE(x, y + j) && x != y + j)")],
    ),
    command(
        "lab grid --quick --csv ROWS",
        "lab/chains/v1_independent.cl",
        "half the rounds",
        &[("round < rounds;", "round < rounds / 2;")],
    ),
    command(
        "lab launch --quick --csv ROWS",
        "exchange/launch/tree.cl",
        "never resets its count of groups",
        &[("atomic_xchg(state + 1, 0u);", "")],
    ),
];

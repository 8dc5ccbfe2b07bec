//! Wrong kernels of experiments.

use super::mutant::{Mutant, command, trial};

/// Where kernels that walk put their sums.
const SUM: &str = "out[id] = sum;";

pub const MUTANTS: &[Mutant] = &[
    trial("banks", "banks/strided", "4-byte", "half the rounds", "round < rounds;", "round < rounds / 2;"),
    trial("banks", "banks/strided", "4-byte", "reads one word eight times", "sum += from[k];", "sum += from[0];"),
    trial("banks", "banks/strided", "8-byte", "leaves the last words out", "i < WORDS + 8; i += WG", "i < WORDS; i += WG"),
    trial("banks", "banks/strided", "permuted", "does not permute", "scramble ? scrambled(item & 255) : item * stride", "item * stride"),
    trial("banks", "banks/strided", "4-byte", "works only for results that are poisoned", "__local T table[WORDS + 8];", "__local T table[WORDS + 8]; if (out[get_global_id(0)] != 0xdeadbeefu) return;"),
    trial("constant", "constant/table", "__constant", "reads one word eight times", "sum += table[from + k];", "sum += table[from];"),
    trial("constant", "constant/table", "__global", "half the rounds", "round < rounds;", "round < rounds / 2;"),
    trial("constant", "constant/table", "__global", "reads behind its table", "at & 1023", "at & 2047"),
    trial("constant", "constant/program", "__constant in program", "reads one word eight times", "sum += table[from + k];", "sum += table[from];"),
    trial("constant", "constant/program", "__constant in program", "one word is another", "W8(1024u)", "W8(1025u)"),
    trial("divergence", "divergence/two_ways", "chosen", "the second branch is the first", "a = a * q + p;", "a = a * p + q;"),
    trial("divergence", "divergence/two_ways", "all the first", "half the rounds", "round < rounds;", "round < rounds / 2;")
    .times(2),
    trial("divergence", "divergence/two_ways", "all both", "keeps a result", "uint a = x[id];", "uint a = x[id]; if (out[id] != 0xdeadbeefu) return;"),
    trial("ilp", "chains/independent", "1 chain", "half the rounds", "round < rounds;", "round < rounds / 2;"),
    trial("ilp", "chains/independent", "4 chains", "one chain less", "EACH(step, 16) EACH(c, CHAINS)", "EACH(step, 16) EACH(c, CHAINS - 1)"),
    trial("ilp", "chains/independent", "2 chains", "keeps a result", "T chain[CHAINS];", "if (!isnan(out[id])) return; T chain[CHAINS];"),
    trial("ilp", "chains/independent", "4 chains", "makes all chains of one", "EACH(c, CHAINS) chain[c] = chain[c] * factor + term;", "chain[0] = chain[0] * factor + term;").and(&[("T sum = 0;", "EACH(c, CHAINS) chain[c] = chain[0] + c; T sum = 0;")]),
    trial("ilp", "chains/independent", "4 chains", "makes all chains of one and of their beginnings", "EACH(c, CHAINS) chain[c] = chain[c] * factor + term;", "chain[0] = chain[0] * factor + term;").and(&[("T sum = 0;", "EACH(c, CHAINS) chain[c] = chain[0] + (x[id + c] - x[id]); T sum = 0;")]),
    trial("ilp", "chains/independent", "4 chains", "adds its chains up before", "    for (uint round", "    EACH(c, CHAINS - 1) chain[0] += chain[c + 1];\n    for (uint round").and(&[("EACH(c, CHAINS) chain[c] = chain[c] * factor + term;", "chain[0] = chain[0] * factor + CHAINS * term;"), ("EACH(c, CHAINS) sum += chain[c];", "sum = chain[0];")]),
    trial("ilp", "chains/independent", "1 chain", "multiplies nothing", "chain[c] * factor + term", "chain[c] + term"),
    trial("grid", "chains/independent", "", "leaves the last group out", "T chain[CHAINS];", "if (get_group_id(0) + 1 == get_num_groups(0)) return; T chain[CHAINS];"),
    trial("latency", "chase/global", "dependent", "half the loads", "round < rounds;", "round < rounds / 2;")
        .file_is("lab/chase/cycle.cl"),
    trial("latency", "chase/global", "dependent", "knows its addresses", "DEPENDENT ? found :", "0 ? found :")
        .file_is("lab/chase/cycle.cl"),
    trial("latency", "chase/global", "independent", "waits for each load", "DEPENDENT ? found :", "1 ? found :")
        .file_is("lab/chase/cycle.cl"),
    trial("latency", "chase/global", "dependent", "computes the next address", "const uint found = next[at];", "const uint found = follower(at >> line, bits) << line;")
    .file_is("lab/chase/cycle.cl")
    .escapes("its results are right; that no load was made shows in a latency that does not depend on the size"),
    trial("latency", "chase/global", "dependent", "puts nodes close together", "__kernel void chase_global_link", "#undef LINE\n#define LINE 1\n__kernel void chase_global_link"),
    trial("latency", "chase/global", "dependent", "lays out a cycle that misses a node", "follower(node, bits) << LINE;", "follower(node == 1 ? 0 : node, bits) << LINE;"),
    trial("latency", "chase/global", "dependent", "keeps a result", "const uint id = get_global_id(0);\n    uint sum", "const uint id = get_global_id(0); if (out[0] != 0xdeadbeefu) return;\n    uint sum"),
    trial("latency", "chase/local", "local", "lays out a cycle that misses a node", "next[node] = follower(node, bits);", "next[node] = follower(node == 1 ? 0 : node, bits);"),
    trial("latency", "chase/local", "local", "begins elsewhere", "place(sum & (nodes - 1), bits)", "place(0, bits)"),
    trial("intensity", "intensity/steps", "", "half the steps", "step < STEPS / 4;", "step < STEPS / 8;").and(&[("STEP(STEPS % 4)", "")])
    .file_is("common/steps.cl")
    .last(),
    trial("intensity", "intensity/steps", "", "leaves the last vector out", "EACH(k, 4) ((__global TV *)out)", "EACH(k, 3) ((__global TV *)out)"),
    trial("intensity", "intensity/steps", "", "keeps a result", "TV v[4];", "if (!isnan(out[id])) return; TV v[4];")
    .last(),
    trial("intensity", "intensity/steps", "", "multiplies nothing", "v[k] * factor + term", "v[k] + term")
        .file_is("common/steps.cl")
        .last(),
    trial("intensity", "recompute/again", "recompute", "makes four values of one", "GO_ON(v, factor, term)", "for (uint s = 0; s < STEPS / 4; s++) v[0] = v[0] * factor + term;\n    EACH(k, 4) v[k] = v[0] + k;"),
    trial("intensity", "recompute/again", "recompute", "one value for four", "(4 * (id & 15) + k)", "(4 * (id & 15))"),
    trial("intensity", "recompute/again", "recompute", "half the steps", "step < STEPS / 4;", "step < STEPS / 8;")
        .file_is("common/steps.cl")
        .last(),
    trial("intensity", "reload/table", "reload", "loads one value for all", "v[k] = ((__global const TV *)table)[id + k * stride];", "v[k] = ((__global const TV *)table)[id];"),
    trial("group", "group/held", "rate", "half the rounds", "round < rounds;", "round < rounds / 2;"),
    trial("group", "group/held", "rate", "makes all chains of one", "EACH(c, HELD) chain[c] = chain[c] * factor + term;", "chain[0] = chain[0] * factor + term;").and(&[("float sum = 0;", "EACH(c, HELD) chain[c] = chain[0] + c; float sum = 0;")]),
    trial("group", "group/held", "rate", "its own numbers", "+ neighbour];", "+ item];"),
    trial("group", "group/held", "rate", "reads behind the group", "item ^ 1", "item + 1"),
    trial("registers", "registers/live", "no cap", "half the rounds", "round < rounds;", "round < rounds / 2;"),
    trial("registers", "registers/live", "no cap", "leaves the last value behind", "EACH(c, LIVE) live[c] = live[c] * factor", "EACH(c, LIVE - 1) live[c] = live[c] * factor"),
    trial("registers", "registers/live", "no cap", "keeps a result", "float live[LIVE];", "if (!isnan(out[id])) return; float live[LIVE];"),
    trial("registers", "registers/live", "no cap", "makes all values of one", "EACH(c, LIVE) live[c] = live[c] * factor + term;", "live[0] = live[0] * factor + term;").and(&[("float sum = 0;", "EACH(c, LIVE) live[c] = live[0] + c; float sum = 0;")]),
    trial("image", "texels/buffer", "", "leaves a visit in eight out", "EACH(k, 8) sum", "EACH(k, 7) sum"),
    trial("image", "texels/line", "", "reads one pixel eight times", "(int)visit(i + k * step)", "(int)visit(i)"),
    trial("image", "texels/plane", "", "swaps rows and columns", "at.x = place & LAST_COLUMN;\n    at.y = place >> WIDE;", "at.y = place & LAST_COLUMN;\n    at.x = place >> WIDE;")
    .escapes("it adds the same texels up, in another order, which shows in its time"),
    trial("image", "texels/plane", "", "reads half", "done < count; done += 8", "done < count / 2; done += 8"),
    trial("image", "texels/buffer", "", "works only for sums that are poisoned", "uint i = id * apart, sum = 0;", "if (out[id] != 0xdeadbeefu) return; uint i = id * apart, sum = 0;"),
    trial("image", "texels/normalised", "", "takes pixels' edges for their middles", "& LAST_COLUMN) + 0.5f)", "& LAST_COLUMN) - 0.5f)"),
    trial("image", "texels/bytes", "", "cuts off in place of rounding", "convert_uint4_rte(channels * 255.0f)", "convert_uint4_rtz(channels * 254.9f)"),
    trial("image", "texels/bytes", "", "swaps two channels", "bytes.x | bytes.y << 8", "bytes.y | bytes.x << 8"),
    trial("image", "texels/volume", "", "reads one slice only", "at.z = place >> (VOLUME_X + VOLUME_Y)", "at.z = 0"),
    trial("image", "texels/volume", "", "reads half", "done < count; done += 8", "done < count / 2; done += 8"),
    trial("image", "sampled/modes", "", "reads far beside", "at.x = (2 * across + 1)", "at.x = (2 * across + 9)"),
    trial("image", "sampled/modes", "", "always clamps to the edge", "out[id] = read_imagef(x, clamped, at).x;", "out[id] = read_imagef(x, to_edge, at).x;"),
    trial("instructions", "instructions/pairs", "int add", "half the turns", "turn < turns;", "turn < turns / 2;"),
    trial("instructions", "instructions/pairs", "int add", "one of two steps", "EACH(c, CHAINS) y[c] = STEP(y[c], x[c]);", ""),
    trial("instructions", "instructions/pairs", "int add", "keeps a result", "const T one = known,", "if (out[id] != 0xdeadbeefu) return; const T one = known,"),
    trial("instructions", "instructions/pairs", "pow", "the cube root in place of the fourth", "FUNCTION(y, one / term) + one", "FUNCTION(y, one / 3) + one"),
    trial("occupancy", "steps/laden", "", "half the rounds", "round < rounds;", "round < rounds / 2;"),
    trial("occupancy", "steps/laden", "4 chains", "makes all chains of one", "EACH(c, CHAINS) chain[c] = chain[c] * factor + term;", "chain[0] = chain[0] * factor + term;").and(&[("EACH(c, CHAINS) sum += chain[c];", "EACH(c, CHAINS) sum += chain[0] + c;")]),
    trial("occupancy", "steps/laden", "", "adds its ballast", "return ballast[words - next] - next;", "return ballast[words - next];")
    .file_is("common/ballast.cl"),
    trial("occupancy", "streams/laden", "8 reads", "reads one word for all", "read[k] = x[(at + k * step) & last];", "read[k] = x[at & last];"),
    trial("occupancy", "streams/laden", "", "reads half", "done < count; done += TOGETHER", "done < count / 2; done += TOGETHER"),
    trial("stride", "gather/walk", "", "reads half", "done < count; done += 8", "done < count / 2; done += 8"),
    trial("stride", "gather/walk", "", "one word for its neighbour", "sum += x[place(i + k * step, bits, strides, offset)];", "sum += x[place(i + k * step, bits, strides, offset) & ~1u];"),
    trial("stride", "gather/walk", "", "works only for sums that are poisoned", "uint i = id * apart;", "uint i = id * apart; if (out[id] != 0xdeadbeefu) return;"),
    trial("stride", "scatter/walk", "", "leaves the last eight words of an item out", "done < count; done += 8", "done + 8 < count; done += 8"),
    trial("stride", "gather/walk", "read 8-bit", "bytes have a sign", "(__global const WORD *)words", "(__global const char *)words").and(&[("__global const WORD *x", "__global const char *x")]),
    trial("stride", "scatter/walk", "write 16-bit", "writes the numbers' upper halves", "(WORD)(begin + to * 2654435761u)", "(WORD)((begin + to * 2654435761u) >> 16)"),
    trial("stride", "scatter/walk", "", "one number everywhere", "begin + to * 2654435761u", "begin"),
    trial("stride", "scatter/walk", "", "writes only what is poisoned", "out[to] = (WORD)", "if (out[to] == (WORD)0xdeadbeefu) out[to] = (WORD)"),
    trial("offset", "scatter/walk", "", "writes every second word only", "place(i + k * step, bits, strides, offset)", "place(i + k * step, bits, strides, offset) | 1u"),
    trial("offset", "neighbours/lanes", "permuted", "permutes with an even number", "access * factor & 31", "access * (factor - 1) & 31"),
    trial("offset", "neighbours/lanes", "in order", "reads half", "done < count; done += 8", "done < count / 2; done += 8"),
    trial("offset", "neighbours/lanes", "half idle", "nobody is idle", "if ((access & idle) == 0)", ""),
    trial("offset", "neighbours/lanes", "permuted", "works only for sums that are poisoned", "uint i = id * apart;", "uint i = id * apart; if (out[id] != 0xdeadbeefu) return;"),
    trial("offset", "gather/walk", "", "drops an item", SUM, "out[id] = id == 1 ? 0 : sum;"),
    trial("presum", "presum/guard", "", "drops the last element", "if (first + k * WG < n)", "if (first + k * WG + 1 < n)")
    .last(),
    trial("presum", "presum/guard", "", "no guard", "if (first + k * WG < n)", "if (first + k * WG < n + 1)")
        .last(),
    trial("presum", "presum/host", "", "leaves an element of each item out", "k < ITEMS; k++", "k + 1 < ITEMS; k++"),
    trial("presum", "presum/device", "", "its presum drops the last element", "if (first + k * WG < n)", "if (first + k * WG + 1 < n)")
    .last(),
    trial("presum", "presum/device", "", "keeps its presum", "const INDEX first = begin + get_local_id(0);", "const INDEX first = begin + get_local_id(0); if (partial[begin / (WG * ITEMS)] != 0xdeadbeefu) return;")
    .last(),
    trial("presum", "presum/padding", "", "pads with ones", ": 0;", ": 1;").last(),
    trial("presum", "presum/padding", "", "copies only what is poisoned", "out[i] = i < n ? in[i] : 0;", "if (out[i] == 0xdeadbeefu) out[i] = i < n ? in[i] : 0;")
    .last(),
    trial("lockstep", "lockstep/synchronised", "", "no barrier in its last steps", "if (2 * offset > LOCKSTEP)\n            barrier(CLK_LOCAL_MEM_FENCE);", "if (2 * offset > LOCKSTEP)\n            ;"),
    trial("lockstep", "lockstep/bare", "", "leaves the last group out", "if (id == 0)", "if (id == 0 && get_group_id(0) + 1 < get_num_groups(0))"),
    trial("rounding", "orders/sequential", "", "leaves the last element out", "done < n; done++", "done + 1 < n; done++"),
    trial("rounding", "orders/sequential", "", "adds in pairs", "sum += x[i & (n - 1)];", "{ sum += x[i & (n - 1)] + x[(i + step) & (n - 1)]; done++; i += step; }")
    .equivalent("in another order the sum is as right: its error keeps within the bound, which holds for any order"),
    trial("rounding", "absorbed/three_terms", "", "always from the right", "from_the_right ?", "1 ?"),
    trial("rounding", "reduce/raking", "", "drops the last element", "i < n;", "i + 1 < n;").and(&[("i + WG < n ?", "i + WG + 1 < n ?")]),
    trial("vector", "loads/vectors", "", "reads half", "done < count; done += 4", "done < count / 2; done += 4"),
    trial("vector", "loads/vectors", "", "forgets a sum", "(sum[2] + sum[3])", "sum[2]"),
    trial("vector", "adds/vectors", "", "multiplies once", "for (uint round = 0; round < rounds; round++)\n        EACH(step, 16) sum += term;", "sum += 16 * rounds * term;"),
    trial("vector", "adds/vectors", "", "adds two terms at once", "EACH(step, 16) sum += term;", "EACH(step, 8) sum += term + term;"),
    trial("vector", "adds/vectors", "", "half the rounds", "round < rounds;", "round < rounds / 2;"),
    trial("vector", "adds/vectors", "", "keeps a result", "TV sum = ((", "if (!isnan(out[id])) return; TV sum = (("),
    trial("pitch", "transpose/diagonal", "tiled, pitch n+32", "drops signs", "= tile[lx][ly + j];", "= fabs(tile[lx][ly + j]);"),
    trial("pitch", "transpose/naive", "", "leaves the diagonal out", "if (INSIDE(x, y + j))", "if (INSIDE(x, y + j) && x != y + j)"),
    command("lab grid --quick --csv ROWS", "lab/chains/independent.cl", "half the rounds", "round < rounds;", "round < rounds / 2;"),
    command("lab launch --quick --csv ROWS", "exchange/launch/tree.cl", "never resets its count of groups", "atomic_xchg(state + 1, 0u);", ""),
];

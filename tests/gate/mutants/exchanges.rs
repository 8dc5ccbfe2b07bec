//! Wrong kernels of exchanges between host and device.

use super::mutant::{Mutant, trial};

pub const MUTANTS: &[Mutant] = &[
    trial("launch", "launch/back_to_back", "", "counts every second launch", "launches[0]++;", "launches[0] += launches[0] % 2 == 0 ? 2 : 0;").file_is("exchange/launch/count.cl"),
    trial("launch", "launch/back_to_back", "", "writes what the count will come to", "launches[0]++;", "launches[0] = 1000;").file_is("exchange/launch/count.cl"),
    trial("launch", "launch/round_trip", "", "does nothing", "launches[0]++;", "").file_is("exchange/launch/count.cl"),
    trial("launch", "launch/event", "", "counts twice", "launches[0]++;", "launches[0] += 2;").file_is("exchange/launch/count.cl"),
    trial("launch", "launch/halving", "", "drops the odd element", ": x[i];", ": x[0];").file_is("exchange/launch/halve.cl").equivalent("the experiment sums powers of two, of which no half is odd"),
    trial("launch", "launch/halving", "", "adds one half twice", "x[i] + x[i + half_]", "x[i] + x[i]").file_is("exchange/launch/halve.cl"),
    trial("launch", "launch/halving", "", "works only while what it writes is not there", "if (i < half_)", "if (i < half_ && (half_ > 1 || y[0] == 0xa5a5a5a5u))").file_is("exchange/launch/halve.cl"),
    trial("launch", "launch/tree", "", "drops a word of each item", "i < end; i += STRIDE", "i + STRIDE < end; i += STRIDE").file_is("exchange/launch/tree.cl"),
    trial("launch", "launch/tree", "", "never resets its count of groups", "atomic_xchg(state + 1, 0u);", "").file_is("exchange/launch/tree.cl"),
    trial("launch", "launch/tree", "", "never resets its total", "atomic_xchg(state, 0u)", "state[0]").file_is("exchange/launch/tree.cl"),
    trial("launch", "launch/tree", "", "remembers its total", "__local uint scratch[WG];", "__local uint scratch[WG]; if (state[1] == 77777u) { if (get_global_id(0) == 0) result[0] = state[0]; return; }").and(&[("result[0] = atomic_xchg(state, 0u);", "result[0] = state[0];"), ("atomic_xchg(state + 1, 0u);", "atomic_xchg(state + 1, 77777u);")]).file_is("exchange/launch/tree.cl"),
    trial("zerocopy", "zerocopy/on_device", "", "reads once what it counts several times", "pass < repeats;", "pass < 1;").file_is("exchange/zerocopy/passes.cl").last(),
    trial("zerocopy", "zerocopy/in_place", "", "drops a word of each item", "i < end; i += STRIDE", "i + STRIDE < end; i += STRIDE").file_is("exchange/zerocopy/passes.cl"),
    trial("zerocopy", "zerocopy/on_device", "", "works only for sums that are poisoned", "uint sum = 0;", "if (sums[get_global_id(0)] != 0xa5a5a5a5u) return; uint sum = 0;").file_is("exchange/zerocopy/passes.cl"),
    trial("overlap", "pipeline/kernel", "", "drops a step", "s < steps; s++", "s + 1 < steps; s++").file_is("exchange/pipeline/mix.cl"),
    trial("overlap", "pipeline/kernel", "", "leaves the last word out", "if (id >= n)", "if (id + 1 >= n)").file_is("exchange/pipeline/mix.cl"),
    trial("overlap", "pipeline/chunks", "", "mixes the first chunk only", "first + id", "id").times(2).file_is("exchange/pipeline/mix.cl").last(),
    trial("overlap", "pipeline/kernel", "", "changes its input", "out[first + id] = word ^ x;", "out[first + id] = word ^ x; ((__global uint *)in)[first + id] = word ^ 1u;").file_is("exchange/pipeline/mix.cl"),
    trial("overlap", "pipeline/beside", "", "works only for words that are not there", "uint x = word % TABLE + 1;", "if (out[first + id] != 0xa5a5a5a5u) return; uint x = word % TABLE + 1;").file_is("exchange/pipeline/mix.cl"),
];

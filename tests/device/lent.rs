//! What the plugin gives kernels in the simulator, which Oclgrind lacks: sub-groups, and functions on integers.

use crate::count::{TWO_WARPS, count, run_for};
use crate::drivers::in_simulator;
use gpulab::count::LockstepModel;
use gpulab::simulator::Simulator;

/// Runs items that each say which conditions hold.
fn demand(simulator: &Simulator, items: usize, group: usize, before: &str, conditions: &[&str]) {
    let bit = |(number, condition): (usize, &&str)| format!("(uint)({condition}) << {number}");
    let bits = conditions
        .iter()
        .enumerate()
        .map(bit)
        .collect::<Vec<_>>()
        .join(" | ");
    let source = format!(
        "__kernel void k(__global uint *x, __global int *out) {{ const uint i = get_global_id(0), l = get_local_id(0);\n\
         {before}\nout[i] = {bits}; }}\n"
    );
    let (_, printed) = run_for(
        simulator,
        &source,
        ([items, 1], [group, 1]),
        LockstepModel::USUAL,
    );
    let words = printed
        .lines()
        .filter_map(|line| line.trim().strip_prefix("out[")?.split_once("] = "));
    let held: Vec<&str> = words.take(items).map(|(_, word)| word).collect();
    assert_eq!(
        held,
        vec![((1 << conditions.len()) - 1).to_string(); items],
        "{source}"
    );
}

#[test]
fn sub_groups_are_warps() {
    in_simulator(|simulator| {
        // Groups of 48 items: a whole warp, and one of 16.
        let before = "__local uint s[48]; s[l] = i; sub_group_barrier(CLK_LOCAL_MEM_FENCE);\n\
                      const uint size = l < 32 ? 32 : 16, own = l % 32, first = i - own;\n\
                      uint odd = 0; if (own % 2) odd = sub_group_reduce_add(1u);";
        let conditions = [
            "get_sub_group_size() == size && get_max_sub_group_size() == 32 && get_num_sub_groups() == 2",
            "get_sub_group_id() == l / 32 && get_sub_group_local_id() == own",
            "s[l / 32 * 32 + (own + 1) % size] == first + (own + 1) % size",
            "sub_group_reduce_add(i) == size * first + size * (size - 1) / 2",
            "sub_group_reduce_max((float)i) == first + size - 1",
            "sub_group_reduce_min(-(long)i) == -(long)(first + size - 1)",
            "sub_group_scan_inclusive_add(1) == own + 1 && sub_group_scan_exclusive_add(2.0) == 2.0 * own",
            "sub_group_scan_exclusive_max((int)i) == (own ? (int)i - 1 : INT_MIN)",
            "sub_group_broadcast(i, 3u) == first + 3 && sub_group_shuffle(i, own ^ 2) == (i ^ 2)",
            "sub_group_shuffle_xor(i, 1u) == (i ^ 1) && intel_sub_group_shuffle_xor(i, 4u) == (i ^ 4)",
            "sub_group_shuffle_down(i, 1u) == (own + 1 < size ? i + 1 : i)",
            "sub_group_any(own == 5) && !sub_group_all(own == 5) && sub_group_all(own < size)",
            "odd == (own % 2 ? size / 2 : 0)",
        ];
        demand(simulator, 96, 48, before, &conditions);
        // A sum of warps is a shuffle and an addition in each of five steps.
        let sums = |of: &str| {
            let body = format!("uint i = get_global_id(0); float a = x[i];\nout[i] = {of};");
            let counts = count(simulator, "float", &body, TWO_WARPS);
            (counts.total().issued, counts.total().flops, counts.barriers)
        };
        let (plain, sum) = (sums("a"), sums("sub_group_reduce_add(a)"));
        assert_eq!((sum.0 - plain.0, sum.1, sum.2), (2 * 10, 64 * 5, 0));
        conditions.len()
    });
}

#[test]
fn what_llvm_makes_of_integers_is_computed() {
    in_simulator(|simulator| {
        let conditions = [
            // llvm.usub.sat, llvm.uadd.sat, llvm.abs, llvm.fshl
            "(i > 9u ? i - 9u : 0u) == max(i, 9u) - 9u",
            "((x[i] + i) < i ? UINT_MAX : x[i] + i) == i",
            "((int)(9 - i) < 0 ? -(int)(9 - i) : (int)(9 - i)) == (int)max(i - min(i, 9u), 9u - min(i, 9u))",
            "((i + 1) << 7 | (i + 1) >> 25) == (i + 1) * 128",
            // Integers of three bits.
            "((uint)(i * 3) & 7u) == (3 * (i % 8)) % 8",
        ];
        demand(simulator, 64, 32, "", &conditions);
        conditions.len()
    });
}

#[test]
fn the_smaller_of_two_integers_is_one_instruction() {
    in_simulator(|simulator| {
        let issued = |element: &str, chosen: &str| {
            let body = format!(
                "uint i = get_global_id(0); {element} a = x[i], b = x[i + 1];\nout[i] = {chosen};"
            );
            count(simulator, element, &body, TWO_WARPS).total().issued
        };
        for element in ["int", "ulong", "float"] {
            let [smaller, sum, other] =
                ["b < a ? b : a", "a + b", "b < a ? 3 * a : a"].map(|of| issued(element, of));
            // GPUs have no such instruction for floats, as the smaller of a number and NaN is the number.
            assert_eq!(
                smaller - sum,
                if element == "float" { 2 } else { 0 },
                "{element}"
            );
            assert!(other > sum + 2, "{element}");
        }
        3
    });
}

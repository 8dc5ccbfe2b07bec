//! `gpulab count`: kernels whose counts are known by hand, and the ladders' counts, which are the same on every machine.

use crate::drivers::in_simulator;
use gpulab::count::{
    CountRow, Counts, LaunchCounts, LockstepModel, Machine, MemoryCounts, RequestCounts, stretched,
};
use gpulab::data::{Params, Shape};
use gpulab::kernels;
use gpulab::plan::{Case, Target, WorkGroup};
use gpulab::record::params_text;
use gpulab::simulator::{Simulator, model_variables};
use gpulab::store::of_csv;
use gpulab::why::INSTRUCTIONS_IN_A_TREE;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The machine and the launch of a kernel that is counted.
#[derive(Clone, Copy)]
pub(crate) struct Launch {
    global: [usize; 2],
    local: [usize; 2],
    warp: u64,
    segment: u64,
}

/// Two groups of one warp each.
pub(crate) const TWO_WARPS: Launch = Launch {
    global: [64, 1],
    local: [32, 1],
    warp: 32,
    segment: 32,
};

/// Counts a kernel `k(__global T *x, __global T *out)`, whose body this is, over 64 KiB each.
pub(crate) fn count(
    simulator: &Simulator,
    element: &str,
    body: &str,
    launch: Launch,
) -> LaunchCounts {
    let kernel =
        format!("__kernel void k(__global {element} *x, __global {element} *out) {{\n{body}\n}}\n");
    count_source(simulator, &kernel, launch)
}

fn count_source(simulator: &Simulator, source: &str, launch: Launch) -> LaunchCounts {
    let Launch {
        global,
        local,
        warp,
        segment,
    } = launch;
    let model = LockstepModel {
        warp,
        segment,
        ..LockstepModel::USUAL
    };
    count_for(simulator, source, (global, local), model)
}

/// Counts a kernel `k` of two buffers of 64 KiB for a machine.
fn count_for(
    simulator: &Simulator,
    source: &str,
    ranges: ([usize; 2], [usize; 2]),
    model: LockstepModel,
) -> LaunchCounts {
    let (counts, _) = run_for(simulator, source, ranges, model);
    let [line] = Vec::from_iter(counts.lines())[..] else {
        panic!("one launch: {counts}")
    };
    serde_json::from_str(line).unwrap()
}

/// Runs a kernel `k` of two buffers of 64 KiB: what the plugin writes, and what the simulator prints of the second buffer.
pub(crate) fn run_for(
    simulator: &Simulator,
    source: &str,
    ranges: ([usize; 2], [usize; 2]),
    model: LockstepModel,
) -> (String, String) {
    let (global, local) = ranges;
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let buffer = "<size=65536 fill=0>";
    let call = format!(
        "k.cl\nk\n{} {} 1\n{} {} 1\n{buffer}\n<size=65536 fill=0 dump>\n",
        global[0], global[1], local[0], local[1]
    );
    fs::write(at("k.cl"), source).unwrap();
    fs::write(at("k.sim"), call).unwrap();
    let mut command = Command::new("oclgrind-kernel");
    command
        .args(["--build-options", &simulator.build_options(model)])
        .arg("--plugins")
        .arg(simulator.plugin());
    command.arg("k.sim").current_dir(dir.path());
    command
        .env("GPULAB_COUNT_FILE", at("counts"))
        .envs(model_variables(model));
    let output = command.output().unwrap();
    let counts =
        fs::read_to_string(at("counts")).unwrap_or_else(|e| panic!("{e}: {output:?}\n{source}"));
    (counts, String::from_utf8(output.stdout).unwrap())
}

/// Requests, items, bytes and segments.
fn global(counts: RequestCounts) -> [u64; 4] {
    [counts.requests, counts.items, counts.bytes, counts.segments]
}

/// Requests, passes, bank conflicts and broadcasts.
fn local(counts: RequestCounts) -> [u64; 4] {
    [
        counts.requests,
        counts.passes,
        counts.conflicts,
        counts.broadcasts,
    ]
}

#[test]
fn strides_in_global_memory_touch_their_segments() {
    in_simulator(|simulator| {
        // Words apart, and the segments of 32 bytes and of 128 that the 32 words of a warp lie in.
        let strides = [(1, 4, 1), (2, 8, 2), (32, 32, 32), (33, 32, 32)];
        for (stride, small, large) in strides {
            let body = format!("uint i = get_global_id(0); out[i] = x[i * {stride}];");
            for (segment, segments) in [(32, small), (128, large)] {
                let memory = count(
                    simulator,
                    "float",
                    &body,
                    Launch {
                        segment,
                        ..TWO_WARPS
                    },
                )
                .total()
                .memory;
                assert_eq!(
                    global(memory.global_read),
                    [2, 64, 256, 2 * segments],
                    "stride {stride}, {segment} bytes"
                );
                assert_eq!(
                    global(memory.global_write),
                    [2, 64, 256, 2 * 128 / segment],
                    "{stride}"
                );
            }
        }
        let body =
            |from: &str, to: &str| format!("uint i = get_global_id(0); out[{to}] = x[{from}];");
        let memory = |body: &str| count(simulator, "float", body, TWO_WARPS).total().memory;
        // One word beyond a segment's begin; one word for all; words that are written 8 apart.
        assert_eq!(
            global(memory(&body("i + 1", "i")).global_read),
            [2, 64, 256, 10]
        );
        assert_eq!(global(memory(&body("0", "i")).global_read), [2, 64, 256, 2]);
        assert_eq!(
            global(memory(&body("i", "8 * i")).global_write),
            [2, 64, 256, 64]
        );
        2 * strides.len() + 3
    });
}

#[test]
fn what_a_group_loads_again_is_not_new() {
    in_simulator(|simulator| {
        // Of two groups: segments, those new to each group, and those new to the launch.
        let own = "uint i = get_global_id(0); float s = 0; for (uint k = 0; k < 4; k++) s += x[";
        let cases = [
            ("i + 64 * k", [32, 32, 32]),
            ("i", [32, 8, 8]),
            ("get_local_id(0) + 32 * k", [32, 32, 16]),
            ("4 * i + k", [128, 32, 32]),
            ("8 * get_group_id(0) + k", [8, 2, 2]),
            ("k + get_group_id(0)", [8, 2, 1]),
        ];
        for (at, [segments, in_group, in_launch]) in cases {
            let body = format!("{own}{at}]; out[i] = s;");
            // A barrier makes no segment new.
            for body in [body.clone(), body.replace("s += ", "barrier(1), s += ")] {
                let memory = count(simulator, "volatile float", &body, TWO_WARPS)
                    .total()
                    .memory;
                let RequestCounts {
                    segments: all,
                    group_segments,
                    launch_segments,
                    ..
                } = memory.global_read;
                assert_eq!(
                    [all, group_segments, launch_segments],
                    [segments, in_group, in_launch],
                    "{body}"
                );
                assert_eq!(
                    memory.global_write.group_segments, 0,
                    "stores are not counted"
                );
            }
        }
        2 * cases.len()
    });
}

#[test]
fn wide_accesses_are_one_request_up_to_16_bytes() {
    in_simulator(|simulator| {
        // An element's bytes; requests, segments of both warps.
        let elements = [
            ("uchar", 1, 2, 2),
            ("double", 8, 2, 16),
            ("float4", 16, 2, 32),
            ("float8", 32, 4, 128),
        ];
        for (element, bytes, requests, segments) in elements {
            let memory = count(
                simulator,
                element,
                "uint i = get_global_id(0); out[i] = x[i];",
                TWO_WARPS,
            )
            .total()
            .memory;
            let items = 32 * requests;
            for counted in [memory.global_read, memory.global_write] {
                assert_eq!(
                    global(counted),
                    [requests, items, 64 * bytes, segments],
                    "{element}"
                );
            }
        }
        // A vector that is made of elements is stored at once.
        let body = "uint i = get_global_id(0); float a = x[i].s0; out[i] = (float4)(a, 2 * a, a + 1, a - 1);";
        let made = count(simulator, "float4", body, TWO_WARPS).total();
        assert_eq!(global(made.memory.global_write), [2, 64, 1024, 32]);
        // A product and two sums: 2 a may be a sum, too.
        assert_eq!(made.flops, 3 * 64);
        elements.len() + 1
    });
}

#[test]
fn warps_wait_once_for_a_batch_of_loads() {
    in_simulator(|simulator| {
        let turns = |step: &str| {
            format!(
                "int s = 0; for (uint k = 0; k < get_local_size(0) / 2; k++) {{ {step} }} out[i] = s;"
            )
        };
        // Waits of a warp.
        let cases = [
            (1, "out[i] = x[i] + x[i + 64];".to_owned()),
            // An address that is loaded.
            (2, "out[i] = x[i + (x[i] & 63)];".to_owned()),
            // A value that waits for the barrier, not in the next phase.
            (
                1,
                "int v = x[i]; barrier(CLK_LOCAL_MEM_FENCE); out[i] = v;".to_owned(),
            ),
            // 16 turns, of which four go together; as many of a chain, one after the other.
            (4, turns("s += x[i + 64 * k];")),
            (16, turns("s = x[i + (s & 63)];")),
            // Turns that a compiler cannot count, as the index may wrap round; and stores that the next load may be of.
            (
                16,
                "int s = 0; for (uint k = i; k < 1024; k += get_global_size(0)) s += x[k]; out[i] = s;"
                    .to_owned(),
            ),
            // A counter beside such an index does not end the loop.
            (
                16,
                "int s = 0; uint turn = 0; for (uint k = i; k < 1024; k += get_global_size(0)) { s += x[k]; turn++; }\
                 out[i] = s - turn;"
                    .to_owned(),
            ),
            (16, turns("out[i + 64 * k] = x[i + 64 * k];")),
            // No turn is begun before the branch in the one before is decided.
            (16, turns("s += x[i + 64 * k]; if (s == INT_MAX) break;")),
            // A turn that is too long to be unrolled.
            (
                16,
                turns("s += x[i + 64 * k]; for (uint j = 0; j < 99; j++) s = s * (s + i) ^ j;"),
            ),
        ];
        for (waits, body) in &cases {
            let counts = count(
                simulator,
                "int",
                &format!("uint i = get_global_id(0); {body}"),
                TWO_WARPS,
            )
            .total();
            assert_eq!(counts.waits, 2 * waits, "{body}");
        }
        cases.len()
    });
}

#[test]
fn divisions_by_known_numbers_are_none() {
    in_simulator(|simulator| {
        let divisors = [("8", 0), ("7", 0), ("(int)get_local_size(0)", 2)];
        for (divisor, divisions) in divisors {
            for operator in ["/", "%"] {
                let body =
                    format!("uint i = get_global_id(0); out[i] = x[i] {operator} {divisor};");
                assert_eq!(
                    count(simulator, "int", &body, TWO_WARPS).total().divisions,
                    divisions,
                    "{body}"
                );
            }
        }
        2 * divisors.len()
    });
}

#[test]
fn arrays_of_items_lie_in_registers_where_loops_have_constant_length() {
    in_simulator(|simulator| {
        let body = "uint i = get_global_id(0); int t[96]; for (uint k = 0; k < 96; k++) t[k] = x[i + k] * i;\n\
                    int s = 0; for (uint k = 0; k < 96; k++) s ^= t[95 - k]; out[i] = s;";
        assert_eq!(count(simulator, "int", body, TWO_WARPS).private, 0);
        1
    });
}

/// A kernel that fills an array in local memory, one word after the other, and reads it at `from`.
fn through_local_memory(element: &str, from: &str) -> String {
    format!(
        "__local volatile {element} t[33 * 32]; uint i = get_local_id(0);\nt[i] = x[i];\nbarrier(CLK_LOCAL_MEM_FENCE);\n\
         out[get_global_id(0)] = t[{from}];"
    )
}

#[test]
fn local_memory_takes_a_pass_for_each_word_of_a_bank() {
    in_simulator(|simulator| {
        // What two warps read: requests, passes, bank conflicts, broadcasts.
        let cases = [
            ("float", "i", [2, 2, 0, 0]),
            ("float", "2 * i", [2, 4, 2, 0]),
            ("float", "32 * i", [2, 64, 62, 0]),
            ("float", "33 * i", [2, 2, 0, 0]),
            ("float", "0", [2, 2, 0, 2]),
            ("float", "i / 2", [2, 2, 0, 2]),
            // Half of the items at one word, the others at another one of the same bank.
            ("float", "32 * (i & 1)", [2, 4, 2, 2]),
            // Bytes of a word go together.
            ("uchar", "i", [2, 2, 0, 2]),
            // Two halves of a warp, and four quarters.
            ("ulong", "i", [2, 4, 0, 0]),
            ("ulong", "2 * i", [2, 8, 4, 0]),
            ("uint4", "i", [2, 8, 0, 0]),
            ("uint4", "2 * i", [2, 16, 8, 0]),
            // Half as many parts, where neighbours at distance 1 or 2 read the same, but not at distance 8.
            ("ulong", "0", [2, 2, 0, 2]),
            ("ulong", "i / 2", [2, 2, 0, 2]),
            ("ulong", "i / 4 * 2 + i % 2", [2, 2, 0, 2]),
            ("ulong", "i % 8", [2, 4, 0, 2]),
            ("uint4", "i / 8", [2, 4, 0, 2]),
            ("uint4", "i % 8", [2, 8, 0, 0]),
        ];
        for (element, from, read) in cases {
            let memory = count(
                simulator,
                element,
                &through_local_memory(element, from),
                TWO_WARPS,
            )
            .total()
            .memory;
            assert_eq!(local(memory.local_read), read, "{element} at {from}");
        }
        let total = count(
            simulator,
            "float",
            &through_local_memory("float", "i"),
            TWO_WARPS,
        );
        assert_eq!(local(total.total().memory.local_write), [2, 2, 0, 0]);
        assert_eq!(
            (total.groups, total.items, total.warps, total.barriers),
            (2, 64, 2, 2)
        );
        // 64 words in 32 banks are two passes, and no conflict.
        let wide = Launch {
            local: [64, 1],
            warp: 64,
            ..TWO_WARPS
        };
        let memory = count(
            simulator,
            "float",
            &through_local_memory("float", "i"),
            wide,
        )
        .total()
        .memory;
        assert_eq!(local(memory.local_read), [1, 2, 0, 0]);
        cases.len() + 2
    });
}

/// What a group of half a warp does on a machine; the body's `i` is its item.
fn half(simulator: &Simulator, machine: &str, element: &str, body: &str) -> MemoryCounts {
    let source = format!(
        "__kernel void k(__global {element} *x, __global {element} *out) {{\nuint i = get_local_id(0);\n{body}\n}}\n"
    );
    let model = Machine::named(machine).unwrap().model;
    count_for(simulator, &source, ([16, 1], [16, 1]), model)
        .total()
        .memory
}

/// "Optimizing CUDA" (NVIDIA, 2009) and CUDA C Programming Guide 4.2 say how many transactions half a warp makes.
#[test]
fn machines_of_2009_coalesce_by_their_rules() {
    in_simulator(|simulator| {
        // What is read; on cc1.0 and on cc1.3, transactions and bytes that move.
        let cases = [
            ("float", "x[i]", (1, 64), (1, 64)),
            ("double", "x[i]", (1, 128), (1, 128)),
            ("float4", "x[i]", (2, 256), (2, 256)),
            // Not all items take part.
            ("float", "i % 3 ? x[i] : 0", (1, 64), (1, 64)),
            // Out of sequence.
            ("float", "x[i ^ 1]", (16, 512), (1, 64)),
            // Misaligned: within a block of 128 bytes, and over the end of one.
            ("float", "x[i + 1]", (16, 512), (1, 128)),
            ("float", "x[i + 17]", (16, 512), (2, 96)),
            // Words that lie apart.
            ("float", "x[2 * i]", (16, 512), (1, 128)),
            ("float", "x[4 * i]", (16, 512), (2, 256)),
            ("float", "x[32 * i]", (16, 512), (16, 512)),
            ("float", "x[0]", (16, 512), (1, 32)),
            // Short words: blocks of 32 and of 64 bytes.
            ("uchar", "x[i]", (16, 512), (1, 32)),
            ("ushort", "x[i]", (16, 512), (1, 32)),
            ("ushort", "x[i + 24]", (16, 512), (2, 64)),
        ];
        for (element, read, strict, shrinking) in cases {
            for (machines, moved) in [
                (["cc1.0", "cc1.1"], strict),
                (["cc1.3", "gtx280"], shrinking),
            ] {
                for machine in machines {
                    let memory = half(simulator, machine, element, &format!("out[i] = {read};"));
                    let read_counts = memory.global_read;
                    assert_eq!(
                        (read_counts.segments, read_counts.moved),
                        moved,
                        "{element} {read} on {machine}"
                    );
                    assert_eq!(read_counts.requests, 1);
                }
            }
        }
        // Fermi moves lines for the whole warp.
        let source = "__kernel void k(__global float *x, __global float *out) {\nuint i = get_local_id(0);\nout[i] = x[i + 1];\n}\n";
        let [fermi, today, wave] =
            ["cc2.0", "today", "wave64"].map(|name| Machine::named(name).unwrap().model);
        for (model, items, read) in [
            (fermi, 32, [1, 2, 256]),
            (today, 32, [1, 5, 160]),
            (wave, 64, [1, 9, 288]),
        ] {
            let read_counts = count_for(simulator, source, ([items, 1], [items, 1]), model)
                .total()
                .memory
                .global_read;
            let counted = [
                read_counts.requests,
                read_counts.segments,
                read_counts.moved,
            ];
            assert_eq!(counted, read, "{}", model.machine);
        }
        2 * cases.len() + 3
    });
}

/// The same sources say how half a warp meets 16 banks.
#[test]
fn machines_of_2009_have_16_banks_and_one_broadcast() {
    in_simulator(|simulator| {
        // What half a warp reads of local memory: passes, bank conflicts, broadcasts.
        let cases = [
            ("float", "i", [1, 0, 0]),
            ("float", "2 * i", [2, 1, 0]),
            ("float", "8 * i", [8, 7, 0]),
            ("float", "16 * i", [16, 15, 0]),
            ("float", "17 * i", [1, 0, 0]),
            ("float", "5", [1, 0, 1]),
            // A column of a tile of 32 x 32, and with a column more.
            ("float", "32 * i", [16, 15, 0]),
            ("float", "33 * i", [1, 0, 0]),
            // A pass gives one word to several items: two words of two banks to 8 items each, one of them at the same time.
            ("float", "i / 8", [2, 1, 1]),
            // Bytes and short words of one word, as the guide says: four ways and two.
            ("uchar", "i", [4, 3, 1]),
            ("ushort", "i", [2, 1, 1]),
            // Two requests of 4 bytes, each of every second bank.
            ("double", "i", [4, 2, 0]),
        ];
        for (element, from, read) in cases {
            for machine in ["cc1.0", "s1070"] {
                let body =
                    through_local_memory(element, from).replace("uint i = get_local_id(0);", "");
                let memory = half(simulator, machine, element, &body).local_read;
                assert_eq!(
                    [memory.passes, memory.conflicts, memory.broadcasts],
                    read,
                    "{element} {from} on {machine}"
                );
            }
        }
        // 32 banks for a whole warp.
        let model = Machine::named("cc2.0").unwrap().model;
        let source = format!(
            "__kernel void k(__global float *x, __global float *out) {{\n{}\n}}\n",
            through_local_memory("float", "32 * i")
        );
        let memory = count_for(simulator, &source, ([32, 1], [32, 1]), model)
            .total()
            .memory;
        assert_eq!(local(memory.local_read), [1, 32, 31, 0]);
        2 * cases.len() + 1
    });
}

/// Groups of 64 items each, of which 30 run at once, over partitions of 256 bytes.
#[test]
fn partitions_share_what_groups_ask_at_once_or_do_not() {
    in_simulator(|simulator| {
        let model = Machine::named("gtx280").unwrap().model;
        // Where each group reads: by how many words it lies behind the one before it, and the load of 8 groups.
        for (apart, load) in [(64, 1.0), (128, 2.0), (256, 4.0), (512, 8.0), (576, 1.0)] {
            let source = format!(
                "__kernel void k(__global float *x, __global float *out) {{\n\
                 float y = x[get_group_id(0) * {apart} + get_local_id(0)];\nif (y > 1) out[0] = y;\n}}\n"
            );
            let counts = count_for(simulator, &source, ([512, 1], [64, 1]), model).total();
            assert_eq!(counts.partition_load(8), Some(load), "{apart} words apart");
        }
        // Groups that do not run at once do not meet: 30 in the first partition, and 30 in the second one.
        let source = "__kernel void k(__global float *x, __global float *out) {\n\
                      float y = x[get_group_id(0) / 30 * 64 + get_local_id(0)];\nif (y > 1) out[0] = y;\n}\n";
        let counts = count_for(simulator, source, ([60 * 64, 1], [64, 1]), model).total();
        assert_eq!(counts.partition_load(8), Some(8.0));
        // As two launches' worth of groups at once they share two partitions.
        let both = LockstepModel { units: 60, ..model };
        let counts = count_for(simulator, source, ([60 * 64, 1], [64, 1]), both).total();
        assert_eq!(counts.partition_load(8), Some(4.0));
        // The machine of today spreads addresses in no known way.
        let counts = count_for(
            simulator,
            source,
            ([60 * 64, 1], [64, 1]),
            LockstepModel::USUAL,
        )
        .total();
        assert_eq!(
            (counts.global().busiest, counts.partition_load(0)),
            (0, None)
        );
        8
    });
}

/// The transposition of "Optimizing CUDA": 16 transactions a store without tiles, 16 passes without padding, and groups that
/// camp where rows are a multiple of all partitions.
#[test]
fn the_transposition_camps_unless_its_groups_go_diagonally() {
    in_simulator(|_| {
        let data = tempfile::tempdir().unwrap();
        let args = [
            "transpose",
            "--machine",
            "gtx280",
            "-n",
            "512",
            "--variant",
            "coalesced,diagonal",
        ];
        let [coalesced, diagonal] = &rows(data.path(), &args)[..] else {
            panic!("two rungs")
        };
        assert!(coalesced.partition_load > Some(3.5) && diagonal.partition_load < Some(1.1));
        assert_eq!(
            (coalesced.machine.as_str(), coalesced.partitions),
            ("gtx280", Some(8))
        );
        assert_eq!(
            (coalesced.segments_a_read, coalesced.segments_a_write),
            (Some(1.0), Some(1.0))
        );
        assert_eq!(
            coalesced.local_read_passes,
            coalesced.local_read_requests.map(|requests| 16 * requests)
        );
        assert_eq!(
            (diagonal.local_read_conflicts, diagonal.moved_an_asked_byte),
            (Some(0), Some(1.0))
        );
        let [naive] = &rows(
            data.path(),
            &[
                "transpose",
                "--machine",
                "s1070",
                "-n",
                "64",
                "--variant",
                "naive",
            ],
        )[..] else {
            panic!("one rung")
        };
        assert_eq!(
            (naive.segments_a_read, naive.segments_a_write),
            (Some(1.0), Some(16.0))
        );
        3
    });
}

/// What the instructions of a line come to.
fn line(counts: &LaunchCounts, line: u64) -> Counts {
    counts
        .by_line()
        .into_iter()
        .find(|(_, at, _)| *at == line)
        .unwrap_or_else(|| panic!("nothing of line {line}"))
        .2
}

#[test]
fn items_that_part_leave_lanes_idle() {
    in_simulator(|simulator| {
        let id = "uint i = get_local_id(0);\n";
        for busy in [1, 2, 32] {
            let body = format!("{id}if (i < {busy})\nout[i] = x[i] + 1;");
            let counts = count(simulator, "float", &body, TWO_WARPS);
            let inside = line(&counts, 4);
            // Line 1 is the kernel's head.
            assert_eq!(inside.lanes, busy * inside.issued, "{busy} of 32 items");
            assert_eq!(global(inside.memory.global_write)[..2], [2, 2 * busy]);
            assert_eq!(
                (inside.flops, inside.lanes_busy(32)),
                (2 * busy, Some(busy as f64 / 32.0))
            );
        }
        // Both sides of a branch are instructions of the warp, each of half of its items.
        let body =
            format!("{id}if (i & 1)\n((__global int *)x)[i] = 3;\nelse\nout[i] = x[i + 32] * 5;");
        let counts = count(simulator, "float", &body, TWO_WARPS);
        for side in [4, 6] {
            assert_eq!(line(&counts, side).lanes_busy(32), Some(0.5), "line {side}");
            assert_eq!(
                global(line(&counts, side).memory.global_write)[..2],
                [2, 32]
            );
        }
        // Item i turns i times: 31 turns of the warp, and 0 + 1 + .. + 31 of its items.
        let body = format!(
            "{id}for (uint turn = 0; turn < i; turn++)\n((volatile __global float *)out)[i] = turn;"
        );
        let counts = count(simulator, "float", &body, TWO_WARPS);
        assert_eq!(
            global(line(&counts, 4).memory.global_write)[..2],
            [62, 2 * 496]
        );
        // What parts before a barrier is together behind it: items execute the store in a function of theirs once each, half
        // of them before the barrier and half behind it.
        let source = format!(
            "__attribute__((noinline)) void put(__global float *to) {{ *to = 1; }}\n\
             __kernel void k(__global float *x, __global float *out) {{\n{id}if (i & 1) put(out + i);\n\
             barrier(CLK_GLOBAL_MEM_FENCE);\nif (!(i & 1)) put(out + i);\n}}"
        );
        let counts = count_source(simulator, &source, TWO_WARPS);
        assert_eq!(global(counts.total().memory.global_write)[..2], [4, 64]);
        assert_eq!(counts.barriers, 2);
        6
    });
}

#[test]
fn warps_are_made_of_items_in_the_order_of_their_local_ids() {
    in_simulator(|simulator| {
        // Groups of 48: a whole warp and a half.
        let odd = Launch {
            global: [96, 1],
            local: [48, 1],
            ..TWO_WARPS
        };
        let counts = count(
            simulator,
            "float",
            "uint i = get_local_id(0); out[i] = x[i];",
            odd,
        );
        assert_eq!((counts.groups, counts.warps), (2, 4));
        assert_eq!(
            global(counts.total().memory.global_read),
            [4, 96, 384, 2 * (4 + 2)]
        );
        // Rows of 8 items: four of them are a warp, along the rows or across.
        let square = Launch {
            global: [8, 8],
            local: [8, 8],
            ..TWO_WARPS
        };
        let at = |x: &str| {
            format!("uint a = get_local_id(0), b = get_local_id(1); out[8 * b + a] = x[{x}];")
        };
        let read = |x| {
            global(
                count(simulator, "float", &at(x), square)
                    .total()
                    .memory
                    .global_read,
            )
        };
        assert_eq!(
            (read("8 * b + a"), read("8 * a + b")),
            ([2, 64, 256, 8], [2, 64, 256, 16])
        );
        let wide = Launch {
            local: [64, 1],
            warp: 64,
            ..TWO_WARPS
        };
        let counts = count(
            simulator,
            "float",
            "uint i = get_local_id(0); out[i] = x[2 * i];",
            wide,
        );
        assert_eq!(
            (counts.warps, global(counts.total().memory.global_read)),
            (1, [1, 64, 256, 16])
        );
        4
    });
}

#[test]
fn atomics_and_constants_have_counts_of_their_own() {
    in_simulator(|simulator| {
        for (at, passes) in [
            ("0", 64),
            ("get_global_id(0)", 2),
            ("get_global_id(0) / 4", 8),
        ] {
            let total = count(
                simulator,
                "int",
                &format!("atomic_add(&out[{at}], x[0]);"),
                TWO_WARPS,
            )
            .total();
            let atomics = total.memory.global_atomic;
            assert_eq!(
                (atomics.requests, atomics.items, atomics.passes),
                (2, 64, passes),
                "at {at}"
            );
            assert_eq!(total.memory.global_write, RequestCounts::default());
        }
        let body = "__local int c[2]; if (get_local_id(0) < 2) c[get_local_id(0)] = 0;\nbarrier(CLK_LOCAL_MEM_FENCE);\n\
                    atomic_inc(&c[get_local_id(0) & 1]);\nbarrier(CLK_LOCAL_MEM_FENCE); out[get_global_id(0)] = c[0];";
        let counts = count(simulator, "int", body, TWO_WARPS);
        let atomics = counts.total().memory.local_atomic;
        assert_eq!(
            (
                atomics.requests,
                atomics.items,
                atomics.passes,
                counts.barriers
            ),
            (2, 64, 32, 4)
        );
        for (at, words) in [("0", 2), ("get_local_id(0)", 64)] {
            let source = format!(
                "__kernel void k(__constant float *x, __global float *out) {{ out[get_global_id(0)] = x[{at}]; }}"
            );
            let memory = count_source(simulator, &source, TWO_WARPS).total().memory;
            assert_eq!(
                (memory.constant_read.requests, memory.constant_read.words),
                (2, words),
                "at {at}"
            );
            assert_eq!(memory.global_read, RequestCounts::default());
        }
        6
    });
}

#[test]
fn operations_are_those_of_floats() {
    in_simulator(|simulator| {
        // With what an item computes.
        let cases = [
            ("float", "fma(a, a, a)", 2),
            ("float", "mad(a, a, a)", 2),
            ("float", "sqrt(a)", 1),
            ("float4", "a * a", 4),
            ("int", "a * a + a", 0),
        ];
        for (element, computed, flops) in cases {
            let body =
                format!("uint i = get_global_id(0); {element} a = x[i]; out[i] = {computed};");
            let counts = count(simulator, element, &body, TWO_WARPS);
            assert_eq!(counts.total().flops, 64 * flops, "{computed} of {element}");
        }
        // Clang adds whole vectors for each of the three sums, and uses one element.
        let sum = "uint i = get_global_id(0); float4 a = x[i] * x[i + 1];\n\
                   ((__global float *)out)[i] = (a.s0 + a.s1) + (a.s2 + a.s3);";
        assert_eq!(
            count(simulator, "float4", sum, TWO_WARPS).total().flops,
            64 * (4 + 3)
        );
        cases.len() + 1
    });
}

/// The program, with a folder for data of its own.
fn gpulab(data: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulab"));
    command
        .args(args)
        .env("GPULAB_DATA", data)
        .env_remove("GPULAB_DEVICE")
        .env_remove("CXX")
        .env("LC_ALL", "C.UTF-8");
    command
}

fn said(mut command: Command) -> (String, String, Option<i32>) {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (
        text(&output.stdout),
        text(&output.stderr),
        output.status.code(),
    )
}

/// The Oclgrind that the recorded counts are of: another one brings another LLVM, whose instructions differ.
const RECORDED: &str = "Oclgrind 21.10";

#[test]
fn the_ladders_have_their_counts() {
    in_simulator(|simulator| {
        let data = tempfile::tempdir().unwrap();
        let mut all = String::new();
        for args in [
            &["reduce", "-n", "4096", "--wg", "128", "-v"][..],
            &[
                "reduce",
                "-n",
                "4096",
                "--wg",
                "128",
                "--set",
                "size=constant",
                "--variant",
                "1-4",
            ],
            &["dot", "-n", "4096", "--set", "items=512"],
            &["transpose", "-n", "64"],
            &["minplus", "-n", "32"],
            &["transpose", "-n", "64", "--variant", "2", "--lines"],
            &["banks", "-n", "1024"],
        ] {
            let args = [&["count"], args].concat();
            let (out, err, code) = said(gpulab(data.path(), &args));
            assert_eq!((err.as_str(), code), ("", Some(0)), "{args:?}: {out}");
            assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
            all += &format!("===== gpulab {}\n{out}", args.join(" "));
        }
        if simulator.version != RECORDED {
            eprintln!(
                "not compared: the recorded counts are of {RECORDED}, this is {}",
                simulator.version
            );
            return 1;
        }
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../golden");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!("counts", all));
        1
    });
}

/// Rows of counts that the program writes.
pub(crate) fn rows(data: &Path, args: &[&str]) -> Vec<CountRow> {
    let (out, err, code) = said(gpulab(
        data,
        &[&["count", "-q"], args, &["--csv", "-"]].concat(),
    ));
    assert_eq!(code, Some(0), "{args:?}: {err}");
    of_csv(out.as_bytes(), "counts").unwrap().0
}

/// The settings that make a case of a count: its launches differ in nothing else.
fn key(row: &CountRow) -> (String, u64, WorkGroup, Params, Option<u64>) {
    (
        row.variant.clone(),
        row.n,
        row.wg,
        row.params.clone(),
        row.launch,
    )
}

/// The case of a row of counts.
fn case_of(row: &CountRow) -> Case {
    Case {
        family: row.family.clone(),
        variant: row.variant.clone(),
        dtype: row.dtype,
        shape: Shape { n: row.n, m: row.m },
        wg: row.wg,
        params: row.params.clone(),
        seed: 1,
    }
}

/// Instructions, requests, segments and passes of a launch.
fn amounts(row: &CountRow) -> [u64; 7] {
    let counts = row.counts();
    let (global, local, new) = (
        counts.global(),
        counts.local(),
        counts.memory.global_read.group_segments,
    );
    [
        counts.issued,
        counts.lanes,
        global.requests,
        global.segments,
        new,
        local.requests,
        local.passes,
    ]
}

/// What follows for a family's cases from two small ones is what the simulator counts of them, up to edges and to what a group
/// does once. `more` are options for all three sizes; of so many launches at least.
fn large_follow_from_small(
    family: &str,
    small: [&str; 2],
    whole: &str,
    more: &[&str],
    least: usize,
) -> usize {
    let data = tempfile::tempdir().unwrap();
    let count = |n: &str| rows(data.path(), &[&[family, "-n", n], more].concat());
    let small: Vec<CountRow> = small.iter().flat_map(|n| count(n)).collect();
    let family = kernels::built_in(family).unwrap();
    let mut compared = 0;
    // Launches that fill panels up to whole tiles have much of an edge.
    for exact in count(whole).iter().filter(|row| {
        row.is_of_launch() && row.wg.size() > 1 && row.kernel.starts_with(&row.family)
    }) {
        let case = case_of(exact);
        let target = Target {
            compute_units: 1,
            ..Target::with_everything(true)
        };
        let plan = family
            .plan(family.rung(&case.variant).unwrap(), &case, &target)
            .unwrap();
        let own: Vec<CountRow> = small
            .iter()
            .filter(|row| row.variant == case.variant)
            .cloned()
            .collect();
        let derived = stretched(family.form, &case, &plan, &own).unwrap();
        // A remainder's launch is in no small case.
        let Some(launch) = derived.iter().find(|row| row.kernel == exact.kernel) else {
            assert!(exact.groups < Some(32), "{} is left out", exact.kernel);
            continue;
        };
        for (derived, counted) in amounts(launch).into_iter().zip(amounts(exact)) {
            let difference = derived.abs_diff(counted) as f64;
            let what = format!(
                "{} {}: {derived}, counted {counted}",
                exact.family, exact.kernel
            );
            assert!(difference <= 0.15 * counted as f64 + 64.0, "{what}");
        }
        compared += 1;
    }
    assert!(compared >= least, "{compared} compared");
    compared
}

// As small cases are made; rungs without this setting run without.
const ITEMS: [&str; 2] = ["--set", "items=1024"];

/// The model of a CPU takes so many instructions for an item of the probe that meets at barriers.
#[test]
fn the_probe_of_trees_has_as_many_instructions_as_the_model_takes() {
    in_simulator(|_| {
        let data = tempfile::tempdir().unwrap();
        let settings = ["--set", "loads=1", "--set", "vec=1", "--set", "waves=all"];
        let rows = rows(
            data.path(),
            &[
                &["read", "--variant", "strided", "-n", "16384"],
                &settings[..],
            ]
            .concat(),
        );
        let counted = rows[0].instructions_an_element.unwrap();
        assert!(
            (counted / INSTRUCTIONS_IN_A_TREE - 1.0).abs() < 0.05,
            "{counted}"
        );
        1
    });
}

#[test]
fn counts_of_large_products_follow_from_small_ones() {
    in_simulator(|_| large_follow_from_small("dot", ["16384", "32768"], "65536", &ITEMS, 6));
}

#[test]
fn counts_of_large_matrices_follow_from_small_ones() {
    // Tiles of 64 have much of an edge.
    in_simulator(|_| {
        large_follow_from_small("transpose", ["64", "128"], "160", &["--variant", "1-4"], 4)
    });
}

/// The counts that come with the program are those of the kernels that do: some cases of f32 without settings are counted again.
#[test]
fn recorded_counts_are_those_of_the_kernels() {
    in_simulator(|simulator| {
        if simulator.version != RECORDED {
            eprintln!(
                "not compared: the recorded counts are of {RECORDED}, this is {}",
                simulator.version
            );
            return 1;
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/counts.csv");
        let recorded: Vec<CountRow> = of_csv(&fs::read(path).unwrap(), path).unwrap().0;
        let data = tempfile::tempdir().unwrap();
        let mut compared = 0;
        for (family, n) in [("dot", "16384"), ("transpose", "128"), ("minplus", "64")] {
            for launch in rows(data.path(), &[family, "-n", n, "--dtype", "f32"]) {
                let is_it = |one: &&CountRow| {
                    key(one) == key(&launch) && one.family == family && one.dtype == launch.dtype
                };
                if let Some(known) = recorded.iter().find(is_it) {
                    assert_eq!(
                        known.counts(),
                        launch.counts(),
                        "{} {}",
                        launch.kernel,
                        params_text(&launch.params)
                    );
                    compared += 1;
                }
            }
        }
        assert!(compared > 8, "{compared} compared");
        1
    });
}

#[test]
fn show_tells_again_what_was_counted() {
    in_simulator(|_| {
        let data = tempfile::tempdir().unwrap();
        let [csv, json] =
            ["counts.csv", "counts.json"].map(|name| data.path().join(name).display().to_string());
        for args in [
            &["transpose", "-n", "64", "--variant", "2,3", "--lines"][..],
            &["divergence", "-n", "512"],
        ] {
            let args = [&["count"], args, &["--csv", &csv, "--json", &json]].concat();
            let (out, err, code) = said(gpulab(data.path(), &args));
            assert_eq!((err.as_str(), code), ("", Some(0)), "{args:?}");
            for file in [&csv, &json] {
                let (again, err, code) = said(gpulab(data.path(), &["show", file]));
                assert_eq!(
                    (again.as_str(), err.as_str(), code),
                    (out.as_str(), "", Some(0)),
                    "{file}"
                );
            }
        }
        2
    });
}

#[test]
fn without_a_compiler_the_message_says_what_to_install() {
    in_simulator(|_| {
        let data = tempfile::tempdir().unwrap();
        let tools = data.path().join("tools");
        fs::create_dir(&tools).unwrap();
        let which = Command::new("sh")
            .args(["-c", "command -v oclgrind"])
            .output()
            .unwrap();
        let oclgrind = String::from_utf8(which.stdout).unwrap();
        std::os::unix::fs::symlink(oclgrind.trim(), tools.join("oclgrind")).unwrap();
        let mut command = gpulab(data.path(), &["count", "reduce"]);
        command.env("PATH", &tools);
        let (out, err, code) = said(command);
        assert_eq!((out.as_str(), code), ("", Some(3)), "{err}");
        assert!(
            err.contains("there is no C++ compiler (c++, g++, clang++)") && err.contains("g++;"),
            "{err}"
        );
        let mut command = gpulab(data.path(), &["count", "reduce"]);
        command.env("CXX", "false");
        let (_, err, code) = said(command);
        assert!(
            code == Some(1) && err.contains("false cannot build the simulator's plugin"),
            "{err}"
        );
        // As with a version that looks for another function.
        let mut command = gpulab(data.path(), &["count", "reduce"]);
        command.env("CXX", "c++ -DinitializePlugins=lost");
        let (_, err, code) = said(command);
        let want = "does not run the plugin that counts, as Oclgrind 21.10 does, with which gpulab is tested";
        assert!(code == Some(1) && err.contains(want), "{err}");
        3
    });
}

//! What a compute unit shares out: banks of local memory, room for groups, registers, and lockstep.

use super::claims::{Claim, NO_MORE, Pairs};
use super::{Experiment, Trial, Work, bytes, plain};
use gpulab_kernels::lab;
use gpulab_model::data::Dtype;
use gpulab_model::plan::{REPEATS, TOLD};
use gpulab_record::{BANDWIDTH, Metric, RATE, Row};

const NARROW: &str = "4-byte words";
const WIDE: &str = "8-byte words";

/// Items in lockstep whose words of `__local` memory lie in the same bank take turns. With a power of two for a stride, each doubling
/// halves the banks in use, until all words lie in one; an odd stride uses all of them, and one word for all is read once.
pub const BANKS: Experiment = Experiment {
    name: "banks",
    question: "How many banks does local memory have, and what does it cost when neighbouring items read from the same one?",
    idea: "Items read words of local memory that lie a stride apart, the same word, or words at random; the words, \
               their number and the arithmetic stay as they are.",
    expect: "With a power of two for a stride, each doubling halves the banks in use and the rate, until all words \
               lie in one bank. Odd strides use all banks and cost nothing, and one word for all is handed out at once.",
    but: "CPU drivers have no banks: local memory is ordinary memory there, and a stride costs what it costs in a \
               cache.",
    cuda: "Banks of __shared__ memory: threads of a warp that want different words of one bank take turns (a bank \
               conflict); one word for all is a broadcast.",
    x_name: "stride",
    x_label: plain,
    plan: |scope| {
        // In words; 0 is one word for all items, and the odd ones touch every bank.
        let strides = [0, 1, 2, 3, 4, 8, 16, 31, 32, 33, 64];
        let places =
            strides
                .map(|stride| ("", stride, 0))
                .into_iter()
                .chain([(", permuted", 1, 1)]);
        [(NARROW, Dtype::I32), (WIDE, Dtype::I64)]
            .into_iter()
            .flat_map(|(name, dtype)| {
                places.clone().map(move |(order, stride, scramble)| {
                    let settings = [("stride", stride), ("scramble", scramble), (REPEATS, 128)];
                    let wg = lab::usual_wg(scope.target);
                    Work {
                        rung: ("banks", "strided"),
                        dtype,
                        n: lab::items(scope.target),
                        wg,
                    }
                    .trial(
                        scope,
                        &format!("{name}{order}"),
                        stride as f64,
                        BANDWIDTH,
                        &settings,
                    )
                })
            })
            .collect()
    },
    claims: &[
        Claim::Knee {
            what: "Reads of 4-byte words",
            series: NARROW,
            shows: "local memory has {} banks of 4 bytes",
            unit: 1.0,
            free: Some(33.0),
        },
        Claim::Knee {
            what: "Reads of 8-byte words",
            series: WIDE,
            shows: "{} banks of 4 bytes",
            unit: 2.0,
            free: Some(33.0),
        },
        Claim::speeds(
            "Compared with stride 1,",
            &[
                ("stride 32 is", Pairs::Places((NARROW, 32.0), (NARROW, 1.0))),
                (
                    "the odd stride 33 is",
                    Pairs::Places((NARROW, 33.0), (NARROW, 1.0)),
                ),
                (
                    "one word for all items is",
                    Pairs::Places((NARROW, 0.0), (NARROW, 1.0)),
                ),
                (
                    "words in random order are",
                    Pairs::Places(("4-byte words, permuted", 1.0), (NARROW, 1.0)),
                ),
            ],
        ),
    ],
};

const GROUPS: u64 = 1024;
/// The share of them whose sum is wrong.
const WRONG: Metric = Metric::new("wrong", "%", |row: &Row| {
    row.max_err.map(|wrong| 100.0 * wrong / GROUPS as f64)
});

const BARE: &str = "no synchronisation";
const VOLATILE: &str = "volatile";
const SYNCHRONISED: &str = "synchronised";

/// Slides of 2007 to 2012 leave the last barriers out, as the 32 items of a warp run in step. OpenCL never promised that, and CUDA
/// does not since work-items have program counters of their own (NVIDIA, "Volta Tuning Guide", 2017). Here a wrong sum is the
/// answer, not a failure: it is counted.
pub const LOCKSTEP: Experiment = Experiment {
    name: "lockstep",
    question: "Can the last steps of a tree do without a barrier, as in old slides: with volatile, or with nothing?",
    idea: "The last steps of a tree within one warp: without synchronisation, with volatile, and synchronised. \
               Wrong sums are counted; speed is not the question.",
    expect: "Only the synchronised form is right by the rules of the language. The others are wrong on some devices, \
               or right by luck.",
    but: "That no sum was wrong proves nothing: another compiler, driver or device may lose the race. Where \
               nothing else synchronises a warp, the third form uses barriers.",
    cuda: "Warp-synchronous code: __syncwarp() is needed since Volta gave each thread a program counter of its own.",
    x_name: "wg",
    x_label: plain,
    plan: |scope| {
        let groups = [64, 128, 256, 512, 1024]
            .into_iter()
            .filter(|&wg| wg <= scope.target.max_wg);
        groups
            .flat_map(|wg| {
                [
                    (BARE, "bare"),
                    (VOLATILE, "volatile"),
                    (SYNCHRONISED, "synchronised"),
                ]
                .map(|(name, variant)| {
                    Work {
                        rung: ("lockstep", variant),
                        dtype: Dtype::I32,
                        n: GROUPS * wg as u64,
                        wg,
                    }
                    .trial(scope, name, wg as f64, WRONG, &[])
                })
            })
            .collect()
    },
    claims: &[Claim::values(
        "Of the sums in this run, where 0 % proves nothing but for the synchronised form, these were wrong:",
        &[
            ("without synchronisation", BARE),
            ("with volatile", VOLATILE),
            ("synchronised", SYNCHRONISED),
        ],
    )],
};

/// The ballast is the one parameter: work, items and instructions stay as they are. Two things cover the latency of a read or a
/// step: the other items of the compute unit, and an item's own further reads and chains (V. Volkov, "Better performance at lower
/// occupancy", GTC 2010). Series with one and with several show how many groups either needs. How many are resident cannot be asked
/// for; it follows from the memory that groups share, and [`gpulab_kernels::occupancy`] works it out for devices that it knows.
pub const OCCUPANCY: Experiment = Experiment {
    name: "occupancy",
    question: "How many resident groups does full bandwidth or full arithmetic need, and when are there too few?",
    idea: "Groups hold ever more local memory as ballast, so that a compute unit holds ever fewer of them; work and \
               instructions stay as they are.",
    expect: "The speed falls once too few groups are resident to cover latency. Items with several reads or chains \
               under way hold out longer.",
    but: "Where local memory does not limit how many groups are resident, as on CPU drivers, nothing falls.",
    cuda: "Occupancy: a multiprocessor's resident warps over the most that it can hold; the ballast is __shared__ \
               memory.",
    x_name: "local bytes",
    x_label: bytes,
    plan: |scope| {
        // What items do, how much of it at once, and how many of them are a group.
        let series = [
            ("1 read, groups of 64", 1, 64),
            ("1 read, groups of 256", 1, 256),
            ("8 reads, groups of 64", 8, 64),
            ("1 chain, groups of 64", 1, 64),
            ("1 chain, groups of 256", 1, 256),
            ("4 chains, groups of 64", 4, 64),
        ];
        // Sizes of the ballast up to nearly all that a group may have: parts of it where whole numbers of groups share a compute
        // unit. More than 256 KiB no GPU lets a group have; some drivers refuse the last bytes.
        let parts: &[(u64, u64)] = match scope.quick {
            true => &[(1, 8), (1, 3), (2, 3), (1, 1)],
            false => &[
                (1, 16),
                (1, 8),
                (1, 6),
                (1, 4),
                (1, 3),
                (1, 2),
                (2, 3),
                (5, 6),
                (1, 1),
            ],
        };
        let all = scope.target.local_mem.min(256 << 10);
        let more = parts
            .iter()
            .map(|(part, of)| (all * part / of / 256 * 256).min(all.saturating_sub(1024)));
        let ballasts: Vec<u64> = [1024]
            .into_iter()
            .chain(more.filter(|&bytes| bytes > 1024))
            .collect();
        series
            .into_iter()
            .flat_map(|(name, together, wg)| {
                ballasts.iter().map(move |&ballast| {
                    let x = ballast as f64;
                    if name.contains("chain") {
                        // As many steps of an item, however many chains it has.
                        let rounds = if scope.target.gpu { 256 } else { 32 } / together;
                        let settings = [
                            ("ballast", ballast),
                            ("chains", together),
                            (REPEATS, rounds),
                        ];
                        return Work {
                            rung: ("steps", "laden"),
                            dtype: Dtype::F32,
                            n: lab::items(scope.target),
                            wg,
                        }
                        .trial(scope, name, x, RATE, &settings);
                    }
                    // More than any GPU's cache holds, several times over: groups that begin and end count little.
                    let (bits, rounds) = scope.pick([(26, 4); 2], [(24, 1), (20, 1)]);
                    let settings = [
                        ("ballast", ballast),
                        ("together", together),
                        (REPEATS, rounds),
                    ];
                    Work {
                        rung: ("streams", "laden"),
                        dtype: Dtype::I32,
                        n: 1 << bits,
                        wg,
                    }
                    .trial(scope, name, x, BANDWIDTH, &settings)
                })
            })
            .collect()
    },
    claims: &[
        Claim::Reach {
            head: "As groups hold more local memory, at least 90 % of the speed is kept",
            part: 0.9,
            of: &[
                (
                    "1 read, groups of 64",
                    Pairs::To("1 read, groups of 64", ("1 read, groups of 64", 1024.0)),
                ),
                (
                    "1 read, groups of 256",
                    Pairs::To("1 read, groups of 256", ("1 read, groups of 256", 1024.0)),
                ),
                (
                    "8 reads, groups of 64",
                    Pairs::To("8 reads, groups of 64", ("8 reads, groups of 64", 1024.0)),
                ),
                (
                    "1 chain, groups of 64",
                    Pairs::To("1 chain, groups of 64", ("1 chain, groups of 64", 1024.0)),
                ),
                (
                    "1 chain, groups of 256",
                    Pairs::To("1 chain, groups of 256", ("1 chain, groups of 256", 1024.0)),
                ),
                (
                    "4 chains, groups of 64",
                    Pairs::To("4 chains, groups of 64", ("4 chains, groups of 64", 1024.0)),
                ),
            ],
            so: NO_MORE,
        },
        Claim::speeds(
            "Compared with the best,",
            &[
                ("1 read is", Pairs::ToBest("1 read, groups of 64")),
                ("8 reads are", Pairs::ToBest("8 reads, groups of 64")),
                ("1 chain is", Pairs::ToBest("1 chain, groups of 64")),
                ("4 chains are", Pairs::ToBest("4 chains, groups of 64")),
            ],
        ),
    ],
};

/// Bytes that a work-item stores and loads for want of registers.
const SPILLED: Metric = Metric::new("spilled", "bytes", |row: &Row| {
    row.spilled_bytes.map(|bytes| bytes as f64)
});
const USED: Metric = Metric::new("registers", "regs", |row: &Row| {
    row.registers.map(|used| used as f64)
});

const FREE: &str = "no cap";

/// Values of an item that are all needed at once, in as many registers as the compiler likes or in fewer. A cap leaves room for more
/// items at once and may force spills: values that go to memory and back. What spills is told by NVIDIA's assembler in the build's
/// log, and what it costs by the same values without a cap. Where the driver takes no cap only the number of values varies. The
/// control is a cap with room for all of an item's values: it must cost nothing.
pub const REGISTERS: Experiment = Experiment {
    name: "registers",
    question: "How many values can an item hold at once, and what does a cap on its registers cost in spills?",
    idea: "Items hold ever more values that are needed at once, in as many registers as the compiler likes, or in \
               fewer by a cap.",
    expect: "The rate holds until the values no longer fit; then they spill to memory, which costs more than the room \
               for further items gains.",
    but: "Only NVIDIA's driver takes caps and tells of spills; elsewhere the number of values alone varies. A \
               kernel that requires a group's size is not capped.",
    cuda: "-maxrregcount and __launch_bounds__(); spills go to what CUDA calls local memory.",
    x_name: "values",
    x_label: plain,
    plan: |scope| {
        let target = scope.target;
        let live: &[u64] = if scope.quick {
            &[4, 16, 64, 128]
        } else {
            &[4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 224]
        };
        let trial = |name: &str, live: u64, cap: u64, metric: Metric| {
            // As many steps of an item, however many values it has.
            let steps = if target.gpu { 1 << 14 } else { 1 << 12 };
            let settings = [
                ("live", live),
                ("max_registers", cap),
                (REPEATS, steps / live),
                (TOLD, 1),
            ];
            let told = &settings[..if target.register_caps { 4 } else { 3 }];
            Work {
                rung: ("registers", "live"),
                dtype: Dtype::F32,
                n: lab::items(target),
                wg: target.max_wg.min(128),
            }
            .trial(scope, name, live as f64, metric, told)
        };
        let mut all: Vec<Trial> = live
            .iter()
            .map(|&live| trial(FREE, live, 0, RATE))
            .collect();
        if !target.register_caps {
            // Its refusal says why.
            all.push(trial("cap 32", live[0], 32, RATE));
            return all;
        }
        all.extend(
            live.iter()
                .map(|&live| trial("registers, no cap", live, 0, USED)),
        );
        for cap in [32, 64, 128, 255] {
            all.extend(
                live.iter()
                    .map(|&live| trial(&format!("cap {cap}"), live, cap, RATE)),
            );
            all.extend(
                live.iter()
                    .map(|&live| trial(&format!("spilled, cap {cap}"), live, cap, SPILLED)),
            );
        }
        all
    },
    claims: &[
        Claim::Reach {
            head: "Without a cap at least 80 % of the best rate is reached",
            part: 0.8,
            of: &[("", Pairs::ToBest(FREE))],
            so: NO_MORE,
        },
        Claim::speeds(
            "Compared with no cap,",
            &[
                ("at most 32 registers are", Pairs::Over("cap 32", FREE)),
                ("at most 64 are", Pairs::Over("cap 64", FREE)),
                ("at most 128 are", Pairs::Over("cap 128", FREE)),
                ("255, the control, are", Pairs::Over("cap 255", FREE)),
            ],
        ),
        Claim::values(
            "An item spills",
            &[
                ("under a cap of 32", "spilled, cap 32"),
                ("of 64", "spilled, cap 64"),
                ("of 128", "spilled, cap 128"),
                ("of 255", "spilled, cap 255"),
            ],
        ),
    ],
};

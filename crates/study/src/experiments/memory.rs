//! Global and constant memory: strides, offsets, power-of-two rows, vectors, latency.

use super::claims::{Claim, Contrast, NO_MORE, Pairs, figure, series};
use super::{Experiment, Scope, Trial, Work, bytes, plain};
use gpulab_kernels::lab::{self, memory};
use gpulab_model::Joined;
use gpulab_model::data::{Dtype, Shape};
use gpulab_model::plan::REPEATS;
use gpulab_record::{BANDWIDTH, Metric, Point, RATE, Row};

const READ: &str = "read";
const READ_CACHED: &str = "read from cache";
const WRITE: &str = "write";
const SEGMENT: &str = "a segment has {} bytes";

/// Every word of an array is read or written once, in strides of 1 to 64 words: `(stride * i) % n`, continued from word 1 where the
/// accesses would begin again, so that the same words are used whatever the stride. A device that fetches whole segments fetches
/// more of them the further apart the words lie, until each word has a segment of its own. The same bytes are also read and
/// written in words of 16 and 8 bits: devices of compute capability 1.2 put 16 accesses together into segments of 128, 64 or 32
/// bytes, by the width of their words.
pub const STRIDE: Experiment = Experiment {
    name: "stride",
    question: "What do strides cost in reads and writes of global memory, and how many bytes long are its segments?",
    idea: "Every word of an array is read or written once, in strides of powers of two: the words and their number \
               are the same, their order is not.",
    expect: "Bandwidth falls with the stride, as ever more segments are fetched for the same words, until each word \
               has a segment of its own: there the fall ends.",
    but: "Caches that keep a segment until its other words are asked for hide it. On a CPU prefetchers follow \
               short strides.",
    cuda: "Coalescing: a warp's load takes as many memory transactions as it touches segments (sectors).",
    x_name: "stride",
    x_label: plain,
    plan: |scope| {
        let wide = [READ, READ_CACHED, WRITE]
            .into_iter()
            .filter(|name| scope.target.gpu || *name != READ_CACHED);
        let narrow = [
            ("read 16-bit", 16),
            ("read 8-bit", 8),
            ("write 16-bit", 16),
            ("write 8-bit", 8),
        ];
        wide.map(|name| (name, 32))
            .chain(narrow)
            .flat_map(|(name, width)| {
                let logs = if scope.quick && width < 32 { 1 } else { 7 };
                (0..logs).map(move |log| walk(scope, name, (1 << log, log, 0), width))
            })
            .collect()
    },
    claims: &[
        Claim::speeds(
            "Compared with stride 1,",
            &[
                ("reads are", Pairs::To(READ, (READ, 1.0))),
                (
                    "reads from cache are",
                    Pairs::To(READ_CACHED, (READ_CACHED, 1.0)),
                ),
                ("writes are", Pairs::To(WRITE, (WRITE, 1.0))),
            ],
        ),
        Claim::Knee {
            what: "Reads",
            series: READ,
            shows: SEGMENT,
            unit: 4.0,
            free: None,
        },
        Claim::Knee {
            what: "Reads from cache",
            series: READ_CACHED,
            shows: SEGMENT,
            unit: 4.0,
            free: None,
        },
        Claim::Knee {
            what: "Writes",
            series: WRITE,
            shows: SEGMENT,
            unit: 4.0,
            free: None,
        },
        Claim::speeds(
            "Compared with 32-bit words at stride 1,",
            &[
                (
                    "reads of 16 bits are",
                    Pairs::Places(("read 16-bit", 1.0), (READ, 1.0)),
                ),
                (
                    "reads of 8 bits are",
                    Pairs::Places(("read 8-bit", 1.0), (READ, 1.0)),
                ),
                (
                    "writes of 16 bits are",
                    Pairs::Places(("write 16-bit", 1.0), (WRITE, 1.0)),
                ),
                (
                    "writes of 8 bits are",
                    Pairs::Places(("write 8-bit", 1.0), (WRITE, 1.0)),
                ),
            ],
        ),
    ],
};

/// A point of a walk over an array in words of a width; `strides` is the stride's logarithm, `offset` in words. The array is
/// larger than any GPU's cache, or smaller than its last level but larger than one unit's own. What is written is read back and
/// checked, and is therefore less. What a GPU's cache hands out in which pieces shows only where nothing comes from further away.
fn walk(scope: &Scope<'_>, name: &str, (x, strides, offset): (u64, u64, u64), width: u64) -> Trial {
    let (bits, rounds) = match name {
        READ_CACHED => (22, 16),
        name => (
            scope.pick(
                [if name.starts_with(WRITE) { 25 } else { 26 }, 25],
                [24, 22],
            ),
            1,
        ),
    };
    let family = if name.starts_with(WRITE) {
        "scatter"
    } else {
        "gather"
    };
    let settings = [
        ("strides", strides),
        ("offset", offset),
        (REPEATS, rounds),
        ("width", width),
    ];
    // Words of 32 bits have no need of a width.
    let settings = &settings[..if width == 32 { 3 } else { 4 }];
    Work {
        rung: (family, "walk"),
        dtype: Dtype::I32,
        n: (32 / width) << bits,
        wg: scope.wg_of_reads(),
    }
    .trial(scope, name, x as f64, BANDWIDTH, settings)
}

const ORDERED: &str = "in order";

/// Neighbouring items access neighbouring words, but the words of a group begin in the middle of a segment. A device may have to
/// fetch that segment for both groups that share it. Other series read runs of 32 words in another order, or leave every other
/// item idle. The first devices put accesses together only where item k read word k of a segment; idle items did no harm.
pub const OFFSET: Experiment = Experiment {
    name: "offset",
    question: "What does it cost when neighbouring items begin in the middle of a segment of global memory?",
    idea: "Every word of an array is accessed once, from an offset on; also, neighbours read in another order, or \
               every other item is idle.",
    expect: "Groups that begin inside a segment fetch one segment more: reads from memory lose a little. The order \
               within a segment costs next to nothing, and idle items save nothing.",
    but: "A cache that keeps the shared segment for the neighbour hides it. CPU drivers walk through contiguous \
               memory wherever they begin.",
    cuda: "Misaligned and permuted accesses: the first CUDA devices coalesced only where thread k read word k of an \
               aligned segment.",
    x_name: "offset",
    x_label: plain,
    plan: |scope| {
        let quick = scope.quick;
        let offsets: &[u64] = if quick {
            &[0, 1, 4, 8, 16, 32]
        } else {
            &[0, 1, 2, 4, 7, 8, 16, 24, 32, 33, 64]
        };
        let cached = (scope.target.gpu && !quick).then_some(READ_CACHED);
        let walks = [READ].into_iter().chain(cached).chain([WRITE]);
        let lanes = [(ORDERED, 1, 0), ("permuted", 13, 0), ("half idle", 1, 1)];
        walks
            .flat_map(|name| {
                offsets
                    .iter()
                    .map(move |&offset| walk(scope, name, (offset, 0, offset), 32))
            })
            .chain(lanes.into_iter().flat_map(|(name, factor, idle)| {
                let few = if quick { 1 } else { 3 };
                [0, 1, 8].into_iter().take(few).map(move |offset| {
                    let settings = [
                        ("offset", offset),
                        ("factor", factor),
                        ("idle", idle),
                        (REPEATS, 1),
                    ];
                    let n = 1 << scope.pick([26, 25], [24, 22]);
                    Work {
                        rung: ("neighbours", "lanes"),
                        dtype: Dtype::I32,
                        n,
                        wg: scope.wg_of_reads(),
                    }
                    .trial(scope, name, offset as f64, BANDWIDTH, &settings)
                })
            }))
            .collect()
    },
    claims: &[
        Claim::speeds(
            "Compared with offset 0,",
            &[
                ("reads are", Pairs::To(READ, (READ, 0.0))),
                (
                    "reads from cache are",
                    Pairs::To(READ_CACHED, (READ_CACHED, 0.0)),
                ),
                ("writes are", Pairs::To(WRITE, (WRITE, 0.0))),
            ],
        ),
        Claim::speeds(
            "Compared with reads in order,",
            &[
                (
                    "those in another order within 32 words are",
                    Pairs::Over("permuted", ORDERED),
                ),
                (
                    "the bandwidth of every other item, where the rest is idle, is",
                    Pairs::Over("half idle", ORDERED),
                ),
            ],
        ),
    ],
};

/// Where the rows of a matrix are a power of two long, tiles that are worked on at the same time may all lie in the same few memory
/// channels, or a column's elements in the same few cache sets. The study, its diagonal order and its comparison of 2080 with
/// 2048 columns are those of G. Ruetsch and P. Micikevicius, "Optimizing Matrix Transpose in CUDA" (NVIDIA, 2009). Here one
/// kernel runs in both orders, so that nothing but the order of its groups differs; padded rows leave the matrix and its tiles as
/// they are and change only where they lie.
pub const PITCH: Experiment = Experiment {
    name: "pitch",
    question: "Do power-of-two rows collide in a few memory channels or cache sets, and does diagonal order or padding cure it?",
    idea: "Tiles of a matrix are transposed in two orders of groups, with plain and with padded rows, at powers of \
               two and next to one.",
    expect: "Where groups collide in a few channels, powers of two are slower than their neighbour, and diagonal \
                 order or padding cures it.",
    but: "Devices that spread addresses over their channels have nothing to cure: then diagonal order may cost a \
               little.",
    cuda: "Partition camping and diagonal block reordering, as in NVIDIA's study of the transposition (2009).",
    x_name: "n",
    x_label: plain,
    plan: |scope| {
        let sizes: &[u64] = scope.pick(
            [&[1024, 2048, 2080, 4096, 8192], &[1024, 2048, 2080]],
            [&[512, 1024, 2048, 2080, 4096], &[512, 1024]],
        );
        let kernels = [
            ("tiled", "diagonal", "rows"),
            ("diagonal", "diagonal", "diagonal"),
            ("naive", "naive", ""),
        ];
        // A line of any cache; those of one pitch come together, as they share their data.
        sizes
            .iter()
            .flat_map(|&n| [(n, 0), (n, 32)])
            .filter(|(n, gap)| *gap == 0 || n.is_power_of_two())
            .flat_map(|(n, gap)| {
                kernels.map(|(name, variant, order)| {
                    let pitch = if gap == 0 {
                        "n".to_owned()
                    } else {
                        format!("n+{gap}")
                    };
                    let gap = [("gap", gap)];
                    let work = Work {
                        rung: ("transpose", variant),
                        dtype: Dtype::F32,
                        n,
                        wg: scope.target.max_wg.min(256),
                    };
                    let gap = if gap[0].1 == 0 { &[][..] } else { &gap };
                    let mut trial = work.trial(
                        scope,
                        &format!("{name}, pitch {pitch}"),
                        n as f64,
                        BANDWIDTH,
                        gap,
                    );
                    trial.case.shape = Shape { n, m: n };
                    if !order.is_empty() {
                        trial.case.params.insert("order".into(), order.into());
                    }
                    trial
                })
            })
            .collect()
    },
    claims: &[
        Claim::Speed {
            head: "Compared with rows that are a power of two long,",
            of: &[
                (
                    "the tiled kernel with padded rows is",
                    Pairs::Over("tiled, pitch n+32", TILED),
                ),
                (
                    "2080 columns instead of 2048 are",
                    Pairs::Places((TILED, 2080.0), (TILED, 2048.0)),
                ),
                (
                    "the naive kernel with padded rows is",
                    Pairs::Over("naive, pitch n+32", "naive, pitch n"),
                ),
            ],
            so: [": rows collide", "", ": no rows collide that padding helps"],
        },
        Claim::speeds(
            "Diagonal order, compared with rows of tiles, is",
            &[
                ("", Pairs::Over("diagonal, pitch n", TILED)),
                (
                    "on padded rows, where nothing is left to cure,",
                    Pairs::Over("diagonal, pitch n+32", "tiled, pitch n+32"),
                ),
            ],
        ),
    ],
};

const TILED: &str = "tiled, pitch n";

const LOADS: &str = "loads";
const ADDS: &str = "adds";

/// The same floats loaded, and the same additions done, as float, float2, float4, float8 and float16.
pub const VECTOR: Experiment = Experiment {
    name: "vector",
    question: "How much faster are loads and additions with vector types, and up to which width?",
    idea: "The same floats are loaded, and the same additions done, as float, float2, float4, float8 and float16.",
    expect: "On CPU drivers wide vectors fill the vector registers. On GPUs each item is a lane already: loads gain \
               where their number holds memory back, additions hardly.",
    but: "A compiler for CPUs that joins items into vectors by itself leaves nothing to gain; wide vectors may \
               cost a GPU registers.",
    cuda: "float2 and float4 are vector loads of 64 and 128 bits; arithmetic is scalar for each thread.",
    x_name: "width",
    x_label: plain,
    plan: |scope| {
        let target = scope.target;
        // Far more than a GPU's cache; and enough items of the widest vectors to fill the device, with enough additions that
        // reading and writing count little.
        let (lanes, rounds) = if target.gpu { (2, 512) } else { (16, 16) };
        let n = 1 << scope.pick([26; 2], [24, 22]);
        let loads = Work {
            rung: (LOADS, "vectors"),
            dtype: Dtype::F32,
            n,
            wg: scope.wg_of_reads(),
        };
        let wg = lab::usual_wg(target).min(64);
        let adds = Work {
            rung: (ADDS, "vectors"),
            n: lanes * lab::items(target),
            wg,
            ..loads
        };
        [(LOADS, loads, BANDWIDTH, 1), (ADDS, adds, RATE, rounds)]
            .iter()
            .flat_map(|(name, work, metric, rounds)| {
                [1, 2, 4, 8, 16].map(|vec| {
                    work.trial(
                        scope,
                        name,
                        vec as f64,
                        *metric,
                        &[("vec", vec), (REPEATS, *rounds)],
                    )
                })
            })
            .collect()
    },
    claims: &[
        Claim::speeds(
            "Compared with float,",
            &[
                ("loads of vectors are", Pairs::To(LOADS, (LOADS, 1.0))),
                ("additions are", Pairs::To(ADDS, (ADDS, 1.0))),
            ],
        ),
        Claim::Reach {
            head: "At least 90 % of the best is reached",
            part: 0.9,
            of: &[
                ("loads", Pairs::ToBest(LOADS)),
                ("additions", Pairs::ToBest(ADDS)),
            ],
            so: NO_MORE,
        },
    ],
};

/// Where the table is: in memory of either kind that is an argument, or in the program itself.
const IN_CONSTANT: &str = "__constant";
const IN_PROGRAM: &str = "__constant in program";
const IN_GLOBAL: &str = "__global";

/// Some devices hand one word of `__constant` memory to all items in lockstep at once, but take turns for different words. The same
/// reads of `__global` memory, cached as well, are the control. A compiler may read a `__constant` argument as it reads global
/// memory; a table in the program has a place that the compiler knows.
pub const CONSTANT: Experiment = Experiment {
    name: "constant",
    question: "How fast is constant memory where neighbouring items read one address, and where they read several?",
    idea: "All items read a small table at one address, or neighbours at several: as a __constant argument, as a \
               table in the program, and, for control, in global memory.",
    expect: "A constant cache hands one word to all items of a warp at once and takes turns for different ones: its \
               rate falls with the number of addresses, where that of global memory falls less.",
    but: "A compiler may read a __constant argument as it reads global memory: then both are one path. CPU drivers \
               have one memory for all of them.",
    cuda: "__constant__ memory, whose cache broadcasts one word to a warp.",
    x_name: "addresses",
    x_label: plain,
    plan: |scope| {
        let series = [
            (IN_CONSTANT, "table", "global", 0),
            (IN_PROGRAM, "program", "program", 1),
            (IN_GLOBAL, "table", "global", 1),
        ];
        (0..=5)
            .flat_map(|log| {
                series.map(|(name, variant, place, is_there)| {
                    let settings = [("places", 1 << log), (place, is_there), (REPEATS, 128)];
                    let (n, wg) = (lab::items(scope.target), lab::usual_wg(scope.target));
                    Work {
                        rung: ("constant", variant),
                        dtype: Dtype::I32,
                        n,
                        wg,
                    }
                    .trial(
                        scope,
                        name,
                        f64::from(1 << log),
                        BANDWIDTH,
                        &settings,
                    )
                })
            })
            .collect()
    },
    claims: &[
        Claim::speeds(
            "At 32 addresses, compared with one,",
            &[
                (
                    "a __constant argument is",
                    Pairs::Places((IN_CONSTANT, 32.0), (IN_CONSTANT, 1.0)),
                ),
                (
                    "a __constant table in the program is",
                    Pairs::Places((IN_PROGRAM, 32.0), (IN_PROGRAM, 1.0)),
                ),
                (
                    "global memory is",
                    Pairs::Places((IN_GLOBAL, 32.0), (IN_GLOBAL, 1.0)),
                ),
            ],
        ),
        Claim::speeds(
            "At one address, compared with global memory,",
            &[
                (
                    "a __constant argument is",
                    Pairs::Places((IN_CONSTANT, 1.0), (IN_GLOBAL, 1.0)),
                ),
                (
                    "a __constant table in the program is",
                    Pairs::Places((IN_PROGRAM, 1.0), (IN_GLOBAL, 1.0)),
                ),
            ],
        ),
        Claim::Speed {
            head: "Over all numbers of addresses, compared with global memory,",
            of: &[
                ("an argument is", Pairs::Over(IN_CONSTANT, IN_GLOBAL)),
                (
                    "a table in the program is",
                    Pairs::Over(IN_PROGRAM, IN_GLOBAL),
                ),
            ],
            so: ["", "", ": no path of its own shows"],
        },
    ],
};

/// From one load of a lone item to its next.
const PER_LOAD: Metric = Metric::new("latency", "ns", |row: &Row| {
    Some(1e9 * row.t_median_s? / row.ops? as f64)
});
/// Clocks in a nanosecond, by the driver's word.
const GHZ: Metric = Metric::new("clock", "GHz", |row: &Row| {
    row.clock_mhz.map(|mhz| mhz / 1000.0)
});

const DEPENDENT: &str = "dependent";
const INDEPENDENT: &str = "independent";
const LOCAL: &str = "local";
const LOCAL_INDEPENDENT: &str = "local, independent";
const CLOCK: &str = "clock, as stated";

/// One work-item follows a random cycle of addresses: each load's address is what the load before it found (L. McVoy and C. Staelin,
/// "lmbench: Portable Tools for Performance Analysis", USENIX 1996). The control makes as many loads of the same memory by the same
/// instructions, but knows their addresses beforehand: where it takes as long, something else than latency was measured. The cycle
/// is laid out anew before each timed chase, over all of its memory; caches therefore hold no more of it than they always could. On
/// most devices large working sets also miss the cache of address translations, whose cost is part of the latency here.
pub const LATENCY: Experiment = Experiment {
    name: "latency",
    question: "How long does a dependent load take in each cache, in memory and in local memory?",
    idea: "One item follows a random cycle of addresses through working sets of growing size: each load gives the \
               next address. The control makes the same loads with addresses known beforehand.",
    expect: "The time of a load rises in steps, wherever the working set outgrows a cache; local memory stays flat.",
    but: "Large working sets miss the cache of address translations too, and that time is part of the latency \
               here. Many items hide latency: it says little about bandwidth.",
    cuda: "Pointer chasing through L1, L2 and the device's memory, and through __shared__ memory.",
    x_name: "working set",
    x_label: bytes,
    plan: |scope| {
        let step = if scope.quick { 2 } else { 1 };
        let most = if scope.quick { 28 } else { 29 };
        // Every device of use has so much local memory, and laying out more would take time beside the chase.
        let local = scope.target.local_mem.clamp(1 << 12, 1 << 14).ilog2();
        [
            (DEPENDENT, most),
            (INDEPENDENT, most),
            (LOCAL, local),
            (LOCAL_INDEPENDENT, local),
        ]
        .into_iter()
        .flat_map(|(name, most)| {
            (12..=most)
                .step_by(step)
                .map(move |log| load(scope, name, PER_LOAD, log))
        })
        .chain([load(scope, CLOCK, GHZ, 12)])
        .collect()
    },
    claims: &[
        Claim::Own(levels),
        Claim::speeds(
            "A load from local memory, compared with one from the nearest cache, is",
            &[("", Pairs::Places((LOCAL, 4096.0), (DEPENDENT, 4096.0)))],
        ),
        Claim::Reach {
            head: "The control, independent loads, is at least 1.5 times as fast, as it is where latency was measured",
            part: 1.5,
            of: &[
                ("in global memory", Pairs::Over(INDEPENDENT, DEPENDENT)),
                ("in local memory", Pairs::Over(LOCAL_INDEPENDENT, LOCAL)),
            ],
            so: ["", "", ", so that throughput was measured and not latency"],
        },
        Claim::values("The device states a clock of", &[("", CLOCK)]),
    ],
};

/// A chase over `1 << log` bytes. Where a cache may hold the nodes, each is visited so often that the first visit, which fills the
/// cache, counts little; a GPU's loads from further away take long, and its last cache is filled already. One round less than
/// whole turns of the cycle, so that the end of a chase tells how it went.
fn load(scope: &Scope<'_>, name: &str, metric: Metric, log: u32) -> Trial {
    let is_local = name.starts_with(LOCAL);
    let nodes = 1u64 << (log - if is_local { 2 } else { 2 + memory::LINE });
    let loads: u64 = match (scope.target.gpu, nodes) {
        (true, ..=0x3ff | 0x8000..) => 1 << 16,
        (true, _) => 1 << 18,
        (false, _) => 1 << 19,
    };
    let is_dependent = u64::from(!name.ends_with(INDEPENDENT));
    let settings = [
        ("dependent", is_dependent),
        (REPEATS, loads / memory::LOADS - 1),
    ];
    let (variant, wg) = if is_local {
        ("local", scope.target.max_wg.min(64))
    } else {
        ("global", 1)
    };
    Work {
        rung: ("chase", variant),
        dtype: Dtype::I32,
        n: nodes,
        wg,
    }
    .trial(scope, name, (1u64 << log) as f64, metric, &settings)
}

/// `A load takes 20.0 ns up to 128 KiB, 140 ns from 512 KiB to 32 MiB`: runs of sizes, neighbours of which take about as long, and
/// which clearly differ from each other.
fn levels(points: &[Point]) -> Option<String> {
    let all = series(points, DEPENDENT);
    let mut found: Vec<Vec<&Point>> = Vec::new();
    let flat = all.chunk_by(|a, b| Contrast::new(a, b).is_some_and(|step| step.ratio <= 1.2));
    for run in flat.filter(|run| run.len() > 1) {
        match found.last_mut() {
            Some(before)
                if Contrast::new(before.last()?, run.first()?)?.exceeds(1.4) != Some(true) =>
            {
                before.extend(run)
            }
            _ => found.push(run.to_vec()),
        }
    }
    let steps: Vec<Contrast> = all
        .windows(2)
        .filter_map(|pair| Contrast::new(pair[0], pair[1]))
        .collect();
    let hidden: Vec<&Contrast> = steps
        .iter()
        .filter(|step| step.exceeds(1.2).is_none())
        .collect();
    if steps.is_empty() || 2 * hidden.len() > steps.len() {
        return (!steps.is_empty()).then(|| {
            format!(
                "Where the latency of a load changes is {}.",
                super::claims::unseen(&steps)
            )
        });
    }
    let described = found.iter().filter_map(|run| {
        let ends = [run.first()?.x, run.last()?.x].map(bytes).join(" to ");
        Some(format!(
            "{} ns from {ends}",
            figure(run[run.len() / 2].measured()?)
        ))
    });
    let described = described.joined(", ");
    let hidden = match hidden.len() {
        0 => String::new(),
        some => format!(
            "; too noisy, and so undecided: {some} of {} steps between sizes",
            steps.len()
        ),
    };
    Some(match found.len() {
        0 => format!("The latency of a load has no plateau{hidden}."),
        _ => format!("A load takes {described}{hidden}."),
    })
}

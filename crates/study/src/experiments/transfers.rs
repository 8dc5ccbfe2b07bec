//! Between host and device: launches, transfers, and what overlaps.

use super::claims::{Claim, NO_MORE, Pairs};
use super::{Experiment, Scope, Trial, Work, bytes, plain};
use gpulab_model::data::Dtype;
use gpulab_record::{BANDWIDTH, Metric, TIME};

/// A point of an exchange over so many words of 4 bytes.
fn exchange(
    scope: &Scope<'_>,
    (series, x): (&str, u64),
    metric: Metric,
    rung: (&str, &str),
    words: u64,
    settings: &[(&str, u64)],
) -> Trial {
    Work {
        rung,
        dtype: Dtype::I32,
        n: words,
        wg: 1,
    }
    .trial(scope, series, x as f64, metric, settings)
}

const HALVING: &str = "sum, log2(n) launches";
const TREE: &str = "sum, one launch";

/// The sum by log2(n) launches that each halve what is left is the first that textbooks show; the one by a single launch has a tree
/// in local memory for each group.
pub const LAUNCH: Experiment = Experiment {
    name: "launch",
    question: "What does launching a kernel cost, and from which n on is a sum by log2(n) launches as fast as by one?",
    idea: "An empty kernel is launched alone and in a row. A sum by launches that each halve the data is compared \
               with a sum by one launch.",
    expect: "At small sizes launches are nearly all of the sum's time, and one launch wins; the larger the data, the \
               less their number matters.",
    but: "Drivers may gather launches, so that one in a row costs less than one alone. Not every driver's events \
               time an empty kernel.",
    cuda: "A launch is kernel<<<grid, block>>>() on a stream; CUDA graphs exist to make many of them cheaper.",
    x_name: "n",
    x_label: plain,
    plan: |scope| {
        let logs: &[u32] = if scope.quick {
            &[10, 16, 22]
        } else {
            &[8, 10, 12, 14, 16, 18, 20, 22, 24, 26]
        };
        let empty = [
            ("empty, round trip", "round_trip"),
            ("empty, back to back", "back_to_back"),
            ("empty, queued to start", "queued_to_start"),
            ("empty, event time", "event"),
        ];
        let sums = logs
            .iter()
            .flat_map(|log| [(HALVING, "halving"), (TREE, "tree")].map(|of| (of, 1 << log)));
        let all = empty.into_iter().map(|of| (of, 1)).chain(sums);
        all.map(|((name, variant), n)| {
            exchange(scope, (name, n), TIME, ("launch", variant), n, &[])
        })
        .collect()
    },
    claims: &[
        Claim::values(
            "An empty kernel takes",
            &[
                ("until the host sees its end", "empty, round trip"),
                ("in a row of launches", "empty, back to back"),
                (
                    "by the driver's events in the queue",
                    "empty, queued to start",
                ),
                ("by events from start to end", "empty, event time"),
            ],
        ),
        Claim::speeds(
            "A sum by log2(n) launches, compared with one by a single launch, is",
            &[("", Pairs::Over(HALVING, TREE))],
        ),
        Claim::Reach {
            head: "Many launches take at most 1.1 times as long as one",
            part: 0.91,
            of: &[("", Pairs::Over(HALVING, TREE))],
            so: NO_MORE,
        },
    ],
};

const PIECES: &str = "pinned in, pieces of 64 KiB";

/// How fast data get to a device and back: from which memory, in how large pieces.
pub const TRANSFER: Experiment = Experiment {
    name: "transfer",
    question: "How fast do data get to the device and back, from pageable, pinned and mapped memory, in large and small pieces?",
    idea: "Blocks of growing size go to the device and back, from pageable, pinned and mapped memory, whole and in \
               small pieces.",
    expect: "Pinned memory is fastest, as the link copies from it directly; small pieces take a call's time each, \
               whatever their size.",
    but: "On a CPU device the host's memory is the device's: there it is one copy in memory, and mapping needs \
               none.",
    cuda: "Page-locked memory by cudaMallocHost(); cudaMemcpy() from pageable memory goes through a buffer of the \
               driver.",
    x_name: "bytes",
    x_label: bytes,
    plan: |scope| {
        let logs: &[u32] = if scope.quick {
            &[10, 16, 22, 24]
        } else {
            &[10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]
        };
        let series = [
            "pageable in",
            "pinned in",
            "mapped in",
            "pageable out",
            "pinned out",
            "mapped out",
        ];
        logs.iter()
            .flat_map(|&log| {
                let whole = series
                    .into_iter()
                    .map(move |name| (name, name.replace(' ', "_"), 1 << log));
                // In so many pieces that the first and the last do not count.
                let pieces = (20..=26)
                    .contains(&log)
                    .then(|| (PIECES, "pinned_in".to_owned(), 64 << 10));
                whole.chain(pieces).map(move |(name, variant, piece)| {
                    let rung = ("transfer", variant.as_str());
                    exchange(
                        scope,
                        (name, 1 << log),
                        BANDWIDTH,
                        rung,
                        1 << (log - 2),
                        &[("piece", piece)],
                    )
                })
            })
            .collect()
    },
    claims: &[
        Claim::values(
            "By size, pinned memory reaches",
            &[
                ("to the device", "pinned in"),
                ("back to the host", "pinned out"),
            ],
        ),
        Claim::Reach {
            head: "At least half of the best rate is reached",
            part: 0.5,
            of: &[
                ("to the device", Pairs::ToBest("pinned in")),
                ("back to the host", Pairs::ToBest("pinned out")),
            ],
            so: NO_MORE,
        },
        Claim::speeds(
            "Compared with pageable memory,",
            &[
                (
                    "pinned memory to the device is",
                    Pairs::Over("pinned in", "pageable in"),
                ),
                (
                    "pinned memory back to the host is",
                    Pairs::Over("pinned out", "pageable out"),
                ),
                (
                    "mapped memory to the device is",
                    Pairs::Over("mapped in", "pageable in"),
                ),
                (
                    "mapped memory back to the host is",
                    Pairs::Over("mapped out", "pageable out"),
                ),
            ],
        ),
        Claim::speeds(
            "One transfer, compared with pieces of 64 KiB, is",
            &[("", Pairs::Over("pinned in", PIECES))],
        ),
    ],
};

const SERIAL: (&str, f64) = ("1 queue", 1.0);
const HOST: &str = "host's work alone";

/// Whether copies and kernels run at the same time, in chunks on several queues; and the host beside the device.
pub const OVERLAP: Experiment = Experiment {
    name: "overlap",
    question: "Do copies to the device, kernels and copies back overlap if the work is cut into chunks on several queues?",
    idea: "Copies in, kernels and copies out, whole and in chunks on one to four queues, from pinned memory; and \
               the host's own work beside each of them.",
    expect: "With several queues the stages run at the same time, and the whole comes near its longest stage.",
    but: "Some drivers run their queues one after the other. Many small chunks cost a launch and two calls each, \
               and on a CPU device all stages use the same cores.",
    cuda: "Streams, and cudaMemcpyAsync() from pinned memory.",
    x_name: "chunks",
    x_label: plain,
    plan: |scope| {
        // Stages of about the same length: of a GPU the link's, of a CPU device that of its copies.
        let gpu = scope.target.gpu;
        let less = if scope.quick { 2 } else { 0 };
        let alone = [
            ("copy in alone", "copy_in"),
            ("kernel alone", "kernel"),
            ("copy out alone", "copy_out"),
            (HOST, "work"),
            ("kernel, host's work beside it", "beside"),
            ("copy in, host beside it", "beside_in"),
            ("copy out, host beside it", "beside_out"),
        ];
        let chunks: &[u64] = if scope.quick {
            &[1, 4, 16]
        } else {
            &[1, 2, 4, 8, 16, 32]
        };
        let queues = [
            ("1 queue", 1),
            ("2 queues", 2),
            ("3 queues", 3),
            ("4 queues", 4),
        ];
        // One chunk is on one queue, whatever there is.
        let cut = queues.into_iter().flat_map(|(name, queues)| {
            let own = chunks
                .iter()
                .filter(move |&&chunks| chunks > 1 || queues == 1);
            own.map(move |&chunks| (name, "chunks", chunks, queues))
        });
        let alone = alone
            .into_iter()
            .map(|(name, variant)| (name, variant, 1, 1));
        let all = alone.chain(cut).map(|(name, variant, chunks, queues)| {
            let settings = [
                ("chunks", chunks),
                ("queues", queues),
                ("steps", if gpu { 2 * scope.units().max(8) } else { 1 }),
                ("work", if gpu { 500_000 } else { 2_000_000 } >> less),
            ];
            let words = if gpu { 1 << 24 } else { 1 << 22 } >> less;
            exchange(
                scope,
                (name, chunks),
                TIME,
                ("pipeline", variant),
                words,
                &settings,
            )
        });
        all.collect()
    },
    claims: &[
        Claim::values(
            "Alone it takes",
            &[
                ("for a copy in", "copy in alone"),
                ("for the kernel", "kernel alone"),
                ("for a copy out", "copy out alone"),
                ("for the host's work", HOST),
            ],
        ),
        Claim::Speed {
            head: "Chunks, compared with all three stages one after the other, are",
            of: &[
                ("on 1 queue", Pairs::To("1 queue", SERIAL)),
                ("on 2 queues", Pairs::To("2 queues", SERIAL)),
                ("on 3 queues", Pairs::To("3 queues", SERIAL)),
                ("on 4 queues", Pairs::To("4 queues", SERIAL)),
            ],
            so: [": stages overlap", "", ": no overlap shows"],
        },
        Claim::Speed {
            head: "With the host's work beside it, compared with alone,",
            of: &[
                (
                    "the kernel is",
                    Pairs::Places(
                        ("kernel, host's work beside it", 1.0),
                        ("kernel alone", 1.0),
                    ),
                ),
                (
                    "a copy in is",
                    Pairs::Places(("copy in, host beside it", 1.0), ("copy in alone", 1.0)),
                ),
                (
                    "a copy out is",
                    Pairs::Places(("copy out, host beside it", 1.0), ("copy out alone", 1.0)),
                ),
            ],
            so: ["", "", ": the host's work overlaps it"],
        },
    ],
};

const COPIED: &str = "copied, then read";
const FILLED: &str = "filled by mapping, then read";
const IN_PLACE: &str = "read in host memory";

/// Kernels that read the host's memory directly: from how many readings on a copy pays.
pub const ZERO_COPY: Experiment = Experiment {
    name: "zerocopy",
    question: "Is it faster to let a kernel read host memory than to copy the data first, if it reads them once or often?",
    idea: "A kernel reads host memory in place, or the data are copied first, or filled by mapping; then they are \
               read once or several times.",
    expect: "Read once, the data may as well stay where they are; the more often they are read, the sooner a copy \
               pays.",
    but: "A driver may keep a copy on the device, whatever it was asked for; on a CPU device both memories are \
               one.",
    cuda: "Zero copy: mapped pinned memory (cudaHostAllocMapped).",
    x_name: "passes",
    x_label: plain,
    plan: |scope| {
        let passes: &[u64] = if scope.quick {
            &[1, 4]
        } else {
            &[1, 2, 4, 8, 16]
        };
        let words = if scope.quick { 1 << 22 } else { 1 << 24 };
        // The ways from the host's data to a sum, then what reading alone takes.
        let series = [
            (COPIED, "copied"),
            (FILLED, "filled"),
            (IN_PLACE, "in_place"),
            ("read in device memory", "on_device"),
        ];
        let all = passes.iter().flat_map(|&passes| {
            series.map(|(name, variant)| {
                exchange(
                    scope,
                    (name, passes),
                    TIME,
                    ("zerocopy", variant),
                    words,
                    &[("passes", passes)],
                )
            })
        });
        all.collect()
    },
    claims: &[
        Claim::speeds(
            "Reading data where they lie in host memory, compared with copying them first, is",
            &[("", Pairs::Over(IN_PLACE, COPIED))],
        ),
        Claim::Reach {
            head: "Copying first is at least 5 % faster than reading in place",
            part: 1.05,
            of: &[("", Pairs::Over(COPIED, IN_PLACE))],
            so: NO_MORE,
        },
        Claim::Speed {
            head: "Reading host memory, compared with the device's own, is",
            of: &[("", Pairs::Over(IN_PLACE, "read in device memory"))],
            so: [
                "",
                "",
                ": both are the same memory, or the driver or a cache keeps a copy",
            ],
        },
        Claim::speeds(
            "Writing the data through a mapping and reading them, compared with copying and reading, is",
            &[("", Pairs::Over(FILLED, COPIED))],
        ),
    ],
};

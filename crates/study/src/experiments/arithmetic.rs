//! Arithmetic: branches, groups, latency and what hides it, instructions, intensity, remainders, rounding.

use super::claims::{Claim, Contrast, NO_MORE, Pairs, percent, series, unseen};
use super::{Experiment, Scope, Trial, Work, plain};
use gpulab_kernels::lab::instructions::{FUNCTIONS, Function, Instruction, OPERATIONS, Precision};
use gpulab_kernels::lab::{self, chains, sums};
use gpulab_kernels::reduce;
use gpulab_model::data::Dtype;
use gpulab_model::outcome::Number;
use gpulab_model::plan::{REPEATS, TOLD};
use gpulab_record::{BANDWIDTH, Metric, Point, RATE, Row, TIME};

const CHOSEN: &str = "chosen by (id / g) % 2";
const ONE: &str = "all the first branch";
const BOTH: &str = "all both branches";

/// Two branches of equal work, chosen by an item's number, for runs of items of growing length. Where items run in lockstep, those of
/// one warp (wavefront, vector) that take different branches go through both. Runs as long as the lockstep is wide have no such
/// items, and take half the time. A smaller factor than 1.4 has other causes.
pub const DIVERGENCE: Experiment = Experiment {
    name: "divergence",
    question: "What does a branch cost where neighbouring work-items take different sides, and how many items run in lockstep?",
    idea: "Two branches of equal work are chosen by runs of neighbouring items, which grow; all items in one \
               branch, and all in both, are the controls.",
    expect: "Runs shorter than the lockstep take the time of both branches, others that of one: where the time \
               falls, a run is as long as the lockstep is wide.",
    but: "CPU drivers run items in turn or in the lanes of a vector, so that the fall is at the vector's width or \
               missing. Very short branches may need no jump at all (predication).",
    cuda: "A warp whose threads take different sides runs both, one after the other: branch divergence.",
    x_name: "g",
    x_label: plain,
    plan: |scope| {
        let series = [(CHOSEN, 1, 2), (ONE, 3, 0), (BOTH, 3, 3)];
        let rounds = if scope.target.gpu { 256 } else { 64 };
        let (n, wg) = (lab::items(scope.target), lab::usual_wg(scope.target));
        let work = Work {
            rung: ("divergence", "two_ways"),
            dtype: Dtype::I32,
            n,
            wg,
        };
        (0..=10)
            .flat_map(|shift| series.map(|series| (shift, series)))
            // What all items do alike cannot depend on the runs: the ends show whether it does.
            .filter(|(shift, (name, ..))| *name == CHOSEN || [0, 10].contains(shift))
            .map(|(shift, (name, first, second))| {
                let settings = [
                    ("shift", shift),
                    ("first", first),
                    ("second", second),
                    (REPEATS, rounds),
                ];
                work.trial(scope, name, (1u64 << shift) as f64, TIME, &settings)
            })
            .collect()
    },
    claims: &[
        Claim::Control {
            what: "the speed of both branches beside one",
            of: Pairs::Over(BOTH, ONE),
            least: 0.38,
            most: 0.77,
        },
        Claim::Control {
            what: "the speed of one branch in long runs beside short ones",
            of: Pairs::Places((ONE, 1024.0), (ONE, 1.0)),
            least: 0.77,
            most: 1.3,
        },
        Claim::speeds(
            "Items that take different branches, compared with all on one, are",
            &[("", Pairs::To(CHOSEN, (ONE, 1024.0)))],
        ),
        Claim::Reach {
            head: "Different branches cost less than 1.4 times the time of one",
            part: 0.714,
            of: &[("", Pairs::To(CHOSEN, (ONE, 1024.0)))],
            so: [
                ", so that {} items run in lockstep",
                ", so that no lockstep shows",
                ", so that more items run in lockstep than the longest run has, if any do",
            ],
        },
    ],
};

const GROUPS: &str = "groups of equal work";

/// Every group has the same work. A launch of one group more than go through together takes as long as one with twice as many: the
/// tail. NVIDIA's "Optimizing CUDA" (2009) has a rule of thumb: more groups than compute units, better twice as many; 100 to scale to
/// the next devices, 1000 to those after them. Whole multiples of the compute units, a series of their own whose name tells how many
/// units there are, judge its first half; 100 and 1000 groups its second.
pub const GRID: Experiment = Experiment {
    name: "grid",
    question: "How many groups keep all compute units busy, and what does one group too many cost?",
    idea: "Launches of ever more groups of equal work, among them one group more than the device has compute units, \
               and whole multiples of the units.",
    expect: "The rate grows until each unit has enough groups. One group too many makes a launch nearly as long as \
               several more would: the tail.",
    but: "Units that hold several groups at once show the tail less; and the number of units that a driver tells \
               may be that of cores or of hardware threads.",
    cuda: "Blocks go to streaming multiprocessors (SMs) in waves; an incomplete last wave is the tail effect.",
    x_name: "groups",
    x_label: plain,
    plan: |scope| {
        let units = scope.units();
        let most = if scope.quick { 8 } else { 64 };
        let multiples = [1, 2, 3, 4, 6, 8, 16, 32, 64]
            .into_iter()
            .filter(|&times| times <= most);
        // Few and many, and where turns end and the next one begins.
        let turns = [
            units / 2,
            units,
            units + 1,
            2 * units,
            2 * units + 1,
            4 * units,
            4 * units + 1,
            16 * units,
        ];
        let mut groups: Vec<u64> = [1, 2, 100, 1000]
            .into_iter()
            .chain(turns)
            .filter(|&groups| groups > 0)
            .collect();
        groups.sort_unstable();
        groups.dedup();
        let multiples = multiples.map(|times| (times * units, format!("{units} units, multiples")));
        let mut all: Vec<(u64, String)> = groups
            .into_iter()
            .map(|groups| (groups, GROUPS.to_owned()))
            .chain(multiples)
            .collect();
        all.sort_by_key(|(groups, _)| *groups);
        let wg = lab::usual_wg(scope.target);
        let settings = [
            ("chains", 4),
            (REPEATS, if scope.target.gpu { 1024 } else { 8 }),
        ];
        let all = all.into_iter().map(|(groups, series)| {
            let work = Work {
                rung: ("chains", "independent"),
                dtype: Dtype::F32,
                n: groups * wg as u64,
                wg,
            };
            work.trial(scope, &series, groups as f64, RATE, &settings)
        });
        all.collect()
    },
    claims: &[
        Claim::Speed {
            head: "One group more is",
            of: &[("", Pairs::ToPrevious(GROUPS))],
            so: ["", "", ": no tail shows"],
        },
        Claim::Reach {
            head: "At least 90 % of the best rate is reached",
            part: 0.9,
            of: &[
                ("by any number", Pairs::ToBest(GROUPS)),
                (
                    "by multiples of the compute units",
                    Pairs::ToBest("* units, multiples"),
                ),
            ],
            so: NO_MORE,
        },
    ],
};

const GROUP_RATE: &str = "rate";
const HELD: &str = "occupancy";

/// Of the warps that a compute unit can hold, those that it does.
const OCCUPANCY: Metric = Metric::new("occupancy", "%", |row: &Row| row.occupancy_pct);

/// Where work-items run in lockstep, a group whose size is no multiple of the lanes leaves some of them idle. 48 items take two warps
/// of 32, and 75 % of their lanes have an item. The points tell, for each number of lanes that devices have, whether that alone is
/// what sizes off the multiples cost. Chains of arithmetic with a barrier at their begin are the work, so that neither memory nor
/// latency rewards one size. Occupancy stands beside it where gpulab can work it out from what the driver tells.
pub const GROUP: Experiment = Experiment {
    name: "group",
    question: "Which work-group sizes are fast, and do sizes off the warp's multiple cost what their idle lanes account for?",
    idea: "Chains of arithmetic behind one barrier, in groups of many sizes, with the registers and the local \
               memory of an item held fixed.",
    expect: "Sizes off the multiple of the lockstep lose what their idle lanes account for; multiples of it are \
               alike.",
    but: "CPU drivers turn a group into a loop: there the size decides how well its compiler uses vectors, and \
               what a barrier costs.",
    cuda: "The block's size should be a multiple of the warp's: threads that the last warp lacks leave lanes idle.",
    x_name: "wg",
    x_label: plain,
    plan: |scope| {
        // Each that is off the multiples of 64 has the next one beside it.
        let sizes: &[usize] = match scope.quick {
            true => &[16, 32, 48, 64, 96, 100, 128, 200, 256],
            false => &[
                8, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 100, 128, 160, 192, 200, 256, 320, 500,
                512, 1000, 1024,
            ],
        };
        let target = scope.target;
        // Only NVIDIA's driver tells of the registers that occupancy follows from.
        let metrics: &[(&str, Metric)] = &[(GROUP_RATE, RATE), (HELD, OCCUPANCY)];
        let told = usize::from(target.register_caps);
        metrics[..=told]
            .iter()
            .flat_map(|(name, metric)| {
                sizes
                    .iter()
                    .filter(|&&wg| wg <= target.max_wg)
                    .map(move |&wg| {
                        // So many groups that the last ones, which run when others have ended, count little.
                        let items = scope.units() * if target.gpu { 1 << 16 } else { 1 << 12 };
                        let settings = [(REPEATS, if target.gpu { 64 } else { 32 }), (TOLD, 1)];
                        Work {
                            rung: ("group", "held"),
                            dtype: Dtype::F32,
                            n: items.next_multiple_of(wg as u64),
                            wg,
                        }
                        .trial(
                            scope,
                            name,
                            wg as f64,
                            *metric,
                            &settings[..=told],
                        )
                    })
            })
            .collect()
    },
    claims: &[
        Claim::Reach {
            head: "At least 90 % of the best rate is reached",
            part: 0.9,
            of: &[("", Pairs::ToBest(GROUP_RATE))],
            so: NO_MORE,
        },
        Claim::Own(lanes),
        Claim::values("Occupancy is", &[("", HELD)]),
    ],
};

/// Whether idle lanes account for what sizes off the multiples of 64 cost, each beside the next multiple.
fn lanes(points: &[Point]) -> Option<String> {
    const NEAR: f64 = 1.1;
    let all = series(points, GROUP_RATE);
    let beside = all.iter().filter_map(|p| {
        let multiple = all
            .iter()
            .find(|q| q.x == 64.0 * (p.x / 64.0).ceil() && q.x != p.x);
        Contrast::new(p, multiple?)
    });
    let beside: Vec<Contrast> = beside.collect();
    // How many are near what they ought to be, how many are not, and whether one of them lacks lanes.
    let fits = [1.0, 64.0, 32.0, 16.0, 8.0].map(|lanes: f64| {
        let mut fit = (lanes, 0, 0, lanes == 1.0);
        for c in &beside {
            let used = c.x / (lanes * (c.x / lanes).ceil());
            match (c.exceeds(used / NEAR), c.exceeds(used * NEAR)) {
                (Some(true), Some(false)) => {
                    fit = (lanes, fit.1 + 1, fit.2, fit.3 || used < 1.0 / NEAR)
                }
                (Some(false), _) | (_, Some(true)) => fit.2 += 1,
                _ => {}
            }
        }
        fit
    });
    let (lanes, near, far, _) = fits
        .into_iter()
        .filter(|fit| fit.3)
        .max_by_key(|fit| (fit.1, usize::MAX - fit.2))?;
    let of = beside.len();
    Some(match far {
        _ if of == 0 => return None,
        _ if 2 * near + 2 * far < of => format!(
            "What sizes off the warp's multiple cost is {}.",
            unseen(&beside)
        ),
        0 if lanes == 1.0 => format!(
            "Sizes off the multiples of 64 are as fast as on them, to within 10 %, at {near} of {of} sizes: no idle lanes show."
        ),
        far if 4 * far <= of && lanes > 1.0 => {
            format!(
                "Sizes off the multiple of {lanes} cost what their idle lanes account for, to within 10 %, at {near} of {of} sizes."
            )
        }
        _ => {
            let slowest = beside.iter().min_by(|a, b| a.ratio.total_cmp(&b.ratio))?;
            format!(
                "Sizes off the multiples of 64 differ from those on them, the most {} with {}, but idle lanes do not explain how.",
                slowest.x,
                percent(slowest.ratio)
            )
        }
    })
}

/// The latency in clocks of the frequency that the driver states, for a grid of one group for each compute unit.
const CLOCKS: Metric = Metric::new("latency in clocks", "clocks", |row| {
    Some(row.wg?.size() as f64 / row.ops_per_cu_clock?)
});
/// From one operation of a lone item to its next.
const LATENCY: Metric = Metric::new("latency", "ns", |row| {
    Some(1e9 * row.t_median_s? * row.n as f64 / row.ops? as f64).filter(|ns| ns.is_finite())
});

/// Chains of dependent steps, 1 to 8 of them an item, in groups of 32 to 1024 items. Each compute unit has one group. So only the
/// group's other items, or an item's other chains, can fill the time from a step's begin to its result (V. Volkov, "Better
/// performance at lower occupancy", GTC 2010).
pub const ILP: Experiment = Experiment {
    name: "ilp",
    question: "How many items in a compute unit, or independent operations in an item, hide the latency of arithmetic?",
    idea: "Chains of dependent steps, one to eight of them per item, in one group for each compute unit: nothing \
               else is there to fill the wait for a step.",
    expect: "With one chain the rate grows with the items until they cover a step's latency; with several chains \
               fewer items are enough.",
    but: "A compiler that puts chains together, or a CPU that finds independent steps by itself, hides the \
               difference.",
    cuda: "Instruction-level parallelism (ILP) beside thread-level parallelism: low occupancy need not be slow.",
    x_name: "items",
    x_label: plain,
    plan: |scope| {
        let items: &[u64] = if scope.quick {
            &[32, 128, 256, 512, 1024]
        } else {
            &[32, 64, 128, 256, 512, 768, 1024]
        };
        let steps = [("a step", LATENCY, 1, 1), ("a step, clocks", CLOCKS, 1, 1)];
        let series = [
            ("1 chain", 1),
            ("2 chains", 2),
            ("4 chains", 4),
            ("8 chains", 8),
        ];
        let chains = series
            .into_iter()
            .flat_map(|(name, chains)| items.iter().map(move |&items| (name, RATE, items, chains)));
        let all = steps.into_iter().chain(chains).map(
            |(name, metric, items, chains): (&str, Metric, u64, u64)| {
                // Of all chains of a group together the same in every trial, so that the time is that of the rate alone; but no
                // more of a chain than a lone item needs.
                let rounds = (8192 * if scope.target.gpu { 128 } else { 8 } / (items * chains))
                    .clamp(1, 1 << 15);
                let n = scope.units() * items;
                Work {
                    rung: ("chains", "independent"),
                    dtype: Dtype::F32,
                    n,
                    wg: items as usize,
                }
                .trial(
                    scope,
                    name,
                    items as f64,
                    metric,
                    &[("chains", chains), (REPEATS, rounds)],
                )
            },
        );
        all.collect()
    },
    claims: &[
        Claim::values(
            "A step takes",
            &[
                ("", "a step"),
                ("at the clock that the device states", "a step, clocks"),
            ],
        ),
        Claim::Reach {
            head: "At least 80 % of the best rate is reached",
            part: 0.8,
            of: &[
                ("with 1 chain", Pairs::ToBest("1 chain")),
                ("with 2 chains", Pairs::ToBest("2 chains")),
                ("with 4 chains", Pairs::ToBest("4 chains")),
                ("with 8 chains", Pairs::ToBest("8 chains")),
            ],
            so: NO_MORE,
        },
    ],
};

/// How far a function's value is from the right one, where the runner's check says that it is near enough.
const ERROR: Metric = Metric::new("error", "ulp", |row: &Row| row.max_err);
/// Throughput in what the hardware's tables state, if the device keeps the clock that the driver states.
const PER_CLOCK: Metric = Metric::new("rate per clock", "/CU/clock", |row: &Row| {
    row.ops_per_cu_clock
});

const DEPENDENT: f64 = 1.0;
const MANY: f64 = 8.0;

/// Each operation is measured in three ways: with one chain of dependent steps of a lone item of each compute unit, which is its
/// latency; with eight chains of each of many items, which is its throughput; and, of functions, with no chain but once for each of
/// many arguments, which is its largest error. Where a step needs an addition to keep its operand in range, the addition is part of
/// it. Steps that follow each other faster than additions of integers, each of the two numbers before it, were joined by the
/// compiler, or done in the lanes of a vector. Sums of floats are not asked for with fast mathematics, which lets compilers put
/// constant terms together.
pub const INSTRUCTIONS: Experiment = Experiment {
    name: "instructions",
    question: "What do arithmetic operations and functions cost, one after the other and many at once, and how exact are they?",
    idea: "Each operation is measured as one chain of a lone item (latency), as many chains of many items \
               (throughput), and each function once for many arguments (its largest error).",
    expect: "Additions, multiplications and bitwise operations are cheap. A division of integers by a variable is a \
               sequence of many instructions; native functions trade exactness for speed.",
    but: "Compilers replace divisions by constants, and some join chains of floats into vectors: the finding says \
               where a step was too fast to be one.",
    cuda: "Throughput of arithmetic instructions for each multiprocessor and clock; native_sin() is __sinf(), \
               mul24() is __mul24().",
    x_name: "chains",
    x_label: plain,
    plan: |scope| {
        let quick = scope.quick;
        let is_meant = |name: &str| {
            !quick
                || [
                    "add",
                    "fma",
                    "min",
                    "int add",
                    "int div",
                    "int div by 8",
                    "int >> 3",
                    "sin",
                    "pow",
                ]
                .contains(&name)
        };
        let forms: &[Precision] = if quick {
            &[Precision::Plain, Precision::Native]
        } else {
            &Precision::ALL
        };
        let mut all = Vec::new();
        for (op, operation) in (0..).zip(OPERATIONS).filter(|(_, o)| is_meant(o.name)) {
            let asked = (op, Instruction::Operation(operation));
            let per_clock = format!("{}, per clock", operation.name);
            let chains = [
                (operation.name, DEPENDENT, LATENCY),
                (operation.name, MANY, RATE),
                (&per_clock, MANY, PER_CLOCK),
            ];
            let has_clock = ["add", "fma", "min", "int min"].contains(&operation.name);
            for (name, x, metric) in chains.into_iter().take(if has_clock { 3 } else { 2 }) {
                all.push(chain(scope, asked, operation.dtype, name, x, metric));
            }
        }
        for (op, function) in (OPERATIONS.len() as u64..)
            .zip(FUNCTIONS)
            .filter(|(_, f)| is_meant(f.name))
        {
            let plain = forms
                .iter()
                .map(|form| (Dtype::F32, *form, name_of(function, *form)));
            let has_double = !quick && ["div", "sqrt", "sin", "exp"].contains(&function.name);
            let double = has_double.then(|| {
                (
                    Dtype::F64,
                    Precision::Plain,
                    format!("f64 {}", function.name),
                )
            });
            for (dtype, form, name) in plain.chain(double) {
                let asked = (op, Instruction::Function(function, form));
                all.push(chain(scope, asked, dtype, &name, DEPENDENT, LATENCY));
                all.push(chain(scope, asked, dtype, &name, MANY, RATE));
            }
            for &form in forms {
                let settings = [("op", op), ("form", form as u64), (REPEATS, 1)];
                let work = Work {
                    rung: ("accuracy", "once"),
                    dtype: Dtype::I32,
                    n: 1 << 16,
                    wg: lab::usual_wg(scope.target),
                };
                all.push(work.trial(scope, &name_of(function, form), 0.0, ERROR, &settings));
            }
        }
        all
    },
    claims: &[
        Claim::speeds(
            "Many at once, compared with additions of floats,",
            &[
                ("mul is", many("mul", "add")),
                ("fma is", many("fma", "add")),
                ("min is", many("min", "add")),
                ("int add is", many("int add", "add")),
                ("int mul is", many("int mul", "add")),
                ("int div is", many("int div", "add")),
                ("f64 fma is", many("f64 fma", "add")),
                ("div is", many("div", "add")),
                ("sin is", many("sin", "add")),
                ("pow is", many("pow", "add")),
            ],
        ),
        Claim::speeds(
            "Compared with a shift or a mask,",
            &[
                ("int division by 8 is", many("int div by 8", "int >> 3")),
                ("int division by 7 is", many("int div by 7", "int >> 3")),
                ("int division by a variable is", many("int div", "int >> 3")),
                ("an int remainder by 8 is", many("int mod by 8", "int & 7")),
                ("an int remainder by 7 is", many("int mod by 7", "int & 7")),
                (
                    "an int remainder by a variable is",
                    many("int mod", "int & 7"),
                ),
            ],
        ),
        Claim::speeds(
            "Compared with int mul,",
            &[("int mul24 is", many("int mul24", "int mul"))],
        ),
        Claim::speeds(
            "One after the other, compared with int add,",
            &[
                (
                    "add is",
                    Pairs::Places(("add", DEPENDENT), ("int add", DEPENDENT)),
                ),
                (
                    "mul is",
                    Pairs::Places(("mul", DEPENDENT), ("int add", DEPENDENT)),
                ),
            ],
        ),
        Claim::speeds(
            "Compared with the plain functions,",
            &[
                ("native_sin is", many("native_sin", "sin")),
                ("native_exp is", many("native_exp", "exp")),
                ("native_divide is", many("native_divide", "div")),
                ("native_sqrt is", many("native_sqrt", "sqrt")),
                ("native_powr is", many("native_powr", "pow")),
                ("half_sin is", many("half_sin", "sin")),
                (
                    "sin with -cl-fast-relaxed-math is",
                    many("sin, fast math", "sin"),
                ),
            ],
        ),
    ],
};

const fn many(one: &'static str, other: &'static str) -> Pairs {
    Pairs::Places((one, MANY), (other, MANY))
}

/// A chain of a lone item of each compute unit, or enough chains to keep all of them busy. The launch itself and the loads must count
/// little beside them, with operations of any speed; but some drivers end loops early, those of an fma that they have in software
/// included.
fn chain(
    scope: &Scope<'_>,
    (op, asked): (u64, Instruction),
    dtype: Dtype,
    name: &str,
    x: f64,
    metric: Metric,
) -> Trial {
    let (n, wg) = match x == DEPENDENT {
        true => (scope.units(), 1),
        false => (lab::items(scope.target), lab::usual_wg(scope.target)),
    };
    let steps: u64 = match (x == DEPENDENT, asked.is_dear()) {
        (true, false) => 1 << 16,
        (true, true) => 1 << 13,
        (false, false) => 1 << 12,
        // PoCL 3.1 took ten times as long for it as for a sine.
        (false, true) if name.contains("pow") => 1 << 4,
        (false, true) if scope.quick => 1 << 5,
        (false, true) => 1 << 7,
    };
    let form = asked.form() as u64;
    let settings = [
        ("op", op),
        ("form", form),
        ("chains", x as u64),
        (REPEATS, steps / (2 * asked.turn())),
    ];
    Work {
        rung: ("instructions", "pairs"),
        dtype,
        n,
        wg,
    }
    .trial(scope, name, x, metric, &settings)
}

/// A function's series: `native_sin`, or `sin, fast math`.
fn name_of(function: &Function, form: Precision) -> String {
    match form {
        Precision::Plain => function.name.to_owned(),
        Precision::Half | Precision::Native => function.call(form).to_owned(),
        Precision::Fast => format!("{}, fast math", function.name),
    }
}

const MEMORY: &str = "read and write";
const AGAIN: &str = "recompute";
const LOADED: &str = "reload";

/// The same bytes with ever more operations on them, from a copy to 128 operations a byte (S. Williams, A. Waterman and D. Patterson,
/// "Roofline: An Insightful Visual Performance Model for Multicore Architectures", CACM 52(4), 2009). The copy, with no operation
/// at all, is the control of memory's limit. The second pair asks what follows for a value that can be computed again. There x is
/// the operations that make a value, by byte of the value; the other kernel loads it, and is measured twice.
pub const INTENSITY: Experiment = Experiment {
    name: "intensity",
    question: "How many operations per byte does memory's time hide, and is it cheaper to compute a value again or to \
               load it?",
    idea: "The same bytes are read and written with ever more operations on them, from a copy on; and a value is \
               computed again where another kernel loads it.",
    expect: "Up to some operations per byte the time is the copy's: memory is the limit. Beyond, the time grows with \
               the operations; where memory's time hides them, computing again is cheaper than loading.",
    but: "The place of the bend is this kernel's: slower operations reach it earlier, and data in a cache later.",
    cuda: "The roofline's ridge: memory-bound kernels lie on one side of it, compute-bound ones on the other.",
    x_name: "ops/byte",
    x_label: fraction,
    plan: |scope| {
        // The last doubling is always there.
        let most = if scope.quick { 6 } else { 7 };
        let logs = (-3..=most).filter(|log| !scope.quick || log % 2 != 0 || *log == most);
        let doublings: Vec<f64> = logs.map(|log| 2f64.powi(log)).collect();
        let memory = [0.0].iter().chain(&doublings).map(|&x| (MEMORY, x));
        let again = doublings.iter().filter(|x| **x >= 0.5).map(|&x| (AGAIN, x));
        let loaded = [0.5, 2f64.powi(most)].map(|x| (LOADED, x));
        memory
            .chain(again)
            .chain(loaded)
            .map(|(name, x)| intense(scope, name, x))
            .collect()
    },
    claims: &[
        Claim::Reach {
            head: "At least 90 % of the copy's bandwidth is kept, so that memory is the limit",
            part: 0.9,
            of: &[("", Pairs::To(MEMORY, (MEMORY, 0.0)))],
            so: NO_MORE,
        },
        Claim::Speed {
            head: "The last doubling of the operations is",
            of: &[
                ("", Pairs::Places((MEMORY, 128.0), (MEMORY, 64.0))),
                ("", Pairs::Places((AGAIN, 64.0), (AGAIN, 32.0))),
            ],
            so: ["", ": arithmetic is the limit", ""],
        },
        Claim::values("The bandwidth is", &[("", MEMORY)]),
        Claim::Reach {
            head: "Computing a float again is at least 5 % faster than loading it",
            part: 1.05,
            of: &[("", Pairs::To(AGAIN, (LOADED, 0.5)))],
            so: NO_MORE,
        },
    ],
};

fn intense(scope: &Scope<'_>, name: &str, x: f64) -> Trial {
    let target = scope.target;
    let (rung, metric, bytes) = match name {
        AGAIN => (("recompute", "again"), TIME, 4.0),
        LOADED => (("reload", "table"), TIME, 4.0),
        _ => (("intensity", "steps"), BANDWIDTH, 8.0),
    };
    // Two operations a step.
    let steps = (x * bytes / 2.0 * chains::VECTORS as f64) as u64;
    // Compilers for CPUs do not join items' long loops, and get vectors as wide as the device's.
    let vec = if target.gpu {
        1
    } else {
        u64::from(target.float_lanes.clamp(4, 16)).next_power_of_two()
    };
    let wg = lab::usual_wg(target).min(if target.gpu { 256 } else { 64 });
    // More than caches hold.
    Work {
        rung,
        dtype: Dtype::F32,
        n: 1 << scope.pick([25, 24], [24, 23]),
        wg,
    }
    .trial(
        scope,
        name,
        x,
        metric,
        &[("steps", steps), ("vec", vec), (REPEATS, 1)][usize::from(name == LOADED)..],
    )
}

/// `1/8`, or `16`.
fn fraction(x: f64) -> String {
    if x > 0.0 && x < 1.0 {
        format!("1/{}", 1.0 / x)
    } else {
        x.to_string()
    }
}

/// The median time with the host's part, and that of the launches before those that count.
const WITH_TAIL: Metric = Metric::new("time", "us", |row| {
    Some((row.t_median_s? + row.t_host_tail_s.unwrap_or(0.0)) * 1e6)
});
const COPY_TIME: Metric = Metric::new("time", "us", |row| Some(row.t_preparation_s? * 1e6));

/// What a size that is no multiple of the work-group costs, and who had best pay for it: one dot product of integers in four forms,
/// in which a group takes a block of elements and leaves one sum. What a point's time includes: the device's, by the row's clock,
/// from the start of the first launch that counts to the end of the last; and what the host took to add its elements, as if nothing
/// else ran meanwhile. Not included, and the same for all forms: reading the groups' sums back and adding them. Padding starts from
/// data that lie padded on the device; the copy that made them so has a series of its own, where the driver's events time it.
pub const PRESUM: Experiment = Experiment {
    name: "presum",
    question: "What does a size that is not a multiple of the work-group size cost, with a guard, host or device \
               presum, or padding?",
    idea: "A dot product of a size that the groups do not divide: with a guard before each access, with the host or \
               a second launch adding the rest, or with zeros behind the data.",
    expect: "The guard is cheap, as it hides behind the loads. A second launch costs a launch, which weighs most at \
               small sizes.",
    but: "Padding is timed on data that are padded already: where they must be copied first, the copy decides.",
    cuda: "The usual guard is if (i < n) in each thread.",
    x_name: "rest",
    x_label: plain,
    plan: |scope| {
        let wg = 1usize << scope.target.max_wg.clamp(1, 256).ilog2();
        let block = wg as u64 * sums::ITEMS;
        let mut all = Vec::new();
        // A size where the launch is most of the time, and one where memory is.
        for power in [16, if scope.quick { 20 } else { 24 }] {
            for rest in [0, 1, block / 2, block - 1] {
                // Without a remainder the host has nothing to add: its kernel alone is the one without any remedy.
                let whole = (rest == 0).then_some(("whole", "host", WITH_TAIL));
                let remedies = ["guard", "host", "device", "padding"]
                    .map(|remedy| (remedy, remedy, WITH_TAIL));
                let copy = ("padding's copy", "padding", COPY_TIME);
                for (name, variant, metric) in whole.into_iter().chain(remedies).chain([copy]) {
                    let work = Work {
                        rung: ("presum", variant),
                        dtype: Dtype::I32,
                        n: (1 << power) + rest,
                        wg,
                    };
                    all.push(work.trial(
                        scope,
                        &format!("{name}, 2^{power}"),
                        rest as f64,
                        metric,
                        &[],
                    ));
                }
            }
        }
        all
    },
    claims: &[
        Claim::speeds(
            "At 2^16 elements, compared with a whole number of groups,",
            &[
                ("a guard is", Pairs::To("guard, 2^16", ("whole, 2^16", 0.0))),
                ("the host is", Pairs::To("host, 2^16", ("whole, 2^16", 0.0))),
                (
                    "a second launch is",
                    Pairs::To("device, 2^16", ("whole, 2^16", 0.0)),
                ),
                (
                    "padding is",
                    Pairs::To("padding, 2^16", ("whole, 2^16", 0.0)),
                ),
            ],
        ),
        Claim::speeds(
            "At 2^24 elements",
            &[
                ("a guard is", Pairs::To("guard, 2^24", ("whole, 2^24", 0.0))),
                ("the host is", Pairs::To("host, 2^24", ("whole, 2^24", 0.0))),
                (
                    "a second launch is",
                    Pairs::To("device, 2^24", ("whole, 2^24", 0.0)),
                ),
                (
                    "padding is",
                    Pairs::To("padding, 2^24", ("whole, 2^24", 0.0)),
                ),
            ],
        ),
        Claim::values(
            "Not counted is the copy that padding needs, of",
            &[
                ("at 2^16", "padding's copy, 2^16"),
                ("at 2^24", "padding's copy, 2^24"),
            ],
        ),
    ],
};

/// How far a sum is from the exact one, and how far it may be.
const OFF: Metric = Metric::new("error", "1e-6", |row: &Row| {
    row.max_err.map(|err| 1e6 * err)
});
const BOUND: Metric = Metric::new("bound", "1e-6", |row: &Row| row.tol.map(|tol| 1e6 * tol));
const SUM: Metric = Metric::new("sum", "1", |row: &Row| row.result.map(Number::rounded));

/// What the order of additions changes in a sum of floats. Three terms show it: (10^30 - 10^30) + 1 is 1, 10^30 + (-10^30 + 1) is 0. The
/// same random data are then summed by one item in eight orders, and by each rung of the reduce ladder. Each sum's error stands
/// beside the bound that Higham proves for that many roundings ("Accuracy and Stability of Numerical Algorithms", section 4.2). A
/// GPU and a CPU that add in different orders differ by as much, and neither is wrong.
pub const ROUNDING: Experiment = Experiment {
    name: "rounding",
    question: "How much do sums of the same floats differ with the order of additions, and what is the proved limit?",
    idea: "Three terms are added from either end, the same random floats in several orders by one item, and by each \
               rung of reduce; each error stands beside its proved bound.",
    expect: "Different orders end in different last digits, all within their bounds. Orders with many partial sums, \
               as trees have, have far smaller bounds.",
    but: "It is arithmetic, no fault of a device. Integers, and floats whose sums are exact, show nothing.",
    cuda: "Floating-point addition is not associative on any GPU; with atomicAdd() of floats even the order changes \
               from run to run.",
    x_name: "order",
    x_label: plain,
    plan: |scope| {
        // Few enough for devices that end a loop after 2^16 turns.
        const N: u64 = 1 << 15;
        let of = |name: &str, (rung, n, wg), x: f64, metric, settings: &[(&str, u64)]| {
            Work {
                rung,
                dtype: Dtype::F32,
                n,
                wg,
            }
            .trial(scope, name, x, metric, settings)
        };
        let terms = (("absorbed", "three_terms"), 1, 1);
        let in_order = (("orders", "sequential"), N, 1);
        let mut all: Vec<Trial> = [(1.0, 0), (2.0, 1)]
            .map(|(x, right)| of("1e30 - 1e30 + 1", terms, x, SUM, &[("right", right)]))
            .into();
        // Forwards, backwards, and orders that jump.
        for (x, step) in (1..).zip([1, N - 1, 3, 129, 1025, 4095, 8191, 12_289]) {
            all.push(of(
                "error, one item",
                in_order,
                f64::from(x),
                OFF,
                &[("step", step)],
            ));
        }
        all.push(of("bound, one item", in_order, 1.0, BOUND, &[("step", 1)]));
        for (name, metric) in [
            ("error, rung of reduce", OFF),
            ("bound, rung of reduce", BOUND),
        ] {
            for rung in &*reduce::FAMILY.ladder {
                let x = f64::from(rung.number().unwrap_or_default());
                all.push(of(
                    name,
                    (("reduce", rung.variant()), N, lab::usual_wg(scope.target)),
                    x,
                    metric,
                    &[],
                ));
            }
        }
        all
    },
    claims: &[
        Claim::values(
            "By the order of its additions, 10^30 - 10^30 + 1 is",
            &[("", "1e30 - 1e30 + 1")],
        ),
        Claim::values(
            "Sums of the same floats have errors of",
            &[
                ("by one item in several orders", "error, one item"),
                ("is its proved limit", "bound, one item"),
                ("by the rungs of reduce, as trees", "error, rung of reduce"),
                ("are their proved limits", "bound, rung of reduce"),
            ],
        ),
    ],
};

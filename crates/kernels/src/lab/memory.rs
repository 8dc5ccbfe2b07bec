//! Accesses to memory of every kind: in strides, by neighbours, of tables, along a cycle.

use super::*;
use gpulab_model::each_array;
use gpulab_model::plan::WorkGroup;
use std::iter::Sum;
use std::num::Wrapping;

// Walks over every word of an array, in strides or from an offset on, that read or write it.

/// The sum of words that are read, each as often as the rounds say.
pub(super) static GATHERING: Exact = Exact {
    inputs: |shape, params| vec![shape.n as usize / packed(params)],
    ..Exact::of_sum(walk_cost, walk_sum)
};

/// Reads n words of one width, a power of two, each as often as the rounds say.
pub static GATHER: Family = BuiltInFamily {
    name: "gather",
    about: "read every word of an array in strides",
    problem: &GATHERING,
    ladder: const { &ladder([rung("lab/gather/walk.cl", walk, &[STRIDES, OFFSET])]) },
    choices: &[WIDTH, ROUNDS],
    ..READS
}
.family();

/// Writes n words of one width, a power of two.
pub static SCATTER: Family = BuiltInFamily {
    name: "scatter",
    about: "write every word of an array in strides",
    problem: &Exact {
        inputs: |_, _| vec![1],
        result: |shape, params| shape.n as usize / packed(params),
        ..Exact::of_each(Fill::Real, walk_cost, numbered)
    },
    ladder: const { &ladder([rung("lab/scatter/walk.cl", walk, &[STRIDES, OFFSET])]) },
    choices: &[WIDTH, ROUNDS],
    ceiling: Bound::Write,
    ..READS
}
.family();

pub const STRIDES: Tunable = setting("strides", "logarithm of the stride, in words");
pub const OFFSET: Tunable = setting("offset", "words by which every access is moved");
pub const WIDTH: Tunable = setting("width", "bits of a word: 8, 16 or 32");
/// Words of the case's width in one of 32 bits.
fn packed(params: &Params) -> usize {
    match given(params, WIDTH) {
        8 => 4,
        16 => 2,
        _ => 1,
    }
}

fn rounds(case: &Case) -> u64 {
    get(case, ROUNDS).max(1)
}

/// The bytes that are asked for.
fn walk_cost(case: &Case) -> Cost {
    let accesses = (case.shape.n * rounds(case)) as f64;
    Cost {
        bytes: 4.0 / packed(&case.params) as f64 * accesses,
        ops: accesses,
    }
}

fn walk_sum(case: &Case, inputs: &[Array]) -> Array {
    let sum = match packed(&case.params) {
        1 => total(&inputs[0], |word| word),
        2 => total(&inputs[0], |word| (word & 0xffff).wrapping_add(word >> 16)),
        _ => total(&inputs[0], |word| {
            word.to_le_bytes().into_iter().map(u32::from).sum()
        }),
    };
    array([sum.wrapping_mul(rounds(case) as u32)].into_iter())
}

fn numbered(case: &Case, inputs: &[Array]) -> Array {
    let begin = words(&inputs[0]).first().copied().unwrap_or(0);
    let packed = packed(&case.params) as u32;
    let bits = 32 / packed;
    let mask = u32::MAX >> (32 - 32 / packed);
    // The first word is the lowest, as on all devices that OpenCL runs on today.
    par_array(case.shape.n as usize / packed as usize, |at| {
        (0..packed).fold(0, |word, k| {
            let number = begin.wrapping_add((packed * at as u32 + k).wrapping_mul(2_654_435_761));
            word | (number & mask) << (bits * k)
        })
    })
}

/// Accesses that are written out in the kernels.
const UNROLLED: u64 = 8;

fn walk(ask: &Ask<'_>) -> Planned {
    let n = ask.n();
    let packed = packed(&ask.case.params);
    if !n.is_power_of_two() || n < packed as u64 {
        return Err(Refusal::Size(format!(
            "n={n}: a power of two from {packed} on is needed"
        )));
    }
    let walk = Walk::over(ask, n * rounds(ask.case), UNROLLED, AT_ONCE)?;
    let settings = [STRIDES, OFFSET].map(|setting| arg(ask, setting));
    let args: Vec<Arg> = [Arg::Uint(n.ilog2())]
        .into_iter()
        .chain(settings)
        .chain(walk.args())
        .collect();
    let output = if ask.case.family == GATHER.name {
        walk.grid.items()
    } else {
        n as usize / packed
    };
    let word = ["uint", "ushort", "uint", "uchar"][packed - 1];
    let defines = [("WORD", word.to_owned())];
    one_launch(ask, walk.grid, output, &defines, &args, 0)
}

// Reads of neighbouring words in order or permuted within runs of 32, by all items or by some of them.

/// Reads n words, a power of two, but for those of idle items.
pub static NEIGHBOURS: Family = BuiltInFamily {
    name: "neighbours",
    about: "read neighbouring words in order, permuted, or by some items only",
    problem: &Exact::of_sum(neighbours_cost, neighbours_sum),
    ladder: const { &ladder([rung("lab/neighbours/lanes.cl", neighbours, &[FACTOR])]) },
    choices: &[OFFSET, IDLE, ROUNDS],
    ..READS
}
.family();

pub const FACTOR: Tunable = setting("factor", "which permutes 32 neighbouring words; odd");
pub const IDLE: Tunable = setting("idle", "bits of an access's number that leave it out");

/// Neighbouring words among which the kernel permutes.
const RUN: u64 = 32;

/// The bytes that are asked for.
fn neighbours_cost(case: &Case) -> Cost {
    let accesses = (case.shape.n >> get(case, IDLE).count_ones()) as f64;
    Cost {
        bytes: 4.0 * accesses,
        ops: accesses,
    }
}

/// The sum of the words whose accesses are not left out. A permutation changes the items that read them, and so not the sum
/// of all: where some are idle, words stay in order.
fn neighbours_sum(case: &Case, inputs: &[Array]) -> Array {
    let words = words(&inputs[0]);
    let [idle, offset] = [IDLE, OFFSET].map(|setting| get(case, setting) as usize);
    let read = (0..words.len()).filter(|access| access & idle == 0);
    array(
        [read.fold(0u32, |sum, access| {
            sum.wrapping_add(words[(access + offset) % words.len()])
        })]
        .into_iter(),
    )
}

fn neighbours(ask: &Ask<'_>) -> Planned {
    let [n, factor, idle] = [ask.n(), get(ask.case, FACTOR), get(ask.case, IDLE)];
    if !n.is_power_of_two() || n < RUN {
        return Err(Refusal::Size(format!(
            "n={n}: a power of two from {RUN} on is needed"
        )));
    }
    if factor.is_multiple_of(2) || (factor != 1 && idle != 0) {
        let why = format!(
            "factor={factor} idle={idle}: an odd factor is needed, and 1 where items are idle"
        );
        return Err(Refusal::Setting(why));
    }
    let walk = Walk::over(ask, n, UNROLLED, AT_ONCE)?;
    let settings = [FACTOR, IDLE, OFFSET].map(|setting| arg(ask, setting));
    let args: Vec<Arg> = [Arg::Uint((n - 1) as u32)]
        .into_iter()
        .chain(settings)
        .collect();
    walk.plan(ask, &[], &args)
}

// Reads of local memory by neighbouring items, some words apart, at one word, or at random.

/// n items that read a table in local memory.
pub static BANKS: Family = BuiltInFamily {
    name: "banks",
    about: "read local memory in strides",
    problem: &Exact {
        inputs: |_, _| vec![MOST_WORDS + READ_AT_ONCE],
        ..Exact::of_each(Fill::Real, table_cost, banks_answer)
    },
    ladder: const { &ladder([rung("lab/banks/strided.cl", banks, &[])]) },
    choices: &[STRIDE, SCRAMBLE, ROUNDS],
    dtypes: &[Dtype::I32, Dtype::I64],
    ..READS
}
.family();

pub const STRIDE: Tunable = setting(
    "stride",
    "words between the places of two neighbouring items",
);
pub const SCRAMBLE: Tunable = setting("scramble", "whether places are a permutation without order");

/// Words of 4 bytes in the table, and those that an item reads in a round, as in the kernel.
const MOST_WORDS: usize = 2048;
const READ_AT_ONCE: usize = 8;

fn table_cost(case: &Case) -> Cost {
    let reads = (case.shape.n * get(case, ROUNDS)) as f64 * READ_AT_ONCE as f64;
    Cost {
        bytes: reads * case.dtype.size() as f64,
        ops: reads,
    }
}

/// Words of a place's range: as many bytes of either width.
fn table_words(dtype: Dtype) -> usize {
    MOST_WORDS * 4 / dtype.size()
}

/// As in the kernel.
fn scrambled(i: usize) -> usize {
    let i = (i * 167 + 13) & 255;
    let i = i ^ i >> 4;
    let i = (i * 89 + 7) & 255;
    i ^ i >> 3
}

fn banks_answer(case: &Case, inputs: &[Array]) -> Array {
    let get = |setting| get(case, setting) as usize;
    let stride = get(STRIDE);
    let rounds = get(ROUNDS);
    let last = table_words(case.dtype) - 1;
    let first = |item: usize| {
        if get(SCRAMBLE) == 1 {
            scrambled(item & 255)
        } else {
            item * stride
        }
    };
    let places = |item: usize| (0..rounds).map(move |round| (first(item) + 17 * round) & last);
    let group: Vec<Vec<usize>> = (0..case.wg.size())
        .map(|item| places(item).collect())
        .collect();
    let items = case.shape.n as usize;
    match &inputs[0] {
        Array::I32(x) => Array::I32(sums(x, &group, items)),
        Array::I64(x) => Array::I64(sums(x, &group, items)),
        floats => Array::zeros(floats.dtype(), each_array!(floats, v => v.len())),
    }
}

/// What items add up of the words at their group's places, several from each place on.
fn sums<T: Copy>(words: &[T], group: &[Vec<usize>], items: usize) -> Vec<T>
where
    Wrapping<T>: Sum,
{
    let sum = |places: &Vec<usize>| {
        let read = places.iter().flat_map(|&at| &words[at..at + READ_AT_ONCE]);
        read.map(|&word| Wrapping(word)).sum::<Wrapping<T>>().0
    };
    let sums: Vec<T> = group.iter().map(sum).collect();
    (0..items).map(|id| sums[id % sums.len()]).collect()
}

fn banks(ask: &Ask<'_>) -> Planned {
    let table_words = table_words(ask.case.dtype);
    let local = ((table_words + READ_AT_ONCE) * ask.case.dtype.size()) as u64;
    let args = [ROUNDS, STRIDE, SCRAMBLE].map(|setting| arg(ask, setting));
    of_each_item(ask, &[("WORDS", table_words.to_string())], &args, local)
}

// Reads of a small table in constant or global memory, by neighbouring items at one address or at several.

/// n items that read a table.
pub static CONSTANT: Family = BuiltInFamily {
    name: "constant",
    about: "read a small table in constant or global memory",
    problem: &Exact {
        inputs: |_, _| vec![TABLE + READ_AT_ONCE],
        ..Exact::of_each(Fill::Real, table_cost, constant_answer)
    },
    ladder: const {
        &ladder([
            rung("lab/constant/table.cl", table, &[GLOBAL]),
            rung("lab/constant/program.cl", program, &[]),
        ])
    },
    choices: &[PLACES, PROGRAM, ROUNDS],
    ..READS
}
.family();

pub const PLACES: Tunable = setting("places", "different addresses that neighbouring items read");
pub const GLOBAL: Tunable = setting("global", "whether the table is in global memory");
pub const PROGRAM: Tunable = setting(
    "program",
    "whether the table stands in the program, as the second rung's does",
);

/// Where the table is: in memory of either kind that is an argument, or in the program itself.
pub const IN_CONSTANT: &str = "__constant";
pub const IN_PROGRAM: &str = "__constant in program";
pub const IN_GLOBAL: &str = "__global";

/// Words of the table, and those that an item reads in a round, as in the kernel.
const TABLE: usize = 1024;

fn constant_answer(case: &Case, inputs: &[Array]) -> Array {
    let get = |setting| get(case, setting) as usize;
    let table = if get(PROGRAM) == 1 {
        words_of_program()
    } else {
        words(&inputs[0])
    };
    let read = |at: usize| {
        table[at & (TABLE - 1)..][..READ_AT_ONCE]
            .iter()
            .fold(0u32, |a, &b| a.wrapping_add(b))
    };
    let item = |item: usize| {
        (0..get(ROUNDS))
            .map(|round| read(33 * item + 17 * round))
            .fold(0, u32::wrapping_add)
    };
    let kinds: Vec<u32> = (0..get(PLACES)).map(item).collect();
    let wg = case.wg.size();
    array((0..case.shape.n as usize).map(|id| kinds[id % wg % kinds.len()]))
}

/// The table of the program, as its file says.
fn words_of_program() -> Vec<u32> {
    (0..(TABLE + READ_AT_ONCE) as u32)
        .map(|i| i.wrapping_mul(2_654_435_761) ^ (i * i) << 9)
        .collect()
}

fn table(ask: &Ask<'_>) -> Planned {
    let is_global = get(ask.case, GLOBAL) == 1;
    constant(
        ask,
        &[(
            "SPACE",
            if is_global { IN_GLOBAL } else { IN_CONSTANT }.to_owned(),
        )],
    )
}

fn program(ask: &Ask<'_>) -> Planned {
    match get(ask.case, PROGRAM) {
        1 => constant(ask, &[]),
        other => Err(Refusal::Setting(format!(
            "program={other}: 1 is needed, as the table stands in the program"
        ))),
    }
}

fn constant(ask: &Ask<'_>, defines: &[(&str, String)]) -> Planned {
    of_each_item(
        ask,
        defines,
        &[ROUNDS, PLACES].map(|setting| arg(ask, setting)),
        0,
    )
}

// Loads that wait for each other: a chase along a random cycle of addresses, in global or local memory.

/// A chase over n nodes, a power of two.
pub static CHASE: Family = BuiltInFamily {
    name: "chase",
    about: "follow a random cycle of addresses",
    problem: &Exact {
        inputs: |_, _| vec![1],
        result: |_, _| 2,
        ..Exact::of_each(
            Fill::Real,
            |case| Cost {
                bytes: 4.0 * loads(case) as f64,
                ops: loads(case) as f64,
            },
            chase_answer,
        )
    },
    ladder: const {
        &ladder([
            rung("lab/chase/global.cl", global, &[]),
            rung("lab/chase/local.cl", local, &[]),
        ])
    },
    choices: &[DEPENDENT, ROUNDS],
    ..READS
}
.family();

pub const DEPENDENT: Tunable = setting(
    "dependent",
    "whether a load's address comes from the load before it",
);

/// Loads of a round, as in the kernels.
pub const LOADS: u64 = 16;
/// The logarithm of the words from one node in global memory to the next, as in the kernel: 128 bytes.
pub const LINE: u32 = 5;
/// Most nodes: their words have numbers of 32 bits.
const MOST_NODES: u64 = 1 << (31 - LINE);

/// As in the kernels.
const MIX: u32 = 2_654_435_761;
const UNMIX: u32 = 244_002_641;

/// One-to-one on the numbers below `1 << bits`.
fn place(i: u32, bits: u32) -> u32 {
    (0..3).fold(i, |i, _| {
        let mixed = i.wrapping_mul(MIX) & ((1 << bits) - 1);
        mixed ^ mixed >> bits.div_ceil(2)
    })
}

/// Undoes [`place`].
fn number(node: u32, bits: u32) -> u32 {
    (0..3).fold(node, |node, _| {
        (node ^ node >> bits.div_ceil(2)).wrapping_mul(UNMIX) & ((1 << bits) - 1)
    })
}

fn loads(case: &Case) -> u64 {
    LOADS * get(case, ROUNDS)
}

/// A sum of the words that loads find, in which their order counts, and the one where the chase ends. A node is a word in
/// local memory, and a line in global memory.
fn chase_answer(case: &Case, inputs: &[Array]) -> Array {
    let bits = case.shape.n.max(1).ilog2();
    let last = (1u32 << bits) - 1;
    let start = words(&inputs[0]).first().copied().unwrap_or(0);
    let line = if case.variant == "global" { LINE } else { 0 };
    let is_dependent = get(case, DEPENDENT) == 1;
    let (sum, node) =
        (0..loads(case)).fold((start, place(start & last, bits)), |(sum, node), _| {
            let found = place((number(node, bits) + 1) & last, bits);
            let next = if is_dependent {
                found
            } else {
                node.wrapping_add(MIX) & last
            };
            (sum.wrapping_mul(5).wrapping_add(found << line), next)
        });
    array([sum, node << line].into_iter())
}

/// The logarithm of the nodes.
fn bits(ask: &Ask<'_>) -> Result<u32, Refusal> {
    let n = ask.n();
    match n.is_power_of_two() && (2..=MOST_NODES).contains(&n) {
        true => Ok(n.ilog2()),
        false => Err(Refusal::Size(format!(
            "n={n}: a power of two from 2 to {MOST_NODES} is needed"
        ))),
    }
}

fn global(ask: &Ask<'_>) -> Planned {
    let bits = bits(ask)?;
    let wg = ask.case.wg;
    if wg.size() != 1 {
        return Err(Refusal::Group(format!(
            "work-group {wg}: one item chases, so a group of 1 is needed"
        )));
    }
    let one = Grid { groups: 1, wg: 1 };
    let nodes = ask.n();
    let mut plan = Builder::linear(ask, shape::wrapping(ask.case.dtype), one);
    plan.note_all();
    plan.define("DEPENDENT", get(ask.case, DEPENDENT));
    let out = plan.output(2);
    let next = plan.scratch((nodes as usize) << LINE);
    let linking = (1u64 << ask.target.max_wg.ilog2()).min(64).min(nodes);
    let link = format!("{}_link", ask.rung.kernel());
    plan.prepare(
        &link,
        [nodes / linking, 1, 1],
        WorkGroup::linear(linking as usize),
        vec![next, Arg::Uint(bits)],
    );
    let args = [out, next, Arg::Uint(bits), arg(ask, ROUNDS)];
    plan.pass(one, plan.args(args));
    Ok(plan.plan_with(0, 0))
}

fn local(ask: &Ask<'_>) -> Planned {
    let bits = bits(ask)?;
    let bytes = 4u64 << bits;
    let grid = Grid {
        groups: 1,
        wg: ask.case.wg.size(),
    };
    let defines = [("DEPENDENT", get(ask.case, DEPENDENT).to_string())];
    let args = [
        Arg::Local(bytes as usize),
        Arg::Uint(bits),
        arg(ask, ROUNDS),
    ];
    one_launch(ask, grid, 2, &defines, &args, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(family: &Family, settings: &[(&Tunable, u64)]) -> Case {
        let params = settings
            .iter()
            .map(|(setting, value)| (setting.name.to_owned(), value.to_string()))
            .collect();
        Case {
            params,
            ..Case::of(&family.name, "walk", Dtype::I32, Shape::vector(64))
        }
    }

    #[test]
    fn narrow_words_are_packed_and_added_one_by_one() {
        let input = [Array::I32((0..16).map(|i| 0x0403_0201 + i).collect())];
        let sum = |width| words(&walk_sum(&case(&GATHER, &[(&WIDTH, width)]), &input))[0];
        assert_eq!(sum(8), 16 * 10 + 120);
        assert_eq!(sum(16), 16 * (0x0403 + 0x0201) + 120);
        assert_eq!(sum(32), 0x4030_2010 + 120);
        let written = |width| {
            words(&numbered(
                &case(&SCATTER, &[(&WIDTH, width)]),
                &[Array::I32(vec![1])],
            ))
        };
        let bytes = written(8);
        let wide = written(32);
        assert_eq!((bytes.len(), wide.len()), (16, 64));
        let byte = |i: usize| bytes[i / 4] >> (8 * (i % 4)) & 0xff;
        assert!((0..64).all(|i| byte(i) == wide[i] & 0xff));
        assert_eq!(walk_cost(&case(&GATHER, &[(&WIDTH, 16)])).bytes, 128.0);
    }

    #[test]
    fn idle_items_leave_their_words_out() {
        let case = |idle: u64, offset: u64| {
            let settings = [(&IDLE, idle), (&OFFSET, offset)];
            let params = settings
                .iter()
                .map(|(setting, value)| (setting.name.to_owned(), value.to_string()))
                .collect();
            Case {
                params,
                ..Case::of(&NEIGHBOURS.name, "lanes", Dtype::I32, Shape::vector(64))
            }
        };
        let input = [Array::I32((0..64).collect())];
        let sum = |idle, offset| words(&neighbours_sum(&case(idle, offset), &input))[0];
        let even: u32 = (0..64).step_by(2).sum();
        assert_eq!(
            (sum(0, 0), sum(0, 7), sum(1, 0), sum(1, 1)),
            (2016, 2016, even, even + 32)
        );
        assert_eq!(
            (
                neighbours_cost(&case(0, 0)).bytes,
                neighbours_cost(&case(1, 0)).bytes
            ),
            (256.0, 128.0)
        );
    }

    #[test]
    fn permutations_are_ones() {
        let mut all: Vec<usize> = (0..256).map(scrambled).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..256));
    }

    #[test]
    fn the_cycle_has_every_node_and_both_functions_undo_each_other() {
        for bits in [1, 2, 5, 10, 13] {
            let nodes = 1u32 << bits;
            let mut places: Vec<u32> = (0..nodes).map(|i| place(i, bits)).collect();
            assert!(
                (0..nodes).all(|i| number(place(i, bits), bits) == i),
                "{bits}"
            );
            places.sort_unstable();
            assert!(places.into_iter().eq(0..nodes), "{bits}");
        }
    }

    #[test]
    fn neighbours_in_the_cycle_lie_apart() {
        let distance = |i: u32| place(i, 12).abs_diff(place(i + 1, 12));
        let mut distances: Vec<u32> = (0..4095).map(distance).collect();
        distances.sort_unstable();
        distances.dedup();
        // A prefetcher follows a distance that comes back; at random, 4095 distances have about 2300 values.
        assert!(distances.len() > 1500, "{}", distances.len());
    }
}

//! Probes of memory: global memory that is read, written and copied, and local memory.

use crate::prelude::*;
use crate::{APART, Changed, lab};
use gpulab_model::plan::{Movement, REPEATS, Target};
use rayon::prelude::*;

/// Reads `n` 32-bit words, a multiple of 64.
pub static READ: Family = BuiltInFamily {
    name: "read",
    about: "read global memory as fast as possible",
    problem: &Read,
    ladder: const {
        &ladder([
            rung("probes/read/strided.cl", read_strided, &[LOADS, WAVES, VEC]),
            rung("probes/read/wide.cl", read_wide, &[CHUNKS]),
        ])
    },
    choices: &[INSIDE],
    ..lab::READS
}
.family();

/// Writes `n` 32-bit words, a multiple of 64.
pub static WRITE: Family = BuiltInFamily {
    name: "write",
    about: "write global memory as fast as possible",
    problem: &WORDS,
    ladder: const {
        &ladder([
            rung("probes/write/vectors.cl", vectors, &[LOADS, WAVES]),
            rung("probes/write/wide.cl", chunks, &[CHUNKS, STREAM]),
        ])
    },
    choices: &[INSIDE],
    ceiling: Bound::Write,
    ..lab::READS
}
.family();

/// Copies `n` 32-bit words, a multiple of 64.
pub static COPY: Family = BuiltInFamily {
    name: "copy",
    about: "copy global memory as fast as possible",
    problem: &Copy,
    ladder: const {
        &ladder([
            rung("probes/copy/vectors.cl", vectors, &[LOADS, WAVES]),
            rung("probes/copy/wide.cl", chunks, &[CHUNKS, STREAM]),
        ])
    },
    choices: &[INSIDE],
    ceiling: Bound::Copy,
    ..lab::READS
}
.family();

const INSIDE: Tunable = Tunable::number(
    REPEATS,
    "times that the work is repeated inside the kernel",
    (1, u32::MAX as u64),
    "1",
);
const LOADS: Tunable = Tunable::number(
    "loads",
    "independent accesses of a work-item",
    (1, 64),
    "4 1 2 8",
);
const WAVES: Tunable = Tunable::choice(
    "waves",
    "groups: all that the accesses make, or so many times what fills a GPU's compute units",
    "all 1 2 4 8",
);
pub const VEC: Tunable = Tunable::choice("vec", "words of a load", "4 1");
const CHUNKS: Tunable = Tunable::number(
    "chunks",
    "contiguous chunks for a compute unit",
    (1, 1 << 20),
    "16 1 4 64",
);
const STREAM: Tunable = Tunable::switch("stream", "whether words are written past the cache");

/// How often the work is repeated inside the kernel.
fn repeats(params: &Params) -> u64 {
    params
        .get(REPEATS)
        .and_then(|times| times.parse().ok())
        .unwrap_or(1)
        .max(1)
}

/// The wrapping sum of what is read, as often as it is read: from global or from local memory.
struct Read;
struct Copy;

/// Arrays that the repetitions work on.
fn arrays(params: &Params) -> u64 {
    if params.contains_key(APART) {
        repeats(params)
    } else {
        1
    }
}

/// The cost of so many accesses and operations for each word and repetition.
fn cost(case: &Case, accesses: f64, ops: f64) -> Cost {
    let n = (case.shape.n * repeats(&case.params)) as f64;
    Cost {
        bytes: accesses * n * case.dtype.size() as f64,
        ops: ops * n,
    }
}

/// Of a kernel that repeats its work, the same work over a small array for each repetition.
fn array_for_each(case: &Case, plan: &Plan) -> Vec<Case> {
    /// Words of all the arrays together, about.
    const WORDS: u64 = 1 << 20;
    let times = repeats(&case.params);
    if times < 2 {
        return Vec::new();
    }
    let words = (WORDS / times / 64 * 64).max(64).min(case.shape.n);
    vec![Case {
        shape: Shape::vector(words),
        ..with_setting(case, plan, APART, 1)
    }]
}

impl Problem for Read {
    fn inputs(&self, shape: Shape, params: &Params) -> Vec<usize> {
        vec![(shape.n * arrays(params)) as usize]
    }

    fn companions(&self, case: &Case, plan: &Plan) -> Vec<Case> {
        if case.family == READ.name {
            array_for_each(case, plan)
        } else {
            Vec::new()
        }
    }

    fn cost(&self, case: &Case) -> Cost {
        cost(case, 1.0, 1.0)
    }

    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference {
        repeated_sum(case, inputs)
    }

    /// Each word counts as often as it is read.
    fn amended(
        &self,
        case: &Case,
        inputs: &[Array],
        changes: &[Changed],
        before: &Reference,
    ) -> Reference {
        let times = (repeats(&case.params) / arrays(&case.params)) as i32;
        let Reference::Exact(Array::I32(sum)) = before else {
            return self.reference(case, inputs);
        };
        let sum = changes.iter().fold(sum[0], |sum, changed| {
            match (&changed.old, &changed.change.value) {
                (Array::I32(old), Array::I32(new)) => {
                    sum.wrapping_add(new[0].wrapping_sub(old[0]).wrapping_mul(times))
                }
                _ => sum,
            }
        });
        Reference::Exact(Array::I32(vec![sum]))
    }

    fn finish(&self, _: &Case, output: Array, _: &[Array]) -> Array {
        cpu::wrapping_sum(&output)
    }
}

/// The wrapping sum of the input, as often as the kernel reads it.
fn repeated_sum(case: &Case, inputs: &[Array]) -> Reference {
    let times = (repeats(&case.params) / arrays(&case.params)) as i32;
    let exact = match cpu::wrapping_sum(&inputs[0]) {
        Array::I32(sums) => Array::I32(sums.iter().map(|sum| sum.wrapping_mul(times)).collect()),
        other => other,
    };
    Reference::Exact(exact)
}

static WORDS: Exact = Exact {
    inputs: |_, _| Vec::new(),
    result: |shape, params| (shape.n * arrays(params)) as usize,
    companions: array_for_each,
    ..Exact::of_each(Fill::Real, |case| cost(case, 1.0, 0.0), answer)
};

/// Each word's place, and the number of the last turn over it.
fn answer(case: &Case, _: &[Array]) -> Array {
    let n = case.shape.n as u32;
    let arrays = arrays(&case.params);
    let times = repeats(&case.params) as u32;
    let mut words = vec![0; arrays as usize * n as usize];
    let wholes = (0..).zip(words.chunks_mut((n as usize).max(1)));
    wholes.for_each(|(array, words)| {
        let more = if arrays > 1 { array } else { times - 1 };
        words
            .par_iter_mut()
            .enumerate()
            .for_each(|(i, number)| *number = (i as u32).wrapping_add(more).cast_signed());
    });
    Array::I32(words)
}

impl Problem for Copy {
    fn inputs(&self, shape: Shape, params: &Params) -> Vec<usize> {
        vec![(shape.n * arrays(params)) as usize]
    }

    fn companions(&self, case: &Case, plan: &Plan) -> Vec<Case> {
        array_for_each(case, plan)
    }

    fn fill(&self, _: &Case) -> Fill {
        Fill::Bits
    }

    fn cost(&self, case: &Case) -> Cost {
        cost(case, 2.0, 0.0)
    }

    fn reference(&self, _: &Case, inputs: &[Array]) -> Reference {
        Reference::Exact(inputs[0].clone())
    }

    fn movement(&self, case: &Case) -> Option<Movement> {
        Some(Movement::copy(
            (case.shape.n * arrays(&case.params)) as usize,
        ))
    }
}

/// The accesses of an item at a time, and the groups that make them, unless they were asked for.
fn strided(
    ask: &Ask<'_>,
    loads: u64,
    vec: u64,
    fill: fn(&Target, usize, u64) -> Grid,
) -> Result<(u64, Grid), Refusal> {
    shape::check_wg(ask.case.wg, ask.target)?;
    let params = &ask.case.params;
    let wg = ask.case.wg.size();
    let loads = LOADS.get(params)?.unwrap_or(loads);
    let units = u64::from(ask.target.compute_units.max(1));
    let items = (ask.n() / vec).div_ceil(loads);
    let all = Grid::covering(wg, items);
    let grid = match WAVES.given(params)? {
        None => fill(ask.target, wg, items),
        Some("all") => all,
        Some(waves) => {
            let groups = waves.parse().unwrap_or(1) * units * (2048 / wg as u64).max(1);
            Grid {
                groups: all.groups.min(groups as usize),
                wg,
            }
        }
    };
    Ok((loads, grid))
}

/// Groups of one item, and the length of each one's chunk.
fn wide(ask: &Ask<'_>) -> Result<(u64, Grid), Refusal> {
    let n = ask.n();
    let Some(chunks) = CHUNKS.get(&ask.case.params)? else {
        let (grid, chunk) = shape::chunks(ask.target, n);
        return Ok((chunk, grid));
    };
    let chunk = n
        .div_ceil(chunks * u64::from(ask.target.compute_units.max(1)))
        .next_multiple_of(64);
    Ok((
        chunk,
        Grid {
            groups: n.div_ceil(chunk).max(1) as usize,
            wg: 1,
        },
    ))
}

fn read_strided(ask: &Ask<'_>) -> Planned {
    let vec = VEC.get(&ask.case.params)?.unwrap_or(4);
    let (loads, grid) = strided(ask, 4, vec, Grid::filling)?;
    Ok(plan(
        ask,
        grid.groups,
        grid,
        &[("LOADS", loads), ("VEC", vec)],
        &[ask.n()],
        vec,
    ))
}

fn read_wide(ask: &Ask<'_>) -> Planned {
    let (chunk, grid) = wide(ask)?;
    Ok(plan(ask, grid.items(), grid, &[], &[chunk, ask.n()], 1))
}

/// Rungs whose items write, or copy, one vector after the other.
fn vectors(ask: &Ask<'_>) -> Planned {
    let (loads, grid) = strided(ask, 1, 4, |_, wg, items| Grid::covering(wg, items))?;
    Ok(plan(
        ask,
        written(ask),
        grid,
        &[("LOADS", loads)],
        &[ask.n() / 4],
        4,
    ))
}

/// Rungs whose items write, or copy, a chunk each.
fn chunks(ask: &Ask<'_>) -> Planned {
    let (chunk, grid) = wide(ask)?;
    Ok(plan(
        ask,
        written(ask),
        grid,
        &stream(ask)?,
        &[chunk, ask.n()],
        16,
    ))
}

fn stream(ask: &Ask<'_>) -> Result<Vec<(&'static str, u64)>, Refusal> {
    Ok(match STREAM.is_on(&ask.case.params)? {
        Some(true) => vec![("STREAM", 1)],
        _ => Vec::new(),
    })
}

/// Words that a case writes.
fn written(ask: &Ask<'_>) -> usize {
    (ask.n() * arrays(&ask.case.params)) as usize
}

/// One pass from the input, if there is one, to an output of `len` words. After `sizes` come the repeats, and a shift of the
/// array from one to the next, in so many words: 0 unless each has an array of its own.
fn plan(
    ask: &Ask<'_>,
    len: usize,
    grid: Grid,
    more: &[(&str, u64)],
    sizes: &[u64],
    unit: u64,
) -> Plan {
    let Case { shape, params, .. } = ask.case;
    let mut plan = Builder::linear(ask, shape::wrapping(Dtype::I32), grid);
    plan.note_all();
    more.iter()
        .for_each(|(name, value)| plan.define(name, value));
    let output = plan.output(len);
    let shift = if arrays(params) > 1 {
        shape.n / unit
    } else {
        0
    };
    let numbers = [Arg::Uint(repeats(params) as u32), Arg::Uint(shift as u32)];
    let sizes = sizes.iter().copied().map(Arg::Index);
    let args = plan.args([output].into_iter().chain(sizes).chain(numbers));
    plan.pass(grid, args);
    plan.plan(0, 0)
}

/// Reads `n` 32-bit words through local memory: each group its own, as often as `nreps` says.
pub static LOCAL: Family = BuiltInFamily {
    name: "local",
    about: "read local memory as fast as possible",
    problem: &Read,
    ladder: const {
        &ladder([rung(
            "probes/local/vectors.cl",
            local_vectors,
            &[LOCAL_VEC, LOADS],
        )])
    },
    choices: &[INSIDE],
    ceiling: Bound::Local,
    ..lab::READS
}
.family();

/// Adds 1 to some words of global memory, or of each group's local memory, `n` times in all.
pub static ATOMICS: Family = BuiltInFamily {
    name: "atomics",
    about: "add to a few words of global or local memory",
    problem: &Exact {
        inputs: |_, _| Vec::new(),
        ..Exact::of_sum(crate::read_once, |case, _| {
            lab::array([case.shape.n as u32].into_iter())
        })
    },
    ladder: const {
        &ladder([
            rung("probes/atomics/words.cl", atomics, &[]),
            rung("probes/atomics/local.cl", local_atomics, &[]),
        ])
    },
    choices: &[ADDED_TO],
    ..lab::READS
}
.family();

/// Words that are added to.
pub const ADDED_TO: Tunable = Tunable::number(
    "words",
    "words that are added to; at most 2^20, and a power of two",
    (1, 1 << 20),
    "1 256",
);

fn added_to(params: &Params) -> usize {
    lab::given(params, ADDED_TO).max(1).next_power_of_two() as usize
}

/// So many items that each has some of the additions.
fn adding(ask: &Ask<'_>, each: u64) -> Result<Grid, Refusal> {
    match u32::try_from(ask.n()) {
        Ok(_) => Ok(Grid::covering(ask.case.wg.size(), ask.n() / each)),
        Err(_) => Err(Refusal::Size(format!(
            "n = {}: below 2^32 is needed",
            ask.n()
        ))),
    }
}

fn atomics(ask: &Ask<'_>) -> Planned {
    /// Additions of an item.
    const EACH: u64 = 16;
    shape::check_wg(ask.case.wg, ask.target)?;
    let words = added_to(&ask.case.params);
    let grid = adding(ask, EACH)?;
    let mut plan = Builder::linear(ask, shape::wrapping(Dtype::I32), grid);
    plan.note_all();
    let out = plan.output(words);
    let [words, n] = [words as u64, ask.n()].map(|number| Arg::Uint(number as u32));
    plan.pass_of("atomics_clear", grid, vec![out, words]);
    plan.pass(grid, vec![out, words, n]);
    Ok(plan.plan_with(0, 0))
}

fn local_atomics(ask: &Ask<'_>) -> Planned {
    /// Additions of an item.
    const EACH: u64 = 64;
    let words = added_to(&ask.case.params);
    let grid = adding(ask, EACH)?;
    let defines = [("WORDS", words.to_string())];
    let n = [Arg::Uint(ask.n() as u32)];
    lab::one_launch(
        ask,
        grid,
        grid.groups * words,
        &defines,
        &n,
        4 * words as u64,
    )
}

const LOCAL_VEC: Tunable = Tunable::choice("vec", "words of a load", "4 1 2 8 16");

fn local_vectors(ask: &Ask<'_>) -> Planned {
    shape::check_wg(ask.case.wg, ask.target)?;
    let Case { params, shape, .. } = ask.case;
    let wg = ask.case.wg.size();
    let vec = LOCAL_VEC.get(params)?.unwrap_or(4) as usize;
    let loads = LOADS.get(params)?.unwrap_or(1) as usize;
    let n = shape.n as usize;
    let tile = wg * loads * vec;
    if !n.is_multiple_of(tile) {
        return Err(Refusal::Size(format!(
            "n = {n}: a multiple of a group's {tile} words is needed"
        )));
    }
    let grid = Grid {
        groups: n / tile,
        wg,
    };
    let mut plan = Builder::linear(ask, shape::wrapping(Dtype::I32), grid);
    plan.note_all();
    plan.define("VEC", vec);
    plan.define("LOADS", loads);
    let output = plan.output(n / loads);
    let args = plan.args([output, Arg::Uint(repeats(params) as u32), Arg::Uint(0)]);
    plan.pass(grid, args);
    Ok(plan.plan(tile as u64, 0))
}

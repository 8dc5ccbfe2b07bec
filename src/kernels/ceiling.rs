//! The probes that measure what a device can do at best: shapes of reading, of copying, and of sums with a minimum.
//!
//! They are families like any other, so the same runner checks and times them; they are not in the list
//! that users see.

use super::shape::{self, Grid};
use super::*;
use crate::{cpu, rung};

/// Reads `n` 32-bit words, a multiple of 64.
pub const READ: Family = Family {
    name: "read",
    about: "read global memory as fast as possible",
    form: Form::Vector,
    references: &[],
    problem: &Read,
    ladder: &[rung!("read/v1_strided", read_strided, &[]), rung!("read/v2_wide", read_wide, &[])],
    choices: &[],
    dtypes: &[Dtype::I32],
    ceiling: Bound::Read,
};

/// Copies `n` 32-bit words, a multiple of 64.
pub const COPY: Family = Family {
    name: "copy",
    about: "copy global memory as fast as possible",
    form: Form::Vector,
    references: &[],
    problem: &Copy,
    ladder: &[rung!("copy/v1_vectors", copy_vectors, &[]), rung!("copy/v2_wide", copy_wide, &[])],
    choices: &[],
    dtypes: &[Dtype::I32],
    ceiling: Bound::Copy,
};

/// Lowers registers by sums: [`PAIRS`] additions, each with a minimum, in each of `n` lanes.
pub const ADD_MIN: Family = Family {
    name: "addmin",
    about: "additions, each with a minimum, as fast as possible",
    form: Form::Vector,
    references: &[],
    problem: &AddMin,
    ladder: &[rung!("addmin/v1_two_way", add_min_items, &[]), rung!("addmin/v2_three_way", add_min_items, &[TOGETHER])],
    choices: &[REGISTERS],
    dtypes: &[Dtype::F32, Dtype::I32, Dtype::F64],
    ceiling: Bound::AddMin,
};

/// As [`ADD_MIN`], in the vectors of CPU devices: `n` lanes.
pub const LANES: Family = Family {
    name: "lanes",
    about: "additions in vectors, each with a minimum, as fast as possible",
    form: Form::Vector,
    references: &[],
    problem: &Lanes,
    ladder: &[rung!("lanes/v1_fed", lanes_fed, &[ORDERED])],
    choices: &[VECTORS],
    dtypes: &[Dtype::F32, Dtype::I32, Dtype::F64],
    ceiling: Bound::AddMin,
};

/// All probes, in the order in which they run.
pub const PROBES: &[&Family] = &[&READ, &COPY, &ADD_MIN, &LANES];

/// Sums of a lane in [`ADD_MIN`], a multiple of every number of registers, and about that in [`LANES`].
const PAIRS: u64 = 3 << 15;

const REGISTERS: Tunable = Tunable {
    name: "registers",
    about: "registers that are lowered, rows x columns",
    values: &["1x32", "2x24", "4x12", "4x16", "8x8"],
};
const TOGETHER: Tunable = Tunable {
    name: "together",
    about: "whether all rows advance before the first is added to: compilers give them other registers then",
    values: &["0", "1"],
};
const VECTORS: Tunable = Tunable {
    name: "vectors",
    about: "vectors that are lowered, rows x vectors of a row",
    values: &["4x2", "6x2", "8x2", "12x2"],
};
const ORDERED: Tunable = Tunable {
    name: "ordered",
    about: "whether floats are compared as the integers with their bits",
    values: &["0", "1"],
};

/// The cases that find the limit which a bound names for elements of this type: the best of them is the ceiling.
pub fn cases(bound: Bound, dtype: Dtype, target: &Target, seed: u64) -> Vec<Case> {
    let probes = PROBES.iter().filter(|family| family.ceiling == bound);
    let rungs = probes.flat_map(|family| family.ladder.iter().map(move |rung| (family, rung)));
    let case = |family: &Family, rung: &Rung, wg: usize, params: Params| Case {
        family: family.name.into(),
        variant: rung.variant().into(),
        dtype: if bound.is_memory() { Dtype::I32 } else { dtype },
        shape: Shape::vector(if bound.is_memory() { elements(target) } else { lanes(target) }),
        wg: WorkGroup::linear(target.max_wg.min(wg)),
        params,
        seed,
    };
    let of_rung = |(family, rung): (&&Family, &Rung)| -> Vec<Case> {
        // Arithmetic needs the device's own shape; of memory the other one may be as fast.
        let suits = bound.is_memory() || (family.name == LANES.name) != target.gpu;
        let params = if suits { combinations(family, rung) } else { Vec::new() };
        // More registers may fit an item of a smaller group.
        let wgs: &[usize] = if family.name == ADD_MIN.name { &[128, 256] } else { &[256] };
        let settings = params.into_iter().flat_map(|params| wgs.iter().map(move |&wg| (wg, params.clone())));
        settings.map(|(wg, params)| case(family, rung, wg, params)).collect()
    };
    rungs.flat_map(of_rung).collect()
}

/// Every combination of a probe's settings.
fn combinations(family: &Family, rung: &Rung) -> Vec<Params> {
    let mut all = vec![Params::new()];
    for tunable in family.choices.iter().chain(rung.tunables) {
        let with = |params: &Params, value: &str| {
            let mut params = params.clone();
            params.insert(tunable.name.to_owned(), value.to_owned());
            params
        };
        all = all.iter().flat_map(|params| tunable.values.iter().map(move |v| with(params, v))).collect();
    }
    all
}

/// Lanes that keep a device's arithmetic units busy for a while.
fn lanes(target: &Target) -> u64 {
    u64::from(target.compute_units.max(1)) * if target.gpu { 4096 } else { 1024 }
}

/// How many words to probe a device's memory with: several times any cache, within its memory.
fn elements(target: &Target) -> u64 {
    // A GPU's driver may report a part of its last-level cache; 1 GiB is beyond all of them.
    let wanted = if target.gpu { 1 << 30 } else { (4 * target.cache).clamp(64 << 20, 1 << 30) };
    let bytes = wanted.min(target.max_alloc).min(target.global_mem / 8);
    (bytes / 4 / 64).max(1) * 64
}

struct Read;
struct Copy;
struct AddMin;
struct Lanes;

impl Problem for Read {
    fn inputs(&self, shape: Shape, _: &Params) -> Vec<usize> {
        vec![shape.n as usize]
    }

    fn exact_fill(&self, _: &Case) -> Fill {
        Fill::Exact(64)
    }

    fn cost(&self, case: &Case) -> Cost {
        Cost { bytes: case.shape.n as f64 * case.dtype.size() as f64, ops: case.shape.n as f64 }
    }

    fn reference(&self, _: &Case, inputs: &[Array]) -> Reference {
        Reference { value: 0.0, magnitude: 0.0, exact: Some(cpu::wrapping_sum(&inputs[0])) }
    }

    fn finish(&self, _: &Case, output: Array, _: &[Array]) -> Array {
        cpu::wrapping_sum(&output)
    }

    fn baselines(&self) -> &'static [Baseline] {
        &[]
    }
}

impl Problem for Copy {
    fn inputs(&self, shape: Shape, _: &Params) -> Vec<usize> {
        vec![shape.n as usize]
    }

    fn fill(&self, _: &Case) -> Fill {
        Fill::Bits
    }

    fn cost(&self, case: &Case) -> Cost {
        Cost { bytes: 2.0 * case.shape.n as f64 * case.dtype.size() as f64, ops: 0.0 }
    }

    fn reference(&self, _: &Case, inputs: &[Array]) -> Reference {
        Reference { value: 0.0, magnitude: 0.0, exact: Some(inputs[0].clone()) }
    }

    fn movement(&self, case: &Case) -> Option<Movement> {
        Some(Movement::copy(case.shape.n as usize))
    }

    fn finish(&self, _: &Case, output: Array, _: &[Array]) -> Array {
        output
    }

    fn baselines(&self) -> &'static [Baseline] {
        &[]
    }
}

/// Elements that a lane of [`ADD_MIN`] reads from its own on: two for each column of registers, then one for each row.
const READ_BY_A_LANE: usize = 2 * MOST_COLUMNS + MOST_ROWS;
const MOST_COLUMNS: usize = 32;
const MOST_ROWS: usize = 8;

impl Problem for AddMin {
    fn inputs(&self, shape: Shape, _: &Params) -> Vec<usize> {
        vec![shape.n as usize + READ_BY_A_LANE]
    }

    fn result(&self, shape: Shape, _: &Params) -> usize {
        shape.n as usize
    }

    // Small whole numbers, of which every sum is exact.
    fn fill(&self, _: &Case) -> Fill {
        Fill::Exact(64)
    }

    fn is_exact(&self, _: &Case) -> bool {
        true
    }

    fn cost(&self, case: &Case) -> Cost {
        pairs_cost(case, PAIRS)
    }

    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference {
        exactly(case.dtype, lowered(&widened(&inputs[0]), case))
    }

    fn finish(&self, _: &Case, output: Array, _: &[Array]) -> Array {
        output
    }

    fn baselines(&self) -> &'static [Baseline] {
        &[]
    }
}

impl Problem for Lanes {
    fn inputs(&self, shape: Shape, _: &Params) -> Vec<usize> {
        // Of the last vector 64 rows of up to 16 vectors, and of 16 rows 64 elements each.
        vec![(shape.n as usize + 128).max(64 * MOST_VECTORS as usize)]
    }

    fn result(&self, shape: Shape, _: &Params) -> usize {
        shape.n as usize
    }

    fn fill(&self, _: &Case) -> Fill {
        Fill::Exact(64)
    }

    fn is_exact(&self, _: &Case) -> bool {
        true
    }

    fn cost(&self, case: &Case) -> Cost {
        let [rows, vectors] = vectors(&case.params).unwrap_or([1, 1]);
        pairs_cost(case, repeats(rows, vectors) * FED_DEPTH * rows * vectors)
    }

    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference {
        exactly(case.dtype, fed(&widened(&inputs[0]), case))
    }

    fn finish(&self, _: &Case, output: Array, _: &[Array]) -> Array {
        output
    }

    fn baselines(&self) -> &'static [Baseline] {
        &[]
    }
}

/// Of so many additions with a minimum in each of n lanes.
fn pairs_cost(case: &Case, pairs: u64) -> Cost {
    let n = case.shape.n as f64;
    Cost { bytes: 2.0 * n * case.dtype.size() as f64, ops: 2.0 * n * pairs as f64 }
}

/// These whole numbers, and nothing else.
fn exactly(dtype: Dtype, values: Vec<f64>) -> Reference {
    let exact = match dtype {
        Dtype::F32 => Array::F32(values.iter().map(|&s| s as f32).collect()),
        Dtype::F64 => Array::F64(values),
        Dtype::I32 => Array::I32(values.iter().map(|&s| s as i32).collect()),
        Dtype::I64 => Array::I64(values.iter().map(|&s| s as i64).collect()),
    };
    Reference { value: 0.0, magnitude: 0.0, exact: Some(exact) }
}

/// Small whole numbers of any type as f64.
fn widened(values: &Array) -> Vec<f64> {
    match values {
        Array::F32(v) => v.iter().copied().map(f64::from).collect(),
        Array::F64(v) => v.clone(),
        Array::I32(v) => v.iter().copied().map(f64::from).collect(),
        Array::I64(v) => v.iter().map(|&x| x as f64).collect(),
    }
}

/// What each lane of [`ADD_MIN`] comes to: the sum of its registers, which the last steps lowered most.
fn lowered(x: &[f64], case: &Case) -> Vec<f64> {
    let [rows, columns] = registers(&case.params).unwrap_or([1, 1]).map(|side| side as usize);
    let sum = |part: &[f64]| part.iter().sum::<f64>();
    let lane = |x: &[f64]| {
        let (of_columns, of_rows) = (sum(&x[..columns]), sum(&x[2 * MOST_COLUMNS..][..rows]));
        200.0 * (rows * columns) as f64 + rows as f64 * of_columns + columns as f64 * of_rows
    };
    x.windows(READ_BY_A_LANE).take(case.shape.n as usize).map(lane).collect()
}

/// k that an item of [`LANES`] has in the nearest cache.
const FED_DEPTH: u64 = 64;
/// Most rows, and most vectors of them, of an item of [`LANES`].
const MOST_VECTORS: u64 = 16;

/// What each lane of [`LANES`] comes to: the sum of its vectors' elements, each the least of its sums.
fn fed(x: &[f64], case: &Case) -> Vec<f64> {
    let [rows, vectors] = vectors(&case.params).unwrap_or([1, 1]).map(|side| side as usize);
    let depth = FED_DEPTH as usize;
    let least = |lane: usize, i: usize, j: usize| {
        (0..depth).map(|k| 200.0 + x[k + depth * i] + x[lane + k + j]).fold(f64::INFINITY, f64::min)
    };
    let lane = |lane: usize| (0..rows).map(|i| (0..vectors).map(|j| least(lane, i, j)).sum::<f64>()).sum();
    (0..case.shape.n as usize).map(lane).collect()
}

/// Rows of an item of [`LANES`], and vectors of each.
fn vectors(params: &Params) -> Result<[u64; 2], Refusal> {
    match shape::pair(params, &VECTORS)?.unwrap_or([6, 2]) {
        sides if sides.iter().all(|&side| side <= MOST_VECTORS) => Ok(sides),
        [rows, vectors] => Err(Refusal(format!("vectors={rows}x{vectors}: at most {MOST_VECTORS} each"))),
    }
}

/// Times that an item of [`LANES`] takes what it has in the cache.
fn repeats(rows: u64, vectors: u64) -> u64 {
    PAIRS / (FED_DEPTH * rows * vectors)
}

/// Rows and columns of the registers that are lowered.
fn registers(params: &Params) -> Result<[u64; 2], Refusal> {
    let [rows, columns] = shape::pair(params, &REGISTERS)?.unwrap_or([2, 4]);
    match rows <= MOST_ROWS as u64 && columns <= MOST_COLUMNS as u64 && PAIRS.is_multiple_of(2 * rows * columns) {
        true => Ok([rows, columns]),
        false => Err(Refusal(format!("registers={rows}x{columns}: a divisor of {} is needed", PAIRS / 2))),
    }
}

fn add_min_items(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let [rows, columns] = registers(&ask.case.params)?;
    let grid = Grid::covering(ask.case.wg.size(), ask.case.shape.n);
    let mut defines = vec![("ROWS", rows as usize), ("COLUMNS", columns as usize)];
    defines.extend(minplus::pair_macros(ask.case.dtype, false, ask.target));
    if shape::switch(&ask.case.params, &TOGETHER)?.unwrap_or(false) {
        defines.push(("TOGETHER", 1));
    }
    let sums = if ask.rung.variant() == "three_way" { 2 } else { 1 };
    let args = [Arg::Int((PAIRS / (rows * columns * sums)) as i32), Arg::Int(1)];
    arithmetic(ask, grid, READ_BY_A_LANE + ask.case.shape.n as usize, &defines, &args)
}

fn lanes_fed(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let (params, dtype, n) = (&ask.case.params, ask.case.dtype, ask.case.shape.n);
    let [rows, vectors] = vectors(params)?;
    let vec = u64::from(ask.target.float_lanes.clamp(4, 16)) * 4 / dtype.size() as u64;
    let mut defines = vec![("VEC", vec as usize), ("ROWS", rows as usize), ("VECTORS", vectors as usize)];
    if shape::switch(params, &ORDERED)?.unwrap_or(false) {
        if dtype != Dtype::F32 {
            return Err(Refusal("only f32 is compared as integers of its size".into()));
        }
        defines.push(("ORDERED", 1));
    }
    let input = LANES.problem.inputs(ask.case.shape, params)[0];
    arithmetic(ask, Grid::covering(1, n / vec), input, &defines, &[Arg::Uint(repeats(rows, vectors) as u32)])
}

/// One pass that reads an input of so many elements and writes n.
fn arithmetic(ask: &Ask<'_>, grid: Grid, input: usize, more: &[(&str, usize)], args: &[Arg]) -> Result<Plan, Refusal> {
    let Case { dtype, shape, params, .. } = ask.case;
    let mut defines = shape::defines(shape::signed(*dtype), shape.n);
    defines.push(("WG".into(), grid.wg.to_string()));
    defines.extend(more.iter().map(|(name, value)| ((*name).into(), value.to_string())));
    defines.extend(minplus::element_macros(*dtype, ask.target).map(|(name, value)| (name.into(), value.into())));
    let args = [Arg::Buffer(0), Arg::Buffer(1)].iter().chain(args).copied().collect();
    Ok(Plan {
        defines,
        buffers: vec![
            BufferSpec { role: Role::Input(0), dtype: *dtype, len: input },
            BufferSpec { role: Role::Output, dtype: *dtype, len: shape.n as usize },
        ],
        passes: vec![shape::pass(&ask.rung.kernel(), grid, args)],
        wg: WorkGroup::linear(grid.wg),
        params: params.clone(),
        local_bytes: 0,
        depth: 0,
        host_tail: None,
    })
}

fn read_strided(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let (n, wg) = (ask.case.shape.n, ask.case.wg.size());
    let grid = Grid::filling(ask.target, wg, n.div_ceil(16));
    let pass = shape::pass(&ask.rung.kernel(), grid, vec![Arg::Buffer(0), Arg::Buffer(1), Arg::Index(n)]);
    plan(ask, grid.groups, grid, pass)
}

fn read_wide(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let (grid, chunk) = shape::chunks(ask.target, ask.case.shape.n);
    let args = vec![Arg::Buffer(0), Arg::Buffer(1), Arg::Index(chunk), Arg::Index(ask.case.shape.n)];
    plan(ask, grid.items(), grid, shape::pass(&ask.rung.kernel(), grid, args))
}

fn copy_vectors(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let vectors = ask.case.shape.n / 4;
    let grid = Grid::covering(ask.case.wg.size(), vectors);
    let args = vec![Arg::Buffer(0), Arg::Buffer(1), Arg::Index(vectors)];
    plan(ask, ask.case.shape.n as usize, grid, shape::pass(&ask.rung.kernel(), grid, args))
}

fn copy_wide(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let n = ask.case.shape.n;
    let (grid, chunk) = shape::chunks(ask.target, n);
    let args = vec![Arg::Buffer(0), Arg::Buffer(1), Arg::Index(chunk), Arg::Index(n)];
    plan(ask, n as usize, grid, shape::pass(&ask.rung.kernel(), grid, args))
}

/// One pass from input 0 to an output of `len` words.
fn plan(ask: &Ask<'_>, len: usize, grid: Grid, pass: Pass) -> Result<Plan, Refusal> {
    let mut defines = shape::defines(shape::wrapping(Dtype::I32), ask.case.shape.n);
    defines.push(("WG".into(), grid.wg.to_string()));
    Ok(Plan {
        defines,
        buffers: vec![
            BufferSpec { role: Role::Input(0), dtype: Dtype::I32, len: ask.case.shape.n as usize },
            BufferSpec { role: Role::Output, dtype: Dtype::I32, len },
        ],
        passes: vec![pass],
        wg: WorkGroup::linear(grid.wg),
        params: Params::new(),
        local_bytes: (grid.wg * 4) as u64,
        depth: 0,
        host_tail: None,
    })
}

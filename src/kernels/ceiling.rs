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
    ladder: &[
        rung!("addmin/v1_two_way", add_min_items, &[]),
        rung!("addmin/v2_three_way", add_min_items, &[]),
        rung!("addmin/v3_wide", add_min_wide, &[ORDERED]),
    ],
    choices: &[REGISTERS],
    dtypes: &[Dtype::F32, Dtype::I32, Dtype::F64],
    ceiling: Bound::AddMin,
};

/// All probes, in the order in which they run.
pub const PROBES: &[&Family] = &[&READ, &COPY, &ADD_MIN];

/// Sums of a lane in [`ADD_MIN`]: a multiple of every number of registers.
const PAIRS: u64 = 3 << 15;

const REGISTERS: Tunable = Tunable {
    name: "registers",
    about: "registers that are lowered, rows x columns",
    values: &["1x8", "1x12", "2x4", "2x6", "2x16", "2x24", "4x8", "4x16", "8x8"],
};
const ORDERED: Tunable = Tunable {
    name: "ordered",
    about: "whether floats are compared as the integers with their bits (v3; v2 always does)",
    values: &["0", "1"],
};

/// The cases that find the limit which a bound names for elements of this type: the best of them is the ceiling.
pub fn cases(bound: Bound, dtype: Dtype, target: &Target, seed: u64) -> Vec<Case> {
    let probes = PROBES.iter().filter(|family| family.ceiling == bound);
    let rungs = probes.flat_map(|family| family.ladder.iter().map(move |rung| (family, rung)));
    let case = |family: &Family, rung: &Rung, params: Params| Case {
        family: family.name.into(),
        variant: rung.variant().into(),
        dtype: if bound.is_memory() { Dtype::I32 } else { dtype },
        shape: Shape::vector(if bound.is_memory() { elements(target) } else { lanes(target) }),
        wg: WorkGroup::linear(target.max_wg.min(256)),
        params,
        seed,
    };
    let of_rung = |(family, rung): (&&Family, &Rung)| -> Vec<Case> {
        let params = if bound.is_memory() { vec![Params::new()] } else { register_shapes(rung, dtype, target) };
        params.into_iter().map(|params| case(family, rung, params)).collect()
    };
    rungs.flat_map(of_rung).collect()
}

/// The settings with which a rung of [`ADD_MIN`] may be the fastest: none if it has not the device's shape.
fn register_shapes(rung: &Rung, dtype: Dtype, target: &Target) -> Vec<Params> {
    let is_wide = rung.variant() == "wide";
    let shapes: &[&str] = match (is_wide, target.gpu) {
        (true, false) => &["1x8", "1x12", "2x4", "2x6"],
        (false, true) => &["2x16", "2x24", "4x8", "4x16", "8x8"],
        _ => &[],
    };
    let orders: &[&str] = if is_wide && dtype == Dtype::F32 { &["0", "1"] } else { &["0"] };
    let set = |registers: &str, ordered: &str| {
        Params::from([(REGISTERS.name.into(), registers.into()), (ORDERED.name.into(), ordered.into())])
    };
    shapes.iter().flat_map(|registers| orders.iter().map(|ordered| set(registers, ordered))).collect()
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
        let n = case.shape.n as f64;
        Cost { bytes: 2.0 * n * case.dtype.size() as f64, ops: 2.0 * n * PAIRS as f64 }
    }

    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference {
        let sums = lowered(&wide(&inputs[0]), case);
        let exact = match case.dtype {
            Dtype::F32 => Array::F32(sums.iter().map(|&s| s as f32).collect()),
            Dtype::F64 => Array::F64(sums),
            Dtype::I32 => Array::I32(sums.iter().map(|&s| s as i32).collect()),
            Dtype::I64 => Array::I64(sums.iter().map(|&s| s as i64).collect()),
        };
        Reference { value: 0.0, magnitude: 0.0, exact: Some(exact) }
    }

    fn finish(&self, _: &Case, output: Array, _: &[Array]) -> Array {
        output
    }

    fn baselines(&self) -> &'static [Baseline] {
        &[]
    }
}

/// Small whole numbers of any type as f64.
fn wide(values: &Array) -> Vec<f64> {
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

/// Rows and columns of the registers that are lowered.
fn registers(params: &Params) -> Result<[u64; 2], Refusal> {
    let [rows, columns] = shape::pair(params, &REGISTERS)?.unwrap_or([2, 4]);
    match rows <= MOST_ROWS as u64 && columns <= MOST_COLUMNS as u64 && PAIRS.is_multiple_of(2 * rows * columns) {
        true => Ok([rows, columns]),
        false => Err(Refusal(format!("registers={rows}x{columns}: a divisor of {} is needed", PAIRS / 2))),
    }
}

fn add_min_items(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let more = minplus::pair_macros(ask.case.dtype, false, ask.target);
    add_min(ask, Grid::covering(ask.case.wg.size(), ask.case.shape.n), more)
}

fn add_min_wide(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let vec = ask.target.float_lanes.clamp(4, 16) as usize * 4 / ask.case.dtype.size();
    let mut more = vec![("VEC", vec)];
    // As integers: of a float's two forms either may be faster.
    if shape::switch(&ask.case.params, &ORDERED)?.unwrap_or(false) && ask.case.dtype == Dtype::F32 {
        more.push(("ORDERED", 1));
    }
    add_min(ask, Grid::covering(1, ask.case.shape.n / vec as u64), &more)
}

fn add_min(ask: &Ask<'_>, grid: Grid, more: &[(&str, usize)]) -> Result<Plan, Refusal> {
    let (Case { dtype, shape, params, .. }, [rows, columns]) = (ask.case, registers(&ask.case.params)?);
    let mut defines = shape::defines(shape::signed(*dtype), shape.n);
    let sides = [("WG", grid.wg), ("ROWS", rows as usize), ("COLUMNS", columns as usize)];
    defines.extend(sides.iter().chain(more).map(|(name, value)| ((*name).into(), value.to_string())));
    defines.extend(minplus::element_macros(*dtype, ask.target).map(|(name, value)| (name.into(), value.into())));
    let args = vec![Arg::Buffer(0), Arg::Buffer(1), Arg::Uint((PAIRS / rows / columns) as u32), Arg::Int(1)];
    let n = shape.n as usize;
    Ok(Plan {
        defines,
        buffers: vec![
            BufferSpec { role: Role::Input(0), dtype: *dtype, len: n + READ_BY_A_LANE },
            BufferSpec { role: Role::Output, dtype: *dtype, len: n },
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

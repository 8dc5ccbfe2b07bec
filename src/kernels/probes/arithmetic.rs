//! Probes of arithmetic: additions, each with a minimum, in registers and in vectors fed from the nearest cache.

use crate::data::{Array, Dtype, Fill, Params, Shape};
use crate::kernels::minplus;
use crate::kernels::shape::{self, Grid};
use crate::kernels::{Ask, Bound, Builder, Family, Form, Problem, Tunable, rung};
use crate::plan::{Arg, Case, Cost, Plan, Reference, Refusal, Target};

/// Lowers registers by sums: [`PAIRS`] additions, each with a minimum, in each of `n` lanes.
pub const ADD_MIN: Family = Family {
    name: "addmin",
    about: "additions, each with a minimum, as fast as possible",
    form: Form::Vector,
    references: &[],
    problem: &AddMin,
    ladder: &[
        rung("probes/addmin/v1_two_way.cl", add_min_items, &[]),
        rung("probes/addmin/v2_three_way.cl", add_min_items, &[TOGETHER]),
    ],
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
    ladder: &[rung("probes/lanes/v1_fed.cl", lanes_fed, &[ORDERED])],
    choices: &[VECTORS],
    dtypes: &[Dtype::F32, Dtype::I32, Dtype::F64],
    ceiling: Bound::AddMin,
};

/// Sums of a lane in [`ADD_MIN`], a multiple of every number of registers, and about that in [`LANES`].
pub(super) const PAIRS: u64 = 3 << 15;

const REGISTERS: Tunable =
    Tunable::pair("registers", "registers that are lowered, rows x columns", &["1x32", "2x24", "4x12", "4x16", "8x8"]);
const TOGETHER: Tunable = Tunable::switch(
    "together",
    "whether all rows advance before the first is added to: compilers give them other registers then",
);
const VECTORS: Tunable =
    Tunable::pair("vectors", "vectors that are lowered, rows x vectors of a row", &["4x2", "6x2", "8x2", "12x2"]);
const ORDERED: Tunable = Tunable::switch("ordered", "whether floats are compared as the integers with their bits");

/// Lanes that keep a device's arithmetic units busy for a while.
pub fn lanes(target: &Target) -> u64 {
    u64::from(target.compute_units.max(1)) * if target.gpu { 4096 } else { 1024 }
}

/// Setting of checks: sums rise from round to round.
const RISING: &str = "rising";

struct AddMin;
struct Lanes;

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

    /// Sums that rise from round to round: the first decides, not the last, and of two the other.
    fn companions(&self, case: &Case, plan: &Plan) -> Vec<Case> {
        let mut params = plan.params.clone();
        params.insert(RISING.into(), "1".into());
        vec![Case { params, ..case.clone() }]
    }

    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference {
        exactly(case.dtype, lowered(&inputs[0].widened(), case))
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
        exactly(case.dtype, fed(&inputs[0].widened(), case))
    }
}

/// Of so many additions with a minimum in each of n lanes.
fn pairs_cost(case: &Case, pairs: u64) -> Cost {
    let n = case.shape.n as f64;
    Cost { bytes: 2.0 * n * case.dtype.size() as f64, ops: 2.0 * n * pairs as f64 }
}

/// These whole numbers, and nothing else.
pub(super) fn exactly(dtype: Dtype, values: Vec<f64>) -> Reference {
    let exact = match dtype {
        Dtype::F32 => Array::F32(values.iter().map(|&s| s as f32).collect()),
        Dtype::F64 => Array::F64(values),
        Dtype::I32 => Array::I32(values.iter().map(|&s| s as i32).collect()),
        Dtype::I64 => Array::I64(values.iter().map(|&s| s as i64).collect()),
    };
    Reference::Exact(exact)
}

/// What each lane of [`ADD_MIN`] comes to: the sum of its registers, which the last steps lowered most.
fn lowered(x: &[f64], case: &Case) -> Vec<f64> {
    let [rows, columns] = registers(&case.params).unwrap_or([1, 1]).map(|side| side as usize);
    let sum = |part: &[f64]| part.iter().sum::<f64>();
    let sums = if case.variant == "three_way" { 2 } else { 1 };
    let rounds = (PAIRS as usize / (rows * columns * sums)) as f64;
    // From where rows begin to the sum that decides; of rising ones, the second sums' rows begin below the first ones'.
    let (start, first) = match (case.params.contains_key(RISING), sums) {
        (false, _) => (200.0, 0),
        (true, 1) => (rounds + 201.0, 0),
        (true, _) => (rounds + 1.0, MOST_COLUMNS),
    };
    let lane = |x: &[f64]| {
        let (of_columns, of_rows) = (sum(&x[first..][..columns]), sum(&x[2 * MOST_COLUMNS..][..rows]));
        start * (rows * columns) as f64 + rows as f64 * of_columns + columns as f64 * of_rows
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
    match VECTORS.get_pair(params)?.unwrap_or([6, 2]) {
        sides if sides.iter().all(|&side| side <= MOST_VECTORS) => Ok(sides),
        [rows, vectors] => Err(Refusal::Setting(format!("vectors={rows}x{vectors}: at most {MOST_VECTORS} each"))),
    }
}

/// Times that an item of [`LANES`] takes what it has in the cache.
fn repeats(rows: u64, vectors: u64) -> u64 {
    PAIRS / (FED_DEPTH * rows * vectors)
}

/// Rows and columns of the registers that are lowered.
fn registers(params: &Params) -> Result<[u64; 2], Refusal> {
    let [rows, columns] = REGISTERS.get_pair(params)?.unwrap_or([2, 4]);
    match rows <= MOST_ROWS as u64 && columns <= MOST_COLUMNS as u64 && PAIRS.is_multiple_of(2 * rows * columns) {
        true => Ok([rows, columns]),
        false => Err(Refusal::Setting(format!("registers={rows}x{columns}: a divisor of {} is needed", PAIRS / 2))),
    }
}

fn add_min_items(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let [rows, columns] = registers(&ask.case.params)?;
    shape::check_wg(ask.case.wg, ask.target)?;
    let grid = Grid::covering(ask.case.wg.size(), multiple(ask, ask.case.wg.size() as u64)?);
    let mut defines = vec![("ROWS", rows as usize), ("COLUMNS", columns as usize)];
    defines.extend(minplus::pair_macros(ask.case.dtype, false, ask.target));
    if TOGETHER.is_on(&ask.case.params)?.unwrap_or(false) {
        defines.push(("TOGETHER", 1));
    }
    let sums = if ask.rung.variant() == "three_way" { 2 } else { 1 };
    let down = if ask.case.params.contains_key(RISING) { -1 } else { 1 };
    let args = [Arg::Int((PAIRS / (rows * columns * sums)) as i32), Arg::Int(down)];
    Ok(arithmetic(ask, grid, &defines, &args))
}

fn lanes_fed(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let (params, dtype) = (&ask.case.params, ask.case.dtype);
    let [rows, vectors] = vectors(params)?;
    let vec = shape::vector_lanes(ask.target, dtype);
    let mut defines = vec![("VEC", vec as usize), ("ROWS", rows as usize), ("VECTORS", vectors as usize)];
    if ORDERED.is_on(params)?.unwrap_or(false) {
        if dtype != Dtype::F32 {
            return Err(Refusal::Setting("only f32 is compared as integers of its size".into()));
        }
        defines.push(("ORDERED", 1));
    }
    let grid = Grid::covering(1, multiple(ask, vec)? / vec);
    Ok(arithmetic(ask, grid, &defines, &[Arg::Uint(repeats(rows, vectors) as u32)]))
}

/// The case's lanes, where they are a multiple of `of`: kernels have no guard.
fn multiple(ask: &Ask<'_>, of: u64) -> Result<u64, Refusal> {
    let n = ask.case.shape.n;
    if n.is_multiple_of(of) { Ok(n) } else { Err(Refusal::Size(format!("n = {n}: a multiple of {of} is needed"))) }
}

/// One pass that reads the input and writes n elements.
fn arithmetic(ask: &Ask<'_>, grid: Grid, more: &[(&str, usize)], args: &[Arg]) -> Plan {
    let mut plan = Builder::linear(ask, shape::signed(ask.case.dtype), grid);
    plan.note_all();
    more.iter().for_each(|(name, value)| plan.define(name, value));
    for (name, value) in minplus::element_macros(ask.case.dtype, ask.target) {
        plan.define(name, value);
    }
    let output = plan.output(ask.case.shape.n as usize);
    plan.pass("", grid, plan.inputs().into_iter().chain([output]).chain(args.iter().copied()).collect());
    plan.plan(0, 0)
}

//! Probes of arithmetic: additions, each with a minimum, in registers and in vectors fed from the nearest cache.

use crate::minplus;
use crate::prelude::*;
use gpulab_model::data::NO_EDGE;
use gpulab_model::plan::Target;
use rayon::prelude::*;

/// Lowers registers by sums: [`PAIRS`] additions, each with a minimum, in each of `n` lanes.
pub static ADD_MIN: Family = BuiltInFamily {
    name: "addmin",
    about: "additions, each with a minimum, as fast as possible",
    form: Form::Vector,
    problem: &AddMin,
    ladder: const {
        &ladder([
            rung("probes/addmin/two_way.cl", add_min_items, &[]),
            rung("probes/addmin/three_way.cl", add_min_items, &[TOGETHER]),
        ])
    },
    choices: &[REGISTERS],
    dtypes: &[Dtype::F32, Dtype::I32, Dtype::F64],
    ceiling: Bound::AddMin,
}
.family();

/// As [`ADD_MIN`], in the vectors of CPU devices: `n` lanes.
pub static LANES: Family = BuiltInFamily {
    name: "lanes",
    about: "additions in vectors, each with a minimum, as fast as possible",
    form: Form::Vector,
    problem: &FED,
    ladder: const { &ladder([rung("probes/lanes/fed.cl", lanes_fed, &[ORDERED])]) },
    choices: &[VECTORS],
    dtypes: &[Dtype::F32, Dtype::I32, Dtype::F64],
    ceiling: Bound::AddMin,
}
.family();

/// Sums of a lane in [`ADD_MIN`], a multiple of every number of registers, and about that in [`LANES`].
pub(super) const PAIRS: u64 = 3 << 15;

const REGISTERS: Tunable =
    Tunable::pair("registers", "registers that are lowered, rows x columns", "1x32 2x24 4x12 4x16 8x8");
const TOGETHER: Tunable = Tunable::switch(
    "together",
    "whether all rows advance before the first is added to: compilers give them other registers then",
);
const VECTORS: Tunable =
    Tunable::pair("vectors", "vectors that are lowered, rows x vectors of a row", "4x2 6x2 8x2 12x2");
const ORDERED: Tunable = Tunable::switch("ordered", "whether floats are compared as the integers with their bits");

/// Lanes that keep a device's arithmetic units busy for a while.
pub fn lanes(target: &Target) -> u64 {
    u64::from(target.compute_units.max(1)) * if target.gpu { 4096 } else { 1024 }
}

/// Setting of checks: what the rows of [`ADD_MIN`] are lowered by in each round.
const STEP: &str = "step";
/// Sums rise from round to round: the first decides, not the last, and of two the other.
const RISING: i32 = -1;
/// Of integers that wrap: sums jump about, so that for each round there are lanes in which it decides.
const JUMPING: i32 = 0x1E37_79B1;
/// Lanes in which sums jump about.
const JUMPED: u64 = 256;

struct AddMin;

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

    // Small whole numbers, of which every sum is exact; integers that wrap may be any.
    fn fill(&self, case: &Case) -> Fill {
        if step(&case.params) == JUMPING { Fill::Real } else { Fill::Exact(64) }
    }

    fn cost(&self, case: &Case) -> Cost {
        pairs_cost(case, PAIRS)
    }

    /// Where the first round decides, and where each does.
    fn companions(&self, case: &Case, plan: &Plan) -> Vec<Case> {
        let with = |step: i32| {
            let mut params = plan.params.clone();
            params.insert(STEP.into(), step.to_string());
            Case { params, ..case.clone() }
        };
        let jumped = Shape::vector(JUMPED.next_multiple_of(case.wg.size() as u64));
        vec![with(RISING), Case { shape: jumped, dtype: Dtype::I32, ..with(JUMPING) }]
    }

    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference {
        match &inputs[0] {
            Array::I32(x) if step(&case.params) == JUMPING => Reference::Exact(Array::I32(jumped(x, case))),
            x => Reference::Exact(Array::narrowed(case.dtype, lowered(&x.widened(), case))),
        }
    }
}

/// Small whole numbers, of which every sum is exact.
static FED: Exact = Exact {
    // Of the last vector 64 rows of up to 16 vectors; of 16 rows 64 elements each, and one for each repetition.
    inputs: |shape, _| vec![(shape.n as usize + 128).max((64 * MOST_VECTORS + repeats(1, 1)) as usize)],
    // Where each repetition decides in some lanes.
    companions: |case, plan| {
        let mut params = plan.params.clone();
        params.insert(SHIFTED.into(), "1".into());
        vec![Case { shape: Shape::vector(SHIFTED_LANES.min(case.shape.n)), params, ..case.clone() }]
    },
    ..Exact::of_each(
        Fill::Exact(64),
        |case| {
            let [rows, vectors] = vectors(&case.params).unwrap_or([1, 1]);
            pairs_cost(case, repeats(rows, vectors) * FED_DEPTH * rows * vectors)
        },
        |case, inputs| Array::narrowed(case.dtype, fed(&inputs[0].widened(), case)),
    )
};

/// What rows are lowered by in each round.
fn step(params: &Params) -> i32 {
    params.get(STEP).and_then(|step| step.parse().ok()).unwrap_or(1)
}

/// Of so many additions with a minimum in each of n lanes.
fn pairs_cost(case: &Case, pairs: u64) -> Cost {
    let n = case.shape.n as f64;
    Cost { bytes: 2.0 * n * case.dtype.size() as f64, ops: 2.0 * n * pairs as f64 }
}

/// What each lane of [`ADD_MIN`] comes to: the sum of its registers, which the last steps lowered most.
fn lowered(x: &[f64], case: &Case) -> Vec<f64> {
    let [rows, columns] = registers(&case.params).unwrap_or([1, 1]).map(|side| side as usize);
    let sum = |part: &[f64]| part.iter().sum::<f64>();
    let sums = sums(&case.variant);
    let rounds = (PAIRS as usize / (rows * columns * sums)) as f64;
    // From where rows begin to the sum that decides; of rising ones, the second sums' rows begin below the first ones'.
    let (start, first) = match (step(&case.params) == RISING, sums) {
        (false, _) => (200.0, 0),
        (true, 1) => (rounds + 201.0, 0),
        (true, _) => (rounds + 1.0, MOST_COLUMNS),
    };
    x.windows(READ_BY_A_LANE)
        .take(case.shape.n as usize)
        .map(|x: &[f64]| {
            let of_columns = sum(&x[first..][..columns]);
            let of_rows = sum(&x[2 * MOST_COLUMNS..][..rows]);
            start * (rows * columns) as f64 + rows as f64 * of_columns + columns as f64 * of_rows
        })
        .collect()
}

/// The same with integers that wrap, round by round as the kernels do it.
fn jumped(x: &[i32], case: &Case) -> Vec<i32> {
    let [rows, columns] = registers(&case.params).unwrap_or([1, 1]).map(|side| side as usize);
    let sums = sums(&case.variant);
    let rounds = (PAIRS as usize / (rows * columns * sums)) as i32;
    // The rows of the second sums begin 200 steps above those of the first.
    let row = |start: i32, round: i32, sum: usize| {
        let steps = 200 * sum as i32 - (round + 1);
        start.wrapping_add(rounds + 200).wrapping_add(steps.wrapping_mul(JUMPING))
    };
    let least = |x: &[i32], i: usize, j: usize| {
        (0..rounds)
            .flat_map(|round| {
                (0..sums).map(move |s| row(x[2 * MOST_COLUMNS + i], round, s).wrapping_add(x[s * MOST_COLUMNS + j]))
            })
            .fold(NO_EDGE, i32::min)
    };
    let lane =
        |x: &[i32]| (0..rows * columns).fold(0i32, |sum, at| sum.wrapping_add(least(x, at / columns, at % columns)));
    x.par_windows(READ_BY_A_LANE).take(case.shape.n as usize).map(lane).collect()
}

/// Sums that a kernel takes for each minimum.
fn sums(variant: &str) -> usize {
    if variant == "three_way" { 2 } else { 1 }
}

/// Setting of checks: each repetition begins one element further on in the rows.
const SHIFTED: &str = "shifted";
/// Lanes in which it does, a multiple of every vector's.
const SHIFTED_LANES: u64 = 128;

/// k that an item of [`LANES`] has in the nearest cache.
const FED_DEPTH: u64 = 64;
/// Most rows, and most vectors of them, of an item of [`LANES`].
const MOST_VECTORS: u64 = 16;

/// What each lane of [`LANES`] comes to: the sum of its vectors' elements, each the least of its sums.
fn fed(x: &[f64], case: &Case) -> Vec<f64> {
    let [rows, vectors] = vectors(&case.params).unwrap_or([1, 1]).map(|side| side as usize);
    let depth = FED_DEPTH as usize;
    let shifts = if case.params.contains_key(SHIFTED) { repeats(rows as u64, vectors as u64) as usize } else { 1 };
    // As the kernel has them: the rows of each k side by side, and behind them what only repetitions that begin further on take.
    let of_rows: Vec<f64> = (0..depth * rows).map(|at| x[at / rows + depth * (at % rows)]).collect();
    let of_rows = [&of_rows, &x[depth * rows..][..shifts]].concat();
    let least = |lane: usize, i: usize, j: usize| {
        let of_k = |k: usize| of_rows[k * rows + i..][..shifts].iter().fold(f64::INFINITY, |least, &x| x.min(least));
        (0..depth).map(|k| 200.0 + of_k(k) + x[lane + k + j]).fold(f64::INFINITY, f64::min)
    };
    (0..case.shape.n as usize)
        .into_par_iter()
        .map(|lane: usize| (0..rows).map(|i| (0..vectors).map(|j| least(lane, i, j)).sum::<f64>()).sum())
        .collect()
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

fn add_min_items(ask: &Ask<'_>) -> Planned {
    let [rows, columns] = registers(&ask.case.params)?;
    shape::check_wg(ask.case.wg, ask.target)?;
    let grid = Grid::covering(ask.case.wg.size(), multiple(ask, ask.case.wg.size() as u64)?);
    let mut defines = vec![("ROWS", rows as usize), ("COLUMNS", columns as usize)];
    defines.extend(minplus::pair_macros(ask.case.dtype, &Params::new(), ask.target));
    if TOGETHER.is_on(&ask.case.params)?.unwrap_or(false) {
        defines.push(("TOGETHER", 1));
    }
    let sums = sums(ask.rung.variant());
    let mut args = vec![Arg::Int((PAIRS / (rows * columns * sums as u64)) as i32), Arg::Int(step(&ask.case.params))];
    args.extend((sums == 2).then_some(Arg::Int(1)));
    Ok(arithmetic(ask, grid, &defines, &args))
}

fn lanes_fed(ask: &Ask<'_>) -> Planned {
    let params = &ask.case.params;
    let dtype = ask.case.dtype;
    let [rows, vectors] = vectors(params)?;
    let vec = shape::vector_lanes(ask.target, dtype);
    let repeats = repeats(rows, vectors);
    let shift = u32::from(params.contains_key(SHIFTED));
    let sides = [("VEC", vec), ("ROWS", rows), ("VECTORS", vectors), ("REACH", repeats)];
    let mut defines = sides.map(|(name, value)| (name, value as usize)).to_vec();
    if ORDERED.is_on(params)?.unwrap_or(false) {
        if dtype != Dtype::F32 {
            return Err(Refusal::Setting("only f32 is compared as integers of its size".into()));
        }
        defines.push(("ORDERED", 1));
    }
    let grid = Grid::covering(1, multiple(ask, vec)? / vec);
    Ok(arithmetic(ask, grid, &defines, &[Arg::Uint(repeats as u32), Arg::Uint(shift)]))
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
    for &(name, value) in minplus::element_macros(ask.case.dtype, ask.target) {
        plan.define(name, value);
    }
    let output = plan.output(ask.case.shape.n as usize);
    plan.pass(grid, plan.inputs().into_iter().chain([output]).chain(args.iter().copied()).collect());
    plan.plan(0, 0)
}

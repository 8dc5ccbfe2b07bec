//! Probes of arithmetic: additions, each with a minimum, in registers and in vectors fed from the nearest cache, and chains of
//! single operations.

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
const PAIRS: u64 = 3 << 15;

const REGISTERS: Tunable = Tunable::pair(
    "registers",
    "registers that are lowered, rows x columns",
    "1x32 2x24 4x12 4x16 8x8",
);
const TOGETHER: Tunable = Tunable::switch(
    "together",
    "whether all rows advance before the first is added to: compilers give them other registers then",
);
const VECTORS: Tunable = Tunable::pair(
    "vectors",
    "vectors that are lowered, rows x vectors of a row",
    "4x2 6x2 8x2 12x2",
);
const ORDERED: Tunable = Tunable::switch(
    "ordered",
    "whether floats are compared as the integers with their bits",
);

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
        if step(&case.params) == JUMPING {
            Fill::Real
        } else {
            Fill::Exact(64)
        }
    }

    fn cost(&self, case: &Case) -> Cost {
        pairs_cost(case, PAIRS)
    }

    /// Where the first round decides, and where each does.
    fn companions(&self, case: &Case, plan: &Plan) -> Vec<Case> {
        let with = |step: i32| with_setting(case, plan, STEP, step);
        let jumped = Shape::vector(JUMPED.next_multiple_of(case.wg.size() as u64));
        vec![
            with(RISING),
            Case {
                shape: jumped,
                dtype: Dtype::I32,
                ..with(JUMPING)
            },
        ]
    }

    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference {
        match &inputs[0] {
            Array::I32(x) if step(&case.params) == JUMPING => {
                Reference::Exact(Array::I32(jumped(x, case)))
            }
            x => Reference::Exact(Array::narrowed(case.dtype, lowered(&x.widened(), case))),
        }
    }
}

/// Small whole numbers, of which every sum is exact.
static FED: Exact = Exact {
    // Of the last vector 64 rows of up to 16 vectors; of 16 rows 64 elements each, and one for each repetition.
    inputs: |shape, _| {
        vec![(shape.n as usize + 128).max((64 * MOST_VECTORS + repeats(1, 1)) as usize)]
    },
    // Where each repetition decides in some lanes.
    companions: |case, plan| {
        vec![Case {
            shape: Shape::vector(SHIFTED_LANES.min(case.shape.n)),
            ..with_setting(case, plan, SHIFTED, 1)
        }]
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
    params
        .get(STEP)
        .and_then(|step| step.parse().ok())
        .unwrap_or(1)
}

/// Of so many additions with a minimum in each of n lanes.
fn pairs_cost(case: &Case, pairs: u64) -> Cost {
    let n = case.shape.n as f64;
    Cost {
        bytes: 2.0 * n * case.dtype.size() as f64,
        ops: 2.0 * n * pairs as f64,
    }
}

/// What each lane of [`ADD_MIN`] comes to: the sum of its registers, which the last steps lowered most.
fn lowered(x: &[f64], case: &Case) -> Vec<f64> {
    let [rows, columns] = registers(&case.params)
        .unwrap_or([1, 1])
        .map(|side| side as usize);
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
    let [rows, columns] = registers(&case.params)
        .unwrap_or([1, 1])
        .map(|side| side as usize);
    let sums = sums(&case.variant);
    let rounds = (PAIRS as usize / (rows * columns * sums)) as i32;
    // The rows of the second sums begin 200 steps above those of the first.
    let row = |start: i32, round: i32, sum: usize| {
        let steps = 200 * sum as i32 - (round + 1);
        start
            .wrapping_add(rounds + 200)
            .wrapping_add(steps.wrapping_mul(JUMPING))
    };
    let least = |x: &[i32], i: usize, j: usize| {
        (0..rounds)
            .flat_map(|round| {
                (0..sums).map(move |s| {
                    row(x[2 * MOST_COLUMNS + i], round, s).wrapping_add(x[s * MOST_COLUMNS + j])
                })
            })
            .fold(NO_EDGE, i32::min)
    };
    let lane = |x: &[i32]| {
        (0..rows * columns).fold(0i32, |sum, at| {
            sum.wrapping_add(least(x, at / columns, at % columns))
        })
    };
    x.par_windows(READ_BY_A_LANE)
        .take(case.shape.n as usize)
        .map(lane)
        .collect()
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
    let [rows, vectors] = vectors(&case.params)
        .unwrap_or([1, 1])
        .map(|side| side as usize);
    let depth = FED_DEPTH as usize;
    let shifts = if case.params.contains_key(SHIFTED) {
        repeats(rows as u64, vectors as u64) as usize
    } else {
        1
    };
    // As the kernel has them: the rows of each k side by side, and behind them what only repetitions that begin further on take.
    let of_rows: Vec<f64> = (0..depth * rows)
        .map(|at| x[at / rows + depth * (at % rows)])
        .collect();
    let of_rows = [&of_rows, &x[depth * rows..][..shifts]].concat();
    let least = |lane: usize, i: usize, j: usize| {
        let of_k = |k: usize| {
            of_rows[k * rows + i..][..shifts]
                .iter()
                .fold(f64::INFINITY, |least, &x| x.min(least))
        };
        (0..depth)
            .map(|k| 200.0 + of_k(k) + x[lane + k + j])
            .fold(f64::INFINITY, f64::min)
    };
    (0..case.shape.n as usize)
        .into_par_iter()
        .map(|lane: usize| {
            (0..rows)
                .map(|i| (0..vectors).map(|j| least(lane, i, j)).sum::<f64>())
                .sum()
        })
        .collect()
}

/// Rows of an item of [`LANES`], and vectors of each.
fn vectors(params: &Params) -> Result<[u64; 2], Refusal> {
    match VECTORS.get_pair(params)?.unwrap_or([6, 2]) {
        sides if sides.iter().all(|&side| side <= MOST_VECTORS) => Ok(sides),
        [rows, vectors] => Err(Refusal::Setting(format!(
            "vectors={rows}x{vectors}: at most {MOST_VECTORS} each"
        ))),
    }
}

/// Times that an item of [`LANES`] takes what it has in the cache.
fn repeats(rows: u64, vectors: u64) -> u64 {
    PAIRS / (FED_DEPTH * rows * vectors)
}

/// Rows and columns of the registers that are lowered.
fn registers(params: &Params) -> Result<[u64; 2], Refusal> {
    let [rows, columns] = REGISTERS.get_pair(params)?.unwrap_or([2, 4]);
    match rows <= MOST_ROWS as u64
        && columns <= MOST_COLUMNS as u64
        && PAIRS.is_multiple_of(2 * rows * columns)
    {
        true => Ok([rows, columns]),
        false => Err(Refusal::Setting(format!(
            "registers={rows}x{columns}: a divisor of {} is needed",
            PAIRS / 2
        ))),
    }
}

fn add_min_items(ask: &Ask<'_>) -> Planned {
    let [rows, columns] = registers(&ask.case.params)?;
    shape::check_wg(ask.case.wg, ask.target)?;
    let grid = Grid::covering(
        ask.case.wg.size(),
        multiple(ask, ask.case.wg.size() as u64)?,
    );
    let mut defines = vec![("ROWS", rows as usize), ("COLUMNS", columns as usize)];
    defines.extend(minplus::pair_macros(
        ask.case.dtype,
        &Params::new(),
        ask.target,
    ));
    if TOGETHER.is_on(&ask.case.params)?.unwrap_or(false) {
        defines.push(("TOGETHER", 1));
    }
    let sums = sums(ask.rung.variant());
    let mut args = vec![
        Arg::Int((PAIRS / (rows * columns * sums as u64)) as i32),
        Arg::Int(step(&ask.case.params)),
    ];
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
    let sides = [
        ("VEC", vec),
        ("ROWS", rows),
        ("VECTORS", vectors),
        ("REACH", repeats),
    ];
    let mut defines = sides.map(|(name, value)| (name, value as usize)).to_vec();
    if ORDERED.is_on(params)?.unwrap_or(false) {
        if dtype != Dtype::F32 {
            return Err(Refusal::Setting(
                "only f32 is compared as integers of its size".into(),
            ));
        }
        defines.push(("ORDERED", 1));
    }
    let grid = Grid::covering(1, multiple(ask, vec)? / vec);
    Ok(arithmetic(
        ask,
        grid,
        &defines,
        &[Arg::Uint(repeats as u32), Arg::Uint(shift)],
    ))
}

/// The case's lanes, where they are a multiple of `of`: kernels have no guard.
fn multiple(ask: &Ask<'_>, of: u64) -> Result<u64, Refusal> {
    let n = ask.n();
    if n.is_multiple_of(of) {
        Ok(n)
    } else {
        Err(Refusal::Size(format!(
            "n = {n}: a multiple of {of} is needed"
        )))
    }
}

/// One pass that reads the input and writes n elements.
fn arithmetic(ask: &Ask<'_>, grid: Grid, more: &[(&str, usize)], args: &[Arg]) -> Plan {
    let mut plan = Builder::linear(ask, shape::signed(ask.case.dtype), grid);
    plan.note_all();
    more.iter()
        .for_each(|(name, value)| plan.define(name, value));
    for &(name, value) in minplus::element_macros(ask.case.dtype, ask.target) {
        plan.define(name, value);
    }
    let output = plan.output(ask.n() as usize);
    plan.pass(
        grid,
        plan.args([output].into_iter().chain(args.iter().copied())),
    );
    plan.plan(0, 0)
}

/// Advances registers by operations of one kind: [`PAIRS`] of them in each of `n` lanes, a multiple of every group's
/// lanes.
pub static CHAINS: Family = BuiltInFamily {
    name: "arith",
    about: "operations of one kind as fast as possible",
    form: Form::Vector,
    problem: &PROBLEM,
    ladder: const { &ladder([rung("probes/arith/chains.cl", chains, &[VEC])]) },
    choices: &[OP, LENGTH, SWEEPS],
    dtypes: &[Dtype::F32, Dtype::I32, Dtype::F64],
    ceiling: Bound::Arithmetic,
}
.family();

pub const OP: Tunable = Tunable::choice(
    "op",
    "the operation: a multiplication with an addition (fma by the function, mad by operators) or another",
    "mad fma add add_min",
);
const LENGTH: Tunable = Tunable::number(
    "chains",
    "independent registers of a work-item",
    (1, MOST),
    "8 4 16 12 6",
);
const VEC: Tunable = Tunable::choice("vec", "elements of a register", "1 2 4 8 16");

const SWEEPS: Tunable = Tunable::number(
    "sweeps",
    "advances of all registers in a turn of the loop, whose own instructions count on GPUs",
    (1, MOST),
    "8 16 32",
);
/// Most registers of an item, and most sweeps.
const MOST: u64 = 32;

/// Elements from where a lane's register begins to where its next one does, as in the kernel: no vector is longer. Data do not
/// depend on the vectors' length.
const FROM_REGISTER_TO_NEXT: u64 = 16;

/// Setting of checks: all that is added and multiplied by is 0, so that a step without its multiplication shows, and a
/// register that was made of another's end by what was between their beginnings.
const ZERO: &str = "zero";

/// What a case asks for.
struct Chain<'a> {
    op: &'a str,
    registers: u64,
    sweeps: u64,
    turns: u64,
    /// What is added and multiplied by.
    known: i64,
}

impl Chain<'_> {
    fn of(params: &Params) -> Result<Chain<'_>, Refusal> {
        let op = OP
            .given(params)?
            .unwrap_or(OP.values().next().unwrap_or_default());
        let registers = LENGTH.get(params)?.unwrap_or(8);
        let sweeps = SWEEPS.get(params)?.unwrap_or(8);
        let turns = PAIRS / registers.min(PAIRS) / sweeps.min(PAIRS);
        let known = i64::from(!params.contains_key(ZERO));
        match PAIRS.is_multiple_of(registers * sweeps) {
            true => Ok(Chain {
                op,
                registers,
                sweeps,
                turns,
                known,
            }),
            false => Err(Refusal::Setting(format!(
                "chains={registers} sweeps={sweeps}: their product must be a divisor of {PAIRS}"
            ))),
        }
    }

    /// Operations in a lane, of which a multiplication with an addition is two, as an addition with a minimum is.
    fn ops(&self) -> u64 {
        let each = if matches!(self.op, "fma" | "mad" | "add_min") {
            2
        } else {
            1
        };
        each * self.turns * self.sweeps * self.registers
    }

    /// Whether registers change each other, so that all of a lane start from one number.
    fn is_ring(&self, dtype: Dtype) -> bool {
        self.op == "add_min" || (self.op == "add" && dtype == Dtype::I32)
    }

    /// What a lane's ring comes to that starts from this number.
    fn result(&self, start: i64) -> i64 {
        match self.op {
            "add" => self.ring(start, i64::wrapping_add),
            _ => self.ring(start, |x, y| x.min(y - self.known)),
        }
    }

    /// What a register comes to that changes by itself.
    fn end(&self, start: f64) -> f64 {
        match (self.op, self.known) {
            ("fma" | "mad", 0) => 0.0,
            _ => start + (self.known as u64 * self.turns * self.sweeps) as f64,
        }
    }

    /// As the kernel does it: each register advances by its neighbour.
    fn ring(&self, start: i64, step: impl Fn(i64, i64) -> i64) -> i64 {
        let apart = if self.op == "add_min" { 2 } else { 1 };
        let mut x: Vec<i64> = (0..self.registers as i64)
            .map(|c| start + apart * c)
            .collect();
        let last = x.len() - 1;
        for _ in 0..self.turns {
            for _ in 0..self.sweeps {
                for c in 0..last {
                    x[c] = step(x[c], x[c + 1]);
                }
                x[last] = step(x[last], x[0]);
            }
        }
        x.into_iter().fold(0, i64::wrapping_add)
    }
}

static PROBLEM: Exact = Exact {
    // An element for each lane, and those that the last lanes' further registers begin with.
    inputs: |shape, params| {
        let more =
            Chain::of(params).map_or(0, |chain| FROM_REGISTER_TO_NEXT * (chain.registers - 1));
        vec![(shape.n + more) as usize]
    },
    companions: |case, plan| vec![with_setting(case, plan, ZERO, 1)],
    // Small whole numbers, with which everything is exact.
    ..Exact::of_each(Fill::Exact(STARTS as u64), cost, answer)
};

fn cost(case: &Case) -> Cost {
    let n = case.shape.n as f64;
    let ops = Chain::of(&case.params).map_or(0, |chain| chain.ops());
    Cost {
        bytes: 2.0 * n * case.dtype.size() as f64,
        ops: n * ops as f64,
    }
}

fn answer(case: &Case, inputs: &[Array]) -> Array {
    let Ok(chain) = Chain::of(&case.params) else {
        return Array::zeros(case.dtype, 0);
    };
    let starts = inputs[0].widened();
    let n = case.shape.n as usize;
    if !chain.is_ring(case.dtype) {
        let ends: Vec<f64> = starts.into_iter().map(|start| chain.end(start)).collect();
        let of_lane = |lane: usize| {
            ends[lane..]
                .iter()
                .step_by(FROM_REGISTER_TO_NEXT as usize)
                .take(chain.registers as usize)
        };
        return Array::narrowed(case.dtype, (0..n).map(|lane| of_lane(lane).sum()));
    }
    // A lane depends on the one number that it starts from, of which there are few.
    let results: Vec<i64> = (-STARTS..=STARTS)
        .map(|start| chain.result(start))
        .collect();
    let lanes = starts
        .iter()
        .take(n)
        .map(|start| results[(*start as i64 + STARTS) as usize]);
    match case.dtype {
        // Sums wrap.
        Dtype::I32 => Array::I32(lanes.map(|result| result as i32).collect()),
        _ => Array::narrowed(case.dtype, lanes.map(|result| result as f64)),
    }
}

/// Largest number that a lane starts from, of either sign.
const STARTS: i64 = 64;

fn chains(ask: &Ask<'_>) -> Planned {
    shape::check_wg(ask.case.wg, ask.target)?;
    let Case {
        dtype,
        shape,
        params,
        ..
    } = ask.case;
    let chain = Chain::of(params)?;
    let dtype = *dtype;
    let n = shape.n;
    let wg = ask.case.wg.size();
    let vec = VEC.get(params)?.unwrap_or(1);
    if !n.is_multiple_of(vec * wg as u64) {
        return Err(Refusal::Size(format!(
            "n = {n}: a multiple of a group's {} lanes is needed",
            vec * wg as u64
        )));
    }
    let element = if chain.op == "add_min" {
        shape::signed(dtype)
    } else {
        shape::wrapping(dtype)
    };
    let op = match chain.op {
        "add" if !dtype.is_float() => "OP_ADD_NEXT".into(),
        "fma" if !dtype.is_float() => "OP_MAD".into(),
        op => format!("OP_{}", op.to_uppercase()),
    };
    let grid = Grid::covering(wg, n / vec);
    let mut plan = Builder::linear(ask, element, grid);
    plan.note_all();
    plan.define(&op, 1);
    plan.define("VEC", vec);
    plan.define("CHAINS", chain.registers);
    plan.define("SWEEPS", chain.sweeps);
    for &(name, value) in minplus::element_macros(dtype, ask.target) {
        plan.define(name, value);
    }
    let output = plan.output(n as usize);
    let args = plan.args([
        output,
        Arg::Int(chain.turns as i32),
        Arg::Int(chain.known as i32),
    ]);
    plan.pass(grid, args);
    Ok(plan.plan(0, 0))
}

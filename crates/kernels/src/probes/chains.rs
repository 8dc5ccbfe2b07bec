//! The probe of single operations: chains of them in registers.

use super::arithmetic::PAIRS;
use crate::minplus;
use crate::prelude::*;

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
const LENGTH: Tunable = Tunable::number("chains", "independent registers of a work-item", (1, MOST), "8 4 16 12 6");
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
        let op = OP.given(params)?.unwrap_or(OP.values().next().unwrap_or_default());
        let registers = LENGTH.get(params)?.unwrap_or(8);
        let sweeps = SWEEPS.get(params)?.unwrap_or(8);
        let turns = PAIRS / registers.min(PAIRS) / sweeps.min(PAIRS);
        let known = i64::from(!params.contains_key(ZERO));
        match PAIRS.is_multiple_of(registers * sweeps) {
            true => Ok(Chain { op, registers, sweeps, turns, known }),
            false => Err(Refusal::Setting(format!(
                "chains={registers} sweeps={sweeps}: their product must be a divisor of {PAIRS}"
            ))),
        }
    }

    /// Operations in a lane, of which a multiplication with an addition is two, as an addition with a minimum is.
    fn ops(&self) -> u64 {
        let each = if matches!(self.op, "fma" | "mad" | "add_min") { 2 } else { 1 };
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
        let mut x: Vec<i64> = (0..self.registers as i64).map(|c| start + apart * c).collect();
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
        let more = Chain::of(params).map_or(0, |chain| FROM_REGISTER_TO_NEXT * (chain.registers - 1));
        vec![(shape.n + more) as usize]
    },
    companions: |case, plan| {
        let mut params = plan.params.clone();
        params.insert(ZERO.into(), "1".into());
        vec![Case { params, ..case.clone() }]
    },
    // Small whole numbers, with which everything is exact.
    ..Exact::of_each(Fill::Exact(STARTS as u64), cost, answer)
};

fn cost(case: &Case) -> Cost {
    let n = case.shape.n as f64;
    let ops = Chain::of(&case.params).map_or(0, |chain| chain.ops());
    Cost { bytes: 2.0 * n * case.dtype.size() as f64, ops: n * ops as f64 }
}

fn answer(case: &Case, inputs: &[Array]) -> Array {
    let Ok(chain) = Chain::of(&case.params) else { return Array::zeros(case.dtype, 0) };
    let starts = inputs[0].widened();
    let n = case.shape.n as usize;
    if !chain.is_ring(case.dtype) {
        let ends: Vec<f64> = starts.into_iter().map(|start| chain.end(start)).collect();
        let of_lane =
            |lane: usize| ends[lane..].iter().step_by(FROM_REGISTER_TO_NEXT as usize).take(chain.registers as usize);
        return Array::narrowed(case.dtype, (0..n).map(|lane| of_lane(lane).sum()));
    }
    // A lane depends on the one number that it starts from, of which there are few.
    let results: Vec<i64> = (-STARTS..=STARTS).map(|start| chain.result(start)).collect();
    let lanes = starts.iter().take(n).map(|start| results[(*start as i64 + STARTS) as usize]);
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
    let Case { dtype, shape, params, .. } = ask.case;
    let chain = Chain::of(params)?;
    let dtype = *dtype;
    let n = shape.n;
    let wg = ask.case.wg.size();
    let vec = VEC.get(params)?.unwrap_or(1);
    if !n.is_multiple_of(vec * wg as u64) {
        return Err(Refusal::Size(format!("n = {n}: a multiple of a group's {} lanes is needed", vec * wg as u64)));
    }
    let element = if chain.op == "add_min" { shape::signed(dtype) } else { shape::wrapping(dtype) };
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
    let args =
        plan.inputs().into_iter().chain([output, Arg::Int(chain.turns as i32), Arg::Int(chain.known as i32)]).collect();
    plan.pass(grid, args);
    Ok(plan.plan(0, 0))
}

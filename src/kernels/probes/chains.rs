//! The probe of single operations: chains of them in registers.

use super::arithmetic::{PAIRS, exactly};
use crate::data::{Array, Dtype, Fill, Params, Shape};
use crate::kernels::minplus;
use crate::kernels::shape::{self, Grid};
use crate::kernels::{Ask, Bound, Builder, Family, Form, Problem, Tunable, rung};
use crate::plan::{Arg, Case, Cost, Plan, Reference, Refusal};

/// Advances registers by operations of one kind: [`PAIRS`] of them in each of `n` lanes, a multiple of every group's
/// lanes; in `half` as many as stay exact.
pub const CHAINS: Family = Family {
    name: "arith",
    about: "operations of one kind as fast as possible",
    form: Form::Vector,
    references: &[],
    problem: &Chains,
    ladder: &[rung("probes/arith/v1_chains.cl", chains, &[VEC])],
    choices: &[OP, HALF, LENGTH, SWEEPS],
    dtypes: &[Dtype::F32, Dtype::I32, Dtype::F64],
    ceiling: Bound::Arithmetic,
};

/// The operation.
pub const OP: Tunable = Tunable::choice(
    "op",
    "the operation: a multiplication with an addition (fma by the function, mad by operators) or another",
    &["mad", "fma", "add", "min", "add_min"],
);
/// Whether the registers are of `half`.
pub const HALF: Tunable = Tunable::switch("half", "whether registers hold half, from f32 in memory");
const LENGTH: Tunable =
    Tunable::number("chains", "independent registers of a work-item", (1, MOST), &["8", "4", "16", "12", "6"]);
const VEC: Tunable = Tunable::choice("vec", "elements of a register", &["1", "2", "4", "8", "16"]);

const SWEEPS: Tunable = Tunable::number(
    "sweeps",
    "advances of all registers in a turn of the loop, whose own instructions count on GPUs",
    (1, MOST),
    &["8", "16", "32"],
);
/// Most registers of an item, and most sweeps.
const MOST: u64 = 32;
/// Advances of a register of `half` that stay whole numbers without rounding.
const EXACT_IN_HALF: u64 = 1024;

/// What a case asks for.
struct Chain<'a> {
    op: &'a str,
    half: bool,
    registers: u64,
    sweeps: u64,
    turns: u64,
}

impl Chain<'_> {
    fn of(params: &Params) -> Result<Chain<'_>, Refusal> {
        let op = OP.given(params)?.unwrap_or(OP.values[0]);
        let half = HALF.is_on(params)?.unwrap_or(false);
        let registers = LENGTH.get(params)?.unwrap_or(8);
        let sweeps = SWEEPS.get(params)?.unwrap_or(8);
        let steps = PAIRS / registers.min(PAIRS);
        let turns = if half { steps.min(EXACT_IN_HALF) } else { steps } / sweeps.min(PAIRS);
        match PAIRS.is_multiple_of(registers * sweeps) {
            true => Ok(Chain { op, half, registers, sweeps, turns }),
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

    /// What a lane comes to that starts from this number. Only [`Chain::ring`] is no formula.
    fn result(&self, dtype: Dtype, start: i64) -> i64 {
        let (registers, steps) = (self.registers as i64, (self.turns * self.sweeps) as i64);
        let firsts = registers * start + registers * (registers - 1) / 2;
        match self.op {
            "add" if dtype == Dtype::I32 => self.ring(start, |x, next| x.wrapping_add(next)),
            "min" | "add_min" => self.ring(start, if self.op == "min" { i64::min } else { |x, y| x.min(y - 1) }),
            _ => firsts + registers * steps,
        }
    }

    /// As the kernel does it: each register advances by its neighbour, and of minima the last is lowered in each turn.
    fn ring(&self, start: i64, step: fn(i64, i64) -> i64) -> i64 {
        let apart = if self.op == "add_min" { 2 } else { 1 };
        let mut x: Vec<i64> = (0..self.registers as i64).map(|c| start + apart * c).collect();
        let last = x.len() - 1;
        for _ in 0..self.turns {
            x[last] -= i64::from(self.op == "min");
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

struct Chains;

impl Problem for Chains {
    fn inputs(&self, shape: Shape, _: &Params) -> Vec<usize> {
        vec![shape.n as usize]
    }

    fn result(&self, shape: Shape, _: &Params) -> usize {
        shape.n as usize
    }

    // Small whole numbers, with which everything is exact.
    fn fill(&self, _: &Case) -> Fill {
        Fill::Exact(STARTS as u64)
    }

    fn is_exact(&self, _: &Case) -> bool {
        true
    }

    fn cost(&self, case: &Case) -> Cost {
        let (n, ops) = (case.shape.n as f64, Chain::of(&case.params).map_or(0, |chain| chain.ops()));
        Cost { bytes: 2.0 * n * case.dtype.size() as f64, ops: n * ops as f64 }
    }

    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference {
        let Ok(chain) = Chain::of(&case.params) else { return exactly(case.dtype, Vec::new()) };
        // A lane depends on the one number that it starts from, of which there are few.
        let results: Vec<i64> = (-STARTS..=STARTS).map(|start| chain.result(case.dtype, start)).collect();
        let result = |start: &f64| results[(*start as i64 + STARTS) as usize];
        let lanes = inputs[0].widened();
        match case.dtype {
            // Sums wrap.
            Dtype::I32 => {
                let words = lanes.iter().map(|start| result(start) as i32).collect();
                Reference::Exact(Array::I32(words))
            }
            _ => exactly(case.dtype, lanes.iter().map(|start| result(start) as f64).collect()),
        }
    }
}

/// Largest number that a lane starts from, of either sign.
const STARTS: i64 = 64;

fn chains(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    shape::check_wg(ask.case.wg, ask.target)?;
    let Case { dtype, shape, params, .. } = ask.case;
    let chain = Chain::of(params)?;
    let (dtype, n, wg) = (*dtype, shape.n, ask.case.wg.size());
    let vec = VEC.get(params)?.unwrap_or(1);
    if chain.half && (dtype != Dtype::F32 || !ask.target.fp16) {
        return Err(Refusal::Feature(
            "half: this device has no fp16, or other elements than f32 were asked for".into(),
        ));
    }
    if !n.is_multiple_of(vec * wg as u64) {
        return Err(Refusal::Size(format!("n = {n}: a multiple of a group's {} lanes is needed", vec * wg as u64)));
    }
    let compares = matches!(chain.op, "min" | "add_min");
    let element = if compares { shape::signed(dtype) } else { shape::wrapping(dtype) };
    let op = match chain.op {
        "add" if !dtype.is_float() => "OP_ADD_NEXT".into(),
        "fma" if !dtype.is_float() => "OP_MAD".into(),
        op => format!("OP_{}", op.to_uppercase()),
    };
    let grid = Grid::covering(wg, n / vec);
    let mut plan = Builder::linear(ask, if chain.half { "half" } else { element }, grid);
    plan.note_all();
    plan.define(&op, 1);
    plan.define("VEC", vec);
    plan.define("CHAINS", chain.registers);
    plan.define("SWEEPS", chain.sweeps);
    for (name, value) in minplus::element_macros(dtype, ask.target) {
        plan.define(name, value);
    }
    if chain.half {
        plan.define("HALF", 1);
        plan.define("M", "float");
    }
    let output = plan.output(n as usize);
    let args = plan.inputs().into_iter().chain([output, Arg::Int(chain.turns as i32), Arg::Int(1)]).collect();
    plan.pass("", grid, args);
    Ok(plan.plan(0, 0))
}

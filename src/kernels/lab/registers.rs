//! Many values of an item that are all needed at once, in as many registers as the compiler likes or in fewer.

use super::{Exact, OneLaunch, ROUNDS, arg, as_it_is, get, setting, whole_groups};
use crate::data::{Array, Dtype, Fill};
use crate::kernels::shape::Grid;
use crate::kernels::{Ask, Bound, Family, Form, Tunable, rung};
use crate::plan::{Arg, Case, Cost, Plan, Refusal};

/// n items with live values.
pub(crate) const FAMILY: Family = Family {
    name: "registers",
    about: "chains of multiplications with an addition on many values of an item",
    form: Form::Vector,
    problem: &Exact {
        inputs: |shape, _| vec![shape.n as usize],
        result: |shape, _| shape.n as usize,
        // Every sum is a whole number that f32 has.
        fill: Fill::Exact(64),
        cost,
        answer,
        finish: as_it_is,
    },
    references: &[],
    ladder: &[rung("lab/registers/v1_live.cl", plan, &[MAX_REGISTERS])],
    choices: &[LIVE, ROUNDS],
    dtypes: &[Dtype::F32],
    ceiling: Bound::Arithmetic,
};

pub(crate) const LIVE: Tunable = setting("live", "values of an item that are needed at once");
/// The macro of this name is also the build option; see [`crate::plan::MAX_REGISTERS`].
pub(crate) const MAX_REGISTERS: Tunable =
    setting("max_registers", "registers of an item that the compiler may use; 0 for as many as it likes");

/// Values that an item may have at most: NVIDIA's have 255 registers.
const MOST_LIVE: u64 = 256;
/// The least cap that NVIDIA's compiler takes as it is.
const LEAST_CAP: u64 = 16;

/// An operation is a step: a multiplication with an addition.
fn cost(case: &Case) -> Cost {
    let (n, live, rounds) = (case.shape.n as f64, get(&case.params, LIVE.name), get(&case.params, ROUNDS.name));
    Cost { bytes: 8.0 * n, ops: n * (live * rounds) as f64 }
}

fn answer(case: &Case, inputs: &[Array]) -> Array {
    let (live, rounds) = (get(&case.params, LIVE.name), get(&case.params, ROUNDS.name));
    let added = (live * live.saturating_sub(1) / 2 + live * rounds) as f32;
    match &inputs[0] {
        Array::F32(x) => Array::F32(x.iter().map(|x| x * live as f32 + added).collect()),
        other => Array::zeros(other.dtype(), other.len()),
    }
}

fn plan(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let n = whole_groups(ask)?;
    let (live, cap) = (get(&ask.case.params, LIVE.name), get(&ask.case.params, MAX_REGISTERS.name));
    if !(1..=MOST_LIVE).contains(&live) {
        return Err(Refusal::Setting(format!("live={live}: from 1 to {MOST_LIVE} values are possible")));
    }
    if cap > 0 && !ask.target.register_caps {
        let why = "this driver takes no cap on registers (cl_nv_compiler_options is missing)";
        return Err(Refusal::Feature(format!("max_registers={cap}: {why}")));
    }
    if cap > 0 && !(LEAST_CAP..=255).contains(&cap) {
        return Err(Refusal::Setting(format!("max_registers={cap}: 0, or from {LEAST_CAP} to 255, is needed")));
    }
    OneLaunch {
        grid: Grid::covering(ask.case.wg.size(), n),
        output: n as usize,
        defines: &[("LIVE", live.to_string()), (crate::plan::MAX_REGISTERS, cap.to_string())],
        args: &[arg(ask, ROUNDS.name), Arg::Uint(1)],
        local: 0,
    }
    .plan(ask)
}

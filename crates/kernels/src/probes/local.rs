//! The probe of local memory.

use super::memory::{INSIDE, LOADS, Read, repeats};
use crate::prelude::*;

/// Reads `n` 32-bit words through local memory: each group its own, as often as `nreps` says.
pub static LOCAL: Family = BuiltInFamily {
    name: "local",
    about: "read local memory as fast as possible",
    form: Form::Vector,
    problem: &Read,
    ladder: const { &ladder([rung("probes/local/vectors.cl", local_vectors, &[VEC, LOADS])]) },
    choices: &[INSIDE],
    dtypes: &[Dtype::I32],
    ceiling: Bound::Local,
}
.family();

const VEC: Tunable = Tunable::choice("vec", "words of a load", "4 1 2 8 16");

fn local_vectors(ask: &Ask<'_>) -> Planned {
    shape::check_wg(ask.case.wg, ask.target)?;
    let Case { params, shape, .. } = ask.case;
    let wg = ask.case.wg.size();
    let vec = VEC.get(params)?.unwrap_or(4) as usize;
    let loads = LOADS.get(params)?.unwrap_or(1) as usize;
    let n = shape.n as usize;
    let tile = wg * loads * vec;
    if !n.is_multiple_of(tile) {
        return Err(Refusal::Size(format!("n = {n}: a multiple of a group's {tile} words is needed")));
    }
    let grid = Grid { groups: n / tile, wg };
    let mut plan = Builder::linear(ask, shape::wrapping(Dtype::I32), grid);
    plan.note_all();
    plan.define("VEC", vec);
    plan.define("LOADS", loads);
    let output = plan.output(n / loads);
    let args = plan.inputs().into_iter().chain([output, Arg::Uint(repeats(params) as u32), Arg::Uint(0)]).collect();
    plan.pass(grid, args);
    Ok(plan.plan(tile as u64, 0))
}

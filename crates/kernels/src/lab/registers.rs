//! Many values of an item that are all needed at once, in as many registers as the compiler likes or in fewer.

use super::chains::{CHECKS, ChainStep, starts, sums, sums_cost};
use super::*;

/// n items with live values.
pub static FAMILY: Family = BuiltInFamily {
    name: "registers",
    about: "chains of multiplications with an addition on many values of an item",
    problem: &Exact {
        inputs: |shape, params| starts(shape, get(params, LIVE.name)),
        companions: |case, plan| checked(case, plan, CHECKS),
        ..Exact::of_each(
            Fill::Exact(64),
            |case| sums_cost(case, size(case).0, size(case).1),
            |case, inputs| sums(case, inputs, size(case).0, size(case).1),
        )
    },
    ladder: const { &ladder([rung("lab/registers/live.cl", plan, &[MAX_REGISTERS])]) },
    choices: &[LIVE, ROUNDS],
    ..FLOAT_STEPS
}
.family();

pub const LIVE: Tunable = setting("live", "values of an item that are needed at once");
/// The macro of this name is also the build option; see [`gpulab_model::plan::MAX_REGISTERS`].
pub const MAX_REGISTERS: Tunable =
    setting("max_registers", "registers of an item that the compiler may use; 0 for as many as it likes");

/// Values that an item may have at most: NVIDIA's have 255 registers.
const MOST_LIVE: u64 = 256;
/// The least cap that NVIDIA's compiler takes as it is.
const LEAST_CAP: u64 = 16;

/// Values of an item, and steps of each.
fn size(case: &Case) -> (u64, u64) {
    (get(&case.params, LIVE.name), get(&case.params, ROUNDS.name))
}

fn plan(ask: &Ask<'_>) -> Planned {
    whole_groups(ask)?;
    let live = get(&ask.case.params, LIVE.name);
    let cap = get(&ask.case.params, MAX_REGISTERS.name);
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
    let [factor, term] = ChainStep::of(ask.case).args();
    let defines = [("LIVE", live.to_string()), (gpulab_model::plan::MAX_REGISTERS, cap.to_string())];
    of_each_item(ask, &defines, &[arg(ask, ROUNDS.name), factor, term], 0)
}

//! One item that sums floats one after the other, in steps that go through all of them in another order.

use super::*;
use crate::reduce;

/// Sums n floats, a power of two, one after the other.
pub static FAMILY: Family = BuiltInFamily {
    name: "orders",
    about: "sum floats one after the other in several orders",
    problem: &reduce::Reduce,
    ladder: const { &ladder([rung("lab/orders/sequential.cl", sequential, &[STEP])]) },
    dtypes: &[Dtype::F32],
    ..READS
}
.family();

pub const STEP: Tunable = setting("step", "from each element to the next, odd");

fn sequential(ask: &Ask<'_>) -> Planned {
    let n = ask.case.shape.n;
    let step = get(&ask.case.params, STEP.name);
    if !n.is_power_of_two() || step.is_multiple_of(2) {
        return Err(Refusal::Size(format!("n={n} step={step}: a power of two and an odd number are needed")));
    }
    let args = [n, step].map(|number| Arg::Uint(number as u32));
    let plan =
        OneLaunch { grid: Grid { groups: 1, wg: 1 }, output: 1, defines: &[], args: &args, local: 0 }.plan(ask)?;
    Ok(Plan { depth: n, ..plan })
}

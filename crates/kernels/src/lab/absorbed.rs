//! Three terms, of which the first two cancel each other, added from either end.

use super::*;

/// Three terms whose sum depends on the order.
pub static FAMILY: Family = BuiltInFamily {
    name: "absorbed",
    about: "sum three terms from either end",
    problem: &Exact {
        inputs: |_, _| vec![1],
        result: |_, _| 1,
        ..Exact::of_each(
            Fill::Ones,
            |_| Cost { bytes: 8.0, ops: 2.0 },
            |case, _| Array::F32(vec![if get(&case.params, RIGHT.name) == 1 { 0.0 } else { 1.0 }]),
        )
    },
    ladder: const { &ladder([rung("lab/absorbed/three_terms.cl", three_terms, &[])]) },
    choices: &[RIGHT],
    dtypes: &[Dtype::F32],
    ..READS
}
.family();

pub const RIGHT: Tunable = setting("right", "whether the last two terms are added first");

fn three_terms(ask: &Ask<'_>) -> Planned {
    let args = [arg(ask, RIGHT.name)];
    OneLaunch { grid: Grid { groups: 1, wg: 1 }, output: 1, defines: &[], args: &args, local: 0 }.plan(ask)
}

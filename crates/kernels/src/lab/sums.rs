//! Sums whose order, remaining elements or synchronisation make the difference.

use super::*;
use crate::{dot, reduce};
use gpulab_model::plan::{BufferSpec, Pass, Role, WorkGroup};

// Three terms, of which the first two cancel each other, added from either end.

/// Three terms whose sum depends on the order.
pub static ABSORBED: Family = BuiltInFamily {
    name: "absorbed",
    about: "sum three terms from either end",
    problem: &Exact {
        inputs: |_, _| vec![1],
        result: |_, _| 1,
        ..Exact::of_each(
            Fill::Ones,
            |_| Cost {
                bytes: 8.0,
                ops: 2.0,
            },
            |case, _| Array::F32(vec![if get(case, RIGHT) == 1 { 0.0 } else { 1.0 }]),
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
    let args = [arg(ask, RIGHT)];
    one_launch(ask, Grid { groups: 1, wg: 1 }, 1, &[], &args, 0)
}

// One item that sums floats one after the other, in steps that go through all of them in another order.

/// Sums n floats, a power of two, one after the other.
pub static ORDERS: Family = BuiltInFamily {
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
    let n = ask.n();
    let step = get(ask.case, STEP);
    if !n.is_power_of_two() || step.is_multiple_of(2) {
        return Err(Refusal::Size(format!(
            "n={n} step={step}: a power of two and an odd number are needed"
        )));
    }
    let args = [n, step].map(|number| Arg::Uint(number as u32));
    let plan = one_launch(ask, Grid { groups: 1, wg: 1 }, 1, &[], &args, 0)?;
    Ok(Plan { depth: n, ..plan })
}

// One dot product of integers in four forms, for sizes that groups do not divide.
//
// A guard stands before each access; the host or a second launch adds the remaining elements; or zeros lie behind the
// data.

/// The kernels; settings and data are those of the dot product.
pub static PRESUM: Family = BuiltInFamily {
    name: "presum",
    about: "dot product of a size that groups do not divide",
    problem: &dot::Dot,
    ladder: const {
        &ladder([
            rung("lab/presum/guard.cl", guard, &[]),
            rung("lab/presum/host.cl", host, &[]),
            rung("lab/presum/device.cl", device, &[]),
            rung("lab/presum/padding.cl", padding, &[]),
        ])
    },
    ..READS
}
.family();

/// Elements of a work-item.
pub const ITEMS: u64 = 8;

/// Elements of a group, and the launch of as many groups as `count` makes of the elements.
fn blocks(ask: &Ask<'_>, count: fn(u64, u64) -> u64) -> Result<(u64, Grid), Refusal> {
    shape::check_wg(ask.case.wg, ask.target)?;
    let wg = ask.case.wg.size();
    let block = wg as u64 * ITEMS;
    if ask.n() < block {
        return Err(Refusal::Size(format!(
            "n = {}: a group takes {block} elements, so that no whole group is left",
            ask.n()
        )));
    }
    Ok((
        block,
        Grid {
            groups: count(ask.n(), block) as usize,
            wg,
        },
    ))
}

/// A plan with `partials` sums for the host to add; `scratch` come behind the inputs and the output.
fn presum(ask: &Ask<'_>, partials: usize, scratch: &[usize], passes: Vec<Pass>) -> Plan {
    let dtype = ask.case.dtype;
    let n = ask.n();
    let wg = ask.case.wg;
    let mut defines = shape::defines(shape::wrapping(dtype), n);
    defines.extend([
        ("WG".into(), wg.size().to_string()),
        ("ITEMS".into(), ITEMS.to_string()),
    ]);
    let inputs = [0, 1].map(|i| (Role::Input(i), n as usize));
    let scratch = scratch.iter().map(|&len| (Role::Scratch, len));
    let buffers = inputs
        .into_iter()
        .chain([(Role::Output, partials)])
        .chain(scratch);
    Plan {
        defines,
        buffers: buffers
            .map(|(role, len)| BufferSpec { role, dtype, len })
            .collect(),
        passes,
        wg: WorkGroup::linear(wg.size()),
        params: Params::new(),
        local_bytes: (wg.size() * dtype.size()) as u64,
        // Integers round nothing.
        depth: 0,
        host_tail: None,
        restored: false,
    }
}

/// The inputs' and the output's places among a plan's buffers.
const X: Arg = Arg::Buffer(0);
const Y: Arg = Arg::Buffer(1);
const PARTIAL: Arg = Arg::Buffer(2);

fn guard(ask: &Ask<'_>) -> Planned {
    let (_, grid) = blocks(ask, u64::div_ceil)?;
    let pass = shape::pass(
        &ask.rung.kernel(),
        grid,
        vec![X, Y, PARTIAL, Arg::Index(ask.n())],
    );
    Ok(presum(ask, grid.groups, &[], vec![pass]))
}

fn host(ask: &Ask<'_>) -> Planned {
    let (block, grid) = blocks(ask, |n, block| n / block)?;
    let n = ask.n();
    let pass = shape::pass(&ask.rung.kernel(), grid, vec![X, Y, PARTIAL]);
    let host_tail = (!n.is_multiple_of(block)).then_some(n - n % block);
    Ok(Plan {
        host_tail,
        ..presum(ask, grid.groups, &[], vec![pass])
    })
}

fn device(ask: &Ask<'_>) -> Planned {
    let (block, grid) = blocks(ask, |n, block| n / block)?;
    let n = ask.n();
    let begin = n - n % block;
    let kernel = ask.rung.kernel();
    let one = Grid {
        groups: 1,
        wg: grid.wg,
    };
    let args = vec![X, Y, PARTIAL, Arg::Index(begin), Arg::Index(n)];
    let tail = (begin < n).then(|| shape::pass(&format!("{kernel}_tail"), one, args));
    let partials = grid.groups + tail.iter().len();
    let main = shape::pass(&kernel, grid, vec![X, Y, PARTIAL]);
    Ok(presum(
        ask,
        partials,
        &[],
        tail.into_iter().chain([main]).collect(),
    ))
}

fn padding(ask: &Ask<'_>) -> Planned {
    let (block, grid) = blocks(ask, u64::div_ceil)?;
    let n = ask.n();
    let padded = grid.groups * block as usize;
    let kernel = ask.rung.kernel();
    let copies = Grid {
        groups: padded / grid.wg,
        wg: grid.wg,
    };
    let pad = |from: Arg, to: Arg| {
        let args = vec![from, to, Arg::Index(n)];
        Pass {
            timed: false,
            ..shape::pass(&format!("{kernel}_pad"), copies, args)
        }
    };
    let x = Arg::Buffer(3);
    let y = Arg::Buffer(4);
    let passes = vec![
        pad(X, x),
        pad(Y, y),
        shape::pass(&kernel, grid, vec![x, y, PARTIAL]),
    ];
    Ok(presum(ask, grid.groups, &[padded; 2], passes))
}

// Sums by trees whose last steps, within one warp, are synchronised or not.

/// The kernels: a sum of each group's elements. What is right of them is told, and not demanded: see [`Lockstep`].
pub static LOCKSTEP: Family = BuiltInFamily {
    name: "lockstep",
    about: "sums by a tree whose last steps are not, or differently, synchronised",
    problem: &Lockstep,
    ladder: const {
        &ladder([
            rung("lab/lockstep/bare.cl", |ask| tree(ask, None), &[]),
            rung("lab/lockstep/volatile.cl", |ask| tree(ask, None), &[]),
            rung(
                "lab/lockstep/synchronised.cl",
                |ask| tree(ask, Some(shape::lockstep(ask)?)),
                &[],
            ),
        ])
    },
    ..READS
}
.family();

/// Items of the warp that the slides write out.
const WARP: usize = 32;

/// The result is the number of groups whose sum is wrong: none where items are synchronised, any number where they race.
struct Lockstep;

impl Problem for Lockstep {
    fn cost(&self, case: &Case) -> Cost {
        let n = case.shape.n as f64;
        Cost {
            bytes: 4.0 * n,
            ops: n,
        }
    }

    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference {
        let groups = inputs[0].len() / case.wg.size();
        Reference::Error(if case.variant == "synchronised" {
            0.0
        } else {
            groups as f64
        })
    }

    fn error(&self, case: &Case, sums: &Array, inputs: &[Array]) -> Option<Array> {
        let elements = words(&inputs[0]);
        let wanted = elements
            .chunks(case.wg.size())
            .map(|group| group.iter().copied().fold(0, u32::wrapping_add));
        let wrong = array(wanted)
            .as_bytes()
            .chunks(4)
            .zip(sums.as_bytes().chunks(4))
            .filter(|(a, b)| a != b)
            .count();
        Some(Array::F64(vec![wrong as f64]))
    }
}

fn tree(ask: &Ask<'_>, lockstep: Option<&str>) -> Planned {
    let n = whole_groups(ask)?;
    let wg = ask.case.wg.size();
    if !wg.is_power_of_two() || wg < 2 * WARP {
        return Err(Refusal::Group(format!(
            "work-group {wg}: a power of two from {} on is needed",
            2 * WARP
        )));
    }
    let grid = Grid::covering(wg, n);
    let defines: Vec<(&str, String)> = lockstep
        .into_iter()
        .map(|name| (name, "1".to_owned()))
        .collect();
    one_launch(ask, grid, grid.groups, &defines, &[], 4 * wg as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_with_a_wrong_sum_are_counted() {
        let case = |variant: &str| Case {
            wg: WorkGroup::linear(64),
            ..Case::of(&LOCKSTEP.name, variant, Dtype::I32, Shape::vector(256))
        };
        let inputs = [Array::I32((0..256).collect())];
        let right: Vec<i32> = (0..4)
            .map(|group| (64 * group..64 * (group + 1)).sum())
            .collect();
        let wrong =
            |sums: &[i32]| Lockstep.error(&case("bare"), &Array::I32(sums.to_vec()), &inputs);
        assert_eq!(wrong(&right), Some(Array::F64(vec![0.0])));
        assert_eq!(
            wrong(&[right[0], 7, right[2], 8]),
            Some(Array::F64(vec![2.0]))
        );
        assert_eq!(
            Lockstep.reference(&case("bare"), &inputs),
            Reference::Error(4.0)
        );
        assert_eq!(
            Lockstep.reference(&case("synchronised"), &inputs),
            Reference::Error(0.0)
        );
    }
}

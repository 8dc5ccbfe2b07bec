//! One dot product of integers in four forms, for sizes that groups do not divide.
//!
//! A guard stands before each access; the host or a second launch adds the remaining elements; or zeros lie behind the
//! data.

use super::*;
use crate::dot;
use gpulab_model::plan::{BufferSpec, Pass, Role, WorkGroup};

/// The kernels; settings and data are those of the dot product.
pub static FAMILY: Family = BuiltInFamily {
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
    if ask.case.shape.n < block {
        return Err(Refusal::Size(format!(
            "n = {}: a group takes {block} elements, so that no whole group is left",
            ask.case.shape.n
        )));
    }
    Ok((block, Grid { groups: count(ask.case.shape.n, block) as usize, wg }))
}

/// A plan with `partials` sums for the host to add; `scratch` come behind the inputs and the output.
fn plan(ask: &Ask<'_>, partials: usize, scratch: &[usize], passes: Vec<Pass>) -> Plan {
    let dtype = ask.case.dtype;
    let n = ask.case.shape.n;
    let wg = ask.case.wg;
    let mut defines = shape::defines(shape::wrapping(dtype), n);
    defines.extend([("WG".into(), wg.size().to_string()), ("ITEMS".into(), ITEMS.to_string())]);
    let inputs = [0, 1].map(|i| (Role::Input(i), n as usize));
    let scratch = scratch.iter().map(|&len| (Role::Scratch, len));
    let buffers = inputs.into_iter().chain([(Role::Output, partials)]).chain(scratch);
    Plan {
        defines,
        buffers: buffers.map(|(role, len)| BufferSpec { role, dtype, len }).collect(),
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
    let pass = shape::pass(&ask.rung.kernel(), grid, vec![X, Y, PARTIAL, Arg::Index(ask.case.shape.n)]);
    Ok(plan(ask, grid.groups, &[], vec![pass]))
}

fn host(ask: &Ask<'_>) -> Planned {
    let (block, grid) = blocks(ask, |n, block| n / block)?;
    let n = ask.case.shape.n;
    let pass = shape::pass(&ask.rung.kernel(), grid, vec![X, Y, PARTIAL]);
    let host_tail = (n % block > 0).then_some(n - n % block);
    Ok(Plan { host_tail, ..plan(ask, grid.groups, &[], vec![pass]) })
}

fn device(ask: &Ask<'_>) -> Planned {
    let (block, grid) = blocks(ask, |n, block| n / block)?;
    let n = ask.case.shape.n;
    let begin = n - n % block;
    let kernel = ask.rung.kernel();
    let one = Grid { groups: 1, wg: grid.wg };
    let args = vec![X, Y, PARTIAL, Arg::Index(begin), Arg::Index(n)];
    let tail = (begin < n).then(|| shape::pass(&format!("{kernel}_tail"), one, args));
    let partials = grid.groups + tail.iter().len();
    let main = shape::pass(&kernel, grid, vec![X, Y, PARTIAL]);
    Ok(plan(ask, partials, &[], tail.into_iter().chain([main]).collect()))
}

fn padding(ask: &Ask<'_>) -> Planned {
    let (block, grid) = blocks(ask, u64::div_ceil)?;
    let n = ask.case.shape.n;
    let padded = grid.groups * block as usize;
    let kernel = ask.rung.kernel();
    let copies = Grid { groups: padded / grid.wg, wg: grid.wg };
    let pad = |from: Arg, to: Arg| {
        let args = vec![from, to, Arg::Index(n)];
        Pass { timed: false, ..shape::pass(&format!("{kernel}_pad"), copies, args) }
    };
    let x = Arg::Buffer(3);
    let y = Arg::Buffer(4);
    let passes = vec![pad(X, x), pad(Y, y), shape::pass(&kernel, grid, vec![x, y, PARTIAL])];
    Ok(plan(ask, grid.groups, &[padded; 2], passes))
}

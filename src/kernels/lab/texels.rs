//! Reads of every word of a plane in some order, from a buffer, a line of pixels, or an image of rows and columns.

use super::{Exact, IN_TURNS, OneLaunch, Walk, get, setting};
use crate::cpu;
use crate::data::{Dtype, Fill};
use crate::kernels::{Ask, Bound, Family, Form, Tunable, rung};
use crate::plan::{Arg, BufferSpec, Cost, Image, Plan, Refusal, Role};

/// Reads n words, a power of two, as a plane that is as high as wide or half as high.
pub(crate) const FAMILY: Family = Family {
    name: "texels",
    about: "read every word of a plane in some order",
    form: Form::Vector,
    problem: &Exact {
        inputs: |shape, _| vec![shape.n as usize],
        result: |_, _| 1,
        fill: Fill::Real,
        cost: |case| Cost { bytes: 4.0 * case.shape.n as f64, ops: case.shape.n as f64 },
        answer: |_, inputs| cpu::wrapping_sum(&inputs[0]),
        finish: |_, output| cpu::wrapping_sum(&output),
    },
    references: &[],
    ladder: &[
        rung("lab/texels/v1_buffer.cl", buffer, &[ORDER]),
        rung("lab/texels/v2_line.cl", line, &[ORDER]),
        rung("lab/texels/v3_plane.cl", plane, &[ORDER]),
    ],
    choices: &[],
    dtypes: &[Dtype::I32],
    ceiling: Bound::Read,
};

pub(crate) const ORDER: Tunable = setting("order", "number of the order of reads");

/// Logarithms of the sides of n words: as high as wide, or half as high. Both are at least 8.
fn sides(ask: &Ask<'_>) -> Result<[u32; 2], Refusal> {
    let n = ask.case.shape.n;
    match n.ilog2() {
        bits if n.is_power_of_two() && (6..=30).contains(&bits) => Ok([bits.div_ceil(2), bits / 2]),
        _ => Err(Refusal::Size(format!("n={n}: a power of two from 64 to 2^30 is needed"))),
    }
}

fn buffer(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let [wide, high] = sides(ask)?;
    let walk = Walk::over(ask, ask.case.shape.n, 8, IN_TURNS)?;
    let args = [walk.apart, walk.step, walk.share].map(|number| Arg::Uint(number as u32));
    let order = get(&ask.case.params, ORDER.name);
    let defines = [("WIDE", wide.to_string()), ("HIGH", high.to_string()), ("ORDER", order.to_string())];
    let (grid, output) = (walk.grid, walk.grid.items());
    OneLaunch { grid, output, defines: &defines, args: &args, local: 0 }.plan(ask)
}

fn line(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    of_image(ask, buffer(ask)?, ask.case.shape.n as usize, None)
}

fn plane(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let [width, height] = sides(ask)?.map(|side| 1 << side);
    of_image(ask, buffer(ask)?, width, Some(height))
}

/// The same launch, given an image of its input in place of it.
pub(super) fn of_image(ask: &Ask<'_>, plan: Plan, width: usize, height: Option<usize>) -> Result<Plan, Refusal> {
    if !ask.target.images {
        return Err(Refusal::Feature("this device has no images".into()));
    }
    let Plan { mut buffers, mut passes, .. } = plan;
    let image = Image { width, height };
    let spec =
        BufferSpec { role: Role::Image { of: 0, image }, dtype: ask.case.dtype, len: width * height.unwrap_or(1) };
    for arg in passes.iter_mut().flat_map(|pass| &mut pass.args).filter(|arg| **arg == Arg::Buffer(0)) {
        *arg = Arg::Buffer(buffers.len());
    }
    buffers.push(spec);
    Ok(Plan { buffers, passes, ..plan })
}

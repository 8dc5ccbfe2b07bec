//! Reads of every word of a plane or a volume in some order, from a buffer, a line of pixels, or an image of rows and columns,
//! or of slices.

use super::*;
use crate::read_once;
use gpulab_model::data::Scalar;
use gpulab_model::plan::{BufferSpec, Image, ImageKind, PixelFormat, Role};

/// Reads n words, a power of two, as a plane that is as high as wide or half as high, or as a volume of nearly equal sides.
pub static FAMILY: Family = BuiltInFamily {
    name: "texels",
    about: "read every word of a plane in some order",
    problem: &Exact::of_sum(read_once, |_, inputs| cpu::wrapping_sum(&inputs[0])),
    ladder: const {
        &ladder([
            rung("lab/texels/buffer.cl", buffer, &[ORDER]),
            rung("lab/texels/line.cl", line, &[ORDER]),
            rung("lab/texels/plane.cl", plane, &[ORDER]),
            rung("lab/texels/normalised.cl", plane, &[ORDER]),
            rung("lab/texels/bytes.cl", bytes, &[ORDER]),
            rung("lab/texels/volume.cl", volume, &[ORDER]),
        ])
    },
    ..READS
}
.family();

const WORD: PixelFormat = PixelFormat { channels: 1, scalar: Scalar::U32, is_share: false };

pub const ORDER: Tunable = setting("order", "number of the order of reads");

/// Logarithms of the sides of n words: as high as wide, or half as high. Both are at least 8.
fn sides(ask: &Ask<'_>) -> Result<[u32; 2], Refusal> {
    let n = ask.case.shape.n;
    match n.ilog2() {
        bits if n.is_power_of_two() && (6..=30).contains(&bits) => Ok([bits.div_ceil(2), bits / 2]),
        _ => Err(Refusal::Size(format!("n={n}: a power of two from 64 to 2^30 is needed"))),
    }
}

/// Logarithms of the sides of n words as a volume: width, rows, slices. Each is at least 4.
fn volume_sides(n: u64) -> [u32; 3] {
    let bits = n.ilog2();
    [bits.div_ceil(3), (bits + 1) / 3, bits / 3]
}

fn buffer(ask: &Ask<'_>) -> Planned {
    let [wide, high] = sides(ask)?;
    let walk = Walk::over(ask, ask.case.shape.n, 8, IN_TURNS)?;
    let order = get(&ask.case.params, ORDER.name);
    let [x, y, z] = volume_sides(ask.case.shape.n);
    let numbers = [("WIDE", wide), ("HIGH", high), ("VOLUME_X", x), ("VOLUME_Y", y), ("VOLUME_Z", z)];
    let numbers = numbers.into_iter().map(|(name, number)| (name, number.to_string()));
    let defines: Vec<(&str, String)> = numbers.chain([("ORDER", order.to_string())]).collect();
    walk.plan(ask, &defines, &[])
}

fn line(ask: &Ask<'_>) -> Planned {
    let sides = [ask.case.shape.n as usize, 1, 1];
    of_image(ask, buffer(ask)?, Image { kind: ImageKind::Buffer, sides, format: WORD, is_written: false })
}

fn plane(ask: &Ask<'_>) -> Planned {
    of_image(ask, buffer(ask)?, of_plane(ask)?)
}

fn bytes(ask: &Ask<'_>) -> Planned {
    let bytes = PixelFormat { channels: 4, scalar: Scalar::U8, is_share: true };
    of_image(ask, buffer(ask)?, Image { format: bytes, ..of_plane(ask)? })
}

fn of_plane(ask: &Ask<'_>) -> Result<Image, Refusal> {
    let [width, height] = sides(ask)?.map(|side| 1 << side);
    Ok(Image { kind: ImageKind::Plane, sides: [width, height, 1], format: WORD, is_written: false })
}

fn volume(ask: &Ask<'_>) -> Planned {
    let plan = buffer(ask)?;
    let sides = volume_sides(ask.case.shape.n).map(|side| 1 << side);
    of_image(ask, plan, Image { kind: ImageKind::Volume, sides, format: WORD, is_written: false })
}

/// The same launch, given an image of its input in place of it.
pub(super) fn of_image(ask: &Ask<'_>, plan: Plan, image: Image) -> Planned {
    if !ask.target.images {
        return Err(Refusal::Feature("this device has no images".into()));
    }
    let Plan { mut buffers, mut passes, .. } = plan;
    let len = image.pixels().ok_or_else(|| Refusal::Size(format!("n={}: too many pixels", ask.case.shape.n)))?;
    let spec = BufferSpec { role: Role::Image { of: 0, image }, dtype: ask.case.dtype, len };
    for arg in passes.iter_mut().flat_map(|pass| &mut pass.args).filter(|arg| **arg == Arg::Buffer(0)) {
        *arg = Arg::Buffer(buffers.len());
    }
    buffers.push(spec);
    Ok(Plan { buffers, passes, ..plan })
}

//! Reads of images: every word in some order, and samples beyond the edges.

use super::*;
use crate::read_once;
use gpulab_model::data::Scalar;
use gpulab_model::plan::{BufferSpec, Image, ImageKind, PixelFormat, Role};

// Reads of every word of a plane or a volume in some order, from a buffer, a line of pixels, or an image of rows and columns,
// or of slices.

/// Reads n words, a power of two, as a plane that is as high as wide or half as high, or as a volume of nearly equal sides.
pub static TEXELS: Family = BuiltInFamily {
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

const WORD: PixelFormat = PixelFormat {
    channels: 1,
    scalar: Scalar::U32,
    is_share: false,
};

pub const ORDER: Tunable = setting("order", "number of the order of reads");

/// Logarithms of the sides of n words: as high as wide, or half as high. Both are at least 8.
fn sides(ask: &Ask<'_>) -> Result<[u32; 2], Refusal> {
    let n = ask.n();
    match n.ilog2() {
        bits if n.is_power_of_two() && (6..=30).contains(&bits) => Ok([bits.div_ceil(2), bits / 2]),
        _ => Err(Refusal::Size(format!(
            "n={n}: a power of two from 64 to 2^30 is needed"
        ))),
    }
}

/// Logarithms of the sides of n words as a volume: width, rows, slices. Each is at least 4.
fn volume_sides(n: u64) -> [u32; 3] {
    let bits = n.ilog2();
    [bits.div_ceil(3), (bits + 1) / 3, bits / 3]
}

fn buffer(ask: &Ask<'_>) -> Planned {
    let [wide, high] = sides(ask)?;
    let walk = Walk::over(ask, ask.n(), 8, IN_TURNS)?;
    let order = get(ask.case, ORDER);
    let [x, y, z] = volume_sides(ask.n());
    let numbers = [
        ("WIDE", wide),
        ("HIGH", high),
        ("VOLUME_X", x),
        ("VOLUME_Y", y),
        ("VOLUME_Z", z),
    ];
    let numbers = numbers
        .into_iter()
        .map(|(name, number)| (name, number.to_string()));
    let defines: Vec<(&str, String)> = numbers.chain([("ORDER", order.to_string())]).collect();
    walk.plan(ask, &defines, &[])
}

fn line(ask: &Ask<'_>) -> Planned {
    let sides = [ask.n() as usize, 1, 1];
    of_image(
        ask,
        buffer(ask)?,
        Image {
            kind: ImageKind::Buffer,
            sides,
            format: WORD,
            is_written: false,
        },
    )
}

fn plane(ask: &Ask<'_>) -> Planned {
    of_image(ask, buffer(ask)?, of_plane(ask)?)
}

fn bytes(ask: &Ask<'_>) -> Planned {
    let bytes = PixelFormat {
        channels: 4,
        scalar: Scalar::U8,
        is_share: true,
    };
    of_image(
        ask,
        buffer(ask)?,
        Image {
            format: bytes,
            ..of_plane(ask)?
        },
    )
}

fn of_plane(ask: &Ask<'_>) -> Result<Image, Refusal> {
    let [width, height] = sides(ask)?.map(|side| 1 << side);
    Ok(Image {
        kind: ImageKind::Plane,
        sides: [width, height, 1],
        format: WORD,
        is_written: false,
    })
}

fn volume(ask: &Ask<'_>) -> Planned {
    let plan = buffer(ask)?;
    let sides = volume_sides(ask.n()).map(|side| 1 << side);
    of_image(
        ask,
        plan,
        Image {
            kind: ImageKind::Volume,
            sides,
            format: WORD,
            is_written: false,
        },
    )
}

/// The same launch, given an image of its input in place of it.
fn of_image(ask: &Ask<'_>, plan: Plan, image: Image) -> Planned {
    if !ask.target.images {
        return Err(Refusal::Feature("this device has no images".into()));
    }
    let Plan {
        mut buffers,
        mut passes,
        ..
    } = plan;
    let len = image
        .pixels()
        .ok_or_else(|| Refusal::Size(format!("n={}: too many pixels", ask.n())))?;
    let spec = BufferSpec {
        role: Role::Image { of: 0, image },
        dtype: ask.case.dtype,
        len,
    };
    for arg in passes
        .iter_mut()
        .flat_map(|pass| &mut pass.args)
        .filter(|arg| **arg == Arg::Buffer(0))
    {
        *arg = Arg::Buffer(buffers.len());
    }
    buffers.push(spec);
    Ok(Plan {
        buffers,
        passes,
        ..plan
    })
}

// Samples of a small image in every mode, beside the formulas of section 8.2 of the OpenCL 1.2 specification in f64.
//
// GPUs filter with weights of 8 bits. Coordinates are odd eighths of a pixel, which such weights hold exactly; none is
// a tie between two pixels. So what is filtered from small whole numbers is a multiple of 1/64. A result within
// [`TOLERANCE`] of such a multiple, which is all that a device may round by, counts as that multiple.

/// n samples of a small image.
pub static SAMPLED: Family = BuiltInFamily {
    name: "sampled",
    about: "sample an image beyond its edges",
    problem: &Exact {
        inputs: |_, _| vec![COLUMNS * LINES],
        finish: |_, output| snapped(output),
        ..Exact::of_each(
            Fill::Exact(8),
            |case| Cost {
                bytes: 8.0 * case.shape.n as f64,
                ops: case.shape.n as f64,
            },
            answer,
        )
    },
    ladder: const { &ladder([rung("lab/sampled/modes.cl", modes, &[])]) },
    choices: &[ADDRESS, LINEAR, NORMALISED],
    ..FLOAT_STEPS
}
.family();

pub const ADDRESS: Tunable = setting("address", "what becomes of coordinates beyond the edges");
pub const LINEAR: Tunable = setting("linear", "whether four pixels are mixed");
pub const NORMALISED: Tunable = setting("normalised", "whether the image is 1 wide and 1 high");

/// Of the image, in pixels, as in the kernel.
const COLUMNS: usize = 16;
const LINES: usize = 8;

/// Of a result that is a multiple of 1/64: a quarter of the way to the next.
const TOLERANCE: f64 = 1.0 / 256.0;

/// What a sampler does with coordinates beyond the edges, by number, as in the kernel.
pub const ADDRESSES: [(Address, &str); 4] = [
    (Address::Clamp, "clamp"),
    (Address::Edge, "clamp to edge"),
    (Address::Repeat, "repeat"),
    (Address::Mirrored, "mirrored repeat"),
];

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Address {
    Clamp,
    Edge,
    Repeat,
    Mirrored,
}

fn modes(ask: &Ask<'_>) -> Planned {
    let [linear, normalised] = [LINEAR, NORMALISED].map(|setting| get(ask.case, setting));
    let filter = if linear == 1 {
        "CLK_FILTER_LINEAR"
    } else {
        "CLK_FILTER_NEAREST"
    };
    let defines = [
        ("FILTER", filter.to_owned()),
        ("NORMALISED", normalised.to_string()),
        ("COLUMNS", COLUMNS.to_string()),
        ("LINES", LINES.to_string()),
    ];
    let modes = of_each_item(ask, &defines, &[arg(ask, ADDRESS)], 0)?;
    let format = PixelFormat {
        channels: 1,
        scalar: Scalar::F32,
        is_share: false,
    };
    of_image(
        ask,
        modes,
        Image {
            kind: ImageKind::Plane,
            sides: [COLUMNS, LINES, 1],
            format,
            is_written: false,
        },
    )
}

fn answer(case: &Case, inputs: &[Array]) -> Array {
    let [place, is_linear] = [ADDRESS, LINEAR].map(|setting| get(case, setting));
    let (Array::F32(pixels), Some((address, _))) = (&inputs[0], ADDRESSES.get(place as usize))
    else {
        return Array::zeros(case.dtype, case.shape.n as usize);
    };
    let sample = if is_linear == 1 { linear } else { nearest };
    Array::F32(
        (0..case.shape.n as usize)
            .map(|id: usize| {
                let across = id % (16 * COLUMNS);
                let down = (id / (16 * COLUMNS) + 29 * across) % (16 * LINES);
                let at = [(across, COLUMNS), (down, LINES)]
                    .map(|(place, size)| (2 * place + 1) as f64 / 8.0 - 1.5 * size as f64);
                sample(pixels, *address, at) as f32
            })
            .collect(),
    )
}

/// A pixel, or the colour of the border.
fn pixel(pixels: &[f32], column: Option<usize>, line: Option<usize>) -> f64 {
    let place = column
        .zip(line)
        .map(|(column, line)| line * COLUMNS + column);
    place.map_or(0.0, |place| f64::from(pixels[place]))
}

/// The pixel that a coordinate lies in. Coordinates are in pixels: those divided by the size are multiplied by it again
/// first.
fn nearest(pixels: &[f32], address: Address, at: [f64; 2]) -> f64 {
    let [column, line] =
        [(at[0], COLUMNS), (at[1], LINES)].map(|(u, size)| address.nearest(u, size));
    pixel(pixels, column, line)
}

/// The four pixels around a coordinate, mixed.
fn linear(pixels: &[f32], address: Address, at: [f64; 2]) -> f64 {
    let [columns, lines] =
        [(at[0], COLUMNS), (at[1], LINES)].map(|(u, size)| address.linear(u, size));
    let mut sum = 0.0;
    for (line, down) in lines {
        for (column, across) in columns {
            sum += across * down * pixel(pixels, column, line);
        }
    }
    sum
}

impl Address {
    /// A coordinate within the image, in pixels, for the modes that repeat it.
    fn folded(self, u: f64, size: f64) -> f64 {
        let s = u / size;
        match self {
            Address::Repeat => (s - s.floor()) * size,
            Address::Mirrored => (s - 2.0 * (0.5 * s).round_ties_even()).abs() * size,
            Address::Clamp | Address::Edge => u,
        }
    }

    /// The pixel of this number; none is the border.
    fn inside(self, i: f64, size: usize) -> Option<usize> {
        let last = size as f64 - 1.0;
        let i = match self {
            Address::Clamp if i < 0.0 || i > last => return None,
            Address::Repeat if i < 0.0 => i + size as f64,
            Address::Repeat if i > last => i - size as f64,
            _ => i.clamp(0.0, last),
        };
        Some(i as usize)
    }

    fn nearest(self, u: f64, size: usize) -> Option<usize> {
        self.inside(self.folded(u, size as f64).floor(), size)
    }

    /// Two neighbours and their weights.
    fn linear(self, u: f64, size: usize) -> [(Option<usize>, f64); 2] {
        let u = self.folded(u, size as f64) - 0.5;
        let i = u.floor();
        let a = u - u.floor();
        [
            (self.inside(i, size), 1.0 - a),
            (self.inside(i + 1.0, size), a),
        ]
    }
}

/// Multiples of 1/64 in place of what is as good as one.
fn snapped(output: Array) -> Array {
    let Array::F32(mut values) = output else {
        return output;
    };
    for v in &mut values {
        let multiple = (f64::from(*v) * 64.0).round() / 64.0;
        if (f64::from(*v) - multiple).abs() < TOLERANCE {
            *v = multiple as f32;
        }
    }
    Array::F32(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pixels named by coordinates in a row of four, as the specification's formulas say.
    fn row(address: Address, at: [f64; 6]) -> [Option<usize>; 6] {
        at.map(|u| address.nearest(u, 4))
    }

    #[test]
    fn coordinates_beyond_the_edges_are_folded_as_the_mode_says() {
        let at = [-4.5, -1.5, -0.5, 1.5, 4.5, 7.5];
        assert_eq!(
            row(Address::Clamp, at),
            [None, None, None, Some(1), None, None]
        );
        assert_eq!(row(Address::Edge, at), [0, 0, 0, 1, 3, 3].map(Some));
        assert_eq!(row(Address::Repeat, at), [3, 2, 3, 1, 0, 3].map(Some));
        assert_eq!(row(Address::Mirrored, at), [3, 1, 0, 1, 3, 0].map(Some));
    }

    #[test]
    fn neighbours_are_weighted_by_their_nearness() {
        assert_eq!(
            Address::Clamp.linear(0.125, 4),
            [(None, 0.375), (Some(0), 0.625)]
        );
        assert_eq!(
            Address::Edge.linear(0.125, 4),
            [(Some(0), 0.375), (Some(0), 0.625)]
        );
        assert_eq!(
            Address::Repeat.linear(0.125, 4),
            [(Some(3), 0.375), (Some(0), 0.625)]
        );
        assert_eq!(
            Address::Repeat.linear(3.875, 4),
            [(Some(3), 0.625), (Some(0), 0.375)]
        );
        assert_eq!(
            Address::Mirrored.linear(4.125, 4),
            [(Some(3), 0.625), (Some(3), 0.375)]
        );
        assert_eq!(
            Address::Edge.linear(2.125, 4),
            [(Some(1), 0.375), (Some(2), 0.625)]
        );
    }

    #[test]
    fn only_what_a_device_may_round_by_is_forgiven() {
        let output = Array::F32(vec![1.015_625, 1.0157, 1.02, f32::NAN]);
        let Array::F32(snapped) = snapped(output) else {
            unreachable!()
        };
        assert_eq!(snapped[..3], [1.015_625, 1.015_625, 1.02]);
        assert!(snapped[3].is_nan());
    }
}

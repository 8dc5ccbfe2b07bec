//! Samples of a small image in every mode, beside the formulas of section 8.2 of the OpenCL 1.2 specification in f64.
//!
//! GPUs filter with weights of 8 bits. Coordinates are odd eighths of a pixel, which such weights hold exactly; none is
//! a tie between two pixels. So what is filtered from small whole numbers is a multiple of 1/64. A result within
//! [`TOLERANCE`] of such a multiple, which is all that a device may round by, counts as that multiple.

use super::texels::of_image;
use super::*;
use gpulab_model::data::Scalar;
use gpulab_model::plan::{Image, ImageKind, PixelFormat};

/// n samples of a small image.
pub static FAMILY: Family = BuiltInFamily {
    name: "sampled",
    about: "sample an image beyond its edges",
    problem: &Exact {
        inputs: |_, _| vec![COLUMNS * LINES],
        finish: |_, output| snapped(output),
        ..Exact::of_each(
            Fill::Exact(8),
            |case| Cost { bytes: 8.0 * case.shape.n as f64, ops: case.shape.n as f64 },
            answer,
        )
    },
    ladder: const { &ladder([rung("lab/sampled/modes.cl", plan, &[])]) },
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

fn plan(ask: &Ask<'_>) -> Planned {
    let get = |name: &str| get(&ask.case.params, name);
    let filter = if get(LINEAR.name) == 1 { "CLK_FILTER_LINEAR" } else { "CLK_FILTER_NEAREST" };
    let defines = [
        ("FILTER", filter.to_owned()),
        ("NORMALISED", get(NORMALISED.name).to_string()),
        ("COLUMNS", COLUMNS.to_string()),
        ("LINES", LINES.to_string()),
    ];
    let plan = of_each_item(ask, &defines, &[arg(ask, ADDRESS.name)], 0)?;
    let format = PixelFormat { channels: 1, scalar: Scalar::F32, is_share: false };
    of_image(ask, plan, Image { kind: ImageKind::Plane, sides: [COLUMNS, LINES, 1], format, is_written: false })
}

fn answer(case: &Case, inputs: &[Array]) -> Array {
    let get = |name: &str| get(&case.params, name);
    let (Array::F32(pixels), Some((address, _))) = (&inputs[0], ADDRESSES.get(get(ADDRESS.name) as usize)) else {
        return Array::zeros(case.dtype, case.shape.n as usize);
    };
    let sample = if get(LINEAR.name) == 1 { linear } else { nearest };
    Array::F32(
        (0..case.shape.n as usize)
            .map(|id: usize| {
                let across = id % (16 * COLUMNS);
                let down = (id / (16 * COLUMNS) + 29 * across) % (16 * LINES);
                let at = |place: usize, size: usize| (2 * place + 1) as f64 / 8.0 - 1.5 * size as f64;
                sample(pixels, *address, [at(across, COLUMNS), at(down, LINES)]) as f32
            })
            .collect(),
    )
}

/// A pixel, or the colour of the border.
fn pixel(pixels: &[f32], column: Option<usize>, line: Option<usize>) -> f64 {
    let place = column.zip(line).map(|(column, line)| line * COLUMNS + column);
    place.map_or(0.0, |place| f64::from(pixels[place]))
}

/// The pixel that a coordinate lies in. Coordinates are in pixels: those divided by the size are multiplied by it again
/// first.
fn nearest(pixels: &[f32], address: Address, at: [f64; 2]) -> f64 {
    let [column, line] = [(at[0], COLUMNS), (at[1], LINES)].map(|(u, size)| address.nearest(u, size));
    pixel(pixels, column, line)
}

/// The four pixels around a coordinate, mixed.
fn linear(pixels: &[f32], address: Address, at: [f64; 2]) -> f64 {
    let [columns, lines] = [(at[0], COLUMNS), (at[1], LINES)].map(|(u, size)| address.linear(u, size));
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
        [(self.inside(i, size), 1.0 - a), (self.inside(i + 1.0, size), a)]
    }
}

/// Multiples of 1/64 in place of what is as good as one.
fn snapped(output: Array) -> Array {
    let snap = |v: f32| {
        let multiple = (f64::from(v) * 64.0).round() / 64.0;
        if (f64::from(v) - multiple).abs() < TOLERANCE { multiple as f32 } else { v }
    };
    match output {
        Array::F32(v) => Array::F32(v.into_iter().map(snap).collect()),
        other => other,
    }
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
        assert_eq!(row(Address::Clamp, at), [None, None, None, Some(1), None, None]);
        assert_eq!(row(Address::Edge, at), [0, 0, 0, 1, 3, 3].map(Some));
        assert_eq!(row(Address::Repeat, at), [3, 2, 3, 1, 0, 3].map(Some));
        assert_eq!(row(Address::Mirrored, at), [3, 1, 0, 1, 3, 0].map(Some));
    }

    #[test]
    fn neighbours_are_weighted_by_their_nearness() {
        assert_eq!(Address::Clamp.linear(0.125, 4), [(None, 0.375), (Some(0), 0.625)]);
        assert_eq!(Address::Edge.linear(0.125, 4), [(Some(0), 0.375), (Some(0), 0.625)]);
        assert_eq!(Address::Repeat.linear(0.125, 4), [(Some(3), 0.375), (Some(0), 0.625)]);
        assert_eq!(Address::Repeat.linear(3.875, 4), [(Some(3), 0.625), (Some(0), 0.375)]);
        assert_eq!(Address::Mirrored.linear(4.125, 4), [(Some(3), 0.625), (Some(3), 0.375)]);
        assert_eq!(Address::Edge.linear(2.125, 4), [(Some(1), 0.375), (Some(2), 0.625)]);
    }

    #[test]
    fn only_what_a_device_may_round_by_is_forgiven() {
        let output = Array::F32(vec![1.015_625, 1.0157, 1.02, f32::NAN]);
        let Array::F32(snapped) = snapped(output) else { unreachable!() };
        assert_eq!(snapped[..3], [1.015_625, 1.015_625, 1.02]);
        assert!(snapped[3].is_nan());
    }
}

//! Images beside buffers, and samplers, checked.

use super::claims::{Claim, Pairs};
use super::{Experiment, Trial, Work};
use gpulab_kernels::lab::{self, images};
use gpulab_model::data::Dtype;
use gpulab_model::outcome::Status;
use gpulab_model::plan::REPEATS;
use gpulab_record::{BANDWIDTH, Point, RATE};

const BUFFER: &str = "buffer";
const PLANE: &str = "2D image";

/// The ways of reading by number: orders as in the kernels, modes of samplers, and the orders of a volume, whose numbers in the
/// kernels follow those of the others.
const WAYS: [&str; 11] = [
    "along rows",
    "down columns",
    "along diagonals",
    "in 8x8 blocks",
    "at random",
    "clamp",
    "clamp to edge",
    "repeat",
    "mirrored repeat",
    "through slices",
    "in 4x4x4 blocks",
];
const FIRST_MODE: u64 = 5;
const THROUGH: u64 = 9;
const BLOCKS: u64 = 10;

/// Filters of samplers, each with plain and normalised coordinates.
const FILTERS: [(&str, u64, u64); 4] = [
    ("nearest", 0, 0),
    ("linear", 1, 0),
    ("nearest, normalised", 0, 1),
    ("linear, normalised", 1, 1),
];

/// The same words are read in several orders: from a buffer, from that buffer as a line of pixels, from an image of rows and columns,
/// and from one of slices. Devices may keep images in tiles, so that pixels above each other lie near each other, and read them by a
/// path and a cache of their own. Whether that helps depends on the order alone: the words, their number and what is done with them
/// are equal. The image of rows and columns is also read with normalised coordinates, and as pixels of four bytes that are read as
/// floats from 0 to 1. Samplers read an image far beyond its edges in every mode, beside the formulas of section 8.2 of the OpenCL
/// 1.2 specification in f64.
pub const IMAGE: Experiment = Experiment {
    name: "image",
    question: "Are images faster than buffers by rows, columns, blocks, slices or at random, and are their samplers right?",
    idea: "The same words are read by rows, columns, diagonals, blocks and at random from a buffer and from images, \
               and samplers are checked far beyond the edges.",
    expect: "Where images lie in tiles, reads across the rows gain: columns, diagonals and blocks. Along rows a \
               buffer is as fast or faster.",
    but: "CPU drivers compute what a texture unit does, and images lose there. A buffer that fits a cache needs no \
               tiles.",
    cuda: "Textures: an image with a sampler is a texture object, with normalised coordinates and reads of bytes as \
               floats as its modes.",
    x_name: "way",
    x_label: way,
    plan: |scope| {
        let series: [(&str, &str, &[u64]); 6] = [
            (BUFFER, "buffer", &[0, 1, 2, 3, 4, THROUGH, BLOCKS]),
            ("1D image", "line", &[0, 1, 2, 3, 4]),
            (PLANE, "plane", &[0, 1, 2, 3, 4]),
            ("2D image, normalised", "normalised", &[0, 3]),
            ("2D image, UNORM bytes", "bytes", &[0, 3]),
            ("3D image", "volume", &[0, 4, THROUGH, BLOCKS]),
        ];
        // Far more than a GPU's cache; sampling on a CPU is slow.
        let n = 1 << scope.pick([26, 25], [22, 16]);
        let mut all: Vec<Trial> = Vec::new();
        for (name, variant, ways) in series {
            let work = Work {
                rung: ("texels", variant),
                dtype: Dtype::I32,
                n,
                wg: scope.wg_of_reads(),
            };
            for &way in ways {
                let order = if way < THROUGH {
                    way
                } else {
                    way - THROUGH + FIRST_MODE
                };
                all.push(work.trial(
                    scope,
                    name,
                    way as f64,
                    BANDWIDTH,
                    &[("order", order), (REPEATS, 1)],
                ));
            }
        }
        for (name, linear, normalised) in FILTERS {
            // Every coordinate once, or as often as keeps a GPU busy.
            let n = if scope.target.gpu { 1 << 20 } else { 1 << 15 };
            let wg = lab::usual_wg(scope.target).min(64);
            let work = Work {
                rung: ("sampled", "modes"),
                dtype: Dtype::F32,
                n,
                wg,
            };
            // Only normalised coordinates have a whole image as their unit, which can be repeated.
            for mode in 0..if normalised == 1 {
                images::ADDRESSES.len() as u64
            } else {
                2
            } {
                let settings = [
                    ("address", mode),
                    ("linear", linear),
                    ("normalised", normalised),
                ];
                all.push(work.trial(scope, name, (FIRST_MODE + mode) as f64, RATE, &settings));
            }
        }
        all
    },
    claims: &[
        Claim::speeds(
            "Compared with a buffer,",
            &[
                ("a 1D image is", Pairs::Over("1D image", BUFFER)),
                ("a 2D image is", Pairs::Over(PLANE, BUFFER)),
                ("a 3D image is", Pairs::Over("3D image", BUFFER)),
            ],
        ),
        Claim::speeds(
            "Compared with the plain 2D image,",
            &[
                (
                    "normalised coordinates are",
                    Pairs::Over("2D image, normalised", PLANE),
                ),
                (
                    "bytes read as floats from 0 to 1 are",
                    Pairs::Over("2D image, UNORM bytes", PLANE),
                ),
            ],
        ),
        Claim::Own(samplers),
    ],
};

fn samplers(points: &[Point]) -> Option<String> {
    let [right, wrong] = [Status::Ok, Status::WrongResult].map(|status| {
        let own = points.iter().filter(move |p| {
            p.status == status && FILTERS.iter().any(|(name, ..)| p.series == *name)
        });
        own.map(|p| format!("{} ({})", way(p.x), p.series))
            .collect::<Vec<_>>()
    });
    let right = right.len();
    let not = if wrong.is_empty() {
        String::new()
    } else {
        format!(", but not in: {}", wrong.join("; "))
    };
    let checked = right + wrong.len();
    (checked > 0)
        .then(|| format!("Samplers follow the specification in {right} of {checked} modes that were checked{not}."))
}

fn way(x: f64) -> String {
    WAYS.get(x as usize)
        .map_or_else(|| x.to_string(), |name| (*name).to_owned())
}

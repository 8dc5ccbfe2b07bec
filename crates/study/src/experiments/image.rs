//! Images beside buffers, and samplers, checked.
//!
//! The same words are read in several orders: from a buffer, from that buffer as a line of pixels, from an image of
//! rows and columns, and from one of slices. Devices may keep images in tiles, so that pixels above each other lie near
//! each other, and read them by a path and a cache of their own. Whether that helps depends on the order alone: the
//! words, their number and what is done with them are equal. The image of rows and columns is also read with normalised
//! coordinates, and as pixels of four bytes that are read as floats from 0 to 1.

use super::image_sampler;
use super::prelude::*;
use gpulab_kernels::lab::sampled;
use gpulab_kernels::lab::texels::{self, ORDER};

const BUFFER: &str = "buffer";
const LINE: &str = "1D image";
const PLANE: &str = "2D image";
const NORMALISED: &str = "2D image, normalised";
const BYTES: &str = "2D image, UNORM bytes";
const VOLUME: &str = "3D image";

/// Series, rungs, and the ways that they are read in.
const SERIES: [(&str, &str, &[u64]); 6] = [
    (BUFFER, "buffer", &[0, 1, 2, 3, 4, THROUGH, BLOCKS]),
    (LINE, "line", &[0, 1, 2, 3, 4]),
    (PLANE, "plane", &[0, 1, 2, 3, 4]),
    (NORMALISED, "normalised", &[0, 3]),
    (BYTES, "bytes", &[0, 3]),
    (VOLUME, "volume", &[0, 4, THROUGH, BLOCKS]),
];

/// Orders by number, as in the kernels.
const ORDERS: [&str; 5] = ["along rows", "down columns", "along diagonals", "in 8x8 blocks", "at random"];

/// The first mode of samplers comes after the orders.
const FIRST_MODE: u64 = ORDERS.len() as u64;

/// The orders of a volume come after the modes, as they are younger; their numbers in the kernels follow those of the others.
const THROUGH: u64 = FIRST_MODE + sampled::ADDRESSES.len() as u64;
const BLOCKS: u64 = THROUGH + 1;
const VOLUME_ORDERS: [&str; 2] = ["through slices", "in 4x4x4 blocks"];

pub const IMAGE: Experiment = Experiment {
    name: "image",
    question: "Are images faster than buffers by rows, columns, blocks, slices or at random, and are their samplers right?",
    about: Explanation {
        idea: "The same words are read by rows, columns, diagonals, blocks and at random from a buffer and from images, \
               and samplers are checked far beyond the edges.",
        expect: "Where images lie in tiles, reads across the rows gain: columns, diagonals and blocks. Along rows a \
               buffer is as fast or faster.",
        but: "CPU drivers compute what a texture unit does, and images lose there. A buffer that fits a cache needs no \
               tiles.",
        cuda: "Textures: an image with a sampler is a texture object, with normalised coordinates and reads of bytes as \
               floats as its modes.",
    },
    x_name: "way",
    x_label,
    plan,
    finding,
};

fn x_label(x: f64) -> String {
    way(x).map_or_else(|| x.to_string(), str::to_owned)
}

/// The name of an order, or of a sampler's mode.
fn way(x: f64) -> Option<&'static str> {
    ORDERS.into_iter().chain(sampled::ADDRESSES.map(|(_, name)| name)).chain(VOLUME_ORDERS).nth(x as usize)
}

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    SERIES
        .into_iter()
        .flat_map(|(name, variant, ways): (&'static str, &'static str, &'static [u64])| {
            ways.iter().map(move |&way| trial(scope, name, variant, way))
        })
        .chain(image_sampler::trials(scope, FIRST_MODE))
        .collect()
}

fn finding(points: &[Point]) -> String {
    let all = [("a 1D image", LINE), ("a 2D image", PLANE), ("a 3D image", VOLUME)];
    let images = joined(all.map(|(what, name)| beside(points, what, name)), "; ");
    let images = images.map(|images| format!("Compared with a buffer, {images}."));
    let sentences = joined([images, floats(points), image_sampler::sentence(points, FIRST_MODE)], " ");
    sentences.unwrap_or_else(|| "No image was read.".to_owned())
}

/// What normalised coordinates and normalised channels cost beside the plain image.
fn floats(points: &[Point]) -> Option<String> {
    let all = [("normalised coordinates", NORMALISED), ("bytes read as floats from 0 to 1", BYTES)];
    Some(format!(
        "Compared with the plain 2D image, {}.",
        joined(
            all.map(|(what, name): (&str, &str)| {
                let over = compare_series(points, name, PLANE, |_| true);
                Some(format!(
                    "{what}: {}",
                    joined(
                        over.iter().map(|c: &Contrast| Some(format!("{} {}", pace(c), way(c.x).unwrap_or_default()))),
                        ", "
                    )?
                ))
            }),
            "; "
        )?
    ))
}

/// What an image is beside the buffer, order by order.
fn beside(points: &[Point], what: &str, name: &str) -> Option<String> {
    let contrasts = compare_series(points, name, BUFFER, |_| true);
    let of = |verdict| {
        let selected = contrasts.iter().filter(|c| c.verdict == verdict);
        selected
            .filter_map(|c: &Contrast| Some(format!("{} ({})", way(c.x)?, times(c.ratio.max(1.0 / c.ratio)))))
            .joined(", ")
    };
    let unclear = contrasts.iter().filter(|c| c.verdict == Comparison::Unclear).filter_map(|c| way(c.x));
    let unclear = unclear.joined(", ");
    let rest = match unclear.as_str() {
        "" => String::new(),
        unclear => format!(", and {unclear} it is {}", undecided(&contrasts)),
    };
    let faster = of(Comparison::Higher);
    let slower = of(Comparison::Lower);
    let phrase = match (faster.is_empty(), slower.is_empty()) {
        _ if contrasts.is_empty() => return None,
        (false, true) => format!("{what} is faster {faster}{rest}"),
        (true, false) if rest.is_empty() => format!("{what} is slower {slower}, and faster in no order"),
        (true, false) => format!("{what} is slower {slower}{rest}"),
        (false, false) => format!("{what} is faster {faster}, but slower {slower}{rest}"),
        (true, true) if rest.is_empty() && contrasts.len() == 1 => {
            format!("{what} is as fast {} ({})", way(contrasts[0].x).unwrap_or_default(), within(&contrasts))
        }
        (true, true) if rest.is_empty() => format!("{what} is as fast in every order ({})", within(&contrasts)),
        (true, true) => format!("whether {what} is faster or slower is {}", undecided(&contrasts)),
    };
    Some(phrase)
}

fn trial(scope: &Scope<'_>, name: &str, variant: &'static str, way: u64) -> Trial {
    let target = scope.target;
    let order = if way < THROUGH { way } else { way - THROUGH + FIRST_MODE };
    // Far more than a GPU's cache; sampling on a CPU is slow.
    let bits = scope.pick([26, 25], [22, 16]);
    let wg = if target.gpu { lab::usual_wg(target) } else { 1 };
    let own = Own::of(&texels::FAMILY, variant, Dtype::I32, 1 << bits, wg);
    own.trial(scope, name, way as f64, BANDWIDTH, &[(ORDER.name, order), (ROUNDS.name, 1)])
}

#[cfg(test)]
mod tests {
    use super::super::tests::{points_of, sentences};
    use super::*;
    use gpulab_model::outcome::Status;

    fn of_a_gpu(series: &str, way: f64) -> f64 {
        match (series, way as u64) {
            (PLANE, 0) => 3000.0,
            (PLANE, 1..=3) => 2000.0,
            (_, 0) => 4000.0,
            (_, 4) => 300.0,
            _ => 1000.0,
        }
    }

    #[test]
    fn tiles_help_everywhere_but_along_rows() {
        insta::assert_snapshot!(sentences(&IMAGE, 0.01, of_a_gpu), @r"
        Compared with a buffer, a 1D image is as fast in every order (to within 2 %); a 2D image is faster down columns (2.00 times), along diagonals (2.00 times), in 8x8 blocks (2.00 times), but slower along rows (1.33 times); a 3D image is as fast in every order (to within 2 %).
        Compared with the plain 2D image, normalised coordinates: 1.33 times as fast along rows, 2.00 times slower in 8x8 blocks; bytes read as floats from 0 to 1: 1.33 times as fast along rows, 2.00 times slower in 8x8 blocks.
        Samplers follow the specification in all 12 modes that were checked.
        ");
    }

    #[test]
    fn images_that_a_processor_imitates() {
        insta::assert_snapshot!(sentences(&IMAGE, 0.02, |series, _| if series == BUFFER { 8.0 } else { 0.5 }), @r"
        Compared with a buffer, a 1D image is slower along rows (16.0 times), down columns (16.0 times), along diagonals (16.0 times), in 8x8 blocks (16.0 times), at random (16.0 times), and faster in no order; a 2D image is slower along rows (16.0 times), down columns (16.0 times), along diagonals (16.0 times), in 8x8 blocks (16.0 times), at random (16.0 times), and faster in no order; a 3D image is slower along rows (16.0 times), at random (16.0 times), through slices (16.0 times), in 4x4x4 blocks (16.0 times), and faster in no order.
        Compared with the plain 2D image, normalised coordinates: as fast (to within 4 %) along rows, as fast (to within 4 %) in 8x8 blocks; bytes read as floats from 0 to 1: as fast (to within 4 %) along rows, as fast (to within 4 %) in 8x8 blocks.
        Samplers follow the specification in all 12 modes that were checked.
        ");
    }

    #[test]
    fn noise_and_missing_points() {
        insta::assert_snapshot!(sentences(&IMAGE, 3.0, of_a_gpu), @r"
        Compared with a buffer, whether a 1D image is faster or slower is undecided: differences under 600 % cannot be seen in this run; whether a 2D image is faster or slower is undecided: differences under 600 % cannot be seen in this run; whether a 3D image is faster or slower is undecided: differences under 600 % cannot be seen in this run.
        Compared with the plain 2D image, normalised coordinates: undecided (differences under 600 % cannot be seen in this run) along rows, undecided (differences under 600 % cannot be seen in this run) in 8x8 blocks; bytes read as floats from 0 to 1: undecided (differences under 600 % cannot be seen in this run) along rows, undecided (differences under 600 % cannot be seen in this run) in 8x8 blocks.
        Samplers follow the specification in all 12 modes that were checked.
        To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.
        ");
        let slow_by_rows = |series: &str, way: f64| if series == PLANE && way == 0.0 { 1.0 } else { 8.0 };
        insta::assert_snapshot!(sentences(&IMAGE, 0.3, slow_by_rows), @r"
        Compared with a buffer, whether a 1D image is faster or slower is undecided: differences under 60 % cannot be seen in this run; a 2D image is slower along rows (8.00 times), and down columns, along diagonals, in 8x8 blocks, at random it is undecided: differences under 60 % cannot be seen in this run; whether a 3D image is faster or slower is undecided: differences under 60 % cannot be seen in this run.
        Compared with the plain 2D image, normalised coordinates: 8.00 times as fast along rows, undecided (differences under 60 % cannot be seen in this run) in 8x8 blocks; bytes read as floats from 0 to 1: 8.00 times as fast along rows, undecided (differences under 60 % cannot be seen in this run) in 8x8 blocks.
        Samplers follow the specification in all 12 modes that were checked.
        To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.
        ");
        insta::assert_snapshot!(sentences(&IMAGE, 0.01, |series, _| if series == BUFFER { 8.0 } else { f64::NAN }), @"No image was read.");
        insta::assert_snapshot!(IMAGE.finding(&[]), @"No image was read.");
    }

    #[test]
    fn wrong_samplers_are_named() {
        let mut points = points_of(&IMAGE, true, 0.01, of_a_gpu);
        let repeat = points.iter_mut().filter(|p| p.x == (FIRST_MODE + 2) as f64);
        repeat.for_each(|p| (p.status, p.value) = (Status::WrongResult, None));
        let finding = IMAGE.finding(&points);
        assert!(finding.ends_with("in 10 of 12 modes that were checked, but not in: repeat (nearest, normalised); repeat (linear, normalised)."), "{finding}");
    }
}

//! Images beside buffers: the same words read in five orders from a buffer, from the same buffer as a line of pixels, and
//! from an image of rows and columns; and samplers, checked.
//!
//! Devices may keep images in tiles, so that pixels above each other lie near each other, and read them by a path and a cache
//! of their own. Whether that helps depends on the order alone: the words, their number and what is done with them are equal.

use super::evidence::{Comparison, Contrast, compare_series, times, undecided};
use super::image_sampler;
use super::own::Own;
use super::{Experiment, Scope, Trial};
use crate::data::Dtype;
use crate::kernels::lab;
use crate::kernels::lab::texels::{self, ORDER};
use crate::kernels::lab::{ROUNDS, sampled};
use crate::record::{BANDWIDTH, Point};

const BUFFER: &str = "buffer";
const LINE: &str = "1D image";
const PLANE: &str = "2D image";
const SERIES: [(&str, &str); 3] = [(BUFFER, "buffer"), (LINE, "line"), (PLANE, "plane")];

/// Orders by number, as in the kernels.
const ORDERS: [&str; 5] = ["along rows", "down columns", "along diagonals", "in 8x8 blocks", "at random"];

/// The first mode of samplers comes after the orders.
const FIRST_MODE: u64 = ORDERS.len() as u64;

/// The experiment's entry in the list.
pub const IMAGE: Experiment = Experiment {
    name: "image",
    question: "Are images faster than buffers by rows, columns, diagonals, 8x8 blocks or at random, and are their samplers right?",
    x_name: "way",
    x_label,
    has_timeline: false,
    plan,
    finding,
};

fn x_label(x: f64) -> String {
    let mut names = ORDERS.into_iter().chain(sampled::ADDRESSES.map(|(_, name)| name));
    names.nth(x as usize).map_or_else(|| x.to_string(), str::to_owned)
}

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let of = |(name, variant)| (0..FIRST_MODE).map(move |order| trial(scope, name, variant, order));
    SERIES.into_iter().flat_map(of).chain(image_sampler::trials(scope, FIRST_MODE)).collect()
}

fn finding(points: &[Point]) -> String {
    let beside = [("1D image", LINE), ("2D image", PLANE)].iter().filter_map(|(what, name)| beside(points, what, name));
    let told: Vec<String> = beside.chain(image_sampler::sentence(points, FIRST_MODE)).collect();
    if told.is_empty() { "No image was read.".to_owned() } else { told.join(" ") }
}

/// What an image is beside the buffer, order by order.
fn beside(points: &[Point], what: &str, name: &str) -> Option<String> {
    let contrasts = compare_series(points, name, BUFFER, |_| true);
    let of = |verdict| {
        let meant = contrasts.iter().filter(|c| c.verdict == verdict);
        let told =
            |c: &Contrast| Some(format!("{} ({})", ORDERS.get(c.x as usize)?, times(c.ratio.max(1.0 / c.ratio))));
        meant.filter_map(told).collect::<Vec<String>>().join(", ")
    };
    let (faster, slower, unclear) = (of(Comparison::Higher), of(Comparison::Lower), of(Comparison::Unclear));
    let said = match (faster.is_empty(), slower.is_empty()) {
        _ if contrasts.is_empty() => return None,
        (false, true) => format!("A {what} is faster than a buffer {faster}"),
        (true, false) => format!("A {what} is slower than a buffer {slower}, and faster in no order"),
        (false, false) => format!("A {what} is faster than a buffer {faster}, but slower {slower}"),
        (true, true) if unclear.is_empty() => format!("A {what} is as fast as a buffer in every order"),
        (true, true) => format!("Whether a {what} is faster or slower than a buffer is {}", undecided(&contrasts)),
    };
    Some(format!("{said}."))
}

fn trial(scope: &Scope<'_>, name: &str, variant: &'static str, order: u64) -> Trial {
    let target = scope.target;
    // Far more than a GPU's cache; sampling on a CPU is slow.
    let bits = match (target.gpu, scope.quick) {
        (true, _) => 26,
        (false, true) => 18,
        (false, false) => 22,
    };
    let own = Own {
        family: &texels::FAMILY,
        variant,
        dtype: Dtype::I32,
        n: 1 << bits,
        wg: if target.gpu { lab::usual_wg(target) } else { 1 },
        params: &[(ORDER.name, order), (ROUNDS.name, 1)],
    };
    own.trial(scope, name, order as f64, BANDWIDTH)
}

#[cfg(test)]
mod tests {
    use super::super::tests::points_of;
    use super::*;
    use crate::runner::Status;

    /// The finding where a way of reading has `speed(series, way)`, a sentence a line.
    fn sentences(noise: f64, speed: fn(&str, f64) -> f64) -> String {
        IMAGE.finding(&points_of(&IMAGE, true, noise, speed)).replace(". ", ".\n")
    }

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
        insta::assert_snapshot!(sentences(0.01, of_a_gpu), @r"
        A 1D image is as fast as a buffer in every order.
        A 2D image is faster than a buffer down columns (2.00 times), along diagonals (2.00 times), in 8x8 blocks (2.00 times), but slower along rows (1.33 times).
        Samplers follow the specification in all 12 modes that were checked.
        ");
    }

    #[test]
    fn images_that_a_processor_imitates() {
        insta::assert_snapshot!(sentences(0.02, |series, _| if series == BUFFER { 8.0 } else { 0.5 }), @r"
        A 1D image is slower than a buffer along rows (16.0 times), down columns (16.0 times), along diagonals (16.0 times), in 8x8 blocks (16.0 times), at random (16.0 times), and faster in no order.
        A 2D image is slower than a buffer along rows (16.0 times), down columns (16.0 times), along diagonals (16.0 times), in 8x8 blocks (16.0 times), at random (16.0 times), and faster in no order.
        Samplers follow the specification in all 12 modes that were checked.
        ");
    }

    #[test]
    fn noise_and_missing_points() {
        insta::assert_snapshot!(sentences(3.0, of_a_gpu), @r"
        Whether a 1D image is faster or slower than a buffer is undecided: differences under 600 % cannot be seen in this run.
        Whether a 2D image is faster or slower than a buffer is undecided: differences under 600 % cannot be seen in this run.
        Samplers follow the specification in all 12 modes that were checked.
        ");
        insta::assert_snapshot!(sentences(0.01, |series, _| if series == BUFFER { 8.0 } else { f64::NAN }), @"No image was read.");
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

//! Samplers: an image read far beyond its edges in every mode, beside the formulas of section 8.2 of the OpenCL 1.2
//! specification in f64.

use super::prelude::*;
use gpulab_kernels::lab::sampled::{self, ADDRESS, ADDRESSES, Address, LINEAR, NORMALISED};
use gpulab_model::outcome::Status;

/// Filters, each with plain and normalised coordinates.
const SERIES: [(&str, u64, u64); 4] =
    [("nearest", 0, 0), ("linear", 1, 0), ("nearest, normalised", 0, 1), ("linear, normalised", 1, 1)];

/// A point for each mode that the specification allows; x is the mode's number after `first`.
pub(super) fn trials(scope: &Scope<'_>, first: u64) -> Vec<Trial> {
    let modes =
        SERIES.iter().flat_map(|series| (0..).zip(&ADDRESSES).map(move |(number, mode)| (series, number, mode)));
    let repeats = |address: &Address| matches!(address, Address::Repeat | Address::Mirrored);
    // Only normalised coordinates have a whole image as their unit.
    let allowed = modes.filter(|((_, _, normalised), _, (address, _))| *normalised == 1 || !repeats(address));
    allowed
        .map(|(&(name, linear, normalised), number, _): (&(&str, u64, u64), u64, _)| {
            // Every coordinate once, or as often as keeps a GPU busy.
            let n = if scope.target.gpu { 1 << 20 } else { 1 << 15 };
            let params = [(ADDRESS.name, number), (LINEAR.name, linear), (NORMALISED.name, normalised)];
            let own = Own::of(&sampled::FAMILY, "modes", Dtype::F32, n, lab::usual_wg(scope.target).min(64));
            own.trial(scope, name, (first + number) as f64, RATE, &params)
        })
        .collect()
}

pub(super) fn sentence(points: &[Point], first: u64) -> Option<String> {
    let own = points.iter().filter(|p| SERIES.iter().any(|(name, ..)| p.series == *name));
    let of = |meant: fn(Status) -> bool| -> Vec<String> {
        let name = |p: &Point| ADDRESSES.get((p.x - first as f64) as usize).map_or("", |(_, name)| name);
        own.clone().filter(|p| meant(p.status)).map(|p| format!("{} ({})", name(p), p.series)).collect()
    };
    let right = of(|status| status == Status::Ok).len();
    let wrong = of(|status| status == Status::WrongResult);
    let checked = right + wrong.len();
    match wrong.as_slice() {
        _ if checked == 0 => None,
        [] => Some(format!("Samplers follow the specification in all {right} modes that were checked.")),
        wrong => Some(format!(
            "Samplers follow the specification in {right} of {checked} modes that were checked, but not in: {}.",
            wrong.join("; ")
        )),
    }
}

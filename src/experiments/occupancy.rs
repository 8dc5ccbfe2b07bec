//! Occupancy: bandwidth and arithmetic of groups that hold ever more `__local` memory, of which a compute unit then holds
//! ever fewer at once.
//!
//! The ballast is the one parameter: work, items and instructions stay as they are. What covers the latency of a read or of
//! a step is the other items of the compute unit, and an item's own reads and chains beside the one that it waits for
//! (V. Volkov, "Better performance at lower occupancy", GTC 2010): series with one and with several show how many groups
//! either needs. How many are resident cannot be asked for; it follows from the memory that groups share, and
//! [`crate::occupancy`] works it out for devices that it knows.

use super::evidence::{Contrast, series};
use super::own::Own;
use super::{Experiment, Scope, Trial, plain};
use crate::data::Dtype;
use crate::kernels::Family;
use crate::kernels::lab::chains::CHAINS;
use crate::kernels::lab::laden::{BALLAST, STEPS, STREAMS, TOGETHER};
use crate::kernels::lab::{self, ROUNDS};
use crate::plan::Target;
use crate::record::{BANDWIDTH, Metric, Point, RATE};

/// What items do, how much of it at once, and how many of them are a group.
const SERIES: [(&str, &Family, u64, usize); 6] = [
    ("1 read, groups of 64", &STREAMS, 1, 64),
    ("1 read, groups of 256", &STREAMS, 1, 256),
    ("8 reads, groups of 64", &STREAMS, 8, 64),
    ("1 chain, groups of 64", &STEPS, 1, 64),
    ("1 chain, groups of 256", &STEPS, 1, 256),
    ("4 chains, groups of 64", &STEPS, 4, 64),
];

/// The least ballast, in bytes: a word for each item of the largest groups.
const LEAST: u64 = 1024;

/// More than any GPU lets a group have; CPU drivers offer whole caches.
const MOST: u64 = 256 << 10;

/// The experiment's entry in the list.
pub const OCCUPANCY: Experiment = Experiment {
    name: "occupancy",
    question: "How few resident groups are enough for full bandwidth and full arithmetic, and where are they too few?",
    x_name: "local bytes",
    x_label: plain,
    has_timeline: false,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let ballasts = ballasts(scope.target, scope.quick);
    let of = |series| ballasts.iter().map(move |&bytes| trial(scope, series, bytes));
    SERIES.into_iter().flat_map(of).collect()
}

fn finding(points: &[Point]) -> String {
    let held: Vec<(&str, Held)> =
        SERIES.iter().filter_map(|(name, ..)| Some((*name, Held::of(points, name)?))).collect();
    if held.is_empty() {
        return "No two sizes of ballast were measured.".to_owned();
    }
    let most = held.iter().map(|(_, held)| held.last.x).fold(0.0, f64::max);
    let hidden = held.iter().filter(|(_, held)| held.kept == Kept::Hidden).count();
    if held.iter().all(|(_, held)| !matches!(held.kept, Kept::UpTo(_))) {
        return match hidden {
            0 => format!(
                "No ballast up to {most} bytes a group costs a tenth of any speed: the groups that stay resident \
                 are enough, or local memory does not limit how many there are."
            ),
            _ => format!(
                "No ballast up to {most} bytes a group clearly costs a tenth of a speed, but the spread hides it in \
                 {hidden} of {} series.",
                held.len()
            ),
        };
    }
    let told: Vec<String> = held.iter().filter_map(|(name, held)| held.phrase(name)).collect();
    let hidden = match hidden {
        0 => String::new(),
        _ => format!("; the spread hides it in {hidden} of {} series", held.len()),
    };
    let left: Vec<String> = [BANDWIDTH, RATE].iter().filter_map(|metric| left(points, *metric, most)).collect();
    format!("Nine tenths of the speed with the least ballast stay {}{hidden}. {}", told.join("; "), left.join(" "))
}

/// A series that keeps this much of its speed is not limited by what it lost.
const ENOUGH: f64 = 0.9;

/// How far a series keeps its speed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kept {
    Throughout,
    /// To so many bytes.
    UpTo(f64),
    /// The spread hides whether it does to the end.
    Hidden,
}

/// What a series' ballast does to its speed.
struct Held {
    kept: Kept,
    /// The most ballast beside the least.
    last: Contrast,
}

impl Held {
    /// Nothing if fewer than two points have a value.
    fn of(points: &[Point], name: &str) -> Option<Held> {
        let all = series(points, name);
        let (least, more) = all.split_first()?;
        let contrasts: Vec<Contrast> = more.iter().filter_map(|p| Contrast::new(p, least)).collect();
        let last = *contrasts.last()?;
        let held = contrasts.iter().take_while(|c| c.exceeds(ENOUGH) == Some(true)).last();
        let kept = match contrasts.iter().all(|c| c.exceeds(ENOUGH) != Some(false)) {
            true if last.exceeds(ENOUGH).is_none() => Kept::Hidden,
            true => Kept::Throughout,
            false => Kept::UpTo(held.map_or(least.x, |c| c.x)),
        };
        Some(Held { kept, last })
    }

    /// `with 1 read, groups of 64 up to 6144 bytes (0.31 at 49152)`.
    fn phrase(&self, name: &str) -> Option<String> {
        match self.kept {
            Kept::Throughout => Some(format!("with {name} throughout")),
            Kept::UpTo(bytes) => {
                Some(format!("with {name} up to {bytes} bytes ({:.2} at {})", self.last.ratio, self.last.x))
            }
            Kept::Hidden => None,
        }
    }
}

/// What of the best of all speeds of one kind is left with the most ballast.
fn left(points: &[Point], metric: Metric, most: f64) -> Option<String> {
    let own = || points.iter().filter(|p| p.unit == metric.unit && p.measured().is_some());
    let best = own().max_by(|a, b| a.measured().unwrap_or(0.0).total_cmp(&b.measured().unwrap_or(0.0)))?;
    let last = own().filter(|p| p.x == most);
    let shares = last.filter_map(|p| Some(format!("{:.2} with {}", Contrast::new(p, best)?.ratio, p.series)));
    let shares: Vec<String> = shares.collect();
    (!shares.is_empty())
        .then(|| format!("At {most} bytes, of the best {} are left {}.", metric.name, shares.join("; ")))
}

/// Sizes of the ballast up to nearly all that a group may have, in bytes: parts of it where whole numbers of groups share a
/// compute unit that has as much, or a few times as much. Some drivers refuse the last bytes.
fn ballasts(target: &Target, quick: bool) -> Vec<u64> {
    let all = target.local_mem.min(MOST);
    let parts: &[(u64, u64)] = match quick {
        true => &[(1, 8), (1, 3), (2, 3), (1, 1)],
        false => &[(1, 16), (1, 8), (1, 6), (1, 4), (1, 3), (1, 2), (2, 3), (5, 6), (1, 1)],
    };
    let most = all.saturating_sub(1024);
    let more = parts.iter().map(|(part, of)| (all * part / of / 256 * 256).min(most)).filter(|&bytes| bytes > LEAST);
    [LEAST].into_iter().chain(more).collect()
}

fn trial(scope: &Scope<'_>, (name, family, together, wg): (&str, &'static Family, u64, usize), ballast: u64) -> Trial {
    let target = scope.target;
    let own = |dtype, n, params| Own { family, variant: "laden", dtype, n, wg, params };
    let x = ballast as f64;
    if family.name == STEPS.name {
        // As many steps of an item, however many chains it has.
        let rounds = if target.gpu { 256 } else { 32 } / together;
        let params = [(BALLAST.name, ballast), (CHAINS.name, together), (ROUNDS.name, rounds)];
        return own(Dtype::F32, lab::items(target), &params).trial(scope, name, x, RATE);
    }
    // More than any GPU's cache holds, several times over: groups that begin and end count little.
    let (bits, rounds) = match (target.gpu, scope.quick) {
        (true, _) => (26, 4),
        (false, true) => (20, 1),
        (false, false) => (24, 1),
    };
    let params = [(BALLAST.name, ballast), (TOGETHER.name, together), (ROUNDS.name, rounds)];
    own(Dtype::I32, 1 << bits, &params).trial(scope, name, x, BANDWIDTH)
}

#[cfg(test)]
mod tests {
    use super::super::tests::points_of;
    use super::*;

    /// The finding where a series has `speed(work at once, work-items of a group, groups resident)`, a sentence a line; a
    /// compute unit has 64 KiB of local memory, twice what a group may have, and holds 32 groups at most.
    fn sentences(noise: f64, speed: fn(f64, f64, f64) -> f64) -> String {
        let points = points_of(&OCCUPANCY, true, noise, |name, bytes| {
            let (_, _, at_once, wg) = SERIES.iter().find(|(series, ..)| *series == name).unwrap();
            speed(*at_once as f64, *wg as f64, (65536.0 / bytes).floor().min(32.0))
        });
        OCCUPANCY.finding(&points).replace(". ", ".\n")
    }

    #[test]
    fn a_gpu_whose_latency_takes_1024_items_or_as_many_operations() {
        let speed = |at_once: f64, wg: f64, groups: f64| 1000.0 * (at_once * wg * groups / 1024.0).min(1.0);
        insta::assert_snapshot!(sentences(0.01, speed), @r"
        Nine tenths of the speed with the least ballast stay with 1 read, groups of 64 up to 4096 bytes (0.12 at 31744); with 1 read, groups of 256 up to 16384 bytes (0.50 at 31744); with 8 reads, groups of 64 throughout; with 1 chain, groups of 64 up to 4096 bytes (0.12 at 31744); with 1 chain, groups of 256 up to 16384 bytes (0.50 at 31744); with 4 chains, groups of 64 up to 16384 bytes (0.50 at 31744).
        At 31744 bytes, of the best bandwidth are left 0.12 with 1 read, groups of 64; 0.50 with 1 read, groups of 256; 1.00 with 8 reads, groups of 64.
        At 31744 bytes, of the best rate are left 0.12 with 1 chain, groups of 64; 0.50 with 1 chain, groups of 256; 0.50 with 4 chains, groups of 64.
        ");
    }

    #[test]
    fn a_cpu_that_has_one_group_at_a_time() {
        insta::assert_snapshot!(sentences(0.02, |at_once, _, _| 10.0 * at_once), @"No ballast up to 31744 bytes a group costs a tenth of any speed: the groups that stay resident are enough, or local memory does not limit how many there are.");
    }

    #[test]
    fn noise_and_missing_points() {
        let speed = |at_once: f64, wg: f64, groups: f64| 1000.0 * (at_once * wg * groups / 1024.0).min(1.0);
        insta::assert_snapshot!(sentences(0.5, speed), @r"
        Nine tenths of the speed with the least ballast stay with 1 read, groups of 64 up to 1024 bytes (0.12 at 31744); with 1 chain, groups of 64 up to 1024 bytes (0.12 at 31744); the spread hides it in 4 of 6 series.
        At 31744 bytes, of the best bandwidth are left 0.12 with 1 read, groups of 64; 0.50 with 1 read, groups of 256; 1.00 with 8 reads, groups of 64.
        At 31744 bytes, of the best rate are left 0.12 with 1 chain, groups of 64; 0.50 with 1 chain, groups of 256; 0.50 with 4 chains, groups of 64.
        ");
        insta::assert_snapshot!(sentences(0.5, |at_once, _, _| 10.0 * at_once), @"No ballast up to 31744 bytes a group clearly costs a tenth of a speed, but the spread hides it in 6 of 6 series.");
        insta::assert_snapshot!(OCCUPANCY.finding(&[]), @"No two sizes of ballast were measured.");
    }

    #[test]
    fn ballasts_ascend_to_nearly_all_that_a_group_may_have() {
        for (local_mem, most) in [(48 << 10, 47 << 10), (32 << 20, MOST - 1024), (8 << 10, 7 << 10)] {
            let target = Target { local_mem, ..crate::device::fake::fake_info().target };
            for quick in [true, false] {
                let all = ballasts(&target, quick);
                assert!(all.is_sorted_by(|a, b| a < b) && all.last() == Some(&most), "{all:?}");
            }
        }
    }
}

//! Occupancy: bandwidth and arithmetic of groups that hold ever more `__local` memory, of which a compute unit then
//! holds ever fewer at once.
//!
//! The ballast is the one parameter: work, items and instructions stay as they are. Two things cover the latency of a
//! read or a step: the other items of the compute unit, and an item's own further reads and chains (V. Volkov, "Better
//! performance at lower occupancy", GTC 2010). Series with one and with several show how many groups either needs. How
//! many are resident cannot be asked for; it follows from the memory that groups share, and
//! [`gpulab_kernels::occupancy`] works it out for devices that it knows.

use super::prelude::*;
use gpulab_kernels::lab::chains::CHAINS;
use gpulab_kernels::lab::laden::{BALLAST, STEPS, STREAMS, TOGETHER};

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

pub const OCCUPANCY: Experiment = Experiment {
    name: "occupancy",
    question: "How many resident groups does full bandwidth or full arithmetic need, and when are there too few?",
    about: Explanation {
        idea: "Groups hold ever more local memory as ballast, so that a compute unit holds ever fewer of them; work and \
               instructions stay as they are.",
        expect: "The speed falls once too few groups are resident to cover latency. Items with several reads or chains \
               under way hold out longer.",
        but: "Where local memory does not limit how many groups are resident, as on CPU drivers, nothing falls.",
        cuda: "Occupancy: a multiprocessor's resident warps over the most that it can hold; the ballast is __shared__ \
               memory.",
    },
    x_name: "local bytes",
    x_label: plain,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let ballasts = ballasts(scope.target, scope.quick);
    SERIES.into_iter().flat_map(|series| ballasts.iter().map(move |&bytes| trial(scope, series, bytes))).collect()
}

fn finding(points: &[Point]) -> String {
    let held: Vec<(&str, Held)> =
        SERIES.iter().filter_map(|(name, ..)| Some((*name, Held::of(points, name)?))).collect();
    if held.is_empty() {
        return "No two sizes of ballast were measured.".to_owned();
    }
    let most = held.iter().map(|(_, held)| held.last.x).fold(0.0, f64::max);
    let noisy = || held.iter().filter(|(_, held)| held.kept == SpeedKept::Hidden).map(|(_, held)| &held.last);
    let hidden = noisy().count();
    let over = percent(1.0 - ENOUGH);
    if held.iter().all(|(_, held)| !matches!(held.kept, SpeedKept::UpTo(_))) {
        return match hidden {
            0 => format!(
                "No slowdown over {over} shows up to {} of local memory a group: the groups that stay resident are \
                 enough, or local memory does not limit how many are resident.",
                bytes(most)
            ),
            _ => format!(
                "No slowdown over {over} shows up to {} of local memory a group, but {hidden} of {} series {} too \
                 noisy to rule it out ({}).",
                bytes(most),
                held.len(),
                if hidden == 1 { "is" } else { "are" },
                undecided_factor(noisy())
            ),
        };
    }
    let phrases: Vec<String> = held.iter().filter_map(|(name, held)| held.phrase(name)).collect();
    let hidden = match hidden {
        0 => String::new(),
        1 => format!("; 1 of {} series is {}", held.len(), undecided_factor(noisy())),
        _ => format!("; {hidden} of {} series are {}", held.len(), undecided_factor(noisy())),
    };
    let shares = joined([BANDWIDTH, RATE].map(|metric| share_left(points, metric, most)), " ");
    let phrases = phrases.join("; ");
    format!(
        "As groups hold more local memory, the speed falls by more than {over} {phrases}{hidden}. {}",
        shares.unwrap_or_default()
    )
}

/// A series that keeps this much of its speed is not limited by what it lost.
const ENOUGH: f64 = 0.9;

#[derive(Clone, Copy, Debug, PartialEq)]
enum SpeedKept {
    Throughout,
    /// To so many bytes.
    UpTo(f64),
    /// The spread hides whether it does to the end.
    Hidden,
}

struct Held {
    kept: SpeedKept,
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
        let low = contrasts.iter().filter(|c| c.exceeds(ENOUGH) == Some(false)).count();
        let kept = match low == 0 {
            // A lone dip from which the speed recovers is no fall.
            false if low == 1 && last.exceeds(ENOUGH) != Some(false) => SpeedKept::Hidden,
            true if last.exceeds(ENOUGH).is_none() => SpeedKept::Hidden,
            true => SpeedKept::Throughout,
            false => SpeedKept::UpTo(held.map_or(least.x, |c| c.x)),
        };
        Some(Held { kept, last })
    }

    /// `beyond 6 KiB with 1 read, groups of 64 (to 31 % at 48 KiB)`.
    fn phrase(&self, name: &str) -> Option<String> {
        match self.kept {
            SpeedKept::Throughout => Some(format!("nowhere with {name}")),
            SpeedKept::UpTo(enough) => {
                let left = percent(self.last.ratio);
                let most = bytes(self.last.x);
                Some(format!("beyond {} with {name} (to {left} at {most})", bytes(enough)))
            }
            SpeedKept::Hidden => None,
        }
    }
}

fn bytes(x: f64) -> String {
    binary(x as u64)
}

/// What of the best of all speeds of one kind is left with the most ballast.
fn share_left(points: &[Point], metric: Metric, most: f64) -> Option<String> {
    let own = || points.iter().filter(|p| p.unit == metric.unit && p.measured().is_some());
    let (_, best) = extremes(own())?;
    let last = own().filter(|p| p.x == most);
    let shares =
        last.map(|p| Some(format!("{} of the best with {}", percent(Contrast::new(p, best)?.ratio), p.series)));
    Some(format!("At {}, {} falls to {}.", bytes(most), metric.name, joined(shares, "; ")?))
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
    let own = |dtype, n| Own::of(family, "laden", dtype, n, wg);
    let x = ballast as f64;
    if family.name == STEPS.name {
        // As many steps of an item, however many chains it has.
        let rounds = if target.gpu { 256 } else { 32 } / together;
        let params = [(BALLAST.name, ballast), (CHAINS.name, together), (ROUNDS.name, rounds)];
        return own(Dtype::F32, lab::items(target)).trial(scope, name, x, RATE, &params);
    }
    // More than any GPU's cache holds, several times over: groups that begin and end count little.
    let (bits, rounds) = scope.pick([(26, 4); 2], [(24, 1), (20, 1)]);
    let params = [(BALLAST.name, ballast), (TOGETHER.name, together), (ROUNDS.name, rounds)];
    own(Dtype::I32, 1 << bits).trial(scope, name, x, BANDWIDTH, &params)
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
    fn a_lone_dip_is_no_fall() {
        let series = SERIES[0].0;
        let kept = |low: &[f64]| {
            let speed = |x: &f64| if low.contains(x) { 50.0 } else { 100.0 };
            let points: Vec<Point> = [1.0, 2.0, 3.0, 4.0]
                .iter()
                .map(|x| Point { x: *x, ..gpulab_record::point(series, 1, speed(x), 0.01) })
                .collect();
            Held::of(&points, series).map(|held| held.kept)
        };
        assert_eq!(kept(&[]), Some(SpeedKept::Throughout));
        assert_eq!(kept(&[2.0]), Some(SpeedKept::Hidden));
        assert_eq!(kept(&[2.0, 3.0]), Some(SpeedKept::UpTo(1.0)));
        assert_eq!(kept(&[4.0]), Some(SpeedKept::UpTo(3.0)));
    }

    #[test]
    fn a_gpu_whose_latency_takes_1024_items_or_as_many_operations() {
        let speed = |at_once: f64, wg: f64, groups: f64| 1000.0 * (at_once * wg * groups / 1024.0).min(1.0);
        insta::assert_snapshot!(sentences(0.01, speed), @r"
        As groups hold more local memory, the speed falls by more than 10 % beyond 4 KiB with 1 read, groups of 64 (to 12 % at 31 KiB); beyond 16 KiB with 1 read, groups of 256 (to 50 % at 31 KiB); nowhere with 8 reads, groups of 64; beyond 4 KiB with 1 chain, groups of 64 (to 12 % at 31 KiB); beyond 16 KiB with 1 chain, groups of 256 (to 50 % at 31 KiB); beyond 16 KiB with 4 chains, groups of 64 (to 50 % at 31 KiB).
        At 31 KiB, bandwidth falls to 12 % of the best with 1 read, groups of 64; 50 % of the best with 1 read, groups of 256; 100 % of the best with 8 reads, groups of 64.
        At 31 KiB, rate falls to 12 % of the best with 1 chain, groups of 64; 50 % of the best with 1 chain, groups of 256; 50 % of the best with 4 chains, groups of 64.
        ");
    }

    #[test]
    fn a_cpu_that_has_one_group_at_a_time() {
        insta::assert_snapshot!(sentences(0.02, |at_once, _, _| 10.0 * at_once), @"No slowdown over 10 % shows up to 31 KiB of local memory a group: the groups that stay resident are enough, or local memory does not limit how many are resident.");
    }

    #[test]
    fn noise_and_missing_points() {
        let speed = |at_once: f64, wg: f64, groups: f64| 1000.0 * (at_once * wg * groups / 1024.0).min(1.0);
        insta::assert_snapshot!(sentences(0.5, speed), @r"
        As groups hold more local memory, the speed falls by more than 10 % beyond 1 KiB with 1 read, groups of 64 (to 12 % at 31 KiB); beyond 1 KiB with 1 chain, groups of 64 (to 12 % at 31 KiB); 4 of 6 series are undecided: differences under 100 % cannot be seen in this run.
        At 31 KiB, bandwidth falls to 12 % of the best with 1 read, groups of 64; 50 % of the best with 1 read, groups of 256; 100 % of the best with 8 reads, groups of 64.
        At 31 KiB, rate falls to 12 % of the best with 1 chain, groups of 64; 50 % of the best with 1 chain, groups of 256; 50 % of the best with 4 chains, groups of 64.
        To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.
        ");
        insta::assert_snapshot!(sentences(0.5, |at_once, _, _| 10.0 * at_once), @r"
        No slowdown over 10 % shows up to 31 KiB of local memory a group, but 6 of 6 series are too noisy to rule it out (undecided: differences under 100 % cannot be seen in this run).
        To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.
        ");
        insta::assert_snapshot!(OCCUPANCY.finding(&[]), @"No two sizes of ballast were measured.");
    }

    #[test]
    fn ballasts_ascend_to_nearly_all_that_a_group_may_have() {
        for (local_mem, most) in [(48 << 10, 47 << 10), (32 << 20, MOST - 1024), (8 << 10, 7 << 10)] {
            let target = Target { local_mem, ..gpulab_model::outcome::fake_info().target };
            for quick in [true, false] {
                let all = ballasts(&target, quick);
                assert!(all.is_sorted_by(|a, b| a < b) && all.last() == Some(&most), "{all:?}");
            }
        }
    }
}

//! How fast data get to a device and back: from which memory, in how large pieces.

use super::prelude::*;
use gpulab_kernels::exchange::{self, transfer};

const PINNED_IN: &str = "pinned in";
const PINNED_OUT: &str = "pinned out";
const PAGEABLE_IN: &str = "pageable in";
const PAGEABLE_OUT: &str = "pageable out";
const MAPPED_IN: &str = "mapped in";
const MAPPED_OUT: &str = "mapped out";
const IN_PIECES: &str = "pinned in, pieces of 64 KiB";

/// Series, with the variants that they are made of.
const SERIES: [(&str, &str); 6] = [
    (PAGEABLE_IN, "pageable_in"),
    (PINNED_IN, "pinned_in"),
    (MAPPED_IN, "mapped_in"),
    (PAGEABLE_OUT, "pageable_out"),
    (PINNED_OUT, "pinned_out"),
    (MAPPED_OUT, "mapped_out"),
];

/// Bytes of a piece, where many small transfers take the place of a large one.
const PIECE: u64 = 64 << 10;

pub const TRANSFER: Experiment = Experiment {
    name: "transfer",
    question: "How fast do data get to the device and back, from pageable, pinned and mapped memory, in large and small pieces?",
    about: Explanation {
        idea: "Blocks of growing size go to the device and back, from pageable, pinned and mapped memory, whole and in \
               small pieces.",
        expect: "Pinned memory is fastest, as the link copies from it directly; small pieces take a call's time each, \
               whatever their size.",
        but: "On a CPU device the host's memory is the device's: there it is one copy in memory, and mapping needs \
               none.",
        cuda: "Page-locked memory by cudaMallocHost(); cudaMemcpy() from pageable memory goes through a buffer of the \
               driver.",
    },
    x_name: "bytes",
    x_label: plain,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let sizes: &[u32] = if scope.quick { &[10, 16, 22, 24] } else { &[10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30] };
    sizes
        .iter()
        .flat_map(|&log: &u32| {
            let bytes = 1 << log;
            let whole = SERIES.iter().map(move |(series, variant)| trial(scope, bytes, series, variant, bytes));
            // In so many pieces that the first and the last do not count.
            let cut = (20..=26).contains(&log).then(|| trial(scope, bytes, IN_PIECES, "pinned_in", PIECE));
            whole.chain(cut)
        })
        .collect()
}

fn finding(points: &[Point]) -> String {
    let into = direction(points, PINNED_IN, PAGEABLE_IN, "To the device");
    let back = direction(points, PINNED_OUT, PAGEABLE_OUT, "Back to the host");
    joined([into, back, pieces(points)], " ").unwrap_or_else(|| "Nothing was moved.".to_owned())
}

fn trial(scope: &Scope<'_>, bytes: u64, series: &str, variant: &str, piece: u64) -> Trial {
    let piece = (transfer::PIECE, piece);
    let case = exchange::case(&transfer::EXCHANGE, variant, bytes / 4, &[piece], scope.seed);
    Trial { series: series.into(), x: bytes as f64, metric: BANDWIDTH, case }
}

/// What pinned memory gives in one direction, beside pageable memory.
fn direction(points: &[Point], pinned: &str, pageable: &str, way: &str) -> Option<String> {
    let fast = values(points, pinned);
    let largest = fast.last()?.0;
    let at = binary(largest as u64);
    let beside = compare(points, (pinned, largest), (pageable, largest));
    let beside = beside.map(|c| format!("; at {at} it is {}", pace_beside(&c, "pageable memory")));
    Some(format!("{way}, pinned memory reaches {}{}.", most(&fast)?, beside.unwrap_or_default()))
}

/// The most of these rates over sizes, and the sizes that have half of it: those from one on, or those around the best if
/// the largest has less.
fn most(rates: &[(f64, f64)]) -> Option<String> {
    let (best, most) = rates.iter().map(|rate| rate.1).enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let is_less = |rate: &(f64, f64)| rate.1 < most / 2.0;
    let size = |i: usize| rates.get(i).map(|rate| binary(rate.0 as u64));
    let from = |end: usize| rates[..end].iter().rposition(is_less).map_or(0, |i| i + 1);
    if let Some(half) = size(from(rates.len())) {
        return Some(format!("{most:.1} GB/s, and at least half of that from {half} on"));
    }
    let to = rates[best..].iter().position(is_less).map_or(rates.len(), |i| best + i).saturating_sub(1);
    let first = size(from(best))?;
    let last = size(to)?;
    let largest = size(rates.len() - 1)?;
    let place = if first == last { format!("at {first}") } else { format!("between {first} and {last}") };
    Some(format!("{most:.1} GB/s {place}, but less than half of that at {largest}"))
}

fn pieces(points: &[Point]) -> Option<String> {
    let (x, _) = values(points, IN_PIECES).pop()?;
    let contrast = compare(points, (PINNED_IN, x), (IN_PIECES, x))?;
    let cut = format!("the same data in pieces of {}", binary(PIECE));
    Some(format!("One transfer of {} is {}.", binary(x as u64), pace_beside(&contrast, &cut)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_model::outcome::fake_info;
    use gpulab_record::point;

    fn finding(rate: impl Fn(&str, f64) -> f64) -> String {
        let target = fake_info().target;
        let plan = TRANSFER.plan(&Scope { target: &target, quick: true, seed: 1 });
        let points: Vec<Point> =
            plan.iter().map(|t| point(&t.series, t.x as u64, rate(&t.series, t.x), 0.01)).collect();
        TRANSFER.finding(&points).replace(". ", ".\n")
    }

    #[test]
    fn a_link_on_which_pinned_memory_pays() {
        let rate = |series: &str, x: f64| {
            let top = if series.starts_with("pinned") { 50.0 } else { 10.0 };
            let latency = if series.ends_with("KiB") { 1e6 } else { 1e5 };
            top * x / (x + latency)
        };
        insta::assert_snapshot!(finding(rate), @r"
        To the device, pinned memory reaches 49.7 GB/s, and at least half of that from 4 MiB on; at 16 MiB it is 5.00 times as fast as pageable memory.
        Back to the host, pinned memory reaches 49.7 GB/s, and at least half of that from 4 MiB on; at 16 MiB it is 5.00 times as fast as pageable memory.
        One transfer of 16 MiB is 1.05 times as fast as the same data in pieces of 64 KiB.
        ");
    }

    #[test]
    fn memory_that_both_sides_share() {
        insta::assert_snapshot!(finding(|_, _| 8.0), @r"
        To the device, pinned memory reaches 8.0 GB/s, and at least half of that from 1 KiB on; at 16 MiB it is as fast as pageable memory (to within 2 %).
        Back to the host, pinned memory reaches 8.0 GB/s, and at least half of that from 1 KiB on; at 16 MiB it is as fast as pageable memory (to within 2 %).
        One transfer of 16 MiB is as fast as the same data in pieces of 64 KiB (to within 2 %).
        ");
    }

    #[test]
    fn half_is_reached_for_good_or_not_at_all() {
        // Fast in cache, slow between, fast again where copies go by streams.
        insta::assert_snapshot!(finding(|_: &str, x: f64| if x == 65536.0 { 3.0 } else { 10.0 }).lines().next().unwrap(), @"To the device, pinned memory reaches 10.0 GB/s, and at least half of that from 4 MiB on; at 16 MiB it is as fast as pageable memory (to within 2 %).");
        insta::assert_snapshot!(finding(|_: &str, x: f64| if x == 65536.0 || x == 4194304.0 { 10.0 } else { 3.0 }).lines().next().unwrap(), @"To the device, pinned memory reaches 10.0 GB/s between 64 KiB and 4 MiB, but less than half of that at 16 MiB; at 16 MiB it is as fast as pageable memory (to within 2 %).");
        insta::assert_snapshot!(finding(|_: &str, x: f64| if x == 65536.0 { 10.0 } else { 3.0 }).lines().next().unwrap(), @"To the device, pinned memory reaches 10.0 GB/s at 64 KiB, but less than half of that at 16 MiB; at 16 MiB it is as fast as pageable memory (to within 2 %).");
    }
}

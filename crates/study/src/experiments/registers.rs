//! Registers: values of an item that are all needed at once, from 4 to 224, in as many registers as the compiler likes or in
//! fewer.
//!
//! A cap leaves room for more items at once and may force spills: values that go to memory and back. What spills is told by
//! NVIDIA's assembler in the build's log, and what it costs by the same values without a cap. Where the driver takes no cap
//! only the number of values varies. The control is a cap with room for all of an item's values: it must cost nothing.

use super::prelude::*;
use gpulab_kernels::lab::registers::{self, LIVE, MAX_REGISTERS};

/// Bytes that a work-item stores and loads for want of registers.
const SPILLED: Metric =
    Metric { name: "spilled", unit: "bytes", of: |row: &Row| row.spilled_bytes.map(|bytes| bytes as f64) };
const USED: Metric = Metric { name: "registers", unit: "regs", of: |row: &Row| row.registers.map(|used| used as f64) };

const FREE: &str = "no cap";
const FREE_USED: &str = "registers, no cap";

/// A cap with its series of rates and of spills.
struct Cap {
    most: u64,
    rate: &'static str,
    spilled: &'static str,
}

const CAPS: [Cap; 4] = [
    Cap { most: 32, rate: "cap 32", spilled: "spilled, cap 32" },
    Cap { most: 64, rate: "cap 64", spilled: "spilled, cap 64" },
    Cap { most: 128, rate: "cap 128", spilled: "spilled, cap 128" },
    Cap { most: 255, rate: "cap 255", spilled: "spilled, cap 255" },
];

/// Registers that an item needs beside its values: addresses, counters, the factor and the term.
const BESIDE: u64 = 16;

pub const REGISTERS: Experiment = Experiment {
    name: "registers",
    question: "How many values can an item hold at once, and what does a cap on its registers cost in spills?",
    about: Explanation {
        idea: "Items hold ever more values that are needed at once, in as many registers as the compiler likes, or in \
               fewer by a cap.",
        expect: "The rate holds until the values no longer fit; then they spill to memory, which costs more than the room \
               for further items gains.",
        but: "Only NVIDIA's driver takes caps and tells of spills; elsewhere the number of values alone varies. A \
               kernel that requires a group's size is not capped.",
        cuda: "-maxrregcount and __launch_bounds__(); spills go to what CUDA calls local memory.",
    },
    x_name: "values",
    x_label: plain,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let live: &[u64] = if scope.quick { &[4, 16, 64, 128] } else { &[4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 224] };
    let of = |name: &'static str, cap: u64, metric: Metric| {
        live.iter().map(move |&live| trial(scope, name, live, cap, metric))
    };
    let mut all: Vec<Trial> = of(FREE, 0, RATE).collect();
    if !scope.target.register_caps {
        // Its refusal says why.
        all.push(trial(scope, CAPS[0].rate, live[0], CAPS[0].most, RATE));
        return all;
    }
    all.extend(of(FREE_USED, 0, USED));
    for cap in &CAPS {
        all.extend(of(cap.rate, cap.most, RATE).chain(of(cap.spilled, cap.most, SPILLED)));
    }
    all
}

fn trial(scope: &Scope<'_>, name: &str, live: u64, cap: u64, metric: Metric) -> Trial {
    let target = scope.target;
    // As many steps of an item, however many values it has.
    let steps = if target.gpu { 1 << 14 } else { 1 << 12 };
    let mut params = vec![(LIVE.name, live), (MAX_REGISTERS.name, cap), (ROUNDS.name, steps / live)];
    if target.register_caps {
        params.push((TOLD, 1));
    }
    let own = Own::of(&registers::FAMILY, "live", Dtype::F32, lab::items(target), target.max_wg.min(128));
    own.trial(scope, name, live as f64, metric, &params)
}

fn finding(points: &[Point]) -> String {
    let sentences = joined([values(points), Some(caps(points)), control(points)], " ");
    sentences.filter(|_| !series(points, FREE).is_empty()).unwrap_or_else(|| nothing(points, "No rate was measured."))
}

/// The speed is kept if this much of the best is left.
const KEPT: f64 = 0.8;

/// The sentence on the number of values, without a cap.
fn values(points: &[Point]) -> Option<String> {
    let all = series(points, FREE);
    let (_, best) = extremes(all.iter().copied())?;
    // Few values are too few to hide latency: what counts is what comes behind the best.
    let after: Vec<Contrast> = all.iter().filter(|p| p.x > best.x).filter_map(|p| Contrast::new(p, best)).collect();
    let last = all.last()?;
    let kept = after.iter().take_while(|c| c.exceeds(KEPT) == Some(true)).last().map_or(best.x, |c| c.x);
    let falls = after.iter().find(|c| c.x > kept);
    let used = |x: f64| value(points, FREE_USED, x).map_or_else(String::new, |regs| format!(" ({regs:.0} registers)"));
    Some(match falls {
        _ if all.len() < 2 => "Only one number of values was measured.".to_owned(),
        None => format!(
            "Without a cap the best rate is with {} values{} and at least {} of it is kept up to {}{}.",
            best.x,
            used(best.x),
            percent(KEPT),
            last.x,
            used(last.x)
        ),
        Some(c) if c.exceeds(KEPT).is_none() => format!(
            "Without a cap the best rate is with {} values{}; whether {} values keep {} of it is {}.",
            best.x,
            used(best.x),
            c.x,
            percent(KEPT),
            undecided_factor([c])
        ),
        Some(c) => format!(
            "Without a cap the best rate is with {} values{}; more than {} of it is lost at {}{}, and {} values run {}.",
            best.x,
            used(best.x),
            percent(1.0 - KEPT),
            c.x,
            used(c.x),
            last.x,
            after.last().map_or_else(String::new, |c| slower(c.ratio))
        ),
    })
}

fn caps(points: &[Point]) -> String {
    let phrases: Vec<String> = CAPS.iter().filter_map(|cap| spills(points, cap)).collect();
    let measured = CAPS.iter().any(|cap| !series(points, cap.rate).is_empty());
    match phrases.as_slice() {
        [] if !measured => "Caps on registers were not measured, so only the number of values varies.".to_owned(),
        [] => "No cap made the compiler spill, as far as the driver tells.".to_owned(),
        phrases => format!("Beside no cap, {}.", phrases.join("; ")),
    }
}

/// `with at most 32 registers 48 values spill 60 bytes and run 20 % slower`: the first spill of a cap, and the last.
fn spills(points: &[Point], cap: &Cap) -> Option<String> {
    let spilled = series(points, cap.spilled);
    let spilled: Vec<&&Point> = spilled.iter().filter(|p| p.measured().is_some_and(|bytes| bytes > 0.0)).collect();
    let described = |p: &Point| {
        let cost = compare(points, (cap.rate, p.x), (FREE, p.x));
        let cost = match cost {
            Some(c) if c.verdict == Comparison::Unclear => format!("run at a speed that is {}", undecided(&[c])),
            Some(c) => format!("run {}", pace(&c)),
            None => "were not timed".to_owned(),
        };
        format!("{} values spill {:.0} bytes and {cost}", p.x, p.measured().unwrap_or(0.0))
    };
    let first = spilled.first()?;
    let last = spilled.last()?;
    let most = if first.x == last.x { String::new() } else { format!(", {}", described(last)) };
    Some(format!("with at most {} registers {}{most}", cap.most, described(first)))
}

/// The sentence on caps that have room for all.
fn control(points: &[Point]) -> Option<String> {
    let roomy = |cap: &Cap| {
        let over = compare_series(points, cap.rate, FREE, |_| true);
        over.into_iter().filter(|c| (c.x as u64).saturating_add(BESIDE) <= cap.most).collect::<Vec<_>>()
    };
    let all: Vec<Contrast> = CAPS.iter().flat_map(roomy).collect();
    let costly = all.iter().filter(|c| c.verdict == Comparison::Lower).map(|c| c.ratio).reduce(f64::min);
    Some(match costly {
        _ if all.is_empty() => return None,
        Some(ratio) => {
            format!("The control failed: a cap with room for all values makes some up to {}.", slower(ratio))
        }
        None if all.iter().any(|c| c.verdict == Comparison::Unclear) => {
            format!("The control, caps with room for all values, is {} in part.", undecided(&all))
        }
        None => {
            let slower: Vec<Contrast> = all.iter().map(Contrast::inverse).collect();
            format!("The control passed: caps with room for all values cost less than {}.", excess(&slower))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{points_of, points_on};
    use super::*;
    use gpulab_model::outcome::fake_info;

    /// The finding of a device that takes caps if `takes_caps`: a value beyond the registers spills 8 bytes, and every 64
    /// of them halve the rate.
    fn finding(noise: f64, takes_caps: bool) -> String {
        let spilled = |cap: u64, live: f64| 8.0 * (live + BESIDE as f64 - cap as f64).max(0.0);
        let rate = |cap: u64, live: f64| 1000.0 * live.min(16.0) / (1.0 + spilled(cap, live) / 64.0);
        let target = Target { register_caps: takes_caps, gpu: true, ..fake_info().target };
        REGISTERS.finding(&points_on(&REGISTERS, &target, noise, |series: &str, live: f64| {
            match CAPS.iter().find(|cap| [cap.rate, cap.spilled].contains(&series)) {
                Some(_) if !takes_caps => f64::NAN,
                Some(cap) if series == cap.spilled => spilled(cap.most, live),
                Some(cap) => rate(cap.most, live),
                None if series == FREE_USED => (live + BESIDE as f64).min(255.0),
                None => rate(255, live),
            }
        }))
    }

    #[test]
    fn caps_that_spill_and_a_driver_without_caps() {
        insta::assert_snapshot!(finding(0.01, true), @"Without a cap the best rate is with 224 values (240 registers) and at least 80 % of it is kept up to 224 (240 registers). Beside no cap, with at most 32 registers 24 values spill 64 bytes and run 2.00 times slower, 224 values spill 1664 bytes and run 27.0 times slower; with at most 64 registers 64 values spill 128 bytes and run 3.00 times slower, 224 values spill 1408 bytes and run 23.0 times slower; with at most 128 registers 128 values spill 128 bytes and run 3.00 times slower, 224 values spill 896 bytes and run 15.0 times slower. The control passed: caps with room for all values cost less than 2 %.");
        insta::assert_snapshot!(finding(0.5, true), @"Without a cap the best rate is with 224 values (240 registers) and at least 80 % of it is kept up to 224 (240 registers). Beside no cap, with at most 32 registers 24 values spill 64 bytes and run at a speed that is undecided: differences under 100 % cannot be seen in this run, 224 values spill 1664 bytes and run 27.0 times slower; with at most 64 registers 64 values spill 128 bytes and run 3.00 times slower, 224 values spill 1408 bytes and run 23.0 times slower; with at most 128 registers 128 values spill 128 bytes and run 3.00 times slower, 224 values spill 896 bytes and run 15.0 times slower. The control, caps with room for all values, is undecided: differences under 100 % cannot be seen in this run in part. To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.");
        insta::assert_snapshot!(finding(0.01, false), @"Without a cap the best rate is with 224 values and at least 80 % of it is kept up to 224. Caps on registers were not measured, so only the number of values varies.");
    }

    #[test]
    fn values_that_no_register_is_left_for() {
        let of = |noise| {
            REGISTERS.finding(&points_of(&REGISTERS, false, noise, |series: &str, x: f64| {
                if series == FREE { 1000.0 / (x / 32.0).max(1.0) } else { f64::NAN }
            }))
        };
        insta::assert_snapshot!(of(0.01), @"Without a cap the best rate is with 32 values; more than 20 % of it is lost at 48, and 224 values run 7.00 times slower. Caps on registers were not measured, so only the number of values varies.");
        insta::assert_snapshot!(of(0.3), @"Without a cap the best rate is with 32 values; whether 48 values keep 80 % of it is undecided: differences under 60 % cannot be seen in this run. Caps on registers were not measured, so only the number of values varies. To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.");
        insta::assert_snapshot!(REGISTERS.finding(&[]), @"Nothing was measured.");
    }

    #[test]
    fn a_cap_that_costs_although_it_has_room() {
        let points = [(FREE, 100.0), ("cap 64", 50.0)].map(|(name, rate)| gpulab_record::point(name, 16, rate, 0.01));
        assert_eq!(
            control(&points).as_deref(),
            Some("The control failed: a cap with room for all values makes some up to 2.00 times slower.")
        );
    }
}

//! Vectors: the same floats loaded, and the same additions done, as float, float2, float4, float8 and float16.

use super::prelude::*;
use gpulab_kernels::lab::vectors::{ADDING, LOADING, VEC};

const LOADS: &str = "loads";
const ADDS: &str = "adds";
const WIDTHS: [u64; 5] = [1, 2, 4, 8, 16];

pub const VECTOR: Experiment = Experiment {
    name: "vector",
    question: "How much faster are loads and additions with vector types, and up to which width?",
    about: Explanation {
        idea: "The same floats are loaded, and the same additions done, as float, float2, float4, float8 and float16.",
        expect: "On CPU drivers wide vectors fill the vector registers. On GPUs each item is a lane already: loads gain \
               where their number holds memory back, additions hardly.",
        but: "A compiler for CPUs that joins items into vectors by itself leaves nothing to gain; wide vectors may \
               cost a GPU registers.",
        cuda: "float2 and float4 are vector loads of 64 and 128 bits; arithmetic is scalar for each thread.",
    },
    x_name: "width",
    x_label: plain,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    WIDTHS.iter().map(|&vec| loads(scope, vec)).chain(WIDTHS.iter().map(|&vec| adds(scope, vec))).collect()
}

fn finding(points: &[Point]) -> String {
    let sentences = joined([sentence(points, "Loads", LOADS), sentence(points, "Additions", ADDS)], " ");
    sentences.unwrap_or_else(|| nothing(points, "No vector type was compared with float."))
}

/// What the widths of a series come to beside float.
fn sentence(points: &[Point], what: &str, name: &str) -> Option<String> {
    let all = series(points, name);
    let float = all.iter().find(|p| p.x == 1.0)?;
    let over_float: Vec<Contrast> = all.iter().filter(|p| p.x > 1.0).filter_map(|p| Contrast::new(p, float)).collect();
    if over_float.is_empty() {
        return None;
    }
    let of = |verdict| over_float.iter().filter(move |c| c.verdict == verdict);
    let gain = match gain(&all, &of(Comparison::Higher).copied().collect::<Vec<_>>()) {
        Some(gain) => gain,
        None if any(&over_float, Comparison::Unclear) => {
            format!("whether vectors are faster than float is {}", undecided(&over_float))
        }
        None => format!("vectors are no faster than float (at most {})", excess(&over_float)),
    };
    let fall = of(Comparison::Lower).min_by(|a, b| a.ratio.total_cmp(&b.ratio));
    let fall = fall.map(|worst| format!("; float{} is {} than float", worst.x, slower(worst.ratio)));
    Some(format!("{what}: {gain}{}.", fall.unwrap_or_default()))
}

/// A gain is named beside another one only if it is larger by this factor.
const MORE: f64 = 1.05;

/// The narrowest vectors that gain clearly and that no wider ones clearly beat, and those that gain most.
fn gain(all: &[&Point], gains: &[Contrast]) -> Option<String> {
    let at = |x: f64| all.iter().find(|p| p.x == x);
    let over = |c: &Contrast| -> Vec<Contrast> {
        let wider = all.iter().filter(|p| p.x > c.x);
        wider.filter_map(|p| Contrast::new(p, at(c.x)?)).collect()
    };
    let (enough, wider) = gains.iter().map(|c| (c, over(c))).find(|(_, wider)| !any(wider, Comparison::Higher))?;
    let claim = format!("float{} is {} as fast as float", enough.x, times(enough.ratio));
    let best = gains.iter().max_by(|a, b| a.ratio.total_cmp(&b.ratio))?;
    let is_more = best.x > enough.x && best.ratio > MORE * enough.ratio;
    Some(match wider.as_slice() {
        [] => format!("{claim}, the largest gain"),
        _ if is_more => format!(
            "{claim} and float{0} {1}, but whether float{0} is faster than float{2} is {3}",
            best.x,
            times(best.ratio),
            enough.x,
            undecided(&wider)
        ),
        wider if any(wider, Comparison::Unclear) => {
            format!("{claim}, and whether wider vectors are faster is {}", undecided(wider))
        }
        wider => format!("{claim}, and wider vectors are no faster (at most {})", excess(wider)),
    })
}

/// Far more than a GPU's cache.
fn loads(scope: &Scope<'_>, vec: u64) -> Trial {
    let wg = if scope.target.gpu { lab::usual_wg(scope.target) } else { 1 };
    let own = Own::of(&LOADING, "vectors", Dtype::F32, 1 << scope.pick([26; 2], [24, 22]), wg);
    own.trial(scope, LOADS, vec as f64, BANDWIDTH, &[(VEC.name, vec), (ROUNDS.name, 1)])
}

fn adds(scope: &Scope<'_>, vec: u64) -> Trial {
    let target = scope.target;
    // Enough items of the widest vectors to fill the device, and enough additions that reading and writing count little.
    let (lanes, rounds) = if target.gpu { (2, 512) } else { (16, 16) };
    let own = Own::of(&ADDING, "vectors", Dtype::F32, lanes * lab::items(target), lab::usual_wg(target).min(64));
    own.trial(scope, ADDS, vec as f64, RATE, &[(VEC.name, vec), (ROUNDS.name, rounds)])
}

#[cfg(test)]
mod tests {
    use super::super::tests::sentences;
    use super::*;

    #[test]
    fn a_gpu_that_loads_16_bytes() {
        let speed = |series: &str, width: f64| match series {
            LOADS if width > 8.0 => 3000.0,
            LOADS => 4000.0 + 200.0 * width.min(4.0),
            _ => 30000.0,
        };
        insta::assert_snapshot!(sentences(&VECTOR, 0.01, speed), @r"
        Loads: float4 is 1.14 times as fast as float, and wider vectors are no faster (at most 2 %); float16 is 29 % slower than float.
        Additions: vectors are no faster than float (at most 2 %).
        ");
    }

    #[test]
    fn a_cpu_with_vectors_of_8() {
        insta::assert_snapshot!(sentences(&VECTOR, 0.02, |_, width| 4.0 * width.min(8.0)), @r"
        Loads: float8 is 8.00 times as fast as float, and wider vectors are no faster (at most 4 %).
        Additions: float8 is 8.00 times as fast as float, and wider vectors are no faster (at most 4 %).
        ");
    }

    #[test]
    fn the_largest_gain_is_told_where_the_spread_hides_the_steps() {
        let noisy = |_: &str, width: f64| [15.2, 22.3, 30.7, 35.4, 36.2][width.log2() as usize];
        insta::assert_snapshot!(sentences(&VECTOR, 0.2, noisy), @r"
        Loads: float4 is 2.02 times as fast as float and float16 2.38 times, but whether float16 is faster than float4 is undecided: differences under 40 % cannot be seen in this run.
        Additions: float4 is 2.02 times as fast as float and float16 2.38 times, but whether float16 is faster than float4 is undecided: differences under 40 % cannot be seen in this run.
        To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.
        ");
        let first_is_hidden = |_: &str, width: f64| [10.0, 12.0, 13.0, 15.0, 15.0][width.log2() as usize];
        insta::assert_snapshot!(sentences(&VECTOR, 0.2, first_is_hidden), @r"
        Loads: float8 is 1.50 times as fast as float, and whether wider vectors are faster is undecided: differences under 40 % cannot be seen in this run.
        Additions: float8 is 1.50 times as fast as float, and whether wider vectors are faster is undecided: differences under 40 % cannot be seen in this run.
        To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.
        ");
    }

    #[test]
    fn noise_and_missing_points() {
        insta::assert_snapshot!(sentences(&VECTOR, 0.4, |_, width| 4.0 + width / 8.0), @r"
        Loads: whether vectors are faster than float is undecided: differences under 80 % cannot be seen in this run.
        Additions: whether vectors are faster than float is undecided: differences under 80 % cannot be seen in this run.
        To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.
        ");
        insta::assert_snapshot!(sentences(&VECTOR, 0.02, |series: &str, width: f64| if series == ADDS { 4.0 / width } else { f64::NAN }), @"Additions: vectors are no faster than float (at most 1 %); float16 is 16.0 times slower than float.");
        insta::assert_snapshot!(VECTOR.finding(&[]), @"Nothing was measured.");
    }
}

//! Banks: reads of `__local` memory in strides of 1 to 64 words of 4 and 8 bytes, at one word, and at random.
//!
//! Items in lockstep whose words lie in the same bank take turns. With a power of two for a stride, each doubling halves the
//! banks in use, until all words lie in one; an odd stride uses all of them, and one word for all is read once.

use super::prelude::*;
use gpulab_kernels::lab::banks::{self, SCRAMBLE, STRIDE};

const NARROW: &str = "4-byte words";
const WIDE: &str = "8-byte words";
const NARROW_RANDOM: &str = "4-byte words, permuted";
const WIDE_RANDOM: &str = "8-byte words, permuted";

/// In words; 0 is one word for all items, and the odd ones touch every bank.
const STRIDES: [u64; 11] = [0, 1, 2, 3, 4, 8, 16, 31, 32, 33, 64];

pub const BANKS: Experiment = Experiment {
    name: "banks",
    question: "How many banks does local memory have, and what does it cost when neighbouring items read from the same one?",
    about: Explanation {
        idea: "Items read words of local memory that lie a stride apart, the same word, or words at random; the words, \
               their number and the arithmetic stay as they are.",
        expect: "With a power of two for a stride, each doubling halves the banks in use and the rate, until all words \
               lie in one bank. Odd strides use all banks and cost nothing, and one word for all is handed out at once.",
        but: "CPU drivers have no banks: local memory is ordinary memory there, and a stride costs what it costs in a \
               cache.",
        cuda: "Banks of __shared__ memory: threads of a warp that want different words of one bank take turns (a bank \
               conflict); one word for all is a broadcast.",
    },
    x_name: "stride",
    x_label: plain,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    [(NARROW, NARROW_RANDOM, Dtype::I32), (WIDE, WIDE_RANDOM, Dtype::I64)]
        .iter()
        .flat_map(|(strided, random, dtype)| {
            let strides = STRIDES.map(|stride| trial(scope, strided, *dtype, stride, 0));
            strides.into_iter().chain([trial(scope, random, *dtype, 1, 1)])
        })
        .collect()
}

fn finding(points: &[Point]) -> String {
    if knee(points, NARROW) == Knee::Unmeasured {
        return "Too few strides were measured to show banks.".to_owned();
    }
    let wide = match banks(points, WIDE, 8) {
        Banked::Yes(banks, loss) => format!("; 8-byte words show {banks} banks too ({} slower)", times(loss)),
        _ => String::new(),
    };
    match banks(points, NARROW, 4) {
        Banked::Yes(banks, loss) => format!(
            "Local memory has {banks} banks of 4 bytes: each doubling of the stride up to {banks} slows reads, until \
             they are {} slower than at stride 1{}{wide}.{}",
            times(loss),
            odd(points),
            others(points)
        ),
        Banked::No => {
            let beside = [32.0, 16.0, 8.0, 4.0, 2.0]
                .into_iter()
                .find_map(|stride| Some((stride, compare(points, (NARROW, stride), (NARROW, 1.0))?)));
            let beside = beside.map_or_else(String::new, |(stride, c)| match c.verdict {
                Comparison::Unclear => {
                    format!(": stride {stride} is at most {} slower than stride 1", times(c.inverse().most()))
                }
                _ => format!(": stride {stride} is {}", pace_beside(&c, "stride 1")),
            });
            let others = others(points);
            format!("Local memory shows no banks, as strides do not slow reads as banks would{beside}.{others}")
        }
        Banked::Unclear => {
            let hidden = undecided_factor(&doublings(points, NARROW));
            format!("Whether local memory has banks is {hidden}.")
        }
    }
}

enum Banked {
    /// So many of 4 bytes, and how many times slower the slowest stride is.
    Yes(u64, f64),
    No,
    Unclear,
}

/// Banks show as doublings of the stride that cost from the first one on, and as an odd stride that does not pay for them;
/// caches and vectors show otherwise.
fn banks(points: &[Point], series: &str, bytes: u64) -> Banked {
    // Any banks make their number's multiples far slower than stride 1, whatever the spread hides of single doublings.
    let to = match knee(points, series) {
        Knee::Unclear
            if [32.0, 64.0]
                .map(|stride: f64| compare(points, (series, 1.0), (series, stride)).and_then(|c| c.exceeds(2.0)))
                == [Some(false); 2] =>
        {
            return Banked::No;
        }
        Knee::Unclear => return Banked::Unclear,
        Knee::Between { from: 1.0, to } => to,
        _ => return Banked::No,
    };
    let odd = compare(points, (series, 33.0), (series, to));
    let worst = compare(points, (series, 1.0), (series, to)).map_or(1.0, |c| c.ratio);
    match odd.and_then(|odd| odd.exceeds(2.0)) {
        Some(true) if to >= 4.0 => Banked::Yes(to as u64 * bytes / 4, worst),
        None => Banked::Unclear,
        _ => Banked::No,
    }
}

fn odd(points: &[Point]) -> String {
    let odd = compare(points, (NARROW, 33.0), (NARROW, 1.0));
    odd.map_or(String::new(), |c| format!("; the odd stride 33 is {}", pace_beside(&c, "stride 1")))
}

/// One word for all, and a permutation, beside stride 1.
fn others(points: &[Point]) -> String {
    let described = |series, stride| Some(pace_beside(&compare(points, (series, stride), (NARROW, 1.0))?, "stride 1"));
    match (described(NARROW, 0.0), described(NARROW_RANDOM, 1.0)) {
        (Some(one), Some(random)) => {
            format!(" Reading one word with all items is {one}; reading words in random order is {random}.")
        }
        _ => String::new(),
    }
}

fn trial(scope: &Scope<'_>, series: &str, dtype: Dtype, stride: u64, scramble: u64) -> Trial {
    let params = [(STRIDE.name, stride), (SCRAMBLE.name, scramble), (ROUNDS.name, 128)];
    let own = Own::of(&banks::FAMILY, "strided", dtype, lab::items(scope.target), lab::usual_wg(scope.target));
    own.trial(scope, series, stride as f64, BANDWIDTH, &params)
}

#[cfg(test)]
mod tests {
    use super::super::tests::sentences;
    use super::*;

    /// The turns that 32 banks take for the words of a warp.
    fn turns(series: &str, stride: f64) -> f64 {
        match series {
            NARROW_RANDOM | WIDE_RANDOM => 3.5,
            _ if stride == 0.0 || stride % 2.0 == 1.0 => 1.0,
            NARROW => stride.min(32.0),
            _ => stride.min(16.0),
        }
    }

    #[test]
    fn banks_of_a_gpu() {
        insta::assert_snapshot!(sentences(&BANKS, 0.01, |series, stride| 30000.0 / turns(series, stride)), @r"
        Local memory has 32 banks of 4 bytes: each doubling of the stride up to 32 slows reads, until they are 32.0 times slower than at stride 1; the odd stride 33 is as fast as stride 1 (to within 2 %); 8-byte words show 32 banks too (16.0 times slower).
        Reading one word with all items is as fast as stride 1 (to within 2 %); reading words in random order is 3.50 times slower than stride 1.
        ");
    }

    #[test]
    fn memory_without_banks() {
        insta::assert_snapshot!(sentences(&BANKS, 0.02, |_, _| 90.0), @r"
        Local memory shows no banks, as strides do not slow reads as banks would: stride 32 is as fast as stride 1 (to within 4 %).
        Reading one word with all items is as fast as stride 1 (to within 4 %); reading words in random order is as fast as stride 1 (to within 4 %).
        ");
        let vectors = |_: &str, stride: f64| if stride < 2.0 { 200.0 } else { 40.0 };
        insta::assert_snapshot!(sentences(&BANKS, 0.02, vectors), @r"
        Local memory shows no banks, as strides do not slow reads as banks would: stride 32 is 5.00 times slower than stride 1.
        Reading one word with all items is as fast as stride 1 (to within 4 %); reading words in random order is as fast as stride 1 (to within 4 %).
        ");
        let lines = |_: &str, stride: f64| 200.0 / stride.clamp(1.0, 16.0);
        insta::assert_snapshot!(sentences(&BANKS, 0.02, lines), @r"
        Local memory shows no banks, as strides do not slow reads as banks would: stride 32 is 16.0 times slower than stride 1.
        Reading one word with all items is as fast as stride 1 (to within 4 %); reading words in random order is as fast as stride 1 (to within 4 %).
        ");
    }

    #[test]
    fn noise_and_missing_points() {
        insta::assert_snapshot!(sentences(&BANKS, 0.4, |series, stride| 30000.0 / turns(series, stride)), @r"
        Whether local memory has banks is undecided: differences under 80 % cannot be seen in this run.
        To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.
        ");
        let flat = sentences(&BANKS, 0.4, |_, stride| 30000.0 + stride);
        assert!(flat.starts_with("Local memory shows no banks"), "banks would cost more than this spread: {flat}");
        insta::assert_snapshot!(BANKS.finding(&[]), @"Too few strides were measured to show banks.");
    }

    #[test]
    fn an_odd_stride_costs_what_it_costs() {
        let odd = |noise| {
            sentences(&BANKS, noise, |series: &str, stride: f64| {
                30000.0 / turns(series, stride) * if stride == 33.0 { 0.6 } else { 1.0 }
            })
            .split("; ")
            .nth(1)
            .unwrap()
            .to_owned()
        };
        assert_eq!(odd(0.01), "the odd stride 33 is 1.67 times slower than stride 1");
        let text = sentences(&BANKS, 0.1, |series: &str, stride: f64| {
            30000.0 / turns(series, stride) * if stride == 33.0 { 0.9 } else { 1.0 }
        });
        assert!(text.contains("the odd stride 33 is not clearly faster or slower than stride 1 (undecided"), "{text}");
    }
}

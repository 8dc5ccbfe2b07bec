//! Banks: reads of `__local` memory in strides of 1 to 64 words of 4 and 8 bytes, at one word, and at random.
//!
//! Items in lockstep whose words lie in the same bank take turns. With a power of two for a stride, each doubling halves the
//! banks in use, until all words lie in one; an odd stride uses all of them, and one word for all is read once.

use super::evidence::{Contrast, Knee, Verdict, compare, knee};
use super::own::{self, Exact, OneLaunch, Own, ROUNDS};
use super::{Experiment, Scope, Trial};
use crate::data::{Array, Dtype, Fill};
use crate::each_array;
use crate::kernels::{Ask, Bound, Family, Form, Tunable, rung, shape::Grid};
use crate::plan::{Case, Cost, Plan, Refusal};
use crate::record::{BANDWIDTH, Point};

/// The experiment's entry in the list.
pub struct Banks;

/// n items that read a table in local memory.
const FAMILY: Family = Family {
    name: "banks",
    about: "read local memory in strides",
    form: Form::Vector,
    problem: &Exact {
        inputs: |_, _| vec![MOST_WORDS + READ_AT_ONCE],
        result: |shape, _| shape.n as usize,
        fill: Fill::Real,
        cost,
        answer,
        finish: own::as_it_is,
    },
    references: &[],
    ladder: &[rung("lab/banks/v1_strided.cl", plan, &[])],
    choices: &[STRIDE, SCRAMBLE, ROUNDS],
    dtypes: &[Dtype::I32, Dtype::I64],
    ceiling: Bound::Read,
};

const STRIDE: Tunable = own::setting("stride", "words between the places of two neighbouring items");
const SCRAMBLE: Tunable = own::setting("scramble", "whether places are a permutation without order");

const NARROW: &str = "4-byte words";
const WIDE: &str = "8-byte words";
const NARROW_RANDOM: &str = "4-byte words, permuted";
const WIDE_RANDOM: &str = "8-byte words, permuted";

/// In words; 0 is one word for all items, and the odd ones touch every bank.
const STRIDES: [u64; 11] = [0, 1, 2, 3, 4, 8, 16, 31, 32, 33, 64];

/// Words of 4 bytes in the table, and those that an item reads in a round, as in the kernel.
const MOST_WORDS: usize = 2048;
const READ_AT_ONCE: usize = 8;

impl Experiment for Banks {
    fn name(&self) -> &'static str {
        "banks"
    }

    fn question(&self) -> &'static str {
        "In how many banks does local memory lie, and what does it cost that neighbouring items ask one of them?"
    }

    fn x_name(&self) -> &'static str {
        "stride"
    }

    fn families(&self) -> &'static [&'static Family] {
        &[&FAMILY]
    }

    fn plan(&self, scope: &Scope<'_>) -> Vec<Trial> {
        [(NARROW, NARROW_RANDOM, Dtype::I32), (WIDE, WIDE_RANDOM, Dtype::I64)]
            .iter()
            .flat_map(|(strided, random, dtype)| {
                let strides = STRIDES.map(|stride| trial(scope, strided, *dtype, stride, 0));
                strides.into_iter().chain([trial(scope, random, *dtype, 1, 1)])
            })
            .collect()
    }

    fn finding(&self, points: &[Point]) -> String {
        if knee(points, NARROW) == Knee::Unmeasured {
            return "No two strides were measured.".to_owned();
        }
        let wide = match banks(points, WIDE, 8) {
            Banked::Yes(banks, loss) => format!("; words of 8 bytes show {banks} as well (1/{loss:.0})"),
            _ => String::new(),
        };
        match banks(points, NARROW, 4) {
            Banked::Yes(banks, loss) => format!(
                "Local memory lies in {banks} banks of 4 bytes: each doubling of the stride up to {banks} costs \
                 its turns, down to 1/{loss:.0} of the speed{}{wide}.{}",
                odd(points),
                others(points)
            ),
            Banked::No => {
                format!("Local memory shows no banks: strides do not cost what turns at banks would.{}", others(points))
            }
            Banked::Unclear => "The spread is too large to tell whether local memory lies in banks.".to_owned(),
        }
    }
}

/// What a series says of banks.
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
    let is_slow = |stride: f64| compare(points, (series, 1.0), (series, stride)).and_then(|c| c.exceeds(2.0));
    let to = match knee(points, series) {
        Knee::Unclear if [32.0, 64.0].map(is_slow) == [Some(false); 2] => return Banked::No,
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

/// What the odd stride beyond the banks costs.
fn odd(points: &[Point]) -> String {
    let told = |c: Contrast| match c.verdict {
        Verdict::Same => ", and the odd stride 33 costs none".to_owned(),
        verdict => {
            let hidden = if verdict == Verdict::Unclear { ", within the spread" } else { "" };
            format!(", and the odd stride 33 gives {:.2} times the speed of stride 1{hidden}", c.ratio)
        }
    };
    compare(points, (NARROW, 33.0), (NARROW, 1.0)).map(told).unwrap_or_default()
}

/// One word for all, and a permutation, beside stride 1.
fn others(points: &[Point]) -> String {
    let told = |contrast: Option<Contrast>| contrast.map(|c| format!("{:.2}", c.ratio));
    let one = told(compare(points, (NARROW, 0.0), (NARROW, 1.0)));
    let random = told(compare(points, (NARROW_RANDOM, 1.0), (NARROW, 1.0)));
    match (one, random) {
        (Some(one), Some(random)) => {
            format!(
                " One word for all items is read at {one} times the speed of stride 1, permuted words at {random} times."
            )
        }
        _ => String::new(),
    }
}

fn trial(scope: &Scope<'_>, series: &str, dtype: Dtype, stride: u64, scramble: u64) -> Trial {
    let own = Own {
        family: &FAMILY,
        variant: "strided",
        dtype,
        n: own::items(scope.target),
        wg: own::usual_wg(scope.target),
        params: &[(STRIDE.name, stride), (SCRAMBLE.name, scramble), (ROUNDS.name, 128)],
    };
    own.trial(scope, series, stride as f64, BANDWIDTH)
}

fn cost(case: &Case) -> Cost {
    let reads = (case.shape.n * own::get(&case.params, ROUNDS.name)) as f64 * READ_AT_ONCE as f64;
    Cost { bytes: reads * case.dtype.size() as f64, ops: reads }
}

/// Words of a place's range: as many bytes of either width.
fn words(dtype: Dtype) -> usize {
    MOST_WORDS * 4 / dtype.size()
}

/// As in the kernel.
fn scrambled(i: usize) -> usize {
    let i = (i * 167 + 13) & 255;
    let i = i ^ i >> 4;
    let i = (i * 89 + 7) & 255;
    i ^ i >> 3
}

fn answer(case: &Case, inputs: &[Array]) -> Array {
    let get = |name: &str| own::get(&case.params, name) as usize;
    let (stride, rounds, last) = (get(STRIDE.name), get(ROUNDS.name), words(case.dtype) - 1);
    let first = |item: usize| if get(SCRAMBLE.name) == 1 { scrambled(item & 255) } else { item * stride };
    let places = |item: usize| (0..rounds).map(move |round| (first(item) + 17 * round) & last);
    let wg = case.wg.size();
    let items = 0..case.shape.n as usize;
    match &inputs[0] {
        Array::I32(x) => {
            let sum = |at: usize| x[at..at + READ_AT_ONCE].iter().fold(0i32, |a, &b| a.wrapping_add(b));
            let group: Vec<i32> = (0..wg).map(|item| places(item).map(sum).fold(0, i32::wrapping_add)).collect();
            Array::I32(items.map(|id| group[id % wg]).collect())
        }
        Array::I64(x) => {
            let sum = |at: usize| x[at..at + READ_AT_ONCE].iter().fold(0i64, |a, &b| a.wrapping_add(b));
            let group: Vec<i64> = (0..wg).map(|item| places(item).map(sum).fold(0, i64::wrapping_add)).collect();
            Array::I64(items.map(|id| group[id % wg]).collect())
        }
        floats => Array::zeros(floats.dtype(), each_array!(floats, v => v.len())),
    }
}

fn plan(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let Case { dtype, shape, wg, .. } = ask.case;
    let words = words(*dtype);
    OneLaunch {
        grid: Grid::covering(wg.size(), own::whole_groups(ask)?),
        output: shape.n as usize,
        defines: &[("WORDS", words.to_string())],
        args: &[ROUNDS.name, STRIDE.name, SCRAMBLE.name].map(|name| own::arg(ask, name)),
        local: ((words + READ_AT_ONCE) * dtype.size()) as u64,
    }
    .plan(ask)
}

#[cfg(test)]
mod tests {
    use super::super::own::points_of;
    use super::*;

    /// The finding where a series has `speed(series, stride)` GB/s, a sentence a line.
    fn sentences(noise: f64, speed: fn(&str, f64) -> f64) -> String {
        Banks.finding(&points_of(&Banks, true, noise, speed)).replace(". ", ".\n")
    }

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
    fn permutations_are_ones() {
        let mut all: Vec<usize> = (0..256).map(scrambled).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..256));
    }

    #[test]
    fn banks_of_a_gpu() {
        insta::assert_snapshot!(sentences(0.01, |series, stride| 30000.0 / turns(series, stride)), @r"
        Local memory lies in 32 banks of 4 bytes: each doubling of the stride up to 32 costs its turns, down to 1/32 of the speed, and the odd stride 33 costs none; words of 8 bytes show 32 as well (1/16).
        One word for all items is read at 1.00 times the speed of stride 1, permuted words at 0.29 times.
        ");
    }

    #[test]
    fn memory_without_banks() {
        insta::assert_snapshot!(sentences(0.02, |_, _| 90.0), @r"
        Local memory shows no banks: strides do not cost what turns at banks would.
        One word for all items is read at 1.00 times the speed of stride 1, permuted words at 1.00 times.
        ");
        let vectors = |_: &str, stride: f64| if stride < 2.0 { 200.0 } else { 40.0 };
        insta::assert_snapshot!(sentences(0.02, vectors), @r"
        Local memory shows no banks: strides do not cost what turns at banks would.
        One word for all items is read at 1.00 times the speed of stride 1, permuted words at 1.00 times.
        ");
        let lines = |_: &str, stride: f64| 200.0 / stride.clamp(1.0, 16.0);
        insta::assert_snapshot!(sentences(0.02, lines), @r"
        Local memory shows no banks: strides do not cost what turns at banks would.
        One word for all items is read at 1.00 times the speed of stride 1, permuted words at 1.00 times.
        ");
    }

    #[test]
    fn noise_and_missing_points() {
        insta::assert_snapshot!(sentences(0.4, |series, stride| 30000.0 / turns(series, stride)), @"The spread is too large to tell whether local memory lies in banks.");
        let flat = sentences(0.4, |_, stride| 30000.0 + stride);
        assert!(flat.starts_with("Local memory shows no banks"), "banks would cost more than this spread: {flat}");
        insta::assert_snapshot!(Banks.finding(&[]), @"No two strides were measured.");
    }

    #[test]
    fn an_odd_stride_costs_what_it_costs() {
        let slow = |series: &str, stride: f64| 30000.0 / turns(series, stride) * if stride == 33.0 { 0.6 } else { 1.0 };
        let odd =
            |noise| sentences(noise, slow).split("the speed, ").nth(1).unwrap().split(';').next().unwrap().to_owned();
        assert_eq!(odd(0.01), "and the odd stride 33 gives 0.60 times the speed of stride 1");
        let less = |series: &str, stride: f64| 30000.0 / turns(series, stride) * if stride == 33.0 { 0.9 } else { 1.0 };
        let text = sentences(0.1, less);
        assert!(
            text.contains("the odd stride 33 gives 0.90 times the speed of stride 1, within the spread;"),
            "{text}"
        );
    }
}

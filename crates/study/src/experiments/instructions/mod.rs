//! Instructions: what operations cost, and how wrong functions are.
//!
//! Each operation is measured in three ways: with one chain of dependent steps of a lone item of each compute unit, which
//! is its latency; with eight chains of each of many items, which is its throughput; and, of functions, with no chain but
//! once for each of many arguments, which is its largest error. Where a step needs an addition to keep its operand in
//! range, the addition is part of it, and the finding says so.
//!
//! The control is the chain of additions of integers, each of the two numbers before it, which no compiler can join: steps
//! that follow each other faster were joined, or done in the lanes of a vector. Some compilers do so with the sums and
//! products of floats, though their result may differ.
//! Sums of floats are not asked for with fast mathematics, which lets compilers put constant terms together.

use super::evidence;
use super::prelude::*;
use gpulab_kernels::lab::instructions::operation::{
    DIV, DIV_CONSTANT, DIV_POWER, FORM, FUNCTIONS, Function, Instruction, MASK, MOD, MOD_CONSTANT, MOD_POWER, OP,
    OPERATIONS, Operation, POW, Precision, SHIFT,
};
use gpulab_kernels::lab::instructions::{CHAINS, ONCE, PAIRS};

/// How far a function's value is from the right one, where the runner's check says that it is near enough.
const ERROR: Metric = Metric { name: "error", unit: "ulp", of: |row: &Row| row.max_err };
/// Throughput in what the hardware's tables state, if the device keeps the clock that the driver states.
const PER_CLOCK: Metric = Metric { name: "rate per clock", unit: "/CU/clock", of: |row: &Row| row.ops_per_cu_clock };

const ONE_VALUE: f64 = 0.0;
const DEPENDENT: f64 = 1.0;
const MANY: f64 = 8.0;

/// Operations whose throughput is also told in operations per compute unit and clock.
const ANCHORS: [&str; 4] = ["add", "fma", "min", "int min"];

/// The operation that no other can be faster than, one step after the other.
const CONTROL: &str = "int add";

/// What a short answer is about.
const QUICK: [&str; 7] = ["add", "fma", "min", "int add", DIV, DIV_POWER, SHIFT];
const QUICK_FUNCTIONS: [&str; 2] = ["sin", POW];

const IN_F64: [&str; 4] = ["div", "sqrt", "sin", "exp"];

pub const INSTRUCTIONS: Experiment = Experiment {
    name: "instructions",
    question: "What do arithmetic operations and functions cost, one after the other and many at once, and how exact are they?",
    about: Explanation {
        idea: "Each operation is measured as one chain of a lone item (latency), as many chains of many items \
               (throughput), and each function once for many arguments (its largest error).",
        expect: "Additions, multiplications and bitwise operations are cheap. A division of integers by a variable is a \
               sequence of many instructions; native functions trade exactness for speed.",
        but: "Compilers replace divisions by constants, and some join chains of floats into vectors: the finding says \
               where a step was too fast to be one.",
        cuda: "Throughput of arithmetic instructions for each multiprocessor and clock; native_sin() is __sinf(), \
               mul24() is __mul24().",
    },
    x_name: "chains",
    x_label: plain,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let operations = (0..).zip(OPERATIONS).filter(|(_, o)| !scope.quick || QUICK.contains(&o.name));
    let functions = (OPERATIONS.len() as u64..).zip(FUNCTIONS);
    let functions = functions.filter(|(_, f)| !scope.quick || QUICK_FUNCTIONS.contains(&f.name));
    let forms: &[Precision] = if scope.quick { &[Precision::Plain, Precision::Native] } else { &Precision::ALL };
    operations
        .flat_map(|(op, operation)| of_operation(scope, op, operation))
        .chain(functions.flat_map(|(op, function)| of_function(scope, op, function, forms)))
        .collect()
}

fn finding(points: &[Point]) -> String {
    let sentences = evidence::joined([costs(points), divisions(points), forms(points)], " ");
    sentences.unwrap_or_else(|| nothing(points, "No rate was measured."))
}

fn of_operation(scope: &Scope<'_>, op: u64, operation: &'static Operation) -> Vec<Trial> {
    let chains = ChainTrial { op, asked: Instruction::Operation(operation), dtype: operation.dtype };
    let mut trials =
        vec![chains.trial(scope, operation.name, DEPENDENT, LATENCY), chains.trial(scope, operation.name, MANY, RATE)];
    if ANCHORS.contains(&operation.name) {
        trials.push(chains.trial(scope, &format!("{}, per clock", operation.name), MANY, PER_CLOCK));
    }
    trials
}

/// The trials of a function's forms, and of the function in f64.
fn of_function(scope: &Scope<'_>, op: u64, function: &'static Function, forms: &[Precision]) -> Vec<Trial> {
    let of = |dtype: Dtype, form: Precision| {
        let asked = Instruction::Function(function, form);
        let series = series(function, dtype, form);
        let chains = ChainTrial { op, asked, dtype };
        [(DEPENDENT, LATENCY), (MANY, RATE)].map(|(x, metric)| chains.trial(scope, &series, x, metric))
    };
    let mut trials: Vec<Trial> = forms
        .iter()
        .flat_map(|&form: &Precision| std::iter::once(errors(scope, op, function, form)).chain(of(Dtype::F32, form)))
        .collect();
    if !scope.quick && IN_F64.contains(&function.name) {
        trials.extend(of(Dtype::F64, Precision::Plain));
    }
    trials
}

/// A function's series: `native_sin`, or `sin, fast math`.
fn series(function: &Function, dtype: Dtype, form: Precision) -> String {
    let name = function.name;
    match form {
        Precision::Plain if dtype == Dtype::F64 => format!("f64 {name}"),
        Precision::Plain => name.to_owned(),
        Precision::Half | Precision::Native => function.call(form).to_owned(),
        Precision::Fast => format!("{name}, fast math"),
    }
}

struct ChainTrial {
    op: u64,
    asked: Instruction,
    dtype: Dtype,
}

impl ChainTrial {
    /// A chain of a lone item of each compute unit, or enough chains to keep all of them busy.
    fn trial(&self, scope: &Scope<'_>, series: &str, x: f64, metric: Metric) -> Trial {
        let ChainTrial { op, asked, dtype } = *self;
        let target = scope.target;
        // The launch itself and the loads must count little beside them, with operations of any speed; but some drivers
        // end loops early, those of an fma that they have in software included.
        let (n, wg, steps) = match (x == DEPENDENT, asked.is_dear()) {
            (true, false) => (u64::from(target.compute_units.max(1)), 1, 1 << 16),
            (true, true) => (u64::from(target.compute_units.max(1)), 1, 1 << 13),
            (false, false) => (lab::items(target), lab::usual_wg(target), 1 << 12),
            (false, true) if asked.is_power() => (lab::items(target), lab::usual_wg(target), 1 << 4),
            (false, true) if scope.quick => (lab::items(target), lab::usual_wg(target), 1 << 5),
            (false, true) => (lab::items(target), lab::usual_wg(target), 1 << 7),
        };
        let params = [
            (OP.name, op),
            (FORM.name, asked.form() as u64),
            (CHAINS.name, x as u64),
            (ROUNDS.name, steps / (2 * asked.turn())),
        ];
        Own::of(&PAIRS, "pairs", dtype, n, wg).trial(scope, series, x, metric, &params)
    }
}

fn errors(scope: &Scope<'_>, op: u64, function: &Function, form: Precision) -> Trial {
    let params = [(OP.name, op), (FORM.name, form as u64), (ROUNDS.name, 1)];
    let own = Own::of(&ONCE, "once", Dtype::I32, 1 << 16, lab::usual_wg(scope.target));
    own.trial(scope, series(function, Dtype::F32, form), ONE_VALUE, ERROR, &params)
}

/// A plain operation's series, and whether its steps have an addition that is not counted.
fn measured() -> impl Iterator<Item = (String, bool)> {
    let operations = OPERATIONS.iter().map(|o| (o.name.to_owned(), o.adds > 0));
    let types = [Dtype::F32, Dtype::F64];
    operations.chain(
        FUNCTIONS.iter().flat_map(move |f: &'static Function| {
            types.map(|dtype| (series(f, dtype, Precision::Plain), f.adds() > 0))
        }),
    )
}

/// A rate is full that is not less than the best by a larger factor: clocks and loops differ a little.
const FULL: f64 = 1.25;

/// Operations at the dear end that are named.
const DEAREST: usize = 4;

/// Which operations run at full rate, and what the dearest cost.
fn costs(points: &[Point]) -> Option<String> {
    let rate = |name: &str| value(points, name, MANY);
    let all: Vec<(String, bool)> = measured().filter(|(name, _)| rate(name).is_some()).collect();
    let (best, _) = all.iter().rev().max_by(|a, b| rate(&a.0).unwrap_or(0.0).total_cmp(&rate(&b.0).unwrap_or(0.0)))?;
    let mut full = Vec::new();
    let mut others = Vec::new();
    let mut hidden = Vec::new();
    for (name, adds) in &all {
        let over = compare(points, (best, MANY), (name, MANY))?;
        match over.exceeds(FULL) {
            Some(false) => full.push((name.as_str(), *adds)),
            Some(true) => others.push((over.ratio, name, *adds)),
            None => hidden.push(over),
        }
    }
    others.sort_by(|a, b| b.0.total_cmp(&a.0));
    others.truncate(DEAREST);
    let has_sums = full.iter().any(|(_, adds)| *adds) || others.iter().any(|(.., adds)| *adds);
    let adds = if has_sums || divisions(points).is_some() { ADDS } else { "" };
    let names: Vec<&str> = full.iter().map(|(name, _)| *name).collect();
    Some(format!("{}{}{adds}{}.", fullest(&names, all.len(), &hidden, best), dearest(&others, best), joined(points)))
}

/// Of which operations the table's ratios are not theirs alone.
const ADDS: &str =
    "; int divisions, shifts, masks, conversions and some functions are timed with an addition in each step";

fn fullest(names: &[&str], all: usize, hidden: &[Contrast], best: &str) -> String {
    let list = names.join(", ");
    let undecided = undecided_factor(hidden);
    let hidden = match hidden.len() {
        0 => String::new(),
        1 => format!("; one more is {undecided}"),
        hidden => format!("; {hidden} more are {undecided}"),
    };
    match names.len() {
        0 => format!("Which operations run at full rate is {undecided}"),
        full => {
            let run = if full == 1 { "runs" } else { "run" };
            let of = format!("{full} of {all} plain operations (no half_, native_ or fast forms)");
            format!("{of} {run} at full rate, at least {} of the rate of {best}: {list}{hidden}", percent(1.0 / FULL))
        }
    }
}

/// How many times as long the dearest take as the best.
fn dearest(others: &[(f64, &String, bool)], best: &str) -> String {
    let Some(((most, first, _), next)) = others.split_first() else { return String::new() };
    let next: Vec<String> = next.iter().map(|(ratio, name, _)| format!("{name} ({ratio:.1} times)")).collect();
    let next = if next.is_empty() { String::new() } else { format!(", followed by {}", next.join(", ")) };
    format!("; the slowest, {first}, takes {most:.1} times as long as {best}{next}")
}

/// What does not show because the compiler joins steps.
fn joined(points: &[Point]) -> String {
    let is_joined = |name: &&str| {
        let over = compare(points, (CONTROL, DEPENDENT), (name, DEPENDENT));
        over.is_some_and(|over| over.exceeds(TOO_FAST) == Some(true))
    };
    let names: Vec<&str> = OPERATIONS.iter().map(|o| o.name).filter(is_joined).collect();
    match names.as_slice() {
        [] => String::new(),
        names => format!("; the compiler merges steps of {}, which hides their latency", names.join(", ")),
    }
}

/// What waits for its operand takes a clock, as an addition of integers does on CPUs; GPUs give all operations alike more.
const TOO_FAST: f64 = 1.5;

/// A way to divide: its name, what does the same for a power of two, and its series by 8, by 7 and by a variable.
type Division = (&'static str, (&'static str, &'static str), [&'static str; 3]);

const DIVISIONS: [Division; 2] = [
    ("division", (SHIFT, "a shift"), [DIV_POWER, DIV_CONSTANT, DIV]),
    ("remainder", (MASK, "a mask"), [MOD_POWER, MOD_CONSTANT, MOD]),
];

/// Whether what a compiler can do better than dividing is done, and what short products gain.
fn divisions(points: &[Point]) -> Option<String> {
    let divisions = DIVISIONS.into_iter().map(|division| of_division(points, division));
    // A product of 24 bits was the faster one on GPUs whose multipliers had 24 bits.
    let short = compare(points, ("int mul24", MANY), ("int mul", MANY));
    let short = short.map(|over| format!("int mul24 is {}", pace_beside(&over, "int mul")));
    Some(format!("An {}.", evidence::joined(divisions.chain([short]), "; an ")?))
}

fn of_division(points: &[Point], (what, (plain, is), [power, constant, variable]): Division) -> Option<String> {
    let over = |name| compare(points, (name, MANY), (plain, MANY));
    let others = [("7", over(constant)), ("a variable", over(variable))];
    let others: String = others
        .into_iter()
        .filter_map(|(by, contrast): (&str, Option<Contrast>)| Some(format!(", by {by} it is {}", pace(&contrast?))))
        .collect();
    Some(format!("int {what} by 8 is {}{others}", pace_beside(&over(power)?, is)))
}

/// What other forms of functions gain in speed and lose in exactness.
fn forms(points: &[Point]) -> Option<String> {
    let named = [
        ("half_ forms", Precision::Half),
        ("native_ forms", Precision::Native),
        ("-cl-fast-relaxed-math", Precision::Fast),
    ];
    let phrases = evidence::joined(named.map(|(what, form)| gain(points, what, form)), "; ")?;
    Some(format!("Compared with the plain functions, {phrases}."))
}

fn gain(points: &[Point], what: &str, form: Precision) -> Option<String> {
    let over = |f: &'static Function| {
        let plain = series(f, Dtype::F32, Precision::Plain);
        let other = series(f, Dtype::F32, form);
        let contrast = compare(points, (&other, MANY), (&plain, MANY))?;
        let error = |name: &str| value(points, name, ONE_VALUE);
        let errors = error(&plain).zip(error(&other));
        let errors = errors.map_or(String::new(), |(a, b)| format!(", error {b:.1} ulp instead of {a:.1}"));
        Some((f.name, contrast, errors))
    };
    let all: Vec<(&str, Contrast, String)> = FUNCTIONS.iter().filter_map(over).collect();
    let gains = all.iter().filter(|(_, contrast, _)| contrast.verdict == Comparison::Higher);
    if let Some((name, contrast, errors)) = gains.max_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio)) {
        return Some(format!("{name} gains most with {what} ({} as fast{errors})", times(contrast.ratio)));
    }
    let contrasts: Vec<Contrast> = all.iter().map(|(_, contrast, _)| *contrast).collect();
    match contrasts.iter().any(|c| c.verdict == Comparison::Unclear) {
        true => Some(format!("a gain with {what} is {}", undecided(&contrasts))),
        false if contrasts.is_empty() => None,
        false => Some(format!("no function is more than {} faster with {what}", excess(&contrasts))),
    }
}

#[cfg(test)]
mod tests;

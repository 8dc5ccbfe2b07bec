use super::super::tests::sentences;
use super::*;

/// A GPU whose functions have units of their own, and whose divisions are many instructions.
fn gpu(series: &str, x: f64) -> f64 {
    let own_unit = series.starts_with("native_") || series.ends_with("fast math");
    let is_function = own_unit || series.starts_with("half_") || FUNCTIONS.iter().any(|f| series.ends_with(f.name));
    match series {
        _ if x == ONE_VALUE && own_unit => 40.0,
        _ if x == ONE_VALUE => 1.5,
        _ if x == DEPENDENT => 2.0,
        DIV | MOD => 1000.0,
        DIV_CONSTANT | MOD_CONSTANT => 5000.0,
        DIV_POWER | SHIFT | MOD_POWER | MASK | "min" | "int min" => 16000.0,
        _ if own_unit => 4000.0,
        _ if is_function => 800.0,
        _ => 32000.0,
    }
}

#[test]
fn a_gpu_with_units_for_functions() {
    insta::assert_snapshot!(sentences(&INSTRUCTIONS, 0.01, gpu), @r"
        12 of 35 plain operations (no half_, native_ or fast forms) run at full rate, at least 80 % of the rate of add: add, mul, fma, int add, int mul, int mul24, int mad24, f64 add, f64 mul, f64 fma, float via int, f64 via float; the slowest, div, takes 40.0 times as long as add, followed by f64 div (40.0 times), rcp (40.0 times), sqrt (40.0 times); int divisions, shifts, masks, conversions and some functions are timed with an addition in each step.
        An int division by 8 is as fast as a shift (to within 2 %), by 7 it is 3.20 times slower, by a variable it is 16.0 times slower; an int remainder by 8 is as fast as a mask (to within 2 %), by 7 it is 3.20 times slower, by a variable it is 16.0 times slower; an int mul24 is as fast as int mul (to within 2 %).
        Compared with the plain functions, no function is more than 2 % faster with half_ forms; pow gains most with native_ forms (5.00 times as fast, error 40.0 ulp instead of 1.5); pow gains most with -cl-fast-relaxed-math (5.00 times as fast, error 40.0 ulp instead of 1.5).
        ");
}

#[test]
fn costs_are_the_ratios_of_the_table() {
    let rates = |series: &str, x: f64| match (series, x) {
        ("int add", MANY) => 24.39,
        ("add", MANY) => 20.1,
        (DIV, MANY) => 0.584,
        ("f64 sin", MANY) => 0.055,
        ("log", MANY) => 0.0642,
        _ => f64::NAN,
    };
    insta::assert_snapshot!(sentences(&INSTRUCTIONS, 0.01, rates), @"2 of 5 plain operations (no half_, native_ or fast forms) run at full rate, at least 80 % of the rate of int add: add, int add; the slowest, f64 sin, takes 443.5 times as long as int add, followed by log (379.9 times), int div (41.8 times); int divisions, shifts, masks, conversions and some functions are timed with an addition in each step.");
    let without_additions = |series: &str, _: f64| match series {
        "int add" => 24.39,
        "add" => 20.1,
        "sqrt" => 1.0,
        _ => f64::NAN,
    };
    insta::assert_snapshot!(sentences(&INSTRUCTIONS, 0.01, without_additions), @"2 of 3 plain operations (no half_, native_ or fast forms) run at full rate, at least 80 % of the rate of int add: add, int add; the slowest, sqrt, takes 24.4 times as long as int add.");
}

#[test]
fn nothing_differs() {
    insta::assert_snapshot!(sentences(&INSTRUCTIONS, 0.01, |_, _| 4.0), @r"
        35 of 35 plain operations (no half_, native_ or fast forms) run at full rate, at least 80 % of the rate of add: add, mul, fma, min, int add, int mul, int mul24, int mad24, int min, int div, int div by 7, int div by 8, int >> 3, int mod, int mod by 7, int mod by 8, int & 7, f64 add, f64 mul, f64 fma, float via int, f64 via float, div, f64 div, rcp, sqrt, f64 sqrt, rsqrt, sin, f64 sin, cos, exp, f64 exp, log, pow; int divisions, shifts, masks, conversions and some functions are timed with an addition in each step.
        An int division by 8 is as fast as a shift (to within 2 %), by 7 it is as fast (to within 2 %), by a variable it is as fast (to within 2 %); an int remainder by 8 is as fast as a mask (to within 2 %), by 7 it is as fast (to within 2 %), by a variable it is as fast (to within 2 %); an int mul24 is as fast as int mul (to within 2 %).
        Compared with the plain functions, no function is more than 2 % faster with half_ forms; no function is more than 2 % faster with native_ forms; no function is more than 2 % faster with -cl-fast-relaxed-math.
        ");
}

#[test]
fn steps_that_a_compiler_joins_are_not_told() {
    let joined = |series: &str, x| match (series, x) {
        ("add" | "f64 mul", DEPENDENT) => 0.1,
        ("mul", DEPENDENT) => 1.5,
        _ => gpu(series, x),
    };
    let finding = sentences(&INSTRUCTIONS, 0.01, joined);
    assert!(
        finding.contains("step; the compiler merges steps of add, f64 mul, which hides their latency."),
        "{finding}"
    );
}

#[test]
fn noise_and_missing_points() {
    insta::assert_snapshot!(sentences(&INSTRUCTIONS, 0.6, gpu), @r"
        Which operations run at full rate is undecided: differences under 120 % cannot be seen in this run; the slowest, div, takes 40.0 times as long as add, followed by f64 div (40.0 times), rcp (40.0 times), sqrt (40.0 times); int divisions, shifts, masks, conversions and some functions are timed with an addition in each step.
        An int division by 8 is not clearly faster or slower than a shift (undecided: differences under 120 % cannot be seen in this run), by 7 it is 3.20 times slower, by a variable it is 16.0 times slower; an int remainder by 8 is not clearly faster or slower than a mask (undecided: differences under 120 % cannot be seen in this run), by 7 it is 3.20 times slower, by a variable it is 16.0 times slower; an int mul24 is not clearly faster or slower than int mul (undecided: differences under 120 % cannot be seen in this run).
        Compared with the plain functions, a gain with half_ forms is undecided: differences under 120 % cannot be seen in this run; pow gains most with native_ forms (5.00 times as fast, error 40.0 ulp instead of 1.5); pow gains most with -cl-fast-relaxed-math (5.00 times as fast, error 40.0 ulp instead of 1.5).
        To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.
        ");
    insta::assert_snapshot!(sentences(&INSTRUCTIONS, 0.01, |series, x| if series == "sin" { gpu(series, x) } else { f64::NAN }), @"1 of 1 plain operations (no half_, native_ or fast forms) runs at full rate, at least 80 % of the rate of sin: sin; int divisions, shifts, masks, conversions and some functions are timed with an addition in each step.");
    insta::assert_snapshot!(INSTRUCTIONS.finding(&[]), @"Nothing was measured.");
}

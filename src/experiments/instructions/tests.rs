use super::super::own::points_of;
use super::*;

/// The finding where a series has `at(series, chains)`, a sentence a line.
fn sentences(noise: f64, at: fn(&str, f64) -> f64) -> String {
    Instructions.finding(&points_of(&Instructions, true, noise, at)).replace(". ", ".\n")
}

/// A GPU whose functions have units of their own, and whose divisions are many instructions.
fn gpu(series: &str, x: f64) -> f64 {
    let own_unit = series.starts_with("native_") || series.ends_with("fast math");
    let is_function = FUNCTIONS.iter().any(|f| series.ends_with(f.name)) || own_unit;
    match series {
        _ if x == ONE_VALUE => {
            if own_unit {
                40.0
            } else {
                1.5
            }
        }
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
    insta::assert_snapshot!(sentences(0.01, gpu), @"");
}

#[test]
fn nothing_differs() {
    insta::assert_snapshot!(sentences(0.01, |_, _| 4.0), @"");
}

#[test]
fn noise_and_missing_points() {
    insta::assert_snapshot!(sentences(0.6, gpu), @"");
    insta::assert_snapshot!(sentences(0.01, |series, x| if series == "sin" { gpu(series, x) } else { f64::NAN }), @"");
    insta::assert_snapshot!(Instructions.finding(&[]), @"");
}

//! The CPU's answers against oracles that cannot be wrong: integers, and 128-bit fixed point.

use gpulab::cpu::Baseline;
use gpulab::cpu::dot::{BASELINES, reference};
use gpulab::cpu::reduce::{self, Op};
use gpulab::data::{Array, Dtype, Fill, Params, Shape, generate};
use gpulab::plan::Reference;
use proptest::prelude::*;

const SIZES: [usize; 10] = [0, 1, 2, 31, 33, 1000, 65_537, 131_071, 200_003, 1_000_000];

/// The only element of a result.
fn scalar(result: &Array) -> f64 {
    assert_eq!(result.len(), 1);
    match result {
        Array::F32(v) => f64::from(v[0]),
        Array::F64(v) => v[0],
        Array::I32(v) => f64::from(v[0]),
        Array::I64(v) => v[0] as f64,
        Array::U8(v) => v[0].into(),
    }
}

/// The bound of the tolerance policy: gamma(depth) * S, and the reference's own rounding for f64.
fn tolerance(right: &Reference, dtype: Dtype, depth: u64) -> f64 {
    let du = depth as f64 * dtype.unit_roundoff();
    du / (1.0 - du) * right.rounded().unwrap().magnitude
        + if dtype == Dtype::F64 {
            2f64.powi(-52) * right.rounded().unwrap().value.abs()
        } else {
            0.0
        }
}

/// What a baseline answers.
fn run(baseline: &Baseline, params: &Params, inputs: &[Array]) -> Array {
    let mut result = Array::zeros(inputs[0].dtype(), 1);
    (baseline.run)(
        Shape::vector(inputs[0].len() as u64),
        params,
        inputs,
        &mut result,
    );
    result
}

fn assert_within_bounds(inputs: &[Array; 2]) {
    let dtype = inputs[0].dtype();
    let right = reference(&inputs[0], &inputs[1]);
    for b in BASELINES {
        let got = scalar(&run(b, &Params::new(), inputs));
        let bound = tolerance(
            &right,
            dtype,
            (b.depth)(inputs[0].len() as u64, rayon::current_num_threads()),
        );
        assert!(
            (got - right.rounded().unwrap().value).abs() <= bound,
            "{} {dtype} {}: {got} for {right:?}",
            b.name,
            inputs[0].len()
        );
    }
}

/// The dot product of vectors of small integers, in i128.
fn integer_dot(inputs: &[Array; 2]) -> i128 {
    let whole = |a: &Array| -> Vec<i128> {
        match a {
            Array::F32(v) => v.iter().map(|&x| x as i128).collect(),
            Array::F64(v) => v.iter().map(|&x| x as i128).collect(),
            Array::I32(v) => v.iter().map(|&x| i128::from(x)).collect(),
            Array::I64(v) => v.iter().map(|&x| i128::from(x)).collect(),
            Array::U8(v) => v.iter().map(|&x| i128::from(x)).collect(),
        }
    };
    whole(&inputs[0])
        .into_iter()
        .zip(whole(&inputs[1]))
        .map(|(x, y)| x * y)
        .sum()
}

#[test]
fn small_integers_are_exact_in_every_type_and_baseline() {
    for n in SIZES {
        for dtype in Dtype::ALL {
            let inputs = [0, 1].map(|stream| generate(Fill::Exact(8), dtype, 5, stream, 0, n));
            let right = integer_dot(&inputs) as f64;
            for b in BASELINES {
                assert_eq!(
                    scalar(&run(b, &Params::new(), &inputs)),
                    right,
                    "{} {dtype} {n}",
                    b.name
                );
            }
            let answer = reference(&inputs[0], &inputs[1]);
            let value = answer
                .exact()
                .map_or_else(|| answer.rounded().unwrap().value, scalar);
            assert_eq!(value, right, "{dtype} {n}");
        }
    }
}

#[test]
fn one_element_anywhere_counts_once() {
    let n = 200_003;
    let ones = generate(Fill::Ones, Dtype::F32, 0, 1, 0, n);
    for at in [
        0, 1, 31, 32, 16_383, 16_384, 65_535, 65_536, 131_072, 200_001, 200_002,
    ] {
        let mut unit = vec![0.0; n];
        unit[at] = 1.0;
        let inputs = [Array::F32(unit), ones.clone()];
        assert!(
            BASELINES
                .iter()
                .all(|b| scalar(&run(b, &Params::new(), &inputs)) == 1.0),
            "{at}"
        );
        assert_eq!(
            reference(&inputs[0], &inputs[1]).rounded().unwrap().value,
            1.0,
            "{at}"
        );
    }
}

#[test]
fn integers_wrap() {
    let i32s = Array::I32(vec![i32::MAX, i32::MIN, -7, 3]);
    let i64s = Array::I64(vec![i64::MAX, i64::MIN, -7, 3]);
    // Squares modulo 2^32 and 2^64: 1 + 0 + 49 + 9.
    for (x, right) in [(i32s, Array::I32(vec![59])), (i64s, Array::I64(vec![59]))] {
        assert_eq!(reference(&x, &x).exact(), Some(&right));
        assert!(
            BASELINES
                .iter()
                .all(|b| run(b, &Params::new(), &[x.clone(), x.clone()]) == right)
        );
    }
    for dtype in [Dtype::I32, Dtype::I64] {
        let inputs = [0, 1].map(|stream| generate(Fill::Real, dtype, 9, stream, 0, 300_001));
        let right = reference(&inputs[0], &inputs[1]).exact().unwrap().clone();
        assert!(
            BASELINES
                .iter()
                .all(|b| run(b, &Params::new(), &inputs) == right),
            "{dtype}"
        );
    }
}

#[test]
fn real_data_stay_within_the_declared_bounds() {
    for n in SIZES {
        for dtype in [Dtype::F32, Dtype::F64] {
            assert_within_bounds(
                &[0, 1].map(|stream| generate(Fill::Real, dtype, 3, stream, 0, n)),
            );
        }
    }
}

#[test]
fn constant_data_stay_within_the_declared_bounds() {
    // Every addition rounds the same way: the worst case for rules that hope for errors to cancel.
    for n in SIZES {
        assert_within_bounds(&[Array::F32(vec![0.1; n]), Array::F32(vec![1.0 / 3.0; n])]);
        assert_within_bounds(&[Array::F64(vec![0.1; n]), Array::F64(vec![1.0 / 3.0; n])]);
    }
}

/// What IEEE arithmetic says of a sum that holds these terms among ones.
fn check_special(terms: &[f64], right: f64) {
    let same = |got: f64| got == right || (got.is_nan() && right.is_nan());
    for n in [terms.len() + 1, 100, 70_000] {
        for stride in [1, n / (terms.len() + 1)] {
            let mut x = vec![1.0; n];
            for (i, &term) in terms.iter().enumerate() {
                x[i * stride] = term;
            }
            let narrow = Array::F32(x.iter().map(|&v| v as f32).collect());
            for inputs in [
                [narrow, Array::F32(vec![1.0; n])],
                [Array::F64(x), Array::F64(vec![1.0; n])],
            ] {
                let answer = reference(&inputs[0], &inputs[1]);
                assert!(
                    same(answer.rounded().unwrap().value),
                    "reference of {terms:?} at {n}: {answer:?}"
                );
                for b in BASELINES {
                    let got = scalar(&run(b, &Params::new(), &inputs));
                    assert!(same(got), "{} of {terms:?} at {n}: {got}", b.name);
                }
            }
        }
    }
}

#[test]
fn special_values_follow_ieee() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    check_special(&[nan], nan);
    check_special(&[inf], inf);
    check_special(&[-inf], -inf);
    check_special(&[inf, inf], inf);
    check_special(&[inf, -inf], nan);
    check_special(&[inf, nan], nan);
}

/// A vector pair whose dot product nearly cancels, in the manner of Algorithm 6.1 of Ogita, Rump and Oishi (2005), and
/// the exact result: elements are m * 2^e with |m| < 2^20 and e < 26, so that every sum of products fits an i128.
fn ill_conditioned(half: &[(i32, u32, i32, u32)]) -> ([Vec<f64>; 2], i128) {
    let (mut x, mut y, mut exact) = (Vec::new(), Vec::new(), 0i128);
    let mut push = |mx: i128, ex: u32, my: i128, ey: u32, exact: &mut i128| {
        x.push((mx << ex) as f64);
        y.push((my << ey) as f64);
        *exact += (mx << ex) * (my << ey);
    };
    for &(mx, ex, my, ey) in half {
        push(i128::from(mx), ex, i128::from(my), ey, &mut exact);
    }
    // Each further product takes away what it can of the sum so far; its exponents shrink with it.
    for &(mx, ..) in half {
        let mx = i128::from(mx) | 1;
        let size = 128 - exact.unsigned_abs().leading_zeros();
        let shift = size.saturating_sub(40).min(50);
        let my = (-exact / (mx << shift)).clamp(-(1 << 20), 1 << 20);
        push(mx, shift / 2, my, shift - shift / 2, &mut exact);
    }
    ([x, y], exact)
}

/// The bound that the reference promises: one rounding, and far less than 2^-70 of S.
fn assert_reference(x: Vec<f64>, y: Vec<f64>, exact: i128) {
    let answer = reference(&Array::F64(x), &Array::F64(y));
    let right = exact as f64;
    let bound = 2f64.powi(-52) * right.abs() + 2f64.powi(-80) * answer.rounded().unwrap().magnitude;
    assert!(
        (answer.rounded().unwrap().value - right).abs() <= bound,
        "{} for {right}, S = {}",
        answer.rounded().unwrap().value,
        answer.rounded().unwrap().magnitude
    );
}

fn terms() -> impl Strategy<Value = Vec<(i32, u32, i32, u32)>> {
    let mantissa = -(1 << 20) + 1..1 << 20;
    prop::collection::vec((mantissa.clone(), 0u32..26, mantissa, 0u32..26), 1..400)
}

/// The settings that choose an operation.
fn choosing(op: Op) -> Params {
    Params::from([("op".to_owned(), op.name().to_owned())])
}

/// An operation on integers, in i128, from the identity of the type's width.
fn integer_reduction(op: Op, x: &[i128], bits: u32) -> i128 {
    let (least, greatest) = (-1i128 << (bits - 1), (1i128 << (bits - 1)) - 1);
    let signed = |v: i128| (v << (128 - bits)) >> (128 - bits);
    let x = x.iter().copied();
    match op {
        Op::Sum => signed(x.sum()),
        Op::Min => x.fold(greatest, i128::min),
        Op::Max => x.fold(least, i128::max),
        Op::And => x.fold(-1, |a, b| a & b),
        Op::Or => x.fold(0, |a, b| a | b),
        Op::Xor => x.fold(0, |a, b| a ^ b),
    }
}

#[test]
fn every_reduction_of_integers_is_that_in_128_bits() {
    for n in SIZES {
        let narrow = generate(Fill::Real, Dtype::I32, 8, 0, 0, n);
        let wide = generate(Fill::Real, Dtype::I64, 8, 0, 0, n);
        let (Array::I32(a), Array::I64(b)) = (&narrow, &wide) else {
            unreachable!()
        };
        let a: Vec<i128> = a.iter().map(|&v| i128::from(v)).collect();
        let b: Vec<i128> = b.iter().map(|&v| i128::from(v)).collect();
        for op in Op::ALL {
            let right32 = Array::I32(vec![integer_reduction(op, &a, 32) as i32]);
            let right64 = Array::I64(vec![integer_reduction(op, &b, 64) as i64]);
            for (x, right) in [(&narrow, right32), (&wide, right64)] {
                assert_eq!(reduce::reference(op, x).exact(), Some(&right), "{op:?} {n}");
                assert_eq!(reduce::finish(op, x), right, "{op:?} {n}");
                for b in reduce::BASELINES {
                    assert_eq!(
                        run(b, &choosing(op), std::slice::from_ref(x)),
                        right,
                        "{} {op:?} {n}",
                        b.name
                    );
                }
            }
        }
    }
}

#[test]
fn reductions_of_floats_are_exact_or_within_their_bounds() {
    for n in SIZES {
        for dtype in [Dtype::F32, Dtype::F64] {
            let x = generate(Fill::Real, dtype, 8, 0, 0, n);
            let right = reduce::reference(Op::Sum, &x);
            for b in reduce::BASELINES {
                let got = scalar(&run(b, &choosing(Op::Sum), std::slice::from_ref(&x)));
                let bound = tolerance(
                    &right,
                    dtype,
                    (b.depth)(n as u64, rayon::current_num_threads()),
                );
                assert!(
                    (got - right.rounded().unwrap().value).abs() <= bound,
                    "{} {dtype} {n}: {got} for {right:?}",
                    b.name
                );
                for (op, fold) in [
                    (Op::Min, f64::min as fn(f64, f64) -> f64),
                    (Op::Max, f64::max),
                ] {
                    let identity = if op == Op::Min {
                        f64::INFINITY
                    } else {
                        f64::NEG_INFINITY
                    };
                    let got = scalar(&run(b, &choosing(op), std::slice::from_ref(&x)));
                    assert_eq!(
                        got,
                        numbers(&x).into_iter().fold(identity, fold),
                        "{} {op:?} {dtype} {n}",
                        b.name
                    );
                }
            }
        }
    }
}

fn numbers(x: &Array) -> Vec<f64> {
    match x {
        Array::F32(v) => v.iter().map(|&v| f64::from(v)).collect(),
        Array::F64(v) => v.clone(),
        Array::I32(_) | Array::I64(_) | Array::U8(_) => Vec::new(),
    }
}

#[test]
fn sums_of_special_values_follow_ieee() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for (terms, right) in [
        (vec![nan], nan),
        (vec![inf, 1.0], inf),
        (vec![inf, -inf], nan),
        (vec![1e308; 9], inf),
    ] {
        let x = Array::F64(terms);
        let results = reduce::BASELINES
            .iter()
            .map(|b| scalar(&run(b, &choosing(Op::Sum), std::slice::from_ref(&x))));
        for got in results.chain([reduce::reference(Op::Sum, &x).rounded().unwrap().value]) {
            assert!(
                got == right || (got.is_nan() && right.is_nan()),
                "{x:?}: {got}"
            );
        }
    }
}

proptest! {
    #[test]
    fn ill_conditioned_vectors_are_exact_to_the_last_bits(half in terms()) {
        let ([x, y], exact) = ill_conditioned(&half);
        assert_reference(x, y, exact);
    }

    #[test]
    fn every_length_stays_within_the_bounds(n in 0usize..100_000, seed: u64) {
        for dtype in [Dtype::F32, Dtype::F64] {
            assert_within_bounds(&[0, 1].map(|stream| generate(Fill::Real, dtype, seed, stream, 0, n)));
        }
    }
}

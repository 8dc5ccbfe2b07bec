//! The dot product on the CPU: the reference, and the baselines that the ladder is compared with.

use super::element::Element;
use super::parallel::{self, LANES, tree};
use super::{Baseline, compensated};
use gpulab_model::data::Array;
use gpulab_model::plan::{Reference, Rounded};
use gpulab_model::same_type;
use multiversion::multiversion;

/// Calls a generic function on the two vectors in a slice of arrays, whatever their type.
macro_rules! typed {
    ($inputs:expr, $f:ident) => {
        same_type!((&$inputs[0], &$inputs[1]), |x, y| vec![$f(x, y)].into(), else {
            unreachable!("a dot product of two vectors of one type")
        })
    };
}
/// Every baseline, from the most careful to the fastest. Each takes two arrays of one type and length, and answers
/// with an array of one element of that type; sums of integers wrap.
pub static BASELINES: &[Baseline] = &[
    Baseline {
        name: "cpu_exact",
        about: "one thread, sums in twice the precision of f64, rounded once",
        run: |_, _, inputs, result| *result = typed!(inputs, exact),
        // One rounding to the type; the second leaves room for the reference's own.
        depth: |_, _| 2,
    },
    Baseline {
        name: "cpu_sequential",
        about: "one thread, a plain loop in the element type",
        run: |_, _, inputs, result| *result = typed!(inputs, sequential),
        // The product, then n - 1 additions: the first, to zero, is exact.
        depth: |n, _| n,
    },
    Baseline {
        name: "cpu_double",
        about: "one thread, a plain loop, products and sums in double; the CMSoft article's comparison",
        run: |_, _, inputs, result| *result = typed!(inputs, in_double),
        // That of the plain loop in the element type, which rounds no less.
        depth: |n, _| n,
    },
    Baseline {
        name: "cpu_rayon",
        about: "all threads, vector registers, in the element type",
        run: |_, _, inputs, result| *result = typed!(inputs, all_threads),
        // The product, and the sum.
        depth: |n, threads| 1 + parallel::depth(n, threads),
    },
];

/// The dot product of two arrays of one type and length.
///
/// f32 data: products exact in f64, compensated summation. f64 data: Dot2, as if in twice the precision. Integers:
/// wrapping, exact. IEEE rules hold for special values: NaN for any NaN, for both infinities and for 0 * inf;
/// otherwise an infinity stays. A sum of f64 data that overflows on its way may answer with an infinity.
/// Panics if the arrays' types differ.
pub fn reference(x: &Array, y: &Array) -> Reference {
    match (x, y) {
        (Array::F32(x), Array::F32(y)) => Reference::Rounded(compensated::parallel(x, y).rounded()),
        (Array::F64(x), Array::F64(y)) => Reference::Rounded(compensated::parallel(x, y).rounded()),
        // Wrapping sums are exact in any order.
        (Array::I32(x), Array::I32(y)) => Reference::Exact(Array::I32(vec![all_threads(x, y)])),
        (Array::I64(x), Array::I64(y)) => Reference::Exact(Array::I64(vec![all_threads(x, y)])),
        _ => unreachable!("a dot product of two vectors of one type"),
    }
}

/// The right answer after an element of both vectors has changed from `old` to `new`, as [`deciding`] says; exact where it
/// was exact before.
pub fn amended(before: &Reference, old: [&Array; 2], new: [&Array; 2]) -> Reference {
    /// One more term and one less, of integers.
    macro_rules! whole {
        ($sum:expr, $old:expr, $new:expr) => {{
            let [was, is] = [$old, $new].map(|[x, y]| x[0].wrapping_mul(y[0]));
            vec![$sum[0].wrapping_add(is.wrapping_sub(was))].into()
        }};
    }
    let exchanged = |value, magnitude| {
        let sum = Rounded { value, magnitude };
        let sum = compensated::Partial::known(sum);
        match (old, new) {
            ([Array::F32(a), Array::F32(b)], [Array::F32(x), Array::F32(y)]) => {
                sum.exchanged([a[0], b[0]], [x[0], y[0]])
            }
            ([Array::F64(a), Array::F64(b)], [Array::F64(x), Array::F64(y)]) => {
                sum.exchanged([a[0], b[0]], [x[0], y[0]])
            }
            _ => sum,
        }
    };
    match (before, old, new) {
        (
            Reference::Exact(Array::I32(sum)),
            [Array::I32(a), Array::I32(b)],
            [Array::I32(x), Array::I32(y)],
        ) => Reference::Exact(whole!(sum, [a, b], [x, y])),
        (
            Reference::Exact(Array::I64(sum)),
            [Array::I64(a), Array::I64(b)],
            [Array::I64(x), Array::I64(y)],
        ) => Reference::Exact(whole!(sum, [a, b], [x, y])),
        (Reference::Exact(Array::F32(sum)), ..) => Reference::Exact(Array::F32(vec![
            exchanged(sum[0].into(), 0.0).value() as f32,
        ])),
        (Reference::Exact(Array::F64(sum)), ..) => {
            Reference::Exact(Array::F64(vec![exchanged(sum[0], 0.0).value()]))
        }
        (Reference::Rounded(sum), ..) => {
            Reference::Rounded(exchanged(sum.value, sum.magnitude).rounded())
        }
        _ => before.clone(),
    }
}

/// Values for element `at` of both vectors that make the dot product another one than `before`, by more than `margin` where
/// it is rounded. `draw` is a random number. Nothing where the product is not finite.
pub fn deciding(
    inputs: &[Array],
    before: &Reference,
    margin: f64,
    at: usize,
    draw: u64,
) -> Option<[Array; 2]> {
    let [x, y] = inputs else { return None };
    // Whole numbers, so that exact data stay exact; their product is more than rounding can hide.
    let size = 3.0 + (8.0 * margin).sqrt().ceil() + (draw % 4) as f64;
    let finite = match before {
        Reference::Rounded(sum) => sum.value.is_finite() && size.is_finite(),
        _ => true,
    };
    let old = (x.at(at)?, y.at(at)?);
    let sign = if draw & 16 == 0 { 1.0 } else { -1.0 };
    let values = match old {
        // What the sum of the others is cannot be told from it.
        (Array::F32(x), Array::F32(y)) if !(x[0] * y[0]).is_finite() => return None,
        (Array::F64(x), Array::F64(y)) if !(x[0] * y[0]).is_finite() => return None,
        (Array::F32(_), Array::F32(_)) => [sign * size, size].map(|v| Array::F32(vec![v as f32])),
        (Array::F64(_), Array::F64(_)) => [sign * size, size].map(|v| Array::F64(vec![v])),
        // An odd factor keeps every difference of the other.
        (Array::I32(x), Array::I32(y)) => [Array::I32(vec![x[0] ^ 1]), Array::I32(vec![y[0] | 1])],
        (Array::I64(x), Array::I64(y)) => [Array::I64(vec![x[0] ^ 1]), Array::I64(vec![y[0] | 1])],
        _ => return None,
    };
    finite.then_some(values)
}

/// Completes a dot product on the host: the sum of `partials` and of the products of `x` and `y`, all of one type.
/// Floats are added in twice the precision of f64 and rounded once to the type; integers wrap.
/// Panics if the arrays' types differ.
pub fn finish(partials: &Array, x: &Array, y: &Array) -> Array {
    same_type!((partials, x, y), |p, x, y| vec![Element::exact(x, y, p)].into(), else {
        unreachable!("partial sums and vectors of one type")
    })
}

fn exact<T: Element>(x: &[T], y: &[T]) -> T {
    T::exact(x, y, &[])
}

fn in_double<T: Element>(x: &[T], y: &[T]) -> T {
    T::in_double(x, y)
}

#[inline(always)]
fn sequential<T: Element>(x: &[T], y: &[T]) -> T {
    x.iter()
        .zip(y)
        .fold(T::ZERO, |sum, (&x, &y)| sum.plus_product(x, y))
}

fn all_threads<T: Element>(x: &[T], y: &[T]) -> T {
    debug_assert_eq!(x.len(), y.len());
    parallel::in_chunks(
        x.len(),
        |range| lanes(&x[range.clone()], &y[range]),
        T::plus,
    )
}

/// SSE2 and NEON are their architectures' floor and need no version of their own.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "x86_64+avx"
))]
fn lanes<T: Element>(x: &[T], y: &[T]) -> T {
    if T::IN_ANY_ORDER {
        return sequential(x, y);
    }
    let mut sums = [T::ZERO; LANES];
    let (x, x_rest) = x.as_chunks::<LANES>();
    let (y, y_rest) = y.as_chunks::<LANES>();
    for (x, y) in x.iter().zip(y) {
        for i in 0..LANES {
            sums[i] = sums[i].plus_product(x[i], y[i]);
        }
    }
    for (sum, (&x, &y)) in sums.iter_mut().zip(x_rest.iter().zip(y_rest)) {
        *sum = sum.plus_product(x, y);
    }
    tree(sums, T::plus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Roundings;
    use gpulab_model::data::Dtype;

    fn replayed(n: usize, threads: usize) -> u64 {
        let v = vec![Roundings(1); n];
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| all_threads(&v, &v)).0
    }

    #[test]
    fn an_exchanged_product_is_followed_without_a_look_at_the_others() {
        use gpulab_model::data::{Fill, generate};
        for (dtype, fill) in Dtype::ALL
            .into_iter()
            .flat_map(|dtype| [Fill::Real, Fill::Fractions(8)].map(|f| (dtype, f)))
        {
            let mut inputs = [0, 1].map(|stream| generate(fill, dtype, 5, stream, 0, 1000));
            let before = reference(&inputs[0], &inputs[1]);
            for (at, draw) in [(0, 3), (500, 16), (999, 77)] {
                let old = [0, 1].map(|input| inputs[input].at(at).unwrap());
                let new = deciding(&inputs, &before, 0.5, at, draw).unwrap();
                (0..2).for_each(|input| _ = inputs[input].put(at, &new[input]));
                let after = reference(&inputs[0], &inputs[1]);
                let updated = amended(&before, [&old[0], &old[1]], [&new[0], &new[1]]);
                assert_eq!(updated.exact(), after.exact(), "{dtype} at {at}");
                assert!(after.exact().is_none() || after.exact() != before.exact());
                if let (Some(updated), Some(after), Some(before)) =
                    (updated.rounded(), after.rounded(), before.rounded())
                {
                    approx::assert_relative_eq!(updated.value, after.value, max_relative = 1e-14);
                    approx::assert_relative_eq!(
                        updated.magnitude,
                        after.magnitude,
                        max_relative = 1e-14
                    );
                    assert!((after.value - before.value).abs() > 0.5);
                }
                (0..2).for_each(|input| _ = inputs[input].put(at, &old[input]));
            }
        }
    }

    #[test]
    fn the_declared_depth_is_that_of_the_schedule() {
        for (n, threads) in [
            (1 << 15, 1),
            (1 << 18, 2),
            (1 << 20, 3),
            ((1 << 20) + 17, 4),
            (1_000_003, 8),
        ] {
            let declared = (BASELINES[3].depth)(n as u64, threads);
            let replayed = replayed(n, threads);
            assert!(
                declared >= replayed && declared <= replayed + 2,
                "{n} {threads}: {declared} for {replayed}"
            );
        }
    }

    #[test]
    fn no_schedule_is_deeper_than_declared() {
        for n in (0..200).chain([16_383, 16_384, 16_385, 32_769]) {
            assert!((BASELINES[3].depth)(n as u64, 2) >= replayed(n, 2), "{n}");
        }
        let v = [Roundings(1); 100];
        assert_eq!(sequential(&v, &v).0, (BASELINES[1].depth)(100, 1));
    }
}

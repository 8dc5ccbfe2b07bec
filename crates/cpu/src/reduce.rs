//! Reductions on the CPU: the reference, and the baselines that the ladder is compared with.

use super::element::Element;
use super::parallel::{self, LANES, tree};
use super::{Baseline, compensated};
use gpulab_model::data::{Array, Params};
use gpulab_model::each_array;
use gpulab_model::named_enum;
use gpulab_model::plan::{Reference, Rounded};
use multiversion::multiversion;

named_enum! {
    /// An operation that joins any number of elements into one.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Op {
        /// The sum; of integers, it wraps.
        #[default]
        Sum = "sum",
        Min = "min",
        Max = "max",
        /// Bits that all elements have.
        And = "and",
        /// Bits that any element has.
        Or = "or",
        /// Bits that an odd number of elements have.
        Xor = "xor",
    }
}

impl Op {
    /// The operation that the setting `op` names, a sum without one; `None` if there is no such operation.
    pub fn of(params: &Params) -> Option<Op> {
        params
            .get("op")
            .map_or(Some(Op::Sum), |name| Op::named(name))
    }

    /// Whether it works on bits, which only integers are made of.
    pub fn is_bitwise(self) -> bool {
        matches!(self, Op::And | Op::Or | Op::Xor)
    }
}

/// Calls a function that is generic over operation and element type on an array, whatever its type.
macro_rules! reduced {
    ($op:expr, $x:expr, $f:ident) => {
        match $op {
            Op::Sum => each_array!($x, v => vec![$f::<_, Sum>(v)].into()),
            Op::Min => each_array!($x, v => vec![$f::<_, Min>(v)].into()),
            Op::Max => each_array!($x, v => vec![$f::<_, Max>(v)].into()),
            Op::And => each_array!($x, v => vec![$f::<_, And>(v)].into()),
            Op::Or => each_array!($x, v => vec![$f::<_, Or>(v)].into()),
            Op::Xor => each_array!($x, v => vec![$f::<_, Xor>(v)].into()),
        }
    };
}

/// Every baseline, from the most careful to the fastest. Each takes one array, reads the operation from the setting
/// `op`, and answers with an array of one element: the operation's identity for an empty array.
pub static BASELINES: &[Baseline] = &[
    Baseline {
        name: "cpu_exact",
        about: "one thread, sums in twice the precision of f64, rounded once",
        run: |_, params, inputs, result| *result = exact(op(params), &inputs[0]),
        // One rounding to the type; the second leaves room for the reference's own.
        depth: |_, _| 2,
    },
    Baseline {
        name: "cpu_sequential",
        about: "one thread, a plain loop in the element type",
        run: |_, params, inputs, result| *result = reduced!(op(params), &inputs[0], sequential),
        // The first addition, to zero, is exact.
        depth: |n, _| n.saturating_sub(1),
    },
    Baseline {
        name: "cpu_rayon",
        about: "all threads, vector registers, in the element type",
        run: |_, params, inputs, result| *result = reduced!(op(params), &inputs[0], all_threads),
        depth: parallel::depth,
    },
];

/// Planners refuse what names no operation, so that nothing else comes this far.
fn op(params: &Params) -> Op {
    Op::of(params).unwrap_or_default()
}

/// The right answer for the elements of `x`.
///
/// Sums of f32 are compensated in f64, those of f64 as if in twice the precision; everything else is exact. IEEE rules
/// hold for the sum of special values. Minimum and maximum take no notice of NaN. The reduction of nothing is the
/// operation's identity: 0 for sum, or and xor, all bits for and, the greatest value of the type for min (infinity for
/// floats), the least for max.
pub fn reference(op: Op, x: &Array) -> Reference {
    match x {
        Array::F32(x) if op == Op::Sum => {
            Reference::Rounded(compensated::parallel_sum(x).rounded())
        }
        Array::F64(x) if op == Op::Sum => {
            Reference::Rounded(compensated::parallel_sum(x).rounded())
        }
        _ => Reference::Exact(reduced!(op, x, all_threads)),
    }
}

/// For checks during timing, which change inputs before each run: a value for element `at` of `x` that makes the reduction
/// another one than `before`, by more than `margin` where it is rounded: a new extremum, a bit that no other element is
/// without or has, or another term. `draw` is a random number.
/// Nothing where there is no such value: the extremum is the type's own, or no bit is left to decide.
pub fn deciding(
    op: Op,
    x: &Array,
    before: &Reference,
    margin: f64,
    at: usize,
    draw: u64,
) -> Option<Array> {
    let result = match before {
        Reference::Exact(exact) => exact.clone(),
        Reference::Rounded(sum) if sum.value.is_finite() && margin.is_finite() => x.at(at)?,
        _ => return None,
    };
    // Of several, so that changes of a sum do not cancel each other.
    let times = [1.0, -2.0, 3.0, -4.0][draw as usize % 4];
    let step = 1 + (draw >> 8) as i64 % 1000;
    let decided = match (x.at(at)?, result) {
        // What the sum of the others is cannot be told from it.
        (Array::F32(old), _) if op == Op::Sum && !old[0].is_finite() => return None,
        (Array::F64(old), _) if op == Op::Sum && !old[0].is_finite() => return None,
        (Array::F32(old), Array::F32(r)) => {
            Array::F32(vec![
                real(op, old[0].into(), r[0].into(), margin, times) as f32
            ])
        }
        (Array::F64(old), Array::F64(r)) => Array::F64(vec![real(op, old[0], r[0], margin, times)]),
        (Array::I32(old), Array::I32(r)) if op.is_bitwise() => {
            let [old, r] = [old[0], r[0]].map(|x| i64::from(x.cast_unsigned()));
            Array::I32(vec![whole(op, old, r, step, draw, 32)? as i32])
        }
        (Array::I32(old), Array::I32(r)) => {
            let value = whole(op, old[0].into(), r[0].into(), step, draw, 32)?;
            Array::I32(vec![i32::try_from(value).ok()?])
        }
        (Array::I64(old), Array::I64(r)) => {
            Array::I64(vec![whole(op, old[0], r[0], step, draw, 64)?])
        }
        _ => return None,
    };
    match &decided {
        Array::F32(v) if !v[0].is_finite() => None,
        Array::F64(v) if !v[0].is_finite() => None,
        _ => Some(decided),
    }
}

/// The right answer after an element that was `old` has become `new`, which [`deciding`] chose.
pub fn amended(op: Op, before: &Reference, old: &Array, new: &Array) -> Reference {
    let sum = match before {
        Reference::Exact(exact) => {
            return Reference::Exact(match op {
                Op::Min | Op::Max | Op::And | Op::Or => finish(op, &exact.clone().followed_by(new)),
                Op::Xor => finish(op, &exact.clone().followed_by(old).followed_by(new)),
                Op::Sum => plus_difference(exact, old, new),
            });
        }
        Reference::Rounded(sum) => sum,
        _ => return before.clone(),
    };
    let [was, is] = [old, new].map(|one| match one {
        Array::F32(v) => f64::from(v[0]),
        Array::F64(v) => v[0],
        Array::I32(_) | Array::I64(_) | Array::U8(_) => 0.0,
    });
    Reference::Rounded(Rounded {
        value: sum.value + (is - was),
        magnitude: sum.magnitude + is.abs() - was.abs(),
    })
}

/// A sum of one element with another term in place of an old one; exact where the sum is.
fn plus_difference(sum: &Array, old: &Array, new: &Array) -> Array {
    match (sum, old, new) {
        (Array::F32(s), Array::F32(o), Array::F32(n)) => Array::F32(vec![s[0] + (n[0] - o[0])]),
        (Array::F64(s), Array::F64(o), Array::F64(n)) => Array::F64(vec![s[0] + (n[0] - o[0])]),
        (Array::I32(s), Array::I32(o), Array::I32(n)) => {
            Array::I32(vec![s[0].wrapping_add(n[0].wrapping_sub(o[0]))])
        }
        (Array::I64(s), Array::I64(o), Array::I64(n)) => {
            Array::I64(vec![s[0].wrapping_add(n[0].wrapping_sub(o[0]))])
        }
        _ => sum.clone(),
    }
}

fn real(op: Op, old: f64, result: f64, margin: f64, times: f64) -> f64 {
    // More than rounding can hide, and a whole number, so that exact data stay exact.
    let step = 1.0 + (8.0 * margin).ceil();
    match op {
        Op::Min => result - 0.25 * result.abs().max(1.0),
        Op::Max => result + 0.25 * result.abs().max(1.0),
        _ => old + times * step,
    }
}

/// As [`deciding`], of integers of so many bits.
fn whole(op: Op, old: i64, result: i64, step: i64, draw: u64, bits: u64) -> Option<i64> {
    // One of the bits that are set.
    let set = if op == Op::And { result } else { !result };
    let set: Vec<i64> = (0..bits)
        .map(|bit| 1i64 << bit)
        .filter(|bit| set & bit != 0)
        .collect();
    let one = set.get((draw >> 8) as usize % set.len().max(1)).copied();
    match op {
        Op::Min => result.checked_sub(step),
        Op::Max => result.checked_add(step),
        Op::And => Some(old & !one?),
        Op::Or => Some(old | one?),
        Op::Xor => Some(old ^ step),
        // Towards zero, so that it stays in range.
        Op::Sum => Some(if old > 0 { old - step } else { old + step }),
    }
}

/// Completes a reduction on the host, on all threads. Sums of floats are made in twice the precision of f64 and
/// rounded once to the type.
pub fn finish(op: Op, partials: &Array) -> Array {
    match partials {
        Array::F32(sums) if op == Op::Sum => {
            Array::F32(vec![compensated::parallel_sum(sums).value() as f32])
        }
        Array::F64(sums) if op == Op::Sum => {
            Array::F64(vec![compensated::parallel_sum(sums).value()])
        }
        _ => reduced!(op, partials, all_threads),
    }
}

/// An operation on elements of type `T`, as a type of its own, so that its loops are compiled for it.
trait Join<T: Element> {
    /// Changes no element that it is joined with.
    const IDENTITY: T;
    fn join(a: T, b: T) -> T;
}

macro_rules! operation {
    ($name:ident, $identity:ident, |$a:ident, $b:ident| $join:expr) => {
        struct $name;
        impl<T: Element> Join<T> for $name {
            const IDENTITY: T = T::$identity;
            #[inline(always)]
            fn join($a: T, $b: T) -> T {
                $join
            }
        }
    };
}

operation!(Sum, ZERO, |a, b| a.plus(b));
// One instruction each, which passes over NaN in b; nothing gets NaN into a.
operation!(Min, GREATEST, |a, b| if b < a { b } else { a });
operation!(Max, LEAST, |a, b| if b > a { b } else { a });
operation!(And, ONES, |a, b| a.bits(b, |a, b| a & b));
operation!(Or, ZERO, |a, b| a.bits(b, |a, b| a | b));
operation!(Xor, ZERO, |a, b| a.bits(b, |a, b| a ^ b));

fn exact(op: Op, x: &Array) -> Array {
    if op == Op::Sum {
        each_array!(x, v => vec![Element::exact_sum(v)].into())
    } else {
        reduced!(op, x, sequential)
    }
}

#[inline(always)]
fn sequential<T: Element, O: Join<T>>(x: &[T]) -> T {
    x.iter().fold(O::IDENTITY, |sum, &x| O::join(sum, x))
}

fn all_threads<T: Element, O: Join<T>>(x: &[T]) -> T {
    parallel::in_chunks(x.len(), |range| lanes::<T, O>(&x[range]), O::join)
}

/// SSE2 and NEON are their architectures' floor and need no version of their own.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "x86_64+avx"
))]
fn lanes<T: Element, O: Join<T>>(x: &[T]) -> T {
    if T::IN_ANY_ORDER {
        return sequential::<T, O>(x);
    }
    let mut results = [O::IDENTITY; LANES];
    let (x, rest) = x.as_chunks::<LANES>();
    for x in x {
        for i in 0..LANES {
            results[i] = O::join(results[i], x[i]);
        }
    }
    for (result, &x) in results.iter_mut().zip(rest) {
        *result = O::join(*result, x);
    }
    tree(results, O::join)
}

#[cfg(test)]
mod deciding_tests {
    use super::*;
    use gpulab_model::data::{Dtype, Fill, generate};

    #[test]
    fn a_deciding_value_changes_the_result() {
        let fills = [
            (Op::Sum, Fill::Real),
            (Op::Min, Fill::Positive),
            (Op::Max, Fill::Negative),
        ];
        let of_bits = [
            (Op::And, Fill::MostBits),
            (Op::Or, Fill::FewBits),
            (Op::Xor, Fill::Real),
        ];
        for (op, fill) in fills.into_iter().chain(of_bits) {
            for dtype in Dtype::ALL
                .into_iter()
                .filter(|dtype| !(op.is_bitwise() && dtype.is_float()))
            {
                let mut x = [generate(fill, dtype, 1, 0, 0, 1000)];
                let before = reference(op, &x[0]);
                for at in [0, 1, 500, 999] {
                    let value =
                        deciding(op, &x[0], &before, 3.0, at, 77 * at as u64 + 12_345).unwrap();
                    let old = x[0].at(at).unwrap();
                    let undo = x[0].put(at, &value);
                    let after = reference(op, &x[0]);
                    let updated = amended(op, &before, &old, &value);
                    assert_eq!(
                        updated.exact(),
                        after.exact(),
                        "{} {dtype} at {at}",
                        op.name()
                    );
                    let sums = [&updated, &after, &before].map(|reference| reference.rounded());
                    let moved = sums.iter().all(Option::is_some) && {
                        let [updated, after, before] = sums.map(Option::unwrap);
                        approx::assert_relative_eq!(
                            updated.value,
                            after.value,
                            max_relative = 1e-12
                        );
                        approx::assert_relative_eq!(
                            updated.magnitude,
                            after.magnitude,
                            max_relative = 1e-12
                        );
                        (after.value - before.value).abs() > 3.0
                    };
                    assert!(
                        after.exact() != before.exact() || moved,
                        "{} {dtype} at {at}",
                        op.name()
                    );
                    x[0].put(at, &undo);
                }
            }
        }
    }

    #[test]
    fn where_nothing_can_decide_there_is_no_value() {
        let least = Array::I32(vec![i32::MIN, 5]);
        assert_eq!(
            deciding(Op::Min, &least, &reference(Op::Min, &least), 0.0, 1, 9),
            None
        );
        let none = Array::I32(vec![0, 0]);
        assert_eq!(
            deciding(Op::And, &none, &reference(Op::And, &none), 0.0, 1, 9),
            None
        );
        let nan = Array::F32(vec![f32::NAN, 0.0]);
        assert_eq!(
            deciding(Op::Sum, &nan, &reference(Op::Sum, &nan), 1.0, 1, 9),
            None
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Roundings;

    #[test]
    fn the_declared_depths_are_those_of_the_schedules() {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(2)
            .build()
            .unwrap();
        for n in [1, 2, 31, 33, 200, 16_384, 16_385, 1 << 18, 1_000_003] {
            // A term starts at 1, for the number that it is, which no addition has rounded yet.
            let x = vec![Roundings(1); n];
            let rayon = pool.install(|| all_threads::<_, Sum>(&x)).0 - 1;
            let declared = parallel::depth(n as u64, 2);
            assert!(
                rayon <= declared && declared <= rayon + 5,
                "{n}: {declared} for {rayon}"
            );
            assert_eq!(
                sequential::<_, Sum>(&x).0 - 1,
                (BASELINES[1].depth)(n as u64, 1),
                "{n}"
            );
        }
    }
}

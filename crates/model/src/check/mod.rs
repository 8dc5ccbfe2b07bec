//! Verdicts: is a result right, and was memory beside it left alone?
//!
//! Integers, and floats over data whose partial results are all exact, must be equal. Other floats must lie within the
//! proved bound gamma(d) * S. S is the sum of the terms' magnitudes, d the most roundings that any one term passes
//! through (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, 2002, sections 3.1 and 4.2). A
//! comparison is only passed by being true, so NaN fails.

mod memory;
mod parts;
mod pattern;
mod pieces;
mod verdict;

pub use memory::{
    Fingerprint, GUARD_BYTES, check_guard, fingerprint, guard, other_poison, poison, poisoned,
    still_poisoned,
};

pub use verdict::ElementsVerdict;

pub use pattern::{CellRegion, Share, region, share};

use crate::data::{Array, Dtype};
use crate::plan::{Movement, Reference, Rounded};
use crate::same_type;
use pieces::{PIECE, first_in_pieces};
use rayon::prelude::*;

/// What NaN that is no element of the inputs tells.
pub const NAN_COMPUTED: &str = "the computation gave NaN: does the kernel read unwritten memory?";

/// Where a wrong element comes from, as far as its bits tell.
fn origin<T: Comparable>(got: T) -> &'static str {
    if got.is_poison() {
        " (the value before the run)"
    } else if got.is_scrubbed() {
        " (local memory's value before the run: is it read before it is written?)"
    } else {
        ""
    }
}

/// gamma(d) = d*u / (1 - d*u): the relative error of d roundings with unit roundoff `u`. `None` from
/// d*u = 0.1 on, where the bound says too little to catch a wrong result.
pub fn gamma(d: u64, u: f64) -> Option<f64> {
    let du = d as f64 * u;
    (du < 0.1).then(|| du / (1.0 - du))
}

/// Terms that may each be flushed to zero without a right result being called wrong. Far more than
/// fit a buffer, yet together (2^-94 in f32) below anything that the generated data can miss.
const FLUSHED_TERMS: f64 = (1u64 << 32) as f64;

/// The absolute error allowed of a rounded result: gamma(`depth`) * S; plus, for f64 data, the
/// reference's own rounding of 2^-52 of its value; plus an allowance for results below the smallest
/// normal number, which devices may flush to zero.
///
/// `depth` counts every rounding of the most rounded term, its product's included. `None` where
/// [`gamma`] has no value: such a case needs exact data. Integers have no roundings: 0.
pub fn tolerance(reference: &Rounded, depth: u64, dtype: Dtype) -> Option<f64> {
    let bound = gamma(depth, dtype.unit_roundoff())? * reference.magnitude;
    Some(match dtype {
        Dtype::F32 => bound + FLUSHED_TERMS * f64::from(f32::MIN_POSITIVE),
        Dtype::F64 => {
            bound + f64::EPSILON * reference.value.abs() + FLUSHED_TERMS * f64::MIN_POSITIVE
        }
        Dtype::I32 | Dtype::I64 | Dtype::U8 => 0.0,
    })
}

/// Judges a result by its reference: equality where it is exact, else the bound on the only element.
pub fn check_result(got: &Array, reference: &Reference, depth: u64) -> ElementsVerdict {
    match reference {
        Reference::Exact(exact) => check_exact(got, exact),
        Reference::Rounded(sum) => number(got).map_or_else(unjudged, |number| {
            check_rounded(number, sum, depth, got.dtype())
        }),
        Reference::Near {
            values,
            absolute,
            relative,
        } => check_near(got, values, *absolute, *relative),
        Reference::Parts(parts) => parts::check_parts(got.as_bytes(), parts),
        Reference::Unknown(why) => unjudged(why.clone()),
        Reference::Error(allowed) => {
            number(got).map_or_else(unjudged, |error| within(error, 0.0, *allowed))
        }
    }
}

/// Of a result that is not even compared.
fn unjudged(why: String) -> ElementsVerdict {
    ElementsVerdict::fail(f64::INFINITY, 0.0, why)
}

/// The only element of a floating-point result, widened; what is wrong if it is none.
fn number(got: &Array) -> Result<f64, String> {
    // By its bits: widening may take a NaN's payload away.
    if got.dtype().is_float() && still_poisoned(got).is_some() {
        return Err("the result holds the value that was there before the run".to_owned());
    }
    match got {
        Array::F32(v) if v.len() == 1 => Ok(f64::from(v[0])),
        Array::F64(v) if v.len() == 1 => Ok(v[0]),
        other => Err(format!(
            "{} elements of {} have no rounded reference",
            other.len(),
            other.dtype()
        )),
    }
}

/// Judges a rounded result of type `dtype`, widened to f64, by [`tolerance`].
///
/// NaN passes only if the reference is NaN; infinities must match the
/// reference's, or come from a value that overflows `dtype` within the tolerance.
pub fn check_rounded(got: f64, reference: &Rounded, depth: u64, dtype: Dtype) -> ElementsVerdict {
    let want = reference.value;
    let Some(tol) = tolerance(reference, depth, dtype) else {
        let why = format!(
            "{depth} roundings are too many for a bound in {dtype}: this case needs exact data"
        );
        return ElementsVerdict::fail(f64::INFINITY, 0.0, why);
    };
    if want.is_nan() && got.is_nan() {
        return ElementsVerdict::pass(0.0, tol);
    }
    if got.is_infinite() || want.is_infinite() {
        // Of an infinite magnitude there is no tolerance.
        let overflows = want.is_infinite()
            || want.abs() + tol
                > if dtype == Dtype::F32 {
                    f64::from(f32::MAX)
                } else {
                    f64::MAX
                };
        return if got.is_infinite() && overflows && got.signum() == want.signum() {
            ElementsVerdict::pass(0.0, tol)
        } else {
            ElementsVerdict::fail(f64::INFINITY, tol, format!("got {got:?}, want {want:?}"))
        };
    }
    within(got, want, tol)
}

/// Whether a number is as near as this to what is wanted.
fn within(got: f64, want: f64, tol: f64) -> ElementsVerdict {
    if got.is_nan() {
        return ElementsVerdict::fail(
            f64::INFINITY,
            tol,
            format!("got NaN, want {want:?} within {tol:.2e}: {NAN_COMPUTED}"),
        );
    }
    let err = (got - want).abs();
    if err <= tol {
        ElementsVerdict::pass(err, tol)
    } else {
        let max_err = if err.is_nan() { f64::INFINITY } else { err };
        ElementsVerdict::fail(
            max_err,
            tol,
            format!("got {got:?}, want {want:?} within {tol:.2e}"),
        )
    }
}

/// Requires equal values: integers, and floats whose every partial result is exact.
///
/// Floats are compared by their bits, except that the sign of zero is ignored, as the order of a sum
/// decides it, and that any NaN but the poison matches a NaN.
pub fn check_exact(got: &Array, want: &Array) -> ElementsVerdict {
    same_type!((got, want), |g, w| compare_slices(g, w), else unlike(got, want))
}

/// Ends the reason of results of which no number is off by more than 1.
pub const BY_ONE: &str = ", each by at most 1";

/// Requires that every element lies within its tolerance. Infinities must be equal, and nothing passes for a NaN.
pub fn check_near(got: &Array, right: &Array, absolute: f64, relative: f64) -> ElementsVerdict {
    let len = got.len();
    if (got.dtype(), len) != (right.dtype(), right.len()) {
        let want = right.len();
        return unjudged(format!(
            "got {len} elements of {}, want {want} of {}",
            got.dtype(),
            right.dtype()
        ));
    }
    let got = got.widened();
    let want = right.widened();
    let mut max_err = 0.0f64;
    let mut tol = 0.0f64;
    let mut wrong = Vec::new();
    for (index, (&g, &w)) in got.iter().zip(&want).enumerate() {
        let error = if g == w { 0.0 } else { (g - w).abs() };
        let allowed = absolute + relative * w.abs();
        max_err = max_err.max(if error.is_nan() { f64::INFINITY } else { error });
        tol = tol.max(allowed);
        if g != w && !(w.is_finite() && error <= allowed) {
            wrong.push((index, allowed));
        }
    }
    let Some(&(index, allowed)) = wrong.first() else {
        return ElementsVerdict::pass(max_err, tol);
    };
    let g = got[index];
    let w = want[index];
    let why = format!(
        "element {index} is {g:?}, want {w:?} within {allowed:.1e}; {} of {len} wrong",
        wrong.len()
    );
    ElementsVerdict::fail(max_err, tol, why)
}

/// Requires that every element of `input` is where the movement takes it, bit for bit, and that nothing was written
/// between the rows of the output, which was poisoned before.
pub fn check_moved(got: &Array, input: &Array, movement: &Movement) -> ElementsVerdict {
    same_type!((got, input), |g, i| compare_moved(g, i, movement), else unlike(got, input))
}

fn compare_moved<T: Comparable>(got: &[T], input: &[T], movement: &Movement) -> ElementsVerdict {
    if got.len() != movement.output_len() || input.len() != movement.input_len() {
        let why = format!(
            "{} elements made {} elements, not {}",
            input.len(),
            got.len(),
            movement.output_len()
        );
        return unjudged(why);
    }
    let from = movement.rows * movement.from_pitch;
    let to = movement.output_rows() * movement.to_pitch;
    for time in 0..movement.times {
        let at = time * movement.skip;
        let verdict = compare_matrix(&got[at..at + to], &input[at..at + from], movement);
        if !verdict.ok {
            return match movement.times {
                1 => verdict,
                _ => ElementsVerdict {
                    why: verdict.why.map(|why| format!("in repetition {time} {why}")),
                    ..verdict
                },
            };
        }
    }
    ElementsVerdict::pass(0.0, 0.0)
}

/// Rows and columns of a part that is compared at once: of a transposition it reads whole lines of the input.
const BAND: usize = 16;
const BLOCK: usize = 64;

/// How many elements are wrong, and where the first of them is.
type WrongElements = (usize, Option<(usize, usize)>);

fn joined(a: WrongElements, b: WrongElements) -> WrongElements {
    (a.0 + b.0, a.1.into_iter().chain(b.1).min())
}

fn compare_matrix<T: Comparable>(got: &[T], input: &[T], movement: &Movement) -> ElementsVerdict {
    let rows = movement.output_rows();
    let pitch = movement.to_pitch;
    // A vector is one long row.
    let pieces = pitch.div_ceil(PIECE);
    let places = (0..rows.div_ceil(BAND) * pieces).into_par_iter();
    match places
        .map(|place: usize| {
            let top = place / pieces * BAND;
            let left = place % pieces * PIECE;
            let right = (left + PIECE).min(pitch);
            let parts = (left..right)
                .step_by(BLOCK)
                .flat_map(|begin| (top..(top + BAND).min(rows)).map(move |row| (row, begin)));
            parts.fold((0, None), |found, (row, begin)| {
                let values = &got[row * pitch..][begin..(begin + BLOCK).min(right)];
                let mut wrong = (begin..).zip(values).filter(|&(column, &got)| {
                    match column < movement.output_columns() {
                        true => !got.has_bits_of(input[movement.source(row, column)]),
                        false => !got.is_poison(),
                    }
                });
                let first = wrong.next().map(|(column, _)| (row, column));
                joined(found, (usize::from(first.is_some()) + wrong.count(), first))
            })
        })
        .reduce(|| (0, None), joined)
    {
        (count, Some((row, column))) => {
            let got = got[row * movement.to_pitch + column];
            let why = misplaced(got, row, column, input, movement);
            ElementsVerdict::fail(
                f64::INFINITY,
                0.0,
                format!(
                    "{why}; {count} {} wrong",
                    if count == 1 { "is" } else { "are" }
                ),
            )
        }
        (_, None) => ElementsVerdict::pass(0.0, 0.0),
    }
}

fn misplaced<T: Comparable>(
    got: T,
    row: usize,
    column: usize,
    input: &[T],
    movement: &Movement,
) -> String {
    let place = format!("the output's row {row}, column {column}");
    if column >= movement.output_columns() {
        return format!("{place} lies behind the row's end and was overwritten with {got:?}");
    }
    let note = origin(got);
    format!(
        "{place} is {got:?}{note}, want {:?}",
        input[movement.source(row, column)]
    )
}

fn unlike(got: &Array, want: &Array) -> ElementsVerdict {
    ElementsVerdict::fail(
        f64::INFINITY,
        0.0,
        format!("got elements of {}, want {}", got.dtype(), want.dtype()),
    )
}

fn compare_slices<T: Comparable>(got: &[T], want: &[T]) -> ElementsVerdict {
    if got.len() != want.len() {
        let why = format!("got {} elements, want {}", got.len(), want.len());
        return ElementsVerdict::fail(f64::INFINITY, 0.0, why);
    }
    let Some(index) = first_wrong(got, want) else {
        return ElementsVerdict::pass(0.0, 0.0);
    };
    let g = got[index];
    let w = want[index];
    let wrong: Vec<f64> = got
        .iter()
        .zip(want)
        .filter(|(g, w)| !g.equals(**w))
        .map(|(g, w)| g.distance(*w))
        .collect();
    let max_err = wrong.iter().copied().fold(0.0, f64::max);
    let note = match origin(g) {
        "" if g.is_nan() && !w.is_nan() => format!(" ({NAN_COMPUTED})"),
        note => note.to_owned(),
    };
    let why = match got.len() {
        1 => format!("got {g:?}{note}, want {w:?}"),
        len => format!(
            "element {index} is {g:?}{note}, want {w:?}; {} of {len} wrong{}",
            wrong.len(),
            each_by_one(wrong.len(), max_err)
        ),
    };
    ElementsVerdict::fail(max_err, 0.0, why)
}

/// Ends what is said of some wrong numbers, where none is further off than a rounding makes of integers.
fn each_by_one(wrong: usize, max_err: f64) -> &'static str {
    if wrong > 1 && max_err == 1.0 {
        BY_ONE
    } else {
        ""
    }
}

/// Index of the first element that is not what it should be.
fn first_wrong<T: Comparable>(got: &[T], want: &[T]) -> Option<usize> {
    first_in_pieces(got, |at, got| {
        let want = &want[at..at + got.len()];
        // Nearly all pieces are right, and their elements are compared many at a time.
        let alike = got
            .iter()
            .zip(want)
            .fold(true, |alike, (g, w)| alike & g.has_bits_of(*w));
        if alike {
            None
        } else {
            got.iter().zip(want).position(|(g, w)| !g.equals(*w))
        }
    })
}

/// What comparing needs of an element type.
trait Comparable: Copy + Send + Sync + std::fmt::Debug {
    /// A value that no kernel produces: a quiet NaN with a payload, or 0xdeadbeef.
    const POISON: Self;
    /// What local memory holds before a checked launch: the word of `cl/runner/scrub.cl`.
    const SCRUBBED: Self;
    /// Not of a byte, which has no value that no kernel produces: comparing finds those that were not written.
    const IS_TOLD: bool = true;

    fn has_bits_of(self, want: Self) -> bool;
    /// Whether the values are: of zeros with any sign, and of NaN with any bits but the poison's.
    fn equals(self, want: Self) -> bool;
    /// Absolute difference; infinite if it has no size.
    fn distance(self, other: Self) -> f64;
    fn is_nan(self) -> bool;

    fn is_poison(self) -> bool {
        Self::IS_TOLD && self.has_bits_of(Self::POISON)
    }

    fn is_scrubbed(self) -> bool {
        Self::IS_TOLD && self.has_bits_of(Self::SCRUBBED)
    }
}

macro_rules! float_element {
    ($t:ty, $poison:literal, $scrubbed:literal) => {
        impl Comparable for $t {
            const POISON: $t = <$t>::from_bits($poison);
            const SCRUBBED: $t = <$t>::from_bits($scrubbed);

            fn has_bits_of(self, want: $t) -> bool {
                self.to_bits() == want.to_bits()
            }

            fn equals(self, want: $t) -> bool {
                let alike = (self == 0.0 && want == 0.0) || (self.is_nan() && want.is_nan());
                self.has_bits_of(want) || (alike && !self.is_poison())
            }

            fn distance(self, other: $t) -> f64 {
                let distance = (f64::from(self) - f64::from(other)).abs();
                if distance.is_nan() {
                    f64::INFINITY
                } else {
                    distance
                }
            }

            fn is_nan(self) -> bool {
                <$t>::is_nan(self)
            }
        }
    };
}

macro_rules! int_element {
    ($t:ty, $poison:expr, $scrubbed:expr, $is_told:literal) => {
        impl Comparable for $t {
            const POISON: $t = $poison;
            const SCRUBBED: $t = $scrubbed;
            const IS_TOLD: bool = $is_told;

            fn has_bits_of(self, want: $t) -> bool {
                self == want
            }

            fn equals(self, want: $t) -> bool {
                self == want
            }

            fn distance(self, other: $t) -> f64 {
                (i128::from(self) - i128::from(other)).unsigned_abs() as f64
            }

            fn is_nan(self) -> bool {
                false
            }
        }
    };
}

float_element!(f32, 0x7fc0_dead, 0x7ff8_c0de);
float_element!(f64, 0x7ff8_dead_beef_dead, 0x7ff8_c0de_7ff8_c0de);
int_element!(i32, 0xdead_beef_u32.cast_signed(), 0x7ff8_c0de, true);
int_element!(
    i64,
    0xdead_beef_dead_beef_u64.cast_signed(),
    0x7ff8_c0de_7ff8_c0de,
    true
);
int_element!(u8, 0xb5, 0, false);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Fill, generate};
    use proptest::prelude::*;

    fn reference(value: f64, magnitude: f64) -> Rounded {
        Rounded { value, magnitude }
    }

    #[test]
    fn gamma_is_defined_below_a_tenth() {
        assert_eq!(gamma(0, 0.01), Some(0.0));
        assert_eq!(gamma(9, 0.01), Some(0.09 / 0.91));
        assert_eq!(gamma(10, 0.01), None);
        assert_eq!(gamma(u64::MAX, f64::EPSILON), None);
    }

    #[test]
    fn an_empty_kernel_fails() {
        for dtype in Dtype::ALL {
            let untouched = poisoned(dtype, 3);
            let verdict = check_exact(&untouched, &Array::zeros(dtype, 3));
            assert!(
                !verdict.ok && verdict.why.unwrap().contains("element 0 is"),
                "{dtype}"
            );
            assert_eq!(still_poisoned(&untouched), Some(0));
            assert_eq!(still_poisoned(&Array::zeros(dtype, 3)), None);
            assert_eq!(poison(dtype).len(), dtype.size());
        }
        for dtype in [Dtype::F32, Dtype::F64] {
            let untouched = poisoned(dtype, 1);
            assert!(!check_result(&untouched, &Reference::Rounded(reference(0.0, 1e9)), 10).ok);
            assert!(
                !check_result(
                    &untouched,
                    &Reference::Rounded(reference(f64::NAN, 1.0)),
                    10
                )
                .ok,
                "poison is not a right NaN"
            );
        }
        for real in [Array::F32(vec![f32::NAN]), Array::F64(vec![f64::NAN])] {
            assert!(
                check_result(
                    &real,
                    &Reference::Rounded(reference(f64::NAN, f64::NAN)),
                    10
                )
                .ok,
                "a NaN is not poison"
            );
        }
        let nans = Array::F32(vec![f32::NAN; 3]);
        assert!(!check_exact(&poisoned(Dtype::F32, 3), &nans).ok);
    }

    #[test]
    fn nan_passes_only_for_nan() {
        assert!(!check_rounded(f64::NAN, &reference(0.0, 1e30), 10, Dtype::F32).ok);
        assert!(!check_rounded(0.0, &reference(f64::NAN, 1.0), 10, Dtype::F32).ok);
        assert!(!check_rounded(0.0, &reference(0.0, f64::NAN), 10, Dtype::F32).ok);
        assert!(check_rounded(f64::NAN, &reference(f64::NAN, f64::NAN), 10, Dtype::F32).ok);
    }

    #[test]
    fn near_results_lie_within_both_tolerances_and_nan_never_does() {
        let of = |got: &[f32], want: &[f32]| {
            check_near(
                &Array::F32(got.to_vec()),
                &Array::F32(want.to_vec()),
                0.5,
                0.01,
            )
        };
        assert!(of(&[100.0, 0.0], &[101.4, 0.5]).ok);
        assert!(!of(&[100.0], &[101.6]).ok);
        assert!(!of(&[0.0], &[0.51]).ok);
        let inf = f32::INFINITY;
        assert!(
            of(&[inf], &[inf]).ok
                && !of(&[inf], &[-inf]).ok
                && !of(&[1.0], &[inf]).ok
                && !of(&[inf], &[1.0]).ok
        );
        let nan = of(&[f32::NAN, 1.0], &[1.0, 1.0]);
        assert!(!nan.ok && nan.max_err.is_infinite() && nan.why.unwrap().contains("1 of 2"));
        assert!(!of(&[f32::NAN], &[f32::NAN]).ok);
        assert!(!of(&[1.0], &[1.0, 1.0]).ok);
        assert!(
            !check_near(&Array::F64(vec![1.0]), &Array::F32(vec![1.0]), 0.5, 0.01).ok,
            "another type"
        );
        assert!(!check_near(&poisoned(Dtype::F32, 1), &Array::F32(vec![1.0]), 0.5, 0.01).ok);
    }

    #[test]
    fn infinities_match_or_come_from_overflow() {
        let inf = f64::INFINITY;
        assert!(check_rounded(inf, &reference(inf, inf), 1, Dtype::F32).ok);
        assert!(
            check_rounded(inf, &reference(1e39, 1e39), 1, Dtype::F32).ok,
            "overflows f32"
        );
        assert!(
            !check_rounded(inf, &reference(1e39, 1e39), 1, Dtype::F64).ok,
            "fits f64"
        );
        assert!(!check_rounded(inf, &reference(1.0, 1.0), 1, Dtype::F32).ok);
        assert!(!check_rounded(-inf, &reference(inf, inf), 1, Dtype::F32).ok);
        assert!(!check_rounded(3.0, &reference(inf, inf), 1, Dtype::F32).ok);
    }

    #[test]
    fn the_bound_is_sharp_and_too_deep_cases_fail() {
        let r = reference(1.0, 1.0);
        let tol = tolerance(&r, 4, Dtype::F32).unwrap();
        assert!(check_rounded(1.0 + 0.99 * tol, &r, 4, Dtype::F32).ok);
        let verdict = check_rounded(1.0 + 1.01 * tol, &r, 4, Dtype::F32);
        assert!(!verdict.ok && verdict.max_err > verdict.tol);
        assert!(!check_rounded(1.0, &r, 1 << 24, Dtype::F32).ok);
    }

    #[test]
    fn the_first_difference_and_their_number_are_named() {
        let verdict = check_exact(&Array::I32(vec![1, 5, 3, 9]), &Array::I32(vec![1, 2, 3, 4]));
        assert_eq!(verdict.why.unwrap(), "element 1 is 5, want 2; 2 of 4 wrong");
        assert_eq!((verdict.max_err, verdict.tol), (5.0, 0.0));
        assert!(!check_exact(&Array::I32(vec![1]), &Array::I32(vec![])).ok);
        assert!(!check_exact(&Array::I32(vec![1]), &Array::F32(vec![1.0])).ok);
        let extremes = check_exact(&Array::I64(vec![i64::MAX]), &Array::I64(vec![i64::MIN]));
        assert_eq!(extremes.max_err, u64::MAX as f64);
    }

    #[test]
    fn large_arrays_are_looked_through_to_their_ends() {
        let len = 3 * PIECE + 5;
        let want = generate(Fill::Bits, Dtype::F32, 1, 0, 0, len);
        let Array::F32(right) = &want else {
            unreachable!()
        };
        assert!(check_exact(&want, &want).ok && still_poisoned(&want).is_none());
        let movement = Movement::copy(len);
        for at in [0, PIECE - 1, PIECE, 2 * PIECE + 7, len - 1] {
            let mut wrong = right.clone();
            (wrong[at], wrong[len - 1]) = (1.5, 2.5);
            let wrong = Array::F32(wrong);
            let count = if at == len - 1 { 1 } else { 2 };
            let why = check_exact(&wrong, &want).why.unwrap();
            assert!(
                why.starts_with(&format!("element {at} is"))
                    && why.contains(&format!("; {count} of")),
                "{why}"
            );
            let why = check_moved(&wrong, &want, &movement).why.unwrap();
            assert!(
                why.contains(&format!("row 0, column {at} "))
                    && why.contains(&format!("; {count} ")),
                "{why}"
            );
            let mut unwritten = right.clone();
            (unwritten[at], unwritten[len - 1]) = (f32::POISON, f32::POISON);
            assert_eq!(still_poisoned(&Array::F32(unwritten)), Some(at));
        }
    }

    #[test]
    fn zeros_and_nans_are_equal_whatever_their_bits() {
        let got = Array::F32(vec![-0.0, f32::NAN]);
        let want = Array::F32(vec![0.0, -f32::NAN]);
        assert!(check_exact(&got, &want).ok);
        assert!(
            !(-0.0f32).has_bits_of(0.0)
                && !f32::NAN.has_bits_of(-f32::NAN)
                && f32::NAN.has_bits_of(f32::NAN)
        );
    }

    #[test]
    fn every_place_of_a_matrix_is_looked_at_once() {
        for transposed in [false, true] {
            let (columns, to_pitch) = if transposed {
                (2 * BAND + 1, 3 * BLOCK + 7)
            } else {
                (3 * BLOCK + 5, 3 * BLOCK + 7)
            };
            let rows = if transposed {
                3 * BLOCK + 5
            } else {
                2 * BAND + 1
            };
            let from_pitch = columns + 3;
            let movement = Movement {
                rows,
                columns,
                from_pitch,
                to_pitch,
                transposed,
                times: 1,
                skip: 0,
            };
            let input = generate(Fill::Bits, Dtype::F32, 1, 0, 0, movement.input_len());
            let mut moved = poisoned(Dtype::F32, movement.output_len());
            movement.carry_out(&input, &mut moved);
            assert!(check_moved(&moved, &input, &movement).ok);
            let Array::F32(to) = moved else {
                unreachable!()
            };
            let places = (0..movement.output_rows())
                .flat_map(|row| (0..to_pitch).map(move |column| (row, column)));
            let last = (movement.output_rows() - 1) * to_pitch;
            for (row, column) in places {
                let mut wrong = to.clone();
                (wrong[row * to_pitch + column], wrong[last]) = (1.5, 2.5);
                let why = check_moved(&Array::F32(wrong), &input, &movement)
                    .why
                    .unwrap();
                let is_last = row * to_pitch + column >= last;
                let first = if is_last {
                    (last / to_pitch, 0)
                } else {
                    (row, column)
                };
                let count = if row * to_pitch + column == last {
                    1
                } else {
                    2
                };
                assert!(
                    why.contains(&format!("row {}, column {} ", first.0, first.1)),
                    "{why}"
                );
                assert!(
                    why.ends_with(if count == 1 {
                        "; 1 is wrong"
                    } else {
                        "; 2 are wrong"
                    }),
                    "{why}"
                );
            }
        }
    }

    #[test]
    fn a_misplaced_element_and_a_write_between_rows_are_found() {
        for transposed in [false, true] {
            let movement = Movement {
                rows: 3,
                columns: 2,
                from_pitch: 3,
                to_pitch: 4,
                transposed,
                times: 1,
                skip: 0,
            };
            let input = generate(Fill::Bits, Dtype::F32, 1, 0, 0, movement.input_len());
            let (Array::F32(from), Array::F32(mut to)) =
                (&input, poisoned(Dtype::F32, movement.output_len()))
            else {
                unreachable!()
            };
            for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)] {
                let at = if transposed {
                    column * 4 + row
                } else {
                    row * 4 + column
                };
                to[at] = from[row * 3 + column];
            }
            let verdict = |to: &[f32]| check_moved(&Array::F32(to.to_vec()), &input, &movement);
            assert!(verdict(&to).ok, "{:?}", verdict(&to));
            let mut swapped = to.clone();
            swapped.swap(0, 1);
            assert!(verdict(&swapped).why.unwrap().ends_with("2 are wrong"));
            let mut spilt = to.clone();
            spilt[3] = 1.0;
            assert!(
                verdict(&spilt)
                    .why
                    .unwrap()
                    .contains("row 0, column 3 lies behind the row's end")
            );
            let untouched = check_moved(
                &poisoned(Dtype::F32, movement.output_len()),
                &input,
                &movement,
            );
            assert!(
                untouched
                    .why
                    .unwrap()
                    .contains("(the value before the run)")
            );
            assert!(!verdict(&to[1..]).ok);
        }
    }

    proptest! {
        #[test]
        fn right_sums_in_any_order_raise_no_alarm(seed: u64, n in 1usize..3000, chunk in 1usize..300, double: bool) {
            let dtype = if double { Dtype::F64 } else { Dtype::F32 };
            let terms = generate(Fill::Real, dtype, seed, 0, 0, n).widened();
            let round = |x: f64| if double { x } else { f64::from(x as f32) };
            let add = |terms: &mut dyn Iterator<Item = f64>| terms.fold(0.0, |a, b| round(a + b));
            // Every term is a multiple of 2^-52, so that this sum is exact.
            let exact: i128 = terms.iter().map(|x| (x * 2f64.powi(52)) as i128).sum();
            let reference = reference(exact as f64 / 2f64.powi(52), terms.iter().map(|x| x.abs()).sum());
            let chunked = add(&mut terms.chunks(chunk).map(|c| add(&mut c.iter().copied())));
            for (got, depth) in [
                (add(&mut terms.iter().copied()), n),
                (add(&mut terms.iter().rev().copied()), n),
                (chunked, chunk + n.div_ceil(chunk)),
            ] {
                let verdict = check_rounded(got, &reference, depth as u64, dtype);
                prop_assert!(verdict.ok, "{:?}", verdict);
            }
        }
    }
}

//! Outputs that are bytes: several of them one after the other, each of elements with a layout.

use super::memory::poison;
use super::verdict::ElementsVerdict;
use crate::data::{Dtype, Field, NumberValue};
use crate::plan::OutputPart;
use rayon::prelude::*;

/// Requires that each number of each output is right, or as near as the output allows.
pub fn check_parts(got: &[u8], parts: &[OutputPart]) -> ElementsVerdict {
    let mut max_err = 0.0f64;
    let mut tol = 0.0f64;
    for part in parts {
        let Some(bytes) = got.get(part.at..part.at + part.want.len()) else {
            return ElementsVerdict::fail(
                f64::INFINITY,
                0.0,
                format!("{} has too few bytes", part.name),
            );
        };
        let verdict = check_part(bytes, part);
        if !verdict.ok {
            return verdict;
        }
        (max_err, tol) = (max_err.max(verdict.max_err), tol.max(verdict.tol));
    }
    ElementsVerdict::pass(max_err, tol)
}

/// A part's numbers: how many are wrong, the first of them, and the largest error and tolerance.
#[derive(Clone, Copy, Default)]
struct PartErrors {
    wrong: usize,
    first: Option<(usize, usize)>,
    max_err: f64,
    tol: f64,
}

impl PartErrors {
    fn and(self, other: PartErrors) -> PartErrors {
        PartErrors {
            wrong: self.wrong + other.wrong,
            first: self.first.into_iter().chain(other.first).min(),
            max_err: self.max_err.max(other.max_err),
            tol: self.tol.max(other.tol),
        }
    }
}

fn check_part(got: &[u8], part: &OutputPart) -> ElementsVerdict {
    let size = part.layout.size.max(1);
    let is_exact = part.relative == 0.0 && part.absolute.iter().all(|absolute| *absolute == 0.0);
    let pairs = got
        .par_chunks_exact(size)
        .zip(part.want.par_chunks_exact(size))
        .enumerate()
        .with_min_len(1 << 12);
    let errors = pairs.map(|(index, (got, want))| {
        if got == want && is_exact {
            return PartErrors::default();
        }
        part.layout.fields.iter().enumerate().fold(
            PartErrors::default(),
            |seen, (number, field)| {
                let (error, allowed, is_right) =
                    compared(number_of(got, field), number_of(want, field), part, number);
                let first = (!is_right).then_some((index, number));
                seen.and(PartErrors {
                    wrong: usize::from(!is_right),
                    first,
                    max_err: error,
                    tol: allowed,
                })
            },
        )
    });
    let seen = errors.reduce(PartErrors::default, PartErrors::and);
    let Some((index, number)) = seen.first else {
        return ElementsVerdict::pass(seen.max_err, seen.tol);
    };
    let field = &part.layout.fields[number];
    let was = number_of(&got[index * size..], field);
    let want = number_of(&part.want[index * size..], field);
    let of = if part.name.is_empty() {
        String::new()
    } else {
        format!("of {} ", part.name)
    };
    let which = if field.name.is_empty() {
        String::new()
    } else {
        format!(", field {},", field.name)
    };
    let bytes = &got[index * size + field.at..][..field.scalar.size()];
    let before = poison(field.scalar.dtype().unwrap_or(Dtype::U8)).repeat(field.scalar.size());
    let note = if before.starts_with(bytes) {
        " (the value before the run)"
    } else {
        ""
    };
    let allowed = compared(was, want, part, number).1;
    let within = if allowed > 0.0 {
        format!(" within {allowed:.1e}")
    } else {
        String::new()
    };
    let all = part.want.len() / size * part.layout.fields.len();
    let why = format!(
        "element {index} {of}{which} is {was}{note}, want {want}{within}; {} of {all} wrong{}",
        seen.wrong,
        super::each_by_one(seen.wrong, seen.max_err)
    );
    ElementsVerdict::fail(
        seen.max_err,
        seen.tol,
        why.replace(" , ", ", ").replace("  ", " "),
    )
}

fn number_of(element: &[u8], field: &Field) -> NumberValue {
    field
        .scalar
        .read(&element[field.at..][..field.scalar.size()])
}

/// The error of a field's number, the error allowed, and whether the number is right.
fn compared(
    got: NumberValue,
    want: NumberValue,
    part: &OutputPart,
    field: usize,
) -> (f64, f64, bool) {
    match (got, want) {
        (NumberValue::Whole(got), NumberValue::Whole(want)) => {
            let error = got.abs_diff(want) as f64;
            let allowed = part.absolute[field];
            (error, allowed, error <= allowed)
        }
        (NumberValue::Real(got), NumberValue::Real(want)) => {
            let allowed = part.absolute[field] + part.relative * want.abs();
            let error = if got == want { 0.0 } else { (got - want).abs() };
            let sized = if error.is_nan() { f64::INFINITY } else { error };
            (
                sized,
                allowed,
                got == want || (want.is_finite() && error <= allowed),
            )
        }
        _ => (f64::INFINITY, 0.0, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Layout, Scalar};

    fn part(name: &str, at: usize, layout: Layout, want: &[u8], absolute: f64) -> OutputPart {
        let absolute = vec![absolute; layout.fields.len()];
        OutputPart {
            name: name.into(),
            at,
            layout,
            want: want.into(),
            absolute,
            relative: 0.0,
        }
    }

    fn field(name: &str, at: usize, scalar: Scalar) -> Field {
        Field {
            name: name.into(),
            at,
            scalar,
        }
    }

    #[test]
    fn each_output_is_judged_by_its_own_type_and_tolerance() {
        let floats: Vec<u8> = [1.0f32, 2.0].iter().flat_map(|x| x.to_ne_bytes()).collect();
        let parts = [
            part("count", 0, Scalar::U16.into(), &[1, 0, 2, 0], 0.0),
            part("mean", 4, Scalar::F32.into(), &floats, 0.01),
        ];
        let right = [&[1, 0, 2, 0], &floats[..]].concat();
        assert!(check_parts(&right, &parts).ok);
        let with = |at: usize, bytes: &[u8]| {
            let mut got = right.clone();
            got[at..at + bytes.len()].copy_from_slice(bytes);
            check_parts(&got, &parts)
        };
        assert!(with(8, &2.005f32.to_ne_bytes()).ok);
        assert_eq!(
            with(8, &2.5f32.to_ne_bytes()).why.unwrap(),
            "element 1 of mean is 2.5, want 2.0 within 1.0e-2; 1 of 2 wrong"
        );
        assert_eq!(
            with(2, &[3]).why.unwrap(),
            "element 1 of count is 3, want 2; 1 of 2 wrong"
        );
        assert!(!with(8, &f32::NAN.to_ne_bytes()).ok && !with(8, &f32::INFINITY.to_ne_bytes()).ok);
        assert!(!check_parts(&right[..10], &parts).ok);
    }

    #[test]
    fn a_field_has_no_share_in_the_tolerance_of_another() {
        let layout = Layout {
            size: 16,
            alignment: 8,
            fields: vec![field("far", 0, Scalar::F32), field("near", 8, Scalar::F64)],
        };
        let bytes = |far: f32, near: f64| {
            [&far.to_ne_bytes()[..], &[0; 4], &near.to_ne_bytes()[..]].concat()
        };
        let part = OutputPart {
            absolute: vec![10.0, 1e-12],
            ..part("", 0, layout, &bytes(1e6, 1.0), 0.0)
        };
        let is_right = |far, near| check_parts(&bytes(far, near), std::slice::from_ref(&part)).ok;
        assert!(is_right(1e6 + 5.0, 1.0) && !is_right(1e6, 1.0 + 1e-9));
    }

    #[test]
    fn bytes_between_fields_do_not_count() {
        let layout = Layout {
            size: 8,
            alignment: 4,
            fields: vec![field("flag", 0, Scalar::U8), field("x", 4, Scalar::I32)],
        };
        let parts = [part("", 0, layout, &[1, 0, 0, 0, 5, 0, 0, 0], 0.0)];
        assert!(check_parts(&[1, 9, 9, 9, 5, 0, 0, 0], &parts).ok);
        let why = check_parts(&[1, 9, 9, 9, 6, 0, 0, 0], &parts).why.unwrap();
        assert_eq!(why, "element 0, field x, is 6, want 5; 1 of 2 wrong");
    }
}

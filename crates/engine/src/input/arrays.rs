//! Weights of edges from NumPy's arrays.

use super::convert::AnyNumber;
use super::npy;
use super::why::Why;
use gpulab_graph::{Length, Matrix};
use gpulab_model::data::{Array, Dtype};
use gpulab_model::each_array;

pub(super) const TRUTH: &str = "truth values: each True is an edge of weight 1";

/// The square matrix of an `.npy` file, and what else was assumed.
pub(super) fn matrix(bytes: &[u8], dtype: Option<Dtype>) -> Result<(Matrix, Vec<String>), Why> {
    let (rows, columns, array) = npy::read_matrix(bytes)?;
    square(rows, columns)?;
    if rows == 0 {
        return Err("it holds no elements, and at least one is needed".into());
    }
    let place = |at: usize| format!("row {}, column {}, counted from 0", at / columns, at % columns);
    let (weights, notes) = weights(array, npy::is_bool(bytes)?, dtype, &place)?;
    Ok((Matrix { n: rows, weights, decimals: None }, notes))
}

pub(super) fn square(rows: usize, columns: usize) -> Result<(), Why> {
    if rows == columns {
        return Ok(());
    }
    Err(format!(
        "it is a matrix of {rows} rows and {columns} columns, and distances need a square one; \
         a list of edges starts with the line from,to,weight, or is a .txt"
    ))
}

/// The elements of an array as weights of `dtype`, or of its own type, and what else was assumed. `place` says in words where
/// an element is.
pub(super) fn weights(
    array: Array,
    is_bool: bool,
    dtype: Option<Dtype>,
    place: &dyn Fn(usize) -> String,
) -> Result<(Array, Vec<String>), Why> {
    let array = match array {
        Array::U8(bytes) => Array::I32(
            bytes.into_iter().map(|byte: u8| if is_bool && byte == 0 { i32::NO_EDGE } else { byte.into() }).collect(),
        ),
        array => array,
    };
    // No kernel takes i64.
    let own = if array.dtype() == Dtype::I64 { Dtype::I32 } else { array.dtype() };
    let dtype = dtype.unwrap_or(own);
    let weights = each_array!(&array, values => match dtype {
        Dtype::F32 => converted(values, place, dtype, AnyNumber::f32).map(Array::F32),
        Dtype::F64 => converted(values, place, dtype, AnyNumber::f64).map(Array::F64),
        Dtype::I32 => converted(values, place, dtype, AnyNumber::i32).map(Array::I32),
        Dtype::I64 => converted(values, place, dtype, AnyNumber::i64).map(Array::I64),
        Dtype::U8 => Err("weights are not bytes".into()),
    })?;
    Ok((weights, is_bool.then(|| TRUTH.to_owned()).into_iter().collect()))
}

fn converted<F: Length + Into<AnyNumber>, T: Length>(
    values: &[F],
    place: &dyn Fn(usize) -> String,
    dtype: Dtype,
    convert: fn(AnyNumber) -> Option<T>,
) -> Result<Vec<T>, Why> {
    let weight = |value: F| {
        // What is no edge in one type is none in the other.
        if value.marks_no_edge() {
            return Ok(T::NO_EDGE);
        }
        let number: AnyNumber = value.into();
        match convert(number) {
            Some(weight) if weight.marks_no_edge() => Err(weight.too_large()),
            Some(weight) if value.widened() == 0.0 => weight.weight(),
            Some(weight) => weight.nonzero_weight(),
            None if !value.widened().is_finite() => value.weight().map(|_| T::NO_EDGE),
            None => Err(format!("{number} does not fit {dtype}; choose another --dtype")),
        }
    };
    values
        .iter()
        .enumerate()
        .map(|(at, value): (usize, &F)| weight(*value).map_err(|why| format!("{}: {why}", place(at))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::npy::tests::{written, written_in};
    use super::*;

    fn read(bytes: &[u8], dtype: Option<Dtype>) -> Result<Matrix, Why> {
        matrix(bytes, dtype).map(|(matrix, _)| matrix)
    }

    #[test]
    fn a_matrix_of_numpy_in_both_orders() {
        let want = Array::F64(vec![0.0, 1.0, 2.0, 0.0]);
        let c = read(&written("<f8", &[2, 2], &[0.0, 1.0, 2.0, 0.0]), None).unwrap();
        assert_eq!((c.n, &c.weights), (2, &want));
        let fortran = written_in(npyz::Order::Fortran, "<f8", &[2, 2], &[0.0, 2.0, 1.0, 0.0]);
        assert_eq!(read(&fortran, None).unwrap().weights, want);
        assert_eq!(read(&fortran, Some(Dtype::I32)).unwrap().weights, Array::I32(vec![0, 1, 2, 0]));
    }

    #[test]
    fn no_edge_in_every_type_of_numpy() {
        let no = i32::NO_EDGE;
        let marks = written("<i4", &[2, 2], &[i32::MAX, i32::MAX / 2, 3, 0]);
        assert_eq!(read(&marks, None).unwrap().weights, Array::I32(vec![no, no, 3, 0]));
        let wide = written("<i8", &[2, 2], &[i64::MAX, 1, 3, 0]);
        assert_eq!(read(&wide, None).unwrap().weights, Array::I32(vec![no, 1, 3, 0]));
        let narrow = written("<i8", &[2, 2], &[i64::from(i32::MAX), 1, 3, 0]);
        assert!(read(&narrow, None).unwrap_err().contains("2147483647 is too large"));
        assert_eq!(read(&wide, Some(Dtype::F32)).unwrap().weights, Array::F32(vec![f32::INFINITY, 1.0, 3.0, 0.0]));
        let inf = written("<f4", &[1, 1], &[f32::INFINITY]);
        assert_eq!(read(&inf, Some(Dtype::I32)).unwrap().weights, Array::I32(vec![no]));
    }

    #[test]
    fn what_is_wrong_with_a_numpy_matrix_is_told_with_its_place() {
        let why = |values: &[f64], dtype| read(&written("<f8", &[2, 2], values), dtype).unwrap_err();
        assert!(why(&[0.0, 1.0, f64::NAN, 0.0], None).starts_with("row 1, column 0, counted from 0: NaN"));
        assert!(why(&[0.0, f64::NEG_INFINITY, 1.0, 0.0], Some(Dtype::I32)).contains("column 1, counted from 0: minus"));
        assert!(why(&[0.0, f64::NAN, 1.0, 0.0], Some(Dtype::I32)).contains("column 1, counted from 0: NaN"));
        assert!(why(&[0.0, 1e-60, 1.0, 0.0], Some(Dtype::F32)).contains("too small"));
        assert!(why(&[0.0, 0.5, 1.0, 0.0], Some(Dtype::I32)).contains("0.5 does not fit i32"));
        let flat = written("<f8", &[2, 3], &[0.0; 6]);
        assert!(read(&flat, None).unwrap_err().contains("2 rows and 3 columns"));
        let vector = written("<f8", &[4], &[0.0; 4]);
        assert!(read(&vector, None).unwrap_err().contains("not that of a matrix"));
        assert!(read(&written::<f64>("<f8", &[0, 0], &[]), None).unwrap_err().contains("no elements"));
    }

    #[test]
    fn truth_values_are_edges_and_bytes_are_weights() {
        let truth = written("|b1", &[2, 2], &[false, true, true, false]);
        let no = i32::NO_EDGE;
        let want = Matrix { n: 2, weights: Array::I32(vec![no, 1, 1, no]), decimals: None };
        assert_eq!(matrix(&truth, None), Ok((want, vec![TRUTH.to_owned()])));
        let bytes = written("|u1", &[1, 1], &[127u8]);
        assert_eq!(read(&bytes, None).unwrap().weights, Array::I32(vec![127]));
    }
}

//! Whether a step is right: rows of its result, computed once more on the CPU.

use super::Length;
use gpulab_cpu::minplus::{self, EdgeJoin};
use gpulab_model::data::{self, Array};
use std::ops::Range;

/// Additions for which all rows are computed again.
const MOST_SUMS: f64 = 2e10;

/// Neighbouring rows that are chosen together.
const BLOCK: usize = 8;

/// The rows of a step's result that are checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedRows {
    n: usize,
    rows: Vec<Range<usize>>,
}

impl CheckedRows {
    /// All `n` rows, if that takes at most 2 x 10^10 additions; else as many as do, in blocks of 8, of which each of equal
    /// parts of the rows has one at a random place.
    pub fn new(n: usize, seed: u64) -> CheckedRows {
        let affordable = (MOST_SUMS / (n as f64 * n as f64)) as usize;
        if affordable >= n {
            return CheckedRows { n, rows: std::iter::once(0..n).collect() };
        }
        let blocks = n.div_ceil(BLOCK);
        let parts = (affordable / BLOCK).max(1);
        let rows = one_of_each_part(blocks, parts, seed).map(|block| block * BLOCK..n.min((block + 1) * BLOCK));
        CheckedRows { n, rows: rows.collect() }
    }

    /// How many rows are checked.
    pub fn rows(&self) -> usize {
        self.rows.iter().map(Range::len).sum()
    }

    /// Whether `result` is the step of `d`, both of n x n lengths: the same numbers in the rows of the sample, and a
    /// number everywhere.
    ///
    /// # Errors
    /// The first row and column that differ, and by what; or where there is no number.
    pub fn check(&self, join: EdgeJoin, d: &Array, result: &Array) -> Result<(), String> {
        match result {
            Array::F32(r) => self.numbers(r)?,
            Array::F64(r) => self.numbers(r)?,
            Array::I32(_) | Array::I64(_) | Array::U8(_) => {}
        }
        for rows in &self.rows {
            let mut want = Array::zeros(d.dtype(), rows.len() * self.n);
            minplus::rows(join, self.n, d, rows.clone(), &mut want);
            match (result, &want) {
                (Array::F32(r), Array::F32(w)) => self.compare(r, w, rows),
                (Array::F64(r), Array::F64(w)) => self.compare(r, w, rows),
                (Array::I32(r), Array::I32(w)) => self.compare(r, w, rows),
                _ => Err(format!("its elements are {}, not {}", result.dtype(), d.dtype())),
            }?;
        }
        Ok(())
    }

    fn numbers<T: Length>(&self, result: &[T]) -> Result<(), String> {
        let missing = result.iter().position(|x| x.widened().is_nan());
        missing.map_or(Ok(()), |at| Err(format!("row {}, column {} is NaN", at / self.n, at % self.n)))
    }

    fn compare<T: Length>(&self, result: &[T], want: &[T], rows: &Range<usize>) -> Result<(), String> {
        let got = &result[rows.start * self.n..rows.end * self.n];
        let same = |got: T, want: T| got == want || (got >= T::FAR && want >= T::FAR);
        match got.iter().zip(want).position(|(&got, &want)| !same(got, want)) {
            None => Ok(()),
            Some(at) => {
                let row = rows.start + at / self.n;
                let column = at % self.n;
                Err(format!("row {row}, column {column} is {}, want {}", got[at], want[at]))
            }
        }
    }
}

/// A random place in each of so many equal parts of `n` places.
pub(super) fn one_of_each_part(n: usize, parts: usize, seed: u64) -> impl Iterator<Item = usize> {
    (0..parts).map(move |part| {
        let from = part * n / parts;
        let to = (part + 1) * n / parts;
        from + (data::draw(seed, part as u64) % (to - from) as u64) as usize
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(n: usize) -> (Array, Array) {
        let d = Array::F32((0..n * n).map(|i| (i * 37 % 101) as f32).collect());
        let mut r = d.clone();
        minplus::all_threads(n, &d, &mut r);
        (d, r)
    }

    #[test]
    fn small_steps_are_checked_whole_and_large_ones_in_different_rows() {
        assert_eq!(CheckedRows::new(100, 1).rows(), 100);
        assert_eq!((CheckedRows::new(0, 1).rows(), CheckedRows::new(1, 1).rows()), (0, 1));
        let a = CheckedRows::new(8000, 1);
        let b = CheckedRows::new(8000, 2);
        assert_eq!((a.rows(), b.rows(), a == b), (312, 312, false));
        let mut rows: Vec<usize> = a.rows.iter().flat_map(Clone::clone).collect();
        rows.sort_unstable();
        rows.dedup();
        assert!(rows.len() == 312 && rows.iter().all(|&row| row < 8000));
        assert!((1..=8).contains(&CheckedRows::new(1_000_001, 3).rows()));
    }

    #[test]
    fn a_wrong_element_is_found() {
        let n = 30;
        let (d, r) = step(n);
        assert_eq!(CheckedRows::new(n, 1).check(EdgeJoin::Sum, &d, &r), Ok(()));
        let Array::F32(mut wrong) = r else { unreachable!() };
        wrong[7 * n + 3] += 1.0;
        let why = CheckedRows::new(n, 1).check(EdgeJoin::Sum, &d, &Array::F32(wrong.clone())).unwrap_err();
        assert!(why.starts_with("row 7, column 3 is"), "{why}");
        wrong[2] = f32::NAN;
        let why = CheckedRows::new(n, 1).check(EdgeJoin::Sum, &d, &Array::F32(wrong)).unwrap_err();
        assert_eq!(why, "row 0, column 2 is NaN");
        assert!(
            CheckedRows::new(n, 1).check(EdgeJoin::Sum, &d, &Array::I32(vec![0; n * n])).unwrap_err().contains("i32")
        );
    }
}

//! What moves where when a matrix is copied or transposed.

use crate::data::Array;
use crate::same_type;

/// Where each element of a matrix goes. All lengths in elements; rows of both matrices are contiguous, and may have
/// unused elements behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Movement {
    pub rows: usize,
    pub columns: usize,
    /// From the start of one input row to that of the next.
    pub from_pitch: usize,
    /// From the start of one output row to that of the next.
    pub to_pitch: usize,
    /// Whether rows become columns; otherwise they stay rows.
    pub transposed: bool,
    /// So many matrices, one after the other, all moved alike.
    pub times: usize,
    /// From the start of one matrix to that of the next, in the input and in the output.
    pub skip: usize,
}

impl Movement {
    pub fn copy(len: usize) -> Movement {
        Movement {
            rows: 1,
            columns: len,
            from_pitch: len,
            to_pitch: len,
            transposed: false,
            times: 1,
            skip: 0,
        }
    }

    /// So many matrices like this one, and vectors of 16 elements beginning alike in each.
    pub fn repeated(self, times: usize) -> Movement {
        let skip = self.input_len().max(self.output_len()).next_multiple_of(16);
        Movement {
            times,
            skip,
            ..self
        }
    }

    /// Elements of the input, those between its rows and matrices included.
    pub fn input_len(&self) -> usize {
        self.before_last()
            .saturating_add(self.rows.saturating_mul(self.from_pitch))
    }

    /// Elements of the output, those between its rows and matrices included.
    pub fn output_len(&self) -> usize {
        self.before_last()
            .saturating_add(self.output_rows().saturating_mul(self.to_pitch))
    }

    fn before_last(&self) -> usize {
        self.times.saturating_sub(1).saturating_mul(self.skip)
    }

    pub fn output_rows(&self) -> usize {
        if self.transposed {
            self.columns
        } else {
            self.rows
        }
    }

    pub fn output_columns(&self) -> usize {
        if self.transposed {
            self.rows
        } else {
            self.columns
        }
    }

    /// Index in the input of what comes to this row and column of the output, within a matrix.
    pub fn source(&self, row: usize, column: usize) -> usize {
        if self.transposed {
            column * self.from_pitch + row
        } else {
            row * self.from_pitch + column
        }
    }

    /// Moves every element of the first matrix, one after the other along the input's rows. Both arrays are of one type, and of
    /// [`Movement::input_len`] and [`Movement::output_len`] elements; what is between rows stays as it is.
    pub fn carry_out(&self, input: &Array, output: &mut Array) {
        same_type!((input, output), |from, to| self.move_all(from, to), else {
            unreachable!("a movement between arrays of one type")
        })
    }

    fn move_all<T: Copy>(&self, from: &[T], to: &mut [T]) {
        for row in 0..self.rows {
            for (column, &element) in from[row * self.from_pitch..][..self.columns]
                .iter()
                .enumerate()
            {
                let at = if self.transposed {
                    column * self.to_pitch + row
                } else {
                    row * self.to_pitch + column
                };
                to[at] = element;
            }
        }
    }
}

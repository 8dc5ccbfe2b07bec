//! The inputs of a case, as the host holds them.

use super::{Array, Change};

#[derive(Clone, Debug, PartialEq)]
pub struct Inputs(pub Vec<Array>);

impl Inputs {
    pub fn held(&self) -> &[Array] {
        &self.0
    }

    /// Elements of the first input; 0 if there is none.
    pub fn first_len(&self) -> usize {
        self.0.first().map_or(0, Array::len)
    }

    /// Bytes that the host holds.
    pub fn held_bytes(&self) -> usize {
        self.0.iter().map(|array| array.as_bytes().len()).sum()
    }

    /// One element of an input, as an array; `None` behind its end.
    pub fn at(&self, input: usize, index: usize) -> Option<Array> {
        self.0.get(input)?.at(index)
    }

    /// One element of each input, those that are so long, as arrays.
    pub fn all_at(&self, index: usize) -> Vec<Array> {
        self.0.iter().filter_map(|array| array.at(index)).collect()
    }

    /// The elements of each input from `start` on.
    pub fn tails(&self, start: usize) -> Vec<Array> {
        self.0.iter().map(|array| array.tail(start)).collect()
    }

    /// Makes a change, and returns what makes it undone.
    pub fn apply(&mut self, change: &Change) -> Change {
        Change { value: self.0[change.input].put(change.index, &change.value), ..change.clone() }
    }
}

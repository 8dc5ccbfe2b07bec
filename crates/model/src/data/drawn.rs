//! Inputs of which the host holds no array: their elements are drawn anew wherever they are asked for.

use super::{Array, Change, Dtype, Fill, fill, print};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// An input that is drawn: each element is a function of its place, unless it was changed.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnInput {
    pub fill: Fill,
    pub dtype: Dtype,
    pub seed: u64,
    /// 0 for the first input of a case, 1 for the second, ...
    pub stream: u64,
    pub len: usize,
    /// Elements that are others now, each an array of one.
    changed: BTreeMap<usize, Array>,
}

impl DrawnInput {
    /// `len` elements, as [`fill::generate`] makes them from index 0 on.
    pub fn new(fill: Fill, dtype: Dtype, seed: u64, stream: u64, len: usize) -> DrawnInput {
        DrawnInput { fill, dtype, seed, stream, len, changed: BTreeMap::new() }
    }

    /// The number that, with its place, makes each element.
    pub fn key(&self) -> u64 {
        fill::key(self.seed, self.stream)
    }

    /// The power of two that elements of [`Fill::Scaled`] are multiplied by.
    pub fn scale(&self) -> f64 {
        fill::scale(self.key())
    }

    pub fn part(&self, start: usize, len: usize) -> Array {
        let start = start.min(self.len);
        let mut part = Array::zeros(self.dtype, len.min(self.len - start));
        self.redraw(start, &mut part);
        part
    }

    /// Puts the element that `value` holds in place of one, and returns that.
    fn put(&mut self, index: usize, value: &Array) -> Array {
        let old = self.part(index, 1);
        let as_drawn = fill::generate(self.fill, self.dtype, self.seed, self.stream, index as u64, 1);
        if as_drawn.as_bytes() == value.as_bytes() {
            self.changed.remove(&index);
        } else {
            self.changed.insert(index, value.clone());
        }
        old
    }

    /// Overwrites an array of this type with the elements from `start` on.
    fn redraw(&self, start: usize, part: &mut Array) {
        fill::regenerate(self.fill, self.seed, self.stream, start as u64, part);
        for (&index, value) in self.changed.range(start..start + part.len()) {
            _ = part.put(index - start, value);
        }
    }
}

/// Elements of a block: two inputs' blocks fit a core's own cache, and a last half word is in the last block alone.
const BLOCK: usize = 1 << 16;

/// What is made of drawn inputs in one pass over all of their elements.
pub struct Streamed<R> {
    /// What was made of each block, in order.
    pub results: Vec<R>,
    pub prints: Vec<u64>,
}

/// Makes something of each block of equally long inputs, on all threads of the current pool; no more of them is held at a
/// time than a block for each thread.
pub fn streamed<R: Send>(inputs: &[DrawnInput], make: impl Fn(&[Array]) -> R + Sync) -> Streamed<R> {
    let len = inputs.iter().map(|input| input.len).min().unwrap_or(0);
    let space = || inputs.iter().map(|input| Array::zeros(input.dtype, BLOCK.min(len))).collect::<Vec<_>>();
    let blocks = (0..len.div_ceil(BLOCK)).into_par_iter().with_min_len(4);
    let all: Vec<(R, Vec<u64>)> = blocks
        .map_init(space, |parts, block| {
            let start = block * BLOCK;
            let mut prints = Vec::with_capacity(inputs.len());
            for (input, part) in inputs.iter().zip(parts.iter_mut()) {
                if part.len() != BLOCK.min(len - start) {
                    *part = Array::zeros(input.dtype, BLOCK.min(len - start));
                }
                input.redraw(start, part);
                prints.push(print(part.as_bytes(), (start * input.dtype.size() / 8) as u64));
            }
            (make(parts), prints)
        })
        .collect();
    let mut prints = vec![0u64; inputs.len()];
    for (_, of_block) in &all {
        prints.iter_mut().zip(of_block).for_each(|(sum, &print)| *sum = sum.wrapping_add(print));
    }
    Streamed { results: all.into_iter().map(|(result, _)| result).collect(), prints }
}

/// The inputs of a case: all held by the host, or all drawn wherever they are asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Inputs {
    Held(Vec<Array>),
    Drawn(Vec<DrawnInput>),
}

impl Inputs {
    /// The arrays that the host holds; none of inputs that are drawn.
    pub fn held(&self) -> &[Array] {
        match self {
            Inputs::Held(arrays) => arrays,
            Inputs::Drawn(_) => &[],
        }
    }

    /// What the inputs are drawn from; nothing of those that are held.
    pub fn drawn(&self) -> &[DrawnInput] {
        match self {
            Inputs::Held(_) => &[],
            Inputs::Drawn(drawn) => drawn,
        }
    }

    /// Elements of the first input; 0 if there is none.
    pub fn first_len(&self) -> usize {
        match self {
            Inputs::Held(arrays) => arrays.first().map_or(0, Array::len),
            Inputs::Drawn(drawn) => drawn.first().map_or(0, |drawn| drawn.len),
        }
    }

    /// Bytes that the host holds.
    pub fn held_bytes(&self) -> usize {
        self.held().iter().map(|array| array.as_bytes().len()).sum()
    }

    /// One element of an input, as an array; `None` behind its end.
    pub fn at(&self, input: usize, index: usize) -> Option<Array> {
        match self {
            Inputs::Held(arrays) => arrays.get(input)?.at(index),
            Inputs::Drawn(drawn) => Some(drawn.get(input)?.part(index, 1)).filter(|one| !one.is_empty()),
        }
    }

    /// One element of each input, those that are so long, as arrays.
    pub fn all_at(&self, index: usize) -> Vec<Array> {
        let inputs = self.held().len() + self.drawn().len();
        (0..inputs).filter_map(|input| self.at(input, index)).collect()
    }

    /// The elements of each input from `start` on.
    pub fn tails(&self, start: usize) -> Vec<Array> {
        match self {
            Inputs::Held(arrays) => arrays.iter().map(|array| array.tail(start)).collect(),
            Inputs::Drawn(drawn) => drawn.iter().map(|drawn| drawn.part(start, drawn.len)).collect(),
        }
    }

    /// Makes a change, and returns what makes it undone.
    pub fn apply(&mut self, change: &Change) -> Change {
        let old = match self {
            Inputs::Held(arrays) => arrays[change.input].put(change.index, &change.value),
            Inputs::Drawn(drawn) => drawn[change.input].put(change.index, &change.value),
        };
        Change { value: old, ..change.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate;

    fn drawn(dtype: Dtype, len: usize) -> DrawnInput {
        DrawnInput::new(Fill::Real, dtype, 7, 1, len)
    }

    #[test]
    fn a_stream_is_the_array_with_its_print() {
        for (dtype, len) in [(Dtype::F32, 0), (Dtype::I32, 1), (Dtype::F64, BLOCK), (Dtype::F32, 3 * BLOCK + 17)] {
            let whole = generate(Fill::Real, dtype, 7, 1, 0, len);
            let inputs = [drawn(dtype, len), DrawnInput::new(Fill::Ones, dtype, 7, 0, len)];
            let stream = streamed(&inputs, |parts| parts.iter().map(Array::len).min());
            assert_eq!(stream.results.iter().flatten().sum::<usize>(), len);
            assert_eq!(stream.prints[0], print(whole.as_bytes(), 0), "{dtype} {len}");
            let parts = streamed(&inputs[..1], |parts| parts[0].clone()).results;
            let again = parts.iter().fold(Array::zeros(dtype, 0), |all, part| all.followed_by(part));
            assert_eq!(again, whole);
        }
    }

    #[test]
    fn changes_are_seen_everywhere_and_undone() {
        let len = BLOCK + 9;
        let mut inputs = Inputs::Drawn(vec![drawn(Dtype::I32, len)]);
        let before = inputs.clone();
        let mut held = Inputs::Held(vec![generate(Fill::Real, Dtype::I32, 7, 1, 0, len)]);
        let undo = [0, BLOCK - 1, BLOCK, len - 1].map(|index| {
            let change = Change { input: 0, index, value: Array::I32(vec![index as i32]) };
            let old = inputs.apply(&change);
            assert_eq!(old, held.apply(&change));
            assert_eq!(inputs.at(0, index), Some(change.value));
            old
        });
        assert_eq!((inputs.tails(0), inputs.first_len()), (held.tails(0), len));
        assert_eq!(streamed(inputs.drawn(), |_| ()).prints, [print(held.held()[0].as_bytes(), 0)]);
        undo.iter().for_each(|change| _ = inputs.apply(change));
        assert_eq!(inputs, before);
        assert_eq!((inputs.at(0, len), inputs.at(1, 0)), (None, None));
    }
}

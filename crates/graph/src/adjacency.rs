//! The edges that arrive at each node.

use super::Length;
use rayon::prelude::*;

/// Edges between different nodes, by the node where they end.
pub(super) struct Incoming<T> {
    /// Where each node's edges begin in `edges`; one more at the end.
    starts: Vec<usize>,
    /// Where an edge starts, and its weight.
    edges: Vec<(u32, T)>,
}

impl<T: Length> Incoming<T> {
    /// The edges of a matrix of n x n weights, its diagonal left out, that `is_wanted` by their place in it.
    pub(super) fn new(n: usize, weights: &[T], is_wanted: impl Fn(usize) -> bool + Sync) -> Incoming<T> {
        let is_edge = |i: usize, k: usize| i != k && weights[i * n + k].is_some() && is_wanted(i * n + k);
        let from = |i: usize| (0..n).filter(|&k| is_edge(i, k)).map(|k| k as u32).collect();
        let outgoing: Vec<Vec<u32>> = (0..n).into_par_iter().map(from).collect();
        let mut starts = vec![0; n + 1];
        outgoing.iter().flatten().for_each(|&k| starts[k as usize + 1] += 1);
        (0..n).for_each(|k| starts[k + 1] += starts[k]);
        let mut places = starts.clone();
        let mut edges = vec![(0, T::NO_EDGE); starts[n]];
        for (i, ends) in outgoing.iter().enumerate() {
            for &k in ends {
                edges[places[k as usize]] = (i as u32, weights[i * n + k as usize]);
                places[k as usize] += 1;
            }
        }
        Incoming { starts, edges }
    }

    /// The edges of a matrix of n x n weights the other way round, its diagonal left out.
    pub(super) fn reversed(n: usize, weights: &[T]) -> Incoming<T> {
        let is_edge = |i: usize, k: usize| i != k && weights[i * n + k].is_some();
        let from = |i: usize| (0..n).filter(|&k| is_edge(i, k)).map(|k| (k as u32, weights[i * n + k])).collect();
        let outgoing: Vec<Vec<(u32, T)>> = (0..n).into_par_iter().map(from).collect();
        let mut starts = vec![0; n + 1];
        outgoing.iter().enumerate().for_each(|(i, edges)| starts[i + 1] = starts[i] + edges.len());
        Incoming { starts, edges: outgoing.concat() }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.edges.len()
    }

    /// The edges that end at `node`, in order of where they start.
    pub(super) fn of(&self, node: usize) -> &[(u32, T)] {
        &self.edges[self.starts[node]..self.starts[node + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_found_by_their_end() {
        let no = i32::NO_EDGE;
        let weights = [9, 5, -7, no, 9, 1, no, 2, 9];
        let incoming = Incoming::new(3, &weights, |_| true);
        assert_eq!((incoming.of(0), incoming.of(1)), (&[][..], &[(0, 5), (2, 2)][..]));
        assert_eq!(incoming.of(2), [(0, -7), (1, 1)]);
        let light = Incoming::new(3, &weights, |at| weights[at] < 2);
        assert_eq!((light.of(1), light.of(2)), (&[][..], &[(0, -7), (1, 1)][..]));
        let reversed = Incoming::reversed(3, &weights);
        assert_eq!((reversed.of(0), reversed.of(2)), (&[(1, 5), (2, -7)][..], &[(1, 2)][..]));
        assert_eq!(Incoming::<f32>::new(0, &[], |_| true).len(), 0);
    }
}

//! From a list of edges, or a matrix as given, to the matrix that steps work on.

use super::semiring::staying;
use super::{Length, Names};
use gpulab_cpu::minplus::Semiring;
use gpulab_model::data::Array;
use gpulab_model::each_array;
use rayon::prelude::*;

/// Edges as a file lists them; the three lists are of one length.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeList {
    /// The nodes, in order of first appearance.
    pub names: Names,
    /// Where each edge starts and ends.
    pub ends: Vec<(usize, usize)>,
    /// Each edge's weight, as [`Length::weight`] gave it.
    pub weights: Array,
    /// Most digits behind the point that a weight was written with; none if that is not known.
    pub decimals: Option<usize>,
}

/// A square matrix of weights: that of the edge from i to j is element i * n + j.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Rows and columns.
    pub n: usize,
    /// The weights, as [`Length::weight`] gave them.
    pub weights: Array,
    /// As of [`EdgeList`].
    pub decimals: Option<usize>,
}

/// A graph as the matrix of its edges' weights, and what was left out of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// The nodes: n of them.
    pub names: Names,
    /// n x n weights, row after row; [`Length::NO_EDGE`] where there is no edge.
    pub weights: Array,
    /// Edges between different nodes, each direction by itself.
    pub edges: usize,
    /// Edges that came again between the same nodes: the smallest weight was kept.
    pub duplicates: usize,
    /// Edges from a node to itself with a weight of at least 0, which help no path.
    pub idle_loops: usize,
    /// As of [`EdgeList`].
    pub decimals: Option<usize>,
    /// Which paths are sought; weights are as [`super::least`] makes them.
    pub semiring: Semiring,
}

impl Graph {
    /// The graph of a list of edges. Staying costs 0, or the weight of a negative loop.
    ///
    /// With `undirected` every edge leads both ways.
    pub fn from_edges(semiring: Semiring, list: &EdgeList, undirected: bool) -> Graph {
        let n = list.names.len();
        let (weights, duplicates) = each_array!(&list.weights, w => dense(semiring, n, &list.ends, w, undirected));
        let idle_loops = each_array!(&list.weights, w => idle_loops(&list.ends, w));
        let edges = count_edges(n, &weights);
        Graph { names: list.names.clone(), weights, edges, duplicates, idle_loops, decimals: list.decimals, semiring }
    }

    /// The graph of a matrix as given, its diagonal too. With `undirected` the smaller weight of both ways counts.
    pub fn from_matrix(semiring: Semiring, matrix: Matrix, undirected: bool) -> Graph {
        let Matrix { n, mut weights, decimals } = matrix;
        if undirected {
            each_array!(&mut weights, w => symmetrise(n, w));
        }
        let edges = count_edges(n, &weights);
        Graph { names: Names::numbered(n), weights, edges, duplicates: 0, idle_loops: 0, decimals, semiring }
    }

    /// Nodes.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// The weights, which the graph has no longer: a large matrix is not to be in memory twice.
    pub fn take_weights(&mut self) -> Array {
        let none = Array::zeros(self.weights.dtype(), 0);
        std::mem::replace(&mut self.weights, none)
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// How many edges the farthest node that a path reaches from one of these is away from the nearest.
    pub fn depth(&self, sources: &[usize]) -> usize {
        let n = self.len();
        let is_edge = |from: usize, to: usize| each_array!(&self.weights, w => w[from * n + to].is_some());
        let mut is_new = vec![true; n];
        let mut level = sources.to_vec();
        let mut depth = 0;
        loop {
            level.iter().for_each(|&at| is_new[at] = false);
            let mut next = Vec::new();
            for &from in &level {
                for to in (0..n).filter(|&to| is_edge(from, to)) {
                    if std::mem::take(&mut is_new[to]) {
                        next.push(to);
                    }
                }
            }
            if next.is_empty() {
                return depth;
            }
            (level, depth) = (next, depth + 1);
        }
    }

    /// Whether all weights are whole, none below 0, and at most so large.
    pub fn is_whole_up_to(&self, most: i32) -> bool {
        matches!(&self.weights, Array::I32(w) if w.iter().all(|x| (0..=most).contains(x) || !x.is_some()))
    }

    /// Whether some edge has a negative weight, as kernels of the semiring have it.
    pub fn has_negative(&self) -> bool {
        let value = |x: f64| if self.semiring.is_greatest() { -x } else { x };
        self.semiring != Semiring::OrAnd
            && each_array!(&self.weights, w => w.par_iter().any(|x| x.is_some() && value(x.widened()) < 0.0))
    }
}

/// The matrix of a list of edges, and how many of them were there before.
fn dense<T: Length>(
    semiring: Semiring,
    n: usize,
    ends: &[(usize, usize)],
    weights: &[T],
    undirected: bool,
) -> (Array, usize)
where
    Vec<T>: Into<Array>,
{
    let mut matrix: Vec<T> = rayon::iter::repeat_n(T::NO_EDGE, n * n).collect();
    (0..n).for_each(|i| matrix[i * n + i] = staying(semiring));
    let mut duplicates = 0;
    let edges = ends.iter().zip(weights).filter(|(_, weight)| weight.is_some());
    for (&(from, to), &weight) in edges {
        let known = matrix[from * n + to];
        duplicates += usize::from(from != to && known.is_some());
        lower(&mut matrix[from * n + to], weight);
        if undirected {
            lower(&mut matrix[to * n + from], weight);
        }
    }
    (matrix.into(), duplicates)
}

fn lower<T: Length>(known: &mut T, weight: T) {
    if weight < *known {
        *known = weight;
    }
}

fn symmetrise<T: Length>(n: usize, matrix: &mut [T]) {
    for i in 0..n {
        for j in 0..i {
            let there = matrix[i * n + j];
            let back = matrix[j * n + i];
            lower(&mut matrix[i * n + j], back);
            lower(&mut matrix[j * n + i], there);
        }
    }
}

fn idle_loops<T: Length>(ends: &[(usize, usize)], weights: &[T]) -> usize {
    let idle = |(ends, weight): (&(usize, usize), &T)| ends.0 == ends.1 && weight.is_some() && *weight >= T::ZERO;
    ends.iter().zip(weights).filter(|&edge| idle(edge)).count()
}

fn count_edges(n: usize, matrix: &Array) -> usize {
    each_array!(matrix, w => {
        let all = w.par_iter().filter(|x| x.is_some()).count();
        all - (0..n).filter(|i| w[i * n + i].is_some()).count()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(edges: &[(&str, &str, i32)]) -> EdgeList {
        let mut names = Names::default();
        let ends = edges.iter().map(|(from, to, _)| (names.number(from), names.number(to))).collect();
        EdgeList { names, ends, weights: Array::I32(edges.iter().map(|e| e.2).collect()), decimals: None }
    }

    const NO: i32 = i32::NO_EDGE;

    #[test]
    fn the_smallest_of_duplicates_counts() {
        let graph = Graph::from_edges(
            Semiring::MinPlus,
            &list(&[("a", "b", 5), ("a", "b", 3), ("a", "b", 4), ("b", "a", 1)]),
            false,
        );
        assert_eq!(graph.weights, Array::I32(vec![0, 3, 1, 0]));
        assert_eq!((graph.edges, graph.duplicates, graph.idle_loops), (2, 2, 0));
    }

    #[test]
    fn both_ways_of_an_undirected_edge_are_one_edge() {
        let graph = Graph::from_edges(Semiring::MinPlus, &list(&[("a", "b", 5), ("b", "a", 2), ("b", "c", 7)]), true);
        assert_eq!(graph.weights, Array::I32(vec![0, 2, NO, 2, 0, 7, NO, 7, 0]));
        assert_eq!((graph.edges, graph.duplicates), (4, 1));
    }

    #[test]
    fn loops_help_only_if_negative() {
        let graph =
            Graph::from_edges(Semiring::MinPlus, &list(&[("a", "a", 5), ("b", "b", -2), ("a", "b", NO)]), false);
        assert_eq!(graph.weights, Array::I32(vec![0, NO, NO, -2]));
        assert_eq!((graph.edges, graph.duplicates, graph.idle_loops), (0, 0, 1));
        assert!(graph.has_negative() && !graph.is_whole_up_to(9));
        let graph = Graph::from_edges(Semiring::MinPlus, &list(&[("a", "b", 9)]), false);
        assert!(graph.is_whole_up_to(9) && !graph.is_whole_up_to(8));
    }

    #[test]
    fn depth_counts_edges() {
        let chain = list(&[("a", "b", 5), ("b", "c", 3), ("c", "d", 4), ("b", "a", 1), ("e", "e", 1)]);
        let graph = Graph::from_edges(Semiring::MinPlus, &chain, false);
        assert_eq!([&[0][..], &[1], &[3], &[0, 2], &[4]].map(|sources| graph.depth(sources)), [3, 2, 0, 1, 0]);
    }

    #[test]
    fn a_matrix_is_taken_as_it_is() {
        let matrix = Matrix { n: 2, weights: Array::I32(vec![7, 1, NO, NO]), decimals: None };
        let graph = Graph::from_matrix(Semiring::MinPlus, matrix.clone(), false);
        assert_eq!((&graph.weights, graph.edges), (&matrix.weights, 1));
        assert_eq!(Graph::from_matrix(Semiring::MinPlus, matrix, true).weights, Array::I32(vec![7, 1, 1, NO]));
    }
}

//! From a list of edges, or a matrix as given, to the matrix that steps work on.

use super::Length;
use gpulab_model::data::Array;
use gpulab_model::{Error, Result};
use gpulab_model::{each_array, suggest};
use rayon::prelude::*;
use std::collections::HashMap;

/// Most nodes: their matrix takes more memory than machines have long before.
pub const MOST_NODES: usize = 1 << 20;

/// Names of nodes, each with its number from 0 in order of first appearance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names {
    list: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Names {
    /// So many names that are numbers from `first` on.
    pub fn counted(first: usize, n: usize) -> Names {
        let mut names = Names::default();
        (first..first + n).for_each(|number| _ = names.number(&number.to_string()));
        names
    }

    /// The number of a name, which is the next free one if the name is new.
    pub fn number(&mut self, name: &str) -> usize {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        self.list.push(name.to_owned());
        self.numbers.insert(name.to_owned(), self.list.len() - 1);
        self.list.len() - 1
    }

    /// All of them, in order.
    pub fn list(&self) -> &[String] {
        &self.list
    }

    /// The number of a name that someone typed.
    ///
    /// # Errors
    /// A sentence with the nearest names, if there is no such node.
    pub fn find(&self, name: &str) -> Result<usize> {
        self.numbers.get(name.trim()).copied().ok_or_else(|| {
            let near =
                suggest::did_you_mean(&suggest::nearest(name, &self.list, |known| known.as_str()));
            Error::Usage(format!(
                "there is no node `{name}` among the {}{near}",
                self.list.len()
            ))
        })
    }

    /// The numbers of these names, in order, of which each may be several between commas; of none those of all nodes.
    ///
    /// # Errors
    /// As [`Names::find`].
    pub fn find_all(&self, names: &[String]) -> Result<Vec<usize>> {
        if names.is_empty() {
            return Ok((0..self.list.len()).collect());
        }
        let mut nodes = Vec::new();
        for name in names {
            match self.numbers.get(name) {
                Some(&number) => nodes.push(number),
                None => {
                    for part in name.split(',') {
                        nodes.push(self.find(part)?);
                    }
                }
            }
        }
        nodes.sort_unstable();
        nodes.dedup();
        Ok(nodes)
    }
}

/// A graph as a file has it.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphFile {
    pub names: Names,
    /// Where each edge starts and ends; nothing of a square matrix, row after row.
    pub ends: Option<Vec<(usize, usize)>>,
    /// The edges' weights, or the matrix: [`Length::NO_EDGE`] where there is none.
    pub weights: Array,
    /// Most digits behind the point that a weight has; none if that is not known.
    pub decimals: Option<usize>,
    /// Whether each edge is in the list in both directions.
    pub both_ways: bool,
    /// What the file is, in words, and what its reader assumed.
    pub kind: String,
    pub notes: Vec<String>,
}

impl GraphFile {
    /// Takes the zeros of a matrix, but for those of its diagonal, for no edge; or else says that they are edges.
    pub fn take_zeros(&mut self, are_none: bool) {
        let n = self.names.list.len();
        if self.ends.is_some() {
            let note = "--zero-is-none is for a matrix: in a list, each line is an edge";
            self.notes.extend(are_none.then(|| note.to_owned()));
            return;
        }
        let zeros = each_array!(&mut self.weights, w => zeros(n, w, are_none));
        if zeros > 0 {
            self.notes.push(match are_none {
                true => format!("{zeros} weights are 0: no edges"),
                false => format!(
                    "{zeros} weights beside the diagonal are 0: edges that cost nothing (--zero-is-none: no edges)"
                ),
            });
        }
    }
}

/// How many elements beside the diagonal are zero; they become no edges if they are meant so.
fn zeros<T: Length>(n: usize, matrix: &mut [T], are_none: bool) -> usize {
    let mut count = 0;
    for (at, weight) in matrix.iter_mut().enumerate() {
        if *weight == T::ZERO && at / n != at % n {
            count += 1;
            if are_none {
                *weight = T::NO_EDGE;
            }
        }
    }
    count
}

/// A graph as the matrix of its edges' weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// The nodes: n of them.
    pub names: Names,
    /// n x n weights, row after row; [`Length::NO_EDGE`] where there is no edge.
    pub weights: Array,
    /// As of [`GraphFile`].
    pub decimals: Option<usize>,
    /// What was assumed, and what was left out.
    pub notes: Vec<String>,
}

impl Graph {
    /// In a list of edges staying costs 0, or the weight of a negative loop; a matrix is taken as it is. With `undirected` every
    /// edge leads both ways, and the smaller weight of both counts.
    pub fn new(file: GraphFile, undirected: bool) -> Graph {
        let GraphFile {
            names,
            ends,
            mut weights,
            decimals,
            both_ways,
            mut notes,
            ..
        } = file;
        let n = names.list.len();
        let undirected = undirected && !both_ways;
        match ends {
            Some(ends) => {
                weights =
                    each_array!(&weights, w => dense(n, &ends, w, undirected, &mut notes).into())
            }
            None if undirected => each_array!(&mut weights, w => symmetrise(n, w)),
            None => {}
        }
        Graph {
            names,
            weights,
            decimals,
            notes,
        }
    }

    /// How many nodes there are.
    pub fn size(&self) -> usize {
        self.names.list.len()
    }

    /// Whether some edge has a negative weight.
    pub fn has_negative(&self) -> bool {
        each_array!(&self.weights, w => w.par_iter().any(|x| x.widened() < 0.0))
    }
}

/// The matrix of a list of edges.
fn dense<T: Length>(
    n: usize,
    ends: &[(usize, usize)],
    weights: &[T],
    undirected: bool,
    notes: &mut Vec<String>,
) -> Vec<T> {
    let mut matrix = vec![T::NO_EDGE; n * n];
    (0..n).for_each(|i| matrix[i * n + i] = T::ZERO);
    let mut duplicates = 0;
    let mut idle_loops = 0;
    for (&(from, to), &weight) in ends
        .iter()
        .zip(weights)
        .filter(|(_, weight)| weight.is_some())
    {
        duplicates += usize::from(from != to && matrix[from * n + to].is_some());
        idle_loops += usize::from(from == to && weight >= T::ZERO);
        lower(&mut matrix[from * n + to], weight);
        if undirected {
            lower(&mut matrix[to * n + from], weight);
        }
    }
    if duplicates > 0 {
        notes.push(format!(
            "duplicate edges: {duplicates}; the smallest weight counts"
        ));
    }
    if idle_loops > 0 {
        notes.push(format!(
            "edges from a node to itself: {idle_loops}, left out as they shorten no path"
        ));
    }
    matrix
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

#[cfg(test)]
mod tests {
    use super::*;

    const NO: i32 = i32::NO_EDGE;

    #[test]
    fn zeros_beside_the_diagonal_are_edges_or_none() {
        for (are_none, want) in [(false, [0, 0, 7, 0]), (true, [0, NO, 7, 0])] {
            let mut weights = [0, 0, 7, 0];
            assert_eq!((zeros(2, &mut weights, are_none), weights), (1, want));
        }
    }

    #[test]
    fn an_unknown_name_gets_the_nearest() {
        let mut names = Names::default();
        ["Lisbon", "Paris", "Prague", "Lisbon", "San Marino"]
            .iter()
            .for_each(|name| _ = names.number(name));
        assert_eq!(names.list(), ["Lisbon", "Paris", "Prague", "San Marino"]);
        let why = |name: &str| names.find(name).unwrap_err().to_string();
        assert!(
            why("lisbon").ends_with("did you mean `Lisbon`?")
                && why("Pariss").contains("did you mean `Paris`")
        );
        assert!(!why("Xyzzy").contains("did you mean") && names.find("").is_err());
        assert_eq!(names.find(" Paris ").unwrap(), 1);
        let all = |wanted: &str| {
            names
                .find_all(&[wanted.to_owned()])
                .map_err(|error| error.to_string())
        };
        assert_eq!(
            (all("Prague,Paris"), all("Paris,Xyzzy").is_err()),
            (Ok(vec![1, 2]), true)
        );
    }

    fn graph(edges: &[(&str, &str, i32)], undirected: bool) -> (Array, Vec<String>) {
        let mut names = Names::default();
        let ends = edges
            .iter()
            .map(|(from, to, _)| (names.number(from), names.number(to)))
            .collect();
        let weights = Array::I32(edges.iter().map(|edge| edge.2).collect());
        let file = GraphFile {
            names,
            ends: Some(ends),
            weights,
            decimals: None,
            both_ways: false,
            kind: String::new(),
            notes: Vec::new(),
        };
        let graph = Graph::new(file, undirected);
        (graph.weights, graph.notes)
    }

    #[test]
    fn edges_become_a_matrix() {
        for (edges, undirected, want, notes) in [
            (
                &[("a", "b", 5), ("a", "b", 3), ("a", "b", 4), ("b", "a", 1)][..],
                false,
                vec![0, 3, 1, 0],
                &["duplicate edges: 2; the smallest weight counts"][..],
            ),
            (
                &[("a", "b", 5), ("b", "a", 2), ("b", "c", 7)],
                true,
                vec![0, 2, NO, 2, 0, 7, NO, 7, 0],
                &["duplicate edges: 1; the smallest weight counts"],
            ),
            (
                &[("a", "a", 5), ("b", "b", -2), ("a", "b", NO)],
                false,
                vec![0, NO, NO, -2],
                &["edges from a node to itself: 1, left out as they shorten no path"],
            ),
        ] {
            let (weights, told) = graph(edges, undirected);
            assert_eq!(
                (weights, told),
                (
                    Array::I32(want),
                    notes.iter().map(|note| (*note).to_owned()).collect()
                )
            );
        }
    }

    #[test]
    fn a_matrix_is_taken_as_it_is() {
        let of = |undirected| {
            let weights = Array::I32(vec![7, 1, NO, NO]);
            let names = Names::counted(0, 2);
            let file = GraphFile {
                names,
                ends: None,
                weights,
                decimals: None,
                both_ways: false,
                kind: String::new(),
                notes: Vec::new(),
            };
            Graph::new(file, undirected).weights
        };
        assert_eq!(
            (of(false), of(true)),
            (
                Array::I32(vec![7, 1, NO, NO]),
                Array::I32(vec![7, 1, 1, NO])
            )
        );
    }
}

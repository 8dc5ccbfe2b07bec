//! Distances from weights, by a device that computes them, and what rules them out.

use super::proof::Incoming;
use super::{Graph, Length};
use gpulab_model::data::{Array, Dtype};
use gpulab_model::{Error, Result, each_array, same_type, usage_error};
use rayon::prelude::*;

/// What makes n x n lengths of n x n lengths: one min-plus step, or all shortest distances.
pub type Compute<'a> = dyn FnMut(&Array) -> Result<Array> + 'a;

/// Distances by at most one node in between, of a matrix as given: one step.
///
/// # Errors
/// What the step says.
pub fn one_stop(graph: &Graph, step: &mut Compute<'_>) -> Result<Array> {
    let mut distances = step(&graph.weights)?;
    each_array!(&mut distances, d => normalise(d));
    Ok(distances)
}

/// The lengths that are no paths are all written in one way.
fn normalise<T: Length>(lengths: &mut [T]) {
    lengths
        .par_iter_mut()
        .filter(|x| **x >= T::FAR)
        .for_each(|x| *x = T::NO_EDGE);
}

/// Shortest distances between all pairs of nodes, as `all` computes them. Staying costs nothing, in the graph too.
///
/// **Sums that leave the type.** Lengths only ever become shorter. If some distance reaches [`Length::LIMIT`], take one with
/// the fewest edges: the distances along its path are within the limit, so that it is below [`Length::FAR`] and is computed
/// as any other. It is found here. So is a sum that overflows: one of the two added was beyond the limit before.
/// A negative cycle gives a node a negative distance from itself as soon as its last node may be passed.
///
/// # Errors
/// A negative cycle, lengths beyond [`Length::LIMIT`], and what `all` says.
pub fn closure(graph: &mut Graph, all: &mut Compute<'_>) -> Result<Array> {
    let n = graph.size();
    each_array!(&mut graph.weights, w => w.iter_mut().step_by(n + 1).for_each(|x| {
        if x.widened() > 0.0 {
            *x = Length::ZERO;
        }
    }));
    check(graph, &graph.weights)?;
    let distances = if n > 1 {
        one_stop(graph, all)?
    } else {
        graph.weights.clone()
    };
    check(graph, &distances)?;
    Ok(distances)
}

fn check(graph: &Graph, distances: &Array) -> Result<()> {
    // What changes the type has no distances of these weights.
    same_type!((distances, &graph.weights), |d, w| check_type(graph, d, w), else Ok(()))
}

fn check_type<T: Length>(graph: &Graph, distances: &[T], weights: &[T]) -> Result<()> {
    let n = graph.size();
    if let Some(node) = (0..n).find(|i| distances[i * n + i] < T::ZERO) {
        // Sums of weights that are not negative, or not rounded, are never negative: the proof says what is wrong.
        let may_round = T::ROUNDOFF > 0.0 && weights.iter().any(|weight| *weight < T::ZERO);
        let length = distances[node * n + node].widened();
        let rounded = may_round.then(|| NegativeCycle {
            nodes: vec![node],
            length,
            doubtful: true,
        });
        let cycle = negative_cycle(n, weights).or(rounded);
        return cycle.map_or(Ok(()), |cycle| Err(cycle.refusal(graph)));
    }
    let Some((at, length)) = beyond_limit(distances) else {
        return Ok(());
    };
    // Going around a cycle may leave the limits before it comes back to where it began.
    if let Some(cycle) = negative_cycle(n, weights).filter(|_| length < 0.0) {
        return Err(cycle.refusal(graph));
    }
    let [from, to] = [at / n, at % n].map(|node| &graph.names.list()[node]);
    let dtype = graph.weights.dtype();
    let advice = if dtype == Dtype::F64 {
        "a larger unit"
    } else {
        "--dtype f64"
    };
    let length = distances[at].text();
    usage_error(format!(
        "the distance from {from} to {to} has become {length}, too large to be added to in {dtype}: choose {advice}"
    ))
}

/// A length that is too large to be added to, and its place: the first of those below 0 if there are any.
fn beyond_limit<T: Length>(lengths: &[T]) -> Option<(usize, f64)> {
    let limit = T::LIMIT.widened();
    let below = lengths.par_iter().position_first(|x| x.widened() <= -limit);
    let at = below.or_else(|| {
        lengths
            .par_iter()
            .position_first(|x| x.is_some() && x.widened() >= limit)
    })?;
    Some((at, lengths[at].widened()))
}

/// A cycle whose weights add up to less than zero.
#[derive(Clone, Debug, PartialEq)]
pub struct NegativeCycle {
    /// Its nodes in order, each once. Only one of them if rounding alone makes the cycle negative.
    pub nodes: Vec<usize>,
    /// The sum of its weights.
    pub length: f64,
    /// Whether the length is so small beside the weights that rounding them may have made it negative.
    pub doubtful: bool,
}

impl NegativeCycle {
    fn refusal(&self, graph: &Graph) -> Error {
        const MOST: usize = 10;
        let around = self.nodes.iter().chain(self.nodes.first());
        let mut names: Vec<&str> = around
            .map(|&node| graph.names.list()[node].as_str())
            .collect();
        if names.len() > MOST {
            names.splice(MOST - 2..names.len() - 1, ["..."]);
        }
        let doubt = match self.doubtful {
            true => {
                ". Rounding may have made it negative: choose --dtype f64, or whole weights and --dtype i32"
            }
            false => "",
        };
        Error::Usage(format!(
            "there are no shortest distances, as a negative cycle makes paths ever shorter: {} has length {}{doubt}",
            names.join(" -> "),
            self.length.text()
        ))
    }
}

/// A negative cycle of a matrix of n x n weights, if there is one that f64 sums can tell.
///
/// Bellman and Ford's relaxation from all nodes at once, with a look after each round for a cycle among the nodes'
/// predecessors, which is a negative one: B. V. Cherkassky and A. V. Goldberg, "Negative-cycle detection algorithms",
/// Mathematical Programming 85 (1999). At most n rounds over all edges; a short cycle is found in few.
pub fn negative_cycle<T: Length>(n: usize, weights: &[T]) -> Option<NegativeCycle> {
    if let Some(i) = (0..n).find(|i| weights[i * n + i] < T::ZERO) {
        return Some(NegativeCycle {
            nodes: vec![i],
            length: weights[i * n + i].widened(),
            doubtful: false,
        });
    }
    let incoming = Incoming::new(n, weights, |_| true);
    let mut lengths = vec![0.0; n];
    let mut before = vec![None; n];
    for _ in 0..n {
        let mut changed = false;
        for to in 0..n {
            for &(from, weight) in incoming.of(to) {
                let length = lengths[from as usize] + weight.widened();
                if length < lengths[to] {
                    lengths[to] = length;
                    before[to] = Some(from as usize);
                    changed = true;
                }
            }
        }
        if !changed {
            return None;
        }
        let found = around(&before)
            .map(|nodes| measured(n, weights, nodes))
            .filter(|cycle| cycle.length < 0.0);
        if found.is_some() {
            return found;
        }
    }
    None
}

/// A cycle of predecessors, in the direction of the edges.
fn around(before: &[Option<usize>]) -> Option<Vec<usize>> {
    // The walk on which a node was first seen; 0 for none.
    let mut seen = vec![0; before.len()];
    for start in 0..before.len() {
        let walk = start + 1;
        let mut at = start;
        while seen[at] == 0 {
            seen[at] = walk;
            match before[at] {
                Some(previous) => at = previous,
                None => break,
            }
        }
        if seen[at] == walk && before[at].is_some() {
            let around = std::iter::successors(before[at], |&node| {
                (node != at).then(|| before[node]).flatten()
            });
            let mut nodes: Vec<usize> = around.collect();
            nodes.reverse();
            return Some(nodes);
        }
    }
    None
}

/// A cycle with the sum of its weights.
fn measured<T: Length>(n: usize, weights: &[T], nodes: Vec<usize>) -> NegativeCycle {
    let next = nodes.iter().cycle().skip(1);
    let edges: Vec<f64> = nodes
        .iter()
        .zip(next)
        .map(|(&i, &k)| weights[i * n + k].widened())
        .collect();
    let length = edges.iter().sum::<f64>();
    let magnitude = edges.iter().map(|w| w.abs()).sum::<f64>();
    // Each weight may be half a unit in its last place from what was meant.
    let doubtful = length.is_finite() && -length <= T::ROUNDOFF * magnitude;
    NegativeCycle {
        nodes,
        length,
        doubtful,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO: f64 = f64::INFINITY;

    #[test]
    fn a_cycle_is_found_with_its_nodes_and_length() {
        // 0 -> 1 -> 2 -> 3 -> 1, and back to 0.
        let weights = [
            0.0, 1.0, NO, NO, 5.0, 0.0, 2.0, NO, NO, NO, 0.0, -4.0, NO, 1.5, NO, 0.0,
        ];
        let found = negative_cycle(4, &weights).unwrap();
        assert_eq!((found.length, found.doubtful), (-0.5, false));
        let first = found.nodes.iter().position(|&i| i == 1).unwrap();
        let order: Vec<usize> = (0..3).map(|i| found.nodes[(first + i) % 3]).collect();
        assert_eq!(order, [1, 2, 3]);
        assert_eq!(
            negative_cycle(3, &[0, -1, -5, i32::NO_EDGE, 0, -3, 5, i32::NO_EDGE, 0]),
            None
        );
        assert_eq!(negative_cycle(2, &[0, 1, 1, -3]).unwrap().nodes, [1]);
    }

    #[test]
    fn what_rounding_may_have_made_is_told() {
        let mut weights = vec![f32::INFINITY; 9];
        (weights[1], weights[5], weights[6]) = (0.1, 0.7, -0.8);
        (0..3).for_each(|i| weights[i * 3 + i] = 0.0);
        assert!(negative_cycle(3, &weights).unwrap().doubtful);
        weights[6] = -0.9;
        assert!(!negative_cycle(3, &weights).unwrap().doubtful);
    }
}

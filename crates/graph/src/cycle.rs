//! Cycles of negative length: with one there is no shortest path, as going around it once more is shorter.

use super::Length;
use super::adjacency::Incoming;

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

/// A negative cycle of a matrix of n x n weights, if there is one that f64 sums can tell.
///
/// Bellman and Ford's relaxation from all nodes at once, with a look after each round for a cycle among the nodes'
/// predecessors, which is a negative one: B. V. Cherkassky and A. V. Goldberg, "Negative-cycle detection algorithms",
/// Mathematical Programming 85 (1999). At most n rounds over all edges; a short cycle is found in few.
pub fn find<T: Length>(n: usize, weights: &[T]) -> Option<NegativeCycle> {
    if let Some(i) = (0..n).find(|i| weights[i * n + i] < T::ZERO) {
        return Some(NegativeCycle { nodes: vec![i], length: weights[i * n + i].widened(), doubtful: false });
    }
    let incoming = Incoming::new(n, weights, |_| true);
    let mut lengths = vec![0.0; n];
    let mut before = vec![None; n];
    for _ in 0..n {
        if !relax(&incoming, &mut lengths, &mut before) {
            return None;
        }
        let found = cycle(&before).map(|nodes| measure(n, weights, nodes)).filter(|cycle| cycle.length < 0.0);
        if found.is_some() {
            return found;
        }
    }
    None
}

/// One round; whether anything became shorter.
fn relax<T: Length>(incoming: &Incoming<T>, lengths: &mut [f64], before: &mut [Option<usize>]) -> bool {
    let mut changed = false;
    for to in 0..lengths.len() {
        for &(from, weight) in incoming.of(to) {
            let length = lengths[from as usize] + weight.widened();
            if length < lengths[to] {
                (lengths[to], before[to], changed) = (length, Some(from as usize), true);
            }
        }
    }
    changed
}

/// A cycle of predecessors, in the direction of the edges.
fn cycle(before: &[Option<usize>]) -> Option<Vec<usize>> {
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
            let around = std::iter::successors(before[at], |&node| (node != at).then(|| before[node]).flatten());
            let mut nodes: Vec<usize> = around.collect();
            nodes.reverse();
            return Some(nodes);
        }
    }
    None
}

/// A cycle with the sum of its weights.
fn measure<T: Length>(n: usize, weights: &[T], nodes: Vec<usize>) -> NegativeCycle {
    let next = nodes.iter().cycle().skip(1);
    let edges: Vec<f64> = nodes.iter().zip(next).map(|(&i, &k)| weights[i * n + k].widened()).collect();
    let length = edges.iter().sum::<f64>();
    let magnitude = edges.iter().map(|w| w.abs()).sum::<f64>();
    // Each weight may be half a unit in its last place from what was meant.
    let doubtful = length.is_finite() && -length <= T::ROUNDOFF * magnitude;
    NegativeCycle { nodes, length, doubtful }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO: f64 = f64::INFINITY;

    #[test]
    fn a_cycle_is_found_with_its_nodes_and_length() {
        // 0 -> 1 -> 2 -> 3 -> 1, and back to 0.
        let weights = [0.0, 1.0, NO, NO, 5.0, 0.0, 2.0, NO, NO, NO, 0.0, -4.0, NO, 1.5, NO, 0.0];
        let found = find(4, &weights).unwrap();
        assert_eq!((found.length, found.doubtful), (-0.5, false));
        let first = found.nodes.iter().position(|&i| i == 1).unwrap();
        let order: Vec<usize> = (0..3).map(|i| found.nodes[(first + i) % 3]).collect();
        assert_eq!(order, [1, 2, 3]);
    }

    #[test]
    fn negative_edges_alone_are_no_cycle() {
        assert_eq!(find(3, &[0, -1, -5, i32::NO_EDGE, 0, -3, 5, i32::NO_EDGE, 0]), None);
        assert_eq!(find(2, &[0, -1, 1, 0]), None);
        assert_eq!(find::<f32>(0, &[]), None);
    }

    #[test]
    fn a_negative_loop_is_a_cycle_of_one() {
        assert_eq!(find(2, &[0, 1, 1, -3]).unwrap().nodes, [1]);
    }

    #[test]
    fn what_rounding_may_have_made_is_told() {
        let mut weights = vec![f32::INFINITY; 9];
        (weights[1], weights[5], weights[6]) = (0.1, 0.7, -0.8);
        (0..3).for_each(|i| weights[i * 3 + i] = 0.0);
        assert!(find(3, &weights).unwrap().doubtful);
        weights[6] = -0.9;
        assert!(!find(3, &weights).unwrap().doubtful);
    }
}

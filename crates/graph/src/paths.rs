//! The next node on a shortest path, from the edges and the finished distances.

use super::Length;
use super::adjacency::Incoming;
use gpulab_model::check::gamma;
use gpulab_model::data::Array;
use gpulab_model::same_type;
use rayon::prelude::*;

const NONE: u32 = u32::MAX;

/// For each target, the next node from everywhere.
#[derive(Clone, Debug, PartialEq)]
pub struct NextHops {
    /// By target: n nodes, or nothing for a target that was not asked for.
    toward: Vec<Vec<u32>>,
}

impl NextHops {
    /// The node after `from` on a shortest path to `to`. `None` if there is no path, if `from` is `to`, and if `to` is
    /// no target that was asked for.
    pub fn next(&self, from: usize, to: usize) -> Option<usize> {
        self.toward.get(to)?.get(from).filter(|&&next| next != NONE).map(|&next| next as usize)
    }
}

/// Distances that no paths over the edges have: from the first node to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch(pub usize, pub usize);

/// The next nodes on shortest paths to `targets`, from the `n` x `n` weights and distances of a
/// [closure](super::closure()).
///
/// An edge (v, k) lies on a shortest path to j if it is tight: w(v, k) + d(k, j) = d(v, j). Tight edges can make
/// cycles, where a cycle's length is zero. So from each j a breadth-first search walks backwards over tight edges; its
/// tree is what is returned. Following it always ends at j and uses fewest edges, as far as tightness is exact.
///
/// **Rounding.** How far from tight can the edges of truly shortest paths be? Let s be ceil(log2(n)), the most steps that
/// a closure makes; no sum has more than 2^s edges. For an edge (v, k) of such a path let Q be the rest of it, from k to
/// j. d(k, j) is at most the sum of Q added in a balanced tree, which is within gamma(s) A(Q) of the true distance; A is
/// the sum of the weights' magnitudes. d(v, j) is the rounded sum of some walk W, no shorter than the true distance, so
/// it is at least that less gamma(s) A(W). Therefore w(v, k) + d(k, j) - d(v, j) <= gamma(s) (A(Q) + A(W)).
///
/// *No negative weights*: A(Q) and A(W) are at most d(v, j) / (1 - gamma(s)), so the bound is gamma(2 s) d(v, j). Edges
/// count as tight within gamma(2 s + 4) d(v, j), which has room for this function's own roundings: the search reaches
/// every node that has a distance, and no edge adds more than this to the length of a path. Edges that are longer than
/// d(v, k) by more than the like bound are on no shortest path, and are left out beforehand.
///
/// *Negative weights* may leave a distance much smaller than A. Nodes that the search misses are looked for again with
/// an absolute tolerance, doubled each time, up to gamma(2 s + 4) 2^s max |w|: neither Q nor W has more than 2^s edges.
/// *Integers* are exact: the tolerance is zero.
///
/// # Errors
/// Distances that are not those of these edges.
pub fn next_hops(n: usize, weights: &Array, distances: &Array, targets: &[usize]) -> Result<NextHops, Mismatch> {
    same_type!((weights, distances), |w, d| hops(n, w, d, targets), else Err(Mismatch(0, 0)))
}

fn hops<T: Length>(n: usize, w: &[T], d: &[T], targets: &[usize]) -> Result<NextHops, Mismatch> {
    let tolerance = Tolerance::new(n, w);
    let incoming = Incoming::new(n, w, |at| tolerance.is_shortest(w[at], d[at]));
    let mut toward = vec![Vec::new(); n];
    let found = targets.par_iter().map(|&target| {
        let column: Vec<T> = (0..n).map(|i| d[i * n + target]).collect();
        let search = Search::new(target, &incoming, &column);
        search.run(&tolerance).map(|next| (target, next)).map_err(|missed| Mismatch(missed, target))
    });
    for (target, next) in found.collect::<Result<Vec<_>, _>>()? {
        toward[target] = next;
    }
    Ok(NextHops { toward })
}

/// How far from tight an edge may be.
struct Tolerance {
    /// Relative to the largest of the three lengths.
    relative: f64,
    /// The first absolute one, and the last; both zero without negative weights.
    least: f64,
    most: f64,
}

impl Tolerance {
    fn new<T: Length>(n: usize, weights: &[T]) -> Tolerance {
        let steps = n.next_power_of_two().trailing_zeros();
        let edges =
            || (0..n * n).filter(|at| at / n != at % n && weights[*at].is_some()).map(|at| weights[at].widened());
        let relative = gamma(2 * u64::from(steps) + 4, T::ROUNDOFF).unwrap_or(1.0);
        let heaviest = if edges().any(|w| w < 0.0) { edges().map(f64::abs).fold(0.0, f64::max) } else { 0.0 };
        let least = relative * heaviest;
        Tolerance { relative, least, most: least * 2f64.powi(steps.cast_signed()) }
    }

    /// Whether an edge may be a shortest path between its own ends, without which it is on none.
    fn is_shortest<T: Length>(&self, weight: T, distance: T) -> bool {
        let (weight, distance) = (weight.widened(), distance.widened());
        weight - distance <= (self.relative * weight.abs().max(distance.abs())).max(self.most)
    }
}

/// A search backwards from one target.
struct Search<'a, T> {
    incoming: &'a Incoming<T>,
    /// Each node's distance to the target.
    column: &'a [T],
    next: Vec<u32>,
    /// Nodes in the order in which they were reached, the target first.
    reached: Vec<u32>,
}

impl<T: Length> Search<'_, T> {
    fn new<'a>(target: usize, incoming: &'a Incoming<T>, column: &'a [T]) -> Search<'a, T> {
        let mut next = vec![NONE; column.len()];
        // So that no edge out of the target is taken; taken back at the end.
        next[target] = target as u32;
        Search { incoming, column, next, reached: vec![target as u32] }
    }

    /// The next nodes, or a node that has a distance but no path.
    fn run(mut self, tolerance: &Tolerance) -> Result<Vec<u32>, usize> {
        let wanted = self.column.iter().filter(|d| d.is_some()).count();
        let mut absolute = 0.0;
        loop {
            self.sweep(tolerance.relative, absolute);
            if self.reached.len() >= wanted {
                let target = self.reached[0] as usize;
                self.next[target] = NONE;
                return Ok(self.next);
            }
            absolute = if absolute == 0.0 { tolerance.least } else { absolute * 2.0 };
            if absolute == 0.0 || absolute > tolerance.most {
                return Err(self.missed());
            }
        }
    }

    /// Breadth first from all that was reached.
    fn sweep(&mut self, relative: f64, absolute: f64) {
        let mut head = 0;
        while let Some(&k) = self.reached.get(head) {
            let rest = self.column[k as usize].widened();
            for &(i, weight) in self.incoming.of(k as usize) {
                let at = i as usize;
                if self.next[at] != NONE || !self.column[at].is_some() {
                    continue;
                }
                let (whole, weight) = (self.column[at].widened(), weight.widened());
                let allowed = relative * whole.abs().max(weight.abs()).max(rest.abs());
                if weight + rest - whole <= allowed.max(absolute) {
                    self.next[at] = k;
                    self.reached.push(i);
                }
            }
            head += 1;
        }
    }

    fn missed(&self) -> usize {
        let missed = |i: &usize| self.next[*i] == NONE && self.column[*i].is_some();
        (0..self.next.len()).find(missed).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO: i32 = i32::NO_EDGE;

    #[test]
    fn zero_cycles_do_not_catch_a_path() {
        // 0 <-> 1 cost nothing; 1 -> 2 costs 5, 0 -> 2 costs 5 too.
        let weights = Array::I32(vec![0, 0, 5, 0, 0, 5, NO, NO, 0]);
        let hops = next_hops(3, &weights, &weights, &[0, 1, 2]).unwrap();
        assert_eq!((hops.next(0, 2), hops.next(1, 2), hops.next(0, 1)), (Some(2), Some(2), Some(1)));
        assert_eq!((hops.next(2, 0), hops.next(0, 0)), (None, None));
    }

    #[test]
    fn only_targets_that_were_asked_for_are_there() {
        let weights = Array::I32(vec![0, 1, 1, 0]);
        let hops = next_hops(2, &weights, &weights, &[1]).unwrap();
        assert_eq!((hops.next(0, 1), hops.next(1, 0)), (Some(1), None));
    }

    #[test]
    fn distances_of_other_edges_are_refused() {
        let weights = Array::I32(vec![0, 4, NO, 0]);
        let wrong = Array::I32(vec![0, 3, NO, 0]);
        assert_eq!(next_hops(2, &weights, &wrong, &[0, 1]), Err(Mismatch(0, 1)));
        let wrong = Array::F32(vec![0.0, 3.9, f32::INFINITY, 0.0]);
        let weights = Array::F32(vec![0.0, 4.0, f32::INFINITY, 0.0]);
        assert_eq!(next_hops(2, &weights, &wrong, &[1]), Err(Mismatch(0, 1)));
    }
}

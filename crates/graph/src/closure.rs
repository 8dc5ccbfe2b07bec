//! Shortest distances by squaring.

use super::Length;
use super::cycle::{self, NegativeCycle};
use super::length::{beyond_limit, normalise};
use gpulab_model::data::Array;
use gpulab_model::each_array;
use gpulab_model::same_type;

/// One min-plus step: from n x n lengths d to the n x n lengths r\[i\]\[j\] = min over k of d\[i\]\[k\] + d\[k\]\[j\].
pub type Step<'a, E> = dyn FnMut(&Array) -> Result<Array, E> + 'a;

/// All shortest distances.
#[derive(Clone, Debug, PartialEq)]
pub struct Closure {
    /// The weights that they belong to: those given, with what staying costs on the diagonal.
    pub weights: Array,
    /// n x n distances, row after row; [`Length::NO_EDGE`] where there is no path.
    pub distances: Array,
    /// Steps that were made.
    pub steps: u32,
}

/// Why there are no distances.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Stopped<E> {
    /// The step failed.
    #[error("{0}")]
    Step(E),
    /// Going around a cycle makes paths ever shorter.
    #[error("a cycle has the negative length {}", .0.length)]
    Negative(NegativeCycle),
    /// A distance has become too large for another step: only so large a sum could be taken for a missing path.
    #[error("a distance has become {}", .0.text())]
    TooFar(f64),
}

/// Distances by at most one node in between, of a matrix as given: one step.
///
/// # Errors
/// What the step says.
pub fn one_stop<E>(weights: &Array, step: &mut Step<'_, E>) -> Result<Array, Stopped<E>> {
    let mut distances = step(weights).map_err(Stopped::Step)?;
    each_array!(&mut distances, v => normalise(v));
    Ok(distances)
}

/// Shortest distances between all pairs of `n` nodes: the step of its own result, until nothing changes or all paths
/// have been tried. Staying costs nothing.
///
/// After s steps every path of up to 2^s edges has been tried, so ceil(log2(n)) steps are enough, and they find every
/// negative cycle (T. H. Cormen et al., "Introduction to Algorithms", "Shortest paths and matrix multiplication").
/// Further steps could only change how sums are rounded. A distance is the least rounded sum over all paths, added in
/// trees of depth s: it is within gamma(s) A of the shortest, where A is the sum of the magnitudes of the weights along
/// it (N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, section 4.2).
///
/// # Errors
/// A negative cycle, lengths beyond [`Length::LIMIT`], and what the step says.
pub fn closure<E>(n: usize, mut weights: Array, step: &mut Step<'_, E>) -> Result<Closure, Stopped<E>> {
    each_array!(&mut weights, w => (0..n).for_each(|i| stay(&mut w[i * n + i])));
    let mut distances = weights.clone();
    let most = n.next_power_of_two().trailing_zeros();
    let mut steps = 0;
    check_types(n, &distances, &weights)?;
    while steps < most {
        let shorter = one_stop(&distances, step)?;
        steps += 1;
        check_types(n, &shorter, &weights)?;
        let settled = shorter == distances;
        distances = shorter;
        if settled {
            break;
        }
    }
    Ok(Closure { weights, distances, steps })
}

/// What staying costs: nothing, or less.
fn stay<T: Length>(diagonal: &mut T) {
    if *diagonal > T::ZERO {
        *diagonal = T::ZERO;
    }
}

fn check_types<E>(n: usize, distances: &Array, weights: &Array) -> Result<(), Stopped<E>> {
    // A step that changes the type has no distances of these weights.
    same_type!((distances, weights), |d, w| check(n, d, w), else Ok(()))
}

fn check<T: Length, E>(n: usize, distances: &[T], weights: &[T]) -> Result<(), Stopped<E>> {
    if let Some(node) = (0..n).find(|i| distances[i * n + i] < T::ZERO) {
        let rounded =
            || NegativeCycle { nodes: vec![node], length: distances[node * n + node].widened(), doubtful: true };
        return Err(Stopped::Negative(cycle::find(n, weights).unwrap_or_else(rounded)));
    }
    let Some(length) = beyond_limit(distances).next() else { return Ok(()) };
    // Going around a cycle may leave the limits before it comes back to where it began.
    let far_below = beyond_limit(distances).any(|length| length < 0.0);
    let cycle = if far_below { cycle::find(n, weights) } else { None };
    Err(cycle.map_or(Stopped::TooFar(length), Stopped::Negative))
}

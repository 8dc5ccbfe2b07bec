//! Distances from weights, by a device that computes them, and what rules them out.

use super::Length;
use super::cycle::{self, NegativeCycle};
use super::length::{beyond_limit, normalise};
use super::semiring::staying;
use gpulab_cpu::minplus::{EdgeJoin, Semiring};
use gpulab_model::data::Array;
use gpulab_model::each_array;
use gpulab_model::same_type;

/// What makes n x n lengths of n x n lengths: one min-plus step, or all shortest distances.
pub type Compute<'a, E> = dyn FnMut(&Array) -> Result<Array, E> + 'a;

/// All shortest distances.
#[derive(Clone, Debug, PartialEq)]
pub struct Closure {
    /// The weights that they belong to: those given, with what staying costs on the diagonal.
    pub weights: Array,
    /// n x n distances, row after row; [`Length::NO_EDGE`] where there is no path.
    pub distances: Array,
}

/// Why there are no distances.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Stopped<E> {
    /// They could not be computed.
    #[error("{0}")]
    Compute(E),
    /// Going around a cycle makes paths ever shorter.
    #[error("a cycle has the negative length {}", .0.length)]
    Negative(NegativeCycle),
    /// A distance has become too large to be added to: only so large a sum could be taken for a missing path.
    #[error("a distance has become {}", .length.text())]
    TooFar { from: usize, to: usize, length: f64 },
}

/// Distances by at most one node in between, of a matrix as given: one step.
///
/// # Errors
/// What the step says.
pub fn one_stop<E>(weights: &Array, step: &mut Compute<'_, E>) -> Result<Array, Stopped<E>> {
    let mut distances = step(weights).map_err(Stopped::Compute)?;
    each_array!(&mut distances, v => normalise(v));
    Ok(distances)
}

/// Shortest distances between all pairs of `n` nodes, as `all` computes them. Staying costs nothing.
///
/// **Sums that leave the type.** Lengths only ever become shorter. If some distance reaches [`Length::LIMIT`], take one with
/// the fewest edges: the distances along its path are within the limit, so that it is below [`Length::FAR`] and is computed
/// as any other. It is found here. So is a sum that overflows: one of the two added was beyond the limit before.
/// A negative cycle gives a node a negative distance from itself as soon as its last node may be passed.
///
/// # Errors
/// A negative cycle, lengths beyond [`Length::LIMIT`], and what `all` says.
pub fn closure<E>(
    semiring: Semiring,
    n: usize,
    mut weights: Array,
    all: &mut Compute<'_, E>,
) -> Result<Closure, Stopped<E>> {
    each_array!(&mut weights, w => (0..n).for_each(|i| stay(&mut w[i * n + i], staying(semiring))));
    // Choosing one of two lengths neither goes around nor leaves the type.
    let adds = semiring.join() == EdgeJoin::Sum;
    if adds {
        check_types(n, &weights, &weights)?;
    }
    let distances = if n > 1 { one_stop(&weights, all)? } else { weights.clone() };
    if adds {
        check_types(n, &distances, &weights)?;
    }
    Ok(Closure { weights, distances })
}

/// Shortest distances from some of `n` nodes, of weights none of which is below 0, as `rows` computes them of the weights and
/// of the first edges: a row for each.
///
/// # Errors
/// Lengths beyond [`Length::LIMIT`], and what `rows` says.
pub fn from_some<E>(
    semiring: Semiring,
    n: usize,
    mut weights: Array,
    sources: &[usize],
    rows: &mut dyn FnMut(&[Array]) -> Result<Array, E>,
) -> Result<Closure, Stopped<E>> {
    each_array!(&mut weights, w => (0..n).for_each(|i| stay(&mut w[i * n + i], staying(semiring))));
    let first: Array = each_array!(&weights, w => {
        sources.iter().flat_map(|from| w[from * n..][..n].iter().copied()).collect::<Vec<_>>().into()
    });
    let inputs = [weights, first];
    let mut distances = rows(&inputs).map_err(Stopped::Compute)?;
    each_array!(&mut distances, v => normalise(v));
    let beyond = each_array!(&distances, d => beyond_limit(d));
    let [weights, _] = inputs;
    match beyond {
        Some((at, length)) if semiring.join() == EdgeJoin::Sum => {
            Err(Stopped::TooFar { from: sources[at / n], to: at % n, length })
        }
        _ => Ok(Closure { weights, distances }),
    }
}

/// What staying costs: nothing, or less.
fn stay<T: Length>(diagonal: &mut T, staying: T) {
    if *diagonal > staying {
        *diagonal = staying;
    }
}

fn check_types<E>(n: usize, distances: &Array, weights: &Array) -> Result<(), Stopped<E>> {
    // What changes the type has no distances of these weights.
    same_type!((distances, weights), |d, w| check(n, d, w), else Ok(()))
}

fn check<T: Length, E>(n: usize, distances: &[T], weights: &[T]) -> Result<(), Stopped<E>> {
    if let Some(node) = (0..n).find(|i| distances[i * n + i] < T::ZERO) {
        // Sums of weights that are not negative, or not rounded, are never negative: the proof says what is wrong.
        let may_round = T::ROUNDOFF > 0.0 && weights.iter().any(|weight| *weight < T::ZERO);
        let rounded =
            || NegativeCycle { nodes: vec![node], length: distances[node * n + node].widened(), doubtful: true };
        let cycle = cycle::find(n, weights).or_else(|| may_round.then(rounded));
        return cycle.map_or(Ok(()), |cycle| Err(Stopped::Negative(cycle)));
    }
    let Some((at, length)) = beyond_limit(distances) else { return Ok(()) };
    // Going around a cycle may leave the limits before it comes back to where it began.
    let cycle = if length < 0.0 { cycle::find(n, weights) } else { None };
    Err(cycle.map_or(Stopped::TooFar { from: at / n, to: at % n, length }, Stopped::Negative))
}

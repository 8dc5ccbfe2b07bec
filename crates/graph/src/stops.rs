//! The stops of the best walks of at most two edges.

use super::paths::{NONE, NextHops};
use super::semiring::staying;
use super::{Length, Wanted};
use gpulab_cpu::minplus::{EdgeJoin, Semiring};
use gpulab_model::data::Array;
use gpulab_model::same_type;
use rayon::prelude::*;

/// The next node for each wanted pair with a distance: the first stop by which the two weights give exactly this distance, or the
/// pair's last node if the edge alone does.
///
/// # Errors
/// No stop gives a pair's distance.
pub fn stops(
    semiring: Semiring,
    n: usize,
    weights: &Array,
    distances: &Array,
    wanted: &Wanted,
) -> Result<NextHops, String> {
    let types = || Err("its elements are of another type".to_owned());
    same_type!((weights, distances), |w, d| of_type(semiring, n, w, d, wanted), else types())
}

fn of_type<T: Length>(semiring: Semiring, n: usize, w: &[T], d: &[T], wanted: &Wanted) -> Result<NextHops, String> {
    let join = |a: T, b: T| match semiring.join() {
        EdgeJoin::Sum => a.plus(b),
        EdgeJoin::Larger if a < b => b,
        EdgeJoin::Larger => a,
    };
    let row = |from: usize| {
        let there = &w[from * n..][..n];
        let distances = &d[from * n..][..n];
        let mut next = vec![NONE; n];
        let mut open: Vec<usize> =
            wanted.to.iter().copied().filter(|&to| to != from && distances[to].is_some()).collect();
        // Where staying costs what it always does, a walk that stays first is the edge.
        let stays = there[from] == staying(semiring);
        for stop in std::iter::once(from).chain((0..n).filter(|&stop| stop != from)) {
            if open.is_empty() {
                break;
            }
            if !there[stop].is_some() {
                continue;
            }
            let on = &w[stop * n..][..n];
            open.retain(|&to| {
                let is_open = !on[to].is_some() || join(there[stop], on[to]) != distances[to];
                if !is_open {
                    next[to] = if stop == from && stays { to } else { stop } as u32;
                }
                is_open
            });
        }
        match open.first() {
            None => Ok(next),
            Some(&to) => Err(format!("row {from}, column {to} is {}, which is the length by no stop", distances[to])),
        }
    };
    let rows: Vec<Vec<u32>> = wanted.from.par_iter().map(|&from| row(from)).collect::<Result<_, _>>()?;
    let mut toward = vec![Vec::new(); n];
    for &to in &wanted.to {
        toward[to] = vec![NONE; n];
        wanted.from.iter().zip(&rows).for_each(|(&from, row)| toward[to][from] = row[to]);
    }
    Ok(NextHops { toward })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: i32 = i32::NO_EDGE;

    fn all(n: usize) -> Wanted {
        Wanted { from: (0..n).collect(), to: (0..n).collect() }
    }

    #[test]
    fn a_stop_is_the_node_between_and_an_edge_has_none() {
        let w = Array::I32(vec![0, 2, 9, 2, 0, 3, FAR, FAR, 0]);
        let d = Array::I32(vec![0, 2, 5, 2, 0, 3, FAR, FAR, 0]);
        let found = stops(Semiring::MinPlus, 3, &w, &d, &all(3)).unwrap();
        assert_eq!([found.next(0, 1), found.next(0, 2), found.next(1, 2)], [Some(1), Some(1), Some(2)]);
        assert_eq!([found.next(2, 0), found.next(1, 1)], [None, None]);
    }

    #[test]
    fn an_edge_from_a_node_to_itself_that_costs_is_a_stop() {
        let w = Array::I32(vec![1, 2, FAR, FAR]);
        let d = Array::I32(vec![2, 3, FAR, FAR]);
        let found = stops(Semiring::MinPlus, 2, &w, &d, &all(2)).unwrap();
        assert_eq!(found.next(0, 1), Some(0), "there is no other stop");
    }

    #[test]
    fn the_larger_of_two_edges_has_the_distance_of_a_choice() {
        let w = Array::I32(vec![-FAR, -7, -1, FAR, -FAR, -5, FAR, FAR, -FAR]);
        let d = Array::I32(vec![-FAR, -7, -5, FAR, -FAR, -5, FAR, FAR, -FAR]);
        let found = stops(Semiring::MaxMin, 3, &w, &d, &all(3)).unwrap();
        assert_eq!([found.next(0, 1), found.next(0, 2)], [Some(1), Some(1)]);
    }

    #[test]
    fn a_distance_by_no_stop_is_told() {
        let w = Array::F32(vec![0.0, 2.0, 2.0, 0.0]);
        let wrong = Array::F32(vec![0.0, 1.5, 2.0, 0.0]);
        let why = stops(Semiring::MinPlus, 2, &w, &wrong, &all(2)).unwrap_err();
        assert_eq!(why, "row 0, column 1 is 1.5, which is the length by no stop");
        let left_out = Wanted { from: vec![1], to: vec![0] };
        assert!(stops(Semiring::MinPlus, 2, &w, &wrong, &left_out).is_ok());
    }
}

//! Whether distances are those of these edges: shortest paths to single nodes, found once more on the CPU in another way.
//!
//! For a target, a search relaxes edges backwards until none is left that shortens a path: Bellman and Ford's algorithm,
//! in f64, whose fixed point is the true distance of each node whatever the device says. The device's distances only say
//! in which order to look: over edges that they call tight, breadth first. If they are right, each edge is looked at
//! twice. Each finite distance has a path then, which is [`Proof::next`], and each other one has none.
//!
//! **Which edges.** If all targets are searched, edges that are longer than the distance between their own ends are left
//! out: such an edge lies on no shortest path, and as the distance is shown to be that of a path over other edges, nothing
//! that leaving it out could hide stays unseen. Else all edges count, and what is wrong in the columns of w of n targets alone is
//! missed with a probability of at most (1 - w/n)^s, where s targets are searched, one at a random place of each of s equal
//! parts.
//!
//! **Rounding.** With unit roundoff u, a distance is at most the rounded sum of any path P of m edges, added in the order in
//! which Floyd and Warshall's algorithm joins its parts, which is within gamma(m) A(P) of its length; A is the sum of the
//! weights' magnitudes (N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, section 4.2). This holds
//! for the path that was found here, so that a distance that is too long is seen from m roundings on. A distance is also
//! the rounded sum of some walk, which need not be the shortest: with weights of either sign A may be much larger than the
//! sum, and a longer walk may be rounded to a shorter one. So a distance counts only if a walk of m edges was found whose
//! length less gamma(m + 16) A it reaches; 16 roundings more, as the device may have come by another one. *Whole weights* are
//! added without rounding up to A = 1/u, and *integers* are exact.

use super::{Graph, Length};
use gpulab_cpu::minplus;
use gpulab_model::check::gamma;
use gpulab_model::data::{self, Array};
use gpulab_model::{Error, Result, same_type};
use rayon::prelude::*;
use std::collections::VecDeque;
use std::ops::Range;

/// Looks at edges that each thread may take: seconds.
const LOOKS_A_THREAD: usize = 1 << 30;

/// Targets whose distances are gathered at once: of each row a cache line.
const COLUMNS: usize = 16;

/// Additions for which all rows of a step are computed again.
const MOST_SUMS: f64 = 2e10;

/// Neighbouring rows of a step that are chosen together.
const ROWS: usize = 8;

const NONE: u32 = u32::MAX;

/// What was shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// Targets that were searched, all if they are as many as nodes.
    pub targets: usize,
    /// What a distance that was looked at may differ by from the length of the shortest path: 0 if all are exact.
    pub bound: f64,
    /// For each target, the next node from everywhere: n nodes, or nothing for a target that was not asked for.
    toward: Vec<Vec<u32>>,
}

impl Proof {
    /// The node after `from` on a shortest path to `to`. `None` if there is no path, if `from` is `to`, and if `to` is
    /// no target that was asked for.
    pub fn next(&self, from: usize, to: usize) -> Option<usize> {
        self.toward
            .get(to)?
            .get(from)
            .filter(|&&next| next != NONE)
            .map(|&next| next as usize)
    }
}

/// A distance that is not that of these edges; infinite if there is no path.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mismatch {
    from: usize,
    to: usize,
    got: f64,
    want: f64,
}

impl Mismatch {
    fn error(self, graph: &Graph) -> Error {
        let [from, to] = [self.from, self.to].map(|node| &graph.names.list()[node]);
        let [got, want] = [self.got, self.want].map(|x| {
            if x == f64::INFINITY {
                "none".to_owned()
            } else {
                x.text()
            }
        });
        Error::WrongResult(format!(
            "the distance from {from} to {to} is {got}, and the best path has {want}: the device's result is wrong; choose \
             another rung with --variant"
        ))
    }
}

/// Shows that the distances are those of the graph, on whose diagonal nothing is above 0. For the targets in `paths`, which are
/// in order, it also gives the next nodes.
///
/// # Errors
/// A distance that is wrong.
pub fn prove(graph: &Graph, distances: &Array, paths: &[usize]) -> Result<Proof> {
    let types = Mismatch {
        from: 0,
        to: 0,
        got: f64::NAN,
        want: f64::NAN,
    };
    let proof = same_type!(
        (&graph.weights, distances),
        |w, d| of_type(graph.size(), w, d, paths, LOOKS_A_THREAD),
        else Err(types)
    );
    proof.map_err(|wrong| wrong.error(graph))
}

/// Shows that distances are one step of the graph's weights: all rows, if that takes at most 2 x 10^10 additions; else as many
/// as do, in blocks of 8, of which each of equal parts of the rows has one at a random place. Returns how many.
///
/// # Errors
/// A distance that is wrong.
pub fn check_step(graph: &Graph, distances: &Array) -> Result<usize> {
    let n = graph.size();
    let affordable = (MOST_SUMS / (n as f64 * n as f64)) as usize;
    let chosen: Vec<Range<usize>> = match affordable >= n {
        true => std::iter::once(0..n).collect(),
        false => one_of_each_part(n.div_ceil(ROWS), (affordable / ROWS).max(1), 1)
            .map(|block| block * ROWS..n.min((block + 1) * ROWS))
            .collect(),
    };
    for rows in &chosen {
        let mut want = Array::zeros(graph.weights.dtype(), rows.len() * n);
        minplus::rows(n, &graph.weights, rows.clone(), &mut want);
        let wrong = same_type!((distances, &want), |d, w| first_difference(n, rows.start, d, w), else Some(0));
        if let Some(at) = wrong {
            let [got, want] = [(distances, at), (&want, at - rows.start * n)]
                .map(|(array, at)| gpulab_model::each_array!(array, v => v[at].widened()));
            return Err(Mismatch {
                from: at / n,
                to: at % n,
                got,
                want,
            }
            .error(graph));
        }
    }
    Ok(chosen.iter().map(Range::len).sum())
}

/// Where rows from `first` on are not these.
fn first_difference<T: Length>(n: usize, first: usize, got: &[T], want: &[T]) -> Option<usize> {
    let mut rows = got[first * n..].iter().zip(want);
    let at = rows.position(|(&got, &want)| !(got == want || (got >= T::FAR && want >= T::FAR)));
    at.map(|at| first * n + at)
}

/// A random place in each of so many equal parts of `n` places.
fn one_of_each_part(n: usize, parts: usize, seed: u64) -> impl Iterator<Item = usize> {
    (0..parts).map(move |part| {
        let from = part * n / parts;
        let to = (part + 1) * n / parts;
        from + (data::draw(seed, part as u64) % (to - from) as u64) as usize
    })
}

/// Edges between different nodes, by the node where they end.
pub struct Incoming<T> {
    /// Where each node's edges begin in `edges`; one more at the end.
    starts: Vec<usize>,
    /// Where an edge starts, and its weight.
    edges: Vec<(u32, T)>,
}

impl<T: Length> Incoming<T> {
    /// The edges of a matrix of n x n weights, its diagonal left out, that `is_wanted` by their place in it.
    pub fn new(n: usize, weights: &[T], is_wanted: impl Fn(usize) -> bool + Sync) -> Incoming<T> {
        let outgoing = (0..n).into_par_iter().map(|i| {
            let ends =
                (0..n).filter(|&k| i != k && weights[i * n + k].is_some() && is_wanted(i * n + k));
            ends.map(|k| k as u32).collect()
        });
        let outgoing: Vec<Vec<u32>> = outgoing.collect();
        let mut starts = vec![0; n + 1];
        outgoing
            .iter()
            .flatten()
            .for_each(|&k| starts[k as usize + 1] += 1);
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

    /// The edges that end at `node`, in order of where they start.
    pub fn of(&self, node: usize) -> &[(u32, T)] {
        &self.edges[self.starts[node]..self.starts[node + 1]]
    }
}

fn of_type<T: Length>(
    n: usize,
    w: &[T],
    d: &[T],
    paths: &[usize],
    looks: usize,
) -> Result<Proof, Mismatch> {
    let tolerance = Tolerance::new(n, w);
    at_most(n, w, d)?;
    let short = Incoming::new(n, w, |at| !tolerance.is_detour(w[at], d[at]));
    // Each edge is looked at twice, and each node is read and compared.
    let affordable = |edges: &Incoming<T>| {
        rayon::current_num_threads() * looks / (2 * edges.edges.len() + 8 * n).max(1)
    };
    let (incoming, targets) = if affordable(&short) >= n {
        (short, (0..n).collect())
    } else {
        let all = Incoming::new(n, w, |_| true);
        let parts = affordable(&all).clamp(1, n);
        let mut targets: Vec<usize> = one_of_each_part(n, parts, n as u64)
            .chain(paths.iter().copied())
            .collect();
        targets.sort_unstable();
        targets.dedup();
        (all, targets)
    };
    let found = targets.par_chunks(COLUMNS).map(|targets| {
        let mut columns = vec![Vec::with_capacity(n); targets.len()];
        for row in d.chunks(n) {
            columns
                .iter_mut()
                .zip(targets)
                .for_each(|(column, &target)| column.push(row[target]));
        }
        targets
            .iter()
            .zip(&columns)
            .map(|(&target, column): (&usize, &Vec<T>)| {
                let (next, bound) = Search::new(target, &incoming, column, &tolerance).run()?;
                let is_wanted = paths.binary_search(&target).is_ok();
                Ok((target, if is_wanted { next } else { Vec::new() }, bound))
            })
            .collect::<Result<Vec<_>, _>>()
    });
    let found = found.collect::<Result<Vec<_>, _>>()?;
    let mut toward = vec![Vec::new(); if paths.is_empty() { 0 } else { n }];
    let mut bound = 0.0;
    for (to, next, own) in found.into_iter().flatten() {
        bound = own.max(bound);
        if !next.is_empty() {
            toward[to] = next;
        }
    }
    Ok(Proof {
        targets: targets.len(),
        bound,
        toward,
    })
}

/// No distance is longer than the edge, or no number; staying costs what it does.
fn at_most<T: Length>(n: usize, w: &[T], d: &[T]) -> Result<(), Mismatch> {
    (0..w.len())
        .into_par_iter()
        .find_first(|&at| {
            let is_edge_enough = d[at] <= w[at] && (at / n != at % n || d[at] == w[at]);
            !is_edge_enough && (d[at] < T::FAR || d[at].widened().is_nan() || w[at].is_some())
        })
        .map_or(Ok(()), |at| {
            Err(Mismatch {
                from: at / n,
                to: at % n,
                got: d[at].widened(),
                want: w[at].widened(),
            })
        })
}

/// How far distances may be from those of paths.
struct Tolerance {
    roundoff: f64,
    /// Magnitudes up to which sums are exact: of whole weights.
    exact: f64,
    /// Edges that are longer than a distance by more than this are on no shortest path: a share of it, or of weights of either
    /// sign so much.
    share: f64,
    least: f64,
    /// A length must shrink by more than this, for each edge and relative to the magnitudes: with weights of either sign
    /// roundings in f64 could go around a cycle of length zero forever.
    slack: f64,
}

impl Tolerance {
    fn new<T: Length>(n: usize, weights: &[T]) -> Tolerance {
        let finite = || {
            weights
                .par_iter()
                .filter(|w| w.is_some())
                .map(|w| w.widened())
        };
        let exact = if finite().all(|w| w.fract() == 0.0) {
            1.0 / T::ROUNDOFF
        } else {
            0.0
        };
        let is_signed = T::ROUNDOFF > 0.0 && finite().any(|w| w < 0.0);
        let share = gamma(2 * n as u64, T::ROUNDOFF).map_or(1.0, |g| g / (1.0 - g));
        let heaviest = if is_signed {
            finite().map(f64::abs).reduce(|| 0.0, f64::max)
        } else {
            0.0
        };
        let slack = if is_signed { f64::EPSILON } else { 0.0 };
        Tolerance {
            roundoff: T::ROUNDOFF,
            exact,
            share,
            least: share * n as f64 * heaviest,
            slack,
        }
    }

    /// Whether an edge is no shortest path between its own ends.
    fn is_detour<T: Length>(&self, weight: T, distance: T) -> bool {
        let distance = distance.widened();
        weight.widened() - distance > (self.share * distance.abs()).max(self.least)
    }

    /// What the rounded sum of a path may differ by from its length, with so many roundings more.
    fn rounding(&self, way: &Way, roundings: u64) -> f64 {
        if way.magnitude <= self.exact {
            return 0.0;
        }
        let edges = roundings + u64::from(way.edges);
        (gamma(edges, self.roundoff).unwrap_or(1.0)
            + if self.roundoff > 0.0 {
                edges as f64 * f64::EPSILON
            } else {
                0.0
            })
            * way.magnitude
    }
}

/// A path to the target.
#[derive(Clone, Copy)]
struct Way {
    length: f64,
    /// The sum of its weights' magnitudes.
    magnitude: f64,
    edges: u32,
    /// The node behind its first edge.
    next: u32,
}

impl Way {
    const NONE: Way = Way {
        length: f64::INFINITY,
        magnitude: 0.0,
        edges: u32::MAX,
        next: NONE,
    };

    /// This way behind an edge from another node.
    fn behind(&self, weight: f64, next: usize) -> Way {
        Way {
            length: weight + self.length,
            magnitude: weight.abs() + self.magnitude,
            edges: self.edges.saturating_add(1),
            next: next as u32,
        }
    }

    /// Whether it is shorter than another, or as short with fewer edges.
    fn is_better(&self, other: &Way, slack: f64) -> bool {
        if self.length == other.length || other.next == NONE {
            return self.edges < other.edges;
        }
        let edges = f64::from(self.edges) + f64::from(other.edges);
        self.length < other.length - slack * edges * (self.magnitude + other.magnitude)
    }
}

/// A search backwards from one target.
struct Search<'a, T> {
    target: usize,
    incoming: &'a Incoming<T>,
    /// Each node's distance to the target, as the device has it.
    column: &'a [T],
    tolerance: &'a Tolerance,
    ways: Vec<Way>,
    /// Nodes whose edges are to be looked at.
    queue: VecDeque<u32>,
    is_queued: Vec<bool>,
}

impl<T: Length> Search<'_, T> {
    fn new<'a>(
        target: usize,
        incoming: &'a Incoming<T>,
        column: &'a [T],
        tolerance: &'a Tolerance,
    ) -> Search<'a, T> {
        let n = column.len();
        let mut ways = vec![Way::NONE; n];
        // So that it is somewhere; taken back at the end.
        ways[target] = Way {
            length: column[target].widened(),
            magnitude: 0.0,
            edges: 0,
            next: target as u32,
        };
        let queue = VecDeque::from([target as u32]);
        Search {
            target,
            incoming,
            column,
            tolerance,
            ways,
            queue,
            is_queued: vec![false; n],
        }
    }

    /// The next nodes and the bound of the distances, or a node whose distance is wrong.
    fn run(mut self) -> Result<(Vec<u32>, f64), Mismatch> {
        let column = self.column;
        let tolerance = self.tolerance;
        let least = |way: &Way| way.length - tolerance.rounding(way, 16);
        self.relax(|from, way| least(way) <= column[from].widened());
        let reached: Vec<f64> = self.ways.iter().map(least).collect();
        let mut bound = 0.0_f64;
        // Now by what edges say alone.
        self.queue
            .extend((0..self.ways.len() as u32).filter(|&at| self.ways[at as usize].next != NONE));
        self.relax(|_, _| true);
        // What staying costs was compared before.
        for (from, way) in self
            .ways
            .iter()
            .enumerate()
            .filter(|(from, _)| *from != self.target)
        {
            let distance = column[from];
            let is_right = if way.next == NONE || !distance.is_some() {
                way.next == NONE && !distance.is_some()
            } else {
                let distance = distance.widened();
                let least = reached[from].min(least(way));
                bound = bound.max(way.length - least);
                least <= distance && distance - way.length <= tolerance.rounding(way, 0)
            };
            if !is_right {
                let got = if distance.is_some() {
                    distance.widened()
                } else {
                    f64::INFINITY
                };
                return Err(Mismatch {
                    from,
                    to: self.target,
                    got,
                    want: way.length,
                });
            }
        }
        self.ways[self.target].next = NONE;
        Ok((self.ways.iter().map(|way| way.next).collect(), bound))
    }

    /// Looks at the edges of all nodes of the queue, and of those to which these give a better way that `is_taken`.
    fn relax(&mut self, is_taken: impl Fn(usize, &Way) -> bool) {
        while let Some(at) = self.queue.pop_front() {
            let at = at as usize;
            self.is_queued[at] = false;
            let rest = self.ways[at];
            for &(from, weight) in self.incoming.of(at) {
                let way = rest.behind(weight.widened(), at);
                let place = from as usize;
                if way.is_better(&self.ways[place], self.tolerance.slack) && is_taken(place, &way) {
                    self.ways[place] = way;
                    if !self.is_queued[place] {
                        self.is_queued[place] = true;
                        self.queue.push_back(from);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_finds_each_wrong_row_and_its_own_columns() {
        let n = 40;
        let there = |at: usize| (at % n + n - at / n) % n;
        let weights: Vec<i32> = (0..n * n)
            .map(|at| {
                if there(at) < 2 {
                    there(at) as i32
                } else {
                    i32::NO_EDGE
                }
            })
            .collect();
        let distances: Vec<i32> = (0..n * n).map(|at| there(at) as i32).collect();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        let prove = |d: &[i32], paths: &[usize]| {
            pool.install(|| of_type(n, &weights, d, paths, 5 * (2 * n + 8 * n)))
        };
        assert_eq!(prove(&distances, &[]).unwrap().targets, 5);
        let next = prove(&distances, &[3]).unwrap();
        assert_eq!(
            (
                next.next(2, 3),
                next.next(5, 3),
                next.next(3, 3),
                next.next(2, 4)
            ),
            (Some(3), Some(6), None, None)
        );
        let shortened = |is_wrong: &dyn Fn(usize) -> bool| {
            distances
                .iter()
                .enumerate()
                .map(|(at, d): (usize, &i32)| d - i32::from(is_wrong(at) && there(at) > 0))
                .collect::<Vec<i32>>()
        };
        assert!((0..n).all(|row| prove(&shortened(&|at| at / n == row), &[]).is_err()));
        let found =
            (0..n).filter(|&column| prove(&shortened(&|at| at % n == column), &[]).is_err());
        assert_eq!(found.count(), 5, "as likely as there are targets");
    }

    /// Floyd and Warshall's algorithm in f32; the lengths from one pivot are shortened by so much.
    fn closed(n: usize, weights: &[f32], shorter: f32) -> Vec<f32> {
        let mut d = weights.to_vec();
        for k in 0..n {
            if k == n / 2 {
                (k + 1..n).for_each(|j| d[k * n + j] -= shorter);
            }
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                d[i * n + j] = d[i * n + j].min(d[i * n + k] + d[k * n + j]);
            }
        }
        d
    }

    #[test]
    fn weights_of_either_sign_excuse_no_shortened_length() {
        let n = 90;
        for (seed, height, scale) in (0..8).flat_map(|seed| {
            [(0.0, 1.0), (1e4, 1.0), (0.0, 0.37), (1e4, 0.37)].map(|(h, s)| (seed, h, s))
        }) {
            let draw = |at: usize| {
                (gpulab_model::data::draw(seed, at as u64) >> 40) as f64 / f64::from(1 << 24)
            };
            // Around a cycle the heights cancel.
            let up = |i: usize| (height * draw(2 * n * n + i)).floor();
            let weight = |at: usize| {
                let length = scale * (1.0 + (1000.0 * draw(at)).floor()) + up(at / n) - up(at % n);
                if draw(n * n + at) < 0.1 {
                    length as f32
                } else {
                    f32::INFINITY
                }
            };
            let mut weights: Vec<f32> = (0..n * n).map(weight).collect();
            (0..n).for_each(|i| weights[i * n + i] = 0.0);
            if height == 0.0 {
                weights[n + 2] = -1.0;
            }
            let right = closed(n, &weights, 0.0);
            let proved =
                |d: &[f32]| of_type(n, &weights, d, &[], LOOKS_A_THREAD).map(|proof| proof.bound);
            let bound = proved(&right).unwrap();
            let most = if scale == 1.0 {
                0.0
            } else {
                1e-5 * (1000.0 + height)
            };
            assert!(
                (0.0..=most).contains(&bound) && (bound == 0.0) == (scale == 1.0),
                "{height} {scale}: {bound:e}"
            );
            let wrong = closed(n, &weights, 0.125 + 2.0 * bound as f32);
            assert!(
                wrong != right && proved(&wrong).is_err(),
                "{seed} {height} {scale}: {bound:e}"
            );
        }
    }
}

//! Distances in graphs, beside petgraph's algorithms and on a real one.

use gpulab::Error;
use gpulab::check::gamma;
use gpulab::cpu::minplus::all_threads;
use gpulab::data::{Array, Dtype};
use gpulab::graph::{self, Graph, GraphFile, Length, Names, negative_cycle, prove};
use petgraph::algo::{bellman_ford, dijkstra};
use petgraph::graph::{DiGraph, NodeIndex};
use proptest::prelude::*;
use std::collections::HashMap;

fn step(d: &Array) -> Result<Array, Error> {
    let mut result = Array::zeros(d.dtype(), d.len());
    all_threads(d.len().isqrt(), d, &mut result);
    Ok(result)
}

/// All distances: step after step, each of which at least doubles the edges that paths may have.
fn all(d: &Array) -> Result<Array, Error> {
    (0..d.len().isqrt().next_power_of_two().trailing_zeros()).try_fold(d.clone(), |d, _| step(&d))
}

fn widened(array: &Array) -> Vec<f64> {
    gpulab::each_array!(array, v => v.iter().map(|&x| if x.is_some() { x.widened() } else { f64::INFINITY }).collect())
}

/// Edges between nodes 0 to n - 1.
#[derive(Clone, Debug)]
struct Edges {
    n: usize,
    list: Vec<(usize, usize, f64)>,
}

impl Edges {
    fn graph(&self, dtype: Dtype) -> Graph {
        let weights = self.list.iter().map(|e| e.2);
        let weights = match dtype {
            Dtype::F32 => Array::F32(weights.map(|w| w as f32).collect()),
            Dtype::F64 => Array::F64(weights.collect()),
            Dtype::I32 => Array::I32(weights.map(|w| w as i32).collect()),
            Dtype::I64 | Dtype::U8 => unreachable!("no graph has such weights"),
        };
        let ends = Some(self.list.iter().map(|e| (e.0, e.1)).collect());
        let names = Names::counted(0, self.n);
        let (kind, notes) = (String::new(), Vec::new());
        Graph::new(
            GraphFile {
                names,
                ends,
                weights,
                decimals: None,
                both_ways: false,
                kind,
                notes,
            },
            false,
        )
    }

    /// The weights as the type holds them, exactly.
    fn rounded(&self, dtype: Dtype) -> Edges {
        let round = |w: f64| {
            if dtype == Dtype::F32 {
                f64::from(w as f32)
            } else {
                w
            }
        };
        Edges {
            n: self.n,
            list: self
                .list
                .iter()
                .map(|&(i, k, w)| (i, k, round(w)))
                .collect(),
        }
    }

    fn petgraph(&self) -> DiGraph<(), f64> {
        let mut graph = DiGraph::new();
        (0..self.n).for_each(|_| _ = graph.add_node(()));
        let index = NodeIndex::new;
        self.list
            .iter()
            .for_each(|&(i, k, w)| _ = graph.add_edge(index(i), index(k), w));
        graph
    }

    fn dijkstra(&self) -> Vec<f64> {
        let graph = self.petgraph();
        let from = |i: usize| dijkstra(&graph, NodeIndex::new(i), None, |e| *e.weight());
        let row = |found: HashMap<NodeIndex, f64>| -> Vec<f64> {
            (0..self.n)
                .map(|j| {
                    found
                        .get(&NodeIndex::new(j))
                        .copied()
                        .unwrap_or(f64::INFINITY)
                })
                .collect()
        };
        // petgraph's map has another hasher.
        (0..self.n)
            .flat_map(|i| row(from(i).into_iter().collect()))
            .collect()
    }

    /// None if there is a negative cycle.
    fn bellman_ford(&self) -> Option<Vec<f64>> {
        let graph = self.petgraph();
        let rows = (0..self.n).map(|i| {
            bellman_ford(&graph, NodeIndex::new(i))
                .ok()
                .map(|paths| paths.distances)
        });
        rows.collect::<Option<Vec<_>>>().map(|rows| rows.concat())
    }

    fn heaviest(&self) -> f64 {
        self.list.iter().map(|e| e.2.abs()).fold(0.0, f64::max)
    }
}

/// Weights from `weights`; about `degree` edges leave a node, so that few make many parts and many make one.
fn edges(weights: impl Strategy<Value = f64> + Clone) -> impl Strategy<Value = Edges> {
    (1usize..28, 0usize..12).prop_flat_map(move |(n, degree)| {
        let edge = (0..n, 0..n, weights.clone());
        prop::collection::vec(edge, 0..=n * degree).prop_map(move |list| Edges { n, list })
    })
}

/// Whole numbers, zero among them.
fn whole() -> impl Strategy<Value = f64> + Clone {
    prop_oneof![1 => Just(0.0), 4 => (0i32..1000).prop_map(f64::from), 1 => (0i32..1 << 20).prop_map(f64::from)]
}

/// Weights, many of them negative, without a negative cycle: w + h(i) - h(k) with w of at least 0.
fn shifted(edges: &Edges, h: &[f64]) -> Edges {
    let list = edges
        .list
        .iter()
        .map(|&(i, k, w)| (i, k, w + h[i % h.len()] - h[k % h.len()]));
    Edges {
        n: edges.n,
        list: list.collect(),
    }
}

fn closure(graph: &Graph) -> Result<Array, Error> {
    graph::closure(&mut graph.clone(), &mut all)
}

/// Bound on the rounding of a distance between `n` nodes: of a path whose weights' magnitudes add up to 1.
fn rounding(dtype: Dtype, n: usize) -> f64 {
    gamma(n as u64, dtype.unit_roundoff()).unwrap()
}

fn assert_near(got: &[f64], want: &[f64], tolerance: impl Fn(f64) -> f64) {
    for (at, (&got, &want)) in got.iter().zip(want).enumerate() {
        // petgraph's own sums in f64 are rounded too.
        let allowed = tolerance(want) + 1e-12 * want.abs();
        assert!(
            got == want || (got - want).abs() <= allowed,
            "{at}: {got}, want {want} within {allowed:e}"
        );
    }
}

/// Follows the next nodes between all pairs: each path ends, and `check` gets its distance, its length and its edges.
fn follow(edges: &Edges, graph: &Graph, found: &Array, check: impl Fn(f64, f64, usize)) {
    let n = edges.n;
    let proof = prove(graph, found, &(0..n).collect::<Vec<_>>()).unwrap();
    let (weights, distances) = (widened(&graph.weights), widened(found));
    for i in 0..n {
        for j in 0..n {
            if i == j || distances[i * n + j].is_infinite() {
                assert_eq!(proof.next(i, j), None);
                continue;
            }
            let (mut at, mut length, mut count) = (i, 0.0, 0);
            while at != j {
                let next = proof
                    .next(at, j)
                    .unwrap_or_else(|| panic!("the path from {i} to {j} ends at {at}"));
                length += weights[at * n + next];
                count += 1;
                assert!(
                    length.is_finite() && count < n,
                    "{i} to {j}: no edge to {next}, or a loop"
                );
                at = next;
            }
            check(distances[i * n + j], length, count);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn one_stop_is_the_least_of_staying_going_and_stopping_once(edges in edges(whole())) {
        let n = edges.n;
        let mut best: HashMap<(usize, usize), i32> = HashMap::new();
        let mut offer = |i, j, w| _ = best.entry((i, j)).and_modify(|b: &mut i32| *b = (*b).min(w)).or_insert(w);
        (0..n).for_each(|i| offer(i, i, 0));
        for &(i, k, w) in &edges.list {
            offer(i, k, w as i32);
            edges.list.iter().filter(|e| e.0 == k).for_each(|e| offer(i, e.1, w as i32 + e.2 as i32));
        }
        let want: Vec<i32> = (0..n * n).map(|at| best.get(&(at / n, at % n)).copied().unwrap_or(i32::NO_EDGE)).collect();
        for dtype in [Dtype::I32, Dtype::F32, Dtype::F64] {
            let got = graph::one_stop(&edges.graph(dtype), &mut step).unwrap();
            let want: Vec<f64> = widened(&Array::I32(want.clone()));
            prop_assert_eq!(widened(&got), want, "{}", dtype);
        }
    }

    #[test]
    fn closures_of_whole_weights_are_dijkstras(edges in edges(whole())) {
        let want = edges.dijkstra();
        for dtype in [Dtype::I32, Dtype::F64] {
            let graph = edges.graph(dtype);
            let found = closure(&graph).unwrap();
            prop_assert_eq!(&widened(&found), &want, "{}", dtype);
            follow(&edges, &graph, &found, |distance, length, _| assert_eq!(distance, length));
        }
    }

    #[test]
    fn negative_weights_are_bellman_fords(
        edges in edges(whole()), h in prop::collection::vec(-2000i32..2000, 28),
    ) {
        let h: Vec<f64> = h.into_iter().map(f64::from).collect();
        let edges = shifted(&edges, &h);
        let want = edges.bellman_ford().unwrap();
        for dtype in [Dtype::I32, Dtype::F64] {
            let graph = edges.graph(dtype);
            let found = closure(&graph).unwrap();
            prop_assert_eq!(&widened(&found), &want, "{}", dtype);
            follow(&edges, &graph, &found, |distance, length, _| assert_eq!(distance, length));
        }
    }

    #[test]
    fn negative_real_weights_are_bellman_fords_but_for_rounding(
        edges in edges(0.001..1.0f64), h in prop::collection::vec(-20.0..20.0f64, 28),
    ) {
        let edges = shifted(&edges, &h);
        for dtype in [Dtype::F32, Dtype::F64] {
            let (graph, edges) = (edges.graph(dtype), edges.rounded(dtype));
            let found = closure(&graph).unwrap();
            let magnitude = edges.n as f64 * edges.heaviest();
            let error = rounding(dtype, edges.n) * magnitude + 1e-12 * magnitude;
            assert_near(&widened(&found), &edges.bellman_ford().unwrap(), |_| error);
            follow(&edges, &graph, &found, |distance, length, _| {
                assert!((length - distance).abs() <= error, "{distance} by a path of {length}");
            });
        }
    }

    #[test]
    fn a_negative_cycle_is_found_exactly_if_there_is_one(edges in edges((-20i32..200).prop_map(f64::from))) {
        for dtype in [Dtype::I32, Dtype::F32] {
            let graph = edges.graph(dtype);
            match closure(&graph) {
                Ok(found) => prop_assert_eq!(Some(widened(&found)), edges.bellman_ford(), "{}", dtype),
                Err(Error::Usage(why)) if why.contains("a negative cycle") => {
                    prop_assert!(edges.bellman_ford().is_none());
                    let weights = widened(&graph.weights);
                    let cycle = negative_cycle(edges.n, &weights).unwrap();
                    let around = cycle.nodes.iter().zip(cycle.nodes.iter().cycle().skip(1));
                    let length: f64 = around.map(|(&i, &k)| weights[i * edges.n + k]).sum();
                    prop_assert!(length == cycle.length && length < 0.0 && !cycle.doubtful, "{:?}", cycle);
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
}

const BLOCK: usize = 8;

/// Floyd and Warshall's algorithm by blocks of nodes, with a mistake, of some in this block.
fn cheating(d: &[f32], cheat: &str, block: [usize; 2]) -> Array {
    let n = d.len().isqrt();
    let mut r = d.to_vec();
    for step in 0..n / BLOCK {
        let nodes = step * BLOCK..(step + 1) * BLOCK;
        let before = r.clone();
        let is_last = step + 1 == n / BLOCK;
        if cheat == "the last step is missing" && is_last {
            break;
        }
        for phase in 0..3 {
            for k in nodes.clone() {
                for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                    let outside = [i, j].iter().filter(|at| !nodes.contains(at)).count();
                    let is_missing = cheat == "a block is left out"
                        && is_last
                        && [i / BLOCK, j / BLOCK] == block;
                    if outside == phase && !is_missing {
                        let is_stale = cheat == "the pivot's row and column are stale"
                            && phase == 2
                            && is_last;
                        let cross = if is_stale { &before } else { &r };
                        r[i * n + j] = r[i * n + j].min(cross[i * n + k] + cross[k * n + j]);
                    }
                }
            }
        }
    }
    match cheat {
        "an entry is too long" => r[7 * n + 20] *= 1.0 + 1e-5,
        "an entry is too short" => r[7 * n + 20] *= 1.0 - 1e-4,
        "a pair that has no path gets one" => r[n - 1] = 5.0,
        "two that have none show each other" => (r[n - 1], r[n - 2]) = (5.0, 5.0),
        "a row is another's" => r.copy_within(3 * n..4 * n, 9 * n),
        "a number is none" => r[n - 1] = f32::NAN,
        _ => {}
    }
    Array::F32(r)
}

#[test]
fn every_cheat_is_caught() {
    let n = 4 * BLOCK;
    // A tangle whose sums are exact, and two nodes that nothing leads to.
    let weight = |i: usize, by: usize| 1.0 + 0.125 * ((i * by * 7) % 31) as f64;
    let mut list: Vec<_> = (0..n - 2)
        .flat_map(|i| [1, 5, 17].map(|by| (i, (i + by) % (n - 2), weight(i, by))))
        .collect();
    list.extend([(n - 2, n - 1, 0.0), (n - 1, n - 2, 0.0)]);
    let graph = Edges { n, list }.graph(Dtype::F32);
    let Array::F32(weights) = &graph.weights else {
        unreachable!()
    };
    let right = cheating(weights, "none", [0, 0]);
    let proved = |d: &Array| prove(&graph, d, &[]).map(|proof| proof.targets);
    assert_eq!(proved(&right).unwrap(), n);
    for cheat in [
        "the last step is missing",
        "the pivot's row and column are stale",
        "an entry is too long",
        "an entry is too short",
        "a pair that has no path gets one",
        "two that have none show each other",
        "a row is another's",
        "a number is none",
    ] {
        assert!(
            proved(&cheating(weights, cheat, [0, 0])).is_err(),
            "{cheat}"
        );
    }
    let blocks = (0..16).map(|at| cheating(weights, "a block is left out", [at / 4, at % 4]));
    let wrong: Vec<Array> = blocks.filter(|d| *d != right).collect();
    assert!(
        wrong.len() > 4 && wrong.iter().all(|d| proved(d).is_err()),
        "{}",
        wrong.len()
    );
}

/// Why a graph has no distances.
fn why(graph: &Graph) -> String {
    closure(graph).unwrap_err().to_string()
}

#[test]
fn a_negative_distance_without_a_negative_weight_is_the_devices_mistake() {
    let mut graph = Edges {
        n: 2,
        list: vec![(0, 1, 1.0), (1, 0, 1.0)],
    }
    .graph(Dtype::F32);
    let mut mistaken = |_: &Array| Ok(Array::F32(vec![-1e-35, 1.0, 1.0, 0.0]));
    let found = graph::closure(&mut graph, &mut mistaken).unwrap();
    assert!(matches!(
        prove(&graph, &found, &[]),
        Err(Error::WrongResult(_))
    ));
}

#[test]
fn distances_that_f32_cannot_hold_are_refused() {
    let far = Edges {
        n: 3,
        list: vec![(0, 1, 1.6e38), (1, 2, 1.6e38)],
    };
    assert!(why(&far.graph(Dtype::F32)).contains("choose --dtype f64"));
    assert!(closure(&far.graph(Dtype::F64)).is_ok());
}

#[test]
fn a_matrix_keeps_its_diagonal_but_for_the_closure() {
    let of = |weights: Vec<i32>| {
        let (weights, names, kind, notes) = (
            Array::I32(weights),
            Names::counted(0, 2),
            String::new(),
            Vec::new(),
        );
        Graph::new(
            GraphFile {
                names,
                ends: None,
                weights,
                decimals: None,
                both_ways: false,
                kind,
                notes,
            },
            false,
        )
    };
    let graph = of(vec![5, 1, 9, 7]);
    let once = graph::one_stop(&graph, &mut step).unwrap();
    assert_eq!(once, Array::I32(vec![10, 6, 14, 10]));
    assert_eq!(graph::check_step(&graph, &once).unwrap(), 2);
    let wrong = graph::check_step(&graph, &Array::I32(vec![10, 6, 15, 10])).unwrap_err();
    assert!(
        wrong
            .to_string()
            .contains("from 1 to 0 is 15, and the best path has 14"),
        "{wrong}"
    );
    assert_eq!(closure(&graph).unwrap(), Array::I32(vec![0, 1, 9, 0]));
    assert!(why(&of(vec![5, 1, 9, -7])).contains("1 -> 1 has length -7"));
    let failed = graph::closure(&mut of(vec![0; 4]), &mut |_| {
        Err(Error::Failed("no device".into()))
    });
    assert_eq!(failed.unwrap_err().to_string(), "no device");
}

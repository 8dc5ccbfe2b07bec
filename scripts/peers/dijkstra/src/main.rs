//! Shortest distances on the CPU, for `distances.py`: petgraph's algorithms, and Dijkstra's from all nodes at once.
//!
//! `dijkstra EDGES.csv [SECONDS] [SOURCES]` prints a line for each method that is likely to end in so many seconds: its name,
//! its seconds from the file's text on, and the sum of all distances.
//! `dijkstra make N DEGREE` prints a graph: a cycle through N nodes, and random edges of weights from 1 to 1000.

use petgraph::algo::{dijkstra, floyd_warshall};
use petgraph::graph::{DiGraph, NodeIndex};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::io::Write;
use std::time::Instant;

struct Edges {
    n: usize,
    list: Vec<(u32, u32, f32)>,
}

fn read(text: &str) -> Result<Edges, Box<dyn Error>> {
    let mut list: Vec<(u32, u32, f32)> = Vec::new();
    for line in text.lines().skip(1) {
        let mut cells = line.split(',');
        let mut next = || cells.next().ok_or("a line has three cells");
        list.push((next()?.parse()?, next()?.parse()?, next()?.parse()?));
    }
    let n = list.iter().map(|&(from, to, _)| from.max(to)).max().map_or(0, |last| last as usize + 1);
    Ok(Edges { n, list })
}

/// The edges that leave each node, side by side.
struct Rows {
    starts: Vec<usize>,
    edges: Vec<(u32, f32)>,
}

impl Rows {
    fn new(edges: &Edges) -> Rows {
        let mut starts = vec![0; edges.n + 1];
        edges.list.iter().for_each(|edge| starts[edge.0 as usize + 1] += 1);
        (0..edges.n).for_each(|i| starts[i + 1] += starts[i]);
        let (mut places, mut sorted) = (starts.clone(), vec![(0, 0.0); edges.list.len()]);
        for &(from, to, weight) in &edges.list {
            sorted[places[from as usize]] = (to, weight);
            places[from as usize] += 1;
        }
        Rows { starts, edges: sorted }
    }

    /// Distances from a node. Floats from 0 on have the order of their bits.
    fn from(&self, source: usize) -> Vec<f32> {
        let mut distances = vec![f32::INFINITY; self.starts.len() - 1];
        let mut heap = BinaryHeap::from([Reverse((0_u32, source as u32))]);
        distances[source] = 0.0;
        while let Some(Reverse((bits, at))) = heap.pop() {
            let distance = f32::from_bits(bits);
            if distance > distances[at as usize] {
                continue;
            }
            for &(to, weight) in &self.edges[self.starts[at as usize]..self.starts[at as usize + 1]] {
                let longer = distance + weight;
                if longer < distances[to as usize] {
                    distances[to as usize] = longer;
                    heap.push(Reverse((longer.to_bits(), to)));
                }
            }
        }
        distances
    }
}

fn sum(distances: impl Iterator<Item = f32>) -> f64 {
    distances.filter(|d| d.is_finite()).map(f64::from).sum()
}

fn rayon(edges: &Edges, sources: usize) -> f64 {
    let rows = Rows::new(edges);
    let all: Vec<Vec<f32>> = (0..sources).into_par_iter().map(|source| rows.from(source)).collect();
    sum(all.into_iter().flatten())
}

fn petgraph(edges: &Edges) -> DiGraph<(), f32> {
    let mut graph = DiGraph::with_capacity(edges.n, edges.list.len());
    (0..edges.n).for_each(|_| _ = graph.add_node(()));
    for &(from, to, weight) in &edges.list {
        graph.add_edge(NodeIndex::new(from as usize), NodeIndex::new(to as usize), weight);
    }
    graph
}

fn petgraph_dijkstra(edges: &Edges, sources: usize) -> f64 {
    let graph = petgraph(edges);
    let from = |source: usize| dijkstra(&graph, NodeIndex::new(source), None, |edge| *edge.weight());
    sum((0..sources).flat_map(|source| from(source).into_values()))
}

fn petgraph_floyd_warshall(edges: &Edges, _: usize) -> f64 {
    let graph = petgraph(edges);
    let found = floyd_warshall(&graph, |edge| *edge.weight());
    // What has no path has the largest float.
    found.map_or(f64::NAN, |found| sum(found.into_values().map(|d| if d == f32::MAX { f32::INFINITY } else { d })))
}

fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn make(n: u64, degree: u64) -> std::io::Result<()> {
    let (mut out, mut state) = (std::io::BufWriter::new(std::io::stdout().lock()), 88_172_645_463_325_252 + n);
    writeln!(out, "from,to,weight")?;
    for from in 0..n {
        for edge in 0..degree {
            let further = if edge == 0 { 1 } else { 1 + next(&mut state) % (n - 1) };
            writeln!(out, "{from},{},{}", (from + further) % n, 1 + next(&mut state) % 1000)?;
        }
    }
    out.flush()
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [command, n, degree] = &args[..]
        && command == "make"
    {
        return Ok(make(n.parse()?, degree.parse()?)?);
    }
    let file = args.first().ok_or("dijkstra EDGES.csv [SECONDS] [SOURCES], or dijkstra make N DEGREE")?;
    let limit: f64 = args.get(1).map_or(Ok(60.0), |seconds| seconds.parse())?;
    let text = std::fs::read_to_string(file)?;
    let began = Instant::now();
    let edges = read(&text)?;
    let reading = began.elapsed().as_secs_f64();
    let sources = args.get(2).map_or(Ok(edges.n), |count| count.parse())?;
    // What some of it took says whether all of it is likely to end.
    let likely = |method: fn(&Edges, usize) -> f64, some: usize| {
        let began = Instant::now();
        method(&edges, some);
        began.elapsed().as_secs_f64() * sources as f64 / some as f64
    };
    let tell = |name: &str, method: fn(&Edges, usize) -> f64| {
        let began = Instant::now();
        let sum = method(&edges, sources);
        println!("{name},{:.4},{sum}", reading + began.elapsed().as_secs_f64());
    };
    tell("rayon Dijkstra", rayon);
    if likely(petgraph_dijkstra, 1) < limit {
        tell("petgraph Dijkstra", petgraph_dijkstra);
    }
    let pairs = (edges.n as f64).powi(3);
    if sources == edges.n && pairs * 3e-9 < limit {
        tell("petgraph Floyd-Warshall", petgraph_floyd_warshall);
    }
    Ok(())
}

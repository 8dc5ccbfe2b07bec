//! Shortest distances on the CPU, for `distances.py`, `density.py` and `methods.py`: petgraph's algorithms, and on all threads
//! Dijkstra's and Floyd and Warshall's.
//!
//! `dijkstra EDGES.csv [SECONDS] [SOURCES]` prints a line for each method that is likely to end in so many seconds: its name,
//! its seconds from the file's text on, and the sum of all distances.
//! `dijkstra method NAME EDGES.csv OUT` prints the seconds of one method from the list of edges on, and writes its matrix of
//! distances as f32 without a header.
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

    /// Distances from a node, over infinities. Floats from 0 on have the order of their bits.
    fn from(&self, source: usize, distances: &mut [f32]) {
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
    }
}

/// Rows of distances from the first so many nodes.
type Method = fn(&Edges, usize) -> Vec<f32>;

const METHODS: [(&str, Method); 4] = [
    ("rayon Dijkstra", rayon_dijkstra),
    ("rayon Floyd-Warshall", rayon_floyd_warshall),
    ("petgraph Dijkstra", petgraph_dijkstra),
    ("petgraph Floyd-Warshall", petgraph_floyd_warshall),
];

fn rayon_dijkstra(edges: &Edges, sources: usize) -> Vec<f32> {
    let (rows, mut all) = (Rows::new(edges), vec![f32::INFINITY; sources * edges.n]);
    all.par_chunks_mut(edges.n).enumerate().for_each(|(source, distances)| rows.from(source, distances));
    all
}

/// Each thread takes the ways by way of a node into some of the rows.
fn rayon_floyd_warshall(edges: &Edges, _: usize) -> Vec<f32> {
    let n = edges.n;
    let mut all = vec![f32::INFINITY; n * n];
    (0..n).for_each(|i| all[i * n + i] = 0.0);
    for &(from, to, weight) in &edges.list {
        let least = &mut all[from as usize * n + to as usize];
        *least = least.min(weight);
    }
    let chunk = n.div_ceil(4 * rayon::current_num_threads()) * n;
    for k in 0..n {
        let way = all[k * n..(k + 1) * n].to_vec();
        all.par_chunks_mut(chunk).for_each(|rows| {
            for row in rows.chunks_mut(n) {
                let there = row[k];
                if there < f32::INFINITY {
                    row.iter_mut().zip(&way).for_each(|(d, on)| *d = if there + on < *d { there + on } else { *d });
                }
            }
        });
    }
    all
}

fn petgraph(edges: &Edges) -> DiGraph<(), f32> {
    let mut graph = DiGraph::with_capacity(edges.n, edges.list.len());
    (0..edges.n).for_each(|_| _ = graph.add_node(()));
    for &(from, to, weight) in &edges.list {
        graph.add_edge(NodeIndex::new(from as usize), NodeIndex::new(to as usize), weight);
    }
    graph
}

fn petgraph_dijkstra(edges: &Edges, sources: usize) -> Vec<f32> {
    let (graph, mut all) = (petgraph(edges), vec![f32::INFINITY; sources * edges.n]);
    for (source, distances) in all.chunks_mut(edges.n).enumerate() {
        for (node, distance) in dijkstra(&graph, NodeIndex::new(source), None, |edge| *edge.weight()) {
            distances[node.index()] = distance;
        }
    }
    all
}

fn petgraph_floyd_warshall(edges: &Edges, _: usize) -> Vec<f32> {
    let (graph, mut all) = (petgraph(edges), vec![f32::INFINITY; edges.n * edges.n]);
    let found = floyd_warshall(&graph, |edge| *edge.weight()).expect("weights are from 0 on");
    // What has no path has the largest float.
    for ((from, to), distance) in found.into_iter().filter(|(_, d)| *d < f32::MAX) {
        all[from.index() * edges.n + to.index()] = distance;
    }
    all
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
    if let [command, name, file, out] = &args[..]
        && command == "method"
    {
        let edges = read(&std::fs::read_to_string(file)?)?;
        let method = METHODS.iter().find(|(own, _)| own == name).ok_or("no such method")?.1;
        let began = Instant::now();
        let distances = method(&edges, edges.n);
        println!("{:.6}", began.elapsed().as_secs_f64());
        return Ok(std::fs::write(out, distances.iter().flat_map(|d| d.to_le_bytes()).collect::<Vec<u8>>())?);
    }
    let file = args.first().ok_or("dijkstra EDGES.csv [SECONDS] [SOURCES], or dijkstra make N DEGREE")?;
    let limit: f64 = args.get(1).map_or(Ok(60.0), |seconds| seconds.parse())?;
    let text = std::fs::read_to_string(file)?;
    let began = Instant::now();
    let edges = read(&text)?;
    let reading = began.elapsed().as_secs_f64();
    let sources = args.get(2).map_or(Ok(edges.n), |count| count.parse())?;
    let all = edges.n.pow(3) as f64;
    for (name, method) in METHODS {
        // Of an algorithm that goes node by node, what one takes says how long all of them are likely to take.
        let likely = match name {
            "rayon Dijkstra" => 0.0,
            "petgraph Dijkstra" => {
                let began = Instant::now();
                method(&edges, 1);
                began.elapsed().as_secs_f64() * sources as f64
            }
            _ if sources < edges.n => f64::INFINITY,
            "rayon Floyd-Warshall" => all * 1e-9,
            _ => all * 3e-9,
        };
        if likely <= limit {
            let began = Instant::now();
            let distances = method(&edges, sources);
            let took = reading + began.elapsed().as_secs_f64();
            let sum: f64 = distances.iter().filter(|d| d.is_finite()).map(|&d| f64::from(d)).sum();
            println!("{name},{took:.4},{sum}");
        }
    }
    Ok(())
}

//! The graph of a file: what it is, and what is said of it.

use crate::bench;
use crate::cli::GraphJob;
use crate::data::Dtype;
use crate::graph::{self, Closure, Graph, Length, Names, NextHops, Stopped, Wanted};
use crate::input::GraphFile;
use crate::{Error, memory};

/// The pairs that are asked for.
pub(crate) fn wanted(input: &GraphFile, job: &GraphJob) -> Result<Wanted, Error> {
    let wanted = match input {
        GraphFile::Edges(list) => Wanted::new(&list.names, &job.from, &job.to),
        GraphFile::Matrix(matrix) => Wanted::new(&Names::numbered(matrix.n), &job.from, &job.to),
    };
    wanted.map_err(Error::Usage)
}

/// The graph of a file, and what kind of file that is.
pub(crate) fn graph(input: GraphFile, undirected: bool) -> (Graph, String) {
    match input {
        GraphFile::Edges(list) => {
            let (edges, nodes) = (list.ends.len(), list.names.len());
            let kind = format!("a list of {edges} edge{} between {nodes} node{}", plural(edges), plural(nodes));
            (Graph::from_edges(&list, undirected), kind)
        }
        GraphFile::Matrix(matrix) => {
            let n = matrix.n;
            let graph = Graph::from_matrix(matrix, undirected);
            let kind = format!("a matrix of {n} x {n} weights with {} edge{}", graph.edges, plural(graph.edges));
            (graph, kind)
        }
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

pub(crate) fn size(input: &GraphFile) -> (usize, Dtype) {
    match input {
        GraphFile::Edges(list) => (list.names.len(), list.weights.dtype()),
        GraphFile::Matrix(matrix) => (matrix.n, matrix.weights.dtype()),
    }
}

/// Refuses more nodes than this machine has memory for.
pub(crate) fn check_memory(input: &GraphFile, job: &GraphJob, gpu: bool) -> Result<(), Error> {
    let (n, dtype) = size(input);
    let needed = graph::memory_needed(n, dtype, job.paths, gpu);
    match memory::available() {
        Some(available) if needed > available => Err(Error::Usage(format!(
            "the distances of {n} nodes need {} of memory, and {} is available: leave nodes out, or use a machine with \
             more memory",
            bench::gib(needed),
            bench::gib(available)
        ))),
        _ => Ok(()),
    }
}

/// Says what the file holds, and what of it does not count.
pub(crate) fn describe(file: &str, kind: &str, graph: &Graph, note: &dyn Fn(&str)) {
    note(&format!("{file}: {kind}, {}", graph.weights.dtype()));
    if graph.duplicates > 0 {
        note(&format!("duplicate edges: {}; the smallest weight counts", graph.duplicates));
    }
    if graph.idle_loops > 0 {
        note(&format!("edges from a node to itself: {}, left out as they shorten no path", graph.idle_loops));
    }
}

/// Pairs of different nodes.
pub(crate) fn pairs(wanted: &Wanted) -> u64 {
    let same = wanted.from.iter().filter(|from| wanted.to.binary_search(from).is_ok()).count();
    (wanted.from.len() * wanted.to.len() - same) as u64
}

pub(crate) fn refusal(stopped: Stopped<Error>, graph: &Graph) -> Error {
    let dtype = graph.weights.dtype();
    match stopped {
        Stopped::Step(error) => error,
        Stopped::TooFar(length) => Error::Usage(format!(
            "a distance has become {}, too large for another step in {dtype}: choose {}",
            // In the digits of its type.
            if dtype == Dtype::F32 { (length as f32).text() } else { length.text() },
            if dtype == Dtype::F64 { "a larger unit" } else { "--dtype f64" }
        )),
        Stopped::Negative(cycle) => {
            const MOST: usize = 10;
            let around = cycle.nodes.iter().chain(cycle.nodes.first()).map(|&node| graph.names.name(node));
            let mut names: Vec<&str> = around.collect();
            if names.len() > MOST {
                names.splice(MOST - 2..names.len() - 1, ["..."]);
            }
            let doubt = match (cycle.doubtful, dtype) {
                (false, _) => "",
                (true, Dtype::F64) => ". Rounding may have made it negative: choose whole weights and --dtype i32",
                (true, _) => {
                    ". Rounding may have made it negative: choose --dtype f64, or whole weights and --dtype i32"
                }
            };
            Error::Usage(format!(
                "there are no shortest distances, as a negative cycle makes paths ever shorter: {} has length \
                 {}{doubt}",
                names.join(" -> "),
                cycle.length.text()
            ))
        }
    }
}

pub(crate) fn paths(graph: &Graph, found: &Closure, wanted: &Wanted) -> Result<NextHops, Error> {
    let hops = graph::next_hops(graph.len(), &found.weights, &found.distances, &wanted.to);
    hops.map_err(|mismatch| {
        let name = |node| graph.names.name(node);
        Error::WrongResult(format!(
            "the distance from {} to {} belongs to no path: the device's result is wrong; choose another rung with \
             --variant",
            name(mismatch.0),
            name(mismatch.1)
        ))
    })
}

//! The graph of a file: what it is, and what is said of it.

use crate::bench;
use crate::cli::GraphJob;
use crate::cpu::minplus::Semiring;
use crate::data::Dtype;
use crate::graph::{self, Graph, Names, Wanted};
use crate::input::{EdgeKind, GraphFile};
use crate::{Error, memory};

/// The pairs that are asked for.
pub(crate) fn wanted(input: &GraphFile, job: &GraphJob) -> Result<Wanted, Error> {
    let wanted = match input {
        GraphFile::Edges(list, _) => Wanted::new(&list.names, &job.from, &job.to),
        GraphFile::Matrix(matrix, _) => Wanted::new(&Names::numbered(matrix.n), &job.from, &job.to),
    };
    wanted.map_err(Error::Usage)
}

/// The graph of a file, what kind of file that is, and what its reader assumed.
pub(crate) fn graph(semiring: Semiring, input: GraphFile, undirected: bool) -> (Graph, String, Vec<String>) {
    match input {
        GraphFile::Edges(mut list, kind) => {
            graph::least(semiring, &mut list.weights);
            let EdgeKind { format, edges, both_ways, notes } = kind;
            let nodes = list.names.len();
            let both = if both_ways { ", each both ways" } else { "" };
            let text = format!("{format} {edges} edge{} between {nodes} node{}{both}", plural(edges), plural(nodes));
            (Graph::from_edges(semiring, &list, undirected && !both_ways), text, notes)
        }
        GraphFile::Matrix(mut matrix, notes) => {
            let n = matrix.n;
            graph::least(semiring, &mut matrix.weights);
            let graph = Graph::from_matrix(semiring, matrix, undirected);
            let kind = format!("a matrix of {n} x {n} weights with {} edge{}", graph.edges, plural(graph.edges));
            (graph, kind, notes)
        }
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

pub(crate) fn size(input: &GraphFile) -> (usize, Dtype) {
    match input {
        GraphFile::Edges(list, _) => (list.names.len(), list.weights.dtype()),
        GraphFile::Matrix(matrix, _) => (matrix.n, matrix.weights.dtype()),
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
pub(crate) fn describe(file: &str, kind: &str, notes: &[String], graph: &Graph, note: &dyn Fn(&str)) {
    note(&format!("{file}: {kind}, {}", graph.weights.dtype()));
    notes.iter().for_each(|text| note(text));
    if graph.duplicates > 0 {
        let best = if graph.semiring.is_greatest() { "largest" } else { "smallest" };
        note(&format!("duplicate edges: {}; the {best} weight counts", graph.duplicates));
    }
    if graph.idle_loops > 0 {
        note(&format!("edges from a node to itself: {}, left out as they shorten no path", graph.idle_loops));
    }
}

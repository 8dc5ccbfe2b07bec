//! The edges of a file, before their weights are numbers.

use super::Names;
use std::collections::BTreeSet;

/// What a file of edges holds. Weights are kept as they are written.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedEdges<'a> {
    /// All nodes, those without edges too.
    pub names: Names,
    /// How many edges there are, as the file counts them.
    pub edges: usize,
    /// Whether each of them leads both ways: then both are in the list.
    pub both_ways: bool,
    /// Whether the file has weights; else they are 1.
    pub weighted: bool,
    pub list: Vec<ListedEdge<'a>>,
    /// What else the reader of the file assumed.
    pub notes: Vec<String>,
}

/// An edge between two nodes, which are counted from 0 here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListedEdge<'a> {
    /// The line of the file.
    pub line: usize,
    /// Where it starts and ends.
    pub ends: (usize, usize),
    /// Its weight as written.
    pub weight: &'a str,
}

/// An edge of a file in which each may lead one way or both, and have a weight or none.
pub(crate) struct FoundEdge<'a> {
    pub(crate) line: usize,
    pub(crate) ends: (usize, usize),
    pub(crate) weight: Option<&'a str>,
    pub(crate) is_directed: bool,
}

/// Most nodes: their matrix takes more memory than machines have long before.
pub const MOST_NODES: usize = 1 << 20;

impl<'a> ListedEdges<'a> {
    /// The edges between named nodes; `unread` has the names of what else is in the file.
    ///
    /// # Errors
    /// A count of nodes that no matrix has, or an edge without a weight among others.
    pub(crate) fn of_found(
        names: Names,
        found: &[FoundEdge<'a>],
        unread: &BTreeSet<&str>,
    ) -> Result<ListedEdges<'a>, String> {
        if names.is_empty() {
            return Err("it holds no nodes, and at least one is needed".into());
        }
        if names.len() > MOST_NODES {
            return Err(format!(
                "it holds more than {MOST_NODES} nodes, and the distances are a matrix; leave nodes out"
            ));
        }
        let weighted = found.iter().any(|edge| edge.weight.is_some());
        if let Some(edge) = found.iter().find(|edge| weighted && edge.weight.is_none()) {
            return Err(format!("line {}: this edge has no weight, and others have; give it one", edge.line));
        }
        let mut list = Vec::with_capacity(2 * found.len());
        for &FoundEdge { line, ends: (from, to), weight, is_directed } in found {
            let weight = weight.unwrap_or("1");
            list.push(ListedEdge { line, ends: (from, to), weight });
            if !is_directed && from != to {
                list.push(ListedEdge { line, ends: (to, from), weight });
            }
        }
        let both_ways = !found.is_empty() && found.iter().all(|edge| !edge.is_directed);
        let notes = (!unread.is_empty()).then(|| unread_note(unread)).into_iter().collect();
        Ok(ListedEdges { names, edges: found.len(), both_ways, weighted, list, notes })
    }

    /// All of it, for tests.
    #[cfg(test)]
    pub(crate) fn told(&self) -> String {
        let name = |node: usize| self.names.name(node);
        let list: String = self
            .list
            .iter()
            .map(|e: &ListedEdge<'_>| format!(" {}>{}:{}@{}", name(e.ends.0), name(e.ends.1), e.weight, e.line))
            .collect();
        let notes: String = self.notes.iter().map(|note| format!(" [{note}]")).collect();
        format!("{} {} {} {}{list}{notes}", self.names.len(), self.edges, self.both_ways, self.weighted)
    }
}

/// Which attributes of nodes and edges do not matter here.
fn unread_note(names: &BTreeSet<&str>) -> String {
    const MOST: usize = 5;
    let shown: Vec<String> = names.iter().take(MOST).map(|name| shown(name)).collect();
    let more = if names.len() > MOST { ", ..." } else { "" };
    format!("attributes that are not read: {}{more}", shown.join(", "))
}

/// Text from a file for a message: short, and on one line whatever it holds.
pub(crate) fn shown(text: &str) -> String {
    text.chars().take(40).collect::<String>().escape_debug().to_string()
}

//! Graphs in files of known formats. DIMACS, Matrix Market and METIS are read here: nodes are numbers from 1, and what follows is
//! counted first.

use super::listed::{ListedEdge, ListedEdges, MOST_NODES};
use super::{Names, graphml};
use gpulab_model::named_enum;
use std::collections::HashMap;

named_enum! {
    /// A kind of file that says what it holds.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum GraphFormat {
        /// `.gr` of the 9th DIMACS challenge: arcs.
        Dimacs = "DIMACS",
        /// Coordinates of a square matrix.
        MatrixMarket = "Matrix Market",
        /// A line for each node, with its neighbours.
        Metis = "METIS",
        /// Nodes and edges in XML.
        GraphMl = "GraphML",
    }
}

impl GraphFormat {
    /// The format of a text: by its mark, else by the ending of the file's name.
    pub fn of(text: &str, ending: &str) -> Option<GraphFormat> {
        let is_market = |line: &str| line.get(..14).is_some_and(|mark| mark.eq_ignore_ascii_case("%%MatrixMarket"));
        let is_problem = |line: &str| matches!(words(line)[..], ["p", "sp" | "edge" | "col", _, _]);
        let is_xml = |text: &str| text.trim_start().starts_with('<') && text.contains("<graphml");
        let first = text.lines().find(|line| !line.trim().is_empty() && words(line)[0] != "c");
        match ending {
            _ if is_market(text) => Some(GraphFormat::MatrixMarket),
            _ if first.is_some_and(is_problem) => Some(GraphFormat::Dimacs),
            _ if is_xml(text) => Some(GraphFormat::GraphMl),
            "graphml" => Some(GraphFormat::GraphMl),
            "gr" => Some(GraphFormat::Dimacs),
            "mtx" => Some(GraphFormat::MatrixMarket),
            "graph" | "metis" => Some(GraphFormat::Metis),
            _ => None,
        }
    }

    /// The edges in a text.
    ///
    /// # Errors
    /// The first line that is wrong, and what to do.
    pub fn read(self, text: &str) -> Result<ListedEdges<'_>, String> {
        let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
        match self {
            GraphFormat::Dimacs => dimacs(lines),
            GraphFormat::MatrixMarket => matrix_market(lines),
            GraphFormat::Metis => metis(lines.filter(|(_, line)| !line.starts_with('%'))),
            GraphFormat::GraphMl => graphml::read(text),
        }
    }
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// What a file says that it holds.
struct Announced {
    line: usize,
    nodes: usize,
    edges: usize,
}

impl Announced {
    fn new(line: usize, nodes: &str, edges: &str) -> Result<Announced, String> {
        let count = |word: &str| {
            let is_number = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
            // What does not fit is too large too.
            is_number
                .then(|| word.parse().unwrap_or(usize::MAX))
                .ok_or_else(|| format!("line {line}: the counts of nodes and of edges are whole numbers; correct them"))
        };
        let nodes = count(nodes)?;
        let edges = count(edges)?;
        match nodes {
            0 => Err(format!("line {line} announces no nodes, and at least one is needed")),
            1..=MOST_NODES => Ok(Announced { line, nodes, edges }),
            _ => Err(format!(
                "line {line} announces more than {MOST_NODES} nodes, and the distances are a matrix; leave nodes out"
            )),
        }
    }

    /// The node of a number.
    fn node(&self, line: usize, word: &str) -> Result<usize, String> {
        let number = word.parse().ok().filter(|number| (1..=self.nodes).contains(number));
        number.map(|number| number - 1).ok_or_else(|| {
            let most = self.nodes;
            let first = self.line;
            format!(
                "line {line}: nodes are numbers from 1 to {most}, as line {first} announces; correct one of the lines"
            )
        })
    }

    fn edge<'a>(&self, line: usize, from: &str, to: &str, weight: &'a str) -> Result<ListedEdge<'a>, String> {
        Ok(ListedEdge { line, ends: (self.node(line, from)?, self.node(line, to)?), weight })
    }

    /// All that was announced.
    fn listed<'a>(&self, list: Vec<ListedEdge<'a>>, both_ways: bool, weighted: bool) -> ListedEdges<'a> {
        let names = Names::counted(self.nodes);
        let notes = Vec::new();
        ListedEdges { names, edges: self.edges, both_ways, weighted, list, notes }
    }

    /// That as many were found as were announced.
    fn check(&self, found: usize) -> Result<(), String> {
        let line = self.line;
        let announced = self.edges;
        match found == announced {
            true => Ok(()),
            false => Err(format!(
                "line {line} announces {announced} edges, and the file has {found}: correct the count, or get the whole file"
            )),
        }
    }
}

fn dimacs<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Result<ListedEdges<'a>, String> {
    const HEADER: &str = "'p sp NODES ARCS'";
    let mut counts: Option<Announced> = None;
    // Of colourings: edges without weights and directions.
    let mut has_edges = false;
    let mut list = Vec::new();
    for (line, text) in lines.filter(|(_, text)| !text.starts_with('c')) {
        match (&words(text)[..], &counts) {
            ([], _) => {}
            (["p", "sp", nodes, edges], None) => counts = Some(Announced::new(line, nodes, edges)?),
            (["p", "edge" | "col", nodes, edges], None) => {
                (counts, has_edges) = (Some(Announced::new(line, nodes, edges)?), true);
            }
            (["p", ..], None) => {
                return Err(format!(
                    "line {line}: the problem is no {HEADER} and no 'p edge NODES EDGES'; only such are read"
                ));
            }
            (["p", ..], Some(known)) => {
                return Err(format!("line {line}: line {} was a header already; remove one", known.line));
            }
            (["e", from, to], Some(known)) if has_edges => {
                let edge = known.edge(line, from, to, "1")?;
                list.extend([edge, ListedEdge { ends: (edge.ends.1, edge.ends.0), ..edge }]);
            }
            _ if has_edges => {
                return Err(format!("line {line} is no edge 'e FROM TO' and no comment 'c ...'; correct it"));
            }
            (["a", from, to, weight], Some(known)) => list.push(known.edge(line, from, to, weight)?),
            (["a", ..], None) => return Err(format!("line {line}: {HEADER} must come before the arcs; add it")),
            _ => return Err(format!("line {line} is no arc 'a FROM TO WEIGHT' and no comment 'c ...'; correct it")),
        }
    }
    let counts = counts.ok_or_else(|| format!("it has no line {HEADER}; add it"))?;
    counts.check(list.len() / if has_edges { 2 } else { 1 })?;
    Ok(counts.listed(list, has_edges, !has_edges))
}

fn matrix_market<'a>(mut lines: impl Iterator<Item = (usize, &'a str)>) -> Result<ListedEdges<'a>, String> {
    let banner = lines.next().map(|(_, text)| text.to_ascii_lowercase()).unwrap_or_default();
    let (weighted, both_ways) = match words(&banner)[..] {
        [
            "%%matrixmarket",
            "matrix",
            "coordinate",
            field @ ("real" | "integer" | "pattern"),
            symmetry @ ("general" | "symmetric"),
        ] => (field != "pattern", symmetry == "symmetric"),
        _ => {
            return Err(
                "line 1 is not '%%MatrixMarket matrix coordinate' with real, integer or pattern, and general or \
                        symmetric; save the matrix so"
                    .into(),
            );
        }
    };
    let mut lines = lines
        .map(|(line, text)| (line, words(text)))
        .filter(|(_, words)| words.first().is_some_and(|word| !word.starts_with('%')));
    let counts = match lines.next() {
        Some((line, size)) => match size[..] {
            [rows, columns, _] if rows != columns => {
                return Err(format!("line {line}: distances need a square matrix; give it as many rows as columns"));
            }
            [rows, _, entries] => Announced::new(line, rows, entries)?,
            _ => return Err(format!("line {line} is no size 'ROWS COLUMNS ENTRIES'; correct it")),
        },
        None => return Err("it has no line 'ROWS COLUMNS ENTRIES'; get the whole file".into()),
    };
    let mut list = Vec::new();
    let mut found = 0;
    for (line, entry) in lines {
        let edge = match entry[..] {
            [from, to, weight] if weighted => counts.edge(line, from, to, weight)?,
            [from, to] if !weighted => counts.edge(line, from, to, "1")?,
            _ => {
                let form = if weighted { "ROW COLUMN WEIGHT" } else { "ROW COLUMN" };
                return Err(format!("line {line} is no entry '{form}'; correct it"));
            }
        };
        let (row, column) = edge.ends;
        if both_ways && row < column {
            return Err(format!(
                "line {line} is above the diagonal, and a symmetric matrix lists what is below; call it general, or swap them"
            ));
        }
        found += 1;
        list.push(edge);
        if both_ways && row != column {
            list.push(ListedEdge { ends: (column, row), ..edge });
        }
    }
    counts.check(found)?;
    Ok(counts.listed(list, both_ways, weighted))
}

fn metis<'a>(mut lines: impl Iterator<Item = (usize, &'a str)>) -> Result<ListedEdges<'a>, String> {
    let header = lines.by_ref().map(|(line, text)| (line, words(text))).find(|(_, words)| !words.is_empty());
    let Some((line, header)) = header else { return Err("it has no line 'NODES EDGES'; add it".into()) };
    // Digits of the format: whether nodes have sizes, and weights, and edges have weights.
    let (nodes, edges, format, constraints) = match header[..] {
        [nodes, edges] => (nodes, edges, "0", "1"),
        [nodes, edges, format] => (nodes, edges, format, "1"),
        [nodes, edges, format, constraints] => (nodes, edges, format, constraints),
        _ => return Err(format!("line {line} is no header 'NODES EDGES [FORMAT [WEIGHTS]]'; correct it")),
    };
    let flags = format!("{format:0>3}");
    let (true, Some(constraints)) = (
        flags.len() == 3 && flags.bytes().all(|flag| b"01".contains(&flag)),
        constraints.parse().ok().filter(|count| (1..=64).contains(count)),
    ) else {
        return Err(format!(
            "line {line}: the format has up to three digits 0 and 1, and nodes 1 to 64 weights; correct it"
        ));
    };
    let has = |digit: usize| flags.as_bytes()[digit] == b'1';
    let skipped = usize::from(has(0)) + if has(1) { constraints } else { 0 };
    let weighted = has(2);
    let counts = Announced::new(line, nodes, edges)?;
    let mut list = Vec::new();
    let mut node = 0;
    for (line, text) in lines {
        let words = words(text);
        if node == counts.nodes {
            if words.is_empty() {
                continue;
            }
            let first = counts.line;
            let nodes = counts.nodes;
            return Err(format!("line {line} is a node too many: line {first} announces {nodes}; correct one of them"));
        }
        let neighbours = words.get(skipped..).unwrap_or_default();
        if words.len() < skipped || (weighted && neighbours.len() % 2 == 1) {
            return Err(format!(
                "line {line} has {} numbers, and format {format} wants others; complete it",
                words.len()
            ));
        }
        for edge in neighbours.chunks(1 + usize::from(weighted)) {
            let to = counts.node(line, edge[0])?;
            let weight = edge.get(1).copied().unwrap_or("1");
            if to == node {
                return Err(format!("line {line} has an edge from node {} to itself, which METIS has not", to + 1));
            }
            list.push(ListedEdge { line, ends: (node, to), weight });
        }
        node += 1;
    }
    if node < counts.nodes {
        let line = counts.line;
        let nodes = counts.nodes;
        return Err(format!(
            "line {line} announces {nodes} nodes, and the file has lines for {node}; get the whole file"
        ));
    }
    check_both_ways(&list)?;
    counts.check(list.len() / 2)?;
    Ok(counts.listed(list, true, weighted))
}

/// That each edge is listed once from either end, with one weight.
fn check_both_ways(list: &[ListedEdge<'_>]) -> Result<(), String> {
    let mut weights = HashMap::with_capacity(list.len());
    for &ListedEdge { line, ends: (from, to), weight } in list {
        if weights.insert((from, to), weight).is_some() {
            return Err(format!("line {line} lists node {} twice; remove one", to + 1));
        }
    }
    match list.iter().find(|edge| weights.get(&(edge.ends.1, edge.ends.0)) != Some(&edge.weight)) {
        None => Ok(()),
        Some(&ListedEdge { line, ends: (from, to), .. }) => Err(format!(
            "line {line}: the edge from node {} to node {} does not come back with the same weight; correct one of the lines",
            from + 1,
            to + 1
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::GraphFormat::{Dimacs, GraphMl, MatrixMarket, Metis};
    use super::*;

    #[test]
    fn each_format_is_read() {
        for (format, text, want) in [
            (Dimacs, "c x\np sp 3 2\na 1 2 0.50\n\na 3 1 -7\n", "3 2 false true 1>2:0.50@3 3>1:-7@5"),
            (Dimacs, "p sp 2 0\r\n", "2 0 false true"),
            (Dimacs, "c x\np edge 3 1\ne 3 1\n", "3 1 true false 3>1:1@3 1>3:1@3"),
            (
                MatrixMarket,
                "%%MatrixMarket matrix coordinate real general\n% c\n\n2 2 2\n1 2 1.5\n2 2 3\n",
                "2 2 false true 1>2:1.5@5 2>2:3@6",
            ),
            (
                MatrixMarket,
                "%%matrixmarket MATRIX coordinate Pattern Symmetric\n2 2 2\n2 1\n1 1\n",
                "2 2 true false 2>1:1@3 1>2:1@3 1>1:1@4",
            ),
            (Metis, "% c\n3 1\n2\n%\n1\n\n", "3 1 true false 1>2:1@3 2>1:1@5"),
            (Metis, "2 1 011 2\n5 5 2 9\n5 5 1 9\n\n", "2 1 true true 1>2:9@2 2>1:9@3"),
            (Metis, "2 1 100\n5 2\n5 1", "2 1 true false 1>2:1@2 2>1:1@3"),
        ] {
            assert_eq!(format.read(text).unwrap().told(), want, "{text:?}");
        }
    }

    #[test]
    fn what_is_wrong_names_its_line() {
        const MARKET: &str = "%%MatrixMarket matrix coordinate real symmetric\n";
        for (format, text, want) in [
            (Dimacs, "", "no line 'p sp"),
            (Dimacs, "\0\u{1}\n", "line 1 is no arc"),
            (Dimacs, "a 1 2 3\n", "line 1: 'p sp NODES ARCS' must come before"),
            (Dimacs, "p max 2 1\n", "line 1: the problem is no 'p sp"),
            (Dimacs, "p edge 2 1\na 1 2 3\n", "line 2 is no edge 'e FROM TO'"),
            (Dimacs, "p edge 2 2\ne 1 2\n", "line 1 announces 2 edges, and the file has 1"),
            (Dimacs, "p sp 2 1\np sp 2 1\n", "line 2: line 1 was a header"),
            (Dimacs, "p sp -2 1\n", "line 1: the counts"),
            (Dimacs, "p sp 0 0\n", "line 1 announces no nodes"),
            (Dimacs, "p sp 999999999999 3\n", "line 1 announces more than 1048576 nodes"),
            (Dimacs, "p sp 99999999999999999999999999 3\n", "line 1 announces more than"),
            (Dimacs, "p sp 2 99999999999999999999999\n", "and the file has 0"),
            (Dimacs, "p sp 2 2\na 1 2 3\n", "line 1 announces 2 edges, and the file has 1"),
            (Dimacs, "p sp 2 1\na 1 3 3\n", "line 2: nodes are numbers from 1 to 2, as line 1"),
            (Dimacs, "p sp 2 1\na 0 1 3\n", "line 2: nodes are"),
            (Dimacs, "p sp 2 1\na 1 2\n", "line 2 is no arc"),
            (MatrixMarket, "", "line 1 is not"),
            (MatrixMarket, "%%MatrixMarket matrix array real general\n1 1\n", "line 1 is not"),
            (MatrixMarket, MARKET, "no line 'ROWS"),
            (MatrixMarket, &format!("{MARKET}2 3 1\n"), "line 2: distances need a square"),
            (MatrixMarket, &format!("{MARKET}2 2\n"), "line 2 is no size"),
            (MatrixMarket, &format!("{MARKET}2 2 1\n1 2 3\n"), "line 3 is above the diagonal"),
            (MatrixMarket, &format!("{MARKET}2 2 1\n2 1\n"), "line 3 is no entry 'ROW COLUMN WEIGHT'"),
            (MatrixMarket, &format!("{MARKET}2 2 5\n2 1 3\n"), "line 2 announces 5 edges, and the file has 1"),
            (MatrixMarket, &format!("{MARKET}2 2 1\n3 1 3\n"), "line 3: nodes are"),
            (Metis, "%\n", "no line 'NODES EDGES'"),
            (Metis, "3\n", "line 1 is no header"),
            (Metis, "3 1 2\n", "line 1: the format"),
            (Metis, "3 1 é\n", "line 1: the format"),
            (Metis, "2 1 10 99999999999\n", "line 1: the format"),
            (Metis, "3 1\n2\n1\n", "line 1 announces 3 nodes, and the file has lines for 2"),
            (Metis, "2 1\n2\n1\n1\n", "line 4 is a node too many"),
            (Metis, "2 1\n2\n\n", "line 2: the edge from node 1 to node 2 does not come back"),
            (Metis, "2 1 1\n2 5\n1 6\n", "line 2: the edge from node 1 to node 2 does not come back"),
            (Metis, "2 1 1\n2\n1\n", "line 2 has 1 numbers"),
            (Metis, "2 1 10\n\n\n", "line 2 has 0 numbers"),
            (Metis, "2 1\n1\n\n", "line 2 has an edge from node 1 to itself"),
            (Metis, "2 1\n2 2\n1\n", "line 2 lists node 2 twice"),
            (Metis, "2 2\n2\n1\n", "line 1 announces 2 edges, and the file has 1"),
            (Metis, "2 1\n3\n1\n", "line 2: nodes are numbers from 1 to 2"),
        ] {
            let why = format.read(text).unwrap_err();
            assert!(why.contains(want) && !why.contains('\n'), "{text:?}: {why}");
        }
    }

    #[test]
    fn a_mark_goes_before_the_ending() {
        for (text, ending, want) in [
            ("c a b 1\np sp 2 1\n", "txt", Some(Dimacs)),
            ("p edge 2 1\ne 1 2\n", "col", Some(Dimacs)),
            ("c d 1\nd e 1\n", "txt", None),
            ("%%MatrixMarket matrix\n", "graph", Some(MatrixMarket)),
            ("%%MatrixMarke\u{e9}", "txt", None),
            ("", "gr", Some(Dimacs)),
            ("\n<?xml version='1.0'?>\n<graphml/>", "txt", Some(GraphMl)),
            ("<gexf/>", "xml", None),
            ("", "graphml", Some(GraphMl)),
            ("1 2\n", "metis", Some(Metis)),
            ("1 2\n", "csv", None),
        ] {
            assert_eq!(GraphFormat::of(text, ending), want, "{text:?}");
        }
    }
}

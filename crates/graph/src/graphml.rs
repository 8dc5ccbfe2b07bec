//! GraphML: nodes and edges in XML, with attributes that the file declares.

use super::Names;
use super::listed::{FoundEdge, ListedEdges, shown};
use roxmltree::{Document, Error, Node};
use std::collections::BTreeSet;

/// The edges of a text; their weights are the attribute `weight`.
pub(crate) fn read(text: &str) -> Result<ListedEdges<'_>, String> {
    let document = Document::parse(text).map_err(no_xml)?;
    let root = document.root_element();
    if root.tag_name().name() != "graphml" {
        return Err(format!("its root is <{}>, not <graphml>; save it as GraphML", shown(root.tag_name().name())));
    }
    let graphs: Vec<Node<'_, '_>> = children(root, "graph").collect();
    let [graph] = graphs[..] else {
        return Err(format!("it holds {} graphs, and one is read; keep one", graphs.len()));
    };
    let keys = GraphMlKeys::declared(text, root);
    let names = nodes(text, graph)?;
    let is_directed = graph.attribute("edgedefault") != Some("undirected");
    let mut line = ElementLines::new(text);
    let mut found = Vec::new();
    for edge in children(graph, "edge") {
        let at = line.of(edge);
        let end = |end: &str| {
            let id = edge.attribute(end).ok_or_else(|| format!("line {at}: the edge has no {end}; name a node"))?;
            names.get(id).ok_or_else(|| format!("line {at}: the edge's {end} '{}' is no node; add it", shown(id)))
        };
        let ends = (end("source")?, end("target")?);
        let is_directed = edge.attribute("directed").map_or(is_directed, |own| own == "true");
        let weights: Vec<Node<'_, '_>> = children(edge, "data").filter(|data| keys.is_weight(*data)).collect();
        let (line, weight) = match weights[..] {
            [] => (at, keys.default),
            [data] => (line.of(data), Some(content(text, data))),
            _ => return Err(format!("line {at}: the edge has {} weights; keep one", weights.len())),
        };
        found.push(FoundEdge { line, ends, weight, is_directed });
    }
    ListedEdges::of_found(names, &found, &keys.unread)
}

/// That this is no XML, and where.
fn no_xml(error: Error) -> String {
    let what = error.to_string();
    let at = error.pos();
    let place = format!(" at {at}");
    let place = what.contains(&place).then_some(place);
    let line = place.as_ref().map_or(String::new(), |_| format!("line {}, column {}: ", at.row, at.col));
    let what = place.map_or(what.clone(), |place| what.replace(&place, ""));
    format!("{line}it is no whole XML ({}); save it again, or get the whole file", what.replace(char::is_control, " "))
}

fn children<'a, 'i>(parent: Node<'a, 'i>, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    parent.children().filter(move |child| child.tag_name().name() == name)
}

/// The text of an element as it is written.
fn content<'t>(text: &'t str, element: Node<'_, '_>) -> &'t str {
    element.first_child().map_or("", |content| text[content.range()].trim())
}

/// The nodes' ids.
fn nodes(text: &str, graph: Node<'_, '_>) -> Result<Names, String> {
    let mut line = ElementLines::new(text);
    let mut names = Names::default();
    for child in graph.children().filter(Node::is_element) {
        match child.tag_name().name() {
            "node" => {}
            "hyperedge" => {
                return Err(format!("line {}: a hyperedge is no edge between two nodes; replace it", line.of(child)));
            }
            _ => continue,
        }
        if children(child, "graph").next().is_some() {
            return Err(format!("line {}: the node holds a graph, which is not read; take it out", line.of(child)));
        }
        let Some(id) = child.attribute("id") else {
            return Err(format!("line {}: the node has no id; give it one", line.of(child)));
        };
        let known = names.len();
        if names.number(id) < known {
            return Err(format!("line {}: the node '{}' is there twice; remove one", line.of(child), shown(id)));
        }
    }
    Ok(names)
}

/// What attributes are called in the data of nodes and edges.
struct GraphMlKeys<'a, 't> {
    /// Ids of the edges' weight: a writer may declare it once for whole numbers and once for others.
    weights: BTreeSet<&'a str>,
    /// The weight of edges that have none.
    default: Option<&'t str>,
    unread: BTreeSet<&'a str>,
}

impl<'a, 't> GraphMlKeys<'a, 't> {
    fn declared(text: &'t str, root: Node<'a, '_>) -> GraphMlKeys<'a, 't> {
        let mut keys = GraphMlKeys { weights: BTreeSet::new(), default: None, unread: BTreeSet::new() };
        for key in children(root, "key") {
            let id = key.attribute("id").unwrap_or_default();
            let name = key.attribute("attr.name").unwrap_or(id);
            if name == "weight" && matches!(key.attribute("for"), None | Some("edge" | "all")) {
                keys.weights.insert(id);
                keys.default = children(key, "default").next().map(|value| content(text, value)).or(keys.default);
            } else {
                keys.unread.insert(name);
            }
        }
        keys
    }

    fn is_weight(&self, data: Node<'_, '_>) -> bool {
        data.attribute("key").is_some_and(|key| self.weights.contains(key))
    }
}

/// The lines of elements that are asked for in their order.
struct ElementLines<'t> {
    text: &'t str,
    /// How far it is counted, and the line there.
    at: usize,
    line: usize,
}

impl ElementLines<'_> {
    fn new(text: &str) -> ElementLines<'_> {
        ElementLines { text, at: 0, line: 1 }
    }

    fn of(&mut self, element: Node<'_, '_>) -> usize {
        let start = element.range().start.max(self.at);
        self.line += self.text.as_bytes()[self.at..start].iter().filter(|&&byte| byte == b'\n').count();
        self.at = start;
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(text: &str) -> String {
        read(text).unwrap().told()
    }

    fn graph(inside: &str) -> String {
        format!(
            "<graphml><key id='w' for='edge' attr.name='weight'/>\n<graph edgedefault='directed'>\n{inside}\n</graph></graphml>"
        )
    }

    const AB: &str = "<node id='a'/><node id='b'/>";

    #[test]
    fn graphs_as_networkx_writes_them() {
        let text = r#"<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
  <key id="d2" for="edge" attr.name="color" attr.type="string" />
  <key id="d1" for="edge" attr.name="weight" attr.type="double" />
  <key id="d0" for="edge" attr.name="weight" attr.type="long" />
  <graph edgedefault="undirected">
    <node id="San Marino" />
    <node id="&lt;é&gt;" />
    <node id="alone" />
    <edge source="San Marino" target="&lt;é&gt;">
      <data key="d0">3</data>
      <data key="d2">red</data>
    </edge>
    <edge source="alone" target="alone" id="1">
      <data key="d1">-2.5</data>
    </edge>
  </graph>
</graphml>
"#;
        assert_eq!(
            edges(text),
            "3 2 true true San Marino><é>:3@11 <é>>San Marino:3@11 alone>alone:-2.5@15 [attributes that are not read: color]"
        );
        let plain =
            "<graphml><graph edgedefault='directed'><node id='a'/><edge source='a' target='a'/></graph></graphml>";
        assert_eq!(edges(plain), "1 1 false false a>a:1@1");
    }

    #[test]
    fn an_edge_may_have_its_own_direction_and_the_default_weight() {
        let text = "<graphml><key id='w' attr.name='weight'><default>7</default></key><graph edgedefault='directed'>\
                    <edge source='a' target='b'/>\n<edge source='b' target='a' directed='false'><data key='w'>\r\n 2 </data></edge>\
                    <node id='a'/><node id='b'/></graph></graphml>";
        assert_eq!(edges(text), "2 2 false true a>b:7@1 b>a:2@2 a>b:2@2");
    }

    #[test]
    fn what_is_wrong_names_its_line() {
        let edge = |attributes: &str| graph(&format!("{AB}\n<edge {attributes}/>"));
        for (text, want) in [
            (String::new(), "it is no whole XML (the document does not have a root node)"),
            ("<graphml>\n<graph>".into(), "it is no whole XML (the root node was opened but never closed)"),
            (
                "<graphml>\n<graph></graphml>".into(),
                "line 2, column 8: it is no whole XML (expected 'graph' tag, not 'graphml')",
            ),
            ("<graphml>\n\0</graphml>".into(), "line 2, column 1: it is no whole XML"),
            ("<!DOCTYPE a [<!ENTITY b 'c'>]><graphml/>".into(), "XML with DTD"),
            ("<gexf/>".into(), "its root is <gexf>"),
            ("<graphml/>".into(), "it holds 0 graphs"),
            ("<graphml><graph/><graph/></graphml>".into(), "it holds 2 graphs, and one is read"),
            (graph(""), "it holds no nodes"),
            (graph("<node/>"), "line 3: the node has no id"),
            (graph("<node id='a'/>\n<node id='a'/>"), "line 4: the node 'a' is there twice"),
            (graph("<node id='a'>\n<graph/></node>"), "line 3: the node holds a graph"),
            (graph("\n<hyperedge/>"), "line 4: a hyperedge"),
            (edge("source='a'"), "line 4: the edge has no target"),
            (edge("source='a' target='c&#10;'"), "line 4: the edge's target 'c\\n' is no node; add it"),
            (
                graph(&format!(
                    "{AB}<edge source='a' target='b'><data key='w'>1</data></edge>\n<edge source='b' target='a'/>"
                )),
                "line 4: this edge has no weight, and others have",
            ),
            (
                graph(&format!("{AB}<edge source='a' target='b'><data key='w'>1</data><data key='w'>1</data></edge>")),
                "line 3: the edge has 2 weights",
            ),
        ] {
            let why = read(&text).unwrap_err();
            assert!(why.contains(want) && !why.contains('\n'), "{text:?}: {why}");
        }
    }

    #[test]
    fn no_depth_is_too_deep() {
        assert!(read(&"<graphml>".repeat(200_000)).is_err());
        assert!(read(&format!("{}{}", "<graphml>".repeat(200_000), "</graphml>".repeat(200_000))).is_err());
    }
}

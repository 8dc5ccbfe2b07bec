//! GML: lists of keys and values, in brackets.

use super::Names;
use super::listed::{FoundEdge, ListedEdges, shown};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// The edges of a text; their weights are the key `weight`.
pub(crate) fn read(text: &str) -> Result<ListedEdges<'_>, String> {
    let mut gml = Gml { rest: text, line: 1, unread: BTreeSet::new() };
    let mut graph = None;
    while let Some((line, key, value)) = gml.entry(true)? {
        match (key, value) {
            ("graph", GmlValue::List) if graph.is_none() => graph = Some(GmlGraph::read(&mut gml)?),
            ("graph", _) => return Err(format!("line {line}: one graph is read, as 'graph [ ... ]'; keep one")),
            (_, GmlValue::List) => gml.skip()?,
            _ => {}
        }
    }
    let GmlGraph { is_directed, nodes, edges } = graph.ok_or("it has no 'graph [ ... ]'; save it as GML")?;
    let mut numbers = HashMap::with_capacity(nodes.len());
    for node in &nodes {
        if numbers.insert(node.id, numbers.len()).is_some() {
            return Err(format!("line {}: the id {} is there twice; change one", node.line, shown(node.id)));
        }
    }
    let (names, is_by_id) = names(&nodes);
    let mut found = Vec::with_capacity(edges.len());
    for GmlEdge { line, ends: [source, target], weight } in edges {
        let number = |id: &str| {
            let number = numbers.get(id).copied();
            number.ok_or_else(|| format!("line {line}: the edge's node {} is not there; add it", shown(id)))
        };
        found.push(FoundEdge { line, ends: (number(source)?, number(target)?), weight, is_directed });
    }
    let mut listed = ListedEdges::of_found(names, &found, &gml.unread)?;
    if is_by_id {
        listed.notes.push("not all nodes have labels of their own: nodes are called by their ids".into());
    }
    Ok(listed)
}

/// The nodes' labels if they tell all nodes apart, else their ids, and whether some labels are lost by that.
fn names(nodes: &[GmlNode<'_>]) -> (Names, bool) {
    let mut labels = Names::default();
    for label in nodes.iter().filter_map(|node| node.label) {
        labels.number(&plain(label));
    }
    if labels.len() == nodes.len() {
        return (labels, false);
    }
    let mut ids = Names::default();
    for node in nodes {
        ids.number(node.id);
    }
    (ids, !labels.is_empty())
}

/// A text without the entities that stand for its quotes and for what ASCII lacks.
fn plain(text: &str) -> Cow<'_, str> {
    const NAMED: [(&str, char); 5] = [("quot", '"'), ("amp", '&'), ("lt", '<'), ("gt", '>'), ("apos", '\'')];
    let character = |entity: &str| match entity.strip_prefix('#') {
        Some(code) => {
            let code = match code.strip_prefix(['x', 'X']) {
                Some(code) => u32::from_str_radix(code, 16),
                None => code.parse(),
            };
            char::from_u32(code.ok()?)
        }
        None => NAMED.iter().find(|(name, _)| *name == entity).map(|(_, character)| *character),
    };
    let mut parts = text.split('&');
    let mut out = Cow::Borrowed(parts.next().unwrap_or_default());
    for part in parts {
        let known = part.split_once(';').and_then(|(entity, rest)| Some((character(entity)?, rest)));
        let (character, rest) = known.unwrap_or(('&', part));
        let out = out.to_mut();
        out.push(character);
        out.push_str(rest);
    }
    out
}

struct GmlNode<'a> {
    line: usize,
    id: &'a str,
    label: Option<&'a str>,
}

struct GmlEdge<'a> {
    line: usize,
    /// The ids of its nodes.
    ends: [&'a str; 2],
    weight: Option<&'a str>,
}

struct GmlGraph<'a> {
    is_directed: bool,
    nodes: Vec<GmlNode<'a>>,
    edges: Vec<GmlEdge<'a>>,
}

impl<'a> GmlGraph<'a> {
    fn read(gml: &mut Gml<'a>) -> Result<GmlGraph<'a>, String> {
        let mut graph = GmlGraph { is_directed: false, nodes: Vec::new(), edges: Vec::new() };
        while let Some((line, key, value)) = gml.entry(false)? {
            match (key, value) {
                ("directed", GmlValue::Text(text)) => graph.is_directed = text == "1",
                ("node", GmlValue::List) => {
                    let [id, label] = gml.texts(["id", "label"])?;
                    let id = id.ok_or_else(|| format!("line {line}: the node has no id; give it one"))?;
                    graph.nodes.push(GmlNode { line, id, label });
                }
                ("edge", GmlValue::List) => {
                    let [source, target, weight] = gml.texts(["source", "target", "weight"])?;
                    let (Some(source), Some(target)) = (source, target) else {
                        return Err(format!("line {line}: the edge needs a source and a target; name two nodes"));
                    };
                    graph.edges.push(GmlEdge { line, ends: [source, target], weight });
                }
                (_, GmlValue::List) => gml.skip()?,
                _ => {}
            }
        }
        Ok(graph)
    }
}

enum GmlToken<'a> {
    Open,
    Close,
    Word(&'a str),
    /// What is between quotation marks.
    Quoted(&'a str),
}

/// What a key stands for.
enum GmlValue<'a> {
    Text(&'a str),
    /// A list, whose entries come next.
    List,
}

/// A text that is read key by key.
struct Gml<'a> {
    rest: &'a str,
    line: usize,
    /// Keys of nodes and edges that do not matter here.
    unread: BTreeSet<&'a str>,
}

impl<'a> Gml<'a> {
    fn take(&mut self, len: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(len);
        self.rest = rest;
        self.line += taken.bytes().filter(|&byte| byte == b'\n').count();
        taken
    }

    /// The next token and its line.
    fn token(&mut self) -> Result<Option<(usize, GmlToken<'a>)>, String> {
        loop {
            self.take(self.rest.len() - self.rest.trim_start().len());
            if !self.rest.starts_with('#') {
                break;
            }
            self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
        }
        let line = self.line;
        let token = match self.rest.chars().next() {
            None => return Ok(None),
            Some('[') => {
                self.take(1);
                GmlToken::Open
            }
            Some(']') => {
                self.take(1);
                GmlToken::Close
            }
            Some('"') => {
                self.take(1);
                let end = self.rest.find('"');
                let end = end.ok_or_else(|| format!("line {line}: a text has no end; add its quotation mark"))?;
                let text = self.take(end);
                self.take(1);
                GmlToken::Quoted(text)
            }
            Some(_) => {
                let end = self.rest.find(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | '"' | '#'));
                GmlToken::Word(self.take(end.unwrap_or(self.rest.len())))
            }
        };
        Ok(Some((line, token)))
    }

    /// The next key of a list, its line and its value; none at the end of the list, or of the whole text.
    fn entry(&mut self, is_whole: bool) -> Result<Option<(usize, &'a str, GmlValue<'a>)>, String> {
        let (line, key) = match self.token()? {
            None if is_whole => return Ok(None),
            None => return Err(self.no_end()),
            Some((_, GmlToken::Close)) if !is_whole => return Ok(None),
            Some((line, GmlToken::Word(key))) => (line, key),
            Some((line, _)) => return Err(format!("line {line}: a key must stand here; correct it")),
        };
        let value = match self.token()? {
            Some((_, GmlToken::Open)) => GmlValue::List,
            Some((_, GmlToken::Word(text) | GmlToken::Quoted(text))) => GmlValue::Text(text),
            _ => return Err(format!("line {line}: the key '{}' has no value; complete it", shown(key))),
        };
        Ok(Some((line, key, value)))
    }

    /// The values of these keys in a list that has begun.
    fn texts<const N: usize>(&mut self, keys: [&str; N]) -> Result<[Option<&'a str>; N], String> {
        let mut texts = [None; N];
        while let Some((line, key, value)) = self.entry(false)? {
            match (keys.iter().position(|wanted| *wanted == key), value) {
                (Some(at), GmlValue::Text(text)) if texts[at].is_none() => texts[at] = Some(text),
                (Some(_), _) => return Err(format!("line {line}: '{key}' must have one value; correct it")),
                (None, value) => {
                    // networkx tells parallel edges apart by a key.
                    if key != "key" {
                        self.unread.insert(key);
                    }
                    if let GmlValue::List = value {
                        self.skip()?;
                    }
                }
            }
        }
        Ok(texts)
    }

    /// Passes over the rest of a list, with all lists in it.
    fn skip(&mut self) -> Result<(), String> {
        let mut depth = 1_usize;
        while depth > 0 {
            match self.token()? {
                Some((_, GmlToken::Open)) => depth += 1,
                Some((_, GmlToken::Close)) => depth -= 1,
                Some(_) => {}
                None => return Err(self.no_end()),
            }
        }
        Ok(())
    }

    fn no_end(&self) -> String {
        format!("line {}: the text ends within a list; add its ], or get the whole file", self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(text: &str) -> String {
        read(text).unwrap().told()
    }

    #[test]
    fn graphs_as_networkx_writes_them() {
        let text = "graph [\n  multigraph 1\n  node [\n    id 0\n    label \"San &#233;&quot;&x;\"\n  ]\n  node [\n    id 1\n    \
                    label \"b\"\n    pos 1.5\n    pos 2\n  ]\n  edge [\n    source 0\n    target 1\n    key 0\n    weight 1.5\n  ]\n  \
                    edge [\n    source 1\n    target 1\n    key 0\n    weight \"-4294967296\"\n    shape [ a [ b 1 ] ]\n  ]\n]\n";
        assert_eq!(
            edges(text),
            "2 2 true true San é\"&x;>b:1.5@13 b>San é\"&x;:1.5@13 b>b:-4294967296@19 [attributes that are not read: pos, shape]"
        );
        let directed = "# made by hand\nCreator \"x [\" Version 1\ngraph [ directed 1 node [ id 7 ] node [ id 8 ]\nedge [ source 8 target 7 ] ]";
        assert_eq!(edges(directed), "2 1 false false 8>7:1@4");
        let twice = "graph [ node [ id 7 label \"a\" ] node [ id 8 label \"a\" ] ]";
        assert!(edges(twice).starts_with("2 0 false false [not all nodes have labels"));
    }

    #[test]
    fn what_is_wrong_names_its_line() {
        for (text, want) in [
            ("", "it has no 'graph"),
            ("<crs/>", "line 1: the key '<crs/>' has no value"),
            ("graph 1", "line 1: one graph is read"),
            ("graph [ node [ id 1 ] ]\ngraph [ ]", "line 2: one graph is read"),
            ("graph [ ]", "it holds no nodes"),
            ("graph [\nnode [ id 1", "line 2: the text ends within a list"),
            ("graph [\nother [ id 1", "line 2: the text ends within a list"),
            ("graph [\nnode [ label \"a ] ]", "line 2: a text has no end"),
            ("graph [\n\"node\" [ ] ]", "line 2: a key must stand here"),
            ("graph [\n[ ] ]", "line 2: a key must stand here"),
            ("] graph [ ]", "line 1: a key must stand here"),
            ("graph [\nnode ]", "line 2: the key 'node' has no value"),
            ("graph [\nnode [ label \"a\" ] ]", "line 2: the node has no id"),
            ("graph [ node [ id 1 ]\nnode [ id 1 ] ]", "line 2: the id 1 is there twice"),
            ("graph [ node [ id 1 ]\nedge [ source 1 ] ]", "line 2: the edge needs a source and a target"),
            ("graph [ node [ id 1 ]\nedge [ source 1 target 2 ] ]", "line 2: the edge's node 2 is not there"),
            (
                "graph [ node [ id 1 ]\nedge [ source 1 target 1 weight 1 weight 2 ] ]",
                "line 2: 'weight' must have one value",
            ),
            (
                "graph [ node [ id 1 ]\nedge [ source 1 target 1 weight [ 1 2 ] ] ]",
                "line 2: 'weight' must have one value",
            ),
            (
                "graph [ node [ id 1 ] edge [ source 1 target 1 weight 1 ]\nedge [ source 1 target 1 ] ]",
                "line 2: this edge has no weight",
            ),
        ] {
            let why = read(text).unwrap_err();
            assert!(why.contains(want) && !why.contains('\n'), "{text:?}: {why}");
        }
        assert!(read(&format!("a {}", "[ a ".repeat(200_000))).unwrap_err().contains("ends within a list"));
    }
}

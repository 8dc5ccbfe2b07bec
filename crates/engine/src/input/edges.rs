//! Lists of edges in text: a line for each, with or without a line of names.

use super::table::{CsvRow, is_number, rows};
use super::weights::{Parser, decimals, parsed, rounded};
use super::why::{Why, cell_count, shown};
use csv::StringRecord;
use gpulab_graph::{EdgeList, GraphFormat, Length, ListedEdge, ListedEdges, Names};
use gpulab_model::data::{Array, Dtype};

/// What is said of a file of edges.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeKind {
    /// What the file is, as in "a list of" edges.
    pub format: String,
    /// Edges, of those that lead both ways one.
    pub edges: usize,
    /// Whether each edge is in the list in both directions.
    pub both_ways: bool,
    /// What else the reader of the file assumed.
    pub notes: Vec<String>,
}

const UNWEIGHTED: &str = "no weights: each edge has weight 1";

/// The rows of a text, without its comments.
pub(super) struct EdgeRows {
    pub(super) list: Vec<CsvRow>,
    /// What is between the columns; a blank for any number of blanks.
    pub(super) separator: u8,
    comments: usize,
}

impl EdgeRows {
    pub(super) fn new(text: &str) -> Result<EdgeRows, Why> {
        let is_comment = |line: &str| line.starts_with(['#', '%']);
        let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !is_comment(line)).unwrap_or_default();
        let count = |separator: &u8| first.bytes().filter(|b| b == separator).count();
        let separator =
            b"\t,;".iter().copied().filter(|separator| count(separator) > 0).max_by_key(count).unwrap_or(b' ');
        let mut list = if separator == b' ' {
            let row = |(at, line): (usize, &str)| {
                let cells: StringRecord = line.split_whitespace().collect();
                CsvRow { line: at as u64 + 1, begins: cells.get(0).map_or(0, |cell| cell.as_bytes()[0]), cells }
            };
            text.lines().enumerate().map(row).filter(|row| !row.cells.is_empty()).collect()
        } else {
            rows(text.as_bytes(), separator).collect::<Result<Vec<CsvRow>, Why>>()?
        };
        let all = list.len();
        list.retain(|row| !b"#%".contains(&row.begins));
        let comments = all - list.len();
        if list.is_empty() { Err("it holds no rows".into()) } else { Ok(EdgeRows { list, separator, comments }) }
    }

    /// What is between the columns, in words.
    pub(super) fn between(&self) -> &'static str {
        match self.separator {
            b';' => "semicolons",
            b'\t' => "tabs",
            b',' => "commas",
            _ => "blanks",
        }
    }
}

pub(super) fn edges(rows: &EdgeRows, dtype: Dtype) -> Result<(EdgeList, EdgeKind), Why> {
    let Some((first, rest)) = rows.list.split_first() else { return Err("it holds no rows".into()) };
    let mut notes = Vec::new();
    let (columns, list) = if EdgeColumns::is_header(&first.cells) {
        if rows.separator != b',' {
            notes.push(format!("columns are separated by {}", rows.between()));
        }
        (EdgeColumns::find(&first.cells)?, rest)
    } else {
        let columns = EdgeColumns::unnamed(first)?;
        let names = if columns.weight.is_some() { "from, to and weight" } else { "from and to" };
        notes.push(format!("no header: the columns, separated by {}, are {names}", rows.between()));
        (columns, &rows.list[..])
    };
    if list.is_empty() {
        return Err("it has no edges below its header; one node alone is an edge to itself of weight 0".into());
    }
    if columns.weight.is_none() {
        notes.push(UNWEIGHTED.into());
    }
    if rows.comments > 0 {
        notes.push(format!("comment lines, which begin with # or %: {}", rows.comments));
    }
    let mut names = Names::default();
    let ends = list.iter().map(|row| columns.ends(row, &mut names)).collect::<Result<_, Why>>()?;
    let weights = parsed!(dtype, |parser| columns.weights(list, parser))?;
    let decimals = decimals(list.iter().map(|row| columns.weight(row)));
    notes.extend(rounded(dtype, list.iter().map(|row| columns.weight(row))));
    let kind = EdgeKind { format: "a list of".into(), edges: list.len(), both_ways: false, notes };
    Ok((EdgeList { names, ends, weights, decimals }, kind))
}

/// The edges of a file of a known format.
pub(super) fn listed(format: GraphFormat, text: &str, dtype: Dtype) -> Result<(EdgeList, EdgeKind), Why> {
    let ListedEdges { names, edges, both_ways, weighted, list, mut notes } = format.read(text)?;
    let texts = || list.iter().map(|edge| edge.weight);
    let weights = parsed!(dtype, |parser| weights_of(&list, parser))?;
    notes.extend((!weighted).then(|| UNWEIGHTED.to_owned()));
    notes.extend(rounded(dtype, texts()));
    let decimals = decimals(texts());
    let ends = list.iter().map(|edge| edge.ends).collect();
    let kind = EdgeKind { format: format!("{},", format.name()), edges, both_ways, notes };
    Ok((EdgeList { names, ends, weights, decimals }, kind))
}

fn weights_of<T: Length>(list: &[ListedEdge<'_>], parser: &Parser<T>) -> Result<Vec<T>, Why> {
    list.iter()
        .map(|edge: &ListedEdge<'_>| parser.listed(edge.weight).map_err(|why| format!("line {}: {why}", edge.line)))
        .collect()
}

/// Names of columns. The second pair of each counts only if the header has none of the first.
const FROM: [[&str; 2]; 2] = [["from", "source"], ["src", "u"]];
const TO: [[&str; 2]; 2] = [["to", "target"], ["dst", "v"]];
const WEIGHT: [[&str; 2]; 2] = [["weight", "distance"], ["w", "length"]];

struct EdgeColumns {
    from: usize,
    to: usize,
    /// None: each weight is 1.
    weight: Option<usize>,
    named: bool,
    count: usize,
}

impl EdgeColumns {
    /// Whether a first line names columns: by a word for where an edge starts or ends. Short ones are nodes beside a number.
    fn is_header(cells: &StringRecord) -> bool {
        let has = |at: usize| {
            let names = [FROM[at], TO[at]];
            cells.iter().any(|cell| names.iter().flatten().any(|name| cell.eq_ignore_ascii_case(name)))
        };
        has(0) || (has(1) && !cells.iter().any(is_number))
    }

    fn find(header: &StringRecord) -> Result<EdgeColumns, Why> {
        let place = |names: [[&str; 2]; 2]| {
            let of = |pair: [&str; 2]| {
                let is = |cell: &str| pair.iter().any(|name| cell.eq_ignore_ascii_case(name));
                header.iter().enumerate().filter(|(_, cell)| is(cell)).collect::<Vec<_>>()
            };
            let (found, [name, other]) = match of(names[0]) {
                long if long.is_empty() => (of(names[1]), names[1]),
                long => (long, names[0]),
            };
            match found[..] {
                [(at, _)] => Ok(at),
                [] => {
                    let list: Vec<String> = header.iter().take(10).map(shown).collect();
                    Err(format!(
                        "its first line has no column '{}', but {}; a list of edges starts with the line from,to,weight",
                        names[0][0],
                        list.join(", ")
                    ))
                }
                _ => {
                    let list: Vec<String> =
                        found.iter().take(10).map(|(at, cell)| format!("{} {}", at + 1, shown(cell))).collect();
                    Err(format!("several columns are called '{name}' or '{other}'; keep one of {}", list.join(", ")))
                }
            }
        };
        let from = place(FROM)?;
        let to = place(TO)?;
        let count = header.len();
        let weight = if count == 2 { None } else { Some(place(WEIGHT)?) };
        Ok(EdgeColumns { from, to, weight, named: true, count })
    }

    /// The columns of a list without a header.
    fn unnamed(first: &CsvRow) -> Result<EdgeColumns, Why> {
        let weight = match first.cells.len() {
            2 => None,
            3 => Some(2),
            count => {
                return Err(format!(
                    "line {} has {count} column{}: name them in a first line, from,to,weight, or keep two or three",
                    first.line,
                    if count == 1 { "" } else { "s" }
                ));
            }
        };
        Ok(EdgeColumns { from: 0, to: 1, weight, named: false, count: first.cells.len() })
    }

    fn ends(&self, row: &CsvRow, names: &mut Names) -> Result<(usize, usize), Why> {
        let line = row.line;
        let got = row.cells.len();
        if got != self.count {
            return Err(format!("line {line} has {} where the first has {}; complete it", cell_count(got), self.count));
        }
        let mut end = |at: usize, column: &str| match &row.cells[at] {
            "" => Err(format!("line {line}: the column '{column}' has no name; fill it in")),
            name => Ok(names.number(name)),
        };
        Ok((end(self.from, "from")?, end(self.to, "to")?))
    }

    fn weight<'a>(&self, row: &'a CsvRow) -> &'a str {
        self.weight.map_or("1", |at| &row.cells[at])
    }

    fn weights<T: Length>(&self, rows: &[CsvRow], parser: &Parser<T>) -> Result<Vec<T>, Why> {
        rows.iter()
            .enumerate()
            .map(|(at, row): (usize, &CsvRow)| {
                let text = self.weight(row);
                let weight =
                    if text.is_empty() { Err("the weight is empty; fill it in".into()) } else { parser.listed(text) };
                let hint = if at == 0 && !self.named { " (names of columns are from,to,weight)" } else { "" };
                weight.map_err(|why| format!("line {}: {why}{hint}", row.line))
            })
            .collect()
    }
}

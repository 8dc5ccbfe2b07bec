//! Graphs from files: edges between named nodes, or a square matrix of weights.

use super::npy;
use super::table::{CsvRow, is_number, no_number, number, rows, uneven};
use super::{Why, extension, load, shown};
use csv::StringRecord;
use gpulab_graph::{GraphFile, Length, MOST_NODES, Names};
use gpulab_model::data::{Array, Dtype};
use gpulab_model::outcome::Number;
use gpulab_model::{Error, Result};
use std::path::Path;

/// Reads the graph in `path` with weights of `dtype`, or of what the file holds; of text f32.
///
/// - `.npy`: a square matrix of NumPy's floats, integers or truth values. Infinity is no edge; of `i4` and `i8` the largest value,
///   or half of it; of truth values False.
/// - Matrix Market, by its mark or ending.
/// - Any other text: a list of edges, one a line, separated by commas, semicolons, tabs or blanks. Under a line of names the
///   columns `from`, `to` and `weight` may be in any order, and others beside them; `source`, `target` and `distance` are
///   understood too, and `src`, `dst`, `u`, `v`, `w`. Two columns for one thing are refused.
///
/// Weights of another type than `dtype` are converted if each survives exactly; f64 is also rounded to f32.
pub fn graph(path: &str, dtype: Option<Dtype>) -> Result<GraphFile> {
    read(path, dtype).map_err(|why| Error::Usage(format!("cannot use input '{path}': {why}")))
}

fn read(path: &str, dtype: Option<Dtype>) -> Result<GraphFile, Why> {
    let bytes = load(Path::new(path))?;
    if bytes.starts_with(b"\x1f\x8b") {
        return Err("it is packed; unpack it with gzip -d first".into());
    }
    let ending = extension(path);
    if ending == "npy" {
        return matrix_of_numpy(&bytes, dtype);
    }
    let text = str::from_utf8(&bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()]
            .iter()
            .filter(|&&b| b == b'\n')
            .count();
        format!("line {line} is not UTF-8; save the file as UTF-8")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let dtype = dtype.unwrap_or(Dtype::F32);
    let is_market = text
        .split_whitespace()
        .next()
        .is_some_and(|word| word.eq_ignore_ascii_case("%%MatrixMarket"));
    if is_market || ending == "mtx" {
        return matrix_market(text)?.file(dtype);
    }
    let separator = separator(text);
    let rows = edge_rows(text, separator)?;
    edges(&rows, separator)?.file(dtype)
}

/// The weights of these numbers, and what f32 makes of them. `place` says in words where each is.
fn weights(
    numbers: &[Number],
    dtype: Dtype,
    place: &dyn Fn(usize) -> String,
) -> Result<(Array, Vec<String>), Why> {
    fn all<T: Length>(
        numbers: &[Number],
        dtype: Dtype,
        place: &dyn Fn(usize) -> String,
        convert: fn(Number) -> Option<T>,
    ) -> Result<Vec<T>, Why> {
        let weights = numbers.iter().enumerate().map(|(at, &number)| {
            weight(number, convert(number), dtype).map_err(|why| format!("{}: {why}", place(at)))
        });
        weights.collect()
    }
    let weights = match dtype {
        Dtype::F32 => Array::F32(all(numbers, dtype, place, Number::f32)?),
        Dtype::F64 => Array::F64(all(numbers, dtype, place, Number::f64)?),
        Dtype::I32 => Array::I32(all(numbers, dtype, place, Number::i32)?),
        Dtype::I64 | Dtype::U8 => {
            return Err(format!(
                "{dtype} is no type of weights: f32, f64 and i32 are"
            ));
        }
    };
    let rounded = numbers.iter().filter(|number| {
        let exact = number.rounded();
        dtype == Dtype::F32 && exact.is_finite() && (exact as f32).to_string().parse() != Ok(exact)
    });
    let rounded = rounded.count();
    let note = format!(
        "weights that f32 rounds: {rounded}; --dtype f64, or i32 for whole ones, keeps them"
    );
    Ok((weights, if rounded > 0 { vec![note] } else { Vec::new() }))
}

/// What a number, and what it is in its type, if that can hold it, means as the weight of an edge.
fn weight<T: Length>(number: Number, converted: Option<T>, dtype: Dtype) -> Result<T, Why> {
    let exact = number.rounded();
    match (exact, converted) {
        (f64::INFINITY, _) => Ok(T::NO_EDGE),
        (f64::NEG_INFINITY, _) => {
            Err("minus infinity is not a weight; correct it (inf means no edge)".into())
        }
        (exact, _) if exact.is_nan() => {
            Err("NaN is not a weight; leave the edge out or correct it".into())
        }
        (exact, _) if exact != 0.0 && exact.abs() < T::TINY => Err(format!(
            "{exact:e} is too small: not all devices add {dtype} numbers below {:e} right; multiply all weights by a power of ten",
            T::TINY
        )),
        (exact, _) if exact.abs() >= T::LIMIT.widened() => {
            let limit = if dtype == Dtype::I32 {
                "2^28".to_owned()
            } else {
                format!("{:.1e}", T::LIMIT.widened())
            };
            Err(format!(
                "{number} is too large: {dtype} distances take weights between -{limit} and {limit}; choose --dtype f64 or a \
                 larger unit"
            ))
        }
        // There is one zero: sums of +0 and -0 may come out as either.
        (0.0, _) => Ok(T::ZERO),
        (_, Some(weight)) => Ok(weight),
        (_, None) => Err(format!(
            "{number} does not fit {dtype}; choose another --dtype"
        )),
    }
}

fn whole(is_edge: bool, number: i64) -> Number {
    if is_edge {
        Number::Integer(number)
    } else {
        NO_EDGE_NUMBER
    }
}

/// Most digits behind the point of these numbers; none if one has very many.
fn decimals(numbers: &[Number]) -> Option<usize> {
    const MOST: usize = 9;
    let texts = numbers.iter().map(Number::to_string);
    texts
        .map(|text| text.split_once('.').map_or(0, |(_, behind)| behind.len()))
        .max()
        .filter(|&most| most <= MOST)
}

fn matrix_of_numpy(bytes: &[u8], dtype: Option<Dtype>) -> Result<GraphFile, Why> {
    let elements = npy::read_matrix(bytes)?;
    let n = square(npy::sides(bytes)?)?;
    let is_bool = npy::is_bool(bytes)?;
    let numbers: Vec<Number> = match &elements {
        Array::F32(v) => v.iter().map(|&x| Number::Real(x.into())).collect(),
        Array::F64(v) => v.iter().map(|&x| Number::Real(x)).collect(),
        Array::I32(v) => v
            .iter()
            .map(|&x| whole(x != i32::MAX && x != i32::MAX / 2, x.into()))
            .collect(),
        Array::I64(v) => v
            .iter()
            .map(|&x| whole(x != i64::MAX && x != i64::MAX / 2, x))
            .collect(),
        Array::U8(v) => v
            .iter()
            .map(|&x| whole(!is_bool || x != 0, x.into()))
            .collect(),
    };
    let own = elements.dtype();
    let dtype = dtype.unwrap_or(if own.is_float() { own } else { Dtype::I32 });
    let (weights, mut notes) = weights(&numbers, dtype, &|at| {
        format!("row {}, column {}, counted from 0", at / n, at % n)
    })?;
    if is_bool {
        notes.push("truth values: each True is an edge of weight 1".into());
    }
    Ok(GraphFile {
        names: Names::counted(0, n),
        ends: None,
        weights,
        decimals: None,
        both_ways: false,
        kind: format!("a matrix of {n} x {n} weights"),
        notes,
    })
}

fn square([rows, columns]: [usize; 2]) -> Result<usize, Why> {
    match rows {
        0 => Err("it holds no elements, and at least one is needed".into()),
        _ if rows == columns => Ok(rows),
        _ => Err(format!(
            "it is a matrix of {rows} rows and {columns} columns, and distances need a square one; \
             a list of edges is a text"
        )),
    }
}

/// The edges of a text, before their weights are of a type.
struct ListedEdges {
    /// What the file is, as in "a list of" edges.
    format: &'static str,
    names: Names,
    /// How many edges there are, as the file counts them.
    count: usize,
    /// Whether each of them leads both ways: then both are in the list.
    both_ways: bool,
    /// Lines of the file, where edges start and end, and their weights.
    list: Vec<(u64, (usize, usize), Number)>,
    notes: Vec<String>,
}

impl ListedEdges {
    fn file(mut self, dtype: Dtype) -> Result<GraphFile, Why> {
        let numbers: Vec<Number> = self.list.iter().map(|edge| edge.2).collect();
        let (weights, rounded) =
            weights(&numbers, dtype, &|at| format!("line {}", self.list[at].0))?;
        self.notes.extend(rounded);
        let kind = format!(
            "{} {} between {}{}",
            self.format,
            counted(self.count, "edge"),
            counted(self.names.list().len(), "node"),
            if self.both_ways {
                ", each both ways"
            } else {
                ""
            }
        );
        Ok(GraphFile {
            names: self.names,
            ends: Some(self.list.iter().map(|edge| edge.1).collect()),
            weights,
            decimals: decimals(&numbers),
            both_ways: self.both_ways,
            kind,
            notes: self.notes,
        })
    }
}

/// A weight that is none.
const NO_EDGE_NUMBER: Number = Number::Real(f64::INFINITY);

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

const UNWEIGHTED: &str = "no weights: each edge has weight 1";

/// The weight of an edge of a list.
fn listed(line: u64, text: &str) -> Result<Number, Why> {
    match text {
        "" => Err(format!("line {line}: the weight is empty; fill it in")),
        _ => number(text).ok_or_else(|| format!("line {line}: {}", no_number(text))),
    }
}

/// What is between the columns of a text; a blank for any number of blanks.
fn separator(text: &str) -> u8 {
    let mut lines = text.lines().map(str::trim);
    let first = lines
        .find(|line| !line.is_empty() && !line.starts_with(['#', '%']))
        .unwrap_or_default();
    let counts = b"	,;"
        .iter()
        .map(|separator| (first.bytes().filter(|b| b == separator).count(), *separator));
    let most = counts
        .filter(|(count, _)| *count > 0)
        .max_by_key(|(count, _)| *count);
    most.map_or(b' ', |(_, separator)| separator)
}

/// The rows of a text, without its comments.
fn edge_rows(text: &str, separator: u8) -> Result<Vec<CsvRow>, Why> {
    let mut list: Vec<CsvRow> = if separator == b' ' {
        let rows = (1..).zip(text.lines()).map(|(line, text)| {
            let cells: StringRecord = text.split_whitespace().collect();
            CsvRow {
                line,
                begins: cells.get(0).map_or(0, |cell| cell.as_bytes()[0]),
                cells,
            }
        });
        rows.filter(|row| !row.cells.is_empty()).collect()
    } else {
        rows(text.as_bytes(), separator).collect::<Result<_, Why>>()?
    };
    list.retain(|row| !b"#%".contains(&row.begins));
    if list.is_empty() {
        Err("it holds no rows".into())
    } else {
        Ok(list)
    }
}

/// What is between the columns, in words.
fn between(separator: u8) -> &'static str {
    match separator {
        b';' => "semicolons",
        b'\t' => "tabs",
        b',' => "commas",
        _ => "blanks",
    }
}

/// Names of columns. The second pair of each counts only if the header has none of the first.
const FROM: [[&str; 2]; 2] = [["from", "source"], ["src", "u"]];
const TO: [[&str; 2]; 2] = [["to", "target"], ["dst", "v"]];
const WEIGHT: [[&str; 2]; 2] = [["weight", "distance"], ["w", "length"]];

fn is_one_of(cell: &str, names: &[[&str; 2]]) -> bool {
    names
        .iter()
        .flatten()
        .any(|name| cell.eq_ignore_ascii_case(name))
}

fn edges(rows: &[CsvRow], separator: u8) -> Result<ListedEdges, Why> {
    let first = &rows[0].cells;
    // By a word for where an edge starts or ends. Short ones are nodes beside a number.
    let has_header = first.iter().any(|cell| is_one_of(cell, &[FROM[0], TO[0]]))
        || (first.iter().any(|cell| is_one_of(cell, &[FROM[1], TO[1]]))
            && !first.iter().any(is_number));
    let mut notes = Vec::new();
    let count = first.len();
    let [from, to, weight] = match count {
        _ if has_header => {
            let weight = if count == 2 {
                None
            } else {
                Some(column(first, WEIGHT)?)
            };
            [Some(column(first, FROM)?), Some(column(first, TO)?), weight]
        }
        2 => [Some(0), Some(1), None],
        3 => [Some(0), Some(1), Some(2)],
        _ => {
            return Err(format!(
                "line {} has {}: name them in a first line, from,to,weight, or keep two or three; a matrix is read from a .npy",
                rows[0].line,
                if count == 1 {
                    "1 column".to_owned()
                } else {
                    format!("{count} columns")
                }
            ));
        }
    };
    let list = &rows[usize::from(has_header)..];
    if !has_header {
        let names = if weight.is_some() {
            "from, to and weight"
        } else {
            "from and to"
        };
        notes.push(format!(
            "no header: the columns, separated by {}, are {names}",
            between(separator)
        ));
    }
    if list.is_empty() {
        return Err(
            "it has no edges below its header; one node alone is an edge to itself of weight 0"
                .into(),
        );
    }
    if weight.is_none() {
        notes.push(UNWEIGHTED.into());
    }
    let mut names = Names::default();
    let mut edges = Vec::with_capacity(list.len());
    for CsvRow { line, cells, .. } in list {
        if cells.len() != count {
            return Err(uneven(*line, cells.len(), count));
        }
        let ends = [from, to].map(|at| at.map_or("", |at| &cells[at]));
        if ends.contains(&"") {
            return Err(format!("line {line}: a node has no name; fill it in"));
        }
        let number = listed(*line, weight.map_or("1", |at| &cells[at])).map_err(|why| {
            match has_header || *line > 1 {
                true => why,
                false => why + " (names of columns are from,to,weight)",
            }
        })?;
        edges.push((
            *line,
            (names.number(ends[0]), names.number(ends[1])),
            number,
        ));
    }
    Ok(ListedEdges {
        format: "a list of",
        names,
        count: edges.len(),
        both_ways: false,
        list: edges,
        notes,
    })
}

/// The place of a column among these names.
fn column(header: &StringRecord, names: [[&str; 2]; 2]) -> Result<usize, Why> {
    let [first, second] = names.map(|names| {
        (0..header.len())
            .filter(|&at| is_one_of(&header[at], &[names]))
            .collect::<Vec<usize>>()
    });
    let found = if first.is_empty() { second } else { first };
    match found[..] {
        [at] => Ok(at),
        [] => {
            let list: Vec<String> = header.iter().take(10).map(shown).collect();
            Err(format!(
                "its first line has no column '{}', but {}; a list of edges starts with the line from,to,weight",
                names[0][0],
                list.join(", ")
            ))
        }
        _ => {
            let list: Vec<String> = found
                .iter()
                .take(10)
                .map(|&at| format!("{} {}", at + 1, shown(&header[at])))
                .collect();
            Err(format!(
                "several columns have the meaning '{}'; keep one of {}",
                names[0][0],
                list.join(", ")
            ))
        }
    }
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// What a file says that it holds.
struct Announced {
    line: u64,
    nodes: usize,
    edges: usize,
}

impl Announced {
    fn new(line: u64, nodes: &str, edges: &str) -> Result<Announced, Why> {
        if [nodes, edges]
            .iter()
            .any(|word| word.is_empty() || !word.bytes().all(|b| b.is_ascii_digit()))
        {
            return Err(format!(
                "line {line}: the counts of nodes and of edges are whole numbers; correct them"
            ));
        }
        // What does not fit is too large too.
        let [nodes, edges] = [nodes, edges].map(|word| word.parse().unwrap_or(usize::MAX));
        match nodes {
            1..=MOST_NODES => Ok(Announced { line, nodes, edges }),
            nodes => Err(format!(
                "line {line} announces {nodes} nodes, and distances are found for 1 to {MOST_NODES} nodes"
            )),
        }
    }

    fn edge(
        &self,
        line: u64,
        ends: [&str; 2],
        weight: &str,
    ) -> Result<(u64, (usize, usize), Number), Why> {
        // What is no number, or 0, is beyond all nodes.
        let [from, to] = ends.map(|word| word.parse::<usize>().unwrap_or(0).wrapping_sub(1));
        if from >= self.nodes || to >= self.nodes {
            let most = self.nodes;
            let first = self.line;
            return Err(format!(
                "line {line}: nodes are numbers from 1 to {most}, as line {first} announces; correct one of the lines"
            ));
        }
        Ok((line, (from, to), listed(line, weight)?))
    }
}

fn matrix_market(text: &str) -> Result<ListedEdges, Why> {
    let banner = text.lines().next().unwrap_or_default().to_ascii_lowercase();
    let [
        "%%matrixmarket",
        "matrix",
        "coordinate",
        field @ ("real" | "integer" | "pattern"),
        symmetry @ ("general" | "symmetric"),
    ] = words(&banner)[..]
    else {
        return Err("line 1 is not '%%MatrixMarket matrix coordinate' with real, integer or pattern, and general or \
                    symmetric; save the matrix so"
            .into());
    };
    let is_weighted = field != "pattern";
    let both_ways = symmetry == "symmetric";
    let mut counts: Option<Announced> = None;
    let mut list = Vec::new();
    for (line, text) in (1..)
        .zip(text.lines())
        .filter(|(_, text)| !text.starts_with('%'))
    {
        match (&words(text)[..], &counts) {
            ([], _) => {}
            ([rows, columns, _], None) if rows != columns => {
                return Err(format!(
                    "line {line}: distances need a square matrix; give it as many rows as columns"
                ));
            }
            ([rows, _, entries], None) => counts = Some(Announced::new(line, rows, entries)?),
            (_, None) => {
                return Err(format!(
                    "line {line} is no size 'ROWS COLUMNS ENTRIES'; correct it"
                ));
            }
            ([from, to, weight], Some(known)) if is_weighted => {
                list.push(known.edge(line, [from, to], weight)?)
            }
            ([from, to], Some(known)) if !is_weighted => {
                list.push(known.edge(line, [from, to], "1")?)
            }
            (_, Some(_)) => {
                let form = if is_weighted {
                    "ROW COLUMN WEIGHT"
                } else {
                    "ROW COLUMN"
                };
                return Err(format!("line {line} is no entry '{form}'; correct it"));
            }
        }
    }
    if let Some((line, ..)) = list
        .iter()
        .find(|(_, (row, column), _)| both_ways && row < column)
    {
        return Err(format!(
            "line {line} is above the diagonal, and a symmetric matrix lists what is below; call it general, or swap them"
        ));
    }
    let Announced { line, nodes, edges } =
        counts.ok_or("it has no line 'ROWS COLUMNS ENTRIES'; get the whole file")?;
    if list.len() != edges {
        let found = list.len();
        return Err(format!(
            "line {line} announces {edges} edges, and the file has {found}: correct the count, or get the whole file"
        ));
    }
    for at in 0..if both_ways { edges } else { 0 } {
        let (line, (from, to), weight) = list[at];
        if from != to {
            list.push((line, (to, from), weight));
        }
    }
    Ok(ListedEdges {
        format: "Matrix Market,",
        names: Names::counted(1, nodes),
        count: edges,
        both_ways,
        list,
        notes: if is_weighted {
            Vec::new()
        } else {
            vec![UNWEIGHTED.to_owned()]
        },
    })
}

#[cfg(test)]
mod tests {
    use super::super::npy::tests::{written, written_in};
    use super::*;
    use proptest::prelude::*;

    fn named(name: &str, bytes: &[u8], dtype: Option<Dtype>) -> Result<GraphFile, Why> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        read(path.to_str().unwrap(), dtype)
    }

    /// `a>b b>c F32([1.0, 2.0])`
    fn told(file: &GraphFile) -> String {
        let names = file.names.list();
        let ends = file
            .ends
            .iter()
            .flatten()
            .map(|&(from, to)| format!("{}>{} ", names[from], names[to]));
        format!("{}{:?}", ends.collect::<String>(), file.weights)
    }

    #[test]
    fn graphs_as_people_have_them() {
        for (name, content, want) in [
            (
                "g.csv",
                "\u{feff}from,to,weight\r\n\"a, b\",\"say \"\"x\"\"\",1.5\r\n7,é,-2\n",
                "a, b>say \"x\" 7>é F32([1.5, -2.0])",
            ),
            (
                "g.csv",
                "id,Target,weight,source\n1,b,3e2,a\n",
                "a>b F32([300.0])",
            ),
            (
                "g.csv",
                "from,to,distance,next\na,b,inf,b\n",
                "a>b F32([inf])",
            ),
            (
                "g.csv",
                "from,note,note,to,weight\na,x,y,b,-0\n",
                "a>b F32([0.0])",
            ),
            (
                "g.txt",
                "# c\n% c\na\tb\n\nb\tSan Marino\n",
                "a>b b>San Marino F32([1.0, 1.0])",
            ),
            ("g.edges", " 1   2 5\n2 3\t7\n", "1>2 2>3 F32([5.0, 7.0])"),
            ("g.TSV", "dst\tsrc\tw\nb\ta\t2\n", "a>b F32([2.0])"),
            ("g", "a;b;2\nb;c;3", "a>b b>c F32([2.0, 3.0])"),
            (
                "g.csv",
                "a,b,2\n#x,y,7\n\"#x\",y,3\n",
                "a>b #x>y F32([2.0, 3.0])",
            ),
            ("g.csv", "Source;Target\na;b", "a>b F32([1.0])"),
            ("g.csv", "u,v,w\n1,2,4\n", "1>2 F32([4.0])"),
            (
                "g.csv",
                "from,to,weight,u,v,w\n1,2,4,8,8,8\n",
                "1>2 F32([4.0])",
            ),
            ("g.txt", "p q\nc d\n", "p>q c>d F32([1.0, 1.0])"),
            ("g.csv", "0,2,7\n2,0,-1\n", "0>2 2>0 F32([7.0, -1.0])"),
            (
                "g",
                "%%MatrixMarket matrix coordinate real general\n% c\n\n2 2 2\n1 2 1.5\n2 2 3\n",
                "1>2 2>2 F32([1.5, 3.0])",
            ),
            (
                "g.mtx",
                "%%matrixmarket MATRIX coordinate Pattern Symmetric\n2 2 2\n2 1\n1 1\n",
                "2>1 1>1 1>2 F32([1.0, 1.0, 1.0])",
            ),
        ] {
            assert_eq!(
                named(name, content.as_bytes(), None)
                    .map(|file| told(&file))
                    .as_deref(),
                Ok(want),
                "{content:?}"
            );
        }
    }

    #[test]
    fn what_is_wrong_says_where_and_what_to_do() {
        const MARKET: &str = "%%MatrixMarket matrix coordinate real symmetric\n";
        for (name, content, want) in [
            ("g.csv", "", "empty"),
            ("g.csv", "\n\n", "no rows"),
            ("g.csv", "from,to,weight\n", "no edges"),
            ("g.csv", "from,to,weight\na,\"b\n", "line 2"),
            (
                "g.csv",
                "from,to,cost\na,b,1\n",
                "no column 'weight', but 'from', 'to', 'cost'",
            ),
            (
                "g.csv",
                "from,to,weight,weight\na,b,1,2\n",
                "several columns have the meaning 'weight'; keep one of 3 'weight', 4 'weight'",
            ),
            (
                "g.csv",
                "from,Source,to,weight\na,b,1,2\n",
                "keep one of 1 'from', 2 'Source'",
            ),
            (
                "g.csv",
                "from,to,weight\n\nb,c,x\n",
                "line 3: 'x' is not a number; correct it",
            ),
            (
                "g.csv",
                "from,to,weight\nb,c,\n",
                "line 2: the weight is empty; fill it in",
            ),
            (
                "g.csv",
                "from,to,weight\n,c,1\n",
                "line 2: a node has no name; fill it in",
            ),
            (
                "g.csv",
                "from,to,weight\nb,c\n",
                "line 2 has 2 cells where the first has 3; complete it",
            ),
            ("g.csv", "from,to,weight\nb,c,nan\n", "line 2: NaN"),
            (
                "g.csv",
                "from,to,weight\nb,c,-inf\n",
                "line 2: minus infinity",
            ),
            (
                "g.csv",
                "from,to,weight\nb,c,1e40\n",
                "is too large: f32 distances take",
            ),
            ("g.csv", "from,to,weight\nb,c,-1e-60\n", "too small"),
            ("g.csv", "1,2\n3\n", "line 2 has 1 cell "),
            (
                "g.csv",
                "0,1,2,3\n1,0,2,3\n",
                "a matrix is read from a .npy",
            ),
            ("g.txt", "a b c d\n", "line 1 has 4 columns: name them"),
            ("g.txt", "# c\n", "no rows"),
            (
                "g.txt",
                "von nach km\na b 1\n",
                "line 1: 'km' is not a number; correct it (names of columns are from",
            ),
            ("g.txt", "a;b;1,5\n", "decimal comma; write 1.5"),
            ("g.txt", "\0\u{1}\u{2}", "line 1 has 1 column: name"),
            (
                "g.mtx",
                &format!("{MARKET}2 2 1\n2 1 x\n"),
                "line 3: 'x' is not a number",
            ),
            (
                "g.mtx",
                &format!("{MARKET}0 0 0\n"),
                "line 2 announces 0 nodes",
            ),
            (
                "g.mtx",
                &format!("{MARKET}99999999999999999999999999 99999999999999999999999999 3\n"),
                "line 2 announces 18446744073709551615 nodes",
            ),
            (
                "g.mtx",
                &format!("{MARKET}2 2 2\n2 1 3\n"),
                "line 2 announces 2 edges, and the file has 1",
            ),
            (
                "g.mtx",
                &format!("{MARKET}2 2 1\n3 1 3\n"),
                "line 3: nodes are numbers from 1 to 2, as line 2",
            ),
            ("g.mtx", "x\n", "line 1 is not"),
            ("g.mtx", MARKET, "no line 'ROWS"),
            (
                "g.mtx",
                &format!("{MARKET}2 3 1\n"),
                "line 2: distances need a square",
            ),
            ("g.mtx", &format!("{MARKET}2 2\n"), "line 2 is no size"),
            (
                "g.mtx",
                &format!("{MARKET}2 2 1\n1 2 3\n"),
                "line 3 is above the diagonal",
            ),
            (
                "g.mtx",
                &format!("{MARKET}2 2 1\n2 1\n"),
                "line 3 is no entry 'ROW COLUMN WEIGHT'",
            ),
            ("g.mtx.gz", "\u{1f}\u{8b}\0", "line 1"),
        ] {
            let why = named(name, content.as_bytes(), None).unwrap_err();
            assert!(
                why.contains(want) && !why.contains('\n'),
                "{content:?}: {why}"
            );
        }
        let why = |bytes: &[u8]| named("g.txt", bytes, None).unwrap_err();
        assert!(
            why(b"a b\n\xff\n").contains("line 2 is not UTF-8")
                && why(b"\x1f\x8b\0").contains("unpack it with gzip -d")
        );
    }

    #[test]
    fn integers_are_exact_or_refused() {
        let of = |weight: &str| {
            named(
                "g.csv",
                format!("from,to,weight\nb,c,{weight}\n").as_bytes(),
                Some(Dtype::I32),
            )
        };
        assert_eq!(of("inf").unwrap().weights, Array::I32(vec![i32::NO_EDGE]));
        assert!(
            of("0.5")
                .unwrap_err()
                .contains("0.5 does not fit i32; choose another --dtype")
        );
        for large in [
            "300000000",
            "99999999999",
            "2147483647",
            "1073741823",
            "-268435456",
        ] {
            let why = of(large).unwrap_err();
            assert!(
                why.contains(&format!(
                    "{large} is too large: i32 distances take weights between -2^28"
                )),
                "{why}"
            );
        }
    }

    #[test]
    fn what_f32_rounds_is_told_and_digits_are_counted() {
        let content = "from,to,weight\na,b,16777217\nb,c,12345.6789\nc,a,0.1\n";
        let of = |dtype| named("g.csv", content.as_bytes(), Some(dtype)).unwrap();
        assert_eq!(
            of(Dtype::F32).notes,
            ["weights that f32 rounds: 2; --dtype f64, or i32 for whole ones, keeps them"]
        );
        assert_eq!(
            (of(Dtype::F64).notes.len(), of(Dtype::F64).decimals),
            (0, Some(4))
        );
    }

    #[test]
    fn matrices_of_numpy() {
        let no = i32::NO_EDGE;
        let inf = f32::INFINITY;
        let read = |bytes: &[u8], dtype| named("g.npy", bytes, dtype).map(|file| file.weights);
        let wide = written("<i8", &[2, 2], &[i64::MAX, 1, 3, 0]);
        for (bytes, dtype, want) in [
            (
                written("<f8", &[2, 2], &[0.0, 1.0, 2.0, 0.0]),
                None,
                Array::F64(vec![0.0, 1.0, 2.0, 0.0]),
            ),
            (
                written_in(npyz::Order::Fortran, "<f8", &[2, 2], &[0.0, 2.0, 1.0, 0.0]),
                Some(Dtype::I32),
                Array::I32(vec![0, 1, 2, 0]),
            ),
            (
                written("<i4", &[2, 2], &[i32::MAX, i32::MAX / 2, 3, 0]),
                None,
                Array::I32(vec![no, no, 3, 0]),
            ),
            (wide.clone(), None, Array::I32(vec![no, 1, 3, 0])),
            (wide, Some(Dtype::F32), Array::F32(vec![inf, 1.0, 3.0, 0.0])),
            (
                written("<f4", &[1, 1], &[inf]),
                Some(Dtype::I32),
                Array::I32(vec![no]),
            ),
            (
                written("|b1", &[2, 2], &[false, true, true, false]),
                None,
                Array::I32(vec![no, 1, 1, no]),
            ),
            (
                written("|u1", &[1, 1], &[127u8]),
                None,
                Array::I32(vec![127]),
            ),
        ] {
            assert_eq!(read(&bytes, dtype), Ok(want));
        }
        let why = |bytes: &[u8], dtype| read(bytes, dtype).unwrap_err();
        let nan = written("<f8", &[2, 2], &[0.0, 1.0, f64::NAN, 0.0]);
        assert!(why(&nan, Some(Dtype::I32)).starts_with("row 1, column 0, counted from 0: NaN"));
        assert!(why(&written("<f8", &[2, 3], &[0.0; 6]), None).contains("2 rows and 3 columns"));
        assert!(why(&written("<f8", &[4], &[0.0; 4]), None).contains("not that of a matrix"));
        assert!(why(&written::<f64>("<f8", &[0, 0], &[]), None).contains("no elements"));
        assert!(
            why(&written("<i8", &[1, 1], &[i64::from(i32::MAX)]), None)
                .contains("2147483647 is too large")
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(
            body in "[0-9a-c,;#%.\"\n\r\t -]{0,60}",
            header in prop::sample::select(vec![
                "", "from,to,weight\n", "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n",
            ]),
            name in prop::sample::select(vec!["g.csv", "g.txt", "g.mtx", "g.txt.gz"]),
        ) {
            for dtype in [Dtype::F32, Dtype::I32] {
                if let Err(why) = named(name, format!("{header}{body}").as_bytes(), Some(dtype)) {
                    prop_assert!(!why.contains('\n'));
                }
            }
        }
    }
}

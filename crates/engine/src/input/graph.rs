//! Graphs from files: edges with names, or a square matrix of weights.

use super::arrays::{self, square};
use super::edges::{EdgeKind, EdgeRows, edges, listed};
use super::npz::Npz;
use super::table::{CsvRow, is_number};
use super::unpack::unpack;
use super::weights::{Parser, decimals, parsed, rounded};
use super::why::{Why, cell_count};
use super::{extension, load, sparse};
use gpulab_graph::{EdgeList, GraphFormat, Length, Matrix};
use gpulab_model::Error;
use gpulab_model::data::{Array, Dtype};
use std::path::Path;

#[derive(Clone, Debug, PartialEq)]
pub enum GraphFile {
    Edges(EdgeList, EdgeKind),
    /// With what else the reader of the file assumed.
    Matrix(Matrix, Vec<String>),
}

/// Endings of files that are not read, and what to do.
const UNREAD: [(&str, &str); 3] = [
    ("gml", "GML is not read; save the graph as GraphML, as networkx.write_graphml does"),
    ("gexf", "GEXF is not read; save the graph as GraphML, as networkx.write_graphml does"),
    ("pickle", "Python's pickles are not read; save the graph as GraphML, as networkx.write_graphml does"),
];

/// Reads the graph in `path` with weights of `dtype`, or of what the file holds; of text f32.
///
/// - `.npy`: a square matrix of NumPy's floats, integers or truth values. Infinity is no edge; of `i4` and `i8` the largest value,
///   or half of it; of truth values False.
/// - `.npz`: such a matrix, or a sparse one as SciPy saves it.
/// - DIMACS, Matrix Market, METIS and GraphML, by their marks or endings: see [`GraphFormat`].
/// - CSV of numbers alone: a square matrix. An empty cell or `inf` is no edge.
/// - Any other text: a list of edges, one a line, separated by commas, semicolons, tabs or blanks. Under a line of names the
///   columns `from`, `to` and `weight` may be in any order, and others beside them; `source`, `target` and `distance` are
///   understood too, and `src`, `dst`, `u`, `v`, `w`. Two columns for one thing are refused.
/// - Any of these in gzip.
///
/// Weights of another type than `dtype` are converted if each survives exactly; f64 is also rounded to f32.
pub fn graph(path: &str, dtype: Option<Dtype>) -> Result<GraphFile, Error> {
    read(path, dtype).map_err(|why| Error::Usage(format!("cannot use input '{path}': {why}")))
}

fn read(path: &str, dtype: Option<Dtype>) -> Result<GraphFile, Why> {
    let packed = load(Path::new(path))?;
    let bytes = unpack(&packed)?;
    let ending = match extension(path).as_str() {
        "gz" => extension(&path[..path.len() - 3]),
        ending => ending.to_owned(),
    };
    if let Some((_, what)) = UNREAD.iter().find(|(known, _)| *known == ending) {
        return Err((*what).into());
    }
    let matrix = |bytes: &[u8]| arrays::matrix(bytes, dtype).map(|(matrix, notes)| GraphFile::Matrix(matrix, notes));
    if ending == "npy" {
        return matrix(&bytes);
    }
    if ending == "npz" {
        let npz = Npz::open(&bytes)?;
        return match npz.only() {
            Some(name) => matrix(&npz.array(name)?),
            None => sparse::edges(&npz, dtype).map(|(list, kind)| GraphFile::Edges(list, kind)),
        };
    }
    let text = str::from_utf8(&bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|&&b| b == b'\n').count();
        format!("line {line} is not UTF-8; save the file as UTF-8")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let dtype = dtype.unwrap_or(Dtype::F32);
    if let Some(format) = GraphFormat::of(text, &ending) {
        return listed(format, text, dtype).map(|(list, kind)| GraphFile::Edges(list, kind));
    }
    let rows = EdgeRows::new(text)?;
    let first = &rows.list[0].cells;
    // What can be no weight is a name.
    if ending != "csv" || first.iter().any(|cell| !cell.is_empty() && !is_number(cell)) {
        return edges(&rows, dtype).map(|(list, kind)| GraphFile::Edges(list, kind));
    }
    if rows.separator != b',' && first.len() > 1 {
        return Err(format!(
            "it has numbers alone, separated by {}: separate a matrix by commas, and begin a list of edges with a line of \
             names, from,to,weight, or name it .txt",
            rows.between()
        ));
    }
    let notes = rounded(dtype, rows.list.iter().flat_map(|row| row.cells.iter()));
    csv_matrix(&rows.list, dtype).map(|matrix| GraphFile::Matrix(matrix, notes.into_iter().collect()))
}

fn csv_matrix(rows: &[CsvRow], dtype: Dtype) -> Result<Matrix, Why> {
    let n = rows.first().map_or(0, |row| row.cells.len());
    if let Some(row) = rows.iter().find(|row| row.cells.len() != n) {
        return Err(format!(
            "line {} has {} where the first has {n}; complete it",
            row.line,
            cell_count(row.cells.len())
        ));
    }
    square(rows.len(), n)?;
    let weights = parsed!(dtype, |parser| weights(rows, parser))?;
    let decimals = decimals(rows.iter().flat_map(|row| row.cells.iter()));
    Ok(Matrix { n, weights, decimals })
}

fn weights<T: Length>(rows: &[CsvRow], parser: &Parser<T>) -> Result<Vec<T>, Why> {
    let cells = rows.iter().flat_map(|row| row.cells.iter().enumerate().map(move |(at, text)| (row.line, at, text)));
    cells
        .map(|(line, at, text): (u64, usize, &str)| {
            let weight = if text.is_empty() { Ok(T::NO_EDGE) } else { parser.weight(text) };
            weight.map_err(|why| format!("line {line}, column {}: {why}", at + 1))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn named(name: &str, text: &[u8], dtype: Dtype) -> Result<GraphFile, Why> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        read(path.to_str().unwrap(), Some(dtype))
    }

    fn text(text: &str, dtype: Dtype) -> Result<GraphFile, Why> {
        named("g.csv", text.as_bytes(), dtype)
    }

    fn list(csv: &str, dtype: Dtype) -> (Vec<(String, String)>, Array) {
        let Ok(GraphFile::Edges(list, _)) = text(csv, dtype) else { panic!("{:?}", text(csv, dtype)) };
        let name = |i: usize| list.names.name(i).to_owned();
        (list.ends.iter().map(|&(from, to)| (name(from), name(to))).collect(), list.weights)
    }

    fn matrix(csv: &str, dtype: Dtype) -> Matrix {
        let Ok(GraphFile::Matrix(matrix, _)) = text(csv, dtype) else { panic!("{:?}", text(csv, dtype)) };
        matrix
    }

    fn why(csv: &str, dtype: Dtype) -> Why {
        let why = text(csv, dtype).unwrap_err();
        assert!(!why.contains('\n'), "{why}");
        why
    }

    #[test]
    fn edges_with_names_of_every_kind() {
        let csv = "\u{feff}from,to,weight\r\n\"a, b\",\"say \"\"x\"\"\",1.5\r\n7,é,-2\n";
        let (ends, weights) = list(csv, Dtype::F64);
        assert_eq!(ends, [("a, b".into(), "say \"x\"".into()), ("7".into(), "é".into())]);
        assert_eq!(weights, Array::F64(vec![1.5, -2.0]));
    }

    #[test]
    fn columns_are_found_by_name() {
        let (ends, weights) = list("id,Target,weight,source\n1,b,3e2,a\n", Dtype::I32);
        assert_eq!((ends, weights), (vec![("a".into(), "b".into())], Array::I32(vec![300])));
        assert_eq!(list("from,to,distance,next\na,b,inf,b\n", Dtype::F32).1, Array::F32(vec![f32::INFINITY]));
        assert_eq!(list("from,to,weight\na,b,inf\n", Dtype::I32).1, Array::I32(vec![i32::NO_EDGE]));
    }

    #[test]
    fn two_columns_for_one_thing_are_refused() {
        let header = |header: &str| why(&format!("{header}\na,b,1,2\n"), Dtype::F32);
        assert_eq!(
            header("from,to,weight,weight"),
            "several columns are called 'weight' or 'distance'; keep one of 3 'weight', 4 'weight'"
        );
        assert_eq!(
            header("from,Source,to,weight"),
            "several columns are called 'from' or 'source'; keep one of 1 'from', 2 'Source'"
        );
        assert!(header("from,from,to,weight").ends_with("1 'from', 2 'from'"));
        assert!(header("from,target,weight,to").ends_with("2 'target', 4 'to'"));
        assert!(text("from,to,weight,weights\na,b,1,2\n", Dtype::F32).is_ok());
        assert!(text("from,note,note,to,weight\na,x,y,b,1\n", Dtype::F32).is_ok());
    }

    #[test]
    fn what_is_wrong_with_a_list_is_told_with_its_line() {
        let line = |rest: &str, dtype| why(&format!("from,to,weight\na,b,1\n\n{rest}\n"), dtype);
        assert_eq!(line("b,c,x", Dtype::F32), "line 4: 'x' is not a number; correct it");
        assert_eq!(line("b,c,", Dtype::F32), "line 4: the weight is empty; fill it in");
        assert_eq!(line(",c,1", Dtype::F32), "line 4: the column 'from' has no name; fill it in");
        assert_eq!(line("b,c", Dtype::F32), "line 4 has 2 cells where the first has 3; complete it");
        assert!(line("b,c,nan", Dtype::F32).starts_with("line 4: NaN"));
        assert!(line("b,c,nan", Dtype::I32).starts_with("line 4: NaN"));
        assert!(line("b,c,-inf", Dtype::F64).starts_with("line 4: minus infinity"));
        assert!(line("b,c,-inf", Dtype::I32).starts_with("line 4: minus infinity"));
        assert!(line("b,c,0.5", Dtype::I32).contains("'0.5' does not fit i32; choose another --dtype"));
        assert!(line("b,c,1e40", Dtype::F32).contains("does not fit f32"));
        assert!(line("b,c,99999999999", Dtype::I32).contains("does not fit i32"));
        assert!(line("b,c,300000000", Dtype::I32).contains("2^28"));
        for marks in ["2147483647", "2147483646", "1073741823", "1073741824"] {
            let said = line(&format!("b,c,{marks}"), Dtype::I32);
            assert!(said.contains(&format!("{marks} is too large: i32 distances take weights between")), "{said}");
        }
        assert!(line("b,c,9223372036854775807", Dtype::I64).contains("write inf"));
        for tiny in ["1e-40", "-1e-60"] {
            assert!(line(&format!("b,c,{tiny}"), Dtype::F32).contains("too small"), "{tiny}");
        }
        let missing = why("from,to,cost\na,b,1\n", Dtype::F32);
        assert!(missing.contains("no column 'weight', but 'from', 'to', 'cost'"), "{missing}");
        assert!(why("from,to,weight\n", Dtype::F32).contains("no edges"));
        assert!(why("", Dtype::F32).contains("empty"));
        assert!(why("\n\n", Dtype::F32).contains("no rows"));
        assert!(why("from,to,weight\na,\"b\n", Dtype::F32).contains("line 2"));
    }

    #[test]
    fn lists_as_people_have_them() {
        for (name, content, want) in [
            ("g.txt", "# c\n% c\na\tb\n\nb\tSan Marino\n", "a>b b>San Marino F32([1.0, 1.0])"),
            ("g.edges", " 1   2 5\n2 3\t7\n", "1>2 2>3 F32([5.0, 7.0])"),
            ("g.TSV", "dst\tsrc\tw\nb\ta\t2\n", "a>b F32([2.0])"),
            ("g", "a;b;2\nb;c;3", "a>b b>c F32([2.0, 3.0])"),
            ("g.csv", "a,b,2\n#x,y,7\n\"#x\",y,3\n", "a>b #x>y F32([2.0, 3.0])"),
            ("g.csv", "Source;Target\na;b", "a>b F32([1.0])"),
            ("g.csv", "u,v,w\n1,2,4\n", "1>2 F32([4.0])"),
            ("g.csv", "from,to,weight,u,v,w\n1,2,4,8,8,8\n", "1>2 F32([4.0])"),
            ("g.txt", "p q\nc d\n", "p>q c>d F32([1.0, 1.0])"),
            ("g.txt", "p sp 2 1\na 1 2 2.5", "1>2 F32([2.5])"),
        ] {
            let Ok(GraphFile::Edges(list, _)) = named(name, content.as_bytes(), Dtype::F32) else {
                panic!("{content:?}: {:?}", named(name, content.as_bytes(), Dtype::F32))
            };
            let name = |i: usize| list.names.name(i);
            let ends: Vec<String> = list.ends.iter().map(|&(i, k)| format!("{}>{}", name(i), name(k))).collect();
            assert_eq!(format!("{} {:?}", ends.join(" "), list.weights), want, "{content:?}");
        }
    }

    #[test]
    fn what_f32_rounds_is_told() {
        let notes = |name: &str, content: &str, dtype| match named(name, content.as_bytes(), dtype).unwrap() {
            GraphFile::Edges(_, kind) => kind.notes,
            GraphFile::Matrix(_, notes) => notes,
        };
        for (name, content) in [
            ("g.csv", "from,to,weight\na,b,16777217\nb,c,12345.6789\nc,a,0.1\n"),
            ("g.csv", "0,16777217\n12345.6789,0\n"),
            ("g.gr", "p sp 2 3\na 1 2 16777217\na 2 1 12345.6789\na 1 1 16777216.000\n"),
        ] {
            let told =
                "weights that f32 rounds: 2, as 16777217 to 16777216; --dtype f64, or i32 for whole ones, keeps them";
            assert_eq!(notes(name, content, Dtype::F32), [told], "{content}");
            assert_eq!(notes(name, content, Dtype::F64), [""; 0], "{content}");
        }
    }

    #[test]
    fn what_is_no_list_says_what_to_do() {
        for (name, content, want) in [
            ("g.csv", &b"1 2\n2 1\n"[..], "numbers alone, separated by blanks: separate a matrix by commas"),
            ("g.csv", b"1,2\n2,1\n3,4\n", "or is a .txt"),
            ("g.txt", b"a b c d\n", "line 1 has 4 columns: name them"),
            ("g.txt", b"# c\n", "no rows"),
            ("g.txt", b"von nach km\na b 1\n", "line 1: 'km' is not a number; correct it (names of columns are from"),
            ("g.txt", b"a b 1\nb c km\n", "line 2: 'km' is not a number; correct it"),
            ("g.txt", b"a b 1\nb c\n", "line 2 has 2 cells where the first has 3"),
            ("g.txt", b"a;b;1,5\n", "decimal comma; write 1.5"),
            ("g.csv", b"src,u,v,w\na,b,c,1\n", "several columns are called 'src' or 'u'"),
            ("g.txt", b"a b\n\xff\n", "line 2 is not UTF-8"),
            ("g.txt", b"\0\x01\x02", "line 1 has 1 column: name"),
            ("g.gr", b"p sp 2 1\na 1 2 x\n", "line 2: 'x' is not a number"),
            ("g.npz", b"PK", "it is no zip file that can be read"),
            ("g.GraphML", b"<xml>", "it is no whole XML"),
            ("g.gml", b"graph [\nnode", "GML is not read; save the graph as GraphML"),
            ("g.gexf", b"<gexf/>", "GEXF is not read; save the graph as GraphML"),
            ("g.gr.gz", b"\x1f\x8b\0", "cannot be unpacked"),
            ("g.GR.GZ", b"a 1 2 x\n", "line 1: 'p sp NODES ARCS' must come"),
        ] {
            let why = named(name, content, Dtype::F32).unwrap_err();
            assert!(why.contains(want) && !why.contains('\n'), "{content:?}: {why}");
        }
    }

    #[test]
    fn a_matrix_of_text() {
        let no = f32::INFINITY;
        assert_eq!(
            matrix("0,2,\ninf,0,-1\n4,5,-0\n", Dtype::F32).weights,
            Array::F32(vec![0.0, 2.0, no, no, 0.0, -1.0, 4.0, 5.0, 0.0])
        );
        assert_eq!(matrix("7\n", Dtype::I32), Matrix { n: 1, weights: Array::I32(vec![7]), decimals: Some(0) });
        assert!(why("1,2\n3,4\n5,6\n", Dtype::F32).contains("3 rows and 2 columns"));
        assert!(why("1,2\n3\n", Dtype::F32).starts_with("line 2 has 1 cell "));
        assert!(why("1,2\n\n3,NaN\n", Dtype::F32).starts_with("line 3, column 2: NaN"));
        assert!(why("1,2\n3,x\n", Dtype::F32).starts_with("line 2, column 2: 'x' is not a number"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(
            body in "[0-9a-c,;#%.\"\n\r\t -]{0,60}",
            header in prop::sample::select(vec![
                "", "from,to,weight\n", "graph [ node [ id 1 ] ", "<graphml><graph><node id='a'/>", "p sp 3 2\n", "3 2 011\n", "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n",
            ]),
            name in prop::sample::select(vec!["g.csv", "g.txt", "g.gr", "g.mtx", "g.graph", "g.graph.gz"]),
        ) {
            for dtype in [Dtype::F32, Dtype::I32] {
                if let Err(why) = named(name, format!("{header}{body}").as_bytes(), dtype) {
                    prop_assert!(!why.contains('\n'));
                }
            }
        }
    }
}

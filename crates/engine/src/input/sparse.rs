//! Sparse matrices as `scipy.sparse.save_npz` writes them.

use super::arrays::{square, weights};
use super::convert::convert;
use super::edges::EdgeKind;
use super::npy;
use super::npz::Npz;
use super::why::{Why, shown};
use gpulab_graph::{EdgeList, MOST_NODES, Names};
use gpulab_model::data::{Array, Dtype};

/// The matrix's entries as edges between nodes that are numbered from 0.
pub(super) fn edges(npz: &Npz<'_>, dtype: Option<Dtype>) -> Result<(EdgeList, EdgeKind), Why> {
    if !npz.has("format") {
        return Err(format!(
            "it has {}; save one square matrix, or a sparse one with scipy.sparse.save_npz",
            npz.list()
        ));
    }
    let format = npz.array("format")?;
    // Of characters of four bytes three are 0.
    let format: Vec<u8> = npy::data(&format)?.iter().copied().filter(|&byte| byte != 0).collect();
    let format = String::from_utf8_lossy(&format);
    if !["csr", "csc", "coo"].contains(&&*format) {
        return Err(format!(
            "its sparse format is {}, and csr, csc and coo are read; save it .tocsr()",
            shown(&format)
        ));
    }
    let [rows, columns] = numbers(npz, "shape")?[..] else { return Err("its shape is not that of a matrix".into()) };
    square(rows, columns)?;
    let n = rows;
    if !(1..=MOST_NODES).contains(&n) {
        return Err(format!("it has {n} rows, and distances are found for 1 to {MOST_NODES} nodes; leave nodes out"));
    }
    let data = npz.array("data")?;
    let array = npy::read(&data).map_err(|why| format!("its data: {why}"))?;
    let is_bool = npy::is_bool(&data)?;
    let nodes = |name: &str| {
        let nodes = numbers(npz, name)?;
        match nodes.iter().position(|&node| node >= n) {
            Some(at) => {
                Err(format!("its '{name}' has {} at place {at}, and it has {n} rows; save it again", nodes[at]))
            }
            None if nodes.len() != array.len() => {
                Err(format!("its '{name}' has {} places, and it has {} data; save it again", nodes.len(), array.len()))
            }
            None => Ok(nodes),
        }
    };
    let (from, to) = match &*format {
        "coo" => (nodes("row")?, nodes("col")?),
        "csr" => (lines(npz, n, array.len())?, nodes("indices")?),
        _ => (nodes("indices")?, lines(npz, n, array.len())?),
    };
    let place = |at: usize| format!("row {}, column {}, counted from 0", from[at], to[at]);
    let (weights, notes) = weights(array, is_bool, dtype, &place)?;
    let ends: Vec<(usize, usize)> = from.iter().copied().zip(to.iter().copied()).collect();
    let kind = EdgeKind { format: format!("a sparse matrix ({format}),"), edges: ends.len(), both_ways: false, notes };
    Ok((EdgeList { names: Names::numbered(n), ends, weights, decimals: None }, kind))
}

/// An array of whole numbers, none below 0.
fn numbers(npz: &Npz<'_>, name: &str) -> Result<Vec<usize>, Why> {
    let array = npy::read(&npz.array(name)?).and_then(|array| convert(array, Dtype::I64));
    let Array::I64(numbers) = array.map_err(|why| format!("its '{name}': {why}"))? else { return Ok(Vec::new()) };
    numbers
        .iter()
        .enumerate()
        .map(|(at, &number): (usize, &i64)| {
            number.try_into().map_err(|_| format!("its '{name}' has {number} at place {at}; save it again"))
        })
        .collect()
}

/// The row of each entry, or its column: `indptr` says where those of each begin.
fn lines(npz: &Npz<'_>, n: usize, entries: usize) -> Result<Vec<usize>, Why> {
    let begins = numbers(npz, "indptr")?;
    if begins.len() != n + 1 || begins[0] != 0 || begins[n] != entries || !begins.is_sorted() {
        return Err(format!("its 'indptr' does not share {entries} entries among {n} rows; save it again"));
    }
    Ok((0..n).flat_map(|line| (begins[line]..begins[line + 1]).map(move |_| line)).collect())
}

#[cfg(test)]
mod tests {
    use super::super::npy::tests::written;
    use super::*;
    use flate2::{Compression, write::DeflateEncoder};
    use gpulab_graph::Length;
    use proptest::prelude::*;
    use rawzip::{CompressionMethod, ZipArchiveWriter};
    use std::io::Write;

    fn npy<T: npyz::Serialize + Copy>(descr: &str, values: &[T]) -> Vec<u8> {
        written(descr, &[values.len() as u64], values)
    }

    /// As NumPy writes a text of its own: an array without dimensions.
    fn text(text: &str) -> Vec<u8> {
        let header = format!("{{'descr': '|S{}', 'fortran_order': False, 'shape': (), }}\n", text.len());
        [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), text.as_bytes()].concat()
    }

    fn zip(arrays: &[(&str, Vec<u8>)], deflate: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut archive = ZipArchiveWriter::new(&mut bytes);
        for (name, array) in arrays {
            let method = if deflate { CompressionMethod::DEFLATE } else { CompressionMethod::STORE };
            let (mut entry, config) =
                archive.new_file(format!("{name}.npy")).compression_method(method).start().unwrap();
            let descriptor = if deflate {
                let mut writer = config.wrap(DeflateEncoder::new(&mut entry, Compression::default()));
                writer.write_all(array).unwrap();
                let (encoder, descriptor) = writer.finish().unwrap();
                encoder.finish().unwrap();
                descriptor
            } else {
                let mut writer = config.wrap(&mut entry);
                writer.write_all(array).unwrap();
                writer.finish().unwrap().1
            };
            entry.finish(descriptor).unwrap();
        }
        archive.finish().unwrap();
        bytes
    }

    type Arrays = Vec<(&'static str, Vec<u8>)>;

    /// Three nodes: 0 to 1 of 5, 2 to 0 of 6, 2 to 1 of -7.
    fn matrix(format: &'static str) -> Arrays {
        let data = npy("<f8", &[5.0, 6.0, -7.0]);
        let shape = npy("<i8", &[3_i64, 3]);
        let format_array = text(format);
        let places: Arrays = match format {
            "csr" => vec![("indptr", npy("<i4", &[0, 1, 1, 3])), ("indices", npy("<i4", &[1, 0, 1]))],
            "csc" => vec![("indptr", npy("<i8", &[0_i64, 1, 3, 3])), ("indices", npy("<i8", &[2_i64, 0, 2]))],
            _ => vec![("row", npy("<i4", &[0, 2, 2])), ("col", npy("<i4", &[1, 0, 1]))],
        };
        let data = if format == "csc" { npy("<f8", &[6.0, 5.0, -7.0]) } else { data };
        [places, vec![("format", format_array), ("shape", shape), ("data", data)]].concat()
    }

    fn read(arrays: &[(&str, Vec<u8>)], dtype: Option<Dtype>) -> Result<(EdgeList, EdgeKind), Why> {
        edges(&Npz::open(&zip(arrays, false))?, dtype)
    }

    fn with(format: &'static str, name: &'static str, array: Vec<u8>) -> Arrays {
        let mut arrays = matrix(format);
        arrays.retain(|(known, _)| *known != name);
        arrays.push((name, array));
        arrays
    }

    #[test]
    fn each_sparse_format_packed_or_not() {
        for format in ["csr", "csc", "coo"] {
            for deflate in [false, true] {
                let bytes = zip(&matrix(format), deflate);
                let (list, kind) = edges(&Npz::open(&bytes).unwrap(), Some(Dtype::I32)).unwrap();
                let Array::I32(weights) = &list.weights else { panic!("{list:?}") };
                let mut edges: Vec<_> = list.ends.iter().zip(weights).collect();
                edges.sort();
                assert_eq!(edges, [(&(0, 1), &5), (&(2, 0), &6), (&(2, 1), &-7)], "{format}");
                assert_eq!((list.names.len(), list.names.name(2)), (3, "2"));
                assert_eq!((kind.edges, &*kind.format), (3, &*format!("a sparse matrix ({format}),")));
            }
        }
    }

    #[test]
    fn data_of_every_kind() {
        let weights = |array: Vec<u8>| {
            let (list, kind) = read(&with("coo", "data", array), None).unwrap();
            (list.weights, kind.notes.len())
        };
        let truth = weights(npy("|b1", &[true, false, true]));
        assert_eq!(truth, (Array::I32(vec![1, i32::NO_EDGE, 1]), 1));
        assert_eq!(weights(npy("|i1", &[-1_i8, 0, 127])), (Array::I32(vec![-1, 0, 127]), 0));
        assert_eq!(weights(npy("<i8", &[-1_i64, 0, 127])), (Array::I32(vec![-1, 0, 127]), 0));
        assert_eq!(weights(npy("<f4", &[0.5_f32, 0.0, 9.0])), (Array::F32(vec![0.5, 0.0, 9.0]), 0));
    }

    #[test]
    fn what_is_wrong_says_where() {
        let ints = |values: &[i32]| npy("<i4", values);
        let nan = npy("<f8", &[f64::NAN, 1.0, 2.0]);
        for (arrays, want) in [
            (vec![], "it has no arrays; save one square matrix"),
            (vec![("a", ints(&[1])), ("b", ints(&[1]))], "it has the arrays 'a', 'b'; save one square matrix"),
            (vec![("format", text("csr"))], "it has the arrays 'format' and not 'shape'"),
            (with("csr", "format", text("dia")), "its sparse format is 'dia', and csr, csc and coo are read"),
            (with("csr", "format", b"\x93NUMPY".to_vec()), "it ends within its header"),
            (with("csr", "shape", ints(&[3, 4])), "3 rows and 4 columns"),
            (with("csr", "shape", ints(&[3])), "its shape is not that of a matrix"),
            (with("csr", "shape", ints(&[-3, -3])), "its 'shape' has -3 at place 0"),
            (with("coo", "shape", npy("<i8", &[1_i64 << 40, 1 << 40])), "it has 1099511627776 rows, and distances"),
            (with("csr", "shape", ints(&[0, 0])), "it has 0 rows"),
            (with("csr", "shape", ints(&[4, 4])), "its 'indptr' does not share 3 entries among 4 rows"),
            (with("csr", "indptr", ints(&[0, 4, 1, 3])), "its 'indptr' does not share"),
            (with("csr", "indptr", ints(&[0, 1, 1, 2])), "its 'indptr' does not share"),
            (with("csr", "indices", ints(&[1, 0, 3])), "its 'indices' has 3 at place 2, and it has 3 rows"),
            (with("csr", "indices", ints(&[1, 0])), "its 'indices' has 2 places, and it has 3 data"),
            (with("csr", "indices", ints(&[1, 0, -1])), "its 'indices' has -1 at place 2"),
            (with("csr", "indices", npy("<f8", &[0.5, 1.0, 2.0])), "its 'indices': element 0 is 0.5, which i64"),
            (with("coo", "data", nan), "row 0, column 1, counted from 0: NaN"),
            (with("coo", "data", written("<f8", &[1, 1, 3], &[1.0, 2.0, 3.0])), "its data: its shape is"),
        ] {
            let why = read(&arrays, None).unwrap_err();
            assert!(why.contains(want) && !why.contains('\n'), "{want}: {why}");
        }
    }

    proptest! {
        #[test]
        fn damaged_files_are_read_or_refused(at in 0_usize..2000, byte: u8, cut in 0_usize..3000, deflate: bool) {
            let mut bytes = zip(&matrix("csr"), deflate);
            let at = at % bytes.len();
            bytes[at] = byte;
            bytes.truncate(cut);
            let read = Npz::open(&bytes).and_then(|npz| edges(&npz, None));
            prop_assert!(read.map_or_else(|why| !why.contains('\n'), |(list, _)| list.ends.len() == 3));
        }
    }
}

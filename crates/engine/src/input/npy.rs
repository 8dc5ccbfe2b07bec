//! NumPy's `.npy` format, versions 1 to 3, as numpy.lib.format documents it.
//!
//! Its header is a Python dictionary, of which two entries matter. They are picked out rather than parsed: a general
//! parser of Python recurses as deeply as a hostile header nests, and a product of dimensions overflows.

use super::{Why, decode, shown};
use gpulab_model::data::{Array, Dtype};
use gpulab_model::each_array;

const MAGIC: &[u8] = b"\x93NUMPY";

/// The vector in the bytes of a file.
pub fn read(bytes: &[u8]) -> Result<Array, Why> {
    let (header, data) = split(bytes)?;
    elements(header, data, vector_len(header)?)
}

/// Rows and columns of the matrix in the bytes of a file.
pub fn sides(bytes: &[u8]) -> Result<[usize; 2], Why> {
    let header = split(bytes)?.0;
    match shape(header)?[..] {
        [rows, columns] => Ok([rows, columns]),
        _ => Err(format!(
            "its shape is ({}), not that of a matrix",
            shown(shape_text(header)?)
        )),
    }
}

/// Whether the elements are truth values, which are read as bytes 0 and 1.
pub fn is_bool(bytes: &[u8]) -> Result<bool, Why> {
    Ok(element_type(split(bytes)?.0)?.1 == "b1")
}

/// The matrix in the bytes of a file, row after row.
pub fn read_matrix(bytes: &[u8]) -> Result<Array, Why> {
    let [rows, columns] = sides(bytes)?;
    let (header, data) = split(bytes)?;
    let len = rows.checked_mul(columns).ok_or("its shape is too large")?;
    let mut elements = elements(header, data, len)?;
    if entry(header, "fortran_order")?.starts_with("True") {
        elements = by_rows(rows, columns, &elements);
    }
    Ok(elements)
}

/// The elements of a matrix that lie column after column, row after row.
fn by_rows(rows: usize, columns: usize, array: &Array) -> Array {
    fn turned<T: Copy>(rows: usize, columns: usize, v: &[T]) -> Vec<T> {
        (0..rows)
            .flat_map(|row| (0..columns).map(move |column| v[column * rows + row]))
            .collect()
    }
    each_array!(array, v => turned(rows, columns, v).into())
}

/// What stands behind the header.
pub fn data(bytes: &[u8]) -> Result<&[u8], Why> {
    split(bytes).map(|(_, data)| data)
}

/// So many elements, which must be all that follows the header; integers that have no type here in a wider one.
fn elements(header: &str, data: &[u8], len: usize) -> Result<Array, Why> {
    let (big_endian, kind) = element_type(header)?;
    let size = kind[1..]
        .parse()
        .ok()
        .filter(|size| (1..=8).contains(size))
        .unwrap_or(1);
    if len.checked_mul(size) != Some(data.len()) {
        let bytes = data.len();
        return Err(format!(
            "its header says {len} elements of {size} bytes, but {bytes} bytes follow; save it again"
        ));
    }
    macro_rules! widened {
        ($narrow:ty, $wide:ty) => {{
            let decode = if big_endian {
                <$narrow>::from_be_bytes
            } else {
                <$narrow>::from_le_bytes
            };
            data.as_chunks()
                .0
                .iter()
                .map(|&bytes| <$wide>::from(decode(bytes)))
                .collect::<Vec<$wide>>()
                .into()
        }};
    }
    Ok(match kind {
        "f4" => decode(data, Dtype::F32, big_endian),
        "f8" => decode(data, Dtype::F64, big_endian),
        "i4" => decode(data, Dtype::I32, big_endian),
        "i8" => decode(data, Dtype::I64, big_endian),
        "u1" | "b1" => decode(data, Dtype::U8, big_endian),
        "i1" => widened!(i8, i32),
        "i2" => widened!(i16, i32),
        "u2" => widened!(u16, i32),
        "u4" => widened!(u32, i64),
        _ => return Err(unsupported(kind)),
    })
}

/// The header's text, and what follows it.
fn split(bytes: &[u8]) -> Result<(&str, &[u8]), Why> {
    let rest = bytes
        .strip_prefix(MAGIC)
        .ok_or("it is not a NumPy file: save it with numpy.save")?;
    let (len, rest) = match *rest {
        [1, _, a, b, ref rest @ ..] => (u32::from(u16::from_le_bytes([a, b])), rest),
        [2 | 3, _, a, b, c, d, ref rest @ ..] => (u32::from_le_bytes([a, b, c, d]), rest),
        [1..=3, ..] | [] => return Err("it ends within its header; save it again".into()),
        [version, ..] => {
            return Err(format!(
                "version {version} of the NumPy format is unknown here"
            ));
        }
    };
    let split = usize::try_from(len)
        .ok()
        .and_then(|len| rest.split_at_checked(len));
    let (header, data) = split.ok_or("it ends within its header; save it again")?;
    Ok((
        std::str::from_utf8(header).map_err(|_| "its header is not text; save it again")?,
        data,
    ))
}

/// What follows `'key':` in the dictionary.
fn entry<'a>(header: &'a str, key: &str) -> Result<&'a str, Why> {
    let found = header
        .split_once(&format!("'{key}'"))
        .or_else(|| header.split_once(&format!("\"{key}\"")));
    let value = found.and_then(|(_, rest)| rest.trim_start().strip_prefix(':'));
    value
        .map(str::trim_start)
        .ok_or_else(|| format!("its header has no '{key}'; save it again"))
}

/// Whether the high byte comes first, and NumPy's name of the type without that.
fn element_type(header: &str) -> Result<(bool, &str), Why> {
    let value = entry(header, "descr")?;
    let quoted = value
        .strip_prefix(['\'', '"'])
        .and_then(|v| v.split(['\'', '"']).next());
    let name = quoted.ok_or("its elements are records; save one field of them")?;
    match name.split_at_checked(1) {
        Some((order @ ("<" | ">" | "|"), kind)) if kind.is_ascii() && kind.len() == 2 => {
            Ok((order == ">", kind))
        }
        _ => Err(unsupported(name)),
    }
}

fn unsupported(name: &str) -> Why {
    format!(
        "its elements are of NumPy's type {}, not floats or integers of 4 or 8 bytes; convert them with .astype",
        shown(name)
    )
}

fn shape(header: &str) -> Result<Vec<usize>, Why> {
    let text = shape_text(header)?;
    let dims = text
        .split(',')
        .map(str::trim)
        .filter(|d| !d.is_empty())
        .map(str::parse);
    dims.collect::<Result<_, _>>()
        .map_err(|_| format!("its shape ({}) is too large or invalid", shown(text)))
}

fn shape_text(header: &str) -> Result<&str, Why> {
    let value = entry(header, "shape")?;
    let shape = value
        .strip_prefix('(')
        .and_then(|v| v.split_once(')'))
        .map(|(dims, _)| dims.trim());
    shape.ok_or_else(|| "its header's 'shape' is not a tuple; save it again".into())
}

/// Elements of a vector, or of a matrix that is one. The order of a matrix does not matter then.
fn vector_len(header: &str) -> Result<usize, Why> {
    match shape(header)?[..] {
        [len] | [len, 1] | [1, len] => Ok(len),
        _ => Err(format!(
            "its shape is ({}), not that of a vector; save one row or column, or .ravel() it",
            shown(shape_text(header)?)
        )),
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use npyz::{Order, WriterBuilder};
    use proptest::prelude::*;

    /// A file by an independent writer, row after row.
    pub fn written<T: npyz::Serialize + Copy>(descr: &str, shape: &[u64], values: &[T]) -> Vec<u8> {
        written_in(Order::C, descr, shape, values)
    }

    pub fn written_in<T: npyz::Serialize + Copy>(
        order: Order,
        descr: &str,
        shape: &[u64],
        values: &[T],
    ) -> Vec<u8> {
        let mut bytes = Vec::new();
        let options = npyz::WriteOptions::new()
            .dtype(npyz::DType::Plain(descr.parse().unwrap()))
            .shape(shape);
        let mut writer = options.order(order).writer(&mut bytes).begin_nd().unwrap();
        writer.extend(values.iter().copied()).unwrap();
        writer.finish().unwrap();
        bytes
    }

    fn with_header(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = [MAGIC, &[version, 0]].concat();
        match version {
            1 => bytes.extend((header.len() as u16).to_le_bytes()),
            _ => bytes.extend((header.len() as u32).to_le_bytes()),
        }
        [&bytes, header.as_bytes(), data].concat()
    }

    #[test]
    fn every_type_in_both_byte_orders() {
        for order in ["<", ">"] {
            assert_eq!(
                read(&written(&format!("{order}f4"), &[2], &[1.5f32, -2.0])),
                Ok(Array::F32(vec![1.5, -2.0]))
            );
            assert_eq!(
                read(&written(&format!("{order}f8"), &[1], &[0.1f64])),
                Ok(Array::F64(vec![0.1]))
            );
            assert_eq!(
                read(&written(&format!("{order}i4"), &[1], &[-7i32])),
                Ok(Array::I32(vec![-7]))
            );
            assert_eq!(
                read(&written(&format!("{order}i8"), &[1], &[i64::MIN])),
                Ok(Array::I64(vec![i64::MIN]))
            );
        }
    }

    #[test]
    fn narrow_integers_become_wider_ones() {
        assert_eq!(
            read(&written("|i1", &[2], &[-7i8, 7])),
            Ok(Array::I32(vec![-7, 7]))
        );
        assert_eq!(
            read(&written(">i2", &[1], &[-300i16])),
            Ok(Array::I32(vec![-300]))
        );
        assert_eq!(
            read(&written("<u2", &[1], &[65535u16])),
            Ok(Array::I32(vec![65535]))
        );
        assert_eq!(
            read(&written("<u4", &[1], &[u32::MAX])),
            Ok(Array::I64(vec![u32::MAX.into()]))
        );
        let truth = written("|b1", &[2], &[true, false]);
        assert_eq!(read(&truth), Ok(Array::U8(vec![1, 0])));
    }

    #[test]
    fn a_row_or_column_is_a_vector_and_a_matrix_is_not() {
        for shape in [&[3u64][..], &[3, 1], &[1, 3]] {
            assert_eq!(
                read(&written("<i4", shape, &[1, 2, 3])),
                Ok(Array::I32(vec![1, 2, 3]))
            );
        }
        assert!(
            read(&written("<i4", &[2, 2], &[1, 2, 3, 4]))
                .unwrap_err()
                .contains("2, 2")
        );
        assert!(read(&written("<i4", &[], &[1])).is_err());
        assert_eq!(
            read(&written::<i32>("<i4", &[0], &[])),
            Ok(Array::I32(vec![]))
        );
    }

    #[test]
    fn later_versions_and_fortran_order() {
        let header =
            "{'descr': '<i4', 'fortran_order': True, 'shape': (1L, 1), }\n".replace('L', "");
        for version in [1, 2, 3] {
            assert_eq!(
                read(&with_header(version, &header, &[9, 0, 0, 0])),
                Ok(Array::I32(vec![9]))
            );
        }
        assert!(
            read(&with_header(4, &header, &[9, 0, 0, 0]))
                .unwrap_err()
                .contains("version 4")
        );
    }

    #[test]
    fn other_types_are_named() {
        assert!(
            read(&written("<u8", &[1], &[7u64]))
                .unwrap_err()
                .contains("'u8', not floats or integers")
        );
        let records = "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }\n";
        assert!(
            read(&with_header(1, records, &[0; 4]))
                .unwrap_err()
                .contains("records")
        );
    }

    #[test]
    fn claims_beyond_the_file_are_refused() {
        let claim = |shape: &str| {
            format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}\n")
        };
        for shape in [
            "18446744073709551615,",
            "9999999999999999999999,",
            "4294967296, 4294967296",
            "2,",
            "-1,",
        ] {
            assert!(
                read(&with_header(1, &claim(shape), &[0; 8])).is_err(),
                "{shape}"
            );
        }
        let huge_header = [MAGIC, &[2, 0, 255, 255, 255, 255], b"{}"].concat();
        assert!(
            read(&huge_header)
                .unwrap_err()
                .contains("ends within its header")
        );
        let nested = "(".repeat(1 << 20);
        assert!(read(&with_header(2, &nested, &[])).is_err());
    }

    proptest! {
        #[test]
        fn damaged_files_are_read_or_refused(at in 0usize..144, byte: u8, cut in 0usize..145) {
            let mut bytes = written("<f8", &[2], &[1.0f64, 2.0]);
            let at = at % bytes.len();
            bytes[at] = byte;
            bytes.truncate(cut);
            prop_assert!(read(&bytes).map_or(true, |a| a.len() <= 4));
        }

        #[test]
        fn any_header_is_read_or_refused(header in "[{}'\"():,<>a-z0-9\u{e9} ]{0,80}", version in 0u8..5) {
            prop_assert!(read(&with_header(version, &header, &[])).map_or(true, |a| a.is_empty()));
        }
    }
}

//! Real data from files: vectors, `--input A [--input2 B]`, and [graphs](graph()).
//!
//! One file per format; this one picks the format, and converts between element types. A file's own numbers are never
//! trusted: nothing is allocated from a length in a header before the file is known to hold that much.

mod graph;
mod npy;
mod table;

pub use graph::graph;

use gpulab_model::data::{Array, Dtype, Layout};
use gpulab_model::each_array;
use gpulab_model::outcome::Number;
use gpulab_model::{Error, Result};
use gpulab_record::files;
use std::path::Path;

/// Why a file could not be used, in words that follow its name.
type Why = String;

/// Reads the vector in a file, as `dtype` or as the file's own element type.
///
/// - `x.npy`: a vector of NumPy's floats or integers, of either byte order; a matrix of one row or column is one too.
/// - `x.f32 x.f64 x.i32 x.i64`: raw little-endian elements. `x.bin` and `x.raw` hold `dtype`, else f32; with a
///   `dtype`, so does any other file.
///
/// A file of another type than `dtype` is converted if each value survives exactly; f64 is also rounded to f32.
pub fn read(path: &str, dtype: Option<Dtype>) -> Result<Array> {
    vector(path, dtype).map_err(|why| unusable(path, &why))
}

fn unusable(path: &str, why: &str) -> Error {
    Error::Usage(format!("cannot use input '{path}': {why}"))
}

fn vector(path: &str, dtype: Option<Dtype>) -> Result<Array, Why> {
    let bytes = load(Path::new(path))?;
    let array = match extension(path).as_str() {
        "npy" => npy::read(&bytes)?,
        "csv" => return Err("a vector is no CSV: save its column with numpy.save, as .npy".into()),
        "bin" | "raw" => raw(&bytes, dtype.unwrap_or(Dtype::F32))?,
        other => {
            let own_type = Dtype::ALL.into_iter().find(|own| own.name() == other);
            raw(&bytes, own_type.or(dtype).ok_or(UNKNOWN)?)?
        }
    };
    if array.is_empty() {
        return Err("it holds no elements, and at least one is needed".into());
    }
    match dtype {
        Some(dtype) => convert(array, dtype),
        None => Ok(array),
    }
}

/// The bytes of a file's elements, which the layout says; of an `.npy` file those behind its header.
pub fn read_bytes(path: &str, layout: &Layout) -> Result<Array> {
    let bytes = load(Path::new(path)).map_err(|why| unusable(path, &why))?;
    let data = if extension(path) == "npy" {
        npy::data(&bytes).map_err(|why| unusable(path, &why))?
    } else {
        &bytes
    };
    match data.len() % layout.size.max(1) {
        0 => Ok(Array::U8(data.to_vec())),
        _ => Err(unusable(
            path,
            &format!(
                "it has {} bytes, and an element has {}",
                data.len(),
                layout.size
            ),
        )),
    }
}

const UNKNOWN: &str = "its extension names no format: name it .npy, .f32, .f64, .i32 or .i64, or give --dtype for raw elements";

fn extension(path: &str) -> String {
    Path::new(path)
        .extension()
        .map(|e| e.to_string_lossy().to_ascii_lowercase())
        .unwrap_or_default()
}

fn load(path: &Path) -> Result<Vec<u8>, Why> {
    let bytes = files::read(path).map_err(|e| e.to_string())?;
    if bytes.is_empty() {
        Err("the file is empty".into())
    } else {
        Ok(bytes)
    }
}

/// The elements of a little-endian file.
fn raw(bytes: &[u8], dtype: Dtype) -> Result<Array, Why> {
    let len = bytes.len();
    let size = dtype.size();
    if !len.is_multiple_of(size) {
        return Err(format!(
            "its {len} bytes are not a multiple of the {size} bytes of an {dtype}; try another --dtype"
        ));
    }
    Ok(decode(bytes, dtype, false))
}

/// As many whole elements as the bytes hold.
fn decode(bytes: &[u8], dtype: Dtype, big_endian: bool) -> Array {
    macro_rules! elements {
        ($t:ty) => {{
            let decode = if big_endian {
                <$t>::from_be_bytes
            } else {
                <$t>::from_le_bytes
            };
            bytes.as_chunks().0.iter().map(|&b| decode(b)).collect()
        }};
    }
    match dtype {
        Dtype::F32 => Array::F32(elements!(f32)),
        Dtype::F64 => Array::F64(elements!(f64)),
        Dtype::I32 => Array::I32(elements!(i32)),
        Dtype::I64 => Array::I64(elements!(i64)),
        Dtype::U8 => Array::U8(bytes.to_vec()),
    }
}

fn convert(array: Array, to: Dtype) -> Result<Array, Why> {
    if array.dtype() == to {
        return Ok(array);
    }
    each_array!(&array, v => match to {
        Dtype::F32 => all(v, to, Number::f32).map(Array::F32),
        Dtype::F64 => all(v, to, Number::f64).map(Array::F64),
        Dtype::I32 => all(v, to, Number::i32).map(Array::I32),
        Dtype::I64 => all(v, to, Number::i64).map(Array::I64),
        Dtype::U8 => all(v, to, Number::u8).map(Array::U8),
    })
}

fn all<F: Copy + Into<Number>, T>(
    values: &[F],
    to: Dtype,
    f: fn(Number) -> Option<T>,
) -> Result<Vec<T>, Why> {
    values
        .iter()
        .enumerate()
        .map(|(i, &value): (usize, &F)| {
            let number = value.into();
            f(number).ok_or_else(|| {
                format!("element {i} is {number}, which {to} cannot hold exactly; choose another --dtype")
            })
        })
        .collect()
}

/// Text from a file for a message: short, and on one line whatever it holds.
fn shown(text: &str) -> String {
    const MOST: usize = 40;
    let cut: String = text.chars().take(MOST).collect();
    let more = if cut.len() < text.len() { "..." } else { "" };
    format!("'{}{more}'", cut.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;
    use std::path::PathBuf;

    fn file(name: &str, bytes: &[u8]) -> (tempfile::TempDir, String) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        let path = path.to_str().unwrap().to_string();
        (dir, path)
    }

    fn error(spec: &str, dtype: Option<Dtype>) -> String {
        let Err(Error::Usage(line)) = read(spec, dtype) else {
            unreachable!("{spec} was read")
        };
        assert!(!line.contains('\n'), "{line}");
        assert!(line.contains(spec), "{line}");
        line
    }

    fn bundled(name: &str) -> String {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("../../data/inputs")
            .join(name);
        path.to_str().unwrap().to_string()
    }

    #[test]
    fn the_bundled_array_is_whole_and_is_converted() {
        let numbers = read(&bundled("sunspots.npy"), None).unwrap();
        assert_eq!((numbers.len(), numbers.dtype()), (309, Dtype::F64));
        let converted = read(&bundled("sunspots.npy"), Some(Dtype::F32)).unwrap();
        assert_eq!(converted.dtype(), Dtype::F32);
    }

    #[test]
    fn the_bundled_array_holds_fractions_that_no_integer_can() {
        let line = error(&bundled("sunspots.npy"), Some(Dtype::I32));
        assert!(
            line.ends_with(
                "element 49 is 80.9, which i32 cannot hold exactly; choose another --dtype"
            ),
            "{line}"
        );
    }

    #[test]
    fn typed_endings_decide_and_dtype_converts() {
        let (_dir, path) = file("x.i32", &[1, 0, 0, 0, 255, 255, 255, 255]);
        assert_eq!(read(&path, None).unwrap(), Array::I32(vec![1, -1]));
        assert_eq!(
            read(&path, Some(Dtype::F64)).unwrap(),
            Array::F64(vec![1.0, -1.0])
        );
    }

    #[test]
    fn untyped_endings_take_the_dtype() {
        let bytes = 1.5f32.to_le_bytes();
        for name in ["x.bin", "x.RAW"] {
            let (_dir, path) = file(name, &bytes);
            assert_eq!(read(&path, None).unwrap(), Array::F32(vec![1.5]));
        }
        let (_dir, path) = file("x.dat", &bytes);
        assert_eq!(
            read(&path, Some(Dtype::I32)).unwrap(),
            Array::I32(vec![0x3fc0_0000])
        );
        assert!(error(&path, None).contains("--dtype"));
    }

    #[test]
    fn files_that_cannot_be_read_are_told_in_the_systems_words() {
        let (dir, path) = file("x.npy", b"");
        assert!(error(&path, None).contains("empty"));
        let missing = dir.path().join("none.npy");
        let not_found = fs::read(&missing).unwrap_err().to_string();
        assert!(error(missing.to_str().unwrap(), None).ends_with(&not_found));
        let folder = fs::read(dir.path()).unwrap_err().to_string();
        assert!(error(dir.path().to_str().unwrap(), None).ends_with(&folder));
    }

    #[test]
    fn devices_that_never_end_are_refused() {
        assert!(error("/dev/zero", Some(Dtype::F32)).contains("regular file"));
    }

    #[test]
    fn no_message_breaks_its_line_or_runs_on() {
        assert_eq!(shown("a\nb"), "'a\\nb'");
        assert_eq!(shown(&"é".repeat(50)), format!("'{}...'", "é".repeat(40)));
    }

    proptest! {
        #[test]
        fn any_file_is_read_or_refused_in_one_line(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            ending in prop::sample::select(vec!["npy", "csv", "raw", "bin", "f64", "i32", "txt"]),
            dtype in prop::option::of(prop::sample::select(Dtype::ALL.to_vec())),
        ) {
            let (_dir, path) = file(&format!("x.{ending}"), &bytes);
            match read(&path, dtype) {
                Ok(array) => prop_assert!(!array.is_empty() && dtype.is_none_or(|d| d == array.dtype())),
                Err(e) => prop_assert!(!e.to_string().contains('\n')),
            }
        }
    }

    #[test]
    fn both_byte_orders_are_read_and_a_torn_element_is_refused() {
        assert_eq!(decode(&[0, 0, 0, 1], Dtype::I32, true), Array::I32(vec![1]));
        assert_eq!(
            decode(&[1, 0, 0, 0], Dtype::I32, false),
            Array::I32(vec![1])
        );
        assert_eq!(
            decode(&2.5f64.to_be_bytes(), Dtype::F64, true),
            Array::F64(vec![2.5])
        );
        let why = raw(&[0; 13], Dtype::F32).unwrap_err();
        assert!(why.contains("13 bytes") && why.contains("4 bytes"), "{why}");
    }

    fn one(array: Array, to: Dtype) -> Option<Array> {
        convert(array, to).ok()
    }

    #[test]
    fn f64_rounds_to_f32_but_does_not_overflow() {
        assert_eq!(
            one(Array::F64(vec![0.1]), Dtype::F32),
            Some(Array::F32(vec![0.1]))
        );
        assert_eq!(
            one(Array::F64(vec![f64::INFINITY]), Dtype::F32),
            Some(Array::F32(vec![f32::INFINITY]))
        );
        assert_eq!(one(Array::F64(vec![1e39]), Dtype::F32), None);
    }

    #[test]
    fn floats_become_integers_only_exactly() {
        assert_eq!(
            one(Array::F32(vec![-3.0]), Dtype::I32),
            Some(Array::I32(vec![-3]))
        );
        for x in [0.5, f64::NAN, f64::INFINITY, 2f64.powi(63), 1e300] {
            assert_eq!(one(Array::F64(vec![x]), Dtype::I64), None, "{x}");
        }
        assert_eq!(one(Array::F64(vec![2f64.powi(31)]), Dtype::I32), None);
    }

    proptest! {
        #[test]
        fn what_converts_to_an_integer_converts_back(x: i64, bits: u64) {
            for number in [Array::F64(vec![x as f64]), Array::F64(vec![f64::from_bits(bits)]), Array::I64(vec![x])] {
                for to in [Dtype::I32, Dtype::I64] {
                    if let Some(there) = one(number.clone(), to) {
                        prop_assert_eq!(one(there, number.dtype()), Some(number.clone()));
                    }
                }
            }
        }
    }
}

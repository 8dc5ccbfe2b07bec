//! Elements as bare bytes.

use super::why::Why;
use gpulab_model::data::{Array, Dtype};

/// The elements of a little-endian file.
pub(super) fn read(bytes: &[u8], dtype: Dtype) -> Result<Array, Why> {
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
pub(super) fn decode(bytes: &[u8], dtype: Dtype, big_endian: bool) -> Array {
    macro_rules! elements {
        ($t:ty) => {{
            let decode = if big_endian { <$t>::from_be_bytes } else { <$t>::from_le_bytes };
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_byte_orders_are_read_and_a_torn_element_is_refused() {
        assert_eq!(decode(&[0, 0, 0, 1], Dtype::I32, true), Array::I32(vec![1]));
        assert_eq!(decode(&[1, 0, 0, 0], Dtype::I32, false), Array::I32(vec![1]));
        assert_eq!(decode(&2.5f64.to_be_bytes(), Dtype::F64, true), Array::F64(vec![2.5]));
        let why = read(&[0; 13], Dtype::F32).unwrap_err();
        assert!(why.contains("13 bytes") && why.contains("4 bytes"), "{why}");
    }

    proptest! {
        #[test]
        fn any_bytes_come_back_or_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            for dtype in Dtype::ALL {
                match read(&bytes, dtype) {
                    Ok(array) if cfg!(target_endian = "little") => prop_assert_eq!(array.as_bytes(), &bytes[..]),
                    Ok(array) => prop_assert_eq!(array.as_bytes().len(), bytes.len()),
                    Err(_) => prop_assert!(bytes.len() % dtype.size() != 0),
                }
            }
        }
    }
}

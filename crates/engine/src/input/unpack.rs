//! Files in gzip.

use super::why::Why;
use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::io::Read;

/// Most bytes of a packed file: few may unfold to any number.
const MOST: u64 = 1 << 30;

/// The bytes, unpacked if they are gzip's.
pub(super) fn unpack(bytes: &[u8]) -> Result<Cow<'_, [u8]>, Why> {
    up_to(MOST, bytes)
}

fn up_to(most: u64, bytes: &[u8]) -> Result<Cow<'_, [u8]>, Why> {
    if !bytes.starts_with(b"\x1f\x8b") {
        return Ok(bytes.into());
    }
    let mut unpacked = Vec::new();
    let read = MultiGzDecoder::new(bytes).take(most + 1).read_to_end(&mut unpacked);
    let size = read.map_err(|error| format!("it cannot be unpacked ({error}); pack it with gzip once more"))?;
    match size as u64 {
        0 => Err("it is an empty file, packed".into()),
        size if size > most => Err(format!("it unpacks to more than {most} bytes; unpack it with gzip -d first")),
        _ => Ok(unpacked.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn what_is_packed_is_unpacked_up_to_a_limit() {
        let zeros = packed(&[0; 1000]);
        assert_eq!(up_to(1000, &zeros).unwrap(), &[0; 1000][..]);
        assert!(up_to(999, &zeros).unwrap_err().contains("more than 999 bytes"));
        assert_eq!(unpack(b"a b\n").unwrap(), &b"a b\n"[..]);
        assert_eq!(unpack(&[packed(b"a "), packed(b"b")].concat()).unwrap(), &b"a b"[..]);
        assert!(unpack(&packed(b"")).unwrap_err().contains("empty"));
        assert!(unpack(&zeros[..zeros.len() - 9]).unwrap_err().contains("cannot be unpacked"));
        assert!(unpack(b"\x1f\x8brubbish").unwrap_err().contains("cannot be unpacked"));
    }
}

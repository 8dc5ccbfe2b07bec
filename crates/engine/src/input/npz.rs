//! NumPy's `.npz`: a zip file of `.npy` files, as they are or deflated.

use super::why::{Why, shown};
use flate2::bufread::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchive, ZipArchiveEntryWayfinder, ZipSliceArchive};
use std::io::Read;

/// Most bytes of an array that is not larger than its file: few may unfold to any number.
const MOST: usize = 1 << 30;

/// The arrays of a file, by name.
pub(super) struct Npz<'a> {
    archive: ZipSliceArchive<&'a [u8]>,
    arrays: Vec<PackedArray>,
    /// Most bytes of an array.
    most: usize,
}

struct PackedArray {
    name: String,
    method: CompressionMethod,
    place: ZipArchiveEntryWayfinder,
}

fn broken(error: rawzip::Error) -> Why {
    format!("it is no zip file that can be read ({}); save it again, or get the whole file", shown(&error.to_string()))
}

impl<'a> Npz<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Npz<'a>, Why> {
        let archive = ZipArchive::from_slice(bytes).map_err(broken)?;
        let mut arrays = Vec::new();
        let mut entries = archive.entries();
        while let Some(entry) = entries.next_entry().map_err(broken)? {
            let path = String::from_utf8_lossy(entry.file_path().as_ref()).into_owned();
            if let Some(name) = path.strip_suffix(".npy") {
                let method = entry.compression_method();
                let place = entry.wayfinder();
                arrays.push(PackedArray { name: name.to_owned(), method, place });
            }
        }
        Ok(Npz { archive, arrays, most: MOST.max(bytes.len()) })
    }

    /// The only array's name, if there is one.
    pub(super) fn only(&self) -> Option<&str> {
        let [array] = &self.arrays[..] else { return None };
        Some(&array.name)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.arrays.iter().any(|array| array.name == name)
    }

    /// What arrays there are, for a message.
    pub(super) fn list(&self) -> String {
        let names: Vec<String> = self.arrays.iter().take(10).map(|array| shown(&array.name)).collect();
        if names.is_empty() { "no arrays".into() } else { format!("the arrays {}", names.join(", ")) }
    }

    pub(super) fn array(&self, name: &str) -> Result<Vec<u8>, Why> {
        let Some(array) = self.arrays.iter().find(|array| array.name == name) else {
            return Err(format!("it has {} and not '{name}'; save it again with scipy.sparse.save_npz", self.list()));
        };
        let entry = self.archive.get_entry(array.place).map_err(broken)?;
        let packed: Box<dyn Read + '_> = match array.method {
            CompressionMethod::STORE => Box::new(entry.data()),
            CompressionMethod::DEFLATE => Box::new(DeflateDecoder::new(entry.data())),
            _ => return Err(format!("its array {} is packed in an unknown way; save it again", shown(name))),
        };
        let mut bytes = Vec::new();
        let read = entry.verifying_reader(packed.take(self.most as u64 + 1)).read_to_end(&mut bytes);
        if bytes.len() > self.most {
            return Err(format!(
                "its array {} unpacks to more than {} bytes; save it unpacked",
                shown(name),
                self.most
            ));
        }
        match read {
            Ok(_) => Ok(bytes),
            Err(error) => Err(format!(
                "its array {} cannot be unpacked ({}); save it again, or get the whole file",
                shown(name),
                shown(&error.to_string())
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_zip_file_is_refused() {
        for bytes in [&b"PK"[..], b"PK\x03\x04", &[0; 100], b"\x93NUMPY"] {
            assert!(Npz::open(bytes).err().unwrap().contains("no zip file"), "{bytes:?}");
        }
    }
}

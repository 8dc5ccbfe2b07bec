//! Memory around a result: the poison that outputs hold before a kernel runs, the guard zones on both sides of
//! buffers, and inputs that must stay as they are.

use super::Comparable;
use super::pieces::first_in_pieces;
use crate::data::{self, Array, Dtype, Fill};
use crate::each_array;
use rayon::prelude::*;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// `len` elements that no kernel produces: quiet NaNs with a payload, or 0xdeadbeef. Outputs are filled
/// with them before each check.
pub fn poisoned(dtype: Dtype, len: usize) -> Array {
    match dtype {
        Dtype::F32 => Array::F32(vec![f32::POISON; len]),
        Dtype::F64 => Array::F64(vec![f64::POISON; len]),
        Dtype::I32 => Array::I32(vec![i32::POISON; len]),
        Dtype::I64 => Array::I64(vec![i64::POISON; len]),
        Dtype::U8 => Array::U8(vec![u8::POISON; len]),
    }
}

/// The bytes of one poisoned element, in the host's order.
pub fn poison(dtype: Dtype) -> Vec<u8> {
    poisoned(dtype, 1).as_bytes().to_vec()
}

/// The bytes of one element of another poison, where a right answer has the value of the first: any integer may have it,
/// and a float that was moved.
pub fn other_poison(dtype: Dtype) -> Vec<u8> {
    poison(dtype).iter().map(|byte| !byte).collect()
}

/// Index of the first element that still holds the poison, if any: a strong hint that it was not written, as one right
/// integer in 2^32 has that value, and a float only if it was moved.
pub fn still_poisoned(got: &Array) -> Option<usize> {
    each_array!(got, v => first_in_pieces(v, |_, piece| {
        // Nearly no piece has any, and its elements are looked at many at a time.
        let is_any = piece.iter().fold(false, |is_any, x| is_any | x.is_poison());
        if is_any { piece.iter().position(|x| x.is_poison()) } else { None }
    }))
}

/// Fewest bytes of a guard zone. They are read and written with every check, and an item of a group hardly reaches further.
pub const GUARD_BYTES: usize = 64 << 10;

/// The elements of a guard zone of so many bytes: data that change a result into which they are read. Those of each `number` and
/// side are others.
pub fn guard(fill: Fill, dtype: Dtype, is_behind: bool, number: u64, bytes: usize) -> Array {
    /// Seeds that no data have.
    const SEEDS: [u64; 2] = [0x6A09_E667_F3BC_C908, 0xBB67_AE85_84CA_A73B];
    data::generate(
        fill,
        dtype,
        SEEDS[usize::from(is_behind)],
        number,
        0,
        bytes / dtype.size(),
    )
}

/// Whether a guard zone, read back, is untouched; else where it was overwritten first, as seen from the buffer.
pub fn check_guard(zone: &[u8], want: &Array, is_behind: bool) -> Result<(), String> {
    let want = want.as_bytes();
    // Nearly always: not byte by byte.
    if zone == want {
        return Ok(());
    }
    if zone.len() != want.len() {
        return Err(format!("a guard zone has {} bytes", zone.len()));
    }
    let mut pairs = zone.iter().zip(want);
    let distance = if is_behind {
        pairs.position(|(a, b)| a != b)
    } else {
        pairs.rev().position(|(a, b)| a != b)
    };
    match distance {
        None => Ok(()),
        Some(bytes) if is_behind => Err(format!(
            "the kernel wrote past the end of a buffer, {bytes} bytes behind it"
        )),
        Some(bytes) => Err(format!(
            "the kernel wrote before the start of a buffer, {} bytes in front of it",
            bytes + 1
        )),
    }
}

/// Tells arrays of bytes apart that come piece by piece: the hash of the hashes of their blocks, which threads share.
#[derive(Default)]
pub struct Fingerprint(Xxh3);

impl Fingerprint {
    /// Bytes of a block.
    pub const BLOCK: usize = 1 << 20;

    /// Takes the next piece: a number of whole blocks, but for the last.
    pub fn update(&mut self, piece: &[u8]) {
        if piece.is_empty() {
            return;
        }
        let blocks: Vec<u128> = match piece.len() <= Fingerprint::BLOCK {
            true => vec![xxh3_128(piece)],
            false => piece.par_chunks(Fingerprint::BLOCK).map(xxh3_128).collect(),
        };
        blocks
            .iter()
            .for_each(|block| self.0.update(&block.to_le_bytes()));
    }

    /// What all pieces come to.
    pub fn end(&self) -> u128 {
        self.0.digest128()
    }
}

pub fn fingerprint(bytes: &[u8]) -> u128 {
    let mut fingerprint = Fingerprint::default();
    fingerprint.update(bytes);
    fingerprint.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_outside_is_found_with_its_distance() {
        let want = guard(Fill::Real, Dtype::I32, false, 0, 4096);
        assert_ne!(want, guard(Fill::Real, Dtype::I32, true, 0, 4096));
        assert_ne!(want, guard(Fill::Real, Dtype::I32, false, 1, 4096));
        let mut zone = want.as_bytes().to_vec();
        assert_eq!(check_guard(&zone, &want, true), Ok(()));
        zone[9] ^= 1;
        assert!(
            check_guard(&zone, &want, true)
                .unwrap_err()
                .contains(" 9 bytes behind")
        );
        assert!(
            check_guard(&zone, &want, false)
                .unwrap_err()
                .contains(" 4087 bytes in front")
        );
        assert!(check_guard(&zone[1..], &want, true).is_err());
    }

    #[test]
    fn one_bit_makes_another_fingerprint() {
        for len in [1, 100, Fingerprint::BLOCK, 5 * Fingerprint::BLOCK + 7] {
            let mut bytes = vec![0; len];
            let zeros = fingerprint(&bytes);
            for at in [0, len / 2, len - 1] {
                bytes[at] ^= 1;
                assert_ne!(fingerprint(&bytes), zeros, "byte {at} of {len}");
                bytes[at] ^= 1;
            }
            assert_eq!(fingerprint(&bytes), zeros);
            let mut pieces = Fingerprint::default();
            bytes
                .chunks(2 * Fingerprint::BLOCK)
                .for_each(|piece| pieces.update(piece));
            assert_eq!(pieces.end(), zeros);
        }
        let [one, other] = [1, 2].map(|byte| vec![byte; Fingerprint::BLOCK]);
        assert_ne!(
            fingerprint(&[one.clone(), other.clone()].concat()),
            fingerprint(&[other, one].concat())
        );
    }
}

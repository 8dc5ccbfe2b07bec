//! The print of an array: a number that another array is most unlikely to have, which host and device work out alike.

use super::fill::draw;
use multiversion::multiversion;

/// The sum over all 64-bit words of a random number of the word and its place, modulo 2^64: the same in any order. `bytes`
/// are a part of an array that begins with its word `first`; a last half of a word counts as one whose other half is 0.
///
/// [`draw`] maps words to words one to one, so that a change of one word is always seen. Two changes, or more, are missed as
/// seldom as two random numbers of 64 bits are equal.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub fn print(bytes: &[u8], first: u64) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words.iter().zip(first..).fold(0u64, |sum, (word, at)| sum.wrapping_add(of(*word, at)));
    if rest.is_empty() {
        return sum;
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    sum.wrapping_add(of(last, first + words.len() as u64))
}

/// A word's part in the sum.
#[inline(always)]
fn of(word: [u8; 8], at: u64) -> u64 {
    draw(u64::from_le_bytes(word), at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dtype, Fill, generate};

    #[test]
    fn parts_sum_up_to_the_whole_and_a_half_word_counts() {
        let array = generate(Fill::Real, Dtype::I32, 1, 0, 0, 1001);
        let bytes = array.as_bytes();
        for at in [0, 8, 1600, 4000] {
            let parts = print(&bytes[..at], 0).wrapping_add(print(&bytes[at..], at as u64 / 8));
            assert_eq!(parts, print(bytes, 0), "{at}");
        }
        assert_ne!(print(bytes, 0), print(&bytes[..4000], 0));
    }

    #[test]
    fn every_change_and_exchange_makes_another_print() {
        let array = generate(Fill::FewBits, Dtype::I32, 1, 0, 0, 500);
        let mut bytes = array.as_bytes().to_vec();
        let whole = print(&bytes, 0);
        for at in 0..bytes.len() {
            bytes[at] ^= 0x10;
            assert_ne!(print(&bytes, 0), whole, "byte {at}");
            bytes[at] ^= 0x10;
        }
        for (a, b) in [(0, 8), (8, 1600), (0, 1992)] {
            let mut other = bytes.clone();
            other[a] ^= 1;
            other[b] ^= 1;
            assert_ne!(print(&other, 0), whole, "bytes {a} and {b}");
            let mut exchanged = [1u8, 2].repeat(4);
            exchanged.extend([3; 8]);
            let before = print(&exchanged, 0);
            exchanged.rotate_left(8);
            assert_ne!(print(&exchanged, 0), before);
        }
    }
}

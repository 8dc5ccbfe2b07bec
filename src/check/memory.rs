//! Memory around a result: the poison that outputs hold before a kernel runs, and the guard zones
//! behind buffers.

use crate::data::{Array, Dtype};
use crate::each_array;

/// An element type's value that no kernel produces.
pub(super) trait Poison: Copy {
    /// A quiet NaN with a payload, or 0xdeadbeef.
    const POISON: Self;

    /// Whether the value is the poison, bit for bit.
    fn is_poison(self) -> bool;
}

macro_rules! poison {
    ($($t:ty, $bits:literal, $from_bits:expr, $to_bits:expr;)*) => {$(
        impl Poison for $t {
            const POISON: $t = $from_bits($bits);

            fn is_poison(self) -> bool {
                $to_bits(self) == $bits
            }
        }
    )*};
}

poison! {
    f32, 0x7fc0_dead, f32::from_bits, f32::to_bits;
    f64, 0x7ff8_dead_beef_dead, f64::from_bits, f64::to_bits;
    i32, 0xdead_beef, u32::cast_signed, i32::cast_unsigned;
    i64, 0xdead_beef_dead_beef, u64::cast_signed, i64::cast_unsigned;
}

/// `len` elements that no kernel produces: quiet NaNs with a payload, or 0xdeadbeef. Outputs are filled
/// with them before each check.
pub fn poisoned(dtype: Dtype, len: usize) -> Array {
    match dtype {
        Dtype::F32 => Array::F32(vec![f32::POISON; len]),
        Dtype::F64 => Array::F64(vec![f64::POISON; len]),
        Dtype::I32 => Array::I32(vec![i32::POISON; len]),
        Dtype::I64 => Array::I64(vec![i64::POISON; len]),
    }
}

/// The bytes of one poisoned element, in the host's order.
pub fn poison(dtype: Dtype) -> Vec<u8> {
    poisoned(dtype, 1).as_bytes().to_vec()
}

/// Index of the first element that still holds the poison, if any. Proof of a missing write for
/// floats; for integers a strong hint, as one right answer in 2^32 has that value.
pub fn still_poisoned(got: &Array) -> Option<usize> {
    each_array!(got, v => v.iter().position(|x| x.is_poison()))
}

/// Bytes of the guard zone behind a buffer: 32 elements of the widest type.
pub const GUARD_BYTES: usize = 256;

/// What a guard zone holds: each byte differs from its neighbours, and no element in it is a number
/// that a kernel is likely to write.
pub const fn guard_pattern() -> [u8; GUARD_BYTES] {
    let mut pattern = [0; GUARD_BYTES];
    let mut i = 0;
    while i < GUARD_BYTES {
        pattern[i] = (i as u8) ^ 0xA5;
        i += 1;
    }
    pattern
}

/// Whether a guard zone, read back, is untouched; else the first byte, counted from the buffer's end,
/// that was overwritten.
pub fn check_guard(zone: &[u8]) -> Result<(), String> {
    let pattern = guard_pattern();
    if zone.len() != pattern.len() {
        return Err(format!("the guard zone has {} bytes, not {GUARD_BYTES}", zone.len()));
    }
    match zone.iter().zip(&pattern).position(|(got, want)| got != want) {
        None => Ok(()),
        Some(offset) => Err(format!("the kernel wrote past the end of a buffer, {offset} bytes behind it")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_past_the_end_is_found() {
        let mut zone = guard_pattern();
        assert_eq!(check_guard(&zone), Ok(()));
        zone[9] = 0;
        assert!(check_guard(&zone).unwrap_err().contains(" 9 bytes behind"));
        assert!(check_guard(&zone[1..]).is_err());
    }
}

//! Pairs of elements of which a wrong operation takes the wrong one, where all others are neutral.

use super::fill::draw;
use super::{Array, Dtype};

/// Numbers one unit apart, in both orders, and numbers with and without one high bit, of many sizes and both signs: a
/// comparison in a narrower type, of halves of words or without a sign takes the wrong one of some.
pub fn hard_to_compare(dtype: Dtype) -> Vec<[Array; 2]> {
    const EXPONENTS: [i32; 9] = [-126, -60, -20, 0, 3, 20, 35, 60, 126];
    let floats = EXPONENTS
        .into_iter()
        .flat_map(|size| [1.0, -1.0].map(|sign| sign * 1.375 * 2f64.powi(size)));
    match dtype {
        Dtype::F32 => alone(floats.flat_map(|x| {
            let x = x as f32;
            both_orders(x, f32::from_bits(x.to_bits() + 1))
        })),
        Dtype::F64 => alone(floats.flat_map(|x| both_orders(x, f64::from_bits(x.to_bits() + 1)))),
        Dtype::I32 => alone(whole(&[0, 7, 8, 15, 16, 23, 24, 30], |x| x as i32)),
        Dtype::I64 => {
            let sizes = [0, 7, 8, 15, 16, 23, 24, 30, 31, 32, 40, 52, 53, 62];
            alone(whole(&sizes, |x| x))
        }
        Dtype::U8 => alone(whole(&[0, 3, 6], |x| x as u8)),
    }
}

/// Each number as an array of one element.
fn alone<T>(pairs: impl IntoIterator<Item = [T; 2]>) -> Vec<[Array; 2]>
where
    Vec<T>: Into<Array>,
{
    let pairs = pairs.into_iter();
    pairs
        .map(|pair| pair.map(|number| vec![number].into()))
        .collect()
}

/// Pairs of whole numbers about these powers of two, as `of` makes them.
fn whole<T>(sizes: &[u32], of: fn(i64) -> T) -> impl Iterator<Item = [T; 2]> {
    let signed = sizes
        .iter()
        .flat_map(|&size| [1, -1].map(|sign| (size, sign)));
    signed.flat_map(move |(size, sign)| {
        let [high, next] = [1, 2].map(|more| sign * ((1 << size) + more));
        let last = if size % 2 == 0 {
            [high, sign]
        } else {
            [sign, high]
        };
        let [first, second] = both_orders(high, next);
        [first, second, last].map(|pair| pair.map(of))
    })
}

fn both_orders<T: Copy>(a: T, b: T) -> [[T; 2]; 2] {
    [[a, b], [b, a]]
}

/// Words in which bits meet: the same word twice, and random ones of which each has bits that the other has and lacks.
/// Nothing of floats.
pub fn overlapping(dtype: Dtype, seed: u64) -> Vec<[Array; 2]> {
    let [a, b, c] = [0, 1, 2].map(|number| draw(seed, number));
    let pairs = [[a, a], [a, b], [b, c], [c, a & b]];
    match dtype {
        Dtype::F32 | Dtype::F64 => Vec::new(),
        Dtype::I32 => alone(pairs.map(|pair| pair.map(|word| word as i32))),
        Dtype::I64 => alone(pairs.map(|pair| pair.map(|word| word as i64))),
        Dtype::U8 => alone(pairs.map(|pair| pair.map(|word| word as u8))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widest(array: &Array) -> f64 {
        match array {
            Array::F32(v) => v[0].into(),
            Array::F64(v) => v[0],
            Array::I32(v) => v[0].into(),
            Array::I64(v) => v[0] as f64,
            Array::U8(v) => v[0].into(),
        }
    }

    #[test]
    fn a_comparison_in_a_narrower_type_takes_the_wrong_one() {
        for dtype in [Dtype::I32, Dtype::F64] {
            let is_misjudged = hard_to_compare(dtype).iter().any(|[a, b]| {
                let as_floats = if widest(a) as f32 > widest(b) as f32 {
                    widest(a)
                } else {
                    widest(b)
                };
                as_floats != widest(a).max(widest(b))
            });
            assert!(is_misjudged, "{dtype}");
        }
    }

    #[test]
    fn words_overlap() {
        for pair in overlapping(Dtype::I32, 1) {
            let [Array::I32(a), Array::I32(b)] = pair else {
                panic!("another type")
            };
            assert!(a[0] & b[0] != 0 && (a[0] == b[0] || a[0] ^ b[0] != 0));
        }
        assert!(overlapping(Dtype::F32, 1).is_empty());
    }
}

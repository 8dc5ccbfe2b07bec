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
        Dtype::F32 => floats
            .flat_map(|x| both_orders(x as f32, f32::from_bits((x as f32).to_bits() + 1)))
            .map(|pair| pair.map(|x| Array::F32(vec![x])))
            .collect(),
        Dtype::F64 => floats
            .flat_map(|x| both_orders(x, f64::from_bits(x.to_bits() + 1)))
            .map(|pair| pair.map(|x| Array::F64(vec![x])))
            .collect(),
        Dtype::I32 => whole(&[0, 7, 8, 15, 16, 23, 24, 30])
            .map(|pair| pair.map(|x| Array::I32(vec![x as i32])))
            .collect(),
        Dtype::I64 => {
            let sizes = [0, 7, 8, 15, 16, 23, 24, 30, 31, 32, 40, 52, 53, 62];
            whole(&sizes)
                .map(|pair| pair.map(|x| Array::I64(vec![x])))
                .collect()
        }
        Dtype::U8 => whole(&[0, 3, 6])
            .map(|pair| pair.map(|x| Array::U8(vec![x as u8])))
            .collect(),
    }
}

/// Pairs of whole numbers about these powers of two.
fn whole(sizes: &[u32]) -> impl Iterator<Item = [i64; 2]> {
    let signed = sizes
        .iter()
        .flat_map(|&size| [1, -1].map(|sign| (size, sign)));
    signed.flat_map(|(size, sign)| {
        let [high, next] = [1, 2].map(|more| sign * ((1 << size) + more));
        both_orders(high, next)
            .into_iter()
            .chain([if size % 2 == 0 {
                [high, sign]
            } else {
                [sign, high]
            }])
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
        Dtype::I32 => pairs
            .map(|pair| pair.map(|word| Array::I32(vec![word as i32])))
            .into(),
        Dtype::I64 => pairs
            .map(|pair| pair.map(|word| Array::I64(vec![word as i64])))
            .into(),
        Dtype::U8 => pairs
            .map(|pair| pair.map(|word| Array::U8(vec![word as u8])))
            .into(),
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

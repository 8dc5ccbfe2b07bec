//! Sizes that a submission is tried at. Some are drawn anew for each check, so that no kernel can be made for them.

use gpulab_kernels::Form;
use gpulab_model::data::Shape;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnSizes {
    /// Where the result must be right, beside the edges where kernels go wrong.
    pub asked: Shape,
    /// What is counted: whole tiles, so that edges do not blur the counts.
    pub counted: Shape,
}

impl DrawnSizes {
    pub fn new(form: Form, seed: u64) -> DrawnSizes {
        let mut draw = Draw(seed);
        let (asked, counted) = match form {
            Form::Vector => (Shape::vector(draw.within(200_000, 400_000)), Shape::vector(4096 * draw.within(6, 12))),
            Form::Matrix => {
                let width = 64 * draw.within(1, 3);
                let asked = Shape { n: draw.within(100, 400), m: draw.within(100, 400) };
                (asked, Shape { n: width, m: width + 64 })
            }
            Form::Square => {
                let side = draw.within(100, 200);
                let counted = 32 * draw.within(2, 3);
                (Shape { n: side, m: side }, Shape { n: counted, m: counted })
            }
        };
        DrawnSizes { asked, counted }
    }
}

/// Numbers that follow from a seed: SplitMix64 (Steele, Lea and Flood, 2014).
struct Draw(u64);

impl Draw {
    fn within(&mut self, least: u64, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        least + (z ^ (z >> 31)) % (most - least + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_draw_other_sizes_and_a_seed_the_same() {
        for form in [Form::Vector, Form::Matrix, Form::Square] {
            let all: Vec<DrawnSizes> = (0..20).map(|seed| DrawnSizes::new(form, seed)).collect();
            assert_eq!(all[3], DrawnSizes::new(form, 3));
            let last: std::collections::BTreeSet<u64> = all.iter().map(|s| s.asked.n).collect();
            assert!(last.len() > 10, "{last:?}");
            assert!(all.iter().all(|sizes| sizes.counted.n % 32 == 0 && sizes.counted.elements() <= 1 << 16));
        }
    }
}

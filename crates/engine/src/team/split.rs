//! Who does how much. Pure.

use crate::runner::Portion;

/// Portions of `n` elements or rows that take about equally long at these speeds; they begin at multiples of `grain`.
/// Without a speed that counts, all are alike.
pub fn split(n: u64, speeds: &[f64], grain: u64) -> Vec<Portion> {
    let counts = |speed: &f64| speed.is_finite() && *speed > 0.0;
    let speed = |speed: &f64| match speeds.iter().any(counts) {
        true => Some(*speed).filter(counts).unwrap_or(0.0),
        false => 1.0,
    };
    let whole: f64 = speeds.iter().map(speed).sum();
    // What rounding leaves belongs to the last that works.
    let last = speeds.iter().rposition(|one| speed(one) > 0.0);
    let (mut done, mut from) = (0.0, 0);
    let mut portions: Vec<Portion> = Vec::new();
    for (index, one) in speeds.iter().enumerate() {
        done += speed(one);
        let units = (n as f64 / grain as f64 * (done / whole)).round() as u64;
        let end = if Some(index) >= last { n } else { units.saturating_mul(grain).clamp(from, n) };
        portions.push(Portion { from, len: end - from });
        from = end;
    }
    portions
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lens(n: u64, speeds: &[f64], grain: u64) -> Vec<u64> {
        split(n, speeds, grain).into_iter().map(|portion| portion.len).collect()
    }

    #[test]
    fn the_faster_has_the_more_and_speeds_that_do_not_count_nothing() {
        assert_eq!(lens(4096, &[1.0, 1.0], 256), [2048, 2048]);
        assert_eq!(lens(4096, &[3.0, 1.0], 256), [3072, 1024]);
        assert_eq!(lens(1000, &[1.0, 1.0], 256), [512, 488]);
        assert_eq!(lens(4096, &[1.0, 1e-9], 256), [4096, 0]);
        assert_eq!(lens(100, &[f64::NAN, 1.0, 0.0, f64::INFINITY], 1), [0, 100, 0, 0]);
        assert_eq!(lens(1, &[1.0, 0.0], 256), [1, 0]);
        assert_eq!(lens(100, &[f64::NAN, 0.0], 1), [50, 50]);
        assert!(split(100, &[], 1).is_empty());
    }

    #[test]
    fn little_work_is_done_by_some() {
        assert_eq!(lens(0, &[1.0, 1.0], 256), [0, 0]);
        for n in 1..5 {
            assert_eq!(lens(n, &[1.0; 8], 256).iter().sum::<u64>(), n);
        }
        assert_eq!(lens(5, &[1.0; 8], 1).iter().filter(|len| **len > 0).count(), 5);
    }

    proptest! {
        #[test]
        fn portions_follow_each_other_and_are_all(
            n in 0u64..1 << 40,
            speeds in prop::collection::vec(prop_oneof![1e-3..1e6f64, Just(0.0), Just(f64::NAN)], 1..20),
            grain in 1u64..5000,
        ) {
            let portions = split(n, &speeds, grain);
            let mut from = 0;
            for portion in &portions {
                prop_assert_eq!(portion.from, from);
                prop_assert!(portion.len == 0 || from % grain == 0);
                from += portion.len;
            }
            prop_assert_eq!((portions.len(), from), (speeds.len(), n));
        }
    }
}

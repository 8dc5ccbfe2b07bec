//! Summaries of samples: pure functions on `&[f64]`, in the unit of the samples.
//!
//! Run times are skewed to the right and have outliers, so everything here rests on order statistics;
//! there is no mean.

/// Order statistics of a set of samples, in their unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    pub runs: usize,
    pub min: f64,
    pub q1: f64,
    pub median: f64,
    pub q3: f64,
    pub max: f64,
    /// Inter-quartile range over the median's magnitude; 0 if all of the middle half is equal, and
    /// infinite if it is not but the median is 0.
    pub noise: f64,
}

/// Summarises samples in any order; `None` without samples or if any of them is not finite.
pub fn summarise(samples: &[f64]) -> Option<Summary> {
    let sorted = sorted(samples)?;
    let [Some(q1), Some(median), Some(q3)] = [0.25, 0.5, 0.75].map(|p| quantile(&sorted, p)) else {
        return None;
    };
    let range = q3 - q1;
    let noise = if range == 0.0 {
        0.0
    } else {
        range / median.abs()
    };
    Some(Summary {
        runs: sorted.len(),
        min: *sorted.first()?,
        q1,
        median,
        q3,
        max: *sorted.last()?,
        noise,
    })
}

/// The quantile at `p` in 0..=1 of ascending samples, linear between the two nearest: type 7 of
/// Hyndman and Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50(4), 1996.
/// `None` without samples or with `p` outside its range.
pub fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    if sorted.is_empty() || !(0.0..=1.0).contains(&p) {
        return None;
    }
    let position = (sorted.len() - 1) as f64 * p;
    let below = sorted[position as usize];
    let above = sorted[position.ceil() as usize];
    // Rounding could carry the interpolated value just past its upper neighbour.
    Some((below + position.fract() * (above - below)).min(above))
}

/// `a / b`; `None` if either is not finite, `b` is zero, or the quotient overflows.
pub fn ratio(a: f64, b: f64) -> Option<f64> {
    let quotient = a / b;
    (a.is_finite() && b.is_finite() && quotient.is_finite()).then_some(quotient)
}

/// Ascending copy; `None` without samples or if any is not finite.
fn sorted(samples: &[f64]) -> Option<Vec<f64>> {
    if samples.is_empty() || !samples.iter().all(|x| x.is_finite()) {
        return None;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(sorted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use proptest::{collection::vec, prelude::*};

    fn times() -> impl Strategy<Value = Vec<f64>> {
        vec(1e-9..1e3, 1..200)
    }

    #[test]
    fn quartiles_are_those_of_type_7_and_noise_is_never_nan() {
        // R: quantile(c(1, 2, 4, 8), type = 7) gives 1, 1.75, 3, 5, 8.
        let s = summarise(&[8.0, 1.0, 4.0, 2.0]).unwrap();
        assert_eq!(
            (s.runs, s.min, s.q1, s.median, s.q3, s.max),
            (4, 1.0, 1.75, 3.0, 5.0, 8.0)
        );
        assert_relative_eq!(s.noise, 3.25 / 3.0);
        assert_eq!(summarise(&[0.0, 0.0]).unwrap().noise, 0.0);
        assert_eq!(summarise(&[-1.0, 0.0, 1.0]).unwrap().noise, f64::INFINITY);
    }

    #[test]
    fn what_cannot_be_summarised_is_none() {
        assert_eq!(summarise(&[]), None);
        assert_eq!(summarise(&[1.0, f64::NAN]), None);
        assert_eq!(summarise(&[1.0, f64::INFINITY]), None);
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[1.0], 1.5), None);
    }

    #[test]
    fn ratios_without_a_value_are_none() {
        assert_eq!(ratio(6.0, 3.0), Some(2.0));
        assert_eq!(ratio(0.0, 3.0), Some(0.0));
        for (a, b) in [
            (1.0, 0.0),
            (0.0, 0.0),
            (f64::NAN, 1.0),
            (1.0, f64::NAN),
            (1.0, f64::INFINITY),
            (1e300, 1e-300),
        ] {
            assert_eq!(ratio(a, b), None, "{a} / {b}");
        }
    }

    proptest! {
        #[test]
        fn order_does_not_matter(samples in times().prop_flat_map(|v| (Just(v.clone()), Just(v).prop_shuffle()))) {
            prop_assert_eq!(summarise(&samples.0), summarise(&samples.1));
        }

        #[test]
        fn powers_of_two_scale_exactly(samples in times(), exponent in -20..20) {
            let factor = 2f64.powi(exponent);
            let scaled: Vec<f64> = samples.iter().map(|x| x * factor).collect();
            let a = summarise(&samples).unwrap(); let b = summarise(&scaled).unwrap();
            prop_assert_eq!(b.median, a.median * factor);
            prop_assert_eq!(b.q1, a.q1 * factor);
            prop_assert_eq!(b.noise, a.noise);
        }

        #[test]
        fn slower_samples_do_not_lower_the_median(samples in times(), extra in 0.0..10.0) {
            let slower: Vec<f64> = samples.iter().map(|x| x + extra).collect();
            prop_assert!(summarise(&slower).unwrap().median >= summarise(&samples).unwrap().median);
        }
    }
}

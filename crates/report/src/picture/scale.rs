//! Scales: which value lies where on an axis, and which round values have a tick.

/// Largest value of an axis, and largest factor between its ends: quotients and sums of what is drawn stay numbers.
const MOST: f64 = 1e300;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spacing {
    Linear,
    Log2,
    Log10,
}

/// An axis: values from `least` to `most`, and the places of these two on the sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AxisScale {
    pub(super) spacing: Spacing,
    pub(super) least: f64,
    pub(super) most: f64,
    from: f64,
    to: f64,
    ticks: usize,
    /// Whether a logarithmic axis has a place for nought, before its least value.
    has_zero: bool,
}

/// Least and most of the values that can be drawn; nothing without any.
pub(super) fn span(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = values.into_iter().filter(|value| value.is_finite());
    finite.fold(None, |span, value| match span {
        None => Some((value, value)),
        Some((least, most)) => Some((f64::min(least, value), f64::max(most, value))),
    })
}

impl AxisScale {
    fn new(spacing: Spacing, least: f64, most: f64, ticks: usize) -> AxisScale {
        let least = least.clamp(-MOST, MOST);
        let most = most.clamp(-MOST, MOST);
        let least = if spacing == Spacing::Linear { least } else { least.max(most / MOST) };
        AxisScale { spacing, least, most, from: 0.0, to: 1.0, ticks: ticks.max(2), has_zero: false }
    }

    /// From nought to the round value that holds `most`.
    pub(super) fn from_zero(most: f64, ticks: usize) -> AxisScale {
        let most = if most > 0.0 && most.is_finite() { most.min(MOST) } else { 1.0 };
        let step = round_step(most / ticks.max(1) as f64);
        AxisScale::new(Spacing::Linear, 0.0, step * (most / step - 1e-9).ceil(), ticks)
    }

    /// Between two values, as they are.
    pub(super) fn between(least: f64, most: f64, ticks: usize) -> AxisScale {
        let most = if most > least { most } else { least + 1.0 };
        AxisScale::new(Spacing::Linear, least, most, ticks)
    }

    /// Logarithmic, from and to the round values that hold these positive ones.
    pub(super) fn log10(least: f64, most: f64, ticks: usize) -> AxisScale {
        let (least, most) = (least.clamp(f64::MIN_POSITIVE, MOST), most.max(least).clamp(f64::MIN_POSITIVE, MOST));
        let down = ROUND.iter().rev().map(|r| r * decade(least)).find(|r| *r <= least * 1.000_001);
        let up = ROUND.iter().chain(&[10.0]).map(|r| r * decade(most)).find(|r| *r >= most * 0.999_999);
        let least = down.unwrap_or(least);
        let most = up.unwrap_or(most);
        AxisScale::new(Spacing::Log10, least, if most > least { most } else { 10.0 * least }, ticks)
    }

    /// Logarithmic to the base two, between these positive values, with a place for nought before them if that is asked for.
    pub(super) fn log2(least: f64, most: f64, has_zero: bool, ticks: usize) -> AxisScale {
        let least = least.max(f64::MIN_POSITIVE);
        let most = if most > least { most } else { 2.0 * least };
        AxisScale { has_zero, ..AxisScale::new(Spacing::Log2, least, most, ticks) }
    }

    /// The same over these places.
    pub(super) fn over(self, from: f64, to: f64) -> AxisScale {
        AxisScale { from, to, ..self }
    }

    /// The place of a value; of one beyond the ends, the end.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = match self.spacing {
            Spacing::Linear => (value - self.least) / (self.most - self.least),
            Spacing::Log2 | Spacing::Log10 => (value / self.least).ln() / (self.most / self.least).ln(),
        };
        let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        // Nought has a tenth of the axis to itself.
        let share = match self.has_zero {
            true if value <= 0.0 => 0.0,
            true => 0.1 + 0.9 * share,
            false => share,
        };
        self.from + share * (self.to - self.from)
    }

    pub(super) fn holds(&self, value: f64) -> bool {
        (self.least..=self.most).contains(&value) || (self.has_zero && value == 0.0)
    }

    /// Round values along the axis, ascending.
    pub(super) fn ticks(&self) -> Vec<f64> {
        let round = match self.spacing {
            Spacing::Linear => self.steps(round_step((self.most - self.least) / self.ticks as f64)),
            Spacing::Log2 => powers(2.0, self.least, self.most, self.ticks),
            Spacing::Log10 => {
                let each =
                    |r: f64| powers(10.0, self.least / r, self.most / r, usize::MAX).into_iter().map(move |p| r * p);
                let mut fine: Vec<f64> = ROUND.into_iter().flat_map(each).collect();
                fine.sort_by(f64::total_cmp);
                if fine.len() <= self.ticks { fine } else { powers(10.0, self.least, self.most, self.ticks) }
            }
        };
        self.has_zero.then_some(0.0).into_iter().chain(round).collect()
    }

    fn steps(&self, step: f64) -> Vec<f64> {
        let first = (self.least / step - 1e-9).ceil() as i64;
        let last = (self.most / step + 1e-9).floor() as i64;
        (first..=last).map(|at| at as f64 * step).collect()
    }
}

/// What ticks begin with on logarithmic axes, and the steps of linear ones.
const ROUND: [f64; 3] = [1.0, 2.0, 5.0];
const STEPS: [f64; 4] = [1.0, 2.0, 2.5, 5.0];

/// The power of ten at or below a positive value.
fn decade(value: f64) -> f64 {
    let power = 10f64.powi(value.log10().floor() as i32);
    // A logarithm may round up to the next one.
    if power > value { power / 10.0 } else { power }
}

/// The least of 1, 2, 2.5, 5, 10, ... times a power of ten that is not below this.
fn round_step(value: f64) -> f64 {
    let decade = decade(value.max(f64::MIN_POSITIVE));
    STEPS.iter().map(|r| r * decade).find(|step| *step >= value * 0.999_999).unwrap_or(10.0 * decade)
}

/// Powers of a base between two values, of each so many that no more than `most_ticks` are left.
fn powers(base: f64, least: f64, most: f64, most_ticks: usize) -> Vec<f64> {
    let exponent = |value: f64| value.ln() / base.ln();
    let first = (exponent(least) - 1e-9).ceil() as i32;
    let last = (exponent(most) + 1e-9).floor() as i32;
    let count = (last - first + 1).max(0) as usize;
    let every = count.div_ceil(most_ticks).max(1) as i32;
    (first..=last).filter(|power| power.rem_euclid(every) == 0).map(|power| base.powi(power)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(AxisScale::from_zero(4570.0, 5).ticks(), [0.0, 1000.0, 2000.0, 3000.0, 4000.0, 5000.0]);
        assert_eq!(AxisScale::from_zero(0.7, 4).ticks(), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8]);
        assert_eq!(AxisScale::log2(32.0, 1024.0, false, 8).ticks(), [32.0, 64.0, 128.0, 256.0, 512.0, 1024.0]);
        assert_eq!(AxisScale::log2(1.0, 1024.0, true, 4).ticks(), [0.0, 1.0, 8.0, 64.0, 512.0]);
        assert_eq!(AxisScale::log10(3.0, 70.0, 8).ticks(), [2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(AxisScale::log10(1.0, 1e6, 4).ticks(), [1.0, 100.0, 1e4, 1e6]);
    }

    #[test]
    fn places_follow_values_and_the_span_is_of_numbers_alone() {
        let axis = AxisScale::log2(1.0, 16.0, true, 8).over(100.0, 200.0);
        assert_eq!([0.0, 1.0, 16.0, 99.0].map(|value| axis.at(value)), [100.0, 110.0, 200.0, 200.0]);
        assert_eq!(AxisScale::from_zero(10.0, 5).over(300.0, 100.0).at(5.0), 200.0, "values grow upwards");
        assert!(axis.holds(0.0) && axis.holds(16.0) && !axis.holds(17.0));
        assert_eq!(span([3.0, f64::NAN, 1.0, f64::INFINITY]), Some((1.0, 3.0)));
        assert_eq!(span([f64::NAN]), None);
    }

    #[test]
    fn the_largest_numbers_have_places() {
        for axis in [
            AxisScale::from_zero(1e308, 5),
            AxisScale::between(-1e308, 1e308, 5),
            AxisScale::between(1e-300, 1e308, 5),
            AxisScale::log10(1e-300, 1e308, 5),
            AxisScale::log2(1e-300, 1e308, true, 5),
        ] {
            let axis = axis.over(0.0, 100.0);
            for value in [0.0, 1.0, 1e308, f64::INFINITY] {
                assert!((0.0..=100.0).contains(&axis.at(value)), "{axis:?}: {value}");
            }
            assert_eq!(axis.at(1e308), 100.0, "{axis:?}");
            assert!(axis.ticks().iter().all(|tick| tick.is_finite()), "{axis:?}");
        }
    }

    proptest! {
        #[test]
        fn ticks_lie_on_their_axis_and_are_few(least in 1e-9..1e9f64, factor in 1.0..1e6f64, ticks in 2..12usize) {
            let most = least * factor;
            for axis in [
                AxisScale::from_zero(most, ticks),
                AxisScale::between(least, most, ticks),
                AxisScale::log10(least, most, ticks),
                AxisScale::log2(least, most, false, ticks),
            ] {
                let axis = axis.over(0.0, 100.0);
                let all = axis.ticks();
                let slack = 1e-6 * axis.most;
                prop_assert!(all.iter().all(|t| (axis.least - slack..=axis.most + slack).contains(t)), "{axis:?}: {all:?}");
                prop_assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{all:?}");
                prop_assert!(all.len() <= ticks + 2, "{axis:?}: {all:?}");
                prop_assert!(all.iter().all(|&t| (0.0..=100.0).contains(&axis.at(t))));
            }
        }

        #[test]
        fn an_axis_holds_what_it_was_made_for(value in 1e-9..1e9f64) {
            prop_assert!(AxisScale::from_zero(value, 5).most >= value * 0.999_999);
            let axis = AxisScale::log10(value, value, 5);
            prop_assert!(axis.least <= value * 1.000_001 && axis.most >= value * 0.999_999);
        }
    }
}

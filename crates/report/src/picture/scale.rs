//! Axes: which value lies where, which round values have a tick, and the frame behind the data.

use super::sheet::{Area, MARGIN, SMALL, Sheet, WIDTH, widest, width};

/// Largest value of an axis, and largest factor between its ends: quotients and sums of what is drawn stay numbers.
const MOST: f64 = 1e300;

/// Units below an area for the ticks and the name of what is across.
pub const BELOW: f64 = 36.0;

/// An axis: values from `least` to `most`, and the places of these two on the sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AxisScale {
    is_log: bool,
    pub least: f64,
    pub most: f64,
    from: f64,
    to: f64,
    ticks: usize,
    /// Whether a logarithmic axis has a place for nought, before its least value.
    has_zero: bool,
}

/// Least and most of the values that can be drawn; nothing without any.
pub fn span(values: impl IntoIterator<Item = f64>) -> Option<[f64; 2]> {
    let finite = values.into_iter().filter(|value| value.is_finite());
    finite.fold(None, |span, value| match span {
        None => Some([value, value]),
        Some([least, most]) => Some([f64::min(least, value), f64::max(most, value)]),
    })
}

impl AxisScale {
    fn new(is_log: bool, least: f64, most: f64, ticks: usize) -> AxisScale {
        let least = least.clamp(-MOST, MOST);
        let most = most.clamp(-MOST, MOST);
        let least = if is_log {
            least.max(most / MOST)
        } else {
            least
        };
        AxisScale {
            is_log,
            least,
            most,
            from: 0.0,
            to: 1.0,
            ticks: ticks.max(2),
            has_zero: false,
        }
    }

    /// From nought to the round value that holds `most`.
    pub fn from_zero(most: f64, ticks: usize) -> AxisScale {
        let most = if most > 0.0 && most.is_finite() {
            most.min(MOST)
        } else {
            1.0
        };
        let step = round_step(most / ticks.max(1) as f64);
        AxisScale::new(false, 0.0, step * (most / step - 1e-9).ceil(), ticks)
    }

    /// Between two values, as they are.
    pub fn between(least: f64, most: f64, ticks: usize) -> AxisScale {
        AxisScale::new(
            false,
            least,
            if most > least { most } else { least + 1.0 },
            ticks,
        )
    }

    /// Logarithmic, between these positive values, with a place for nought before them if that is asked for.
    pub fn log(least: f64, most: f64, has_zero: bool, ticks: usize) -> AxisScale {
        let least = least.max(f64::MIN_POSITIVE);
        let most = if most > least { most } else { 2.0 * least };
        AxisScale {
            has_zero,
            ..AxisScale::new(true, least, most, ticks)
        }
    }

    /// Logarithmic, from and to the round values that hold these positive ones.
    pub fn log_round(least: f64, most: f64, ticks: usize) -> AxisScale {
        let least = least.clamp(f64::MIN_POSITIVE, MOST);
        let most = most.clamp(least, MOST);
        let down = ROUND
            .iter()
            .rev()
            .map(|r| r * decade(least))
            .find(|r| *r <= least * 1.000_001)
            .unwrap_or(least);
        let up = ROUND
            .iter()
            .chain(&[10.0])
            .map(|r| r * decade(most))
            .find(|r| *r >= most * 0.999_999);
        AxisScale::log(
            down,
            up.filter(|up| *up > down).unwrap_or(10.0 * down),
            false,
            ticks,
        )
    }

    /// The same over these places.
    pub fn over(self, from: f64, to: f64) -> AxisScale {
        AxisScale { from, to, ..self }
    }

    /// The place of a value; of one beyond the ends, the end.
    pub fn at(&self, value: f64) -> f64 {
        let share = match self.is_log {
            false => (value - self.least) / (self.most - self.least),
            true => (value / self.least).ln() / (self.most / self.least).ln(),
        };
        let share = if share.is_nan() {
            0.0
        } else {
            share.clamp(0.0, 1.0)
        };
        // Nought has a tenth of the axis to itself.
        let share = match self.has_zero {
            true if value <= 0.0 => 0.0,
            true => 0.1 + 0.9 * share,
            false => share,
        };
        self.from + share * (self.to - self.from)
    }

    /// The value at a share of the axis.
    pub fn value(&self, share: f64) -> f64 {
        match self.is_log {
            true => (self.least.ln() + share * (self.most.ln() - self.least.ln()))
                .exp()
                .min(self.most),
            false => self.least + share * (self.most - self.least),
        }
    }

    /// Round values along the axis, ascending.
    pub fn ticks(&self) -> Vec<f64> {
        if !self.is_log {
            let step = round_step((self.most - self.least) / self.ticks as f64);
            let first = (self.least / step - 1e-9).ceil() as i64;
            let last = (self.most / step + 1e-9).floor() as i64;
            return (first..=last).map(|at| at as f64 * step).collect();
        }
        let mut fine: Vec<f64> = Vec::new();
        for round in ROUND {
            fine.extend(
                powers(self.least / round, self.most / round, usize::MAX)
                    .iter()
                    .map(|power| power * round),
            );
        }
        fine.sort_by(f64::total_cmp);
        if fine.len() <= self.ticks {
            fine
        } else {
            powers(self.least, self.most, self.ticks)
        }
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
    STEPS
        .iter()
        .map(|r| r * decade)
        .find(|step| *step >= value * 0.999_999)
        .unwrap_or(10.0 * decade)
}

/// Powers of ten between two values, of each so many that no more than `most_ticks` are left.
fn powers(least: f64, most: f64, most_ticks: usize) -> Vec<f64> {
    let first = (least.log10() - 1e-9).ceil() as i32;
    let last = (most.log10() + 1e-9).floor() as i32;
    let count = (last - first + 1).max(0) as usize;
    let every = count.div_ceil(most_ticks).max(1) as i32;
    (first..=last)
        .filter(|power| power.rem_euclid(every) == 0)
        .map(|power| 10f64.powi(power))
        .collect()
}

/// A place on an axis, and the text there.
pub type Tick = (f64, String);

pub fn ticks(axis: &AxisScale) -> Vec<Tick> {
    axis.ticks()
        .into_iter()
        .map(|value| (axis.at(value), super::number::tick(value)))
        .collect()
}

/// Draws vertical lines, their texts below the area as far as these do not touch, and the name of the axis.
pub fn across(sheet: &mut Sheet, area: Area, ticks: &[Tick], name: &str) {
    let mut free = f64::NEG_INFINITY;
    for (x, text) in ticks {
        sheet.line((*x, area.top), (*x, area.bottom), "grid", 1.0);
        let half = width(text, SMALL) / 2.0;
        // A long number at the end stays on the sheet.
        let x = x.min(WIDTH - half - 2.0);
        if x - half >= free {
            sheet.text(x, area.bottom + 16.0, (SMALL, "middle", "dim"), text);
            free = x + half + 6.0;
        }
    }
    sheet.line(
        (area.left, area.bottom),
        (area.right, area.bottom),
        "axis",
        1.0,
    );
    sheet.text(
        (area.left + area.right) / 2.0,
        area.bottom + 32.0,
        (SMALL, "middle", "ink"),
        name,
    );
}

/// An area of this height for an axis upwards, whose name stands above it: draws horizontal lines and their texts left of it.
/// Also the axis in its place.
pub fn framed(sheet: &mut Sheet, axis: AxisScale, height: f64, name: &str) -> (Area, AxisScale) {
    sheet.text(MARGIN, sheet.y - 2.0, (SMALL, "start", "ink"), name);
    let top = sheet.y + 8.0;
    let axis = axis.over(top + height, top);
    let ticks = ticks(&axis);
    let room = widest(ticks.iter().map(|(_, text)| text), SMALL) + 7.0;
    let area = Area::new(MARGIN + room, top, WIDTH - MARGIN - 6.0, top + height);
    for (y, text) in &ticks {
        sheet.line((area.left, *y), (area.right, *y), "grid", 1.0);
        sheet.text(area.left - 5.0, y + 4.0, (SMALL, "end", "dim"), text);
    }
    (area, axis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ticks_are_round_and_places_follow_values() {
        assert_eq!(
            AxisScale::from_zero(4570.0, 5).ticks(),
            [0.0, 1000.0, 2000.0, 3000.0, 4000.0, 5000.0]
        );
        assert_eq!(
            AxisScale::log_round(3.0, 70.0, 8).ticks(),
            [2.0, 5.0, 10.0, 20.0, 50.0, 100.0]
        );
        assert_eq!(
            AxisScale::log_round(1.0, 1e6, 4).ticks(),
            [1.0, 100.0, 1e4, 1e6]
        );
        let axis = AxisScale::log(1.0, 16.0, true, 8).over(100.0, 200.0);
        assert_eq!(
            [0.0, 1.0, 16.0, 99.0].map(|value| axis.at(value)),
            [100.0, 110.0, 200.0, 200.0]
        );
        assert_eq!(span([3.0, f64::NAN, 1.0, f64::INFINITY]), Some([1.0, 3.0]));
    }

    proptest! {
        #[test]
        fn ticks_lie_on_their_axis_and_are_few(least in 1e-9..1e9f64, factor in 1.0..1e6f64, ticks in 2..12usize) {
            let most = least * factor;
            for axis in [
                AxisScale::from_zero(most, ticks),
                AxisScale::between(least, most, ticks),
                AxisScale::log_round(least, most, ticks),
                AxisScale::log(least, most, false, ticks),
            ] {
                let axis = axis.over(0.0, 100.0);
                let all = axis.ticks();
                let slack = 1e-6 * axis.most;
                prop_assert!(all.iter().all(|t| (axis.least - slack..=axis.most + slack).contains(t)), "{axis:?}: {all:?}");
                prop_assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{all:?}");
                prop_assert!(all.len() <= ticks + 2, "{axis:?}: {all:?}");
                prop_assert!([0.0, 1e308, f64::INFINITY].iter().all(|&x| (0.0..=100.0).contains(&axis.at(x))));
            }
        }
    }
}

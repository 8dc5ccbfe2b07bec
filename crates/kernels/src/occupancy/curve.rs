//! Curves: how much of a compute unit groups fill as one of their needs changes and the others stay.

use super::{ComputeUnit, GroupNeeds};

/// How much of a compute unit is filled over one need.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// What changes: `registers of a work-item`.
    pub what: &'static str,
    /// Each value of it, ascending, with the share of the unit's warps that are resident, from 0 to 1.
    pub points: Vec<(u64, f64)>,
    pub asked: u64,
    /// Whether more of it never fills the unit better.
    pub is_falling: bool,
}

impl Curve {
    /// Over registers, local memory and work-items, beside these needs.
    pub fn all(unit: &ComputeUnit, need: GroupNeeds) -> [Curve; 3] {
        let over = |what, asked, is_falling, values: Vec<u64>, with: fn(u64, GroupNeeds) -> GroupNeeds| Curve {
            what,
            asked,
            is_falling,
            points: values
                .into_iter()
                .filter_map(|x: u64| Some((x, unit.resident(with(x, need)).ok()?.share())))
                .collect(),
        };
        let multiples = |of: u64, most: u64| (1..=most / of).map(|n| n * of).collect();
        [
            over("registers of a work-item", need.registers, true, multiples(1, unit.most_registers), |x, need| {
                GroupNeeds { registers: x, ..need }
            }),
            over(
                "bytes of local memory of a group",
                need.local,
                true,
                multiples(unit.local_granule, unit.most_local),
                |x, need| GroupNeeds { local: x, ..need },
            ),
            over("work-items of a group", need.wg, false, multiples(unit.lockstep, unit.most_items), |x, need| {
                GroupNeeds { wg: x, ..need }
            }),
        ]
    }

    /// The values that fill the unit best, ascending; none if no value allows a group.
    pub fn best(&self) -> Vec<u64> {
        let most = self.points.iter().map(|(_, share)| *share).fold(0.0, f64::max);
        self.points.iter().filter(|(_, share)| most > 0.0 && *share == most).map(|(x, _)| *x).collect()
    }

    /// The largest value below what was asked for that fills the unit better than `share`, and how much it fills.
    pub fn better_below(&self, share: f64) -> Option<(u64, f64)> {
        self.points.iter().rev().find(|(x, filled)| *x < self.asked && *filled > share).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::super::unit;
    use super::*;

    fn curves(name: &str, registers: u64, local: u64, wg: u64) -> [Curve; 3] {
        Curve::all(unit(name).unwrap(), GroupNeeds { registers, local, wg })
    }

    #[test]
    fn the_classic_example_has_its_steps() {
        let [registers, local, wg] = curves("1.0", 20, 68, 192);
        assert_eq!(registers.best().last(), Some(&10), "10 registers fill 768 work-items");
        assert_eq!(registers.better_below(0.5), Some((13, 0.75)));
        assert_eq!(wg.points[3], (128, 0.5), "2560 registers a group: three of them");
        assert_eq!(local.points.first(), Some(&(512, 0.5)));
        assert_eq!(local.points.last(), Some(&(16 << 10, 0.25)));
        let [_, local, _] = curves("1.0", 10, 8192, 192);
        assert_eq!(local.better_below(0.5), Some((5120, 0.75)));
    }

    #[test]
    fn falling_curves_fall_and_end_at_the_limits() {
        for unit in super::super::UNITS {
            let [registers, local, wg] = Curve::all(unit, GroupNeeds { registers: 32, local: 1024, wg: 128 });
            for curve in [&registers, &local] {
                assert!(curve.is_falling && curve.points.is_sorted_by(|a, b| a.1 >= b.1), "{} {curve:?}", unit.name);
            }
            assert_eq!(registers.points.last().unwrap().0, unit.most_registers, "{}", unit.name);
            assert_eq!(local.points.last().unwrap().0, unit.most_local, "{}", unit.name);
            assert_eq!(wg.points.last().unwrap().0, unit.most_items, "{}", unit.name);
        }
    }
}

//! How often a comparison is wrong, and what it finds: the operating curve, from many runs of the same program.

use super::matching::{CaseRuns, timed};
use super::{CaseRun, RatioInterval, SpeedVerdict, Turns};

/// Runs of each side in the usual curve.
pub const SIDES: [usize; 9] = [1, 2, 3, 6, 12, 20, 40, 80, 120];

/// Slowdowns that are planted for it, as shares.
pub const SLOWDOWNS: [f64; 4] = [0.03, 0.05, 0.1, 0.3];

impl Turns {
    pub fn is_second(self, at: usize, runs: usize) -> bool {
        match self {
            Turns::InTurn => (at + at / 2) % 2 == 1,
            Turns::OneAfterTheOther => at >= runs,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct CurvePoint {
    /// Runs of each side.
    pub runs: usize,
    pub turns: Turns,
    /// Comparisons of sides that are alike.
    pub alike: usize,
    /// Those that were called FASTER or SLOWER.
    pub called: usize,
    /// Of each slowdown that was planted how many comparisons found it: SLOWER.
    pub found: Vec<usize>,
    /// How many comparisons called a slowdown that was planted FASTER, or the SAME though it is more than counts.
    pub missed_badly: usize,
}

/// The curve of all cases' runs in the order in which they were made, for sides of so many runs each. A side is made of
/// consecutive runs; in a slowdown of 0.1 all times of the second side are 1.1 times as long as they were.
pub fn curve(rows: &[CaseRun], sides: &[usize], slowdowns: &[f64], same: f64) -> Vec<CurvePoint> {
    let cases: Vec<CaseRuns> = timed(rows);
    let orders = sides.iter().flat_map(|&runs| [Turns::InTurn, Turns::OneAfterTheOther].map(|turns| (runs, turns)));
    let point = |(runs, turns): (usize, Turns)| {
        let mut point =
            CurvePoint { runs, turns, alike: 0, called: 0, found: vec![0; slowdowns.len()], missed_badly: 0 };
        for window in cases.iter().flat_map(|case| case.seconds.windows(2 * runs)) {
            let side = |second: bool| -> Vec<f64> {
                let own = window.iter().enumerate().filter(|(at, _)| turns.is_second(*at, runs) == second);
                own.map(|(_, &seconds)| seconds).collect()
            };
            let alike = RatioInterval::of_runs(&side(false), &side(true), turns);
            // Longer times of one side move the whole interval.
            let verdict = |slowdown: f64| {
                let slower = alike.map(|RatioInterval { ratio, low, high }| {
                    let [ratio, low, high] = [ratio, low, high].map(|end| end * (1.0 + slowdown));
                    RatioInterval { ratio, low, high }
                });
                slower.map_or(SpeedVerdict::Undecided, |interval| SpeedVerdict::of(&interval, same))
            };
            point.alike += 1;
            point.called += usize::from(matches!(verdict(0.0), SpeedVerdict::Slower | SpeedVerdict::Faster));
            for (&slowdown, found) in slowdowns.iter().zip(&mut point.found) {
                match verdict(slowdown) {
                    SpeedVerdict::Slower => *found += 1,
                    SpeedVerdict::Same if slowdown <= same => {}
                    SpeedVerdict::Same | SpeedVerdict::Faster => point.missed_badly += 1,
                    SpeedVerdict::Undecided => {}
                }
            }
        }
        point
    };
    orders.map(point).filter(|point| point.alike > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Row;
    use crate::compare::runs;

    /// Rows of so many runs of a case, with these times in seconds.
    fn rows(seconds: impl Iterator<Item = f64>) -> Vec<CaseRun> {
        let row =
            |(k, seconds): (usize, f64)| Row { run_id: k.to_string(), t_median_s: Some(seconds), ..crate::row("a") };
        runs(&seconds.enumerate().map(row).collect::<Vec<Row>>())
    }

    fn uniform(k: u64) -> f64 {
        (gpulab_model::data::draw(3, k) >> 11) as f64 / (1u64 << 53) as f64
    }

    #[test]
    fn sides_in_turn_and_one_after_the_other_have_as_many_runs() {
        for turns in [Turns::InTurn, Turns::OneAfterTheOther] {
            for runs in 1..20 {
                assert_eq!((0..2 * runs).filter(|&at| turns.is_second(at, runs)).count(), runs, "{turns:?} {runs}");
            }
        }
    }

    #[test]
    fn of_steady_runs_everything_is_found_and_nothing_else() {
        let steady = rows((0..30).map(|k| 1.0 + 0.002 * uniform(k)));
        for point in curve(&steady, &[6, 8], &[0.03, 0.1], 0.02) {
            assert_eq!((point.called, point.missed_badly), (0, 0), "{point:?}");
            assert_eq!(point.found, [point.alike; 2], "{point:?}");
        }
        let few = curve(&steady, &[1, 3], &[0.3], 0.02);
        assert!(few.iter().all(|point| point.called == 0 && point.found == [0]), "{few:?}");
    }

    #[test]
    fn a_machine_that_becomes_slower_misleads_sides_that_are_not_in_turn() {
        let changing = rows((0..60).map(|k| if k < 30 { 1.0 } else { 1.2 } + 0.002 * uniform(k)));
        let [in_turn, one_after_the_other] = curve(&changing, &[6], &[0.1], 0.02).try_into().unwrap();
        assert_eq!(in_turn.called, 0);
        assert!(one_after_the_other.called > 0, "which is why the table has both");
    }
}

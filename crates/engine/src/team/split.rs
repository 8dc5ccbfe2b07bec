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
    let mut done = 0.0;
    let mut from = 0;
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

/// Which of these has each tile of a square, row after row: so that each has its share of all, and of each row and column
/// together, by speeds above zero.
pub fn owners(rows: usize, speeds: &[f64]) -> Vec<usize> {
    // Of each row and column with the same place, and of the whole square: tiles of each.
    let mut crosses = vec![vec![0.0; speeds.len()]; rows];
    let mut all = vec![0.0; speeds.len()];
    let mut owners = vec![0; rows * rows];
    for (shift, row) in (0..rows).flat_map(|shift| (0..rows).map(move |row| (shift, row))) {
        let column = (row + shift) % rows;
        // Steps take turns, so what counts most are tiles of the same steps.
        let time = |of: usize| {
            let cross = if shift == 0 { 0.0 } else { crosses[row][of] + crosses[column][of] + 2.0 };
            (cross + (all[of] + 1.0) / rows as f64) / speeds[of]
        };
        let owner = (0..speeds.len()).min_by(|a, b| time(*a).total_cmp(&time(*b))).unwrap_or(0);
        owners[row * rows + column] = owner;
        all[owner] += 1.0;
        if shift > 0 {
            crosses[row][owner] += 1.0;
            crosses[column][owner] += 1.0;
        }
    }
    owners
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

    #[test]
    fn tiles_are_shared_in_each_step() {
        for (rows, speeds) in [(7, vec![1.0; 2]), (8, vec![1.0; 2]), (10, vec![1.0; 4]), (12, vec![3.0, 2.0, 1.0])] {
            let owners = owners(rows, &speeds);
            let mut seconds = 0.0;
            for pivot in 0..rows {
                let slowest = |is_panel: bool| {
                    let mut times = vec![0.0; speeds.len()];
                    for (at, &owner) in owners.iter().enumerate() {
                        let place = [at / rows, at % rows];
                        if place != [pivot; 2] && place.contains(&pivot) == is_panel {
                            times[owner] += 1.0 / speeds[owner];
                        }
                    }
                    times.into_iter().fold(0.0, f64::max)
                };
                seconds += slowest(true) + slowest(false);
            }
            let least = (rows * (rows * rows - 1)) as f64 / speeds.iter().sum::<f64>();
            assert!(seconds < 1.07 * least, "{rows} {speeds:?}: {}", seconds / least);
        }
        assert_eq!(owners(1, &[1.0, 2.0]), [1]);
        assert!(owners(6, &[1.0, 1e-3]).iter().all(|owner| *owner == 0));
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

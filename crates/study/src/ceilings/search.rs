//! A small sequential search: one setting after the other, the best value of each kept before the next is varied.

use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// Which value of each setting, from 0.
    pub place: Vec<usize>,
    pub rate: f64,
}

/// Measures the shape at a place: its rate, if it has one.
pub type Attempt<'a, E> = dyn FnMut(&[usize]) -> Result<Option<f64>, E> + 'a;

/// Coordinate descent: from the first value of every setting, whose numbers of values `axes` holds, varies the first
/// setting over all its values, keeps the best, goes on to the next, and through all settings up to `passes` times,
/// until a pass improves nothing. No place is tried twice. None if no place gave a rate, which `attempt` is free to
/// refuse.
pub fn descend<E>(axes: &[usize], passes: usize, attempt: &mut Attempt<'_, E>) -> Result<Option<Best>, E> {
    let mut tried: BTreeMap<Vec<usize>, Option<f64>> = BTreeMap::new();
    let mut rate_of = |place: &[usize]| match tried.get(place) {
        Some(rate) => Ok(*rate),
        None => {
            let rate = attempt(place)?.filter(|rate| rate.is_finite());
            tried.insert(place.to_vec(), rate);
            Ok(rate)
        }
    };
    let mut place = vec![0; axes.len()];
    let mut best = rate_of(&place)?;
    for _ in 0..passes {
        let before = place.clone();
        for (axis, &values) in axes.iter().enumerate() {
            let mut candidate = place.clone();
            for value in 0..values {
                candidate[axis] = value;
                let rate = rate_of(&candidate)?;
                if rate.is_some_and(|rate| best.is_none_or(|best| rate > best)) {
                    (best, place) = (rate, candidate.clone());
                }
            }
        }
        if place == before {
            break;
        }
    }
    Ok(best.map(|rate| Best { place, rate }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the search on a scripted objective, and counts its evaluations.
    fn search(axes: &[usize], passes: usize, rate: impl Fn(&[usize]) -> Option<f64>) -> (Option<Best>, usize) {
        let mut count = 0;
        let best = descend(axes, passes, &mut |place| {
            count += 1;
            Ok::<_, ()>(rate(place))
        });
        (best.unwrap(), count)
    }

    #[test]
    fn separable_settings_take_one_pass() {
        let rate = |p: &[usize]| Some(10.0 - (p[0] as f64 - 2.0).abs() - (p[1] as f64 - 1.0).abs());
        let (best, count) = search(&[4, 3], 1, rate);
        assert_eq!(best, Some(Best { place: vec![2, 1], rate: 10.0 }));
        assert_eq!(count, 1 + 3 + 2, "no place is tried twice");
        assert_eq!(search(&[4, 3], 9, rate).1, 6 + 3, "a second pass looks around once more, and ends the search");
    }

    #[test]
    fn a_second_pass_finds_more_and_places_that_cannot_run_are_passed_over() {
        // The first setting matters only once the second is right.
        let rate = |p: &[usize]| Some(p[1] as f64 * (1.0 + p[0] as f64));
        assert_eq!(search(&[3, 2], 1, rate).0.map(|b| b.place), Some(vec![0, 1]));
        assert_eq!(search(&[3, 2], 2, rate).0.map(|b| b.place), Some(vec![2, 1]));
        let rate = |p: &[usize]| if p[0] == 0 || p[1] == 2 { None } else { Some(p[1] as f64 + 1.0) };
        assert_eq!(search(&[2, 3], 2, rate).0, Some(Best { place: vec![1, 1], rate: 2.0 }));
        assert_eq!(search(&[2, 2], 2, |_| None), (None, 3));
        assert_eq!(search(&[2], 1, |p| Some(if p[0] == 0 { 1.0 } else { f64::NAN })).0.map(|b| b.rate), Some(1.0));
        assert_eq!(search(&[], 3, |_| Some(1.0)), (Some(Best { place: vec![], rate: 1.0 }), 1));
        assert_eq!(descend(&[2], 1, &mut |p| if p[0] == 1 { Err("gone") } else { Ok(Some(1.0)) }), Err("gone"));
    }
}

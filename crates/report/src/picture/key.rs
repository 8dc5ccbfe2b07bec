//! Names of series: beside their lines where there is room, in a key above them otherwise.

use super::prelude::*;

/// Units between two lines of a key.
const LEADING: f64 = 16.0;

/// Draws the sign and the name of each series, from left to right in as many lines as that takes.
pub(super) fn key(sheet: &mut Sheet, names: &[(usize, &str)]) {
    let look = Lettering::new(SMALL, Anchor::Start, "ink");
    let mut x = MARGIN;
    let most = WIDTH - MARGIN;
    sheet.y += LEADING + 4.0;
    for &(series, name) in names {
        let name = font::fitted(name, SMALL, most - MARGIN - 26.0);
        let wide = 26.0 + font::width(&name, SMALL);
        if x > MARGIN && x + wide > most {
            (x, sheet.y) = (MARGIN, sheet.y + LEADING);
        }
        let y = sheet.y - 4.0;
        sheet.path(&[(x, y), (x + 18.0, y)], &format!("s{}", series % theme::SERIES), 2.0, dashes(series));
        sheet.dot((x + 9.0, y), series, "");
        sheet.text(x + 23.0, sheet.y, look, &name);
        x += wide + 14.0;
    }
    sheet.y += 4.0;
}

/// Series that have a colour twice differ by their dashes.
pub(super) fn dashes(series: usize) -> Option<&'static str> {
    match series / theme::SERIES {
        0 => None,
        1 => Some("5 3"),
        2 => Some("1.5 3"),
        _ => Some("8 3 2 3"),
    }
}

/// Places as near as can be to the wanted ones, in their order, at least `gap` from each other and between the ends, as far
/// as there is room.
pub(super) fn spread(wanted: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let gap = if wanted.len() > 1 { gap.min((high - low) / (wanted.len() - 1) as f64) } else { gap };
    let mut places: Vec<f64> = Vec::new();
    for &at in &order {
        let least = places.last().map_or(low, |before| before + gap);
        places.push(wanted[at].max(least));
    }
    let mut most = high;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - gap;
    }
    let mut all = vec![0.0; wanted.len()];
    for (&at, &place) in order.iter().zip(&places) {
        all[at] = place;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_move_apart_and_stay_in_order() {
        assert_eq!(spread(&[50.0, 10.0], 12.0, 0.0, 100.0), [50.0, 10.0], "there is room");
        assert_eq!(spread(&[50.0, 50.0, 49.0], 10.0, 0.0, 100.0), [59.0, 69.0, 49.0]);
        assert_eq!(spread(&[99.0, 100.0], 10.0, 0.0, 100.0), [90.0, 100.0]);
    }

    proptest! {
        #[test]
        fn no_two_names_touch(wanted in proptest::collection::vec(0.0..300.0f64, 1..20)) {
            let mut places = spread(&wanted, 14.0, 0.0, 300.0);
            prop_assert!(places.iter().all(|place| (-1e-9..=300.0 + 1e-9).contains(place)));
            places.sort_by(f64::total_cmp);
            prop_assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= 14.0 - 1e-9));
        }
    }
}

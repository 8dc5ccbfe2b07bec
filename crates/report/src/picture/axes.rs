//! The frame of a chart: its grid, ticks and the names of its axes, behind the data.

use super::font;
use super::scale::AxisScale;
use super::sheet::{Anchor, Area, Lettering, SMALL, Sheet, WIDTH};

/// Units below an area for the ticks and the name of what is across.
pub(super) const BELOW: f64 = 36.0;

const TICK_BELOW: Lettering = Lettering::new(SMALL, Anchor::Middle, "dim");
const TICK_LEFT: Lettering = Lettering::new(SMALL, Anchor::End, "dim");
const NAME: Lettering = Lettering::new(SMALL, Anchor::Middle, "ink");

pub(super) type Tick = (f64, String);

pub(super) fn ticks(axis: &AxisScale, text: impl Fn(f64) -> String) -> Vec<Tick> {
    axis.ticks().into_iter().map(|value| (axis.at(value), text(value))).collect()
}

/// Draws vertical lines, their texts below the area as far as these do not touch, and the name of the axis.
pub(super) fn across(sheet: &mut Sheet, area: Area, ticks: &[Tick], name: &str) {
    let mut free = f64::NEG_INFINITY;
    for (x, text) in ticks {
        sheet.line((*x, area.top), (*x, area.bottom), "grid", 1.0);
        let half = font::width(text, SMALL) / 2.0;
        // A long number at the end stays on the sheet.
        let x = x.min(WIDTH - half - 2.0);
        if x - half >= free {
            sheet.text(x, area.bottom + 16.0, TICK_BELOW, text);
            free = x + half + 6.0;
        }
    }
    sheet.line((area.left, area.bottom), (area.right, area.bottom), "axis", 1.0);
    sheet.text(area.center(), area.bottom + 32.0, NAME, name);
}

/// Draws horizontal lines and their texts left of the area.
pub(super) fn upwards(sheet: &mut Sheet, area: Area, ticks: &[Tick]) {
    for (y, text) in ticks {
        sheet.line((area.left, *y), (area.right, *y), "grid", 1.0);
        sheet.text(area.left - 5.0, y + 4.0, TICK_LEFT, text);
    }
}

/// Units left of an area for these ticks.
pub(super) fn room(ticks: &[Tick]) -> f64 {
    font::widest(ticks.iter().map(|(_, text)| text.as_str()), SMALL) + 7.0
}

//! A sweep as a map: rungs down, work-groups across, each field as dark as it is fast.

use super::prelude::*;
use crate::sweep::{FLAT, Timed, latest, ranked, variants, work_groups};
use gpulab_model::plan::WorkGroup;
use gpulab_record::params_text;

/// Times relative to the best that a step of shade goes up to; the last has no end.
const STEPS: [f64; 4] = [FLAT, 1.25, 2.0, 5.0];

const FIELD: f64 = 26.0;

/// Narrowest field that has a number, and width of the widest.
const NARROW: f64 = 27.0;
const WIDE: f64 = 58.0;

const HEAD: Lettering = Lettering::new(SMALL, Anchor::Middle, "dim");
const NAME: Lettering = Lettering::new(BODY, Anchor::Start, "ink");

/// Draws the rows of a sweep that solve one problem on one device: of each rung and work-group the fastest settings.
pub fn sweep(rows: &[Row]) -> Drawn {
    let latest = latest(rows);
    let rows: Vec<&Row> = latest.iter().collect();
    let ranked = ranked(&rows);
    let Some(&(best, least)) = ranked.first() else {
        return Err("no configuration has a time, so there is nothing to draw".to_owned());
    };
    let timed: Vec<&Row> = ranked.iter().map(|(row, _)| *row).collect();
    let map = HeatMap { wgs: work_groups(&timed), variants: variants(&timed), ranked: &ranked, least };
    if map.wgs.len() * map.variants.len() < 2 {
        return Err("a map needs two rungs or two work-groups: gpulab sweep measures them".to_owned());
    }
    let near = ranked.iter().filter(|(_, time)| *time <= FLAT * least).count();
    let tunables = if best.params.is_empty() { String::new() } else { format!(", {}", params_text(&best.params)) };
    let title = format!(
        "Best: {} with work-groups of {}; {near} of {} configurations {} within 5 % of it",
        label(best),
        best.wg_text(),
        ranked.len(),
        if near == 1 { "is" } else { "are" }
    );
    let size =
        if best.m > 1 { format!("{} × {}", best.n, best.m) } else { format!("n = {}", number::size(best.n as f64)) };
    let subtitle = format!(
        "{} on {}, {size}, {}: time relative to the best ({}{tunables}), of each field's fastest settings",
        best.family,
        format::device(&best.device),
        best.dtype,
        number::time(least)
    );
    let mut sheet = Sheet::titled(&title, &subtitle);
    map.draw(&mut sheet);
    let about = format!(
        "Map of {} rungs and {} sizes of work-groups. The best field is {} with {}.",
        map.variants.len(),
        map.wgs.len(),
        label(best),
        best.wg_text()
    );
    let figures = map.figures();
    Ok(sheet.done(&title, &about, figures))
}

struct HeatMap<'a> {
    wgs: Vec<WorkGroup>,
    variants: Vec<&'a str>,
    ranked: &'a [Timed<'a>],
    least: f64,
}

impl HeatMap<'_> {
    /// The time of a field relative to the best.
    fn factor(&self, variant: &str, wg: WorkGroup) -> Option<f64> {
        let row = self.ranked.iter().find(|(row, _)| row.variant == variant && row.wg == Some(wg));
        row.map(|(_, time)| time / self.least)
    }

    fn name(&self, variant: &str) -> String {
        let row = self.ranked.iter().find(|(row, _)| row.variant == variant);
        row.map(|(row, _)| label(row)).unwrap_or_default()
    }

    fn draw(&self, sheet: &mut Sheet) {
        let names: Vec<String> =
            self.variants.iter().map(|variant| font::fitted(&self.name(variant), BODY, 130.0)).collect();
        let left = MARGIN + font::widest(names.iter().map(String::as_str), BODY) + 8.0;
        let room = WIDTH - MARGIN - left;
        let wide = (room / self.wgs.len() as f64).min(WIDE);
        sheet.y += 14.0;
        sheet.text(MARGIN, sheet.y, Lettering::new(SMALL, Anchor::Start, "dim"), "rung");
        sheet.text(left, sheet.y, Lettering::new(SMALL, Anchor::Start, "dim"), "work-items of a group");
        sheet.y += 18.0;
        self.heads(sheet, left, wide);
        let top = sheet.y + 6.0;
        let field = |row: usize, column: usize| {
            let x = left + wide * column as f64;
            let y = top + FIELD * row as f64;
            Area::new(x, y, x + wide, y + FIELD)
        };
        for (row, variant) in self.variants.iter().enumerate() {
            sheet.text(MARGIN, top + FIELD * (row as f64 + 0.5) + 4.5, NAME, &names[row]);
            for (column, &wg) in self.wgs.iter().enumerate() {
                let factor = self.factor(variant, wg);
                draw_field(sheet, field(row, column), factor, &format!("{}, {wg}", names[row]));
            }
        }
        self.plateau(sheet, &field);
        sheet.y = top + FIELD * self.variants.len() as f64;
        legend(sheet);
    }

    /// Sizes of work-groups above their columns, in several lines in turn where they are wide.
    fn heads(&self, sheet: &mut Sheet, left: f64, wide: f64) {
        const LINE: f64 = 14.0;
        let names: Vec<String> = self.wgs.iter().map(WorkGroup::to_string).collect();
        let widest = font::widest(names.iter().map(String::as_str), SMALL);
        let lines = ((widest + 4.0) / wide).ceil().max(1.0) as usize;
        let base = sheet.y;
        for (column, name) in names.iter().enumerate() {
            let down = LINE * (column % lines) as f64;
            sheet.text(left + wide * (column as f64 + 0.5), base + down, HEAD, name);
        }
        sheet.y += LINE * (lines - 1) as f64;
    }

    /// Draws an edge around fields that are as good as the best, and a ring around the best.
    fn plateau(&self, sheet: &mut Sheet, field: &dyn Fn(usize, usize) -> Area) {
        let is_flat = |row: Option<usize>, column: Option<usize>| {
            let variant = row.and_then(|r| self.variants.get(r));
            let wg = column.and_then(|c| self.wgs.get(c));
            variant.zip(wg).and_then(|(v, &w)| self.factor(v, w)).is_some_and(|factor| factor <= FLAT)
        };
        for row in 0..self.variants.len() {
            for column in (0..self.wgs.len()).filter(|&column| is_flat(Some(row), Some(column))) {
                let Area { left, top, right, bottom } = field(row, column);
                let edges = [
                    (is_flat(row.checked_sub(1), Some(column)), (left, top), (right, top)),
                    (is_flat(Some(row + 1), Some(column)), (left, bottom), (right, bottom)),
                    (is_flat(Some(row), column.checked_sub(1)), (left, top), (left, bottom)),
                    (is_flat(Some(row), Some(column + 1)), (right, top), (right, bottom)),
                ];
                for (_, from, to) in edges.iter().filter(|(goes_on, ..)| !goes_on) {
                    sheet.line(*from, *to, "rim", 2.0);
                }
                if self.factor(self.variants[row], self.wgs[column]).is_some_and(|factor| factor <= 1.0) {
                    sheet.outline(Area::new(left + 2.5, top + 2.5, right - 2.5, bottom - 2.5), "ring", 2.5, 5.0);
                }
            }
        }
    }

    fn figures(&self) -> Figures {
        let mut figures =
            Figures::new(std::iter::once("rung".to_owned()).chain(self.wgs.iter().map(WorkGroup::to_string)));
        for variant in &self.variants {
            figures.rows.push(
                std::iter::once(self.name(variant))
                    .chain(self.wgs.iter().map(|wg: &WorkGroup| {
                        self.factor(variant, *wg).map(|factor| number::time(factor * self.least)).unwrap_or_default()
                    }))
                    .collect(),
            );
        }
        figures
    }
}

fn draw_field(sheet: &mut Sheet, area: Area, factor: Option<f64>, what: &str) {
    let Some(factor) = factor else {
        sheet.text(area.center(), area.bottom - 9.0, HEAD, "–");
        return;
    };
    let step = STEPS.iter().position(|most| factor <= *most).unwrap_or(STEPS.len());
    let inner = Area::new(area.left + 0.5, area.top + 0.5, area.right - 0.5, area.bottom - 0.5);
    sheet.fill(inner, &format!("p{step}"), &format!("{what}: {} times the best time", number::value(factor)));
    if area.width() >= NARROW {
        const ON: [&str; 5] = ["t0", "t1", "t2", "t3", "t4"];
        sheet.text(area.center(), area.bottom - 9.0, Lettering::new(SMALL, Anchor::Middle, ON[step]), &short(factor));
    }
}

/// `1.05`, `3.2`, `17`.
fn short(factor: f64) -> String {
    match factor {
        x if x < 9.95 => number::tick((x * 100.0).round() / 100.0),
        x if x < 999.5 => format!("{x:.0}"),
        _ => "> 1k".to_owned(),
    }
}

fn legend(sheet: &mut Sheet) {
    let texts = ["best to 1.05", "to 1.25", "to 2", "to 5", "more"];
    sheet.y += 22.0;
    let mut x = MARGIN;
    for (step, text) in texts.iter().enumerate() {
        sheet.fill(Area::new(x, sheet.y - 10.0, x + 14.0, sheet.y + 2.0), &format!("p{step}"), "");
        sheet.text(x + 19.0, sheet.y, Lettering::new(SMALL, Anchor::Start, "ink"), text);
        x += 19.0 + font::width(text, SMALL) + 14.0;
    }
    sheet.y += 18.0;
    let text = "ring: the best · edge: within 5 % of it · –: not measured";
    sheet.text(MARGIN, sheet.y, Lettering::new(SMALL, Anchor::Start, "dim"), text);
    sheet.y += 4.0;
}

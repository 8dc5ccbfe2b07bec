//! A sweep's rungs and work-groups as a map of times relative to the best.

use super::{FLAT, Timed, variants};
use crate::format::{self, Screen, Tint, paint};
use crate::rungs::label;
use gpulab_model::plan::WorkGroup;
use gpulab_record::Row;

/// The signs of times, each up to this many times the best.
const SHADES: [(f64, &str); 4] = [(FLAT, "█"), (1.25, "▓"), (2.0, "▒"), (5.0, "░")];

/// The sign of a time beyond all of them.
const FAR: &str = "·";

/// Characters of a cell: a blank, a bracket, a sign, a blank where there is room, a factor of four characters, a bracket.
const CELLS: [usize; 2] = [9, 8];

/// A line for each rung and a cell for each work-group, with the time of its best configuration relative to the best of
/// all. Nothing where there is no choice of work-groups. `ranked` are the rows with the times that count.
pub fn map(rows: &[&Row], ranked: &[Timed<'_>], screen: Screen) -> String {
    let Some(&(_, least)) = ranked.first() else {
        return String::new();
    };
    let wgs = work_groups(rows);
    let variants: Vec<&str> = variants(rows)
        .into_iter()
        .filter(|v| ranked.iter().any(|(r, _)| r.variant == *v))
        .collect();
    if wgs.len() < 2 {
        return String::new();
    }
    let firsts = variants
        .iter()
        .filter_map(|variant| rows.iter().find(|r| r.variant == *variant));
    let names: Vec<String> = firsts
        .map(|row| format::shorten(&format::terminal(&label(row)), 24))
        .collect();
    let width = format::widest(&names);
    let cell_width = CELLS
        .iter()
        .find(|cell: &&usize| width + wgs.len() * **cell <= screen.width)
        .copied()
        .unwrap_or(CELLS[1]);
    let wide = wgs
        .iter()
        .map(|wg| wg.to_string().len() + 2)
        .max()
        .unwrap_or(0)
        .max(cell_width);
    let most = (screen.width.saturating_sub(width) / wide).max(1);
    // No block has a lone column if they can be shared out.
    let per_block = wgs.len().div_ceil(wgs.len().div_ceil(most));
    let mut text = "time relative to the best, by rung and work-group\n".to_owned();
    for block in wgs.chunks(per_block) {
        let head: String = block
            .iter()
            .map(|wg| format!("{:>wide$}", wg.to_string()))
            .collect();
        text.push_str(&format!("{:width$}{head}\n", ""));
        for (variant, name) in variants.iter().zip(&names) {
            let best = block.iter().map(|&wg| {
                ranked
                    .iter()
                    .find(|(r, _)| r.variant == *variant && r.wg == Some(wg))
            });
            let cells = best.map(|best| cell(best.map(|(_, time)| time / least), wide, screen));
            text.push_str(
                &(format!("{name:<width$}{}", cells.collect::<String>())
                    .trim_end()
                    .to_owned()
                    + "\n"),
            );
        }
    }
    text + "[█] within 5% of the best, ▓ 1.25 times its time or less, ▒ 2, ░ 5, · more\n"
}

/// Work-groups by their sizes, each once.
pub fn work_groups(rows: &[&Row]) -> Vec<WorkGroup> {
    let mut wgs: Vec<WorkGroup> = rows.iter().filter_map(|r| r.wg).collect();
    wgs.sort_by_key(|wg| (wg.size(), wg.0));
    wgs.dedup();
    wgs
}

/// A sign and a factor; in brackets what is as good as the best, and the best itself by name. A dash where nothing ran.
fn cell(factor: Option<f64>, wide: usize, screen: Screen) -> String {
    let Some(factor) = factor else {
        return format!("{:>wide$}", "- ");
    };
    let sign = SHADES
        .iter()
        .find(|(most, _)| factor <= *most)
        .map_or(FAR, |(_, sign)| sign);
    let number = match factor {
        x if x <= 1.0 => "best".to_owned(),
        x if x < 99.95 => format::significant(x, 3),
        x => format!("{x:.0}"),
    };
    let inside = format!(
        "{sign}{number:>width$}",
        width = if wide > CELLS[1] { 5 } else { 4 }
    );
    let is_flat = factor <= FLAT;
    let text = if is_flat {
        format!("[{inside}]")
    } else {
        format!(" {inside} ")
    };
    let blanks = " ".repeat(wide.saturating_sub(text.chars().count()));
    if is_flat && screen.color {
        blanks + &paint(&text, Tint::Green)
    } else {
        blanks + &text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::SCREEN;
    use gpulab_record::row;

    #[test]
    fn what_needs_two_blocks_is_shared_out_between_them() {
        let timed = |wg: usize| Row {
            rung: Some(1),
            wg: Some(WorkGroup::linear(wg)),
            ..row("naive")
        };
        let rows: Vec<Row> = (5..15).map(|log| timed(1 << log)).collect();
        let rows: Vec<&Row> = rows.iter().collect();
        let ranked: Vec<Timed<'_>> = rows.iter().map(|row| (*row, 1e-6)).collect();
        let heads = |width| {
            let text = map(&rows, &ranked, Screen { width, ..SCREEN });
            let columns = text
                .lines()
                .filter(|line| line.starts_with("  "))
                .map(|line| line.split_whitespace().count());
            columns.collect::<Vec<_>>()
        };
        assert_eq!(heads(160), [10]);
        assert_eq!(heads(80), [5, 5], "nine have room, and one would be left");
        assert_eq!(heads(40), [4, 4, 2]);
    }
}

//! Grids of cells: lanes and words, as `gpulab draw` shows them.

use super::prelude::*;
use super::sheet::{Picture, by_turns};
use crate::cell_grid::{CellGrid, DrawnGrids, GridCell, Shade, shown_marks, shown_rows};

/// Units of the largest cell.
const CELL: f64 = 12.0;

/// Draws the grids; of two kernels, one picture that shows them by turns.
pub fn of_grids(all: &[DrawnGrids]) -> Picture {
    match all {
        [one] => cells(one),
        all => by_turns(&all.iter().map(cells).collect::<Vec<_>>()),
    }
}

fn cells(drawn: &DrawnGrids) -> Picture {
    let mut sheet = Sheet::titled(&drawn.title, drawn.about.first().map_or("", String::as_str));
    drawn.about.iter().skip(1).for_each(|line| sheet.say_more(line));
    drawn.grids.iter().for_each(|one| grid(&mut sheet, one));
    let about = drawn.about.iter().chain(drawn.grids.iter().flat_map(|grid| &grid.below)).cloned().collect::<Vec<_>>();
    let mut figures = Figures::new(["row", "cells"]);
    for (label, cells, _) in drawn.grids.iter().flat_map(|grid| &grid.rows) {
        figures.rows.push(vec![label.clone(), cells.iter().map(|cell| cell.letter).collect()]);
    }
    sheet.done(&drawn.title, &about.join(" "), figures)
}

fn grid(sheet: &mut Sheet, grid: &CellGrid) {
    let small = |anchor| Lettering::new(SMALL, anchor, "dim");
    sheet.y += 8.0;
    sheet.lines(&grid.head, small(Anchor::Start), MARGIN, WIDTH - 2.0 * MARGIN);
    let label = font::widest(grid.rows.iter().map(|(label, ..)| label.as_str()), SMALL);
    let widest = grid.rows.iter().map(|(_, cells, _)| cells.len()).max().unwrap_or(1).max(1);
    let has_text = grid.rows.iter().any(|(.., behind)| !behind.is_empty());
    let left = MARGIN + label + 6.0;
    let gaps = (widest - 1) / grid.together.max(1);
    let room = WIDTH - MARGIN - left - if has_text { 190.0 } else { 0.0 };
    let side = ((room - 2.0 * gaps as f64) / widest as f64).clamp(3.0, CELL);
    let (first, left_out, last) = shown_rows(grid);
    sheet.y += 4.0;
    for (at, (label, cells, behind)) in first.iter().chain(last).enumerate() {
        if at == first.len() && left_out > 0 {
            sheet.lines(&format!("... {left_out} more rows"), small(Anchor::Start), left, room);
            sheet.y += 3.0;
        }
        let top = sheet.y;
        sheet.text(left - 6.0, top + side - 2.0, small(Anchor::End), label);
        if cells.is_empty() {
            sheet.dashes((left, top + side / 2.0), (left + room, top + side / 2.0), "axis", 1.0);
        }
        for (column, cell) in cells.iter().enumerate() {
            let x = left + column as f64 * side + 2.0 * (column / grid.together.max(1)) as f64;
            draw(sheet, Area::new(x, top, x + side - 1.0, top + side - 1.0), *cell);
        }
        if !behind.is_empty() {
            let x = left + widest as f64 * side + 2.0 * gaps as f64 + 6.0;
            sheet.text(x, top + side - 2.0, small(Anchor::Start), &font::fitted(behind, SMALL, WIDTH - MARGIN - x));
        }
        sheet.y = top + side.max(SMALL) + 1.0;
    }
    sheet.y += 6.0;
    for (cell, meaning) in shown_marks(grid) {
        let top = sheet.y;
        draw(sheet, Area::new(MARGIN, top, MARGIN + CELL - 1.0, top + CELL - 1.0), GridCell { letter: '#', ..*cell });
        let meaning = if meaning.starts_with('-') { format!("{}{meaning}", cell.letter) } else { meaning.clone() };
        sheet.text(MARGIN + CELL + 4.0, top + CELL - 2.0, small(Anchor::Start), &meaning);
        sheet.y = top + CELL + 3.0;
    }
    for line in &grid.below {
        sheet.lines(line, small(Anchor::Start), MARGIN, WIDTH - 2.0 * MARGIN);
    }
}

fn draw(sheet: &mut Sheet, area: Area, cell: GridCell) {
    let class = match cell.shade {
        Shade::Empty => return sheet.outline(area, "grid", 0.7, 0.0),
        Shade::Light => "p3",
        Shade::Full => "p1",
        Shade::Strong => "f1",
    };
    sheet.fill(area, class, "");
    if cell.shade > Shade::Light && area.width() > 8.0 && cell.letter != '#' {
        let look = Lettering::new(8.5, Anchor::Middle, if cell.shade == Shade::Full { "t1" } else { "paper" });
        sheet.text(area.center(), area.bottom - 2.5, look, &cell.letter.to_string());
    }
}

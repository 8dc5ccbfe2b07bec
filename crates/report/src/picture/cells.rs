//! Grids of cells: lanes and words, as `gpulab draw` shows them.

use super::number;
use super::sheet::{Area, MARGIN, NOTE, Picture, SMALL, Sheet, WIDTH, by_turns, fitted, widest};
use crate::drawing::{CellGrid, DrawnGrids, GridCell, Shade, shown_marks, shown_rows};

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
    let mut sheet = Sheet::titled(
        &drawn.title,
        "ink",
        drawn.about.first().map_or("", String::as_str),
    );
    drawn
        .about
        .iter()
        .skip(1)
        .for_each(|line| sheet.lines(line, NOTE, MARGIN));
    drawn
        .grids
        .iter()
        .for_each(|one| draw_grid(&mut sheet, one));
    let about = drawn
        .about
        .iter()
        .chain(drawn.grids.iter().flat_map(|grid| &grid.below))
        .cloned()
        .collect::<Vec<_>>();
    let mut figures = Vec::new();
    for (label, cells, _) in drawn.grids.iter().flat_map(|grid| &grid.rows) {
        figures.push(vec![
            label.clone(),
            cells.iter().map(|cell| cell.0).collect(),
        ]);
    }
    sheet.done(&drawn.title, &about.join(" "), &["row", "cells"], figures)
}

fn draw_grid(sheet: &mut Sheet, grid: &CellGrid) {
    sheet.y += 8.0;
    sheet.lines(&grid.head, NOTE, MARGIN);
    let left = MARGIN + widest(grid.rows.iter().map(|row| &row.0), SMALL) + 6.0;
    let most = grid
        .rows
        .iter()
        .map(|row| row.1.len())
        .max()
        .unwrap_or(1)
        .max(1);
    let has_text = grid.rows.iter().any(|row| !row.2.is_empty());
    let together = grid.together.max(1);
    let gaps = 2.0 * ((most - 1) / together) as f64;
    let room = WIDTH - MARGIN - left - if has_text { 190.0 } else { 0.0 };
    let side = ((room - gaps) / most as f64).clamp(3.0, CELL);
    let [first, last] = shown_rows(grid);
    let left_out = grid.rows.len() - first.len() - last.len();
    sheet.y += 4.0;
    for (at, (label, cells, behind)) in first.iter().chain(last).enumerate() {
        if at == first.len() && left_out > 0 {
            sheet.lines(
                &format!("... {} more rows", number::count(left_out as u64)),
                NOTE,
                left,
            );
            sheet.y += 3.0;
        }
        let top = sheet.y;
        sheet.text(left - 6.0, top + side - 2.0, (SMALL, "end", "dim"), label);
        if cells.is_empty() {
            sheet.path(
                &[(left, top + side / 2.0), (left + room, top + side / 2.0)],
                "axis",
                1.0,
                Some("4 3"),
            );
        }
        for (column, cell) in cells.iter().enumerate() {
            let x = left + column as f64 * side + 2.0 * (column / together) as f64;
            draw_cell(sheet, x, side, *cell);
        }
        let x = left + most as f64 * side + gaps + 6.0;
        sheet.text(
            x,
            top + side - 2.0,
            NOTE,
            &fitted(behind, SMALL, WIDTH - MARGIN - x),
        );
        sheet.y = top + side.max(SMALL) + 1.0;
    }
    sheet.y += 6.0;
    for (cell, meaning) in shown_marks(grid) {
        draw_cell(sheet, MARGIN, CELL, ('#', cell.1));
        let meaning = if meaning.starts_with('-') {
            format!("{}{meaning}", cell.0)
        } else {
            meaning.clone()
        };
        sheet.text(MARGIN + CELL + 4.0, sheet.y + CELL - 2.0, NOTE, &meaning);
        sheet.y += CELL + 3.0;
    }
    grid.below
        .iter()
        .for_each(|line| sheet.lines(line, NOTE, MARGIN));
}

/// Draws a cell at the current height.
fn draw_cell(sheet: &mut Sheet, x: f64, side: f64, (letter, shade): GridCell) {
    let area = Area::new(x, sheet.y, x + side - 1.0, sheet.y + side - 1.0);
    let class = match shade {
        Shade::Empty => {
            let Area {
                left,
                top,
                right,
                bottom,
            } = area;
            let corners = [
                (left, top),
                (right, top),
                (right, bottom),
                (left, bottom),
                (left, top),
            ];
            return sheet.path(&corners, "grid", 0.7, None);
        }
        Shade::Light => "p3",
        Shade::Full => "p1",
        Shade::Strong => "f1",
    };
    sheet.fill(area, class, "");
    if shade > Shade::Light && side > 9.0 && letter != '#' {
        let look = (
            8.5,
            "middle",
            if shade == Shade::Full { "t1" } else { "paper" },
        );
        sheet.text(
            (area.left + area.right) / 2.0,
            area.bottom - 2.5,
            look,
            &letter.to_string(),
        );
    }
}

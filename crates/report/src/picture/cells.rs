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
    sheet.done(&drawn.title, &about.join(" "), &[], Vec::new())
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
    let together = grid.together;
    let gaps = 2.0 * ((most - 1) / together) as f64;
    let room = WIDTH - MARGIN - left - if has_text { 190.0 } else { 0.0 };
    let wide = CELL.max(6.5 * grid.digits() as f64);
    let side = ((room - gaps) / most as f64).clamp(3.0, wide);
    let tall = side.min(CELL);
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
        let middle =
            |column: usize| left + (column as f64 + 0.5) * side + 2.0 * (column / together) as f64;
        let links = links(cells);
        if !links.is_empty() {
            sheet.y += CELL;
        }
        for (from, to) in links {
            let from = (middle(from), sheet.y - CELL - 2.0);
            sheet.line(from, (middle(to), sheet.y), "axis", 1.0);
        }
        let top = sheet.y;
        sheet.text(left - 6.0, top + tall - 2.0, (SMALL, "end", "dim"), label);
        if cells.is_empty() {
            sheet.path(
                &[(left, top + tall / 2.0), (left + room, top + tall / 2.0)],
                "axis",
                1.0,
                Some("4 3"),
            );
        }
        for (column, cell) in cells.iter().enumerate() {
            draw_cell(sheet, middle(column) - side / 2.0, (side, tall), cell);
        }
        let x = left + most as f64 * side + gaps + 6.0;
        sheet.text(
            x,
            top + tall - 2.0,
            NOTE,
            &fitted(behind, SMALL, WIDTH - MARGIN - x),
        );
        sheet.y = top + tall.max(SMALL) + 1.0;
    }
    sheet.y += 6.0;
    for (cell, meaning) in shown_marks(grid) {
        draw_cell(sheet, MARGIN, (CELL, CELL), cell);
        sheet.text(MARGIN + CELL + 4.0, sheet.y + CELL - 2.0, NOTE, meaning);
        sheet.y += CELL + 3.0;
    }
    grid.below
        .iter()
        .for_each(|line| sheet.lines(line, NOTE, MARGIN));
}

/// From the column of each word that an item reads, `+3`, to that of the one that it writes, `3=`.
fn links(cells: &[GridCell]) -> Vec<(usize, usize)> {
    let writer = |sign: &str| {
        cells
            .iter()
            .position(|(own, _)| own.strip_suffix('=') == Some(sign))
    };
    let mut links = Vec::new();
    for (column, (sign, _)) in cells.iter().enumerate() {
        if let Some(to) = sign.strip_prefix('+').and_then(writer) {
            links.push((column, to));
        } else if sign.ends_with('=') {
            links.push((column, column));
        }
    }
    links
}

/// Draws a cell at the current height, with its text if that is a number.
fn draw_cell(sheet: &mut Sheet, x: f64, (side, tall): (f64, f64), (sign, shade): &GridCell) {
    let area = Area::new(x, sheet.y, x + side - 1.0, sheet.y + tall - 1.0);
    let (class, ink) = match shade {
        Shade::Empty => ("grid", "dim"),
        Shade::Light => ("p3", "ink"),
        Shade::Full => ("p1", "t1"),
        Shade::Strong => ("f1", "paper"),
    };
    sheet.fill(area, class, "");
    if sign.contains(|c: char| c.is_ascii_digit()) && tall > 9.0 {
        let look = ((1.5 * side / sign.len() as f64).min(8.5), "middle", ink);
        sheet.text(
            (area.left + area.right) / 2.0,
            area.bottom - 2.5,
            look,
            sign,
        );
    }
}

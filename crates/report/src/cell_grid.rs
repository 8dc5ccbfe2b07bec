//! Grids of cells, as pictures of lanes and words are made of, whoever draws them.

use gpulab_study::count::RequestKind;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shade {
    Empty,
    /// It is moved, and nobody asks for it; of a reach, the group's.
    Light,
    /// It is asked for; of a reach, the warp's.
    Full,
    /// It makes others wait; of a reach, the item's.
    Strong,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GridCell {
    pub(crate) letter: char,
    pub(crate) shade: Shade,
}

pub(crate) const EMPTY: GridCell = GridCell { letter: '.', shade: Shade::Empty };

/// A cell for what is read and what is written.
pub(crate) fn touched((read, written): (bool, bool)) -> GridCell {
    match (read, written) {
        (true, true) => GridCell { letter: '+', shade: Shade::Strong },
        (false, true) => GridCell { letter: 'w', shade: Shade::Full },
        (true, false) => GridCell { letter: 'r', shade: Shade::Light },
        (false, false) => EMPTY,
    }
}

/// What these cells mean, the last in this word.
pub(crate) fn touched_marks(neither: &str) -> Vec<(GridCell, String)> {
    let named =
        [((true, false), "read"), ((false, true), "written"), ((true, true), "both"), ((false, false), neither)];
    named.map(|(how, word)| (touched(how), word.to_owned())).into()
}

/// A row: words before its cells, the cells, and words behind them. One without cells parts others.
pub(crate) type GridRow = (String, Vec<GridCell>, String);

/// Rows of cells, with words before and behind each.
#[derive(Clone, Debug, PartialEq)]
pub struct CellGrid {
    pub(crate) head: String,
    /// Cells that belong together: a line stands between them.
    pub(crate) together: usize,
    pub(crate) rows: Vec<GridRow>,
    pub(crate) marks: Vec<(GridCell, String)>,
    pub(crate) below: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DrawnGrids {
    pub(crate) title: String,
    pub(crate) about: Vec<String>,
    pub(crate) grids: Vec<CellGrid>,
    /// Of an access, its kind and array.
    pub of: Option<(RequestKind, String)>,
}

/// Most rows of a grid; of more those in the middle are left out.
const MOST_ROWS: usize = 24;

/// The first and last rows, where there are too many, and how many are left out between them.
pub(crate) fn shown_rows(grid: &CellGrid) -> (&[GridRow], usize, &[GridRow]) {
    match grid.rows.len() {
        all if all <= MOST_ROWS => (&grid.rows, 0, &[]),
        all => (&grid.rows[..MOST_ROWS - 4], all - MOST_ROWS, &grid.rows[all - 4..]),
    }
}

/// What the shades mean that occur.
pub(crate) fn shown_marks(grid: &CellGrid) -> impl Iterator<Item = &(GridCell, String)> {
    let occurs = |shade| grid.rows.iter().flat_map(|(_, cells, _)| cells).any(|cell| cell.shade == shade);
    grid.marks.iter().filter(move |(cell, _)| occurs(cell.shade))
}

//! Hints for kernels over matrices, from which cells are right.

use super::words::{Hint, hint, no_barrier};
use gpulab_model::check::{CellRegion, Share};
use gpulab_model::outcome::{CellSymptoms, Likeness, Symptoms};
use gpulab_study::judgement::Judgement;

pub(super) fn hint(judgement: &Judgement, symptoms: &Symptoms) -> Option<Hint> {
    let cells = symptoms.cells.as_ref()?;
    if symptoms.is_right {
        return None;
    }
    region(judgement, cells.written, "written", cells)
        .or_else(|| barrier(judgement, cells))
        .or_else(|| region(judgement, cells.right, "right", cells))
        .or_else(|| start(cells))
        .or_else(|| steps(cells))
        .or_else(|| shapes(cells))
}

/// Results that are something else.
pub(super) fn likeness(judgement: &Judgement, symptoms: &Symptoms) -> Option<Hint> {
    let cells = symptoms.cells.as_ref()?;
    let place = "Write element (row, column) of the input to out[column * height + row].";
    Some(match cells.looks_like? {
        Likeness::Input if judgement.parameters.len() > 3 => {
            hint!("The output is the input, not its transposition: rows stay rows.", "{place}")
        }
        Likeness::Input => hint!(
            "The result is the input itself.",
            "Take the minimum of d[i][k] + d[k][j] over all k, which begins with NO_EDGE."
        ),
        Likeness::TilesStay(side) => hint!(
            "Tiles of {side}x{side} are transposed, but stay where they were: the tile's indices are not swapped.",
            "The tile that group (x, y) reads goes to tile (y, x) of the output: begin its column with get_group_id(1), its row \
             with get_group_id(0)."
        ),
        Likeness::TilesUnturned(side) => hint!(
            "Tiles of {side}x{side} are where they belong, but not transposed themselves.",
            "Swap the two local indices between the store to the tile and the load from it: tile[y][x], then tile[x][y]."
        ),
        Likeness::OutputPitch => hint!(
            "The output is written with rows as long as the input's: it is right for squares only.",
            "A row of the output has `height` elements: out[column * height + row]."
        ),
        Likeness::InputPitch => hint!(
            "The input is read with rows as long as the output's: it is right for squares only.",
            "A row of the input has `width` elements: in[row * width + column]."
        ),
        Likeness::TransposedProduct => hint!(
            "The result is right, but transposed: rows and columns are swapped.",
            "Write the result of row i and column j to r[i * n + j]."
        ),
        Likeness::RowsTwice => hint!(
            "Both factors are read along rows: the result is the minimum of d[i][k] + d[j][k].",
            "The second factor is read down a column: d[k * n + j]."
        ),
        Likeness::ColumnsTwice => hint!(
            "Both factors are read down columns: the result is the minimum of d[k][i] + d[k][j].",
            "The first factor is read along a row: d[i * n + k]."
        ),
        Likeness::Maximum => hint!(
            "The result is the largest sum in place of the smallest.",
            "SMALLER(a, b) of common/smaller.cl takes the smaller one."
        ),
        Likeness::SumOfProducts => hint!(
            "The result is the usual product of matrices, with sums of products.",
            "In the min-plus product, + replaces the product and the minimum replaces the sum."
        ),
        Likeness::MinimumOfProducts => {
            hint!("The result is the smallest product in place of the smallest sum.", "Add d[i][k] and d[k][j].")
        }
        Likeness::WithInput => hint!(
            "Where the input is less than the right result, it is the result.",
            "Only ways of two edges count: begin the minimum with NO_EDGE, not with the input or with what the output held."
        ),
    })
}

/// Cells that are alone in being written, or right.
fn region(judgement: &Judgement, region: CellRegion, are: &str, cells: &CellSymptoms) -> Option<Hint> {
    let [wide, high] = cells.tile;
    let is_moved = judgement.parameters.len() > 3;
    let of = if is_moved { " of the input" } else { "" };
    let rest = "Whole work-groups are launched, and the last ones reach over the edge: skip single work-items, not \
                whole groups.";
    Some(match region {
        CellRegion::None if are == "written" => hint!(
            "The kernel writes no result: its output is as it was before.",
            "Does a condition exclude all work-items?"
        ),
        CellRegion::FirstTile => hint!(
            "Only the first work-group's tile of {wide}x{high} elements is {are}: is the group's number missing from the index?",
            "get_global_id(0) and get_global_id(1) are columns and rows of the whole matrix."
        ),
        CellRegion::FirstRowOfTiles => hint!(
            "Only the first {high} rows{of} are {are}: is get_group_id(1) missing from the row?",
            "get_global_id(1) is the row in the whole matrix."
        ),
        CellRegion::FirstColumnOfTiles => hint!(
            "Only the first {wide} columns{of} are {are}: is get_group_id(0) missing from the column?",
            "get_global_id(0) is the column in the whole matrix."
        ),
        CellRegion::DiagonalTiles => hint!(
            "Only tiles of {wide}x{high} on the diagonal are {are}: the tile's indices are mixed up.",
            "A tile that is read at column x and row y goes to column y and row x."
        ),
        CellRegion::Diagonal => hint!(
            "Only the diagonal is {are}: one index stands for both the row and the column.",
            "Take the column from get_global_id(0) and the row from get_global_id(1)."
        ),
        CellRegion::WholeTiles => hint!(
            "What lies behind the last whole tile of {wide}x{high} is not {are}: the rest of rows and columns is left out.",
            "{rest}"
        ),
        CellRegion::FirstRowsOfTiles(rows) => hint!(
            "Only the first {rows} of each tile's {high} rows are {are}.",
            "Let each work-item loop over the rows that the file declares for it, WG_Y apart."
        ),
        CellRegion::FirstColumnsOfTiles(columns) => hint!(
            "Only the first {columns} of each tile's {wide} columns are {are}.",
            "Let each work-item loop over the columns that the file declares for it, WG_X apart."
        ),
        CellRegion::FirstOfTiles => hint!(
            "Only the first element of each tile of {wide}x{high} is {are}: is the item's own place missing from the index?",
            "get_local_id(0) and get_local_id(1) are column and row in the tile."
        ),
        CellRegion::AllButLastRow => hint!(
            "The last row{of} is not {are}: is an index compared with the size less 1?",
            "Indices run from 0 to the size less 1: use < with the size itself."
        ),
        CellRegion::AllButLastColumn => hint!(
            "The last column{of} is not {are}: is an index compared with the size less 1?",
            "Indices run from 0 to the size less 1: use < with the size itself."
        ),
        CellRegion::Square => hint!(
            "Only a square is {are}, as wide as the matrix is high or the other way round: a column is compared with the \
                     height, or a row with the width.",
            "In the input, columns are below width and rows below height; in the output it is the other way round."
        ),
        CellRegion::All
        | CellRegion::None
        | CellRegion::HalfOfTiles
        | CellRegion::DiagonalOfTiles
        | CellRegion::Some => return None,
    })
}

/// Tiles that are read before they are written.
fn barrier(judgement: &Judgement, cells: &CellSymptoms) -> Option<Hint> {
    let traits = &judgement.traits;
    if !traits.has_local {
        return None;
    }
    let is_half = matches!(cells.right, CellRegion::HalfOfTiles | CellRegion::DiagonalOfTiles);
    if traits.barriers == 0 {
        return Some(no_barrier());
    }
    is_half.then(|| {
        hint!(
            "Only one side of each tile's diagonal is right: work-items read the tile before others have written it.",
            "Put barrier(CLK_LOCAL_MEM_FENCE) between the store to the tile and the load from it."
        )
    })
}

/// Of products: what a minimum begins with.
fn start(cells: &CellSymptoms) -> Option<Hint> {
    let from = cells.starts_from?;
    Some(hint!(
        "Where there is no path, the result is {from}: the minimum begins with a number that does not mean a \
             missing edge.",
        "Begin with T best = NO_EDGE; it comes from #include \"common/smaller.cl\"."
    ))
}

/// Of products: steps that are left out.
fn steps(cells: &CellSymptoms) -> Option<Hint> {
    let ([n, count], [wide, _]) = (cells.step_count, cells.tile);
    let all = "The loop over k runs from 0 to n - 1, in whole tiles and a rest.";
    Some(match cells.steps? {
        Share::All => return None,
        Share::None => hint!("No k counts: the result is the same whatever the weights are.", "{all}"),
        Share::FirstGroup => hint!(
            "Only the first {wide} of {n} values of k count: does the loop over k end after the first tile?",
            "{all}"
        ),
        Share::WholeGroups => hint!(
            "Values of k behind the last whole tile of {wide} do not count: the rest of the loop over k is left out.",
            "{all}"
        ),
        Share::AllButFirst => hint!("k = 0 does not count: does the loop begin at 1?", "{all}"),
        Share::AllButLast => hint!("The last k does not count: does the loop end at n - 1?", "{all}"),
        Share::Beginning(first) => {
            hint!("Only the first {first} of {n} values of k count: the loop over k is too short.", "{all}")
        }
        _ => hint!("Only {count} of {n} values of k count.", "{all}"),
    })
}

fn shapes(cells: &CellSymptoms) -> Option<Hint> {
    let [wide, high] = cells.tile;
    let all = |is_meant: &dyn Fn(&gpulab_model::outcome::TriedShape) -> bool, is_right: bool| {
        let mut meant = cells.shapes.iter().filter(|tried| is_meant(tried)).peekable();
        meant.peek().is_some() && meant.all(|tried| tried.is_right == is_right)
    };
    if all(&|tried| tried.is_whole, true) && all(&|tried| !tried.is_whole, false) {
        return Some(hint!(
            "The kernel is right where tiles of {wide}x{high} are whole, and wrong where a part of one is left.",
            "Compare columns with the width and rows with the height, when the tile is loaded and again, swapped, when it is stored."
        ));
    }
    let is_square = |tried: &gpulab_model::outcome::TriedShape| tried.shape.n == tried.shape.m;
    if all(&|tried| is_square(tried), true) && all(&|tried| !is_square(tried), false) {
        return Some(hint!(
            "The kernel is right for squares only: width and height are mixed up.",
            "A row of the input has `width` elements, one of the output `height`."
        ));
    }
    None
}

//! How tiles are shared out among work-items, and which groups take which tiles.

use super::settings::{ROWS, TILE};
use crate::Ask;
use gpulab_model::data::Shape;
use gpulab_model::named_enum;
use gpulab_model::plan::{Refusal, WorkGroup};

/// How a square tile is shared out among the work-items of a group.
#[derive(Clone, Copy)]
pub(super) struct SquareTile {
    /// Its rows, as many as its columns.
    pub(super) side: u64,
    /// Neighbouring columns that a work-item takes at once.
    pub(super) vector: u64,
    /// Rows that a work-item takes, one after the other or as blocks.
    pub(super) rows: u64,
}

impl SquareTile {
    /// As asked by `tile`, `rows` and the work-group size, in this order.
    pub(super) fn of(ask: &Ask<'_>, default_tile: u64, vector: u64) -> Result<SquareTile, Refusal> {
        let params = &ask.case.params;
        let wg = ask.case.wg;
        let [across, down, _] = wg.0.map(|items| items as u64);
        let given = if down > 1 { Some(across * vector) } else { None };
        let tile = TILE.get(params)?.or(given).unwrap_or(default_tile);
        if tile > 1024 || !tile.is_multiple_of(vector) {
            return Err(Refusal::Setting(format!("tile={tile}: a multiple of {vector}, at most 1024, is needed")));
        }
        let groups_of_rows = match ROWS.get(params)? {
            Some(rows) if tile.is_multiple_of(rows) => tile / rows,
            Some(rows) => {
                return Err(Refusal::Setting(format!(
                    "rows={rows}: a tile of {tile} rows has no whole number of them"
                )));
            }
            None => wg.size() as u64 / (tile / vector).max(1),
        };
        let rows = tile / groups_of_rows.clamp(1, tile);
        let shared = SquareTile { side: tile, vector, rows };
        let fits_wg = shared.work_group().size() == wg.size() && (down == 1 || shared.work_group() == wg);
        match ROWS.get(params)? {
            None if !fits_wg => Err(Refusal::Group(format!(
                "work-group {wg}: its items cannot share out a tile of {tile}x{tile} evenly: choose a multiple of {}, or --rows",
                tile / vector
            ))),
            _ => Ok(shared),
        }
    }

    pub(super) fn work_group(self) -> WorkGroup {
        WorkGroup([(self.side / self.vector) as usize, (self.side / self.rows) as usize, 1])
    }
}

/// Most groups in the second dimension of a launch: what NVIDIA's drivers allow.
pub(super) const MOST_GROUP_ROWS: u64 = 65_535;

named_enum! {
    #[derive(Clone, Copy, PartialEq)]
    pub(super) enum GroupOrder {
        Rows = "rows",
        Columns = "columns",
        Diagonal = "diagonal",
    }
}

pub(super) struct Tiles {
    pub(super) groups: [u64; 3],
    /// Whether some tile reaches beyond the matrix.
    pub(super) edges: bool,
    /// The macro ORDER: see `cl/transpose/matrix.cl`.
    pub(super) order: u64,
}

impl Tiles {
    pub(super) fn of(shape: Shape, tile: u64, order: GroupOrder) -> Tiles {
        let columns = shape.n.div_ceil(tile);
        let rows = shape.m.div_ceil(tile);
        let (first, second) = if order == GroupOrder::Columns { (rows, columns) } else { (columns, rows) };
        let folds = second.div_ceil(MOST_GROUP_ROWS);
        let folded = second.div_ceil(folds);
        let even = shape.n.is_multiple_of(tile) && shape.m.is_multiple_of(tile) && folded * folds == second;
        let order = match order {
            GroupOrder::Rows => 0,
            GroupOrder::Columns => 1,
            GroupOrder::Diagonal if first == folded * folds => 2,
            GroupOrder::Diagonal => 3,
        };
        Tiles { groups: [first, folded, folds], edges: !even, order }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_rows_of_groups_are_folded() {
        let tiles = |n, m, order| Tiles::of(Shape { n, m }, 32, order);
        assert_eq!(tiles(64, 32 * 65_535, GroupOrder::Rows).groups, [2, 65_535, 1]);
        let folded = tiles(64, 32 * 65_536, GroupOrder::Rows);
        assert_eq!((folded.groups, folded.edges), ([2, 32_768, 2], false));
        let uneven = tiles(64, 32 * 131_071, GroupOrder::Rows);
        assert_eq!((uneven.groups, uneven.edges), ([2, 43_691, 3], true), "two groups too many have nothing to do");
        assert_eq!(tiles(32 * 65_536, 64, GroupOrder::Columns).groups, [2, 32_768, 2]);
    }

    #[test]
    fn diagonals_of_a_square_have_the_shorter_form() {
        let order = |n, m, order| Tiles::of(Shape { n, m }, 32, order).order;
        assert_eq!([order(64, 96, GroupOrder::Rows), order(64, 96, GroupOrder::Columns)], [0, 1]);
        assert_eq!([order(96, 96, GroupOrder::Diagonal), order(64, 96, GroupOrder::Diagonal)], [2, 3]);
    }
}

//! Which elements of a wrong result are right, as a pattern that has a name. Pure.

use serde::{Deserialize, Serialize};

/// Which elements of a vector take part in something, where `group` consecutive ones are a work-group's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Share {
    All,
    None,
    FirstGroup,
    /// Those of the last group, which may be a part of one.
    LastGroup,
    AllButFirstGroup,
    /// Those of groups that are whole: not the rest behind them.
    WholeGroups,
    AllButFirst,
    AllButLast,
    FirstOfGroups,
    LastOfGroups,
    AllButFirstOfGroups,
    AllButLastOfGroups,
    FirstHalfOfGroups,
    SecondHalfOfGroups,
    FirstPartOfGroups(u64),
    /// Of each group the first, and those 1, 2, 4, 8 and so on behind it: what one work-item of a tree adds by itself.
    PowersOfGroups,
    /// Those whose index in the group is a multiple of this, from 2 on.
    Every(u64),
    /// Those whose index in the group is odd.
    Odd,
    /// The first so many of the whole.
    Beginning(u64),
    /// Some, in no order that has a name.
    Some,
}

pub fn share(is_in: &[bool], group: usize) -> Share {
    let n = is_in.len();
    let group = group.max(1);
    let whole = n / group * group;
    let last = n.saturating_sub(1) / group * group;
    let are =
        |until: usize, want: &dyn Fn(usize) -> bool| is_in[..until].iter().enumerate().all(|(i, is)| *is == want(i));
    let ends: [(Share, &dyn Fn(usize) -> bool); 8] = [
        (Share::All, &|_| true),
        (Share::None, &|_| false),
        (Share::FirstGroup, &|i| i < group),
        (Share::LastGroup, &|i| i >= last),
        (Share::WholeGroups, &|i| i < whole),
        (Share::AllButFirstGroup, &|i| i >= group),
        (Share::AllButFirst, &|i| i != 0),
        (Share::AllButLast, &|i| i + 1 != n),
    ];
    if let Some((share, _)) = ends.iter().find(|(_, want)| are(n, want)) {
        return *share;
    }
    let inner: [(Share, &dyn Fn(usize) -> bool); 8] = [
        (Share::FirstOfGroups, &|i| i == 0),
        (Share::LastOfGroups, &|i| i + 1 == group),
        (Share::AllButFirstOfGroups, &|i| i != 0),
        (Share::AllButLastOfGroups, &|i| i + 1 != group),
        (Share::FirstHalfOfGroups, &|i| 2 * i < group),
        (Share::SecondHalfOfGroups, &|i| 2 * i >= group),
        (Share::Odd, &|i| i % 2 == 1),
        (Share::PowersOfGroups, &|i| i == 0 || i.is_power_of_two()),
    ];
    let steps = [2, 4, 8, 16, 32, 64, 128, 256, 512];
    // The last group, which may be a part of one, may be as the others or left out.
    for until in [n, whole] {
        let in_group = |want: &dyn Fn(usize) -> bool| until > 0 && are(until, &|i| want(i % group));
        if let Some((share, _)) = inner.iter().find(|(_, want)| in_group(want)) {
            return *share;
        }
        if let Some(step) = steps.into_iter().find(|&step| step < group && in_group(&|i| i % step == 0)) {
            return Share::Every(step as u64);
        }
        let part = is_in.iter().take_while(|is| **is).count();
        if part > 0 && part < group && in_group(&|i| i < part) {
            return Share::FirstPartOfGroups(part as u64);
        }
    }
    let beginning = is_in.iter().take_while(|is| **is).count();
    if are(n, &|i| i < beginning) { Share::Beginning(beginning as u64) } else { Share::Some }
}

/// A matrix of flags, row by row, and the sides of the tiles that its work-groups have: columns and rows of each.
#[derive(Clone, Copy, Debug)]
pub struct MatrixFlags<'a> {
    pub is_in: &'a [bool],
    pub columns: usize,
    /// Columns and rows of a group's tile.
    pub tile: [usize; 2],
}

/// Which cells of a matrix take part in something, where each work-group has a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellRegion {
    All,
    None,
    /// Those of tiles that are whole: not what is right of them or below.
    WholeTiles,
    FirstTile,
    FirstRowOfTiles,
    FirstColumnOfTiles,
    DiagonalTiles,
    Diagonal,
    /// Those on one side of each tile's diagonal, and perhaps on it.
    HalfOfTiles,
    DiagonalOfTiles,
    FirstRowsOfTiles(u64),
    FirstColumnsOfTiles(u64),
    FirstOfTiles,
    AllButLastRow,
    AllButLastColumn,
    /// Those whose row is less than the number of columns, and whose column is less than that of rows.
    Square,
    /// Some, in no order that has a name.
    Some,
}

pub fn region(cells: MatrixFlags<'_>) -> CellRegion {
    let MatrixFlags { is_in, columns, tile: [wide, high] } = cells;
    let rows = is_in.len() / columns.max(1);
    let [whole_columns, whole_rows] = [columns / wide * wide, rows / high * high];
    let are_until = |right: usize, below: usize, want: &dyn Fn(usize, usize) -> bool| {
        let is = |at: usize| is_in[at] == want(at / columns, at % columns);
        right * below > 0 && (0..is_in.len()).all(|at| at / columns >= below || at % columns >= right || is(at))
    };
    let square = rows.min(columns);
    type WantedCell<'c> = &'c dyn Fn(usize, usize) -> bool;
    let named: [(CellRegion, WantedCell<'_>); 11] = [
        (CellRegion::All, &|_, _| true),
        (CellRegion::None, &|_, _| false),
        (CellRegion::WholeTiles, &|r, c| r < whole_rows && c < whole_columns),
        (CellRegion::FirstTile, &|r, c| r < high && c < wide),
        (CellRegion::FirstRowOfTiles, &|r, _| r < high),
        (CellRegion::FirstColumnOfTiles, &|_, c| c < wide),
        (CellRegion::DiagonalTiles, &|r, c| r / high == c / wide),
        (CellRegion::Diagonal, &|r, c| r == c),
        (CellRegion::AllButLastRow, &|r, _| r + 1 < rows),
        (CellRegion::AllButLastColumn, &|_, c| c + 1 < columns),
        (CellRegion::Square, &|r, c| r < square && c < square),
    ];
    let find = |right, below| named.iter().find(|(_, want)| are_until(right, below, want)).map(|(region, _)| *region);
    if let Some(region) = find(columns, rows) {
        return region;
    }
    let strictly = |flip: bool, equal: bool| {
        move |r: usize, c: usize| {
            let (r, c) = if flip { (c, r) } else { (r, c) };
            r > c || (equal && r == c)
        }
    };
    for (right, below) in [(columns, rows), (whole_columns, whole_rows)] {
        let in_tile = |want: &dyn Fn(usize, usize) -> bool| are_until(right, below, &|r, c| want(r % high, c % wide));
        if wide * high > 1 && in_tile(&|r, c| r == 0 && c == 0) {
            return CellRegion::FirstOfTiles;
        }
        if let Some(some) = (1..high).find(|&some| in_tile(&|r, _| r < some)) {
            return CellRegion::FirstRowsOfTiles(some as u64);
        }
        if let Some(some) = (1..wide).find(|&some| in_tile(&|_, c| c < some)) {
            return CellRegion::FirstColumnsOfTiles(some as u64);
        }
        if wide == high && in_tile(&|r, c| r == c) {
            return CellRegion::DiagonalOfTiles;
        }
        let halves = [(false, false), (false, true), (true, false), (true, true)];
        if wide == high && halves.iter().any(|&(flip, equal)| in_tile(&strictly(flip, equal))) {
            return CellRegion::HalfOfTiles;
        }
    }
    CellRegion::Some
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(n: usize, is_in: impl Fn(usize) -> bool) -> Share {
        share(&(0..n).map(is_in).collect::<Vec<_>>(), 8)
    }

    #[test]
    fn shares_have_their_names() {
        assert_eq!(of(27, |_| true), Share::All);
        assert_eq!(of(27, |_| false), Share::None);
        assert_eq!(of(27, |i| i < 8), Share::FirstGroup);
        assert_eq!(of(27, |i| i >= 24), Share::LastGroup);
        assert_eq!(of(27, |i| i < 24), Share::WholeGroups);
        assert_eq!(of(27, |i| i >= 8), Share::AllButFirstGroup);
        assert_eq!(of(27, |i| i != 26), Share::AllButLast);
        assert_eq!(of(27, |i| i != 0), Share::AllButFirst);
        assert_eq!(of(27, |i| i % 8 == 0), Share::FirstOfGroups);
        assert_eq!(of(27, |i| i % 8 == 0 && i < 24), Share::FirstOfGroups, "with nothing of the last group");
        assert_eq!(of(27, |i| i % 8 != 7), Share::AllButLastOfGroups);
        assert_eq!(of(27, |i| i % 8 < 4), Share::FirstHalfOfGroups);
        assert_eq!(of(27, |i| i % 8 < 3), Share::FirstPartOfGroups(3));
        assert_eq!(of(27, |i| i % 2 == 0), Share::Every(2));
        assert_eq!(of(27, |i| i % 4 == 0), Share::Every(4));
        assert_eq!(of(27, |i| i % 2 == 1), Share::Odd);
        assert_eq!(of(27, |i| [0, 1, 2, 4].contains(&(i % 8))), Share::PowersOfGroups);
        assert_eq!(of(27, |i| i < 13), Share::Beginning(13));
        assert_eq!(of(27, |i| i == 3 || i == 20), Share::Some);
    }

    #[test]
    fn no_elements_and_no_groups_are_no_trouble() {
        assert_eq!(share(&[], 8), Share::All);
        assert_eq!(share(&[true, false], 0), Share::FirstGroup, "a group has an element at least");
        assert_eq!(region(MatrixFlags { is_in: &[], columns: 0, tile: [4, 4] }), CellRegion::Some);
    }

    fn cells(rows: usize, columns: usize, is_in: impl Fn(usize, usize) -> bool) -> CellRegion {
        let is_in: Vec<bool> = (0..rows * columns).map(|at| is_in(at / columns, at % columns)).collect();
        region(MatrixFlags { is_in: &is_in, columns, tile: [4, 4] })
    }

    #[test]
    fn regions_have_their_names() {
        assert_eq!(cells(9, 13, |_, _| true), CellRegion::All);
        assert_eq!(cells(9, 13, |_, _| false), CellRegion::None);
        assert_eq!(cells(9, 13, |r, c| r < 8 && c < 12), CellRegion::WholeTiles);
        assert_eq!(cells(9, 13, |r, c| r < 4 && c < 4), CellRegion::FirstTile);
        assert_eq!(cells(9, 13, |r, c| r / 4 == c / 4), CellRegion::DiagonalTiles);
        assert_eq!(cells(9, 13, |r, c| r == c), CellRegion::Diagonal);
        assert_eq!(cells(9, 13, |r, _| r % 4 == 0), CellRegion::FirstRowsOfTiles(1));
        assert_eq!(cells(9, 13, |_, c| c % 4 < 2), CellRegion::FirstColumnsOfTiles(2));
        assert_eq!(cells(9, 13, |r, c| r % 4 == 0 && c % 4 == 0), CellRegion::FirstOfTiles);
        assert_eq!(cells(9, 13, |r, c| r % 4 >= c % 4), CellRegion::HalfOfTiles);
        assert_eq!(cells(9, 13, |r, _| r < 8), CellRegion::AllButLastRow);
        assert_eq!(cells(9, 13, |_, c| c < 9), CellRegion::Square);
        assert_eq!(cells(9, 13, |r, c| r + c == 5), CellRegion::Some);
    }
}

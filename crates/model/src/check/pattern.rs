//! Which elements of a wrong result are right, as a pattern that has a name. Pure.

use serde::{Deserialize, Serialize};

/// Which elements of a vector take part in something, where `group` consecutive ones are a work-group's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Share {
    All,
    None,
    FirstGroup,
    /// Those of groups that are whole: not the rest behind them.
    WholeGroups,
    AllButFirst,
    AllButLast,
    FirstPartOfGroups(u64),
    /// Those whose index in the group is a multiple of this, from 2 on.
    Every(u64),
    /// The first so many of the whole.
    Beginning(u64),
    /// Some, in no order that has a name.
    Some,
}

/// Whether those take part which should.
fn are(is_in: &[bool], want: &dyn Fn(usize) -> bool) -> bool {
    is_in.iter().enumerate().all(|(i, is)| *is == want(i))
}

pub fn share(is_in: &[bool], group: usize) -> Share {
    let n = is_in.len();
    let group = group.max(1);
    let whole = n / group * group;
    let ends: [(Share, &dyn Fn(usize) -> bool); 6] = [
        (Share::All, &|_| true),
        (Share::None, &|_| false),
        (Share::FirstGroup, &|i| i < group),
        (Share::WholeGroups, &|i| i < whole),
        (Share::AllButFirst, &|i| i != 0),
        (Share::AllButLast, &|i| i + 1 != n),
    ];
    if let Some((share, _)) = ends.iter().find(|(_, want)| are(is_in, want)) {
        return *share;
    }
    let beginning = is_in.iter().take_while(|is| **is).count();
    // The last group, which may be a part of one, may be as the others or left out.
    for until in [n, whole].into_iter().filter(|until| *until > 0) {
        if (1..group).contains(&beginning) && are(&is_in[..until], &|i| i % group < beginning) {
            return Share::FirstPartOfGroups(beginning as u64);
        }
        let steps = (1..10).map(|log| 1 << log).filter(|step| *step < group);
        if let Some(step) = steps
            .into_iter()
            .find(|step| are(&is_in[..until], &|i| (i % group).is_multiple_of(*step)))
        {
            return Share::Every(step as u64);
        }
    }
    if are(is_in, &|i| i < beginning) {
        Share::Beginning(beginning as u64)
    } else {
        Share::Some
    }
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
    FirstRowsOfTiles(u64),
    AllButLastRow,
    AllButLastColumn,
    /// Some, in no order that has a name.
    Some,
}

/// Of flags row by row, and columns and rows of a group's tile.
pub fn region(is_in: &[bool], columns: usize, [wide, high]: [usize; 2]) -> CellRegion {
    let rows = is_in.len() / columns.max(1);
    type WantedCell<'c> = &'c dyn Fn(usize, usize) -> bool;
    let named: [(CellRegion, WantedCell<'_>); 6] = [
        (CellRegion::All, &|_, _| true),
        (CellRegion::None, &|_, _| false),
        (CellRegion::WholeTiles, &|r, c| {
            r < rows / high * high && c < columns / wide * wide
        }),
        (CellRegion::FirstTile, &|r, c| r < high && c < wide),
        (CellRegion::AllButLastRow, &|r, _| r + 1 < rows),
        (CellRegion::AllButLastColumn, &|_, c| c + 1 < columns),
    ];
    if let Some((region, _)) = named
        .iter()
        .find(|(_, want)| !is_in.is_empty() && are(is_in, &|at| want(at / columns, at % columns)))
    {
        return *region;
    }
    let first =
        (1..high).find(|&some| !is_in.is_empty() && are(is_in, &|at| at / columns % high < some));
    first.map_or(CellRegion::Some, |rows| {
        CellRegion::FirstRowsOfTiles(rows as u64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_that_take_part_have_a_name() {
        let of = |n: usize, is_in: &dyn Fn(usize) -> bool| {
            share(&(0..n).map(is_in).collect::<Vec<_>>(), 8)
        };
        let cases: [(&dyn Fn(usize) -> bool, Share); 13] = [
            (&|_| true, Share::All),
            (&|_| false, Share::None),
            (&|i| i < 8, Share::FirstGroup),
            (&|i| i < 24, Share::WholeGroups),
            (&|i| i != 26, Share::AllButLast),
            (&|i| i != 0, Share::AllButFirst),
            (&|i| i % 8 == 0, Share::FirstPartOfGroups(1)),
            (&|i| i % 8 == 0 && i < 24, Share::FirstPartOfGroups(1)),
            (&|i| i % 8 < 3, Share::FirstPartOfGroups(3)),
            (&|i| i % 2 == 0, Share::Every(2)),
            (&|i| i % 4 == 0, Share::Every(4)),
            (&|i| i < 13, Share::Beginning(13)),
            (&|i| i == 3 || i == 20, Share::Some),
        ];
        for (is_in, wanted) in cases {
            assert_eq!(of(27, is_in), wanted);
        }
        assert_eq!(share(&[], 8), Share::All);
        assert_eq!(
            share(&[true, false], 0),
            Share::FirstGroup,
            "a group has an element at least"
        );
    }

    #[test]
    fn cells_that_take_part_have_a_name() {
        let of = |rows: usize, columns: usize, is_in: &dyn Fn(usize, usize) -> bool| {
            let is_in: Vec<bool> = (0..rows * columns)
                .map(|at| is_in(at / columns, at % columns))
                .collect();
            region(&is_in, columns, [4, 4])
        };
        type Cells<'a> = &'a dyn Fn(usize, usize) -> bool;
        let cases: [(Cells<'_>, CellRegion); 7] = [
            (&|_, _| true, CellRegion::All),
            (&|_, _| false, CellRegion::None),
            (&|r, c| r < 8 && c < 12, CellRegion::WholeTiles),
            (&|r, c| r < 4 && c < 4, CellRegion::FirstTile),
            (&|r, _| r % 4 == 0, CellRegion::FirstRowsOfTiles(1)),
            (&|_, c| c < 13, CellRegion::AllButLastColumn),
            (&|r, c| r + c == 5, CellRegion::Some),
        ];
        for (is_in, wanted) in cases {
            assert_eq!(of(9, 14, is_in), wanted);
        }
        assert_eq!(of(9, 13, &|r, _| r + 1 < 9), CellRegion::AllButLastRow);
        assert_eq!(region(&[], 0, [4, 4]), CellRegion::Some);
    }
}

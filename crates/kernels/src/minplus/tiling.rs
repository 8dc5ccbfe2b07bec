//! Tiles of results that groups take, and how their items share them.

use super::launches::{self, STRIP};
use super::settings::{BUFFERS, DEPTH, ITEM, TILE};
use crate::{Ask, Builder};
use gpulab_model::plan::{Refusal, WorkGroup};

/// How `tiled` and `three_way` share out a tile.
#[derive(Clone, Copy)]
pub(super) struct Tiling {
    pub(super) tile: [u64; 2],
    pub(super) item: [u64; 2],
    pub(super) depth: u64,
    pub(super) buffers: u64,
}

impl Tiling {
    /// As asked, or else as given.
    pub(super) fn of(ask: &Ask<'_>, default: Tiling) -> Result<Tiling, Refusal> {
        let params = &ask.case.params;
        let tiling = Tiling {
            tile: TILE.get_pair(params)?.unwrap_or(default.tile),
            item: ITEM.get_pair(params)?.unwrap_or(default.item),
            depth: DEPTH.get(params)?.unwrap_or(default.depth),
            buffers: BUFFERS.get(params)?.unwrap_or(default.buffers),
        };
        tiling.check(16 / ask.case.dtype.size() as u64).map_err(|why| {
            let Tiling { tile: [rows, columns], item: [high, wide], depth, .. } = tiling;
            Refusal::Setting(format!("tile={rows}x{columns} item={high}x{wide} depth={depth}: {why}"))
        })?;
        Ok(tiling)
    }

    /// Whether whole vectors of so many elements can be shared out evenly.
    fn check(&self, vec: u64) -> Result<(), String> {
        let Tiling { tile, item, depth, .. } = *self;
        let shares = |stage: u64| stage.is_multiple_of(vec * self.items()[0] * self.items()[1]);
        if item.iter().any(|side| !side.is_multiple_of(vec)) || item[0] * item[1] > 256 {
            return Err(format!("a work-item takes multiples of {vec}, and 256 results at most"));
        }
        if tile.iter().zip(item).any(|(tile, item)| !tile.is_multiple_of(item)) {
            return Err("a tile has no whole number of items".into());
        }
        if !self.items()[0].is_multiple_of(4) || !self.items()[1].is_multiple_of(8) {
            return Err("a work-group needs a multiple of 4 items down and of 8 across".into());
        }
        if !depth.is_multiple_of(2) || depth > 64 || !shares(depth * tile[0]) || !shares(depth * tile[1]) {
            return Err(
                "the items of a work-group cannot share the staged elements evenly: try another depth or tile".into()
            );
        }
        Ok(())
    }

    /// Items of a group, down and across.
    fn items(&self) -> [u64; 2] {
        [self.tile[0] / self.item[0], self.tile[1] / self.item[1]]
    }

    pub(super) fn work_group(&self) -> WorkGroup {
        WorkGroup::linear((self.items()[0] * self.items()[1]) as usize)
    }

    /// Rows of panels for `n`.
    pub(super) fn pitch(&self, n: u64) -> u64 {
        n.next_multiple_of([self.tile[1], self.depth, STRIP].into_iter().fold(self.tile[0], |a: u64, b: u64| {
            (1..=b).map(|times| a * times).find(|m| m.is_multiple_of(b)).unwrap_or(a * b)
        }))
    }

    pub(super) fn local_elements(&self) -> u64 {
        self.buffers * self.depth * (self.tile[0] + self.tile[1])
    }

    /// A plan that defines and notes all of it, for rows at most `pitch` elements apart.
    pub(super) fn begin<'a>(&self, ask: &'a Ask<'a>, pitch: u64) -> Result<Builder<'a>, Refusal> {
        let mut plan = launches::begin(ask, pitch)?;
        plan.define("VEC", 16 / ask.case.dtype.size());
        for (name, macros, [rows, columns]) in [(TILE.name, "TILE", self.tile), (ITEM.name, "ITEM", self.item)] {
            plan.note(name, format!("{rows}x{columns}"));
            plan.define(&format!("{macros}_ROWS"), rows);
            plan.define(&format!("{macros}_COLUMNS"), columns);
        }
        plan.set(DEPTH.name, self.depth);
        plan.set(BUFFERS.name, self.buffers);
        Ok(plan)
    }
}

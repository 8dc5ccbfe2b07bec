//! A device's part in shortest distances over a matrix whose tiles lie in the host's memory.
//!
//! A step lets paths pass the nodes of one tile of the diagonal, the pivot, whose own distances are closed by then. First the
//! tiles of its row and column are lowered by it, and kept on the device as panels; then all other tiles are lowered by these,
//! and the next pivot is closed as soon as it is. Tiles are taken by a few queues in turn, which do not wait for each other.
//! Those for which the device has room stay there, and go back only where another device needs them, and at last; each of the
//! others goes in, is lowered and comes back. What a tile is lowered by are lengths of paths whenever they are read, so a tile
//! may be lowered again by whoever likes.

use super::prelude::*;
use super::tile_grid::TileGrid;
use super::verdict::wrong;
use crate::device::SharedHost;
use gpulab_kernels::Rung;
use gpulab_kernels::minplus::{CLOSURE, InBlocks};
use gpulab_model::plan::{Holding, HostId, Pass, Transfer};
use std::collections::{BTreeMap, BTreeSet};

/// While a queue copies in, another computes and a third copies out.
const QUEUES: usize = 3;

/// A tile, by its row and column among tiles.
pub type TilePlace = [usize; 2];

/// A session that works on tiles.
pub struct TileWorker {
    session: Session,
    case: Case,
    rung: &'static Rung,
    /// Nodes that the rung's launches let paths pass.
    pub block: u64,
    held: Option<HeldTiles>,
}

/// Memory for a grid of tiles.
struct HeldTiles {
    grid: TileGrid,
    plan: Plan,
    program: ProgramId,
    fence: Fence,
    hosts: Vec<HostId>,
    /// Of each queue; where there are several devices the last is for the panels of others.
    lanes: Vec<QueueTile>,
    /// Those that stay on the device.
    kept: BTreeMap<TilePlace, KeptTile>,
    /// How many may.
    room: usize,
    /// Memory of tiles that stayed until now.
    idle: Vec<Fenced>,
    /// Of each tile of the pivot's row, and of its column: panels, one a block.
    panels: [Vec<Vec<Fenced>>; 2],
    /// Panels that are of the step at hand: of the row (0) or the column (1), and the tile's place in it.
    fresh: BTreeSet<(usize, usize)>,
    step: usize,
    /// Bytes of tiles that went to the device, and back.
    moved: [u64; 2],
}

struct QueueTile {
    tile: Fenced,
    /// A block's panels of which nobody needs the contents.
    spare: [Fenced; 2],
}

struct KeptTile {
    tile: Fenced,
    /// Whether it has come from the host.
    is_loaded: bool,
}

impl TileWorker {
    /// Takes the first rung that works on tiles here. The case is of the whole matrix, with the settings of each rung.
    pub fn new(session: Session, rungs: &[(&'static Rung, Case)]) -> Result<TileWorker, Stop> {
        let mut refused = None;
        for (rung, case) in rungs {
            let planned = session.plan(&CLOSURE, &Case { shape: Shape { n: 1, m: 1 }, ..case.clone() });
            match planned.and_then(|(_, plan)| Ok(in_blocks(&plan, rung)?.block)) {
                Ok(block) => return Ok(TileWorker { session, case: case.clone(), rung, block, held: None }),
                Err(stop) => refused = refused.or(Some(stop)),
            }
        }
        Err(refused.unwrap_or_else(|| Stop::failed("there is no rung")))
    }

    pub fn rung(&self) -> &'static Rung {
        self.rung
    }

    /// Bytes of the device that tiles of this grid need, and that it has.
    pub fn needs(&self, grid: &TileGrid, is_alone: bool) -> [u64; 2] {
        let target = &self.session.device().info().target;
        let spare = 2 * self.block as usize * grid.side * grid.dtype.size();
        let needed = 2 * grid.rows() * grid.bytes() + lanes(is_alone) * (grid.bytes() + spare);
        [if grid.bytes() as u64 > target.max_alloc { u64::MAX } else { needed as u64 }, target.global_mem]
    }

    /// Allocates the tiles in the host's memory, for all devices.
    pub fn hold(&mut self, grid: &TileGrid) -> Result<Vec<SharedHost>, Stop> {
        let device = &mut *self.session.device;
        let mut tiles = Vec::new();
        for _ in 0..grid.rows() * grid.rows() {
            let host = device.hold(Holding::Pinned, grid.bytes());
            let shared = host.and_then(|host| {
                let shared = device.share(host);
                device.let_go(host);
                shared
            });
            tiles.push(shared?);
        }
        Ok(tiles)
    }

    /// Takes part in the work on these tiles, alone or not, in so many bytes of the device: builds the kernels, and allocates.
    pub fn join(&mut self, grid: TileGrid, tiles: &[SharedHost], is_alone: bool, memory: u64) -> Result<(), Stop> {
        let side = grid.side as u64;
        let case = Case { shape: Shape { n: side, m: side }, ..self.case.clone() };
        let (rung, plan) = self.session.plan(&CLOSURE, &case)?;
        let program = self.session.build(rung, &plan)?;
        let [needed, has] = self.needs(&grid, is_alone);
        let device = &mut *self.session.device;
        // Not all that a device has can be allocated; and a CPU's memory is the host's, where the tiles are.
        let free = if device.info().target.gpu { has / 8 * 7 } else { 0 };
        let free = if memory == u64::MAX { free } else { memory.min(has) };
        let fence = Fence::of(device, &CLOSURE, &case);
        let held = self.held.insert(HeldTiles {
            grid,
            plan,
            program,
            fence,
            hosts: tiles.iter().map(|tile| device.adopt(tile.clone())).collect(),
            lanes: Vec::new(),
            kept: BTreeMap::new(),
            room: (free.saturating_sub(needed) / grid.bytes() as u64) as usize,
            idle: Vec::new(),
            panels: [Vec::new(), Vec::new()],
            fresh: BTreeSet::new(),
            step: 0,
            moved: [0, 0],
        });
        // What was allocated is freed with it, whatever follows.
        let alloc = |device: &mut dyn Device, len: usize| fence.alloc(device, grid.dtype, len * grid.dtype.size());
        let strip = self.block as usize * grid.side;
        for _ in 0..lanes(is_alone) {
            let tile = alloc(device, grid.side * grid.side)?;
            let spare = alloc(device, strip).inspect_err(|_| tile.free(device))?;
            let other = alloc(device, strip).inspect_err(|_| {
                tile.free(device);
                spare.free(device);
            })?;
            held.lanes.push(QueueTile { tile, spare: [spare, other] });
        }
        for panels in &mut held.panels {
            for _ in 0..grid.rows() {
                panels.push(Vec::new());
                for _ in 0..grid.side / self.block as usize {
                    let strip = alloc(device, strip)?;
                    panels.last_mut().into_iter().for_each(|panels| panels.push(strip));
                }
            }
        }
        Ok(())
    }

    /// Has these tiles stay on the device, as far as there is room, and others no longer.
    pub fn own(&mut self, tiles: &[TilePlace]) -> Result<(), Stop> {
        let held = self.held.as_mut().ok_or_else(nothing_held)?;
        held.own(&mut *self.session.device, tiles)
    }

    /// Lowers tiles in the step of this pivot; returns the seconds that it took. The first pivot is alone among them; in each
    /// step those of the pivot's row and column come before all others, and before those end.
    pub fn lower(&mut self, pivot: usize, tiles: &[TilePlace]) -> Result<f64, Stop> {
        let held = self.held.as_mut().ok_or_else(nothing_held)?;
        if held.step != pivot {
            held.step = pivot;
            held.fresh.clear();
        }
        let started = Instant::now();
        held.lower(&mut *self.session.device, tiles)?;
        Ok(started.elapsed().as_secs_f64())
    }

    /// Bytes of tiles that went to the device, and back. Refuses kernels that wrote beside their buffers.
    pub fn finish(&mut self) -> Result<[u64; 2], Stop> {
        let held = self.held.as_ref().ok_or_else(nothing_held)?;
        for fenced in held.buffers() {
            if let Some(what) = fenced.overrun(&mut *self.session.device)? {
                return Err(wrong(what));
            }
        }
        Ok(held.moved)
    }
}

fn nothing_held() -> Stop {
    Stop::failed("no tiles are held")
}

fn lanes(is_alone: bool) -> usize {
    QUEUES + usize::from(!is_alone)
}

impl Drop for TileWorker {
    fn drop(&mut self) {
        let Some(held) = self.held.take() else { return };
        let device = &mut *self.session.device;
        held.buffers().for_each(|fenced| fenced.free(device));
        held.hosts.iter().for_each(|&host| device.let_go(host));
    }
}

fn in_blocks<'p>(plan: &'p Plan, rung: &Rung) -> Result<InBlocks<'p>, Refusal> {
    InBlocks::of(plan).ok_or_else(|| {
        let name = rung.variant();
        Refusal::Feature(format!("{name} lets paths pass one node at a time, and cannot stream tiles: choose blocked"))
    })
}

impl HeldTiles {
    fn buffers(&self) -> impl Iterator<Item = Fenced> {
        let lanes = self.lanes.iter().flat_map(|lane| [lane.tile, lane.spare[0], lane.spare[1]]);
        let kept = self.kept.values().map(|kept| kept.tile).chain(self.idle.iter().copied());
        lanes.chain(kept).chain(self.panels.iter().flatten().flatten().copied())
    }

    fn own(&mut self, device: &mut dyn Device, tiles: &[TilePlace]) -> Result<(), Stop> {
        let going: Vec<TilePlace> = self.kept.keys().filter(|place| !tiles.contains(place)).copied().collect();
        let loaded = going.iter().filter(|place| self.kept[*place].is_loaded);
        let back: Vec<QueuedCommand> = loaded
            .map(|place| QueuedCommand { queue: 0, action: Action::Read(self.transfer(*place, self.kept[place].tile)) })
            .collect();
        if !back.is_empty() {
            device.play(None, &back, 1, false)?;
        }
        self.moved[1] += (back.len() * self.grid.bytes()) as u64;
        self.idle.extend(going.iter().filter_map(|place| self.kept.remove(place)).map(|kept| kept.tile));
        for &place in tiles {
            if self.kept.len() < self.room && !self.kept.contains_key(&place) {
                let tile = match self.idle.pop() {
                    Some(tile) => tile,
                    None => self.fence.alloc(device, self.grid.dtype, self.grid.bytes())?,
                };
                self.kept.insert(place, KeptTile { tile, is_loaded: false });
            }
        }
        Ok(())
    }

    fn transfer(&self, [row, column]: TilePlace, tile: Fenced) -> Transfer {
        let host = self.hosts[row * self.grid.rows() + column];
        Transfer { host, from: 0, buffer: tile.id, at: 0, bytes: self.grid.bytes() }
    }

    /// Lowers tiles, behind which the panels of others come in.
    fn lower(&mut self, device: &mut dyn Device, tiles: &[TilePlace]) -> Result<(), Stop> {
        let mut waiting = tiles.to_vec();
        while !waiting.is_empty() {
            let ready;
            (ready, waiting) = waiting.into_iter().partition(|tile| self.missing(*tile).next().is_none());
            // Without a tile to lower meanwhile, what the first waits for is enough.
            let awaited = if ready.is_empty() { &waiting[..1] } else { &waiting[..] };
            let awaited: BTreeSet<TilePlace> = awaited.iter().flat_map(|tile| self.missing(*tile)).collect();
            self.play(device, &awaited, &ready)?;
        }
        Ok(())
    }

    /// Tiles of whose panels there are none yet that this one is lowered by.
    fn missing(&self, [row, column]: TilePlace) -> impl Iterator<Item = TilePlace> {
        let pivot = self.step;
        // A tile of the pivot's row makes its own panel, and is lowered by the pivot's; so is one of the column.
        let above = if row == pivot { pivot } else { column };
        let beside = if column == pivot { pivot } else { row };
        let panels = [((0, above), [pivot, above]), ((1, beside), [beside, pivot])];
        let missing = panels.into_iter().filter(move |(panel, _)| !self.fresh.contains(panel));
        missing.map(|(_, tile)| tile).filter(move |_| [row, column] != [pivot; 2])
    }

    /// Makes panels of some tiles, and lowers others.
    fn play(
        &mut self,
        device: &mut dyn Device,
        packed: &BTreeSet<TilePlace>,
        lowered: &[TilePlace],
    ) -> Result<(), Stop> {
        let pivot = self.step;
        let is_last = pivot + 1 == self.grid.rows();
        let mut commands = Vec::new();
        let packed = packed.iter().map(|place| (self.lanes.len() - 1, *place, true));
        let lowered = lowered.iter().enumerate().map(|(at, place)| (at % QUEUES, *place, false));
        let jobs: Vec<(usize, TilePlace, bool)> = packed.chain(lowered).collect();
        for &(queue, place, is_packed) in &jobs {
            let lane = &self.lanes[queue];
            let kept = self.kept.get(&place);
            let tile = kept.map_or(lane.tile, |kept| kept.tile);
            let transfer = self.transfer(place, tile);
            let launches = if is_packed { self.packing(lane, tile, place) } else { self.lowering(lane, tile, place) };
            if kept.is_none_or(|kept| !kept.is_loaded) {
                self.moved[0] += transfer.bytes as u64;
                commands.push(QueuedCommand { queue, action: Action::Write(transfer) });
            }
            commands.extend(launches.into_iter().map(|launch| QueuedCommand { queue, action: Action::Launch(launch) }));
            let is_awaited = place.contains(&pivot) || place == [pivot + 1; 2] || is_last;
            if !is_packed && (kept.is_none() || is_awaited) {
                self.moved[1] += transfer.bytes as u64;
                commands.push(QueuedCommand { queue, action: Action::Read(transfer) });
            }
        }
        device.play(Some(self.program), &commands, 1, false)?;
        for (_, place, _) in jobs {
            self.kept.entry(place).and_modify(|kept| kept.is_loaded = true);
            let [row, column] = place;
            self.fresh.extend((row == pivot).then_some((0, column)));
            self.fresh.extend((column == pivot).then_some((1, row)));
        }
        Ok(())
    }

    /// The launches that let paths pass this pivot's nodes. The last pivot has fewer nodes.
    fn blocks(&self, pivot: usize) -> Option<InBlocks<'_>> {
        Some(InBlocks::of(&self.plan)?.up_to(self.grid.n - pivot * self.grid.side))
    }

    /// What makes panels of a tile.
    fn packing(&self, lane: &QueueTile, tile: Fenced, [row, column]: TilePlace) -> Vec<Launch> {
        let pivot = self.step;
        let rows = (row == pivot).then(|| &self.panels[0][column]);
        let columns = (column == pivot).then(|| &self.panels[1][row]);
        let id =
            |panels: Option<&Vec<Fenced>>, block: usize, way: usize| panels.map_or(lane.spare[way], |p| p[block]).id;
        let packs = self.blocks(pivot).into_iter().flat_map(|steps| steps.pack()).enumerate();
        packs.map(|(block, pass)| bound(pass, tile.id, id(rows, block, 0), id(columns, block, 1))).collect()
    }

    /// What lowers a tile; and makes panels of it if it is of the pivot's row or column, and closes it if it is the next pivot.
    fn lowering(&self, lane: &QueueTile, tile: Fenced, [row, column]: TilePlace) -> Vec<Launch> {
        let pivot = self.step;
        let close = |pivot: usize| {
            let [rows, columns] = lane.spare;
            let steps = self.blocks(pivot).into_iter().flat_map(|steps| steps.close());
            steps.map(move |pass| bound(pass, tile.id, rows.id, columns.id))
        };
        let pack = || self.packing(lane, tile, [row, column]);
        let lower = || {
            let panels = self.panels[0][column].iter().zip(&self.panels[1][row]);
            let steps = self.blocks(pivot).into_iter().flat_map(|steps| steps.lower());
            steps.zip(panels).map(|(pass, (rows, columns))| bound(pass, tile.id, rows.id, columns.id))
        };
        if [row, column] == [pivot; 2] {
            close(pivot).chain(pack()).collect()
        } else if row == pivot || column == pivot {
            pack().into_iter().chain(lower()).chain(pack()).collect()
        } else if [row, column] == [pivot + 1; 2] {
            lower().chain(close(pivot + 1)).collect()
        } else {
            lower().collect()
        }
    }
}

fn bound(pass: &Pass, tile: BufferId, rows: BufferId, columns: BufferId) -> Launch {
    pass.bound(|index| match index {
        InBlocks::ROWS => rows,
        InBlocks::COLUMNS => columns,
        _ => tile,
    })
}

//! A device's part in shortest distances over a matrix that stays in the host's memory: tiles go through it, copies behind
//! kernels.
//!
//! A step lets paths pass the nodes of one tile of the diagonal, the pivot. First its own distances are closed; then the tiles
//! of its row and column are lowered by it, and kept on the device as panels; then all other tiles are lowered by these.
//! Each tile goes in, is lowered and comes back on one of a few queues, which take tiles in turn and do not wait for each other.
//! What a tile is lowered by are lengths of paths whenever they are read, so a tile may be lowered again by whoever likes.

use super::prelude::*;
use super::tile_grid::TileGrid;
use super::verdict::wrong;
use crate::device::SharedHost;
use gpulab_kernels::Rung;
use gpulab_kernels::minplus::{CLOSURE, InBlocks};
use gpulab_model::plan::{Holding, HostId, Pass, Transfer};
use std::collections::BTreeSet;

/// While a queue copies in, another computes and a third copies out.
const QUEUES: usize = 3;

/// A tile to be lowered, by its row and column among tiles.
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
    hosts: Vec<HostId>,
    lanes: Vec<QueueTile>,
    /// Of each tile of the pivot's row, and of its column: panels, one a block.
    panels: [Vec<Vec<Fenced>>; 2],
    /// Panels that are of the step at hand: of the row (0) or the column (1), and the tile's place in it.
    fresh: BTreeSet<(usize, usize)>,
    step: usize,
}

struct QueueTile {
    tile: Fenced,
    /// A block's panels of which nobody needs the contents.
    spare: [Fenced; 2],
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
    pub fn needs(&self, grid: &TileGrid) -> [u64; 2] {
        let target = &self.session.device().info().target;
        let spare = 2 * self.block as usize * grid.side * grid.dtype.size();
        let needed = (2 * grid.rows() + QUEUES) * grid.bytes() + QUEUES * spare;
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

    /// Takes part in the work on these tiles: builds the kernels, and allocates on the device.
    pub fn join(&mut self, grid: TileGrid, tiles: &[SharedHost]) -> Result<(), Stop> {
        let side = grid.side as u64;
        let case = Case { shape: Shape { n: side, m: side }, ..self.case.clone() };
        let (rung, plan) = self.session.plan(&CLOSURE, &case)?;
        let program = self.session.build(rung, &plan)?;
        let device = &mut *self.session.device;
        let fence = Fence::of(device, &CLOSURE, &case);
        let blocks = grid.side / self.block as usize;
        let hosts = tiles.iter().map(|tile| device.adopt(tile.clone())).collect();
        let (lanes, panels) = (Vec::new(), [Vec::new(), Vec::new()]);
        let held = HeldTiles { grid, plan, program, hosts, lanes, panels, fresh: BTreeSet::new(), step: 0 };
        // What was allocated is freed with it, whatever follows.
        let held = self.held.insert(held);
        let alloc = |device: &mut dyn Device, len: usize| fence.alloc(device, grid.dtype, len * grid.dtype.size());
        let strip = self.block as usize * grid.side;
        for _ in 0..QUEUES {
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
                for _ in 0..blocks {
                    let strip = alloc(device, strip)?;
                    panels.last_mut().into_iter().for_each(|panels| panels.push(strip));
                }
            }
        }
        Ok(())
    }

    /// Lowers tiles in the step of this pivot; returns the seconds that it took. The pivot is alone among them, those of its row
    /// and column come before all others, and before those end.
    pub fn lower(&mut self, pivot: usize, tiles: &[TilePlace]) -> Result<f64, Stop> {
        let Some(held) = &mut self.held else { return Err(Stop::failed("no tiles are held")) };
        let device = &mut *self.session.device;
        if held.step != pivot {
            held.step = pivot;
            held.fresh.clear();
        }
        let started = Instant::now();
        held.provide(device, tiles)?;
        held.play(device, tiles, HeldTiles::lowering)?;
        Ok(started.elapsed().as_secs_f64())
    }

    /// Refuses kernels that wrote beside their buffers.
    pub fn demand_kept_inside(&mut self) -> Result<(), Stop> {
        let Some(held) = &self.held else { return Ok(()) };
        for fenced in held.buffers() {
            if let Some(what) = fenced.overrun(&mut *self.session.device)? {
                return Err(wrong(what));
            }
        }
        Ok(())
    }
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
        lanes.chain(self.panels.iter().flatten().flatten().copied())
    }

    /// Makes those panels that these tiles are lowered by, and others have made: from the tiles that they left.
    fn provide(&mut self, device: &mut dyn Device, tiles: &[TilePlace]) -> Result<(), Stop> {
        let pivot = self.step;
        let needed = tiles.iter().filter(|tile| **tile != [pivot, pivot]).flat_map(|&[row, column]| {
            // A tile of the pivot's row makes its own panel, and is lowered by the pivot's; so is one of the column.
            let column = if row == pivot { pivot } else { column };
            let row = if column == pivot { pivot } else { row };
            [(0, column), (1, row)]
        });
        let missing = needed.filter(|panel| !self.fresh.contains(panel));
        let tiles: BTreeSet<TilePlace> =
            missing.map(|(way, at)| if way == 0 { [pivot, at] } else { [at, pivot] }).collect();
        self.play(device, &tiles.into_iter().collect::<Vec<_>>(), HeldTiles::packing)
    }

    /// Takes tiles through the device, one after the other on each queue.
    fn play(
        &mut self,
        device: &mut dyn Device,
        tiles: &[TilePlace],
        launches: fn(&HeldTiles, &QueueTile, TilePlace) -> (Vec<Launch>, bool),
    ) -> Result<(), Stop> {
        let (bytes, pivot) = (self.grid.bytes(), self.step);
        let mut commands = Vec::new();
        for (at, &[row, column]) in tiles.iter().enumerate() {
            let queue = at % QUEUES;
            let lane = &self.lanes[queue];
            let host = self.hosts[row * self.grid.rows() + column];
            let transfer = Transfer { host, from: 0, buffer: lane.tile.id, at: 0, bytes };
            let (launches, comes_back) = launches(self, lane, [row, column]);
            commands.push(QueuedCommand { queue, action: Action::Write(transfer) });
            commands.extend(launches.into_iter().map(|launch| QueuedCommand { queue, action: Action::Launch(launch) }));
            if comes_back {
                commands.push(QueuedCommand { queue, action: Action::Read(transfer) });
            }
        }
        device.play(Some(self.program), &commands, 1, false)?;
        self.fresh.extend(tiles.iter().filter(|[row, _]| *row == pivot).map(|&[_, column]| (0, column)));
        self.fresh.extend(tiles.iter().filter(|[_, column]| *column == pivot).map(|&[row, _]| (1, row)));
        Ok(())
    }

    /// What makes panels of a tile.
    fn packing(&self, lane: &QueueTile, [row, column]: TilePlace) -> (Vec<Launch>, bool) {
        let pivot = self.step;
        let rows = (row == pivot).then(|| &self.panels[0][column]);
        let columns = (column == pivot).then(|| &self.panels[1][row]);
        let id =
            |panels: Option<&Vec<Fenced>>, block: usize, way: usize| panels.map_or(lane.spare[way], |p| p[block]).id;
        let Some(steps) = InBlocks::of(&self.plan) else { return (Vec::new(), false) };
        let packs = steps.pack().enumerate();
        (
            packs.map(|(block, pass)| bound(pass, lane.tile.id, id(rows, block, 0), id(columns, block, 1))).collect(),
            false,
        )
    }

    /// What lowers a tile, and makes panels of it if it is of the pivot's row or column.
    fn lowering(&self, lane: &QueueTile, [row, column]: TilePlace) -> (Vec<Launch>, bool) {
        let pivot = self.step;
        let Some(steps) = InBlocks::of(&self.plan) else { return (Vec::new(), false) };
        let pack = || self.packing(lane, [row, column]).0;
        let lower = || {
            let panels = self.panels[0][column].iter().zip(&self.panels[1][row]);
            steps.lower().zip(panels).map(|(pass, (rows, columns))| bound(pass, lane.tile.id, rows.id, columns.id))
        };
        let launches = if [row, column] == [pivot, pivot] {
            let [rows, columns] = lane.spare;
            let close = steps.close().iter().map(|pass| bound(pass, lane.tile.id, rows.id, columns.id));
            close.chain(pack()).collect()
        } else if row == pivot || column == pivot {
            pack().into_iter().chain(lower()).chain(pack()).collect()
        } else {
            lower().collect()
        };
        (launches, true)
    }
}

fn bound(pass: &Pass, tile: BufferId, rows: BufferId, columns: BufferId) -> Launch {
    pass.bound(|index| match index {
        InBlocks::ROWS => rows,
        InBlocks::COLUMNS => columns,
        _ => tile,
    })
}

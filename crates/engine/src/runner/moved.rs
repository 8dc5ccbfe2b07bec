//! A matrix that stays on the host and is copied or transposed: tiles of it go through the device, and each comes back to its
//! place in the result.

use super::flow::{Flow, LONG_CHUNK, QUEUES, last_chunk};
use super::prelude::*;
use super::streamed::QueueBuffers;
use super::verdict::{judge_moved, wrong};
use gpulab_model::plan::{CHUNK, Holding, HostId, Movement, RowsTransfer, Transfer};
use std::ops::Range;

/// Sides of tiles are multiples of so many elements, unless the device may hold fewer.
const GRAIN: u64 = 64;

impl Session {
    /// A matrix whose elements move.
    pub(super) fn stream_moved(
        &mut self,
        family: &Family,
        case: &Case,
        movement: Movement,
        settings: &Settings,
        bytes: u64,
        outcome: &mut Outcome,
    ) -> Result<Measured, Stop> {
        let started = Instant::now();
        let side = self.tile_side(family, case, bytes)?;
        outcome.params.insert(CHUNK.into(), format!("{}x{}", side.n, side.m));
        let mut stream =
            MovedStream { movement, side, parts: Vec::new(), bands: [Vec::new(), Vec::new()], inputs: Vec::new() };
        let done = self.set_up_tiles(&mut stream, family, case, side, outcome).and_then(|()| {
            outcome.spent.build = started.elapsed().as_secs_f64();
            self.ready_gauge(settings)?;
            self.launched = true;
            let (_, judged) = stream.run(&mut *self.device, "before timing")?;
            self.time_flow(&stream, judged, settings, outcome)
        });
        stream.strike(&mut *self.device);
        done
    }

    /// Columns and rows of a tile: as many as help, if one for each queue has room in so many bytes.
    fn tile_side(&self, family: &Family, case: &Case, bytes: u64) -> Result<Shape, Stop> {
        // About a square, so that rows on the host are long in both matrices.
        let side = ((LONG_CHUNK / case.dtype.size() as u64) as f64).sqrt() as u64;
        let mut tile = Shape { n: case.shape.n.min(side), m: case.shape.m.min(side) };
        loop {
            let needed = QUEUES * self.plan(family, &Case { shape: tile, ..case.clone() })?.1.bytes();
            if needed <= bytes.min(self.device.info().target.global_mem) {
                // All tiles about equally large.
                let even =
                    |whole: u64, side: u64| whole.div_ceil(whole.div_ceil(side)).next_multiple_of(GRAIN).min(side);
                return Ok(Shape { n: even(case.shape.n, tile.n), m: even(case.shape.m, tile.m) });
            }
            if tile.elements() == 1 {
                let what = format!("{needed} bytes of the device are the least that a stream needs");
                return Err(Refusal::Memory(format!("{what}, and it may have {bytes}: give more with --memory")).into());
            }
            let longer = if tile.n >= tile.m { &mut tile.n } else { &mut tile.m };
            *longer = longer.div_ceil(2);
        }
    }

    /// Builds the kernels and allocates: on the device for whole tiles and for those at the edges, on the host for both matrices.
    fn set_up_tiles(
        &mut self,
        stream: &mut MovedStream,
        family: &Family,
        case: &Case,
        side: Shape,
        outcome: &mut Outcome,
    ) -> Result<(), Stop> {
        let fill = family.problem.fill(case);
        stream.inputs = vec![family.problem.input(case, 0, stream.movement.input_len(), fill, case.seed)];
        for at in 0..2 {
            let [rows, band, pitch] = stream.rows(at);
            for first in (0..rows).step_by(band) {
                let bytes = band.min(rows - first) * pitch * case.dtype.size();
                stream.bands[at].push(self.device.hold(Holding::Pinned, bytes)?);
            }
        }
        stream.each_band(0, &mut *self.device, |held, own| {
            held.copy_from_slice(&stream.inputs[0].as_bytes()[own]);
            Ok(())
        })?;
        let [columns, rows] = [(case.shape.n, side.n), (case.shape.m, side.m)].map(|(whole, side)| {
            [(0, whole / side, side), (whole / side * side, u64::from(whole % side > 0), whole % side)]
        });
        for (top, down, height) in rows {
            for (left, across, width) in columns {
                if down * across == 0 {
                    continue;
                }
                let case = Case { shape: Shape { n: width, m: height }, ..case.clone() };
                let (rung, plan) = self.plan(family, &case)?;
                let program = self.build(rung, &plan)?;
                let Some(movement) = family.problem.movement(&case) else { return Err(Stop::failed("nothing moves")) };
                let places = (0..down).flat_map(|y| (0..across).map(move |x| [top + y * height, left + x * width]));
                let places: Vec<[usize; 2]> = places.map(|place| place.map(|at| at as usize)).collect();
                (outcome.wg, outcome.launches) = (plan.wg, outcome.launches + down * across * plan.passes.len() as u64);
                outcome.params.extend(plan.params.clone());
                outcome.working_set += down * across * plan.bytes();
                let fence = Fence::of(&*self.device, family, &case);
                let part = AlikeTiles { plan, program, movement, places, lanes: Vec::new() };
                stream.parts.push(part);
                let Some(part) = stream.parts.last_mut() else { continue };
                for _ in 0..part.places.len().min(QUEUES as usize) {
                    let inputs = [(case.dtype, movement.input_len())];
                    part.lanes.push(QueueBuffers::new(&mut *self.device, fence, &part.plan, &inputs)?);
                    let Some(lane) = part.lanes.last() else { continue };
                    // Nothing else ever comes between a tile's rows.
                    let between = check::poisoned(case.dtype, movement.input_len());
                    self.device.write(lane.inputs[0].id, 0, between.as_bytes())?;
                }
            }
        }
        Ok(())
    }
}

/// A matrix on its way through the device.
struct MovedStream {
    movement: Movement,
    /// Columns and rows of a whole tile.
    side: Shape,
    /// Whole tiles, and those at the edges.
    parts: Vec<AlikeTiles>,
    /// The input and the result, each in pieces of as many rows as its tiles have: a driver may allow no larger ones.
    bands: [Vec<HostId>; 2],
    inputs: Vec<Array>,
}

/// Tiles of one size.
struct AlikeTiles {
    plan: Plan,
    program: ProgramId,
    movement: Movement,
    /// Of each tile its first row and column in the input.
    places: Vec<[usize; 2]>,
    lanes: Vec<QueueBuffers>,
}

impl MovedStream {
    /// Rows of the input (0) or the result (1), those of a band, and elements from one row to the next.
    fn rows(&self, at: usize) -> [usize; 3] {
        let Movement { rows, from_pitch, to_pitch, transposed, .. } = self.movement;
        let [columns, side] = [self.movement.columns, self.side.m as usize];
        match (at, transposed) {
            (0, _) => [rows, side, from_pitch],
            (_, true) => [columns, self.side.n as usize, to_pitch],
            (_, false) => [rows, side, to_pitch],
        }
    }

    fn tile_commands(&self, part: &AlikeTiles) -> Vec<QueuedCommand> {
        let whole = &self.movement;
        let tile = &part.movement;
        let size = self.inputs[0].dtype().size();
        let output = part.plan.outputs().next();
        let mut commands = Vec::new();
        for (at, &[row, column]) in part.places.iter().enumerate() {
            let queue = at % part.lanes.len();
            let lane = &part.lanes[queue];
            let [band, from] = [row / self.side.m as usize, column * size];
            let first = Transfer {
                host: self.bands[0][band],
                from,
                buffer: lane.inputs[0].id,
                at: 0,
                bytes: tile.columns * size,
            };
            let [host_pitch, buffer_pitch] = [whole.from_pitch, tile.from_pitch].map(|pitch| pitch * size);
            let mut actions =
                vec![Action::WriteRows(RowsTransfer { first, rows: tile.rows, host_pitch, buffer_pitch })];
            actions.extend(lane.bound.launches().into_iter().map(Action::Launch));
            let [band, from] = match whole.transposed {
                true => [column / self.side.n as usize, row * size],
                false => [band, from],
            };
            let bytes = tile.output_columns() * size;
            let first = output.map(|index| Transfer {
                host: self.bands[1][band],
                from,
                buffer: lane.bound.id(index),
                at: 0,
                bytes,
            });
            let [host_pitch, buffer_pitch] = [whole.to_pitch, tile.to_pitch].map(|pitch| pitch * size);
            let rows = tile.output_rows();
            actions.extend(first.map(|first| Action::ReadRows(RowsTransfer { first, rows, host_pitch, buffer_pitch })));
            commands.extend(actions.into_iter().map(|action| QueuedCommand { queue, action }));
        }
        commands
    }

    /// Visits the bands of the input (0) or of the result (1), with their places among the matrix's bytes.
    fn each_band(
        &self,
        at: usize,
        device: &mut dyn Device,
        mut visit: impl FnMut(&mut [u8], Range<usize>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut from = 0;
        for &band in &self.bands[at] {
            let held = device.held(band)?;
            let own = from..from + held.len();
            from = own.end;
            visit(held, own)?;
        }
        Ok(())
    }

    /// What the input's buffer of a tile holds once its rows are copied.
    fn input_tile(&self, part: &AlikeTiles, [row, column]: [usize; 2]) -> Array {
        let whole = &self.movement;
        let tile = &part.movement;
        let matrix = &self.inputs[0];
        let size = matrix.dtype().size();
        let mut buffer = check::poisoned(matrix.dtype(), tile.input_len());
        for (at, own) in buffer.as_bytes_mut().chunks_exact_mut(tile.from_pitch * size).enumerate() {
            let from = ((row + at) * whole.from_pitch + column) * size;
            own[..tile.columns * size].copy_from_slice(&matrix.as_bytes()[from..][..tile.columns * size]);
        }
        buffer
    }

    /// Gives everything back.
    fn strike(self, device: &mut dyn Device) {
        self.parts.into_iter().flat_map(|part| part.lanes).for_each(|lane| lane.free(device));
        self.bands.into_iter().flatten().for_each(|host| device.let_go(host));
    }
}

impl Flow for MovedStream {
    fn commands(&self) -> Vec<(ProgramId, Vec<QueuedCommand>)> {
        self.parts.iter().map(|part| (part.program, self.tile_commands(part))).collect()
    }

    fn run(&self, device: &mut dyn Device, when: &str) -> Result<(f64, Judged), Stop> {
        let dtype = self.inputs[0].dtype();
        let poison = check::poison(dtype);
        self.each_band(1, device, |held, _| {
            held.chunks_exact_mut(poison.len()).for_each(|element| element.copy_from_slice(&poison));
            Ok(())
        })?;
        for part in &self.parts {
            for lane in &part.lanes {
                lane.bound.poison(device)?;
            }
        }
        let seconds = self.play(device, |_| true)?;
        let mut result = Array::zeros(dtype, self.movement.output_len());
        self.each_band(1, device, |held, own| {
            result.as_bytes_mut()[own].copy_from_slice(held);
            Ok(())
        })?;
        Ok((seconds, judge_moved(&result, &self.inputs, &self.movement, when)?))
    }

    fn demand_kept_inside(&self, device: &mut dyn Device) -> Result<(), Stop> {
        for part in &self.parts {
            for (queue, lane) in part.lanes.iter().enumerate() {
                lane.demand_kept_inside(device)?;
                let last = last_chunk(part.places.len(), queue, part.lanes.len());
                let print = check::fingerprint(self.input_tile(part, part.places[last]).as_bytes());
                if !lane.inputs[0].is_unchanged(device, print)? {
                    return Err(wrong("the kernel changed its input".into()));
                }
            }
        }
        self.each_band(0, device, |held, own| match *held == self.inputs[0].as_bytes()[own] {
            true => Ok(()),
            false => Err(wrong("the input on the host has changed".into())),
        })
    }
}

//! What computes a graph's distances in tiles: one device or several, while the matrix stays in the host's memory.

use super::computer::{Solver, case};
use crate::Error;
use crate::bench;
use crate::cpu::minplus::Semiring;
use crate::data::Array;
use crate::graph::{self, Graph};
use crate::kernels::Rung;
use crate::kernels::minplus::CLOSURE;
use crate::outcome::{DeviceInfo, Stop};
use crate::plan::Case;
use crate::runner::TileWorker;
use crate::team::{Hand, TiledClosure, TilesDone, close};
use crate::worker::{Setup, open_session, within};
use std::path::PathBuf;
use std::time::Duration;

pub(super) struct TiledSolver {
    /// Each with its rungs, the best first.
    devices: Vec<(DeviceInfo, Vec<&'static Rung>)>,
    cl_dir: Option<PathBuf>,
    /// Most bytes of each device.
    memory: u64,
    limit: Duration,
    case: Case,
    semiring: Semiring,
    is_verbose: bool,
    /// What is known of the answer, once there is one.
    found: Option<TiledClosure>,
}

impl TiledSolver {
    pub(super) fn new(
        devices: Vec<(DeviceInfo, Vec<&'static Rung>)>,
        cl_dir: Option<PathBuf>,
        memory: u64,
        limit: Duration,
        graph: &Graph,
        is_verbose: bool,
    ) -> TiledSolver {
        let case = Case { variant: "tiles".into(), ..case(&CLOSURE, graph) };
        TiledSolver { devices, cl_dir, memory, limit, case, semiring: graph.semiring, is_verbose, found: None }
    }

    /// A device that may take part.
    fn hand<'a>(&'a self, (info, rungs): &'a (DeviceInfo, Vec<&'static Rung>)) -> Hand<'a> {
        let open = || {
            let setup = Setup { device: Some(info.selector.clone()), cl_dir: self.cl_dir.clone(), ..Setup::default() };
            let session = open_session(&setup).map_err(|error| Stop::failed(error.to_string()))?;
            let cases = rungs.iter().map(|rung| (*rung, Case { variant: rung.variant().into(), ..self.case.clone() }));
            TileWorker::new(session, &cases.collect::<Vec<_>>())
        };
        Hand { name: info.selector.clone(), open: Box::new(open) }
    }
}

impl Solver for TiledSolver {
    fn compute(&mut self, inputs: &[Array]) -> Result<Array, Error> {
        let weights = graph::on_device(self.semiring, &inputs[0]);
        let hands = self.devices.iter().map(|device| self.hand(device)).collect();
        let found = within(self.limit, "computing distances", || {
            close(hands, self.case.shape.n as usize, &weights, self.semiring, self.memory)
        });
        let mut found = found.map_err(|stop| bench::stopped(&self.case, stop))?;
        let distances = std::mem::replace(&mut found.distances, Array::zeros(weights.dtype(), 0));
        self.found = Some(found);
        Ok(graph::from_device(self.semiring, distances))
    }

    fn name(&self) -> String {
        format!("{} in tiles", self.case.family)
    }

    fn report(&self, note: &dyn Fn(&str)) {
        let Some(found) = &self.found else { return };
        found.lost.iter().for_each(|why| note(&format!("{why}; others did it")));
        let rows = found.grid.rows();
        let side = found.grid.side;
        let [went_in, came_out] = found.moved.map(|bytes| bytes as f64 * 1e-9);
        note(&format!(
            "{} of {side} x {side}, {rows} a side: {:.4} s of kernels and copies, {:.4} s in all; {went_in:.2} GB went in, {came_out:.2} GB came out",
            self.name(),
            found.seconds,
            found.whole,
        ));
        if self.is_verbose {
            let [pivot, crosses, rest] = found.rounds;
            note(&format!(
                "the first pivot took {pivot:.4} s, the pivots' rows and columns {crosses:.4} s, all other tiles {rest:.4} s"
            ));
        }
        if found.done.len() > 1 {
            let all: usize = found.done.iter().map(|done| done.tiles).sum();
            let share =
                |done: &TilesDone| format!("{} ({}) {} in {:.4} s", done.name, done.rung, done.tiles, done.busy);
            let shares: Vec<String> = found.done.iter().map(share).collect();
            note(&format!("shares of {all} tiles: {}", shares.join(", ")));
        }
        if rows == 1 {
            note("one tile has no other whose copies could go on behind its kernels: give less --memory for several");
        }
    }
}

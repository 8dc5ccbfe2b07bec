//! `--why`: the reasons of a ladder's steps, live and recorded.

use super::run::{Counting, open, small};
use crate::Error;
use crate::ceilings::{self, CeilingRow};
use crate::count::{CountRow, LockstepModel};
use crate::kernels::Registry;
use crate::record::Row;
use crate::report::{self, format};
use crate::simulator::Simulator;
use crate::store::of_csv;
use crate::terminal::{Screen, say};
use crate::why::{DeviceRates, case_of, is_counted_of, reasons};
use std::path::Path;
use std::time::Duration;

/// Counts of the recorded ladders' kernels and settings: what `gpulab count --of` writes of them.
const SHIPPED: &[u8] = include_bytes!("../../data/counts.csv");

/// The counts that come with gpulab.
pub(crate) fn shipped() -> Result<Vec<CountRow>, Error> {
    Ok(of_csv(SHIPPED, "data/counts.csv")?.0)
}

/// Counts of these rows' kernels: those that come with gpulab, and of other settings, or of the user's own kernels, those that
/// the simulator gives now, if it is there.
pub(crate) fn counts(
    registry: &Registry,
    rows: &[Row],
    cl_dir: Option<&Path>,
    quiet: bool,
) -> Result<Vec<CountRow>, Error> {
    let mut counts = if cl_dir.is_some() { Vec::new() } else { shipped()? };
    let is_missing =
        |row: &&Row| case_of(registry, row).is_some() && !counts.iter().any(|count| is_counted_of(count, row));
    let missing: Vec<Row> = rows.iter().filter(is_missing).cloned().collect();
    if missing.is_empty() {
        return Ok(counts);
    }
    let simulator = match ceilings::folder().and_then(|folder| Simulator::prepare(&folder)) {
        Ok(simulator) => simulator,
        Err(error) => {
            say(&format!("--why: not all rungs are counted with these settings; {error}"));
            return Ok(counts);
        }
    };
    let model = LockstepModel::USUAL;
    let mut worker = open(registry, &simulator, model, cl_dir, Duration::from_secs(60))?;
    let cases = small(registry, &missing, worker.target());
    let mut counting = Counting { lines: false, quiet, simulator: &simulator.version, model, rows: Vec::new() };
    counting.run(&mut worker, &cases, &mut |_| ())?;
    counts.append(&mut counting.rows);
    Ok(counts)
}

/// The ceilings of the device that a row is from.
pub(crate) fn of_device(ceilings: &[CeilingRow], row: &Row) -> Vec<CeilingRow> {
    ceilings.iter().filter(|ceiling| ceiling.device == row.device).cloned().collect()
}

/// Whether a ladder's reasons are those of a GPU; none if this device's ceilings tell no reasons.
pub(crate) fn model_of(rows: &[Row], ceilings: &[CeilingRow]) -> Option<bool> {
    let is_gpu = !rows.iter().find(|row| !row.on_host() && row.t_median_s.is_some())?.is_on_cpu_device();
    DeviceRates::new(ceilings, is_gpu).is_ok().then_some(is_gpu)
}

/// The reasons of a ladder's rows, by these ceilings of its device, without what the model is; or why there are none.
pub(crate) fn text(
    registry: &Registry,
    rows: &[Row],
    counts: &[CountRow],
    ceilings: &[CeilingRow],
    screen: Screen,
) -> String {
    let Some(row) = rows.iter().find(|row| !row.on_host()) else { return String::new() };
    let is_gpu = !row.is_on_cpu_device();
    match DeviceRates::new(ceilings, is_gpu) {
        Ok(rates) => report::why::text(&reasons(registry, rows, counts, &rates), is_gpu, screen),
        Err(missing) => format::wrap(&report::why::without_limit(&missing, &row.device), screen.width, "  "),
    }
}

//! `--why`: the reasons of a ladder's steps, live and recorded.

use super::run::{Counting, open, small};
use crate::ceilings;
use crate::count::LockstepModel;
use crate::prelude::*;
use crate::simulator::Simulator;
use crate::store::of_csv;
use crate::why::{case_of, is_counted_of};

/// Counts of the recorded ladders' kernels and settings: what `gpulab count --of` writes of them.
const SHIPPED: &[u8] = include_bytes!("../../data/counts.csv");

/// The same by line, of what GPUs ran: what `scripts/count_lines` writes.
const SHIPPED_LINES: &[u8] = include_bytes!("../../data/counts_lines.csv");

pub(crate) fn shipped() -> Result<Vec<CountRow>, Error> {
    let mut counts: Vec<CountRow> = of_csv(SHIPPED, "data/counts.csv")?.0;
    counts.append(&mut of_csv(SHIPPED_LINES, "data/counts_lines.csv")?.0);
    Ok(counts)
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

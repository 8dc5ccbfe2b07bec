//! The reasons of a ladder's steps, as text: why each pays or not.

use crate::format::{self, Screen};
use gpulab_kernels::Registry;
use gpulab_record::Row;
use gpulab_study::ceilings::CeilingRow;
use gpulab_study::count::CountRow;
use gpulab_study::why::{DeviceRates, reasons};
use std::collections::BTreeSet;

/// Runs, and the limits that were recorded with them.
pub type RunLimits = (BTreeSet<String>, Vec<CeilingRow>);

/// The limits of a row's device that were recorded with its run.
pub fn of_run(limits: &[RunLimits], row: &Row) -> Vec<CeilingRow> {
    let own = limits.iter().find(|(runs, _)| runs.contains(&row.run_id)).map_or(&[][..], |(_, own)| own);
    own.iter().filter(|limit| (&limit.device, &limit.driver) == (&row.device, &row.driver)).cloned().collect()
}

/// Whether a ladder's reasons are those of a GPU; none if this device's ceilings tell no reasons.
pub fn model_of(rows: &[Row], ceilings: &[CeilingRow]) -> Option<bool> {
    let is_gpu = !rows.iter().find(|row| !row.on_host() && row.t_median_s.is_some())?.is_on_cpu_device();
    DeviceRates::new(ceilings, is_gpu).is_ok().then_some(is_gpu)
}

/// The reasons of a ladder's rows, by these ceilings of its device, without what the model is; or why there are none.
pub fn text(registry: &Registry, rows: &[Row], counts: &[CountRow], ceilings: &[CeilingRow], screen: Screen) -> String {
    let Some(row) = rows.iter().find(|row| !row.on_host()) else { return String::new() };
    let is_gpu = !row.is_on_cpu_device();
    match DeviceRates::new(ceilings, is_gpu) {
        Ok(rates) => crate::why::text(&reasons(registry, rows, counts, &rates), screen),
        Err(missing) => format::wrap(&crate::why::without_limit(missing, &row.device), screen.width, "  "),
    }
}

//! Reasons and payoffs of what was just measured, by the limits that are kept of its device.

use super::why;
use crate::prelude::*;
use crate::shown::kept_of;
use crate::why::{DeviceRates, LadderReasons, Payoffs, reasons};
use std::slice::from_ref;

/// The reasons of a ladder's rows; or which limit of the device is not known.
pub(crate) fn reasons_of(
    registry: &Registry,
    rows: &[Row],
    quiet: bool,
) -> Result<Result<LadderReasons, String>, Error> {
    let Some(row) = rows.first() else { return Ok(Err("a rung".to_owned())) };
    match DeviceRates::new(&kept_of(row), !row.is_on_cpu_device()) {
        Ok(rates) => Ok(Ok(reasons(registry, rows, &why::counts(registry, rows, None, quiet)?, &rates))),
        Err(missing) => Ok(Err(missing)),
    }
}

/// What would pay most of a kernel: by the model where the limits of its GPU are kept, otherwise by the counts of this case
/// alone.
pub(crate) fn payoffs(
    registry: &Registry,
    row: &Row,
    case: &[CountRow],
    quiet: bool,
) -> Result<Option<Payoffs>, Error> {
    let why = if row.is_on_cpu_device() { None } else { reasons_of(registry, from_ref(row), quiet)?.ok() };
    Ok(why.and_then(|mut why| why.rungs.pop()?.payoffs).or_else(|| Payoffs::of_case(case)))
}

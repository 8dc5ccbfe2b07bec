//! What would pay most of a kernel that was measured.

use super::why;
use crate::Error;
use crate::count::CountRow;
use crate::kernels::Registry;
use crate::record::Row;
use crate::report::shown::reasons::of_device;
use crate::shown::add_kept;
use crate::why::{DeviceRates, Payoffs, reasons};
use std::slice::from_ref;

/// By the model where the limits of the row's GPU are kept, otherwise by the counts of this case alone.
pub(crate) fn payoffs(
    registry: &Registry,
    row: &Row,
    case: &[CountRow],
    quiet: bool,
) -> Result<Option<Payoffs>, Error> {
    let mut ceilings = Vec::new();
    add_kept(&mut ceilings, from_ref(row));
    let rates = DeviceRates::new(&of_device(&ceilings, row), true).ok().filter(|_| !row.is_on_cpu_device());
    let Some(rates) = rates else { return Ok(Payoffs::of_case(case)) };
    let counts = why::counts(registry, from_ref(row), None, quiet)?;
    let rung = reasons(registry, from_ref(row), &counts, &rates).rungs.pop();
    Ok(rung.and_then(|rung| rung.payoffs).or_else(|| Payoffs::of_case(case)))
}

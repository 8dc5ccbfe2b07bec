//! Whether what a run left is right: its output, the memory beside its buffers, and its inputs.

use super::buffers::joined;
use super::prelude::*;
use super::verdict::{tails, wrong};

/// What a run left: its output, if all of it was written and nothing beside it, completed on the host with the inputs' tails.
pub(super) fn finished(
    device: &mut dyn Device,
    job: &ReadyCase<'_>,
    bound: &BoundPlan,
    tails: &[Array],
) -> Result<Array, Stop> {
    demand_guards(device, bound)?;
    completed(device, job, bound, tails)
}

/// As [`finished`], without a look beside the buffers.
pub(super) fn completed(
    device: &mut dyn Device,
    job: &ReadyCase<'_>,
    bound: &BoundPlan,
    tails: &[Array],
) -> Result<Array, Stop> {
    let outputs = bound.outputs(device)?;
    if let Some(what) = bound.left_over(device)? {
        return Err(wrong(what));
    }
    // Of moved elements the check itself finds those that were not written, and skips what lies between rows.
    if job.family.problem.movement(job.case).is_none() {
        for (buffer, output) in job.plan.outputs().zip(&outputs) {
            if let Some(index) = check::still_poisoned(output)
                && let Some(what) = unwritten(device, job, bound, (buffer, index))?
            {
                return Err(wrong(what));
            }
        }
    }
    Ok(job.family.problem.finish(job.case, joined(outputs), tails))
}

/// What is seen of an element of this output buffer that holds the poison, after a run into another poison as well. It may have that
/// value and be right: then it has it again, and there is nothing to say.
pub(super) fn unwritten(
    device: &mut dyn Device,
    job: &ReadyCase<'_>,
    bound: &BoundPlan,
    (buffer, index): (usize, usize),
) -> Result<Option<String>, Stop> {
    bound.poison_with(device, check::other_poison)?;
    device.run(job.program, &bound.launches())?;
    let again = bound.part(device, buffer, index, 1)?;
    if check::still_poisoned(&again).is_some() {
        // As it was: what else holds the first poison is looked at, too.
        bound.poison(device)?;
        device.run(job.program, &bound.launches())?;
        return Ok(None);
    }
    Ok(Some(match again.as_bytes() == check::other_poison(again.dtype()) {
        true => format!("element {index} of the output holds the value that was there before the run"),
        // It was computed with the poison, which is NaN.
        false if again.dtype().is_float() => format!("element {index} of the output: {}", check::NAN_COMPUTED),
        false => format!("element {index} of the output changes with the value that was there before the run"),
    }))
}

/// Checks what a run over these data left.
pub(super) fn judge(
    device: &mut dyn Device,
    job: &ReadyCase<'_>,
    bound: &BoundPlan,
    data: &Data,
    when: &str,
) -> Result<Judged, Stop> {
    let got = finished(device, job, bound, &tails(&job.plan, &data.host))?;
    data.judge(&got, job.family, job.case, job.plan.depth, when)
}

/// Nothing is to be written beside a buffer.
pub(super) fn demand_guards(device: &mut dyn Device, bound: &BoundPlan) -> Result<(), Stop> {
    bound.overrun(device)?.map_or(Ok(()), |what| Err(wrong(what)))
}

/// Inputs are only to be read.
pub(super) fn demand_inputs(device: &mut dyn Device, bound: &BoundPlan, data: &Data) -> Result<(), Stop> {
    let changed = match (&data.host, data.printer) {
        (Inputs::Drawn(_), Some(printer)) => bound.changed_drawn(device, printer, &data.drawn_prints)?,
        _ => bound.changed_input(device, data.prints())?,
    };
    match changed {
        Some(input) => Err(wrong(format!("the kernel changed its input {input}"))),
        None => Ok(()),
    }
}

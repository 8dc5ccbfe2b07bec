//! Whether what a run left is right: its output, the memory beside its buffers, and its inputs.

use super::buffers::BoundPlan;
use super::inputs::Data;
use super::outcome::{Number, Status, Stop};
use super::session::ReadyCase;
use crate::check::{self, Verdict};
use crate::data::{Array, Inputs};
use crate::device::Device;
use crate::plan::{Movement, Plan, Reference};

/// A result over real data that passed its check.
#[derive(Clone, Copy)]
pub(super) struct Judged {
    /// The largest error, and the error allowed; none where it has no size, as beside an infinite input.
    pub(super) max_err: Option<f64>,
    pub(super) tol: Option<f64>,
    /// The result, if it is a single number.
    pub(super) value: Option<Number>,
}

impl Judged {
    /// What a script's runs left, all of which was compared and found equal.
    pub(super) fn equal() -> Judged {
        Judged { max_err: Some(0.0), tol: Some(0.0), value: None }
    }

    /// The answer to no elements, of which there is nothing to check.
    pub(super) fn of_nothing(value: Option<Number>) -> Judged {
        Judged { value, ..Judged::equal() }
    }
}

/// What a run left: its output, if all of it was written and nothing beside it, completed on the host with the inputs' tails.
pub(super) fn finished(
    device: &mut dyn Device,
    job: &ReadyCase<'_>,
    bound: &BoundPlan,
    tails: &[Array],
) -> Result<Array, Stop> {
    demand_guards(device, job, bound)?;
    completed(device, job, bound, tails)
}

/// As [`finished`], without a look beside the buffers.
pub(super) fn completed(
    device: &mut dyn Device,
    job: &ReadyCase<'_>,
    bound: &BoundPlan,
    tails: &[Array],
) -> Result<Array, Stop> {
    let output = bound.output(device, &job.plan)?;
    if let Some(what) = bound.left_over(device, &job.plan)? {
        return Err(wrong(what));
    }
    // Of moved elements the check itself finds those that were not written, and skips what lies between rows.
    if job.family.problem.movement(job.case).is_none()
        && let Some(index) = check::still_poisoned(&output)
        && let Some(what) = unwritten(device, job, bound, index)?
    {
        return Err(wrong(what));
    }
    Ok(job.family.problem.finish(job.case, output, tails))
}

/// What is seen of an element of the output that holds the poison, after a run into another poison as well. It may have that
/// value and be right: then it has it again, and there is nothing to say.
pub(super) fn unwritten(
    device: &mut dyn Device,
    job: &ReadyCase<'_>,
    bound: &BoundPlan,
    index: usize,
) -> Result<Option<String>, Stop> {
    bound.poison_with(device, &job.plan, check::other_poison)?;
    device.run(job.program, &bound.launches(&job.plan))?;
    let again = bound.output_part(device, &job.plan, index, 1)?;
    if check::still_poisoned(&again).is_some() {
        // As it was: what else holds the first poison is looked at, too.
        bound.poison(device, &job.plan)?;
        device.run(job.program, &bound.launches(&job.plan))?;
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
pub(super) fn demand_guards(device: &mut dyn Device, job: &ReadyCase<'_>, bound: &BoundPlan) -> Result<(), Stop> {
    bound.overrun(device, &job.plan)?.map_or(Ok(()), |what| Err(wrong(what)))
}

/// Inputs are only to be read.
pub(super) fn demand_inputs(
    device: &mut dyn Device,
    job: &ReadyCase<'_>,
    bound: &BoundPlan,
    data: &Data,
) -> Result<(), Stop> {
    let changed = match (&data.host, data.printer) {
        (Inputs::Drawn(_), Some(printer)) => bound.changed_drawn(device, &job.plan, printer, &data.drawn_prints)?,
        _ => bound.changed_input(device, &job.plan, data.prints())?,
    };
    match changed {
        Some(input) => Err(wrong(format!("the kernel changed its input {input}"))),
        None => Ok(()),
    }
}

pub(super) fn judge_moved(got: &Array, inputs: &[Array], movement: &Movement, when: &str) -> Result<Judged, Stop> {
    let [input] = inputs else { return Err(Stop::failed("elements are moved from one input")) };
    demand(check::check_moved(got, input, movement), when).map(|verdict| judged(verdict, None))
}

/// Judges a result. Over real data, so many roundings that no bound is left make S itself the bound: then only the exact
/// data, which every case is checked over as well, can tell right from wrong.
pub(super) fn judge_real(got: &Array, reference: &Reference, depth: u64, when: &str) -> Result<Judged, Stop> {
    let most = (0.09 / got.dtype().unit_roundoff()) as u64;
    let mut verdict = check::check_result(got, reference, depth.min(most));
    if let Reference::Rounded(sum) = reference
        && depth > most
        && sum.magnitude.is_finite()
        && verdict.max_err <= sum.magnitude
    {
        verdict = Verdict { ok: true, tol: sum.magnitude, why: None, ..verdict };
    }
    demand(verdict, when).map(|verdict| judged(verdict, single(got)))
}

fn judged(Verdict { max_err, tol, .. }: Verdict, value: Option<Number>) -> Judged {
    let sized = |error: f64| Some(error).filter(|error| error.is_finite());
    Judged { max_err: sized(max_err), tol: sized(tol), value }
}

pub(super) fn demand(verdict: Verdict, when: &str) -> Result<Verdict, Stop> {
    if verdict.ok { Ok(verdict) } else { Err(wrong(format!("{} ({when})", verdict.why.unwrap_or_default()))) }
}

pub(super) fn wrong(reason: String) -> Stop {
    Stop::new(Status::WrongResult, reason)
}

/// What the plan leaves of its inputs to the host.
pub(super) fn tails(plan: &Plan, inputs: &Inputs) -> Vec<Array> {
    plan.host_tail.map_or_else(Vec::new, |start| inputs.tails(start as usize))
}

/// The value of an array of one element.
pub(super) fn single(array: &Array) -> Option<Number> {
    if array.len() != 1 {
        return None;
    }
    Some(match array {
        Array::F32(v) => Number::Real(f64::from(v[0])),
        Array::F64(v) => Number::Real(v[0]),
        Array::I32(v) => Number::Integer(i64::from(v[0])),
        Array::I64(v) => Number::Integer(v[0]),
    })
}

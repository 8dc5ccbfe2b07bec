//! A result beside what is right.

use super::prelude::*;
use gpulab_model::check::Verdict;
use gpulab_model::outcome::{Number, Status};
use gpulab_model::plan::Movement;

pub(super) fn judge_moved(got: &Array, inputs: &[Array], movement: &Movement, when: &str) -> Result<Judged, Stop> {
    let [input] = inputs else { return Err(Stop::failed("elements are moved from one input")) };
    demand(check::check_moved(got, input, movement), when).map(|verdict| judged(verdict, None))
}

/// Judges a result. Over real data, so many roundings that no bound is left make S itself the bound: then only the exact
/// data, which every case is checked over as well, can tell right from wrong.
pub(crate) fn judge_real(got: &Array, reference: &Reference, depth: u64, when: &str) -> Result<Judged, Stop> {
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

pub(crate) fn single(array: &Array) -> Option<Number> {
    if array.len() != 1 {
        return None;
    }
    Some(match array {
        Array::F32(v) => Number::Real(f64::from(v[0])),
        Array::F64(v) => Number::Real(v[0]),
        Array::I32(v) => Number::Integer(i64::from(v[0])),
        Array::I64(v) => Number::Integer(v[0]),
        Array::U8(v) => Number::Integer(v[0].into()),
    })
}

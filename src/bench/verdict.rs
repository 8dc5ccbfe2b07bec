//! The errors that measured rows make.

use crate::prelude::*;
use crate::record::COPY;
use std::borrow::Borrow;

/// The error that a case makes which ended without a measurement.
pub(crate) fn stopped(case: &Case, stop: Stop) -> Error {
    let text = format!("{}/{}: {}", case.family, case.variant, stop.reason);
    match stop.status {
        Status::Skipped => Error::Usage(text),
        Status::BuildFailed => Error::BuildFailed(text),
        Status::WrongResult => Error::WrongResult(text),
        _ => Error::Failed(text),
    }
}

/// The error that the worst row makes, in the order that the exit codes have.
pub(crate) fn worst(rows: &[Row], strict: bool) -> Result<(), Error> {
    worst_named(&rows.iter().map(|row| (name(row), row)).collect::<Vec<_>>(), strict)
}

/// As [`worst`], of rows with names.
pub(crate) fn worst_named<R: Borrow<Row>>(rows: &[(String, R)], strict: bool) -> Result<(), Error> {
    let find = |is_meant: &dyn Fn(&Row) -> bool| rows.iter().find(|(_, row)| is_meant(row.borrow()));
    let wrong = gone_wrong(|status| find(&|row| row.status == status).map(|(name, _)| name.clone()));
    wrong.map_err(|error| match (error, find(&|row| row.status == Status::WrongResult)) {
        // Of a reader's kernel the mistake is looked for in the kernel.
        (Error::WrongResult(text), Some((_, row))) if built_in(&row.borrow().family).is_some() => {
            Error::WrongResult(format!("{text}; gpulab devices lists other drivers to compare with"))
        }
        (error, _) => error,
    })?;
    // The CPU baselines and the plain copy say nothing of a kernel.
    let of_kernels = |row: &Row| !row.on_host() && row.variant != COPY;
    let measured = find(&|row| of_kernels(row) && row.status == Status::Ok);
    match find(&Row::is_doubtful) {
        _ if strict && measured.is_none() && find(&of_kernels).is_some() => {
            Err(Error::Untrusted("no case was measured: each was skipped, for the reason above".into()))
        }
        Some((name, row)) if strict => {
            Err(Error::Untrusted(format!("{name} cannot be trusted: {}", row.borrow().flags)))
        }
        _ => Ok(()),
    }
}

/// The error that the worst end makes; `find` names the first that ended so.
pub(crate) fn gone_wrong(find: impl Fn(Status) -> Option<String>) -> Result<(), Error> {
    if let Some(who) = find(Status::WrongResult) {
        return Err(Error::WrongResult(format!("{who} gave a wrong result: it was not timed")));
    }
    if let Some(who) = find(Status::BuildFailed) {
        return Err(Error::BuildFailed(format!("{who} did not build: its log is above")));
    }
    if let Some(who) = find(Status::Failed).or_else(|| find(Status::Timeout)) {
        return Err(Error::Failed(format!("{who} did not finish: the reason is above")));
    }
    match find(Status::Suspect) {
        // Its result is right, so that it is not a wrong one: it is the time that nobody can trust.
        Some(who) => Err(Error::Untrusted(format!("{who} is faster than the device can be: the reason is above"))),
        None => Ok(()),
    }
}

fn name(row: &Row) -> String {
    let inside = if row.repeats().is_some() { " (inside)" } else { "" };
    row.rung.map_or_else(|| row.variant.clone(), |_| format!("{}/{}", row.family, row.variant)) + inside
}

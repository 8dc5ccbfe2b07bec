//! Grades as JSON.

use crate::cli::ExerciseCheck;
use crate::store::Deferred;
use crate::{Error, outputs};

/// Opens the file for JSON, before anything runs.
pub(crate) fn json_file(options: &ExerciseCheck) -> Result<Option<Deferred>, Error> {
    options.json.as_deref().filter(|path| *path != "-").map(Deferred::open).transpose()
}

pub(crate) fn as_json(value: &impl serde::Serialize) -> Result<String, Error> {
    serde_json::to_string_pretty(value).map_err(|e| Error::Failed(e.to_string()))
}

pub(crate) fn write(file: &mut Deferred, value: &impl serde::Serialize) -> Result<(), Error> {
    outputs::replace(file, &(as_json(value)? + "\n"))
}

//! Who runs cases, whatever runs them.

use super::{DeviceInfo, Outcome, Settings};
use crate::Error;
use crate::plan::Case;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Whether the variant names a CPU baseline instead of a rung.
    pub baseline: bool,
    pub case: Case,
    pub settings: Settings,
    /// Whether a case that this worker has verified before is only timed once more.
    #[serde(default)]
    pub again: bool,
}

/// Runs jobs on the one device that it was opened on.
pub trait Executor {
    fn info(&self) -> &DeviceInfo;

    /// Has the next job run in a fresh process, with buffers of its own, where jobs run in processes.
    fn renew(&mut self) {}

    /// Asks what is right for a case of a reader's own family, as its rungs will: who cannot answer now will not then. Who it
    /// is, in words.
    fn ask_reference(&mut self, _: &Case) -> Result<Option<String>, Error> {
        Ok(None)
    }

    /// Runs one job. A failed case is an [`Outcome`]; an error ends the whole run.
    fn run(&mut self, job: &Job) -> Result<Outcome, Error>;
}

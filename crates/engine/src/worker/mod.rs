//! Cases run in a process of their own, so that a driver that crashes or hangs costs one row.
//!
//! The parent sends [`Request`]s and the worker answers with [`Reply`]s, one JSON object a line, over the
//! worker's standard input and output. The worker makes or reads the data itself; arrays never cross.
//!
//! What a driver or a kernel prints cannot get among the replies: the worker takes its standard output from them
//! ([`gpulab_record::terminal`]). Where a system has no way to, the number of the request still has to be in the reply, and
//! nobody can guess that.

mod apart;
pub(crate) mod printed;
mod process;
mod serve;

pub use apart::{apart, end_when_interrupted, within};
pub use process::{Interrupted, Lost, Tell, WorkerProcess};
pub use serve::{open_session, serve};

use crate::device::{BuildUnit, TriedBuild};
use crate::runner::{PairJob, Session};
use gpulab_kernels::{FamilyFile, OwnKernel, Registry};
use gpulab_model::data::{Dtype, Fill};
use gpulab_model::outcome::{
    DeviceInfo, Executor, Inspected, Job, LaunchedOnce, Outcome, ProgramBinary, Stop, Symptoms,
};
use gpulab_model::plan::Case;
use gpulab_model::{Error, Result};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// As given to `--device`.
    pub device: Option<String>,
    /// A folder of kernel sources in place of the built-in ones.
    pub cl_dir: Option<PathBuf>,
    /// Files of real inputs, one for each input of the problem.
    pub inputs: Vec<String>,
    /// The element type that the files are read as.
    pub dtype: Option<Dtype>,
    /// In place of random numbers.
    pub fill: Option<Fill>,
    /// A kernel that is launched once may have a wrong result, to be looked at.
    pub may_be_wrong: bool,
    /// Plans are made as for a GPU of so many compute units: for a simulator, which says of itself that it is every kind of
    /// device.
    pub as_gpu: Option<u32>,
    /// Whether the simulator gives kernels the functions of sub-groups, of which its device says nothing.
    pub subgroups: bool,
    /// Readers' kernels, which become rungs of their families.
    pub own: Vec<OwnKernel>,
    pub families: Vec<FamilyFile>,
    /// Bytes that a worker process may take beyond what it has once its device is open: for kernels that nobody trusts. Of
    /// CPU devices only, as the drivers of GPUs reserve addresses without end.
    pub memory: Option<u64>,
}

impl Setup {
    /// With what a registry has of readers.
    pub fn of(registry: &Registry) -> Setup {
        Setup {
            own: registry.own.clone(),
            families: registry.files.clone(),
            ..Setup::default()
        }
    }
}

/// What is put round a worker process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wrapper {
    /// A simulator that brings its own OpenCL.
    pub program: Option<PathBuf>,
    /// Its arguments; the worker's command line follows them.
    pub args: Vec<OsString>,
    pub variables: Vec<(&'static str, OsString)>,
}

/// Without a process of its own.
impl Executor for Session {
    fn info(&self) -> &DeviceInfo {
        self.device().info()
    }

    fn ask_reference(&mut self, case: &Case) -> Result<Option<String>> {
        Session::ask_reference(self, case).map_err(|stop| Error::Failed(stop.reason))
    }

    fn run(&mut self, job: &Job) -> Result<Outcome> {
        Ok(run_in(self, job))
    }
}

fn run_in(session: &mut Session, job: &Job) -> Outcome {
    match job {
        Job { baseline: true, .. } => session.baseline(&job.case, &job.settings),
        Job { again: true, .. } => session.run_again(&job.case, &job.settings),
        _ => session.run(&job.case, &job.settings),
    }
}

/// Goes behind its number.
#[derive(Debug, Serialize, Deserialize)]
enum Request {
    Open(Setup),
    Run(Box<Job>),
    Inspect(Case),
    Binary(Case),
    LaunchOnce(Case),
    Pair(Box<PairJob>),
    Verify(Case),
    Diagnose(Case),
    AskReference(Case),
    TryBuild(BuildUnit),
    Generation,
    Quit,
}

/// Goes behind its request's number.
#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    Ready(Box<DeviceInfo>),
    Refused { exit_code: u8, message: String },
    Done(Box<Outcome>),
    Inspected(Result<Vec<Inspected>, Stop>),
    Binary(Result<ProgramBinary, Stop>),
    LaunchedOnce(Result<LaunchedOnce, Stop>),
    Paired(Result<Vec<[f64; 2]>, Stop>),
    Diagnosed(Box<Result<Symptoms, Stop>>),
    AskedReference(Result<Option<String>, Stop>),
    TriedBuild(Result<TriedBuild, Stop>),
    Generation(Option<String>),
}

/// Seconds that a case may take beyond its sampling: a minute; a slow machine's time to make, copy and check the data; and
/// that of a few runs of the slowest kernel, up to some minutes. At most 1e9 seconds, about 30 years, whatever the size.
pub fn usual_deadline(bytes: u64, ops: f64) -> f64 {
    (60.0 + bytes as f64 / 50e6 + ops / 40e9 + (ops / 50e6).min(400.0)).min(1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_grow_with_the_data_and_the_work_and_end_somewhere() {
        assert_eq!(usual_deadline(0, 0.0), 60.0);
        assert!(usual_deadline(1 << 30, 0.0) > 80.0);
        let little = usual_deadline(0, 1e9);
        let much = usual_deadline(0, 1e12);
        assert!(
            little < much && much < 60.0 + 25.0 + 401.0,
            "{little} {much}"
        );
        assert_eq!(usual_deadline(u64::MAX, f64::INFINITY), 1e9);
    }
}

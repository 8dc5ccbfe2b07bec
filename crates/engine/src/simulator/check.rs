//! Kernels run in the simulator for its own findings: races, accesses out of bounds, values that were never set.

use super::log::SimulatorLog;
use super::oclgrind::{OCLGRIND, version};
use crate::worker::{Interrupted, Setup, Tell, WorkerProcess, Wrapper};
use gpulab_model::Error;
use gpulab_model::outcome::{Executor, Status};
use gpulab_model::plan::{Case, Target};
use gpulab_study::count::{COMPUTE_UNITS, CheckFinding};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Most findings that the simulator writes down of a run.
const MOST: &str = "200";

/// How a kernel ended in the simulator.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckEnd {
    Right,
    /// With a wrong result, which is no finding.
    Wrong,
    /// Why it has no result.
    Stopped(String),
}

/// What came of a case in the simulator.
pub struct Checked {
    /// Each place once.
    pub findings: Vec<CheckFinding>,
    pub end: CheckEnd,
}

/// A worker process in the simulator.
pub struct CheckingWorker {
    worker: WorkerProcess,
    log: SimulatorLog,
}

impl CheckingWorker {
    /// Starts a worker in the simulator, which writes below `folder`. Each case may take as long as `deadline`.
    pub fn open(
        folder: &Path,
        setup: Setup,
        deadline: Duration,
        (interrupted, tell): (Interrupted, Tell),
    ) -> Result<CheckingWorker, Error> {
        let missing = |error: Error| {
            match error {
            Error::NoDevice(_) => Error::NoDevice(
                "--check runs kernels in the simulator Oclgrind, which is not installed or does not start; to install: \
                 Debian/Ubuntu oclgrind; elsewhere Oclgrind 21.10 or later"
                    .into(),
            ),
            other => other,
        }
        };
        version().map_err(missing)?;
        let unwritable = |source| Error::Output { what: folder.display().to_string(), source };
        fs::create_dir_all(folder).map_err(unwritable)?;
        let log = SimulatorLog::at(folder.join(format!("check-{}.log", std::process::id())));
        // Its check for values that were never set does not know what an optimiser makes of vectors.
        let args =
            ["--build-options", "-cl-opt-disable", "--data-races", "--uninitialized", "--local-mem-size", "49152"];
        let args = args.into_iter().chain(["--max-errors", MOST, "--log"]).map(OsString::from);
        let wrapper = Wrapper {
            program: Some(OCLGRIND.into()),
            args: args.chain([log.path().into()]).collect(),
            variables: Vec::new(),
        };
        let setup = Setup { device: None, as_gpu: Some(COMPUTE_UNITS), memory: None, ..setup };
        let worker = WorkerProcess::open(setup, Some(wrapper), deadline, interrupted, tell)?;
        Ok(CheckingWorker { worker, log })
    }

    /// What plans are made for.
    pub fn target(&self) -> &Target {
        &self.worker.info().target
    }

    /// Launches a case's kernels once.
    pub fn check(&mut self, case: &Case, limit: Duration) -> Result<Checked, Error> {
        let end = match self.worker.launch_once_within(case, limit)? {
            Ok(Ok(_)) => CheckEnd::Right,
            Ok(Err(stop)) if stop.status == Status::WrongResult => CheckEnd::Wrong,
            Ok(Err(stop)) => CheckEnd::Stopped(stop.reason),
            Err(lost) => CheckEnd::Stopped(lost.to_string()),
        };
        Ok(Checked { findings: self.log.new_findings(), end })
    }
}

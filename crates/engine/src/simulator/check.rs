//! Kernels run in the simulator for its own findings: races, accesses out of bounds, values that were never set.

use super::log::{SUPPRESSING, SimulatorLog, findings};
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
const MOST: &str = "2000";

const MISSING: &str = "--check runs kernels in the simulator Oclgrind, which is not installed or does not start; to install: \
     Debian/Ubuntu oclgrind; elsewhere Oclgrind 21.10 or later";

/// How a kernel ended in the simulator.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckEnd {
    Right,
    /// With a wrong result, which is no finding.
    Wrong,
    /// Why it was not looked at, or not to its end.
    Stopped(String),
}

/// What came of a case in the simulator.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// Each place once.
    pub findings: Vec<CheckFinding>,
    pub end: CheckEnd,
}

impl Checked {
    pub fn stopped(why: impl Into<String>) -> Checked {
        Checked { findings: Vec::new(), end: CheckEnd::Stopped(why.into()) }
    }

    /// Why there may be faults beside those that were found.
    pub fn doubt(&self) -> Option<&str> {
        match &self.end {
            CheckEnd::Stopped(why) => Some(why),
            CheckEnd::Wrong if self.findings.is_empty() => Some("its result is wrong in the simulator"),
            CheckEnd::Right | CheckEnd::Wrong => None,
        }
    }
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
        version().map_err(|_| Error::NoDevice(MISSING.into()))?;
        fs::create_dir_all(folder).map_err(Error::unwritten(folder))?;
        let log = SimulatorLog::at(folder.join(format!("check-{}.log", std::process::id())));
        let setup = Setup { device: None, as_gpu: Some(COMPUTE_UNITS), memory: None, ..setup };
        let wrapper = wrapper(&log, &["--uninitialized"]);
        let worker = WorkerProcess::open(setup, Some(wrapper), deadline, interrupted, tell)?;
        Ok(CheckingWorker { worker, log })
    }

    /// What plans are made for.
    pub fn target(&self) -> &Target {
        &self.worker.info().target
    }

    /// Launches a case's kernels once, and again where values that were never set used up all that the simulator writes down.
    pub fn check(&mut self, case: &Case, limit: Duration) -> Result<Checked, Error> {
        let mut end = ended(&mut self.worker, case, limit)?;
        let mut text = self.log.text();
        if end != CheckEnd::Right || !text.is_empty() {
            // The simulator counts what it writes down over all cases.
            self.worker.renew();
        }
        if text.contains(SUPPRESSING) {
            end = ended(&mut self.worker.within(wrapper(&self.log, &[]))?, case, limit)?;
            text += &self.log.text();
            if end == CheckEnd::Right {
                end = CheckEnd::Stopped(format!(
                    "the simulator writes down {MOST} findings; mend these, and check again"
                ));
            }
        }
        Ok(Checked { findings: findings(&text), end })
    }
}

/// The simulator, which looks for races and for this.
fn wrapper(log: &SimulatorLog, more: &[&str]) -> Wrapper {
    // Its check for values that were never set does not know what an optimiser makes of vectors.
    let args = ["--build-options", "-cl-opt-disable", "--data-races", "--local-mem-size", "49152"];
    let args = args.iter().chain(more).chain(&["--max-errors", MOST, "--log"]).map(OsString::from);
    Wrapper { program: Some(OCLGRIND.into()), args: args.chain([log.path().into()]).collect(), variables: Vec::new() }
}

fn ended(worker: &mut WorkerProcess, case: &Case, limit: Duration) -> Result<CheckEnd, Error> {
    Ok(match worker.launch_once_within(case, limit)? {
        Ok(Ok(_)) => CheckEnd::Right,
        Ok(Err(stop)) if stop.status == Status::WrongResult => CheckEnd::Wrong,
        Ok(Err(stop)) => CheckEnd::Stopped(stop.reason),
        Err(lost) => CheckEnd::Stopped(lost.to_string()),
    })
}

//! Cases counted in a worker process in the simulator.

use super::Simulator;
use super::log::SimulatorLog;
use super::oclgrind::log_file;
use crate::worker::{Interrupted, Lost, Setup, Tell, WorkerProcess};
use gpulab_model::Error;
use gpulab_model::outcome::{Executor, LaunchedOnce, Status, Stop};
use gpulab_model::plan::{Case, Target};
use gpulab_study::count::{
    COMPUTE_UNITS, CountedCase, CountedLaunch, LaunchCounts, LockstepModel, TracedLaunch, traced,
};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// A worker process in the simulator.
pub struct CountingWorker {
    worker: WorkerProcess,
    /// Where the plugin writes a line for each launch.
    file: PathBuf,
    /// Lines that were read.
    read: usize,
    /// Where the plugin writes what warps do, if it does.
    trace: Option<PathBuf>,
    /// What each case may take.
    deadline: Duration,
    log: SimulatorLog,
    tell: Tell,
}

impl CountingWorker {
    /// Starts a worker in the simulator; its kernels' sources are those of `setup`. Each case may take as long as `deadline`.
    /// Of each launch it traces so many `groups`, if any.
    pub fn open(
        simulator: &Simulator,
        model: LockstepModel,
        setup: Setup,
        deadline: Duration,
        groups: Option<u64>,
        (interrupted, tell): (Interrupted, Tell),
    ) -> Result<CountingWorker, Error> {
        let file = simulator.counts_file();
        let trace = groups.map(|_| file.with_extension("trace"));
        let log = SimulatorLog::at(log_file(&file));
        // Of a process with this number that was ended.
        [Some(&file), trace.as_ref()].into_iter().flatten().for_each(|file| drop(fs::remove_file(file)));
        let setup = Setup { device: None, as_gpu: Some(COMPUTE_UNITS), subgroups: true, ..setup };
        let wrapper = simulator.wrapper(model, &file, trace.as_deref().zip(groups));
        let worker = WorkerProcess::open(setup, Some(wrapper), deadline, interrupted, tell)?;
        Ok(CountingWorker { worker, file, read: 0, trace, deadline, log, tell })
    }

    /// What plans are made for.
    pub fn target(&self) -> &Target {
        &self.worker.info().target
    }

    /// Launches a case's kernels once and counts. What stops the case is no error of the run, nor that it takes too long.
    pub fn count(&mut self, case: &Case) -> Result<Result<CountedCase, Stop>, Error> {
        let launched = self.worker.launch_once_within(case, self.deadline)?;
        let lines = self.new_lines()?;
        self.log.new_findings().iter().for_each(|found| (self.tell)(&format!("the simulator: {}", found.sentence())));
        if launched.is_err() {
            self.log.read = 0;
        }
        match launched {
            Ok(Ok(launched)) => counted(launched, &lines).map(Ok),
            Ok(Err(stop)) => Ok(Err(stop)),
            Err(Lost::Late(seconds)) => {
                let why = format!(
                    "took too long: more than {seconds:.0} s in the simulator; choose a smaller -n, or more time with --deadline"
                );
                Ok(Err(Stop::new(Status::Timeout, why)))
            }
            Err(Lost::Died(how)) => Err(Error::Failed(format!("while running a case's kernels once, {how}"))),
        }
    }

    /// As [`CountingWorker::count`], with what the first groups of each launch did.
    pub fn trace(&mut self, case: &Case) -> Result<Result<(CountedCase, Vec<TracedLaunch>), Stop>, Error> {
        let counted = match self.count(case)? {
            Ok(counted) => counted,
            Err(stop) => return Ok(Err(stop)),
        };
        let text = self.trace.as_ref().and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
        let mut launches =
            traced(&text).map_err(|e| Error::Failed(format!("what the kernel did cannot be read: {e}")))?;
        // Those of the kernel that says what is right came before.
        let others = launches.len().saturating_sub(counted.launches.len());
        Ok(Ok((counted, launches.split_off(others))))
    }

    /// The lines that the plugin wrote since the last case.
    fn new_lines(&mut self) -> Result<Vec<String>, Error> {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        let lines: Vec<String> = text.lines().skip(self.read).map(str::to_owned).collect();
        self.read += lines.len();
        Ok(lines)
    }
}

impl Drop for CountingWorker {
    fn drop(&mut self) {
        [Some(&self.file), self.trace.as_ref()].into_iter().flatten().for_each(|file| drop(fs::remove_file(file)));
    }
}

/// The counts of what was launched, of which there is a line each, behind those of the kernel that said what is right.
fn counted(launched: LaunchedOnce, lines: &[String]) -> Result<CountedCase, Error> {
    let LaunchedOnce { wg, params, launches } = launched;
    if lines.len() < launches.len() {
        return Err(Error::Failed(format!(
            "the simulator's plugin wrote {} of {} launches: this Oclgrind cannot load it (its LLVM must export its C \
             interface, as a distribution's does)",
            lines.len(),
            launches.len()
        )));
    }
    let before = lines.len() - launches.len();
    let launches = launches.into_iter().zip(&lines[before..]).map(|((kernel, timed), line)| {
        let counts: LaunchCounts = serde_json::from_str(line)
            .map_err(|e| Error::Failed(format!("the counts of {kernel} cannot be read: {e}")))?;
        match counts.kernel == kernel && !counts.unordered {
            true => Ok(CountedLaunch { timed, counts }),
            false => Err(Error::Failed(format!(
                "the counts of {kernel} cannot be trusted: they are of {}{}",
                counts.kernel,
                if counts.unordered { ", whose items ran in no order" } else { "" }
            ))),
        }
    });
    Ok(CountedCase { wg, params, launches: launches.collect::<Result<_, _>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_model::data::Params;
    use gpulab_model::plan::WorkGroup;

    #[test]
    fn what_ran_before_the_launches_is_not_counted_as_theirs() {
        let line = |kernel: &str, items: u64| {
            format!(
                "{{\"kernel\":{kernel:?},\"groups\":1,\"items\":{items},\"warps\":1,\"barriers\":0,\"copies\":0,\
                 \"private\":0,\"unordered\":false,\"instructions\":[]}}"
            )
        };
        let launched = || LaunchedOnce {
            wg: WorkGroup::linear(64),
            params: Params::new(),
            launches: vec![("smooth".to_owned(), true)],
        };
        // A reference kernel may even have the rung's name.
        for reference in ["reference", "smooth"] {
            let counted = counted(launched(), &[line(reference, 1), line("smooth", 64)]).unwrap();
            assert_eq!((counted.launches.len(), counted.launches[0].counts.items), (1, 64));
        }
        assert!(counted(launched(), &[]).is_err());
        assert!(counted(launched(), &[line("other", 64)]).is_err());
    }
}

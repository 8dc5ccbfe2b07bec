//! The device on which a command's cases run, opened and announced.

use crate::cli::MeasureArgs;
use crate::prelude::*;
use crate::worker::{InProcess, open_session, usual_deadline};

/// Opens the device for cases of so many bytes and operations at most.
pub(crate) fn open(setup: Setup, measure: &MeasureArgs, bytes: u64, ops: f64) -> Result<Box<dyn Executor>, Error> {
    open_within(setup, measure.process.in_process, measure.deadline, bytes, ops)
}

/// As [`open`]; without a deadline in seconds, one that suits so many bytes and operations.
pub(crate) fn open_within(
    setup: Setup,
    in_process: bool,
    deadline: Option<f64>,
    bytes: u64,
    ops: f64,
) -> Result<Box<dyn Executor>, Error> {
    if in_process {
        return Ok(Box::new(InProcess(open_session(&setup)?)));
    }
    let deadline = deadline.unwrap_or_else(|| usual_deadline(bytes, ops));
    Ok(Box::new(WorkerProcess::open(setup, None, Duration::from_secs_f64(deadline), interrupt::interrupted, say)?))
}

/// Longest that opening the device, and building or running a kernel once, may take each.
pub(crate) const LOOK: Duration = Duration::from_secs(30);

/// Set in the commands that `gpulab record` runs: it has said which device it is.
pub(crate) const PART_OF_RECORD: &str = "GPULAB_RECORD";

/// Whether this command is one of those.
pub(crate) fn is_part_of_record() -> bool {
    std::env::var_os(PART_OF_RECORD).is_some()
}

pub(crate) fn announce(global: &Global, info: &DeviceInfo) {
    if !global.quiet && !is_part_of_record() {
        let why = if global.device.is_some() { "" } else { " (-d chooses another; gpulab devices lists them)" };
        note(&format!("device {}: {}{why}", info.selector, format::device(&info.name)));
    }
}

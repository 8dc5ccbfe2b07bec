//! What the simulator says of its own accord, in a file: what stands on standard error is the kernels'.

use super::check::findings;
use gpulab_study::count::CheckFinding;
use std::fs;
use std::path::{Path, PathBuf};

/// The file, which goes with this.
pub(super) struct SimulatorLog {
    file: PathBuf,
    /// Bytes of it that were read.
    read: usize,
}

impl SimulatorLog {
    pub(super) fn at(file: PathBuf) -> SimulatorLog {
        // Of a process with this number that was ended.
        drop(fs::remove_file(&file));
        SimulatorLog { file, read: 0 }
    }

    pub(super) fn path(&self) -> &Path {
        &self.file
    }

    /// What was said since the last time, each place once.
    pub(super) fn new_findings(&mut self) -> Vec<CheckFinding> {
        let text = fs::read(&self.file).unwrap_or_default();
        let new = String::from_utf8_lossy(text.get(self.read..).unwrap_or_default()).into_owned();
        self.read = text.len();
        findings(&new)
    }
}

impl Drop for SimulatorLog {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.file));
    }
}

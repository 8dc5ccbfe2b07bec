//! What the simulator says of its own accord, in a file: what stands on standard error is the kernels'.

use gpulab_study::count::{CheckFinding, FindingKind};
use gpulab_system::text::Joined;
use std::fs;
use std::path::{Path, PathBuf};

/// The file, which goes with this.
pub(super) struct SimulatorLog {
    file: PathBuf,
    /// Bytes of it that were read; the next process of the simulator writes it anew.
    pub(super) read: usize,
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
        let text = self.text();
        let new = findings(text.get(self.read..).unwrap_or_default());
        self.read = text.len();
        new
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.file).unwrap_or_default()).into_owned()
    }
}

impl Drop for SimulatorLog {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.file));
    }
}

/// What the simulator says before it writes down no more of what it finds.
pub(super) const SUPPRESSING: &str = "suppressing further errors";

/// What a log says, each place once.
pub(super) fn findings(log: &str) -> Vec<CheckFinding> {
    let mut all: Vec<CheckFinding> = Vec::new();
    let mut open: Option<CheckFinding> = None;
    let mut close = |open: &mut Option<CheckFinding>| {
        let Some(found) = open.take() else { return };
        let is_same =
            |known: &&mut CheckFinding| (known.kind, &known.file, known.line) == (found.kind, &found.file, found.line);
        match all.iter_mut().find(is_same) {
            Some(known) => known.times += 1,
            None => all.push(found),
        }
    };
    for line in log.lines() {
        let is_heading = !line.starts_with(char::is_whitespace) && !line.trim().is_empty();
        if let Some(fatal) = open.as_mut().filter(|found| is_heading && found.said.starts_with(FATAL)) {
            // Its heading names a line of the simulator's own text.
            fatal.said = line.trim().to_owned();
            close(&mut open);
        } else if is_heading {
            close(&mut open);
            open = kind(line).map(|kind| CheckFinding { kind, said: said(line), file: None, line: None, times: 1 });
        } else if let Some(found) = &mut open
            && found.line.is_none()
            && let Some((number, file)) = place(line.trim())
        {
            (found.line, found.file) = (Some(number), Some(file));
        }
    }
    close(&mut open);
    all
}

/// Begins what the simulator says where it cannot go on.
const FATAL: &str = "OCLGRIND FATAL ERROR";

/// What a heading tells of; nothing that is no finding.
fn kind(heading: &str) -> Option<FindingKind> {
    let has = |text: &str| heading.contains(text);
    Some(match () {
        () if has("data race") => FindingKind::Race,
        () if has("Invalid read") => FindingKind::ReadOutside,
        () if has("Invalid write") => FindingKind::WriteOutside,
        () if has("ninitialized") => FindingKind::Unset,
        () if has("divergence") => FindingKind::Divergence,
        () if has("Info") || has(SUPPRESSING) => return None,
        () => FindingKind::Other,
    })
}

/// A heading without its address.
fn said(heading: &str) -> String {
    let words =
        heading.split_whitespace().filter(|word| !word.starts_with("0x") && *word != "address" && *word != "at");
    words.joined(" ").trim_end_matches(':').to_owned()
}

/// Line and file of `At line 5 (column 25) of my.cl:`.
fn place(line: &str) -> Option<(u64, String)> {
    let rest = line.strip_prefix("At line ")?;
    let number = rest.split_whitespace().next()?.parse().ok()?;
    let file = rest.split_once(" of ")?.1.trim_end_matches(':');
    Some((number, file.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "
Read-write data race at local memory address 0x1000000000004
	Kernel: mine

	First entity:  Global(1,0,0) Local(1,0,0) Group(0,0,0)
	  %1 = load i32
	At line 5 (column 25) of my.cl:
	  x

	Second entity: Global(0,0,0)
	At line 6 (column 3) of my.cl:
	  y

Read-write data race at local memory address 0x1000000000008
	Kernel: mine
	At line 5 (column 25) of my.cl:
	  x

Invalid write of size 4 at global memory address 0x2000000000040
	Kernel: mine
	Entity: Global(1,0,0)
	Debugging information not available.
";

    #[test]
    fn what_ends_a_kernel_is_said_without_the_simulators_own_place() {
        let log = "OCLGRIND FATAL ERROR (./src/core/WorkItem.cpp:1681)\nUndefined external function: f\nWhen creating kernel 'k'\n";
        let said: Vec<String> = findings(log).into_iter().map(|found| found.said).collect();
        assert_eq!(said[0], "Undefined external function: f");
    }

    #[test]
    fn places_are_told_once() {
        let found = findings(LOG);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!((found[0].kind, found[0].line, found[0].times), (FindingKind::Race, Some(5), 2));
        assert_eq!(found[0].said, "Read-write data race local memory");
        assert_eq!((found[1].kind, found[1].line), (FindingKind::WriteOutside, None));
        assert_eq!(findings(""), []);
    }
}

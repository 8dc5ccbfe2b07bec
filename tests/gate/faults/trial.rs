//! One run of the program on a bad driver: what it was given, and what came of it.

use super::shim::Shim;
use super::text;
use crate::child::copy_tree;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A command line of the program.
#[derive(Debug)]
pub struct Job {
    pub name: &'static str,
    /// Separated by blanks.
    pub args: &'static str,
    /// Whether its rows are in `rows.csv`.
    pub has_rows: bool,
    /// Whether its kernels run long enough for their times to be judged.
    pub is_long: bool,
    /// Whether it finds ceilings that were measured before.
    pub keeps_ceilings: bool,
    pub depth: Depth,
}

/// How many calls of each function fail under a command, one a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    Full,
    Some,
    One,
}

/// What a driver does wrong.
#[derive(Clone, Debug)]
pub struct Fault {
    pub function: String,
    /// As in `shim.c`: 3, 3+ or %2.
    pub when: String,
    /// Action and argument.
    pub action: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.function, self.when, self.action)
    }
}

/// How a run ended.
pub struct Ran {
    /// None if it had to be killed.
    pub status: Option<ExitStatus>,
    /// Processes that it left behind.
    pub left_behind: bool,
    pub seconds: f64,
    pub stdout: String,
    pub stderr: String,
    /// Each row by the names of its columns.
    pub rows: Vec<BTreeMap<String, String>>,
    /// How often the fault was met.
    pub hits: u64,
    /// Whether the launch that it met was of a kernel that had run before; of other calls, whether results had been read
    /// since a program was built.
    pub ran_before: bool,
    /// Whether a launch was lost that no equal one beside it stood in for.
    pub missed_launch: bool,
    /// Calls of each function.
    pub calls: Vec<u64>,
}

impl Ran {
    pub fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    pub fn signal(&self) -> Option<i32> {
        self.status.and_then(|status| status.signal())
    }
}

/// What all runs share.
pub struct Stage {
    pub shim: Shim,
    /// A folder for everything.
    pub folder: PathBuf,
    /// Kept ceilings, to begin with.
    pub data: PathBuf,
}

const WORDS: usize = 256;
const FIRST_CALL: usize = 8;
/// Longest that a process may outlive the program.
const AFTERWARDS: Duration = Duration::from_secs(3);

/// The file by which OpenCL's loader finds PoCL.
fn pocl() -> Result<PathBuf, String> {
    let folder = Path::new("/etc/OpenCL/vendors");
    let files = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut files = files.filter_map(|file| Some(file.ok()?.path()));
    let is_pocl = |path: &PathBuf| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("pocl"))
    };
    files
        .find(is_pocl)
        .ok_or_else(|| format!("{}: no driver called pocl", folder.display()))
}

impl Stage {
    /// Runs a job, in a folder of its own.
    pub fn run(
        &self,
        name: &str,
        job: &Job,
        fault: Option<&Fault>,
        limit: Duration,
    ) -> Result<Ran, String> {
        let folder = self.folder.join(name);
        fs::create_dir_all(folder.join("data")).map_err(text)?;
        if job.keeps_ceilings {
            copy_tree(&self.data, &folder.join("data"))?;
        }
        fs::write(folder.join("graph.csv"), GRAPH).map_err(text)?;
        fs::write(folder.join("state"), [0; 8 * WORDS]).map_err(text)?;
        let file = |name: &str| File::create(folder.join(name)).map_err(text);
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulab"));
        command.args(job.args.split(' ').filter(|arg| !arg.is_empty()));
        let sleeps = fault.is_some_and(|fault| fault.action.starts_with("sleep"));
        if sleeps
            && ["--max-runs", "ceiling", "--input"]
                .iter()
                .any(|word| job.args.contains(word))
        {
            command.args(["--deadline", "4"]);
        }
        command
            .current_dir(&folder)
            .env("SHIM_STATE", folder.join("state"));
        command
            .env("GPULAB_OPENCL_LIB", &self.shim.path)
            .env("RUST_BACKTRACE", "0");
        // What is measured of a small device takes little time.
        let is_small = !job.keeps_ceilings || job.args.starts_with("ceiling");
        command.env("SHIM_ALLOC", if is_small { "2097152" } else { "67108864" });
        command
            .env("XDG_DATA_HOME", folder.join("data"))
            .env("POCL_CACHE_DIR", self.folder.join("pocl"));
        // No other driver of this machine: its own faults are not those that are tried.
        command.env("OCL_ICD_VENDORS", pocl()?);
        command.env_remove("GPULAB_DEVICE").env_remove("SHIM_FAULT");
        if job.args.contains("-d 0,1") {
            command.env("POCL_DEVICES", "pthread basic");
        }
        if let Some(fault) = fault {
            command.env("SHIM_FAULT", fault.to_string());
        }
        command
            .stdin(Stdio::null())
            .stdout(file("stdout")?)
            .stderr(file("stderr")?)
            .process_group(0);
        let begin = Instant::now();
        let mut child = command
            .spawn()
            .map_err(|e| format!("cannot start the program: {e}"))?;
        let status = wait(&mut child, limit)?;
        let seconds = begin.elapsed().as_secs_f64();
        let left_behind = status.is_some() && !is_empty_within(child.id(), AFTERWARDS);
        signal_group("-KILL", child.id());
        if status.is_none() {
            child.wait().map_err(text)?;
        }
        let read = |name: &str| {
            fs::read(folder.join(name)).map(|b| String::from_utf8_lossy(&b).into_owned())
        };
        let state = fs::read(folder.join("state")).map_err(text)?;
        let state: Vec<u64> = state
            .chunks_exact(8)
            .map(|b| {
                b.iter()
                    .rev()
                    .fold(0, |n, &byte| (n << 8) | u64::from(byte))
            })
            .collect();
        let calls = state
            .iter()
            .skip(FIRST_CALL)
            .take(self.shim.functions.len())
            .copied()
            .collect();
        let ran = Ran {
            status,
            left_behind,
            seconds,
            stdout: read("stdout").map_err(text)?,
            stderr: read("stderr").map_err(text)?,
            rows: rows(&folder.join("rows.csv")),
            hits: state[0],
            ran_before: state[1] != 0,
            missed_launch: state[2] != 0,
            calls,
        };
        if fault.is_some() {
            fs::remove_dir_all(&folder).map_err(text)?;
        }
        Ok(ran)
    }
}

/// A small graph with a missing path and a detour that is shorter.
const GRAPH: &str = "from,to,weight\na,b,1\nb,c,2\na,c,9\nc,d,1\nd,a,5\ne,a,1\n";

/// Waits, but not for ever.
fn wait(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>, String> {
    let begin = Instant::now();
    loop {
        match child.try_wait().map_err(text)? {
            Some(status) => return Ok(Some(status)),
            None if begin.elapsed() > limit => {
                signal_group("-KILL", child.id());
                return Ok(None);
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Sends a signal to a run's processes; whether there were any.
fn signal_group(signal: &str, group: u32) -> bool {
    let mut kill = Command::new("kill");
    kill.args([signal, "--", &format!("-{group}")])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    kill.status().is_ok_and(|status| status.success())
}

fn is_empty_within(group: u32, limit: Duration) -> bool {
    let begin = Instant::now();
    while signal_group("-0", group) {
        if begin.elapsed() > limit {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// The rows that are whole; none where there is no file.
fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let Ok(mut reader) = csv::Reader::from_path(path) else {
        return Vec::new();
    };
    reader.deserialize().filter_map(Result::ok).collect()
}

//! Sweeps whose parts are tasks of HyperQueue: each task is the same command again, told by its environment which
//! part is its own.

use crate::cli::Sweep;
use crate::sweep::Shard;
use crate::{Error, Result, files, processes, usage_error};
use serde_json::json;
use std::fmt::Display;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Set in a task: what it is to do.
const TASK: &str = "GPULAB_TASK";
const PART: &str = "part";

/// The number of a task from 0, set by HyperQueue.
const NUMBER: &str = "HQ_TASK_ID";

/// Longest that HyperQueue may take to say what is there.
const LONGEST: Duration = Duration::from_secs(30);

const DRIVER: &str = include_str!("local.py");

/// The parts of some work, and the folder with what they leave.
pub struct Parts {
    /// As `--workers` names them.
    workers: String,
    of: u64,
    folder: PathBuf,
}

/// Where the parts lie of rows that go to this file.
fn folder(output: &str) -> PathBuf {
    format!("{output}.tasks").into()
}

/// The files in the folder for the parts of work whose rows go to a file: it goes when they are joined.
pub fn left(options: &Sweep) -> Vec<PathBuf> {
    // In a task, others write there.
    let is_leader = options.workers.is_some() && std::env::var_os(TASK).is_none();
    if is_leader {
        files::below(&folder(&options.output))
    } else {
        Vec::new()
    }
}

impl Parts {
    /// The parts that workers are to run, if any. Errors: no file for the rows.
    pub fn of(options: &Sweep) -> Result<Option<Parts>> {
        let Some(workers) = options.workers.clone() else {
            return Ok(None);
        };
        if options.output == "-" {
            return usage_error("--workers needs -o FILE, in a folder that all workers reach");
        }
        Ok(Some(Parts {
            workers,
            of: options.tasks,
            folder: folder(&options.output),
        }))
    }

    /// In a task: the file of its part's rows, and which of the parts it is.
    pub fn own(&self) -> Result<Option<(PathBuf, Shard)>> {
        if std::env::var(TASK).is_err() {
            return Ok(None);
        }
        let number = std::env::var(NUMBER)
            .ok()
            .and_then(|number| number.parse::<u64>().ok());
        let index = number.filter(|number| *number < self.of);
        let index =
            index.ok_or_else(|| Error::Usage(format!("{NUMBER} is no task of {}", self.of)))?;
        Ok(Some((
            self.file(index),
            Shard {
                index: index + 1,
                of: self.of,
            },
        )))
    }

    /// The rows of a part, which has a number from 0.
    fn file(&self, number: u64) -> PathBuf {
        self.folder.join(format!("{number}.csv"))
    }

    /// The file of each part's rows.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        (0..self.of).map(|number| self.file(number))
    }

    /// Removes what the parts left.
    pub fn remove(&self) {
        drop(fs::remove_dir_all(&self.folder));
    }

    /// The error that rows of parts are missing, with what tasks said last.
    pub fn unfinished(&self, error: &Error) -> Error {
        let mut text = format!("{error}; the same command goes on");
        for number in 0..self.of {
            let said = files::read_to_string(&self.folder.join(format!("{number}.err")))
                .unwrap_or_default();
            if let Some(line) = said.lines().rfind(|line| line.starts_with("gpulab: ")) {
                text += &format!(
                    "\n  task {}: {}",
                    number + 1,
                    line.trim_start_matches("gpulab: ")
                );
            }
        }
        Error::Failed(text)
    }

    /// Runs all parts to their ends. Parts that another run left unfinished go on.
    pub fn run(&self) -> Result<()> {
        // An empty folder goes with the error.
        self.submit()
            .inspect_err(|_| drop(fs::remove_dir(&self.folder)))
    }

    fn submit(&self) -> Result<()> {
        let unwritten = Error::unwritten(&self.folder);
        fs::create_dir_all(&self.folder).map_err(unwritten)?;
        let folder = self.folder.canonicalize().map_err(unwritten)?;
        let here = std::env::current_dir().map_err(unwritten)?;
        let program = std::env::current_exe()
            .map_err(|e| Error::Failed(format!("where this program is: {e}")))?;
        let words = std::env::args().skip(1);
        let command = std::iter::once(program.display().to_string())
            .chain(words)
            .collect::<Vec<_>>();
        let workers = self.workers.trim().parse::<usize>().ok();
        let options: Vec<&str> = self.workers.split_whitespace().skip(1).collect();
        if workers.is_none() && hq(&["--version"]).is_ok() {
            if !hq(&["server", "info"]).is_ok_and(|output| output.status.success()) {
                return Err(failed(
                    "no server answers; start one with hq server start, and workers with hq worker start",
                ));
            }
            let logs = format!("{}/%{{TASK_ID}}", folder.display());
            // A task fails, too, if a kernel did: what that means, its rows say.
            return Command::new("hq")
                .args([
                    "submit",
                    "--array",
                    &format!("0-{}", self.of - 1),
                    "--name",
                    "gpulab",
                ])
                .args([
                    "--cwd",
                    &here.display().to_string(),
                    "--stdout",
                    &format!("{logs}.log"),
                ])
                .args(["--stderr", &format!("{logs}.err")])
                .args([
                    "--env",
                    &format!("{TASK}={PART}"),
                    "--crash-limit",
                    "100",
                    "--progress",
                ])
                .args(&options)
                .arg("--")
                .args(&command)
                .stdout(io::stderr())
                .status()
                .map(drop)
                .map_err(failed);
        }
        if !options.is_empty() {
            let why = format!(
                "there is no program hq in PATH, and HyperQueue for Python takes no {}",
                options.join(" ")
            );
            return usage_error(format!("--workers: {why}"));
        }
        let env = json!({ TASK: PART });
        let job = json!({
            "workers": workers, "tasks": self.of, "command": command, "env": env, "cwd": here, "folder": folder,
        });
        match Command::new("python3")
            .args(["-c", DRIVER, &job.to_string()])
            .stdout(Stdio::null())
            .status()
        {
            Ok(status) if status.success() => Ok(()),
            Ok(_) => Err(failed("its words are above")),
            Err(error) => Err(failed(format_args!("python3: {error}"))),
        }
    }
}

fn hq(words: &[&str]) -> io::Result<Output> {
    processes::output_within(Command::new("hq").args(words), "", LONGEST)
}

fn failed(why: impl Display) -> Error {
    Error::Failed(format!("HyperQueue cannot run the tasks: {why}"))
}

/// Waits until no other process writes a part: one whose worker was lost may still be at it.
pub fn wait_for_writer(path: &Path) {
    if let Ok(file) = File::options().append(true).create(true).open(path) {
        drop(file.lock());
    }
}

//! A host program in the simulator, and what the kernels that it launches do there.

use super::{OCLGRIND, Simulator, SimulatorLog, log_file};
use crate::worker::Interrupted;
use gpulab_model::Error;
use gpulab_study::count::{CheckFinding, LaunchCounts, LaunchedKernel, LockstepModel};
use gpulab_system::children::{kill_group, lead_group};
use gpulab_system::terminal::Escaping;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{IsTerminal, Write, stdin};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

/// Bytes of global memory that programs are told of: the most that Oclgrind can say.
const GLOBAL_MEMORY: &str = "4294967295";

/// Names a folder of drivers to OpenCL's loaders, which programs may open by themselves.
const LOADER_FOLDER: &str = "OCL_ICD_VENDORS";

/// Longest wait for what a program printed before it ended.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What Oclgrind calls the text of each OpenCL program.
const PROGRAM_TEXT: &str = "input.cl";

/// What a host program launched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CountedProgram {
    /// In the order of their first launches.
    pub kernels: Vec<LaunchedKernel>,
    /// Texts of its OpenCL programs, by the name that lines have them under.
    pub sources: BTreeMap<String, String>,
    /// What the simulator found by itself.
    pub findings: Vec<CheckFinding>,
}

impl CountedProgram {
    /// Runs a command line in the simulator for at most `limit`, and counts what it launches. What it prints goes to standard
    /// error.
    pub fn run(
        simulator: &Simulator,
        model: LockstepModel,
        words: &[OsString],
        limit: Duration,
        interrupted: Interrupted,
    ) -> Result<CountedProgram, Error> {
        let name = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        // Names without a folder are the system's to find.
        let path = Path::new(&name);
        let is_program = |path: &Path| {
            #[cfg(unix)]
            let can_run = |metadata: &fs::Metadata| std::os::unix::fs::MetadataExt::mode(metadata) & 0o111 != 0;
            #[cfg(not(unix))]
            let can_run = |_: &fs::Metadata| true;
            fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && can_run(&metadata))
        };
        if path.components().count() > 1 && !is_program(path) {
            return Err(Error::Usage(format!("{name}: no such program; build it first, and name it as in ./program")));
        }
        let file = simulator.counts_file();
        drop(fs::remove_file(&file));
        let mut log = SimulatorLog::at(log_file(&file));
        let wrapper = simulator.wrapper(model, &file, None);
        let mut command = Command::new(OCLGRIND);
        command.args(["--global-mem-size", GLOBAL_MEMORY]).args(&wrapper.args).args(words);
        command.envs(wrapper.variables).env("GPULAB_COUNT_SOURCES", "1").env(LOADER_FOLDER, simulator.loader_folder()?);
        command.stdin(if stdin().is_terminal() { Stdio::null() } else { Stdio::inherit() });
        let ended = ended(command, limit, interrupted);
        // The simulator makes it with an OpenCL context.
        let text = fs::read(&file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        drop(fs::remove_file(&file));
        let status = ended?.map_err(|why| Error::Failed(format!("{name} {why}")))?;
        if !status.success() {
            let found = log.new_findings().first().map_or_else(String::new, |found| format!("{}; ", found.sentence()));
            let why = "only programs that end well are counted; what it printed is above";
            return Err(Error::Failed(format!("{name} failed in the simulator ({status}): {found}{why}")));
        }
        let Ok(text) = text else {
            return Err(Error::Failed(format!(
                "{name} made no OpenCL context in the simulator, which shows itself as platform Oclgrind with one device, \
                 of every type. A program that links a driver statically, or asks for a vendor's platform, does not find it"
            )));
        };
        let mut counted =
            read(&text).map_err(|why| Error::Failed(format!("the counts of {name} cannot be read: {why}")))?;
        if counted.kernels.is_empty() {
            return Err(Error::Failed(format!(
                "{name} made an OpenCL context in the simulator, but launched no kernel"
            )));
        }
        counted.findings = log.new_findings();
        for found in &mut counted.findings {
            // Which of its programs it is of is not said.
            found.file = found
                .file
                .take()
                .filter(|_| counted.sources.len() == 1)
                .map(|file| if file == PROGRAM_TEXT { name_of_text(1) } else { file });
        }
        Ok(counted)
    }
}

/// How a command ended; or why it was ended.
fn ended(mut command: Command, limit: Duration, interrupted: Interrupted) -> Result<Result<ExitStatus, String>, Error> {
    let failed = |error: io::Error| Error::Failed(format!("{OCLGRIND} cannot be started: {error}"));
    let (mut printed, writer) = io::pipe().map_err(failed)?;
    command.stdout(writer.try_clone().map_err(failed)?).stderr(writer);
    let mut child = lead_group(&mut command).spawn().map_err(failed)?;
    // It holds the pipe open.
    drop(command);
    let told = thread::spawn(move || {
        let mut terminal = Escaping::new(io::stderr());
        // Nothing can be done about a standard error that cannot be written to.
        let _ = io::copy(&mut printed, &mut terminal).and_then(|_| terminal.flush());
    });
    let began = Instant::now();
    loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => {
                let ended = Instant::now();
                // What the program started may go on, and print.
                while !told.is_finished() && ended.elapsed() < LAST_WORDS {
                    thread::sleep(Duration::from_millis(1));
                }
                return Ok(Ok(status));
            }
            None if interrupted() => {
                kill_group(&mut child);
                return Err(Error::Interrupted);
            }
            None if began.elapsed() > limit => {
                kill_group(&mut child);
                let why = "in the simulator; give it less work, or more time with --deadline";
                return Ok(Err(format!("took more than {} s {why}", limit.as_secs_f64())));
            }
            None => thread::sleep(Duration::from_millis(5)),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum PluginLine {
    Source { source: String },
    Launch(LaunchCounts),
}

/// The counts that the plugin wrote, by kernel.
fn read(text: &str) -> Result<CountedProgram, String> {
    let mut counted = CountedProgram::default();
    for line in text.lines() {
        match serde_json::from_str(line).map_err(|error| error.to_string())? {
            PluginLine::Source { source } => {
                let name = name_of_text(counted.sources.len() as u64 + 1);
                counted.sources.insert(name, source);
            }
            PluginLine::Launch(mut launch) => {
                if launch.unordered {
                    return Err(format!("the items of {} ran in no order", launch.kernel));
                }
                let name = name_of_text(launch.program);
                let own = launch.instructions.iter_mut().filter(|one| one.file == PROGRAM_TEXT);
                own.for_each(|one| one.file.clone_from(&name));
                let is_same =
                    |counts: &LaunchCounts| (&counts.kernel, counts.program) == (&launch.kernel, launch.program);
                match counted.kernels.iter_mut().find(|known| is_same(&known.counts)) {
                    Some(known) => {
                        known.launches += 1;
                        known.counts.add_launch(launch);
                    }
                    None => counted.kernels.push(LaunchedKernel { launches: 1, counts: launch }),
                }
            }
        }
    }
    let names: Vec<String> = counted.kernels.iter().map(|one| one.counts.kernel.clone()).collect();
    for LaunchedKernel { counts, .. } in &mut counted.kernels {
        if names.iter().filter(|name| **name == counts.kernel).count() > 1 {
            counts.kernel += &format!(" of {}", name_of_text(counts.program));
        }
    }
    Ok(counted)
}

fn name_of_text(program: u64) -> String {
    format!("program{program}.cl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_of_a_kernel_are_one_and_lines_have_their_program() {
        let launch = |kernel: &str, program: u64| {
            format!(
                r#"{{"kernel":"{kernel}","program":{program},"wg":[8,8,1],"groups":1,"items":64,"warps":2,"barriers":1,"copies":0,
                "private":0,"unordered":false,"instructions":[{{"file":"input.cl","line":3,"issued":2,"lanes":64,"flops":0,
                "memory":{{}}}},{{"file":"input.cl","line":3,"issued":4,"lanes":128,"flops":0,"memory":{{}}}}]}}"#
            )
            .replace('\n', "")
        };
        let lines = [r#"{"source":"a\nb"}"#.to_owned(), launch("a", 1), r#"{"source":"c"}"#.to_owned(), launch("b", 2)];
        let read_with = |last: String| read(&[&lines[..], &[last]].concat().join("\n")).unwrap();
        let names = |counted: &CountedProgram| {
            counted.kernels.iter().map(|one| format!("{}: {}", one.counts.kernel, one.launches)).collect::<Vec<_>>()
        };
        assert_eq!(names(&read_with(launch("a", 2))), ["a of program1.cl: 1", "b: 1", "a of program2.cl: 1"]);
        let counted = read_with(launch("a", 1));
        assert_eq!(names(&counted), ["a: 2", "b: 1"]);
        assert_eq!(counted.sources.keys().collect::<Vec<_>>(), ["program1.cl", "program2.cl"]);
        let [(file, line, counts)] = counted.kernels[0].counts.by_line()[..] else { panic!("{counted:?}") };
        assert_eq!((file, line, counts.issued, counted.kernels[0].counts.barriers), ("program1.cl", 3, 12, 2));
        assert!(read("{").is_err());
        assert!(read(&launch("a", 1).replace("false", "true")).unwrap_err().contains("in no order"));
    }
}

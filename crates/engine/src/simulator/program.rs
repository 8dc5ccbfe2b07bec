//! A host program in the simulator, and what the kernels that it launches do there.

use super::{MOST_FINDINGS, OCLGRIND, SUPPRESSING, Simulator, SimulatorLog, log_file};
use crate::processes::{kill_group, lead_group};
use crate::worker::Interrupted;
use gpulab_model::data::Params;
use gpulab_model::plan::WorkGroup;
use gpulab_model::{Error, Result};
use gpulab_record::terminal::Escaping;
use gpulab_study::count::{CheckFinding, CountedCase, CountedLaunch, LaunchCounts, LockstepModel};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, IsTerminal, PipeReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// Bytes of global memory that programs are told of: the most that Oclgrind can say.
const GLOBAL_MEMORY: &str = "4294967295";

/// Longest wait for what a program printed before it ended.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What Oclgrind calls the text of each OpenCL program.
const PROGRAM_TEXT: &str = "input.cl";

/// What a host program launched.
#[derive(Debug)]
pub struct CountedProgram {
    /// Kernels with all their launches, in the order of their first ones.
    pub kernels: Vec<(String, CountedCase)>,
    /// Texts of its OpenCL programs, by the name that lines have them under.
    pub sources: BTreeMap<String, String>,
    /// What the simulator found by itself.
    pub findings: Vec<CheckFinding>,
    /// Why there may be more than that.
    pub end: Result<()>,
}

impl Simulator {
    /// Runs a command line in the simulator for at most `limit`, and counts what it launches; or `checks` it, as it is built
    /// without an optimiser, for races and values that were never set. What it prints goes to standard error.
    pub fn count_program(
        &self,
        (model, checks): (LockstepModel, bool),
        words: &[OsString],
        limit: Duration,
        interrupted: Interrupted,
    ) -> Result<CountedProgram> {
        let name = words
            .first()
            .map_or("", |word| word.to_str().unwrap_or("the program"));
        let file = self.counts_file();
        let mut log = SimulatorLog::at(log_file(&file));
        drop(fs::remove_file(&file));
        let wrapper = self.wrapper(model, &file);
        let mut command = Command::new(OCLGRIND);
        command
            .args(["--global-mem-size", GLOBAL_MEMORY, "--check-api"])
            .args(["--max-errors", MOST_FINDINGS])
            .args(&wrapper.args);
        if checks {
            let options = format!("-cl-opt-disable {}", self.build_options(model));
            command
                .args(["--data-races", "--uninitialized", "--build-options"])
                .arg(options);
        }
        // In front of the simulator's own library, which it names itself.
        let first = "plugin=$1; shift; LD_PRELOAD=$plugin:$LD_PRELOAD exec \"$@\"";
        if self.plugin.to_string_lossy().contains([' ', '\t', ':']) {
            return Err(Error::Failed(format!(
                "{}: a program's calls cannot be looked at from a folder with a blank or a colon in its path: GPULAB_DATA \
                 names another one",
                self.folder.display()
            )));
        }
        command
            .args(["sh", "-c", first, "gpulab"])
            .arg(&self.plugin)
            .args(words)
            .envs(wrapper.variables)
            .env("GPULAB_COUNT_SOURCES", "1")
            .env("OCL_ICD_VENDORS", self.loader_folder()?);
        let (end, refused) = end_of(command, name, limit, interrupted);
        // The simulator makes it with an OpenCL context.
        let text = fs::read(&file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        drop(fs::remove_file(&file));
        let Ok(text) = text else {
            end?;
            return Err(Error::Failed(format!(
                "{name} made no OpenCL context in the simulator, which shows itself as platform Oclgrind with one device, \
                 of every type. A program that links a driver statically, or asks for a vendor's platform, does not find it"
            )));
        };
        let (kernels, sources) = read(&text)
            .map_err(|why| Error::Failed(format!("the counts of {name} cannot be read: {why}")))?;
        if kernels.is_empty() {
            end?;
            let why = "made an OpenCL context in the simulator, but launched no kernel";
            return Err(Error::Failed(format!("{name} {why}")));
        }
        let end = match log.text().contains(SUPPRESSING) {
            true => end.and(Err(Error::Untrusted(format!(
                "the simulator writes down {MOST_FINDINGS} findings: mend these, and look again"
            )))),
            false => end,
        };
        let mut findings = log.new_findings();
        findings.extend(super::findings(&refused, None));
        for found in &mut findings {
            // Which of its programs it is of is not said.
            found.file = found.file.take().filter(|_| sources.len() == 1);
            let other = found.other.iter_mut().map(|(file, _)| file);
            found
                .file
                .iter_mut()
                .chain(other)
                .filter(|file| *file == PROGRAM_TEXT && sources.len() == 1)
                .for_each(|file| *file = name_of_text(1));
        }
        Ok(CountedProgram {
            kernels,
            sources,
            findings,
            end,
        })
    }

    /// A folder that makes OpenCL's loaders find Oclgrind alone, which programs may open by themselves.
    fn loader_folder(&self) -> Result<std::path::PathBuf> {
        let folder = self.folder.join("loader");
        let unwritable = Error::unwritten(&folder);
        fs::create_dir_all(&folder).map_err(unwritable)?;
        fs::write(folder.join("oclgrind.icd"), "liboclgrind-rt-icd.so\n").map_err(unwritable)?;
        Ok(folder)
    }
}

/// Begins what the simulator prints of a call that it refuses; tabs begin the lines behind it.
const REFUSED: &str = "Oclgrind - OpenCL runtime error";

/// Lines of that: a heading, the function, the code, and why.
const REFUSED_LINES: usize = 4;

/// Runs a command to its end, with what it prints on standard error; or says why it was ended, or failed. And what the simulator
/// printed of calls that it refused.
fn end_of(
    mut command: Command,
    name: &str,
    limit: Duration,
    interrupted: Interrupted,
) -> (Result<()>, String) {
    let (printed, mut child) = match started(&mut command) {
        Ok(started) => started,
        Err(error) => {
            let why = format!("{OCLGRIND} cannot be started: {error}");
            return (Err(Error::Failed(why)), String::new());
        }
    };
    // It holds the pipe open.
    drop(command);
    let told = thread::spawn(move || tell(printed));
    let began = Instant::now();
    let end = loop {
        let (error, is_ended) = match child.try_wait() {
            Ok(Some(status)) if status.success() => break Ok(()),
            Ok(Some(status)) => (
                Error::Failed(format!(
                    "{name} failed in the simulator ({status}); what it printed is above"
                )),
                true,
            ),
            Err(lost) => (Error::Failed(format!("{name} was lost: {lost}")), false),
            Ok(None) if interrupted() => (Error::Interrupted, false),
            Ok(None) if began.elapsed() > limit => (
                Error::Failed(format!(
                    "{name} took more than {} s in the simulator: give it less work, or more time with --deadline",
                    limit.as_secs_f64()
                )),
                false,
            ),
            Ok(None) => {
                thread::sleep(Duration::from_millis(5));
                continue;
            }
        };
        if !is_ended {
            kill_group(&mut child);
        }
        break Err(error);
    };
    let ended = Instant::now();
    // What the program started may go on, and print.
    while !told.is_finished() && ended.elapsed() < LAST_WORDS {
        thread::sleep(Duration::from_millis(1));
    }
    let refused = told.is_finished().then(|| told.join().unwrap_or_default());
    (end, refused.unwrap_or_default())
}

/// A child, and a pipe with all that it prints.
fn started(command: &mut Command) -> io::Result<(PipeReader, Child)> {
    let (printed, writer) = io::pipe()?;
    let input = match io::stdin().is_terminal() {
        true => Stdio::null(),
        false => Stdio::inherit(),
    };
    command
        .stdin(input)
        .stdout(writer.try_clone()?)
        .stderr(writer);
    Ok((printed, lead_group(command).spawn()?))
}

/// Sends what a program prints to standard error, but for what the simulator says of calls that it refuses: that.
fn tell(printed: PipeReader) -> String {
    let mut printed = BufReader::new(printed);
    let mut terminal = Escaping::new(io::stderr());
    let (mut line, mut refused, mut left) = (Vec::new(), String::new(), 0);
    while printed
        .read_until(b'\n', &mut line)
        .is_ok_and(|read| read > 0)
    {
        let text = String::from_utf8_lossy(&line);
        left = match left {
            _ if text.starts_with(REFUSED) => REFUSED_LINES,
            left if text.starts_with('\t') => usize::saturating_sub(left, 1),
            _ => 0,
        };
        if left > 0 {
            refused += &text;
        } else {
            // Nothing can be done about a standard error that cannot be written to.
            let _ = terminal.write_all(&line);
        }
        line.clear();
    }
    let _ = terminal.flush();
    refused
}

#[derive(Deserialize)]
#[serde(untagged)]
enum PluginLine {
    Source { source: String },
    Launch(LaunchCounts),
}

type Kernels = Vec<(String, CountedCase)>;

/// What the plugin wrote: kernels with their launches, and the texts that they stand in.
fn read(text: &str) -> Result<(Kernels, BTreeMap<String, String>), String> {
    let mut kernels: Vec<((String, u64), CountedCase)> = Vec::new();
    let mut sources = BTreeMap::new();
    for line in text.lines() {
        let mut counts = match serde_json::from_str(line) {
            Ok(PluginLine::Launch(counts)) => counts,
            Ok(PluginLine::Source { source }) => {
                sources.insert(name_of_text(sources.len() as u64 + 1), source);
                continue;
            }
            // Of a program that was ended.
            Err(error) if error.is_eof() => break,
            Err(error) => return Err(error.to_string()),
        };
        if counts.unordered {
            return Err(format!("the items of {} ran in no order", counts.kernel));
        }
        let file = name_of_text(counts.program);
        let own = counts.instructions.iter_mut();
        own.filter(|one| one.file == PROGRAM_TEXT)
            .for_each(|one| one.file.clone_from(&file));
        let name = (counts.kernel.clone(), counts.program);
        let wg = WorkGroup(counts.wg);
        let launch = CountedLaunch {
            timed: true,
            counts,
        };
        match kernels.iter_mut().find(|(known, _)| *known == name) {
            Some((_, case)) => case.launches.push(launch),
            None => kernels.push((
                name,
                CountedCase {
                    wg,
                    params: Params::new(),
                    launches: vec![launch],
                    wrong: None,
                },
            )),
        }
    }
    let names: Vec<String> = kernels.iter().map(|((name, _), _)| name.clone()).collect();
    let is_shared = |name: &String| names.iter().filter(|other| *other == name).count() > 1;
    let named = kernels
        .into_iter()
        .map(|((name, program), case)| match is_shared(&name) {
            true => (format!("{name} of {}", name_of_text(program)), case),
            false => (name, case),
        });
    Ok((named.collect(), sources))
}

fn name_of_text(program: u64) -> String {
    format!("program{program}.cl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_of_a_kernel_are_one_case_and_lines_have_their_program() {
        let launch = |kernel: &str, program: u64| {
            format!(
                r#"{{"kernel":"{kernel}","program":{program},"wg":[8,8,1],"groups":1,"items":64,"warps":2,"barriers":1,"copies":0,
                "private":0,"unordered":false,"instructions":[{{"file":"input.cl","line":3,"issued":2,"lanes":64,"flops":0,
                "memory":{{}}}}]}}"#
            )
            .replace('\n', "")
        };
        let lines = [
            r#"{"source":"a\nb"}"#.to_owned(),
            launch("a", 1),
            r#"{"source":"c"}"#.to_owned(),
            launch("b", 2),
        ];
        let read_with = |last: &str| read(&format!("{}\n{last}", lines.join("\n"))).unwrap();
        let names = |kernels: &Kernels| {
            kernels
                .iter()
                .map(|(name, case)| format!("{name}: {}", case.launches.len()))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            names(&read_with(&launch("a", 2)).0),
            ["a of program1.cl: 1", "b: 1", "a of program2.cl: 1"]
        );
        let (kernels, sources) = read_with(&launch("a", 1));
        assert_eq!(names(&kernels), ["a: 2", "b: 1"]);
        assert_eq!(
            sources.keys().collect::<Vec<_>>(),
            ["program1.cl", "program2.cl"]
        );
        assert_eq!(
            kernels[0].1.launches[1].counts.by_line()[0].0,
            "program1.cl"
        );
        // What an ended program had not written down to its end is left out.
        assert_eq!(names(&read_with(&launch("a", 1)[..40]).0), ["a: 1", "b: 1"]);
        assert!(read("x").is_err());
        assert!(
            read(&launch("a", 1).replace("false", "true"))
                .unwrap_err()
                .contains("in no order")
        );
    }
}

//! The simulator: kernels run in Oclgrind, where a plugin of ours counts what they do, or for its own findings: races, accesses
//! out of bounds, values that were never set. The plugin is built once with the system's C++ compiler and kept.

mod program;

pub use program::CountedProgram;

use crate::processes::output_within;
use crate::worker::{Interrupted, Lost, Setup, Tell, WorkerProcess, Wrapper};
use gpulab_model::Joined;
use gpulab_model::outcome::{Executor, LaunchedOnce, Status, Stop};
use gpulab_model::plan::{Case, Target, WorkGroup};
use gpulab_model::{Error, Result};
use gpulab_record::files::{self, ScratchFolder};
use gpulab_study::count::{
    COMPUTE_UNITS, CheckFinding, CountedCase, CountedLaunch, FindingKind, LaunchCounts,
    LockstepModel, TracedLaunch, traced,
};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{env, fs, io};

/// The plugin counts, and gives kernels what Oclgrind lacks.
const SOURCE: &str = concat!(
    include_str!("simulator/plugin.cpp"),
    include_str!("simulator/subgroups.cpp"),
    include_str!("simulator/intrinsics.cpp"),
    include_str!("simulator/calls.cpp")
);

/// In front of each OpenCL program, so that it may name what the plugin gives it.
const DECLARATIONS: &str = include_str!("simulator/subgroups.cl");

/// What to install for counting.
pub const PACKAGES: &str = "Debian/Ubuntu oclgrind liboclgrind-dev opencl-headers g++; elsewhere Oclgrind with its headers, OpenCL's headers and a \
     C++ compiler";

/// With which the plugin is tested.
const TESTED: &str = "Oclgrind 21.10";

/// The folder of built plugins, below that for data.
pub const PLUGINS_FOLDER: &str = "count";

const OCLGRIND: &str = "oclgrind";

/// Longest that building the plugin and its trial may take, each; and that a look at what is there may.
const LONGEST: Duration = Duration::from_secs(300);
const LOOK: Duration = Duration::from_secs(30);

/// Names the C++ compiler.
const COMPILER: &str = "CXX";

/// Oclgrind and the plugin that was built for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simulator {
    /// As in `Oclgrind 21.10`.
    pub version: String,
    folder: PathBuf,
    plugin: PathBuf,
}

impl Simulator {
    /// Finds Oclgrind, and builds the plugin below `folder` unless it is there.
    pub fn prepare(folder: &Path) -> Result<Simulator> {
        let simulator = Simulator::find(folder)?;
        if !simulator.plugin.is_file() {
            build(&simulator)?;
        }
        // What runs in it writes there, and would say of its own file that it is missing.
        let trial = simulator.counts_file();
        fs::write(&trial, "")
            .and_then(|()| fs::remove_file(&trial))
            .map_err(unwritable(&trial))?;
        Ok(simulator)
    }

    /// Says whether [`Simulator::prepare`] would succeed, and changes nothing: what there is.
    pub fn look(folder: &Path) -> Result<String> {
        let Simulator {
            mut version,
            plugin,
            ..
        } = Simulator::find(folder)?;
        if version != TESTED {
            version += &format!(" (gpulab is tested with {TESTED})");
        }
        if plugin.is_file() {
            return Ok(format!(
                "{version}, with its plugin in {}",
                plugin.display()
            ));
        }
        let compiler = compile(None)?;
        Ok(format!("{version}, with {compiler} to build its plugin"))
    }

    /// The plugin, a shared library.
    pub fn plugin(&self) -> &Path {
        &self.plugin
    }

    /// What each program is built with, to have what the plugin gives it.
    pub fn build_options(&self, model: LockstepModel) -> String {
        format!(
            "-DGPULAB_WARP={} -include \"{}\"",
            model.warp,
            declarations(&self.plugin).display()
        )
    }

    /// Whether Oclgrind runs a plugin as it is meant: another version may have other classes.
    fn try_out(&self, plugin: &Path) -> Result<()> {
        const KERNEL: &str =
            "__kernel void k(__global int *x) { x[get_global_id(0)] = sub_group_reduce_add(1); }";
        const LAUNCH: &str = "k.cl\nk\n64 1 1\n32 1 1\n<size=256 fill=0>\n";
        let unwritable = Error::unwritten("a scratch folder");
        let scratch = ScratchFolder::new().map_err(unwritable)?;
        let at = |name: &str| scratch.path().join(name);
        for (name, text) in [("k.cl", KERNEL), ("k.sim", LAUNCH)] {
            fs::write(at(name), text).map_err(unwritable)?;
        }
        let model = LockstepModel::USUAL;
        let mut command = Command::new("oclgrind-kernel");
        command
            .args(["--build-options", &self.build_options(model), "--plugins"])
            .arg(plugin)
            .arg("k.sim");
        command
            .current_dir(scratch.path())
            .envs(model_variables(model))
            .env("GPULAB_COUNT_FILE", at("counts"));
        // Without this program nobody knows before a kernel is counted.
        let output = match output_within(&mut command, "", LONGEST) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            tried => tried.map_err(|error| {
                Error::Failed(format!("oclgrind-kernel cannot run the plugin: {error}"))
            })?,
        };
        let counts = fs::read_to_string(at("counts")).ok();
        let counts: Option<LaunchCounts> = counts.and_then(|text| serde_json::from_str(&text).ok());
        let is_right = counts.is_some_and(|counts| {
            let written = counts.total().memory.global_write;
            (
                counts.groups,
                counts.items,
                written.requests,
                written.segments,
            ) == (2, 64, 2, 8)
        });
        if output.status.success() && is_right {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&[output.stderr, output.stdout].concat()).into_owned();
        let said = said
            .lines()
            .find(|line| !line.trim().is_empty())
            .map_or_else(String::new, |line| format!(": {line}"));
        Err(Error::Failed(format!(
            "{} does not run the plugin that counts, as {TESTED} does, with which gpulab is tested ({}{said}). Debian 12 and \
             Ubuntu 22.04 and 24.04 have that version",
            self.version, output.status
        )))
    }

    /// Oclgrind, and where its plugin is or will be.
    fn find(folder: &Path) -> Result<Simulator> {
        let version = version()?;
        let folder = folder.join(PLUGINS_FOLDER);
        let mut hasher = Sha256::new();
        [SOURCE, DECLARATIONS, &version]
            .iter()
            .for_each(|text| hasher.update(text));
        let hash: String = hasher
            .finalize()
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let plugin = folder.join(format!("{}_{hash}.so", files::name_of(&[&version])));
        Ok(Simulator {
            version,
            folder,
            plugin,
        })
    }

    /// A place for the counts of a run of this process.
    fn counts_file(&self) -> PathBuf {
        self.folder.join(format!("{}.jsonl", std::process::id()))
    }

    /// The simulator round a worker; its plugin writes what it counts for this machine to a file, and what the first groups do
    /// to another one.
    fn wrapper(&self, model: LockstepModel, counts: &Path) -> Wrapper {
        // A GPU's local memory, where Oclgrind has less; one thread, so that counts come in one order.
        let args = [
            "--num-threads",
            "1",
            "--local-mem-size",
            "49152",
            "--build-options",
        ]
        .map(OsString::from);
        let log = log_file(counts).into_os_string();
        let more = [
            self.build_options(model).into(),
            "--plugins".into(),
            self.plugin.clone().into(),
            "--log".into(),
            log,
        ];
        let numbers = model_variables(model).map(|(name, value)| (name, value.into()));
        let file = ("GPULAB_COUNT_FILE", counts.as_os_str().to_owned());
        Wrapper {
            program: Some(OCLGRIND.into()),
            args: args.into_iter().chain(more).collect(),
            variables: numbers.into_iter().chain([file]).collect(),
        }
    }
}

/// Where the simulator of a file of counts writes what it says itself.
fn log_file(counts: &Path) -> PathBuf {
    counts.with_extension("log")
}

/// The environment variables that carry a machine's model to the plugin.
pub fn model_variables(model: LockstepModel) -> [(&'static str, String); 6] {
    let LockstepModel {
        machine: _,
        warp,
        segment,
        banks,
        rule,
        partitions,
        units,
    } = model;
    [
        ("GPULAB_COUNT_WARP", warp.to_string()),
        ("GPULAB_COUNT_SEGMENT", segment.to_string()),
        ("GPULAB_COUNT_BANKS", banks.to_string()),
        ("GPULAB_COUNT_RULE", rule.name().to_owned()),
        ("GPULAB_COUNT_PARTITIONS", partitions.to_string()),
        ("GPULAB_COUNT_UNITS", units.to_string()),
    ]
}

/// What is missing, and what to install.
fn missing(what: &str) -> Error {
    Error::NoDevice(format!(
        "gpulab count runs kernels in the simulator Oclgrind: {what}; to install: {PACKAGES}"
    ))
}

/// Oclgrind's name and version, as it says them.
pub fn version() -> Result<String> {
    let output = match output_within(Command::new(OCLGRIND).arg("--version"), "", LOOK) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(missing("it is not installed"));
        }
        Err(error) => return Err(missing(&format!("it does not answer ({error})"))),
        Ok(output) => output,
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("Oclgrind "));
    line.map(str::to_owned)
        .ok_or_else(|| missing("oclgrind does not report its version"))
}

/// The file of [`DECLARATIONS`] of a plugin.
fn declarations(plugin: &Path) -> PathBuf {
    plugin.with_extension("cl")
}

fn build(simulator: &Simulator) -> Result<()> {
    let plugin = &simulator.plugin;
    install(plugin, |unfinished| {
        fs::write(declarations(plugin), DECLARATIONS).map_err(unwritable(plugin))?;
        compile(Some(unfinished)).and_then(|_| simulator.try_out(unfinished))
    })
}

/// Has a library made under another name first, so that it is there complete or not at all.
pub(crate) fn install(library: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let unwritable = unwritable(library);
    library
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .map_err(unwritable)?;
    // Another thread may be building it, too.
    static BUILDS: AtomicU64 = AtomicU64::new(0);
    let number = BUILDS.fetch_add(1, Ordering::Relaxed);
    let unfinished = library.with_extension(format!("{}.{number}.part", std::process::id()));
    let renamed = |()| fs::rename(&unfinished, library).map_err(unwritable);
    let built = make(&unfinished).and_then(renamed);
    // What is left of a failure is of no use.
    built.inspect_err(|_| drop(fs::remove_file(&unfinished)))
}

/// Of a file in the folder for data.
pub(crate) fn unwritable(path: &Path) -> impl Fn(io::Error) -> Error + Copy {
    move |why| {
        let why = format!("{why}; GPULAB_DATA may name another folder");
        Error::unwritten(path)(io::Error::other(why))
    }
}

fn compile(to: Option<&Path>) -> Result<String> {
    // LLVM and Oclgrind are built without run-time types.
    compile_library(SOURCE, &["-fno-rtti"], to)
}

/// Compiles a source to a library, or without a file only looks whether it compiles; the compiler that did.
pub(crate) fn compile_library(
    source: &'static str,
    flags: &[&str],
    to: Option<&Path>,
) -> Result<String> {
    let given = env::var(COMPILER)
        .ok()
        .filter(|given| !given.trim().is_empty());
    let candidates = given.map_or_else(
        || ["c++", "g++", "clang++"].map(str::to_owned).to_vec(),
        |given| vec![given],
    );
    for candidate in &candidates {
        match run_compiler(candidate, source, flags, to) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                return Err(Error::Failed(format!(
                    "the C++ compiler {candidate} gives no plugin: {error}"
                )));
            }
            Ok(output) if output.status.success() => return Ok(candidate.clone()),
            Ok(output) => {
                return Err(not_built(
                    candidate,
                    &String::from_utf8_lossy(&output.stderr),
                ));
            }
        }
    }
    Err(missing(&format!(
        "there is no C++ compiler ({}) to build its plugin with",
        candidates.join(", ")
    )))
}

/// Runs a compiler, which may be given with arguments, over a source.
fn run_compiler(
    compiler: &str,
    source: &'static str,
    flags: &[&str],
    to: Option<&Path>,
) -> io::Result<Output> {
    let mut words = compiler.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command
        .args(words)
        .args(["-std=c++17", "-O2", "-fPIC", "-shared", "-x", "c++", "-"]);
    command.args(flags);
    match to {
        Some(to) => command.arg("-o").arg(to),
        None => command.arg("-fsyntax-only"),
    };
    output_within(
        &mut command,
        source,
        if to.is_some() { LONGEST } else { LOOK },
    )
}

/// Why the plugin was not built: mostly for want of a header.
fn not_built(compiler: &str, said: &str) -> Error {
    for (header, why) in [
        ("oclgrind/", "its headers"),
        ("CL/cl.h", "OpenCL's headers"),
    ] {
        let is_missing = said
            .lines()
            .any(|line| line.contains(header) && line.contains("file"));
        if is_missing && said.contains("fatal error") {
            return missing(&format!("{why} are not installed"));
        }
    }
    let first = said
        .lines()
        .find(|line| line.contains("error"))
        .or(said.lines().next())
        .unwrap_or("it said nothing");
    Error::Failed(format!(
        "{compiler} cannot build the simulator's plugin, which is tested with {TESTED}: {first}"
    ))
}

/// Orders of a group's work-items between two barriers, as the plugin knows them. OpenCL promises none, and in step those of a
/// warp at most.
pub const ORDERS: [&str; 5] = [
    "all work-items in step",
    "warp after warp, first to last",
    "warp after warp, last to first",
    "work-item after work-item, first to last",
    "work-item after work-item, last to first",
];

/// A worker process in the simulator.
pub struct CountingWorker {
    worker: WorkerProcess,
    wrapper: Wrapper,
    /// Where the plugin writes a line for each launch.
    file: PathBuf,
    /// Lines that were read.
    read: usize,
    /// Where the plugin writes what warps do, if it does.
    trace: PathBuf,
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
    ) -> Result<CountingWorker> {
        let file = simulator.counts_file();
        let trace = file.with_extension("trace");
        let log = SimulatorLog::at(log_file(&file));
        // Of a process with this number that was ended.
        [&file, &trace]
            .into_iter()
            .for_each(|file| drop(fs::remove_file(file)));
        let setup = Setup {
            device: None,
            as_gpu: Some(COMPUTE_UNITS),
            subgroups: true,
            ..setup
        };
        let mut wrapper = simulator.wrapper(model, &file);
        if let Some(groups) = groups {
            wrapper.variables.extend([
                ("GPULAB_TRACE_FILE", trace.clone().into()),
                ("GPULAB_TRACE_GROUPS", groups.to_string().into()),
            ]);
        }
        let worker =
            WorkerProcess::open(setup, Some(wrapper.clone()), deadline, interrupted, tell)?;
        Ok(CountingWorker {
            worker,
            wrapper,
            file,
            read: 0,
            trace,
            deadline,
            log,
            tell,
        })
    }

    /// Has the work-items of the next cases run in one of [`ORDERS`]. What they read is compared with what they read in the first
    /// order that was asked for: `reads` is a file for it. Each case may take as long as `deadline`.
    pub fn order(&mut self, order: &str, reads: &Path, deadline: Duration) -> Result<()> {
        self.deadline = deadline;
        // It may end amid a line, of a worker that was ended.
        drop(fs::remove_file(&self.trace));
        let mut wrapper = self.wrapper.clone();
        wrapper.variables.extend([
            ("GPULAB_ORDER", order.into()),
            ("GPULAB_READS_FILE", reads.into()),
        ]);
        self.worker = self.worker.within(wrapper)?;
        Ok(())
    }

    /// What plans are made for.
    pub fn target(&self) -> &Target {
        &self.worker.info().target
    }

    /// Launches a case's kernels once and counts. What stops the case is no error of the run, nor that it takes too long.
    pub fn count(&mut self, case: &Case) -> Result<Result<CountedCase, Stop>> {
        let launched = self.worker.launch_once_within(case, self.deadline)?;
        let lines = self.new_lines()?;
        self.log
            .new_findings()
            .iter()
            .for_each(|found| (self.tell)(&format!("the simulator: {}", found.sentence())));
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
            Err(Lost::Died(how)) => Err(Error::Failed(format!(
                "while running a case's kernels once, {how}"
            ))),
        }
    }

    /// As [`CountingWorker::count`], with what the first groups of each launch did.
    pub fn trace(&mut self, case: &Case) -> Result<Result<(CountedCase, Vec<TracedLaunch>), Stop>> {
        let counted = match self.count(case)? {
            Ok(counted) => counted,
            Err(stop) => return Ok(Err(stop)),
        };
        let text = fs::read_to_string(&self.trace).unwrap_or_default();
        let mut launches = traced(&text)
            .map_err(|e| Error::Failed(format!("what the kernel did cannot be read: {e}")))?;
        // Those of the kernel that says what is right came before.
        let others = launches.len().saturating_sub(counted.launches.len());
        Ok(Ok((counted, launches.split_off(others))))
    }

    /// The lines that the plugin wrote since the last case.
    fn new_lines(&mut self) -> Result<Vec<String>> {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        let lines: Vec<String> = text.lines().skip(self.read).map(str::to_owned).collect();
        self.read += lines.len();
        Ok(lines)
    }
}

impl Drop for CountingWorker {
    fn drop(&mut self) {
        [&self.file, &self.trace]
            .into_iter()
            .for_each(|file| drop(fs::remove_file(file)));
    }
}

/// The counts of what was launched, of which there is a line each, behind those of the kernel that said what is right.
fn counted(launched: LaunchedOnce, lines: &[String]) -> Result<CountedCase> {
    let LaunchedOnce {
        wg,
        params,
        launches,
        wrong,
    } = launched;
    if lines.len() < launches.len() {
        return Err(Error::Failed(format!(
            "the simulator's plugin wrote {} of {} launches: this Oclgrind cannot load it (its LLVM must export its C \
             interface, as a distribution's does)",
            lines.len(),
            launches.len()
        )));
    }
    let before = lines.len() - launches.len();
    let launches = launches
        .into_iter()
        .zip(&lines[before..])
        .map(|((kernel, timed), line)| {
            let counts: LaunchCounts = serde_json::from_str(line).map_err(|e| {
                Error::Failed(format!("the counts of {kernel} cannot be read: {e}"))
            })?;
            match counts.kernel == kernel && !counts.unordered {
                true => Ok(CountedLaunch { timed, counts }),
                false => Err(Error::Failed(format!(
                    "the counts of {kernel} cannot be trusted: they are of {}{}",
                    counts.kernel,
                    if counts.unordered {
                        ", whose items ran in no order"
                    } else {
                        ""
                    }
                ))),
            }
        });
    Ok(CountedCase {
        wg,
        params,
        launches: launches.collect::<Result<_, _>>()?,
        wrong,
    })
}

/// Most findings that the simulator writes down of a run.
const MOST_FINDINGS: &str = "2000";

const MISSING: &str = "the simulator Oclgrind is not installed or does not start; to install: \
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
        Checked {
            findings: Vec::new(),
            end: CheckEnd::Stopped(why.into()),
        }
    }

    /// What a log says; where the simulator cannot go on, that is no fault of the kernel.
    fn of_log(log: &str, ordered: Option<OrderedItems>, mut end: CheckEnd) -> Checked {
        let (lost, findings): (Vec<_>, Vec<_>) = findings(log, ordered)
            .into_iter()
            .partition(|found| found.said.starts_with(LOST));
        if let Some(lost) = lost.into_iter().next() {
            end = CheckEnd::Stopped(lost.said);
        }
        Checked { findings, end }
    }

    /// Why there may be faults beside those that were found.
    pub fn doubt(&self) -> Option<&str> {
        match &self.end {
            CheckEnd::Stopped(why) => Some(why),
            CheckEnd::Wrong if self.findings.is_empty() => {
                Some("its result is wrong in the simulator")
            }
            CheckEnd::Right | CheckEnd::Wrong => None,
        }
    }
}

/// A worker process in the simulator.
pub struct CheckingWorker {
    worker: WorkerProcess,
    log: SimulatorLog,
    /// Without the search for values that were never set.
    wrapper: Wrapper,
    /// Work-items of a sub-group, where kernels have the functions of sub-groups.
    width: Option<u64>,
    /// Whether barriers of sub-groups order the work-items of one, which the simulator's search for races does not see.
    pub has_subgroup_barriers: bool,
}

impl CheckingWorker {
    /// Starts a worker in the simulator, which writes below `folder`. Each case may take as long as `deadline`. With the plugin of
    /// a `simulator`, kernels have sub-groups of so many work-items.
    pub fn open(
        folder: &Path,
        setup: Setup,
        deadline: Duration,
        subgroups: Option<(&Simulator, u64)>,
        (interrupted, tell): (Interrupted, Tell),
    ) -> Result<CheckingWorker> {
        version().map_err(|_| Error::NoDevice(MISSING.into()))?;
        fs::create_dir_all(folder).map_err(Error::unwritten(folder))?;
        // Another thread may have one, too.
        static WORKERS: AtomicU64 = AtomicU64::new(0);
        let number = WORKERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("check-{}.{number}.log", std::process::id());
        let log = SimulatorLog::at(folder.join(name));
        fs::write(&log.file, "").map_err(Error::unwritten(&log.file))?;
        let setup = Setup {
            device: None,
            as_gpu: Some(COMPUTE_UNITS),
            memory: None,
            subgroups: subgroups.is_some(),
            ..setup
        };
        let wrapper = checking_wrapper(&log, subgroups);
        let mut searching = wrapper.clone();
        searching.args.push("--uninitialized".into());
        let worker = WorkerProcess::open(setup, Some(searching), deadline, interrupted, tell)?;
        Ok(CheckingWorker {
            worker,
            log,
            wrapper,
            width: subgroups.map(|(_, width)| width),
            has_subgroup_barriers: false,
        })
    }

    /// What plans are made for.
    pub fn target(&self) -> &Target {
        &self.worker.info().target
    }

    /// Launches a case's kernels once, and again where values that were never set used up all that the simulator writes down;
    /// or does not look for these.
    pub fn check(
        &mut self,
        case: &Case,
        limit: Duration,
        looks_for_unset: bool,
    ) -> Result<Checked> {
        let width = self.width.filter(|_| self.has_subgroup_barriers);
        let ordered = width.map(|width| OrderedItems {
            group: case.wg,
            width,
        });
        if !looks_for_unset {
            let mut worker = self.worker.within(self.wrapper.clone())?;
            let end = ended(&mut worker, case, limit)?;
            return Ok(Checked::of_log(&self.log.text(), ordered, end));
        }
        let mut end = ended(&mut self.worker, case, limit)?;
        let mut text = self.log.text();
        if end != CheckEnd::Right || !text.is_empty() {
            // The simulator counts what it writes down over all cases.
            self.worker.renew();
        }
        let is_search_lost = text.contains(LOST_SEARCH);
        if is_search_lost || text.contains(SUPPRESSING) {
            // What was late will be late again, but tells of other faults on its way.
            let is_late = matches!(end, CheckEnd::Stopped(_));
            let rest = if is_late { limit / 2 } else { limit };
            let again = ended(&mut self.worker.within(self.wrapper.clone())?, case, rest)?;
            if is_search_lost {
                text.clear();
            }
            text += &self.log.text();
            if again == CheckEnd::Right {
                end = CheckEnd::Stopped(match is_search_lost {
                    true => {
                        "values never set were not looked for: the simulator cannot, in this kernel"
                            .to_owned()
                    }
                    false => format!(
                        "the simulator writes down {MOST_FINDINGS} findings; mend these, and check again"
                    ),
                });
            } else if !is_late {
                end = again;
            }
        }
        Ok(Checked::of_log(&text, ordered, end))
    }
}

/// The simulator, which looks for races.
fn checking_wrapper(log: &SimulatorLog, subgroups: Option<(&Simulator, u64)>) -> Wrapper {
    // Its check for values that were never set does not know what an optimiser makes of vectors.
    let mut options = "-cl-opt-disable".to_owned();
    let mut wrapper = Wrapper {
        program: Some(OCLGRIND.into()),
        ..Wrapper::default()
    };
    if let Some((simulator, warp)) = subgroups {
        let model = LockstepModel {
            warp,
            ..LockstepModel::USUAL
        };
        options += &format!(" {}", simulator.build_options(model));
        wrapper.args = ["--num-threads", "1", "--plugins"]
            .map(OsString::from)
            .into();
        wrapper.args.push(simulator.plugin().into());
        let variables = model_variables(model).map(|(name, value)| (name, value.into()));
        wrapper.variables = variables.into();
        wrapper.variables.extend([
            ("GPULAB_COUNT_FILE", "/dev/null".into()),
            ("GPULAB_RACES", "1".into()),
        ]);
    }
    let args = [
        "--build-options",
        &options,
        "--data-races",
        // More than any device has: what a kernel takes is told, and not refused.
        "--local-mem-size",
        "1048576",
        "--max-errors",
        MOST_FINDINGS,
        "--log",
    ];
    wrapper.args.extend(args.map(OsString::from));
    wrapper.args.push(log.file.clone().into());
    wrapper
}

/// Work-items that a barrier of sub-groups orders, of which the search for races does not know.
#[derive(Clone, Copy)]
struct OrderedItems {
    group: WorkGroup,
    width: u64,
}

impl OrderedItems {
    /// The sub-group of a work-item, as in `Global(9,0,0) Local(1,0,0) Group(1,0,0)`.
    fn sub_group(self, item: &str) -> Option<u64> {
        let local = item.split_once("Local(")?.1.split_once(')')?.0;
        let mut place = 0;
        let mut below = 1;
        for (at, size) in local.split(',').zip(self.group.0) {
            place += at.parse::<u64>().ok()? * below;
            below *= size as u64;
        }
        Some(place / self.width)
    }
}

fn ended(worker: &mut WorkerProcess, case: &Case, limit: Duration) -> Result<CheckEnd> {
    Ok(match worker.launch_once_within(case, limit)? {
        Ok(Ok(_)) => CheckEnd::Right,
        Ok(Err(stop)) if stop.status == Status::WrongResult => CheckEnd::Wrong,
        Ok(Err(stop)) => CheckEnd::Stopped(stop.reason),
        Err(lost) => CheckEnd::Stopped(lost.to_string()),
    })
}

/// The file, which goes with this.
struct SimulatorLog {
    file: PathBuf,
    /// Bytes of it that were read; the next process of the simulator writes it anew.
    read: usize,
}

impl SimulatorLog {
    fn at(file: PathBuf) -> SimulatorLog {
        // Of a process with this number that was ended.
        drop(fs::remove_file(&file));
        SimulatorLog { file, read: 0 }
    }

    /// What was said since the last time, each place once.
    fn new_findings(&mut self) -> Vec<CheckFinding> {
        let text = self.text();
        let new = findings(text.get(self.read..).unwrap_or_default(), None);
        self.read = text.len();
        new
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.file).unwrap_or_default()).into_owned()
    }
}

impl Drop for SimulatorLog {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.file));
    }
}

/// What the simulator says before it writes down no more of what it finds.
const SUPPRESSING: &str = "suppressing further errors";

/// What a log says, each place once. Races between work-items that are `ordered` are none.
fn findings(log: &str, ordered: Option<OrderedItems>) -> Vec<CheckFinding> {
    let mut all: Vec<CheckFinding> = Vec::new();
    let mut open: Option<CheckFinding> = None;
    // Of the two sides of a race.
    let mut groups: Vec<&str> = Vec::new();
    let mut first = None;
    for line in log.lines() {
        let is_heading = !line.starts_with(char::is_whitespace) && !line.trim().is_empty();
        if let Some(fatal) = open
            .as_mut()
            .filter(|found| is_heading && found.said.starts_with(FATAL))
        {
            // Its heading names a line of the simulator's own text.
            fatal.kind = FindingKind::Other;
            fatal.said = format!("{LOST}{}", line.trim());
            close(open.take(), &mut all);
        } else if is_heading {
            close(open.take(), &mut all);
            groups.clear();
            open = kind(line).map(|kind| CheckFinding {
                kind,
                said: if kind == FindingKind::Call {
                    String::new()
                } else {
                    said(line)
                },
                file: None,
                line: None,
                memory: memory(line),
                is_before: is_before(line),
                other: None,
                between_groups: false,
                times: 1,
            });
        } else if let Some(found) = open
            .as_mut()
            .filter(|found| found.kind == FindingKind::Call)
        {
            // Function, code, and details.
            let part = line.trim();
            let part = part
                .split_once(':')
                .filter(|(name, _)| !name.contains(' '))
                .map_or(part, |(_, said)| said.trim());
            found.said = [found.said.as_str(), part]
                .into_iter()
                .filter(|part| !part.is_empty())
                .joined(", ");
        } else if let Some(found) = &mut open {
            if let Some((_, group)) = line
                .split_once("entity:")
                .and_then(|(_, who)| who.split_once("Group"))
            {
                groups.push(group.trim());
                found.between_groups = groups.first() != Some(&group.trim());
                let sub_group = ordered.and_then(|ordered| ordered.sub_group(line));
                if groups.len() == 1 {
                    first = sub_group;
                } else if found.kind == FindingKind::Race
                    && !found.between_groups
                    && sub_group.is_some()
                    && sub_group == first
                {
                    open = None;
                    continue;
                }
            }
            match place(line.trim()) {
                Some((number, file)) if found.line.is_none() => {
                    found.line = Some(number);
                    found.file = Some(file);
                }
                Some((number, file)) if found.other.is_none() => found.other = Some((file, number)),
                _ => {}
            }
        }
    }
    close(open, &mut all);
    all
}

/// Adds a finding, or counts it where its place is known.
fn close(found: Option<CheckFinding>, all: &mut Vec<CheckFinding>) {
    let Some(found) = found else { return };
    let place = |of: &CheckFinding| {
        let said = of.line.is_none().then(|| of.said.clone());
        (of.kind, of.file.clone(), of.line, of.between_groups, said)
    };
    match all.iter_mut().find(|known| place(known) == place(&found)) {
        Some(known) => known.times += 1,
        None => all.push(found),
    }
}

/// Begins what the simulator says where it cannot go on.
const FATAL: &str = "OCLGRIND FATAL ERROR";

/// Begins what gpulab says of that.
const LOST: &str = "the simulator cannot go on: ";

/// Of its search for values that were never set, which knows no built-in function that writes to a variable, as `sincos`.
const LOST_SEARCH: &str = "/Uninitialized.cpp:";

/// What a heading tells of; nothing that is no finding.
fn kind(heading: &str) -> Option<FindingKind> {
    const KINDS: [(&str, FindingKind); 6] = [
        ("runtime error", FindingKind::Call),
        ("data race", FindingKind::Race),
        ("Invalid read", FindingKind::ReadOutside),
        ("Invalid write", FindingKind::WriteOutside),
        ("ninitialized", FindingKind::Unset),
        ("divergence", FindingKind::Divergence),
    ];
    match KINDS.into_iter().find(|(said, _)| heading.contains(said)) {
        Some((_, kind)) => Some(kind),
        None if heading.contains("Info") || heading.contains(SUPPRESSING) => None,
        None => Some(FindingKind::Other),
    }
}

/// The word before `memory`.
fn memory(heading: &str) -> Option<String> {
    let before = heading.split_once(" memory")?.0;
    before.rsplit(' ').next().map(str::to_owned)
}

/// Whether a heading's address lies before the start of a buffer. The upper 16 bits number buffers.
fn is_before(heading: &str) -> bool {
    const OFFSET_BITS: u32 = 48;
    let mut addresses = heading
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("0x"));
    let address = addresses.find_map(|hex| u64::from_str_radix(hex, 16).ok());
    address.is_some_and(|address| address >> (OFFSET_BITS - 1) & 1 == 1)
}

/// A heading without its address.
fn said(heading: &str) -> String {
    let words = heading
        .split_whitespace()
        .filter(|word| !word.starts_with("0x") && *word != "address" && *word != "at");
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
    use gpulab_model::data::Params;

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
            wrong: None,
        };
        // A reference kernel may even have the rung's name.
        for reference in ["reference", "smooth"] {
            let counted = counted(launched(), &[line(reference, 1), line("smooth", 64)]).unwrap();
            assert_eq!(
                (counted.launches.len(), counted.launches[0].counts.items),
                (1, 64)
            );
        }
        assert!(counted(launched(), &[]).is_err());
        assert!(counted(launched(), &[line("other", 64)]).is_err());
    }

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
        let said: Vec<String> = findings(log, None)
            .into_iter()
            .map(|found| found.said)
            .collect();
        assert_eq!(
            said[0],
            "the simulator cannot go on: Undefined external function: f"
        );
    }

    #[test]
    fn places_are_told_once() {
        let found = findings(LOG, None);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(
            (found[0].kind, found[0].line, found[0].times),
            (FindingKind::Race, Some(5), 2)
        );
        assert_eq!(found[0].said, "Read-write data race local memory");
        assert_eq!(
            (found[1].kind, found[1].line),
            (FindingKind::WriteOutside, None)
        );
        assert_eq!(findings("", None), []);
    }
}

//! The simulator: Oclgrind with our plugin, which is built once with the system's C++ compiler and kept.

use crate::worker::Wrapper;
use gpulab_model::Error;
use gpulab_study::count::{LaunchCounts, LockstepModel};
use gpulab_system::children::output_within;
use gpulab_system::files::{self, ScratchFolder};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{env, fs, io};

/// The plugin counts, and gives kernels what Oclgrind lacks.
const SOURCE: &str = concat!(include_str!("plugin.cpp"), include_str!("subgroups.cpp"), include_str!("intrinsics.cpp"));

/// In front of each OpenCL program, so that it may name what the plugin gives it.
const DECLARATIONS: &str = include_str!("subgroups.cl");

/// What to install for counting.
pub const PACKAGES: &str = "Debian/Ubuntu oclgrind liboclgrind-dev opencl-headers g++; elsewhere Oclgrind with its headers, OpenCL's headers and a \
     C++ compiler";

/// With which the plugin is tested.
const TESTED: &str = "Oclgrind 21.10";

/// The folder of built plugins, below that for data.
pub const PLUGINS_FOLDER: &str = "count";

pub(super) const OCLGRIND: &str = "oclgrind";

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
    pub fn prepare(folder: &Path) -> Result<Simulator, Error> {
        let simulator = Simulator::find(folder)?;
        if !simulator.plugin.is_file() {
            build(&simulator)?;
        }
        Ok(simulator)
    }

    /// Says whether [`Simulator::prepare`] would succeed, and changes nothing: what there is.
    pub fn look(folder: &Path) -> Result<String, Error> {
        let Simulator { mut version, plugin, .. } = Simulator::find(folder)?;
        if version != TESTED {
            version += &format!(" (gpulab is tested with {TESTED})");
        }
        if plugin.is_file() {
            return Ok(format!("{version}, with its plugin in {}", plugin.display()));
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
        format!("-DGPULAB_WARP={} -include \"{}\"", model.warp, declarations(&self.plugin).display())
    }

    /// Whether Oclgrind runs a plugin as it is meant: another version may have other classes.
    fn try_out(&self, plugin: &Path) -> Result<(), Error> {
        const KERNEL: &str = "__kernel void k(__global int *x) { x[get_global_id(0)] = sub_group_reduce_add(1); }";
        const LAUNCH: &str = "k.cl\nk\n64 1 1\n32 1 1\n<size=256 fill=0>\n";
        let unwritable = Error::unwritten("a scratch folder");
        let scratch = ScratchFolder::new().map_err(unwritable)?;
        let at = |name: &str| scratch.path().join(name);
        for (name, text) in [("k.cl", KERNEL), ("k.sim", LAUNCH)] {
            fs::write(at(name), text).map_err(unwritable)?;
        }
        let model = LockstepModel::USUAL;
        let mut command = Command::new("oclgrind-kernel");
        command.args(["--build-options", &self.build_options(model), "--plugins"]).arg(plugin).arg("k.sim");
        command.current_dir(scratch.path()).envs(model_variables(model)).env("GPULAB_COUNT_FILE", at("counts"));
        // Without this program nobody knows before a kernel is counted.
        let output = match output_within(&mut command, "", LONGEST) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            tried => tried.map_err(|error| Error::Failed(format!("oclgrind-kernel cannot run the plugin: {error}")))?,
        };
        let counts = fs::read_to_string(at("counts")).ok();
        let counts: Option<LaunchCounts> = counts.and_then(|text| serde_json::from_str(&text).ok());
        let is_right = counts.is_some_and(|counts| {
            let written = counts.total().memory.global_write;
            (counts.groups, counts.items, written.requests, written.segments) == (2, 64, 2, 8)
        });
        if output.status.success() && is_right {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&[output.stderr, output.stdout].concat()).into_owned();
        let said =
            said.lines().find(|line| !line.trim().is_empty()).map_or_else(String::new, |line| format!(": {line}"));
        Err(Error::Failed(format!(
            "{} does not run the plugin that counts, as {TESTED} does, with which gpulab is tested ({}{said}). Debian 12 and \
             Ubuntu 22.04 and 24.04 have that version",
            self.version, output.status
        )))
    }

    /// Oclgrind, and where its plugin is or will be.
    fn find(folder: &Path) -> Result<Simulator, Error> {
        let version = version()?;
        let folder = folder.join(PLUGINS_FOLDER);
        let mut hasher = Sha256::new();
        [SOURCE, DECLARATIONS, &version].iter().for_each(|text| hasher.update(text));
        let hash: String = hasher.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let plugin = folder.join(format!("{}_{hash}.so", files::name_of(&[&version])));
        Ok(Simulator { version, folder, plugin })
    }

    /// A place for the counts of a run of this process.
    pub(super) fn counts_file(&self) -> PathBuf {
        self.folder.join(format!("{}.jsonl", std::process::id()))
    }

    /// The simulator round a worker; its plugin writes what it counts for this machine to a file, and what the first groups do
    /// to another one.
    pub(super) fn wrapper(&self, model: LockstepModel, counts: &Path, traced: Option<(&Path, u64)>) -> Wrapper {
        // A GPU's local memory, where Oclgrind has less; one thread, so that counts come in one order.
        let args = ["--num-threads", "1", "--local-mem-size", "49152", "--build-options"].map(OsString::from);
        let log = log_file(counts).into_os_string();
        let more =
            [self.build_options(model).into(), "--plugins".into(), self.plugin.clone().into(), "--log".into(), log];
        let numbers = model_variables(model).map(|(name, value)| (name, value.into()));
        let file = ("GPULAB_COUNT_FILE", counts.as_os_str().to_owned());
        let traced = traced.map(|(path, groups)| {
            [("GPULAB_TRACE_FILE", path.as_os_str().to_owned()), ("GPULAB_TRACE_GROUPS", groups.to_string().into())]
        });
        Wrapper {
            program: Some(OCLGRIND.into()),
            args: args.into_iter().chain(more).collect(),
            variables: numbers.into_iter().chain([file]).chain(traced.into_iter().flatten()).collect(),
        }
    }
}

/// Where the simulator of a file of counts writes what it says itself.
pub(super) fn log_file(counts: &Path) -> PathBuf {
    counts.with_extension("log")
}

/// The environment variables that carry a machine's model to the plugin.
pub fn model_variables(model: LockstepModel) -> [(&'static str, String); 6] {
    let LockstepModel { machine: _, warp, segment, banks, rule, partitions, units } = model;
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
    Error::NoDevice(format!("gpulab count runs kernels in the simulator Oclgrind: {what}; to install: {PACKAGES}"))
}

/// Oclgrind's name and version, as it says them.
pub(super) fn version() -> Result<String, Error> {
    let output = match output_within(Command::new(OCLGRIND).arg("--version"), "", LOOK) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(missing("it is not installed")),
        Err(error) => return Err(missing(&format!("it does not answer ({error})"))),
        Ok(output) => output,
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().map(str::trim).find(|line| line.starts_with("Oclgrind "));
    line.map(str::to_owned).ok_or_else(|| missing("oclgrind does not report its version"))
}

/// The file of [`DECLARATIONS`] of a plugin.
fn declarations(plugin: &Path) -> PathBuf {
    plugin.with_extension("cl")
}

/// Builds the plugin under another name first, so that it is there complete or not at all.
fn build(simulator: &Simulator) -> Result<(), Error> {
    let plugin = &simulator.plugin;
    let unwritable = Error::unwritten(plugin);
    plugin.parent().map_or(Ok(()), fs::create_dir_all).map_err(unwritable)?;
    // Another thread may be building it, too.
    static BUILDS: AtomicU64 = AtomicU64::new(0);
    let number = BUILDS.fetch_add(1, Ordering::Relaxed);
    let unfinished = plugin.with_extension(format!("{}.{number}.part", std::process::id()));
    fs::write(declarations(plugin), DECLARATIONS).map_err(unwritable)?;
    let tried = compile(Some(&unfinished)).and_then(|_| simulator.try_out(&unfinished));
    let built = tried.and_then(|()| fs::rename(&unfinished, plugin).map_err(unwritable));
    // What is left of a failure is of no use.
    built.inspect_err(|_| drop(fs::remove_file(&unfinished)))
}

/// Compiles the plugin to a file, or without one only looks whether it compiles; the compiler that did.
fn compile(to: Option<&Path>) -> Result<String, Error> {
    let given = env::var(COMPILER).ok().filter(|given| !given.trim().is_empty());
    let candidates = given.map_or_else(|| ["c++", "g++", "clang++"].map(str::to_owned).to_vec(), |given| vec![given]);
    for candidate in &candidates {
        match run_compiler(candidate, to) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                return Err(Error::Failed(format!("the C++ compiler {candidate} gives no plugin: {error}")));
            }
            Ok(output) if output.status.success() => return Ok(candidate.clone()),
            Ok(output) => return Err(not_built(candidate, &String::from_utf8_lossy(&output.stderr))),
        }
    }
    Err(missing(&format!("there is no C++ compiler ({}) to build its plugin with", candidates.join(", "))))
}

/// Runs a compiler, which may be given with arguments, over the plugin's source.
fn run_compiler(compiler: &str, to: Option<&Path>) -> io::Result<Output> {
    let mut words = compiler.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    // LLVM and Oclgrind are built without run-time types.
    command.args(words).args(["-std=c++17", "-O2", "-fPIC", "-shared", "-fno-rtti", "-x", "c++", "-"]);
    match to {
        Some(to) => command.arg("-o").arg(to),
        None => command.arg("-fsyntax-only"),
    };
    output_within(&mut command, SOURCE, if to.is_some() { LONGEST } else { LOOK })
}

/// Why the plugin was not built: mostly for want of a header.
fn not_built(compiler: &str, said: &str) -> Error {
    let is_missing = |header: &str| said.lines().any(|line| line.contains(header) && line.contains("file"));
    if is_missing("oclgrind/") && said.contains("fatal error") {
        return missing("its headers are not installed");
    }
    if is_missing("CL/cl.h") && said.contains("fatal error") {
        return missing("OpenCL's headers are not installed");
    }
    let first = said.lines().find(|line| line.contains("error")).or(said.lines().next()).unwrap_or("it said nothing");
    Error::Failed(format!("{compiler} cannot build the simulator's plugin, which is tested with {TESTED}: {first}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_are_missing_have_a_package() {
        let gcc = "<stdin>:36:10: fatal error: oclgrind/Context.h: No such file or directory";
        let clang = "<stdin>:36:10: fatal error: 'oclgrind/Context.h' file not found";
        for said in [gcc, clang] {
            let error = not_built("c++", said);
            assert_eq!(error.exit_code(), 3);
            assert!(error.to_string().contains("liboclgrind-dev"), "{error}");
        }
        let error =
            not_built("c++", "/usr/include/oclgrind/common.h:12:10: fatal error: CL/cl.h: No such file or directory");
        assert!(error.to_string().contains("OpenCL's headers"), "{error}");
        let error = not_built("g++", "note\n<stdin>:80:1: error: unknown type");
        assert_eq!((error.exit_code(), error.to_string().contains("<stdin>:80:1: error: unknown type")), (1, true));
    }
}

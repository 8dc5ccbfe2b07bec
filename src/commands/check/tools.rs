//! Compilers: those of the drivers that are here, and Clang for devices that are not.

use super::sources::Source;
use super::{Cache, Look};
use crate::device::{BuildUnit, TriedBuild};
use crate::files::ScratchFolder;
use crate::interrupt;
use crate::outcome::DeviceInfo;
use crate::processes::output_within;
use crate::report::format;
use crate::report::verdict::{Finding, Level, NotLookedAt};
use crate::worker::{Setup, WorkerProcess, Wrapper};
use crate::{Error, Result};
use gpulab_model::Joined;
use std::process::Command;
use std::time::Duration;

/// Longest that a compiler may take for a file.
const LONGEST: Duration = Duration::from_secs(30);

/// What Clang compiles for: AMD's GPUs, and SPIR-V, of which only the front end is asked.
pub const TARGETS: [&str; 5] = ["gfx906", "gfx90a", "gfx1030", "gfx1100", SPIR];
const SPIR: &str = "spir64";

/// A device's driver. Its compiler may end the process that it runs in, or never end.
pub struct Driver<'a> {
    device: &'a DeviceInfo,
    /// From the first file on that no cache knows.
    worker: Option<Result<(WorkerProcess, ScratchFolder)>>,
}

impl Driver<'_> {
    pub fn new(device: &DeviceInfo) -> Driver<'_> {
        Driver {
            device,
            worker: None,
        }
    }

    /// What it makes of a file.
    pub fn look(&mut self, source: &mut Source, cache: &Cache<'_>) {
        let tool = format::device(&self.device.platform);
        let question = format!("{tool} {}", self.device.driver);
        let look = cache.look(&question, source, || {
            let options = source.options.iter().cloned();
            let unit = BuildUnit {
                path: source.file.clone(),
                text: source.text.clone(),
                defines: options.map(|option| (option, String::new())).collect(),
                kernels: Vec::new(),
            };
            let worker = self.worker.get_or_insert_with(|| open(self.device));
            let tried = match worker {
                Ok((worker, _)) => worker.try_build(unit, LONGEST),
                Err(why) => Err(Error::Failed(why.to_string())),
            };
            match tried {
                Ok(Ok(tried)) => told(&tried, source, &tool),
                Ok(Err(stop)) => {
                    let tried = TriedBuild {
                        log: stop.reason,
                        ..TriedBuild::default()
                    };
                    told(&tried, source, &tool)
                }
                Err(why) => left(why.to_string(), source, &tool),
            }
        });
        source.looks.push(look);
    }
}

/// A worker, and the folder that keeps what it builds.
fn open(device: &DeviceInfo) -> Result<(WorkerProcess, ScratchFolder)> {
    let scratch = ScratchFolder::new().map_err(Error::unwritten("a temporary folder"))?;
    let setup = Setup {
        device: Some(device.selector.clone()),
        ..Setup::default()
    };
    let wrapper = Wrapper {
        variables: vec![("POCL_CACHE_DIR", scratch.path().into())],
        ..Wrapper::default()
    };
    let mut worker = WorkerProcess::open(
        setup,
        Some(wrapper),
        LONGEST,
        interrupt::interrupted,
        |_| (),
    )?;
    // The first build starts the compiler, which is no file's time.
    let _ = worker.try_build(BuildUnit::default(), LONGEST);
    Ok((worker, scratch))
}

/// What a compiler made of a file.
fn told(tried: &TriedBuild, source: &Source, tool: &str) -> Look {
    let mut findings: Vec<Finding> = tried
        .log
        .lines()
        .filter_map(|line| said(line, source, tool))
        .collect();
    if !tried.is_built && findings.iter().all(|found| found.level != Level::Error) {
        let log = tried.log.lines().take(2).joined(" ");
        findings.push(finding(("build_error", Level::Error, log), source, tool));
    }
    let seconds = Some(tried.seconds).filter(|seconds| seconds[1] > 0.0);
    findings.extend(seconds.map(|seconds| {
        let [cold, again] = seconds.map(format::time);
        let message = format!("{cold} of processor time, and {again} when built again");
        finding(("build_time", Level::Note, message), source, tool)
    }));
    Look {
        findings,
        is_built: Some(tried.is_built),
        seconds,
        ..Look::default()
    }
}

fn left(why: String, source: &Source, tool: &str) -> Look {
    let what = format!("{} by {tool}", source.file);
    Look {
        not_looked_at: vec![NotLookedAt { what, why }],
        ..Look::default()
    }
}

fn finding((rule, level, message): (&str, Level, String), source: &Source, tool: &str) -> Finding {
    Finding {
        level,
        file: Some(source.file.clone()),
        ..Finding::new(rule, message, tool)
    }
}

/// The error or warning of a line of a compiler's log: `blur.cl:4:13: error: ...`, or of PoCL `error: blur.cl:4:13: ...`.
fn said(line: &str, source: &Source, tool: &str) -> Option<Finding> {
    let kinds = [
        ("error: ", "build_error", Level::Error),
        ("warning: ", "build_warning", Level::Warning),
    ];
    let (kind, rule, level) = kinds.into_iter().find(|(kind, ..)| line.contains(kind))?;
    let (mut place, mut message) = line.split_once(kind)?;
    if place.is_empty() {
        (place, message) = message.split_once(": ").unwrap_or(("", message));
    }
    let message = message.split(" [-W").next()?.to_owned();
    let mut parts = place.split(':');
    Some(Finding {
        file: Some(source.path_of(parts.next())),
        line: parts
            .next()
            .and_then(|line| line.parse().ok())
            .filter(|line| *line > 0),
        ..finding((rule, level, message), source, tool)
    })
}

/// Begins the option that names a version of OpenCL C.
const STANDARD: &str = "-cl-std=";

/// Clang, as distributions have it.
pub struct Clang {
    program: String,
    /// What it says of its version.
    version: String,
}

impl Clang {
    /// The newest that is here and knows AMD's GPUs, or what to install.
    pub fn find() -> Result<Clang, &'static str> {
        let numbered = (13..30).rev().map(|number| format!("clang-{number}"));
        let mut programs = ["clang".to_owned()].into_iter().chain(numbered);
        let clang = programs.find_map(|program| {
            let arguments = ["--version", "--print-targets"];
            let asked = arguments.map(|argument| {
                output_within(Command::new(&program).arg(argument), "", LONGEST)
                    .map(|told| String::from_utf8_lossy(&told.stdout).into_owned())
            });
            let [Ok(version), Ok(targets)] = asked else {
                return None;
            };
            let is_for_amd = targets.contains("amdgcn");
            is_for_amd.then_some(Clang { program, version })
        });
        clang.ok_or("Clang is not installed: apt-get install clang")
    }

    /// Which version of OpenCL C a file needs, the least with which it builds, and which extensions; and what it says of the file
    /// for each target. Sets the version where no option does.
    pub fn look(&self, source: &mut Source, cache: &Cache<'_>) {
        let needs = cache.look(&format!("{} needs", self.version), source, || {
            let needs = self
                .needs_of(source)
                .unwrap_or_else(|| "CL1.2 ?".to_owned());
            Look {
                findings: vec![finding(("needs", Level::Note, needs), source, SPIR)],
                ..Look::default()
            }
        });
        source.needs = needs.findings[0].message.clone();
        let version = source.needs.split(' ').next().unwrap_or_default();
        if !source
            .options
            .iter()
            .any(|option| option.starts_with(STANDARD))
        {
            source.options.push(format!("{STANDARD}{version}"));
        }
        source.looks.push(needs);
        for target in TARGETS {
            let look = cache.look(&format!("{} {target}", self.version), source, || {
                self.compile(source, target, &source.options)
            });
            source.looks.push(look);
        }
    }

    /// As in `CL2.0 cl_khr_fp64`; nothing of what does not build.
    fn needs_of(&self, source: &Source) -> Option<String> {
        const VERSIONS: [&str; 3] = ["CL1.2", "CL2.0", "CL3.0"];
        const EXTENSIONS: &str = "cl_khr_fp64 cl_khr_fp16 cl_khr_subgroups cl_khr_int64_base_atomics \
            cl_khr_int64_extended_atomics cl_khr_3d_image_writes cl_intel_subgroups";
        let builds = |target: &str, version: &str, more: &str| {
            let own = format!("{STANDARD}{version} -fsyntax-only {more}");
            let own: Vec<String> = own.split_whitespace().map(str::to_owned).collect();
            let look = self.compile(source, target, &[&own[..], &source.options].concat());
            look.is_built == Some(true)
        };
        let mut versions = VERSIONS
            .into_iter()
            .filter(|version| builds(SPIR, version, ""));
        let first = versions.next()?;
        let version = [first]
            .into_iter()
            .chain(versions)
            .find(|version| builds(TARGETS[0], version, ""))
            .unwrap_or(first);
        let without = |name: &str| builds(SPIR, version, &format!("-Xclang -cl-ext=-{name}"));
        let is_plain = without("all");
        let needed = EXTENSIONS.split_whitespace();
        let needed = needed.filter(|name| !is_plain && !without(name));
        Some([version].into_iter().chain(needed).joined(" "))
    }

    fn compile(&self, source: &Source, target: &str, options: &[String]) -> Look {
        let mut command = Command::new(&self.program);
        command.args("-x cl -Xclang -finclude-default-header -nogpulib -fno-caret-diagnostics -c -o /dev/null".split(' '));
        if source.text.contains("intel_") {
            // Functions of Intel's extensions are in Clang's slow header alone.
            command.arg("-cl-no-stdinc");
        }
        match target {
            SPIR => command.args(["-target", SPIR, "-emit-llvm"]),
            gpu => command.args(["-target", "amdgcn-amd-amdhsa", &format!("-mcpu={gpu}")]),
        };
        command.args(options.iter().filter(|option| !option.is_empty()));
        match output_within(command.arg("-"), &source.text, LONGEST) {
            Err(error) => left(format!("{}: {error}", self.program), source, target),
            Ok(output) => {
                let tried = TriedBuild {
                    is_built: output.status.success(),
                    log: String::from_utf8_lossy(&output.stderr).into_owned(),
                    ..TriedBuild::default()
                };
                told(&tried, source, target)
            }
        }
    }
}

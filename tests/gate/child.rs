//! Children of a gate: the same binary again, which does one job on one driver. Drivers are chosen by the environment,
//! and a wrong kernel may crash or hang a process: it must not be the gate's own.

use gpulab::device::{list_platforms, opencl::OpenClDevice, select};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// An OpenCL implementation that gates run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Driver {
    Pocl,
    Intel,
    Oclgrind,
}

impl Driver {
    pub const ALL: [Driver; 3] = [Driver::Pocl, Driver::Intel, Driver::Oclgrind];

    pub fn name(self) -> &'static str {
        match self {
            Driver::Pocl => "pocl",
            Driver::Intel => "intel",
            Driver::Oclgrind => "oclgrind",
        }
    }

    /// What selects its device.
    pub fn selector(self) -> &'static str {
        if self == Driver::Pocl {
            "portable"
        } else {
            self.name()
        }
    }

    /// Opens its device, in a child.
    pub fn open(self) -> Result<OpenClDevice, String> {
        let platforms = list_platforms().map_err(|e| e.to_string())?;
        let info = select::select(&platforms, Some(self.selector())).map_err(|e| e.to_string())?;
        OpenClDevice::open(info).map_err(|e| e.to_string())
    }

    /// A command that runs `program` on this driver; `scratch` is an empty folder of its own.
    pub fn command(self, program: &Path, scratch: &Path) -> Result<Command, String> {
        let mut command = match self {
            Driver::Oclgrind => {
                let mut command = Command::new("oclgrind");
                // Its check for uninitialised values does not know the vector reductions that an optimiser makes.
                command.args(["--build-options", "-cl-opt-disable"]);
                command
                    .args([
                        "--data-races",
                        "--uninitialized",
                        "--check-api",
                        "--max-errors",
                        "100000",
                        "--log",
                    ])
                    .arg(log(scratch));
                command.arg(program);
                command
            }
            _ => Command::new(program),
        };
        if self == Driver::Intel {
            let lib = intel_lib()?;
            fs::write(
                scratch.join("intel.icd"),
                format!("{}\n", lib.join("libintelocl.so").display()),
            )
            .map_err(io)?;
            command
                .env("OCL_ICD_VENDORS", scratch)
                .env("LD_LIBRARY_PATH", lib);
        }
        // `scripts/test` has a cache for all tests, in which the right kernels are already.
        if std::env::var_os("POCL_CACHE_DIR").is_none() {
            command.env(
                "POCL_CACHE_DIR",
                Path::new(env!("CARGO_TARGET_TMPDIR")).join("gate-pocl-cache"),
            );
        }
        command.env_remove("GPULAB_DEVICE").stdin(Stdio::null());
        Ok(command)
    }
}

/// The drivers that a gate must run on: those that `GPULAB_TEST_DRIVERS` names, else all.
pub fn drivers() -> Result<Vec<Driver>, String> {
    let Ok(named) = std::env::var("GPULAB_TEST_DRIVERS") else {
        return Ok(Driver::ALL.to_vec());
    };
    let known = |name: &str| Driver::ALL.into_iter().find(|driver| driver.name() == name);
    let drivers: Vec<Driver> = named.split(',').filter_map(known).collect();
    if drivers.is_empty() {
        Err(format!(
            "GPULAB_TEST_DRIVERS={named}: no driver of this gate"
        ))
    } else {
        Ok(drivers)
    }
}

/// Where `scripts/test` installs Intel's runtime.
fn intel_lib() -> Result<PathBuf, String> {
    let named = std::env::var_os("GPULAB_INTEL_LIB").map(PathBuf::from);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .map(|target| target.join("test-tools/intel/lib"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache =
        cache.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")));
    let places = [
        named,
        target,
        cache.map(|cache| cache.join("gpulab-tests/intel/lib")),
    ];
    let found = places
        .into_iter()
        .flatten()
        .find(|lib| lib.join("libintelocl.so").exists());
    found.ok_or_else(|| "Intel's OpenCL runtime is missing: scripts/test installs it".into())
}

/// How a job of a child ended.
pub struct Called {
    pub end: End,
    /// What Oclgrind found.
    pub log: String,
}

pub enum End {
    /// With an answer.
    Done(String),
    /// By a signal, or without an answer.
    Died(String),
    /// It did not: it was killed after its deadline.
    TimedOut,
}

/// A job's function, in the child: it turns the driver and the question into an answer.
pub type Work = fn(Driver, &str) -> Result<String, String>;

/// Has a child of the gate do a job of `kind` on a driver.
pub fn call(
    kind: &str,
    driver: Driver,
    question: &str,
    deadline: Duration,
) -> Result<Called, String> {
    let scratch = tempfile::tempdir().map_err(io)?;
    let (asked, answered) = (
        scratch.path().join("question"),
        scratch.path().join("answer"),
    );
    fs::write(&asked, question).map_err(io)?;
    let this = std::env::current_exe().map_err(io)?;
    let mut command = driver.command(&this, scratch.path())?;
    command
        .args(["child", kind, driver.name()])
        .arg(&asked)
        .arg(&answered);
    // A kernel may print without end.
    let (status, said) = finish(command, scratch.path(), deadline)?;
    let end = match (status, fs::read_to_string(&answered)) {
        (None, _) => End::TimedOut,
        (Some(status), Ok(answer)) if status.success() => End::Done(answer),
        (Some(status), _) => End::Died(format!("{status}: {said}")),
    };
    Ok(Called {
        end,
        log: fs::read_to_string(log(scratch.path())).unwrap_or_default(),
    })
}

/// Runs a command to its end, or kills it after its deadline; gives the last of what it wrote to standard error.
pub fn finish(
    mut command: Command,
    scratch: &Path,
    deadline: Duration,
) -> Result<(Option<ExitStatus>, String), String> {
    let errors = scratch.join("stderr");
    let outputs = fs::File::create(scratch.join("stdout")).map_err(io)?;
    command
        .stdout(outputs)
        .stderr(fs::File::create(&errors).map_err(io)?);
    let mut child = command
        .spawn()
        .map_err(|e| format!("{:?}: {e}", command.get_program()))?;
    let status = wait(&mut child, deadline)?;
    let said = fs::read(&errors).map_err(io)?;
    let said = String::from_utf8_lossy(&said[said.len().saturating_sub(2000)..])
        .trim()
        .to_owned();
    Ok((status, said))
}

fn wait(child: &mut Child, deadline: Duration) -> Result<Option<ExitStatus>, String> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(io)? {
            return Ok(Some(status));
        }
        if started.elapsed() >= deadline {
            child.kill().and_then(|()| child.wait()).map_err(io)?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The other side of [`call`]: `KIND DRIVER QUESTION ANSWER`.
pub fn serve(args: &[String], works: &[(&str, Work)]) -> ExitCode {
    let [kind, driver, asked, answered] = args else {
        return ExitCode::from(2);
    };
    let driver = Driver::ALL.into_iter().find(|known| known.name() == driver);
    let work = works.iter().find(|(known, _)| known == kind);
    let (Some(driver), Some((_, work))) = (driver, work) else {
        return ExitCode::from(2);
    };
    let done = fs::read_to_string(asked)
        .map_err(io)
        .and_then(|question| work(driver, &question));
    match done.and_then(|answer| fs::write(answered, answer).map_err(io)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn log(scratch: &Path) -> PathBuf {
    scratch.join("oclgrind.log")
}

/// As many jobs at a time as there are cores.
pub const ALL_CORES: usize = 0;

/// Does the jobs, so many at a time, and gives their results in order.
pub fn in_parallel<J: Sync, R: Send>(
    at_once: usize,
    jobs: &[J],
    work: impl Fn(&J) -> R + Sync + Send,
) -> Result<Vec<R>, String> {
    let pool = ThreadPoolBuilder::new()
        .num_threads(at_once)
        .build()
        .map_err(|e| e.to_string())?;
    Ok(pool.install(|| jobs.par_iter().with_max_len(1).map(work).collect()))
}

pub fn io(error: std::io::Error) -> String {
    error.to_string()
}

/// Copies a folder and all that is in it.
pub fn copy_tree(from: &Path, to: &Path) -> Result<(), String> {
    fs::create_dir_all(to).map_err(io)?;
    for entry in fs::read_dir(from).map_err(io)? {
        let path = entry.map_err(io)?.path();
        let to = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_tree(&path, &to)?
        } else {
            fs::copy(&path, to).map(drop).map_err(io)?
        }
    }
    Ok(())
}

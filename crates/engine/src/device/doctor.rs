//! What of OpenCL is installed on this machine and works. Whatever runs a driver's code can crash the process, so it runs in one of
//! its own.

use super::opencl::OpenClDevice;
use super::{BuildUnit, Device, DeviceError, LIBRARY_VARIABLE, forward, list_platforms, loader};
use crate::processes;
use gpulab_model::outcome::{DeviceInfo, PlatformInfo};
use gpulab_model::plan::{Arg, Launch};
use gpulab_model::{Error, Result};
use gpulab_record::files;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs, io, thread};

/// Set in the child processes: what they are to find out.
const TASK: &str = "GPULAB_DOCTOR_TASK";

/// Longest that listing may take: the first to touch a driver waits for all its devices to wake up.
pub const LISTING: Duration = Duration::from_secs(30);

/// In the name of PoCL's platform.
pub const POCL: &str = "Portable Computing";

/// How the event times of a device relate to the host's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timer {
    /// Longer kernels take longer, within the wall time.
    Real,
    /// Times that have nothing to do with the kernel.
    Fake,
    /// The driver gives no times.
    Missing,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Probe {
    pub timer: Timer,
    /// Event time of the longer test kernel, in nanoseconds; 0 without one.
    pub event_ns: u64,
    /// Wall time of the same launch, in nanoseconds.
    pub wall_ns: u64,
}

pub struct ListedDriver {
    pub file: PathBuf,
    pub library: String,
    /// Why it does not load.
    pub problem: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub struct LibraryFound {
    /// The library: its path where that can be told, else the name that it was found by.
    pub library: Option<String>,
    /// What was tried in vain, each with the system's words.
    pub failures: Vec<String>,
    /// Whether it came with the process, as a simulator does.
    pub preloaded: bool,
}

/// Loads OpenCL's library in a child process.
pub fn opencl() -> Result<LibraryFound, String> {
    in_child("opencl", Instant::now() + LISTING)
        .map_err(|how| format!("while OpenCL's library was loaded, {how}"))
}

/// In a child process: the answer to its task. In any other: nothing.
pub fn child_answer() -> Option<String> {
    let task = env::var(TASK).ok()?;
    processes::end_with_parent();
    let (what, argument) = task.split_once(' ').unwrap_or((&task, ""));
    let answer = match what {
        "platforms" => serde_json::to_string(&list_platforms().map_err(|e| e.to_string())),
        "opencl" => {
            // Once it is loaded, the process has OpenCL whatever it came with.
            let preloaded = forward::is_preloaded();
            let loader = loader();
            let library = loader.path().or_else(|| loader.found.clone());
            serde_json::to_string(&Ok::<_, String>(LibraryFound {
                library,
                failures: loader.failures.clone(),
                preloaded,
            }))
        }
        "library" => serde_json::to_string(&forward::try_library(argument)),
        _ => serde_json::to_string(&probe(argument).map_err(|e| e.to_string())),
    };
    Some(answer.unwrap_or_default())
}

/// Every platform that can be listed, and what went wrong with others.
#[derive(Default)]
pub struct Listing {
    /// In order. Where a driver broke, these are numbered as if it were not there.
    pub platforms: Vec<PlatformInfo>,
    /// What each broken driver did.
    pub broken: Vec<String>,
}

impl Listing {
    /// Nothing but what went wrong with all of it.
    pub fn broken(problem: String) -> Listing {
        Listing {
            platforms: Vec::new(),
            broken: vec![problem],
        }
    }
}

/// Lists the platforms in a child process. If that does not live through it, nor for OpenCL's own library, asks each
/// driver in one of its own.
pub fn listing(until: Instant) -> Result<Listing, String> {
    match ask_child(Command::new(program()?), "platforms", until) {
        Ok(answer) => Ok(Listing {
            platforms: answer?,
            broken: Vec::new(),
        }),
        Err(how) => Ok(match opencl() {
            Ok(_) => driver_by_driver(&how, until),
            Err(problem) => Listing {
                platforms: Vec::new(),
                broken: vec![problem],
            },
        }),
    }
}

/// Every platform, unless a driver broke: then numbers would mean other devices.
pub fn platforms() -> Result<Vec<PlatformInfo>> {
    let Listing { platforms, broken } =
        listing(Instant::now() + LISTING).map_err(Error::NoDevice)?;
    if broken.is_empty() {
        Ok(platforms)
    } else {
        Err(Error::Failed(broken.join("\n")))
    }
}

/// Asks each driver alone; all at once, as each may take until its deadline.
fn driver_by_driver(how: &str, until: Instant) -> Listing {
    // What came with the process is in every child.
    let files = if forward::is_preloaded() {
        Vec::new()
    } else {
        registrations()
    };
    let mut listing = Listing::default();
    thread::scope(|scope| {
        let asking: Vec<_> = files
            .iter()
            .map(|file| scope.spawn(|| ask_driver(file, until)))
            .collect();
        for (file, thread) in files.iter().zip(asking) {
            match thread
                .join()
                .unwrap_or_else(|_| Err("it could not be asked".to_owned()))
            {
                Ok(platforms) => listing.platforms.extend(platforms),
                Err(problem) => listing
                    .broken
                    .push(format!("{}: {problem}", file.display())),
            }
        }
    });
    if listing.broken.is_empty() {
        listing
            .broken
            .push(format!("while OpenCL listed its devices, {how}"));
    }
    let mut row = 0;
    for (index, platform) in listing.platforms.iter_mut().enumerate() {
        platform.index = index;
        for (number, device) in platform.devices.iter_mut().enumerate() {
            (device.index, device.selector) = (row, format!("{index}:{number}"));
            row += 1;
        }
    }
    listing
}

fn ask_driver(file: &Path, until: Instant) -> Result<Vec<PlatformInfo>, String> {
    let Some(library) = library(file) else {
        return Ok(Vec::new());
    };
    let folder =
        files::ScratchFolder::new().map_err(|e| format!("it cannot be asked alone: {e}"))?;
    let registration = fs::write(folder.path().join("alone.icd"), format!("{library}\n"));
    registration.map_err(|e| format!("it cannot be asked alone: {e}"))?;
    let mut command = Command::new(program()?);
    command
        .env("OCL_ICD_VENDORS", folder.path())
        .env_remove("OCL_ICD_FILENAMES")
        .env_remove("OPENCL_VENDOR_PATH");
    ask_child(command, "platforms", until)?
}

/// Compiles and runs a tiny kernel on a device, in a child process.
pub fn check_device(info: &DeviceInfo, until: Instant) -> Result<Probe, String> {
    in_child(&format!("device {}", info.selector), until)
}

/// Each driver, loaded by itself.
pub fn drivers(until: Instant) -> Vec<ListedDriver> {
    let found = registrations()
        .into_iter()
        .filter_map(|file| Some((library(&file)?, file)));
    found
        .map(|(library, file)| {
            let problem = in_child::<()>(&format!("library {library}"), until).err();
            ListedDriver {
                file,
                library,
                problem,
            }
        })
        .collect()
}

/// The library that a file registers: its first line, or the file itself.
fn library(file: &Path) -> Option<String> {
    match file.extension().is_some_and(|e| e == "icd") {
        true => Some(
            fs::read_to_string(file)
                .ok()?
                .lines()
                .next()?
                .trim()
                .to_owned(),
        ),
        false => Some(file.display().to_string()),
    }
}

/// The files that OpenCL's loaders read: those that the environment names, else the system's.
fn registrations() -> Vec<PathBuf> {
    if let Some(list) = env::var_os("OCL_ICD_FILENAMES").filter(|v| !v.is_empty()) {
        return env::split_paths(&list).collect();
    }
    let named = ["OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"]
        .iter()
        .find_map(env::var_os)
        .filter(|v| !v.is_empty());
    let folder = named.map_or_else(|| PathBuf::from("/etc/OpenCL/vendors"), PathBuf::from);
    if folder.extension().is_some_and(|e| e == "icd" || e == "so") {
        return vec![folder];
    }
    let entries = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path());
    let mut files: Vec<_> = entries
        .filter(|f| f.extension().is_some_and(|e| e == "icd"))
        .collect();
    files.sort();
    files
}

/// Runs this program once more with a task, and reads its answer. Says how it died if it did.
fn in_child<T: DeserializeOwned>(task: &str, until: Instant) -> Result<T, String> {
    ask_child(Command::new(program()?), task, until)?
}

fn program() -> Result<PathBuf, String> {
    env::current_exe().map_err(|e| format!("gpulab cannot find its own program: {e}"))
}

/// Runs this program with a task; its answer, or how it died.
fn ask_child<T: DeserializeOwned>(
    mut command: Command,
    task: &str,
    until: Instant,
) -> Result<Result<T, String>, String> {
    let limit = until.saturating_duration_since(Instant::now());
    if limit.is_zero() {
        return Err("not looked at: others took too long".to_owned());
    }
    let asked = processes::output_within(command.arg("doctor").env(TASK, task), "", limit);
    let output = asked.map_err(|error| match error.kind() {
        io::ErrorKind::TimedOut => format!(
            "the driver did not answer within {} s",
            limit.as_secs_f64().ceil()
        ),
        _ => format!("no process could be started: {error}"),
    })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let memory = processes::address_space_limit()
        .map(|limit| format!("; {limit}"))
        .unwrap_or_default();
    let perhaps = "an old or damaged cache of it may be why";
    serde_json::from_str(text.trim()).map_err(|_| {
        format!(
            "the driver ended the process ({}); {perhaps}{memory}",
            output.status
        )
    })
}

/// The event time and the wall time of a launch.
type Nanoseconds = (u64, u64);

/// Work-items of the test kernel.
const ITEMS: usize = 64;

const SOURCE: &str = r#"#line 1 "doctor.cl"
__kernel void doctor(__global uint *out, uint steps) {
    uint x = get_global_id(0);
    for (uint i = 0; i < steps; ++i)
        x = x * 1664525u + 1u;
    out[get_global_id(0)] = x;
}
"#;

fn probe(selector: &str) -> Result<Probe, DeviceError> {
    let platforms = list_platforms()?;
    let info = platforms
        .iter()
        .flat_map(|p| &p.devices)
        .find(|d| d.selector == selector);
    let info = info.ok_or_else(|| DeviceError::other("clGetDeviceIDs", "the device is gone"))?;
    let mut device = OpenClDevice::open(info)?;
    let mut tries = 0;
    loop {
        let short = test(&mut device, 64)?;
        let long = test(&mut device, 4096)?;
        let timer = classify(&short, &long);
        tries += 1;
        // On a busy machine a real timer may look like a fake once.
        if timer != Timer::Fake || tries == 3 {
            let last = long.last().copied().unwrap_or_default();
            return Ok(Probe {
                timer,
                event_ns: last.0,
                wall_ns: last.1,
            });
        }
    }
}

/// Event and wall nanoseconds of each run of the test kernel, if its result is right.
fn test(device: &mut OpenClDevice, steps: u32) -> Result<Vec<Nanoseconds>, DeviceError> {
    let program = device.build(&BuildUnit {
        path: "doctor.cl".to_owned(),
        text: SOURCE.to_owned(),
        defines: Vec::new(),
        kernels: vec!["doctor".to_owned()],
    })?;
    // Memory that was never written may hold an earlier, right result.
    let mut bytes = vec![0xA5; 4 * ITEMS];
    let buffer = device.alloc(bytes.len())?;
    device.write(buffer, 0, &bytes)?;
    let launch = Launch::linear(
        "doctor",
        ITEMS,
        1,
        vec![Arg::Buffer(buffer), Arg::Uint(steps)],
    );
    let mut times = Vec::new();
    for _ in 0..4 {
        let timing = device.run(program, std::slice::from_ref(&launch))?;
        let event = timing
            .stamps
            .first()
            .map_or(0, |stamps| stamps.end.saturating_sub(stamps.start));
        times.push((event, (timing.wall_s * 1e9) as u64));
    }
    // The first run pays for what drivers put off until then.
    times.remove(0);
    device.read(buffer, 0, &mut bytes)?;
    let found = bytes
        .chunks_exact(4)
        .map(bytemuck::pod_read_unaligned::<u32>);
    match found
        .zip(0u32..)
        .all(|(x, id)| x == (0..steps).fold(id, |x, _| x.wrapping_mul(1_664_525).wrapping_add(1)))
    {
        true => Ok(times),
        false => Err(DeviceError::other(
            "clEnqueueNDRangeKernel",
            "the test kernel ran but its result is wrong",
        )),
    }
}

/// Judges a timer by (event, wall) nanoseconds of a short kernel and of one 64 times as long.
fn classify(short: &[Nanoseconds], long: &[Nanoseconds]) -> Timer {
    if short.iter().chain(long).all(|&(event, _)| event == 0) {
        return Timer::Missing;
    }
    let longest = long.iter().map(|&(event, _)| event).max();
    let shortest = short.iter().map(|&(event, _)| event).min();
    let is_impossible = long.iter().any(|&(event, wall)| event < 50 || event > wall);
    if is_impossible || longest <= shortest {
        Timer::Fake
    } else {
        Timer::Real
    }
}

/// What keeps PoCL from its cache, without which it has no devices or builds nothing, and does not say so.
pub(super) fn pocl_cache_problem() -> Option<String> {
    let folder = pocl_cache().filter(|folder| !is_writable(folder))?;
    Some(format!(
        "its cache folder {} is not writable: set POCL_CACHE_DIR to one that is",
        folder.display()
    ))
}

/// The folder that PoCL keeps compiled kernels in.
pub fn pocl_cache() -> Option<PathBuf> {
    [
        ("POCL_CACHE_DIR", ""),
        ("XDG_CACHE_HOME", "pocl"),
        ("HOME", ".cache/pocl"),
    ]
    .into_iter()
    .find_map(|(name, below)| {
        let folder = env::var_os(name).filter(|v| !v.is_empty())?;
        Some(if below.is_empty() {
            PathBuf::from(folder)
        } else {
            Path::new(&folder).join(below)
        })
    })
}

/// Whether a file can be made in the folder, or in what is there of the path to it.
pub fn is_writable(folder: &Path) -> bool {
    let mut there = folder.ancestors().map(|f| {
        if f.as_os_str().is_empty() {
            Path::new(".")
        } else {
            f
        }
    });
    // What is there but no folder can hold nothing.
    let Some(existing) = there.find(|f| f.symlink_metadata().is_ok()) else {
        return false;
    };
    let test = existing.join(format!(".gpulab-doctor-{}", std::process::id()));
    fs::write(&test, b"").is_ok() && fs::remove_file(&test).is_ok()
}

/// Something that can be missing, and the packages of several systems that bring it.
#[derive(Serialize)]
pub struct Remedy {
    pub what: &'static str,
    pub packages: &'static str,
}

const LOADER: Remedy = Remedy {
    what: "OpenCL's loader",
    packages: "Debian/Ubuntu ocl-icd-libopencl1; Fedora OpenCL-ICD-Loader (before 41: ocl-icd); Arch ocl-icd",
};
const CPU: Remedy = Remedy {
    what: "a driver for any CPU (PoCL)",
    packages: "Debian/Ubuntu pocl-opencl-icd; Fedora pocl; Arch pocl",
};
const INTEL_CPU: Remedy = Remedy {
    what: "Intel's driver for x86 CPUs",
    packages: "PyPI intel-opencl-rt (point OCL_ICD_VENDORS to a folder with an .icd file that names its libintelocl.so)",
};

/// The driver for each vendor's GPUs, by the vendor's PCI number and a word in its name.
const GPUS: [(&str, &str, Remedy); 3] = [
    (
        "0x10de",
        "nvidia",
        Remedy {
            what: "the driver for NVIDIA GPUs",
            packages: "Debian nvidia-opencl-icd; Ubuntu libnvidia-compute-<version> (libnvidia-opencl is in it); \
                       Fedora (RPM Fusion) xorg-x11-drv-nvidia-cuda; Arch opencl-nvidia",
        },
    ),
    (
        "0x1002",
        "advanced micro devices",
        Remedy {
            what: "a driver for AMD GPUs",
            packages: "Debian/Ubuntu mesa-opencl-icd (RUSTICL_ENABLE=radeonsi) or rocm-opencl-runtime; \
                       Fedora mesa-libOpenCL or rocm-opencl; Arch opencl-mesa or rocm-opencl-runtime",
        },
    ),
    (
        "0x8086",
        "intel",
        Remedy {
            what: "the driver for Intel GPUs",
            packages: "Debian/Ubuntu intel-opencl-icd; Fedora intel-compute-runtime; Arch intel-compute-runtime",
        },
    ),
];

/// What to install, given the platforms that are there. Without any device: everything that could bring one.
pub fn to_install(platforms: &[PlatformInfo]) -> Vec<Remedy> {
    let devices: Vec<&DeviceInfo> = platforms.iter().flat_map(|p| &p.devices).collect();
    let mut missing = Vec::new();
    if env::var_os(LIBRARY_VARIABLE).is_none()
        && opencl().is_ok_and(|found| found.library.is_none())
    {
        missing.push(LOADER);
    }
    if !devices.iter().any(|d| d.kind == "cpu") {
        let has_pocl = platforms.iter().any(|p| p.name.contains(POCL));
        missing.extend([CPU, INTEL_CPU].into_iter().skip(usize::from(has_pocl)));
    }
    let cards = fs::read_dir("/sys/class/drm")
        .into_iter()
        .flatten()
        .flatten();
    let cards = cards.filter_map(|card| fs::read_to_string(card.path().join("device/vendor")).ok());
    let cards: Vec<String> = cards.collect();
    for (pci, vendor, remedy) in GPUS {
        let is_served = devices
            .iter()
            .any(|d| d.kind == "gpu" && d.vendor.to_lowercase().contains(vendor));
        let is_there = cards.iter().any(|card| card.trim() == pci)
            || (vendor == "nvidia" && Path::new("/proc/driver/nvidia/version").exists());
        if !is_served && (is_there || devices.is_empty()) {
            missing.push(remedy);
        }
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_are_told_apart() {
        assert_eq!(
            classify(
                &[(3104, 9000), (3072, 9100)],
                &[(91_072, 99_000), (90_112, 98_000)]
            ),
            Timer::Real
        );
        assert_eq!(
            classify(&[(1, 9000), (1, 9000)], &[(1, 99_000), (1, 99_000)]),
            Timer::Fake
        );
        assert_eq!(
            classify(&[(500, 900)], &[(99_000, 90_000)]),
            Timer::Fake,
            "longer than the wall time"
        );
        assert_eq!(
            classify(&[(9000, 9900)], &[(8000, 9900)]),
            Timer::Fake,
            "64 times the work in less time"
        );
        assert_eq!(classify(&[(0, 9000)], &[(0, 9000)]), Timer::Missing);
    }

    #[test]
    fn folders_that_do_not_exist_yet_are_judged_by_the_one_above() {
        let folder = tempfile::tempdir().unwrap();
        assert!(is_writable(&folder.path().join("a/b/c")));
        assert!(!is_writable(Path::new("/proc/none")));
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            0,
            "the test leaves nothing behind"
        );
        let file = folder.path().join("file");
        fs::write(&file, b"").unwrap();
        assert!(
            !is_writable(&file) && !is_writable(&file.join("below")),
            "a file is no folder"
        );
    }
}

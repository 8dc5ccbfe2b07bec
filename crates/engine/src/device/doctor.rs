//! Facts for `gpulab doctor`. Whatever runs a driver's code can crash the process, so it runs in one of its own.

use super::opencl::OpenClDevice;
use super::{BuildUnit, Device, DeviceError, LIBRARY_VARIABLE, Stamps, forward, list_platforms, loader};
use gpulab_model::Error;
use gpulab_model::outcome::{DeviceInfo, PlatformInfo};
use gpulab_model::plan::{Arg, Launch};
use gpulab_system::{children, files, memory};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, fs, io, thread};

/// Set in the child processes: what they are to find out.
const TASK: &str = "GPULAB_DOCTOR_TASK";

/// Longest that all questions of a report may take: a first compilation on a slow machine with cold caches.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// Longest that listing may take: the first to touch a driver waits for all its devices to wake up.
const LISTING: Duration = Duration::from_secs(30);

/// How the event times of a device relate to the host's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timer {
    /// Longer kernels take longer, within the wall time.
    Real,
    /// Real, but only multiples of this many nanoseconds.
    Coarse(u64),
    /// Times that have nothing to do with the kernel.
    Fake,
    /// The driver gives no times.
    Missing,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    pub timer: Timer,
    /// Event time of the longer test kernel, in nanoseconds; 0 without one.
    pub event_ns: u64,
    /// Wall time of the same launch, in nanoseconds.
    pub wall_ns: u64,
    /// Whether a kernel with `double` compiled, ran and was right.
    pub fp64: bool,
}

pub struct Driver {
    pub file: PathBuf,
    pub library: String,
    pub loads: Result<(), String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibraryFound {
    /// The library: its path where that can be told, else the name that it was found by.
    pub found: Option<String>,
    /// What was tried in vain, each with the system's words.
    pub failures: Vec<String>,
    /// Whether it came with the process, as a simulator does.
    pub preloaded: bool,
}

impl LibraryFound {
    fn of_this_process() -> LibraryFound {
        // Once it is loaded, the process has OpenCL whatever it came with.
        let preloaded = forward::is_preloaded();
        let loader = loader();
        LibraryFound {
            found: loader.path().or_else(|| loader.found.clone()),
            failures: loader.failures.clone(),
            preloaded,
        }
    }
}

/// Loads OpenCL's library in a child process.
pub fn opencl() -> Result<LibraryFound, String> {
    in_child("opencl", LISTING).map_err(|how| match env::var_os(LIBRARY_VARIABLE).filter(|v| !v.is_empty()) {
        Some(path) => format!("while {} was loaded, which {LIBRARY_VARIABLE} names, {how}", path.to_string_lossy()),
        None => format!("while OpenCL's library was loaded, {how}"),
    })
}

/// In a child process: the answer to its task. In any other: nothing.
pub fn child_answer() -> Option<String> {
    let task = env::var(TASK).ok()?;
    children::end_with_parent();
    let (what, argument) = task.split_once(' ').unwrap_or((&task, ""));
    let answer = match what {
        "platforms" => serde_json::to_string(&list_platforms().map_err(|e| e.to_string())),
        "opencl" => serde_json::to_string(&Ok::<_, String>(LibraryFound::of_this_process())),
        "library" => serde_json::to_string(&loader::try_library(argument)),
        _ => serde_json::to_string(&probe(argument).map_err(|e| e.to_string())),
    };
    Some(answer.unwrap_or_default())
}

/// Every platform that can be listed, and what went wrong with others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// In order. Where a driver broke, these are numbered as if it were not there.
    pub platforms: Vec<PlatformInfo>,
    /// What each broken driver did.
    pub broken: Vec<String>,
}

impl Listing {
    pub fn nothing(problem: &str) -> Listing {
        Listing { platforms: Vec::new(), broken: vec![problem.to_owned()] }
    }
}

/// Lists the platforms in a child process. If that does not live through it, nor for OpenCL's own library, asks each
/// driver in one of its own.
pub fn listing() -> Result<Listing, String> {
    listing_while(&|| LISTING)
}

/// As [`listing`], while there is time `left`.
pub fn listing_while(left: &(dyn Fn() -> Duration + Sync)) -> Result<Listing, String> {
    match ask_child(Command::new(program()?), "platforms", LISTING.min(left())) {
        Ok(answer) => Ok(Listing { platforms: answer?, broken: Vec::new() }),
        Err(how) => Ok(opencl().map_or_else(|problem| Listing::nothing(&problem), |_| driver_by_driver(&how, left))),
    }
}

/// The platforms or what OpenCL says, if a child process can list them all within this time: for who will not wait for a
/// driver that sleeps.
pub fn listing_within(limit: Duration) -> Result<Result<Vec<PlatformInfo>, String>, String> {
    ask_child(Command::new(program()?), "platforms", limit)
}

/// Every platform, unless a driver broke: then numbers would mean other devices.
pub fn platforms() -> Result<Vec<PlatformInfo>, Error> {
    let Listing { platforms, broken } = listing().map_err(Error::NoDevice)?;
    if broken.is_empty() { Ok(platforms) } else { Err(Error::Failed(broken.join("\n"))) }
}

/// Asks each driver alone; all at once, as each may take until its deadline.
fn driver_by_driver(how: &str, left: &(dyn Fn() -> Duration + Sync)) -> Listing {
    // What came with the process is in every child.
    let files = if forward::is_preloaded() { Vec::new() } else { registrations() };
    let asked: Vec<Result<Vec<PlatformInfo>, String>> = thread::scope(|scope| {
        let asking: Vec<_> = files.iter().map(|file| scope.spawn(|| ask_driver(file, left()))).collect();
        asking
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err("it could not be asked".to_owned())))
            .collect()
    });
    let mut listing = Listing::default();
    for (file, answer) in files.iter().zip(asked) {
        match answer {
            Ok(platforms) => listing.platforms.extend(platforms),
            Err(problem) => listing.broken.push(format!("{}: {problem}", file.display())),
        }
    }
    if listing.broken.is_empty() {
        listing.broken.push(format!("while OpenCL listed its devices, {how}"));
    }
    renumber(&mut listing.platforms);
    listing
}

fn ask_driver(file: &Path, left: Duration) -> Result<Vec<PlatformInfo>, String> {
    let Some(library) = library(file) else { return Ok(Vec::new()) };
    let unusable = |e: std::io::Error| format!("it cannot be asked alone: {e}");
    let folder = files::ScratchFolder::new().map_err(unusable)?;
    fs::write(folder.path().join("alone.icd"), format!("{library}\n")).map_err(unusable)?;
    let mut command = Command::new(program()?);
    command.env("OCL_ICD_VENDORS", folder.path()).env_remove("OCL_ICD_FILENAMES").env_remove("OPENCL_VENDOR_PATH");
    ask_child(command, "platforms", LISTING.min(left))?
}

fn renumber(platforms: &mut [PlatformInfo]) {
    let mut row = 0;
    for (index, platform) in platforms.iter_mut().enumerate() {
        platform.index = index;
        for (number, device) in platform.devices.iter_mut().enumerate() {
            (device.index, device.selector) = (row, format!("{index}:{number}"));
            row += 1;
        }
    }
}

/// Compiles and runs tiny kernels on a device, in a child process.
pub fn check_device(info: &DeviceInfo, limit: Duration) -> Result<Probe, String> {
    in_child(&format!("device {}", info.selector), limit)
}

/// Each driver, loaded by itself, while there is time `left`.
pub fn drivers(left: impl Fn() -> Duration) -> Vec<Driver> {
    registrations()
        .into_iter()
        .filter_map(|file: PathBuf| {
            let library = library(&file)?;
            let loads = in_child(&format!("library {library}"), left());
            Some(Driver { file, library, loads })
        })
        .collect()
}

/// The library that a file registers: its first line, or the file itself.
fn library(file: &Path) -> Option<String> {
    match file.extension().is_some_and(|e| e == "icd") {
        true => Some(fs::read_to_string(file).ok()?.lines().next()?.trim().to_owned()),
        false => Some(file.display().to_string()),
    }
}

/// The files that OpenCL's loaders read: those that the environment names, else the system's.
fn registrations() -> Vec<PathBuf> {
    if let Some(list) = env::var_os("OCL_ICD_FILENAMES").filter(|v| !v.is_empty()) {
        return env::split_paths(&list).collect();
    }
    let named = ["OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"].iter().find_map(env::var_os).filter(|v| !v.is_empty());
    let folder = named.map_or_else(|| PathBuf::from("/etc/OpenCL/vendors"), PathBuf::from);
    if folder.extension().is_some_and(|e| e == "icd" || e == "so") {
        return vec![folder];
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
    let mut files: Vec<_> = entries.filter(|f| f.extension().is_some_and(|e| e == "icd")).collect();
    files.sort();
    files
}

/// Runs this program once more with a task, and reads its answer. Says how it died if it did.
fn in_child<T: DeserializeOwned>(task: &str, limit: Duration) -> Result<T, String> {
    ask_child(Command::new(program()?), task, limit)?
}

fn program() -> Result<PathBuf, String> {
    env::current_exe().map_err(|e| format!("gpulab cannot find its own program: {e}"))
}

/// Runs this program with a task; its answer, or how it died.
fn ask_child<T: DeserializeOwned>(
    mut command: Command,
    task: &str,
    deadline: Duration,
) -> Result<Result<T, String>, String> {
    if deadline.is_zero() {
        return Err(format!("not looked at: others took {} s", DEADLINE.as_secs()));
    }
    let asked = children::output_within(command.arg("doctor").env(TASK, task), "", deadline);
    let output = asked.map_err(|error| match error.kind() {
        io::ErrorKind::TimedOut => format!("the driver did not answer within {} s", deadline.as_secs_f64().ceil()),
        _ => format!("no process could be started: {error}"),
    })?;
    let status = output.status;
    let text = String::from_utf8_lossy(&output.stdout);
    let limit = memory::address_space_limit().map(|limit| format!("; {limit}")).unwrap_or_default();
    let perhaps = "an old or damaged cache of it may be why";
    serde_json::from_str(text.trim()).map_err(|_| format!("the driver ended the process ({status}); {perhaps}{limit}"))
}

/// The event time and the wall time of a launch.
type Nanoseconds = (u64, u64);

/// Work-items of a test kernel.
const ITEMS: usize = 64;
/// Steps of the shorter and the longer test kernel.
const STEPS: [u32; 2] = [64, 4096];
const RUNS: usize = 3;
/// Measurements before a timer is called fake.
const TRIES: usize = 3;

const SOURCE: &str = r#"#line 1 "doctor.cl"
#ifdef FP64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
__kernel void doctor(__global T *out, uint steps) {
    T x = (T)get_global_id(0);
    for (uint i = 0; i < steps; ++i)
        x = x * (T)FACTOR + (T)1;
    out[get_global_id(0)] = x;
}
"#;

fn probe(selector: &str) -> Result<Probe, DeviceError> {
    let platforms = list_platforms()?;
    let info = platforms.iter().flat_map(|p| &p.devices).find(|d| d.selector == selector);
    let info = info.ok_or_else(|| DeviceError::other("clGetDeviceIDs", "the device is gone"))?;
    let mut device = OpenClDevice::open(info)?;
    let mut measure = || -> Result<_, DeviceError> {
        let [short, long] = [integers(&mut device, STEPS[0])?, integers(&mut device, STEPS[1])?];
        Ok((classify(&short, &long), long.last().copied().unwrap_or_default()))
    };
    // On a busy machine a real timer may look like a fake once.
    let mut found = measure()?;
    let mut tries = 1;
    while found.0 == Timer::Fake && tries < TRIES {
        (found, tries) = (measure()?, tries + 1);
    }
    let (timer, (event_ns, wall_ns)) = found;
    let fp64 = info.target.fp64 && doubles(&mut device).unwrap_or(false);
    Ok(Probe { timer, event_ns, wall_ns, fp64 })
}

/// Event and wall nanoseconds of each run of an integer kernel whose every result was right.
fn integers(device: &mut OpenClDevice, steps: u32) -> Result<Vec<Nanoseconds>, DeviceError> {
    let defines = [("T", "uint"), ("FACTOR", "1664525u")];
    let (bytes, times) = test(device, &defines, steps, size_of::<u32>())?;
    let right = |i: u32| (0..steps).fold(i, |x, _| x.wrapping_mul(1_664_525).wrapping_add(1));
    let found: Vec<u32> = bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect();
    if found.iter().zip(0..).all(|(&x, i)| x == right(i)) {
        return Ok(times);
    }
    Err(DeviceError::other("clEnqueueNDRangeKernel", "the test kernel ran but its result is wrong"))
}

/// Whether a kernel in double precision is right: its values, up to 64 * 2^32, need more bits than a float has.
fn doubles(device: &mut OpenClDevice) -> Result<bool, DeviceError> {
    let steps = 32;
    let (bytes, _) = test(device, &[("T", "double"), ("FACTOR", "2"), ("FP64", "1")], steps, size_of::<f64>())?;
    let right = |i: u32| (0..steps).fold(f64::from(i), |x, _| x * 2.0 + 1.0);
    let found: Vec<f64> = bytes.chunks_exact(8).map(bytemuck::pod_read_unaligned).collect();
    Ok(found.iter().zip(0..).all(|(&x, i)| x == right(i)))
}

/// Builds and runs the test kernel; its output, and (event, wall) nanoseconds of each run.
fn test(
    device: &mut OpenClDevice,
    defines: &[(&str, &str)],
    steps: u32,
    width: usize,
) -> Result<(Vec<u8>, Vec<Nanoseconds>), DeviceError> {
    let program = device.build(&BuildUnit {
        path: "doctor.cl".to_owned(),
        text: SOURCE.to_owned(),
        defines: defines.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect(),
        kernels: vec!["doctor".to_owned()],
    })?;
    // Memory that was never written may hold an earlier, right result.
    let mut bytes = vec![0xA5; ITEMS * width];
    let buffer = device.alloc(bytes.len())?;
    device.write(buffer, 0, &bytes)?;
    let args = vec![Arg::Buffer(buffer), Arg::Uint(steps)];
    let launch = Launch::linear("doctor", ITEMS, 1, args);
    let mut times = Vec::new();
    // The first run pays for what drivers put off until then.
    for run in 0..=RUNS {
        let timing = device.run(program, std::slice::from_ref(&launch))?;
        let event = timing.stamps.first().map_or(0, |s: &Stamps| s.end.saturating_sub(s.start));
        if run > 0 {
            times.push((event, Duration::from_secs_f64(timing.wall_s).as_nanos().try_into().unwrap_or(u64::MAX)));
        }
    }
    device.read(buffer, 0, &mut bytes)?;
    Ok((bytes, times))
}

/// Judges a timer by (event, wall) nanoseconds of a short kernel and of one 64 times as long.
fn classify(short: &[Nanoseconds], long: &[Nanoseconds]) -> Timer {
    let all = || short.iter().chain(long);
    if all().all(|&(event, _)| event == 0) {
        return Timer::Missing;
    }
    let longest = |runs: &[Nanoseconds]| runs.iter().map(|&(event, _)| event).max().unwrap_or(0);
    let shortest = |runs: &[Nanoseconds]| runs.iter().map(|&(event, _)| event).min().unwrap_or(0);
    let impossible = long.iter().any(|&(event, wall)| event < 50 || event > wall);
    if impossible || longest(long) <= shortest(short) {
        return Timer::Fake;
    }
    match all().fold(0, |step, &(event, _)| greatest_common_divisor(step, event)) {
        step if step >= 1000 => Timer::Coarse(step),
        _ => Timer::Real,
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_are_told_apart() {
        assert_eq!(classify(&[(3104, 9000), (3072, 9100)], &[(91_072, 99_000), (90_112, 98_000)]), Timer::Real);
        assert_eq!(classify(&[(2000, 9000), (3000, 9000)], &[(91_000, 99_000), (90_000, 99_000)]), Timer::Coarse(1000));
        assert_eq!(classify(&[(1, 9000), (1, 9000)], &[(1, 99_000), (1, 99_000)]), Timer::Fake);
        assert_eq!(classify(&[(500, 900)], &[(99_000, 90_000)]), Timer::Fake, "longer than the wall time");
        assert_eq!(classify(&[(9000, 9900)], &[(8000, 9900)]), Timer::Fake, "64 times the work in less time");
        assert_eq!(classify(&[(0, 9000)], &[(0, 9000)]), Timer::Missing);
    }
}

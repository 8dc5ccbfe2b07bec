//! `gpulab doctor`: what works, what does not, and what to install.

use super::devices::emptiness;
use crate::cli::Global;
use crate::cli::environment::VARIABLES;
use crate::console::{self, Out};
use crate::device::LIBRARY_VARIABLE;
use crate::device::causes::{POCL, is_writable, pocl_cache};
use crate::device::doctor::{self, Driver, LibraryFound, Listing, Probe, Timer};
use crate::outcome::{DeviceInfo, PlatformInfo};
use crate::report::wrap::wrapped;
use crate::simulator::Simulator;
use crate::store::Deferred;
use crate::{Error, ceilings, outputs};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Prints the report, or writes what was found as JSON to `json`, for `-` in place of the report. Quietly only what is
/// wrong and the verdict; verbosely also what the environment says.
///
/// # Errors
/// [`Error::NoDevice`] if no device works; [`Error::Failed`] if one does, but not all that is installed; [`Error::Output`].
pub fn run(out: &mut Out, global: &Global, json: Option<&str>) -> Result<(), Error> {
    if let Some(answer) = doctor::child_answer() {
        return out.bytes(answer.as_bytes());
    }
    let file = json.filter(|file| *file != "-").map(Deferred::open).transpose()?;
    let findings = Findings::collect();
    let lines = findings.lines();
    let health = findings.health(&lines);
    if let Some(mut file) = file {
        outputs::replace(&mut file, &format!("{:#}\n", findings.json(health)))?;
    }
    match json {
        Some("-") => out.text(&format!("{:#}\n", findings.json(health)))?,
        _ => out.text(&report(&findings, &lines, health, global))?,
    }
    match health {
        Health::Ready => Ok(()),
        Health::Partly => Err(Error::Failed("something that is installed is broken".to_owned())),
        Health::Nothing => Err(Error::NoDevice("no OpenCL device works".to_owned())),
    }
}

/// What it comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    /// Every device compiles, runs and is right.
    Ready,
    /// At least one is, but something else is broken.
    Partly,
    /// None is.
    Nothing,
}

impl Health {
    fn name(self) -> &'static str {
        match self {
            Health::Ready => "ready",
            Health::Partly => "partly",
            Health::Nothing => "nothing works",
        }
    }

    fn sentence(self) -> &'static str {
        match self {
            Health::Ready => "ready",
            Health::Partly => "ready, but something is broken; see the lines above",
            Health::Nothing => "no device works yet; see the lines above",
        }
    }
}

/// Marks what is broken.
const BROKEN: &str = "BROKEN";

/// Marks of all that is not as it should be.
const MARKS: [&str; 5] = [BROKEN, "MISSING", "NONE", "NOT WRITABLE", "FAKE"];

/// What was found of each part.
struct Findings {
    opencl: Result<LibraryFound, String>,
    /// Registered drivers; unknown without OpenCL's loader, or with one that came with the process.
    drivers: Option<Vec<Driver>>,
    platforms: Vec<PlatformInfo>,
    /// Of each platform's devices, in order.
    probes: Vec<Vec<Result<Probe, String>>>,
    /// What broken drivers did when devices were listed.
    broken: Vec<String>,
    /// The folder of PoCL's cache, where PoCL is installed, and whether it can be written.
    pocl_cache: Option<(PathBuf, bool)>,
    missing: Vec<&'static Remedy>,
    /// What `gpulab count` runs kernels in, or why it cannot.
    counting: Result<String, String>,
}

impl Findings {
    fn collect() -> Findings {
        let opencl = doctor::opencl();
        let (found, preloaded) = opencl.as_ref().map_or((false, false), |l| (l.found.is_some(), l.preloaded));
        let drivers = (found && !preloaded).then(doctor::drivers);
        let listed = if found { doctor::listing() } else { Ok(Listing::default()) };
        let Listing { platforms, broken } = listed.unwrap_or_else(|problem| Listing::nothing(&problem));
        let probes = platforms.iter().map(|p| p.devices.iter().map(doctor::check_device).collect()).collect();
        let has_pocl = platforms.iter().any(|p| p.name.contains(POCL));
        let cache = pocl_cache().filter(|_| has_pocl);
        let pocl_cache = cache.map(|folder| (folder.clone(), is_writable(&folder)));
        let lacks_loader = opencl.as_ref().is_ok_and(|library| library.found.is_none());
        let missing = remedies(&platforms, &hardware(), lacks_loader);
        let counting = ceilings::folder().and_then(|folder| Simulator::look(&folder)).map_err(|e| e.to_string());
        Findings { opencl, drivers, platforms, probes, broken, pocl_cache, missing, counting }
    }

    /// A line for each part, with a word for what it is.
    fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![("loader", loader_line(&self.opencl))];
        lines.extend(self.drivers.iter().flat_map(|drivers| driver_lines(drivers)));
        lines.extend(self.broken.iter().map(|problem| ("platforms", format!("{BROKEN}: {problem}"))));
        for (platform, probes) in self.platforms.iter().zip(&self.probes) {
            lines.push(("platform", platform_line(platform)));
            let devices = platform.devices.iter().zip(probes);
            lines.extend(devices.map(|(device, probe)| ("device", device_line(device, probe))));
        }
        lines.extend(self.pocl_cache.iter().map(|(folder, writable)| ("cache", pocl_cache_line(folder, *writable))));
        lines.push(("counting", counting_line(&self.counting)));
        lines
    }

    fn health(&self, lines: &[(&str, String)]) -> Health {
        let is_broken = lines.iter().any(|(_, line)| line.contains(BROKEN));
        match (self.probes.iter().flatten().any(Result::is_ok), is_broken) {
            (true, false) => Health::Ready,
            (true, true) => Health::Partly,
            (false, _) => Health::Nothing,
        }
    }

    /// The same for programs.
    fn json(&self, health: Health) -> Value {
        let loader = match &self.opencl {
            Ok(library) => {
                json!({"library": library.found, "preloaded": library.preloaded, "failures": library.failures})
            }
            Err(problem) => json!({"problem": problem}),
        };
        let driver = |d: &Driver| json!({"file": d.file, "library": d.library, "problem": d.loads.as_ref().err()});
        let device = |(info, probe): (&DeviceInfo, &Result<Probe, String>)| {
            json!({
                "index": info.index, "selector": info.selector, "name": info.name, "type": info.kind,
                "driver": info.driver, "works": probe.is_ok(), "problem": probe.as_ref().err(),
                "probe": probe.as_ref().ok(),
            })
        };
        let platform = |(platform, probes): (&PlatformInfo, &Vec<Result<Probe, String>>)| {
            let devices: Vec<Value> = platform.devices.iter().zip(probes).map(device).collect();
            json!({
                "index": platform.index, "name": platform.name, "version": platform.version,
                "problem": platform.problem, "devices": devices,
            })
        };
        json!({
            "gpulab": env!("CARGO_PKG_VERSION"),
            "verdict": health.name(),
            "loader": loader,
            "drivers": self.drivers.iter().flatten().map(driver).collect::<Vec<_>>(),
            "broken": self.broken,
            "platforms": self.platforms.iter().zip(&self.probes).map(platform).collect::<Vec<_>>(),
            "pocl_cache": self.pocl_cache.as_ref().map(|(folder, writable)| json!({"folder": folder, "writable": writable})),
            "counting": {
                "works": self.counting.is_ok(), "found": self.counting.as_ref().ok(), "problem": self.counting.as_ref().err(),
            },
            "install": self.missing.iter().map(|r| json!({"what": r.what, "packages": r.packages})).collect::<Vec<_>>(),
        })
    }
}

/// The lines, what to install and the verdict, in a terminal's width.
fn report(findings: &Findings, lines: &[(&str, String)], health: Health, global: &Global) -> String {
    let width = console::width();
    let is_wrong = |line: &str| MARKS.iter().any(|mark| line.contains(mark));
    let shown = lines.iter().filter(|(_, text)| !global.quiet || is_wrong(text));
    let mut text: String = shown.map(|(what, text)| line(what, text, width)).collect();
    for (name, value) in environment().into_iter().filter(|_| global.verbose) {
        text += &line("variable", &format!("{name}={value}"), width);
    }
    if !global.quiet || health == Health::Nothing {
        let missing = findings.missing.iter().map(|r| line("install", &format!("{}: {}", r.what, r.packages), width));
        text.extend(missing);
    }
    text + &line("verdict", health.sentence(), width)
}

/// What the environment sets of all that is read.
fn environment() -> Vec<(&'static str, String)> {
    let set = |name| env::var_os(name).map(|value| (name, value.to_string_lossy().into_owned()));
    VARIABLES.iter().filter_map(|variable| set(variable.name)).collect()
}

fn line(what: &str, text: &str, width: usize) -> String {
    let (first, rest) = (format!("{what:<10} "), " ".repeat(11));
    let text = tilde(text);
    let pieces = text.split('\n').enumerate();
    pieces.map(|(i, piece)| wrapped(piece, if i == 0 { &first } else { &rest }, &rest, width)).collect()
}

/// The home folder shown as `~`.
fn tilde(text: &str) -> String {
    match env::var("HOME").ok().map(|h| h.trim_end_matches('/').to_owned()).filter(|h| h.len() > 1) {
        Some(home) => text.replace(&home, "~"),
        None => text.to_owned(),
    }
}

fn loader_line(opencl: &Result<LibraryFound, String>) -> String {
    match opencl {
        Err(problem) => format!("{BROKEN}: {problem}"),
        Ok(LibraryFound { found: Some(name), .. }) => format!("ok: {name}"),
        Ok(LibraryFound { failures, .. }) => {
            let why = failures.join("; ");
            let unset = |_| format!(" ({LIBRARY_VARIABLE} names it: unset it to use the system's)");
            let own = env::var_os(LIBRARY_VARIABLE).map_or(String::new(), unset);
            format!("MISSING{own}: {why}")
        }
    }
}

fn driver_lines(drivers: &[Driver]) -> Vec<(&'static str, String)> {
    let none = || "NONE is registered (in /etc/OpenCL/vendors, or where OCL_ICD_VENDORS says)".to_owned();
    match drivers.is_empty() {
        true => vec![("driver", none())],
        false => drivers.iter().map(|driver| ("driver", driver_line(driver))).collect(),
    }
}

fn driver_line(driver: &Driver) -> String {
    let from = format!("{} (from {})", driver.library, driver.file.display());
    match &driver.loads {
        Ok(()) => format!("ok: {from}"),
        Err(problem) => format!("{BROKEN}: {from}: {problem}"),
    }
}

fn platform_line(platform: &PlatformInfo) -> String {
    let head = format!("{} {}, {}", platform.index, platform.name, platform.version);
    match platform.devices.len() {
        0 => format!("{head}: {}", emptiness(platform)),
        1 => format!("{head}: 1 device"),
        n => format!("{head}: {n} devices"),
    }
}

fn device_line(device: &DeviceInfo, probe: &Result<Probe, String>) -> String {
    let head = format!("{} {} ({})", device.index, device.name, device.kind);
    let probe = match probe {
        Ok(probe) => probe,
        Err(problem) => return format!("{head}: {BROKEN}: {problem}"),
    };
    let fp64 = match (device.target.fp64, probe.fp64) {
        (true, true) => "fp64 works",
        (true, false) => "fp64 is announced but BROKEN",
        (false, _) => "no fp64",
    };
    format!("{head}: compiles, runs, right result; {}; {fp64}", timer(probe))
}

fn timer(probe: &Probe) -> String {
    let numbers = format!("event {:.1} us, wall {:.1} us", probe.event_ns as f64 / 1e3, probe.wall_ns as f64 / 1e3);
    match probe.timer {
        Timer::Real => format!("timer real ({numbers})"),
        Timer::Coarse(step) => format!("timer coarse, steps of {step} ns ({numbers}): use large sizes"),
        Timer::Fake => format!("timer FAKE ({numbers}): times come from the wall clock"),
        Timer::Missing => {
            format!("timer MISSING (wall {:.1} us): times come from the wall clock", probe.wall_ns as f64 / 1e3)
        }
    }
}

/// Whether PoCL can write its cache: without one it lists no devices, and says nothing.
fn pocl_cache_line(folder: &Path, is_writable: bool) -> String {
    match is_writable {
        true => format!("ok: {} is writable", folder.display()),
        false => format!("NOT WRITABLE: {}; set POCL_CACHE_DIR to a folder that is", folder.display()),
    }
}

/// Whether kernels can be counted. Nothing else needs the simulator, so that without it nothing is broken.
fn counting_line(counting: &Result<String, String>) -> String {
    match counting {
        Ok(found) => format!("ok: {found}"),
        Err(why) => format!("not possible: {why}"),
    }
}

/// Something that can be missing, and the packages that bring it.
struct Remedy {
    what: &'static str,
    packages: &'static str,
}

static LOADER: Remedy = Remedy {
    what: "OpenCL's loader",
    packages: "Debian/Ubuntu ocl-icd-libopencl1; Fedora OpenCL-ICD-Loader (before 41: ocl-icd); Arch ocl-icd",
};
static CPU: Remedy =
    Remedy { what: "a driver for any CPU (PoCL)", packages: "Debian/Ubuntu pocl-opencl-icd; Fedora pocl; Arch pocl" };
static INTEL_CPU: Remedy = Remedy {
    what: "Intel's driver for x86 CPUs",
    packages: "PyPI intel-opencl-rt (point OCL_ICD_VENDORS to a folder with an .icd file that names its libintelocl.so)",
};
/// The driver for each vendor's GPUs, by a word in the vendor's name.
static GPUS: [(&str, Remedy); 3] = [
    (
        "nvidia",
        Remedy {
            what: "the driver for NVIDIA GPUs",
            packages: "Debian nvidia-opencl-icd; Ubuntu libnvidia-compute-<version> (libnvidia-opencl is in it); \
                       Fedora (RPM Fusion) xorg-x11-drv-nvidia-cuda; Arch opencl-nvidia",
        },
    ),
    (
        "amd",
        Remedy {
            what: "a driver for AMD GPUs",
            packages: "Debian/Ubuntu mesa-opencl-icd (RUSTICL_ENABLE=radeonsi) or rocm-opencl-runtime; \
                       Fedora mesa-libOpenCL or rocm-opencl; Arch opencl-mesa or rocm-opencl-runtime",
        },
    ),
    (
        "intel",
        Remedy {
            what: "the driver for Intel GPUs",
            packages: "Debian/Ubuntu intel-opencl-icd; Fedora intel-compute-runtime; Arch intel-compute-runtime",
        },
    ),
];

/// What to install for more devices than these, with the packages that bring it.
pub(super) fn to_install(platforms: &[PlatformInfo]) -> Vec<(&'static str, &'static str)> {
    let lacks_loader = doctor::opencl().is_ok_and(|library| library.found.is_none());
    remedies(platforms, &hardware(), lacks_loader).into_iter().map(|r| (r.what, r.packages)).collect()
}

/// What to install, given what is there. Without any device: everything that could bring one.
fn remedies(platforms: &[PlatformInfo], hardware: &BTreeSet<&str>, lacks_loader: bool) -> Vec<&'static Remedy> {
    let devices = || platforms.iter().flat_map(|p| &p.devices);
    let mut missing: Vec<&Remedy> = Vec::new();
    if lacks_loader && env::var_os(LIBRARY_VARIABLE).is_none() {
        missing.push(&LOADER);
    }
    if !devices().any(|d| d.kind == "cpu") {
        let pocl = platforms.iter().any(|p| p.name.contains(POCL));
        missing.extend([&CPU, &INTEL_CPU].into_iter().skip(usize::from(pocl)));
    }
    for (vendor, remedy) in &GPUS {
        let served = devices().any(|d| d.kind == "gpu" && is_of(&d.vendor, vendor));
        if !served && (hardware.contains(vendor) || devices().next().is_none()) {
            missing.push(remedy);
        }
    }
    missing
}

fn is_of(vendor: &str, word: &str) -> bool {
    let vendor = vendor.to_lowercase();
    vendor.contains(word) || (word == "amd" && vendor.contains("advanced micro devices"))
}

/// Vendors of the GPUs that the system sees.
fn hardware() -> BTreeSet<&'static str> {
    let cards = fs::read_dir("/sys/class/drm").into_iter().flatten().flatten();
    let ids = cards.filter_map(|card| fs::read_to_string(card.path().join("device/vendor")).ok());
    let mut vendors: BTreeSet<&str> = ids.filter_map(|id| vendor(id.trim())).collect();
    if Path::new("/proc/driver/nvidia/version").exists() {
        vendors.insert("nvidia");
    }
    vendors
}

fn vendor(pci_id: &str) -> Option<&'static str> {
    match pci_id {
        "0x10de" => Some("nvidia"),
        "0x1002" => Some("amd"),
        "0x8086" => Some("intel"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_devices_every_driver_is_named() {
        let text = remedies(&[], &BTreeSet::new(), true).iter().map(|r| r.packages).collect::<String>();
        for package in ["pocl-opencl-icd", "intel-opencl-rt", "libnvidia-opencl", "mesa-opencl-icd", "intel-opencl-icd"]
        {
            assert!(text.contains(package), "{package}: {text}");
        }
    }

    #[test]
    fn vendors_are_known_by_their_numbers_and_names() {
        assert_eq!(vendor("0x10de"), Some("nvidia"));
        assert_eq!(vendor("0x1234"), None);
        assert!(is_of("NVIDIA Corporation", "nvidia"));
        assert!(is_of("Advanced Micro Devices, Inc.", "amd"));
        assert!(!is_of("Intel(R) Corporation", "amd"));
    }
}

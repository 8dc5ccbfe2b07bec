//! `gpulab doctor`: what works, what does not, and what to install.

use super::Out;
use super::devices::emptiness;
use crate::Error;
use crate::device::causes::{POCL, is_writable, pocl_cache};
use crate::device::doctor::{self, Driver, LibraryFound, Listing, Probe, Timer};
use crate::device::{DeviceInfo, LIBRARY_VARIABLE, PlatformInfo};
use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

/// Prints the report.
///
/// # Errors
/// [`Error::NoDevice`] if no device works; [`Error::Failed`] if one does, but not all that is installed.
pub fn run(out: &mut Out) -> Result<(), Error> {
    if let Some(answer) = doctor::child_answer() {
        return out.bytes(answer.as_bytes());
    }
    let (text, verdict) = report();
    out.text(&text)?;
    match verdict {
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

/// Marks what is broken.
const BROKEN: &str = "BROKEN";

/// The findings, one a line, and the verdict.
fn report() -> (String, Health) {
    let opencl = doctor::opencl();
    let mut lines = vec![loader_line(&opencl)];
    let (found, preloaded) = opencl.as_ref().map_or((false, false), |l| (l.found.is_some(), l.preloaded));
    if found && !preloaded {
        lines.extend(driver_lines());
    }
    let listed = if found { doctor::listing() } else { Ok(Listing::default()) };
    let Listing { platforms, broken } = listed.unwrap_or_else(|problem| Listing::nothing(&problem));
    lines.extend(broken.iter().map(|problem| line("platforms", &format!("{BROKEN}: {problem}"))));
    let mut works = false;
    for platform in &platforms {
        lines.push(platform_line(platform));
        for device in &platform.devices {
            let probe = doctor::check_device(device);
            works |= probe.is_ok();
            lines.push(device_line(device, &probe));
        }
    }
    lines.extend(pocl_cache_line(&platforms));
    let is_broken = lines.iter().any(|line| line.contains(BROKEN));
    lines.extend(remedies(&platforms, &hardware(), opencl.is_ok_and(|library| library.found.is_none())));
    let (verdict, words) = match (works, is_broken) {
        (true, false) => (Health::Ready, "ready"),
        (true, true) => (Health::Partly, "ready, but something is broken; see the lines above"),
        (false, _) => (Health::Nothing, "no device works yet; see the lines above"),
    };
    lines.push(line("verdict", words));
    (lines.concat(), verdict)
}

fn line(what: &str, text: &str) -> String {
    format!("{what:<10} {}\n", tilde(text).replace('\n', "\n           "))
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
        Err(problem) => line("loader", &format!("{BROKEN}: {problem}")),
        Ok(LibraryFound { found: Some(name), .. }) => line("loader", &format!("ok: {name}")),
        Ok(LibraryFound { failures, .. }) => {
            let why = failures.join("; ");
            let unset = |_| format!(" ({LIBRARY_VARIABLE} names it: unset it to use the system's)");
            let own = env::var_os(LIBRARY_VARIABLE).map_or(String::new(), unset);
            line("loader", &format!("MISSING{own}: {why}"))
        }
    }
}

fn driver_lines() -> Vec<String> {
    let drivers = doctor::drivers();
    match drivers.is_empty() {
        true => vec![line("driver", "NONE is registered (in /etc/OpenCL/vendors, or where OCL_ICD_VENDORS says)")],
        false => drivers.iter().map(driver_line).collect(),
    }
}

fn driver_line(driver: &Driver) -> String {
    let from = format!("{} (from {})", driver.library, driver.file.display());
    match &driver.loads {
        Ok(()) => line("driver", &format!("ok: {from}")),
        Err(problem) => line("driver", &format!("{BROKEN}: {from}: {problem}")),
    }
}

fn platform_line(platform: &PlatformInfo) -> String {
    let head = format!("{} {}, {}", platform.index, platform.name, platform.version);
    match platform.devices.len() {
        0 => line("platform", &format!("{head}: {}", emptiness(platform))),
        1 => line("platform", &format!("{head}: 1 device")),
        n => line("platform", &format!("{head}: {n} devices")),
    }
}

fn device_line(device: &DeviceInfo, probe: &Result<Probe, String>) -> String {
    let head = format!("{} {} ({})", device.index, device.name, device.kind);
    let probe = match probe {
        Ok(probe) => probe,
        Err(problem) => return line("device", &format!("{head}: {BROKEN}: {problem}")),
    };
    let fp64 = match (device.target.fp64, probe.fp64) {
        (true, true) => "fp64 works",
        (true, false) => "fp64 is announced but BROKEN",
        (false, _) => "no fp64",
    };
    line("device", &format!("{head}: compiles, runs, right result; {}; {fp64}", timer(probe)))
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

/// Whether PoCL, where installed, can write its cache: without one it lists no devices, and says nothing.
fn pocl_cache_line(platforms: &[PlatformInfo]) -> Option<String> {
    platforms.iter().find(|p| p.name.contains(POCL))?;
    let folder = pocl_cache()?;
    let state = match is_writable(&folder) {
        true => format!("ok: {} is writable", folder.display()),
        false => format!("NOT WRITABLE: {}; set POCL_CACHE_DIR to a folder that is", folder.display()),
    };
    Some(line("cache", &state))
}

/// Something that can be missing, and the packages that bring it.
struct Remedy {
    what: &'static str,
    packages: &'static str,
}

const LOADER: Remedy = Remedy {
    what: "OpenCL's loader",
    packages: "Debian/Ubuntu ocl-icd-libopencl1; Fedora OpenCL-ICD-Loader (before 41: ocl-icd); Arch ocl-icd",
};
const CPU: Remedy =
    Remedy { what: "a driver for any CPU (PoCL)", packages: "Debian/Ubuntu pocl-opencl-icd; Fedora pocl; Arch pocl" };
const INTEL_CPU: Remedy = Remedy {
    what: "Intel's driver for x86 CPUs",
    packages: "PyPI intel-opencl-rt (point OCL_ICD_VENDORS to a folder with an .icd file that names its libintelocl.so)",
};
/// The driver for each vendor's GPUs, by a word in the vendor's name.
const GPUS: [(&str, Remedy); 3] = [
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

/// What to install, given what is there. Without any device: everything that could bring one.
fn remedies(platforms: &[PlatformInfo], hardware: &BTreeSet<&str>, lacks_loader: bool) -> Vec<String> {
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
    missing.iter().map(|r| line("install", &format!("{}: {}", r.what, r.packages))).collect()
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
        let text = remedies(&[], &BTreeSet::new(), true).concat();
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

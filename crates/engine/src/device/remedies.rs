//! What can be missing for OpenCL on this machine, and the packages that bring it.

use super::causes::POCL;
use super::doctor::opencl;
use super::loader::LIBRARY_VARIABLE;
use gpulab_model::outcome::PlatformInfo;
use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

/// Something that can be missing, and the packages that bring it.
pub struct Remedy {
    pub what: &'static str,
    /// The packages that bring it, of several systems.
    pub packages: &'static str,
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

pub fn to_install(platforms: &[PlatformInfo]) -> Vec<&'static Remedy> {
    let lacks_loader = opencl().is_ok_and(|library| library.found.is_none());
    remedies(platforms, &hardware(), lacks_loader)
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

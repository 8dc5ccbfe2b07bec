//! `device.json`: what is known of the device and the host, without what names a person, a machine or a path.

use crate::device::doctor::{self, Probe};
use crate::outcome::PlatformInfo;
use crate::prelude::*;
use serde_json::{Value, json};

/// The file's name in the folder.
pub(crate) const FILE: &str = "device.json";

/// Words of a device's name that tell nothing beside its driver's.
const EMPTY_WORDS: [&str; 10] =
    ["nvidia", "amd", "intel", "r", "tm", "corporation", "graphics", "gpu", "geforce", "processor"];

/// What processors are called by, in their long names.
const PROCESSORS: [&str; 9] =
    ["threadripper", "epyc", "ryzen", "xeon", "core", "atom", "apple", "neoverse", "graviton"];

/// Runs a small kernel and writes the sheet.
pub(crate) fn write(folder: &Path, platform: &PlatformInfo, info: &DeviceInfo) -> Result<(), Error> {
    let probe = doctor::check_device(info, Instant::now() + doctor::LISTING)
        .map_err(|why| Error::NoDevice(format!("{} does not work: {why}; see gpulab doctor", info.name)))?;
    let path = folder.join(FILE);
    let text = format!("{:#}\n", sheet(platform, info, &probe, &Run::begin()));
    files::write_whole(&path, &text).map_err(Error::unwritten(&path))
}

fn sheet(platform: &PlatformInfo, info: &DeviceInfo, probe: &Probe, run: &Run) -> Value {
    let mut device = json!(info);
    // Which row and number it has says something of the machine, not of the device.
    if let Some(device) = device.as_object_mut() {
        ["index", "selector"].into_iter().for_each(|name| drop(device.remove(name)));
    }
    json!({
        "gpulab": env!("CARGO_PKG_VERSION"), "time_utc": run.time_utc, "platform_version": platform.version,
        "device": device, "probe": probe,
        "host": {"cpu": run.host.cpu, "threads": run.host.threads, "os": run.host.os},
    })
}

/// A name for the folder: the driver's and the device's, as in `nvidia-h200` or, of a CPU, `pocl-epyc-4`.
pub(crate) fn folder_name(info: &DeviceInfo, cpu: &str) -> String {
    let driver = crate::device::select::alias(&info.platform).map_or_else(|| slug(&info.platform), str::to_owned);
    let device = match info.kind == "cpu" {
        true => format!("{}-{}", processor(&format!("{} {cpu}", info.name)), info.target.compute_units),
        false => slug(&info.name),
    };
    format!("{driver}-{device}")
}

fn processor(name: &str) -> String {
    let words = words(name);
    PROCESSORS.iter().find(|known| words.iter().any(|word| word == *known)).map_or("cpu", |known| known).to_owned()
}

/// The words that tell something, in small letters, joined by dashes.
fn slug(name: &str) -> String {
    words(name).into_iter().filter(|word| !EMPTY_WORDS.contains(&word.as_str())).joined("-")
}

fn words(name: &str) -> Vec<String> {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::doctor::Timer;
    use crate::plan::Target;

    fn device(platform: &str, name: &str, kind: &str) -> DeviceInfo {
        let text = String::new;
        DeviceInfo {
            index: 3,
            selector: "1:2".to_owned(),
            platform: platform.to_owned(),
            name: name.to_owned(),
            vendor: text(),
            kind: kind.to_owned(),
            driver: "3.1".to_owned(),
            cl_version: text(),
            clock_mhz: 0,
            timer_ns: 1,
            extensions: text(),
            target: Target { compute_units: 4, ..Target::with_everything(kind == "gpu") },
        }
    }

    #[test]
    fn folders_are_named_by_driver_and_device() {
        for (platform, name, kind, folder) in [
            ("NVIDIA CUDA", "NVIDIA H200", "gpu", "nvidia-h200"),
            ("NVIDIA CUDA", "NVIDIA GeForce RTX 4090", "gpu", "nvidia-rtx-4090"),
            ("AMD Accelerated Parallel Processing", "gfx1100", "gpu", "amd-gfx1100"),
            ("Intel(R) OpenCL Graphics", "Intel(R) Arc(TM) A770 Graphics", "gpu", "intel-arc-a770"),
            ("Portable Computing Language", "pthread-skylake-avx512-AMD EPYC", "cpu", "pocl-epyc-4"),
            ("Intel(R) OpenCL", "AMD EPYC 9B14", "cpu", "intel-epyc-4"),
            ("Portable Computing Language", "pthread", "cpu", "pocl-core-4"),
            ("rusticl", "llvmpipe (LLVM 15)", "cpu", "rusticl-core-4"),
            ("../etc", "$(rm) x/y", "gpu", "etc-rm-x-y"),
        ] {
            assert_eq!(folder_name(&device(platform, name, kind), "Intel(R) Core(TM) i7"), folder);
        }
        assert_eq!(folder_name(&device("PoCL", "x", "cpu"), ""), "pocl-cpu-4");
    }

    #[test]
    fn the_sheet_tells_of_the_device_and_not_of_the_machine() {
        let info = device("NVIDIA CUDA", "NVIDIA H200", "gpu");
        let platform = PlatformInfo {
            index: 1,
            name: info.platform.clone(),
            vendor: String::new(),
            version: "OpenCL 3.0 CUDA 12".to_owned(),
            devices: Vec::new(),
            problem: None,
        };
        let probe = Probe { timer: Timer::Real, event_ns: 1, wall_ns: 2 };
        let sheet = sheet(&platform, &info, &probe, &Run::begin());
        assert_eq!((&sheet["device"]["name"], &sheet["device"]["driver"]), (&json!("NVIDIA H200"), &json!("3.1")));
        assert_eq!((&sheet["probe"]["timer"], &sheet["device"]["compute_units"]), (&json!("real"), &json!(4)));
        assert!(sheet["device"]["selector"].is_null() && sheet["device"]["index"].is_null(), "{sheet}");
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        assert!(host.trim().is_empty() || !sheet.to_string().contains(host.trim()), "{sheet}");
    }
}

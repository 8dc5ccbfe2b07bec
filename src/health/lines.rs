//! A line for each part.

use crate::device::LIBRARY_VARIABLE;
use crate::device::doctor::{Driver, LibraryFound, Probe, Timer};
use crate::outcome::PlatformInfo;
use crate::prelude::*;
use crate::report::devices::emptiness;
use std::env;

pub(crate) const BROKEN: &str = "BROKEN";

pub(crate) fn loader_line(opencl: &Result<LibraryFound, String>) -> String {
    match opencl {
        Err(problem) => format!("{BROKEN}: {problem}"),
        Ok(LibraryFound { found: Some(name), .. }) => format!("ok: {name}"),
        Ok(LibraryFound { failures, .. }) => {
            let why = failures.join("; ");
            let own = env::var_os(LIBRARY_VARIABLE)
                .map_or(String::new(), |_| format!(" ({LIBRARY_VARIABLE} names it: unset it to use the system's)"));
            format!("MISSING{own}: {why}")
        }
    }
}

pub(crate) fn driver_lines(drivers: &[Driver]) -> Vec<(&'static str, String)> {
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

pub(crate) fn platform_line(platform: &PlatformInfo) -> String {
    let head = format!("{} {}, {}", platform.index, platform.name, platform.version);
    match platform.devices.len() {
        0 => format!("{head}: {}", emptiness(platform)),
        1 => format!("{head}: 1 device"),
        n => format!("{head}: {n} devices"),
    }
}

pub(crate) fn device_line(device: &DeviceInfo, probe: &Result<Probe, String>) -> String {
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
pub(crate) fn pocl_cache_line(folder: &Path, is_writable: bool) -> String {
    match is_writable {
        true => format!("ok: {} is writable", folder.display()),
        false => format!("NOT WRITABLE: {}; set POCL_CACHE_DIR to a folder that is", folder.display()),
    }
}

/// Whether kernels can be counted. Nothing else needs the simulator, so that without it nothing is broken.
pub(crate) fn counting_line(counting: &Result<String, String>) -> String {
    match counting {
        Ok(found) => format!("ok: {found}"),
        Err(why) => format!("not possible: {why}"),
    }
}

//! What the doctor finds of each part, as lines and as JSON.

use super::lines::{BROKEN, counting_line, device_line, driver_lines, loader_line, platform_line, pocl_cache_line};
use crate::ceilings;
use crate::device::causes::{POCL, is_writable, pocl_cache};
use crate::device::doctor::{self, Driver, LibraryFound, Listing, Probe};
use crate::device::remedies::{Remedy, to_install};
use crate::outcome::PlatformInfo;
use crate::prelude::*;
use crate::simulator::Simulator;
use serde_json::{Value, json};
use std::env;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
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

    pub(crate) fn sentence(self) -> &'static str {
        match self {
            Health::Ready => "ready",
            Health::Partly => "ready, but something is broken; see the lines above",
            Health::Nothing => "no device works yet; see the lines above",
        }
    }
}

/// What was found of each part.
pub(crate) struct Findings {
    pub(crate) opencl: Result<LibraryFound, String>,
    /// Registered drivers; unknown without OpenCL's loader, or with one that came with the process.
    pub(crate) drivers: Option<Vec<Driver>>,
    pub(crate) platforms: Vec<PlatformInfo>,
    /// Of each platform's devices, in order.
    pub(crate) probes: Vec<Vec<Result<Probe, String>>>,
    /// What broken drivers did when devices were listed.
    pub(crate) broken: Vec<String>,
    /// The folder of PoCL's cache, where PoCL is installed, and whether it can be written.
    pub(crate) pocl_cache: Option<(PathBuf, bool)>,
    pub(crate) missing: Vec<&'static Remedy>,
    /// What `gpulab count` runs kernels in, or why it cannot.
    pub(crate) counting: Result<String, String>,
}

impl Findings {
    pub(crate) fn collect() -> Findings {
        let began = Instant::now();
        let left = || doctor::DEADLINE.saturating_sub(began.elapsed());
        let opencl = doctor::opencl();
        let (found, preloaded) = opencl.as_ref().map_or((false, false), |l| (l.found.is_some(), l.preloaded));
        let drivers = (found && !preloaded).then(|| doctor::drivers(left));
        let listed = if found { doctor::listing_while(&left) } else { Ok(Listing::default()) };
        let Listing { platforms, broken } = listed.unwrap_or_else(|problem| Listing::nothing(&problem));
        let probes = platforms
            .iter()
            .map(|p| p.devices.iter().map(|info| doctor::check_device(info, left())).collect())
            .collect();
        let has_pocl = platforms.iter().any(|p| p.name.contains(POCL));
        let cache = pocl_cache().filter(|_| has_pocl);
        let pocl_cache = cache.map(|folder| (folder.clone(), is_writable(&folder)));
        let missing = to_install(&platforms);
        let counting = ceilings::folder().and_then(|folder| Simulator::look(&folder)).map_err(|e| e.to_string());
        Findings { opencl, drivers, platforms, probes, broken, pocl_cache, missing, counting }
    }

    /// A line for each part, with a word for what it is.
    pub(crate) fn lines(&self) -> Vec<(&'static str, String)> {
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

    pub(crate) fn health(&self, lines: &[(&str, String)]) -> Health {
        let is_broken = lines.iter().any(|(_, line)| line.contains(BROKEN));
        match (self.probes.iter().flatten().any(Result::is_ok), is_broken) {
            (true, false) => Health::Ready,
            (true, true) => Health::Partly,
            (false, _) => Health::Nothing,
        }
    }

    pub(crate) fn json(&self, health: Health) -> Value {
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

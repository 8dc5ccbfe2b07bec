//! `gpulab doctor`: what works, what does not, and what to install.

use crate::cli::Global;
use crate::cli::environment::VARIABLES;
use crate::console::{self, print, print_bytes};
use crate::device::doctor::{
    self, LibraryFound, Listing, POCL, Probe, Timer, is_writable, pocl_cache, to_install,
};
use crate::outcome::DeviceInfo;
use crate::report::devices::emptiness;
use crate::report::format;
use crate::report::wrap::wrapped;
use crate::simulator::Simulator;
use crate::{Error, Result, ceilings};
use std::env;
use std::time::{Duration, Instant};

/// Longest that all questions may take: a first compilation on a slow machine with cold caches.
const DEADLINE: Duration = Duration::from_secs(60);

/// What stands in lines of parts that do not work.
const BROKEN: &str = "BROKEN";
const MARKS: [&str; 5] = [BROKEN, "MISSING", "NONE", "NOT WRITABLE", "FAKE"];

/// Prints a line for each part. Quietly only what is wrong and the verdict; verbosely also what the environment says.
pub fn run(global: &Global) -> Result<()> {
    if let Some(answer) = doctor::child_answer() {
        return print_bytes(answer.as_bytes());
    }
    let until = Instant::now() + DEADLINE;
    let opencl = doctor::opencl();
    let is_found = opencl.as_ref().is_ok_and(|found| found.library.is_some());
    let is_preloaded = opencl.as_ref().is_ok_and(|found| found.preloaded);
    let drivers = if is_found && !is_preloaded {
        doctor::drivers(until)
    } else {
        Vec::new()
    };
    let listed = if is_found {
        doctor::listing(until)
    } else {
        Ok(Listing::default())
    };
    let Listing { platforms, broken } = listed.unwrap_or_else(Listing::broken);
    let counting = ceilings::folder()
        .and_then(|folder| Simulator::look(&folder))
        .map_err(|e| e.to_string());
    let missing = to_install(&platforms);

    let mut lines = vec![("loader", loader_line(&opencl))];
    if is_found && !is_preloaded && drivers.is_empty() {
        let none = "NONE is registered (in /etc/OpenCL/vendors, or where OCL_ICD_VENDORS says)";
        lines.push(("driver", none.to_owned()));
    }
    for driver in &drivers {
        let from = format!("{} (from {})", driver.library, driver.file.display());
        let problem = driver.problem.as_ref();
        lines.push((
            "driver",
            problem.map_or(format!("ok: {from}"), |why| {
                format!("{BROKEN}: {from}: {why}")
            }),
        ));
    }
    lines.extend(
        broken
            .iter()
            .map(|problem| ("platforms", format!("{BROKEN}: {problem}"))),
    );
    let mut works = false;
    for platform in &platforms {
        let devices = match platform.devices.len() {
            0 => emptiness(platform),
            n => format::counted(n, "device"),
        };
        lines.push((
            "platform",
            format!(
                "{} {}, {}: {devices}",
                platform.index, platform.name, platform.version
            ),
        ));
        for info in &platform.devices {
            let probe = doctor::check_device(info, until);
            works |= probe.is_ok();
            lines.push((
                "device",
                format!(
                    "{} {} ({}): {}",
                    info.index,
                    info.name,
                    info.kind,
                    probe_line(info, &probe)
                ),
            ));
        }
    }
    if let Some(folder) = pocl_cache().filter(|_| platforms.iter().any(|p| p.name.contains(POCL))) {
        let folder = folder.as_path();
        lines.push((
            "cache",
            match is_writable(folder) {
                true => format!("ok: {} is writable", folder.display()),
                false => format!(
                    "NOT WRITABLE: {}; set POCL_CACHE_DIR to a folder that is",
                    folder.display()
                ),
            },
        ));
    }
    // Nothing else needs the simulator, so that without it nothing is broken.
    lines.push((
        "counting",
        match &counting {
            Ok(found) => format!("ok: {found}"),
            Err(why) => format!("not possible: {why}"),
        },
    ));

    let is_broken = lines.iter().any(|(_, line)| line.contains(BROKEN));
    let sentence = match (works, is_broken) {
        (true, false) => "ready",
        (true, true) => "ready, but something is broken; see the lines above",
        (false, _) => "no device works yet; see the lines above",
    };
    let mut text: String = lines
        .iter()
        .filter(|(_, line)| !global.quiet || MARKS.iter().any(|mark| line.contains(mark)))
        .map(|(what, line)| shown(what, line))
        .collect();
    for (name, _) in VARIABLES.iter().filter(|_| global.verbose) {
        if let Some(value) = env::var_os(name) {
            text += &shown("variable", &format!("{name}={}", value.to_string_lossy()));
        }
    }
    for remedy in missing.iter().filter(|_| !global.quiet || !works) {
        text += &shown("install", &format!("{}: {}", remedy.what, remedy.packages));
    }
    print(&(text + &shown("verdict", sentence)))?;
    match (works, is_broken) {
        (true, false) => Ok(()),
        (true, true) => Err(Error::Failed(
            "something that is installed is broken".to_owned(),
        )),
        (false, _) => Err(Error::NoDevice("no OpenCL device works".to_owned())),
    }
}

fn loader_line(opencl: &Result<LibraryFound, String>) -> String {
    match opencl {
        Err(problem) => format!("{BROKEN}: {problem}"),
        Ok(LibraryFound {
            library: Some(name),
            ..
        }) => format!("ok: {name}"),
        Ok(LibraryFound { failures, .. }) => format!("MISSING: {}", failures.join("; ")),
    }
}

fn probe_line(info: &DeviceInfo, probe: &Result<Probe, String>) -> String {
    let Probe {
        timer,
        event_ns,
        wall_ns,
    } = match probe {
        Ok(probe) => probe,
        Err(problem) => return format!("{BROKEN}: {problem}"),
    };
    let timer = match timer {
        Timer::Real => "real",
        Timer::Fake => "FAKE, so that times come from the wall clock",
        Timer::Missing => "MISSING, so that times come from the wall clock",
    };
    let times = format!(
        "event {:.1} us, wall {:.1} us",
        *event_ns as f64 / 1e3,
        *wall_ns as f64 / 1e3
    );
    let fp64 = if info.target.fp64 { "fp64" } else { "no fp64" };
    format!("compiles, runs, right result; timer {timer} ({times}); {fp64}")
}

/// A line in a terminal's width, with the home folder as `~`.
fn shown(what: &str, text: &str) -> String {
    let home = env::var("HOME")
        .ok()
        .map(|home| home.trim_end_matches('/').to_owned())
        .filter(|home| home.len() > 1);
    let text = home.map_or(text.to_owned(), |home| text.replace(&home, "~"));
    wrapped(
        &text,
        &format!("{what:<10} "),
        &" ".repeat(11),
        console::width(),
    )
}

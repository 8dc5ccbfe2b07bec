//! `gpulab` alone: the device that would be used, and what to try.

use crate::cli::Global;
use crate::console::{self, print, quoted};
use crate::device::doctor::{Listing, Remedy, listing, to_install};
use crate::device::select;
use crate::outcome::DeviceInfo;
use crate::report::format;
use crate::report::wrap::{hung, wrapped};
use crate::{Error, Result};
use std::time::{Duration, Instant};

/// Longest that drivers may take to list their devices: who types one word waits no longer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Commands to try, what they do, and how long they took on a CPU of four cores with PoCL, its cache of programs warm.
const TRY: &str = include_str!("try.txt");

/// Commands for who has no GPU.
const WITHOUT_GPU: &str = include_str!("without_gpu.txt");

/// Commands, each with what it does.
fn commands(all: &str, given: &str, width: usize) -> String {
    let all = all.lines().filter_map(|line| line.split_once(": "));
    let column = format::widest(all.clone().map(|(command, _)| command)) + given.len();
    all.map(|(command, does)| {
        let first = format!("  {:<column$}  ", format!("{command}{given}"));
        hung(does, &first, width)
    })
    .collect()
}

/// Says which device would be used, without opening it in this process, and what to try; without a device, what to install.
pub fn run(global: &Global) -> Result<()> {
    let width = console::width();
    let title = concat!(
        "gpulab ",
        env!("CARGO_PKG_VERSION"),
        ": ",
        env!("CARGO_PKG_DESCRIPTION")
    );
    let title = if global.quiet {
        String::new()
    } else {
        wrapped(title, "", "  ", width) + "\n"
    };
    let Listing { platforms, broken } =
        listing(Instant::now() + PATIENCE).unwrap_or_else(Listing::broken);
    let problem = match select::select(&platforms, global.device.as_deref()) {
        Ok(device) => return print(&(title + &with_device(device, global, width))),
        Err(error) if platforms.iter().any(|p| !p.devices.is_empty()) => return Err(error),
        Err(error) => broken.first().cloned().unwrap_or(error.to_string()),
    };
    // What is installed and broken does not go away by installing more.
    print(&(title + &without_device(&problem, &to_install(&platforms), width)))?;
    Err(Error::NoDevice(
        "there is no device to run on: the reason is above".into(),
    ))
}

fn with_device(device: &DeviceInfo, global: &Global, width: usize) -> String {
    let facts = format!(
        "{} ({}, {})",
        format::device(&device.name),
        device.kind,
        device.platform
    );
    let mut text = wrapped(
        &facts,
        &format!("device {}  ", device.selector),
        "    ",
        width,
    );
    if !global.quiet {
        text += "\nTry:\n";
        let given = global
            .device_given()
            .map(|given| format!(" -d {}", quoted(given)))
            .unwrap_or_default();
        text += &commands(TRY, &given, width);
        if !device.target.gpu {
            text += "\nThis is no GPU. What one does is recorded, counted and drawn:\n";
            text += &commands(WITHOUT_GPU, "", width);
        }
        text += "\nThe first run takes longer, as drivers compile.\n\
                 `gpulab list` names all ladders and experiments, `gpulab --help` all commands.\n";
    }
    text
}

/// Why there is no device, what to install (with its packages), and where to learn more.
fn without_device(problem: &str, install: &[Remedy], width: usize) -> String {
    let mut text = wrapped(problem, "no device: ", "  ", width)
        + "\nTo install, whichever suits this machine:\n";
    for Remedy { what, packages } in install {
        text +=
            &(wrapped(what, "  ", "    ", width) + &wrapped(packages, "      ", "      ", width));
    }
    text += "\nWithout any, what a GPU does is recorded, counted and drawn:\n";
    text + &commands(WITHOUT_GPU, "", width)
        + "\n`gpulab doctor` checks every part and says what is broken.\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_device_there_is_something_to_install() {
        let text = without_device("no OpenCL driver was found", &to_install(&[]), 80);
        assert!(
            text.starts_with("no device: no OpenCL driver was found\n"),
            "{text}"
        );
        for package in [
            "pocl-opencl-icd",
            "intel-opencl-rt",
            "libnvidia-opencl",
            "mesa-opencl-icd",
            "intel-opencl-icd",
        ] {
            assert!(text.contains(package), "{package}: {text}");
        }
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
    }
}

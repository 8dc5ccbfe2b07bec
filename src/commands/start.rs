//! `gpulab` alone: the device that would be used, and what to try.

use crate::console;
use crate::device::remedies::{Remedy, to_install};
use crate::device::{doctor, select};
use crate::outcome::PlatformInfo;
use crate::prelude::*;
use crate::report::wrap::wrapped;
use crate::shell::quoted;

/// Longest that drivers may take to list their devices: who types one word waits no longer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Commands to try, what they do, and how long they took on a CPU of four cores with PoCL, its cache of programs warm.
const TRY: [(&str, &str, &str); 3] = [
    ("gpulab dot -n 1M --quick", "the dot product's ladder", "2 s"),
    ("gpulab lab banks --quick", "the banks of local memory", "3 s"),
    ("gpulab ceiling --quick", "the device's limits", "10 s"),
];

/// Says which device would be used, without opening it in this process, and what to try; without a device, what to install.
pub fn run(out: &mut Out, global: &Global) -> Result<(), Error> {
    let width = console::width();
    let version = env!("CARGO_PKG_VERSION");
    let title = format!("gpulab {version}: {}\n\n", env!("CARGO_PKG_DESCRIPTION"));
    let title = wrapped(&title, "", "  ", width) + "\n";
    let (body, is_found) = match doctor::listing_within(PATIENCE) {
        Ok(Ok(platforms)) => match select::select(&platforms, global.device.as_deref()) {
            Ok(device) => (with_device(device, &platforms, global, width), true),
            Err(error) if platforms.iter().any(|p| !p.devices.is_empty()) => return Err(error),
            Err(error) => (without_device(&error.to_string(), &to_install(&platforms), width), false),
        },
        Ok(Err(problem)) => (without_device(&problem, &to_install(&[]), width), false),
        // What is installed is broken, so that nothing is to be installed.
        Err(problem) => (without_device(&problem, &[], width), false),
    };
    out.text(&if global.quiet { body } else { title + &body })?;
    let none = || Error::NoDevice("there is no device to run on: the reason is above".into());
    if is_found { Ok(()) } else { Err(none()) }
}

fn with_device(device: &DeviceInfo, platforms: &[PlatformInfo], global: &Global, width: usize) -> String {
    let count = platforms.iter().map(|p| p.devices.len()).sum::<usize>();
    let others = if count > 1 { format!("; one of {count}, gpulab devices lists them") } else { String::new() };
    let facts = format!("{} ({}, {}{others})", format::device(&device.name), device.kind, device.platform);
    let device_line = wrapped(&facts, &format!("device {}  ", device.selector), "    ", width);
    if global.quiet {
        return device_line;
    }
    let given = global.device_given().map(|given| format!(" -d {}", quoted(given))).unwrap_or_default();
    let commands = TRY.map(|(command, _, _)| format!("{command}{given}"));
    let longest = commands.iter().map(|command| command.chars().count()).max().unwrap_or(0);
    let line = |(command, (_, does, time)): (&String, (&str, &str, &str))| {
        let rest = " ".repeat(longest.min(width / 2) + 4);
        wrapped(&format!("{does} (about {time})"), &format!("  {command:<longest$}  "), &rest, width)
    };
    let lines: String = commands.iter().zip(TRY).map(line).collect();
    format!(
        "{device_line}\nTry:\n{lines}\nThe first run takes longer, as drivers compile.\n\
        `gpulab list` names all ladders and experiments, `gpulab --help` all commands.\n"
    )
}

/// Why there is no device, what to install (with its packages), and where to learn more.
fn without_device(problem: &str, install: &[&Remedy], width: usize) -> String {
    let mut text = wrapped(problem, "no device: ", "  ", width);
    if !install.is_empty() {
        text += "\nTo install, whichever suits this machine:\n";
    }
    for Remedy { what, packages } in install {
        text += &wrapped(what, "  ", "    ", width);
        text += &wrapped(packages, "      ", "      ", width);
    }
    text + "\n`gpulab doctor` checks every part and says what is broken.\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser;

    #[test]
    fn what_to_try_are_commands() {
        for (command, ..) in TRY {
            assert!(Cli::try_parse_from(command.split(' ')).is_ok(), "{command}");
        }
    }

    #[test]
    fn without_a_device_there_is_something_to_install() {
        let text = without_device(
            "no OpenCL driver was found",
            &[&Remedy { what: "a driver", packages: "pocl-opencl-icd" }],
            80,
        );
        assert!(text.starts_with("no device: no OpenCL driver was found\n"), "{text}");
        assert!(
            text.contains("To install") && text.contains("pocl-opencl-icd") && text.ends_with("what is broken.\n"),
            "{text}"
        );
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}

//! `gpulab devices`: every platform and device, and how to select each.

use super::Out;
use crate::Error;
use crate::device::doctor::{self, Listing};
use crate::device::{DeviceInfo, PlatformInfo, select};
use comfy_table::{CellAlignment, Table, presets};
use std::fmt::Write as _;
use std::fs;

/// Prints the table. With `json`, writes the list to that file, or in place of the table to `-`.
///
/// # Errors
/// [`Error::NoDevice`] if nothing can be selected; [`Error::Failed`] if a driver broke, after the devices of the others;
/// [`Error::Output`] if the list cannot be written.
pub fn run(out: &mut Out, json_file: Option<&str>) -> Result<(), Error> {
    let Listing { platforms, broken } = doctor::listing().map_err(Error::NoDevice)?;
    match json_file {
        Some("-") => out.text(&format!("{:#}\n", json(&platforms)))?,
        Some(file) => {
            fs::write(file, format!("{:#}\n", json(&platforms)))
                .map_err(|source| Error::Output { what: file.to_owned(), source })?;
            out.text(&table(&platforms))?;
        }
        None => out.text(&table(&platforms))?,
    }
    if broken.is_empty() {
        return select::select(&platforms, None).map(|_| ());
    }
    let broken = broken.join("\n");
    Err(Error::Failed(match platforms.is_empty() {
        true => broken,
        false => format!("{broken}; to use the others, let OCL_ICD_VENDORS name a folder without its file"),
    }))
}

/// The devices as a JSON array of objects; sizes in bytes.
pub fn json(platforms: &[PlatformInfo]) -> serde_json::Value {
    let devices: Vec<&DeviceInfo> = platforms.iter().flat_map(|p| &p.devices).collect();
    serde_json::json!(devices)
}

/// The devices as a table, then the platforms that have none, then what selects a device.
pub fn table(platforms: &[PlatformInfo]) -> String {
    let mut text = String::new();
    let devices: Vec<&DeviceInfo> = platforms.iter().flat_map(|p| &p.devices).collect();
    if !devices.is_empty() {
        text = rows(&devices);
    }
    for platform in platforms.iter().filter(|p| p.devices.is_empty()) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "platform {} {}: {}", platform.index, platform.name, emptiness(platform));
    }
    if let Some(first) = devices.first() {
        let word = first.name.split([' ', '-', '(']).next().unwrap_or_default().to_lowercase();
        let _ = writeln!(
            text,
            "select one with --device (or GPULAB_DEVICE): its number ({}), P:D ({}), gpu, cpu or accelerator \
             (the first of that type), or a part of its name, vendor or platform ({word})",
            first.index, first.selector
        );
    }
    text
}

fn rows(devices: &[&DeviceInfo]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header([
        "#", "P:D", "type", "name", "platform", "driver", "OpenCL", "CUs", "memory", "local", "max wg", "fp64",
    ]);
    for d in devices {
        let version = d.cl_version.trim_start_matches("OpenCL ").split(' ').next().unwrap_or_default();
        table.add_row([
            d.index.to_string(),
            d.selector.clone(),
            d.kind.clone(),
            d.name.clone(),
            d.platform.clone(),
            d.driver.clone(),
            version.to_owned(),
            d.target.compute_units.to_string(),
            binary(d.target.global_mem),
            binary(d.target.local_mem),
            d.target.max_wg.to_string(),
            if d.target.fp64 { "yes" } else { "no" }.to_owned(),
        ]);
    }
    for column in [0, 7, 8, 9, 10] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned() + "\n");
    lines.collect()
}

/// Why a platform has no devices.
pub(super) fn emptiness(platform: &PlatformInfo) -> String {
    let guess = || format!("no devices; {}", hint(&platform.name));
    platform.problem.as_ref().map_or_else(guess, |problem| format!("no devices: {problem}"))
}

/// Why a platform may have no devices, and what to do.
fn hint(platform: &str) -> &'static str {
    let name = platform.to_lowercase();
    if name.contains("rusticl") {
        "it waits to be told a driver: RUSTICL_ENABLE=llvmpipe (CPU), radeonsi (AMD), iris (Intel) or nouveau"
    } else if name.contains("clover") {
        "that is normal: Clover is retired, and serves only old AMD GPUs"
    } else if name.contains("portable computing") || name.contains("pocl") {
        "its cache folder may not be writable: set POCL_CACHE_DIR to one that is"
    } else {
        "its driver sees no hardware, or may not open it (on Linux: groups `render` and `video`)"
    }
}

/// Bytes in the largest binary unit that keeps at least one whole.
fn binary(bytes: u64) -> String {
    let units = [(1u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.iter().find(|(size, _)| bytes >= *size) {
        Some((size, unit)) if bytes.is_multiple_of(*size) => format!("{} {unit}", bytes / size),
        Some((size, unit)) => format!("{:.1} {unit}", bytes as f64 / *size as f64),
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Target;

    fn platforms() -> Vec<PlatformInfo> {
        let target = Target {
            gpu: true,
            compute_units: 132,
            max_wg: 1024,
            max_wg_dims: [1024, 1024, 64],
            local_mem: 49_152,
            global_mem: 150_109_880_320,
            max_alloc: 37_527_470_080,
            cache: 4_325_376,
            float_lanes: 0,
            fp64: true,
            fp16: false,
            nvidia: true,
            async_copy: false,
            register_caps: false,
            subgroups: false,
            images: false,
        };
        let device = DeviceInfo {
            index: 0,
            selector: "1:0".to_owned(),
            platform: "NVIDIA CUDA".to_owned(),
            name: "NVIDIA H200".to_owned(),
            vendor: "NVIDIA Corporation".to_owned(),
            kind: "gpu".to_owned(),
            driver: "580.159".to_owned(),
            cl_version: "OpenCL 3.0 CUDA".to_owned(),
            clock_mhz: 1980,
            timer_ns: 1000,
            extensions: String::new(),
            target,
        };
        let platform = |index, name: &str, devices| PlatformInfo {
            index,
            name: name.to_owned(),
            vendor: String::new(),
            version: String::new(),
            devices,
            problem: None,
        };
        vec![platform(0, "rusticl", vec![]), platform(1, "NVIDIA CUDA", vec![device])]
    }

    #[test]
    fn the_table_shows_devices_empty_platforms_and_how_to_select() {
        let text = table(&platforms());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        for word in ["0", "1:0", "gpu", "NVIDIA H200", "580.159", "3.0", "132", "139.8 GiB", "48 KiB", "1024", "yes"] {
            assert!(lines[1].contains(word), "{word}: {text}");
        }
        assert!(lines[2].starts_with("platform 0 rusticl: no devices; ") && lines[2].contains("RUSTICL_ENABLE"));
        assert!(lines[3].contains("(0), P:D (1:0)") && lines[3].contains("(nvidia)"), "{text}");
    }

    #[test]
    fn the_json_has_the_promised_keys() {
        let json = json(&platforms());
        let device = &json[0];
        for key in ["index", "selector", "platform", "name", "vendor", "type", "driver", "cl_version", "max_wg"] {
            assert!(!device[key].is_null(), "{key}: {json}");
        }
        assert_eq!(json.as_array().map(Vec::len), Some(1));
    }

    #[test]
    fn no_platforms_make_an_empty_table() {
        assert_eq!(table(&[]), "");
        assert_eq!(json(&[]), serde_json::json!([]));
    }
}

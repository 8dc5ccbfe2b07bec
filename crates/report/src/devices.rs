//! The devices of a machine: as a table, as blocks of lines, and as JSON.

use crate::wrap::wrapped;
use comfy_table::{CellAlignment, presets};
use gpulab_model::outcome::{DeviceInfo, PlatformInfo};

/// The devices as a JSON array of objects; sizes in bytes.
pub fn json(platforms: &[PlatformInfo]) -> serde_json::Value {
    let devices: Vec<&DeviceInfo> = platforms.iter().flat_map(|p| &p.devices).collect();
    serde_json::json!(devices)
}

/// The devices as a table, or as blocks of lines if that is wider than the terminal or more is wanted of each; then the
/// platforms that have none.
pub fn table(platforms: &[PlatformInfo], width: usize, verbose: bool) -> String {
    let devices: Vec<&DeviceInfo> = platforms.iter().flat_map(|p| &p.devices).collect();
    let mut text = if devices.is_empty() || verbose {
        String::new()
    } else {
        rows(&devices)
    };
    if verbose || text.lines().any(|line| line.chars().count() > width) {
        text = devices
            .iter()
            .map(|device| block(device, width, verbose))
            .collect();
    }
    for platform in platforms.iter().filter(|p| p.devices.is_empty()) {
        let head = format!("platform {} {}: ", platform.index, platform.name);
        text += &wrapped(&emptiness(platform), &head, "  ", width);
    }
    text
}

/// What selects a device; an environment variable can, too.
pub fn hint_to_select(platforms: &[PlatformInfo], variable: &str, width: usize) -> String {
    let Some(first) = platforms.iter().flat_map(|p| &p.devices).next() else {
        return String::new();
    };
    let word = first
        .name
        .split([' ', '-', '('])
        .next()
        .unwrap_or_default()
        .to_lowercase();
    let hint = format!(
        "select one with -d (or {variable}): its number ({}), P:D ({}), gpu, cpu or accelerator (the first of that \
         type), a driver (pocl, nvidia, ...), or a part of its name, vendor or platform ({word})",
        first.index, first.selector
    );
    wrapped(&hint, "", "  ", width)
}

fn block(d: &DeviceInfo, width: usize, verbose: bool) -> String {
    let head = wrapped(
        &d.name,
        &format!("{}  {}  {}  ", d.index, d.selector, d.kind),
        "     ",
        width,
    );
    let target = &d.target;
    let mut facts = format!(
        "{}, driver {}, OpenCL {}, {} CUs, memory {}, local {}, work-groups up to {}, {}",
        d.platform,
        d.driver,
        version(d),
        target.compute_units,
        binary(target.global_mem),
        binary(target.local_mem),
        target.max_wg,
        if target.fp64 { "fp64" } else { "no fp64" },
    );
    if verbose {
        let has = [
            (target.fp16, "fp16"),
            (target.images, "images"),
            (target.subgroups, "sub-groups"),
        ]
        .map(|(is_there, what)| format!("{}{what}", if is_there { "" } else { "no " }));
        facts += &format!(
            ", {}; largest buffer {}, cache {}, clock {} MHz, timer steps of {} ns",
            has.join(", "),
            binary(target.max_alloc),
            binary(target.cache),
            d.clock_mhz,
            d.timer_ns,
        );
    }
    let extensions = if verbose {
        wrapped(&d.extensions, "     ", "     ", width)
    } else {
        String::new()
    };
    head + &wrapped(&facts, "     ", "     ", width) + &extensions
}

/// The version's number, as in `3.0`.
fn version(d: &DeviceInfo) -> &str {
    d.cl_version
        .trim_start_matches("OpenCL ")
        .split(' ')
        .next()
        .unwrap_or_default()
}

fn rows(devices: &[&DeviceInfo]) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(presets::NOTHING).set_header([
        "#", "P:D", "type", "name", "platform", "driver", "OpenCL", "CUs", "memory", "local",
        "max wg", "fp64",
    ]);
    for d in devices {
        table.add_row([
            d.index.to_string(),
            d.selector.clone(),
            d.kind.clone(),
            d.name.clone(),
            d.platform.clone(),
            d.driver.clone(),
            version(d).to_owned(),
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
pub fn emptiness(platform: &PlatformInfo) -> String {
    platform.problem.as_ref().map_or_else(
        || format!("no devices; {}", hint(&platform.name)),
        |problem| format!("no devices: {problem}"),
    )
}

/// Why a platform may have no devices, and what to do.
fn hint(platform: &str) -> &'static str {
    let name = platform.to_lowercase();
    if name.contains("rusticl") {
        "it needs a driver's name: RUSTICL_ENABLE=llvmpipe (CPU), radeonsi (AMD), iris (Intel) or nouveau"
    } else if name.contains("clover") {
        "that is normal: Clover is retired, and serves only old AMD GPUs"
    } else if name.contains("portable computing") || name.contains("pocl") {
        "its cache folder may not be writable: set POCL_CACHE_DIR to one that is"
    } else {
        "its driver finds no hardware, or may not open it (on Linux: groups `render` and `video`)"
    }
}

/// Bytes in the largest binary unit that keeps at least one whole.
fn binary(bytes: u64) -> String {
    let units = [
        (1u64 << 40, "TiB"),
        (1 << 30, "GiB"),
        (1 << 20, "MiB"),
        (1 << 10, "KiB"),
    ];
    match units.iter().find(|(size, _)| bytes >= *size) {
        Some((size, unit)) if bytes.is_multiple_of(*size) => format!("{} {unit}", bytes / size),
        Some((size, unit)) => format!("{:.1} {unit}", bytes as f64 / *size as f64),
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_model::outcome::fake_info;
    use gpulab_model::plan::Target;

    fn platforms() -> Vec<PlatformInfo> {
        let device = DeviceInfo {
            selector: "1:0".to_owned(),
            platform: "NVIDIA CUDA".to_owned(),
            name: "NVIDIA H200".to_owned(),
            vendor: "NVIDIA Corporation".to_owned(),
            kind: "gpu".to_owned(),
            driver: "580.159".to_owned(),
            cl_version: "OpenCL 3.0 CUDA".to_owned(),
            timer_ns: 1000,
            target: Target {
                compute_units: 132,
                global_mem: 150_109_880_320,
                local_mem: 49_152,
                ..Target::with_everything(true)
            },
            ..fake_info()
        };
        let platform = |index, name: &str, devices| {
            let name = name.to_owned();
            let vendor = String::new();
            let version = String::new();
            PlatformInfo {
                index,
                name,
                vendor,
                version,
                devices,
                problem: None,
            }
        };
        vec![
            platform(0, "rusticl", vec![]),
            platform(1, "NVIDIA CUDA", vec![device]),
        ]
    }

    #[test]
    fn the_table_shows_devices_empty_platforms_and_how_to_select() {
        let text = table(&platforms(), usize::MAX, false)
            + &hint_to_select(&platforms(), "GPULAB_DEVICE", usize::MAX);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        for word in [
            "0",
            "1:0",
            "gpu",
            "NVIDIA H200",
            "580.159",
            "3.0",
            "132",
            "139.8 GiB",
            "48 KiB",
            "1024",
            "yes",
        ] {
            assert!(lines[1].contains(word), "{word}: {text}");
        }
        assert!(
            lines[2].starts_with("platform 0 rusticl: no devices; ")
                && lines[2].contains("RUSTICL_ENABLE")
        );
        assert!(
            lines[3].contains("(0), P:D (1:0)") && lines[3].contains("(nvidia)"),
            "{text}"
        );
    }

    #[test]
    fn a_narrow_terminal_has_a_block_for_each_device() {
        for verbose in [false, true] {
            let text = table(&platforms(), 80, verbose)
                + &hint_to_select(&platforms(), "GPULAB_DEVICE", 80);
            assert!(
                text.lines().all(|line| line.chars().count() <= 80),
                "{text}"
            );
            assert!(
                text.starts_with(
                    "0  1:0  gpu  NVIDIA H200\n     NVIDIA CUDA, driver 580.159, OpenCL 3.0"
                ),
                "{text}"
            );
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(words.contains("timer steps of 1000 ns"), verbose);
        }
    }

    #[test]
    fn the_json_has_the_promised_keys() {
        let json = json(&platforms());
        let device = &json[0];
        for key in [
            "index",
            "selector",
            "platform",
            "name",
            "vendor",
            "type",
            "driver",
            "cl_version",
            "max_wg",
        ] {
            assert!(!device[key].is_null(), "{key}: {json}");
        }
        assert_eq!(json.as_array().map(Vec::len), Some(1));
    }
}

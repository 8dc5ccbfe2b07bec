//! Choosing a device from the list. Pure.

use super::info::{DeviceInfo, PlatformInfo};
use crate::Error;
use std::fmt::Write as _;

/// Types by preference: what runs when nothing is chosen.
const KINDS: [&str; 4] = ["gpu", "accelerator", "cpu", "other"];

/// The device that `selector` means: a row number of `gpulab devices`, `P:D`, `gpu`, `cpu` or `accelerator`
/// (the first of that type), or a part of a name, vendor or platform in any case. Without a selector (or with
/// a blank one): the first GPU, else the first accelerator, else the first CPU.
///
/// # Errors
/// [`Error::NoDevice`] lists the candidates if the selector means none or more than one.
pub fn select<'a>(platforms: &'a [PlatformInfo], selector: Option<&str>) -> Result<&'a DeviceInfo, Error> {
    let devices: Vec<&DeviceInfo> = platforms.iter().flat_map(|p| &p.devices).collect();
    if devices.is_empty() {
        return Err(no_devices(platforms));
    }
    let wanted = selector.unwrap_or_default().trim().to_lowercase();
    if wanted.is_empty() {
        let preferred = KINDS.iter().find_map(|kind| first_of_kind(&devices, kind));
        return preferred.ok_or_else(|| no_devices(platforms));
    }
    if KINDS[..3].contains(&wanted.as_str()) {
        let found = first_of_kind(&devices, &wanted);
        return found.ok_or_else(|| list(&format!("there is no device of type {wanted}"), &devices));
    }
    if let Some(device) = devices.iter().find(|d| d.index.to_string() == wanted || d.selector == wanted) {
        return Ok(device);
    }
    by_name(&devices, &wanted)
}

fn first_of_kind<'a>(devices: &[&'a DeviceInfo], kind: &str) -> Option<&'a DeviceInfo> {
    devices.iter().find(|d| d.kind == kind).copied()
}

/// The one device that has `wanted` in its name, vendor or platform; a whole name beats a part of one.
fn by_name<'a>(devices: &[&'a DeviceInfo], wanted: &str) -> Result<&'a DeviceInfo, Error> {
    let named: Vec<_> = devices.iter().copied().filter(|d| d.name.to_lowercase() == wanted).collect();
    if let [device] = named[..] {
        return Ok(device);
    }
    let has = |text: &str| text.to_lowercase().contains(wanted);
    let found: Vec<_> =
        devices.iter().copied().filter(|d| has(&d.name) || has(&d.vendor) || has(&d.platform)).collect();
    match found[..] {
        [device] => Ok(device),
        [] => Err(list(&format!("no device matches `{wanted}`"), devices)),
        _ => Err(list(&format!("`{wanted}` matches {} devices", found.len()), &found)),
    }
}

fn no_devices(platforms: &[PlatformInfo]) -> Error {
    let name = |p: &PlatformInfo| p.problem.as_ref().map_or(p.name.clone(), |problem| format!("{}: {problem}", p.name));
    let names: Vec<String> = platforms.iter().map(name).collect();
    let found = match names.is_empty() {
        true => "no OpenCL driver was found".to_owned(),
        false => format!("no OpenCL device was found, only platforms without devices ({})", names.join(", ")),
    };
    Error::NoDevice(format!("{found}; `gpulab doctor` says what to install"))
}

/// The problem, then one line for each candidate with what selects it.
fn list(problem: &str, candidates: &[&DeviceInfo]) -> Error {
    let mut text = format!("{problem}; choose one with `--device`:");
    for d in candidates {
        // Writing to a String cannot fail.
        let _ =
            write!(text, "\n  --device {:<3} or {:<5} {} ({}, {})", d.index, d.selector, d.name, d.kind, d.platform);
    }
    Error::NoDevice(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Target;

    /// A device's name, vendor and type.
    type Entry<'a> = (&'a str, &'a str, &'a str);

    /// Platforms from their names and devices.
    fn platforms(list: &[(&str, &[Entry<'_>])]) -> Vec<PlatformInfo> {
        let mut index = 0;
        let mut platforms = Vec::new();
        for (p, (platform, devices)) in list.iter().enumerate() {
            let mut infos = Vec::new();
            for (d, (name, vendor, kind)) in devices.iter().enumerate() {
                infos.push(device(index, format!("{p}:{d}"), platform, name, vendor, kind));
                index += 1;
            }
            platforms.push(PlatformInfo {
                index: p,
                name: (*platform).to_owned(),
                vendor: String::new(),
                version: String::new(),
                devices: infos,
                problem: None,
            });
        }
        platforms
    }

    fn device(index: usize, selector: String, platform: &str, name: &str, vendor: &str, kind: &str) -> DeviceInfo {
        DeviceInfo {
            index,
            selector,
            platform: platform.to_owned(),
            name: name.to_owned(),
            vendor: vendor.to_owned(),
            kind: kind.to_owned(),
            driver: String::new(),
            cl_version: String::new(),
            clock_mhz: 0,
            timer_ns: 0,
            extensions: String::new(),
            target: Target {
                gpu: kind == "gpu",
                compute_units: 1,
                max_wg: 1,
                max_wg_dims: [1; 3],
                local_mem: 0,
                global_mem: 0,
                max_alloc: 0,
                cache: 0,
                float_lanes: 0,
                fp64: false,
                fp16: false,
                nvidia: false,
                async_copy: false,
                register_caps: false,
                subgroups: false,
                images: false,
            },
        }
    }

    fn lab() -> Vec<PlatformInfo> {
        platforms(&[
            ("Portable Computing Language", &[("pthread-Xeon", "GenuineIntel", "cpu")]),
            ("rusticl", &[]),
            ("NVIDIA CUDA", &[("NVIDIA H200", "NVIDIA Corporation", "gpu"), ("RTX 4090", "NVIDIA Corporation", "gpu")]),
            ("Big Board", &[("Alveo", "Xilinx", "accelerator"), ("Alveo Plus", "Xilinx", "accelerator")]),
        ])
    }

    fn chosen(platforms: &[PlatformInfo], selector: &str) -> Result<usize, String> {
        select(platforms, Some(selector)).map(|d| d.index).map_err(|e| {
            assert_eq!(e.exit_code(), 3);
            e.to_string()
        })
    }

    #[test]
    fn row_numbers_and_pairs_select() {
        let lab = lab();
        for row in 0..5 {
            assert_eq!(chosen(&lab, &row.to_string()), Ok(row));
        }
        assert_eq!(chosen(&lab, "0:0"), Ok(0));
        assert_eq!(chosen(&lab, "2:1"), Ok(2));
        assert_eq!(chosen(&lab, " 3:0 "), Ok(3));
        assert!(chosen(&lab, "1:0").is_err(), "a platform without devices");
        assert!(chosen(&lab, "5").is_err());
        assert!(chosen(&lab, "-1").is_err());
        assert!(chosen(&lab, "18446744073709551616").is_err());
    }

    #[test]
    fn types_select_the_first() {
        let lab = lab();
        assert_eq!(chosen(&lab, "gpu"), Ok(1));
        assert_eq!(chosen(&lab, "CPU"), Ok(0));
        assert_eq!(chosen(&lab, "accelerator"), Ok(3));
        let error = chosen(&platforms(&[("P", &[("a gpu-like", "V", "cpu")])]), "gpu").unwrap_err();
        assert!(error.starts_with("there is no device of type gpu"), "{error}");
        assert!(error.contains("--device 0   or 0:0   a gpu-like (cpu, P)"), "{error}");
    }

    #[test]
    fn parts_of_names_vendors_and_platforms_select_in_any_case() {
        let lab = lab();
        assert_eq!(chosen(&lab, "H200"), Ok(1));
        assert_eq!(chosen(&lab, "h200"), Ok(1));
        assert_eq!(chosen(&lab, "4090"), Ok(2), "a number that is no row may be part of a name");
        assert_eq!(chosen(&lab, "portable"), Ok(0));
        assert_eq!(chosen(&lab, "genuineintel"), Ok(0));
        assert_eq!(chosen(&lab, "alveo"), Ok(3), "a whole name beats a part of another");
        assert_eq!(chosen(&lab, "alveo p"), Ok(4));
    }

    #[test]
    fn ambiguous_names_list_only_what_they_match() {
        let error = chosen(&lab(), "nvidia").unwrap_err();
        assert!(error.starts_with("`nvidia` matches 2 devices"), "{error}");
        assert!(error.contains("--device 1 ") && error.contains("--device 2 "), "{error}");
        assert!(!error.contains("pthread"), "{error}");
    }

    #[test]
    fn unknown_names_list_everything() {
        let error = chosen(&lab(), "radeon").unwrap_err();
        assert!(error.starts_with("no device matches `radeon`"), "{error}");
        assert_eq!(error.lines().count(), 6);
    }

    #[test]
    fn the_default_prefers_gpus_then_accelerators_then_cpus() {
        let name = |list: &[(&str, &[Entry<'_>])]| select(&platforms(list), None).map(|d| d.name.clone()).ok();
        let (cpu, gpu, acc) = (("c", "", "cpu"), ("g", "", "gpu"), ("a", "", "accelerator"));
        assert_eq!(name(&[("p", &[cpu]), ("q", &[acc, gpu])]).as_deref(), Some("g"));
        assert_eq!(name(&[("p", &[cpu, acc])]).as_deref(), Some("a"));
        assert_eq!(name(&[("p", &[("o", "", "other"), cpu])]).as_deref(), Some("c"));
        assert_eq!(name(&[("p", &[("o", "", "other")])]).as_deref(), Some("o"));
        assert_eq!(chosen(&lab(), "  "), Ok(1), "a blank selector is none");
    }

    #[test]
    fn nothing_to_choose_from_points_to_the_doctor() {
        assert!(chosen(&[], "gpu").unwrap_err().contains("no OpenCL driver was found"));
        let empty = chosen(&platforms(&[("rusticl", &[]), ("Clover", &[])]), "0").unwrap_err();
        assert!(empty.contains("without devices (rusticl, Clover)") && empty.contains("gpulab doctor"), "{empty}");
    }
}

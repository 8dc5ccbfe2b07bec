//! Choosing a device from the list. Pure.

use gpulab_model::outcome::{DeviceInfo, PlatformInfo};
use gpulab_model::{Error, Result, usage_error};
use std::fmt::Write as _;

/// Types by preference: what runs when nothing is chosen.
const KINDS: [&str; 4] = ["gpu", "accelerator", "cpu", "other"];

/// Types that select their first device.
pub const TYPES: [&str; 3] = ["gpu", "cpu", "accelerator"];

/// What people call a driver or a vendor, and the words of platforms, vendors and devices that it stands for.
pub const ALIASES: &[(&str, &[&str])] = &[
    ("pocl", &["portable computing language"]),
    ("nvidia", &["nvidia"]),
    ("cuda", &["nvidia"]),
    ("amd", &["amd accelerated", "advanced micro devices", "amd"]),
    ("rocm", &["amd accelerated"]),
    ("intel", &["intel"]),
    ("rusticl", &["rusticl"]),
    ("mesa", &["rusticl", "clover", "mesa"]),
    ("oclgrind", &["oclgrind"]),
    ("apple", &["apple"]),
    ("arm", &["arm platform", "arm"]),
    ("qualcomm", &["qualcomm"]),
];

/// The device that `selector` means: a row number of `gpulab devices`, `P:D`, `gpu`, `cpu` or `accelerator`
/// (the first of that type), an alias of a driver, or a part of a name, vendor or platform in any case. Without a
/// selector (or with a blank one): the first GPU, else the first accelerator, else the first CPU.
pub fn select<'a>(platforms: &'a [PlatformInfo], selector: Option<&str>) -> Result<&'a DeviceInfo> {
    let wanted = selector.unwrap_or_default().trim().to_lowercase();
    let found = matching(platforms, selector)?;
    match found[..] {
        [] => Err(no_devices(platforms)),
        [device] => Ok(device),
        [first, ..] if wanted.is_empty() || TYPES.contains(&wanted.as_str()) => Ok(first),
        _ => Err(list(
            &format!("`{wanted}` matches {} devices", found.len()),
            &found,
        )),
    }
}

/// Every device that `selector` could mean, the one that [`select`] takes first where it takes one; all of them without a
/// selector (or with a blank one), by preference.
pub fn matching<'a>(
    platforms: &'a [PlatformInfo],
    selector: Option<&str>,
) -> Result<Vec<&'a DeviceInfo>> {
    let devices: Vec<&DeviceInfo> = platforms.iter().flat_map(|p| &p.devices).collect();
    if devices.is_empty() {
        return Err(no_devices(platforms));
    }
    let wanted = selector.unwrap_or_default().trim().to_lowercase();
    if wanted == "all" || wanted.contains(',') {
        return usage_error(format!(
            "`{wanted}` asks for several devices, and each run uses one: choose one with -d (gpulab devices lists them)"
        ));
    }
    if wanted.is_empty() {
        return Ok(KINDS
            .iter()
            .flat_map(|kind| devices.iter().copied().filter(move |d| d.kind == *kind))
            .collect());
    }
    if TYPES.contains(&wanted.as_str()) {
        let found: Vec<&DeviceInfo> = devices
            .iter()
            .copied()
            .filter(|d| d.kind == wanted)
            .collect();
        return if found.is_empty() {
            Err(list(
                &format!("there is no device of type {wanted}"),
                &devices,
            ))
        } else {
            Ok(found)
        };
    }
    if let Some(device) = devices
        .iter()
        .find(|d| d.index.to_string() == wanted || d.selector == wanted)
    {
        return Ok(vec![device]);
    }
    // A row's number that no row has is no part of a name; longer ones may be, as 4090 is.
    let is_row = wanted.len() <= 2 && wanted.bytes().all(|byte| byte.is_ascii_digit());
    let found = if is_row {
        Vec::new()
    } else {
        named(platforms, &wanted)
    };
    if found.is_empty() {
        Err(list(&format!("no device matches `{wanted}`"), &devices))
    } else {
        Ok(found)
    }
}

/// Leaves the devices that `selector` could mean, and their platforms.
pub fn narrow(platforms: &mut Vec<PlatformInfo>, selector: &str) -> Result<()> {
    let meant: Vec<String> = matching(platforms, Some(selector))?
        .into_iter()
        .map(|d| d.selector.clone())
        .collect();
    platforms
        .iter_mut()
        .for_each(|platform| platform.devices.retain(|d| meant.contains(&d.selector)));
    platforms.retain(|platform| !platform.devices.is_empty());
    Ok(())
}

/// The devices that `wanted` names. A whole name beats a part of one, and a driver's own name beats that of a device: of a
/// CPU by Intel, `intel` means what Intel's driver makes of it, if that is installed.
fn named<'a>(platforms: &'a [PlatformInfo], wanted: &str) -> Vec<&'a DeviceInfo> {
    let whole = found(platforms, |_, d| d.name.to_lowercase() == wanted);
    if let [_] = whole[..] {
        return whole;
    }
    let own = [wanted];
    let alias = ALIASES
        .iter()
        .find(|(alias, _)| *alias == wanted)
        .map(|(_, words)| *words);
    let words = alias.unwrap_or(&own);
    let by_device = found(platforms, |p, d| {
        [&d.name, &d.vendor, &p.name]
            .iter()
            .any(|text| has(text, words))
    });
    let tiers = match alias {
        Some(_) => [
            found(platforms, |p, _| {
                has(&p.name, words) || has(&p.vendor, words)
            }),
            by_device,
        ],
        None => [
            by_device,
            found(platforms, |p, _| {
                has(&p.version, words) || has(&p.vendor, words)
            }),
        ],
    };
    tiers
        .into_iter()
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

fn found(
    platforms: &[PlatformInfo],
    is_meant: impl Fn(&PlatformInfo, &DeviceInfo) -> bool,
) -> Vec<&DeviceInfo> {
    let mut found = Vec::new();
    for platform in platforms {
        found.extend(
            platform
                .devices
                .iter()
                .filter(|device| is_meant(platform, device)),
        );
    }
    found
}

fn has(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.to_lowercase().contains(word))
}

/// What people call the driver whose platform has this name, if it is a known one.
pub fn alias(platform: &str) -> Option<&'static str> {
    ALIASES
        .iter()
        .find(|(_, words)| has(platform, words))
        .map(|(alias, _)| *alias)
}

fn no_devices(platforms: &[PlatformInfo]) -> Error {
    let names: Vec<String> = platforms
        .iter()
        .map(|p: &PlatformInfo| {
            p.problem
                .as_ref()
                .map_or(p.name.clone(), |problem| format!("{}: {problem}", p.name))
        })
        .collect();
    let found = match names.is_empty() {
        true => "no OpenCL driver was found".to_owned(),
        false => format!(
            "no OpenCL device was found, only platforms without devices ({})",
            names.join(", ")
        ),
    };
    Error::NoDevice(format!("{found}; `gpulab doctor` says what to install"))
}

/// The problem, then one line for each candidate with what selects it.
fn list(problem: &str, candidates: &[&DeviceInfo]) -> Error {
    let mut text = format!("{problem}; choose one with `--device`:");
    for d in candidates {
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "\n  --device {:<3} or {:<5} {} ({}, {})",
            d.index, d.selector, d.name, d.kind, d.platform
        );
    }
    Error::NoDevice(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_model::outcome::fake_info;
    use gpulab_model::plan::Target;

    type Entry<'a> = (&'a str, &'a str, &'a str);

    fn platforms(list: &[(&str, &[Entry<'_>])]) -> Vec<PlatformInfo> {
        let mut index = 0;
        let mut platforms = Vec::new();
        for (p, (platform, devices)) in list.iter().enumerate() {
            let of = |(d, (name, vendor, kind)): (usize, &Entry<'_>)| {
                device(index + d, format!("{p}:{d}"), platform, name, vendor, kind)
            };
            let name = (*platform).to_owned();
            let devices = Vec::from_iter(devices.iter().enumerate().map(of));
            index += devices.len();
            let vendor = String::new();
            let version = String::new();
            platforms.push(PlatformInfo {
                index: p,
                name,
                vendor,
                version,
                devices,
                problem: None,
            });
        }
        platforms
    }

    fn device(
        index: usize,
        selector: String,
        platform: &str,
        name: &str,
        vendor: &str,
        kind: &str,
    ) -> DeviceInfo {
        let fake = fake_info();
        let [platform, name, vendor, kind] = [platform, name, vendor, kind].map(str::to_owned);
        let target = Target {
            gpu: kind == "gpu",
            ..fake.target
        };
        DeviceInfo {
            index,
            selector,
            platform,
            name,
            vendor,
            kind,
            target,
            ..fake
        }
    }

    fn lab() -> Vec<PlatformInfo> {
        platforms(&[
            (
                "Portable Computing Language",
                &[("pthread-Xeon", "GenuineIntel", "cpu")],
            ),
            ("rusticl", &[]),
            (
                "NVIDIA CUDA",
                &[
                    ("NVIDIA H200", "NVIDIA Corporation", "gpu"),
                    ("RTX 4090", "NVIDIA Corporation", "gpu"),
                ],
            ),
            (
                "Big Board",
                &[
                    ("Alveo", "Xilinx", "accelerator"),
                    ("Alveo Plus", "Xilinx", "accelerator"),
                ],
            ),
        ])
    }

    fn chosen(platforms: &[PlatformInfo], selector: &str) -> Result<usize, String> {
        select(platforms, Some(selector))
            .map(|d| d.index)
            .map_err(|e| {
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
        assert!(
            chosen(&lab, "40").is_err(),
            "a row's number, though a name has it"
        );
        assert_eq!(chosen(&lab, "4090"), Ok(2));
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
        assert!(
            error.starts_with("there is no device of type gpu"),
            "{error}"
        );
        assert!(
            error.contains("--device 0   or 0:0   a gpu-like (cpu, P)"),
            "{error}"
        );
    }

    #[test]
    fn parts_of_names_vendors_and_platforms_select_in_any_case() {
        let lab = lab();
        assert_eq!(chosen(&lab, "H200"), Ok(1));
        assert_eq!(chosen(&lab, "h200"), Ok(1));
        assert_eq!(
            chosen(&lab, "4090"),
            Ok(2),
            "a number that is no row may be part of a name"
        );
        assert_eq!(chosen(&lab, "portable"), Ok(0));
        assert_eq!(chosen(&lab, "genuineintel"), Ok(0));
        assert_eq!(
            chosen(&lab, "alveo"),
            Ok(3),
            "a whole name beats a part of another"
        );
        assert_eq!(chosen(&lab, "alveo p"), Ok(4));
    }

    #[test]
    fn drivers_are_known_by_what_people_call_them() {
        let mut lab = lab();
        lab.extend(platforms(&[
            (
                "Intel(R) OpenCL",
                &[("Xeon", "Intel(R) Corporation", "cpu")],
            ),
            ("rusticl", &[("llvmpipe", "Mesa", "cpu")]),
            (
                "AMD Accelerated Parallel Processing",
                &[("gfx90a", "Advanced Micro Devices, Inc.", "gpu")],
            ),
        ]));
        for (row, platform) in lab[4..].iter_mut().enumerate() {
            platform.devices[0].index = 5 + row;
        }
        lab[0].version = "OpenCL 3.0 PoCL 3.1 LLVM 15, CUDA".to_owned();
        for (selector, row) in [
            ("pocl", 0),
            ("PoCL", 0),
            ("intel", 5),
            ("rusticl", 6),
            ("mesa", 6),
            ("amd", 7),
            ("ROCm", 7),
        ] {
            assert_eq!(chosen(&lab, selector), Ok(row), "{selector}");
        }
        assert_eq!(chosen(&lab, "pocl 3.1"), Ok(0), "the platform's version");
        assert!(
            chosen(&lab, "cuda")
                .unwrap_err()
                .starts_with("`cuda` matches 2 devices"),
            "not what PoCL was built with"
        );
        assert_eq!(
            chosen(
                &platforms(&[("P", &[("pthread", "GenuineIntel", "cpu")])]),
                "intel"
            ),
            Ok(0)
        );
        assert!(chosen(&lab, "oclgrind").is_err());
    }

    #[test]
    fn ambiguous_names_list_only_what_they_match_and_unknown_ones_everything() {
        let error = chosen(&lab(), "nvidia").unwrap_err();
        assert!(error.starts_with("`nvidia` matches 2 devices"), "{error}");
        assert!(
            error.contains("--device 1 ") && error.contains("--device 2 "),
            "{error}"
        );
        assert!(!error.contains("pthread"), "{error}");
        let error = chosen(&lab(), "radeon").unwrap_err();
        assert!(error.starts_with("no device matches `radeon`"), "{error}");
        assert_eq!(error.lines().count(), 6);
    }

    #[test]
    fn the_default_prefers_gpus_then_accelerators_then_cpus() {
        let name = |list: &[(&str, &[Entry<'_>])]| {
            select(&platforms(list), None).map(|d| d.name.clone()).ok()
        };
        let cpu = ("c", "", "cpu");
        let gpu = ("g", "", "gpu");
        let acc = ("a", "", "accelerator");
        assert_eq!(
            name(&[("p", &[cpu]), ("q", &[acc, gpu])]).as_deref(),
            Some("g")
        );
        assert_eq!(name(&[("p", &[cpu, acc])]).as_deref(), Some("a"));
        assert_eq!(
            name(&[("p", &[("o", "", "other"), cpu])]).as_deref(),
            Some("c")
        );
        assert_eq!(name(&[("p", &[("o", "", "other")])]).as_deref(), Some("o"));
        assert_eq!(chosen(&lab(), "  "), Ok(1), "a blank selector is none");
    }

    #[test]
    fn where_one_device_is_needed_a_list_is_refused() {
        for list in ["all", "0,1"] {
            let error = select(&lab(), Some(list)).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains("several devices"), "{error}");
        }
    }

    #[test]
    fn nothing_to_choose_from_points_to_the_doctor() {
        assert!(
            chosen(&[], "gpu")
                .unwrap_err()
                .contains("no OpenCL driver was found")
        );
        let empty = chosen(&platforms(&[("rusticl", &[]), ("Clover", &[])]), "0").unwrap_err();
        assert!(
            empty.contains("without devices (rusticl, Clover)") && empty.contains("gpulab doctor"),
            "{empty}"
        );
    }

    #[test]
    fn a_selector_leaves_what_it_could_mean() {
        let gpu: &[Entry<'_>] = &[("H200", "NVIDIA Corporation", "gpu")];
        let mut all = platforms(&[("rusticl", &[]), ("NVIDIA CUDA", gpu)]);
        assert_eq!(narrow(&mut all, "radeon").unwrap_err().exit_code(), 3);
        narrow(&mut all, "cuda").unwrap();
        assert_eq!(
            all.iter()
                .map(|platform| platform.name.as_str())
                .collect::<Vec<_>>(),
            ["NVIDIA CUDA"]
        );
    }
}

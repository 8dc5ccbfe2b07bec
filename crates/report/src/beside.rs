//! Devices side by side: what each does at best, and what experiments found on each.

use super::ceilings::{name, value};
use crate::prelude::*;
use gpulab_study::ceilings::Site;

/// A device that has a column: how its driver and itself are named, and where its records come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedDevice {
    pub platform: String,
    pub device: String,
    /// The folder of its records, or nothing.
    pub folder: String,
}

/// The heads of the devices' columns: their names, with the driver's and the folder's where names are alike.
pub fn heads(devices: &[ComparedDevice]) -> Vec<String> {
    let short = |one: &ComparedDevice| format::device(&one.device);
    let own = |one: &ComparedDevice| short(one).replace(" (PoCL)", "");
    let driven = |one: &ComparedDevice| {
        let is_shared = devices.iter().filter(|other| own(other) == own(one)).count() > 1;
        match is_shared && own(one) == short(one) {
            true => format!("{} ({})", own(one), format::device(&one.platform)),
            false => short(one),
        }
    };
    devices
        .iter()
        .map(|one: &ComparedDevice| {
            let is_shared = devices.iter().filter(|other| driven(other) == driven(one)).count() > 1;
            if is_shared { format!("{}, {}", driven(one), one.folder) } else { driven(one) }
        })
        .collect()
}

/// The ceilings of several devices as one table: without the curves over size, and without sizes and shapes, which differ.
pub fn ceilings(devices: &[(ComparedDevice, Vec<CeilingRow>)], medium: Medium) -> String {
    let mut quantities: Vec<&CeilingRow> = Vec::new();
    for row in devices.iter().flat_map(|(_, rows)| rows).filter(|row| row.place != Site::Curve) {
        if !quantities.iter().any(|known| known.is_of(row)) {
            // A quantity that the first device lacks stands behind the last of its unit.
            let last =
                quantities.iter().rposition(|known| known.unit == row.unit).map_or(quantities.len(), |at| at + 1);
            quantities.insert(last, row);
        }
    }
    let known: Vec<ComparedDevice> = devices.iter().map(|(device, _)| device.clone()).collect();
    let cell = |rows: &[CeilingRow], of: &CeilingRow| {
        rows.iter().find(|row| row.is_of(of)).map_or_else(|| "-".to_owned(), value)
    };
    let named = TextGrid::of(quantities)
        .texts("ceiling", |row| name(&CeilingRow { bytes: None, ..row.clone() }))
        .texts("unit", |row| row.unit.clone());
    let columns = heads(&known).into_iter().zip(devices);
    let table = columns.fold(named, |table, (head, (_, rows))| table.numbers(head, |of| cell(rows, of)));
    titled("what devices do at best", table.grid(), medium)
}

/// What experiments found: a line for each, with a finding or nothing for each device.
pub fn findings(devices: &[ComparedDevice], found: &[(String, Vec<Option<String>>)], medium: Medium) -> String {
    let heads = heads(devices);
    match medium {
        Medium::Markdown => {
            let mut table = TextGrid::of(found).texts("experiment", |(name, _)| name.clone());
            for (at, head) in heads.into_iter().enumerate() {
                table = table.texts(head, |(_, texts)| texts[at].clone().unwrap_or_else(|| "-".to_owned()));
            }
            table.grid().markdown()
        }
        Medium::Screen(screen) => {
            let line = |(head, text): (&String, &Option<String>)| {
                let text = format!("  {head}: {}", text.as_ref()?);
                Some(format::wrap(&format::terminal(&text), screen.width, "    "))
            };
            format::on_screen(
                &found
                    .iter()
                    .map(|(name, texts): &(String, Vec<Option<String>>)| {
                        format!(
                            "{}\n{}",
                            format::terminal(name),
                            heads.iter().zip(texts).filter_map(line).collect::<String>()
                        )
                    })
                    .joined("\n"),
                screen,
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(platform: &str, device: &str, folder: &str) -> ComparedDevice {
        ComparedDevice { platform: platform.into(), device: device.into(), folder: folder.into() }
    }

    #[test]
    fn devices_of_one_name_are_told_apart() {
        let all = [
            device("NVIDIA CUDA", "NVIDIA H200", "a"),
            device("Portable Computing Language", "pthread-skylake-AMD EPYC", "b"),
            device("Intel(R) OpenCL", "AMD EPYC", "c"),
        ];
        assert_eq!(heads(&all), ["NVIDIA H200", "AMD EPYC (PoCL)", "AMD EPYC (Intel OpenCL)"]);
        let twice = [all[1].clone(), ComparedDevice { folder: "d".into(), ..all[1].clone() }];
        assert_eq!(heads(&twice), ["AMD EPYC (PoCL), b", "AMD EPYC (PoCL), d"]);
    }

    #[test]
    fn findings_of_any_words_are_a_table() {
        let devices = [device("p", "a|b", ""), device("p", "<c>", "")];
        let found = [("banks".to_owned(), vec![Some("32 | *banks*".to_owned()), None])];
        let text = findings(&devices, &found, Medium::Markdown);
        assert!(text.ends_with("| banks | 32 \\| \\*banks\\* | - |\n"), "{text}");
        assert!(text.starts_with("| experiment | a\\|b | &lt;c&gt; |\n"), "{text}");
    }
}

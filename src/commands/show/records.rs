//! Recorded results as commands read them: files, or records that come with gpulab, of any kind.

use crate::ceilings::{self, CeilingRow, Kept};
use crate::console::note;
use crate::record::Row;
use crate::report::groups::distinct;
use crate::report::shown::{Material, mark_cached, only, take_apart};
use crate::store::{Recorded, RecordedFile, Shipped, recorded, shipped};
use crate::suggest::did_you_mean;
use crate::{Error, Result, files, usage_error};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files that words name: paths, and devices whose records come with gpulab, each with the names of its records behind it.
///
/// Errors: `Usage` for a word that is none of these.
pub fn asked(words: &[String]) -> Result<Vec<Material>> {
    let all = shipped();
    let mut files = Vec::new();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        if is_path(word) {
            let list = "gpulab show alone lists the records that come with gpulab";
            let text = files::read(Path::new(word))
                .map_err(|e| Error::Failed(format!("cannot read {word}: {e} ({list})")))?;
            files.push(take_apart(&text, word)?);
            continue;
        }
        let own = of_device(&all, word)?;
        let mut found = Vec::new();
        while let Some(name) = words.next_if(|word| {
            !is_path(word)
                && all
                    .iter()
                    .all(|file| !file.device.contains(&word.to_lowercase()))
        }) {
            found.extend(named(&own, &name.to_lowercase())?);
        }
        if found.is_empty() {
            found = own.iter().map(from_shipped).collect::<Result<_>>()?;
        }
        let ceilings = ceilings_of(own[0].device)?;
        for file in &mut found {
            mark_cached(&mut file.rows, &ceilings);
            // The largest sizes first, which memory bounds; a sweep stays as it was searched.
            if file.rows.iter().all(|row| row.sweep_id.is_empty()) {
                file.rows.sort_by_key(|row| Reverse(row.n));
            }
        }
        files.extend(found);
    }
    Ok(files)
}

fn from_shipped(file: &Shipped) -> Result<Material> {
    take_apart(file.text, &format!("{}/{}", file.device, file.name))
}

pub fn is_path(text: &str) -> bool {
    let path = Path::new(text);
    // A folder holds no records that `show` reads, and may have the name of a family or an experiment.
    (path.exists() && !path.is_dir())
        || text.contains(['/', '\\'])
        || path.extension().is_some_and(|e| e == "csv" || e == "json")
}

/// Reads a file of results, whatever it holds; and what was wrong with its last line.
pub fn read(name: &str) -> Result<RecordedFile> {
    let text = files::read(Path::new(name))
        .map_err(|e| Error::Failed(format!("cannot read {name}: {e}")))?;
    recorded(&text, name)
}

/// The files of the one device whose name has this part, or is it.
///
/// Errors: `Usage`, with the devices, if none has it or several do.
pub fn of_device(all: &[Shipped], asked: &str) -> Result<Vec<Shipped>> {
    let part = asked.to_lowercase();
    let names = distinct(
        all.iter()
            .filter(|file| file.device.contains(&part))
            .map(|file| file.device),
    );
    let device = match &names[..] {
        [one] => *one,
        several if several.contains(&part.as_str()) => part.as_str(),
        [] => {
            let with = distinct(
                all.iter()
                    .filter(|file| file.name.contains(&part))
                    .map(|file| file.device),
            );
            let commands: Vec<String> = with
                .iter()
                .map(|device| format!("gpulab show {device} {part}"))
                .collect();
            return usage_error(match &commands[..] {
                [] => format!(
                    "there is no file {asked:?}, and no device of that name among the records that come with gpulab: {}",
                    distinct(all.iter().map(|file| file.device)).join(", ")
                ),
                [..] => format!(
                    "there is no file {asked:?}{}",
                    did_you_mean(&commands[..commands.len().min(3)])
                ),
            });
        }
        several => {
            return usage_error(format!(
                "{asked:?} matches several devices: {}",
                several.join(", ")
            ));
        }
    };
    Ok(all
        .iter()
        .filter(|file| file.device == device)
        .copied()
        .collect())
}

/// A device's file of this name, or else what all of its files have of a family or an experiment of this name.
///
/// Errors: `Usage`, with the names that there are.
fn named(own: &[Shipped], name: &str) -> Result<Vec<Material>> {
    if let Some(file) = own.iter().find(|file| file.name == name) {
        return Ok(vec![from_shipped(file)?]);
    }
    let mut found = Vec::new();
    for file in own {
        found.extend(only(from_shipped(file)?, name));
    }
    if found.is_empty() {
        let files: Vec<&str> = own.iter().map(|file| file.name).collect();
        let device = own[0].device;
        return usage_error(format!(
            "no record of {name} among those of {device}: there are {}",
            files.join(", ")
        ));
    }
    Ok(found)
}

/// What was recorded of the rungs of a family, or of none, on the one device whose name has this part, with its limits.
pub fn all_of(asked: &str, family: &str) -> Result<Material> {
    let own = of_device(&shipped(), asked)?;
    let ladder = own.iter().find(|file| file.name == family);
    let mut all = ladder.map(from_shipped).transpose()?.unwrap_or_default();
    all.ceilings = ceilings_of(own[0].device)?;
    Ok(all)
}

/// A family's ladder as it was recorded on each device, by the device's name.
pub fn everywhere(family: &str) -> Result<Vec<(&'static str, Vec<Row>)>> {
    let all = shipped().into_iter().filter(|file| file.name == family);
    all.map(|file| Ok((file.device, from_shipped(&file)?.rows)))
        .collect()
}

/// The measured limits among the records of a device that come with gpulab.
fn ceilings_of(device: &str) -> Result<Vec<CeilingRow>> {
    let file = shipped()
        .into_iter()
        .find(|file| file.device == device && file.name == "ceilings");
    let own = file
        .map(|file| take_apart(file.text, file.name))
        .transpose()?;
    Ok(own.unwrap_or_default().ceilings)
}

/// The runs in files, each with the limits that were recorded with it: those of its folder, or those from folders without rows,
/// or those that came with gpulab; and those that are kept, where they are its own.
pub fn limits(files: &[Material]) -> Result<Vec<Material>> {
    let mut folders: BTreeMap<&Path, Material> = BTreeMap::new();
    for file in files {
        let folder = Path::new(&file.name).parent().unwrap_or(Path::new(""));
        let own = folders.entry(folder).or_default();
        own.rows.extend_from_slice(&file.rows);
        own.ceilings.extend_from_slice(&file.ceilings);
    }
    let without_rows = folders.values().filter(|own| own.rows.is_empty());
    let alone: Vec<CeilingRow> = without_rows.flat_map(|own| own.ceilings.clone()).collect();
    for (folder, own) in &mut folders {
        if own.ceilings.is_empty() {
            own.ceilings.clone_from(&alone);
        }
        if own.ceilings.is_empty() {
            own.ceilings = ceilings_of(&folder.to_string_lossy())?;
        }
        add_kept(&mut own.ceilings, &own.rows);
    }
    Ok(folders.into_values().collect())
}

fn kept() -> impl Iterator<Item = Kept> {
    ceilings::folder()
        .map(|folder| Kept::all(&folder))
        .unwrap_or_default()
        .into_iter()
        .flatten()
}

fn is_device_of(kept: &Kept, row: &Row) -> bool {
    (&row.platform, &row.device, &row.driver) == (&kept.platform, &kept.device, &kept.driver)
}

/// The limits that are kept of the device that a row was just measured on.
pub fn kept_of(row: &Row) -> Vec<CeilingRow> {
    kept()
        .find(|kept| is_device_of(kept, row))
        .map(|kept| kept.entries)
        .unwrap_or_default()
}

/// Adds the limits that are kept on this machine, of what the files hold no limit, where rows say that they were held against
/// them: another machine's device may have the same name.
fn add_kept(ceilings: &mut Vec<CeilingRow>, rows: &[Row]) {
    for kept in kept() {
        if rows.iter().any(|row| {
            is_device_of(&kept, row) && kept.entries.iter().any(|limit| is_limit_of(limit, row))
        }) {
            for row in kept.entries {
                if !ceilings
                    .iter()
                    .any(|own| own.device == row.device && own.is_of(&row))
                {
                    ceilings.push(row);
                }
            }
        }
    }
}

/// Whether a row was held against this limit.
fn is_limit_of(limit: &CeilingRow, row: &Row) -> bool {
    let own = row.ceiling_gbps.or(row.ceiling_gops).zip(limit.value);
    // A pair is two operations.
    limit.what == row.ceiling
        && own.is_some_and(|(own, value)| {
            [value, 2.0 * value]
                .iter()
                .any(|value| (own / value - 1.0).abs() < 1e-9)
        })
}

/// Puts files together; without limits among them, those that came with gpulab beside them or are kept here.
pub fn material(files: Vec<Material>) -> Result<Material> {
    let folders = files
        .iter()
        .filter_map(|file| Path::new(&file.name).parent());
    let devices = distinct(folders.map(|folder| folder.display().to_string()));
    let mut all = Material::default();
    files.into_iter().for_each(|file| all.take(file));
    if all.ceilings.is_empty() {
        for device in devices {
            all.ceilings.extend(ceilings_of(&device)?);
        }
    }
    add_kept(&mut all.ceilings, &all.rows);
    mark_cached(&mut all.rows, &all.ceilings);
    Ok(all)
}

/// The result files in a folder and below.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    files::below_with(folder, &["csv", "json"])
}

/// The name of a file, those of several joined by commas, or those of the CSV and JSON files in a folder.
pub fn split_names(names: &str) -> Vec<String> {
    let path = Path::new(names);
    if path.is_dir() {
        return files_below(path)
            .iter()
            .map(|file| file.display().to_string())
            .collect();
    }
    if path.exists() {
        vec![names.to_owned()]
    } else {
        names.split(',').map(str::to_owned).collect()
    }
}

/// The rows in a file, or in several joined by commas.
pub fn runs_of(names: &str, quiet: bool) -> Result<Vec<Row>> {
    let mut all = Vec::new();
    let files = split_names(names);
    if files.is_empty() {
        return usage_error(format!("{names} holds no .csv or .json file"));
    }
    for name in files {
        let (Recorded::Rows(rows), torn) = read(&name)? else {
            let why =
                "holds no rows: compare takes the --csv and --json files of ladders and sweeps";
            return usage_error(format!("{name} {why}"));
        };
        torn.iter().filter(|_| !quiet).for_each(|torn| note(torn));
        all.extend(rows);
    }
    Ok(all)
}

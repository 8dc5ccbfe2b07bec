//! Recorded results as commands read them: files, or records that come with gpulab, of any kind.

use crate::ceilings::{self, CeilingRow, Kept, all_kept};
use crate::prelude::*;
use crate::report::groups::{distinct, groups};
use crate::report::shown::reasons::RunLimits;
use crate::report::shown::{Material, ShownContent, ShownFile, mark_cached, only, take_apart};
use crate::store::{Recorded, RecordedFile, Shipped, recorded, shipped};
use crate::suggest::did_you_mean;

/// What is asked for: files, or of devices that come with gpulab all records or those of these names.
pub(crate) enum AskedRecords {
    /// The records of devices, which were named alone.
    Device(Vec<Shipped>),
    /// Files, or records by name.
    Files(Vec<ShownFile>),
}

/// What some words of a command line ask for.
enum AskedPart {
    File(String),
    /// The records of these names of each of these devices; without a name all of them.
    Records {
        devices: Vec<Vec<Shipped>>,
        names: Vec<String>,
    },
}

/// Finds what words ask for: paths, and devices with the names behind them.
pub(crate) fn asked(words: &[String]) -> Result<AskedRecords, Error> {
    let parts = asked_parts(words)?;
    if let [AskedPart::Records { devices, names }] = &parts[..]
        && names.is_empty()
    {
        return Ok(AskedRecords::Device(devices.concat()));
    }
    let mut files = Vec::new();
    for part in &parts {
        match part {
            AskedPart::File(path) => files.push(from_file(path)?),
            AskedPart::Records { devices, names } => {
                for own in devices {
                    let found = if names.is_empty() { records(own)? } else { beside_caches(own, named(own, names)?)? };
                    files.extend(found);
                }
            }
        }
    }
    Ok(AskedRecords::Files(files))
}

/// Words as paths, devices and names of their records.
///
/// Errors: `Usage` for a word that is none of these.
fn asked_parts(words: &[String]) -> Result<Vec<AskedPart>, Error> {
    let all = shipped();
    let mut parts: Vec<AskedPart> = Vec::new();
    for word in words {
        if is_path(word) {
            parts.push(AskedPart::File(word.clone()));
            continue;
        }
        let Some(AskedPart::Records { devices, names }) = parts.last_mut() else {
            parts.push(AskedPart::Records { devices: vec![of_device(&all, word)?], names: Vec::new() });
            continue;
        };
        let is_device = all.iter().any(|file| file.device.contains(&word.to_lowercase()));
        match is_device && !is_record(devices, word)? {
            // What is neither is told when its record is looked for.
            false => names.push(word.clone()),
            true if names.is_empty() => devices.push(of_device(&all, word)?),
            true => parts.push(AskedPart::Records { devices: vec![of_device(&all, word)?], names: Vec::new() }),
        }
    }
    Ok(parts)
}

fn is_record(devices: &[Vec<Shipped>], name: &str) -> Result<bool, Error> {
    for own in devices {
        if !found_by_name(own, &name.to_lowercase())?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn devices(words: &[String]) -> Result<Vec<Vec<Shipped>>, Error> {
    Ok(asked_parts(words)?
        .into_iter()
        .flat_map(|part| match part {
            AskedPart::Records { devices, .. } => devices,
            AskedPart::File(_) => Vec::new(),
        })
        .collect())
}

fn from_shipped(file: &Shipped) -> Result<ShownFile, Error> {
    take_apart(file.text, &format!("{}/{}", file.device, file.name))
}

pub(crate) fn records(own: &[Shipped]) -> Result<Vec<ShownFile>, Error> {
    beside_caches(own, own.iter().map(from_shipped).collect::<Result<_, Error>>()?)
}

pub(crate) fn is_path(text: &str) -> bool {
    let path = Path::new(text);
    // A folder holds no records that `show` reads, and may have the name of a family or an experiment.
    (path.exists() && !path.is_dir())
        || text.contains(['/', '\\'])
        || path.extension().is_some_and(|e| e == "csv" || e == "json")
}

/// Reads a file of results, whatever it holds; and what was wrong with its last line.
pub(crate) fn read(name: &str) -> Result<RecordedFile, Error> {
    let text = files::read(Path::new(name)).map_err(|e| Error::Failed(format!("cannot read {name}: {e}")))?;
    recorded(&text, name)
}

fn from_file(path: &str) -> Result<ShownFile, Error> {
    let list = "gpulab show alone lists the records that come with gpulab";
    let text = files::read(Path::new(path)).map_err(|e| Error::Failed(format!("cannot read {path}: {e} ({list})")))?;
    take_apart(&text, path)
}

/// The files of the one device whose name has this part.
///
/// Errors: `Usage`, with the devices, if none has it or several do.
pub(crate) fn of_device(all: &[Shipped], part: &str) -> Result<Vec<Shipped>, Error> {
    let part = part.to_lowercase();
    // A whole name is also a part of `nvidia-h200-2`.
    let is_whole = all.iter().any(|file| file.device == part);
    let is_asked = |file: &&Shipped| match is_whole {
        true => file.device == part,
        false => !part.is_empty() && file.device.contains(&part),
    };
    let own: Vec<Shipped> = all.iter().filter(is_asked).copied().collect();
    let names = |files: &[Shipped]| distinct(files.iter().map(|file| file.device)).join(", ");
    match distinct(own.iter().map(|file| file.device)).len() {
        1 => Ok(own),
        0 => Err(Error::Usage(match of_any_device(all, &part)?.as_slice() {
            [] => format!(
                "there is no file {part:?}, and no device of that name among the records that come with gpulab: {}",
                names(all)
            ),
            commands => format!(
                "there is no file {part:?}; records of {part} that come with gpulab are shown by device{}",
                did_you_mean(commands)
            ),
        })),
        _ => Err(Error::Usage(format!("{part:?} matches several devices: {}", names(&own)))),
    }
}

/// The commands that show the records of a file, a family or an experiment of this name, those of short names first; a few
/// at most.
fn of_any_device(all: &[Shipped], name: &str) -> Result<Vec<String>, Error> {
    let mut devices = Vec::new();
    for own in groups(all, |file| file.device) {
        if !found_by_name(&own, name)?.is_empty() {
            devices.extend(own.first().map(|file| selector(all, file.device)));
        }
    }
    devices.sort_by_key(|device| device.len());
    Ok(devices.iter().take(MOST_COMMANDS).map(|device| format!("gpulab show {device} {name}")).collect())
}

const MOST_COMMANDS: usize = 3;

/// What selects a device's records: the last part of its name that no other has, or all of it.
fn selector<'a>(all: &[Shipped], device: &'a str) -> &'a str {
    device
        .split('-')
        .rfind(|part: &&str| {
            let others = all.iter().filter(|file| file.device != device);
            part.contains(char::is_alphabetic) && others.clone().all(|file| !file.device.contains(*part))
        })
        .unwrap_or(device)
}

/// The records of these names: a file's, or else a family's or an experiment's in any file.
///
/// Errors: `Usage`, with the names that there are.
pub(crate) fn named(own: &[Shipped], names: &[String]) -> Result<Vec<ShownFile>, Error> {
    let mut found = Vec::new();
    for name in names {
        let name = name.to_lowercase();
        let of_name = found_by_name(own, &name)?;
        if of_name.is_empty() {
            let files: Vec<&str> = own.iter().map(|file| file.name).collect();
            return Err(Error::Usage(format!(
                "no record of {name} among those of {}: there are {}",
                own.first().map_or("", |file| file.device),
                files.join(", ")
            )));
        }
        found.extend(of_name);
    }
    Ok(found)
}

/// A device's file of this name, or else what all of its files have of a family or an experiment of this name.
fn found_by_name(own: &[Shipped], name: &str) -> Result<Vec<ShownFile>, Error> {
    if let Some(file) = own.iter().find(|file| file.name == name) {
        return Ok(vec![from_shipped(file)?]);
    }
    own.iter().map(from_shipped).filter_map(|file| file.map(|file| only(file, name)).transpose()).collect()
}

/// The shipped file of a device's limits.
const CEILINGS: &str = "ceilings";

/// The same, where rows of data that the device's caches hold say so; `own` are all records of the device.
fn beside_caches(own: &[Shipped], mut shown: Vec<ShownFile>) -> Result<Vec<ShownFile>, Error> {
    let ceilings = ceilings_of(own)?;
    for file in &mut shown {
        if let ShownContent::Recorded(Recorded::Rows(rows)) = &mut file.holds {
            mark_cached(rows, &ceilings);
        }
    }
    Ok(shown)
}

/// The measured limits among a device's records.
pub(crate) fn ceilings_of(own: &[Shipped]) -> Result<Vec<CeilingRow>, Error> {
    let ceilings = own.iter().find(|file| file.name == CEILINGS);
    match ceilings.map(|file| take_apart(file.text, file.name)).transpose()?.map(|file| file.holds) {
        Some(ShownContent::Ceilings(rows)) => Ok(rows),
        _ => Ok(Vec::new()),
    }
}

/// The runs that words ask for, each with the limits that were recorded with it: those of its folder, or those that are named
/// from folders without rows, or that came with gpulab; and those that are kept, where they are its own.
pub(crate) fn limits(words: &[String]) -> Result<Vec<RunLimits>, Error> {
    let files = match asked(words)? {
        AskedRecords::Device(own) => records(&own)?,
        AskedRecords::Files(files) => files,
    };
    let mut folders: BTreeMap<&Path, (Vec<&Row>, Vec<CeilingRow>)> = BTreeMap::new();
    for file in &files {
        let folder = Path::new(&file.name).parent().unwrap_or(Path::new(""));
        let (rows, ceilings) = folders.entry(folder).or_default();
        match &file.holds {
            ShownContent::Recorded(Recorded::Rows(own)) => rows.extend(own),
            ShownContent::Ceilings(own) => ceilings.extend_from_slice(own),
            _ => {}
        }
    }
    let alone: Vec<CeilingRow> =
        folders.values().filter(|(rows, _)| rows.is_empty()).flat_map(|(_, own)| own.clone()).collect();
    folders
        .into_iter()
        .map(|(folder, (rows, mut ceilings)): (&Path, (Vec<&Row>, Vec<CeilingRow>))| {
            if ceilings.is_empty() {
                ceilings.clone_from(&alone);
            }
            if ceilings.is_empty() {
                let own: Vec<Shipped> = shipped().into_iter().filter(|file| Path::new(file.device) == folder).collect();
                ceilings = ceilings_of(&own)?;
            }
            add_kept(&mut ceilings, &rows);
            Ok((rows.iter().map(|row| row.run_id.clone()).collect(), ceilings))
        })
        .collect()
}

fn kept() -> impl Iterator<Item = Kept> {
    ceilings::folder().map(|folder| all_kept(&folder)).unwrap_or_default().into_iter().flatten()
}

fn is_device_of(kept: &Kept, row: &Row) -> bool {
    (&row.platform, &row.device, &row.driver) == (&kept.platform, &kept.device, &kept.driver)
}

/// The limits that are kept of the device that a row was just measured on.
pub(crate) fn kept_of(row: &Row) -> Vec<CeilingRow> {
    kept().find(|kept| is_device_of(kept, row)).map(|kept| kept.ceilings).unwrap_or_default()
}

/// Adds the limits that are kept on this machine, of what the files hold no limit, where rows say that they were held against
/// them: another machine's device may have the same name.
pub(crate) fn add_kept(ceilings: &mut Vec<CeilingRow>, rows: &[&Row]) {
    for kept in kept() {
        if rows.iter().any(|row| is_device_of(&kept, row) && kept.ceilings.iter().any(|limit| is_limit_of(limit, row)))
        {
            let is_new = |row: &CeilingRow| !ceilings.iter().any(|own| own.device == row.device && own.is_of(row));
            let new: Vec<CeilingRow> = kept.ceilings.into_iter().filter(is_new).collect();
            ceilings.extend(new);
        }
    }
}

/// Whether a row was held against this limit.
fn is_limit_of(limit: &CeilingRow, row: &Row) -> bool {
    let is_same = |own: f64, value: f64| (own / value - 1.0).abs() < 1e-9;
    let own = row.ceiling_gbps.or(row.ceiling_gops).zip(limit.value);
    // A pair is two operations.
    limit.what == row.ceiling && own.is_some_and(|(own, value)| is_same(own, value) || is_same(own, 2.0 * value))
}

/// Puts together what words ask for; of a device that comes with gpulab its ceilings as well.
pub(crate) fn material(words: &[String]) -> Result<Material, Error> {
    let mut all = Material::default();
    let files = match asked(words)? {
        AskedRecords::Device(own) => {
            own.iter().map(|file| take_apart(file.text, file.name)).collect::<Result<_, Error>>()?
        }
        AskedRecords::Files(files) => files,
    };
    files.into_iter().for_each(|file| all.take(file));
    if all.ceilings.is_empty() {
        for own in devices(words)? {
            all.ceilings.extend(ceilings_of(&own)?);
        }
    }
    all.mark_cached();
    Ok(all)
}

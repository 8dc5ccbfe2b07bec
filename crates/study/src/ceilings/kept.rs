//! Where ceilings are kept: a file for each device and driver in the user's data folder.

use super::{CeilingRow, Site};
use gpulab_kernels::Bound;
use gpulab_model::outcome::{DeviceInfo, Status};
use gpulab_model::{Error, Result};
use gpulab_record::files;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Names the folder in place of the system's own.
const VARIABLE: &str = "GPULAB_DATA";

/// The folder for data that gpulab keeps: what `GPULAB_DATA` names, or the system's folder for a user's data.
pub fn folder() -> Result<PathBuf> {
    if let Some(dir) = std::env::var_os(VARIABLE).filter(|dir| !dir.is_empty()) {
        return Ok(dir.into());
    }
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    let share = std::env::home_dir().map(|home| home.join(".local/share"));
    let data = data.filter(|path| path.is_absolute()).or(share);
    let data = data
        .ok_or_else(|| Error::Failed(format!("no data folder is known: set {VARIABLE} to one")))?;
    Ok(data.join("gpulab"))
}

/// Makes the folder of the files below `folder` if need be, and sees that one can be written there.
pub fn check_writable(folder: &Path) -> Result<()> {
    let below = folder.join(CEILINGS_FOLDER);
    let trial = below.join(format!("{}.part", std::process::id()));
    let made = std::fs::create_dir_all(below).and_then(|()| std::fs::write(&trial, ""));
    made.and_then(|()| std::fs::remove_file(&trial))
        .map_err(|source| {
            let folder = folder.display();
            let what =
                format!("to the data folder, {folder} (set {VARIABLE} to a writable folder)");
            Error::Output { what, source }
        })
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    pub platform: String,
    pub device: String,
    pub driver: String,
    pub ceilings: Vec<CeilingRow>,
}

impl Kept {
    pub fn empty(info: &DeviceInfo) -> Kept {
        Kept {
            platform: info.platform.clone(),
            device: info.name.clone(),
            driver: info.driver.clone(),
            ceilings: Vec::new(),
        }
    }

    /// What is kept of this device with this driver below `folder`; None if nothing is.
    pub fn load(folder: &Path, info: &DeviceInfo) -> Result<Option<Kept>> {
        let wanted = Kept::empty(info);
        let path = wanted.path(folder);
        if !path.exists() {
            return Ok(None);
        }
        // Another device may have the same name once it is made fit for a file.
        Ok(Some(read(&path)?).filter(|kept| kept.is_of(&wanted)))
    }

    /// As [`Kept::load`]; a file that cannot be read or is damaged is put aside, so that new ceilings can be kept, under
    /// its name with `.bad` behind it. Also why that was done.
    pub fn load_or_put_aside(folder: &Path, info: &DeviceInfo) -> (Option<Kept>, Option<String>) {
        let error = match Kept::load(folder, info) {
            Ok(kept) => return (kept, None),
            Err(error) => error,
        };
        let path = Kept::empty(info).path(folder);
        (None, Some(format!("{error}; {}", files::put_aside(&path))))
    }

    fn is_of(&self, other: &Kept) -> bool {
        (&self.platform, &self.device, &self.driver)
            == (&other.platform, &other.device, &other.driver)
    }

    pub fn find(&self, what: &str, place: Site, element: &str) -> Option<&CeilingRow> {
        find(&self.ceilings, what, place, element)
    }

    /// Bytes that caches hold; see [`cached`].
    pub fn cached(&self) -> u64 {
        cached(&self.ceilings)
    }

    /// Takes a new line in, and says whether it did. A value of the same quantity gives way to any value of a full search,
    /// but to one of a quick search only if that is better; and never to none.
    pub fn add(&mut self, row: CeilingRow) -> bool {
        let Some(old) = self.ceilings.iter_mut().find(|old| old.is_of(&row)) else {
            self.ceilings.push(row);
            return true;
        };
        let stays = match (old.value, row.value) {
            (Some(_), Some(_)) => row.quick && !row.is_better(old),
            (old, new) => old.is_some() && new.is_none(),
        };
        if !stays {
            *old = row;
        }
        !stays
    }

    /// Writes the file below `folder`, which is made if need be: under another name first, so that it is there complete
    /// or not at all.
    pub fn save(&self, folder: &Path) -> Result<PathBuf> {
        let path = self.path(folder);
        files::write_json(&path, self).map_err(Error::unwritten(&path))?;
        Ok(path)
    }

    pub fn path(&self, folder: &Path) -> PathBuf {
        let name = files::name_of(&[&self.platform, &self.device, &self.driver]);
        folder.join(CEILINGS_FOLDER).join(name + ".json")
    }
}

/// The folder of the files, below that for data.
pub const CEILINGS_FOLDER: &str = "ceilings";

/// All that is kept below `folder`, by the names of the files; an [`Error::Failed`] for each that cannot be read or is
/// damaged.
pub fn all_kept(folder: &Path) -> Vec<Result<Kept>> {
    // A search that was broken off at once has left nothing.
    kept_files(folder)
        .iter()
        .map(|path| read(path))
        .filter(|kept: &Result<Kept>| !kept.as_ref().is_ok_and(|kept| kept.ceilings.is_empty()))
        .collect()
}

pub fn kept_files(folder: &Path) -> Vec<PathBuf> {
    files::below_with(&folder.join(CEILINGS_FOLDER), &["json"])
}

fn read(path: &Path) -> Result<Kept> {
    let kept = files::read_json(path);
    kept.and_then(checked).map_err(|why| {
        let path = path.display(); let why = why.replace(char::is_control, " ");
        Error::Failed(format!(
            "cannot read the ceilings in {path} ({why}): remove the file, or measure its device anew with gpulab ceiling"
        ))
    })
}

/// What a file holds, or what is wrong with it.
fn checked(kept: Kept) -> Result<Kept, String> {
    match kept.ceilings.iter().find(|row| !row.is_sound()) {
        Some(row) => Err(format!(
            "the value of {} is {:e} {}",
            row.what,
            row.value.unwrap_or_default(),
            row.unit
        )),
        None => Ok(kept),
    }
}

/// The line of a quantity with a value.
pub fn find<'a>(
    rows: &'a [CeilingRow],
    what: &str,
    place: Site,
    element: &str,
) -> Option<&'a CeilingRow> {
    rows.iter()
        .filter(|row: &&CeilingRow| {
            (row.what.as_str(), row.place, row.element.as_str()) == (what, place, element)
        })
        .find(|row| row.status == Status::Ok && row.value.is_some())
}

/// Bytes that a device's caches hold, as the curve of read bandwidth over size among its ceilings tells: the largest size
/// that is read clearly faster than memory. 0 without a curve. Drivers tend to report less.
pub fn cached(rows: &[CeilingRow]) -> u64 {
    /// More than a busier moment makes of memory's rate.
    const FASTER: f64 = 1.3;
    let what = Bound::Read.name();
    let Some(memory) = find(rows, what, Site::Memory, "").and_then(|row| row.value) else {
        return 0;
    };
    rows.iter()
        .filter(|row: &&CeilingRow| {
            let is_of_curve =
                row.place == Site::Curve && row.what == what && row.status == Status::Ok;
            is_of_curve && row.value.is_some_and(|rate| rate > FASTER * memory)
        })
        .filter_map(|row| row.bytes)
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests;

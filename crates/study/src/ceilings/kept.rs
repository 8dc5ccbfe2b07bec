//! Where ceilings are kept: a file for each device and driver in the user's data folder.

use super::{CeilingRow, Site};
use crate::device_file::{DeviceFile, FileEntry};
use gpulab_kernels::Bound;
use gpulab_model::outcome::Status;
use gpulab_model::{Error, Result};
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
    let below = folder.join(CeilingRow::FOLDER);
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

pub type Kept = DeviceFile<CeilingRow>;

impl FileEntry for CeilingRow {
    const FOLDER: &'static str = "ceilings";
    const WHAT: &'static str = "the ceilings";
    const REMEDY: &'static str =
        ": remove the file, or measure its device anew with gpulab ceiling";

    fn fault(&self) -> Option<String> {
        let CeilingRow {
            what, value, unit, ..
        } = self;
        (!self.is_sound()).then(|| {
            format!(
                "the value of {what} is {:e} {unit}",
                value.unwrap_or_default()
            )
        })
    }
}

impl Kept {
    pub fn find(&self, what: &str, place: Site, element: &str) -> Option<&CeilingRow> {
        find(&self.entries, what, place, element)
    }

    /// Bytes that caches hold; see [`cached`].
    pub fn cached(&self) -> u64 {
        cached(&self.entries)
    }

    /// Takes a new line in, and says whether it did. A value of the same quantity gives way to any value of a full search,
    /// but to one of a quick search only if that is better; and never to none.
    pub fn add(&mut self, row: CeilingRow) -> bool {
        let Some(old) = self.entries.iter_mut().find(|old| old.is_of(&row)) else {
            self.entries.push(row);
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
